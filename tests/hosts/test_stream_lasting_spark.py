"""What lasts on Structured Streaming: the answers of the text cases and of programs of two languages, over restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filestream import Folder, Followed, collected, cut, disordered, follow
from lastingcases import in_programs, lines_of
from test_stream_mixed import LASTING, RULES, program, random_tables, told

import occurs

pytestmark = pytest.mark.spark


def rows_of(got: Followed) -> dict[str, pa.Table]:
    return {t: pa.concat_tables([b.found[t] for _, b in sorted(got.batches.items())]) for t in got.batches[0].found}


def test_cases_as_one_program(live: Any, tmp_path: Path) -> None:
    one = max(in_programs()[0], key=lambda p: len(p.cases))
    table = disordered(one.table, 10, 1)
    got = follow(live, one.program, [table], tmp_path, facts=one.facts, watermark=10, partitions=2, **one.options)
    assert lines_of(rows_of(got)) == one.expected
    assert (got.total("rows"), got.total("late"), len(got.batches)) == (len(table), 0, 2)


@pytest.mark.long
def test_two_languages_with_labels(live: Any, tmp_path: Path) -> None:
    """Rules that run behind what is delayed."""
    tables = random_tables(1)
    table = pa.concat_tables([t.append_column("type", pa.array([name] * len(t))) for name, t in tables.items()])
    rules = program(RULES, LASTING)
    local = rules.detect(dict(tables), with_label=True)
    got = follow(live, rules, cut(disordered(table, 9, 2), 2), tmp_path, watermark=9, with_label=True, partitions=2)
    assert told(rows_of(got)) == told({t: local.arrow(t) for t in local})


@pytest.mark.long
def test_a_row_that_lasts_comes_at_its_time_and_its_end_is_shown(live: Any, tmp_path: Path) -> None:
    rules = occurs.parse("input state p(K), q(K). state o(K) : p(K) ⊔ q(K). event e(K) : start(p(K)).", "phenesthe")
    columns = {"type": ["p", "q", "p", "x"], "time": [1, 4, 20, 40], "end": [5, 9, None, None], "K": [1, 1, 2, None]}
    folder = Folder(tmp_path / "in")
    folder.put(pa.table({n: pa.array(v, pa.string() if n == "type" else pa.int64()) for n, v in columns.items()}))
    bad = {"type": ["o", "p", "e"], "time": [50, 51, 60], "end": [52, 50, 61], "K": [1, 1, 1]}
    folder.put(pa.table({n: pa.array(v, pa.string() if n == "type" else pa.int64()) for n, v in bad.items()}))
    schema = pa.schema([("type", pa.string()), *((n, pa.int64()) for n in ("time", "end", "K"))])
    found = rules.detect(folder.stream(live, schema), time_unit="s", partitions=2, bad_rows="skip")
    rows = collected(live, found.together(), tmp_path)
    assert rows.column_names == ["type", "time", "end", "K"]
    assert lines_of({"": rows}) == lines_of({"": pa.table({
        "type": ["e", "e", "o"], "time": [1, 20, 1], "end": pa.array([None, None, 9], pa.int64()), "K": [1, 2, 1],
    })})  # fmt: skip
    assert found.bad is not None
    reasons = collected(live, found.bad, tmp_path).column("reason").to_pylist()
    assert sorted(reasons) == ["end before time", *["row of a type that the rules derive"] * 2]
