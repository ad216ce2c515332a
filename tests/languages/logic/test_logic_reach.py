"""Operators that look back within one another, with a value that comes later: what is kept of the states in between."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import occurs

HEAD = "state s(a int);\nevent f;\nevent g;\n"


def looking_back(rng: random.Random, depth: int) -> str:
    """A formula in which x is free."""
    if depth == 0:
        return rng.choice(("x = a", "x >= a", "f and x >= a", "g and x <= a", "t0 - 4 ticks <= time and x >= a"))
    inner = looking_back(rng, depth - 1)
    if rng.random() < 0.5:
        return f"lasttime ({inner})"
    bound = rng.choice(("", "[=2]", "[<=3]", "[<=7]", "[1,5]"))
    left = rng.choice(("true", "x >= a", "f or x >= 1"))
    return rng.choice((f"({left}) since{bound} ({inner})", f"previously{bound} ({inner})"))


def differences(seed: int) -> tuple[int, tuple[object, ...]]:
    """How many detections there are, and what engine and reference do not both have."""
    rng = random.Random(seed)
    body = looking_back(rng, rng.randint(2, 4))
    program = occurs.parse(f"{HEAD}past trigger t: [x <- a] [t0 <- time] ({body}) continue;", language="ftl")
    time, rows = 0, []
    for _ in range(rng.randint(5, 14)):
        time += rng.choice((1, 1, 2, 3, 8))
        rows += [{"type": t, "time": time, "a": rng.randrange(3) if t == "s" else None} for t in rng.sample("sfg", 2)]
    schema = pa.schema([("type", pa.string()), ("time", pa.int64()), ("a", pa.int64())])
    found = program.verify(pa.Table.from_pylist(rows, schema))
    return sum(mine for mine, _ in found.counts.values()), found.differences


@pytest.mark.parametrize("group", range(4))
def test_engine_and_reference_agree(group: int) -> None:
    found = [differences(seed) for seed in range(50 + 10 * group, 60 + 10 * group)]
    assert [f for _, f in found if f] == []
    assert sum(n for n, _ in found) > 5
