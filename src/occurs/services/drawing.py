"""EPL as a graph: what an editor that draws asks of a text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from occurs.checked_texts import Read
from occurs.errors import Problem, UsageProblem, did_you_mean
from occurs.languages.epl.graph import Edited as Result
from occurs.languages.epl.graph import domain, drawing_of, edited, faults
from occurs.languages.epl.graph.canvas import canvas_data, canvas_of
from occurs.languages.epl.graph.checking import Check, Checked, open_types
from occurs.languages.epl.graph.drawing import Drawing
from occurs.languages.epl.graph.reading import Fault
from occurs.languages.epl.model import dump, from_medit
from occurs.languages.epl.model.from_text import model_of
from occurs.languages.epl.model.to_text import text_of
from occurs.languages.kit.language import Known
from occurs.loading import language_of
from occurs.model.types import Schema
from occurs.services import answers
from occurs.services.answers import DomainChanged, Edit, Edited, Graph, Related, Statement
from occurs.services.checks import told

#: the path of a text that has none
PATH = "drawing.epl"


def graph(
    text: str, texts: Mapping[str, str] | None = None, path: str = PATH, inputs: Mapping[str, Schema] | None = None
) -> Graph:
    """Draw the statements of an EPL text.

    Args:
        text: The text.
        texts: The texts of the program around it by path; one of the path of the text itself does not count.
        path: The path of the text.
        inputs: The types of the events at hand.

    Returns:
        The statements with their drawings, and the problems of the text, each with the statement (``definition``) and
        the node that it is about.

    Examples:
        >>> from occurs.services import graph
        >>> [found] = graph("select a.x as x from pattern [every a=A(x > 1)]").statements
        >>> found.canvas["nodes"][1]
        {'id': 'a', 'kind': 'Event', 'fields': {'typeName': 'A', 'tag': 'a', 'conditions': ['x > 1'], 'consume': 0}, \
'x': None, 'y': None}
    """
    drawing = drawing_of(text, path)
    problems = [_told(Fault(p), _around(drawing, p), path) for p in drawing.problems]
    problems += [_told(fault, id, path) for id, fault in faults(drawing, _check(text, texts or {}, path, inputs))]
    return Graph(_statements(drawing), tuple(dict.fromkeys(problems)))


def draw(
    text: str,
    statement: str | None,
    canvas: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
    path: str = PATH,
    inputs: Mapping[str, Schema] | None = None,
) -> Edited:
    """Put a drawing in the place of a statement of an EPL text.

    Args:
        text: The text.
        statement: The id of the statement; None for a new one, which is put behind all.
        canvas: The drawing, as :func:`graph` gives it: ``{head, nodes, links}``.
        texts: The texts of the program around it by path.
        path: The path of the text.
        inputs: The types of the events at hand.

    Returns:
        The text in which only what was edited is different, and all drawings anew; with errors in the drawing, no text
        but the problems at their nodes.

    Raises:
        UsageProblem: If there is no such statement, or it is a schema.

    Examples:
        >>> from occurs.services import draw, graph
        >>> text = "select a.x as x from pattern [every a=A(x > 1)] // why"
        >>> canvas = graph(text).statements[0].canvas
        >>> canvas["nodes"][1]["fields"]["conditions"] = ["x > 2"]
        >>> draw(text, "stmt_1", canvas).edits
        (Edit(start=44, to=45, insert='2'),)
    """
    found = edited(text, statement, canvas_of(canvas), _check(text, texts or {}, path, inputs))
    return _answer(found, path)


def change_domain(
    text: str,
    change: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
    path: str = PATH,
    inputs: Mapping[str, Schema] | None = None,
) -> DomainChanged:
    """Change a type of events that an EPL text declares, with every use of it in the text.

    Args:
        text: The text.
        change: ``{op, type, attribute, name, to}``; ``op`` is ``add-type``, ``rename-type``, ``remove-type``,
            ``add-attribute``, ``rename-attribute``, ``retype-attribute`` or ``remove-attribute``; ``to`` is the new
            name, or the type of the attribute.
        texts: The texts of the program around it by path.
        path: The path of the text.
        inputs: The types of the events at hand.

    Returns:
        The text in which only names, columns and schemas that the change is about are different; what the change would
        make wrong as problems, and then no text.

    Examples:
        >>> from occurs.services import change_domain
        >>> text = "create schema A(n int); select n from A(n > 1);"
        >>> change_domain(text, {"op": "rename-attribute", "type": "A", "attribute": "n", "to": "size"}).text
        'create schema A(size int); select size as n from A(size > 1);'
    """
    found = domain.changed(text, domain.Change(**change), _check(text, texts or {}, path, inputs), path)
    edits = tuple(Edit(e.start, e.end, e.insert) for e in found.edits)
    return DomainChanged(found.text, edits, tuple(told(found.problems)))


def model(text: str, statement: str, path: str = PATH) -> dict[str, Any]:
    """A statement of an EPL text, with the schemas of the text, as the graphical model of a ``.pattern.json`` file.

    Args:
        text: The text.
        statement: The id of the statement, as :func:`graph` gives it.
        path: The path of the text.

    Returns:
        The model as plain data.

    Raises:
        UsageProblem: If there is no such statement.
        SyntaxProblem: If the text is not EPL.
        DefinitionProblem: If a model cannot express the statement.
    """
    found = drawing_of(text, path)
    drawn = found.statement(statement)
    if drawn is None or drawn.query is None:
        hint = did_you_mean(statement, [s.id for s in found.statements if s.query is not None], "patterns")
        raise UsageProblem.of("unknown-name", f"the text has no pattern `{statement}`", hint=hint)
    others = [s for s in found.statements if s.query is not None and s is not drawn]
    alone = "".join(
        re.sub(r"[^\n]", " ", c) if any(s.start <= i < s.end for s in others) else c for i, c in enumerate(text)
    )
    data: dict[str, Any] = json.loads(dump(model_of(alone, path, statement)))
    return data


def model_text(model: Mapping[str, Any], path: str | None = None) -> str:
    """The EPL text of a graphical model.

    Args:
        model: The content of a ``.pattern.json`` file as plain data.
        path: The path of the file, for messages.

    Returns:
        The schemas of its types and its statement, in canonical form.

    Raises:
        SyntaxProblem: If this is not a model.
        DefinitionProblem: If the model has errors.
    """
    return text_of(json.dumps(model), path)


def medit_text(xml: str, path: str | None = None) -> str:
    """The EPL text of a file of MEdit4CEP.

    Args:
        xml: The content of a ``.pattern`` or ``.domain`` file.
        path: The path of the file, for messages.

    Returns:
        The statement of a pattern, or the schemas of a domain, in canonical form.

    Raises:
        SyntaxProblem: If this is not such a file.
        DefinitionProblem: If the pattern or the domain has errors.
    """
    return from_medit.text_of(xml, path)


def _answer(found: Result, path: str) -> Edited:
    return Edited(
        found.text,
        tuple(Edit(e.start, e.end, e.insert) for e in found.edits),
        found.statement,
        _statements(found.drawing),
        dict(found.renamed),
        tuple(_told(fault, found.statement, path) for fault in found.faults),
    )


def _statements(drawing: Drawing) -> tuple[Statement, ...]:
    lines = drawing.source.lines
    return tuple(
        Statement(s.id, s.kind, lines.span(s.start, s.end), s.text, None if s.canvas is None else canvas_data(s.canvas))
        for s in drawing.statements
    )


def _around(drawing: Drawing, problem: Problem) -> str | None:
    """The id of the statement that a problem stands in, or behind."""
    if problem.span is None:
        return None
    start = drawing.source.lines.offsets(problem.span)[0]
    return next((s.id for s in reversed(drawing.statements) if s.start <= start), None)


def _told(fault: Fault, statement: str | None, path: str) -> answers.Problem:
    p = fault.problem
    related = tuple(Related(r.message, r.file, r.span) for r in p.related)
    return answers.Problem(
        p.kind, p.severity, p.message, p.hint, path, p.span, related, fault.node, p.row, statement
    )  # fmt: skip


def _check(text: str, texts: Mapping[str, str], path: str, inputs: Mapping[str, Schema] | None) -> Check:
    """A check of the text as part of its program."""
    opened = open_types(drawing_of(text, path))

    def check(new: str) -> Checked:
        given = [(t, p, language_of(p)) for p, t in sorted({**texts, path: new}.items())]
        read = Read.of(given)
        bound = read.check(Known(inputs={**opened, **(inputs or {})}))
        number = [p for _, p, name in given if name == "epl"].index(path)
        problems = [*read.texts["epl"].problems, *bound.parts["epl"].problems]
        tree = read.texts["epl"].files[number]
        return Checked(tree, _mine(problems, path), bound.parts["epl"].analysis.queries)

    return check


def _mine(problems: Sequence[Problem], path: str) -> list[Problem]:
    """The problems of a file; two definitions of a name are a problem of both."""
    out = [p for p in problems if p.file == path]
    for p in problems:
        related = next((r for r in p.related if r.file == path), None)
        if p.file != path and p.kind == "duplicate-definition" and related is not None:
            out.append(replace(p, file=path, span=related.span, related=()))
    return out
