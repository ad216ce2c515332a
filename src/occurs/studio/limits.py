"""The limits of the studio."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def job_memory() -> int:
    """The bytes that the process of a job may have: 8 GB, or three quarters of the memory if that is less."""
    most = 8 << 30
    try:
        return min(most, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4)
    except (AttributeError, OSError, ValueError):
        return most


@dataclass(frozen=True)
class JobLimits:
    """What jobs may use."""

    #: jobs that run, that wait, and whose results are kept
    at_once: int = 2
    queued: int = 10
    kept: int = 5
    #: seconds that one may take
    seconds: float = 30 * 60
    memory: int = field(default_factory=job_memory)
    #: of the files with the events, and rows in them
    bytes: int = 2_000_000_000
    rows: int = 20_000_000
    #: detections that are kept
    found: int = 10_000_000
