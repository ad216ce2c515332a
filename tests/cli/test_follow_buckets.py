"""``occurs follow --buckets``, another number at every start, and ``--divide``: the detections of one run."""

from __future__ import annotations

from itertools import pairwise

import pytest

from .conftest import RULES
from .test_follow import FOLLOW, HEAD, SECONDS, answer, interrupt, many, meanwhile, move_in, rows

#: a second rule with the same key, which can be in another bucket
KEYED = """
define Warm(Area) from Temp(Area = $a, Value > 45) and last Smoke(Area = $a) within 9 s from Temp where Area = $a
"""
#: beside the keyed rule one whose state is in a single range, and a second stage
MORE = """
define Any(N) from Smoke() and last Temp() within 3 s from Smoke where N = Temp.Value
define Both(Area) from Any(N > 50) and last Fire() within 9 s from Any where Area = Fire.Area
"""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "ranges", "divide", "steps"),
    [(RULES + KEYED, 4, 7, (1, 2)), pytest.param(RULES + MORE, 16, 1, (4, 16, 3), marks=pytest.mark.long)],
    ids=["one stage", "two stages"],
)
def test_buckets_change_between_starts(occurs, here, spark, rules, ranges, divide, steps):
    (here / "fire.tesla").write_text(rules)
    lines = many(60 * len(steps))
    (here / "all.csv").write_text(HEAD + "\n".join(lines) + "\n")
    expected = answer(occurs, "--events", "all.csv", *SECONDS)
    assert len({r["type"] for r in expected}) == rules.count("define")
    (here / "in").mkdir()
    told = ""
    shared = ("--events", "in", "--out", "out", "--trigger", "50 ms", *SECONDS, "--ranges", str(ranges))
    for number, buckets in enumerate(steps):
        part = lines[number * 60 : (number + 1) * 60]
        move_in(here / "in", f"{number}.csv", HEAD + "\n".join(part) + "\n")
        given = (*FOLLOW, *shared, "--metrics", "m.jsonl", "--buckets", str(buckets))
        if buckets == steps[-1]:
            done = occurs(*given, "--ended", "--divide", str(divide + 1))
            assert (done.status, f"--divide cannot change: it was {divide}, not {divide + 1}" in done.err) == (2, True)
            done = occurs(*given, "--ended")
        else:
            given = given if number else (*given, "--divide", str(divide))
            with meanwhile(here / "m.jsonl", [((number + 1) * 60, interrupt)]):
                done = occurs(*given)
        assert done.status == 0, done.err
        told += done.err
    for before, after in pairwise(steps):
        assert f"the state in this checkpoint moved from {before} to {after} buckets" in told
    assert rows(here / "out") == expected
