"""The command line of vLLM's API server as options, from the arguments of a process or from shell text.

A dash and an underscore are one in the name of an option.
Source: ``vllm/engine/arg_utils.py`` and ``vllm/utils/argparse_utils.py`` of 0.32.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

SHORT = {
    "-tp": "tensor-parallel-size",
    "-pp": "pipeline-parallel-size",
    "-dp": "data-parallel-size",
    "-n": "nnodes",
    "-r": "node-rank",
}
SERVER_MODULE = "vllm.entrypoints.openai.api_server"
CLI_MODULE = "vllm.entrypoints.cli.main"
DATA_PARALLEL = "data-parallel-size"
UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

DEFAULTS: Mapping[str, str] = {
    "port": "8000",
    "tensor-parallel-size": "1",
    "pipeline-parallel-size": "1",
    DATA_PARALLEL: "1",
    "nnodes": "1",
}
"""What the server takes where nothing is given, as far as it is the same in all releases."""


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """One start of an API server.

    Attributes:
        options: long name with dashes -> value; an option without a value has the empty text.
        model: the positional argument, or ``--model``; None where neither is given.
        environment: variables that the command itself sets; empty for a process.
    """

    options: Mapping[str, str]
    model: str | None
    environment: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> str | None:
        """What the server gets for an option, its default included; None where that is not known.

        A value that is a variable of a shell is not known, nor is what may stand in a file given by ``--config``.
        """
        given = self.options.get(name)
        if given is not None:
            return None if "$" in given else given
        return None if "config" in self.options else DEFAULTS.get(name)

    def number(self, name: str) -> int | None:
        """The same as a whole number; vLLM reads ``64k`` as 64000 and ``64K`` as 65536. None where it is none."""
        return whole_number(self.value(name))

    @property
    def api_servers(self) -> int | None:
        """How many API server processes: as given, else one for each data-parallel rank."""
        return self.number("api-server-count") if "api-server-count" in self.options else self.number(DATA_PARALLEL)


def whole_number(text: str | None) -> int | None:
    """``65536``, ``64k`` or ``1.5K`` -> a number; None for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT]?)", text or "")
    return int(float(match[1]) * UNITS.get(match[2], 1)) if match else None


def parse_arguments(arguments: list[str], environment: Mapping[str, str] | None = None) -> ServeCommand | None:
    """The arguments of a process -> what it serves; None if it is no API server of vLLM."""
    begin = _after_program(arguments)
    if begin is None:
        return None
    options: dict[str, str] = {}
    positional: list[str] = []
    name: str | None = None
    for argument in arguments[begin:]:
        if _is_option(argument):
            name, equals, value = _long(argument).partition("=")
            options[name] = value
            name = None if equals else name
        elif name is not None:
            options[name] = f"{options[name]} {argument}".strip()
        else:
            positional.append(argument)
    return ServeCommand(options, options.get("model") or next(iter(positional), None), environment or {})


def _after_program(arguments: list[str]) -> int | None:
    for index, argument in enumerate(arguments):
        if argument == SERVER_MODULE:
            return index + 1
        program = argument.rpartition("/")[2] == "vllm" or argument == CLI_MODULE
        if program and arguments[index + 1 : index + 2] == ["serve"]:
            return index + 2
    return None


def _is_option(argument: str) -> bool:
    return re.match(r"--?[A-Za-z]", argument) is not None


def _long(argument: str) -> str:
    name, equals, value = argument.partition("=")
    return SHORT.get(name, name.lstrip("-").replace("_", "-")) + equals + value
