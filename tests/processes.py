"""Processes that others have started, from ``/proc``."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any


def parents() -> dict[int, int]:
    """Every process and its parent."""
    out = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:  # it has ended
                continue
            out[int(entry.name)] = int(text.rpartition(")")[2].split()[1])
    return out


def below(pid: int) -> list[int]:
    """All descendants of a process, children before theirs."""
    found, known = [pid], parents()
    for one in found:
        found += [p for p, parent in known.items() if parent == one]
    return found[1:]


def workers(pid: int) -> list[int]:
    """The Python workers of Spark among the descendants of a process: children of a daemon, which is one itself."""
    known = parents()

    def is_daemon(one: int) -> bool:
        try:
            return b"pyspark.daemon" in (Path("/proc") / str(one) / "cmdline").read_bytes()
        except OSError:
            return False

    return [p for p in below(pid) if is_daemon(p) and is_daemon(known.get(p, 0))]


def kill(driver: subprocess.Popen[Any]) -> None:
    """End a process that leads a session of its own, and all below it, with -9, if it has not ended."""
    every = below(driver.pid)
    if driver.poll() is None:
        os.killpg(driver.pid, signal.SIGKILL)
    for pid in every:  # Python's daemon has a group of its own
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    driver.wait()
