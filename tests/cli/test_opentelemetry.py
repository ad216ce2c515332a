"""``--otlp``: metrics as a collector receives them, in the messages of the protocol itself."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from occurs.cli import main
from occurs.errors import ResourceProblem, UsageProblem
from occurs.monitoring.instruments import COUNTER, METRICS, Monitor
from occurs.monitoring.opentelemetry import configured, endpoint, sent

try:
    from collector import Collector, collecting
except ImportError:
    if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        raise
    pytest.skip("OpenTelemetry is not installed: pip install 'occurs[opentelemetry]'", allow_module_level=True)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    for name in [n for n in os.environ if n.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    with collecting() as server:
        yield server


def test_a_collector_receives_every_metric(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret")
    monitor = Monitor.of("follow", "1.2")
    with sent(endpoint(collector.url), monitor.instruments, "follow", "1.2"):
        monitor.instruments.add("occurs_detections", 2, "Fire")
        monitor.instruments.add("occurs_batch_seconds", 1.5)
        monitor.instruments.replace("occurs_past_rows", {"Smoke": 4, "Temp": 5})
    assert collector.points["occurs_detections", ("Fire",)] == 2
    assert collector.points["occurs_past_rows", ("Temp",)] == 5
    assert collector.points["occurs_events", ()] == 0
    assert collector.points["occurs_info", ("follow", "1.2")] == 1
    [(path, headers)] = collector.heads
    assert (path, headers["api-key"]) == ("/v1/metrics", "secret")
    assert collector.resource["service.name"] == "occurs-follow"
    assert collector.resource["service.version"] == "1.2"
    for metric in collector.requests[-1].resource_metrics[0].scope_metrics[0].metrics:
        assert metric.HasField("sum") == (METRICS[metric.name].kind == COUNTER)
        assert not metric.HasField("sum") or metric.sum.is_monotonic
        assert metric.description == METRICS[metric.name].help
        assert metric.unit == ("s" if "seconds" in metric.name else "By" if "bytes" in metric.name else "1")


def test_values_are_sent_while_it_runs_under_the_name_of_the_environment(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "alarms")
    monitor = Monitor.of("watch", "1.2")
    with sent(endpoint(collector.url), monitor.instruments, "watch", "1.2"):
        for _ in range(200):
            if len(collector.requests) > 1:
                break
            threading.Event().wait(0.05)
        assert len(collector.requests) > 1
    assert collector.resource["service.name"] == "alarms"


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoint("http://h:4318") == endpoint("http://h:4318/") == "http://h:4318/v1/metrics"
    assert endpoint("https://h/otlp/v1/metrics") == "https://h/otlp/v1/metrics"
    for wrong in ("localhost:4318", "grpc://h", "", "http://"):
        with pytest.raises(UsageProblem, match="--otlp"):
            endpoint(wrong)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", raising=False)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h/base/")
    assert configured() == "http://h/base/v1/metrics"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://h/mine")
    assert configured() == "http://h/mine"


@pytest.fixture
def watched(database: sqlite3.Connection) -> list[str]:
    """The command for a database with two states that fire."""
    command = ["watch", "high.ftl", "--database", "sqlite:x.db"]
    assert CliRunner().invoke(main, [*command, "--install"]).exit_code == 0
    for link, load in (("a", 20), ("b", 5), ("c", 30)):
        database.execute("insert into traffic values (?, ?)", (link, load))
        database.commit()
    database.close()
    return [*command, "--once"]


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_watch_is_sent_to_a_collector(
    watched: list[str], collector: Collector, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "option":
        watched += ["--otlp", collector.url]
    else:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    done = CliRunner().invoke(main, watched)
    assert done.exit_code == 0, done.stderr
    assert f"metrics are sent to {collector.url}/v1/metrics" in done.stderr
    assert collector.points["occurs_detections", ("High",)] == 2
    assert collector.points["occurs_definition_state_rows", ("High",)] > 0
    assert 0 <= collector.points["occurs_lag_seconds", ()] < 600


def test_a_collector_that_does_not_answer_stops_nothing(
    watched: list[str], collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("occurs.monitoring.opentelemetry.PATIENCE", 0.2)
    done = CliRunner().invoke(main, [*watched, "--otlp", "http://127.0.0.1:9"])
    assert done.exit_code == 0, done.stderr
    assert "2 detections (High: 2)" in done.stderr


def test_without_the_packages_the_option_says_what_to_install(
    watched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.metrics", None)
    with (
        pytest.raises(ResourceProblem, match="not installed"),
        sent("http://h", Monitor.of("watch", "1").instruments, "", ""),
    ):
        pass
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    done = CliRunner().invoke(main, watched)
    assert done.exit_code == 0, done.stderr
    assert "metrics are not sent to http://127.0.0.1:9/v1/metrics: pip install 'occurs[opentelemetry]'" in done.stderr
