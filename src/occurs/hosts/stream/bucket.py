"""One bucket of a stream: what waits for the frontier, the engines of its lanes, and their saved state.

Knows nothing of Spark: rows come in as records, state goes to a store of bytes by name.
"""

from __future__ import annotations

import json
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path as FilePath
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.engine.saved_pieces import Drop, Ledger, Put
from occurs.engine.state import State, from_ipc, meta_from_ipc, meta_to_ipc, restoring, to_ipc
from occurs.errors import CheckpointProblem
from occurs.hosts.local import calls, cuts
from occurs.hosts.spark.task import BUDGET
from occurs.hosts.spark.wide import wide_rows
from occurs.hosts.stream.clock import Clock, last_end
from occurs.hosts.stream.frequent import frequent
from occurs.hosts.stream.layout import Layout, Path
from occurs.hosts.stream.local_pieces import LocalPieces
from occurs.hosts.stream.queries import answers, due, kept
from occurs.hosts.stream.records import (
    CLOCK,
    FIGURES,
    FOUND,
    FREQUENT,
    LATE,
    PASSED,
    REPLAY,
    REPLAY_CLOCK,
    ROWS,
    SIZES,
    STRAYS,
    Record,
    from_blob,
    to_blob,
)
from occurs.hosts.stream.state_migration import describe, heirs, pieces_of, renamed, take_over
from occurs.hosts.stream.waiting import Waiting
from occurs.model.canonical import fingerprint
from occurs.model.time import OPEN
from occurs.operators.rows import Rows
from occurs.options import Window
from occurs.plan.stage import Stage

#: buckets that a process remembers; beyond, the one that was not asked for longest is read anew when it is
REMEMBERED = 4_096
#: a bucket that was not asked for while each of the others was so many times is another process's now, and forgotten
STALE = 8
#: the piece of state that describes the program
PROGRAM = "program"
#: operators that keep fewer rows, values and partial matches than these are written in every step
SMALL = 1 << 13
#: rows are written in place of the state while they are at most one in so many of what operators keep
SHARE = 8
#: a table of the state takes as long to write as so many rows that operators keep, however few it has
TABLE = 16
#: a step with fewer rows counts as one with so many
STEP = 16


class Store(Protocol):
    """Bytes by name that outlive a call; what a call writes counts only if the micro-batch is completed."""

    def meta(self) -> bytes | None: ...

    def set_meta(self, data: bytes) -> None: ...

    def get(self, name: str) -> bytes: ...

    def put(self, name: str, data: bytes) -> None: ...

    def drop(self, name: str) -> None: ...


