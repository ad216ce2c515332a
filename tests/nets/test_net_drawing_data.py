"""The drawing of a net as data: every element once, lines that end at borders, pages on one sheet."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_net_drawing import NETS

from occurs.nets.drawing import DrawnPage, drawing, grid
from occurs.nets.layout import Point, border
from occurs.nets.net import Net, Page, Transition


def pages(name: str) -> list[DrawnPage]:
    return list(drawing(NETS[name], lambda place: ["00000"]))


@pytest.mark.parametrize("name", NETS)
def test_every_element_is_drawn_once(name: str) -> None:
    for page, drawn in zip(NETS[name].pages, pages(name), strict=True):
        assert [p.place.name for p in drawn.places] == [p.name for p in page.places]
        assert [t.transition.name for t in drawn.transitions] == [t.name for t in page.transitions]
        lines = [a.line for a in drawn.arcs]
        assert sum(line.into + line.out for line in lines) == len(page.arcs)
        assert {(line.arc.place, line.arc.transition) for line in lines} == {(a.place, a.transition) for a in page.arcs}


@pytest.mark.parametrize("name", NETS)
def test_lines_end_at_the_borders_of_their_nodes_and_texts_lie_within_the_page(name: str) -> None:
    for page in pages(name):
        places = {p.place.name: p for p in page.places}
        transitions = {t.transition.name: t for t in page.transitions}
        for arc in page.arcs:
            place, transition = places[arc.line.arc.place], transitions[arc.line.arc.transition]
            assert arc.begin == border(place.at, place.size, arc.bend or transition.at, True)
            assert arc.end == border(transition.at, transition.size, arc.bend or place.at, False)
        for note in page.notes:
            assert page.left <= note.at[0] <= page.right
            assert page.low <= note.at[1] <= page.high


def test_places_have_their_colour_fusion_and_room_for_tokens() -> None:
    (search, *_) = pages("wild")
    place = search.places[0]
    assert [(n.kind, n.lines) for n in place.notes] == [("note", ("row", "fused: in!")), ("tokens", ("00000",))]


def test_guards_and_inscriptions_are_whole_and_wrapped() -> None:
    (page,) = pages("example_1")
    process = next(t for t in page.transitions if t.transition.name == "Process")
    assert process.guard == "[Int.rem(m, 5) = 0]"
    assert [n.lines for n in process.notes if n.kind == "note"] == [("P_HN",)]
    for arc in page.arcs:
        assert arc.label is not None
        assert "".join(arc.label.lines).replace(" ", "") == arc.text.replace(" ", "")


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(50, 3000), st.floats(50, 3000)), max_size=40))
def test_pages_on_one_sheet_do_not_overlap(sizes: list[Point]) -> None:
    corners = grid(sizes, 24.0)
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(corners, sizes, strict=True)]
    for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
        assert c <= e or g <= a or d <= f or h <= b


@pytest.mark.parametrize("count", [1, 2, 7, 50, 400])
def test_equal_pages_fill_a_sheet_that_is_about_square(count: int) -> None:
    corners = grid([(400.0, 300.0)] * count, 24.0)
    wide, high = max(x for x, _ in corners) + 400, max(y for _, y in corners) + 300
    assert max(wide, high) <= 1.6 * sqrt(count * 424 * 324) + 400


def test_a_page_without_places_is_a_page() -> None:
    (page,) = drawing(Net("n", (), (), (Page("p", (), (Transition("t"),)),)), lambda place: ())
    assert (page.right - page.left, page.high - page.low) == (60.0, 40.0)
