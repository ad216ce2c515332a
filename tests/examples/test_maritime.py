"""The ships: what the engine finds is what the definitions mean, alone and mixed with TESLA, and can be drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from examples.maritime import ais

import occurs

FOLDER = Path(__file__).parents[2] / "examples" / "maritime"
ALONE = [FOLDER / "maritime.phen"]
MIXED = [FOLDER / name for name in ("maritime.phen", "mixed.phen", "mixed.tesla")]


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    # a report every ten minutes: the reference semantics is slow
    found = ais.maritime(10, 2, seed=4, every=600, gaps=2.0)
    return {name: table for name, table in found.items() if name != "ais"}


@pytest.mark.parametrize("rules", [ALONE, MIXED], ids=["alone", "mixed"])
def test_engine_and_reference_agree(tables, rules):
    result = occurs.load(*rules).verify(tables)
    assert result.equal, result.report


def rows(table: pa.Table) -> list[dict[str, Any]]:
    return table.drop_columns(["type"]).to_pylist()


def test_both_languages_find_what_the_other_defines(tables):
    found = occurs.load(*MIXED).detect(tables)
    assert all(found.count(name) >= 1 for name in found), found
    # TESLA of Phenesthe: from events that are the ends of states
    moored = {(r["Vessel"], r["Port"], r["end"]): r["time"] for r in rows(found["moored"])}
    for r in rows(found["Turnaround"]):
        assert (r["time"] - moored[r["Vessel"], r["Port"], r["time"]]).total_seconds() <= 7200
    short = [k for k, began in moored.items() if k[2] is not None and (k[2] - began).total_seconds() <= 7200]
    assert found.count("Turnaround") == len(short)
    # Phenesthe of TESLA: trips with an instant inside
    dark = [(r["Vessel"], r["time"]) for r in rows(found["Dark"])]
    trips = rows(found["trip"])
    expected = [t for t in trips if any(v == t["Vessel"] and t["time"] < at < t["end"] for v, at in dark)]
    key = [(t["Vessel"], t["PortA"], t["PortB"], t["time"], t["end"]) for t in expected]
    assert sorted(key) == sorted(
        (t["Vessel"], t["PortA"], t["PortB"], t["time"], t["end"]) for t in rows(found["dark_trip"])
    )


def test_the_example_runs_and_draws(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.chdir(tmp_path)
    for name in ("events", "run"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import events
    import run

    monkeypatch.setattr(events, "VESSELS", 12)
    run.main()
    out = capsys.readouterr().out
    assert all(name in out for name in run.QUESTIONS)
    assert {p.name for p in (tmp_path / events.FOLDER).glob("ships.*")} == {"ships.html", "ships.png"}
    # another example has modules of these names, too
    for name in ("events", "run"):
        sys.modules.pop(name)
