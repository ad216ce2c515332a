"""Tables of a run: printed with rich, and kept as plain rows for ``--json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape
from rich.table import Table

#: a cell: text, a number with its format, or None (nothing to say)
Cell = str | int | float | None


@dataclass
class Report:
    """A table: ``columns`` (name, format of its numbers), ``rows``, and ``notes`` below it."""

    title: str
    columns: Sequence[tuple[str, str]]
    rows: list[list[Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        """One row.  ValueError if it does not fit the columns."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(list(cells))

    def show(self, console: Console) -> None:
        table = Table(title=self.title, title_justify="left", title_style="bold")
        texts = [[escape(text_of(c, form)) for c, (_, form) in zip(row, self.columns)] for row in self.rows]
        for at, (name, _) in enumerate(self.columns):
            words = any(isinstance(row[at], str) for row in self.rows)
            table.add_column(name, justify="left" if words else "right", overflow="fold")
        for row in texts:
            table.add_row(*row)
        console.print(table)
        for note in self.notes:
            console.print(f"[dim]{escape(note)}[/dim]")
        console.print()

    def plain(self) -> dict[str, object]:
        """As data: title, columns, the formats of their numbers, rows, notes."""
        return {
            "title": self.title,
            "columns": [name for name, _ in self.columns],
            "formats": [form for _, form in self.columns],
            "rows": self.rows,
            "notes": self.notes,
        }


def text_of(cell: Cell, form: str) -> str:
    """What a table shows of a cell."""
    if cell is None:
        return "–"
    return cell if isinstance(cell, str) else format(cell, form)


def ratio(ours: float, theirs: float | None) -> float | None:
    """``ours / theirs``; None without a peer."""
    return ours / theirs if theirs else None
