"""Prometheus metrics, one registry per application."""

from collections.abc import Mapping
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Metrics:
    """Everything that is counted. Labels have few values: no session, tenant or text ever becomes one."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "sidecar_requests", "Requests answered.", ["endpoint", "phase", "status"], registry=self.registry
        )
        self.latency = Histogram(
            "sidecar_request_seconds",
            "Time to answer.",
            ["endpoint", "phase"],
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self.reasons = Counter(
            "sidecar_reasons", "Answers by reason code.", ["endpoint", "phase", "reason"], registry=self.registry
        )
        self.recall = Counter("sidecar_recall", "Recalls by outcome.", ["reason"], registry=self.registry)
        self.backend_calls = Counter(
            "sidecar_backend_calls",
            "Calls to the backend.",
            ["backend", "operation", "outcome"],
            registry=self.registry,
        )
        self.doubled = Counter(
            "sidecar_doubled_messages",
            "Messages that a write left in a session a second time, later than was waited for it.",
            registry=self.registry,
        )
        self.backend_seconds = Histogram(
            "sidecar_backend_call_seconds",
            "Time of a call to the backend.",
            ["backend", "operation"],
            registry=self.registry,
            buckets=_BUCKETS,
        )
        # Looking a child up by its labels costs more than counting it; there are few.
        self._requests = cache(self.requests.labels)
        self._latency = cache(self.latency.labels)
        self._reasons = cache(self.reasons.labels)
        self._recall = cache(self.recall.labels)
        self._backend_calls = cache(self.backend_calls.labels)
        self._backend_seconds = cache(self.backend_seconds.labels)
        self._gauges: dict[str, Gauge] = {}

    def on_backend_call(self, backend: str, operation: str, outcome: str, seconds: float) -> None:
        """Count one call to the backend."""
        self._backend_calls(backend, operation, outcome).inc()
        self._backend_seconds(backend, operation).observe(seconds)

    def on_doubled(self, messages: int) -> None:
        """Count messages that stand in a session twice."""
        self.doubled.inc(messages)

    def on_request(self, endpoint: str, phase: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self._requests(endpoint, phase, str(status)).inc()
        self._latency(endpoint, phase).observe(seconds)

    def on_reason(self, endpoint: str, phase: str, reason: str) -> None:
        """Count one answer's reason code."""
        self._reasons(endpoint, phase, reason).inc()

    def on_recall(self, reason: str) -> None:
        """Count what one recall came to; in `full` the answer's own reason may be another."""
        self._recall(reason).inc()

    def set_gauges(self, values: Mapping[str, float]) -> None:
        """Set ``sidecar_<name>`` for each of ``values``; gauges appear when first set."""
        for name, value in values.items():
            if name not in self._gauges:
                self._gauges[name] = Gauge(f"sidecar_{name}", name.replace("_", " "), registry=self.registry)
            self._gauges[name].set(value)

    def render(self) -> bytes:
        """The exposition text."""
        return generate_latest(self.registry)
