"""Why-not and why over a large history: what a question costs beside one run of the rules over the same slice."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import occurs
from benchmarks.report import Report

RULES = """define Fire(Area, Value)
from   Smoke(Area = $a, Level > 3)
   and last Temp(Area = $a, Value > 45) within 5 min from Smoke
   and each Door(Area = $a, Open > 0) within 5 min from Temp
   and not Rain(Area = $a) between Temp and Smoke
where  Area = $a, Value = Temp.Value
"""
KEYS = 1_000


def reports(quick: bool) -> Iterator[Report]:
    """Questions with a key over a pandas DataFrame of 10 million rows (2 million if ``quick``)."""
    yield asked(2_000_000 if quick else 10_000_000, 3 if quick else 6)


def history(size: int) -> pd.DataFrame:
    """Ten events per second of four types with :data:`KEYS` areas."""
    rng = np.random.default_rng(7)
    times = np.datetime64("2024-01-01") + np.sort(rng.integers(0, size * 100_000, size)).astype("timedelta64[us]")
    types = np.array(["Smoke", "Temp", "Door", "Rain"], object)[rng.choice(4, size, p=[0.2, 0.4, 0.3, 0.1])]
    areas = np.array([f"area{i}" for i in range(KEYS)], object)[rng.integers(0, KEYS, size)]
    columns = {"type": types, "time": times, "Area": areas}
    for name, of, most in (("Level", "Smoke", 8), ("Value", "Temp", 100), ("Open", "Door", 2)):
        values = rng.integers(0, most, size).astype(float)
        values[types != of] = np.nan
        columns[name] = values
    return pd.DataFrame(columns)


def asked(size: int, questions: int) -> Report:
    """Questions about different areas, each with two edits and then its why; CPU seconds."""
    frame, program = history(size), occurs.parse(RULES)
    smokes = frame[(frame["type"] == "Smoke") & (frame["Level"] > 3)]
    report = Report(
        f"why-not with a key over {size:,} rows of pandas ({KEYS:,} keys), CPU seconds",
        [("question", ""), ("why-not", ".2f"), ("detect over its slice", ".3f"), ("ratio", ".1f"), ("reasons", ""),
         ("why", ".2f"), ("target: why-not", ".1f"), ("target: why", ".1f")],
    )  # fmt: skip
    program.why_not("Fire", frame.head(1000), edits=1)
    times = []
    for number in range(questions):
        row = smokes.iloc[len(smokes) * (number + 1) // (questions + 1)]
        at = row["time"].tz_localize("UTC")
        seconds, answer = _cpu(program.why_not, "Fire", frame, where={"Area": row["Area"]}, between=at)
        part = frame[frame["Area"] == row["Area"]]
        alone = median(_cpu(program.detect, part)[0] for _ in range(3))
        found = program.detect(part, with_label=True)["Fire"]
        why = _cpu(program.why, found.iloc[-1], part)[0] if len(found) else None
        name, reasons = f"{row['Area']} at {at:%d %H:%M}", str(len(answer.reasons))
        report.add(name, seconds, alone, seconds / alone, reasons, why, 2.0, 0.5)
        times.append(seconds)
    report.notes.append(f"median {median(times):.2f} s; most of a cheap question is the search for the rows of its key")
    return report


def _cpu(run: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """CPU seconds of this process, and the result."""
    began = clock.process_time()
    found = run(*arguments, **options)
    return clock.process_time() - began, found
