"""The laws of why-not (why.md, section 5) for one random program, history and question of any language.

Soundness, minimality, prefix, bounds, sameness, and the answers that trying everything gives; AssertionError with the
difference.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from tests.generators.random_epl import random_core as epl_core
from tests.generators.random_logic import random_core as logic_core
from tests.generators.random_match_recognize import random_rows
from tests.generators.random_phenesthe import random_program as random_phenesthe
from tests.generators.random_pipes import random_pipe
from tests.generators.random_tesla import random_program as random_tesla
from tests.laws import questions
from tests.laws.brute import Brute, Told, told_of
from tests.laws.questions import Asked, Made

import occurs
from occurs.errors import OccursError
from occurs.testing.cases import Case

#: rows of a history, and variants of a question
ROWS, VARIANTS = 7, 150

#: repairs of one set of one clause, and of two, that the oracle tries
TRIED = (250, 60)


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


def plain(language: str, case: Case, rng: random.Random) -> Made:
    program = occurs.parse(case.rules, language, values=getattr(case, "values", None))
    return program, fewer(case.tables(), rng), options_of(case)


def triggers(rng: random.Random) -> Made:
    case = logic_core(rng, depth=2, most_states=6)
    return plain("ptl" if case.past else "ftl", case, rng)


def pipes(rng: random.Random) -> Made:
    while True:
        case = random_pipe(rng, depth=1, most_events=ROWS)
        if case.rules:
            return plain("esql", case, rng)


def intervals(rng: random.Random) -> Made:
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


LANGUAGES: dict[str, Callable[[random.Random], Made]] = {
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


def question_of(language: str, seed: int) -> Asked | None:
    """A random question; None if there is none.  Some are about a row that was never there."""
    if seed % 5:
        return questions.question(LANGUAGES[language], seed)
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
    return Asked(program, type, events, where, rng.choice(times), options)


def check(language: str, seed: int) -> int:
    """Ask one question and check its laws; returns the number of reasons (-1: nothing could be asked)."""
    asked = question_of(language, seed)
    if asked is None:
        return -1
    options = asked.options
    answer = asked.ask(edits=1, max_variants=VARIANTS)
    if answer.found:
        return 0
    mine = clauses(answer)
    for reason in answer.reasons:
        assert sound(asked, answer, reason), f"not sound: {reason.clauses}"
    first = clauses(asked.ask(edits=1, limit=1, max_variants=VARIANTS))
    assert first == mine[:1], f"not the first: {first} of {mine}"
    turned = {t: table.take(pa.array(range(len(table) - 1, -1, -1), pa.int64())) for t, table in asked.events.items()}
    other = clauses(asked.ask(turned, edits=1, max_variants=VARIANTS))
    assert other == mine, f"another order of rows: {other}, not {mine}"
    both = asked.ask(edits=2, max_variants=2 * VARIANTS)
    kinds = [{(c.kind, c.place, c.time) for c in r.clauses} for r in both.reasons]
    assert not any(a < b for a in kinds for b in kinds), f"not minimal: {kinds}"
    if answer.complete:
        assert [c for c in clauses(both) if len(c) == 1] == mine, f"edits 2: {clauses(both)}, not {mine}"
    for reason in both.reasons:
        assert sound(asked, both, reason), f"not sound: {reason.clauses}"
    assert options == asked.options
    return len(mine)


def sound(asked: Asked, answer: Any, reason: Any) -> bool:
    """Whether the repaired program detects the asked row."""
    keywords, events = dict(asked.options), reason.events
    kinds = {c.kind for c in reason.clauses}
    if "outside" in kinds:
        keywords.pop("start", None), keywords.pop("until", None)
    if "pending" in kinds:
        keywords["ended"] = True
    found = reason.program.detect(events, **keywords)[asked.type]
    return len(answer.question.fitting(found)) > 0


def oracle(language: str, seed: int) -> int:
    """Ask one question and compare the answer with that of trying everything; returns the number of reasons (-1:
    nothing could be asked, or nothing can be compared)."""
    asked = question_of(language, seed)
    if asked is None:
        return -1
    edits = 1 if seed % 4 else 2
    answer = asked.ask(edits=edits, limit=1000, max_variants=1500)
    if not answer.complete and edits == 2:
        edits = 1
        answer = asked.ask(edits=1, limit=1000, max_variants=4000)
    if answer.found or not answer.complete:
        return -1
    return compared(asked, answer, edits)


def compared(asked: Asked, answer: Any, edits: int) -> int:
    """Compare an answer with that of trying everything; returns the number of reasons (-1: not one set was tried).

    A repair of the answer is among those that are tried.  A set that has too many repairs is left out on both sides.
    """
    first, last = (answer.question.first, answer.question.last)
    brute = Brute(
        asked.program, asked.type, asked.events, answer.question.where, (first, last), asked.options, asked.late,
        most=TRIED[0], told=[c.repair for r in answer.reasons for c in r.clauses],
    )  # fmt: skip
    mine = [told_of(r) for r in answer.reasons]
    known: list[Told] = []
    sets = 0
    for cost in range(1, edits + 1):
        brute.most = TRIED[cost - 1]
        found, untried = brute.reasons(cost, known)
        own = [t for t in mine if len(t.keys) == cost]
        tried = [t for t in own if frozenset(t.keys) not in untried]
        assert [plainly(t) for t in tried] == [plainly(t) for t in found], f"by trying all: {found}, not {tried}"
        known += own
        sets += brute.tried
    return len(mine) if sets else -1


def plainly(told: Told) -> Told:
    """A reason with numbers spelled one way."""
    repairs = (re.sub(r"(\d)\.0\b", r"\1", r) if isinstance(r, str) else r for r in told.repairs)
    return Told(told.keys, tuple(repairs))


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
