"""What the machine has found, in the order of emission (epl-and-nets.md, 4A: matches of one instant)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.sequence.events import Events
from occurs.operators.sequence.stream import Bound, Matches
from occurs.operators.sequence.tree import Sequence

_UNBOUND = 2**62


def matches_of(
    found: np.ndarray, lists: np.ndarray, sequence: Sequence, tag_lists: np.ndarray, events: Events, suppress: bool
) -> Matches:
    """``found``: rows as kernels/pattern_tables.py says, in the order in which the machine found them."""
    found = _sorted(found, lists, tag_lists)
    if suppress and len(found):
        found = found[_without_overlaps(found, lists, tag_lists, np.full(len(events), -1, np.int64))]
    row = found[:, T.MATCH_ROW]
    due = row < 0
    at = np.zeros(len(found), np.int64)
    at[~due] = events.stream.at[events.event[row[~due] - events.base]]
    slots = found[:, T.MATCH_FIELDS : T.MATCH_FIELDS + len(tag_lists)]
    lengths = found[:, T.MATCH_FIELDS + len(tag_lists) :]
    single: dict[int, np.ndarray] = {}
    many: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    used = np.zeros(len(events), np.bool_)
    for tag, number in enumerate(tag_lists.tolist()):
        if number < 0:
            single[tag] = slots[:, tag]
            used[single[tag][single[tag] >= 0]] = True
        else:
            length = lengths[:, number]
            offsets = np.concatenate([[0], np.cumsum(length)])
            inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length)
            many[tag] = offsets, lists[np.repeat(slots[:, tag], length) + inside]
            used[many[tag][1]] = True
    rows = np.flatnonzero(used)
    tables, place = events.gathered(rows)
    places = np.zeros(len(events) + 1, np.int64)
    places[rows] = place
    places[-1] = -1
    types = np.append(events.type, -1)
    bound: dict[str, Bound] = {}
    for tag, (name, _) in enumerate(sequence.tags):
        if tag in single:
            bound[name] = Bound(places[single[tag]], types[single[tag]])
        else:
            offsets, of_lists = many[tag]
            bound[name] = Bound(places[of_lists], types[of_lists], offsets, offsets[1:] == offsets[:-1])
    return Matches(found[:, T.MATCH_TIME].copy(), at, due, tables, bound)


def _sorted(found: np.ndarray, lists: np.ndarray, tag_lists: np.ndarray) -> np.ndarray:
    """Those of one event or timer instant by their constituents, tag by tag: earlier first, unbound last."""
    if len(found) < 2:
        return found
    new = (found[1:, : T.MATCH_FIELDS] != found[:-1, : T.MATCH_FIELDS]).any(axis=1)
    if new.all():
        return found
    group = np.concatenate([[0], np.cumsum(new)])
    several = np.flatnonzero(np.bincount(group)[group] > 1)
    part = found[several]
    keys = [group[several]]
    for tag, number in enumerate(tag_lists.tolist()):
        slot = part[:, T.MATCH_FIELDS + tag]
        if number < 0:
            keys.append(np.where(slot < 0, _UNBOUND, slot))
            continue
        length = part[:, T.MATCH_FIELDS + len(tag_lists) + number]
        values = [tuple(lists[a : a + n].tolist()) for a, n in zip(slot.tolist(), length.tolist())]
        ranks = {v: rank for rank, v in enumerate(sorted(set(values)))}
        keys.append(np.array([ranks[v] if v else _UNBOUND for v in values], np.int64))
    out = found.copy()
    out[several] = part[np.lexsort(keys[::-1])]
    return out


@kernel
def _without_overlaps(found: np.ndarray, lists: np.ndarray, tag_lists: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """Booleans: the matches that share no event with one before that is kept, of the same event or timer instant.

    ``taken``: -1 per row of the pool.
    """
    keep = np.ones(len(found), np.bool_)
    tags = len(tag_lists)
    group = 0
    for k in range(len(found)):
        if k and (found[k, 0] != found[k - 1, 0] or found[k, 1] != found[k - 1, 1]):
            group = k
        for noting in range(2):
            if not keep[k]:
                break
            for tag in range(tags):
                slot = found[k, 2 + tag]
                if slot < 0:
                    continue
                size = 1 if tag_lists[tag] < 0 else found[k, 2 + tags + tag_lists[tag]]
                for j in range(size):
                    event = slot if tag_lists[tag] < 0 else lists[slot + j]
                    if noting:
                        taken[event] = group
                    elif taken[event] == group:
                        keep[k] = False
    return keep
