"""Sequences of EPL: the engine, its operators, Esper and a plain Python loop, in turns, by CPU-seconds.

The matches of every repetition are counted: they must be the golden numbers of :mod:`benchmarks.eplwork`.
"""

from __future__ import annotations

import gc
import time as clock
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import median

import pyarrow as pa

import occurs
from benchmarks import eplwork, esper
from benchmarks.eplwork import JOBS, Events, Job
from benchmarks.jars import Unavailable
from benchmarks.report import Report, ratio
from occurs.engine.engine import Engine
from occurs.hosts.local import BUDGET, calls, history_rows
from occurs.model.history import History, InputOptions
from occurs.operators.contract import Call
from occurs.operators.merging import Stream, merged
from occurs.operators.rows import Rows
from occurs.operators.sequence.automaton import Automaton
from occurs.operators.sequence.chains import Chains
from occurs.plan.stage import Stage
from occurs.program import Program

_OPTIONS = InputOptions(time_unit="ms")

#: events per CPU-second of Esper 9 with one thread and an external clock, two quiet cores, 22 November 2026
RECORDED = {
    "seq2-1": 6.2e6, "seq2-100": 95e3, "seq2g-1000": 22e3, "seq3-1": 4.9e6, "absence-1": 5.8e6, "keyed-1": 6.2e6,
}  # fmt: skip

#: (CPU-seconds, seconds)
Cost = tuple[float, float]


@dataclass(frozen=True)
class Prepared:
    """The statements of a job planned for its events."""

    job: Job
    program: Program
    table: pa.Table
    history: History
    stage: Stage
    #: CPU-seconds that reading, checking and planning took
    planned: float

    @classmethod
    def of(cls, job: Job, events: Events) -> Prepared:
        table = events.table()
        start = clock.process_time()
        program = occurs.parse(job.text, language="epl")
        history = program.checked.history(table, _OPTIONS)
        stage = program.checked.plan(history.schemas, history.kind)
        return cls(job, program, table, history, stage, clock.process_time() - start)

    def rows(self) -> dict[str, Rows]:
        """The rows of every type in the total order; fresh ones, as they remember what was computed."""
        return history_rows(self.stage, self.history, labelled=False)

    def engine(self, rows: Mapping[str, Rows]) -> int:
        """All calls of a new engine: how many events it derives."""
        assert self.history.clock is not None
        start, until = self.history.clock
        engine = Engine(self.stage)
        done = [engine.advance(part, frontier, start) for frontier, part in calls(rows, until, BUDGET)]
        return sum(len(found.table(t)) for found in done for t in self.stage.reported)

    def whole(self) -> int:
        """From the table as it was loaded: intake, order, engine, a table per statement."""
        found = self.program.detect(self.table, time_unit="ms")
        return sum(len(found[t]) for t in found)

    # -- the operators alone -----------------------------------------------------------------------------------------
    @property
    def parts(self) -> list[Automaton]:
        return [part for o in self.stage.operators for part in o.parts if isinstance(part, Automaton)]

    @cached_property
    def operators(self) -> Chains:
        patterns = [part.pattern for part in self.parts]
        return Chains.of(patterns, self.history.schemas, self.history.kind)

    def stream(self, rows: Mapping[str, Rows]) -> Stream:
        """All events in one call."""
        assert self.history.clock is not None
        read = {t: rows[t] for part in self.parts for t in part.schemas}
        start, until = self.history.clock
        return merged(Call(read, None, until, start, self.history.kind))

    def together(self, stream: Stream) -> int:
        """One call of operators that share their look-ups: matches counted, no columns made."""
        _, found = self.operators.advance([{}] * len(self.parts), stream)
        return sum(len(f) for f in found)


def cost(run: Callable[[], int], job: Job) -> Cost:
    """Of one run, with its matches checked."""
    gc.collect()
    cpu, wall = clock.process_time(), clock.perf_counter()
    found = run()
    cpu, wall = clock.process_time() - cpu, clock.perf_counter() - wall
    job.check(found)
    return cpu, wall


def in_turns(jobs: Mapping[str, Callable[[], Cost]], repetitions: int, budget: float) -> dict[str, list[Cost]]:
    """All jobs once (that does not count), then in turns."""
    for run in jobs.values():
        run()
    found: dict[str, list[Cost]] = {name: [] for name in jobs}
    start = clock.perf_counter()
    for number in range(repetitions):
        if number and clock.perf_counter() - start > budget:
            break
        for name, run in jobs.items():
            found[name].append(run())
    return found


