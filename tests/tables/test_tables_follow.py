"""``occurs follow`` from a Delta table into Delta and Iceberg tables, killed between the table's commit and Spark's."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tables")]
FIRST = """
    select 'Temp' as type, timestamp '2024-01-05 09:00:00Z' as time, 'kitchen' as Area, 50 as Value
    union all select 'Smoke', timestamp '2024-01-05 09:04:00Z', 'kitchen', null
    union all select null, timestamp '2024-01-05 09:05:00Z', 'kitchen', 1
    union all select 'Door', timestamp '2024-01-05 09:20:00Z', 'hall', null
"""
SECOND = """
    select 'Temp', timestamp '2024-01-05 10:00:00Z', 'hall', 60
    union all select 'Smoke', timestamp '2024-01-05 10:01:00Z', 'hall', null
    union all select null, timestamp '2024-01-05 10:02:00Z', 'hall', 2
"""


def numbers(folder: Path) -> set[int]:
    """The micro-batches that Spark has noted."""
    return {int(p.name) for p in folder.glob("[0-9]*")}


def test_a_killed_follower_writes_each_detection_once(console, environment):
    console.sql(f"create table delta.`{console.folder}/live.delta` using delta as {FIRST}")
    options = ("--checkpoint", "cp", "--out", "delta:fires.delta", "--bad", "iceberg:lake.bad", "--label")
    follow = ("follow", "fire.tesla", "--events", "delta:live.delta", *options)
    catalog = {"spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog"}
    catalog |= {"spark.sql.catalog.lake.type": "hadoop", "spark.sql.catalog.lake.warehouse": f"{console.folder}/lake"}
    (console.folder / "spark-defaults.conf").write_text("".join(f"{k} {v}\n" for k, v in catalog.items()))
    command = [sys.executable, str(Path(__file__).with_name("dying.py")), *follow]
    variables = {**environment, "SPARK_CONF_DIR": str(console.folder)}
    died = subprocess.run(command, cwd=console.folder, env=variables, capture_output=True, text=True, timeout=300)
    assert died.returncode == -signal.SIGKILL, died.stderr
    begun, done = (numbers(console.folder / "cp" / "spark" / kind) for kind in ("offsets", "commits"))
    assert begun - done == {max(begun)}  # the table has a micro-batch that Spark will repeat
    fires, bad = f"delta.`{console.folder}/fires.delta`", "lake.bad"
    [row] = console.sql(f"select * from {fires}")
    assert len(console.sql(f"select * from {bad}")) == 1

    console.sql(f"insert into delta.`{console.folder}/live.delta` {SECOND}")
    again = console.occurs(*follow, "--ended")
    assert again.status == 0, again.err
    rows = console.sql(f"select * from {fires} order by time")
    assert [(r["type"], r["Area"], r["Value"]) for r in rows] == [("Fire", "kitchen", 50), ("Fire", "hall", 60)]
    assert rows[0] == row
    assert len({r["label"] for r in rows}) == 2
    assert len(console.sql(f"select * from {bad}")) == 2
