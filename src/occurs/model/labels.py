"""Labels: the identity of every event, 128 bits, the same in every run, host and partitioning (common.md, section 3).

Version 1 of the encoding; the mixing function and the tags are below.  From the seeds a label absorbs, in this order (a
*name* or *text* as its digest; ``name ^ tag`` is the digest of the name with a small number for the kind of value; of
values, a string as its digest, all others as one 64-bit word):

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
from occurs.kernel import kernel

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
            parse_hex(offsets, data, state.hi, state.lo)
        return cls(state.hi, state.lo)


class Mixer:
    """n states that absorb columns, word by word; ``finish`` appends k and gives the labels."""

    def __init__(self, purpose: str, n: int):
        self.hi = np.full(n, SEED_HI, np.uint64)
        self.lo = np.full(n, SEED_LO, np.uint64)
        self.text(f"occurs-label-{VERSION}/{purpose}")

    def text(self, text: str | bytes) -> None:
        """One text for all rows."""
        hi, lo = _digest(text)
        absorb(self.hi, self.lo, np.array([hi]), np.array([lo]))

    def word(self, words: np.ndarray | int) -> None:
        """One int64 or uint64 per row, or one int for all."""
        array = np.atleast_1d(np.asarray(words))
        array = np.ascontiguousarray(array if array.dtype == np.uint64 else array.astype(np.int64)).view(np.uint64)
        absorb(self.hi, self.lo, array, array)

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
            absorb_floats(self.hi, self.lo, name_hi, name_lo, values, values.view(np.uint64), valid)
            return
        tag, hi, lo = _words(array)
        absorb_values(self.hi, self.lo, name_hi, name_lo, np.uint64(tag), hi, lo, valid)

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
    absorb_lists(state.hi, state.lo, offsets, parts.hi, parts.lo)
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
    hi, lo = chain(kind, parts, roles, made, begin_hi, begin_lo, *_digest("end"), pool.hi, pool.lo)
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
    hi, lo = digest_texts(np.array([0, len(data)], np.int64), data)
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
        return TAG_STRING, hi[index], lo[index]
    if _is_text(t) or pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t):
        hi, lo = digest_texts(*_text_buffers(array))
        return TAG_STRING if _is_text(t) else TAG_BINARY, hi, lo
    if pa.types.is_timestamp(t) or pa.types.is_date(t):
        tag, array = TAG_TIMESTAMP, array.cast(pa.timestamp("us", getattr(t, "tz", None))).cast(pa.int64())
    elif pa.types.is_boolean(t):
        tag, array = TAG_BOOL, array.cast(pa.int64())
    elif pa.types.is_integer(t):
        tag, array = TAG_INT, array.cast(pa.int64())
    else:
        raise InputProblem.of("type-mismatch", f"values of type {t} cannot be part of a label")
    words = pc.fill_null(array, 0).to_numpy(zero_copy_only=False).view(np.uint64)
    return tag, words, words


# --- the mixing function, version 1: two 64-bit lanes, and the kernels that feed them columns -------------------------
# All arithmetic is modulo 2^64.  A state is a pair (hi, lo); both lanes absorb one 64-bit word ``w`` at a time:
#
# - lane hi: ``z = hi ^ w``, ``z = (z ^ z>>30) * 0xBF58476D1CE4E5B9``, ``z = (z ^ z>>27) * 0x94D049BB133111EB``,
#   ``hi = (z ^ z>>31) + 0x9E3779B97F4A7C15`` (the finaliser of splitmix64, then its increment)
# - lane lo: ``z = lo ^ w``, ``z = (z ^ z>>27) * 0x3C79AC492BA7B653``, ``z = (z ^ z>>33) * 0x1C69B3F74AC4AE35``,
#   ``lo = (z ^ z>>27) + 0xD1B54A32D192ED03`` (the finaliser "moremur")
#
# The seeds are hi = 0x243F6A8885A308D3 and lo = 0x13198A2E03707344 (the fraction of pi).  For one word each lane is a
# bijection; for more words two inputs fall together with a chance of about 2^-128.  It is not cryptographic: it guards
# against accidents, not against someone who searches for collisions.
#
# The *digest* of a text is the state after absorbing, from the seeds, the number of its UTF-8 bytes and then the bytes
# as little-endian words, the last one filled up with zeros.  Where a text is absorbed, lane hi absorbs the digest's hi
# and lane lo its lo, so a dictionary-encoded column costs one digest per distinct text.

SEED_HI = 0x243F6A8885A308D3
SEED_LO = 0x13198A2E03707344

_U30, _U27, _U31, _U33, _U8 = (np.uint64(n) for n in (30, 27, 31, 33, 8))
_HI_1, _HI_2, _HI_3 = (np.uint64(n) for n in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15))
_LO_1, _LO_2, _LO_3 = (np.uint64(n) for n in (0x3C79AC492BA7B653, 0x1C69B3F74AC4AE35, 0xD1B54A32D192ED03))
_SEED_HI, _SEED_LO = np.uint64(SEED_HI), np.uint64(SEED_LO)

#: what a value is, absorbed together with the name of its attribute
TAG_BOOL, TAG_INT, TAG_FLOAT, TAG_STRING, TAG_TIMESTAMP, TAG_BINARY = range(1, 7)
_TAG_INT, _TAG_FLOAT = np.uint64(TAG_INT), np.uint64(TAG_FLOAT)


@kernel(inline="always")
def mix_hi(state: np.uint64, word: np.uint64) -> np.uint64:
    """One step of lane hi."""
    z = state ^ word
    z = (z ^ (z >> _U30)) * _HI_1
    z = (z ^ (z >> _U27)) * _HI_2
    return (z ^ (z >> _U31)) + _HI_3


@kernel(inline="always")
def mix_lo(state: np.uint64, word: np.uint64) -> np.uint64:
    """One step of lane lo."""
    z = state ^ word
    z = (z ^ (z >> _U27)) * _LO_1
    z = (z ^ (z >> _U33)) * _LO_2
    return (z ^ (z >> _U27)) + _LO_3


@kernel
def absorb(hi: np.ndarray, lo: np.ndarray, word_hi: np.ndarray, word_lo: np.ndarray) -> None:
    """All rows absorb one word, in place; words are arrays of n, or of 1 for one word common to all rows."""
    step_hi = 1 if len(word_hi) > 1 else 0
    step_lo = 1 if len(word_lo) > 1 else 0
    for i in range(len(hi)):
        hi[i] = mix_hi(hi[i], word_hi[i * step_hi])
        lo[i] = mix_lo(lo[i], word_lo[i * step_lo])


@kernel
def chain(
    kind: np.ndarray,
    parts: np.ndarray,
    roles: np.ndarray,
    made: np.ndarray,
    begin_hi: np.ndarray,
    begin_lo: np.ndarray,
    end_hi: np.uint64,
    end_lo: np.uint64,
    pool_hi: np.ndarray,
    pool_lo: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Event by event: from the state of its kind absorb its parts' labels and the end; the label goes into the pool."""
    n = len(kind)
    out_hi = np.empty(n, np.uint64)
    out_lo = np.empty(n, np.uint64)
    for i in range(n):
        hi = begin_hi[kind[i]]
        lo = begin_lo[kind[i]]
        for role in range(roles[kind[i]]):
            row = parts[i, role]
            hi = mix_hi(mix_hi(hi, pool_hi[row]), pool_lo[row])
            lo = mix_lo(mix_lo(lo, pool_hi[row]), pool_lo[row])
        out_hi[i] = mix_hi(mix_hi(hi, end_hi), np.uint64(0))
        out_lo[i] = mix_lo(mix_lo(lo, end_lo), np.uint64(0))
        if made[i] >= 0:
            pool_hi[made[i]] = out_hi[i]
            pool_lo[made[i]] = out_lo[i]
    return out_hi, out_lo


