"""What graphs of pipes are made of: functions, nodes, pipes, inner graphs (pipes.md, sections 2.2 and 4).

A :class:`Node` is a box that stands in a graph: a *processor* (what it does: a value, see :mod:`occurs.pipes.tree`) and
the pipes on its inputs.  A :class:`Pipe` is one output of a node.  Using a pipe twice forks it: there is no processor
for that.  Nodes are compared by identity, processors and functions by value.

**Functions** are expressions of :mod:`occurs.expr.tree`, read for one front of inputs:

* ``Input(k)`` is ``$k`` (``Input(0)`` also ``*``), an ``AS $x`` and an ``AS t`` are resolved to it;
  ``Ref(None, name)``: the attribute of the first input that has one of this name; ``Attribute(of, name)``: ``t.a``.
  Of an event, ``type`` and ``time`` are attributes as well.
* ``Param(name)``: ``$name``, a register, a quantifier's variable or ``slice``; names are unique along a path, so the
  innermost one needs no search (phrases are substituted with fresh names).
* ``Literal``: null, bool, int, float, text, a timestamp; ``TrooleanLiteral("?")``; ``EverySlice``: ``#``.
* ``Unary`` of ``neg not``; ``Binary`` of ``+ - * / mod div = != < <= > >= and or``; ``IsNull``; ``Call`` of a function
  of pipes.md 2.2 by its lower-case name, and of the operators without a class: ``implies(a, b)``, ``power(a, b)``
  (``a ^ b``), ``in(a, list)``, ``element(list, i)`` (``a[i]``); ``ListOf``, ``SetOf``, ``TupleOf``; ``Foreign``: a
  user's function.

**Inner processors** (window, slice, quantifier, run-on) are graphs of their own whose sources are ``Placeholder(k)``:
``*`` is ``Placeholder(0)`` of the innermost :class:`Inner`.  They see no outer pipe, only variables and constants.

**Constants and variables** among the operands of an infix operator or a call over pipes are part of the function
(``x + 1`` is one Lift of one input), so no node is without inputs but the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from occurs.errors import Span
from occurs.expr.tree import Expr, _Leaf, _span
from occurs.pipes.kinds import ANY, Kind

# --- functions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Input(_Leaf):
    """``$index``: the item of an input."""

    index: int
    span: Span | None = _span()


@dataclass(frozen=True)
class Attribute(Expr):
    """``of.name``: an attribute of a tuple; null if it has none."""

    of: Expr
    name: str
    span: Span | None = _span()


@dataclass(frozen=True)
class TrooleanLiteral(_Leaf):
    """``T``, ``F`` or ``?``; TRUE and FALSE are bools, which go into Trooleans."""

    value: str
    span: Span | None = _span()


@dataclass(frozen=True)
class EverySlice(_Leaf):
    """``#``: in the key of a slicer, all slices that exist."""

    span: Span | None = _span()


@dataclass(frozen=True)
class ListOf(Expr):
    """``[a, b]``."""

    items: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class SetOf(Expr):
    """``{a, b}``."""

    items: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class TupleOf(Expr):
    """``SELECT a AS x, b AS y``: a tuple of named columns."""

    names: tuple[str, ...]
    items: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class UserFunction:
    """A function in Python: m arguments, n results.

    ``vectorised``: it takes arrays and gives arrays (a tuple of n, if n is not 1); else it is called row by row.
    """

    name: str
    run: Callable[..., Any]
    inputs: tuple[Kind, ...]
    outputs: tuple[Kind, ...] = (ANY,)
    vectorised: bool = False


@dataclass(frozen=True)
class Foreign(Expr):
    """Result number ``output`` of a user's function."""

    function: UserFunction
    args: tuple[Expr, ...]
    output: int = 0
    span: Span | None = _span()


# --- the graph ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Processor:
    """What a box does.  ``inputs``, ``outputs``: how many ports; None: the node says how many (at least one)."""

    inputs: ClassVar[int | None] = 1
    outputs: ClassVar[int | None] = 1

    @property
    def kind_name(self) -> str:
        """The name of its class, for messages: ``Trim``."""
        return type(self).__name__

    @property
    def inners(self) -> tuple[Inner, ...]:
        """The inner processors it has."""
        return ()


@dataclass(frozen=True, eq=False)
class Node:
    """A processor in a graph, with the pipes on its inputs in their order.

    ``name``, and the place in a text (``source`` is the line that ``span`` starts in), are only for messages.
    """

    processor: Processor
    inputs: tuple[Pipe, ...] = ()
    name: str | None = None
    span: Span | None = None
    file: str | None = None
    source: str | None = None

    @property
    def place(self) -> dict[str, Any]:
        """Where it stands, for a problem."""
        return {"span": self.span, "file": self.file, "source": self.source}

    def out(self, port: int = 0) -> Pipe:
        return Pipe(self, port)


@dataclass(frozen=True, slots=True)
class Pipe:
    """Output ``port`` of a node."""

    node: Node
    port: int = 0


@dataclass(frozen=True, eq=False)
class Inner:
    """An inner processor φ: ``outputs`` over the sources ``Placeholder(0)`` .. ``Placeholder(inputs - 1)``."""

    inputs: int
    outputs: tuple[Pipe, ...]


@dataclass(frozen=True)
class Definition:
    """``DEFINE name [WITH ABOUT] AS pipe``: an output type.

    Its name in another definition of the same program stands for this very pipe: steps and abouts are kept.
    """

    name: str
    pipe: Pipe
    about: bool = False
    file: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


# --- walks ----------------------------------------------------------------------------------------------------------


def nodes(pipes: Sequence[Pipe]) -> list[Node]:
    """All nodes that these pipes need, each once, after those on its inputs; inner graphs are not entered."""
    done: dict[int, Node] = {}
    stack = [(p.node, False) for p in reversed(pipes)]
    while stack:
        node, ready = stack.pop()
        if id(node) in done:
            continue
        if ready:
            done[id(node)] = node
        else:
            stack.append((node, True))
            stack += [(p.node, False) for p in reversed(node.inputs)]
    return list(done.values())


def every_node(pipes: Sequence[Pipe]) -> Iterator[Node]:
    """All nodes that these pipes need, those of inner graphs before the node that has them."""
    for node in nodes(pipes):
        for inner in node.processor.inners:
            yield from every_node(inner.outputs)
        yield node
