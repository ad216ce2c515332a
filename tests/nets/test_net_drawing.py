"""Layout and drawings: nodes that do not overlap, and everything of a net in its picture (epl-and-nets.md, 4B)."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest
from odd_nets import wild
from small_nets import INT, NEXT, N, example_1, figure_3, gives, takes

from occurs.expr.tree import IsNull
from occurs.nets.colours import String
from occurs.nets.firing import run
from occurs.nets.layout import border, joined, node_size, placed, wrapped
from occurs.nets.net import Marking, Net, Page, Place, Transition
from occurs.nets.svg import draw
from occurs.nets.transform import to_priority_net

SVG = "{http://www.w3.org/2000/svg}"


def random_net(seed: int, most: int = 7) -> Net:
    rng = random.Random(seed)
    places = [f"p{k}" + "x" * rng.randint(0, 12) for k in range(rng.randint(0, most))]
    transitions = [f"t{k}" for k in range(rng.randint(0, most))]
    arcs = []
    if places and transitions:
        for _ in range(rng.randint(0, 3 * most)):
            arcs.append(rng.choice((takes, gives))(rng.choice(places), rng.choice(transitions), N))
    page = Page("page", tuple(Place(p, INT) for p in places), tuple(Transition(t) for t in transitions), tuple(arcs))
    return Net("random", (INT,), (("n", INT),), (page,))


NETS = {
    "example_1": example_1(),
    "black": figure_3(NEXT),
    "encoded": to_priority_net(figure_3(NEXT)),
    "wild": wild(),
    "empty": Net("empty", (), (), (Page("nothing"),)),
    **{f"random {seed}": random_net(seed) for seed in range(14)},
}


def boxes(page: Page) -> Iterator[tuple[str, float, float, float, float]]:
    for name, at in [*((p.name, p.at) for p in page.places), *((t.name, t.at) for t in page.transitions)]:
        assert at is not None
        yield (name, *at, *node_size(name))


@pytest.mark.parametrize("name", NETS)
def test_every_node_has_a_place_of_its_own(name: str) -> None:
    for page in placed(NETS[name]).pages:
        for (a, x, y, w, h), (b, x2, y2, w2, h2) in combinations(boxes(page), 2):
            assert abs(x - x2) >= (w + w2) / 2 or abs(y - y2) >= (h + h2) / 2, (a, b)


@pytest.mark.parametrize("name", NETS)
def test_one_column_per_transition_on_a_grid(name: str) -> None:
    for page in placed(NETS[name]).pages:
        columns = [t.at[0] for t in page.transitions if t.at is not None]
        assert columns == sorted(set(columns))
        assert {t.at[1] for t in page.transitions if t.at is not None} <= {0.0}
        points = [p.at for p in page.places if p.at is not None]
        for axis in (0, 1):
            steps = {abs(a[axis] - b[axis]) for a, b in combinations(points, 2)} - {0.0}
            assert all(s % min(steps) == 0 for s in steps) or axis == 0


def test_arcs_run_over_no_other_node() -> None:
    for name in ("example_1", "black", "wild"):
        for page in placed(NETS[name]).pages:
            at = {n: (x, y) for n, x, y, _, _ in boxes(page)}
            for arc in page.arcs:
                (x0, y0), (x1, y1) = at[arc.place], at[arc.transition]
                for k in range(1, 20):
                    x, y = x0 + (x1 - x0) * k / 20, y0 + (y1 - y0) * k / 20
                    for other, ox, oy, w, h in boxes(page):
                        if other not in (arc.place, arc.transition):
                            assert abs(x - ox) > w / 2 or abs(y - oy) > h / 2, (arc, other)


def test_what_a_transition_takes_is_left_of_it() -> None:
    page = Page(
        "page", (Place("in", INT), Place("out", INT)), (Transition("t"),), (takes("in", "t", N), gives("out", "t", N))
    )
    found = placed(Net("n", (INT,), (("n", INT),), (page,)))
    inner, outer, t = found.places["in"].at, found.places["out"].at, found.transitions["t"].at
    assert inner is not None
    assert outer is not None
    assert t is not None
    assert inner[0] < t[0] < outer[0]
    assert inner[1] == t[1] == outer[1]


def test_nodes_with_places_keep_them() -> None:
    net = placed(example_1())
    assert placed(net) is net or placed(net) == net
    moved = replace(net.pages[0], places=tuple(replace(p, at=(9.0, 9.0)) for p in net.pages[0].places))
    assert placed(replace(net, pages=(moved,))).pages[0] == moved


def test_large_pages_are_laid_out_in_a_moment() -> None:
    begin = time.perf_counter()
    assert len(draw(random_net(1, 150))) > 50_000
    assert time.perf_counter() - begin < 8
    for page in placed(random_net(1, 150)).pages:
        assert len({(x, y) for _, x, y, _, _ in boxes(page)}) == len(page.places) + len(page.transitions)


# -- drawings


def texts(svg: str) -> Counter[str]:
    return Counter(e.text or "" for e in ElementTree.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize("name", NETS)
def test_drawings_show_all_nodes_and_pages(name: str) -> None:
    net = NETS[name]
    svg = draw(net)
    shown = texts(svg)
    for words in (*net.places, *net.transitions, *(p.name for p in net.pages)):
        assert shown[words] >= 1
    root = ElementTree.fromstring(svg)
    assert len(list(root.iter(f"{SVG}ellipse"))) == len(net.places)
    fills = Counter(e.get("fill") for e in root.iter(f"{SVG}rect") if e.get("stroke") == "#000")
    black = sum(t.black is not None for t in net.transitions.values())
    assert fills == Counter({"#000": black, "#fff": len(net.transitions) - black}) - Counter()
    lines = sum(len(joined(page)) for page in placed(net).pages)
    assert sum(e.get("class") == "arc" for e in root.iter(f"{SVG}path")) == lines


@pytest.mark.parametrize("name", NETS)
def test_everything_is_within_the_picture(name: str) -> None:
    root = ElementTree.fromstring(draw(NETS[name]))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for e in root.iter():
        x, y = float(e.get("x", e.get("cx", 1))), float(e.get("y", e.get("cy", 1)))
        w, h = float(e.get("width", e.get("rx", 0))), float(e.get("height", e.get("ry", 0)))
        if e.tag in (f"{SVG}rect", f"{SVG}ellipse", f"{SVG}text"):
            assert 0 <= x <= x + w <= width + 1
            assert 0 <= y <= y + h <= height + 1


def test_what_a_drawing_says() -> None:
    shown = texts(draw(figure_3(NEXT)))
    assert shown.keys() >= {"Search", "t", "Init", "[Int.rem(m, 5) = 0]", "(n + 1, m + p)", "INT2", "1`(5, 15)"}
    assert texts(draw(to_priority_net(figure_3(NEXT)))).keys() >= {
        "P_MAX",
        "S_t",
        "t_next",
        "[Int.rem(m, 5) = 0, n >= r]",
    }
    assert texts(draw(example_1()))["20`()"] == 1
    fused = texts(draw(wild()))
    assert fused["fused: in!"] == 2


def test_heads_of_arcs() -> None:
    svg = draw(figure_3(NEXT))
    arcs = re.findall(r'<path class="arc".*?/>', svg)
    assert Counter(("marker-start" in a, "marker-end" in a) for a in arcs) == {
        (True, True): 3,  # Control, F and P
        (True, False): 2,  # to Init and End
        (False, True): 1,  # from Init
    }
    assert sum(" Q " in a for a in arcs) == 2


def test_the_tokens_of_a_marking() -> None:
    net = example_1()
    shown = texts(draw(net, run(net).marking))
    assert shown.keys() >= {"1`30", "1`23", "1`(1, 3)", "1`(3, 4)"}
    assert "20`()" not in shown
    page = Page("page", (Place("p", INT, (*range(100), 7)),))
    many = texts(draw(Net("n", (INT,), (), (page,))))
    assert many.keys() >= {"1`0", "1`3", ".. 97 more"}
    assert "1`4" not in many
    long = Page("page", (Place("p", String("S"), ("y" * 200,)),))
    assert max(map(len, texts(draw(Net("n", (String("S"),), (), (long,)))))) < 40
    assert texts(draw(net, Marking({"C": Counter({"no number": 1})})))["1`'no number'"] == 1


def test_any_text_is_safe() -> None:
    name = 'a<b>&"\x00\ud800é\n'
    page = Page(name, (Place(name, String("<S>"), ("</text>\x01",)),), (Transition("t", (IsNull(N),)),))
    root = ElementTree.fromstring(draw(Net(name, (String("<S>"),), (("n", INT),), (page,))).encode("utf-8"))
    shown = {e.text for e in root.iter(f"{SVG}text")}
    assert 'a<b>&" \N{REPLACEMENT CHARACTER}é ' in shown
    assert "<S>" in shown
    assert "[n is null]" in shown


def test_inscriptions_are_cut_between_their_parts() -> None:
    text = 'f("a, b, c, d, e, f, g, h, i, j", n)++1`(n, m) andalso x orelse y'
    lines = wrapped(text, 20)
    assert lines == ['f("a, b, c, d, e, f, g, h, i, j",', "n)++1`(n, m)", "andalso x orelse y"]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert wrapped("") == []


def test_lines_leave_nodes_at_their_borders() -> None:
    assert border((0, 0), (60, 40), (100, 0), True) == (30, 0)
    assert border((0, 0), (60, 40), (0, -100), False) == (0, -20)
    assert border((0, 0), (60, 40), (100, 100), False) == (20, 20)
    x, y = border((0, 0), (60, 40), (100, 100), True)
    assert (x / 30) ** 2 + (y / 20) ** 2 == pytest.approx(1)


@pytest.mark.parametrize("name", ["example_1", "black"])
def test_texts_keep_clear_of_nodes_and_each_other(name: str) -> None:
    found = []
    for e in ElementTree.fromstring(draw(NETS[name])).iter():
        if e.get("class") == "ground" or e.get("stroke") == "#000":
            x, y, w, h = (float(e.get(k, 0)) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + w, y + h))
    assert len(found) > 10
    for (x, y, x2, y2), (u, v, u2, v2) in combinations(found, 2):
        assert min(x2, u2) - max(x, u) <= 2.1 or min(y2, v2) - max(y, v) <= 0.1
