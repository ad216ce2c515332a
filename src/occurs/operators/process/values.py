"""Values that no Arrow column of plain numbers, truth values or text holds (pipes.md, sections 2.3 and 4.1).

A list is a tuple; sets, bags, maps, tuples of named columns and documents are classes of this module.  All are
immutable and compare by value: numbers by exact value (1 = 1.0), truth values only with such, lists by order, sets and
bags without.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Troolean(Enum):
    """A verdict of LTL3."""

    FALSE = "F"
    UNKNOWN = "?"
    TRUE = "T"

    def __repr__(self) -> str:
        return self.value


class Sharp(Enum):
    """``#``: all slices that exist."""

    ALL = "#"

    def __repr__(self) -> str:
        return self.value


_TRUTH = {True: Troolean.TRUE, False: Troolean.FALSE}


def key(value: Any) -> Hashable:
    """What is alike for equal values, and for no others."""
    if isinstance(value, bool):
        return _TRUTH[value]
    if isinstance(value, float) and value != value:
        return "number", "nan"
    if isinstance(value, tuple):
        return "list", tuple(map(key, value))
    if isinstance(value, _Valued):
        return value.key()
    return value


class _Valued:
    """Compared by :meth:`key`."""

    def key(self) -> Hashable:
        raise TypeError(type(self).__name__)  # pragma: no cover

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


@dataclass(frozen=True, eq=False)
class Set(_Valued):
    """Distinct elements, in the order in which they came."""

    elements: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)

    def key(self) -> Hashable:
        return "set", frozenset(map(key, self.elements))


@dataclass(frozen=True, eq=False)
class Bag(_Valued):
    """Elements that may be there more than once."""

    elements: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)

    def key(self) -> Hashable:
        counts: dict[Hashable, int] = {}
        for v in map(key, self.elements):
            counts[v] = counts.get(v, 0) + 1
        return "bag", frozenset(counts.items())


@dataclass(frozen=True, eq=False)
class Map(_Valued):
    """Pairs of a key and a value, keys in the order in which they came."""

    items: tuple[tuple[Any, Any], ...] = ()

    def get(self, wanted: Any) -> Any:
        """The value at a key; null if there is none."""
        asked = key(wanted)
        return next((v for k, v in self.items if key(k) == asked), None)

    def key(self) -> Hashable:
        return "map", frozenset((key(k), key(v)) for k, v in self.items)


@dataclass(frozen=True, eq=False)
class Record(_Valued):
    """A tuple of named columns.  ``event``: the type and the time of an event, which are attributes as well."""

    columns: tuple[tuple[str, Any], ...]
    event: tuple[str, int] | None = None

    def has(self, name: str) -> bool:
        return any(n == name for n, _ in self.columns) or (self.event is not None and name in ("type", "time"))

    def get(self, name: str) -> Any:
        """A column; null if there is none."""
        for n, v in self.columns:
            if n == name:
                return v
        if self.event is not None and name in ("type", "time"):
            return self.event[0 if name == "type" else 1]
        return None

    def key(self) -> Hashable:
        return "tuple", frozenset((n, key(v)) for n, v in self.columns)


@dataclass(frozen=True, eq=False)
class Document(_Valued):
    """An XML document; equal if it is written alike."""

    source: str
    root: Any = field(compare=False, repr=False)

    def key(self) -> Hashable:
        return "xml", self.source


@dataclass(frozen=True, eq=False)
class Json(_Valued):
    """A JSON document: ``source`` has its keys in order, so that equal ones are written alike."""

    source: str

    @property
    def value(self) -> Any:
        return json.loads(self.source)

    def key(self) -> Hashable:
        return "json", self.source


class Fault(Exception):
    """``kind`` of the problem; ``value``; ``row``: the number of the row of the columns at hand, if it is known."""

    def __init__(self, kind: str, message: str, value: Any, row: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.value = value
        self.row = row


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """Each value once, in the order in which they came."""
    found: dict[Hashable, Any] = {}
    for v in values:
        found.setdefault(key(v), v)
    return tuple(found.values())


def elements(value: Any) -> tuple[Any, ...] | None:
    """What is in a list, a set or a bag; None of anything else."""
    if isinstance(value, tuple):
        return value
    return value.elements if isinstance(value, (Set, Bag)) else None


def number(value: Any) -> bool:
    """An int or a float, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def as_python(value: Any) -> Any:
    """A value as Python has it: bags as lists, maps and tuples as dicts, Trooleans as ``T F ?``, documents as text."""
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, (tuple, Bag)):
        return [as_python(v) for v in value]
    if isinstance(value, Set):
        found = [as_python(v) for v in value]
        return set(found) if all(v.__hash__ for v in found) else found
    if isinstance(value, Map):
        return {_key(k): as_python(v) for k, v in value.items}
    if isinstance(value, Record):
        return {n: as_python(v) for n, v in value.columns}
    if isinstance(value, (Document, Json)):
        return value.source
    return value


def _key(value: Any) -> Any:
    """A key of a dict: a list is a tuple there."""
    found = as_python(value)
    if isinstance(found, list):
        return tuple(found)
    return frozenset(found) if isinstance(found, set) else found


def encode(value: Any) -> Any:
    """A value as JSON that says its class."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"i": str(value)}
    if isinstance(value, float):
        return {"f": value.hex()}
    if isinstance(value, bytes):
        return {"b": value.hex()}
    if isinstance(value, tuple):
        return {"l": [encode(v) for v in value]}
    if isinstance(value, (Set, Bag)):
        return {"s" if isinstance(value, Set) else "g": [encode(v) for v in value]}
    if isinstance(value, Map):
        return {"m": [[encode(k), encode(v)] for k, v in value.items]}
    if isinstance(value, Record):
        return {"r": [[n, encode(v)] for n, v in value.columns], "e": value.event}
    if isinstance(value, Document):
        return {"x": value.source}
    if isinstance(value, Json):
        return {"j": value.source}
    if isinstance(value, Troolean):
        return {"t": value.value}
    if isinstance(value, Sharp):
        return {"a": value.value}
    raise TypeError(f"a value of {type(value).__name__} cannot be saved")


def decode(found: Any) -> Any:
    """The value that :func:`encode` has written."""
    if not isinstance(found, dict):
        return found
    tag = next(iter(found))
    inside = found[tag]
    if tag in _DECODED:
        return _DECODED[tag](inside)
    if tag == "r":
        event = found["e"]
        return Record(tuple((n, decode(v)) for n, v in inside), None if event is None else (event[0], event[1]))
    if tag == "x":
        from occurs.operators.process.documents import read_xml

        return read_xml(inside)
    raise ValueError(f"a value with the tag {tag!r} was written by another version")


def _elements(found: list[Any]) -> tuple[Any, ...]:
    return tuple(map(decode, found))


_DECODED: dict[str, Callable[[Any], Any]] = {
    "i": int,
    "f": float.fromhex,
    "b": bytes.fromhex,
    "l": _elements,
    "s": lambda found: Set(_elements(found)),
    "g": lambda found: Bag(_elements(found)),
    "m": lambda found: Map(tuple((decode(k), decode(v)) for k, v in found)),
    "j": Json,
    "t": Troolean,
    "a": Sharp,
}
