"""``occurs follow`` from topics to topics."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from occurs.cli import main

pytestmark = [pytest.mark.spark, pytest.mark.slow]

RULES = """event Smoke(Area: string)
event Temp(Area: string, Value: int)
define Fire(Area, Value)
from   Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 5 min from Smoke
where  Area = $a, Value = Temp.Value
"""


def event(type, time, area, value=None):
    return json.dumps({"type": type, "time": time, "Area": area, "Value": value})


def read(spark, server, topic):
    frame = spark.read.format("kafka").option("kafka.bootstrap.servers", server).option("subscribe", topic)
    rows = frame.option("includeHeaders", "true").load().orderBy("offset").collect()
    return [(r.value.decode(), {h.key: bytes(h.value).decode() for h in r.headers or []}) for r in rows]


@pytest.mark.long
def test_topics_to_topics(spark, kafka, topic, send, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fire.tesla").write_text(RULES)
    send(
        event("Temp", 1, "a", 50), "{torn", event("Smoke", 2, "a"), event("Temp", 2, "b", "hot"), event("Door", 9, "a")
    )
    address = f"kafka://{kafka.server}/{topic}"
    out = ["--out", f"{address}-out", "--bad", f"{address}-bad", "--late", f"{address}-late"]
    whole = ["follow", "fire.tesla", "--events", address, "--checkpoint", "cp", "--time-unit", "s", *out, "--ended"]
    done = CliRunner().invoke(main, whole)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    [(value, headers)] = read(spark, kafka.server, f"{topic}-out")
    assert json.loads(value) == {"type": "Fire", "time": 2, "Area": "a", "Value": 50}
    assert headers["occurs-type"] == "Fire"
    torn, hot = sorted(read(spark, kafka.server, f"{topic}-bad"), reverse=True)
    assert torn[0] == "{torn"
    assert torn[1]["occurs-reason"] == "the value is not JSON"
    assert torn[1]["occurs-place"] == f"kafka://{topic}[0]@1"
    assert hot[1]["occurs-reason"] == "the value of `Value` is not of type int"
    assert "skipped 2 bad rows" in done.stderr
    assert "5 events read, 1 detection (Fire: 1) in " in done.stderr


@pytest.mark.long
def test_what_is_not_declared_is_learned_from_messages(spark, kafka, topic, send, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fire.tesla").write_text("".join(RULES.splitlines(keepends=True)[2:]))
    stamp = "2024-01-05T09:0{}:00Z".format
    send(event("Smoke", stamp(2), "a"), event("Temp", stamp(0), "a", 50))
    address = f"kafka://{kafka.server}/{topic}"
    whole = ["follow", "fire.tesla", "-e", address, "--checkpoint", "cp", "--watermark", "5 min", "--ended"]
    done = CliRunner().invoke(main, whole)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {"type": "Fire", "time": stamp(2), "Area": "a", "Value": 50}
