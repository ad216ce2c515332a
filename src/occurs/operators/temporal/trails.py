"""How obligations have come about: the states and remembered values behind a firing (temporal-logic.md 4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from occurs.model.astext import dumps
from occurs.operators.temporal.residual import LAST, NOW, Pending, Residual, Several, leaves, satisfied
from occurs.operators.temporal.values import Relation

if TYPE_CHECKING:
    from occurs.operators.temporal.future import Ahead
    from occurs.operators.temporal.tables import State

#: (role, text, time, attributes as JSON) each: values that were remembered, states that were looked at
Entry: TypeAlias = tuple[str, str, int, str]
Trail: TypeAlias = tuple[Entry, ...]


#: entries of a trail; of what is satisfied at many states the latest are kept
LONGEST = 32


class Trails:
    """How each obligation has come about; ``hit``: how the formula was satisfied at this state, in one way."""

    def __init__(self, of: dict[Pending, Trail] | None = None) -> None:
        self.of: dict[Pending, Trail] = of or {}
        self.hit: Trail = ()
        self._next: dict[Pending, Trail] = {}

    def go_on(self, ahead: Ahead, part: Residual, found: Iterable[Residual], s: State) -> None:
        """What has become of a part of the residual at a state."""
        before = [leaf for leaf in leaves(part) if type(leaf) is tuple]
        base = tuple(dict.fromkeys(entry for leaf in before for entry in self.of.get(leaf, ())))[-LONGEST:]
        for one in found:
            if not self.hit and (one is NOW or one is LAST or (type(one) is Several and satisfied(one, False)[1])):
                self.hit = (*base, looked_at(s.time, shown_state(s)))
            for leaf in leaves(one):
                if type(leaf) is tuple and leaf not in self._next:
                    more = self._stayed(ahead, leaf, s) if leaf in before else self._new(ahead, leaf, before, s)
                    self._next[leaf] = (*base, *more)[-LONGEST:]

    @staticmethod
    def _stayed(ahead: Ahead, leaf: Pending, s: State) -> Trail:
        """What was read where an obligation goes on: nothing if it only waits for something to come."""
        waits = leaf[1] and ahead.nodes[leaf[0]].comes
        return () if waits else (looked_at(s.time, shown_state(s)),)

    @staticmethod
    def _new(ahead: Ahead, leaf: Pending, before: Sequence[Pending], s: State) -> Trail:
        """What an obligation remembers that those before it did not."""
        known = {pair for one in before for pair in zip(ahead.nodes[one[0]].names, one[2])}
        own = [(n, v) for n, v in zip(ahead.nodes[leaf[0]].names, leaf[2]) if n[0] != "#" and (n, v) not in known]
        made = tuple(remembered(name, value, s.time) for name, value in own)
        return made or ((looked_at(s.time, shown_state(s)),) if all(one[0] != leaf[0] for one in before) else ())

    def turn(self, left: Iterable[Residual]) -> None:
        """To the next state: of obligations that are not left nothing is known any more."""
        self.of = {leaf: self._next[leaf] for part in left for leaf in leaves(part) if type(leaf) is tuple}
        self._next = {}


def looked_at(time: int, seen: str) -> Entry:
    """A state that was looked at."""
    return "state", "state", time, seen


def shown_state(s: State) -> str:
    """What was written in a state and the values of its variables, as JSON."""
    return dumps({n: _plain(v) for n, v in s.seen().items()})


def remembered(name: str, value: Any, time: int) -> Entry:
    """A value that was remembered at a state."""
    return name, shown(value), time, dumps({name: _plain(value)})


def _plain(value: Any) -> Any:
    """A value as JSON has it; of many rows their number."""
    if isinstance(value, Relation):
        return shown(value)
    return float(value) if isinstance(value, Fraction) else value


def shown(value: Any) -> str:
    """A value as text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{len(value.rows)} rows" if isinstance(value, Relation) else str(value)
