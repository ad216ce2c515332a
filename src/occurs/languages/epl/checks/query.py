"""The pattern of one query: what its filters may see, and everything that is wrong with it (epl-and-nets.md, 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from occurs.errors import Place, Span
from occurs.expr.tree import Binary, Expr, Literal, Ref, conjuncts, rewrite
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import Atom, Output, Struct
from occurs.languages.epl.checks.bounds import Bounds
from occurs.languages.epl.checks.names import Bound, Names, Scope
from occurs.model.elements import last_name
from occurs.model.time import Duration
from occurs.model.types import RESERVED_OUTPUT, Type


@dataclass
class Patterns:
    """Resolves the pattern of one query.  ``defined``: where queries make types."""

    names: Names
    bounds: Bounds
    defined: Mapping[str, Place]
    atoms: dict[str, Atom] = field(default_factory=dict)
    #: all filters, in the order of the pattern
    filters: list[Atom] = field(default_factory=list)
    #: the nodes around the one that is looked at, from the outermost
    path: list[syntax.Pattern] = field(default_factory=list)

    def resolve(self, pattern: syntax.Pattern) -> tuple[syntax.Pattern, dict[str, bool]]:
        """The resolved pattern, and the tags that a match may have (True: a list); reports what is wrong."""
        self.names.enter(pattern)
        self.bounds.root(pattern)
        made, found = self._node(pattern, {})
        for tag, known in self.names.tags.items():
            if known.absent:
                # never there: null wherever it is asked for
                found.setdefault(tag, known.many)
        return made, found

    def _node(self, node: syntax.Pattern, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        """``bound``: what a new instance starts with; given back is what its matches add to that."""
        self.bounds.check(node)
        self.path.append(node)
        made = self._inside(node, bound)
        self.path.pop()
        return made

    def _inside(self, node: syntax.Pattern, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        match node:
            case syntax.Filter():
                return self._filter(node, bound)
            case syntax.Followed():
                return self._followed(node, bound)
            case syntax.And() | syntax.Or():
                parts = [self._node(child, bound) for child in node.operands]
                return replace(node, operands=tuple(p for p, _ in parts)), _joined(f for _, f in parts)
            case syntax.Not():
                return replace(node, operand=self._node(node.operand, bound)[0]), {}
            case syntax.Repeat():
                operand, found = self._node(node.operand, bound)
                count = self._number(node.count, bound)
                return replace(node, operand=operand, count=count), dict.fromkeys(found, True)
            case syntax.Until():
                operand, found = self._node(node.operand, bound)
                end, last = self._node(node.end, bound)
                low, high = self._number(node.low, bound), self._number(node.high, bound)
                made = replace(node, operand=operand, end=end, low=low, high=high)
                return made, {**dict.fromkeys(found, True), **last}
            case syntax.EveryDistinct():
                operand, found = self._node(node.operand, bound)
                scope = self._scope({**bound, **found})
                scope = replace(scope, loose=True)
                keys = tuple(self.names.value(k, scope)[0] for k in node.keys)
                return replace(node, operand=operand, keys=keys), found
            case syntax.While():
                operand, found = self._node(node.operand, bound)
                scope = replace(self._scope({**bound, **found}), loose=True)
                condition = self.names.condition(node.condition, scope)
                return replace(node, operand=operand, condition=condition), found
            case syntax.Within():
                operand, found = self._node(node.operand, bound)
                return replace(node, operand=operand, duration=self._length(node.duration, bound)), found
            case syntax.Interval():
                return replace(node, duration=self._length(node.duration, bound)), {}
            case syntax.Every():
                operand, found = self._node(node.operand, bound)
                return replace(node, operand=operand), found
        return node, {}

    def _number(self, number: Any, bound: Bound) -> Any:
        """A number of repetitions, resolved; ``bound``: what is known when it begins."""
        if not isinstance(number, Expr):
            return number
        made, kind = self.names.value(number, replace(self._scope(bound), loose=True))
        if kind not in (None, Type.INT, Type.NULL):
            message = f"a number of repetitions is a whole number, but this is {kind}"
            hint = "write for example `[a.n]`, or `[round(a.x)]`" if kind is Type.FLOAT else "write for example `[a.n]`"
            self.names.source.report("type-mismatch", message, getattr(number, "span", None), hint)
        return made

    def _length(self, duration: Duration, bound: Bound) -> Duration:
        """A length of time, resolved; ``bound``: what is known when it begins."""
        if not isinstance(duration, syntax.Computed):
            return duration
        scope = replace(self._scope(bound), loose=True)
        parts = []
        for expr, size in duration.parts:
            made, kind = self.names.value(expr, scope)
            if kind not in (None, Type.INT, Type.FLOAT, Type.NULL):
                message = f"a length of time is a number of seconds, but this is {kind}"
                hint = "write for example `a.n * 60`, or `a.n min`"
                self.names.source.report("type-mismatch", message, getattr(expr, "span", None), hint)
            parts.append((made, size))
        return replace(duration, parts=tuple(parts))

    def _scope(self, bound: Bound) -> Scope:
        return Scope(bound, path=tuple(self.path))

    def _followed(self, node: syntax.Followed, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        steps: list[syntax.Pattern] = []
        found: dict[str, bool] = {}
        for operand in node.operands:
            step, more = self._node(operand, {**bound, **found})
            steps.append(step)
            found |= more
        return replace(node, operands=tuple(steps)), found

    def _filter(self, node: syntax.Filter, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        tag = self.names.order[len(self.filters)]
        catalogue = self.names.catalogue
        catalogue.read(self.names.source, node.type, self.defined)
        scope = Scope(bound, (tag, node.type.text), path=tuple(self.path))
        made = [self.names.condition(c, scope) for c in node.conditions]
        parts = tuple(part for c in made for part in conjuncts(c))
        many = self.names.tags[tag].many
        atom = Atom(node, tag, catalogue.subtypes(node.type.text), many)
        self.filters.append(self._apart(atom, parts, scope))
        self.atoms.setdefault(tag, self.filters[-1])
        name = syntax.Name(tag, span=node.tag.span if node.tag is not None else node.type.span)
        return replace(node, tag=name, conditions=parts), {tag: False}

    def _apart(self, atom: Atom, parts: tuple[Expr, ...], scope: Scope) -> Atom:
        """With its conjuncts sorted by what they look at."""
        own, equal, others = [], [], []
        for part in parts:
            if not any(isinstance(n, Ref) and n.scope is not None for n in part.walk()):
                own.append(part)
            elif (pair := self._pair(part, scope)) is not None:
                equal.append(pair)
            else:
                others.append(part)
        return replace(atom, own=tuple(own), equal=tuple(equal), others=tuple(others))

    def _pair(self, part: Expr, scope: Scope) -> tuple[str, str, str] | None:
        """``attribute = tag.attribute``, in either order, where both have one type, as far as that is known."""
        if not isinstance(part, Binary) or part.op != "=":
            return None
        own, other = part.left, part.right
        if isinstance(own, Ref) and own.scope is not None:
            own, other = other, own
        if not isinstance(own, Ref) or not isinstance(other, Ref) or other.scope is None or own.scope is not None:
            return None
        if "time" in (own.name, other.name) or other.index is not None:
            return None
        one, two = self.names.type_of(own, scope), self.names.type_of(other, scope)
        # as long as there is no data, attributes of unknown types may have one type
        unknown = one is None or two is None
        if (unknown and self.names.catalogue.inputs is not None) or (one is not two and not unknown):
            return None
        return own.name, other.scope, other.name


def _joined(found: Iterable[dict[str, bool]]) -> dict[str, bool]:
    out: dict[str, bool] = {}
    for one in found:
        out |= one
    return out


# --- the columns of the derived event ---------------------------------------------------------------------------------


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

    def order(self) -> tuple[tuple[Expr, bool], ...]:
        """The values of `order by`, resolved; a name is that of a column, else of an attribute."""
        return tuple((self._sorted(sort), sort.descending) for sort in self.query.order)

    def _sorted(self, sort: syntax.Sort) -> Expr:
        for ref in (r for r in sort.expr.walk() if isinstance(r, Ref)):
            column = self.query.sorts_by(ref)
            event = ref if column is None else column
            if isinstance(event, Ref) and event.scope is None and self._is_event(event.name):
                message = f"`order by` needs a value, but `{ref.name}` is an event"
                hint = f"name one of its attributes: `{event.name}.attribute`"
                self.names.source.report("type-mismatch", message, ref.span, hint)
                return Literal(None, Type.NULL)
        return self.names.value(rewrite(sort.expr, self._column), self.scope)[0]

    def _column(self, node: Expr) -> Expr | None:
        return self.query.sorts_by(node) if isinstance(node, Ref) else None

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
        if isinstance(expr, Ref) and expr.scope is None and expr.index is not None and self._is_event(expr.name):
            return self._one(expr, expr.index, name or expr.name, span)
        if name is None:
            named = [n.name for n in expr.walk() if isinstance(n, Ref)]
            if not named:
                message = "this column has no name, because it does not read an attribute"
                self.names.source.report("unknown-name", message, span, "name it: `.. as name`")
            name = last_name(named[-1]) if named else ""
        made, kind = self.names.value(expr, self.scope)
        return [Output(name, kind or Type.NULL, made, span=span)] if name else []

    def _is_event(self, name: str) -> bool:
        """Is a bare name a tag?  In a simple query an attribute of that name comes first."""
        if name not in self.names.tags:
            return False
        own = self.names.catalogue.types.get(self.names.tags[name].filter.type.text)
        return not self.query.simple or own is None or name not in own.attributes

    def _one(self, ref: Ref, index: int, name: str, span: Span | None) -> list[Output]:
        """One of the events of a tag as a column."""
        if not self.names.tags[ref.name].many:
            message = f"`{ref.name}` has one event here, not several"
            self.names.source.report("type-mismatch", message, ref.span, f"write `{ref.name}`")
            return []
        type, attributes = self._attributes(ref.name, span)
        return [Output(name, Type.RECORD, None, Struct(ref.name, type, attributes, False, index), span=span)]

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
        elements = self.names.catalogue.elements
        shown = {n: t for n, t in known.attributes.items() if n not in elements}
        values = {n: t for n, t in shown.items() if t is not Type.RECORD}
        if len(values) < len(shown):
            events = [f"`{n}`" for n, t in known.attributes.items() if t is Type.RECORD]
            message = f"`{type}` has columns that are themselves events: {', '.join(events)}"
            hint = "select the attributes that you need instead"
            self.names.source.report("unsupported", message, span, hint)
        self.names.columns[tag] |= set(values)
        return type, tuple(values.items())
