"""All operators of several nets in one call of a kernel (phenesthe.md, sections 4 and 5).

A *program* is an int64 matrix, one row per node, operands before those that use them; its columns are ``OP`` ..
``REPEATS``.  A signal is what a node has added, ``closed``; of a state also what ``began``, what is ``open``; of
relations also what lags.  Instants are intervals that end where they begin.  Blocks are as in
:mod:`occurs.operators.kernels.blocks`.

A *key* is a variable that all nodes have.  Bindings of other keys have nothing to do with one another, and for a key of
which nothing comes nothing changes: all but the first nodes see only the rows of the keys of which something comes.
Tables of state have room behind their rows, which are in no order; ``sizes`` says how many there are.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import List, kernel, types
from occurs.operators.kernels import allen
from occurs.operators.kernels.allen import once
from occurs.operators.kernels.blocks import _BLOCK, alike, copy, keys, taken
from occurs.operators.kernels.intervals import _OPEN, _OUT, ascending
from occurs.operators.kernels.range_intersection import common
from occurs.operators.kernels.range_scan import FEW_KEYS, STRETCH, first_marks, ranged, ranged_apart
from occurs.operators.kernels.reading import read_all
from occurs.operators.kernels.reporting import reported
from occurs.operators.kernels.texts import _SHORT, _STORE, written

_BLOCKS = types.ListType(_BLOCK)
_MARKS = types.Array(types.boolean, 1, "C")
#: ``PHASE``: 0 if it reads rows alone, 2 for relations, else 1.  ``READ``: bits for the phases of those that read it.
#: ``KEY``: the column of the key, -1 if there is none.  ``TABLE``: its first table, -1 if it has none.  ``REL``,
#: ``RESULT``, ``REPEATS``: of relations
OP, LEFT, RIGHT, WIDTH, PHASE, READ, KEY, TABLE, REL, RESULT, REPEATS = range(11)
#: instants of rows; a maximal range; start, end; an intersection; relations
POINTS, RANGE, STARTS, ENDS, COMMON, BESIDE, BEFORE = range(7)

#: so many kept rows may be looked at in every call
_FEW = 32
# Relations are put into :func:`advance` before it is compiled: what is compiled of its own is optimised once more with
# all that it calls.
_PLACES = types.Array(types.int64, 3, "C")


# -- tables of rows that are kept, in no order and with room behind them -----------------------------------------------
@kernel(_BLOCK(_BLOCK))
def opened(held: np.ndarray) -> np.ndarray:
    """Rows of a table that begin and have not ended, as intervals."""
    width, n = held.shape
    out = np.empty((width + 1, n), np.int64)
    for k in range(width):
        copy(out, k, 0, held, k, 0, n)
    for i in range(n):
        out[width, i] = _OPEN
    return out


@kernel(_OUT(_BLOCK, types.int64, types.int64, _MARKS))
def drawn(table: np.ndarray, size: int, column: int, touched: np.ndarray) -> np.ndarray:
    """The rows of the keys in question."""
    if column < 0:
        return np.arange(size)
    out, keys, n = np.empty(size, np.int64), table[column], 0
    most = np.uint64(len(touched))
    wanted = np.flatnonzero(touched)
    for at in range(0, size, STRETCH):
        upto = min(at + STRETCH, size)
        if len(wanted) <= FEW_KEYS:
            stretch, many = keys[at:upto], 0
            for one in wanted:
                for i in range(np.uint64(len(stretch))):
                    many += stretch[i] == one
            if not many:
                continue
        for i in range(at, upto):
            out[n] = i
            key = np.uint64(keys[i])
            n += int(key < most and touched[key])
    return out[:n]


@kernel(types.void(_BLOCKS, _OUT, _OUT, types.int64, _OUT, _BLOCK))
def replace(
    tables: List, sizes: np.ndarray, versions: np.ndarray, number: int, rows: np.ndarray, after: np.ndarray
) -> None:
    """Puts ``after`` in the place of some rows of a table."""
    versions[number] += 1
    table, size, old, new = tables[number], sizes[number], len(rows), after.shape[1]
    width = table.shape[0]
    for i in range(min(old, new)):
        for k in range(width):
            table[k, rows[i]] = after[k, i]
    # the last rows move to where there are none
    for i in range(old - 1, new - 1, -1):
        size -= 1
        if rows[i] != size:
            for k in range(width):
                table[k, rows[i]] = table[k, size]
    if size + new - old > table.shape[1] and new > old:
        larger = np.empty((width, 2 * (size + new - old) + 16), np.int64)
        for k in range(width):
            copy(larger, k, 0, table, k, 0, size)
        tables[number] = table = larger
    for i in range(old, new):
        for k in range(width):
            table[k, size] = after[k, i]
        size += 1
    sizes[number] = size


# -- nodes -------------------------------------------------------------------------------------------------------------
@kernel(_BLOCK(_PLACES, types.int64, _BLOCK))
def _of(places: np.ndarray, node: int, program: np.ndarray) -> np.ndarray:
    """Where the operands of a node have its variables."""
    out = np.empty((2, program[node, WIDTH]), np.int64)
    for side in range(2):
        for k in range(out.shape[1]):
            out[side, k] = places[node, side, k]
    return out


@kernel(_BLOCK(_OUT, types.int64, types.int64, types.int64))
def _points(marks: np.ndarray, at: int, width: int, n: int) -> np.ndarray:
    """Instants out of a row of columns."""
    out = np.empty((width + 2, n), np.int64)
    for k in range(width + 1):
        for i in range(n):
            out[k, i] = marks[at + k * n + i]
    copy(out, width + 1, 0, out, width, 0, n)
    return out


@kernel(_BLOCK(_BLOCK, types.int64))
def _instants(rows: np.ndarray, column: int) -> np.ndarray:
    """The starts of intervals, or the ends."""
    width, n = rows.shape[0] - 2, rows.shape[1]
    out = np.empty((width + 2, n), np.int64)
    for k in range(width):
        copy(out, k, 0, rows, k, 0, n)
    copy(out, width, 0, rows, width + column, 0, n)
    copy(out, width + 1, 0, rows, width + column, 0, n)
    return out


@kernel(types.int64(_BLOCK, types.int64))
def _greatest(block: np.ndarray, column: int) -> int:
    out = -1
    for i in range(block.shape[1]):
        out = max(out, block[column, i])
    return out


@kernel(inline="always")
def _related(
    node: np.ndarray, places: np.ndarray, tables: List, sizes: np.ndarray, versions: np.ndarray, columns: np.ndarray,
    touched: np.ndarray, left: np.ndarray, left_open: np.ndarray, right: np.ndarray, right_open: np.ndarray,
    left_lags: np.ndarray, left_cuts: np.ndarray, right_lags: np.ndarray, right_cuts: np.ndarray, frontier: int,
    told: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The results of a relation that are final, and what lags if it is asked for, over the rows of the keys in
    question."""
    t, last = node[TABLE], 3 if node[OP] == BEFORE else 2
    asked = allen.ALWAYS if told else allen.NEVER
    if node[REPEATS] and not told:
        asked = allen.ALWAYS if sizes[t + last] else allen.FOUND
    at_left = drawn(tables[t], sizes[t], columns[t], touched)
    at_right = drawn(tables[t + 1], sizes[t + 1], columns[t + 1], touched)
    kept, others = taken(tables[t], at_left), taken(tables[t + 1], at_right)
    if node[OP] == BEFORE:
        at_begun = drawn(tables[t + 2], sizes[t + 2], columns[t + 2], touched)
        begun = taken(tables[t + 2], at_begun)
        found, kept_after, others_after, begun_after, lags, cuts, changed = allen.before(
            kept, left, left_open, others, right, right_open, begun, left_lags, left_cuts, right_lags, right_cuts,
            places, frontier, frontier, _FEW, asked,
        )  # fmt: skip
        if changed & 4:
            replace(tables, sizes, versions, t + 2, at_begun, begun_after)
    else:
        found, kept_after, others_after, lags, cuts, changed = allen.beside(
            node[REL], node[RESULT], kept, left, left_open, others, right, right_open, left_lags, left_cuts,
            right_lags, right_cuts, places, frontier, frontier, _FEW, asked,
        )  # fmt: skip
    if changed & 1:
        replace(tables, sizes, versions, t, at_left, kept_after)
    if changed & 2:
        replace(tables, sizes, versions, t + 1, at_right, others_after)
    t += last
    if node[REPEATS] and (sizes[t] or found.shape[1]):
        at_given = drawn(tables[t], sizes[t], columns[t], touched)
        given = taken(tables[t], at_given)
        pending = others_after if node[OP] == BEFORE else np.empty((2, 0), np.int64)
        found, given_after = once(given, found, frontier, lags, cuts, pending, places)
        if not alike(given, given_after):
            replace(tables, sizes, versions, t, at_given, given_after)
    return found, lags, cuts


