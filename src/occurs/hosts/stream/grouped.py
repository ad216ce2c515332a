"""Rows and clocks for many buckets, in few records.

A record for every bucket from every task is tasks x buckets records, however few rows there are: 16 million for 4,000
of each.  So where there are many buckets, a task makes one record for a *group* of them, with the rows of all lanes and
with what the task knows of the clock.  A router takes the records of a group from many tasks, puts their rows together
bucket by bucket, and their clocks into one.  The rows cross once more between tasks for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.connect.sparkerrors import problems_in_text
from occurs.hosts.stream.clock import Clock, Ends
from occurs.hosts.stream.layout import Layout, Path
from occurs.hosts.stream.records import CLOCK, GROUPED, NAMES, ROWS, Record, batch, from_blob, records, to_blob

#: with more buckets they are grouped, so many at a time
DIRECT, GROUP = 256, 64
#: routers of a group, each for the records of some of the tasks
SLOTS = 4
#: rows that a router holds before it hands them on
HELD = 640_000

Batches = Iterator[pa.RecordBatch]


class Groups:
    """The rows of one task on their way to groups of buckets."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._rows: dict[int, list[Record]] = {}
        self._slot: int | None = None

    def add(self, path: Path, shares: Iterable[tuple[int, pa.Table]]) -> None:
        """Rows of a lane, group by group, with the column ``__bucket``."""
        for group, rows in shares:
            if self._slot is None:  # by the rows alone: a task that is repeated sends its records to the same router
                self._slot = int(rows.column("__time")[0].as_py()) % SLOTS
            self._rows.setdefault(group, []).append(Record(ROWS, group, path.lane.number, blob=to_blob(rows)))

    def packed(self, clock: Record | None = None) -> Batches:
        """What was added since the last time, a record for each group; with a ``clock``, for all groups."""
        found = []
        for group in self._rows if clock is None else range(self._layout.groups):
            inner = list(self._rows.get(group, ()))
            if clock is not None:  # the counts are for one group
                inner.append(uncounted(clock) if group else clock)
            found.append(Record(GROUPED, group, self._slot or 0, blob=to_blob(batch(inner))))
        self._rows = {}
        if found:
            yield batch(found)


def make_router(layout: Layout) -> Callable[[Batches], Batches]:
    """The function that ``mapInArrow`` runs: records of groups to records of buckets; all others pass."""

    def route(batches: Batches) -> Batches:
        with problems_in_text():
            yield from _Routing(layout).run(batches)

    return route


class _Routing:
    def __init__(self, layout: Layout):
        self._layout = layout
        self._rows: dict[tuple[int, int], list[pa.Table]] = {}
        self._held = 0
        #: by group what was seen, and a record with the sums of its counts
        self._clocks: dict[int, tuple[Clock, Ends, Record]] = {}

    def run(self, batches: Batches) -> Batches:
        for rows in batches:
            mine = np.asarray(rows.column(NAMES.index("kind"))) == GROUPED
            if not mine.all():
                yield rows.filter(pa.array(~mine))
            for record in records(rows.filter(pa.array(mine))):
                self._take(record)
                if self._held >= HELD:
                    yield batch(self._flushed())
        found = [*self._flushed(), *self._told()]
        if found:
            yield batch(found)

    def _take(self, record: Record) -> None:
        assert record.blob is not None
        for r in records(from_blob(record.blob)):
            if r.kind == CLOCK:
                self._see(record.bucket, r)
                continue
            assert r.blob is not None
            table = from_blob(r.blob)
            self._rows.setdefault((record.bucket, r.lane), []).append(table)
            self._held += table.num_rows

    def _see(self, group: int, r: Record) -> None:
        clock, ends, sums = self._clocks.get(group) or (Clock(0), Ends(), Record(CLOCK, group))
        clock.see(r.lo, r.hi)
        if r.blob is not None:
            ends.merge(r.blob)
        sums = replace(sums, rows=sums.rows + r.rows, bad=sums.bad + r.bad, closing=sums.closing or r.closing)
        sums = replace(sums, outside=sums.outside + r.outside, empty=sums.empty + r.empty)
        self._clocks[group] = clock, ends, sums

    def _flushed(self) -> Iterator[Record]:
        """The rows that are held, bucket by bucket."""
        for (_, lane), tables in self._rows.items():
            table = pa.concat_tables(tables, promote_options="permissive")
            if "__home" in table.column_names:  # where all rows of a task are counted, it does not say so
                at = table.column_names.index("__home")
                table = table.set_column(at, "__home", pc.fill_null(table.column(at), True))
            number = table.column("__bucket").to_numpy()
            order = np.argsort(number, kind="stable")
            number, table = number[order], table.drop_columns("__bucket").take(pa.array(order))
            for first, after in pairwise([0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]):
                blob = to_blob(table.slice(first, after - first).combine_chunks())
                yield Record(ROWS, self._layout.ids[number[first]], lane, blob=blob)
        self._rows, self._held = {}, 0

    def _told(self) -> Iterator[Record]:
        """The clocks, to every bucket of their groups; the counts to one."""
        size = self._layout.grouped
        for group, (clock, ends, sums) in self._clocks.items():
            told = replace(sums, lo=clock.least, hi=clock.newest, blob=ends.blob)
            for b in range(group * size, min((group + 1) * size, self._layout.buckets)):
                yield replace(told if b == 0 else uncounted(told), bucket=self._layout.ids[b])


def uncounted(clock: Record) -> Record:
    """A clock without counts, which one bucket gets."""
    return replace(clock, rows=0, bad=0, outside=0, empty=0)
