"""Values that run along a trace: Σ, means, deviations (pipes.md, 4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from occurs.expr import tree as expressions
from occurs.operators.process import kernels, scalars, tree
from occurs.operators.process.columns import (
    FALSE,
    TRUE,
    UNKNOWN,
    Col,
    Obj,
    Plain,
    Troo,
    column_of,
    numbers,
    of_numpy,
    of_truths,
    truths,
)
from occurs.operators.process.items import Call, Items, first_of
from occurs.operators.process.operator import Operator, Setting, operator
from occurs.operators.process.state import Counts, Latest, Part, State
from occurs.operators.process.tree import Input, Node
from occurs.operators.process.values import Bag, Fault, Troolean

_ALL = np.zeros(0, np.bool_)

#: AND and OR of truth values: state (rows) and item, as :data:`columns.FALSE` .. ``NULL``
_AND = np.array([[0, 0, 0, 0], [0, 1, 1, 3], [0, 1, 2, 3], [0, 3, 3, 3]], np.int8)
_OR = np.array([[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 2], [3, 3, 2, 3]], np.int8)

_BAG: Callable[[Any, Any], Any] = lambda a, b: Bag(a.elements + scalars.members(b))  # noqa: E731

#: what a word of COMBINE does to the value so far and a value, where no kernel does
_FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "addition": scalars.ARITHMETIC["+"],
    "multiplication": scalars.ARITHMETIC["*"],
    "subtraction": scalars.ARITHMETIC["-"],
    "division": scalars.ARITHMETIC["/"],
    "maximum": scalars.extreme(True),
    "minimum": scalars.extreme(False),
    "conjunction": lambda a, b: scalars.kleene([a, b], False),
    "disjunction": lambda a, b: scalars.kleene([a, b], True),
    "bag union": _BAG,
}
_STARTS: dict[str, Any] = {
    "addition": 0, "multiplication": 1, "conjunction": True, "disjunction": False, "bag union": Bag()
}  # fmt: skip

#: how the value so far is kept: nothing yet, ints, floats, truth values, any values
NOTHING, INTS, FLOATS, TRUTHS, VALUES = range(5)


@operator
class Cumulate(Operator):
    """o_i = f(o_{i-1}, x_i).  A null leaves the value unchanged, but of AND and OR, which are Kleene's."""

    of: ClassVar[type[tree.Processor]] = tree.Cumulate

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Cumulate)
        self.p = p
        self.word = p.function if isinstance(p.function, str) else _word(p.function)
        #: no start: the first value is the first item
        self.bare = p.start is None and (not isinstance(p.function, str) or p.function not in _STARTS)
        self.logical = p.function in ("conjunction", "disjunction")

    def fresh(self) -> dict[str, Part]:
        return {
            "mode": Counts(),
            "ints": Counts(),
            "floats": Counts(0.0, np.float64),
            "begun": Counts(),
            "truth": Counts(-1),
            "values": Latest(),
        }

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        if not len(x):
            return [x]
        codes = x.codes
        mode = state["mode"].values
        value: Col | None = None
        if mode[0] != VALUES:
            if self.logical:
                value = self._logical(state, x, codes, call)
            elif self.word in ("addition", "maximum", "minimum") and not (self.p.start is not None and self.bare):
                value = self._numeric(state, x, codes, call)
        if value is None:
            if mode[0] != VALUES:
                self._to_values(state, call)
            value = self._folded(state, x, codes, call)
        return [x.with_value(value)]

    # --- numbers --------------------------------------------------------------------------------------------------

    def _numeric(self, state: State, x: Items, codes: np.ndarray, call: Call) -> Col | None:
        found = numbers(x.value)
        if found is None or (self.p.start is not None and not self._begin(state, codes, call)):
            return None
        value, valid = found
        mode = state["mode"].values
        wanted = FLOATS if value.dtype == np.float64 or mode[0] == FLOATS else INTS
        if isinstance(x.value, Plain) and x.value.array.null_count == len(x):
            wanted = mode[0] or INTS
            value = np.zeros(len(x), np.int64)
        if mode[0] == INTS and wanted == FLOATS:
            ints = state["ints"].values
            if (np.abs(ints) > 2**53).any():
                return None
            state["floats"].upto(len(ints))[: len(ints)] = ints
        mode[0] = wanted
        if wanted == FLOATS:
            value = value.astype(np.float64, copy=False)
        kept = state["ints" if wanted == INTS else "floats"].upto(call.instances)
        out = np.empty(len(x), kept.dtype)
        some = _ALL if valid is None else valid
        if self.word == "addition":
            if wanted == FLOATS:
                kernels.sum_floats(codes, value, some, kept, out)
            else:
                self._sums(x, codes, value, some, kept, out)
            return of_numpy(out, self._known(state, codes, valid, call) if self.bare else None)
        known = np.empty(len(x), np.bool_)
        begun = state["begun"].upto(call.instances)
        kernels.extremes(codes, value, some, self.word == "maximum", kept, begun, out, known)
        return of_numpy(out, known)

    def _sums(
        self, x: Items, codes: np.ndarray, value: np.ndarray, some: np.ndarray, kept: np.ndarray, out: np.ndarray
    ) -> None:
        row = kernels.sum_ints(codes, value, some, kept, out)
        if row >= 0:
            at = x.value.slice(row, row + 1).pylist()[0]
            raise Fault("overflow", "makes the result exceed 64 bits", at, row)

    def _known(self, state: State, codes: np.ndarray, valid: np.ndarray | None, call: Call) -> np.ndarray | None:
        """Where there was a value that is not null, now or before."""
        if valid is None:
            state["begun"].upto(call.instances)[codes] = 1
            return None
        out = np.empty(len(codes), np.int64)
        zeros = np.zeros(len(codes), np.float64)
        known = np.empty(len(codes), np.bool_)
        begun = state["begun"].upto(call.instances)
        kernels.extremes(codes, zeros, valid, True, np.zeros(call.instances), begun, zeros, known)
        del out
        return known

    def _begin(self, state: State, codes: np.ndarray, call: Call) -> bool:
        """Start traces that are new with the value that is given; False if it is no int."""
        assert self.p.start is not None
        begun = state["begun"].upto(call.instances)
        new = np.unique(codes[begun[codes] == 0])
        if not len(new):
            return True
        found = numbers(self.constant(self.p.start, new, call))
        if found is None or found[1] is not None or state["mode"].values[0] == FLOATS:
            return False
        if found[0].dtype != np.int64:
            return False
        state["ints"].upto(call.instances)[new] = found[0]
        begun[new] = 1
        state["mode"].values[0] = INTS
        return True

    # --- truth values -----------------------------------------------------------------------------------------------

    def _logical(self, state: State, x: Items, codes: np.ndarray, call: Call) -> Col | None:
        value = truths(x.value)
        if value is None:
            return None
        mode = state["mode"].values
        kept = state["truth"].upto(call.instances)
        three = isinstance(x.value, Troo) or mode[0] == FLOATS
        conjunction = self.word == "conjunction"
        if self.p.start is None:
            start = np.int64(UNKNOWN if three else TRUE if conjunction else FALSE)
            if three and mode[0] == TRUTHS and (kept >= 0).any():
                return None
        else:
            new = np.unique(codes[kept[codes] < 0])
            found = truths(self.constant(self.p.start, new, call)) if len(new) else np.zeros(0, np.int8)
            if found is None:
                return None
            kept[new] = found
            three = three or bool((found == UNKNOWN).any())
            start = np.int64(0)
        # FLOATS stands for Trooleans here
        mode[0] = FLOATS if three else mode[0] or TRUTHS
        kept[kept < 0] = start
        out = np.empty(len(x), np.int8)
        kernels.tables(codes, value, _AND if conjunction else _OR, kept, out)
        return of_truths(out, three)

    # --- any values -------------------------------------------------------------------------------------------------

    def _to_values(self, state: State, call: Call) -> None:
        """What kernels have kept, as values."""
        mode = int(state["mode"].values[0])
        state["mode"].values[0] = VALUES
        if mode == NOTHING:
            return
        codes = np.arange(len(state["ints"].values))
        if self.logical:
            kept = state["truth"].upto(len(codes))
            codes = np.flatnonzero(kept >= 0)
            state["values"].put(codes, of_truths(kept[codes], mode == FLOATS))
            return
        kept = state["ints" if mode == INTS else "floats"].upto(len(codes))
        begun = state["begun"].upto(len(codes))
        there = begun[: len(kept)] > 0 if self.bare or self.p.start is not None else kept != 0
        codes = np.flatnonzero(there)
        state["values"].put(codes, of_numpy(kept[codes]))

    def _folded(self, state: State, x: Items, codes: np.ndarray, call: Call) -> Col:
        latest: Latest = state["values"]
        mine = codes[first_of(codes)]
        at = latest.find(mine)
        so_far: dict[int, Any] = dict(zip(mine[at >= 0].tolist(), latest.value.take(at[at >= 0]).pylist()))
        run = self._step(call)
        starts = self._starts(x, mine[at < 0], call)
        out: list[Any] = []
        for i, (c, v) in enumerate(zip(codes.tolist(), x.value.pylist())):
            if c not in so_far and c in starts:
                so_far[c] = starts[c]
            if v is not None or self.logical:
                try:
                    found = scalars.bounded(run(c, so_far[c], v)) if c in so_far else v
                except Fault as fault:
                    fault.row = i
                    raise
                if found is scalars.LOST:
                    raise Fault("overflow", "makes the result exceed 64 bits", v, i)
                so_far[c] = found
            out.append(so_far.get(c))
        kept = list(so_far.items())
        latest.put(np.array([c for c, _ in kept], np.int64), _boxed([v for _, v in kept]))
        return column_of(out)

    def _starts(self, x: Items, codes: np.ndarray, call: Call) -> dict[int, Any]:
        if self.p.start is not None:
            return dict(zip(codes.tolist(), self.constant(self.p.start, codes, call).pylist()))
        if self.bare or self.word is None:
            return {}
        start = _STARTS[self.word]
        if self.logical and any(isinstance(v, Troolean) for v in x.value.pylist()):
            start = Troolean.UNKNOWN
        return dict.fromkeys(codes.tolist(), start)

    def _step(self, call: Call) -> Callable[[int, Any, Any], Any]:
        if self.word is not None:
            fold = _FOLDS[self.word]
            if isinstance(self.p.function, str):
                return lambda c, a, b: fold(a, b)
            return lambda c, a, b: scalars.strict(fold, [a, b])
        body = self.p.function
        assert not isinstance(body, str)

        def run(c: int, a: Any, b: Any) -> Any:
            variables = _Lazy(call, np.array([c]))
            return scalars.value_of(body, lambda leaf: scalars.leaf_of(leaf, (a, b), variables), variables)

        return run


