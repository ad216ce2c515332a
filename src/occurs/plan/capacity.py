"""What a program needs on a stream: rows, bytes, tasks and seconds, computed from its plan.

Rows and bytes follow from the plan and the load.  Seconds follow from constants that were measured on a shared machine
with two cores, and are orders of magnitude on another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil, log2
from typing import Any

from occurs.errors import UsageProblem
from occurs.model.types import Type
from occurs.plan.lanes import Lane, lanes
from occurs.plan.partitioning import Group, connected, groups
from occurs.plan.stage import Stage

#: bytes of a value in memory: of a number, of a text; and of the time and the type of a row
NUMBER, TEXT, ROW = 8, 32, 16
#: pieces of state that are not put together
PIECES = 16
#: numbers of key ranges that are tried, and a rate that no cluster has
RANGES = tuple(1 << n for n in range(3, 15))
MOST_EVENTS = 1e12
_TEXTS = {Type.STRING, Type.NULL}


@dataclass(frozen=True)
class Load:
    """What comes in.

    Attributes:
        rate: Events per second.
        shares: Parts of the events by type; types that are not named share the rest alike.
        watermark: How late an event may arrive, in seconds.
        trigger: Seconds between micro-batches.
        hot: The part of the events that have the most frequent key.
        keys: Keys that are alive.
        cores: Cores of an executor.
        memory: Bytes that an executor has for state and rows.
        ranges: Key ranges of the state; None: as few as are enough.
        divide: The rules of a key are in so many parts.
    """

    rate: float
    shares: Mapping[str, float] = field(default_factory=dict)
    watermark: float = 0.0
    trigger: float = 1.0
    hot: float = 0.0
    keys: int = 0
    cores: int = 4
    memory: float = 64e9
    ranges: int | None = None
    divide: int = 1


@dataclass(frozen=True)
class Costs:
    """Seconds of CPU.

    ``read``: to read an event and send it to its bucket; ``row``: to evaluate it; ``key``: in every micro-batch per key
    for which definitions keep something (rows of the past cost nothing until one is needed); ``range``, ``rule``: per
    key range of a stage, and per definition in it; ``task``, ``type``: of the driver, per task and per type of
    detections; ``floor``: of a micro-batch without rows.
    """

    read: float = 1.5e-6
    row: float = 1.5e-6
    key: float = 30e-9
    range: float = 6e-3
    rule: float = 8e-6
    task: float = 1.5e-3
    type: float = 0.15e-3
    floor: float = 0.65


@dataclass(frozen=True)
class Need:
    """What one group of definitions needs.

    ``types``: what it detects; ``mode``, ``tasks``: how its work is divided, and among how many tasks at most;
    ``rows``, ``shuffled``: rows and bytes per second that reach it; ``kept``, ``waiting``: rows of state; ``state``:
    their bytes; ``written``: bytes of state per micro-batch; ``bounded``: is the state limited?  ``split``: what could
    be done with a frequent key; ``seconds``: of CPU per micro-batch; ``longest``: of its busiest task.
    """

    types: tuple[str, ...]
    mode: str
    tasks: int
    rows: float
    shuffled: float
    kept: float
    waiting: float
    state: float
    written: float
    bounded: bool
    split: str
    seconds: float
    longest: float


@dataclass(frozen=True)
class Capacity:
    """What a program needs in all.

    ``ranges``: key ranges of the state; ``cores``: on which a micro-batch ends within the trigger, and whose executors
    hold the state, None if no number is enough; ``memory``: bytes of an executor; ``seconds``: of a micro-batch on
    these cores; ``driver``: seconds of it on the driver; ``tasks``: of a micro-batch; ``largest``: events per second
    that some number of cores bears; ``limit``: what limits them, in words.
    """

    groups: tuple[Need, ...]
    ranges: int
    cores: int | None
    executors: int
    memory: float
    state: float
    written: float
    shuffled: float
    tasks: int
    driver: float
    seconds: float
    largest: float
    limit: str

    def data(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def capacity(stage: Stage, load: Load, costs: Costs | None = None) -> Capacity:
    """What the program of ``stage`` needs under a load.

    Raises UsageProblem (``missing-unit``) if the length of a tick is not known, and (``bad-option``) for a load that
    cannot be.
    """
    costs = Costs() if costs is None else costs
    _check(stage, load)
    parts = groups(stage.definitions, stage)
    tried: list[Capacity] = []
    given = load.ranges is not None
    for ranges in RANGES if load.ranges is None else (load.ranges,):
        tried.append(_capacity(stage, _laid(parts, ranges, load.divide), replace(load, ranges=ranges), costs, given))
        if tried[-1].cores is not None:
            break
    # where no number is enough: with the one that has room and with which a micro-batch takes least
    found = min(tried, key=lambda one: (one.cores is None, one.memory > load.memory, one.seconds))
    ranges = found.ranges
    laid = _laid(parts, ranges, load.divide)

    def holds(rate: float) -> bool:
        return _capacity(stage, laid, replace(load, rate=rate, ranges=ranges), costs).cores is not None

    # every need grows with the rate
    low, high = 0.0, load.rate
    while holds(high) and high < MOST_EVENTS:
        low, high = high, high * 4
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return replace(found, largest=low)


def _check(stage: Stage, load: Load) -> None:
    if stage.kind.tick is None:
        hint = "specify the unit of integer times: --time-unit"
        raise UsageProblem.of("missing-unit", "the length of a tick is unknown", hint=hint)
    positive = {"--rate": load.rate, "--trigger": load.trigger, "--memory": load.memory, "--divide": load.divide}
    for option, value in positive.items():
        if not value > 0:
            raise UsageProblem.of("bad-option", f"{option} {value:g}", hint="use a number above 0")
    named = sum(load.shares.values())
    if named > 1.000001 or any(part < 0 for part in load.shares.values()):
        raise UsageProblem.of("bad-option", f"--type: the shares add up to {named:g}", hint="use at most 1 in all")
    unknown = sorted(load.shares.keys() - stage.inputs)
    if unknown:
        text = f"--type {unknown[0]}: the rules do not read this type"
        raise UsageProblem.of("bad-option", text, hint=f"they read {', '.join(sorted(stage.inputs))}")


def _laid(parts: Sequence[Group], ranges: int, divide: int) -> list[tuple[Lane, float]]:
    """The lanes, each with the part of the rules of its group that it evaluates."""
    whole = {d.identity: len(g.stage.definitions) for g in parts for d in g.stage.definitions}
    out = []
    for lane in lanes(parts, ranges, divide):
        own = lane.group.stage.definitions
        out.append((lane, len(own) / whole[own[0].identity] if lane.parts > 1 else 1.0))
    return out


def _capacity(
    stage: Stage, laid: Sequence[tuple[Lane, float]], load: Load, costs: Costs, given: bool = False
) -> Capacity:
    """``given``: the user has said how many key ranges there are."""
    ranges = load.ranges or 1
    rates = _rates(stage, load)
    needs = tuple(_need(lane, load, replace(costs, row=costs.row * part), rates) for lane, part in laid)
    depth = max((lane.depth for lane, _ in laid), default=0) + 1
    total = load.rate * load.trigger * costs.read * depth + sum(n.seconds for n in needs)
    longest = max(needs, key=lambda n: n.longest)
    state = sum(n.state for n in needs)
    batch = sum(n.shuffled for n in needs) * load.trigger
    # state is decoded in the processes of the cores that have its ranges; a micro-batch is there twice while it is read
    held = 2 * state + 2 * batch
    least = load.cores * (max(1, ceil(held / load.memory)) - 1) + 1
    floor = costs.floor + costs.type * len(stage.reported)
    cores, tasks, driver, seconds = _fitting(total, longest.longest, depth, least, load, replace(costs, floor=floor))
    # what one task holds is in one executor
    full = max(needs, key=lambda n: _alone(n, load))
    alone = _alone(full, load) > load.memory
    cores = None if alone else cores
    if grows := [t for n in needs if not n.bounded for t in n.types]:
        limit = f"the state of {', '.join(grows[:4])} has no limit and grows with the stream"
    elif alone and full.tasks == 1:
        limit = f"{_names(full)}: one task holds all the state, because there is no partition key"
    elif alone and load.hot * full.tasks > 1:
        limit = f"{_names(full)}: one task holds the state of the most frequent key; {full.split}"
    elif longest.longest > total / (cores or ranges):
        limit = _busiest(longest)
    elif alone or (cores is None and least > ranges):
        limit = "the memory of the executors; use executors with more memory"
    elif 1 < least == cores:
        limit = "the memory of the executors"
    elif cores is None and driver > load.trigger:
        larger = ", or executors with more memory" if least > max(1, total / load.trigger) else ""
        limit = f"the driver, which starts {tasks:,} tasks in {driver:.1f} s; use a longer --trigger{larger}"
    elif cores is None:
        more = ", or more --ranges" if given else ""
        limit = f"{ranges:,} key ranges: no more cores than that can work; use a longer --trigger{more}"
    else:
        limit = "the number of cores"
    executors = ceil((cores or ranges) / load.cores)
    memory = held / executors
    written, shuffled = sum(n.written for n in needs), sum(n.shuffled for n in needs)
    return Capacity(
        needs, ranges, cores, executors, memory, state, written, shuffled, tasks, driver, seconds, load.rate, limit
    )


def _fitting(
    total: float, longest: float, depth: int, least: int, load: Load, costs: Costs
) -> tuple[int | None, int, float, float]:
    """(the fewest cores on which a micro-batch ends within the trigger, its tasks, its seconds on the driver and in
    all); without enough cores, the figures of as many as there are ranges.  ``least``: the fewest cores with which the
    state has room."""
    cores = min(least, load.ranges or 1)
    while True:
        tasks = cores * (depth + 1)
        driver = costs.floor + tasks * costs.task
        seconds = driver + max(total / cores, longest)
        if seconds <= load.trigger and cores >= least:
            return cores, tasks, driver, seconds
        if cores >= (load.ranges or 1):
            return None, tasks, driver, seconds
        cores = min(load.ranges or 1, cores + max(1, cores // 16))


def _alone(need: Need, load: Load) -> float:
    """Bytes of memory for the state and the rows of the task that has most of them."""
    part = max(1 / need.tasks, load.hot if need.mode == "keyed" else 0.0)
    return 2 * (need.state + need.shuffled * load.trigger) * part


def _busiest(need: Need) -> str:
    """Why a task takes as long as it does."""
    if need.tasks == 1:
        return f"{_names(need)}: one task does all the work, because there is no partition key"
    return f"{_names(need)}: one task evaluates the most frequent key; {need.split}"


def _names(need: Need) -> str:
    return ", ".join(need.types[:4])


def _rates(stage: Stage, load: Load) -> dict[str, float]:
    """Events per second by type."""
    given = sorted(t for t in stage.inputs if t not in stage.defined)
    rest = [t for t in given if t not in load.shares]
    left = max(0.0, 1 - sum(load.shares.values()))
    return {t: load.rate * load.shares.get(t, left / len(rest) if rest else 0.0) for t in given}


def _need(lane: Lane, load: Load, costs: Costs, rates: Mapping[str, float]) -> Need:
    group, stage = lane.group, lane.group.stage
    tick = (stage.kind.tick or 1) / 1_000_000
    columns = group.needs(everything=False)
    width = {t: _width(stage, t, columns.get(t)) for t in stage.inputs}
    read = {t: rates[t] for t in stage.inputs if t in rates}
    kept = {t: n * stage.retention.get(t, 0) * tick for t, n in read.items()}
    rows = sum(read.values())
    waiting = rows * load.watermark
    sizes = {d.size for d in stage.definitions}
    bindings = load.keys * sum(d.size == "bindings" for d in stage.definitions)
    state = sum(n * (width[t] + NUMBER) for t, n in kept.items()) + bindings * (TEXT + ROW)
    mean = sum(n * width[t] for t, n in read.items()) / rows if rows else 0.0
    state += waiting * mean
    batch = rows * load.trigger
    again = sum(max(0.0, log2(max(1.0, span / load.trigger / PIECES))) for span in (load.watermark, _span(stage, tick)))
    # rows that wait, rows of the past, and rows in place of what operators keep
    written = batch * mean * (bool(load.watermark) + bool(sum(kept.values())) + bool(bindings) + again)
    split = group.mode in ("keyed", "free")
    tasks = (load.ranges or 1) if split else len(connected(stage.definitions, set(stage.defined)))
    seconds = batch * costs.row + bindings * costs.key
    seconds += tasks * (costs.range + costs.rule * len(stage.definitions))
    even = seconds / tasks
    hot = batch * load.hot * costs.row if group.mode == "keyed" else 0.0
    return Need(
        tuple(stage.reported), group.mode, tasks, rows, rows * mean, sum(kept.values()) + bindings, waiting, state,
        written, "grows" not in sizes, group.split, seconds, max(even, hot),
    )  # fmt: skip


def _span(stage: Stage, tick: float) -> float:
    return max(stage.retention.values(), default=0) * tick


def _width(stage: Stage, type: str, needed: set[str] | None) -> int:
    """Bytes of a row that crosses; ``needed``: its attributes, None: all."""
    schema = stage.schemas.get(type, ())
    return ROW + sum(TEXT if kind in _TEXTS else NUMBER for n, kind in schema if needed is None or n in needed)
