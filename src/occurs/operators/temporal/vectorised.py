"""The operator of triggers that are evaluated over whole columns (temporal-logic.md 5.4).

All instances of a call are taken at once: rows are sorted by instance and time, states made of them, their atoms
evaluated as columns, and the network run over them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem
from occurs.expr.dialect import LOGIC
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.model.time import TimeKind
from occurs.model.types import Type, from_arrow
from occurs.operators.columns import Column
from occurs.operators.contract import Call
from occurs.operators.growing import behind
from occurs.operators.kernels.row_index import group_rows
from occurs.operators.kernels.temporal import epochs, firsts, latest
from occurs.operators.keys import Keys
from occurs.operators.layers import Layers, positions
from occurs.operators.merging import packed
from occurs.operators.rows import Rows
from occurs.operators.temporal import network as networks
from occurs.operators.temporal.network import Leaves, Memory, Network, States, keys_of
from occurs.operators.temporal.tables import (
    DELETE,
    INSERTS,
    OPS,
    PUT,
    TRUNCATE,
    Shape,
    Table,
    changed,
    last_of,
    old_row,
    without_effect,
    written,
)
from occurs.operators.temporal.tree import Generic, Happens, Last, Time
from occurs.operators.temporal.trigger import Firings

#: states of `observing every` that are made at once
MOST_TICKS = 2_000_000
_NONE = np.zeros(0, np.int64)
_ZERO = np.zeros(1, np.int64)
#: a call with fewer rows than codes divided by this sorts its rows by code; with more, it counts the rows of each code
FEW = 8
#: where the only state begins and ends
_ONE = np.arange(2)


@dataclass
class Kept:
    """What the operator keeps: of rows, and what its network remembers."""

    network: Network
    past: Past
    memory: Layers[Memory]

    @property
    def size(self) -> int:
        """Instances, their last rows, and the states that are remembered."""
        return self.memory.size + self.past.size

    def copy(self) -> Kept:
        """The same."""
        return replace(self)

    def saved(self) -> dict[str, pa.Table]:
        """As tables."""
        return {**networks.saved(self.network, self.memory.whole()), **self.past.saved()}


@dataclass(frozen=True)
class Columns:
    """An evaluator (:class:`.trigger.Evaluator`).

    ``name``: of the trigger; ``generics``, ``outputs`` with their types; ``emit``: the terms of the outputs (None: the
    generic variables).
    """

    name: str
    network: Network
    seen: Seen
    kind: TimeKind
    gap: int
    continues: bool
    generics: tuple[tuple[str, Type], ...]
    outputs: tuple[tuple[str, Type], ...]
    emit: tuple[Expr, ...] | None

    @property
    def words(self) -> str:
        """For ``explain``."""
        return "vectorised" if self.network.residual is None else "vectorised, by obligations"

    @property
    def tells(self) -> bool:
        """Does it find instances that can fire no more?"""
        return self.network.residual is not None

    def fresh(self) -> Kept:
        """Nothing has happened."""
        return Kept(self.network, Past.fresh(self.seen, self._types), Layers(Memory.empty(self.network)))

    @property
    def _types(self) -> list[Type]:
        return [t for _, t in self.generics]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.generics)

    def restored(self, tables: Mapping[str, pa.Table]) -> Kept:
        """From what :meth:`Kept.saved` gave.  Raises CheckpointProblem."""
        past = Past.restored(self.seen, self._types, tables)
        return Kept(self.network, past, Layers.of(networks.restored(self.network, tables)))

    # --- a call -------------------------------------------------------------------------------------------------------

    def advance(self, kept: Kept, call: Call) -> Firings:
        """The rows of a call.  Raises InputProblem."""
        try:
            return _joined([self._advance(kept, part) for part in self._parts(kept, call)])
        except InputProblem as e:
            # what contradicts itself does so for all triggers
            names = ("" if p.kind == "conflicting-values" else f"`{self.name}`: " for p in e.problems)
            problems = [
                replace(p, definition=self.name, message=n + p.message) for n, p in zip(names, e.problems, strict=True)
            ]
            raise InputProblem(problems) from e

    def _parts(self, kept: Kept, call: Call) -> Iterator[Call]:
        """The call, or several where `observing every` would make too many states at once."""
        every, since = self.seen.every, call.start if call.since is None else call.since
        if every == 0 or since is None:
            yield call
            return
        instances = kept.past.keys.size + sum(len(r) for r in call.rows.values())
        step = max(1, MOST_TICKS // max(1, instances)) * every
        before, until = call.since, since
        while until < call.frontier:
            until = min(call.frontier, until + step)
            whole = before == call.since and until == call.frontier
            rows = call.rows if whole else {t: _between(r, before, until) for t, r in call.rows.items()}
            yield replace(call, rows=rows, since=before, frontier=until)
            before = until
        if call.frontier <= since:
            yield call

    def _advance(self, kept: Kept, call: Call) -> Firings:
        made = self._step(kept.past, call)
        fired, since, over, memory = self._run(kept.memory, made.batch, made.states)
        firings = self._firings(made.batch, fired, since, over, made.counts)
        if made.code is not None:
            whole = memory.whole()
            memory = Layers.of(replace(whole, code=made.code[whole.code]))
        kept.memory = memory
        kept.past = made.past
        return firings

    def _step(self, past: Past, call: Call) -> Step:
        """What the rows of a call lead to; triggers that read the same rows alike share it.  Raises InputProblem."""
        seen = self.seen
        rows = {t: call.rows[t] for t in seen.types if t in call.rows and len(call.rows[t])}
        if not rows:
            return self._made(past, rows, call)
        name = ("columns of triggers", past.token, seen.alike, self._names, call.since, call.frontier)
        cache = next(iter(rows.values())).cache
        before: tuple[dict[str, Rows], Step] | None = cache.get(name)
        if before is not None and all(before[0].get(t) is r for t, r in rows.items()) and len(before[0]) == len(rows):
            return before[1]
        found = self._made(past, rows, call)
        cache[name] = rows, found
        return found

    def _made(self, past: Past, rows: Mapping[str, Rows], call: Call) -> Step:
        seen, keys, names = self.seen, past.keys.successor(), self._names
        readers: dict[str, Reader] = {}
        for s in seen.streams:
            if s.shape.name in rows and s.shape.name not in readers:
                readers[s.shape.name] = Reader(s.shape, s.kind, rows[s.shape.name], keys, self.kind)
        # all instances are known before the first rows are put in order: a table that is truncated is so for all
        for s in seen.streams:
            if s.shape.name in readers:
                readers[s.shape.name].codes(s.keyed)
        ordered: list[Ordered] = []
        for s, first in zip(seen.streams, seen.first):
            if s.shape.name not in readers:
                ordered.append(_NOTHING)
            else:
                ordered.append(ordered[first] if first < len(ordered) else readers[s.shape.name].ordered(s))
        keyless = 0
        for number, (s, found) in enumerate(zip(seen.streams, ordered, strict=True)):
            if s.shape.name in readers:
                readers[s.shape.name].agree(found, s)
                begins = number == seen.query or number in seen.split
                keyless += readers[s.shape.name].without_key(s) if begins else 0
        counts = {"rows without a key": keyless} if keyless else {}
        tables = dict(past.tables)
        for name, reader in readers.items():
            before = tables.get(name) or reader.census()
            if before is not None:
                tables[name], absent, present = before.after(reader)
                counts |= {what: n for what, n in without_effect(reader.shape, absent, present) if n}
        active, started = (_longer(flags, keys.size) for flags in (past.active, past.started))
        states = chosen(seen, ordered, active, Span(call.since, call.frontier, started))
        started = _set(started, states.code, True)
        code, time = states.code, states.time
        batch = Batch(
            seen.streams, seen.alike.where, self.kind, keys, names, readers, ordered, past.carried, code, time
        )
        if len(code) and not states.epoch.any():
            batch.states = by_instance(code, time, batch.column)
        carried = tuple(batch.kept(i, columns) for i, columns in enumerate(seen.kept))
        after, new = Past(keys, carried, states.active, started, tables, object()).forgetting(seen)
        return Step(after, states, batch, counts, new)

    def _run(
        self, memory: Layers[Memory], batch: Batch, states: Chosen
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, Layers[Memory]]:
        """The numbers of the states that fire, the times of their activations, the numbers of the states from which on
        an instance can fire no more, and what is remembered afterwards.

        An instance that comes back within a call is another one, so that there is a round for each time.
        """
        if batch.states is not None:
            memory, fired, since, over = self._through(memory, batch.states)
        else:
            rounds = [(_NONE, _NONE, _NONE)]
            for number in range(int(states.epoch.max()) + 1 if len(states.epoch) else 0):
                mine = np.flatnonzero(states.epoch == number)
                if not len(mine):  # all that were there before have gone without a state of theirs
                    continue
                own = by_instance(states.code[mine], states.time[mine], batch.some(mine))
                if number:
                    memory = memory.without(own.code)
                memory, fired, since, over = self._through(memory, own)
                rounds.append((mine[fired], since, mine[over]))
            fired, since, over = (np.concatenate(parts) for parts in zip(*rounds))
        if len(states.left):
            memory = memory.without(states.left[~states.active[states.left]])
        return fired, since, over, memory

    def _through(
        self, memory: Layers[Memory], states: States
    ) -> tuple[Layers[Memory], np.ndarray, np.ndarray, np.ndarray]:
        """What is remembered after some states; the numbers of those that fire, the times of their activations, and the
        numbers of those that are over."""
        memory, found = networks.advance(
            self.network, memory, states, kind=self.kind, gap=self.gap, continues=self.continues
        )
        fired = np.flatnonzero(found.fired)
        return memory, fired, found.since[fired], np.flatnonzero(found.over)

    def _firings(
        self, batch: Batch, fired: np.ndarray, since: np.ndarray, over: np.ndarray, counts: Mapping[str, int]
    ) -> Firings:
        """In the order of time and values."""
        outputs, none = self._nothing
        if not len(over) and not len(fired):
            return Firings(_NONE, outputs, none, _NONE, _NONE, none, counts=counts)
        over_time, over_of = batch.time[over], self._generics(batch, over)
        if len(over):
            order = _order(over_time, over_of, list(over_of))
            over_time, over_of = over_time[order], {n: c.take(order) for n, c in over_of.items()}
        if not len(fired):
            return Firings(_NONE, outputs, none, _NONE, over_time, over_of, counts=counts)
        time, generics = batch.time[fired], self._generics(batch, fired)
        if self.emit is None:
            columns = generics
        else:
            columns = {}
            for (name, type_), term in zip(self.outputs, self.emit, strict=True):
                found = generics[term.name] if isinstance(term, Generic) else None
                if found is None or found.type is not type_:
                    found = self._given(term, type_, batch, fired, time)
                columns[name] = found
        if len(fired) == 1:
            return Firings(time, columns, generics, since, over_time, over_of, counts=counts)
        order = _order(time, columns, sorted(columns))
        return Firings(
            time[order],
            {n: c.take(order) for n, c in columns.items()},
            {n: c.take(order) for n, c in generics.items()},
            since[order],
            over_time,
            over_of,
            counts=counts,
        )

    @cached_property
    def _nothing(self) -> tuple[dict[str, Column], dict[str, Column]]:
        """The outputs and the generic variables of no firings."""
        outputs, generics = ({n: Column.nulls(t, 0) for n, t in of} for of in (self.outputs, self.generics))
        return outputs, generics

    def _generics(self, batch: Batch, states: np.ndarray) -> dict[str, Column]:
        """The generic variables of the instances of some states."""
        code = batch.code[states]
        return {n: batch.keys.values[i].take(code) for i, (n, _) in enumerate(self.generics)}

    def _given(self, term: Expr, type_: Type, batch: Batch, fired: np.ndarray, time: np.ndarray) -> Column:
        found = evaluate(term, batch.some(fired), len(fired), kind=self.kind, dialect=LOGIC)
        if found.overflow is not None:
            raise networks.too_large(int(time[np.flatnonzero(found.overflow)[0]]))
        return Column.computed(found.values, type_)


def _longer(flags: np.ndarray, n: int) -> np.ndarray:
    """As many as ``n``; those that are new are False."""
    return flags if len(flags) == n else behind(flags, np.zeros(n - len(flags), np.bool_))


def _set(flags: np.ndarray, at: np.ndarray, value: np.ndarray | bool) -> np.ndarray:
    """With another value at some places; they are copied only if that changes something."""
    if (flags[at] == value).all():
        return flags
    flags = flags.copy()
    flags[at] = value
    return flags


def by_instance(code: np.ndarray, time: np.ndarray, leaves: Leaves) -> States:
    """States sorted by (code, time), at least one, as the network takes them."""
    if len(code) == 1:
        return States(code, _ONE, time, leaves)
    first = np.flatnonzero(code[1:] != code[:-1]) + 1
    start = np.concatenate((_ZERO, first, np.array([len(code)])))
    return States(code[start[:-1]], start, time, leaves)


def _between(rows: Rows, since: int | None, until: int) -> Rows:
    """The rows later than ``since`` up to ``until``."""
    first = 0 if since is None else int(np.searchsorted(rows.time, since, "right"))
    return rows.slice(first, int(np.searchsorted(rows.time, until, "right")))


def _joined(parts: Sequence[Firings]) -> Firings:
    """Of one call after the other."""
    if len(parts) == 1:
        return parts[0]
    counts: Counter[str] = Counter()
    for p in parts:
        counts.update(p.counts)
    return replace(
        parts[0],
        time=np.concatenate([p.time for p in parts]),
        columns={n: Column.concat([p.columns[n] for p in parts]) for n in parts[0].columns},
        generics={n: Column.concat([p.generics[n] for p in parts]) for n in parts[0].generics},
        since=np.concatenate([p.since for p in parts]),
        over=np.concatenate([p.over for p in parts]),
        of={n: Column.concat([p.of[n] for p in parts]) for n in parts[0].of},
        counts=counts,
    )


def _order(time: np.ndarray, columns: Mapping[str, Column], names: Sequence[str]) -> np.ndarray:
    """The order by time, then by the values of the columns ``names``, null least."""
    by: list[np.ndarray] = []
    for name in names:
        by += _ranks(columns[name])
    keys = [time, *by]
    one = packed(keys)
    return np.lexsort(keys[::-1]) if one is None else np.argsort(one, kind="stable")


def _ranks(column: Column) -> list[np.ndarray]:
    """Ascending ints for ascending values, null least."""
    if not column.numeric:
        encoded = column.arrow.dictionary_encode()
        if not len(encoded.dictionary):
            return []
        texts = encoded.dictionary.to_pylist()
        rank = np.empty(len(texts) + 1, np.int64)
        rank[np.array(sorted(range(len(texts)), key=texts.__getitem__))] = np.arange(len(texts))
        rank[-1] = -1
        return [rank[encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)]]
    keys, known = keys_of(column.arrow)
    return [known.astype(np.int64), keys] if not known.all() else [keys]


# --- what is kept of rows, apart from formulas ------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Past:
    """``keys``: instances and their codes; ``carried``: per stream the last rows; ``active``: per code, is the instance
    there?  ``started``: has it had a state?  ``tables``: the rows of tables whose changes say what they are.  Of equal
    ``token`` are only those that have come the same way."""

    keys: Keys
    carried: tuple[Layers[Carried], ...]
    active: np.ndarray
    started: np.ndarray
    tables: Mapping[str, Census]
    token: Hashable

    @classmethod
    def fresh(cls, seen: Seen, types: Sequence[Type]) -> Past:
        """Nothing has happened.  Without generic variables the only instance is always there."""
        carried = tuple(Layers(Carried(_NONE, {})) for _ in seen.streams)
        there = np.ones(0 if types else 1, np.bool_)
        return cls(Keys(types), carried, there, ~there, {}, "fresh")

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return sum(c.size for c in self.carried)

    def forgetting(self, seen: Seen) -> tuple[Past, np.ndarray | None]:
        """Without the codes of instances that are gone, if these are many; and the new code of each old one (-1: it was
        freed; None: nothing has changed).

        An instance is gone if it has left and no row of it is kept; without a query instances never leave.
        """
        if not self.keys.renewal.due(self.keys.size, lambda: len(self._there(seen))):
            return self, None
        left = self._there(seen)
        code = np.full(self.keys.size, -1, np.int64)
        code[left] = np.arange(len(left))
        carried = tuple(Layers.of(Carried(code[c.code], c.columns)) for c in (c.whole() for c in self.carried))
        made = replace(self, keys=self.keys.only(left), carried=carried, token=object())
        return replace(made, active=self.active[left], started=self.started[left]), code

    def _there(self, seen: Seen) -> np.ndarray:
        """The codes of instances that are not gone, ascending."""
        there = self.active | self.started if seen.query is None else self.active.copy()
        for c in self.carried:
            there[c.whole().code] = True
        return np.flatnonzero(there)

    def saved(self) -> dict[str, pa.Table]:
        """As tables."""
        about = {"active": pa.array(self.active), "started": pa.array(self.started)}
        out = {"keys": self.keys.saved(), "active": pa.table(about)}
        for i, c in enumerate(layers.whole() for layers in self.carried):
            out[f"last {i}"] = pa.table({"code": pa.array(c.code), **{n: v.arrow for n, v in c.columns.items()}})
        return out | {f"rows of {name}": census.saved() for name, census in self.tables.items()}

    @classmethod
    def restored(cls, seen: Seen, types: Sequence[Type], tables: Mapping[str, pa.Table]) -> Past:
        """What was saved."""
        mine = {n: t for n, t in tables.items() if n in ("keys", "active") or n.startswith(("last ", "rows of "))}
        carried = []
        for i in range(len(seen.streams)):
            one = mine[f"last {i}"]
            columns = {
                n: Column.of(one[n], from_arrow(one[n].type) or Type.NULL) for n in one.column_names if n != "code"
            }
            carried.append(Layers.of(Carried(np.array(one["code"], np.int64), columns)))
        active, started = (np.array(mine["active"][n], np.bool_) for n in ("active", "started"))
        rows = {n.removeprefix("rows of "): Census.restored(t) for n, t in mine.items() if n.startswith("rows of ")}
        return cls(Keys.restored(types, mine["keys"]), tuple(carried), active, started, rows, _digest(mine))


@dataclass(eq=False, slots=True)
class Step:
    """What the rows of a call lead to: ``past`` afterwards, the ``states`` and what they see; ``counts``: what was
    accepted though it has no effect.  ``code``: per code of this call that of the next one, None if nothing changed."""

    past: Past
    states: Chosen
    batch: Batch
    counts: Mapping[str, int]
    code: np.ndarray | None


def _digest(tables: Mapping[str, pa.Table]) -> bytes:
    """Equal for equal tables."""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(tables):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, tables[name].schema) as writer:
            writer.write_table(tables[name].combine_chunks())
        found.update(name.encode() + b"\0" + sink.getvalue())
    return found.digest()


# --- the states of all instances in a call, and what they see (temporal-logic.md 4.1) ---------------------------------


class Alike:
    """Stands for one way to read rows; it is compared by identity.

    ``where``: the streams and columns of the leaves of all triggers that read so.
    """

    __slots__ = ("__weakref__", "where")

    def __init__(self) -> None:
        self.where: dict[Expr, tuple[int, str]] = {}


_ALIKE: WeakValueDictionary[Hashable, Alike] = WeakValueDictionary()


@dataclass(frozen=True)
class Seen:
    """Where the leaves of a trigger come from: per leaf its stream and column.

    ``streams``: all of them; ``query``: the number of the one whose rows activate instances, ``split``: those whose
    rows begin them.  ``every``: the ticks of `observing every`, 0 without.
    """

    streams: tuple[Stream, ...]
    leaves: Mapping[Expr, tuple[int, str]]
    query: int | None = None
    split: tuple[int, ...] = ()
    every: int = 0

    @cached_property
    def alike(self) -> Alike:
        """The same object for triggers that read the same rows alike."""
        found = _ALIKE.setdefault((self.streams, self.kept, self.query, self.split, self.every), Alike())
        found.where |= self.leaves
        return found

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the streams."""
        return tuple(dict.fromkeys(s.shape.name for s in self.streams))

    @cached_property
    def kept(self) -> tuple[tuple[tuple[str, Type], ...], ...]:
        """Per stream the columns whose last values are kept."""
        return tuple(self.columns(i) for i in range(len(self.streams)))

    @cached_property
    def first(self) -> tuple[int, ...]:
        """Per stream the number of the first one with the same rows."""
        rows = [replace(s, wakes=False) for s in self.streams]
        return tuple(map(rows.index, rows))

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def columns(self, stream: int) -> tuple[tuple[str, Type], ...]:
        """The columns of a stream whose last values are kept."""
        if self.streams[stream].kind == EVENT:
            return ()
        found = {c: getattr(leaf, "type", None) or Type.NULL for leaf, (s, c) in self.leaves.items() if s == stream}
        return tuple(sorted(found.items()))


