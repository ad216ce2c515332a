"""Text cases of pipes in Markdown: eSQL, events and what must come out; and what the reference semantics says.

As in :mod:`occurs.testing.cases`, with a block ``esql`` for the rules.  A line ``X0: 7, 1, null`` of the block ``in``
stands for events of the type X0 at the times 0, 1, 2 with the attribute ``v``; the other lines are events in the
notation of the text cases, whose values may also be lists.  The block ``out`` has a line per definition, its rows as
time: value, ``Out: 0: 14, 4: 4``; ``2: true (about 0)`` says what a row is about.  Options: ``unit`` (s by default),
``start``, ``until``, ``ended: true``.

Values: ``null true false``, numbers, text in quotes or bare words, lists ``[1, 2]``, sets ``{1, 2}``, maps ``{a: 1}``,
tuples ``(n 1, m 2)``.  Bags are written as sorted lists, Trooleans are the texts ``T F ?``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from occurs.languages.esql.semantics import evaluate
from occurs.model.occurrence import Occurrence
from occurs.model.types import Type, arrow_type
from occurs.operators.process.tree import Definition
from occurs.operators.process.values import Bag, Document, Json, Map, Record, Set, Troolean
from occurs.testing.cases import Case, Section, fields, parse_events, read_cases


@dataclass(frozen=True)
class PipesCase(Case):
    """One case; ``given``: its definitions, if it has no text; ``ended``: is the history closed?"""

    given: tuple[Definition, ...] | None = None
    ended: bool = False

    def tables(self) -> dict[str, pa.Table]:
        """A table per type."""
        out: dict[str, pa.Table] = {}
        for t in dict.fromkeys(e.type for e in self.events):
            mine = [e for e in self.events if e.type == t]
            time = pa.array([e.time for e in mine], pa.int64())
            columns = {"time": time.cast(arrow_type(Type.TIMESTAMP)) if self.kind.timestamp else time}
            if any(e.sequence is not None for e in mine):
                columns["sequence"] = pa.array([e.sequence for e in mine], pa.int64())
            for name in dict.fromkeys(n for e in mine for n in e.attributes):
                columns[name] = pa.array([e.attributes.get(name) for e in mine])
            out[t] = pa.table(columns)
        return out

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """The definitions; SyntaxProblem or DefinitionProblem if the text is wrong."""
        if self.given is not None:
            return self.given
        from occurs.languages.esql.checks import definitions

        return definitions(self.rules, f"{self.file or self.name}:{self.line}.esql", self.inputs, self.kind)


@dataclass(frozen=True)
class Row:
    """A row of a definition: what is compared."""

    name: str
    time: int
    value: Any
    about: int | None = None

    def __str__(self) -> str:
        about = "" if self.about is None else f" (about {self.about})"
        return f"{self.name}@{self.time}: {self.value}{about}"


def load_cases(path: str | Path) -> list[PipesCase]:
    """All cases of a Markdown file, or of every ``*.md`` in a directory; ValueError names file and line."""
    return read_cases(Path(path), _case)


def _case(section: Section) -> PipesCase:
    section.need(["esql"])
    ended = section.options.pop("ended", "false") == "true"
    return PipesCase(
        **fields(section, "esql", "s", read_events, lambda out, _: map(_occurrence, read_rows(out))), ended=ended
    )


def reference(case: PipesCase) -> list[Occurrence]:
    """What the reference semantics derives; OccursError if the case is wrong."""
    return evaluate(case.definitions, case.events, kind=case.kind, ended=case.ended, start=case.start, until=case.until)


def rows(found: Sequence[Occurrence]) -> list[Row]:
    """What is compared of rows: the value, or the columns of a tuple, as :func:`plain` has them."""
    out = []
    for event in found:
        attributes = {n: plain(v) for n, v in event.attributes.items()}
        about = attributes.pop("about", None)
        value = attributes["value"] if list(attributes) == ["value"] else attributes
        out.append(Row(event.type, event.time, value, about))
    return out


def plain(value: Any) -> Any:
    """A value as tables have it: sets and bags as sorted lists, maps as lists of pairs, Trooleans as text."""
    if isinstance(value, (Set, Bag)):
        return sorted(map(plain, value), key=_ascending)
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    if isinstance(value, Map):
        return [(plain(k), plain(v)) for k, v in value.items]
    if isinstance(value, Record):
        return {n: plain(v) for n, v in value.columns}
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, (Document, Json)):
        return value.source
    return value


def _ascending(value: Any) -> tuple[Any, ...]:
    """Null least, then false, true, numbers, texts, the rest as it is written."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, (int, float)):
        return (2, -math.inf) if math.isnan(value) else (2, value)
    return (3, value) if isinstance(value, str) else (4, str(value))


