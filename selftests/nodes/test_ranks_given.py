"""What the probe's ranks are given beside the environment of their node, and what they keep of their last words."""

from __future__ import annotations

import pytest

from selftests.proofs.bundle import in_text
from selftests.proofs.gb10.costume import FILE, bundle_of
from shakedown.inventory.load import load_deployment
from shakedown.nodes.active.scripts import form_group
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.ranks import given
from shakedown.nodes.views.node import NodeViews, fetch
from shakedown.outcomes import Stage

HEAD, WORKER = "node-a", "node-b"
RAYLET = "raylet:"


def ranks(evidence: Evidence) -> dict[str, dict[str, str]]:
    """What the ranks of both recorded nodes are given."""
    deployment = load_deployment(FILE)
    fetch(deployment, evidence)
    views = {node.name: NodeViews(deployment, node, evidence) for node in deployment.node}
    return {name: given(view, views[HEAD], deployment) for name, view in views.items()}


def test_before_ray_the_declared_addresses_and_what_the_server_will_hand_over() -> None:
    found = ranks(Evidence.load(bundle_of(Stage.HOSTS)))
    hcas = "rocep1s0f1,roceP2p1s0f1"  # of [launch].serve
    assert found[WORKER] == {
        "VLLM_HOST_IP": "192.168.200.13",
        "GLOO_SOCKET_IFNAME": "enp1s0f1np1",
        "NCCL_SOCKET_IFNAME": "enp1s0f1np1",
        "NCCL_IB_HCA": hcas,
    }
    assert found[HEAD] == found[WORKER] | {"VLLM_HOST_IP": "192.168.200.12"}


def test_what_only_the_head_has_reaches_the_rank_of_the_worker() -> None:
    evidence = Evidence.load(bundle_of(Stage.RAY))
    assert "NCCL_IB_HCA" not in ranks(evidence)[WORKER]  # its raylet has the same
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_IB_HCA=.*\n", "")
    found = ranks(evidence)[WORKER]
    assert found["NCCL_IB_HCA"] == "rocep1s0f1,roceP2p1s0f1"
    assert "VLLM_HOST_IP" not in found  # its own, or none: nobody hands it over


def test_what_is_handed_over_goes_before_what_the_raylet_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_group, "raylet_environment", lambda: {"NCCL_IB_HCA": "mlx5_0", "HOME": "/root"})
    found = form_group.environment(["NCCL_IB_HCA=rocep1s0f1", "NCCL_DEBUG=WARN"])
    assert found == {"NCCL_IB_HCA": "rocep1s0f1", "HOME": "/root", **form_group.LOUD}


def test_an_error_is_kept_though_nccl_goes_on_talking() -> None:
    """As two ranks on one GPU were seen to end, NCCL 2.28.9."""
    chatter = [f"vm:444:444 [0] NCCL INFO group.cc:{number} -> 5" for number in range(9)]
    warning = "vm:444:444 [0] init.cc:904 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60"
    kept = form_group.last_words(["Traceback", "    ^^^^", warning, *chatter])
    assert warning in kept
    assert kept[-1] == chatter[-1]
    assert len(kept) <= form_group.TAIL_LINES


def test_lines_about_the_way_to_the_peers_are_kept_once() -> None:
    line = "vm:510:510 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"
    words = [
        "vm:510:510 [0] NCCL INFO Using network Socket",
        line,
        line,
        "NCCL error, via NET/IB",
        "vm NCCL INFO Trees",
    ]
    assert form_group.transport(words) == [
        "Using network Socket",
        "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
    ]
