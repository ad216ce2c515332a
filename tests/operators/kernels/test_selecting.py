"""Kernels that many rules share: sets of rules as bits, and texts that repeat."""

from __future__ import annotations

import operator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occurs.operators.kernels.selecting import MOST, compared
from occurs.operators.kernels.texts import repeated

OPERATORS = (operator.gt, operator.ge, operator.lt, operator.le, operator.eq, operator.ne)
SMALL = st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1])

COMPILED = settings(deadline=None)  # the first example waits for the compiler


@pytest.mark.parametrize("op", range(6))
@COMPILED
@given(values=st.lists(SMALL, max_size=8), limits=st.lists(SMALL, min_size=1, max_size=MOST))
def test_a_value_is_compared_with_the_limit_of_every_rule(op: int, values: list[int], limits: list[int]) -> None:
    order = np.argsort(np.array(limits), kind="stable")
    sets = compared(np.array(values, np.int64), np.array(limits, np.int64)[order], order, op)
    expected = [sum(1 << r for r, limit in enumerate(limits) if OPERATORS[op](v, limit)) for v in values]
    assert sets.tolist() == expected


@COMPILED
@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 20)), max_size=6))
def test_texts_repeat_one_after_the_other(runs: list[tuple[str, int]]) -> None:
    texts = [text.encode() for text, _ in runs]
    lengths = np.array([len(t) for t in texts], np.int64)
    counts = np.array([count for _, count in runs], np.int64)
    data, offsets = repeated(np.frombuffer(b"".join(texts), np.uint8), lengths, counts)
    column = pa.StringArray.from_buffers(int(counts.sum()), pa.py_buffer(offsets), pa.py_buffer(data))
    column.validate(full=True)
    assert column.to_pylist() == [text for text, count in runs for _ in range(count)]
