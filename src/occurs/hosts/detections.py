"""The detections of a run, as users see them: a mapping from types to tables, on every host."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.connect.tables import like
from occurs.engine.calls import Calls
from occurs.engine.outputs import in_order
from occurs.engine.results import TypeRows
from occurs.errors import Problem, UnknownTypeProblem, UsageProblem, did_you_mean
from occurs.model.history import History
from occurs.model.source import Instant
from occurs.model.time import OPEN, TimeKind
from occurs.model.values import short
from occurs.notebook import html
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from occurs.plot.timeline import Timeline


#: in a notebook: types with rows that are shown, and rows of all types on the timeline
_TYPES, _DRAWN = 20, 2_000
Table = TypeVar("Table")


class Detections(Mapping[str, Table]):
    """The detections of a run: a mapping from each reported type to its table.

    The types are in evaluation order.  The tables are of the same kind as the events (pandas, Arrow, Polars or Spark)
    and have the columns ``type``, ``time``, ``end`` (intervals only) and the attributes.  A type without detections has
    a table without rows.

    Attributes:
        notices: The warnings and notices of the run.
        timeouts: The partial matches that EPL's ``timer:within`` or WITHIN of row patterns ended, by statement; None
            unless requested.

    Examples:
        >>> import occurs, pyarrow as pa
        >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        >>> events = pa.table({"type": ["Temp", "Temp"], "time": [0, 60], "Value": [20, 50]})
        >>> found = program.detect(events, time_unit="s")
        >>> list(found), found.counts["rows"], found["Hot"].num_rows
        (['Hot'], 2, 1)
    """

    notices: list[Problem]
    timeouts: Mapping[str, Table] | None

    if TYPE_CHECKING:  # each host has them in its own way

        @property
        def counts(self) -> dict[str, int]:
            """Counts of rows: ``rows`` read, ``bad``, ``outside`` the clock, ``empty`` intervals, more by reason."""

        @property
        def bad(self) -> Table | None:
            """The skipped rows with reason, file, row and value; None if no row was skipped."""

        @property
        def late(self) -> Table | None:
            """The rows that arrived too late (streams on Spark only)."""

        @property
        def never(self) -> Table | None:
            """The temporal triggers that can no longer fire: ``type``, ``time`` and the generic variables of each.

            None if the program has no such triggers.
            """

    @property
    @abstractmethod
    def types(self) -> Collection[str]:
        """The reported types, in evaluation order."""

    @abstractmethod
    def table(self, type: str) -> Table:
        """The detections of a reported type."""

    @abstractmethod
    def arrow(self, type: str) -> pa.Table:
        """The detections of a type as an Arrow table in this process."""

    @property
    @abstractmethod
    def kind(self) -> TimeKind:
        """The kind of the times: timestamps, or integers with a unit."""

    def timeline(
        self,
        key: str | Sequence[str] | None = None,
        *,
        events: Any = None,
        signals: Sequence[str] | None = None,
        only: Sequence[str] | None = None,
        start: Instant | None = None,
        end: Instant | None = None,
        title: str = "",
    ) -> Timeline:
        """Draw a timeline of the detections.

        The rows are collected into this process.

        Args:
            key: The attributes to group by.  None: the partition key of the program, or else an attribute that all
                types have; empty: no groups.
            events: Input events to draw above the detections: one table with a type column, or one per type.
            signals: The numeric attributes of ``events`` to draw as lines.  None: those that look like measured values.
            only: The types of detections to draw, in this order.  None: all.
            start: The start of the timeline.  Default: the first row.
            end: The end of the timeline.  Default: the last row.
            title: The title of the timeline.

        Returns:
            The timeline.  It displays itself in a notebook; ``save("x.png")`` writes it to a ``.png``, ``.svg`` or
            ``.html`` file.

        Raises:
            UsageProblem: If an attribute or a type does not exist.
        """
        from occurs.plot.timeline import Timeline, input_events

        shown = chosen(tuple(self.types), None if only is None else list(only))
        shown = shown if only is None else tuple(dict.fromkeys(only))
        inputs = None if events is None else input_events(events, self.kind).tables
        return Timeline.of(
            {t: self.arrow(t) for t in shown}, self.kind, key=key, stages=self._stages(), start=start, end=end,
            title=title, inputs=inputs, signals=signals,
        )  # fmt: skip

    def _stages(self) -> Sequence[Stage]:
        """The plans of the definitions that run together, each with its partition key, where they are at hand."""
        return ()

    def __getitem__(self, type: str) -> Table:
        if type not in self.types:
            raise UnknownTypeProblem.among(type, self.types)
        return self.table(type)

    def __contains__(self, type: object) -> bool:
        return type in self.types

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({', '.join(self.types)})"

    def _repr_html_(self) -> str:
        """The types and their columns: the rows would have to be computed first."""
        lines = [(t, ", ".join(self[t].columns)) for t in self]  # type: ignore[attr-defined]
        text = "Spark computes the detections of a type when an action needs them."
        shown = html.table(["type", "columns"], lines)
        return html.view([html.heading(self.__class__.__name__), shown, html.dim(text)])


class LocalDetections(Detections[Any]):
    """The detections of a run in this process.

    ``counts``: rows read, bad, outside the clock.., those of :func:`input_counts`;
    ``bad``: the rows left out, with reasons; ``notices``.  ``never``: which temporal triggers (``type``) can fire no
    more, since when (``time``), with their generic variables; None: there are no such triggers.
    """

    def __init__(
        self,
        stage: Stage,
        done: list[TypeRows],
        history: History,
        sample: Any,
        label: bool,
        because: bool,
        only: list[str] | None,
    ):
        self._stage = stage
        self._kind = history.kind
        self._calls = Calls(stage, done)
        self._sample = sample
        self._label = label
        self._because = because
        self._types = dict.fromkeys(chosen(stage.found, only))
        self._tables: dict[str, Any] = {}
        self.counts: dict[str, int] = {**history.counts, **input_counts(stage, history)}
        for what, n in (c for d in done for c in d.counts.items()):
            self.counts[what] = self.counts.get(what, 0) + n
        self.bad: Any = None if history.bad is None else self._like(history.bad)
        self.late: Any = None
        #: per statement with a guard the partial matches that it ended; None: they were not asked for
        self.timeouts = Timeouts(stage.sides, self._ended) if stage.sides else None
        self.notices = list(history.notices)

    @cached_property
    def never(self) -> Any:
        if not self._stage.notices:
            return None
        return self._like(notices({name: self.arrow(t) for t, name in self._stage.notices.items()}))

    def _stages(self) -> Sequence[Stage]:
        from occurs.plot.timeline import split

        return split(self._stage)

    def _like(self, table: pa.Table) -> Any:
        return table if self._sample is None else like(self._sample, table)

    @property
    def types(self) -> Collection[str]:
        return self._types.keys()

    def table(self, type: str) -> Any:
        if type not in self._tables:
            self._tables[type] = self._like(self.arrow(type))
        return self._tables[type]

    def _ended(self, type: str, name: str) -> Any:
        return self._like(called(self.arrow(type), name))

    @property
    def kind(self) -> TimeKind:
        return self._kind

    def arrow(self, type: str) -> pa.Table:
        return self._calls.table(type, label=self._label, because=self._because)

    def only(self, type: str, wanted: Callable[[pa.Table], pa.ChunkedArray], *, plain: bool = False) -> pa.Table:
        """The rows of a type that are ``wanted`` of a table without labels and constituents; ``plain``: such a one."""
        label, because = self._label and not plain, self._because and not plain
        return self._calls.table(type, label=label, because=because, wanted=wanted)

    @property
    def made(self) -> tuple[str, ...]:
        """All types that rules define, reported or only read by other rules, and input that is asked for."""
        own = (t for t in self._stage.defined if t not in self._stage.sides and t not in self._stage.notices)
        return tuple(dict.fromkeys((*own, *self._stage.found)))

    def pieces(self, type: str, most: int) -> Iterator[pa.Table]:
        """The rows of one of the types that are :attr:`made`, at most ``most`` at a time and call by call, so that the
        constituents of all need not be in memory at once.  Calls may overlap in time."""
        for call in self._calls.done:
            yield from call.pieces(type, most, label=self._label, because=self._because)

    def order(self, type: str, pieces: pa.Table) -> np.ndarray | None:
        """The order of the rows of all pieces of a type by time; None: they are in order."""
        time = pieces["time"].cast(pa.int64()).to_numpy()
        if len(time) < 2 or (time[1:] >= time[:-1]).all():
            return None
        return in_order(pieces, self._stage.schemas[type])

    def count(self, type: str) -> int:
        """How many detections of a type there are."""
        return self._calls.count(type)

    def __repr__(self) -> str:
        return f"Detections({', '.join(f'{t}: {self.count(t)}' for t in self)})"

    def _repr_html_(self) -> str:
        """How many detections of every type there are, the first of them, and a timeline."""
        tables = {t: self.arrow(t) for t in self}
        read = self.counts.get("rows")
        among = "" if read is None else f"in {html.counted(read, 'event')}"
        found = html.counted(sum(map(len, tables.values())), "detection")
        body = [html.heading(found, among), *html.problems(self.notices)]
        seen = [t for t, table in tables.items() if len(table)]
        for name in seen[:_TYPES]:
            body += [html.heading(name, f"{len(tables[name]):,}"), html.rows(name, tables[name])]
        if len(seen) > _TYPES:
            body.append(html.dim(f"… and {len(seen) - _TYPES:,} more types with detections"))
        without = [t for t in tables if t not in seen]
        if without:
            more = f" and {len(without) - _TYPES:,} more types" if len(without) > _TYPES else ""
            body.append(html.dim(f"no detections of {', '.join(without[:_TYPES])}{more}"))
        if seen:
            body.append(self.timeline(only=seen).frame(rows=_DRAWN))
        return html.view(body)


class Timeouts(Mapping[str, Any]):
    """Partial matches that guards ended: the name of a statement -> a table, of the kind of the detections.

    A row has ``type``, the name of the statement, ``time``, when the guard ended its pattern, and a column per tag:
    the event, or the events, that it had by then.
    """

    def __init__(self, sides: Mapping[str, str], table: Callable[[str, str], Any]):
        """``sides``: what hosts call them, to the names of statements; ``table``: given both, the table."""
        self._types = {name: type for type, name in sides.items()}
        self._table = table
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._types:
            raise UnknownTypeProblem.among(name, self._types)
        if name not in self._made:
            self._made[name] = self._table(self._types[name], name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def __repr__(self) -> str:
        return f"Timeouts({', '.join(self)})"


def notices(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The notices of all triggers (by their names) as one table, in order of time: type, time, and the generic
    variables of all; one that has different types in different triggers is text."""
    types: dict[str, set[pa.DataType]] = {}
    for table in tables.values():
        for f in table.schema:
            types.setdefault(f.name, set()).add(f.type)
    mixed = {n for n, found in types.items() if len(found - {pa.null()}) > 1}
    parts = []
    for name, table in tables.items():
        own = table.drop_columns([n for n in ("label", "because") if n in table.column_names])
        for n in mixed & set(own.column_names):
            own = own.set_column(own.column_names.index(n), n, own.column(n).cast(pa.string()))
        parts.append(called(own, name))
    whole = pa.concat_tables(parts, promote_options="permissive")
    return whole.take(pc.sort_indices(whole, sort_keys=[("time", "ascending"), ("type", "ascending")]))


