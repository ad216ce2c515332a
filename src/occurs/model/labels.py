"""Labels: the identity of every event, 128 bits, the same in every run, host and partitioning (common.md, section 3).

Version 1 of the encoding; :mod:`occurs.model.mixing` has the mixing function and the tags.  From the seeds a label
absorbs, in this order (a *name* or *text* as its digest; ``name ^ tag`` is the digest of the name with a small number
for the kind of value; of values, a string as its digest, all others as one 64-bit word):

- input row: text ``occurs-label-1/input``; the type's name; the time; ``sequence ^ int`` and its value; for each
  attribute in the order of names (by code point) ``name ^ tag`` and its value; text ``end``; k.
- derived event: text ``occurs-label-1/derived``; the definition's text; the number of parts; hi and lo of each part's
  label, in order; ``time ^ int`` and the time if given; the values as above; text ``end``; k.

k counts 0, 1, .. among rows equal in all that went before.  Values are canonical, so that a label does not depend on
how a column was read: nulls (NaN is one) are left out together with their name, so a missing column is a column of
nulls; -0.0 is 0.0; a float that is whole and within int64 is that int; dates and timestamps are microseconds since 1970
UTC; strings are UTF-8, dictionary-encoded or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem
from occurs.model import mixing

VERSION = 1
_NO_ROWS = np.empty(0, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The labels of n rows: ``hi`` and ``lo`` are their upper and lower 64 bits, uint64 (n)."""

    hi: np.ndarray
    lo: np.ndarray

    def __len__(self) -> int:
        return len(self.hi)

    def take(self, rows: np.ndarray) -> Labels:
        """The labels of these row numbers (or of a mask's rows)."""
        return Labels(self.hi[rows], self.lo[rows])

    def same(self, other: Labels) -> np.ndarray:
        """Row by row: is it the same label?  Booleans (n)."""
        return (self.hi == other.hi) & (self.lo == other.lo)

    @staticmethod
    def concat(parts: Sequence[Labels]) -> Labels:
        if not parts:
            return Labels(np.empty(0, np.uint64), np.empty(0, np.uint64))
        return Labels(np.concatenate([p.hi for p in parts]), np.concatenate([p.lo for p in parts]))

    def hex(self) -> pa.Array:
        """32 lower-case hexadecimal digits per row, hi first: an Arrow array of strings."""
        n = len(self)
        raw = np.empty((n, 2), ">u8")
        raw[:, 0], raw[:, 1] = self.hi, self.lo
        octets = raw.view(np.uint8).reshape(n * 16)
        nibbles = np.empty((n * 16, 2), np.uint8)
        nibbles[:, 0], nibbles[:, 1] = octets >> 4, octets & 15
        digits = np.frombuffer(b"0123456789abcdef", np.uint8)[nibbles.reshape(n * 32)]
        offsets = np.arange(n + 1, dtype=np.int64) * 32
        texts = pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(digits))
        return texts.cast(pa.string()) if n < 1 << 26 else texts

    @classmethod
    def from_column(cls, column: pa.Array | pa.ChunkedArray) -> Labels:
        """A label column of the input, trusted to be unique.

        Texts of 32 lower-case hexadecimal digits are taken as the 128 bits they spell, so what :meth:`hex` wrote reads
        back; all other values are hashed.  A null is an InputProblem (``bad-value``).
        """
        array = _whole(column)
        if array.null_count:
            row = int(np.argmin(array.is_valid().to_numpy(zero_copy_only=False)))
            raise InputProblem.of("bad-value", f"row {row} has no label", row=row)
        state = Mixer("label", len(array))
        state.value("label", array)
        if _is_text(array.type):
            if pa.types.is_dictionary(array.type):
                array = array.dictionary_decode()
            offsets, data = _text_buffers(array)
            mixing.parse_hex(offsets, data, state.hi, state.lo)
        return cls(state.hi, state.lo)


