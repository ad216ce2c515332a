"""What a row pattern keeps between calls (match-recognize.md, section 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.rows import Rows


@dataclass(frozen=True)
class Kept:
    """``rows``: in the total order, None if there are none.  ``before``: which of them stand before the one that waits
    in their partition; ``covered``: which are in a match.  ``begun``: by column of PARTITION BY the values of the
    partitions of which rows are gone; ``number``: how many matches each had."""

    rows: Rows | None = None
    before: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))
    covered: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))
    begun: Mapping[str, Column] = field(default_factory=dict)
    number: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def size(self) -> int:
        return len(self.before) + len(self.number)

    def copy(self) -> Kept:
        """Nothing in it changes."""
        return self

    def saved(self) -> Mapping[str, pa.Table]:
        """Its tables; always the same objects."""
        return self._tables

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        out = {}
        if self.rows is not None:
            rows = self.rows
            columns = {"time": rows.time, "before": self.before, "covered": self.covered}
            if rows.labels is not None:
                columns |= {"hi": rows.labels.hi, "lo": rows.labels.lo}
            if rows.at is not None:
                columns["at"] = rows.at
            if rows.derived is not None:
                columns["derived"] = rows.derived
            out["rows"] = pa.table({**columns, **{f".{n}": c.arrow for n, c in sorted(rows.columns.items())}})
        if len(self.number):
            columns = {f".{n}": c.arrow for n, c in self.begun.items()}
            out["partitions"] = pa.table({"number": self.number, **columns})
        return out


def restored(tables: Mapping[str, pa.Table], source: str, schema: Schema) -> Kept:
    """What :meth:`Kept.saved` has saved."""
    out = Kept()
    if "rows" in tables:
        table = tables["rows"]
        names = table.column_names
        labels = Labels(_numpy(table, "hi"), _numpy(table, "lo")) if "hi" in names else None
        derived = _numpy(table, "derived") if "derived" in names else None
        at = _numpy(table, "at") if "at" in names else None
        rows = Rows(source, _numpy(table, "time"), _columns(table, schema), labels=labels, derived=derived, at=at)
        out = Kept(rows, _numpy(table, "before"), _numpy(table, "covered"))
    if "partitions" in tables:
        table = tables["partitions"]
        out = Kept(out.rows, out.before, out.covered, _columns(table, schema), _numpy(table, "number"))
    return out


def _columns(table: pa.Table, schema: Schema) -> dict[str, Column]:
    out = {}
    for name in table.column_names:
        if name.startswith("."):
            array = table.column(name)
            known = Type.TIMESTAMP if name == ".time" else schema.get(name[1:]) or Type.NULL
            out[name[1:]] = Column.of(array, Type.NULL if pa.types.is_null(array.type) else known)
    return out


def _numpy(table: pa.Table, name: str) -> np.ndarray:
    return table.column(name).to_numpy()
