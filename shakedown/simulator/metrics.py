"""Counters under the names, labels and buckets of vLLM 0.32 (vllm/v1/metrics), exact to the token."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
REASONS = ("stop", "length", "abort", "error", "repetition")
_LABELS = ("model_name", "engine")
_FIRST_TOKEN_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_TOKEN_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_REQUEST_S = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0)
_TOKENS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class Metrics:
    """All series of one engine; created at zero, so that a scrape before the first request shows them."""

    def __init__(self, model_name: str) -> None:
        self._registry = CollectorRegistry()
        self._labels = {"model_name": model_name, "engine": "0"}
        ProcessCollector(registry=self._registry)
        self.running = self._gauge("vllm:num_requests_running", "Number of requests in model execution batches.")
        self.waiting = self._gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.")
        self.cache_usage = self._gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.")
        self.prompt_tokens = self._counter("vllm:prompt_tokens", "Number of prefill tokens processed.")
        self.generation_tokens = self._counter("vllm:generation_tokens", "Number of generation tokens processed.")
        self.cache_queries = self._counter("vllm:prefix_cache_queries", "Prefix cache queries, in tokens.")
        self.cache_hits = self._counter("vllm:prefix_cache_hits", "Prefix cache hits, in tokens.")
        sleep = Gauge(
            "vllm:engine_sleep_state", "Engine sleep state.", (*_LABELS, "sleep_state"), registry=self._registry
        )
        for state in ("awake", "weights_offloaded", "discard_all"):
            sleep.labels(**self._labels, sleep_state=state).set(state == "awake")
        self.preemptions = self._counter("vllm:num_preemptions", "Cumulative number of preemptions.")
        success = Counter(
            "vllm:request_success",
            "Count of successfully processed requests.",
            (*_LABELS, "finished_reason"),
            registry=self._registry,
        )
        self.finished = {reason: success.labels(**self._labels, finished_reason=reason) for reason in REASONS}
        self.request_prompt = self._histogram("vllm:request_prompt_tokens", "Prefill tokens processed.", _TOKENS)
        self.request_generation = self._histogram("vllm:request_generation_tokens", "Tokens generated.", _TOKENS)
        self.first_token = self._histogram("vllm:time_to_first_token_seconds", "Time to first token.", _FIRST_TOKEN_S)
        self.inter_token = self._histogram("vllm:inter_token_latency_seconds", "Inter-token latency.", _TOKEN_S)
        self.end_to_end = self._histogram("vllm:e2e_request_latency_seconds", "End to end latency.", _REQUEST_S)
        self.queued = self._histogram("vllm:request_queue_time_seconds", "Time in the WAITING phase.", _REQUEST_S)
        self.prefill = self._histogram("vllm:request_prefill_time_seconds", "Time in the PREFILL phase.", _REQUEST_S)
        self.inference = self._histogram(
            "vllm:request_inference_time_seconds", "Time in the RUNNING phase.", _REQUEST_S
        )
        self.per_token = self._histogram(
            "vllm:request_time_per_output_token_seconds", "Time per output token, by request.", _TOKEN_S
        )
        self.decode = self._histogram("vllm:request_decode_time_seconds", "Time in the DECODE phase.", _REQUEST_S)
        config = Gauge("vllm:cache_config_info", "Configuration.", ("block_size", *_LABELS), registry=self._registry)
        config.labels(block_size="16", **self._labels).set(1)

    def exposition(self) -> bytes:
        """The page that ``/metrics`` shows."""
        return generate_latest(self._registry)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(name, text, _LABELS, registry=self._registry).labels(**self._labels)

    def _counter(self, name: str, text: str) -> Counter:
        return Counter(name, text, _LABELS, registry=self._registry).labels(**self._labels)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, text, _LABELS, buckets=buckets, registry=self._registry).labels(**self._labels)
