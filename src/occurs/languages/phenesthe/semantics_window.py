"""Window mode in the reference semantics: the answer of every query from the whole history (phenesthe.md section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.semantics import Facts, Result, Row, evaluate
from occurs.model.time import TimeKind


def windows(
    program: syntax.File | Sequence[syntax.Statement],
    history: Sequence[Row],
    *,
    kind: TimeKind,
    window: int,
    step: int,
    facts: Facts | None = None,
    start: int | None = None,
) -> dict[int, dict[str, set[Result]]]:
    """Per query what each definition prints: what reaches into the last ``window`` ticks of the answer of then.

    No row comes late: at a query there is every row that began by then.
    """
    assert window >= step > 0
    out = {}
    for query in queries(history, step, start):
        ticks = range(max(0, query - window + 1), query + 1)
        found = evaluate(program, history, kind=kind, facts=facts, start=start, until=query, ticks=ticks)
        out[query] = {
            name: {r for r in rows if r[-1] is None or r[-1] > query - window} for name, rows in found.items()
        }
    return out


def queries(history: Sequence[Row], step: int, start: int | None) -> Iterator[int]:
    """``start`` + step, ``start`` + 2 step, ... up to the first that is not before the last time or end.

    By default the first query is the first multiple of the step that is not before the first time.  Rows before
    ``start`` are no part of the history.
    """
    if start is not None:
        history = [r for r in history if r.time >= start]
        query = last = start + step
    elif history:
        query = last = -(-min(r.time for r in history) // step) * step
    else:
        return
    last = max((t for r in history for t in (r.time, r.end) if t is not None), default=last)
    yield query
    while query < last:
        query += step
        yield query
