"""Keys that come and go, in every language: their codes are freed, and nothing else is kept of them."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.newkeys import PROGRAMS, SPAN, Mark, Prepared, report, soak
from instream import How, InStream
from tests.amount import amount
from tests.laws.contract import cut
from tests.laws.epl import Subject
from tests.laws.new_keys import codes, held, new_keys
from tests.textcases import epl

import occurs
from occurs.engine.engine import Engine
from occurs.hosts.local import history_rows
from occurs.hosts.stream import bucket
from occurs.model.history import InputOptions
from occurs.operators import codes as keycodes
from occurs.operators.codes import Renewal
from occurs.operators.process.columns import of_numpy
from occurs.operators.process.processors.slices import Slots

CASES = Path(__file__).parents[1] / "cases"
#: those in which codes outlive a call
CODED = [n for n in PROGRAMS if "columns" in n or n.startswith(("TESLA, last", "TESLA, negation", "Phenesthe"))]
#: those with dictionaries of Python, which keep their room
PLAIN = ("FTL, state by state", "FTL, state by state, a condition", "FTL, SQL")
#: a program of all languages over the events A and B and the table L
MIXED = (
    ("define T(K) from B(k = $k, n = $n) and last A(k = $k, n = $n) within 20 s from B where K = $k", "tesla"),
    ("@Name('E') select a.k as k from pattern [every a=A -> b=B(k=a.k) where timer:within(20 sec)];", "epl"),
    (
        "input event A(k, n), B(k, n).\nstate P(K) : A(K, _) ~> B(K, _).\nstate Q(K) : filter(P(K), at_least(3)).",
        "phenesthe",
    ),
    (
        "table L(k string key, n int)\n"
        "trigger F for each y in (select k from L): eventually within 15 (L(y) > 0) continue",
        "ftl",
    ),
    ("DEFINE S AS SLICE EACH (EVENTS OF A, B) WITH (THE COUNT OF *) ON k UNTIL $0 >= 2.", "esql"),
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dictionaries are looked at sooner."""
    monkeypatch.setattr(keycodes, "FEW", 64)


