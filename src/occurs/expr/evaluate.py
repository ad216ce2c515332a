"""Evaluating expressions on whole columns (common.md, section 6).

An expression is compiled once for the types of its columns into closures over ``pyarrow.compute``; ints are exact:
checked first, and only if that fails the rows that overflow are looked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import DefinitionProblem, did_you_mean
from occurs.expr import exact
from occurs.expr.columnar import bools, by_groups, spread
from occurs.expr.dialect import TESLA, Dialect
from occurs.expr.functions import Function
from occurs.expr.node import (
    PHYSICAL,
    Loose,
    Node,
    Slow,
    Three,
    as_condition,
    as_value,
    careful,
    choose,
    clean,
    constant,
    joint_loss,
    lose,
    none_if_empty,
    operation,
    to_float,
    typed,
)
from occurs.expr.render import render
from occurs.expr.signature import CATALOGUE, Mismatch
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
    Ref,
    Slot,
    Unary,
)
from occurs.expr.typing import arithmetic_type, comparable, span_of
from occurs.model.time import TimeKind
from occurs.model.types import Type, from_arrow

#: the column (or the scalar, if it is the same on all rows) of a reference, parameter, slot or node of a language
Columns = Callable[[Expr], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of an expression.

    ``values``: length n; times and durations as int64, null where an int64 overflowed on the way and the value depends
    on it.  ``overflow``: booleans (n) of these rows, None if there are none.  ``type``: what the values are.
    """

    values: pa.Array
    overflow: np.ndarray | None
    type: Type


def evaluate(node: Expr, columns: Columns, length: int, *, kind: TimeKind, dialect: Dialect = TESLA) -> Column:
    """The value of ``node`` on every row.

    ``columns`` gives the Arrow column (``length`` rows) of every leaf: int64, float64, string (also as a dictionary),
    bool, null or timestamp; other widths are cast.  A duration that is not whole in ticks comes out as the nearest tick
    (comparisons are exact).  Raises DefinitionProblem if the types do not fit.

    >>> from occurs.expr.tree import Binary, Literal, Ref
    >>> x = pa.array([1, 2**62, None])
    >>> got = evaluate(Binary("*", Ref(None, "x"), Literal(2, Type.INT)), lambda _: x, 3, kind=TimeKind())
    >>> got.values.to_pylist(), got.overflow.tolist()
    ([2, None, None], [False, True, False])
    """
    program, given = _program(node, columns, kind, dialect, condition=False)
    try:
        return Column(spread(program.fast(given), length), None, program.type)
    except pa.ArrowInvalid:
        found = as_value(careful(program, _all_columns(given, length), length))
        return Column(found.values, found.lost, program.type)


def select(
    node: Expr, columns: Columns, length: int, *, kind: TimeKind, dialect: Dialect = TESLA
) -> tuple[np.ndarray, np.ndarray | None]:
    """Booleans (n): the rows where the condition ``node`` is true; and the numbers of the rows of which an overflow
    hides whether it is, None if there are none (they count as not selected).

    >>> from occurs.expr.tree import Binary, Literal, Ref
    >>> x = pa.array([1, 7, None])
    >>> select(Binary(">", Ref(None, "x"), Literal(2, Type.INT)), lambda _: x, 3, kind=TimeKind())
    (array([False,  True, False]), None)
    """
    program, given = _program(node, columns, kind, dialect, condition=True)
    try:
        found = program.fast(given)
    except pa.ArrowInvalid:
        outcome = as_condition(careful(program, _all_columns(given, length), length))
        hidden = outcome.true & outcome.open
        return outcome.true & ~hidden, np.flatnonzero(hidden) if hidden.any() else None
    if isinstance(found, pa.Scalar):
        return np.full(length, found.as_py() is True), None
    return bools(found), None


# --- compiled expressions are kept ------------------------------------------------------------------------------


class _Entry:
    """An expression with what has been compiled of it; ``held``: what its keys name by identity."""

    __slots__ = ("by_types", "held", "leaves", "numbers")

    def __init__(self, node: Expr) -> None:
        self.held: list[Any] = []
        self.leaves = leaves(node)
        self.numbers = {leaf: i for i, leaf in enumerate(self.leaves)}
        self.by_types: dict[str, Node] = {}


