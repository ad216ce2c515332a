"""What a Spark task runs: rows in order of time through engines, detections out, call by call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import ClassVar

import numpy as np
import pyarrow as pa

from occurs.connect.sparkerrors import problems_in_text
from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.hosts.spark.shipped import Shipped
from occurs.hosts.spark.wide import Inlet, Wide, wide_rows
from occurs.hosts.windows import Asked, answers
from occurs.plan.stage import Stage

#: rows that an engine gets per call
BUDGET = 250_000


@dataclass(frozen=True)
class Share:
    """What one engine does: ``stage`` over the rows within ``clock``, of which those before ``emit_from`` only fill the
    past.  ``asked``: in window mode the queries."""

    stage: Stage
    clock: tuple[int, int]
    emit_from: int
    asked: Asked | None = None


class Tally:
    """Instead of detections: what definitions count of their input, per call.  ``who``: the same for a stage."""

    ddl: ClassVar[str] = "who string, what string, n bigint"

    def batches(self, found: TypeRows, stage: Stage) -> Iterator[pa.RecordBatch]:
        """As :meth:`Wide.batches`."""
        if found.counts:
            who = min(d.identity for d in stage.definitions)
            yield pa.RecordBatch.from_pylist([{"who": who, "what": t, "n": n} for t, n in found.counts.items()])


def make_engine_task(
    shares: Sequence[Share], wide: Wide | Tally, inlets: Sequence[Inlet], labelled: bool, ended: bool = True
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that ``mapInArrow`` runs over a partition.

    Rows are sorted by time.  With a column ``__share`` they are sorted by it first, and it says which of ``shares`` a
    row is for; without it there is one.  ``ended``: behind the last row nothing comes, so what holds there is given.
    """
    return Work(tuple(shares), wide, tuple(inlets), labelled, ended).run


@dataclass(frozen=True)
class Work(Shipped):
    """What every task of a job does."""

    shares: tuple[Share, ...]
    wide: Wide | Tally
    inlets: tuple[Inlet, ...]
    labelled: bool
    ended: bool

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition to their detections."""
        with problems_in_text():
            if len(self.shares) == 1:
                yield from self._stream(self.shares[0], batches)
            elif self.shares:
                for number, part in _by_share(batches):
                    yield from self._stream(self.shares[number], part)

    def _stream(self, share: Share, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _stream(share, self.wide, self.inlets, self.labelled, self.ended, batches)


def _by_share(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Iterator[pa.RecordBatch]]]:
    """Runs of equal ``__share``, in order; each must be used up before the next."""
    waiting: list[tuple[int, pa.RecordBatch]] = []

    def pieces() -> Iterator[tuple[int, pa.RecordBatch]]:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            number = batch.column(batch.schema.get_field_index("__share")).to_numpy()
            cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
            for a, b in pairwise(cuts):
                yield int(number[a]), batch.slice(a, b - a)

    source = pieces()
    first = next(source, None)
    if first is not None:
        waiting.append(first)
    while waiting:
        number = waiting[0][0]

        def own(number: int = number) -> Iterator[pa.RecordBatch]:
            while waiting and waiting[0][0] == number:
                yield waiting.pop()[1]
                following = next(source, None)
                if following is not None:
                    waiting.append(following)

        yield number, own()


def _stream(
    share: Share,
    wide: Wide | Tally,
    inlets: Sequence[Inlet],
    labelled: bool,
    ended: bool,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Rows in time order through an engine: it holds the retention and the rows of one call."""
    engine = Engine(share.stage, labelled=labelled)
    if share.asked is not None:
        calls = ((at, wide_rows(share.stage, inlets, table, labelled)) for at, table in _some(batches, share.asked))
        for found in answers(engine, calls, share.asked, share.clock[0], BUDGET):
            yield from wide.batches(found, share.stage)
        return
    until = share.clock[1]
    for frontier, table in in_calls(batches, until):
        yield from _call(share, wide, inlets, labelled, engine, table, frontier, ended and frontier == until)


def _some(batches: Iterator[pa.RecordBatch], asked: Asked) -> Iterator[tuple[int, pa.Table | None]]:
    """The calls up to the last query; none where there are no rows, so that nobody asks there again and again."""
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is not None:
        yield from in_calls(chain([first], batches), asked.at[-1])


def in_calls(batches: Iterator[pa.RecordBatch], until: int) -> Iterator[tuple[int, pa.Table | None]]:
    """(frontier, the rows up to it): about ``BUDGET`` rows each, instants whole; the last one at ``until``."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        held.append(batch)
        rows += batch.num_rows
        if rows < BUDGET:
            continue
        table = pa.Table.from_batches(held)
        time = table.column("__time").to_numpy()
        at = int(np.searchsorted(time, time[-1], side="left"))
        if at == 0:
            continue
        yield int(time[-1]) - 1, table.slice(0, at)
        held = table.slice(at).to_batches()
        rows = table.num_rows - at
    yield until, pa.Table.from_batches(held) if held else None


def _call(
    share: Share,
    wide: Wide | Tally,
    inlets: Sequence[Inlet],
    labelled: bool,
    engine: Engine,
    table: pa.Table | None,
    frontier: int,
    closing: bool,
) -> Iterator[pa.RecordBatch]:
    rows = wide_rows(share.stage, inlets, table, labelled)
    (start, _), emit_from, done = share.clock, share.emit_from, engine.state.frontier
    if emit_from > start and (done is None or done < emit_from - 1):
        before = {t: r.slice(0, int(np.searchsorted(r.time, emit_from))) for t, r in rows.items()}
        engine.advance(before, min(frontier, emit_from - 1), start)
        if frontier < emit_from:
            return
        rows = {t: r.slice(int(np.searchsorted(r.time, emit_from))) for t, r in rows.items()}
    yield from wide.batches(engine.advance(rows, frontier, start, closing=closing), share.stage)
