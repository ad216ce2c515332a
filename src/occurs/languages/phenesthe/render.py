"""Phenesthe trees as canonical text: what is parsed from it is the same tree (phenesthe.md, section 2).

Set operators, and relations, in a row are always written with parentheses: not every reader groups them alike.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from occurs.expr.render import duration_text, number_text, string_text, timestamp_text
from occurs.expr.render import render as render_expr
from occurs.expr.tree import Expr, In, Literal, Ref
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.syntax import Relation
from occurs.model.time import UNIT_MICROSECONDS, Duration
from occurs.model.types import Type

RELATED, SET, INTERSECTION, RANGE, ITERATION, OR, AND, IN, NOT, PRIMARY = range(1, 11)
#: operator, how tightly it binds, and the least that its operands must bind to stand without parentheses
_BINARY: dict[type[Relation], tuple[str, int, int, int]] = {
    syntax.Union: ("⊔", SET, RANGE, RANGE),
    syntax.Complement: ("\\", SET, RANGE, RANGE),
    syntax.Intersection: ("⊓", INTERSECTION, RANGE, RANGE),
    syntax.MaximalRange: ("↣", RANGE, ITERATION, ITERATION),
    syntax.MinimalRange: ("~>>", RANGE, ITERATION, ITERATION),
    syntax.Or: ("∨", OR, OR, AND),
    syntax.And: ("∧", AND, AND, IN),
    syntax.In: ("in", IN, NOT, NOT),
}
_NAME = re.compile(r"[^\W\d_]\w*\Z")

Node: TypeAlias = syntax.File | syntax.Statement | Relation | Expr


def render(node: Node) -> str:
    """The canonical text of a file (one statement a line), a statement, a formula or a term."""
    if isinstance(node, syntax.File):
        return "".join(f"{render(s)}\n" for s in node.statements)
    if isinstance(node, syntax.Declaration):
        attributes = [_label(a.name) + (f": {a.type}" if a.type else "") for a in node.attributes]
        attributes += ["..."] * node.rest
        columns = f"({', '.join(attributes)})" if attributes else ""
        return f"input {node.sort} {_phenomenon(node.name)}{columns}{' as changes' * node.changes}."
    if isinstance(node, syntax.Fact):
        return f"fact {_phenomenon(node.name)}({', '.join(constant_text(c) for c in node.values)})."
    if isinstance(node, syntax.Definition):
        head = _phenomenon(node.name) + (f"({', '.join(map(_head, node.head))})" if node.head else "")
        where = f" where {render(node.where)}" if node.where is not None else ""
        return f"{node.sort} {head} {':=' if node.ported else ':'} {render(node.body)}{where}."
    if isinstance(node, Expr):
        return render_expr(node, _leaf)
    return _relation(node)[0]


def _relation(node: Relation) -> tuple[str, int]:
    """The text of a formula and how tightly it binds."""
    if type(node) in _BINARY:
        both: Any = node
        sign, level, left, right = _BINARY[type(node)]
        return f"{_within(both.left, left)} {sign} {_within(both.right, right)}", level
    if isinstance(node, syntax.Related):
        return f"{_within(node.left, SET)} {node.rel} {_within(node.right, SET)}", RELATED
    if isinstance(node, syntax.Iteration):
        return f"{_within(node.operand, OR)} {node.op}@ {length_text(node.duration)}", ITERATION
    if isinstance(node, syntax.Not):
        return f"¬{_within(node.operand, NOT)}", NOT
    if isinstance(node, syntax.Start):
        return f"start({render(node.operand)})", PRIMARY
    if isinstance(node, syntax.End):
        return f"end({render(node.operand)})", PRIMARY
    if isinstance(node, syntax.Filter):
        return f"filter({render(node.operand)}, {node.op}({length_text(node.duration)}))", PRIMARY
    if isinstance(node, syntax.Comparison):
        return render(node.condition), PRIMARY
    if isinstance(node, syntax.Atom):
        arguments = [(f"{_label(a.name)} = " if a.name else "") + _value(a.value) for a in node.arguments]
        arguments += ["..."] * node.rest
        name = _phenomenon(node.name)
        bare = not arguments and not (name[0].isupper() and name[0] != "`")
        return (name if bare else f"{name}({', '.join(arguments)})"), PRIMARY
    raise TypeError(f"not a formula: {node!r}")


def _within(node: Relation, least: int) -> str:
    text, level = _relation(node)
    return text if level >= least else f"({text})"


def _phenomenon(name: syntax.Name) -> str:
    plain = _NAME.match(name.text) and name.text not in syntax.KEYWORDS
    return name.text if plain else f"`{name.text}`"


def _label(name: syntax.Name) -> str:
    """The name of an attribute."""
    plain = re.match(r"[^\W\d]\w*\Z", name.text) and name.text not in ("true", "false")
    return name.text if plain else f"`{name.text}`"


def _head(argument: syntax.HeadArgument) -> str:
    value = argument.value
    if isinstance(value, syntax.Variable) and value.name == argument.name.text:
        return value.name
    text = _measure(value) if isinstance(value, syntax.Measure) else _value(value)
    return f"{_label(argument.name)} = {text}"


def _measure(measure: syntax.Measure) -> str:
    if measure.atom is None:
        return f"length({'' if measure.unit is None else length_text(measure.unit)})"
    of = "" if measure.variable is None else f"{measure.variable.name}, "
    return f"{measure.function}({of}{render(measure.atom)})"


def _value(value: syntax.Value) -> str:
    if isinstance(value, syntax.Anything):
        return "_"
    return value.name if isinstance(value, syntax.Variable) else constant_text(value)


def constant_text(constant: syntax.Constant) -> str:
    """A constant as it is written; strings in quotes."""
    value = constant.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string_text(value)
    return timestamp_text(value) if constant.type is Type.TIMESTAMP else number_text(value)


def length_text(duration: Duration) -> str:
    """A duration as one number, with one unit.

    >>> from fractions import Fraction
    >>> length_text(Duration(Fraction(5_400_000_000))), length_text(Duration(Fraction(4), ticks=True))
    ('90 min', '4')
    """
    if duration.ticks:
        return duration_text(duration)
    unit, size = "us", 1
    for other, microseconds in UNIT_MICROSECONDS.items():
        if duration.amount % microseconds == 0 and microseconds > size:
            unit, size = other, microseconds
    return f"{duration_text(Duration(duration.amount / size, ticks=True))} {unit}"


def _leaf(node: Expr) -> str | None:
    """The spellings that are Phenesthe's own."""
    if isinstance(node, Ref):
        return node.name
    if isinstance(node, In):
        items = ", ".join(render(i) for i in node.items)
        return f"{render_expr(node.arg, _leaf)} in {{{items}}}"
    if isinstance(node, Literal) and node.type is Type.STRING:
        return string_text(str(node.value))
    return None
