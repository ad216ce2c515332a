"""Rows of intervals in groups, put together and told apart, whole columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from occurs.operators.interval.codes import joint
from occurs.operators.interval.signals import NEVER, OPEN, Codes, Intervals

__all__ = ["earlier", "groups", "later", "pick", "places", "shared", "unseen"]


def earlier(ticks: np.ndarray) -> np.ndarray:
    """The tick before; before everything there is none."""
    return np.maximum(ticks, NEVER + 1) - 1


def later(ticks: np.ndarray) -> np.ndarray:
    """The tick after, as long as there is one."""
    return np.minimum(ticks, OPEN - 1) + 1


def groups(variables: Sequence[str], sides: Sequence[tuple[tuple[str, ...], Codes, int]]) -> list[np.ndarray]:
    """One number per row of each side (its variables, codes, number of rows): its binding of ``variables``."""
    return joint([(pick(variables, own, codes), rows) for own, codes, rows in sides])


def pick(variables: Sequence[str], own: Sequence[str], codes: Codes) -> Codes:
    """The codes of some of the variables."""
    return codes if variables == own else tuple([codes[at] for at in _places(tuple(variables), tuple(own))])


@cache
def _places(variables: tuple[str, ...], own: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(own.index(v) for v in variables)


@cache
def shared(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    """The variables of ``left`` that are among those of ``right``."""
    return tuple(v for v in left if v in right)


@cache
def places(left: tuple[str, ...], right: tuple[str, ...], variables: tuple[str, ...]) -> np.ndarray:
    """int64 (2, variables): where either side has each of them, -1 if it has not."""
    found = [[side.index(v) if v in side else -1 for v in variables] for side in (left, right)]
    return np.array(found, np.int64).reshape(2, -1)


def unseen(given: Intervals, rows: Intervals) -> np.ndarray:
    """The rows that are not among ``given``, every one once: their numbers."""
    if len(rows) < 2 and not len(given):
        return np.arange(len(rows))
    binding = np.concatenate(joint([(given.codes, len(given)), (rows.codes, len(rows))]))
    start, end = np.concatenate([given.start, rows.start]), np.concatenate([given.end, rows.end])
    order = np.lexsort((end, start, binding))  # stable: what was given comes before its like
    b, s, e = binding[order], start[order], end[order]
    head = np.concatenate([[True], (b[1:] != b[:-1]) | (s[1:] != s[:-1]) | (e[1:] != e[:-1])])
    found = order[head] - len(given)
    return np.sort(found[found >= 0])
