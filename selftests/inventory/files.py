"""A deployment file that is right, as lines to be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from shakedown.errors import DeploymentFileError
from shakedown.inventory.load import load_deployment

GOOD = """\
version = 1
[deployment]
name = "pair"
[fabric]
subnets = ["192.168.200.0/24"]
[management]
subnets = ["10.1.230.0/24"]
[[node]]
name = "spark-a"
role = "head"
ssh = "op@10.1.230.180"
fabric_address = "192.168.200.12"
interface = "fab0"
[[node]]
name = "spark-b"
role = "worker"
ssh = "op@10.1.230.181"
fabric_address = "192.168.200.13"
interface = "fab0"
[model]
served_name = "tiny"
path = "/models/tiny"
shards = 39
max_model_len = 2048
[serve]
base_url = "http://10.1.230.180:30000"
tensor_parallel = 2
"""


def changed(*changes: tuple[str, str]) -> str:
    """The good file with every first text replaced by the second; each must be there exactly once."""
    text = GOOD
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def refusal(text: str | bytes, folder: Path) -> str:
    """What the operator reads about this content, with the file called FILE."""
    file = folder / "deployment.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DeploymentFileError) as caught:
        load_deployment(file)
    return str(caught.value).replace(str(file), "FILE")
