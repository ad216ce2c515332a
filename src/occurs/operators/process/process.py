"""The operator of a definition over pipes: its run goes on from call to call, its items are derived events (pipes.md,
section 5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem, Problem
from occurs.expr.tree import Expr, Ref
from occurs.model.labels import Labels
from occurs.model.source import LINE
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type
from occurs.operators.blocks import Block, Identity, Reasons
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Operator, Outcome
from occurs.operators.merging import END, INSTANT, Stream, constant, merged
from occurs.operators.process import run as pipes
from occurs.operators.process import tree
from occurs.operators.process.columns import Col, Plain, Rec, from_arrow
from occurs.operators.process.items import ranges
from occurs.operators.process.kinds import Kind
from occurs.operators.process.outputs import columns
from occurs.operators.process.tree import Pipe
from occurs.operators.rows import attributes_of
from occurs.operators.states import Own, State


@dataclass(frozen=True, eq=False)
class Process(Operator):
    """The items of ``pipe``, which are of the type ``item``.

    ``about``: its rows say what event they speak of; ``lines``: types whose events are lines of files; ``because``:
    constituents are wanted with their attributes.
    """

    pipe: Pipe
    item: Kind
    kind: TimeKind
    about: bool = False
    lines: frozenset[str] = frozenset()
    because: bool = False

    @property
    def needs_places(self) -> bool:
        """The rows of one type are in order as they are."""
        return len(self.ports) > 1

    @cached_property
    def looked_at(self) -> frozenset[str] | None:
        """The attributes of events that it looks at; None: all."""
        return looked_at([self.pipe]) if self.reading is None else None

    @cached_property
    def reading(self) -> Reading | None:
        """What its items are made of, if that is wanted and the graph says it."""
        return reading_of(self.pipe) if self.because else None

    def fresh(self) -> State:
        return Own(self.identity, Running(self))

    def restored(self, saved: Mapping[str, Mapping[str, pa.Table]]) -> State:
        kept = Running(self)
        kept.load(saved[self.identity])
        return Own(self.identity, kept)

    def advance(self, state: Own, call: Call) -> Outcome:
        """The items that the new rows complete, and, if the history ends, those that the end decides."""
        kept: Running = state.kept
        stream = merged(call)
        first, n = kept.steps, len(stream.time)
        name = self.outs[0].type
        try:
            found = kept.run.advance(pipes.Batch(stream.time, _sources(stream, self.lines, self.looked_at)))
            if call.closing:
                found = [a.then(b) for a, b in zip(found, kept.run.close(call.frontier))]
            items, *read = found
            values = columns(items.value, self.item)
        except InputProblem as error:
            raise InputProblem([_of(p, name) for p in error.problems]) from error
        kept.steps += n
        at = _places(items, stream, first)
        if self.about:
            assert items.about_time is not None
            values["about"] = Column(Type.TIMESTAMP if self.kind.timestamp else Type.INT, items.about_time, None)
        block = Block(self.outs, items.time, values, at=at)
        if call.labelled:
            origin = self._origin(items, kept, stream, first, read)
            block = replace(block, identity=origin.identity, reasons=origin.reasons)
        return Outcome([block])

    def _origin(
        self, items: pipes.Emitted, kept: Running, stream: Stream, first: int, read: Sequence[pipes.Emitted]
    ) -> Origin:
        """What the items of a call come from; ``kept`` goes on.  ``read``: the new items of what they are made of, if
        that is asked for."""
        events = pa.concat_tables([kept.spoken, _events(stream, first, self.because)]).combine_chunks()
        steps = events.column("step").to_numpy()
        step = np.searchsorted(steps, items.step)
        step[items.step >= first + len(stream.time)] = -1
        spoken = np.searchsorted(steps, items.about)
        needed = np.isin(steps, kept.run.state["boxes"].abouts())
        made_of = None
        if read:
            assert self.reading is not None
            made_of = _made_of(self.reading, items, read[0], kept, steps, first + len(stream.time))
            needed |= np.isin(steps, kept.read.column("step").to_numpy())
        kept.spoken = events.filter(pa.array(needed))
        return Origin(events, items.time, step, spoken, made_of)


@dataclass(frozen=True)
class Origin:
    """The events that items come from: those of this call and those that are spoken of, as :class:`Running` has them.

    ``step`` and ``spoken``: for each item the row there of the event that completed it (-1: the end of the history) and
    of the one that it speaks of; ``time``: of the item.  ``made_of``: what it was made of.
    """

    events: pa.Table
    time: np.ndarray
    step: np.ndarray
    spoken: np.ndarray
    made_of: MadeOf | None

    def identity(self) -> Identity:
        """An item is known by the event of its step and the event that it speaks of.  What the end decides has no event
        of a step, but a time."""
        hi, lo = (self.events.column(n).to_numpy() for n in ("hi", "lo"))
        ended = self.step < 0
        parts = []
        for rows in (np.where(ended, self.spoken, self.step), self.spoken):
            parts.append(Labels(hi[rows], lo[rows]) if len(rows) else Labels(hi[:0], lo[:0]))
        time = np.where(ended, self.time, 0)
        return Identity(parts, values={"end": pa.array(time, pa.int64(), mask=~ended)} if ended.any() else {})

    def reasons(self, chosen: np.ndarray) -> Reasons:
        """Per item the event that completed it (none at the end of a history), the one that it speaks of, and the items
        of its window, or the interval of all that it sums up."""
        made_of = None if self.made_of is None else self.made_of.take(chosen)
        n = len(chosen)
        number, rows = np.tile(np.arange(n), 2), np.concatenate([self.step[chosen], self.spoken[chosen]])
        role = np.repeat(["step", "about"], n)
        order = np.repeat([0, 1], n)
        end, has_end = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.bool_)
        if made_of is not None:
            more = made_of.listed()
            number, rows = np.concatenate([number, more.number]), np.concatenate([rows, more.row])
            role, order = np.concatenate([role, more.role]), np.concatenate([order, 2 + more.place])
            end, has_end = np.concatenate([end, more.end]), np.concatenate([has_end, more.sums])
        there = np.flatnonzero(rows >= 0)
        there = there[np.lexsort((order[there], number[there]))]
        found = self.events.take(pa.array(rows[there]))
        labels = Labels(found.column("hi").to_numpy(), found.column("lo").to_numpy()).hex().cast(pa.string())
        text, time = found.column("attributes").combine_chunks(), found.column("time").to_numpy()
        if made_of is not None and made_of.count is not None:
            sums = pa.array(has_end[there])
            labels = pc.if_else(sums, pa.scalar(None, pa.string()), labels)
            counted = [f'{{"rows": {c}}}' for c in made_of.count[number[there]].tolist()]
            text = pc.if_else(sums, pa.array(counted, pa.string()), text)
            time = np.where(has_end[there], made_of.first, time)
        return Reasons(
            np.searchsorted(number[there], np.arange(n + 1)),
            pa.array(role[there].tolist(), pa.string()),
            found.column("type").combine_chunks(),
            time,
            labels,
            text,
            end[there],
            has_end[there],
        )


@dataclass(frozen=True)
class MadeOf:
    """What items were made of: of item i the items ``low[i]`` to before ``high[i]`` of those read, of which ``row`` is
    the event (a row of ``events``), and ``time`` the time.

    ``count``: how many were read in all, if an item sums up all of them, from the time ``first`` on; else None.
    """

    low: np.ndarray
    high: np.ndarray
    row: np.ndarray
    time: np.ndarray
    count: np.ndarray | None = None
    first: int = 0

    def take(self, at: np.ndarray) -> MadeOf:
        """The same for some of the items."""
        count = None if self.count is None else self.count[at]
        return replace(self, low=self.low[at], high=self.high[at], count=count)

    def listed(self) -> _Listed:
        """One behind the other; of a sum its last item."""
        low = self.low if self.count is None else np.maximum(self.high - 1, 0)
        size = self.high - low
        number, at = ranges(low, size)
        place = at - low[number]
        sums = np.full(len(at), self.count is not None)
        role = np.array(["items" if self.count is not None else f"item[{k}]" for k in place.tolist()], object)
        return _Listed(number, place, self.row[at], role, self.time[at], sums)


@dataclass(frozen=True)
class _Listed:
    number: np.ndarray
    place: np.ndarray
    row: np.ndarray
    role: np.ndarray
    end: np.ndarray
    sums: np.ndarray


# --- The state --------------------------------------------------------------------------------------------------------


#: the saved table with the events that pending items speak of
_SPOKEN = "spoken"
#: and the one with the items that windows may still hold
_READ = "read"
_NOTHING_READ = pa.schema([(n, pa.int64()) for n in ("step", "time", "count", "first")]).empty_table()


class Running:
    """A run of pipes with what the engine keeps beside it.

    ``spoken``: of the events that items still speak of the step, time, type, label and attributes, if labels are
    wanted.  ``read``: the items that a window may still hold, if constituents are wanted: their ``step`` and ``time``;
    their number in all (``count``) and the ``first`` time are in every row.
    """

    def __init__(self, of: Process) -> None:
        read = [] if of.reading is None else [of.reading.pipe]
        self.run = pipes.Run([of.pipe, *read], kind=of.kind, about=of.about)
        self.steps = 0
        self.spoken = _no_events()
        self.read = _NOTHING_READ

    @property
    def size(self) -> int:
        """How many rows are kept."""
        return self.run.rows() + len(self.spoken) + len(self.read)

    def copy(self) -> Running:
        """The same, apart from this one."""
        new: Running = object.__new__(Running)
        new.__dict__.update(self.__dict__)
        new.run = self.run.copy()
        return new

    def saved(self) -> dict[str, pa.Table]:
        """As tables by name."""
        steps = pa.table({"steps": pa.array([self.steps], pa.int64())})
        read = {_READ: self.read} if len(self.read) else {}
        return {**self.run.save(), _SPOKEN: self.spoken, "steps": steps, **read}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        """Go on from what was saved."""
        mine = (_SPOKEN, "steps", _READ)
        self.run.load({n: t for n, t in tables.items() if n not in mine})
        self.spoken = tables[_SPOKEN] if _SPOKEN in tables else _no_events()
        self.read = tables.get(_READ, _NOTHING_READ)
        self.steps = int(tables["steps"].column("steps")[0].as_py())


def _no_events() -> pa.Table:
    names = {"step": pa.int64(), "time": pa.int64(), "type": pa.string(), "hi": pa.uint64(), "lo": pa.uint64()}
    return pa.schema([*names.items(), ("attributes", pa.string())]).empty_table()


# --- What items are made of, as far as the graph says it: the items of one window, or all so far ----------------------


#: boxes whose items depend on all items before
RUNNING = (tree.Cumulate, tree.Moment, tree.Deviation, tree.Count, tree.Collect)
#: boxes whose items depend on one front each
_PASSING = (tree.Lift, tree.Where)


@dataclass(frozen=True)
class Reading:
    """An item depends on the items of ``pipe`` up to its step: the last ``width`` (an int), those of the last ``width``
    of time, or all of them (None)."""

    pipe: Pipe
    width: int | Duration | None


def reading_of(pipe: Pipe) -> Reading | None:
    """What the items of ``pipe`` depend on; None if they depend on one event each, or on more than one such pipe."""
    node = pipe.node
    while isinstance(node.processor, _PASSING) and len({id(i.node) for i in node.inputs}) == 1:
        node = node.inputs[0].node
    if isinstance(node.processor, tree.Window) and len(node.inputs) == 1:
        return Reading(node.inputs[0], node.processor.width)
    if isinstance(node.processor, RUNNING):
        return Reading(node.inputs[0], None)
    return None


def _made_of(
    reading: Reading, items: pipes.Emitted, new: pipes.Emitted, kept: Running, steps: np.ndarray, stop: int
) -> MadeOf:
    """What the items of a call are made of; ``kept.read`` goes on.  ``steps``: of the events at hand; ``stop``: behind
    the last event."""
    old, known = kept.read, len(kept.read)
    there = new.step < stop  # what closing adds has no event
    step = np.concatenate([old.column("step").to_numpy(), new.step[there]])
    time = np.concatenate([old.column("time").to_numpy(), new.time[there]])
    before = int(old.column("count")[0].as_py()) if known else 0
    high = np.searchsorted(step, items.step, side="right")
    row = np.searchsorted(steps, step)
    if reading.width is None:
        first = int(old.column("first")[0].as_py()) if known else int(time[0]) if len(time) else 0
        found = MadeOf(np.zeros_like(high), high, row, time, before - known + high, first)
        keep = max(len(step) - 1, 0)
    elif isinstance(reading.width, int):
        found, first = MadeOf(np.maximum(high - reading.width, 0), high, row, time), 0
        keep = max(len(step) - reading.width + 1, 0)
    else:
        ticks = ticks_of(reading.width, kept.run.kind)
        found, first = MadeOf(np.searchsorted(time, items.time - ticks, side="right"), high, row, time), 0
        keep = int(np.searchsorted(time, time[-1] - ticks, side="right")) if len(time) else 0
    size = len(step) - keep
    constant = [pa.array(np.full(size, v, np.int64)) for v in (before - known + len(step), first)]
    kept.read = pa.table([pa.array(step[keep:]), pa.array(time[keep:]), *constant], schema=_NOTHING_READ.schema)
    return found


# --- What is looked at ------------------------------------------------------------------------------------------------


def looked_at(outputs: Sequence[Pipe], source: type[tree.Processor] = tree.Events) -> frozenset[str] | None:
    """The attributes of the items of ``source`` that functions look at; None if an item goes on as a whole."""
    names: set[str] = set()
    if any(isinstance(p.node.processor, source) for p in outputs):
        return None
    for node in tree.nodes(outputs):
        at = [k for k, p in enumerate(node.inputs) if isinstance(p.node.processor, source)]
        p = node.processor
        if not at:
            continue
        if isinstance(p, tree.Lift):
            functions: Sequence[Expr] = p.functions_within
        elif isinstance(p, tree.Slice):
            functions = [p.key]
            inside = looked_at(p.inner.outputs, tree.Placeholder)
            if inside is None:
                return None
            names |= inside
        else:
            return None
        for function in functions:
            parts = list(function.walk())
            names |= {part.name for part in parts if isinstance(part, (Ref, tree.Attribute))}
            whole = sum(isinstance(part, tree.Input) for part in parts)
            if whole != sum(isinstance(part, tree.Attribute) and isinstance(part.of, tree.Input) for part in parts):
                return None
    return frozenset(names)


def ticks_of(width: Duration, kind: TimeKind) -> int:
    """A duration in whole ticks, rounded up, as windows of time take it."""
    found = kind.convert(width)
    assert found is not None
    return -(-found.numerator // found.denominator)


def _places(items: pipes.Emitted, stream: Stream, first: int) -> np.ndarray | None:
    """The place within its instant of every item; None: they come when it is complete.  ``first``: the number of the
    first event of the stream; what closing adds comes behind all of them."""
    at, n = stream.at, len(stream.time)
    if items.last_step < first + n:
        if n and (at.strides == (0,) or n == 1):
            place = int(at[0])
            return None if place == INSTANT else constant(place, len(items))
        return at[np.maximum(items.step - first, 0)]
    early = int(np.searchsorted(items.step, first + n)) if n else 0
    if not early:
        return constant(END, len(items))
    out = np.full(len(items), END, np.int64)
    out[:early] = at[np.maximum(items.step[:early] - first, 0)]
    return out


# --- The events of a call ---------------------------------------------------------------------------------------------


def _sources(
    stream: Stream, lines: Collection[str], names: Collection[str] | None
) -> dict[str, tuple[np.ndarray | None, Col]]:
    """Per type the events of a stream that are of it: tuples of their attributes (of those that ``names`` has; None:
    of all), or the texts that ``lines`` are."""
    out: dict[str, tuple[np.ndarray | None, Col]] = {}
    for number, t in enumerate(stream.types):
        part, rows = stream.rows[t], None
        if stream.only is None:
            rows = np.flatnonzero(stream.type == number)
            order = stream.row[rows]
            if len(order) and (order[1:] < order[:-1]).any():
                part = part.take(order)
        elif number != stream.only:
            continue
        chosen = part.columns if names is None or t in lines else [n for n in part.columns if n in names]
        attributes = {n: _items(part.columns[n]) for n in chosen}
        out[t] = rows, attributes[LINE] if t in lines else Rec(attributes, len(part))
    return out


def _items(column: Column) -> Col:
    """A column of rows as one of items."""
    if column.type in _NUMBERS and column.valid is None:
        return Plain(None, column.values)
    return from_arrow(column.texts if column.type is Type.STRING else column.output())


_NUMBERS = (Type.INT, Type.FLOAT, Type.BOOL)


def _events(stream: Stream, first: int, attributes: bool) -> pa.Table:
    """The events of a call: step, time, type, label; ``attributes``: and these as text, else null."""
    n = len(stream.time)
    hi, lo = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    for number, t in enumerate(stream.types):
        rows = np.flatnonzero(stream.type == number)
        labels = stream.rows[t].labels
        if labels is not None and len(rows):
            hi[rows], lo[rows] = labels.hi[stream.row[rows]], labels.lo[stream.row[rows]]
    types = pa.array(list(stream.types), pa.string()).take(pa.array(stream.type))
    steps = pa.array(np.arange(first, first + n))
    texts = _attributes(stream) if attributes else pa.nulls(n, pa.string())
    arrays = [steps, pa.array(stream.time, pa.int64()), types, pa.array(hi), pa.array(lo), texts]
    return pa.Table.from_arrays(arrays, schema=_no_events().schema)


def _attributes(stream: Stream) -> pa.Array:
    """The attributes of the events of a call as JSON objects."""
    rows = [np.flatnonzero(stream.type == number) for number in range(len(stream.types))]
    texts = [attributes_of(stream.rows[t], stream.row[at]) for t, at in zip(stream.types, rows, strict=True)]
    if not texts:
        return pa.array([], pa.string())
    return pa.concat_arrays(texts).take(pa.array(np.argsort(np.concatenate(rows))))


def _of(problem: Problem, definition: str) -> Problem:
    """A problem of a definition."""
    return replace(problem, definition=definition, message=f"`{definition}`: {problem.message}")
