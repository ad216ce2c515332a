"""The columns of the event that a query derives (epl-and-nets.md, sections 2, 3 and 4A, Statements)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.errors import Place, Span
from occurs.expr.tree import Expr, Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.checks_analysis import Output, Struct
from occurs.languages.epl.checks_scope import Bound, Names, Scope
from occurs.model.types import RESERVED_OUTPUT, Type


@dataclass
class Select:
    """The select clause of one query.  ``bound``: the tags that a match may have, True: with lists."""

    names: Names
    query: syntax.Query
    bound: Bound

    @property
    def scope(self) -> Scope:
        """Where the expressions of `select` and `where` stand."""
        if not self.query.simple:
            return Scope(self.bound)
        (tag,) = self.names.tags
        return Scope(self.bound, (tag, self.names.tags[tag].filter.type.text), select=True)

    def where(self) -> Expr | None:
        """The condition on matches, resolved."""
        return None if self.query.where is None else self.names.condition(self.query.where, self.scope)

    def outputs(self) -> tuple[Output, ...]:
        """All columns; reports names that are there twice, reserved, or missing."""
        out: dict[str, Output] = {}
        for item in self.query.items:
            for made in self._item(item):
                if made.name in RESERVED_OUTPUT:
                    hint = f"reserved names: {', '.join(RESERVED_OUTPUT)}; choose another name with `as`"
                    message = f"`{made.name}` cannot be the name of a column"
                    self.names.source.report("reserved-name", message, made.span, hint)
                if made.name in out:
                    place = Place("the first is here", self.names.source.file, out[made.name].span)
                    message = f"two columns are called `{made.name}`"
                    hint = f"rename one: `.. as {made.name}2`"
                    self.names.source.report("duplicate-name", message, made.span, hint, "error", (place,))
                out.setdefault(made.name, made)
        return tuple(out.values())

    def _item(self, item: syntax.Item) -> list[Output]:
        if item.all_of is not None:
            return self._flat(item.all_of.text, item.all_of.span)
        if item.expr is not None:
            return self._value(item.expr, item)
        if self.query.simple:
            return self._flat(next(iter(self.names.tags)), item.span)
        return [self._event(tag, tag, item.span) for tag in self.names.tags if not tag.startswith("#")]

    def _value(self, expr: Expr, item: syntax.Item) -> list[Output]:
        span = item.name.span if item.name is not None else item.span or getattr(expr, "span", None)
        name = item.name.text if item.name is not None else None
        if isinstance(expr, Ref) and expr.scope is None and expr.index is None and self._is_event(expr.name):
            return [self._event(expr.name, name or expr.name, span)]
        if name is None:
            named = [n.name for n in expr.walk() if isinstance(n, Ref)]
            if not named:
                message = "this column has no name, because it does not read an attribute"
                self.names.source.report("unknown-name", message, span, "name it: `.. as name`")
            name = named[-1].rpartition(".")[2] if named else ""
        made, kind = self.names.value(expr, self.scope)
        return [Output(name, kind or Type.NULL, made, span=span)] if name else []

    def _is_event(self, name: str) -> bool:
        """Is a bare name a tag?  In a simple query an attribute of that name comes first."""
        if name not in self.names.tags:
            return False
        own = self.names.catalogue.types.get(self.names.tags[name].filter.type.text)
        return not self.query.simple or own is None or name not in own.attributes

    def _event(self, tag: str, name: str, span: Span | None) -> Output:
        """The event of a tag as a column."""
        type, attributes = self._attributes(tag, span)
        return Output(name, Type.RECORD, None, Struct(tag, type, attributes, self.names.tags[tag].many), span=span)

    def _flat(self, tag: str, span: Span | None) -> list[Output]:
        """The attributes of the event of a tag as columns."""
        if tag not in self.names.tags:
            # says what there is
            self.names.resolve(Ref(tag, "time", span=span), self.scope)
            return []
        if self.names.tags[tag].many:
            message = f"`{tag}` is repeated and has several events"
            hint = f"select them as a list, `{tag}`, or the attributes of one event: `{tag}[0].attribute`"
            self.names.source.report("type-mismatch", message, span, hint)
            return []
        return [Output(n, t, Ref(tag, n, span=span), span=span) for n, t in self._attributes(tag, span)[1]]

    def _attributes(self, tag: str, span: Span | None) -> tuple[str, tuple[tuple[str, Type], ...]]:
        """The type of a tag's events and its attributes, which are read from now on."""
        type = self.names.tags[tag].filter.type.text
        known = self.names.catalogue.types.get(type)
        if known is None:
            return type, ()
        values = {n: t for n, t in known.attributes.items() if t is not Type.RECORD}
        if len(values) < len(known.attributes):
            events = [f"`{n}`" for n, t in known.attributes.items() if t is Type.RECORD]
            message = f"`{type}` has columns that are themselves events: {', '.join(events)}"
            hint = "select the attributes that you need instead"
            self.names.source.report("unsupported", message, span, hint)
        self.names.columns[tag] |= set(values)
        return type, tuple(values.items())
