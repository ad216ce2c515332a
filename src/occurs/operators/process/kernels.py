"""Kernels over items of many traces: one pass in the order of the items, one state per trace.

``code`` (n): the trace of each item; arrays of state have a place per trace and are changed where they stand.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel


@kernel
def count_up(code: np.ndarray, state: np.ndarray, out: np.ndarray) -> None:
    """``out``: how many items of its trace were before each one."""
    for i in range(len(code)):
        c = code[i]
        out[i] = state[c]
        state[c] += 1


@kernel
def sum_ints(code: np.ndarray, value: np.ndarray, valid: np.ndarray, state: np.ndarray, out: np.ndarray) -> int:
    """Sums so far; the first row at which one does not fit into int64, or -1.  ``valid`` may be empty: all are."""
    some = len(valid) > 0
    for i in range(len(code)):
        c = code[i]
        s = state[c]
        if not some or valid[i]:
            a, b = s, value[i]
            s = a + b
            if ((a ^ s) & (b ^ s)) < 0:
                return i
            state[c] = s
        out[i] = s
    return -1


@kernel
def sum_floats(code: np.ndarray, value: np.ndarray, valid: np.ndarray, state: np.ndarray, out: np.ndarray) -> None:
    """Sums so far."""
    some = len(valid) > 0
    for i in range(len(code)):
        c = code[i]
        if not some or valid[i]:
            state[c] += value[i]
        out[i] = state[c]


@kernel
def extremes(
    code: np.ndarray, value: np.ndarray, valid: np.ndarray, greatest: bool, state: np.ndarray, there: np.ndarray,
    out: np.ndarray, known: np.ndarray,
) -> None:  # fmt: skip
    """Greatest (least) so far; NaN once there was one.  ``there``: whether a trace has a value, ``known`` (n): the
    same behind each item."""
    some = len(valid) > 0
    for i in range(len(code)):
        c = code[i]
        if not some or valid[i]:
            v, s = value[i], state[c]
            if there[c] == 0:
                state[c] = v
                there[c] = 1
            elif s == s and (v != v or (v > s if greatest else v < s)):
                state[c] = v
        out[i] = state[c]
        known[i] = there[c]


@kernel
def tables(code: np.ndarray, value: np.ndarray, table: np.ndarray, state: np.ndarray, out: np.ndarray) -> None:
    """``state = table[state, value]`` over small ints: AND, OR over truth values, machines over codes of guards."""
    for i in range(len(code)):
        c = code[i]
        s = table[state[c], value[i]]
        state[c] = s
        out[i] = s


@kernel
def every(code: np.ndarray, time: np.ndarray, width: int, last: np.ndarray, kept: np.ndarray) -> None:
    """``kept`` (n): the first item, then the first at least ``width`` after the last one kept."""
    least = np.iinfo(np.int64).min
    for i in range(len(code)):
        c = code[i]
        if last[c] == least or time[i] - last[c] >= width:
            last[c] = time[i]
            kept[i] = True


@kernel
def dead(code: np.ndarray, live: np.ndarray, n: int, left: np.ndarray, zero: np.ndarray) -> None:
    """``zero`` (n): items among the ``n`` after one that is live."""
    for i in range(len(code)):
        c = code[i]
        if left[c] > 0:
            left[c] -= 1
            zero[i] = True
        elif live[i]:
            left[c] = n


@kernel
def persist(
    code: np.ndarray, value: np.ndarray, n: int, held: np.ndarray, since: np.ndarray, out: np.ndarray
) -> None:
    """``out`` (n): the value of the greatest size, held for ``n`` items more; ``held``, ``since``: per code."""
    for i in range(len(code)):
        c = code[i]
        since[c] += 1
        if abs(value[i]) > abs(held[c]):
            held[c] = value[i]
            since[c] = 0
        if since[c] > n:
            held[c] = 0.0
            since[c] = 0
        out[i] = held[c]


@kernel
def last_rows(code: np.ndarray, at: np.ndarray) -> None:
    """``at`` (per code): the last row of each."""
    for i in range(len(code)):
        at[code[i]] = i


@kernel
def slots(
    least: int, keys: np.ndarray, table: np.ndarray, free: np.ndarray, next_: int, out: np.ndarray, new: np.ndarray
) -> int:
    """Numbers for keys by a table of those from ``least`` on (-1: none yet): ``free`` ones, then from ``next_`` on.

    ``new``: the rows at which keys come for the first time; returns how many there are.
    """
    made = 0
    for i in range(len(keys)):
        k = keys[i] - least
        s = table[k]
        if s < 0:
            s = free[made] if made < len(free) else next_ + made - len(free)
            table[k] = s
            new[made] = i
            made += 1
        out[i] = s
    return made


@kernel
def previous(code: np.ndarray, last: np.ndarray, out: np.ndarray) -> None:
    """``out``: the row of the same code before each one; ``last``: that before the first, by code (-1: none)."""
    for i in range(len(code)):
        out[i] = last[code[i]]
        last[code[i]] = i


@kernel
def distinct(code: np.ndarray, known: np.ndarray, count: int, out: np.ndarray) -> None:
    """``out``: how many codes there were so far, beside the ``count`` that are ``known``."""
    for i in range(len(code)):
        c = code[i]
        if not known[c]:
            known[c] = True
            count += 1
        out[i] = count


@kernel
def newest_sums(
    code: np.ndarray, value: np.ndarray, valid: np.ndarray, newest: np.ndarray, known: np.ndarray, out: np.ndarray,
    counts: np.ndarray,
) -> None:  # fmt: skip
    """``out``: the sum of the newest values of all codes; ``counts``: how many of these are valid.

    ``newest``, ``known`` (per code): those before, 0 where there is none.  ``valid`` may be empty: all are.
    """
    some = len(valid) > 0
    total, count = newest.sum(), known.sum()
    for i in range(len(code)):
        c = code[i]
        there = not some or valid[i]
        v = value[i] if there else 0
        total += v - newest[c]
        count += (1 if there else 0) - known[c]
        newest[c] = v
        known[c] = 1 if there else 0
        out[i] = total
        counts[i] = count


@kernel
def means(
    code: np.ndarray, value: np.ndarray, valid: np.ndarray, power: int, whole: bool,
    count: np.ndarray, exact: np.ndarray, inexact: np.ndarray, high: np.ndarray, low: np.ndarray,
    out: np.ndarray, known: np.ndarray,
) -> None:  # fmt: skip
    """Means of ``value ** power`` so far, nulls left out.  ``code`` may be empty: all are of trace 0.

    Exact sums of whole numbers as long as they fit; from the first one on that does not (``inexact``) a compensated
    sum of floats, which begins with the exact one.  ``whole``: all are whole numbers.  Whether a column has ints or
    floats makes no difference, as that may depend on where a history is cut.
    """
    some, many = len(valid) > 0, len(code) > 0
    c = 0
    n, total, rough = count[0], exact[0], inexact[0] != 0
    for i in range(len(value)):
        if many and code[i] != c:
            count[c], exact[c] = n, total
            c = code[i]
            n, total, rough = count[c], exact[c], inexact[c] != 0
        if not some or valid[i]:
            v = value[i]
            real = 1.0
            for _ in range(power):
                real *= v
            fits = not rough and (whole or v == np.floor(v))
            if fits and abs(real) < 4e18 and abs(np.float64(total) + real) < 9e18:
                term = np.int64(1)
                for _ in range(power):
                    term *= np.int64(v)
                total += term
            else:
                if not rough:
                    rough = True
                    inexact[c] = 1
                    high[c] = np.float64(total)
                    low[c] = np.float64(total - np.int64(high[c]))
                s = high[c]
                t = s + real
                if abs(t) < np.inf:
                    low[c] += (s - t) + real if abs(s) >= abs(real) else (real - t) + s
                high[c] = t
            n += 1
        known[i] = n > 0
        if n > 0:
            out[i] = (high[c] + low[c]) / n if rough else total / n
    count[c], exact[c] = n, total


@kernel
def deviations(
    code: np.ndarray, value: np.ndarray, valid: np.ndarray, whole: bool,
    count: np.ndarray, ones: np.ndarray, squares: np.ndarray, inexact: np.ndarray, mean: np.ndarray, spread: np.ndarray,
    out: np.ndarray, known: np.ndarray,
) -> None:  # fmt: skip
    """Standard deviations (of the population) so far, nulls left out: by exact sums of whole numbers while they fit,
    from then on by Welford's method, which begins with these.  As :func:`means`."""
    some, many = len(valid) > 0, len(code) > 0
    c = 0
    n, one, square, rough = count[0], ones[0], squares[0], inexact[0] != 0
    for i in range(len(value)):
        if many and code[i] != c:
            count[c], ones[c], squares[c] = n, one, square
            c = code[i]
            n, one, square, rough = count[c], ones[c], squares[c], inexact[c] != 0
        if not some or valid[i]:
            v = np.float64(value[i])
            if not rough:
                more = 4e18
                if abs(v) < 2e9 and (whole or v == np.floor(v)):
                    more = (np.float64(square) + v * v) * (n + 1)
                if more < 4e18:
                    one += np.int64(value[i])
                    square += np.int64(value[i]) * np.int64(value[i])
                else:
                    rough = True
                    inexact[c] = 1
                    if n > 0:
                        mean[c] = one / n
                        spread[c] = np.float64(n * square - one * one) / n
            n += 1
            if rough:
                delta = v - mean[c]
                mean[c] += delta / n
                spread[c] += delta * (v - mean[c])
        known[i] = n > 0
        if n > 0:
            if rough:
                out[i] = np.sqrt(spread[c] / n)
            else:
                out[i] = np.sqrt(np.float64(n * square - one * one) / (np.float64(n) * n))
    count[c], ones[c], squares[c] = n, one, square


