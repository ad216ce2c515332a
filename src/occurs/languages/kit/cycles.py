"""Cycles among definitions that read each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from occurs.model.graphs import cyclic


def cycles(names: Iterable[str], reads: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, list[str]]]:
    """The names that lead back to themselves, each with a shortest way (each name on it reads the next); one per cycle.

    A cycle is told for the first of ``names`` on it.
    """
    told: set[str] = set()
    knotted = cyclic(reads)
    for name in names:
        ring = [] if name in told or name not in knotted else _way_back(name, reads)
        if ring and not told & set(ring):
            told |= set(ring)
            yield name, ring


def _way_back(start: str, reads: Mapping[str, Iterable[str]]) -> list[str]:
    """A shortest way from a name to itself; empty if there is none."""
    came: dict[str, str] = {}
    waiting = [start]
    for name in waiting:
        for step in reads.get(name, ()):
            if step == start:
                ring = [start, name]
                while ring[-1] != start:
                    ring.append(came[ring[-1]])
                return ring[::-1]
            if step in reads and step not in came:
                came[step] = name
                waiting.append(step)
    return []