class Mixer:
    """n states that absorb columns, word by word; ``finish`` appends k and gives the labels."""

    def __init__(self, purpose: str, n: int):
        self.hi = np.full(n, mixing.SEED_HI, np.uint64)
        self.lo = np.full(n, mixing.SEED_LO, np.uint64)
        self.text(f"occurs-label-{VERSION}/{purpose}")

    def text(self, text: str | bytes) -> None:
        """One text for all rows."""
        hi, lo = _digest(text)
        mixing.absorb(self.hi, self.lo, np.array([hi]), np.array([lo]))

    def word(self, words: np.ndarray | int) -> None:
        """One int64 or uint64 per row, or one int for all."""
        array = np.atleast_1d(np.asarray(words))
        array = np.ascontiguousarray(array if array.dtype == np.uint64 else array.astype(np.int64)).view(np.uint64)
        mixing.absorb(self.hi, self.lo, array, array)

    def labels(self, part: Labels) -> None:
        """One label per row: hi, then lo."""
        self.word(part.hi)
        self.word(part.lo)

    def value(self, name: str, column: pa.Array | pa.ChunkedArray) -> None:
        """A named value per row; rows with null absorb nothing."""
        array = _whole(column)
        if pa.types.is_null(array.type):
            return
        name_hi, name_lo = _digest(name)
        valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else _NO_ROWS
        if pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
            values = pc.fill_null(array.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
            mixing.absorb_floats(self.hi, self.lo, name_hi, name_lo, values, values.view(np.uint64), valid)
            return
        tag, hi, lo = _words(array)
        mixing.absorb_values(self.hi, self.lo, name_hi, name_lo, np.uint64(tag), hi, lo, valid)

    def values(self, attributes: Mapping[str, pa.Array | pa.ChunkedArray]) -> None:
        """Named values in the order of their names."""
        for name in sorted(attributes):
            self.value(name, attributes[name])

    def finish(self) -> Labels:
        """Append k, in row order among equal states."""
        self.text("end")
        self.word(_occurrence(self.hi, self.lo))
        return Labels(self.hi, self.lo)


def input_labels(
    type: str, time: np.ndarray, sequence: pa.Array | None, attributes: Mapping[str, pa.Array | pa.ChunkedArray]
) -> Labels:
    """The labels of n input rows of one type: int64 ``time`` (n), ``sequence`` and every attribute an Arrow array (n).

    Rows equal in everything must come in one call (they share their instant and every partition key).
    """
    state = Mixer("input", len(time))
    state.text(type)
    state.word(time)
    if sequence is not None:
        state.value("sequence", sequence)
    state.values(attributes)
    return state.finish()


def derived_labels(
    definition: str | bytes,
    parts: Sequence[Labels],
    time: np.ndarray | None = None,
    values: Mapping[str, pa.Array | pa.ChunkedArray] | None = None,
) -> Labels:
    """The labels of n derived events of one definition.

    ``parts`` are the labels of the constituents, terminator first, each (n); ``time`` stands for a constituent that is
    no event (a Timer, a due time); ``values`` are for languages whose events are identified by their attributes.  Rows
    come in rank order, those with equal parts in one call.
    """
    if not parts and time is None and not values:
        raise ValueError("a derived event needs parts, a time or values")
    n = len(parts[0]) if parts else len(time) if time is not None else len(next(iter((values or {}).values())))
    state = Mixer("derived", n)
    state.text(definition)
    state.word(len(parts))
    for part in parts:
        state.labels(part)
    if time is not None:
        state.value("time", pa.array(time, pa.int64()))
    state.values(values or {})
    return state.finish()


def bound_labels(
    definition: str | bytes, offsets: np.ndarray, parts: Labels, time: np.ndarray, due: np.ndarray
) -> Labels:
    """The labels of n derived events whose constituents are lists, as :func:`derived_labels` gives them.

    Those of event i are ``parts[offsets[i]:offsets[i + 1]]`` (offsets: n + 1), and its ``time`` where it is ``due``
    to a timer (booleans, n).
    """
    state = Mixer("derived", len(time))
    state.text(definition)
    state.word(np.diff(offsets))
    mixing.absorb_lists(state.hi, state.lo, offsets, parts.hi, parts.lo)
    state.value("time", pa.array(time, pa.int64(), mask=~due))
    return state.finish()


def chained_labels(
    definitions: Sequence[str], kind: np.ndarray, parts: np.ndarray, roles: np.ndarray, made: np.ndarray, pool: Labels
) -> Labels:
    """The labels of n derived events that may be parts of later ones, as :func:`derived_labels` gives them.

    ``kind`` (n): number of the definition; ``parts`` (n, m): rows of ``pool``, the first ``roles[kind]`` count;
    ``made`` (n): the row of ``pool`` that the event becomes (written), or -1.  No two events have equal parts.
    """
    begun = [Mixer("derived", 1) for _ in definitions]
    for state, definition, n in zip(begun, definitions, roles.tolist()):
        state.text(definition)
        state.word(n)
    begin_hi = np.array([s.hi[0] for s in begun], np.uint64)
    begin_lo = np.array([s.lo[0] for s in begun], np.uint64)
    hi, lo = mixing.chain(kind, parts, roles, made, begin_hi, begin_lo, *_digest("end"), pool.hi, pool.lo)
    return Labels(hi, lo)


def _occurrence(hi: np.ndarray, lo: np.ndarray) -> np.ndarray:
    """0, 1, .. among equal (hi, lo), in row order: int64 (n)."""
    k = np.zeros(len(hi), np.int64)
    ordered = np.sort(hi)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        # only the rows whose upper half occurs twice can have an equal; usually there are none
        rows = np.flatnonzero(np.isin(hi, np.unique(twice)))
        rows = rows[np.lexsort((lo[rows], hi[rows]))]
        first = np.ones(len(rows), np.bool_)
        first[1:] = (hi[rows[1:]] != hi[rows[:-1]]) | (lo[rows[1:]] != lo[rows[:-1]])
        index = np.arange(len(rows))
        k[rows] = index - np.maximum.accumulate(np.where(first, index, 0))
    return k


def _digest(text: str | bytes) -> tuple[np.uint64, np.uint64]:
    data = np.frombuffer(text.encode() if isinstance(text, str) else text, np.uint8)
    hi, lo = mixing.digest_texts(np.array([0, len(data)], np.int64), data)
    return hi[0], lo[0]


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One array, dictionaries decoded unless they hold texts."""
    array = column
    if isinstance(column, pa.ChunkedArray):
        array = column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()
    if pa.types.is_dictionary(array.type) and not (_is_text(array.type) and array.dictionary.null_count == 0):
        array = array.dictionary_decode()
    return array


def _is_text(t: pa.DataType) -> bool:
    t = t.value_type if pa.types.is_dictionary(t) else t
    return pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t)


def _text_buffers(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Offsets int64 (n + 1) and bytes of texts or binaries; a null is the empty text."""
    if not (pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)):
        array = array.cast(pa.large_string() if _is_text(array.type) else pa.large_binary())
    _, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return starts, np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def _words(array: pa.Array) -> tuple[int, np.ndarray, np.ndarray]:
    """The tag and, per lane, the word of each value (any word for nulls)."""
    t = array.type
    if pa.types.is_dictionary(t):
        _, hi, lo = _words(array.dictionary)
        index = pc.fill_null(array.indices, 0).to_numpy(zero_copy_only=False)
        if len(hi) == 0:
            hi = lo = np.zeros(1, np.uint64)
        return mixing.TAG_STRING, hi[index], lo[index]
    if _is_text(t) or pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t):
        hi, lo = mixing.digest_texts(*_text_buffers(array))
        return mixing.TAG_STRING if _is_text(t) else mixing.TAG_BINARY, hi, lo
    if pa.types.is_timestamp(t) or pa.types.is_date(t):
        tag, array = mixing.TAG_TIMESTAMP, array.cast(pa.timestamp("us", getattr(t, "tz", None))).cast(pa.int64())
    elif pa.types.is_boolean(t):
        tag, array = mixing.TAG_BOOL, array.cast(pa.int64())
    elif pa.types.is_integer(t):
        tag, array = mixing.TAG_INT, array.cast(pa.int64())
    else:
        raise InputProblem.of("type-mismatch", f"values of type {t} cannot be part of a label")
    words = pc.fill_null(array, 0).to_numpy(zero_copy_only=False).view(np.uint64)
    return tag, words, words
