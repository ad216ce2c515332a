"""How fast the items of pipes come, and what grows without bound (pipes.md, section 3).

A pipe's item ``i`` comes with item ``i * period + offset`` of its *base*: the events of a type, or the output of a
processor of which it is not known how many items it gives (WHERE, UNPACK..).  A synchronous operator whose inputs have
other bases or periods keeps a queue that grows; else its queue is as long as their offsets differ.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from occurs.languages.esql.checks.pipes import Builder
from occurs.operators.process import tree
from occurs.operators.process.declared import Rate


def check_rates(definition: tree.Definition, builder: Builder) -> None:
    """Warn of everything in a definition that grows without bound."""
    _Rates(builder).graph([definition.pipe], grows=True)


class _Rates:
    def __init__(self, builder: Builder | None) -> None:
        self.builder = builder
        self.done: dict[int, Rate] = {}

    def graph(self, pipes: list[tree.Pipe], grows: bool) -> None:
        for node in tree.nodes(pipes):
            if id(node) not in self.done:
                if grows and node.processor.grows is not None:
                    self.warn(node, *node.processor.grows)
                self.done[id(node)] = self._rate(node, grows)
                inside = grows and not node.processor.bounded
                for inner in node.processor.inners:
                    self.graph(list(inner.outputs), inside)

    def of(self, pipe: tree.Pipe) -> Rate:
        return self.done[id(pipe.node)]

    def warn(self, node: tree.Node, message: str, hint: str | None) -> None:
        scope = None if self.builder is None else self.builder.scope_of.get(id(node))
        if scope is not None:
            scope.source.warn("unbounded-state", message, node.span, hint)

    # --- rates -------------------------------------------------------------------------------------------------------

    def _rate(self, node: tree.Node, grows: bool) -> Rate:
        p = node.processor
        if not node.inputs:
            return Rate(id(node), _source_words(p))
        together = self._together(node, grows) if p.joins else self.of(node.inputs[0])
        return p.rate(together, Rate(id(node), p.kind_name))

    def _together(self, node: tree.Node, grows: bool) -> Rate:
        """The rate of fronts; warns if a queue before the node grows."""
        rates = [self.of(p) for p in node.inputs]
        first = rates[0]
        for k, other in enumerate(rates[1:], 1):
            if (other.base, other.period) == (first.base, first.period):
                continue
            if grows and not isinstance(node.processor, tree.Formula):
                slow, fast = (0, k) if first.base == other.base and first.period > other.period else (k, 0)
                if first.base == other.base:
                    which = f"the queue of input {fast} of {node.processor.kind_name} grows"
                else:
                    which = f"the queue of input {fast} or {slow} of {node.processor.kind_name} grows"
                message = f"{which}: its inputs have different rates, {rates[fast].text} and {rates[slow].text}"
                self.warn(node, message, "items are joined by their position, not by their time")
            return Rate(id(node), node.processor.kind_name)
        offsets = [r.offset for r in rates]
        latest = None if None in offsets else max(o for o in offsets if o is not None)
        return replace(first, offset=latest)


def queue_bounds(pipe: tree.Pipe) -> dict[int, int | None]:
    """How long the queues before synchronous operators get, by the identity of the node; None if that is not known."""
    rates = _Rates(None)
    rates.graph([pipe], grows=False)
    found = [n for n in tree.nodes([pipe]) if len(n.inputs) > 1 and n.processor.joins]
    return {id(n): _queue_bound([rates.of(p) for p in n.inputs]) for n in found}


def _queue_bound(rates: list[Rate]) -> int | None:
    """How long the queue before a synchronous operator gets; None if that is not known, or it grows."""
    if len({(r.base, r.period) for r in rates}) > 1 or any(r.offset is None for r in rates):
        return None
    offsets = [r.offset for r in rates if r.offset is not None]
    return ceil((max(offsets) - min(offsets)) / rates[0].period) if rates[0].period else None


def _source_words(p: tree.Processor) -> str:
    if isinstance(p, tree.Events):
        return " and ".join(f"`{t}`" for t in p.types) or "nothing"
    return "`*`" if isinstance(p, tree.Placeholder) else "the file"
