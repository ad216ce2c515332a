"""A future formula from state to state: what is left of it since its activation (temporal-logic.md 5.1)."""

from __future__ import annotations

from typing import Any

from occurs.operators.temporal.closures import Values
from occurs.operators.temporal.directions import Front, front, undominated
from occurs.operators.temporal.expanding import Expanding
from occurs.operators.temporal.residual import (
    FALSE,
    HELD,
    LAST,
    NOW,
    Residual,
    Several,
    Unknown,
    alternatives,
    combined,
    leave,
    new_way,
    satisfied,
    spread,
)
from occurs.operators.temporal.trails import Trails
from occurs.operators.temporal.values import Lost


class Ahead(Expanding):
    """A formula that looks ahead; its residual is handed in, and goes on."""

    def step(self, residual: Residual, r: Values, s: Any, trails: Trails | None = None) -> tuple[bool | Lost, Residual]:
        """(is this state a new way to be satisfied?, what is left behind it).  ``trails`` go on, if they are given."""
        nodes = self.nodes
        parts = residual.parts if type(residual) is Several and not residual.conjunction else (residual,)
        hit: bool | Lost = False
        left: dict[Residual, None] = {}
        fresh: list[Residual] = []
        coming: list[Residual] = []
        for part in parts:
            if type(part) is tuple:
                node = nodes[part[0]]
                if node.goal is not None and part[1] and trails is None and not node.names:
                    found = node.goal(True, r, s)
                    coming.append(part)
                else:
                    found = node.moves[part[1]](part, r, s)
            elif type(part) is Several:
                found = self._moved(part, r, s) if part.conjunction else self.advance(part, r, s)
            else:
                continue  # what was satisfied, or was not known, at an earlier state is no new way
            if trails is not None:
                trails.go_on(self, part, alternatives(_plain(found, part)), s)
            if found is part:
                left[part] = None
            elif found is HELD:
                hit = True
                left[part] = None
            elif found is not FALSE:
                for one in alternatives(found):
                    if type(one) is tuple:
                        if one is not part:
                            fresh.append(one)
                        left[one] = None
                        continue
                    if one is NOW or one is LAST:
                        hit = True
                        continue
                    if type(one) is Unknown:
                        hit = hit or one.lost
                        continue
                    if type(one) is Several and one.new:
                        if hit is not True:
                            hit = new_way(one) or hit
                        one = leave(one)
                    for rest in spread(one, self.first):
                        if type(rest) is not Several and type(rest) is not tuple:
                            continue
                        if rest is not part:
                            fresh.append(rest)
                        left[rest] = None
            if hit is True and self.first:
                # there will be another activation
                return True, FALSE
        for part in coming:
            left[part] = None
        if trails is not None:
            trails.turn(left)
        if fresh and len(left) > 1:
            undominated(left, fresh, self._front)
            self._absorb(left, fresh)
        elif not fresh and len(left) == len(parts):
            return hit, residual
        if len(left) > 1:
            return hit, Several(False, tuple(left))
        return hit, next(iter(left)) if left else FALSE

    def _front(self, part: Residual) -> Front | None:
        """What a part can be compared by."""
        if type(part) is Several:
            if part.front is None:
                part.front = front(part.parts, self.nodes) or ()
            return part.front or None
        if type(part) is tuple and part[1]:
            known = self.nodes[part[0]].directions
            return None if known is None else (part[0], part[2], known)
        return None

    def _absorb(self, left: dict[Residual, None], fresh: list[Residual]) -> None:
        """Drop each `and` that ends only where one of its parts does that are left themselves; where only the first way
        counts one such part is enough."""
        among = [p for p in (left if any(type(p) is tuple for p in fresh) else fresh) if type(p) is Several]
        enough = any if self.first else all
        for part in among:
            if part in left and part.conjunction and enough([p in left for p in part.parts]):
                del left[part]

    def _moved(self, part: Several, r: Values, s: Any) -> Residual:
        """What becomes of an `and`: itself, HELD, or something else."""
        nodes = self.nodes
        found: list[Residual] = []
        same = there = True
        new = False
        for p in part.parts:
            if type(p) is tuple:
                one = nodes[p[0]].moves[p[1]](p, r, s)
                if one is FALSE:
                    return FALSE
                if one is HELD:
                    new = True
                else:
                    there = False
                    same = same and one is p
            elif type(p) is Several:
                one = self.advance(p, r, s)
                if one is FALSE:
                    return FALSE
                same = same and one is p
                there = there and same and satisfied(p, False)[0]
            else:
                one, same = p, False
            found.append(one)
        if same:
            return HELD if there and new else part
        return combined(True, [_plain(one, p) for one, p in zip(found, part.parts)])

    def advance(self, residual: Residual, r: Values, s: Any) -> Residual:
        """Every pending obligation expanded at a new state; the same object if nothing has changed."""
        if type(residual) is tuple:
            return _plain(self.nodes[residual[0]].moves[residual[1]](residual, r, s), residual)
        if type(residual) is Several:
            found = [self.advance(p, r, s) for p in residual.parts]
            if all(one is p for one, p in zip(found, residual.parts)):
                return residual
            return combined(residual.conjunction, found)
        return residual


def _plain(found: Residual, part: Residual) -> Residual:
    """What has become of a part, without HELD."""
    return Several(False, (LAST, part)) if found is HELD else found