@kernel
def block_windows(
    value: np.ndarray, first: np.ndarray, ordinal: np.ndarray, n: int, what: int, out: np.ndarray
) -> None:
    """Sums (``what`` 0), greatest (1), least (2) of the last ``n``, by blocks of n (van Herk, Gil, Werman).

    Rows are sorted by trace; ``first``: the row at which the trace of each begins, ``ordinal``: its number in it, which
    alone says where blocks begin, so that no cut shows.  Rows with fewer than n before them keep what they have.
    """
    size = len(value)
    back = np.empty_like(value)
    for i in range(size - 1, -1, -1):
        v = value[i]
        if i + 1 < size and first[i + 1] == first[i] and (ordinal[i] + 1) % n != 0:
            o = back[i + 1]
            if what == 0 or v != v or o != o:
                v = v + o
            elif what == 1:
                v = max(v, o)
            else:
                v = min(v, o)
        back[i] = v
    ahead = value[0] if size else value.sum()
    for i in range(size):
        v = value[i]
        if first[i] == i or ordinal[i] % n == 0:
            ahead = v
        elif what == 0:
            ahead = ahead + v
        elif v != v or ahead != ahead:
            ahead = v + ahead
        elif what == 1:
            ahead = max(ahead, v)
        else:
            ahead = min(ahead, v)
        if i - first[i] >= n - 1:
            if (ordinal[i] + 1) % n == 0:
                out[i] = ahead
            else:
                o = back[i - n + 1]
                if what == 0 or o != o or ahead != ahead:
                    out[i] = o + ahead
                elif what == 1:
                    out[i] = max(o, ahead)
                else:
                    out[i] = min(o, ahead)


