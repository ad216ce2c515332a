"""Spark Connect: programs of every way to split, in a process of their own, as its session is another kind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from hostcases import bare, here, labelled, on_spark
from test_spark_edges import ALONE, FREE, KEYED, LAST, many, modes
from test_windows_spark import QUIET, same, times
import occurs
from occurs.connect.spark import local_session
from occurs.verify.compare import difference

spark = local_session()
assert "connect" in type(spark).__module__, type(spark)
stages = KEYED + "\\ndefine N(V, C) from CE() where V = CE.V, C = COUNT(CE(V = CE.V)) within 9 ms from CE"
stages += "\\ndefine O(V) from A(V = $v) and last N(V = $v) within 9 ms from A where V = N.C"
rules = ALONE + "\\ndefine D(V) from B() and first A() within 9 ms from B where V = A.V consuming A"
timers = "define T(N) from Timer(S%1 == 0) where N = COUNT(A()) within 2 s from Timer"
tables = many(40, 300)
seen = set()
for text in (KEYED, LAST, FREE, ALONE, rules, stages, timers, KEYED + "\\n" + LAST + "\\n" + FREE):
    seen |= set(modes(text, tables, time_unit="ms"))
    program = occurs.parse(text)
    expected = here(program, tables, time_unit="ms", because=True)
    found = on_spark(spark, program, tables, time_unit="ms", because=True, partitions=3)
    assert expected
    assert labelled(found) == labelled(expected), text
    assert difference(bare(expected), bare(found)) is None, text
assert seen == {"keyed", "slices", "free", "single", "rules"}, seen
wrong = occurs.parse("define CE(V) from A() where V = A.V + 9223372036854775807")
try:
    on_spark(spark, wrong, tables, time_unit="ms")
except occurs.OccursError as error:
    assert error.kind == "overflow", error
else:
    raise AssertionError("an overflow was not noticed")
same(spark, occurs.parse(QUIET, "phenesthe"), times(a=[7, 20], b=[12]), time_unit="s", window=10, step=5)
print("all equal")
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.spark
def test_spark_connect() -> None:
    env = {**os.environ, "SPARK_REMOTE": "local[2]"}
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.endswith("all equal\n"), done.stderr[-3000:]
