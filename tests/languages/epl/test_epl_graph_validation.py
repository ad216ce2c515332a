"""Every row of the validation table of drawings, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from occurs.languages.epl.checks import analyse
from occurs.languages.epl.graph import Edited, drawing_of, edited
from occurs.languages.epl.graph.canvas import COMPLEX, Canvas, Head, Link, Node, Tag
from occurs.languages.epl.graph.checking import Check, Checked, open_types
from occurs.languages.epl.graph.reading import Fault
from occurs.languages.epl.parser import parse
from occurs.model.types import Schema, Type

TEXT = """create schema A(n int, k string);
@Name('Other') insert into Other select a.n as n from pattern [every a=A];
@Name('Q')
insert into Derived
select a.n as n, b[0].k as k, 1 + 1 as two
from pattern [every a=A(n > 1) -> (b=A(k = a.k, n < 5) until c=A) where timer:within(5 min)];
"""
Make = Callable[[Canvas], Canvas]


def checks(text: str, inputs: dict[str, Schema] | None = None) -> Check:
    opened = open_types(drawing_of(text))

    def check(new: str) -> Checked:
        tree, problems = parse(new)
        found = analyse([tree], {**opened, **(inputs or {})})
        return Checked(tree, [*problems, *found.problems], found.queries)

    return check


def drawn(text: str, id: str) -> Canvas:
    found = drawing_of(text).statement(id)
    assert found is not None
    assert found.canvas is not None
    return found.canvas


def edit(make: Make, text: str = TEXT, id: str | None = "Q", inputs: dict[str, Schema] | None = None) -> Edited:
    canvas = drawn(text, id) if id is not None else NEW
    return edited(text, id, make(canvas), checks(text, inputs))


def change(node: str, **fields: Any) -> Make:
    return lambda c: replace(
        c, nodes=tuple(replace(n, fields={**n.fields, **fields}) if n.id == node else n for n in c.nodes)
    )


def head(**fields: Any) -> Make:
    return lambda c: replace(c, head=replace(c.head, **fields))


def add(*nodes: Node, links: tuple[tuple[str, str, int], ...] = ()) -> Make:
    return lambda c: replace(c, nodes=(*c.nodes, *nodes), links=(*c.links, *(Link(*k) for k in links)))


def unlink(*sources: str) -> Make:
    return lambda c: replace(c, links=tuple(k for k in c.links if k.source not in sources))


def remove(*names: str) -> Make:
    return lambda c: replace(
        c,
        nodes=tuple(n for n in c.nodes if n.id not in names),
        links=tuple(k for k in c.links if not {k.source, k.target} & set(names)),
    )


def wrap(name: str, kind: str, **fields: Any) -> Make:
    """Put a unary operator ``W`` around a node."""
    return lambda c: replace(
        c,
        nodes=(*c.nodes, Node("W", kind, fields)),
        links=(*(replace(k, source="W") if k.source == name else k for k in c.links), Link(name, "W")),
    )


def both(*makes: Make) -> Make:
    def make(canvas: Canvas) -> Canvas:
        for one in makes:
            canvas = one(canvas)
        return canvas

    return make


def event(name: str, type: str = "A", *conditions: str, tag: str | None = "") -> Node:
    fields = {"typeName": type, "tag": name if tag == "" else tag, "conditions": list(conditions), "consume": 0}
    return Node(name, "Event", fields)


def columns(*rows: tuple[str | None, str]) -> Make:
    return change(COMPLEX, columns=[{"name": n, "value": v} for n, v in rows])


NEW = Canvas(
    Head("Fresh"),
    (
        event("a1"),
        Node("Every1", "Every"),
        Node(COMPLEX, COMPLEX, {"typeName": "Fresh", "columns": [{"name": "n", "value": "a1.n"}]}),
    ),
    (Link("a1", "Every1"), Link("Every1", COMPLEX)),
)


def same(c: Canvas) -> Canvas:
    return c


RIGHT: list[tuple[str, Make]] = [
    ("unchanged", same),
    ("another name", head(name="R")),
    ("priority zero", head(priority=0)),
    ("no derived type", head(description="it", tags=(Tag("a", "b"),))),
    (
        "only a timer",
        lambda c: replace(
            NEW,
            nodes=(
                Node("t", "TimeInterval", {"duration": "5 sec"}),
                *NEW.nodes[1:2],
                replace(NEW.nodes[2], fields={"typeName": "T", "columns": [{"name": "n", "value": "1"}]}),
            ),
            links=(Link("t", "Every1"), Link("Every1", COMPLEX)),
            head=Head("Q"),
        ),
    ),
    ("all of an event", columns((None, "a.*"), ("two", "2"))),
    ("all events", columns((None, "*"))),
    ("a known type", both(change("b", typeName="Other", conditions=["n = a.n"]), columns(("n", "b[0].n")))),
    ("its own attributes", change("a", conditions=["n > 1 and a.k = 'x'"])),
    ("an operator of three", add(event("d"), links=(("d", "FollowedBy1", 3),))),
    ("Every in Every", wrap("Every1", "Every")),
    ("Repeat", wrap("c", "Repeat", count=3)),
    ("a range", change("Until1", low=1, high=3)),
    ("withinmax", change("Within1", count=0)),
    (
        "Not under And",
        both(
            unlink("a"),
            add(
                event("d"),
                Node("And1", "And"),
                Node("Not1", "Not"),
                links=(("d", "Not1", 1), ("a", "And1", 1), ("Not1", "And1", 2), ("And1", "Every1", 1)),
            ),
        ),
    ),
    ("EveryDistinct", wrap("c", "EveryDistinct", keys=["c.n", "c.k"], expiry="5 sec")),
    (
        "a schedule",
        both(unlink("c"), add(Node("s", "TimeSchedule", {"hour": "8"}), links=(("s", "Until1", 2),)), remove("c")),
    ),
    ("a row", change("b", conditions=["k like 'x%'", "n between 1 and 5", "n % 2 = 1.0"])),
    ("While", wrap("a", "While", condition="a.n < 3")),
]


@pytest.mark.parametrize(("name", "make"), RIGHT, ids=[n for n, _ in RIGHT])
def test_what_is_right_becomes_text(name: str, make: Make) -> None:
    found = edit(make)
    assert [f for f in found.faults if f.error] == []
    assert found.text is not None
    assert parse(found.text)[1] == []


WRONG: list[tuple[str, Make, str, str | None, str]] = [
    # the statement
    ("no name", head(name=None), "unknown-name", None, "the statement has no name"),
    ("negative priority", head(priority=-1), "bad-bound", None, "the priority must be a whole number"),
    ("broken priority", head(priority=1.5), "bad-bound", None, "the priority must be a whole number"),
    ("name of another", head(name="Other"), "duplicate-definition", None, "two statements are called `Other`"),
    ("reserved name", head(name="select"), "reserved-name", None, "`select` is a reserved name"),
    ("reserved type", change(COMPLEX, typeName="because"), "reserved-name", COMPLEX, "`because` is a reserved name"),
    ("where", head(where="a.n >"), "syntax", None, "Where: "),
    ("where of no event", head(where="zz.n > 1"), "unknown-name", None, "the tag `zz`"),
    ("nothing on it", lambda c: replace(c, nodes=(), links=()), "never-completes", None, "no event and no timer"),
    ("no complex event", remove(COMPLEX), "arity", None, "no complex event"),
    ("two complex events", add(Node("X", COMPLEX, {"typeName": "X", "columns": []})), "arity", "X", "2 complex events"),
    ("no pattern", unlink("FollowedBy1"), "arity", COMPLEX, "the complex event has no pattern, but takes 1"),
    ("two patterns", add(event("d"), links=(("d", COMPLEX, 2),)), "arity", COMPLEX, "has 2 patterns, but takes 1"),
    # the complex event
    ("no type", both(change(COMPLEX, typeName=None), head(into=None)), "unknown-name", COMPLEX, "has no type"),
    ("no column", columns(), "arity", COMPLEX, "no columns"),
    ("no column name", columns((None, "a.n")), "unknown-name", COMPLEX, "Column 1 has no name"),
    (
        "columns of a name",
        columns(("n", "a.n"), ("n", "b[0].n")),
        "duplicate-name",
        COMPLEX,
        "two columns are called `n`",
    ),
    ("reserved column", columns(("time", "a.n")), "reserved-name", COMPLEX, "`time` cannot be the name"),
    ("no value", columns(("n", "")), "syntax", COMPLEX, "Column 1: an expression is missing"),
    ("broken value", columns(("n", "a.n +")), "syntax", COMPLEX, "Column 1: "),
    ("named star", columns(("n", "a.*")), "syntax", COMPLEX, "Column 1: `a.*` has no name"),
    ("star beside others", columns((None, "*"), ("m", "1")), "syntax", COMPLEX, "Column 1: `*`"),
    ("unknown tag", columns(("n", "zz.n")), "unknown-name", COMPLEX, "the tag `zz`"),
    ("unknown attribute", columns(("n", "a.nn")), "unknown-attribute", COMPLEX, "no attribute `nn`"),
    # events
    ("no event type", change("b", typeName=""), "unknown-name", "b", "b has no type"),
    ("unknown type", change("b", typeName="B"), "unknown-name", "b", "the type `B`"),
    ("tag twice", change("b", tag="a"), "duplicate-name", "b", "the tag `a`"),
    ("tag that is no name", change("b", tag="1 b"), "syntax", "b", "`1 b` is not a name"),
    ("empty condition", change("b", conditions=["n = 1", ""]), "syntax", "b", "Condition 2: an expression is missing"),
    ("broken condition", change("b", conditions=["n = "]), "syntax", "b", "Condition 1: "),
    ("two conditions in one", change("b", conditions=["n = 1, n = 2"]), "syntax", "b", "Condition 1: "),
    ("no condition", change("b", conditions=["n + 1"]), "type-mismatch", "b", "a condition must be true or false"),
    ("not bound yet", change("a", conditions=["n = c.n"]), "unbound-variable", "a", "`c` is not yet bound"),
    ("own attribute", change("b", conditions=["m = 1"]), "unknown-attribute", "b", "no attribute `m`"),
    ("consume", change("b", consume=-1), "bad-bound", "b", "`consume`"),
    # operators
    ("unary of none", unlink("a"), "arity", "Every1", "Every1 has no operand, but takes 1"),
    ("unary of two", add(event("d"), links=(("d", "Every1", 2),)), "arity", "Every1", "has 2 operands, but takes 1"),
    ("binary of one", unlink("c"), "arity", "Until1", "Until1 has one operand, but takes 2"),
    ("N-ary of one", unlink("Every1"), "arity", "FollowedBy1", "has one operand, but takes 2 or more"),
    ("operand of an event", add(event("d"), links=(("d", "a", 1),)), "arity", "a", "but takes none"),
    ("orders", both(unlink("c"), add(links=(("c", "Until1", 3),))), "arity", "Until1", "[1, 3] instead of 1 to 2"),
    ("same orders", both(unlink("c"), add(links=(("c", "Until1", 1),))), "arity", "Until1", "[1, 1] instead"),
    ("operand of two", add(links=(("a", "FollowedBy1", 3),)), "sort", "a", "an operand of several nodes"),
    ("linked twice", add(links=(("a", "Every1", 2),)), "duplicate-name", "Every1", "a is linked to Every1 twice"),
    ("from the complex event", add(links=((COMPLEX, "Every1", 2),)), "sort", COMPLEX, "is what the pattern derives"),
    ("count", wrap("c", "Repeat", count=0), "bad-bound", "W", "must be repeated at least once"),
    ("count that is no number", wrap("c", "Repeat", count="2"), "bad-bound", "W", "must be a whole number"),
    ("low > high", change("Until1", low=3, high=2), "bad-bound", "Until1", "the lower bound is greater"),
    ("withinmax", change("Within1", count=-1), "bad-bound", "Within1", "`count`"),
    ("limit", change("FollowedBy1", limits=[0]), "bad-bound", "FollowedBy1", "the limit must be at least 1"),
    ("too many limits", change("FollowedBy1", limits=[1, 2]), "arity", "FollowedBy1", "2 limits, but only 1"),
    (
        "And of Not",
        both(
            wrap("Every1", "Not"),
            lambda c: replace(
                c,
                nodes=(*c.nodes, Node("V", "And"), Node("N", "Not"), event("d")),
                links=(
                    *(replace(k, source="V") if k.source == "W" else k for k in c.links),
                    Link("W", "V", 1),
                    Link("N", "V", 2),
                    Link("d", "N"),
                ),
            ),
        ),
        "never-completes",
        "V",
        "an `and` of `not` alone",
    ),
    ("no key", wrap("c", "EveryDistinct", keys=[]), "arity", "W", "W has no key"),
    ("keys of two", wrap("c", "EveryDistinct", keys=["c.n", "a.n"]), "sort", "W", "several events"),
    ("broken key", wrap("c", "EveryDistinct", keys=["c.n", "c."]), "syntax", "W", "Key 2: "),
    ("broken condition of While", wrap("a", "While", condition=""), "syntax", "W", "`condition`: "),
    # timers
    ("no duration", change("Within1", duration=""), "bad-duration", "Within1", "a duration is missing"),
    ("no unit", change("Within1", duration="5 x"), "bad-duration", "Within1", "not a unit"),
    ("zero", change("Within1", duration="0 sec"), "bad-duration", "Within1", "must be greater than zero"),
    # rows
    ("types", change("b", conditions=["k > 5"]), "type-mismatch", "b", "string"),
    ("arithmetic", change("b", conditions=["k + 1 = 2"]), "type-mismatch", "b", "string"),
    ("order of bools", change("b", conditions=["true < false"]), "type-mismatch", "b", ""),
    # the whole
    ("cycle", both(unlink("a"), add(links=(("Every1", "Every1", 1),))), "sort", "Every1", "several nodes"),
    ("left over", add(event("d")), "never-completes", "d", "d does not lead into the complex event"),
    ("two ids", add(event("a")), "duplicate-name", "a", "two nodes have the id `a`"),
    ("unknown kind", add(Node("s", "Sometimes")), "unknown-name", "s", "the unknown kind `Sometimes`"),
    ("unknown field", change("b", typename="A"), "unknown-name", "b", "has no field `typename`"),
    ("no id", add(Node("", "Every")), "syntax", None, "has no id"),
    ("link to nothing", add(links=(("a9", "Every1", 2),)), "unknown-name", None, "`a9`, which is not a node"),
]


def found_at(found: Edited, kind: str, node: str | None, message: str) -> list[Fault]:
    return [
        f for f in found.faults if (f.problem.kind, f.node) == (kind, node) and message in f.problem.message and f.error
    ]


@pytest.mark.parametrize(("name", "make", "kind", "node", "message"), WRONG, ids=[w[0] for w in WRONG])
def test_what_is_wrong_is_told_at_its_node(name: str, make: Make, kind: str, node: str | None, message: str) -> None:
    found = edit(make)
    assert found.text is None
    assert found.edits == ()
    assert found_at(found, kind, node, message), found.faults


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"minute": "60"}, "60 is not a valid minute"),
        ({"hour": "x"}, "`x` is not valid as hour"),
        ({"hour": "5:2"}, "the lower bound is greater"),
        ({}, "no field that is set"),
        ({"dayOfMonth": "30", "month": "2"}, "never fires"),
        ({"second": "60"}, "60 is not a valid second"),
        ({"minute": 5}, "must be a text"),
    ],
)
def test_schedules(fields: dict[str, Any], message: str) -> None:
    make = both(remove("c"), add(Node("s", "TimeSchedule", fields), links=(("s", "Until1", 2),)))
    found = edit(make)
    assert found.text is None
    assert any(f.node == "s" and message in f.problem.message for f in found.faults), found.faults


def test_links_in_a_ring_are_told():
    make = both(unlink("FollowedBy1"), add(links=(("FollowedBy1", "Within1", 2),)))
    found = edit(make)
    assert found.text is None
    assert any(f.problem.kind == "cycle" for f in found.faults)


def test_all_is_told_at_once_and_parts_are_checked_on_their_own():
    make = both(
        columns(),
        unlink("c"),
        change("a", conditions=["n > 'x'", "nn = 1"]),
        change("b", conditions=["n = zz.n", "n = "]),
        add(event("d", "Aa", "n = a.nn")),
        head(name="Other"),
    )
    found = edit(make)
    told = {(f.problem.kind, f.node, f.problem.row) for f in found.faults if f.error}
    assert told >= {
        ("arity", COMPLEX, None),
        ("arity", "Until1", None),
        ("type-mismatch", "a", 1),
        ("unknown-attribute", "a", 2),
        ("unknown-name", "b", 1),
        ("syntax", "b", 2),
        ("unknown-name", "d", None),
        ("unknown-attribute", "d", 1),
        ("never-completes", "d", None),
        ("never-completes", "c", None),
        ("duplicate-definition", None, None),
    }
    # nothing is told of what only stands in for what is missing
    assert not any("__missing" in f.problem.message + str(f.problem.hint) for f in found.faults)


def test_rows_that_cannot_be_read_do_not_move_the_others():
    found = edit(change("b", conditions=["n = ", "n = 1", "m = 2"]))
    assert {(f.problem.kind, f.problem.row) for f in found.faults if f.node == "b"} == {
        ("syntax", 1),
        ("unknown-attribute", 3),
    }


def test_tags_of_patterns_that_are_not_linked_yet_are_known():
    make = both(unlink("Within1"), columns(("n", "a.n"), ("k", "c.k")))
    found = edit(make)
    assert {f.problem.kind for f in found.faults if f.error} == {"arity", "never-completes"}


def test_a_statement_without_name_type_and_names_of_columns_may_stay_so():
    text = "create schema A(n int);\nselect a.n, a.n + 1 as m from pattern [every a=A(n > 1)];"
    found = edit(change("a", conditions=["n > 2"]), text, "stmt_1")
    assert found.text == text.replace("n > 1", "n > 2")
    assert edit(columns((None, "a.n"), (None, "a.n + 2")), text, "stmt_1").text is None
    assert edit(columns((None, "a.n * 2"), ("m", "a.n + 2")), text, "stmt_1").text is not None


def test_types_that_nobody_declares_stay_known_where_they_are_used():
    text = "@Name('q') insert into Q select a.n as n from pattern [every a=Undeclared(x > 1)];"
    assert edit(change("a", conditions=["y > 2"]), text, "q").text == text.replace("x > 1", "y > 2")
    found = edit(change("a", typeName="Undeclaredd"), text, "q")
    assert found_at(found, "unknown-name", "a", "the type `Undeclaredd`")


def test_types_of_events_at_hand_are_known():
    inputs = {"Temp": Schema((("celsius", Type.INT),))}
    make = change("b", typeName="Temp", conditions=["celsius > 5"])
    assert edit(both(make, columns(("n", "a.n"))), inputs=inputs).text is not None
    wrong = edit(both(make, change("b", typeName="Temp", conditions=["celsiu > 5"])), inputs=inputs)
    assert found_at(wrong, "unknown-attribute", "b", "no attribute `celsiu`")


def test_warnings_and_operators_without_a_net_are_told_at_their_nodes():
    found = edit(wrap("Every1", "Every"))
    assert found.text is not None
    told = {(f.problem.severity, f.problem.kind, f.node) for f in found.faults}
    # the new one around it is the first now
    assert found.renamed == {"W": "Every1", "Every1": "Every2"}
    assert ("warning", "multiplying", "Every2") in told
    assert ("notice", "unsupported", "Until1") in told


def test_a_not_that_does_not_wait_is_told_at_its_node():
    found = edit(wrap("c", "Not"))
    assert found.text is not None
    assert "until not c=A" in found.text
    told = {(f.problem.severity, f.problem.kind, f.node) for f in found.faults}
    assert {("warning", "always-fires", "Not1"), ("notice", "unsupported", "Not1")} <= told


def test_a_new_statement_is_appended_in_canonical_form():
    found = edit(same, id=None)
    assert found.text == TEXT + ("\n@Name('Fresh')\ninsert into Fresh\nselect a1.n as n\nfrom pattern [every a1=A];\n")
    assert found.statement == "Fresh"
    assert found.renamed == {}
    for text, end in (
        ("", ""),
        ("create schema A(n int)", ";\n\n"),
        ("create schema A(n int); ", "\n\n"),
        ("create schema A(n int);\n\n", ""),
        ("create schema A(n int) // type\n", None),
        ("create schema A(n int);\r\n", "\r\n"),
    ):
        inputs = {"A": Schema((("n", Type.INT),))}
        got = edit(same, text, None, inputs).text
        assert got is not None
        if end is None:
            assert got.startswith("create schema A(n int); // type\n\n@Name('Fresh')")
        else:
            assert got.replace("\r\n", "\n").startswith((text + end).replace("\r\n", "\n") + "@Name('Fresh')")
        assert ("\r" in got) == ("\r" in text)
        assert got.count("\r\n") in (0, got.count("\n"))


def test_ids_follow_from_the_text():
    text = "select 1 as c from pattern [Every1=A -> A -> every [2] a=A and not (A or a=B)]"
    drawing = drawing_of(text)
    assert drawing.statements[0].canvas is not None
    assert [n.id for n in drawing.statements[0].canvas.nodes] == [
        "FollowedBy1",
        "Every1",
        "Event1",
        "And1",
        "Every1_2",
        "Repeat1",
        "a",
        "Not1",
        "Or1",
        "Event2",
        "a_2",
        COMPLEX,
    ]


def test_ids_of_statements():
    text = (
        "@Name('x') select 1 as a from A; insert into x select 1 as a from A; select 1 as a from A; "
        "create schema x(n int);\\nselect frm; @Name('broken') x;"
    )
    assert [(s.id, s.kind) for s in drawing_of(text).statements] == [
        ("x", "simple"),
        ("x_2", "simple"),
        ("stmt_3", "simple"),
        ("x_3", "schema"),
        ("Text1", "text"),
        ("broken", "text"),
    ]


def test_a_statement_that_cannot_be_read_is_edited_as_text():
    text = "create schema A(n int);\n/* before */ @Name('q') select frm A; // behind\n"
    make = change("Text1", text="@Name('q') select a.n as n from pattern [a=A]")
    found = edit(make, text, "q")
    assert found.text == text.replace("select frm A", "select a.n as n from pattern [a=A]")
    assert found.statement == "q"
    assert edit(change("Text1", text="select frm B"), text, "q").text is None


def test_simple_statements_stay_simple():
    text = "create schema A(n int);\n@Name('q') insert into Q select n from /* c */ A(n > 1) as a; // end"
    found = edit(change("a", conditions=["n > 1", "n < 9"]), text, "q")
    assert found.text == text.replace("n > 1", "n > 1, n < 9")
    # an operator around the event makes a pattern of it
    make = both(wrap("a", "Every"), columns(("n", "a.n")))
    assert edit(make, text, "q").text == text.replace(
        "select n from /* c */ A(n > 1) as a", "select a.n as n from pattern [every a=A(n > 1)]"
    )


def test_deep_drawings_are_refused():
    nodes = tuple(Node(f"e{i}", "Every") for i in range(300))
    links = tuple(Link(f"e{i}", f"e{i + 1}") for i in range(299))
    found = edit(lambda c: replace(c, nodes=(*c.nodes, *nodes), links=(*c.links, *links)))
    assert found.text is None
    assert any("levels deep" in f.problem.message for f in found.faults)


def test_a_part_of_a_pattern_may_be_text():
    text = "every (d=A(n  > 1) /* kept */ -> e=A)"
    make = add(Node("Text1", "Text", {"text": text}), links=(("Text1", "FollowedBy1", 3),))
    found = edit(make)
    assert found.text is not None
    assert "-> every (d=A(n  > 1) /* kept */ -> e=A)]" in found.text
    assert found.renamed == {"Text1": "Every2"}
    wrong = edit(add(Node("Text1", "Text", {"text": "d=A("}), links=(("Text1", "FollowedBy1", 3),)))
    assert found_at(wrong, "syntax", "Text1", "Text: ")


def test_the_complex_event_may_have_another_id_until_it_is_text():
    def other(canvas: Canvas) -> Canvas:
        nodes = tuple(replace(n, id="mine") if n.id == COMPLEX else n for n in canvas.nodes)
        links = tuple(replace(k, target="mine") if k.target == COMPLEX else k for k in canvas.links)
        return replace(canvas, nodes=nodes, links=links)

    assert edit(other).text == TEXT
    assert edit(other).renamed == {"mine": COMPLEX}
    for wrong in (columns(("n", "zz.n")), both(columns(("n", "zz.n")), unlink("a"))):
        assert found_at(edit(both(wrong, other)), "unknown-name", "mine", "the tag `zz`")