def report(chosen: tuple[Job, ...], repetitions: int, *, peer: bool = True, budget: float = 120.0) -> Report:
    """One row per job."""
    out = Report(
        "EPL: sequences in memory; events per CPU-second, one thread; all matches counted",
        [
            ("job", ""),
            ("rules", ",d"),
            ("events", ",d"),
            ("found", ",d"),
            ("operators", ",.0f"),
            ("engine", ",.0f"),
            ("detect", ",.0f"),
            ("Esper", ",.0f"),
            ("loop", ",.0f"),
            ("operators / Esper", ".1f"),
            ("engine / Esper", ".1f"),
            ("detect / Esper", ".1f"),
            ("engine / loop", ".1f"),
            ("plan s", ".2f"),
            ("Esper compiles s", ".1f"),
            ("spread", ".2f"),
            ("Esper*", ",.0f"),
        ],
        notes=[
            "operators: events in order, matches as rows, counted. engine: rows of each type in order; a table per "
            "statement. detect: from the table as loaded, plan included. Esper: events made and compiled beforehand, "
            "clock and events sent by one thread (whose CPU time counts, not that of collection and compilation), a "
            "listener that counts. loop: plain Python, once per rule. plan, compiles: CPU-seconds, seconds.",
            "spread: slowest by fastest run of `engine`. * recorded on 22 November 2026: shows what to expect.",
        ],
    )
    path = None
    if peer:
        try:
            path = esper.classes()
        except Unavailable as reason:
            out.notes.append(f"No Esper here: {reason}")
    for job in chosen:
        events = eplwork.events(job.events)
        prepared = Prepared.of(job, events)

        def operators(prepared: Prepared = prepared, job: Job = job) -> Cost:
            stream = prepared.stream(prepared.rows())
            return cost(lambda: prepared.together(stream), job)

        def engine(prepared: Prepared = prepared, job: Job = job) -> Cost:
            given = prepared.rows()
            return cost(lambda: prepared.engine(given), job)

        jobs: dict[str, Callable[[], Cost]] = {
            "operators": operators,
            "engine": engine,
            "detect": partial(cost, prepared.whole, job),
            "loop": partial(cost, partial(eplwork.plain, job.family, job.rules, events), job),
        }
        with ExitStack() as stack:
            compiled = None
            if path is not None:
                other = stack.enter_context(esper.running(job, path))
                jobs["esper"], compiled = other.run, other.compiled
            costs = in_turns(jobs, repetitions, budget)
        speed = {name: job.events / max(median(cpu for cpu, _ in of), 1e-9) for name, of in costs.items()}
        theirs = speed.get("esper")
        cpus = [cpu for cpu, _ in costs["engine"]]
        out.add(
            job.family,
            job.rules,
            job.events,
            job.found,
            speed["operators"],
            speed["engine"],
            speed["detect"],
            theirs,
            speed["loop"],
            ratio(speed["operators"], theirs),
            ratio(speed["engine"], theirs),
            ratio(speed["detect"], theirs),
            speed["engine"] / speed["loop"],
            prepared.planned,
            compiled,
            max(cpus) / max(min(cpus), 1e-9),
            RECORDED.get(f"{job.family}-{job.rules}"),
        )
    return out


def by_keys(counts: list[int], size: int, repetitions: int) -> Report:
    """`seq2` over the same events with more and more keys."""
    out = Report(
        f"EPL: seq2, one rule, {size:,} events; more keys",
        [("keys", ",d"), ("found", ",d"), ("operators", ",.0f"), ("engine", ",.0f"), ("by 1 key", ".2f")],
        notes=["Events per CPU-second. by 1 key: `engine` to that with the first number of keys; wanted within 1.5."],
    )
    given = {}
    for keys in counts:
        events = eplwork.events(size, keys)
        job = Job("seq2", 1, size, eplwork.plain("seq2", 1, events))
        given[keys] = (job, Prepared.of(job, events))
    jobs: dict[str, Callable[[], Cost]] = {}
    for keys, (job, prepared) in given.items():

        def engine(prepared: Prepared = prepared, job: Job = job) -> Cost:
            rows = prepared.rows()
            return cost(lambda: prepared.engine(rows), job)

        def operators(prepared: Prepared = prepared, job: Job = job) -> Cost:
            stream = prepared.stream(prepared.rows())
            return cost(lambda: prepared.together(stream), job)

        jobs[f"engine {keys}"], jobs[f"operators {keys}"] = engine, operators
    costs = in_turns(jobs, repetitions, 120.0)
    speed = {name: size / max(median(cpu for cpu, _ in of), 1e-9) for name, of in costs.items()}
    for keys, (job, _) in given.items():
        ours = speed[f"engine {keys}"]
        out.add(keys, job.found, speed[f"operators {keys}"], ours, ours / speed[f"engine {counts[0]}"])
    return out


def reports(quick: bool) -> Iterator[Report]:
    yield report(JOBS, 3 if quick else 7)
    yield by_keys([1, 100, 10_000], 200_000 if quick else 1_000_000, 3 if quick else 7)
