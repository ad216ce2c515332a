"""Plots: pictures of the right size, alike for equal items; what cannot be drawn."""

import struct
from typing import Any

import pytest

from occurs.operators.process.processors.documents import draw
from occurs.operators.process.tree import Plot
from occurs.operators.process.values import Bag, Fault, Map, Record, Set

POINTS = ((1, 2), (3, 1.5), (None, 4), (2, float("nan")), None)


def size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("scatter", POINTS),
        ("scatter", Set((Record((("x", 1), ("y", 2))),))),
        ("scatter", Map(((1, 2), (3, 4)))),
        ("scatter", ()),
        ("heatmap", ((1, 2, 3), (4,), (None, 2.5))),
        ("heatmap", Map((((1, "a"), 2), ((2, "b"), 5)))),
        ("heatmap", ((None,),)),
        ("heatmap", Map(())),
        ("histogram", Bag((1, 1, 2, None, float("inf")))),
        ("histogram", (3,)),
        ("histogram", ()),
    ],
)
def test_equal_items_have_equal_pictures(what: str, value: Any) -> None:
    picture = draw(Plot(what, "A $title$ of it", (300, 200), 5), value)
    assert size(picture) == (300, 200)
    assert draw(Plot(what, "A $title$ of it", (300, 200), 5), value) == picture
    assert b"matplotlib" not in picture.lower()


@pytest.mark.parametrize("what", ["scatter", "heatmap", "histogram"])
@pytest.mark.parametrize("pixels", [(1, 1), (30, 20), (160, 200)])
def test_pictures_may_be_small(what: str, pixels: tuple[int, int]) -> None:
    value = {"scatter": POINTS, "heatmap": ((1, 2), (3, 4)), "histogram": (1, 2, 2)}[what]
    assert size(draw(Plot(what, "title", pixels), value)) == pixels


def test_other_values_make_other_pictures() -> None:
    pictures = {draw(Plot("histogram", "", (200, 200), bins), v) for bins in (5, 10) for v in ((1, 2, 2), (1, 1, 2))}
    assert len(pictures) == 4


@pytest.mark.parametrize(
    ("what", "value", "bad"),
    [
        ("scatter", 1, 1),
        ("scatter", ((1, 2, 3),), (1, 2, 3)),
        ("scatter", ((1, "b"),), "b"),
        ("heatmap", ((1, 2), 3), 3),
        ("heatmap", Map(((1, 2),)), 1),
        ("histogram", "abc", "abc"),
        ("histogram", (True,), True),
    ],
)
def test_what_cannot_be_drawn(what: str, value: Any, bad: Any) -> None:
    with pytest.raises(Fault) as problem:
        draw(Plot(what), value)
    assert problem.value.kind == "bad-value"
    assert problem.value.value == bad
