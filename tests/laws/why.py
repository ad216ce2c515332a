"""The laws of why-not (why.md, section 5) for one random program, history and question of any language.

Soundness, minimality, prefix, bounds, sameness and, of a small search, completeness; AssertionError with what differs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any
from unittest import mock

import pyarrow as pa
from tests.generators.random_epl import random_core as epl_core
from tests.generators.random_logic import random_core as logic_core
from tests.generators.random_match_recognize import random_rows
from tests.generators.random_phenesthe import random_program as random_phenesthe
from tests.generators.random_pipes import random_pipe
from tests.generators.random_tesla import random_program as random_tesla

import occurs
from occurs.errors import OccursError
from occurs.explain.domain import domain
from occurs.explain.search import Search
from occurs.testing.cases import Case

#: rows of a history, variants of a question, and rows that may be added for completeness to be looked at
ROWS, VARIANTS, ADDED = 7, 150, 60

Asked = tuple[occurs.Program, dict[str, pa.Table], dict[str, Any]]


def options_of(case: Any, times: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The keywords of a case."""
    out: dict[str, Any] = {}
    if not case.kind.timestamp:
        out["time_unit"] = case.kind.unit
    given = times if times is not None else {"start": case.start, "until": case.until}
    for name in ("start", "until"):
        at = given.get(name)
        if at is not None:
            out[name] = pa.scalar(at).cast(pa.timestamp("us", tz="UTC")).as_py() if case.kind.timestamp else at
    if getattr(case, "zone", "UTC") != "UTC":
        out["zone"] = case.zone
    return out


def fewer(tables: Mapping[str, pa.Table], rng: random.Random) -> dict[str, pa.Table]:
    """Some rows of a history, at most :data:`ROWS`."""
    every = [(t, i) for t, table in tables.items() for i in range(len(table))]
    kept = set(rng.sample(every, min(ROWS, len(every))))
    masks = {t: pa.array([(t, i) in kept for i in range(len(table))], pa.bool_()) for t, table in tables.items()}
    return {t: table.filter(masks[t]) for t, table in tables.items()}


def plain(language: str, case: Case, rng: random.Random) -> Asked:
    return occurs.parse(case.rules, language), fewer(case.tables(), rng), options_of(case)


def triggers(rng: random.Random) -> Asked:
    case = logic_core(rng, depth=2, most_states=6)
    return plain("ptl" if case.past else "ftl", case, rng)


def pipes(rng: random.Random) -> Asked:
    while True:
        case = random_pipe(rng, depth=1, most_events=ROWS)
        if case.rules:
            return plain("esql", case, rng)


def intervals(rng: random.Random) -> Asked:
    while True:
        case = random_phenesthe(rng, most_rows=10, most_definitions=2, clock=False)
        if not case.facts:
            break
    program = occurs.parse(case.rules, "phenesthe")
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in case.rows:
        schema = program.checked.declared[row.type]
        found: dict[str, Any] = {"time": row.time, **row.attributes(schema.names)}
        rows.setdefault(row.type, []).append(found | ({"end": row.end} if schema.lasting else {}))
    tables = {t: pa.Table.from_pylist(found) for t, found in rows.items()}
    if case.kind.timestamp:
        for t, table in tables.items():
            for n in {"time", "end"} & set(table.column_names):
                at = table.column_names.index(n)
                column = table[n].cast(pa.int64()).cast(pa.timestamp("us", tz="UTC"))
                tables[t] = table = table.set_column(at, n, column)
    return program, fewer(tables, rng), options_of(case, case.times)


LANGUAGES: dict[str, Callable[[random.Random], Asked]] = {
    "tesla": lambda rng: plain("tesla", random_tesla(rng, most_events=9, recursion=rng.random() < 0.1), rng),
    "epl": lambda rng: plain("epl", epl_core(rng), rng),
    "logic": triggers,
    "phenesthe": intervals,
    "pipes": pipes,
    "match_recognize": lambda rng: plain("match_recognize", random_rows(rng), rng),
}


def clauses(answer: Any) -> list[list[tuple[str, str, str]]]:
    """The clauses of all reasons."""
    return [[(c.kind, c.place, c.repair) for c in r.clauses] for r in answer.reasons]


def question_of(language: str, seed: int) -> tuple[occurs.Program, str, dict[str, pa.Table], dict[str, Any]] | None:
    """A random program, a type that it defines, events, and a question with the options; None if there is none."""
    rng = random.Random(seed)
    try:
        program, events, options = LANGUAGES[language](rng)
        found = program.detect(events, **options)
    except OccursError:
        return None
    types = sorted(t for t in found if t in program.checked.defined)
    times = sorted({t for table in events.values() for t in table["time"].to_pylist()})
    if not types or not times:
        return None
    type, where = rng.choice(types), {}
    rows = found[type].to_pylist()
    names = [n for n in (rows[0] if rows else {}) if n not in ("type", "time", "end", "label")]
    if names and rng.random() < 0.5:
        name = rng.choice(names)
        value = rng.choice(rows)[name]
        where = {name: value} if isinstance(value, str | int) else {}
    return program, type, events, {"where": where, "between": rng.choice(times), **options}


