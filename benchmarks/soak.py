"""``python -m benchmarks.soak SECONDS [KEYS]``: ``occurs follow`` of a program in five languages, over a steady stream
of keys that come and never return; what it holds must not grow.

Prints a row every ten seconds, and of the second half the slope of every figure: a line fitted by least squares, as its
change over ten minutes relative to the mean.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time as clock
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks import five
from benchmarks.report import Report

#: seconds between two rows; seconds after which files of events are long read
EVERY, OLD = 10.0, 120
#: figures whose slope is told
FIGURES = ("driver MB", "Java MB", "workers MB", "state MB", "checkpoint MB", "checkpoint files", "rows kept")


def descendants(root: int) -> list[int]:
    """Processes below ``root``, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
    out, new = [], {root}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new}
        out += sorted(new)
    return out


def resident(pids: list[int]) -> tuple[float, float]:
    """Resident megabytes of (Java, Python) among these processes."""
    java = python = 0.0
    for pid in pids:
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
        if name == "java":
            java += pages * 4096 / 1e6
        else:
            python += pages * 4096 / 1e6
    return java, python


def held(folder: Path) -> tuple[float, int]:
    """(megabytes, files) below a directory that another process writes."""
    size = files = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
            files += 1
    return size / 1e6, files


def slope(seconds: np.ndarray, values: np.ndarray) -> float:
    """The change over ten minutes of a line fitted by least squares, relative to the mean of ``values``."""
    mean = float(values.mean())
    return float(np.polyfit(seconds, values, 1)[0]) * 600 / mean if mean else 0.0


def soak(seconds: float, keys: int = 40) -> Report:
    """Follow, feed and look.  RuntimeError if the follower ends."""
    columns = [("s", ",.0f"), ("rows", ",d"), ("found", ",d"), ("rows kept", ",d"), ("s/batch", ".2f")]
    columns += [("driver MB", ",.0f"), ("Java MB", ",.0f"), ("workers MB", ",.0f"), ("state MB", ".2f")]
    columns += [("checkpoint MB", ".2f"), ("checkpoint files", ",d")]
    out = Report(f"A steady stream for {seconds:.0f} s: {6 * keys} events/s, {keys} new keys a second", columns)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        five.write_rules(place)
        (place / "in").mkdir()
        _come(place, 0, keys)
        command = [sys.executable, "-m", "occurs.cli", "follow", *five.RULES, "--events", "in", "--out", "out"]
        command += ["--checkpoint", "cp", "--time-unit", "ms", "--metrics", "m.jsonl", "--label"]
        with open(place / "log", "ab") as log:
            follower = subprocess.Popen(command, cwd=place, stdout=log, stderr=log, start_new_session=True)
        try:
            _look(out, place, follower, seconds, keys)
            follower.send_signal(signal.SIGTERM)
            follower.wait(120)
        finally:
            if follower.poll() is None:
                os.killpg(follower.pid, signal.SIGKILL)
                follower.wait()
    rows = out.rows[len(out.rows) // 2 :]
    for figure in FIGURES:
        at = [n for n, _ in columns].index(figure)
        x, y = (np.array([float(str(row[n])) for row in rows]) for n in (0, at))
        out.notes.append(f"{figure}: {slope(x, y):+.1%} in ten minutes, by the second half (mean {y.mean():,.1f})")
    return out


def _come(place: Path, second: int, keys: int) -> None:
    """Move the events of a second in, and remove those that are long read."""
    (place / "coming.csv").write_text(five.text(five.passing(second, keys)))
    os.replace(place / "coming.csv", place / "in" / f"{second:06}.csv")
    (place / "in" / f"{second - OLD:06}.csv").unlink(missing_ok=True)


def _look(out: Report, place: Path, follower: subprocess.Popen[bytes], seconds: float, keys: int) -> None:
    began, second, looked = clock.monotonic(), 1, 0.0
    while (now := clock.monotonic() - began) < seconds:
        if follower.poll() is not None:
            raise RuntimeError(f"the follower has ended: {(place / 'log').read_text()[-2000:]}")
        if second < now:
            _come(place, second, keys)
            second += 1
        if now - looked >= EVERY:
            looked = now
            text = (place / "m.jsonl").read_text() if (place / "m.jsonl").exists() else ""
            told = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
            if told:
                _row(out, place, follower.pid, now, told)
        clock.sleep(0.05)


def _row(out: Report, place: Path, pid: int, now: float, told: list[dict[str, object]]) -> None:
    recent = told[-5:]
    java, workers = resident(descendants(pid))
    size, files = held(place / "cp")
    out.add(
        now,
        sum(int(str(f["rows"])) for f in told),
        sum(sum(f["found"].values()) for f in told),  # type: ignore[attr-defined]
        int(str(recent[-1]["kept"])),
        sum(float(str(f["seconds"])) for f in recent) / len(recent),
        resident([pid])[1],
        java,
        workers,
        held(place / "cp" / "spark" / "state")[0],
        size,
        files,
    )


if __name__ == "__main__":
    soak(*map(int, sys.argv[1:])).show(Console(width=180))
