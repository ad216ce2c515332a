"""Moore machines in Python (pipes.md, 2.3, 4.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import DefinitionProblem, did_you_mean
from occurs.expr.tree import Expr
from occurs.operators.process import tree
from occurs.pipes.box import Box
from occurs.pipes.callables import Function, as_function
from occurs.pipes.constants import SILENT
from occurs.pipes.pipe import Pipe, operand


@dataclass(frozen=True)
class When:
    """``When(fn(guard), "t", set={"n": fn("$n + 1")})``: if the guard is true, set registers and go to state ``t``."""

    guard: Any
    target: str
    set: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Otherwise:
    """The transition that is taken if no guard of the state is true."""

    target: str
    set: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """A state with its transitions; a state without transitions is final.  ``output``: a constant, ``fn(..)``, or
    SILENT."""

    output: Any = SILENT
    transitions: Sequence[When | Otherwise] = ()


class Machine(Box):
    """A Moore machine with ``inputs`` inputs."""

    def __init__(
        self,
        start: str,
        states: Mapping[str, State],
        registers: Mapping[str, Any] | None = None,
        *,
        inputs: int = 1,
        name: str | None = None,
        sources: Sequence[Pipe] = (),
    ) -> None:
        for at, target in [("start", start), *((s, t.target) for s, d in states.items() for t in d.transitions)]:
            if target not in states:
                where = "the start" if at == "start" else f"a transition of `{at}`"
                hint = did_you_mean(target, states, "states")
                raise DefinitionProblem.of("unknown-name", f"there is no state `{target}`, {where}", hint=hint)
        known = registers or {}
        for n, d in states.items():
            for t in d.transitions:
                for name_ in t.set:
                    if name_ not in known:
                        hint = did_you_mean(name_, known, "registers")
                        raise DefinitionProblem.of(
                            "unknown-name", f"state `{n}` sets `{name_}`, which is not a register", hint=hint
                        )
        processor = tree.Machine(
            start,
            tuple(tree.State(n, _output(d.output, inputs), _transitions(d, inputs)) for n, d in states.items()),
            tuple((n, operand(v)) for n, v in known.items()),
        )
        super().__init__(processor, inputs, 1, name=name, sources=sources)


def _output(value: Any, inputs: int) -> Expr | None:
    return None if value is SILENT else _value(value, inputs)


def _value(value: Any, inputs: int) -> Expr:
    """A function, or a constant."""
    return as_function(value, inputs) if isinstance(value, Function) else operand(value)


def _transitions(state: State, inputs: int) -> tuple[tree.Transition, ...]:
    return tuple(
        tree.Transition(
            as_function(t.guard, inputs) if isinstance(t, When) else None,
            t.target,
            tuple((n, _value(v, inputs)) for n, v in t.set.items()),
        )
        for t in state.transitions
    )


def machine(*pipes: Pipe, start: str, states: Mapping[str, State], registers: Mapping[str, Any] | None = None) -> Pipe:
    """The output of a Moore machine that reads several pipes, one item of each at a time."""
    return Machine(start, states, registers, inputs=len(pipes), sources=pipes).out()
