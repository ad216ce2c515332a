"""``occurs size``: what a program needs on a stream."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import Any

import click

from occurs.cli import _input, _options
from occurs.errors import UsageProblem
from occurs.hosts.local import run_history
from occurs.model.history import History
from occurs.model.ticks import duration, time_unit
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.plan.capacity import Capacity, Costs, Load, Need, capacity
from occurs.plan.stage import Stage

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}


@click.command("size")
@_options.rules
@_options.inputs(required=False, typed=False)
@click.option("--rate", required=True, metavar="N", help="Events per second, such as 200k or 10M.")
@click.option("--type", multiple=True, metavar="TYPE=PERCENT", help="Part of the events of a type.  Repeatable.")
@click.option("--keys", default="0", metavar="N", help="Keys that are alive, such as 1G.")
@click.option("--hot", default="0%", metavar="PERCENT", help="Part of the events with the most frequent key.")
@click.option("--watermark", default="0s", metavar="DURATION", help="How late an event may arrive.")
@click.option("--trigger", default="10s", show_default=True, metavar="DURATION", help="Time between micro-batches.")
@click.option("--cores", type=click.IntRange(1), default=4, show_default=True, help="Cores of an executor.")
@click.option("--memory", type=click.FloatRange(0.1), default=64, show_default=True, metavar="GB",
              help="Memory of an executor for state and rows.")  # fmt: skip
@click.option("--ranges", type=click.IntRange(1), help="Key ranges of the state.  [default: as few as are enough]")
@click.option("--divide", type=click.IntRange(1), default=1, show_default=True, help="As of `occurs follow`.")
@click.option("--within", metavar="CORES,GB", help="Exit with status 1 if more cores or memory are needed.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    values: dict[str, Any],
    rate: str,
    type: tuple[str, ...],
    keys: str,
    hot: str,
    watermark: str,
    trigger: str,
    cores: int,
    memory: float,
    ranges: int | None,
    divide: int,
    within: str | None,
    as_json: bool,
) -> None:
    """Estimate the cores, memory and state that RULES need on a stream.

    With --events, a sample of events gives the part of each type, and the time that these rules take on this machine.
    """
    program = _input.load(rules, language, values=values).checked
    unit = time_unit(given.time_unit)
    load = Load(
        _number("--rate", rate), dict(_share(text) for text in type), _seconds("--watermark", watermark),
        _seconds("--trigger", trigger), _percent("--hot", hot), int(_number("--keys", keys)), cores, memory * 1e9,
        ranges, divide,
    )  # fmt: skip
    costs = Costs()
    if given.events:
        with _input.doing("reading"):
            history = program.history(_input.read(program, given), given.options())
        stage = program.plan(history.schemas, history.kind)
        load, costs = measured(stage, history, load, costs)
    else:
        stage = program.plan(None, TIMESTAMP if unit is None else TimeKind(False, unit))
    limits = None if within is None else _within(within)
    found = capacity(stage, load, costs)
    click.echo(json.dumps(found.data(), indent=2) if as_json else "\n".join(_lines(found, load)))
    if limits is not None and not _fits(found, limits):
        click.echo(f"this does not fit into {limits[0]:g} cores and {limits[1]:g} GB", err=True)
        raise SystemExit(1)


def measured(stage: Stage, history: History, load: Load, costs: Costs) -> tuple[Load, Costs]:
    """The load with the parts of the types in a history, and the costs with those of its rows on this machine."""
    rows = {t: len(table) for t, table in history.tables.items() if t in stage.inputs}
    total = sum(rows.values())
    if not total:
        return load, costs
    run_history(stage, history)  # compiles kernels
    began = time.process_time()
    run_history(stage, history)
    each = (time.process_time() - began) / total
    shares = load.shares or {t: n / total for t, n in rows.items()}
    return replace(load, shares=shares), replace(costs, row=each + costs.row / 2)


def _number(option: str, text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)", text.strip())
    if found is None:
        hint = "use a number, with k, M or G for thousands, millions or billions"
        raise UsageProblem.of("bad-option", f"{option} {text}", hint=hint)
    return float(found[1]) * _UNITS[found[2]]


def _percent(option: str, text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text.strip())
    if found is None or float(found[1]) > 100:
        raise UsageProblem.of("bad-option", f"{option} {text}", hint="use a percentage, such as 1%")
    return float(found[1]) / 100


def _share(text: str) -> tuple[str, float]:
    name, _, part = text.partition("=")
    return name, _percent(f"--type {name}", part)


def _seconds(option: str, text: str) -> float:
    return float(duration(text, TIMESTAMP, option)) / 1_000_000


def _within(text: str) -> tuple[float, float]:
    found = re.fullmatch(r"(\d+),(\d+(?:\.\d+)?)", text)
    if found is None:
        raise UsageProblem.of("bad-option", f"--within {text}", hint="use cores and gigabytes, such as 64,256")
    return float(found[1]), float(found[2])


def _fits(found: Capacity, limits: tuple[float, float]) -> bool:
    return found.cores is not None and found.cores <= limits[0] and found.memory * found.executors / 1e9 <= limits[1]


def _lines(found: Capacity, load: Load) -> list[str]:
    executors = f"executors of {load.cores} cores with {_size(found.memory)} each for state and rows"
    enough = found.cores is not None
    out = [
        f"cores: {found.cores:,}, as {found.executors:,} {executors}" if enough else "cores: no number is enough",
        f"state: {_size(found.state)}, of which {_size(found.written)} are written in a micro-batch; {found.ranges:,} "
        "key ranges",
        f"micro-batch: {found.seconds:.1f} s of {load.trigger:g} s, of which the driver takes {found.driver:.1f} s; "
        f"{found.tasks:,} tasks; {_size(found.shuffled * load.trigger)} between tasks",
        f"largest rate with {found.ranges:,} key ranges: {found.largest:,.0f} events/s",
        f"limited by: {found.limit}",
    ]
    return [*out, *(_line(need) for need in found.groups)]


def _line(need: Need) -> str:
    names = ", ".join(need.types[:4]) + (" .." if len(need.types) > 4 else "")
    bound = "" if need.bounded else ", and grows without a limit"
    return (
        f"  {names}: {need.rows:,.0f} rows/s in up to {need.tasks:,} tasks; keeps {need.kept:,.0f} rows, "
        f"{need.waiting:,.0f} wait{bound}"
    )


def _size(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:,.0f} {unit}"
        number /= 1000
    return f"{number:,.1f} TB"
