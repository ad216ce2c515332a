"""Functions of pipes on whole columns (pipes.md, 2.2).

What is arithmetic, comparison and logic over columns of plain values goes to :mod:`occurs.expr.evaluate` in one piece;
truth values of three kinds are computed as small ints; everything else row by row (:mod:`scalars`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.errors import DefinitionProblem, Span
from occurs.expr import tree
from occurs.expr.dialect import PIPES
from occurs.expr.evaluate import evaluate
from occurs.expr.tree import _Leaf, _span
from occurs.model.attribute_types import FEW
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.process import scalars
from occurs.operators.process.columns import (
    FALSE,
    NULL,
    TRUE,
    UNKNOWN,
    Col,
    Env,
    Obj,
    Plain,
    Rec,
    Troo,
    column_of,
    null_col,
    numbers,
    of_numpy,
    of_truths,
    truths,
    unpacked,
    validity,
)
from occurs.operators.process.function_kinds import SHARED
from occurs.operators.process.tree import Attribute, EverySlice, Foreign, Input, TrooleanLiteral, TupleOf
from occurs.operators.process.values import Fault, Record, Sharp

#: functions that the expressions of all languages have with the same meaning, and their names there
_ALIKE = ("abs", "floor", "ceil", "if", "coalesce", "sqrt", "starts_with", "ends_with", *SHARED)
_SHARED = {name: name for name in _ALIKE} | {"signum": "sign"}


@dataclass(frozen=True)
class Place(_Leaf):
    """The column of a part that is computed on its own."""

    index: int
    span: Span | None = _span()


class Function:
    """A function, to be run on columns: :meth:`run`.  Raises Fault with the number of the row."""

    def __init__(self, node: tree.Expr) -> None:
        self.node = node
        self._run = _compile(node)

    def run(self, env: Env) -> Col:
        return self._run(env)

    def true(self, env: Env) -> np.ndarray:
        """Booleans (n): where a condition is true."""
        return condition(self._run(env))


def condition(found: Col) -> np.ndarray:
    """Booleans (n): where a column of guards is true.  Raises Fault unless it is of booleans."""
    bools = found.bools if isinstance(found, Plain) else None
    if bools is not None:
        return bools
    if isinstance(found, Plain) and pa.types.is_boolean(found.array.type):
        valid = validity(found.array)
        return unpacked(found.array) if valid is None else unpacked(found.array) & valid
    values = found.pylist()
    for i, v in enumerate(values):
        if v is not None and not isinstance(v, bool):
            raise Fault("bad-value", "is not a boolean", v, i)
    return np.array([v is True for v in values], np.bool_)


_Run = Callable[[Env], Col]


def _compile(node: tree.Expr) -> _Run:
    match node:
        case Input():
            return lambda env: env.inputs[node.index]
        case tree.Ref():
            return _reference(node.name)
        case Attribute():
            return _attribute(_compile(node.of), node.name)
        case tree.Param():
            return lambda env: env.variables[node.name]()
        case TrooleanLiteral():
            code = {"F": FALSE, "?": UNKNOWN, "T": TRUE}[node.value]
            return lambda env: Troo(np.full(env.length, code, np.int8))
        case EverySlice():
            return lambda env: Obj.of([Sharp.ALL] * env.length)
        case TupleOf() if len(set(node.names)) == len(node.names):
            parts = [_compile(i) for i in node.items]
            return lambda env: Rec({n: p(env) for n, p in zip(node.names, parts)}, env.length)
        case Foreign():
            return _foreign(node)
    if _scalar(node):
        return _region(node)
    return _by_rows(node, [_compile(c) for c in node.children])


def _scalar(node: tree.Expr) -> bool:
    if isinstance(node, tree.Call):
        return node.name in _SHARED or node.name == "implies"
    return isinstance(node, (tree.Unary, tree.Binary, tree.IsNull, tree.Literal))


def _reference(name: str) -> _Run:
    """The attribute of the first input that has one of this name."""

    def run(env: Env) -> Col:
        for column in env.inputs:
            if isinstance(column, Rec) and column.has(name) and column.valid is None:
                return column.get(name)
            if isinstance(column, (Rec, Obj)):
                rows = list(zip(*(c.pylist() for c in env.inputs)))
                return column_of([_first(row, name) for row in rows])
        return null_col(env.length)

    return run


def _first(row: Sequence[Any], name: str) -> Any:
    return next((v.get(name) for v in row if isinstance(v, Record) and v.has(name)), None)


def _attribute(of: _Run, name: str) -> _Run:
    def run(env: Env) -> Col:
        found = of(env)
        if isinstance(found, Rec):
            return found.get(name)
        out: list[Any] = []
        for i, v in enumerate(found.pylist()):
            if v is not None and not isinstance(v, Record):
                raise Fault("bad-value", f"is not a tuple with an attribute `{name}`", v, i)
            out.append(None if v is None else v.get(name))
        return column_of(out)

    return run


# --- Pieces of plain arithmetic, comparison, logic --------------------------------------------------------------------


def _region(node: tree.Expr) -> _Run:
    """The largest piece below ``node`` that is computed at once; its leaves are columns of their own."""
    leaves: list[tree.Expr] = []
    places: dict[tree.Expr, Place] = {}

    def cut(part: tree.Expr) -> tree.Expr:
        if not _scalar(part):
            if part not in places:
                places[part] = Place(len(leaves))
                leaves.append(part)
            return places[part]
        if isinstance(part, tree.Call) and part.name == "implies":
            return tree.Binary("or", tree.Unary("not", cut(part.args[0])), cut(part.args[1]))
        if isinstance(part, tree.Call):
            return tree.Call(_SHARED[part.name], tuple(map(cut, part.args)))
        return part.with_children(tuple(map(cut, part.children))) if part.children else part

    columnar = cut(node)

    def marked(part: tree.Expr) -> tree.Expr:
        if part in places:
            return places[part]
        return part.with_children(tuple(map(marked, part.children))) if part.children else part

    # the row-wise functions have names of their own: they take the piece as it was written
    written, marks = marked(node), [places[leaf] for leaf in leaves]
    runs = [_compile(leaf) for leaf in leaves]
    logical = all(_logical(p) for p in columnar.walk())
    few = ByText(lambda env: _evaluated(columnar, env.inputs, env))

    def run(env: Env) -> Col:
        given = [r(env) for r in runs]
        if logical:
            bools = [c.bools if isinstance(c, Plain) else None for c in given]
            found = _of_bools(columnar, bools) if bools and all(b is not None for b in bools) else None
            if found is not None:
                return Plain(None, found)
        if all(isinstance(c, Plain) and not pa.types.is_binary(c.array.type) for c in given):
            try:
                return of_texts(few, given, env) or _evaluated(columnar, given, env)
            except DefinitionProblem:
                pass  # some value does not fit: row by row it is found, if a result needs it
        elif logical and any(isinstance(c, Troo) for c in given):
            known = [truths(c) for c in given]
            if all(f is not None for f in known):
                three = any(isinstance(c, Troo) for c in given)
                return of_truths(_truth(columnar, known, env.length), three)  # type: ignore[arg-type]
        return _rows(written, marks, given, env)

    return run


def _evaluated(node: tree.Expr, given: Sequence[Col], env: Env) -> Col:
    def column_at(leaf: tree.Expr) -> pa.Array:
        assert isinstance(leaf, Place)
        column = given[leaf.index]
        assert isinstance(column, Plain)
        return column.array

    column = evaluate(node, column_at, env.length, kind=env.kind, dialect=PIPES)
    if column.overflow is not None and column.overflow.any():
        row = int(np.argmax(column.overflow))
        raise Fault("overflow", "an integer does not fit in 64 bits", None, row)
    values = column.values
    if column.type is Type.TIMESTAMP and pa.types.is_int64(values.type):
        values = values.view(pa.timestamp("us", "UTC"))
    return with_bools(Plain(values))


def _of_bools(node: tree.Expr, given: Sequence[Any]) -> np.ndarray | None:
    """A function of booleans without nulls; None if it has constants."""
    match node:
        case Place():
            found: np.ndarray = given[node.index]
            return found
        case tree.Unary():
            arg = _of_bools(node.arg, given)
            return None if arg is None else ~arg
        case tree.Binary():
            left, right = _of_bools(node.left, given), _of_bools(node.right, given)
            if left is None or right is None:
                return None
            return left & right if node.op == "and" else left | right
    return None


def _logical(node: tree.Expr) -> bool:
    if isinstance(node, tree.Literal):
        return isinstance(node.value, bool) or node.value is None
    if isinstance(node, tree.Binary):
        return node.op in ("and", "or")
    return isinstance(node, Place) or (isinstance(node, tree.Unary) and node.op == "not")


#: AND of truth values: false, ?, true, null as rows and columns
AND = np.array([[0, 0, 0, 0], [0, 1, 1, 3], [0, 1, 2, 3], [0, 3, 3, 3]], np.int8)
_NOT = np.array([2, 1, 0, 3], np.int8)


def _truth(node: tree.Expr, given: list[np.ndarray], length: int) -> np.ndarray:
    match node:
        case Place():
            return given[node.index]
        case tree.Literal():
            return np.full(length, NULL if node.value is None else TRUE if node.value else FALSE, np.int8)
        case tree.Unary():
            return _NOT[_truth(node.arg, given, length)]
        case tree.Binary(op="and"):
            return AND[_truth(node.left, given, length), _truth(node.right, given, length)]
        case tree.Binary():
            left, right = _NOT[_truth(node.left, given, length)], _NOT[_truth(node.right, given, length)]
            return _NOT[AND[left, right]]
    raise AssertionError(node)


# --- Columns of few distinct texts, of each of which a function is computed once --------------------------------------


class ByText:
    """What is computed of a column that has few distinct texts: once per text, and once per dictionary."""

    def __init__(self, make: Callable[[Env], Any]) -> None:
        self._make = make
        self._known: tuple[pa.Array, TimeKind, Any] | None = None

    def of(self, array: pa.DictionaryArray, env: Env) -> Any:
        """Raises Fault, perhaps of a text that no row has."""
        texts = array.dictionary
        known = self._known
        if known is None or known[1] != env.kind or not known[0].equals(texts):
            known = texts, env.kind, self._make(Env([Plain(texts)], len(texts), env.kind))
            self._known = known
        return known[2]


def of_texts(few: ByText, given: Sequence[Col], env: Env) -> Col | None:
    """Of one column of texts that has a dictionary: each distinct text once; None if that is no gain."""
    array = distinct_texts(given)
    if array is None:
        return None
    try:
        found = few.of(array, env)
    except Fault:
        return None
    if not isinstance(found, Plain) or (found.values is None and found.array.null_count):
        return None
    if found.values is not None:
        return Plain(None, _spread(found.values, array.indices.to_numpy()))
    return Plain(found.array.take(array.indices))


def _spread(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """``values[codes]``; what is true of few codes is found by comparing with these, many at a time."""
    true = np.flatnonzero(values).tolist() if values.dtype == np.bool_ else []
    if not 0 < len(true) <= _COMPARED:
        return np.take(values, codes)
    out: np.ndarray = codes == true[0]
    for code in true[1:]:
        out |= codes == code
    return out


#: comparisons that take less time than to look each value up
_COMPARED = 3


def with_bools(found: Col) -> Col:
    """Booleans without nulls as NumPy has them."""
    if isinstance(found, Plain) and found.values is None:
        array = found.array
        if pa.types.is_boolean(array.type) and not array.null_count:
            return Plain(None, unpacked(array))
    return found


def distinct_texts(given: Sequence[Col]) -> pa.DictionaryArray | None:
    """The one column, if it is of few distinct texts and no nulls."""
    array = given[0].array if len(given) == 1 and isinstance(given[0], Plain) and given[0].values is None else None
    if not isinstance(array, pa.DictionaryArray) or array.null_count or FEW * len(array.dictionary) > len(array):
        return None
    return array


def of_input(node: tree.Expr) -> bool:
    """Does a function look at nothing but the values of its inputs?"""
    return not any(isinstance(n, (tree.Param, tree.Ref, Foreign)) for n in node.walk())


# --- Row by row -------------------------------------------------------------------------------------------------------


def _rows(node: tree.Expr, leaves: Sequence[Place], given: Sequence[Col], env: Env) -> Col:
    """``node`` for every row; its ``leaves`` have the columns ``given``."""
    lists = [c.pylist() for c in given]
    number: dict[tree.Expr, int] = {leaf: i for i, leaf in enumerate(leaves)}
    variables = env.variable_rows() if _sees_variables(node) else (lambda i: {})
    out = []
    for i in range(env.length):
        try:
            row = [values[i] for values in lists]
            found = scalars.value_of(node, partial(_leaf, row, number), variables(i))
            out.append(scalars.needed(found))
        except Fault as fault:
            fault.row = i
            raise
    return column_of(out)


def _leaf(row: list[Any], number: Mapping[tree.Expr, int], leaf: tree.Expr) -> Any:
    return row[number[leaf]]


def _sees_variables(node: tree.Expr) -> bool:
    return any(isinstance(n, tree.Call) and n.name in scalars.XPATH for n in node.walk())


def _by_rows(node: tree.Expr, children: list[_Run]) -> _Run:
    """A node whose operands are columns of their own."""
    places = tuple(Place(i) for i in range(len(children)))
    shell = node.with_children(places) if places else node
    quick = _QUICK.get(node.name) if isinstance(node, tree.Call) else None

    def run(env: Env) -> Col:
        given = [c(env) for c in children]
        if quick is not None:
            found = quick(given)
            if found is not None:
                return found
        return _rows(shell, places, given, env)

    return run


def _looked_into(name: str) -> Callable[[list[Col]], Col | None]:
    """Of a column that knows the answer itself (snapshots of slices)."""

    def run(given: list[Col]) -> Col | None:
        ask = getattr(given[0], "answer", None)
        return ask(name) if ask is not None and len(given) == 1 else None

    return run


def _extreme(greatest: bool) -> Callable[[list[Col]], Col | None]:
    def run(given: list[Col]) -> Col | None:
        a, b = numbers(given[0]), numbers(given[1])
        if a is None or b is None or a[0].dtype != b[0].dtype:
            return None
        valid = a[1] if b[1] is None else b[1] if a[1] is None else a[1] & b[1]
        return of_numpy((np.maximum if greatest else np.minimum)(a[0], b[0]), valid)

    return run


def _three(table: Sequence[int]) -> Callable[[list[Col]], Col | None]:
    """``table``: what becomes of false, ?, true, null."""
    codes = np.array(table, np.int8)

    def run(given: list[Col]) -> Col | None:
        found = truths(given[0])
        return None if found is None else Troo(codes[found])

    return run


_QUICK: dict[str, Callable[[list[Col]], Col | None]] = {
    **{name: _looked_into(name) for name in ("size", "values", "keys", "sum", "mean")},
    "maximum": _extreme(True),
    "minimum": _extreme(False),
    "troolean": _three((FALSE, UNKNOWN, TRUE, UNKNOWN)),
    "hard": _three((FALSE, UNKNOWN, UNKNOWN, UNKNOWN)),
    "soft": _three((UNKNOWN, UNKNOWN, TRUE, UNKNOWN)),
}


def _foreign(node: Foreign) -> _Run:
    """A user's function: of arrays without nulls, or row by row; null where an argument is."""
    children = [_compile(a) for a in node.args]
    function, many = node.function, len(node.function.outputs) > 1

    def run(env: Env) -> Col:
        given = [c(env) for c in children]
        there = np.ones(env.length, np.bool_)
        for c in given:
            there &= ~c.nulls()
        at = np.flatnonzero(there)
        back = np.full(env.length, -1, np.int64)
        back[at] = np.arange(len(at))
        some = [c.take(at) for c in given]
        if not function.vectorised:
            made = _called(function.run, some, at) if given else []
            return column_of([m[node.output] if many else m for m in made]).take(back)
        if not len(at):
            return null_col(env.length)
        arrays = [_array(c) for c in some]
        found = function.run(*arrays)
        return _of_array(found[node.output] if many else found).take(back)

    return run


def _called(run: Callable[..., Any], columns: Sequence[Col], at: np.ndarray) -> list[Any]:
    """A function of rows; a Fault has the number of its row, of those of ``at``."""
    made: list[Any] = []
    try:
        for row in zip(*(c.pylist() for c in columns)):
            made.append(run(*row))
    except Fault as fault:
        fault.row = int(at[len(made)])
        raise
    return made


def _array(column: Col) -> np.ndarray:
    found = numbers(column)
    if found is not None:
        return found[0]
    if isinstance(column, Plain):
        return np.asarray(column.array.to_numpy(zero_copy_only=False))
    return np.array(column.pylist(), object)


def _of_array(values: Any) -> Col:
    array = np.asarray(values)
    if array.dtype == np.bool_ or array.dtype.kind in "iuf":
        dtype = array.dtype if array.dtype == np.bool_ else np.int64 if array.dtype.kind in "iu" else np.float64
        return of_numpy(array.astype(dtype, copy=False))
    return column_of(array.tolist())
