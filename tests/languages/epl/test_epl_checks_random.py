"""Checks on random programs: right ones have no errors, and nothing in the reference waits longer than is said."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.amount import amount
from tests.generators.random_epl import random_core, random_epl

from occurs.languages.epl.checks import ResolvedQuery, retention
from occurs.languages.epl.semantics.instances import And, Binding, Instance, Until
from occurs.languages.epl.semantics.machine import Machine, World
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind

SECONDS = TimeKind(False, "s")


@pytest.mark.parametrize("write", [random_core, random_epl])
def test_right_programs_have_no_errors(write: object) -> None:
    for seed in range(60):
        case = write(random.Random(seed))  # type: ignore[operator]
        # raises if there is one
        assert case.analysis.queries


def bound(binding: Binding) -> Iterator[tuple[str, Occurrence]]:
    for tag, events in binding.items():
        for e in events if isinstance(events, tuple) else (events,):
            yield tag, e


def held(node: Instance) -> Iterator[tuple[str, Occurrence]]:
    """The events that live instances have, with their tags."""
    yield from bound(node.binding)
    if isinstance(node, And):
        for binding in (b for stored in node.stored for b in stored):
            yield from bound(binding)
    if isinstance(node, Until):
        yield from bound(node.lists)
    for child in node.children:
        yield from held(child)


def ages(query: ResolvedQuery, world: World, rng: random.Random) -> Iterator[tuple[str, int]]:
    """The tag and the age in seconds of every event that waits, at 50 instants."""
    machine = Machine(query.name, query.query, world, 0)
    tags = dict(zip(machine.tags, query.atoms, strict=True))
    now = 0
    for number in range(50):
        now += rng.choice((0, 1, 1, 2, 5))
        while (due := machine.due()) is not None and due <= now:
            machine.instant(due)
        attributes = {"k": rng.choice("pq"), "v": rng.randint(0, 9)}
        machine.event(Occurrence(rng.choice("ABC"), now, attributes, number))
        if not machine.root.live:
            return
        yield from {(tags[tag], now - e.time) for tag, e in held(machine.root)}


def test_nothing_waits_longer_than_is_said() -> None:
    bounded = 0
    for seed in range(amount(80, 250)):
        analysis = random_epl(random.Random(seed)).analysis
        kinds = {t: frozenset(heirs) for t, heirs in analysis.subtypes.items()}
        world = World(SECONDS, "UTC", analysis.schemas, kinds, lambda e: e.sequence or 0)
        for query in analysis.queries:
            limits = {w.tag: w.bound.amount / 1_000_000 for w in retention(query) if w.bound is not None}
            waits = {tag: limit for tag, limit in limits.items() if limit}
            if not waits or set(query.reads) - {"A", "B", "C", "H"}:
                continue
            for tag, age in ages(query, world, random.Random(seed)):
                if tag in limits:
                    assert age <= limits[tag], (seed, query.text, tag)
            bounded += len(waits)
    assert bounded > amount(6, 20)
