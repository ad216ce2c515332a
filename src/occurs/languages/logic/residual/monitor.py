"""Monitors of temporal triggers that go state by state and keep only what later states need (temporal-logic.md 5.1).

A plain transcription: the residual of a future formula, and the paper's formulas of past ones (:mod:`.past`).
It is compared with the reference semantics, and says when a trigger can fire no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from occurs.errors import InputProblem
from occurs.languages.logic import syntax
from occurs.languages.logic.residual.core import free, unbounded
from occurs.languages.logic.residual.past import Past, Present
from occurs.languages.logic.semantics.closed import Known, passed
from occurs.languages.logic.semantics.evaluation import Run
from occurs.languages.logic.semantics.formula import Looking
from occurs.languages.logic.semantics.histories import Instance
from occurs.languages.logic.semantics.states import Catalogue, State
from occurs.languages.logic.semantics.values import Lost, Outcome, ticks
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema


@dataclass(frozen=True)
class Pending:
    """To be evaluated at the next state: a formula that is to hold, or not to hold, with values of its variables."""

    formula: syntax.Formula
    hold: bool
    rho: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Unknown:
    """What is not known, at this state (``new``) or an earlier one."""

    lost: Lost
    new: bool = True


@dataclass(frozen=True)
class Several:
    """``and`` or ``or`` of several."""

    op: str
    parts: tuple[Residual, ...]


#: what is left to be satisfied; False, DONE (at an earlier state), NOW, LAST (only if this is the last state)
Residual: TypeAlias = "bool | str | Pending | Unknown | Several"

DONE, NOW, LAST = "done", "now", "last"


def combined(op: str, parts: Iterable[Residual]) -> Residual:
    """Flat, each part once; False decides an ``and`` and is nothing in an ``or``, DONE is nothing in an ``and``."""
    flat: dict[Residual, None] = {}
    for part in parts:
        flat |= dict.fromkeys(part.parts if isinstance(part, Several) and part.op == op else (part,))
    if op == "and" and False in flat:
        return False
    rest = [p for p in flat if p != (DONE if op == "and" else False)]
    if not rest:
        return DONE if op == "and" else False
    return rest[0] if len(rest) == 1 else Several(op, tuple(rest))


def satisfied(r: Residual, unknown: bool) -> tuple[bool, bool]:
    """Is a residual satisfied with pending = false, and does some now or last take part?"""
    match r:
        case Several(op="and"):
            found = [satisfied(p, unknown) for p in r.parts]
            there = all(s for s, _ in found)
            return there, there and any(new for _, new in found)
        case Several():
            found = [satisfied(p, unknown) for p in r.parts]
            return any(s for s, _ in found), any(new for _, new in found)
        case Unknown():
            return unknown, unknown and r.new
    return r in (DONE, NOW, LAST), r in (NOW, LAST)


def parts_of(r: Residual) -> list[Residual]:
    """All leaves."""
    return [leaf for p in r.parts for leaf in parts_of(p)] if isinstance(r, Several) else [r]


class Future:
    """The residual of a future formula since its activation."""

    def __init__(self, formula: syntax.Formula, names: frozenset[str], known: Known, kind: TimeKind) -> None:
        self.names, self.known, self.kind = names, known, kind
        self.residual: Residual = Pending(formula, True, ())

    def advance(self, look: Present) -> None:
        """Every pending obligation is expanded at a new state."""
        self.residual = self.replaced(
            self.residual, lambda r: self.expand(r.formula, r.hold, dict(r.rho), look) if isinstance(r, Pending) else r
        )

    def replaced(self, r: Residual, by: Any) -> Residual:
        if isinstance(r, Several):
            return combined(r.op, [self.replaced(p, by) for p in r.parts])
        found: Residual = by(r)
        return found

    def hit(self) -> Outcome:
        """Is this a new way to be satisfied?"""
        if satisfied(self.residual, False)[1]:
            return True
        if satisfied(self.residual, True)[1]:
            return next(r.lost for r in parts_of(self.residual) if isinstance(r, Unknown))
        return False

    def leave(self, time: int) -> None:
        """The state is over: now is done, last is false; what no later time can satisfy is dropped."""

        def after(r: Residual) -> Residual:
            if isinstance(r, Pending):
                told = later(r.formula, dict(r.rho), time, self.known, self.kind)
                return False if told is not None and told != r.hold else r
            if isinstance(r, Unknown):
                return replace(r, new=False)
            return DONE if r == NOW else False if r == LAST else r

        self.residual = self.replaced(self.residual, after)

    @property
    def pending(self) -> int:
        """How many obligations are left."""
        return sum(isinstance(r, Pending) for r in parts_of(self.residual))

    # --- expansion ----------------------------------------------------------------------------------------------------

    def expand(self, f: syntax.Formula, hold: bool, rho: Mapping[str, Any], look: Present) -> Residual:
        """What is left of an obligation at the state of ``look``."""
        match f:
            case syntax.Not():
                return self.expand(f.operand, not hold, rho, look)
            case syntax.And() | syntax.Or():
                op = "and" if isinstance(f, syntax.And) == hold else "or"
                return combined(op, [self.expand(p, hold, rho, look) for p in f.operands])
            case syntax.Assign():
                value = look.value(f.term, 0, rho)
                return self.expand(f.operand, hold, {**rho, f.variable.text: value}, look)
            case syntax.Nexttime():
                next_ = self.obligation(f.operand, hold, rho)
                return next_ if hold else combined("or", [LAST, next_])
            case syntax.Until():
                g = self.expand(f.right, hold, rho, look)
                again = self.obligation(f, hold, rho)
                if hold:
                    return combined("or", [g, combined("and", [self.expand(f.left, True, rho, look), again])])
                if passed(f.right, rho, look.states[0].time, self.known, self.kind) is False:
                    return g
                return combined("and", [g, combined("or", [self.expand(f.left, False, rho, look), LAST, again])])
        outcome = look.satisfied(f, 0, {n: v for n, v in rho.items() if n in free(f, self.names)})
        if isinstance(outcome, Lost):
            return Unknown(outcome)
        return NOW if outcome == hold else False

    def obligation(self, f: syntax.Formula, hold: bool, rho: Mapping[str, Any]) -> Pending:
        """The same formula with the same values of its free variables is one obligation."""
        mine = free(f, self.names)
        return Pending(f, hold, tuple(sorted((n, v) for n, v in rho.items() if n in mine)))


def later(f: syntax.Formula, rho: Mapping[str, Any], time: int, known: Known, kind: TimeKind) -> bool | None:
    """What a formula is at every state later than ``time``, as far as its comparisons of time tell; None: unknown."""
    match f:
        case syntax.Not():
            inner = later(f.operand, rho, time, known, kind)
            return None if inner is None else not inner
        case syntax.And() | syntax.Or():
            found = [later(p, rho, time, known, kind) for p in f.operands]
            decisive = isinstance(f, syntax.Or)
            return decisive if decisive in found else None if None in found else not decisive
        case syntax.Until():
            # it waits for what never comes, or has it at once
            return later(f.right, rho, time, known, kind)
        case syntax.Nexttime():
            return False if later(f.operand, rho, time, known, kind) is False else None
        case syntax.Assign():
            inner_rho = {**rho, f.variable.text: None}
            return later(f.operand, inner_rho, time, known, kind)
    return passed(f, rho, time, known, kind)


class Monitor:
    """One instance of a trigger, state by state.

    ``fired``: at the state given last?  ``over``: it can fire no more.
    """

    def __init__(self, instance: Instance, catalogue: Catalogue, kind: TimeKind) -> None:
        self.trigger = instance.trigger
        self.settings = Looking(catalogue, kind, [], instance.generics)
        self.formula = unbounded(self.trigger.formula)
        self.gap = None if self.trigger.gap is None else ticks(self.trigger.gap, kind)
        self.last: int | None = None
        self.fired = self.over = False
        self.activate()

    def activate(self) -> None:
        """Afresh: nothing before is seen again."""
        self.past = Past(self.formula, self.settings)
        self.future = Future(self.formula, self.past.names, self.settings.known, self.settings.kind)

    @property
    def size(self) -> int:
        """How many obligations, comparisons and values are kept."""
        return self.past.size + (0 if self.trigger.past else self.future.pending)

    def advance(self, state: State) -> None:
        """A new state.  InputProblem if something that is not known decides."""
        look = self.past.advance(state)
        free_ = self.gap is None or self.last is None or state.time - self.last >= self.gap
        if self.trigger.past:
            hit = self.past.outcome(self.past.f(self.formula, look), {})
        else:
            self.future.advance(look)
            hit = self.future.hit()
        if free_ and isinstance(hit, Lost):
            raise InputProblem(replace(hit.problem, definition=self.trigger.name.text))
        self.fired = free_ and hit is True
        if self.fired:
            self.last = state.time
        if self.fired and not self.trigger.continues:
            self.activate()
            return
        self.past.prune(state.time)
        if not self.trigger.past:
            self.future.leave(state.time)
            plain = not self.trigger.continues and self.gap is None
            self.over = self.future.residual is False if plain else not self.future.pending


def firings(run: Run) -> list[tuple[str, tuple[Any, ...], int]]:
    """When the monitors of all instances fire: trigger, values of the generic variables, time."""
    found = []
    for instance in run.instances():
        monitor = Monitor(instance, run.catalogue, run.kind)
        for state in instance.states:
            monitor.advance(state)
            if monitor.fired:
                found.append((instance.trigger.name.text, tuple(instance.generics.values()), state.time))
    return found


def notices(
    definitions: Sequence[syntax.Definition],
    history: Sequence[Occurrence],
    *,
    kind: TimeKind,
    inputs: Mapping[str, Schema] | None = None,
    made: Sequence[Occurrence] = (),
    start: int | None = None,
    until: int | None = None,
) -> list[Occurrence]:
    """When instances can fire no more: trigger, time and generic variables, by time, then trigger.

    Arguments are those of :func:`occurs.languages.logic.semantics.evaluation.evaluate`.  These are the latest times at
    which it must be said; it may be said earlier.
    """
    run = Run(definitions, history, kind, inputs, made, start, until)
    found = []
    for instance in run.instances():
        monitor = Monitor(instance, run.catalogue, kind)
        for state in instance.states:
            monitor.advance(state)
            if monitor.over:
                found.append(Occurrence(instance.trigger.name.text, state.time, dict(instance.generics)))
                break
    return sorted(found, key=lambda n: (n.time, n.type, list(map(str, n.attributes.values()))))