@dataclass(eq=False, slots=True)
class Carried:
    """The last rows of a stream by ``code`` (ascending), null where there is none."""

    code: np.ndarray
    columns: Mapping[str, Column]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.code)

    def take(self, which: np.ndarray) -> Carried:
        """The rows at these places."""
        return Carried(self.code[which], {n: c.take(which) for n, c in self.columns.items()})

    def over(self, below: Carried) -> Carried:
        """With the rows ``below`` of other instances."""
        if not len(below.code) or not len(self.code):
            return self if len(self.code) else below
        keep = np.flatnonzero(positions(self.code, below.code) < 0)
        code = np.concatenate((below.code[keep], self.code))
        order = np.argsort(code, kind="stable")
        which = np.concatenate((keep, np.arange(len(self.code)) + len(below.code)))[order]
        both = {n: Column.widened([below.columns[n], c]).take(which) for n, c in self.columns.items()}
        return Carried(code[order], both)


@dataclass(eq=False, slots=True)
class Batch:
    """States sorted by (code, time), and what they see; ``where``: per leaf its stream and column; ``names``: the
    generic variables."""

    streams: tuple[Stream, ...]
    where: Mapping[Expr, tuple[int, str]]
    kind: TimeKind
    keys: Keys
    names: tuple[str, ...]
    readers: Mapping[str, Reader]
    ordered: Sequence[Ordered]
    carried: Sequence[Layers[Carried]]
    code: np.ndarray
    time: np.ndarray
    found: dict[Expr, pa.Array] = field(default_factory=dict)
    at: dict[int, np.ndarray] = field(default_factory=dict)
    before: dict[int, Carried] = field(default_factory=dict)
    #: all states by instance, if no instance comes back in this call: triggers that read alike share them
    states: States | None = None

    def column(self, leaf: Expr) -> pa.Array:
        """The values of a leaf at all states."""
        if leaf not in self.found:
            self.found[leaf] = self._column(leaf)
        return self.found[leaf]

    def some(self, which: np.ndarray) -> Leaves:
        """The columns of some of the states."""
        at = pa.array(which)
        return lambda leaf: self.column(leaf).take(at)

    def _column(self, leaf: Expr) -> pa.Array:
        if isinstance(leaf, Time):
            return pa.array(self.time).cast(pa.timestamp("us")) if self.kind.timestamp else pa.array(self.time)
        if isinstance(leaf, Generic):
            place = self.names.index(leaf.name)
            return self.keys.values[place].arrow.take(pa.array(self.code))
        stream, name = self.where[leaf]
        at = self.last_rows(stream)
        if isinstance(leaf, Happens):
            return pa.array(self.present(stream, at))
        type_ = getattr(leaf, "type", None) or Type.NULL
        return self.values(stream, at, name, type_, only_now=isinstance(leaf, Last)).arrow

    def last_rows(self, stream: int) -> np.ndarray:
        """Per state the last row of a stream up to it, -1 if there is none in this call."""
        if stream not in self.at:
            rows = self.ordered[stream]
            self.at[stream] = latest(rows.code, rows.time, self.code, self.time)
        return self.at[stream]

    def present(self, stream: int, at: np.ndarray) -> np.ndarray:
        """Is there a row at the time of the state itself?"""
        rows = self.ordered[stream]
        return (at >= 0) & (rows.time[at] == self.time) if len(rows) else np.zeros(len(at), np.bool_)

    def values(self, stream: int, at: np.ndarray, name: str, type_: Type, only_now: bool) -> Column:
        """A column of the last rows; of what was kept where this call has none."""
        rows = self.ordered[stream]
        reader = self.readers.get(self.streams[stream].shape.name)
        there = self.present(stream, at) if only_now else at >= 0
        row = rows.row[at] if len(rows) else np.full(len(at), -1)
        there = there & (row >= 0) & (rows.put[at] if len(rows) else False)
        column = Column.nulls(type_, 0) if reader is None else reader.column(name, type_)
        if only_now or not (at < 0).any() or not len((carried := self.last_before(stream)).code):
            return column.take(row) if there.all() else column.picked(np.where(there, row, -1))
        kept = positions(carried.code, self.code)
        where = np.where(there, row, np.where((at < 0) & (kept >= 0), len(column) + kept, -1))
        return Column.widened([column, carried.columns[name]]).picked(where)

    def last_before(self, stream: int) -> Carried:
        """The last rows of a stream before this call, of the instances that have states in it."""
        if stream not in self.before:
            own = self.code if len(self.code) < 2 else self.code[np.append(True, self.code[1:] != self.code[:-1])]
            self.before[stream] = self.carried[stream].some(own)
        return self.before[stream]

    def kept(self, stream: int, names: tuple[tuple[str, Type], ...]) -> Layers[Carried]:
        """The last rows of a stream after this call, with these columns."""
        rows, before = self.ordered[stream], self.carried[stream]
        if not names or not len(rows):
            return before
        end = np.flatnonzero(np.append(rows.code[1:] != rows.code[:-1], True))
        there = rows.put[end] & (rows.row[end] >= 0)
        if not there.all():
            before, end = before.without(rows.code[end[~there]]), end[there]
        reader = self.readers[self.streams[stream].shape.name]
        columns = {name: reader.column(name, type_).plain().take(rows.row[end]) for name, type_ in names}
        return before.put(Carried(rows.code[end], columns))


