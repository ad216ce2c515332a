"""How many tasks work on the state of a stream.

The state is cut into *ranges* by the hash of the key; their number is fixed by the checkpoint.  A *bucket* is one task
of a micro-batch and has an equal share of the ranges.  The number of buckets may change between two starts: Spark then
rewrites the state, range by range, in a micro-batch that reads nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from occurs.connect.sparkerrors import own_errors
from occurs.connect.store import Store
from occurs.errors import CheckpointProblem, Problem, UsageProblem
from occurs.follow.checkpoint import SPARK, explained, numbers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: ranges of a new checkpoint: so many for each core that there is, and at least
PER_CORE, LEAST = 4, 8
_PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True)
class Ranges:
    """``number``: of ranges; ``even``: does any number of buckets get equal shares of them?  Not in checkpoints of
    version 2, where a bucket had one range.  ``one_scan``: do all stages share one scan of the source?  Not in
    checkpoints that were made before they did: Spark counts the scans of a query.  ``divide``: so many ranges share the
    rules of one key."""

    number: int
    even: bool
    one_scan: bool = False
    divide: int = 1

    @classmethod
    def of(
        cls, entry: Mapping[str, Any] | None, asked: int | None, buckets: int | None, cores: int,
        divide: int | None = None,
    ) -> Ranges:  # fmt: skip
        """Those that a checkpoint's ``entry`` names; else as many as are ``asked`` for, or as the ``cores`` suggest.

        Raises CheckpointProblem (``other-options``) and UsageProblem for numbers that cannot be.
        """
        hint = "use at most so many, or a new --checkpoint with more --ranges"
        if entry is None:
            number = _power(max(LEAST, PER_CORE * cores, buckets or 0)) if asked is None else asked
            if buckets is not None and buckets > number:
                raise UsageProblem.of("bad-option", f"--buckets {buckets} exceeds --ranges {number}", hint=hint)
            return cls(number, True, True, divide or 1)
        number = entry["ranges"] if "ranges" in entry else entry["buckets"]
        found = cls(number, entry.get("even", False), entry.get("one_scan", False), entry.get("divide", 1))
        for option, was, now in (("--ranges", found.number, asked), ("--divide", found.divide, divide)):
            if now is not None and now != was:
                text = f"{option} cannot change: it was {was}, not {now}"
                raise CheckpointProblem.of("other-options", text, hint="leave it out, or use a new --checkpoint")
        if buckets is not None and buckets > found.number:
            text = f"--buckets {buckets}: the state in this checkpoint has only {found.number} key ranges"
            raise CheckpointProblem.of("other-options", text, hint=hint)
        return found

    def entry(self) -> dict[str, Any]:
        entry = {"ranges": self.number, "even": self.even, "one_scan": self.one_scan}
        return entry if self.divide == 1 else {**entry, "divide": self.divide}

    def buckets(self, asked: int | None, before: int | None, cores: int) -> int:
        """As many as are ``asked`` for; else one per core, and no fewer than there were ``before``."""
        return min(self.number, max(cores, before or 1)) if asked is None else asked


def _power(least: int) -> int:
    """The least power of two that is not less."""
    return 1 << (least - 1).bit_length()


@dataclass(frozen=True)
class Laid:
    """What Spark's log of offsets says.  ``buckets``: partitions of the state; ``moving``: partitions of a change that
    was interrupted; ``pending``: was another micro-batch interrupted?"""

    buckets: int
    moving: int | None = None
    pending: bool = False

    @classmethod
    def read(cls, store: Store) -> Laid | None:
        """``store``: of a checkpoint that has been checked.  None if nothing is committed there."""
        offsets, commits = numbers(store, f"{SPARK}/offsets"), numbers(store, f"{SPARK}/commits")
        done = [n for n in offsets if n in set(commits)]
        if not done:
            return None
        buckets = _partitions(store, f"{SPARK}/offsets/{done[-1]}")
        if offsets[-1] == done[-1]:
            return cls(buckets)
        last = _partitions(store, f"{SPARK}/offsets/{offsets[-1]}")
        return cls(buckets, pending=True) if last == buckets else cls(buckets, last)


def _partitions(store: Store, offsets: str) -> int:
    try:
        return int(json.loads((store.get(offsets) or b"").decode().splitlines()[1])["conf"][_PARTITIONS])
    except (ValueError, LookupError, TypeError) as error:
        why = "it does not name the partitions of the state"
        raise CheckpointProblem.damaged(store.address(offsets), why) from error


def can_move(session: SparkSession) -> bool:
    """Can this PySpark move state between buckets?"""
    return hasattr(session, "_streamingCheckpointManager")


def move(session: SparkSession, store: Store, buckets: int, repeat: Callable[[], bool]) -> Problem | None:
    """Let ``buckets`` tasks have the state from now on; returns a notice if that is a change.

    ``repeat``: runs the micro-batch that was interrupted, and that only; false: it was stopped.  Raises UsageProblem
    (``unsupported``) with a PySpark that cannot move state, and what Spark is stopped by.
    """
    laid = Laid.read(store)
    if laid is None:
        return None
    now, steps = laid.buckets, []
    if laid.moving is not None:  # what was interrupted is completed first
        now = laid.moving
        steps.append(now)
    if now != buckets:
        steps.append(buckets)
    if not steps:
        return None
    if not can_move(session):
        text = f"--buckets {buckets}: the state in this checkpoint has {laid.buckets}"
        raise UsageProblem.of("unsupported", text, hint="PySpark 4.2 or later can change their number")
    if laid.pending and not repeat():
        return None
    with own_errors(), explained(store):
        for number in steps:
            session._streamingCheckpointManager.repartition(store.address(SPARK), number)
    text = f"the state in this checkpoint moved from {laid.buckets} to {buckets} buckets"
    return Problem("moved-state", text, severity="notice")
