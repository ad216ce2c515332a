"""Many rules at once: per row a set of the rules whose constraints it passes, as the bits of one 64-bit word."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel

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
    starts: np.ndarray,
    first_row: int,
    lo: np.ndarray,
    hi: np.ndarray,
    order: np.ndarray,
    passes: np.ndarray,
    policy: int,
    same: bool,
    put: np.ndarray,
    rows: np.ndarray,
    chosen: np.ndarray,
) -> None:
    """Advance ``put`` (per rule) by every match; note the matches if ``rows`` has room for any."""
    note = len(rows) > 0
    everything = len(passes) == 0
    for i in range(len(starts)):
        left = starts[i]
        if left == 0:
            continue
        row = first_row + i
        width = hi[row] - lo[row]
        for step in range(width):
            p = hi[row] - 1 - step if policy == 2 else lo[row] + step
            candidate = order[p]
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
    starts: np.ndarray,
    first_row: int,
    lo: np.ndarray,
    hi: np.ndarray,
    order: np.ndarray,
    passes: np.ndarray,
    policy: int,
    same: bool,
    n_rules: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terminators and the first event selected for them, rule by rule: (rule, terminator row, candidate row).

    starts: sets of the rules that terminator ``first_row + i`` starts; [lo, hi): per terminator row the range of
    ``order`` with its candidates; passes: sets per candidate row (no entries: all rules).  policy: 0 each, 1 first,
    2 last.  same: a terminator is no candidate for itself.
    """
    nothing = np.zeros(0, np.int64)
    count = np.zeros(n_rules, np.int64)
    _walk(starts, first_row, lo, hi, order, passes, policy, same, count, nothing, nothing)
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
        _walk(starts, first_row, lo, hi, order, passes, policy, same, put, rows, chosen)
    return rule, rows, chosen
