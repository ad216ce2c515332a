"""The page of the documentation with what the benchmarks measured: ``python -m benchmarks.page TABLES.json [PAGE]``.

``python -m benchmarks --json TABLES.json`` writes the tables.  The page keeps its text; what stands between the two
marks is written anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from benchmarks.report import Cell, text_of

PAGE = Path("docs") / "explanation" / "performance.md"
BEGIN, END = "<!-- tables of the benchmarks: `make bench-report` writes them -->", "<!-- end of the tables -->"


def between(page: str, tables: str) -> str:
    """The page with other tables.  ValueError if it does not have the two marks."""
    head, found, rest = page.partition(BEGIN)
    _, closed, tail = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"the page needs the lines {BEGIN!r} and {END!r}")
    return f"{head}{BEGIN}\n\n{tables}\n{END}{tail}"


def markdown(data: dict[str, Any]) -> str:
    """The tables of a run, each with its part, its notes, and the day and machine of the run."""
    out: list[str] = []
    part = None
    for table in data["tables"]:
        if table["part"] != part:
            part = table["part"]
            out += [f"### Part `{part}`", ""]
        run = table["run"]
        quick = ", `--quick`" if run["quick"] else ""
        out += [f"**{_safe(table['title'])}** ({run['date']}, {run['machine']}, Python {run['python']}{quick})", ""]
        out += _rows(table["columns"], table["formats"], table["rows"])
        out += ["", *(f"- {_safe(note)}" for note in table["notes"]), *([""] if table["notes"] else [])]
    return "\n".join(out)


def _rows(columns: list[str], formats: list[str], rows: list[list[Cell]]) -> list[str]:
    words = [any(isinstance(row[at], str) for row in rows) for at in range(len(columns))]
    lines = [[_safe(name) for name in columns], ["---" if left else "---:" for left in words]]
    lines += [[_safe(text_of(cell, form)) for cell, form in zip(row, formats, strict=True)] for row in rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _safe(text: str) -> str:
    """As Markdown shows it, in one line."""
    for sign in ("\\", "|", "*", "_", "<", "`", "["):
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


@click.command()
@click.argument("tables", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("page", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=PAGE)
def main(tables: Path, page: Path) -> None:
    """Write TABLES, which the benchmarks kept as JSON, into PAGE."""
    text = markdown(json.loads(tables.read_text(encoding="utf-8")))
    page.write_text(between(page.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
