"""Containers, servers and raylets as a node describes them."""

from __future__ import annotations

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
