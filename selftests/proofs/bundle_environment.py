"""Faults of environment, container and command line as a recorded bundle shows them; see `bundle.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from selftests.proofs.bundle import HEAD, RAYLET, TABLES, WORKER, in_json, in_text
from selftests.proofs.model import Fault, Pair
from shakedown.nodes.answer import Place
from shakedown.nodes.evidence import Evidence

LOGIN = "env | grep"
VERSIONS = "python versions/"
KEPT_BACK = "ray_non_carry_over_env_vars.json"
CURRENT = "ray_current_cluster"
ENGINE = "python engine/"
SERVER = "API server: "
DOCKER = "docker inspect"
INSIDE = "GPUs where the engine runs"

STOPPED = "Error response from daemon: container 4c01db0b339c is not running"
NO_SUCH = "Error response from daemon: No such container: vllm"
FORBIDDEN = (
    "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock: "
    "dial unix /var/run/docker.sock: connect: permission denied"
)


def set_for(evidence: Evidence, node: str, key: str, *variables: str) -> None:
    """Set variables in a process's environment, or with `LOGIN` in what is started on the node."""
    prefix = "" if key == LOGIN else "env "
    evidence.change(node, key, lambda text: text + "".join(f"{prefix}{variable}\n" for variable in variables))


def older_engine(evidence: Evidence) -> None:
    """The release whose driver copies what is on its lists, and overwrites."""
    for node in (HEAD, WORKER):
        in_json(evidence, node, VERSIONS, lambda found: found.update(vllm="0.17.1"))
        in_json(evidence, node, ENGINE, lambda found: found.update(traits=[]))


def gloo_on_head_only(evidence: Evidence) -> None:
    """Exported in the head's shell, forgotten on the worker (vllm#6803)."""
    in_text(evidence, WORKER, RAYLET, r"^env GLOO_SOCKET_IFNAME=.*\n", "")


def ptxas_for_server_only(evidence: Evidence) -> None:
    """Set where the server is started, and on no list of the release: each node compiles with another tool."""
    older_engine(evidence)
    set_for(evidence, HEAD, LOGIN, "TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas")


def names_kept_back(evidence: Evidence) -> None:
    """A file that somebody left in the engine's configuration years ago."""
    evidence.change(HEAD, KEPT_BACK, lambda _: '["NCCL_IB_HCA", "HF_TOKEN"]\n')


def value_replaced(evidence: Evidence) -> None:
    """What was set on purpose for every node's Ray is written over with what a login on the head has."""
    older_engine(evidence)
    set_for(evidence, HEAD, LOGIN, "HF_HUB_OFFLINE=0")


def nic_of_the_head(evidence: Evidence) -> None:
    """The worker's NIC has another name, and the head hands over its own (vllm#40991)."""
    set_for(evidence, HEAD, LOGIN, "NCCL_SOCKET_IFNAME=enp1s0f1np1")


def debugging_left_on(evidence: Evidence) -> None:
    """Set to find a fault of NCCL, and never taken back."""
    for node in (HEAD, WORKER):
        set_for(evidence, node, RAYLET, "NCCL_DEBUG=TRACE")


def rdma_switched_off(evidence: Evidence) -> None:
    """Set on both nodes to isolate a fault of RoCE: everything goes over TCP since."""
    for node in (HEAD, WORKER):
        set_for(evidence, node, RAYLET, "NCCL_IB_DISABLE=1")


def sockets_asked_for(evidence: Evidence) -> None:
    """The same by the name of the network, as guides for nodes without RDMA give it."""
    for node in (HEAD, WORKER):
        set_for(evidence, node, RAYLET, "NCCL_NET=Socket")


def second_raylet(evidence: Evidence) -> None:
    """`ray start` was given twice, with two ports (ray#27021)."""
    evidence.change(WORKER, RAYLET, lambda text: text + text.replace("pid ", "pid 9"))


def hasty_health_check(evidence: Evidence) -> None:
    """Set to notice a lost node sooner: a node under memory pressure is given up (ray#45179)."""
    set_for(evidence, HEAD, RAYLET, "RAY_health_check_failure_threshold=2")


def address_of_an_earlier_cluster(evidence: Evidence) -> None:
    """RAY_ADDRESS stands in the environment since the other machine was the head (vllm#6689)."""
    set_for(evidence, HEAD, LOGIN, "RAY_ADDRESS=192.168.200.13:6379")


def server_on_management(evidence: Evidence) -> None:
    """`docker exec vllm vllm serve` without the variable that `ray start` was given (vllm#43095)."""
    older_engine(evidence)


def nothing_left_for_the_driver(evidence: Evidence) -> None:
    """The server will run as another user or in another container than Ray."""
    evidence.change(HEAD, CURRENT, lambda _: "")


def ports_closed(evidence: Evidence) -> None:
    """A firewall lets the port of the GCS through and nothing else."""

    def edit(answer: dict[str, Any]) -> None:
        for port in answer["raylets"]:
            if port["address"].startswith("192.168.200.12:"):
                port.update(reachable=False, error="timed out")

    in_json(evidence, WORKER, TABLES, edit)


