"""A family of operators and a language over it that live outside ``src/``: nothing of the product names them.

Their folder is put beside the languages; their program then runs on its own and between rules of other languages, in
one call, cut anywhere, through saved state, and pushed event by event.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import occurs
from cutting import answer
from occurs.engine.engine import Engine
from occurs.errors import DefinitionProblem, SyntaxProblem
from occurs.hosts.local import history_rows
from occurs.model.history import InputOptions
from occurs.program import Program
from summits import MIXED, SUMMITS, beside_the_languages, readings


@pytest.fixture(autouse=True)
def language_of_summits() -> Iterator[None]:
    with beside_the_languages():
        yield


def by_hand(table: pa.Table) -> list[tuple[int, str, int]]:
    """Rows of one time are in the order of their values (common.md, section 2)."""
    rows = [(r["time"], -1 if r["height"] is None else r["height"], r["peak"]) for r in table.to_pylist()]
    best: dict[str, int] = {}
    out = []
    for time, height, peak in sorted(rows):
        if height > best.get(peak, -1):
            best[peak] = height
            out.append((time, peak, height))
    return sorted(out)


def found(rows: Any) -> list[tuple[int, str, int]]:
    return sorted((r["time"], r["peak"], r["height"]) for r in rows)


@pytest.mark.parametrize("seed", range(5))
def test_it_runs_in_process(seed: int) -> None:
    table = readings(seed)
    done = occurs.parse(SUMMITS, language="summits").detect({"Reading": table}, time_unit="s")
    assert found(done["Highest"].to_pylist()) == by_hand(table)


def test_every_row_has_a_label_and_says_why() -> None:
    done = occurs.parse(SUMMITS, language="summits").detect({"Reading": readings(1)}, time_unit="s", because=True)
    rows = done["Highest"].to_pylist()
    assert len({r["label"] for r in rows}) == len(rows) > 3
    assert all([c["role"] for c in r["because"]] == ["summit"] for r in rows)
    assert all(r["because"][0]["time"] == r["time"] for r in rows)


def test_its_problems_are_reported() -> None:
    with pytest.raises(SyntaxProblem, match="is not a statement"):
        occurs.parse("summit of nothing", language="summits").check()


@pytest.mark.parametrize(
    "text", ["summit High of High.height per peak\n", "summit B of A.height per peak\nsummit A of B.height per peak\n"]
)
def test_a_circle_that_a_language_lets_through_is_an_error(text: str) -> None:
    with pytest.raises(DefinitionProblem, match=r"the definitions form a cycle: `[A-Z]"):
        occurs.parse(text, language="summits").detect({"Reading": readings(0)}, time_unit="s")


def test_the_plan_says_how_it_runs() -> None:
    text = str(occurs.parse(SUMMITS, language="summits").explain({"Reading": readings(0)}))
    assert "Highest: the summits of each key" in text
    assert "Highest: the state is split into buckets by key" in text


def test_it_is_pushed() -> None:
    table = readings(2)
    live = occurs.parse(SUMMITS, language="summits").live(
        {"Reading": {"peak": "string", "height": "int"}}, time_unit="s"
    )
    out = []
    for row in table.to_pylist():
        out += live.on_event("Reading", row.pop("time"), row)
    out += live.close()
    assert found(out) == by_hand(table)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("names", [("summits",), ("summits", "epl", "tesla")])
def test_cuts_and_restarts_change_nothing(seed: int, names: tuple[str, ...]) -> None:
    rules = Program([(MIXED[n] if len(names) > 1 else SUMMITS, None, n) for n in names])
    table, rng = readings(seed), random.Random(seed)
    whole = answer(rules, {"Reading": table}, [], False, because=True)
    assert all(whole.values())
    for share in (0.3, 1):
        cuts = [t for t in range(40) if rng.random() < share]
        assert answer(rules, {"Reading": table}, cuts, restart=True, because=True) == whole


def test_a_copy_of_its_state_never_follows() -> None:
    rules = occurs.parse(SUMMITS, language="summits")
    history = rules.checked.history({"Reading": readings(3)}, InputOptions(time_unit="s"))
    stage = rules.checked.plan(history.schemas, history.kind)
    rows, engine = history_rows(stage, history, False), Engine(stage)
    assert history.clock is not None
    kept = engine.state.copy()
    first = engine.advance(rows, history.clock[1], history.clock[0]).table("Highest")
    engine.state = kept
    assert engine.advance(rows, history.clock[1], history.clock[0]).table("Highest") == first
