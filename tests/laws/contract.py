"""The laws that every operator and language keeps (operators.md, section 5), as functions over one case.

Cutting, Restart, Splitting, Forgetting and Meaning, and that rows may be pushed; each raises AssertionError with the
difference.  For tests of our
own operators, and of our users'.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from tests.laws.new_keys import new_keys, renewing

from occurs.checked_program import CheckedProgram
from occurs.engine import saved_pieces, table_pieces
from occurs.engine.engine import Engine
from occurs.engine.results import Parts, TypeRows
from occurs.engine.saved_pieces import Ledger
from occurs.engine.state import from_ipc, to_ipc
from occurs.errors import OccursError
from occurs.hosts.live import Detection, Intake, Live
from occurs.hosts.local import history_rows
from occurs.loading import parse
from occurs.model.history import History, InputOptions
from occurs.model.occurrence import Occurrence
from occurs.operators.rows import Rows
from occurs.plan.partitioning import Group, groups, share
from occurs.plan.stage import Stage
from occurs.program import Program
from occurs.testing.cases import Case
from occurs.verify.compare import difference, occurrences_of
from occurs.verify.reference import expected

Answer = list[Occurrence] | str


class Subject:
    """A case, planned: the laws are asked of its answers.  An error is an answer too, by its kind."""

    def __init__(self, case: Case, program: Program | None = None):
        self.case = case
        self.program: Program = parse(case.rules) if program is None else program
        unit = None if case.kind.timestamp else case.kind.unit
        self.options = InputOptions(time_unit=unit, start=self._instant(case.start), until=self._instant(case.until))
        self.history: History = self.program.checked.history(case.tables(), self.options)
        self.stage: Stage = self.program.checked.plan(self.history.schemas, self.history.kind)

    def _instant(self, ticks: int | None) -> int | datetime | None:
        if ticks is None or not self.case.kind.timestamp:
            return ticks
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks)

    @property
    def clock(self) -> tuple[int, int] | None:
        return self.history.clock

    @cached_property
    def _rows(self) -> dict[bool, dict[str, Rows]]:
        return {}

    def rows(self, labelled: bool = True) -> dict[str, Rows]:
        """The rows of the history, made once; each time with nothing that operators of another engine have shared."""
        if labelled not in self._rows:
            self._rows[labelled] = history_rows(self.stage, self.history, labelled)
        return {t: replace(r, cache={}) for t, r in self._rows[labelled].items()}

    def live(self, *, labelled: bool = True) -> Live:
        """A live run of the program, whose clock starts with the history."""
        start = None if self.case.start is None or self.clock is None else self.clock[0]
        return Live(self.stage, intake_of(self.program.checked, self.history), labelled=labelled, start=start)

    def reference(self) -> Answer:
        try:
            return expected(self.program.checked, self.history)
        except OccursError as error:
            return error.kind

    def answer(self, frontiers: Sequence[int], *, restart: bool = False, beside: bool = False) -> Answer:
        """The detections of calls up to each of ``frontiers``; with ``restart`` every call has an engine of its own,
        restored from what the one before it saved; ``beside``: before every call a copy of the state has gone on."""
        try:
            return self._answer(frontiers, restart, beside)
        except OccursError as error:
            return error.kind

    @cached_property
    def at_once(self) -> Answer:
        """The detections of one call.  Each law compares with them: they are found once."""
        return self.answer(whole(self))

    def _answer(self, frontiers: Sequence[int], restart: bool, beside: bool) -> list[Occurrence]:
        if self.clock is None:
            return []
        engine, disk = Engine(self.stage, labelled=True), Disk()
        done: list[TypeRows] = []
        for frontier, part in cut(self.rows(), frontiers):
            if beside:
                continued(engine).advance(part, frontier, self.clock[0])
            done.append(engine.advance(part, frontier, self.clock[0]))
            if restart:
                disk.save(engine)
                engine = disk.restored(self.stage)
        return self.gather(done)

    def gather(self, done: Sequence[TypeRows], stage: Stage | None = None) -> list[Occurrence]:
        """Detections with their labels and constituents as attributes, so that these are compared too."""
        out: list[Occurrence] = []
        for found in done:
            out += occurrences_of({t: found.table(t, label=True) for t in (stage or self.stage).reported})
        return out


def continued(engine: Engine) -> Engine:
    """An engine that goes on from a copy of the state."""
    other = Engine(engine.stage, labelled=True)
    other.state = engine.state.copy()
    return other


class Disk:
    """Saved pieces.  What a call changes is saved as a change, however short its tables are."""

    def __init__(self) -> None:
        self.pieces: dict[str, bytes] = {}
        self.ledger = Ledger()
        self.entry: dict[str, Any] = {}

    def save(self, engine: Engine) -> None:
        """Write what is new; only what the entry names is left."""
        with patch.object(table_pieces, "FEW", 1), patch.object(saved_pieces, "CHANGES", 3):
            self.entry = self.ledger.write(engine.state, engine.definitions, self._put, self.pieces.pop)
        assert sorted(self.pieces) == sorted(saved_pieces.pieces(self.entry))

    def _put(self, name: str, table: pa.Table) -> None:
        self.pieces[name] = to_ipc(table)

    def restored(self, stage: Stage) -> Engine:
        """An engine that goes on from the pieces, as another process would."""
        engine = Engine(stage, labelled=True)
        entry = json.loads(json.dumps(self.entry))
        self.ledger, engine.state = Ledger.read(entry, engine.definitions, lambda name: from_ipc(self.pieces[name]))
        return engine


def intake_of(checked: CheckedProgram, history: History) -> Intake:
    """Reads tables for a live run as those of the history were read."""
    options = InputOptions(time_unit=history.kind.unit if not history.kind.timestamp else None)
    return lambda events, after: checked.history(events, options, after=after, schemas=history.schemas)


def cut(rows: dict[str, Rows], frontiers: Sequence[int]) -> Iterator[tuple[int, dict[str, Rows]]]:
    """(frontier, the rows up to it) for ascending frontiers; parts may be empty."""
    begin = dict.fromkeys(rows, 0)
    for frontier in frontiers:
        part = {}
        for t, r in rows.items():
            end = int(np.searchsorted(r.time, frontier, side="right"))
            part[t] = r.slice(begin[t], end)
            begin[t] = end
        yield frontier, part


def random_frontiers(subject: Subject, rng: random.Random) -> list[int]:
    """Ascending frontiers between the ends of the clock, calls without rows included."""
    if subject.clock is None:
        return []
    start, until = subject.clock
    if until - start < 10_000:
        inner = [rng.randint(start, until) for _ in range(rng.randint(0, 12))]
    else:
        times = [t for r in subject.rows(False).values() for t in r.time.tolist()] or [start]
        inner = [min(until, rng.choice(times) + rng.choice((0, -1, 1))) for _ in range(rng.randint(0, 12))]
    return [*sorted({t for t in inner if start <= t < until}), until]


def whole(subject: Subject) -> list[int]:
    return [] if subject.clock is None else [subject.clock[1]]


def agree(one: Answer, other: Answer, what: str) -> None:
    """Both answers are the same error, or the same events."""
    if isinstance(one, str) or isinstance(other, str):
        assert one == other, f"{what}: {one if isinstance(one, str) else 'events'} / {other}"
        return
    found = difference(one, other)
    assert found is None, f"{what}: {found}"


def meaning(subject: Subject) -> None:
    """Law 5: the output equals the reference semantics."""
    answer = subject.at_once
    if not isinstance(answer, str):
        answer = [_without_label(e) for e in answer]
    agree(subject.reference(), answer, "reference and engine")


def _without_label(e: Occurrence) -> Occurrence:
    return Occurrence(e.type, e.time, {k: v for k, v in e.attributes.items() if k != "label"})


def cutting(subject: Subject, rng: random.Random) -> None:
    """Law 1: however a history is cut between instants, the concatenated output is the same, labels included.

    Codes are given anew as often as that can be, and sometimes copies of the state go on, too."""
    frontiers = random_frontiers(subject, rng)
    with renewing():
        found = subject.answer(frontiers, beside=rng.random() < 0.3)
    agree(subject.at_once, found, f"cut at {frontiers}")


def restart(subject: Subject, rng: random.Random) -> None:
    """Law 2: writing the state out and reading it back between any two calls changes nothing."""
    frontiers = random_frontiers(subject, rng)
    agree(subject.at_once, subject.answer(frontiers, restart=True), f"restarted at {frontiers}")


def splitting(subject: Subject, parts: int = 3) -> None:
    """Law 3: running each partition's events apart and merging gives the same output."""
    key = subject.stage.key
    if not key or subject.clock is None:
        return
    whole_answer = subject.at_once
    merged: list[Occurrence] = []
    for part in range(parts):
        engine = Engine(subject.stage, labelled=True)
        # a type that no definition reads is not in the key: all its rows go to one part
        rows = {}
        for t, r in subject.rows().items():
            mine = _part(r, key.get(t, ()), parts) == part
            if t in subject.stage.tables and "op" in r.columns:
                mine |= np.array([op == "truncate" for op in r.column("op").arrow.to_pylist()], np.bool_)
            rows[t] = r.take(np.flatnonzero(mine))
        try:
            merged += subject.gather([engine.advance(rows, subject.clock[1], subject.clock[0])])
        except OccursError as error:
            agree(whole_answer, error.kind, f"split by {key}")
            return
    agree(whole_answer, merged, f"split by {key}")


