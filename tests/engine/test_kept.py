"""What a call does again for the rows that an engine keeps: it encodes, judges, sorts and copies only new rows."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.laws.new_keys import codes

import occurs
from occurs.operators.frame import Index
from occurs.operators.growing import Room
from occurs.operators.rows import Rows
from occurs.operators.select import sequential
from occurs.operators.sequence import chains

RULES = """
event A(K: int, L: string, V: int) event B(K: int, L: string, V: int)
define Last(K, V) from B(K = $k) and last A(K = $k, V > 45) within 100 h from B where K = $k, V = A.V
define Both(V) from B(K = $k, L = $l) and each A(K = $k, L = $l, V > 90) within 2 s from B where V = A.V
define Mean(K, M) from B(K = $k, V > 95) where K = $k, M = AVG(A(K = $k).V) within 5 s from B
"""


def table(rng: np.random.Generator, first: int, n: int) -> pa.Table:
    keys = rng.integers(0, 500, n)
    return pa.table({
        "type": rng.choice(["A", "B"], n), "time": np.arange(first, first + n), "K": keys,
        "L": [f"l{k % 7}" for k in keys], "V": rng.integers(0, 100, n),
    })  # fmt: skip


LARGE = pytest.param(10_000, 1_000_000, marks=pytest.mark.slow)


@pytest.mark.parametrize(("few", "many"), [(2_000, 60_000), LARGE])
def test_values_encoded_per_call_do_not_depend_on_the_rows_kept(few: int, many: int) -> None:
    encoded = []
    for kept in (few, many):
        rng = np.random.default_rng(2)
        live = occurs.parse(RULES).live(time_unit="ms")
        live.push_many(table(rng, 0, kept))
        live.push_many(table(rng, kept, 1_000))
        assert live._engine.state.rows() > kept / 3
        live.push_many(table(rng, kept + 1_000, 1_000))
        encoded.append(live._engine.codes.cells)
    assert encoded[0] == encoded[1] > 0


def test_a_call_without_a_terminator_keeps_what_is_known_of_the_past() -> None:
    """Rules that differ in a constant run together; where none of them begins, their index stays for the next call."""
    rules = "".join(
        f"define R{n}(K) from B(K = $k, V > {n}) and last A(K = $k, V > {n}) within 100 h from B where K = $k;\n"
        for n in range(40)
    )
    encoded = []
    for kept in (2_000, 60_000):
        rng = np.random.default_rng(2)
        live = occurs.parse("event A(K: int, V: int) event B(K: int, V: int)\n" + rules).live(time_unit="ms")
        for call in range(5):
            rows = table(rng, kept + 100 * call, 100) if call else table(rng, 0, kept)
            low = np.arange(len(rows)) >= (0 if call % 2 else len(rows) - 1)  # the last instant waits for the next call
            found = live.push_many(rows.set_column(4, "V", pa.array(np.where(low, -1, rows["V"].to_numpy()))))
            assert (len(found) > 0) == (call % 2 == 0)
        encoded.append(live._engine.codes.cells)
    assert 0 < encoded[1] <= encoded[0]


@pytest.mark.parametrize(("few", "many"), [(4_000, 120_000), LARGE])
def test_entries_moved_per_call_do_not_depend_on_the_rows_kept(few: int, many: int) -> None:
    """Columns, codes and indexes grow in place: over many calls, less than twice the new entries are moved."""
    moved = []
    for kept in (few, many):
        rng = np.random.default_rng(3)
        live = occurs.parse(RULES).live(time_unit="ms")
        live.push_many(table(rng, 0, kept))
        live.push_many(table(rng, kept, 1_000))  # everything moves into rooms here
        before = Room.moved
        for call in range(1, 21):
            live.push_many(table(rng, kept + 1_000 * call, 1_000))
        moved.append(Room.moved - before)
    # 30 arrays grow; 60,000 rows more are as much room as there is with 120,000
    assert moved[1] <= moved[0] <= 30 * 2 * 20_000


@pytest.mark.slow
def test_codes_of_ten_million_keys_that_never_return_are_freed() -> None:
    text = "define R(K) from B(K = $k) and last A(K = $k) within 25 s from B where K = $k"
    live = occurs.parse(f"event A(K: int) event B(K: int) {text}").live(time_unit="ms")
    for call in range(1_000):
        keys = np.arange(10_000 * call, 10_000 * (call + 1))
        live.push_many(pa.table({"type": np.where(keys % 2, "A", "B"), "time": keys, "K": keys}))
        if call % 100 == 99:
            assert codes(live._engine) <= 4 * live._engine.state.rows()
    assert live._engine.state.rows() == 12_500


CONSUMING = """
event A(K: int, V: int) event B(K: int, V: int)
define Used(K, V) from B(K = $k) and last A(K = $k) within 100 h from B where K = $k, V = A.V consuming A
"""
CHAIN = """
create schema A(K int, V int); create schema B(K int, V int);
insert into Pair select a.K as K from pattern [every a=A -> b=B(K = a.K, V > 50) where timer:within(100 hours)];
"""


@pytest.mark.parametrize(("language", "rules", "where", "name", "size"), [
    ("tesla", CONSUMING, sequential.Pool, "arrays", lambda pool: pool.size),
    ("epl", CHAIN, chains.ChainCall, "_looked_up", lambda call, tokens, step: len(tokens)),
])  # fmt: skip
def test_only_keys_of_new_events_are_looked_at(
    language: str, rules: str, where: type, name: str, size: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a rule that consumes lays out, and the partial matches that look for an event, do not grow with all keys."""
    looked, own = [], getattr(where, name)

    def counted(*given: Any) -> Any:
        looked.append(size(*given))
        return own(*given)

    monkeypatch.setattr(where, name, counted)
    sizes = []
    for keys in (5_000, 100_000):
        live = occurs.parse(rules, language).live(time_unit="ms")
        first, new = np.arange(keys), np.arange(500)
        live.push_many(pa.table({"type": ["A"] * keys, "time": first, "K": first, "V": first % 100}))
        for call in range(3):
            looked.clear()
            time = keys + 1_000 * call + new
            table = pa.table({"type": ["B"] * 500, "time": time, "K": 7 * new + call, "V": 60 + new % 9})
            found = live.push_many(table)
        assert len(found) > 400
        sizes.append(sum(looked))
    assert 0 < sizes[1] <= sizes[0] < 5_000


