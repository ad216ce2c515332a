"""Random histories of instants, states and phenomena, fed to relations as producers would, and what must come out.

A *leaf* is one operand with its true rows; a *tree* relates leaves and trees.  Clocks of leaves may differ (``delay``);
rows of a dynamic leaf are given late, and are announced until then.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from occurs.languages.phenesthe.semantics.intervals import LENGTHS, filtered, related
from occurs.operators.interval.phenomena import LongPhenomena, PooledPhenomena
from occurs.operators.interval.relations import Related
from occurs.operators.interval.signals import (
    NEVER,
    OPEN,
    Instants,
    Intervals,
    Lag,
    Lags,
    Phenomena,
    Points,
    Signal,
    Spans,
)
from occurs.operators.interval.values import Values

INF = math.inf
Binding = tuple[int, ...]
#: a binding, a start and an end (infinity: never); of instants both are equal
Row = tuple[Binding, int, float]


@dataclass
class Leaf:
    """``rows``: all there are.  Of a dynamic one ``given``: when each closed row is given (at its end or later),
    ``seen``: since when it stands among the open ones (infinity: never).  ``behind``: the variables of each table that
    announces what is not given yet."""

    sort: str
    variables: tuple[str, ...]
    rows: list[Row]
    delay: int = 0
    given: dict[Row, float] = field(default_factory=dict)
    seen: dict[Row, float] = field(default_factory=dict)
    behind: list[tuple[str, ...]] = field(default_factory=list)

    def signal(self, call: Instants) -> Signal:
        since = call.since if call.since == NEVER else call.since - self.delay
        now = INF if call.closing else call.frontier - self.delay
        complete = OPEN if call.closing else call.frontier - self.delay
        if self.sort == "event":
            rows = [r for r in self.rows if since < r[1] <= now]
            return Points(intervals(rows, self.variables).codes, intervals(rows, self.variables).start, since, complete)
        if self.sort == "state":
            closed = [r for r in self.rows if since < r[2] <= now and r[2] != INF]
            open = [r for r in self.rows if r[1] <= now and (r[2] > now or r[2] == INF)]
            began = [r if r[2] <= now else (r[0], r[1], INF) for r in self.rows if since < r[1] <= now]
            parts = (intervals(part, self.variables) for part in (closed, began, opened(open)))
            return Spans(*parts, since, complete)
        closed = [r for r in self.rows if r[2] != INF and since < self.given[r] <= now]
        open = opened([r for r in self.rows if self._open(r, now)])
        lags = () if call.closing else tuple(self._lag(k, now) for k in range(len(self.behind)))
        return Phenomena(intervals(closed, self.variables), intervals(open, self.variables), complete, lags)

    def _open(self, row: Row, now: float) -> bool:
        if now == INF:
            return row[2] == INF
        return row[1] <= now and self.seen[row] <= now and (row[2] == INF or self.given[row] > now)

    def _lag(self, which: int, now: float) -> Lag:
        """What is not given, of every second row."""
        variables = self.behind[which]
        rows, starts, ends = [], [], []
        for n, row in enumerate(sorted(self.rows)):
            late = row[2] != INF and row[2] <= now < self.given[row]
            hidden = row[1] <= now and not self._open(row, now) and (row[2] == INF or self.given[row] > now)
            if n % len(self.behind) == which and (late or hidden):
                rows.append(tuple(row[0][self.variables.index(v)] for v in variables))
                starts.append(row[1] - 1 if hidden else OPEN)
                ends.append(int(row[2]) - 1 if late else OPEN)
        codes = tuple(np.array([r[k] for r in rows], np.int64) for k in range(len(variables)))
        return Lag(variables, codes, np.array(starts, np.int64), np.array(ends, np.int64))

    def answer(self, now: float = INF) -> dict[Binding, set]:
        out: dict[Binding, set] = {}
        for binding, start, end in self.rows:
            out.setdefault(binding, set()).add(start if self.sort == "event" else (start, end))
        return out


@dataclass
class Tree:
    rel: str
    left: Formula
    right: Formula
    sort = "dynamic"

    @property
    def operands(self) -> tuple[Formula, ...]:
        return self.left, self.right

    @property
    def variables(self) -> tuple[str, ...]:
        return self.node.variables

    @property
    def node(self) -> Related:
        return Related(self.rel, self.left.sort, self.right.sort, self.left.variables, self.right.variables)

    def answer(self, now: float = INF) -> dict[Binding, set]:
        left, right = self.left.answer(now), self.right.answer(now)
        out: dict[Binding, set] = {}
        for a, b in product(left, right):
            mine, theirs = dict(zip(self.left.variables, a)), dict(zip(self.right.variables, b))
            if all(theirs.get(v, mine[v]) == mine[v] for v in mine):
                binding = tuple({**mine, **theirs}[v] for v in self.variables)
                out.setdefault(binding, set()).update(related(self.rel, left[a], right[b]))
        return out


@dataclass
class Pooled:
    operand: Formula
    variables: tuple[str, ...]
    sort = "dynamic"

    @property
    def operands(self) -> tuple[Formula, ...]:
        return (self.operand,)

    @property
    def node(self) -> PooledPhenomena:
        return PooledPhenomena(self.operand.variables, self.variables)

    def answer(self, now: float = INF) -> dict[Binding, set]:
        out: dict[Binding, set] = {}
        for binding, found in self.operand.answer(now).items():
            own = dict(zip(self.operand.variables, binding))
            out.setdefault(tuple(own[v] for v in self.variables), set()).update(found)
        return out


@dataclass
class Long:
    operand: Formula
    op: str
    ticks: int
    sort = "dynamic"

    @property
    def operands(self) -> tuple[Formula, ...]:
        return (self.operand,)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.operand.variables

    @property
    def node(self) -> LongPhenomena:
        return LongPhenomena(self.variables, self.op, self.ticks)

    def answer(self, now: float = INF) -> dict[Binding, set]:
        return {b: filtered(found, self.op, self.ticks, now) for b, found in self.operand.answer(now).items()}


Formula = Leaf | Tree | Pooled | Long


class Run:
    """A tree over calls; every node's state is carried along, and read anew from copies between calls."""

    def __init__(self, tree: Formula) -> None:
        self.tree = tree
        self.values = Values()
        self.states: dict[int, dict] = {}
        self.since = NEVER

    def call(self, frontier: int, closing: bool = False) -> Phenomena:
        call = Instants(self.since, frontier, self.values, closing)
        self.since = frontier
        return self._signal(self.tree, call)

    def _signal(self, tree: Formula, call: Instants) -> Signal:
        if isinstance(tree, Leaf):
            return tree.signal(call)
        inputs = tuple(self._signal(operand, call) for operand in tree.operands)
        self.last = call, inputs
        state = self.states.get(id(tree)) or tree.node.fresh()
        for table in state.values():
            for column in (*table.codes, *table.columns.values()):
                column.setflags(write=False)
        self.states[id(tree)], signal = tree.node.advance(state, inputs, call)
        return signal

    def certain(self) -> list[Row]:
        """The open rows of a relation that are certain after a call."""
        call, inputs = self.last
        return rows_of(self.tree.node.certain(self.states[id(self.tree)], inputs, call))

    def size(self) -> int:
        return sum(len(table) for state in self.states.values() for table in state.values())


