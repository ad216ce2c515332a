"""Random questions about rows that are not detected: a program and a history that detect a row are spoiled until they
do not, by a change of the history or of a number in the rules, and the row is asked for."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

import occurs
from occurs.errors import OccursError

#: columns that are no attributes
SPECIAL = {"type", "time", "end", "sequence", "label", "op", "holds"}
#: changes that are tried for one question
TRIES = 30


@dataclass(frozen=True)
class Asked:
    """A question: ``options`` are those of ``detect``, ``late`` the rows of --late; ``spoiled``: a row was detected
    before a change."""

    program: occurs.Program
    type: str
    events: dict[str, pa.Table]
    where: Mapping[str, Any]
    between: Any
    options: Mapping[str, Any]
    late: dict[str, pa.Table] = field(default_factory=dict)
    spoiled: bool = False

    def ask(self, events: dict[str, pa.Table] | None = None, **more: Any) -> Any:
        """The answer; ``events``: in place of those of the question."""
        late = {"late": self.late} if self.late else {}
        given = self.events if events is None else events
        return self.program.why_not(
            self.type, given, where=self.where, between=self.between, **late, **self.options, **more
        )


Made = tuple[occurs.Program, dict[str, pa.Table], dict[str, Any]]


def question(make: Callable[[random.Random], Made], seed: int) -> Asked | None:
    """A question about a random program; None if its events are refused, or it never detects a row."""
    rng = random.Random(seed)
    detected = None
    for _ in range(TRIES):
        try:
            program, events, options = make(rng)
            found = program.detect(events, **options)
        except OccursError:
            continue
        rows = [(t, r) for t in sorted(found) if t in program.checked.defined for r in found[t].to_pylist()]
        if rows:
            detected = program, events, options, *rng.choice(rows)
            break
    if detected is None:
        return None
    program, events, options, type, row = detected
    where = _where(row, rng)
    between = (row["time"], row["end"]) if row.get("end") is not None and rng.random() < 0.5 else row["time"]
    for _ in range(TRIES):
        asked = _spoiled(Asked(program, type, events, where, between, options, spoiled=True), rng)
        if asked is None:
            continue
        try:
            found = asked.program.detect(asked.events, **asked.options)
        except OccursError:
            continue
        if type in found and not any(_fits(r, where, between) for r in found[type].to_pylist()):
            return asked
    return None


def _where(row: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    values = {n: v for n, v in row.items() if n not in SPECIAL | {"because", "query", "about", "final"}}
    simple = [n for n, v in values.items() if isinstance(v, str | int) or v is None]
    kept = simple if rng.random() < 0.6 else rng.sample(simple, rng.randint(0, len(simple)))
    return {n: values[n] for n in kept}


def _fits(row: Mapping[str, Any], where: Mapping[str, Any], between: Any) -> bool:
    first, last = between if isinstance(between, tuple) else (between, between)
    end = row.get("end", row["time"])
    inside = row["time"] <= last and (end is None or end >= first)
    return inside and all((row[n] is None) == (v is None) and row[n] == v for n, v in where.items())


def _spoiled(asked: Asked, rng: random.Random) -> Asked | None:
    """The question after one change; None if there is nothing to change."""
    changes = (_other_number, _other_value, _one_more, _other_time, _without, _too_late, _outside)
    (change,) = rng.choices(changes, (10, 4, 3, 2, 1, 1, 1))
    return change(asked, rng)


def _but(asked: Asked, **changed: Any) -> Asked:
    return Asked(**{n: getattr(asked, n) for n in asked.__dataclass_fields__} | changed)


def _pick(asked: Asked, rng: random.Random) -> tuple[str, int] | None:
    rows = [(t, i) for t, table in sorted(asked.events.items()) for i in range(len(table))]
    return rng.choice(rows) if rows else None


def _changed(asked: Asked, type: str, rows: list[dict[str, Any]]) -> Asked:
    table = asked.events[type]
    return _but(asked, events={**asked.events, type: pa.Table.from_pylist(rows, table.schema)})


def _without(asked: Asked, rng: random.Random) -> Asked | None:
    """A row less."""
    picked = _pick(asked, rng)
    if picked is None:
        return None
    rows = asked.events[picked[0]].to_pylist()
    del rows[picked[1]]
    return _changed(asked, picked[0], rows)


def _too_late(asked: Asked, rng: random.Random) -> Asked | None:
    """A row that came too late."""
    less, picked = None, _pick(asked, rng)
    if picked is not None:
        rows = asked.events[picked[0]].to_pylist()
        late = {picked[0]: asked.events[picked[0]].slice(picked[1], 1)}
        del rows[picked[1]]
        less = _but(_changed(asked, picked[0], rows), late=late)
    return less


def _outside(asked: Asked, rng: random.Random) -> Asked | None:
    """A clock that starts later, or ends earlier."""
    times = sorted({t for table in asked.events.values() for t in table["time"].to_pylist()})
    if len(times) < 2 or {"start", "until"} & asked.options.keys():
        return None
    cut = {"start": times[1]} if rng.random() < 0.7 else {"until": times[-2]}
    return _but(asked, options={**asked.options, **cut})


def _other_value(asked: Asked, rng: random.Random) -> Asked | None:
    """Another value of an attribute of a row."""
    picked = _pick(asked, rng)
    if picked is None:
        return None
    table = asked.events[picked[0]]
    names = [n for n in table.column_names if n not in SPECIAL]
    if not names:
        return None
    name, rows = rng.choice(names), table.to_pylist()
    before = rows[picked[1]][name]
    others = [r[name] for r in rows if r[name] != before]
    if isinstance(before, int | float) and not isinstance(before, bool):
        others += [before - 1, before + 1, before - 4, before + 4]
    if not others:
        others = [before + "x"] if isinstance(before, str) else [None]
    rows[picked[1]][name] = rng.choice(others)
    return _changed(asked, picked[0], rows)


def _other_time(asked: Asked, rng: random.Random) -> Asked | None:
    """A row at another time."""
    picked = _pick(asked, rng)
    if picked is None:
        return None
    rows = asked.events[picked[0]].to_pylist()
    times = sorted({t for table in asked.events.values() for t in table["time"].to_pylist()})
    row, time = rows[picked[1]], rng.choice(times)
    if rng.random() < 0.5 and isinstance(row["time"], int):
        time = max(times[0], row["time"] + rng.choice((-3, -1, 1, 3)))
    if row.get("end") is not None and row["end"] <= time:
        return None
    row["time"] = time
    return _changed(asked, picked[0], rows)


def _one_more(asked: Asked, rng: random.Random) -> Asked | None:
    """One more row, as another one at the time of a third."""
    picked, other = _pick(asked, rng), _pick(asked, rng)
    if picked is None or other is None:
        return None
    rows = asked.events[picked[0]].to_pylist()
    row = dict(rows[picked[1]])
    row["time"] = asked.events[other[0]]["time"][other[1]].as_py()
    if row.get("end") is not None and row["end"] <= row["time"]:
        return None
    return _changed(asked, picked[0], [*rows, row])


def _other_number(asked: Asked, rng: random.Random) -> Asked | None:
    """Another number somewhere in the rules."""
    text, file, language = asked.program.checked.texts[0]
    found = list(re.finditer(r"(?<![\w.$:\"'])\d+(?![\w.:\"'])", text))
    if not found:
        return None
    at = rng.choice(found)
    value = max(0, int(at[0]) + rng.choice((-5, -2, -1, 1, 2, 5)))
    try:
        program = occurs.parse(f"{text[: at.start()]}{value}{text[at.end() :]}", language, name=file)
    except OccursError:
        return None
    return _but(asked, program=program)