@dataclass(eq=False, slots=True)
class Chosen:
    """States of instances; ``active``: per code, is it active afterwards; ``left``: codes that have left once."""

    code: np.ndarray
    time: np.ndarray
    epoch: np.ndarray
    active: np.ndarray
    left: np.ndarray


@dataclass(eq=False, slots=True)
class Span:
    """The time of a call: later than ``since`` (None: from the beginning), up to ``until``.  ``started``: per code, has
    the instance had a state before?"""

    since: int | None
    until: int
    started: np.ndarray


def chosen(seen: Seen, ordered: Sequence[Ordered], active: np.ndarray, span: Span) -> Chosen:
    """The states of histories: where a row is written that is read, and where instances enter; while they are there.
    With `observing every` those of its ticks, too.

    ``active``: per code, is it active before?
    """
    parts = [(o.code, o.time) for s, o in zip(seen.streams, ordered, strict=True) if s.wakes and len(o)]
    if seen.query is None:
        code, time = _united(parts)
        if seen.split:
            code, time, active = _since(code, time, [ordered[i] for i in seen.split], active)
        found = Chosen(code, time, np.zeros(len(code), np.int64), active, _NONE)
        return _ticked(seen.every, found, *_begun(found, span)) if seen.every else found
    rows = ordered[seen.query]
    before = active
    last, there, entered, gone, epoch = epochs(rows.code, rows.time, rows.put, before)
    if len(rows):
        end = np.append(rows.code[1:] != rows.code[:-1], True)
        active = _set(before, rows.code[end], rows.put[end])
    rows_code, rows_time, there, epoch = rows.code[last], rows.time[last], there[last], epoch[last]
    code, time = _united(parts)
    new_all = new_code, new_time = rows.code[entered], rows.time[entered]
    if len(code):
        same = latest(code, time, new_code, new_time)
        missing = (same < 0) | (time[same] != new_time)
        new_code, new_time = new_code[missing], new_time[missing]
    if len(new_code):
        code, time = _united([(code, time), (new_code, new_time)])
    at = latest(rows_code, rows_time, code, time)
    inside = np.where(at >= 0, there[at], before[code]) if len(rows_code) else before[code]
    rounds = np.where(at >= 0, epoch[at], 0) if len(rows_code) else np.zeros(len(code), np.int64)
    left = rows_code[~there]
    left = np.unique(left) if len(left) else left
    found = Chosen(code[inside], time[inside], rounds[inside], active, left)
    if not seen.every:
        return found
    # of each instance the times at which it enters and leaves take turns
    on, off = np.flatnonzero(before), np.flatnonzero(active)
    begins = np.concatenate((on, rows.code[entered])), np.concatenate((on * 0 + (span.since or 0), new_all[1]))
    ends = np.concatenate((off, rows.code[gone])), np.concatenate((off * 0 + span.until, rows.time[gone] - 1))
    first, end = np.lexsort((begins[1], begins[0])), np.lexsort((ends[1], ends[0]))
    of = begins[0][first]
    again = np.arange(len(of)) - np.searchsorted(of, of)
    return _ticked(seen.every, found, of, begins[1][first], ends[1][end], again)


