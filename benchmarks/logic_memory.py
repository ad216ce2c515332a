"""Temporal triggers state by state over long histories: what is kept, and the memory of the process.

Histories are worked examples (temporal-logic.md, section 7) again and again, the numbers in them shuffled.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
from tests.laws.logic import program_of
from tests.textcases.logic import LogicCase, load_cases

import occurs
from benchmarks import logic_work
from benchmarks.report import Report
from occurs.engine.engine import Engine
from occurs.hosts.local import history_rows
from occurs.languages.logic import define
from occurs.languages.logic.compile import GROWS
from occurs.operators.temporal.general import General
from occurs.options import InputOptions

CASES = Path(__file__).parents[1] / "tests" / "cases" / "logic" / "worked.md"
_OPTIONS = InputOptions(time_unit="ms")


@contextmanager
def state_by_state() -> Iterator[None]:
    """Nothing goes over columns."""
    # what finds instances that can fire no more is chosen apart
    with patch.multiple(define, operator_of=General, noticing_of=General):
        yield


#: calls that are made; then they come again
POOL = 5


class History:
    """Calls of about ``per_call`` states: the rows of ``tables`` (one per type) again and again, each tile later than
    the one before; of every second value that is no key and no text is another one."""

    def __init__(self, tables: Mapping[str, pa.Table], keys: Mapping[str, Sequence[str]], per_call: int) -> None:
        self.tables, self.keys = tables, keys
        times = {t for table in tables.values() for t in table["time"].to_pylist()}
        self.tiles = max(1, per_call // len(times))
        self.states = self.tiles * len(times)
        self.tile = max(times) - min(times) + 3
        self.rng = random.Random(1)
        self.pool: list[dict[str, pa.Table]] = []
        self.number = 0

    def call(self) -> dict[str, pa.Table]:
        """The rows of the next call."""
        if len(self.pool) < POOL:
            made = {n: pa.Table.from_pylist(list(self._rows(n, t)), t.schema) for n, t in self.tables.items()}
            self.pool.append(made)
        start = pa.scalar(self.number * self.tiles * self.tile)
        found = self.pool[self.number % POOL]
        self.number += 1
        return {
            n: t.set_column(t.schema.get_field_index("time"), "time", pc.add(t["time"], start))
            for n, t in found.items()
        }

    def _rows(self, name: str, table: pa.Table) -> Iterator[dict[str, object]]:
        own = table.to_pylist()
        fixed = {"time", "sequence", *self.keys.get(name, ())}
        free = {
            c: [r[c] for r in own]
            for c, t in zip(table.column_names, table.schema.types, strict=True)
            if c not in fixed and not pa.types.is_string(t)
        }
        for tile in range(self.tiles):
            for row in own:
                new = {c: self._like(v) for c, v in free.items() if self.rng.random() < 0.5}
                yield {**row, **new, "time": row["time"] + tile * self.tile}

    def _like(self, values: Sequence[object]) -> object:
        """One of the values, or a number between them."""
        numbers = [v for v in values if type(v) is int]
        if numbers and self.rng.random() < 0.7:
            return self.rng.randint(min(numbers) - 1, 2 * max(numbers) + 1)
        return self.rng.choice(values)


@dataclass(frozen=True)
class Kept:
    """After so many states: obligations, values and rows; bytes of saved state; live Python blocks; bytes of Arrow;
    of the process, in MiB."""

    states: int
    size: int
    saved: int
    blocks: int
    arrow: int
    process: float


def process() -> float:
    """MiB of this process that are in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def measured(program: occurs.Program, history: History, states: int, at: Sequence[float]) -> list[Kept]:
    """What there is after each of these parts of so many states.  No operator is that of columns."""
    with state_by_state():
        first = program.checked.history(history.tables, _OPTIONS)
        stage = program.checked.plan(first.schemas, first.kind)
    assert first.clock is not None
    engine, done, start, most = Engine(stage), 0, first.clock[0], 0
    out: list[Kept] = []
    marks = [int(part * states) for part in at]
    while done < states:
        given = program.checked.history(history.call(), _OPTIONS)
        assert given.clock is not None
        engine.advance(history_rows(stage, given, labelled=False), given.clock[1], start)
        done += history.states
        most = max(most, sum(k.size for k in engine.state.kept.values()))
        if marks and done >= marks[0]:
            marks.pop(0)
            del given
            gc.collect()
            saved = sum(map(len, engine.save().values()))
            out.append(Kept(done, most, saved, sys.getallocatedblocks(), pa.total_allocated_bytes(), process()))
            most = 0
    return out