def check(language: str, seed: int) -> int:
    """Ask one question and check its laws; returns the number of reasons (-1: nothing could be asked)."""
    made = question_of(language, seed)
    if made is None:
        return -1
    program, type, events, question = made
    options = {n: v for n, v in question.items() if n not in ("where", "between")}
    answer = program.why_not(type, events, edits=1, max_variants=VARIANTS, **question)
    if answer.found:
        return 0
    mine = clauses(answer)
    for reason in answer.reasons:
        keywords = dict(options)
        if any(c.kind == "outside" for c in reason.clauses):
            keywords.pop("start", None), keywords.pop("until", None)
        again = reason.program.detect(reason.events, **keywords)[type]
        assert len(answer.question.fitting(again)) > 0, f"not sound: {reason.clauses}"
    first = clauses(program.why_not(type, events, edits=1, limit=1, max_variants=VARIANTS, **question))
    assert first == mine[:1], f"not the first: {first} of {mine}"
    turned = {t: table.take(pa.array(range(len(table) - 1, -1, -1), pa.int64())) for t, table in events.items()}
    other = clauses(program.why_not(type, turned, edits=1, max_variants=VARIANTS, **question))
    assert other == mine, f"another order of rows: {other}, not {mine}"
    both = program.why_not(type, events, edits=2, max_variants=2 * VARIANTS, **question)
    kinds = [{(c.kind, c.place) for c in r.clauses} for r in both.reasons]
    assert not any(a < b for a in kinds for b in kinds), f"not minimal: {kinds}"
    if answer.complete:
        assert [c for c in clauses(both) if len(c) == 1] == mine, f"edits 2: {clauses(both)}, not {mine}"
    for reason in both.reasons:
        again = reason.program.detect(reason.events, **options)[type]
        known = any(c.kind == "outside" for c in reason.clauses)
        assert known or len(answer.question.fitting(again)) > 0, f"not sound: {reason.clauses}"
    if answer.complete:
        complete(program, type, events, question, mine)
    return len(mine)


def complete(
    program: occurs.Program, type: str, events: Mapping[str, pa.Table], question: Mapping[str, Any], mine: list[Any], *,
    edits: int = 1, added: int = ADDED, variants: int = 2000,
) -> bool:  # fmt: skip
    """The same reasons, with the same added rows, are found if every value of the slice and every row of the domain is
    tried; returns whether all of it was."""

    def every(self: Search, sets: Any) -> Any:
        out = []
        for s in sets:
            row = next((x.clause.type for x in s if x.kind == "missing"), None)
            small = row is None or len(domain(self.world, self.question, row).table) <= added
            if not small:
                raise _TooManyError
            out.append((s, self._every(s, None)))
        return out

    try:
        with ExitStack() as patches:
            for name, value in (
                ("_proposals", every), ("_near", lambda self, type: None), ("_compared", {}), ("anchors", frozenset()),
            ):  # fmt: skip
                patches.enter_context(mock.patch.object(Search, name, value))
            slow = program.why_not(type, events, edits=edits, max_variants=variants, **question)
    except _TooManyError:
        return False
    if slow.complete:
        one, other = ([[c[: 2 + (c[0] == "missing")] for c in r] for r in found] for found in (clauses(slow), mine))
        # the slice does not have every value that an expression takes, such as the time of a state
        other = [r for r in other if r in one or not any(c[0] == "threshold" for c in r)]
        assert one == other, f"by trying all: {one}, not {other}"
    return slow.complete


def oracle(language: str, seed: int) -> int:
    """Ask one question and compare the answer with that of a search that leaves nothing out; returns the number of
    reasons (-1: nothing could be asked, or the search is too long)."""
    made = question_of(language, seed)
    if made is None:
        return -1
    program, type, events, question = made
    try:
        answer = program.why_not(type, events, edits=1, max_variants=4000, **question)
    except OccursError:
        return -1
    if answer.found or not answer.complete:
        return -1
    mine = clauses(answer)
    return len(mine) if complete(program, type, events, question, mine, added=400, variants=8000) else -1


class _TooManyError(Exception):
    """A domain is too large to try every row of it."""


def many(language: str, first: int, programs: int, seconds: float | None = None) -> tuple[int, int]:
    """Check many seeds; returns how many questions were asked and how many reasons were found.

    ``seconds``: no new question is asked after this CPU time.
    """
    asked = reasons = 0
    began = time.process_time()
    for seed in range(first, first + programs):
        if seconds is not None and time.process_time() - began > seconds:
            break
        try:
            found = check(language, seed)
        except Exception as error:
            raise AssertionError(f"{language} seed {seed}: {error}") from error
        asked += found >= 0
        reasons += max(found, 0)
    return asked, reasons
