"""Moore machines over pipes (pipes.md, 4.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from occurs.errors import Span
from occurs.expr.tree import Expr
from occurs.pipes.graph import Processor


@dataclass(frozen=True)
class Transition:
    """``WHEN condition GO TO target SET ..``; ``condition`` None: OTHERWISE."""

    condition: Expr | None
    target: str
    sets: tuple[tuple[str, Expr], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class State:
    """``output`` None: the state is silent.  Without transitions it is final."""

    name: str
    output: Expr | None = None
    transitions: tuple[Transition, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Machine(Processor):
    """A Moore machine over fronts of m inputs; the starts of the registers are of constants and variables."""

    start: str
    states: tuple[State, ...]
    registers: tuple[tuple[str, Expr], ...] = ()
    inputs: ClassVar[int | None] = None