def test_calls_that_go_on_from_one_state_do_not_see_each_other() -> None:
    """What is kept grows in place, also where a call went on from it that was not to last."""
    rng = np.random.default_rng(5)
    whole, program = table(rng, 0, 6_000), occurs.parse(RULES)
    plain, looked = program.live(time_unit="ms"), program.live(time_unit="ms")
    for at in range(0, len(whole), 500):
        part = whole.slice(at, 500)
        assert looked.push_many(part) == plain.push_many(part)
        other = program.live(time_unit="ms")
        other._engine.state = looked._engine.state.copy()
        other.push_many(table(rng, at + 500, 400))
    assert looked.close() == plain.close()


@pytest.mark.parametrize("size", [1, 37, 400])
def test_answer_is_that_of_one_call(size: int) -> None:
    """Rows leave the past while others come; groups grow, shrink, begin and end."""
    rng = np.random.default_rng(size)
    whole = table(rng, 0, 6_000 if size > 1 else 900)
    rules = RULES.replace("100 h", "700 ms").replace("2 s", "300 ms").replace("5 s", "400 ms")
    program = occurs.parse(rules)
    live = program.live(time_unit="ms")
    found = [row for at in range(0, len(whole), size) for row in live.push_many(whole.slice(at, size))] + live.close()
    wanted = program.detect(whole, time_unit="ms")
    rows = [{"type": t, **row} for t in wanted for row in wanted[t].to_pylist()]
    assert sorted(map(str, found)) == sorted(map(str, rows))
    assert len(found) > 20


@pytest.mark.usefixtures("frozen")
def test_a_call_holds_nothing_of_the_calls_before_the_last() -> None:
    rng, alive = np.random.default_rng(4), []
    live = occurs.parse(RULES).live(time_unit="ms")
    for call in range(12):
        live.push_many(table(rng, 500 * call, 500))
        gc.collect()
        alive.append(sum(isinstance(o, Rows | Index) for o in gc.get_objects()))
    assert alive[11] <= alive[4]
