"""Kernels of formulas: from when on verdicts are known, from the last position to the first (pipes.md, 4.5).

``last`` (n): the last position of its trace that is there; ``end``: per position the step from which the end decides
what is beyond (NEVER: it does not), or empty: nowhere.  Rows are sorted by trace and position.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel

NEVER = np.int64(2**62)


#: what a word of a program says
ATOM, PAIR, NOT, AND, OR, IMPLIES, NEXT, ALWAYS, SOMETIME, UNTIL, OPEN = range(11)
#: positions that are worked on at a time: what is between words stays near
BLOCK = 512


# words over a block, each a loop that runs on several numbers at a time; operands are T and F, then those of the right
# side; ``some``: the end decides; ``x``, ``y``: what the word is at the first position behind the block


@kernel
def _atom(value: np.ndarray, step: np.ndarray, null_false: bool, t: np.ndarray, f: np.ndarray) -> None:
    null = 3 if null_false else 0
    for i in range(len(t)):
        v, s = value[i], step[i]
        t[i] = s if v == 2 else NEVER
        f[i] = s if v == 0 or v == null else NEVER


@kernel
def _absent(value: np.ndarray, end: np.ndarray, f: np.ndarray) -> None:
    for i in range(len(f)):
        if value[i] == 4:
            f[i] = end[i]


@kernel
def _and(t: np.ndarray, f: np.ndarray, u: np.ndarray, g: np.ndarray) -> None:
    """OR, with T and F the other way round."""
    for i in range(len(t)):
        a, b, c, d = t[i], f[i], u[i], g[i]
        t[i] = a if a > c else c
        f[i] = b if b < d else d


@kernel
def _implies(t: np.ndarray, f: np.ndarray, u: np.ndarray, g: np.ndarray) -> None:
    for i in range(len(t)):
        a, b, c, d = t[i], f[i], u[i], g[i]
        t[i] = b if b < c else c
        f[i] = a if a > d else d


@kernel
def _not(t: np.ndarray, f: np.ndarray) -> None:
    for i in range(len(t)):
        a = t[i]
        t[i] = f[i]
        f[i] = a


@kernel
def _next(
    t: np.ndarray, f: np.ndarray, last: np.ndarray, end: np.ndarray, some: bool, x: np.int64, y: np.int64
) -> None:
    m = len(t)
    for i in range(m):
        if last[i]:
            t[i] = NEVER
            f[i] = end[i] if some else NEVER
        else:
            t[i] = t[i + 1] if i + 1 < m else x
            f[i] = f[i + 1] if i + 1 < m else y


@kernel
def _always(
    strong: np.ndarray, weak: np.ndarray, last: np.ndarray, end: np.ndarray, some: bool, x: np.int64, y: np.int64
) -> tuple[np.int64, np.int64]:
    """G (``strong``: T) or F (``strong``: F): all from here on, one."""
    for i in range(len(strong) - 1, -1, -1):
        if last[i]:
            x = end[i] if some else NEVER
            y = NEVER
        a, b = strong[i], weak[i]
        x = x if x > a else a
        y = y if y < b else b
        strong[i] = x
        weak[i] = y
    return x, y


@kernel
def _until(
    t: np.ndarray, f: np.ndarray, u: np.ndarray, g: np.ndarray, last: np.ndarray, end: np.ndarray, some: bool,
    x: np.int64, y: np.int64,
) -> tuple[np.int64, np.int64]:  # fmt: skip
    for i in range(len(t) - 1, -1, -1):
        if last[i]:
            x = NEVER
            y = end[i] if some else NEVER
        x = min(u[i], max(t[i], x))
        y = max(g[i], min(f[i], y))
        t[i] = x
        f[i] = y
    return x, y


@kernel
def _unknown(t: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(t)):
        out[i] = t[i] >= NEVER


@kernel
def judge(
    program: np.ndarray, depth: int, values: np.ndarray, steps: np.ndarray, pairs: np.ndarray, last: np.ndarray,
    end: np.ndarray, null_false: bool, true: np.ndarray, false: np.ndarray, open_: np.ndarray,
) -> None:  # fmt: skip
    """T and F of a formula at all positions.

    ``program``: words (what, a, b), operands first.  ATOM: row ``a`` of ``values`` (0 false, 1 unknown, 2 true, 3 null,
    4 not there), known from row ``b`` of ``steps`` on; PAIR: T and F in the rows 2a, 2a + 1 of ``pairs``, its item is
    row ``b`` of ``values``.  OPEN: whether T (``a`` 0) or F (1) of what is there is not known goes to ``open_``.
    ``depth``: operands that are there at a time, at most.
    """
    some = len(end) > 0
    t_all, f_all = np.empty((depth, BLOCK), np.int64), np.empty((depth, BLOCK), np.int64)
    t_next, f_next = np.full(len(program), NEVER), np.full(len(program), NEVER)
    stop = len(last)
    while stop > 0:
        start = max(0, stop - BLOCK)
        m = stop - start
        top = -1
        here = last[start:stop]
        over = end[start:stop] if some else end
        for w in range(len(program)):
            what, a, b = program[w, 0], program[w, 1], program[w, 2]
            if what in (ATOM, PAIR):
                top += 1
            elif what in (AND, OR, IMPLIES, UNTIL):
                top -= 1
            t, f = t_all[top, :m], f_all[top, :m]
            if what == ATOM:
                _atom(values[a, start:stop], steps[b, start:stop], null_false, t, f)
                if some:
                    _absent(values[a, start:stop], over, f)
            elif what == PAIR:
                t[:] = pairs[2 * a, start:stop]
                f[:] = pairs[2 * a + 1, start:stop]
                if some:
                    _absent(values[b, start:stop], over, f)
            elif what == NOT:
                _not(t, f)
            elif what == AND:
                _and(t, f, t_all[top + 1, :m], f_all[top + 1, :m])
            elif what == OR:
                _and(f, t, f_all[top + 1, :m], t_all[top + 1, :m])
            elif what == IMPLIES:
                _implies(t, f, t_all[top + 1, :m], f_all[top + 1, :m])
            elif what == NEXT:
                x, y = t_next[w], f_next[w]
                t_next[w], f_next[w] = t[0], f[0]
                _next(t, f, here, over, some, x, y)
            elif what == ALWAYS:
                t_next[w], f_next[w] = _always(t, f, here, over, some, t_next[w], f_next[w])
            elif what == SOMETIME:
                f_next[w], t_next[w] = _always(f, t, here, over, some, f_next[w], t_next[w])
            elif what == UNTIL:
                u, g = t_all[top + 1, :m], f_all[top + 1, :m]
                t_next[w], f_next[w] = _until(t, f, u, g, here, over, some, t_next[w], f_next[w])
            else:
                _unknown(t if a == 0 else f, open_[start:stop])
        true[start:stop] = t_all[0, :m]
        false[start:stop] = f_all[0, :m]
        stop = start


@kernel
def decided(
    code: np.ndarray, true: np.ndarray, false: np.ndarray, exists: np.ndarray, end: np.ndarray, latest: np.ndarray,
    step: np.ndarray, value: np.ndarray, emitted: np.ndarray,
) -> None:  # fmt: skip
    """Which positions come out (``emitted``) at which ``step``: those before the first of their trace that is open.

    ``end``: the step at which an open one comes out as null, or empty.  ``latest`` (per trace): that of the last."""
    some = len(end) > 0
    one = len(code) > 0 and code[0] == code[-1]
    blocked = mine = np.int64(-1)
    s = np.int64(0)
    for i in range(len(code)):
        c = code[i]
        if c == blocked:
            continue
        if c != mine:
            mine, s = c, latest[c]
        known = min(true[i], false[i])
        if known >= NEVER and some:
            known = end[i]
        if known >= NEVER:
            if one:
                break
            blocked = c
            continue
        s = max(known, exists[i], s)
        latest[c] = s
        step[i] = s
        value[i] = true[i] < false[i]
        emitted[i] = True


@kernel
def consecutive(values: np.ndarray) -> bool:
    """Is each one more than the one before it?"""
    gaps = 0
    for i in range(1, len(values)):
        gaps += values[i] - values[i - 1] != 1
    return gaps == 0
