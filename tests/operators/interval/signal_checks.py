"""Random histories of instants and intervals, cut into random calls, and what signals must say of them.

An event formula is {binding: set of instants}, a state {binding: set of (start, end)}; a binding is a tuple of codes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from occurs.languages.phenesthe.semantics.intervals import coalesced
from occurs.operators.interval.signals import NEVER, OPEN, Held, Instants, Intervals, Points, Spans
from occurs.operators.interval.values import Values

Binding = tuple[int, ...]
Events = dict[Binding, set[int]]
States = dict[Binding, set[tuple[int, float]]]
LENGTH = 24
#: the first tick of histories: also the first tick of all, and such that the last one is the last but one of all
ORIGINS = (0, -7, NEVER + 1, OPEN - 1 - LENGTH)


@dataclass
class World:
    """What is random about a test: the seed decides."""

    seed: int
    rng: random.Random = field(init=False)
    origin: int = field(init=False)
    base: int = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.origin = self.rng.choice(ORIGINS)
        self.base = self.rng.choice((0, 0, 1 << 20, 1 << 31, 1 << 61))

    def variables(self, names: str = "abc", most: int = 3) -> tuple[str, ...]:
        return tuple(sorted(self.rng.sample(names, self.rng.randint(0, most))))

    def bindings(self, variables: tuple[str, ...]) -> list[Binding]:
        size = self.rng.choice((1, 2, 2, 3))
        return list(product(*[[self.base + i for i in range(size)]] * len(variables)))

    def events(self, variables: tuple[str, ...]) -> Events:
        share = self.rng.choice((0.0, 0.1, 0.3, 0.6))
        ticks = range(self.origin, self.origin + LENGTH)
        return {b: {t for t in ticks if self.rng.random() < share} for b in self.bindings(variables)}

    def states(self, variables: tuple[str, ...]) -> States:
        found = {}
        most = self.rng.choice((0, 1, 3, 5))
        for b in self.bindings(variables):
            spans: list[tuple[int, float]] = []
            for _ in range(self.rng.randint(0, most)):
                start, length = self.origin + self.rng.randrange(LENGTH - 1), self.rng.choice((1, 1, 2, 3, 6))
                spans.append((start, min(start + length, self.origin + LENGTH - 1)))
            if self.rng.random() < 0.3:
                spans.append((self.origin + self.rng.randrange(LENGTH), math.inf))
            found[b] = coalesced(spans)
        return found

    def frontiers(self) -> list[tuple[int, bool]]:
        """(frontier, closing) of each call: the last closes; with or without new rows, or alone."""
        last = self.origin + LENGTH - 1
        way = self.rng.choice(("one", "each", "some", "some", "gaps"))
        cuts = {
            "one": [],
            "each": list(range(self.origin, last + 1)),
            "some": sorted(self.rng.sample(range(self.origin, last + 1), self.rng.randint(1, 6))),
            "gaps": [self.origin - 1, *self.rng.sample(range(self.origin, last + 1), 2), last, min(last + 9, OPEN - 1)],
        }[way]
        cuts = sorted({c for c in cuts if c > NEVER})
        return [(f, False) for f in cuts] + [(max([last, *cuts]), True)]


# --- signals that are made --------------------------------------------------------------------------------------------


def codes(rows: list[Binding], width: int) -> tuple[np.ndarray, ...]:
    return tuple(np.array([r[k] for r in rows], np.int64) for k in range(width))


def intervals(rows: list[tuple[Binding, int, float]], width: int) -> Intervals:
    return Intervals(
        codes([b for b, _, _ in rows], width),
        np.array([s for _, s, _ in rows], np.int64),
        np.array([OPEN if e == math.inf else e for _, _, e in rows], np.int64),
    )


def points_signal(events: Events, width: int, since: int, complete: int, rng: random.Random) -> Points:
    rows = [(b, t) for b, times in events.items() for t in times if since < t <= complete]
    rng.shuffle(rows)
    return Points(codes([b for b, _ in rows], width), np.array([t for _, t in rows], np.int64), since, complete)


def spans_rows(states: States, since: int, complete: int) -> tuple[list[Any], list[Any], list[Any]]:
    """The rows closed, began and open of a signal."""
    rows = [(b, s, e) for b, spans in states.items() for s, e in spans]
    closed = [(b, s, e) for b, s, e in rows if since < e <= complete and e != math.inf]
    seen = [(b, s, e if e <= complete else math.inf) for b, s, e in rows if s <= complete]
    return closed, [r for r in seen if r[1] > since], [r for r in seen if r[2] == math.inf]


def spans_signal(states: States, width: int, since: int, complete: int, rng: random.Random) -> Spans:
    parts = spans_rows(states, since, complete)
    for part in parts:
        rng.shuffle(part)
    closed, began, open = (intervals(part, width) for part in parts)
    return Spans(closed, began, open, since, complete)


def back(time: int, ticks: int) -> int:
    return time if time in (NEVER, OPEN) else max(time - ticks, NEVER)


# --- signals that are checked -----------------------------------------------------------------------------------------


def point_rows(points: Points) -> list[tuple[Binding, int]]:
    return [(tuple(b), t) for *b, t in zip(*(c.tolist() for c in points.codes), points.time.tolist())]


def interval_rows(part: Intervals) -> list[tuple[Binding, int, float]]:
    rows = zip(*(c.tolist() for c in part.codes), part.start.tolist(), part.end.tolist())
    return [(tuple(b), s, math.inf if e == OPEN else e) for *b, s, e in rows]


def check(signal: Any, expected: Any) -> None:
    """A signal says of what is expected in the end what it must say by now, each thing once."""
    if isinstance(signal, Points):
        want = [(b, t) for b, times in expected.items() for t in times if signal.since < t <= signal.complete]
        assert sorted(point_rows(signal)) == sorted(want)
        return
    closed, began, open = spans_rows(expected, signal.since, signal.complete)
    assert sorted(interval_rows(signal.closed)) == sorted(closed)
    assert sorted(interval_rows(signal.began)) == sorted(began)
    assert sorted(interval_rows(signal.open)) == sorted(open)


def passed_on(state: dict[str, Held], rng: random.Random) -> dict[str, Held]:
    """The state as it comes back after it was saved: other arrays, rows in another order, not to be written to."""
    out = {}
    for name, held in state.items():
        order = np.array(rng.sample(range(len(held)), len(held)), np.int64)
        out[name] = held.take(order)
        for array in (*out[name].codes, *out[name].columns.values()):
            array.flags.writeable = False
    return out


@dataclass
class Operand:
    """What an operand means, how many variables it has, and by how much it is behind."""

    meaning: Any
    width: int
    state: bool
    delay: int = 0

    def signal(self, since: int, frontier: int, closing: bool, rng: random.Random) -> Points | Spans:
        make: Callable[..., Any] = spans_signal if self.state else points_signal
        complete = OPEN if closing else back(frontier, self.delay)
        return make(self.meaning, self.width, back(since, self.delay), complete, rng)


def event(meaning: Events, variables: tuple[str, ...], delay: int = 0) -> Operand:
    return Operand(meaning, len(variables), False, delay)


def state(meaning: States, variables: tuple[str, ...], delay: int = 0) -> Operand:
    return Operand(meaning, len(variables), True, delay)


def run(
    node: Any, operands: list[Operand], world: World, values: Values | None = None
) -> Iterator[tuple[Any, Instants]]:
    """What the node gives in each call."""
    held, since, complete = node.fresh(), NEVER, NEVER
    for frontier, closing in world.frontiers():
        call = Instants(since, frontier, values or Values(), closing)
        inputs = tuple(o.signal(since, frontier, closing, world.rng) for o in operands)
        held, signal = node.advance(passed_on(held, world.rng), inputs, call)
        assert signal.since == complete
        yield signal, call
        since, complete = frontier, signal.complete


def agrees(
    node: Any,
    operands: list[Operand],
    expected: Any,
    world: World,
    delay: int | Callable[[int], int] = 0,
    values: Values | None = None,
) -> None:
    """The node gives what is expected, in every call as much of it as is complete; ``delay``: how far it is behind
    its operands, or what it is complete to when they are complete to a tick."""
    assert node.variables == tuple(sorted(node.variables))
    behind = operands[0].delay
    for signal, call in run(node, operands, world, values):
        check(signal, expected)
        if call.closing:
            assert signal.complete == OPEN
        elif isinstance(delay, int):
            assert signal.complete == back(call.frontier, behind + delay)
        else:
            assert signal.complete == delay(back(call.frontier, behind))


# --- bindings ---------------------------------------------------------------------------------------------------------


def restricted(binding: Binding, of: tuple[str, ...], names: tuple[str, ...]) -> Binding:
    return tuple(binding[of.index(n)] for n in names)


def joint_bindings(
    left: Any, of_left: tuple[str, ...], right: Any, of_right: tuple[str, ...]
) -> Iterator[tuple[Binding, Binding, Binding]]:
    """(joint, left, right) of all pairs of bindings that agree."""
    names = tuple(sorted({*of_left, *of_right}))
    for a, b in product(left, right):
        one, other = dict(zip(of_left, a)), dict(zip(of_right, b))
        if all(one[n] == other[n] for n in one.keys() & other.keys()):
            yield tuple({**one, **other}[n] for n in names), a, b
