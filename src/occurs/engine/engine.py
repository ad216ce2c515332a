"""The engine: one stage of a plan in one process, call by call (operators.md, section 1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from occurs.engine.blocks import Detected, Part
from occurs.engine.chain import Chain
from occurs.engine.order import placed
from occurs.engine.results import Parts, TypeRows, subscribed
from occurs.engine.saved_pieces import Ledger
from occurs.engine.state import State, from_ipc, meta_from_ipc, meta_to_ipc, restoring, to_ipc
from occurs.engine.tables import behind_past, concat_rows, empty_rows
from occurs.errors import CheckpointProblem
from occurs.model.types import Schema
from occurs.operators.codes import KeyCodes
from occurs.operators.contract import Call, Operator
from occurs.operators.frame import kept_of
from occurs.operators.kernels.row_index import is_sorted
from occurs.operators.merging import INSTANT, constant
from occurs.operators.rows import FIRST_TICK, Rows, Since
from occurs.operators.rows import Part as SomeRows
from occurs.plan.segments import Segment
from occurs.plan.stage import Stage


class Engine:
    """``advance`` takes the rows of the next instants and returns the detections that they complete.

    ``labelled``: compute labels (for ``because``, ``label``).  ``segment``: the stage is one of a stage that has
    several; after every call ``handed`` has the new rows of the types that it hands on, and ``complete`` up to when
    these are complete.
    """

    def __init__(
        self, stage: Stage, *, labelled: bool = False, state: State | None = None, segment: Segment | None = None
    ):
        self.stage = stage
        self.labelled = labelled
        self.handed: dict[str, Rows] = {}
        self.complete: dict[str, int] = {}
        self.codes = KeyCodes()
        self._hands = frozenset() if segment is None else segment.hands
        #: types whose rows need a place within their instant, here or where they are handed on to
        self._placed = stage.placed | (frozenset() if segment is None else segment.placed)
        self._past = stage.remembered
        #: is there one operator, which reads new rows as they come in, without a past or places?
        self.direct = len(stage.operators) == 1 and not (self._past or self._placed or stage.operators[0].stepwise)
        #: operators that a call without rows for them skips; later segments ask all how far their rows are complete
        self._still = frozenset() if self._hands else stage.still
        self._empties: dict[str, Rows] = {}
        self._chain = self._segments(stage, labelled) if segment is None else None
        self.state = state or State({}, {}, {})

    @property
    def state(self) -> State:
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        parts = 0 if self._chain is None else len(self._chain.engines)
        if state.frontier is not None and len(state.later) != parts:
            text = "the state was saved by definitions with other dependencies"
            raise CheckpointProblem.of("changed-program", text, hint="use an empty state, or replay from history")
        state.adopt(self.stage.operators)
        self._state = state
        if self._chain is not None:
            state.later += [State({}, {}, {}) for _ in self._chain.engines[len(state.later) :]]
            for engine, own in zip(self._chain.engines, state.later):
                engine.state = own

    @staticmethod
    def _segments(stage: Stage, labelled: bool) -> Chain | None:
        """The engines of the segments of a stage; None if there is only one."""
        found = stage.segments
        if len(found) == 1:
            return None
        return Chain(stage, found, [Engine(s.stage, labelled=labelled, segment=s) for s in found])

    # -- saved state -------------------------------------------------------------------------------------------------
    def save(self) -> dict[str, bytes]:
        """The state as named pieces of Arrow IPC; an engine of the same definitions goes on from them."""
        out: dict[str, bytes] = {}

        def put(name: str, table: pa.Table) -> None:
            out[name] = to_ipc(table)

        entry = Ledger().write(self.state, self.definitions, put, lambda name: None)
        return {"meta": meta_to_ipc(entry), **out}

    @classmethod
    def restore(cls, stage: Stage, pieces: Mapping[str, bytes], *, labelled: bool = False) -> Engine:
        """An engine that goes on where the one that saved ``pieces`` stopped.  Raises CheckpointProblem."""
        engine = cls(stage, labelled=labelled)
        if "meta" not in pieces:
            text = "the saved state has no `meta` piece"
            raise CheckpointProblem.of("bad-checkpoint", text, hint="use an empty state, or replay from history")
        entry = meta_from_ipc(pieces["meta"])
        with restoring("the saved state of an engine"):
            _, engine.state = Ledger.read(entry, engine.definitions, lambda name: from_ipc(pieces[name]))
        return engine

    def sizes(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many rows of state there are for each type that definitions make, and how many past rows of each type."""
        own, pasts = self.state.sizes()
        made = {d.identity: d.output for d in self.stage.definitions}
        out: dict[str, int] = dict.fromkeys(made.values(), 0)
        for identity, n in own.items():
            if identity in made:
                out[made[identity]] += n
        return out, pasts

    @property
    def definitions(self) -> Mapping[int, str]:
        """The identity of the definition at each place."""
        return self.stage.identities

    # -- one call ----------------------------------------------------------------------------------------------------
    def advance(
        self, new: Mapping[str, Rows], frontier: int, start: int | None = None, *, closing: bool = False
    ) -> TypeRows:
        """The detections of all instants after the last frontier up to ``frontier``, per type in the total order.

        ``start``: the first tick of the clock, known from the first call with rows on.  ``closing``: the history ends
        at ``frontier``.
        """
        if self.stage.placed:
            new = self._with_places(new)
        if self._chain is not None:
            self.state.frontier = frontier
            return self._chain.advance(new, frontier, start, closing)
        state = self._state
        self.codes = self.codes.for_call(sum(map(len, state.pasts.values())))
        step = Step(self, new, frontier, start, closing)
        for operators, completes in self.stage.steps:
            for operator in operators:
                if closing or operator not in self._still or step.has_rows(operator):
                    step.run(operator)
            for type in completes:
                step.complete(type)
        for type in self._hands:
            self.handed[type] = step.new_rows(type)
            self.complete[type] = min(frontier, step.until.get(type, frontier))
        if step.consumed:
            state.consumed |= step.consumed_serials()
        if self._past or state.consumed:
            self._keep(step.tables, frontier)
        state.frontier = frontier
        return step.result()

    def peek(self, frontier: int, start: int | None = None) -> TypeRows:
        """The detections that closing at ``frontier``, the last one, would return; the state stays as it is."""
        kept = self.state
        self.state = kept.copy()
        try:
            return self.advance({}, frontier, start, closing=True)
        finally:
            self.state = kept

    def _with_places(self, new: Mapping[str, Rows]) -> dict[str, Rows]:
        """The rows that come in, with their places within an instant where those are asked for."""
        asked = {t: r for t, r in new.items() if t in self.stage.placed and r.at is None}
        return {**new, **placed(asked, self.stage.sequenced)}

    def empty(self, type: str) -> Rows:
        """No rows of a type."""
        found = self._empties.get(type)
        if found is None:
            found = empty_rows(type, self.stage.schemas.get(type, Schema()), self.labelled)
            self._empties[type] = found
        return Rows(type, found.time, found.columns, 0, None, found.labels)

    def with_past(self, type: str, rows: Rows) -> Rows:
        """The past and the new rows of a type, with serial numbers."""
        first = self.state.serials.get(type, 0)
        self.state.serials[type] = first + len(rows)
        return self.behind_past(type, rows, first)

    def behind_past(self, type: str, rows: Rows, first: int | None) -> Rows:
        """The past and the new rows of a type, these with serial numbers from ``first`` on; -1 if that is None, or if
        no row outlives a call."""
        n = len(rows)
        serial = constant(-1, n) if first is None or not self._past else np.arange(first, first + n)
        # once per type and call: `replace` takes several times as long
        rows = Rows(rows.type, rows.time, rows.columns, rows.new, serial, rows.labels, rows.derived, rows.at)
        past = self.state.pasts.get(type)
        if past is None or len(past) == 0:
            rows.new = 0
            return rows
        if not len(rows) and (rows.at is None or past.at is not None):
            n = len(past)
            both = Rows(type, past.time, past.columns, n, past.serial, past.labels, past.derived, past.at)
        else:
            both = behind_past(past, rows)
        both.cache |= past.cache
        return both

    def derived_rows(self, type: str, parts: list[Part], outside: Rows | None) -> Rows:
        """All rows of a defined type in this call: input rows first, then rule by rule; stable by time, and by their
        place within the instant if they have one."""
        settled = [part if part.final is None else part.take(np.flatnonzero(part.final)) for part in parts]
        found = [self._rows_of(part) for part in settled]
        if outside is not None and len(outside):
            found.insert(0, outside)
        if not found:
            return self.empty(type)
        rows = concat_rows(found)
        if rows.at is not None:
            return rows.take(np.lexsort((rows.at, rows.time)))
        return rows if is_sorted(rows.time) else rows.take(np.argsort(rows.time, kind="stable"))

    def _rows_of(self, part: Part) -> Rows:
        """Derived events as rows, with a place within their instant if it is asked for."""
        rows = part.rows()
        if rows.type not in self._placed or rows.at is not None:
            return rows
        at, derived = np.full(len(rows), INSTANT, np.int64), np.full(len(rows), part.out.place, np.int32)
        return replace(rows, at=at, derived=derived, cache={})

    def _keep(self, tables: Mapping[str, Rows], frontier: int) -> None:
        """Forget the rows that no later row can look at (closed windows: ages up to the retention)."""
        state = self.state
        for t in self._past:
            rows = tables[t]
            oldest = max(frontier + 1 - self.stage.retention[t], FIRST_TICK)
            begin = int(np.searchsorted(rows.time, oldest, side="left"))
            past = rows.slice(begin)
            past.cache = kept_of(rows, begin, self.codes)
            state.pasts[t] = past
        for (place, t), serials in list(state.consumed.items()):
            left = state.pasts.get(t)
            if left is None or left.serial is None or len(left) == 0:
                state.consumed.pop((place, t))
            else:
                state.consumed[(place, t)] = serials[serials >= left.serial[0]]


