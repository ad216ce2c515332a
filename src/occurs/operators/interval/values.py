"""The values that bindings speak of, and their codes (phenesthe.md, section 4.2)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.codes import Domain, IntTable
from occurs.operators.columns import Column
from occurs.operators.kernels.texts import known, numbered, written

_NUMBERS = (Type.INT, Type.FLOAT, Type.DURATION)
#: columns of so many values are copied rather than kept apart
_SHORT = 1 << 13
_NO_INTS = np.zeros(0, np.int64)
_NO_BYTES = np.zeros(0, np.uint8)


class Values:
    """A dictionary of values: equal ones (int 1 and float 1.0 are) have one code, over all calls of an engine.

    Codes of unlike types are not to be compared.  They are not saved: saved state holds values.  An engine replaces its
    dictionary from time to time, and carries the codes in its state over (:meth:`carried`).

    >>> import pyarrow as pa
    >>> values = Values()
    >>> values.encode(Column.of(pa.array(["b", "a", None, "b"]), Type.STRING)).tolist()
    [0, 1, -1, 0]
    >>> values.decode(np.array([1, 0]), Type.STRING).arrow.to_pylist()
    ['a', 'b']
    """

    def __init__(self) -> None:
        self._kinds: dict[Type, _Kind | Texts] = {}
        self._numbers: _Kind | None = None
        self._texts: Texts | None = None
        #: how many whole numbers there are (while they are all ints), and how many texts
        self._used = np.zeros(2, np.int64)
        #: how many values were encoded that are needed as long as this dictionary is (those of facts)
        self.fixed = 0

    @property
    def size(self) -> int:
        """The number of codes that were handed out."""
        return sum([kind.size for kind in self._kinds.values()])

    def encode(self, column: Column) -> np.ndarray:
        """int64 codes (n); -1 for null and NaN, which bind no variable."""
        if column.type is Type.FLOAT:
            nan = np.isnan(column.values)
            if nan.any():
                column = Column(Type.FLOAT, column.values, column.is_valid() & ~nan)
        return self._kind(column.type).encode(column)

    def decode(self, codes: np.ndarray, type: Type) -> Column:
        """The values of ``codes``, all of them of values that were encoded, as a column of ``type``."""
        return self._kind(type).decode(codes, type)

    def carried(self, codes: np.ndarray, type: Type, to: Values) -> np.ndarray:
        """The codes that another dictionary has for the values of ``codes``; -1 stays -1.

        >>> old, new = Values(), Values()
        >>> column = Column.of(pa.array(["a", "b", "c"]), Type.STRING)
        >>> new.carried(old.carried(old.encode(column)[1:], Type.STRING, new), Type.STRING, old).tolist()
        [1, 2]
        """
        there = codes >= 0
        if not there.all():
            out = np.full(len(codes), -1, np.int64)
            out[there] = self.carried(codes[there], type, to)
            return out
        out = np.empty(len(codes), np.int64)
        for column, at in self._kind(type).columns(codes) if len(codes) else ():
            out[at] = to.encode(column)
        return out

    def all_ints(self) -> bool:
        """Whether all numbers are ints."""
        return self._numbers is None or self._numbers.ints is not None

    def dictionaries(self) -> tuple[np.ndarray, ...]:
        """For kernels: keys and codes of numbers (see :class:`occurs.operators.codes.IntTable`), the numbers by
        their codes (no place if they are not all ints); slots, ends and bytes of texts (see
        :mod:`occurs.operators.kernels.texts`); and how many there are of either.  Kernels may add some where there is
        room."""
        numbers, texts = self._numbers, self._texts
        if numbers is None or texts is None:
            self._kind(Type.FLOAT)
            self._kind(Type.STRING)
            return self.dictionaries()
        return *numbers.table(), texts.slots, texts.ends, texts.store, self._used

    def _kind(self, type: Type) -> _Kind | Texts:
        kind = Type.FLOAT if type in _NUMBERS else type
        found = self._kinds.get(kind)
        if found is None:
            if kind is Type.STRING:
                found = self._texts = Texts(self._used[1:])
            elif kind is Type.FLOAT:
                found = self._numbers = _Kind(Ints(self._used[:1]))
            else:
                found = _Kind(None)
            self._kinds[kind] = found
        return found


class _Kind:
    """One domain of codes, and for every code the first column and row where its value stood.

    ``ints``: of numbers, as long as they are all ints, these and their codes; there is nothing else then.
    """

    def __init__(self, ints: Ints | None) -> None:
        self.ints = ints
        self._domain = Domain()
        self._firsts: list[Column] = []
        self._sizes: list[int] = []

    @property
    def size(self) -> int:
        """The number of codes."""
        return self._domain.size if self.ints is None else int(self.ints.used[0])

    def encode(self, column: Column) -> np.ndarray:
        if self.ints is not None:
            if column.type is Type.INT:
                return self.ints.encode(column.values.astype(np.int64, copy=False), column.valid)
            self._mixed(self.ints)
        before = self._domain.size
        codes = self._domain.encode(column)
        if self._domain.size > before:
            new = np.flatnonzero(codes >= before)[::-1]
            first = np.empty(self._domain.size - before, np.int64)
            first[codes[new] - before] = new  # of equal codes the last one stays, which is the first row
            self._firsts.append(column.take(first))
            self._sizes.append(self._domain.size)
            self._merge()
        return codes

    def _mixed(self, ints: Ints) -> None:
        """From now on other numbers may come, too."""
        size = int(ints.used[0])
        ints.table.used = size
        self._domain.ints, self._domain.size = ints.table, size
        if size:
            self._firsts, self._sizes = [Column(Type.INT, ints.values[:size].copy(), None)], [size]
        self.ints = None

    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Keys and codes of whole numbers, and numbers by their codes if they are all ints."""
        if self.ints is not None:
            return *self.ints.table.hashed(), self.ints.values
        return *self._domain.ints.hashed(), _NO_INTS

    def _merge(self) -> None:
        """Put together columns that are short or of like size, so that there are few: to decode is to look at all."""
        while len(self._firsts) > 1 and len(self._firsts[-2]) <= max(len(self._firsts[-1]), _SHORT):
            if self._firsts[-1].type is not self._firsts[-2].type:
                return
            last = self._firsts.pop()
            self._firsts[-1] = Column.concat([self._firsts[-1], last])
            self._sizes[-2:] = self._sizes[-1:]

    def decode(self, codes: np.ndarray, type: Type) -> Column:
        if not len(codes):
            return Column.nulls(type, 0)
        parts = self.columns(codes)
        if len(parts) == 1:
            return _as(parts[0][0], type)
        back = np.empty(len(codes), np.int64)
        back[np.concatenate([at for _, at in parts])] = np.arange(len(codes))
        return Column.concat([_as(column, type) for column, _ in parts]).take(back)

    def columns(self, codes: np.ndarray) -> list[tuple[Column, np.ndarray]]:
        """The values of ``codes`` (at least one) as they came, in columns of one type each, and where each belongs."""
        everywhere = np.arange(len(codes))
        if self.ints is not None:
            return [(Column(Type.INT, self.ints.values[codes], None), everywhere)]
        if len(self._firsts) == 1:
            return [(self._firsts[0].take(codes), everywhere)]
        part = np.searchsorted(np.array(self._sizes), codes, side="right")
        out = []
        for number in np.unique(part):
            at = np.flatnonzero(part == number)
            begin = self._sizes[number - 1] if number else 0
            out.append((self._firsts[number].take(codes[at] - begin), at))
        return out