@kernel(_BLOCK(_BLOCK, types.int64, _BLOCKS, _OUT, _OUT, _MARKS))
def _open(
    program: np.ndarray, node: int, tables: List, sizes: np.ndarray, columns: np.ndarray, touched: np.ndarray
) -> np.ndarray:
    """What is open of a state, of the keys in question; of what is no state nothing."""
    t = program[node, TABLE]
    if t < 0 or program[node, OP] >= BESIDE:
        return np.empty((program[node, WIDTH] + 2, 0), np.int64)
    return opened(taken(tables[t], drawn(tables[t], sizes[t], columns[t], touched)))


@kernel(types.Tuple((_MARKS, types.int64))(_BLOCK, types.int64, _BLOCKS, _BLOCKS))
def _touched(program: np.ndarray, phase: int, closed: List, began: List) -> tuple[np.ndarray, int]:
    """The keys of which something comes for the nodes of a phase, and how many rows come."""
    most, count = -1, 0
    for i in range(len(program)):
        if program[i, PHASE] < phase and program[i, READ] >> phase & 1:
            count += closed[i].shape[1] + began[i].shape[1]
            if program[i, KEY] >= 0:
                most = max(most, _greatest(closed[i], program[i, KEY]), _greatest(began[i], program[i, KEY]))
    out = np.zeros(most + 1, np.bool_)
    for i in range(len(program)):
        if program[i, PHASE] < phase and program[i, READ] >> phase & 1 and program[i, KEY] >= 0:
            for block in (closed[i], began[i]):
                for p in range(block.shape[1]):
                    out[block[program[i, KEY], p]] = True
    return out, count