def intervals(rows: list[Row], variables: tuple[str, ...]) -> Intervals:
    codes = tuple(np.array([r[0][k] for r in rows], np.int64) for k in range(len(variables)))
    end = [OPEN if r[2] == INF else int(r[2]) for r in rows]
    return Intervals(codes, np.array([r[1] for r in rows], np.int64), np.array(end, np.int64))


def opened(rows: list[Row]) -> list[Row]:
    return sorted({(binding, start, INF) for binding, start, _ in rows})


def rows_of(found: Intervals) -> list[Row]:
    codes = list(zip(*(c.tolist() for c in found.codes))) or [()] * len(found)
    ends = [INF if e == OPEN else e for e in found.end.tolist()]
    return list(zip(codes, found.start.tolist(), ends))


def flat(answer: dict[Binding, set]) -> set[Row]:
    return {(binding, *x) for binding, found in answer.items() for x in found}


# --- random ones ------------------------------------------------------------------------------------------------------


def random_leaf(
    rng: random.Random, sort: str, variables: tuple[str, ...], values: int = 2, until: int = 24, most: int = 12
) -> Leaf:
    rows: set[Row] = set()
    grid = rng.choice((1, 2, 4))  # a coarse one for many ties
    for _ in range(rng.randint(most // 3, most)):
        binding = tuple(rng.randrange(values) for _ in variables)
        start = rng.randrange(0, until - grid, grid)
        if sort == "event":
            rows.add((binding, start, start))
            continue
        end = INF if rng.random() < 0.2 else start + grid * rng.randint(1, rng.choice((1, 2, 5, 20)))
        if sort == "state" and any(b == binding and s <= end and start <= e for b, s, e in rows):
            continue
        rows.add((binding, start, end))
    leaf = Leaf(sort, variables, sorted(rows), delay=rng.choice((0, 0, 0, 1, 4)))
    if sort == "dynamic":
        tables = rng.choice((1, 2))
        leaf.behind = [tuple(v for v in variables if rng.random() < 0.7) for _ in range(tables)]
        prompt = rng.random() < 0.3
        for row in leaf.rows:
            leaf.given[row] = row[2] + (0 if prompt or rng.random() < 0.4 else rng.randint(0, 12))
            leaf.seen[row] = row[1] + rng.choice((0, 0, 1, 5, INF)) if not prompt else row[1]
    return leaf


def random_formula(rng: random.Random, depth: int, names: tuple[str, ...], **limits: int) -> Formula:
    """A relation; now and then pooled or filtered."""
    kind = rng.random()
    if kind < 0.15:
        operand = random_formula(rng, depth, names, **limits)
        return Pooled(operand, tuple(v for v in operand.variables if rng.random() < 0.5))
    if kind < 0.3:
        return Long(random_formula(rng, depth, names, **limits), rng.choice(list(LENGTHS)), rng.randint(1, 8))
    return random_tree(rng, depth, names, **limits)


def random_tree(rng: random.Random, depth: int, names: tuple[str, ...], **limits: int) -> Tree:
    rel = rng.choice(("before", "before", "meets", "overlaps", "finishes", "starts", "equals", "contains"))
    lasting = ("state", "dynamic")
    sorts = {
        "before": (("event", *lasting), ("event", *lasting)),
        "finishes": (("event", *lasting), lasting),
        "starts": (("event", *lasting), lasting),
        "contains": (lasting, ("event", *lasting)),
    }.get(rel, (lasting, lasting))

    def side(allowed: tuple[str, ...]) -> Formula:
        if depth > 1 and rng.random() < 0.6:
            return random_formula(rng, depth - 1, names, **limits)
        variables = tuple(v for v in names if rng.random() < 0.6)
        leaf = random_leaf(rng, rng.choice(allowed), variables, **limits)
        if leaf.sort == "dynamic" and rng.random() < 0.2:
            return Long(leaf, rng.choice(list(LENGTHS)), rng.randint(1, 8))
        return leaf

    return Tree(rel, side(sorts[0]), side(sorts[1]))


def telling(rng: random.Random, depth: int, names: tuple[str, ...], **limits: int) -> Formula:
    """Most random formulas of some depth have no result at all: one that has, if it is found soon."""
    for _ in range(12):
        formula = random_formula(rng, depth, names, **limits)
        if any(formula.answer().values()):
            break
    return formula


def random_cuts(rng: random.Random, until: int) -> list[int]:
    kind = rng.randrange(4)
    if kind == 0:
        return []
    if kind == 1:
        return list(range(until + 12))
    return sorted(rng.sample(range(-2, until + 12), rng.randint(1, until)))


def continued(rng: random.Random, tree: Formula, frontier: int, until: int) -> Formula:
    """Another history that looks the same up to ``frontier``."""
    if isinstance(tree, Tree):
        return Tree(tree.rel, *(continued(rng, side, frontier, until) for side in tree.operands))
    if isinstance(tree, Pooled | Long):
        return replace(tree, operand=continued(rng, tree.operand, frontier, until))
    now = frontier - tree.delay
    call = Instants(NEVER, frontier, Values())
    signal = tree.signal(call)
    fresh = random_leaf(rng, tree.sort, tree.variables, until=until + 12).rows
    if isinstance(signal, Points):
        rows = {r for r in tree.rows if r[1] <= now} | {r for r in fresh if r[1] > now}
        return Leaf(tree.sort, tree.variables, sorted(rows))
    rows = set(rows_of(signal.closed))
    for binding, start, _ in rows_of(signal.open):
        least = told(signal, tree.variables, (binding, 0, 0))[1]
        rows.add((binding, start, rng.choice((INF, max(least, start) + rng.randint(1, 6)))))
    for binding, start, end in fresh:
        least = told(signal, tree.variables, (binding, 0, 0))
        if start > least[0] and end > least[1]:
            if tree.sort == "state" and any(b == binding and s <= end and start <= e for b, s, e in rows):
                continue
            rows.add((binding, start, end))
    return Leaf(tree.sort, tree.variables, sorted(rows))


def told(signal: Signal, variables: tuple[str, ...], row: Row) -> tuple[int, int]:
    """S and N under the binding of a row."""
    lags = Lags.of(variables, signal.lags if isinstance(signal, Phenomena) else ())
    one = intervals([row], variables)
    return int(lags.least(signal.complete, 0, one)[0]), int(lags.least(signal.complete, 1, one)[0])
