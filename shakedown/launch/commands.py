"""The commands that start a deployment: the operator's own from ``[launch]``, or ours made of the deployment file.

Ours say every address, NIC and device that the file names, so that nothing is left to be detected; the environment of
``ray start`` is what vLLM's workers on that node inherit.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from shakedown.engines import nccl
from shakedown.engines.vllm import environment as vllm
from shakedown.errors import LaunchError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Place
from shakedown.units import GIB

MONITOR_PERIOD = "RAY_memory_monitor_refresh_ms"
MONITOR_THRESHOLD = "RAY_memory_usage_threshold"
"""Source: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html"""

API_KEY = "VLLM_API_KEY"
"""Where vLLM takes its key from if no option gives one (vllm/envs.py); an option could be read by every user."""


@dataclass(frozen=True, slots=True)
class StartCommand:
    """One command.

    Attributes:
        what: it does, for people.
        node: on which it is run.
        place: on the machine or in the container; without a declared container both are the machine.
        text: what ``sh -s`` reads.
        secrets: variables that it is given beside that, which are shown to nobody.
        ours: made here, and not the operator's.
    """

    what: str
    node: Node
    place: Place
    text: str
    secrets: Mapping[str, str]
    ours: bool

    @property
    def script(self) -> str:
        """What is sent to the shell: the text, behind the variables that nobody is shown.

        In braces it is read whole before any of it is run: else a program in it that reads stdin would take the rest.
        """
        secrets = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in self.secrets.items())
        return f"{secrets}{{\n{self.text}\n}} < /dev/null\n"


def ray_head(deployment: Deployment) -> StartCommand:
    """Starts the GCS and the head's raylet."""
    head = deployment.head
    role = ["--head", f"--port={deployment.ray.port}", "--include-dashboard=false"]
    own = deployment.launch.ray_head if deployment.launch else None
    return _command("Ray starts on the head", head, own, _ray_start(deployment, head, role))


def ray_worker(deployment: Deployment, node: Node) -> StartCommand:
    """Lets a worker's raylet join the head's GCS."""
    role = [f"--address={deployment.head.fabric_address}:{deployment.ray.port}"]
    own = deployment.launch.ray_worker if deployment.launch else None
    return _command(f"Ray starts on {node.name}", node, own, _ray_start(deployment, node, role))


def serve(deployment: Deployment, environment: Mapping[str, str] = os.environ) -> StartCommand:
    """Starts the API server on the head, its output in the declared log.

    Args:
        deployment: what is to be served.
        environment: of this machine, which holds the API key.

    Raises:
        LaunchError: no own command is given and ours cannot be made.
    """
    head, what = deployment.head, "the API server starts on the head"
    if deployment.launch and deployment.launch.serve:
        return _command(what, head, deployment.launch.serve, "")
    key = deployment.serve.api_key_env
    if key and not environment.get(key):
        raise LaunchError(f"serve.api_key_env is {key}, but that variable is not set here: the server needs the key")
    secrets = {API_KEY: environment[key]} if key else {}
    return StartCommand(what, head, _log_place(deployment), _detached(deployment), secrets, ours=True)


def server_argv(deployment: Deployment) -> list[str]:
    """The API server's command line, as the deployment file has it."""
    of = deployment.serve
    optional: dict[str, object | None] = {
        "--kv-cache-memory-bytes": of.kv_cache_memory_gib and round(of.kv_cache_memory_gib * GIB),
        "--kv-cache-dtype": _unless_auto(of.kv_cache_dtype),
        "--load-format": _unless_auto(of.load_format),
        "--max-num-seqs": of.max_num_seqs,
        "--max-num-batched-tokens": of.max_num_batched_tokens,
        "--reasoning-parser": of.reasoning_parser,
        "--tool-call-parser": of.tool_call_parser,
    }
    return [
        *(deployment.head.python, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(deployment.model.path), "--served-model-name", deployment.model.served_name),
        *("--host", "0.0.0.0", "--port", str(of.port)),  # noqa: S104 - clients are on other machines
        *("--distributed-executor-backend", of.executor, "--tensor-parallel-size", str(of.tensor_parallel)),
        *("--pipeline-parallel-size", str(of.pipeline_parallel)),
        *("--max-model-len", str(deployment.model.max_model_len)),
        *("--gpu-memory-utilization", f"{of.gpu_memory_utilization:g}"),  # looked for beside a given KV cache, too
        *(text for name, value in optional.items() if value is not None for text in (name, str(value))),
        *(["--enforce-eager"] if of.enforce_eager else []),
        *(["--enable-auto-tool-choice"] if of.tool_call_parser else []),
    ]


def node_environment(deployment: Deployment, node: Node) -> dict[str, str]:
    """Variables by which every rank of a node takes the fabric and nothing else, and Ray leaves it its memory."""
    variables = {
        "VLLM_HOST_IP": str(node.fabric_address),
        vllm.GLOO_NICS: node.interface,
        nccl.NICS: f"={node.interface}",
    }
    if node.hcas:
        variables[nccl.HCAS] = "=" + ",".join(node.hcas)
    monitor = deployment.ray.memory_monitor
    return variables | ({MONITOR_PERIOD: "0"} if monitor == "disabled" else {MONITOR_THRESHOLD: f"{monitor:g}"})


def _ray_start(deployment: Deployment, node: Node, role: list[str]) -> str:
    argv = [
        *(node.python, "-m", "ray.scripts.scripts", "start", *role),
        f"--node-ip-address={node.fabric_address}",
        f"--num-gpus={node.gpus}",
        "--disable-usage-stats",
    ]
    return f"exec {_with_environment(node_environment(deployment, node), argv)}"


def _detached(deployment: Deployment) -> str:
    """The server in a session of its own, so that the end of the connection that started it does not end it."""
    head, log = deployment.head, deployment.serve.log
    if log is None:
        raise LaunchError(
            "serve.log is not declared: a server that is started here needs a file for its log, or nobody could say "
            "why it failed; declare one, or give an own command as [launch].serve"
        )
    variables = node_environment(deployment, head) | {
        "RAY_ADDRESS": f"{head.fabric_address}:{deployment.ray.port}",
        "PYTHONUNBUFFERED": "1",
    }
    line = _with_environment(variables, server_argv(deployment))
    if deployment.container and deployment.serve.log_in == "host":
        key = ["-e", API_KEY] if deployment.serve.api_key_env else []
        line = f"{shlex.join(['docker', 'exec', *key, deployment.container.name])} {line}"
    opened = f"exec > {shlex.quote(str(log))}"  # by itself: the shell says what is wrong with it, and ends with it
    return f"{opened}\nsetsid {line} 2>&1 < /dev/null &"


def _log_place(deployment: Deployment) -> Place:
    """The shell that opens the log runs where the log lies."""
    return Place.ENGINE if deployment.serve.log_in == "container" else Place.MACHINE


def _command(what: str, node: Node, own: str | None, ours: str) -> StartCommand:
    place = Place.MACHINE if own else Place.ENGINE
    return StartCommand(what, node, place, own or ours, {}, ours=own is None)


def _with_environment(variables: Mapping[str, str], argv: list[str]) -> str:
    return shlex.join(["env", *(f"{name}={value}" for name, value in variables.items()), *argv])


def _unless_auto(value: str) -> str | None:
    return None if value == "auto" else value
