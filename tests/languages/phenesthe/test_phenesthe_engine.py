"""The engine of Phenesthe against the text cases: in one call, cut at every instant, restored between calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_runs import checked, lines, tables
from phenesthe_running import Input, Running
from tests.textcases.phenesthe import LastingCase, Line, Loaded, load_lasting_cases

from occurs.languages.phenesthe.compile import Compiled, compile_all
from occurs.operators.interval.network import Begun
from occurs.operators.interval.signals import NEVER, Instants

CASES = load_lasting_cases(Path(__file__).parents[2] / "cases" / "phenesthe")


def named(cases: list[LastingCase]) -> list[object]:
    return [pytest.param(c, id=f"{Path(c.file).stem}: {c.name}") for c in cases]


BATCH = named([c for c in CASES if c.mode != "window" and c.error is None])
WINDOW = named([c for c in CASES if c.mode == "window"])
APPEND = named([c for c in CASES if c.mode in ("append", "update")])


def compiled(loaded: Loaded, window: int | None = None, query: int | None = None) -> tuple[tuple[Compiled, ...], Input]:
    """The case checked and compiled, and its rows, those up to a query if one is given."""
    analysis = checked(loaded, windows=window is not None)
    times = loaded.case.times
    start, until = (times.get("start"), times.get("until")) if query is None else (None, query)
    definitions = compile_all(analysis, loaded.case.kind, loaded.fact_tables(), window)
    return definitions, Input(analysis.phenomena, tables(analysis, loaded.history), start, until)


def same(case: LastingCase, expected: set[Line], found: list[Line]) -> None:
    missing, extra = sorted(expected - set(found), key=repr), sorted(set(found) - expected, key=repr)
    assert (missing, extra) == ([], []), f"{case.file}:{case.line}\nmissing: {missing}\nnot expected: {extra}"
    assert len(found) == len(set(found)), "rows are given twice"


def cut(definitions: tuple[Compiled, ...], rows: Input, frontiers: list[int], restart: bool) -> list[list[Line]]:
    """What comes out by each frontier, and at the closing."""
    run = Running(definitions)
    out = []
    for frontier in frontiers:
        if restart:
            run = Running.restored(definitions, run.saved(), run.since)
        out.append(lines(run.advance(rows.between(run.since, frontier), frontier)))
    if restart:
        run = Running.restored(definitions, run.saved(), run.since)
    out.append(lines(run.advance(rows.between(run.since, rows.now), rows.now, closing=True)))
    return out


@pytest.mark.parametrize("case", BATCH)
def test_in_one_call(case: LastingCase) -> None:
    loaded = Loaded(case)
    definitions, rows = compiled(loaded)
    same(case, loaded.batch(), cut(definitions, rows, [], restart=False)[0])


@pytest.mark.share(4)
@pytest.mark.parametrize("restart", [False, True], ids=["kept", "restored"])
@pytest.mark.parametrize("case", BATCH)
def test_cut_at_every_instant(case: LastingCase, restart: bool) -> None:
    loaded = Loaded(case)
    definitions, rows = compiled(loaded)
    frontiers = [t for t in rows.instants.tolist() if t <= rows.now]
    found = cut(definitions, rows, frontiers, restart)
    same(case, loaded.batch(), [x for part in found for x in part])


@pytest.mark.parametrize("case", APPEND)
def test_what_a_stream_gives_and_when(case: LastingCase) -> None:
    loaded = Loaded(case)
    definitions, rows = compiled(loaded)
    assert case.expected is not None
    frontiers = list(range(int(rows.instants[0]), rows.now + 1))
    found = dict(zip([*frontiers, "closing"], cut(definitions, rows, frontiers, restart=False), strict=True))
    for at, given in found.items():
        # open rows before the closing are provisional
        final = [r for r in case.expected.get(at, ()) if at == "closing" or not r.lasting or r.end is not None]
        same(case, loaded.lines(final), given)


def test_frontiers_between_instants_and_calls_without_rows() -> None:
    for case in (c for c in CASES if c.mode == "batch" and c.error is None and c.rows and c.kind.unit is None):
        loaded = Loaded(case)
        definitions, rows = compiled(loaded)
        if rows.instants[-1] - rows.instants[0] > 1000:
            continue
        frontiers = [NEVER, *range(int(rows.instants[0]) - 2, rows.now + 1)]
        found = cut(definitions, rows, frontiers, restart=False)
        same(case, loaded.batch(), [x for part in found for x in part])


@pytest.mark.parametrize("case", WINDOW)
def test_windows(case: LastingCase) -> None:
    """At every query the answer over what had come by then, as far as it reaches into the window."""
    loaded = Loaded(case)
    window = case.times["window"]
    assert case.expected is not None
    for query, expected in case.expected.items():
        now = int(query or 0)
        definitions, rows = compiled(loaded, window, now)
        found = [r for r in cut(definitions, rows, [], restart=False)[0] if _reaches(r, now - window)]
        same(case, loaded.lines(expected), found)


def _reaches(row: Line, after: int) -> bool:
    """Whether a row (type, time, end if it lasts, attributes) reaches into the window."""
    return row[-2] is None or row[-2] > after


@pytest.mark.parametrize("name", ["21 Update", "a filter of what is open"])
def test_open_rows_are_told_once_and_then_ended(name: str) -> None:
    (case,) = [c for c in CASES if c.name == name]
    loaded = Loaded(case)
    definitions, rows = compiled(loaded)
    run = Running(definitions)
    (definition,) = definitions
    begun = Begun(definition.net.variables)
    told, net, since = begun.fresh(), definition.net.fresh(), NEVER
    found = {}
    assert case.expected is not None
    for frontier in [*range(int(rows.instants[0]), rows.now + 1), "closing"]:
        now = rows.now if frontier == "closing" else int(frontier)
        call = Instants(since, now, run.values, frontier == "closing")
        net, given = definition.net.advance(net, rows.between(since, now), call)
        told, open = begun.advance(told, given.report, call)
        answer = definition.answer
        both = [answer.final(given.report, call, given.events), answer.rows(open, call, given.events)]
        found[frontier] = [x for part in both for x in lines({definition.name: part})]
        since = now
    for at, given_then in found.items():
        same(case, loaded.lines(case.expected.get(at, ())), given_then)
