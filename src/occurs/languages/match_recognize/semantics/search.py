"""The search for one match, in the order of preference (match-recognize.md, sections 4, 8 and 9).

What is left to do is a linked list of patterns; a place of the search is that list with the rows mapped so far.  Every
pattern says where the search may go on, the preferred place first, and the first place without anything left to do is
the match.  So :func:`ways` is the table of match-recognize.md, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks.analysis import ResolvedQuery
from occurs.languages.match_recognize.semantics.values import Mapped, Partition, Seen, Waiting, settled
from occurs.languages.match_recognize.syntax import Pattern

__all__ = ["Attempt", "Mapped", "Waiting", "search"]


@dataclass(frozen=True)
class Again:
    """What stands behind a round of a repetition: more rounds.  ``done``: how many there were; ``since``: how many
    rows were mapped when an optional round began, None for a mandatory one."""

    of: syntax.Repeat
    done: int
    since: int | None


@dataclass(frozen=True)
class Included:
    """The end of an exclusion."""


#: what is left to do: the next pattern, and the rest
Left = tuple["Pattern | Again | Included", "Left"] | None


@dataclass(frozen=True)
class Place:
    """A place of the search: what is left to do, the rows mapped so far, and how many exclusions are open."""

    left: Left
    mapped: Mapped
    excluded: int = 0


@dataclass(frozen=True)
class Attempt:
    """``match``: the mapped rows, None if there is no match.  ``late``: the rows mapped by the first branch that needed
    a row beyond WITHIN's bound, None if there is none."""

    match: Mapped | None
    late: Mapped | None


def search(query: ResolvedQuery, partition: Partition, start: int, number: int) -> Attempt:
    """The attempt at row ``start``; ``number``: of the match that is sought.  Raises Waiting."""
    late: Mapped | None = None
    bound = partition.bound(start, query.within)
    open_places = [Place((query.pattern, None), ())]
    while open_places:
        place = open_places.pop()
        if place.left is None:
            return Attempt(place.mapped, None)
        node, rest = place.left
        if isinstance(node, syntax.Variable):
            at = start + len(place.mapped)
            if late is None and place.mapped and bound is not None and partition.beyond(at, bound):
                late = place.mapped
            if may_be_mapped(query, partition, start, place, node.name, number, bound):
                mapped = (*place.mapped, (node.name, place.excluded > 0))
                open_places.append(Place(rest, mapped, place.excluded))
        else:
            # the preferred place is looked at first
            open_places += reversed(list(ways(node, rest, place, partition, start)))
    return Attempt(None, late)


def ways(
    node: Pattern | Again | Included, rest: Left, place: Place, partition: Partition, start: int
) -> Iterator[Place]:
    """Where the search may go on from ``place``, whose next pattern is ``node``, the preferred place first."""
    mapped, excluded = place.mapped, place.excluded
    match node:
        case syntax.Sequence():
            yield Place(followed(node.parts, rest), mapped, excluded)
        case syntax.Alternation():
            for part in node.parts:
                yield Place((part, rest), mapped, excluded)
        case syntax.Permute():
            for order in permutations(node.parts):
                yield Place(followed(order, rest), mapped, excluded)
        case syntax.Exclusion():
            yield Place((node.part, (Included(), rest)), mapped, excluded + 1)
        case Included():
            yield Place(rest, mapped, excluded - 1)
        case syntax.Anchor(end=False):
            if start + len(mapped) == 0:
                yield Place(rest, mapped, excluded)
        case syntax.Anchor(end=True):
            if partition.ends_at(start + len(mapped)):
                yield Place(rest, mapped, excluded)
        case syntax.Repeat():
            yield from ways(Again(node, 0, None), rest, place, partition, start)
        case Again(of, done, since):
            if done < of.low:
                yield Place((of.part, (Again(of, done + 1, None), rest)), mapped, excluded)
            elif since == len(mapped) or done == of.high:
                # an optional round without a row ends the repetition
                yield Place(rest, mapped, excluded)
            else:
                another = Place((of.part, (Again(of, done + 1, len(mapped)), rest)), mapped, excluded)
                onwards = Place(rest, mapped, excluded)
                yield from (another, onwards) if of.greedy else (onwards, another)


def followed(parts: tuple[Pattern, ...], rest: Left) -> Left:
    """One part behind the other, and then the rest."""
    for part in reversed(parts):
        rest = (part, rest)
    return rest


def may_be_mapped(
    query: ResolvedQuery, partition: Partition, start: int, place: Place, variable: str, number: int, bound: int | None
) -> bool:
    """Whether the next row may be mapped to a variable.  Raises Waiting if that is not known yet."""
    at = start + len(place.mapped)
    if not partition.has(at, bound):
        return False
    if bound is not None and partition.rows[at].time > bound:
        return False
    condition = query.conditions.get(variable)
    if condition is None:
        return True
    # with this row tentatively mapped to the variable, behind the rows mapped so far
    seen = Seen(partition, start, (*place.mapped, (variable, False)), number, defining=True)
    seen.need_next(condition)
    return settled(seen.condition(condition), query.name, f"the condition of {variable}") is True