#: more entries than this, and all are dropped
MOST_ENTRIES = 20_000
_by_identity: dict[tuple[int, int, int], _Entry] = {}
_by_value: dict[tuple[Expr, TimeKind, Dialect], _Entry] = {}


def _program(node: Expr, columns: Columns, kind: TimeKind, dialect: Dialect, condition: bool) -> tuple[Node, list[Any]]:
    """The compiled expression, and its columns."""
    entry = _by_identity.get((id(node), id(kind), id(dialect)))
    # the entry holds these objects, so that their identities are not given to others while it is there
    if entry is None:
        entry = _entry(node, kind, dialect)
    given, codes = [], "!" if condition else ""
    for leaf in entry.leaves:
        column, code = _leaf(columns(leaf))
        given.append(column)
        codes += code
    program = entry.by_types.get(codes)
    if program is None:
        compiler = Compiler(entry.numbers, codes.lstrip("!"), kind, dialect)
        program = compiler.condition(node) if condition else compiler.value(node)
        entry.by_types[codes] = program
    return program, given


def _entry(node: Expr, kind: TimeKind, dialect: Dialect) -> _Entry:
    if len(_by_identity) > MOST_ENTRIES:
        _by_identity.clear()
        _by_value.clear()
    entry = _by_value.get((node, kind, dialect))
    if entry is None:
        entry = _by_value[(node, kind, dialect)] = _Entry(node)
    entry.held.append((node, kind, dialect))
    _by_identity[(id(node), id(kind), id(dialect))] = entry
    return entry


# --- the columns that come in -----------------------------------------------------------------------------------

_CODE = {
    pa.int64().id: "i",
    pa.float64().id: "f",
    pa.string().id: "s",
    pa.bool_().id: "b",
    pa.null().id: "n",
}


def _leaf(x: Any) -> tuple[Any, str]:
    """The column of a leaf as one of the types that are computed with, and the letter for it."""
    if isinstance(x, pa.ChunkedArray):
        x = x.combine_chunks()
        x = pa.concat_arrays(x.chunks) if isinstance(x, pa.ChunkedArray) else x
    code = _CODE.get(x.type.id)
    if code is not None:
        return x, code
    type = x.type
    if pa.types.is_timestamp(type) or pa.types.is_date(type):
        if not (pa.types.is_timestamp(type) and type.unit == "us"):
            x = x.cast(pa.timestamp("us"))
        return (pa.scalar(x.value, pa.int64()) if isinstance(x, pa.Scalar) else x.view(pa.int64())), "t"
    if pa.types.is_dictionary(type):
        if isinstance(x, pa.Scalar):
            return _leaf(x.value)
        if pa.types.is_string(type.value_type):
            return x, "d"
        return _leaf(x.dictionary_decode())
    if pa.types.is_duration(type):
        return _leaf(x.cast(pa.int64()))
    known = from_arrow(type)
    if known is None:
        raise TypeError(f"an expression cannot read a column of type {type}")
    plain = {Type.INT: pa.int64(), Type.FLOAT: pa.float64(), Type.STRING: pa.string()}[known]
    return _leaf(x.cast(plain))


def _all_columns(given: list[Any], length: int) -> list[pa.Array]:
    return [spread(decoded(x), length) for x in given]


# --- compiling --------------------------------------------------------------------------------------------------

_KNOWN = (Literal, DurationLiteral, Unary, Binary, IsNull, In, Like, Call, Annotated)
_CODES = {"i": Type.INT, "f": Type.FLOAT, "s": Type.STRING, "d": Type.STRING, "b": Type.BOOL, "n": Type.NULL}
_CODES["t"] = Type.TIMESTAMP


def leaves(node: Expr) -> tuple[Expr, ...]:
    """The distinct nodes whose columns somebody else has to give, in text order."""
    found: dict[Expr, None] = {}

    def visit(e: Expr) -> None:
        if isinstance(e, _KNOWN):
            for c in e.children:
                visit(c)
        else:
            found[e] = None

    visit(node)
    return tuple(found)


