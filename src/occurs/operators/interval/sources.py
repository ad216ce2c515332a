"""Where the columns of rows are, for kernels that read them in place (:mod:`occurs.operators.kernels.reading`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.contract import Call
from occurs.operators.interval.atoms import Scan
from occurs.operators.interval.signals import Call as Inner
from occurs.operators.kernels.reading import NUMBERS, PLAIN, TEXTS
from occurs.operators.rows import Part, Rows

#: the rows of an atom of which nothing comes
_NOTHING = (0, 0)


class Sources:
    """The instants of some atoms, call by call.

    ``flat``: int64, per atom the sources of its columns and of its times, those of the last call with rows; ``spans``:
    int64, per atom its first row and how many there are from there on.
    """

    def __init__(self, scans: Sequence[tuple[str, Scan]]) -> None:
        """``scans``: the types of which the rows come, and the atoms over them."""
        self._scans = scans
        ends = np.cumsum([0, *(3 * (len(scan.arguments) + 1) for _, scan in scans)]).tolist()
        self._places = [slice(i, j) for i, j in itertools.pairwise(ends)]
        self.flat = np.zeros(ends[-1], np.int64)
        self.spans = np.zeros(2 * len(scans), np.int64)
        #: per atom whose columns these are: what must last while they are read
        self._of: list[object] = [None] * len(scans)
        self._columns: list[Sequence[Column | None]] = [()] * len(scans)

    def take(self, call: Call, own: Inner) -> bool:
        """The new rows of a call.  Whether there are any."""
        spans: list[int] = []
        some = False
        part = call.rows if isinstance(call.rows, Part) else None
        for number, (name, scan) in enumerate(self._scans):
            if part is None:
                whole, first, stop = call.span(name)
            else:  # a call may have few rows: look at them without a call of a function
                whole, (first, stop) = part.of.get(name), part.spans.get(name, (0, 0))
            if whole is None or first == stop:
                spans += _NOTHING
                continue
            if not scan.conditions and (self._of[number] is whole or self._known(number, whole, scan.arguments)):
                spans += (first, stop - first)
                some = True
                continue
            codes, time = scan.instants(call.rows[name], own)
            arrays = [np.ascontiguousarray(c, np.int64) for c in (*codes, time)]
            self.flat[self._places[number]] = [n for c in arrays for n in (PLAIN, c.ctypes.data, 0)]
            self._of[number], self._columns[number] = arrays, [None] * len(arrays)
            spans += (0, len(time))
            some = some or len(time) > 0
        self.spans[:] = spans
        return some

    def _known(self, number: int, rows: Rows, attributes: tuple[str, ...]) -> bool:
        """Takes the sources of an atom from rows, if they can be read in place."""
        found = rows.cache.get(attributes)
        if found is None:
            found = rows.cache[attributes] = _found(rows, attributes)
        if found[0]:
            self.flat[self._places[number]] = found[0]
            self._of[number], self._columns[number] = rows, found[1]
        return bool(found[0])

    def learn(self, unknown: np.ndarray, call: Inner) -> None:
        """Gives codes to values that have none, see :func:`occurs.operators.kernels.reading.read_all`."""
        kind, source, value = unknown.reshape(-1, 3).T
        numbers = value[kind == NUMBERS]
        if len(numbers):
            call.values.encode(Column(Type.INT, numbers, None))
        columns = [c for number, place in enumerate(self._places) for c in self._of_atom(number, place)]
        for number in np.unique(source[kind == TEXTS]).tolist():
            column = columns[number]
            assert column is not None
            call.values.encode(column.take(value[source == number]))

    def _of_atom(self, number: int, place: slice) -> Sequence[Column | None]:
        """A column for every source of an atom."""
        return self._columns[number] or [None] * ((place.stop - place.start) // 3)


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
