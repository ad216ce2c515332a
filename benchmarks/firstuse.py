"""``python -m benchmarks.firstuse [CHECKOUT ..]``: CPU seconds of a process at first use and later, per language.

Every command runs in a process of its own; the figure is what it and all processes below it used, the smallest of three
for those that run warm.  "Cold": the folder of compiled kernels is empty, so whatever is compiled is compiled then.
With other checkouts named, their figures stand beside those of this one, in turn.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.report import Report

HERE = Path(__file__).resolve().parents[1]
#: runs of what is warm, of which the smallest counts
TURNS = 3

EVENTS = [
    {"type": "Temp", "time": 0, "Area": "kitchen", "Value": 50.0},
    {"type": "Smoke", "time": 60_000, "Area": "kitchen", "Value": 1.0},
    {"type": "Temp", "time": 120_000, "Area": "hall", "Value": 20.0},
    {"type": "Smoke", "time": 180_000, "Area": "hall", "Value": 2.0},
    {"type": "Temp", "time": 1_300_000, "Area": "hall", "Value": 61.0},
]

#: language to a program over these events
PROGRAMS = {
    "tesla": """
        event Smoke(Area: string, Value: float)
        event Temp(Area: string, Value: float)
        define Fire(Area, Value) from Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 5 min from Smoke
        where Area = $a, Value = Temp.Value
    """,
    "epl": """
        insert into Silence select a.Area as Area
        from pattern [every a=Smoke -> (timer:interval(10 min) and not Temp(Area = a.Area))];
    """,
    "ftl": """
        table Temp (Area string key, Value float)
        trigger hot for each y in (select Area from Temp):
            eventually [x <- Temp(y)] eventually within 60 min (Temp(y) >= 2*x)
            emit Hot(Area = y, Value = Temp(y))
    """,
    "phen": """
        input event Smoke(Area: string, Value: float), Temp(Area: string, Value: float).
        state hot(A) : (Temp(A, V) and V > 40) ~> (Temp(A, V) and V < 30).
        state smoky(A) : Smoke(A, _) ~> Temp(A, _).
        dynamic both(A) : hot(A) contains smoky(A).
    """,
    "esql": """
        DEFINE Mean AS GET (THE AVERAGE OF *) FROM Temp.Value ON A WINDOW OF 2.
        DEFINE High AS Temp.Value WHERE $0 > 40.
    """,
}


def cpu(command: Sequence[str], checkout: Path, kernels: Path) -> float:
    """CPU seconds of a command, and of all processes that it waited for.  RuntimeError if it fails."""
    path = {"PYTHONPATH": str(checkout / "src"), "OCCURS_CACHE": str(kernels), "NUMBA_CACHE_DIR": str(kernels)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *command], env={**os.environ, **path}, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures(folder: Path, checkouts: Sequence[Path]) -> Report:
    """A row per command; per checkout a column cold and one warm."""
    names = [place.name for place in checkouts]
    report = Report(
        "First use, CPU seconds of the process",
        [("command", ""), *((f"{name}, {state}", ".2f") for name in names for state in ("cold", "warm"))],
    )
    events = folder / "events.jsonl"
    events.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    main = ("-m", "occurs.cli")
    commands: list[tuple[str, list[str]]] = [
        ("pass", ["-c", "pass"]),
        ("import occurs", ["-c", "import occurs"]),
        ("--version", [*main, "--version"]),
        ("--help", [*main, "--help"]),
    ]
    given = ("--events", str(events), "--time-unit", "ms")
    for language, text in PROGRAMS.items():
        rules = folder / f"rules.{language}"
        rules.write_text(text)
        commands += [
            (f"check {language}", [*main, "check", str(rules)]),
            (f"run {language}", [*main, "run", str(rules), *given, "--host", "local"]),
        ]
    for name, command in commands:
        cells: list[float] = []
        kernels = [folder / f"kernels{at}" for at in range(len(checkouts))]
        for place in kernels:
            shutil.rmtree(place, ignore_errors=True)
        cold = [cpu(command, checkout, place) for checkout, place in zip(checkouts, kernels)]
        turns = [[cpu(command, checkout, place) for checkout, place in zip(checkouts, kernels)] for _ in range(TURNS)]
        for at, first in enumerate(cold):
            cells += [first, min(turn[at] for turn in turns)]
        report.add(name, *cells)
    return report


def main(others: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        figures(Path(folder), [*(Path(other).resolve() for other in others), HERE]).show(Console())


if __name__ == "__main__":
    main(sys.argv[1:])