@dataclass
class Seat:
    """A lane in a bucket: its engine, and the rows that wait for the frontier.  ``name``: of its pieces of state.
    ``births``: definitions that were added while the stream was running, and see later rows only.

    To write the state takes time that grows with what operators keep, and with the rules that keep something.  So steps
    with few rows write these instead (``taken``), and whoever reads the state lets the engine take them once more.
    That may be the engine of changed rules: it has the unchanged definitions, but not the derived rows that these have
    read.  So the state is written in every step unless all definitions read rows of the input alone (``plain``)."""

    path: Path
    engine: Engine
    ledger: Ledger
    waiting: Waiting
    name: str
    births: dict[str, int]
    plain: bool
    #: in window mode, the rows that later queries may give
    answers: Waiting = field(default_factory=kept)
    #: the entry of the state as it was written last; None: it has to be written
    entry: dict[str, Any] | None = None
    #: the rows that the engine has taken since then, and as how many they count
    taken: Waiting = field(default_factory=lambda: Waiting(prefix="taken"))
    weight: int = 0

    def remember(self, rows: Sequence[pa.Table]) -> None:
        """Before the engine takes rows: write them instead of the state, if they are few."""
        held = self.engine.state.held + TABLE * self.ledger.tables
        self.weight += max(STEP, sum(table.num_rows for table in rows))
        if not self.plain or held < SMALL or self.weight * SHARE > held:
            self.entry = None
        for table in rows if self.entry is not None else ():
            self.taken.add(table)

    def catch_up(self, layout: Layout, frontier: int | None, start: int | None, rows: Sequence[pa.Table]) -> None:
        """Let the engine take once more what it had taken, up to ``frontier``, since its state was written, and forget
        what it finds."""
        if frontier is not None and start is not None and frontier != self.engine.state.frontier:
            for _ in self.take(layout, frontier, start, rows):
                pass

    def anew(self) -> list[str]:
        """Forget what is saved; returns the names of its pieces."""
        gone = [*self.ledger.names, *self.taken.names]
        self.ledger, self.taken = Ledger(number=self.ledger.number), Waiting([], self.taken.number, prefix="taken")
        self.entry = None
        return [f"{self.name}/{name}" for name in gone]

    def write(self, put: Put, drop: Drop) -> dict[str, Any]:
        """Save the state of the engine, or the rows that it has taken; returns the entry."""
        state = self.engine.state
        if self.entry is None:
            self.entry = self.ledger.write(state, self.engine.definitions, put, drop)
            self.taken.clear()
            self.weight = 0
        return {
            "engine": self.entry,
            "taken": {**self.taken.write(put, drop), "frontier": state.frontier, "weight": self.weight},
            "waiting": self.waiting.write(put, drop),
        }

    def take(
        self, layout: Layout, frontier: int, start: int, rows: Sequence[pa.Table], closing: bool = False
    ) -> Iterator[TypeRows]:
        """Let the engine take rows; returns what it finds, piece by piece."""
        stage = self.engine.stage
        for until, ready in in_pieces(rows, frontier, BUDGET):
            given = wide_rows(stage, self.path.inlets, ready, layout.labelled, layout.types)
            yield self.engine.advance(given, until, start, closing=closing and until == frontier)


@dataclass
class Memory:
    """What a bucket knows; the same as its saved state if the versions agree."""

    clock: Clock
    seats: dict[int, Seat]
    #: lane (as text) to the name of its state; name to its births, of all lanes of the stage, wherever they are seated
    names: dict[str, str]
    births: dict[str, dict[str, int]]
    version: str = ""
    #: pieces of state that nobody needs any more
    gone: list[str] = field(default_factory=list)
    #: is the program described in the state?
    described: bool = False
    #: definitions whose state of before was of another form, until that is told
    anew: list[str] = field(default_factory=list)
    #: when it was asked for last, in steps of the process
    used: int = 0
    #: its pieces as files of the executor
    pieces: LocalPieces = field(default_factory=lambda: LocalPieces(None, ""))


_memories: OrderedDict[tuple[str, int, int], Memory] = OrderedDict()
_programs: dict[tuple[str, int], tuple[str, str]] = {}
_steps = count()


