"""The laws of drawings, on random edits of all EPL texts of the repository."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from epl_graph_edits import commented, epl_texts, random_edit
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amount import amount

from occurs.languages.epl import graph, syntax
from occurs.languages.epl.graph import applied, drawing_of, written
from occurs.languages.epl.graph.canvas import Canvas, Link, canvas_data, canvas_of
from occurs.languages.epl.graph.drawing import Drawing, Drawn, node_ids
from occurs.languages.epl.graph.reading import Reading, reading_of
from occurs.languages.epl.graph.sources import comments_of, kids_of
from occurs.languages.kit.statements import parsed


def queries(drawing: Drawing) -> list[Drawn]:
    return [s for s in drawing.statements if s.query is not None]


def ends_changed(text: str, rng: random.Random) -> str:
    return text.replace("\n", "\r\n") if rng.random() < 0.2 else text


# -- looking changes nothing, everything is drawn ----------------------------------------------------------------------
def test_every_statement_is_drawn_and_looking_changes_nothing():
    drawn = 0
    for text in epl_texts():
        for source in (text, commented(text, random.Random(1)), text.replace("\n", "\r\n")):
            drawing = drawing_of(source)
            for s in drawing.statements:
                if s.query is None:
                    assert s.kind == ("text" if isinstance(s.tree, syntax.CreateVariable) else "schema")
                    continue
                drawn += 1
                assert s.canvas is not None
                assert canvas_of(canvas_data(s.canvas)) == s.canvas
                assert len(s.canvas.nodes) == 1 + sum(1 for _ in s.query.pattern.walk())
                assert len({n.id for n in s.canvas.nodes}) == len(s.canvas.nodes)
                reading = reading_of(s.canvas, s)
                assert not reading.faults
                found = written(drawing, s, reading)
                assert found is not None
                assert (found.text, found.edits) == (source, ())
    assert drawn > 1000


@pytest.mark.parametrize(
    "text", ["", " ", "// only this", ";;", "select", "bad bad; select 1 as c from A", "\ufeffselect 1 as c from A"]
)
def test_texts_with_little_in_them_are_drawn(text):
    drawing = drawing_of(text)
    assert [s.text for s in drawing.statements] == [text[s.start : s.end] for s in drawing.statements]


# -- edits -------------------------------------------------------------------------------------------------------------
def edit(seed: int) -> bool:
    """One random edit that keeps all laws; False if it leads to a drawing that cannot be a statement."""
    rng = random.Random(seed)
    text = rng.choice(epl_texts())
    if rng.random() < 0.8:
        text = commented(text, rng)
    drawing = drawing_of(ends_changed(text, rng))
    found = queries(drawing)
    if not found:
        return False
    return keeps_the_laws(drawing, rng.choice(found), rng)


def keeps_the_laws(drawing: Drawing, old: Drawn, rng: random.Random) -> bool:
    assert old.canvas is not None
    canvas = random_edit(old.canvas, rng, rng.choice([1, 1, 1, 2, 3]))
    reading = reading_of(canvas, old)
    if reading.wrong:
        return False
    done = written(drawing, old, reading)
    assert done is not None, (old.text, canvas)
    # local
    before = drawing.source.text
    assert applied(before, done.edits) == done.text
    assert all(old.start <= e.start and e.end <= old.end for e in done.edits)
    # meaning
    assert done.query == reading.query
    assert len(done.tree.statements) == len(drawing.tree.statements)
    # verbatim
    lost = Counter(comments(drawing, before)) - Counter(comments(drawing_of(done.text), done.text))
    assert not lost - Counter(may_go(drawing, old, reading)), (lost, before, done.text)
    kept = {id(p) for p in walk(reading.query)}
    for part, start, end in places(drawing, old):
        if id(part) in kept:
            assert before[start:end] in done.text, (before, done.text)
    # inverse
    after = drawing_of(done.text)
    mine = [s for s in after.statements if s.tree == done.query]
    assert any(shape(s.canvas) == shape(renamed(canvas, reading)) for s in mine if s.canvas is not None)
    # the line ends are those of the text
    if "\r\n" in before and before.count("\r\n") == before.count("\n"):
        assert done.text.count("\r\n") == done.text.count("\n")
    return True


def walk(unit: Any) -> Iterator[Any]:
    yield unit
    for kid in kids_of(unit):
        yield from walk(kid)


def places(drawing: Drawing, old: Drawn) -> Iterator[tuple[Any, int, int]]:
    """The parts of a statement and where they stand, the statement first."""

    def inside(unit: Any, start: int, end: int) -> Iterator[tuple[Any, int, int]]:
        yield unit, start, end
        for kid in kids_of(unit):
            place = drawing.source.range_of(kid, unit, start, end)
            assert place is not None
            yield from inside(kid, *place)

    yield from inside(old.query, old.start, old.end)


def comments(drawing: Drawing, text: str) -> list[str]:
    return comments_of(drawing.source.blank, text, 0, len(text))


def may_go(drawing: Drawing, old: Drawn, reading: Reading) -> Iterator[str]:
    """The comments that stand inside a part that is gone and in no part that is not, or directly before one."""
    blank, text = drawing.source.blank, drawing.source.text
    stays = {id(p) for p in walk(reading.query)} | {id(p) for p in reading.base.values()}
    found = list(places(drawing, old))
    for at in range(old.start, old.end):
        if blank[at] == text[at] or (at > old.start and blank[at - 1] != text[at - 1]):
            continue
        [comment, *_] = comments_of(blank, text, at, old.end)
        around = min((p for p in reversed(found) if p[1] <= at < p[2]), key=lambda p: p[2] - p[1])
        behind = [p for p in found if p[1] > at and not blank[at : p[1]].strip(" \t\r\n(")]
        if id(around[0]) not in stays or any(id(p[0]) not in stays for p in behind):
            yield comment


def renamed(canvas: Canvas, reading: Reading) -> Canvas:
    """The canvas with the ids that follow from its text."""
    assert reading.query is not None
    names = zip(reading.query.pattern.walk(), node_ids(reading.query.pattern), strict=True)
    ids = {reading.ids[id(node)]: name for node, name in names}
    nodes = tuple(replace(n, id=ids.get(n.id, n.id)) for n in canvas.nodes)
    links = tuple(Link(ids.get(k.source, k.source), ids.get(k.target, k.target), k.order) for k in canvas.links)
    return Canvas(canvas.head, nodes, links)


def shape(canvas: Canvas) -> tuple[Any, ...]:
    """All that a canvas says, in an order that does not matter."""
    nodes = {
        n.id: (n.kind, fields(n.kind, dict(n.fields), sum(k.target == n.id for k in canvas.links)))
        for n in canvas.nodes
    }
    derived = nodes["ComplexEvent"][1]["typeName"]
    return replace(canvas.head, into=derived), nodes, frozenset(canvas.links)


def fields(kind: str, found: dict[str, Any], operands: int) -> dict[str, Any]:
    found = {
        n: [squeezed(v) for v in value] if isinstance(value, list) else squeezed(value) for n, value in found.items()
    }
    if kind == "FollowedBy":
        limits = found["limits"]
        found["limits"] = [*limits, *[None] * operands][: operands - 1]
    return found


def squeezed(value: Any) -> Any:
    return value.replace("a.x  < 3", "a.x < 3") if isinstance(value, str) else value


@settings(max_examples=amount(15, 60), deadline=None)
@given(st.integers(0, 2**32))
def test_an_edit_changes_what_was_edited_and_nothing_else(seed):
    parsed.most = max(parsed.most, 3000)
    for n in range(25):
        edit(seed + n)


@pytest.mark.long
@pytest.mark.parametrize("share", range(8))
def test_a_thousand_edits_of_every_statement(share):
    parsed.most = max(parsed.most, 3000)
    done = asked = 0
    for number, text in list(enumerate(epl_texts()))[share::8]:
        for i, _ in enumerate(queries(drawing_of(text))):
            rng = random.Random(1000 * number + i)
            for _ in range(1000):
                drawing = drawing_of(commented(text, rng, 0.1) if rng.random() < 0.5 else text)
                done += keeps_the_laws(drawing, queries(drawing)[i], rng)
                asked += 1
    assert done > 0.9 * asked > 0


def test_almost_all_random_edits_make_statements():
    number = amount(40, 200)
    assert sum(edit(seed) for seed in range(number)) > 0.9 * number


def test_the_old_text_is_spliced_and_not_printed_anew(monkeypatch):
    """The first way to write an edit is enough."""
    tried = Counter[int]()
    bodies = graph._bodies

    def counted(*given_to: Any) -> Iterator[str]:
        for number, body in enumerate(bodies(*given_to)):
            tried[number] += 1
            yield body

    monkeypatch.setattr(graph, "_bodies", counted)
    for seed in range(amount(100, 500)):
        edit(seed)
    assert sum(tried[n] for n in (1, 2)) <= 1
