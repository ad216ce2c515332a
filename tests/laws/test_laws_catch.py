"""The laws notice engines that break them: each fault here is found by the law that is about it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.laws.contract import Subject, cutting, forgetting, meaning, pushing, restart, splitting

from occurs.engine import engine as engines
from occurs.engine.saved_pieces import Ledger
from occurs.engine.state import State
from occurs.hosts.live import Live
from occurs.hosts.pushed import Layout, Row
from occurs.operators.columns import Column
from occurs.operators.rows import Rows
from occurs.operators.select.run import Run
from occurs.testing.cases import Case, load_cases

FOLDER = Path(__file__).parents[1] / "cases" / "tesla"
CASES = [c for path in sorted(FOLDER.glob("*.md")) for c in load_cases(path) if c.error is None and c.events]


def caught(law: Callable[[Case], None], cases: list[Case]) -> bool:
    """Does the law complain of some case, and of none without the fault?  (The latter is what test_laws is for.)"""
    for case in cases:
        try:
            law(case)
        except AssertionError:
            return True
    return False


def with_rng(law: Callable[[Subject, random.Random], None]) -> Callable[[Case], None]:
    return lambda case: law(Subject(case), random.Random(case.name))


def test_cutting_notices_what_is_forgotten_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(self: engines.Engine, tables: object, frontier: int) -> None:
        self.state.pasts.clear()

    assert not caught(with_rng(cutting), CASES[:40])
    monkeypatch.setattr(engines.Engine, "_keep", forget)
    assert caught(with_rng(cutting), CASES[:40])


def test_restart_notices_what_is_not_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [c for c in CASES if "onsuming" in c.rules]
    assert not caught(with_rng(restart), some)
    write = Ledger.write

    def forgetful(self: Ledger, state: State, *rest: Any) -> dict[str, Any]:
        return write(self, State(state.pasts, {}, state.serials, state.frontier), *rest)

    monkeypatch.setattr(Ledger, "write", forgetful)
    assert caught(with_rng(restart), some)


def test_pushing_notices_a_single_row_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    single = Layout._single

    def loses(self: Layout, row: Row) -> Rows:
        rows = single(self, row)
        return replace(rows, columns={n: Column.nulls(c.type, 1) for n, c in rows.columns.items()})

    assert not caught(with_rng(pushing), CASES[:40])
    monkeypatch.setattr(Layout, "_single", loses)
    assert caught(with_rng(pushing), CASES[:40])


def test_pushing_notices_an_instant_that_is_judged_in_two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(self: Live, given: Mapping[str, pa.Table], until: int) -> dict[str, pa.Table]:
        return dict(given)

    monkeypatch.setattr(Live, "_wait", wait)
    assert caught(with_rng(pushing), CASES[:40])


def test_splitting_notices_a_wrong_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def law(case: Case, wrong: bool) -> None:
        subject = Subject(case)
        if wrong:
            names = {t: s.names for t, s in subject.stage.schemas.items() if t in subject.stage.inputs}
            subject.stage = replace(subject.stage, key={t: n[-1:] for t, n in names.items()})
        splitting(subject)

    some = [c for c in CASES if Subject(c).stage.key]
    assert len(some) > 10
    assert not caught(lambda case: law(case, False), some)
    assert caught(lambda case: law(case, True), some)


def test_forgetting_notices_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def hold(self: engines.Engine, tables: dict, frontier: int) -> None:
        self.state.pasts.update({t: rows.slice(0) for t, rows in tables.items() if t in self.stage.retention})

    assert not caught(with_rng(forgetting), CASES[:40])
    monkeypatch.setattr(engines.Engine, "_keep", hold)
    assert caught(with_rng(forgetting), CASES[:40])


def test_meaning_notices_a_guard_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [c for c in CASES if " not " in c.rules]
    assert not caught(lambda case: meaning(Subject(case)), some)
    monkeypatch.setattr(Run, "absent", lambda self, matches, step: matches)
    assert caught(lambda case: meaning(Subject(case)), some)
