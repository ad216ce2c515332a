"""Values of items in the reference semantics of pipes (pipes.md, 2.3, 4.1): plain Python, one at a time.

None, bool, int, float, str, bytes; a list is a tuple, the others are classes of this module.  They are all immutable
and compare by value: numbers by exact value (1 = 1.0), booleans only with booleans and Trooleans, lists by order, sets
and bags without.  Shares nothing with the engine on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any


class Troolean(Enum):
    """A verdict of LTL3."""

    TRUE = "T"
    FALSE = "F"
    UNKNOWN = "?"

    def __repr__(self) -> str:
        return self.value


class Sharp(Enum):
    """``#``: all slices that exist."""

    ALL = "#"

    def __repr__(self) -> str:
        return self.value


def key(value: Any) -> Hashable:
    """What is alike for values that are equal, and only for those."""
    if isinstance(value, bool):
        return Troolean.TRUE if value else Troolean.FALSE
    if isinstance(value, (int, float)):
        return "number", "nan" if math.isnan(value) else Fraction(value) if math.isfinite(value) else value
    if isinstance(value, tuple):
        return "list", tuple(map(key, value))
    if isinstance(value, (Set, Bag)):
        counts: dict[Hashable, int] = {}
        for v in value:
            counts[key(v)] = counts.get(key(v), 0) + 1
        return type(value).__name__, frozenset(counts.items())
    if isinstance(value, Map):
        return "map", frozenset((key(k), key(v)) for k, v in value.items)
    if isinstance(value, Record):
        return "tuple", frozenset((n, key(v)) for n, v in value.columns)
    return type(value).__name__, value


class _ByValue:
    """Equality by :func:`key`."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and key(self) == key(other)

    def __hash__(self) -> int:
        return hash(key(self))


@dataclass(frozen=True, eq=False)
class Set(_ByValue):
    """A set, its elements in the order in which they came."""

    elements: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)


@dataclass(frozen=True, eq=False)
class Bag(_ByValue):
    """A bag: elements may be there more than once."""

    elements: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)


@dataclass(frozen=True, eq=False)
class Map(_ByValue):
    """A map, its keys in the order in which they came."""

    items: tuple[tuple[Any, Any], ...] = ()

    def get(self, wanted: Any) -> Any:
        """The value at a key, null if there is none."""
        return next((v for k, v in self.items if key(k) == key(wanted)), None)


@dataclass(frozen=True, eq=False)
class Record(_ByValue):
    """A tuple: named columns in their order.  An event is one, with its ``type`` and ``time`` beside its attributes."""

    columns: tuple[tuple[str, Any], ...]
    event: tuple[str, int] | None = None

    def has(self, name: str) -> bool:
        """Whether there is a column of this name, or what every event has."""
        return any(n == name for n, _ in self.columns) or (self.event is not None and name in ("type", "time"))

    def get(self, name: str) -> Any:
        """A column; null if there is none."""
        for n, v in self.columns:
            if n == name:
                return v
        if self.event is not None and name in ("type", "time"):
            return self.event[0 if name == "type" else 1]
        return None


def set_of(values: Iterable[Any]) -> Set:
    """The distinct ones, in the order in which they came."""
    return Set(distinct(values))


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """Each value once, in the order in which they came."""
    found: dict[Hashable, Any] = {}
    for v in values:
        found.setdefault(key(v), v)
    return tuple(found.values())


def map_of(items: Iterable[tuple[Any, Any]]) -> Map:
    """A later value of a key replaces the earlier one, at its place."""
    found: dict[Hashable, tuple[Any, Any]] = {}
    for k, v in items:
        found[key(k)] = (found.get(key(k), (k,))[0], v)
    return Map(tuple(found.values()))


def elements(value: Any) -> tuple[Any, ...] | None:
    """What is in a list, a set or a bag; None of anything else."""
    if isinstance(value, tuple):
        return value
    return value.elements if isinstance(value, (Set, Bag)) else None


def number(value: Any) -> bool:
    """An int or a float, and no boolean."""
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)


def truth(value: Any) -> bool:
    """A boolean or a Troolean."""
    return isinstance(value, (bool, Troolean))