def flat(sizes: Sequence[int], name: str) -> None:
    """From the first half to the second nothing grows; a dictionary may be a little fuller."""
    half = len(sizes) // 2
    assert max(sizes[half:]) <= 1.2 * max(sizes[half // 4 : half]) + 2000, f"{name}: {sizes}"


# --- when dictionaries are replaced -----------------------------------------------------------------------------------


def test_a_dictionary_is_replaced_when_most_codes_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keycodes, "FEW", 10)
    renewal, asked = Renewal(), []

    def due(codes: int, cells: int) -> bool:
        return renewal.due(codes, lambda: asked.append(codes) or cells)

    assert [due(9, 0), due(10, 5), due(19, 0), due(20, 9), due(9, 0), due(10, 4)] == [False] * 3 + [True, False, True]
    assert asked == [10, 20, 10]


@pytest.mark.share(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_codes_follow_the_rows(name: str) -> None:
    """The law of forgetting; in two calls keys come and go."""
    prepared = Prepared.of(name, 5)
    rows = {t: first for part in prepared.first for t, first in part.items() if len(first)}
    new_keys(prepared.stage, rows, (0, 2 * SPAN - 1))


@pytest.mark.parametrize("name", CODED)
def test_the_law_notices_codes_that_are_not_freed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Renewal, "due", lambda *_: False)
    with pytest.raises(AssertionError, match="codes for"):
        test_codes_follow_the_rows(name)


@pytest.mark.parametrize("case", [c for c in epl.load_cases(CASES / "epl" / "paper.md") if c.error is None], ids=str)
def test_codes_follow_the_rows_of_text_cases(case: epl.EplCase) -> None:
    """Those of other languages are in their laws."""
    subject = Subject(case)
    assert subject.clock is not None
    new_keys(subject.stage, subject.rows(False), subject.clock, 10)


# --- many calls -------------------------------------------------------------------------------------------------------


def marks(name: str, calls: int, keys: int, parts: int) -> list[Mark]:
    return list(soak(Prepared.of(name, keys), calls, parts))


@pytest.mark.share(4)
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_kept_of_keys_that_are_gone(name: str) -> None:
    flat([m.held for m in marks(name, 300, 10, 30)], name)


@pytest.mark.share(4)
@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_call_holds_on_to_the_columns_of_the_one_before(name: str) -> None:
    """A view of a table in the next table keeps both, and so one more with every call."""
    counts = []
    for _ in soak(Prepared.of(name, 5), amount(24, 60), 6):
        gc.collect()
        counts.append(sum(type(o) is pa.ChunkedArray for o in gc.get_objects()))
    assert max(counts[3:]) <= max(counts[:3]) + 5, counts


@pytest.mark.long
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_kept_of_very_many_keys(name: str) -> None:
    found = marks(name, 100_000, 10, 40)
    flat([m.held for m in found], name)
    assert found[-1].process <= found[10].process + 20, name


@pytest.mark.usefixtures("few")
def test_events_one_by_one() -> None:
    """In all languages at once."""
    program = occurs.Program([(text, None, language) for text, language in MIXED])
    live = program.live({t: {"k": "string", "n": "int"} for t in "AB"}, time_unit="s")
    found, sizes = 0, []
    for number in range(amount(240, 1200)):
        row = {"k": f"key {number}", "n": number}
        before = {"k": f"key {number - 1}", "n": number - 1}
        for type, attributes in (("A", row), ("L", row), ("B", before), ("L", {**before, "n": None, "op": "delete"})):
            found += len(live.on_event(type, 10 * number, attributes))
        if number % 30 == 29:
            sizes.append(held(live))
    assert found > 5.5 * (number + 1)
    flat(sizes, "live")


@pytest.mark.usefixtures("few")
def test_the_buckets_of_a_stream() -> None:
    """What they remember, and what they write."""
    program = occurs.Program([(text, None, language) for text, language in MIXED])
    number = np.arange(amount(240, 600))
    names = pa.array([f"key {i}" for i in number])
    events = {t: pa.table({"time": 10 * number + late, "k": names, "n": number}) for t, late in (("A", 0), ("B", 8))}
    rows = pa.table({"time": 10 * number, "k": names, "n": number, "op": pa.nulls(len(number), pa.string())})
    gone = rows.set_column(0, "time", pa.array(10 * number + 8)).set_column(3, "op", pa.array(["delete"] * len(number)))
    stream = InStream(
        program, {**events, "L": pa.concat_tables([rows, gone])}, InputOptions(time_unit="s"), How(2, 24, because=False)
    )
    sizes, written = [], []
    for part in stream.cut():
        stream.micro_batch(part)
        memories = [m for (token, *_), m in bucket._memories.items() if token == stream.layout.token]
        sizes.append(sum(held(seat.engine) + held(seat.waiting) for m in memories for seat in m.seats.values()))
        written.append(sum(len(data) for store in stream.stores.values() for data in store.pieces.values()))
    assert len(sizes) == len(number) / 6
    flat(sizes, "remembered")
    flat(written, "written")


# --- the same of other numbers ----------------------------------------------------------------------------------------


@pytest.mark.share(4)
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in PLAIN])
def test_many_keys_at_once_are_forgotten(name: str) -> None:
    """After a call of many keys and calls of few there is no more than after the same calls of few alone."""
    many, few = Prepared.of(name, 1000), Prepared.of(name, 20)
    sizes = []
    for first in (many, few):
        engine = Engine(few.stage)
        for number in range(60):
            rows, frontier = (first if number < 2 else few).call(number)
            engine.advance(rows, frontier, 0)
        sizes.append(held(engine))
    assert sizes[0] <= 2 * sizes[1] + 5000, sizes


@pytest.mark.slow
def test_copies_are_numbered_anew() -> None:
    """Those of a quantifier, in slices: as many positions wait in one call as in all others together."""
    text = "DEFINE Out AS SLICE EACH A WITH (FOR ALL $i IN [1, 2] ON *.n : F (* >= $i + 100)) ON k UNTIL $0."
    program = occurs.parse(text, language="esql")
    number = np.arange(4000)
    table = pa.table({"time": number // 20, "k": number % 50, "n": np.where(number < 2000, 0, 200)})
    wanted = program.detect({"A": table}, time_unit="s")["Out"]
    for size in (1, 64):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(keycodes, "FEW", size)
            history = program.checked.history({"A": table}, InputOptions(time_unit="s"))
            stage = program.checked.plan(history.schemas, history.kind)
            engine, found = Engine(stage), []
            for frontier, part in cut(history_rows(stage, history, labelled=False), list(range(200))):
                found.append(engine.advance(part, frontier, 0).table("Out"))
            assert pa.concat_tables(found).equals(wanted)
            assert codes(engine) <= 60


def test_numbers_of_slices_stay_near_those_that_exist() -> None:
    """The table of ints is as wide as the keys of slices that exist."""
    slots = Slots()
    for number in range(3000):
        keys = np.arange(10 * number, 10 * number + 10)
        found = slots.find(of_numpy(keys), None, np.arange(10), 10 * number)
        assert slots.keys(found).pylist() == keys.tolist()
        slots.remove(found)
    assert slots.instances == 10
    assert held(slots) < 5000


def test_the_table() -> None:
    (row,) = report(40, ["TESLA, last"], 4).rows
    assert row[0] == "TESLA, last"
