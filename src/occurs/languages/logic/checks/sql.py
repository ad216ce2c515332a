"""A SELECT, judged by the embedded engine on empty tables (temporal-logic.md, sections 2, 3 and 8).

SQLite itself says what it does not know; only reading is allowed.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from occurs.errors import Span, did_you_mean
from occurs.expr.text import Text
from occurs.languages.logic.syntax import Sql
from occurs.model.sqltext import Part, identifiers, parameters, parts, quoted
from occurs.model.types import Type
from occurs.operators.temporal.tree import RelationType

_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
#: how much work a SELECT over nothing may be: one that counts without end is stopped
_STEPS = 100_000
_ITEMS = re.compile(r"(?is)\s*select\s+(?:distinct\s+|all\s+)?(.*?)\s+from\s")
#: types that functions and casts of SQLite return whatever their arguments
_RESULTS = {"count": Type.INT, "length": Type.INT, "avg": Type.FLOAT, "total": Type.FLOAT, "group_concat": Type.STRING,
            "lower": Type.STRING, "upper": Type.STRING}  # fmt: skip
_CASTS = {"int": Type.INT, "integer": Type.INT, "bigint": Type.INT, "real": Type.FLOAT, "float": Type.FLOAT,
          "double": Type.FLOAT, "text": Type.STRING, "varchar": Type.STRING}  # fmt: skip


@dataclass(frozen=True)
class Select:
    """What is known of a SELECT: its columns (None: not known), its parameters, the tables, views and relations that it
    reads."""

    columns: RelationType | None
    parameters: tuple[str, ...]
    names: frozenset[str]


class Database:
    """``tables``: what may stand behind `from`, with its columns.  ``others``: why other names cannot stand there."""

    def __init__(self, tables: Mapping[str, RelationType], others: Mapping[str, str]) -> None:
        self.tables, self.others = dict(tables), others

    def check(
        self, sql: Sql, source: Text, known: Collection[str], relations: Mapping[str, RelationType] | None = None
    ) -> Select | None:
        """Report what is wrong with a SELECT; None if something is.

        ``known``: the names that its parameters may have; ``relations``: global variables that are tables in it.
        """
        place = _Places(sql, source)
        before = len(source.problems)
        found = list(parts(sql.text))
        words = [p for p in found if p.kind == "word"]
        if not words or words[0].text.lower() not in ("select", "with"):
            source.report("bad-sql", "this is not a SELECT", sql.span, "write `select .. from .. where ..`")
            return None
        for p in found:
            if p.kind == "semicolon":
                place.report(p.start, p.end, "this is more than one statement", "write one SELECT, without a semicolon")
                return None
            if p.kind == "mark":
                place.report(p.start, p.end, f"`{p.text}` is not a valid parameter", "write parameters as `:name`")
        names = parameters(sql.text)
        for name, (start, end) in names.items():
            if name not in known:
                hint = did_you_mean(name, known, "parameters")
                place.report(start, end, f"there is no parameter `:{name}` here", hint)
        if len(source.problems) > before:
            return None
        mine = {**self.tables, **(relations or {})}
        mentioned = {w.lower() for w in identifiers(sql.text)}
        columns, used, complaint = _run(sql.text, {n: t for n, t in mine.items() if n.lower() in mentioned}, names)
        if complaint is not None:
            self.explain(complaint, sql, place, mine, found)
            return None
        typed = None if columns is None else _typed(sql.text, columns, {n: mine[n] for n in used})
        return Select(typed, tuple(names), used)

    def explain(
        self, complaint: str, sql: Sql, place: _Places, tables: Mapping[str, RelationType], found: list[Part]
    ) -> None:
        """Report what SQLite said, at the word that it spoke of."""
        missing = re.match(r"no such (table|column|function): (?:main\.|temp\.)?(.+)", complaint)
        word = missing[2] if missing else (re.findall(r'near "([^"]*)"', complaint) or [""])[0]
        last = word.rpartition(".")[2].lower()
        at = next((p for p in found if p.kind == "word" and p.text.lower() == last), None)
        span = sql.span if at is None else place.span(at.start, at.end)
        hint = None
        if missing and missing[1] == "table":
            why = self.others.get(word)
            hint = why or did_you_mean(word, tables, "tables and views")
            place.source.report("bad-sql", f"there is no table `{word}` here", span, hint)
            return
        if missing and missing[1] == "column":
            columns = {n for t in tables.values() for n, _ in t.columns}
            hint = did_you_mean(last, columns, "columns")
            place.source.report("bad-sql", f"there is no column `{word}`", span, hint)
            return
        text = f"SQLite reports: {complaint}"
        if complaint.startswith("not authorized") or "prohibited" in complaint:
            text, hint = "only a SELECT is allowed here", "write one SELECT over tables, views and remembered relations"
        place.source.report("bad-sql", text, span, hint)


class _Places:
    """Places in a SELECT as places in the file."""

    def __init__(self, sql: Sql, source: Text) -> None:
        self.sql, self.source = sql, source

    def span(self, start: int, end: int) -> Span | None:
        if self.sql.span is None:
            return None
        first = self.source.offsets(self.sql.span)[0]
        return self.source.span(first + start, first + end)

    def report(self, start: int, end: int, message: str, hint: str) -> None:
        self.source.report("bad-sql", message, self.span(start, end), hint)


def _run(
    text: str, tables: Mapping[str, RelationType], names: Collection[str]
) -> tuple[tuple[str, ...] | None, frozenset[str], str | None]:
    """The names of the columns of a SELECT over empty tables (None: it did not end), the tables that it reads, and what
    SQLite says against it."""
    read: set[str] = set()
    by_lower = {n.lower(): n for n in tables}

    def used() -> frozenset[str]:
        """SQLite gives the name of a table of which no column is read as it stands in the SELECT."""
        return frozenset(by_lower[n.lower()] for n in read if n.lower() in by_lower)

    def reading(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """What a SELECT may do: read, and call functions."""
        inner = action == sqlite3.SQLITE_READ and str(first).lower().startswith(("sqlite_", "pragma_"))
        loads = action == sqlite3.SQLITE_FUNCTION and str(second).lower() == "load_extension"
        if action == sqlite3.SQLITE_READ:
            read.add(str(first))
        return sqlite3.SQLITE_OK if action in _ALLOWED and not inner and not loads else sqlite3.SQLITE_DENY

    connection = sqlite3.connect(":memory:")
    try:
        for name, rows in tables.items():
            columns = ", ".join(quoted(n) for n, _ in rows.columns)
            connection.execute(f"create table {quoted(name)} ({columns})")
        connection.set_authorizer(reading)
        connection.set_progress_handler(lambda: 1, _STEPS)
        cursor = connection.execute(text, dict.fromkeys(names))
        return tuple(d[0] for d in cursor.description or ()), used(), None
    except (sqlite3.Error, sqlite3.Warning, ValueError) as problem:
        return None, used(), None if str(problem) == "interrupted" else str(problem)
    finally:
        connection.close()


def _typed(text: str, columns: tuple[str, ...], tables: Mapping[str, RelationType]) -> RelationType:
    """Columns with their types, as far as the text shows them."""
    unknown = RelationType(tuple((n, Type.NULL) for n in columns))
    listed = _ITEMS.match(text)
    if listed is None or len(re.findall(r"(?i)\bselect\b", text)) > 1:
        return unknown
    items = _apart(listed[1], ",")
    if items == ["*"] and len(tables) == 1:
        (only,) = tables.values()
        return only if tuple(n for n, _ in only.columns) == columns else unknown
    if len(items) != len(columns):
        return unknown
    types: dict[str, set[Type]] = {}
    for rows in tables.values():
        for name, kind in rows.columns:
            types.setdefault(name.lower(), set()).add(kind)
    return RelationType(tuple((n, _type_of(item, types)) for item, n in zip(items, columns, strict=True)))


def _apart(text: str, signs: str) -> list[str]:
    """A text, cut at signs outside of parentheses and quotes."""
    cuts = {signs} if signs == "||" else set(signs)
    out, depth, start = [], 0, 0
    for m in re.finditer(r"""'[^']*'|"[^"]*"|\|\||\S""", text):
        depth += {"(": 1, ")": -1}.get(m[0], 0)
        if m[0] in cuts and not depth:
            out.append(text[start : m.start()])
            start = m.end()
    return [part.strip() for part in [*out, text[start:]]]


