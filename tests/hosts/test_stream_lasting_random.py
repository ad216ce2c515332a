"""Random programs of Phenesthe as streams, in this process: the rows of a batch with their labels, however a stream is
cut, in disorder, and over restarts."""

from __future__ import annotations

import random

import pytest
from instream import How
from test_local_lasting import input_of, program_of
from test_stream_lasting import stream_of
from test_stream_mixed import told
from tests.amount import first
from tests.generators.random_phenesthe import random_program
from tests.textcases.phenesthe import LastingCase, Loaded


def ways(case: LastingCase, rng: random.Random, seed: int, number: int) -> list[How]:
    times = [r.time for r in case.rows if r.time is not None] or [0]
    span = max(times) - min(times)
    out = []
    for _ in range(number):
        shuffled = rng.random() < 0.5
        delay = rng.choice((1, span // 3 + 1, span)) if shuffled else 0
        size, memory = rng.choice((1, 4, 9, None)), rng.choice(("kept", "forgetful", "mixed", "crash"))
        out.append(How(rng.choice((1, 3)), size, delay, shuffled, memory, apart=rng.random() < 0.5, seed=seed))
    return out


def check(seed: int, number: int) -> int:
    """How many rows a random program finds, by ``number`` ways of streaming as in a batch."""
    rng = random.Random(seed)
    case = random_program(rng)
    tables, options = input_of(case)
    found = program_of(case).detect(tables, facts=Loaded(case).fact_tables(), with_label=True, **options)
    wanted = told({t: found.arrow(t) for t in found})
    for how in ways(case, rng, seed, number):
        got = sorted(line for b in stream_of(case, how).run().batches for line in told(b.found))
        assert got == wanted, (seed, how, case.rules)
    return len(wanted)


@pytest.mark.parametrize("begin", first(range(0, 24, 6), 1, 2))
def test_a_stream_gives_what_a_batch_gives(begin: int) -> None:
    assert sum(check(seed, 2) for seed in range(begin, begin + 6)) > 20


if __name__ == "__main__":  # many
    for one in range(500):
        print(one, check(one, 4))
