"""Declarations of Design/CPN, which a converted file keeps as one text (epl-and-nets.md 4B)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import pytest
from snakes_engine import Unfolded, space_of

from occurs.errors import DefinitionProblem
from occurs.nets import colours
from occurs.nets.colours import Colour, index
from occurs.nets.cpn_read import read
from occurs.nets.cpn_write import write
from occurs.nets.explore import explore
from occurs.nets.net import Net
from occurs.nets.simulate import Simulator

RELAY = (Path(__file__).parent / "files" / "relay.cpn").read_text()
S = colours.String("S")
FORMS: list[tuple[str, Colour]] = [
    ("color A = int;", colours.Int("A")),
    ("color A = int with 1..9 declare ran, ms;", colours.Int("A", low=1, high=9)),
    ("color A = int timed", colours.Int("A", timed=True)),
    ("colset A = with p | q;;", colours.Enum("A", ("p", "q"))),
    ("color A = index a with 1..2;", index("A", "a", 1, 2)),
    ("color S = string; color A = product S * S timed;", colours.Product("A", (S, S), timed=True)),
    ("color S = string; color A = record x : S * y : S;", colours.Record("A", (("x", S), ("y", S)))),
    ("color S = string; color A = union one : S + none;", colours.Union("A", (("one", S), ("none", None)))),
    ("color S = string; color A = list S;", colours.List("A", S)),
    ("color S = string; color A = S;", colours.Alias("A", S)),
    ("color A = unit;", colours.Unit("A")),
    ("var t : TIME; color A = bool;", colours.Bool("A")),
]
#: cooks share pans: each needs the pan of its own number and the next one
KITCHEN = """
(* how many; a comment with a semicolon *)
val n = 4;
color COOK = index cook with 1..n declare ms; color PAN = index pan with 1 .. n;
var c : COOK;
fun Pans(cook(i)) = 1`pan(i) ++ 1`pan(if i = n then 1 else i + 1);
"""


def net_of(text: str, page: str = "<page id='P'><pageattr name='Top'/></page>") -> Net:
    """A net whose declarations are a text of Design/CPN."""
    declared = f"<globbox><errordecl>{escape(text)}</errordecl></globbox>"
    data = f"<workspaceElements><cpnet>{declared}{page}</cpnet></workspaceElements>"
    net, notes = read(data.encode(), "converted.cpn")
    assert [n.message for n in notes if n.severity == "warning"] == []
    return net


def page_of(places: dict[str, tuple[str, str]], arcs: Sequence[tuple[str, str, str, str]], delay: str = "") -> str:
    """One page: places with colour and marking; arcs with place, transition, direction and inscription."""
    out = [
        f"<place id='{name}'><text>{name}</text><type id='{name}1'><text>{colour}</text></type>"
        f"<initmark id='{name}2'><text>{escape(marking)}</text></initmark></place>"
        for name, (colour, marking) in places.items()
    ]
    for name in dict.fromkeys(t for _, t, _, _ in arcs):
        time = f"<time id='{name}1'><text>{escape(delay)}</text></time>"
        out.append(f"<trans id='{name}'><text>{name}</text>{time}</trans>")
    for k, (place, transition, way, text) in enumerate(arcs):
        ends = f"<transend idref='{transition}'/><placeend idref='{place}'/>"
        annot = f"<annot id='A{k}1'><text>{escape(text)}</text></annot>"
        out.append(f"<arc id='A{k}' orientation='{way}'>{ends}{annot}</arc>")
    return f"<page id='P'><pageattr name='Top'/>{''.join(out)}</page>"


@pytest.mark.parametrize(("text", "colour"), FORMS, ids=[t for t, _ in FORMS])
def test_every_form_of_a_colour(text: str, colour: Colour) -> None:
    assert {c.name: c for c in net_of(text).colours}["A"] == colour


def test_the_same_net_as_with_elements() -> None:
    """A hierarchy with time: read from a text, it is written as it is read from elements."""
    text = """color JOB = int with 0..99 timed; color SLOT = index slot with 1..2; color UNIT = unit;
              var j : JOB; var s : SLOT; fun work k = 2 * k; globref pause = 3;"""
    converted = re.sub(
        r"<globbox>.*</globbox>", f"<globbox><errordecl>{text}</errordecl></globbox>", RELAY, flags=re.DOTALL
    )
    assert "errordecl" in converted
    made, wanted = (read(t.encode(), "relay.cpn")[0] for t in (converted, RELAY))
    assert write(made) == write(wanted)


def test_cooks_and_pans() -> None:
    """Of n cooks in a ring, no two neighbours cook: 7 sets for n = 4 (a Lucas number), and two arcs per set and cook
    that can begin."""
    arcs = [
        ("Rests", "Begin", "PtoT", "c"), ("Pans", "Begin", "PtoT", "Pans(c)"), ("Cooks", "Begin", "TtoP", "c"),
        ("Cooks", "End", "PtoT", "c"), ("Pans", "End", "TtoP", "Pans(c)"), ("Rests", "End", "TtoP", "c"),
    ]  # fmt: skip
    places = {"Rests": ("COOK", "ms'COOK"), "Pans": ("PAN", "ms'PAN"), "Cooks": ("COOK", "")}
    net = net_of(KITCHEN, page_of(places, arcs))
    space = explore(net)
    sets = [s for s in range(16) if not any(s >> i & 1 and s >> (i + 1) % 4 & 1 for i in range(4))]
    begins = sum(not s >> i & 1 and (s | 1 << i) in sets for s in sets for i in range(4))
    assert (len(space.nodes), len(space.steps)) == (len(sets), 2 * begins) == (7, 16)
    markings, steps, _ = space_of(net, Unfolded)
    assert ({space.marking(k).key for k in range(7)}, 16) == (markings, steps)


def test_times_of_the_clock() -> None:
    arcs = [("In", "Go", "PtoT", "k"), ("Out", "Go", "TtoP", "k")]
    places = {"In": ("INT", "1`1 ++ 1`2"), "Out": ("INT", "")}
    net = net_of("color INT = int timed; var k : INT;", page_of(places, arcs, '@+clock "7"'))
    simulator = Simulator(net)
    assert simulator.run().steps == 2
    # a token of a timed colour, with the time from which it can be taken
    assert sorted(simulator.tokens("Out")) == [(1, 7), (2, 7)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("color A = list of B;", "colour text-1 (`A`): its declaration is empty"),
        ("color A = product B * B;", "colour text-1 (`A`): unknown colour `B`"),
        ("var x : A ms;", "var text-1 (`x`): unknown colour `A ms`"),
        ("color A = int; color A = int;", "colour text-2 (`A`): a colour with this name is already declared"),
    ],
)
def test_wrong_declarations(text: str, message: str) -> None:
    with pytest.raises(DefinitionProblem) as problem:
        net_of(text)
    assert message in str(problem.value)
