"""Random programs on Spark give what they give in this process; many of them share a program."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hostcases import Batch, bare, combined, here, in_few_jobs, labelled
from tests.generators.random_tesla import random_program

from occurs.verify.compare import difference

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SEEDS = 150
LEAST = 40


def batches() -> list[Batch]:
    """The largest batches, until they have ``LEAST`` programs."""
    found, _ = combined(random_program(random.Random(seed)) for seed in range(SEEDS))
    out: list[Batch] = []
    for batch in sorted(found, key=lambda b: -len(b.cases)):
        if sum(len(b.cases) for b in out) < LEAST:
            out.append(batch)
    return out


def test_random_programs(spark: Any) -> None:
    rng = random.Random(7)
    chosen = batches()
    assert sum(len(b.cases) for b in chosen) >= LEAST
    for batch in chosen:
        options = {**batch.options, "because": rng.random() < 0.5}
        local = batch.program.detect(batch.table, **options)
        partitions = rng.randint(1, 8)
        found = batch.program.detect(spark.createDataFrame(batch.table), partitions=partitions, **options)
        rows = in_few_jobs(found, {t: local.arrow(t).schema for t in local})
        found.unpersist()
        expected = here(batch.program, batch.table, **options)
        assert difference(bare(expected), bare(rows)) is None
        if options["because"]:
            assert labelled(rows) == labelled(expected)
