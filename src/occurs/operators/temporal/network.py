"""Networks of temporal operators of the past, and how they are built (temporal-logic.md 5.4).

A network says at every state of an instance whether a trigger is hit.  What its nodes are is in
:mod:`occurs.operators.kernels.temporal`; equal nodes are one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import CheckpointProblem, InputProblem
from occurs.expr.dialect import LOGIC
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, _Leaf
from occurs.model.time import TimeKind
from occurs.operators.kernels import obligations as ahead
from occurs.operators.kernels import temporal as k
from occurs.operators.kernels.temporal import AT_LEAST, AT_MOST, EQUAL, FLOATS, LESS, MORE, UNEQUAL
from occurs.operators.layers import Layers, positions
from occurs.operators.temporal.times import FOREVER, Ages

OPERATORS = {"=": EQUAL, "!=": UNEQUAL, "<": LESS, "<=": AT_MOST, ">": MORE, ">=": AT_LEAST}
#: the aggregates that the kernel knows
AGGREGATES = {"sum": 0, "avg": 1, "count": 2, "min": 3, "max": 4}


@dataclass(frozen=True)
class Before(_Leaf):
    """A leaf as it was at the state before; null at the first state of an instance."""

    leaf: Expr


@dataclass(frozen=True)
class Compared:
    """``left op right`` of columns of numbers: ``left`` of now (None: an aggregate), ``right`` of then or now.

    ``whole``: whether the aggregate is an int for sure (None: it is of the type of its values, the column ``values``).
    """

    left: Expr | None
    op: str
    right: Expr
    whole: bool | None = None
    values: Expr | None = None


@dataclass(frozen=True)
class Residual:
    """A formula that looks ahead: ``rows``, ``told``, ``slots``, ``free``, ``direction`` as the kernel has them."""

    rows: np.ndarray
    told: np.ndarray
    slots: np.ndarray
    free: np.ndarray
    direction: np.ndarray

    @property
    def width(self) -> int:
        """Numbers of a gate."""
        return ahead.VALUES + len(self.slots)


@dataclass(frozen=True)
class Network:
    """A network.

    ``program``, ``pairs``, ``root``: as the kernel has them.  ``atoms``: conditions, one column each.
    ``numbers``: columns of int64 keys: (number of a comparison, side 0 or 1), or (-1, i) for the values ``plain[i]``.
    ``queues``, ``width``: how many queues of so many numbers.  ``doubt``: as the kernel has it.  ``residual``: the
    formula, if it is evaluated by its obligations; then there is one more queue, and no ``root``.
    """

    program: np.ndarray
    pairs: np.ndarray
    root: int
    atoms: tuple[Expr, ...]
    compared: tuple[Compared, ...]
    plain: tuple[Expr, ...]
    numbers: tuple[tuple[int, int], ...]
    queues: int
    width: int
    doubt: int = -1
    residual: Residual | None = None

    @property
    def stored(self) -> int:
        """The queues of an instance."""
        return self.queues + (self.residual is not None)

    @cached_property
    def before(self) -> tuple[Expr, ...]:
        """What is asked for as it was at the state before."""
        terms = [*self.atoms, *self.plain]
        for c in self.compared:
            terms += [c.right] if c.left is None else [c.left, c.right]
        found: dict[Expr, None] = {}
        waiting = [n for term in terms for n in term.walk() if isinstance(n, Before)]
        for node in waiting:
            found[node.leaf] = None
            if isinstance(node.leaf, Before):
                waiting.append(node.leaf)
        return tuple(found)

    def doubted(self) -> Network:
        """The same with two nodes for each: 2k is true where node k is for sure, 2k + 1 where it may be.

        The atoms that may hold follow those that hold for sure.
        """
        rows = []
        for row in self.program.tolist():
            for upper in (0, 1):
                new = list(row)
                op = row[k.OP]
                if op == k.ATOM:
                    new[k.A] += upper * len(self.atoms)
                elif op in (k.NOT, k.UNBROKEN):
                    new[k.A] = 2 * row[k.A] + 1 - upper
                elif op not in (k.CONSTANT, k.FIRST, k.AGGREGATE) and row[k.A] >= 0:
                    new[k.A] = 2 * row[k.A] + upper
                if op >= k.AND and row[k.B] >= 0:
                    new[k.B] = 2 * row[k.B] + upper
                if row[k.CLOCK] < -1:
                    new[k.CLOCK] = -2 - (2 * (-2 - row[k.CLOCK]) + upper)
                new[k.QUEUE] = 2 * row[k.QUEUE] + upper * _QUEUES.get(op, 0)
                rows.append(new)
        program = np.array(rows, np.int64).reshape(-1, k.WIDTH)
        return replace(
            self,
            program=program,
            root=2 * self.root,
            queues=2 * self.queues,
            doubt=2 * self.root + 1 if self.residual is None else 0,
        )

    def queue_sources(self) -> np.ndarray:
        """For every queue of :meth:`doubted` the queue that it is made of."""
        found = np.zeros(self.queues + self.stored, np.int64)
        found[2 * self.queues :] = self.queues
        for row in self.program:
            n, first = _QUEUES.get(int(row[k.OP]), 0), int(row[k.QUEUE])
            for i in range(n):
                found[2 * first + i] = found[2 * first + n + i] = first + i
        return found


#: how many queues nodes have
_QUEUES = {k.WITHIN: 1, k.UNBROKEN: 1, k.NUMBER: 2, k.SCAN: 1, k.AGGREGATE: 2}


@dataclass
class Builder:
    """Builds a network, node by node; a node is its number."""

    rows: list[list[int]] = field(default_factory=list)
    made: dict[tuple[int, ...], int] = field(default_factory=dict)
    atoms: dict[Expr, int] = field(default_factory=dict)
    compared: dict[Compared, int] = field(default_factory=dict)
    plain: dict[Expr, int] = field(default_factory=dict)
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    pairs: list[tuple[int, int, int]] = field(default_factory=list)
    queues: int = 0
    width: int = 1

    def node(self, op: int, a: int = 0, b: int = 0, **columns: int) -> int:
        """A node with its operands and other columns of a program (lower case)."""
        row = [op, a, b, *([0] * (k.WIDTH - 4)), -1]
        for name, value in columns.items():
            row[getattr(k, name.upper())] = value
        found = self.made.get(tuple(row))
        if found is None:
            found = self.made[tuple(row)] = len(self.rows)
            row[k.QUEUE] = self.queues
            self.queues += _QUEUES.get(op, 0)
            self.rows.append(row)
        return found

    # --- truth ----------------------------------------------------------------------------------------------------

    def constant(self, value: bool) -> int:
        return self.node(k.CONSTANT, int(value))

    def known(self, node: int) -> bool | None:
        """The value of a constant."""
        return bool(self.rows[node][k.A]) if self.rows[node][k.OP] == k.CONSTANT else None

    def atom(self, condition: Expr) -> int:
        return self.node(k.ATOM, self.atoms.setdefault(condition, len(self.atoms)))

    def first(self) -> int:
        return self.node(k.FIRST)

    def inverted(self, node: int) -> int:
        known = self.known(node)
        if known is not None:
            return self.constant(not known)
        return self.rows[node][k.A] if self.rows[node][k.OP] == k.NOT else self.node(k.NOT, node)

    def both(self, nodes: Sequence[int]) -> int:
        return self._chain(k.AND, nodes, True)

    def either(self, nodes: Sequence[int]) -> int:
        return self._chain(k.OR, nodes, False)

    def _chain(self, op: int, nodes: Sequence[int], neutral: bool) -> int:
        found: int | None = None
        for node in dict.fromkeys(nodes):
            known = self.known(node)
            if known is (not neutral):
                return node
            if known is None:
                found = node if found is None else self.node(op, found, node)
        return self.constant(neutral) if found is None else found

    # --- operators ------------------------------------------------------------------------------------------------

    def last(self, node: int) -> int:
        """What was at the state before; not at the first."""
        if self.known(node) is not None:
            return self.inverted(self.first()) if self.known(node) else node
        return self.node(k.LAST, node)

    def since(self, holds: int, begins: int, ages: Ages, *, after: bool = False, clock: int = -1) -> int:
        """``holds since begins``, at an age in ``ages``; with ``after`` from where it begins up to the state before."""
        if self.known(begins) is False or ages.low > ages.high:
            return self.constant(False)
        always = self.known(holds) is True and ages == Ages()
        if always and self.rows[begins][k.OP] == k.FIRST:
            return self.constant(True)
        more = {"after": int(after), "clock": clock}
        if ages.low <= 0 and ages.high == FOREVER:
            return self.node(k.HELD, holds, begins, **more)
        if ages.low <= 0:
            return self.node(k.LATEST, holds, begins, high=ages.high, **more)
        if ages.high == FOREVER:
            return self.node(k.EARLIEST, holds, begins, low=ages.low, **more)
        return self.node(k.WITHIN, holds, begins, low=ages.low, high=ages.high, **more)

    def latest(self, holds: int, begins: int, ages: Ages, clock: int = -1) -> int:
        """As :meth:`since` with ``after``; it knows when the last was that began, for those whose ``clock`` it is: -2
        minus its number."""
        return self.node(k.LATEST, holds, begins, high=ages.high, after=1, clock=clock)

    def unbroken(self, breaks: int, begins: int, ages: Ages, clock: int = -1) -> int:
        """Some state where it begins, and nothing has broken it since, as long as its age is in ``ages``."""
        if ages == Ages() and clock < 0:
            holds = self.inverted(breaks)
            return self.since(holds, self.both([begins, holds]), ages)
        columns = {"low": ages.low, "high": ages.high, "close": ages.close, "clock": clock}
        return self.node(k.UNBROKEN, breaks, begins, **columns)

    def remembered(
        self, holds: int, begins: int, ages: Ages, compared: Sequence[Compared], *, after: bool, clock: int = -1
    ) -> int:
        """As :meth:`since`, and what is now compares with what was then."""
        if self.known(begins) is False or ages.low > ages.high:
            return self.constant(False)
        more = {"low": ages.low, "high": ages.high, "after": int(after), "clock": clock}
        if len(compared) == 1:
            left, right = self.columns(compared[0])
            op = OPERATORS[compared[0].op]
            return self.node(k.NUMBER, holds, begins, compare=op, left=left, right=right, **more)
        found = tuple((*self.columns(c), OPERATORS[c.op]) for c in compared)
        self.width = max(self.width, len(found))
        at = next((i for i in range(len(self.pairs)) if tuple(self.pairs[i : i + len(found)]) == found), None)
        if at is None:
            at = len(self.pairs)
            self.pairs += found
        return self.node(k.SCAN, holds, begins, left=at, right=len(found), **more)

    def between(self, compared: Compared, aggregate: int = -1) -> int:
        """A comparison of now, perhaps of an aggregate."""
        left, right = self.columns(compared)
        return self.node(k.BETWEEN, aggregate, compare=OPERATORS[compared.op], left=left, right=right)

    def aggregate(self, op: str, values: Expr, floats: bool, begins: int, age: int) -> int:
        """An aggregate since a node was last true, or (-1) of states up to an ``age``."""
        at = self.plain.setdefault(values, len(self.plain))
        number = self.numbers.setdefault((-1, at), len(self.numbers))
        kind = AGGREGATES[op] + (FLOATS if floats else 0)
        return self.node(k.AGGREGATE, kind, begins, high=age, left=number)

    def columns(self, compared: Compared) -> tuple[int, int]:
        """The numbers of the columns of keys of a comparison."""
        at = self.compared.setdefault(compared, len(self.compared))
        left = -1 if compared.left is None else self.numbers.setdefault((at, 0), len(self.numbers))
        return left, self.numbers.setdefault((at, 1), len(self.numbers))

    def network(self, root: int, residual: Residual | None = None) -> Network:
        """What has been built; ``root`` -1: there is a ``residual``."""
        return Network(
            np.array(self.rows, np.int64).reshape(-1, k.WIDTH),
            np.array(self.pairs, np.int64).reshape(-1, 3),
            root,
            tuple(self.atoms),
            tuple(self.compared),
            tuple(self.plain),
            tuple(self.numbers),
            self.queues,
            self.width,
            residual=residual,
        )


# --- a network over the new states of all instances of a call, and what it keeps of each (temporal-logic.md 5.2) ------

#: the Arrow column (n) of a leaf
Leaves = Callable[[Expr], pa.Array]


@dataclass(eq=False, slots=True)
class States:
    """New states of some instances: those of instance ``code[s]`` are [start[s], start[s + 1]), ascending in ``time``.

    ``code`` ascends.  ``leaves`` gives the columns of leaves.
    """

    code: np.ndarray
    start: np.ndarray
    time: np.ndarray
    leaves: Leaves


@dataclass(eq=False, slots=True)
class Memory:
    """What is kept of the instances ``code`` (m, ascending).

    ``slots`` (m, nodes, SLOTS), ``about`` (m, 3), ``queue_start`` (m * queues + 1), ``queue_time``, ``queue_value``: as
    the kernel has them.  ``last``: per leaf that is asked for as it was before, its values at their last states.
    ``doubted``: is it that of :meth:`Network.doubted`, as an integer has overflowed?
    """

    code: np.ndarray
    slots: np.ndarray
    about: np.ndarray
    queue_start: np.ndarray
    queue_time: np.ndarray
    queue_value: np.ndarray
    last: Mapping[Expr, pa.Array]
    doubted: bool = False

    @classmethod
    def empty(cls, network: Network) -> Memory:
        none = np.zeros(0, np.int64)
        return cls(
            none,
            np.zeros((0, len(network.program), k.SLOTS), np.int64),
            np.zeros((0, 3), np.int64),
            np.zeros(1, np.int64),
            none,
            np.zeros((network.width, 0), np.int64),
            {},
        )

    @property
    def size(self) -> int:
        """How many states and instances are kept."""
        return len(self.queue_time) + len(self.code)

    def take(self, which: np.ndarray) -> Memory:
        """The instances at these places, which ascend."""
        if len(which) == len(self.code):
            return self
        queues = (len(self.queue_start) - 1) // max(1, len(self.code))
        if _together(which):
            lo, hi = int(which[0]), int(which[-1]) + 1
            begin = self.queue_start[lo * queues : hi * queues + 1]
            queue = slice(begin[0], begin[-1])
            return Memory(
                self.code[lo:hi], self.slots[lo:hi], self.about[lo:hi], begin - begin[0], self.queue_time[queue],
                self.queue_value[:, queue], {leaf: v[lo:hi] for leaf, v in self.last.items()}, self.doubted,
            )  # fmt: skip
        begin, rows = _ranges(self.queue_start, which, queues)
        last = {leaf: values.take(pa.array(which)) for leaf, values in self.last.items()}
        return Memory(
            self.code[which], self.slots[which], self.about[which], begin, self.queue_time[rows],
            self.queue_value[:, rows], last, self.doubted,
        )  # fmt: skip

    def over(self, below: Memory) -> Memory:
        """With the instances ``below`` that it has not."""
        if not len(below.code) or not len(self.code):
            return self if len(self.code) else below
        arrays: list[np.ndarray] = []
        for m in (below, self):
            arrays += m.code, m.slots.reshape(len(m.code), -1), m.about, m.queue_start, m.queue_time, m.queue_value
        code, slots, about, start, time, value, which = k.merge_instances(*map(np.ascontiguousarray, arrays))
        last = {}
        for leaf, values in self.last.items():
            last[leaf] = pa.concat_arrays([below.last[leaf].cast(values.type), values]).take(pa.array(which))
        slots = slots.reshape(len(code), *self.slots.shape[1:])
        return Memory(code, slots, about, start, time, value, last, self.doubted)


@dataclass(eq=False, slots=True)
class NewStates:
    """Per new state: did it fire, the time at which the activation began, can the instance fire no more from now on?"""

    fired: np.ndarray
    since: np.ndarray
    over: np.ndarray


def advance(
    network: Network, layers: Layers[Memory], states: States, *, kind: TimeKind, gap: int = 0, continues: bool = False
) -> tuple[Layers[Memory], NewStates]:
    """Take new states.  Raises InputProblem (``overflow``)."""
    memory = layers.some(states.code)
    rows = _Leaves(memory, states)
    n = len(states.time)
    atoms = np.zeros((2, len(network.atoms), n), np.bool_)
    doubt = memory.doubted
    for i, condition in enumerate(network.atoms):
        atoms[0, i], undecided = select(condition, rows.column, n, kind=kind, dialect=LOGIC)
        if undecided is not None:
            atoms[1, i, undecided] = doubt = True
    numbers = np.zeros((len(network.numbers), n), np.int64)
    known = np.zeros((len(network.numbers), n), np.bool_)
    lost = np.zeros((len(network.numbers), n), np.bool_)
    for at, (i, side) in enumerate(network.numbers):
        numbers[at], known[at] = rows.number(network, i, side, kind)
        gone = rows.overflow(network, i, side) if rows.lost else None
        if gone is not None:
            lost[at] = gone
    if doubt and not memory.doubted:
        layers = Layers.of(doubted(network, layers.whole()))
        memory = layers.some(states.code)
    whole = network.doubted() if doubt else network
    own, begin, times, values = _picked(whole, memory, states.code)
    slots, about = own
    truths = np.concatenate((atoms[0], atoms[0] | atoms[1])) if doubt else atoms[0]
    values_seen = truths, numbers, known, lost if rows.lost else lost[:0], states.time, states.start
    kept = slots, about, begin, times, values, whole.stored
    r = whole.residual
    if r is None:
        fired, since, sizes, queue_time, queue_value, broken = k.run(
            whole.program, whole.pairs, whole.root, whole.doubt, gap, continues, *values_seen, *kept
        )
        over = np.zeros(n, np.bool_)
    else:
        ahead_of = r.rows, r.told, r.slots, r.free, r.direction
        fired, since, over, sizes, queue_time, queue_value, broken = ahead.run_ahead(
            whole.program, whole.pairs, whole.doubt, gap, continues, *ahead_of, *values_seen, *kept
        )
    if broken >= 0:
        raise too_large(int(states.time[broken]))
    new = Memory(states.code, slots, about, _starts(sizes), queue_time, queue_value, rows.last(network), doubt)
    return layers.put(new), NewStates(fired, since, over)


def too_large(time: int) -> InputProblem:
    return InputProblem.of("overflow", f"an integer does not fit in 64 bits at {time}")


class _Leaves:
    """Columns of one call; those of the states before are kept."""

    def __init__(self, memory: Memory, states: States) -> None:
        self.memory, self.states = memory, states
        self.found: dict[Expr, pa.Array] = {}
        self.pairs: dict[int, tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {}
        self.lost: dict[Expr, np.ndarray] = {}

    def column(self, leaf: Expr) -> pa.Array:
        if not isinstance(leaf, Before):
            return self.states.leaves(leaf)
        found = self.found.get(leaf)
        if found is None:
            now = self.column(leaf.leaf)
            found = self.found[leaf] = self.shifted(leaf.leaf, now)
        return found

    def shifted(self, leaf: Expr, now: pa.Array) -> pa.Array:
        """Of the state before, in the same instance; of what is kept for the first states."""
        states, kept = self.states, self.memory.last.get(leaf)
        n = len(now)
        at = np.arange(-1, n - 1, dtype=np.int64)
        if kept is not None:
            now = pa.concat_arrays([plain_array(now), kept.cast(plain_array(now).type)])
        where = positions(self.memory.code, states.code)
        first = np.where(where >= 0, n + where, -1) if kept is not None else np.full(len(states.code), -1)
        some = states.start[1:] > states.start[:-1]
        at[states.start[:-1][some]] = first[some]
        return plain_array(now).take(pa.array(at, mask=at < 0))

    def number(self, network: Network, i: int, side: int, kind: TimeKind) -> tuple[np.ndarray, np.ndarray]:
        if i < 0:
            return keys_of(self.value(network.plain[side], kind))
        if i not in self.pairs:
            c = network.compared[i]
            right = self.value(c.right, kind)
            if c.left is None:
                whole = keys_of(right) if not is_float(right) else rounded_keys(right, c.op, c.op in ("<=", ">"))
                found = whole if c.whole else keys_beside_floats(c.op, right)
                self.pairs[i] = found, found
            else:
                self.pairs[i] = key_pair(self.value(c.left, kind), c.op, right)
        return self.pairs[i][side]

    def value(self, term: Expr, kind: TimeKind) -> pa.Array:
        found = evaluate(term, self.column, len(self.states.time), kind=kind, dialect=LOGIC)
        if found.overflow is not None:
            self.lost[term] = found.overflow
        return found.values

    def overflow(self, network: Network, i: int, side: int) -> np.ndarray | None:
        """Where the term of a number has overflowed; None: nowhere."""
        if i < 0:
            return self.lost.get(network.plain[side])
        c = network.compared[i]
        return self.lost.get(c.right if side or c.left is None else c.left)

    def last(self, network: Network) -> dict[Expr, pa.Array]:
        """The last values of what is asked for as it was before."""
        if not network.before:
            return {}
        ends = pa.array(self.states.start[1:] - 1)
        return {leaf: plain_array(self.column(leaf)).take(ends) for leaf in network.before}


def plain_array(column: pa.Array) -> pa.Array:
    """Text as text."""
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _starts(sizes: np.ndarray) -> np.ndarray:
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def _ranges(start: np.ndarray, which: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """(starts, row numbers) of what the instances ``which`` (-1: none) have in queues, ``width`` of them each."""
    at = (np.maximum(which, 0)[:, None] * width + np.arange(width)).ravel()
    sizes = np.where(np.repeat(which, width) >= 0, start[at + 1] - start[at], 0) if len(start) > 1 else 0 * at
    return _spread(start[at] if len(start) > 1 else at, sizes)


def _spread(start: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each of several ranges begins, if they stand behind one another, and the numbers that they hold."""
    begin = _starts(sizes)
    return begin, np.repeat(start - begin[:-1], sizes) + np.arange(begin[-1])


