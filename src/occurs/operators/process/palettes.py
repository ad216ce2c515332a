"""Palettes: functions and phrases that other packages bring, found by entry point (pipes.md, 1).

A package names its palettes in the entry points ``occurs.palettes``; each is a :class:`Palette`.  Its functions are
there in the text of functions and as ``fn.name``; its phrases are known in every eSQL text.  Processors for the Python
API need nothing of this: they are functions from pipes to pipes, to be imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Protocol

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Expr

GROUP = "occurs.palettes"


class Function(Protocol):
    """A function of pipes, such as ``@pipes.function(..)`` makes."""

    def results(self, arguments: Sequence[Expr]) -> tuple[Expr, ...]:
        """Its results as expressions of these arguments."""


@dataclass(frozen=True)
class Palette:
    """A set of functions and phrases for eSQL.  ``functions``: made with ``@pipes.function(..)``, by their lower-case
    names in eSQL.  ``phrases``: eSQL text that defines only phrases."""

    functions: Mapping[str, Function] = field(default_factory=dict)
    phrases: str = ""


@lru_cache(maxsize=1)
def palettes() -> dict[str, Palette]:
    """All palettes that are installed, by name; DefinitionProblem (``bad-palette``) for an entry that is none."""
    found: dict[str, Palette] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        palette = entry.load()
        if not isinstance(palette, Palette):
            text = f"the entry point `{entry.name}` of `{GROUP}` is not a Palette: {entry.value}"
            raise DefinitionProblem.of("bad-palette", text)
        found[entry.name] = palette
    return found


@lru_cache(maxsize=1)
def functions() -> dict[str, Function]:
    """The functions of all palettes, those of later names first."""
    return {name: f for palette in palettes().values() for name, f in palette.functions.items()}
