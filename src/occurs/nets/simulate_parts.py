"""The parts of a transition's needs: one place, or any number of them searched anew (see :mod:`simulate_plan`).

A part hears of tokens one by one (``put``, ``drop``), catches up when it is asked (``settle``), and then knows how many
ways there are to take its tokens (``size``), the first of them and all, in the order of bindings.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from occurs.nets.colours import Value
from occurs.nets.evaluate import Binding
from occurs.nets.simulate_plan import PartPlan

#: tokens, in the order of the part's needs, and what they bind; not to be changed
Way = tuple[tuple[Value, ...], Binding]


class Part(Protocol):
    def put(self, side: int, token: Value, binding: Binding) -> None: ...
    def drop(self, side: int, token: Value) -> bool:
        """Was it one that has been put?"""

    def settle(self, counts: Sequence[dict[Value, int]], whole: bool) -> None:
        """Catches up.  ``counts``: the tokens on the places of the needs; ``whole``: find all ways, not just one."""

    def size(self) -> int:
        """How many ways there are; if not all were asked for, 0 for none, and else at least 1."""

    def first(self) -> Way: ...
    def way(self, k: int) -> Way:
        """Way ``k`` (from 0)."""

    def ways(self) -> Iterator[Way]: ...


class Single:
    """One need."""

    __slots__ = ("_bindings", "_order")

    def __init__(self) -> None:
        self._bindings: dict[Value, Binding] = {}
        self._order: list[Any] = []

    def put(self, side: int, token: Value, binding: Binding) -> None:
        self._bindings[token] = binding
        insort(self._order, token)

    def drop(self, side: int, token: Value) -> bool:
        if self._bindings.pop(token, None) is None:
            return False
        del self._order[bisect_left(self._order, token)]
        return True

    def settle(self, counts: Sequence[dict[Value, int]], whole: bool) -> None:
        pass

    def size(self) -> int:
        return len(self._order)

    def first(self) -> Way:
        return self.way(0)

    def way(self, k: int) -> Way:
        token = self._order[k]
        return (token,), self._bindings[token]

    def ways(self) -> Iterator[Way]:
        for token in self._order:
            yield (token,), self._bindings[token]


class Gate(Single):
    """A need that several transitions have; ``bits``: theirs.

    That its tokens change is nothing they are told of: those of an empty gate are ``closed``.
    """

    __slots__ = ("_agenda", "bits")

    def __init__(self, agenda: Agenda) -> None:
        super().__init__()
        self._agenda = agenda
        self.bits = 0
        agenda.gates.append(self)
        agenda.moved = True

    def put(self, side: int, token: Value, binding: Binding) -> None:
        super().put(side, token, binding)
        self._agenda.moved = True

    def drop(self, side: int, token: Value) -> bool:
        self._agenda.moved = True
        return super().drop(side, token)


class Agenda:
    """Bit sets over the transitions, the most urgent in the lowest bit.

    ``dirty``: those that something has changed for since they were looked at; ``ready``: of the others, those that can
    fire unless a gate is empty; ``moved``: may ``closed()`` be another than before?
    """

    __slots__ = ("_closed", "dirty", "gates", "moved", "ready")

    def __init__(self) -> None:
        self.dirty = 0
        self.ready = 0
        self.gates: list[Gate] = []
        self.moved = False
        self._closed = 0

    def bits(self) -> int:
        """The transitions that can fire, as far as is known."""
        if self.moved:
            self.moved = False
            self._closed = 0
            for gate in self.gates:
                if not gate.size():
                    self._closed |= gate.bits
        return (self.dirty | self.ready) & ~self._closed


class Search:
    """Any needs: all ways are searched anew when something has changed.

    Needs that share variables with those before them are looked up by these.
    """

    def __init__(self, plan: PartPlan) -> None:
        self._plan = plan
        self._known: list[dict[Value, Binding]] = [{} for _ in plan.needs]
        self._found: list[Way] = []
        #: the variables by which each need is looked up, and its bindings by their values, until something changes
        self._keys: list[tuple[str, ...]] = []
        self._tables: list[dict[tuple[Value, ...], list[tuple[Value, Binding]]] | None] = [None for _ in plan.needs]
        seen: set[str] = set()
        for names in plan.variables:
            self._keys.append(tuple(sorted(names & seen)))
            seen |= names
        holders = [n.holder for n in plan.needs]
        #: per need, the needs before it that take from the same place
        self._rivals = [[j for j in range(k) if holders[j] == h] for k, h in enumerate(holders)]

    def put(self, side: int, token: Value, binding: Binding) -> None:
        self._known[side][token] = binding
        self._tables[side] = None

    def drop(self, side: int, token: Value) -> bool:
        if self._known[side].pop(token, None) is None:
            return False
        self._tables[side] = None
        return True

    def settle(self, counts: Sequence[dict[Value, int]], whole: bool) -> None:
        found = list(self._search((), {}, counts)) if all(self._known) else []
        black = self._plan.black
        if black is not None:
            least: dict[Value, Any] = {}
            for tokens, binding in found:
                n: Any = binding[black]
                if tokens[0] not in least or n < least[tokens[0]]:
                    least[tokens[0]] = n
            found = [(tokens, binding) for tokens, binding in found if binding[black] == least[tokens[0]]]
        found.sort(key=lambda way: way[0])
        self._found = found

    def _search(self, tokens: tuple[Value, ...], binding: Binding, counts: Sequence[dict[Value, int]]) -> Iterator[Way]:
        level = len(tokens)
        if level == len(self._known):
            yield tokens, binding
            return
        key = tuple([binding[name] for name in self._keys[level]])
        tests = [test for needed, test in self._plan.steps if needed == level + 1]
        rivals = self._rivals[level]
        for token, own in self._table(level).get(key, ()):
            if rivals and counts[level][token] <= sum(tokens[j] == token for j in rivals):
                continue
            both = {**binding, **own}
            if all(test(both) is True for test in tests):
                yield from self._search((*tokens, token), both, counts)

    def _table(self, level: int) -> dict[tuple[Value, ...], list[tuple[Value, Binding]]]:
        table = self._tables[level]
        if table is None:
            table = {}
            names = self._keys[level]
            for token, own in self._known[level].items():
                table.setdefault(tuple([own[name] for name in names]), []).append((token, own))
            self._tables[level] = table
        return table

    def size(self) -> int:
        return len(self._found)

    def first(self) -> Way:
        return self._found[0]

    def way(self, k: int) -> Way:
        return self._found[k]

    def ways(self) -> Iterator[Way]:
        return iter(self._found)
