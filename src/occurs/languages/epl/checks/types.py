"""The types of the expressions of EPL, and expressions in plain form (epl-and-nets.md, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from occurs.errors import Span, did_you_mean
from occurs.expr.render import render
from occurs.expr.tree import COMPARISONS, Binary, Call, Expr, In, Literal, Ref, Unary, rewrite
from occurs.expr.typing import Report, comparable, infer, span_of
from occurs.languages.epl import syntax
from occurs.languages.epl.functions import FUNCTIONS
from occurs.model.types import Type, widen

RefType = Callable[[Ref], Type | None]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def silent(kind: str, message: str, span: Span | None, hint: str | None = None) -> None:
    """For those who only want a type."""


#: the hints of the shared typing -> those of EPL, which has no `number(..)` and other spellings
_HINTS = {
    "join strings with concat(..); convert a string to a number with number(..)":
        "join strings with `||`; a string is never converted to a number",
    "convert a string to a number with number(..)": "a string is never converted to a number",
    "write a duration with a unit: `5 s`; `d / 1 s` is a number of seconds": "write a duration with a unit: `5 sec`",
    "write a duration with a unit: `5 s`": "write a duration with a unit: `5 sec`",
    'write a time as `timestamp "2024-01-05T09:00:00Z"`': "write a time as '2024-01-05T09:00:00Z'",
}  # fmt: skip


class Typing:
    """Types of resolved expressions.  ``ref`` gives that of a reference (None: unknown); ``integer_time``: do times
    count ticks?  None: not known."""

    def __init__(self, ref: RefType, report: Report, integer_time: bool | None):
        self.ref = ref
        self.outer = report
        self.integer_time = integer_time

    def typed(self, node: Expr) -> tuple[Expr, Type | None]:
        """The expression, its texts beside times read as times, in plain form; and its type, None if unknown.
        Everything that does not fit is reported."""
        node = rewrite(rewrite(node, self._known), self._times)
        found = self.type(node, self._report)
        return rewrite(node, self._plain), found

    def condition(self, node: Expr) -> Expr:
        """A condition in plain form; reports one that is no condition."""
        node, found = self.typed(node)
        if found not in (None, Type.BOOL, Type.NULL):
            hint = "compare it with a value: `= ...`, `> ...`"
            self.outer("type-mismatch", f"a condition must be true or false, but this is {found}", span_of(node), hint)
        return node

    def type(self, node: Expr, report: Report = silent) -> Type | None:
        """The type of an expression that is not yet plain."""
        return infer(_renamed(node), lambda n: self._own(n, report), report, integer_time=self.integer_time)

    def _known(self, node: Expr) -> Expr | None:
        """Null in the place of functions that there are not; they are reported."""
        if not isinstance(node, Call) or node.name in FUNCTIONS:
            return None
        hint = did_you_mean(node.name, FUNCTIONS, "functions")
        self.outer("unknown-function", f"there is no function `{node.name}`", span_of(node), hint)
        return Literal(None, Type.NULL, span=node.span)

    def _report(self, kind: str, message: str, span: Span | None, hint: str | None) -> None:
        for name in ("max", "min"):
            message = message.replace(f"{FUNCTIONS[name]}:", f"{name}:").replace(f"{FUNCTIONS[name]}(", f"{name}(")
        hint = None if hint is None else _HINTS.get(hint, hint)
        self.outer(kind, message, span, hint)

    # --- nodes of this language --------------------------------------------------------------------------------------

    def _own(self, node: Expr, report: Report) -> Type | None:
        match node:
            case Ref():
                return self.ref(node)
            case syntax.Between() | syntax.InRange():
                first = self.type(node.arg, report)
                for end in (node.low, node.high):
                    found = self.type(end, report)
                    if first is None or found is None or comparable("<=", first, found, self.integer_time):
                        continue
                    word = "between" if isinstance(node, syntax.Between) else "in"
                    hint = "a string is never converted to another type" if Type.STRING in (first, found) else None
                    message = f"`{word}` cannot compare {first} with {found}"
                    report("type-mismatch", message, span_of(end) or span_of(node), hint)
                return Type.BOOL
            case syntax.Concat():
                for part in (node.left, node.right):
                    found = self.type(part, report)
                    if found not in (None, Type.STRING, Type.NULL):
                        message = f"`||` joins strings, but `{render(_renamed(part))}` is {found}"
                        report("type-mismatch", message, span_of(part), None)
                return Type.STRING
            case syntax.Case():
                return self._case(node, report)
        return None

    def _case(self, node: syntax.Case, report: Report) -> Type | None:
        pairs = len(node.parts) // 2
        for condition in node.parts[: 2 * pairs : 2]:
            found = self.type(condition, report)
            if found not in (None, Type.BOOL, Type.NULL):
                message = f"`when` needs a condition, but `{render(_renamed(condition))}` is {found}"
                report("type-mismatch", message, span_of(condition), None)
        joint: Type | None = Type.NULL
        for value in [*node.parts[1 : 2 * pairs : 2], *node.parts[2 * pairs :]]:
            found = self.type(value, report)
            wider = None if joint is None or found is None else widen(joint, found)
            if wider is None and joint is not None and found is not None:
                report(
                    "type-mismatch",
                    f"the values of `case` have different types: {joint} before, {found} here",
                    span_of(value),
                    None,
                )
            joint = wider
        return joint

    # --- texts that are times ----------------------------------------------------------------------------------------

    def _times(self, node: Expr) -> Expr | None:
        """Text literals that are compared with times, as times."""
        compared = isinstance(node, In | syntax.Between | syntax.InRange)
        if not compared and not (isinstance(node, Binary) and node.op in COMPARISONS):
            return None
        if not any(isinstance(c, Literal) and c.type is Type.STRING for c in node.children):
            return None
        if not any(self.type(c) is Type.TIMESTAMP for c in node.children if not isinstance(c, Literal)):
            return None
        return node.with_children(tuple(self._time(c) for c in node.children))

    def _time(self, node: Expr) -> Expr:
        if not isinstance(node, Literal) or not isinstance(node.value, str):
            return node
        value = instant_of(node.value)
        if value is None:
            hint = "write a time as '2024-01-05T09:00:00Z'"
            self.outer("type-mismatch", f"`{node.value}` is not a valid time", node.span, hint)
            return Literal(None, Type.NULL, span=node.span)
        return Literal(value, Type.TIMESTAMP, span=node.span)

    # --- plain form --------------------------------------------------------------------------------------------------

    def _plain(self, node: Expr) -> Expr | None:
        """A node of this language by nodes that all languages have; its operands are plain already."""
        match node:
            case syntax.Between():
                return _unless(node.negated, self._between(node), node.span)
            case syntax.InRange():
                low = Binary(">=" if node.closed[0] else ">", node.arg, node.low, span=node.span)
                high = Binary("<=" if node.closed[1] else "<", node.arg, node.high, span=node.span)
                return _unless(node.negated, Binary("and", low, high, span=node.span), node.span)
            case syntax.Concat():
                return Call("concat", (node.left, node.right), span=node.span)
            case syntax.Case():
                otherwise = () if len(node.parts) % 2 else (Literal(None, Type.NULL, span=node.span),)
                return Call("if", (*node.parts, *otherwise), span=node.span)
            case Call() if node.name in FUNCTIONS:
                return replace(node, name=FUNCTIONS[node.name])
        return None

    def _between(self, node: syntax.Between) -> Expr:
        low, high = node.low, node.high
        if isinstance(low, Literal) and isinstance(high, Literal) and _ordered(low.type, high.type):
            ends = (high, low) if low.value > high.value else (low, high)  # type: ignore[operator]
            return _in_order(ends[0], node.arg, ends[1], node.span)
        if self.type(low) is self.type(high):
            least, greatest = (Call(f, (low, high), span=node.span) for f in ("least", "greatest"))
            return _in_order(least, node.arg, greatest, node.span)
        # an int beside a float would be widened by `least`: compared by exact value instead
        one, other = _in_order(low, node.arg, high, node.span), _in_order(high, node.arg, low, node.span)
        return Binary("or", one, other, span=node.span)


def _ordered(a: Type, b: Type) -> bool:
    """Do constants of these types have an order?"""
    return (a.numeric and b.numeric) or (a is b and a is not Type.NULL)


def _in_order(low: Expr, arg: Expr, high: Expr, span: Span | None) -> Expr:
    return Binary("and", Binary(">=", arg, low, span=span), Binary("<=", arg, high, span=span), span=span)


def _unless(negated: bool, node: Expr, span: Span | None) -> Expr:
    return Unary("not", node, span=span) if negated else node


def _renamed(node: Expr) -> Expr:
    """With the names that functions have in the catalogue."""

    def rule(one: Expr) -> Expr | None:
        if isinstance(one, Call) and one.name in FUNCTIONS and one.name != FUNCTIONS[one.name]:
            return replace(one, name=FUNCTIONS[one.name])
        return None

    return rewrite(node, rule)


def instant_of(text: str) -> int | None:
    """Microseconds since 1970 of an ISO 8601 text, UTC if it names no zone; None if it is none."""
    try:
        at = datetime.fromisoformat(text.strip())
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
        return (at - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None