def worked() -> Iterator[LogicCase]:
    """Worked examples of which less than the history is kept, each rule once per strategy."""
    seen = set()
    for case in load_cases(CASES):
        if case.error is None and (case.rules, case.strategy) not in seen:
            seen.add((case.rules, case.strategy))
            yield case


def bounded(program: occurs.Program, tables: Mapping[str, pa.Table]) -> bool:
    """Is something of each trigger forgotten?"""
    with state_by_state():
        given = program.checked.history(tables, _OPTIONS)
        return all(d.size != GROWS for d in program.checked.plan(given.schemas, given.kind).definitions)


def keys(case: LogicCase) -> dict[str, Sequence[str]]:
    """The columns by type that say what a row is about."""
    found: dict[str, list[str]] = {n: ["op", "old"] for n in (*case.analysis.tables, *case.analysis.states)}
    for name, table in case.analysis.tables.items():
        found[name] += [c.name.text for c in table.columns if c.key]
    return {n: tuple(c) for n, c in found.items()}


#: instances that come and go, with names that were not there before
COMING = """
table L(link string key, load int)
trigger m for each y in (select link from L{where}):
    eventually [x <- L(y)] eventually within 5 (L(y) >= 2*x) {strategy}
trigger n for each y in (select link from L{where}): L(y) > 3 until L(y) > 8 {strategy}
"""


class Coming(History):
    """Links that come, change and go."""

    def __init__(self, per_call: int) -> None:
        first = {"time": [1, 2, 3, 4], "link": ["a"] * 4, "load": [4, 6, 9, None], "op": [None] * 3 + ["delete"]}
        super().__init__({"L": pa.table(first)}, {"L": ("link", "op")}, per_call)

    def call(self) -> dict[str, pa.Table]:
        made = super().call()["L"]
        # what goes came a tile earlier
        times, ops = made["time"].to_pylist(), made["op"].to_pylist()
        names = pa.array([f"l{t // self.tile - (op is not None)}" for t, op in zip(times, ops)])
        return {"L": made.set_column(1, "link", names)}


#: what the table has
NAMES = (
    *(f"{name}, {strategy}" for name in logic_work.GENERAL for strategy in logic_work.STRATEGIES[:2]),
    "3 OVERLOAD, continue at most every 5",
    "3 PAST-OVERLOAD, continue at most every 5",
    "18 for each link in Chicago, continue",
    "coming and going, continue",
)


def histories(per_call: int, wanted: Collection[str] | None = None) -> Iterator[tuple[str, occurs.Program, History]]:
    """What is measured: name, program, history; those ``wanted`` (None: all)."""
    for strategy in logic_work.STRATEGIES[:2]:
        for what, where in (("", ""), (", by SQL", " group by link")):
            name = f"coming and going{what}, {strategy}"
            if wanted is None or name in wanted:
                text = COMING.format(where=where, strategy=strategy)
                yield name, occurs.parse(text, language="ftl"), Coming(per_call)
    for case in worked():
        if wanted is None or case.name in wanted:
            program, tables = program_of(case), case.tables()
            if bounded(program, tables):
                yield case.name, program, History(tables, keys(case), per_call)
    table = logic_work.states(per_call)
    for name, formula in {**logic_work.BOUNDED, **logic_work.GENERAL}.items():
        for strategy in logic_work.STRATEGIES[:2]:
            if wanted is None or f"{name}, {strategy}" in wanted:
                program = occurs.parse(logic_work.trigger(formula, strategy, c=10), language="ftl")
                if bounded(program, {"s": table}):
                    yield f"{name}, {strategy}", program, History({"s": table}, {}, per_call)


def memory(states: int, wanted: Collection[str] = NAMES) -> Report:
    """Rows kept, and the memory of the process, after a tenth, a half and all of the states."""
    out = Report(
        f"State by state over {states:,} states, {states // 100:,} a call: rows kept, at most, up to a tenth, from "
        "there to a half, from there to the end",
        [
            ("history", ""),
            ("values, rows, obligations", ""),
            ("bytes saved", ""),
            ("Python blocks more", ""),
            ("MiB of the process", ""),
        ],
        notes=["Wanted: nothing grows. Python blocks and MiB: after a tenth, a half, and all of the states."],
    )
    for name, program, history in histories(states // 100, wanted):
        found = measured(program, history, states, (0.1, 0.5, 1))
        blocks = [f"{k.blocks - found[0].blocks:,}" for k in found]
        sizes, saved = ([f"{n:,}" for n in column] for column in zip(*((k.size, k.saved) for k in found)))
        process = [f"{k.process:.1f}" for k in found]
        out.add(name, *(" / ".join(cells) for cells in (sizes, saved, blocks, process)))
    return out
