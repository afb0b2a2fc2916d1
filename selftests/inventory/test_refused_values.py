"""Every way in which a key can be wrong has its exact message."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.inventory.files import GOOD, changed, refusal

SERVE = 'base_url = "http://10.1.230.180:30000"'
HOST = "http:// or https:// with a host, such as http://10.1.230.180:30000"
B_ADDRESS = 'fabric_address = "192.168.200.13"'

CASES = {
    "unknown key, near one": (
        (B_ADDRESS, f'{B_ADDRESS}\ninterfaces = "fab1"'),
        "FILE:19: node[1].interfaces: unknown key; did you mean node[1].interface?",
    ),
    "unknown key, of another table": (
        ('name = "pair"', 'name = "pair"\nbase_url = "http://a"'),
        "FILE:4: deployment.base_url: unknown key; did you mean serve.base_url?",
    ),
    "unknown key, near nothing": (
        ("shards = 39", "shards = 39\nzzz = 1"),
        "FILE:24: model.zzz: unknown key; known here: served_name, path, shards, max_model_len, roofline_tokens_per_s",
    ),
    "unknown table": (
        ("[model]", "[modell]\nx = 1\n[model]"),
        "FILE:20: modell: unknown key; did you mean model?",
    ),
    "unknown key with a name that is none": (
        ("shards = 39", 'shards = 39\n"a\\u001b[31m" = 1'),
        'FILE:20: model."a\\u001b[31m": unknown key; known here: served_name, path, shards, max_model_len, '
        "roofline_tokens_per_s",
    ),
    "the profile where the model keeps its own": (
        ("version = 1", 'version = 1\nprofile = "gb10-pair"'),
        "FILE:2: profile: unknown key; did you mean deployment.profile?",
    ),
    "missing key": (
        ('interface = "fab0"\n[model]', "[model]"),
        "FILE:14: node[1].interface: missing; it is required, deployment.example.toml explains it",
    ),
    "missing table": (
        ('[fabric]\nsubnets = ["192.168.200.0/24"]\n', ""),
        "FILE: fabric: missing; it is required, deployment.example.toml explains it",
    ),
    "missing version": (
        ("version = 1\n", ""),
        "FILE: version: missing; it is required, deployment.example.toml explains it",
    ),
    "a string for a number": (
        ("shards = 39", 'shards = "39"'),
        'FILE:23: model.shards: found "39"; allowed: a whole number',
    ),
    "a fraction for a whole number": (
        ("shards = 39", "shards = 39.0"),
        "FILE:23: model.shards: found 39.0; allowed: a whole number",
    ),
    "a number for a string": (
        ('served_name = "tiny"', "served_name = 7"),
        "FILE:21: model.served_name: found 7; allowed: a string",
    ),
    "a word for a boolean": (
        ("tensor_parallel = 2", 'tensor_parallel = 2\n[[slo]]\nscenario = "c1"\nmetric = "ttft"\nmax = "fast"'),
        'FILE:31: slo[0].max: found "fast"; allowed: a number',
    ),
    "a string for a boolean": (
        (B_ADDRESS, f'{B_ADDRESS}\nsudo = "yes"'),
        'FILE:19: node[1].sudo: found "yes"; allowed: true or false',
    ),
    "a value for an array": (
        ('subnets = ["10.1.230.0/24"]', 'subnets = "10.1.230.0/24"'),
        'FILE:7: management.subnets: found "10.1.230.0/24"; allowed: an array',
    ),
    "a table for an array of tables": (
        ("tensor_parallel = 2", "tensor_parallel = 2\n[slo]\nmax = 1.0"),
        "FILE:28: slo: found a table; allowed: an array of tables, [[slo]]",
    ),
    "an array of tables for a table": (
        ("[model]", "[[model]]"),
        "FILE:20: model: found 1 table; allowed: a table, [model]",
    ),
    "a date": (
        ("shards = 39", "shards = 2024-01-01"),
        "FILE:23: model.shards: found 2024-01-01; allowed: no date and no time, which only waiver.until takes",
    ),
    "a number of 64 bits and more": (
        ("shards = 39", "shards = 0xffffffffffffffffff"),
        "FILE:23: model.shards: found a number of more than 64 bits; allowed: whole numbers of 64 bits",
    ),
    "no number": (
        ("tensor_parallel = 2", "tensor_parallel = 2\ngpu_memory_utilization = nan"),
        "FILE:28: serve.gpu_memory_utilization: found nan; allowed: a finite number",
    ),
    "a share above one": (
        ("tensor_parallel = 2", "tensor_parallel = 2\ngpu_memory_utilization = 80"),
        "FILE:28: serve.gpu_memory_utilization: found 80; allowed: a number of at most 1",
    ),
    "a port that is none": (
        ("[model]", "[ray]\nport = 0\n[model]"),
        "FILE:21: ray.port: found 0; allowed: a number of at least 1",
    ),
    "neither of two alternatives": (
        ("[model]", "[ray]\nmemory_monitor = 1.5\n[model]"),
        'FILE:21: ray.memory_monitor: found 1.5; allowed: "disabled" or a number of at most 1',
    ),
    "a role that is none": (
        ('role = "worker"', 'role = "follower"'),
        'FILE:16: node[1].role: found "follower"; allowed: "head" or "worker"',
    ),
    "an address that is none": (
        (B_ADDRESS, 'fabric_address = "192.168.200.313"'),
        'FILE:18: node[1].fabric_address: found "192.168.200.313"; allowed: an IPv4 address such as 192.168.200.12',
    ),
    "a network with host bits": (
        ('subnets = ["10.1.230.0/24"]', 'subnets = ["10.1.230.7/24"]'),
        'FILE:7: management.subnets[0]: found "10.1.230.7/24"; allowed: an IPv4 network such as 192.168.200.0/24, '
        "its host bits zero",
    ),
    "no network at all": (
        ('subnets = ["10.1.230.0/24"]', "subnets = []"),
        "FILE:7: management.subnets: found []; allowed: at least 1 of them",
    ),
    "a destination that ssh would take for an option": (
        ('ssh = "op@10.1.230.181"', 'ssh = "-oProxyCommand=reboot"'),
        'FILE:17: node[1].ssh: found "-oProxyCommand=reboot"; allowed: an OpenSSH destination such as user@host',
    ),
    "a name that is a path": (
        ('name = "pair"', 'name = "../pair"'),
        'FILE:3: deployment.name: found "../pair"; allowed: 1 to 63 letters, digits, dots, underscores and hyphens, '
        "the first a letter or a digit",
    ),
    "a relative path": (
        ('path = "/models/tiny"', 'path = "models/tiny"'),
        'FILE:22: model.path: found "models/tiny"; allowed: an absolute path',
    ),
    "an empty text": (
        ('served_name = "tiny"', 'served_name = " "'),
        'FILE:21: model.served_name: found " "; allowed: one line of printable text, at most 4096 characters',
    ),
    "a URL without scheme": (
        (SERVE, 'base_url = "10.1.230.180:30000"'),
        f'FILE:26: serve.base_url: found "10.1.230.180:30000"; allowed: {HOST}',
    ),
    "a URL without host": (
        (SERVE, 'base_url = "http://:30000"'),
        f'FILE:26: serve.base_url: found "http://:30000"; allowed: {HOST}',
    ),
    "a URL with an impossible port": (
        (SERVE, 'base_url = "http://a:99999"'),
        f'FILE:26: serve.base_url: found "http://a:99999"; allowed: {HOST}',
    ),
    "a URL that ends in /v1": (
        (SERVE, 'base_url = "http://a:30000/v1/"'),
        f'FILE:26: serve.base_url: found "http://a:30000/v1/"; allowed: {HOST}, without the /v1 at its end: '
        "the suite asks for routes beside it, too",
    ),
    "a URL that carries a password, which is not repeated": (
        (SERVE, 'base_url = "http://me:hunter2@a:30000"'),
        f'FILE:26: serve.base_url: found "http://***@a:30000"; allowed: {HOST}, without user, password, query '
        "and fragment (a key goes into serve.api_key_env)",
    ),
    "a password without a URL, which is not repeated": (
        (SERVE, 'base_url = "me:hunter2@a:30000"'),
        f'FILE:26: serve.base_url: found "***@a:30000"; allowed: {HOST}',
    ),
    "the key instead of its variable's name, which is not repeated": (
        ("tensor_parallel = 2", 'tensor_parallel = 2\napi_key_env = "sk-secret"'),
        "FILE:28: serve.api_key_env: allowed: the name of an environment variable, not its value",
    ),
    "version zero": (
        ("version = 1", "version = 0"),
        "FILE:1: version: found 0; allowed: 1",
    ),
    "a version that is no number": (
        ("version = 1", 'version = "1"'),
        'FILE:1: version: found "1"; allowed: 1',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_value_is_refused_with_its_message(case: str, tmp_path: Path) -> None:
    change, message = CASES[case]
    assert refusal(changed(change), tmp_path) == message


def test_newer_version_is_the_only_thing_said(tmp_path: Path) -> None:
    text = changed(("version = 1", "version = 2\nnew_key = true"))
    assert refusal(text, tmp_path) == (
        "FILE:1: version: found 2; allowed: 1 (a newer shakedown wrote this file: update)"
    )


def test_everything_wrong_is_said_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = changed(
        ('role = "head"', 'role = "worker"'),
        ('interface = "fab0"\n[[node]]', 'interface = "a b"\n[[node]]'),
        (B_ADDRESS, 'fabric_address = "10.1.230.13"'),
        ("shards = 39", "shard = 39"),
        ("tensor_parallel = 2", "tensor_parallel = 4"),
    )
    assert refusal(text, tmp_path).splitlines() == [
        'FILE:8: node: no node has role = "head"; allowed: exactly one',
        'FILE:13: node[0].interface: found "a b"; allowed: the name of a network interface, 1 to 15 characters',
        'FILE:18: node[1].fabric_address: found "10.1.230.13", which is inside 10.1.230.0/24 of management.subnets; '
        "allowed: an address of fabric.subnets, 192.168.200.0/24",
        "FILE:20: model.shards: missing; it is required, deployment.example.toml explains it",
        "FILE:23: model.shard: unknown key; did you mean model.shards?",
        "FILE:27: serve.tensor_parallel: tensor_parallel 4 x pipeline_parallel 1 makes 4 ranks, but the nodes have 2 "
        "GPUs (node.gpus); allowed: as many ranks as GPUs",
    ]


def test_a_flood_of_problems_is_cut(tmp_path: Path) -> None:
    text = GOOD + "".join(f"zz{number} = 1\n" for number in range(100))
    lines = refusal(text, tmp_path).splitlines()
    assert len(lines) == 31
    assert lines[-1] == "FILE: and 70 more problems"
