"""A network over the new states of all instances of a call, and what it keeps of each (temporal-logic.md 5.2, 5.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import CheckpointProblem, InputProblem
from occurs.expr.dialect import LOGIC
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.operators.kernels import temporal as kernel
from occurs.operators.temporal.network import Before, Network

#: the Arrow column (n) of a leaf
Leaves = Callable[[Expr], pa.Array]


@dataclass(frozen=True)
class States:
    """New states of some instances: those of instance ``code[s]`` are [start[s], start[s + 1]), ascending in ``time``.

    ``code`` ascends.  ``leaves`` gives the columns of leaves.
    """

    code: np.ndarray
    start: np.ndarray
    time: np.ndarray
    leaves: Leaves


@dataclass(frozen=True)
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
            np.zeros((0, len(network.program), kernel.SLOTS), np.int64),
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


@dataclass(frozen=True)
class Outcome:
    """Per new state: did it fire, the time at which the activation began; the values of exported aggregates."""

    fired: np.ndarray
    since: np.ndarray
    exports: tuple[pa.Array, ...]


def advance(
    network: Network, memory: Memory, states: States, *, kind: TimeKind, gap: int = 0, continues: bool = False
) -> tuple[Memory, Outcome]:
    """Take new states.  Raises InputProblem (``overflow``)."""
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
        gone = rows.overflow(network, i, side)
        if gone is not None:
            lost[at] = gone
    if doubt and not memory.doubted:
        memory = doubted(network, memory)
    whole = network.doubted() if doubt else network
    own, begin, times, values, picked = _picked(whole, memory, states.code)
    slots, about = own
    fired, since, out, there, sizes, queue_time, queue_value, broken = kernel.run(
        whole.program,
        whole.pairs,
        whole.root,
        whole.doubt,
        gap,
        continues,
        np.array(whole.exports, np.int64),
        np.concatenate((atoms[0], atoms[0] | atoms[1])) if doubt else atoms[0],
        numbers,
        known,
        lost if lost.any() else lost[:0],
        states.time,
        states.start,
        slots,
        about,
        begin,
        times,
        values,
        whole.queues,
    )
    if broken >= 0:
        raise too_large(int(states.time[broken]))
    exports = tuple(pa.array(v, mask=~t) for v, t in zip(out, there, strict=True))
    new = Memory(states.code, slots, about, _starts(sizes), queue_time, queue_value, rows.last(network), doubt)
    return merged(whole, memory, new, picked), Outcome(fired, since, exports)


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
        ends = pa.array(self.states.start[1:] - 1)
        return {leaf: plain_array(self.column(leaf)).take(ends) for leaf in network.before}


def plain_array(column: pa.Array) -> pa.Array:
    """Text as text."""
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def positions(codes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where ``wanted`` codes are among ascending ``codes``, -1 where not."""
    if not len(codes):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return np.where(codes[at] == wanted, at, -1)


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
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Slots and about of some instances, new ones fresh; what is in their queues; where the instances are (-1: new)."""
    at = positions(memory.code, code)
    slots = np.zeros((len(code), len(network.program), kernel.SLOTS), np.int64)
    about = np.tile(np.array([1, kernel.NONE, 0], np.int64), (len(code), 1))
    there = at >= 0
    slots[there], about[there] = memory.slots[at[there]], memory.about[at[there]]
    begin, rows = _ranges(memory.queue_start, at, network.queues)
    return (slots, about), begin, memory.queue_time[rows], np.ascontiguousarray(memory.queue_value[:, rows]), at


def merged(network: Network, memory: Memory, new: Memory, at: np.ndarray) -> Memory:
    """The instances of ``new`` in the place of those numbered ``at`` (-1: none)."""
    keep = np.ones(len(memory.code), np.bool_)
    keep[at[at >= 0]] = False
    return joined(network, chosen(network, memory, np.flatnonzero(keep)), new)


def chosen(network: Network, memory: Memory, which: np.ndarray) -> Memory:
    """Some of the instances."""
    return memory if len(which) == len(memory.code) else _taken(network, memory, which)


def _taken(network: Network, memory: Memory, which: np.ndarray) -> Memory:
    """The instances at these places, in this order."""
    begin, rows = _ranges(memory.queue_start, which, network.queues)
    return Memory(
        memory.code[which],
        memory.slots[which],
        memory.about[which],
        begin,
        memory.queue_time[rows],
        memory.queue_value[:, rows],
        {leaf: values.take(pa.array(which)) for leaf, values in memory.last.items()},
        memory.doubted,
    )


def joined(network: Network, a: Memory, b: Memory) -> Memory:
    """Instances of two memories that have none in common."""
    if not len(a.code) or not len(b.code):
        return b if len(b.code) else a
    order = np.argsort(np.concatenate((a.code, b.code)), kind="stable")
    sizes = np.concatenate((np.diff(a.queue_start), np.diff(b.queue_start)))
    both = Memory(
        np.concatenate((a.code, b.code)),
        np.concatenate((a.slots, b.slots)),
        np.concatenate((a.about, b.about)),
        _starts(sizes),
        np.concatenate((a.queue_time, b.queue_time)),
        np.concatenate((a.queue_value, b.queue_value), axis=1),
        {leaf: pa.concat_arrays([a.last[leaf].cast(values.type), values]) for leaf, values in b.last.items()},
        b.doubted,
    )
    return both if np.array_equal(order, np.arange(len(order))) else _taken(network, both, order)


def doubted(network: Network, memory: Memory) -> Memory:
    """As it is for the doubted network, before there was any doubt."""
    m, queues = len(memory.code), network.queues
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
        "sizes": _lists(np.diff(memory.queue_start).reshape(m, -1)[:, : network.queues] if m else np.zeros((0, 0))),
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
        return Memory.empty(network)
    last = {leaf: rows[f"last{i}"].combine_chunks() for i, leaf in enumerate(network.before)}
    return Memory(
        np.array(rows["code"], np.int64),
        matrix("slots", nodes, kernel.SLOTS),
        matrix("about", 3),
        _starts(matrix("sizes", network.queues).ravel()),
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
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
