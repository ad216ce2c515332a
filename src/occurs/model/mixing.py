"""The mixing function of labels, version 1: two 64-bit lanes, and the kernels that feed them columns.

All arithmetic is modulo 2^64.  A state is a pair (hi, lo); both lanes absorb one 64-bit word ``w`` at a time:

- lane hi: ``z = hi ^ w``, ``z = (z ^ z>>30) * 0xBF58476D1CE4E5B9``, ``z = (z ^ z>>27) * 0x94D049BB133111EB``,
  ``hi = (z ^ z>>31) + 0x9E3779B97F4A7C15`` (the finaliser of splitmix64, then its increment)
- lane lo: ``z = lo ^ w``, ``z = (z ^ z>>27) * 0x3C79AC492BA7B653``, ``z = (z ^ z>>33) * 0x1C69B3F74AC4AE35``,
  ``lo = (z ^ z>>27) + 0xD1B54A32D192ED03`` (the finaliser "moremur")

The seeds are hi = 0x243F6A8885A308D3 and lo = 0x13198A2E03707344 (the fraction of pi).  For one word each lane is a
bijection; for more words two inputs fall together with a chance of about 2^-128.  It is not cryptographic: it guards
against accidents, not against someone who searches for collisions.

The *digest* of a text is the state after absorbing, from the seeds, the number of its UTF-8 bytes and then the bytes as
little-endian words, the last one filled up with zeros.  Where a text is absorbed, lane hi absorbs the digest's hi and
lane lo its lo, so a dictionary-encoded column costs one digest per distinct text.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel

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
