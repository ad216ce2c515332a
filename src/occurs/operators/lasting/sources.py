"""Where the columns of rows are, for kernels that read them in place (:mod:`occurs.operators.kernels.reading`)."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels.reading import NUMBERS, PLAIN, TEXTS
from occurs.operators.lasting.scan import Scan
from occurs.operators.lasting.signals import Call
from occurs.operators.rows import Rows, Window

#: what a scan finds in rows of which nothing comes
_NOTHING = (0, 0)


@dataclass
class Sources:
    """The instants of some atoms in a call: per atom the first row and how many from there on, and behind these, if
    there are any, the sources of its columns and times, ``numbers``.  ``held``: what must last while they are read.
    ``columns``: of each source, None of what is not looked up."""

    numbers: list[int] = field(default_factory=list)
    held: list[object] = field(default_factory=list)
    columns: list[Column | None] = field(default_factory=list)

    @staticmethod
    def of(scans: Sequence[tuple[str, Scan]], tables: Mapping[str, Rows], call: Call) -> Sources:
        """``tables``: the rows of every type, the new ones behind the others."""
        out = Sources()
        numbers = out.numbers
        for name, scan in scans:
            rows = tables.get(name)
            count = 0 if rows is None else len(rows.time) - rows.new
            if rows is None or not count:
                numbers += _NOTHING
                continue
            if not scan.conditions:
                window = rows.columns
                whole, first = (window.of, window.start) if type(window) is Window else (rows, 0)
                found = whole.cache.get(scan.arguments)
                if found is None:
                    found = whole.cache[scan.arguments] = _found(whole, scan.arguments)
                if found[0]:
                    numbers += (first + rows.new, count, *found[0])
                    out.held.append(whole)
                    out.columns += found[1]
                    continue
            codes, time = scan.instants(rows, call)
            if len(time):
                arrays = [np.ascontiguousarray(c, np.int64) for c in (*codes, time)]
                numbers += (0, len(time), *(n for c in arrays for n in (PLAIN, c.ctypes.data, 0)))
                out.held.append(arrays)
                out.columns += [None] * len(arrays)
            else:
                numbers += _NOTHING
        return out

    def __bool__(self) -> bool:
        """Whether there are rows."""
        return bool(self.held)

    def array(self) -> np.ndarray:
        """As the kernel takes them."""
        return np.frombuffer(array("q", self.numbers), np.int64)

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


def _found(rows: Rows, attributes: tuple[str, ...]) -> tuple[tuple[int, ...], list[Column | None]]:
    """The sources of attributes and of the time, and their columns; none if some are neither ints nor texts, or have
    nulls."""
    columns = [rows.column(name) for name in attributes]
    return _sources(columns, rows.time), [*columns, None]


def _sources(columns: Sequence[Column], time: np.ndarray) -> tuple[int, ...]:
    if not _plain(time):
        return ()
    out: list[int] = []
    for column in columns:
        if column.type is Type.INT:
            if column.valid is not None or not _plain(column.values):
                return ()
            out += NUMBERS, column.values.ctypes.data, 0
        elif column.type is Type.STRING and not column.arrow.null_count:
            _, offsets, text = column.arrow.buffers()
            if offsets is None:
                return ()
            out += TEXTS, offsets.address + 4 * column.arrow.offset, 0 if text is None else text.address
        else:
            return ()
    return (*out, PLAIN, time.ctypes.data, 0)


def _plain(values: np.ndarray) -> bool:
    return values.dtype == np.int64 and bool(values.flags.c_contiguous)
