"""An OpenTelemetry collector for tests: takes OTLP over HTTP, and decodes the messages of the protocol itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

Points = dict[tuple[str, tuple[str, ...]], float]


class Collector(ThreadingHTTPServer):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Any] = []
        self.heads: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def points(self) -> Points:
        """The latest values by name and attributes."""
        found = {}
        for request in self.requests:
            for metric in (m for r in request.resource_metrics for s in r.scope_metrics for m in s.metrics):
                data = metric.sum if metric.HasField("sum") else metric.gauge
                for point in data.data_points:
                    labels = tuple(a.value.string_value for a in point.attributes)
                    found[metric.name, labels] = point.as_double
        return found

    @property
    def resource(self) -> dict[str, str]:
        attributes = self.requests[-1].resource_metrics[0].resource.attributes
        return {a.key: a.value.string_value for a in attributes}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heads.append((self.path, dict(self.headers)))
        self.server.requests.append(ExportMetricsServiceRequest.FromString(body))
        answer = ExportMetricsServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a port of the loopback while the body runs."""
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
