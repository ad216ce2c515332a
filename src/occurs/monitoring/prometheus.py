"""Metrics in the formats of Prometheus, and an HTTP server for metrics, health and readiness."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from occurs.errors import ResourceProblem, UsageProblem
from occurs.monitoring.instruments import COUNTER, Health, Instruments


class _Collector:
    """What a registry of prometheus_client asks for values."""

    def __init__(self, instruments: Instruments) -> None:
        self._instruments = instruments

    def describe(self) -> list[Any]:
        """Nothing: the registry need not look for equal names."""
        return []

    def collect(self) -> Iterator[Any]:
        """The metrics with their current values."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        for metric, values in self._instruments.read():
            family = CounterMetricFamily if metric.kind == COUNTER else GaugeMetricFamily
            found = family(metric.name, metric.help, labels=metric.labels)
            for labels, value in sorted(values.items()):
                found.add_metric(labels, value)
            yield found


def address(text: str) -> tuple[str, int]:
    """Parse ``[HOST:]PORT``; without a host, only this machine can connect.  Raises UsageProblem."""
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        hint = "use [HOST:]PORT, such as 9464 or 0.0.0.0:9464"
        raise UsageProblem.of("bad-option", f"--monitor {text}", hint=hint)
    return host.strip("[]") or "127.0.0.1", int(port)


@contextmanager
def served(where: tuple[str, int], instruments: Instruments, health: Health) -> Iterator[str]:
    """Serve ``/metrics``, ``/healthz`` and ``/readyz`` while the body runs.

    Args:
        where: Host and port; port 0 takes a free one.
        instruments: The values to publish.
        health: Health and readiness.

    Yields:
        The address of the server, such as ``http://127.0.0.1:9464``.

    Raises:
        ResourceProblem: If prometheus_client is not installed (``not-installed``), or the port cannot be used
            (``cannot-listen``).
    """
    try:
        from prometheus_client import CollectorRegistry, ProcessCollector
        from prometheus_client.exposition import choose_encoder
    except ImportError as error:
        hint = "pip install 'occurs[monitoring]'"
        text = "--monitor needs prometheus-client, which is not installed"
        raise ResourceProblem.of("not-installed", text, hint=hint) from error
    registry = CollectorRegistry()
    registry.register(_Collector(instruments))
    ProcessCollector(registry=registry)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == "/metrics":
                encode, kind = choose_encoder(self.headers.get("Accept", ""))
                self._answer(200, encode(registry), kind)
            elif path == "/healthz":
                self._state(health.alive, "ok", "no progress")
            elif path == "/readyz":
                self._state(health.ready and health.alive, "ready", "not ready")
            else:
                self._answer(404, b"try /metrics, /healthz or /readyz\n", "text/plain; charset=utf-8")

        def _state(self, good: bool, yes: str, no: str) -> None:
            self._answer(200 if good else 503, f"{yes if good else no}\n".encode(), "text/plain; charset=utf-8")

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are not logged: there is one every few seconds."""

    try:
        server = ThreadingHTTPServer(where, Handler)
    except OSError as error:
        text = f"--monitor: cannot listen on {where[0]}:{where[1]}: {error.strerror or error}"
        raise ResourceProblem.of("cannot-listen", text, hint="choose another port") from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True, name="occurs-monitor")
    thread.start()
    try:
        yield f"http://{where[0]}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