@kernel(_BLOCK(_BLOCK))
def _in_order(rows: np.ndarray) -> np.ndarray:
    """Instants in the order of time."""
    time = rows[rows.shape[0] - 2]
    return rows if ascending(time) else taken(rows, np.argsort(time, kind="mergesort"))


@kernel(
    types.void(_BLOCK, _PLACES, _BLOCKS, _OUT, _OUT, _OUT, _OUT, _BLOCKS, _BLOCKS),
)
def _rows(
    program: np.ndarray, places: np.ndarray, tables: List, sizes: np.ndarray, versions: np.ndarray, marks: np.ndarray,
    counts: np.ndarray, closed: List, began: List,
) -> None:  # fmt: skip
    """The nodes that read rows alone."""
    begin = np.zeros(len(program), np.int64)
    count = np.zeros(len(program), np.int64)
    at = scan = 0
    for i in range(len(program)):
        width = program[i, WIDTH]
        if program[i, OP] == POINTS:
            begin[i], count[i] = at, counts[scan]
            if program[i, READ] >> 1:
                rows = _points(marks, at, width, counts[scan])
                first, again = first_marks(keys(rows, width), rows[width])
                closed[i] = taken(rows, np.flatnonzero(first)) if again else rows
            at += (width + 1) * counts[scan]
            scan += 1
        elif program[i, PHASE] == 0:
            phi, psi, t = program[i, LEFT], program[i, RIGHT], program[i, TABLE]
            if not (count[phi] or (count[psi] and sizes[t])):
                continue
            if program[psi, WIDTH] == width:
                tables[t], sizes[t], closed[i], began[i], changed = ranged(
                    tables[t], sizes[t], marks, begin[phi], count[phi], begin[psi], count[psi]
                )
                versions[t] += changed
            else:
                some = np.arange(sizes[t])
                held = taken(tables[t], some)
                closed[i], began[i], now = ranged_apart(
                    held, _points(marks, begin[phi], width, count[phi]),
                    _points(marks, begin[psi], program[psi, WIDTH], count[psi]),
                    _of(places, i, program),
                )  # fmt: skip
                if not alike(held, now):
                    replace(tables, sizes, versions, t, some, now)