def _begun(found: Chosen, span: Span) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(codes, begins, ends, activation) of instances that never leave: from their first states on."""
    started = np.flatnonzero(span.started)
    first = np.append(True, found.code[1:] != found.code[:-1]) if len(found.code) else np.zeros(0, np.bool_)
    new_code, new_time = found.code[first], found.time[first]
    new = ~span.started[new_code]
    code = np.concatenate((started, new_code[new]))
    begin = np.concatenate((started * 0 + (span.since or 0), new_time[new]))
    return code, begin, code * 0 + span.until, code * 0


def _ticked(
    every: int, found: Chosen, code: np.ndarray, begin: np.ndarray, end: np.ndarray, epoch: np.ndarray
) -> Chosen:
    """With a state at each multiple of ``every`` in (begin, end] of some activations."""
    first = (begin // every + 1) * every
    count = np.maximum((end - first) // every + 1, 0)
    if not count.any():
        return found
    at = np.repeat(np.arange(len(code)), count)
    step = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    codes = np.concatenate((found.code, code[at]))
    times = np.concatenate((found.time, first[at] + step * every))
    rounds = np.concatenate((found.epoch, epoch[at]))
    order = np.lexsort((times, codes))
    codes, times, rounds = codes[order], times[order], rounds[order]
    new = firsts(codes, times)
    return Chosen(codes[new], times[new], rounds[new], found.active, found.left)


def _since(
    code: np.ndarray, time: np.ndarray, rows: Sequence[Ordered], active: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Without the states before an instance begins, which its first row does; and which are active afterwards."""
    own, begin = _united([(o.code, o.time) for o in rows])
    if not len(own):
        inside = active[code]
        return code[inside], time[inside], active
    first = np.append(True, own[1:] != own[:-1])
    own, begin = own[first], begin[first]
    at = positions(own, code)
    inside = active[code] | ((at >= 0) & (time >= begin[at]))
    return code[inside], time[inside], _set(active, own, True)


