"""The model's folder on one node: what the index promises, and what is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, python_script
from shakedown.nodes.views.base import View

PROSE = (".md", ".txt", ".pdf", ".png", ".gitattributes", ".gitignore", "LICENSE", "NOTICE")
"""Ends of the names of files that no engine reads, apart from vocabularies."""

VOCABULARIES = ("vocab.txt", "merges.txt")


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of weights.

    Attributes:
        size: bytes.
        problem: what is wrong with it, in words; None if its header fits its size and the index.
        header_sha256: digest of the header; None if it cannot be read.
        tensor_bytes: bytes of its tensors by type of number, as the header names it.
    """

    size: int
    problem: str | None
    header_sha256: str | None
    tensor_bytes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The folder of a model.

    Attributes:
        exists: whether there is one that this user may list.
        denied: why it may not be listed; None otherwise.
        user: number of the user who looked: the one who will start the engine. None where there is no folder.
        index_sha256: digest of the index; None where there is none.
        promised: names of the shards that the index names; empty without an index.
        shards: the shards that are there.
        small: digests of all other files that an engine may read.
        config: ``config.json``; empty if it cannot be read.
        revision: commit of the hub that it was downloaded from; None if nothing tells.
        newest_revision: what ``refs/main`` beside a snapshot says; None if the folder is no snapshot.
        unfinished: downloads that were not completed.
        unreadable: files that the engine's user cannot read -> why.
        other_weights: weights of other formats.
    """

    exists: bool
    denied: str | None
    user: int | None
    index_sha256: str | None
    promised: tuple[str, ...]
    shards: Mapping[str, Shard]
    small: Mapping[str, str]
    config: Mapping[str, Any]
    revision: str | None
    newest_revision: str | None
    unfinished: tuple[str, ...]
    unreadable: Mapping[str, str]
    other_weights: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Shards that the index names and that are not there."""
        return tuple(name for name in self.promised if name not in self.shards)

    @property
    def problems(self) -> dict[str, str]:
        """Shards that cannot be loaded -> why."""
        return {name: shard.problem for name, shard in self.shards.items() if shard.problem}

    @property
    def weights(self) -> int:
        """Bytes of all tensors that will be loaded; of a shard whose header cannot be read, of the file.

        Where there is an index, files that it does not name are left alone by the engine: copies in another layout.
        """
        loaded = [shard for name, shard in self.shards.items() if name in self.promised or not self.promised]
        return sum(sum(shard.tensor_bytes.values()) or shard.size for shard in loaded)

    @property
    def architectures(self) -> tuple[str, ...]:
        """Classes that the configuration names for this model."""
        named = self.config.get("architectures")
        return tuple(map(str, named)) if isinstance(named, list) else ()

    @property
    def quantisation(self) -> str | None:
        """Method that the weights are quantised by, as the configuration names it; None for none."""
        inner = self.config.get("text_config")
        inner = inner if isinstance(inner, dict) else {}
        found = self.config.get("quantization_config") or inner.get("quantization_config")
        method = found.get("quant_method") if isinstance(found, dict) else None
        return str(method) if method else None

    @property
    def whole(self) -> dict[str, str]:
        """Size and digest of the header of every shard that can be loaded."""
        return {
            name: f"{shard.size} bytes, header {shard.header_sha256}"
            for name, shard in self.shards.items()
            if not shard.problem
        }


def differing_files(folders: Mapping[str, Mapping[str, str]], *, all_have: bool = False) -> dict[str, str]:
    """Files that are not equal on all nodes.

    Args:
        folders: node -> file -> size or digest.
        all_have: compare only what is on every node.

    Returns:
        File -> what each node has, in words.
    """
    names = {file for folder in folders.values() for file in folder}
    if all_have:
        names = {file for file in names if all(file in folder for folder in folders.values())}
    return {
        file: ", ".join(f"{node}: {folder.get(file, 'not there')[:20]}" for node, folder in folders.items())
        for file in names
        if len({folder.get(file) for folder in folders.values()}) > 1
    }


class ModelFilesView(View):
    """The model as a node has it, where the engine runs."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """One script; of the weights only headers are read."""
        return (_look(deployment, node),)

    @cached_property
    def folder(self) -> ModelFolder:
        """The declared folder."""
        return parse_folder(self._json(_look(self._deployment, self._node)))


def _look(deployment: Deployment, node: Node) -> Command:
    return python_script("model_files", node.python, str(deployment.model.path), limit_s=60, as_engine_user=True)


def parse_folder(answer: Mapping[str, Any]) -> ModelFolder:
    """The script's JSON -> folder.

    Raises:
        EvidenceError: a field is missing or of another type.
    """
    try:
        if not answer["folder"]:
            return _nothing(answer.get("denied"))
        index = answer["index"] or {"sha256": None, "shards": []}
        return ModelFolder(
            exists=True,
            denied=None,
            user=int(answer["user"]),
            index_sha256=index["sha256"],
            promised=tuple(index["shards"]),
            shards={name: _shard(facts) for name, facts in answer["shards"].items()},
            small={name: digest for name, digest in answer["small"].items() if not _is_prose(name)},
            config=answer["config"] or {},
            revision=answer["revision"],
            newest_revision=answer["newest_revision"],
            unfinished=tuple(answer["unfinished"]),
            unreadable={name: why for name, why in answer["unreadable"].items() if not _is_prose(name)},
            other_weights=tuple(answer["other_weights"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"the answer about the model's folder lacks {error}") from error


def _nothing(denied: str | None) -> ModelFolder:
    return ModelFolder(
        exists=False,
        denied=denied,
        user=None,
        index_sha256=None,
        promised=(),
        shards={},
        small={},
        config={},
        revision=None,
        newest_revision=None,
        unfinished=(),
        unreadable={},
        other_weights=(),
    )


def _is_prose(name: str) -> bool:
    return name.endswith(PROSE) and name not in VOCABULARIES


def _shard(facts: Mapping[str, Any]) -> Shard:
    return Shard(int(facts["size"]), _problem(facts), facts.get("header_sha256"), facts.get("bytes", {}))


def _problem(facts: Mapping[str, Any]) -> str | None:
    if "error" in facts:
        return str(facts["error"])
    if facts["must_be"] != facts["size"]:
        return f"its header describes {facts['must_be']} bytes, the file has {facts['size']}"
    if facts["absent"]:
        return f"the index promises tensors that are not in it: {', '.join(facts['absent'])}, ..."
    if facts["unlisted"]:
        return f"it holds tensors that the index does not know: {', '.join(facts['unlisted'])}, ..."
    return None
