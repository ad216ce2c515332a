"""A machine for rules whose past decides their future: it goes through the instants of a history one after another.

What it runs is laid out by :mod:`occurs.operators.select.sequential`: rows of all types in one pool, constraints as
code of a small stack machine, candidates in chains that lead from each row to the one before it with the same hash of
its key.  Rows of different keys never meet, so each key (a *lane*) has its instants for itself.

A value that the code cannot compute (an integer that may overflow, a function of texts, an aggregate over what was
just derived) is *asked for*: the lane stops with its questions, and begins the instant anew when it is called again
with the answers.  In an instant the same questions come in the same order.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.growing import higher, longer, mixed
from occurs.operators.kernels.stackcode import DONE, STACK, Arrays, evaluate

SELECT, ABSENT, KEEP, EXTRA = range(4)
EACH, FIRST, LAST = range(3)
WITHIN, BETWEEN = range(2)
#: fields of a step: the operation, index of candidates, policy, k, consuming (0, 1), kind of interval, its two roles,
#: length in ticks, strict (0, 1), keys [.., ..), number of its condition or -1
OP, INDEX, POLICY, K, CONSUMES, INTERVAL, ROLE_A, ROLE_B, LENGTH, STRICT, KEYS, KEYS_END, CONDITION = range(13)
STEP_FIELDS = 13
#: fields of a pattern: steps [.., ..), roles, fed-back type of the terminator (-1: terminators are given), number of
#: its condition or -1, fed-back type of the output (-1: none), outputs [.., ..), does it consume (0, 1)
STEPS, STEPS_END, ROLES, TERMINATOR, FILTER, OUTPUT, OUTS, OUTS_END, CONSUMING = range(9)
PATTERN_FIELDS = 9
#: fields of an expression: its code [.., ..), none if it is always asked for; is its value a float (0, 1)?
CODE, CODE_END, REAL = range(3)
#: fields of a lane: where its terminators, rows from outside, rows that enter indexes, answers, and the rows that it
#: has made in an instant that it must begin anew, begin and end
START, START_END, CAME, CAME_END, ENTER, ENTER_END, SAID, SAID_END, DRAFT, DRAFT_END = range(10)
LANE_FIELDS = 10
#: registers: rows of the pool, matches, questions, questions of this instant so far, is an answer missing?, lanes that
#: wait, the pattern and the instant of which an overflow leaves a condition undecided, and the room that is lacking
N_ROWS, N_MATCHES, N_QUESTIONS, TOLD, MISSING, WAITING, UNDECIDED_PATTERN, UNDECIDED_TIME, ROOM = range(9)
REGISTERS = 9
#: what a condition is; NO is 0 and YES is 1 also in answers
NO, YES, UNDECIDED, UNKNOWN = range(4)

_FIRST = np.int64(-(2**63))
#: numbers in a type of their own would be compiled for once more
_NO_ROW, _ONE = np.int64(-1), np.int64(1)
#: how an instant ends: it is complete, an overflow leaves something undecided, or something lacks room
COMPLETE, BROKEN, FULL_HERE, FULL_PART, FULL_MATCHES, FULL_POOL = range(6)
#: less than every number of partial matches
UNSURE = -(2**62)


@kernel
def _copy(to: np.ndarray, at: int, row: np.ndarray) -> None:
    for k in range(len(row)):
        to[at, k] = row[k]


@kernel
def _enter(pool: Arrays, row: int, i: int, index_keys: np.ndarray, heads: np.ndarray, before: np.ndarray) -> None:
    """Make a row the head of its chain in index ``i``, unless a value of its key is null."""
    values, real, known, _, lanes = pool
    h = np.int64(lanes[row])
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
def _asked(e: int, roles: np.ndarray, own: int, lane: np.ndarray, reg: np.ndarray, questions: np.ndarray) -> int:
    """The number of the answer to what expression ``e`` is; -1: it is not there yet, and the question is noted."""
    at = lane[SAID] + reg[TOLD]
    reg[TOLD] += 1
    if at < lane[SAID_END]:
        return at
    reg[MISSING] = 1
    n = reg[N_QUESTIONS]
    if n < len(questions):
        questions[n, 1] = e
        questions[n, 2] = own
        for k in range(len(roles)):
            questions[n, 3 + k] = roles[k]
        reg[N_QUESTIONS] += 1
    return -1


@kernel
def _truth(
    e: int, roles: np.ndarray, own: int, expressions: np.ndarray, program: Arrays, pool: Arrays, stack: Arrays,
    asking: Arrays,
) -> int:  # fmt: skip
    """What condition ``e`` (-1: none) is with rows ``roles`` and the candidate ``own``."""
    if e < 0:
        return YES
    begin, end = expressions[e, CODE], expressions[e, CODE_END]
    lane, reg, questions, said = asking
    if end > begin and evaluate(program, begin, end, pool[:4], roles, own, stack) == DONE:
        return YES if stack[2][0] and stack[0][0] != 0 else NO
    at = _asked(e, roles, own, lane, reg, questions)
    return UNKNOWN if at < 0 else said[at, 0]


@kernel
def _find(
    step: np.ndarray, roles: np.ndarray, bound: int, now: np.int64, free: np.ndarray, tables: Arrays, program: Arrays,
    pool: Arrays, heads: np.ndarray, before: np.ndarray, stack: Arrays, asking: Arrays, found: np.ndarray,
) -> int:  # fmt: skip
    """The number of the candidates of a partial match, latest first, as far as the step needs them, which are put into
    ``found``; -1: an overflow leaves open which they are.

    ``roles``: its rows, ``bound`` of them, with room for the candidate; ``free``: which rows are not consumed;
    ``found`` has room for all rows of the pool.
    """
    _, _, keys, key_floats, expressions = tables[:5]
    values, real, known, time, lanes = pool
    reg = asking[1]
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
    lane = lanes[roles[0]]
    h = np.int64(lane)
    for k in range(step[KEYS], step[KEYS_END]):
        other = roles[keys[k, 1]]
        column = keys[k, 2]
        if not known[other, column]:
            return 0
        zero = key_floats[k] and real[other, column] == 0.0
        h = mixed(h, np.int64(0) if zero else values[other, column])
    # one is enough to be absent no more, and the k-th last
    enough = len(time)
    if step[OP] == ABSENT:
        enough = 1
    elif step[POLICY] == LAST:
        enough = step[K]
    told = reg[TOLD]
    n = 0
    decided = np.int64(-1)  # candidates before the last one of which it is not known whether it fits
    i = step[INDEX]
    row = heads[i, h & (heads.shape[1] - 1)]
    # where something is asked, all of them are: the questions do not depend on the answers
    while row >= 0 and (n < enough or reg[TOLD] > told):
        if lanes[row] == lane:
            if time[row] < low:
                break
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
            if fits:
                if step[OP] == SELECT:
                    roles[bound] = row
                truth = _truth(step[CONDITION], roles, row, expressions, program, pool, stack, asking)
                fits = truth == YES
                if truth == UNDECIDED and n < enough:
                    decided = np.int64(n)
            if fits:
                found[n] = row
                n += 1
        row = before[row, i]
    if decided >= 0 and not reg[MISSING]:
        # it matters unless enough certain ones come before it in the order of choice
        certain = n if step[OP] == ABSENT else n - decided if step[POLICY] == FIRST else 0
        if certain < (1 if step[OP] == ABSENT else step[K]):
            return -1
    return n


@kernel
def _extended(
    step: np.ndarray, part: np.ndarray, n_part: int, grown: np.ndarray, bound: int, now: np.int64, free: np.ndarray,
    tables: Arrays, program: Arrays, pool: Arrays, heads: np.ndarray, before: np.ndarray, stack: Arrays,
    asking: Arrays, found: np.ndarray,
) -> int:  # fmt: skip
    """What a step makes of the partial matches in ``part`` is put into ``grown``: how many there are, UNSURE if an
    overflow leaves something undecided, and if ``grown`` lacks room the number that is needed, below 0."""
    expressions = tables[4]
    time = pool[3]
    n_grown = 0
    for q in range(n_part):
        roles = part[q]
        truth = YES
        # of the candidates found, latest first, [low, high) are selected
        low, high = 0, 0
        if step[OP] == KEEP:
            truth = _truth(step[CONDITION], roles, _NO_ROW, expressions, program, pool, stack, asking)
        elif step[OP] == EXTRA:
            age = time[roles[step[ROLE_B]]] - time[roles[step[ROLE_A]]]
            truth = YES if 0 <= age <= step[LENGTH] else NO
        else:
            n = _find(step, roles, bound, now, free, tables, program, pool, heads, before, stack, asking, found)
            truth = UNDECIDED if n < 0 else YES if n == 0 and step[OP] == ABSENT else NO
            if step[OP] == SELECT:
                high = n
                if step[POLICY] != EACH and n >= 0:
                    low = n - step[K] if step[POLICY] == FIRST else step[K] - 1
                    high = low + 1 if n >= step[K] else low
        if truth == UNDECIDED:
            return UNSURE
        if n_grown + high - low + 1 > len(grown):
            return -(n_grown + high - low + 1)
        if truth == YES:
            _copy(grown, n_grown, roles)
            n_grown += 1
        for f in range(high - 1, low - 1, -1):
            _copy(grown, n_grown, roles)
            grown[n_grown, bound] = found[f]
            n_grown += 1
    return n_grown


@kernel
def _instant(
    number: int, tables: Arrays, program: Arrays, given: Arrays, heads: np.ndarray, pool: Arrays, work: Arrays,
    scratch: Arrays, stack: Arrays, asking: Arrays,
) -> int:  # fmt: skip
    """The next instant of lane ``number``: what comes from outside, then pattern after pattern.

    work: (before, made, matches, output, free) of :func:`run`; scratch: (rows that are there, their types, partial
    matches, the same, candidates).

    Returns COMPLETE (also if an answer is missing: then ``reg[MISSING]`` is set), BROKEN if an overflow leaves
    something undecided, or what lacks room (``reg[ROOM]``: for so many): nothing has happened then, and the instant
    can begin anew.
    """
    patterns, steps, _, _, expressions, outs, index_keys, index_types = tables
    enter, enter_index, outside, outside_type, starts, start_pattern = given
    values, real, known, time, of_lane = pool
    before, made, matches, output, free = work
    here, here_type, part, grown, found = scratch
    lane, reg, questions, said = asking
    widest = matches.shape[1] - 1
    started, came = lane[START], lane[CAME]
    if started == lane[START_END]:
        now = time[outside[came]]
    elif came == lane[CAME_END]:
        now = time[starts[started]]
    else:
        now = min(time[starts[started]], time[outside[came]])
    while lane[ENTER] < lane[ENTER_END] and time[enter[lane[ENTER]]] <= now:
        _enter(pool, enter[lane[ENTER]], enter_index[lane[ENTER]], index_keys, heads, before)
        lane[ENTER] += 1
    rows = reg[N_ROWS]
    n_matches = reg[N_MATCHES]
    first_question = reg[N_QUESTIONS]
    reg[TOLD] = 0
    n_here = 0
    while came < lane[CAME_END] and time[outside[came]] == now:
        if n_here == len(here):
            return _full(FULL_HERE, 2 * n_here, first_question, reg)
        here[n_here] = outside[came]
        here_type[n_here] = outside_type[came]
        n_here += 1
        came += 1
    for p in range(len(patterns)):
        bound = _ONE
        n_part = 0
        if patterns[p, TERMINATOR] < 0:
            while started < lane[START_END] and start_pattern[started] == p and time[starts[started]] == now:
                if n_part == len(part):
                    return _full(FULL_PART, 2 * n_part, first_question, reg)
                part[n_part, 0] = starts[started]
                n_part += 1
                started += 1
        else:
            for at in range(n_here):
                if here_type[at] != patterns[p, TERMINATOR]:
                    continue
                truth = _truth(
                    patterns[p, FILTER], here[at : at + 1], here[at], expressions, program, pool, stack, asking
                )
                if truth == UNDECIDED:
                    reg[UNDECIDED_PATTERN], reg[UNDECIDED_TIME] = p, now
                    return BROKEN
                if truth == YES:
                    if n_part == len(part):
                        return _full(FULL_PART, 2 * n_part, first_question, reg)
                    part[n_part, 0] = here[at]
                    n_part += 1
        for s in range(patterns[p, STEPS], patterns[p, STEPS_END]):
            if reg[MISSING] or n_part == 0:
                break
            n_grown = _extended(
                steps[s], part, n_part, grown, bound, now, free[p], tables, program, pool, heads, before, stack,
                asking, found,
            )  # fmt: skip
            if n_grown == UNSURE:
                reg[UNDECIDED_PATTERN], reg[UNDECIDED_TIME] = p, now
                return BROKEN
            if n_grown < 0:
                return _full(FULL_PART, -2 * n_grown, first_question, reg)
            if steps[s, OP] == SELECT:
                bound += 1
            part, grown = grown, part
            n_part = n_grown
        if reg[MISSING]:
            break
        for q in range(n_part):
            if n_matches == len(matches):
                return _full(FULL_MATCHES, 2 * n_matches, first_question, reg)
            matches[n_matches, 0] = p
            for k in range(widest):
                matches[n_matches, 1 + k] = part[q, k]
            output[n_matches] = -1
            if patterns[p, OUTPUT] >= 0:
                if rows == len(time):
                    return _full(FULL_POOL, 2 * rows, first_question, reg)
                if n_here == len(here):
                    return _full(FULL_HERE, 2 * n_here, first_question, reg)
                time[rows] = now
                of_lane[rows] = number
                made[rows] = patterns[p, OUTPUT]
                for o in range(patterns[p, OUTS], patterns[p, OUTS_END]):
                    column = o - patterns[p, OUTS]
                    e = outs[o]
                    begin, end = expressions[e, CODE], expressions[e, CODE_END]
                    if end > begin and evaluate(program, begin, end, pool[:4], part[q], _NO_ROW, stack) == DONE:
                        known[rows, column] = stack[2][0]
                        if expressions[e, REAL]:
                            real[rows, column] = stack[1][0]
                        else:
                            values[rows, column] = stack[0][0]
                    else:
                        at = _asked(e, part[q], _NO_ROW, lane, reg, questions)
                        if at >= 0:
                            values[rows, column], known[rows, column] = said[at, 0], said[at, 1] != 0
                output[n_matches] = rows
                here[n_here] = rows
                here_type[n_here] = patterns[p, OUTPUT]
                n_here += 1
                rows += 1
            n_matches += 1
        if reg[MISSING]:
            break
    if reg[MISSING]:
        for k in range(first_question, reg[N_QUESTIONS]):
            questions[k, 0] = number
        lane[DRAFT], lane[DRAFT_END] = reg[N_ROWS], rows
        reg[N_ROWS] = rows
        return COMPLETE
    # the instant is over: its rows of fed-back types become candidates, what it consumes is gone
    for at in range(n_here):
        for i in range(len(index_types)):
            if index_types[i] == here_type[at]:
                _enter(pool, here[at], i, index_keys, heads, before)
    for m in range(reg[N_MATCHES], n_matches):
        of = matches[m, 0]
        if patterns[of, CONSUMING]:
            bound = _ONE
            for s in range(patterns[of, STEPS], patterns[of, STEPS_END]):
                if steps[s, OP] == SELECT:
                    if steps[s, CONSUMES]:
                        free[of, matches[m, 1 + bound]] = False
                    bound += 1
    lane[START], lane[CAME], lane[SAID] = started, came, lane[SAID_END]
    reg[N_ROWS], reg[N_MATCHES] = rows, n_matches
    return COMPLETE


@kernel
def _instants(
    number: int, tables: Arrays, program: Arrays, given: Arrays, heads: np.ndarray, pool: Arrays, work: Arrays,
    scratch: Arrays, stack: Arrays, asking: Arrays,
) -> int:  # fmt: skip
    """The instants of a lane, as :func:`_instant`, up to the end of the lane or to one that lacks an answer.

    Returns COMPLETE, or how the first instant ends that is not complete.
    """
    lane, reg, _, _ = asking
    ended = COMPLETE
    while ended == COMPLETE and not reg[MISSING] and (lane[START] < lane[START_END] or lane[CAME] < lane[CAME_END]):
        ended = _instant(number, tables, program, given, heads, pool, work, scratch, stack, asking)
    return ended


@kernel
def _full(what: int, room: int, first_question: int, reg: np.ndarray) -> int:
    """``what`` lacks room: the questions of this instant are taken back."""
    reg[ROOM], reg[N_QUESTIONS], reg[MISSING] = room, first_question, 0
    return what


def _rows(tables: Arrays, program: Arrays, given: Arrays, *rest: object) -> int:
    return 4 * sum([a.size for a in given])


@kernel(work=_rows)
def run(
    tables: Arrays, program: Arrays, given: Arrays, lanes: np.ndarray, todo: np.ndarray, said: np.ndarray,
    questions: np.ndarray, heads: np.ndarray, reg: np.ndarray, work: Arrays,
) -> Arrays:  # fmt: skip
    """The instants of the lanes ``todo`` (lanes with questions are its first ``reg[WAITING]`` afterwards).

    tables: (patterns, steps, keys (own column, role, column), which keys are floats, expressions, outputs (their
    expressions), index_keys (indexes, 1 + 2 * columns: number of key columns, them, and which are floats), fed-back
    type of each index or -1).  given: (rows that enter an index in order of time, the index, rows of fed-back types
    that come in this call, their types, terminators in order of (time, pattern, rank), their patterns), each lane by
    lane.  ``said``: answers (value, known).  questions: (n, 3 + roles): lane, expression, candidate or -1, rows.
    ``heads`` (indexes, a power of two).  work: what grows: the pool (values int64 (rows, columns; floats as their
    bits), known, time, lane), per row and index the row before it in the chain, fed-back type of each derived row,
    matches (pattern, roles..), row of the output per match or -1, free (patterns, rows).

    Returns ``work``.  ``reg[UNDECIDED_PATTERN]`` is not -1 if an overflow leaves something undecided.
    """
    values, known, time, of_lane, before, made, matches, output, free = work
    pool = (values, values.view(np.float64), known, time, of_lane)
    widest = matches.shape[1] - 1
    stack = (np.zeros(STACK, np.int64), np.zeros(STACK, np.float64), np.zeros(STACK, np.bool_))
    here, here_type = np.empty(16, np.int64), np.empty(16, np.int64)
    part, grown = np.zeros((16, widest), np.int64), np.zeros((16, widest), np.int64)
    found = np.empty(len(time), np.int64)
    reg[N_QUESTIONS] = reg[WAITING] = 0
    for number in todo:
        lane = lanes[number]
        asking = (lane, reg, questions, said)
        reg[MISSING] = np.int64(reg[N_QUESTIONS] == len(questions))
        if not reg[MISSING]:
            for k in range(lane[DRAFT], lane[DRAFT_END]):
                made[k] = -1
            lane[DRAFT] = lane[DRAFT_END]
        ended = BROKEN
        while ended != COMPLETE:
            ended = _instants(
                number, tables, program, given, heads, pool, (before, made, matches, output, free),
                (here, here_type, part, grown, found), stack, asking,
            )  # fmt: skip
            room = reg[ROOM]
            if ended == BROKEN:
                return values, known, time, of_lane, before, made, matches, output, free
            if ended == FULL_HERE:
                here, here_type = np.empty(room, np.int64), np.empty(room, np.int64)
            elif ended == FULL_PART:
                part, grown = np.zeros((room, widest), np.int64), np.zeros((room, widest), np.int64)
            elif ended == FULL_MATCHES:
                matches, output = higher(matches, room), longer(output, room)
            elif ended == FULL_POOL:
                values, known, time = higher(values, room), higher(known, room), longer(time, room)
                of_lane, made, before = longer(of_lane, room), longer(made, room), higher(before, room)
                pool = (values, values.view(np.float64), known, time, of_lane)
                found = np.empty(room, np.int64)
                wider = np.ones((free.shape[0], room), np.bool_)
                for i in range(free.shape[0]):
                    for k in range(free.shape[1]):
                        wider[i, k] = free[i, k]
                free = wider
        if reg[MISSING]:
            todo[reg[WAITING]] = number
            reg[WAITING] += 1
    return values, known, time, of_lane, before, made, matches, output, free
