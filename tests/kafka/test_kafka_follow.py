"""``occurs follow`` from topics to topics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from occurs.cli import main
from occurs.connect.kafka.sink import KafkaSink
from occurs.errors import ResourceProblem
from occurs.hosts.stream import batches

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


def test_many_detections_are_written_by_tasks_once(spark, kafka, topic, send, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fire.tesla").write_text(RULES)
    send(*(event(*e) for n in range(40) for e in (("Temp", n, f"a{n}", 50 + n), ("Smoke", n + 1, f"a{n}"))))
    address = f"kafka://{kafka.server}/{topic}"
    whole = ["follow", "fire.tesla", "-e", address, "--checkpoint", "cp", "--time-unit", "s", "--ended"]
    whole += ["--out", f"{address}-out", "--label", "--metrics", "m.jsonl"]
    append = KafkaSink._append

    def dies(self, batch_id, rows):
        """A part of the rows is written; then the run ends."""
        append(self, batch_id, rows.where("rand(7) < 0.5"))
        raise ResourceProblem.of("unreachable", "the broker went away")

    # the tasks write a part, the next run makes up for it: the tasks again, then the driver
    for most in (0, 0, 1 << 26):
        monkeypatch.setattr(batches, "MOST", most)
        monkeypatch.setattr(KafkaSink, "_append", append if most else dies)
        done = CliRunner().invoke(main, whole)
        assert ("the broker went away" in done.stderr) == (most == 0), done.stderr
    found = read(spark, kafka.server, f"{topic}-out")
    fires = [json.loads(value) for value, _ in found]
    assert sorted((f["time"], f["Area"], f["Value"]) for f in fires) == [(n + 1, f"a{n}", 50 + n) for n in range(40)]
    assert len({headers["occurs-label"] for _, headers in found}) == 40
    assert sum(json.loads(line)["found"]["Fire"] for line in Path("m.jsonl").read_text().splitlines()) == 40


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
