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
from selftests.proofs.model import Clean, Fault
from selftests.proofs.observe import observe, observe_clean
from shakedown.errors import ShakedownError


@dataclass(frozen=True, slots=True)
class Job:
    """One run still to be observed."""

    name: str
    mechanism: str
    run: Callable[[Path, str], record.Proof]


def main() -> int:
    """Returns 0 if every proof holds."""
    arguments = _arguments()
    console = Console()
    proofs, sources = record.load(), record.digest()
    wrong = 0
    jobs = [job for job in _jobs() if _wanted(job, arguments)]
    for number, job in enumerate(jobs, 1):
        known = proofs.proofs.get(job.name)
        if known and known.holds and known.sources == sources and not arguments.again:
            continue
        proof = _observed(job, sources)
        if isinstance(proof, record.Proof):
            proofs.proofs[job.name] = proof
            record.save(proofs)
        wrong += not (isinstance(proof, record.Proof) and proof.holds)
        console.print(f"[{number}/{len(jobs)}] {job.mechanism:<10} {job.name}: {_verdict(proof)}", markup=False)
    console.print(f"{len(proofs.proofs)} proofs in {record.FILE.name}, {wrong} of this run do not hold")
    return 1 if wrong else 0


def _observed(job: Job, sources: str) -> record.Proof | Exception:
    """The proof, or why the run could not be observed: the others are observed all the same."""
    with tempfile.TemporaryDirectory(prefix="shakedown-proof-") as workdir:
        try:
            return job.run(Path(workdir), sources)
        except (AssertionError, ShakedownError, subprocess.TimeoutExpired) as error:
            return error


def _verdict(proof: record.Proof | Exception) -> str:
    if isinstance(proof, Exception):
        return f"NOT OBSERVED: {proof}"
    if proof.holds:
        return f"holds ({proof.took_s} s)"
    return f"DOES NOT HOLD: expected {proof.expected}, failed {proof.failed}, broken {proof.broken} ({proof.took_s} s)"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m selftests.proofs", description=__doc__)
    parser.add_argument("--mechanism", choices=("bundle", "simulator", "embedded"))
    parser.add_argument("--again", action="store_true", help="observe also what is recorded")
    parser.add_argument("name", nargs="*", help="only these faults")
    return parser.parse_args()


def _wanted(job: Job, arguments: argparse.Namespace) -> bool:
    return (not arguments.name or job.name in arguments.name) and arguments.mechanism in (None, job.mechanism)


def _jobs() -> list[Job]:
    return [_clean_job(clean) for clean in CLEAN] + [_fault_job(fault) for fault in FAULTS]


def _fault_job(fault: Fault) -> Job:
    return Job(fault.name, fault.mechanism, lambda work, sources: record.proof_of(fault, observe(fault, work), sources))


def _clean_job(clean: Clean) -> Job:
    def run(workdir: Path, sources: str) -> record.Proof:
        return record.proof_of(clean, observe_clean(clean, workdir), sources)

    return Job(clean.name, clean.mechanism, run)


if __name__ == "__main__":
    sys.exit(main())
