"""Colour sets: the types of tokens (epl-and-nets.md, section 4B, Data).

Values are plain and hashable: unit is ``()``, an int, bool, float or str is itself, a value of an enumeration is its
name, a product, record or list is a tuple (records in the order of their declared fields), a union is the pair
``(constructor, value)`` with ``()`` as the value of a constructor that takes none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import product
from math import prod

#: the value of a token
Value = Hashable


@dataclass(frozen=True)
class Colour(ABC):
    """Any colour set.

    Attributes:
        name: As declared; a net declares each name once.
        timed: Whether its tokens have a time, before which they cannot be taken.
    """

    name: str
    timed: bool = field(default=False, kw_only=True)

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
    """Integers; ``low`` and ``high`` are the least and the greatest, if they are bounded (``int with 1..5``)."""

    low: int | None = None
    high: int | None = None

    def check(self, value: Value) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return _wrong(value, self)
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return f"{value} is not between {self.low} and {self.high} ({self.name})"
        return None


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
class Index(Union):
    """Indexed values ``c(low)`` to ``c(high)`` (``index c with low..high``): a union of one case with bounds."""

    @property
    def numbers(self) -> Int:
        """The colour of the numbers, which is not declared."""
        (_, held), = self.cases
        assert isinstance(held, Int)
        return held


def index(name: str, constructor: str, low: int, high: int, timed: bool = False) -> Index:
    """The colour ``index constructor with low..high``."""
    return Index(name, ((constructor, Int(f"{name}_number", low, high)),), timed=timed)


@dataclass(frozen=True)
class List(Colour):
    """Lists; ``shortest`` and ``longest`` bound their length (``list int with 1..5``)."""

    of: Colour
    shortest: int = 0
    longest: int | None = None

    def check(self, value: Value) -> str | None:
        if not isinstance(value, tuple):
            return _wrong(value, self)
        if len(value) < self.shortest or (self.longest is not None and len(value) > self.longest):
            return f"a list of {len(value)} is not of the lengths of {self.name}, {self.shortest} to {self.longest}"
        return _parts(value, self, [(f"[{k}]", self.of) for k in range(len(value))])


@dataclass(frozen=True)
class Alias(Colour):
    of: Colour

    def check(self, value: Value) -> str | None:
        return self.of.check(value)


@dataclass(frozen=True)
class Subset(Alias):
    """Some values of another colour.

    Attributes:
        by: The name of the function that says which, in a declaration with ``by``.
        values: The values themselves, in a declaration with ``with``.
        holds: The function; it is not compared.
    """

    by: str | None = None
    values: tuple[Value, ...] | None = None
    holds: Callable[[Value], object] | None = field(default=None, compare=False, repr=False)

    def check(self, value: Value) -> str | None:
        wrong = self.of.check(value)
        return wrong if wrong is not None or self.has(value) else _wrong(value, self)

    def has(self, value: Value) -> bool:
        """Whether a value of the whole colour is one of the subset."""
        if self.values is not None:
            return value in self.values
        return self.holds is None or self.holds(value) is True


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
        case Index():
            return ()
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


#: a colour with more values than this is not listed
MOST_VALUES = 100_000


def members(colour: Colour) -> list[Value] | None:
    """All values of a finite colour in their order, None for others: what ``Name.all()`` stands for.

    >>> members(Product("P", (Bool("BOOL"), Enum("E", ("a", "b")))))
    [(False, 'a'), (False, 'b'), (True, 'a'), (True, 'b')]
    >>> members(index("D", "d", 1, 3))
    [('d', 1), ('d', 2), ('d', 3)]
    """
    if isinstance(colour, Subset):
        whole = list(colour.values) if colour.values is not None else members(colour.of)
        return None if whole is None else [v for v in whole if colour.has(v)]
    match colour:
        case Alias():
            return members(colour.of)
        case Unit():
            return [()]
        case Bool():
            return [False, True]
        case Enum():
            return list(colour.values)
        case Int(low=int(low), high=int(high)):
            return list(range(low, high + 1)) if high - low < MOST_VALUES else None
        case Union():
            cases = [(name, [()] if c is None else members(c)) for name, c in colour.cases]
            if any(values is None for _, values in cases):
                return None
            return [(name, v) for name, values in cases for v in values or ()]
        case Product() | Record():
            colours = colour.parts if isinstance(colour, Product) else [c for _, c in colour.fields]
            parts = [members(c) for c in colours]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts) or prod(map(len, known)) > MOST_VALUES:
                return None
            return list(product(*known))
    return None
