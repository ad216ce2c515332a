"""The statements of Phenesthe's own files (`:=`): how they may be read (phenesthe.md, section 2)."""

from __future__ import annotations

from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.syntax import Relation
from occurs.languages.text import Text

_SETS = (syntax.Union, syntax.Intersection, syntax.Complement)
_WORDS: dict[type[Relation], str] = {syntax.Union: "⊔", syntax.Intersection: "⊓", syntax.Complement: "\\"}


def is_bare(outer: Relation, inner: Relation) -> bool:
    """Whether ``inner``, an operand of ``outer`` with an operator between two operands, stands without parentheses."""
    a, b = getattr(outer, "span", None), getattr(inner, "span", None)
    if a is None or b is None:
        return False
    begins = (a.line, a.column) == (b.line, b.column)
    return begins or (a.end_line, a.end_column) == (b.end_line, b.end_column)


def operator_text(node: Relation) -> str:
    """The operator of a set operator or a relation, as it is named to the user."""
    return node.rel if isinstance(node, syntax.Related) else _WORDS[type(node)]


def check_chains(body: Relation, source: Text) -> None:
    """Report two set operators, or two relations, in a row: Phenesthe groups them otherwise than we do."""
    for outer in body.walk():
        for inner in outer.parts:
            sets = isinstance(outer, _SETS) and isinstance(inner, _SETS)
            relations = isinstance(outer, syntax.Related) and isinstance(inner, syntax.Related)
            if (sets or relations) and is_bare(outer, inner):
                message = f"`{operator_text(inner)}` and `{operator_text(outer)}` in a row need parentheses"
                hint = "write the parentheses: Phenesthe groups such chains to the right, Occurs to the left"
                source.report("ambiguous-chain", message, getattr(outer, "span", None), hint)
