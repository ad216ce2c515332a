"""Partial matches that guards end: those of the reference, in this process, in one call and cut; names, labels."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.amount import first
from tests.generators.random_epl import random_epl
from tests.laws.epl import Subject
from tests.textcases.epl import EplCase, ended, load_cases

import occurs
from occurs.hosts.local import run_history
from occurs.languages.epl.define import Epl
from occurs.languages.epl.semantics.instances import Bound
from occurs.model.elements import without

CASES = [c for c in load_cases(Path(__file__).parents[2] / "cases" / "epl") if c.error is None and "within" in c.rules]


def program_of(case: EplCase) -> occurs.Program:
    program = occurs.parse(case.rules, language="epl", values=case.values).checked
    return occurs.Program(program.adjusted(zone=case.zone, timeouts=True))


def rows(found: Mapping[str, pa.Table]) -> Counter[str]:
    """(statement, time, events) of every row."""
    out: Counter[str] = Counter()
    for name, table in found.items():
        table = table.set_column(1, "time", table.column("time").cast(pa.int64()))
        out.update(_text(name, r.pop("time"), r) for r in table.drop_columns("type").to_pylist())
    return out


def _text(name: str, time: int, events: Mapping[str, Any]) -> str:
    return json.dumps([name, time, dict(events)], sort_keys=True, default=str)


def wanted(case: EplCase, part: Epl) -> Counter[str]:
    """The same of the reference."""
    names = {q.number: q for q in part.queries}
    statements = Counter(q.title or q.name for q in names.values())
    out: Counter[str] = Counter()
    for t in ended(case):
        query = names[t.number]
        title = query.title or query.name
        if statements[title] > 1:
            before = [q for q in names.values() if (q.title or q.name) == title and q.number <= t.number]
            title = f"{title} {len(before)}"
        named = {tag: atom for tag, atom in query.atoms.items() if not tag.startswith("#")}
        shown = {t: without(schema, part.elements).names for t, schema in part.schemas.items()}
        attributes = {tag: (shown[atom.types[0]], atom.many) for tag, atom in named.items()}
        out.update(_text(title, t.time, dict(_events(one, attributes))) for one in t.waiting)
    return out


def _events(binding: Mapping[str, Bound], attributes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The event of every tag; of one below a repetition a list."""
    for tag, (names, many) in attributes.items():
        bound = binding.get(tag)
        events = bound if isinstance(bound, tuple) else () if bound is None else (bound,)
        records = [{n: e.attributes.get(n) for n in names} for e in events]
        yield tag, None if not records else records if many else records[0]


def check(case: EplCase) -> int:
    """Compare, in one call and in calls of few rows; how many there are."""
    subject = Subject(case)
    history, part = subject.history, subject.part
    expected = wanted(case, part)
    stage = program_of(case).checked.plan(history.schemas, history.kind)
    for budget in (1_000_000, 3):
        done = run_history(stage, history, budget=budget)
        found = {name: pa.concat_tables([d.table(t) for d in done]) for t, name in stage.sides.items() if done}
        assert rows(found) == expected, case.rules
    return expected.total()


@pytest.mark.parametrize("case", [c for c in CASES if c.events], ids=str)
def test_cases(case: EplCase) -> None:
    check(case)


MANY = [*first(range(2), 1), *(pytest.param(n, marks=[pytest.mark.slow, pytest.mark.long]) for n in range(2, 10))]


@pytest.mark.parametrize("part", MANY)
def test_random_programs(part: int) -> None:
    found = 0
    for seed in range(200 * part, 200 * part + 200):
        case = random_epl(random.Random(seed))
        if "timer:within" in case.rules:
            found += check(case)
    assert found > 10
