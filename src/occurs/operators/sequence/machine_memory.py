"""What the machine of patterns keeps between calls: arrays that calls change in place, and tables that are saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from occurs.operators.kernels import pattern_tables as T
from occurs.operators.merging import Stream
from occurs.operators.sequence.machine_arrays import Work, kept_rows, key_texts, state_of, work_of
from occurs.operators.sequence.machine_events import Pool
from occurs.operators.sequence.machine_program import Layout
from occurs.operators.sequence.match_rows import State

if TYPE_CHECKING:
    from occurs.operators.sequence.machine import Machine

#: what is kept is put in order when it has more than twice as many events, or texts, as are needed, and so many more
SPARE = 1 << 8
#: and when so many times as many instances were started, and matches found, as there were instances and events
WORK = 8
#: how many are needed is counted when there are so many more events or texts, and one in eight more
MORE = 64


@dataclass
class Live:
    """The arrays of the calls since the state was put in order.

    ``begin``: the state then, as tables; ``first``: the number of its events, ``serials``: of the instances that had
    been started; ``most``: as many instances as may be started, with matches (``found``), before that is done again.
    ``counted``: how many events or texts there were when somebody counted those that are needed.  ``start``, ``since``:
    of the first call; ``frontier``: of the last one.  ``whole``: False while a call changes the arrays, and behind one
    that failed.
    """

    begin: State
    pool: Pool
    work: Work
    program: tuple[np.ndarray, ...]
    first: int
    serials: int
    most: int
    counted: int
    found: int = 0
    start: int | None = None
    since: int | None = None
    frontier: int | None = None
    whole: bool = True

    def crowded(self, layout: Layout) -> bool:
        """Is it time to put what is kept in order?"""
        if int(self.work.reg[T.SERIALS]) - self.serials + self.found > self.most:
            return True
        there = max(len(self.pool), len(self.pool.texts))
        if there - self.counted <= there // 8 + MORE:
            return False
        self.counted = there
        self.work.collect(layout)
        return there > 2 * self.work.size + SPARE

    def copy(self) -> Live:
        return replace(self, pool=self.pool.copy(), work=self.work.copy())


class Memory:
    """What a machine keeps between calls: arrays that every call changes in place, and the tables in which they are
    saved, made when somebody asks for them."""

    def __init__(self, machine: Machine, tables: State) -> None:
        self.machine = machine
        self._tables: State | None = tables
        self._size: int | None = sum(map(len, tables.values()))
        self._live: Live | None = None

    @property
    def size(self) -> int:
        """How many rows the tables have, which are not made for it."""
        if self._size is None:
            now = self._now()
            self._size = now.work.rows(self.machine.layout, len(now.pool))
        return self._size

    def saved(self) -> State:
        """The state as tables by name."""
        if self._tables is None:
            now = self._now()
            self._tables = state_of(now.work, self.machine.layout, now.pool)
        return self._tables

    def copy(self) -> Memory:
        out = Memory(self.machine, {})
        out._tables, out._size = self._tables, self._size
        out._live = None if self._live is None else self._now().copy()
        return out

    @contextmanager
    def call(self, stream: Stream) -> Iterator[Live]:
        """The body runs the machine on the arrays, which have the new events of a call.  If it fails, its changes are
        undone before the next call."""
        now = self._opened(stream)
        pool = now.pool
        pool.take(stream)
        now.work.begin()
        now.whole, self._tables, self._size = False, None, None
        yield now
        reg = now.work.reg
        if reg[T.TOLD]:
            pool.settle()
        else:
            pool.forget()  # no filter has accepted one of them
        now.found += int(reg[T.MATCHES] + reg[T.LATE])
        if now.start is None:
            now.start, now.since = stream.start, stream.since
        now.whole, now.frontier = True, stream.frontier

    def _opened(self, stream: Stream) -> Live:
        """The arrays, for a call with these events."""
        if self._live is not None:
            now = self._now()
            if not now.crowded(self.machine.layout) and now.pool.fits(stream):
                return now
        self._live = now = self._begun(self.saved(), stream)
        return now

    def _begun(self, tables: State, stream: Stream) -> Live:
        machine = self.machine
        rules, layout = machine.rules, machine.layout
        kept = kept_rows(tables, machine.schemas)
        pool = Pool.of(rules, layout.atoms, machine.wanted, *kept, stream, key_texts(tables))
        work = work_of(tables, layout, pool, rules.roles)
        code, ints, floats = rules.coder.program()
        for place, text in rules.texts:
            ints[place] = pool.texts.number(text)
        there = max(len(pool), len(pool.texts))
        most = WORK * (2 * there + work.size + SPARE)
        return Live(tables, pool, work, (code, ints, floats), len(pool), int(work.reg[T.SERIALS]), most, there)

    def _now(self) -> Live:
        """The arrays as they are behind the last call that did not fail: of one that did, everything is undone, by
        doing again what came before."""
        now = self._live
        assert now is not None
        if now.whole:
            return now
        pool, machine = now.pool, self.machine
        pool.forget()
        now.work = work_of(now.begin, machine.layout, pool, machine.rules.roles)
        if now.frontier is not None and now.start is not None and now.start <= now.frontier:
            n, pool.base = pool.n, now.first
            try:
                machine.run(now, now.start, now.since, now.frontier, False)
            finally:
                pool.cut(n)
        now.whole = True
        return now
