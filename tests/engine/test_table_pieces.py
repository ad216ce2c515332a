"""Tables that operators keep are written as what has changed, and read as they were."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occurs
from occurs.engine import table_pieces
from occurs.engine.engine import Engine
from occurs.engine.saved_pieces import Ledger, Saved
from occurs.engine.state import from_ipc, to_ipc
from occurs.engine.table_pieces import FEW, PLACE, assembled, change, numbers

SCHEMA = pa.schema([
    ("n", pa.int64()), ("x", pa.float64()), ("s", pa.string()), ("b", pa.bool_()), ("l", pa.list_(pa.int64())),
])  # fmt: skip


def row(rng: random.Random) -> dict[str, Any]:
    """A row of which there may be several."""
    return {
        "n": rng.choice([None, 0, 1, 2**62, -1]),
        "x": rng.choice([None, 0.0, -0.0, 1.5, float("nan")]),
        "s": rng.choice([None, "", "a", "é"]),
        "b": rng.choice([None, True, False]),
        "l": rng.choice([None, [], [1], [1, 2], [2, 1], [None]]),
    }


@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False))
def test_pieces_are_the_table(rng: random.Random) -> None:
    """Rows are removed, added, changed and moved at random; most rows stay."""
    rows = [row(rng) for _ in range(FEW + 20)]
    table = pa.Table.from_pylist(rows, SCHEMA)
    pieces = [table]
    for _ in range(4):
        for _ in range(rng.randrange(12)):
            at = rng.randrange(len(rows))
            match rng.randrange(4):
                case 0:
                    del rows[at]
                case 1:
                    rows.insert(at, row(rng))
                case 2:
                    rows[at] = row(rng)
                case 3:
                    rows.insert(rng.randrange(len(rows)), rows.pop(at))
        after = pa.Table.from_pylist(rows, SCHEMA)
        found = change(table, after, numbers(table), numbers(after))
        if found is None:
            assert len(rows) < FEW
            return
        assert len(found) <= 300
        pieces.append(found)
        table = after
        assert str(assembled(pieces).to_pylist()) == str(table.to_pylist())


def test_change_has_the_changed_rows_only() -> None:
    before = pa.table({"n": np.arange(1000), "s": [f"s{n % 7}" for n in range(1000)]})
    after = pa.concat_tables([before.slice(1, 499), before.slice(501), pa.table({"n": [1000, 1001], "s": ["a", "b"]})])
    found = change(before, after, numbers(before), numbers(after))
    assert found is not None
    assert found.select(["n", PLACE]).to_pylist() == [
        {"n": 1000, PLACE: 998}, {"n": 1001, PLACE: 999}, {"n": None, PLACE: 0}, {"n": None, PLACE: 500},
    ]  # fmt: skip


def test_lists_of_small_numbers_have_numbers_of_their_own() -> None:
    lists = [[], None, [None], *([a] for a in range(9)), *([a, b] for a in range(9) for b in range(9))]
    found = numbers(pa.table({"l": pa.array(lists * 4, pa.list_(pa.int64()))}))
    assert len(set(found.tolist())) == len(lists)


def test_lists_of_empty_lists_are_compared() -> None:
    table = pa.table({"n": np.arange(400), "l": pa.array([[[], []]] * 400, pa.list_(pa.list_(pa.int64())))})
    after = table.slice(1)
    found = change(table, after, numbers(table), numbers(after))
    assert found is not None
    assert len(found) == 1


def test_equal_numbers_of_unequal_rows_are_noticed() -> None:
    before, after = pa.table({"n": np.arange(400)}), pa.table({"n": np.arange(400) + 1})
    same = np.arange(400).astype(np.uint64)
    assert change(before, after, same, same) is None


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(pa.table({"n": np.arange(3)}), id="short"),
        pytest.param(pa.table({"m": np.arange(400)}), id="other columns"),
        pytest.param(pa.table({"n": np.arange(400) + 399}), id="hardly a row stays"),
    ],
)
def test_table_is_written_whole(other: pa.Table) -> None:
    before = pa.table({"n": np.arange(400)})
    assert change(before, other, numbers(before), numbers(other)) is None


def test_structs_are_not_compared() -> None:
    table = pa.table({"r": [{"a": n} for n in range(300)]})
    assert len(numbers(table)) == 0
    assert change(table, table, numbers(table), numbers(table)) is None


def test_ledger_writes_a_table_whole_when_changes_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("occurs.engine.saved_pieces.CHANGES", 3)
    ledger, disk = Ledger(), dict[str, pa.Table]()
    lengths, known, table = [], None, pa.table({"n": np.arange(300)})
    for n in range(8):
        known = ledger._table("t", known, table, disk.__setitem__, disk.pop)
        assert isinstance(known, Saved)
        assert sorted(disk) == sorted(known.pieces)
        assert assembled([disk[name] for name in known.pieces]).equals(table)
        lengths.append(len(known.pieces))
        table = pa.concat_tables([table, pa.table({"n": [-n]})])
    assert lengths == [1, 2, 3, 4, 1, 2, 3, 4]


PROGRAMS = {
    "TESLA": """event A(K: int, V: int) event B(K: int, V: int)
        define R(K) from B(K = $k) and last A(K = $k, V > 5) within 10 h from B where K = $k""",
    "EPL, a chain": """create schema A(K int, V int); create schema B(K int, V int);
        insert into R select a.K as K
        from pattern [every a=A(V > 5) -> b=B(K = a.K, V > 90) where timer:within(9 hours)];""",
    "EPL, a machine": """create schema A(K int, V int); create schema B(K int, V int);
        insert into R select a.K as K from pattern [every-distinct(a.K) a=A(V > 5) -> b=B(K = a.K, V > 90)];""",
    "Phenesthe": "input event A(K: int, V: int), B(K: int, V: int). state R(K) : A(K, V) ~> B(K, W).",
    "FTL": """table A (K int key, V int) table B (K int key, V int)
        trigger r for each k in (select K from A): eventually [x <- A(k)] eventually within 1 h (B(k) >= x + 40)
            emit R(K = k)""",
    "eSQL": "DEFINE R AS SLICE EACH A WITH (THE SUM OF *.V) ON K.",
    "MATCH_RECOGNIZE": """select * from A match_recognize (partition by K order by time measures X.V as v, Y.V as w
        one row per match after match skip past last row pattern (X Y) within interval '10' hour
        define X as V > 5, Y as V > 90)""",
}  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("keys", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bytes_written_per_call(name: str, keys: int) -> None:
    """A call writes at most four times the bytes of its rows, however many keys are alive."""
    language = {"EPL": "epl", "FTL": "ftl"}.get(name.split(",")[0], name.lower())
    schemas = {t: {"K": "int", "V": "int"} for t in "AB"} if language in ("esql", "match_recognize") else None
    live = occurs.parse(PROGRAMS[name], language).live(schemas, time_unit="ms")
    rng, size = np.random.default_rng(3), 2_000

    def rows(first: int, keys: np.ndarray) -> pa.Table:
        n = len(keys)
        type = pa.array(np.where(rng.random(n) < 0.7, "A", "B"))
        return pa.table({"type": type, "time": np.arange(first, first + n), "K": keys, "V": rng.integers(0, 100, n)})

    live.push_many(rows(0, np.arange(keys)))
    ledger, disk, written, given = Ledger(), dict[str, int](), 0, 0

    def put(name: str, table: pa.Table) -> None:
        nonlocal written
        disk[name] = len(to_ipc(table))
        written += disk[name]

    for call in range(13):
        if call == 1:
            written = 0  # the first one writes everything
        if call:
            table = rows(keys + size * call, rng.integers(0, keys, size))
            given += table.drop_columns("type").nbytes
            live.push_many(table)
        ledger.write(live._engine.state, {d.place: d.identity for d in live.stage.definitions}, put, disk.pop)
    assert written <= 4 * given
    assert table_pieces.FEW == FEW


def test_row_numbers_of_version_2_are_read() -> None:
    """Version 2 of the format has the row numbers of an EPL machine as they are, version 3 has their differences."""
    rng = np.random.default_rng(5)
    table = pa.table({
        "type": rng.choice(["A", "B"], 300), "time": np.arange(300), "K": rng.integers(0, 40, 300),
        "V": rng.integers(0, 100, 300),
    })  # fmt: skip
    program = occurs.parse(PROGRAMS["EPL, a machine"], "epl")
    wanted = program.detect(table, time_unit="ms")["R"].to_pylist()
    live = program.live(time_unit="ms")
    found = live.push_many(table.slice(0, 150))
    pieces, renamed = live._engine.save(), 0
    for name, data in pieces.items():
        piece = from_ipc(data)
        for column in [c for c in piece.column_names if c.endswith(" step")]:
            whole = pa.array(np.cumsum(piece[column].to_numpy()))
            piece = piece.drop_columns(column).append_column(column.removesuffix(" step"), whole)
            renamed += 1
        pieces[name] = to_ipc(piece)
    assert renamed >= 3
    live._engine = Engine.restore(live.stage, pieces)
    found += live.push_many(table.slice(150)) + live.close()
    assert [(row["time"], row["K"]) for row in found] == [(row["time"], row["K"]) for row in wanted]
    assert found
