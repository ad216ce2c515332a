"""Values read where they are, against a dictionary: numbers and texts, new ones with and without room for them."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.values import Values
from occurs.operators.kernels.reading import NUMBERS, PLAIN, TEXTS, read_all

NUMBER_VALUES = [0, 1, -1, 7, 2**62, -(2**63), 2**63 - 1, *range(100, 400)]
TEXT_VALUES = ["", "a", "ab", "é", "x" * 200, *map(str, range(300))]


@pytest.mark.parametrize("seed", range(40))
def test_values_get_their_codes(seed: int) -> None:
    rng = random.Random(seed)
    values, known = Values(), {NUMBERS: dict[object, int](), TEXTS: dict[object, int]()}
    for _ in range(rng.randrange(1, 8)):
        spans, sources, held, wanted = [], [], [], []
        widths = rng.choices((0, 1, 2), k=3)
        for width in widths:
            n = rng.choice((0, 1, 6, 150))
            first = rng.randrange(3)
            spans += [first, n]
            for _ in range(width):
                if rng.random() < 0.5:
                    column = Column.of(pa.array(rng.choices(NUMBER_VALUES, k=first + n), pa.int64()), Type.INT)
                    sources += [NUMBERS, column.values.ctypes.data, 0]
                    given = column.values.tolist()[first:]
                    wanted.append((NUMBERS, given))
                else:
                    column = Column.of(pa.array(rng.choices(TEXT_VALUES, k=first + n), pa.string()), Type.STRING)
                    _, offsets, data = column.arrow.buffers()
                    sources += [TEXTS, offsets.address, data.address if data is not None else 0]
                    wanted.append((TEXTS, column.arrow.to_pylist()[first:]))
                held.append(column)
            times = np.arange(first + n, dtype=np.int64)
            sources += [PLAIN, times.ctypes.data, 0]
            held.append(times)
            wanted.append((PLAIN, times.tolist()[first:]))
        while True:
            given_widths, spans_, sources_ = (np.array(a, np.int64) for a in (widths, spans, sources))
            marks, counts, unknown = read_all(given_widths, spans_, sources_, *values.dictionaries())
            assert counts.tolist() == spans[1::2]
            if not len(unknown):
                break
            # what there is no room for is told, and known from then on
            for kind, source, value in unknown.reshape(-1, 3).tolist():
                if kind == NUMBERS:
                    values.encode(Column(Type.INT, np.array([value]), None))
                else:
                    column = held[source]
                    assert isinstance(column, Column)
                    values.encode(column.slice(value, value + 1))
        at = 0
        for kind, column_values in wanted:
            codes = marks[at : at + len(column_values)].tolist()
            at += len(column_values)
            if kind == PLAIN:
                assert codes == column_values
                continue
            for code, value in zip(codes, column_values):
                assert known[kind].setdefault(value, code) == code
        assert at == len(marks)
    for kind, type in ((NUMBERS, Type.INT), (TEXTS, Type.STRING)):
        codes = list(known[kind].values())
        assert len(set(codes)) == len(codes)
        assert values.decode(np.array(codes, np.int64), type).arrow.to_pylist() == list(known[kind])


def test_numbers_that_are_not_all_ints_have_the_codes_that_they_had() -> None:
    values = Values()
    first = values.encode(Column.of(pa.array([5, 7, 5]), Type.INT)).tolist()
    assert values.all_ints()
    mixed = values.encode(Column.of(pa.array([7.0, 2.5, 5.0]), Type.FLOAT)).tolist()
    assert not values.all_ints()
    assert (first, mixed) == ([0, 1, 0], [1, 2, 0])
    assert values.decode(np.array([2, 1, 0]), Type.FLOAT).arrow.to_pylist() == [2.5, 7.0, 5.0]
    assert values.decode(np.array([1, 0]), Type.INT).arrow.to_pylist() == [7, 5]