@kernel(
    types.void(_BLOCK, _PLACES, _OUT, _BLOCKS, _OUT, _OUT, _MARKS, _BLOCKS, _BLOCKS, types.int64),
)
def _states(
    program: np.ndarray, places: np.ndarray, columns: np.ndarray, tables: List, sizes: np.ndarray, versions: np.ndarray,
    touched: np.ndarray, closed: List, began: List, since: int,
) -> None:  # fmt: skip
    """Instants and states that are made of others."""
    for i in range(len(program)):
        op, left, right, t = program[i, OP], program[i, LEFT], program[i, RIGHT], program[i, TABLE]
        if program[i, PHASE] != 1:
            continue
        if op == STARTS:
            closed[i] = _instants(began[left], 0)
        elif op == ENDS:
            closed[i] = _instants(closed[left], 1)
        elif closed[left].shape[1] or began[left].shape[1] or closed[right].shape[1] or began[right].shape[1]:
            some = drawn(tables[t], sizes[t], columns[t], touched)
            held = taken(tables[t], some)
            if op == RANGE:
                phi, psi = _in_order(closed[left]), _in_order(closed[right])
                closed[i], began[i], now = ranged_apart(held, phi, psi, _of(places, i, program))
            else:
                closed[i], began[i], now = common(
                    closed[left], _open(program, left, tables, sizes, columns, touched),
                    closed[right], _open(program, right, tables, sizes, columns, touched), held,
                    _of(places, i, program), since,
                )  # fmt: skip
            if not alike(held, now):
                replace(tables, sizes, versions, t, some, now)


@kernel(
    types.Tuple((_MARKS, types.boolean))(_BLOCK, types.int64, _BLOCKS, _OUT, _OUT, _MARKS, _BLOCKS),
)
def _wanted(
    program: np.ndarray, node: int, tables: List, sizes: np.ndarray, columns: np.ndarray, touched: np.ndarray,
    closed: List,
) -> tuple[np.ndarray, bool]:  # fmt: skip
    """The keys, of those in question, of which a relation may have results: of new rows, and of such on the right side
    as are not decided; and whether there are any."""
    out = np.zeros(len(touched), np.bool_)
    some = False
    for side in (LEFT, RIGHT):
        block, key = closed[program[node, side]], program[program[node, side], KEY]
        some = some or block.shape[1] > 0
        if key >= 0:
            for i in range(block.shape[1]):
                out[block[key, i]] = True
    if program[node, OP] == BEFORE:
        t = program[node, TABLE] + 1
        for i in range(sizes[t]):
            if columns[t] < 0:
                some = True
                break
            key = tables[t][columns[t], i]
            if key < len(out) and touched[key]:
                some = out[key] = True
    return out, some


@kernel(_BLOCKS(_BLOCK))
def _nothing(program: np.ndarray) -> List:
    """No rows of any node; those of nodes with as many variables are one and the same block."""
    made = List.empty_list(_BLOCK)
    for i in range(len(program)):
        while len(made) <= program[i, WIDTH]:
            made.append(np.empty((len(made) + 2, 0), np.int64))
    out = List.empty_list(_BLOCK, len(program))
    for i in range(len(program)):
        out.append(made[program[i, WIDTH]])
    return out


@kernel(inline="always")
def _relations(
    program: np.ndarray, places: np.ndarray, columns: np.ndarray, tables: List, sizes: np.ndarray, versions: np.ndarray,
    touched: np.ndarray, closed: List, lags: List, frontier: int,
) -> None:  # fmt: skip
    """All relations; what lags behind each is put into ``lags``.

    Those that others are made of go over all keys in question, as what lags behind them can change for each; the
    others over those of which they may have results, as it does not matter when they forget what they keep.
    """
    no_cuts = np.zeros(1, np.int64)
    cuts = List.empty_list(_OUT, len(program))
    for _ in range(len(program)):
        cuts.append(no_cuts)
    for i in range(len(program)):
        left, right, read, asked = program[i, LEFT], program[i, RIGHT], program[i, READ] >> 2 & 1, touched
        some = program[i, PHASE] == 2
        if some and not read:
            asked, some = _wanted(program, i, tables, sizes, columns, touched, closed)
        if not some:
            continue
        closed[i], lags[i], cuts[i] = _related(
            program[i], _of(places, i, program), tables, sizes, versions, columns, asked,
            closed[left], _open(program, left, tables, sizes, columns, asked),
            closed[right], _open(program, right, tables, sizes, columns, asked),
            lags[left], cuts[left], lags[right], cuts[right], frontier, read,
        )  # fmt: skip


