"""By which attributes a timeline groups its rows, if nobody says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from occurs.operators.definition import Choice
    from occurs.plan.stage import Stage

_SPECIAL = ("type", "time", "end", "label", "because", "final", "query", "sequence")


def split(stage: Stage) -> list[Stage]:
    """The definitions of a plan that run together, as plans with keys of their own."""
    from occurs.plan.spread import groups

    return [group.stage for group in groups(stage.definitions, stage)]


def of_stages(
    stages: Sequence[Stage], tables: Mapping[str, pa.Table], inputs: Mapping[str, pa.Table]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The partition key of the definitions of ``tables``, and what each type calls it.

    Definitions with different keys: the key that most of the types with rows have.  Empty if there is none.
    """
    # an attribute -> what types call the key that it is, and which outputs it joins
    named: dict[str, dict[str, str]] = {}
    joined: dict[str, set[str]] = {}
    for stage in stages:
        for d in stage.definitions:
            ways = [c for c in d.choices if _agrees(c, stage.key)]
            for choice in ways:
                names = {t: own[0] for t, own in choice.attributes}
                wanted = {a.lower() for a in names.values()}
                if choice.passes:
                    passed = sorted(choice.passes, key=lambda n: (n.lower() not in wanted, n))
                    names.setdefault(d.output, passed[0])
                for attribute in wanted:
                    for t, a in names.items():
                        named.setdefault(attribute, {}).setdefault(t, a)
                    # a rule over single events can be split by any of its attributes: it chooses none
                    if d.output in names and (len(ways) == 1 or len(choice.attributes) > 1):
                        joined.setdefault(attribute, set()).add(d.output)
    shown = {t for t, table in tables.items() if len(table)} or set(tables)
    scores = {a: len(outputs & shown) for a, outputs in joined.items()}
    best = max(scores, key=lambda a: (scores[a], len(shown & named[a].keys())), default=None)
    if best is None or not scores[best]:
        return (), {}
    names = dict(named[best])
    # called as the first detection calls it; a type that no definition reads may have an attribute of that name
    first = next(names[t] for t in (*tables, *inputs) if t in names)
    alike = {a.lower() for a in names.values()}
    for t, table in {**inputs, **tables}.items():
        names.setdefault(t, next((c for c in table.column_names if c.lower() in alike), ""))
    return (first,), {t: (names[t],) for t in (*tables, *inputs)}


def _agrees(choice: Choice, key: Mapping[str, tuple[str, ...]]) -> bool:
    """Is it a way to split that the key of the stage is made of?"""
    return all(set(own) & set(key.get(t, own)) for t, own in choice.attributes)


def shared(tables: Mapping[str, pa.Table]) -> tuple[str, ...]:
    """An attribute that all types with rows have, of text or whole numbers, with at least two values of which one
    repeats: text before numbers, then the order of the columns.  Empty if there is none."""
    there = [t for t in tables.values() if len(t)]
    found: list[tuple[bool, int, str]] = []
    for place, name in enumerate(there[0].column_names if there else ()):
        columns = [next((t[c] for c in t.column_names if c.lower() == name.lower()), None) for t in there]
        known = [c for c in columns if c is not None]
        if name in _SPECIAL or len(known) < len(there):
            continue
        text = all(_is_text(c.type) for c in known)
        if not text and not all(pa.types.is_integer(c.type) for c in known):
            continue
        values = pa.chunked_array([chunk for c in known for chunk in c.cast(pa.string()).chunks], pa.string())
        different = pc.count_distinct(values, mode="all").as_py()
        if 1 < different < len(values):
            found.append((not text, place, name))
    return (min(found)[2],) if found else ()


def _is_text(type: pa.DataType) -> bool:
    if pa.types.is_dictionary(type):
        type = type.value_type
    return pa.types.is_string(type) or pa.types.is_large_string(type)