class Ints:
    """A dictionary of whole numbers: equal ones have equal codes 0, 1, ..., in the order in which they first come.

    ``table``: codes by number; ``values``: numbers by code, with room behind them; ``used``: int64 (1), how many there
    are.

    >>> ints = Ints()
    >>> ints.encode(np.array([7, -2, 7]), None).tolist()
    [0, 1, 0]
    >>> ints.values[:2].tolist()
    [7, -2]
    """

    def __init__(self, used: np.ndarray | None = None) -> None:
        self.table = IntTable()
        self.values = np.empty(16, np.int64)
        self.used = np.zeros(1, np.int64) if used is None else used

    def encode(self, values: np.ndarray, valid: np.ndarray | None) -> np.ndarray:
        """int64 codes (n) of int64 values, -1 where they are not ``valid``."""
        before = int(self.used[0])
        self.table.used = before  # kernels may have added some
        codes, after = self.table.encode(values, valid, before)
        if after > before:
            if 2 * after > len(self.values):
                self.values = np.concatenate([self.values[:before], np.empty(2 * after - before, np.int64)])
            new = codes >= before
            self.values[codes[new]] = values[new]
            self.used[0] = after
        return codes


class Texts:
    """A dictionary of texts: equal ones have equal codes 0, 1, ..., in the order in which they first come.

    ``slots``, ``ends``, ``store``: see :mod:`occurs.operators.kernels.texts`; ``used``: int64 (1), how many there are.

    >>> texts = Texts()
    >>> texts.encode(Column.of(pa.array(["b", "a", None, "b"]), Type.STRING)).tolist()
    [0, 1, -1, 0]
    >>> texts.decode(np.array([1, 0]), Type.STRING).arrow.to_pylist()
    ['a', 'b']
    """

    def __init__(self, used: np.ndarray | None = None) -> None:
        self.slots = np.full(16, -1, np.int64)
        #: where each text ends in ``store`` (before the first: 0)
        self.ends = np.zeros(16, np.int64)
        self.store = np.empty(256, np.uint8)
        self.used = np.zeros(1, np.int64) if used is None else used

    @property
    def size(self) -> int:
        """The number of codes."""
        return int(self.used[0])

    def encode(self, column: Column) -> np.ndarray:
        """int64 codes (n), -1 for null."""
        array = column.arrow
        n, first = len(array), array.offset
        bits, ends, text = array.buffers()
        if not n or ends is None:
            return np.full(n, -1, np.int64)
        offsets = np.frombuffer(ends, np.int32)
        data = _NO_BYTES if text is None else np.frombuffer(text, np.uint8)
        if bits is None or not array.null_count:
            codes, all_known = known(self.slots, self.ends, self.store, data, offsets, first, n)
            if all_known:
                return codes
            valid = _NO_BYTES
        else:
            valid = np.frombuffer(bits, np.uint8)
        codes, self.slots, self.ends, self.store, self.used[0] = numbered(
            self.slots, self.ends, self.store, int(self.used[0]), data, offsets, valid, first, n
        )
        return codes

    def decode(self, codes: np.ndarray, type: Type) -> Column:
        """The texts of ``codes``, all of them of texts that were encoded.  Raises ArrowInvalid for 2 GB of them."""
        offsets, data = written(self.ends, self.store, codes)
        if not len(offsets):
            raise pa.ArrowInvalid("a column has 2 GB of text or more")
        return Column(
            type, None, None, pa.StringArray.from_buffers(len(codes), pa.py_buffer(offsets), pa.py_buffer(data))
        )

    def columns(self, codes: np.ndarray) -> list[tuple[Column, np.ndarray]]:
        """The texts of ``codes`` as columns, here one, and where each belongs."""
        return [(self.decode(codes, Type.STRING), np.arange(len(codes)))]


def _as(column: Column, type: Type) -> Column:
    """Numbers that are equal, as the type that is asked for."""
    if column.type is Type.FLOAT and type in (Type.INT, Type.DURATION):
        return Column(type, column.values.astype(np.int64), column.valid)
    return column.cast(type)
