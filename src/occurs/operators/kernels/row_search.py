"""The search for row patterns: one match after the other, partition by partition (match-recognize.md, sections 4, 12).

A search is a place in its program and a row.  Where it has a choice, the other way goes onto a stack, and the choice is
noted: whoever comes there again at the same row has failed, as long as what conditions read is the same.  What has been
noted on the way to a match is taken back.  All that lives is in arrays, so the search can stop in the midst of a match,
ask for the value of a condition or for more room, and go on when it is called again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel, over_ranges
from occurs.operators.kernels import row_tables as T
from occurs.operators.kernels.stackcode import DONE, Arrays, compute

_SEARCHING, _FAILED, _FOUND, _WAITS, _STOPS = range(5)
_ONE = np.uint64(1)
#: sums beyond this are computed by somebody else
_MOST = 1 << 61
_EXACT = 1 << 53
#: a way without a choice is noted at every eighth row
_SOMETIMES = 7


@kernel
def search(
    code: np.ndarray, first: np.ndarray, variables: np.ndarray, uses: np.ndarray, slots: np.ndarray,
    running: np.ndarray, program: Arrays, pool: Arrays, bits: np.ndarray, mask: np.ndarray, parts: np.ndarray,
    limits: np.ndarray, skip_to: np.ndarray, fate: np.ndarray, always: np.ndarray, attempt: np.ndarray,
    epoch: np.ndarray, ends: np.ndarray, calc: Arrays, roles: np.ndarray, work: Arrays,
) -> int:  # fmt: skip
    """Search all partitions, or go on; returns how the run ends (T.FINISHED ..).

    code, variables, uses (of roles), running (values), parts: tables, see :mod:`.row_tables`.  ``first``: per place of
    the program the variables that the next row may be mapped to, as bits (-1: any, or no row is needed).  ``slots``:
    booleans (slots, variables).  program: stack code; pool: (values, the same as floats, known, time): a row per row,
    and one more for values that are not of a row.  ``bits``: uint16 per row, the variables whose condition may be
    true.  ``mask``: uint8 (masks, rows).  ``limits``: [ticks that a match may take or -1, frontier, steps per attempt,
    T.PAST .., are attempts kept that WITHIN ends].  ``skip_to``: booleans, by variable.  ``fate``: uint8 per row, or
    empty.  ``always``, ``attempt``: uint64 (rows + partitions, words), the failures that are noted; ``epoch``: in which
    attempt.  ``ends``: int32 (rows + partitions, splits), or empty: where the match from a split and row goes on, as
    far as that is known: the number of a shared row plus one, -1: it ends there.  Then every match is a chain of shared
    rows, and its T.LABELS the first of these.  calc: the stack; ``roles``: rows of roles.

    work: (registers, variables of the mapped rows, other ways, notes to take back, matches, attempts that WITHIN ends,
    their variables, what is known of the mapping as ints, and as floats, shared rows).
    """
    reg, labels, stack, trail, matches, ended, ended_labels, ints, reals, nodes = work
    values, real, known, time = pool
    steps_of, whole, fractions = program
    x, y, ok = calc
    within, frontier, most_steps, skip, keep_ended = limits[0], limits[1], limits[2], limits[3], limits[4] != 0
    n_slots = len(slots)
    n_running = len(running)
    peeks = not keep_ended
    shares = len(ends) > 0
    p, s, row, pc = reg[T.R_PART], reg[T.R_FIRST], reg[T.R_ROW], reg[T.R_AT]
    top, trailing, used, steps = reg[T.R_TOP], reg[T.R_TRAIL], reg[T.R_USED], reg[T.R_STEPS]
    cut, answer, now, attempts = reg[T.R_CUT], reg[T.R_ANSWER], reg[T.R_KNOWN], reg[T.R_EPOCH]
    going = reg[T.R_BEGUN] != 0
    status = T.FINISHED
    while p < len(parts):
        lo, hi, closed = parts[p, T.LOW], parts[p, T.HIGH], parts[p, T.CLOSED] != 0
        if not going:
            s = parts[p, T.START]
        waits = False
        while not waits and (going or s < hi):
            # -- one attempt, from row s on
            if not going:
                if used + hi - s > len(labels):
                    status = T.FULL
                    parts[p, T.START] = s
                    break
                attempts += 1
                row, pc, top, trailing, steps, cut, now = s, 0, 0, 0, 0, -1, 0
            going = False
            over = within >= 0 and time[s] + within <= frontier
            link = -1
            doing = _SEARCHING
            while doing == _SEARCHING:
                steps += 1
                op, one, two, kind, place = (
                    code[pc, T.OP], code[pc, T.ONE], code[pc, T.TWO], code[pc, T.THREE], code[pc, T.FOUR]
                )  # fmt: skip
                fails = False
                if op == T.SPLIT:
                    way, other = one, two
                    if shares and kind == T.ALWAYS:
                        end = ends[row + p, place]
                        if end != 0:
                            link = max(end - 1, -1)
                            doing = _FOUND
                            break
                    choice = True
                    if peeks and row < hi:
                        here = np.int64(bits[row])
                        if first[way] & here == 0:
                            choice = False
                            way = other
                            fails = first[way] & here == 0
                        elif first[other] & here == 0:
                            choice = False
                    if not fails and (choice or row & _SOMETIMES == 0):
                        if choice and top == len(stack):
                            status, doing = T.FULL, _STOPS
                            break
                        if kind != T.NEVER:
                            at = row + p
                            word = place >> 6
                            bit = _ONE << np.uint64(place & 63)
                            if kind == T.ALWAYS:
                                if trailing == len(trail):
                                    status, doing = T.FULL, _STOPS
                                    break
                                noted = always[at, word]
                                fails = noted & bit != 0
                                if not fails:
                                    always[at, word] = noted | bit
                                    trail[trailing, 0] = at
                                    trail[trailing, 1] = place
                                    trailing += 1
                            else:
                                if epoch[at] != attempts:
                                    epoch[at] = attempts
                                    for w in range(attempt.shape[1]):
                                        attempt[at, w] = 0
                                noted = attempt[at, word]
                                fails = noted & bit != 0
                                attempt[at, word] = noted | bit
                    if not fails:
                        if choice:
                            stack[top, 0] = other
                            stack[top, 1] = row
                            stack[top, 2] = trailing
                            stack[top, 3] = now
                            top += 1
                        pc = way
                elif op == T.ROW:
                    v = one
                    if steps > most_steps:
                        status, doing = T.TOO_LONG, _STOPS
                        reg[T.R_ASKED] = v
                        break
                    if row < hi and (within < 0 or time[row] - time[s] <= within):
                        changes = variables[v, T.CHANGES] != 0
                        if changes and now + 1 == len(ints):
                            status, doing = T.FULL, _STOPS
                            break
                        labels[used + row - s] = 2 * v + kind
                        plain = variables[v, T.PLAIN] != 0
                        fails = plain and (np.int64(bits[row]) >> v) & 1 == 0
                        after = now
                        if changes and not fails:
                            _note(ints, reals, now, row, v, slots, running, values, real, known)
                            after += 1
                        if not plain:
                            true: Any = T.TRUE
                            if answer >= 0:
                                true = answer
                                answer = -1
                            else:
                                true = np.int64(T.TRUE)
                                of = variables[v, T.MASK]
                                if of >= 0:
                                    true = np.int64(mask[of, row])
                                for u in range(variables[v, T.ROLE_BEGIN], variables[v, T.ROLE_STOP]):
                                    reached, ahead = _reached(ints, after, uses, u), uses[u, T.AHEAD]
                                    roles[uses[u, T.ROLE]] = reached
                                    if not closed and ahead > 0 and reached >= 0 and reached + ahead >= hi:
                                        true = np.int64(T.OPEN)
                                begin, stop = variables[v, T.CODE_BEGIN], variables[v, T.CODE_STOP]
                                if true == T.TRUE and variables[v, T.ASKS] != 0:
                                    true = np.int64(T.LOST)
                                elif true == T.TRUE and stop > begin:
                                    exact = n_running == 0 or _values(
                                        ints, reals, after, n_slots, running, values, real, known,
                                        parts[p, T.NUMBER] + 1,
                                    )  # fmt: skip
                                    if not exact or compute(
                                        steps_of, whole, fractions, begin, stop, values, real, known, time, roles, row,
                                        x, y, ok,
                                    ) != DONE:  # fmt: skip
                                        true = np.int64(T.LOST)
                                    elif not (ok[0] and x[0] != 0):
                                        true = np.int64(T.FALSE)
                            if true == T.LOST:
                                status, doing = T.ASKING, _STOPS
                                reg[T.R_ASKED] = v
                                break
                            if true == T.OPEN:
                                doing = _WAITS
                                break
                            fails = true == T.FALSE
                        if not fails:
                            now = after
                            row += 1
                            pc = two
                    elif row >= hi and not closed and not over:
                        doing = _WAITS
                    else:
                        fails = True
                        if keep_ended and row > s and cut < 0 and (row < hi or over):
                            # the first way that needs a row beyond the bound
                            size = row - s
                            if reg[T.R_ENDED_USED] + size > len(ended_labels) or reg[T.R_ENDED] == len(ended):
                                status, doing = T.FULL, _STOPS
                                break
                            cut = size
                            for k in range(size):
                                ended_labels[reg[T.R_ENDED_USED] + k] = labels[used + k]
                elif op == T.MATCH:
                    doing = _FOUND
                elif op == T.END:
                    if row < hi:
                        fails = True
                    elif closed:
                        pc = one
                    else:
                        doing = _WAITS
                else:
                    pc = one
                    fails = row != lo or parts[p, T.WHOLE] == 0
                if fails:
                    if top == 0:
                        doing = _FAILED
                    else:
                        top -= 1
                        pc, row, trailing, now = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
            # -- what became of it
            full = reg[T.R_MATCHES] == len(matches) or (shares and reg[T.R_NODES] + row - s > len(nodes))
            if doing == _FOUND and full:
                status, doing = T.FULL, _STOPS
                steps -= 1
            if doing == _STOPS:
                going = True
                break
            reg[T.R_TOTAL] += steps
            if doing == _FAILED:
                if cut >= 0:
                    n = reg[T.R_ENDED]
                    ended[n, T.PART] = p
                    ended[n, T.FROM] = s
                    ended[n, T.SIZE] = cut
                    ended[n, T.LABELS] = reg[T.R_ENDED_USED]
                    reg[T.R_ENDED] += 1
                    reg[T.R_ENDED_USED] += cut
                if len(fate) and fate[s] == T.FREE:
                    fate[s] = T.UNMATCHED
                s += 1
            elif doing == _FOUND:
                size = row - s
                n = reg[T.R_MATCHES]
                number = parts[p, T.NUMBER] + 1
                parts[p, T.NUMBER] = number
                matches[n, T.PART] = p
                matches[n, T.FROM] = s
                matches[n, T.SIZE] = size
                matches[n, T.LABELS] = used
                matches[n, T.NR] = number
                reg[T.R_MATCHES] = n + 1
                if shares:
                    begin = reg[T.R_NODES]
                    for k in range(size):
                        at = begin + k
                        nodes[at, T.N_ROW] = row - 1 - k
                        nodes[at, T.N_LABEL] = labels[used + size - 1 - k]
                        follow = link if k == 0 else at - 1
                        nodes[at, T.N_NEXT] = follow
                        nodes[at, T.N_SIZE] = 1 if follow < 0 else 1 + nodes[follow, T.N_SIZE]
                    reg[T.R_NODES] = begin + size
                    head = begin + size - 1 if size > 0 else link
                    matches[n, T.LABELS] = head
                    matches[n, T.SIZE] = 0 if head < 0 else nodes[head, T.N_SIZE]
                for k in range(trailing):
                    at, place = trail[k, 0], trail[k, 1]
                    always[at, place >> 6] &= ~(_ONE << np.uint64(place & 63))
                    if shares:
                        behind = row - (at - p)
                        node = reg[T.R_NODES] - size + behind - 1 if behind > 0 else link
                        ends[at, place] = node + 1 if node >= 0 else -1
                if len(fate):
                    for k in range(s, max(row, s + 1)):
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
                if not shares:
                    used += size
                s = to
            else:
                waits = True
        if status != T.FINISHED:
            break
        parts[p, T.WAITS] = s
        p += 1
    reg[T.R_PART], reg[T.R_FIRST], reg[T.R_ROW], reg[T.R_AT] = p, s, row, pc
    reg[T.R_TOP], reg[T.R_TRAIL], reg[T.R_USED], reg[T.R_STEPS] = top, trailing, used, steps
    reg[T.R_CUT], reg[T.R_ANSWER], reg[T.R_KNOWN], reg[T.R_EPOCH] = cut, answer, now, attempts
    reg[T.R_BEGUN] = np.int64(going)
    return status


@kernel
def chained_rows(nodes: np.ndarray, belongs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per shared row, among it and those that follow, the first and the last row whose variable ``belongs`` (-1: none),
    and how many there are."""
    first, last = np.full(len(nodes), -1, np.int64), np.full(len(nodes), -1, np.int64)
    count = np.zeros(len(nodes), np.int64)
    for i in range(len(nodes)):
        follow = nodes[i, T.N_NEXT]
        if follow >= 0:
            first[i], last[i], count[i] = first[follow], last[follow], count[follow]
        if belongs[nodes[i, T.N_LABEL] >> 1]:
            first[i] = nodes[i, T.N_ROW]
            if last[i] < 0:
                last[i] = nodes[i, T.N_ROW]
            count[i] += 1
    return first, last, count


