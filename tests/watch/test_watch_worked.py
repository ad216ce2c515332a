"""The worked examples of the specification over live databases, in real transactions."""

import pytest
from livecases import CASES, Postgres, SQLite, watched
from replaying import Replaying
from tests.textcases.logic import load_cases

WORKED = [c for c in load_cases(CASES / "worked.md") if c.error is None]


def expected(case):
    """Events, and how the notices are told."""
    never = []
    for n in case.never:
        which = "".join(f", {name} = {value}" for name, value in n.attributes.items())
        never.append(f"never: `{n.type}` can no longer fire (since {n.time}{which})")
    return [(e.type, e.time, dict(e.attributes)) for e in case.expected], never


@pytest.mark.parametrize("case", WORKED, ids=str)
def test_worked_examples_on_sqlite(case, tmp_path):
    database = SQLite(tmp_path)
    found, never = watched(database, case)
    assert (found, sorted(never)) == (expected(case)[0], sorted(expected(case)[1]))
    database.close()


@pytest.mark.parametrize(
    "case", [c for c in WORKED if c.name[:2] in ("18", "20", "22") and c.strategy != "reactivate"], ids=str
)
def test_a_new_watcher_after_every_transaction_goes_on(case, tmp_path):
    database = SQLite(tmp_path)
    found, never = watched(database, case, restart=True)
    assert (found, sorted(never)) == (expected(case)[0], sorted(expected(case)[1]))
    database.close()


@pytest.mark.parametrize("case", WORKED[::20], ids=str)
def test_the_reference_judges_the_log_alike(case, tmp_path):
    database = SQLite(tmp_path)
    found, never = watched(database, case, make=Replaying)
    assert (found, sorted(never)) == (expected(case)[0], sorted(expected(case)[1]))
    database.close()


def once(cases):
    """Of two cases that differ in the strategy alone one is left for a long run."""
    long = pytest.mark.long
    return [pytest.param(c, marks=[long] if c.strategy == "continue" else []) for c in cases]


@pytest.mark.slow
@pytest.mark.parametrize("case", once(WORKED), ids=str)
def test_worked_examples_on_postgresql(case, postgres):
    database = Postgres(postgres.url())
    found, never = watched(database, case)
    assert (found, sorted(never)) == (expected(case)[0], sorted(expected(case)[1]))
    database.close()
