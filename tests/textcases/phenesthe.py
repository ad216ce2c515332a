"""Text cases of Phenesthe: definitions, rows and expected rows in a Markdown file, and what the reference answers.

A case is a heading of level two and fenced blocks, as in :mod:`occurs.testing.cases`::

    ## 6 The maximal range
    ```phen
    input event a, b.
    state s : a ~> b.
    ```
    ```in
    a@1 3 10 b@5
    ```
    ```out
    s@[1,5] [10,∞)
    ```

Rows are ``name(value, ...)@time`` for events and ``name(value, ...)@[start,end]`` or ``@[start,∞)`` for intervals,
between blanks; a further time or interval repeats the row at another place.  Values stand for the attributes in their
order, ``attribute=value`` for a named one (behind the others).  A value is ``null true false``, a number, text in
quotes, a word (the text of that word) or ``@`` with a time.  ``#`` at the start of a line begins a comment.

Blocks: ``phen``, ``in``, ``facts`` (rows of facts from outside, without time), ``options``, and ``out`` or ``error``
(the kind of a problem).  Options: ``unit``, ``start``, ``until`` as in the other cases; ``mode``: ``batch`` (the
default), ``window`` (with ``window``, ``step``), ``append`` or ``update``.  Outside ``batch``, ``out`` is in parts:
``at 15:`` at the start of a line begins what comes out at the query or the frontier 15 (in a stream it moves tick by
tick), ``closing:`` what closing adds; before it, an open row is a provisional one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from occurs.errors import OccursError
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.parser import parse
from occurs.languages.phenesthe.semantics import Result, Row, evaluate, windows
from occurs.model.time import TimeKind
from occurs.model.types import Type, arrow_type, widen
from occurs.testing.cases import KINDS, Section, Time, parse_time, read_cases, type_of

MODES = ("batch", "window", "append", "update")
CLOCK = ("start", "until", "window", "step")


@dataclass(frozen=True)
class Written:
    """A row as it is written: values by position, then named ones; no time if it is a fact."""

    type: str
    values: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    time: int | None = None
    end: int | None = None
    lasting: bool = False

    def attributes(self, names: Sequence[str]) -> dict[str, Any]:
        """The values by the names of the attributes of the type."""
        if len(self.values) > len(names):
            raise ValueError(f"{self.type} has {len(names)} attributes, not {len(self.values)}")
        return {**dict(zip(names, self.values, strict=False)), **self.named}


@dataclass(frozen=True)
class LastingCase:
    """One case; ``expected``: rows by when they come out, all under None in batch."""

    name: str
    rules: str
    rows: tuple[Written, ...]
    facts: tuple[Written, ...]
    expected: Mapping[int | str | None, tuple[Written, ...]] | None
    error: str | None
    mode: str
    kind: TimeKind
    times: Mapping[str, int]
    text: str
    file: str
    line: int

    def __str__(self) -> str:
        return self.name


# --- rows -----------------------------------------------------------------------------------------------------------

_NAME = re.compile(r"\s*(?P<name>[^\W\d]\w*)(?P<open>\()?")
_VALUE = re.compile(
    r"\s*(?:(?P<name>[^\W\d]\w*)\s*=\s*)?(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|@(?P<time>[\w.:+-]+)|(?P<bare>[^\s,()'\"=]+))"
    r"\s*(?P<stop>[,)])"
)
_PLACE = re.compile(r"\s*(?:\[\s*(?P<start>[^\s,]+)\s*,\s*(?:(?P<end>[^\s\]]+)\s*\]|∞\s*\))|(?P<time>-?\d[\w.:+-]*))")
_WORDS: dict[str, Any] = {"null": None, "true": True, "false": False}


def parse_rows(text: str, kind: TimeKind = KINDS["none"], *, timeless: bool = False) -> list[Written]:
    """The rows of a text in the notation of the module's head."""
    text = "\n".join("" if line.lstrip().startswith("#") else line for line in text.splitlines())
    if text.strip() in ("", "(nothing)"):
        return []
    out: list[Written] = []
    at = 0
    while text[at:].strip():
        head = _NAME.match(text, at)
        if head is None:
            raise ValueError(f"not a row: {text[at:].strip()[:60]!r}")
        row, at = _values(head["name"], text, head.end()) if head["open"] else (Written(head["name"]), head.end())
        if timeless:
            out.append(row)
            continue
        if text[at : at + 1] != "@":
            raise ValueError(f"not a time: {text[at:].strip()[:60]!r}")
        at += 1
        places = 0
        while (place := _PLACE.match(text, at)) is not None:
            out.append(_placed(row, place, kind))
            at, places = place.end(), places + 1
        if not places:
            raise ValueError(f"not a time: {text[at:].strip()[:60]!r}")
    return out


