"""What the plan knows of a definition over pipes (pipes.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from occurs.errors import Span
from occurs.model.types import Schema
from occurs.plan.definition import Named

if TYPE_CHECKING:
    from occurs.pipes.graph import Pipe
    from occurs.pipes.kinds import Kind
    from occurs.pipes.reading import Reading


@dataclass(frozen=True)
class PipesDefinition(Named):
    """A definition over pipes: ``pipe`` gives its items, of the type ``item``.

    ``about``: its rows say what event they speak of; ``single``: it looks at one row only; ``ordered``: the processor
    that needs the whole order; ``boxes``: its processors; ``lines``: types whose events are lines of files; ``loops``:
    its functions that are called row by row.  ``reasons``: the attributes of the events behind its items are kept.
    """

    pipe: Pipe
    item: Kind
    about: bool = False
    single: bool = False
    ordered: str = ""
    boxes: tuple[str, ...] = ()
    lines: frozenset[str] = frozenset()
    loops: tuple[str, ...] = ()
    reasons: bool = False
    file: str | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def endless(self) -> str:
        return "" if self.single else f"{self.ordered} needs all items in order"

    def reasoning(self, schemas: Mapping[str, Schema]) -> PipesDefinition:
        return replace(self, reasons=True)

    @cached_property
    def reading(self) -> Reading | None:
        """What its items are made of, if that is asked for and the graph says it."""
        from occurs.pipes.reading import reading_of  # brings in all processors

        return reading_of(self.pipe) if self.reasons else None

    def form(self, schemas: Mapping[str, Schema]) -> Any:
        kept = (self.identity, self.read_types(schemas))
        return (*kept, "because") if self.reasons else kept

    @property
    def row_by_row(self) -> bool:
        return self.single
