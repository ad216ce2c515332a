"""Formulas over instants, against sets per binding."""

from __future__ import annotations

import pytest
from signal_checks import World, agrees, event, joint_bindings, restricted, state

from occurs.operators.interval.points import Both, Either, Ends, Inside, PooledPoints, Starts, Without

SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_either(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    phi, psi = world.events(v), world.events(v)
    expected = {b: phi.get(b, set()) | psi.get(b, set()) for b in {*phi, *psi}}
    agrees(Either(v), [event(phi, v), event(psi, v)], expected, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_both(seed: int) -> None:
    world = World(seed)
    v, w = world.variables(), world.variables("abcd")
    phi, psi = world.events(v), world.events(w)
    expected = {b: phi[x] & psi[y] for b, x, y in joint_bindings(phi, v, psi, w)}
    agrees(Both(v, w), [event(phi, v), event(psi, w)], expected, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_without(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    w = tuple(sorted(world.rng.sample(v, world.rng.randint(0, len(v)))))
    phi, psi = world.events(v), world.events(w)
    expected = {b: ts - psi.get(restricted(b, v, w), set()) for b, ts in phi.items()}
    agrees(Without(v, w), [event(phi, v), event(psi, w)], expected, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_pooled_points(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    w = tuple(sorted(world.rng.sample(v, world.rng.randint(0, len(v)))))
    phi = world.events(v)
    expected: dict[tuple[int, ...], set[int]] = {}
    for b, ts in phi.items():
        expected.setdefault(restricted(b, v, w), set()).update(ts)
    agrees(PooledPoints(v, w), [event(phi, v)], expected, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_starts_and_ends(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    phi = world.states(v)
    agrees(Starts(v), [state(phi, v)], {b: {s for s, _ in spans} for b, spans in phi.items()}, world)
    ends = {b: {e for _, e in spans if e != float("inf")} for b, spans in phi.items()}
    agrees(Ends(v), [state(phi, v)], ends, world)


@pytest.mark.parametrize("seed", SEEDS)
def test_inside(seed: int) -> None:
    world = World(seed)
    v, w = world.variables(), world.variables("abcd")
    phi, psi = world.events(v), world.states(w)
    expected = {
        b: {t for t in phi[x] if any(s <= t <= e for s, e in psi[y])} for b, x, y in joint_bindings(phi, v, psi, w)
    }
    agrees(Inside(v, w), [event(phi, v), state(psi, w)], expected, world)
