"""Formulas as networks of operators of the past (temporal-logic.md 5.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, IsNull, Literal, Unary, rewrite
from occurs.expr.typing import infer
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal import tree
from occurs.operators.temporal.network import AGGREGATES, Before, Builder, Compared
from occurs.operators.temporal.times import FOREVER, Ages, ages, allowed, linear
from occurs.operators.temporal.tree import (
    FLIPPED,
    NEGATED,
    Found,
    Generic,
    Global,
    Happens,
    Last,
    TableOf,
    Time,
    Value,
    Variable,
    ViewOf,
    free,
)

# --- terms and conditions of one state, and what remembered values they have ------------------------------------------

TEMPORAL = (*tree.FUTURE, *tree.PAST)
_COLUMNS = (Time, Variable, Value, Last, Happens, Before)
#: what is of a state
STATES = (*_COLUMNS, ViewOf, TableOf, Found)
_FIXED = (Literal, Generic)


class Unsuited(Exception):
    """A formula that has no form over columns; the message says what of it has none."""


@dataclass(frozen=True)
class Scope:
    """Remembered values: by name the term, of the state at which they were assigned; ``delay``: how many states before
    the present that was.  ``source``: they are times, and the node that has the last of them (None: of a state)."""

    terms: Mapping[str, Expr] = field(default_factory=dict)
    delay: int = 0
    source: int | None = None

    @property
    def clock(self) -> Expr:
        """The time of the state of the values."""
        time: Expr = Time()
        for _ in range(self.delay):
            time = Before(time)
        return time

    def of(self, node: Expr) -> Scope:
        """Of the variables that are free in ``node`` only."""
        names = free(node)
        terms = {n: t for n, t in self.terms.items() if n in names}
        return Scope(terms, self.delay, self.source) if terms else Scope()

    def assigned(self, f: tree.Assign) -> Scope:
        """With one more."""
        if self.terms and (self.delay or self.source is not None):
            raise Unsuited("values remembered at different states")
        return Scope({**self.terms, f.variable.text: self.filled(f.term)}, 0)

    def later(self) -> Scope:
        """At the next state."""
        if self.source is not None:
            raise Unsuited("values remembered at different states")
        return Scope({n: before(t) for n, t in self.terms.items()}, self.delay + 1)

    def filled(self, node: Expr) -> Expr:
        """With the terms in place of the variables."""
        if not isinstance(node, tree.Formula):
            return rewrite(node, lambda n: self.terms.get(n.name) if isinstance(n, Global) else None)
        if isinstance(node, tree.Assign):
            inner = Scope({n: t for n, t in self.terms.items() if n != node.variable.text})
            return tree.Assign(node.variable, self.filled(node.term), inner.filled(node.operand))  # type: ignore[arg-type]
        new = tuple(self.filled(c) for c in node.children)
        return node.with_children(new) if new else node


def temporal(node: Expr) -> bool:
    """Does it look at other states?"""
    return any(isinstance(n, (*TEMPORAL, tree.Aggregate)) for n in node.walk())


def forward(node: Expr) -> bool:
    """Does it look at later states?"""
    return any(isinstance(n, tree.FUTURE) for n in node.walk())


def before(node: Expr) -> Expr:
    """A term as it was at the state before."""
    if isinstance(node, _COLUMNS):
        if free(node):
            raise Unsuited("rows are looked up by values that change")
        return Before(node)
    return node.with_children(tuple(before(c) for c in node.children)) if node.children else node


def plain(node: Expr) -> Expr:
    """A formula of one state as a condition over columns, a term as it is; :class:`Unsuited`."""
    match node:
        case tree.Truth():
            return Literal(node.value, Type.BOOL)
        case tree.Compare():
            return Binary(node.op, plain(node.left), plain(node.right))
        case tree.IsNull():
            return IsNull(plain(node.term), node.negated)
        case tree.Atom():
            return plain(node.term)
        case tree.Not():
            return Unary("not", plain(node.operand))
        case tree.And() | tree.Or():
            op = "and" if isinstance(node, tree.And) else "or"
            found = plain(node.operands[0])
            for part in node.operands[1:]:
                found = Binary(op, found, plain(part))
            return found
        case tree.Implies():
            return Binary("or", Unary("not", plain(node.left)), plain(node.right))
        case tree.Assign():
            return plain(Scope().assigned(node).filled(node.operand))
        case Happens() | Value():
            if not all(isinstance(c, _FIXED) for c in node.children):
                raise Unsuited("rows are looked up by values that change")
            return node
        case Before():
            plain(node.leaf)
            return node
        case Time() | Variable() | Last() | Literal() | DurationLiteral() | Generic():
            return node
        case Call(name="time_of_day"):
            raise Unsuited("a time of the day")
        case Unary() | Binary() | Call():
            return node.with_children(tuple(plain(c) for c in node.children))
        case tree.Aggregate():
            raise Unsuited("an aggregate inside a term")
    raise Unsuited("SQL, or a relation")


def sort(node: Expr, kind: TimeKind) -> Type | None:
    """The type of a term."""

    def lookup(leaf: Expr) -> Type | None:
        if isinstance(leaf, Before):
            return lookup(leaf.leaf)
        if isinstance(leaf, Time):
            return Type.TIMESTAMP if kind.timestamp else Type.INT
        if isinstance(leaf, Happens):
            return Type.BOOL
        return getattr(leaf, "type", None)

    return infer(node, lookup, lambda *_: None, integer_time=not kind.timestamp)


# --- ages -------------------------------------------------------------------------------------------------------------


def bounded(bound: tree.Bound | None, kind: TimeKind) -> Ages:
    """What a bound allows."""
    return _within_reach(allowed(bound, kind))


def _within_reach(found: Ages) -> Ages:
    if not found.within_reach:
        raise Unsuited("a duration beyond 64 bits of ticks")
    return found


def aged(f: tree.Compare, scope: Scope, kind: TimeKind, clock: Expr, past: bool) -> Ages | None:
    """The ages that a comparison of ``time`` with a remembered time allows; None if it is another comparison.

    ``clock``: what a remembered time is; it is the later one in the ``past``.  An age is the time between the two.
    """
    names = {n for n in free(f) if scope.terms[n] == clock}
    if not names or names != free(f):
        return None
    left, right = linear(f.left, names, kind), linear(f.right, names, kind)
    if left is None or right is None:
        return None
    time, clocks, rest = (a - b for a, b in zip(left, right, strict=True))
    if time == 0 or clocks != -time:
        return None
    # time * (now - then) + rest op 0; in the past time * (then - now) + rest op 0
    if past:
        time = -time
    if f.op == "!=":
        raise Unsuited("a time that is not equal")
    return _within_reach(ages(f.op if time > 0 else FLIPPED[f.op], -rest / time))


# --- ways to hold -----------------------------------------------------------------------------------------------------

#: more ways than this are not looked at one by one
MOST = 16
#: a formula that is to hold, or not to hold
Part = tuple[tree.Formula, bool]


@dataclass(frozen=True)
class Way:
    """What has to hold together.

    ``here``: of the state that is looked at; ``scope``: of the state of the remembered values alone; ``ages``: the time
    between the two; ``compared``: numbers of the two states, the later one on the left.  ``timed``: does a written
    comparison of times take part?  ``later``: looks forward from the state that is looked at, with remembered times.
    """

    here: tuple[Part, ...]
    scope: tuple[Part, ...]
    ages: Ages
    compared: tuple[Compared, ...]
    timed: bool
    later: tuple[Part, ...] = ()


class Ways:
    """Of one formula; ``past``: remembered values are those of the later state."""

    def __init__(self, scope: Scope, kind: TimeKind, past: bool) -> None:
        self.scope, self.kind, self.past = scope, kind, past
        self.clock = scope.clock

    def of(self, f: tree.Formula, hold: bool) -> list[Way]:
        """All ways; :class:`Unsuited` if there is something that none of them can have."""
        found = list(self.parts(f, hold))
        if len(found) > MOST:
            raise Unsuited(f"more than {MOST} ways for a remembered value")
        return [self.way(parts) for parts in found]

    def parts(self, f: tree.Formula, hold: bool) -> Iterator[tuple[Part, ...]]:
        """Disjunctive normal form, as far as remembered values are used."""
        names = free(f) & self.scope.terms.keys()
        match f:
            case _ if not names:
                yield ((f, hold),)
            case tree.Not():
                yield from self.parts(f.operand, not hold)
            case tree.Implies():
                yield from self.parts(tree.Or((tree.Not(f.left), f.right)), hold)
            case tree.And() | tree.Or():
                every = [list(self.parts(p, hold)) for p in f.operands]
                if isinstance(f, tree.Or) == hold:
                    for found in every:
                        yield from found
                    return
                size = 1
                for found in every:
                    size *= len(found)
                if size > MOST:
                    raise Unsuited(f"more than {MOST} ways for a remembered value")
                for some in product(*every):
                    yield tuple(p for parts in some for p in parts)
            case tree.Assign():
                if temporal(f.operand) or free(f.term) & names:
                    raise Unsuited("values remembered at different states")
                inner = Scope({f.variable.text: f.term}).filled(f.operand)
                yield from self.parts(inner, hold)  # type: ignore[arg-type]
            case tree.Compare() if not hold and not self.is_age(f):
                # a comparison with null does not hold
                yield ((replace(f, op=NEGATED[f.op]), True),)
                for term in (f.left, f.right):
                    yield ((tree.IsNull(term), True),)
            case tree.Compare() if not hold:
                yield ((replace(f, op=NEGATED[f.op]), True),)
            case _:
                yield ((f, hold),)

    def is_age(self, f: tree.Compare) -> bool:
        """Is it about the time between two states?"""
        return aged(replace(f, op="<"), self.scope, self.kind, self.clock, self.past) is not None

    def way(self, parts: Sequence[Part]) -> Way:
        here: list[Part] = []
        scope: list[Part] = []
        compared: list[Compared] = []
        later: list[Part] = []
        found, timed = Ages(), False
        for f, hold in parts:
            if not free(f) & self.scope.terms.keys():
                here.append((f, hold))
                continue
            if forward(f) and all(self.scope.terms[n] == self.clock for n in free(f) & self.scope.terms.keys()):
                later.append((f, hold))
                continue
            if temporal(f):
                raise Unsuited("a remembered value below a further operator")
            if not self.elsewhere(f):
                scope.append((self.scope.filled(f), hold))  # type: ignore[arg-type]
                continue
            if not isinstance(f, tree.Compare):
                raise Unsuited("a term of remembered and of present values")
            age = aged(f, self.scope, self.kind, self.clock, self.past)
            if age is not None:
                found, timed = found & age, True
            else:
                compared.append(self.compared(f))
        return Way(tuple(here), tuple(scope), found, tuple(compared), timed, tuple(later))

    def elsewhere(self, node: Expr) -> bool:
        """Does what uses remembered values look at another state, too?"""
        return any(isinstance(n, STATES) for n in node.walk())

    def compared(self, f: tree.Compare) -> Compared:
        left, right, op = f.left, f.right, f.op
        if bool(free(left)) == bool(free(right)) or any(free(t) and self.elsewhere(t) for t in (left, right)):
            raise Unsuited("a term of remembered and of present values")
        if bool(free(left)) is not self.past:  # the later state stands on the left
            left, right, op = right, left, FLIPPED[op]
        now, then = plain(self.scope.filled(left)), plain(self.scope.filled(right))
        kinds = [sort(t, self.kind) for t in (now, then)]
        if not all(k in (Type.INT, Type.FLOAT, Type.TIMESTAMP, Type.BOOL) for k in kinds):
            raise Unsuited("remembered text")
        return Compared(now, op, then)


# --- formulas ---------------------------------------------------------------------------------------------------------

_TRUE = tree.Truth(True)
NOTHING = Scope()
#: things that are waited for at once: all orders are looked at
MOST_TOGETHER = 3


class Formulas:
    """Formulas of one trigger; every method gives the number of a node."""

    def __init__(self, builder: Builder, kind: TimeKind) -> None:
        self.b, self.kind = builder, kind

    # --- the past -----------------------------------------------------------------------------------------------------

    def past(self, f: tree.Formula, scope: Scope = NOTHING, hold: bool = True) -> int:
        """Whether a formula without future operators holds (or does not hold) now; ``scope``: values of now, or of
        states before, if no operator is above their use."""
        scope = scope.of(f)
        found = self._past(f, scope)
        return found if hold else self.b.inverted(found)

    def _past(self, f: tree.Formula, scope: Scope) -> int:
        if not temporal(f):
            return self.atom(scope.filled(f))
        match f:
            case tree.Not():
                return self.b.inverted(self.past(f.operand, scope))
            case tree.And():
                return self.b.both([self.past(p, scope) for p in f.operands])
            case tree.Or():
                return self.b.either([self.past(p, scope) for p in f.operands])
            case tree.Implies():
                return self.b.either([self.past(f.left, scope, False), self.past(f.right, scope)])
            case tree.Assign():
                return self.past(f.operand, self.assigned(scope, f))
            case tree.Lasttime():
                return self.earlier(f.operand, scope)
            case tree.Previously():
                return self.since(_TRUE, f.operand, True, f.bound, scope)
            case tree.Throughout():
                return self.b.inverted(self.since(_TRUE, f.operand, False, f.bound, scope))
            case tree.Since():
                return self.since(f.left, f.right, True, f.bound, scope)
            case tree.Compare():
                return self.aggregated(f, scope)
        raise Unsuited("an aggregate inside a term")

    def assigned(self, scope: Scope, f: tree.Assign) -> Scope:
        if temporal(f.term):
            raise Unsuited("an aggregate is remembered")
        return scope.assigned(f)

    def atom(self, f: Expr) -> int:
        if isinstance(f, tree.Truth):
            return self.b.constant(f.value)
        return self.b.atom(plain(f))

    def earlier(self, f: tree.Formula, scope: Scope) -> int:
        """``lasttime f``."""
        scope = scope.of(f)
        if not scope.terms:
            return self.b.last(self.past(f))
        if scope.delay:
            raise Unsuited("values remembered at different states")
        return self.b.both([self.b.last(self.b.constant(True)), self._earlier(f, scope)])

    def _earlier(self, f: tree.Formula, scope: Scope) -> int:
        """What held at the state before, if there is one, with values of now."""
        scope = scope.of(f)
        if not scope.terms:
            return self.b.last(self.past(f))
        again = partial(self._earlier, scope=scope)
        match f:
            case tree.Not():
                return self.b.inverted(again(f.operand))
            case tree.And():
                return self.b.both([again(p) for p in f.operands])
            case tree.Or():
                return self.b.either([again(p) for p in f.operands])
            case tree.Implies():
                return self.b.either([self.b.inverted(again(f.left)), again(f.right)])
        if temporal(f):
            raise Unsuited("a remembered value below two operators")
        return self.atom(scope.filled(before(f)))

    def since(self, left: tree.Formula, right: tree.Formula, hold: bool, bound: tree.Bound | None, scope: Scope) -> int:
        """``left since[bound] right``; not ``hold``: since not right."""
        if scope.of(left).terms:
            raise Unsuited("a remembered value on the left of an operator")
        holds, within = self.past(left), bounded(bound, self.kind)
        scope = scope.of(right)
        if not scope.terms:
            return self.b.since(holds, self.past(right, hold=hold), within)
        if scope.delay:
            raise Unsuited("values remembered at different states")
        found = []
        for way in Ways(scope, self.kind, True).of(right, hold):
            begins = self.b.both([self.past(f, hold=h) for f, h in way.here])
            there = self.queue(holds, begins, within & way.ages, way.compared, after=False)
            found.append(self.b.both([there, *(self.past(f, hold=h) for f, h in way.scope)]))
        return self.b.either(found)

    def queue(
        self,
        holds: int,
        begins: int,
        within: Ages,
        compared: Sequence[Compared],
        *,
        after: bool,
        clock: int = -1,
    ) -> int:
        if not compared:
            return self.b.since(holds, begins, within, after=after, clock=clock)
        endless = within.high == FOREVER
        if endless and (len(compared) > 1 or compared[0].op == "="):
            raise Unsuited("all remembered values are compared, and there is no bound")
        return self.b.remembered(holds, begins, within, compared, after=after, clock=clock)

    def aggregated(self, f: tree.Compare, scope: Scope) -> int:
        """An aggregate compared with a value of now."""
        left, right, op = f.left, f.right, f.op
        if not isinstance(left, tree.Aggregate):
            left, right, op = right, left, FLIPPED[op]
        if not isinstance(left, tree.Aggregate) or temporal(right):
            raise Unsuited("an aggregate inside a term")
        values, other = plain(left.arg), plain(scope.filled(right))
        kinds = sort(values, self.kind), sort(other, self.kind)
        if any(k not in (Type.INT, Type.FLOAT) for k in kinds) and not (left.op == "count" and kinds[1] is Type.INT):
            raise Unsuited("an aggregate of other values than numbers")
        if kinds[0] is Type.STRING:
            raise Unsuited("a count of texts")
        begins, age = -1, FOREVER
        if left.predicate is not None:
            begins = self.past(left.predicate)
        else:
            assert left.within is not None
            age = bounded(tree.Bound("<=", left.within), self.kind).high
        if left.op not in AGGREGATES:
            raise Unsuited("an aggregate without a kernel")
        floats = left.op != "count" and kinds[0] is Type.FLOAT
        node = self.b.aggregate(left.op, values, floats, begins, age)
        whole = left.op != "avg" and not floats
        return self.b.between(Compared(None, op, other, whole), node)

    # --- the future ---------------------------------------------------------------------------------------------------

    def future(self, f: tree.Formula, begins: int, scope: Scope = NOTHING, hold: bool = True) -> int:
        """Where a way ends in which ``f`` holds (or does not hold), of those that begin at a state of ``begins``."""
        scope = scope.of(f)
        again = partial(self.future, scope=scope)
        if not forward(f):
            return self.b.both([begins, self.past(f, scope, hold)])
        match f:
            case tree.Not():
                return again(f.operand, begins, hold=not hold)
            case tree.And() | tree.Or():
                if isinstance(f, tree.Or) == hold:
                    return self.b.either([again(p, begins, hold=hold) for p in f.operands])
                return self.every([(p, hold) for p in f.operands], begins, scope)
            case tree.Implies():
                return again(tree.Or((tree.Not(f.left), f.right)), begins, hold=hold)
            case tree.Assign():
                return self.future(f.operand, begins, self.assigned(scope, f), hold)
            case tree.Nexttime():
                found = self.future(f.operand, self.b.last(begins), scope.later(), hold)
                return found if hold else self.b.either([begins, found])
            case tree.Eventually():
                return self.until(_TRUE, f.operand, f.bound, begins, scope, hold, True)
            case tree.Always():
                return self.until(_TRUE, f.operand, f.bound, begins, scope, not hold, False)
            case tree.Until():
                return self.until(f.left, f.right, f.bound, begins, scope, hold, True)
            case tree.Release():
                return self.until(tree.Not(f.left), f.right, f.bound, begins, scope, not hold, False)
            case tree.WeakUntil() if hold:
                ends = self.until(f.left, f.right, None, begins, scope, True, True)
                return self.b.either([ends, self.until(_TRUE, f.left, None, begins, scope, False, False)])
        raise Unsuited("two things are waited for at once")

    def every(self, parts: Sequence[Part], begins: int, scope: Scope) -> int:
        """All of them."""
        now = [self.past(f, scope, hold) for f, hold in parts if not forward(f)]
        later = [(f, hold) for f, hold in parts if forward(f)]
        begins = self.b.both([begins, *now])
        if not later:
            return begins
        if len(later) == 1:
            return self.future(later[0][0], begins, scope, later[0][1])
        if scope.of(tree.And(tuple(f for f, _ in later))).terms:
            raise Unsuited("a remembered value of which two things are asked at once")
        return self.together([self.waiting(f, hold) for f, hold in later], begins)

    def waiting(self, f: tree.Formula, hold: bool) -> tuple[tree.Formula, tree.Formula, bool]:
        """(p, q, q as it is or negated) of a formula that is ``p until q``, without a bound."""
        match f:
            case tree.Not():
                return self.waiting(f.operand, not hold)
            case tree.Eventually(bound=None) if hold:
                return _TRUE, f.operand, True
            case tree.Always(bound=None) if not hold:
                return _TRUE, f.operand, False
            case tree.Until(bound=None) if hold and not forward(f.left):
                return f.left, f.right, True
            case tree.Release(bound=None) if not hold and not forward(f.left):
                return tree.Not(f.left), f.right, False
        raise Unsuited("two things are waited for at once")

    def together(self, parts: Sequence[tuple[tree.Formula, tree.Formula, bool]], begins: int) -> int:
        """Where the last of several that are waited for since the same state comes.

        They wait side by side until the first of them has what it waits for; from there the others wait on, as what
        they ask of the states between has held.
        """
        if len(parts) > MOST_TOGETHER:
            raise Unsuited(f"more than {MOST_TOGETHER} things are waited for at once")
        if len(parts) == 1:
            left, right, positive = parts[0]
            return self.future(right, self.b.since(self.past(left), begins, Ages(), after=True), NOTHING, positive)
        waits = self.b.since(self.b.both([self.past(p) for p, _, _ in parts]), begins, Ages(), after=True)
        found = []
        for i, (_, right, positive) in enumerate(parts):
            if forward(right):
                raise Unsuited("two things are waited for at once")
            found.append(
                self.together([*parts[:i], *parts[i + 1 :]], self.b.both([waits, self.past(right, hold=positive)]))
            )
        return self.b.either(found)

    def until(
        self,
        left: tree.Formula,
        right: tree.Formula,
        bound: tree.Bound | None,
        begins: int,
        scope: Scope,
        hold: bool,
        positive: bool,
    ) -> int:
        """``left until[bound] right``, or not ``hold``; ``positive``: ``right`` stands there as it is, else negated."""
        within = bounded(bound, self.kind)
        if forward(left):
            raise Unsuited("the left side of an operator looks forward")
        if not hold:
            return self.never(right, positive, within, begins, scope.of(right))
        if scope.of(left).terms:
            raise Unsuited("a remembered value on the left of an operator")
        holds, scope = self.past(left), scope.of(right)
        if not scope.terms:
            return self.future(right, self.b.since(holds, begins, within, after=True), Scope(), positive)
        found = []
        for way in Ways(scope, self.kind, False).of(right, positive):
            if way.later:
                found.append(self.carried(holds, begins, within, way, scope, bound is not None))
                continue
            clock = self.clock(way, scope, bound is not None)
            first = self.b.both([begins, *(self.past(f, hold=h) for f, h in way.scope)])
            ends = self.queue(holds, first, within & way.ages, way.compared, after=True, clock=clock)
            found.append(self.every(way.here, ends, Scope()))
        return self.b.either(found)

    def carried(self, holds: int, begins: int, within: Ages, way: Way, scope: Scope, bound: bool) -> int:
        """One more thing has come, and something later asks how long ago the first was: the last of them decides."""
        within = within & way.ages
        if len(way.later) > 1 or way.compared or way.scope or within.low > 0 or scope.delay:
            raise Unsuited("a remembered value below a further operator")
        node = self.b.latest(holds, begins, within, self.clock(way, scope, bound))
        ends = self.b.both([node, *(self.past(f, hold=h) for f, h in way.here if not forward(f))])
        if any(forward(f) for f, _ in way.here):
            raise Unsuited("two things are waited for at once")
        return self.future(way.later[0][0], ends, replace(scope, source=node), way.later[0][1])

    def never(self, right: tree.Formula, positive: bool, within: Ages, begins: int, scope: Scope) -> int:
        """Nothing has broken it up to now; what stands on the left of an until takes no part in this."""
        if forward(right):
            raise Unsuited("two things are waited for at once")
        if any(isinstance(n, Time) for n in right.walk()) and not scope.terms:
            raise Unsuited("a time at which something ends")
        clock = -1
        if scope.terms:
            (way, *more) = Ways(scope, self.kind, False).of(right, positive)
            if more or way.compared or way.scope or way.later or scope.source is not None:
                raise Unsuited("a remembered value must never be reached")
            clock = self.clock(way, scope, within != Ages())
            within = within & way.ages
            breaks = self.b.both([self.past(f, hold=h) for f, h in way.here])
        else:
            breaks = self.past(right, hold=positive)
        return self.b.unbroken(breaks, begins, within, clock)

    def clock(self, way: Way, scope: Scope, bound: bool) -> int:
        """The column of times from which ages count; -1: those of the states."""
        if scope.source is not None:
            if bound or way.compared or way.scope or way.ages.low > 0:
                raise Unsuited("ages from two states")
            return -2 - scope.source
        if not scope.delay or not way.timed:
            return -1
        if bound:
            raise Unsuited("ages from two states")
        at = self.b.plain.setdefault(scope.clock, len(self.b.plain))
        return self.b.numbers.setdefault((-1, at), len(self.b.numbers))
