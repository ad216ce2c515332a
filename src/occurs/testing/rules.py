"""Test cases of rules that users keep beside their rules: events, expected detections, and how a case is run.

A file ``*.case`` has the format of :mod:`occurs.testing.cases`.  The rules of a case are those of the files in a block
``rules`` (one path per line, relative to the file of the case), or blocks named after a language, or both.  A block
above the first heading holds for all cases of the file.  Without either, ``fire.case`` tests the files of rules beside
it that are called ``fire``, such as ``fire.tesla``.

The cases of a file that test the same rules have the same event types, as the tables that the rules will read: a type
or an attribute that only other cases mention is there without rows or values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from occurs.errors import OccursError
from occurs.hosts.detections import LocalDetections
from occurs.languages.kit.language import names, suffixes
from occurs.loading import language_of, text_of
from occurs.model.lists import times_as
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type, arrow_type, widen
from occurs.program import Program
from occurs.testing.cases import Case, Section, Time, parse_events, parts
from occurs.verify.compare import Row, row_of, same_value, unmatched

#: a text of rules: the text, the name of its file, its language
Text = tuple[str, str | None, str]
_OPTIONS = ("unit", "start", "until", "zone", "ended", "only")
_ISO = re.compile(r"@\[?\s*-?\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class RuleCase(Case):
    """A test case of rules.

    Attributes:
        texts: The rules as (text, file, language).
        folders: The folders of rule files, where rules may read further files.
        zone: The time zone of timers that do not name one.
        ended: Whether the history is complete.
        only: The types whose detections are compared; None: all.
        together: What the cases of the file that test the same rules have in common.
    """

    texts: tuple[Text, ...] = ()
    folders: Mapping[str, Path] = field(default_factory=dict)
    zone: str = "UTC"
    ended: bool = True
    only: tuple[str, ...] | None = None
    together: Together | None = field(default=None, compare=False, repr=False)

    @cached_property
    def inputs(self) -> dict[str, Schema]:
        """The schema of each event type of the cases that test the same rules; of the case alone if it expects an
        error, or if the cases have values of different types."""
        own = super().inputs
        return own if self.together is None or self.error is not None else {**own, **self.together.inputs}

    def program(self, texts: Sequence[Text] | None = None) -> Program:
        """The program of the case, or of other ``texts``.  Raises SyntaxProblem and DefinitionProblem."""
        if texts is None and self.together is not None:
            return self.together.program
        return Program(self.texts if texts is None else texts, folders=self.folders)

    def options(self) -> dict[str, Any]:
        """The options of :meth:`occurs.Program.detect`."""
        out: dict[str, Any] = {"time_unit": None if self.kind.timestamp else self.kind.unit, "zone": self.zone}
        out |= {"ended": self.ended, "progress": False}
        for name, ticks in (("start", self.start), ("until", self.until)):
            if ticks is not None:
                out[name] = _iso(ticks) if self.kind.timestamp else ticks
        return out

    def events_for(self, program: Program) -> dict[str, pa.Table]:
        """The events as one table per type; declared attributes that no event of the case has are null."""
        out = self.tables()
        for name, table in out.items():
            schema = program.declared.get(name)
            for attribute, kind in () if schema is None else schema:
                if attribute not in table.column_names:
                    table = table.append_column(attribute, pa.nulls(len(table), arrow_type(kind)))
            out[name] = table
        return out

    def detect(self, program: Program | None = None) -> Detected:
        """Run the case, with another ``program`` in place of its own.  Raises OccursError."""
        program = self.program() if program is None else program
        found = program.detect(self.events_for(program), **self.options())
        return detected(found, self.only)


class Together:
    """The cases of a file that test the same rules: one program, which keeps its plan, and one schema per type."""

    def __init__(self, cases: Sequence[RuleCase]) -> None:
        self.cases = cases

    @cached_property
    def program(self) -> Program:
        """The program of the cases.  Raises SyntaxProblem and DefinitionProblem."""
        return Program(self.cases[0].texts, folders=self.cases[0].folders)

    @cached_property
    def inputs(self) -> dict[str, Schema]:
        """The schema of each type, with all attributes that a case has; without types whose cases disagree."""
        found: dict[str, dict[str, Type | None]] = {}
        for case in self.cases:
            for name, schema in case.inputs.items() if case.error is None else ():
                both = found.setdefault(name, {})
                for attribute, own in schema:
                    before = both.get(attribute, Type.NULL)
                    both[attribute] = None if before is None else widen(before, own)
        agreed = {name: tuple((a, t) for a, t in own.items() if t is not None) for name, own in found.items()}
        return {name: Schema(own) for name, own in agreed.items() if len(own) == len(found[name])}


@dataclass(frozen=True)
class Detected:
    """What a run detected: the rows, and the attributes of each reported type."""

    rows: tuple[Occurrence, ...]
    columns: Mapping[str, tuple[str, ...]]

    def completed(self, expected: Iterable[Occurrence]) -> list[Occurrence]:
        """Expected rows with null for each attribute that they do not mention."""
        out = []
        for e in expected:
            missing = {n: None for n in self.columns.get(e.type, ()) if n not in e.attributes}
            out.append(replace(e, attributes={**e.attributes, **missing}))
        return out


@dataclass(frozen=True)
class Verdict:
    """The result of a case.

    Attributes:
        failure: What differs, as text; None if the case passed.
        out: The block that would make the case pass; None if there is none.
        kind: The name of that block: ``out`` or ``error``.
    """

    failure: str | None
    out: str | None = None
    kind: str = "out"


def load(path: str | Path) -> list[RuleCase]:
    """Read the test cases of a file.

    Args:
        path: A file of cases.

    Returns:
        The cases in the order of the text.

    Raises:
        ValueError: If a case is wrong; the message names the file and the line.
        InputProblem: If a file of rules does not exist.
    """
    path = Path(path)
    head: dict[str, str] = {}
    out = []
    for name, line, text, blocks in parts(path.read_text(encoding="utf-8")):
        if not name:
            head = blocks
        elif blocks:
            section = Section(name, text, _merged(head, blocks), str(path), line)
            try:
                case = _case(section, path, set(blocks))
                _ = case.inputs  # values of one attribute have one type
                out.append(case)
            except (ValueError, KeyError) as problem:
                if isinstance(problem, OccursError):
                    raise
                raise ValueError(f"{path}:{line}: {problem}") from problem
    groups: dict[tuple[Text, ...], list[RuleCase]] = {}
    for case in out:
        groups.setdefault(case.texts, []).append(case)
    together = {texts: Together(cases) for texts, cases in groups.items()}
    return [replace(case, together=together[case.texts]) for case in out]


def _languages() -> dict[str, str]:
    """The names of blocks that are rules, with the language of each."""
    return {**{s.removeprefix("."): n for s, n in suffixes().items()}, **{n: n for n in names()}}


def _merged(head: Mapping[str, str], blocks: Mapping[str, str]) -> dict[str, str]:
    """The blocks of a section with those of the head: options are added, rules replace the rules of the head."""
    rules = {"rules", *_languages()}
    kept = {n: b for n, b in head.items() if n not in rules or not rules & set(blocks)}
    options = "\n".join(b["options"] for b in (head, blocks) if "options" in b)
    return {**kept, **blocks, **({"options": options} if options else {})}


def _case(section: Section, path: Path, own: set[str]) -> RuleCase:
    """The case of a section.  ``own``: the names of its own blocks; the others are of the head."""
    blocks, languages = section.blocks, _languages()
    unknown = set(blocks) - {"in", "out", "error", "options", "rules", *languages}
    if unknown:
        known = "rules, in, out, error, options, or a language"
        raise ValueError(f"{section.name}: unknown blocks {sorted(unknown)}; a block is one of {known}")
    if "out" in blocks and "error" in blocks:
        raise ValueError(f"{section.name}: has a block `out` and a block `error`; one of them can be expected")
    if not set(section.options) <= {*_OPTIONS}:
        wrong = sorted(set(section.options) - {*_OPTIONS})
        raise ValueError(f"{section.name}: unknown options {wrong}; known: {', '.join(_OPTIONS)}")
    texts, folders = _rules(section, path, own)
    given = blocks.get("in", "")
    kind, ends = section.clock("timestamp" if _ISO.search(given) else "ms", "start", "until")
    ended = section.options.pop("ended", "true")
    if ended not in ("true", "false"):
        raise ValueError(f"{section.name}: ended: {ended}; use true or false")
    only = section.options.pop("only", None)
    return RuleCase(
        name=section.name, rules="\n".join(t for t, _, _ in texts), events=tuple(parse_events(given, kind)),
        expected=tuple(parse_events(blocks["out"], kind)) if "out" in blocks else None, error=section.error(),
        kind=kind, start=ends.get("start"), until=ends.get("until"), text=section.text, file=section.file,
        line=section.line, texts=tuple(texts), folders=folders, zone=section.options.pop("zone", "UTC"),
        ended=ended == "true", only=None if only is None else tuple(t.strip() for t in only.split(",")),
    )  # fmt: skip


def _rules(section: Section, path: Path, own: set[str]) -> tuple[list[Text], dict[str, Path]]:
    """The rules of a case, and the folders of their files."""
    languages = _languages()
    inline = [
        (body, f"{path}:{section.line}" if n in own else str(path), languages[n])
        for n, body in section.blocks.items()
        if n in languages
    ]
    files = [path.parent / line.strip() for line in section.blocks.get("rules", "").splitlines() if line.strip()]
    if not inline and not files:
        files = [f for s in suffixes() if (f := path.with_suffix(s)).is_file()]
    if not inline and not files:
        known = ", ".join(path.with_suffix(s).name for s in suffixes())
        raise ValueError(f"{section.name}: no rules; add a block `rules` with the paths of files, or one of {known}")
    texts: list[Text] = [(text_of(f), str(f), language_of(f)) for f in files]
    return [*texts, *inline], {str(f): f.parent.absolute() for f in files}


def verdict(case: RuleCase) -> Verdict:
    """Run a case and compare.

    Args:
        case: The case.

    Returns:
        The verdict; an error of the rules or the events is a failure unless the case expects it.
    """
    try:
        found = case.detect()
    except OccursError as error:
        kinds = {p.kind for p in error.problems}
        if case.error in kinds:
            return Verdict(None)
        text = "\n".join(p.render() for p in error.problems)
        wanted = f"expected error[{case.error}], but the run" if case.error else "the run"
        first = error.problems[0].kind
        return Verdict(f"{wanted} stopped with\n{text}", first if case.error else None, "error")
    out = written(found.rows, case.kind)
    if case.error is not None:
        return Verdict(f"expected error[{case.error}], but the run has no error and detects\n{_indented(out)}")
    if case.expected is None:
        how = "add a block `out`, or update the cases"
        return Verdict(f"the case has no expected detections: {how}\n{_indented(out)}", out)
    failure = difference(found.completed(case.expected), found.rows, case.kind)
    return Verdict(failure, None if failure is None else out)


# --- what a run detects as rows of cases ----------------------------------------------------------------------------


def detected(found: LocalDetections | Any, only: Iterable[str] | None = None) -> Detected:
    """The detections of a run as rows of cases.

    ``only``: the types to keep, None for all.  Times are :class:`occurs.testing.cases.Time`, structs JSON text.
    """
    rows: list[Occurrence] = []
    columns: dict[str, tuple[str, ...]] = {}
    for name in found if only is None else [n for n in found if n in set(only)]:
        table = found.arrow(name)
        own = [c for c in table.column_names if c not in ("type", "time")]
        columns[name] = tuple(own)
        times = table.column("time").cast(pa.int64()).to_pylist()
        values = {c: _plain(c, table.column(c)) for c in own}
        rows += [Occurrence(name, time, {c: values[c][i] for c in own}) for i, time in enumerate(times)]
    return Detected(tuple(sorted(rows, key=lambda r: r.time)), columns)


def _plain(name: str, column: pa.ChunkedArray) -> list[Any]:
    if name == "end":
        return list(column.cast(pa.int64()).to_pylist())
    if pa.types.is_timestamp(column.type):
        return [None if v is None else Time(v) for v in column.cast(pa.int64()).to_pylist()]
    plain = times_as(pa.int64(), column.type)
    if plain != column.type:
        column = column.cast(times_as(pa.timestamp("us", tz="UTC"), column.type)).cast(plain)
    values = column.to_pylist()
    return [_nested(v) if isinstance(v, list | dict) else v for v in values] if pa.types.is_nested(plain) else values


def _nested(value: Any) -> Any:
    """A list of numbers or words as it is, everything else as JSON text."""
    flat = isinstance(value, list) and all(
        (isinstance(v, str) and re.fullmatch(r"[A-Za-z_]\w*", v)) or (isinstance(v, int | float) and v is not True)
        for v in value
    )
    return value if flat else json.dumps(value, ensure_ascii=False)


def written(rows: Iterable[Occurrence], kind: TimeKind) -> str:
    """Rows in the notation of cases, one per line; ``(nothing)`` if there are none."""
    return "\n".join(written_row(r, kind) for r in rows) or "(nothing)"


def written_row(row: Occurrence, kind: TimeKind) -> str:
    """One row in the notation of cases, such as ``Fire@10(room='hall')``."""
    attributes = dict(row.attributes)
    time = _time(row.time, kind)
    if "end" in attributes:
        end = attributes.pop("end")
        time = f"[{time},∞)" if end is None else f"[{time},{_time(end, kind)}]"
    number = "" if row.sequence is None else f"#{row.sequence}"
    values = ", ".join(f"{n}={_value(v)}" for n, v in attributes.items())
    return f"{row.type}@{time}{number}" + (f"({values})" if values else "")


def _time(ticks: int, kind: TimeKind) -> str:
    return _iso(ticks) if kind.timestamp else str(ticks)


def _iso(micros: int) -> str:
    stamp = str(pa.array([micros], pa.int64()).cast(pa.timestamp("us")).cast(pa.string())[0].as_py())
    return f"{stamp.replace(' ', 'T').removesuffix('.000000')}Z"


def _value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Time):
        return f"@{_iso(value)}"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{'|'.join(v if isinstance(v, str) else repr(v) for v in value)}]"
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"'{escaped}'"


# --- differences ----------------------------------------------------------------------------------------------------

#: rows that a difference shows at most
SHOWN = 40


def difference(expected: Sequence[Occurrence], found: Sequence[Occurrence], kind: TimeKind) -> str | None:
    """The difference of two sets of rows as text.

    Args:
        expected: The rows that should be detected.
        found: The rows that were detected.
        kind: The kind of time, for the notation of times.

    Returns:
        None if there is no difference.  Otherwise a line for each row in order of time: ``-`` before one that is
        missing, ``+`` before one that is not expected, and below two rows that resemble each other what differs.
    """
    missing, extra = unmatched(expected, found)
    if not missing and not extra:
        return None
    left, right = _rows(expected, missing), _rows(found, extra)
    same = [r for r in found if r not in right]
    lines = [(r.time, r.type, 0, f"    {written_row(r, kind)}") for r in same] if len(same) <= SHOWN // 2 else []
    for row in left:
        near = min(right, key=lambda r: _distance(row, r), default=None)
        lines.append((row.time, row.type, 1, f"  - {written_row(row, kind)}"))
        if near is not None and _distance(row, near) < (1, 0):
            right.remove(near)
            lines.append((row.time, row.type, 1, f"  + {written_row(near, kind)}"))
            lines.append((row.time, row.type, 1, f"      {_what_differs(row, near, kind)}"))
    lines += [(r.time, r.type, 2, f"  + {written_row(r, kind)}") for r in right]
    lines.sort(key=lambda line: line[:2])
    shown = [text for *_, text in lines[:SHOWN]]
    shown += [f"    ... and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    title = f"expected {len(expected)}, detected {len(found)} (- {len(missing)} missing, + {len(extra)} not expected)"
    return "\n".join([title, *shown])


def _rows(rows: Sequence[Occurrence], wanted: Sequence[Row]) -> list[Occurrence]:
    """The rows that :func:`occurs.verify.compare.unmatched` returned, as they are written."""
    left = list(wanted)
    out = []
    for row in rows:
        key = row_of(row)
        if key in left:
            left.remove(key)
            out.append(row)
    return out


def _distance(one: Occurrence, other: Occurrence) -> tuple[int, int]:
    """How much two rows differ; rows of different types, or with more than half of the values different, do not
    resemble each other."""
    if one.type != other.type:
        return 2, 0
    both = {*one.attributes, *other.attributes}
    differing = sum(not _same(one, other, n) for n in both) + (one.time != other.time)
    return int(2 * differing > len(both) + 1), differing


def _same(one: Occurrence, other: Occurrence, name: str) -> bool:
    if (name in one.attributes) != (name in other.attributes):
        return False
    a, b = (tuple(v) if isinstance(v := o.attributes.get(name), list) else v for o in (one, other))
    return same_value(a, b)


def _what_differs(expected: Occurrence, found: Occurrence, kind: TimeKind) -> str:
    out = []
    if expected.time != found.time:
        out.append(f"time: expected {_time(expected.time, kind)}, detected {_time(found.time, kind)}")
    for n in dict.fromkeys([*expected.attributes, *found.attributes]):
        if not _same(expected, found, n):
            a, b = (_value(o.attributes[n]) if n in o.attributes else "no attribute" for o in (expected, found))
            out.append(f"{n}: expected {a}, detected {b}")
    return "; ".join(out)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


# --- updates --------------------------------------------------------------------------------------------------------


def update(path: str | Path, found: Mapping[int, Verdict]) -> None:
    """Write what was detected into a file of cases.

    Args:
        path: The file.
        found: Verdicts by the line of the heading of their case.
    """
    path = Path(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    for heading in sorted(found, reverse=True):
        one = found[heading]
        if one.out is not None:
            _replace(lines, heading, one.kind, one.out.splitlines())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _replace(lines: list[str], heading: int, block: str, content: list[str]) -> None:
    """Replace the content of a block in the section that begins at a line, or add the block after its last one."""
    at, last = heading, heading
    while at < len(lines) and not lines[at].startswith("## "):
        if lines[at].startswith("```"):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            if lines[at][3:].strip() == block:
                lines[at + 1 : end] = content
                return
            at = last = end
        at += 1
    lines[last + 1 : last + 1] = [f"```{block}", *content, "```"]