def _boxed(values: list[Any]) -> Col:
    """Values as they are: an int stays an int beside floats."""
    return Obj.of(values) if len({type(v) for v in values}) > 1 else column_of(values)


class _Lazy(dict[str, Any]):
    """The variables of a trace, looked up when somebody asks."""

    def __init__(self, call: Call, code: np.ndarray) -> None:
        super().__init__()
        self.call, self.code = call, code

    def __missing__(self, name: str) -> Any:
        self[name] = self.call.variables[name](self.code).pylist()[0]
        return self[name]

    def items(self) -> Any:
        for name in self.call.variables:
            self[name]
        return super().items()


def _word(function: expressions.Expr) -> str | None:
    """The word that says the same as an expression of the value so far and the item."""
    both = (Input(0), Input(1))
    if isinstance(function, expressions.Binary) and (function.left, function.right) == both:
        return {"+": "addition", "*": "multiplication", "-": "subtraction", "/": "division"}.get(function.op)
    if isinstance(function, expressions.Call) and function.args == both and function.name in ("maximum", "minimum"):
        return function.name
    return None


@operator
class Moment(Operator):
    """The mean of x^n of the items so far; nulls are ignored."""

    of: ClassVar[type[tree.Processor]] = tree.Moment

    def fresh(self) -> dict[str, Part]:
        reals = {n: Counts(0.0, np.float64) for n in ("high", "low")}
        return {"count": Counts(), "exact": Counts(), "inexact": Counts(), **reals}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        p = self.node.processor
        assert isinstance(p, tree.Moment)
        value, valid = _must_be_numbers(x.value)
        out, known = np.zeros(len(x)), np.zeros(len(x), np.bool_)
        count, exact, inexact, high, low = (
            state[n].upto(call.instances) for n in ("count", "exact", "inexact", "high", "low")
        )
        whole = value.dtype == np.int64
        kernels.means(x.codes, value, valid, p.n, whole, count, exact, inexact, high, low, out, known)
        return [x.with_value(of_numpy(out, known))]


