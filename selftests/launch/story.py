"""Launches told as events, second by second and without waiting: what two nodes say, and what a watch makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from shakedown.faults.lines import LogLine
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.events import Answered, Contact, Counter, Event, Logged, Processes, Sampled, Stream
from shakedown.launch.history import Launched
from shakedown.launch.limits import Limits
from shakedown.launch.ready import Proved
from shakedown.launch.stall import Gathered
from shakedown.launch.status import State, Status
from shakedown.launch.watch import Due, Watch

EXAMPLE = Path(__file__).parents[2] / "deployment.example.toml"
T0 = 1_900_000_000.0
A, B = "spark-a", "spark-b"
GB = 1e9

KILLED = (
    "[2026-12-01 12:05:00,000 E 60 60] (raylet) node_manager.cc:3000: 1 Workers (tasks / actors) killed due to memory "
    "pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 1, IP: 192.168.200.13)"
)
KILLED_NEW = "(raylet) ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."
"""Of a Ray that kills for want of memory: its own log, and what a driver prints."""

Line = tuple[float, str, str, str]
"""When (s since T0), node, stream, text."""


@cache
def pair() -> Deployment:
    """Two machines of the example file, without a container."""
    return load_deployment(EXAMPLE).model_copy(update={"container": None})


class Story:
    """A watch, and short words to feed it; times are seconds since T0."""

    def __init__(
        self,
        *,
        deployment: Deployment | None = None,
        limits: Limits | None = None,
        earlier: Sequence[Launched] = (),
        since: float | None = None,
        reached: Iterable[str] = (A, B),
        at: float = 0.0,
    ) -> None:
        self.deployment = deployment or pair()
        self.watch = Watch(self.deployment, limits, earlier, None if since is None else T0 + since)
        for node in reached:
            self.contact(at, node)

    def feed(self, event: Event | Gathered | Proved) -> None:
        self.watch.feed(event)

    def contact(self, at: float, node: str, *, reached: bool = True, why: str = "") -> None:
        self.feed(Contact(node, T0 + at, reached, why, 0.0 if reached else None))

    def says(self, at: float, text: str, node: str = A, stream: str = Stream.SERVE, *, backlog: bool = False) -> None:
        self.feed(Logged(LogLine(node, stream, f"/logs/{stream}", T0 + at, text), backlog))

    def tell(self, lines: Iterable[Line], *, backlog: bool = False) -> None:
        for at, node, stream, text in lines:
            self.says(at, text, node, stream, backlog=backlog)

    def counts(self, at: float, node: str, **values: float) -> None:
        self.feed(Sampled(node, T0 + at, {Counter[name]: value for name, value in values.items()}))

    def lives(self, at: float, node: str, *, stopped: tuple[int, ...] = (), **alive: Any) -> None:
        pids = {kind: pid if isinstance(pid, tuple) else (pid,) for kind, pid in alive.items()}
        self.feed(Processes(node, T0 + at, pids, stopped, None))

    def both_live(self, at: float) -> None:
        self.lives(at, A, server=100, engine=200, worker=300, raylet=50, gcs=40)
        self.lives(at, B, worker=400, raylet=60)

    def answers(self, at: float, *models: str, health: int | None = 200, why: str = "") -> None:
        self.feed(Answered(T0 + at, health, models or (self.deployment.model.served_name,), why))

    def proves(self, at: float, why: str = "", took_s: float = 2.5) -> None:
        self.feed(Proved(T0 + at, 0 if why else 1, took_s, why))

    def gathers(self, at: float, node: str, text: str) -> None:
        self.feed(Gathered(node, T0 + at, text))

    def status(self, at: float) -> Status:
        return self.watch.status(T0 + at)

    def play(
        self,
        lines: Sequence[Line],
        until: float,
        counters: Callable[[str, float], dict[str, float]],
        *,
        start: float = 0.0,
        expect: frozenset[State] = frozenset({State.RUNNING}),
    ) -> list[Status]:
        """Second by second: lines at their times, counters of both nodes, and a look. Ends at an unexpected state."""
        left = [line for line in sorted(lines, key=lambda line: line[0]) if line[0] >= start]
        statuses: list[Status] = []
        at = start
        while at <= until:
            while left and left[0][0] <= at:
                self.tell([left.pop(0)])
            for node in (A, B):
                if values := counters(node, at):
                    self.counts(at, node, **values)
            statuses.append(self.status(at))
            if statuses[-1].state not in expect:
                break
            at += 1
        return statuses


def api(text: str) -> str:
    return f"(APIServer pid=100) INFO 12-01 12:00:00 [api_server.py:1] {text}"


def engine(text: str) -> str:
    return f"(EngineCore pid=200) INFO 12-01 12:00:00 [core.py:1] {text}"


def rank(number: int, text: str, *, bar: bool = False) -> str:
    who = "pid=300" if number == 0 else "pid=400, ip=192.168.200.13"
    prefix = f"(EngineCore pid=200) (RayWorkerProc {who}) "
    pid = 300 if number == 0 else 400
    return prefix + (text if bar else f"(Worker_TP{number} pid={pid}) INFO 12-01 12:00:00 [x.py:1] {text}")


def shard(done: int, total: int = 39) -> str:
    share = f"{100 * done // total:3d}% Completed"
    text = f"Loading safetensors checkpoint shards: {share} | {done}/{total} [00:00<00:00,  1.00s/it]"
    return rank(0, text, bar=True)


def until_ray(begin: float = 0.0) -> list[Line]:
    """The server begins, and attaches to Ray at 15 s."""
    return [
        (begin, A, Stream.SERVE, api("vLLM API server version 0.33.0, serving model /models/Qwen")),
        (begin, A, Stream.SERVE, api("non-default args: {'model': '/models/Qwen'}")),
        (begin + 8, A, Stream.SERVE, api("Resolved architecture: Qwen3MoeForCausalLM")),
        (
            begin + 12,
            A,
            Stream.SERVE,
            engine("Initializing a V1 LLM engine (v0.33.0) with config: model='/models/Qwen'"),
        ),
        (begin + 15, A, Stream.SERVE, engine("Connecting to existing Ray cluster at address: 192.168.200.12:6379...")),
        (begin + 15, A, Stream.SERVE, engine("No current placement group found. Creating a new placement group.")),
    ]


def until_c10d(begin: float = 0.0, address: str = "192.168.200.12") -> list[Line]:
    """Both ranks stand at 35 s and look for each other."""
    meet = "world_size=2 rank={0} local_rank=0 distributed_init_method=tcp://" + address + ":41213 backend=nccl"
    return [
        *until_ray(begin),
        (begin + 16, A, Stream.SERVE, engine("Env var prefixes to copy: ['VLLM_']")),
        (begin + 35, A, Stream.SERVE, rank(0, meet.format(0))),
        (begin + 35, A, Stream.SERVE, rank(1, meet.format(1))),
    ]


def until_weights(begin: float = 0.0) -> list[Line]:
    """Both ranks begin to load at 46 s."""
    assigned = "rank {0} in world size 2 is assigned as DP rank 0, PP rank 0, PCP rank 0, TP rank {0}, EP rank {0}"
    return [
        *until_c10d(begin),
        (begin + 37, A, Stream.SERVE, rank(0, "vLLM is using nccl==2.28.3")),
        *((begin + 45, A, Stream.SERVE, rank(number, assigned.format(number))) for number in (0, 1)),
        *((begin + 46, A, Stream.SERVE, rank(number, "Starting to load model /models/Qwen...")) for number in (0, 1)),
    ]


def shards(begin: float, seconds: Sequence[float]) -> list[Line]:
    """The bar of the weights: as many shards as there are times, each taking so long."""
    at, lines = begin, [(begin, A, Stream.SERVE.value, shard(0, len(seconds)))]
    for done, took in enumerate(seconds, 1):
        at += took
        lines.append((at, A, Stream.SERVE.value, shard(done, len(seconds))))
    return lines


def loaded(at: float, took: float = 700.0, ranks: Sequence[int] = (0, 1)) -> list[Line]:
    return [
        (at + step, A, Stream.SERVE, rank(number, text))
        for number in ranks
        for step, text in (
            (0.0, f"Loading weights took {took:.2f} seconds"),
            (1.0, f"Model loading took 58.50 GiB memory and {took + 1:.6f} seconds"),
        )
    ]


def after_weights(at: float, compile_s: float = 60.0, *, cached: bool = False) -> list[Line]:
    """Compilation, KV cache, graphs and the API; ready 50 s after the compilation."""
    compiled = "Directly load the compiled graph(s) for compile range (1, 8192) from the cache, took 1.0 s"
    compiling = f"Compiling a graph for compile range (1, 8192) takes {compile_s:.1f} s"
    done = at + 4 + compile_s
    bars = [
        (
            done + 5 + n / 5,
            A,
            Stream.SERVE.value,
            rank(0, f"Capturing CUDA graphs (PIECEWISE):  50%|#####| {n}/51", bar=True),
        )
        for n in range(0, 52, 17)
    ]
    return [
        (at + 2, A, Stream.SERVE, rank(0, "Using cache directory: /root/.cache/vllm/x for vLLM's torch.compile")),
        (done - 1, A, Stream.SERVE, rank(0, compiled if cached else compiling)),
        (done, A, Stream.SERVE, rank(0, f"torch.compile took {compile_s:.1f} s in total")),
        (done + 3, A, Stream.SERVE, rank(0, "Available KV cache memory: 22.10 GiB")),
        (
            done + 4,
            A,
            Stream.SERVE,
            engine("GPU KV cache size: 310,000 tokens, Maximum concurrency for 65,536 tokens per request: 4.7x"),
        ),
        *bars,
        (done + 20, A, Stream.SERVE, rank(0, "Graph capturing finished in 15 secs, took 0.80 GiB")),
        (
            done + 25,
            A,
            Stream.SERVE,
            engine("init engine (profile, create kv cache, warmup model) took 90.00 s (compilation: 60.00 s)"),
        ),
        (done + 49, A, Stream.SERVE, api("Starting vLLM server on http://0.0.0.0:30000")),
        (done + 50, A, Stream.SERVE, "(APIServer pid=100) INFO:     Application startup complete."),
    ]


def whole(seconds: Sequence[float], compile_s: float = 60.0, *, cached: bool = False) -> tuple[list[Line], float]:
    """All lines of a launch that goes well, and when it is ready."""
    end = 46 + sum(seconds)
    lines = [
        *until_weights(),
        *shards(46, seconds),
        *loaded(end + 1, sum(seconds)),
        *after_weights(end + 3, compile_s, cached=cached),
    ]
    return lines, end + 3 + 4 + compile_s + 50


def reading(
    rate: float = 1.2 * GB, processors: float = 1.0, available: float = 110 * GB
) -> Callable[[str, float], dict[str, float]]:
    """Counters of a node that reads at a rate and computes."""
    return lambda _node, at: {"READ": rate * at, "CPU": processors * at, "FABRIC": 20e3 * at, "AVAILABLE": available}


def still(processors: float = 0.01) -> Callable[[str, float], dict[str, float]]:
    """Counters of a node on which nothing happens but Ray's chatter; a processor may spin."""
    return lambda _node, at: {"READ": 5 * GB, "CPU": processors * at, "FABRIC": 30e3 * at, "AVAILABLE": 60 * GB}


def phase_of(status: Status, name: str) -> str:
    """Where that node is."""
    return next(one.phase for one in status.nodes if one.name == name)


def told_by_nobody(story: Story, at: float) -> str | None:
    """The fault that a standstill is laid to when no node has anything to say."""
    story.gathers(at, A, "== memory\n")
    explanation = story.status(at).explanation
    assert explanation is not None
    return explanation.fault


def finish(story: Story, at: float) -> Status:
    """Let the API answer and a token be generated; the status then."""
    story.answers(at)
    assert story.status(at).state is State.RUNNING
    assert story.watch.due is Due.PROOF
    story.proves(at + 3)
    return story.status(at + 3)


def api_line(text: str) -> str:
    """A line of the API server."""
    return f"(APIServer pid=100) INFO 12-01 12:00:00 [launcher.py:1] {text}"