class Compiler:
    """``codes``: one letter per leaf for the type of its column (see ``_CODES``; ``d`` is text as a dictionary)."""

    def __init__(self, leaves: Mapping[Expr, int], codes: str, kind: TimeKind, dialect: Dialect) -> None:
        self.leaves = leaves
        self.codes = codes
        self.kind = kind
        self.dialect = dialect
        self.keep_nan = dialect.nan == "keep"
        self.two_valued = dialect.null_atom == "false"

    def value(self, node: Expr) -> Node:
        """Of an expression whose value is wanted: clean of NaN that is null, durations in whole ticks."""
        found = clean(self.compile(node), self.keep_nan)
        return whole(found) if found.type is Type.DURATION else found

    def condition(self, node: Expr) -> Node:
        """Of an operand of a connective, or of a whole condition."""
        found = self.compile(node)
        if found.type is Type.NULL:
            found = constant(None, Type.BOOL)
        if found.type is not Type.BOOL:
            self.mismatch(node, f"a condition is expected, but `{render(node)}` is {found.type}")
        connective = isinstance(node, Unary) or (isinstance(node, Binary) and node.op in ("and", "or"))
        return found if connective or not self.two_valued else falsified(found)

    def mismatch(self, node: Expr, message: str, kind: str = "type-mismatch") -> NoReturn:
        raise DefinitionProblem.of(kind, message, span=span_of(node))

    # --- by class of the tree ---------------------------------------------------------------------------------

    def compile(self, node: Expr) -> Node:
        match node:
            case Literal():
                return self.literal(node.value, node.type)
            case DurationLiteral():
                ticks = self.kind.convert(node.value)
                if ticks is None:
                    self.mismatch(node, f"{render(node)} and the time column have no common unit", "missing-unit")
                return constant(ticks, Type.DURATION)
            case Unary(op="not"):
                return inverted(self.condition(node.arg))
            case Unary(arg=Literal(type=Type.INT, value=int() as value)):
                return self.literal(-value, Type.INT)
            case Unary():
                arg = self.compile(node.arg)
                if arg.type is Type.NULL:
                    return arg
                if not (arg.type.numeric or arg.type is Type.DURATION):
                    self.mismatch(node, f"`-` needs a number, but `{render(node.arg)}` is {arg.type}")
                return negated(arg)
            case Binary(op="and" | "or"):
                return connective(node.op, self.condition(node.left), self.condition(node.right))
            case Binary() if node.op in COMPARISONS:
                left, right = self.compile(node.left), self.compile(node.right)
                return self.atom(self.compare(node, node.op, left, right))
            case Binary():
                return self.arithmetic(node)
            case IsNull():
                return is_null(clean(self.compile(node.arg), self.keep_nan), node.negated)
            case In():
                found = self.membership(node)
                return self.atom(inverted(found) if node.negated else found)
            case Like():
                found = self.like(node)
                return self.atom(inverted(found) if node.negated else found)
            case Call():
                return self.call(node)
            case Annotated():
                return self.annotated(node)
        return self.leaf(node)

    def literal(self, value: Any, type: Type) -> Node:
        if type is Type.INT and isinstance(value, int) and not -(2**63) <= value < 2**63:
            text = pa.scalar(str(value))
            # no int64 has this value: an overflow on every row that asks for it
            return operation(Type.INT, lambda x: x.cast(pa.int64()), [_opaque(text)])
        found = constant(value, type)
        if type is Type.FLOAT and not self.keep_nan and value != value:
            return constant(None, type)
        return found

    def leaf(self, node: Expr) -> Node:
        number = self.leaves[node]
        code = self.codes[number]
        type = _CODES[code]
        if isinstance(node, Slot) and node.type is not Type.NULL and type is Type.INT and not node.type.numeric:
            type = node.type
        elif isinstance(node, Ref) and node.name == "time" and type in (Type.INT, Type.TIMESTAMP):
            type = Type.TIMESTAMP if self.kind.timestamp else Type.INT
        real = type is Type.FLOAT
        if code == "d":
            return Node(type, lambda c: decoded(c[number]), leaf=number, coded=True)
        return Node(type, lambda c: c[number], real=real, nan=real, leaf=number)

    def atom(self, node: Node) -> Node:
        return falsified(node) if self.two_valued else node

    def compare(self, node: Expr, op: str, left: Node, right: Node) -> Node:
        if not comparable(op, left.type, right.type, None):
            self.mismatch(node, f"`{render(node)}`: `{op}` cannot compare {left.type} with {right.type}")
        if left.type is Type.NULL or right.type is Type.NULL:
            return constant(None, Type.BOOL)
        return comparison(op, left, right, self.dialect)

    def arithmetic(self, node: Binary) -> Node:
        left, right = self.compile(node.left), self.compile(node.right)
        type = arithmetic_type(node.op, left.type, right.type, not self.kind.timestamp)
        if type is None:  # what is a number only over integer time: the checks have seen it, and let it pass
            type = arithmetic_type(node.op, left.type, right.type, None)
        if type is None:
            self.mismatch(node, f"`{render(node)}`: `{node.op}` cannot be applied to {left.type} and {right.type}")
        if left.type is Type.NULL or right.type is Type.NULL:
            return constant(None, type)
        return arithmetic(node.op, left, right, type, self.dialect)

    def membership(self, node: In) -> Node:
        arg, items = self.compile(node.arg), [self.compile(i) for i in node.items]
        same = arg.type in (Type.STRING, Type.INT) and all(i.type in (arg.type, Type.NULL) for i in items)
        if len(items) > 2 and same and arg.scalar is None and all(i.scalar is not None for i in items):
            wanted = pa.array([i.value for i in items if not i.null], PHYSICAL[arg.type])
            missing = pa.scalar(None if any(i.null for i in items) else False, pa.bool_())
            among = operation(Type.BOOL, lambda x: is_in(x, wanted, missing), [arg])
            return coded(among, arg, items[0])
        found = constant(False, Type.BOOL)
        for item in items:
            found = connective("or", found, self.compare(node, "=", arg, item))
        return found

    def like(self, node: Like) -> Node:
        arg, pattern = (self.compile(p) for p in (node.arg, node.pattern))
        for part, found in ((node.arg, arg), (node.pattern, pattern)):
            if found.type not in (Type.STRING, Type.NULL):
                self.mismatch(part, f"`like` compares strings, but `{render(part)}` is {found.type}")
        if arg.type is Type.NULL or pattern.type is Type.NULL or pattern.null:
            return constant(None, Type.BOOL)
        if pattern.scalar is not None:
            text = pattern.value
            return coded(operation(Type.BOOL, lambda x: match_like(x, text), [arg]), arg, pattern)
        return operation(Type.BOOL, like_each, [arg, pattern])

    def annotated(self, node: Annotated) -> Node:
        arg = self.compile(node.arg)
        if arg.type is Type.INT and node.type in (Type.TIMESTAMP, Type.DURATION):
            return replace(arg, type=node.type)
        if arg.type is Type.NULL or (arg.type is Type.INT and node.type is Type.FLOAT):
            return typed(arg, node.type)
        if arg.type is not node.type:
            self.mismatch(node, f"`{render(node.arg)}` is {arg.type}, not {node.type}")
        return arg

    # --- functions --------------------------------------------------------------------------------------------

    def call(self, node: Call) -> Node:
        known = CATALOGUE.get(node.name)
        if known is None:
            hint = did_you_mean(node.name, CATALOGUE, "functions")
            self.mismatch(node, f"there is no function `{node.name}`; {hint}", "unknown-function")
        if not known.takes(len(node.args)):
            self.mismatch(node, f"{known.name} takes {known.arity}, but got {len(node.args)}", "arity")
        args = [self.argument(a) for a in node.args]
        try:
            wanted, result = known.resolve([a.type for a in args])
        except Mismatch as m:
            here = f"`{render(node.args[m.position])}` is {args[m.position].type}"
            self.mismatch(node.args[m.position], f"{known.name}: {here}, expected {m.expected}")
        assert result is not None
        args = [typed(a, t) for a, t in zip(args, wanted, strict=True)]
        if known.name == "coalesce":
            return _coalesce(args, result)
        if known.name == "nullif":
            return _nullif(args[0], self.compare(node, "=", args[0], args[1]), result)
        if known.name == "if":
            tests = [falsified(args[i]) for i in range(0, len(args) - 1, 2)]
            return _if(args, tests, result)
        if any(a.null or a.type is Type.NULL for a in args):
            return constant(None, result)
        return _function(known, args, result)

    def argument(self, node: Expr) -> Node:
        found = clean(self.compile(node), self.keep_nan)
        return whole(found) if found.type is Type.DURATION else found


