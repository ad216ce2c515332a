"""Formulas in the reference semantics of pipes: verdicts, and from when on they are known (pipes.md 4.5, 4.6).

Every part of a formula has at every position two moments: T, from which it is known to be true, and F, from which it is
known to be false; NEVER if that does not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from occurs.languages.esql.semantics.expressions import value_of
from occurs.languages.esql.semantics.traces import (
    Item,
    Moment,
    Trace,
    counted,
    end_of,
    fronts,
    numbered,
    of_front,
)
from occurs.languages.esql.semantics.values import Fault
from occurs.operators.process import tree
from occurs.operators.process.values import Set, Troolean, distinct

if TYPE_CHECKING:
    from occurs.languages.esql.semantics import Scope

NEVER = Moment(2**62, 2**62)


class Verdict(NamedTuple):
    """From when on it is known to be true, to be false."""

    true: Moment
    false: Moment

    @property
    def known(self) -> Moment:
        return min(self)


OPEN = Verdict(NEVER, NEVER)


def since(at: Moment, value: Any, troolean: bool) -> Verdict:
    """What an atom's item says from ``at`` on: null is false, or ``?`` in the Troolean flavour."""
    if value is None:
        return OPEN if troolean else Verdict(NEVER, at)
    if isinstance(value, bool):
        return Verdict(at, NEVER) if value else Verdict(NEVER, at)
    if isinstance(value, Troolean) and troolean:
        return {"T": Verdict(at, NEVER), "F": Verdict(NEVER, at), "?": OPEN}[value.value]
    raise Fault("bad-value", "is not a boolean", value)


def opposite(a: Verdict) -> Verdict:
    return Verdict(a.false, a.true)


def both(verdicts: Iterable[Verdict]) -> Verdict:
    """AND: true when all are, false as soon as one is."""
    found = list(verdicts)
    return Verdict(max(v.true for v in found), min(v.false for v in found))


def one_of(verdicts: Iterable[Verdict]) -> Verdict:
    """OR: dual."""
    return opposite(both(opposite(v) for v in verdicts))


def formula(p: tree.Formula, inputs: Sequence[Trace], scope: Scope) -> list[Trace]:
    """The output of a formula in its flavour."""
    return [_verdicts_of_first(p, inputs, scope) if p.troolean else _verdict_of_each(p, inputs, scope)]


def _verdict_of_each(p: tree.Formula, inputs: Sequence[Trace], scope: Scope) -> Trace:
    """Boolean: item i is the verdict of position i, in the order of i."""
    judge = Judge(p, inputs, scope)
    out: list[Item] = []
    last = scope.beginning
    for i, verdict in enumerate(judge.of(p.root)):
        known = verdict.known
        if known == NEVER and p.at_end == "null" and judge.end is not None:
            known = judge.end
        if known == NEVER:
            break
        last = max(last, known, judge.exists[i])
        value = None if verdict == OPEN else verdict.true < verdict.false
        out.append(Item(value, last, judge.abouts[i]))
    return Trace(tuple(out), judge.end)


def _verdicts_of_first(p: tree.Formula, inputs: Sequence[Trace], scope: Scope) -> Trace:
    """Troolean: item k is what is known about position 0 after the fronts 0 .. k."""
    used = fronts(inputs)
    if not used:
        return Trace((), end_of(inputs, used))
    first = Judge(p, [counted(t) for t in inputs], scope).of(p.root)[0]

    def after(k: int) -> Troolean:
        if first.true.step <= k:
            return Troolean.TRUE
        return Troolean.FALSE if first.false.step <= k else Troolean.UNKNOWN

    items = tuple(of_front(front, after(k)) for k, front in enumerate(used))
    return Trace(items, end_of(inputs, used))


