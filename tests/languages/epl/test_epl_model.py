"""Graphical models of patterns: text to model to text, every rule of validation, what the palette cannot express."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.amount import amount
from tests.generators.random_epl import random_core, random_epl
from tests.textcases.epl import EplCase

import occurs
from occurs.errors import OccursError, Problem
from occurs.languages.epl import syntax
from occurs.languages.epl.model import Link, Model, Node, dump, read
from occurs.languages.epl.model.checks import validate
from occurs.languages.epl.model.from_text import model_of
from occurs.languages.epl.model.palette import KINDS
from occurs.languages.epl.model.to_text import file_of, text_of
from occurs.languages.epl.render import render
from occurs.verify.compare import occurrences_of

HEAD = "@Name('x')\ninsert into X\nselect a1.n as n\nfrom pattern "
SCHEMA = "create schema A(n int, k string);\n\n"
PATTERNS = [
    "a1=A",
    "every a1=A(a1.n > 1)",
    "every a1=A -> a2=A(a2.k = a1.k, a2.n - a1.n <= 5) -> a3=A(a3.n > a1.n or not a3.k = a2.k and a3.n < 3)",
    "every (a1=A -> a2=A)",
    "every a1=A(a1.n > 5) -> (every a2=A(a2.n > 3, a2.k = a1.k) -> a3=A(a3.k = a1.k and a3.n - a2.n <= 5))",
    "every-distinct(a1.n, a1.k) a1=A",
    "a1=A and a2=A or a3=A",
    "a1=A and (a2=A or a3=A)",
    "every a1=A -> timer:interval(1 min 30 sec) and not A(k = a1.k)",
    "every a1=A -> a2=A(a2.k = a1.k) where timer:within(2 weeks)",
    "(every a1=A -> a2=A) where timer:within(500 msec)",
    "[3] a1=A",
    "[2:] a1=A until a2=A(a2.n = -3)",
    "[:4] a1=A until (a2=A or timer:interval(8 days))",
    "[2:4] (a1=A -> a3=A) until a2=A",
    "a1=A until a2=A",
    "[2] every a1=A until a2=A",
    "(every a1=A) while (a1.n != 3 and (a1.k = 'it\\'s' or a1.n = 2 * a1.n))",
    "timer:at(*/15, 8:17, *, *, [1, 5]) -> a1=A",
    "timer:at(0, 9, 1, 1:3, *, 30) or a1=A",
    "every a1=A(a1.n % 2 = 1, 2.5 * a1.n > a1.n / 4, (a1.n + 1) * 2 >= a1.n - (1 - a1.n))",
    "every first_one=A -> `every`=A(`every`.k = first_one.k)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_canonical_texts_stay_what_they_are(pattern: str) -> None:
    for before in ("", SCHEMA):
        text = f"{before}{HEAD}[{pattern}];\n".replace("select a1.n as n", "select 1 as n")
        source = dump(model_of(text))
        assert text_of(source) == text
        model, problems = read(source)
        assert problems == []
        assert dump(model) == source


def test_the_whole_head() -> None:
    text = """create schema Patient(name string, long long, ok boolean, `at` timestamp, x double);

