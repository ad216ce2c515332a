"""``occurs follow`` with a row pattern in SQL: the answer of ``occurs run``."""

from __future__ import annotations

import json

import pytest

from .test_follow import rows

DIPS = """
CREATE VIEW Dip AS SELECT * FROM Quote MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY time
  MEASURES FIRST(price) AS top, LAST(DOWN.price) AS low, LAST(UP.price) AS up
  PATTERN (S DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price));
"""
HEAD = "type,time,sym,price\n"
FILES = ("1,x,12 2,x,15 3,y,7 4,x,11 5,x,9", "6,y,7 7,x,13 8,y,5 9,x,16 10,x,14 11,y,6")


@pytest.mark.slow
@pytest.mark.spark
def test_a_row_pattern(occurs, here, spark):
    (here / "dips.sql").write_text(DIPS)
    (here / "in").mkdir()
    for n, text in enumerate(FILES):
        (here / "in" / f"{n}.csv").write_text(HEAD + "".join(f"Quote,{row}\n" for row in text.split()))
    shared = ("dips.sql", "--events", "in", "--time-unit", "s")
    done = occurs("follow", *shared, "--checkpoint", "cp", "--out", "out", "--ended")
    assert (done.status, done.out) == (0, ""), done.err
    whole = occurs("run", *shared, "--host", "local")
    found = rows(here / "out")
    assert sorted(map(repr, found)) == sorted(map(repr, map(json.loads, whole.out.splitlines())))
    shown = [(r["type"], r["time"], r["sym"], r["top"], r["low"], r["up"]) for r in found]
    assert shown == [("Dip", 9, "x", 15, 9, 16), ("Dip", 11, "y", 7, 5, 6)]
