"""Another name for types, attributes and tags: places, refusals, and the law that nothing but the name changes."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.amount import amount
from tests.generators.random_epl import random_core, random_epl
from tests.textcases.epl import EplCase, load_cases, reference

from occurs import services
from occurs.model.types import Schema
from occurs.services.answers import Renamed
from occurs.services.renaming import _Rename

FOLDER = Path(__file__).parents[1] / "cases" / "epl"
CASES = [c for c in load_cases(FOLDER) if c.error is None]
RULES = {
    "a.epl": """create schema A(v int, w int);
create schema B() inherits A;
@Name('X') select x.v, y.w as z from pattern [every x=A(v > 1 and x.w > 2) -> y=B(v = x.v /* x.v */)] where x.v > 0;
insert into Y select * from X(z > 1) as q where q.z < 9;
@Name('Z') select Y.z as z from Y as Y;
""",
    "b.tesla": "define Hot(k) from X(z > 3) where k = X.z",
}


def edited(texts: Mapping[str, str], found: Renamed) -> dict[str, str]:
    out = dict(texts)
    for path, edits in found.edits.items():
        assert list(edits) == sorted(edits, key=lambda e: e.start)
        for e in reversed(edits):
            out[path] = out[path][: e.start] + e.insert + out[path][e.to :]
    return out


def asked(texts: Mapping[str, str], path: str, at: str, to: str | None, events: Any = None) -> Renamed:
    return services.rename(path, texts, texts[path].index(at), to, events)


@pytest.mark.parametrize(
    ("at", "to", "changes"),
    [
        ("A(v", "AA", {"A(v": "AA(v", "inherits A": "inherits AA"}),
        ("B()", "A2", {"B()": "A2()", "=B(": "=A2("}),
        ("w int", "u", {"w int": "u int", "y.w": "y.u", "x.w": "x.u"}),
        ("x.v, y", "first", {"x.v, y": "first.v, y", "x=A": "first=A", "x.w": "first.w", "= x.v": "= first.v",
                             "where x.v": "where first.v"}),
        ("q where", "r", {"as q": "as r", "q.z": "r.z"}),
        ("Y.z", "p", {"Y.z": "p.z", "as Y": "as p"}),
        ("from Y", "Yes", {"into Y": "into Yes", "from Y": "from Yes"}),
        ("'Z'", None, {}),
    ],
)  # fmt: skip
def test_every_place_of_a_name_is_renamed_and_no_other(at, to, changes):
    text = RULES["a.epl"]
    offset = text.index(at) + (1 if at == "from Y" else 0)
    offset = text.index("Y as Y") if at == "from Y" else offset
    found = services.rename("a.epl", RULES, offset, to)
    assert found.problems == ()
    expected = text
    for old, new in changes.items():
        expected = expected.replace(old, new)
    assert edited(RULES, found) == {**RULES, "a.epl": expected}


def test_a_type_is_renamed_in_all_languages_from_each_of_them():
    for path, at in (("a.epl", "X'"), ("a.epl", "X(z"), ("b.tesla", "X(z"), ("b.tesla", "X.z")):
        after = edited(RULES, asked(RULES, path, at, "Long"))
        assert after["a.epl"] == RULES["a.epl"].replace("'X'", "'Long'").replace("from X", "from Long")
        assert after["b.tesla"] == "define Hot(k) from Long(z > 3) where k = Long.z"
    texts = {"a.epl": "insert into hot select a.v as v from pattern [every a=A];", "b.phen": "input event hot(V).\n"}
    assert asked(texts, "b.phen", "hot", "warm").kind == "type"


def test_the_name_at_a_place_is_told_without_a_new_one():
    found = asked(RULES, "a.epl", "w int", None)
    assert (found.name, found.kind, found.edits, found.problems) == ("w", "attribute", {}, ())
    assert (found.span.line, found.span.column, found.span.end_column) == (1, 24, 25)
    assert asked(RULES, "a.epl", "create", None) == Renamed()


@pytest.mark.parametrize(
    ("path", "at", "to", "kind", "said", "file"),
    [
        ("a.epl", "create", "x", "no-name", "nothing", None),
        ("b.tesla", "z > 3", "x", "no-name", "nothing", None),
        ("b.tesla", "k)", "x", "no-name", "nothing", None),
        ("a.epl", "A(v", "", "bad-name", "not a name", None),
        ("a.epl", "A(v", "a b", "bad-name", "not a name", None),
        ("a.epl", "A(v", "1a", "bad-name", "not a name", None),
        ("a.epl", "A(v", "a.b", "bad-name", "not a name", None),
        ("a.epl", "A(v", "x`y", "bad-name", "not a name", None),
        ("a.epl", "A(v", "x\ny", "bad-name", "not a name", None),
        ("a.epl", "A(v", "select", "reserved-name", "word", None),
        ("a.epl", "A(v", "B", "taken-name", "`B` exists", "a.epl"),
        ("a.epl", "A(v", "Hot", "taken-name", "`Hot` exists", "b.tesla"),
        ("a.epl", "w int", "v", "taken-name", "`v` exists", "a.epl"),
        ("a.epl", "y.w", "x", "taken-name", "`x` exists", "a.epl"),
        ("a.epl", "w int", "time", "not-renamed", "`time` cannot be", "a.epl"),
        ("a.epl", "z from", "s", "not-renamed", "EPL only", "b.tesla"),
        ("a.epl", "X'", "it's", "bad-name", "not a name", None),
        ("a.epl", "X'", "`it's`", "bad-name", "string", "a.epl"),
    ],
)
def test_what_cannot_be_renamed_is_refused_with_the_reason(path, at, to, kind, said, file):
    found = asked(RULES, path, at, to)
    [problem] = found.problems
    assert (problem.kind, problem.severity, problem.file) == (kind, "error", file)
    assert said in problem.message
    assert (problem.span is not None) == (file is not None)
    assert found.edits == {}


def test_a_reserved_word_can_be_a_name_in_quotes():
    assert "`select`" in asked(RULES, "a.epl", "A(v", "select").problems[0].hint
    after = edited(RULES, asked(RULES, "a.epl", "A(v", "`select`"))
    assert "create schema `select`(v int" in after["a.epl"]
    assert "inherits `select`" in after["a.epl"]
    back = asked(after, "a.epl", "`select`(", "A")
    assert edited(after, back) == RULES
    quoted = {"a.epl": "create schema `A` (v int);"}
    assert edited(quoted, asked(quoted, "a.epl", "A", "B")) == {"a.epl": "create schema `B` (v int);"}


def test_texts_that_cannot_be_read_are_not_renamed_halfway():
    texts = {"a.epl": "create schema A(v int);", "b.epl": "select a.v frm A;"}
    [problem] = asked(texts, "a.epl", "A(", "C").problems
    assert (problem.kind, problem.file, problem.span.line) == ("not-renamed", "b.epl", 1)
    after = edited(texts, asked({**texts, "b.epl": "nonsense"}, "a.epl", "A(", "C"))
    assert after["a.epl"] == "create schema C(v int);"


def test_a_name_that_may_be_something_else_is_not_renamed():
    texts = {"a.epl": "create schema Temp(v int);", "b.tesla": "define Hot() from Other(Temp > 3) and each Temp() "
             "within 5 min from Other"}  # fmt: skip
    [problem] = asked(texts, "a.epl", "Temp", "Heat").problems
    assert (problem.kind, problem.file, problem.span.column) == ("not-renamed", "b.tesla", 25)


def test_the_types_of_the_events_are_taken():
    events = {"Smoke": Schema(())}
    assert asked(RULES, "a.epl", "A(v", "Smoke", events).problems[0].kind == "taken-name"


def test_attributes_that_only_the_events_know_follow():
    texts = {"a.epl": "insert into D select * from A; @Name('E') select d.v as w from pattern [every d=D(v > 1)];"}
    after = edited(texts, asked(texts, "a.epl", "v as", "u"))
    assert after["a.epl"] == texts["a.epl"].replace("d.v", "d.u").replace("D(v", "D(u")


def test_uses_of_attributes_and_tags():
    def lines(at: str) -> list[tuple[int, int]]:
        return [(p.span.line, p.span.column) for p in services.uses("a.epl", RULES, RULES["a.epl"].index(at))]

    assert lines("w int") == [(1, 24), (3, 26), (3, 69)]
    assert [line for line, _ in lines("q where")] == [4, 4]
    assert len(services.uses("b.tesla", RULES, RULES["b.tesla"].index("X("))) == 3
    other = {"a.epl": RULES["a.epl"], "b.tesla": RULES["b.tesla"]}
    assert [p.file for p in services.uses("a.epl", other, RULES["a.epl"].index("z from"))] == ["a.epl"] * 4


# the law


def renamed_case(case: EplCase, text: str, one: _Rename, to: str) -> EplCase:
    """The case with other rules, and its events with the other name."""
    assert one.at is not None
    old, kind = one.at.name, one.at.kind

    def attributes(type: str, given: Mapping[str, Any]) -> dict[str, Any]:
        family = one.family if kind == "attribute" else set()
        return {to if (type, n) in family and n == old else n: v for n, v in given.items()}

    def name(type: str) -> str:
        return to if kind == "type" and type == old else type

    inputs = {
        name(t): replace(s, attributes=tuple(attributes(t, dict(s)).items())) for t, s in (case.inputs or {}).items()
    }
    events = [replace(e, type=name(e.type), attributes=attributes(e.type, e.attributes)) for e in case.events]
    made = replace(case, rules=text, events=events)
    made.__dict__["inputs"] = inputs
    return made


def plain(found: list[Any], names: tuple[str, ...]) -> str:
    """Detections, with one sign for both names."""
    rows = [[e.type, e.time, list(e.attributes.items())] for e in found]
    text = json.dumps(rows, default=str)
    for name in names:
        text = text.replace(json.dumps(name), '"~"')
    return text


def fresh(name: str) -> str:
    """A new name that keeps its place in the order of names, by which events of one time are ordered."""
    return f"`{name}0`" if not name.isidentifier() else f"{name}0"


@pytest.mark.share(4)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_rename_changes_nothing_but_the_name(case: EplCase) -> None:
    assert tried(case, random.Random(case.name)) or case.rules == ""


@pytest.mark.parametrize("core", [True, False], ids=["core", "all operators"])
def test_renames_in_random_programs(core: bool) -> None:
    for seed in range(amount(20, 75)):
        tried((random_core if core else random_epl)(random.Random(seed)), random.Random(seed))


def tried(case: EplCase, rng: random.Random) -> int:
    """Three names of a case, each with another one and back; how many there were."""
    texts = {"a.epl": case.rules}
    events = dict(case.inputs or {})
    first = _Rename("a.epl", texts, 0, events)
    names = first.named.get("a.epl", [])
    before = services.check(texts)
    for n in rng.sample(names, min(3, len(names))):
        offset = first.sources["a.epl"].offsets(n.span)[0]
        to = fresh(n.name)
        found = services.rename("a.epl", texts, offset, to, events)
        assert (found.name, found.kind) == (n.name, n.kind)
        if found.problems:
            assert [p.kind for p in found.problems] == ["taken-name"], found
            continue
        after = edited(texts, found)
        assert after != texts
        checked = services.check(after)
        assert [(p.kind, p.severity) for p in checked.problems] == [(p.kind, p.severity) for p in before.problems]
        one = _Rename("a.epl", texts, offset, events)
        both = (n.name, to.strip("`"))
        renamed = renamed_case(case, after["a.epl"], one, both[1])
        assert plain(reference(renamed), both) == plain(reference(case), both), (case.rules, n)
        there = services.rename("a.epl", after, found.edits["a.epl"][0].start, n.name, dict(renamed.inputs or {}))
        assert edited(after, there) == texts, (case.rules, n, there)
    return len(names)
