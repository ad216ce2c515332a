"""The names in the expressions of one query: which events they may speak of, and where (epl-and-nets.md, 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from occurs.errors import Place, did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import DurationLiteral, Expr, Literal, Ref, rewrite
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.catalogue import Catalogue
from occurs.languages.epl.checks.types import Typing
from occurs.languages.epl.functions import FUNCTIONS
from occurs.languages.kit.complaints import SET_UNIT, warn_inexact
from occurs.languages.kit.expressions import within_record
from occurs.model.elements import index_step
from occurs.model.time import TimeKind
from occurs.model.types import Type

#: the tags that are bound at a place of a pattern; True: with a list of events
Bound = Mapping[str, bool]


@dataclass(frozen=True)
class Tag:
    """A tag of a pattern: its filter, and the nodes around that, from the outermost.  ``absent``: it is below a
    ``not``.  ``many``: it is below a repetition."""

    filter: syntax.Filter
    path: tuple[syntax.Pattern, ...]

    @property
    def absent(self) -> bool:
        return any(isinstance(n, syntax.Not) for n in self.path)

    @property
    def many(self) -> bool:
        inside = zip(self.path, (*self.path, self.filter)[1:], strict=True)
        return any(isinstance(n, syntax.Repeat) or (isinstance(n, syntax.Until) and n.operand is c) for n, c in inside)


@dataclass
class Scope:
    """Where an expression stands.

    ``bound``: the tags it may use.  ``own``: tag and type of the event at hand, whose attributes bare names are.
    ``select``: behind the pattern, where the event at hand has its tag.  ``path``: the nodes of the pattern around it,
    from the outermost.  ``loose``: a bare name is an attribute of the one event that has such an attribute.
    """

    bound: Bound
    own: tuple[str, str] | None = None
    select: bool = False
    loose: bool = False
    path: tuple[syntax.Pattern, ...] = ()


@dataclass
class Names:
    """Resolves the names of one query; problems go to ``source``."""

    source: Text
    catalogue: Catalogue
    kind: TimeKind | None
    tags: dict[str, Tag] = field(default_factory=dict)
    #: the tags of all filters, in the order of the pattern
    order: list[str] = field(default_factory=list)
    #: by tag the attributes that are read
    columns: dict[str, set[str]] = field(default_factory=dict)

    def enter(self, pattern: syntax.Pattern) -> None:
        """All tags of a pattern; those without a name get one.  Reports tags that are there twice."""
        self._enter(pattern, ())

    def _enter(self, node: syntax.Pattern, path: tuple[syntax.Pattern, ...]) -> None:
        if isinstance(node, syntax.Filter):
            number = len(self.order) + 1
            name = node.tag.text if node.tag is not None else f"#{number}"
            if name in self.tags and node.tag is not None and not self._alternative(name, node, path):
                name = f"#{number}"
            self.order.append(name)
            self.tags.setdefault(name, Tag(node, path))
            self.columns.setdefault(name, set())
        for child in node.children:
            self._enter(child, (*path, node))

    def _alternative(self, name: str, node: syntax.Filter, path: tuple[syntax.Pattern, ...]) -> bool:
        """Is an event with a tag that is there already in another branch of an `or`, and of the same type?"""
        known = self.tags[name]
        place = Place("the first is here", self.source.file, (known.filter.tag or known.filter.type).span)
        common = [a for a, b in zip(known.path, path, strict=False) if a is b]
        span = None if node.tag is None else node.tag.span
        if not common or not isinstance(common[-1], syntax.Or):
            message = f"two events of the pattern have the tag `{name}`: the later one would replace the other"
            hint = f"give one of them another tag: `{name}2={node.type}`; only branches of an `or` may share a tag"
            self.source.report("duplicate-name", message, span, hint, "error", (place,))
            return False
        if known.filter.type.text != node.type.text or known.many != Tag(node, path).many:
            message = f"the tag `{name}` stands for events of `{known.filter.type}` and of `{node.type}`"
            if known.filter.type.text == node.type.text:
                message = f"the tag `{name}` stands for one event and for several"
            hint = f"give one of them another tag: `{name}2={node.type}`"
            self.source.report("duplicate-name", message, span, hint, "error", (place,))
            return False
        return True

    # --- expressions -------------------------------------------------------------------------------------------------

    def condition(self, node: Expr, scope: Scope) -> Expr:
        """A condition, resolved and in plain form."""
        self._durations(node)
        return self._typing(scope).condition(self.resolve(node, scope))

    def value(self, node: Expr, scope: Scope) -> tuple[Expr, Type | None]:
        """A value, resolved and in plain form, and its type."""
        self._durations(node)
        return self._typing(scope).typed(self.resolve(node, scope))

    def _durations(self, node: Expr) -> None:
        """Report lengths of time that do not go with the kind of time."""
        for part in node.walk() if self.kind is not None else ():
            if not isinstance(part, DurationLiteral):
                continue
            ticks = self.kind.convert(part.value) if self.kind is not None else None
            if ticks is None:
                message = "a duration needs the unit of the integer time column"
                self.source.report("missing-unit", message, part.span, SET_UNIT)
            else:
                warn_inexact(ticks, part.span, self.source)

    def _typing(self, scope: Scope) -> Typing:
        integer = None if self.kind is None else not self.kind.timestamp
        return Typing(lambda ref: self.type_of(ref, scope), self.source.report, integer)

    def type_of(self, ref: Ref, scope: Scope) -> Type | None:
        """The type of a resolved reference, None if it is unknown."""
        tag = scope.own[0] if ref.scope is None and scope.own is not None else ref.scope
        if tag not in self.tags:
            return None
        if ref.name == "time":
            if self.kind is None:
                return None
            return Type.TIMESTAMP if self.kind.timestamp else Type.INT
        known = self.catalogue.types.get(self.tags[tag].filter.type.text)
        found = known.attributes.get(ref.name) if known is not None else None
        return None if found is Type.NULL else found

    def resolve(self, node: Expr, scope: Scope) -> Expr:
        """With ``Ref(None, a)`` for the event at hand, ``Ref(tag, a)`` for others.  What is not there is reported, and
        becomes a reference to nothing."""

        def rule(one: Expr) -> Expr | None:
            if isinstance(one, syntax.Value):
                return self._variable(one, scope)
            return self._ref(one, scope) if isinstance(one, Ref) else None

        return rewrite(node, rule)

    def _variable(self, value: syntax.Value, scope: Scope) -> Literal:
        """The value of a variable; reports one that may as well be an attribute."""
        own = [] if scope.own is None else [scope.own[0]]
        if any(self._has(t, value.variable) for t in (*own, *(scope.bound if scope.loose else ()))):
            message = f"`{value.variable}` is a variable and an attribute"
            self.source.report("duplicate-name", message, value.span, "give the variable another name")
        return Literal(value.value, value.type, span=value.span)

    def _ref(self, ref: Ref, scope: Scope) -> Ref:
        if ref.index is not None and (ref.scope or ref.name) not in self.tags:
            # an element of a list
            name = index_step(ref.index) if ref.scope is None else f"{index_step(ref.index)}.{ref.name}"
            ref = Ref(None, f"{ref.scope or ref.name}{name}", span=ref.span)
        if ref.scope is None or (scope.own is not None and ref.scope == scope.own[0]):
            return self._bare(ref, scope)
        tag = self.tags.get(ref.scope)
        if tag is None and scope.own is not None:
            own = self.catalogue.types.get(scope.own[1])
            scopes = {*self.tags, *(t.filter.type.text for t in self.tags.values())}
            inner = within_record(ref, None if own is None else own.attributes, scopes)
            if inner is not None:
                return self._bare(inner, scope)
        if tag is None:
            known = [t for t in self.tags if not t.startswith("#")]
            hint = did_you_mean(ref.scope, known, "tags")
            typed = [t for t in known if self.tags[t].filter.type.text == ref.scope]
            if typed:
                hint = "events of this type have the tag " + " or ".join(f"`{t}`" for t in typed)
            elif any(t.filter.type.text == ref.scope for t in self.tags.values()):
                hint = f"give the event a tag: `a={ref.scope}`"
            self.source.report("unknown-name", f"no event of this pattern has the tag `{ref.scope}`", ref.span, hint)
            return _nothing(ref)
        if ref.scope not in scope.bound:
            self._unbound(ref, tag, scope)
            return _nothing(ref)
        many = scope.bound[ref.scope]
        if many and ref.index is None:
            message = f"`{ref.scope}` is repeated and has several events"
            hint = f"name one by its index, from 0: `{ref.scope}[0].{ref.name}`"
            self.source.report("type-mismatch", message, ref.span, hint)
            return _nothing(ref)
        if not many and ref.index is not None:
            message = f"`{ref.scope}` has one event here, not several"
            self.source.report("type-mismatch", message, ref.span, f"write `{ref.scope}.{ref.name}`")
            return _nothing(ref)
        return self._used(ref, ref.scope)

    def _bare(self, ref: Ref, scope: Scope) -> Ref:
        owners = [t for t in scope.bound if self._has(t, ref.name)] or [t for t in scope.bound if self._may_have(t)]
        if scope.loose and ref.scope is None and ref.index is None and len(owners) == 1 and not scope.bound[owners[0]]:
            return self._used(Ref(owners[0], ref.name, span=ref.span), owners[0])
        if scope.own is None:
            self._nobodys(ref, scope.bound)
            return _nothing(ref)
        tag, type = scope.own
        if ref.index is not None:
            message = f"`{ref.scope or ref.name}` is a single event here and has no index"
            self.source.report("type-mismatch", message, ref.span, f"write `{ref.name}`")
            return _nothing(ref)
        known = self.catalogue.types.get(type)
        misses = ref.scope is None and ref.name != "time" and known is not None and ref.name not in known.attributes
        if misses and ref.name in self.tags and ref.name != tag:
            message = f"`{ref.name}` is an event, but a value is needed here"
            self.source.report("unknown-attribute", message, ref.span, f"write `{ref.name}.attribute`")
            return _nothing(ref)
        return self._used(Ref(tag if scope.select else None, ref.name, span=ref.span), tag)

    def _nobodys(self, ref: Ref, bound: Collection[str]) -> None:
        """A bare name where there is no event at hand."""
        if ref.name in self.tags:
            message = f"`{ref.name}` is an event, but a value is needed here"
            hint = (
                f"name one of its attributes: `{ref.name}.attribute`; "
                f"to test if it is present: `{ref.name}.time is not null`"
            )
            self.source.report("type-mismatch", message, ref.span, hint)
            return
        owners = [t for t in bound if self._has(t, ref.name)]
        whose = " or ".join(f"`{o}.{ref.name}`" for o in owners)
        hint = f"name the event: {whose}" if owners else "write `tag.attribute`"
        called, key, _ = ref.name.partition("('")
        near = did_you_mean(called, FUNCTIONS if key else bound, "functions" if key else "tags")
        if not owners and near.startswith("did"):
            hint = near
        self.source.report("unknown-name", f"`{ref.name}` is not an attribute of an event here", ref.span, hint)

    def _has(self, tag: str, attribute: str) -> bool:
        known = self.catalogue.types.get(self.tags[tag].filter.type.text)
        return known is not None and not tag.startswith("#") and attribute in known.attributes

    def _may_have(self, tag: str) -> bool:
        """Is it not known which attributes an event has?"""
        known = self.catalogue.types.get(self.tags[tag].filter.type.text)
        return not tag.startswith("#") and (known is None or known.open)

    def _unbound(self, ref: Ref, tag: Tag, scope: Scope) -> None:
        place = Place(f"`{ref.scope}` is here", self.source.file, (tag.filter.tag or tag.filter.type).span)
        why, hint = _why(tag, scope.path)
        message = f"`{ref.scope}` is not yet bound here: {why}"
        self.source.report("unbound-variable", message, ref.span, hint, "error", (place,))

    def _used(self, ref: Ref, tag: str) -> Ref:
        """A reference to an event that is there."""
        if ref.name != "time":
            self.catalogue.attribute(self.source, self.tags[tag].filter.type.text, ref.name, ref.span)
            self.columns[tag].add(ref.name)
        return ref


def _why(tag: Tag, path: tuple[syntax.Pattern, ...]) -> tuple[str, str]:
    """Why a tag is not bound at a place, and what to do about it."""
    common = [a for a, b in zip(tag.path, path, strict=False) if a is b]
    if any(isinstance(n, syntax.Not) for n in tag.path[len(common) :]):
        return "it belongs to a `not`, which matches no event", "an absent event has no attributes"
    around = common[-1] if common else None
    if isinstance(around, syntax.Not):
        return "it belongs to the same `not`", "an absent event has no attributes"
    if isinstance(around, syntax.And | syntax.Or):
        word = "and" if isinstance(around, syntax.And) else "or"
        hint = (
            "a filter can use the tags of earlier steps of the `->` around it; compare in the `where` after the pattern"
        )
        return f"its event belongs to another branch of `{word}` and may arrive later or never", hint
    if isinstance(around, syntax.Until):
        return "the end of `until` may arrive before any repetition", "compare in the `where` after the pattern"
    return "its event belongs to a later step", "move the condition into the filter of the later event"


def _nothing(ref: Ref) -> Ref:
    """Stands for what is not there: of no type."""
    return Ref("", ref.name, span=ref.span)
