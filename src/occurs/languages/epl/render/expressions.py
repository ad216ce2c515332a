"""Expressions as EPL text, as Esper accepts it: parentheses only where precedence needs them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from occurs.errors import Span
from occurs.expr.render import number_text, string_text, timestamp_text
from occurs.expr.tree import (
    COMPARISONS,
    Binary,
    Call,
    DurationLiteral,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Ref,
    Unary,
    _span,
)
from occurs.languages.epl import syntax
from occurs.languages.epl.syntax import chained
from occurs.languages.epl.words import KEYWORDS, PRINTED, UNITS
from occurs.model.elements import index_step, path_of
from occurs.model.time import Duration
from occurs.model.types import Type

#: Esper takes a case for an operand only in parentheses, and no `not` below a `not`
CASE, OR, AND, NOT, COMPARISON, CONCAT, SUM, TERM, UNARY, ATOM = range(10)
_LEVELS = {**dict.fromkeys(("+", "-"), SUM), **dict.fromkeys(("*", "/", "%"), TERM)}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
#: the names in that of an element; its keys as they are
_STEP_NAME = re.compile(r"\('(?:[^'\\]|\\.)*'\)|[^.\[\]()']*[^.\[\]()'\d][^.\[\]()']*")
#: what a text begins with that is read as a length of time
_DURATION = re.compile(r"-?[\d.]+ [a-z]")
#: from here on Esper needs an `L` behind a whole number
_LONG = 2**31


@dataclass(frozen=True)
class WrittenExpr(Expr):
    """An expression that is text already, for those who keep the text of others."""

    text: str
    span: Span | None = _span()


def expr_text(node: Expr) -> str:
    """The canonical text of an expression.

    >>> x, one = Ref(None, "x"), Literal(1, Type.INT)
    >>> expr_text(Binary("and", Binary("or", x, Ref("a", "min")), Unary("not", Binary("=", x, one))))
    '(x or a.`min`) and not x = 1'
    """
    return _render(node)[0]


def _render(node: Expr) -> tuple[str, int]:
    """The text of a node and how tightly it holds together."""
    if isinstance(node, Binary):
        return _binary(node)
    if isinstance(node, Unary):
        if node.op == "not":
            return f"not {_within(node.arg, COMPARISON)}", NOT
        inner = _within(node.arg, ATOM)
        return f"-{inner}", UNARY
    if isinstance(node, syntax.Concat):
        return f"{_within(node.left, CONCAT)} || {_within(node.right, SUM)}", CONCAT
    if isinstance(node, IsNull | In | Like | syntax.Between | syntax.InRange):
        return _test(node), COMPARISON
    if isinstance(node, syntax.Case):
        whens = [f"when {expr_text(c)} then {expr_text(v)}" for c, v in zip(node.parts[::2], node.parts[1::2])]
        last = [f"else {expr_text(node.parts[-1])}"] if len(node.parts) % 2 else []
        return f"case {' '.join(whens + last)} end", CASE
    if isinstance(node, Call):
        # Esper knows this one by the name of Java's library
        name = "Math.abs" if node.name == "abs" else node.name if node.name in _FUNCTIONS else name_text(node.name)
        return f"{name}({', '.join(map(expr_text, node.args))})", ATOM
    if isinstance(node, Literal):
        return _literal(node)
    if isinstance(node, DurationLiteral):
        return duration_text(node.value), UNARY if node.value.amount < 0 else ATOM
    if isinstance(node, Ref):
        index = "" if node.index is None else index_step(node.index)
        if node.scope is None:
            return f"{attribute_text(node.name)}{index}", ATOM
        return f"{name_text(node.scope)}{index}.{attribute_text(node.name)}", ATOM
    if isinstance(node, syntax.Parameter):
        name = f":{node.name}" if node.name else ":" * bool(node.written)
        return f"?{name}" + f":{node.written}" * bool(node.written), ATOM
    if isinstance(node, WrittenExpr):
        return node.text, CASE
    raise TypeError(f"EPL has no expression like this: {node!r}")


_FUNCTIONS = ("min", "max", "coalesce")


def _binary(node: Binary) -> tuple[str, int]:
    if node.op in ("and", "or"):
        level = AND if node.op == "and" else OR
        return f" {node.op} ".join(_within(p, level + 1) for p in chained(node.op, node)), level
    if node.op in COMPARISONS:
        return f"{_within(node.left, CONCAT)} {node.op} {_within(node.right, CONCAT)}", COMPARISON
    if node.op not in _LEVELS:
        raise TypeError(f"EPL has no operator `{node.op}`")
    level = _LEVELS[node.op]
    return f"{_within(node.left, level)} {node.op} {_within(node.right, level + 1)}", level


def _test(node: IsNull | In | Like | syntax.Between | syntax.InRange) -> str:
    arg, negated = _within(node.arg, CONCAT), "not " * node.negated
    if isinstance(node, IsNull):
        return f"{arg} is {negated}null"
    if isinstance(node, In):
        return f"{arg} {negated}in ({', '.join(map(expr_text, node.items))})"
    if isinstance(node, Like):
        return f"{arg} {negated}like {_within(node.pattern, CONCAT)}"
    if isinstance(node, syntax.Between):
        return f"{arg} {negated}between {_within(node.low, CONCAT)} and {_within(node.high, CONCAT)}"
    left, right = "[" if node.closed[0] else "(", "]" if node.closed[1] else ")"
    return f"{arg} {negated}in {left}{expr_text(node.low)}:{expr_text(node.high)}{right}"


def _within(node: Expr, least: int) -> str:
    text, level = _render(node)
    return text if level >= least else f"({text})"


def _literal(node: Literal) -> tuple[str, int]:
    if isinstance(node.value, int) and node.type is Type.TIMESTAMP:
        return quoted(timestamp_text(node.value).partition(" ")[2].strip('"')), ATOM
    text = constant_text(node.value)
    return text, UNARY if text.startswith("-") else ATOM


def constant_text(value: str | int | float | bool | None) -> str:
    """A constant.

    >>> constant_text(True), constant_text(2.5), constant_text(2**31), constant_text("it's")
    ('true', '2.5', '2147483648L', "'it\\\\'s'")
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int) and not -_LONG <= value < _LONG:
        return f"{value}L"
    return number_text(value)


