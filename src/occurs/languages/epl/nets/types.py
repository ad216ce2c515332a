"""The types of a program as colours: events as tokens, and back (epl-and-nets.md, section 4B, Colours of a program).

Every type has a number of its own, those that are created first, then those that statements derive, in the order of the
text, then others that the patterns read.  A row is the token ``(number, code, time, pT({f=..}))``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem, Problem
from occurs.languages.epl.checks import Analysis
from occurs.languages.epl.nets.builder import Builder, Names
from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema, Type
from occurs.nets.colours import Bool, Colour, Int, List, Product, Real, Record, String, Union, Value

INT, BOOL, REAL, STRING = Int("INT"), Bool("BOOL"), Real("REAL"), String("STRING")
#: of attributes; times and durations are whole numbers of ticks
COLOURS: Mapping[Type, Colour] = {
    Type.INT: INT,
    Type.FLOAT: REAL,
    Type.STRING: STRING,
    Type.BOOL: BOOL,
    Type.TIMESTAMP: INT,
    Type.DURATION: INT,
}
#: holds nothing: the payload of an element of a list where there is no event
NONE = "pNone"


@dataclass(frozen=True)
class EventType:
    """A type of the program: its number, its constructor, and its attributes with their names in the record.

    ``record``: None if it has no attributes.  ``nullable``: attributes that may be null, with the constructors of
    their colour for a value and for none.
    """

    name: str
    code: int
    constructor: str
    record: Record | None
    attributes: tuple[tuple[str, str], ...]
    schema: Schema
    nullable: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def colour(self, attribute: str) -> Colour:
        """Of an attribute, by its name in the program."""
        assert self.record is not None
        return dict(self.record.fields)[dict(self.attributes)[attribute]]


@dataclass
class Types:
    """All types of a program, and the colours made of them: C, CF, List_CFs, CEnd."""

    events: dict[str, EventType]
    base: tuple[Colour, ...]
    union: Union
    cf: Product
    lists: List
    end: Product

    @property
    def colours(self) -> list[Colour]:
        """In the order of their declaration."""
        records = [e.record for e in self.events.values() if e.record is not None]
        used = [c for c in (INT, BOOL, REAL, STRING) if c is INT or any(_uses(r, c) for r in records)]
        return [*used, *self.base, *_in_order(records), self.union, self.cf, self.lists, self.end]

    # --- tokens -----------------------------------------------------------------------------------------------------

    def token(self, number: int, event: Occurrence) -> Value:
        """A row as a token.  InputProblem names row and attribute of what a net cannot hold."""
        known = self.events[event.type]
        values = [self._value(number, event, known, name) for name, _ in known.attributes]
        payload = (known.constructor, tuple(values) if known.record is not None else ())
        return (number, known.code, event.time, payload)

    def _value(self, number: int, event: Occurrence, known: EventType, name: str) -> Value:
        value, kind = event.attributes.get(name), known.schema.get(name)
        where = f"row {number}, {event.type} at {event.time}"
        if value is None or (isinstance(value, float) and math.isnan(value)):
            if name in known.nullable:
                return (known.nullable[name][1], ())
            hint = "remove such rows, or replace the null by a value that means `none`"
            text = f"{where}: `{name}` is null, which a token cannot hold"
            raise InputProblem(Problem("bad-value", text, hint=hint, row=number))
        whole = isinstance(value, int | float) and not isinstance(value, bool)
        if whole and kind is Type.FLOAT:
            value = float(value)
        elif whole and kind is Type.INT and int(value) == value:
            value = int(value)
        wrong = None if name in known.nullable else known.colour(name).check(value)
        if wrong is not None:
            raise InputProblem(Problem("bad-value", f"{where}: `{name}`: {wrong}", row=number, value=value))
        return (known.nullable[name][0], value) if name in known.nullable else value

    def event(self, token: Any) -> tuple[str, int, dict[str, Any]]:
        """A token of CF as (type, time, values)."""
        _, _, time, (constructor, payload) = token
        known = next(e for e in self.events.values() if e.constructor == constructor)
        return known.name, time, self._values(known, payload)

    def _values(self, known: EventType, payload: Any) -> dict[str, Any]:
        return {name: self._plain(known, name, v) for (name, _), v in zip(known.attributes, payload, strict=True)}

    def _plain(self, known: EventType, name: str, value: Any) -> Any:
        if name in known.nullable:
            constructor, value = value
            if constructor == known.nullable[name][1]:
                return None
        if known.schema.get(name) is not Type.RECORD:
            return value
        owner = next(e for e in self.events.values() if e.record is not None and _holds(known, name, e.record))
        return self._values(owner, value)


def _holds(known: EventType, name: str, record: Record) -> bool:
    """Does an attribute hold records of this colour, null or not?"""
    colour = known.colour(name)
    return colour == record or (isinstance(colour, Union) and record in [c for _, c in colour.cases])


def _uses(colour: Colour | None, base: Colour) -> bool:
    if isinstance(colour, Record):
        return any(_uses(c, base) for _, c in colour.fields)
    if isinstance(colour, Union):
        return any(_uses(c, base) for _, c in colour.cases)
    return colour == base


def _in_order(records: Iterable[Record]) -> list[Colour]:
    """Records behind those that they contain, and unions behind what they hold."""
    out: list[Colour] = []

    def add(colour: Colour) -> None:
        parts = colour.fields if isinstance(colour, Record) else colour.cases if isinstance(colour, Union) else ()
        for _, part in parts:
            if isinstance(part, Record | Union):
                add(part)
        if colour not in out:
            out.append(colour)

    for record in records:
        add(record)
    return out


def types_of(analysis: Analysis, nullable: Mapping[str, frozenset[str]], builder: Builder, absent: bool) -> Types:
    """The colours of a program.

    ``nullable``: by type the attributes that a statement may leave null; ``absent``: is there a need of an element for
    no event?  DefinitionProblem for attributes without type.
    """
    if absent:
        builder.values.of(NONE, NONE)
    names = dict.fromkeys((*analysis.declared, *(q.name for q in analysis.queries)))
    names |= dict.fromkeys(sorted(t for q in analysis.queries for t in q.reads))
    colours = Names(dict.fromkeys(("INT", "BOOL", "REAL", "STRING", "UNIT", "C", "CF", "List_CFs", "CEnd")))
    made: dict[str, EventType] = {}
    maker = _Maker(analysis, nullable, builder, colours, made)
    for name in names:
        maker.make(name)
    events = {n: maker.numbered(made[n], k) for k, n in enumerate(names, 1)}
    cases = [(e.constructor, e.record) for e in events.values()]
    union = Union("C", (*cases, *([(NONE, None)] if absent else [])))
    cf = Product("CF", (INT, INT, INT, union))
    lists = List("List_CFs", cf)
    return Types(events, (), union, cf, lists, Product("CEnd", (INT, lists)))


@dataclass
class _Maker:
    """Makes the types, those that others contain first."""

    analysis: Analysis
    nullable: Mapping[str, frozenset[str]]
    builder: Builder
    colours: Names
    made: dict[str, EventType]

    def make(self, name: str) -> None:
        if name in self.made:
            return
        schema = self.analysis.schemas.get(name)
        if schema is None or schema.rest:
            hint = f"create it: `create schema {name}(attribute type, ..)`"
            raise DefinitionProblem.of("unknown-name", f"the attributes of `{name}` are unknown", hint=hint)
        fields: list[tuple[str, Colour]] = []
        labels = Names({})
        nulls: dict[str, tuple[str, str]] = {}
        for attribute, kind in schema:
            colour = self.colour(name, attribute, kind)
            if attribute in self.nullable.get(name, ()):
                colour = self.optional(colour)
                nulls[attribute] = (colour.cases[0][0], colour.cases[1][0])
            fields.append((labels.of(attribute, attribute), colour))
        record = Record(self.colours.of(f"C{name}", name), tuple(fields)) if fields else None
        constructor = self.builder.values.of(f"p{name}", ("constructor", name))
        pairs = tuple(zip(schema.names, (f for f, _ in fields), strict=True))
        self.made[name] = EventType(name, 0, constructor, record, pairs, schema, nulls)

    def optional(self, colour: Colour) -> Union:
        """A value of ``colour``, or none."""
        name = self.colours.of(f"{colour.name}_or_null", ("optional", colour.name))
        some = self.builder.values.of(f"some_{colour.name}", ("some", colour.name))
        none = self.builder.values.of(f"no_{colour.name}", ("none", colour.name))
        return Union(name, ((some, colour), (none, None)))

    def colour(self, name: str, attribute: str, kind: Type) -> Colour:
        if kind in COLOURS:
            return COLOURS[kind]
        if kind is Type.RECORD:
            inside = self.inside(name, attribute)
            if inside is not None:
                self.make(inside)
                record = self.made[inside].record
                if record is not None:
                    return record
        hint = "declare its type with `create schema`, or select a value of a known type"
        raise DefinitionProblem.of(
            "unknown-attribute",
            f"`{name}.{attribute}` has a type that a token cannot hold, or no known type",
            hint=hint,
        )

    def inside(self, name: str, attribute: str) -> str | None:
        """The type of the events in an attribute of a derived type."""
        for q in self.analysis.queries:
            for o in q.outputs if q.name == name else ():
                if o.name == attribute and o.struct is not None and not o.struct.many:
                    return o.struct.type
        return None

    @staticmethod
    def numbered(made: EventType, code: int) -> EventType:
        return EventType(made.name, code, made.constructor, made.record, made.attributes, made.schema, made.nullable)