class Shown(SomeRows):
    """The rows of every type as operators see them, past and new; those of the input are made when they are read.

    ``of``, ``spans``: the new rows of the input, as they arrived.
    """

    __slots__ = ("_make", "_types", "made")

    def __init__(self, types: Collection[str], new: Mapping[str, Rows], make: Callable[[str], Rows]) -> None:
        self._types, self._make = types, make
        self.made: dict[str, Rows] = {}
        if isinstance(new, SomeRows):
            self.of, self.spans = new.of, new.spans
        else:
            self.of, self.spans = new, {t: (0, len(rows)) for t, rows in new.items()}

    def __getitem__(self, type: str) -> Rows:
        found = self.made.get(type)
        if found is None:
            found = self.made[type] = self._make(type)
        return found

    def __contains__(self, type: object) -> bool:
        return type in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def put(self, type: str, rows: Rows) -> None:
        """The rows of a type that is derived here."""
        self.made[type] = rows


class Step:
    """One call of an engine.  ``until``: up to when the rows of a type are complete, if that is before the frontier."""

    def __init__(
        self, engine: Engine, new: Mapping[str, Rows], frontier: int, start: int | None, closing: bool
    ) -> None:
        self.engine, self.new, self.frontier, self.start, self.closing = engine, new, frontier, start, closing
        self.tables = Shown(engine.stage.shown, new, self._from_outside)
        self.found: list[Detected] = []
        self.until: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self.consumed: dict[tuple[int, str], np.ndarray] = {}
        self._cut: dict[int, Since] = {}
        #: the blocks by type, of the first ``_seen``
        self._of_type: dict[str, list[Detected]] = {}
        self._seen = 0

    def run(self, operator: Operator) -> None:
        """A call of an operator."""
        engine, state = self.engine, self.engine._state
        since, start, tables = state.frontier, self.start, self._shown(operator)
        if operator.born is not None:
            start = operator.born if start is None else max(start, operator.born)
            since = operator.born if since is None else max(since, operator.born)
        call = Call(
            tables, since, self.frontier, start, engine.stage.kind, self.closing, engine.labelled, engine.codes,
            engine.stage.domains, state.consumed,
        )  # fmt: skip
        outcome = operator.advance(state.of(operator), call)
        self.found += [Detected.of(block, engine.labelled) for block in outcome.blocks]
        if outcome.complete:
            self.until |= outcome.complete
        if outcome.consumed:
            self.consumed |= outcome.consumed
        for what, n in outcome.counts.items():
            self.counts[what] = max(n, self.counts.get(what, 0))

    def has_rows(self, operator: Operator) -> bool:
        """Are there new rows of the input that an operator reads?"""
        new = self.new
        return any(port.type in new and len(new[port.type]) for port in operator.ports)

    def _shown(self, operator: Operator) -> Mapping[str, Rows]:
        """The rows that an operator reads."""
        engine = self.engine
        if engine.direct and operator.born is None:
            return self.tables
        own = operator.feeds_back
        tables = {port.type: self.tables[port.type] for port in operator.ports if port.type not in own}
        for t in own:
            tables[t] = engine.behind_past(t, engine.derived_rows(t, self._parts(t), self.new.get(t)), None)
        if operator.born is None:
            return tables
        # cut once for all that were added at the same time
        cut = self._cut.setdefault(operator.born, Since(self.tables, operator.born))
        cut = Since(tables, operator.born) if own else cut
        return {t: cut[t] for t in tables}

    def _from_outside(self, type: str) -> Rows:
        """The past and the new rows of a type that is not derived here."""
        rows = self.new.get(type) or self.engine.empty(type)
        return rows if self.engine.direct else self.engine.with_past(type, rows)

    def _parts(self, type: str) -> list[Part]:
        """The detections of a type so far, definition by definition in evaluation order."""
        for found in self.found[self._seen :]:
            for t in {out.type for out in found.block.outs}:
                self._of_type.setdefault(t, []).append(found)
        self._seen = len(self.found)
        return sorted([p for f in self._of_type.get(type, ()) for p in f.parts(type)], key=lambda part: part.out.place)

    def complete(self, type: str) -> None:
        """Show the rows of a type that is derived here."""
        rows = self.engine.derived_rows(type, self._parts(type), self.new.get(type))
        self.tables.put(type, self.engine.with_past(type, rows))

    def new_rows(self, type: str) -> Rows:
        """All rows of a derived type in this call."""
        rows = self.tables.made.get(type)
        if rows is not None:
            return rows.slice(rows.new)
        return self.engine.derived_rows(type, self._parts(type), self.new.get(type))

    def consumed_serials(self) -> dict[tuple[int, str], np.ndarray]:
        """The serial numbers of the rows that definitions have consumed by now."""
        out = {}
        for (place, t), gone in self.consumed.items():
            serial = self.tables[t].serial
            assert serial is not None
            out[place, t] = serial[len(serial) - len(gone) :][gone]
        return out

    def result(self) -> TypeRows:
        """The detections, and the rows of the input that are asked for."""
        stage, given = self.engine.stage, {}
        for t in stage.asked:
            if t in stage.made and t not in self.new:
                continue
            rows = self.new.get(t) or self.engine.empty(t)
            chosen = subscribed(stage, t, rows)
            given[t] = rows if chosen is None else rows.take(chosen)
        return TypeRows(stage, Parts(stage, self.found, stage.derived), given, self.counts)
