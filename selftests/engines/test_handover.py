"""What a rank's environment becomes, by release: the rules against the sources' own words, and as laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.vllm.environment import concerns_all_ranks, debugging, without_rdma
from shakedown.engines.vllm.handover import (
    EXTRA_NAMES,
    EXTRA_PREFIXES,
    FIRST_WITH,
    OWN_TO_EACH,
    SECOND_EXECUTOR,
    hand_over,
    oldest_with,
)
from shakedown.engines.vllm.wire import Version, is_unnumbered, parse_version
from shakedown.nodes.scripts import engine

OLD: Version = (0, 17, 1)
NEW: Version = (0, 32, 0)

NAMES = st.sampled_from(
    ["NCCL_DEBUG", "GLOO_SOCKET_IFNAME", "VLLM_HOST_IP", "HF_HOME", "RAY_ADDRESS", "TRITON_PTXAS_PATH", "PATH"]
)
ENVIRONMENTS = st.dictionaries(NAMES, st.sampled_from(["a", "b", ""]))
RELEASES = st.sampled_from([OLD, (0, 20, 2), (0, 21, 0), NEW])


@pytest.mark.parametrize(
    ("version", "chosen", "second"),
    [
        ((0, 19, 1), "1", False),
        ((0, 20, 2), None, False),
        ((0, 20, 2), "1", True),
        ((0, 21, 0), None, True),
        ((0, 21, 0), "0", False),
        (NEW, None, True),
    ],
)
def test_the_executor_depends_on_release_and_variable(version: Version, chosen: str | None, second: bool) -> None:
    rules = hand_over(version, {} if chosen is None else {SECOND_EXECUTOR: chosen})
    assert (rules.everything, rules.overwrites) == (second, not second)


@pytest.mark.parametrize(
    ("name", "version", "handed"),
    [
        ("NCCL_IB_HCA", OLD, True),
        ("GLOO_SOCKET_IFNAME", OLD, False),
        ("GLOO_SOCKET_IFNAME", NEW, True),
        ("CUDA_HOME", OLD, True),
        ("VLLM_HOST_IP", OLD, False),
        ("VLLM_HOST_IP", NEW, False),
        ("VLLM_NIXL_SIDE_CHANNEL_HOST", (0, 21, 0), True),
        ("VLLM_NIXL_SIDE_CHANNEL_HOST", (0, 22, 0), False),
        ("FLASH_ATTENTION_X", OLD, False),
    ],
)
def test_what_is_handed_over(name: str, version: Version, handed: bool) -> None:
    assert (name in hand_over(version, {}).copied({name: "1"})) is handed


def test_the_operator_adds_to_the_lists_of_the_first_executor() -> None:
    driver = {"GLOO_SOCKET_IFNAME": "x", "TORCH_A": "y", EXTRA_NAMES: " GLOO_SOCKET_IFNAME,", EXTRA_PREFIXES: "TORCH_"}
    assert hand_over(OLD, driver).copied(driver).keys() == driver.keys()


@given(RELEASES, ENVIRONMENTS, ENVIRONMENTS)
def test_what_each_process_needs_for_itself_stays_its_own(
    version: Version, worker: dict[str, str], driver: dict[str, str]
) -> None:
    final = hand_over(version, driver).final(worker, driver)
    assert {name: final.get(name) for name in OWN_TO_EACH} == {name: worker.get(name) for name in OWN_TO_EACH}


@given(RELEASES, ENVIRONMENTS, ENVIRONMENTS)
def test_nothing_is_lost_and_nothing_comes_from_elsewhere(
    version: Version, worker: dict[str, str], driver: dict[str, str]
) -> None:
    final = hand_over(version, driver).final(worker, driver)
    assert worker.keys() <= final.keys() <= worker.keys() | driver.keys()
    assert all(value in (worker.get(name), driver.get(name)) for name, value in final.items())


@given(RELEASES, ENVIRONMENTS, ENVIRONMENTS)
def test_what_is_replaced_is_what_differs_from_the_workers_own(
    version: Version, worker: dict[str, str], driver: dict[str, str]
) -> None:
    rules = hand_over(version, driver)
    final = rules.final(worker, driver)
    changed = {name for name, value in worker.items() if final[name] != value}
    assert rules.replaced(worker, driver).keys() == changed
    assert not changed or rules.overwrites


@given(RELEASES, ENVIRONMENTS, ENVIRONMENTS, st.frozensets(NAMES))
def test_what_the_file_excludes_is_the_workers_own(
    version: Version, worker: dict[str, str], driver: dict[str, str], excluded: frozenset[str]
) -> None:
    final = hand_over(version, driver, excluded).final(worker, driver)
    assert all(final.get(name) == worker.get(name) for name in excluded)


def test_settings_that_keep_nccl_from_rdma() -> None:
    assert without_rdma({"NCCL_IB_DISABLE": "0", "NCCL_NET": "IB"}) == without_rdma({}) == ()
    off = {"NCCL_IB_DISABLE": "1", "NCCL_NET": "Socket"}
    assert without_rdma(off) == ("NCCL_IB_DISABLE=1", "NCCL_NET=Socket")


def test_only_settings_that_cost_are_debugging() -> None:
    assert debugging({"NCCL_DEBUG": "INFO", "VLLM_LOGGING_LEVEL": "INFO", "CUDA_LAUNCH_BLOCKING": "0"}) == ()
    assert debugging({"NCCL_DEBUG": "trace"}) == ("NCCL_DEBUG=TRACE",)


def test_a_variable_that_only_one_process_needs_concerns_nobody_else() -> None:
    assert concerns_all_ranks("GLOO_SOCKET_IFNAME")
    assert not concerns_all_ranks("RAY_ADDRESS")


@pytest.mark.parametrize("version", [OLD, (0, 20, 2), (0, 21, 0), (0, 22, 0), (0, 27, 1)])
def test_sources_with_the_traits_of_a_release_are_judged_like_it(version: Version) -> None:
    traits = [trait for trait, since in FIRST_WITH.items() if since <= version]
    driver = {"GLOO_SOCKET_IFNAME": "a", "FLASH_ATTENTION_X": "b", "VLLM_NIXL_SIDE_CHANNEL_HOST": "c"}
    assert hand_over(oldest_with(traits), driver).copied(driver) == hand_over(version, driver).copied(driver)


def test_the_script_looks_for_every_trait_and_no_other() -> None:
    assert [name for name, _, _ in engine.TRAITS] == list(FIRST_WITH)


@pytest.mark.parametrize("text", ["0.1.dev1+g1b4fe3a", "0.1.dev12001", "0.0.0", "v0.1.dev3", "dev"])
def test_a_build_without_tags_is_of_no_release(text: str) -> None:
    assert is_unnumbered(text)
    with pytest.raises(ValueError, match="any release"):
        parse_version(text)


@pytest.mark.parametrize(
    ("text", "version"), [("0.1.7", (0, 1, 7)), ("0.26.1rc1.dev1257+g94d96e244.d20260827", (0, 26, 1)), ("0.17.1", OLD)]
)
def test_a_build_after_a_tag_has_its_number(text: str, version: Version) -> None:
    assert parse_version(text) == version
