"""What callers hand to a program: the options of `detect`, tables and schemas, in the forms that are read further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np
import pyarrow as pa

from occurs.connect.tables import to_arrow
from occurs.errors import LimitProblem, UsageProblem, did_you_mean
from occurs.model.lists import named_list
from occurs.model.source import InputOptions, Source, fact_table
from occurs.model.ticks import duration
from occurs.model.time import OPEN, TimeKind
from occurs.model.types import Schema, Type
from occurs.model.values import is_text, short
from occurs.progress import Told


@dataclass(frozen=True)
class Option:
    """An option of :meth:`occurs.Program.detect`.

    ``of``: what it describes or changes: the ``input``, the plan (``rules``: also of what is only explained or
    verified; ``run``), the ``result``, or runs on Spark (``stream``: only streams).  ``words``: what the docstring says
    of it.  ``help``: what commands say of it, if it is not the same.
    """

    name: str
    default: Any
    of: Literal["input", "rules", "run", "result", "spark", "stream"]
    words: str
    help: str = ""


#: every option, in the order of the signature
OPTIONS = (
    Option("type", "type", "input",
        "The column with the event type.  None: there is none.",
        "Column with the event type (empty: none)."),
    Option("time", "time", "input",
        "The column with the time: timestamps, integers, or text.",
        "Column with the time."),
    Option("end", "end", "input",
        "The column with the end of intervals, null while an interval is open.  None: there is none.",
        "Column with the end of an interval (empty: none)."),
    Option("sequence", "sequence", "input",
        "The column that orders simultaneous events.  None: there is none.",
        "Column that orders simultaneous events (empty: none)."),
    Option("label", "label", "input",
        "The column with the unique identity of a row.  None: there is none.",
        "Column with the label, the unique identity of a row (empty: none)."),
    Option("time_unit", None, "input",
        "The unit of integer times: ``us``, ``ms``, ``s``, ``min``, ``h`` or ``d``.",
        "Unit of integer times: us, ms, s, min, h or d."),
    Option("start", None, "input",
        "The start of the clock; earlier rows are skipped.  Default: the time of the first row.",
        "Start of the clock; skip earlier rows.  [default: first event]"),
    Option("until", None, "input",
        "The end of the clock; later rows are skipped.  Default: the time of the last row.",
        "End of the clock; skip later rows.  [default: last event]"),
    Option("ended", True, "result",
        "Whether the input is complete.  If so, intervals that are open at its end are reported, too.",
        "Treat the input as complete, or leave open intervals unreported.  [default: ended]"),
    Option("because", False, "result",
        "Add the columns ``label`` and ``because``, the constituents of each detection.",
        "Add the label and the constituents of every detection."),
    Option("with_label", False, "result",
        "Add the column ``label``, the identity of each detection.",
        "Add the label of every detection."),
    Option("bad_rows", "error", "input",
        '``"error"`` rejects input with unreadable rows, ``"skip"`` skips and counts them.',
        "Reject input with unreadable rows, or skip and count them."),
    Option("time_format", None, "input",
        "The format of times in text, in the directives of ``strptime``.  None: ISO 8601.",
        'Format of times in text: "%d/%m/%Y %H:%M:%S".  [default: ISO 8601]'),
    Option("only", None, "result",
        "The types to report.  None: all.",
        "Report only these types, separated by commas."),
    Option("zone", "UTC", "rules",
        "The time zone of timers that do not name one.",
        "Time zone of timers."),
    Option("facts", None, "rules",
        "Tables without time, by name (Phenesthe).",
        "Table without a time column.  Repeatable."),
    Option("strict", False, "rules",
        "Treat warnings as errors."),
    Option("require_bounds", False, "rules",
        "Treat unbounded state as an error."),
    Option("window", None, "run",
        'Window mode (Phenesthe): the length of the windows, a duration such as ``"2 h"`` or ticks.',
        "Window mode (Phenesthe): each query sees only the last DURATION, such as 2h, or a number of ticks."),
    Option("step", None, "run",
        "Window mode: the time between two windows, a duration or ticks.",
        "Time between two queries of --window, such as 1h."),
    Option("provisional", False, "run",
        "On a stream, also report open intervals before they end, with the column ``final``.",
        "Also report open intervals (final = false) before they end."),
    Option("timeouts", False, "run",
        "Also collect the partial matches that EPL's ``timer:within`` or WITHIN of row patterns ended, in "
        "``timeouts`` of the result."),
    Option("max_instances", None, "run",
        "The maximum number of partial matches per definition, on Spark per partition. Default: 10 million.",
        "Maximum number of partial matches per definition (EPL; on Spark, per partition).  [default: 10,000,000]"),
    Option("max_steps", None, "run",
        "The maximum number of steps of the search for one match (MATCH_RECOGNIZE).  Default: 100 million.",
        "Maximum number of steps of the search for one match (MATCH_RECOGNIZE).  [default: 100,000,000]"),
    Option("progress", None, "result",
        "Show a progress bar for a run in this process, or call a function with how far it is, from time to time.  "
        "None: a bar, only in a notebook."),
    Option("partitions", None, "spark",
        "The number of hash buckets, or slices of time, of a run on Spark.  None: 8, and of a history at least one for "
        "every 5 million rows.",
        "Number of partitions of a run on Spark.  [default: 8, more for more than 40 million rows]"),
    Option("watermark", None, "stream", "How late a row of a stream may arrive, a duration such as ``\"10 s\"``."),
    Option("divide", 1, "stream",
        "The number of buckets that share the rules of one key, for keys with most of the events.",
        "Number of buckets that share the rules of one key, for frequent keys; fixed per checkpoint.  [default: 1]"),
    Option("session", None, "spark", "A Spark session: run tables of this process on Spark."),
)  # fmt: skip


class DetectOptions(TypedDict, total=False):
    """The types of the options of :meth:`occurs.Program.detect`; ``OPTIONS`` says what they mean."""

    type: str | None
    time: str
    end: str | None
    sequence: str | None
    label: str | None
    time_unit: str | None
    start: Any
    until: Any
    ended: bool
    because: bool
    with_label: bool
    bad_rows: str
    time_format: str | None
    only: list[str] | None
    zone: str
    facts: Mapping[str, Any] | None
    strict: bool
    require_bounds: bool
    window: Any
    step: Any
    provisional: bool
    timeouts: bool
    max_instances: int | None
    max_steps: int | None
    progress: bool | Told | None
    partitions: int | None
    watermark: Any
    divide: int
    session: Any


def among(given: Mapping[str, Any], *of: str) -> dict[str, Any]:
    """Those of the given options that describe or change one of ``of``."""
    return {o.name: given[o.name] for o in OPTIONS if o.of in of and o.name in given}


def split_options(given: Mapping[str, Any]) -> tuple[InputOptions, dict[str, Any]]:
    """Keywords as options of the input and of the plan; UsageProblem for one that is neither."""
    known = [o.name for o in OPTIONS if o.of in ("input", "rules")]
    for name in given:
        if name not in known and name != "ended":
            raise UsageProblem.of("bad-option", f"unknown option `{name}`", hint=did_you_mean(name, known, "options"))
    return InputOptions(**among(given, "input")), among(given, "rules")


def check_host(host: Mapping[str, Any], *of: str) -> None:
    """Raise UsageProblem for an option of Spark that there is not, or that a run does not have.  ``of``: spark and
    stream, as far as it is on them."""
    for name in sorted(host):
        option = next((o for o in OPTIONS if o.name == name), None)
        if option is None:
            hint = did_you_mean(name, [o.name for o in OPTIONS], "options")
            raise UsageProblem.of("bad-option", f"unknown option `{name}`", hint=hint)
        if option.of not in of:
            where = "a stream" if option.of == "stream" else "a run"
            raise UsageProblem.of("bad-option", f"`{name}` is only available for {where} on Spark")


def check_flags(given: Mapping[str, Any]) -> None:
    """Raise UsageProblem for an option that is neither true nor false, though it must be."""
    for option in OPTIONS:
        value = given.get(option.name, option.default)
        flag = isinstance(option.default, bool) or (option.name == "progress" and value is not None)
        flag = flag and not (option.name == "progress" and callable(value))
        if flag and not isinstance(value, bool | np.bool_):
            raise UsageProblem.of("bad-option", f"{option.name} must be True or False, not {short(value)}")


def schema_of(type: str, given: Schema | Mapping[str, str]) -> Schema:
    """A schema, or attributes to the names of their types, ``list<int>`` among them.  Raises UsageProblem."""
    if isinstance(given, Schema):
        return given
    if not isinstance(given, Mapping) or not all(isinstance(n, str) for n in given):
        text = f"the schema of `{type}` must be a mapping from attributes to types, not {short(given)}"
        raise UsageProblem.of("bad-option", text, hint='such as {"v": "int"}')
    names = {str(t): t for t in (Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIMESTAMP)}
    lists = {n: named_list(str(t)) for n, t in given.items()}
    for name, t in given.items():
        if str(t) not in names and lists[name] is None:
            text = f"`{t}` is not a type (attribute `{name}` of `{type}`)"
            raise UsageProblem.of("bad-option", text, hint=did_you_mean(str(t), [*names, "list<int>"], "types"))
    records = tuple((n, k) for n, k in lists.items() if k is not None)
    return Schema(tuple((n, names.get(str(t), Type.RECORD)) for n, t in given.items()), records=records)


def without_lists(schema: Schema) -> Schema:
    """What of a schema definitions see that read no columns of lists."""
    kept = tuple((n, t) for n, t in schema if t is not Type.RECORD)
    return replace(schema, attributes=kept, records=())


def named(events: Any, names: Mapping[int, str]) -> Any:
    """Tables by type, and sources of files, under the names of their types where these are numbers.

    Raises UsageProblem for two tables of one type, and for names that are not text.
    """
    if isinstance(events, Mapping):
        for name in events:
            if not (isinstance(name, str) and is_text(name)) and name is not None and name not in names:
                hint = "a mapping must have the names of event types as keys and tables as values"
                raise UsageProblem.of("bad-table", f"the name of a table must be text, not {short(name)}", hint=hint)
    texts = {str(number): name for number, name in names.items()}
    if isinstance(events, list | tuple):
        return [replace(s, type=texts.get(s.type or "", s.type)) if isinstance(s, Source) else s for s in events]
    if not isinstance(events, Mapping) or not texts.keys() & {str(t) for t in events}:
        return events
    out = {texts.get(str(t), t): table for t, table in events.items()}
    if len(out) < len(events):
        raise UsageProblem.of("duplicate-name", f"two tables have the same type: {', '.join(f'`{t}`' for t in events)}")
    return out


def sample_of(events: Any) -> Any:
    """Some table among ``events``: it says of which kind the result is."""
    if isinstance(events, Mapping):
        return next(iter(events.values()), None)
    return None if isinstance(events, list | tuple) else events


def fact_tables(given: Mapping[str, Any], declared: Mapping[str, Schema]) -> dict[str, pa.Table]:
    """Facts as their declarations say.  Raises UsageProblem for one that is not declared, and InputProblem."""
    if not isinstance(given, Mapping) or not all(isinstance(n, str) for n in given):
        raise UsageProblem.of("bad-option", f"facts must be a mapping from names to tables, not {short(given)}")
    unread = [n for n in given if n not in declared]
    if unread:
        text = f"no definition of this program reads facts: {', '.join(f'`{n}`' for n in unread)}"
        hint = f"declare them in a .phen file, `input fact {unread[0]}(a, b).`; TESLA rules read only events"
        if declared:
            hint = did_you_mean(unread[0], declared, "facts")
        raise UsageProblem.of("unsupported", text, hint=hint)
    return {n: fact_table(n, to_arrow(t, n), declared[n]) for n, t in given.items()}


def windows_of(window: Any, step: Any, others: Sequence[str]) -> tuple[Any, Any] | None:
    """The options of window mode, None in every other.  ``others``: languages of definitions that have no window mode.

    Raises UsageProblem.
    """
    if window is None and step is None:
        return None
    if window is None or step is None:
        there, missing = ("--window", "--step") if step is None else ("--step", "--window")
        raise UsageProblem.of("bad-option", f"{there} needs {missing}", hint="give both options")
    if others:
        text = f"--window cannot be used with definitions in {', '.join(n.upper() for n in others)}"
        hint = "only programs that consist of Phenesthe definitions have windows"
        raise UsageProblem.of("unsupported", text, hint=hint)
    return window, step


#: the most queries that window mode makes of a history
MOST = 1_000_000


@dataclass(frozen=True)
class Window:
    """``length`` of what is looked at and ``step`` from query to query, in ticks."""

    length: int
    step: int

    @classmethod
    def of(cls, length: Any, step: Any, kind: TimeKind) -> Window:
        """From the options.  Raises UsageProblem."""
        made = cls(_ticks(length, kind, "--window"), _ticks(step, kind, "--step"))
        if made.length < made.step:
            text = f"--window {length} is shorter than --step {step}: events between windows would be lost"
            raise UsageProblem.of("bad-option", text, hint="use a window that is at least as long as the step")
        return made

    def first(self, start: int, started: bool) -> int:
        """The time of the first query of a clock that begins at ``start``, see :meth:`queries`."""
        return start + self.step if started else -(-start // self.step) * self.step

    def queries(self, clock: tuple[int, int], started: bool) -> range:
        """When it is looked: a step after the beginning of the clock (if it was ``started`` on purpose, else from the
        first multiple of the step that is not before it), then at every step up to the first query that is not before
        the end of the clock.  Raises LimitProblem and UsageProblem."""
        first = self.first(clock[0], started)
        count = max(0, -(-(clock[1] - first) // self.step)) + 1
        if count > MOST:
            text = f"--step {self.step} leads to {count} queries over this history"
            raise LimitProblem.of("too-many-queries", text, hint=f"at most {MOST} are allowed; use a longer step")
        last = first + (count - 1) * self.step
        if last >= OPEN:
            raise UsageProblem.of("bad-option", f"--step {self.step}: the last query is later than the last tick")
        return range(first, last + 1, self.step)


def _ticks(value: Any, kind: TimeKind, option: str) -> int:
    exact = duration(value, kind, option)
    if exact <= 0 or exact.denominator != 1:
        text = f"{option} {value} is not a positive whole number of ticks"
        raise UsageProblem.of("bad-duration", text, hint="use a multiple of the time unit of the input")
    return int(exact)
