"""Values that run along a trace: Σ, means, deviations, collections of its items (pipes.md, 4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
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
    need_numbers,
    numbers,
    of_numpy,
    of_truths,
    truths,
)
from occurs.operators.process.functions import AND, condition
from occurs.operators.process.items import NO_ROWS, CallSteps, Items, Variables, first_of, first_rows
from occurs.operators.process.operator import Operator, Setting, meet, operator
from occurs.operators.process.processors.documents import each
from occurs.operators.process.state import Counts, Latest, Part, Queue, State
from occurs.operators.process.tree import Input, Node
from occurs.operators.process.values import Bag, Fault, Map, Record, Set, Troolean, distinct, key

_ALL = np.zeros(0, np.bool_)

#: OR of truth values as :data:`AND` has it
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


@operator(tree.Cumulate)
class Cumulate(Operator):
    """o_i = f(o_{i-1}, x_i).  A null leaves the value unchanged, but of AND and OR, which are Kleene's."""

    ends_quietly = True

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = self.p
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

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if not len(x):
            return x
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
        return x.with_value(value)

    # --- numbers --------------------------------------------------------------------------------------------------

    def _numeric(self, state: State, x: Items, codes: np.ndarray, call: CallSteps) -> Col | None:
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

    def _known(self, state: State, codes: np.ndarray, valid: np.ndarray | None, call: CallSteps) -> np.ndarray | None:
        """Where there was a value that is not null, now or before."""
        if valid is None:
            state["begun"].upto(call.instances)[codes] = 1
            return None
        zeros = np.zeros(len(codes), np.float64)
        known = np.empty(len(codes), np.bool_)
        begun = state["begun"].upto(call.instances)
        kernels.extremes(codes, zeros, valid, True, np.zeros(call.instances), begun, zeros, known)
        return known

    def _begin(self, state: State, codes: np.ndarray, call: CallSteps) -> bool:
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

    def _logical(self, state: State, x: Items, codes: np.ndarray, call: CallSteps) -> Col | None:
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
        kernels.tables(codes, value, AND if conjunction else _OR, kept, out)
        return of_truths(out, three)

    # --- any values -------------------------------------------------------------------------------------------------

    def _to_values(self, state: State, call: CallSteps) -> None:
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

    def _folded(self, state: State, x: Items, codes: np.ndarray, call: CallSteps) -> Col:
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

    def _starts(self, x: Items, codes: np.ndarray, call: CallSteps) -> dict[int, Any]:
        if self.p.start is not None:
            return dict(zip(codes.tolist(), self.constant(self.p.start, codes, call).pylist()))
        if self.bare or self.word is None:
            return {}
        start = _STARTS[self.word]
        if self.logical and any(isinstance(v, Troolean) for v in x.value.pylist()):
            start = Troolean.UNKNOWN
        return dict.fromkeys(codes.tolist(), start)

    def _step(self, call: CallSteps) -> Callable[[int, Any, Any], Any]:
        if self.word is not None:
            fold = _FOLDS[self.word]
            if isinstance(self.p.function, str):
                return lambda c, a, b: fold(a, b)
            return lambda c, a, b: scalars.strict(fold, [a, b])
        body = self.p.function
        assert not isinstance(body, str)

        def run(c: int, a: Any, b: Any) -> Any:
            variables = Variables(call, c)
            return scalars.value_of(body, lambda leaf: scalars.leaf_of(leaf, (a, b), variables), variables)

        return run


def _boxed(values: list[Any]) -> Col:
    """Values as they are: an int stays an int beside floats."""
    return Obj.of(values) if len({type(v) for v in values}) > 1 else column_of(values)


def _word(function: expressions.Expr) -> str | None:
    """The word that says the same as an expression of the value so far and the item."""
    both = (Input(0), Input(1))
    if isinstance(function, expressions.Binary) and (function.left, function.right) == both:
        return {"+": "addition", "*": "multiplication", "-": "subtraction", "/": "division"}.get(function.op)
    if isinstance(function, expressions.Call) and function.args == both and function.name in ("maximum", "minimum"):
        return function.name
    return None