def decoded(x: Any) -> Any:
    """A dictionary column as plain text."""
    return x.dictionary_decode() if isinstance(x, pa.DictionaryArray) else x


# --- functions --------------------------------------------------------------------------------------------------


def _opaque(scalar: pa.Scalar) -> Node:
    """A scalar that takes no part in folding."""
    return Node(Type.STRING, lambda _: scalar, careful=lambda _, n: Loose(pa.repeat(scalar, n)))


def _function(known: Function, args: list[Node], result: Type) -> Node:
    run, literal, physical = known.run, known.literal, PHYSICAL[result]
    assert run is not None
    extra = {"types": tuple(a.type for a in args)} if known.typed else {}
    fixed = {i: a.value for i, a in enumerate(args) if i in literal and a.scalar is not None}
    variable = [i for i in range(len(args)) if i not in fixed]
    groups = frozenset(variable.index(i) for i in variable if i in literal)

    def given(*columns: Any) -> pa.Array:
        rest = iter(columns)
        return run(*(fixed[i] if i in fixed else next(rest) for i in range(len(args))), **extra)

    def apply(*columns: Any) -> Any:
        length = next((len(c) for c in columns if not isinstance(c, pa.Scalar)), None)
        if length is None or not known.scalars:
            columns = tuple(spread(c, 1 if length is None else length) for c in columns)
        out = by_groups(given, columns, groups, physical) if groups else given(*columns)
        return out[0] if length is None else out

    real = result is Type.FLOAT
    return operation(result, apply, [args[i] for i in variable], real=real, nan=real)