@dataclass
class Bucket:
    """One micro-batch of one bucket (``number``: on Spark) at one stage (``depth``).  ``folder``: for files that other
    processes read, too; ``size`` and ``read``: bytes of state written and read through the store."""

    layout: Layout
    depth: int
    number: int
    store: Store
    folder: FilePath | None = None
    size: int = field(default=0, init=False)
    read: int = field(default=0, init=False)

    def step(self, records: Iterable[Record]) -> Iterator[Record]:
        """Take the records of a micro-batch; returns what they complete."""
        memory = self._open()
        clock = memory.clock
        mine = {p.lane.number for p in self.layout.at(self.depth)}
        before = clock.frontier
        parts: dict[int, list[pa.Table]] = {}
        strays: list[pa.Table] = []
        history: dict[int, list[pa.Table]] = {}
        past = Clock(0)
        ends: list[bytes] = []
        ended = clock.closed
        rows = bad = outside = empty = late = found = 0
        for r in records:
            if r.kind in PASSED or (r.kind == ROWS and r.lane not in mine):
                yield r
            elif r.kind == ROWS and r.blob is not None:
                parts.setdefault(r.lane, []).append(from_blob(r.blob))
            elif r.kind == STRAYS and r.blob is not None:
                strays.append(from_blob(r.blob))
            elif r.kind == REPLAY and r.blob is not None:
                history.setdefault(r.lane, []).append(from_blob(r.blob))
            elif r.kind == REPLAY_CLOCK:
                past.see(r.lo, r.hi, r.last)
            elif r.kind == CLOCK:
                clock.see(r.lo, r.hi, r.last)
                ends += [] if r.blob is None else [r.blob]
                rows, bad, outside, empty = rows + r.rows, bad + r.bad, outside + r.outside, empty + r.empty
                if r.closing:
                    clock.close()
        if past.newest is not None:
            before = self._replay(memory, {n: pa.concat_tables(found) for n, found in history.items()}, past)
        clock.see(None, None, last_end(ends, before))
        if ended and (self.layout.decided_by_end or self.layout.window is not None):
            before = OPEN  # what the end decided was given, and cannot be taken back
        passed = clock.frontier
        frontier = clock.judge()
        for table in strays:
            missed, _ = _late(table, before)
            late += missed.num_rows
            yield from self._late_rows(missed)
        for number, seat in memory.seats.items():
            own = parts.get(number, ())
            common = frequent(seat.path, self.layout, own) if self.depth == 0 else None
            if common is not None:
                yield Record(FREQUENT, self.number, number, blob=common)
            for table in own:
                missed, rest = _late(table, before)
                if missed.num_rows and self.depth == 0:  # the first stage has counted them
                    if "__home" in missed.column_names:
                        missed = missed.filter(missed.column("__home"))
                    late += missed.num_rows
                    yield from self._late_rows(missed)
                seat.waiting.add(rest)
            if frontier is not None and clock.start is not None:
                closing = clock.closed and not ended
                if self.layout.window is not None:
                    given = self._queries(seat, self.layout.window, passed, frontier, clock.start, closing)
                else:
                    given = self._advance(seat, frontier, clock.start, closing)
                for blob, n in given:
                    found += n
                    yield Record(FOUND, self.number, number, found=n, blob=blob)
        self._save(memory)
        yield Record(
            FIGURES,
            self.number,
            self.depth,
            lo=frontier,
            hi=clock.newest,
            rows=rows,
            bad=bad,
            outside=outside,
            empty=empty,
            late=late,
            found=found,
            waiting=sum(s.waiting.rows for s in memory.seats.values()),
            kept=sum(s.engine.state.rows() for s in memory.seats.values()),
            size=self.size,
            read=self.read,
            blob=json.dumps(memory.anew).encode() if memory.anew else None,
        )
        memory.anew = []
        if self.layout.sizes:
            found_sizes = [s.engine.sizes() for s in memory.seats.values()]
            yield Record(SIZES, self.number, self.depth, blob=json.dumps(found_sizes).encode())
        if self.depth + 1 < self.layout.depth and self.number == self.layout.ids[0]:
            for other in self.layout.ids:
                yield Record(CLOCK, other, lo=clock.least, hi=clock.newest, last=clock.last, closing=clock.closed)

    def _replay(self, memory: Memory, history: Mapping[int, pa.Table], past: Clock) -> int | None:
        """Take history for definitions that are new, or for a stream that begins.  Returns the frontier before the rows
        of this micro-batch.  What has its past already gets no other."""
        clock = memory.clock
        begins = memory.version == ""
        assert past.newest is not None
        assert past.least is not None
        if begins:
            clock.frontier = past.newest
            clock.start = past.least if clock.start is None else clock.start
            clock.see(past.least, past.newest, past.last)
        frontier, start = clock.frontier, clock.start
        for number, seat in memory.seats.items():
            if frontier is None or start is None or not (begins or seat.births):
                continue
            stage = seat.path.lane.stage(self.layout.number[self.number])
            assert stage is not None
            own = history.get(number)
            engine = replayed(stage, seat.path, self.layout, own, frontier, start)
            state = seat.engine.state
            if not begins:
                engine.state = joined(state, engine, set(seat.births))
                engine.state.frontier = max(frontier, state.frontier or frontier)
                memory.gone += seat.anew()
                if own is not None:
                    memory.gone += [f"{seat.name}/{name}" for name in seat.waiting.names]
                    seat.waiting = Waiting(number=seat.waiting.number)
                    seat.waiting.add(own.filter(pc.greater(own.column("__time"), frontier)))
            seat.engine = engine
            seat.births.clear()
            memory.births.pop(seat.name, None)
        return frontier

    def _late_rows(self, table: pa.Table) -> Iterator[Record]:
        if self.layout.late and table.num_rows:
            yield Record(LATE, self.number, late=table.num_rows, blob=to_blob(table.select(["__data"])))

    def _advance(self, seat: Seat, frontier: int, start: int, closing: bool) -> Iterator[tuple[bytes, int]]:
        """Let the engine judge all instants up to the frontier, and if nothing comes any more what still holds:
        (detections as a blob, how many)."""
        stage, engine = seat.engine.stage, seat.engine
        done = engine.state.frontier
        closing = closing and stage.decided_by_end
        if done is not None and frontier <= done and not closing:
            return
        due = seat.waiting.take(frontier)
        if not due and not stage.moved_by_clock and not closing:
            return  # nothing can happen; what is forgotten is forgotten with the next rows
        seat.remember(due)
        if closing:
            seat.entry = None  # the end is not taken once more
        for result in seat.take(self.layout, frontier, start, due, closing):
            for piece in seat.path.wide.batches(result, stage):
                yield to_blob(piece), piece.num_rows

    def _queries(
        self, seat: Seat, window: Window, passed: int | None, frontier: int, start: int, closing: bool
    ) -> Iterator[tuple[bytes, int]]:
        """Window mode: the answers of the queries between two frontiers, and if nothing comes any more of the last one.

        ``passed``: the frontier of the micro-batch before.
        """
        stage, engine, layout = seat.engine.stage, seat.engine, self.layout
        seat.entry = None  # rows do not say when a query was answered
        done = engine.state.frontier if passed is None else max(passed, engine.state.frontier or passed)
        if done is not None and frontier <= done and not closing:
            return
        queries = due(window, layout.start is not None, start, done, frontier, closing)
        until = max(frontier, queries[-1]) if queries else frontier
        ready = seat.waiting.take(until)
        if seat.path.lane.split and engine.state.frontier is None and not ready:
            return  # a range of keys that has had no rows answers nothing
        calls = (
            (at, wide_rows(stage, seat.path.inlets, table, layout.labelled, layout.types))
            for at, table in in_pieces(ready, until, BUDGET)
        )
        for table in answers(engine, seat.path.wide, calls, queries, start, seat.answers, window):
            yield to_blob(table.combine_chunks()), table.num_rows

    # -- state ---------------------------------------------------------------------------------------------------------
    def _open(self) -> Memory:
        """The state as the last completed micro-batch left it: remembered, or read."""
        data = self.store.meta()
        key = (self.layout.token, self.depth, self.number)
        memory = _memories.pop(key, None)
        pieces = LocalPieces(self.folder, f"{self.depth}-{self.number}")
        if data is None:
            memory = self._fresh()
            memory.pieces = pieces
        else:
            meta = meta_from_ipc(data)
            with restoring(f"the saved state of bucket {self.number}"):
                if memory is None or memory.version != meta["version_of_state"]:
                    pieces.open(meta["version_of_state"])
                    memory = self._read(meta, pieces)
                    memory.pieces = pieces
        return memory

    def _seat(self, path: Path, name: str, births: dict[str, int]) -> Seat | None:
        stage = path.lane.stage(self.layout.number[self.number])
        if stage is None:
            return None
        mine = {d: born for d, born in births.items() if d in path.lane.places}
        engine = Engine(stage.born(mine), labelled=self.layout.labelled)
        plain = not stage.chained and not any(inlet.derived for inlet in path.inlets)
        return Seat(path, engine, Ledger(), Waiting(), name, mine, plain)

    def _memory(self, names: dict[str, str], births: dict[str, dict[str, int]]) -> Memory:
        """With empty state."""
        seats = {}
        for path in self.layout.at(self.depth):
            name = names[str(path.lane.number)]
            seat = self._seat(path, name, births.get(name, {}))
            if seat is not None:
                seats[path.lane.number] = seat
        return Memory(Clock(self.layout.delay, self.layout.until, self.layout.start), seats, names, births)

    def _fresh(self) -> Memory:
        return self._memory({str(p.lane.number): str(p.lane.number) for p in self.layout.at(self.depth)}, {})

    def _read(self, meta: dict[str, Any], pieces: LocalPieces) -> Memory:
        if meta["program"] != self.program[1]:
            return self._adopt(meta, pieces)
        memory = self._memory(meta["names"], meta["births"])
        memory.clock.load(meta["clock"])
        memory.version, memory.described = meta["version_of_state"], True
        for seat in memory.seats.values():
            entry = meta["lanes"][seat.name]
            seat.engine.state = self._load(seat, entry, pieces)
            seat.catch_up(self.layout, _until(entry), memory.clock.start, seat.taken.tables)
        return memory

    def _piece(self, name: str, pieces: LocalPieces) -> pa.Table:
        """A saved piece: from a file of this executor if there is one, which then needs no other."""
        found = pieces.get(name)
        if found is not None:
            return from_ipc(found)
        data = self.store.get(name)
        self.read += len(data)
        pieces.put(name, data)
        return from_ipc(data)

    def _load(self, seat: Seat, entry: Mapping[str, Any], pieces: LocalPieces) -> State:
        """What was saved of a lane, of which the ledger and the waiting rows are those of ``seat`` now."""

        def get(name: str) -> pa.Table:
            return self._piece(f"{seat.name}/{name}", pieces)

        seat.ledger, state = Ledger.read(entry["engine"], seat.engine.definitions, get)
        seat.entry = entry["engine"]
        if "taken" in entry:
            seat.taken, seat.weight = seat.taken.read(entry["taken"], None, get), entry["taken"]["weight"]
        seat.waiting = Waiting().read(entry["waiting"], _until(entry), get)
        if "answers" in entry:
            seat.answers = kept().read(entry["answers"], state.frontier, get)
        return state

    def _adopt(self, meta: dict[str, Any], pieces: LocalPieces) -> Memory:
        """The state that another program wrote, for this one."""
        old = json.loads(self._piece(PROGRAM, pieces).column("program")[0].as_py())
        found = heirs(old, meta["names"], self.layout, self.depth)
        newest = meta["clock"]["newest"]
        births: dict[str, dict[str, int]] = {}
        for heir in found.values():
            births[heir.name] = dict(meta["births"].get(heir.name, {}))
            if newest is not None:
                births[heir.name].update(dict.fromkeys(heir.new, newest))
        memory = self._memory({str(n): h.name for n, h in found.items()}, births)
        memory.clock.load(meta["clock"])
        memory.version = meta["version_of_state"]
        memory.anew = sorted({d for n in memory.seats for d in found[n].anew})
        kept = set()
        for number, seat in memory.seats.items():
            before = found[number].old
            entry = meta["lanes"].get(seat.name)
            if before is None or entry is None:
                seat.engine.state.frontier = memory.clock.frontier
                continue
            kept.add(seat.name)
            take_over(seat.engine, self._load(seat, entry, pieces), seat.path, found[number].new)
            taken, tables = (
                [renamed(table, before, old["types"], seat.path, self.layout) for table in of.tables]
                for of in (seat.taken, seat.waiting)
            )
            seat.catch_up(self.layout, _until(entry), memory.clock.start, taken)
            memory.gone += [f"{seat.name}/{name}" for name in pieces_of(entry)]
            seat.anew()
            seat.waiting = Waiting(number=seat.waiting.number)
            for table in tables:
                seat.waiting.add(table)
        for name, entry in meta["lanes"].items():
            if name not in kept:
                memory.gone += [f"{name}/{piece}" for piece in pieces_of(entry)]
        return memory

    @property
    def program(self) -> tuple[str, str]:
        """(the description of this stage as JSON, what it is recognised by)."""
        key = (self.layout.token, self.depth)
        if key not in _programs:
            description = describe(self.layout, self.depth)
            _programs[key] = (json.dumps(description), fingerprint(description))
        return _programs[key]

    def _save(self, memory: Memory) -> None:
        pieces = memory.pieces

        def put(name: str, table: pa.Table, prefix: str = "") -> None:
            data = to_ipc(table)
            self.size += len(data)
            self.store.put(prefix + name, data)
            pieces.put(prefix + name, data)

        def drop(name: str, prefix: str = "") -> None:
            self.store.drop(prefix + name)
            pieces.drop(prefix + name)

        for gone in memory.gone:
            drop(gone)
        memory.gone.clear()
        text, program = self.program
        if not memory.described:
            put(PROGRAM, pa.table({"program": [text]}))
            memory.described = True
        lanes = {}
        for seat in memory.seats.values():
            own = {"prefix": f"{seat.name}/"}
            saving = partial(put, **own), partial(drop, **own)
            lanes[seat.name] = seat.write(*saving)
            if self.layout.window is not None:
                lanes[seat.name]["answers"] = seat.answers.write(*saving)
        memory.version = uuid.uuid4().hex
        data = meta_to_ipc(
            {
                "version_of_state": memory.version,
                "program": program,
                "names": memory.names,
                "births": memory.births,
                "clock": memory.clock.entry(),
                "lanes": lanes,
            }
        )
        self.size += len(data)
        self.store.set_meta(data)
        pieces.close(memory.version)
        key = (self.layout.token, self.depth, self.number)
        _memories[key] = memory
        memory.used = next(_steps)
        while len(_memories) > REMEMBERED or _oldest() < memory.used - STALE * len(_memories):
            _memories.popitem(last=False)


