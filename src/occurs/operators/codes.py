"""Key codes: equal values get equal int64 codes, over all types and calls (operators.md, section 3).

Codes that no row and no state holds any more are given back: see :class:`Renewal`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.kernel import kernel
from occurs.model.types import Type
from occurs.operators.columns import Column


@kernel
def _slot(key: int, size: int) -> int:
    z = np.uint64(np.int64(key)) * np.uint64(0x9E3779B97F4A7C15)
    z ^= z >> np.uint64(29)
    return np.int64(z & np.uint64(size - 1))  # type: ignore[return-value]


@kernel
def _place(key: int, keys: np.ndarray, codes: np.ndarray) -> int:
    """Where a key is in the table, or where there is room for it."""
    size = len(keys)
    s = _slot(key, size)
    while codes[s] >= 0 and keys[s] != key:
        s = (s + 1) & (size - 1)
    return s


@kernel
def _rehash(keys: np.ndarray, codes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    new_keys = np.zeros(size, np.int64)
    new_codes = np.full(size, -1, np.int64)
    for i in range(len(keys)):
        if codes[i] >= 0:
            s = _place(keys[i], new_keys, new_codes)
            new_keys[s] = keys[i]
            new_codes[s] = codes[i]
    return new_keys, new_codes


@kernel
def _encode(
    values: np.ndarray,
    valid: np.ndarray,
    keys: np.ndarray,
    codes: np.ndarray,
    used: int,
    next_code: int,
    window: np.ndarray,
    low: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """Codes of ``values``, -1 where not ``valid``; unknown values get the next codes. The table grows as needed.

    ``window``: the codes of ``low``, ``low + 1``, .. as far as they were looked up before, else -1.
    """
    n = len(values)
    all_valid = len(valid) == 0
    out = np.empty(n, np.int64)
    width = np.uint64(len(window))
    for i in range(n):
        if not (all_valid or valid[i]):
            out[i] = -1
            continue
        key = values[i]
        # below ``low`` it wraps, and is not less than the width either
        at = np.uint64(np.int64(key)) - np.uint64(np.int64(low))
        if at < width and window[at] >= 0:
            out[i] = window[at]
            continue
        s = _place(key, keys, codes)
        if codes[s] < 0:
            if 2 * (used + 1) > len(keys):
                keys, codes = _rehash(keys, codes, 2 * len(keys))
                s = _place(key, keys, codes)
            keys[s] = key
            codes[s] = next_code
            used += 1
            next_code += 1
        out[i] = codes[s]
        if at < width:
            window[at] = codes[s]
    return out, keys, codes, used, next_code


@kernel
def _encode_inside(
    values: np.ndarray, valid: np.ndarray, window: np.ndarray, low: int, next_code: int
) -> tuple[np.ndarray, int, bool]:
    """As :func:`_encode` if ``window`` has all codes that there are.  False: a value lies outside of it; the values
    before it have their codes."""
    n = len(values)
    all_valid = len(valid) == 0
    out = np.empty(n, np.int64)
    width = np.uint64(len(window))
    for i in range(n):
        if not (all_valid or valid[i]):
            out[i] = -1
            continue
        at = np.uint64(np.int64(values[i])) - np.uint64(np.int64(low))
        if at >= width:
            return out, next_code, False
        if window[at] < 0:
            window[at] = next_code
            next_code += 1
        out[i] = window[at]
    return out, next_code, True


@kernel
def _hashed(window: np.ndarray, low: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys and codes of a table with ``size`` places, of all codes in ``window``."""
    keys = np.zeros(size, np.int64)
    codes = np.full(size, -1, np.int64)
    for i in range(len(window)):
        if window[i] >= 0:
            s = _place(low + i, keys, codes)
            keys[s] = low + i
            codes[s] = window[i]
    return keys, codes


@kernel
def _find(
    values: np.ndarray, valid: np.ndarray, keys: np.ndarray, codes: np.ndarray, window: np.ndarray, low: int
) -> np.ndarray:
    """As :func:`_encode`, but -1 for unknown values."""
    n = len(values)
    all_valid = len(valid) == 0
    out = np.full(n, -1, np.int64)
    width = np.uint64(len(window))
    for i in range(n):
        if all_valid or valid[i]:
            key = values[i]
            at = np.uint64(np.int64(key)) - np.uint64(np.int64(low))
            if at < width and window[at] >= 0:
                out[i] = window[at]
                continue
            out[i] = codes[_place(key, keys, codes)]
    return out


_ALL = np.zeros(0, np.bool_)

#: a dictionary of fewer codes is not replaced; one of more is looked at when it has handed out this many
FEW = 1 << 12


def crowded(codes: int, cells: int) -> bool:
    """Whether there are many codes, and most of them are of no use: ``cells`` is how many can be in use at most."""
    return codes >= FEW and codes > 2 * cells


