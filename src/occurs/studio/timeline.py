"""The timeline of a run: what a range of time shows of it, as counts per pixel, or mark by mark where there are few.

Rows are sorted by time, so a range, and every pixel of it, is found by bisection; what lasts is in every pixel from its
start to its end, which are those that start before the pixel ends without those that ended before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from occurs.plot.order import natural
from occurs.studio.limits import LIMITS
from occurs.studio.results import OPEN, Results, Rows, UnknownNameError, exact

if TYPE_CHECKING:
    import numpy as np

#: marks that are told one by one; of more, only how many there are in every pixel
MARKS = LIMITS.timeline_marks
#: lanes of one picture, and numbers in it where rows are counted
LANES, NUMBERS = LIMITS.timeline_lanes, 70_000


@dataclass(frozen=True, eq=False)
class Lane:
    """Rows of one type, in the order of time.  ``rows``: their numbers (None: all); ``ends``: their ends, sorted."""

    name: str
    of: Rows
    time: np.ndarray
    end: np.ndarray
    ends: np.ndarray
    rows: np.ndarray | None = None

    def count(self, begin: int, stop: int) -> int:
        """Rows in a range, both ends included."""
        import numpy as np

        last = np.searchsorted(self.time, stop, side="right")
        return int(last - np.searchsorted(self.ends, begin, side="left"))

    def counts(self, edges: np.ndarray, stop: int) -> list[int]:
        """Rows in every pixel; ``edges``: where pixels begin."""
        import numpy as np

        last = np.append(np.searchsorted(self.time, edges[1:], side="left"), np.searchsorted(self.time, stop, "right"))
        found: list[int] = (last - np.searchsorted(self.ends, edges, side="left")).tolist()
        return found

    def marks(self, begin: int, stop: int) -> list[list[Any]]:
        """[start, end, row] of every row in a range; the end of what is open is null, of an instant its start."""
        import numpy as np

        last = int(np.searchsorted(self.time, stop, side="right"))
        if self.of.lasting:
            at = np.flatnonzero(self.end[:last] >= begin)
        else:
            at = np.arange(int(np.searchsorted(self.time, begin, side="left")), last)
        rows = at if self.rows is None else self.rows[at]
        ends = (None if e == OPEN else exact(e) for e in self.end[at].tolist())
        return [[exact(t), e, r] for t, e, r in zip(self.time[at].tolist(), ends, rows.tolist())]


def timeline(
    found: Results, begin: int | None = None, stop: int | None = None, width: int = 1_000, by: str | None = None,
    types: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """What a timeline shows of a range of ticks, both ends included (None: from the first row, to the last).

    ``types``: those that are shown (none: all); ``by``: an attribute, each of whose values has lanes of its own.
    ``total`` and ``count`` (in the range) are of detections, and ``exact`` says whether they are shown one by one: if
    there are at most ``MARKS``.  Input events, whose lanes come first, are counted by themselves.

    Pixel p begins at ``from + ceil(p * (to - from) / width)``; what lasts counts in every pixel that it touches.  Lanes
    by attribute are in the order of values, numbers by their value.  Raises UnknownNameError.
    """
    if types:
        chosen = [t for t in found.of("input", "derived") if t.name in types]
        if missing := set(types) - {t.name for t in chosen}:
            raise UnknownNameError(f"the result has no type `{min(missing)}`")
    else:
        chosen = found.of("input", "derived")
    first, last = _range(chosen)
    begin, stop = first if begin is None else begin, last if stop is None else stop
    lanes = found.lanes.get((by, tuple(t.number for t in chosen)), lambda: _lanes(chosen, by))
    counted = [lane.count(begin, stop) for lane in lanes]
    marks = {part: sum(n for n, lane in zip(counted, lanes) if lane.of.part == part) for part in ("input", "derived")}
    edges = _edges(begin, stop, width)
    shown = []
    for number in _first(lanes, LANES if max(marks.values()) <= MARKS else min(LANES, max(5, NUMBERS // width))):
        lane, count = lanes[number], counted[number]
        one = {"name": lane.name, "type": lane.of.name, "input": lane.of.part == "input", "count": count}
        if marks[lane.of.part] <= MARKS:
            one["marks"] = lane.marks(begin, stop)
        else:
            one["counts"] = lane.counts(edges, stop)
        shown.append(one)
    total = sum(t.size for t in chosen if t.part == "derived")
    return {
        "total": total, "count": marks["derived"], "exact": marks["derived"] <= MARKS, "from": exact(begin),
        "to": exact(stop), "lanes": shown, "more": len(lanes) - len(shown),
    }  # fmt: skip


def _first(lanes: Sequence[Lane], most: int) -> list[int]:
    """The numbers of the lanes that have room, in their order: those of detections before others."""
    numbers = sorted(range(len(lanes)), key=lambda n: lanes[n].of.part == "input")
    return sorted(numbers[:most])


def _range(types: Sequence[Rows]) -> tuple[int, int]:
    """The first and the last tick of some rows."""
    some = [t for t in types if t.size]
    if not some:
        return 0, 0
    last = max(int(t.time[-1]) for t in some)
    for one in some:
        if one.lasting:  # the latest end of what is not open
            import numpy as np

            ended = int(np.searchsorted(one.ends, OPEN, side="left"))
            last = max(last, int(one.ends[ended - 1])) if ended else last
    return min(int(t.time[0]) for t in some), last


def _edges(begin: int, stop: int, width: int) -> np.ndarray:
    """The ticks at which pixels begin."""
    import numpy as np

    span = max(stop - begin, 0)
    return np.array([begin - (-p * span // width) for p in range(width)], np.int64)


def _lanes(types: Sequence[Rows], by: str | None) -> list[Lane]:
    """A lane per type, or per type and value."""
    if by is None:
        return [Lane(t.name, t, t.time, t.end, t.ends) for t in types]
    if not any(c["name"].lower() == by.lower() for t in types for c in t.columns):
        raise UnknownNameError(f"no type has an attribute `{by}`")
    found = [(value, number, lane) for number, t in enumerate(types) for value, lane in _split(t, by)]
    return [lane for *_, lane in sorted(found, key=lambda one: (one[0] is None, natural(one[0] or ""), one[1]))]


def _split(one: Rows, by: str) -> list[tuple[str | None, Lane]]:
    """The rows of a type by the value of an attribute, as text; None: the type has no such attribute."""
    import numpy as np
    import pyarrow.compute as pc

    from occurs.model.astext import plain_text

    name = next((c["name"] for c in one.columns if c["name"].lower() == by.lower()), None)
    if name is None:
        return [(None, Lane(f"no {by}", one, one.time, one.end, one.ends))]
    values = pc.fill_null(plain_text(one.table[name]), "null").combine_chunks().dictionary_encode()
    codes = values.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    stops = np.searchsorted(codes[order], np.arange(len(values.dictionary) + 1))
    out: list[tuple[str | None, Lane]] = []
    for code, value in enumerate(values.dictionary.to_pylist()):
        rows = order[stops[code] : stops[code + 1]]
        time, end = one.time[rows], one.end[rows]
        out.append((value, Lane(value, one, time, end, np.sort(end) if one.lasting else end, rows)))
    return out
