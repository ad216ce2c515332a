"""What the tests of the recipes share: the rules of a page, random histories, and detections as plain tuples.

Times are whole seconds after ``START`` here, so that an expected answer is arithmetic on integers.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import occurs
from pages import blocks

PAGES = Path(__file__).parent.parent.parent / "docs" / "cookbook"
START = pd.Timestamp("2024-03-01T00:00:00Z")
MINUTE, HOUR, DAY = 60, 3600, 86400


def rules(page: str, *files: str) -> occurs.Program:
    """The program of the rule files that a page shows under these titles."""
    shown = {block.title: block.code for block in blocks((PAGES / f"{page}.md").read_text()) if block.title}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / file for file in files]
        for path in paths:
            path.write_text(shown[path.name])
        return occurs.load(*paths)


def history(
    seed: int,
    size: int,
    step: int,
    kinds: Mapping[str, Mapping[str, Sequence[Any]]],
    jumps: Sequence[int] = (0, 1, 1, 2),
) -> list[dict[str, Any]]:
    """Random events in the order of Occurs: time, then type, then attributes by their names.

    ``kinds`` has the values of every attribute of every type.  Times are multiples of ``step`` seconds and often equal,
    so that events lie exactly on the borders of the durations in a rule.
    """
    dice, now, rows = random.Random(seed), 0, []
    for _ in range(size):
        now += dice.choice(jumps) * step
        kind = dice.choice(list(kinds))
        rows.append({"type": kind, "time": now, **{name: dice.choice(values) for name, values in kinds[kind].items()}})
    return ordered(rows)


def ordered(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events in the order of Occurs: time, then type, then attributes by their names."""
    return sorted(rows, key=lambda row: (row["time"], row["type"], *(row[name] for name in sorted(row))))


def frames(rows: Iterable[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """One table per type, as a user has it."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        moment = START + pd.Timedelta(row["time"], "s")
        kinds.setdefault(row["type"], []).append({**row, "time": moment})
    return {kind: pd.DataFrame(found).drop(columns="type") for kind, found in kinds.items()}


def plain(value: Any) -> Any:
    """A value of a detection as the expected answers have it: times as seconds, missing ones as None."""
    if value is None or value is pd.NaT or value != value:
        return None
    if isinstance(value, pd.Timestamp):
        return (value - START).total_seconds()
    return value


def tuples(table: Any) -> Counter[tuple[Any, ...]]:
    """The rows of a table of detections, without their type."""
    frame = table if isinstance(table, pd.DataFrame) else table.toPandas()
    for name in frame.columns:
        if str(frame[name].dtype).startswith("datetime64") and frame[name].dt.tz is None:
            frame = frame.assign(**{name: frame[name].dt.tz_localize("UTC")})
    columns = [name for name in frame.columns if name != "type"]
    return Counter(tuple(plain(value) for value in row) for row in frame[columns].itertuples(index=False, name=None))


def compare(found: Counter[tuple[Any, ...]], expected: Iterable[tuple[Any, ...]], least: int = 20) -> None:
    """Equal as multisets, and enough rows to mean something."""
    wanted = Counter(expected)
    assert found == wanted, f"detected only: {list(found - wanted)[:5]}, expected only: {list(wanted - found)[:5]}"
    assert found.total() >= least


def sql(rows: Iterable[dict[str, Any]], query: str) -> list[tuple[Any, ...]]:
    """The answer of SQLite; every type is a table, with the place of a row in the order of events as `place`."""
    with sqlite3.connect(":memory:") as base:
        kinds: dict[str, list[dict[str, Any]]] = {}
        for place, row in enumerate(rows):
            kinds.setdefault(row["type"], []).append({**row, "place": place})
        for kind, found in kinds.items():
            pd.DataFrame(found).drop(columns="type").to_sql(kind, base, index=False)
        return base.execute(query).fetchall()