def alike(a: Any, b: Any) -> bool:
    """Equal as values: numbers with a relative tolerance of 1e-9, NaN as NaN, booleans only with booleans."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(alike(a[n], b[n]) for n in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and bool(a == b)


def difference(found: Sequence[Row], expected: Sequence[Row]) -> str | None:
    """The first row of a definition that is not as expected, in words; None if all are alike, in their order."""
    for name in dict.fromkeys(r.name for r in (*expected, *found)):
        have, want = ([r for r in some if r.name == name] for some in (found, expected))
        for i in range(max(len(have), len(want))):
            a, b = (some[i] if i < len(some) else None for some in (have, want))
            if a is None or b is None or (a.time, a.about) != (b.time, b.about) or not alike(a.value, b.value):
                return f"row {i} of {name}: found {a}, expected {b}"
    return None


# --- notation ---------------------------------------------------------------------------------------------------------

_SHORT = re.compile(r"(\w+):(?!\S*@)(.*)")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|inf)\b|nan\b)|'(?P<single>(?:[^'\\]|\\.)*)'"
    r'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<word>[^\s,:()\[\]{}]+)|(?P<sign>[,:()\[\]{}]))'
)
_WORDS: dict[str, Any] = {"null": None, "true": True, "false": False}


def read_events(text: str, kind: Any) -> list[Occurrence]:
    """The events of a block ``in``; see the head of the module."""
    out: list[Occurrence] = []
    for line in text.splitlines():
        short = _SHORT.match(line.strip())
        if short is None:
            out += _with_lists(line, kind)
        else:
            values = _Reader(short[2]).some("")
            out += [Occurrence(short[1], i, {"v": v}) for i, v in enumerate(values)]
    return out


def _with_lists(line: str, kind: Any) -> list[Occurrence]:
    """Events in the notation of the text cases; a list is read from ``v=[..]``."""
    lists: list[Any] = []

    def away(match: re.Match[str]) -> str:
        lists.append(tuple(_Reader(match[0]).value()))
        return f"'\0{len(lists) - 1}'"

    events = parse_events(re.sub(r"(?<==)\[[^\]]*\]", away, line), kind)
    return [
        Occurrence(e.type, e.time, {n: _back(v, lists) for n, v in e.attributes.items()}, e.sequence) for e in events
    ]


def _back(value: Any, lists: list[Any]) -> Any:
    return lists[int(value[1:])] if isinstance(value, str) and value.startswith("\0") else value


def read_rows(text: str) -> list[Row]:
    """The rows of a block ``out``."""
    out = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            name, _, rest = line.partition(":")
            out += _Reader(rest).rows(name.strip())
    return [] if text.strip() == "(nothing)" else out


def _occurrence(row: Row) -> Occurrence:
    attributes = dict(row.value) if isinstance(row.value, dict) else {"value": row.value}
    if row.about is not None:
        attributes["about"] = row.about
    return Occurrence(row.name, row.time, attributes)


class _Reader:
    """Reads values; ValueError says what is left."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def peek(self) -> str:
        """The next sign, or nothing."""
        found = _TOKEN.match(self.text, self.at)
        return found["sign"] or "" if found else ""

    def take(self, sign: str) -> bool:
        found = _TOKEN.match(self.text, self.at)
        if found and found["sign"] == sign:
            self.at = found.end()
            return True
        return False

    def need(self, sign: str) -> None:
        if not self.take(sign):
            raise ValueError(f"{sign!r} is missing before {self.text[self.at :]!r}")

    @property
    def done(self) -> bool:
        return not self.text[self.at :].strip()

    def value(self) -> Any:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise ValueError(f"not a value: {self.text[self.at :]!r}")
        self.at = found.end()
        if found["number"]:
            number = found["number"]
            return int(number) if re.fullmatch(r"-?\d+", number) else float(number)
        for quoted in (found["single"], found["double"]):
            if quoted is not None:
                return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), quoted)
        if found["word"]:
            return _WORDS.get(found["word"], found["word"])
        if found["sign"] == "[":
            return self.some("]")
        if found["sign"] == "(":
            return self.columns()
        if found["sign"] == "{":
            return self.braces()
        raise ValueError(f"not a value: {self.text[found.start() :]!r}")

    def some(self, end: str) -> Any:
        """Values with commas between; a list of lists is one of tuples, as items are."""
        out: list[Any] = []
        while not (self.take(end) if end else self.done):
            if out:
                self.need(",")
            value = self.value()
            out.append(tuple(value) if isinstance(value, list) and not end else value)
        return out

    def columns(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        while not self.take(")"):
            if out:
                self.need(",")
            name = self.value()
            out[name] = self.value()
        return out

    def braces(self) -> list[Any]:
        """A map as pairs, a set as a sorted list."""
        out: list[Any] = []
        pairs = False
        while not self.take("}"):
            if out:
                self.need(",")
            first = self.value()
            pairs = pairs or self.peek() == ":"
            if pairs:
                self.need(":")
                first = (first, self.value())
            out.append(first)
        return out if pairs else sorted(out, key=_ascending)

    def rows(self, name: str) -> list[Row]:
        out: list[Row] = []
        while not self.done:
            if out:
                self.need(",")
            time = self.value()
            self.need(":")
            value, about = self.value(), None
            found = re.compile(r"\s*\(about (-?\d+)\)").match(self.text, self.at)
            if found:
                self.at, about = found.end(), int(found[1])
            out.append(Row(name, time, value, about))
        return out