def quoted(text: str) -> str:
    """A text in single quotes."""
    inside = string_text(text)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{inside}'"


def name_text(name: str) -> str:
    """A name; in backquotes if it is a word of Esper's or no identifier there."""
    plain = _IDENTIFIER.match(name) and name.lower() not in KEYWORDS
    return name if plain else f"`{name}`"


def attribute_text(name: str) -> str:
    """The name of an attribute, or of an element of one.

    >>> attribute_text("at.lat"), attribute_text("at.list[0].min"), attribute_text("map('k')")
    ('`at.lat`', 'at.list[0].`min`', "map('k')")
    """
    if path_of(name) is None:
        return name_text(name)
    return _STEP_NAME.sub(lambda found: found[0] if found[0][0] == "(" else name_text(found[0]), name)


def duration_text(duration: Duration) -> str:
    """Exact units, largest first.

    >>> from fractions import Fraction
    >>> [duration_text(Duration(Fraction(n))) for n in (90_000_000, 1_209_600_000_000, 1_500, 0, -90_000_000)]
    ['1 min 30 sec', '2 weeks', '1 msec 500 usec', '0 sec', '-90 sec']
    """
    if isinstance(duration, syntax.Computed):
        if len(duration.parts) == 1 and duration.parts[0][1] == UNITS["sec"]:
            text = expr_text(duration.parts[0][0])
            return f"({text})" if _DURATION.match(text) else text
        words = {size: many for size, _, many in PRINTED}
        return " ".join(f"{expr_text(e)} {words[size]}" for e, size in duration.parts)
    if isinstance(duration, syntax.Period):
        named = ((n, w) for n, w in zip((duration.years, duration.months, duration.weeks, duration.days),
                                        ("year", "month", "week", "day"), strict=True) if n)  # fmt: skip
        texts = [f"{n} {w}{'s' * (n > 1)}" for n, w in named]
        return " ".join(texts + [duration_text(Duration(duration.rest))] * bool(duration.rest)) or "0 months"
    left, parts = abs(duration.amount), []
    if duration.amount < 0:
        size, one, many = next(u for u in PRINTED if left % u[0] == 0 or u[0] == 1)
        return f"-{_decimal(left.numerator, left.denominator * size)} {many if left > size else one}"
    for size, one, many in PRINTED:
        if one == "week" and left % size:
            continue  # 8 days are 8 days, not 1 week 1 day
        count = left // size
        if size == 1 and left:
            parts.append(f"{_decimal(left.numerator, left.denominator)} {many}")
        elif count:
            parts.append(f"{count} {one if count == 1 else many}")
            left -= count * size
    return " ".join(parts) or "0 sec"


def _decimal(numerator: int, denominator: int) -> str:
    """An exact decimal of a number that was read from one."""
    digits = 0
    while numerator * 10**digits % denominator and digits < 100:
        digits += 1
    whole, rest = divmod(numerator * 10**digits // denominator, 10**digits)
    return f"{whole}.{rest:0{digits}d}" if digits else str(whole)


def whole_text(number: int | Expr) -> str:
    """A number, or the parameter that gives it."""
    return expr_text(number) if isinstance(number, Expr) else str(number)
