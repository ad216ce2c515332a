"""What an operator of pipes is, and how items of several inputs meet (pipes.md, 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr import tree as expressions
from occurs.model.time import Duration, TimeKind
from occurs.operators.process.columns import Col, Env
from occurs.operators.process.declared import Length
from occurs.operators.process.durations import duration_problems
from occurs.operators.process.functions import Function
from occurs.operators.process.items import NO_ENDS, NO_ROWS, CallSteps, Ends, Items, count, count_up
from occurs.operators.process.state import Counts, Part, Queue, State
from occurs.operators.process.tree import Node, Processor
from occurs.operators.process.values import Fault, as_python


@dataclass(frozen=True)
class Setting:
    """What operators of a run share: what times count; whether boxes stand in an inner processor (then there may be
    many traces at a time)."""

    kind: TimeKind
    inner: bool = False

    def env(self, inputs: Sequence[Col], code: np.ndarray | None, length: int, call: CallSteps) -> Env:
        """The rows that a function is computed for, which are of the traces ``code``."""
        if not call.variables:
            return Env(inputs, length, self.kind, {})
        codes = code if code is not None else np.zeros(length, np.int64)
        variables = {n: (lambda v=v: v(codes)) for n, v in call.variables.items()}
        return Env(inputs, length, self.kind, variables)


class Operator:
    """A box that runs the processor ``p``.  ``fresh`` is its state before anything has come; ``advance`` changes it."""

    #: it gives nothing at the end of a trace
    ends_quietly = False

    def __init__(self, node: Node, setting: Setting) -> None:
        self.node = node
        self.p: Any = node.processor
        self.setting = setting

    @property
    def what(self) -> str:
        """Its name, for people."""
        name = f" {self.node.name!r}" if self.node.name else ""
        return f"{self.node.processor.kind_name}{name}"

    def fresh(self) -> dict[str, Part]:
        """The parts of the state at the beginning; ``seen`` and ``inputs`` are there already."""
        return {}

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        """The new items of every output for those of every input."""
        return [self.items(state, given[0], call)]

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        """The new items of the one output for those of the one input."""
        raise AssertionError  # pragma: no cover

    # --- helpers ------------------------------------------------------------------------------------------------

    def ticks(self, width: Duration) -> int:
        """A duration in whole ticks, for ``t > now - d`` and ``t >= last + d``: rounded up, which says the same."""
        found = self.setting.kind.convert(width)
        whole = any(isinstance(kind, Length) for _, kind in self.node.processor.parameters().values())
        if found is None or (found.denominator != 1 and whole):
            raise DefinitionProblem(duration_problems([self.node.out()], self.setting.kind))
        return -(-found.numerator // found.denominator)

    def env(self, inputs: Sequence[Col], code: np.ndarray | None, length: int, call: CallSteps) -> Env:
        return self.setting.env(inputs, code, length, call)

    def constant(self, node: expressions.Expr, codes: np.ndarray, call: CallSteps) -> Col:
        """The value of a function without inputs for traces."""
        return Function(node).run(self.env([], codes, len(codes), call))

    def fault(self, fault: Fault, item: int | None, of: Any = None) -> InputProblem:
        """A Fault as the problem that the user sees; ``of``: the item, if it is known."""
        at = f"item {item} of " if item is not None else ""
        value = as_python(of if fault.value is None else fault.value)
        words = f"{value!r} {fault.message}" if fault.value is not None else fault.message
        if fault.value is None and of is not None:
            words += f": {value!r}"
        return InputProblem.of(fault.kind, f"{at}{self.what}: {words}", row=item, value=value, **self.node.place)


_O = TypeVar("_O", bound=type[Operator])
OPERATORS: dict[type[Processor], type[Operator]] = {}


def operator(processor: type[Processor]) -> Callable[[_O], _O]:
    """Registers an operator for a processor."""

    def register(cls: _O) -> _O:
        OPERATORS[processor] = cls
        return cls

    return register


# --- fronts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fronts:
    """Item i of every input: ``values`` by input; ``step`` is the greatest of the front, ``about`` that of input 0."""

    values: Sequence[Col]
    step: np.ndarray
    about: np.ndarray
    code: np.ndarray | None
    ends: Ends

    def __len__(self) -> int:
        return len(self.step)

    @property
    def codes(self) -> np.ndarray:
        return np.zeros(len(self.step), np.int64) if self.code is None else self.code

    def items(self, value: Col) -> Items:
        return Items(value, self.step, self.about, self.code, self.ends)


def meeting(inputs: int) -> dict[str, Part]:
    """The state of :func:`meet` of so many inputs."""
    if inputs < 2:
        return {}
    parts: dict[str, Part] = {}
    for k in range(inputs):
        parts[f"queue{k}"] = Queue("ordinal")
        parts[f"came{k}"] = Counts()
        #: 1 + the step at which the input ended, 0: it has not
        parts[f"ended{k}"] = Counts()
    parts["met"] = Counts()
    parts["last"] = Counts(-1)
    parts["over"] = Counts()
    return parts


def meet(state: State, given: Sequence[Items], call: CallSteps) -> Fronts:
    """The fronts that are complete now; the others wait in the state (see :func:`meeting`).

    A trace ends when one input has ended and is used up.
    """
    first = given[0]
    if len(given) == 1:
        return Fronts([first.value], first.step, first.about, first.code, first.ends)
    if _together(state, given):
        step = first.step
        for other in given[1:]:
            if other.step is not step:
                step = np.maximum(step, other.step)
        _count(state, given, call)
        ends = _over(state, given, step, first.codes if len(first) else NO_ROWS, call)
        return Fronts([g.value for g in given], step, first.about, first.code, ends)
    return _met(state, given, call)


def _together(state: State, given: Sequence[Items]) -> bool:
    """Nothing waits, and every item has its partners in this very call, in the same order?"""
    first = given[0]
    for k, other in enumerate(given):
        if len(state[f"queue{k}"]) or len(other) != len(first):
            return False
        if other.code is not first.code and not np.array_equal(other.codes, first.codes):
            return False
        if k and not _same_counts(state, k):
            return False
    return True


def _same_counts(state: State, k: int) -> bool:
    a, b = state["came0"].values, state[f"came{k}"].values
    n = min(len(a), len(b))
    return bool(np.array_equal(a[:n], b[:n])) and not a[n:].any() and not b[n:].any()


def _count(state: State, given: Sequence[Items], call: CallSteps) -> None:
    for k, items in enumerate(given):
        for name in (f"came{k}", *(["met"] if not k else [])):
            came = state[name].upto(call.instances)
            count(came, items)


def _over(state: State, given: Sequence[Items], step: np.ndarray, code: np.ndarray, call: CallSteps) -> Ends:
    """The traces that end with this call, which made fronts of ``code`` at ``step``."""
    last = state["last"].upto(call.instances)
    if len(step):
        np.maximum.at(last, code, step) if call.instances > 1 else last.__setitem__(0, max(last[0], step[-1]))
    asked: list[np.ndarray] = []
    for k, items in enumerate(given):
        ended = state[f"ended{k}"].upto(call.instances)
        if len(items.ends):
            ended[items.ends.code] = items.ends.step + 2
        if ended.any():
            asked.append(np.flatnonzero(ended))
    if not asked:
        return NO_ENDS
    codes = np.unique(np.concatenate(asked))
    over, met = state["over"].upto(call.instances), state["met"].upto(call.instances)
    codes = codes[over[codes] == 0]
    at = np.full(len(codes), np.iinfo(np.int64).max)
    for k in range(len(given)):
        ended, came = state[f"ended{k}"].upto(call.instances)[codes], state[f"came{k}"].upto(call.instances)[codes]
        used = (ended > 0) & (came <= met[codes])
        at = np.where(used, np.minimum(at, np.maximum(ended - 2, last[codes])), at)
    done = at < np.iinfo(np.int64).max
    codes, at = codes[done], at[done]
    over[codes] = 1
    for k in range(len(given)):  # what still waits for partners that never come
        state[f"queue{k}"].drop(codes)
    return Ends(codes, at) if len(codes) else NO_ENDS


def _met_one(state: State, given: Sequence[Items], call: CallSteps) -> Fronts:
    """Of one trace: a queue per input."""
    queues: list[Queue] = [state[f"queue{k}"] for k in range(len(given))]
    met = state["met"].upto(call.instances)
    if not state["over"].upto(call.instances)[0]:
        for k, (queue, items) in enumerate(zip(queues, given)):
            queue.append(items)
            state[f"came{k}"].upto(call.instances)[0] += len(items)
    count = min(map(len, queues))
    chosen = [queue.pop(count) for queue in queues]
    met[0] += count
    step = chosen[0].step
    for other in chosen[1:]:
        step = np.maximum(step, other.step)
    ends = _over(state, given, step, np.zeros(count, np.int64), call)
    return Fronts([c.value for c in chosen], step, chosen[0].about, None, ends)


def _met(state: State, given: Sequence[Items], call: CallSteps) -> Fronts:
    if all(g.code is None for g in given):
        return _met_one(state, given, call)
    over = state["over"].upto(call.instances)
    waiting: list[Items] = []
    numbers: list[np.ndarray] = []
    for k, items in enumerate(given):
        queue: Queue = state[f"queue{k}"]
        came = state[f"came{k}"].upto(call.instances)
        items = items.filter(over[items.codes] == 0)
        number = count_up(came, items)
        before = queue.items if len(queue.items) else None
        waiting.append(items if before is None else Items.join([before, items]))
        numbers.append(number if before is None else np.concatenate([queue.extra["ordinal"], number]))
    met = state["met"].upto(call.instances)
    least = np.minimum.reduce([state[f"came{k}"].upto(call.instances) for k in range(len(given))])
    chosen: list[Items] = []
    for k, (items, number) in enumerate(zip(waiting, numbers)):
        ready = number < least[items.codes]
        taken = items.filter(ready).with_ends(NO_ENDS)
        chosen.append(taken.take(np.lexsort((number[ready], taken.codes))))
        state[f"queue{k}"].put(items.filter(~ready).with_ends(NO_ENDS), ordinal=number[~ready])
    np.copyto(met, np.maximum(met, least))
    step = np.maximum.reduce([c.step for c in chosen])
    first = chosen[0]
    ends = _over(state, given, step, first.codes, call)
    values: list[Col] = [c.value for c in chosen]
    about, code = first.about, first.code
    if code is not None and len(step) > 1 and (step[1:] < step[:-1]).any():
        order = np.argsort(step, kind="stable")
        values, step, about, code = [v.take(order) for v in values], step[order], about[order], code[order]
    return Fronts(values, step, about, code, ends)


def numbered(seen: Counts, codes: np.ndarray, row: int | None) -> int | None:
    """The number in its trace of the item at ``row`` of a call; ``seen``: how many there were before."""
    if row is None:
        return None
    c = int(codes[row])
    return int(seen.values[c] if c < len(seen.values) else 0) + int((codes[:row] == c).sum())


__all__ = ["OPERATORS", "Fronts", "Operator", "Setting", "meet", "meeting", "numbered", "operator"]
