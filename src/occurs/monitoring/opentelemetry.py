"""Metrics for an OpenTelemetry collector, by its own protocol (OTLP) over HTTP."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from occurs.errors import ResourceProblem, UsageProblem
from occurs.monitoring.instruments import COUNTER, Instruments, Metric

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation


#: variables of OpenTelemetry that name a collector: for metrics as it is, for everything without a path
METRICS_ENDPOINT, ENDPOINT = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
#: where a collector takes metrics
PATH = "/v1/metrics"
#: seconds that the last export may take when the process ends
PATIENCE = 5.0
#: units by the end of a name
_UNITS = {"_seconds": "s", "_bytes": "By"}


def endpoint(text: str) -> str:
    """The URL to send metrics to; a URL without a path gets that of OTLP.  Raises UsageProblem (``bad-option``)."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        hint = "use the URL of a collector, such as http://localhost:4318"
        raise UsageProblem.of("bad-option", f"--otlp {text}", hint=hint)
    return text if parts.path.strip("/") else f"{parts.scheme}://{parts.netloc}{PATH}"


def configured() -> str | None:
    """The URL that the environment names, None without one.  Raises UsageProblem if it is not a URL."""
    url = os.environ.get(METRICS_ENDPOINT)
    if url:
        return endpoint(url)
    base = os.environ.get(ENDPOINT)
    return endpoint(base.rstrip("/") + PATH) if base else None


@contextmanager
def sent(url: str, instruments: Instruments, application: str, version: str) -> Iterator[None]:
    """Send all values to a collector while the body runs, regularly and once at the end.

    Variables of OpenTelemetry set the rest: ``OTEL_METRIC_EXPORT_INTERVAL`` (milliseconds, 60,000 by default),
    ``OTEL_EXPORTER_OTLP_HEADERS``, ``OTEL_EXPORTER_OTLP_CERTIFICATE``, ``OTEL_SERVICE_NAME``,
    ``OTEL_RESOURCE_ATTRIBUTES`` and others.  A collector that does not answer is logged, and stops nothing.

    Args:
        url: As :func:`endpoint` returns it.
        instruments: The values.
        application: ``follow`` or ``watch``.
        version: Of Occurs.

    Raises:
        ResourceProblem: If the packages of OpenTelemetry are not installed (``not-installed``).
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
    except ImportError as error:
        hint = "pip install 'occurs[opentelemetry]'"
        text = "--otlp needs the packages of OpenTelemetry, which are not installed"
        raise ResourceProblem.of("not-installed", text, hint=hint) from error
    known = Resource.create().attributes  # what the variables say has precedence
    own = {"service.version": version}
    if str(known.get("service.name", "unknown_service")).startswith("unknown_service"):
        own["service.name"] = f"occurs-{application}"
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=url))
    provider = MeterProvider([reader], Resource.create(own), shutdown_on_exit=False)
    try:
        meter = provider.get_meter("occurs", version)
        for metric, _ in instruments.read():
            counter = metric.kind == COUNTER
            make = meter.create_observable_counter if counter else meter.create_observable_gauge
            unit = next((u for end, u in _UNITS.items() if metric.name.endswith(end)), "1")
            make(metric.name, [_observed(instruments, metric)], unit, metric.help)
        yield
    finally:
        provider.shutdown(timeout_millis=PATIENCE * 1000)


def _observed(instruments: Instruments, metric: Metric) -> Callable[[CallbackOptions], Iterable[Observation]]:
    """The current values of a metric, for its instrument."""
    from opentelemetry.metrics import Observation

    def observe(_: Any) -> list[Observation]:
        values = next(v for m, v in instruments.read() if m is metric)
        return [Observation(value, dict(zip(metric.labels, labels))) for labels, value in sorted(values.items())]

    return observe
