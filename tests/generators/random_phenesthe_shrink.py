"""A failing Phenesthe case made small, and written as a text case (:mod:`tests.textcases.phenesthe`).

::

    case = random_program(random.Random(seed))
    print(text_of(shrunk(case, fails)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tests.textcases.phenesthe import LastingCase, Line, Loaded, Written

from occurs.errors import OccursError
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks import analyse
from occurs.languages.phenesthe.parser import parse
from occurs.languages.phenesthe.render import render
from occurs.model.time import TimeKind
from occurs.model.types import Schema, from_arrow

Item = TypeVar("Item")
Fails = Callable[[LastingCase], bool]


# --- as text ----------------------------------------------------------------------------------------------------------


def text_of(case: LastingCase, name: str | None = None) -> str:
    """The case in Markdown, with what the reference semantics finds."""
    loaded = Loaded(case)
    found = [_written(line, loaded.names[line[0]]) for line in loaded.batch()]
    options = [f"unit: {case.kind.unit if not case.kind.timestamp else 'timestamp'}"] if case.kind.unit else []
    options += [f"{option}: {_time(at, case.kind)}" for option, at in case.times.items()]
    blocks = {
        "phen": case.rules.rstrip(),
        "in": rows_text(case.rows, case.kind),
        "facts": rows_text(case.facts, case.kind),
        "options": "\n".join(options),
        "out": rows_text(found, case.kind) or "(nothing)",
    }
    body = "".join(f"```{block}\n{text}\n```\n" for block, text in blocks.items() if text)
    return f"## {name or case.name}\n\n{body}"


def _written(line: Line, names: Sequence[str]) -> Written:
    values = {name: value for name, _, value in line[-1]}
    lasting = len(line) == 4
    return Written(line[0], tuple(values[n] for n in names), {}, line[1], line[2] if lasting else None, lasting)


def rows_text(rows: Iterable[Written], kind: TimeKind) -> str:
    """Rows in the notation of the cases, a line per type and values."""
    lines: dict[str, list[Written]] = {}
    for row in rows:
        values = [_value(v) for v in row.values] + [f"{n}={_value(v)}" for n, v in row.named.items()]
        lines.setdefault(f"{row.type}({', '.join(values)})" if values else row.type, []).append(row)
    out = []
    for head, mine in lines.items():
        places = sorted({(r.time, r.end is None, r.end or 0) for r in mine if r.time is not None})
        if not places:
            out += [head] * len(mine)
            continue
        lasting = mine[0].lasting
        shown = (_place(start, None if open_ else end, lasting, kind) for start, open_, end in places)
        out.append(f"{head}@{' '.join(shown)}")
    return "\n".join(out)


def _place(start: int, end: int | None, lasting: bool, kind: TimeKind) -> str:
    if not lasting:
        return _time(start, kind)
    return f"[{_time(start, kind)},∞)" if end is None else f"[{_time(start, kind)},{_time(end, kind)}]"


def _time(ticks: int, kind: TimeKind) -> str:
    if not kind.timestamp:
        return str(ticks)
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks)).isoformat().replace("+00:00", "Z")


def _value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}'"
    return repr(value)


# --- smaller ----------------------------------------------------------------------------------------------------------


def shrunk(case: LastingCase, fails: Fails, rounds: int = 10) -> LastingCase:
    """A smaller case that passes the checks and for which ``fails`` is true as well: fewer rows, definitions, and
    parts of formulas."""

    def bad(smaller: LastingCase) -> bool:
        return is_right(smaller) and fails(smaller)

    for _ in range(rounds):
        before = case
        for smaller in (_fewer_statements, _smaller_formulas, _fewer_rows, _without_clock):
            case = smaller(case, bad)
        if case == before:
            break
    return case


def is_right(case: LastingCase) -> bool:
    """Whether a case passes the checks, over the schemas of its data."""
    try:
        loaded = Loaded(case)
        problems = analyse([loaded.file], schemas_of(loaded), kind=case.kind).problems
    except (OccursError, ValueError, KeyError):  # text, values, rows of a type that is not there any more
        return False
    return not any(p.severity == "error" for p in problems)


def schemas_of(loaded: Loaded) -> dict[str, Schema]:
    """What the tables of a case show of its types."""
    found = {}
    for name, table in {**loaded.tables(), **loaded.fact_tables()}.items():
        columns = ((f.name, from_arrow(f.type)) for f in table.schema if f.name not in ("time", "end"))
        found[name] = Schema(tuple((n, t) for n, t in columns if t is not None))
    return found


def _fewer(items: Sequence[Item], bad: Callable[[tuple[Item, ...]], bool]) -> tuple[Item, ...]:
    """The items without those that can go: first in large pieces, then one by one."""
    left = tuple(items)
    size = max(1, len(left) // 2)
    while True:
        at = 0
        while at < len(left):
            rest = left[:at] + left[at + size :]
            if bad(rest):
                left = rest
            else:
                at += size
        if size == 1:
            return left
        size //= 2


def _fewer_rows(case: LastingCase, bad: Fails) -> LastingCase:
    case = replace(case, rows=_fewer(case.rows, lambda rows: bad(replace(case, rows=rows))))
    return replace(case, facts=_fewer(case.facts, lambda facts: bad(replace(case, facts=facts))))


def _without_clock(case: LastingCase, bad: Fails) -> LastingCase:
    for option in list(case.times):
        without = replace(case, times={k: v for k, v in case.times.items() if k != option})
        case = without if bad(without) else case
    return case


def _with(case: LastingCase, statements: Iterable[syntax.Statement]) -> LastingCase:
    return replace(case, rules="".join(f"{render(s)}\n" for s in statements))


def _fewer_statements(case: LastingCase, bad: Fails) -> LastingCase:
    def without(statements: tuple[syntax.Statement, ...]) -> LastingCase:
        names = {s.name.text for s in statements}
        return replace(
            _with(case, statements),
            rows=tuple(r for r in case.rows if r.type in names),
            facts=tuple(r for r in case.facts if r.type in names),
        )

    statements = parse(case.rules)[0].statements
    # what comes last is read by nothing
    left = _fewer(statements[::-1], lambda some: bad(without(some[::-1])))[::-1]
    return without(left) if len(left) < len(statements) else case


def _smaller_formulas(case: LastingCase, bad: Fails) -> LastingCase:
    """Put parts of formulas in the place of the whole, as long as that can be done."""
    while True:
        statements = parse(case.rules)[0].statements
        declared = [s for s in statements if isinstance(s, syntax.Declaration)]
        atoms = [syntax.Atom(s.name, rest=bool(s.attributes)) for s in declared]
        for i, statement in enumerate(statements):
            if not isinstance(statement, syntax.Definition):
                continue
            tried = (_with(case, (*statements[:i], s, *statements[i + 1 :])) for s in _simpler(statement, atoms))
            smaller = next((c for c in tried if bad(c)), None)
            if smaller is not None:
                case = smaller
                break
        else:
            return case


def _simpler(d: syntax.Definition, atoms: Sequence[syntax.Atom]) -> Iterator[syntax.Definition]:
    if d.where is not None:
        yield replace(d, where=None)
    for body in _replaced(d.body, atoms):
        there = {v.value.name for v in _arguments(body) if isinstance(v.value, syntax.Variable)}
        head = tuple(a for a in d.head if not isinstance(a.value, syntax.Variable) or a.value.name in there)
        if len(head) == len(d.head):
            yield replace(d, body=body)
    for i in range(len(d.head)):
        yield replace(d, head=d.head[:i] + d.head[i + 1 :])


def _arguments(node: syntax.Relation) -> Iterator[syntax.Argument]:
    for part in node.walk():
        if isinstance(part, syntax.Atom):
            yield from part.arguments


def _replaced(node: syntax.Relation, atoms: Sequence[syntax.Atom]) -> Iterator[syntax.Relation]:
    """The formula with one of its parts, or an input, in the place of what contains it; the largest steps first."""
    if isinstance(node, syntax.Atom):
        return
    yield from node.parts
    yield from atoms
    for field in fields(node):
        part = getattr(node, field.name)
        if isinstance(part, syntax.Relation):
            for smaller in _replaced(part, atoms):
                changed: dict[str, Any] = {field.name: smaller}
                yield replace(node, **changed)
