"""One derivation of a result, the least in order (common.md, section 3; phenesthe.md, section 4), and what a net has to
remember for it.

A derivation consists of the rows and intervals under the atoms of a formula.  They are looked for from the result down:
every operator says which of the elements of its operands can have given an element of its own.  Only nets of which
derivations are asked remember: of every node the elements that may still be part of a result, which are those that have
not ended before all that is kept of what is made of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.atoms import Picked, Scan, code_of, ends_of
from occurs.operators.interval.conditions import OfBindings
from occurs.operators.interval.delayed_release import HoldPoints, HoldSpans
from occurs.operators.interval.phenomena import LongPhenomena, Loose, PooledPhenomena
from occurs.operators.interval.points import Both, Either, Ends, Inside, PooledPoints, Starts, Without
from occurs.operators.interval.ranges import Iteration, MaximalRange, MinimalRange
from occurs.operators.interval.relations import Related
from occurs.operators.interval.sets import Common, Cut, LongSpans, PooledSpans, United
from occurs.operators.interval.signals import OPEN, Held, Instants, Intervals, Points, Signal, State
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows, attributes_of

if TYPE_CHECKING:
    from occurs.operators.interval.network import Net

_Codes = tuple[int, ...]
_PASSING = (OfBindings, LongSpans, LongPhenomena, Loose, HoldPoints, HoldSpans)


@dataclass(frozen=True)
class Part:
    """A row or interval under an atom: ``role`` is the atom as it is written, ``type`` what it reads, ``end`` None if
    it has none.  ``label``, ``attributes``: of an input row; else ``codes`` are those of the variables of the
    definition that derives it."""

    role: str
    type: str
    time: int
    end: int | None
    label: tuple[int, int] | None = None
    codes: _Codes = ()
    attributes: str = ""

    @property
    def order(self) -> tuple[int, bool, int, str]:
        return self.time, self.end is None, self.end or 0, self.role


@dataclass(frozen=True)
class Element:
    """An instant (it starts and ends there) or an interval of a formula, under a binding; ``row`` is its place in what
    is remembered."""

    start: int
    end: int
    codes: _Codes
    row: int


class Derivations:
    """The derivations of elements of the formulas of one net, over what is remembered of them."""

    def __init__(self, memory: Memory) -> None:
        self._memory, self._net = memory, memory.net
        #: where the result ends: later ends of states do not matter to it, and may not be known when it is told
        self._limit = OPEN
        self._indexes: dict[tuple[int, tuple[int, ...], bool], dict[_Codes, list[Element]]] = {}

    def of(self, number: int, codes: _Codes, start: int, end: int) -> list[Part]:
        """The parts of an element of a node, in the order of time, each once.  What holds beyond it has no end."""
        self._limit = end
        return sorted(dict.fromkeys(self._parts(number, codes, start, end)), key=lambda part: part.order)

    def _parts(self, number: int, codes: _Codes, start: int, end: int) -> list[Part]:
        node, inputs = self._net.nodes[number], self._net.inputs[number]
        bound = dict(zip(node.variables, codes))
        known = min(end, self._limit)

        def below(side: int, first: int = start, last: int = end) -> list[Part]:
            return self._parts(inputs[side], own(side), first, last)

        def own(side: int) -> _Codes:
            return tuple(bound[v] for v in self._net.nodes[inputs[side]].variables)

        def found(side: int, fits: Callable[[Element], bool]) -> list[Part]:
            """The first element of an operand that fits, and its parts."""
            element = next(filter(fits, self._elements(inputs[side], own(side))), None)
            return [] if element is None else below(side, element.start, element.end)

        match node:
            case Scan():
                return self._rows(number, node, codes, start, end)
            case Picked():
                return self._picked(number, node, bound, start, end)
            case PooledPoints() | PooledPhenomena():
                some = self._pooled(number, node.operand, node.variables, codes)
                element = next((e for e in some if (e.start, e.end) == (start, end)), None)
                return [] if element is None else self._parts(inputs[0], element.codes, start, end)
            case PooledSpans():
                some = self._pooled(number, node.operand, node.variables, codes)
                return [p for e in _chain(some, start, known) for p in self._parts(inputs[0], e.codes, e.start, e.end)]
            case United():
                both = [(e, side) for side in (0, 1) for e in self._elements(inputs[side], own(side))]
                both.sort(key=lambda found: (found[0].start, found[0].end))
                sides = {id(e): side for e, side in both}
                chain = _chain([e for e, _ in both], start, known)
                return [p for e in chain for p in below(sides[id(e)], e.start, e.end)]
            case Starts():
                return found(0, lambda e: e.start == start)
            case Ends():
                return found(0, lambda e: e.end == start)
            case Both():
                return below(0) + below(1)
            case Either():
                there = any(e.start == start for e in self._elements(inputs[0], own(0)))
                return below(0) if there else below(1)
            case Without():
                return below(0)
            case Inside():
                return below(0) + found(1, lambda e: e.start <= start <= e.end)
            case MaximalRange() | MinimalRange():
                return below(0, start, start) + (below(1, end, end) if end <= self._limit and end != OPEN else [])
            case Iteration():
                run = [e.start for e in self._elements(inputs[0], own(0)) if start <= e.start <= end]
                count = max(2, sum(time <= self._limit for time in run))  # two are a run
                return [p for time in run[:count] for p in below(0, time, time)]
            case Common():
                return [p for side in (0, 1) for p in found(side, lambda e: e.start <= start and e.end >= known)]
            case Cut():
                return found(0, lambda e: e.start <= start and e.end >= known)
            case Related():
                pair = self._pair(node, [self._elements(inputs[side], own(side)) for side in (0, 1)], start, end)
                return [] if pair is None else [p for k in (0, 1) for p in below(k, pair[k].start, pair[k].end)]
            case _ if isinstance(node, _PASSING):
                return below(0)
        return []  # the clock

    # --- atoms --------------------------------------------------------------------------------------------------------

    def _rows(self, number: int, node: Scan, codes: _Codes, start: int, end: int) -> list[Part]:
        """Input rows: the first of those that are alike."""
        rows = self._index(number, tuple(range(len(codes))), rows=True).get(codes, ())
        columns, role = self._memory.tables[number][READ].columns, self._net.names.get(number, node.type)
        if node.sort == "event":
            chosen = [e for e in rows if e.start == start][:1]
        elif node.sort == "dynamic":
            chosen = [e for e in rows if (e.start, e.end) == (start, end)][:1]
        elif node.sort == "state":
            chosen = _chain(rows, start, min(end, self._limit))
        else:
            closes = columns["closes"]
            chosen = [e for e in rows if e.start == start and not closes[e.row]][:1]
            chosen += [e for e in rows if e.start == end <= self._limit and closes[e.row]][:1]
        out = []
        for e in chosen:
            ends = e.end if node.sort in ("state", "dynamic") and e.end != OPEN else None
            label = int(columns["hi"][e.row]), int(columns["lo"][e.row])
            text = str(self._memory.value(e.codes[-1], Type.STRING))
            out.append(Part(role, node.type, e.start, ends, label, (), text))
        return out

    def _picked(self, number: int, node: Picked, bound: Mapping[str, int], start: int, end: int) -> list[Part]:
        """What another definition derives, or a state that is known by its changes."""
        code = {p: bound[v] for v, p in zip(node.variables, node.places) if isinstance(p, str)}
        for variable, place in node.equal:
            code[variable] = code[place] if isinstance(place, str) else code_of(self._memory.values, place)
        codes = tuple(code[v] for v in node.operand)
        source = self._net.sources.get(number)
        if source is None:
            return self._parts(self._net.inputs[number][0], codes, start, end)
        late = end == OPEN or (node.sort == "state" and end > self._limit)
        ends = None if node.sort == "event" or late else end
        return [Part(self._net.names.get(number, source), source, start, ends, None, codes)]

    # --- elements -----------------------------------------------------------------------------------------------------

    def _elements(self, number: int, codes: _Codes) -> Sequence[Element]:
        """Those of a node under a binding, by start and end."""
        return self._index(number, tuple(range(len(self._net.nodes[number].variables)))).get(codes, ())

    def _pooled(
        self, number: int, operand: Sequence[str], variables: Sequence[str], codes: _Codes
    ) -> Sequence[Element]:
        """The elements of an operand under all bindings that agree with one of fewer variables."""
        return self._index(self._net.inputs[number][0], tuple(operand.index(v) for v in variables)).get(codes, ())

    def _index(self, number: int, columns: tuple[int, ...], rows: bool = False) -> dict[_Codes, list[Element]]:
        """The elements of a node, or the ``rows`` that it has read, by the codes of some of its variables, each list in
        order."""
        found = self._indexes.get((number, columns, rows))
        if found is None:
            found = self._indexes[number, columns, rows] = {}
            some = self._memory.rows(number) if rows else self._memory.elements(number)
            every = zip(*[c.tolist() for c in some.codes]) if some.codes else [()] * len(some)
            for row, (codes, start, end) in enumerate(zip(every, some.start.tolist(), some.end.tolist())):
                key = tuple([codes[k] for k in columns])
                found.setdefault(key, []).append(Element(start, end, codes, row))
            for alike in found.values():
                alike.sort(key=lambda e: (e.start, e.end))
                self._by_values(alike, number, columns)
        return found

    def _by_values(self, some: list[Element], number: int, columns: tuple[int, ...]) -> None:
        """Elements that start and end together in the order of the values of their other variables."""
        variables = self._net.nodes[number].variables
        others = [k for k in range(len(variables)) if k not in columns]
        if not others or len(some) < 2:
            return
        first = 0
        for last in range(1, len(some) + 1):
            if last < len(some) and (some[last].start, some[last].end) == (some[first].start, some[first].end):
                continue
            if last - first > 1:
                texts = [variables[k] for k in others]
                some[first:last] = sorted(some[first:last], key=lambda e: self._values(e, others, texts))
            first = last

    def _values(self, element: Element, columns: Sequence[int], names: Sequence[str]) -> tuple[object, ...]:
        out: list[object] = []
        for k, name in zip(columns, names):
            value = self._memory.value(element.codes[k], self._net.types.get(name, Type.NULL))
            out += value is not None, value if value is not None else 0
        return tuple(out)

    @staticmethod
    def _pair(
        node: Related, sides: Sequence[Sequence[Element]], start: int, end: int
    ) -> tuple[Element, Element] | None:
        """The first pair that is so related and gives the result [start, end]."""
        left, right = sides
        wants_left = node.rel not in ("starts", "finishes", "equals")
        wants_right = node.rel != "contains"
        some = left if not wants_left else left[bisect_left(left, start, key=lambda e: e.start) :]
        for x in some:
            if wants_left and x.start != start:
                break
            if node.rel == "contains" and x.end != end:
                continue
            for y in right:
                if (wants_right and y.end != end) or (not wants_left and y.start != start):
                    continue
                if _related(node.rel, x, y, left, right):
                    return x, y
        return None


def _related(rel: str, x: Element, y: Element, left: Sequence[Element], right: Sequence[Element]) -> bool:
    """Whether a relation is true of two elements; ``before`` depends on all elements of their formulas."""
    match rel:
        case "before":
            return (
                x.end < y.start
                and not any(x.end < e.end < y.start for e in left)
                and not any(x.end < e.start < y.start for e in right)
            )
        case "meets":
            return x.end == y.start
        case "overlaps":
            return x.start < y.start < x.end < y.end
        case "starts":
            return x.start == y.start and x.end < y.end
        case "finishes":
            return y.start < x.start and x.end == y.end != OPEN
        case "equals":
            return x.start == y.start and x.end == y.end != OPEN
    return x.start < y.start and y.end < x.end


def _chain(some: Sequence[Element], start: int, end: int) -> list[Element]:
    """Elements, in order, that cover [start, end] together: few of them, each ends as late as can be."""
    out: list[Element] = []
    known = start
    while not out or known < end:
        best = None
        for e in some:
            if e.start > known:
                break
            if e.end > known and (best is None or e.end > best.end):
                best = e
        if best is None:
            break
        out.append(best)
        known = best.end
    return out


# --- what a net remembers ---------------------------------------------------------------------------------------------


#: tables of a node: the elements that are remembered; of atoms over input also the rows, their labels, and whether
#: they close a state
ELEMENTS, READ = "remembered", "read"
#: what stands for the attributes of a row, as the text of a JSON object, behind its variables
ATTRIBUTES = "{}"
_ROWS = ("start", "end", "hi", "lo", "closes")


def unremembered(net: Net) -> dict[int, State]:
    """The empty tables of what is remembered, per node."""
    out = {}
    for number, node in enumerate(net.nodes):
        out[number] = {ELEMENTS: Held.empty(len(node.variables), *_ROWS[:2])}
        if isinstance(node, Scan):
            out[number][READ] = Held.empty(len(node.variables) + 1, *_ROWS)
    return out


def others(tables: Mapping[str, Held]) -> State:
    """The tables of a node without those of what is remembered."""
    return {name: table for name, table in tables.items() if name not in (ELEMENTS, READ)}


@dataclass
class Memory:
    """What a ``net`` remembers after a call, before it forgets: per node its ``tables``, of which the elements have
    ended, and what is ``open``."""

    net: Net
    values: Values
    tables: dict[int, State]
    open: dict[int, Intervals]
    _values: dict[tuple[Type, int], object] = field(default_factory=dict)

    @staticmethod
    def of(
        net: Net, before: Mapping[int, State], signals: list[Signal], sources: Mapping[str, Any], call: Instants
    ) -> Memory:
        """``before``: what was remembered; ``signals``: of all nodes in this call."""
        tables, open = {}, {}
        for number, (node, signal) in enumerate(zip(net.nodes, signals)):
            if isinstance(signal, Points):
                new = Held(signal.codes, {"start": signal.time, "end": signal.time})
            else:
                new = signal.closed.held()
                open[number] = signal.open
            tables[number] = {ELEMENTS: Held.concat([before[number][ELEMENTS], new])}
            if isinstance(node, Scan):
                rows = _scanned(node, sources.get(net.sources[number]), call)
                tables[number][READ] = Held.concat([before[number][READ], rows])
        return Memory(net, call.values, tables, open)

    def elements(self, number: int) -> Intervals:
        """What of a node is remembered, and behind it what is open."""
        known = self.tables[number][ELEMENTS].intervals()
        if number not in self.open or not len(self.open[number]):
            return known
        rows = self.open[number]
        return Intervals.concat([known, Intervals(rows.codes, rows.start, np.full(len(rows), OPEN, np.int64))])

    def rows(self, number: int) -> Intervals:
        """The rows that an atom has matched; events end where they begin."""
        return self.tables[number][READ].intervals()

    def value(self, code: int, type: Type) -> object:
        """What a code stands for."""
        if (type, code) not in self._values:
            one = self.values.decode(np.array([code]), type).arrow.to_pylist() if code >= 0 else [None]
            self._values[type, code] = one[0]
        return self._values[type, code]

    def kept(self, state: Mapping[int, Mapping[str, Held]], frontier: int) -> dict[int, State]:
        """What must be remembered further, ``state`` being what the nodes keep.

        A result that is yet to come begins no earlier than the least tick that is kept anywhere, nor does an element
        that may be preferred to another one; and all of what an element is made ends no earlier than it begins.
        """
        begun = [frontier + 1 if frontier < OPEN else OPEN]
        begun += [int(rows.start.min()) for rows in self.open.values() if len(rows)]
        for tables in state.values():
            columns = [(name, ticks) for table in tables.values() for name, ticks in table.columns.items()]
            begun += [int(ticks.min()) for name, ticks in columns if name != "waits" and len(ticks)]
        least = dict.fromkeys(range(len(self.net.nodes)), min(begun))
        out = {}
        for number in reversed(range(len(self.net.nodes))):
            own, mine = least[number], dict(self.tables[number])
            for name in (ELEMENTS, READ):  # rows have what is under the elements
                if name in mine:
                    table = mine[name] = mine[name].take(mine[name].columns["end"] >= own)
                    own = min(own, int(table.columns["start"].min())) if len(table) else own
            out[number] = mine
            for operand in self.net.inputs[number]:
                least[operand] = min(least[operand], own)
        return out


def _scanned(node: Scan, rows: Rows | None, call: Instants) -> Held:
    """The new rows that an atom matches, as a table."""
    nothing = Held.empty(len(node.variables) + 1, *_ROWS)
    if rows is None or len(rows) == rows.new or rows.labels is None:
        return nothing
    new, codes = node.matching(rows.slice(rows.new) if rows.new else rows, call)
    n = len(new)
    if not n:
        return nothing
    assert new.labels is not None
    end, closes = new.time, np.zeros(n, np.int64)
    if node.sort in ("state", "dynamic"):
        end = ends_of(new)
    elif node.sort == "changes":
        closes = (~new.column("holds").values).astype(np.int64)
    hi, lo = new.labels.hi.view(np.int64), new.labels.lo.view(np.int64)
    text = Column(Type.STRING, None, None, attributes_of(new, np.arange(n)))
    columns = {"start": new.time, "end": end, "hi": hi, "lo": lo, "closes": closes}
    return Held((*codes, call.values.encode(text)), columns)
