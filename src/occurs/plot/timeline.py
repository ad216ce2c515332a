"""A timeline of events (marks) and of what lasts (bars), as a picture or a page; shows itself in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from occurs.connect.places import user_path
from occurs.connect.whole import Whole, refuse_existing
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.source import Instant
from occurs.model.ticks import instant, to_ticks
from occurs.model.time import TimeKind
from occurs.plot.lanes import Chart, chart

#: rows and lanes that a page shows at most
PAGE_ROWS, PAGE_LANES = 20_000, 2_000
#: and a picture, which nobody can enlarge
PICTURE_ROWS, PICTURE_LANES = 20_000, 60
SUFFIXES = (".png", ".html")


@dataclass(frozen=True)
class Timeline:
    """``tables``: type to rows with ``time`` (int64 ticks of ``kind``), ``end`` if they last (null: open), attributes.

    ``key``: the attributes whose values rows are grouped by.  ``start``, ``end``: what is shown, in ticks.
    """

    tables: Mapping[str, pa.Table] = field(repr=False)
    kind: TimeKind
    key: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    title: str = ""

    @classmethod
    def of(
        cls,
        tables: Mapping[str, pa.Table],
        kind: TimeKind,
        *,
        key: str | Sequence[str] = (),
        start: Instant | None = None,
        end: Instant | None = None,
        title: str = "",
    ) -> Timeline:
        """A timeline of tables whose times are timestamps or numbers.  Raises UsageProblem."""
        ticks = {name: _in_ticks(table) for name, table in tables.items()}
        first = None if start is None else instant(start, kind, "--from")
        last = None if end is None else instant(end, kind, "--to")
        if first is not None and last is not None and first >= last:
            raise UsageProblem.of("bad-option", f"--from {start} is not before --to {end}")
        return cls(ticks, kind, (key,) if isinstance(key, str) else tuple(key), first, last, title)

    def picture(self) -> Chart:
        """What a picture shows."""
        return self._chart(PICTURE_ROWS, PICTURE_LANES)

    def page(self) -> Chart:
        """What a page shows."""
        return self._chart(PAGE_ROWS, PAGE_LANES)

    def _chart(self, rows: int, lanes: int) -> Chart:
        return chart(
            self.tables, self.kind, key=self.key, start=self.start, end=self.end, title=self.title, most_rows=rows,
            most_lanes=lanes,
        )  # fmt: skip

    def save(self, path: str | Path, *, overwrite: bool = False) -> Chart:
        """Write ``.png`` or ``.html``; returns what it shows, and of what it says that it does not.

        ``overwrite``: replace a file that exists.  Raises UsageProblem (another suffix, no such directory, ``exists``),
        ResourceProblem (no right to write, no matplotlib).
        """
        target = user_path(path)
        check(target, str(path), overwrite=overwrite)
        if target.suffix.lower() == ".html":
            from occurs.plot.page import page

            shown = self.page()
            data = page(shown).encode()
        else:
            from occurs.plot.png import png

            shown = self.picture()
            data = png(shown)
        try:
            with Whole(target) as out:
                out.write(data)
        except OSError as error:
            raise ResourceProblem.of("cannot-write", f"{path}: {error.strerror or error}") from error
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


def check(target: Path, named: str, *, overwrite: bool) -> None:
    """Find out before any work if nothing can be written there; ``named``: the target as messages show it."""
    if target.suffix.lower() not in SUFFIXES:
        raise UsageProblem.of("unknown-format", f"{named}: the suffix is none of {' '.join(SUFFIXES)}")
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
