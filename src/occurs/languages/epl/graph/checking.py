"""The checks of EPL for drawings: each problem of a text at the node, and the row of it, whose text it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from occurs.errors import Problem, Span
from occurs.expr.text import Text
from occurs.expr.tree import Literal
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import ResolvedQuery
from occurs.languages.epl.graph.canvas import COMPLEX
from occurs.languages.epl.graph.drawing import Drawing, Drawn
from occurs.languages.epl.graph.reading import MISSING, Fault, Reading
from occurs.languages.epl.nets.analysis import refusals
from occurs.languages.epl.render import clauses
from occurs.model.types import Schema, Type

#: patterns that do not hang together are checked one by one up to so many of them
_APART = 12


@dataclass(frozen=True)
class Checked:
    """A text of EPL that was checked with the program around it: its problems, and its queries if they are resolved."""

    tree: syntax.File
    problems: Sequence[Problem]
    queries: Sequence[ResolvedQuery]


#: checks a new text of the file
Check = Callable[[str], Checked]


def open_types(drawing: Drawing) -> dict[str, Schema]:
    """Types that a drawing may read though nobody declares them: those that the text reads already."""
    made = {s.name.text for s in drawing.tree.statements if isinstance(s, syntax.CreateSchema)}
    queries = [s for s in drawing.tree.statements if isinstance(s, syntax.Query)]
    read = {f.type.text for q in queries for f in q.pattern.walk() if isinstance(f, syntax.Filter)}
    return {name: Schema(rest=True) for name in sorted({MISSING, *read} - made)}


@dataclass(frozen=True)
class _Place:
    start: int
    end: int
    node: str | None
    row: int | None = None


class Places:
    """Where the nodes of a query, and their rows, stand in a text."""

    def __init__(
        self,
        source: Text,
        query: syntax.Query,
        ids: Sequence[str | None],
        rows: Mapping[int, Sequence[int]] | None = None,
        columns: Sequence[int] | None = None,
    ) -> None:
        """``ids``: of the nodes of the pattern from the top; ``rows``: by the number of such a node those that its
        conditions or keys have; ``columns``: those of the columns."""
        self.source = source
        self.places: list[_Place] = []
        self._add(query.span, None)
        for i, (node, id) in enumerate(zip(query.pattern.walk(), ids, strict=True)):
            self._add(node.span, id)
            parts = {syntax.Filter: "conditions", syntax.EveryDistinct: "keys"}.get(type(node))
            texts = () if parts is None else getattr(node, parts)
            numbers = range(1, len(texts) + 1) if rows is None else rows.get(i, ())
            for text, number in zip(texts, numbers, strict=True):
                self._add(getattr(text, "span", None), id, number)
        for item, number in zip(query.items, columns or range(1, len(query.items) + 1), strict=False):
            self._add(item.span, COMPLEX, number)
        self._add(None if query.into is None else query.into.span, COMPLEX)

    def _add(self, span: Span | None, node: str | None, row: int | None = None) -> None:
        if span is not None:
            self.places.append(_Place(*self.source.offsets(span), node, row))

    def place(self, span: Span | None) -> _Place | None:
        """The innermost place around a span; None if it is not in the query."""
        if span is None:
            return None
        start, end = self.source.offsets(span)
        around = [p for p in self.places if p.start <= start and max(end, start) <= p.end]
        return min(around, key=lambda p: p.end - p.start, default=None)

    def faults(self, problems: Iterable[Problem]) -> Iterator[Fault]:
        """The problems that are about the query, each at its node."""
        for p in problems:
            found = self.place(p.span)
            if found is None and p.kind == "duplicate-definition":
                mine = next((r for r in p.related if self.place(r.span) is not None), None)
                found = None if mine is None else self.place(mine.span)
                if mine is not None:
                    p = replace(p, span=mine.span, related=())
            if found is not None:
                yield Fault(replace(p, row=found.row), found.node)


def faults_of(checked: Checked, query: syntax.Query, ids: Sequence[str]) -> list[Fault]:
    """All that is to be said of a query of a checked text; ``ids``: of the nodes of its pattern from the top."""
    source = Text(checked.tree.text, checked.tree.file)
    places = Places(source, query, ids)
    out = list(places.faults(checked.problems))
    resolved = next((q for q in checked.queries if q.query is query), None)
    if resolved is not None and not any(f.error for f in out):
        found = [replace(p, severity="notice") for p in refusals(resolved, source, True)]
        out += places.faults(found)
    return out


def draft_faults(reading: Reading, drawing: Drawing, old: Drawn | None, check: Check) -> list[Fault]:
    """What the checks say of the parts of a drawing that is not complete."""
    assert reading.query is not None
    roots = reading.roots
    pattern = reading.query.pattern
    if len(roots) > 1:
        pattern = syntax.Followed(tuple(roots), (None,) * (len(roots) - 1))
    items = reading.query.items or (syntax.Item(Literal(1, Type.INT), syntax.Name(MISSING)),)
    whole = replace(reading.query, pattern=pattern, items=items, simple=False)
    apart = len(roots) if 1 < len(roots) <= _APART else 0
    parts = [_part(roots, i) for i in range(apart)]
    text, place = _put(drawing, old, [whole, *parts])
    checked = check(text)
    source = Text(text, checked.tree.file)
    found = {source.offsets(s.span)[0]: s for s in checked.tree.statements if s.span is not None}
    out: list[Fault] = []
    for i, start in enumerate(place):
        parsed, built = found.get(start), [whole, *parts][i]
        if not isinstance(parsed, syntax.Query):
            continue
        nodes = list(built.pattern.walk())
        ids = [reading.ids.get(id(n)) for n in nodes]
        rows = {n: reading.rows.get(id(node), ()) for n, node in enumerate(nodes)}
        places = Places(source, parsed, ids, rows, reading.columns if i == 0 else ())
        mine = None if i == 0 else {reading.ids.get(id(n)) for n in roots[i - 1].walk()}
        for fault in places.faults(checked.problems):
            if not fault.error or _of_missing(fault, roots, reading):
                continue
            if (i == 0 and (apart == 0 or fault.node in (None, COMPLEX))) or (
                mine is not None and fault.node is not None and fault.node in mine
            ):
                out.append(fault)
    return [
        Fault(replace(f.problem, span=None, source=None, file=None), f.node) for f in out if not _at_missing(f, reading)
    ]


def _part(roots: Sequence[syntax.Pattern], number: int) -> syntax.Query:
    """A pattern that hangs together behind all others, whose tags it may use."""
    others = [r for i, r in enumerate(roots) if i != number]
    steps = (*others, roots[number])
    item = syntax.Item(Literal(1, Type.INT), syntax.Name(MISSING))
    return syntax.Query((item,), syntax.Followed(steps, (None,) * len(others)), syntax.Name(f"{MISSING}{number}"))


def _of_missing(fault: Fault, roots: Sequence[syntax.Pattern], reading: Reading) -> bool:
    """Whether a problem only says that something is not linked yet."""
    if fault.problem.kind != "never-completes":
        return False
    return any(reading.ids.get(id(r)) == fault.node for r in roots)


def _at_missing(fault: Fault, reading: Reading) -> bool:
    return fault.node is None and MISSING in fault.problem.message


def _put(drawing: Drawing, old: Drawn | None, queries: Sequence[syntax.Query]) -> tuple[str, list[int]]:
    """The text with the first query in the place of an old statement, and the others behind it; where they begin."""
    text = drawing.source.text
    place: list[int] = []
    if old is not None:
        first = " ".join(clauses(queries[0]))
        text = text[: old.start] + first + text[old.end :]
        place.append(old.start)
        queries = queries[1:]
    text += "\n;\n"
    for query in queries:
        place.append(len(text))
        text += " ".join(clauses(query)) + ";\n"
    return text, place
