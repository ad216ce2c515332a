"""What `explain` says of pipes: what they keep, what an item costs, functions that are called row by row."""

import occurs
from occurs import pipes


def test_what_is_kept_and_what_an_item_costs():
    text = """DEFINE Quick AS GET (THE SUM OF *) FROM A.v ON A WINDOW OF 100.
              DEFINE Slow AS GET (THE LIST OF *) FROM A.v ON A WINDOW OF 100.
              DEFINE Late AS FILTER A.v WITH TRIM 3 OF (A.v > 1)."""
    lines = [line.strip() for line in occurs.parse(text, "esql").explain().splitlines()]
    assert "Quick: Window: the last 100 items" in lines
    assert "Slow: Window: the last 100 items; its processor runs on every window: O(100) per item" in lines
    assert "Late: Filter: a queue of 3 items" in lines
    assert any("SLICE EACH" in line for line in lines)


def test_functions_that_are_called_row_by_row():
    half = pipes.function(inputs=(float,), outputs=(float,), vectorised=False)(lambda a: a / 2)
    trades = pipes.source("Trade", type={"price": float})
    found = pipes.program(half(trades["price"]).named("Half")).explain()
    assert "vectorised, except `<lambda>`, which runs row by row" in found