@dataclass
class Judge:
    """The positions of a formula, and the verdicts of its parts at them.

    A position exists from the moment at which the first of the inputs has an item there, and is about what that item
    speaks of.  ``end``: when all inputs have ended.
    """

    p: tree.Formula
    inputs: Sequence[Trace]
    scope: Scope

    def __post_init__(self) -> None:
        self.positions = range(max(map(len, self.inputs), default=0))
        there = [[t.items[i] for t in self.inputs if i < len(t)] for i in self.positions]
        firsts = [min(items, key=lambda item: item.at) for items in there]
        self.exists = [item.at for item in firsts]
        self.abouts = [item.about for item in firsts]
        ends = [t.end for t in self.inputs]
        self.end = None if None in ends else max((e for e in ends if e is not None), default=None)

    @property
    def finite(self) -> Moment | None:
        """The end, if it decides what is open then."""
        return self.end if self.p.at_end == "finite" and not self.p.troolean else None

    def of(self, part: tree.Part) -> list[Verdict]:
        """The verdicts of a part, position by position."""
        match part:
            case tree.Atom():
                return [self.at(i, part.index, self.atom) for i in self.positions]
            case tree.Given():
                value = value_of(part.value, (), self.scope.context)
                return [since(self.exists[i], value, self.p.troolean) for i in self.positions]
            case tree.Quantified():
                return [self.at(i, part.input, partial(self.quantified, part, i)) for i in self.positions]
            case tree.Not():
                return [opposite(v) for v in self.of(part.operand)]
            case tree.And():
                return [both(vs) for vs in zip(self.of(part.left), self.of(part.right))]
            case tree.Or():
                return [one_of(vs) for vs in zip(self.of(part.left), self.of(part.right))]
            case tree.Implies():
                return [one_of((opposite(a), b)) for a, b in zip(self.of(part.left), self.of(part.right))]
            case tree.Next():
                return [*self.of(part.operand)[1:], self.beyond(False)][: len(self.positions)]
            case tree.Globally():
                return self.backwards(self.beyond(True), lambda now, later: both((now, later)), self.of(part.operand))
            case tree.Eventually():
                return self.backwards(
                    self.beyond(False), lambda now, later: one_of((now, later)), self.of(part.operand)
                )
            case tree.Until():
                holds, goal = self.of(part.left), self.of(part.right)
                return self.backwards(
                    self.beyond(False),
                    lambda now, later: one_of((now[1], both((now[0], later)))),
                    list(zip(holds, goal)),
                )
        raise AssertionError(part)

    def beyond(self, value: bool) -> Verdict:
        """Beyond the last position: unknown, or what the end decides."""
        return OPEN if self.finite is None else since(self.finite, value, False)

    def backwards(
        self, beyond: Verdict, step: Callable[[Any, Verdict], Verdict], operands: Sequence[Any]
    ) -> list[Verdict]:
        """``verdict_i = step(operands_i, verdict_{i+1})``."""
        out = [beyond]
        for now in reversed(operands):
            out.append(step(now, out[-1]))
        return out[:0:-1]

    def at(self, i: int, index: int, judge: Callable[[Item], Verdict]) -> Verdict:
        """The verdict of an item; without one it is unknown, in the end false."""
        trace = self.inputs[index]
        return numbered(i, judge, trace.items[i]) if i < len(trace) else self.beyond(False)

    def atom(self, item: Item) -> Verdict:
        return since(item.at, item.value, self.p.troolean)

    def quantified(self, part: tree.Quantified, i: int, item: Item) -> Verdict:
        """A copy of the body runs on the suffix for each value of the domain."""
        domain = value_of(part.domain, (item.value,), self.scope.context)
        if domain is not None and not isinstance(domain, (tuple, Set)):
            raise Fault("bad-value", "is not a list or set to quantify over", domain)
        trace = self.inputs[part.input]
        suffix = Trace(trace.items[i:], trace.end)
        copies = [self.copy(part, suffix, c) for c in distinct(domain or ())]
        empty = since(item.at, part.universal, self.p.troolean)
        found = [v._replace(true=max(v.true, item.at), false=max(v.false, item.at)) for v in copies]
        return (both if part.universal else one_of)(found) if found else empty

    def copy(self, part: tree.Quantified, suffix: Trace, value: Any) -> Verdict:
        """The verdict of the body: of its position 0 if it is a formula, else its first item."""
        scope = self.scope.inside([suffix], {part.variable: value})
        node = part.body.outputs[0].node
        if isinstance(node.processor, tree.Formula):
            found = Judge(node.processor, scope.traces(node.inputs), scope).of(node.processor.root)
            return found[0] if found else self.beyond(False)
        (made,) = scope.traces(part.body.outputs)
        return self.atom(made.items[0]) if made.items else self.beyond(False)
