r"""Sets of instants and intervals in the reference semantics of Phenesthe (phenesthe.md sections 4.4, 4.5).

An instant is an int, an interval a pair (start, end) with start < end; the end of an open interval is infinity.  Every
function here takes the sets of one binding and returns one, by loops over pairs.  Shares nothing with the engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Set
from itertools import pairwise

GREATEST = 2**63 - 1
INFINITY = math.inf

Instant = int
Interval = tuple[int, float]
Span = tuple[int, float]


# --- 4.4 States -------------------------------------------------------------------------------------------------------


def maximal_range(opening: Set[Instant], closing: Set[Instant]) -> set[Interval]:
    """``φ ↣ ψ``: from a φ-instant before which every φ has been closed, to the first (ψ∧¬φ)-instant after it."""
    ends = closing - opening
    found = set()
    for start in opening:
        if all(any(earlier < e < start for e in ends) for earlier in opening if earlier < start):
            found.add((start, min((e for e in ends if e > start), default=INFINITY)))
    return found


def minimal_range(opening: Set[Instant], closing: Set[Instant]) -> set[Interval]:
    """``φ ~>> ψ``: from the latest φ-instant before a (ψ∧¬φ)-instant, with no other of these between them."""
    ends = closing - opening
    found: set[Interval] = set()
    for end in ends:
        start = max((s for s in opening if s < end), default=None)
        if start is not None and not any(start < e < end for e in ends):
            found.add((start, end))
    return found


def coalesced(intervals: Iterable[Interval]) -> set[Interval]:
    """``⊔``: intervals that share a point become one; neighbours stay two."""
    found = set(intervals)
    while True:
        pair = next(((a, b) for a in found for b in found if a != b and a[0] <= b[1] and b[0] <= a[1]), None)
        if pair is None:
            return found
        a, b = pair
        found = (found - {a, b}) | {(min(a[0], b[0]), max(a[1], b[1]))}


def intersection(left: Set[Interval], right: Set[Interval]) -> set[Interval]:
    """``φ ⊓ ψ``: what two intervals have in common, if that is more than a point."""
    common = ((max(x[0], y[0]), min(x[1], y[1])) for x in left for y in right)
    return {(start, end) for start, end in common if start < end}


def complement(left: Set[Interval], right: Set[Interval]) -> set[Interval]:
    r"""``φ \ ψ``: each interval of φ without the ticks of those of ψ that share a point with it."""
    found: set[Interval] = set()
    for whole in left:
        pieces = [whole]
        for cut in right:
            pieces = [rest for piece in pieces for rest in _without(piece, cut)]
        found.update(pieces)
    return found


def _without(piece: Interval, cut: Interval) -> list[Interval]:
    """What is left of ``piece``: up to the tick before the cut, and from the tick after it if there is one."""
    (start, end), (first, last) = piece, cut
    if first > end or last < start:
        return [piece]
    rest: list[Interval] = [(start, first - 1)]
    if last < GREATEST:
        rest.append((int(last) + 1, end))
    return [(s, e) for s, e in rest if s < e]


#: how ``filter`` compares lengths
LENGTHS = {"less": "<", "at_most": "<=", "equal": "=", "at_least": ">=", "greater": ">"}
LINKS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda gap, d: gap < d,
    "<=": lambda gap, d: gap <= d,
    "=": lambda gap, d: gap == d,
    ">=": lambda gap, d: gap >= d,
    ">": lambda gap, d: gap > d,
}


def iteration(instants: Set[Instant], op: str, duration: int) -> set[Interval]:
    """``φ <@ D``: the maximal runs of two or more consecutive instants that are linked by their distance."""
    runs: list[list[Instant]] = [[t] for t in sorted(instants)[:1]]
    for before, after in pairwise(sorted(instants)):
        if LINKS[op](after - before, duration):
            runs[-1].append(after)
        else:
            runs.append([after])
    return {(run[0], run[-1]) for run in runs if len(run) > 1}


def filtered(intervals: Set[Interval], op: str, duration: int, now: int) -> set[Interval]:
    """``filter(φ, op(D))``: closed intervals by their length, open ones by what is certain of it at ``now``."""
    return {x for x in intervals if _passes(x, op, duration, now)}


def _passes(x: Interval, op: str, duration: int, now: int) -> bool:
    start, end = x
    if end == INFINITY:
        return (op == "greater" and now - start >= duration) or (op == "at_least" and now - start + 1 >= duration)
    return LINKS[LENGTHS[op]](int(end) - start, duration)


# --- 4.5 Relations ----------------------------------------------------------------------------------------------------

#: converse relation -> the relation with its operands exchanged
CONVERSES = {
    "after": "before",
    "met_by": "meets",
    "overlapped_by": "overlaps",
    "finished_by": "finishes",
    "started_by": "starts",
    "during": "contains",
}


def span(item: Instant | Interval) -> Span:
    """An instant t is used as [t, t]."""
    return (item, item) if isinstance(item, int) else item


def related(rel: str, left: Set[Instant | Interval], right: Set[Instant | Interval]) -> set[Interval]:
    """``φ rel ψ``: all pairs of which the relation holds give a result; the results are a set."""
    if rel in CONVERSES:
        return related(CONVERSES[rel], right, left)
    found = set()
    for a in left:
        for b in right:
            x, y = span(a), span(b)
            holds = RELATIONS[rel](x, y, isinstance(a, int))
            if holds and (rel != "before" or contiguous(x, y, left, right)):
                found.add({"x": x, "y": y, "hull": (x[0], y[1])}[RESULTS[rel]])
    return found


def contiguous(x: Span, y: Span, left: Set[Instant | Interval], right: Set[Instant | Interval]) -> bool:
    """No φ ends, and no ψ starts, strictly between the end of x and the start of y."""
    ends, starts = [span(a)[1] for a in left], [span(b)[0] for b in right]
    return not any(x[1] < e < y[0] for e in ends) and not any(x[1] < s < y[0] for s in starts)


def _starts(x: Span, y: Span, instant: bool) -> bool:
    return x[0] == y[0] if instant else x[0] == y[0] and x[1] < y[1]


def _finishes(x: Span, y: Span, instant: bool) -> bool:
    return x[1] == y[1] if instant else y[0] < x[0] and x[1] == y[1] < INFINITY


# two ends at infinity are neither equal nor ordered: `<` is false of them, `=` asks for finite ones
RELATIONS: dict[str, Callable[[Span, Span, bool], bool]] = {
    "before": lambda x, y, instant: x[1] < y[0],
    "meets": lambda x, y, instant: x[1] == y[0],
    "overlaps": lambda x, y, instant: x[0] < y[0] < x[1] < y[1],
    "starts": _starts,
    "finishes": _finishes,
    "equals": lambda x, y, instant: x[0] == y[0] and x[1] == y[1] < INFINITY,
    "contains": lambda x, y, instant: x[0] < y[0] and y[1] < x[1],
}
#: what a pair gives: x, y, or from the start of x to the end of y
RESULTS = {
    "before": "hull",
    "meets": "hull",
    "overlaps": "hull",
    "starts": "y",
    "finishes": "y",
    "equals": "y",
    "contains": "x",
}
