"""A program of Phenesthe that changes over the state of a stream: unchanged definitions go on, new ones see what begins
later, those that read others begin anew with them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from instream import How
from test_local_lasting import lines_of
from test_stream_change import Changing
from tests.textcases.phenesthe import Line

import occurs
from occurs.errors import CheckpointProblem
from occurs.model.history import InputOptions

INPUTS = "input event a(K), b(K), c(K). input state p(K).\n"
S = "state s(K) : a(K) ~> b(K)."
W = "state w(K) : c(K) ~> b(K)."
U = "state u(K) : s(K) ⊔ w(K)."
M = "state m(K) : p(K) \\ w(K)."
D = "dynamic d(K) : s(K) before p(K)."
N = "event n(K) : start(s(K)) ∧ ¬c(K)."
ALL = [S, W, U, M, D, N]
HOWS = [
    How(size=9, because=False, divide=1),
    How(size=9, buckets=1, delay=6, shuffled=True, because=False, seed=3, divide=1),
    How(size=17, memory="crash", because=False, seed=4, divide=1),
]


def history(seed: int, n: int = 70) -> dict[str, pa.Table]:
    rng, time = random.Random(seed), 0
    rows: dict[str, list[dict[str, int | None]]] = {t: [] for t in "abcp"}
    for _ in range(n):
        time += rng.choice((0, 1, 1, 2, 3))
        row: dict[str, int | None] = {"time": time, "K": rng.randrange(3)}
        name = rng.choice("abcp")
        if name == "p":
            row["end"] = rng.choice((None, time + 1, time + 4, time + 20))
        rows[name].append(row)
    return {
        t: pa.Table.from_pylist(r, pa.schema([(n, pa.int64()) for n in ("time", *["end"] * (t == "p"), "K")]))
        for t, r in rows.items()
    }


def batch(rules: str, tables: Mapping[str, pa.Table], **options: int | None) -> list[Line]:
    found = occurs.parse(rules, "phenesthe").detect(dict(tables), **options)
    return lines_of({t: found.arrow(t) for t in found})


def after(tables: Mapping[str, pa.Table], born: int) -> dict[str, pa.Table]:
    return {t: table.filter(pc.greater(table.column("time"), born)) for t, table in tables.items()}


def changed(
    old: Sequence[str], new: Sequence[str], tables: Mapping[str, pa.Table], how: How, at: int, replay: bool = False
) -> tuple[list[Line], list[Line], int]:
    """What both programs give, one after the other; the newest time at the change."""
    first, second = (
        Changing(occurs.parse(INPUTS + "\n".join(r), "phenesthe"), tables, InputOptions(), how) for r in (old, new)
    )
    one = first.go(first.cut()[:at], closing=False)
    second.stores = first.stores
    parts = second.cut()
    two = second.go(parts[at:], closing=True, replay=pa.concat_tables(parts[:at]) if replay else None)
    newest = one.batches[-1].figures["newest"]
    assert newest is not None
    before, behind = ([line for b in answer.batches for line in lines_of(b.found)] for answer in (one, two))
    return before, behind, newest


def last_of(tables: Mapping[str, pa.Table]) -> int:
    """The end of the clock."""
    columns = [table[c].to_pylist() for table in tables.values() for c in ("time", "end") if c in table.column_names]
    return max(t for column in columns for t in column if t is not None)


def of(lines: list[Line], *types: str) -> list[Line]:
    return sorted((line for line in lines if line[0] in types), key=repr)


def rows_of(lines: list[Line], type: str) -> pa.Table:
    """Rows of a lasting type as input."""
    mine = [line for line in lines if line[0] == type]
    keys = [next(v for n, _, v in m[3] if n == "K") for m in mine]
    values = {"time": [m[1] for m in mine], "end": [m[2] for m in mine], "K": keys}
    return pa.table({n: pa.array(v, pa.int64()) for n, v in values.items()})


@pytest.mark.parametrize("how", HOWS, ids=["kept", "shuffled", "crash"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_unchanged_goes_on_and_what_is_new_begins(how: How, seed: int) -> None:
    tables = history(seed)
    before, behind, newest = changed([W, U, S], [S, W, U, M, N], tables, how, 4)
    everything = batch(INPUTS + "\n".join(ALL), tables)
    assert of(before + behind, "s", "w", "u") == of(everything, "s", "w", "u")
    # the new ones, over what others find that begins later
    last = last_of(tables)
    given = after({**tables, "s": rows_of(everything, "s"), "w": rows_of(everything, "w")}, newest)
    alone = "input event c(K). input state s(K), w(K), p(K).\n" + M + "\n" + N
    wanted = batch(alone, {t: given[t] for t in "cswp"}, until=last)
    assert of(behind, "m", "n") == of(wanted, "m", "n")
    assert not of(before, "m", "n")


@pytest.mark.parametrize("how", HOWS, ids=["kept", "shuffled", "crash"])
def test_what_reads_a_changed_one_begins_anew(how: How) -> None:
    tables = history(7)
    other = "state s(K) : c(K) ~> a(K)."
    before, behind, newest = changed([S, W, U, D], [other, W, U, D], tables, how, 3)
    assert of(before + behind, "w") == of(batch(INPUTS + W, tables), "w")
    w = rows_of(batch(INPUTS + W, tables), "w")
    last = last_of(tables)
    given = after({**tables, "w": w}, newest)
    alone = "input event a(K), c(K). input state w(K), p(K).\n" + "\n".join([other, U, D])
    wanted = batch(alone, {t: given[t] for t in "acwp"}, until=last)
    assert of(behind, "s", "u", "d") == of(wanted, "s", "u", "d")
    # before the change they were the old ones
    old = of(batch(INPUTS + "\n".join([S, W, U, D]), tables), "s", "u", "d")
    assert set(of(before, "s", "u", "d")) <= set(old)


@pytest.mark.parametrize("at", [2, 4])
def test_new_definitions_learn_from_history(at: int) -> None:
    tables = history(11)
    before, behind, _ = changed([S, W], [S, W, U, M, D, N], tables, HOWS[0], at, replay=True)
    everything = batch(INPUTS + "\n".join(ALL), tables)
    assert of(before + behind, "s", "w") == of(everything, "s", "w")
    # what was final before the change is not told
    early = [line for line in everything if line[0] in "umdn" and line not in behind]
    first = Changing(occurs.parse(INPUTS + "\n".join(ALL), "phenesthe"), tables, InputOptions(), HOWS[0])
    told = [x for b in first.go(first.cut()[:at], closing=False).batches for x in lines_of(b.found)]
    assert sorted(early, key=repr) == of(told, "u", "m", "d", "n")
    assert of(behind, "u", "m", "d", "n") == of([line for line in everything if line not in early], "u", "m", "d", "n")


def test_what_was_removed_is_forgotten() -> None:
    tables = history(13)
    before, behind, _ = changed([S, W, U, M], [W], tables, HOWS[0], 3)
    assert of(before + behind, "w") == of(batch(INPUTS + W, tables), "w")
    assert {line[0] for line in behind} == {"w"}
    assert of(before, "s", "u", "m")


def test_what_would_run_elsewhere_is_refused() -> None:
    """By the key K before; what is new reads all keys together."""
    tables = history(17)
    with pytest.raises(CheckpointProblem, match="in one bucket"):
        changed([S], [S, "state t : s(_) ⊔ p(_)."], tables, HOWS[0], 3)
