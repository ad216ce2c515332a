"""What is known of the types of a program, before and while types of values are inferred (tesla.md, sections 3, 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from occurs.errors import Place, Span
from occurs.expr.text import Text
from occurs.languages.tesla import syntax
from occurs.model.types import RESERVED_INPUT, RESERVED_OUTPUT, Schema, Type, arrow_type, widen

TIMER = "Timer"


@dataclass
class Known:
    """One type: its attributes in order, each with its type or None while that is unknown."""

    attributes: dict[str, Type | None]
    ordered: bool = True
    lasting: bool = False
    #: attributes whose type the user has written down
    fixed: set[str] = field(default_factory=set)
    #: of attributes that are lists, the types of the values
    lists: dict[str, Type] = field(default_factory=dict)
    source: Text | None = None
    span: Span | None = None

    def schema(self) -> Schema:
        """As a schema; what is unknown has the type NULL, which goes with every type."""
        records = tuple((n, pa.list_(arrow_type(t))) for n, t in self.lists.items())
        known = tuple((n, t or Type.NULL) for n, t in self.attributes.items())
        return Schema(known, self.ordered, self.lasting, records=records)


class Catalogue:
    """The types of a program: declared by ``event``, else defined by rules, else by other languages, else observed."""

    def __init__(self, inputs: Mapping[str, Schema] | None, foreign: Mapping[str, Schema]):
        self.inputs = inputs
        self.foreign = foreign
        self.types: dict[str, Known] = {}
        self.declared: set[str] = set()
        self.defined: set[str] = set()

    def get(self, name: str) -> Known | None:
        """The type, or None if nothing is known of it."""
        return self.types.get(name)

    def type_of(self, name: str, attribute: str) -> Type | None:
        """The type of an attribute, None if unknown."""
        known = self.types.get(name)
        return known.attributes.get(attribute) if known else None

    def fill(
        self, schemata: Sequence[tuple[Text, syntax.EventSchema]], rules: Sequence[tuple[Text, syntax.Rule]]
    ) -> None:
        """Enter all declarations and definitions; reports duplicates, reserved names and schema conflicts."""
        for source, schema in schemata:
            self._declare(source, schema)
        for source, rule in rules:
            self._define(source, rule)
        for name, other in [*self.foreign.items(), *(self.inputs or {}).items()]:
            if name not in self.types:
                self.types[name] = Known(dict(other.attributes), other.ordered, other.lasting)
        for name in self.declared:
            self._complete(name)
        for name in self.defined - self.declared:
            self._seed(name)

    def _seed(self, name: str) -> None:
        """Input rows of a defined type are a first guess at the types that the rules leave open."""
        observed = (self.inputs or {}).get(name)
        for attribute, kind in self.types[name].attributes.items():
            seen = observed.get(attribute) if observed is not None else None
            if kind is None and seen is not None and seen is not Type.NULL:
                self.types[name].attributes[attribute] = seen

    def _complete(self, name: str) -> None:
        """Types that a declaration leaves open come from other languages or the data."""
        observed = self.foreign.get(name) or (self.inputs or {}).get(name)
        for attribute, kind in self.types[name].attributes.items():
            if kind is None and observed is not None and name not in self.defined:
                self.types[name].attributes[attribute] = observed.get(attribute)

    def _declare(self, source: Text, schema: syntax.EventSchema) -> None:
        name = schema.type.text
        attributes = _attributes(source, schema.attributes, RESERVED_INPUT)
        if name == TIMER:
            hint = "`Timer` is the name of the built-in calendar events; choose another name"
            source.report("reserved-name", "`Timer` cannot be declared", schema.type.span, hint)
            return
        if name in self.declared:
            first = self.types[name]
            places = (Place("first declared here", first.source.file if first.source else None, first.span),)
            message = f"`{name}` is declared twice"
            source.report("duplicate-name", message, schema.type.span, None, "error", places)
            return
        self.declared.add(name)
        fixed = {a for a, t in attributes.items() if t is not None}
        self.types[name] = Known(attributes, fixed=fixed, source=source, span=schema.type.span)
        self._agree_with_foreign(source, name, schema.type.span)

    def _define(self, source: Text, rule: syntax.Rule) -> None:
        name = rule.type.text
        if name == TIMER:
            hint = "`Timer` is the name of the built-in calendar events; choose another name"
            source.report("reserved-name", "`Timer` cannot be defined", rule.type.span, hint)
            return
        attributes = _attributes(source, rule.attributes, RESERVED_OUTPUT)
        self.defined.add(name)
        known = self.types.get(name)
        if known is None:
            fixed = {a for a, t in attributes.items() if t is not None}
            self.types[name] = Known(attributes, fixed=fixed, source=source, span=rule.type.span)
            self._agree_with_foreign(source, name, rule.type.span)
            return
        place = (Place("first here", known.source.file if known.source else None, known.span),)
        if list(attributes) != list(known.attributes):
            message = f"`{name}` has the attributes ({', '.join(attributes)}) here, but ({', '.join(known.attributes)})"
            hint = "all rules and the declaration of a type must list the same attributes in the same order"
            source.report("schema-conflict", f"{message} elsewhere", rule.type.span, hint, "error", place)
            return
        for attribute in rule.attributes:
            mine, other = attribute.type, known.attributes[attribute.name.text]
            if mine is None:
                continue
            both = mine if other is None else widen(mine, other)
            if both is None:
                message = f"`{name}.{attribute.name}` is {mine} here, but {other} elsewhere"
                source.report("schema-conflict", message, attribute.name.span, None, "error", place)
            else:
                known.attributes[attribute.name.text] = both
                known.fixed.add(attribute.name.text)

    def _agree_with_foreign(self, source: Text, name: str, span: Span | None) -> None:
        other = self.foreign.get(name)
        mine = self.types[name]
        if other is None:
            return
        if list(other.names) != list(mine.attributes):
            message = f"`{name}` has the attributes ({', '.join(mine.attributes)}) here, but ({', '.join(other.names)})"
            source.report("schema-conflict", f"{message} in another language", span)
            return
        for attribute, kind in other:
            own = mine.attributes[attribute]
            both = kind if own is None else widen(own, kind)
            if both is None:
                message = f"`{name}.{attribute}` is {own} here, but {kind} in another language"
                source.report("schema-conflict", message, span)
            else:
                mine.attributes[attribute] = both

    def schemas(self) -> dict[str, Schema]:
        """All types as schemas."""
        return {name: known.schema() for name, known in self.types.items()}


def _attributes(
    source: Text, attributes: Sequence[syntax.Attribute], reserved: Sequence[str]
) -> dict[str, Type | None]:
    """Names and types; reports names that occur twice or are reserved."""
    out: dict[str, Type | None] = {}
    for attribute in attributes:
        name = attribute.name.text
        if name in reserved:
            hint = f"reserved names: {', '.join(reserved)}"
            source.report("reserved-name", f"`{name}` cannot be the name of an attribute", attribute.name.span, hint)
        if name in out:
            source.report("duplicate-name", f"two attributes are called `{name}`", attribute.name.span)
            continue
        out[name] = attribute.type
    return out
