"""Pipes: the pipelines of the specification on a million events, widths of windows, what is kept.

The peer of the specification, BeepBeep 3, was not found on Maven Central (io.github.liflab, ca.uqac.lif): its rates
are those recorded elsewhere, for orientation; what is measured side by side is a plain Python loop over the same
prepared values.  All rates are of CPU-seconds of one process.
"""

from __future__ import annotations

import gc
import time as clock
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import occurs
from benchmarks import pipes_work
from benchmarks.pipes_work import EVENTS, Work
from benchmarks.report import Report, ratio
from occurs import pipes
from occurs.operators.process.run import Batch, Run, column_of
from occurs.pipes import fn

#: wanted of time windows, events per second, and of wide windows against narrow ones
TIME_WINDOWS, WIDTHS = 1e6, 1.5
#: wanted of ``detect``: times what ``run`` takes
DETECT = 2.0
#: positions that may be pending
PENDING = 100


def reports(quick: bool) -> Iterator[Report]:
    """All tables."""
    yield pipelines(3 if quick else 5)
    yield detections(3 if quick else 5)
    yield growth(3 if quick else 5)
    yield ways(3 if quick else 5, 2_000 if quick else 10_000)
    yield widths(3 if quick else 5)
    yield slices(3 if quick else 5)
    yield kept(100_000 if quick else EVENTS)


