"""A graph of operators that runs: the whole of some pipes, or the inside of a window, a slice, a quantifier.

An inner processor runs as many copies at once, one trace per copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from occurs.expr import tree as expressions
from occurs.expr.tree import Expr, rewrite
from occurs.operators.process import tree
from occurs.operators.process.columns import Col
from occurs.operators.process.items import CallSteps, Ends, Items, Variable, count
from occurs.operators.process.operator import OPERATORS, Operator, Setting, meeting, numbered
from occurs.operators.process.state import Counts, State
from occurs.operators.process.tree import Inner, Input, Lift, Node, Pipe, Placeholder, Print, Processor, nodes
from occurs.operators.process.values import Fault

Source = Callable[[Processor], Items]


class Network:
    """``outputs`` over their sources; nodes that are alike run once."""

    def __init__(self, outputs: Sequence[Pipe], setting: Setting) -> None:
        self.operators: list[Operator | Processor] = []
        self.inputs: list[list[tuple[int, int]]] = []
        place: dict[int, int] = {}
        alike: dict[Any, int] = {}
        for node in nodes(outputs):
            given = [(place[id(p.node)], p.port) for p in node.inputs]
            key: Any = id(node) if isinstance(node.processor, Print) else (node.processor, tuple(given))
            if key not in alike:
                alike[key] = len(self.operators)
                self.operators.append(self._box(node, setting))
                self.inputs.append(given)
            place[id(node)] = alike[key]
        self.outputs = [(place[id(p.node)], p.port) for p in outputs]
        self._last = self._last_uses()

    @staticmethod
    def _box(node: Node, setting: Setting) -> Operator | Processor:
        processor = node.processor
        if isinstance(processor, (tree.Events, tree.Lines, Placeholder)):
            return processor
        return OPERATORS[type(processor)](node, setting)

    def _last_uses(self) -> list[list[int]]:
        """The boxes whose output nobody asks for any more behind each box."""
        last: dict[int, int] = {}
        for i, given in enumerate(self.inputs):
            for j, _ in given:
                last[j] = i
        for j, _ in self.outputs:
            last[j] = len(self.operators)
        return [[j for j, i in last.items() if i == n] for n in range(len(self.operators))]

    def fresh(self) -> State:
        """The state before anything has come."""
        parts = {}
        for i, box in enumerate(self.operators):
            if isinstance(box, Operator):
                own = {**meeting(len(self.inputs[i])), "seen": Counts(), **box.fresh()}
                parts[str(i)] = State(**own)
        return State(**parts)

    def advance(self, state: State, source: Source, call: CallSteps) -> list[Items]:
        """The new items of the outputs.  Raises InputProblem."""
        made: dict[int, list[Items]] = {}
        for i, box in enumerate(self.operators):
            if not isinstance(box, Operator):
                made[i] = [source(box)]
                continue
            given = [made[j][port] for j, port in self.inputs[i]]
            made[i] = self._run(box, state[str(i)], given, call)
            for j in self._last[i]:
                made.pop(j, None)
        return [made[i][port] for i, port in self.outputs]

    @staticmethod
    def _run(box: Operator, state: State, given: list[Items], call: CallSteps) -> list[Items]:
        seen: Counts = state["seen"]
        first = given[0]
        item = None
        fronts = int(state["met"].values[0]) if len(given) > 1 else 0
        try:
            out = box.advance(state, given, call)
        except Fault as fault:
            if len(given) == 1:
                number = numbered(seen, first.codes, fault.row)
                if fault.row is not None and fault.row < len(first):
                    (item,) = first.value.slice(fault.row, fault.row + 1).pylist()
            else:  # the row is that of a front; of many traces it is not known which front of its trace
                number = fronts + fault.row if first.code is None and fault.row is not None else None
            raise box.fault(fault, number, item) from fault
        count(seen.upto(call.instances), first)
        return out


class Inside:
    """An inner processor φ."""

    def __init__(self, inner: Inner, setting: Setting) -> None:
        self.network = Network(fused(inner.outputs), replace(setting, inner=True))
        #: it gives nothing at the end of a trace
        self.ends_quietly = all(box.ends_quietly for box in self.network.operators if isinstance(box, Operator))

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        """New items of its traces."""

        def source(processor: Processor) -> Items:
            assert isinstance(processor, Placeholder)
            return given[processor.index]

        return self.network.advance(state, source, call)

    def complete(
        self,
        values: Sequence[Col],
        step: np.ndarray,
        time: np.ndarray,
        code: np.ndarray,
        ends: Ends,
        variables: Mapping[str, Variable],
    ) -> list[Items]:
        """Fresh copies on complete traces; the codes of ``ends`` are 0, 1 .. up to the number of copies.

        ``step``, ``time`` (n): of the items, also of those at which traces end.
        """
        steps, at = np.unique(step, return_index=True)
        call = CallSteps(0, time[at], len(ends), variables, steps)
        given = [Items(v, step, step, code, ends) for v in values]
        return self.advance(self.network.fresh(), given, call)


def of_outer(variables: Mapping[str, Variable], outer: np.ndarray) -> dict[str, Variable]:
    """The variables of the traces around, for copies: copy i belongs to the trace ``outer[i]``."""
    return {n: partial(_at, v, outer) for n, v in variables.items()}


def _at(variable: Variable, outer: np.ndarray, codes: np.ndarray) -> Col:
    return variable(outer[codes])


# --- functions of functions as one ------------------------------------------------------------------------------------

_PLAIN = (
    expressions.Literal, Input, tree.Attribute, expressions.Unary, expressions.Binary, expressions.IsNull,
    expressions.Call,
)  # fmt: skip
#: a function is not made of more parts than these
_MOST = 200


def fused(pipes: Sequence[Pipe]) -> list[Pipe]:
    """The pipes over a graph in which a function that only another one uses is part of that one.

    Values, steps and what items are about stay the same: both functions see the same fronts.
    """
    found = nodes(pipes)
    uses = Counter(id(p.node) for n in found for p in n.inputs)
    uses.update(id(p.node) for p in pipes)
    done: dict[int, Node] = {}
    for node in found:
        inputs = tuple(Pipe(done[id(p.node)], p.port) for p in node.inputs)
        once = [uses[id(p.node)] == 1 for p in node.inputs]
        new = _joined(node, inputs, once)
        if new is None:
            new = node if inputs == node.inputs else replace(node, inputs=inputs)
        done[id(node)] = new
    return [Pipe(done[id(p.node)], p.port) for p in pipes]


def _joined(node: Node, inputs: Sequence[Pipe], once: Sequence[bool]) -> Node | None:
    """The node with the functions before it inside, if there are such and it can take them."""
    p = node.processor
    if not isinstance(p, Lift) or p.early or not all(_plain(f) for f in _functions(p)):
        return None
    parts: list[Expr | None] = [_function(pipe) if alone else None for pipe, alone in zip(inputs, once)]
    size = sum(_size(f) for f in _functions(p)) * max(_size(e) for e in parts if e is not None) if any(parts) else 0
    if not size or size > _MOST:
        return None
    wider: list[Pipe] = []
    places: list[Expr] = []
    for pipe, part in zip(inputs, parts):
        if part is None:
            places.append(_place(pipe, wider))
        else:
            inside = [_place(i, wider) for i in pipe.node.inputs]
            places.append(rewrite(part, lambda n, inside=inside: inside[n.index] if isinstance(n, Input) else None))  # type: ignore[misc]

    def over(e: Expr) -> Expr:
        return rewrite(e, lambda n: places[n.index] if isinstance(n, Input) else None)

    lift = Lift(tuple(map(over, p.functions)), None if p.where is None else over(p.where))
    return replace(node, processor=lift, inputs=tuple(wider))


def _place(pipe: Pipe, wider: list[Pipe]) -> Input:
    """The input that a pipe is on."""
    if pipe not in wider:
        wider.append(pipe)
    return Input(wider.index(pipe))


def _functions(p: Lift) -> tuple[Expr, ...]:
    return p.functions if p.where is None else (*p.functions, p.where)


def _function(pipe: Pipe) -> Expr | None:
    """The function that a pipe is of, if it can stand inside of another."""
    p = pipe.node.processor
    whole = isinstance(p, Lift) and len(p.functions) == 1 and p.where is None and not p.early
    return p.functions[0] if whole and isinstance(p, Lift) and _plain(p.functions[0]) else None


def _plain(e: Expr) -> bool:
    return all(isinstance(n, _PLAIN) for n in e.walk())


def _size(e: Expr) -> int:
    return sum(1 for _ in e.walk())
