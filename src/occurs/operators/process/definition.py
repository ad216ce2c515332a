"""A definition over pipes (pipes.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.contract import Moves, Order, Port
from occurs.operators.definition import Named, Options

if TYPE_CHECKING:
    from occurs.operators.process.kinds import Kind
    from occurs.operators.process.process import Process
    from occurs.operators.process.tree import Pipe


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

    @property
    def hint(self) -> tuple[int, str]:
        return 3, "slice the items by a key: `SLICE EACH p WITH (THE SUM OF *.v) ON key`"

    @property
    def offer(self) -> str:
        return "`SLICE EACH p WITH .. ON key` can be partitioned by its key"

    @property
    def endless(self) -> str:
        return "" if self.single else f"{self.ordered} needs all items in order"

    def adapted(self, options: Options) -> PipesDefinition:
        return replace(super().adapted(options), reasons=self.reasons or options.reasons is not None)

    @property
    def silent(self) -> frozenset[str] | None:
        return frozenset()

    def operator(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Process:
        from occurs.operators.process.process import Process  # brings in all processors

        shown = " -> ".join(self.boxes[:8]) + (" -> .." if len(self.boxes) > 8 else "")
        names = ", ".join(f"`{n}`" for n in self.loops)
        rows = f", except {names}, which runs row by row" if names else ""
        return Process(
            self.identity,
            tuple(Port(t, order=Order.PLACE) for t in self.reads),
            (self.out(schemas),),
            self.pipe,
            self.item,
            kind,
            self.about,
            self.lines,
            self.reasons,
            born=self.born,
            moves=frozenset({Moves.END}),
            words=f"pipes over {', '.join(sorted(self.reads))}: {shown}; vectorised{rows}",
        )

    def form(self, schemas: Mapping[str, Schema]) -> Any:
        kept = (self.identity, self.read_types(schemas))
        return (*kept, "because") if self.reasons else kept

    @property
    def row_by_row(self) -> bool:
        return self.single
