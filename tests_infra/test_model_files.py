"""The model's files, on every node: each loads its own copy."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.views.model_files import differing_files
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")


@pytest.mark.check("MOD-03", stages=ALWAYS)
def test_model_folder_is_there(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """The declared model folder exists on every node and holds a configuration and weights."""
    folder = view.model_files.folder
    found = f"{len(folder.shards)} shards and {len(folder.small)} other files" if folder.exists else "no such folder"
    claim(
        "config.json" in folder.small and bool(folder.shards),
        found=f"{deployment.model.path}: {found}",
        expected="a folder with config.json and safetensors",
    )


@pytest.mark.check("MOD-01", stages=ALWAYS, needs=("MOD-03",))
def test_every_shard_is_there(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every node has all shards that the index names, as many as the deployment file declares."""
    folder = view.model_files.folder
    named = len(folder.promised) or len(folder.shards)
    missing = f"; missing: {', '.join(folder.missing)}" if folder.missing else ""
    claim(
        named == deployment.model.shards and not folder.missing,
        found=f"the index names {named} shards{missing}",
        expected=f"shards = {deployment.model.shards} of the deployment file, all of them there",
    )


@pytest.mark.check("MOD-01", stages=ALWAYS, needs=("MOD-03",))
def test_every_shard_is_whole(view: NodeViews, claim: Claim) -> None:
    """The header of every shard fits the size of its file and the tensors that the index promises."""
    problems = view.model_files.folder.problems
    claim(
        not problems,
        found="; ".join(f"{name}: {problem}" for name, problem in problems.items()),
        expected="8 + header length + largest data offset = file size, and the tensors of the index",
    )


@pytest.mark.check("MOD-03", stages=ALWAYS, needs=("MOD-03",))
def test_model_is_the_same_on_all_nodes(pair: dict[str, NodeViews], claim: Claim) -> None:
    """Configuration, tokenizer, index and the headers of all whole shards are equal on all nodes."""
    folders = {name: view.model_files.folder for name, view in pair.items()}
    small = {name: folder.small for name, folder in folders.items()}
    differing = differing_files(small) | differing_files(
        {name: folder.whole for name, folder in folders.items()}, all_have=True
    )
    shown = [f"{file} ({who})" for file, who in sorted(differing.items())[:3]]
    claim(
        not differing,
        found=f"{len(differing)} files differ: {', '.join(shown)}",
        expected="equal files on all nodes; of shards, equal sizes and headers",
    )
