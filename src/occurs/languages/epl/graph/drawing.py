"""From an EPL text to drawings of its statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from occurs.errors import Problem
from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import is_name, title
from occurs.languages.epl.graph.canvas import (
    COMPLEX,
    SCHEDULE,
    TEXT,
    Canvas,
    Head,
    Link,
    Node,
    Tag,
    kind_of,
)
from occurs.languages.epl.graph.sources import Source
from occurs.languages.epl.parser import named, parse, pieces
from occurs.languages.epl.render.expressions import duration_text, expr_text, name_text
from occurs.languages.epl.timers import cron_text
from occurs.languages.kit.statements import Piece

StatementKind = Literal["pattern", "simple", "schema", "text"]


@dataclass(frozen=True)
class Drawn:
    """A statement of a text, ``[start, end)`` without its semicolon, and its drawing.

    ``canvas``: None for a schema.  ``tree``: None if it cannot be read; its canvas then is one ``Text`` node.
    ``nodes``: the patterns by the ids of their nodes.
    """

    id: str
    kind: StatementKind
    start: int
    end: int
    text: str
    canvas: Canvas | None
    tree: syntax.Statement | None = None
    nodes: Mapping[str, syntax.Pattern] = field(default_factory=dict)

    @property
    def query(self) -> syntax.Query | None:
        return self.tree if isinstance(self.tree, syntax.Query) else None


@dataclass(frozen=True)
class Drawing:
    """A text with the drawings of its statements, and the problems of its syntax."""

    source: Source
    statements: tuple[Drawn, ...]
    problems: tuple[Problem, ...]
    tree: syntax.File

    def statement(self, id: str) -> Drawn | None:
        """The statement of an id."""
        return next((s for s in self.statements if s.id == id), None)


def drawing_of(text: str, file: str | None = None) -> Drawing:
    """Draw all statements of a text.

    >>> [drawn] = drawing_of("select a.x as x from pattern [every a=A(x > 1) -> B]").statements
    >>> [(n.id, n.kind) for n in drawn.canvas.nodes]
    [('FollowedBy1', 'FollowedBy'), ('Every1', 'Every'), ('a', 'Event'), ('Event1', 'Event'), \
('ComplexEvent', 'ComplexEvent')]
    """
    tree, problems = parse(text, file)
    return drawing_of_tree(tree, problems)


def drawing_of_tree(tree: syntax.File, problems: Sequence[Problem] = ()) -> Drawing:
    """Draw all statements of a parsed text."""
    source = Source(tree.text)
    starts = {source.lines.offsets(s.span)[0]: s for s in tree.statements if s.span is not None}
    found = list(pieces(source.blank))
    ids = _statement_ids([(starts.get(p.start), p) for p in found])
    drawn = tuple(_drawn(source, p, starts.get(p.start), id) for p, id in zip(found, ids, strict=True))
    return Drawing(source, drawn, tuple(problems), tree)


def _statement_ids(found: Sequence[tuple[syntax.Statement | None, Piece]]) -> list[str]:
    """The ids of statements: queries choose before schemas, and these before what cannot be read."""
    wanted: list[str] = []
    queries = texts = 0
    for tree, piece in found:
        if isinstance(tree, syntax.Query):
            queries += 1
            wanted.append(title(tree) or (tree.into.text if tree.into is not None else f"stmt_{queries}"))
        elif tree is not None:
            wanted.append(tree.name.text)
        else:
            texts += 1
            wanted.append(named(piece.words) or f"{TEXT}{texts}")
    order = sorted(range(len(found)), key=lambda i: _rank(found[i][0]))
    unique = _unique([wanted[i] for i in order])
    return [id for _, id in sorted(zip(order, unique, strict=True))]


def _rank(tree: syntax.Statement | None) -> int:
    return 0 if isinstance(tree, syntax.Query) else 1 if tree is not None else 2


def _unique(wanted: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Ids as they are wanted; a second equal one gets ``_2``."""
    seen = Counter(taken)
    out: list[str] = []
    for id in wanted:
        made, number = id, 1
        while seen[made]:
            number += 1
            made = f"{id}_{number}"
        seen[made] += 1
        out.append(made)
    return out


def _drawn(source: Source, piece: Piece, tree: syntax.Statement | None, id: str) -> Drawn:
    start, end = piece.start, piece.start + len(piece.words)
    text = source.text[start:end]
    if tree is None or isinstance(tree, syntax.CreateVariable):
        canvas = Canvas(Head(), (Node(f"{TEXT}1", TEXT, {"text": text}),))
        return Drawn(id, "text", start, end, text, canvas, tree)
    if isinstance(tree, syntax.CreateSchema):
        return Drawn(id, "schema", start, end, text, None, tree)
    pen = _Pen(source, tree)
    kind: StatementKind = "simple" if tree.simple else "pattern"
    return Drawn(id, kind, start, end, text, pen.canvas(), tree, dict(zip(pen.ids, tree.pattern.walk(), strict=True)))


def node_ids(pattern: syntax.Pattern) -> list[str]:
    """The ids of the nodes of a pattern, outer before inner, left before right."""
    numbers: Counter[str] = Counter()
    wanted: list[str] = []
    for node in pattern.walk():
        kind = kind_of(node)
        if isinstance(node, syntax.Filter) and node.tag is not None:
            wanted.append(node.tag.text)
            continue
        numbers[kind] += 1
        wanted.append(f"{kind}{numbers[kind]}")
    return _unique(wanted, [COMPLEX])


