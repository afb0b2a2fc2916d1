"""By how much the fabric's counters of errors have grown since the nodes were first asked: asked after the load."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views import links, rdma
from shakedown.nodes.views.node import NodeViews


def grown(views: Mapping[str, NodeViews], evidence: Evidence) -> tuple[str, ...]:
    """What has grown, in words: damaged packets, changes of carrier, repeats of the protocol.

    Raises:
        EvidenceError: kept evidence holds no answer, or a table is none.
        NodeUnreachableError: a node did not answer.
    """
    adapters, devices = _again(links.ADAPTERS), _again(rdma.DEVICES)
    if not all(evidence.knows(name, command) for name in views for command in (adapters, devices)):
        evidence.fetch({name: [adapters, devices] for name in views})
    found: list[str] = []
    for name, view in views.items():
        nics = links.parse_adapters(evidence.ask(name, adapters).text)
        ports = rdma.parse_ports(evidence.ask(name, devices).text)
        own = {nic.name for nic in view.network.fabric_nics}
        before = dict(_of_nics({nic: view.network.adapter(nic) for nic in own}))
        before |= dict(_of_ports(view.rdma.ports, own))
        after = dict(_of_nics({nic: nics.get(nic, links.Adapter()) for nic in own})) | dict(_of_ports(ports, own))
        found += [
            f"{name}: {counter} from {before[counter]} to {count}"
            for counter, count in sorted(after.items())
            if count > before.get(counter, count)
        ]
    return tuple(found)


def _again(command: Command) -> Command:
    return dataclasses.replace(command, key=f"act {command.key} after the load")


def _of_nics(adapters: Mapping[str, links.Adapter]) -> Iterator[tuple[str, int]]:
    for nic, adapter in adapters.items():
        yield f"{nic} carrier_changes", adapter.carrier_changes
        for counter, count in (adapter.errors or {}).items():
            yield f"{nic} {counter}", count


def _of_ports(ports: tuple[rdma.Port, ...], nics: set[str]) -> Iterator[tuple[str, int]]:
    for port in ports:
        if port.nics & nics:
            for counter, count in {**port.counters, **port.repeats}.items():
                yield f"{port.hca}:{port.number} {counter}", count
