"""The plan of a program as data: what each definition reads and keeps, and how it can be split."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from occurs.errors import Problem
from occurs.languages.kit.language import suffixes
from occurs.loading import language_of
from occurs.model.time import TimeKind
from occurs.plan.explain import laid, partitioning
from occurs.program import Program
from occurs.services.answers import Plan
from occurs.services.checks import snapshot

#: file, line and column
_Start = tuple[str, int, int]


def plan(texts: Mapping[str, str], tables: Any = None, options: Mapping[str, Any] | None = None) -> Plan:
    """Plan a program, as ``occurs explain`` does.

    Args:
        texts: The texts of the whole program by path, below the working directory if rules read files.
        tables: Events as for :meth:`occurs.Program.detect`, whose columns the plan then shows; None: the plan without
            data.
        options: The options of :meth:`occurs.Program.explain`, such as ``time_unit``.

    Returns:
        The plan.  A definition that keeps rows without limit says so in ``retention``, with the hint of the warning.

    Raises:
        SyntaxProblem: If a text is not in its language.
        DefinitionProblem: If the rules are wrong, or do not fit the columns of the events.
        InputProblem: If the events cannot be read.
        UsageProblem: If an option is invalid, or the language of a path is unknown.

    Examples:
        >>> from occurs.services import plan
        >>> found = plan({"hot.tesla": "define Hot(v) from Temp(Value > 45) where v = Temp.Value"})
        >>> [(d["name"], d["reads"], d["key"], d["retention"]) for d in found.definitions]
        [('Hot', ['Temp'], {}, [])]
        >>> found.definitions[0]["why_no_key"]
        'it reads one row at a time and needs no key'
    """
    folders = {path: Path(path).parent.absolute() for path in texts}
    program = Program([(text, path, language_of(path)) for path, text in texts.items()], folders=folders)
    explained = program.explain(tables, **(options or {}))
    data = explained.data
    notes = _notes(data, TimeKind(**data["time"]))
    titles = _titles(texts)
    planned = [(operator["level"], d) for operator in data["operators"] for d in operator["definitions"]]
    warned = _warned([d for _, d in planned], program.problems)
    definitions = [_definition(d, level, titles, notes.get(d["type"], []), warned) for level, d in planned]
    return Plan(data["inputs"], definitions, data["spark"], data["stream"], str(explained))


def _titles(texts: Mapping[str, str]) -> dict[_Start, str]:
    """The names of statements by their file, line and column."""
    entries = snapshot(texts).entries()
    return {(path, e.span.line, e.span.column): e.name for path, e in entries if e.span is not None}


def _notes(data: Mapping[str, Any], kind: TimeKind) -> dict[str, list[str]]:
    """By type, how hosts run its definitions, in words."""
    out: dict[str, list[str]] = {}
    for host, groups, shown in (
        ("Spark", data["spark"], lambda g: partitioning(g, kind)),
        ("stream", data["stream"]["lanes"], laid),
    ):
        for group in groups:
            for t in group["types"]:
                out.setdefault(t, []).append(f"{host}: {shown(group)}")
    return out


def _definition(
    d: Mapping[str, Any],
    level: int,
    titles: Mapping[_Start, str],
    notes: Sequence[str],
    warned: Mapping[_Start, Sequence[Problem]],
) -> dict[str, Any]:
    """A definition of a plan; ``warned``: warnings of the texts by the start of the definition."""
    file, span, at = d["file"], d["span"], _start(d)
    suffix = "" if file is None else Path(file).suffix
    warnings = [
        {"kind": p.kind, "severity": p.severity, "message": p.message, "hint": p.hint} for p in warned.get(at, ())
    ]
    own = [{"severity": "warning", **w} for w in d["warnings"]]
    warnings += [w for w in own if w not in warnings]
    found = [(w["message"], w["hint"]) for w in warnings if w["kind"] == "unbounded-state"]
    hint = next((h for _, h in found), None)
    retention = [{**kept, "hint": hint if kept["unbounded"] else None} for kept in d["retention"]]
    if found and not any(kept["unbounded"] for kept in retention):
        retention += [{"type": None, "ticks": None, "text": m, "unbounded": True, "hint": h} for m, h in found]
    return {
        "name": titles.get(at, d["type"]),
        "language": suffixes().get(suffix, ""),
        "output": d["type"],
        "reads": list(d["reads"]),
        "level": level,
        "key": d["key"],
        "why_no_key": d["why_no_key"],
        "retention": retention,
        "state": d["state"],
        "notes": list(notes),
        "warnings": warnings,
        "file": file,
        "line": d["line"],
        "span": span,
    }


def _start(d: Mapping[str, Any]) -> _Start:
    span = d["span"] or {"line": 0, "column": 0}
    return d["file"] or "", span["line"], span["column"]


def _warned(definitions: Sequence[Mapping[str, Any]], problems: Sequence[Problem]) -> dict[_Start, list[Problem]]:
    """Warnings and notices of the texts by the start of the definition that has their place."""
    starts = sorted(map(_start, definitions))
    out: dict[_Start, list[Problem]] = {}
    for p in problems:
        if p.severity != "error" and p.span is not None:
            i = bisect_right(starts, (p.file or "", p.span.line, p.span.column)) - 1
            if i >= 0 and starts[i][0] == p.file:
                out.setdefault(starts[i], []).append(p)
    return out
