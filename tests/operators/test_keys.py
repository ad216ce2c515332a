"""Codes of keys that outlive a call: equal keys have equal codes, whose values are known, also once some were freed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.keys import Keys

NUMBER = st.one_of(st.none(), st.integers(-3, 3))
TEXT = st.one_of(st.none(), st.sampled_from(["", "a", "b", "c"]))


def columns(rows: list[tuple[Any, ...]], parts: int) -> list[Column]:
    types = [(pa.int64(), Type.INT), (pa.string(), Type.STRING)][:parts]
    return [Column.of(pa.array([row[i] for row in rows], t), known) for i, (t, known) in enumerate(types)]


@pytest.mark.parametrize("nulls", [True, False])
@pytest.mark.parametrize("parts", [0, 1, 2])
@given(data=st.data())
def test_a_code_stands_for_one_key(nulls: bool, parts: int, data: st.DataObject) -> None:
    keys = Keys([Type.NULL if nulls else t for t in (Type.INT, Type.STRING)[:parts]], nulls)
    rows = st.lists(st.tuples(*(NUMBER, TEXT)[:parts]), max_size=8)
    known: dict[tuple[Any, ...], int] = {}
    for _ in range(4):
        given_rows = data.draw(rows)
        keys = keys.successor()
        codes = keys.encode(columns(given_rows, parts), len(given_rows)).tolist()
        for row, code in zip(given_rows, codes, strict=True):
            if not nulls and None in row:
                assert code == -1
            else:
                assert known.setdefault(row, code) == code
                assert tuple(v.arrow[code].as_py() for v in keys.values) == row
        assert len(set(known.values())) == len(known)
        assert keys.size == max(len(known), 1 if not parts else 0)
        if known and parts and data.draw(st.booleans()):  # some are freed
            left = sorted(data.draw(st.sets(st.sampled_from(sorted(known.values())))))
            keys = keys.only(np.array(left, np.int64))
            known = {row: left.index(code) for row, code in known.items() if code in left}
