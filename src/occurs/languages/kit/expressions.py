"""Expressions of one statement, whatever the language: lark's tree to the shared expression tree."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, TypeVar

from lark import Token

from occurs.errors import Span, did_you_mean, nearest
from occurs.expr import tree as core
from occurs.expr.text import Name, Text
from occurs.expr.tree import Expr
from occurs.model.time import Duration, exact_number
from occurs.model.types import TYPE_NAMES, Type

#: a tree of lark's, whose children's types (tree, token, None) only the grammar knows
Node: TypeAlias = Any
Made = TypeVar("Made")

#: how deep parentheses, `not` and minus signs may nest: far below what Python's stack allows
DEEPEST = 150
#: chains of `and` and `or` longer than this are built as balanced trees, so that none is deep
LONG = 64
#: the greatest count, index, or number of a calendar
MOST = 2**31 - 1

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t", "r": "\r"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Refused(Exception):
    """A statement whose problem has been reported."""


class ExpressionBuilder(ABC):
    """Expressions and places; ``offset`` is where the statement begins in ``source``.

    A grammar names the alternatives of an expression as the methods ``x_..`` here; it need not have all of them.
    ``deepest``: how deep the tree may be.  ``signs``: other spellings of comparisons.  ``types``: by their names, which
    ``any_case`` may have; ``named_types``: those that hints name.
    """

    deepest: ClassVar[int] = DEEPEST
    types: ClassVar[Mapping[str, Type]] = TYPE_NAMES
    any_case: ClassVar[bool] = True
    named_types: ClassVar[Collection[str]] = ("string", "int", "float", "bool", "timestamp")
    signs: ClassVar[Mapping[str, str]] = {"==": "=", "=>": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}

    def __init__(self, source: Text, offset: int):
        self.source = source
        self.offset = offset
        self.depth = 0

    def span(self, node: Node) -> Span:
        """The place of a tree or token."""
        at: Any = node if isinstance(node, Token) else node.meta
        return self.source.span(self.offset + at.start_pos, self.offset + at.end_pos)

    token_span = span

    def expr(self, tree: Node) -> Expr:
        """An expression; reports and raises Refused if it is nested too deeply."""
        self.deeper(1, tree)
        built: Expr = getattr(self, f"x_{tree.data}")(tree)
        self.depth -= 1
        return built

    def deeper(self, levels: int, tree: Node) -> None:
        """Go down; reports and raises Refused where this is too deep."""
        self.depth += levels
        if self.depth > self.deepest:
            raise self.refuse("syntax", f"nested more than {self.deepest} levels deep", tree)

    def refuse(self, kind: str, message: str, at: Node, hint: str | None = None) -> Refused:
        """Report a problem; the result is to be raised."""
        self.source.report(kind, message, self.span(at), hint)
        return Refused()

    def whole_or_refused(self, made: Callable[[], Made], *kinds: str) -> Made:
        """What is made of a statement; raises Refused if a problem (one of ``kinds``, if any) is reported."""
        before = len(self.source.problems)
        built = made()
        if any(not kinds or p.kind in kinds for p in self.source.problems[before:]):
            raise Refused
        return built

    def name(self, token: Token) -> Name:
        """A name, without its backquotes."""
        return Name(plain(token), self.span(token))

    def path(self, tree: Node) -> Name:
        """The name of an attribute; `a.b` is the value `b` in the record `a`."""
        return Name(joined(tree.children), self.span(tree))

    def type(self, token: Token) -> Type | None:
        """The type a name stands for; reports an unknown one."""
        found = self.types.get(str(token).lower() if self.any_case else str(token))
        if found is None:
            hint = did_you_mean(str(token).lower(), self.named_types, "types")
            self.source.report("syntax", f"`{token}` is not a type", self.span(token), hint)
        return found

    # --- operators ---------------------------------------------------------------------------------------------------

    def x_or_(self, tree: Node) -> Expr:
        return self._connected("or", self.operands(tree), tree)

    def x_and_(self, tree: Node) -> Expr:
        return self._connected("and", self.operands(tree), tree)

    def operands(self, tree: Node) -> list[Expr]:
        """The operands of a chain of ``and`` or of ``or``."""
        parts: list[Expr] = []
        last = len(tree.children) - 1
        for i, child in enumerate(tree.children):
            # the first operands are the deepest, but for very long chains, which are built as balanced trees
            levels = min(last - max(i - 1, 0), LONG)
            self.deeper(levels, child)
            parts.append(self.expr(child))
            self.depth -= levels
        return parts

    def _connected(self, op: str, parts: Sequence[Expr], tree: Node) -> Expr:
        if len(parts) > LONG:
            half = len(parts) // 2
            left, right = self._connected(op, parts[:half], tree), self._connected(op, parts[half:], tree)
            return core.Binary(op, left, right, span=self.span(tree))
        out = parts[0]
        for part in parts[1:]:
            out = core.Binary(op, out, part, span=self.span(tree))
        return out

    def x_not_(self, tree: Node) -> Expr:
        return core.Unary("not", self.expr(tree.children[0]), span=self.span(tree))

    def x_compare(self, tree: Node) -> Expr:
        left, op, right = tree.children
        sign = str(op.children[0])
        return core.Binary(self.signs.get(sign, sign), self.expr(left), self.expr(right), span=self.span(tree))

    def x_is_null(self, tree: Node) -> Expr:
        return core.IsNull(self.expr(tree.children[0]), span=self.span(tree))

    def x_is_not_null(self, tree: Node) -> Expr:
        return core.IsNull(self.expr(tree.children[0]), True, span=self.span(tree))

    def x_chain(self, tree: Node) -> Expr:
        return self.leftwards(tree, tree.children[::2], [str(op).lower() for op in tree.children[1::2]])

    def leftwards(self, tree: Node, operands: Sequence[Node], ops: Sequence[str]) -> Expr:
        """Operators that group to the left: the first operand is the deepest."""
        if len(ops) + self.depth > self.deepest:
            raise self.refuse("syntax", f"more than {self.deepest} operands in a row", tree)
        self.depth += len(ops)
        out = self.expr(operands[0])
        for op, operand in zip(ops, operands[1:], strict=True):
            right = self.expr(operand)
            self.depth -= 1
            span = self.source.span(self.offset + tree.meta.start_pos, self.offset + end_of(operand))
            out = self.joined(op, out, right, span)
        return out

    def joined(self, op: str, left: Expr, right: Expr, span: Span) -> Expr:
        """The node of an operator that groups to the left."""
        return core.Binary(op, left, right, span=span)

    def x_negative(self, tree: Node) -> Expr:
        inner = tree.children[-1]
        arg = self._number(inner, negative=True) if inner.data == "number" else self.expr(inner)
        value = arg.value if isinstance(arg, core.Literal) and arg.type.numeric else None
        if isinstance(arg, core.Literal) and isinstance(value, int | float) and value != -(2**63):
            return core.Literal(-value, arg.type, span=self.span(tree))
        return core.Unary("neg", arg, span=self.span(tree))

    # --- atoms -------------------------------------------------------------------------------------------------------

    def x_group(self, tree: Node) -> Expr:
        return self.expr(tree.children[0])

    def x_dotted(self, tree: Node) -> Expr:
        scope, *path = tree.children
        return core.Ref(plain(scope), joined(path), span=self.span(tree))

    def x_bare(self, tree: Node) -> Expr:
        return core.Ref(None, plain(tree.children[0]), span=self.span(tree))

    def x_param(self, tree: Node) -> Expr:
        return core.Param(str(tree.children[0])[1:], span=self.span(tree))

    def x_number(self, tree: Node) -> Expr:
        return self._number(tree, negative=False)

    def _number(self, tree: Node, negative: bool) -> Expr:
        text = str(tree.children[0])
        if not text.isdecimal():
            return core.Literal(float(text), Type.FLOAT, span=self.span(tree))
        return self.integer(text, negative, tree)

    def integer(self, digits: str, negative: bool, at: Node) -> core.Literal:
        """An integer without its sign; reports and raises Refused if it does not fit in 64 bits."""
        value = whole_number(digits, 2**63 - (not negative))
        if value is None:
            hint = "add a decimal point to make it a float"
            raise self.refuse("syntax", "this integer does not fit in 64 bits", at, hint)
        return core.Literal(value, Type.INT, span=self.span(at))

    def whole(self, token: Token, what: str, text: str | None = None, most: int = MOST) -> int:
        """The count, index or number that stands at ``token`` (``text``: the digits alone), at most ``most``."""
        digits = str(token) if text is None else text
        if not digits.isdecimal():
            raise self.refuse("syntax", f"`{digits}` is not a whole number", token, f"{what} must be a whole number")
        value = whole_number(digits, most)
        if value is None:
            raise self.refuse("syntax", f"{what} must be at most {most}", token)
        return value

    def exact(self, token: Token, text: str | None = None, kind: str = "syntax") -> Fraction:
        """The exact number that a duration has at ``token`` (``text``: without a suffix); reports a problem of
        ``kind`` and raises Refused if it is too long."""
        found = exact_number(str(token) if text is None else text)
        if found is None:
            self.source.report(kind, "this number is too long for a duration", self.token_span(token))
            raise Refused
        return found

    @abstractmethod
    def duration(self, parts: Sequence[Any]) -> Duration:
        """The duration of numbers and units."""

    def x_duration_value(self, tree: Node) -> Expr:
        return core.DurationLiteral(self.duration(tree.children), span=self.span(tree))

    def x_string(self, tree: Node) -> Expr:
        return core.Literal(self.unquoted(tree.children[0]), Type.STRING, span=self.span(tree))

    def unquoted(self, token: Token) -> str:
        return unquoted(str(token), self.offset + (token.start_pos or 0), self.source)

    def x_timestamp(self, tree: Node) -> Expr:
        text = self.unquoted(tree.children[0]).strip()
        value = microseconds(text)
        if value is None:
            hint = 'write it as `timestamp "2024-01-05T09:00:00Z"`'
            self.source.report("syntax", f"`{text}` is not a valid time", self.span(tree), hint)
        return core.Literal(value or 0, Type.TIMESTAMP, span=self.span(tree))

    def x_true(self, tree: Node) -> Expr:
        return core.Literal(True, Type.BOOL, span=self.span(tree))

    def x_false(self, tree: Node) -> Expr:
        return core.Literal(False, Type.BOOL, span=self.span(tree))

    def x_null(self, tree: Node) -> Expr:
        return core.Literal(None, Type.NULL, span=self.span(tree))

    def x_call(self, tree: Node) -> Expr:
        args = tuple(self.expr(c) for c in tree.children[1:] if c is not None)
        return core.Call(plain(tree.children[0]).lower(), args, span=self.span(tree))

    def x_annotated(self, tree: Node) -> Expr:
        kind, arg = tree.children
        return core.Annotated(self.type(kind) or Type.NULL, self.expr(arg), span=self.span(tree))


#: parts that any expression may have, and how many times more than it has in the text
_FREE, _TIMES = 2_000, 8


class Sizes:
    """The sizes of the expressions of one statement, built from the leaves upwards, with repeated operands counted.

    ``case x when 1 then ..`` compares ``x`` once for every ``when``, and ``x between 1 and y`` becomes comparisons that
    repeat ``x``.  Nested, they double with every level, so that a short text would stand for more than any memory
    holds.

    ``repeated``: of classes of nodes that stand for larger expressions, how often each operand is repeated there.
    """

    def __init__(self, repeated: Mapping[type[Expr], tuple[int, ...]]) -> None:
        self._repeated = repeated
        self._built = 0
        #: by the identity of a node, which is kept so that no other node gets its identity
        self._known: dict[int, tuple[Expr, int]] = {}

    def too_large(self, node: Expr) -> bool:
        """Whether ``node``, which was built just now, has far more parts than the text has."""
        self._built += 1
        return self._size(node) > _FREE + _TIMES * self._built

    def _size(self, node: Expr) -> int:
        known = self._known.get(id(node))
        if known is None:
            sizes = [self._size(c) for c in node.children]
            times = self._repeated.get(type(node))
            if times is not None:
                sizes = [n * size for n, size in zip(times, sizes, strict=True)] + [sum(times)]
            known = self._known[id(node)] = node, 1 + sum(sizes)
        return known[1]


class SqlBuilder(ExpressionBuilder):
    """Expressions of a language with SQL's `in`, `like`, `between` and `case`.

    ``repeated``: see :class:`Sizes`.  ``unwraps``: parentheses do not count as a level of nesting.
    """

    repeated: ClassVar[Mapping[type[Expr], tuple[int, ...]]] = {}
    unwraps: ClassVar[bool] = False

    def __init__(self, source: Text, offset: int):
        super().__init__(source, offset)
        self.sizes = Sizes(self.repeated)

    def expr(self, tree: Node) -> Expr:
        """An expression; reports and raises Refused if it is nested too deeply, or stands for too much."""
        while self.unwraps and tree.data == "group":
            tree = tree.children[0]
        self.deeper(1, tree)
        built: Expr = getattr(self, f"x_{tree.data}")(tree)
        self.depth -= 1
        if self.sizes.too_large(built):
            hint = "`between` and `case x when` repeat their operands: compute the inner ones in another statement"
            raise self.refuse("syntax", "these nested operators expand to an expression that is too large", tree, hint)
        return built

    def negatable(self, tree: Node) -> tuple[list[Expr], bool]:
        """The operands, and whether there is a `not` between them."""
        operands = [c for c in tree.children if c.data != "negated"]
        return [self.expr(c) for c in operands], len(operands) < len(tree.children)

    def x_like(self, tree: Node) -> Expr:
        (arg, pattern), negated = self.negatable(tree)
        return core.Like(arg, pattern, negated, span=self.span(tree))

    def x_in_(self, tree: Node) -> Expr:
        (arg, *items), negated = self.negatable(tree)
        return core.In(arg, tuple(items), negated, span=self.span(tree))

    def x_between(self, tree: Node) -> Expr:
        """`x between a and b` is `x >= a and x <= b`."""
        (arg, low, high), negated = self.negatable(tree)
        span = self.span(tree)
        ends = core.Binary(">=", arg, low, span=span), core.Binary("<=", arg, high, span=span)
        inside = core.Binary("and", *ends, span=span)
        return core.Unary("not", inside, span=span) if negated else inside

    def x_case(self, tree: Node) -> Expr:
        """`case when c then v .. end` is `if(c, v, .., null)`."""
        parts = self.branches(tree)
        otherwise = [] if len(parts) % 2 else [core.Literal(None, Type.NULL, span=self.span(tree))]
        return core.Call("if", (*parts, *otherwise), span=self.span(tree), written="case")

    def branches(self, tree: Node) -> list[Expr]:
        """The parts of a `case`: condition, value, condition, value .. and, if there is an `else`, its value.

        `case x when v then r` is `case when x = v then r`.
        """
        compared = self.expr(tree.children[0]) if tree.children[0].data != "when" else None
        parts: list[Expr] = []
        for part in tree.children[compared is not None :]:
            built = [self.expr(c) for c in part.children]
            if compared is not None and part.data == "when":
                built[0] = core.Binary("=", compared, built[0], span=self.span(part.children[0]))
            parts += built
        return parts


def whole_number(digits: str, most: int) -> int | None:
    """The number that digits write; None if it is more than ``most``."""
    short = digits.lstrip("0") or "0"
    # compared by length first: Python refuses to read thousands of digits
    return int(short) if len(short) <= len(str(most)) and int(short) <= most else None


def unquoted(word: str, at: int, source: Text) -> str:
    """What a text in quotes, which stands at offset ``at``, says; unknown escapes are reported."""

    def replace(match: re.Match[str]) -> str:
        code = match.group(1)
        if code in _ESCAPES:
            return _ESCAPES[code]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        start = at + 1 + match.start()
        hint = r"the escapes are \\ \' \" \n \t \r and \uXXXX; write a backslash as \\"
        source.report("syntax", f"unknown escape \\{code}", source.span(start, start + 2), hint)
        return ""

    text = _ESCAPE.sub(replace, word[1:-1])
    try:
        # a pair of surrogates is one character; half of one is none
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        span = source.span(at, at + len(word))
        source.report("syntax", r"half of a surrogate pair (\uD800 to \uDFFF) is not a character", span)
        return ""


def microseconds(text: str) -> int | None:
    """The point in time that an ISO text names (without zone: UTC), since 1970 UTC; None if it names none."""
    try:
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
        return (at - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None


def plain(token: Token | str) -> str:
    """A name without its backquotes."""
    return token[1:-1] if token.startswith("`") else str(token)


def joined(path: Sequence[Token | str]) -> str:
    """The name of an attribute: `a.b` is the value `b` in the record `a`."""
    return ".".join(map(plain, path))


def within_record(ref: core.Ref, attributes: Collection[str] | None, scopes: Collection[str]) -> core.Ref | None:
    """`a.b` as an attribute of the event at hand, if `a` is none of the ``scopes`` of the statement and the event has
    such an attribute, or one in a record `a`; None if it cannot.  ``attributes``: of the event, None: not known."""
    if ref.scope is None or ref.index is not None or ref.scope in scopes:
        return None
    path = f"{ref.scope}.{ref.name}"
    if attributes is None:
        meant = not nearest(ref.scope, scopes)
    else:
        meant = any(a == path or a.startswith(f"{ref.scope}.") for a in attributes)
    return replace(ref, scope=None, name=path) if meant else None


def end_of(node: Any) -> int:
    at: Any = node if isinstance(node, Token) else node.meta
    return int(at.end_pos)
