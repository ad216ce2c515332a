"""Terms of the functional part of CPN ML (CPN Tools, documentation of CPN ML: functions, multisets, time).

Names that a function, ``let`` or ``case`` binds are :class:`Local`: the variables of a net are the only ``Ref``.
A multiset is a list of its elements, as in CPN ML itself; its value is a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import Span
from occurs.expr.tree import Expr, _span
from occurs.nets.colours import Colour


class _Leaf(Expr):
    @property
    def children(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, new: tuple[Expr, ...]) -> Expr:
        return self


@dataclass(frozen=True)
class Local(_Leaf):
    """A name that a pattern binds; ``_`` binds nothing.  ``colour``: if the text says it."""

    name: str
    colour: Colour | None = None
    span: Span | None = _span()


@dataclass(eq=False)
class Function:
    """A function that a net declares, by its clauses, which are set once the whole declaration is known.

    Attributes:
        name: Its name.
        patterns: For each clause the patterns of its arguments (several if it is curried).
        bodies: For each clause what the function returns.
        many: Whether it returns a multiset or a list.
        multiset: Whether it returns a multiset.
        call: The function itself, made when it is first needed.
    """

    name: str
    patterns: tuple[tuple[Expr, ...], ...] = ()
    bodies: tuple[Expr, ...] = ()
    many: bool = False
    multiset: bool = False
    call: Callable[..., Any] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Global(_Leaf):
    """A declared function."""

    function: Function
    span: Span | None = _span()


@dataclass(frozen=True)
class Builtin(_Leaf):
    """A function of the library, or one of a colour (``colour`` then): ``List.map``, ``NO.mkstr``."""

    name: str
    colour: Colour | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Apply(Expr):
    """A function of one argument (a tuple, often), applied."""

    function: Expr
    arg: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Case(Expr):
    """``case arg of pattern => body | ..``."""

    arg: Expr
    patterns: tuple[Expr, ...]
    bodies: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Fn(Expr):
    """``fn pattern => body | ..``: a function without a name."""

    patterns: tuple[Expr, ...]
    bodies: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Let(Expr):
    """``let val pattern = value in body end``."""

    pattern: Expr
    value: Expr
    body: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Copies(Expr):
    """``count`x`` as a multiset where ``count`` is computed."""

    count: Expr
    arg: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Minus(Expr):
    """``left -- right``: a multiset without the elements of another; null if they are not all there."""

    left: Expr
    right: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Many(Expr):
    """At an arc: all elements of a multiset, one token each."""

    arg: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Delayed(Expr):
    """At an arc: ``arg @+ delay``, tokens that are ready only ``delay`` after the transition occurs."""

    arg: Expr
    delay: Expr
    span: Span | None = _span()


FUNCTIONAL = (Local, Global, Builtin, Apply, Case, Fn, Let, Copies, Minus)


def token_part(term: Expr) -> tuple[Expr, bool, Expr | None]:
    """What stands at an arc: the term of the token or multiset, whether it is a multiset, and the delay."""
    if isinstance(term, Delayed):
        one, many, _ = token_part(term.arg)
        return one, many, term.delay
    return (term.arg, True, None) if isinstance(term, Many) else (term, False, None)


def drawn(term: Expr, names: frozenset[str], seen: frozenset[Function] = frozenset()) -> str | None:
    """The name of the first of these functions of the library that ``term`` calls, through declared functions too."""
    for node in term.walk():
        if isinstance(node, Builtin) and node.name in names:
            return node.name
        if isinstance(node, Global) and node.function not in seen:
            for body in node.function.bodies:
                found = drawn(body, names, seen | {node.function})
                if found is not None:
                    return found
    return None


#: functions whose value is drawn by chance
CHANCE = frozenset(
    ("bernoulli", "binomial", "discrete", "erlang", "exponential", "normal", "poisson", "ran", "uniform")
)  # fmt: skip
