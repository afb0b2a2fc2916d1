"""`make proofs`: observe every fault and every clean run that the record does not hold yet, and write it down.

Interrupt it and call it again: what has been observed with the same code is not observed twice.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from selftests.proofs import record
from selftests.proofs.faults import CLEAN, FAULTS
from selftests.proofs.launches.failing import FAILING
from selftests.proofs.launches.healthy import HEALTHY
from selftests.proofs.launches.model import Launch
from selftests.proofs.launches.observe import observe as observe_launch
from selftests.proofs.launches.record import LaunchProof
from selftests.proofs.launches.record import proof_of as launch_proof_of
from selftests.proofs.model import Clean, Fault
from selftests.proofs.observe import observe, observe_clean
from shakedown.errors import ShakedownError


@dataclass(frozen=True, slots=True)
class Job:
    """One run still to be observed."""

    name: str
    mechanism: str
    run: Callable[[Path, str], record.Proof | LaunchProof]


def main() -> int:
    """Returns 0 if every proof holds."""
    arguments = _arguments()
    console = Console()
    proofs, sources = record.load(), record.digest()
    wrong = 0
    jobs = [job for job in _jobs() if _wanted(job, arguments)]
    for number, job in enumerate(jobs, 1):
        known = record.known(proofs, job.name)
        if known and known.holds and known.sources == sources and not arguments.again:
            continue
        proof = _observed(job, sources)
        if not isinstance(proof, Exception):
            record.keep(job.name, proof)
        wrong += isinstance(proof, Exception) or not proof.holds
        console.print(f"[{number}/{len(jobs)}] {job.mechanism:<10} {job.name}: {_verdict(proof)}", markup=False)
    kept = record.load()
    count = len(kept.proofs) + len(kept.launches)
    console.print(f"{count} proofs in {record.FILE.name}, {wrong} of this run do not hold")
    return 1 if wrong else 0


def _observed(job: Job, sources: str) -> record.Proof | LaunchProof | Exception:
    """The proof, or why the run could not be observed: the others are observed all the same."""
    with tempfile.TemporaryDirectory(prefix="shakedown-proof-") as workdir:
        try:
            return job.run(Path(workdir), sources)
        except (AssertionError, ShakedownError, subprocess.TimeoutExpired) as error:
            return error


def _verdict(proof: record.Proof | LaunchProof | Exception) -> str:
    if isinstance(proof, Exception):
        return f"NOT OBSERVED: {proof}"
    if proof.holds:
        return f"holds ({proof.took_s} s)"
    if isinstance(proof, LaunchProof):
        return f"DOES NOT HOLD: {'; '.join(proof.wrong)} ({proof.took_s} s)"
    return f"DOES NOT HOLD: expected {proof.expected}, failed {proof.failed}, broken {proof.broken} ({proof.took_s} s)"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m selftests.proofs", description=__doc__)
    parser.add_argument("--mechanism", choices=("bundle", "simulator", "embedded", "launch"))
    parser.add_argument("--again", action="store_true", help="observe also what is recorded")
    parser.add_argument("name", nargs="*", help="only these faults")
    return parser.parse_args()


def _wanted(job: Job, arguments: argparse.Namespace) -> bool:
    return (not arguments.name or job.name in arguments.name) and arguments.mechanism in (None, job.mechanism)


def _jobs() -> list[Job]:
    return [
        *map(_clean_job, CLEAN),
        *map(_fault_job, FAULTS),
        *map(_launch_job, (*HEALTHY, *FAILING)),
    ]


def _fault_job(fault: Fault) -> Job:
    return Job(fault.name, fault.mechanism, lambda work, sources: record.proof_of(fault, observe(fault, work), sources))


def _clean_job(clean: Clean) -> Job:
    def run(workdir: Path, sources: str) -> record.Proof:
        return record.proof_of(clean, observe_clean(clean, workdir), sources)

    return Job(clean.name, clean.mechanism, run)


def _launch_job(launch: Launch) -> Job:
    def run(workdir: Path, sources: str) -> LaunchProof:
        return launch_proof_of(launch, observe_launch(launch, workdir), sources)

    return Job(launch.name, "launch", run)


if __name__ == "__main__":
    sys.exit(main())
