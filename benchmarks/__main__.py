"""``python -m benchmarks``: tables of ratios, all measured side by side in this run (see benchmarks/README.md)."""

from __future__ import annotations

import json
import os
import platform
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path

import click
import pyarrow as pa
from rich.console import Console

from benchmarks import epl, growth, lasting, local, logic, nets, newkeys, sizes
from benchmarks.history import parquet
from benchmarks.report import Report

PARTS = (
    "local", "growth", "sizes", "lasting", "epl", "nets", "logic", "rows", "pipes", "watch", "push", "why", "spark",
    "streaming",
)  # fmt: skip
FOLDER = Path("out") / "benchmarks"


def local_part(quick: bool) -> Iterator[Report]:
    yield local.report(local.cases(quick), 5 if quick else 9)


def growth_part(quick: bool) -> Iterator[Report]:
    base = 250_000 if quick else 1_000_000
    repetitions = 5 if quick else 9
    yield growth.by_events([base, 4 * base, 16 * base], repetitions)
    yield growth.by_window([100, 1_000, 10_000], 1_000_000, repetitions)
    sizes = [(1, 2_000), (100, 20_000), (10_000, 200_000)] if quick else [(1, 10_000), (100, 100_000), (10_000, 10**6)]
    yield growth.sequential(sizes, 3)
    yield newkeys.report(1_000 if quick else 10_000)


def sizes_part(quick: bool) -> Iterator[Report]:
    yield sizes.by_size(100 if quick else 500, 10, 1 if quick else 3)


def spark_part(quick: bool) -> Iterator[Report]:
    from benchmarks import sparkjob

    with sparkjob.session() as spark:
        yield sparkjob.report(spark, parquet(FOLDER, 5_000_000), 3 if quick else 5)
    # at once more rows per partition than a call of the engine takes
    yield sparkjob.memory(FOLDER, [5_000_000, 20_000_000])


def streaming_part(quick: bool) -> Iterator[Report]:
    from benchmarks import streaming

    with streaming.session() as spark:
        counts = [100, 10_000, 100_000]
        yield streaming.throughput(spark, FOLDER, counts, 8 if quick else 15, 1 if quick else 3)
        yield streaming.latency(spark, FOLDER, 30 if quick else 120)


def lasting_part(quick: bool, ships: Path | None = None) -> Iterator[Report]:
    yield from lasting.reports(quick, ships, FOLDER)


def epl_part(quick: bool) -> Iterator[Report]:
    yield from epl.reports(quick)


def nets_part(quick: bool) -> Iterator[Report]:
    yield from nets.reports(quick)


def logic_part(quick: bool) -> Iterator[Report]:
    from benchmarks import logic_spark, sparkjob

    yield from logic.reports(quick)
    with sparkjob.session() as spark:
        yield logic_spark.report(spark, logic_spark.parquet(FOLDER, 5_000_000), 3 if quick else 5)


def rows_part(quick: bool) -> Iterator[Report]:
    from benchmarks import rowpatterns, rowpatterns_spark, sparkjob

    yield from rowpatterns.reports(quick)
    path = rowpatterns_spark.parquet(FOLDER, 1_000_000 if quick else 5_000_000)
    with sparkjob.session() as spark:
        yield rowpatterns_spark.report(spark, path, 3 if quick else 5)


def pipes_part(quick: bool) -> Iterator[Report]:
    from benchmarks import pipes, pipes_spark, sparkjob

    yield from pipes.reports(quick)
    path = pipes_spark.parquet(FOLDER, 2_000_000 if quick else 5_000_000)
    with sparkjob.session() as spark:
        yield pipes_spark.report(spark, path, 3 if quick else 5)


def watch_part(quick: bool) -> Iterator[Report]:
    from benchmarks import watch

    yield from watch.reports(quick)


def push_part(quick: bool) -> Iterator[Report]:
    from benchmarks import push

    yield from push.reports(quick)


def why_part(quick: bool) -> Iterator[Report]:
    from benchmarks import why

    yield from why.reports(quick)


RUN = {
    "local": local_part,
    "growth": growth_part,
    "sizes": sizes_part,
    "lasting": lasting_part,
    "epl": epl_part,
    "nets": nets_part,
    "logic": logic_part,
    "rows": rows_part,
    "pipes": pipes_part,
    "watch": watch_part,
    "push": push_part,
    "why": why_part,
    "spark": spark_part,
    "streaming": streaming_part,
}


@contextmanager
def one_thread() -> Iterator[None]:
    """Arrow on one thread in this process; Spark's workers are processes of their own."""
    before = pa.cpu_count()
    pa.set_cpu_count(1)
    try:
        yield
    finally:
        pa.set_cpu_count(before)


@click.command()
@click.option("--quick", is_flag=True, help="Fewer families, events and repetitions: a few minutes.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="Only this part (may be repeated).")
@click.option(
    "--brest",
    "ships",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Real ships for the part `lasting`: CSV with columns type, time (seconds), vessel, area.",
)
@click.option(
    "--json",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the tables here as JSON; a file that is there keeps those of the other parts.",
)
def main(quick: bool, parts: tuple[str, ...], ships: Path | None, path: Path | None) -> None:
    """Ratios against a bare script, against Spark doing nothing, growth, and streams."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    run_of = {"date": date.today().isoformat(), "machine": machine(), "python": platform.python_version()}
    with one_thread():
        for part in parts or PARTS:
            start, tables = clock.perf_counter(), []
            run = RUN[part] if part != "lasting" else partial(lasting_part, ships=ships)
            for report in run(quick):
                report.show(console)
                tables.append({"part": part, "run": {**run_of, "quick": quick}, **report.plain()})
            console.print(f"[dim]{part}: {clock.perf_counter() - start:.0f} s[/dim]\n")
            if path is not None:
                keep(path, part, tables)


def machine() -> str:
    """The cores of this machine and what they are, as the page of the documentation names it."""
    return f"{os.cpu_count()} cores {platform.machine()}"


def keep(path: Path, part: str, tables: list[dict[str, object]]) -> None:
    """Write the tables of a part, beside those of other parts that are there, in the order of the parts."""
    there = json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else []
    found = [*(t for t in there if t["part"] != part), *tables]
    found.sort(key=lambda t: PARTS.index(t["part"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"tables": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
