"""``--monitor``: real scrapes over HTTP of `occurs follow` and `occurs watch`; logs as JSON; SIGTERM."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import sqlite3
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from occurs.cli import main
from occurs.cli._messages import as_json, logging_to_stderr, say
from occurs.errors import ResourceProblem, UsageProblem
from occurs.monitoring.instruments import FOLLOW, METRICS, SHARED, WATCH, Health, Instruments, Monitor
from occurs.monitoring.prometheus import address, served

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        raise
    pytest.skip("prometheus-client is not installed: pip install 'occurs[monitoring]'", allow_module_level=True)

#: seconds after which a process that does not get on is stopped, and its test fails
PATIENCE = 120
Samples = dict[tuple[str, tuple[str, ...]], float]


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def scrape(url: str) -> Samples:
    """The samples by name and label values."""
    found = {}
    for family in text_string_to_metric_families(get(f"{url}/metrics")[1]):
        for sample in family.samples:
            found[sample.name, tuple(sample.labels.values())] = sample.value
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def scraped(url: str, until: Callable[[Samples], bool]) -> Iterator[dict[str, object]]:
    """While the body runs: scrape until ``until`` is true, ask for health and readiness, and send SIGTERM."""
    seen: dict[str, object] = {}
    over = threading.Event()

    def look() -> None:
        found: Samples = {}
        end = time.monotonic() + PATIENCE
        while not over.wait(0.05):
            with suppress(OSError):  # it does not listen yet
                found = scrape(url)
            if until(found) or time.monotonic() > end:
                seen.update(samples=found, health=get(f"{url}/healthz"), ready=get(f"{url}/readyz"))
                os.kill(os.getpid(), signal.SIGTERM)
                return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def test_every_metric_has_one_name_and_one_kind() -> None:
    assert len(METRICS) == len((*SHARED, *FOLLOW, *WATCH))
    assert all(
        m.name.startswith("occurs_") and not m.name.endswith("_total") and m.help.endswith(".")
        for m in METRICS.values()
    )


ROOT = Path(__file__).parents[2]


def test_the_dashboard_has_metrics_that_exist() -> None:
    board = json.loads((ROOT / "examples/deploy/dashboard.json").read_text())
    used = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"[a-z]+(?:_[a-z]+)+", target["expr"])
    }
    assert len(used) > 10
    assert {n for n in used if n.startswith("occurs_")} <= {m.exposed for m in METRICS.values()}
    assert {n for n in used if not n.startswith("occurs_")} == {"process_resident_memory_bytes"}
    assert len({p["id"] for p in board["panels"]}) == len(board["panels"])


def lost(given: Any, kept: Any, at: str = "$") -> Iterator[str]:
    """The places of JSON that another one lacks or has otherwise."""
    if isinstance(given, dict) and isinstance(kept, dict):
        yield from (f"{at}.{name}" for name in given.keys() - kept.keys())
        for name in given.keys() & kept.keys():
            yield from lost(given[name], kept[name], f"{at}.{name}")
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for n, pair in enumerate(zip(given, kept, strict=True)):
            yield from lost(*pair, f"{at}[{n}]")
    elif given != kept:
        yield at


def test_the_dashboard_has_the_schema_of_grafana() -> None:
    """Grafana's own models, made from its schema, read the dashboard and lose nothing of it."""
    plugins.register_default_plugins()
    board = json.loads((ROOT / "examples/deploy/dashboard.json").read_text())
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    assert list(lost(board, read)) == []
    board["panels"][0]["gridPos"]["width"] = 12
    assert list(lost(board, read)) == ["$.panels[0].gridPos.width"]


def test_the_guide_lists_every_metric() -> None:
    page = (ROOT / "docs/guides/monitoring.md").read_text()
    listed = set(re.findall(r"^\| `(occurs_\w+)", page, re.MULTILINE))
    assert listed == {m.exposed for m in METRICS.values()}


def test_health_readiness_and_metrics_are_served() -> None:
    monitor = Monitor.of("follow", "1.2")
    monitor.instruments.add("occurs_detections", 2, "Fire")
    monitor.instruments.add("occurs_detections", 3, "Fire")
    monitor.instruments.replace("occurs_past_rows", {"Smoke": 4})
    monitor.instruments.replace("occurs_past_rows", {"Temp": 5})
    with served(("127.0.0.1", 0), monitor.instruments, monitor.health) as url:
        assert get(f"{url}/healthz") == (200, "ok\n")
        assert get(f"{url}/readyz") == (503, "not ready\n")
        monitor.health.ready = True
        assert get(f"{url}/readyz") == (200, "ready\n")
        monitor.health.patience = -1
        assert get(f"{url}/healthz") == (503, "no progress\n")
        assert get(f"{url}/readyz")[0] == 503
        assert get(f"{url}/nothing")[0] == 404
        found = scrape(url)
        asked = urllib.request.Request(f"{url}/metrics", headers={"Accept": "application/openmetrics-text"})
        with urllib.request.urlopen(asked, timeout=10) as answer:
            assert answer.read().endswith(b"# EOF\n")
    assert found["occurs_info", ("follow", "1.2")] == 1
    assert found["occurs_detections_total", ("Fire",)] == 5
    assert found["occurs_events_total", ()] == 0
    assert [key for key in found if key[0] == "occurs_past_rows"] == [("occurs_past_rows", ("Temp",))]
    assert found["process_resident_memory_bytes", ()] > 0
    with pytest.raises(OSError, match="refused"):
        get(f"{url}/healthz")


