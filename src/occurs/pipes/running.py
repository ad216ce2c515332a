"""Pipes that run: by push, by pull, on whole columns (pipes.md, 2.3).

All three run the engine of pipes (:mod:`occurs.operators.process.run`) over the graph that a pipe is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem, UsageProblem, did_you_mean
from occurs.model.ticks import time_unit
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.operators.process.columns import Col, concat
from occurs.operators.process.network import fused
from occurs.operators.process.run import PIECE, Batch, Emitted, Run, pieces, tuples
from occurs.operators.process.typing import need_variables
from occurs.operators.process.values import as_python
from occurs.pipes.constants import Word
from occurs.pipes.sources import like, source_column, source_kinds, source_tuples

if TYPE_CHECKING:
    from occurs.pipes.pipe import Pipe

#: YES and NO are also true and false
YES, NO, MAYBE, END = Word("YES", True), Word("NO", False), Word("MAYBE"), Word("END")


def ticks(unit: str | None) -> TimeKind:
    """What integer times count, such as the numbers of pushes; None: nothing is said of it."""
    time_unit(unit)
    return TimeKind(False, unit)


def types_of(pipe: Pipe) -> list[str]:
    """The event types that a pipe reads, in the order in which they are met."""
    return list(source_kinds(pipe.graph))


def _one_type(pipe: Pipe) -> str:
    types = types_of(pipe)
    if len(types) != 1:
        raise UsageProblem.of("unknown-name", f"there are several sources, name one: {', '.join(types)}")
    return types[0]


class Push:
    """A fresh run into which values are pushed.  Their order is that of the pushes."""

    def __init__(self, pipe: Pipe, time_unit: str | None = None) -> None:
        need_variables(pipe.graph)
        self._kinds = source_kinds(pipe.graph)
        self._types = list(self._kinds)
        self._default = self._types[0] if len(self._types) == 1 else None
        self._run = Run(fused([pipe.graph]), kind=ticks(time_unit))
        self._pushed = dict.fromkeys(self._types, 0)
        self._last: int | None = None
        self._callbacks: list[Callable[[Any], Any]] = []
        #: nothing more comes out
        self.over = False
        self._closed = False

    def on_event(self, callback: Callable[[Any], Any]) -> None:
        """Call it with every value that comes out."""
        self._callbacks.append(callback)

    def push(self, value: Any, to: str | None = None, time: int | None = None) -> list[Any]:
        """What came out because of this value; ``to``: the source, if there are several; ``time``: in ticks, by default
        the number of pushes so far to that source.

        InputProblem after the end, and if time runs back.
        """
        name = self._source(to)
        if self._closed:
            raise InputProblem.of("bad-time", "a value was pushed after the end of the trace", value=value)
        at = self._time(name, time)
        rows = np.zeros(1, np.int64)
        item = source_column([value], self._kinds[name], name, self._pushed[name])
        (found,) = self._run.advance(Batch(np.array([at]), {name: (rows, item)}))
        self._pushed[name] += 1
        self._last = at
        return self._out(found)

    def end(self) -> list[Any]:
        """What came out because nothing comes any more; InputProblem if that is known already."""
        if self._closed:
            raise InputProblem.of("bad-time", "the trace has ended already")
        self._closed = True
        (found,) = self._run.close(0 if self._last is None else self._last)
        out = self._out(found)
        self.over = True
        return out

    def _source(self, to: str | None) -> str:
        name = self._default if to is None else to
        if name is None:
            raise UsageProblem.of("unknown-name", f"there are several sources, name one: {', '.join(self._types)}")
        if name not in self._pushed:
            hint = did_you_mean(name, self._types, "sources")
            raise UsageProblem.of("unknown-name", f"there is no source `{name}`", hint=hint)
        return name

    def _time(self, name: str, time: int | None) -> int:
        if time is None:
            # sources without times of their own keep pace with the others
            return max(self._pushed[name], self._last or 0) if len(self._types) > 1 else self._next(name)
        if self._last is not None and time < self._last:
            raise InputProblem.of("bad-time", f"times must not decrease: {time} follows {self._last}", value=time)
        return time

    def _next(self, name: str) -> int:
        return self._pushed[name] if self._last is None else max(self._pushed[name], self._last)

    def _out(self, found: Emitted) -> list[Any]:
        self.over = found.ended
        values = [as_python(v) for v in found.value.pylist()]
        for value in values:
            for callback in self._callbacks:
                callback(value)
        return values


class Pull:
    """An iterator over the output.  One crank takes the next item of every source that still has one, in the order of
    their names (the order of events of one time), or ends."""

    def __init__(
        self, pipe: Pipe, sources: Mapping[str, Iterable[Any]] | Iterable[Any], time_unit: str | None = None
    ) -> None:
        whole = sources if isinstance(sources, Mapping) else {_one_type(pipe): sources}
        self._push = Push(pipe, time_unit)
        self._left: dict[str, Iterator[Any]] = {_known(pipe, name): iter(whole[name]) for name in sorted(whole)}
        self._waiting: deque[Any] = deque()
        self._cranks = 0
        self._ended = False
        #: what ``has_next_soft`` has said since the last value was taken
        self._said: Word | None = None

    def __iter__(self) -> Pull:
        return self

    def __next__(self) -> Any:
        if self.has_next() is NO:
            raise StopIteration
        self._said = None
        return self._waiting.popleft()

    def has_next_soft(self) -> Word:
        """YES, NO, or MAYBE: cranks once if nothing is waiting."""
        if not self._waiting and not self._ended:
            self._crank()
        self._said = YES if self._waiting else NO if self._ended else MAYBE
        return self._said

    def next_soft(self) -> Any:
        """A value, MAYBE, or END: what ``has_next_soft`` found; else cranks once."""
        found = self.has_next_soft() if self._said is None else self._said
        self._said = None
        return self._waiting.popleft() if found is YES else END if found is NO else MAYBE

    def has_next(self) -> Word:
        """YES or NO: cranks until there is a value, or the trace has ended."""
        found = self.has_next_soft()
        while found is MAYBE:
            found = self.has_next_soft()
        return found

    def _crank(self) -> None:
        took = False
        for name, some in list(self._left.items()):
            try:
                value = next(some)
            except StopIteration:
                del self._left[name]
                continue
            took = True
            self._waiting += self._push.push(value, name, self._cranks)
            if self._push.over:
                break
        self._cranks += 1
        if not took:
            self._waiting += self._push.end()
        self._ended = self._push.over


def _known(pipe: Pipe, name: str) -> str:
    types = types_of(pipe)
    if name not in types:
        hint = did_you_mean(name, types, "sources")
        raise UsageProblem.of("unknown-name", f"there is no source `{name}`", hint=hint)
    return name


def run(pipe: Pipe, sources: Any, ended: bool = True, time_unit: str | None = None) -> Any:
    """The values of the output for whole sources, in the form in which they come in (Arrow, NumPy, lists).

    ``sources``: a column per source, item i of each at time i; or a table (its columns ``time`` and ``type``, if it has
    them, say when and of which source; without ``time`` row i is at time i), or a table per source.  ``time_unit``:
    what one tick is, where times are integers.
    """
    need_variables(pipe.graph)
    batches, columns, timestamps = _batches(pipe, sources)
    engine = Run(fused([pipe.graph]), kind=TIMESTAMP if timestamps else ticks(time_unit))
    parts: list[Col] = []
    now = 0
    for batch in batches:
        # only values are asked for: what else there is of a piece goes before the next one comes
        (found,) = engine.advance(batch)
        parts.append(found.value)
        now = int(batch.time[-1]) if len(batch.time) else now
    if ended:
        (last,) = engine.close(now)
        parts.append(last.value)
    full = [p for p in parts if len(p)]
    return like(concat(full) if full else parts[0], columns)


def _batches(pipe: Pipe, sources: Any) -> tuple[Iterator[Batch], list[Any], bool]:
    """All events in the total order, the columns that decide the form of the answer, and whether times are timestamps.

    InputProblem if some are and some are not.
    """
    if not isinstance(sources, Mapping):
        table = _arrow(sources)
        if table is None:
            sources = {_one_type(pipe): sources}
        elif "type" in table.schema.names:
            types = table.column("type")
            sources = {
                t: table.filter(pc.equal(types, t)).drop_columns(["type"])
                for t in types_of(pipe)
                if t in set(types.to_pylist())
            }
        else:
            sources = {_one_type(pipe): table}
    names = sorted(_known(pipe, n) for n in sources)
    kinds = source_kinds(pipe.graph)
    times: list[np.ndarray | range] = []
    values: list[Col] = []
    forms: list[Any] = []
    timestamps: dict[str, bool] = {}
    for name in names:
        table = _arrow(sources[name])
        if table is None:
            some = sources[name]
            some = some if hasattr(some, "__len__") else list(some)
            values.append(source_column(some, kinds[name], name))
            times.append(range(len(values[-1])))
            timestamps[name] = False
            forms.append(some)
        else:
            rest = table.drop_columns(["time"]) if "time" in table.schema.names else table
            values.append(source_tuples(tuples(rest), kinds[name], name))
            times.append(_times(table))
            timestamps[name] = "time" in table.schema.names and pa.types.is_timestamp(table.schema.field("time").type)
            forms.append(table.column(0) if table.num_columns else table)
    if len(set(timestamps.values())) > 1:
        words = ", ".join(f"{n}: {'timestamps' if t else 'integers'}" for n, t in timestamps.items())
        raise InputProblem.of("bad-time", f"the times of all sources must be of one kind, not {words}")
    if len(names) == 1 and isinstance(times[0], range):
        return _numbered(names[0], values[0]), forms, False
    return pieces(_in_order(names, [np.asarray(t) for t in times], values)), forms, any(timestamps.values())


def _numbered(name: str, value: Col) -> Iterator[Batch]:
    """Items of one source at the times 0, 1, 2 .., piece by piece."""
    places = np.arange(min(PIECE, len(value)))
    for first in range(0, max(len(value), 1), PIECE):
        last = min(first + PIECE, len(value))
        yield Batch(places[: last - first] + first, {name: (None, value.slice(first, last))})


def _in_order(names: list[str], times: list[np.ndarray], values: list[Col]) -> Batch:
    """The events of some types in their total order: by time, then by the order of the types."""
    if len(names) == 1 and not (times[0][1:] < times[0][:-1]).any():
        return Batch(times[0], {names[0]: (None, values[0])})
    together = np.concatenate(times) if times else np.zeros(0, np.int64)
    order = np.argsort(together, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    sources = {}
    first = 0
    for name, when, value in zip(names, times, values):
        rows = places[first : first + len(when)]
        first += len(when)
        ascending = np.argsort(rows, kind="stable")
        sources[name] = (rows[ascending], value.take(ascending))
    return Batch(together[order], sources)


def _arrow(table: Any) -> pa.Table | None:
    """A table of Arrow, pandas or Polars as one of Arrow."""
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if hasattr(table, "to_arrow"):
        return table.to_arrow()
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return pa.Table.from_pandas(table, preserve_index=False)
    return None


def _times(table: pa.Table) -> np.ndarray | range:
    if "time" not in table.schema.names:
        return range(table.num_rows)
    times = table.column("time")
    if times.null_count:
        raise InputProblem.of("bad-time", "a row has no time")
    try:
        if pa.types.is_timestamp(times.type):
            times = times.cast(pa.timestamp("us", "UTC"))
        return times.combine_chunks().cast(pa.int64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputProblem.of("bad-time", f"the column `time` does not hold times: {error}") from error
