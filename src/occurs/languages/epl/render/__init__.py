"""EPL trees as canonical text, which Esper accepts: what is parsed from it is the same tree (epl-and-nets.md, 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from occurs.expr.tree import Expr
from occurs.languages.epl import syntax, timers  # which need the texts of expressions
from occurs.languages.epl.render.expressions import constant_text, duration_text, expr_text, name_text, whole_text
from occurs.languages.epl.syntax import Pattern
from occurs.model.types import Type

FOLLOWED, OR, AND, UNTIL, QUALIFIED, GUARDED, ATOM = range(7)
_TYPES = {Type.INT: "long", Type.FLOAT: "double", Type.STRING: "string", Type.BOOL: "boolean",
          Type.TIMESTAMP: "timestamp"}  # fmt: skip


@dataclass(frozen=True)
class WrittenPattern(Pattern):
    """A pattern that is text already, for those who keep the text of others; ``level``: how tightly it holds
    together."""

    text: str
    level: int


Node: TypeAlias = syntax.File | syntax.Statement | Pattern | Expr


def render(node: Node) -> str:
    """The canonical text of a file, a statement (one line, without its semicolon), a pattern or an expression.

    In a file every clause of a statement has a line, and there is an empty line between two statements.
    """
    if isinstance(node, syntax.File):
        return "\n".join("\n".join(clauses(s)) + ";\n" for s in node.statements)
    if isinstance(node, syntax.Statement):
        return " ".join(clauses(node))
    if isinstance(node, Expr):
        return expr_text(node)
    return _pattern(node)


# --- statements -----------------------------------------------------------------------------------------------------


def clauses(node: syntax.Statement) -> list[str]:
    """The clauses of a statement, its annotations among them, each of which has a line of its own."""
    out = [annotation_text(a) for a in node.annotations]
    if isinstance(node, syntax.CreateSchema):
        columns = ", ".join(f"{_name(a.name)} {a.written or _TYPES[a.type]}" for a in node.attributes)
        parents = f" inherits {', '.join(map(_name, node.inherits))}" if node.inherits else ""
        form = f"{node.form} " if node.form else ""
        return [*out, f"create {form}schema {_name(node.name)}({columns}){parents}"]
    if isinstance(node, syntax.CreateVariable):
        constant, value = "constant " * node.constant, "" if node.value is None else f" = {expr_text(node.value)}"
        return [*out, f"create {constant}variable {node.written or _TYPES[node.type]} {_name(node.name)}{value}"]
    if node.into is not None:
        out.append(f"insert into {_name(node.into)}")
    out += [f"select {', '.join(map(item_text, node.items))}", f"from {source_text(node)}"]
    if node.where is not None:
        out.append(f"where {expr_text(node.where)}")
    if node.order:
        out.append(f"order by {', '.join(expr_text(s.expr) + ' desc' * s.descending for s in node.order)}")
    return out


def annotation_text(node: syntax.Annotation) -> str:
    """An annotation."""
    inside = constant_text(node.value) if node.value is not None else ", ".join(
        f"{name_text(name)}={constant_text(value)}" for name, value in node.arguments)  # fmt: skip
    return f"@{_name(node.name)}" + (f"({inside})" if inside else "")


def item_text(item: syntax.Item) -> str:
    """An item of `select`."""
    if item.all_of is not None:
        return f"{_name(item.all_of)}.*"
    if item.expr is None:
        return "*"
    return expr_text(item.expr) + (f" as {_name(item.name)}" if item.name is not None else "")


def source_text(node: syntax.Query) -> str:
    """What stands behind `from`."""
    if node.simple and isinstance(node.pattern, syntax.Filter):
        tag = node.pattern.tag
        return f"{_name(node.pattern.type)}{_conditions(node.pattern)}" + (f" as {_name(tag)}" if tag else "")
    marks = "@SuppressOverlappingMatches " * node.suppress + "@DiscardPartialsOnMatch " * node.discard
    return f"pattern {marks}[{render(node.pattern)}]"


def _name(name: syntax.Name) -> str:
    return name_text(name.text)


# --- patterns -------------------------------------------------------------------------------------------------------

_LEVELS: dict[type[Pattern], int] = {
    syntax.Followed: FOLLOWED,
    syntax.Or: OR,
    syntax.And: AND,
    **dict.fromkeys((syntax.Repeat, syntax.Until), UNTIL),
    **dict.fromkeys((syntax.Every, syntax.EveryDistinct, syntax.Not), QUALIFIED),
    **dict.fromkeys((syntax.Within, syntax.While), GUARDED),
}


def level_of(node: Pattern) -> int:
    """How tightly the text of a pattern holds together."""
    return node.level if isinstance(node, WrittenPattern) else _LEVELS.get(type(node), ATOM)


def _pattern(node: Pattern) -> str:
    if isinstance(node, syntax.Followed):
        parts = [_within(node.operands[0], OR)]
        for limit, operand in zip(node.limits, node.operands[1:], strict=True):
            parts += ["->" if limit is None else f"-[{whole_text(limit)}]>", _within(operand, OR)]
        return " ".join(parts)
    if isinstance(node, syntax.Or):
        return " or ".join(_within(p, AND) for p in node.operands)
    if isinstance(node, syntax.And):
        return " and ".join(_within(p, UNTIL) for p in node.operands)
    if isinstance(node, syntax.Repeat | syntax.Until):
        return _repeated(node)
    if isinstance(node, syntax.Every):
        return f"every {_operand(node.operand)}"
    if isinstance(node, syntax.Not):
        return f"not {_operand(node.operand)}"
    if isinstance(node, syntax.EveryDistinct):
        keys = [expr_text(k) for k in node.keys] + ([duration_text(node.expiry)] if node.expiry is not None else [])
        return f"every-distinct({', '.join(keys)}) {_operand(node.operand)}"
    if isinstance(node, syntax.Within):
        inside = duration_text(node.duration)
        guard = f"within({inside})" if node.count is None else f"withinmax({inside}, {whole_text(node.count)})"
        return f"{_within(node.operand, ATOM)} where timer:{guard}"
    if isinstance(node, syntax.While):
        return f"{_within(node.operand, ATOM)} while ({expr_text(node.condition)})"
    if isinstance(node, syntax.Timer):
        return timers.timer_of(node).text(node)
    if isinstance(node, syntax.Filter):
        tag = f"{_name(node.tag)}=" if node.tag is not None else ""
        level = (
            "" if node.consume == 0 else "@consume" if node.consume == 1 else f"@consume({whole_text(node.consume)})"
        )
        return f"{tag}{_name(node.type)}{_conditions(node)}{level}"
    if isinstance(node, WrittenPattern):
        return node.text
    raise TypeError(f"not a pattern: {node!r}")


def _repeated(node: syntax.Repeat | syntax.Until) -> str:
    operand = _within(node.operand, QUALIFIED)
    if isinstance(node, syntax.Repeat):
        return f"[{_number(node.count)}] {operand}"
    low, high = ("" if n is None else _number(n) for n in (node.low, node.high))
    bounds = f"[{low}] " if low and low == high else f"[{low}:{high}] " if low or high else ""
    return f"{bounds}{operand} until {_within(node.end, QUALIFIED)}"


def _number(number: int | Expr) -> str:
    """A number of repetitions; what begins with `?` may run into a colon behind it."""
    text = str(number) if isinstance(number, int) else expr_text(number)
    return f"({text})" if "?" in text else text


def _operand(node: Pattern) -> str:
    """What stands behind `every` or `not`: it may begin with a number of repetitions."""
    if isinstance(node, syntax.Repeat):
        return f"[{_number(node.count)}] {_within(node.operand, GUARDED)}"
    return _within(node, GUARDED)


def _within(node: Pattern, least: int) -> str:
    text = _pattern(node)
    return text if level_of(node) >= least else f"({text})"


def _conditions(node: syntax.Filter) -> str:
    return f"({', '.join(map(expr_text, node.conditions))})" if node.conditions else ""