@kernel(types.Tuple((_OUT, _OUT))(_BLOCKS, _OUT))
def _blocks(closed: List, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of nodes one behind the other, and the rows of each."""
    size = 0
    rows = np.empty(len(outputs), np.int64)
    for k in range(len(outputs)):
        rows[k] = closed[outputs[k]].shape[1]
        size += closed[outputs[k]].size
    out = np.empty(size, np.int64)
    at = 0
    for k in range(len(outputs)):
        block = closed[outputs[k]]
        for row in range(block.shape[0]):
            for p in range(block.shape[1]):
                out[at] = block[row, p]
                at += 1
    return out, rows


@kernel(_OUT(_BLOCK))
def _widths(program: np.ndarray) -> np.ndarray:
    """How many variables the instants of rows have."""
    out = np.empty(len(program), np.int64)
    n = 0
    for i in range(len(program)):
        if program[i, OP] == POINTS:
            out[n] = program[i, WIDTH]
            n += 1
    return out[:n]


@kernel(
    types.Tuple((_OUT, _SHORT, _STORE, _OUT))(
        _BLOCK, _PLACES, _OUT, _BLOCKS, *[_OUT] * 5, types.int64, types.int64, _BLOCK, _OUT, types.boolean,
        *[_OUT] * 5, _STORE, _OUT,
    ),
)  # fmt: skip
def advance(
    program: np.ndarray, places: np.ndarray, columns: np.ndarray, tables: List, sizes: np.ndarray, versions: np.ndarray,
    spans: np.ndarray, sources: np.ndarray, outputs: np.ndarray, since: int, frontier: int,
    heads: np.ndarray, lasting: np.ndarray, whole: bool, keys: np.ndarray, codes: np.ndarray, numbers: np.ndarray,
    slots: np.ndarray, ends: np.ndarray, store: np.ndarray, used: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """One call that is not the last one.

    ``places``: per node, as relations have them.  ``columns``: of the key, per table.  ``spans``, ``sources``: rows,
    columns and times of every node of instants of rows, as :func:`read_all` has them, with the dictionaries of numbers
    and texts.
    Tables, their ``sizes`` and their ``versions``, which tell whether they have changed, are changed in place.

    Returns what has ended (or is true) of the nodes ``outputs``: if ``whole`` as :func:`reported` does, with texts as
    Arrow has them, else block after block; and the rows of each.  If values are not in their dictionaries:
    these, as :func:`read_all` says them, there are no rows of anything then.
    """
    no_offsets, no_bytes = np.empty(0, np.int32), np.empty(0, np.uint8)
    marks, counts, unknown = read_all(_widths(program), spans, sources, keys, codes, numbers, slots, ends, store, used)
    if len(unknown):
        return unknown, no_offsets, no_bytes, np.empty(0, np.int64)
    closed, began, lags = _nothing(program), _nothing(program), _nothing(program)
    _rows(program, places, tables, sizes, versions, marks, counts, closed, began)
    touched, count = _touched(program, 1, closed, began)
    if count:
        _states(program, places, columns, tables, sizes, versions, touched, closed, began, since)
    touched, count = _touched(program, 2, closed, began)
    if count:
        _relations(program, places, columns, tables, sizes, versions, touched, closed, lags, frontier)
    if whole:
        out, texts, rows = reported(closed, outputs, heads, lasting, numbers, ends, store)
        offsets, data = written(ends, store, texts)
        return out, offsets, data, rows
    out, rows = _blocks(closed, outputs)
    return out, no_offsets, no_bytes, rows
