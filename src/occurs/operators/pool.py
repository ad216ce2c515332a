"""The rows of all types of a sequential component in one pool of 64-bit words, as the machine reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.rows import Rows


@dataclass
class Region:
    """The rows of one type in the pool: those of its table from ``base`` on, then (fed-back types) those from outside.

    ``names``: its columns in the pool, in order.
    """

    rows: Rows
    outside: Rows | None
    base: int
    names: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows) + (0 if self.outside is None else len(self.outside))

    @property
    def came(self) -> np.ndarray:
        """The pool's rows that come from outside in this call."""
        first = self.base + len(self.rows)
        return np.arange(first, first + (0 if self.outside is None else len(self.outside)))

    def type(self, name: str) -> Type:
        return self.rows.column(name).type

    def column(self, name: str) -> Column:
        column = self.rows.column(name)
        return column if self.outside is None else Column.concat([column, self.outside.column(name)])


class Pool:
    """Per type a region.  ``outside``: what comes in of fed-back types; ``names``: all columns of these."""

    def __init__(
        self,
        tables: Mapping[str, Rows],
        outside: Mapping[str, Rows],
        names: Mapping[str, list[str]],
        types: Iterable[str],
    ):
        self.regions: dict[str, Region] = {}
        self.size = 0
        self._texts: dict[str, int] = {}
        for t in types:
            self.regions[t] = Region(tables[t], outside.get(t), self.size, list(names.get(t, ())))
            self.size += len(self.regions[t])

    def text(self, text: str) -> int:
        """The number that stands for a text."""
        return self._texts.setdefault(text, len(self._texts))

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """values int64 (rows, columns; floats as their bits), known bool, time int64."""
        width = max(1, *(len(r.names) for r in self.regions.values()))
        values = np.zeros((max(1, self.size), width), np.int64)
        known = np.zeros((max(1, self.size), width), np.bool_)
        time = np.zeros(max(1, self.size), np.int64)
        for region in self.regions.values():
            part = slice(region.base, region.base + len(region))
            late = [] if region.outside is None else [region.outside.time]
            time[part] = np.concatenate([region.rows.time, *late])
            for at, name in enumerate(region.names):
                values[part, at], known[part, at] = self._raw(region.column(name))
        return values, known, time

    def _raw(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        known = column.is_valid()
        if column.type is Type.STRING:
            encoded = column.arrow.dictionary_encode()
            numbers = np.array([self.text(t) for t in encoded.dictionary.to_pylist()] or [0], np.int64)
            return numbers[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)], known
        if column.type is Type.NULL:
            return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
        if column.type is Type.FLOAT:
            return column.values.view(np.int64), known & ~np.isnan(column.values)
        return column.values.astype(np.int64), known

    def column(self, type: Type, values: np.ndarray, known: np.ndarray) -> Column:
        """Words of the pool as a column."""
        valid = None if known.all() else known
        if type is Type.STRING:
            texts = pa.array(list(self._texts), pa.string())
            taken = texts.take(pa.array(values, mask=~known)) if len(texts) else pa.nulls(len(values), pa.string())
            return Column.of(taken, type)
        if type is Type.FLOAT:
            return Column(type, np.where(known, values.view(np.float64), 0.0), valid)
        return Column(type, values.astype(np.bool_) if type is Type.BOOL else values.copy(), valid)
