"""The operator of triggers that are evaluated over whole columns (temporal-logic.md 5.4).

All instances of a call are taken at once: rows are sorted by instance and time, states made of them, their atoms
evaluated as columns, and the network run over them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem
from occurs.expr.dialect import LOGIC
from occurs.expr.evaluate import evaluate
from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.contract import Call
from occurs.operators.merging import packed
from occurs.operators.rows import Rows
from occurs.operators.temporal import evaluation
from occurs.operators.temporal.batch import Batch, Carried, Chosen, Keys, Ordered, Reader, Seen, Span, chosen
from occurs.operators.temporal.evaluation import Memory, States, keys_of
from occurs.operators.temporal.network import Network
from occurs.operators.temporal.trigger import Firings

#: states of `observing every` that are made at once
MOST_TICKS = 2_000_000
_NONE = np.zeros(0, np.int64)


@dataclass
class Kept:
    """What the operator keeps: of rows, and what its network remembers."""

    network: Network
    past: Past
    memory: Memory

    @property
    def size(self) -> int:
        """Instances, their last rows, and the states that are remembered."""
        return self.memory.size + self.past.size

    def copy(self) -> Kept:
        """The same."""
        return replace(self)

    def saved(self) -> dict[str, pa.Table]:
        """As tables."""
        return {**evaluation.saved(self.network, self.memory), **self.past.saved()}


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
        return "vectorised"

    def fresh(self) -> Kept:
        """Nothing has happened."""
        return Kept(self.network, Past.fresh(self.seen, self._types), Memory.empty(self.network))

    @property
    def _types(self) -> list[Type]:
        return [t for _, t in self.generics]

    def restored(self, tables: Mapping[str, pa.Table]) -> Kept:
        """From what :meth:`Kept.saved` gave.  Raises CheckpointProblem."""
        past = Past.restored(self.seen, self._types, tables)
        return Kept(self.network, past, evaluation.restored(self.network, tables))

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
        names = tuple(n for n, _ in self.generics)
        made = step(kept.past, self.seen, names, self.kind, call.rows, call.since, call.frontier)
        fired, since, memory = self._run(kept.memory, made.batch, made.states)
        counts = {"rows without a key": made.keyless} if made.keyless else {}
        firings = self._firings(made.batch, fired, since, counts)
        kept.memory = memory if made.code is None else replace(memory, code=made.code[memory.code])
        kept.past = made.past
        return firings

    def _run(self, memory: Memory, batch: Batch, states: Chosen) -> tuple[np.ndarray, np.ndarray, Memory]:
        """The numbers of the states that fire, the times of their activations, and what is remembered afterwards.

        An instance that comes back within a call is another one, so that there is a round for each time.
        """
        fired, since = [_NONE], [_NONE]
        rounds = int(states.epoch.max()) + 1 if len(states.epoch) else 0
        for number in range(rounds):
            mine = np.flatnonzero(states.epoch == number) if rounds > 1 else np.arange(len(states.code))
            if not len(mine):  # all that were there before have gone without a state of theirs
                continue
            code, time = states.code[mine], states.time[mine]
            start = np.append(np.flatnonzero(np.append(True, code[1:] != code[:-1])), len(code))
            own = code[start[:-1]]
            if number:
                memory = _without(self.network, memory, own)
            whole = len(mine) == len(states.code)
            leaves = batch.column if whole else batch.some(mine)
            memory, found = evaluation.advance(
                self.network,
                memory,
                States(own, start.astype(np.int64), time, leaves),
                kind=self.kind,
                gap=self.gap,
                continues=self.continues,
            )
            at = np.flatnonzero(found.fired)
            fired.append(mine[at])
            since.append(found.since[at])
        gone = states.left[~states.active[states.left]]
        return np.concatenate(fired), np.concatenate(since), _without(self.network, memory, gone)

    def _firings(self, batch: Batch, fired: np.ndarray, since: np.ndarray, counts: Mapping[str, int]) -> Firings:
        """In the order of time and values."""
        empty = {n: Column.nulls(t, 0) for n, t in self.generics}
        if not len(fired):
            outputs = {n: Column.nulls(t, 0) for n, t in self.outputs}
            return Firings(_NONE, outputs, empty, _NONE, _NONE, empty, counts=counts)
        code, time = batch.code[fired], batch.time[fired]
        generics = {n: batch.keys.values[i].take(code) for i, (n, _) in enumerate(self.generics)}
        if self.emit is None:
            columns = generics
        else:
            columns = {
                n: self._given(e, t, batch, fired, time) for (n, t), e in zip(self.outputs, self.emit, strict=True)
            }
        order = _order(time, columns)
        return Firings(
            time[order],
            {n: c.take(order) for n, c in columns.items()},
            {n: c.take(order) for n, c in generics.items()},
            since[order],
            _NONE,
            empty,
            counts=counts,
        )

    def _given(self, term: Expr, type_: Type, batch: Batch, fired: np.ndarray, time: np.ndarray) -> Column:
        found = evaluate(term, batch.some(fired), len(fired), kind=self.kind, dialect=LOGIC)
        if found.overflow is not None:
            raise evaluation.too_large(int(time[np.flatnonzero(found.overflow)[0]]))
        return Column.computed(found.values, type_)


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
        counts=counts,
    )


def _without(network: Network, memory: Memory, codes: np.ndarray) -> Memory:
    """Some instances forgotten."""
    if not len(codes) or not len(memory.code):
        return memory
    return evaluation.chosen(network, memory, np.flatnonzero(~np.isin(memory.code, codes)))


def _order(time: np.ndarray, columns: Mapping[str, Column]) -> np.ndarray:
    """The order by time, then by the values of columns in the order of their names, null least."""
    by: list[np.ndarray] = []
    for name in sorted(columns):
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


_NOTHING = Ordered(_NONE, _NONE, _NONE, np.zeros(0, np.bool_))


@dataclass(frozen=True, eq=False)
class Past:
    """``keys``: instances and their codes; ``carried``: per stream the last rows; ``active``: per code, is the instance
    there?  ``started``: has it had a state?  Of equal ``token`` are only those that have come the same way."""

    keys: Keys
    carried: tuple[Carried, ...]
    active: np.ndarray
    started: np.ndarray
    token: Hashable

    @classmethod
    def fresh(cls, seen: Seen, types: Sequence[Type]) -> Past:
        """Nothing has happened.  Without generic variables the only instance is always there."""
        carried = tuple(Carried(_NONE, {}) for _ in seen.streams)
        there = np.ones(0 if types else 1, np.bool_)
        return cls(Keys(types), carried, there, ~there, "fresh")

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return sum(len(c.code) for c in self.carried)

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
        carried = tuple(Carried(code[c.code], c.columns) for c in self.carried)
        return Past(self.keys.only(left), carried, self.active[left], self.started[left], object()), code

    def _there(self, seen: Seen) -> np.ndarray:
        """The codes of instances that are not gone, ascending."""
        there = self.active | self.started if seen.query is None else self.active.copy()
        for c in self.carried:
            there[c.code] = True
        return np.flatnonzero(there)

    def saved(self) -> dict[str, pa.Table]:
        """As tables."""
        about = {"active": pa.array(self.active), "started": pa.array(self.started)}
        out = {"keys": self.keys.saved(), "active": pa.table(about)}
        for i, c in enumerate(self.carried):
            out[f"last {i}"] = pa.table({"code": pa.array(c.code), **dict(c.columns)})
        return out

    @classmethod
    def restored(cls, seen: Seen, types: Sequence[Type], tables: Mapping[str, pa.Table]) -> Past:
        """What was saved."""
        mine = {n: t for n, t in tables.items() if n in ("keys", "active") or n.startswith("last ")}
        carried = []
        for i in range(len(seen.streams)):
            one = mine[f"last {i}"]
            columns = {n: _whole(one[n]) for n in one.column_names if n != "code"}
            carried.append(Carried(np.array(one["code"], np.int64), columns))
        active, started = (np.array(mine["active"][n], np.bool_) for n in ("active", "started"))
        return cls(Keys.restored(types, mine["keys"]), tuple(carried), active, started, _digest(mine))


@dataclass(frozen=True, eq=False)
class Step:
    """What the rows of a call lead to: ``past`` afterwards, the ``states`` and what they see; ``keyless``: rows that
    belong to no instance.  ``code``: per code of this call that of the next one, None if they are the same."""

    past: Past
    states: Chosen
    batch: Batch
    keyless: int
    code: np.ndarray | None


def step(
    past: Past,
    seen: Seen,
    names: tuple[str, ...],
    kind: TimeKind,
    given: Mapping[str, Rows],
    since: int | None,
    until: int,
) -> Step:
    """The rows of a call, which is later than ``since`` and reaches ``until``.  Raises InputProblem."""
    types = dict.fromkeys(s.shape.name for s in seen.streams)
    rows = {t: given[t] for t in types if t in given and len(given[t])}
    if not rows:
        return _made(past, seen, names, kind, rows, since, until)
    name = ("columns of triggers", past.token, seen.alike, names, kind, since, until)
    cache = next(iter(rows.values())).cache
    before: tuple[dict[str, Rows], Step] | None = cache.get(name)
    if before is not None and all(before[0].get(t) is r for t, r in rows.items()) and len(before[0]) == len(rows):
        before[1].batch.where.update(seen.leaves)
        return before[1]
    found = _made(past, seen, names, kind, rows, since, until)
    cache[name] = rows, found
    return found


def _made(
    past: Past,
    seen: Seen,
    names: tuple[str, ...],
    kind: TimeKind,
    rows: Mapping[str, Rows],
    since: int | None,
    until: int,
) -> Step:
    keys = past.keys.successor()
    readers: dict[str, Reader] = {}
    for s in seen.streams:
        if s.shape.name in rows and s.shape.name not in readers:
            readers[s.shape.name] = Reader(s.shape, s.kind, rows[s.shape.name], keys, kind)
    # all instances are known before the first rows are put in order: a table that is truncated is so for all
    for s in seen.streams:
        if s.shape.name in readers:
            readers[s.shape.name].codes(s.keyed)
    ordered = [readers[s.shape.name].ordered(s) if s.shape.name in readers else _NOTHING for s in seen.streams]
    keyless = 0
    for number, (s, found) in enumerate(zip(seen.streams, ordered, strict=True)):
        if s.shape.name in readers:
            readers[s.shape.name].agree(found, s)
            begins = number == seen.query or number in seen.split
            keyless += readers[s.shape.name].without_key(s) if begins else 0
    active, started = np.zeros((2, keys.size), np.bool_)
    active[: len(past.active)], started[: len(past.started)] = past.active, past.started
    states = chosen(seen, ordered, active, Span(since, until, started))
    started[states.code] = True
    where = dict(seen.leaves)
    batch = Batch(seen.streams, where, kind, keys, names, readers, ordered, past.carried, states.code, states.time)
    carried = tuple(batch.kept(i, seen.columns(i)) for i in range(len(seen.streams)))
    after, new = Past(keys, carried, states.active, started, object()).forgetting(seen)
    return Step(after, states, batch, keyless, new)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _digest(tables: Mapping[str, pa.Table]) -> bytes:
    """Equal for equal tables."""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(tables):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, tables[name].schema) as writer:
            writer.write_table(tables[name].combine_chunks())
        found.update(name.encode() + b"\0" + sink.getvalue())
    return found.digest()