@kernel
def chained_values(
    nodes: np.ndarray, belongs: np.ndarray, kind: int, ints: np.ndarray, reals: np.ndarray, known: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Per shared row, over it and those that follow whose variable ``belongs``: how many values are ``known``, their
    sum, least or greatest (``kind``: T.SUM ..) as an int and as a float, and what rounding has taken from the sum.

    ``ints`` or ``reals``: a value per row, the other one is empty."""
    n = len(nodes)
    count, whole = np.zeros(n, np.int64), np.zeros(n, np.int64)
    real, rest = np.zeros(n, np.float64), np.zeros(n, np.float64)
    for i in range(n):
        follow, row = nodes[i, T.N_NEXT], nodes[i, T.N_ROW]
        if follow >= 0:
            count[i], whole[i], real[i], rest[i] = count[follow], whole[follow], real[follow], rest[follow]
        if not belongs[nodes[i, T.N_LABEL] >> 1] or not known[row]:
            continue
        count[i] += 1
        x = reals[row] if len(reals) else float(ints[row])
        if kind == T.SUM:
            new = x + real[i]
            part = new - x
            rest[i] += (x - (new - part)) + (real[i] - part)
            real[i] = new
            if len(ints):
                whole[i] += ints[row]
        elif len(reals):
            if count[i] == 1 or (x < real[i] if kind == T.LEAST else x > real[i]):
                real[i] = x
        elif count[i] == 1 or (ints[row] < whole[i] if kind == T.LEAST else ints[row] > whole[i]):
            whole[i] = ints[row]
    return count, whole, real, rest


@kernel
def places_of(label: np.ndarray, belongs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of mapped rows whose variable ``belongs`` (booleans), and how many there are before each place.

    ``label``: int16, twice the number of the variable, and one more if the row is left out."""
    before = np.empty(len(label) + 1, np.int64)
    places = np.empty(len(label), np.int64)
    n = 0
    for i in range(len(label)):
        before[i] = n
        places[n] = i
        if belongs[label[i] >> 1]:
            n += 1
    before[len(label)] = n
    return places[:n], before


@kernel(work=over_ranges)
def places_in(
    low: np.ndarray, high: np.ndarray, label: np.ndarray, belongs: np.ndarray, first: bool, offset: int
) -> np.ndarray:
    """Per range ``low`` to before ``high`` of ``label`` the place whose variable ``belongs`` and that has ``offset``
    such places before it (``first``) or behind it; -1: none."""
    out = np.full(len(low), -1, np.int64)
    for i in range(len(low)):
        left = offset
        at, end, step = (low[i], high[i], 1) if first else (high[i] - 1, low[i] - 1, -1)
        while at != end:
            if belongs[label[at] >> 1]:
                if left == 0:
                    out[i] = at
                    break
                left -= 1
            at += step
    return out


@kernel
def _reached(ints: np.ndarray, now: int, uses: np.ndarray, u: int) -> int:
    """The row that a use of a role reads; -1: none."""
    at = T.SLOT_FIELDS * uses[u, T.SLOT]
    offset = uses[u, T.OFFSET]
    if ints[now, at + T.SLOT_COUNT] <= offset:
        return -1
    if uses[u, T.KIND] == T.LAST:
        for _ in range(offset):
            now = ints[now, at + T.SLOT_BEFORE]
        return ints[now, at + T.SLOT_LAST]
    if offset == 0:
        return ints[now, at + T.SLOT_FIRST]
    low, high = np.int64(1), np.int64(now)
    while low < high:
        middle = (low + high) // 2
        if ints[middle, at + T.SLOT_COUNT] > offset:
            high = middle
        else:
            low = middle + 1
    return ints[low, at + T.SLOT_LAST]


@kernel
def _note(
    ints: np.ndarray, reals: np.ndarray, now: int, row: int, v: int, slots: np.ndarray, running: np.ndarray,
    values: np.ndarray, real: np.ndarray, known: np.ndarray,
) -> None:  # fmt: skip
    """What is known of the mapping, behind ``now``, when ``row`` is mapped to variable ``v``."""
    for k in range(ints.shape[1]):
        ints[now + 1, k] = ints[now, k]
    for k in range(reals.shape[1]):
        reals[now + 1, k] = reals[now, k]
    for k in range(len(slots)):
        if slots[k, v]:
            at = T.SLOT_FIELDS * k
            if ints[now, at + T.SLOT_COUNT] == 0:
                ints[now + 1, at + T.SLOT_FIRST] = row
            ints[now + 1, at + T.SLOT_LAST] = row
            ints[now + 1, at + T.SLOT_COUNT] += 1
            ints[now + 1, at + T.SLOT_BEFORE] = now
    for k in range(len(running)):
        kind, column = running[k, T.AGGREGATE], running[k, T.FROM_COLUMN]
        at = T.SLOT_FIELDS * len(slots) + T.RUN_FIELDS * k
        if running[k, T.EARLIER] >= 0:
            # what was known at a row stands as many places before as the row does
            back = row - values[row, running[k, T.EARLIER]]
            same = ints[now + 1 - back, at + T.RUN_ROW] if known[row, column] and back <= now else 0
            ints[now + 1, at + T.RUN_ROW] = row + 1 if slots[running[k, T.OF_SLOT], v] else same
            if same > 0:
                continue
        if kind == T.MATCHES or not slots[running[k, T.OF_SLOT], v] or (column >= 0 and not known[row, column]):
            continue
        count = ints[now, at + T.RUN_COUNT]
        ints[now + 1, at + T.RUN_COUNT] = count + 1
        if kind == T.COUNT:
            continue
        new = count == 0
        if running[k, T.REAL]:
            x, old = real[row, column], reals[now, 2 * k]
            if kind >= T.LEAST:
                new = new or (x < old if kind <= T.LEAST_BY else x > old)
                reals[now + 1, 2 * k] = x if new else old
            else:
                # the sum, and what rounding has taken from it
                total = old + x
                part = total - old
                reals[now + 1, 2 * k] = total
                reals[now + 1, 2 * k + 1] += (old - (total - part)) + (x - part)
        else:
            y, before = values[row, column], ints[now, at + T.RUN_VALUE]
            if kind >= T.LEAST:
                new = new or (y < before if kind <= T.LEAST_BY else y > before)
                ints[now + 1, at + T.RUN_VALUE] = y if new else before
            else:
                if y > _MOST or y < -_MOST or before > _MOST or before < -_MOST:
                    ints[now + 1, at + T.RUN_LOST] = 1
                ints[now + 1, at + T.RUN_VALUE] = before + y
        if new and (kind == T.LEAST_BY or kind == T.GREATEST_BY):
            ints[now + 1, at + T.RUN_ROW] = row


@kernel
def _values(
    ints: np.ndarray, reals: np.ndarray, now: int, n_slots: int, running: np.ndarray, values: np.ndarray,
    real: np.ndarray, known: np.ndarray, number: Any,
) -> bool:  # fmt: skip
    """Put the running values where the stack code reads them.  Are they exact?"""
    last = len(values) - 1
    exact = True
    for k in range(len(running)):
        kind, to = running[k, T.AGGREGATE], running[k, T.TO_COLUMN]
        at = T.SLOT_FIELDS * n_slots + T.RUN_FIELDS * k
        count = ints[now, at + T.RUN_COUNT]
        known[last, to] = count > 0 or kind <= T.MATCHES
        if kind == T.MATCHES:
            values[last, to] = number
        elif kind == T.COUNT:
            values[last, to] = count
        elif kind == T.LEAST_BY or kind == T.GREATEST_BY:
            row, taken = ints[now, at + T.RUN_ROW], running[k, T.TAKEN]
            values[last, to] = values[row, taken]
            known[last, to] = count > 0 and known[row, taken]
        elif running[k, T.REAL]:
            x = reals[now, 2 * k]
            if kind == T.SUM or kind == T.AVERAGE:
                x = x + reals[now, 2 * k + 1]
                if not np.isfinite(x):
                    exact = False
            real[last, to] = x / max(count, 1) if kind == T.AVERAGE else x
        else:
            if ints[now, at + T.RUN_LOST] != 0:
                exact = False
            total = ints[now, at + T.RUN_VALUE]
            if kind == T.AVERAGE:
                if total > _EXACT or total < -_EXACT:
                    exact = False
                real[last, to] = total / max(count, 1)
            else:
                values[last, to] = total
    return exact
