"""A fault that only GPUs can show, as the probes of tier 1 would tell it: their answers are put into a recorded bundle.

The healthy pair in GB10's shape was recorded at tier 0, and has no GPUs. What is put in has the form in which the
probes answer; the last words of the ranks are those of the public thread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from selftests.proofs.model import Fault
from shakedown.nodes.active.action import script
from shakedown.nodes.answer import Answer
from shakedown.nodes.evidence import Evidence

FABRIC = {"node-a": "192.168.200.12", "node-b": "192.168.200.13"}
INIT = "tcp://192.168.200.12:51234"

# https://github.com/MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks/issues/3
CONNECT = "proxy.cc:1716 NCCL WARN [Service thread] Error encountered progressing operation=Connect, res=3, closing"


def nccl_stands_still(evidence: Evidence) -> None:
    """Ports are open and Gloo comes together; NCCL connects its devices and does not get through."""
    for number, (node, own) in enumerate(FABRIC.items()):
        (peer,) = (address for address in FABRIC.values() if address != own)
        group = {"address": own, "init": INIT, "exit_code": 0, "tail": [], "took_s": 4.2}
        done = {"step": "done", "total": 1.0, "expected": 1.0}
        hung = {"step": "add up", "exit_code": -9, "took_s": 50.0, "tail": [f"node [{number}] {CONNECT}"]}
        _answer(evidence, node, "try_ports", "", {"taken": {}, "reached": {peer: dict.fromkeys(("40001", "40002"))}})
        _answer(evidence, node, "form_group", "gloo", group | done)
        _answer(evidence, node, "form_group", "nccl", group | hung)


def _answer(evidence: Evidence, node: str, name: str, variant: str, said: Mapping[str, object]) -> None:
    command = script(name, "python3", limit_s=1, variant=variant)
    taken = evidence.answers(node)[0]
    evidence.record(
        node,
        Answer(
            key=command.key,
            place=command.place,
            exit_code=0,
            stdout=json.dumps(said).encode(),
            stderr=b"",
            started=taken.started,
            duration_s=taken.duration_s,
            asked=taken.asked,
            answered=taken.answered,
        ),
    )


FAULTS: tuple[Fault, ...] = (
    Fault(
        "bundle-nccl-stands-still",
        "bundle",
        "NET-17",
        stage="hosts",
        inject=nccl_stands_still,
        options=("--tier", "1"),
        pair="gb10",
    ),
)
