"""What a command line makes of what the deployment file declares: both in the words of the file, side by side.

An option that is left out stands at the engine's own default, whatever the file declares. What a file given by
``--config`` or a variable of a shell may hold is not known, and counts as declared.
Left out, the model's name is that by which the command names the model, and its length what the configuration has.
Source of the defaults: vLLM 0.17.1 and 0.32.0, ``vllm/config`` (cache.py, load.py, model.py) and ``arg_utils.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from shakedown.engines.vllm.arguments import ServeCommand, whole_number
from shakedown.inventory.model import Deployment
from shakedown.units import GIB

UTILIZATIONS = (0.9, 0.92)
"""Defaults of ``--gpu-memory-utilization``: that of older releases, and that of newer ones."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the server, and the key of the deployment file that declares its value.

    Attributes:
        name: long, without dashes in front.
        table: of the file.
        key: in that table.
        parse: text of the command line -> value as the file has it; None where it is no such value.
        defaults: what the option is where it is left out, by release; empty where that depends on the model.
        rounding: share by which the number in the command may differ from that in the file and still be the same.
        several: it takes several values, of which the file declares one.
    """

    name: str
    table: Literal["model", "serve"]
    key: str
    parse: Callable[[str], Any]
    defaults: tuple[Any, ...] = ()
    rounding: float = 0.0
    several: bool = False

    def declared(self, deployment: Deployment) -> Any:
        """What the file declares."""
        return getattr(getattr(deployment, self.table), self.key)

    def commanded(self, command: ServeCommand, declared: Any, own: Any) -> Any:
        """What the command gives, or the engine's default; what the file declares where neither can be told.

        Args:
            command: the command.
            declared: what the file declares.
            own: the default that comes from the model; None where there is none or it is not known.
        """
        text = command.options.get(self.name)
        if text is not None:
            if self.several and declared in text.split():
                return declared
            value = None if "$" in text else self.parse(text)
            return declared if value is None or self._rounded(value, declared) else value
        defaults = self.defaults if own is None else (own,)
        if "config" in command.options or not defaults or declared in defaults:
            return declared
        return defaults[0]

    def _rounded(self, value: Any, declared: Any) -> bool:
        return bool(self.rounding and declared) and abs(value - declared) <= self.rounding * declared


def _fraction(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _gibibytes(text: str) -> float | None:
    number = whole_number(text)
    return None if number is None else number / GIB


def _first(text: str) -> str | None:
    return next(iter(text.split()), None)


def _switched(text: str) -> bool:
    return not text


OPTIONS = (
    Option("served-model-name", "model", "served_name", _first, several=True),
    Option("max-model-len", "model", "max_model_len", whole_number),
    Option("port", "serve", "port", whole_number, (8000,)),
    Option("tensor-parallel-size", "serve", "tensor_parallel", whole_number, (1,)),
    Option("pipeline-parallel-size", "serve", "pipeline_parallel", whole_number, (1,)),
    Option("gpu-memory-utilization", "serve", "gpu_memory_utilization", _fraction, UTILIZATIONS),
    Option("kv-cache-memory-bytes", "serve", "kv_cache_memory_gib", _gibibytes, (None,), rounding=0.005),
    Option("kv-cache-dtype", "serve", "kv_cache_dtype", str, ("auto",)),
    Option("max-num-seqs", "serve", "max_num_seqs", whole_number, (None,)),
    Option("max-num-batched-tokens", "serve", "max_num_batched_tokens", whole_number, (None,)),
    Option("enforce-eager", "serve", "enforce_eager", _switched, (False,)),
    Option("load-format", "serve", "load_format", str, ("auto",)),
    Option("reasoning-parser", "serve", "reasoning_parser", str, (None,)),
    Option("tool-call-parser", "serve", "tool_call_parser", str, (None,)),
)


def as_commanded(deployment: Deployment, command: ServeCommand, own_length: int | None = None) -> Deployment:
    """The deployment as this command starts it: the file, with the command's values where they are known.

    Args:
        deployment: as the file has it.
        command: that starts the server.
        own_length: tokens that the model's own configuration allows for; None where it is not known.
    """
    named = command.model if command.model and "$" not in command.model else None
    own = {"served-model-name": named, "max-model-len": own_length}
    changed: dict[str, dict[str, Any]] = {"model": {}, "serve": {}}
    for option in OPTIONS:
        value = option.commanded(command, option.declared(deployment), own.get(option.name))
        changed[option.table][option.key] = value
    return deployment.model_copy(
        update={table: getattr(deployment, table).model_copy(update=values) for table, values in changed.items()}
    )


def differences(deployment: Deployment, command: ServeCommand, own_length: int | None = None) -> list[str]:
    """What the command starts otherwise than the file declares, in words; what is not known is no difference.

    Args: see :func:`as_commanded`.
    """
    found = []
    if command.model and "$" not in command.model and PurePosixPath(command.model) != deployment.model.path:
        found.append(f"the model is {command.model}, model.path is {deployment.model.path}")
    commanded = as_commanded(deployment, command, own_length)
    for option in OPTIONS:
        declared, given = option.declared(deployment), option.declared(commanded)
        if given != declared:
            found.append(_difference(option, command.options, given, declared))
    parser = deployment.serve.tool_call_parser
    if parser and not {"enable-auto-tool-choice", "config"} & command.options.keys():
        found.append("--enable-auto-tool-choice is not given, so tool_call_parser does nothing")
    return found


def _difference(option: Option, options: Mapping[str, str], given: Any, declared: Any) -> str:
    said = f"is {_shown(given)}" if option.name in options else f"is not given (default: {_shown(given)})"
    return f"--{option.name} {said}, {option.table}.{option.key} is {_shown(declared)}"


def _shown(value: Any) -> str:
    return "not set" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