def _coalesce(args: list[Node], result: Type) -> Node:
    args = [a for a in args if not a.null and a.type is not Type.NULL]
    if not args:
        return constant(None, result)
    if len(args) == 1:
        return args[0]

    def slow(parts: list[Slow], n: int) -> Slow:
        *before, out = map(as_value, parts)
        for found in reversed(before):
            here = found.values.is_valid().to_numpy(zero_copy_only=False)
            out = choose(here if found.lost is None else here | found.lost, found, out)
        return out

    real = result is Type.FLOAT
    return operation(result, pc.coalesce, args, slow=slow, real=real, nan=real)


def _nullif(value: Node, equal: Node, result: Type) -> Node:
    nothing = pa.scalar(None, PHYSICAL[result])

    def run(x: Any, same: Any) -> Any:
        if isinstance(same, pa.Scalar):
            return nothing if same.as_py() else x
        return pc.if_else(same.fill_null(False), nothing, x)

    def slow(parts: list[Slow], n: int) -> Slow:
        found, same = as_value(parts[0]), as_condition(parts[1])
        out = choose(same.true, Loose(pa.nulls(n, PHYSICAL[result])), found)
        return lose(out, same.true & same.open)

    return operation(result, run, [value, equal], slow=slow, real=result is Type.FLOAT)


def _if(args: list[Node], tests: list[Node], result: Type) -> Node:
    values = [*(args[i] for i in range(1, len(args), 2)), args[-1]]
    values = [constant(None, result) if v.null else v for v in values]

    def run(*columns: Any) -> Any:
        out = columns[-1]
        for test, column in reversed(list(zip(columns, columns[len(tests) : -1]))):
            if isinstance(test, pa.Scalar):
                out = column if test.as_py() else out
            else:
                out = pc.if_else(test, column, out)
        return out

    def slow(parts: list[Slow], n: int) -> Slow:
        out = as_value(parts[-1])
        for test, value in reversed(list(zip(parts, parts[len(tests) : -1]))):
            outcome = as_condition(test)
            out = lose(choose(outcome.true, as_value(value), out), outcome.true & outcome.open)
        return out

    real = result is Type.FLOAT
    return operation(result, run, [*tests, *values], slow=slow, real=real, nan=real)


# --- arithmetic and comparisons ---------------------------------------------------------------------------------------


_CHECKED = {
    op: pc.get_function(f"{name}_checked").call for op, name in {"+": "add", "-": "subtract", "*": "multiply"}.items()
}
_PLAIN = {op: pc.get_function(name).call for op, name in {"+": "add", "-": "subtract", "*": "multiply"}.items()}