class _Statistic(Operator):
    """Of the items so far; nulls are ignored."""

    ends_quietly = True

    #: the numbers that are kept
    ints: ClassVar[tuple[str, ...]]
    floats: ClassVar[tuple[str, ...]]

    def fresh(self) -> dict[str, Part]:
        floats = {n: Counts(0.0, np.float64) for n in self.floats}
        return {**{n: Counts() for n in self.ints}, **floats}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        value, valid = need_numbers(x.value)
        out, known = np.empty(len(x)), np.empty(len(x), np.bool_)
        kept = [state[n].upto(call.instances) for n in (*self.ints, *self.floats)]
        whole = value.dtype == np.int64
        codes = NO_ROWS if x.code is None else x.code
        self.compute(codes, value, _ALL if valid is None else valid, whole, *kept, out, known)
        return x.with_value(of_numpy(out, known))

    def compute(self, codes: np.ndarray, value: np.ndarray, valid: np.ndarray, whole: bool, *kept: np.ndarray) -> None:
        """Go on with the new items; the last of ``kept`` are what comes out, and whether it is known."""
        raise AssertionError  # pragma: no cover


@operator(tree.Moment)
class Moment(_Statistic):
    """The mean of x^n."""

    ints, floats = ("count", "exact", "inexact"), ("high", "low")

    def compute(self, codes: np.ndarray, value: np.ndarray, valid: np.ndarray, whole: bool, *kept: np.ndarray) -> None:
        kernels.means(codes, value, valid, self.p.n, whole, *kept)


@operator(tree.Deviation)
class Deviation(_Statistic):
    """The standard deviation of the population."""

    ints, floats = ("count", "ones", "squares", "inexact"), ("mean", "spread")

    def compute(self, codes: np.ndarray, value: np.ndarray, valid: np.ndarray, whole: bool, *kept: np.ndarray) -> None:
        kernels.deviations(codes, value, valid, whole, *kept)


# --- lists, sets, bags and maps made of items, and items made of them -----------------------------------------------


@operator(tree.Unpack)
class Unpack(Operator):
    """The elements of each list, set or bag; null and ``[]`` give nothing."""

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        found: list[Any] = []
        sizes = np.zeros(len(x), np.int64)
        for i, v in enumerate(x.value.pylist()):
            if v is not None:
                try:
                    inside = scalars.members(v)
                except Fault as fault:
                    fault.row = i
                    raise
                found += inside
                sizes[i] = len(inside)
        rows = np.repeat(np.arange(len(x)), sizes)
        return x.at(rows, column_of(found), x.ends)


@operator(tree.Pack)
class Pack(Operator):
    """When the guard is true the list so far; it then starts with this item.  The rest, if any, at the end."""

    def fresh(self) -> dict[str, Part]:
        return {"kept": Queue()}

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        fronts = meet(state, given, call)
        guard = condition(fronts.values[1])
        kept: Queue = state["kept"]
        items = fronts.items(fronts.values[0]).with_ends(Items.none().ends)
        if len(kept.items):
            guard = np.concatenate([np.zeros(len(kept.items), np.bool_), guard])
            items = Items.join([kept.items, items])
        codes = items.codes
        order = np.argsort(codes, kind="stable")
        items, codes, guard = items.take(order), codes[order], guard[order]
        first = first_rows(codes)
        at = np.flatnonzero(guard)
        starts = np.maximum.accumulate(np.where(guard, np.arange(len(items)), first))
        before = np.where(at > first[at], starts[np.maximum(at - 1, 0)], at)
        values = items.value.pylist()
        lists = [tuple(values[a:b]) for a, b in zip(before.tolist(), at.tolist())]
        step, about, code = items.step[at], items.about[at], codes[at]
        last = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
        last[codes] = np.arange(len(codes))
        rest = np.ones(len(items), np.bool_)
        if len(items):
            rest = np.arange(len(items)) >= starts[last[codes]]
        if len(fronts.ends):
            ending = fronts.ends.code[np.isin(fronts.ends.code, codes)]
            ends = dict(zip(fronts.ends.code.tolist(), fronts.ends.step.tolist()))
            lists += [tuple(values[starts[last[c]] : last[c] + 1]) for c in ending.tolist()]
            step = np.concatenate([step, np.array([ends[c] for c in ending.tolist()], np.int64)])
            about = np.concatenate([about, items.about[last[ending]]])
            code = np.concatenate([code, ending])
            rest &= ~np.isin(codes, ending)
        kept.put(items.filter(rest))
        single = fronts.code is None
        made = Items(Obj.of(lists), step, about, None if single else code)
        return [made.by_step().with_ends(fronts.ends)]


