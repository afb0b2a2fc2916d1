"""Launches that must fail or stand still, each for the reason that was given to it."""

from __future__ import annotations

from selftests.proofs.launches import acts
from selftests.proofs.launches.model import Act, Launch, Moment
from shakedown.engines.vllm.phases import PhaseName
from shakedown.launch.status import State
from shakedown.outcomes import Stage

LOADING = Moment(PhaseName.WEIGHTS, done=10)
SLOW_S = 0.5
"""Of each of the 39 shards: the weights take 20 s."""

STILL_S = 35.0
"""A standstill where ranks look for each other counts after 30 s; then the nodes are asked."""

HINDERED_S = 12.0
"""A `ray start` that says what is in its way is given ten seconds to get on."""

NOTICED_S = 2.5
"""Of a node that is gone nothing comes any more; Ray on the head asks it every second, and is the first to say so."""

STOPPED_S = 2.0
"""A process counts as stopped after a second: a debugger stops it for less."""

FAILING: tuple[Launch, ...] = (
    Launch("launch-gloo-nic-unknown", State.FAILED, "gloo-nic-unknown", fault="NET-13", node="node-b"),
    Launch(
        "launch-host-ip-missing",
        State.STALLED,
        "host-ip-only-for-server",
        fault="RAY-02",
        node="node-a",
        within_s=STILL_S,
        says="waits for 198.18.0.12",
    ),
    Launch(
        "launch-memory-monitor-kills",
        State.FAILED,
        "memory-monitor-strict",
        SLOW_S,
        (Act("fill the worker's memory", LOADING, acts.filled),),
        fault="MEM-01",
        node="node-b",
    ),
    Launch("launch-shard-truncated", State.FAILED, "shard-truncated", SLOW_S, fault="MOD-01", node="node-b"),
    Launch("launch-shard-missing", State.FAILED, "shard-missing", fault="MOD-01", node="node-b"),
    Launch(
        "launch-raylet-killed",
        State.FAILED,
        None,
        SLOW_S,
        (Act("kill -9 the worker's raylet", LOADING, acts.signalled("KILL", acts.worker, "raylet/raylet"), True),),
        fault="RAY-17",
        node="node-b",
    ),
    Launch(
        "launch-server-killed",
        State.FAILED,
        None,
        SLOW_S,
        (Act("kill -9 the API server", LOADING, acts.signalled("KILL", acts.head, "vllm.entrypoints"), True),),
        fault="SRV-11",
        node="node-a",
    ),
    Launch(
        "launch-engine-killed",
        State.FAILED,
        None,
        SLOW_S,
        (Act("kill -9 the engine's process", LOADING, acts.signalled("KILL", acts.head, "VLLM::EngineCore"), True),),
        fault="SRV-03",
        node="node-a",
    ),
    Launch(
        "launch-rank-killed",
        State.FAILED,
        None,
        SLOW_S,
        (Act("kill -9 the worker's rank", LOADING, acts.signalled("KILL", acts.worker, "ray::RayWorker"), True),),
        fault="SRV-04",
        node="node-b",
    ),
    Launch(
        "launch-gcs-killed",
        State.FAILED,
        None,
        SLOW_S,
        (Act("kill -9 the head's GCS", LOADING, acts.signalled("KILL", acts.head, "gcs/gcs_server"), True),),
        fault="RAY-17",
        node="node-a",
    ),
    Launch(
        "launch-gcs-blocked",
        State.FAILED,
        "gcs-blocked",
        stage=Stage.RAY,
        fault="RAY-08",
        node="node-b",
        within_s=HINDERED_S,
        says="nc -zv 192.168.200.12 6379",
    ),
    Launch(
        "launch-accelerator-held",
        State.STALLED,
        "accelerator-held",
        fault="RAY-06",
        node="node-b",
        within_s=STILL_S,
    ),
    Launch(
        "launch-engine-left-over",
        State.STALLED,
        before=acts.served_before("KILL"),
        before_text="launch, and kill -9 the server once it is ready: its engine lives on",
        fault="RAY-06",
        node="node-a",
        within_s=STILL_S,
        says="placement group .*: CREATED",
    ),
    Launch(
        "launch-worker-not-joined",
        State.STALLED,
        "worker-not-joined",
        fault="RAY-03",
        node="node-b",
        within_s=STILL_S,
    ),
    Launch("launch-kv-cache-too-small", State.FAILED, "kv-cache-too-small", fault="MEM-05", node="node-a"),
    Launch("launch-api-port-taken", State.FAILED, "api-port-taken", fault="SRV-01", node="node-a"),
    Launch("launch-model-missing", State.FAILED, "model-missing-on-worker", fault="MOD-03", node="node-b"),
    Launch("launch-architecture-unknown", State.FAILED, "architecture-unknown", fault="MOD-06", node="node-a"),
    Launch("launch-engine-missing", State.FAILED, "engine-missing-on-worker", fault="RAY-13", node="node-b"),
    Launch(
        "launch-names-on-loopback",
        State.FAILED,
        "names-on-loopback",
        fault="NET-14",
        node="node-a",
        or_told=("NET-14 on node-b",),
    ),
    Launch(
        "launch-fabric-cut",
        State.FAILED,
        None,
        1.0,
        (Act("set the worker's fabric NIC down", LOADING, acts.link("down")),),
        fault="RAY-10",
        node="node-b",
        says=r"NET-01, kernel log of node-b: fab0: link was up, is down",
    ),
    Launch(
        "launch-engine-stopped",
        State.STALLED,
        None,
        SLOW_S,
        (Act("kill -STOP the engine's process", LOADING, acts.signalled("STOP", acts.head, "VLLM::EngineCore"), True),),
        node="node-a",
        within_s=STOPPED_S,
        says="kill -CONT",
    ),
    Launch(
        "launch-rank-stopped",
        State.STALLED,
        None,
        SLOW_S,
        (Act("kill -STOP the worker's rank", LOADING, acts.signalled("STOP", acts.worker, "ray::RayWorker"), True),),
        node="node-b",
        within_s=STOPPED_S,
        says="kill -CONT",
    ),
    Launch(
        "launch-node-vanished",
        State.FAILED,
        None,
        SLOW_S,
        (Act("end the worker with all that runs there", LOADING, acts.vanished, True),),
        fault="RAY-17",
        node="node-b",
        or_told=("RAY-10 on node-b",),
        within_s=NOTICED_S,
    ),
)
