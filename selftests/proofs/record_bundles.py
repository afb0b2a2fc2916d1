"""Record the healthy bundles of `simulated` from the embedded deployment, each at its stage.

    python -m selftests.proofs.record_bundles

To be done again when a view asks something new. The embedded nodes have neutral paths and names, so nothing of the
recording machine but its memory and its clock gets into a bundle. It bears the name of the deployment that replays it.
"""

from __future__ import annotations

from shakedown.embedded.up import Options, start
from shakedown.inventory.load import load_deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import fetch
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE, bundle_of


def main() -> None:
    """Take a deployment through its stages and keep what both nodes say at each."""
    with start(Options(owned=True)) as running:
        for stage in Stage:
            running.reach(stage)
            deployment = load_deployment(running.file)
            evidence = Evidence.of(deployment, stage)
            evidence.deployment = load_deployment(FILE).name
            fetch(deployment, evidence)
            evidence.save(bundle_of(stage))


if __name__ == "__main__":
    main()
