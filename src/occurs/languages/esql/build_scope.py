"""Where a part of an eSQL tree stands, when it is built: what `*`, `$x`, `@P` and names mean there (pipes.md, 2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from occurs.errors import Span
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Param
from occurs.languages.esql import syntax
from occurs.operators.process import tree


class Level:
    """An inner processor (window, slice, quantifier, run-on) while it is built; ``what`` it is, for messages."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.star = tree.Node(tree.Placeholder(0)).out()


@dataclass(frozen=True)
class Argument:
    """What stands for a parameter of a phrase, with the scope of the place where the phrase is used."""

    node: syntax.Node
    category: str
    scope: Scope


@dataclass(frozen=True)
class Scope:
    """``inputs``: of how many inputs a function is (None: a pipe stands here), ``aliases``: names of them.

    ``variables``: what `$name` means; its names in the tree are unique along a path, ``used`` has those in use.
    ``place``: the place to report, if it is not that of the node: the use of a phrase of another text.  ``free``: names
    of variables need not be known, as in a function text of its own.
    """

    source: Text
    level: Level | None = None
    inputs: int | None = None
    aliases: Mapping[str, int] = field(default_factory=dict)
    variables: Mapping[str, Expr] = field(default_factory=dict)
    used: frozenset[str] = frozenset()
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    place: Span | None = None
    free: bool = False

    def function(self, inputs: int, aliases: Mapping[str, int] | None = None) -> Scope:
        """The scope of a function of some inputs that stands here."""
        return replace(self, inputs=inputs, aliases=aliases or {})

    def inner(self, level: Level) -> Scope:
        """The scope of an inner processor that stands here."""
        return replace(self, level=level, inputs=None, aliases={})

    def fresh(self, name: str) -> str:
        """A name for a new variable, as it is written unless another one of the path has it."""
        out, n = name, 1
        while out in self.used or (n > 1 and out in self.variables):
            n += 1
            out = f"{name}_{n}"
        return out

    def binds(self, variables: Mapping[str, Expr]) -> Scope:
        """With these variables; those that stand for themselves are in use from here on."""
        used = {v.name for v in variables.values() if isinstance(v, Param)}
        return replace(self, variables={**self.variables, **variables}, used=self.used | used)

    def span(self, node: syntax.Node) -> Span | None:
        """The place to report for a node that stands here."""
        return self.place or node.span
