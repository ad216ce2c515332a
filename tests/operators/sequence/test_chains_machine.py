"""Chains and the general machine find the same, in the same order, over histories longer than the oracle's."""

from __future__ import annotations

import random
from typing import Any

import pytest
from chains_histories import KIND, SCHEMAS, Told, alone, chain_of, history, random_sequence, run

from occurs.operators.merging import Stream
from occurs.operators.sequence.machine import Machine
from occurs.operators.sequence.match_rows import Matches


def brief(found: Told) -> list[object]:
    return [(time, at, due, {tag: e["id"] for tag, e in b.items()}) for time, at, due, b in found]


@pytest.mark.parametrize("seed", range(3))
def test_both_operators_agree(seed: int) -> None:
    rng = random.Random(1000 + seed)
    matches = 0
    for _ in range(15):
        pattern = random_sequence(rng)
        chain, machine = chain_of(pattern), Machine(pattern, SCHEMAS, KIND)
        assert chain is not None
        events = history(rng, rng.choice([40, 120]), keys=rng.choice([1, 3, 8]), gap=rng.choice([0, 1, 3]))
        start, until = events[0]["time"] - rng.choice([0, 3]), events[-1]["time"] + rng.choice([0, 20])
        cuts = [rng.randint(start, until) for _ in range(rng.choice([0, 1, 4]))]

        def advance(state: dict[str, Any], given: Stream, machine: Machine = machine) -> tuple[dict[str, Any], Matches]:
            memory = machine.restored(state) if state else machine.fresh()
            matches = machine.advance(memory, given)
            return memory.saved(), matches

        wanted, _ = run(advance, {}, events, start, until, cuts)
        found, _ = run(alone(chain), {}, events, start, until, cuts)
        assert brief(found) == brief(wanted), pattern
        matches += len(wanted)
    assert matches > 50
