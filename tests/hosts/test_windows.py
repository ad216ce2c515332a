"""Window mode as a user runs it: the text cases, random programs against the reference, queries, what is refused."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from test_local_lasting import CASES, input_of, line, program_of
from tests.amount import first
from tests.generators.random_phenesthe import random_program
from tests.generators.random_phenesthe_shrink import text_of
from tests.textcases.phenesthe import LastingCase, Line, Loaded, load_lasting_cases

import occurs
from occurs.engine.engine import Engine
from occurs.errors import OccursError
from occurs.hosts.local import calls, history_rows, run_windows
from occurs.hosts.windows import answers as answers_of
from occurs.model.history import InputOptions
from occurs.options import Window
from occurs.program import Program

WINDOWS = [c for c in CASES if c.mode == "window" and c.expected is not None]


def lengths(case: LastingCase, window: int, step: int) -> dict[str, Any]:
    """The options of windows of so many ticks."""
    if case.kind.timestamp:
        return {"window": timedelta(microseconds=window), "step": timedelta(microseconds=step)}
    return {"window": window, "step": step}


def answers(case: LastingCase, window: int, step: int) -> dict[int, list[Line]]:
    """What is found by query, with rows that come twice; queries without rows are not there."""
    tables, options = input_of(case)
    found = program_of(case).detect(tables, facts=Loaded(case).fact_tables(), **options, **lengths(case, window, step))
    done = {type: found.arrow(type) for type in found}
    assert {type: found.count(type) for type in found} == {type: len(table) for type, table in done.items()}
    return by_query(done)


def by_query(tables: Mapping[str, pa.Table]) -> dict[int, list[Line]]:
    """Detections as they compare, by query; in each table queries are in order."""
    out: dict[int, list[Line]] = {}
    for type, table in tables.items():
        plain = {}
        for name in table.column_names:
            column = table.column(name)
            plain[name] = (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
        assert plain["query"] == sorted(plain["query"])
        names = [n for n in plain if n not in ("type", "time", "end", "query")]
        for i, query in enumerate(plain["query"]):
            when = tuple(plain[n][i] for n in ("time", "end") if n in plain)
            out.setdefault(query, []).append(line(type, {n: plain[n][i] for n in names}, when))
    return out


def same(got: dict[int, list[Line]], wanted: dict[int, set[Line]], told: str) -> None:
    for query in sorted({*got, *wanted}):
        one, other = sorted(got.get(query, []), key=repr), sorted(wanted.get(query, set()), key=repr)
        assert one == other, f"{told}\nat {query}\nfound: {one}\nexpected: {other}"


@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_every_query_gives_what_is_written(case: LastingCase) -> None:
    assert case.expected is not None
    wanted = {int(at or 0): Loaded(case).lines(rows) for at, rows in case.expected.items()}
    same(answers(case, case.times["window"], case.times["step"]), wanted, case.name)


def check(seed: int) -> None:
    """A random program in windows as the reference sees it, which looks at the whole history at every query."""
    rng = random.Random(seed)
    case = random_program(rng)
    ends = [t for r in case.rows for t in (r.time, r.end) if t is not None]
    span = max(ends, default=0) - min(ends, default=0)
    step = max(1, span // rng.choice((1, 2, 3, 5)) + rng.choice((-1, 0, 1)))  # the reference takes its time
    times = {"step": step, "window": step + rng.choice((0, 1, step // 2, 2 * step, 10 * step))}
    if ends and rng.random() < 0.4:
        times["start"] = rng.randint(min(ends) - 3, max(ends) + 1)
    other = LastingCase(**{**vars(case), "mode": "window", "times": times})
    told = f"seed {seed} {times}\n{text_of(case)}"
    try:
        wanted: dict[int, set[Line]] | type[OccursError] = Loaded(other).windows()
    except OccursError as error:
        wanted = type(error)
    try:
        got: dict[int, list[Line]] | type[OccursError] = answers(other, times["window"], step)
    except OccursError as error:
        got = type(error)
    if isinstance(wanted, type) or isinstance(got, type):
        assert got == wanted, told
    else:
        same(got, wanted, told)


@pytest.mark.parametrize("tens", first(range(10), 3))
def test_random_programs(tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        check(seed)


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(30))
def test_however_rows_come(seed: int) -> None:
    """Rows may go into the engine before their query, and answers may be given in parts: each row with its queries."""
    rng = random.Random(seed)
    case = random_program(rng)
    tables, options = input_of(case)
    program = program_of(case).checked.adjusted(facts=Loaded(case).fact_tables(), **lengths(case, 100, 100))
    history = program.history(tables, InputOptions(**options))
    if history.clock is None:
        return
    stage = program.plan(history.schemas, history.kind)
    step = max(1, (history.clock[1] - history.clock[0]) // rng.choice((1, 4, 9)))
    window = Window(step * rng.choice((1, 2, 30)) + rng.choice((0, 1)), step)
    whole = run_windows(stage, history, window, started=False, labelled=True)
    asked, rows = whole.asked, history_rows(stage, history, True)
    engine = Engine(stage, labelled=True)
    parts = [*answers_of(engine, calls(rows, asked.at[-1], rng.choice((1, 3, 7))), asked, history.clock[0], 4)]
    for type in stage.found:
        found = [part.table(type, label=True) for part in parts]
        want = whole.table(type, label=True)
        order = [("query", "ascending"), ("label", "ascending")]
        assert pa.concat_tables(found).sort_by(order).to_pylist() == want.sort_by(order).to_pylist()
        once = [row for part in parts if part.count(type) for row in part.once(type, label=True).to_pylist()]
        told = [(row["query"] + n * window.step, row["label"]) for row in once for n in range(row["times"])]
        if not case.kind.timestamp:
            assert sorted(told) == sorted((row["query"], row["label"]) for row in want.to_pylist())


# --- queries, and what is refused -------------------------------------------------------------------------------------

PROGRAM = "input event a, b. state s : a ~> b. event n : a."
ROWS = {"a": [7, 20], "b": [12]}


def tables() -> dict[str, pa.Table]:
    return {t: pa.table({"time": pa.array(times, pa.int64())}) for t, times in ROWS.items()}


@pytest.mark.parametrize(
    ("clock", "started", "step", "expected"),
    [
        ((7, 20), False, 5, [10, 15, 20]),
        ((10, 20), False, 5, [10, 15, 20]),
        ((10, 21), False, 5, [10, 15, 20, 25]),
        ((-7, 3), False, 5, [-5, 0, 5]),
        ((7, 20), True, 5, [12, 17, 22]),
        ((7, 7), False, 5, [10]),
        ((7, 7), True, 5, [12]),
    ],
)
def test_queries(clock: tuple[int, int], started: bool, step: int, expected: list[int]) -> None:
    assert list(Window(step, step).queries(clock, started)) == expected


def test_the_columns_and_the_order() -> None:
    found = occurs.parse(PROGRAM, "phenesthe").detect(tables(), time_unit="s", window="10 s", step=5, with_label=True)
    assert found["s"].column_names == ["type", "time", "end", "query", "label"]
    rows = found["s"].select(["time", "end", "query"]).to_pylist()
    assert [tuple(r.values()) for r in rows] == [(7, None, 10), (7, 12, 15), (7, 12, 20), (20, None, 20)]
    label = found["s"].column("label").to_pylist()
    assert label[0] == label[1] == label[2] != label[3]
    assert found["n"].column_names == ["type", "time", "query", "label"]
    assert found["n"].column("query").to_pylist() == [10, 15, 20]


def test_the_end_of_the_clock_is_that_of_the_queries() -> None:
    found = occurs.parse(PROGRAM, "phenesthe").detect(tables(), time_unit="s", window=10, step=5, start=0, until=11)
    assert found["s"].select(["time", "end", "query"]).to_pylist() == [
        {"time": 7, "end": None, "query": 10}, {"time": 7, "end": None, "query": 15},
    ]  # fmt: skip


def test_no_rows_have_the_columns_all_the_same() -> None:
    empty = {"a": pa.table({"time": pa.array([], pa.int64())})}
    found = occurs.parse(PROGRAM, "phenesthe").detect(empty, time_unit="s", window=10, step=5)
    assert (found["s"].column_names, len(found["s"])) == (["type", "time", "end", "query"], 0)


def test_at_the_limits_of_time() -> None:
    far = 2**62
    rows = {"a": pa.table({"time": [-far, far]}), "b": pa.table({"time": [-far + 1]})}
    found = occurs.parse(PROGRAM, "phenesthe").detect(rows, time_unit="s", window=2**62, step=2**62)
    rows = [tuple(r.values()) for r in found["s"].select(["time", "end", "query"]).to_pylist()]
    assert rows == [(-far, None, -far), (-far, -far + 1, 0), (far, None, far)]
    assert found["n"].column("query").to_pylist() == [-far, far]
    with pytest.raises(occurs.UsageProblem, match="later than the last tick"):
        occurs.parse(PROGRAM, "phenesthe").detect(tables(), time_unit="s", window=2**63, step=2**63)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"window": 10}, "bad-option"),
        ({"step": 10}, "bad-option"),
        ({"window": 5, "step": 10}, "bad-option"),
        ({"window": 10, "step": 0}, "bad-duration"),
        ({"window": "10 s", "step": "1.5 s"}, "bad-duration"),
        ({"window": "10 moons", "step": 1}, "unknown-unit"),
    ],
)
def test_windows_that_are_none(options: dict[str, Any], kind: str) -> None:
    with pytest.raises(occurs.UsageProblem) as raised:
        occurs.parse(PROGRAM, "phenesthe").detect(tables(), time_unit="s", **options)
    assert raised.value.kind == kind


def test_a_bare_number_is_no_length_over_timestamps() -> None:
    stamps = {"a": pa.table({"time": pa.array([7], pa.timestamp("us"))})}
    with pytest.raises(occurs.UsageProblem, match="such as"):
        occurs.parse(PROGRAM, "phenesthe").detect(stamps, window=10, step=10)


def test_too_many_queries() -> None:
    rows = {"a": pa.table({"time": [0, 10**9]})}
    with pytest.raises(occurs.LimitProblem) as raised:
        occurs.parse(PROGRAM, "phenesthe").detect(rows, time_unit="s", window=10, step=1)
    assert raised.value.kind == "too-many-queries"


@pytest.mark.parametrize("other", ["event a()\ndefine X()\nfrom a()", "Subscribe(a)"])
def test_rules_of_other_languages_have_no_windows(other: str) -> None:
    rules = [(other, None, "tesla"), (PROGRAM, None, "phenesthe")]
    with pytest.raises(occurs.UsageProblem, match="TESLA") as raised:
        Program(rules).detect(tables(), time_unit="s", window=10, step=5)
    assert raised.value.kind == "unsupported"


def test_what_is_true_almost_always_needs_windows() -> None:
    program = occurs.parse("input event a. event n : ¬a.", "phenesthe")
    with pytest.raises(occurs.DefinitionProblem) as raised:
        program.detect({"a": tables()["a"]}, time_unit="s")
    assert raised.value.kind == "unguarded-negation"
    assert "unguarded-negation" in {p.kind for p in program.check()}
    with pytest.raises(occurs.LimitProblem) as limited:
        program.detect({"a": tables()["a"]}, time_unit="s", window=2_000_000, step=2_000_000)
    assert limited.value.kind == "too-many-instants"
    stamps = {"a": pa.table({"time": pa.array([7], pa.timestamp("us"))})}
    with pytest.raises(occurs.DefinitionProblem):
        program.detect(stamps, window="10 s", step="10 s")


def test_a_query_costs_as_much_however_long_its_window_is() -> None:
    """What the nets are asked for is the same; rows are repeated where they are written."""
    many = {t: pa.table({"time": range(first, 3000, 10)}) for t, first in (("a", 0), ("b", 5))}
    program = occurs.parse(PROGRAM, "phenesthe")
    history = program.checked.history(many, InputOptions(time_unit="s"))
    stage = program.checked.plan(history.schemas, history.kind)
    asked: dict[int, list[int]] = {}
    for window in (100, 3000):
        kept = run_windows(stage, history, Window(window, 100), started=False)
        asked[window] = [len(p) for given in (kept.final, kept.held) for g in given.values() for p in g.parts]
        assert kept.count("s") > 299
    assert asked[100] == asked[3000]


def negations(rng: random.Random) -> str:
    """The text of a case with definitions that are true almost always, over events at few ticks."""
    finite = ["a(K)", "b(K)", "c(K, _)", "(a(K) ∧ b(K))", "(b(K) ∧ ¬a(K))", "(a(K) ∨ c(K, _))", "c(K, 2)"]

    def formula() -> str:
        one, other = f"¬{rng.choice(finite)}", rng.choice(finite)
        return rng.choice((one, f"{one} ∧ ¬{other}", f"{one} ∨ {other}", f"¬({one} ∧ {other}) ∧ {one}"))

    rules = [f"event n{i}(K) : {formula()}." for i in range(3)] + ["event n3 : ¬a(_) ∧ ¬b(_)."]
    rows = [f"{t}({rng.randint(1, 3)}{', 2' * (t == 'c')})@{rng.randint(-3, 20)}" for t in "abc" for _ in range(5)]
    step = rng.randint(1, 7)
    given = f"mode: window\nwindow: {step + rng.randint(0, 9)}\nstep: {step}"
    rules.insert(0, "input event a(K), b(K), c(K, L).")
    text = "\n".join(rules)
    blocks = {"phen": text, "in": " ".join(rows), "options": given, "out": "at 0:"}
    return "# r\n\n## r\n\n" + "".join(f"```{name}\n{block}\n```\n" for name, block in blocks.items())


@pytest.mark.parametrize("seed", range(8))
def test_random_negations(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "case.md"
    path.write_text(negations(random.Random(seed)), encoding="utf-8")
    (case,) = load_lasting_cases(path)
    wanted = Loaded(case).windows()
    assert any(wanted.values())
    same(answers(case, case.times["window"], case.times["step"]), wanted, path.read_text(encoding="utf-8"))
