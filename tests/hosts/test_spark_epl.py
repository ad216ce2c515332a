"""EPL on Spark in batch: what this process finds, labels and constituents included, in one partition and in eight."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from eplcases import Batch, all_cases, combined, program_of, right
from hostcases import in_few_jobs, keywords
from tests.generators.random_epl import random_epl
from tests.textcases.epl import EplCase

import occurs
from occurs.model.occurrence import Occurrence
from occurs.plan.partitioning import groups
from occurs.program import Program
from occurs.verify.compare import occurrences_of

pytestmark = pytest.mark.spark
BATCHES, ALONE = combined(all_cases())
#: of those that run alone, the ones that are also in the fast run
FAST = {
    "values of a map by their keys",
    "a start before the first row",
    "overflow in a key",
    "months",
    "a schedule that repeats",
}


def rows_of(found: list[Occurrence]) -> list[str]:
    """With labels and constituents, in an order of their own."""
    return sorted(repr((e.type, e.time, sorted(e.attributes.items(), key=lambda a: a[0]))) for e in found)


def same(spark: Any, program: Program, table: Any, partitions: int, **options: Any) -> None:
    """Both hosts find the same."""
    local = program.detect(table, because=True, **options)
    here = {t: local.arrow(t) for t in local}
    frames = {t: spark.createDataFrame(x) for t, x in table.items()} if isinstance(table, dict) else None
    given = spark.createDataFrame(table) if frames is None else frames
    found = program.detect(given, because=True, partitions=partitions, **options)
    there = in_few_jobs(found, {t: table.schema for t, table in here.items()})
    found.unpersist()
    assert rows_of(there) == rows_of(occurrences_of(here))


def test_all_cases_are_here() -> None:
    names = [c.name for b in BATCHES for c in b.cases] + [c.name for c in ALONE]
    assert sorted(names) == sorted(c.name for c in all_cases())
    assert len(right(ALONE)) < len(right(all_cases())) / 4  # a case that is refused is no row of a batch


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(n, marks=[pytest.mark.slow, *[pytest.mark.long] * (n % 2)] if n else [])
        for n in range(len(BATCHES))
    ],
    ids=lambda n: BATCHES[n].name,
)
@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.long), 8])
def test_many_cases(spark: Any, number: int, partitions: int) -> None:
    batch: Batch = BATCHES[number]
    same(spark, batch.program, batch.table, partitions, **batch.options, zone=batch.cases[0].zone)


@pytest.mark.share(8)
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[] if c.name in FAST else pytest.mark.long, id=c.name) for c in ALONE if c.events]
)
def test_one_case(spark: Any, case: EplCase) -> None:
    options = {**keywords(case), "zone": case.zone}
    if case.error is None:
        same(spark, program_of(case), case.tables(), 8, **options)
        return
    frames = {t: spark.createDataFrame(table) for t, table in case.tables().items()}

    def run() -> None:
        found = program_of(case).detect(frames, partitions=8, **options)
        found.arrow(next(iter(found)))

    with pytest.raises(occurs.OccursError) as caught:
        run()
    assert caught.value.kind == case.error


@pytest.mark.slow
@pytest.mark.long
def test_random_programs(spark: Any) -> None:
    """One program of many, over one table."""
    cases = [random_epl(random.Random(seed)) for seed in range(60)]
    for batch in combined(cases)[0]:
        same(spark, batch.program, batch.table, 8, **batch.options, zone=batch.cases[0].zone)


# -- how programs are spread -------------------------------------------------------------------------------------------
SCHEMAS = "create schema A(k int, g int, v int); create schema B(k int, g int, v int);\n"
PAIRS = "insert into P select a.k as k, a.v as v, b.v as w from pattern [every a=A -> b=B(k=a.k)];\n"


def table_of(seed: int, n: int = 60) -> pa.Table:
    rng = random.Random(seed)

    def one(high: int) -> pa.Array:
        return pa.array([rng.randint(0, high) for _ in range(n)])

    kinds = pa.array([rng.choice("ABC") for _ in range(n)])
    return pa.table({"type": kinds, "time": one(20), "sequence": one(3), "k": one(3), "g": one(2), "v": one(5)})


def modes(program: Program) -> list[tuple[str, tuple[str, ...]]]:
    stage = program.checked.plan_without_data("ms")
    return [(g.mode, g.stage.defined) for g in groups(stage.definitions, stage)]


def test_keyed_chains_and_what_has_no_key(spark: Any) -> None:
    chain = PAIRS + "insert into Q select p.w as w, b.v as x from pattern [every p=P -> b=B(k=p.k)];"
    program = occurs.parse(SCHEMAS + chain, language="epl")
    assert modes(program) == [("keyed", ("P", "Q"))]
    same(spark, program, table_of(1), 4, time_unit="ms")
    # another key behind: places in the order would be lost, so both are in one partition, and `check` says so
    other = PAIRS + "insert into Q select p.w as w, b.v as x from pattern [every p=P -> b=B(v=p.v)];"
    program = occurs.parse(SCHEMAS + other, language="epl")
    assert modes(program) == [("single", ("P", "Q"))]
    assert any(p.kind == "global-stage" for p in program.check())
    same(spark, program, table_of(2), 4, time_unit="ms")
    # one row at a time: no shuffle
    single = occurs.parse(SCHEMAS + "select a.v + 1 as v from A(v > 2) as a;", language="epl")
    assert modes(single) == [("free", ("stmt_1",))]
    same(spark, single, table_of(3), 4, time_unit="ms")


def test_timers_go_on_where_no_row_is(spark: Any) -> None:
    """The clock is that of all rows, also of those that nobody reads."""
    text = (
        SCHEMAS
        + """
    insert into Missing select a.k as k from pattern [every a=A -> (timer:interval(5 msec) and not B(k=a.k))];
    insert into Ticks select 1 as one from pattern [every timer:interval(7 msec)];
    """
    )
    program = occurs.parse(text, language="epl")
    assert sorted(m for m, _ in modes(program)) == ["keyed", "single"]
    table = table_of(4, 20)
    far = pa.table({"type": ["Other", "Other"], "time": [-40, 90]})
    both = pa.concat_tables([table, far], promote_options="default")
    found = program.detect(both, time_unit="ms")
    assert found.arrow("Ticks").column("time").to_pylist() == list(range(-33, 91, 7))
    same(spark, program, both, 4, time_unit="ms")


def test_with_other_languages(spark: Any) -> None:
    tesla = """
    event A(k: int, g: int, v: int) event B(k: int, g: int, v: int)
    define Seen(k: int, w: int) from B() as b and last P(k = b.k) as p within 9 ms from b where k := b.k, w := p.w
    """
    epl = SCHEMAS + PAIRS + "insert into Twice select s.k as k from pattern [every s=Seen -> t=Seen(k=s.k)];"
    phenesthe = "event odd(K) : Seen(K, W) and W > 2."
    program = Program([(tesla, None, "tesla"), (epl, None, "epl"), (phenesthe, None, "phenesthe")])
    assert modes(program) == [("keyed", ("P", "Seen", "Twice", "odd"))]
    same(spark, program, table_of(5), 4, time_unit="ms")