def arithmetic(op: str, left: Node, right: Node, type: Type, dialect: Dialect) -> Node:
    """``left op right`` of numbers, times and durations; ``type`` is that of the result."""
    if left.null or right.null:
        return constant(None, type)
    if op == "/":
        # (l / s) / (r / t) = (l t) / (r s)
        a, b = (left, right) if left.real or right.real else (rescaled(left, right.scale), rescaled(right, left.scale))
        if a.real != b.real:
            a, b = to_float(a), to_float(b)
        a, b = replace(a, scale=1), replace(b, scale=1)
        return operation(type, lambda x, y: exact.divide(x, y, dialect), [a, b], real=True, nan=True)
    if left.real or right.real:
        a, b = to_float(left), to_float(right)
        if op in _PLAIN:
            plain = _PLAIN[op]
            return operation(type, lambda x, y: plain([x, y]), [a, b], real=True, nan=True)
        return operation(type, lambda x, y: exact.remainder(op, x, y), [a, b], real=True, nan=True)
    if op != "*":
        left, right = aligned(left, right)
    scale = left.scale * right.scale if op == "*" else left.scale
    if op in _CHECKED:
        return _exact(op, left, right, type, scale)
    run = lambda x, y: exact.remainder(op, x, y)  # noqa: E731
    return operation(type, run, [left, right], scale=1 if op == "div" else scale)


def _exact(op: str, left: Node, right: Node, type: Type, scale: int) -> Node:
    checked = _CHECKED[op]

    def slow(parts: list[Slow], n: int) -> Slow:
        args = [as_value(p) for p in parts]
        values, lost = exact.wrapped(op, args[0].values, args[1].values)
        return Loose(values, none_if_empty(joint_loss(args, lost)))

    return operation(type, lambda x, y: checked([x, y]), [left, right], slow=slow, scale=scale)


def negated(node: Node) -> Node:
    """``-node``."""
    if node.real:
        return operation(node.type, pc.negate, [node], real=True, nan=node.nan)
    return _exact("-", constant(0, node.type), node, node.type, node.scale)


def rescaled(node: Node, factor: int) -> Node:
    """The int64 counts ``factor`` times as fine a part of a tick."""
    if factor == 1:
        return node
    return _exact("*", node, constant(factor, Type.INT), node.type, node.scale * factor)