@Name('Long')
@Description('two of them')
@Tag(name='domainName', value='Health')
@Priority(2)
insert into Long
select a1.*, a2.*, a1.name as patient, a2.x - a1.x as more, true as yes, 2147483648L as big
from pattern [every a1=Patient(a1.ok = true) -> a2=Patient(a2.name = a1.name)];
"""
    model = model_of(text)
    assert (model.name, model.description, model.domain, model.priority) == ("Long", "two of them", "Health", 2)
    assert text_of(dump(model)) == text
    places = [(n.x, n.y) for n in model.nodes]
    assert len(set(places)) == len(places)


def test_bare_names_get_their_tags() -> None:
    text = f"{HEAD}[every a1=A(n > 1) -> a2=A(k = a1.k)];".replace("\n", " ")
    assert "every a1=A(a1.n > 1) -> a2=A(a2.k = a1.k)" in text_of(dump(model_of(text)))


# -- random programs ---------------------------------------------------------------------------------------------------
def statements(case: EplCase) -> list[str]:
    """Each query of a program, with all schemas, as it can be drawn, if the palette can."""
    out = []
    schemas = [s for s in case.analysis.files[0].statements if isinstance(s, syntax.CreateSchema)]
    for q in (s for s in case.analysis.files[0].statements if isinstance(s, syntax.Query)):
        named = tuple(replace(i, name=i.name or syntax.Name(f"c{n}")) if i.expr else i for n, i in enumerate(q.items))
        name = syntax.Annotation(syntax.Name("Name"), "drawn")
        out.append(render(syntax.File((*schemas, replace(q, items=named, annotations=(name,))))))
    return out


@pytest.mark.parametrize("make", [random_core, random_epl])
def test_random_programs(make: Callable[[random.Random], EplCase]) -> None:
    drawn = 0
    for seed in range(amount(20, 75)):
        case = make(random.Random(seed))
        for text in statements(case):
            model, refused = drawn_of(text)
            assert all(p.kind == "unsupported" and p.span is not None for p in refused)
            if model is None:
                continue
            drawn += 1
            again = text_of(dump(model))
            assert text_of(dump(model_of(again))) == again
            assert found(again, case) == found(text, case), text
    assert drawn > 10


def drawn_of(text: str) -> tuple[Model | None, list[Problem]]:
    try:
        return model_of(text), []
    except occurs.DefinitionProblem as error:
        return None, error.problems


def found(text: str, case: EplCase) -> Any:
    """What a statement finds, or the kind of what is wrong."""
    try:
        program = occurs.parse(text, "epl")
        unit = None if case.kind.timestamp else case.kind.unit
        out = program.detect(case.tables(), time_unit=unit, zone=case.zone)
        return Counter(map(repr, occurrences_of({t: out.arrow(t) for t in out})))
    except OccursError as error:
        return error.kind


# -- what the palette has no nodes for ---------------------------------------------------------------------------------
BEYOND = [
    "[a1=A -[2]> a2=A -> a3=A]",
    "[a1=A where timer:withinmax(1 sec, 2)]",
    "[a1=A@consume -> a2=A(a2.n = 1)@consume(2)]",
    "[every-distinct(a1.n, 1 sec) a1=A]",
    "[every-distinct(a1.n + 1, a1.k || 'x', a1.k) (a1=A or a2=A)]",
    "[every (every a1=A)]",
    "[[2] ([3] a1=A)]",
    "[timer:interval(5 usec) -> a1=A]",
    "[every timer:interval(5 sec)]",
    "[a1=A(a1.k like 'x%', a1.n > 1, a1.n in [1:3))]",
    "[a1=A(a1.n > Math.abs(a1.n) + 1)]",
    "[a1=A(a1.time > 3, `a1`.`min` is null)]".replace("`a1`.`min`", "a1.`min`"),
    "[a1=A -> a2=A(a1.n < a2.n, not a2.k between 'a' and 'b')]",
    "[(every a1=A) while (a1.n in (1, 2))]",
    "[a1=A] where a1.n > 1 or coalesce(a1.k, 'x') = 'x'",
    "@SuppressOverlappingMatches @DiscardPartialsOnMatch [a1=A]",
]


@pytest.mark.parametrize("pattern", BEYOND)
def test_what_the_palette_has_no_nodes_for_is_text_in_a_node(pattern: str) -> None:
    text = f"{HEAD}{pattern};\n".replace("] where", "]\nwhere")
    source = dump(model_of(text))
    assert text_of(source) == text
    model, problems = read(source)
    assert problems == []
    assert dump(model) == source


@pytest.mark.parametrize("items", ["*", "a1.*", "a1.n as n, a1.*", "a1.n", "a1.n || 'x' as x, max(a1.n, 2) as y, a1.*"])
def test_all_columns(items: str) -> None:
    text = f"{HEAD}[a1=A];\n".replace("a1.n as n", items)
    assert text_of(dump(model_of(text))) == text


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("select k, n + 1 as m from A(n > 1)", "select a1.k, a1.n + 1 as m from pattern [every a1=A(n > 1)]"),
        ("select * from A as x where n > x.n", "select x.* from pattern [every x=A] where x.n > x.n"),
    ],
)
def test_statements_without_a_pattern_become_one_that_means_the_same(text: str, drawn: str) -> None:
    made = text_of(dump(model_of(f"@Name('q') insert into Q {text};")))
    bare = drawn.replace("A(n > 1)", "A(a1.n > 1)")
    assert made.replace("\n", " ") == f"@Name('q') insert into Q {bare}; "


def test_a_statement_without_a_name_gets_that_of_its_type() -> None:
    assert model_of("insert into Q select a1.n as n from pattern [a1=A];").name == "Q"
    assert model_of("select a1.n as n from pattern [a1=A];").name == "stmt_1"
    [derived] = model_of("@Name('q') select a1.n as n from pattern [a1=A];").of_kind("ComplexEvent")
    assert derived.attributes == {"typeName": "q"}


# -- what cannot be drawn ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("[timer:interval(0.5 usec) -> a1=A]", "timer:interval(0.5 usec)", "fractions of a microsecond"),
        ("[a1=A where timer:within(0 sec)]", "a1=A where timer:within(0 sec)", "a duration of zero"),
    ],
)
def test_refusals_have_a_place(text: str, place: str | None, message: str) -> None:
    whole = SCHEMA + HEAD + text + ";"
    with pytest.raises(occurs.DefinitionProblem) as caught:
        model_of(whole, "x.epl")
    (problem,) = caught.value.problems
    assert problem.kind == "unsupported"
    assert message in problem.message
    assert problem.span is not None
    if place is not None:
        line = whole.splitlines()[problem.span.line - 1]
        assert line[problem.span.column - 1 : problem.span.end_column - 1] == place


def test_statements_that_are_no_single_pattern() -> None:
    for text, message in (
        ("@public @Name('a') insert into X select a1.* from pattern [a1=A]", "@public"),
        ("create schema B(x int) inherits A; @Name('a') insert into X select a.* from pattern [a=A]", "a schema with"),
    ):
        with pytest.raises(occurs.DefinitionProblem) as caught:
            model_of(text)
        assert any(message in p.message for p in caught.value.problems), text
    with pytest.raises(occurs.DefinitionProblem, match="a second statement"):
        model_of(f"{HEAD}[a1=A]; {HEAD}[a1=A];")
    with pytest.raises(occurs.DefinitionProblem, match="this text has no pattern"):
        model_of(SCHEMA)


# -- validation --------------------------------------------------------------------------------------------------------
BASE = model_of(
    f"{SCHEMA}{HEAD}[every a1=A(a1.n > 1) -> ([2:3] a2=A until a3=A(a3.k = a1.k)) where timer:within(9 sec)];"
)


def ids(kind: str) -> list[str]:
    return [n.id for n in BASE.nodes if n.kind == kind]


def changed(kind: str, **attributes: Any) -> Model:
    """With other attributes of the first node of a kind; None takes one away."""
    node = BASE.node[ids(kind)[0]]
    own = {n: v for n, v in {**node.attributes, **attributes}.items() if v is not None}
    return replace(BASE, nodes=tuple(replace(n, attributes=own) if n is node else n for n in BASE.nodes))


def more(*nodes: Node, links: tuple[Link, ...] = (), **root: Any) -> Model:
    return replace(BASE, nodes=(*BASE.nodes, *nodes), links=(*BASE.links, *links), **root)


def without(*kinds: str) -> Model:
    gone = {n.id for n in BASE.nodes if n.kind in kinds}
    nodes = [replace(n, children=tuple(c for c in n.children if c not in gone)) for n in BASE.nodes if n.id not in gone]
    return replace(BASE, nodes=tuple(nodes), links=tuple(k for k in BASE.links if not {k.source, k.target} & gone))


EVENT, EVERY, FOLLOWED, UNTIL, RANGE, WITHIN = (
    ids(k)[0] for k in ("Event", "Every", "FollowedBy", "Until", "Range", "WithinTimer")
)
GREATER, EQUAL, COMPLEX, PROPERTY = (ids(k)[0] for k in ("GreaterThan", "Equal", "ComplexEvent", "EventProperty"))
VALUE = ids("Value")[0]
WRONG: list[tuple[Model, str | None, str, str]] = [
    (replace(BASE, name=" "), None, "unknown-name", "has no name"),
    (replace(BASE, priority=-1), None, "bad-bound", "priority"),
    (without("Event", "EventProperty"), None, "never-completes", "no event and no timer"),
    (without("ComplexEvent", "ComplexEventProperty"), None, "arity", "exactly one complex event: this one has none"),
    (more(Node("c", "ComplexEvent", {"typeName": "Y"})), None, "arity", "exactly one complex event: this one has"),
    (changed("ComplexEvent", typeName=""), COMPLEX, "type-mismatch", "`typeName` must be a name"),
    (changed("Event", typeName=None), EVENT, "type-mismatch", "`typeName` must be a string"),
    (changed("Event", typName="A"), EVENT, "unknown-attribute", "no attribute `typName`"),
    (changed("Range", low=4), RANGE, "bad-bound", "from 4 to 3"),
    (changed("Range", low=-1), RANGE, "bad-bound", "`low` is -1"),
    (changed("Range", low=None, high=None), RANGE, "bad-bound", "neither `low` nor `high`"),
    (changed("WithinTimer", seconds=0), WITHIN, "bad-duration", "its duration is zero"),
    (changed("WithinTimer", seconds=-9), WITHIN, "bad-bound", "`seconds` is -9"),
    (changed("WithinTimer", seconds="9"), WITHIN, "type-mismatch", "must be a whole number"),
    (changed("Value", value="one"), VALUE, "type-mismatch", "`one` is not a valid Integer"),
    (changed("Value", type="Integral"), VALUE, "unknown-name", "no type `Integral`"),
    (changed("Value", type="String"), GREATER, "type-mismatch", "compares int with string"),
    (more(Node("p", "ComplexEventProperty", {"name": "m"})), "p", "arity", "no link to it"),
    (more(Node("e", "EventProperty", {"name": "m", "type": "Long"})), "e", "sort", "inside a node of the kind Event"),
    (more(links=(Link(VALUE, GREATER, 3),)), GREATER, "arity", "there are 3 links to it, but it takes 2"),
    (more(links=(Link(VALUE, GREATER, 3),)), GREATER, "duplicate-name", "linked to it twice"),
    (more(Node("r", "Repeat", {"count": 0}), links=(Link(EVENT, "r"),)), "r", "bad-bound", "`count` is 0"),
    (more(Node("r", "Repeat", {"count": 2}), links=(Link(EVENT, "r"),)), EVENT, "sort", "operand of several nodes"),
    (more(Node("r", "Repeat", {"count": 2})), "r", "arity", "there is no link to it, but it takes 1"),
    (more(Node("d", "Equal"), links=(Link(EQUAL, "d"), Link(GREATER, "d", 2))), "d", "sort", "same kind"),
    (more(Node("x", "Expression", {"text": "a1."})), "x", "syntax", "`a1.`: "),
    (more(Node("x", "Condition", {"text": "a1.n = 1", "event": "no"})), "x", "unknown-name", "`no` is not an event"),
    (more(Node("d", "EveryDistinct", {"expiry": "soon"})), "d", "bad-duration", "`soon`"),
    (changed("FollowedBy", limits=[0]), FOLLOWED, "type-mismatch", "whole numbers from 1"),
    (changed("FollowedBy", limits=[1, 1, 1]), FOLLOWED, "arity", "a limit belongs to an arrow"),
    (changed("Event", consume=-1), EVENT, "bad-bound", "`consume` is -1"),
    (replace(BASE, where="a1.n >"), None, "syntax", "`where`: "),
    (more(Node("d", "EveryDistinct"), links=(Link(EVENT, "d"),)), "d", "arity", "but it takes 2 or more"),
    (more(Node("d", "Every"), links=(Link("d", FOLLOWED, 3), Link(FOLLOWED, "d"))), None, "cycle", "form a cycle"),
    (more(Node("f", "FollowedBy"), links=(Link(EVENT, "f", 1), Link(EVERY, "f", 3))), "f", "arity", "[1, 3] instead"),
    (more(Node("g", "Range", {"low": 1}), links=(Link(EVENT, "g"),)), "g", "sort", "first operand of an Until"),
    (more(Node("n", "Not"), links=(Link(VALUE, "n"),)), "n", "sort", "must be a pattern"),
    (more(Node("n", "And"), links=(Link(EVENT, "n"), Link(GREATER, "n", 2))), "n", "sort", "all patterns"),
    (more(Node("w", "While"), links=(Link(EVENT, "w"), Link(EVENT, "w", 2))), "w", "sort", "must be a condition"),
    (more(Node("w", "WithinTimer", {"seconds": 1})), "w", "arity", "but contains none"),
    (more(Node("z", "Event", {"typeName": "A"})), "z", "never-completes", "not part of the pattern"),
    (more(Node("z", "Event", {"typeName": "A", "tag": "a1"})), "z", "duplicate-name", "the tag `a1`"),
    (more(Node("s", "TimeSchedule", {"hour": "25"})), "s", "bad-bound", "`25` is not valid as hour"),
    (more(Node("s", "Addition"), links=(Link(PROPERTY, "s"), Link(EVENT, "s", 2))), "s", "sort", "must be a value"),
    (more(Node("v", "Value", {"type": "Long", "value": "1"})), "v", "sort", "it is not used"),
    (more(Node("g", "GroupBy")), "g", "unsupported", "do not group"),
    (more(Node("g", "Avg")), "g", "unsupported", "aggregate"),
    (more(Node("g", "SlidingTimeWindow")), "g", "unsupported", "data windows"),
    (more(Node("g", "Place")), "g", "unsupported", "a net"),
    (more(Node("m", "Email"), links=(Link(EVENT, "m"),)), "m", "sort", "must be a complex event"),
    (
        replace(BASE, nodes=tuple(replace(n, children=(EVENT,)) if n.id == EVERY else n for n in BASE.nodes)),
        EVERY,
        "sort",
        "cannot be inside",
    ),
    (changed("EventProperty", name="m"), PROPERTY, "unknown-attribute", "no attribute `m`"),
    (
        more(*(Node(f"e{i}", "Not") for i in range(300)), links=tuple(Link(f"e{i}", f"e{i + 1}") for i in range(299))),
        None,
        "bad-bound",
        "levels deep",
    ),
    (changed("EventProperty", nested=True), GREATER, "sort", "is nested"),
    (replace(BASE, types=(*BASE.types, *BASE.types)), None, "duplicate-definition", "two types are called `A`"),
    (replace(BASE, types=(("A", (("n", "number"),)),)), None, "unknown-name", "`A.n` has an unknown type"),
]


@pytest.mark.parametrize(("model", "node", "kind", "message"), WRONG, ids=lambda x: x if isinstance(x, str) else None)
def test_rules_of_validation(model: Model, node: str | None, kind: str, message: str) -> None:
    problems = validate(model, "m.pattern.json")
    mine = [p for p in problems if p.kind == kind and message in p.message]
    assert mine, problems
    if node is not None:
        assert node in {p.definition for p in mine}
    assert all(p.file == "m.pattern.json" for p in problems)
    with pytest.raises(OccursError):
        text_of(dump(model))


def test_what_is_right_has_no_problem() -> None:
    assert validate(BASE) == []
    # an action is a sink, and no part of the text
    sink = more(Node("m", "WebRequest", {"url": "https://example.org"}), links=(Link(COMPLEX, "m"),))
    assert validate(sink) == []
    assert text_of(dump(sink)) == text_of(dump(BASE))


def test_the_model_of_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "guides" / "epl.md").read_text()
    (source,) = re.findall(r'```json title="fire.pattern.json"\n(.*?)```', page, re.DOTALL)
    said = "@Name('Fire')\n@Tag(name='domainName', value='Buildings')\n@Priority(0)\ninsert into Fire\n"
    assert text_of(source) == f"{said}select a1.area as area\nfrom pattern [every a1=Smoke];\n"
    kinds = set(re.findall(r"`(\w+)`", re.findall(r"The kinds are (.*?)\.\n", page, re.DOTALL)[0]))
    assert kinds == {k for k, kind in KINDS.items() if not kind.why}


def test_all_problems_come_at_once() -> None:
    model = replace(changed("Range", low=4), name="", priority=-1)
    assert {p.definition for p in validate(model)} == {None, RANGE}
    assert len(validate(model)) == 3


def test_conditions_go_to_the_event_of_their_first_property() -> None:
    swapped = replace(BASE, links=tuple(replace(k, order=3 - k.order) if k.target == EQUAL else k for k in BASE.links))
    with pytest.raises(occurs.DefinitionProblem) as caught:
        text_of(dump(swapped))
    (problem,) = caught.value.problems
    assert (problem.kind, problem.definition) == ("unbound-variable", EQUAL)
    assert "`a3`" in problem.message
    alone = more(
        Node("v", "Value", {"type": "Long", "value": "1"}), Node("u", "Value", {"type": "Long", "value": "1"}),
        Node("q", "Equal"), links=(Link("v", "q"), Link("u", "q", 2)),
    )  # fmt: skip
    with pytest.raises(occurs.DefinitionProblem, match="does not read an event"):
        text_of(dump(alone))


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("{", "syntax", "not valid JSON"),
        ("[]", "syntax", "a JSON object"),
        ('{"nodes": {}}', "syntax", "`nodes` must be a list"),
        ('{"node": []}', "unknown-name", "no `node`"),
        ('{"nodes": [{"kind": "Event"}]}', "syntax", "node 1 has no id"),
        ('{"nodes": [{"id": "a", "kind": "Evnt"}]}', "unknown-name", "unknown kind"),
        ('{"nodes": [{"id": "a", "kind": "Every"}, {"id": "a", "kind": "Not"}]}', "duplicate-name", "two nodes"),
        ('{"nodes": [{"id": "a", "kind": "Every"}], "links": [{"from": "a", "to": "b"}]}', "unknown-name", "is not a"),
        ('{"nodes": [{"id": "a", "kind": "Every", "children": ["b"]}]}', "unknown-name", "lists `b`"),
        ('{"priority": "high"}', "syntax", "whole number"),
        ('{"suppress": 1}', "syntax", "true or false"),
        ('{"name": 3}', "syntax", "must be a string"),
    ],
)
def test_files_that_are_no_models(text: str, kind: str, message: str) -> None:
    _, problems = read(text, "m.pattern.json")
    assert any(p.kind == kind and message in p.message and p.file == "m.pattern.json" for p in problems), problems
    with pytest.raises(OccursError):
        text_of(text)


def test_names_of_kinds_may_be_spelled_as_the_palette_does() -> None:
    source = dump(BASE).replace('"FollowedBy"', '"Followed By"').replace('"WithinTimer"', '"within timer"')
    assert text_of(source) == text_of(dump(BASE))
    assert {n.kind for n in BASE.nodes} <= set(KINDS)
    more_keys = json.loads(dump(BASE)) | {"creationDate": "2024-01-05", "deployed": False}
    model, problems = read(json.dumps(more_keys))
    assert problems == []
    assert json.loads(dump(model))["creationDate"] == "2024-01-05"
    assert render(file_of(model)) == text_of(dump(BASE))
