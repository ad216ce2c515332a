"""Pipes as definitions of programs (pipes.md, 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from occurs.errors import DefinitionProblem
from occurs.model.types import RESERVED_OUTPUT
from occurs.operators.process.network import fused
from occurs.operators.process.tree import Definition

if TYPE_CHECKING:
    from occurs.pipes.pipe import Pipe
    from occurs.program import Program


@dataclass(frozen=True, eq=False)
class Named:
    """A pipe whose items are events of the type ``name``; ``about``: add the time of the event that an item refers
    to."""

    name: str
    pipe: Pipe
    about: bool = False

    @property
    def definition(self) -> Definition:
        """The definition; raises DefinitionProblem (``reserved-name``) if a column of its tuples has a reserved
        name."""
        columns = self.pipe.item_type.columns or ()
        for column, _ in columns:
            if column in RESERVED_OUTPUT:
                message = f"`{self.name}` has a column with the reserved name `{column}`"
                raise DefinitionProblem.of("reserved-name", message)
        (pipe,) = fused([self.pipe.graph])
        return Definition(self.name, pipe, self.about)


def program(*pipes: Pipe | Named) -> Program:
    """Make a program from pipes, which runs like any other program in this process and on Spark.

    An event is a tuple of its attributes.  The items of a pipe without a name are rows of the type ``Result``.
    """
    from occurs.checked_texts import Read
    from occurs.languages.kit.language import Texts
    from occurs.program import Program

    return Program(Read({"pipes": Texts(definitions(*pipes), ())}, {"pipes": (0,)}))


def definitions(*pipes: Pipe | Named) -> tuple[Definition, ...]:
    """The definitions that pipes are: one may be without a name, ``Result``."""
    named = [p if isinstance(p, Named) else Named("Result", p) for p in pipes]
    names = [n.name for n in named]
    for name in names:
        if names.count(name) > 1:
            what = "two pipes have no name" if name == "Result" else f"`{name}` is defined twice"
            raise DefinitionProblem.of("duplicate-definition", what, hint='name them: p.named("Out")')
    return tuple(n.definition for n in named)
