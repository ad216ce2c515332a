"""However a history is cut into calls, and wherever a run is saved and restored, programs in eSQL give the same."""

import random
from pathlib import Path

import pytest
from tests.amount import amount
from tests.laws.contract import cut
from tests.textcases.pipes import PipesCase, load_cases

import occurs
from occurs.engine.engine import Engine
from occurs.hosts.local import history_rows
from occurs.model.history import InputOptions

FOLDER = Path(__file__).parents[2] / "cases" / "pipes"
CASES = [c for c in load_cases(FOLDER) if c.rules and c.error is None]


def answer(case: PipesCase, seed: int | None, restart: bool = False) -> dict[str, list[str]]:
    """The rows of every definition with labels and constituents, in their order; ``seed``: of random cuts."""
    program = occurs.parse(case.rules, language="esql")
    options = InputOptions(time_unit=case.kind.unit, start=case.start, until=case.until)
    history = program.checked.history(case.tables(), options)
    stage = program.checked.plan(history.schemas, history.kind)
    if history.clock is None:
        return {}
    start, until = history.clock
    frontiers = [until]
    if seed is not None:
        rng = random.Random(f"{case.name} {seed}")
        frontiers = sorted({until, *(rng.randint(start, until) for _ in range(rng.randint(1, 5)))})
    engine = Engine(stage, labelled=True)
    out: dict[str, list[str]] = {t: [] for t in stage.found}
    for frontier, rows in cut(history_rows(stage, history, True), frontiers):
        if restart:
            engine = Engine.restore(stage, engine.save(), labelled=True)
        found = engine.advance(rows, frontier, start, closing=case.ended and frontier == until)
        for t in stage.found:
            out[t] += [str(r) for r in found.table(t, label=True, because=True).to_pylist()]
    return out


@pytest.mark.share(8)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_cuts_and_restarts_change_nothing(case: PipesCase) -> None:
    whole = answer(case, None)
    for seed in range(amount(1, 3)):
        assert answer(case, seed) == whole
    assert answer(case, 3, restart=True) == whole
