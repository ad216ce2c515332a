"""The types of expressions: what goes with what (common.md, section 6)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from occurs.errors import Span, did_you_mean
from occurs.expr.functions import CATALOGUE
from occurs.expr.render import render
from occurs.expr.signature import Mismatch
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
from occurs.model.types import Type, widen

Lookup = Callable[[Expr], Type | None]
#: kind, message, place, hint
Report = Callable[[str, str, Span | None, str | None], None]

LEAST, GREATEST = -(2**63), 2**63 - 1

_noted: ContextVar[list[tuple[Span, Type]] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[list[tuple[Span, Type]]]:
    """While it is open, the places of all expressions whose types are inferred, each with its type."""
    out: list[tuple[Span, Type]] = []
    before = _noted.set(out)
    try:
        yield out
    finally:
        _noted.reset(before)


def infer(
    node: Expr,
    lookup: Lookup,
    report: Report,
    *,
    functions: Collection[str] | None = None,
    integer_time: bool | None = None,
    shown: Callable[[Expr], str] = render,
) -> Type | None:
    """The type of ``node``; None if it is unknown, be it after a complaint.

    ``lookup`` gives the types of references, parameters and the nodes that a language added; None is unknown: no
    complaint, and unknown above.  ``report(kind, message, span, hint)`` is called for every problem: ``type-mismatch``,
    ``unknown-function``, ``arity``.  ``functions`` are the names that the language offers (None: all of the catalogue).
    ``integer_time``: whether the times of the run are integers, so that durations are numbers of ticks; None: not
    known, both readings pass.  ``shown``: the text of an expression in the language, for messages.
    """
    return _Inference(lookup, report, functions, integer_time, shown).type(node)


def require_bool(node: Expr, found: Type | None, report: Report) -> None:
    """Complain if a condition is of another type than bool."""
    if found not in (None, Type.BOOL, Type.NULL):
        report("type-mismatch", f"a condition is expected, but `{render(node)}` is {found}", span_of(node), None)


def span_of(node: Expr) -> Span | None:
    """The place of a node; of one without, the first place below it."""
    places: Iterator[Span | None] = (getattr(n, "span", None) for n in node.walk())
    return next((s for s in places if s is not None), None)


def arithmetic_type(op: str, a: Type, b: Type, integer_time: bool | None) -> Type | None:
    """The type of ``a op b`` for ``+ - * / % mod div``, None if they do not go together.

    Times and durations: time - time is a duration, time ± duration a time, duration / duration a number.  Over integer
    time they also go with numbers (of ticks), and a duration that is divided or multiplied by a float is a number; over
    timestamps it is a duration.
    """
    time, span, number = Type.TIMESTAMP, Type.DURATION, integer_time is not False
    if Type.NULL in (a, b):
        other = b if a is Type.NULL else a
        return other if other.numeric or other in (time, span, Type.NULL) else None
    if a.numeric and b.numeric:
        if op == "/":
            return Type.FLOAT
        return Type.INT if a is b is Type.INT else Type.FLOAT
    if op in ("+", "-"):
        if a is span and b is span:
            return span
        if a is time and b is time:
            return span if op == "-" else None
        if a is time and (b is span or (number and b is Type.INT)):
            return time
        if b is time and op == "+" and (a is span or (number and a is Type.INT)):
            return time
        if number and span in (a, b) and (a.numeric or b.numeric):
            return span if Type.FLOAT not in (a, b) else Type.FLOAT
        return None
    scaled = Type.FLOAT if number else span
    if op == "*":
        if (a is span and b.numeric) or (b is span and a.numeric):
            return span if Type.INT in (a, b) else scaled
        return None
    if op == "/":
        if a is span and b is span:
            return Type.FLOAT
        if a is span and b.numeric:
            return scaled
        return Type.FLOAT if number and b is span and a.numeric else None
    if a is span and b is span:
        return Type.INT if op == "div" else span
    if number and span in (a, b) and Type.INT in (a, b):
        return span
    return None


def comparable(op: str, a: Type, b: Type, integer_time: bool | None) -> bool:
    """Whether ``a op b`` makes sense for a comparison."""
    if Type.BOOL in (a, b) and op not in ("=", "!="):
        return False
    if Type.NULL in (a, b) or a is b or (a.numeric and b.numeric):
        return True
    lasting = (Type.DURATION, Type.TIMESTAMP)
    return integer_time is not False and ((a in lasting and b.numeric) or (b in lasting and a.numeric))


class _Inference:
    def __init__(
        self,
        lookup: Lookup,
        report: Report,
        functions: Collection[str] | None,
        integer_time: bool | None,
        shown: Callable[[Expr], str],
    ) -> None:
        self.lookup = lookup
        self.report = report
        self.functions = CATALOGUE.keys() if functions is None else functions
        self.integer_time = integer_time
        self.shown = shown
        self.noted = _noted.get()

    def complain(self, message: str, node: Expr, hint: str | None = None, kind: str = "type-mismatch") -> None:
        self.report(kind, message, span_of(node), hint)

    def type(self, node: Expr) -> Type | None:
        found = self._type(node)
        span: Span | None = getattr(node, "span", None)
        if self.noted is not None and found is not None and span is not None:
            self.noted.append((span, found))
        return found

    def _type(self, node: Expr) -> Type | None:
        match node:
            case Literal():
                return self.literal(node)
            case DurationLiteral():
                return Type.DURATION
            case Slot():
                return node.type
            case Ref() | Param():
                return self.lookup(node)
            case Unary():
                return self.unary(node)
            case Binary(op="and" | "or"):
                self.condition(node.left, node.op)
                self.condition(node.right, node.op)
                return Type.BOOL
            case Binary() if node.op in COMPARISONS:
                self.compare(node, node.op, node.left, self.type(node.left), node.right)
                return Type.BOOL
            case Binary():
                return self.arithmetic(node)
            case IsNull():
                self.type(node.arg)
                return Type.BOOL
            case In():
                found = self.type(node.arg)
                for item in node.items:
                    self.compare(node, "=", node.arg, found, item)
                return Type.BOOL
            case Like():
                for part in (node.arg, node.pattern):
                    found = self.type(part)
                    if found not in (None, Type.STRING, Type.NULL):
                        self.complain(f"`like` compares strings, but `{self.shown(part)}` is {found}", part)
                return Type.BOOL
            case Call():
                return self.call(node)
            case Annotated():
                return self.annotated(node)
        return self.lookup(node)

    def literal(self, node: Literal) -> Type:
        if node.type is Type.INT and isinstance(node.value, int) and not LEAST <= node.value <= GREATEST:
            self.complain(f"{node.value} does not fit in 64 bits", node, "add a decimal point to make it a float")
        return node.type

    def condition(self, node: Expr, word: str) -> None:
        found = self.type(node)
        if found not in (None, Type.BOOL, Type.NULL):
            self.complain(f"`{word}` joins conditions, but `{self.shown(node)}` is {found}", node)

    def unary(self, node: Unary) -> Type | None:
        if node.op == "not":
            self.condition(node.arg, "not")
            return Type.BOOL
        if isinstance(node.arg, Literal) and node.arg.value == -LEAST and node.arg.type is Type.INT:
            return Type.INT
        found = self.type(node.arg)
        if found is None or found.numeric or found in (Type.DURATION, Type.NULL):
            return found
        self.complain(f"`-` needs a number, but `{self.shown(node.arg)}` is {found}", node)
        return None

    def compare(self, node: Expr, op: str, left: Expr, a: Type | None, right: Expr) -> None:
        b = self.type(right)
        if a is None or b is None or comparable(op, a, b, self.integer_time):
            return
        self.complain(f"`{self.shown(node)}`: `{op}` cannot compare {a} with {b}", node, _comparison_hint(op, a, b))

    def arithmetic(self, node: Binary) -> Type | None:
        a, b = self.type(node.left), self.type(node.right)
        if a is None or b is None:
            return None
        found = arithmetic_type(node.op, a, b, self.integer_time)
        if found is None:
            hint = None
            if Type.STRING in (a, b):
                hint = "join strings with concat(..); convert a string to a number with number(..)"
            elif Type.DURATION in (a, b) and (a.numeric or b.numeric):
                hint = "write a duration with a unit: `5 s`; `d / 1 s` is a number of seconds"
            self.complain(f"`{self.shown(node)}`: `{node.op}` cannot be applied to {a} and {b}", node, hint)
        return found

    def call(self, node: Call) -> Type | None:
        types = [self.type(a) for a in node.args]
        known = CATALOGUE.get(node.name) if node.name in self.functions else None
        if known is None:
            hint = did_you_mean(node.name, self.functions, "functions")
            self.complain(f"there is no function `{node.name}`", node, hint, "unknown-function")
            return None
        if not known.takes(len(types)):
            self.complain(f"{known.name} takes {known.arity}, but got {len(types)}", node, known.doc, "arity")
            return None
        try:
            result = known.resolve(types)[1]
        except Mismatch as m:
            arg, found = node.args[m.position], types[m.position]
            hint = (
                known.doc
                if node.written is None
                else "all conditions must be true or false, and all values must have one type"
            )
            message = f"{node.written or known.name}: `{self.shown(arg)}` is {found}, expected {m.expected}"
            self.complain(message, arg, hint)
            return None
        for position, problem in known.problem.items():
            given = node.args[position] if position < len(node.args) else None
            wrong = problem(given.value) if isinstance(given, Literal) and given.value is not None else None
            if given is not None and wrong:
                self.complain(wrong, given)
        return result

    def annotated(self, node: Annotated) -> Type:
        found = self.type(node.arg)
        if found is not None and widen(found, node.type) is not node.type:
            self.complain(f"`{self.shown(node.arg)}` is {found}, not {node.type}", node)
        return node.type


def _comparison_hint(op: str, a: Type, b: Type) -> str | None:
    if a is b is Type.BOOL:
        return "bools have no order: use `=`, `!=` or the value itself"
    pair = {a, b}
    if Type.STRING in pair and (Type.INT in pair or Type.FLOAT in pair):
        return "convert a string to a number with number(..)"
    if pair == {Type.STRING, Type.TIMESTAMP}:
        return 'write a time as `timestamp "2024-01-05T09:00:00Z"`'
    if Type.DURATION in pair and (Type.INT in pair or Type.FLOAT in pair):
        return "write a duration with a unit: `5 s`"
    return None