@kernel
def absorb_lists(hi: np.ndarray, lo: np.ndarray, offsets: np.ndarray, part_hi: np.ndarray, part_lo: np.ndarray) -> None:
    """Row i absorbs the labels ``offsets[i]`` to ``offsets[i + 1]``, each its hi, then its lo, in place."""
    for i in range(len(hi)):
        for k in range(offsets[i], offsets[i + 1]):
            hi[i] = mix_hi(mix_hi(hi[i], part_hi[k]), part_lo[k])
            lo[i] = mix_lo(mix_lo(lo[i], part_hi[k]), part_lo[k])


@kernel
def absorb_values(
    hi: np.ndarray,
    lo: np.ndarray,
    name_hi: np.uint64,
    name_lo: np.uint64,
    tag: np.uint64,
    word_hi: np.ndarray,
    word_lo: np.ndarray,
    valid: np.ndarray,
) -> None:
    """Rows with a value absorb (name ^ tag), then the value's word, in place; ``valid`` has n rows, or none for all."""
    every = len(valid) == 0
    for i in range(len(hi)):
        if every or valid[i]:
            hi[i] = mix_hi(mix_hi(hi[i], name_hi ^ tag), word_hi[i])
            lo[i] = mix_lo(mix_lo(lo[i], name_lo ^ tag), word_lo[i])


