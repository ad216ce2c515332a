"""Detections that stay with the tasks of Spark: the same rows as those that come to the driver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filestream import Folder
from instream import How, InStream
from streamprograms import EVERYTHING, events

import occurs
from occurs.connect.writers import one_table, typed
from occurs.hosts.stream import batches
from occurs.model.history import InputOptions
from spreading import sorted_rows

OPTIONS = InputOptions(time_unit="ms")


@pytest.mark.parametrize("seed", [0, 3])
def test_everything_in_this_process(seed: int) -> None:
    stream = InStream(occurs.parse(EVERYTHING), [_source(events(300, seed))], OPTIONS, How(size=90, seed=seed))
    found = stream.run().found
    assert len(found) > 300
    # with seed 0 all stay with the tasks; with seed 3 those of tasks that have few come to the driver
    assert stream.spread == len(found) if seed == 0 else 0 < stream.spread <= len(found)


def _source(table: pa.Table) -> Any:
    from occurs.model.source import Source

    return Source(table, None, "events")


@pytest.mark.spark
@pytest.mark.parametrize("most", [0, 1 << 26])
def test_dataframes_of_a_micro_batch(live: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(batches, "MOST", most)
    folder = Folder(tmp_path / "in")
    folder.put(events(400))
    program = occurs.parse(EVERYTHING)
    found = program.detect(folder.stream(live, events(1).schema), time_unit="ms", with_label=True)
    query = found.query()
    got: list[Any] = []

    def take(frame: Any, number: int) -> None:
        plain = query.read(frame.toArrow())
        with query.batch(frame) as done:
            assert done.counts == plain.counts
            assert (done.spread is not None) == (most == 0)
            if done.spread is None:
                assert done.found == plain.found
            else:
                filled = {t: typed(t, table) for t, table in plain.found.items() if len(table)}
                assert set(done.spread) == set(filled)
                whole = one_table(filled)
                assert sorted_rows(done.spread.together().toArrow().select(whole.column_names)) == sorted_rows(whole)
                for t, table in filled.items():
                    assert sorted_rows(done.spread[t].toArrow()) == sorted_rows(table)
        assert not frame.is_cached
        got.append(plain.counts)

    writer = query.frame.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.outputMode("append").trigger(availableNow=True).start().awaitTermination()
    assert sum(sum(counts.values()) for counts in got) > 100