def _until(entry: Mapping[str, Any]) -> int | None:
    """The frontier of the engine in an entry of a lane."""
    found: int | None = entry.get("taken", entry["engine"])["frontier"]
    return found


def _oldest() -> int:
    """The step at which the memory that was not asked for longest was."""
    return next(iter(_memories.values())).used


def _late(table: pa.Table, frontier: int | None) -> tuple[pa.Table, pa.Table]:
    """(the rows at or before the frontier, the others); derived rows are never late."""
    if frontier is None or table.num_rows == 0:
        return table.slice(0, 0), table
    late = table.column("__time").to_numpy() <= frontier
    if "__derived" in table.column_names:
        late = late & ~pc.fill_null(table.column("__derived"), False).to_numpy()
    if not np.any(late):
        return table.slice(0, 0), table
    return table.filter(pa.array(late)), table.filter(pa.array(~late))


# --- what is due ------------------------------------------------------------------------------------------------------


def in_pieces(tables: Sequence[pa.Table], frontier: int, budget: int) -> Iterator[tuple[int, pa.Table | None]]:
    """(until, the rows up to there, by time): about ``budget`` rows each, whole instants, the last piece at the
    frontier.  After an outage many rows are due: they are not copied all at once."""
    if sum(t.num_rows for t in tables) <= budget:
        yield frontier, _merged(tables)
        return
    tables = [_by_time(t) for t in tables if t.num_rows]
    times = [t.column("__time").to_numpy() for t in tables]
    before = [0] * len(tables)
    for until in cuts(times, frontier, budget):
        after = [int(np.searchsorted(t, until, side="right")) for t in times]
        yield until, _merged([t.slice(i, j - i) for t, i, j in zip(tables, before, after, strict=True) if i < j])
        before = after


