"""Events one by one: the time of one push with one rule of each language, with many keys and with many rules.

A push has the next event of a history at distinct times, so that every push completes an instant.  Times are of the
wall clock, per event; of several runs, each with a live run of its own, the one with the least median counts.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import mean, median
from time import perf_counter_ns
from typing import Any

import pyarrow as pa

import occurs
from benchmarks.report import Report

#: wanted of one event pushed, µs: median and 99th percentile
ONE, RARE = 25.0, 60.0
#: wanted of events pushed together, µs per event: how many together, and the time
TOGETHER = ((100, 3.0), (1_000, 1.0))
#: keys of the events, unless there are many
KEYS = 10
#: keys of which something is kept
MANY = (10, 10_000, 100_000)

Event = tuple[str, int, dict[str, Any]]


@dataclass(frozen=True)
class Work:
    """One rule of a language."""

    name: str
    language: str
    rules: str
    schemas: dict[str, dict[str, str]] | None = None

    def live(self) -> occurs.Live:
        """A new live run."""
        return occurs.parse(self.rules, self.language).live(self.schemas, time_unit="ms")


_TYPED = {"A": {"K": "int", "V": "int"}, "B": {"K": "int", "V": "int"}}
WORKS = (
    Work(
        "TESLA",
        "tesla",
        """event A(K: int, V: int) event B(K: int, V: int)
        define Found(K, V) from B(K = $k) and last A(K = $k, V > 45) within 100 ms from B where K = $k, V = A.V""",
    ),
    Work(
        "EPL",
        "epl",
        """create schema A(K int, V int); create schema B(K int, V int);
        insert into Found select a.K as K, a.V as V
        from pattern [every a=A(V > 45) -> b=B(K = a.K) where timer:within(100 msec)];""",
    ),
    Work(
        "Phenesthe",
        "phenesthe",
        "input event A(K: int, V: int), B(K: int, V: int). state Found(K) : A(K, V) ~> B(K, W).",
    ),
    Work(
        "FTL",
        "ftl",
        """table A (K int key, V int) table B (K int key, V int)
        trigger rises for each k in (select K from A):
            eventually [x <- A(k)] eventually within 100 ms (B(k) >= x + 40)
            emit Found(K = k)""",
    ),
    Work("eSQL", "esql", "DEFINE Found AS GET (THE AVERAGE OF *) FROM A.V ON A WINDOW OF 5.", _TYPED),
    Work(
        "MATCH_RECOGNIZE",
        "match_recognize",
        """CREATE VIEW Found AS SELECT * FROM A MATCH_RECOGNIZE (PARTITION BY K ORDER BY time
        MEASURES FIRST(D.V) AS top, LAST(D.V) AS low PATTERN (S D+ U)
        DEFINE D AS D.V < PREV(D.V), U AS U.V > PREV(U.V));""",
        _TYPED,
    ),
)


def hundred(work: Work) -> Work:
    """A hundred rules like the one of a work, each with a bound or a name of its own."""
    rule = {
        "tesla": "define", "epl": "insert", "phenesthe": "state", "ftl": "trigger", "esql": "DEFINE",
        "match_recognize": "CREATE",
    }[work.language]  # fmt: skip
    head, body = work.rules.split(rule, 1)
    out = []
    for n in range(100):
        one = body.replace("45", str(n % 90)).replace("+ 40", f"+ {n % 40}").replace("OF 5", f"OF {2 + n}")
        out.append(rule + one.replace("Found", f"Found{n}").replace("rises", f"rises{n}"))
    return Work(work.name, work.language, head + "\n".join(out), work.schemas)


def events(n: int, keys: int, seed: int = 7) -> list[Event]:
    """Events of two types at distinct times."""
    rng = random.Random(seed)
    return [(rng.choice("AB"), t, {"K": rng.randrange(keys), "V": rng.randrange(100)}) for t in range(n)]


def warmed(work: Work) -> occurs.Live:
    """A new live run, after another one that compiled the kernels."""
    other = work.live()
    for first in (0, 1):
        other.push_many(table_of([(t, time + 50_000 * first, a) for t, time, a in events(50_000, KEYS)]))
    return work.live()


def one_by_one(work: Work, given: list[Event], warm: int) -> list[int]:
    """The nanoseconds of each push, sorted; the first ``warm`` ones do not count."""
    live = warmed(work)
    push, out = live.on_event, []
    for type, time, attributes in given[:warm]:
        push(type, time, attributes)
    gc.collect()
    for type, time, attributes in given[warm:]:
        start = perf_counter_ns()
        push(type, time, attributes)
        out.append(perf_counter_ns() - start)
    return sorted(out)


def together(work: Work, given: list[Event], size: int, warm: int) -> list[int]:
    """The nanoseconds per event of each call with ``size`` events, sorted; the first ``warm`` calls do not count."""
    live = warmed(work)
    calls = [table_of(given[at : at + size]) for at in range(0, len(given) - size + 1, size)]
    for table in calls[:warm]:
        live.push_many(table)
    gc.collect()
    out = []
    for table in calls[warm:]:
        start = perf_counter_ns()
        live.push_many(table)
        out.append((perf_counter_ns() - start) // size)
    return sorted(out)


def table_of(given: list[Event]) -> pa.Table:
    """Events as one table with a type column."""
    columns = {name: [attributes[name] for *_, attributes in given] for name in ("K", "V")}
    return pa.table({"type": [type for type, *_ in given], "time": [time for _, time, _ in given], **columns})


def check(work: Work, given: list[Event]) -> int:
    """The number of detections; AssertionError if events pushed together give others than events one by one."""
    one, other = work.live(), work.live()
    alone = [row for event in given for row in one.on_event(*event)] + one.close()
    some = [row for at in range(0, len(given), 70) for row in other.push_many(table_of(given[at : at + 70]))]
    some += other.close()
    if sorted(map(str, alone)) != sorted(map(str, some)):
        raise AssertionError(f"{work.name}: {len(alone)} detections one by one, {len(some)} together")
    return len(alone)


def percentile(found: list[int], p: float) -> float:
    """In microseconds, of ascending nanoseconds."""
    return found[min(len(found) - 1, int(len(found) * p))] / 1000


def best(run: Callable[[], list[int]], repetitions: int) -> list[int]:
    """Of several runs the one with the least median."""
    return min((run() for _ in range(repetitions)), key=median)


def reports(quick: bool) -> Iterator[Report]:
    """The tables of this part."""
    yield single(3 if quick else 5, 3_000 if quick else 6_000)
    yield many(3 if quick else 5, 20 if quick else 60)
    yield kept(3 if quick else 5, 1_000 if quick else 3_000)


def single(repetitions: int, count: int) -> Report:
    """One event pushed."""
    report = Report(
        "One event pushed: microseconds",
        [("program", ""), ("median", ".1f"), ("p99", ".1f"), ("detections", ",d")],
        notes=[f"Wanted with one rule and {KEYS} keys: a median of {ONE:.0f} and a p99 of {RARE:.0f}."],
    )
    warm = count // 4
    for work in WORKS:
        for what, own, keys, size in (
            ("one rule", work, KEYS, count),
            ("10,000 keys", work, 10_000, count),
            ("100 rules", hundred(work), KEYS, count // 5),
        ):
            given = events(size, keys)
            found = best(partial(one_by_one, own, given, min(warm, size // 4)), repetitions)
            name = f"{work.name}, {what}"
            report.add(name, percentile(found, 0.5), percentile(found, 0.99), check(own, given[: size // 4]))
    return report


def many(repetitions: int, calls: int) -> Report:
    """Events pushed together."""
    wanted = ", ".join(f"of {size:,} events {most:.0f}" for size, most in TOGETHER)
    report = Report(
        "Events pushed together: microseconds per event",
        [("program", ""), ("events", ",d"), ("median", ".2f"), ("p99", ".2f")],
        notes=[f"Wanted: {wanted}."],
    )
    for work in WORKS:
        for size, _ in TOGETHER:
            given = events(size * calls, KEYS)
            found = best(partial(together, work, given, size, calls // 4), repetitions)
            report.add(work.name, size, percentile(found, 0.5), percentile(found, 0.99))
    return report


def kept(repetitions: int, count: int) -> Report:
    """One event pushed when much is kept: every key has had events before."""
    report = Report(
        "One event pushed, with what is kept of many keys: microseconds",
        [("program", ""), ("keys", ",d"), ("mean", ".1f"), ("to the fewest keys", ".2f")],
        notes=["An event of a key costs the same, whatever is kept of other keys: wanted is a ratio near 1."],
    )
    for work in WORKS:
        fewest = 0.0
        for keys in MANY:
            found = [mean(after(work, keys, count)) / 1000 for _ in range(repetitions)]
            fewest = fewest or min(found)
            report.add(work.name, keys, min(found), min(found) / fewest)
    return report


def after(work: Work, keys: int, count: int) -> list[int]:
    """The nanoseconds of each push, after one event or more of every key."""
    live, rng = warmed(work), random.Random(7)
    order = [k for _ in range(max(1, 2_000 // keys)) for k in rng.sample(range(keys), keys)]
    before = [(rng.choice("AB"), t, {"K": k, "V": rng.randrange(100)}) for t, k in enumerate(order)]
    for at in range(0, len(before), 20_000):
        live.push_many(table_of(before[at : at + 20_000]))
    out = []
    for type, time, attributes in events(count, keys):
        start = perf_counter_ns()
        live.on_event(type, len(before) + time, attributes)
        out.append(perf_counter_ns() - start)
    return out[count // 4 :]
