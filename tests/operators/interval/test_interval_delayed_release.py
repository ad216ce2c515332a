"""Signals held back say the same, later."""

from __future__ import annotations

import random

import pytest
from signal_checks import World, agrees, back, check, event, passed_on, points_signal, spans_signal, state

from occurs.operators.interval.delayed_release import HoldPoints, HoldSpans
from occurs.operators.interval.signals import NEVER, OPEN, Instants, Points
from occurs.operators.interval.values import Values


@pytest.mark.parametrize("seed", range(25))
def test_hold_some_ticks(seed: int) -> None:
    world = World(seed)
    v = world.variables()
    ticks, delay = world.rng.choice((1, 2, 3, 9)), world.rng.choice((0, 2))
    phi, psi = world.events(v), world.states(v)
    agrees(HoldPoints(v, ticks), [event(phi, v, delay)], phi, world, ticks)
    agrees(HoldSpans(v, ticks), [state(psi, v, delay)], psi, world, ticks)


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_hold_as_far_as_another_is_complete(seed: int, lasting: bool) -> None:
    world = World(seed)
    v, rng = world.variables(), world.rng
    make = spans_signal if lasting else points_signal
    meaning = world.states(v) if lasting else world.events(v)
    node = (HoldSpans if lasting else HoldPoints)(v, None)
    held, since, before, complete = node.fresh(), NEVER, NEVER, NEVER
    for frontier, closing in world.frontiers():
        other = OPEN if closing else max(before, back(frontier, rng.choice((0, 1, 5, 9))))
        call = Instants(since, frontier, Values(), closing)
        mine = make(meaning, len(v), since, call.complete, rng)
        held, signal = node.advance(passed_on(held, rng), (mine, _sibling(before, other)), call)
        assert (signal.since, signal.complete) == (complete, min(other, call.complete))
        check(signal, meaning)
        since, before, complete = call.complete, other, signal.complete


def _sibling(since: int, complete: int) -> Points:
    return points_signal({}, 0, since, complete, random.Random(0))
