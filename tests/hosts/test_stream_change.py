"""A program that changes over the state of a stream: unchanged definitions go on, new ones begin, removed ones end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hostcases import labelled
from instream import Answer, How, InStream
from tests.amount import one_of

import occurs
from occurs.errors import CheckpointProblem
from occurs.hosts.stream.layout import Path
from occurs.model.history import InputOptions
from occurs.model.occurrence import Occurrence
from occurs.verify.compare import occurrences_of

OPTIONS = InputOptions(time_unit="ms")
SCHEMA = pa.schema([("type", pa.string()), ("time", pa.int64()), ("k", pa.int64()), ("v", pa.int64())])

#: every one of them can be looked at alone
RULES = {
    "last": "define Last(k, v) from A(k=$k) and last B(k=$k, v > 3) within 20 ms from A where k = A.k, v = B.v",
    "each": "define Each(k, v) from A(k=$k) and each C(k=$k) within 15 ms from A where k = A.k, v = C.v",
    "wide": "define Wide(k, v) from A(k=$k) and first B(k=$k) within 60 ms from A where k = A.k, v = B.v",
    "neg": "define Neg(k) from B(k=$k) and not C(k=$k) within 12 ms from B where k = B.k",
    "agg": "define Agg(k, v) from C(k=$k) where k = C.k, v = SUM(B(k=$k).v) within 25 ms from C",
    "use": "define Use(k, v) from A(k=$k) and first B(k=$k) within 30 ms from A where k = A.k, v = B.v consuming B",
}
KEYLESS = {
    "any": "define Any(v) from A() and last C() within 18 ms from A where v = C.v",
    "none": "define None_(v) from C(v > 2) and not B() within 9 ms from C where v = C.v",
}
#: all pairs of two, each with one other unless ``--long`` runs them all
_NAMES = [*RULES, *KEYLESS]
PAIRS = [
    pytest.param(o, n, marks=[] if (j - i) % len(_NAMES) == 1 else pytest.mark.long)
    for (i, o), (j, n) in product(enumerate(_NAMES), repeat=2)
    if i != j
]


class Changing(InStream):
    """A stream that may begin with history, and need not end."""

    def cut(self) -> list[pa.Table]:
        """In an order that does not depend on what the program reads."""
        order = pa.compute.sort_indices(self.rows, sort_keys=[("__time", "ascending"), ("__type", "ascending")])
        self.rows = self.rows.take(order)
        return super().cut()

    def go(self, parts: Sequence[pa.Table], *, closing: bool, replay: pa.Table | None = None) -> Answer:
        out = Answer()
        steps = [(p, False) for p in parts] + [(self.rows.slice(0, 0), True)] * closing
        for rows, last in steps:
            if replay is not None:
                at = replay.schema.get_field_index("__state")
                old = replay.set_column(at, "__state", pa.array([4] * len(replay), pa.int32()))
                rows = pa.concat_tables([old, rows])
                replay = None
            got = self.query.read(self.micro_batch(rows, last))
            out.found += occurrences_of(got.found)
            out.batches.append(got)
        return out

    def _places(self, path: Path, rows: pa.Table, first: bool) -> list[int | None]:
        if first:
            at = rows.schema.get_field_index("__state")
            state = [0 if s == 4 else s for s in rows.column("__state").to_pylist()]
            rows = rows.set_column(at, "__state", pa.array(state, pa.int32()))
        return super()._places(path, rows, first)


def history(seed: int, n: int = 60) -> pa.Table:
    rng = random.Random(seed)
    time = 0
    rows = []
    for _ in range(n):
        time += rng.choice((0, 1, 1, 2, 3, 7))
        rows.append({"type": rng.choice("ABC"), "time": time, "k": rng.randrange(3), "v": rng.randrange(8)})
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def tables(rows: pa.Table) -> dict[str, pa.Table]:
    return {t: rows.filter(pa.compute.equal(rows.column("type"), t)).drop_columns("type") for t in "ABC"}


def stream(rules: Sequence[str], rows: pa.Table, how: How) -> Changing:
    return Changing(occurs.parse("\n".join(rules)), tables(rows), OPTIONS, how)


def alone(rule: str, rows: pa.Table, **options: Any) -> list[Occurrence]:
    found = occurs.parse(rule).detect(tables(rows), time_unit="ms", because=True, **options)
    return occurrences_of({t: found.arrow(t) for t in found})


def changed(
    before: Sequence[str], after: Sequence[str], rows: pa.Table, how: How, at: int, *, replay: bool = False
) -> tuple[list[Occurrence], int, int]:
    """What both programs find, one after the other; the frontier and the newest time at the change."""
    first, second = stream(before, rows, how), stream(after, rows, how)
    parts = first.cut()
    one = first.go(parts[:at], closing=False)
    second.stores = first.stores
    # the columns of the two programs have names of their own
    parts = second.cut()
    two = second.go(parts[at:], closing=True, replay=pa.concat_tables(parts[:at]) if replay else None)
    frontier, newest = one.batches[-1].figures["frontier"], one.batches[-1].figures["newest"]
    assert frontier is not None
    assert newest is not None
    return one.found + two.found, frontier, newest


def later(rule: str, rows: pa.Table, newest: int) -> list[Occurrence]:
    rest = rows.filter(pa.compute.greater(rows.column("time"), newest))
    return alone(rule, rest, start=newest + 1)


HOWS = [
    How(size=5, share=0),
    How(size=5, buckets=1, delay=6, shuffled=True, share=1, seed=3),
    How(size=11, memory="crash", seed=4),
]


@pytest.mark.parametrize("share", [None, 0])
@pytest.mark.parametrize("delay", [0, 30])
def test_a_rule_is_added_that_reads_a_column_that_nobody_has_read(share: int | None, delay: int) -> None:
    """Rows that were taken, or that wait, were written without it."""
    old = "define Old(k) from A(k=$k) and each B(k=$k) within 60 ms from A where k = A.k"
    new = "define New(k, v) from A(k=$k, v > 0) and each B(k=$k) within 60 ms from A where k = A.k, v = A.v"
    rows = history(5)
    how = How(size=4, delay=delay, because=False, share=share, seed=2, divide=1)
    last = len(stream([old], rows, how).cut())
    for at in (last // 2, last - 1, last):
        found, _, newest = changed([old], [old, new], rows, how, at)
        wanted = alone(old, rows) + later(new, rows, newest)
        assert shown(found) == shown(wanted)


def shown(found: Sequence[Occurrence]) -> list[Any]:
    """Detections without labels."""
    return sorted((e.type, e.time, e.attributes["k"], e.attributes.get("v", 0)) for e in found)


def test_a_column_has_another_type_after_a_restart() -> None:
    """Rows that were taken have the type of before."""
    rows, at = history(6), 5
    rule = "define P(k, v) from B(k=$k) and each A(k=$k) within 60 ms from B where k = B.k, v = A.v"
    for share in (0, 1):
        how = How(size=4, because=False, share=share, seed=2, divide=1)
        first = stream([rule], rows, how)
        found = first.go(first.cut()[:at], closing=False).found
        float_rows = rows.set_column(3, "v", rows.column("v").cast(pa.float64()))
        second = stream([rule], float_rows, how)
        second.stores = first.stores
        found += second.go(second.cut()[at:], closing=True).found
        assert shown(found) == shown(alone(rule, rows)) != []


def hows(old: str, new: str, *, shuffled: bool = True) -> Sequence[tuple[int, How]]:
    """(number, way) of the ways in which a stream of two rules runs: all in CI, else one."""
    ways = [(number, how) for number, how in enumerate(HOWS) if shuffled or not how.shuffled]
    return one_of(ways, _NAMES.index(old) + 2 * _NAMES.index(new))


@pytest.mark.share(4)
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_rule_is_added(old: str, new: str) -> None:
    texts = RULES | KEYLESS
    for seed, how in hows(old, new):
        rows = history(seed)
        found, _, newest = changed([texts[old]], [texts[new], texts[old]], rows, how, 3)
        expected = alone(texts[old], rows) + later(texts[new], rows, newest)
        assert labelled(found) == labelled(expected), (old, new, seed)


@pytest.mark.share(4)
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_rule_is_removed_and_another_changed(old: str, new: str) -> None:
    texts = RULES | KEYLESS
    other = "define Other(k) from A(k=$k) and last C(k=$k, v > 4) within 10 ms from A where k = A.k"
    changed_other = other.replace("v > 4", "v > 1")
    for seed, how in hows(old, new):
        rows = history(seed + 10)
        before, after = [texts[old], texts[new], other], [changed_other, texts[old]]
        found, frontier, newest = changed(before, after, rows, how, 4)
        ended = [e for e in alone(texts[new], rows) + alone(other, rows) if e.time <= frontier]
        expected = alone(texts[old], rows) + ended + later(changed_other, rows, newest)
        assert labelled(found) == labelled(expected), (old, new, seed)


@pytest.mark.share(4)
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_rule_is_added_with_its_history(old: str, new: str) -> None:
    texts = RULES | KEYLESS
    # what has come, but waits, is not known to rules that did not read it
    for seed, how in hows(old, new, shuffled=False):
        rows = history(seed + 20)
        found, frontier, _ = changed([texts[old]], [texts[new], texts[old]], rows, how, 3, replay=True)
        expected = alone(texts[old], rows) + [e for e in alone(texts[new], rows) if e.time > frontier]
        assert labelled(found) == labelled(expected), (old, new, seed)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("last", "any2", "stages"),
        ("last", "rekeyed", "partitioned by"),
    ],
)
def test_what_cannot_be_kept_is_refused(before: str, after: str, words: str) -> None:
    more = {
        "any2": "define Two(v) from C() and each Last() within 18 ms from C where v = Last.v",
        "rekeyed": "define Key(k) from A(k=$k, v=$v) and last B(k=$k, v=$v) within 20 ms from A where k = A.k",
    }
    rows = history(5)
    how = How(size=9)
    old = [RULES[before]] if after != "rekeyed" else [more["rekeyed"]]
    new = (
        [*old, more["any2"]]
        if after == "any2"
        else [
            RULES["last"],
            more["rekeyed"],
            "define X(k) from Key(k=$k) and last Last(k=$k) within 5 ms from Key where k = Key.k",
        ]
    )
    with pytest.raises(CheckpointProblem, match=words) as caught:
        changed(old, new, rows, how, 3)
    assert caught.value.hint
