"""Selection kernels: bind a candidate to partial matches (TESLA, paper section 4.4; tesla.md, section 5).

A partial match ``i`` has a rule ``rule[i]`` (of its template) and a range ``[lo[a], hi[a])`` of an index ``order``,
with a = ``at[i]``, or a = i if ``at`` is empty.
``mask[rule, row]`` says which candidates pass the rule's own constraints (no rows: all pass); ``bound[m, i]`` are rows
that the match has bound already, of the same type.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, over_ranges


@kernel
def _fits(row: int, i: int, r: int, mask: np.ndarray, masked: bool, bound: np.ndarray) -> bool:
    if masked and not mask[r, row]:
        return False
    for m in range(bound.shape[0]):  # noqa: SIM110 - numba
        if bound[m, i] == row:
            return False
    return True


@kernel
def passing(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rule, row) of all true entries, rule by rule: faster than ``np.nonzero``."""
    rules, n = mask.shape
    total = 0
    for r in range(rules):
        for i in range(n):
            total += mask[r, i]
    rule = np.empty(total, np.int64)
    row = np.empty(total + 1, np.int64)  # written always, kept if true
    k = 0
    for r in range(rules):
        begin = k
        for i in range(n):
            row[k] = i
            k += mask[r, i]
        rule[begin:k] = r
    return rule, row[:total]


@kernel(work=over_ranges)
def expand(
    lo: np.ndarray,
    hi: np.ndarray,
    at: np.ndarray,
    order: np.ndarray,
    rule: np.ndarray,
    mask: np.ndarray,
    bound: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """All candidates of every match, in order: (match number, candidate row)."""
    masked = mask.shape[0] > 0
    plain = not masked and bound.shape[0] == 0
    direct = len(at) == 0
    n = len(rule)
    total = 0
    for i in range(n):
        a = i if direct else at[i]
        if plain:
            total += hi[a] - lo[a]
        else:
            for p in range(lo[a], hi[a]):
                if _fits(order[p], i, rule[i], mask, masked, bound):
                    total += 1
    match = np.empty(total, np.int64)
    row = np.empty(total, np.int64)
    k = 0
    for i in range(n):
        a = i if direct else at[i]
        for p in range(lo[a], hi[a]):
            if plain or _fits(order[p], i, rule[i], mask, masked, bound):
                match[k] = i
                row[k] = order[p]
                k += 1
    return match, row


@kernel(work=over_ranges)
def choose(
    lo: np.ndarray,
    hi: np.ndarray,
    at: np.ndarray,
    order: np.ndarray,
    rule: np.ndarray,
    mask: np.ndarray,
    bound: np.ndarray,
    k: int,
    last: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The k-th candidate from the start, or the end: (match number, row) of the matches that have one."""
    masked = mask.shape[0] > 0
    direct = len(at) == 0
    n = len(rule)
    match = np.empty(n, np.int64)
    row = np.empty(n, np.int64)
    out = 0
    for i in range(n):
        left = k
        a = i if direct else at[i]
        width = hi[a] - lo[a]
        for step in range(width):
            p = hi[a] - 1 - step if last else lo[a] + step
            if _fits(order[p], i, rule[i], mask, masked, bound):
                left -= 1
                if left == 0:
                    match[out] = i
                    row[out] = order[p]
                    out += 1
                    break
    return match[:out].copy(), row[:out].copy()


@kernel
def nth_per_match(match: np.ndarray, k: int, last: bool) -> np.ndarray:
    """``match`` ascends; positions of the k-th entry of each run, from its start or end."""
    n = len(match)
    out = np.empty(n, np.int64)
    found = 0
    i = 0
    while i < n:
        j = i
        while j < n and match[j] == match[i]:
            j += 1
        if j - i >= k:
            out[found] = j - k if last else i + k - 1
            found += 1
        i = j
    return out[:found].copy()


@kernel
def narrowed(
    lo: np.ndarray,
    hi: np.ndarray,
    time: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    order: np.ndarray,
    times: np.ndarray,
) -> np.ndarray:
    """``lo``, raised to the first position whose ``time`` is not before that of the last row in [first, last).

    The rows in [first, last) are those of another index: ``order`` and the ``times`` of its rows.
    """
    out = lo.copy()
    for i in range(len(lo)):
        if last[i] <= first[i]:
            continue
        t = times[order[last[i] - 1]]
        a, b = lo[i], hi[i]
        while a < b:
            middle = (a + b) >> 1
            if time[middle] < t:
                a = middle + 1
            else:
                b = middle
        out[i] = a
    return out


@kernel(work=over_ranges)
def any_unbound(lo: np.ndarray, hi: np.ndarray, order: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Booleans: does the range hold a row that the match has not bound itself?"""
    n = len(lo)
    out = np.zeros(n, np.bool_)
    for i in range(n):
        for p in range(lo[i], hi[i]):
            free = True
            for m in range(bound.shape[0]):
                if bound[m, i] == order[p]:
                    free = False
                    break
            if free:
                out[i] = True
                break
    return out
