"""A machine for rules whose past decides their future: it goes through the instants of a history one after another.

What it runs is laid out by :mod:`occurs.operators.select.sequential`: rows of all types in one pool, constraints as
code of a small stack machine, candidates in chains that lead from each row to the one before it with the same hash of
its key.  Whatever it cannot decide as the column-wise evaluation would (an integer overflow, a comparison beyond 2**53)
it leaves to that: it stops with ``GIVE_UP``.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.growing import higher, longer, mixed
from occurs.operators.kernels.stackcode import DONE, GIVE_UP, STACK, Arrays, evaluate

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

_FIRST = np.int64(-(2**63))


@kernel
def _enter(pool: Arrays, row: int, i: int, index_keys: np.ndarray, chains: Arrays) -> None:
    """Make a row the head of its chain in index ``i``, unless a value of its key is null."""
    values, real, known, _ = pool
    heads, before = chains
    h = np.int64(0)
    width = index_keys[i, 0]
    for k in range(1, 1 + width):
        column = index_keys[i, k]
        if not known[row, column]:
            return
        # 0.0 and -0.0 are equal
        zero = index_keys[i, k + width] and real[row, column] == 0.0
        h = mixed(h, np.int64(0) if zero else values[row, column])
    bucket = h & (heads.shape[1] - 1)
    before[row, i] = heads[i, bucket]
    heads[i, bucket] = row


@kernel
def _find(
    step: np.ndarray, roles: np.ndarray, bound: int, now: np.int64, free: np.ndarray, keys: np.ndarray,
    key_floats: np.ndarray, program: Arrays, pool: Arrays, chains: Arrays, stack: Arrays, found: np.ndarray,
) -> tuple[int, np.ndarray]:  # fmt: skip
    """(number, rows) of the candidates of a partial match, latest first, as far as the step needs them; -1: give up.

    ``roles``: its rows, ``bound`` of them; ``free``: which rows are not consumed.
    """
    values, real, known, time = pool
    heads, before = chains
    x, _, ok = stack
    if step[INTERVAL] == WITHIN:
        high = time[roles[step[ROLE_A]]]
        low = high - step[LENGTH] if high >= _FIRST + step[LENGTH] else _FIRST
    else:
        low = time[roles[step[ROLE_A]]]
        high = time[roles[step[ROLE_B]]]
    if step[OP] == ABSENT:
        low += 1
    if step[STRICT]:
        high = min(high, now - 1)
    h = np.int64(0)
    for k in range(step[KEYS], step[KEYS_END]):
        other = roles[keys[k, 1]]
        column = keys[k, 2]
        if not known[other, column]:
            return 0, found
        zero = key_floats[k] and real[other, column] == 0.0
        h = mixed(h, np.int64(0) if zero else values[other, column])
    # one is enough to be absent no more, and the k-th last
    enough = len(time)
    if step[OP] == ABSENT:
        enough = 1
    elif step[POLICY] == LAST:
        enough = step[K]
    n = 0
    i = step[INDEX]
    row = heads[i, h & (heads.shape[1] - 1)]
    while row >= 0 and time[row] >= low and n < enough:
        fits = time[row] <= high and (not step[CONSUMES] or free[row])
        if fits:
            for m in range(bound):
                if roles[m] == row:
                    fits = False
                    break
        if fits:
            for k in range(step[KEYS], step[KEYS_END]):
                other = roles[keys[k, 1]]
                if key_floats[k]:
                    fits = real[row, keys[k, 0]] == real[other, keys[k, 2]]
                else:
                    fits = values[row, keys[k, 0]] == values[other, keys[k, 2]]
                if not fits:
                    break
        if fits and step[CODE_END] > step[CODE]:
            if evaluate(program, step[CODE], step[CODE_END], pool, roles, row, stack) != DONE:
                return -1, found
            fits = ok[0] and x[0] != 0
        if fits:
            if n == len(found):
                found = longer(found, 2 * n)
            found[n] = row
            n += 1
        row = before[row, i]
    return n, found


@kernel
def run(
    n_static: int, values: np.ndarray, known: np.ndarray, time: np.ndarray, enter: np.ndarray, enter_index: np.ndarray,
    outside: np.ndarray, outside_type: np.ndarray, starts: np.ndarray, start_pattern: np.ndarray, patterns: np.ndarray,
    steps: np.ndarray, keys: np.ndarray, key_floats: np.ndarray, program: Arrays, outs: np.ndarray,
    index_keys: np.ndarray, index_types: np.ndarray, index_code: np.ndarray, free: np.ndarray, widest: int,
) -> tuple[int, Arrays, np.ndarray, int, np.ndarray, np.ndarray, int, np.ndarray]:  # fmt: skip
    """All instants.

    values int64 (rows, columns; floats as their bits), known bool, time: the pool, static rows first.  ``enter``: rows
    in order of time, ``enter_index``: the candidate index that each enters.  ``outside``: rows of fed-back types that
    come in this call, with ``outside_type``.  ``starts``: terminators in order of (time, pattern, rank), with
    ``start_pattern``.  ``keys``: per key (own column, role, column).  ``index_keys`` (indexes, 1 + 2 * columns): number
    of key columns, them, and which are floats; ``index_types``: fed-back type of an index or -1; ``index_code``: the
    filter of its rows.  ``free`` (patterns, rows).

    Returns (status, pool, fed-back type per dynamic row, rows in all, matches (pattern, roles..) in order, row of the
    output per match or -1, number of matches, free).
    """
    pool = (values, values.view(np.float64), known, time)
    rows = n_static
    n_index = len(index_keys)
    size = 16
    while size < 2 * n_static + 16:
        size *= 2
    heads = np.full((n_index, size), -1, np.int64)
    chains = (heads, np.full((len(time), n_index), -1, np.int64))
    made_type = np.full(len(time), -1, np.int64)
    matches = np.zeros((64, 1 + widest), np.int64)
    output = np.full(64, -1, np.int64)
    n_matches = 0
    stack = (np.zeros(STACK, np.int64), np.zeros(STACK, np.float64), np.zeros(STACK, np.bool_))
    x, y, ok = stack
    here = np.zeros(16, np.int64)
    here_type = np.zeros(16, np.int64)
    part = np.zeros((16, widest), np.int64)
    grown = np.zeros((16, widest), np.int64)
    found = np.zeros(16, np.int64)
    alone = np.zeros(1, np.int64)
    entered = 0
    came = 0
    started = 0
    while started < len(starts) or came < len(outside):
        if started == len(starts):
            now = time[outside[came]]
        elif came == len(outside):
            now = time[starts[started]]
        else:
            now = min(time[starts[started]], time[outside[came]])
        while entered < len(enter) and time[enter[entered]] <= now:
            _enter(pool, enter[entered], enter_index[entered], index_keys, chains)
            entered += 1
        n_here = 0
        first_match = n_matches
        # what comes from outside, then pattern after pattern; -1 stands for the former
        for p in range(-1, len(patterns)):
            fresh_from = n_here
            first_of_pattern = n_matches
            if p < 0:
                while came < len(outside) and time[outside[came]] == now:
                    if n_here == len(here):
                        here, here_type = longer(here, 2 * n_here), longer(here_type, 2 * n_here)
                    here[n_here] = outside[came]
                    here_type[n_here] = outside_type[came]
                    n_here += 1
                    came += 1
            at = 0
            while p >= 0:
                # the next terminator
                if patterns[p, TERMINATOR] < 0:
                    if started == len(starts) or start_pattern[started] != p or time[starts[started]] != now:
                        break
                    terminator = starts[started]
                    started += 1
                else:
                    if at == fresh_from:
                        break
                    terminator = here[at]
                    at += 1
                    if here_type[at - 1] != patterns[p, TERMINATOR]:
                        continue
                    begin, end = patterns[p, FILTER], patterns[p, FILTER_END]
                    if end > begin:
                        alone[0] = terminator
                        if evaluate(program, begin, end, pool, alone, terminator, stack) != DONE:
                            return GIVE_UP, pool, made_type, rows, matches, output, 0, free
                        if not (ok[0] and x[0] != 0):
                            continue
                part[0, 0] = terminator
                n_part = 1
                bound = 1
                for s in range(patterns[p, STEPS], patterns[p, STEPS_END]):
                    step = steps[s]
                    n_grown = 0
                    for q in range(n_part):
                        roles = part[q]
                        stays = False
                        if step[OP] == KEEP:
                            if evaluate(program, step[CODE], step[CODE_END], pool, roles, terminator, stack) != DONE:
                                return GIVE_UP, pool, made_type, rows, matches, output, 0, free
                            stays = ok[0] and x[0] != 0
                        elif step[OP] == EXTRA:
                            stays = 0 <= time[roles[step[ROLE_B]]] - time[roles[step[ROLE_A]]] <= step[LENGTH]
                        else:
                            n, found = _find(
                                step, roles, bound, now, free[p], keys, key_floats, program, pool, chains, stack, found
                            )
                            if n < 0:
                                return GIVE_UP, pool, made_type, rows, matches, output, 0, free
                            stays = step[OP] == ABSENT and n == 0
                            if step[OP] == SELECT:
                                # of those found, latest first, [low, high)
                                low, high = 0, n
                                if step[POLICY] != EACH:
                                    if n < step[K]:
                                        continue
                                    low = n - step[K] if step[POLICY] == FIRST else step[K] - 1
                                    high = low + 1
                                if n_grown + high - low + n_part > len(grown):
                                    grown = higher(grown, 2 * (n_grown + high - low + n_part))
                                for f in range(high - 1, low - 1, -1):
                                    grown[n_grown] = roles
                                    grown[n_grown, bound] = found[f]
                                    n_grown += 1
                        if stays:
                            grown[n_grown] = roles
                            n_grown += 1
                    if step[OP] == SELECT:
                        bound += 1
                    if len(part) < len(grown):
                        part = higher(part, len(grown))
                    part, grown = grown, part
                    n_part = n_grown
                if n_matches + n_part > len(matches):
                    matches = higher(matches, 2 * (n_matches + n_part))
                    output = longer(output, len(matches))
                for q in range(n_part):
                    matches[n_matches, 0] = p
                    matches[n_matches, 1:] = part[q]
                    output[n_matches] = -1
                    n_matches += 1
            if p >= 0 and patterns[p, OUTPUT] >= 0:
                for m in range(first_of_pattern, n_matches):
                    if rows == len(time):
                        values, known, time = higher(values, 2 * rows), higher(known, 2 * rows), longer(time, 2 * rows)
                        pool = (values, values.view(np.float64), known, time)
                        chains = (heads, higher(chains[1], 2 * rows))
                        made_type = longer(made_type, 2 * rows)
                        wider = np.ones((free.shape[0], 2 * rows), np.bool_)
                        wider[:, :rows] = free
                        free = wider
                    time[rows] = now
                    made_type[rows] = patterns[p, OUTPUT]
                    for o in range(patterns[p, OUTS], patterns[p, OUTS_END]):
                        column = o - patterns[p, OUTS]
                        terminator = matches[m, 1]
                        if evaluate(program, outs[o, 0], outs[o, 1], pool, matches[m, 1:], terminator, stack) != DONE:
                            return GIVE_UP, pool, made_type, rows, matches, output, 0, free
                        known[rows, column] = ok[0]
                        if outs[o, 2]:
                            pool[1][rows, column] = y[0]
                        else:
                            values[rows, column] = x[0]
                    output[m] = rows
                    if n_here == len(here):
                        here, here_type = longer(here, 2 * n_here), longer(here_type, 2 * n_here)
                    here[n_here] = rows
                    here_type[n_here] = patterns[p, OUTPUT]
                    n_here += 1
                    rows += 1
            # new rows of fed-back types become candidates
            for at in range(fresh_from, n_here):
                for i in range(n_index):
                    if index_types[i] != here_type[at]:
                        continue
                    if index_code[i, 1] > index_code[i, 0]:
                        alone[0] = here[at]
                        if evaluate(program, index_code[i, 0], index_code[i, 1], pool, alone, here[at], stack) != DONE:
                            return GIVE_UP, pool, made_type, rows, matches, output, 0, free
                        if not (ok[0] and x[0] != 0):
                            continue
                    _enter(pool, here[at], i, index_keys, chains)
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
    return DONE, pool, made_type, rows, matches, output, n_matches, free
