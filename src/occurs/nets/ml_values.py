"""Long markings read at once: constants of a known colour, without names to look up (epl-and-nets.md, 4B).

What is not written plainly (arithmetic, constants by name, comments) is left to :mod:`occurs.nets.ml_parser`, which
also says what is wrong.
"""

from __future__ import annotations

import re
from typing import Any

from occurs.nets.colours import Bool, Colour, Enum, Int, List, Product, Real, Record, String, Union, Unit, Value, plain
from occurs.nets.ml_functions import unescaped

_TOKEN = re.compile(
    r"""\s*(?:(?P<real>~?\d+(?:\.\d+(?:[eE]~?\d+)?|[eE]~?\d+))|(?P<int>~?\d+)|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<name>[A-Za-z][\w']*(?![\w'.]))|(?P<sign>\+\+|[`(){}\[\],=]))""",
    re.DOTALL | re.ASCII,
)


class _Other(Exception):
    """The text has something that is not read here."""


def quick_values(text: str, colour: Colour, most: int) -> tuple[Value, ...] | None:
    """The tokens of a marking, in their order; None if the text is not one of plain constants of ``colour``.

    >>> quick_values("2`1++1`~3", Int("INT"), 9), quick_values("1`n", Int("INT"), 9)
    ((1, 1, -3), None)
    """
    try:
        return _Reader(text).marking(plain(colour), most)
    except (_Other, RecursionError):
        return None


class _Reader:
    def __init__(self, text: str):
        self.tokens: list[tuple[str, str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at, end)
            if match is None:
                raise _Other
            self.tokens.append((str(match.lastgroup), match.group(match.lastgroup or 0)))
            at = match.end()
        self.tokens.append(("end", ""))
        self.at = 0

    def marking(self, colour: Colour, most: int) -> tuple[Value, ...]:
        found: list[Value] = []
        while True:
            count = 1
            if self.tokens[self.at][0] == "int" and self.tokens[self.at + 1][1] == "`":
                count = int(self._next("int").replace("~", "-"))
                self._next("sign", "`")
            if not 0 <= count <= most - len(found):
                raise _Other
            found += [self._value(colour)] * count
            if self.tokens[self.at][0] == "end":
                return tuple(found)
            self._next("sign", "++")

    def _next(self, kind: str, text: str | None = None) -> str:
        found, word = self.tokens[self.at]
        if found != kind or text not in (None, word):
            raise _Other
        self.at += 1
        return word

    def _is(self, sign: str) -> bool:
        return self.tokens[self.at] == ("sign", sign)

    def _value(self, colour: Colour) -> Value:
        """The value of ``colour``, which has no alias at its top, that begins here."""
        if isinstance(colour, Product):
            return self._parts([plain(c) for c in colour.parts])
        if self._is("(") and not isinstance(colour, Unit):
            self.at += 1
            value = self._value(colour)
            self._next("sign", ")")
            return value
        match colour:
            case Int():
                return int(self._next("int").replace("~", "-"))
            case Real():
                return float(self._next("real").replace("~", "-"))
            case String():
                return unescaped(self._next("string")[1:-1])
            case Bool():
                return self._one_of({"true": True, "false": False})
            case Enum():
                return self._one_of({name: name for name in colour.values})
            case Union():
                return self._union(colour)
            case Record() if colour.fields:
                return self._record(colour)
            case List():
                return self._list(plain(colour.of))
            case Unit() | Record():
                self._next("sign", "(")
                self._next("sign", ")")
                return ()
        raise _Other

    def _one_of(self, known: dict[str, Any]) -> Value:
        name = self._next("name")
        if name not in known:
            raise _Other
        value: Value = known[name]
        return value

    def _parts(self, colours: list[Colour]) -> Value:
        self._next("sign", "(")
        values = []
        for k, colour in enumerate(colours):
            if k:
                self._next("sign", ",")
            values.append(self._value(colour))
        self._next("sign", ")")
        return tuple(values)

    def _list(self, colour: Colour) -> Value:
        self._next("sign", "[")
        values: list[Value] = []
        while not self._is("]"):
            if values:
                self._next("sign", ",")
            values.append(self._value(colour))
        self.at += 1
        return tuple(values)

    def _record(self, colour: Record) -> Value:
        fields = {name: plain(c) for name, c in colour.fields}
        found: dict[str, Value] = {}
        self._next("sign", "{")
        while not self._is("}"):
            if found:
                self._next("sign", ",")
            name = self._next("name")
            self._next("sign", "=")
            if name not in fields or name in found:
                raise _Other
            found[name] = self._value(fields[name])
        self.at += 1
        if len(found) < len(fields):
            raise _Other
        return tuple(found[name] for name in fields)

    def _union(self, colour: Union) -> Value:
        cases = dict(colour.cases)
        name = self._next("name")
        if name not in cases:
            raise _Other
        held = cases[name]
        return (name, () if held is None else self._value(plain(held)))
