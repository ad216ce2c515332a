"""The limits of Occurs Studio, in one place.  ``GET about`` returns them."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field

MB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Sizes are in bytes and durations in seconds, unless the comment says otherwise."""

    #: a request body
    body: int = 16 * MB
    #: the text of one file of rules
    rule_text: int = 2 * MB
    #: statements in one file of rules
    statements: int = 5_000
    #: nodes in the drawing of a statement
    canvas_nodes: int = 500
    #: a file that is neither rules, events, a net nor a model; larger ones are not listed
    other_text: int = 1 * MB
    #: an image that is an icon
    icon: int = 64 << 10
    #: names in a path below the directory
    levels: int = 4
    #: files that are listed
    files: int = 1_000
    #: readers of GET updates
    readers: int = 20
    #: a call of the language worker: so long, and so much longer per MB of rules.  A check of 5,000 statements (0.9 MB)
    #: takes 4 to 5 s of CPU time, and more where other programs run
    call_seconds: float = 5.0
    call_seconds_per_mb: float = 20.0
    #: the memory of the language worker
    worker_memory: int = 4096 * MB
    #: nets that are open, of places and transitions and of rows of one, and the bytes of its events
    nets: int = 4
    net_nodes: int = 10_000
    net_rows: int = 100_000
    net_events: int = 100 * MB
    #: a call of a net: opening it draws it, and going back fires again
    net_seconds: float = 30.0
    #: pixels of a timeline, marks that it shows one by one, and its lanes
    timeline_width: int = 4_000
    timeline_marks: int = 2_000
    timeline_lanes: int = 200
    #: rows in one answer, and characters of a value in them
    rows: int = 1_000
    shown: int = 2_000
    #: constituents of one detection, and their levels
    why_nodes: int = 2_000
    why_depth: int = 50
    #: events that a question reads; of one that has no detection: relaxed programs, reasons, and rows that each shows
    why_rows: int = 100_000
    why_variants: int = 20_000
    why_reasons: int = 20
    why_witness: int = 200
    #: events that are remembered for readers that come back
    updates: int = 1_000
    #: wrong tokens in a minute; each further one is answered after `token_delay`
    wrong_tokens: int = 20
    token_delay: float = 1.0


LIMITS = Limits()


def seconds_of_call(rules: int) -> float:
    """The seconds that a call of the language worker over so many bytes of rules may take."""
    return LIMITS.call_seconds + LIMITS.call_seconds_per_mb * rules / MB


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


def listed() -> dict[str, float]:
    """All limits by name; those of jobs begin with ``job_``."""
    return asdict(LIMITS) | {f"job_{name}": value for name, value in asdict(JobLimits()).items()}
