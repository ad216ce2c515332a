"""Text cases: rules, events and expected detections in a Markdown file.

A case is a heading of level two and the fenced blocks below it::

    ## W1 Overflow
    The reason for the expected answer.
    ```tesla
    define Overflow(Name) from WaterLevel(Level > 20) as WL where Name = WL.Name
    ```
    ```in
    WaterLevel@1(Name='Po',Level=20) WaterLevel@2(Name='Po',Level=25)
    ```
    ```out
    Overflow@2(Name='Po')
    ```

A case has a block ``out``, or a block ``error`` with the kind of the expected problem.  A block ``options`` has lines
``name: value``: ``unit`` (by default ms; ``timestamp`` for timestamps, ``none`` for ticks without a unit), ``start``
and ``until`` (times as in events), and ``partition`` (``Type.attribute, ...``).

Events are written ``Type@time#sequence(attribute=value, ...)`` and separated by blanks; ``#sequence`` and the
parentheses are optional.  A time is a number of ticks, numbers with units (``1m30s``, ``-5s``; here ``m`` is a minute),
or an ISO time (``2024-03-31T00:30:00Z``).  A value is ``null``, ``true``, ``false``, an integer, a float, a quoted
string, ``@`` with a time, a list ``[1|2]`` or a map ``{k:1|j:2}``.  ``a.b`` is the value ``b`` in the record ``a``.
An interval is ``Type@[start,end](..)``, an open one ``Type@[start,∞)(..)``; its end is the attribute ``end``.
``*n`` after an event repeats it, ``#`` at the start of a line begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from occurs.model.occurrence import Occurrence
from occurs.model.time import UNIT_MICROSECONDS, UNITS, TimeKind
from occurs.model.types import Schema, Type, arrow_type, widen

KINDS: dict[str, TimeKind] = {
    "timestamp": TimeKind(True, "us"),
    "none": TimeKind(False, None),
    **{u: TimeKind(False, u) for u in ("us", "ms", "s", "min", "h", "d")},
}


class Time(int):
    """An attribute value that is a time: microseconds since 1970 UTC."""


@dataclass(frozen=True)
class Case:
    """A text case.

    Attributes:
        name: The heading of the case.
        rules: The text of the rules.
        events: The events, in the order in which they are written.
        expected: The expected detections; None if a problem, or nothing, is expected.
        error: The kind of the expected problem.
        kind: The unit of times.
        start: The start of the clock.
        until: The end of the clock.
        partition: For each type the attribute that is its partition key.
        text: The prose of the case.
        file: The file of the case.
        line: The line of its heading.
    """

    name: str
    rules: str
    events: tuple[Occurrence, ...]
    #: None if ``error`` says which kind of problem is expected, or if nothing is expected (generated programs)
    expected: tuple[Occurrence, ...] | None = None
    error: str | None = None
    kind: TimeKind = field(default_factory=lambda: KINDS["ms"])
    start: int | None = None
    until: int | None = None
    partition: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    file: str | None = None
    line: int = 0

    def __str__(self) -> str:
        return self.name

    def occurrences(self) -> list[Occurrence]:
        """Return the events as the input of the reference semantics."""
        return list(self.events)

    @cached_property
    def inputs(self) -> dict[str, Schema]:
        """The schema of each type of the events; attributes have the order of their first appearance.

        Raises:
            ValueError: An attribute has values of different types.
        """
        found: dict[str, dict[str, Type]] = {}
        for event in self.events:
            schema = found.setdefault(event.type, {})
            for name, value in event.attributes.items():
                both = widen(schema.get(name, Type.NULL), type_of(value))
                if both is None:
                    raise ValueError(f"{self.name}: {event.type}.{name} has values of different types")
                schema[name] = both
        return {t: Schema(tuple(s.items()), records=self._records(t, s)) for t, s in found.items()}

    def _records(self, name: str, schema: Mapping[str, Type]) -> tuple[tuple[str, pa.DataType], ...]:
        """The Arrow types of the attributes of an event type that are lists or maps."""
        out = []
        for attribute in (a for a, t in schema.items() if t is Type.RECORD):
            values = [e.attributes.get(attribute) for e in self.events if e.type == name]
            maps = any(isinstance(v, Mapping) for v in values)
            inner = [v for one in values if one is not None for v in (one.values() if maps else one)]
            kind = pa.array(inner).type
            out.append((attribute, pa.map_(pa.string(), kind) if maps else pa.list_(kind)))
        return tuple(out)

    def tables(self) -> dict[str, pa.Table]:
        """Return the events as one Arrow table per type.

        The columns are ``time``, ``sequence`` if an event of the case has one, and the attributes.
        """
        time_type = arrow_type(Type.TIMESTAMP) if self.kind.timestamp else pa.int64()
        with_sequence = any(e.sequence is not None for e in self.events)
        out = {}
        for name, schema in self.inputs.items():
            rows = [e for e in self.events if e.type == name]
            columns = {"time": pa.array([e.time for e in rows], pa.int64()).cast(time_type)}
            if with_sequence:
                columns["sequence"] = pa.array([e.sequence for e in rows], pa.int64())
            for attribute, type_ in schema:
                values = [_arrow_value(e.attributes.get(attribute), type_) for e in rows]
                array = pa.array(values, schema.arrow_of(attribute, type_))
                columns[attribute] = array.cast(time_type) if attribute == "end" else array
            out[name] = pa.table(columns)
        return out


def _arrow_value(value: Any, type_: Type) -> Any:
    if value is None or type_ in (Type.STRING, Type.BOOL, Type.RECORD):
        return list(value.items()) if isinstance(value, Mapping) else value
    return float(value) if type_ is Type.FLOAT else int(value)


def type_of(value: Any) -> Type:
    """The type of a value in a case."""
    for python, type_ in (
        (bool, Type.BOOL),
        (Time, Type.TIMESTAMP),
        (int, Type.INT),
        (float, Type.FLOAT),
        (str, Type.STRING),
        (list | dict, Type.RECORD),
    ):
        if isinstance(value, python):
            return type_
    return Type.NULL


# --- events ---------------------------------------------------------------------------------------------------------

_UNIT_WORDS = {**UNITS, "m": "min"}
_EVENT = re.compile(
    r"\s*(?P<type>[^\W\d]\w*)@"
    r"(?:(?P<time>-?\d[\w.:+-]*?)|\[\s*(?P<start>[^\s,\[\]()]+)\s*,\s*(?:(?P<end>[^\s,\[\]()∞]+)\s*\]|∞\s*\)))"
    r"(?:#(?P<sequence>-?\d+))?(?P<open>\()?(?=[\s(*]|$|(?<=\())"
)
_VALUE = re.compile(
    r"\s*(?P<name>[^\W\d][\w.]*)\s*=\s*"
    r"(?:'(?P<single>(?:[^'\\]|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|@(?P<time>[\w.:+-]+)|(?P<bare>[^\s,()'\"]+))\s*(?P<end>[,)])"
)
_REPEAT = re.compile(r"\*(\d+)")


def parse_time(text: str, kind: TimeKind) -> int:
    """Parse a time: ``5``, ``1m30s``, ``-2h`` or an ISO time.

    Args:
        text: The time.
        kind: The unit of the result.

    Returns:
        The time in ticks.

    Raises:
        ValueError: The text is not a time, or not a whole number of ticks.
    """
    if re.match(r"-?\d{4}-\d\d-\d\d", text):
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
        return _whole(Fraction((at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)), kind, text)
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([a-zµμ]+)", digits)
    if "".join(n + u for n, u in parts) != digits or any(u not in _UNIT_WORDS for _, u in parts):
        raise ValueError(f"not a time: {text!r}")
    micros = sum((Fraction(n) * UNIT_MICROSECONDS[_UNIT_WORDS[u]] for n, u in parts), Fraction(0))
    return _whole(sign * micros, kind, text)


def _whole(micros: Fraction, kind: TimeKind, text: str) -> int:
    exact = micros / (kind.tick or 1)
    if exact.denominator != 1 or kind.tick is None:
        raise ValueError(f"{text!r} is not a whole number of ticks")
    return int(exact)


def parse_events(text: str, kind: TimeKind = KINDS["ms"]) -> list[Occurrence]:
    """Parse events in the notation of text cases.

    Args:
        text: The events, as in a block ``in``.
        kind: The unit of times.

    Returns:
        The events, in the order in which they are written.

    Raises:
        ValueError: The text cannot be parsed.

    Examples:
        >>> [(e.type, e.time, e.attributes) for e in parse_events("A@1(k='x') B@2")]
        [('A', 1, {'k': 'x'}), ('B', 2, {})]
    """
    text = "\n".join("" if line.lstrip().startswith("#") else line for line in text.splitlines())
    if text.strip() in ("", "(nothing)"):
        return []
    out: list[Occurrence] = []
    at = 0
    while text[at:].strip():
        match = _EVENT.match(text, at)
        if match is None:
            raise ValueError(f"not an event: {text[at:].strip()[:60]!r}")
        at = match.end()
        attributes: dict[str, Any] = {}
        if match["start"] is not None:
            attributes["end"] = None if match["end"] is None else parse_time(match["end"], kind)
        if match["open"]:
            closing = re.compile(r"\s*\)").match(text, at)
            end = "," if closing is None else ")"
            at = at if closing is None else closing.end()
            while end == ",":
                value = _VALUE.match(text, at)
                if value is None:
                    raise ValueError(f"not an attribute: {text[at:].strip()[:60]!r}")
                attributes[value["name"]] = _parse_value(value)
                at, end = value.end(), value["end"]
        sequence = None if match["sequence"] is None else int(match["sequence"])
        repeat = _REPEAT.match(text, at)
        at = at if repeat is None else repeat.end()
        event = Occurrence(match["type"], parse_time(match["time"] or match["start"], kind), attributes, sequence)
        out += [event] * (1 if repeat is None else int(repeat[1]))
    return out


_WORDS: dict[str, Any] = {"null": None, "true": True, "false": False}


def _parse_value(match: re.Match[str]) -> Any:
    for quoted in (match["single"], match["double"]):
        if quoted is not None:
            return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), quoted)
    if match["time"] is not None:
        return Time(parse_time(match["time"], KINDS["us"]))
    bare = match["bare"]
    parts = [part for part in bare[1:-1].split("|") if part]
    if bare[0] + bare[-1] == "[]":
        return [_inside(part) for part in parts]
    if bare[0] + bare[-1] == "{}":
        return {key: _inside(part) for key, _, part in (part.partition(":") for part in parts)}
    return _WORDS[bare] if bare in _WORDS else _number(bare)


def _inside(part: str) -> Any:
    """A value in a list or a map, and a list of lists."""
    if part in _WORDS:
        return _WORDS[part]
    return _number(part) if re.match(r"[+-]?\.?\d", part) else part


def _number(bare: str) -> int | float:
    return int(bare) if re.fullmatch(r"[+-]?\d+", bare) else float(bare)


# --- files ----------------------------------------------------------------------------------------------------------


def load_cases(path: str | Path) -> list[Case]:
    """Read the text cases of a Markdown file, or of all ``*.md`` files in a directory.

    Args:
        path: The file or directory.

    Returns:
        The cases, in the order of the files and of the text.

    Raises:
        ValueError: A case is wrong; the message names its file and line.
    """
    return read_cases(Path(path), _case)


@dataclass(frozen=True)
class Section:
    """A section of a file of text cases: heading, prose, blocks by their first word, and where it stands."""

    name: str
    text: str
    blocks: Mapping[str, str]
    file: str
    line: int

    @cached_property
    def options(self) -> dict[str, str]:
        """The lines of the block ``options``; what reads one takes it away."""
        lines = (line.partition(":") for line in self.blocks.get("options", "").splitlines() if line.strip())
        return {name.strip(): value.strip() for name, _, value in lines}

    def need(self, rules: Iterable[str], answers: Iterable[str] = ("out", "error"), more: Iterable[str] = ()) -> None:
        """Raise ValueError unless there is one block of ``rules``, one of ``answers``, and no other than these,
        ``in``, ``options`` and ``more``."""
        has = set(self.blocks)
        unknown = has - {*rules, *answers, *more, "in", "options"}
        if unknown or len(has & {*rules}) != 1 or len(has & {*answers}) != 1:
            one_of = ["/".join(f"`{name}`" for name in names) for names in (rules, answers)]
            raise ValueError(
                f"{self.name}: needs a block {one_of[0]} and one of {one_of[1]}; unknown: {sorted(unknown)}"
            )

    def clock(self, unit: str, *names: str) -> tuple[TimeKind, dict[str, int]]:
        """Take the unit of times (``unit`` if there is none) and the times that options with these names give."""
        kind = KINDS[self.options.pop("unit", unit)]
        return kind, {name: parse_time(self.options.pop(name), kind) for name in names if name in self.options}

    def error(self) -> str | None:
        """The kind of the expected problem."""
        return self.blocks["error"].strip() if "error" in self.blocks else None

    def end(self) -> None:
        """Raise ValueError if there are options that nothing has read."""
        if self.options:
            raise ValueError(f"{self.name}: unknown options {sorted(self.options)}")


C = TypeVar("C")


def read_cases(path: Path, case: Callable[[Section], C]) -> list[C]:
    """Read the sections of a Markdown file, or of all ``*.md`` files in a directory, as cases.

    Args:
        path: The file or directory.
        case: Makes a case from a section.

    Returns:
        A case for each section that has blocks.

    Raises:
        ValueError: A case is wrong; the message names its file and line.
    """
    if path.is_dir():
        return [c for file in sorted(path.glob("*.md")) for c in read_cases(file, case)]
    cases = []
    for name, line, text, blocks in sections(path.read_text(encoding="utf-8")):
        if blocks:
            try:
                cases.append(case(Section(name, text, blocks, str(path), line)))
            except ValueError as problem:
                raise ValueError(f"{path}:{line}: {problem}") from problem
    return cases


def sections(text: str) -> Iterator[tuple[str, int, str, dict[str, str]]]:
    """Yield heading, line, prose and blocks (by their first word) of each section of level two."""
    return (section for section in parts(text) if section[0])


def parts(text: str) -> Iterator[tuple[str, int, str, dict[str, str]]]:
    """Yield what :func:`sections` yields; before it, without a heading, what stands above the first section."""
    heading, start = "", 0
    prose: list[str] = []
    blocks: dict[str, str] = {}
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        if line.startswith("## "):
            yield heading, start, "\n".join(prose).strip(), blocks
            heading, start, prose, blocks = line[3:].strip(), number, [], {}
        elif line.startswith("```"):
            body = []
            for _, inner in lines:
                if inner.startswith("```"):
                    break
                body.append(inner)
            blocks[line[3:].strip()] = "\n".join(body)
        else:
            prose.append(line)
    yield heading, start, "\n".join(prose).strip(), blocks


def _case(section: Section) -> Case:
    section.need(["tesla"])
    keys = (k.strip().partition(".") for k in section.options.pop("partition", "").split(",") if k.strip())
    return Case(**fields(section, "tesla"), partition={type_: attribute for type_, _, attribute in keys})


def fields(
    section: Section,
    rules: str,
    unit: str = "ms",
    events: Callable[[str, TimeKind], Iterable[Occurrence]] = parse_events,
    answer: Callable[[str, TimeKind], Iterable[Occurrence]] = parse_events,
) -> dict[str, Any]:
    """The attributes that the cases of all languages have; no option may be left after it.

    Args:
        section: The section of the case.
        rules: The name of the block of the rules.
        unit: The unit of times if no option names one.
        events: Reads the block ``in``.
        answer: Reads the block ``out``.

    Raises:
        ValueError: The section is wrong.
    """
    blocks = section.blocks
    kind, ends = section.clock(unit, "start", "until")
    section.end()
    return {
        "name": section.name,
        "rules": blocks[rules],
        "events": tuple(events(blocks.get("in", ""), kind)),
        "expected": tuple(answer(blocks["out"], kind)) if "out" in blocks else None,
        "error": section.error(),
        "kind": kind,
        "start": ends.get("start"),
        "until": ends.get("until"),
        "text": section.text,
        "file": section.file,
        "line": section.line,
    }
