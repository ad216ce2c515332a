"""An expression as text again: one canonical spelling, no parenthesis too many.

The text is in the notation the languages have in common (TESLA's), so that what was parsed from it is rendered alike;
a language with other spellings hands over ``leaf`` for the nodes it writes differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache

from occurs.expr.tree import (
    COMPARISONS,
    Annotated,
    Binary,
    Call,
    DurationLiteral,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Param,
    Ref,
    Slot,
    Unary,
)
from occurs.model.time import UNIT_MICROSECONDS, Duration
from occurs.model.types import Type

Leaf = Callable[[Expr], str | None]

OR, AND, NOT, COMPARISON, SUM, TERM, UNARY, ATOM = range(1, 9)
PRECEDENCE: dict[str, int] = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(COMPARISONS, COMPARISON),
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("*", "/", "%", "mod", "div"), TERM),
}
#: words that stand for themselves in an expression: as names they need backquotes
_WORDS = frozenset(("and", "or", "not", "is", "null", "true", "false", "in", "like", "mod", "div", "timestamp"))
_IDENTIFIER = re.compile(r"[^\W\d]\w*\Z")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}


def render(expr: Expr, leaf: Leaf | None = None) -> str:
    """The canonical text of ``expr``.

    ``leaf`` is asked first for every node: what it returns stands for the whole node, as tight as a name.

    >>> x, y = Ref(None, "x"), Ref("A", "y z")
    >>> render(Binary("and", Binary("or", Binary(">", x, Literal(1, Type.INT)), IsNull(y)), Unary("not", x)))
    '(x > 1 or A.`y z` is null) and not x'
    >>> render(Binary("-", x, Binary("-", y, DurationLiteral(Duration(Fraction(9_000_000_000))))))
    'x - (A.`y z` - 2 h 30 min)'
    """
    return _render(expr, leaf)[0]


def _render(node: Expr, leaf: Leaf | None) -> tuple[str, int]:
    """The text of a node and how tightly it holds together."""
    if leaf is not None:
        own = leaf(node)
        if own is not None:
            return own, ATOM
    if isinstance(node, Binary):
        level = PRECEDENCE[node.op]
        # comparisons do not chain; every other operator groups to the left
        left = _within(node.left, level + 1 if level == COMPARISON else level, leaf)
        return f"{left} {node.op} {_within(node.right, level + 1, leaf)}", level
    if isinstance(node, Unary):
        if node.op == "not":
            return f"not {_within(node.arg, NOT, leaf)}", NOT
        inner = _within(node.arg, UNARY, leaf)
        # `--` would begin a comment
        return (f"- {inner}" if inner.startswith("-") else f"-{inner}"), UNARY
    if isinstance(node, IsNull):
        return f"{_within(node.arg, SUM, leaf)} is {'not ' * node.negated}null", COMPARISON
    if isinstance(node, In):
        items = ", ".join(_within(i, SUM, leaf) for i in node.items)
        return f"{_within(node.arg, SUM, leaf)} {'not ' * node.negated}in ({items})", COMPARISON
    if isinstance(node, Like):
        text = f"{_within(node.arg, SUM, leaf)} {'not ' * node.negated}like {_within(node.pattern, SUM, leaf)}"
        return text, COMPARISON
    if isinstance(node, Call):
        return f"{node.name}({', '.join(_render(a, leaf)[0] for a in node.args)})", ATOM
    if isinstance(node, Annotated):
        return f"[{node.type}]{_within(node.arg, ATOM, leaf)}", ATOM
    if isinstance(node, Literal):
        return _literal(node)
    if isinstance(node, DurationLiteral):
        text = duration_text(node.value)
        return text, UNARY if text.startswith("-") else ATOM
    if isinstance(node, Ref):
        name = name_text(node.name)
        return (name if node.scope is None else f"{name_text(node.scope)}.{name}"), ATOM
    if isinstance(node, Param):
        return f"${name_text(node.name)}", ATOM
    if isinstance(node, Slot):
        return f"?{node.index}:{node.type}", ATOM
    # a node of a language without a spelling of its own: its class and its operands
    return f"{type(node).__name__}({', '.join(_render(c, leaf)[0] for c in node.children)})", ATOM


def _within(node: Expr, least: int, leaf: Leaf | None) -> str:
    text, level = _render(node, leaf)
    return text if level >= least else f"({text})"


def _literal(node: Literal) -> tuple[str, int]:
    value = node.value
    if value is None:
        return "null", ATOM
    if isinstance(value, bool):
        return ("true" if value else "false"), ATOM
    if isinstance(value, str):
        return string_text(value), ATOM
    if node.type is Type.TIMESTAMP:
        return timestamp_text(int(value)), ATOM
    text = number_text(value)
    return text, UNARY if text.startswith("-") else ATOM


def number_text(value: int | float) -> str:
    """Digits that read back as the same number.

    >>> number_text(0.1), number_text(5.0), number_text(1e300), number_text(-7)
    ('0.1', '5.0', '1e+300', '-7')
    """
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "1e999" if value > 0 else "-1e999"  # reads back as infinite
    return repr(value)


def string_text(value: str) -> str:
    r"""A string in double quotes; what cannot be seen is written ``\uXXXX``.

    >>> print(string_text('say "hi"\n'))
    "say \"hi\"\n"
    """
    out = []
    for c in value:
        if c in _ESCAPES:
            out.append(_ESCAPES[c])
        elif ord(c) < 0x10000 and not c.isprintable():
            out.append(f"\\u{ord(c):04x}")
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def name_text(name: str) -> str:
    """A name, in backquotes if it is no identifier or a word of the language."""
    if _IDENTIFIER.match(name) and name.lower() not in _WORDS:
        return name
    return f"`{name}`"


def timestamp_text(microseconds: int) -> str:
    """``timestamp "2024-01-05T09:00:00Z"``; beyond the years 1 to 9999 the number of microseconds."""
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    except OverflowError:
        return f'timestamp "{microseconds} us"'
    return f'timestamp "{at.replace(tzinfo=None).isoformat()}Z"'


@lru_cache(1024)
def duration_text(duration: Duration) -> str:
    """Exact units, largest first; ticks as a bare number.

    >>> [duration_text(Duration(Fraction(n))) for n in (300_000_000, 9_000_000_000, 1500, 0)]
    ['5 min', '2 h 30 min', '1 ms 500 us', '0 s']
    >>> duration_text(Duration(Fraction(5, 2))), duration_text(Duration(Fraction(7), ticks=True))
    ('2.5 us', '7')
    """
    if duration.ticks:
        return _fraction(duration.amount)
    left, parts = abs(duration.amount), []
    for unit, size in sorted(UNIT_MICROSECONDS.items(), key=lambda item: -item[1]):
        if unit == "w" and left % size:
            continue  # 8 days are 8 d, not 1 w 1 d
        count = left / size if unit == "us" else Fraction(left // size)
        if count:
            parts.append(f"{_fraction(count)} {unit}")
            left -= count * size
    return ("-" if duration.amount < 0 else "") + (" ".join(parts) or "0 s")


def _fraction(value: Fraction) -> str:
    """A decimal if there is an exact one, else a quotient."""
    if value.denominator == 1:
        return str(value.numerator)
    digits, scaled = 0, value
    while scaled.denominator != 1:
        scaled, digits = scaled * 10, digits + 1
        if digits > 30:
            return f"{value.numerator}/{value.denominator}"
    whole, rest = divmod(abs(scaled.numerator), 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{rest:0{digits}d}"
