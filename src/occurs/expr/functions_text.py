"""Functions of text; positions count characters (code points) from 1, as in SQL."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr import reference_functions as plain
from occurs.expr.columnar import ints, validity
from occurs.expr.signature import INT, STRING, reference
from occurs.expr.signature import function as declare
from occurs.model.types import Type

function = partial(declare, topic="text")

#: a text that is padded to more characters than this is null: nobody means it
LONGEST = 1 << 20


@function(STRING, result=Type.STRING, example=(("Ab",), "ab"))
@reference(lambda a: a.lower())
def lower(x: pa.Array) -> pa.Array:
    """The text in lower case, by the rules of Unicode."""
    return pc.ascii_lower(x) if _plain(x) else _each_text(x, str.lower)


@function(STRING, result=Type.STRING, example=(("Ab",), "AB"))
@reference(lambda a: a.upper())
def upper(x: pa.Array) -> pa.Array:
    """The text in upper case, by the rules of Unicode: ß becomes SS."""
    return pc.ascii_upper(x) if _plain(x) else _each_text(x, str.upper)


def _plain(x: pa.Array) -> bool:
    return pc.all(pc.string_is_ascii(x), min_count=0).as_py() is not False


def _each_text(x: pa.Array, f: Callable[[str], str]) -> pa.Array:
    """``f`` of each distinct text: Arrow maps letter by letter, which is wrong for some."""
    column = x.dictionary_encode()
    done = pa.array([None if t is None else f(t) for t in column.dictionary.to_pylist()], pa.string())
    return done.take(column.indices)


@function(STRING, result=Type.INT, example=(("Zürich",), 6))
@reference(len)
def length(x: pa.Array) -> pa.Array:
    """The number of characters."""
    return pc.utf8_length(x).cast(pa.int64())


@function(STRING, result=Type.STRING, least=1, repeats=True, scalars=True, example=(("a", "b", "c"), "abc"))
@reference(lambda *a: "".join(a))
def concat(*args: Any) -> Any:
    """The strings joined together; null if one of them is null."""
    return pc.binary_join_element_wise(*args, "", null_handling="emit_null")


@function(STRING, INT, INT, result=Type.STRING, least=2, literal=(1, 2), example=(("abcdef", 2, 3), "bcd"))
@reference(plain.substring)
def substring(x: pa.Array, start: int, size: int | None = None) -> pa.Array:
    """``size`` characters (default: all) from position ``start``: 1 is the first, -1 the last."""
    if size is not None and size <= 0:
        return pc.utf8_slice_codeunits(x, 0, 0)
    if start < 0:
        # a start before the text cuts what lies before it off
        stop = None if size is None or start + size >= 0 else start + size
        first = max(start, -(2**31))
        if size is None or stop is None:
            return pc.utf8_slice_codeunits(x, first) if size is None else _from_end(x, first, size)
        return _from_end(x, first, size)
    first = max(start, 1) - 1
    stop = None if size is None else first + size
    return pc.utf8_slice_codeunits(x, min(first, 2**62), None if stop is None or stop > 2**62 else stop)


def _from_end(x: pa.Array, start: int, size: int) -> pa.Array:
    """``size`` characters from ``start`` < 0; the characters that would lie before the text count."""
    lengths = pc.utf8_length(x)
    begin = pc.add(lengths.cast(pa.int64()), start)
    values, valid = ints(begin), validity(begin)
    short = values < 0 if valid is None else (values < 0) & valid
    out = pc.utf8_slice_codeunits(pc.utf8_slice_codeunits(x, start), 0, size)
    for missing in np.unique(-values[short]).tolist():
        rows = pc.equal(begin, -missing)
        out = pc.if_else(rows, pc.utf8_slice_codeunits(x, 0, max(0, size - missing)), out)
    return out


@function(STRING, INT, result=Type.STRING, literal=(1,), example=(("abc", 2), "ab"))
@reference(lambda a, n: a[: max(0, n)])
def left(x: pa.Array, size: int) -> pa.Array:
    """The first ``size`` characters."""
    return pc.utf8_slice_codeunits(x, 0, max(0, size))


@function(STRING, INT, result=Type.STRING, literal=(1,), example=(("abc", 2), "bc"))
@reference(lambda a, n: a[max(0, len(a) - max(0, n)) :])
def right(x: pa.Array, size: int) -> pa.Array:
    """The last ``size`` characters."""
    return pc.utf8_slice_codeunits(x, -size) if size > 0 else pc.utf8_slice_codeunits(x, 0, 0)


@function(STRING, STRING, result=Type.STRING, least=1, literal=(1,), example=(("  a ",), "a"))
@reference(lambda a, *c: a.strip(*c))
def trim(x: pa.Array, characters: str | None = None) -> pa.Array:
    """The text without white space (or ``characters``) at both ends."""
    return pc.utf8_trim_whitespace(x) if characters is None else pc.utf8_trim(x, characters=characters)


@function(STRING, STRING, result=Type.STRING, least=1, literal=(1,), example=((" a ",), "a "))
@reference(lambda a, *c: a.lstrip(*c))
def ltrim(x: pa.Array, characters: str | None = None) -> pa.Array:
    """The text without white space (or ``characters``) at the start."""
    return pc.utf8_ltrim_whitespace(x) if characters is None else pc.utf8_ltrim(x, characters=characters)


@function(STRING, STRING, result=Type.STRING, least=1, literal=(1,), example=((" a ",), " a"))
@reference(lambda a, *c: a.rstrip(*c))
def rtrim(x: pa.Array, characters: str | None = None) -> pa.Array:
    """The text without white space (or ``characters``) at the end."""
    return pc.utf8_rtrim_whitespace(x) if characters is None else pc.utf8_rtrim(x, characters=characters)


@function(STRING, STRING, STRING, result=Type.STRING, literal=(1, 2), example=(("banana", "an", "-"), "b--a"))
@reference(lambda a, old, new: a.replace(old, new) if old else a)
def replace(x: pa.Array, old: str, new: str) -> pa.Array:
    """Every ``old`` replaced by ``new``; an empty ``old`` replaces nothing."""
    return pc.replace_substring(x, pattern=old, replacement=new) if old else x


@function(STRING, STRING, result=Type.BOOL, literal=(1,), example=(("abc", "ab"), True))
@reference(lambda a, part: a.startswith(part))
def starts_with(x: pa.Array, part: str) -> pa.Array:
    """True if the text starts with ``part``."""
    return pc.starts_with(x, pattern=part)


@function(STRING, STRING, result=Type.BOOL, literal=(1,), example=(("abc", "bc"), True))
@reference(lambda a, part: a.endswith(part))
def ends_with(x: pa.Array, part: str) -> pa.Array:
    """True if the text ends with ``part``."""
    return pc.ends_with(x, pattern=part)


@function(STRING, STRING, result=Type.BOOL, literal=(1,), example=(("abc", "d"), False))
@reference(lambda a, part: part in a)
def contains(x: pa.Array, part: str) -> pa.Array:
    """True if the text contains ``part``."""
    return pc.match_substring(x, pattern=part)


def _position(x: pa.Array, part: str) -> pa.Array:
    if not part:
        return pc.if_else(x.is_valid(), 1, pa.scalar(None, pa.int64()))
    pieces = pc.split_pattern(x, pattern=part, max_splits=1)
    first = pc.list_element(pc.if_else(x.is_valid(), pieces, pa.scalar([""], pa.list_(pa.string()))), 0)
    at = pc.add(pc.utf8_length(first).cast(pa.int64()), 1)
    return pc.if_else(pc.equal(pc.list_value_length(pieces), 2), at, 0)


@function(STRING, STRING, result=Type.INT, literal=(0,), example=(("c", "abc"), 3))
@reference(lambda part, a: a.find(part) + 1)
def position(part: str, x: pa.Array) -> pa.Array:
    """The position of the first ``part``, from 1; 0 if there is none."""
    return _position(x, part)


@function(STRING, STRING, result=Type.INT, literal=(1,), example=(("abc", "c"), 3))
@reference(lambda a, part: a.find(part) + 1)
def strpos(x: pa.Array, part: str) -> pa.Array:
    """The position of the first ``part``, from 1; 0 if there is none."""
    return _position(x, part)


@function(STRING, STRING, INT, result=Type.STRING, literal=(1, 2), example=(("a,b,c", ",", 2), "b"))
@reference(plain.split_part)
def split_part(x: pa.Array, separator: str, n: int) -> pa.Array:
    """Part ``n`` (from 1; negative: from the last) of the text split at ``separator``; empty if it does not exist."""
    if n == 0:
        return pa.nulls(len(x), pa.string())
    if not separator:
        return x if n in (1, -1) else pc.utf8_slice_codeunits(x, 0, 0)
    pieces = pc.split_pattern(x, pattern=separator)
    offsets = pieces.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    at = offsets[:-1] + (n - 1) if n > 0 else offsets[1:] + n
    inside = (at >= offsets[:-1]) & (at < offsets[1:])
    found = pieces.values.take(pa.array(at, mask=~inside))
    return pc.if_else(x.is_valid(), pc.fill_null(found, ""), pa.scalar(None, pa.string()))


def _pad(x: pa.Array, width: int, fill: str, left: bool) -> pa.Array:
    if width > LONGEST:
        return pa.nulls(len(x), pa.string())
    cut = pc.utf8_slice_codeunits(x, 0, max(0, width))
    if not fill or width <= 0:
        return cut
    more = (fill * (width // len(fill) + 1))[:width]
    if not left:
        return pc.utf8_slice_codeunits(pc.binary_join_element_wise(x, more, ""), 0, width)
    if len(fill) == 1:
        return pc.utf8_lpad(cut, width=width, padding=fill)
    # the padding of each row is the start of ``more``: one per number of missing characters
    starts = pa.array([more[: width - n] for n in range(width + 1)])
    return pc.binary_join_element_wise(starts.take(pc.utf8_length(cut)), cut, "")


@function(STRING, INT, STRING, result=Type.STRING, least=2, literal=(1, 2), example=(("7", 3, "0"), "007"))
@reference(plain.padded(lambda a, width, fill: plain.padding(a, width, fill) + a))
def lpad(x: pa.Array, width: int, fill: str = " ") -> pa.Array:
    """The text padded on the left to ``width`` characters, or cut to them."""
    return _pad(x, width, fill, True)


@function(STRING, INT, STRING, result=Type.STRING, least=2, literal=(1, 2), example=(("ab", 5, "xy"), "abxyx"))
@reference(plain.padded(lambda a, width, fill: a + plain.padding(a, width, fill)))
def rpad(x: pa.Array, width: int, fill: str = " ") -> pa.Array:
    """The text padded on the right to ``width`` characters, or cut to them."""
    return _pad(x, width, fill, False)


@function(STRING, INT, result=Type.STRING, literal=(1,), example=(("ab", 3), "ababab"))
@reference(lambda a, n: None if n > plain.LONGEST else a * max(0, n))
def repeat(x: pa.Array, times: int) -> pa.Array:
    """The text repeated ``times`` times."""
    if times > LONGEST:
        return pa.nulls(len(x), pa.string())
    return pc.binary_repeat(x, max(0, times))


@function(STRING, result=Type.STRING, example=(("abc",), "cba"))
@reference(lambda a: a[::-1])
def reverse(x: pa.Array) -> pa.Array:
    """The characters in reverse order."""
    return pc.utf8_reverse(x)


def regexp_problem(pattern: str) -> str | None:
    """What is wrong with a regular expression, or None."""
    try:
        pc.match_substring_regex(pa.array([""]), pattern=pattern)
    except pa.ArrowInvalid as problem:
        return "no regular expression: " + str(problem).removeprefix("Invalid regular expression: ")
    return None


_PATTERN = {1: regexp_problem}


@function(STRING, STRING, result=Type.BOOL, literal=(1,), problem=_PATTERN, example=(("abc", "^a.c$"), True))
@reference(plain.regexp(lambda a, pattern: re.search(pattern, a) is not None))
def regexp_like(x: pa.Array, pattern: str) -> pa.Array:
    """True if the regular expression (RE2) matches somewhere; null if the pattern is not valid."""
    if regexp_problem(pattern):
        return pa.nulls(len(x), pa.bool_())
    return pc.match_substring_regex(x, pattern=pattern)


@function(
    STRING,
    STRING,
    STRING,
    result=Type.STRING,
    literal=(1, 2),
    problem=_PATTERN,
    example=(("a1b22", "[0-9]+", "-"), "a-b-"),
)
@reference(plain.regexp(lambda a, pattern, new: re.sub(pattern, new.replace(r"\0", r"\g<0>"), a)))
def regexp_replace(x: pa.Array, pattern: str, new: str) -> pa.Array:
    """Every match of the regular expression (RE2) replaced by ``new``; ``\\1`` is the first group."""
    try:
        return pc.replace_substring_regex(x, pattern=pattern, replacement=new)
    except pa.ArrowInvalid:  # no regular expression, or a group that it lacks: the documented answer is null
        return pa.nulls(len(x), pa.string())


@function(
    STRING,
    STRING,
    INT,
    result=Type.STRING,
    least=2,
    literal=(1, 2),
    problem=_PATTERN,
    example=(("room 12", "room ([0-9]+)", 1), "12"),
)
@reference(plain.regexp(plain.extract))
def regexp_extract(x: pa.Array, pattern: str, group: int = 0) -> pa.Array:
    """The first match of the regular expression (RE2), or one of its groups (from 1; empty if the group
    did not match); null if there is no match, or no such group."""
    if regexp_problem(pattern):
        return pa.nulls(len(x), pa.string())
    if not group:
        return pc.struct_field(pc.extract_regex(x, pattern=f"(?P<found>{pattern})"), "found")
    if not 0 < group < 10:  # as many as a replacement can name
        return pa.nulls(len(x), pa.string())
    matched = pc.if_else(pc.match_substring_regex(x, pattern=pattern), x, pa.scalar(None, pa.string()))
    try:
        return pc.replace_substring_regex(matched, pattern=f"(?s)^.*?(?-s:{pattern}).*$", replacement=f"\\{group}")
    except pa.ArrowInvalid:  # it has not so many groups: the documented answer is null
        return pa.nulls(len(x), pa.string())


@function(STRING, INT, result=Type.STRING, literal=(1,), example=(("abc", 2), "b"), name="char_at")
@reference(lambda a, n: None if n == 0 else plain.substring(a, n, 1) or None)
def char_at(x: pa.Array, at: int) -> pa.Array:
    """The character at a position, from 1; null if there is none."""
    one = substring(x, at, 1) if at else pc.utf8_slice_codeunits(x, 0, 0)
    return pc.if_else(pc.equal(one, ""), pa.scalar(None, pa.string()), one)


# --- hashes: of the UTF-8 bytes -----------------------------------------------------------------------------------


@function(STRING, result=Type.STRING, example=(("abc",), "900150983cd24fb0d6963f7d28e17f72"))
@reference(plain.digest("md5"))
def md5(x: pa.Array) -> pa.Array:
    """The MD5 digest of the text, in hexadecimal digits."""
    return _each_text(x, lambda t: hashlib.md5(t.encode(), usedforsecurity=False).hexdigest())


@function(
    STRING,
    result=Type.STRING,
    example=(("abc",), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
)
@reference(plain.digest("sha256"))
def sha256(x: pa.Array) -> pa.Array:
    """The SHA-256 digest of the text, in hexadecimal digits."""
    return _each_text(x, lambda t: hashlib.sha256(t.encode()).hexdigest())


@function(STRING, INT, result=Type.INT, literal=(1,), example=(("abc", 10), 4))
@reference(plain.bucket)
def bucket(x: pa.Array, size: int) -> pa.Array:
    """A number from 0 to ``size`` - 1 that depends only on the text, for sampling: the first 8 bytes of its SHA-256
    digest, modulo ``size``; null if ``size`` is not positive."""
    if size <= 0:
        return pa.nulls(len(x), pa.int64())
    column = x.dictionary_encode()
    numbers = [None if t is None else _first_bytes(t) % size for t in column.dictionary.to_pylist()]
    return pa.array(numbers, pa.int64()).take(column.indices)


def _first_bytes(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