class _Gathering(Operator):
    """A new immutable value after each item."""

    def fresh(self) -> dict[str, Part]:
        return {"latest": Latest()}

    def gather(
        self, state: State, codes: np.ndarray, values: Sequence[Any], empty: Any, add: Callable[[Any, Any], Any]
    ) -> Obj:
        latest: Latest = state["latest"]
        mine = codes[first_of(codes)]
        at = latest.find(mine)
        so_far = dict(zip(mine[at >= 0].tolist(), latest.value.take(at[at >= 0]).pylist()))
        out = []
        for c, v in zip(codes.tolist(), values):
            so_far[c] = add(so_far.get(c, empty), v)
            out.append(so_far[c])
        if out:
            latest.put(np.array(list(so_far), np.int64), Obj.of(list(so_far.values())))
        return Obj.of(out)


_ADD: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "list": ((), lambda so_far, v: (*so_far, v)),
    "set": (Set(), lambda so_far, v: Set(distinct((*so_far.elements, v)))),
    "bag": (Bag(), lambda so_far, v: Bag((*so_far.elements, v))),
}


@operator(tree.Collect)
class Collect(_Gathering):
    """The list, set or bag of the items so far."""

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        return x.with_value(self.gather(state, x.codes, x.value.pylist(), *_ADD[self.p.into]))


@operator(tree.Predicates)
class Predicates(_Gathering):
    """The domains and the predicates that the items so far assert; an item of another name changes nothing."""

    @cached_property
    def signatures(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = self.p.signatures
        return found

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        domains = dict.fromkeys(d for of in self.signatures.values() for d in of)
        empty = Record(tuple((n, Set()) for n in (*domains, *self.signatures)))
        asserted = list(each(x.value.pylist(), self.asserted))
        return x.with_value(self.gather(state, x.codes, asserted, empty, self.with_assertion))

    def asserted(self, item: Any) -> tuple[str, tuple[Any, ...]] | None:
        """The predicate and the arguments of an item; None if it asserts nothing.  Raises Fault."""
        if item is None:
            return None
        values = tuple(v for _, v in item.columns) if isinstance(item, Record) else item
        if not isinstance(values, tuple):
            raise Fault("bad-value", "is not a list or a tuple of a predicate and its arguments", item)
        name = values[0] if values else None
        domains = self.signatures.get(name) if isinstance(name, str) else None
        if domains is None:
            return None
        stripped = (v.strip() if isinstance(v, str) else v for v in values[1:])
        arguments = tuple(v for v in stripped if v is not None and v != "")
        if len(arguments) != len(domains):
            many = f"{len(arguments)} argument{'s' * (len(arguments) != 1)}"
            raise Fault("bad-value", f"has {many}, but `{name}` has {len(domains)}", item)
        return str(name), arguments

    def with_assertion(self, so_far: Record, asserted: tuple[str, tuple[Any, ...]] | None) -> Record:
        if asserted is None:
            return so_far
        name, arguments = asserted
        more: dict[str, list[Any]] = {name: [arguments]}
        for domain, value in zip(self.signatures[name], arguments):
            more.setdefault(domain, []).append(value)
        return Record(tuple((n, _with_elements(s, more.get(n, ()))) for n, s in so_far.columns))


def _with_elements(so_far: Set, more: Sequence[Any]) -> Set:
    """A set with more elements; the same set if it has them."""
    if all(any(key(v) == key(e) for e in so_far.elements) for v in more):
        return so_far
    return Set(distinct((*so_far.elements, *more)))


@operator(tree.CollectMap)
class CollectMap(_Gathering):
    """The map of the fronts so far; a later value of a key replaces the earlier one."""

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        fronts = meet(state, given, call)
        x = fronts.items(fronts.values[0])
        pairs = list(zip(fronts.values[0].pylist(), fronts.values[1].pylist()))
        return [x.with_value(self.gather(state, x.codes, pairs, Map(), _with))]


def _with(so_far: Map, pair: tuple[Any, Any]) -> Map:
    asked = key(pair[0])
    found = [(k, pair[1] if key(k) == asked else v) for k, v in so_far.items]
    return Map(tuple(found) if any(key(k) == asked for k, _ in found) else (*so_far.items, pair))
