"""The total order of rows, whichever way they are brought into it: as Python sorts them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from occurs.engine import order
from occurs.engine.order import sorted_rows
from occurs.model.type_table import TypeTable
from occurs.operators import merging
from occurs.operators.merging import stable_order


def expected(table: pa.Table, loose: bool) -> list[int]:
    """Row numbers by time, sequence and (not ``loose``) attributes in the order of their names, nulls first."""
    names = ["time", *(["sequence"] if "sequence" in table.column_names else [])]
    names += [] if loose else sorted(set(table.column_names) - {"time", "sequence"})
    columns = [table.column(n).to_pylist() for n in names]

    def key(row: int) -> list[Any]:
        return [(c[row] is not None, 0 if c[row] is None else c[row]) for c in columns]

    return sorted(range(len(table)), key=key)


@pytest.mark.parametrize(("rows", "ties"), list(product([10, 1_500], [1, 3, 40])))
def test_rows_are_in_their_total_order(rows: int, ties: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (order, merging):
        monkeypatch.setattr(module, "MANY", 100)
    rng = np.random.default_rng(rows + ties)
    for n, (shuffled, loose, sequence, kind) in enumerate(
        product([False, True], [False, True], [False, True], ["few", "many", "none", "null", "text", "far"])
    ):
        time = rng.integers(0, max(1, rows // ties), rows)
        columns: dict[str, Any] = {"time": time if shuffled else np.sort(time)}
        if sequence:
            columns["sequence"] = rng.integers(0, 3, rows)
        values = rng.integers(-5, 5, rows)
        if kind in ("few", "many"):
            columns["b"] = values if kind == "few" else rng.integers(-(2**40), 2**40, rows)
            columns["a"] = rng.integers(0, 2, rows)
        elif kind == "null":
            columns["a"] = pa.array(values, mask=values == 0)
        elif kind == "text":
            columns["a"] = [f"v{v}" for v in values.tolist()]
        elif kind == "far":  # too far from one another for one number of both
            columns["a"], columns["b"] = values * 2**59, values * 2**58
        table = pa.table(columns)
        found = sorted_rows(TypeTable.of(table), loose)
        wanted = expected(table, loose)
        assert (list(range(rows)) if found is None else found.tolist()) == wanted, (n, kind)


def test_rows_in_order_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "MANY", 2)
    table = pa.table({"time": [1, 1, 1, 2], "a": [1, 1, 2, 0]})
    assert sorted_rows(TypeTable.of(table)) is None


@pytest.mark.parametrize("dense", [0, 10**9])
def test_keys_are_counted_or_sorted_alike(monkeypatch: pytest.MonkeyPatch, dense: int) -> None:
    monkeypatch.setattr(merging, "MANY", 100)
    monkeypatch.setattr(merging, "DENSE", dense)
    rng = np.random.default_rng(3)
    one, other = rng.integers(-3, 3, 500), rng.integers(0, 9, 500)
    wanted = sorted(range(500), key=lambda i: (one[i], other[i]))
    assert stable_order([one, other]).tolist() == wanted
    assert stable_order([np.zeros(0, np.int64)]).tolist() == []
