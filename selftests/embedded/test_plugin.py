"""The plugin acts on nodes of ours only, is found through PYTHONPATH, and delays shards where that is asked for."""

from __future__ import annotations

import importlib.metadata
import sys
import time
from types import ModuleType, SimpleNamespace

import pytest

from shakedown.embedded.machine import PLUGIN

POINTS = {
    "vllm.platform_plugins": ["platform"],
    "vllm.general_plugins": ["patient_waiting", "slow_load"],
}


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PLUGIN))
    monkeypatch.delenv("SHAKEDOWN_EMBEDDED", raising=False)
    monkeypatch.delenv("SHAKEDOWN_SLOW_LOAD_S", raising=False)
    return importlib.import_module("shakedown_embedded")


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stands in for vLLM's module that opens shards."""
    weights = SimpleNamespace(safe_open=lambda *arguments, **keywords: (arguments, keywords))
    monkeypatch.setitem(sys.modules, "vllm", ModuleType("vllm"))
    monkeypatch.setitem(sys.modules, "vllm.model_executor", ModuleType("vllm.model_executor"))
    models = ModuleType("vllm.model_executor.model_loader")
    models.weight_utils = weights  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm.model_executor.model_loader", models)
    return weights


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stands in for vLLM's module whose readers yield the processor while they wait."""
    broadcast = SimpleNamespace(sched_yield=lambda: None)
    monkeypatch.setitem(sys.modules, "vllm", ModuleType("vllm"))
    monkeypatch.setitem(sys.modules, "vllm.distributed", ModuleType("vllm.distributed"))
    communicators = ModuleType("vllm.distributed.device_communicators")
    communicators.shm_broadcast = broadcast  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm.distributed.device_communicators", communicators)
    return broadcast


@pytest.mark.parametrize(("group", "functions"), POINTS.items())
def test_all_entry_points_are_found_on_the_path(plugin: ModuleType, group: str, functions: list[str]) -> None:
    points = [point for point in importlib.metadata.entry_points(group=group) if "shakedown" in point.name]
    loaded = [point.load() for point in sorted(points, key=lambda point: point.value)]
    assert loaded == [getattr(plugin, function) for function in functions]


def test_readers_of_ours_sleep_while_they_wait(
    plugin: ModuleType, messages: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = messages.sched_yield
    plugin.patient_waiting()
    assert messages.sched_yield is before
    monkeypatch.setenv("SHAKEDOWN_EMBEDDED", "1")
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    plugin.patient_waiting()
    messages.sched_yield()
    assert len(slept) == 1
    assert 0 < slept[0] < 0.001


@pytest.mark.parametrize("value", [None, "", "0", "yes"])
def test_a_node_that_is_not_ours_keeps_its_platform(
    plugin: ModuleType, value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("SHAKEDOWN_EMBEDDED", value)
    assert plugin.platform() is None


def test_a_node_of_ours_gets_the_platform(plugin: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAKEDOWN_EMBEDDED", "1")
    assert plugin.platform() == "shakedown_embedded_platform.RayCpuPlatform"


def test_each_shard_waits_before_it_is_opened(
    plugin: ModuleType, loader: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHAKEDOWN_EMBEDDED", "1")
    monkeypatch.setenv("SHAKEDOWN_SLOW_LOAD_S", "0.05")
    plugin.slow_load()
    begin = time.monotonic()
    assert loader.safe_open("shard", framework="pt") == (("shard",), {"framework": "pt"})
    assert time.monotonic() - begin >= 0.05


@pytest.mark.parametrize(("embedded", "seconds"), [("1", "0"), ("1", ""), ("0", "5")])
def test_shards_are_not_delayed_unless_it_is_asked_for_on_a_node_of_ours(
    plugin: ModuleType, loader: SimpleNamespace, embedded: str, seconds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHAKEDOWN_EMBEDDED", embedded)
    monkeypatch.setenv("SHAKEDOWN_SLOW_LOAD_S", seconds)
    opened = loader.safe_open
    plugin.slow_load()
    assert loader.safe_open is opened