def slicing(subject: Subject, rng: random.Random) -> int:
    """Where history may be cut into slices of time that overlap, each finds what is its own.  Returns for how many of
    the groups of definitions that was asked."""
    frontiers = random_frontiers(subject, rng)
    found = [g for g in groups(subject.stage.definitions, subject.stage) if not g.takes]
    # with a key only the rows of frequent ones are cut so
    found = [g for g in found if g.mode == "slices" or (g.mode == "keyed" and not g.endless)]
    for group in found if frontiers else ():
        whole_answer = _slices(subject, group, frontiers[-1:])
        agree(whole_answer, _slices(subject, group, frontiers), f"slices up to {frontiers}, {group.overlap} more each")
    return len(found)


def dividing(subject: Subject) -> int:
    """Definitions that do not read one another find apart what they find together.  Returns for how many groups of
    definitions that was asked."""
    if subject.clock is None:
        return 0
    found = [g for g in groups(subject.stage.definitions, subject.stage) if not g.takes and len(g.independent) > 1]
    for group in found:
        together = _slices(subject, group, [subject.clock[1]])
        apart: list[Occurrence] = []
        for part in group.independent:
            one = _slices(subject, replace(group, stage=share(group.stage, part)), [subject.clock[1]])
            if isinstance(one, str):
                agree(together, one, "apart")
                break
            apart += one
        else:
            agree(together, apart, "apart")
    return len(found)


