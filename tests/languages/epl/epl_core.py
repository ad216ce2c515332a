"""The core of EPL as a function: events with conditions, ``every`` and ``->`` (epl-and-nets.md section 4A).

``F[1..]`` are the numbered rows of a history; positions are numbers of rows, bindings map tags to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from occurs.languages.epl import syntax

Binding = Mapping[str, int]
#: what a pattern gives: (next position, binding) of every match, and the position at which it ends or None
Result = tuple[list[tuple[int, Binding]], int | None]
#: is row ``n`` accepted by a filter, given a binding?
Accepts = Callable[[syntax.Filter, int, Binding], bool]


def run(p: syntax.Pattern, s: int, b: Binding, last: int, accepts: Accepts) -> Result:
    """The matches of ``p`` started at position ``s`` with binding ``b`` over rows 1 to ``last``.

    A match with next position r is completed by row r - 1.  Every filter has a tag.
    """
    match p:
        case syntax.Filter():
            assert p.tag is not None
            n = next((n for n in range(s, last + 1) if accepts(p, n, b)), None)
            return ([], None) if n is None else ([(n + 1, {**b, p.tag.text: n})], n + 1)
        case syntax.Every():
            found: list[tuple[int, Binding]] = []
            start: int | None = s
            while start is not None:
                matches, start = run(p.operand, start, b, last, accepts)
                found += matches
            return found, None
        case syntax.Followed():
            return _followed(p.operands, s, b, last, accepts)
    raise TypeError(f"not in the core: {type(p).__name__}")


def _followed(steps: tuple[syntax.Pattern, ...], s: int, b: Binding, last: int, accepts: Accepts) -> Result:
    """``p -> q -> r`` is ``(p -> q) -> r``."""
    *before, q = steps
    if not before:
        return run(q, s, b, last, accepts)
    matches, exit_p = _followed(tuple(before), s, b, last, accepts)
    found: list[tuple[int, Binding]] = []
    exit_q: int | None = None
    for r, m in matches:
        more, exit_q = run(q, r, m, last, accepts)
        found += more
    return found, None if exit_p is None else exit_q


def in_order(matches: list[tuple[int, Binding]], tags: list[str]) -> list[tuple[int, Binding]]:
    """By completing row, then by the rows of the tags."""
    return sorted(matches, key=lambda m: (m[0], [m[1][t] for t in tags]))


def rows_of(binding: Binding, tags: list[str]) -> list[Any]:
    return [binding[t] for t in tags]
