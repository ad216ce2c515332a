"""A pattern as its operator sees it: names resolved, conditions taken apart, durations in ticks (epl-and-nets.md, 4A).

Expressions name the event at hand by ``Ref(None, attribute)``, an earlier one by ``Ref(tag, attribute)`` or, of a tag
that has several, ``Ref(tag, attribute, index)``; they have no nodes but those of :mod:`occurs.expr.tree`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from occurs.expr.tree import Expr
from occurs.model.types import Type, arrow_type


@dataclass(frozen=True)
class Node:
    """Any pattern; equal nodes in two places of a tree are two nodes."""

    @property
    def children(self) -> tuple[Node, ...]:
        return ()

    @property
    def instant(self) -> bool:
        """Is it true as soon as it is started?  (Of operators with operands :func:`at_once` knows.)"""
        return False

    def walk(self) -> Iterator[Node]:
        """This pattern and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Atom(Node):
    """Waits for the first event of one of ``types`` (one, or several that inherit the first) that fits.

    ``tag``: every atom has one, of its own; atoms that are not named in the text have one like ``#3``.  ``own``:
    conditions on the event alone.  ``equal``: (attribute of the event, tag, attribute of that tag's one event): equal
    and not null, of equal types.  ``others``: all other conditions on earlier events.  ``level``: of ``@consume``.
    """

    types: tuple[str, ...]
    tag: str
    own: tuple[Expr, ...] = ()
    equal: tuple[tuple[str, str, str], ...] = ()
    others: tuple[Expr, ...] = ()
    level: int = 0


@dataclass(frozen=True)
class _Unary(Node):
    operand: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


#: least and greatest number of repetitions, computed when they begin; None, or null: no bound
Bounds = tuple[Expr | None, Expr | None]
#: a length that is computed when it begins: the sum of values, each times so many ticks; () if it is not
Length = tuple[tuple[Expr, Fraction], ...]


@dataclass(frozen=True)
class Shift:
    """Years, months and days that are added to a local time before the ticks of a length (epl-and-nets.md, 4A).

    ``tick``: microseconds per tick, counted from 1970-01-01 (``zone``).
    """

    years: int
    months: int
    days: int
    tick: int
    zone: str = "UTC"


@dataclass(frozen=True)
class Every(_Unary):
    """``every``; with ``keys`` (expressions on what the operand binds) ``every-distinct``; ``expiry`` in ticks."""

    keys: tuple[Expr, ...] = ()
    expiry: int | None = None
    shift: Shift | None = None


@dataclass(frozen=True)
class Not(_Unary):
    """Absence."""


@dataclass(frozen=True)
class Repeat(_Unary):
    """``[count] p``; ``bounds``: instead of ``count``."""

    count: int
    bounds: Bounds | None = None


@dataclass(frozen=True)
class Until(Node):
    """``[low:high] p until end``; ``low`` 0, ``high`` None: without bound; ``bounds``: instead of these."""

    low: int
    high: int | None
    operand: Node
    end: Node
    bounds: Bounds | None = None

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, self.end)


@dataclass(frozen=True)
class _Nary(Node):
    operands: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.operands


@dataclass(frozen=True)
class And(_Nary):
    """All, in any order."""


@dataclass(frozen=True)
class Or(_Nary):
    """Any."""


@dataclass(frozen=True)
class Followed(_Nary):
    """One after the other; ``limits``: how many instances of the next step may live, per arrow (None: any number)."""

    limits: tuple[int | None, ...]


@dataclass(frozen=True)
class Within(_Unary):
    """``timer:within(ticks)``, with ``count`` ``timer:withinmax(ticks, count)``; ``length``: instead of ``ticks``."""

    ticks: int
    count: int | None = None
    shift: Shift | None = None
    length: Length = ()

    @property
    def fixed(self) -> bool:
        """Is it always as long?"""
        return self.shift is None and not self.length


@dataclass(frozen=True)
class While(_Unary):
    """``while (condition)``: a condition on what the operand binds."""

    condition: Expr


def at_once(node: Node) -> bool:
    """Is a pattern true as soon as it is started?"""
    match node:
        case Not():
            return True
        case Followed() | And():
            return all(map(at_once, node.operands))
        case Until():
            return at_once(node.end)
        case Or() | Within() | While():
            return any(map(at_once, node.children))
    return node.instant


@dataclass(frozen=True)
class Sequence:
    """The pattern of one statement.

    ``name``: of the statement, for errors.  ``root``: its pattern.  ``tags``: the tags of all atoms in pattern order,
    with True for those below a repetition, which have lists.  ``columns``: per tag the attributes that anything reads
    (conditions, keys, the select) of its events.  ``where``: filters matches only.  ``outputs``: (name, expression) of
    the columns of the derived event.  ``suppress``, ``discard``: the annotations.  ``order``: the values by which the
    matches of one event or timer instant are sorted, True: from the greatest; null is least.
    """

    name: str
    root: Node
    tags: tuple[tuple[str, bool], ...]
    columns: tuple[tuple[str, frozenset[str]], ...]
    where: Expr | None
    outputs: tuple[tuple[str, Expr], ...]
    suppress: bool = False
    discard: bool = False
    order: tuple[tuple[Expr, bool], ...] = ()


@dataclass(frozen=True)
class Whole(Expr):
    """All that is known of the event of a tag (or of its list of events): a column with parts, in outputs only.

    ``attributes``: of the events, in their order, all of them among the ``columns`` of the tag.  ``index``: only the
    event with this number of the list, from 0.
    """

    tag: str
    attributes: tuple[tuple[str, Type], ...]
    index: int | None = None


def record_of(attributes: Iterable[tuple[str, Type]]) -> pa.StructType:
    """The Arrow type of a record with these attributes."""
    return pa.struct([pa.field(n, arrow_type(t)) for n, t in attributes])
