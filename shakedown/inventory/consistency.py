"""What the keys of a deployment file must be to each other.

These rules read the file as parsed, before it is typed, and pass over what is missing or of the wrong type (that is
reported on its own): so one run over a file tells everything that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from shakedown.inventory.problems import Path, Problem, found, shown
from shakedown.inventory.profile import profile_names, profile_of

TARGETS = ("ssh", "local", "namespace")


def inconsistencies(document: dict[str, Any]) -> Iterator[Problem]:
    """Everything that contradicts itself, in the order of the file."""
    nodes = [(index, node) for index, node in enumerate(_list(document, "node")) if isinstance(node, dict)]
    yield from _profile(_table(document, "deployment"))
    yield from _overlap(document)
    yield from _one_head(nodes)
    for index, node in nodes:
        yield from _target(index, node)
        yield from _fabric_address(index, node, document)
    yield from _duplicates(nodes, document)
    yield from _ranks(_table(document, "serve"), nodes)
    yield from _clock_skew(document)
    for index, slo in enumerate(_list(document, "slo")):
        yield from _slo(index, slo)
    yield from _waivers(_list(document, "waiver"), [node.get("name") for _, node in nodes])


def _profile(deployment: dict[str, Any]) -> Iterator[Problem]:
    name = deployment.get("profile")
    if isinstance(name, str) and name not in profile_names():
        yield Problem(("deployment", "profile"), found(name, ", ".join(profile_names())))


def _is_toy(document: dict[str, Any]) -> bool:
    return profile_of(document).label is not None


def _overlap(document: dict[str, Any]) -> Iterator[Problem]:
    for fabric in _subnets(document, "fabric"):
        for management in _subnets(document, "management"):
            if fabric.overlaps(management):
                yield Problem(
                    ("fabric", "subnets"),
                    f"{fabric} overlaps {management} of management.subnets; allowed: networks apart from each other",
                )


def _one_head(nodes: list[tuple[int, dict[str, Any]]]) -> Iterator[Problem]:
    roles = [node.get("role") for _, node in nodes]
    heads = [index for index, node in nodes if node.get("role") == "head"]
    if len(heads) > 1:
        for index in heads[1:]:
            yield Problem(("node", index, "role"), f'a second "head" (node[{heads[0]}] is one); allowed: exactly one')
    elif not heads and roles and all(role == "worker" for role in roles):
        yield Problem(("node",), 'no node has role = "head"; allowed: exactly one')


def _target(index: int, node: dict[str, Any]) -> Iterator[Problem]:
    given = [key for key in TARGETS if key in node and node[key] is not False]
    if len(given) != 1:
        what = " and ".join(given) if given else "none of them"
        yield Problem(
            ("node", index),
            f"found {what}; allowed: exactly one of ssh, local and namespace, which say how the node is reached",
        )
    if "ssh_config" in node and "ssh" not in node:
        yield Problem(("node", index, "ssh_config"), "found without ssh; allowed: only together with it")


def _fabric_address(index: int, node: dict[str, Any], document: dict[str, Any]) -> Iterator[Problem]:
    address = _address(node.get("fabric_address"))
    fabric = _subnets(document, "fabric")
    if address is None or not fabric or any(address in subnet for subnet in fabric):
        return
    path: Path = ("node", index, "fabric_address")
    wrong = next((subnet for subnet in _subnets(document, "management") if address in subnet), None)
    where = f", which is inside {wrong} of management.subnets" if wrong else ""
    yield Problem(path, f"found {shown(str(address))}{where}; allowed: an address of fabric.subnets, {_joined(fabric)}")


def _duplicates(nodes: list[tuple[int, dict[str, Any]]], document: dict[str, Any]) -> Iterator[Problem]:
    # The nodes of a plan for this machine are not made yet, so both stand for the machine itself.
    unique = ("ssh", "namespace") if _is_toy(document) else TARGETS
    for key in ("name", "fabric_address", *unique):
        first: dict[str, int] = {}
        for index, node in nodes:
            value = node.get(key)
            if value is None or value is False or isinstance(value, list):
                continue
            other = first.setdefault(repr(value), index)
            if other != index:
                what = shown(value) if isinstance(value, str) else "the same"
                yield Problem(("node", index, key), f"found {what}, as in node[{other}]; allowed: one of its own")


def _ranks(serve: dict[str, Any], nodes: list[tuple[int, dict[str, Any]]]) -> Iterator[Problem]:
    tensor, pipeline = serve.get("tensor_parallel", 1), serve.get("pipeline_parallel", 1)
    gpus = [node.get("gpus", 1) for _, node in nodes]
    if not serve or not nodes or not all(_whole(number) for number in (tensor, pipeline, *gpus)):
        return
    if tensor * pipeline != sum(gpus):
        yield Problem(
            ("serve", "tensor_parallel"),
            f"tensor_parallel {tensor} x pipeline_parallel {pipeline} makes {tensor * pipeline} ranks, but the nodes "
            f"have {sum(gpus)} GPUs (node.gpus); allowed: as many ranks as GPUs",
        )


def _clock_skew(document: dict[str, Any]) -> Iterator[Problem]:
    """A difference that fails below the one that is reported would never be reported."""
    expect, profile = _table(document, "expect"), profile_of(document)
    warn = expect.get("clock_skew_warn_s", profile.clock_skew_warn_s)
    fail = expect.get("clock_skew_fail_s", profile.clock_skew_fail_s)
    if isinstance(warn, int | float) and isinstance(fail, int | float) and warn > fail:
        key = "clock_skew_warn_s" if "clock_skew_warn_s" in expect else "clock_skew_fail_s"
        limit = f"at most clock_skew_fail_s, which is {shown(fail)}"
        other = f"at least clock_skew_warn_s, which is {shown(warn)}"
        yield Problem(("expect", key), found(expect[key], limit if key == "clock_skew_warn_s" else other))


def _slo(index: int, slo: object) -> Iterator[Problem]:
    if not isinstance(slo, dict):
        return
    low, high = slo.get("min"), slo.get("max")
    if low is None and high is None:
        yield Problem(("slo", index), "found neither max nor min; allowed: one of them, or both")
    elif isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        yield Problem(("slo", index, "min"), found(low, f"at most max, which is {shown(high)}"))


def _waivers(waivers: list[Any], nodes: list[object]) -> Iterator[Problem]:
    first: dict[tuple[str, str], int] = {}
    for index, waiver in enumerate(waivers):
        if not isinstance(waiver, dict) or not isinstance(waiver.get("id"), str):
            continue
        node = waiver.get("node")
        if isinstance(node, str) and node not in nodes:
            known = ", ".join(name for name in nodes if isinstance(name, str))
            yield Problem(("waiver", index, "node"), found(node, f"a declared node: {known}"))
        other = first.setdefault((waiver["id"], str(node)), index)
        if other != index:
            yield Problem(("waiver", index), f"the same id and node as waiver[{other}]; allowed: one of a kind")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _list(document: dict[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _subnets(document: dict[str, Any], key: str) -> list[IPv4Network]:
    texts = [text for text in _list(_table(document, key), "subnets") if isinstance(text, str)]
    return [subnet for subnet in map(_network, texts) if subnet is not None]


def _network(text: str) -> IPv4Network | None:
    try:
        return IPv4Network(text)
    except ValueError:
        return None


def _address(value: object) -> IPv4Address | None:
    try:
        return IPv4Address(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _joined(subnets: list[IPv4Network]) -> str:
    return " or ".join(str(subnet) for subnet in subnets)
