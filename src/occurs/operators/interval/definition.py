"""A definition over instants and intervals (phenesthe.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.definition import Named, Options, Source

if TYPE_CHECKING:
    from occurs.operators.interval.answers import Answer
    from occurs.operators.interval.network import Net
    from occurs.operators.interval.operator import Connected

_SORTS = {"event": "instants", "state": "disjoint intervals", "dynamic": "intervals that may overlap"}


@dataclass(frozen=True)
class IntervalDefinition(Named):
    """A definition over instants and intervals: ``net`` gives its formula, ``answer`` the rows of it that are final.

    ``sort``: event, state or dynamic; ``delays``: of its events, in ticks (None: no bound).
    """

    sort: str
    net: Net
    answer: Answer
    delays: int | None = 0

    @property
    def lasting(self) -> bool:
        return self.sort != "event"

    @property
    def family(self) -> str:
        return "interval"

    def operator(self, schemas: Mapping[str, Schema], kind: TimeKind) -> Connected:
        from occurs.operators.interval.operator import Connected, Formula  # with all kernels of the family

        reads = ", ".join(sorted(self.reads))
        words = f"{_SORTS[self.sort]}, from {reads}; vectorised"
        one = Formula(
            self.identity, self.name, self.sort, tuple(self.reads), self.net, self.answer, self.out(schemas), self.born,
            words,
        )  # fmt: skip
        return Connected.of(self.identity, [one])

    @property
    def hint(self) -> tuple[int, str]:
        return 5, "use one variable in every atom and in the head: `state s(V) : a(V) ~> b(V).`"

    @property
    def endless(self) -> str:
        return "an interval may have started at any earlier time"

    @property
    def row_by_row(self) -> bool:
        return False

    @property
    def delay(self) -> int | None:
        return self.delays

    @property
    def nulls(self) -> Mapping[str, frozenset[str]]:
        return self.columns

    @property
    def sources(self) -> Sequence[Source]:
        from occurs.operators.interval.atoms import Scan

        nodes = ((self.net.nodes[number], type) for number, type in self.net.sources.items())
        return [Source(type, node.conditions if isinstance(node, Scan) else ()) for node, type in nodes]

    @property
    def coalesced(self) -> frozenset[str]:
        from occurs.operators.interval.atoms import Scan

        scans = ((type, self.net.nodes[number]) for number, type in self.net.sources.items())
        return frozenset(type for type, node in scans if isinstance(node, Scan) and node.sort == "state")

    def form(self, schemas: Mapping[str, Schema]) -> Any:
        nodes = [(type(node).__name__, node.variables) for node in self.net.nodes]
        return nodes, self.net.inputs, self.net.sources, self.net.types

    def adapted(self, options: Options) -> IntervalDefinition:
        net = self.net
        net = net.remembering() if options.reasons is not None else net
        net = net.telling() if options.provisional and self.lasting else net
        return replace(super().adapted(options), net=net)
