"""EPL as a graph: drawings of statements, and what an edit of a drawing does to the text.

The drawing is a view of the text: an edit changes the characters of what was edited, and no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from occurs.errors import Problem, UsageProblem, did_you_mean
from occurs.languages.epl import syntax
from occurs.languages.epl.graph.canvas import COMPLEX, TEXT, Canvas
from occurs.languages.epl.graph.checking import Check, draft_faults, faults_of
from occurs.languages.epl.graph.drawing import Drawing, Drawn, drawing_of, drawing_of_tree, node_ids
from occurs.languages.epl.graph.reading import Fault, Reading, reading_of
from occurs.languages.epl.graph.splicing import Edit, appended, applied, trimmed
from occurs.languages.epl.graph.writing import Change, Unplaced, changed_text
from occurs.languages.epl.parser import parse
from occurs.languages.epl.render import clauses

__all__ = ["Edit", "Edited", "Written", "applied", "drawing_of", "edited", "faults", "written"]


@dataclass(frozen=True)
class Written:
    """A text after an edit of a drawing, and its tree.  ``number``: of the statement among those of the tree."""

    text: str
    edits: tuple[Edit, ...]
    tree: syntax.File
    number: int

    @property
    def query(self) -> syntax.Query:
        found = self.tree.statements[self.number]
        assert isinstance(found, syntax.Query)
        return found


@dataclass(frozen=True)
class Edited:
    """What an edit of a drawing leads to.

    ``text``: None if the drawing has errors; then nothing changes.  ``statement``: the id of the statement, and
    ``drawing`` the drawings of all, after the edit.  ``renamed``: ids of nodes that have other ones now.
    """

    text: str | None
    edits: tuple[Edit, ...]
    statement: str | None
    drawing: Drawing
    renamed: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


def edited(text: str, statement: str | None, canvas: Canvas, check: Check) -> Edited:
    """The text with a statement as it is drawn; ``statement``: its id, None for a new one.

    Raises UsageProblem if there is no such statement, or it is a schema.
    """
    drawing = drawing_of(text)
    old = _statement(drawing, statement)
    if len(canvas.nodes) == 1 and canvas.nodes[0].kind == TEXT and not canvas.links:
        return _as_text(drawing, old, str(canvas.nodes[0].fields.get("text", "")), canvas.nodes[0].id)
    reading = reading_of(canvas, old)
    if reading.wrong:
        found = _sorted([*reading.faults, *_as_sent(reading, draft_faults(reading, drawing, old, check))])
        return Edited(None, (), statement, drawing, {}, found)
    done = written(drawing, old, reading)
    if done is None:
        message = "this drawing cannot be written as a text that means the same"
        return Edited(None, (), statement, drawing, {}, (Fault(Problem("unsupported", message)),))
    checked = check(done.text)
    query = checked.tree.statements[done.number]
    assert isinstance(query, syntax.Query)
    assert reading.query is not None
    before = [reading.ids[id(node)] for node in reading.query.pattern.walk()]
    found = _sorted([*reading.faults, *_as_sent(reading, faults_of(checked, query, before))])
    if any(f.error for f in found):
        return Edited(None, (), statement, drawing, {}, found)
    after = drawing_of_tree(checked.tree)
    mine = next(s for s in after.statements if s.tree is query)
    ids = node_ids(query.pattern)
    pairs = [(reading.derived, COMPLEX), *zip(before, ids, strict=True)]
    renamed = {a: b for a, b in reversed(pairs) if a != b}
    return Edited(done.text, done.edits, mine.id, after, renamed, _sorted(faults_of(checked, query, ids)))


def faults(drawing: Drawing, check: Check) -> Iterator[tuple[str, Fault]]:
    """The problems of all statements of a text as it is: the id of the statement, and what is wrong at its nodes."""
    checked = check(drawing.source.text)
    for now, before in zip(checked.tree.statements, drawing.tree.statements, strict=True):
        if isinstance(now, syntax.Query):
            name = next(s.id for s in drawing.statements if s.tree is before)
            yield from ((name, fault) for fault in faults_of(checked, now, node_ids(now.pattern)))


def _statement(drawing: Drawing, id: str | None) -> Drawn | None:
    if id is None:
        return None
    old = drawing.statement(id)
    if old is None:
        hint = did_you_mean(id, [s.id for s in drawing.statements], "statements")
        raise UsageProblem.of("unknown-name", f"the text has no statement `{id}`", hint=hint)
    if old.kind == "schema":
        raise UsageProblem.of("unsupported", f"`{id}` is a schema, which has no drawing", hint="edit it as a domain")
    return old


def _as_sent(reading: Reading, found: Sequence[Fault]) -> list[Fault]:
    """Problems with the id that the complex event has in the drawing that was read."""
    return [replace(f, node=reading.derived) if f.node == COMPLEX else f for f in found]


def _sorted(found: Sequence[Fault]) -> tuple[Fault, ...]:
    order = {"error": 0, "warning": 1, "notice": 2}
    return tuple(sorted(dict.fromkeys(found), key=lambda f: order[f.problem.severity]))


def _as_text(drawing: Drawing, old: Drawn | None, text: str, node: str) -> Edited:
    """A statement that is drawn as text takes the place of the old one."""
    written_text, edits = _spliced(drawing, old, text.strip().removesuffix(";").rstrip())
    tree, problems = parse(written_text)
    start = edits[-1].start if edits else 0
    id = None if old is None else old.id
    before = len(drawing.problems)
    if len(problems) > max(before - 1, 0) or len(tree.statements) <= len(drawing.tree.statements) - (old is None):
        found = tuple(Fault(p, node) for p in problems) or (Fault(Problem("syntax", "a statement is missing"), node),)
        return Edited(None, (), id, drawing, {}, found)
    after = drawing_of_tree(tree)
    mine = next((s for s in after.statements if s.end > start), after.statements[-1])
    return Edited(written_text, edits, mine.id, after)


# --- writing ----------------------------------------------------------------------------------------------------------


def written(drawing: Drawing, old: Drawn | None, reading: Reading) -> Written | None:
    """The text with a query in the place of an old statement, or behind all; None if none means the same.

    What did not change keeps its text.  If that cannot be read as the same, only operands, conditions and columns do;
    a new statement is canonical.
    """
    query = reading.query
    assert query is not None
    statements = list(drawing.tree.statements)
    if old is None:
        number = len(statements)
        statements.append(query)
    elif old.tree is None:
        number = sum(s.tree is not None and s.start < old.start for s in drawing.statements)
        statements.insert(number, query)
    else:
        number = next(i for i, s in enumerate(statements) if s is old.tree)
        statements[number] = query
    for body in _bodies(drawing, old, reading):
        text, edits = _spliced(drawing, old, body)
        tree, _ = parse(text, drawing.tree.file)
        if tree.statements == tuple(statements):
            return Written(text, edits, tree, number)
    return None


def _bodies(drawing: Drawing, old: Drawn | None, reading: Reading) -> Iterator[str]:
    query = reading.query
    assert query is not None
    if old is not None and old.query is not None:
        base = {id(query): old.query}
        for kept in (reading.base, base):
            change = Change(query, old.query, kept, reading.typed)
            try:
                yield changed_text(drawing.source, old.start, old.end, change)
            except Unplaced:
                continue
    ends = "\r\n" if drawing.source.crlf else "\n"
    yield ends.join(clauses(query))


def _spliced(drawing: Drawing, old: Drawn | None, body: str) -> tuple[str, tuple[Edit, ...]]:
    """The text with ``body`` in the place of an old statement, or behind all, and the edits that make it."""
    text = drawing.source.text
    last = drawing.statements[-1].end if drawing.statements else None
    edits = appended(drawing.source, last, body) if old is None else trimmed(text, Edit(old.start, old.end, body))
    return applied(text, edits), edits