def _slices(subject: Subject, group: Group, lasts: Sequence[int]) -> Answer:
    """What a group finds in slices that end with ``lasts``."""
    assert subject.clock is not None
    first, done, rows = subject.clock[0], [], subject.rows()
    try:
        for last in lasts:
            engine = Engine(group.stage, labelled=True)
            begin = max(subject.clock[0], first - group.overlap)
            mine = {t: r.take(np.flatnonzero((r.time >= begin) & (r.time <= last))) for t, r in rows.items()}
            *_, found = [engine.advance(part, until, begin) for until, part in cut(mine, [first - 1, last])]
            done.append(found)
            first = last + 1
        return subject.gather(done, group.stage)
    except OccursError as error:
        return error.kind


def _part(rows: Rows, attributes: Sequence[str], parts: int) -> np.ndarray:
    """The part of each row by its key values; equal values (1 and 1.0) fall together, null is a value of its own."""
    if not attributes:
        return np.zeros(len(rows), np.int64)
    columns = [rows.column(a).arrow.to_pylist() for a in attributes]
    return np.array([hash(values) % parts for values in zip(*columns)], np.int64)


def forgetting(subject: Subject, rng: random.Random) -> None:
    """Law 4: after every call the state holds nothing older than the retention, and no mark of what is gone; and
    however many keys come and go, there are no more codes than a constant for each row that is kept."""
    if subject.clock is None:
        return
    new_keys(subject.stage, subject.rows(False), subject.clock)
    engine = Engine(subject.stage, labelled=True)
    for frontier, part in cut(subject.rows(), random_frontiers(subject, rng)):
        try:
            engine.advance(part, frontier, subject.clock[0])
        except OccursError:
            return
        for t, past in engine.state.pasts.items():
            back = subject.stage.retention[t]
            assert len(past) == 0 or int(past.time.min()) > frontier - back, f"{t} is kept too long"
        for (_, t), gone in engine.state.consumed.items():
            serial = engine.state.pasts[t].serial
            assert serial is not None
            assert np.isin(gone, serial).all(), f"marks of forgotten {t}"