def ray_missing(evidence: Evidence) -> None:
    """An image of the engine without Ray, as NVIDIA's newer ones are."""
    in_json(evidence, WORKER, ENGINE, lambda found: found.update(ray=False))
    in_json(evidence, WORKER, VERSIONS, lambda found: found.update(ray=None))


def engine_missing(evidence: Evidence) -> None:
    """Ray is that of the system, and the engine is in another interpreter (gpustack#2415)."""
    in_json(evidence, WORKER, ENGINE, lambda found: found.update(engine=False))
    in_json(evidence, WORKER, VERSIONS, lambda found: found.update(vllm=None))


def ray_in_a_session(evidence: Evidence) -> None:
    """``ray start --block`` in an ssh session."""
    in_text(evidence, WORKER, RAYLET, r"^abv .*\n", "abv ray\nabv bash\nabv sshd-session\nabv sshd\nabv systemd\n")


def argument(evidence: Evidence, name: str, value: str) -> None:
    """Change the value of an option of the running server."""
    in_text(evidence, HEAD, SERVER, rf"^arg --{name}\narg .*$", f"arg --{name}\narg {value}")


def executor_left_out(evidence: Evidence) -> None:
    """The executor was left to its default, which knows one machine (vllm#45150)."""
    in_text(evidence, HEAD, SERVER, r"^arg --distributed-executor-backend\narg ray\n", "")


def executor_mixed(evidence: Evidence) -> None:
    """Ray, and the option by which `mp` counts machines."""
    evidence.change(HEAD, SERVER, lambda text: text.replace("arg --port\n", "arg --nnodes\narg 2\narg --port\n"))


def data_parallel_beside(evidence: Evidence) -> None:
    """Two replicas of two ranks, where there are two accelerators."""
    evidence.change(HEAD, SERVER, lambda text: text.replace("arg --port\n", "arg -dp\narg 2\narg --port\n"))


def served_under_another_name(evidence: Evidence) -> None:
    """The name was changed in the start script only."""
    argument(evidence, "served-model-name", "shakedown-small")


def tools_not_switched_on(evidence: Evidence) -> None:
    """A parser without the option that makes the server use it."""
    in_text(evidence, HEAD, SERVER, r"^arg --enable-auto-tool-choice\n", "")


def parser_of_another_release(evidence: Evidence) -> None:
    """The parser came with a later release than the installed one."""

    def edit(found: dict[str, Any]) -> None:
        found["parsers"]["tools"].remove("hermes")

    in_json(evidence, HEAD, ENGINE, edit)


def front_ends_give_up(evidence: Evidence) -> None:
    """Several API servers, whose patience ends before the weights are loaded."""
    evidence.change(
        HEAD, SERVER, lambda text: text.replace("arg --port\n", "arg --api-server-count\narg 4\narg --port\n")
    )
    set_for(evidence, HEAD, SERVER, "VLLM_ENGINE_READY_TIMEOUT_S=20")


def made(node: str, **fields: object) -> Callable[[Evidence], None]:
    """The container was made with other flags: fields of ``HostConfig``."""
    return lambda evidence: in_json(evidence, node, DOCKER, lambda answer: answer["container"]["host"].update(fields))


def both_made(**fields: object) -> Callable[[Evidence], None]:
    """The containers of both nodes were made with other flags."""

    def inject(evidence: Evidence) -> None:
        for node in (HEAD, WORKER):
            made(node, **fields)(evidence)

    return inject


def image_moved(evidence: Evidence) -> None:
    """One node pulled the tag later (ray#20166)."""

    def edit(answer: dict[str, Any]) -> None:
        answer["container"]["image"] = "sha256:" + "e" * 64
        answer["image"]["digests"] = ["hellohal2064/vllm-qwen3.5-gb10@sha256:" + "f" * 64]

    in_json(evidence, WORKER, DOCKER, edit)


def other_image(evidence: Evidence) -> None:
    """The containers are those of an earlier trial."""
    for node in (HEAD, WORKER):
        in_json(evidence, node, DOCKER, lambda answer: answer["container"].update(tag="vllm/vllm-openai:v0.17.1"))


def gpu_lost(evidence: Evidence) -> None:
    """An update ran ``systemctl daemon-reload`` (nvidia-container-toolkit#251)."""
    evidence.change(WORKER, INSIDE, lambda _: "Failed to initialize NVML: Unknown Error\n/dev/nvidia0\n")


def container_down(complaint: str, *, gone: bool = False) -> Callable[[Evidence], None]:
    """Nothing runs in the worker's container any more: docker's client complains of each command."""

    def inject(evidence: Evidence) -> None:
        for answer in evidence.answers(WORKER):
            if answer.place is Place.ENGINE or (gone and answer.key.startswith(DOCKER)):
                evidence.record(WORKER, replace(answer, exit_code=1, stdout=b"", stderr=complaint.encode()))

    return inject


