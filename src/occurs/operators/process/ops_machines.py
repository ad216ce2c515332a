"""Moore machines (pipes.md, 4.7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from occurs.expr import tree as expressions
from occurs.operators.process import tree
from occurs.operators.process.columns import Col
from occurs.operators.process.env import Env
from occurs.operators.process.functions import Function
from occurs.operators.process.items import NO_ENDS, Call, Ends, Items, first_of
from occurs.operators.process.machineruns import Runner
from occurs.operators.process.making import Pool, concat
from occurs.operators.process.operator import Fronts, Operator, Setting, meet, operator
from occurs.operators.process.state import Counts, Part, State
from occurs.operators.process.tree import Node


@operator
class Machine(Operator):
    """Per front the first transition whose guard is true, its SETs, the output of the new state."""

    of: ClassVar[type[tree.Processor]] = tree.Machine

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Machine)
        self.p = p
        self.runner = Runner(p, self.constant)
        self.final = np.array([not s.transitions for s in p.states], np.bool_)
        self.silent = np.array([s.output is None for s in p.states], np.bool_)
        self.outputs = [None if s.output is None else Function(s.output) for s in p.states]
        self.fixed = _constants(p)

    def fresh(self) -> dict[str, Part]:
        #: ``told``: that the trace has ended
        return {"told": Counts(), **self.runner.fresh()}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        fronts = meet(state, given, call)
        told = state["told"].upto(call.instances)
        if self.final[self.runner.number[self.p.start]]:
            return [self._never(fronts, told)]
        ends = self._going_on(fronts.ends, told)
        if told.any():
            live = np.repeat(told[0] == 0, len(fronts)) if fronts.code is None else told[fronts.code] == 0
            if not live.all():
                fronts = _filtered(fronts, live)
        if not len(fronts):
            return [Items.none(ends, fronts.code is None)]
        env = self.env(fronts.values, fronts.code, len(fronts), call)
        after, moved, registers = self.runner.moves(state, env, fronts.code, call)
        # a trace ends with the first item that brings it into a final state
        over = self.final[after] if self.final.any() else self.final[:0]
        if over.any():
            codes = fronts.codes
            at = np.flatnonzero(over & moved)
            first = at[first_of(codes[at])]
            stop = np.full(call.instances, len(codes))
            stop[codes[first]] = first
            moved &= np.arange(len(codes)) <= stop[codes]
            ended = codes[first]
            told[ended] = 1
            ends = Ends.join([self._going_on(ends, told), Ends(ended, fronts.step[first])])
        return [self._out(fronts, after, moved, registers, call).with_ends(ends)]

    def _never(self, fronts: Fronts, told: np.ndarray) -> Items:
        """The start is final: such a trace has ended before anything comes."""
        codes = np.unique(np.concatenate([_NONE if fronts.code is None else fronts.code, fronts.ends.code]))
        if not self.setting.inner:
            codes = np.zeros(1, np.int64)
        codes = codes[told[codes] == 0]
        told[codes] = 1
        return Items.none(Ends(codes, np.full(len(codes), -1)) if len(codes) else NO_ENDS, fronts.code is None)

    @staticmethod
    def _going_on(ends: Ends, told: np.ndarray) -> Ends:
        if not len(ends):
            return ends
        mine = told[ends.code] == 0
        return ends if mine.all() else Ends(ends.code[mine], ends.step[mine])

    # --- outputs ----------------------------------------------------------------------------------------------------

    def _out(
        self, fronts: Fronts, after: np.ndarray, moved: np.ndarray, registers: dict[str, Col], call: Call
    ) -> Items:
        if self.silent.any():
            moved = moved & ~self.silent[after]
        if not moved.all():
            rows = np.flatnonzero(moved)
            fronts = _filtered(fronts, moved)
            after = after[rows]
            registers = {n: c.take(rows) for n, c in registers.items()}
        if not len(fronts):
            return Items.none(single=fronts.code is None)
        if self.fixed is not None:
            return fronts.items(self.fixed.at(after))
        env = self.env(fronts.values, fronts.code, len(fronts), call)
        values: list[Col] = []
        where: list[np.ndarray] = []
        for s in np.flatnonzero(np.bincount(after)).tolist() if len(self.outputs) > 1 else [0]:
            function = self.outputs[s]
            assert function is not None
            at = None if len(self.outputs) == 1 else np.flatnonzero(after == s)
            if at is None or len(at) == len(fronts):
                some = Env(env.inputs, env.length, env.kind, {**env.variables, **_constantly(registers)})
                return fronts.items(function.run(some))
            some = _rows(env, at)
            mine = {n: c.take(at) for n, c in registers.items()}
            some = Env(some.inputs, some.length, some.kind, {**some.variables, **_constantly(mine)})
            values.append(function.run(some))
            where.append(at)
        back = np.empty(len(fronts), np.int64)
        back[np.concatenate(where)] = np.arange(len(fronts))
        return fronts.items(concat(values).take(back))


_NONE = np.zeros(0, np.int64)


def _constants(machine: tree.Machine) -> Pool | None:
    """The outputs by state, if all of them are constants (null: there is none)."""
    values = []
    for state in machine.states:
        if state.output is not None and not isinstance(state.output, expressions.Literal):
            return None
        values.append(None if state.output is None else state.output.value)
    return Pool(values)


def _filtered(fronts: Fronts, mask: np.ndarray) -> Fronts:
    code = None if fronts.code is None else fronts.code[mask]
    values = [v.filter(mask) for v in fronts.values]
    return Fronts(values, fronts.step[mask], fronts.about[mask], code, fronts.ends)


def _rows(env: Env, rows: np.ndarray) -> Env:
    variables = {n: (lambda v=v: v().take(rows)) for n, v in env.variables.items()}
    return Env([c.take(rows) for c in env.inputs], len(rows), env.kind, variables)


def _constantly(columns: dict[str, Col]) -> dict[str, Callable[[], Col]]:
    return {n: partial(_same, c) for n, c in columns.items()}


def _same(column: Col) -> Col:
    return column
