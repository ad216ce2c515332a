"""What callers hand to a program: tables, schemas and options, in the forms that are read further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.connect.tables import to_arrow
from occurs.errors import UsageProblem, did_you_mean
from occurs.model.lists import named_list
from occurs.model.source import InputOptions, Source, fact_table
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


def sources_of(events: Any) -> Any:
    """Tables as Arrow, by type (None: all types in one); sources of files as they are."""
    if isinstance(events, Mapping):
        return {t: to_arrow(table, t) for t, table in events.items()}
    if isinstance(events, list | tuple) and all(isinstance(s, Source) for s in events):
        return events
    return {None: to_arrow(events)}


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
