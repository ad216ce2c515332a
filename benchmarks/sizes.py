"""How the cost of a program grows with its rules, with the types of its input, and with their columns.

Every program of :data:`GROWING` is made for a number of rules or columns; ten times as many should cost ten times as
much.  Times are CPU-seconds of this process, as the machine may have other work.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import occurs
from benchmarks.report import Report
from benchmarks.timing import Job, alternate
from occurs.hosts.local import run_history
from occurs.hosts.spark.wide import Wide
from occurs.hosts.stream.batches import StreamQuery
from occurs.hosts.stream.layout import Layout, Path
from occurs.hosts.stream.records import FOUND, Record, batch, to_blob
from occurs.model.history import InputOptions
from occurs.plan.lanes import lanes
from occurs.plan.partitioning import groups

#: language, text, types of the input, their columns beside key and value
Grown = tuple[str, str, int, int]


def tesla_types(n: int) -> Grown:
    """Every rule reads types of its own."""
    rule = "define R{0}(K, V) from T{0}(k = $k) and last T{1}(k = $k) within 5 s from T{0} where K = $k, V = T{1}.v;\n"
    return "tesla", "".join(rule.format(i, (i + 1) % n) for i in range(n)), n, 0


def tesla_chain(n: int) -> Grown:
    """Every rule reads what the one before derives."""
    rules = "".join(f"define R{i}(K) from R{i - 1}(K = $k) where K = $k;\n" for i in range(1, n))
    return "tesla", "define R0(K) from T0(k = $k) where K = $k;\n" + rules, 1, 0


def tesla_recursive(n: int) -> Grown:
    """Rules that read their own output."""
    one = "define R{0}(K, N) from T0(k = $k) where K = $k, N = 1;\n"
    two = "define R{0}(K, N) from T1(k = $k) and last R{0}(K = $k) within 3 s from T1 where K = $k, N = R{0}.N + 1;\n"
    return "tesla", "".join((one + two).format(i) for i in range(n)), 2, 0


def tesla_subscribed(n: int) -> Grown:
    """Rules that are not connected, each subscribed to."""
    rule = "define R{0}(K) from T0(k = $k) and last T1() within 1 s from T0 where K = $k;\n"
    return "tesla", "".join(map(rule.format, range(n))) + "".join(f"Subscribe(R{i})\n" for i in range(n)), 2, 0


def tesla_columns(n: int) -> Grown:
    """A rule with many attributes."""
    names = [f"c{i}" for i in range(n)]
    given = ", ".join(f"A{c} = T0.{c}" for c in names)
    return "tesla", f"define R({', '.join(f'A{c}' for c in names)}) from T0(k = $k) where {given};\n", 1, n


def epl_rules(n: int) -> Grown:
    """Sequences that share no types."""
    rule = "@Name('R{0}') select a.k as k from pattern [every a=T{0} -> b=T{1}(k=a.k)];\n"
    return "epl", "".join(rule.format(i, (i + 1) % n) for i in range(n)), n, 0


def epl_chain(n: int) -> Grown:
    """Every statement reads what the one before inserts."""
    rules = "".join(f"insert into R{i} select a.k as k from pattern [every a=R{i - 1}];\n" for i in range(1, n))
    return "epl", "insert into R0 select a.k as k from pattern [every a=T0];\n" + rules, 1, 0


def epl_columns(n: int) -> Grown:
    """A statement with many columns."""
    return "epl", f"select {', '.join(f'a.c{i} as A{i}' for i in range(n))} from pattern [every a=T0];\n", 1, n


def phenesthe_chain(n: int) -> Grown:
    """Every state is made of the one before."""
    rules = "".join(f"state s{i}(K) : s{i - 1}(K) ⊔ s{i - 1}(K).\n" for i in range(1, n))
    return "phenesthe", "input event t0(K, V), t1(K, V).\nstate s0(K) : t0(K, V) ~> t1(K, W).\n" + rules, 2, 0


def ftl_types(n: int) -> Grown:
    """Every trigger reads a table of its own."""
    tables = "".join(f"table T{i}(k int key, v int)\n" for i in range(n))
    return "ftl", tables + "".join(f"trigger R{i}: T{i}(1) = 3 until T{i}(1) = 9\n" for i in range(n)), n, 0


def esql_rules(n: int) -> Grown:
    """Pipes of a type each."""
    return "esql", "".join(f"DEFINE R{i} AS T{i} WHERE v > 3.\n" for i in range(n)), n, 0


GROWING = (
    tesla_types, tesla_chain, tesla_recursive, tesla_subscribed, tesla_columns, epl_rules, epl_chain, epl_columns,
    phenesthe_chain, ftl_types, esql_rules,
)  # fmt: skip


def events(language: str, types: int, columns: int) -> pa.Table:
    """Some rows of every type."""
    name, key, value = ("t", "K", "V") if language == "phenesthe" else ("T", "k", "v")
    of_type = [f"{name}{i % types}" for i in range(2 * types + 8)]
    at = np.arange(len(of_type))
    more = {f"c{i}": at for i in range(columns)}
    return pa.table({"type": of_type, "time": at * 100, key: at % 3, value: at % 7, **more})


#: the cost of a rule, type or column may grow by this
FLAT = 1.3


def parsed(grown: Callable[[int], Grown], n: int) -> tuple[occurs.Program, pa.Table]:
    """A program of a size, and events for it."""
    language, text, types, columns = grown(n)
    return occurs.parse(text, language=language), events(language, types, columns)


def asked(what: str, program: occurs.Program, table: pa.Table) -> Callable[[], Any]:
    """Something that users do with a program."""
    if what == "check":
        return program.check
    if what == "explain":
        return program.explain
    because = what == "because"
    return lambda: list(program.detect(table, time_unit="ms", because=because).values())


def micro_batch(program: occurs.Program, table: pa.Table) -> tuple[StreamQuery, pa.Table]:
    """A query on a stream, without Spark, and the records of a micro-batch with all that ``program`` finds."""
    history = program.checked.history(table, InputOptions(time_unit="ms"))
    stage = program.checked.plan(history.schemas, history.kind)
    paths = tuple(
        Path(lane, (), Wide.of(lane.group.stage, False, False), ())
        for lane in lanes(groups(stage.definitions, stage), 1)
    )
    layout = Layout(paths, 1, 1, 0, None, None, False, False, False, "benchmark")
    found = [
        Record(FOUND, 0, p.lane.number, blob=to_blob(piece))
        for p in paths
        for rows in run_history(p.lane.group.stage, history, labelled=False, ended=True)
        for piece in p.wide.batches(rows, p.lane.group.stage)
    ]
    query = StreamQuery(None, layout, stage.reported, False, False)  # type: ignore[arg-type]
    return query, pa.Table.from_batches([batch(found)])


def job(grown: Callable[[int], Grown], what: str, n: int) -> Job:
    """CPU-seconds of one thing that is done with a program of a size."""

    def run() -> float:
        # a program keeps its latest plan
        text = grown(n)
        begun = clock.process_time()
        if what == "parse":
            occurs.parse(text[1], language=text[0])
            return clock.process_time() - begun
        program, table = parsed(grown, n)
        if what == "read":
            query, rows = micro_batch(program, table)
            doing: Callable[[], Any] = lambda: query.read(rows)  # noqa: E731
        else:
            doing = asked("detect" if what == "again" else what, program, table)
            if what == "again":
                doing()
        begun = clock.process_time()
        doing()
        return clock.process_time() - begun

    return run


def by_size(few: int, times: int, repetitions: int) -> Report:
    """Microseconds per rule, type or column at two sizes, for every program and everything that is done with it."""
    many = few * times
    out = Report(
        f"Growth with the program: CPU µs per rule or column, {few:,} and {many:,} of them",
        [
            ("program", ""),
            ("what", ""),
            (f"{few:,}", ",.1f"),
            (f"{many:,}", ",.1f"),
            ("last / first", ".2f"),
            ("spread", ".2f"),
        ],
        notes=[
            f"Flat: {FLAT} or less.  *again*: the same program once more, with its plan kept.  *read*: what a sink "
            "does with the records of a micro-batch of all types.",
            "A chain of n definitions has n levels, and a call of the engine visits each.",
        ],
    )
    for grown, what in cases():
        found = alternate({str(n): job(grown, what, n) for n in (few, many)}, repetitions, budget=30)
        cost = [found[str(n)].median / n * 1e6 for n in (few, many)]
        spread = max(t.spread for t in found.values())
        out.add(grown.__name__.replace("_", ": "), what, *cost, cost[1] / cost[0], spread)
    return out


def cases() -> Iterator[tuple[Callable[[int], Grown], str]]:
    """What is measured: (program, what is done)."""
    for grown in GROWING:
        for what in ("parse", "check", "explain", "detect", "again"):
            yield grown, what
    yield from ((grown, "read") for grown in (tesla_types, epl_rules))