def _picked(
    network: Network, memory: Memory, code: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """Slots and about of some instances, new ones fresh; what is in their queues."""
    at = positions(memory.code, code)
    if _together(at):
        own = memory.take(at)
        copies = own.slots.copy(), own.about.copy()
        return copies, own.queue_start, own.queue_time, np.ascontiguousarray(own.queue_value)
    slots = np.zeros((len(code), len(network.program), k.SLOTS), np.int64)
    about = np.tile(np.array([1, k.NONE, 0], np.int64), (len(code), 1))
    there = at >= 0
    slots[there], about[there] = memory.slots[at[there]], memory.about[at[there]]
    begin, rows = _ranges(memory.queue_start, at, network.stored)
    return (slots, about), begin, memory.queue_time[rows], np.ascontiguousarray(memory.queue_value[:, rows])


def _together(at: np.ndarray) -> bool:
    """Do the instances with these numbers (-1: a new one) stand behind one another in the memory?"""
    n = len(at)
    return n > 0 and int(at[0]) >= 0 and (n == 1 or bool((at[1:] - at[:-1] == 1).all()))


def doubted(network: Network, memory: Memory) -> Memory:
    """As it is for the doubted network, before there was any doubt."""
    m, queues = len(memory.code), network.stored
    at = (np.arange(m)[:, None] * queues + network.queue_sources()).ravel()
    begin, rows = _spread(memory.queue_start[at], np.diff(memory.queue_start)[at])
    return replace(
        memory,
        slots=np.repeat(memory.slots, 2, axis=1),
        queue_start=begin,
        queue_time=memory.queue_time[rows],
        queue_value=memory.queue_value[:, rows],
        doubted=True,
    )


# --- saved ------------------------------------------------------------------------------------------------------------


def saved(network: Network, memory: Memory) -> dict[str, pa.Table]:
    """As tables; :func:`restored` reads them."""
    m = len(memory.code)
    if memory.doubted:
        network = network.doubted()
    rows = {
        "code": pa.array(memory.code),
        "slots": _lists(memory.slots.reshape(m, -1) if m else np.zeros((0, 0), np.int64)),
        "about": _lists(memory.about),
        "sizes": _lists(np.diff(memory.queue_start).reshape(m, -1)[:, : network.stored] if m else np.zeros((0, 0))),
        **{f"last{i}": memory.last[leaf] for i, leaf in enumerate(network.before) if m},
    }
    queues = {"time": pa.array(memory.queue_time)}
    queues |= {f"value{i}": pa.array(v) for i, v in enumerate(memory.queue_value)}
    about = pa.table({"doubted": pa.array([memory.doubted])})
    return {"instances": pa.table(rows), "queues": pa.table(queues), "memory": about}


def _lists(values: np.ndarray) -> pa.Array:
    width = values.shape[1]
    offsets = np.arange(len(values) + 1, dtype=np.int32) * width
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ascontiguousarray(values, np.int64).ravel()))


