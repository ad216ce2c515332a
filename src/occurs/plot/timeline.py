"""A timeline of events (marks), intervals (bars) and signals (lines), as a picture or a page; a notebook shows it."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.connect.atomic_files import refuse_existing, write_whole
from occurs.connect.places import user_path
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.source import InputOptions, Instant
from occurs.model.ticks import instant, to_ticks
from occurs.model.time import TimeKind
from occurs.plot.lanes import Answer, Chart, Lane, chart

if TYPE_CHECKING:
    from occurs.model.history import History
    from occurs.operators.definition import Choice
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
    ``answer``: of why and why-not, the asked time and the rows that stand out.
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
    answer: Answer | None = None

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
                answer=self.answer,
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

        shown = self._chart(rows, PAGE_LANES)
        height = min(700, 185 + 24 * shown.rows)
        text = html.escape(page(shown))
        style = f"width: 100%; height: {height}px; border: 0"
        return f'<iframe srcdoc="{text}" sandbox="allow-scripts" style="{style}"></iframe>'


def input_events(events: Any, kind: TimeKind, options: InputOptions | None = None) -> History:
    """Input events by type: one table with a type column, a mapping from types to tables, or sources.

    Raises InputProblem, and UsageProblem if their times are not of ``kind``, that of the detections.
    """
    from occurs.connect.tables import sources_of
    from occurs.model.history import normalise

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


# --- by which attributes rows are grouped, if nobody says so ---------------------------------------------------------

_SPECIAL = ("type", "time", "end", "label", "because", "final", "query", "sequence")


def split(stage: Stage) -> list[Stage]:
    """The definitions of a plan that run together, as plans with keys of their own."""
    from occurs.plan.partitioning import groups

    return [group.stage for group in groups(stage.definitions, stage)]


def of_stages(
    stages: Sequence[Stage], tables: Mapping[str, pa.Table], inputs: Mapping[str, pa.Table]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The partition key of the definitions of ``tables``, and what each type calls it.

    Definitions with different keys: the key that most of the types with rows have.  Empty if there is none.
    """
    # an attribute -> what types call the key that it is, and which outputs it joins
    named: dict[str, dict[str, str]] = {}
    joined: dict[str, set[str]] = {}
    for stage in stages:
        for d in stage.definitions:
            ways = [c for c in d.choices if _agrees(c, stage.key)]
            for choice in ways:
                names = {t: own[0] for t, own in choice.attributes}
                wanted = {a.lower() for a in names.values()}
                if choice.passes:
                    passed = sorted(choice.passes, key=lambda n: (n.lower() not in wanted, n))
                    names.setdefault(d.output, passed[0])
                for attribute in wanted:
                    for t, a in names.items():
                        named.setdefault(attribute, {}).setdefault(t, a)
                    # a rule over single events can be split by any of its attributes: it chooses none
                    if d.output in names and (len(ways) == 1 or len(choice.attributes) > 1):
                        joined.setdefault(attribute, set()).add(d.output)
    shown = {t for t, table in tables.items() if len(table)} or set(tables)
    scores = {a: len(outputs & shown) for a, outputs in joined.items()}
    best = max(scores, key=lambda a: (scores[a], len(shown & named[a].keys())), default=None)
    if best is None or not scores[best]:
        return (), {}
    names = dict(named[best])
    # called as the first detection calls it; a type that no definition reads may have an attribute of that name
    first = next(names[t] for t in (*tables, *inputs) if t in names)
    alike = {a.lower() for a in names.values()}
    for t, table in {**inputs, **tables}.items():
        names.setdefault(t, next((c for c in table.column_names if c.lower() in alike), ""))
    return (first,), {t: (names[t],) for t in (*tables, *inputs)}


def _agrees(choice: Choice, key: Mapping[str, tuple[str, ...]]) -> bool:
    """Is it a way to split that the key of the stage is made of?"""
    return all(set(own) & set(key.get(t, own)) for t, own in choice.attributes)


def shared(tables: Mapping[str, pa.Table]) -> tuple[str, ...]:
    """An attribute that all types with rows have, of text or whole numbers, with at least two values of which one
    repeats: text before numbers, then the order of the columns.  Empty if there is none."""
    there = [t for t in tables.values() if len(t)]
    found: list[tuple[bool, int, str]] = []
    for place, name in enumerate(there[0].column_names if there else ()):
        columns = [next((t[c] for c in t.column_names if c.lower() == name.lower()), None) for t in there]
        known = [c for c in columns if c is not None]
        if name in _SPECIAL or len(known) < len(there):
            continue
        text = all(_is_text(c.type) for c in known)
        if not text and not all(pa.types.is_integer(c.type) for c in known):
            continue
        values = pa.chunked_array([chunk for c in known for chunk in c.cast(pa.string()).chunks], pa.string())
        different = pc.count_distinct(values, mode="all").as_py()
        if 1 < different < len(values):
            found.append((not text, place, name))
    return (min(found)[2],) if found else ()


def _is_text(type: pa.DataType) -> bool:
    if pa.types.is_dictionary(type):
        type = type.value_type
    return pa.types.is_string(type) or pa.types.is_large_string(type)


# --- one page of HTML that needs nothing else: it moves, zooms and tells what is under the pointer --------------------


def page(chart: Chart) -> str:
    """The page.  Text of users is escaped where it is markup, and data elsewhere; nothing is loaded from anywhere."""
    title = chart.title or "Timeline"
    # `<` cannot end the script that holds the data, nor begin a comment in it
    data = json.dumps(_data(chart), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        data = data.replace(letter, f"\\u{ord(letter):04x}")
    before, middle, after = _template().split("@@")[::2]
    return before + html.escape(title) + middle + data + after


@cache
def _template() -> str:
    """Text with ``@@title@@`` and ``@@data@@`` in it."""
    return files("occurs.plot").joinpath("page.html").read_text(encoding="utf-8")


def _data(chart: Chart) -> dict[str, Any]:
    return {
        "title": chart.title,
        "stamped": chart.kind.timestamp,
        "unit": chart.kind.unit or "ticks",
        # times are given from here, so that they are exact in floats; text, as these have 53 bits
        "base": str(chart.start),
        "span": max(chart.end - chart.start, 1),
        "types": [{"name": t, "colour": c, "input": t in chart.inputs, "added": t in chart.answer.added}
                  for t, c in chart.colours.items()],
        "groups": [
            {"name": g.name, "lanes": [_lane(lane, chart) for lane in g.lanes]} for g in chart.groups
        ],
        "notices": list(chart.notices),
        "asked": None if chart.answer.asked is None else [t - chart.start for t in chart.answer.asked],
    }  # fmt: skip


def _lane(lane: Lane, chart: Chart) -> dict[str, Any]:
    return {
        "type": chart.types.index(lane.type),
        "lasting": lane.lasting,
        "rows": lane.rows,
        "start": _from(lane.start, chart.start),
        "end": _from(lane.end, chart.start) if lane.lasting else [],
        "open": np.flatnonzero(lane.open).tolist(),
        "row": lane.row.tolist() if lane.rows > 1 else [],
        "crowded": np.flatnonzero(lane.crowded).tolist(),
        "label": lane.label,
        "text": lane.text,
        "signal": lane.signal,
        "values": None if lane.values is None else [None if np.isnan(v) else v for v in lane.values.tolist()],
    }


def _from(ticks: np.ndarray, base: int) -> list[int]:
    # Python's integers: the difference of two int64 may be none
    return [t - base for t in ticks.tolist()]