def _type_of(item: str, types: Mapping[str, set[Type]]) -> Type:
    """The type of an item: of a column, of an aggregate, of a cast, or of arithmetic on numbers; NULL: not known."""
    body = re.sub(r"(?is)\s+as\s+\w+$|(?<=[\w)'])\s+(?!end\b)[a-z_]\w*$", "", item)
    if re.fullmatch(r"(?:\w+\.)?[^\W\d]\w*", body):
        found = types.get(body.rpartition(".")[2].lower(), set())
        return next(iter(found)) if len(found) == 1 else Type.NULL
    if re.fullmatch(r"'[^']*'", body):
        return Type.STRING
    call = re.fullmatch(r"(?is)(\w+)\s*\((.*)\)", body)
    if call and _whole(call[2]):
        name = call[1].lower()
        if name in _RESULTS:
            return _RESULTS[name]
        if name in ("sum", "min", "max", "abs", "coalesce"):
            inner = {_type_of(i, types) for i in _apart(re.sub(r"(?i)^\s*distinct\s", "", call[2]), ",")}
            return inner.pop() if len(inner) == 1 else Type.FLOAT if inner == {Type.INT, Type.FLOAT} else Type.NULL
        cast = re.fullmatch(r"(?is).*\sas\s+(\w+)", call[2])
        return _CASTS.get(cast[1].lower(), Type.NULL) if name == "cast" and cast else Type.NULL
    if call is None and re.fullmatch(r"\(.*\)", body, re.DOTALL) and _whole(body[1:-1]):
        return _type_of(body[1:-1], types)
    if re.fullmatch(r"\d+", body):
        return Type.INT
    if re.fullmatch(r"\d+\.\d*|\.\d+", body):
        return Type.FLOAT
    if len(_apart(body, "||")) > 1:
        return Type.STRING
    operands = [o for o in _apart(body, "+-*/%") if o]
    kinds = {_type_of(o, types) for o in operands if o != body}
    if kinds and kinds <= {Type.INT, Type.FLOAT}:
        return Type.FLOAT if Type.FLOAT in kinds else Type.INT
    return Type.NULL


def _whole(inner: str) -> bool:
    """Whether parentheses are balanced, so that the first one closes with the last."""
    depth = 0
    for c in inner:
        depth += {"(": 1, ")": -1}.get(c, 0)
        if depth < 0:
            return False
    return depth == 0
