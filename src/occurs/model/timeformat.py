"""Times written in a format of one's own: ``--time-format``, in the directives of strptime.

A format becomes a regular expression, and its groups become ISO 8601 text, which the readers of times judge.  So every
host reads the same, with functions on whole columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import UsageProblem
from occurs.model.values import short

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_REST = ("uary", "ruary", "ch", "il", "", "e", "y", "ust", "t|tember", "ober", "ember", "ember")
#: a month by its English name or its first three letters, or `sept`, in lower case; a point may follow
MONTH = f"({'|'.join(m + (f'(?:{rest})?' if rest else '') for m, rest in zip(MONTHS, _REST, strict=True))})\\.?"
#: directive -> (name of the part, regular expression of it in lower case); a part without a name is passed over
_PARTS = {
    "Y": ("year", r"(\d{4})"),
    "y": ("short year", r"(\d{2})"),
    "m": ("month", r"(\d{1,2})"),
    "b": ("month name", MONTH),
    "d": ("day", r"(\d{1,2})"),
    "H": ("hour", r"(\d{1,2})"),
    "I": ("hour of 12", r"(\d{1,2})"),
    "M": ("minute", r"(\d{1,2})"),
    "S": ("second", r"(\d{1,2})"),
    "f": ("fraction", r"(\d{1,9})"),
    "p": ("half", r"([ap])\.?m\.?"),
    "z": ("zone", r"(z|[+-]\d{2}(?::?\d{2})?)"),
    "Z": ("", r"(?:utc|gmt|z)"),
    "a": ("", r"[a-z]+\.?"),
    "%": ("", "%"),
}
_SAME = {"B": "b", "h": "b", "e": "d", "A": "a"}
_SHORT = {"T": "%H:%M:%S", "R": "%H:%M", "F": "%Y-%m-%d", "D": "%m/%d/%y"}
_EXAMPLE = 'such as "%d/%m/%Y %H:%M:%S" for 05/01/2024 09:30:00'


@dataclass(frozen=True)
class TimeFormat:
    """``pattern`` fits all of a text in lower case, for Arrow and for Java alike; its groups are the ``parts``."""

    text: str
    pattern: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> TimeFormat:
        """Raises UsageProblem for a format that does not make a date."""
        return _format(text)

    def iso(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Text as ISO 8601 text (whether there is such a day is for others to say), null where it does not fit."""
        text = pc.ascii_lower(column.cast(pa.string()))
        named = self.pattern
        for n in range(len(self.parts)):
            named = re.sub(r"(?<!\\)\((?!\?)", f"(?P<g{n}>", named, count=1)
        found = pc.extract_regex(text, named)
        part = {name: pc.struct_field(found, [n]) for n, name in enumerate(self.parts)}

        def padded(name: str) -> pa.ChunkedArray | str:
            return pc.utf8_lpad(part[name], 2, "0") if name in part else "00"

        year = part.get("year")
        if year is None:
            digits = part["short year"]
            year = pc.binary_join_element_wise(pc.if_else(pc.less(digits, "69"), "20", "19"), digits, "")
        month = part.get("month")
        if month is None:
            name = pc.utf8_slice_codeunits(part["month name"], 0, 3)
            number = pc.index_in(name, pa.array(MONTHS))
            month = pc.if_else(name.is_valid(), pc.add(number, 1), None).cast(pa.string())
        hour = padded("hour")
        if "half" in part:
            number = part["hour of 12"].cast(pa.int64())
            late = pc.if_else(pc.equal(part["half"], "p"), 12, 0)
            ranged = pc.and_(pc.greater(number, 0), pc.less_equal(number, 12))
            number = pc.if_else(ranged, pc.add(pc.if_else(pc.equal(number, 12), 0, number), late), None)
            hour = pc.utf8_lpad(number.cast(pa.string()), 2, "0")
        date = pc.binary_join_element_wise(year, pc.utf8_lpad(month, 2, "0"), padded("day"), "-")
        clock = pc.binary_join_element_wise(hour, padded("minute"), padded("second"), ":")
        fraction = pc.binary_join_element_wise(".", part["fraction"], "") if "fraction" in part else ""
        zone = pc.ascii_upper(part["zone"]) if "zone" in part else ""
        return pc.binary_join_element_wise(date, "T", clock, fraction, zone, "")


@lru_cache(256)
def _format(text: str) -> TimeFormat:
    whole = text
    for name, meaning in _SHORT.items():
        whole = re.sub(rf"(?<!%)((?:%%)*)%{name}", rf"\g<1>{meaning}", whole)
    pattern, parts = r"^\s*", list[str]()
    for directive, blank, other in re.findall(r"%(.)|(\s+)|(.)", whole.strip(), re.DOTALL):
        if directive:
            known_as = _SAME.get(directive, directive)
            if known_as not in _PARTS:
                known = " ".join(f"%{d}" for d in sorted({*_PARTS, *_SAME, *_SHORT}, key=lambda d: (d.lower(), d)))
                hint = f"supported directives: {known}"
                hint = "for integer seconds since 1970, use --time-unit s" if directive == "s" else hint
                raise _wrong(text, f"`%{directive}` is not supported", hint)
            name, expression = _PARTS[known_as]
            if name in parts:
                raise _wrong(text, f"`%{directive}` occurs twice", "each part of a time may appear only once")
            parts += [name] if name else []
            pattern += expression
        elif other == "%":
            raise _wrong(text, "the `%` at the end is not followed by a directive", "write `%%` for the character `%`")
        else:
            pattern += r"\s+" if blank else _plain(other.lower())
    if "%" not in whole:
        raise _wrong(text, "it has no directives", f"use the directives of strptime, {_EXAMPLE}")
    missing = [
        (what, how)
        for names, what, how in (
            (("year", "short year"), "year", "%Y"),
            (("month", "month name"), "month", "%m or %b"),
            (("day",), "day", "%d"),
        )
        if not set(names) & set(parts)
    ]
    if missing:
        what, how = missing[0]
        hint = f"add {how}, {_EXAMPLE}"
        if what == "year":
            hint = "times without a year cannot be read; put the year before each time (syslog: %Y %b %d %H:%M:%S)"
        raise _wrong(text, f"it has no {what}", hint)
    if ("hour of 12" in parts) != ("half" in parts):
        raise _wrong(text, "%I (1 to 12) and %p (AM or PM) must be used together", "use %H for the hour from 0 to 23")
    return TimeFormat(text, pattern + r"\s*$", tuple(parts))


def _plain(character: str) -> str:
    """A character of a regular expression that stands for itself."""
    return f"\\{character}" if character in r"\.^$*+?{}[]()|" else character


def _wrong(text: str, why: str, hint: str) -> UsageProblem:
    return UsageProblem.of("bad-option", f"--time-format {short(text)}: {why}", hint=hint)
