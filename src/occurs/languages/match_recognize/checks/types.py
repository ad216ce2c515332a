"""The types of the expressions of row patterns, and expressions in plain form (match-recognize.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from occurs.errors import Span, did_you_mean
from occurs.expr.signature import ORDERED
from occurs.expr.tree import Binary, Call, Expr, IsNull, Literal, Param, Unary, rewrite
from occurs.expr.typing import Report, comparable, infer, span_of
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.functions import FUNCTIONS
from occurs.languages.match_recognize.render import expr_text
from occurs.model.types import Type, widen

#: the type of a column; None: unknown
ColumnType = Callable[[syntax.Column], Type | None]
#: message, place, hint
Notice = Callable[[str, Span | None, str | None], None]

#: the hints of the shared typing -> those of SQL
_HINTS = {
    "join strings with concat(..); convert a string to a number with number(..)":
        "join texts with `||`; convert a text to a number with `CAST(x AS double)`",
    "convert a string to a number with number(..)": "convert a text to a number with `CAST(x AS double)`",
    "write a duration with a unit: `5 s`; `d / 1 s` is a number of seconds":
        "write a duration with a unit: `INTERVAL '5' SECOND`",
    "write a duration with a unit: `5 s`": "write a duration with a unit: `INTERVAL '5' SECOND`",
    'write a time as `timestamp "2024-01-05T09:00:00Z"`': "write a time as `TIMESTAMP '2024-01-05 09:00:00'`",
    "bools have no order: use `=`, `!=` or the value itself":
        "booleans have no order: use `=`, `<>` or the value itself",
}  # fmt: skip


def silent(kind: str, message: str, span: Span | None, hint: str | None = None) -> None:
    """For those who only want a type."""


class Typing:
    """Types of expressions as they are written.  ``column`` gives that of a column; ``notice`` is called for divisions
    of whole numbers; ``integer_time``: do times count ticks?  None: not known."""

    def __init__(self, column: ColumnType, report: Report, notice: Notice, integer_time: bool | None):
        self.column = column
        self.notice = notice
        self.outer = report
        self.integer_time = integer_time

    def named(self, node: Expr) -> Expr:
        """The expression with the functions of the catalogue by their names there; unknown ones are reported."""
        return rewrite(node, self._known)

    def check(self, node: Expr) -> Type | None:
        """The type of an expression, None if it is unknown; everything that does not fit is reported."""
        found = self.type(node, self._report)
        for part in node.walk():
            if isinstance(part, Binary) and part.op == "/":
                ends = [self.type(e) for e in (part.left, part.right)]
                if ends == [Type.INT, Type.INT]:
                    message = f"`{expr_text(part)}` is real division: 7 / 2 is 3.5"
                    self.notice(message, part.span, "write `TRUNC(a / b)` for the whole part")
        return found

    def condition(self, node: Expr) -> None:
        """Reports an expression that is no condition."""
        found = self.check(node)
        if found not in (None, Type.BOOL, Type.NULL):
            hint = "compare it with a value: `= ...`, `> ...`"
            self.outer("type-mismatch", f"a condition must be true or false, but this is {found}", span_of(node), hint)

    def type(self, node: Expr, report: Report = silent) -> Type | None:
        """The type of an expression."""
        return infer(node, lambda n: self._own(n, report), report, integer_time=self.integer_time, shown=expr_text)

    def _report(self, kind: str, message: str, span: Span | None, hint: str | None) -> None:
        self.outer(kind, message, span, None if hint is None else _HINTS.get(hint, hint))

    def _known(self, node: Expr) -> Expr | None:
        """Null in the place of functions that there are not, and of parameters; they are reported.  ``MOD(x, y)`` is
        ``x % y``."""
        if isinstance(node, Param):
            hint = "only `occurs.sql` takes parameters, with `args=`"
            self.outer("unsupported", f"there is no value for the parameter `:{node.name}`", node.span, hint)
            return Literal(None, Type.NULL, span=node.span)
        if not isinstance(node, Call):
            return None
        if node.name == "mod":
            if len(node.args) == 2:
                return Binary("%", *node.args, span=node.span)
            self.outer("arity", f"mod takes 2 arguments, but got {len(node.args)}", node.span, None)
            return Literal(None, Type.NULL, span=node.span)
        if node.name in FUNCTIONS:
            return replace(node, name=FUNCTIONS[node.name], written=None)
        hint = did_you_mean(node.name, [*FUNCTIONS, *_AGGREGATES], "functions")
        self.outer("unknown-function", f"there is no function `{node.written or node.name}`", span_of(node), hint)
        return Literal(None, Type.NULL, span=node.span)

    # --- nodes of this language --------------------------------------------------------------------------------------

    def _own(self, node: Expr, report: Report) -> Type | None:
        match node:
            case syntax.Column():
                return self.column(node)
            case syntax.Navigation():
                return self.type(node.arg, report)
            case syntax.Aggregate():
                return self.aggregate(node, report)[0]
            case syntax.Classifier():
                return Type.STRING
            case syntax.MatchNumber():
                return Type.INT
            case syntax.Between():
                first = self.type(node.arg, report)
                for end in (node.low, node.high):
                    self._compared(node, first, end, "BETWEEN", "<=", report)
                return Type.BOOL
            case syntax.DistinctFrom():
                self._compared(node, self.type(node.left, report), node.right, "IS DISTINCT FROM", "=", report)
                return Type.BOOL
            case syntax.Concat():
                for part in (node.left, node.right):
                    found = self.type(part, report)
                    if found not in (None, Type.STRING, Type.NULL):
                        message = f"`||` joins texts, but `{expr_text(part)}` is {found}"
                        report("type-mismatch", message, span_of(part), "convert it: `CAST(x AS string)`")
                return Type.STRING
            case syntax.Case():
                return self._case(node, report)
            case syntax.Cast():
                return self._cast(node, report)
        return None

    def _compared(self, node: Expr, first: Type | None, end: Expr, word: str, op: str, report: Report) -> None:
        found = self.type(end, report)
        if first is None or found is None or comparable(op, first, found, self.integer_time):
            return
        hint = "text is never converted to another type" if Type.STRING in (first, found) else None
        message = f"`{word}` cannot compare {first} with {found}"
        report("type-mismatch", message, span_of(end) or span_of(node), hint)

    def _case(self, node: syntax.Case, report: Report) -> Type | None:
        pairs = len(node.parts) // 2
        for condition in node.parts[: 2 * pairs : 2]:
            found = self.type(condition, report)
            if found not in (None, Type.BOOL, Type.NULL):
                message = f"`WHEN` needs a condition, but `{expr_text(condition)}` is {found}"
                report("type-mismatch", message, span_of(condition), None)
        return self._joint([*node.parts[1 : 2 * pairs : 2], *node.parts[2 * pairs :]], report)

    def _joint(self, values: Sequence[Expr], report: Report) -> Type | None:
        joint: Type | None = Type.NULL
        for value in values:
            found = self.type(value, report)
            wider = None if joint is None or found is None else widen(joint, found)
            if wider is None and joint is not None and found is not None:
                message = f"the values of `CASE` have different types: {joint} before, {found} here"
                report("type-mismatch", message, span_of(value), None)
            joint = wider
        return joint

    def _cast(self, node: syntax.Cast, report: Report) -> Type:
        found = self.type(node.arg, report)
        if found is not None and found not in _CASTS[node.type]:
            message = f"{found} cannot be converted to {node.written or node.type}"
            report("type-mismatch", message, span_of(node), None)
        return node.type

    def aggregate(self, node: syntax.Aggregate, report: Report = silent) -> tuple[Type | None, Type]:
        """The type of the result of an aggregate (None: unknown), and of the elements if it is a list."""
        types = [self.type(a, report) for a in node.args]
        name = node.function
        if name == "count":
            return Type.INT, Type.NULL
        first = types[0]
        if name in ("sum", "avg", "stddev", "stddev_pop"):
            if first is not None and first is not Type.NULL and not first.numeric:
                message = f"`{name.upper()}` takes numbers, but `{expr_text(node.args[0])}` is {first}"
                report("type-mismatch", message, span_of(node.args[0]), None)
                return None, Type.NULL
            return (first if name == "sum" else Type.FLOAT), Type.NULL
        if name == "array_agg":
            return Type.RECORD, first or Type.NULL
        ordered = types[-1]
        if ordered is not None and ordered is not Type.NULL and ordered not in ORDERED:
            message = f"`{name.upper()}` takes values with an order, but `{expr_text(node.args[-1])}` is {ordered}"
            report("type-mismatch", message, span_of(node.args[-1]), None)
        return first, Type.NULL

    # --- plain form --------------------------------------------------------------------------------------------------

    def plain(self, node: Expr, leaf: Callable[[Expr], Expr | None]) -> Expr:
        """An expression by nodes that all languages have, and what ``leaf`` makes of columns, navigations, aggregates
        and the functions of a row."""
        found = leaf(node)
        if found is not None:
            return found
        children = tuple(self.plain(c, leaf) for c in node.children)
        match node:
            case syntax.Between():
                arg, low, high = children
                both = Binary(">=", arg, low, span=node.span), Binary("<=", arg, high, span=node.span)
                return _unless(node.negated, Binary("and", *both, span=node.span), node.span)
            case syntax.DistinctFrom():
                left, right = children
                same = Call("if", (IsNull(right, span=node.span), _FALSE, Binary("=", left, right, span=node.span)))
                equal = Call("if", (IsNull(left, span=node.span), IsNull(right, span=node.span), same), span=node.span)
                return _unless(not node.negated, equal, node.span)
            case syntax.Concat():
                return Call("concat", children, span=node.span)
            case syntax.Case():
                otherwise = () if len(children) % 2 else (Literal(None, Type.NULL, span=node.span),)
                return Call("if", (*children, *otherwise), span=node.span, written="case")
            case syntax.Cast():
                return converted(children[0], self.type(node.arg), node.type, node.span)
        return node.with_children(children) if children else node


_AGGREGATES = ("count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "array_agg", "min_by", "max_by",
               "first", "last", "prev", "next", "classifier", "match_number")  # fmt: skip
_FALSE = Literal(False, Type.BOOL)
#: what CAST converts to each type
_CASTS: dict[Type, tuple[Type, ...]] = {
    Type.INT: (Type.NULL, Type.INT, Type.FLOAT, Type.STRING, Type.BOOL),
    Type.FLOAT: (Type.NULL, Type.INT, Type.FLOAT, Type.STRING, Type.BOOL),
    Type.STRING: (Type.NULL, Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIMESTAMP),
    Type.BOOL: (Type.NULL, Type.INT, Type.FLOAT, Type.STRING, Type.BOOL),
    Type.TIMESTAMP: (Type.NULL, Type.STRING, Type.TIMESTAMP),
}


def converted(arg: Expr, of: Type | None, to: Type, span: Span | None) -> Expr:
    """``CAST(arg AS to)`` for a value of type ``of``: null unless the value is the same afterwards."""
    if of is to:
        return arg
    if of is Type.NULL:
        return Literal(None, Type.NULL, span=span)
    if to in (Type.STRING, Type.TIMESTAMP):
        return Call("string" if to is Type.STRING else "timestamp", (arg,), span=span)
    if to is Type.BOOL:
        if of is Type.STRING:
            text = Call("lower", (Call("trim", (arg,), span=span),), span=span)
            return _by_value(text, Literal("true", Type.STRING), Literal("false", Type.STRING), span)
        return _by_value(arg, Literal(1, Type.INT), Literal(0, Type.INT), span)
    made = Call("int" if to is Type.INT else "float", (arg,), span=span)
    if of in (Type.INT, Type.FLOAT):
        same = Binary("=", made, arg, span=span)
        return Call("if", (same, made, Literal(None, Type.NULL, span=span)), span=span)
    return made


def _by_value(arg: Expr, yes: Expr, no: Expr, span: Span | None) -> Expr:
    true, false, null = Literal(True, Type.BOOL), _FALSE, Literal(None, Type.NULL)
    tests = Binary("=", arg, yes, span=span), Binary("=", arg, no, span=span)
    return Call("if", (tests[0], true, tests[1], false, null), span=span)


def _unless(negated: bool, node: Expr, span: Span | None) -> Expr:
    return Unary("not", node, span=span) if negated else node