def _merged(tables: Sequence[pa.Table]) -> pa.Table | None:
    return _by_time(pa.concat_tables(tables, promote_options="permissive")) if tables else None


def _by_time(table: pa.Table) -> pa.Table:
    time = table.column("__time").to_numpy()
    return table if (time[1:] >= time[:-1]).all() else table.take(pa.array(np.argsort(time, kind="stable")))


# --- history for definitions that are new -----------------------------------------------------------------------------
# What new definitions would know if they had always been there.  The history is run through an engine of its own,
# silently, up to the frontier; what that engine then remembers becomes the past of the lane.  What unchanged
# definitions have consumed stays as it is.


def replayed(stage: Stage, path: Path, layout: Layout, history: pa.Table | None, until: int, start: int) -> Engine:
    """An engine that has seen the rows of ``history`` from ``start`` to ``until``."""
    engine = Engine(stage, labelled=layout.labelled)
    if history is not None:
        time = history.column("__time").to_numpy()
        history = history.filter(pa.array((time >= start) & (time <= until)))
        history = history.take(pa.array(np.argsort(history.column("__time").to_numpy(), kind="stable")))
    rows = wide_rows(stage, path.inlets, history, layout.labelled, layout.types)
    for frontier, part in calls(rows, until, BUDGET):
        engine.advance(part, frontier, start)
    return engine


