"""Record what two dressed nodes say, at the stages hosts and ray.

    python -m selftests.proofs.gb10.record

To be done again when a view asks something new. What the commands ask and no capture answers is printed.
"""

from __future__ import annotations

import re

import typer

from selftests.proofs.gb10.captures import NO_CAPTURE, unverified
from selftests.proofs.gb10.costume import bundle_of, described, dress
from shakedown.embedded.up import Options, start
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import fetch
from shakedown.outcomes import Stage

STAGES = (Stage.HOSTS, Stage.RAY)

LOCKED, LIMIT = "locked memory", r"(?m)(?<=^new )\d+|(?<=^raylet )\d+"


def main() -> None:
    """Take a dressed deployment through its stages and keep what both nodes say at each."""
    with start(Options(owned=True)) as running:
        dress(running)
        deployment = described(running)
        for stage in STAGES:
            running.reach(stage)
            evidence = Evidence.of(deployment, stage)
            fetch(deployment, evidence)
            unlock(evidence)
            evidence.unverified = unverified()
            evidence.save(bundle_of(stage))
            for line in unanswered(evidence):
                typer.echo(line)


def unlock(evidence: Evidence) -> None:
    """Give the nodes the unlimited locked memory that RDMA asks for, as `docker run --ulimit memlock=-1` does.

    A limit is inherited, and many a machine that records may not raise its own, so the answer is dressed afterwards.
    """
    for node in evidence.nodes:
        if any(answer.key.startswith(LOCKED) and re.search(LIMIT, answer.text) for answer in evidence.answers(node)):
            evidence.change(node, LOCKED, lambda text: re.sub(LIMIT, "unlimited", text))


def unanswered(evidence: Evidence) -> list[str]:
    """What was asked of tools and is in no capture, in words."""
    return [
        f"{node}: {line}"
        for node in evidence.nodes
        for answer in evidence.answers(node)
        for line in answer.stderr.decode(errors="replace").splitlines()
        if line.startswith("no capture of: ") or answer.exit_code == NO_CAPTURE
    ]


if __name__ == "__main__":
    main()
