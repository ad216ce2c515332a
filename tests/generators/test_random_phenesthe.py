"""The random programs of Phenesthe: right, varied, findable by their seed; a failing one is made small and printed."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.generators.random_phenesthe import random_program
from tests.generators.random_phenesthe_shrink import is_right, schemas_of, shrunk, text_of
from tests.textcases.phenesthe import LastingCase, Line, Loaded, load_lasting_cases

from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks import analyse
from occurs.languages.phenesthe.parser import parse

SEEDS = range(200)


@cache
def loaded(seed: int) -> Loaded:
    return Loaded(random_program(random.Random(seed)))


@cache
def answer(seed: int) -> set[Line]:
    return loaded(seed).batch()


def definitions(seed: int) -> list[syntax.Definition]:
    return [s for s in loaded(seed).file.statements if isinstance(s, syntax.Definition)]


def test_every_program_passes_the_checks():
    for seed in SEEDS:
        one = loaded(seed)
        problems = analyse([one.file], schemas_of(one), kind=one.case.kind).problems
        assert [p.render() for p in problems if p.severity == "error"] == [], seed


def test_most_programs_find_something_for_most_of_their_definitions():
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    most, every = 0, 0
    for seed in SEEDS:
        there = {row[0] for row in answer(seed)}
        mine = [d.name.text in there for d in definitions(seed)]
        most += sum(mine) > len(mine) / 2
        every += all(mine)
        for d, hit in zip(definitions(seed), mine, strict=True):
            total[d.sort] += 1
            found[d.sort] += hit
    assert most >= 0.75 * len(SEEDS)
    assert every >= 0.5 * len(SEEDS)
    assert found["event"] >= 0.9 * total["event"]
    assert found["state"] >= 0.9 * total["state"]
    assert found["dynamic"] >= 0.6 * total["dynamic"]
    # none of the three is rare
    assert min(total.values()) >= 50


@pytest.mark.slow
def test_every_construct_is_found_by_some_program():
    """Counted over definitions that find something."""
    seen: Counter[str] = Counter()
    for seed in range(400):
        there = {row[0] for row in answer(seed)}
        for d in definitions(seed):
            if d.name.text in there:
                seen.update({name for node in d.body.walk() for name in named(node)})
                seen["where"] += d.where is not None
                seen[f"{len(d.head)} attributes"] += 1
    missing = [name for name in CONSTRUCTS if seen[name] < 3]
    assert not missing


CONSTRUCTS = [
    *(f"Related {rel}" for rel in syntax.RELATIONS),
    *("Related after", "Related during"),
    *(f"Iteration {op}" for op in ("<", "<=", "=", ">=", ">")),
    *(f"Filter {op}" for op in syntax.LENGTHS),
    *("MaximalRange", "MinimalRange", "Union", "Intersection", "Complement", "Start", "End", "In"),
    *("And", "Or", "Not", "Comparison", "where", "D in D", "Variable twice", "...", "by name", "constant"),
    *(f"{n} attributes" for n in range(4)),
]


def named(node: syntax.Relation) -> list[str]:
    """The constructs at the top of a formula."""
    kind = type(node).__name__
    if isinstance(node, syntax.Related):
        nested = any(isinstance(p, syntax.Related) for p in node.parts)
        return [f"{kind} {node.rel}", *(["D in D"] if nested else [])]
    if isinstance(node, syntax.Iteration | syntax.Filter):
        return [f"{kind} {node.op}"]
    if isinstance(node, syntax.Atom):
        variables = [a.value.name for a in node.arguments if isinstance(a.value, syntax.Variable)]
        return [
            *(["Variable twice"] if len(set(variables)) < len(variables) else []),
            *(["..."] if node.rest else []),
            *(["by name"] if any(a.name for a in node.arguments) else []),
            *(["constant"] if any(isinstance(a.value, syntax.Constant) for a in node.arguments) else []),
        ]
    return [kind]


def test_histories_have_what_is_difficult():
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        case = loaded(seed).case
        sorts = loaded(seed).sorts
        places = [(r.type, r.values, r.time) for r in case.rows]
        seen["alike"] += len(set(places)) < len(places)
        seen["at once"] += any(n > 2 for n in Counter(r.time for r in case.rows).values())
        seen["nulls"] += any(v is None for r in case.rows for v in r.values)
        seen["open"] += any(r.lasting and r.end is None for r in case.rows)
        seen["empty"] += any(r.lasting and r.end == r.time for r in case.rows)
        seen["changes"] += "changes" in sorts.values()
        seen["dynamic"] += any(sorts[r.type] == "dynamic" for r in case.rows)
        seen["facts"] += bool(case.facts)
        seen["until"] += "until" in case.times
        seen["start"] += "start" in case.times
        seen["negative"] += any(r.time < 0 for r in case.rows)
        ends = {(r.type, r.values, r.end) for r in case.rows if r.lasting}
        seen["touching"] += any((r.type, r.values, r.time) in ends for r in case.rows if r.lasting)
        seen[str(case.kind.unit)] += 1
    assert {name for name, n in seen.items() if n >= 3} == {
        *("alike", "at once", "nulls", "open", "empty", "changes", "dynamic", "facts", "until", "start", "negative"),
        *("touching", "None", "s", "us"),
    }


def test_a_seed_gives_the_same_program_in_every_process():
    script = (
        "import random; from tests.generators.random_phenesthe import random_program; "
        "print([(c.rules, c.rows, c.facts) for c in (random_program(random.Random(s)) for s in range(20))])"
    )
    texts = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout for _ in "12"
    }
    assert len(texts) == 1
    assert len(texts.pop()) > 20_000


def test_a_program_is_printed_as_a_case(tmp_path: Path):
    file = tmp_path / "seeds.md"
    file.write_text("".join(text_of(loaded(seed).case, f"seed {seed}") + "\n" for seed in range(60)))
    read = load_lasting_cases(file)
    assert [c.name for c in read] == [f"seed {seed}" for seed in range(60)]
    for seed, case in enumerate(read):
        again = Loaded(case)
        assert again.file.statements == loaded(seed).file.statements
        assert set(map(repr, again.history)) == set(map(repr, loaded(seed).history))
        assert sorted(map(repr, again.facts.get("g", []))) == sorted(map(repr, loaded(seed).facts.get("g", [])))
        assert case.times == loaded(seed).case.times
        assert case.expected is not None
        assert again.lines(case.expected[None]) == again.batch() == answer(seed)


def test_a_failing_program_becomes_small():
    def fails(case: LastingCase) -> bool:
        """As if everything that overlaps were found wrongly."""
        one = Loaded(case)
        there = {row[0] for row in one.batch()}
        return any(
            s.name.text in there and any(isinstance(n, syntax.Related) and n.rel == "overlaps" for n in s.body.walk())
            for s in one.file.statements
            if isinstance(s, syntax.Definition)
        )

    seed = next(s for s in SEEDS if fails(loaded(s).case) and len(definitions(s)) > 2)
    case = loaded(seed).case
    small = shrunk(case, fails)
    assert fails(small)
    assert is_right(small)
    assert len(small.rows) <= 6 < len(case.rows)
    [one] = [s for s in parse(small.rules)[0].statements if isinstance(s, syntax.Definition)]
    # two intervals, each from one event to another
    assert len(list(one.body.walk())) <= 7


def test_what_is_wrong_is_not_taken_for_smaller():
    case = loaded(0).case
    assert is_right(case)
    assert not is_right(replace(case, rules=case.rules.replace("input event a", "input event other")))
    assert not is_right(replace(case, rules="event"))
