"""Containers, servers and raylets as a node describes them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from shakedown.errors import EvidenceError
from shakedown.nodes.views.container import parse_container, parse_gpus
from shakedown.nodes.views.ray_settings import impatient
from shakedown.nodes.views.raylet import parse_raylets
from shakedown.nodes.views.server import parse_servers


def described(**host: Any) -> dict[str, Any]:
    """What docker says of a container, with some flags; the fields are those of the Engine API."""
    plain = {"NetworkMode": "host", "IpcMode": "host", "Privileged": False, "AutoRemove": False}
    container = {"image": "sha256:a", "tag": "x", "attached": False, "state": "running", "mounts": None}
    return {"container": {**container, "host": {**plain, **host}}, "image": None}


@pytest.mark.parametrize(
    ("host", "gpus"),
    [
        ({"DeviceRequests": [{"Count": -1, "DeviceIDs": None, "Capabilities": [["gpu"]]}]}, True),
        ({"DeviceRequests": [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"], "Capabilities": None}]}, True),
        ({"Runtime": "nvidia"}, True),
        ({"Runtime": "runc", "DeviceRequests": None}, False),
    ],
)
def test_gpus_may_be_given_in_three_ways(host: dict[str, Any], gpus: bool) -> None:
    assert parse_container(described(**host)).gpus is gpus


def test_one_image_has_one_id_or_one_digest() -> None:
    one, other = described(), described()
    other["container"]["image"] = "sha256:b"
    assert not parse_container(one).same_image(parse_container(other))
    one["image"], other["image"] = ({"digests": [f"{name}@sha256:c"]} for name in ("x", "mirror/x"))
    assert parse_container(one).same_image(parse_container(other))


@pytest.mark.parametrize(
    ("declared", "asked_for", "same"),
    [
        ("vllm/vllm-openai", "docker.io/vllm/vllm-openai:latest", True),
        ("docker.io/vllm/vllm-openai:latest", "vllm/vllm-openai", True),
        ("index.docker.io/vllm/vllm-openai:v1", "vllm/vllm-openai:v1", True),
        ("ubuntu", "docker.io/library/ubuntu:latest", True),
        ("vllm/vllm-openai", "vllm/vllm-openai:v1", True),  # no tag is declared
        ("vllm/vllm-openai:v1", "vllm/vllm-openai:v2", False),
        ("vllm/vllm-openai:v1", "vllm/vllm-openai", False),
        ("vllm/vllm-openai", "nvcr.io/vllm/vllm-openai", False),
        ("localhost/engine", "engine", False),
        ("registry:5000/engine", "registry:5000/engine:latest", True),
        ("vllm/vllm-openai:v1", "vllm/vllm-openai@sha256:c", False),
        ("vllm/vllm-openai@sha256:d", "vllm/vllm-openai:v1", True),  # the image has that digest
        ("vllm/vllm-openai@sha256:e", "vllm/vllm-openai:v1", False),
        ("sha256:a", "vllm/vllm-openai:v1", True),
    ],
)
def test_an_image_has_many_names(declared: str, asked_for: str, *, same: bool) -> None:
    said = described()
    said["container"]["tag"] = asked_for
    said["image"] = {"digests": ["vllm/vllm-openai@sha256:d"]}
    assert parse_container(said).is_of(declared) is same


@pytest.mark.parametrize(
    ("file", "kept"),
    [
        ("/logs/serve.log", True),
        ("/logs/a/b/serve.log", True),
        ("/logs/fast/serve.log", False),
        ("/logsx/serve.log", False),
        ("/serve.log", False),
    ],
)
def test_a_log_is_kept_below_a_mount_that_is_not_in_memory(file: str, *, kept: bool) -> None:
    said = described()
    said["container"]["mounts"] = [
        {"Type": "bind", "Source": "/srv", "Destination": "/logs"},
        {"Type": "tmpfs", "Source": "", "Destination": "/logs/fast"},
    ]
    assert parse_container(said).keeps(PurePosixPath(file)) is kept


def test_another_description_is_no_evidence() -> None:
    with pytest.raises(EvidenceError, match="otherwise than expected"):
        parse_container({"container": {"image": "sha256:a"}, "image": None})


@pytest.mark.parametrize(
    ("said", "gpus"),
    [
        ("GPU 0: NVIDIA GB10 (UUID: GPU-7e0c)\n/dev/nvidia0\n", ("NVIDIA GB10",)),
        ("Failed to initialize NVML: Unknown Error\n/dev/nvidia0\n", ()),
        ("sh: 1: nvidia-smi: not found\n/dev/nvidia0\n", ("/dev/nvidia0",)),
        ("sh: 1: nvidia-smi: not found\n", ()),
    ],
)
def test_a_gpu_counts_where_it_answers(said: str, gpus: tuple[str, ...]) -> None:
    assert parse_gpus(said) == gpus


def test_a_server_is_told_from_its_own_children() -> None:
    (server,) = parse_servers("pid 7\narg vllm\narg serve\narg /m\nenv NCCL_DEBUG=a=b\npid 8\narg python\narg -c\n")
    assert (server.pid, server.command.model, server.environment) == (7, "/m", {"NCCL_DEBUG": "a=b"})


def test_an_environment_that_may_not_be_read_is_not_empty() -> None:
    (server,) = parse_servers("pid 7\narg vllm\narg serve\ndenied environ\n")
    assert server.environment is None


def test_a_raylet_knows_what_is_above_it() -> None:
    (raylet,) = parse_raylets("pid 9\nabv ray\nabv bash\nabv sshd\n")
    assert raylet.ancestors == ("ray", "bash", "sshd")


def test_only_stricter_health_checks_are_told() -> None:
    assert impatient({"RAY_health_check_period_ms": "60000", "RAY_health_check_timeout_ms": "no"}) == ()
    assert impatient({"RAY_health_check_failure_threshold": "2"}) == (
        "RAY_health_check_failure_threshold=2, by itself 5",
    )
