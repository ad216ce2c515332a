"""Ranges and iteration, against the reference semantics per binding."""

from __future__ import annotations

import pytest
from signal_checks import World, agrees, back, event, restricted

from occurs.languages.phenesthe.semantics.intervals import iteration, maximal_range, minimal_range
from occurs.operators.interval.ranges import Iteration, MaximalRange, MinimalRange

SEEDS = range(50)


@pytest.mark.parametrize("seed", SEEDS)
def test_maximal_range(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    w = v if seed % 2 else tuple(sorted(world.rng.sample(v, world.rng.randint(0, len(v)))))
    phi, psi = world.events(v), world.events(w)
    expected = {b: maximal_range(ts, psi.get(restricted(b, v, w), set())) for b, ts in phi.items()}
    delay = world.rng.choice((0, 0, 3))
    agrees(MaximalRange(v, w), [event(phi, v, delay), event(psi, w, delay)], expected, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_minimal_range(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    w = v if seed % 2 else tuple(sorted(world.rng.sample(v, world.rng.randint(0, len(v)))))
    phi, psi = world.events(v), world.events(w)
    expected = {b: minimal_range(ts, psi.get(restricted(b, v, w), set())) for b, ts in phi.items()}

    def complete(to: int) -> int:
        """Before the first phi-instant that is the last of its binding and after which no psi alone has come."""
        pending = []
        for b, ts in phi.items():
            known = {t for t in ts if t <= to}
            ends = {t for t in psi.get(restricted(b, v, w), set()) - ts if t <= to}
            if known and not any(e > max(known) for e in ends):
                pending.append(max(known) - 1)
        return min([to, *pending])

    agrees(MinimalRange(v, w), [event(phi, v), event(psi, w)], expected, world, complete)


@pytest.mark.parametrize("op", ["<", "<=", "=", ">=", ">"])
@pytest.mark.parametrize("seed", range(25))
def test_iteration(seed: int, op: str) -> None:
    world = World(seed)
    v = world.variables()
    phi = world.events(v)
    ticks = world.rng.choice((1, 2, 3, 4, 5, 7, 2**63))
    expected = {b: iteration(ts, op, ticks) for b, ts in phi.items()}

    def complete(to: int) -> int:
        """Before the first instant that is the last of its binding so far."""
        known = [{t for t in ts if t <= to} for ts in phi.values()]
        return min([to, *(max(ts) - 1 for ts in known if ts)])

    delays = {"<": ticks - 1, "<=": ticks, "=": ticks}
    operand = event(phi, v, world.rng.choice((0, 0, 2)))
    agrees(Iteration(v, op, ticks), [operand], expected, world, delays.get(op, complete))


def test_gaps_beyond_int64_do_not_wrap() -> None:
    world = World(0)
    least, most = -(2**63) + 1, 2**63 - 2
    world.frontiers = lambda: [(least, False), (most, False), (most, True)]  # type: ignore[method-assign]
    for op, expected in ((">", {(least, most)}), ("<=", set())):
        for ticks in (5, 2**63, 2**64 - 4):
            node = Iteration((), op, ticks)
            delay = ticks if op == "<=" else (lambda to: min(to, most - 1, back(to, 1)))
            agrees(node, [event({(): {least, most}}, ())], {(): expected}, world, delay)
