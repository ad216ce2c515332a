"""How a program runs on a stream: its lanes over the buckets, stage after stage, and what every worker must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from occurs.hosts.spark.shipped import Shipped
from occurs.hosts.spark.wide import Inlet, Wide
from occurs.options import Window
from occurs.plan.lanes import Lane


@dataclass(frozen=True)
class Path(Shipped):
    """A lane with the ends of its way into Python and back.  ``columns``: of its rows in a blob."""

    lane: Lane
    inlets: tuple[Inlet, ...]
    wide: Wide
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Layout(Shipped):
    """``depth``: how many stateful stages; ``types``: the names behind the numbers in ``__type`` (none: it is text).
    ``delay``, ``start``, ``until``: of the clock, in ticks.  ``token``: of this query and no other.  ``buckets``: parts
    of the state, each with a range of the hashes of keys; ``even``: are they dealt evenly to any number of tasks?
    ``sizes``: report the rows of state of each definition.  ``window``: the queries of window mode.  ``one_scan``: is
    the input read once, its rows for later stages travelling through the earlier ones, or once for every stage?
    ``grouped``: so many buckets share the records of a task (0: each has its own)."""

    paths: tuple[Path, ...]
    buckets: int
    depth: int
    delay: int
    start: int | None
    until: int | None
    labelled: bool
    late: bool
    skip: bool
    token: str
    types: tuple[str, ...] = ()
    even: bool = False
    sizes: bool = False
    window: Window | None = None
    one_scan: bool = False
    grouped: int = 0

    @cached_property
    def decided_by_end(self) -> bool:
        """Are there rows that only the end of the stream decides?"""
        return any(p.lane.group.stage.decided_by_end for p in self.paths)

    def at(self, depth: int) -> list[Path]:
        return [p for p in self.paths if p.lane.depth == depth]

    def fed(self, depth: int) -> list[Path]:
        """The lanes whose rows are packed before a stage, those of the stage itself first."""
        own = self.at(depth)
        if not self.one_scan or depth > 0:
            return own
        return own + [p for p in self.paths if p.lane.depth > 0 and any(not i.derived for i in p.inlets)]

    @property
    def groups(self) -> int:
        """How many groups of buckets there are, where they are grouped."""
        return -(-self.buckets // self.grouped)

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The number that each bucket has on Spark, so that as many partitions get one bucket each."""
        return even_ids(self.buckets) if self.even else bucket_ids(self.buckets)

    @cached_property
    def number(self) -> Mapping[int, int]:
        """From the numbers on Spark to 0, 1, .."""
        return {spark: b for b, spark in enumerate(self.ids)}


def bucket_ids(n: int) -> tuple[int, ...]:
    """n numbers of which Spark's hash puts each into a partition of its own, if there are n partitions."""
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < n:
        found.setdefault(spark_hash(candidate) % n, candidate)
        candidate += 1
    return tuple(found[p] for p in sorted(found))


def even_ids(n: int) -> tuple[int, ...]:
    """n numbers of which Spark's hashes are 0, 1, .., n - 1: of any number of partitions, each gets its equal share."""
    return tuple(map(unhashed, range(n)))


_MASK = 0xFFFFFFFF
#: the factors of Murmur3, and of its final mixing
_ONE, _TWO, _THREE, _FOUR = 0xCC9E2D51, 0x1B873593, 0x85EBCA6B, 0xC2B2AE35


def _rotated(x: int, by: int) -> int:
    return ((x << by) | (x >> (32 - by))) & _MASK


def spark_hash(value: int) -> int:
    """Spark's hash of a 32-bit integer: Murmur3 (x86, 32 bits) with seed 42, as a signed number."""
    k = _rotated(value * _ONE & _MASK, 15) * _TWO & _MASK
    h = (_rotated(42 ^ k, 13) * 5 + 0xE6546B64) & _MASK
    h ^= 4
    h = (h ^ (h >> 16)) * _THREE & _MASK
    h = (h ^ (h >> 13)) * _FOUR & _MASK
    return _signed(h ^ (h >> 16))


def unhashed(value: int) -> int:
    """The 32-bit integer of which :func:`spark_hash` is ``value``: every step of the hash can be undone."""

    def divided(x: int, by: int) -> int:
        return x * pow(by, -1, 1 << 32) & _MASK

    h = value & _MASK
    h = divided(h ^ (h >> 16), _FOUR)
    h = divided(h ^ (h >> 13) ^ (h >> 26), _THREE)
    h = (h ^ (h >> 16)) ^ 4
    h = divided((h - 0xE6546B64) & _MASK, 5)
    k = divided(_rotated(h, 32 - 13) ^ 42, _TWO)
    return _signed(divided(_rotated(k, 32 - 15), _ONE))


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value


def depth_of(lanes: Sequence[Lane]) -> int:
    return max((lane.depth for lane in lanes), default=0) + 1
