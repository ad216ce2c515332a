"""Programs, detections and plans as HTML.

A notebook shows an object by its ``_repr_html_``.  Text of users is escaped; nothing is loaded from anywhere, and
colours are those of the notebook, light or dark.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.connect.reasons import Reason, has_reasons, reasons
from occurs.errors import DefinitionProblem, Problem
from occurs.languages.language import folder, names
from occurs.model.astext import plain_text
from occurs.model.types import Schema, Type

if TYPE_CHECKING:
    from occurs.detections import Detections
    from occurs.program import Program

#: types with rows that are shown, rows of each, and rows of all types on the timeline
TYPES, ROWS, DRAWN = 20, 10, 2_000
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


def program(given: Program) -> str:
    """The definitions of a program with what they read, its inputs, how Spark can split it, and its warnings."""
    from occurs.plan.explain import explain, partitioning

    try:
        stage = given._plan_without_data()
    except DefinitionProblem as error:  # more has to be known of the input
        body = [_definitions(given, {}), *_problems([*given.problems, *error.problems])]
        return _view(body)
    attributes = {t: _attributes(schema) for t, schema in stage.schemas.items()}
    inputs = [(t, attributes.get(t, "")) for t in sorted(given.external)]
    ways = [partitioning(group, stage.kind) for group in explain(stage).data["spark"]]
    body = [
        _definitions(given, attributes),
        _heading("Inputs"),
        _table(["type", "attributes"], inputs),
        _heading("On Spark"),
        f"<ul>{''.join(f'<li>{html.escape(text)}</li>' for text in ways)}</ul>",
        *_problems(given.problems),
    ]
    return _view(body)


def _attributes(schema: Schema) -> str:
    """The attributes of a type, with their types where these are known."""
    return ", ".join(n if kind is Type.NULL else f"{n}: {kind}" for n, kind in schema)


def _definitions(given: Program, attributes: dict[str, str]) -> str:
    rows = [
        (node.defines, attributes.get(node.defines, ""), _language(language), ", ".join(sorted(node.now | node.back)))
        for language, node in given.outline
    ]
    return _heading(_counted(len(rows), "definition")) + _table(["defines", "attributes", "language", "reads"], rows)


def _language(name: str) -> str:
    """What users call a language; one folder may have several."""
    return "/".join(n for n in names() if folder(n) == name) or name


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def detections(given: Detections[Any]) -> str:
    """The detections of every type: how many, the first of them, and a timeline.  Of detections on Spark, which would
    have to be computed first, only the types and their columns."""
    from occurs.detections import LocalDetections

    if not isinstance(given, LocalDetections):
        lines = [(t, ", ".join(given[t].columns)) for t in given]
        text = "Spark computes the detections of a type when an action needs them."
        return _view([_heading(given.__class__.__name__), _table(["type", "columns"], lines), _dim(text)])
    tables = {t: given.arrow(t) for t in given}
    read = given.counts.get("rows")
    found = sum(map(len, tables.values()))
    among = "" if read is None else f"in {_counted(read, 'event')}"
    body = [_heading(_counted(found, "detection"), among), *_problems(given.notices)]
    seen = [t for t, table in tables.items() if len(table)]
    for name in seen[:TYPES]:
        body += [_heading(name, f"{len(tables[name]):,}"), rows(name, tables[name])]
    if len(seen) > TYPES:
        body.append(_dim(f"… and {len(seen) - TYPES:,} more types with detections"))
    without = [t for t in tables if t not in seen]
    if without:
        more = f" and {len(without) - TYPES:,} more types" if len(without) > TYPES else ""
        body.append(_dim(f"no detections of {', '.join(without[:TYPES])}{more}"))
    if seen:
        body.append(given.timeline(only=seen).frame(rows=DRAWN))
    return _view(body)


def rows(type: str, table: pa.Table, most: int = ROWS) -> str:
    """The first rows of a type; constituents, where they are known, unfold below each."""
    head = table.slice(0, most)
    left = len(table) - len(head)
    more = _dim(f"… and {left:,} more") if left else ""
    if has_reasons(table):
        return "".join(map(_reason, reasons(type, head))) + more
    shown = [n for n in head.column_names if n != "type"]
    columns = [plain_text(head[n]).to_pylist() for n in shown]
    numbers = {n for n in shown if pa.types.is_integer(head[n].type) or pa.types.is_floating(head[n].type)}
    return _table(shown, zip(*columns, strict=True), numbers) + more


def _reason(reason: Reason) -> str:
    parts = [(line.head, line.when, line.values) for line in reason.constituents]
    head = reason.detection
    summary = f"<b>{html.escape(head.head)}</b> {html.escape(head.when)} {html.escape(head.values)}"
    table = _table(["because of", "time", "values"], parts)
    return f"<details open><summary>{summary}</summary>{table}</details>"


def explanation(text: str) -> str:
    """A plan: a heading for every question, and its lines below."""
    body = []
    for part in text.split("\n\n"):
        head, *lines = part.split("\n")
        items = "".join(f"<li>{html.escape(line.strip())}</li>" for line in lines)
        body.append(f"{_heading(head.rstrip(':'))}<ul>{items}</ul>")
    return _view(body)


def _problems(problems: Sequence[Problem]) -> list[str]:
    return [f'<pre class="warning">{html.escape(p.render())}</pre>' for p in problems]


def _view(body: Iterable[str]) -> str:
    return f'{_STYLE}<div class="occurs">{"".join(body)}</div>'


def _heading(text: str, more: str = "") -> str:
    small = f" <small>{html.escape(more)}</small>" if more else ""
    return f"<h4>{html.escape(text)}{small}</h4>"


def _dim(text: str) -> str:
    return f'<div class="dim">{html.escape(text)}</div>'


def _table(titles: Sequence[str], rows: Iterable[Sequence[str | None]], numbers: Iterable[str] = ()) -> str:
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
