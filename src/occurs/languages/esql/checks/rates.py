"""How fast the items of pipes come, and what grows without bound (pipes.md, section 3).

A pipe's item ``i`` comes with item ``i * period + offset`` of its *base*: the events of a type, or the output of a
processor of which it is not known how many items it gives (WHERE, UNPACK..).  A synchronous operator whose inputs have
other bases or periods keeps a queue that grows; else its queue is as long as their offsets differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from occurs.errors import Span
from occurs.languages.esql.checks.pipes import Builder
from occurs.operators.process import tree


@dataclass(frozen=True)
class Rate:
    """``base``: the identity of a node; ``words`` names it.  ``offset`` None: of pending verdicts, it is not known."""

    base: int
    words: str
    period: Fraction = Fraction(1)
    offset: Fraction | None = Fraction(0)

    @property
    def text(self) -> str:
        per = 1 / self.period if self.period else Fraction(0)
        return f"{per} per item of {self.words}"

    def later(self, items: int | Fraction) -> Rate:
        """After so many items more."""
        return self if self.offset is None else replace(self, offset=self.offset + items * self.period)


#: as many items out as in, each at once
_SAME = (tree.Freeze, tree.Cumulate, tree.Moment, tree.Deviation, tree.Count, tree.Threshold, tree.DeadTime, tree.Xml,
         tree.Json, tree.Regex, tree.Plot, tree.Print, tree.StopWhen)  # fmt: skip
#: they join the i-th items of their inputs
_SYNCHRONOUS = (tree.Lift, tree.Filter, tree.Formula, tree.Machine, tree.Pack, tree.Reset, tree.RepeatBy,
                tree.CollectMap, tree.Window)  # fmt: skip
_IN_A_WINDOW = "collect in a window: GET .. FROM p ON A WINDOW OF n"
#: where an inner processor sees but some of the items, so that nothing in it grows
_BOUNDED = (tree.Window, tree.Each)


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
                if grows:
                    self._grows(node)
                self.done[id(node)] = self._rate(node, grows)
                inside = grows and not isinstance(node.processor, _BOUNDED)
                for inner in node.processor.inners:
                    self.graph(list(inner.outputs), inside)

    def of(self, pipe: tree.Pipe) -> Rate:
        return self.done[id(pipe.node)]

    def warn(self, node: tree.Node, message: str, hint: str | None = None, span: Span | None = None) -> None:
        scope = None if self.builder is None else self.builder.scope_of.get(id(node))
        if scope is not None:
            scope.source.warn("unbounded-state", message, span or node.span, hint)

    # --- rates -------------------------------------------------------------------------------------------------------

    def _rate(self, node: tree.Node, grows: bool) -> Rate:
        p = node.processor
        if not node.inputs:
            return Rate(id(node), _source_words(p))
        if isinstance(p, _SYNCHRONOUS) and len(node.inputs) > 1:
            together = self._together(node, grows)
        else:
            together = self.of(node.inputs[0])
        own = Rate(id(node), p.kind_name)
        match p:
            case tree.Lift():
                return own if p.where is not None else together
            case tree.Decimate():
                return replace(together, period=together.period * p.n) if not p.last else own
            case tree.Trim():
                return together.later(p.n)
            case tree.Insert():
                return together.later(-p.n)
            case tree.Repeat() if p.n:
                return replace(together, period=together.period / p.n)
            case tree.Smooth() | tree.Plateaus():
                return together.later(p.n - 1)
            case tree.Peaks():
                return together.later(p.reach)
            case tree.Window() if isinstance(p.width, int) and _gives(p.inner):
                return together.later(p.width - 1)
            case tree.Window() if _gives(p.inner):
                return together
            case tree.Slice():
                return together if p.form == "map" else own
            case tree.Collect() | tree.CollectMap():
                return together
            case tree.Formula():
                return together if p.troolean or not _pending(p) else replace(together, offset=None)
            case tree.Machine() if all(s.output is not None and _always(s) for s in p.states):
                return together
        return together if isinstance(p, _SAME) else own

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

    # --- what grows --------------------------------------------------------------------------------------------------

    def _grows(self, node: tree.Node) -> None:
        p = node.processor
        match p:
            case tree.Slice() if p.until is None:
                self.warn(node, "unbounded state: the slice of every key is kept indefinitely",
                          "ignore this if there are few keys; otherwise end a slice with UNTIL and a condition on the "
                          "output of its processor")  # fmt: skip
            case tree.Collect() | tree.CollectMap():
                self.warn(node, "unbounded state: the collection grows with every item", _IN_A_WINDOW)
            case tree.Cumulate(function="bag union"):
                self.warn(node, "unbounded state: the bag grows with every item", _IN_A_WINDOW)
            case tree.Formula() if _pending(p):
                self.warn(node, "unbounded state: undecided verdicts are kept, and their number depends on the items")
            case tree.Last():
                self.warn(node, "the last item is only known when the history ends, which never happens on a stream")
            case tree.Pack():
                self.warn(
                    node,
                    "unbounded state: the list grows until the guard is true",
                    "use a guard that becomes true after a limited number of items",
                )


def queue_bounds(pipe: tree.Pipe) -> dict[int, int | None]:
    """How long the queues before synchronous operators get, by the identity of the node; None if that is not known."""
    rates = _Rates(None)
    rates.graph([pipe], grows=False)
    found = [n for n in tree.nodes([pipe]) if len(n.inputs) > 1 and isinstance(n.processor, _SYNCHRONOUS)]
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


def _gives(inner: tree.Inner) -> bool:
    """Whether an inner processor gives an item for every window: it has one for each of its input."""
    one_to_one = (tree.Lift, tree.Placeholder, *_SAME, tree.Collect)
    found = [n.processor for n in tree.nodes(list(inner.outputs))]
    return all(isinstance(p, one_to_one) and not (isinstance(p, tree.Lift) and p.where) for p in found) and not any(
        isinstance(p, tree.StopWhen) for p in found
    )


def _pending(formula: tree.Formula) -> bool:
    """Whether verdicts may wait for long: there is a G, F, U or a quantifier."""
    waits = (tree.Globally, tree.Eventually, tree.Until, tree.Quantified)
    parts = list(formula.root.walk())
    if formula.troolean and len([p for p in parts if isinstance(p, waits)]) == 1:
        root = formula.root
        if isinstance(root, (tree.Globally, tree.Eventually)) and not any(
            isinstance(p, tree.Next) for p in root.operand.walk()
        ):
            return False  # one verdict so far is enough
    return any(isinstance(p, waits) for p in parts)


def _always(state: tree.State) -> bool:
    return any(t.condition is None for t in state.transitions)