def called(table: pa.Table, name: str) -> pa.Table:
    """Rows of the type ``name``."""
    return table.set_column(0, "type", pa.repeat(pa.scalar(name), len(table)))


def chosen(reported: tuple[str, ...], only: list[str] | None) -> tuple[str, ...]:
    """The reported types, or those of them that ``only`` names; UsageProblem for one that is not reported."""
    if only is None:
        return reported
    if isinstance(only, str) or not isinstance(only, Iterable):
        raise UsageProblem.of("bad-option", f"only must be a list of types, not {short(only)}")
    names = [str(name) for name in only]  # some values have no hash
    known, asked = set(reported), set(names)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, reported, "types")
            raise UsageProblem.of("unknown-name", f"`{name}` is not reported", hint=hint)
    return tuple(t for t in reported if t in asked)


# -- counts of the input (phenesthe.md, section 8) ---------------------------------------------------------------------
def input_counts(stage: Stage, history: History) -> dict[str, int]:
    """``null: TYPE.ATTRIBUTE``: rows without a value of an attribute that a formula looks at, which bind nothing.
    ``coalesced: TYPE``: rows of a state that overlap or touch an earlier one with the same values."""
    out = {}
    for d in stage.definitions:
        for type, names in d.nulls.items():
            table = history.tables.get(type, pa.table({}))
            for name in sorted(names & set(table.column_names)):
                if table.column(name).null_count:
                    out[f"null: {type}.{name}"] = table.column(name).null_count
    states = {t for d in stage.definitions for t in d.coalesced}
    for type in sorted(states & history.tables.keys()):
        coalesced = _overlapping(history.tables[type])
        if coalesced:
            out[f"coalesced: {type}"] = coalesced
    return out


def _overlapping(table: pa.Table) -> int:
    """Rows that begin at or before the greatest end of those before them that have the same values."""
    if len(table) < 2:
        return 0
    time = table.column("time").to_numpy()
    end = table.column("end").fill_null(OPEN).to_numpy()
    names = [n for n in table.column_names if n not in ("time", "end", "sequence", "label")]
    values = [table.column(n).combine_chunks().dictionary_encode(null_encoding="encode") for n in names]
    codes = [v.indices.to_numpy(zero_copy_only=False) for v in values]
    order = np.lexsort([time, *codes])
    time, end = time[order], end[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = False
    for code in codes:
        first[1:] |= code[order][1:] != code[order][:-1]
    # the greatest end so far in each group: groups far apart, ends by their rank
    ranked, rank = np.unique(end, return_inverse=True)
    base = np.cumsum(first) * len(ranked)
    greatest = ranked[np.maximum.accumulate(base + rank) - base]
    return int((~first[1:] & (time[1:] <= greatest[:-1])).sum())
