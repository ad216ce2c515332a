"""Window mode on a stream: at every query the rows of a batch with their labels, however the stream is cut, in
disorder, and over restarts."""

from __future__ import annotations

import random
from typing import Any

import pytest
from instream import How
from test_local_lasting import input_of, program_of
from test_stream_lasting import stream_of
from test_stream_lasting_random import ways
from test_stream_mixed import told
from test_windows import WINDOWS, lengths
from tests.amount import first
from tests.generators.random_phenesthe import random_program
from tests.textcases.phenesthe import LastingCase, Loaded

from occurs.engine.state import meta_from_ipc
from occurs.errors import CheckpointProblem, OccursError


def batch(case: LastingCase, windows: dict[str, Any]) -> list[str]:
    tables, options = input_of(case)
    found = program_of(case).detect(
        tables, facts=Loaded(case).fact_tables(), with_label=True, **options, **windows
    )  # fmt: skip
    return told({t: found.arrow(t) for t in found})


def stream(case: LastingCase, how: How, windows: dict[str, Any]) -> list[str]:
    return sorted(line for b in stream_of(case, how, **windows).run().batches for line in told(b.found))


@pytest.mark.share(4)
@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_every_query_gives_what_a_batch_gives(case: LastingCase) -> None:
    windows = lengths(case, case.times["window"], case.times["step"])
    wanted = batch(case, windows)
    for seed, (size, memory) in enumerate((s, m) for s in (1, 4, None) for m in ("kept", "forgetful", "crash")):
        how = How(3, size, 0, False, memory, apart=seed % 2 == 0, seed=seed)
        assert stream(case, how, windows) == wanted, how


def check(seed: int, number: int) -> int:
    """How many rows the queries over a random program give, by ``number`` ways of streaming as in a batch."""
    rng = random.Random(seed)
    case = random_program(rng)
    ends = [t for r in case.rows for t in (r.time, r.end) if t is not None]
    span = max(ends, default=0) - min(ends, default=0)
    step = max(1, span // rng.choice((1, 2, 5, 9)) + rng.choice((-1, 0, 1)))
    windows = lengths(case, step + rng.choice((0, 1, step // 2, 2 * step, 10 * step)), step)
    try:
        wanted = batch(case, windows)
    except OccursError:
        return 0
    for how in ways(case, rng, seed, number):
        assert stream(case, how, windows) == wanted, (seed, how, windows, case.rules)
    return len(wanted)


@pytest.mark.share(4)
@pytest.mark.parametrize("begin", first(range(0, 24, 6), 1, 2))
def test_random_programs(begin: int) -> None:
    assert sum(check(seed, 2) for seed in range(begin, begin + 6)) > 20


def test_rows_are_kept_no_longer_than_queries_give_them() -> None:
    case = next(c for c in WINDOWS if c.rows)
    one = stream_of(case, How(1, 1, 0, False, "kept"), **lengths(case, 5, 5))
    one.run()
    for store in one.stores.values():
        assert store.value is not None
        for entry in meta_from_ipc(store.value)["lanes"].values():
            assert len(entry["answers"]["pieces"]) <= 2


def test_windows_of_a_checkpoint_do_not_change() -> None:
    case = next(c for c in WINDOWS if c.rows)
    first_run = stream_of(case, How(1, 1, 0, False, "forgetful"), **lengths(case, 10, 5))
    first_run.run()
    again = stream_of(case, How(1, 1, 0, False, "forgetful"), **lengths(case, 20, 5))
    again.stores = first_run.stores
    with pytest.raises(CheckpointProblem, match="another --window or --step"):
        again.run()


if __name__ == "__main__":  # many
    for one in range(500):
        print(one, check(one, 4))
