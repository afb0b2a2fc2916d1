"""When silence counts, and what the nodes' own words make of it."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from selftests.launch.story import A, B, pair
from shakedown.engines.vllm.phases import PhaseName
from shakedown.launch.events import Counter, Sampled
from shakedown.launch.limits import STANDARD, Limit, Limits
from shakedown.launch.signs import Signs
from shakedown.launch.silence import Rank, Silence, silence
from shakedown.launch.sockets import Waiting, waiting
from shakedown.launch.stall import Gathered, cause_of

GIVEN = "== environment of ray\n--node_ip_address={0}\nVLLM_HOST_IP={0}\nGLOO_SOCKET_IFNAME=enp1s0f1np1\n"
HEAD, WORKER = "192.168.200.12", "192.168.200.13"


def signs(*samples: tuple[float, dict[Counter, float]], limits: Limits | None = None) -> Signs:
    found = Signs(limits or Limits())
    for at, values in samples:
        found.saw(Sampled(A, at, values))
    return found


def quiet(until: float, **of: float) -> Signs:
    """Counters that are read every second and stand still, but for a rate of each that is given."""
    found = Signs(Limits())
    for at in range(int(until) + 1):
        rates = {counter: of.get(counter.name, 0.0) for counter in Counter if counter is not Counter.AVAILABLE}
        found.saw(Sampled(A, float(at), {counter: rate * at for counter, rate in rates.items()}))
    return found


def after(
    phase: PhaseName,
    now: float,
    *ranks: Rank,
    limits: Limits | None = None,
    spoke: float = 0.0,
    item_s: float | None = None,
) -> Silence | None:
    return silence(phase, ranks, limits or Limits(), progressed=0.0, spoke=spoke, item_s=item_s, now=now)


@pytest.mark.parametrize("phase", list(PhaseName))
def test_each_phase_has_its_limit_and_no_more_is_waited_for(phase: PhaseName) -> None:
    limit = STANDARD[phase].quiet_s
    rank = Rank(phase, quiet(limit + 1))
    assert after(phase, limit, rank, rank) is None
    found = after(phase, limit + 1, rank, rank)
    assert found is not None
    assert (found.phase, found.limit_s, found.spinning) == (phase, limit, False)


def test_limits_can_be_set() -> None:
    limits = Limits(phases={PhaseName.C10D: Limit(5, 5)})
    assert after(PhaseName.C10D, 6, Rank(PhaseName.C10D, quiet(6)), limits=limits) is not None
    assert limits.of(PhaseName.COMPILE) == STANDARD[PhaseName.COMPILE]


def test_shards_of_a_minute_each_may_take_four() -> None:
    rank = Rank(PhaseName.WEIGHTS, quiet(300))
    assert after(PhaseName.WEIGHTS, 239, rank, item_s=60.0) is None
    assert after(PhaseName.WEIGHTS, 241, rank, item_s=60.0) is not None


@pytest.mark.parametrize(
    ("rate", "alive"),
    [
        ({"READ": 1e6}, True),
        ({"READ": 1e4}, False),
        ({"FABRIC": 5e6}, True),
        ({"FABRIC": 5e4}, False),
        ({"RDMA": 5e6}, True),
        ({"CPU": 0.5}, True),
        ({"CPU": 0.03}, False),
    ],
)
def test_what_moves_fast_enough_is_a_sign_of_life_and_what_drips_is_not(rate: dict[str, float], alive: bool) -> None:
    rank = Rank(PhaseName.WEIGHTS, quiet(200, **rate))
    assert (after(PhaseName.WEIGHTS, 200, rank) is None) is alive


def test_a_processor_alone_is_believed_for_the_longer_limit_only() -> None:
    rank = Rank(PhaseName.KV_CACHE, quiet(700, CPU=1.0))
    assert after(PhaseName.KV_CACHE, 600, rank) is None
    found = after(PhaseName.KV_CACHE, 601, rank)
    assert found is not None
    assert found.spinning


def test_lines_that_tell_no_progress_count_like_a_processor() -> None:
    rank = Rank(PhaseName.KV_CACHE, quiet(700))
    assert after(PhaseName.KV_CACHE, 300, rank, spoke=250) is None
    assert after(PhaseName.KV_CACHE, 601, rank, spoke=600) is not None


@pytest.mark.parametrize("phase", [PhaseName.RAY, PhaseName.C10D, PhaseName.NCCL])
def test_where_ranks_look_for_each_other_traffic_is_somebody_else_s(phase: PhaseName) -> None:
    assert after(phase, 130, Rank(phase, quiet(130, FABRIC=1e8))) is not None


def test_memory_that_fills_while_ranks_look_for_each_other_is_somebody_else_s() -> None:
    falls = [(float(at), {Counter.AVAILABLE: 1e11 - at * 1e8, Counter.CPU: 0.0}) for at in range(301)]
    assert after(PhaseName.C10D, 300, Rank(PhaseName.C10D, signs(*falls))) is not None
    assert after(PhaseName.KV_CACHE, 300, Rank(PhaseName.KV_CACHE, signs(*falls))) is None


def test_reading_is_a_sign_of_life_in_every_phase() -> None:
    for phase in PhaseName:
        assert after(phase, 5000, Rank(phase, quiet(5000, READ=1e6))) is None


def test_of_ranks_that_load_only_those_count_that_are_awaited() -> None:
    done, behind = Rank(PhaseName.PROFILE, quiet(100, CPU=2.0, FABRIC=1e7)), Rank(PhaseName.WEIGHTS, quiet(100))
    found = after(PhaseName.PROFILE, 61, done, behind)
    assert found is not None
    assert found.phase is PhaseName.WEIGHTS
    assert after(PhaseName.COMPILE, 100, done, behind) is None, "what comes after the loading, all do together"


def test_a_rank_of_which_nothing_is_known_may_still_load() -> None:
    unknown = Rank(None, quiet(100, READ=1e7))
    assert after(PhaseName.PROFILE, 100, Rank(PhaseName.PROFILE, quiet(100)), unknown) is None


def test_without_counters_of_all_that_are_awaited_only_the_longer_limit_holds() -> None:
    for hidden in (Rank(PhaseName.WEIGHTS, None), Rank(PhaseName.WEIGHTS, signs())):
        assert after(PhaseName.WEIGHTS, 899, Rank(PhaseName.WEIGHTS, quiet(899)), hidden) is None
        assert after(PhaseName.WEIGHTS, 901, Rank(PhaseName.WEIGHTS, quiet(901)), hidden) is not None


def test_counters_that_came_long_ago_say_nothing_of_now() -> None:
    rank = Rank(PhaseName.WEIGHTS, quiet(100))
    assert after(PhaseName.WEIGHTS, 100 + Limits().sampled_s + 1, rank) is None


def test_a_lowest_memory_is_a_sign_of_life_only_where_it_falls_by_a_step() -> None:
    falls = [(float(at), {Counter.AVAILABLE: 1e11 - at * 1e6, Counter.CPU: 0.0}) for at in range(300)]
    found = signs(*falls)
    assert found.last((Counter.AVAILABLE,)) == pytest.approx(299, abs=68)
    assert found.lowest == falls[-1][1][Counter.AVAILABLE]
    swings = [(float(at), {Counter.AVAILABLE: 1e11 + (at % 2) * 1e6}) for at in range(300)]
    assert signs(*swings).last((Counter.AVAILABLE,)) is None


def test_waiting_sockets_are_read_from_ss() -> None:
    lines = [
        '0      1      192.168.200.12:41234  10.1.230.181:41213 users:(("ray::RayWorker",pid=300,fd=77))',
        "0      1      [::ffff:192.168.200.12]:41236      [::ffff:10.1.230.181]:29500",
        "0 1 [fe80::1]:1 [fe80::2]:2",
        "",
        "nonsense 999.1.1.1:1 10.0.0.1:2",
    ]
    mine, theirs = IPv4Address("192.168.200.12"), IPv4Address("10.1.230.181")
    assert list(waiting(A, lines)) == [
        Waiting(A, mine, theirs, 41213, "ray::RayWorker (300)"),
        Waiting(A, mine, theirs, 29500),
    ]


def test_waiting_sockets_are_read_from_proc_where_there_is_no_ss() -> None:
    lines = [
        "hex 0CC8A8C0:A112 B5E6010A:A0FD",
        "hex 0000000000000000FFFF00000CC8A8C0:A112 0000000000000000FFFF0000B5E6010A:A0FD",
    ]
    mine, theirs = IPv4Address("192.168.200.12"), IPv4Address("10.1.230.181")
    assert list(waiting(A, lines)) == [Waiting(A, mine, theirs, 41213)] * 2


def syn(peer: str, port: int = 41213, own: str = HEAD) -> str:
    return f"== waiting sockets\n0 1 {own}:40000 {peer}:{port}\n"


def asked(head: str = "", worker: str = "") -> list[Gathered]:
    return [Gathered(A, 1.0, head), Gathered(B, 1.0, worker)]


@pytest.mark.parametrize(
    ("head", "worker", "fault", "node"),
    [
        pytest.param(
            syn("10.1.230.181") + GIVEN.format(HEAD),
            "== environment of ray\n--node_ip_address=192.168.200.13\nGLOO_SOCKET_IFNAME=enp1s0f1np1\n",
            *("RAY-02", B),
            id="host ip missing on the worker",
        ),
        pytest.param(
            syn("10.1.230.181") + GIVEN.format(HEAD),
            "== environment of ray\n--node_ip_address=10.1.230.181\nVLLM_HOST_IP=192.168.200.13\n",
            *("RAY-01", B),
            id="ray at a management address",
        ),
        pytest.param(
            GIVEN.format(HEAD),
            GIVEN.format(HEAD).replace(f"--node_ip_address={HEAD}", "--node_ip_address=192.168.200.13"),
            *("RAY-02", B),
            id="host ip copied from the head",
        ),
        pytest.param(
            syn("10.1.230.181") + GIVEN.format(HEAD),
            GIVEN.format(WORKER).replace("GLOO_SOCKET_IFNAME=enp1s0f1np1", "GLOO_SOCKET_IFNAME=eno1"),
            *("NET-13", B),
            id="gloo on the management NIC",
        ),
        pytest.param(
            syn("10.1.230.181") + GIVEN.format(HEAD),
            GIVEN.format(WORKER) + "NCCL_SOCKET_IFNAME=eno1\n",
            *("NET-12", B),
            id="nccl on the management NIC",
        ),
        pytest.param(
            syn("10.1.230.181"), "== environment of ray\nnot readable\n", *("RAY-02", None), id="nothing readable"
        ),
        pytest.param(syn(WORKER) + GIVEN.format(HEAD), GIVEN.format(WORKER), *("NET-16", A), id="the way is closed"),
        pytest.param(syn(WORKER, 6379), "", *("RAY-08", A), id="no way to the GCS"),
        pytest.param(
            GIVEN.format(HEAD), GIVEN.format(WORKER), *("NET-16", None), id="nothing is wrong with what is seen"
        ),
        pytest.param("", "", *("NET-16", None), id="nobody says anything"),
    ],
)
def test_the_cause_of_silence_in_the_rendezvous(head: str, worker: str, fault: str, node: str | None) -> None:
    cause = cause_of(pair(), PhaseName.C10D, asked(head, worker))
    assert (cause.fault, cause.node) == (fault, node)


def test_a_meeting_place_outside_the_fabric_needs_no_socket_to_be_wrong() -> None:
    missing = "== environment of ray\n--node_ip_address=192.168.200.12\n"
    cause = cause_of(pair(), PhaseName.C10D, asked(missing), IPv4Address("10.1.230.180"))
    assert (cause.fault, cause.node) == ("RAY-02", A)
    assert "10.1.230.180" in cause.found


def test_a_variable_that_is_missing_is_no_fault_while_all_addresses_are_right() -> None:
    missing = "== environment of ray\n--node_ip_address={}\n"
    assert cause_of(pair(), PhaseName.NCCL, asked(missing.format(HEAD), missing.format(WORKER))).fault == "NET-17"


def test_a_connection_to_the_world_is_nobody_s_evidence() -> None:
    cause = cause_of(pair(), PhaseName.C10D, asked(syn("34.120.10.9", 443) + syn("10.1.230.181", 22)))
    assert cause.node is None
    assert cause.evidence == ()


def test_a_node_that_could_not_be_asked_says_so() -> None:
    cause = cause_of(pair(), PhaseName.WEIGHTS, asked("== not reached\nssh: connect timed out\n"))
    assert cause.fault is None
    assert cause.evidence == (f"{A}: ssh: connect timed out",)


@pytest.mark.parametrize(
    ("phase", "fault"), [(PhaseName.RAY, "RAY-03"), (PhaseName.NCCL, "NET-17"), (PhaseName.GRAPHS, "SRV-02")]
)
def test_what_silence_mostly_is(phase: PhaseName, fault: str) -> None:
    assert cause_of(pair(), phase, ()).fault == fault
