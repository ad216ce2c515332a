"""Formulas of pipes: temporal operators and quantifiers over atoms, one processor (pipes.md, 4.5, 4.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from occurs.expr.tree import Expr
from occurs.pipes.graph import Inner, Processor


@dataclass(frozen=True)
class Part:
    """A part of a formula."""

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()

    def walk(self) -> Iterator[Part]:
        """This part and all below, parents first; bodies of quantifiers are graphs of their own."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class Atom(Part):
    """The pipe on input ``index`` of the formula's node, of bool (or Troolean)."""

    index: int


@dataclass(frozen=True)
class Given(Part):
    """A constant or a variable of the context: true, false (or a Troolean) at every position that exists."""

    value: Expr


@dataclass(frozen=True)
class _One(Part):
    operand: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.operand,)


@dataclass(frozen=True)
class _Two(Part):
    left: Part
    right: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.left, self.right


@dataclass(frozen=True)
class Not(_One):
    pass


@dataclass(frozen=True)
class And(_Two):
    pass


@dataclass(frozen=True)
class Or(_Two):
    pass


@dataclass(frozen=True)
class Implies(_Two):
    pass


@dataclass(frozen=True)
class Next(_One):
    """``X``, ``AFTER``."""


@dataclass(frozen=True)
class Globally(_One):
    """``G``, ``ALWAYS``."""


@dataclass(frozen=True)
class Eventually(_One):
    """``F``, ``SOMETIME``."""


@dataclass(frozen=True)
class Until(_Two):
    """``U``, ``UPTO``."""


@dataclass(frozen=True)
class Quantified(Part):
    """``FOR ALL $variable IN domain ON p : body``; ``input``: the input of the formula's node that p is on.

    ``body`` has one input and one output: the node of a Formula of the same flavour, or any other pipe.
    """

    universal: bool
    variable: str
    domain: Expr
    input: int
    body: Inner


@dataclass(frozen=True)
class Formula(Processor):
    """A whole formula over its atoms and quantifiers' pipes, which are the inputs of its node.

    ``troolean``: the flavour.  ``at_end``: ``nothing``, ``finite`` or ``null``.
    """

    root: Part
    troolean: bool = False
    at_end: str = "nothing"
    inputs: ClassVar[int | None] = None

    @property
    def inners(self) -> tuple[Inner, ...]:
        return tuple(p.body for p in self.root.walk() if isinstance(p, Quantified))
