"""What happened at New York's airports in 2013: ``flights.tesla`` over 690,000 events, on Spark in this machine.

``python examples/flights/run.py`` makes the events (once), starts Spark and prints the detections of each rule.
"""

from __future__ import annotations

import time
from pathlib import Path

import events
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import occurs
from occurs.connect.spark import local_session

RULES = Path(__file__).with_name("flights.tesla")
QUESTIONS = {
    "Late": "left an hour late or more",
    "WeatherDelay": "late, with bad weather at the airport within the hour before",
    "LateInGoodWeather": "late without bad weather",
    "KnockOn": "a late aircraft carries its delay to its next flight",
    "Congestion": "an airport's departures of one hour, more than an hour late on average",
    "Standstill": "three hours of the day without a departure",
    "Spiral": "flights of one aircraft, each later than the one before",
    "WeatherAlert": "one alert for each report of bad weather that delays a flight",
}
ROWS = 3

console = Console()


def main() -> None:
    started = time.perf_counter()
    paths = events.write()
    spark = local_session()
    console.print(f"Spark {spark.version} is up, the events are in {events.FOLDER}: {since(started)}\n")

    started = time.perf_counter()
    program = occurs.load(RULES)
    found = program.detect({name: spark.read.parquet(str(path)) for name, path in paths.items()})
    console.print(f"Rules read and checked, Spark's plan made: {since(started)}")
    console.print(
        "[dim]Rules that share a key are evaluated together, so the first one takes the time of the others.[/dim]\n"
    )
    for name, question in QUESTIONS.items():
        asked = time.perf_counter()
        show(name, question, found[name].toArrow(), since(asked))
    console.print(f"All of it: {since(started)}")
    spark.stop()


def show(name: str, question: str, rows: pa.Table, seconds: str) -> None:
    """How many there are, and the first few in time order."""
    console.print(f"[bold]{name}[/bold]: {question}\n  [green]{rows.num_rows:,} detections[/green] in {seconds}")
    first = rows.sort_by("time").slice(0, ROWS).drop_columns(["type"])
    table = Table(*first.column_names, box=None, padding=(0, 2), header_style="dim")
    for row in first.to_pylist():
        table.add_row(*(text(value) for value in row.values()))
    console.print(table, "")


def text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1f}"
    # times come with their zone, UTC
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "tzinfo") else str(value)


def since(start: float) -> str:
    return f"{time.perf_counter() - start:.1f} s"


if __name__ == "__main__":
    main()
