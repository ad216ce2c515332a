"""The search for row patterns: one match after the other, partition by partition (match-recognize.md, sections 4, 12).

A search is a place in its program and a row.  Where it has a choice, the other way goes onto a stack, and the choice is
noted: whoever comes there again at the same row has failed, as long as what conditions read is the same.  What has been
noted on the way to a match is taken back.  All that lives is in arrays, so the search can stop in the midst of a
match, ask for the value of a condition, and go on when it is called again with the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import row_tables as T
from occurs.operators.kernels.growing import higher, longer
from occurs.operators.kernels.stackcode import DONE, Arrays, evaluate

_SEARCH, _FAIL, _WAIT, _FOUND, _BEGIN = range(5)
_ONE = np.uint64(1)
#: sums beyond this are computed by somebody else
_MOST = 1 << 61
_EXACT = 1 << 53


@kernel
def search(
    code: np.ndarray, variables: np.ndarray, uses: np.ndarray, slots: np.ndarray, running: np.ndarray, program: Arrays,
    pool: Arrays, mask: np.ndarray, parts: np.ndarray, limits: np.ndarray, skip_to: np.ndarray, fate: np.ndarray,
    always: np.ndarray, attempt: np.ndarray, epoch: np.ndarray, calc: Arrays, roles: np.ndarray, work: Arrays,
) -> tuple[int, Arrays]:  # fmt: skip
    """Search all partitions; returns how the run ends (T.FINISHED ..) and ``work``.

    code, variables, uses (of roles), running (values), parts: tables, see :mod:`.row_tables`.  ``slots``: booleans
    (slots, variables).  program: stack code; pool: (values, the same as floats, known, time): a row per row, and one
    more for values that are not of a row.  ``mask``: uint8 (masks, rows).  ``limits``: [ticks that a match may take or
    -1, frontier, steps per attempt, T.PAST .., keep attempts that WITHIN ends].  ``skip_to``: booleans, by variable.
    ``fate``: uint8 per row, or empty.  ``always``, ``attempt``: uint64 (rows + partitions, words), what is noted;
    ``epoch``: of which attempt.  calc: stack; ``roles``: rows of roles.  work: all that grows: registers, variables of
    the mapped rows, stack, notes to take back, matches, attempts that WITHIN ends and their variables, what is known of
    the mapping behind each row, as ints and as floats.
    """
    reg, labels, stack, trail, matches, ended, ended_labels, ints, reals = work
    values, real, known, time = pool
    within, frontier, most_steps, skip, keep_ended = limits[0], limits[1], limits[2], limits[3], limits[4]
    n_slots = len(slots)
    remembers = n_slots + len(running) > 0
    p, s, row, pc = reg[T.R_PART], reg[T.R_FIRST], reg[T.R_ROW], reg[T.R_AT]
    top, trailing, used, steps = reg[T.R_TOP], reg[T.R_TRAIL], reg[T.R_USED], reg[T.R_STEPS]
    cut, answer = reg[T.R_CUT], reg[T.R_ANSWER]
    status = T.FINISHED
    doing = _SEARCH if reg[T.R_BEGUN] else _BEGIN
    lo, hi, closed = 0, 0, False
    over = False
    if p < len(parts):
        lo, hi, closed = parts[p, T.LOW], parts[p, T.HIGH], parts[p, T.CLOSED] != 0
        if doing == _BEGIN:
            s = parts[p, T.START]
        elif within >= 0:
            over = time[s] + within <= frontier
    while True:
        if doing == _SEARCH:
            steps += 1
            op = code[pc, T.OP]
            if op == T.SPLIT:
                memory = code[pc, T.THREE]
                doing_this = True
                if memory != T.NEVER:
                    at = row + p
                    word = code[pc, T.FOUR] >> 6
                    bit = _ONE << np.uint64(code[pc, T.FOUR] & 63)
                    if memory == T.ALWAYS:
                        if always[at, word] & bit:
                            doing_this = False
                        else:
                            always[at, word] |= bit
                            if trailing == len(trail):
                                trail = higher(trail, 2 * trailing)
                            trail[trailing, 0] = at
                            trail[trailing, 1] = code[pc, T.FOUR]
                            trailing += 1
                    else:
                        if epoch[at] != reg[T.R_EPOCH]:
                            epoch[at] = reg[T.R_EPOCH]
                            for w in range(attempt.shape[1]):
                                attempt[at, w] = 0
                        if attempt[at, word] & bit:
                            doing_this = False
                        else:
                            attempt[at, word] |= bit
                if doing_this:
                    if top == len(stack):
                        stack = higher(stack, 2 * top)
                    stack[top, 0] = code[pc, T.TWO]
                    stack[top, 1] = row
                    stack[top, 2] = trailing
                    top += 1
                    pc = code[pc, T.ONE]
                else:
                    doing = _FAIL
            elif op == T.ROW:
                if steps > most_steps:
                    status = T.TOO_LONG
                    reg[T.R_ASKED] = code[pc, T.ONE]
                    break
                late = row >= hi
                if late:
                    if closed or over:
                        late = over
                        doing = _FAIL
                    else:
                        doing = _WAIT
                        late = False
                elif within >= 0 and time[row] - time[s] > within:
                    late = True
                    doing = _FAIL
                if late and row > s and cut < 0 and keep_ended:
                    # the first way that needs a row beyond the bound
                    cut = row - s
                    while reg[T.R_ENDED_USED] + cut > len(ended_labels):
                        ended_labels = longer(ended_labels, 2 * len(ended_labels))
                    for k in range(cut):
                        ended_labels[reg[T.R_ENDED_USED] + k] = labels[used + k]
                if doing == _SEARCH:
                    v = code[pc, T.ONE]
                    d = row - s
                    if used + d >= len(labels):
                        labels = longer(labels, 2 * len(labels))
                    labels[used + d] = 2 * v + code[pc, T.THREE]
                    if remembers:
                        if d + 1 >= len(ints):
                            ints = higher(ints, 2 * len(ints))
                            reals = higher(reals, 2 * len(reals))
                        _note(ints, reals, d, row, v, slots, running, values, real, known)
                    true = T.TRUE
                    if answer >= 0:
                        true = answer
                        answer = -1
                    else:
                        m = variables[v, T.MASK]
                        begin, stop = variables[v, T.ROLE_BEGIN], variables[v, T.ROLE_STOP]
                        if m >= 0:
                            true = np.int64(mask[m, row])
                        if stop > begin and not closed and true != T.OPEN:
                            for u in range(begin, stop):
                                if uses[u, T.AHEAD] > 0:
                                    reached = _reached(ints, d + 1, s, uses, u)
                                    if reached >= 0 and reached + uses[u, T.AHEAD] >= hi:
                                        true = T.OPEN
                        if true == T.LOST or (true == T.TRUE and variables[v, T.ASKS] != 0):
                            status = T.ASKING
                        elif true == T.TRUE and variables[v, T.CODE_STOP] > variables[v, T.CODE_BEGIN]:
                            for u in range(begin, stop):
                                roles[uses[u, T.ROLE]] = _reached(ints, d + 1, s, uses, u)
                            lost = False
                            if len(running):
                                lost = _values(
                                    ints, reals, d + 1, n_slots, running, values, real, known,
                                    parts[p, T.NUMBER] + 1,
                                )  # fmt: skip
                            if lost:
                                status = T.ASKING
                            elif evaluate(
                                program, variables[v, T.CODE_BEGIN], variables[v, T.CODE_STOP], pool, roles, row, calc
                            ) != DONE:  # fmt: skip
                                status = T.ASKING
                            elif not (calc[2][0] and calc[0][0] != 0):
                                true = T.FALSE
                        if status == T.ASKING:
                            reg[T.R_ASKED] = v
                            break
                    if true == T.TRUE:
                        row += 1
                        pc = code[pc, T.TWO]
                    elif true == T.OPEN:
                        doing = _WAIT
                    else:
                        doing = _FAIL
            elif op == T.MATCH:
                doing = _FOUND
            elif op == T.END:
                if row < hi:
                    doing = _FAIL
                elif closed:
                    pc = code[pc, T.ONE]
                else:
                    doing = _WAIT
            elif row == lo and parts[p, T.WHOLE] != 0:
                pc = code[pc, T.ONE]
            else:
                doing = _FAIL
        elif doing == _FAIL:
            if top > 0:
                top -= 1
                pc, row, trailing = stack[top, 0], stack[top, 1], stack[top, 2]
                doing = _SEARCH
            else:
                if cut >= 0:
                    n = reg[T.R_ENDED]
                    if n == len(ended):
                        ended = higher(ended, 2 * n)
                    ended[n, T.PART] = p
                    ended[n, T.FROM] = s
                    ended[n, T.SIZE] = cut
                    ended[n, T.LABELS] = reg[T.R_ENDED_USED]
                    reg[T.R_ENDED] += 1
                    reg[T.R_ENDED_USED] += cut
                if len(fate) and fate[s] == T.FREE:
                    fate[s] = T.UNMATCHED
                s += 1
                doing = _BEGIN
        elif doing == _FOUND:
            size = row - s
            n = reg[T.R_MATCHES]
            if n == len(matches):
                matches = higher(matches, 2 * n)
            parts[p, T.NUMBER] += 1
            matches[n, T.PART] = p
            matches[n, T.FROM] = s
            matches[n, T.SIZE] = size
            matches[n, T.LABELS] = used
            matches[n, T.NR] = parts[p, T.NUMBER]
            reg[T.R_MATCHES] += 1
            for k in range(trailing):
                bit = _ONE << np.uint64(trail[k, 1] & 63)
                always[trail[k, 0], trail[k, 1] >> 6] &= ~bit
            if len(fate):
                fate[s] = T.COVERED
                for k in range(s + 1, row):
                    fate[k] = T.COVERED
            to = s + 1
            if size > 0 and skip == T.PAST:
                to = row
            elif size > 0 and skip != T.NEXT:
                to = -1
                for k in range(size):
                    found = k if skip == T.TO_FIRST else size - 1 - k
                    if skip_to[labels[used + found] >> 1]:
                        to = s + found
                        break
                if to <= s:
                    status = T.NO_ROW if to < 0 else T.SAME_ROW
                    break
            used += size
            s = to
            doing = _BEGIN
        elif doing == _WAIT:
            parts[p, T.WAITS] = s
            p += 1
            if p < len(parts):
                lo, hi, closed = parts[p, T.LOW], parts[p, T.HIGH], parts[p, T.CLOSED] != 0
                s = parts[p, T.START]
            doing = _BEGIN
        elif p >= len(parts):
            break
        elif s >= hi:
            doing = _WAIT  # for rows that are not there yet
        else:
            reg[T.R_EPOCH] += 1
            reg[T.R_TOTAL] += steps
            row, pc, top, trailing, steps, cut = s, 0, 0, 0, 0, -1
            over = within >= 0 and time[s] + within <= frontier
            if remembers:
                for k in range(ints.shape[1]):
                    ints[0, k] = 0
                for k in range(n_slots):
                    ints[0, 3 * k] = -1
                    ints[0, 3 * k + 1] = -1
                for k in range(reals.shape[1]):
                    reals[0, k] = 0.0
            doing = _SEARCH
    reg[T.R_PART], reg[T.R_FIRST], reg[T.R_ROW], reg[T.R_AT] = p, s, row, pc
    reg[T.R_TOP], reg[T.R_TRAIL], reg[T.R_USED], reg[T.R_STEPS] = top, trailing, used, steps
    reg[T.R_CUT], reg[T.R_ANSWER] = cut, answer
    reg[T.R_BEGUN] = 1
    return status, (reg, labels, stack, trail, matches, ended, ended_labels, ints, reals)


@kernel
def _reached(ints: np.ndarray, d: int, s: int, uses: np.ndarray, u: int) -> int:
    """The row that a use of a role reads when ``d`` rows are mapped from row ``s`` on; -1: none."""
    column = 3 * uses[u, T.SLOT]
    offset = uses[u, T.OFFSET]
    if ints[d, column + 2] <= offset:
        return -1
    if uses[u, T.KIND] == T.LAST:
        row = ints[d, column]
        for _ in range(offset):
            row = ints[row - s, column]
        return row
    if offset == 0:
        return ints[d, column + 1]
    low, high = 1, d
    while low < high:
        middle = (low + high) // 2
        if ints[middle, column + 2] > offset:
            high = middle
        else:
            low = middle + 1
    return s + low - 1


@kernel
def _note(
    ints: np.ndarray, reals: np.ndarray, d: int, row: int, v: int, slots: np.ndarray, running: np.ndarray,
    values: np.ndarray, real: np.ndarray, known: np.ndarray,
) -> None:  # fmt: skip
    """What is known of the mapping when ``row`` is mapped to variable ``v`` behind ``d`` rows."""
    for k in range(ints.shape[1]):
        ints[d + 1, k] = ints[d, k]
    for k in range(reals.shape[1]):
        reals[d + 1, k] = reals[d, k]
    for k in range(len(slots)):
        if slots[k, v]:
            if ints[d, 3 * k + 2] == 0:
                ints[d + 1, 3 * k + 1] = row
            ints[d + 1, 3 * k] = row
            ints[d + 1, 3 * k + 2] += 1
    for k in range(len(running)):
        kind, column = running[k, T.AGGREGATE], running[k, T.FROM_COLUMN]
        if kind == T.MATCHES or not slots[running[k, T.OF_SLOT], v] or (column >= 0 and not known[row, column]):
            continue
        at = 3 * (len(slots) + k)
        count = ints[d, at]
        ints[d + 1, at] = count + 1
        if kind == T.COUNT:
            continue
        if running[k, T.REAL]:
            x, old = real[row, column], reals[d, 2 * k]
            if kind == T.LEAST:
                reals[d + 1, 2 * k] = x if count == 0 or x < old else old
            elif kind == T.GREATEST:
                reals[d + 1, 2 * k] = x if count == 0 or x > old else old
            else:
                # the sum, and what rounding has taken from it
                new = old + x
                part = new - old
                reals[d + 1, 2 * k] = new
                reals[d + 1, 2 * k + 1] += (old - (new - part)) + (x - part)
        else:
            y, before = values[row, column], ints[d, at + 1]
            if kind == T.LEAST:
                ints[d + 1, at + 1] = y if count == 0 or y < before else before
            elif kind == T.GREATEST:
                ints[d + 1, at + 1] = y if count == 0 or y > before else before
            else:
                if y > _MOST or y < -_MOST or before > _MOST or before < -_MOST:
                    ints[d + 1, at + 2] = 1
                ints[d + 1, at + 1] = before + y


@kernel
def _values(
    ints: np.ndarray, reals: np.ndarray, d: int, n_slots: int, running: np.ndarray, values: np.ndarray,
    real: np.ndarray, known: np.ndarray, number: Any,
) -> bool:  # fmt: skip
    """Put the running values of ``d`` mapped rows where the stack code reads them.  Is one of them not exact?"""
    last = len(values) - 1
    lost = False
    for k in range(len(running)):
        kind, to, at = running[k, T.AGGREGATE], running[k, T.TO_COLUMN], 3 * (n_slots + k)
        count = ints[d, at]
        known[last, to] = count > 0 or kind == T.COUNT or kind == T.MATCHES
        if kind == T.MATCHES:
            values[last, to] = number
        elif kind == T.COUNT:
            values[last, to] = count
        elif running[k, T.REAL]:
            x = reals[d, 2 * k]
            if kind == T.SUM or kind == T.AVERAGE:
                x = x + reals[d, 2 * k + 1]
                if not np.isfinite(x):
                    lost = True
            real[last, to] = x / max(count, 1) if kind == T.AVERAGE else x
        else:
            if ints[d, at + 2] != 0:
                lost = True
            total = ints[d, at + 1]
            if kind == T.AVERAGE:
                if total > _EXACT or total < -_EXACT:
                    lost = True
                real[last, to] = total / max(count, 1)
            else:
                values[last, to] = total
    return lost
