"""Expressions as code for the machine of sequential rules: the part of the language that it knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from occurs.expr.tree import COMPARISONS, Annotated, Binary, Expr, IsNull, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.operators.kernels import machine

Code = list[tuple[int, int, int]]

#: how values of each type lie in the pool: whole numbers of a kind, or floats
KINDS = {
    Type.INT: "int",
    Type.FLOAT: "float",
    Type.BOOL: "bool",
    Type.STRING: "text",
    Type.TIMESTAMP: "time",
    Type.NULL: "null",
}
_ARITHMETIC = {"+": machine.ADD, "-": machine.SUBTRACT, "*": machine.MULTIPLY}
_ARITHMETIC_FLOAT = {"+": machine.ADD_FLOAT, "-": machine.SUBTRACT_FLOAT, "*": machine.MULTIPLY_FLOAT}
_ORDER = ("=", "!=", "<", "<=", ">", ">=")


class Unsupported(Exception):
    """The machine does not know this: the rules are evaluated column-wise."""


@dataclass
class Coder:
    """``column(role, name)``: (column of the pool, type) of an attribute; role -1 is the row itself.  ``texts`` numbers
    texts, new ones too."""

    column: Callable[[int, str], tuple[int, Type]]
    texts: Callable[[str], int]
    ints: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    code: Code = field(default_factory=list)

    def condition(self, expr: Expr | None) -> tuple[int, int]:
        """Where the code of a condition begins and ends; the same place twice for none."""
        if expr is None:
            return len(self.code), len(self.code)
        made, kind = self._expr(expr)
        if kind != "bool":
            raise Unsupported(kind)
        return self._put(made)

    def value(self, expr: Expr, type: Type) -> tuple[int, int, int]:
        """Where the code of a value of ``type`` begins and ends, and whether it is a float."""
        made, kind = self._expr(expr)
        wanted = KINDS.get(type)
        if kind == "int" and wanted == "float":
            made = [*made, (machine.TO_FLOAT, 0, 0)]
        elif kind not in (wanted, "null"):
            raise Unsupported(f"{kind} for {wanted}")
        return (*self._put(made), int(wanted == "float"))

    def _put(self, made: Code) -> tuple[int, int]:
        if len(made) >= machine.STACK:  # as deep as it is long, at most
            raise Unsupported("long expression")
        begin = len(self.code)
        self.code += made
        return begin, len(self.code)

    def _expr(self, e: Expr) -> tuple[Code, str]:
        if isinstance(e, Annotated):
            made, kind = self._expr(e.arg)
            if kind == "int" and e.type is Type.FLOAT:
                return _as_float(made, kind), "float"
            if kind != KINDS.get(e.type):
                raise Unsupported(f"[{e.type}]")
            return made, kind
        if isinstance(e, Literal):
            return self._literal(e)
        if isinstance(e, Ref):
            role = -1 if e.scope is None else int(e.scope)
            if e.name == "time":
                return [(machine.REF_TIME, role, 0)], "time"
            at, held = self.column(role, e.name)
            if held not in KINDS or held is Type.NULL:
                raise Unsupported(str(held))
            return [(machine.REF_FLOAT if held is Type.FLOAT else machine.REF, role, at)], KINDS[held]
        if isinstance(e, IsNull):
            made, _ = self._expr(e.arg)
            made = [*made, (machine.IS_NULL, 0, 0)]
            return ([*made, (machine.NOT, 0, 0)] if e.negated else made), "bool"
        if isinstance(e, Unary):
            made, kind = self._expr(e.arg)
            if e.op == "not" and kind == "bool":
                return [*made, (machine.NOT, 0, 0)], kind
            if e.op == "neg" and kind in ("int", "float"):
                return [*made, (machine.NEGATE if kind == "int" else machine.NEGATE_FLOAT, 0, 0)], kind
            raise Unsupported(e.op)
        if isinstance(e, Binary):
            return self._binary(e)
        raise Unsupported(type(e).__name__)

    def _literal(self, e: Literal) -> tuple[Code, str]:
        if e.value is None:
            return [(machine.NULL, 0, 0)], "null"
        if isinstance(e.value, float):
            self.floats.append(e.value)
            return [(machine.FLOAT, len(self.floats) - 1, 0)], "float"
        number = self.texts(e.value) if isinstance(e.value, str) else int(e.value)
        if e.type not in KINDS or not -(2**63) <= number < 2**63:
            raise Unsupported(str(e.type))
        self.ints.append(number)
        return [(machine.INT, len(self.ints) - 1, 0)], KINDS[e.type]

    def _binary(self, e: Binary) -> tuple[Code, str]:
        left, a = self._expr(e.left)
        right, b = self._expr(e.right)
        if e.op in ("and", "or"):
            if a != "bool" or b != "bool":
                raise Unsupported(e.op)
            return [*left, *right, (machine.AND if e.op == "and" else machine.OR, 0, 0)], "bool"
        numbers = a in ("int", "float") and b in ("int", "float")
        if e.op in COMPARISONS:
            if a == b and a != "float":
                if a == "null" or (a in ("text", "bool") and e.op not in ("=", "!=")):
                    raise Unsupported(f"{a} {e.op} {b}")
                return [*left, *right, (machine.EQUAL + _ORDER.index(e.op), 0, 0)], "bool"
            if not numbers:
                raise Unsupported(f"{a} {e.op} {b}")
            both = [*_as_float(left, a, exact=True), *_as_float(right, b, exact=True)]
            return [*both, (machine.EQUAL_FLOAT + _ORDER.index(e.op), 0, 0)], "bool"
        if not numbers:
            raise Unsupported(f"{a} {e.op} {b}")
        if e.op == "/":
            # ints are divided exactly and rounded once
            exact = a == b == "int"
            both = [*_as_float(left, a, exact=exact), *_as_float(right, b, exact=exact)]
            return [*both, (machine.DIVIDE, 0, 0)], "float"
        if e.op not in _ARITHMETIC:
            raise Unsupported(e.op)
        if a == b == "int":
            return [*left, *right, (_ARITHMETIC[e.op], 0, 0)], "int"
        both = [*_as_float(left, a), *_as_float(right, b)]
        return [*both, (_ARITHMETIC_FLOAT[e.op], 0, 0)], "float"


def _as_float(made: Code, kind: str, *, exact: bool = False) -> Code:
    if kind == "float":
        return made
    return [*made, *([(machine.EXACT, 0, 0)] if exact else []), (machine.TO_FLOAT, 0, 0)]
