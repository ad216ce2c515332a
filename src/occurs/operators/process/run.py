"""Running pipes: the one door through which the Python API, programs and hosts use the engine.

    run = Run([pipe, ...])                  # a fresh state
    found = run.advance(Batch(...))         # one Emitted per pipe: what these events complete
    found = run.close(time)                 # nothing comes any more; once, last
    tables = run.save(); run.load(tables)   # the state as Arrow tables, by name, and back

A :class:`Batch` has the next events in their total order, of all types together: however a history is cut into batches,
also within an instant, the same comes out.  Items are columns: ``column_of`` makes one from Python values,
``from_arrow`` from a column of a table, ``tuples`` from a table; ``pylist`` gives them back (values that Python lacks
are in :mod:`occurs.operators.process.values`: Troolean, Set, Bag, Map, Record, Document, Json; a list is a tuple; times
are ints).

>>> import numpy as np
>>> from occurs.operators.process import tree
>>> x = tree.Node(tree.Events(("x",))).out()
>>> run = Run([tree.Node(tree.Cumulate("addition"), (x,)).out()])
>>> batch = Batch(np.array([0, 1, 5]), {"x": (np.array([0, 2]), column_of([7, 3]))})   # event 1 is of another type
>>> (found,) = run.advance(batch)
>>> found.value.pylist(), found.step.tolist(), found.time.tolist()
([7, 10], [0, 2], [0, 5])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem
from occurs.expr.tree import Ref
from occurs.model.time import TimeKind
from occurs.operators.process.columns import Col, Plain, Rec, column_of, concat, from_arrow, null_col
from occurs.operators.process.items import NO_ENDS, CallSteps, Ends, Items
from occurs.operators.process.network import Network
from occurs.operators.process.operator import Setting

# these register their operators
from occurs.operators.process.processors import (  # noqa: F401
    choosing,
    documents,
    formulas,
    fronts,
    machines,
    running,
    slices,
    windows,
)
from occurs.operators.process.state import Counts, State, Table
from occurs.operators.process.tree import (
    Attribute,
    Events,
    Lines,
    Pipe,
    Processor,
    every_node,
    line_source,
)

__all__ = ["PIECE", "Batch", "Emitted", "Run", "column_of", "from_arrow", "line_source", "pieces", "tuples"]


#: events that are worked on at a time
PIECE = 1 << 17


@dataclass(frozen=True)
class Batch:
    """The next events.

    ``time`` (n): their ticks, in the total order; the numbers of events go on from batch to batch.  ``sources``: per
    type the rows (ascending) that are events of it (None: all of them), and their items.  The lines of a file are
    events of the source :func:`line_source` of its path.
    """

    time: np.ndarray
    sources: Mapping[str, tuple[np.ndarray | None, Col]] = field(default_factory=dict)


class Emitted:
    """What a pipe gave in a call, in its order.

    ``value``: the items; ``step``, ``about``: numbers of events (closing counts as one more event); ``time``,
    ``about_time``: their ticks (``about_time`` None unless :class:`Run` was asked for it).  ``ended``: nothing more
    comes out of this pipe.
    """

    def __init__(self, parts: list[_Part], ended: bool) -> None:
        self._parts, self.ended = parts, ended

    def then(self, other: Emitted) -> Emitted:
        """With what the pipe gave in the next call."""
        return Emitted([*self._parts, *other._parts], other.ended)

    def __len__(self) -> int:
        return sum(len(p.step) for p in self._parts)

    # columns are put together when somebody asks for them

    @cached_property
    def value(self) -> Col:
        return concat([p.value for p in self._parts])

    @cached_property
    def step(self) -> np.ndarray:
        return _joined([p.step for p in self._parts])

    @property
    def last_step(self) -> int:
        """The greatest step (they never decrease); -1 without items."""
        return max((int(p.step[-1]) for p in self._parts if len(p.step)), default=-1)

    @cached_property
    def about(self) -> np.ndarray:
        return _joined([p.about for p in self._parts])

    @cached_property
    def time(self) -> np.ndarray:
        parts = [p for p in self._parts if len(p.step)] or self._parts[:1]
        if len(parts) == 1 or all(p.whole for p in parts):
            return _joined([p.time() for p in parts])
        out = np.empty(len(self), np.int64)
        first = 0
        for p in parts:  # none of them is kept beside the whole
            out[first : first + len(p.step)] = p.time()
            first += len(p.step)
        return out

    @cached_property
    def about_time(self) -> np.ndarray | None:
        found = [p.about_time for p in self._parts if p.about_time is not None]
        return _joined(found) if found else None


@dataclass(frozen=True)
class _Part:
    """What a piece of a batch gave.  ``whole``: an item per event."""

    value: Col
    step: np.ndarray
    about: np.ndarray
    time: Callable[[], np.ndarray]
    about_time: np.ndarray | None
    whole: bool


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """One behind another; nothing is copied if they stand so in memory."""
    parts = [p for p in parts if len(p)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    whole = parts[0].base
    if isinstance(whole, np.ndarray) and whole.flags.c_contiguous and whole.dtype == parts[0].dtype:
        starts = [p.ctypes.data for p in parts]
        ends = [at + p.nbytes for at, p in zip(starts, parts)]
        if starts[1:] == ends[:-1] and all(p.base is whole and p.flags.c_contiguous for p in parts):
            first = (starts[0] - whole.ctypes.data) // whole.itemsize
            return whole.reshape(-1)[first : first + sum(map(len, parts))]
    return np.concatenate(parts)


def tuples(table: pa.Table | pa.RecordBatch) -> Rec:
    """The rows of a table as items: all its columns."""
    columns = {n: from_arrow(table.column(n)) for n in table.schema.names}
    return Rec(columns, table.num_rows)


class Run:
    """Pipes, ready for the first event.  ``kind``: what times count (None: ticks without a unit); ``about``: times of
    the events that items speak of are wanted.

    Raises InputProblem for values that a box cannot take, DefinitionProblem for durations that have no meaning for the
    times.
    """

    def __init__(self, pipes: Sequence[Pipe], *, kind: TimeKind | None = None, about: bool = False) -> None:
        self.kind = TimeKind(False, None) if kind is None else kind
        self.about = about
        self.network = Network(pipes, Setting(self.kind))
        self._event = _asks_events(pipes)
        self.state = self.fresh()

    def fresh(self) -> State:
        """The state before the first event."""
        return State(
            count=Counts(), closed=Counts(), times=Table("step", "time"), outputs=Counts(), boxes=self.network.fresh()
        )

    # --- calls ----------------------------------------------------------------------------------------------------

    def advance(self, batch: Batch) -> list[Emitted]:
        """What these events complete, per pipe.  Raises InputProblem after the end."""
        found = [self._call(piece, NO_ENDS, piece.time) for piece in pieces(batch)]
        outputs = self.state["outputs"].upto(len(self.network.outputs))
        return [Emitted([f[k] for f in found], bool(outputs[k])) for k in range(len(outputs))]

    def close(self, time: int) -> list[Emitted]:
        """What the end decides; ``time``: the end of the clock."""
        first = int(self.state["count"].values[0])
        ends = Ends(np.zeros(1, np.int64), np.array([first]))
        found = self._call(Batch(np.zeros(0, np.int64)), ends, np.array([time]))
        self.state["closed"].values[0] = 1
        return [Emitted([f], True) for f in found]

    def _call(self, batch: Batch, ends: Ends, times: np.ndarray) -> list[_Part]:
        state = self.state
        if state["closed"].values[0]:
            raise InputProblem.of("bad-time", "an event arrived after the end of the trace")
        count = state["count"].values
        base = int(count[0])
        whole = np.arange(base, base + len(batch.time))
        call = CallSteps(base, times, whole=whole)
        known: dict[int, Items] = {}

        def source(processor: Processor) -> Items:
            found = known.get(id(processor))
            if found is None:
                found = known[id(processor)] = self._source(processor, batch, whole, ends)
            return found

        found = self.network.advance(state["boxes"], source, call)
        count[0] = base + len(batch.time)
        if self.about:
            self._remember(base, times)
        out = [self._emitted(k, items, call) for k, items in enumerate(found)]
        if self.about:
            self._forget()
        return out

    def _source(self, processor: Processor, batch: Batch, whole: np.ndarray, ends: Ends) -> Items:
        wanted: tuple[str, ...] = ()
        if isinstance(processor, Events):
            wanted = processor.types
        elif isinstance(processor, Lines):
            wanted = (processor.source,)
        there = [t for t in wanted if t in batch.sources and len(batch.sources[t][1])]
        if not there:
            return Items.none(ends)
        values = [self._items(t, batch) for t in there]
        rows = [r for r in (batch.sources[t][0] for t in there) if r is not None]
        if len(there) == 1:
            step = whole if not rows or len(rows[0]) == len(whole) else whole[rows[0]]
            return Items(values[0], step, step, None, ends)
        order = np.argsort(np.concatenate(rows), kind="stable")
        step = whole[np.concatenate(rows)[order]]
        return Items(_union(values).take(order), step, step, None, ends)

    def _items(self, type: str, batch: Batch) -> Col:
        rows, value = batch.sources[type]
        if not isinstance(value, Rec) or value.event is not None or not self._event:
            return value
        time = pa.array(batch.time if rows is None else batch.time[rows])
        if self.kind.timestamp:
            time = time.view(pa.timestamp("us", "UTC"))
        names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(value), np.int32)), pa.array([type]))
        return Rec(value.columns, len(value), value.valid, (Plain(names), Plain(time)))

    def _emitted(self, pipe: int, items: Items, call: CallSteps) -> _Part:
        if len(items.ends):
            self.state["outputs"].upto(pipe + 1)[pipe] = 1
        about_time = None
        if self.about:
            times: Table = self.state["times"]
            about_time = times["time"][np.searchsorted(times["step"], items.about)]
        time = partial(_times, call, items.step)
        return _Part(items.value, items.step, items.about, time, about_time, items.step is call.whole)

    # --- times of events that are spoken of -------------------------------------------------------------------------

    def _remember(self, base: int, times: np.ndarray) -> None:
        kept: Table = self.state["times"]
        step = np.concatenate([kept["step"], np.arange(base, base + len(times))])
        kept.put(step=step, time=np.concatenate([kept["time"], times]))

    def _forget(self) -> None:
        kept: Table = self.state["times"]
        needed = np.isin(kept["step"], self.state["boxes"].abouts())
        kept.put(step=kept["step"][needed], time=kept["time"][needed])

    # --- state ------------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, pa.Table]:
        """The state, as tables by name."""
        return self.state.tables()

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        """Go on from a saved state of the same pipes."""
        self.state = self.fresh()
        self.state.load(tables)

    def copy(self) -> Run:
        """An independent run that goes on from here."""
        new = object.__new__(Run)
        new.__dict__.update(self.__dict__)
        new.state = self.state.copy()
        return new

    def rows(self) -> int:
        """How many rows the state holds."""
        return self.state.rows()


def pieces(batch: Batch) -> Iterator[Batch]:
    """Parts of a batch that fit into the cache of a processor: the same comes out, sooner."""
    if len(batch.time) <= PIECE:
        yield batch
        return
    for first in range(0, len(batch.time), PIECE):
        last = min(first + PIECE, len(batch.time))
        sources: dict[str, tuple[np.ndarray | None, Col]] = {}
        for name, (rows, value) in batch.sources.items():
            if rows is None:
                sources[name] = None, value.slice(first, last)
            else:
                a, b = np.searchsorted(rows, (first, last)).tolist()
                sources[name] = rows[a:b] - first, value.slice(a, b)
        yield Batch(batch.time[first:last], sources)


def _times(call: CallSteps, step: np.ndarray) -> np.ndarray:
    if len(call.times) == 1:
        return np.full(len(step), call.times[0])
    return call.time(step if step is call.whole else np.maximum(step, call.base))


def _union(values: list[Col]) -> Col:
    """Items of several types: tuples with the attributes of all."""
    if not all(isinstance(v, Rec) for v in values):
        return concat(values)
    names = dict.fromkeys(n for v in values for n in v.columns)  # type: ignore[attr-defined]
    wide = []
    for v in values:
        assert isinstance(v, Rec)
        columns = {n: v.columns.get(n) or null_col(len(v)) for n in names}
        wide.append(Rec(columns, len(v), v.valid, v.event))
    return concat(wide)


def _asks_events(pipes: Sequence[Pipe]) -> bool:
    """Does a function look at the type or the time of events?"""
    names = {
        part.name
        for node in every_node(pipes)
        for function in node.processor.functions_within
        for part in function.walk()
        if isinstance(part, (Ref, Attribute))
    }
    return bool(names & {"type", "time"})
