"""The laws of why and why not on random programs (why.md, sections 5 and 10)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from tests.generators.random_epl import random_epl
from tests.generators.random_logic import random_logic
from tests.generators.random_tesla import random_program
from tests.laws import why

import occurs
from occurs.errors import OccursError
from occurs.explain.search import Search
from occurs.testing.cases import Case

DECLARED = "".join(f"event {t}(K: string, V: int)\n" for t in "STR")


def small(seed: int) -> tuple[str, pa.Table]:
    """A TESLA program of one or two rules over few events, all of whose added rows can be tried."""
    rng = random.Random(seed)
    policy = rng.choice(["each", "last", "first", "2-last", "each"])
    absent = rng.choice(["", "and not R(K = $k) between T and S", "and not R(V > 2) within 3 ms from S"])
    condition = rng.choice(["", "and T.V != S.V", "and S.time - T.time <= 2"])
    rules = [
        f"define P(K, V) from S(K = $k{rng.choice(['', ', V < 3'])}) and {policy} T(K = $k, V > {rng.randint(1, 4)}) "
        f"within {rng.choice([2, 4])} ms from S {absent} {condition} where K = $k, V = T.V "
        f"{rng.choice(['', '', 'consuming T'])}"
    ]
    if rng.random() < 0.4:
        chosen = rng.choice(["each", "last"])
        rules.append(
            f"define Q(K) from P(K = $k, V >= {rng.randint(0, 4)}) and {chosen} T(K = $k) within 3 ms from P "
            f"where K = $k"
        )
    rows = [
        {"type": rng.choice("SSTTTR"), "time": rng.randint(0, 8), "K": rng.choice("ab"), "V": rng.randint(0, 5)}
        for _ in range(rng.randint(3, 6))
    ]
    return DECLARED + "\n".join(rules), pa.Table.from_pylist(rows)


def asked(seed: int, **options: Any) -> Any:
    """An answer about a random program at the time of one of its events."""
    rules, events = small(seed)
    program = occurs.parse(rules)
    type = "Q" if "define Q" in rules and seed % 2 else "P"
    at = random.Random(seed).choice(sorted(events["time"].to_pylist()))
    return program.why_not(type, events, between=at, time_unit="ms", **options)


def clauses(answer: Any) -> list[list[tuple[str, str, str]]]:
    return [[(c.kind, c.place, c.repair) for c in r.clauses] for r in answer.reasons]


@pytest.mark.parametrize("seed", range(12))
def test_fewer_variants_give_the_same_answer(seed, monkeypatch):
    pruned = asked(seed, edits=1)
    monkeypatch.setattr(Search, "_proposals", lambda self, sets: [(s, self._every(s, None)) for s in sets])
    every = asked(seed, edits=1)
    assert pruned.complete
    assert every.complete
    assert clauses(pruned) == clauses(every)


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(20, 32))
def test_reasons_are_sound_and_minimal(seed):
    answer = asked(seed)
    kinds = [{(c.kind, c.place) for c in r.clauses} for r in answer.reasons]
    for reason in answer.reasons:
        found = reason.program.detect(reason.events, time_unit="ms")[answer.question.type]
        assert len(answer.question.fitting(found)) > 0
    assert not any(a < b for a in kinds for b in kinds)
    one = asked(seed, edits=1)
    assert clauses(one) == [c for c in clauses(answer) if len(c) == 1]
    assert clauses(asked(seed, limit=1)) == clauses(answer)[:1]


@pytest.mark.long
@pytest.mark.parametrize("language", why.LANGUAGES)
def test_the_laws_of_why_not_in_every_language(language):
    asked, _ = why.many(language, 1, 20, seconds=60)
    assert asked


@pytest.mark.share(4)
@pytest.mark.parametrize("language", why.LANGUAGES)
def test_trying_everything_gives_the_same_answer(language):
    first = {"match_recognize": 11, "pipes": 2}.get(language, 1)
    assert any(why.oracle(language, seed) > 0 for seed in range(first, 20) if seed % 4)


@pytest.mark.long
@pytest.mark.parametrize("language", why.LANGUAGES)
def test_trying_everything_gives_the_same_answer_to_many_questions(language):
    programs = 6 if language == "match_recognize" else 20
    assert sum(why.oracle(language, seed) > 0 for seed in range(200, 200 + programs)) >= programs // 4


def random_case(language: str, seed: int) -> tuple[Case, str]:
    rng = random.Random(seed)
    if language == "tesla":
        return random_program(rng, most_events=9), "tesla"
    if language == "epl":
        return random_epl(rng), "epl"
    case = random_logic(rng, depth=2, most_states=6)
    return case, "ptl" if case.past else "ftl"


def rows_of(case: Case, language: str) -> Iterator[tuple[occurs.Program, dict[str, pa.Table], str, dict[str, Any]]]:
    """Some detected rows of a case, with the program and the events."""
    try:
        program = occurs.parse(case.rules, language, values=getattr(case, "values", None))
        found = program.detect(case.tables(), because=True, **why.options_of(case))
    except OccursError:
        return
    for type in found:
        if type in program.checked.defined:
            for row in found[type].to_pylist()[:1]:
                yield program, case.tables(), type, row


@pytest.mark.share(4)
@pytest.mark.parametrize("language", ["tesla", "epl", "logic"])
@pytest.mark.parametrize("part", range(4))
def test_the_leaves_give_the_row_again_and_the_root_has_its_label(language, part):
    for seed in range(part * 6, part * 6 + 6):
        case, name = random_case(language, seed)
        for program, events, type, row in rows_of(case, name):
            answer = program.why(row["label"], events, **why.options_of(case))
            assert answer.nodes[0].label == row["label"]
            children = [(n.role, n.type) for n in answer.nodes if n.parent == 1 and n.role is not None]
            own = ("activation", "state", "timer")
            # a subscription also gives the rows of the input, which nothing explains
            because = [b for b in row["because"] or () if b["label"] is not None or b["role"] in own]
            assert children == [(b["role"], b["type"]) for b in because]
            leaves: dict[str, list[dict[str, Any]]] = {}
            for leaf in answer.leaves:
                leaves.setdefault(leaf["type"], []).append(leaf)
            some = {
                t: pa.Table.from_pylist(
                    [{n: r.get(n) for n in table.column_names} for r in leaves.get(t, [])], table.schema
                )
                for t, table in events.items()
            }
            assert detected(program, some, type, row, clock_of(case, events))


def clock_of(case: Case, events: dict[str, pa.Table]) -> dict[str, Any]:
    """The keywords of a case with the clock of all its events."""
    times = [t for table in events.values() for t in table["time"].to_pylist()]
    return {"start": min(times), "until": max(times)} | why.options_of(case)


def detected(
    program: occurs.Program, events: dict[str, pa.Table], type: str, row: dict[str, Any], clock: dict[str, Any]
) -> bool:  # fmt: skip
    """Whether a row is detected."""
    wanted = {n: v for n, v in row.items() if n not in ("label", "because")}
    return any(str(found) == str(wanted) for found in program.detect(events, **clock)[type].to_pylist())


def values(row: dict[str, Any]) -> list[str]:
    """The values of a row that are not null, in the order of their names."""
    return [f"{n} = {v}" for n, v in sorted(row.items()) if v is not None]


@pytest.mark.parametrize("language", ["tesla", "epl", "logic"])
def test_a_row_without_which_a_row_is_not_detected_is_a_leaf(language):
    needed = 0
    for seed in range(100, 106):
        case, name = random_case(language, seed)
        for program, events, type, row in rows_of(case, name):
            leaves = [values(r) for r in program.why(row["label"], events, **why.options_of(case)).leaves]
            clock = clock_of(case, events)
            for t, table in events.items():
                for i, one in enumerate(table.to_pylist()):
                    rest = pa.concat_tables([table.slice(0, i), table.slice(i + 1)])
                    if not detected(program, {**events, t: rest}, type, row, clock):
                        needed += 1
                        assert values({"type": t, **one}) in leaves
    assert needed