def _united(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """(code, time) of several parts that are sorted by it, each once."""
    if not parts:
        return _NONE, _NONE
    code, time = parts[0]
    if len(parts) > 1:
        code = np.concatenate([c for c, _ in parts])
        time = np.concatenate([t for _, t in parts])
        order = np.lexsort((time, code))
        code, time = code[order], time[order]
    first = firsts(code, time)
    return (code, time) if first.all() else (code[first], time[first])


# --- rows of a call ---------------------------------------------------------------------------------------------------


TABLE, STATE, EVENT = "table", "state", "event"


@dataclass(frozen=True)
class Stream:
    """Rows of one type that belong to instances.

    ``keyed``: per generic variable the column that has its value; ``fixed``: (column, literal) that rows must have;
    ``where``: (column, operator, literal) of rows that count, all others are as if they were gone.  ``wakes``: do they
    make states of a history?
    """

    kind: str
    shape: Shape
    keyed: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Literal], ...] = ()
    where: tuple[tuple[str, str, Literal], ...] = ()
    wakes: bool = False


@dataclass(eq=False, slots=True)
class Ordered:
    """The rows of a stream, sorted by (code, time), those of one time in their order.

    ``row``: the number of the row in the call, -1 if it is none of them; ``put``: is there a row afterwards?
    """

    code: np.ndarray
    time: np.ndarray
    row: np.ndarray
    put: np.ndarray

    def __len__(self) -> int:
        return len(self.code)


