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
from typing import TYPE_CHECKING

from occurs.errors import DefinitionProblem

if TYPE_CHECKING:
    from occurs.languages.esql.syntax import Phrase
    from occurs.pipes.callables import Function

GROUP = "occurs.palettes"


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


@lru_cache(maxsize=1)
def phrases() -> Sequence[Phrase]:
    """The phrases of all palettes.

    SyntaxProblem, and DefinitionProblem (``bad-palette``) if a text has other statements.
    """
    from occurs.errors import raise_problems
    from occurs.languages.esql.parser import parse
    from occurs.languages.esql.syntax import Phrase

    out: list[Phrase] = []
    for name, palette in palettes().items():
        file, problems = parse(palette.phrases, f"palette {name}", out, palettes=False)
        raise_problems(problems)
        for statement in file.statements:
            if not isinstance(statement, Phrase):
                raise DefinitionProblem.of("bad-palette", f"the palette `{name}` has statements that are not phrases")
            out.append(statement)
    return tuple(out)


def forget() -> None:
    """Look for palettes anew."""
    from occurs.languages.esql.function_text import function

    for kept in (palettes, functions, phrases, function):
        kept.cache_clear()