def pushing(subject: Subject, rng: random.Random) -> None:
    """Events one by one, events in tables of random sizes, and both in turn give the answer of one call, with labels
    and without."""
    if subject.clock is None:
        return
    whole_answer = subject.at_once
    bare = whole_answer if isinstance(whole_answer, str) else [_without_label(e) for e in whole_answer]
    for labelled, sizes in ((False, (1,)), (True, (1,)), (False, (2, 5, 20)), (True, (1, 1, 3, 9))):
        found = pushed(subject, rng, sizes, labelled=labelled)
        agree(whole_answer if labelled else bare, found, f"pushed {sizes} at once, {labelled=}")


class Prompt:
    """Another live run of a subject, in which no rows wait for one that may complete something: whatever is pushed, it
    returns what the first one returns."""

    def __init__(self, subject: Subject, first: Live) -> None:
        self.live = subject.live(labelled=first.labelled)
        self.asked = first._silent is not None
        self.live._silent = None

    def same(self, found: list[Detection], method: str, *given: Any) -> None:
        """What it returns for a push is what was found.  An error it may raise earlier: the answer is compared then."""
        if not self.asked:
            return
        try:
            wanted = getattr(self.live, method)(*given)
        except OccursError:
            self.asked = False
            return
        assert repr(found) == repr(wanted), f"{found} came with a push, not {wanted}"


def pushed(subject: Subject, rng: random.Random, sizes: Sequence[int], *, labelled: bool) -> Answer:
    """The answer of a live run that takes as many events at once as one of ``sizes`` says; one goes alone.

    Events of one instant come in random order, also in different pieces.
    """
    assert subject.clock is not None
    tables, live, out = subject.case.tables(), subject.live(labelled=labelled), []
    prompt = Prompt(subject, live)
    events = []
    for t, table in tables.items():
        times = table.column("time").cast(pa.int64()).to_pylist()
        events += [(time, rng.random(), t, n) for n, time in enumerate(times) if time <= subject.clock[1]]
    events.sort()
    try:
        while events:
            size = rng.choice(sizes)
            piece, events = events[:size], events[size:]
            if size == 1:
                ((time, _, t, n),) = piece
                row = tables[t].slice(n, 1).to_pylist(maps_as_pydicts="strict")[0]
                special = {name: row.pop(name, None) for name in ("time", "sequence", "label")}
                event = (t, time, row, special["sequence"], special["label"])
                found = live.on_event(*event)
                prompt.same(found, "on_event", *event)
            else:
                rng.shuffle(piece)
                own = {t: [n for *_, of, n in piece if of == t] for t in tables}
                given = {t: tables[t].take(pa.array(at)) for t, at in own.items() if at}
                found = live.push_many(given)
                prompt.same(found, "push_many", given)
            out += found
        out += live.advance(subject.clock[1])
    except OccursError as error:
        return error.kind
    assert live.late == prompt.live.late == 0
    nothing = TypeRows(subject.stage, Parts(subject.stage, [], ()), {})
    schemas = {t: nothing.table(t, label=labelled).schema for t in subject.stage.reported}
    rows: dict[str, list[dict[str, Any]]] = {t: [] for t in schemas}
    for row in out:
        rows[row["type"]].append(row)
    return occurrences_of({t: pa.Table.from_pylist(of, schema=schemas[t]) for t, of in rows.items()})


def all_laws(case: Case, rng: random.Random) -> None:
    """Every law, on one case."""
    subject = Subject(case)
    meaning(subject)
    cutting(subject, rng)
    restart(subject, rng)
    splitting(subject)
    forgetting(subject, rng)
    pushing(subject, rng)


__all__ = ["Subject", "all_laws", "cutting", "forgetting", "meaning", "pushing", "restart", "splitting"]
