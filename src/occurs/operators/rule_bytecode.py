"""Expressions as code for machines: the part of the language that their stack code knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from occurs.expr.tree import COMPARISONS, Annotated, Binary, Call, Expr, In, IsNull, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.operators.kernels import stackcode

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
_ARITHMETIC = {"+": stackcode.ADD, "-": stackcode.SUBTRACT, "*": stackcode.MULTIPLY}
_ARITHMETIC_FLOAT = {"+": stackcode.ADD_FLOAT, "-": stackcode.SUBTRACT_FLOAT, "*": stackcode.MULTIPLY_FLOAT}
_EXTREMES = {
    "least": (stackcode.LEAST, stackcode.LEAST_FLOAT),
    "greatest": (stackcode.GREATEST, stackcode.GREATEST_FLOAT),
}
_ORDER = ("=", "!=", "<", "<=", ">", ">=")
_UNARY = {
    stackcode.TO_FLOAT,
    stackcode.NEGATE,
    stackcode.NEGATE_FLOAT,
    stackcode.NOT,
    stackcode.IS_NULL,
    stackcode.EXACT,
    stackcode.ABSOLUTE,
    stackcode.ABSOLUTE_FLOAT,
}


class Unsupported(Exception):
    """The stack code does not know this: a machine asks for it, or something else evaluates it."""


@dataclass
class Coder:
    """``column(role, name)``: (column of the pool, type) of an attribute; role -1 is the row itself.  ``texts`` numbers
    texts, new ones too.  ``wide``: functions, remainders and ``in`` are coded.  ``ordered``: texts are compared by
    order, as their numbers are in it."""

    column: Callable[[int, str], tuple[int, Type]]
    texts: Callable[[str], int]
    ints: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    code: Code = field(default_factory=list)
    wide: bool = False
    ordered: bool = False
    #: does any code compare texts by their order?
    orders_texts: bool = field(default=False, init=False)

    def program(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(code int64 (n, 3), ints, floats)."""
        code = np.array(self.code, np.int64).reshape(-1, 3)
        return code, np.array(self.ints, np.int64), np.array(self.floats, np.float64)

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
            made = [*made, (stackcode.TO_FLOAT, 0, 0)]
        elif kind not in (wanted, "null"):
            raise Unsupported(f"{kind} for {wanted}")
        return (*self._put(made), int(wanted == "float"))

    def _put(self, made: Code) -> tuple[int, int]:
        depth = deepest = 0
        for op, _, _ in made:
            if op <= stackcode.REF_TIME:
                depth += 1
            elif op == stackcode.CHOOSE:
                depth -= 2
            elif op not in _UNARY:
                depth -= 1
            deepest = max(deepest, depth)
        if deepest >= stackcode.STACK:
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
                return [(stackcode.REF_TIME, role, 0)], "time"
            at, held = self.column(role, e.name)
            if held not in KINDS or held is Type.NULL:
                raise Unsupported(str(held))
            return [(stackcode.REF_FLOAT if held is Type.FLOAT else stackcode.REF, role, at)], KINDS[held]
        if isinstance(e, IsNull):
            made, _ = self._expr(e.arg)
            made = [*made, (stackcode.IS_NULL, 0, 0)]
            return ([*made, (stackcode.NOT, 0, 0)] if e.negated else made), "bool"
        if isinstance(e, Unary):
            made, kind = self._expr(e.arg)
            if e.op == "not" and kind == "bool":
                return [*made, (stackcode.NOT, 0, 0)], kind
            if e.op == "neg" and kind in ("int", "float"):
                return [*made, (stackcode.NEGATE if kind == "int" else stackcode.NEGATE_FLOAT, 0, 0)], kind
            raise Unsupported(e.op)
        if isinstance(e, Binary):
            return self._binary(e)
        if isinstance(e, Call) and self.wide:
            return self._call(e)
        if isinstance(e, In) and self.wide:
            same = [Binary("=", e.arg, item) for item in e.items]
            either: Expr = same[0]
            for one in same[1:]:
                either = Binary("or", either, one)
            return self._expr(Unary("not", either) if e.negated else either)
        raise Unsupported(type(e).__name__)

    def _call(self, e: Call) -> tuple[Code, str]:
        args = [self._expr(a) for a in e.args]
        if e.name == "abs":
            made, kind = args[0]
            if kind not in ("int", "float"):
                raise Unsupported(f"abs of {kind}")
            return [*made, (stackcode.ABSOLUTE if kind == "int" else stackcode.ABSOLUTE_FLOAT, 0, 0)], kind
        if e.name in _EXTREMES:
            parts, kind = _alike(args)
            if kind not in ("int", "float"):
                raise Unsupported(f"{e.name} of {kind}")
            return _folded(parts, _EXTREMES[e.name][kind == "float"]), kind
        if e.name == "coalesce":
            parts, kind = _alike(args)
            return _folded(parts, stackcode.COALESCE), kind
        if e.name == "if" and len(args) % 2 == 1:
            # conditions and values, and the last value
            parts, kind = _alike([*args[1::2], args[-1]])
            if any(k not in ("bool", "null") for _, k in args[:-1:2]):
                raise Unsupported("if")
            out: Code = []
            for (condition, _), value in zip(args[:-1:2], parts[:-1]):
                out += [*condition, *value]
            return [*out, *parts[-1], *([(stackcode.CHOOSE, 0, 0)] * (len(parts) - 1))], kind
        raise Unsupported(e.name)

    def _literal(self, e: Literal) -> tuple[Code, str]:
        if e.value is None:
            return [(stackcode.NULL, 0, 0)], "null"
        if isinstance(e.value, float):
            self.floats.append(e.value)
            return [(stackcode.FLOAT, len(self.floats) - 1, 0)], "float"
        number = self.texts(e.value) if isinstance(e.value, str) else int(e.value)
        if e.type not in KINDS or not -(2**63) <= number < 2**63:
            raise Unsupported(str(e.type))
        self.ints.append(number)
        return [(stackcode.INT, len(self.ints) - 1, 0)], KINDS[e.type]

    def _binary(self, e: Binary) -> tuple[Code, str]:
        left, a = self._expr(e.left)
        right, b = self._expr(e.right)
        return self._combined(e, left, a, right, b)

    def _combined(self, e: Binary, left: Code, a: str, right: Code, b: str) -> tuple[Code, str]:
        if e.op in ("and", "or"):
            if a != "bool" or b != "bool":
                raise Unsupported(e.op)
            return [*left, *right, (stackcode.AND if e.op == "and" else stackcode.OR, 0, 0)], "bool"
        numbers = a in ("int", "float") and b in ("int", "float")
        if e.op in COMPARISONS:
            if a == b and a != "float":
                unordered = a == "bool" or (a == "text" and not self.ordered)
                if a == "null" or (unordered and e.op not in ("=", "!=")):
                    raise Unsupported(f"{a} {e.op} {b}")
                self.orders_texts |= a == "text" and e.op not in ("=", "!=")
                return [*left, *right, (stackcode.EQUAL + _ORDER.index(e.op), 0, 0)], "bool"
            if not numbers:
                raise Unsupported(f"{a} {e.op} {b}")
            both = [*_as_float(left, a, exact=True), *_as_float(right, b, exact=True)]
            return [*both, (stackcode.EQUAL_FLOAT + _ORDER.index(e.op), 0, 0)], "bool"
        if not numbers:
            raise Unsupported(f"{a} {e.op} {b}")
        if e.op == "/":
            # ints are divided exactly and rounded once
            exact = a == b == "int"
            both = [*_as_float(left, a, exact=exact), *_as_float(right, b, exact=exact)]
            return [*both, (stackcode.DIVIDE, 0, 0)], "float"
        if e.op == "%" and self.wide:
            if a == b == "int":
                return [*left, *right, (stackcode.REMAINDER, 0, 0)], "int"
            both = [*_as_float(left, a, exact=True), *_as_float(right, b, exact=True)]
            return [*both, (stackcode.REMAINDER_FLOAT, 0, 0)], "float"
        if e.op not in _ARITHMETIC:
            raise Unsupported(e.op)
        if a == b == "int":
            return [*left, *right, (_ARITHMETIC[e.op], 0, 0)], "int"
        both = [*_as_float(left, a), *_as_float(right, b)]
        return [*both, (_ARITHMETIC_FLOAT[e.op], 0, 0)], "float"


def _as_float(made: Code, kind: str, *, exact: bool = False) -> Code:
    if kind == "float":
        return made
    return [*made, *([(stackcode.EXACT, 0, 0)] if exact else []), (stackcode.TO_FLOAT, 0, 0)]


def _folded(parts: list[Code], operation: int) -> Code:
    """The first value, and with every further one the operation on both."""
    return [*parts[0], *(step for part in parts[1:] for step in (*part, (operation, 0, 0)))]


def _alike(args: list[tuple[Code, str]]) -> tuple[list[Code], str]:
    """Values of one kind: ints become floats beside floats, null goes with all."""
    kinds = {kind for _, kind in args} - {"null"}
    if kinds == {"int", "float"}:
        return [made if kind == "null" else _as_float(made, kind, exact=True) for made, kind in args], "float"
    if len(kinds) > 1:
        raise Unsupported(" and ".join(sorted(kinds)))
    return [made for made, _ in args], kinds.pop() if kinds else "null"