@operator
class Deviation(Operator):
    """The standard deviation of the population of the items so far; nulls are ignored."""

    of: ClassVar[type[tree.Processor]] = tree.Deviation

    def fresh(self) -> dict[str, Part]:
        ints = {n: Counts() for n in ("count", "ones", "squares", "inexact")}
        return {**ints, "mean": Counts(0.0, np.float64), "spread": Counts(0.0, np.float64)}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        value, valid = _must_be_numbers(x.value)
        out, known = np.zeros(len(x)), np.zeros(len(x), np.bool_)
        names = ("count", "ones", "squares", "inexact", "mean", "spread")
        count, ones, squares, inexact, mean, spread = (state[n].upto(call.instances) for n in names)
        whole = value.dtype == np.int64
        kernels.deviations(x.codes, value, valid, whole, count, ones, squares, inexact, mean, spread, out, known)
        return [x.with_value(of_numpy(out, known))]


def _must_be_numbers(column: Col) -> tuple[np.ndarray, np.ndarray]:
    """Values and which are valid (empty: all).  Raises Fault at the first that is not a number."""
    found = numbers(column)
    if found is None:
        values = column.pylist()
        for i, v in enumerate(values):
            if v is not None and not scalars.number(v):
                raise Fault("bad-value", "is not a number", v, i)
        reals = np.array([0.0 if v is None else float(v) for v in values])
        return reals, np.array([v is not None for v in values], np.bool_)
    return found[0], _ALL if found[1] is None else found[1]