_NOTHING = Ordered(_NONE, _NONE, _NONE, np.zeros(0, np.bool_))


class Reader:
    """The rows of one type in a call."""

    def __init__(self, shape: Shape, kind: str, rows: Rows, keys: Keys, time: TimeKind) -> None:
        self.shape, self.kind, self.rows, self.keys, self.time_kind = shape, kind, rows, keys, time
        #: which rows say that they are new; None if no row says what it does
        self.inserted: np.ndarray | None = None
        self.ops = self._ops() if kind == TABLE else None
        self._codes: dict[tuple[str, ...], np.ndarray] = {}

    def codes(self, columns: tuple[str, ...]) -> np.ndarray:
        """The instance of each row by the values of its columns, -1 where one is null."""
        found = self._codes.get(columns)
        if found is None:
            found = self.keys.encode([self.column(c) for c in columns], len(self.rows))
            self._codes[columns] = found
        return found

    def column(self, name: str, type_: Type | None = None) -> Column:
        """A column; a declared one that is missing is null."""
        found = self.rows.columns.get(name)
        return Column.nulls(type_ or Type.NULL, len(self.rows)) if found is None else found

    def _ops(self) -> np.ndarray | None:
        """What each row does to its table, None if all are put."""
        column = self.rows.columns.get("op")
        if column is None or not len(self.rows) or column.type is Type.NULL:
            return None
        self.inserted = np.zeros(len(self.rows), np.bool_)
        if column.arrow.null_count == len(self.rows):
            return None
        encoded = column.arrow.dictionary_encode()
        if not len(encoded.dictionary):
            return None
        names = [*encoded.dictionary.to_pylist(), None]
        found = np.array([OPS.get(n, "") for n in names])
        at = encoded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
        of = found[at]
        self.inserted = np.isin(names, INSERTS)[at]
        if "" in of:
            first = int(np.flatnonzero(of == "")[0])
            value = column.arrow[first].as_py()
            text = f"{self.shape.name} at {self.rows.time[first]}: {value!r} is not a valid op"
            raise InputProblem.of("bad-value", text, value=value)
        return None if (of == PUT).all() else of

    def census(self) -> Census | None:
        """Of a table without rows whose changes say what they are; None if they do not."""
        types = [self.column(n).type for n in self.key]
        return None if self.inserted is None or Type.NULL in types else Census(Keys(types), np.zeros(0, np.bool_))

    @property
    def key(self) -> list[str]:
        """The columns of the table's key."""
        return [self.shape.columns[i] for i in self.shape.keys]

    def ordered(self, stream: Stream) -> Ordered:
        """The rows of a stream."""
        n = len(self.rows)
        code = self.codes(stream.keyed)
        keep = self._kept(stream, n)
        put = np.ones(n, np.bool_) if self.ops is None else self.ops == PUT
        for name, op, value in stream.where:
            put = put & self._holds(name, op, value)
        whole = None if self.ops is None else self.ops == TRUNCATE
        moved = self.moved(stream.keyed, stream.fixed, self.keys)
        if (whole is None or not whole.any()) and not len(moved[0]):
            order = _grouped(code, self.keys.size, keep)
            return Ordered(code[order], self.rows.time[order], order, put[order])
        return self._with_more(code, keep, put, whole, moved)

    def without_key(self, stream: Stream) -> int:
        """How many rows of a stream belong to no instance."""
        without = self.codes(stream.keyed) < 0
        return int((without if self.ops is None else without & (self.ops == PUT)).sum())

    def _kept(self, stream: Stream, n: int) -> np.ndarray:
        """Which rows have the fixed values; empty: all."""
        if not stream.fixed:
            return np.zeros(0, np.bool_)
        keep = np.ones(n, np.bool_)
        for name, value in stream.fixed:
            keep &= self._holds(name, "=", value)
        if self.ops is not None:
            keep |= self.ops == TRUNCATE
        return keep

    def _holds(self, name: str, op: str, value: Literal) -> np.ndarray:
        """In which rows a column compares with a literal."""
        column = self.column(name).arrow
        test = Binary(op, Ref(None, name), value)
        return select(test, lambda _: column, len(self.rows), kind=self.time_kind, dialect=LOGIC)[0]

    def moved(
        self, keyed: Sequence[str], fixed: Sequence[tuple[str, Literal]], keys: Keys
    ) -> tuple[np.ndarray, np.ndarray]:
        """(rows, codes before) of rows whose ``old`` has another key.  ``keyed``, ``fixed``: as of a stream."""
        none = np.zeros(0, np.int64)
        column = self.rows.columns.get("old")
        if self.kind != TABLE or column is None or column.type is Type.NULL or not self.shape.keys:
            return none, none
        if not column.numeric and column.arrow.null_count == len(column):
            return none, none
        there = np.flatnonzero(column.is_valid())
        if not len(there):
            return none, none
        one = self.rows.take(there)
        table, own = Table(self.shape), written(one, self.shape)
        olds = [old_row(self.shape, w.old or "", int(t)) for w, t in zip(own, one.time, strict=True)]
        at = [i for i, (old, w) in enumerate(zip(olds, own, strict=True)) if table.key(old) != table.key(w.row)]
        columns = []
        for name in keyed:
            place = self.shape.columns.index(name)
            values = [olds[i][place] for i in at]
            columns.append(Column.of(pa.array(values, self.column(name).arrow.type), self.column(name).type))
        codes = keys.encode(columns, len(at))
        for name, value in fixed:
            place = self.shape.columns.index(name)
            codes = np.where([olds[i][place] == value.value for i in at], codes, -1)
        return there[at], codes

    def _with_more(
        self,
        code: np.ndarray,
        keep: np.ndarray,
        put: np.ndarray,
        whole: np.ndarray | None,
        moved: tuple[np.ndarray, np.ndarray],
    ) -> Ordered:
        """With the rows that go: all of a table that is truncated, those whose key changes."""
        mine = code >= 0
        if len(keep):
            mine &= keep
        if whole is not None:
            mine &= ~whole
        row = np.flatnonzero(mine)
        codes, places, rows, puts = [code[row]], [row], [row], [put[row]]
        for at in np.flatnonzero(whole) if whole is not None else ():
            codes.append(np.arange(self.keys.size))
            places.append(np.full(self.keys.size, at))
        codes.append(moved[1][moved[1] >= 0])
        places.append(moved[0][moved[1] >= 0])
        rows += [np.full(len(c), -1) for c in codes[1:]]
        puts += [np.zeros(len(c), np.bool_) for c in codes[1:]]
        all_codes, place = np.concatenate(codes), np.concatenate(places)
        order = np.lexsort((np.concatenate(rows) >= 0, place, all_codes))
        time = self.rows.time[place[order]]
        return Ordered(all_codes[order], time, np.concatenate(rows)[order], np.concatenate(puts)[order])

    # --- conflicts ----------------------------------------------------------------------------------------------------

    def agree(self, found: Ordered, stream: Stream) -> None:
        """Rows of one time write the same values, or a sequence orders them.  Raises InputProblem."""
        if self.kind == EVENT or len(found) < 2:
            return
        same = np.flatnonzero((found.code[1:] == found.code[:-1]) & (found.time[1:] == found.time[:-1])) + 1
        if not len(same):
            return
        sequence = self.rows.columns.get("sequence")
        a, b = found.row[same - 1], found.row[same]
        if sequence is not None and sequence.type is not Type.NULL:
            both = (a >= 0) & (b >= 0)
            known = sequence.is_valid()
            equal = (sequence.values[a] == sequence.values[b]) & (known[a] == known[b])
            same = same[~both | equal]
        for time in dict.fromkeys(found.time[same].tolist()):
            group = self.rows.take(np.flatnonzero(self.rows.time == time))
            own = written(group, self.shape)
            if self.kind == TABLE:
                changed(Table(self.shape), own, time)
                continue
            places = [self.shape.columns.index(c) for c in stream.keyed]
            by_key: dict[tuple[Any, ...], list[Any]] = {}
            for w in own:
                by_key.setdefault(tuple(w.row[i] for i in places), []).append(w)
            for rows in by_key.values():
                last_of(self.shape, rows, time)


