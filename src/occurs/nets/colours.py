"""Colour sets: the types of tokens (epl-and-nets.md, section 4B, Data).

Values are plain and hashable: unit is ``()``, an int, bool, float or str is itself, a value of an enumeration is its
name, a product, record or list is a tuple (records in the order of their declared fields), a union is the pair
``(constructor, value)`` with ``()`` as the value of a constructor that takes none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass

#: the value of a token
Value = Hashable


@dataclass(frozen=True)
class Colour(ABC):
    """Any colour set.  ``name``: as declared; a net declares each name once."""

    name: str

    @abstractmethod
    def check(self, value: Value) -> str | None:
        """None if ``value`` is of this colour, else what is wrong with it, with the place inside it."""


@dataclass(frozen=True)
class Unit(Colour):
    def check(self, value: Value) -> str | None:
        return None if value == () and isinstance(value, tuple) else _wrong(value, self)


@dataclass(frozen=True)
class Bool(Colour):
    def check(self, value: Value) -> str | None:
        return None if isinstance(value, bool) else _wrong(value, self)


@dataclass(frozen=True)
class Int(Colour):
    def check(self, value: Value) -> str | None:
        return None if isinstance(value, int) and not isinstance(value, bool) else _wrong(value, self)


@dataclass(frozen=True)
class Real(Colour):
    def check(self, value: Value) -> str | None:
        return None if isinstance(value, float) else _wrong(value, self)


@dataclass(frozen=True)
class String(Colour):
    def check(self, value: Value) -> str | None:
        return None if isinstance(value, str) else _wrong(value, self)


@dataclass(frozen=True)
class Enum(Colour):
    values: tuple[str, ...]

    def check(self, value: Value) -> str | None:
        return None if isinstance(value, str) and value in self.values else _wrong(value, self)


@dataclass(frozen=True)
class Product(Colour):
    parts: tuple[Colour, ...]

    def check(self, value: Value) -> str | None:
        return _parts(value, self, [(str(k + 1), c) for k, c in enumerate(self.parts)])


@dataclass(frozen=True)
class Record(Colour):
    fields: tuple[tuple[str, Colour], ...]

    def check(self, value: Value) -> str | None:
        return _parts(value, self, list(self.fields))


@dataclass(frozen=True)
class Union(Colour):
    """``cases``: constructor -> the colour of what it holds, None if it holds nothing."""

    cases: tuple[tuple[str, Colour | None], ...]

    def case(self, constructor: str) -> Colour | None:
        """What ``constructor`` holds; KeyError if there is none of that name."""
        return dict(self.cases)[constructor]

    def check(self, value: Value) -> str | None:
        if not (isinstance(value, tuple) and len(value) == 2 and value[0] in dict(self.cases)):
            return _wrong(value, self)
        held = self.case(value[0])
        if held is None:
            return None if value[1] == () else f"{value[0]} does not hold a value, got {value[1]!r}"
        inner = held.check(value[1])
        return None if inner is None else f"{value[0]}: {inner}"


@dataclass(frozen=True)
class List(Colour):
    of: Colour

    def check(self, value: Value) -> str | None:
        if not isinstance(value, tuple):
            return _wrong(value, self)
        return _parts(value, self, [(f"[{k}]", self.of) for k in range(len(value))])


@dataclass(frozen=True)
class Alias(Colour):
    of: Colour

    def check(self, value: Value) -> str | None:
        return self.of.check(value)


def _parts(value: Value, colour: Colour, parts: list[tuple[str, Colour]]) -> str | None:
    if not isinstance(value, tuple) or len(value) != len(parts):
        return _wrong(value, colour)
    for (name, part), v in zip(parts, value, strict=True):
        inner = part.check(v)
        if inner is not None:
            return f"{name}: {inner}"
    return None


def _wrong(value: Value, colour: Colour) -> str:
    return f"{value!r} is not a value of {colour.name} ({type(colour).__name__.lower()})"


def made_of(colour: Colour) -> tuple[Colour, ...]:
    """The colours that a declaration of ``colour`` names."""
    match colour:
        case Product():
            return colour.parts
        case Record():
            return tuple(c for _, c in colour.fields)
        case Union():
            return tuple(c for _, c in colour.cases if c is not None)
        case List() | Alias():
            return (colour.of,)
    return ()


def plain(colour: Colour) -> Colour:
    """Without its aliases at the top."""
    while isinstance(colour, Alias):
        colour = colour.of
    return colour
