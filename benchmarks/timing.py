"""Times that can be compared: the jobs of a comparison take turns, and the median of each counts."""

from __future__ import annotations

import gc
import os
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

#: a job prepares what it needs, runs, and returns the seconds of the part that counts
Job = Callable[[], float]


@dataclass(frozen=True)
class Timing:
    """The seconds of every repetition of one job."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def spread(self) -> float:
        """Slowest by fastest: a ratio of two jobs nearer to 1 than this is not resolved."""
        return max(self.seconds) / min(self.seconds)


def stopwatch(run: Callable[[], Any]) -> float:
    """Seconds that ``run`` takes; what it returns is dropped afterwards, outside the time."""
    start = clock.perf_counter()
    result = run()
    seconds = clock.perf_counter() - start
    del result
    return seconds


def processor_seconds() -> float:
    """CPU-seconds of this process and of all below it, also of those that have ended."""
    ticks, waiting = 0, [os.getpid()]
    parents: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                # behind the name, which may have anything in it: the state, the parent; user, system and their children
                rest = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            parents.setdefault(int(rest[1]), []).append(int(entry.name))
            used[int(entry.name)] = sum(map(int, rest[11:15]))
    while waiting:
        pid = waiting.pop()
        ticks += used.get(pid, 0)
        waiting += parents.get(pid, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def alternate(
    jobs: Mapping[str, Job], repetitions: int, *, warm: bool = True, budget: float = 60.0
) -> dict[str, Timing]:
    """Run the jobs in turn, ``repetitions`` times, after one round that does not count (``warm``: compilation, caches).

    No new round begins after ``budget`` seconds.
    """
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    if warm:
        for job in jobs.values():
            job()
    start = clock.perf_counter()
    for number in range(repetitions):
        if number and clock.perf_counter() - start > budget:
            break
        for name, job in jobs.items():
            gc.collect()
            seconds[name].append(job())
    return {name: Timing(tuple(found)) for name, found in seconds.items()}
