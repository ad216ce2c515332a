"""A machine for rules whose past decides their future: it goes through the instants of a history one after another.

What it runs is laid out by :mod:`occurs.operators.machinerun`: rows of all types in one pool, constraints as code of a
small stack machine, candidates in chains that lead from each row to the one before it with the same hash of its key.
Whatever it cannot decide as the column-wise evaluation would (an integer overflow, a comparison beyond 2**53) it leaves
to that: it stops with ``GIVE_UP``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

DONE, GIVE_UP = 0, 1

# -- code: (operation, a, b) per row
(
    INT,  # constant number a of the ints
    FLOAT,
    NULL,
    REF,  # column b of role a (-1: the row itself), as int
    REF_FLOAT,
    REF_TIME,
    TO_FLOAT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    NEGATE,
    ADD_FLOAT,
    SUBTRACT_FLOAT,
    MULTIPLY_FLOAT,
    DIVIDE,
    NEGATE_FLOAT,
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    GREATER,
    AT_LEAST,
    EQUAL_FLOAT,
    UNEQUAL_FLOAT,
    LESS_FLOAT,
    AT_MOST_FLOAT,
    GREATER_FLOAT,
    AT_LEAST_FLOAT,
    AND,
    OR,
    NOT,
    IS_NULL,
    EXACT,  # give up unless the int on top is the same as a float
) = range(33)

# -- steps
SELECT, ABSENT, KEEP, EXTRA = range(4)
EACH, FIRST, LAST = range(3)
WITHIN, BETWEEN = range(2)
#: fields of a step: the operation, index of candidates, policy, k, consuming (0, 1), kind of interval, its two roles,
#: length in ticks, strict (0, 1), keys [.., ..), code [.., ..)
OP, INDEX, POLICY, K, CONSUMES, INTERVAL, ROLE_A, ROLE_B, LENGTH, STRICT, KEYS, KEYS_END, CODE, CODE_END = range(14)
STEP_FIELDS = 14
#: fields of a pattern: steps [.., ..), roles, fed-back type of the terminator (-1: terminators are given), its code
#: [.., ..), fed-back type of the output (-1: none), outputs [.., ..), does it consume (0, 1)
STEPS, STEPS_END, ROLES, TERMINATOR, FILTER, FILTER_END, OUTPUT, OUTS, OUTS_END, CONSUMING = range(10)
PATTERN_FIELDS = 10

STACK = 32
_BIG = np.int64(1) << np.int64(62)
_FIRST = np.int64(-(2**63))
_EXACT = np.int64(1) << np.int64(53)


@njit(cache=True, nogil=True)
def _overflows(op: int, a: np.int64, b: np.int64) -> np.bool_:
    """May the result leave int64?  Careful rather than exact: near the ends the caller gives up."""
    if op == MULTIPLY:
        return np.bool_(abs(float(a) * float(b)) >= 9.2e18)
    return np.bool_(a >= _BIG or a <= -_BIG or b >= _BIG or b <= -_BIG)


@njit(cache=True, nogil=True)
def evaluate(
    code: np.ndarray,
    begin: int,
    end: int,
    ints: np.ndarray,
    floats: np.ndarray,
    values: np.ndarray,
    real: np.ndarray,
    known: np.ndarray,
    time: np.ndarray,
    roles: np.ndarray,
    own: int | np.int64,
    x: np.ndarray,
    y: np.ndarray,
    ok: np.ndarray,
) -> int:
    """Run code; the result is ``x[0]`` (ints, booleans) or ``y[0]`` (floats), and ``ok[0]``, whether it is known."""
    top = 0
    for at in range(begin, end):
        op = code[at, 0]
        if REF <= op <= REF_TIME:
            row = own if code[at, 1] < 0 else roles[code[at, 1]]
            column = code[at, 2]
            if op == REF_TIME:
                x[top] = time[row]
                ok[top] = True
            elif op == REF:
                x[top] = values[row, column]
                ok[top] = known[row, column]
            else:
                y[top] = real[row, column]
                ok[top] = known[row, column]
            top += 1
        elif op == INT:
            x[top] = ints[code[at, 1]]
            ok[top] = True
            top += 1
        elif op == FLOAT:
            y[top] = floats[code[at, 1]]
            ok[top] = True
            top += 1
        elif op == NULL:
            x[top] = 0
            y[top] = 0.0
            ok[top] = False
            top += 1
        elif op == TO_FLOAT:
            y[top - 1] = float(x[top - 1])
        elif op == EXACT:
            if ok[top - 1] and (x[top - 1] > _EXACT or x[top - 1] < -_EXACT):
                return GIVE_UP
        elif op == NEGATE:
            if ok[top - 1] and x[top - 1] <= -_BIG:
                return GIVE_UP
            x[top - 1] = -x[top - 1]
        elif op == NEGATE_FLOAT:
            y[top - 1] = -y[top - 1]
        elif op == NOT:
            x[top - 1] = 1 - x[top - 1]
        elif op == IS_NULL:
            x[top - 1] = 0 if ok[top - 1] else 1
            ok[top - 1] = True
        else:
            top -= 1
            a, b = top - 1, top
            if op == AND:
                if (ok[a] and x[a] == 0) or (ok[b] and x[b] == 0):
                    x[a] = 0
                    ok[a] = True
                else:
                    ok[a] = ok[a] and ok[b]
            elif op == OR:
                if (ok[a] and x[a] != 0) or (ok[b] and x[b] != 0):
                    x[a] = 1
                    ok[a] = True
                else:
                    ok[a] = ok[a] and ok[b]
            elif not (ok[a] and ok[b]):
                ok[a] = False
                x[a] = 0
                y[a] = 0.0
            elif op <= MULTIPLY:
                if _overflows(op, x[a], x[b]):
                    return GIVE_UP
                if op == ADD:
                    x[a] += x[b]
                elif op == SUBTRACT:
                    x[a] -= x[b]
                else:
                    x[a] *= x[b]
            elif op <= DIVIDE:
                if op == ADD_FLOAT:
                    y[a] += y[b]
                elif op == SUBTRACT_FLOAT:
                    y[a] -= y[b]
                elif op == MULTIPLY_FLOAT:
                    y[a] *= y[b]
                elif y[b] == 0.0:
                    ok[a] = False
                else:
                    y[a] /= y[b]
                if ok[a] and np.isnan(y[a]):
                    ok[a] = False
            elif op == EQUAL:
                x[a] = x[a] == x[b]
            elif op == UNEQUAL:
                x[a] = x[a] != x[b]
            elif op == LESS:
                x[a] = x[a] < x[b]
            elif op == AT_MOST:
                x[a] = x[a] <= x[b]
            elif op == GREATER:
                x[a] = x[a] > x[b]
            elif op == AT_LEAST:
                x[a] = x[a] >= x[b]
            elif op == EQUAL_FLOAT:
                x[a] = y[a] == y[b]
            elif op == UNEQUAL_FLOAT:
                x[a] = y[a] != y[b]
            elif op == LESS_FLOAT:
                x[a] = y[a] < y[b]
            elif op == AT_MOST_FLOAT:
                x[a] = y[a] <= y[b]
            elif op == GREATER_FLOAT:
                x[a] = y[a] > y[b]
            else:
                x[a] = y[a] >= y[b]
    return DONE


@njit(cache=True, nogil=True)
def _mix(h: np.int64, bits: np.int64) -> np.int64:
    z = (np.uint64(h) ^ np.uint64(bits)) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(z ^ (z >> np.uint64(29)))


@njit(cache=True, nogil=True)
def _bucket(
    values: np.ndarray,
    real: np.ndarray,
    known: np.ndarray,
    row: int,
    columns: np.ndarray,
    floats: np.ndarray,
    size: int,
) -> np.int64:
    """The chain of a row by its key columns; -1 if one is null."""
    h = np.int64(0)
    for k in range(len(columns)):
        if not known[row, columns[k]]:
            return np.int64(-1)
        # 0.0 and -0.0 are equal
        h = _mix(h, np.int64(0) if floats[k] and real[row, columns[k]] == 0.0 else values[row, columns[k]])
    return h & (size - 1)


@njit(cache=True, nogil=True)
def _grown(a: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros((size, a.shape[1]), a.dtype)
    out[: len(a)] = a
    return out


@njit(cache=True, nogil=True)
def _longer(a: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(size, a.dtype)
    out[: len(a)] = a
    return out


@njit(cache=True, nogil=True)
def run(
    n_static: int,
    values: np.ndarray,
    known: np.ndarray,
    time: np.ndarray,
    enter: np.ndarray,
    enter_index: np.ndarray,
    outside: np.ndarray,
    outside_type: np.ndarray,
    starts: np.ndarray,
    start_pattern: np.ndarray,
    patterns: np.ndarray,
    steps: np.ndarray,
    keys: np.ndarray,
    key_floats: np.ndarray,
    code: np.ndarray,
    ints: np.ndarray,
    floats: np.ndarray,
    outs: np.ndarray,
    index_keys: np.ndarray,
    index_types: np.ndarray,
    index_code: np.ndarray,
    free: np.ndarray,
    widest: int,
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, np.ndarray, np.ndarray, int, np.ndarray]:
    """All instants.

    values int64 (rows, columns; floats as their bits), known bool, time: the pool, static rows first.  ``enter``: rows
    in order of time, ``enter_index``: the candidate index that each enters.  ``outside``: rows of fed-back types that
    come in this call, with ``outside_type``.  ``starts``: terminators in order of (time, pattern, rank), with
    ``start_pattern``.  ``keys``: per key (own column, role, column).  ``index_keys`` (indexes, 1 + 2 * columns): number
    of key columns, them, and which are floats; ``index_types``: fed-back type of an index or -1; ``index_code``: the
    filter of its rows.  ``free`` (patterns, rows).

    Returns (status, values, known, time, fed type per dynamic row, rows in all, matches (pattern, roles..) in order,
    row of the output per match or -1, number of matches, free).
    """
    real = values.view(np.float64)
    rows = n_static
    n_index = len(index_keys)
    size = 16
    while size < 2 * n_static + 16:
        size *= 2
    heads = np.full((n_index, size), -1, np.int64)
    before = np.full((len(time), n_index), -1, np.int64)
    made_type = np.full(len(time), -1, np.int64)
    matches = np.zeros((64, 1 + widest), np.int64)
    output = np.full(64, -1, np.int64)
    n_matches = 0
    x = np.zeros(STACK, np.int64)
    y = np.zeros(STACK, np.float64)
    ok = np.zeros(STACK, np.bool_)
    here = np.zeros(16, np.int64)
    here_type = np.zeros(16, np.int64)
    part = np.zeros((16, widest), np.int64)
    grown = np.zeros((16, widest), np.int64)
    found = np.zeros(16, np.int64)
    nobody = np.zeros(1, np.int64)
    n_fed = len(outside_type)
    entered = 0
    came = 0
    started = 0
    while started < len(starts) or came < n_fed:
        now = np.int64(0)
        if started < len(starts) and came < n_fed:
            now = min(time[starts[started]], time[outside[came]])
        elif started < len(starts):
            now = time[starts[started]]
        else:
            now = time[outside[came]]
        while entered < len(enter) and time[enter[entered]] <= now:
            row = enter[entered]
            i = enter_index[entered]
            width = index_keys[i, 0]
            bucket = _bucket(
                values, real, known, row, index_keys[i, 1 : 1 + width], index_keys[i, 1 + width : 1 + 2 * width], size
            )
            if bucket >= 0:
                before[row, i] = heads[i, bucket]
                heads[i, bucket] = row
            entered += 1
        n_here = 0
        first_match = n_matches
        # what comes from outside, then pattern after pattern; -1 stands for the former
        for p in range(-1, len(patterns)):
            fresh_from = n_here
            if p < 0:
                while came < n_fed and time[outside[came]] == now:
                    if n_here == len(here):
                        here = _longer(here, 2 * n_here)
                        here_type = _longer(here_type, 2 * n_here)
                    here[n_here] = outside[came]
                    here_type[n_here] = outside_type[came]
                    n_here += 1
                    came += 1
            else:
                fed = patterns[p, TERMINATOR]
                n_terminators = n_here
                at = 0
                first_of_pattern = n_matches
                while True:
                    # the next terminator
                    if fed < 0:
                        if started == len(starts) or start_pattern[started] != p or time[starts[started]] != now:
                            break
                        terminator = starts[started]
                        started += 1
                    else:
                        if at == n_terminators:
                            break
                        terminator = here[at]
                        at += 1
                        if here_type[at - 1] != fed:
                            continue
                        nobody[0] = terminator
                        if patterns[p, FILTER_END] > patterns[p, FILTER]:
                            status = evaluate(
                                code,
                                patterns[p, FILTER],
                                patterns[p, FILTER_END],
                                ints,
                                floats,
                                values,
                                real,
                                known,
                                time,
                                nobody,
                                terminator,
                                x,
                                y,
                                ok,
                            )
                            if status != DONE:
                                return status, values, known, time, made_type, rows, matches, output, n_matches, free
                            if not (ok[0] and x[0] != 0):
                                continue
                    part[0, 0] = terminator
                    n_part = 1
                    bound = 1
                    for s in range(patterns[p, STEPS], patterns[p, STEPS_END]):
                        if n_part == 0:
                            break
                        op = steps[s, OP]
                        n_grown = 0
                        for q in range(n_part):
                            roles = part[q]
                            if op == KEEP:
                                status = evaluate(
                                    code,
                                    steps[s, CODE],
                                    steps[s, CODE_END],
                                    ints,
                                    floats,
                                    values,
                                    real,
                                    known,
                                    time,
                                    roles,
                                    terminator,
                                    x,
                                    y,
                                    ok,
                                )
                                if status != DONE:
                                    return (
                                        status,
                                        values,
                                        known,
                                        time,
                                        made_type,
                                        rows,
                                        matches,
                                        output,
                                        n_matches,
                                        free,
                                    )
                                if ok[0] and x[0] != 0:
                                    grown[n_grown] = roles
                                    n_grown += 1
                                continue
                            if op == EXTRA:
                                age = time[roles[steps[s, ROLE_B]]] - time[roles[steps[s, ROLE_A]]]
                                if 0 <= age <= steps[s, LENGTH]:
                                    grown[n_grown] = roles
                                    n_grown += 1
                                continue
                            # candidates: the chain of the key, latest first
                            if steps[s, INTERVAL] == WITHIN:
                                high = time[roles[steps[s, ROLE_A]]]
                                low = high - steps[s, LENGTH] if high >= _FIRST + steps[s, LENGTH] else _FIRST
                            else:
                                low = time[roles[steps[s, ROLE_A]]]
                                high = time[roles[steps[s, ROLE_B]]]
                            if op == ABSENT:
                                low += 1
                            if steps[s, STRICT]:
                                high = min(high, now - 1)
                            h = np.int64(0)
                            null = False
                            for k in range(steps[s, KEYS], steps[s, KEYS_END]):
                                other = roles[keys[k, 1]]
                                column = keys[k, 2]
                                if not known[other, column]:
                                    null = True
                                    break
                                zero = key_floats[k] and real[other, column] == 0.0
                                h = _mix(h, np.int64(0) if zero else values[other, column])
                            n_found = 0
                            i = steps[s, INDEX]
                            row = np.int64(-1) if null else heads[i, h & (size - 1)]
                            while row >= 0 and time[row] >= low:
                                fits = time[row] <= high and (not steps[s, CONSUMES] or free[p, row])
                                if fits:
                                    for m in range(bound):
                                        if roles[m] == row:
                                            fits = False
                                            break
                                if fits:
                                    for k in range(steps[s, KEYS], steps[s, KEYS_END]):
                                        other = roles[keys[k, 1]]
                                        if key_floats[k]:
                                            if real[row, keys[k, 0]] != real[other, keys[k, 2]]:
                                                fits = False
                                                break
                                        elif values[row, keys[k, 0]] != values[other, keys[k, 2]]:
                                            fits = False
                                            break
                                if fits and steps[s, CODE_END] > steps[s, CODE]:
                                    status = evaluate(
                                        code,
                                        steps[s, CODE],
                                        steps[s, CODE_END],
                                        ints,
                                        floats,
                                        values,
                                        real,
                                        known,
                                        time,
                                        roles,
                                        row,
                                        x,
                                        y,
                                        ok,
                                    )
                                    if status != DONE:
                                        return (
                                            status,
                                            values,
                                            known,
                                            time,
                                            made_type,
                                            rows,
                                            matches,
                                            output,
                                            n_matches,
                                            free,
                                        )
                                    fits = ok[0] and x[0] != 0
                                if fits:
                                    if n_found == len(found):
                                        found = _longer(found, 2 * n_found)
                                    found[n_found] = row
                                    n_found += 1
                                    if op == ABSENT or (steps[s, POLICY] == LAST and n_found == steps[s, K]):
                                        break
                                row = before[row, i]
                            if op == ABSENT:
                                if n_found == 0:
                                    grown[n_grown] = roles
                                    n_grown += 1
                                continue
                            low_found, high_found = 0, n_found
                            if steps[s, POLICY] != EACH:
                                if n_found < steps[s, K]:
                                    continue
                                low_found = n_found - steps[s, K] if steps[s, POLICY] == FIRST else steps[s, K] - 1
                                high_found = low_found + 1
                            need = n_grown + high_found - low_found + n_part
                            if need > len(grown):
                                grown = _grown(grown, 2 * need)
                            for f in range(high_found - 1, low_found - 1, -1):
                                grown[n_grown] = roles
                                grown[n_grown, bound] = found[f]
                                n_grown += 1
                        if op == SELECT:
                            bound += 1
                        if len(part) < len(grown):
                            part = _grown(part, len(grown))
                        part, grown = grown, part
                        n_part = n_grown
                    if n_matches + n_part > len(matches):
                        matches = _grown(matches, 2 * (n_matches + n_part))
                        output = _longer(output, len(matches))
                    for q in range(n_part):
                        matches[n_matches, 0] = p
                        matches[n_matches, 1:] = part[q]
                        output[n_matches] = -1
                        n_matches += 1
                if patterns[p, OUTPUT] >= 0:
                    for m in range(first_of_pattern, n_matches):
                        if rows == len(time):
                            values = _grown(values, 2 * rows)
                            real = values.view(np.float64)
                            known = _grown(known, 2 * rows)
                            time = _longer(time, 2 * rows)
                            before = _grown(before, 2 * rows)
                            made_type = _longer(made_type, 2 * rows)
                            wider = np.ones((free.shape[0], 2 * rows), np.bool_)
                            wider[:, :rows] = free
                            free = wider
                        time[rows] = now
                        made_type[rows] = patterns[p, OUTPUT]
                        for o in range(patterns[p, OUTS], patterns[p, OUTS_END]):
                            column = o - patterns[p, OUTS]
                            status = evaluate(
                                code,
                                outs[o, 0],
                                outs[o, 1],
                                ints,
                                floats,
                                values,
                                real,
                                known,
                                time,
                                matches[m, 1:],
                                matches[m, 1],
                                x,
                                y,
                                ok,
                            )
                            if status != DONE:
                                return status, values, known, time, made_type, rows, matches, output, n_matches, free
                            known[rows, column] = ok[0]
                            if outs[o, 2]:
                                real[rows, column] = y[0]
                            else:
                                values[rows, column] = x[0]
                        output[m] = rows
                        if n_here == len(here):
                            here = _longer(here, 2 * n_here)
                            here_type = _longer(here_type, 2 * n_here)
                        here[n_here] = rows
                        here_type[n_here] = patterns[p, OUTPUT]
                        n_here += 1
                        rows += 1
            # new rows of fed-back types become candidates
            for at in range(fresh_from, n_here):
                row = here[at]
                for i in range(n_index):
                    if index_types[i] != here_type[at]:
                        continue
                    if index_code[i, 1] > index_code[i, 0]:
                        nobody[0] = row
                        status = evaluate(
                            code,
                            index_code[i, 0],
                            index_code[i, 1],
                            ints,
                            floats,
                            values,
                            real,
                            known,
                            time,
                            nobody,
                            row,
                            x,
                            y,
                            ok,
                        )
                        if status != DONE:
                            return status, values, known, time, made_type, rows, matches, output, n_matches, free
                        if not (ok[0] and x[0] != 0):
                            continue
                    width = index_keys[i, 0]
                    bucket = _bucket(
                        values,
                        real,
                        known,
                        row,
                        index_keys[i, 1 : 1 + width],
                        index_keys[i, 1 + width : 1 + 2 * width],
                        size,
                    )
                    if bucket >= 0:
                        before[row, i] = heads[i, bucket]
                        heads[i, bucket] = row
        # what this instant consumes is gone after it
        for m in range(first_match, n_matches):
            p = matches[m, 0]
            if patterns[p, CONSUMING]:
                bound = 1
                for s in range(patterns[p, STEPS], patterns[p, STEPS_END]):
                    if steps[s, OP] == SELECT:
                        if steps[s, CONSUMES]:
                            free[p, matches[m, 1 + bound]] = False
                        bound += 1
    return DONE, values, known, time, made_type, rows, matches, output, n_matches, free