def seconds(run: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """The median of CPU-seconds after a warm-up, and the last result."""
    result, found = run(), []
    for _ in range(repetitions):
        result = None
        gc.collect()
        start = clock.process_time()
        result = run()
        found.append(clock.process_time() - start)
    return median(found), result


def ours(work: Work, values: Any, repetitions: int) -> tuple[float, tuple[int, Any]]:
    """Seconds for all events, and the checksum."""
    used, result = seconds(lambda: work.pipe.run(values, ended=work.ended), repetitions)
    return used, work.check(result)


def loop(work: Work, values: list[Any]) -> float:
    """Seconds of the plain loop; what comes out is dropped."""
    return seconds(lambda: deque(work.loop(values), maxlen=0), 3)[0]


def pipelines(repetitions: int) -> Report:
    """Each pipeline beside its loop.  AssertionError if a checksum is not that of the specification."""
    report = Report(
        "Pipes: a million events",
        [("pipeline", ""), ("M events/s", ".1f"), ("plain loop, M/s", ".2f"), ("ours / loop", ".1f"),
         ("BeepBeep as recorded, M/s", ".2f"), ("ours / recorded", ".1f"), ("wanted", ".1f")],
    )  # fmt: skip
    prepared: dict[bool, Any] = {False: pipes_work.numbers(EVENTS), True: pipes_work.symbols(EVENTS)}
    for work in pipes_work.works():
        values = prepared[work.symbols]
        used, checksum = ours(work, values, repetitions)
        assert checksum == work.wanted, (work.name, checksum, work.wanted)
        part = values[: EVENTS // 5].to_pylist() if work.symbols else values[: EVENTS // 5].tolist()
        rate, plain = EVENTS / used, len(part) / max(loop(work, part), 1e-9)
        if work.wanted[0] == 0:
            plain = 0.0  # a loop that gives nothing has nothing to do
        report.add(
            work.name, rate / 1e6, plain / 1e6 or None, ratio(rate, plain or None),
            None if work.rate is None else work.rate / 1e6, ratio(rate, work.rate), work.target or None,
        )  # fmt: skip
    report.notes.append("checksums are those of pipes.md, section 9; `wanted`: ours to BeepBeep in one run")
    report.notes.append("BeepBeep is not on Maven Central: its rates were recorded, for orientation")
    return report


def detections(repetitions: int) -> Report:
    """Each pipeline as eSQL over a table: ``program.detect`` beside ``pipe.run``.  AssertionError for other results."""
    columns = [("pipeline", ""), ("detect, M/s", ".1f"), ("run, M/s", ".1f"), ("ratio", ".2f"), ("wanted", ".1f")]
    report = Report("eSQL: detect on a table of a million events", columns)
    for work in pipes_work.works():
        if work.name not in pipes_work.ESQL:
            continue
        values = (pipes_work.symbols if work.symbols else pipes_work.numbers)(EVENTS)
        program, table = occurs.parse(pipes_work.ESQL[work.name], "esql"), pipes_work.table(values)
        whole = partial(lambda p, t, ended: p.detect({"X0": t}, ended=ended)["Out"], program, table, work.ended)
        detected, found = seconds(whole, repetitions)
        assert len(found) == work.wanted[0], (work.name, len(found), work.wanted)
        used = seconds(partial(work.pipe.run, values, ended=work.ended), repetitions)[0]
        report.add(work.name, EVENTS / detected / 1e6, EVENTS / used / 1e6, detected / used, DETECT)
    return report


def growth(repetitions: int) -> Report:
    """What an event costs ``program.detect`` with more keys, with ties, without order."""
    columns = [("program", ""), ("input", ""), ("ns", ".0f"), ("ratio", ".2f"), ("wanted", ".1f")]
    report = Report("eSQL: cost by the input", columns)
    inputs: dict[str, tuple[float, dict[str, Any]]] = {
        "100 keys": (1.0, {"keys": 100}),
        "1,000,000 keys": (2.0, {"keys": 1_000_000}),
        "1,000 events per instant": (1.3, {"keys": 100, "ties": 1_000}),
        "half of the rows out of order": (1.4, {"keys": 100, "disorder": 0.5}),
    }
    for name, text in (
        ("SLICE EACH", "DEFINE Out AS SLICE EACH A WITH (THE SUM OF *.V) ON K."),
        ("WINDOW", "DEFINE Out AS GET (THE AVERAGE OF *) FROM A.V ON A WINDOW OF 5."),
    ):
        program, first = occurs.parse(text, "esql"), 0.0
        for what, (wanted, given) in inputs.items():
            table = pipes_work.keyed(EVENTS, **given)
            used = seconds(partial(lambda p, t: p.detect(t, time_unit="ms")["Out"], program, table), repetitions)[0]
            first = first or used
            report.add(name, what, used / EVENTS * 1e9, used / first, wanted)
    return report


def ways(repetitions: int, pushes: int) -> Report:
    """What other forms of the same values cost: plain texts, and one push per item.  For information."""
    report = Report(
        "Pipes: plain texts, and pushes",
        [("pipeline", ""), ("dictionary or numbers, M/s", ".1f"), ("plain texts, M/s", ".1f"), ("pushes/s", ",.0f")],
    )
    for work in pipes_work.works():
        if work.name in ("query5, 1.5", "ltl-bool, ended"):
            continue
        values = pipes_work.symbols(EVENTS) if work.symbols else pipes_work.numbers(EVENTS)
        used = seconds(partial(work.pipe.run, values, ended=work.ended), repetitions)[0]
        plain = None
        if work.symbols:
            texts = values.dictionary_decode()
            plain = EVENTS / seconds(partial(work.pipe.run, texts, ended=work.ended), repetitions)[0] / 1e6
        some = values[:pushes].to_pylist() if work.symbols else values[:pushes].tolist()
        report.add(work.name, EVENTS / used / 1e6, plain, pushes / seconds(partial(_pushed, work.pipe, some), 1)[0])
    return report


def _pushed(pipe: pipes.Pipe, values: list[Any]) -> int:
    """How many values came out, told by a callback."""
    out: list[Any] = []
    run = pipe.open()
    run.on_event(out.append)
    for value in values:
        run.push(value)
    return len(out)


def widths(repetitions: int) -> Report:
    """What an event costs in windows of 10 and of 10 000."""
    report = Report(
        "Windows: cost by width", [("inside", ""), ("10, ns", ".0f"), ("10 000, ns", ".0f"), ("ratio", ".2f")]
    )
    x = pipes.source("x", type=int)
    values = pipes_work.numbers(EVENTS)
    for name, inner in (("sum", fn.add), ("greatest", fn.maximum)):
        cost = []
        for width in (10, 10_000):
            pipe = x.window(width, lambda p, f=inner: p.cumulate(f))
            cost.append(seconds(partial(pipe.run, values), repetitions)[0] / EVENTS * 1e9)
        report.add(name, *cost, cost[1] / cost[0])
    report.notes.append(f"wanted: at most {WIDTHS}")
    return report


def slices(repetitions: int) -> Report:
    """What an event costs with the number of slices."""
    numbers = (10, 1_000, 10_000, 100_000)
    columns = [(f"{n:,}, ns", ".0f") for n in numbers]
    report = Report("Slices: cost by number", [("processor", ""), *columns, ("last / first", ".2f")])
    x = pipes.source("x", type=int)
    # each value once, so that the sums are alike
    values = 7919 * np.arange(EVENTS) % EVENTS
    for name in ("SLICE, sizes", "SLICE EACH"):
        cost = []
        for number in numbers:
            key = fn(f"$0 MOD {number}")
            sliced = x.slice(key, _total) if name == "SLICE, sizes" else x.slice_each(key, _total)
            pipe = fn.size(sliced) if name == "SLICE, sizes" else sliced.value
            cost.append(seconds(partial(pipe.run, values), repetitions)[0] / EVENTS * 1e9)
        report.add(name, *cost, cost[-1] / cost[0])
    report.notes.append("slices lie anywhere in memory: slices outside the nearest caches cost their misses")
    return report


def _total(p: pipes.Pipe) -> pipes.Pipe:
    return p.cumulate(fn.add)


def kept(events: int) -> Report:
    """Rows of the state while a long history goes by in batches, and slices of which all but 1000 have ended."""
    report = Report("Rows kept", [("pipeline", ""), ("events", ",d"), ("most rows", ",d"), ("wanted", ",d")])
    works = {w.name: w for w in pipes_work.works()}
    for name in ("ltl-filter", "ltl-troolean"):
        values = pipes_work.symbols(events)
        report.add(name, events, _most(works[name].pipe, values, events), PENDING)
    x = pipes.source("x", type=int)
    ending = x.slice(fn("$0 DIV 2"), lambda p: p.cumulate(fn.add), until=fn("$0 >= 0"))
    every = fn.size(x.slice(fn("$0 MOD 1000"), lambda p: p.cumulate(fn.add)))
    # as many slices as events; those of the last thousand go on
    most = fn.size(x.slice(fn("$0"), lambda p: p.cumulate(fn.add), until=fn(f"$0 < {events - 1000}")))
    report.add("slices that end at once", events, _most(fn.size(ending), np.arange(events), events), 10)
    report.add("slices that end but for 1000", events, _most(most, np.arange(events), events), 10_000)
    report.add("1000 slices that continue", events, _most(every, np.arange(events), events), 10_000)
    return report


def _most(pipe: pipes.Pipe, values: Any, events: int) -> int:
    """The most rows that the state had after a batch of 10 000 events."""
    run = Run([pipe.graph])
    most = 0
    (name,) = pipes.running.types_of(pipe)
    for first in range(0, events, 10_000):
        part = values[first : first + 10_000]
        column = column_of(part.tolist()) if isinstance(part, np.ndarray) else column_of(part.to_pylist())
        times = np.arange(first, first + len(part))
        run.advance(Batch(times, {name: (np.arange(len(part)), column)}))
        most = max(most, run.rows())
    return most
