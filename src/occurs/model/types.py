"""Types of values and schemas of events (common.md, section 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import pyarrow as pa


class Type(Enum):
    """A type of the expression language.  ``NULL`` is the type of the bare ``null``; it goes with every type."""

    INT = "int"
    FLOAT = "float"
    STRING = "string"
    BOOL = "bool"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    NULL = "null"
    #: a value with parts, or a list of such: only given out, never read
    RECORD = "record"

    # each is there once; the hash of enumerations runs in Python, and calls with few rows look types up often
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value

    @property
    def numeric(self) -> bool:
        return self in (Type.INT, Type.FLOAT)


#: every spelling a language may use for a type
TYPE_NAMES: Mapping[str, Type] = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte"), Type.INT),
    **dict.fromkeys(("float", "double", "real", "number"), Type.FLOAT),
    **dict.fromkeys(("string", "str", "char", "text"), Type.STRING),
    **dict.fromkeys(("bool", "boolean"), Type.BOOL),
    "timestamp": Type.TIMESTAMP,
}

#: column names with a meaning of their own; no attribute may have them
RESERVED_INPUT = ("type", "time", "end", "sequence", "label")
RESERVED_OUTPUT = ("type", "time", "end", "sequence", "label", "because", "query", "about", "final")

#: what a row of changes may do (its column ``op``); null: upsert
OPS = ("upsert", "insert", "update", "delete", "truncate", "c", "u", "d", "r", "I", "U", "D")

_ARROW = {
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOL: pa.bool_(),
    # inside Occurs a timestamp is int64 microseconds since the epoch, a duration int64 ticks
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    Type.DURATION: pa.int64(),
    Type.NULL: pa.null(),
}


def arrow_type(t: Type) -> pa.DataType:
    """The Arrow type that columns of ``t`` have in tables that come in and go out."""
    return _ARROW[t]


def from_arrow(t: pa.DataType) -> Type | None:
    """The type of an Arrow column, or None if Occurs has none for it."""
    if pa.types.is_dictionary(t):
        return from_arrow(t.value_type)
    if pa.types.is_integer(t):
        return Type.INT
    if pa.types.is_floating(t) or pa.types.is_decimal(t):
        return Type.FLOAT
    if pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return Type.STRING
    if pa.types.is_boolean(t):
        return Type.BOOL
    if pa.types.is_timestamp(t) or pa.types.is_date(t):
        return Type.TIMESTAMP
    if pa.types.is_null(t):
        return Type.NULL
    return None


def json_type(value: object) -> Type | None:
    """The type of a JSON value; None for null, lists and objects."""
    if isinstance(value, bool):
        return Type.BOOL
    if isinstance(value, int):
        return Type.INT
    if isinstance(value, float):
        return Type.FLOAT
    return Type.STRING if isinstance(value, str) else None


def widen(a: Type, b: Type) -> Type | None:
    """The least type that holds both, or None: null goes with all, int widens to float."""
    if a is b or b is Type.NULL:
        return a
    if a is Type.NULL:
        return b
    if a.numeric and b.numeric:
        return Type.FLOAT
    return None


@dataclass(frozen=True)
class Schema:
    """The attributes of an event type: names in their order, each with its type.

    ``ordered`` says whether the order is known to the user (declared, defined or of a table of its own), so that
    positional attributes may rely on it.  ``lasting`` types have rows with ``end``.

    How rows of the input are read: ``changes``: the boolean ``holds`` says what begins and what ends (never null);
    ``rest``: there may be more attributes than these; ``loose``: columns are found ignoring case if one only fits.
    ``records``: the Arrow types of the attributes that are records.  ``optional``: attributes that rows of the input
    need not have.
    """

    attributes: tuple[tuple[str, Type], ...] = ()
    ordered: bool = True
    lasting: bool = False
    changes: bool = False
    rest: bool = False
    loose: bool = False
    records: tuple[tuple[str, pa.DataType], ...] = ()
    optional: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, Type]]:
        return iter(self.attributes)

    def __contains__(self, name: str) -> bool:
        return name in self._types

    def __getitem__(self, name: str) -> Type:
        return self._types[name]

    def get(self, name: str) -> Type | None:
        return self._types.get(name)

    @cached_property
    def _types(self) -> dict[str, Type]:
        return dict(reversed(self.attributes))  # of two attributes with one name the first counts

    @cached_property
    def _records(self) -> dict[str, pa.DataType]:
        return dict(self.records)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.attributes)

    @property
    def plain(self) -> tuple[str, ...]:
        """The names of the attributes that definitions may read."""
        return tuple(n for n, t in self.attributes if t is not Type.RECORD)

    def completed(self, seen: Mapping[str, Type]) -> Schema:
        """This schema with the types that it leaves open (NULL) as they are in ``seen``."""
        if all(t is not Type.NULL for _, t in self.attributes):
            return self
        found = ((n, seen.get(n, t) if t is Type.NULL else t) for n, t in self.attributes)
        return replace(self, attributes=tuple(found))

    def arrow(self) -> pa.Schema:
        return pa.schema([(n, self.arrow_of(n, t)) for n, t in self.attributes])

    def arrow_of(self, name: str, type: Type) -> pa.DataType:
        """The Arrow type that an attribute has in tables that come in and go out."""
        return arrow_type(type) if type is not Type.RECORD else self._records[name]
