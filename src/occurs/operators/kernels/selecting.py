"""Selection kernels: bind a candidate to partial matches (TESLA, paper section 4.4; tesla.md, section 5).

A partial match ``i`` has a rule ``rule[i]`` (of its template) and a range ``[lo[a], hi[a])`` of an index ``order``,
with a = ``at[i]``, or a = i if ``at`` is empty.  At position p of the index is row ``order[p] - base``.
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
    lo: np.ndarray, hi: np.ndarray, at: np.ndarray, order: np.ndarray, base: int, rule: np.ndarray, mask: np.ndarray,
    bound: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """All candidates of every match, in order: (match number, candidate row)."""
    masked = mask.shape[0] > 0
    unbound = bound.shape[0] == 0
    direct = len(at) == 0
    n = len(rule)
    total = 0
    for i in range(n):
        a = i if direct else at[i]
        if unbound:
            total += max(0, hi[a] - lo[a])
        else:
            for p in range(lo[a], hi[a]):
                if _fits(order[p] - base, i, rule[i], mask, masked, bound):
                    total += 1
    match = np.empty(total + 1, np.int64)  # written always, kept if it fits
    row = np.empty(total + 1, np.int64)
    k = 0
    for i in range(n):
        a = i if direct else at[i]
        if unbound and masked:
            r = rule[i]
            for p in range(lo[a], hi[a]):
                match[k] = i
                row[k] = order[p] - base
                k += mask[r, row[k]]
            continue
        for p in range(lo[a], hi[a]):
            if unbound or _fits(order[p] - base, i, rule[i], mask, masked, bound):
                match[k] = i
                row[k] = order[p] - base
                k += 1
    if 2 * k < total:  # so that the rest does not stay
        return match[:k].copy(), row[:k].copy()
    return match[:k], row[:k]


@kernel(work=over_ranges)
def choose(
    lo: np.ndarray, hi: np.ndarray, at: np.ndarray, order: np.ndarray, base: int, rule: np.ndarray, mask: np.ndarray,
    bound: np.ndarray, k: int, last: bool,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
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
            if _fits(order[p] - base, i, rule[i], mask, masked, bound):
                left -= 1
                if left == 0:
                    match[out] = i
                    row[out] = order[p] - base
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
    lo: np.ndarray, hi: np.ndarray, time: np.ndarray, first: np.ndarray, last: np.ndarray, order: np.ndarray,
    base: int, times: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """``lo``, raised to the first position whose ``time`` is not before that of the last row in [first, last).

    The rows in [first, last) are those of another index: its ``order`` and ``base``, and the ``times`` of its rows.
    """
    out = lo.copy()
    for i in range(len(lo)):
        if last[i] <= first[i]:
            continue
        t = times[order[last[i] - 1] - base]
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
def any_unbound(
    lo: np.ndarray, hi: np.ndarray, order: np.ndarray, base: int, bound: np.ndarray
) -> np.ndarray:
    """Booleans: does the range hold a row that the match has not bound itself?"""
    n = len(lo)
    out = np.zeros(n, np.bool_)
    for i in range(n):
        for p in range(lo[i], hi[i]):
            free = True
            for m in range(bound.shape[0]):
                if bound[m, i] == order[p] - base:
                    free = False
                    break
            if free:
                out[i] = True
                break
    return out


# -- many rules at once: per row a set of the rules whose constraints it passes, as the bits of one 64-bit word --------
#: rules that fit into a set
MOST = 64

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(64, np.int64)
for _i in range(64):
    _POSITION[((1 << _i) * int(_DE_BRUIJN) % 2**64) >> 58] = _i


@kernel
def rule_sets(mask: np.ndarray) -> np.ndarray:
    """uint64 (rows) of booleans (rules, rows)."""
    rules, n = mask.shape
    out = np.zeros(n, np.uint64)
    for r in range(rules):
        bit = np.uint64(1) << np.uint64(r)
        for i in range(n):
            if mask[r, i]:
                out[i] |= bit
    return out


@kernel
def compared(values: np.ndarray, limits: np.ndarray, rules: np.ndarray, op: int) -> np.ndarray:
    """uint64 (values): the set of the rules whose limit a value compares with: ``value op limit``.

    limits: ascending; rules: the rule of each limit; op: 0 >, 1 >=, 2 <, 3 <=, 4 =, 5 !=.
    """
    n = len(limits)
    least = np.zeros(n + 1, np.uint64)  # the rules of the so many least limits
    for i in range(n):
        least[i + 1] = least[i] | (np.uint64(1) << np.uint64(rules[i]))
    every = least[n]
    out = np.empty(len(values), np.uint64)
    for k in range(len(values)):
        value = values[k]
        below, rest = 0, n  # how many limits are less than the value; then how many are not greater
        while rest > 0:
            half = rest >> 1
            if limits[below + half] < value:
                below += half + 1
                rest -= half + 1
            else:
                rest = half
        if op == 0:
            out[k] = least[below]
            continue
        if op == 3:
            out[k] = every & ~least[below]
            continue
        up_to = below
        while up_to < n and limits[up_to] == value:
            up_to += 1
        if op == 1:
            out[k] = least[up_to]
        elif op == 2:
            out[k] = every & ~least[up_to]
        elif op == 4:
            out[k] = least[up_to] & ~least[below]
        else:
            out[k] = every & ~(least[up_to] & ~least[below])
    return out


@kernel
def _walk(
    starts: np.ndarray, first_row: int, lo: np.ndarray, hi: np.ndarray, order: np.ndarray, base: int,
    passes: np.ndarray, policy: int, same: bool, put: np.ndarray, rows: np.ndarray, chosen: np.ndarray,
) -> None:  # fmt: skip
    """Advance ``put`` (per rule) by every match; note the matches if ``rows`` has room for any."""
    note = len(rows) > 0
    everything = len(passes) == 0
    for i in range(len(starts)):
        left = starts[i]
        if left == 0:
            continue
        row = first_row + i
        width = hi[i] - lo[i]
        for step in range(width):
            p = hi[i] - 1 - step if policy == 2 else lo[i] + step
            candidate = order[p] - base
            if same and candidate == row:
                continue
            fit = left if everything else left & passes[candidate]
            if fit == 0:
                continue
            if policy != 0:
                left &= ~fit
            while fit != 0:
                low = fit & (~fit + np.uint64(1))
                r = _POSITION[(low * _DE_BRUIJN) >> np.uint64(58)]
                if note:
                    rows[put[r]] = row
                    chosen[put[r]] = candidate
                put[r] += 1
                fit ^= low
            if left == 0:
                break


@kernel
def first_step(
    starts: np.ndarray, first_row: int, lo: np.ndarray, hi: np.ndarray, order: np.ndarray, base: int,
    passes: np.ndarray, policy: int, same: bool, n_rules: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Terminators and the first event selected for them, rule by rule: (rule, terminator row, candidate row).

    starts: sets of the rules that terminator ``first_row + i`` starts; [lo, hi): per terminator the range of
    ``order`` with its candidates; passes: sets per candidate row (no entries: all rules).  policy: 0 each, 1 first,
    2 last.  same: a terminator is no candidate for itself.
    """
    nothing = np.zeros(0, np.int64)
    count = np.zeros(n_rules, np.int64)
    _walk(starts, first_row, lo, hi, order, base, passes, policy, same, count, nothing, nothing)
    put = np.zeros(n_rules, np.int64)
    total = 0
    for r in range(n_rules):
        put[r] = total
        total += count[r]
    rule = np.empty(total, np.int64)
    rows = np.empty(total, np.int64)
    chosen = np.empty(total, np.int64)
    for r in range(n_rules):
        rule[put[r] : put[r] + count[r]] = r
    if total > 0:
        _walk(starts, first_row, lo, hi, order, base, passes, policy, same, put, rows, chosen)
    return rule, rows, chosen
