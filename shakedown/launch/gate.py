"""The gate before a stage: the infra checks of the stage that the deployment is at must find no blocker."""

from __future__ import annotations

from pathlib import Path

from shakedown.errors import LaunchError
from shakedown.faults import exit_codes
from shakedown.launch.suites import PASSED, SuiteRun, run_suite
from shakedown.outcomes import Stage


class GateError(LaunchError):
    """The launch was not gone on with, since it would fail for a reason that is known.

    Attributes:
        blockers: ids that were found, each with its node.
    """

    def __init__(self, stage: Stage, run: SuiteRun) -> None:
        self.blockers = tuple(dict.fromkeys(_named(test.check or "", test.node) for test in run.blockers))
        first = next((test.check for test in run.blockers if test.check), None)
        self.exit_code = exit_codes.exit_code(first) if first else exit_codes.GATE
        why = ", ".join(self.blockers) or run.verdict
        super().__init__(
            f"stopped at stage {stage}: the infra checks found what the launch would fail by ({why}); mend it and "
            "launch again, which goes on from here, or go on regardless with --no-gate"
        )


def require_sound(deployment: Path, stage: Stage) -> None:
    """Run the infra checks at the stage that the deployment is at; their output is the operator's to read.

    Raises:
        GateError: one found a blocker, none ran, or pytest did not come to its end.
    """
    run = run_suite("infra", deployment)
    if run.code != PASSED:
        raise GateError(stage, run)


def _named(check: str, node: str | None) -> str:
    return f"{check} on {node}" if node else check
