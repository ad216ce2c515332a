"""Programs of rules and of definitions of what lasts as streams, in this process: delays, stages, the clock's end."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from instream import How, InStream
from test_local_lasting import lines_of
from test_stream_change import Changing
from tests.amount import first

import occurs
from occurs.errors import CheckpointProblem
from occurs.model.history import InputOptions
from occurs.plan.describe import describe
from occurs.plan.explain import printed
from occurs.plan.partitioning import groups
from occurs.plan.segments import segments
from occurs.program import Program

#: `only` and what is made of it is known a tick later, `quick` when a later event decides
LASTING = """
input event a(V), b(V), c(V), d(V).
state p(V) : a(V) ~> b(V).
state q(V) : c(V) ~> d(V).
state only(V) : p(V) minus q(V).
event gone(V) : end(only(V)).
event quick(V) : end(a(V) ~>> b(V)).
event twice(V) : Pair(V) and not b(V).
event both(V) : gone(V) and twice(V).
"""
RULES = """
define Pair(V) from gone(V = $v) and last a(V = $v) within 6 from gone where V = $v
define Alone(V) from twice(V = $v) and not c(V = $v) within 2 from twice where V = $v
define Other(V) from a(V = $v) and last c(V = $v) within 4 from a where V = $v
define Sudden(V) from quick(V = $v) and last gone(V = $v) within 5 from quick where V = $v
"""
#: by V, then without a key: rules read what a net makes, and a net what a rule makes
STAGES = """
define Met(V) from a(V = $v) and last c(V = $v) within 4 from a where V = $v
define All() from begun() and last Met() within 9 from begun
"""
STAGED = """
input event a(V), b(V), c(V).
state p(V) : a(V) ~> b(V).
event begun(V) : start(p(V)).
event one : Met(_).
state some : one ~> b(_).
"""
WAYS = [
    How(buckets=3, size=1),
    How(buckets=1, size=7, delay=4, shuffled=True, memory="forgetful"),
    How(buckets=3, size=5, delay=25, shuffled=True, memory="crash", apart=False),
    How(buckets=2, size=None, memory="mixed"),
]


def program(tesla: str, phenesthe: str) -> Program:
    return Program([(tesla, None, "tesla"), (phenesthe, None, "phenesthe")])


def random_tables(seed: int, types: str = "abcd") -> dict[str, pa.Table]:
    rng = random.Random(seed)

    def one() -> pa.Table:
        return pa.table({"time": [rng.randint(0, 25) for _ in range(12)], "V": [rng.randint(0, 2) for _ in range(12)]})

    return {t: one() for t in types}


def told(tables: Any) -> list[str]:
    """Rows with their labels, but for the reasons."""
    return sorted(repr({n: v for n, v in r.items() if n != "because"}) for t in tables.values() for r in t.to_pylist())


def batch(rules: Program, tables: dict[str, pa.Table]) -> list[str]:
    found = rules.detect(dict(tables), with_label=True)
    return told({t: found.arrow(t) for t in found})


@pytest.mark.parametrize("seed", first(range(5), 1, 3))
@pytest.mark.parametrize("texts", [(RULES, LASTING), (STAGES, STAGED)], ids=["delays", "stages"])
def test_a_stream_gives_what_a_batch_gives(texts: tuple[str, str], seed: int) -> None:
    tables = random_tables(seed, "abcd" if texts[1] is LASTING else "abc")
    wanted = batch(program(*texts), tables)
    assert wanted
    for way in WAYS:
        how = How(way.buckets, way.size, way.delay, way.shuffled, way.memory, apart=way.apart, seed=seed)
        found = InStream(program(*texts), tables, InputOptions(), how).run()
        got = [line for b in found.batches for line in told(b.found)]
        assert sorted(got) == wanted, how


def test_what_rows_cannot_say_stays_together() -> None:
    rules = program(STAGES, STAGED)
    stage = rules.checked.plan(None, rules.checked.history(random_tables(0, "abc"), InputOptions()).kind)
    found = groups(stage.definitions, stage)
    assert [(g.mode, g.stage.defined, sorted(g.takes)) for g in found] == [
        ("keyed", ("p", "begun"), []), ("slices", ("Met", "All"), ["begun"]), ("single", ("one", "some"), ["Met"]),
    ]  # fmt: skip
    # a definition that reads a state by another key keeps it in one partition, and is told why
    rules = program(STAGES, STAGED + "event ended : end(p(_)).")
    stage = rules.checked.plan(None, stage.kind)
    (all_,) = groups(stage.definitions, stage)
    assert all_.mode == "single"
    assert "p, one can only be read in the stage that computes it" in printed(describe(stage))


def changed(old: tuple[str, str], new: tuple[str, str], tables: dict[str, pa.Table]) -> list[Any]:
    how = How(buckets=2, size=9, because=False)
    first, second = (Changing(program(*texts), tables, InputOptions(), how) for texts in (old, new))
    one = first.go(first.cut()[:3], closing=False)
    second.stores = first.stores
    two = second.go(second.cut()[3:], closing=True)
    return [line for answer in (one, two) for b in answer.batches for line in lines_of(b.found)]


def test_rules_behind_a_delay_are_added_and_removed() -> None:
    tables = random_tables(3)
    lasting, last = LASTING.split("event twice")[0], RULES.splitlines()
    few, more = "\n".join(last[:2]), "\n".join([*last[:2], last[4]])
    for old, new in (((few, lasting), (more, lasting)), ((more, lasting), (few, lasting))):
        kind = program(*old).checked.history(tables, InputOptions()).kind
        assert len(segments(program(*old).checked.plan(None, kind))) == 2
        found = program(*old).detect(dict(tables))
        types = ("p", "q", "only", "gone", "quick", "Pair")
        wanted = [line for line in lines_of({t: found.arrow(t) for t in found}) if line[0] in types]
        got = [line for line in changed(old, new, tables) if line[0] in types]
        assert sorted(got, key=repr) == sorted(wanted, key=repr)


def test_a_rule_behind_a_delay_is_added_to_what_had_none() -> None:
    tables = random_tables(4)
    lasting, last = LASTING.split("event twice")[0], RULES.splitlines()
    old, new = (last[3], lasting), ("\n".join([last[3], last[1]]), lasting)
    found = program(*old).detect(dict(tables))
    wanted = sorted(lines_of({t: found.arrow(t) for t in found}), key=repr)
    got = changed(old, new, tables)
    assert sorted((line for line in got if line[0] != "Pair"), key=repr) == wanted
    assert {line[0] for line in got} > {"Pair"}


def test_what_would_run_at_another_time_is_refused() -> None:
    """What `both` reads of `gone` it reads where `twice` is known: there its past is not known."""
    tables, lasting = random_tables(5), LASTING.split("event both")[0]
    rules = "\n".join(RULES.splitlines()[:2])
    with pytest.raises(CheckpointProblem, match="with another delay"):
        changed((rules, lasting), (rules, LASTING), tables)


# -- the end of the clock ----------------------------------------------------------------------------------------------
HELD = "input state p(K). input event a(K). state s(K) : filter(p(K), at_least(5)). state o : p(_)."


def held(how: How, *parts: list[tuple[int, int | None]]) -> tuple[InStream, list[Any]]:
    """A stream over rows of `p`, (time, end), in micro-batches."""
    rows = [(n, *row) for n, part in enumerate(parts) for row in part]
    ends = pa.array([e for *_, e in rows], pa.int64())
    table = pa.table({"time": [t for _, t, _ in rows], "end": ends, "K": [1] * len(rows)})
    stream = InStream(occurs.parse(HELD, "phenesthe"), {"p": table}, InputOptions(), how)
    wide = [stream._wide("p", table.filter(pa.array([n == k for n, *_ in rows]))) for k in range(len(parts))]
    return stream, wide


def test_closing_goes_on_to_the_last_end_of_a_row_that_was_not_late() -> None:
    how = How(buckets=2, because=False, late=True)
    stream, parts = held(how, [(0, 3), (4, 20)], [(9, 30), (10, 13), (12, None)], [(2, 99), (13, 14)])
    figures = []
    for part in parts:
        figures.append(stream.query.read(stream.micro_batch(part)).figures)
    # the row of 2 is late: its end is nobody's
    assert [f["frontier"] for f in figures] == [3, 11, 12]
    assert [f["late"] for f in figures] == [0, 0, 1]
    done = stream.query.read(stream.micro_batch(stream.rows.slice(0, 0), True))
    assert done.figures["frontier"] == 30
    assert sorted(lines_of({"o": done.found["o"]})) == [("o", 4, None, ())]
    # closed: what comes now is late, whenever it is
    again = stream.query.read(stream.micro_batch(parts[0].slice(0, 1)))
    assert (again.figures["late"], again.figures["found"], again.figures["frontier"]) == (1, 0, 30)
    assert stream.query.read(stream.micro_batch(stream.rows.slice(0, 0), True)).figures["found"] == 0


def test_rows_without_length_are_counted() -> None:
    stream, parts = held(How(buckets=2, because=False), [(0, 9), (3, 3), (5, 5)])
    done = stream.query.read(stream.micro_batch(parts[0], True))
    assert (done.figures["empty"], done.figures["rows"]) == (2, 3)
    assert sorted(lines_of(done.found)) == [("o", 0, 9, ()), ("s", 0, 9, (("K", False, 1),))]
