"""Rules that compare a number with constants of their own, in small and in large calls."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import occurs
from occurs.operators.sequence import automaton

SCHEMAS = "create schema A(K int, V int, F float); create schema B(K int, V int, F float);"
CONDITIONS = ("V > {n}", "V <= {n}", "V between {n} and 7", "V in [{n}:9)", "F >= {n}.5", "F < -{n}.5 or V = {n}")


def rules() -> str:
    """Thirty rules in a few shapes."""
    out = [SCHEMAS]
    for n in range(30):
        of = CONDITIONS[n % len(CONDITIONS)].format(n=n // len(CONDITIONS))
        end = "b=B(K = a.K)" if n % 2 else f"b=B(K = a.K, V > {n // 6})"
        pattern = f"every a=A({of}) -> {end} where timer:within({3 + n % 2} msec)"
        out.append(f"insert into R{n} select a.K as K, a.V as V, b.F as F from pattern [{pattern}];")
    return "\n".join(out)


def rows(rng: random.Random, n: int) -> list[dict[str, object]]:
    return [
        {
            "type": rng.choice("AB"),
            "time": at // 2,
            "K": rng.choice([1, 2, None]),
            "V": rng.choice([None, *range(10)]),
            "F": rng.choice([None, -1.5, -0.0, 0.5, 1.0, 3.5]),
        }
        for at in range(n)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_small_calls_find_what_large_ones_find(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    events, program = rows(rng, 120), occurs.parse(rules(), "epl")

    def found(pieces: list[int], tried: list[int]) -> list[dict[str, object]]:
        live, out, left = program.live(time_unit="ms"), [], list(events)
        for size, most in zip(pieces, tried, strict=True):
            monkeypatch.setattr(automaton, "TRIED", most)
            out += live.push_many(pa.Table.from_pylist(left[:size]))
            del left[:size]
        return sorted(out + live.close(), key=str)

    whole = found([120], [0])
    assert len({row["type"] for row in whole}) > 10
    assert found([120], [10**6]) == whole
    cuts = [12] * 10
    assert found(cuts, [10**6] * 10) == whole
    assert found(cuts, [rng.choice([0, 10**6]) for _ in cuts]) == whole
