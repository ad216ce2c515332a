"""The tree of an EPL text (epl-and-nets.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

from occurs.errors import Span
from occurs.expr.text import Name as Name
from occurs.expr.tree import Binary, Expr, Literal, Ref, _span
from occurs.model.elements import index_step, path_of
from occurs.model.time import Duration
from occurs.model.types import Type

# --- expressions that only this language has (the others are in occurs.expr.tree) -----------------------------------


@dataclass(frozen=True)
class Between(Expr):
    """``arg between low and high``; the ends may be exchanged, as in Esper."""

    arg: Expr
    low: Expr
    high: Expr
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class InRange(Expr):
    """``arg in [low:high)``; ``closed``: are the ends part of it?"""

    arg: Expr
    low: Expr
    high: Expr
    closed: tuple[bool, bool] = (True, True)
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class Case(Expr):
    """``case when c then v .. [else v] end``: ``parts`` are c, v, c, v .. and, if there is an else, its value."""

    parts: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Concat(Expr):
    """``left || right``: texts."""

    left: Expr
    right: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Parameter(Expr):
    """``?``, ``?:name``, ``?:name:type``, ``?::type``: a value that is given from outside.  ``written``: its
    type as it is written, empty if it is not."""

    name: str | None = None
    written: str = ""
    span: Span | None = _span()


@dataclass(frozen=True)
class Value(Literal):
    """The value of a variable; ``variable``: its name."""

    variable: str = ""


# --- patterns -------------------------------------------------------------------------------------------------------
# In a text a parameter may stand for a number of `timer:at`, `-[n]>`, `timer:withinmax` and `@consume`; the checks put
# the number into its place.


@dataclass(frozen=True)
class Pattern:
    """Any pattern."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def children(self) -> tuple[Pattern, ...]:
        return ()

    def walk(self) -> Iterator[Pattern]:
        """This pattern and all its parts, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Filter(Pattern):
    """``tag=Type(conditions)@consume(level)``.  ``consume``: 0 if there is no ``@consume``."""

    type: Name
    tag: Name | None = None
    conditions: tuple[Expr, ...] = ()
    consume: int = 0


@dataclass(frozen=True)
class _Unary(Pattern):
    operand: Pattern

    @property
    def children(self) -> tuple[Pattern, ...]:
        return (self.operand,)


@dataclass(frozen=True)
class Every(_Unary):
    """``every p``."""


@dataclass(frozen=True)
class EveryDistinct(_Unary):
    """``every-distinct(keys, expiry) p``."""

    keys: tuple[Expr, ...] = ()
    expiry: Duration | None = None


@dataclass(frozen=True)
class Not(_Unary):
    """``not p``."""


@dataclass(frozen=True)
class Repeat(_Unary):
    """``[count] p``; a count that is no number is computed from earlier events when the repetition begins."""

    count: int | Expr = 1


@dataclass(frozen=True)
class Until(Pattern):
    """``[low:high] p until end``; a bound that is not written is None; ``[n] p until q`` has both n.

    A bound that is no number is computed from earlier events when the repetition begins.
    """

    low: int | Expr | None
    high: int | Expr | None
    operand: Pattern
    end: Pattern

    @property
    def children(self) -> tuple[Pattern, ...]:
        return (self.operand, self.end)


def bounds_of(node: Repeat | Until) -> tuple[int | Expr | None, int | Expr | None]:
    """The least and the greatest number of repetitions."""
    return (node.count, node.count) if isinstance(node, Repeat) else (node.low, node.high)


def computed(node: Repeat | Until) -> bool:
    """Are numbers of repetitions computed from earlier events?"""
    return any(isinstance(n, Expr) for n in bounds_of(node))


@dataclass(frozen=True)
class _Nary(Pattern):
    operands: tuple[Pattern, ...]

    @property
    def children(self) -> tuple[Pattern, ...]:
        return self.operands


@dataclass(frozen=True)
class And(_Nary):
    """``p and q ..``: two operands or more, none of them an And without parentheses of its own."""


@dataclass(frozen=True)
class Or(_Nary):
    """``p or q ..``."""


@dataclass(frozen=True)
class Followed(_Nary):
    """``p -> q -[k]> r``; ``limits``: of the arrow behind each operand but the last, None for ``->``."""

    limits: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Within(_Unary):
    """``p where timer:within(duration)``; with ``count``: ``timer:withinmax(duration, count)``."""

    duration: Duration
    count: int | None = None


@dataclass(frozen=True)
class While(_Unary):
    """``p while (condition)``."""

    condition: Expr


@dataclass(frozen=True)
class Period(Duration):
    """A length of time with years or months; how long it is depends on when it begins.

    It is added to a local time, years first, then months (a day that the month lacks becomes its last one), weeks and
    days; ``rest``: microseconds behind these.  ``amount``: its greatest length in microseconds.
    """

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    rest: Fraction = Fraction(0)


@dataclass(frozen=True)
class Computed(Duration):
    """A length of time that is computed from earlier events when it begins: each part times its microseconds.

    ``amount``: None, for it has no bound.
    """

    amount: Fraction = None  # type: ignore[assignment]
    parts: tuple[tuple[Expr, int], ...] = ()


@dataclass(frozen=True)
class Timer(Pattern):
    """A pattern that is true at an instant; what each means is declared in :mod:`occurs.languages.epl.timers`."""


@dataclass(frozen=True)
class Interval(Timer):
    """``timer:interval(duration)``."""

    duration: Duration


#: kinds of fields that choose a day by the calendar of its month
DAY_RULES = ("last", "last_of", "last_weekday", "weekday")


@dataclass(frozen=True)
class Cron:
    """A field of ``timer:at``.

    ``kind``: any (``*``), at (``n``), step (``*/n``), range (``low:high``), or list; of days only: last (``last``),
    last_of (``n last``: the last day of the week n of a month), last_weekday (``lastweekday``: the last of Monday to
    Friday of a month), weekday (``n weekday``: the one of Monday to Friday that is nearest to day n of a month).
    """

    kind: str
    low: int = 0
    high: int = 0
    items: tuple[Cron, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class At(Timer):
    """``timer:at(minute, hour, day of month, month, day of week [, second [, zone [, millisecond [, microsecond]]]])``.

    ``fields``: up to the second; ``below``: the milliseconds and microseconds.
    """

    fields: tuple[Cron, ...]
    zone: str | None = None
    below: tuple[Cron, ...] = ()

    @property
    def plain(self) -> bool:
        """Are its fields numbers, no finer than seconds, in the zone of the program?"""
        return self.zone is None and not self.below and all(f.kind not in DAY_RULES for f in self.fields)


@dataclass(frozen=True)
class Schedule(Timer):
    """``timer:schedule(iso: '..')``, ``timer:schedule(date: .., repetitions: .., period: ..)``.

    ``date``: microseconds since 1970 UTC; None: the start.  ``repetitions``: how many instants, the date one of them;
    -1: any number; None: it does not repeat.  ``period``: from each to the next; None: only the date.  ``arguments``:
    as they are written.
    """

    arguments: tuple[tuple[str, str | int | Duration], ...]
    date: int | None = None
    repetitions: int | None = None
    period: Duration | None = None


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Annotation:
    """``@Name('x')`` has the value ``x``; ``@Tag(name='a', value='b')`` has arguments; else neither."""

    name: Name
    value: str | int | float | bool | None = None
    arguments: tuple[tuple[str, str | int | float | bool | None], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Attribute:
    """A column of a schema."""

    name: Name
    type: Type
    #: as it is written: ``long`` stays ``long``
    written: str = field(default="", compare=False)


@dataclass(frozen=True)
class CreateSchema:
    """``create schema Name (attributes) inherits Parent``; ``form``: ``map``, ``objectarray`` or empty."""

    name: Name
    attributes: tuple[Attribute, ...]
    inherits: tuple[Name, ...] = ()
    form: str = ""
    annotations: tuple[Annotation, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class CreateVariable:
    """``create constant variable type name = value``.  ``written``: the type as it is written."""

    name: Name
    type: Type
    value: Expr | None = None
    constant: bool = False
    annotations: tuple[Annotation, ...] = ()
    written: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Item:
    """``expr as name``, ``tag.*`` (``all_of``), or ``*`` (neither expression nor ``all_of``)."""

    expr: Expr | None = None
    name: Name | None = None
    all_of: Name | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Sort:
    """``expr desc``, an item of ``order by``."""

    expr: Expr
    descending: bool = False
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Query:
    """``insert into Name select items from pattern [..] where condition order by order``.

    ``pattern`` is a Filter with ``simple`` for ``from Type(conditions) as tag``.  ``suppress``, ``discard``:
    ``@SuppressOverlappingMatches``, ``@DiscardPartialsOnMatch``.
    """

    items: tuple[Item, ...]
    pattern: Pattern
    into: Name | None = None
    where: Expr | None = None
    simple: bool = False
    suppress: bool = False
    discard: bool = False
    annotations: tuple[Annotation, ...] = ()
    order: tuple[Sort, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    def sorts_by(self, ref: Ref) -> Expr | None:
        """The value that a name in ``order by`` stands for: that of the column with this name, if it is one."""
        if ref.scope is not None or ref.index is not None:
            return None
        return next((i.expr for i in self.items if i.name is not None and i.name.text == ref.name), None)


Statement = CreateSchema | CreateVariable | Query


@dataclass(frozen=True)
class File:
    """A parsed text: its statements in order."""

    statements: tuple[Statement, ...]
    file: str | None = None
    text: str = ""
    #: types that statements which cannot be read were to create or derive
    unread: frozenset[str] = frozenset()


#: what has expressions below it
NODES = (File, Query, CreateVariable, Pattern, Cron, Item, Sort, Computed)


def expressions(node: Any) -> Iterator[Expr]:
    """All expressions of a part of a text, each whole."""
    if isinstance(node, Expr):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from expressions(part)
    elif isinstance(node, NODES):
        for f in fields(node):
            yield from expressions(getattr(node, f.name))


def elements_of(statements: tuple[Statement, ...]) -> frozenset[str]:
    """The names of all that may be elements of lists and maps in statements.

    Before the tags are known, ``a.list[2]`` may be the element ``list[2]`` of the event ``a``, or ``a.list[2]`` of the
    event at hand.
    """
    out: set[str] = set()
    for ref in (n for e in expressions(statements) for n in e.walk() if isinstance(n, Ref)):
        index = "" if ref.index is None else index_step(ref.index)
        owner = f"{ref.name}{index}" if ref.scope is None else f"{ref.scope}{index}.{ref.name}"
        out |= {name for name in (ref.name, owner) if path_of(name) is not None}
    return frozenset(out)


def chained(op: str, node: Expr) -> Iterator[Expr]:
    """The operands of a chain of ``and`` or of ``or``, left to right."""
    todo = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, Binary) and part.op == op:
            todo += [part.right, part.left]
        else:
            yield part
