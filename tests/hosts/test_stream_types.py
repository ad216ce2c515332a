"""A stream with many types of detections: a call gives one record of all of them, and a sink decodes each once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from instream import How, InStream

import occurs
from counting import lines, superlinear
from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.hosts.spark.wide import Wide, wide_rows
from occurs.hosts.stream import batches as sink
from occurs.hosts.stream import bucket, bucket_rows
from occurs.hosts.stream.bucket_rows import Shown, make_reader
from occurs.hosts.stream.records import FOUND, SCHEMA, from_blob, records
from occurs.model.history import InputOptions

BUCKETS = 2


def stream(n: int, because: bool = False) -> InStream:
    """n rules with an output type, and an attribute, of their own."""
    text = "".join(
        f"define R{i}(K, V{i}) from A(k = $k, v > {i % 3}) and last B(k = $k) within 5 s from A "
        f"where K = $k, V{i} = B.v;\n"
        for i in range(n)
    )
    rows = 24
    columns = {"time": np.arange(rows) * 100, "k": np.arange(rows) % 5, "v": np.arange(rows) % 7}
    tables = {"A": pa.table(columns), "B": pa.table(columns)}
    how = How(buckets=BUCKETS, size=None, because=because, divide=1)
    return InStream(occurs.parse(text, language="tesla"), tables, InputOptions(time_unit="ms"), how)


def given(made: InStream) -> pa.Table:
    """The records of one micro-batch with all rows."""
    return made.micro_batch(made.rows, True)


def test_all_types_of_a_call_are_in_one_record():
    rows = given(stream(30))
    assert sum(r.kind == FOUND for r in records(rows)) <= BUCKETS


def test_a_sink_decodes_each_record_once(monkeypatch):
    made = stream(30)
    rows = given(made)
    decoded = counted(monkeypatch, sink)
    found = made.query.read(rows).found
    assert sum(len(t) > 0 for t in found.values()) == 30
    assert len(decoded) == sum(r.kind == FOUND for r in records(rows))


def test_a_task_decodes_each_record_once(monkeypatch):
    made = stream(30)
    rows = given(made)
    decoded = counted(monkeypatch, bucket_rows)
    reader = make_reader(Shown.of(made.layout.paths, made.stage.reported, False, False))
    found = pa.Table.from_batches(list(reader(iter(rows.to_batches()))))
    assert len(set(found.column("type").to_pylist())) == 30
    assert len(decoded) == sum(r.kind == FOUND for r in records(rows))


def test_side_by_side_a_row_has_the_attributes_of_its_type_only():
    made = stream(30)
    shown = Shown.of(made.layout.paths, made.stage.reported, False, False)
    table = pa.Table.from_batches(list(make_reader(shown)(iter(given(made).to_batches()))))
    assert len(table) > 30
    for row in table.to_pylist():
        there = {name for n, (name, _) in enumerate(shown.attributes) if row[f"a{n}"] is not None}
        assert there == {"K", "V" + row["type"][1:]}


def counted(monkeypatch: pytest.MonkeyPatch, module: object) -> list[bytes]:
    """The blobs that ``module`` decodes."""
    seen: list[bytes] = []
    decode: Callable[[bytes], pa.Table] = module.from_blob

    def from_blob(blob: bytes) -> pa.Table:
        seen.append(blob)
        return decode(blob)

    monkeypatch.setattr(module, "from_blob", from_blob)
    return seen


def test_twice_the_types_are_twice_the_cells_in_records():
    """Though each type has an attribute of its own name: types share columns."""

    def cells(n: int) -> int:
        found = [from_blob(r.blob) for r in records(given(stream(n))) if r.kind == FOUND]
        return sum(table.num_rows * table.num_columns for table in found)

    assert 0 < cells(80) <= 2.1 * cells(40)


@pytest.mark.parametrize("where", ["sink", "task"])
def test_twice_the_types_are_twice_the_work(where):
    def work(n: int) -> dict[str, int]:
        made = stream(n)
        rows = given(made)
        if where == "sink":
            return lines(lambda: made.query.read(rows))
        reader = make_reader(Shown.of(made.layout.paths, made.stage.reported, False, False))
        return lines(lambda: list(reader(iter(rows.to_batches()))))

    few, many = work(40), work(80)
    assert not superlinear(few, many)
    assert sum(many.values()) <= 2.1 * sum(few.values())


@pytest.mark.parametrize("because", [False, True])
def test_a_micro_batch_of_twice_the_types_is_twice_the_work(because):
    def work(n: int) -> dict[str, int]:
        made = stream(n, because)
        made.micro_batch(made.rows.slice(0, 4))
        return lines(lambda: made.micro_batch(made.rows.slice(4), True))

    assert not superlinear(work(40), work(80))


def rare(n: int, more: str = "", because: bool = False) -> InStream:
    """n rules with an output type of their own, of which those with an even number find nothing; but for the first 20
    they read a type that does not come."""
    text = ""
    for i in range(n):
        read, least = "A" if i < 20 else "C", 100 if i % 2 == 0 else i
        text += f"define R{i}(K) from {read}(k = $k, v > {least}) and last B(k = $k) within 5 s from {read} "
        text += "where K = $k;\n"
    rows = 24
    columns = {"time": np.arange(rows) * 100, "k": np.arange(rows) % 5, "v": np.arange(rows) % 30}
    tables = {t: pa.table(columns) for t in "ABC"}
    tables["C"] = tables["C"].slice(0, 1)
    how = How(buckets=BUCKETS, size=None, because=because, divide=1, share=0)
    return InStream(occurs.parse(text + more, language="tesla"), tables, InputOptions(time_unit="ms"), how)


@pytest.mark.parametrize("change", [False, True])
def test_twice_the_types_that_find_nothing_are_no_work(change: bool):
    """Neither of a bucket that is remembered, nor of one that is read: what all rules have in common is there."""

    def work(n: int) -> list[dict[str, int]]:
        made = rare(n)
        made.micro_batch(made.rows.slice(0, 4))
        if change:
            first, made = made, rare(n, "define New(K) from A(k = $k, v > 3) where K = $k;")
            made.stores = first.stores
            made.micro_batch(made.rows.slice(4, 4))
        else:
            made.micro_batch(made.rows.slice(4, 4))
        known = lines(lambda: made.micro_batch(made.rows.slice(8, 12)))
        bucket._memories.clear()
        return [known, lines(lambda: made.micro_batch(made.rows.slice(20, 12)))]

    for few, many in zip(work(640), work(1_280), strict=True):
        # there are 10 operators more, but nothing is done once for every rule
        more = {f: n - few.get(f, 0) for f, n in many.items() if not f.startswith("operators/kernels/")}
        assert {f: n for f, n in more.items() if n >= 640} == {}


def test_rows_of_an_operator_are_one_table_as_type_by_type(monkeypatch):
    """Of rules that one operator evaluates, with labels and without."""
    for because, label in ((False, False), (False, True), (True, True)):
        answers = []
        for apart in (False, True):
            made = rare(40, because=label)
            engine = Engine(made.stage, labelled=label)
            wide = Wide.of(made.stage, label, because)
            rows = wide_rows(made.stage, made.layout.paths[0].inlets, made.rows, label, made.layout.types)
            found = engine.advance(rows, 10_000, 0)
            assert list(found.joint_tables(found.found(), label=label))
            if apart:
                monkeypatch.setattr(TypeRows, "joint_tables", lambda *given, **options: iter(()))
            table = pa.Table.from_batches(list(wide.batches(found, made.stage)), wide.schema)
            monkeypatch.undo()
            answers.append(table.take(pc.sort_indices(table, [("__type", "ascending"), ("__time", "ascending")])))
            assert set(table.column("__type").to_pylist()) == set(range(1, 20, 2))
        assert answers[0].equals(answers[1])


def test_rows_of_every_type_have_the_columns_of_their_type():
    found = stream(3).query.read(given(stream(3))).found
    empty = stream(3).query.read(SCHEMA.empty_table()).found
    for t, table in found.items():
        assert table.schema == empty[t].schema
        assert set(table.column("type").to_pylist()) == {t}
        assert table.column("time").to_pylist() == sorted(table.column("time").to_pylist())
        assert len(table)