def _grouped(code: np.ndarray, n_codes: int, keep: np.ndarray) -> np.ndarray:
    """The rows by their codes, those of one code in their order; without those that have none, and those not to
    ``keep`` (empty: all)."""
    if FEW * len(code) > n_codes:
        order: np.ndarray = group_rows(code, n_codes, keep)[0]
        return order
    mine = np.flatnonzero((code >= 0) & keep if len(keep) else code >= 0)
    return mine if len(mine) < 2 else mine[np.argsort(code[mine], kind="stable")]


# --- rows of tables ---------------------------------------------------------------------------------------------------


def _shifted(values: np.ndarray) -> np.ndarray:
    """The value before each one; before the first the last.  (For few values np.roll takes far longer.)"""
    return np.concatenate((values[-1:], values[:-1]))


@dataclass(frozen=True)
class Census:
    """Which rows of a table are ``there``, by the codes of their ``keys``: to count changes that have no effect."""

    keys: Keys
    there: np.ndarray

    def after(self, reader: Reader) -> tuple[Census, int, int]:
        """After the rows of a call; how many deletes found no row, and how many inserts found one."""
        n, names, keys = len(reader.rows), reader.key, self.keys.successor()
        code = keys.encode([reader.column(name) for name in names], n)
        before, old = reader.moved(names, (), keys)
        if reader.ops is None and not len(old) and (reader.inserted is None or not reader.inserted.any()):
            # all rows are put, and none says that it is new
            there = np.zeros(keys.size, np.bool_)
            there[: len(self.there)] = self.there
            there[code[code >= 0]] = True
            return self._renewed(keys, there), 0, 0
        none, ops = np.zeros(n, np.bool_), reader.ops
        put, deleted, cleared = (none if ops is None else ops == op for op in (PUT, DELETE, TRUNCATE))
        # what a row touches, in its order: the row of its old key, then that of its own
        own = np.concatenate((none | True, np.zeros(len(old), np.bool_)))
        codes, place = np.concatenate((code, old)), np.concatenate((np.arange(n), before))
        codes[:n][cleared] = -1
        order = np.lexsort((own, place, codes))
        order = order[codes[order] >= 0]
        codes, place, own = codes[order], place[order], own[order]
        puts = own if ops is None else own & put[place]
        clears = np.concatenate((_ZERO, np.cumsum(cleared)))
        first, epoch = firsts(codes, codes), clears[place]
        there = np.concatenate((self.there, np.zeros(keys.size - len(self.there), np.bool_)))
        had = np.where(first, there[codes] & (epoch == 0), _shifted(puts) & (_shifted(epoch) == epoch))
        absent = int((own & deleted[place] & ~had).sum())
        inserted = none if reader.inserted is None else reader.inserted
        present = int((own & inserted[place] & had).sum())
        last = np.concatenate((first[1:], first[:1]))
        there &= clears[-1] == 0
        there[codes[last]] = puts[last] & (epoch[last] == clears[-1])
        return self._renewed(keys, there), absent, present

    @staticmethod
    def _renewed(keys: Keys, there: np.ndarray) -> Census:
        """Without the keys of rows that are gone, if these are many."""
        if not keys.renewal.due(keys.size, lambda: int(there.sum())):
            return Census(keys, there)
        return Census(keys.only(np.flatnonzero(there)), there[there])

    def saved(self) -> pa.Table:
        """By :meth:`restored` again."""
        return self.keys.saved().append_column("there", pa.array(self.there))

    @classmethod
    def restored(cls, table: pa.Table) -> Census:
        keys = table.drop_columns(["there"])
        types = [from_arrow(field.type) or Type.NULL for field in keys.schema]
        there = np.array(table["there"], np.bool_)
        return cls(Keys.restored(types, keys), there)
