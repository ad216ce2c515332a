"""The types of ports of pipes and of the values that flow through them (pipes.md, section 2.3).

``any bool troolean int number text bytes time duration xml json image``, ``tuple{a: int, ..}``, ``list<T> set<T>
bag<T> map<K, V>``; ``null`` is the type of the bare null, which goes everywhere, and ``slices`` that of ``#``.  A null
may stand wherever a value of any kind may.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from occurs.errors import DefinitionProblem
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type, from_arrow


@dataclass(frozen=True, slots=True)
class Kind:
    """One type: ``args`` are the types of elements (a map's keys and values), ``columns`` those of a tuple.

    ``columns`` None: a tuple of which the columns are not known.
    """

    name: str
    args: tuple[Kind, ...] = ()
    columns: tuple[tuple[str, Kind], ...] | None = None

    def __str__(self) -> str:
        if self.columns is not None:
            return "tuple{" + ", ".join(f"{n}: {k}" for n, k in self.columns) + "}"
        return f"{self.name}<{', '.join(map(str, self.args))}>" if self.args else self.name

    @property
    def collection(self) -> bool:
        """A list, a set or a bag."""
        return self.name in ("list", "set", "bag")

    @property
    def numeric(self) -> bool:
        return self.name in ("int", "number")

    def column(self, name: str) -> Kind | None:
        """The type of a column of a tuple; ANY if the columns are not known, None if there is none."""
        if self.columns is None:
            return ANY if self.name in ("tuple", "any", "null") else None
        return next((k for n, k in self.columns if n == name), None)


ANY, NULL = Kind("any"), Kind("null")
BOOL, TROOLEAN = Kind("bool"), Kind("troolean")
INT, NUMBER = Kind("int"), Kind("number")
TEXT, BYTES = Kind("text"), Kind("bytes")
TIME, DURATION = Kind("time"), Kind("duration")
XML, JSON, IMAGE = Kind("xml"), Kind("json"), Kind("image")
TUPLE = Kind("tuple")
SLICES = Kind("slices")

SIMPLE = {k.name: k for k in (ANY, BOOL, TROOLEAN, INT, NUMBER, TEXT, BYTES, TIME, DURATION, XML, JSON, IMAGE, TUPLE)}


def list_of(element: Kind) -> Kind:
    return Kind("list", (element,))


def set_of(element: Kind) -> Kind:
    return Kind("set", (element,))


def bag_of(element: Kind) -> Kind:
    return Kind("bag", (element,))


def map_of(key: Kind, value: Kind) -> Kind:
    return Kind("map", (key, value))


def tuple_of(columns: Iterable[tuple[str, Kind]]) -> Kind:
    return Kind("tuple", (), tuple(columns))


_OF_PYTHON: dict[Any, Kind] = {
    Any: ANY,
    object: ANY,
    bool: BOOL,
    int: INT,
    float: NUMBER,
    str: TEXT,
    bytes: BYTES,
    datetime: TIME,
    timedelta: DURATION,
    dict: TUPLE,
}


def kind_named(name: Any) -> Kind:
    """The type that a text (``"list<int>"``) or a type of Python stands for; DefinitionProblem if it is none."""
    if isinstance(name, Kind):
        return name
    if not isinstance(name, str):
        if name not in _OF_PYTHON:
            raise DefinitionProblem.of("unknown-name", f"{name!r} is not a type of pipes")
        return _OF_PYTHON[name]
    tokens = re.findall(r"\w+|\S", name)
    found = _parse(tokens)
    if tokens:
        raise DefinitionProblem.of("unknown-name", f"{name!r} is not a type of pipes")
    return found


def _parse(tokens: list[str]) -> Kind:
    word = tokens.pop(0) if tokens else ""
    if word == "tuple" and tokens[:1] == ["{"]:
        return tuple_of(_columns(tokens))
    if word in SIMPLE:
        return SIMPLE[word]
    if word not in ("list", "set", "bag", "map"):
        known = ", ".join(SIMPLE)
        raise DefinitionProblem.of(
            "unknown-name", f"there is no type `{word}`; the types are {known}, list, set, bag, map"
        )
    args = []
    for sign in ("<", ",") if word == "map" else ("<",):
        _take(tokens, sign)
        args.append(_parse(tokens))
    _take(tokens, ">")
    return Kind(word, tuple(args))


def _columns(tokens: list[str]) -> Iterator[tuple[str, Kind]]:
    while tokens.pop(0) != "}":
        if tokens[:1] == ["}"]:
            continue
        name = tokens.pop(0)
        _take(tokens, ":")
        yield name, _parse(tokens)
        if tokens[:1] not in ([","], ["}"]):
            raise DefinitionProblem.of("unknown-name", "write a tuple as tuple{a: int, b: text}")


def _take(tokens: list[str], sign: str) -> None:
    if not tokens or tokens.pop(0) != sign:
        raise DefinitionProblem.of("unknown-name", f"`{sign}` is missing in a type")


_OF_TYPE = {
    Type.INT: INT,
    Type.FLOAT: NUMBER,
    Type.STRING: TEXT,
    Type.BOOL: BOOL,
    Type.TIMESTAMP: TIME,
    Type.DURATION: DURATION,
    Type.NULL: ANY,
    Type.RECORD: ANY,
}


def of_type(type_: Type) -> Kind:
    """The type of an attribute of an event."""
    return _OF_TYPE[type_]


def of_times(kind: TimeKind | None) -> Kind:
    """The type of the times of events, ``any`` if it is not known what they count."""
    return ANY if kind is None else TIME if kind.timestamp else INT


def of_schema(schema: Schema) -> Kind:
    """The type of the events of a type."""
    records = dict(schema.records)
    return tuple_of((n, of_arrow(records[n]) if n in records else of_type(t)) for n, t in schema)


def of_arrow(type_: pa.DataType) -> Kind:
    """The type of values of an Arrow type."""
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return list_of(of_arrow(type_.value_type))
    found = from_arrow(type_)
    return ANY if found is None else of_type(found)


def goes_into(given: Kind, wanted: Kind) -> bool:
    """Whether an output of one type may be connected to an input of another; ``any`` is checked when values come."""
    if ANY in (given, wanted) or given in (wanted, NULL):
        return True
    if (given, wanted) in ((INT, NUMBER), (BOOL, TROOLEAN)):
        return True
    if given.name != wanted.name:
        return False
    if given.name == "tuple":
        return _columns_fit(given, wanted)
    return all(goes_into(a, b) for a, b in zip(given.args, wanted.args, strict=False))


def _columns_fit(given: Kind, wanted: Kind) -> bool:
    if given.columns is None or wanted.columns is None:
        return True
    have = dict(given.columns)
    return all(n in have and goes_into(have[n], k) for n, k in wanted.columns)


def join(a: Kind, b: Kind) -> Kind:
    """The least type that holds both; ANY if only that does."""
    if a == b or b == NULL:
        return a
    if a == NULL:
        return b
    for pair in ((INT, NUMBER), (BOOL, TROOLEAN)):
        if {a, b} == set(pair):
            return pair[1]
    if a.name != b.name:
        return ANY
    if a.columns is not None and b.columns is not None:
        if [n for n, _ in a.columns] == [n for n, _ in b.columns]:
            return tuple_of((n, join(k, m)) for (n, k), (_, m) in zip(a.columns, b.columns, strict=True))
        return TUPLE
    if a.name == "tuple":
        return TUPLE
    return Kind(a.name, tuple(join(x, y) for x, y in zip(a.args, b.args, strict=True)))


def joined(kinds: Iterable[Kind]) -> Kind:
    """The least type that holds all of them; ``#`` is no value: it stands beside the keys."""
    found = NULL
    for k in kinds:
        found = found if k == SLICES else join(found, k)
    return found
