"""Pipes on Structured Streaming: the answer of the batch, over micro-batches in disorder, restarts and the end."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filestream import cut, disordered, follow
from hostcases import here, labelled

import occurs

pytestmark = [pytest.mark.spark, pytest.mark.long]

TEXT = """
LET x BE Read.v.
DEFINE Total AS SLICE EACH Read WITH (THE SUM OF *.v) ON k.
DEFINE Mean AS GET (THE AVERAGE OF *) FROM x ON A WINDOW OF 5.
DEFINE Big WITH ABOUT AS SELECT v, k FROM Read WHERE v > 8.
DEFINE Sums AS x + EVERY 4 TH OF x.
DEFINE High WITH ABOUT AS F (x > 10) AT END FINITE.
DEFINE Turns AS MACHINE ON Read WITH $n := 0 START low
  IN low OUTPUT $n: WHEN v > 6 GO TO high SET $n := $n + 1;
  IN high OUTPUT $n: WHEN v < 3 GO TO low; END.
DEFINE Tags AS UNPACK Read.tags.
DEFINE Last AS THE LAST OF x.
"""


def reads(count: int) -> pa.Table:
    """Values of three keys, a row a second, with lists."""
    draw = random.Random(1)
    columns = {
        "type": ["Read"] * count,
        "time": list(range(count)),
        "v": [draw.randint(0, 12) for _ in range(count)],
        "k": [draw.choice("abc") for _ in range(count)],
        "tags": [["x"] * (n % 3) for n in range(count)],
    }
    return pa.table(columns)


def test_pipes_with_and_without_a_key(live: Any, tmp_path: Path) -> None:
    """The end is a start of its own: what waits goes through the checkpoint."""
    table, options = reads(60), {"time_unit": "s", "because": True, "partitions": 2}
    program = occurs.parse(TEXT, "esql")
    got = follow(live, program, cut(disordered(table, 5, 1), 3), tmp_path, watermark=5, **options)
    wanted = here(program, table, time_unit="s", because=True)
    assert labelled(got.found) == labelled(wanted)
    assert {e.type for e in wanted} == {"Total", "Mean", "Big", "Sums", "High", "Turns", "Tags", "Last"}
    assert (got.total("rows"), got.total("late"), got.runs) == (60, 0, 2)
