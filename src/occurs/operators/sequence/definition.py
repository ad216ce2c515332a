"""A definition by a pattern over the order of events (epl-and-nets.md, section 4A)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.contract import Moves, Order, Port
from occurs.operators.definition import Named, Options, Side, Source
from occurs.operators.sequence import tree
from occurs.operators.sequence.automaton import Automaton
from occurs.operators.sequence.timers import Timer

#: live partial matches that a definition may have, if nobody says how many
MOST_INSTANCES = 10_000_000


@dataclass(frozen=True)
class SequenceDefinition(Named):
    """A definition by a pattern over the order of events: ``pattern``.

    ``single``: it looks at one row only; ``limit``: partial matches that may live at a time; ``guards``: the
    definition of those that its guards end, if it has guards.

    ``ended``: if it is not empty, this gives the partial matches that the guards of ``pattern`` have ended, under this
    name, and not the matches: a side output.  ``schema``: then its columns.  ``reasons``: constituents are asked for.
    """

    pattern: tree.Sequence
    single: bool = False
    limit: int = MOST_INSTANCES
    ended: str = ""
    schema: Schema = Schema()
    reasons: bool = False
    guards: SequenceDefinition | None = None

    @property
    def hint(self) -> tuple[int, str]:
        return 1, "equate an attribute of every event with one of the first event: `every a=A -> b=B(k=a.k)`"

    @property
    def endless(self) -> str:
        return "" if self.single else "a partial match may depend on any earlier event"

    @property
    def row_by_row(self) -> bool:
        return self.single

    @property
    def sides(self) -> Sequence[Side]:
        return [Side(self.name, self.ended, self.schema)] if self.ended else []

    @property
    def silent(self) -> frozenset[str] | None:
        """All types but those of the filters that can complete the pattern: a guard that runs out completes none."""
        if self.ended or tree.at_once(self.pattern.root) or any(isinstance(n, Timer) for n in nodes(self.pattern.root)):
            return None
        return frozenset(self.reads).difference(*(atom.types for atom in _last(self.pattern.root)))

    def operator(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Automaton:
        return Automaton(
            self.identity,
            tuple(Port(t, order=Order.PLACE) for t in self.reads),
            (self.out(schemas),),
            self.pattern,
            {t: schemas.get(t, Schema()) for t in self.reads},
            kind,
            self.limit,
            bool(self.ended),
            self.reasons,
            born=self.born,
            moves=frozenset({Moves.CLOCK}) if self.timed else frozenset(),
            words=f"pattern over {', '.join(sorted(self.reads))}; runs in time order",
        )

    @property
    def sources(self) -> Sequence[Source]:
        atoms = [n for n in nodes(self.pattern.root) if isinstance(n, tree.Atom)]
        return [Source(t, atom.own) for atom in atoms for t in atom.types]

    def form(self, schemas: Mapping[str, Schema]) -> Any:
        return self.pattern, self.read_types(schemas)

    @cached_property
    def timed(self) -> bool:
        """Can something happen where no row is?"""
        timers = any(isinstance(n, Timer | tree.Within) for n in nodes(self.pattern.root))
        return timers or tree.at_once(self.pattern.root)

    def timeouts(self, place: int) -> SequenceDefinition | None:
        return None if self.guards is None else replace(self.guards, at=place)

    def adapted(self, options: Options) -> SequenceDefinition:
        out = super().adapted(options)
        if options.instances is not None:
            out = replace(out, limit=options.instances)
        if options.reasons is not None and not self.ended:
            out = replace(out, pattern=replace(self.pattern, columns=self._all_columns(options.reasons)), reasons=True)
        return out

    def _all_columns(self, schemas: Mapping[str, Schema]) -> tuple[tuple[str, frozenset[str]], ...]:
        """Per tag all attributes of its types, which ``because`` shows."""
        types = {n.tag: n.types for n in nodes(self.pattern.root) if isinstance(n, tree.Atom)}
        columns = []
        for tag, names in self.pattern.columns:
            own = [schemas[t] for t in types[tag] if t in schemas]
            columns.append((tag, names | {n for s in own for n, kind in s if kind is not Type.RECORD}))
        return tuple(columns)


def _last(node: tree.Node) -> Iterator[tree.Atom]:
    """The filters whose events can complete a pattern."""
    if isinstance(node, tree.Atom):
        yield node
    elif isinstance(node, tree.Followed) and not tree.at_once(node.operands[-1]):
        yield from _last(node.operands[-1])
    elif not isinstance(node, tree.Not):
        for child in node.children:
            yield from _last(child)


def nodes(root: tree.Node) -> Iterator[tree.Node]:
    """A pattern and all below it, parents first."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)
