"""A timeline of events (marks), intervals (bars) and signals (lines), as a picture or a page; a notebook shows it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.connect.places import user_path
from occurs.connect.whole import refuse_existing, write_whole
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.source import InputOptions, Instant
from occurs.model.ticks import instant, to_ticks
from occurs.model.time import TimeKind
from occurs.plot.lanes import Chart, chart

if TYPE_CHECKING:
    from occurs.model.history import History
    from occurs.plan.stage import Stage

#: rows and lanes that a page shows at most
PAGE_ROWS, PAGE_LANES = 20_000, 2_000
#: and a picture, which nobody can enlarge
PICTURE_ROWS, PICTURE_LANES = 20_000, 60
SUFFIXES = (".png", ".svg", ".html")
#: pixels, if nobody says how wide a picture is
WIDTH = 1200


@dataclass(frozen=True)
class Timeline:
    """``tables``: type to rows with ``time`` (int64 ticks of ``kind``), ``end`` if they last (null: open), attributes.

    ``key``: the attributes whose values rows are grouped by; ``columns``: their names in some types.  ``guessed``: the
    key is only used if all groups have room.  ``start``, ``end``: the time that is shown, in ticks.  ``inputs``: tables
    of input events, whose numeric attributes are ``signals`` (None: those that look like measured values).
    """

    tables: Mapping[str, pa.Table] = field(repr=False)
    kind: TimeKind
    key: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    title: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    guessed: bool = False
    inputs: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    signals: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        tables: Mapping[str, pa.Table],
        kind: TimeKind,
        *,
        key: str | Sequence[str] | None = (),
        stages: Sequence[Stage] = (),
        start: Instant | None = None,
        end: Instant | None = None,
        title: str = "",
        inputs: Mapping[str, pa.Table] | None = None,
        signals: Sequence[str] | None = None,
    ) -> Timeline:
        """A timeline of tables whose times are timestamps or numbers.

        ``key``: None for the partition key of ``stages``, or else for an attribute that all types have.  Raises
        UsageProblem.
        """
        ticks = {name: _in_ticks(table) for name, table in tables.items()}
        events = {name: _in_ticks(table) for name, table in (inputs or {}).items() if name not in tables}
        first = None if start is None else instant(start, kind, "--from")
        last = None if end is None else instant(end, kind, "--to")
        if first is not None and last is not None and first >= last:
            raise UsageProblem.of("bad-option", f"--from {start} is not before --to {end}")
        named: tuple[str, ...] = (key,) if isinstance(key, str) else tuple(key or ())
        columns: Mapping[str, tuple[str, ...]] = {}
        guessed = False
        if key is None:
            from occurs.plot.keys import of_stages, shared

            named, columns = of_stages(stages, ticks, events)
            if not named:
                named, guessed = shared({**events, **ticks}), True
        drawn = None if signals is None else tuple(signals)
        return cls(ticks, kind, named, first, last, title, columns, guessed, events, drawn)

    def picture(self) -> Chart:
        """The rows that a picture shows."""
        return self._chart(PICTURE_ROWS, PICTURE_LANES)

    def page(self) -> Chart:
        """The rows that a page shows."""
        return self._chart(PAGE_ROWS, PAGE_LANES)

    def _chart(self, rows: int, lanes: int) -> Chart:
        def made(key: tuple[str, ...]) -> Chart:
            return chart(
                self.tables, self.kind, key=key, start=self.start, end=self.end, title=self.title, most_rows=rows,
                most_lanes=lanes, columns=self.columns if key else None, inputs=self.inputs, signals=self.signals,
            )  # fmt: skip

        shown = made(self.key)
        if self.guessed and self.key and any("keys are shown" in notice for notice in shown.notices):
            return made(())
        return shown

    def svg(self, *, width: float = WIDTH, theme: str | None = None, ground: bool = True) -> str:
        """The picture as SVG.  ``theme``: ``light`` or ``dark`` (None: that of the reader); ``ground``: its background
        is drawn."""
        from occurs.plot.drawing import svg

        return svg(self.picture(), width=width, theme=theme, ground=ground)

    def save(
        self, path: str | Path, *, overwrite: bool = False, width: float = WIDTH, theme: str | None = None
    ) -> Chart:
        """Write ``.png``, ``.svg`` or ``.html``; returns what it shows, with notices about rows that it leaves out.

        ``overwrite``: replace a file that exists.  ``width``: of a picture, in pixels.  ``theme``: of a picture,
        ``light`` or ``dark`` (None: light for PNG, that of the reader for SVG).  Raises UsageProblem (another suffix,
        no such directory, ``exists``), ResourceProblem (no right to write, no matplotlib).
        """
        target = user_path(path)
        check(target, str(path), overwrite=overwrite)
        suffix = target.suffix.lower()
        if suffix == ".html":
            from occurs.plot.page import page

            shown = self.page()
            data = page(shown).encode()
        elif suffix == ".svg":
            from occurs.plot.drawing import svg

            shown = self.picture()
            data = svg(shown, width=width, theme=theme).encode()
        else:
            from occurs.plot.png import png

            shown = self.picture()
            data = png(shown, width=width, theme=theme)
        write_whole(target, data, str(path))
        return shown

    def _repr_html_(self) -> str:
        return self.frame()

    def frame(self, rows: int = PAGE_ROWS) -> str:
        """The page in a frame of its own: its script and style touch nothing else in the notebook.  ``rows``: how many
        it shows at most."""
        from occurs.plot.page import page

        shown = self._chart(rows, PAGE_LANES)
        height = min(700, 185 + 24 * shown.rows)
        text = html.escape(page(shown))
        style = f"width: 100%; height: {height}px; border: 0"
        return f'<iframe srcdoc="{text}" sandbox="allow-scripts" style="{style}"></iframe>'


def input_events(events: Any, kind: TimeKind, options: InputOptions | None = None) -> History:
    """Input events by type: one table with a type column, a mapping from types to tables, or sources.

    Raises InputProblem, and UsageProblem if their times are not of ``kind``, that of the detections.
    """
    from occurs.model.history import normalise
    from occurs.options import sources_of

    if options is None:
        options = InputOptions(time_unit=None if kind.timestamp else kind.unit)
    history = normalise(sources_of(events), options=options)
    if history.tables and history.kind.timestamp != kind.timestamp:
        names = ("timestamps", "integers") if history.kind.timestamp else ("integers", "timestamps")
        text = f"the times of the events are {names[0]}, those of the detections are {names[1]}"
        raise UsageProblem.of("bad-option", text, hint="give the events from which the detections were made")
    return history


def check(target: Path, named: str, *, overwrite: bool) -> None:
    """Find out before any work if nothing can be written there; ``named``: the target as messages show it."""
    if target.suffix.lower() not in SUFFIXES:
        text = f"{named}: unsupported output format `{target.suffix}`"
        raise UsageProblem.of("unknown-format", text, hint="use .png, .svg or .html")
    if not target.parent.is_dir():
        raise UsageProblem.of("missing-file", f"{named}: there is no directory {target.parent}")
    if target.is_dir():
        raise ResourceProblem.of("cannot-write", f"{named}: a directory of that name is in the way")
    if not overwrite:
        refuse_existing(target, named)


def _in_ticks(table: pa.Table) -> pa.Table:
    for name in ("time", "end"):
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, to_ticks(table[name])[0])
    return table