def restored(network: Network, tables: Mapping[str, pa.Table]) -> Memory:
    """What was saved.  Raises CheckpointProblem."""
    rows, queues = tables["instances"], tables["queues"]
    doubt = bool(tables["memory"]["doubted"][0].as_py())
    if doubt:
        network = network.doubted()
    m, nodes = rows.num_rows, len(network.program)

    def matrix(name: str, *shape: int) -> np.ndarray:
        found = rows[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        if len(found) != m * int(np.prod(shape)):
            raise CheckpointProblem.damaged("the saved state of a trigger", "it has another form")
        return np.array(found, np.int64).reshape(m, *shape)

    if not m:
        return replace(Memory.empty(network), doubted=doubt)
    last = {leaf: rows[f"last{i}"].combine_chunks() for i, leaf in enumerate(network.before)}
    return Memory(
        np.array(rows["code"], np.int64),
        matrix("slots", nodes, k.SLOTS),
        matrix("about", 3),
        _starts(matrix("sizes", network.stored).ravel()),
        np.array(queues["time"], np.int64),
        np.array([np.array(queues[f"value{i}"], np.int64) for i in range(network.width)]).reshape(network.width, -1),
        last,
        doubt,
    )


# --- numbers as keys --------------------------------------------------------------------------------------------------


_LEAST, _GREATEST = -(2**63), 2**63 - 1
_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)