def joined(old: State, engine: Engine, new: set[str]) -> State:
    """The state of a stream with the past that ``engine`` has from history, in which the rows that the stream has kept
    are found again.  ``new``: the definitions without state.

    Raises CheckpointProblem if the history is not that of the stream.
    """
    found = engine.state
    if old.later or found.later:
        text = "rules that read delayed detections cannot take over the past of a running stream"
        hint = "without --replay-from they read only later events; a new checkpoint accepts a history"
        raise CheckpointProblem.of("unsupported", text, hint=hint)
    out = State({}, {}, dict(old.serials), old.frontier)
    out.loaded = {d: tables for d, tables in found.tables().items() if d in new}
    out.loaded |= {d: tables for d, tables in old.tables().items() if d not in new}
    names = engine.definitions
    for t, rows in found.pasts.items():
        assert rows.serial is not None
        first = out.serials.get(t, 0)
        out.serials[t] = first + len(rows)
        out.pasts[t] = replace(rows, serial=np.arange(first, first + len(rows)), cache={})
        have = old.pasts.get(t)
        if have is not None and found.frontier is not None:  # what waited for its next call to be forgotten
            oldest = found.frontier + 1 - engine.stage.retention[t]
            have = have.slice(int(np.searchsorted(have.time, oldest)))
        at = np.zeros(0, np.int64) if have is None else _matches(have, rows)
        for (place, type), gone in old.consumed.items():
            if type == t and have is not None and have.serial is not None:
                out.consumed[(place, t)] = first + at[np.isin(have.serial, gone)]
        for (place, type), gone in found.consumed.items():
            if type == t and names[place] in new and len(rows):
                out.consumed[(place, t)] = gone - int(rows.serial[0]) + first
    return out


def _matches(have: Rows, rows: Rows) -> np.ndarray:
    """Which of ``rows`` each row that was kept is, int64 (len(have)): by time and the values that were kept; the n-th
    of equal ones is the n-th."""
    kept = [n for n, c in have.columns.items() if n in rows.columns and c.is_valid().any()]
    places: dict[tuple[Any, ...], list[int]] = {}
    for number, values in enumerate(_values(rows, kept)):
        places.setdefault(values, []).append(number)
    for found in places.values():
        found.reverse()
    out = []
    for values in _values(have, kept):
        found = places.get(values, [])
        if not found:
            shown = ", ".join(f"{n}: {v!r}" for n, v in zip(kept, values[1:]))
            text = f"the history is not that of this stream: it has no `{have.type}` ({shown}) at {values[0]}"
            raise CheckpointProblem.of("other-history", text, hint="pass all events that the stream has read")
        out.append(found.pop())
    return np.array(out, np.int64)


def _values(rows: Rows, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(rows.time.tolist(), *(rows.columns[n].arrow.to_pylist() for n in names))
