"""Conditions and values of EPL as terms of a net (epl-and-nets.md, section 4B, Data).

A net has no null.  In EPL a division by zero is one, and so is an attribute of an event that is not there: a condition
becomes "it is true", in which comparisons with what may be null first ask whether it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from occurs.errors import Span
from occurs.expr.tree import COMPARISONS, Binary, Call, Expr, In, IsNull, Literal, Ref, Unary, conjuncts
from occurs.languages.epl.nets.builder import number
from occurs.model.types import Type
from occurs.nets.terms import Term

#: functions of the catalogue, and what nets call them
FUNCTIONS = {"abs": "abs", "concat": "concat", "greatest": "max", "least": "min"}

TRUE, FALSE = Literal(True, Type.BOOL), Literal(False, Type.BOOL)


class Unsupported(Exception):
    """An expression that has no translation: what, and where."""

    def __init__(self, message: str, span: Span | None):
        super().__init__(message)
        self.message, self.span = message, span


@dataclass(frozen=True)
class Given:
    """A value: its term, None if it is null for certain; it is null, too, unless all of ``needs`` are true."""

    term: Term | None
    needs: tuple[Term, ...] = ()


#: the variable of an attribute; None: its event is not there
Lookup = Callable[[Ref], Term | None]


def value(node: Expr, lookup: Lookup) -> Given:
    """A value.  Raises Unsupported."""
    match node:
        case Literal():
            return Given(None if node.value is None else node)
        case Ref():
            return Given(lookup(node))
        case Unary("neg"):
            return _strict([node.arg], lookup, lambda a: Unary("neg", a[0]))
        case Binary("/" | "%"):
            made = _strict([node.left, node.right], lookup, lambda a: Binary(node.op, a[0], a[1]))
            divisor = value(node.right, lookup).term
            if made.term is None or divisor is None:
                return Given(None)
            if isinstance(divisor, Literal):
                return made if divisor.value != 0 else Given(None)
            return Given(made.term, (*made.needs, Binary("!=", divisor, number(0))))
        case Binary("+" | "-" | "*"):
            return _strict([node.left, node.right], lookup, lambda a: Binary(node.op, a[0], a[1]))
        case Call() if node.name in FUNCTIONS:
            return _strict(list(node.args), lookup, lambda a: Call(FUNCTIONS[node.name], tuple(a)))
        case Binary() | Unary() | IsNull() | In():
            true, false = _both(node, lookup)
            return Given(true, (_or(true, false),) if _may_be_null(node, lookup) else ())
    what = f"`{node.name}(..)`" if isinstance(node, Call) else "this expression"
    if isinstance(node, Call) and node.name == "if":
        what = "`case`"
    raise Unsupported(f"{what} cannot be translated into a net", getattr(node, "span", None))


def _may_be_null(node: Expr, lookup: Lookup) -> bool:
    """Is there anything in it that may be null?"""
    for part in node.walk():
        if isinstance(part, Binary) and part.op in ("/", "%"):
            if not isinstance(part.right, Literal) or part.right.value == 0:
                return True
        elif (isinstance(part, Literal) and part.value is None) or (isinstance(part, Ref) and lookup(part) is None):
            return True
    return False


def _strict(nodes: list[Expr], lookup: Lookup, make: Callable[[list[Term]], Term]) -> Given:
    """Null if an operand is."""
    given = [value(n, lookup) for n in nodes]
    terms = [g.term for g in given if g.term is not None]
    if len(terms) < len(given):
        return Given(None)
    return Given(make(terms), tuple(dict.fromkeys(n for g in given for n in g.needs)))


def holds(node: Expr, lookup: Lookup) -> tuple[Term, ...]:
    """The conjuncts of "this condition is true"; ``FALSE`` alone if it never is.  Raises Unsupported."""
    parts = [p for p in conjuncts(_both(node, lookup)[0]) if p != TRUE]
    return (FALSE,) if FALSE in parts else tuple(parts)


def _both(node: Expr, lookup: Lookup) -> tuple[Term, Term]:
    """When a condition is true, and when it is false; neither: it is null."""
    match node:
        case Literal(bool()):
            return (TRUE, FALSE) if node.value else (FALSE, TRUE)
        case Unary("not"):
            true, false = _both(node.arg, lookup)
            return false, true
        case Binary("and" | "or"):
            (lt, lf), (rt, rf) = _both(node.left, lookup), _both(node.right, lookup)
            return (_and(lt, rt), _or(lf, rf)) if node.op == "and" else (_or(lt, rt), _and(lf, rf))
        case Binary() if node.op in COMPARISONS:
            left, right = value(node.left, lookup), value(node.right, lookup)
            if left.term is None or right.term is None:
                return FALSE, FALSE
            return _needing(Binary(node.op, left.term, right.term), (*left.needs, *right.needs))
        case In():
            chain: Expr = FALSE
            for item in node.items:
                equal = Binary("=", node.arg, item, span=node.span)
                chain = equal if chain is FALSE else Binary("or", chain, equal, span=node.span)
            true, false = _both(chain, lookup)
            return (false, true) if node.negated else (true, false)
        case IsNull():
            given = value(node.arg, lookup)
            there = FALSE if given.term is None else _all(given.needs)
            return (there, _not(there)) if node.negated else (_not(there), there)
    if isinstance(node, Literal | Ref | Call):
        given = value(node, lookup)
        return (FALSE, FALSE) if given.term is None else _needing(given.term, given.needs)
    raise Unsupported("this condition cannot be translated into a net", getattr(node, "span", None))


def _needing(test: Term, needs: tuple[Term, ...]) -> tuple[Term, Term]:
    there = _all(tuple(dict.fromkeys(needs)))
    return _and(there, test), _and(there, _not(test))


def _all(parts: tuple[Term, ...]) -> Term:
    out: Term = TRUE
    for p in parts:
        out = _and(out, p)
    return out


def _and(a: Term, b: Term) -> Term:
    if FALSE in (a, b):
        return FALSE
    return b if a == TRUE else a if b == TRUE else Binary("and", a, b)


def _or(a: Term, b: Term) -> Term:
    if TRUE in (a, b):
        return TRUE
    return b if a == FALSE else a if b == FALSE else Binary("or", a, b)


_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _not(a: Term) -> Term:
    if a in (TRUE, FALSE):
        return FALSE if a == TRUE else TRUE
    if isinstance(a, Unary) and a.op == "not":
        return a.arg
    if isinstance(a, Binary) and a.op in _OPPOSITE:
        return Binary(_OPPOSITE[a.op], a.left, a.right)
    return Unary("not", a)