def test_addresses() -> None:
    assert address("9464") == ("127.0.0.1", 9464)
    assert address("0.0.0.0:80") == ("0.0.0.0", 80)
    assert address("[::1]:80") == ("::1", 80)
    for wrong in ("", "x", "host:", "1:2:x", "70000"):
        with pytest.raises(UsageProblem, match=r"\[HOST:\]PORT"):
            address(wrong)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = ("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(ResourceProblem, match="cannot listen"), served(where, Instruments(SHARED), Health()):
            pass


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


WATCHED = ("watch", "high.ftl", "--database", "sqlite:x.db")


def test_a_watch_is_scraped_and_drains_on_sigterm(database: sqlite3.Connection) -> None:
    assert run(*WATCHED, "--install")[0] == 0
    for link, load in (("a", 20), ("b", 5), ("c", 30)):
        database.execute("insert into traffic values (?, ?)", (link, load))
        database.commit()
    port = free_port()

    def done(found: Samples) -> bool:
        return found.get(("occurs_detections_total", ("High",))) == 2 and ("occurs_state_rows", ()) in found

    with scraped(f"http://127.0.0.1:{port}", done) as seen:
        status, out, err = run(*WATCHED, "--monitor", f"127.0.0.1:{port}", "--log-format", "json")
    database.close()
    assert status == 0
    assert len(out.splitlines()) == 2
    samples = seen["samples"]
    assert isinstance(samples, dict)
    # changes of the same millisecond are one state
    assert 1 <= samples["occurs_states_total", ()] <= samples["occurs_transactions_total", ()] <= 3
    assert samples["occurs_failed_actions_total", ()] == 0
    assert 0 <= samples["occurs_lag_seconds", ()] < 600
    assert 0 <= samples["occurs_detection_lag_seconds", ("High",)] < 600
    assert samples["occurs_state_rows", ()] > 0
    assert samples["occurs_definition_state_rows", ("High",)] > 0
    assert (seen["health"], seen["ready"]) == ((200, "ok\n"), (200, "ready\n"))
    lines = [json.loads(line) for line in err.splitlines()]
    assert {line["logger"] for line in lines} == {"occurs.watch"}
    messages = [line["message"] for line in lines]
    assert f"metrics are at http://127.0.0.1:{port}/metrics" in messages
    assert "2 detections (High: 2)" in messages[-1]
    assert "a is high" in messages


def test_errors_are_json_too(database: sqlite3.Connection) -> None:
    database.close()
    status, _, err = run(*WATCHED, "--monitor", "x", "--log-format", "json", "--log-level", "error")
    (line,) = err.splitlines()
    one = json.loads(line)
    assert (status, one["level"], one["kind"]) == (2, "error", "bad-option")
    assert one["message"].startswith("error[bad-option]: --monitor x")


def test_log_records_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    record = logging.makeLogRecord({"name": "occurs.x", "levelname": "INFO", "msg": "a %s", "args": ("b",), "rows": 3})
    record.created = 0.5
    wanted = {"time": "1970-01-01T00:00:00.500Z", "level": "info", "logger": "occurs.x", "message": "a b", "rows": 3}
    assert json.loads(as_json(record)) == wanted
    with logging_to_stderr("occurs.follow", "text", "warning"):
        say("not shown")
        say("shown", logging.WARNING)
        logging.getLogger("occurs.other").error("shown, too")
    say("as before")
    assert capsys.readouterr().err == "shown\nshown, too\nas before\n"


@pytest.mark.spark
@pytest.mark.slow
def test_a_follower_is_scraped_and_drains_on_sigterm(here: Path, spark: object) -> None:
    collecting = pytest.importorskip("collector", exc_type=ImportError).collecting
    (here / "in").mkdir()
    rows = "Temp,1,a,50\nTemp,1,b,20\nSmoke,2,a,\nSmoke,2,b,\nDoor,9,a,\n"
    (here / "in" / "a.csv").write_text(f"type,time,Area,Value\n{rows}")
    port = free_port()
    words = ["follow", "fire.tesla", "--checkpoint", "cp", "--events", "in", "--time-unit", "s", "--out", "out"]
    words += ["--buckets", "1", "--trigger", "100ms"]
    words += ["--monitor", str(port), "--log-format", "json", "--log-level", "debug"]
    with collecting() as collector:
        words += ["--otlp", collector.url]
        frontier = ("occurs_frontier_timestamp_seconds", ())
        with scraped(f"http://127.0.0.1:{port}", lambda s: s.get(frontier) == 8) as seen:
            status, _, err = run(*words)
    assert collector.points["occurs_detections", ("Fire",)] == 1
    assert collector.points["occurs_events", ()] == 5
    assert collector.points["occurs_frontier_timestamp_seconds", ()] == 8
    assert status == 0, err
    samples = seen["samples"]
    assert isinstance(samples, dict)
    assert samples["occurs_detections_total", ("Fire",)] == 1
    assert samples["occurs_frontier_timestamp_seconds", ()] == 8
    assert samples["occurs_newest_event_timestamp_seconds", ()] == 9
    assert samples["occurs_lag_seconds", ()] == 1
    assert samples["occurs_batches_total", ()] == 1
    assert samples["occurs_past_rows", ("Temp",)] > 0
    assert samples["occurs_definition_state_rows", ("Fire",)] >= 0
    assert samples["occurs_state_rows", ()] >= samples["occurs_past_rows", ("Temp",)]
    assert samples["occurs_last_batch_timestamp_seconds", ()] == pytest.approx(time.time(), abs=600)
    assert (seen["health"], seen["ready"]) == ((200, "ok\n"), (200, "ready\n"))
    lines = [json.loads(line) for line in err.splitlines()]
    (batch,) = (line for line in lines if line["message"] == "micro-batch 0 is done")
    assert (batch["level"], batch["figures"]["found"]) == ("debug", {"Fire": 1})
    assert lines[-1]["message"].startswith("5 events read, 1 detection (Fire: 1) in 1 micro-batch")
