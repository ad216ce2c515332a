"""The family and the language of ``tests/operators/stranger`` on Spark: in batch, and on a stream over a restart.

Their classes are sent to the workers by value, as those of a notebook are: no file of theirs is installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filestream import Folder, Followed, cut
from hostcases import here, labelled, on_spark
from pyspark import cloudpickle

import occurs
from occurs.program import Program
from summits import MIXED, SUMMITS, beside_the_languages, readings

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def language_of_summits() -> Iterator[None]:
    with beside_the_languages():
        family = importlib.import_module("occurs.languages.summits.family")
        cloudpickle.register_pickle_by_value(family)
        yield
        cloudpickle.unregister_pickle_by_value(family)


@pytest.mark.share(4)
@pytest.mark.parametrize("names", [("summits",), ("summits", "epl", "tesla")])
@pytest.mark.parametrize("partitions", [1, 3])
def test_in_batch(spark: Any, names: tuple[str, ...], partitions: int) -> None:
    program = Program([(MIXED[n] if len(names) > 1 else SUMMITS, None, n) for n in names])
    options = {"time_unit": "s", "because": True}
    wanted = here(program, {"Reading": readings(4)}, **options)
    found = on_spark(spark, program, {"Reading": readings(4)}, partitions=partitions, **options)
    assert labelled(found) == labelled(wanted)
    assert {e.type for e in wanted} >= {"Highest"}


@pytest.mark.slow
def test_on_a_stream_that_is_restarted(live: Any, tmp_path: Path) -> None:
    rows = readings(5)
    table = rows.add_column(0, "type", pa.array(["Reading"] * len(rows)))
    program = occurs.parse(SUMMITS, language="summits")
    parts = cut(table, 4)
    options = {"time_unit": "s", "because": True, "partitions": 2}
    got = Followed(live, program, Folder(tmp_path / "in"), parts[0].schema, tmp_path / "checkpoint", options)
    for some in (parts[:2], parts[2:]):  # each query begins with the state that the one before has left
        for part in some:
            got.folder.put(part)
        got.run()
    got.close()
    assert (got.runs, got.total("rows"), got.total("late")) == (3, 60, 0)
    wanted = here(program, {"Reading": rows}, time_unit="s", because=True)
    assert labelled(got.found) == labelled(wanted)
    assert len(wanted) > 3
