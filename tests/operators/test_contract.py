"""The contract: the operator in its docstring runs; blocks are cut, labelled and printed like blocks of one output."""

from __future__ import annotations

import doctest

import numpy as np
import pyarrow as pa

from occurs.engine.blocks import Detected
from occurs.model.labels import Labels, derived_labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators import contract
from occurs.operators.blocks import Block, Identity, Out, Reasons
from occurs.operators.columns import Column

KIND = TimeKind(False, None)
SCHEMA = Schema((("n", Type.INT), ("other", Type.STRING)))
OUTS = [Out("A", SCHEMA, "a", 0), Out("B", SCHEMA, "b", 1), Out("C", SCHEMA, "c", 2)]
CUTS = np.array([0, 2, 2, 5])
TIME = np.array([1, 4, 2, 3, 3])
N = np.arange(5) * 10
PARTS = Labels(np.arange(5, dtype=np.uint64), np.arange(5, 10, dtype=np.uint64))


def reasons(rows: np.ndarray) -> Reasons:
    """One constituent per row: its number."""
    text = pa.array([f"role {r}" for r in rows.tolist()])
    return Reasons(np.arange(len(rows) + 1), text, text, TIME[rows], text, pa.array(["{}"] * len(rows)))


def several() -> Detected:
    columns = {"n": Column(Type.INT, N, None)}
    return Detected.of(Block(OUTS, TIME, columns, CUTS, None, lambda: Identity([PARTS]), reasons), True)


def test_the_example_runs() -> None:
    assert doctest.testmod(contract).failed == 0
    assert doctest.testmod(contract).attempted >= 6


def test_an_output_is_cut_from_a_block() -> None:
    found = several()
    assert found.part(1) is None
    last = found.part(2)
    assert last is not None
    assert last.rows().time.tolist() == [2, 3, 3]
    assert last.rows().columns["n"].arrow.to_pylist() == [20, 30, 40]
    assert last.rows().columns["other"].arrow.to_pylist() == [None] * 3
    assert [[c["role"] for c in row] for row in last.because(KIND).to_pylist()] == [["role 2"], ["role 3"], ["role 4"]]
    some = last.take(np.array([2]))
    assert [[c["role"] for c in row] for row in some.because(KIND).to_pylist()] == [["role 4"]]


def test_labels_of_an_output_do_not_depend_on_the_others() -> None:
    last = several().part(2)
    assert last is not None
    assert last.labels is not None
    assert last.labels.same(derived_labels("c", [PARTS.take(np.array([2, 3, 4]))])).all()


def test_lists_of_constituents_are_cut_with_their_rows() -> None:
    due = np.array([False, True, False, False, True])
    offsets = np.array([0, 1, 1, 3, 4, 5])
    whole = Identity([PARTS], offsets, TIME, due)
    part = whole.slice(2, 5)
    assert part.offsets is not None
    assert part.offsets.tolist() == [0, 2, 3, 4]
    assert part.parts[0].hi.tolist() == [1, 2, 3, 4]
    alone = Detected.of(Block(OUTS[2:], TIME[2:], {}, identity=lambda: part), True)
    together = Detected.of(Block(OUTS, TIME, {}, CUTS, identity=lambda: whole), True).part(2)
    assert alone.labels is not None
    assert together is not None
    assert together.labels is not None
    assert alone.labels.same(together.labels).all()


def test_all_outputs_are_one_table() -> None:
    table = several().sheet(SCHEMA, KIND, True)
    assert table is not None
    assert table.column("type").to_pylist() == ["A", "A", "C", "C", "C"]
    assert table.column_names == ["type", "time", "n", "other", "label"]
    assert several().sheet(Schema(()), KIND, False) is not None
