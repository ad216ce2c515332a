"""Patterns that are chains of steps: what the vectorised operator makes of a tree (epl-and-nets.md, sections 4A, 5).

A chain is steps joined by ``->``.  A token that waits at a step waits for the first event that fits (a *once* step),
for every one (a step below ``every``), or for a time (``timer:interval``); events of other filters may end it before
that (``and not``).  Guards lie over one step or several that follow one another.  The first step has one token, made
when the clock starts; under ``every`` it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, field, replace
from functools import cached_property

from occurs.expr.evaluate import as_threshold
from occurs.expr.tree import Binary, Expr, Literal, Ref, rewrite
from occurs.model.types import Schema, Type
from occurs.operators.kernels.ranges import ALL_NUMBERS, as_ordered
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import And, Atom, Every, Followed, Node, Not, Sequence, Within

#: the step number by which ``Equal`` names the constants of a rule
RULE = -1


@dataclass(frozen=True)
class Equal:
    """``attribute`` of the event equals attribute ``other`` of the event of step number ``step``, or (RULE) constant
    number ``constant`` of the rule."""

    attribute: str
    step: int
    other: str = ""
    constant: int = 0


@dataclass(frozen=True)
class InRange:
    """``attribute`` of the event, a number of ``type``, is within range number ``number`` of the rule."""

    attribute: str
    type: Type
    number: int


@dataclass(frozen=True)
class Range:
    """From ``low`` to ``high``, both included, as :func:`.as_ordered` has numbers; ``conditions``: what says so."""

    low: int
    high: int
    conditions: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Filter:
    """An atom: references to earlier events in ``others`` have the number of their step, as text, as scope."""

    types: tuple[str, ...]
    own: tuple[Expr, ...] = ()
    equal: tuple[Equal, ...] = ()
    others: tuple[Expr, ...] = ()
    ranges: tuple[InRange, ...] = ()


@dataclass(frozen=True)
class Step:
    """Waits for ``event``, the first or ``every`` one, or (None) until ``timed`` ticks after its begin; no event of
    ``absent`` may come before.  ``timed``: number of the duration in ``Chain.ticks``."""

    event: Filter | None
    every: bool = False
    timed: int | None = None
    absent: tuple[Filter, ...] = ()

    @cached_property
    def read(self) -> frozenset[str]:
        """The types of all events that can change something for a token that waits here."""
        filters = (*((self.event,) if self.event else ()), *self.absent)
        return frozenset(t for f in filters for t in f.types)


@dataclass(frozen=True)
class Guard:
    """From the begin of step ``first`` on, steps up to ``last`` must be done before ``ticks`` (a number of
    ``Shape.ticks``) are over."""

    first: int
    last: int
    ticks: int


@dataclass(frozen=True)
class Shape:
    """The steps of a chain; rules with equal shapes differ in ``tags``, ``ticks``, ``constants`` and ``ranges``
    alone."""

    steps: tuple[Step, ...]
    guards: tuple[Guard, ...]
    ticks: tuple[int, ...] = field(compare=False)
    #: the tag of each step, None of a step that waits for a time
    tags: tuple[str | None, ...] = field(compare=False)
    constants: tuple[Literal, ...] = field(default=(), compare=False)
    ranges: tuple[Range, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, sequence: Sequence) -> Shape | None:
        """None: not a chain."""
        if sequence.suppress or sequence.discard:
            return None
        made = _Reading()
        if not made.read(sequence.root):
            return None
        return cls(tuple(made.steps), tuple(made.guards), tuple(made.ticks), tuple(made.tags))

    def covering(self, step: int) -> list[int]:
        """The numbers of the guards over a step."""
        return [n for n, g in enumerate(self.guards) if g.first <= step <= g.last]

    def slotted(self, schemas: Mapping[str, Schema]) -> Shape:
        """With comparisons of an attribute with a whole number or a text as equalities with constants of the rule."""
        constants: list[Literal] = []

        def moved(f: Filter) -> Filter:
            own, equal = [], list(f.equal)
            for e in f.own:
                found = _constant(e)
                if found is None or any(not _alike(schemas.get(t), *found) for t in f.types):
                    own.append(e)
                else:
                    equal.append(Equal(found[0], RULE, str(found[1].type), len(constants)))
                    constants.append(found[1])
            return replace(f, own=tuple(own), equal=tuple(equal))

        steps = self._mapped(moved)
        return replace(self, steps=steps, constants=tuple(constants))

    def ranged(self, schemas: Mapping[str, Schema]) -> Shape:
        """With comparisons of a number with constants as ranges of the rule: one for each attribute of an atom."""
        ranges: list[Range] = []

        def moved(f: Filter) -> Filter:
            own: list[Expr] = []
            found: dict[str, tuple[Type, Range]] = {}
            for e in f.own:
                limits = _limits(e, f.types, schemas)
                if limits is None:
                    own.append(e)
                    continue
                attribute, type, low, high = limits
                of = found.get(attribute, (type, Range(*ALL_NUMBERS)))[1]
                found[attribute] = type, Range(max(of.low, low), min(of.high, high), (*of.conditions, e))
            within = []
            for attribute in sorted(found):
                type, of = found[attribute]
                within.append(InRange(attribute, type, len(ranges)))
                ranges.append(of)
            return replace(f, own=tuple(own), ranges=tuple(within))

        steps = self._mapped(moved)
        return replace(self, steps=steps, ranges=tuple(ranges))

    def unranged(self, known: Many[int]) -> Shape:
        """With the ranges whose numbers are ``known`` as conditions again; the others are numbered anew."""
        left = [n for n in range(len(self.ranges)) if n not in known]

        def back(f: Filter) -> Filter:
            own = [e for r in f.ranges if r.number in known for e in self.ranges[r.number].conditions]
            within = [replace(r, number=left.index(r.number)) for r in f.ranges if r.number not in known]
            return replace(f, own=(*f.own, *own), ranges=tuple(within))

        return replace(self, steps=self._mapped(back), ranges=tuple(self.ranges[n] for n in left))

    def filled(self, known: Many[int]) -> Shape:
        """With the constants whose numbers are ``known`` as conditions again; the others are numbered anew."""
        left = [n for n in range(len(self.constants)) if n not in known]

        def back(f: Filter) -> Filter:
            own, equal = list(f.own), []
            for e in f.equal:
                if e.step != RULE:
                    equal.append(e)
                elif e.constant in known:
                    own.append(Binary("=", Ref(None, e.attribute), self.constants[e.constant]))
                else:
                    equal.append(replace(e, constant=left.index(e.constant)))
            return replace(f, own=tuple(own), equal=tuple(equal))

        constants = tuple(self.constants[n] for n in left)
        return replace(self, steps=self._mapped(back), constants=constants)

    def _mapped(self, change: Callable[[Filter], Filter]) -> tuple[Step, ...]:
        return tuple(
            replace(s, event=None if s.event is None else change(s.event), absent=tuple(change(f) for f in s.absent))
            for s in self.steps
        )


def _constant(e: Expr) -> tuple[str, Literal] | None:
    """``attribute = constant``, the constant a whole number or a text."""
    if not isinstance(e, Binary) or e.op != "=":
        return None
    for ref, value in ((e.left, e.right), (e.right, e.left)):
        if isinstance(ref, Ref) and ref.scope is None and ref.name != "time" and isinstance(value, Literal):
            known = value.type is Type.INT or value.type is Type.STRING
            fits = isinstance(value.value, str) or (isinstance(value.value, int) and -(2**63) <= value.value < 2**63)
            return (ref.name, value) if known and fits else None
    return None


def _alike(schema: Schema | None, attribute: str, value: Literal) -> bool:
    """Is the attribute a number, or a text, as the constant is?"""
    held = None if schema is None else schema.get(attribute)
    return held is not None and (held is value.type or (held.numeric and value.type.numeric))


def _limits(e: Expr, types: tuple[str, ...], schemas: Mapping[str, Schema]) -> tuple[str, Type, int, int] | None:
    """``attribute < constant`` and its like, or two of them joined by ``and``: the attribute, its type, and the least
    and the greatest of its numbers that pass, as :func:`as_ordered` has them."""
    if isinstance(e, Binary) and e.op == "and":
        one, other = _limits(e.left, types, schemas), _limits(e.right, types, schemas)
        if one is None or other is None or one[0] != other[0]:
            return None
        return one[0], one[1], max(one[2], other[2]), min(one[3], other[3])
    found = as_threshold(e)
    if found is None or found[1] not in ("<", "<=", ">", ">=") or found[0].scope is not None:
        return None
    (ref, op, constant), held = found, {t: schemas[t].get(found[0].name) for t in types if t in schemas}
    type = held.get(types[0])
    if ref.name == "time" or len(set(held.values())) != 1 or len(held) != len(set(types)) or type is None:
        return None
    number = as_ordered(constant.value, type) if isinstance(constant, Literal) and constant.type.numeric else None
    if number is None:
        return None
    least, greatest = ALL_NUMBERS
    if op in (">", ">="):
        # beyond the greatest number there is none: the range is empty
        return (ref.name, type, number + (op == ">"), greatest) if number < greatest else None
    return (ref.name, type, least, number - (op == "<")) if number > least else None


class _Reading:
    """Reads a tree step by step."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.guards: list[Guard] = []
        self.ticks: list[int] = []
        self.tags: list[str | None] = []

    def read(self, node: Node) -> bool:
        """Append the steps of a pattern; False if it is none of a chain."""
        if isinstance(node, Followed):
            return all(limit is None for limit in node.limits) and all(self.read(p) for p in node.operands)
        if isinstance(node, Within):
            if node.count is not None or not node.fixed:
                return False
            first = len(self.steps)
            if not self.read(node.operand):
                return False
            self.guards.append(Guard(first, len(self.steps) - 1, self._duration(node.ticks)))
            return True
        operands = list(_operands(node))
        absent = [self._filter(p.operand) for p in operands if isinstance(p, Not)]
        present = [p for p in operands if not isinstance(p, Not)]
        if len(present) != 1 or any(f is None or f.others for f in absent):
            return False
        return self._step(present[0], tuple(f for f in absent if f is not None))

    def _step(self, node: Node, absent: tuple[Filter, ...]) -> bool:
        number = len(self.steps)
        if isinstance(node, Within) and node.count is None and node.fixed:
            self.guards.append(Guard(number, number, self._duration(node.ticks)))
            node = node.operand
        if isinstance(node, Interval):
            if node.ticks == 0 or not node.fixed:
                return False
            self.steps.append(Step(None, timed=self._duration(node.ticks), absent=absent))
            self.tags.append(None)
            return True
        every = isinstance(node, Every)
        if isinstance(node, Every):
            if node.keys:
                return False
            # a search that its guard ends is begun again at once, so that below `every` the guard changes nothing
            inner = node.operand
            node = inner.operand if isinstance(inner, Within) and inner.count is None else inner
        event = self._filter(node)
        if event is None or not isinstance(node, Atom):
            return False
        self.steps.append(Step(event, every, absent=absent))
        self.tags.append(node.tag)
        return True

    def _filter(self, node: Node) -> Filter | None:
        if not isinstance(node, Atom) or node.level:
            return None
        known = {tag: n for n, tag in enumerate(self.tags) if tag is not None}
        equal = []
        for attribute, tag, other in node.equal:
            if tag not in known:
                return None
            equal.append(Equal(attribute, known[tag], other))
        others = []
        for e in node.others:
            if any(isinstance(x, Ref) and x.scope is not None and x.scope not in known for x in e.walk()):
                return None
            others.append(rewrite(e, lambda x: _numbered(x, known)))
        return Filter(node.types, node.own, tuple(equal), tuple(others))

    def _duration(self, ticks: int) -> int:
        self.ticks.append(ticks)
        return len(self.ticks) - 1


def _numbered(node: Expr, known: dict[str, int]) -> Expr | None:
    if isinstance(node, Ref) and node.scope is not None:
        return replace(node, scope=str(known[node.scope]))
    return None


def _operands(node: Node) -> Many[Node]:
    """Of an ``and`` within an ``and`` those of both."""
    if not isinstance(node, And):
        return [node]
    return [p for operand in node.operands for p in _operands(operand)]
