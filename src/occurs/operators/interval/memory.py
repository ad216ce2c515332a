"""What a net remembers, so that it can be said of what its results are made (common.md, section 3).

Only nets of which this is asked remember.  Of every node it is the elements that may still be part of a result: those
that have not ended before all that is kept of what is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.scan import Scan
from occurs.operators.interval.signals import OPEN, Call, Held, Intervals, Points, Signal, State
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows, attributes_of

if TYPE_CHECKING:
    from occurs.operators.interval.network import Net

#: tables of a node: the elements that are remembered; of atoms over input also the rows, their labels, and whether
#: they close a state
ELEMENTS, READ = "remembered", "read"
#: what stands for the attributes of a row, as the text of a JSON object, behind its variables
ATTRIBUTES = "{}"
_ROWS = ("start", "end", "hi", "lo", "closes")


def fresh(net: Net) -> dict[int, State]:
    """Nothing, per node."""
    out = {}
    for number, node in enumerate(net.nodes):
        out[number] = {ELEMENTS: Held.empty(len(node.variables), *_ROWS[:2])}
        if isinstance(node, Scan):
            out[number][READ] = Held.empty(len(node.variables) + 1, *_ROWS)
    return out


def others(tables: Mapping[str, Held]) -> State:
    """The tables of a node without these."""
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
        net: Net, before: Mapping[int, State], signals: list[Signal], sources: Mapping[str, Any], call: Call
    ) -> Memory:
        """``before``: what was remembered; ``signals``: of all nodes in this call."""
        tables, open = {}, {}
        for number, (node, signal) in enumerate(zip(net.nodes, signals)):
            if isinstance(signal, Points):
                new = Held(signal.codes, {"start": signal.time, "end": signal.time})
            else:
                new = Held(signal.closed.codes, {"start": signal.closed.start, "end": signal.closed.end})
                open[number] = signal.open
            tables[number] = {ELEMENTS: Held.concat([before[number][ELEMENTS], new])}
            if isinstance(node, Scan):
                rows = _scanned(node, sources.get(net.sources[number]), call)
                tables[number][READ] = Held.concat([before[number][READ], rows])
        return Memory(net, call.values, tables, open)

    def elements(self, number: int) -> Intervals:
        """What of a node is remembered, and behind it what is open."""
        known = _intervals(self.tables[number][ELEMENTS])
        if number not in self.open or not len(self.open[number]):
            return known
        rows = self.open[number]
        return Intervals.concat([known, Intervals(rows.codes, rows.start, np.full(len(rows), OPEN, np.int64))])

    def rows(self, number: int) -> Intervals:
        """The rows that an atom has matched; events end where they begin."""
        return _intervals(self.tables[number][READ])

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


def _intervals(table: Held) -> Intervals:
    return Intervals(table.codes, table.columns["start"], table.columns["end"])


def _scanned(node: Scan, rows: Rows | None, call: Call) -> Held:
    """The new rows that an atom matches."""
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
        column = new.column("end")
        end = np.where(column.is_valid(), column.values, OPEN)
    elif node.sort == "changes":
        closes = (~new.column("holds").values).astype(np.int64)
    hi, lo = new.labels.hi.view(np.int64), new.labels.lo.view(np.int64)
    text = Column(Type.STRING, None, None, attributes_of(new, np.arange(n)))
    columns = {"start": new.time, "end": end, "hi": hi, "lo": lo, "closes": closes}
    return Held((*codes, call.values.encode(text)), columns)
