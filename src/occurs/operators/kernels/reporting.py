"""Rows of several definitions in their order, with values for codes (phenesthe.md, section 5)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import List, kernel, types
from occurs.operators.kernels.blocks import _BLOCK
from occurs.operators.kernels.intervals import _OUT
from occurs.operators.kernels.texts import _STORE

#: columns of ``heads``: the definition, the row of its block, and what the codes there stand for
OF, ROW, KIND = range(3)
NUMBER, TEXT = range(2)
_BLOCKS = types.ListType(_BLOCK)


@kernel(types.int64(_OUT, _STORE, types.int64, types.int64))
def _compared(ends: np.ndarray, store: np.ndarray, one: int, other: int) -> int:
    """Less than 0, 0, or more, as a text comes before another one, byte by byte."""
    first, second = ends[one], ends[other]
    n, m = ends[one + 1] - first, ends[other + 1] - second
    for i in range(min(n, m)):
        if store[first + i] != store[second + i]:
            return int(store[first + i]) - int(store[second + i])
    return n - m


@kernel(
    types.boolean(_BLOCK, _BLOCK, types.int64, types.int64, _OUT, _OUT, _STORE, types.int64, types.int64),
)
def _later(
    rows: np.ndarray, heads: np.ndarray, first: int, last: int, numbers: np.ndarray, ends: np.ndarray,
    store: np.ndarray, one: int, other: int,
) -> bool:  # fmt: skip
    """Whether a row comes behind another one."""
    for k in range(rows.shape[0] - 2, rows.shape[0]):
        if rows[k, one] != rows[k, other]:
            return rows[k, one] > rows[k, other]
    for h in range(first, last):
        a, b = rows[heads[h, ROW], one], rows[heads[h, ROW], other]
        if a == b:
            continue
        if heads[h, KIND] == NUMBER:
            return numbers[a] > numbers[b]
        return _compared(ends, store, a, b) > 0
    return False


@kernel(
    _OUT(_BLOCK, _BLOCK, types.int64, types.int64, _OUT, _OUT, _STORE),
)
def _order(
    rows: np.ndarray, heads: np.ndarray, first: int, last: int, numbers: np.ndarray, ends: np.ndarray,
    store: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The rows in the order of (start, end, values): merged from short stretches that are sorted by insertion."""
    n, step = rows.shape[1], 8
    order = np.arange(n)
    for begin in range(0, n, step):
        for p in range(begin + 1, min(begin + step, n)):
            row, q = order[p], p
            while q > begin and _later(rows, heads, first, last, numbers, ends, store, order[q - 1], row):
                order[q] = order[q - 1]
                q -= 1
            order[q] = row
    while step < n:
        other = np.empty(n, np.int64)
        for begin in range(0, n, 2 * step):
            middle, end = min(begin + step, n), min(begin + 2 * step, n)
            i, j = begin, middle
            for p in range(begin, end):
                if j >= end or (
                    i < middle and not _later(rows, heads, first, last, numbers, ends, store, order[i], order[j])
                ):
                    other[p] = order[i]
                    i += 1
                else:
                    other[p] = order[j]
                    j += 1
        order, step = other, 2 * step
    return order


@kernel(
    types.Tuple((_OUT, _OUT, _OUT))(_BLOCKS, _OUT, _BLOCK, _OUT, _OUT, _OUT, _STORE),
)
def reported(
    closed: List, outputs: np.ndarray, heads: np.ndarray, lasting: np.ndarray, numbers: np.ndarray, ends: np.ndarray,
    store: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Per definition, of the block ``outputs`` says, in the order of its rows: starts, ends if it is ``lasting``, and
    its columns that are numbers, one behind the other; the codes of all columns that are texts; and how many rows each
    definition has.

    ``heads``: the columns of all definitions, in their order.  ``numbers``: by code; ``ends``, ``store``: texts by
    code (see :mod:`occurs.operators.kernels.texts`).
    """
    count = np.zeros(len(outputs), np.int64)
    size = texts = 0
    for k in range(len(outputs)):
        count[k] = closed[outputs[k]].shape[1]
        size += count[k] * (1 + lasting[k])
    for h in range(len(heads)):
        if heads[h, KIND] == NUMBER:
            size += count[heads[h, OF]]
        else:
            texts += count[heads[h, OF]]
    out, codes = np.empty(size, np.int64), np.empty(texts, np.int64)
    at = text = first = 0
    for k in range(len(outputs)):
        rows, n = closed[outputs[k]], count[k]
        last = first
        while last < len(heads) and heads[last, OF] == k:
            last += 1
        if n:
            order = _order(rows, heads, first, last, numbers, ends, store)
            for row in range(rows.shape[0] - 2, rows.shape[0] - 1 + lasting[k]):
                for p in range(n):
                    out[at + p] = rows[row, order[p]]
                at += n
            for h in range(first, last):
                if heads[h, KIND] == NUMBER:
                    for p in range(n):
                        out[at + p] = numbers[rows[heads[h, ROW], order[p]]]
                    at += n
                else:
                    for p in range(n):
                        codes[text + p] = rows[heads[h, ROW], order[p]]
                    text += n
        first = last
    return out, codes, count
