"""Where variables stand, and readings of a definition that are worth showing (phenesthe.md, section 3)."""

from __future__ import annotations

from collections import Counter

from occurs.errors import Span
from occurs.expr.tree import Ref
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.parser_ported import is_bare, operator_text
from occurs.languages.phenesthe.render import render
from occurs.languages.phenesthe.scope import occurrences
from occurs.languages.phenesthe.syntax import Relation
from occurs.languages.text import Text


def occurring(node: Relation) -> list[tuple[str, Span | None]]:
    """Every place of a variable in a formula."""
    found: list[tuple[str, Span | None]] = []
    for part in node.walk():
        if isinstance(part, syntax.Atom):
            found += [(a.value.name, a.value.span) for a in part.arguments if isinstance(a.value, syntax.Variable)]
        elif isinstance(part, syntax.Comparison):
            found += [(e.name, e.span) for e in part.condition.walk() if isinstance(e, Ref)]
    return found


def check_head(definition: syntax.Definition, source: Text) -> None:
    """Report variables of the head that the formula does not have: for definitions with other problems."""
    there = set(occurrences(definition.body))
    for argument in definition.head:
        value = argument.value
        if isinstance(value, syntax.Variable) and value.name not in there:
            message = f"`{value.name}` is not bound: no atom of the formula names it"
            source.report("unbound-variable", message, value.span, "name it in an atom")


def notices(definition: syntax.Definition, source: Text) -> None:
    """Readings worth showing: variables that occur once, relations in a row."""
    head = [(v.name, v.span) for a in definition.head if isinstance(v := a.value, syntax.Variable)]
    parts = [definition.body, *([definition.where] if definition.where is not None else [])]
    body = [at for part in parts for at in occurring(part)]
    times = Counter(name for name, _ in [*head, *body])
    compared = {e.name for p in parts for n in p.walk() if isinstance(n, syntax.Comparison)
                for e in n.condition.walk() if isinstance(e, Ref)}  # fmt: skip
    for name, span in body:
        if times[name] == 1 and not name.startswith("_") and name not in compared:
            hint = f"did you mean the constant '{name}'? Write `_` for a value that nothing else uses"
            source.report("singleton-variable", f"the variable `{name}` occurs once", span, hint, "notice")
    inner: set[int] = set()
    for outer in definition.body.walk() if not definition.ported else ():
        chained = isinstance(outer, syntax.Related) and isinstance(outer.left, syntax.Related)
        if not isinstance(outer, syntax.Related) or not chained or not is_bare(outer, outer.left):
            continue
        inner.add(id(outer.left))
        if id(outer) not in inner:
            signs = " and ".join(f"`{operator_text(n)}`" for n in (outer.left, outer))
            message = f"{signs} in a row are read as `{render(outer)}`"
            hint = "write the parentheses; Phenesthe groups such chains to the right"
            source.report("chained-relation", message, outer.span, hint, "notice")
