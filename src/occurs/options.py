"""What callers hand to a program: tables, schemas and options, in the forms that are read further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.connect.tables import to_arrow
from occurs.errors import LimitProblem, UsageProblem, did_you_mean
from occurs.model.facts import fact_table
from occurs.model.lists import named_list
from occurs.model.source import InputOptions, Source
from occurs.model.ticks import duration
from occurs.model.time import OPEN, TimeKind
from occurs.model.types import Schema, Type
from occurs.model.values import is_text, short


def split_options(options: Mapping[str, Any]) -> tuple[InputOptions, dict[str, Any]]:
    """Keywords as options of the input and of the plan; UsageProblem for one that is neither."""
    inputs = {f.name for f in fields(InputOptions)}
    plan = {"zone", "facts", "strict", "require_bounds"}
    for name in options:
        if name not in inputs | plan | {"ended"}:
            hint = did_you_mean(name, inputs | plan, "options")
            raise UsageProblem.of("bad-option", f"unknown option `{name}`", hint=hint)
    own = {n: v for n, v in options.items() if n in plan}
    return InputOptions(**{n: v for n, v in options.items() if n in inputs}), own


def check_flags(**given: Any) -> None:
    """Raise UsageProblem for an option that is neither true nor false."""
    for name, value in given.items():
        if not isinstance(value, bool | np.bool_):
            raise UsageProblem.of("bad-option", f"{name} must be True or False, not {short(value)}")


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

    def queries(self, clock: tuple[int, int], started: bool) -> range:
        """When it is looked: a step after the beginning of the clock (if it was ``started`` on purpose, else from the
        first multiple of the step that is not before it), then at every step up to the first query that is not before
        the end of the clock.  Raises LimitProblem and UsageProblem."""
        first = clock[0] + self.step if started else -(-clock[0] // self.step) * self.step
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
