"""The state of a stream: limits that are out of reach of small histories are made small, and answers stay the same."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hostcases import here, labelled
from instream import How, InStream, Store
from streamprograms import EVERYTHING, events
from tests.generators.histories import split_by_type

import occurs
from occurs.engine import saved_pieces
from occurs.engine.state import meta_from_ipc
from occurs.hosts.stream import bucket, bucket_rows, waiting
from occurs.model.history import InputOptions
from occurs.verify.compare import difference

MS = InputOptions(time_unit="ms")


def check(rules: str, tables: dict[str, pa.Table], how: How) -> InStream:
    program = occurs.parse(rules)
    stream = InStream(program, tables, MS, how)
    assert labelled(stream.run().found) == labelled(here(program, tables, because=True, time_unit="ms"))
    return stream


@pytest.mark.share(4)
@pytest.mark.parametrize("memory", ["kept", "forgetful", "crash"])
def test_few_rows_at_once(monkeypatch: pytest.MonkeyPatch, memory: str) -> None:
    """Engines that are called several times in a micro-batch, tasks that pack rows piece by piece."""
    monkeypatch.setattr(bucket, "BUDGET", 4)
    monkeypatch.setattr(bucket_rows, "CHUNK", 3)
    for seed in range(3):
        tables = split_by_type(events(60, seed))
        check(EVERYTHING, tables, How(3, 25, 10, shuffled=True, memory=memory, seed=seed))


def test_more_buckets_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket, "REMEMBERED", 2)
    check(EVERYTHING, split_by_type(events(60, 4)), How(5, 7, 10, shuffled=True))
    assert len(bucket._memories) <= 2


def test_buckets_that_another_process_has_are_forgotten() -> None:
    """Of two streams one goes on: what was remembered of the other is dropped after some micro-batches, not before."""
    bucket._memories.clear()
    program = occurs.parse(EVERYTHING)
    first, second = (InStream(program, split_by_type(events(120, seed)), MS, How(4, 5)) for seed in (1, 2))
    first.micro_batch(first.cut()[0])
    there = {key for key in bucket._memories if key[0] == first.layout.token}
    assert there
    for number, part in enumerate(second.cut()):
        second.micro_batch(part)
        if number < bucket.STALE:
            assert there <= bucket._memories.keys()
    assert number > 2 * bucket.STALE + 2
    assert not there & bucket._memories.keys()
    assert {key[0] for key in bucket._memories} == {second.layout.token}


def test_several_streams_in_one_process() -> None:
    """What is remembered of one query is not taken for that of another."""
    tables = [split_by_type(events(40, seed)) for seed in (1, 2)]
    program = occurs.parse(EVERYTHING)
    streams = [InStream(program, t, MS, How(2, 5, apart=False)) for t in tables]
    found: list[list[int]] = [[], []]
    for parts in zip(*(s.cut() for s in streams), strict=True):
        for n, (stream, part) in enumerate(zip(streams, parts)):
            got = stream.query.read(stream.micro_batch(part, len(found[n]) == 7))
            found[n].append(sum(len(t) for t in got.found.values()))
    for n, t in enumerate(tables):
        assert sum(found[n]) == len(here(program, t, time_unit="ms"))


LONG = """
define Last(V) from A(K = $k) and last B(K = $k) within 900 ms from A where V = B.V
define Each(V) from A(K = $k) and each B(K = $k, V = 1) within 700 ms from A where V = A.V
define Once(V) from A(V > 2) and first B() within 500 ms from A where V = B.V consuming B
"""


@pytest.mark.share(4)
@pytest.mark.parametrize("memory", ["kept", "mixed"])
@pytest.mark.parametrize("most", [2, 16])
def test_many_pieces(monkeypatch: pytest.MonkeyPatch, memory: str, most: int) -> None:
    """A long past and a long wait, row by row: pieces are put together, and stay few."""
    monkeypatch.setattr(saved_pieces, "MOST", most)
    monkeypatch.setattr(waiting, "MOST", most)
    tables = split_by_type(events(150, 6, "AB", 1200))
    stream = check(LONG, tables, How(2, 1, 300, shuffled=True, memory=memory, apart=False))
    assert all(len(store.pieces) < 12 * most for store in stream.stores.values())


def test_state_does_not_grow() -> None:
    """Ten times the events: no more is kept in the end, nor written per micro-batch."""
    sizes = []
    for n in (100, 1000):
        stream = InStream(occurs.parse(EVERYTHING), split_by_type(events(n, 8, span=n)), MS, How(2, 50, 10))
        batches = [stream.query.read(stream.micro_batch(part)) for part in stream.cut()]
        held = sum(len(blob) for store in stream.stores.values() for blob in store.pieces.values())
        sizes.append((held, max(b.figures["size"] or 0 for b in batches)))
        kept = [b.figures["kept"] or 0 for b in batches]
        assert max(kept[len(kept) // 2 :]) < 300
    assert sizes[1][0] < 2 * sizes[0][0]
    assert sizes[1][1] < 2 * sizes[0][1]


def test_a_program_without_input() -> None:
    """Timers alone: rows that nobody reads move the clock."""
    tables = {"Nobody": pa.table({"time": random.Random(1).sample(range(100), 20)})}
    for buckets in (1, 3):
        check("define T(N) from Timer(MS%7 == 0) where N = 1", tables, How(buckets, 3, 5, shuffled=True))


MANY_KEYS = {
    "epl": """create schema A(K int, V int); create schema B(K int, V int);
        insert into Chain select a.K as K
        from pattern [every a=A(V > 5) -> b=B(K = a.K, V > 40) where timer:within(9 hours)];
        insert into Machine select a.K as K from pattern [every-distinct(a.K) a=A(V > 5) -> b=B(K = a.K, V > 40)];""",
    "phenesthe": "input event A(K: int, V: int), B(K: int, V: int). state R(K) : A(K, V) ~> B(K, W).",
    "ftl": """table A (K int key, V int) table B (K int key, V int)
        trigger r for each k in (select K from A): eventually [x <- A(k)] eventually within 1 h (B(k) >= x + 40)
            emit R(K = k)""",
    "esql": "DEFINE R AS SLICE EACH A WITH (THE SUM OF *.V) ON K.",
}  # fmt: skip


@pytest.mark.parametrize("memory", ["kept", "forgetful"])
@pytest.mark.parametrize("language", MANY_KEYS)
def test_rows_are_written_instead_of_a_large_state(
    language: str, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Micro-batches write what is new: the tables of operators only when many rows have come since."""
    keys, size, steps = 4_000, 50, 30
    monkeypatch.setattr(bucket, "SMALL", 100)
    rng, written, own = random.Random(5), [], saved_pieces.Ledger.write

    def write(ledger: saved_pieces.Ledger, *given: Any) -> Any:
        written.append(1)
        return own(ledger, *given)

    monkeypatch.setattr(saved_pieces.Ledger, "write", write)
    n = keys + size * steps
    key = [*range(keys), *(rng.randrange(keys) for _ in range(size * steps))]
    rows = pa.table({
        "type": rng.choices("AB", weights=(7, 3), k=n), "time": range(n), "K": key,
        "V": [rng.randrange(100) for _ in range(n)],
    })  # fmt: skip
    program = occurs.parse(MANY_KEYS[language], language)
    tables = split_by_type(rows)
    stream = InStream(program, tables, MS, How(1, memory=memory, because=False, seed=2))
    stream._share = None
    parts = [stream.rows.slice(0, keys), *(stream.rows.slice(at, size) for at in range(keys, n, size))]
    found = stream.run(parts)
    lanes = len(stream.layout.at(0))
    assert lanes <= len(written) <= (2 + steps / 4) * lanes
    sizes = sorted(batch.figures["size"] or 0 for batch in found.batches[1:])
    assert sizes[len(sizes) // 2] < 300 * size
    wanted = here(program, tables, time_unit="ms")
    assert len(wanted) > 100
    assert difference(wanted, found.found) is None


@pytest.mark.parametrize("memory", ["kept", "forgetful"])
def test_rows_are_written_instead_of_many_small_tables(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hundreds of rules that keep little each: a step does not write a piece for every rule."""
    rules, size, steps = 200, 20, 40
    text = "create schema A(K int, V int); create schema B(K int, V int);" + "".join(
        f"insert into R{n} select a.K as K from pattern [every a=A(V > {n % 90}) -> b=B(K = a.K, V > {n % 50})];"
        for n in range(rules)
    )
    rng, puts, own = random.Random(7), [], Store.put

    def put(store: Store, name: str, data: bytes) -> None:
        puts[-1] += 1
        own(store, name, data)

    monkeypatch.setattr(Store, "put", put)
    rows = pa.table({
        "type": rng.choices("AB", k=size * steps), "time": range(size * steps),
        "K": [rng.randrange(50) for _ in range(size * steps)], "V": [rng.randrange(100) for _ in range(size * steps)],
    })  # fmt: skip
    program, tables = occurs.parse(text, "epl"), split_by_type(rows)
    stream = InStream(program, tables, MS, How(1, memory=memory, because=False, seed=2))
    stream._share = None
    step, parts = stream.micro_batch, [stream.rows.slice(at, size) for at in range(0, size * steps, size)]

    def micro_batch(*given: Any) -> pa.Table:
        puts.append(0)
        return step(*given)

    monkeypatch.setattr(stream, "micro_batch", micro_batch)
    found = stream.run(parts).found
    assert max(puts) >= rules
    assert sum(n >= rules for n in puts) <= steps / 4
    assert sorted(puts)[steps // 2] < 10
    wanted = here(program, tables, time_unit="ms")
    assert len(wanted) > 500
    assert difference(wanted, found) is None


@pytest.mark.parametrize("memory", ["kept", "forgetful"])
def test_micro_batches_without_rows_count(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream in which only the clock goes on: what is evaluated again after a restart does not grow."""
    monkeypatch.setattr(bucket, "SMALL", 100)
    rules = """create schema A(K int); create schema Clock(V int);
        insert into M select a.K as K from pattern [every a=A -> (timer:interval(9 hours) and not A(K=a.K))];
        insert into T select a.K as K from pattern [every-distinct(a.K) a=A -> timer:interval(8 hours)];"""
    keys, steps = 300, 60
    clock = pa.table({"time": [keys + 100 * n for n in range(1, steps)], "V": [0] * (steps - 1)})
    tables = {"A": pa.table({"time": range(keys), "K": range(keys)}), "Clock": clock}
    stream = InStream(occurs.parse(rules, "epl"), tables, MS, How(1, memory=memory, because=False, seed=2))
    stream._share = None
    behind = []
    for part in [stream.rows.slice(0, keys), *(stream.rows.slice(keys + n, 1) for n in range(steps - 1))]:
        stream.query.read(stream.micro_batch(part))
        for store in stream.stores.values():
            lanes = meta_from_ipc(store.value or b"")["lanes"].values()
            behind += [e["taken"]["frontier"] - e["engine"]["frontier"] for e in lanes if e["engine"]["frontier"]]
    assert 0 < max(behind) < 100 * steps / 3
