"""The tree of a TESLA text (tesla.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from occurs.errors import Span
from occurs.expr.text import Name as Name
from occurs.expr.tree import Expr, _span
from occurs.model.time import Duration
from occurs.model.types import Type


@dataclass(frozen=True)
class Positional(Expr):
    """A constraint without a name: the value for the attribute at this position; ``value`` None is ``_`` (skip).

    Only in freshly parsed trees: the checks replace it by ``attribute = value`` (``$x``, literals) or drop it (``_``).
    """

    value: Expr | None
    span: Span | None = _span()


@dataclass(frozen=True)
class Event:
    """``Type(constraints) as alias``."""

    type: Name
    constraints: tuple[Expr, ...] = ()
    alias: Name | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def role(self) -> str:
        return (self.alias or self.type).text


@dataclass(frozen=True)
class Within:
    """``within duration from role``."""

    duration: Duration
    role: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Between:
    """``between one and other``, in either order."""

    one: Name
    other: Name
    span: Span | None = field(default=None, compare=False, repr=False)


Interval = Within | Between


@dataclass(frozen=True)
class Selection:
    """``policy Event within duration from role``.

    ``policy`` is ``each``, ``first`` or ``last``; ``k`` is K of K-first and K-last (1 for plain first, last, each).
    ``having`` is a condition that is judged once the events are chosen.
    """

    policy: str
    k: int
    event: Event
    within: Within
    having: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Negation:
    """``not Type(constraints) interval``."""

    event: Event
    interval: Interval
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class ExtraWithin:
    """``role within duration from other``: a filter on events already bound."""

    role: Name
    within: Within
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Condition:
    """A comparison, or ``not (...)``, at the top level of a pattern."""

    expr: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


Item = Selection | Negation | ExtraWithin | Condition


@dataclass(frozen=True)
class Aggregate(Expr):
    """``FUNCTION(Type(constraints).attribute) interval``; ``function`` in lower case, no ``attribute``: COUNT().

    ``COUNT(DISTINCT ..)`` is the function ``count distinct``.  ``percent``: of PERCENTILE, from 0 to 100.
    """

    function: str
    event: Event
    attribute: str | None
    interval: Interval
    percent: float | None = None
    span: Span | None = _span()

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.event.constraints

    def with_children(self, new: tuple[Expr, ...]) -> Expr:
        from dataclasses import replace

        return replace(self, event=replace(self.event, constraints=new))


@dataclass(frozen=True)
class Attribute:
    """An attribute of ``event`` or ``define``; ``type`` None is inferred."""

    name: Name
    type: Type | None = None


@dataclass(frozen=True)
class Assignment:
    """``name = expr`` in ``where``."""

    name: Name
    expr: Expr


@dataclass(frozen=True)
class Rule:
    """``define ... from ... where ... consuming ...``; ``items`` in text order after the terminator."""

    name: Name | None
    type: Name
    attributes: tuple[Attribute, ...]
    terminator: Event
    items: tuple[Item, ...] = ()
    where: tuple[Assignment, ...] = ()
    consuming: tuple[Name, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @cached_property
    def selections(self) -> tuple[Selection, ...]:
        return tuple(i for i in self.items if isinstance(i, Selection))

    @cached_property
    def roles(self) -> tuple[Event, ...]:
        """r0 (the terminator), r1 ... rn as written."""
        return (self.terminator, *(s.event for s in self.selections))

    @property
    def events(self) -> Iterator[Event]:
        """The terminator, then the selected and negated events."""
        yield self.terminator
        for item in self.items:
            if isinstance(item, Selection | Negation):
                yield item.event

    @property
    def conditions(self) -> Iterator[Expr]:
        """The conditions at the top level of the pattern, and those of `having`."""
        for item in self.items:
            if isinstance(item, Condition):
                yield item.expr
            elif isinstance(item, Selection) and item.having is not None:
                yield item.having

    @cached_property
    def expressions(self) -> tuple[Expr, ...]:
        """Every constraint, condition and value."""
        constraints = chain.from_iterable(event.constraints for event in self.events)
        return (*constraints, *self.conditions, *(assignment.expr for assignment in self.where))

    @cached_property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """Those in all expressions."""
        return tuple(n for e in self.expressions for n in e.walk() if isinstance(n, Aggregate))

    @cached_property
    def looked_back(self) -> frozenset[str]:
        """The types that selections, negations and aggregates range over."""
        ranged = {item.event.type.text for item in self.items if isinstance(item, Selection | Negation)}
        return frozenset(ranged.union(n.event.type.text for n in self.aggregates))


@dataclass(frozen=True)
class EventSchema:
    """``event Name(attributes)``."""

    type: Name
    attributes: tuple[Attribute, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Subscription:
    """``Subscribe(Type, filter)``."""

    type: Name
    filter: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Assign:
    """``Assign 2000 => Smoke``: names numeric type ids of the data."""

    names: tuple[tuple[int, Name], ...]
    span: Span | None = field(default=None, compare=False, repr=False)


Statement = Rule | EventSchema | Subscription | Assign


@dataclass(frozen=True)
class File:
    """A parsed text: its statements in order."""

    statements: tuple[Statement, ...]
    file: str | None = None
    text: str = ""
