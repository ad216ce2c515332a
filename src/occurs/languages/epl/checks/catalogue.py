"""The types of events of a program: created, inherited, inserted, or known from elsewhere (epl-and-nets.md, 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

import pyarrow as pa

from occurs.errors import Place, Span, did_you_mean
from occurs.expr.text import Text
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import Output, ResolvedQuery
from occurs.languages.epl.functions import FUNCTIONS
from occurs.languages.kit.complaints import LASTING_HINT, columns_text, lasting_text
from occurs.model.elements import Path, path_of
from occurs.model.types import RESERVED_INPUT, Schema, Type, widen


@dataclass
class Known:
    """One type.  ``attributes``: NULL is an unknown type.  ``open``: there may be others.  ``records``: the Arrow types
    of those that are events themselves.  ``lasting``: its rows have an end.  ``place``: where it is made.  ``fixed``:
    it is created, so that no type of its attributes widens."""

    attributes: dict[str, Type]
    open: bool = False
    records: tuple[tuple[str, pa.DataType], ...] = ()
    lasting: bool = False
    ordered: bool = True
    place: Place | None = None
    fixed: bool = False

    def schema(self) -> Schema:
        return Schema(tuple(self.attributes.items()), self.ordered, self.lasting, records=self.records)


@dataclass(frozen=True)
class Made:
    """The columns that the first query of a type gives it."""

    outputs: tuple[Output, ...]
    place: Place


@dataclass
class Catalogue:
    """All types.  ``inputs``: None if no data is known; then types that nobody makes are taken as they come."""

    inputs: Mapping[str, Schema] | None
    foreign: Mapping[str, Schema]
    #: types of statements that could not be read
    unread: frozenset[str] = frozenset()
    #: elements of lists and maps that the statements mention: `*` leaves them out
    elements: frozenset[str] = frozenset()
    types: dict[str, Known] = field(default_factory=dict)
    declared: dict[str, Schema] = field(default_factory=dict)
    #: of each created type those that inherit from it directly
    heirs: dict[str, list[str]] = field(default_factory=dict)
    made: dict[str, Made] = field(default_factory=dict)

    def fill(self, created: Sequence[tuple[Text, syntax.CreateSchema]], defined: Mapping[str, Place]) -> None:
        """Enter what is created, and what is known from elsewhere; ``defined``: the types that queries make."""
        first: dict[str, tuple[Text, syntax.CreateSchema]] = {}
        for source, schema in created:
            name = schema.name.text
            if name in first:
                other, before = first[name]
                places = (Place("the first is here", other.file, before.name.span),)
                message = f"the type `{name}` is created twice"
                source.report("duplicate-definition", message, schema.name.span, None, "error", places)
            else:
                first[name] = (source, schema)
        for name, other_schema in [*self.foreign.items(), *(self.inputs or {}).items()]:
            if name not in self.types and name not in first and (name in self.foreign or name not in defined):
                self._enter(name, other_schema)
        for name in first:
            self._create(name, first, [], defined)
        for name, (source, schema) in first.items():
            known = self.types[name]
            self.declared[name] = known.schema()
            self._agree_with_foreign(source, schema.name, known)

    def _enter(self, name: str, schema: Schema) -> None:
        attributes = dict(schema.attributes)
        self.types[name] = Known(attributes, schema.rest, schema.records, schema.lasting, schema.ordered)

    def _create(
        self,
        name: str,
        created: Mapping[str, tuple[Text, syntax.CreateSchema]],
        below: list[str],
        defined: Mapping[str, Place],
    ) -> None:
        """Enter a created type behind its parents; ``below``: those that are being entered and wait for it."""
        if name in self.types:
            return
        source, schema = created[name]
        attributes: dict[str, Type] = {}
        origin: dict[str, str] = {}
        complete = True
        for parent in schema.inherits:
            if parent.text in (name, *below):
                ring = [*below, name][[*below, name].index(parent.text) :]
                message = (
                    "the types inherit from each other in a cycle: "
                    f"{' -> '.join(f'`{t}`' for t in [*ring, parent.text])}"
                )
                source.report("cycle", message, parent.span, "remove one of the parents")
                continue
            if parent.text in created:
                self._create(parent.text, created, [*below, name], defined)
            complete = complete and parent.text in self.types and not self.types[parent.text].open
            if parent.text not in self.types:
                self._unknown_parent(source, parent, created, defined)
                continue
            self.heirs.setdefault(parent.text, []).append(name)
            for attribute, kind in self.types[parent.text].attributes.items():
                if attributes.setdefault(attribute, kind) is not kind:
                    message = f"`{attribute}` is {attributes[attribute]} in `{origin[attribute]}`, but {kind} in "
                    source.report(
                        "schema-conflict", f"{message}`{parent}`", parent.span, "inherit from only one of them"
                    )
                origin.setdefault(attribute, parent.text)
        self._own(source, schema, attributes, origin)
        place = Place(f"`{name}` is created here", source.file, schema.name.span)
        self.types[name] = Known(attributes, not complete, place=place, fixed=True)

    def _unknown_parent(
        self,
        source: Text,
        parent: syntax.Name,
        created: Mapping[str, tuple[Text, syntax.CreateSchema]],
        defined: Mapping[str, Place],
    ) -> None:
        if parent.text in self.unread:
            return
        if parent.text in defined:
            message = f"`{parent}` is defined by a statement; a type can only inherit from a created type"
            source.report("unknown-name", message, parent.span, f"create it as well: `create schema {parent}(...)`")
            return
        hint = did_you_mean(parent.text, [*self.types, *created], "types")
        source.report("unknown-name", f"there is no type `{parent}`", parent.span, hint)

    @staticmethod
    def _own(source: Text, schema: syntax.CreateSchema, attributes: dict[str, Type], origin: dict[str, str]) -> None:
        """Add the attributes that are written in a schema to the inherited ones."""
        seen: dict[str, syntax.Name] = {}
        for a in schema.attributes:
            name = a.name.text
            if name in RESERVED_INPUT:
                hint = f"reserved names: {', '.join(RESERVED_INPUT)}"
                source.report("reserved-name", f"`{name}` cannot be the name of an attribute", a.name.span, hint)
            if name in seen:
                places = (Place("the first is here", source.file, seen[name].span),)
                source.report(
                    "duplicate-name", f"two attributes are called `{name}`", a.name.span, None, "error", places
                )
                continue
            seen[name] = a.name
            if attributes.setdefault(name, a.type) is not a.type:
                message = f"`{name}` is {a.type} here, but {attributes[name]} in `{origin[name]}`"
                source.report("schema-conflict", message, a.name.span, "give it another name, or the inherited type")

    def _agree_with_foreign(self, source: Text, name: syntax.Name, known: Known) -> None:
        other = self.foreign.get(name.text)
        if other is None:
            return
        known.lasting = other.lasting
        names = tuple(known.attributes)
        same = names == other.names if other.ordered and not other.rest else set(names) <= {*other.names, *names}
        if not same or any(widen(t, other.get(n) or Type.NULL) is None for n, t in known.attributes.items()):
            message = f"`{name}` is declared differently in another language"
            hint = f"the other declaration is `{name}({columns_text(dict(other.attributes))})`"
            source.report("schema-conflict", message, name.span, hint)
            return
        for n, t in known.attributes.items():
            known.attributes[n] = widen(t, other.get(n) or Type.NULL) or t

    def subtypes(self, name: str) -> tuple[str, ...]:
        """A type and all that inherit from it, each once."""
        found, waiting = {name: None}, [name]
        for one in waiting:
            more = [h for h in self.heirs.get(one, ()) if h not in found]
            found |= dict.fromkeys(more)
            waiting += more
        return tuple(found)

    def read(self, source: Text, name: syntax.Name, defined: Mapping[str, Place]) -> None:
        """Report a type that a filter cannot read."""
        known = self.types.get(name.text)
        if known is not None and known.lasting:
            message = lasting_text(name.text, "EPL reads")
            source.report("not-an-event", message, name.span, LASTING_HINT)
        elif known is None and name.text not in self.unread and name.text not in defined and self.inputs is not None:
            hint = did_you_mean(name.text, [*self.types, *defined], "types")
            message = f"the type `{name}` is neither created nor inserted into, and the input does not have it"
            source.report("unknown-name", message, name.span, hint)

    def attribute(self, source: Text, type: str, name: str, span: Span | None) -> None:
        """Report an attribute that is not there, or that is no value."""
        known = self.types.get(type)
        if known is None:
            return
        found = known.attributes.get(name)
        if found is Type.RECORD:
            message = f"`{name}` of `{type}` is itself an event; its attributes cannot be read here"
            hint = f"insert the attributes that you need into `{type}`: `select a.x as x, ...`"
            source.report("unsupported", message, span, hint)
        elif found is None and not known.open and (path := path_of(name)) is not None:
            self._element(source, type, path, name, span)
        elif found is None and not known.open:
            hint = did_you_mean(name, known.attributes, "attributes")
            source.report("unknown-attribute", f"`{type}` has no attribute `{name}`", span, hint)

    def _element(self, source: Text, type: str, path: Path, name: str, span: Span | None) -> None:
        """Report an element that is not there."""
        known = self.types[type].attributes
        names = [str(s) for s in takewhile(lambda s: isinstance(s, str), path)]
        owner = next((a for n in range(len(names), 0, -1) if (a := ".".join(names[:n])) in known), None)
        if owner is not None:
            message = f"`{owner}` of `{type}` is {known[owner]}, not a list or a map"
            source.report("type-mismatch", message, span, f"write `{owner}` alone")
            return
        # `lowr('x')` may be meant as a call
        called = name.startswith(f"{names[0]}(")
        hint = did_you_mean(names[0], [*known, *(FUNCTIONS if called else ())], "attributes")
        if not hint.startswith("did"):
            hint = f"the input has no list or map with a value at `{name}`"
        source.report("unknown-attribute", f"`{type}` has no value `{name}`", span, hint)

    def insert(self, source: Text, query: ResolvedQuery) -> None:
        """Enter what a query derives; reports columns that differ from those the type has."""
        name, outputs = query.name, query.outputs
        at = query.query.into
        span = at.span if at is not None else query.query.span
        place = Place(f"`{name}` is defined here", source.file, span)
        mine = {o.name: o.type for o in outputs}
        records = tuple((o.name, o.struct.arrow) for o in outputs if o.struct is not None)
        known = self.types.get(name)
        first = self.made.get(name)
        if known is None:
            self.types[name] = Known(dict(mine), records=records, place=place)
            self.made[name] = Made(outputs, place)
            return
        names = [o.name for o in outputs]
        if first is not None:
            fits = [_shape(o) for o in outputs] == [_shape(o) for o in first.outputs]
            there = f"({_columns(first.outputs)}) elsewhere"
        else:
            fits = names == list(known.attributes) or (not known.ordered and set(names) == set(known.attributes))
            fits = fits and records == known.records
            where = "where it is created" if known.fixed else "in another language"
            there = f"({columns_text(known.attributes)}) {where}"
        if known.lasting:
            message = lasting_text(name, "EPL derives")
            source.report("not-an-event", message, span, "give the type another name")
        elif not fits or any(_wider(known, n, t) is None for n, t in mine.items()):
            message = f"`{name}` has the columns ({_columns(outputs)}) here, but {there}"
            hint = (
                "all statements that insert into one type need the same columns in the same order; int widens to float"
            )
            made = first.place if first is not None else known.place
            source.report("schema-conflict", message, span, hint, "error", (made,) if made is not None else ())
        else:
            known.attributes |= {n: _wider(known, n, t) or t for n, t in mine.items()}

    def schemas(self) -> dict[str, Schema]:
        return {name: known.schema() for name, known in self.types.items()}


def _wider(known: Known, name: str, kind: Type) -> Type | None:
    """The type of a column that gets values of one more ``kind``; None if they do not fit."""
    before = known.attributes.get(name, Type.NULL)
    both = widen(before, kind)
    return both if both is before or not known.fixed else None


def _shape(output: Output) -> tuple[object, ...]:
    """What two queries of a type must have alike in a column, the types of values apart."""
    return (output.name, None if output.struct is None else output.struct.arrow)


def _columns(outputs: Sequence[Output]) -> str:
    """Columns as a message shows them."""
    out = []
    for o in outputs:
        if o.struct is None:
            out.append(columns_text({o.name: o.type}))
        else:
            out.append(f"{o.name} {'events' if o.struct.many else 'event'} of {o.struct.type}")
    return ", ".join(out)
