"""Patterns of events before a terminator: the operator behind TESLA rules (paper section 4; tesla.md, sections 4, 5).

A pattern starts from the new rows of its terminator's type (role 0) and runs through its steps, each over all partial
matches at once: selections bind further roles, guards drop matches.  It keeps no state: what it needs of the past is in
the tables of the frame.  Rules that are alike but for constants share one pattern (a template): matches carry the
number of their rule, constants are columns over rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from occurs.errors import Span
from occurs.expr.tree import Expr, _span
from occurs.model.labels import Labels
from occurs.model.types import Type
from occurs.operators.aggregates import Reduced
from occurs.operators.columns import Column
from occurs.operators.definition import Source
from occurs.operators.rows import Rows


@dataclass(frozen=True)
class KeyPart:
    """The candidate's attribute ``own`` equals ``attribute`` of role number ``role``; null equals nothing."""

    own: str
    role: int
    attribute: str


@dataclass(frozen=True)
class Within:
    """The ``length`` ticks up to and with the time of role number ``role``."""

    role: int
    length: int


@dataclass(frozen=True)
class Between:
    """From the time of role number ``early`` to that of ``late``."""

    early: int
    late: int


@dataclass(frozen=True)
class Windowed(Expr):
    """``function`` (count sum avg min max stddev median percentile first last list set, or ``count distinct``) of
    ``attribute`` over the rows of a window.

    ``attribute`` None counts rows.  ``type``: of the result.  ``percent``: of a percentile.  ``of``: the type of the
    values of a list, NULL if nothing is known of it.
    """

    function: str
    attribute: str | None
    type: Type
    source: Source
    interval: Within | Between
    keys: tuple[KeyPart, ...]
    residual: tuple[Expr, ...] = ()
    percent: float | None = None
    of: Type = Type.NULL
    span: Span | None = _span()

    @property
    def reduced(self) -> Reduced:
        """What the rows of the window become."""
        return Reduced(self.function, self.attribute, self.type, self.percent, self.of)

    @property
    def children(self) -> tuple[Expr, ...]:
        return (*self.source.filters, *self.residual)

    def with_children(self, new: tuple[Expr, ...]) -> Expr:
        n = len(self.source.filters)
        return replace(self, source=replace(self.source, filters=tuple(new[:n])), residual=tuple(new[n:]))


@dataclass(frozen=True)
class Select:
    """Bind role ``role`` to candidates no older than ``within`` ticks before role ``ref``, both bounds closed.

    policy: each, first, last; ``k``-th from the start or end.  ``residual``: constraints that are neither about the
    candidate alone nor an equality in ``keys``.
    """

    source: Source
    policy: str
    k: int
    ref: int
    within: int
    keys: tuple[KeyPart, ...]
    residual: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Absent:
    """Drop the matches with a row of ``source`` in the interval (open at its start) that they have not bound."""

    source: Source
    interval: Within | Between
    keys: tuple[KeyPart, ...]
    residual: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Keep:
    """Keep the matches for which ``condition`` is true."""

    condition: Expr


@dataclass(frozen=True)
class Extra:
    """Keep the matches whose role ``role`` is between 0 and ``within`` ticks older than role ``ref``."""

    role: int
    ref: int
    within: int


Step = Select | Absent | Keep | Extra


@dataclass(frozen=True)
class RuleInfo:
    """What tells one rule of a template from the others, and where it stands."""

    output: str
    place: int
    definition: str
    role_names: tuple[str, ...]
    file: str | None = None
    span: Span | None = None
    source: str | None = None
    recursive: bool = False


@dataclass(frozen=True)
class Pattern:
    """A template: ``terminator``, ``steps`` in text order, ``outputs`` (name, expression, type) and its ``rules``.

    ``constants``: one column per slot, with a value per rule.  References are ``Ref("<role number>", attribute)``;
    ``Ref(None, attribute)`` is the candidate's own.  ``born``: it sees rows after this tick only (None: all).
    ``reasons``: it is told what was looked at beside the events that a match binds.
    """

    terminator: Source
    steps: tuple[Step, ...]
    outputs: tuple[tuple[str, Expr, Type], ...]
    rules: tuple[RuleInfo, ...]
    constants: tuple[Column, ...] = field(default=(), compare=False)
    consuming: tuple[int, ...] = ()
    born: int | None = None
    reasons: bool = False

    @property
    def role_sources(self) -> tuple[Source, ...]:
        return (self.terminator, *(s.source for s in self.steps if isinstance(s, Select)))

    @property
    def expressions(self) -> Iterator[Expr]:
        """Every expression: of the constraints, step by step, then of the outputs."""
        yield from self.terminator.filters
        for s in self.steps:
            if isinstance(s, Select | Absent):
                yield from s.source.filters
                yield from s.residual
            elif isinstance(s, Keep):
                yield s.condition
        for _, expr, _ in self.outputs:
            yield expr

    def mapped(self, change: Callable[[Expr], Expr]) -> Pattern:
        """The pattern with every expression changed, in a fixed order."""

        def source(s: Source) -> Source:
            return replace(s, filters=tuple(change(f) for f in s.filters))

        def step(s: Step) -> Step:
            if isinstance(s, Select | Absent):
                return replace(s, source=source(s.source), residual=tuple(change(e) for e in s.residual))
            return Keep(change(s.condition)) if isinstance(s, Keep) else s

        terminator, steps = source(self.terminator), tuple(step(s) for s in self.steps)
        outputs = tuple((n, change(e), t) for n, e, t in self.outputs)
        return replace(self, terminator=terminator, steps=steps, outputs=outputs)


@dataclass
class Matches:
    """Partial matches: per match the number of its rule (None: the only one) and a row per bound role."""

    rule: np.ndarray | None
    rows: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.rows[0])

    def take(self, at: np.ndarray) -> Matches:
        return Matches(None if self.rule is None else self.rule[at], [r[at] for r in self.rows])

    def labels(self, tables: Sequence[Rows]) -> list[Labels]:
        """Per role, whose rows are in ``tables``, the labels of the rows that are bound."""
        return [table.labels.take(rows) for table, rows in zip(tables, self.rows) if table.labels is not None]

    @staticmethod
    def concat(parts: Sequence[Matches]) -> Matches:
        if len(parts) == 1:
            return parts[0]
        rule = None if parts[0].rule is None else np.concatenate([p.rule for p in parts if p.rule is not None])
        return Matches(rule, [np.concatenate(c) for c in zip(*(p.rows for p in parts))])