@kernel
def absorb_floats(
    hi: np.ndarray,
    lo: np.ndarray,
    name_hi: np.uint64,
    name_lo: np.uint64,
    values: np.ndarray,
    bits: np.ndarray,
    valid: np.ndarray,
) -> None:
    """The same for floats: NaN is null, whole numbers within int64 are ints (so -0.0 is 0), others their IEEE bits."""
    every = len(valid) == 0
    for i in range(len(hi)):
        v = values[i]
        if (every or valid[i]) and v == v:
            tag, word = _TAG_FLOAT, bits[i]
            if -9223372036854775808.0 <= v < 9223372036854775808.0 and v == np.floor(v):
                tag, word = _TAG_INT, np.uint64(np.int64(v))
            hi[i] = mix_hi(mix_hi(hi[i], name_hi ^ tag), word)
            lo[i] = mix_lo(mix_lo(lo[i], name_lo ^ tag), word)


@kernel
def digest_texts(offsets: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The digests of n texts: ``offsets`` (n + 1) into the bytes ``data``."""
    n = len(offsets) - 1
    hi = np.empty(n, np.uint64)
    lo = np.empty(n, np.uint64)
    for i in range(n):
        at, stop = offsets[i], offsets[i + 1]
        length = np.uint64(stop - at)
        h, low = mix_hi(_SEED_HI, length), mix_lo(_SEED_LO, length)
        while at < stop:
            word = np.uint64(0)
            for b in range(min(8, stop - at)):
                word |= np.uint64(data[at + b]) << (_U8 * np.uint64(b))
            h, low = mix_hi(h, word), mix_lo(low, word)
            at += 8
        hi[i], lo[i] = h, low
    return hi, lo


@kernel
def parse_hex(offsets: np.ndarray, data: np.ndarray, hi: np.ndarray, lo: np.ndarray) -> None:
    """Write the 128 bits of every text that is exactly 32 lower-case hexadecimal digits; leave the other rows alone."""
    for i in range(len(offsets) - 1):
        at = offsets[i]
        if offsets[i + 1] - at != 32:
            continue
        h, low = np.uint64(0), np.uint64(0)
        fits = True
        for d in range(32):
            c = np.int64(data[at + d])
            if 48 <= c <= 57:
                digit = np.uint64(c - 48)
            elif 97 <= c <= 102:
                digit = np.uint64(c - 87)
            else:
                fits = False
                break
            if d < 16:
                h = (h << np.uint64(4)) | digit
            else:
                low = (low << np.uint64(4)) | digit
        if fits:
            hi[i], lo[i] = h, low
