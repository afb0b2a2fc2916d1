"""Keys that are right each and cannot be true together."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.inventory.files import GOOD, changed, refusal

B_ADDRESS = 'fabric_address = "192.168.200.13"'
B_SSH = 'ssh = "op@10.1.230.181"'

CASES = {
    "no head": (
        ('role = "head"', 'role = "worker"'),
        'FILE:8: node: no node has role = "head"; allowed: exactly one',
    ),
    "two heads": (
        ('role = "worker"', 'role = "head"'),
        'FILE:16: node[1].role: a second "head" (node[0] is one); allowed: exactly one',
    ),
    "a node that is reached in no way": (
        (f"{B_SSH}\n", ""),
        "FILE:14: node[1]: found none of them; allowed: exactly one of ssh, local and namespace, which say how the "
        "node is reached",
    ),
    "a node that is reached in two ways": (
        (B_SSH, f"{B_SSH}\nlocal = true"),
        "FILE:14: node[1]: found ssh and local; allowed: exactly one of ssh, local and namespace, which say how the "
        "node is reached",
    ),
    "a configuration of ssh without ssh": (
        (B_SSH, 'local = true\nssh_config = "cfg"'),
        "FILE:18: node[1].ssh_config: found without ssh; allowed: only together with it",
    ),
    "a fabric address outside the fabric": (
        (B_ADDRESS, 'fabric_address = "192.168.100.13"'),
        'FILE:18: node[1].fabric_address: found "192.168.100.13"; allowed: an address of fabric.subnets, '
        "192.168.200.0/24",
    ),
    "a fabric address inside the management": (
        (B_ADDRESS, 'fabric_address = "10.1.230.13"'),
        'FILE:18: node[1].fabric_address: found "10.1.230.13", which is inside 10.1.230.0/24 of management.subnets; '
        "allowed: an address of fabric.subnets, 192.168.200.0/24",
    ),
    "networks that overlap": (
        ('subnets = ["10.1.230.0/24"]', 'subnets = ["10.1.230.0/24", "192.168.0.0/16"]'),
        "FILE:5: fabric.subnets: 192.168.200.0/24 overlaps 192.168.0.0/16 of management.subnets; allowed: networks "
        "apart from each other",
    ),
    "a name given twice": (
        ('name = "spark-b"', 'name = "spark-a"'),
        'FILE:15: node[1].name: found "spark-a", as in node[0]; allowed: one of its own',
    ),
    "an address given twice": (
        (B_ADDRESS, 'fabric_address = "192.168.200.12"'),
        'FILE:18: node[1].fabric_address: found "192.168.200.12", as in node[0]; allowed: one of its own',
    ),
    "a destination given twice": (
        (B_SSH, 'ssh = "op@10.1.230.180"'),
        'FILE:17: node[1].ssh: found "op@10.1.230.180", as in node[0]; allowed: one of its own',
    ),
    "more ranks than GPUs": (
        ("tensor_parallel = 2", "tensor_parallel = 2\npipeline_parallel = 2"),
        "FILE:27: serve.tensor_parallel: tensor_parallel 2 x pipeline_parallel 2 makes 4 ranks, but the nodes have 2 "
        "GPUs (node.gpus); allowed: as many ranks as GPUs",
    ),
    "a GPU without a rank": (
        (B_ADDRESS, f"{B_ADDRESS}\ngpus = 4"),
        "FILE:28: serve.tensor_parallel: tensor_parallel 2 x pipeline_parallel 1 makes 2 ranks, but the nodes have 5 "
        "GPUs (node.gpus); allowed: as many ranks as GPUs",
    ),
    "a profile that does not exist": (
        ('name = "pair"', 'name = "pair"\nprofile = "gb20-pair"'),
        'FILE:4: deployment.profile: found "gb20-pair"; allowed: embedded, gb10-pair, generic-pair, simulated',
    ),
    "a limit without a number": (
        ("tensor_parallel = 2", 'tensor_parallel = 2\n[[slo]]\nscenario = "c1"\nmetric = "ttft"'),
        "FILE:28: slo[0]: found neither max nor min; allowed: one of them, or both",
    ),
    "limits that exclude each other": (
        ("tensor_parallel = 2", 'tensor_parallel = 2\n[[slo]]\nscenario = "c1"\nmetric = "x"\nmin = 2.0\nmax = 1.0'),
        "FILE:31: slo[0].min: found 2.0; allowed: at most max, which is 1.0",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_contradiction_is_refused_with_its_message(case: str, tmp_path: Path) -> None:
    change, message = CASES[case]
    assert refusal(changed(change), tmp_path) == message


def test_a_single_node_is_no_pair(tmp_path: Path) -> None:
    start, end = GOOD.index("[[node]]", GOOD.index("[[node]]") + 1), GOOD.index("[model]")
    text = GOOD[:start] + GOOD[end:].replace("tensor_parallel = 2", "tensor_parallel = 1")
    assert refusal(text, tmp_path) == "FILE:8: node: found 1 table; allowed: at least 2 of them"


def test_two_nodes_on_this_machine_itself_are_one(tmp_path: Path) -> None:
    text = changed(('ssh = "op@10.1.230.180"', "local = true"), (B_SSH, "local = true"))
    assert refusal(text, tmp_path) == "FILE:17: node[1].local: found the same, as in node[0]; allowed: one of its own"