class Renewal:
    """Decides when a dictionary of codes is replaced by an empty one, so that codes of values that are gone are freed.

    A dictionary is replaced when it has more than twice as many codes as its *cells*: the values in rows and state,
    each of which needs at most one code.  Whatever state holds codes then encodes its values again.  That frees at
    least as many codes as are encoded again, so the work for each code that was ever handed out is bounded.
    """

    def __init__(self, seen: int = 0) -> None:
        """``seen``: how many codes there were when the dictionary was looked at last."""
        self.seen = seen

    def due(self, codes: int, cells: Callable[[], int]) -> bool:
        """Whether a dictionary that has so many ``codes`` is to be replaced now.  ``cells`` is rarely called."""
        if codes < self.seen + FEW:
            return False
        due = crowded(codes, cells())
        self.seen = 0 if due else codes
        return due


#: calls with fewer values do not look for a window, and one of so many places is always taken
_LOOK, _NARROW = 1 << 10, 1 << 12
#: a window has at most so many places per value when it is made, before there is room in it for more
_PLACES = 4


class IntTable:
    """A growing dictionary from int64 to codes, open addressing; ``used``: how many there are.

    Values that lie close together are looked up in an array, ``window``, before they are hashed.  As long as all values
    of all calls lie in it, nothing is hashed: with a million keys a look-up in the table takes several times as long.
    A first call with few values makes no window, so they are hashed.
    """

    def __init__(self) -> None:
        self.keys = np.zeros(16, np.int64)
        self.codes = np.full(16, -1, np.int64)
        self.used = 0
        self._window, self._low = np.zeros(0, np.int64), 0
        #: nothing has been hashed: the window has all codes
        self._alone = True

    def encode(self, values: np.ndarray, valid: np.ndarray | None, next_code: int) -> tuple[np.ndarray, int]:
        mask = _ALL if valid is None else valid
        if len(values) >= _LOOK:
            self._look(values)
        if self._alone:
            out, after, inside = _encode_inside(values, mask, self._window, self._low, next_code)
            self.used += after - next_code
            if inside:
                return out, after
            next_code = after
            self.hashed()
        out, self.keys, self.codes, self.used, next_code = _encode(
            values, mask, self.keys, self.codes, self.used, next_code, self._window, self._low
        )
        return out, next_code

    def find(self, values: np.ndarray, valid: np.ndarray | None) -> np.ndarray:
        """The codes of values, -1 for unknown ones."""
        return _find(values, _ALL if valid is None else valid, self.keys, self.codes, self._window, self._low)

    def hashed(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys and codes of the table, of all values.  Kernels may add some where there is room; ``used`` is then set
        from outside."""
        if self._alone:
            self._alone = False
            size = len(self.keys)
            while size < 2 * (self.used + 1):
                size *= 2
            self.keys, self.codes = _hashed(self._window, self._low, size)
        return self.keys, self.codes

    def _look(self, values: np.ndarray) -> None:
        """Take a window over all ``values`` if they lie close together: it needs no more memory than a table then."""
        low, high = int(values.min()), int(values.max())
        before, width = self._low, len(self._window)
        if before <= low and high < before + width:
            return
        down = low < before
        if width:
            low, high = min(low, before), max(high, before + width - 1)
        places = high - low + 1
        if places > max(_NARROW, _PLACES * max(len(values), self.used)):
            return
        if width and down:  # keys that count down, or up: there is room for as many again
            low = max(low - places, -(2**63))
        elif width:
            high = min(high + places, 2**63 - 1)
        window = np.full(high - low + 1, -1, np.int64)
        if self._alone:
            window[before - low :][:width] = self._window
        self._window, self._low = window, low


class Domain:
    """The codes of one domain of values: whatever is equated shares a domain.  Int 1 and float 1.0 are equal."""

    def __init__(self) -> None:
        self.size = 0
        self.ints = IntTable()
        self._floats = IntTable()
        self._texts: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        """The texts that have codes; if nothing else has, in the order of these."""
        return list(self._texts)

    def encode(self, column: Column) -> np.ndarray:
        """int64 codes (n), -1 for null."""
        if column.type is Type.FLOAT:
            return self._encode_floats(column)
        if column.numeric:
            values = column.values.astype(np.int64, copy=False)
            codes, self.size = self.ints.encode(values, column.valid, self.size)
            return codes
        if column.type is Type.NULL:
            return np.full(len(column), -1, np.int64)
        return self._encode_texts(column.arrow)

    def _encode_floats(self, column: Column) -> np.ndarray:
        whole, ints = _whole(column)
        codes, self.size = self.ints.encode(ints, whole, self.size)
        rest = column.is_valid() & ~whole
        if rest.any():
            other, self.size = self._floats.encode(_bits(column), rest, self.size)
            codes = np.where(rest, other, codes)
        return codes

    def find(self, column: Column) -> np.ndarray:
        """int64 codes (n), -1 for null and for values that have none."""
        if column.type is Type.FLOAT:
            whole, ints = _whole(column)
            return np.where(whole, self.ints.find(ints, whole), self._floats.find(_bits(column), column.valid))
        if column.numeric:
            return self.ints.find(column.values.astype(np.int64, copy=False), column.valid)
        if column.type is Type.NULL or not self._texts:
            return np.full(len(column), -1, np.int64)
        if len(column) < len(self._texts):
            return np.array([self._texts.get(text, -1) for text in column.arrow.to_pylist()], np.int64)
        at = pc.index_in(column.arrow, pa.array(list(self._texts))).fill_null(-1).to_numpy()
        return np.array([*self._texts.values(), -1], np.int64)[at]

    def _encode_texts(self, array: pa.Array) -> np.ndarray:
        encoded = array.dictionary_encode()
        texts = self._texts
        table = np.empty(len(encoded.dictionary) + 1, np.int64)
        table[-1] = -1
        for i, text in enumerate(encoded.dictionary.to_pylist()):
            code = texts.get(text)
            if code is None:
                code = texts[text] = self.size
                self.size += 1
            table[i] = code
        indices = encoded.indices
        if indices.null_count:
            indices = indices.fill_null(len(encoded.dictionary))
        return table[indices.to_numpy(zero_copy_only=False)]


def _whole(column: Column) -> tuple[np.ndarray, np.ndarray]:
    """Which floats are whole numbers that int64 has, and those."""
    values = column.values
    whole = column.is_valid() & (np.abs(values) < 2.0**63) & (values == np.floor(values))
    return whole, np.where(whole, values, 0.0).astype(np.int64)


def _bits(column: Column) -> np.ndarray:
    bits: np.ndarray = column.values.view(np.int64)
    return bits


class KeyCodes:
    """The domains of a stage, and the tables that join the codes of several attributes into one.

    ``held``: the number of codes in all of these.  ``cells``: how many values were encoded in this call.
    """

    def __init__(self) -> None:
        self.held = 0
        self.cells = 0
        self._renewal = Renewal()
        self._domains: dict[str, Domain] = {}
        self._pairs: dict[tuple[str, ...], IntTable] = {}
        self._sizes: dict[tuple[str, ...], int] = {}

    def for_call(self, rows: int) -> KeyCodes:
        """The dictionary for the next call, if no code outlives a call: this one, or an empty one.

        ``rows``: the number of rows of the past that the next call encodes again.
        """
        cells, self.cells = max(rows, self.cells), 0
        return KeyCodes() if self._renewal.due(self.held, lambda: cells) else self

    def encode(self, domain: str, column: Column) -> np.ndarray:
        found = self._domains.get(domain)
        if found is None:
            found = self._domains[domain] = Domain()
        before = found.size
        codes = found.encode(column)
        self.held += found.size - before
        self.cells += len(codes)
        return codes

    def find(self, domain: str, column: Column) -> np.ndarray:
        """As :meth:`encode`, but -1 for a value that has no code: nothing that was encoded before is equal to it."""
        found = self._domains.get(domain)
        return np.full(len(column), -1, np.int64) if found is None else found.find(column)

    def size(self, domains: Sequence[str]) -> int:
        """How many codes there are: all are less."""
        if len(domains) == 0:
            return 1
        if len(domains) == 1:
            found = self._domains.get(domains[0])
            return found.size if found else 0
        return self._sizes.get(tuple(domains), 0)

    def join(self, domains: Sequence[str], codes: Sequence[np.ndarray], n: int) -> np.ndarray:
        """One code per row for the codes of several attributes; -1 if one of them is."""
        if not codes:
            return np.zeros(n, np.int64)
        out = codes[0]
        for k in range(1, len(codes)):
            name = tuple(domains[: k + 1])
            table = self._pairs.setdefault(name, IntTable())
            before = self._sizes.get(name, 0)
            out, self._sizes[name] = table.encode(*_packed(out, codes[k]), before)
            self.held += self._sizes[name] - before
            self.cells += n
        return out

    def find_joined(self, domains: Sequence[str], codes: Sequence[np.ndarray]) -> np.ndarray:
        """As :meth:`join` for the codes of one attribute at least, but -1 for codes that were not joined before."""
        out = codes[0]
        for k in range(1, len(codes)):
            table = self._pairs.get(tuple(domains[: k + 1]))
            out = np.full(len(out), -1, np.int64) if table is None else table.find(*_packed(out, codes[k]))
        return out


def _packed(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two codes in one number, and where both are codes."""
    return (one << 32) | other, (one >= 0) & (other >= 0)
