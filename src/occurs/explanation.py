"""How a program shows itself: its plan as text, data and HTML, and the summary that a notebook shows of it."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, Self

from occurs.checked_program import CheckedProgram
from occurs.errors import DefinitionProblem
from occurs.languages.kit.language import folder, names
from occurs.model.types import Schema, Type
from occurs.notebook.html import counted, heading, problems, table, view
from occurs.plan.describe import describe
from occurs.plan.explain import partitioning, printed
from occurs.plan.stage import Stage


class Explanation(str):
    """A plan as text, which shows itself with its lines at a prompt and in a notebook.

    Attributes:
        data: The same plan as plain data (dicts, lists, text and numbers), which can be written as JSON.
    """

    data: Mapping[str, Any]

    @classmethod
    def of(cls, stage: Stage) -> Self:
        """The plan of a stage."""
        data = describe(stage)
        return cls(printed(data), data)

    def __new__(cls, text: str, data: Mapping[str, Any]) -> Self:
        made = super().__new__(cls, text)
        made.data = data
        return made

    def __getnewargs__(self) -> tuple[str, Mapping[str, Any]]:  # type: ignore[override]
        return str(self), self.data

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return str.__str__(self)

    def _repr_html_(self) -> str:
        """A heading for every question, and its lines below."""
        body = []
        for part in self.split("\n\n"):
            head, *lines = part.split("\n")
            items = "".join(f"<li>{html.escape(line.strip())}</li>" for line in lines)
            body.append(f"{heading(head.rstrip(':'))}<ul>{items}</ul>")
        return view(body)


def summary(given: CheckedProgram) -> str:
    """The definitions of a program with what they read, its inputs, how Spark can split it, and its warnings."""
    try:
        stage = given.plan_without_data()
    except DefinitionProblem as error:  # more has to be known of the input
        body = [_definitions(given, {}), *problems([*given.problems, *error.problems])]
        return view(body)
    attributes = {t: _attributes(schema) for t, schema in stage.schemas.items()}
    inputs = [(t, attributes.get(t, "")) for t in sorted(given.external)]
    ways = [partitioning(group, stage.kind) for group in describe(stage)["spark"]]
    body = [
        _definitions(given, attributes),
        heading("Inputs"),
        table(["type", "attributes"], inputs),
        heading("On Spark"),
        f"<ul>{''.join(f'<li>{html.escape(text)}</li>' for text in ways)}</ul>",
        *problems(given.problems),
    ]
    return view(body)


def _attributes(schema: Schema) -> str:
    """The attributes of a type, with their types where these are known."""
    return ", ".join(n if kind is Type.NULL else f"{n}: {kind}" for n, kind in schema)


def _definitions(given: CheckedProgram, attributes: dict[str, str]) -> str:
    rows = [
        (node.defines, attributes.get(node.defines, ""), _language(language), ", ".join(sorted(node.now | node.back)))
        for language, node in given.outline
    ]
    return heading(counted(len(rows), "definition")) + table(["defines", "attributes", "language", "reads"], rows)


def _language(name: str) -> str:
    """What users call a language; one folder may have several."""
    return "/".join(n for n in names() if folder(n) == name) or name
