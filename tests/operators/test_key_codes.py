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
FLOAT = st.one_of(st.none(), st.sampled_from([0.5, 1.0, 1.5, 2.0, 2.5, 3.0]))
PARTS = {
    "": (),
    "int": ((NUMBER, pa.int64(), Type.INT),),
    "text": ((TEXT, pa.string(), Type.STRING),),
    "float": ((FLOAT, pa.float64(), Type.FLOAT),),
    "int, text": ((NUMBER, pa.int64(), Type.INT), (TEXT, pa.string(), Type.STRING)),
}


def columns(rows: list[tuple[Any, ...]], parts: str) -> list[Column]:
    return [Column.of(pa.array([row[i] for row in rows], t), known) for i, (_, t, known) in enumerate(PARTS[parts])]


@pytest.mark.parametrize("nulls", [True, False])
@pytest.mark.parametrize("parts", PARTS)
@given(data=st.data())
def test_a_code_stands_for_one_key(nulls: bool, parts: str, data: st.DataObject) -> None:
    types = [known for *_, known in PARTS[parts]]
    keys = Keys([Type.NULL] * len(types) if nulls else types, nulls)
    rows = st.lists(st.tuples(*(values for values, *_ in PARTS[parts])), max_size=8)
    known: dict[tuple[Any, ...], int] = {}
    for _ in range(5):
        given_rows = data.draw(rows)
        before, keys = keys, keys.successor()
        if data.draw(st.booleans()):  # the one before goes on, too
            keys = before
        codes = keys.encode(columns(given_rows, parts), len(given_rows)).tolist()
        for row, code in zip(given_rows, codes, strict=True):
            if not nulls and None in row:
                assert code == -1
            else:
                assert known.setdefault(row, code) == code
                assert tuple(v.arrow[code].as_py() for v in keys.values) == row
        assert len(set(known.values())) == len(known)
        assert keys.size == max(len(known), 0 if parts else 1)
        if parts and not nulls and keys.size and data.draw(st.booleans()):
            keys = Keys.restored(types, keys.saved())
        if known and parts and data.draw(st.booleans()):  # some are freed
            left = sorted(data.draw(st.sets(st.sampled_from(sorted(known.values())))))
            keys = keys.only(np.array(left, np.int64))
            known = {row: left.index(code) for row, code in known.items() if code in left}
