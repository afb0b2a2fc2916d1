"""The model's files, on every node: each loads its own copy."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment
from shakedown.nodes.start import DECLARED, commanded, start_of
from shakedown.nodes.views.model_files import ModelFolder, differing_files
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")
BEFORE_LAUNCH = ("hosts", "ray")


@pytest.mark.check("MOD-03", stages=ALWAYS)
def test_model_folder_is_there(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """The declared model folder exists on every node and holds a configuration and weights."""
    folder = view.model_files.folder
    inside = f"{len(folder.shards)} shards and {len(folder.small)} other files"
    found = inside if folder.exists else folder.denied or "no such folder"
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


@pytest.mark.check("MOD-03", stages=ALWAYS, needs=("MOD-03",), severity="warning")
def test_model_is_of_one_revision(pair: dict[str, NodeViews], claim: Claim) -> None:
    """Where the hub's client kept the commit of a download, it is the same on all nodes."""
    folders = {name: view.model_files.folder for name, view in pair.items()}
    known = {folder.revision for folder in folders.values() if folder.revision}
    claim(
        len(known) <= 1,
        found="; ".join(f"{name}: {_revision(folder)}" for name, folder in folders.items()),
        expected="one commit",
    )


@pytest.mark.check("MOD-04", stages=ALWAYS, needs=("MOD-03",))
def test_engine_may_read_every_file(view: NodeViews, claim: Claim) -> None:
    """Where the engine runs, its user can read every file of the model, and no link leads to nothing."""
    folder = view.model_files.folder
    claim(
        not folder.unreadable,
        found="; ".join(f"{name}: {why}" for name, why in sorted(folder.unreadable.items())[:3]),
        expected=f"files that user {folder.user} can read, who starts the engine",
    )


@pytest.mark.check("MOD-04", stages=BEFORE_LAUNCH, needs=("MOD-03",), severity="warning")
def test_no_download_is_unfinished(view: NodeViews, claim: Claim) -> None:
    """Before the model is launched no download of it is unfinished, under way or given up."""
    unfinished = view.model_files.folder.unfinished
    claim(not unfinished, found=", ".join(unfinished), expected="no *.incomplete beside the model")


@pytest.mark.check("MOD-05", stages=ALWAYS)
def test_weights_are_of_a_format_that_is_looked_for(view: NodeViews, claim: Claim) -> None:
    """A folder that is there holds weights as safetensors, which is what is looked for first."""
    folder = view.model_files.folder
    if not folder.exists or "config.json" not in folder.small:
        pytest.skip("there is no model there at all: see MOD-03")
    others = f", but {', '.join(folder.other_weights)}" if folder.other_weights else ""
    claim(bool(folder.shards), found=f"no *.safetensors{others}", expected="*.safetensors")


@pytest.mark.check("MOD-06", stages=ALWAYS, needs=("MOD-03",))
def test_engine_knows_the_architecture(view: NodeViews, claim: Claim) -> None:
    """The installed engine knows the architecture that the model's configuration names."""
    known, named = view.engine_files.files.architectures, view.model_files.folder.architectures
    if known is None:
        raise EvidenceError("the registry of the installed engine was not found, or has another shape")
    holds = any(name in known for name in named)
    _skip_where_plugins_decide(view, holds=holds)
    claim(
        holds,
        found=f"architectures = {', '.join(named) or 'none'}, not among the {len(known)} that this engine knows",
        expected="one that it knows; a newer engine may",
    )


@pytest.mark.check("MOD-06", stages=ALWAYS, needs=("MOD-03",))
def test_engine_knows_the_quantisation(view: NodeViews, claim: Claim) -> None:
    """The installed engine knows the method by which the model's weights are quantised, if they are."""
    known, method = view.engine_files.files.quantisations, view.model_files.folder.quantisation
    if method is None:
        pytest.skip("config.json names no quantisation")
    if known is None:
        raise EvidenceError("the quantisation methods of the installed engine were not found")
    holds = method.lower().replace("_", "-") in {name.replace("_", "-") for name in known}
    _skip_where_plugins_decide(view, holds=holds)
    claim(
        holds,
        found=f"quant_method = {method}",
        expected=f"one of {', '.join(sorted(known))}",
    )


@pytest.mark.check("MOD-07", stages=BEFORE_LAUNCH)
def test_start_command_names_the_folder(head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """The declared start command serves a folder, and no name on the hub that would be downloaded."""
    start = start_of(head, deployment)
    model = start.command.model if start else None
    if start is None or model is None or "$" in model:
        pytest.skip(f"no start command is declared ({DECLARED}) that names a model by itself")
    claim(
        model.startswith("/"),
        found=f"{start.known_from} serves {model}",
        expected=f"{deployment.model.path}, which is on every node, so that nothing is downloaded",
    )


@pytest.mark.check("MOD-08", stages=BEFORE_LAUNCH)
def test_compile_cache_can_be_used(view: NodeViews, claim: Claim) -> None:
    """Every entry of the engine's cache of compiled graphs is whole, and its user may write it."""
    cache = view.engine_files.files.cache
    claim(
        cache.problem is None,
        found=f"{cache.folder}: {cache.problem}",
        expected="entries that the engine can read and write, or none",
    )


@pytest.mark.check("MOD-09", stages=ALWAYS)
def test_loader_works_on_several_nodes(view: NodeViews, head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """If fastsafetensors loads the model, the installed engine does not take a rank's number for that of a GPU."""
    started, known_from = commanded(head, deployment)
    if started.serve.load_format != "fastsafetensors":
        pytest.skip(f"load_format is another, by {known_from}")
    by_rank = view.engine_files.files.fastsafetensors_by_global_rank
    if by_rank is None:
        raise EvidenceError("the loader of the installed engine was not found")
    claim(
        not by_rank,
        found="this engine opens GPU number RANK for fastsafetensors, which a worker node does not have",
        expected="load_format = safetensors, or an engine that takes the node's own GPU",
    )


def _skip_where_plugins_decide(view: NodeViews, *, holds: bool) -> None:
    plugins = view.engine_files.files.plugins
    if plugins and not holds:
        pytest.skip(f"it is not the engine's own, but a plugin may know it: {', '.join(plugins)}")


def _revision(folder: ModelFolder) -> str:
    """Which node has fallen behind shows where the hub's client kept what the branch was at the last download."""
    newest = f", refs/main is {folder.newest_revision}" if folder.newest_revision not in (None, folder.revision) else ""
    return f"{folder.revision or 'no commit kept'}{newest}"
