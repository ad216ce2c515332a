"""HTML for notebooks: headings, tables, rows with their reasons, and warnings.

A notebook shows an object by its ``_repr_html_``.  Text of users is escaped; nothing is loaded from anywhere, and
colours are those of the notebook, light or dark.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import pyarrow as pa

from occurs.connect.because_text import Reason, has_reasons, reasons
from occurs.errors import Problem
from occurs.model.astext import plain_text

#: rows that are shown of a type
ROWS = 10
_STYLE = """<style>
.occurs h4 { margin: 0.8em 0 0.3em; font-size: 1em; }
.occurs h4 small, .occurs .dim { font-weight: normal; opacity: 0.7; }
.occurs table { border-collapse: collapse; margin: 0 0 0.4em; font-size: inherit; }
.occurs td, .occurs th { border: 0; border-bottom: 1px solid #8884; padding: 2px 12px 2px 0; text-align: left;
  vertical-align: top; background: none; }
.occurs .number { text-align: right; font-variant-numeric: tabular-nums; }
.occurs code, .occurs pre { background: none; font-size: 0.95em; }
.occurs ul { margin: 0 0 0.4em; padding-left: 1.2em; }
.occurs .warning { border-left: 3px solid #c9902a; padding-left: 8px; margin: 0.3em 0; white-space: pre-wrap; }
.occurs details table { margin: 2px 0 6px 1em; }
.occurs summary { cursor: pointer; }
</style>"""


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def rows(type: str, found: pa.Table, most: int = ROWS) -> str:
    """The first rows of a type; constituents, where they are known, unfold below each."""
    head = found.slice(0, most)
    left = len(found) - len(head)
    more = dim(f"… and {left:,} more") if left else ""
    if has_reasons(found):
        return "".join(map(_reason, reasons(type, head))) + more
    shown = [n for n in head.column_names if n != "type"]
    columns = [plain_text(head[n]).to_pylist() for n in shown]
    numbers = {n for n in shown if pa.types.is_integer(head[n].type) or pa.types.is_floating(head[n].type)}
    return table(shown, zip(*columns, strict=True), numbers) + more


def _reason(reason: Reason) -> str:
    parts = [(line.head, line.when, line.values) for line in reason.constituents]
    head = reason.detection
    summary = f"<b>{html.escape(head.head)}</b> {html.escape(head.when)} {html.escape(head.values)}"
    below = table(["because of", "time", "values"], parts)
    return f"<details open><summary>{summary}</summary>{below}</details>"


def problems(problems: Sequence[Problem]) -> list[str]:
    return [f'<pre class="warning">{html.escape(p.render())}</pre>' for p in problems]


def view(body: Iterable[str]) -> str:
    return f'{_STYLE}<div class="occurs">{"".join(body)}</div>'


def heading(text: str, more: str = "") -> str:
    small = f" <small>{html.escape(more)}</small>" if more else ""
    return f"<h4>{html.escape(text)}{small}</h4>"


def dim(text: str) -> str:
    return f'<div class="dim">{html.escape(text)}</div>'


def table(titles: Sequence[str], rows: Iterable[Sequence[str | None]], numbers: Iterable[str] = ()) -> str:
    right = [' class="number"' if n in frozenset(numbers) else "" for n in titles]
    head = "".join(f"<th{kind}>{html.escape(n)}</th>" for n, kind in zip(titles, right, strict=True))
    lines = [f"<tr>{head}</tr>"]
    for row in rows:
        cells = [
            f"<td{kind}>{'<span class=dim>null</span>' if v is None else html.escape(v)}</td>"
            for v, kind in zip(row, right, strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"