def is_float(array: pa.Array) -> bool:
    """Is it a column of floats?"""
    return bool(pa.types.is_floating(array.type))


def keys_of(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """(keys, where there is one) of values that are compared only with such of the same kind."""
    known = _known(array)
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64), known
    if is_float(array):
        return keys_of_floats(filled(array)), known
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int64())
    return np.asarray(filled(array), np.int64), known


def filled(array: pa.Array) -> np.ndarray:
    """Numbers, 0 for null."""
    found = array.fill_null(0) if array.null_count else array
    return found.to_numpy(zero_copy_only=False)


def keys_of_floats(values: np.ndarray) -> np.ndarray:
    """int64 in the order of floats, equal for equal ones."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ _SIGN)


def key_pair(
    left: pa.Array, op: str, right: pa.Array
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Keys of both sides of ``left op right``, rows of either side against rows of the other."""
    if is_float(left) == is_float(right) or pa.types.is_null(left.type) or pa.types.is_null(right.type):
        return keys_of(left), keys_of(right)
    if is_float(left):
        return rounded_keys(left, op, down=op in (">=", "<")), keys_of(right)
    return keys_of(left), rounded_keys(right, op, down=op in ("<=", ">"))


def rounded_keys(array: pa.Array, op: str, down: bool) -> tuple[np.ndarray, np.ndarray]:
    """Floats as the ints that compare alike with all ints.

    One that is no int is rounded, ``down`` for ``f >= i`` and ``f < i``, else up; where equality is asked for it
    becomes the least int64, which no count and hardly any other number is.
    """
    values = np.asarray(filled(array), np.float64)
    near = np.floor(values) if down else np.ceil(values)
    inside = (near >= -(2.0**63)) & (near < 2.0**63)
    keys = np.where(inside, near, 0.0).astype(np.int64)
    keys = np.where(inside, keys, np.where(near > 0, _GREATEST, _LEAST))
    if op in ("=", "!="):
        keys = np.where(inside & (near == values), keys, _LEAST)
    return keys, _known(array)


def keys_beside_floats(op: str, array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Keys of the right side of ``f op right`` where ``f`` are keys of floats."""
    if is_float(array) or pa.types.is_null(array.type):
        return keys_of(array)
    ints = np.asarray(filled(array), np.int64)
    near = ints.astype(np.float64)
    for i in np.flatnonzero(np.abs(near) > 2.0**53):
        exact, found = int(ints[i]), float(near[i])
        if int(found) == exact:
            continue
        if op in (">=", "<"):
            near[i] = found if int(found) > exact else np.nextafter(found, np.inf)
        elif op in ("<=", ">"):
            near[i] = found if int(found) < exact else np.nextafter(found, -np.inf)
        else:
            near[i] = np.nan
    return np.where(np.isnan(near), _LEAST, keys_of_floats(near)), _known(array)


def _known(array: pa.Array) -> np.ndarray:
    if is_float(array):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if not array.null_count:
        return np.ones(len(array), np.bool_)
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
