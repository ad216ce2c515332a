"""A pattern of rows as a program of the search (match-recognize.md, section 12), and what its failures depend on.

Every place of a program knows whether a round of a repetition has mapped a row, as the two ways behind a part, for when
it has mapped none and for when it has mapped some, are compiled apart where they differ.  So a search has no state but
its place in the program, its row, and what conditions read of the rows that are mapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial

import numpy as np

from occurs.operators.kernels import row_tables as T
from occurs.operators.rowpattern import tree

#: variables of a pattern when its repetitions and orders are written out
MOST_STATES = 10_000


class TooLarge(Exception):
    """A pattern has more than MOST_STATES states."""


@dataclass(frozen=True)
class Program:
    """``code``: int64 (n, T.CODE_FIELDS), the search begins at 0.  ``variables``: names of the numbers in it."""

    code: np.ndarray
    variables: tuple[str, ...]

    @cached_property
    def reads_begin(self) -> bool:
        """Does it ask where the partition begins?"""
        return bool((self.code[:, T.OP] == T.BEGIN).any())


def program_of(pattern: tree.Pattern, variables: Sequence[str]) -> Program:
    """The program of a pattern; raises TooLarge."""
    made = _Compiler(variables)
    match = made.put(T.MATCH)
    start = made.part(pattern, match, match, False)
    return Program(_reachable(np.array(made.code, np.int64), start), tuple(variables))


class _Compiler:
    def __init__(self, variables: Sequence[str]) -> None:
        self.number = {name: k for k, name in enumerate(variables)}
        self.code: list[list[int]] = []
        self._made: dict[tuple[int, int, int, bool, bool], int] = {}
        self._apart = False

    def put(self, op: int, *fields: int) -> int:
        if len(self.code) > 8 * MOST_STATES:
            raise TooLarge
        self.code.append([op, *fields, *([0] * (T.CODE_FIELDS - 1 - len(fields)))])
        return len(self.code) - 1

    def part(self, node: tree.Pattern, none: int, some: int, out: bool) -> int:
        """Where ``node`` begins if the search goes on at ``none`` when it has mapped no row, at ``some`` when it has.

        ``out``: its rows are left out of the output."""
        if not nullable(node):
            none = some
        key = (id(node), none, some, out, self._apart)
        if key not in self._made:
            self._made[key] = self._part(node, none, some, out)
        return self._made[key]

    def _part(self, node: tree.Pattern, none: int, some: int, out: bool) -> int:
        match node:
            case tree.Variable():
                return self.put(T.ROW, self.number[node.name], some, int(out))
            case tree.Anchor():
                return self.put(T.END if node.end else T.BEGIN, none)
            case tree.Exclusion():
                return self.part(node.part, none, some, True)
            case tree.Alternation():
                ways = [self.part(p, none, some, out) for p in node.parts]
                return self._choice(ways)
            case tree.Repeat():
                return self._repeat(node, none, some, out)
            case tree.Permute():
                return self._permute(node, none, some, out)
            case tree.Sequence():
                for part in reversed(node.parts):
                    none, some = self.part(part, none, some, out), self.part(part, some, some, out)
                return none
        raise AssertionError(f"not a pattern: {node}")

    def _choice(self, ways: Sequence[int]) -> int:
        *before, last = ways
        for way in reversed(before):
            last = self.put(T.SPLIT, way, last)
        return last

    def _round(self, node: tree.Repeat, at: int, way: int, on: int) -> int:
        """Another round, ``way``, or going ``on``, put in place ``at``."""
        self.code[at][T.ONE : T.THREE] = [way, on] if node.greedy else [on, way]
        return at

    def _repeat(self, node: tree.Repeat, none: int, some: int, out: bool) -> int:
        part = node.part
        if node.high is None:
            again = self.put(T.SPLIT)
            self._round(node, again, self.part(part, some, again, out), some)
            first = again
            if none != some:
                first = self.put(T.SPLIT)
                self._round(node, first, self.part(part, none, again, out), none)
            none, some = first, again
        else:
            left = some
            for _ in range(node.high - node.low):
                if none != some:
                    first = self._round(node, self.put(T.SPLIT), self.part(part, none, left, out), none)
                left = self._round(node, self.put(T.SPLIT), self.part(part, some, left, out), some)
            if node.high > node.low:
                none, some = (first if none != some else left), left
        for k in range(node.low):
            # the round before a loop is no part of the loop, so that it is known what is mapped there; parts of parts
            # would become too many
            mine = k == 0 and node.high is None and not self._apart
            self._apart |= mine
            none, some = self.part(part, none, some, out), self.part(part, some, some, out)
            self._apart &= not mine
        return none

    def _permute(self, node: tree.Permute, none: int, some: int, out: bool) -> int:
        parts = node.parts
        if any(not _one_way(p) for p in parts):
            # an order is tried with all ways of its parts before the next one is
            if factorial(len(parts)) > MOST_STATES:
                raise TooLarge
            orders = [tree.Sequence(order) for order in permutations(parts)]
            self._kept = [*getattr(self, "_kept", []), orders]  # their identities are keys
            return self._choice([self.part(order, none, some, out) for order in orders])
        made: dict[tuple[int, bool], int] = {}

        def left(done: int, mapped: bool) -> int:
            """Where the parts begin that are not in the set ``done``."""
            if done == (1 << len(parts)) - 1:
                return some if mapped else none
            if (done, mapped) not in made:
                ways = []
                for k, p in enumerate(parts):
                    if not done >> k & 1:
                        more = done | 1 << k
                        ways.append(self.part(p, left(more, mapped), left(more, True), out))
                made[done, mapped] = self._choice(ways)
            return made[done, mapped]

        return left(0, none == some)


def nullable(node: tree.Pattern) -> bool:
    """Can it map no row?"""
    return least(node) == 0


def least(node: tree.Pattern) -> int:
    """How many rows it maps at least."""
    match node:
        case tree.Variable():
            return 1
        case tree.Anchor():
            return 0
        case tree.Alternation():
            return min(map(least, node.parts))
        case tree.Repeat():
            return node.low * least(node.part)
    return sum(map(least, node.children))


def longest(node: tree.Pattern) -> int | None:
    """How many rows it maps at most; None: there is no bound."""
    match node:
        case tree.Variable():
            return 1
        case tree.Repeat():
            inner = longest(node.part)
            if inner == 0:
                return 0
            return None if inner is None or node.high is None else node.high * inner
    inner_sizes = [longest(c) for c in node.children]
    sizes = [n for n in inner_sizes if n is not None]
    if len(sizes) < len(inner_sizes):
        return None
    return max(sizes, default=0) if isinstance(node, tree.Alternation) else sum(sizes)


def _one_way(node: tree.Pattern) -> bool:
    """Is there only one way to go through it?"""
    for n in node.walk():
        if isinstance(n, tree.Alternation | tree.Permute) or (isinstance(n, tree.Repeat) and n.low != n.high):
            return False
    return True


def _reachable(code: np.ndarray, start: int) -> np.ndarray:
    """The operations that a search can come to, the first one first."""
    number = {start: 0}
    order = [start]
    for at in order:
        for to in _next(code[at]):
            if to not in number:
                number[to] = len(order)
                order.append(to)
    out = code[order]
    if np.count_nonzero(out[:, T.OP] == T.ROW) > MOST_STATES:
        raise TooLarge
    for row in out:
        for k in _targets(row):
            row[k] = number[int(row[k])]
    return out


def _targets(row: np.ndarray) -> tuple[int, ...]:
    """The fields in which places of the program stand."""
    op = int(row[T.OP])
    return {T.ROW: (T.TWO,), T.SPLIT: (T.ONE, T.TWO), T.BEGIN: (T.ONE,), T.END: (T.ONE,), T.MATCH: ()}[op]


def _next(row: np.ndarray) -> list[int]:
    return [int(row[k]) for k in _targets(row)]


def program_loops(code: np.ndarray) -> np.ndarray:
    """Booleans: the places that a search may come back to, those that lead to themselves."""
    nexts = [_next(row) for row in code]
    index, low = np.full(len(code), -1), np.zeros(len(code), np.int64)
    out = np.zeros(len(code), np.bool_)
    stack: list[int] = []
    waiting = np.zeros(len(code), np.bool_)
    count = 0
    # Tarjan's algorithm, without recursion
    for root in range(len(code)):
        if index[root] >= 0:
            continue
        calls = [(root, 0)]
        while calls:
            at, k = calls.pop()
            if k == 0:
                index[at] = low[at] = count
                count += 1
                stack.append(at)
                waiting[at] = True
            if k:
                low[at] = min(low[at], low[nexts[at][k - 1]])
            for j in range(k, len(nexts[at])):
                to = nexts[at][j]
                if index[to] < 0:
                    calls += [(at, j + 1), (to, 0)]
                    break
                if waiting[to]:
                    low[at] = min(low[at], index[to])
            else:
                if low[at] == index[at]:
                    members = [stack.pop()]
                    while members[-1] != at:
                        members.append(stack.pop())
                    waiting[members] = False
                    out[members] = len(members) > 1 or at in nexts[at]
    return out


# -- what is known of the mapping at each place ------------------------------------------------------------------------

#: a row: how many rows behind the first one of the match, and how many before the row at hand; None: not the same on
#: all ways
Point = tuple[int | None, int | None]
#: no row; not the same on all ways
_NONE, _ANY = "none", "any"
_Known = Point | str


@dataclass(frozen=True)
class _Slot:
    """What is known of the rows that are mapped to a set of variables: the last one, the first one, and whether they
    are all rows from one to before another."""

    last: _Known = _NONE
    first: _Known = _NONE
    begin: _Known = _NONE
    stop: _Known = _NONE


@dataclass(frozen=True)
class _Place:
    depth: int | None
    slots: tuple[_Slot, ...]


@dataclass(frozen=True)
class Read:
    """What a condition reads of a slot: ``last``, ``first`` (a row), ``rows`` (all of them).  ``settled`` tells whether
    it is the same on all ways to a place."""

    kind: str
    slot: int
    offset: int = 0


def _join(a: _Known, b: _Known) -> _Known:
    if a == b:
        return a
    if isinstance(a, str) or isinstance(b, str):
        return _ANY
    found = tuple(x if x == y else None for x, y in zip(a, b, strict=True))
    return _ANY if found == (None, None) else (found[0], found[1])


def _moved(a: _Known, depth: int | None) -> _Known:
    """A row as it is seen from the next row; ``depth``: of that row."""
    if isinstance(a, str):
        return a
    from_start, back = a
    back = None if back is None else back + 1
    if depth is not None:
        if from_start is None and back is not None:
            from_start = depth - back
        elif back is None and from_start is not None:
            back = depth - from_start
    return from_start, back


def places(program: Program, slots: Sequence[frozenset[int]]) -> list[_Place | None]:
    """What is known at each place of a program; ``slots``: sets of variables (numbers)."""
    found: list[_Place | None] = [None] * len(program.code)
    found[0] = _Place(0, tuple(_Slot() for _ in slots))
    waiting = [0]
    while waiting:
        at = waiting.pop()
        here, row = found[at], program.code[at]
        assert here is not None
        after = _mapped(here, int(row[T.ONE]), slots) if row[T.OP] == T.ROW else here
        for to in _next(row):
            before = found[to]
            joined = after if before is None else _joined(before, after)
            if joined != before:
                found[to] = joined
                waiting.append(to)
    return found


def _joined(a: _Place, b: _Place) -> _Place:
    slots = tuple(
        _Slot(_join(x.last, y.last), _join(x.first, y.first), _join(x.begin, y.begin), _join(x.stop, y.stop))
        for x, y in zip(a.slots, b.slots, strict=True)
    )
    return _Place(a.depth if a.depth == b.depth else None, slots)


def _mapped(here: _Place, variable: int, slots: Sequence[frozenset[int]]) -> _Place:
    """What is known behind a row that is mapped to a variable."""
    depth = here.depth
    after = None if depth is None else depth + 1
    row: Point = (depth, 0)
    out = []
    for slot, members in zip(here.slots, slots, strict=True):
        last, first, begin, stop = slot.last, slot.first, slot.begin, slot.stop
        if variable in members:
            last = row
            first = row if first == _NONE else first
            if begin == _NONE:
                begin = row
            elif isinstance(stop, str) or not (stop[1] == 0 or (depth is not None and stop[0] == depth)):
                begin = _ANY
            stop = _ANY if begin == _ANY else (after, -1)
        out.append(_Slot(*(_moved(x, after) for x in (last, first, begin, stop))))
    return _Place(after, tuple(out))


def settled(place: _Place, read: Read, members: frozenset[int] | None) -> bool:
    """Is what is read the same on all ways from the first row of an attempt to a place and row?  ``members``: None for
    the slot of all rows."""
    if members is None:
        return True
    slot = place.slots[read.slot]
    if read.kind == "rows" or read.offset:
        return slot.begin == _NONE or (slot.begin != _ANY and slot.stop != _ANY)
    return (slot.first if read.kind == "first" else slot.last) != _ANY


def memories(
    program: Program, slots: Sequence[frozenset[int]], reads: Mapping[int, Sequence[Read]], universal: frozenset[int],
    per_attempt: bool, labels: bool,
) -> np.ndarray:  # fmt: skip
    """Per place of a program which failures are remembered there (T.NEVER, T.ATTEMPT, T.ALWAYS; splits only).

    ``reads``: by variable what its condition reads of the mapping.  ``universal``: the slots of all rows.
    ``per_attempt``: whether any row can be mapped depends on the first row.  ``labels``: conditions read variables of
    rows.
    """
    out = np.zeros(len(program.code), np.int64)
    splits = np.flatnonzero(program.code[:, T.OP] == T.SPLIT)
    if labels:
        return out
    if not reads:
        out[splits] = T.ATTEMPT if per_attempt else T.ALWAYS
        return out
    known, live = places(program, slots), _live(program, slots, reads)
    for at in splits.tolist():
        place = known[at]
        assert place is not None
        if all(settled(place, r, None if r.slot in universal else slots[r.slot]) for r in live[at]):
            out[at] = T.ATTEMPT if live[at] or per_attempt else T.ALWAYS
    return out


def _live(
    program: Program, slots: Sequence[frozenset[int]], reads: Mapping[int, Sequence[Read]]
) -> list[frozenset[Read]]:
    """Per place what conditions behind it read of rows that are mapped before it."""
    live: list[frozenset[Read]] = [frozenset()] * len(program.code)
    before: list[list[int]] = [[] for _ in program.code]
    for at, row in enumerate(program.code):
        for to in _next(row):
            before[to].append(at)
    waiting = list(range(len(program.code)))
    while waiting:
        at = waiting.pop()
        row = program.code[at]
        found = frozenset[Read]().union(*(live[to] for to in _next(row)))
        if row[T.OP] == T.ROW:
            variable = int(row[T.ONE])
            # the last row of a slot is another one behind a row that is mapped to it
            found = frozenset(
                r for r in found if not (r.kind == "last" and r.offset == 0 and variable in slots[r.slot])
            ) | frozenset(reads.get(variable, ()))
        if found != live[at]:
            live[at] = found
            waiting += before[at]
    return live
