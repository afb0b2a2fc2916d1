"""`docs/proofs.json`: what was observed for each fault, so that a long run can be resumed and a claim be looked up."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from selftests.proofs.launches.record import LaunchProof
from selftests.proofs.model import Clean, Fault
from selftests.proofs.observe import ROOT, Observation

FILE = ROOT / "docs" / "proofs.json"
SOURCES = ("shakedown", "fixtures", "tests_infra", "tests_serving", "tests_perf", "selftests/proofs")


class Proof(BaseModel):
    """One observed run.

    Attributes:
        fault: name of the fault, or ``clean`` with what was healthy.
        expected, failed: ids of checks declared to fail and seen to fail.
        passed: ids of checks seen to pass.
        fired: the tests that raised a finding, without parameters.
        broken: tests that ended by an error of their own.
        took_s: wall-clock seconds.
        at: day of the observation, UTC.
        sources: digest of the code that was proved.
    """

    model_config = ConfigDict(extra="forbid")

    fault: str
    mechanism: str
    suite: str
    stage: str
    check: str | None
    expected: list[str]
    failed: list[str]
    passed: list[str]
    fired: list[str]
    broken: list[str]
    companions: dict[str, str] = {}
    took_s: float
    at: str
    sources: str

    @property
    def holds(self) -> bool:
        """Exactly the declared checks raised findings, nothing broke, and the run was not empty."""
        return self.expected == self.failed and not self.broken and bool(self.passed or self.failed)


class Proofs(BaseModel):
    """The whole file: suites by fault, launches by name."""

    model_config = ConfigDict(extra="forbid")

    proofs: dict[str, Proof] = {}
    launches: dict[str, LaunchProof] = {}


def load() -> Proofs:
    """What has been observed so far."""
    return Proofs.model_validate_json(FILE.read_text(encoding="utf-8")) if FILE.is_file() else Proofs()


def save(proofs: Proofs) -> None:
    """Write the file, ordered by name so that a change shows as one."""
    ordered = Proofs(proofs=dict(sorted(proofs.proofs.items())), launches=dict(sorted(proofs.launches.items())))
    partial = FILE.with_suffix(".partial")
    partial.write_text(ordered.model_dump_json(indent=1) + "\n", encoding="utf-8")
    partial.replace(FILE)


def keep(name: str, proof: Proof | LaunchProof) -> None:
    """Write one observation into the file, as it is by now: others may be at work, too."""
    proofs = load()
    if isinstance(proof, LaunchProof):
        proofs.launches[name] = proof
    else:
        proofs.proofs[name] = proof
    save(proofs)


def known(proofs: Proofs, name: str) -> Proof | LaunchProof | None:
    """What has been observed of that name."""
    return proofs.launches.get(name) or proofs.proofs.get(name)


def proof_of(run: Fault | Clean, seen: Observation, sources: str) -> Proof:
    """An observation as it is kept."""
    return Proof(
        fault=run.name,
        mechanism=run.mechanism,
        suite=run.suite,
        stage=run.stage,
        check=run.check,
        expected=sorted(run.expected),
        failed=sorted(seen.failed),
        passed=sorted(seen.passed),
        fired=sorted(seen.fired),
        broken=sorted(seen.broken),
        companions=dict(run.companions),
        took_s=round(seen.took_s, 1),
        at=datetime.now(UTC).date().isoformat(),
        sources=sources,
    )


def digest() -> str:
    """Of every file that decides what a run shows; a proof with another digest is observed again."""
    total = hashlib.sha256()
    for folder in SOURCES:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and file.suffix in (".py", ".toml", ".gz", ".json", ".jinja"):
                total.update(str(file.relative_to(ROOT)).encode())
                total.update(Path(file).read_bytes())
    return total.hexdigest()[:16]