class _Pen:
    """Draws one query."""

    def __init__(self, source: Source, query: syntax.Query) -> None:
        self.source, self.query = source, query
        self.ids = node_ids(query.pattern)
        self._left = iter(self.ids)
        self.nodes: list[Node] = []
        self.links: list[Link] = []

    def canvas(self) -> Canvas:
        top = self.draw(self.query.pattern)
        into = None if self.query.into is None else self.query.into.text
        self.nodes.append(Node(COMPLEX, COMPLEX, {"typeName": into, "columns": list(self.columns())}))
        self.links.append(Link(top, COMPLEX))
        return Canvas(self.head(into), tuple(self.nodes), tuple(self.links))

    def head(self, into: str | None) -> Head:
        query, found = self.query, head_annotations(self.query)
        where = None if query.where is None else self.text(query.where, query)
        return Head(
            title(query),
            None if found.description is None else str(found.description.value),
            tuple(tag_of(a) for a in found.tags),
            None if found.priority is None else int(found.priority.value or 0),
            into,
            where,
            query.suppress,
            query.discard,
        )

    def columns(self) -> Iterator[dict[str, str | None]]:
        for item in self.query.items:
            yield column_of(item, None if item.expr is None else self.text(item.expr, item))

    def draw(self, node: syntax.Pattern) -> str:
        """Add a pattern and what it is made of; returns its id."""
        id = next(self._left)
        place = len(self.nodes)
        self.nodes.append(Node(id, kind_of(node)))
        for order, child in enumerate(node.children, 1):
            self.links.append(Link(self.draw(child), id, order))
        self.nodes[place] = Node(id, self.nodes[place].kind, self.fields(node))
        return id

    def text(self, part: Any, unit: Any) -> str:
        """A part of the statement as it is written."""
        written = self.source.piece(part, unit)
        if written is not None:
            return written
        if isinstance(part, syntax.Cron):
            return cron_text(part)
        return expr_text(part) if not hasattr(part, "amount") else duration_text(part)

    def fields(self, node: syntax.Pattern) -> dict[str, Any]:
        match node:
            case syntax.Filter():
                tag = None if node.tag is None else node.tag.text
                conditions = [self.text(c, node) for c in node.conditions]
                return {"typeName": node.type.text, "tag": tag, "conditions": conditions,
                        "consume": _number(node.consume)}  # fmt: skip
            case syntax.EveryDistinct():
                expiry = None if node.expiry is None else self.text(node.expiry, node)
                return {"keys": [self.text(k, node) for k in node.keys], "expiry": expiry}
            case syntax.Followed():
                return {"limits": [_number(limit) for limit in node.limits]}
            case syntax.Repeat():
                return {"count": _number(node.count)}
            case syntax.Until():
                return {"low": _number(node.low), "high": _number(node.high)}
            case syntax.While():
                return {"condition": self.text(node.condition, node)}
            case syntax.Within():
                return {"duration": self.text(node.duration, node), "count": _number(node.count)}
            case syntax.Interval():
                return {"duration": self.text(node.duration, node)}
            case syntax.At() if kind_of(node) != TEXT:
                found = [self.text(f, node) for f in node.fields]
                return dict(zip(SCHEDULE, [*found, *[None] * (6 - len(found))], strict=True))
        return {} if kind_of(node) != TEXT else {"text": self.source.piece(node) or ""}


def _number(number: int | Expr | None) -> int | str | None:
    """A number; one that is computed, or that a parameter gives, is text."""
    return expr_text(number) if isinstance(number, Expr) else number


def column_of(item: syntax.Item, value: str | None) -> dict[str, str | None]:
    """A row of the complex event; ``value``: the text of its expression."""
    if item.all_of is not None:
        return {"name": None, "value": f"{name_text(item.all_of.text)}.*"}
    return {"name": None if item.name is None else item.name.text, "value": "*" if value is None else value}


# --- the annotations that the head of a canvas shows ------------------------------------------------------------------


@dataclass(frozen=True)
class HeadAnnotations:
    """The annotations that the head of a canvas shows; the last one of a name counts, as in the checks."""

    name: syntax.Annotation | None
    description: syntax.Annotation | None
    tags: tuple[syntax.Annotation, ...]
    priority: syntax.Annotation | None


def head_annotations(query: syntax.Query) -> HeadAnnotations:
    """Those of a query."""

    def last(word: str, kind: type) -> syntax.Annotation | None:
        found = [a for a in query.annotations if a.name.text.lower() == word and type(a.value) is kind]
        return found[-1] if found else None

    names = [a for a in query.annotations if is_name(a)]
    tags = tuple(a for a in query.annotations if a.name.text.lower() == "tag" and _tagged(a) is not None)
    return HeadAnnotations(names[-1] if names else None, last("description", str), tags, last("priority", int))


def _tagged(a: syntax.Annotation) -> Tag | None:
    given = dict(a.arguments)
    name, value = given.get("name"), given.get("value")
    plain = len(a.arguments) == len(given) == 2 and isinstance(name, str) and isinstance(value, str)
    return Tag(str(name), str(value)) if plain else None


def tag_of(a: syntax.Annotation) -> Tag:
    """The name and the value of a ``@Tag``."""
    found = _tagged(a)
    assert found is not None
    return found