@kernel
def lower_bounds(first: np.ndarray, time: np.ndarray, width: int, out: np.ndarray) -> None:
    """Per row the first row of its trace with a time greater than its own less ``width``."""
    lo = 0
    for i in range(len(time)):
        if lo < first[i]:
            lo = first[i]
        while time[lo] <= time[i] - width:
            lo += 1
        out[i] = lo


@kernel
def range_sums(value: np.ndarray, low: np.ndarray, out: np.ndarray) -> None:
    """Sums of the rows from ``low`` on, each from the left."""
    for i in range(len(value)):
        s = value[low[i]]
        for j in range(low[i] + 1, i + 1):
            s += value[j]
        out[i] = s


@kernel
def range_extremes(value: np.ndarray, low: np.ndarray, greatest: bool, out: np.ndarray) -> None:
    """Greatest (least) of the rows from ``low`` on, which never decreases within a trace; NaN if one is."""
    deque = np.empty(len(value), np.int64)
    head = tail = 0
    nan = -1
    for i in range(len(value)):
        v = value[i]
        if v != v:
            nan = i
        while tail > head and (deque[head] < low[i]):
            head += 1
        while tail > head and (value[deque[tail - 1]] <= v if greatest else value[deque[tail - 1]] >= v):
            tail -= 1
        if v == v:
            deque[tail] = i
            tail += 1
        out[i] = value[nan] if nan >= low[i] else value[deque[head]]
