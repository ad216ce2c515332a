"""Sets of intervals, against the reference semantics per binding."""

from __future__ import annotations

import pytest
from signal_checks import World, agrees, joint_bindings, restricted, state

from occurs.languages.phenesthe.semantics.intervals import coalesced, complement, filtered, intersection
from occurs.operators.interval.sets import Common, Cut, LongSpans, PooledSpans, United

SEEDS = range(50)


@pytest.mark.parametrize("seed", SEEDS)
def test_united(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    phi, psi = world.states(v), world.states(v)
    expected = {b: coalesced({*phi.get(b, set()), *psi.get(b, set())}) for b in {*phi, *psi}}
    delay = world.rng.choice((0, 0, 2))
    agrees(United(v), [state(phi, v, delay), state(psi, v, delay)], expected, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_pooled_spans(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    w = tuple(sorted(world.rng.sample(v, world.rng.randint(0, len(v)))))
    phi = world.states(v)
    union: dict[tuple[int, ...], set[tuple[int, float]]] = {}
    for b, spans in phi.items():
        union.setdefault(restricted(b, v, w), set()).update(spans)
    agrees(PooledSpans(v, w), [state(phi, v)], {b: coalesced(spans) for b, spans in union.items()}, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_common(seed: int) -> None:
    world = World(seed)
    v, w = world.variables(), world.variables("abcd")
    phi, psi = world.states(v), world.states(w)
    expected = {b: intersection(phi[x], psi[y]) for b, x, y in joint_bindings(phi, v, psi, w)}
    delay = world.rng.choice((0, 0, 2))
    agrees(Common(v, w), [state(phi, v, delay), state(psi, w, delay)], expected, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_cut(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    w = v if seed % 2 else tuple(sorted(world.rng.sample(v, world.rng.randint(0, len(v)))))
    phi, psi = world.states(v), world.states(w)
    expected = {b: complement(spans, psi.get(restricted(b, v, w), set())) for b, spans in phi.items()}
    delay = world.rng.choice((0, 0, 2))
    agrees(Cut(v, w), [state(phi, v, delay), state(psi, w, delay)], expected, world, 1)


@pytest.mark.parametrize("op", ["less", "at_most", "equal", "at_least", "greater"])
@pytest.mark.parametrize("seed", range(25))
def test_filter_by_length(seed: int, op: str) -> None:
    world = World(seed)
    v = world.variables()
    phi, cuts = world.states(v), world.frontiers()
    world.frontiers = lambda: cuts  # type: ignore[method-assign]
    ticks = world.rng.choice((1, 2, 3, 4, 8, 30, 2**63))
    expected = {b: filtered(spans, op, ticks, now=cuts[-1][0]) for b, spans in phi.items()}
    agrees(LongSpans(v, op, ticks), [state(phi, v, world.rng.choice((0, 0, 2)))], expected, world, ticks)


def test_lengths_beyond_int64_do_not_wrap() -> None:
    world = World(0)
    least, most = -(2**63) + 1, 2**63 - 2
    world.frontiers = lambda: [(least, False), (most, True)]  # type: ignore[method-assign]
    phi = {(): {(least, most)}}
    for op, ticks, passes in (("greater", 2**63, True), ("less", 2**63, False), ("equal", 2**64 - 3, True)):
        agrees(LongSpans((), op, ticks), [state(phi, ())], phi if passes else {}, world, ticks)
