"""How long the events of a pattern wait for it to be completed (epl-and-nets.md, section 5, Retention).

Lengths are exact amounts as durations have them; None is for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce

from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import ResolvedQuery, Wait
from occurs.languages.epl.checks.bounds import at_once
from occurs.languages.epl.timers import timer_of
from occurs.model.time import Duration

Length = Fraction | None


def retention(query: ResolvedQuery) -> tuple[Wait, ...]:
    """For every tag of a query, in the order of the pattern, how long its events may wait."""
    return waits(query.pattern)


def waits(pattern: syntax.Pattern) -> tuple[Wait, ...]:
    """For every tag of a pattern, all of whose filters have one."""
    walk = _Walk()
    walk.node(pattern, _Around(None, False, False, {}))
    ticks = any(d.ticks for d in _durations(pattern))
    found = []
    for tag, wait in walk.waits.items():
        bound = None if wait is None else Duration(wait, ticks)
        found.append(Wait(tag, bound, tag in walk.growing))
    return tuple(found)


def _durations(node: syntax.Pattern) -> Iterable[Duration]:
    if isinstance(node, syntax.Within | syntax.Interval):
        yield node.duration
    for child in node.children:
        yield from _durations(child)


class _Lengths:
    """How long instances of the nodes of one pattern live; each is computed once."""

    def __init__(self) -> None:
        # by identity: the nodes live as long as the pattern that is walked
        self._lives: dict[int, Length] = {}
        self._surely: dict[int, Length] = {}

    def life(self, node: syntax.Pattern) -> Length:
        """How long an instance of a pattern lives at most, until it is over or false."""
        if id(node) not in self._lives:
            self._lives[id(node)] = self._life(node)
        return self._lives[id(node)]

    def sure(self, node: syntax.Pattern) -> Length:
        """After how long an instance of a pattern has surely been completed, and is over."""
        if id(node) not in self._surely:
            self._surely[id(node)] = self._sure(node)
        return self._surely[id(node)]

    def _life(self, node: syntax.Pattern) -> Length:
        match node:
            case syntax.Within():
                return _least(node.duration.amount, self.life(node.operand))
            case syntax.Timer():
                return timer_of(node).longest(node)
            case syntax.Followed():
                return _sum(self.life(o) for o in node.operands)
            case syntax.And():
                # an absence does not keep it alive
                return _most(self.life(o) for o in node.operands if not isinstance(o, syntax.Not))
            case syntax.Or():
                return _least(_most(self.life(o) for o in node.operands), *(self.sure(o) for o in node.operands))
            case syntax.Repeat():
                return _times(node.count, self.life(node.operand))
            case syntax.Until() if at_once(node.end):
                return Fraction(0)
            case syntax.Until():
                counted = _times(node.high, self.life(node.operand)) if node.low == node.high and node.high else None
                # a false of its end ends it, too
                return _least(self.life(node.end), counted)
            case syntax.While():
                return self.life(node.operand)
        return None

    def _sure(self, node: syntax.Pattern) -> Length:
        match node:
            case syntax.Timer():
                return timer_of(node).longest(node)
            case syntax.Followed():
                return _sum(self.sure(o) for o in node.operands)
            case syntax.And():
                return _most(self.sure(o) for o in node.operands)
            case syntax.Or():
                return _least(*(self.sure(o) for o in node.operands))
            case syntax.Repeat():
                return _times(node.count, self.sure(node.operand))
            case syntax.Until() if node.low in (None, 0) and not may_fail(node.operand):
                return self.sure(node.end)
            case syntax.Within() if node.count is None:
                inner = self.sure(node.operand)
                most = node.duration.amount
                return inner if inner is not None and most is not None and inner < most else None
        return None


def may_fail(node: syntax.Pattern) -> bool:
    """Can an instance of a pattern be over without having been completed?"""
    match node:
        case syntax.Filter() | syntax.Timer():
            return False
        case syntax.Every() | syntax.EveryDistinct():
            return False
        case syntax.Or():
            return all(may_fail(o) for o in node.operands)
        case syntax.Followed() | syntax.Repeat():
            return any(may_fail(c) for c in node.children)
        case syntax.And():
            return any(isinstance(o, syntax.Not) or may_fail(o) for o in node.operands)
    return True


def many(node: syntax.Pattern) -> bool:
    """Can one instance of a pattern be completed any number of times?"""
    match node:
        case syntax.Every() | syntax.EveryDistinct():
            return True
        case syntax.Followed() | syntax.And() | syntax.Or() | syntax.While() | syntax.Within():
            return any(many(c) for c in node.children)
    return False


def _least(*lengths: Length) -> Length:
    known = [n for n in lengths if n is not None]
    return min(known) if known else None


def _greater(a: Length, b: Length) -> Length:
    return None if a is None or b is None else max(a, b)


def _plus(a: Length, b: Length) -> Length:
    return None if a is None or b is None else a + b


def _most(lengths: Iterable[Length]) -> Length:
    nothing: Length = Fraction(0)
    return reduce(_greater, lengths, nothing)


def _sum(lengths: Iterable[Length]) -> Length:
    nothing: Length = Fraction(0)
    return reduce(_plus, lengths, nothing)


def _from_the_end(joined: Callable[[Length, Length], Length], lengths: Sequence[Length]) -> list[Length]:
    """``joined`` over the lengths from each place to the end; one more than there are lengths."""
    out: list[Length] = [Fraction(0)]
    for n in reversed(lengths):
        out.append(joined(out[-1], n))
    return out[::-1]


def _times(count: int | Expr | None, length: Length) -> Length:
    return None if not isinstance(count, int) or length is None else count * length


@dataclass(frozen=True)
class _Around:
    """Where a node stands.

    ``bound``: how long it lives at most for what is around it.  ``many``: may there be any number of instances of it at
    the same time, ``again``: or one after the other?  ``tags``: those that are bound before, True: to different events
    in the instances that there are at the same time.
    """

    bound: Length
    many: bool
    again: bool
    tags: dict[str, bool]


@dataclass
class _Walk:
    """Collects how long the events of each tag wait, and those of which any number may wait for ever."""

    waits: dict[str, Length] = field(default_factory=dict)
    growing: set[str] = field(default_factory=set)
    lengths: _Lengths = field(default_factory=_Lengths)

    def node(self, node: syntax.Pattern, at: _Around) -> dict[str, bool]:
        """The tags that matches of ``node`` add, True: of one event after the other.  ``waits`` of these is the time
        between the event and the match of ``node``."""
        at = replace(at, bound=_least(at.bound, self.lengths.life(node)))
        match node:
            case syntax.Filter():
                assert node.tag is not None
                self._hold(at)
                self.waits[node.tag.text] = Fraction(0)
                self._piled([node.tag.text], at)
                return {node.tag.text: at.again}
            case syntax.Timer() if timer_of(node).stays:
                self._hold(at)
                return {}
            case syntax.Followed():
                return self._followed(node, at)
            case syntax.And():
                return self._and(node, at)
            case syntax.Not():
                self.node(node.operand, at)
                return {}
            case syntax.Every() | syntax.EveryDistinct():
                self._hold(at)
                found = self.node(node.operand, replace(at, many=at.many or many(node.operand), again=True))
                self._piled(found, at)
                return found
            case syntax.Within():
                found = self.node(node.operand, at)
                for tag in found:
                    self.waits[tag] = _least(self.waits[tag], at.bound)
                return found
            case syntax.Repeat() | syntax.Until():
                return self._repeated(node, at)
        found = {}
        for child in node.children:
            found |= self.node(child, at)
        return found

    def _followed(self, node: syntax.Followed, at: _Around) -> dict[str, bool]:
        found: dict[str, bool] = {}
        again = False
        rests = _from_the_end(_plus, [self.lengths.life(s) for s in node.operands])
        for i, step in enumerate(node.operands):
            limit = node.limits[i - 1] if i else None
            several = at.many or (again and limit is None)
            # each of several instances at one time keeps the events of the steps before
            kept = {**at.tags, **{t: f and several for t, f in found.items()}}
            found |= self.node(step, _Around(at.bound, several, at.again or again, kept))
            for tag in self._new(step):
                if i + 1 < len(node.operands):
                    self.waits[tag] = _least(_plus(self.waits[tag], rests[i + 1]), at.bound)
            again = again or many(step)
        return found

    def _and(self, node: syntax.And, at: _Around) -> dict[str, bool]:
        found: dict[str, bool] = {}
        partners = [o for o in node.operands if not isinstance(o, syntax.Not)]
        lives = [self.lengths.life(o) for o in partners]
        before, behind = _from_the_end(_greater, lives[::-1])[::-1], _from_the_end(_greater, lives)
        place = 0
        for operand in node.operands:
            more = self.node(operand, at)
            if isinstance(operand, syntax.Not) or len(partners) == 1:
                found |= more
                continue
            # what is completed once waits for the others; what may be completed again is kept to the end
            rest = None if many(operand) else _greater(before[place], behind[place + 1])
            place += 1
            for tag in more:
                self.waits[tag] = _least(_plus(self.waits[tag], rest), at.bound)
                if self.waits[tag] is None and more[tag] and (at.many or many(operand)):
                    self.growing.add(tag)
            found |= more
        return found

    def _repeated(self, node: syntax.Repeat | syntax.Until, at: _Around) -> dict[str, bool]:
        found = self.node(node.operand, at)
        endless = isinstance(node, syntax.Until) and node.high is None
        if endless or not (isinstance(node, syntax.Repeat) and node.count == 1):
            for tag in found:
                self.waits[tag] = at.bound
                if at.bound is None and (endless or at.many):
                    self.growing.add(tag)
        if isinstance(node, syntax.Until):
            found = {**found, **self.node(node.end, at)}
        return found

    def _hold(self, at: _Around) -> None:
        """What has no end of its own waits: so do the events that are bound before it."""
        if at.bound is None:
            self.growing |= {t for t, several in at.tags.items() if several}

    def _piled(self, tags: Iterable[str], at: _Around) -> None:
        """Searches for events of ``tags`` that a timer begins pile up, though no event waits in them."""
        if at.bound is None and at.many and not any(at.tags.values()):
            for tag in tags:
                self.waits[tag] = None
                self.growing.add(tag)

    def _new(self, step: syntax.Pattern) -> list[str]:
        """The tags of a step that its matches have."""
        if isinstance(step, syntax.Filter):
            return [step.tag.text] if step.tag is not None else []
        if isinstance(step, syntax.Not):
            return []
        return [t for child in step.children for t in self._new(child)]
