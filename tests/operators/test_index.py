"""Indexes that grow in place find the rows that a new index finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from occurs.operators.frame import Index
from occurs.operators.growing import Room
from occurs.operators.kernels.row_index import group_rows

row = st.tuples(st.integers(-1, 6), st.booleans(), st.integers(0, 2))


def made(code: np.ndarray, keep: np.ndarray, time: np.ndarray, groups: int) -> Index:
    order, start = group_rows(code, groups, keep)
    return Index(order, time[order], start[:-1], start[1:])


def content(index: Index) -> list[list[tuple[int, int]]]:
    spans = zip(index.start.tolist(), index.end.tolist())
    return [[(int(index.order[p]) - index.base, int(index.time[p])) for p in range(a, b)] for a, b in spans]


@given(st.lists(st.tuples(st.lists(row, max_size=12), st.integers(0, 12)), min_size=2, max_size=10), st.booleans())
def test_grown_index_has_the_rows_of_a_new_one(calls: list[tuple[list[tuple[int, bool, int]], int]], all: bool) -> None:
    code, time = np.zeros(0, np.int64), np.zeros(0, np.int64)
    keep, nothing, groups = np.zeros(0, np.bool_), np.zeros(0, np.bool_), 0
    index, gone, now = None, code, 0
    for rows, forget in calls:
        new = np.array([c for c, _, _ in rows], np.int64)
        past, more = len(code), np.cumsum([0, *(d for _, _, d in rows)])[1:] + now
        now = int(more[-1]) if rows else now
        groups = max([groups, *(c + 1 for c, _, _ in rows)])
        code, time = np.concatenate([code, new]), np.concatenate([time, more]).astype(np.int64)
        keep = np.concatenate([keep, np.array([k for _, k, _ in rows], np.bool_)])
        fresh = made(code, nothing if all else keep, time, groups)
        if index is None:
            index = fresh
        else:
            chosen = nothing if all else keep[past:]
            before = index
            index = index.grown(gone, past, code[past:], chosen, time[past:], groups)
            assert before.spent == (len(rows) > 0 and before.room is not None)
            assert content(index) == content(fresh)
        forget = min(forget, len(code))
        gone, code, time, keep = code[:forget], code[forget:], time[forget:], keep[forget:]


def test_rows_that_come_and_go_move_few_entries() -> None:
    n, new, calls = 20_000, 500, 200
    code = np.random.default_rng(1).integers(0, 3_000, n + calls * new)
    time, everything = np.arange(len(code)), np.zeros(0, np.bool_)
    index = made(code[:n], everything, time[:n], 3_000)
    before = Room.moved
    for at in range(0, calls * new, new):
        gone, more = code[max(0, at - new) : at], slice(n + at, n + at + new)
        index = index.grown(gone, n, code[more], everything, time[more], 3_000)
    assert Room.moved - before <= 2 * calls * new + n
