"""Where the columns of rows are, for kernels that read them in place (:mod:`occurs.operators.kernels.reading`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels.reading import NUMBERS, PLAIN, TEXTS
from occurs.operators.lasting.scan import Scan
from occurs.operators.lasting.signals import Call
from occurs.operators.rows import Rows, Window


@dataclass
class Sources:
    """The instants of some atoms in a call: per atom the rows ``firsts`` and how many from there on, ``counts``; one
    behind the other the sources of their columns and times.  ``held``: what must last while they are read.
    ``columns``: of each source, None of what is not looked up."""

    firsts: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    flat: list[int] = field(default_factory=list)
    held: list[object] = field(default_factory=list)
    columns: list[Column | None] = field(default_factory=list)

    @staticmethod
    def of(scans: Sequence[tuple[str, Scan]], tables: Mapping[str, Rows], call: Call) -> Sources:
        """``tables``: the rows of every type, the new ones behind the others."""
        out = Sources()
        for type, scan in scans:
            rows = tables.get(type)
            if rows is None or len(rows.time) == rows.new:
                out._add(0, 0, ())
                continue
            if not scan.conditions:
                window = rows.columns
                whole, first = (window.of, window.start) if isinstance(window, Window) else (rows, 0)
                found, columns = _found(whole, scan.arguments)
                if found is not None:
                    out._add(first + rows.new, len(rows.time) - rows.new, found)
                    out.held.append(whole)
                    out.columns += columns
                    continue
            codes, time = scan.instants(rows, call)
            if len(time):
                arrays = [np.ascontiguousarray(c, np.int64) for c in (*codes, time)]
                out._add(0, len(time), [n for c in arrays for n in (PLAIN, c.ctypes.data, 0)])
                out.held.append(arrays)
                out.columns += [None] * len(arrays)
            else:
                out._add(0, 0, ())
        return out

    def _add(self, first: int, count: int, sources: Sequence[int]) -> None:
        self.firsts.append(first)
        self.counts.append(count)
        self.flat += sources

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As the kernel takes them."""
        return np.array(self.firsts, np.int64), np.array(self.counts, np.int64), np.array(self.flat, np.int64)

    def learn(self, unknown: np.ndarray, call: Call) -> None:
        """Gives codes to values that have none, see :func:`occurs.operators.kernels.reading.read_all`."""
        kind, source, value = unknown.reshape(-1, 3).T
        numbers = value[kind == NUMBERS]
        if len(numbers):
            call.values.encode(Column(Type.INT, numbers, None))
        for number in np.unique(source[kind == TEXTS]).tolist():
            column = self.columns[number]
            assert column is not None
            call.values.encode(column.take(value[source == number]))


def _found(rows: Rows, attributes: tuple[str, ...]) -> tuple[tuple[int, ...] | None, list[Column | None]]:
    """The sources of attributes and of the time, and their columns; None if some are neither ints nor texts, or have
    nulls."""
    key = ("sources", attributes)
    if key not in rows.cache:
        columns = [rows.column(name) for name in attributes]
        rows.cache[key] = (_sources(columns, rows.time), [*columns, None])
    found: tuple[tuple[int, ...] | None, list[Column | None]] = rows.cache[key]
    return found


def _sources(columns: Sequence[Column], time: np.ndarray) -> tuple[int, ...] | None:
    if not _plain(time):
        return None
    out: list[int] = []
    for column in columns:
        if column.type is Type.INT:
            if column.valid is not None or not _plain(column.values):
                return None
            out += NUMBERS, column.values.ctypes.data, 0
        elif column.type is Type.STRING and not column.arrow.null_count:
            _, offsets, text = column.arrow.buffers()
            if offsets is None:
                return None
            out += TEXTS, offsets.address + 4 * column.arrow.offset, 0 if text is None else text.address
        else:
            return None
    return (*out, PLAIN, time.ctypes.data, 0)


def _plain(values: np.ndarray) -> bool:
    return values.dtype == np.int64 and bool(values.flags.c_contiguous)
