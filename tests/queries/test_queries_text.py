"""Where the clauses of a Spark SQL text are found, and the relations before them."""

from __future__ import annotations

import pytest

from occurs.errors import DefinitionProblem
from occurs.queries.sparktext import clauses

C = "MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x = ')' OR y = \"(\")"


def parts(text: str) -> list[tuple[str, list[str]]]:
    return [(text[slice(*f.relation)], [text[slice(*t)] for t in f.tables]) for f in clauses(text)]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        (f"SELECT * FROM quotes {C}", "quotes"),
        (f"select * from cat.db.`my table` {C.lower()} d", "cat.db.`my table`"),
        (f"SELECT * FROM quotes q {C}", "quotes q"),
        (f"SELECT * FROM quotes AS q {C}", "quotes AS q"),
        (f"SELECT * FROM (SELECT * FROM a) {C}", "(SELECT * FROM a)"),
        (f"SELECT * FROM (SELECT * FROM a) AS q {C}", "(SELECT * FROM a) AS q"),
        (f"SELECT * FROM a, b {C}", "b"),
        (f"SELECT * FROM a JOIN b {C} USING (k)", "b"),
        (f"SELECT * FROM range(10) {C}", "range(10)"),
        (f"SELECT 'MATCH_RECOGNIZE (' -- MATCH_RECOGNIZE (\n FROM a /* MATCH_RECOGNIZE ( */ {C}", "a"),
        (f"SELECT `MATCH_RECOGNIZE` FROM a {C}", "a"),
        (f"SELECT 'it\\'s' FROM a {C}", "a"),
    ],
)
def test_the_relation_before_a_clause(text: str, relation: str) -> None:
    assert parts(text) == [(relation, [])]


def test_inner_clauses_come_first() -> None:
    text = f"SELECT * FROM (SELECT * FROM a {C}) {C} JOIN b {C} USING (k)"
    assert [r for r, _ in parts(text)] == ["a", f"(SELECT * FROM a {C})", "b"]


def test_common_table_expressions_that_are_complete() -> None:
    q, r = "q AS (SELECT 1)", f"r (k, v) AS (SELECT * FROM q {C})"
    text = f"WITH {q}, {r} SELECT * FROM r {C}"
    assert parts(text) == [("q", [q]), ("r", [f"{q}, {r}"])]
    inner = f"SELECT * FROM (WITH {q} SELECT * FROM q {C}) AS x"
    assert parts(f"WITH z AS (SELECT 2) {inner}") == [("q", ["z AS (SELECT 2)", q])]
    assert parts(f"WITH RECURSIVE {q} SELECT * FROM q {C}") == [("q", [f"RECURSIVE {q}"])]


def test_no_clause() -> None:
    assert clauses("SELECT match_recognize FROM a WHERE x = 'MATCH_RECOGNIZE ('") == []


@pytest.mark.parametrize(
    "text", ["SELECT * FROM a MATCH_RECOGNIZE (PATTERN (A)", "MATCH_RECOGNIZE (x)", ", MATCH_RECOGNIZE ()"]
)
def test_problems(text: str) -> None:
    with pytest.raises(DefinitionProblem) as caught:
        clauses(text)
    assert caught.value.kind == "syntax"