def _values(name: str, text: str, at: int) -> tuple[Written, int]:
    values: list[Any] = []
    named: dict[str, Any] = {}
    stop = ","
    if closing := re.compile(r"\s*\)").match(text, at):
        return Written(name), closing.end()
    while stop == ",":
        match = _VALUE.match(text, at)
        if match is None or (named and not match["name"]):
            raise ValueError(f"not a value of {name}: {text[at:].strip()[:60]!r}")
        if match["name"]:
            named[match["name"]] = _value(match)
        else:
            values.append(_value(match))
        at, stop = match.end(), match["stop"]
    return Written(name, tuple(values), named), at


def _value(match: re.Match[str]) -> Any:
    for quoted in (match["single"], match["double"]):
        if quoted is not None:
            return quoted
    if match["time"] is not None:
        return Time(parse_time(match["time"], KINDS["us"]))
    bare = match["bare"]
    if bare in _WORDS:
        return _WORDS[bare]
    if re.fullmatch(r"[+-]?\d+", bare):
        return int(bare)
    return bare if bare[0].isalpha() and bare != "nan" else float(bare)


def _placed(row: Written, place: re.Match[str], kind: TimeKind) -> Written:
    if place["time"]:
        return Written(row.type, row.values, row.named, parse_time(place["time"], kind))
    end = None if place["end"] is None else parse_time(place["end"], kind)
    return Written(row.type, row.values, row.named, parse_time(place["start"], kind), end, lasting=True)


# --- files ----------------------------------------------------------------------------------------------------------


def load_lasting_cases(path: str | Path) -> list[LastingCase]:
    """All cases of a Markdown file, or of every ``*.md`` in a directory; ValueError names file and line."""
    return read_cases(Path(path), _case)


def _case(section: Section) -> LastingCase:
    section.need(["phen"], more=["facts"])
    blocks, mode = section.blocks, section.options.pop("mode", "batch")
    kind, times = section.clock("none", *CLOCK)
    section.end()
    if mode not in MODES or ("window" in times) != (mode == "window"):
        raise ValueError(f"{section.name}: unsuitable options for the mode {mode}")
    return LastingCase(
        name=section.name,
        rules=blocks["phen"],
        rows=tuple(parse_rows(blocks.get("in", ""), kind)),
        facts=tuple(parse_rows(blocks.get("facts", ""), kind, timeless=True)),
        expected=dict(_parts(blocks["out"], mode, kind)) if "out" in blocks else None,
        error=section.error(),
        mode=mode,
        kind=kind,
        times=times,
        text=section.text,
        file=section.file,
        line=section.line,
    )


def _parts(text: str, mode: str, kind: TimeKind) -> Iterator[tuple[int | str | None, tuple[Written, ...]]]:
    """What comes out, by when."""
    if mode == "batch":
        yield None, tuple(parse_rows(text, kind))
        return
    pieces = re.split(r"^\s*(?:at\s+(\S+)|(closing))\s*:", text, flags=re.MULTILINE)
    if pieces[0].strip():
        raise ValueError(f"does not start with `at ...:`: {pieces[0].strip()[:60]!r}")
    for at, closing, rows in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        yield closing or parse_time(at, kind), tuple(parse_rows(rows, kind))


# --- cases made ready -------------------------------------------------------------------------------------------------

#: a row of an answer: type, time, end of an interval, attributes
Line = tuple[Any, ...]


