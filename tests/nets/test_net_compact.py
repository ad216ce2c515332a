"""The compact view: one transition per pattern operator, and only the places that show the pattern."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

import pytest
from small_nets import NEXT, figure_3

from occurs.languages.epl.nets import to_net
from occurs.languages.epl.parser import parse
from occurs.nets.compact import compact
from occurs.nets.net import Marking, Net, Page, Role
from occurs.nets.svg import THEMES, draw

SVG = "{http://www.w3.org/2000/svg}"
SCHEMAS = "".join(f"create schema {t}(k int, v int);\n" for t in "ABCD")
#: pattern -> what its statement's page has as transitions, in their order
PATTERNS = {
    "a=A(v > 5)": ["R_a"],
    "every a=A(v > 5)": ["R_a"],
    "a=A -> b=B(v > a.v)": ["R_a", "R_b", "R_followed"],
    "every a=A -> b=B(k = a.k)": ["R_a", "R_b", "R_followed"],
    "every (a=A -> b=B)": ["R_a", "R_b", "R_followed"],
}


def net_of(*patterns: str, **options: object) -> Net:
    statements = "".join(
        f"insert into R{k or ''} select a.v as v from pattern [{pattern}];\n" for k, pattern in enumerate(patterns)
    )
    text, problems = parse(SCHEMAS + statements)
    assert not problems
    return to_net(text, **options)


def view(net: Net) -> tuple[Net, Marking]:
    return compact(net, net.initial)


def ends(page: Page, transition: str, into: bool) -> set[str]:
    return {a.place for a in page.arcs if a.transition == transition and a.input is into}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_one_transition_per_operator(pattern):
    shown, _ = view(net_of(pattern))
    assert shown.pages[0].name == "Input_event_flow"
    page = shown.pages[1]
    assert [f"R_{t.name}".replace("R_R", "R") for t in page.transitions] == PATTERNS[pattern]
    # every event is a black transition that looks at the flow
    for t in page.transitions:
        assert (t.black is not None) is (t.name != "followed")
        assert ("F" in ends(page, t.name, True)) is (t.black is not None)


def test_the_pattern_is_a_way_through_the_net():
    shown, _ = view(net_of("a=A -> b=B(v > a.v)"))
    page = shown.pages[1]
    assert ends(page, "a", True) == {"Init", "F"}
    assert ends(page, "b", True) == {"End1", "F"}
    assert "End1" in ends(page, "a", False)
    assert {"End", "Fp", "Exit2"} <= ends(page, "b", False)
    assert ends(page, "followed", True) == {"Exit1", "Exit2"}
    assert ends(page, "followed", False) == {"Exit"}
    # `every` begins again: an arc back to the beginning
    again = view(net_of("every a=A -> b=B(v > a.v)"))[0].pages[1]
    assert "Init" in ends(again, "a", False)
    assert "Init" not in ends(page, "a", False)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_keeps_a_run_in_order_is_not_shown(pattern):
    net = net_of(pattern)
    shown, marking = view(net)
    roles = Counter(p.role for page in shown.pages for p in page.places)
    assert not {Role.CONTROL, Role.SEQ, Role.CLOCK} & roles.keys()
    names = {p.name for page in shown.pages for p in page.places}
    # every place has an arc, and none is there twice but the flow of events
    for page in shown.pages:
        assert {p.name for p in page.places} == {a.place for a in page.arcs}
        assert len({(a.place, a.transition, a.input) for a in page.arcs}) == len(page.arcs)
    assert sum(roles.values()) == len(names) + 1
    [start] = [p.name for page in shown.pages for p in page.places if p.role is Role.INIT]
    assert marking.tokens[start] == Counter({(0, ()): 1})
    # the net itself is as it was
    assert net == net_of(pattern)


def test_statements_have_a_page_each_and_names_that_differ():
    shown, _ = view(net_of("a=A -> b=B", "a=A"))
    assert [p.name for p in shown.pages] == ["Input_event_flow", "R", "R1"]
    names = [n.name for page in shown.pages for n in (*page.places, *page.transitions) if n.name != "F"]
    assert len(names) == len(set(names))
    assert {"R_Init", "R1_Init"} <= set(names)


def test_the_drawing_has_no_inscriptions_and_the_guards_of_events():
    net = net_of("every a=A(v > 5) -> b=B(v > a.v)")
    root = ElementTree.fromstring(draw(net, compact=True))
    kinds = Counter(t.get("class") for t in root.iter(f"{SVG}text"))
    assert (kinds["label"], kinds["note"], kinds["guard"]) == (0, 0, 2)
    assert {"[a_v > 5]", "[b_v > a_v]"} <= {t.text for t in root.iter(f"{SVG}text")}
    full = ElementTree.fromstring(draw(net))
    assert float(root.get("height")) < float(full.get("height")) / 2


def test_a_net_without_patterns_has_a_view_too():
    plain = figure_3(NEXT)
    shown, _ = compact(plain, plain.initial)
    assert set(shown.transitions) <= {*plain.transitions, *(page.name for page in plain.pages)}
    assert draw(Net("empty", (), (), (Page("nothing"),)), compact=True).startswith("<svg")


def test_drawings_have_themes():
    net = net_of("a=A")
    light, dark = draw(net), draw(net, theme="dark")
    assert light == draw(net, theme="light")
    assert THEMES["dark"]["back"] in dark
    assert "#fff" not in dark.replace("#fffff", "")
    assert len(light.splitlines()) == len(dark.splitlines())
