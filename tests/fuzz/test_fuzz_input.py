"""Odd input, by seed: every outcome is a result, a counted bad row or an error of ours, and no row is lost."""

from __future__ import annotations

import functools
import inspect
import random

import oddinput
import pytest

import occurs
from occurs.connect.files import read_sources
from occurs.errors import OccursError
from occurs.model.history import InputOptions, normalise
from occurs.model.source import Source

FEW = 20
SEEDS = 60
LONG = 6_000
BLOCK = 600
Program = occurs.Program


@pytest.fixture(scope="module")
def programs():
    return [occurs.parse(text, language=name) for name, text in oddinput.PROGRAMS.items()]


def seeds(test):
    """Run a test with each seed of a block: the first block always, the second in CI, many with --long."""
    some = pytest.param(range(FEW, SEEDS), marks=pytest.mark.slow)
    many = [pytest.param(range(at, at + BLOCK), marks=pytest.mark.long) for at in range(SEEDS, LONG, BLOCK)]

    @functools.wraps(test)
    def each(block, **fixtures):
        for seed in block:
            try:
                test(random.Random(seed), **fixtures)
            except BaseException as error:
                error.add_note(f"seed {seed}")
                raise

    names = [p for p in inspect.signature(test).parameters.values() if p.name != "draw"]
    block = inspect.Parameter("block", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    each.__signature__ = inspect.Signature([block, *names])
    return pytest.mark.parametrize("block", [range(FEW), some, *many], ids=str)(each)


def outcome(act):
    """What ``act`` returns, None if it raises an error of ours; that has a kind and a message."""
    try:
        return act()
    except OccursError as error:
        told = error
    assert told.kind
    assert all(p.message and p.render() for p in told.problems)
    return None


def nothing_lost(sources, rows, **options):
    """Every row is read, or counted as bad, outside the clock or empty."""
    history = outcome(lambda: normalise(sources, options=InputOptions(bad_rows="skip", **options)))
    if history is not None:
        counts = history.counts
        read = sum(len(table) for table in history.tables.values())
        assert counts["rows"] == rows
        assert counts["rows"] == read + counts["bad"] + counts["outside"] + counts["empty"], counts
        if counts["bad"]:
            places = {(r["file"], r["row"]) for r in history.bad.to_pylist()}
            assert len(places) == counts["bad"]


def clock(draw):
    """Some ends of the clock."""
    return {name: draw.choice([0, 3, 8, 2**62, -(2**63)]) for name in ("start", "until") if draw.random() < 0.2}


@seeds
def test_columns_of_every_type(draw, programs):
    program = draw.choice(programs)
    if draw.random() < 0.5:
        events = oddinput.table(draw)
        nothing_lost([Source(events)], len(events), **clock(draw))
    else:
        events = {t: oddinput.table(draw, typed=False) for t in draw.sample(["A", "B", "C"], draw.randrange(1, 3))}
        sources = [Source(table, t) for t, table in events.items()]
        nothing_lost(sources[:1], len(sources[0].table), **clock(draw))
    chosen = oddinput.options(draw)
    outcome(lambda: program.detect(events, **chosen))


@seeds
def test_lines_of_json(draw, programs, tmp_path):
    data, rows = oddinput.json_lines(draw)
    read(programs, draw, tmp_path / "e.jsonl", data, rows)


@seeds
def test_lines_of_csv(draw, programs, tmp_path):
    data, rows = oddinput.csv_lines(draw)
    read(programs, draw, tmp_path / "e.csv", data, rows)


@seeds
def test_parquet_files(draw, programs, tmp_path):
    read(programs, draw, tmp_path / "e.parquet", oddinput.parquet(draw), None)


def read(programs, draw, path, data, rows):
    path.write_bytes(data)
    program, named = draw.choice(programs), draw.choice(["", "A="])
    sources = outcome(lambda: read_sources([f"{named}{path}"], schemas=draw.choice([None, program.declared])))
    if sources is not None:
        found = sum(len(s.table) + len(s.torn) for s in sources)
        nothing_lost(sources, found if rows is None else rows, **clock(draw))
        chosen = oddinput.options(draw)
        outcome(lambda: program.detect(sources, **chosen))


@seeds
def test_values_pushed_one_by_one(draw, programs):
    program = draw.choice(programs)
    schemas = {"A": {"v": "int", "s": "string"}, "B": {"v": "int", "s": "string"}}
    how = {"time_unit": draw.choice([None, "s"]), "because": draw.random() < 0.5}
    if draw.random() < 0.2:
        how[draw.choice(["time_unit", "start", "zone", "because"])] = oddinput.value(draw)
    live = outcome(lambda: program.live(schemas, **how))
    if live is None:
        return
    time = 0
    for _ in range(draw.randrange(12)):
        time += draw.choice([0, 1, 5])
        given = {"v": draw.randrange(3), "s": "x"}
        arguments = [draw.choice("ABC"), time, given, None, None]
        for _ in range(draw.choice([0, 0, 1])):
            at = draw.randrange(6)
            if at == 5:
                given[draw.choice(["v", "s", "end", "extra", "f"])] = oddinput.value(draw)
            else:
                arguments[at] = oddinput.value(draw)
        outcome(lambda arguments=arguments: live.on_event(*arguments))
        if draw.random() < 0.1:
            outcome(lambda: live.advance(oddinput.value(draw)))
    outcome(live.close)
