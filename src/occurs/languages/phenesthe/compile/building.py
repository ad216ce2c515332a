"""Nets in the making: nodes with what is known of their formulas (phenesthe.md, section 5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from occurs.model.types import Type, widen
from occurs.operators.interval.delayed_release import HoldPoints, HoldSpans
from occurs.operators.interval.measuring import Measures
from occurs.operators.interval.network import Net, Node
from occurs.operators.interval.phenomena import PooledPhenomena
from occurs.operators.interval.points import PooledPoints
from occurs.operators.interval.sets import PooledSpans

_POOLED: dict[str, Callable[[tuple[str, ...], tuple[str, ...]], Node]] = {
    "event": PooledPoints,
    "state": PooledSpans,
    "dynamic": PooledPhenomena,
}
_HELD: dict[str, Callable[[tuple[str, ...], int | None], Node]] = {"event": HoldPoints, "state": HoldSpans}


@dataclass(frozen=True)
class Formula:
    """A node of the net: its number, sort and variables (sorted); ``delay`` in ticks, None if it has no bound."""

    number: int
    sort: str
    variables: tuple[str, ...]
    delay: int | None = 0


@dataclass(frozen=True)
class Kept:
    """What a formula keeps that lasts: ``rows`` per binding of ``by``, ``until`` something happens.  ``by`` is of the
    operand alone, never of a join.  ``lasts``: that may never happen; ``bounded``: a formula of which it surely does,
    None if there is none."""

    formula: str
    rows: str
    by: tuple[str, ...]
    until: str
    lasts: bool = False
    bounded: str | None = None

    def __str__(self) -> str:
        if not self.by:
            return self.rows
        # in the order in which they are written
        place = {word: at for at, word in reversed(list(enumerate(re.findall(r"\w+", self.formula))))}
        return f"{self.rows} per ({', '.join(sorted(self.by, key=lambda v: place.get(v, 0)))})"


@dataclass
class Building:
    """A net, node by node; equal nodes over equal inputs are one."""

    nodes: list[Node] = field(default_factory=list)
    inputs: list[tuple[int, ...]] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    #: the atoms of nodes that read something
    names: dict[int, str] = field(default_factory=dict)
    _numbers: dict[object, int] = field(default_factory=dict)

    def add(self, node: Node, inputs: tuple[int, ...] = (), source: str | None = None) -> int:
        key: object = (node, inputs, source)
        try:
            found = self._numbers.get(key)
        except TypeError:  # it holds a table of facts
            key = id(node)
            found = None
        if found is None:
            found = self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
            self.inputs.append(inputs)
            if source is not None:
                self.sources[found] = source
        return found

    def typed(self, variable: str, type: Type) -> None:
        """Enter the type of a variable, as one place of it has it."""
        self.types[variable] = widen(self.types.get(variable, Type.NULL), type) or type

    def keeps(self, kept: Kept) -> None:
        if kept not in self.kept:
            self.kept.append(kept)

    def made(self, node: Node, sort: str, *operands: Formula, later: int | None = 0) -> Formula:
        """A node over operands; it is known ``later`` than they are, None if that has no bound."""
        delays = [o.delay for o in operands]
        known = None if later is None or None in delays else max(d for d in delays if d is not None) + later
        number = self.add(node, tuple(o.number for o in operands))
        return Formula(number, sort, node.variables, known)

    def pooled(self, formula: Formula, wanted: frozenset[str]) -> Formula:
        """The formula for any values of the variables that are not ``wanted``."""
        variables = tuple(v for v in formula.variables if v in wanted)
        if variables == formula.variables:
            return formula
        return self.made(_POOLED[formula.sort](formula.variables, variables), formula.sort, formula)

    def alike(self, left: Formula, right: Formula) -> tuple[Formula, Formula]:
        """Two formulas of events or states, the one that is known sooner held back until the other is."""
        if left.number == right.number or (left.delay is not None and left.delay == right.delay):
            return left, right
        if left.delay is None or right.delay is None:
            return self._following(left, right), self._following(right, left)
        ticks = max(left.delay, right.delay)
        return self._held(left, ticks), self._held(right, ticks)

    def _held(self, formula: Formula, delay: int) -> Formula:
        later = delay - (formula.delay or 0)
        if not later:
            return formula
        return self.made(_HELD[formula.sort](formula.variables, later), formula.sort, formula, later=later)

    def _following(self, formula: Formula, other: Formula) -> Formula:
        number = self.add(_HELD[formula.sort](formula.variables, None), (formula.number, other.number))
        return Formula(number, formula.sort, formula.variables, None)

    def net(self, output: Formula, report: Formula, measures: Measures | None = None) -> Net:
        return Net(
            tuple(self.nodes), tuple(self.inputs), self.sources, output.number, report.number, dict(self.types),
            names=dict(self.names), measures=measures,
        )  # fmt: skip
