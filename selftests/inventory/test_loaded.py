"""What a right file gives."""

from __future__ import annotations

import re
import tomllib
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from selftests.inventory.files import GOOD, changed
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.inventory.profile import Expect, load_profile, profile_names
from shakedown.inventory.schema import TABLES

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "deployment.example.toml"
TARGET = ("node", "namespace")
WAIVER = {("waiver",), *(("waiver", key) for key in ("id", "node", "reason", "until"))}
SAID_IN_COMMENTS = {
    *(("serve", "kv_cache_memory_gib"), ("node", "local"), TARGET, (*TARGET, "pid"), (*TARGET, "started")),
    *WAIVER,
    ("expect",),
    *(("expect", key) for key in Expect.model_fields),
}
EXPLAINED_ABOVE = {"ssh", "ray_head", "ray_worker", "serve", "metric", "subnets", "min"}


def loaded(text: str, folder: Path) -> Deployment:
    file = folder / "deployment.toml"
    file.write_text(text, encoding="utf-8")
    return load_deployment(file)


def test_nodes_are_typed(tmp_path: Path) -> None:
    deployment = loaded(GOOD, tmp_path)
    assert [node.name for node in deployment.node] == ["spark-a", "spark-b"]
    assert deployment.head.fabric_address == IPv4Address("192.168.200.12")
    assert deployment.workers == (deployment.named("spark-b"),)
    assert deployment.fabric.holds(deployment.head.fabric_address)
    assert not deployment.management.holds(deployment.head.fabric_address)


def test_unknown_node_is_a_key_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="spark-c"):
        loaded(GOOD, tmp_path).named("spark-c")


def test_profile_is_generic_unless_named(tmp_path: Path) -> None:
    assert loaded(GOOD, tmp_path).profile == load_profile("generic-pair")


def test_state_lies_under_the_name_unless_given(tmp_path: Path) -> None:
    assert loaded(GOOD, tmp_path).state == Path("reports/baselines/pair")
    given = changed(('name = "pair"', 'name = "pair"\nstate = "/var/lib/shakedown"'))
    assert loaded(given, tmp_path).state == Path("/var/lib/shakedown")


@pytest.mark.parametrize(
    ("url", "port"), [("http://a:8000", 8000), ("http://a", 80), ("https://a/engine/", 443), ("http://[::1]:1", 1)]
)
def test_port_is_the_one_of_the_url(url: str, port: int, tmp_path: Path) -> None:
    serve = loaded(changed(("http://10.1.230.180:30000", url)), tmp_path).serve
    assert (serve.base_url, serve.port) == (url.rstrip("/"), port)


def test_port_may_differ_from_the_one_of_the_url(tmp_path: Path) -> None:
    text = changed(("tensor_parallel = 2", "tensor_parallel = 2\nport = 30001"))
    assert loaded(text, tmp_path).serve.port == 30001


def test_whole_numbers_do_for_fractions(tmp_path: Path) -> None:
    text = changed(("tensor_parallel = 2", "tensor_parallel = 2\ngpu_memory_utilization = 1"))
    assert loaded(text, tmp_path).serve.gpu_memory_utilization == 1.0


def test_roofline_of_the_model_is_taken(tmp_path: Path) -> None:
    assert loaded(GOOD, tmp_path).roofline_tokens_per_s is None
    text = changed(("shards = 39", "shards = 39\nroofline_tokens_per_s = 54.6"))
    assert loaded(text, tmp_path).roofline_tokens_per_s == 54.6


def test_file_of_a_windows_editor_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "deployment.toml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_deployment(file).name == "pair"


def test_label_is_that_of_the_profile(tmp_path: Path) -> None:
    assert loaded(GOOD, tmp_path).label is None
    for name in ("embedded", "simulated"):
        text = changed(('name = "pair"', f'name = "pair"\nprofile = "{name}"'))
        assert loaded(text, tmp_path).label == name.upper()


@pytest.mark.parametrize("profile", ["embedded", "simulated"])
def test_nodes_that_are_not_made_yet_may_all_be_this_machine(profile: str, tmp_path: Path) -> None:
    text = changed(
        ('name = "pair"', f'name = "pair"\nprofile = "{profile}"'),
        ('ssh = "op@10.1.230.180"', "local = true"),
        ('ssh = "op@10.1.230.181"', "local = true"),
    )
    assert all(node.local for node in loaded(text, tmp_path).node)


def test_every_profile_loads_and_names_itself() -> None:
    assert set(profile_names()) == {"embedded", "simulated", "generic-pair", "gb10-pair"}
    for name in profile_names():
        assert load_profile(name).name == name


def test_unknown_profile_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="none"):
        load_profile("none")


def test_example_loads() -> None:
    deployment = load_deployment(EXAMPLE)
    assert (deployment.name, deployment.profile.name, deployment.label) == ("spark-pair", "gb10-pair", None)


def test_example_shows_every_key_there_is() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    document = tomllib.loads(text)
    for table, keys in TABLES.items():
        for key in keys:
            path = (*table, key)
            assert path in SAID_IN_COMMENTS or path in _paths(document), f"{'.'.join(path)} is not in the example"
    for path in SAID_IN_COMMENTS:
        assert re.search(rf"^#.*\b{path[-1]}( = |\])", text, re.MULTILINE), path


def test_example_explains_every_key_beside_it_or_above() -> None:
    """A key's first mention has a comment in its line; what a table is all about is explained above it."""
    seen = set()
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        key = line.partition(" =")[0]
        if re.fullmatch(r"[a-z_]+ = .*", line) and key not in seen:
            seen.add(key)
            assert "  # " in line or key in EXPLAINED_ABOVE, line


def _paths(document: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if isinstance(document, list):
        return set().union(*(_paths(item, path) for item in document)) if document else set()
    if not isinstance(document, dict):
        return set()
    return {(*path, key) for key in document} | set().union(
        *(_paths(value, (*path, key)) for key, value in document.items())
    )