class Loaded:
    """A case whose rules are parsed; OccursError if they are not in the grammar."""

    def __init__(self, case: LastingCase) -> None:
        self.case = case
        self.file, problems = parse(case.rules, f"{case.file}:{case.line}")
        if any(p.severity == "error" for p in problems):
            raise OccursError(problems)

    @cached_property
    def sorts(self) -> dict[str, str]:
        """The sort of every type; ``fact``, and ``changes`` for a state that is read from its changes."""
        declared = [s for s in self.file.statements if isinstance(s, syntax.Declaration)]
        defined = [s for s in self.file.statements if isinstance(s, syntax.Definition)]
        found = {s.name.text: "changes" if s.changes else s.sort for s in declared}
        return {**found, **{s.name.text: s.sort for s in defined}}

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The attributes of every declared or defined type."""
        found: dict[str, tuple[str, ...]] = {}
        for s in self.file.statements:
            if isinstance(s, syntax.Declaration):
                found[s.name.text] = tuple(a.name.text for a in s.attributes)
            elif isinstance(s, syntax.Definition):
                found[s.name.text] = tuple(a.name.text for a in s.head)
        return found

    def attributes(self, row: Written) -> dict[str, Any]:
        """The values of a row by attribute; facts that nobody declares have ``a1``, ``a2``..."""
        return row.attributes(self.names.get(row.type, tuple(f"a{i + 1}" for i in range(len(row.values)))))

    @property
    def history(self) -> list[Row]:
        """The rows as the reference semantics takes them."""
        return [Row(r.type, r.time, self.attributes(r), r.end) for r in self.case.rows if r.time is not None]

    @property
    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of facts from outside."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.case.facts:
            found.setdefault(row.type, []).append(self.attributes(row))
        return found

    def tables(self) -> dict[str, pa.Table]:
        """One Arrow table per type with rows: ``time``, ``end`` of what lasts, the attributes."""
        kind = arrow_type(Type.TIMESTAMP) if self.case.kind.timestamp else pa.int64()
        found = {}
        for name in dict.fromkeys(r.type for r in self.history):
            rows = [r for r in self.history if r.type == name]
            columns = {"time": pa.array([r.time for r in rows], pa.int64()).cast(kind)}
            if self.sorts[name] in ("state", "dynamic"):
                columns["end"] = pa.array([r.end for r in rows], pa.int64()).cast(kind)
            found[name] = pa.table({**columns, **_columns([r.attributes for r in rows])})
        return found

    def fact_tables(self) -> dict[str, pa.Table]:
        """One Arrow table per fact from outside."""
        return {name: pa.table(_columns(rows)) for name, rows in self.facts.items()}

    def lines(self, rows: Iterable[Written]) -> set[Line]:
        """Rows of the case as they compare."""
        return {line(r.type, self.attributes(r), (r.time, r.end) if r.lasting else (r.time,)) for r in rows}

    def batch(self) -> set[Line]:
        """The answer of the reference semantics over the whole history."""
        start, until = self.case.times.get("start"), self.case.times.get("until")
        return shown(evaluate(self.file, self.history, kind=self.case.kind, facts=self.facts, start=start, until=until))

    def windows(self) -> dict[int, set[Line]]:
        """The answers of the reference semantics by query."""
        times = self.case.times
        found = windows(
            self.file,
            self.history,
            kind=self.case.kind,
            facts=self.facts,
            window=times["window"],
            step=times["step"],
            start=times.get("start"),
        )
        return {query: shown(answer) for query, answer in found.items()}


def line(type_: str, attributes: Mapping[str, Any], when: Line) -> Line:
    """A row as a value under which true and 1 differ, and 1 and 1.0 do not."""
    return (type_, *when, tuple(sorted((n, isinstance(v, bool), v) for n, v in attributes.items())))


def shown(found: Mapping[str, set[Result]]) -> set[Line]:
    """The answer of the reference semantics as lines."""
    return {line(name, dict(row[0]), row[1:]) for name, rows in found.items() for row in rows}


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """The attributes of rows in the order of their first appearance, of the least type that holds all values."""
    rows = list(rows)
    found = {}
    for name in dict.fromkeys(n for r in rows for n in r):
        values, of = [r.get(name) for r in rows], Type.NULL
        for value in values:
            both = widen(of, type_of(value))
            if both is None:
                raise ValueError(f"{name} has values of different types")
            of = both
        # NaN stays what it is: that it is null is for the reader to see to
        plain = [float(v) if of is Type.FLOAT and v is not None else v for v in values]
        found[name] = pa.array([int(v) if of is Type.TIMESTAMP and v is not None else v for v in plain], arrow_type(of))
    return found
