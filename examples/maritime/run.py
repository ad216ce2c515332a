"""What do the ships do?  States and what is made of them in Phenesthe, questions about both in TESLA, in one program.

``python examples/maritime/run.py`` makes the events (once), finds everything in this process, prints what each
definition detected and draws the day of some ships: ``out/maritime/ships.html`` (and ``.png``, if matplotlib is there).
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import events
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from ais import START
from rich.console import Console
from rich.table import Table

import occurs
from occurs.errors import ResourceProblem

HERE = Path(__file__).parent
RULES = [HERE / name for name in ("maritime.phen", "mixed.phen", "mixed.tesla")]
QUESTIONS = {
    "stopped": "at rest",
    "underway": "faster than 2.7 knots",
    "in_port": "within the zone of a port",
    "in_fishing_area": "within a fishing area",
    "moored": "at rest in a port",
    "trip": "from one mooring to another",
    "fishing_trip": "a trip with a fishing area visited under way",
    "trip_f": "a trip with a fishing area visited",
    "docked": "the beginning of a mooring",
    "cast_off": "its end",
    "Turnaround": "TESLA: out again within two hours (reads docked and cast_off)",
    "Dark": "TESLA: heard again after a silence under way",
    "dark_trip": "a trip with such a silence in it (reads Dark)",
}
DRAWN = ("underway", "in_port", "in_fishing_area", "moored", "docked", "Dark", "fishing_trip")
ROWS, SHIPS = 2, 5

console = Console()


def main() -> None:
    paths = events.write()
    tables = {name: pq.read_table(path) for name, path in paths.items() if name != "ais"}
    program = occurs.load(*RULES)
    started = time.perf_counter()
    found = program.detect(tables)
    seconds = time.perf_counter() - started
    count = sum(len(t) for t in tables.values())
    console.print(f"{count:,} events in {seconds:.1f} s: {count / seconds:,.0f} events a second\n")
    for name, question in QUESTIONS.items():
        show(name, question, found[name])
    draw(program, tables, found)


def show(name: str, question: str, rows: pa.Table) -> None:
    """How many there are, and the first few in time order."""
    console.print(f"[bold]{name}[/bold]: {question}\n  [green]{rows.num_rows:,} detections[/green]")
    first = rows.sort_by("time").slice(0, ROWS).drop_columns(["type"])
    table = Table(*first.column_names, box=None, padding=(0, 2), header_style="dim")
    for row in first.to_pylist():
        table.add_row(*(text(value) for value in row.values()))
    console.print(table, "")


def text(value: object) -> str:
    if value is None:
        return "-"
    # times come with their zone, UTC
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "tzinfo") else str(value)


def draw(program: occurs.Program, tables: dict[str, pa.Table], found: occurs.Detections) -> None:
    """The second day of some of the ships that were fishing."""
    ships = pa.array(sorted(set(found["fishing_trip"]["Vessel"].to_pylist()))[:SHIPS])
    theirs = program.detect({name: table.filter(pc.is_in(table["vessel"], ships)) for name, table in tables.items()})
    day = datetime.fromtimestamp(START, UTC) + timedelta(days=1)
    title = "The second day of ships that were fishing"
    line = theirs.timeline("Vessel", only=DRAWN, start=day, end=day + timedelta(days=1), title=title)
    for suffix in (".html", ".png"):
        target = events.FOLDER / f"ships{suffix}"
        try:
            line.save(target, overwrite=True)
            console.print(f"A timeline: {target}")
        except ResourceProblem as problem:
            console.print(f"[dim]{problem.message}[/dim]")


if __name__ == "__main__":
    main()
