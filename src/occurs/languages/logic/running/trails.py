"""How obligations have come about: the states and remembered values behind a firing (temporal-logic.md 4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from occurs.languages.logic.running.residual import LAST, NOW, Pending, Residual, Several, leaves, satisfied
from occurs.languages.logic.running.values import Relation

if TYPE_CHECKING:
    from occurs.languages.logic.running.future import Ahead

#: (role, text, time) each: values that were remembered, states that were looked at
Trail: TypeAlias = tuple[tuple[str, str, int], ...]


#: entries of a trail; of what is satisfied at many states the latest are kept
LONGEST = 32


class Trails:
    """How each obligation has come about; ``hit``: how the formula was satisfied at this state, in one way."""

    def __init__(self, of: dict[Pending, Trail] | None = None) -> None:
        self.of: dict[Pending, Trail] = of or {}
        self.hit: Trail = ()
        self._next: dict[Pending, Trail] = {}

    def go_on(self, ahead: Ahead, part: Residual, found: Iterable[Residual], time: int) -> None:
        """What has become of a part of the residual at a state."""
        before = [leaf for leaf in leaves(part) if type(leaf) is tuple]
        base = tuple(dict.fromkeys(entry for leaf in before for entry in self.of.get(leaf, ())))[-LONGEST:]
        for one in found:
            if not self.hit and (one is NOW or one is LAST or (type(one) is Several and satisfied(one, False)[1])):
                self.hit = (*base, ("state", "state", time))
            for leaf in leaves(one):
                if type(leaf) is tuple and leaf not in self._next:
                    self._next[leaf] = base if leaf in before else (*base, *self._new(ahead, leaf, before, time))

    @staticmethod
    def _new(ahead: Ahead, leaf: Pending, before: Sequence[Pending], time: int) -> Trail:
        """What an obligation remembers that those before it did not."""
        known = {pair for one in before for pair in zip(ahead.nodes[one[0]].names, one[2])}
        own = [(n, v) for n, v in zip(ahead.nodes[leaf[0]].names, leaf[2]) if n[0] != "#" and (n, v) not in known]
        made = tuple((name, shown(value), time) for name, value in own)
        return made or ((("state", "state", time),) if all(one[0] != leaf[0] for one in before) else ())

    def turn(self, left: Iterable[Residual]) -> None:
        """To the next state: of obligations that are not left nothing is known any more."""
        self.of = {leaf: self._next[leaf] for part in left for leaf in leaves(part) if type(leaf) is tuple}
        self._next = {}


def shown(value: Any) -> str:
    """A value as text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{len(value.rows)} rows" if isinstance(value, Relation) else str(value)
