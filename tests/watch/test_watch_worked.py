"""The worked examples of the specification over live databases, in real transactions."""

import pytest
from livecases import CASES, Postgres, SQLite, watched

from occurs.testing.logic import load_cases

WORKED = [c for c in load_cases(CASES / "worked.md") if c.error is None]


def expected(case):
    """Events, and how the notices are told."""
    never = []
    for n in case.never:
        which = "".join(f", {name} = {value}" for name, value in n.attributes.items())
        never.append(f"never: `{n.type}` can fire no more (since {n.time}{which})")
    return [(e.type, e.time, dict(e.attributes)) for e in case.expected], never


@pytest.mark.parametrize("case", WORKED, ids=str)
def test_worked_examples_on_sqlite(case, tmp_path):
    database = SQLite(tmp_path)
    found, never = watched(database, case)
    assert (found, sorted(never)) == (expected(case)[0], sorted(expected(case)[1]))
    database.close()


@pytest.mark.parametrize("case", WORKED, ids=str)
def test_worked_examples_on_postgresql(case, postgres):
    database = Postgres(postgres.url())
    found, never = watched(database, case)
    assert (found, sorted(never)) == (expected(case)[0], sorted(expected(case)[1]))
    database.close()