def log_inside(mounts: Callable[[list[dict[str, Any]]], object]) -> Callable[[Evidence], None]:
    """The log is written inside the containers, whose mounts are others."""

    def inject(evidence: Evidence) -> None:
        for node in (HEAD, WORKER):
            in_json(evidence, node, DOCKER, lambda answer: mounts(answer["container"]["mounts"]))

    return inject


def in_memory(mounts: list[dict[str, Any]]) -> None:
    """`--mount type=tmpfs` where the log lies."""
    next(one for one in mounts if "log" in one["Destination"]).update(Type="tmpfs", Source="")


def container_in_the_foreground(evidence: Evidence) -> None:
    """vLLM's run_cluster.sh: ``docker run`` without -d."""
    in_json(evidence, HEAD, DOCKER, lambda answer: answer["container"].update(attached=True))


def _fault(
    name: str,
    check: str,
    stage: str,
    inject: Callable[[Evidence], None],
    companions: dict[str, str] | None = None,
    pair: Pair = "embedded",
    declared: Mapping[str, Any] | None = None,
) -> Fault:
    return Fault(
        f"bundle-{name}", "bundle", check, companions or {}, stage, inject=inject, pair=pair, declared=declared or {}
    )


FAULTS: tuple[Fault, ...] = (
    _fault("gloo-on-head-only", "ENV-01", "ray", gloo_on_head_only),
    _fault("ptxas-for-server-only", "ENV-02", "ray", ptxas_for_server_only),
    _fault("names-kept-back", "ENV-09", "hosts", names_kept_back),
    _fault("value-replaced", "ENV-09", "ray", value_replaced),
    _fault("nic-of-the-head", "NET-10", "ray", nic_of_the_head),
    _fault("debugging-left-on", "ENV-07", "ray", debugging_left_on),
    _fault("rdma-switched-off", "ENV-07", "ray", rdma_switched_off, pair="gb10"),
    _fault("sockets-asked-for", "ENV-07", "ray", sockets_asked_for, pair="gb10"),
    _fault("second-raylet", "RAY-05", "ray", second_raylet),
    _fault("hasty-health-check", "RAY-10", "ray", hasty_health_check),
    _fault("address-of-an-earlier-cluster", "RAY-04", "ray", address_of_an_earlier_cluster),
    _fault("server-on-management", "RAY-02", "ray", server_on_management, pair="gb10"),
    _fault("nothing-left-for-the-driver", "RAY-04", "ray", nothing_left_for_the_driver),
    _fault("ports-closed", "RAY-09", "ray", ports_closed),
    _fault("ray-missing", "RAY-12", "hosts", ray_missing),
    _fault("engine-missing", "RAY-13", "hosts", engine_missing),
    _fault("ray-in-a-session", "RAY-15", "ray", ray_in_a_session),
    _fault("executor-left-out", "ENV-08", "serving", executor_left_out),
    _fault("executor-mixed", "ENV-08", "serving", executor_mixed),
    _fault("data-parallel-beside", "ENV-08", "serving", data_parallel_beside),
    _fault("served-under-another-name", "SRV-09", "serving", served_under_another_name),
    _fault("tools-not-switched-on", "SRV-09", "serving", tools_not_switched_on),
    _fault("parser-of-another-release", "SRV-10", "hosts", parser_of_another_release),
    _fault("front-ends-give-up", "SRV-07", "serving", front_ends_give_up),
    _fault("bridged-network", "ENV-03", "hosts", both_made(NetworkMode="bridge"), pair="gb10"),
    _fault("made-without-gpus", "ENV-03", "hosts", both_made(DeviceRequests=None), pair="gb10"),
    _fault("made-otherwise", "ENV-03", "hosts", made(WORKER, Ulimits=None), pair="gb10"),
    _fault("image-moved", "ENV-04", "hosts", image_moved, pair="gb10"),
    _fault("other-image", "ENV-04", "hosts", other_image, pair="gb10"),
    _fault("gpu-lost", "ENV-05", "ray", gpu_lost, pair="gb10"),
    _fault("log-goes-with-the-container", "ENV-06", "hosts", both_made(AutoRemove=True), pair="gb10"),
    _fault("log-driver-none", "ENV-06", "hosts", both_made(LogConfig={"Type": "none"}), pair="gb10"),
    _fault(
        "log-in-the-containers-own-files",
        "ENV-06",
        "hosts",
        log_inside(lambda mounts: mounts.pop()),
        pair="gb10",
        declared={"serve.log_in": "container"},
    ),
    _fault(
        "log-in-memory",
        "ENV-06",
        "hosts",
        log_inside(in_memory),
        pair="gb10",
        declared={"serve.log_in": "container"},
    ),
    _fault("container-stopped", "ENV-10", "ray", container_down(STOPPED), pair="gb10"),
    _fault("container-of-another-name", "ENV-10", "hosts", container_down(NO_SUCH, gone=True), pair="gb10"),
    _fault("docker-not-allowed", "ENV-10", "hosts", container_down(FORBIDDEN, gone=True), pair="gb10"),
    _fault("container-in-the-foreground", "RAY-15", "hosts", container_in_the_foreground, pair="gb10"),
)
