"""Texts and their codes against a dictionary, in columns of every shape that Arrow has for them."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.values import Texts

WORDS = ["", "a", "b", "ab", "ba", "ö", "\0", "\0\0", "a" * 300, "a" * 299 + "b", *map(str, range(200))]


@pytest.mark.parametrize("seed", range(30))
def test_equal_texts_have_one_code(seed: int) -> None:
    rng = random.Random(seed)
    texts, known = Texts(), dict[str, int]()
    for _ in range(rng.randrange(1, 12)):
        given = rng.choices(WORDS + [None] * rng.choice((0, 5)), k=rng.choice((0, 1, 5, 400)))  # type: ignore[list-item]
        array = pa.array(given, pa.string())
        start = rng.randrange(len(given) + 1)
        array, given = array.slice(start), given[start:]
        codes = texts.encode(Column.of(array, Type.STRING)).tolist()
        assert codes == [-1 if t is None else known.setdefault(t, len(known)) for t in given]
        there = pa.array([c for c in codes if c >= 0], pa.int64()).to_numpy()
        found = texts.decode(there, Type.STRING)
        assert found.arrow.to_pylist() == [t for t in given if t is not None]
        found.arrow.validate(full=True)
        assert texts.encode(found).tolist() == there.tolist()


def test_nothing_but_nulls() -> None:
    assert Texts().encode(Column.nulls(Type.STRING, 3)).tolist() == [-1, -1, -1]
