"""TESLA trees as canonical text: what is parsed from it is the same tree (tesla.md, section 2)."""

from __future__ import annotations

from typing import TypeAlias

from occurs.expr.render import duration_text, name_text, number_text
from occurs.expr.render import render as render_expr
from occurs.expr.tree import COMPARISONS as _COMPARISONS
from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, IsNull, Literal, Param, Ref, Unary
from occurs.languages.tesla import syntax
from occurs.languages.tesla.functions import is_function

#: words that the grammar would take for keywords where a name may stand
_KEYWORDS = frozenset(
    "each first last not null true false and or is as within between where consuming from having case".split()  # noqa: SIM905
)

Node: TypeAlias = (
    syntax.File
    | syntax.Rule
    | syntax.EventSchema
    | syntax.Subscription
    | syntax.Assign
    | syntax.Event
    | syntax.Selection
    | syntax.Negation
    | syntax.ExtraWithin
    | syntax.Condition
    | syntax.Within
    | syntax.Between
    | Expr
)


def render(node: Node) -> str:
    """The canonical text of a file (one statement a line), a statement or a part of one."""
    if isinstance(node, syntax.File):
        return "".join(f"{render(s)}\n" for s in node.statements)
    if isinstance(node, syntax.Rule):
        return _rule(node)
    if isinstance(node, syntax.EventSchema):
        return f"event {_name(node.type)}({_attributes(node.attributes)})"
    if isinstance(node, syntax.Subscription):
        test = f", {render(node.filter)}" if node.filter is not None else ""
        return f"Subscribe({_name(node.type)}{test})"
    if isinstance(node, syntax.Assign):
        return "Assign " + ", ".join(f"{number} => {_name(name)}" for number, name in node.names)
    if isinstance(node, syntax.Event):
        alias = f" as {_name(node.alias)}" if node.alias else ""
        return f"{_name(node.type)}({', '.join(_constraint(c) for c in node.constraints)}){alias}"
    if isinstance(node, syntax.Within):
        return f"within {duration_text(node.duration)} from {_name(node.role)}"
    if isinstance(node, syntax.Between):
        return f"between {_name(node.one)} and {_name(node.other)}"
    if isinstance(node, Expr):
        return render_expr(node, _leaf)
    return _item(node)


def _rule(rule: syntax.Rule) -> str:
    parts = [f"rule {_name(rule.name)}:"] if rule.name else []
    parts.append(f"define {_name(rule.type)}({_attributes(rule.attributes)}) from {render(rule.terminator)}")
    parts += [f"and {render(item)}" for item in rule.items]
    if rule.where:
        parts.append("where " + ", ".join(f"{_name(a.name)} = {_sum(a.expr)}" for a in rule.where))
    if rule.consuming:
        parts.append("consuming " + ", ".join(_name(n) for n in rule.consuming))
    return " ".join(parts)


def _item(item: syntax.Item) -> str:
    if isinstance(item, syntax.Selection):
        policy = item.policy if item.k == 1 or item.policy == "each" else f"{item.k}-{item.policy}"
        having = "" if item.having is None else f" having {_condition(item.having)}"
        return f"{policy} {render(item.event)} {render(item.within)}{having}"
    if isinstance(item, syntax.Negation):
        return f"not {render(item.event)} {render(item.interval)}"
    if isinstance(item, syntax.ExtraWithin):
        return f"{_name(item.role)} {render(item.within)}"
    return _condition(item.expr)


def _condition(expr: Expr) -> str:
    """A condition at the top level of a pattern, or of `having`."""
    if isinstance(expr, Unary) and expr.op == "not":
        return f"not ({render(expr.arg)})"
    bare = isinstance(expr, Ref) and expr.scope is None
    bare |= isinstance(expr, Call) and not (expr.args and is_function(expr.name))
    if bare or (isinstance(expr, Binary) and expr.op in ("and", "or")):
        return f"({render(expr)})"
    return render(expr)


def _constraint(expr: Expr) -> str:
    """One constraint; in parentheses where it would else be read as a positional value."""
    text = render(expr)
    lone = isinstance(expr, Param | Literal | DurationLiteral) or expr == Ref(None, "_")
    return f"({text})" if lone else text


def _sum(expr: Expr) -> str:
    """A value of `where`, where booleans need parentheses."""
    boolean = isinstance(expr, IsNull) or (isinstance(expr, Unary) and expr.op == "not")
    if boolean or (isinstance(expr, Binary) and expr.op in (*_COMPARISONS, "and", "or")):
        return f"({render(expr)})"
    return render(expr)


def _leaf(node: Expr) -> str | None:
    """The spellings that are TESLA's own."""
    if isinstance(node, syntax.Aggregate):
        attribute = "" if node.attribute is None else f".{_text(node.attribute)}"
        percent = "" if node.percent is None else f", {number_text(node.percent)}"
        function, _, distinct = node.function.partition(" ")
        inside = f"{distinct} {render(node.event)}" if distinct else render(node.event)
        return f"{function}({inside}{attribute}{percent}) {render(node.interval)}"
    if isinstance(node, syntax.Positional):
        return "_" if node.value is None else render(node.value)
    if isinstance(node, DurationLiteral) and node.value.ticks:
        return f"{duration_text(node.value)} tick"
    if isinstance(node, Ref):
        return _text(node.name) if node.scope is None else f"{_text(node.scope)}.{_text(node.name)}"
    return None


def _attributes(attributes: tuple[syntax.Attribute, ...]) -> str:
    return ", ".join(f"{_name(a.name)}: {a.type}" if a.type else _name(a.name) for a in attributes)


def _name(name: syntax.Name) -> str:
    return _text(name.text)


def _text(name: str) -> str:
    return f"`{name}`" if name.lower() in _KEYWORDS else name_text(name)