def aligned(left: Node, right: Node) -> tuple[Node, Node]:
    """Both in the same part of a tick."""
    common = math.lcm(left.scale, right.scale)
    return rescaled(left, common // left.scale), rescaled(right, common // right.scale)


def whole(node: Node) -> Node:
    """A duration as whole ticks, to the nearest: for where a column of ticks is needed."""
    if node.real:
        return operation(node.type, _to_ticks, [node])
    if node.scale == 1:
        return node
    return operation(node.type, _to_ticks, [replace(to_float(node), type=node.type)])


def _to_ticks(x: Any) -> Any:
    rounded = pc.round(x, ndigits=0, round_mode="half_to_even")
    # beyond int64, and NaN: the cast raises, as an overflow does
    return rounded.cast(pa.int64())


# --- comparisons ------------------------------------------------------------------------------------------------


def comparison(op: str, left: Node, right: Node, dialect: Dialect) -> Node:
    """``left op right``; null if one is null."""
    if left.null or right.null:
        return constant(None, Type.BOOL)
    if left.type in (Type.BOOL, Type.STRING):
        if left.scalar is not None:
            left, right, op = right, left, exact.MIRRORED[op]
        compare = exact.COMPARE[op]
        return coded(operation(Type.BOOL, lambda x, y: compare([x, y]), [left, right]), left, right)
    keep = dialect.nan == "keep"
    left, right = clean(left, keep), clean(right, keep)
    if left.null or right.null:  # a constant that was NaN
        return constant(None, Type.BOOL)
    if left.scalar is not None and right.scalar is None:
        left, right, op = right, left, exact.MIRRORED[op]
    if right.scalar is not None:
        return _with_constant(op, left, right)
    if not left.real and not right.real:
        left, right = aligned(left, right)
    elif left.real != right.real:
        if left.real:
            left, right, op = right, left, exact.MIRRORED[op]
        if left.scale == 1:
            return operation(Type.BOOL, lambda x, y: exact.compare_mixed(op, x, y), [left, right])
        left = to_float(left)
    compare = exact.COMPARE[op]
    return operation(Type.BOOL, lambda x, y: compare([x, y]), [left, right])


def _with_constant(op: str, left: Node, right: Node) -> Node:
    value = right.value
    bound: tuple[str, Any] | bool
    if left.real:
        bound = (op, value) if right.real else exact.float_bound(op, Fraction(value, right.scale))
    elif right.real:
        bound = exact.integer_bound(op, Fraction(value) * left.scale if math.isfinite(value) else value)
    else:
        bound = exact.integer_bound(op, Fraction(value, right.scale) * left.scale)
    if isinstance(bound, bool):
        outcome = bound
        return operation(Type.BOOL, lambda x: exact.where_valid(x, outcome), [left])
    compare, limit = exact.COMPARE[bound[0]], constant(bound[1], Type.FLOAT if left.real else Type.INT)
    return operation(Type.BOOL, lambda x, y: compare([x, y]), [left, limit])


def coded(node: Node, leaf: Node, fixed: Node) -> Node:
    """A test of one text with a constant: on a dictionary column, once per distinct text."""
    if not leaf.coded or leaf.leaf is None or fixed.scalar is None:
        return node
    # the closure of ``node`` asks the leaf for its column: it is handed the distinct texts as that column
    number, size, test = leaf.leaf, leaf.leaf + 1, node.fast

    def fast(columns: list[Any]) -> Any:
        column = columns[number]
        given: list[Any] = [None] * size
        given[number] = column.dictionary
        return test(given).take(column.indices)

    return replace(node, fast=fast)


# --- conditions: connectives with null as unknown, tests for null, membership, patterns of text -----------------------


# not pa.scalar, which would import pandas with this module
_FALSE = pa.Array.from_buffers(pa.bool_(), 1, [None, pa.py_buffer(b"\0")])[0]
_AND, _OR, _INVERT = (pc.get_function(n).call for n in ("and_kleene", "or_kleene", "invert"))


def connective(op: str, left: Node, right: Node) -> Node:
    run, joined = (_AND, Three.both) if op == "and" else (_OR, Three.either)
    # a constant on one side: nothing to do, or nothing left to do
    for one, other in ((left, right), (right, left)):
        if one.scalar is not None and not one.null:
            return other if one.value is (op == "and") else one
    return operation(
        Type.BOOL, lambda x, y: run([x, y]), [left, right], slow=lambda parts, _: joined(*map(as_condition, parts))
    )


def inverted(node: Node) -> Node:
    return operation(Type.BOOL, lambda x: _INVERT([x]), [node], slow=lambda parts, _: as_condition(parts[0]).inverted())


def falsified(node: Node) -> Node:
    """With false for null."""

    def run(x: Any) -> Any:
        if isinstance(x, pa.Scalar):
            return x if x.is_valid else _FALSE
        return x.fill_null(False) if x.null_count else x

    if node.type is Type.NULL:
        return constant(False, Type.BOOL)
    return operation(Type.BOOL, run, [node], slow=lambda parts, _: as_condition(parts[0]).falsified())


def is_null(node: Node, negated: bool) -> Node:
    def run(x: Any) -> Any:
        if isinstance(x, pa.Scalar):
            return pa.scalar(x.is_valid is negated)
        return x.is_valid() if negated else x.is_null()

    def slow(parts: list[Slow], n: int) -> Slow:
        arg = as_value(parts[0])
        null = arg.values.is_null().to_numpy(zero_copy_only=False)
        true, false = (~null, null) if negated else (null, ~null)
        if arg.lost is None:
            return Three(true, false, np.zeros(n, np.bool_))
        # lost is not null, but what it would have been is not known: whoever asks has to wait
        return Three(true | arg.lost, false | arg.lost, np.zeros(n, np.bool_))

    return operation(Type.BOOL, run, [node], slow=slow)


def is_in(x: Any, wanted: pa.Array, missing: pa.Scalar) -> Any:
    if isinstance(x, pa.Scalar):
        return is_in(pa.repeat(x, 1), wanted, missing)[0]
    found = pc.is_in(x, value_set=wanted)
    if not missing.is_valid:
        return pc.if_else(found, found, missing)
    return pc.if_else(x.is_valid(), found, pa.scalar(None, pa.bool_())) if x.null_count else found


def match_like(x: Any, pattern: str) -> Any:
    """``x like pattern``: ``%`` is any text, ``_`` one character, and a backslash makes the next character itself."""
    if "\\" not in pattern:
        return pc.match_like(x, pattern)
    # Arrow takes a backslash for itself where the rest of the pattern is a plain beginning or end
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    return pc.match_substring_regex(x, "(?s)^(?:" + "".join(wild.get(p, re.escape(p[-1])) for p in parts) + r")\z")


def like_each(x: Any, pattern: Any) -> Any:
    scalar = isinstance(x, pa.Scalar) and isinstance(pattern, pa.Scalar)
    n = 1 if scalar else len(pattern if isinstance(x, pa.Scalar) else x)
    run = by_groups(match_like, [spread(x, n), spread(pattern, n)], frozenset((1,)), pa.bool_())
    return run[0] if scalar else run


# --- shapes: an expression without its constants, and comparisons with a constant -------------------------------

Constant = Literal | DurationLiteral


def shape(node: Expr, kind: TimeKind | None = None, first: int = 0) -> tuple[Expr, tuple[Constant, ...]]:
    """``node`` with slots numbered from ``first`` instead of its constants, and the constants in that order.

    Expressions that are alike but for constants (and places in the text) have equal shapes, so that a shape serves as
    the key under which rules are put together.  Constants stay where they are not values: ``null``, and the arguments
    of functions that decide what is done (digits, units, patterns).  With ``kind``, durations that are not whole in
    ticks stay too, as a column of ticks cannot hold them.

    >>> five, six = (Binary(">", Ref(None, "x"), Literal(n, Type.INT)) for n in (5, 6))
    >>> shape(five)[0] == shape(six)[0], shape(six)[1][0].value
    (True, 6)
    """
    constants: list[Constant] = []

    def visit(e: Expr) -> Expr:
        if isinstance(e, Literal):
            if e.value is None:
                return replace(e, span=None)
            constants.append(replace(e, span=None))
            return Slot(first + len(constants) - 1, e.type)
        if isinstance(e, DurationLiteral):
            exact = kind.convert(e.value) if kind is not None else Fraction(0)
            if exact is None or exact.denominator != 1:
                return replace(e, span=None)
            constants.append(replace(e, span=None))
            return Slot(first + len(constants) - 1, Type.DURATION)
        if isinstance(e, Call) and e.name in CATALOGUE:
            fixed = CATALOGUE[e.name].literal
            return replace(e, args=tuple(a if i in fixed else visit(a) for i, a in enumerate(e.args)))
        children = e.children
        return e.with_children(tuple(visit(c) for c in children)) if children else e

    return visit(node), tuple(constants)


def fill(node: Expr, constants: tuple[Constant, ...], first: int = 0) -> Expr:
    """The expression that has this shape and these constants."""
    if isinstance(node, Slot):
        return constants[node.index - first]
    children = node.children
    return node.with_children(tuple(fill(c, constants, first) for c in children)) if children else node


def constant_value(constant: Constant, kind: TimeKind) -> bool | int | float | str | Fraction | None:
    """The value that a column for the slot of ``constant`` holds: durations in ticks, exactly.

    Raises ValueError if the unit of a duration says nothing about the ticks of ``kind``.
    """
    if isinstance(constant, Literal):
        return constant.value
    exact = kind.convert(constant.value)
    if exact is None:
        raise ValueError("the duration and the time column have no common unit")
    return int(exact) if exact.denominator == 1 else exact


def as_threshold(node: Expr) -> tuple[Ref, str, Literal | Slot] | None:
    """``attribute op constant``, from either order of the two; None for anything else.

    >>> as_threshold(Binary("<", Literal(5, Type.INT), Ref(None, "x")))
    (Ref(scope=None, name='x'), '>', Literal(value=5, type=<Type.INT: 'int'>))
    """
    if not isinstance(node, Binary) or node.op not in COMPARISONS:
        return None
    left, right = _constant(node.left), _constant(node.right)
    if isinstance(node.left, Ref) and isinstance(right, Literal | Slot):
        return node.left, node.op, right
    if isinstance(node.right, Ref) and isinstance(left, Literal | Slot):
        return node.right, exact.MIRRORED[node.op], left
    return None


def _constant(node: Expr) -> Expr:
    """A negative number is one constant."""
    if isinstance(node, Unary) and node.op == "neg" and isinstance(node.arg, Literal):
        value = node.arg.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Literal(-value, node.arg.type, span=node.span)
    return node
