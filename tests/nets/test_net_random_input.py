"""Random input streams: what a file says, what is drawn, what is counted over many runs."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pytest

from occurs.errors import InputProblem, LimitProblem, OccursError, ResourceProblem, UsageProblem
from occurs.languages.epl.nets import Translation, translate
from occurs.languages.epl.nets.random_runs import Counted, analysis, student, wilson
from occurs.languages.epl.parser import parse
from occurs.model.types import Schema, Type
from occurs.nets import random_input
from occurs.nets.random_input import draw_of, read, stream_of

TOML = """
rows = 40
start = 7
gap = {distribution = "uniform", low = 0, high = 4}

[types.A]
weight = 3
[types.A.attributes]
k = {values = ["p", "q"], weights = [3, 1]}
v = {distribution = "normal", mean = 5, deviation = 2, low = 0}

[types.B.attributes]
k = "p"
v = {distribution = "time"}
"""
GIVEN = {
    "rows": 40,
    "start": 7,
    "gap": {"distribution": "uniform", "low": 0, "high": 4},
    "types": {
        "A": {
            "weight": 3,
            "attributes": {
                "k": {"values": ["p", "q"], "weights": [3, 1]},
                "v": {"distribution": "normal", "mean": 5, "deviation": 2, "low": 0},
            },
        },
        "B": {"attributes": {"k": "p", "v": {"distribution": "time"}}},
    },
}
SCHEMA = Schema((("k", Type.STRING), ("v", Type.INT)))
RULES = """
create schema A(k string, v int); create schema B(k string, v int);
@Name('Pair') insert into Pair select a.v as v from pattern [every a=A(v > 4) -> b=B(k = a.k)];
@Name('Never') insert into Never select a.v as v from pattern [a=A(v < 0)];
"""


def drawn(given: Any, n: int = 4000, type: Type | None = None) -> list[Any]:
    draw = draw_of(given, "x")
    rng = random.Random(1)
    return [(draw if type is None else draw.checked(type, "x")).value(rng) for _ in range(n)]


def rules() -> Translation:
    file, problems = parse(RULES)
    assert not problems
    return translate(file)


# --- distributions ----------------------------------------------------------------------------------------------


def test_distributions_have_their_means() -> None:
    assert Counter(drawn({"distribution": "uniform", "low": 1, "high": 3})).keys() == {1, 2, 3}
    assert all(1.5 <= v <= 2.5 for v in drawn({"distribution": "uniform", "low": 1.5, "high": 2.5}))
    found = drawn({"distribution": "normal", "mean": 10, "deviation": 3})
    assert (fmean(found), stdev(found)) == (pytest.approx(10, abs=0.2), pytest.approx(3, abs=0.2))
    found = drawn({"distribution": "exponential", "mean": 30})
    assert (fmean(found), stdev(found)) == (pytest.approx(30, rel=0.06), pytest.approx(30, rel=0.1))
    found = drawn({"distribution": "poisson", "mean": 4})
    assert (fmean(found), stdev(found)) == (pytest.approx(4, abs=0.15), pytest.approx(2, abs=0.15))
    assert all(isinstance(v, int) for v in found)
    found = drawn({"distribution": "lognormal", "median": 20, "deviation": 0.5})
    assert median(found) == pytest.approx(20, rel=0.06)
    assert stdev(math.log(v) for v in found) == pytest.approx(0.5, abs=0.05)
    found = Counter(drawn({"values": ["p", "q"], "weights": [3, 1]}))
    assert found["q"] / found["p"] == pytest.approx(1 / 3, abs=0.05)
    assert set(drawn({"values": [7]}, 5)) == set(drawn(7, 5)) == {7}


def test_bounds_are_kept() -> None:
    given = {"distribution": "normal", "mean": 0, "deviation": 5, "low": -1, "high": 2}
    found = drawn(given, type=Type.INT)
    assert set(found) == {-1, 0, 1, 2}
    with pytest.raises(InputProblem, match="x: none of 1000 drawn values is between 90 and inf"):
        drawn({"distribution": "normal", "mean": 0, "deviation": 1, "low": 90}, 1)


def test_values_have_the_type_of_the_attribute() -> None:
    assert all(isinstance(v, int) for v in drawn({"distribution": "exponential", "mean": 3}, 9, Type.INT))
    assert all(isinstance(v, float) for v in drawn({"distribution": "uniform", "low": 1, "high": 3}, 9, Type.FLOAT))
    assert drawn(True, 2, Type.BOOL) == [True, True]
    for given, type, message in (
        ("p", Type.INT, "x: 'p' is among the values, expected whole numbers"),
        (True, Type.INT, "x: True is among the values, expected whole numbers"),
        ({"values": [1, 2.5]}, Type.INT, "x: 2.5 is among"),
        (1, Type.STRING, "expected texts"),
        (1, Type.BOOL, "expected `true` or `false`"),
        ("p", Type.FLOAT, "expected numbers"),
        ({"distribution": "uniform", "low": 1, "high": 2}, Type.STRING, "x: this distribution cannot draw a string"),
        ({"distribution": "time"}, Type.STRING, "x: this distribution cannot draw a string"),
    ):
        with pytest.raises(InputProblem, match=message):
            drawn(given, 1, type)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "found None, expected a constant or a table"),
        ({}, "`distribution` or `values` is missing"),
        ({"distribution": "unifrom"}, "unknown distribution `unifrom`(.|\n)*did you mean `uniform`"),
        ({"distribution": "normal", "mean": 1}, "`normal` needs `deviation`"),
        ({"distribution": "normal", "mean": 1, "deviation": 1, "sigma": 2}, "no parameter `sigma`"),
        ({"distribution": "normal", "mean": "1", "deviation": 1}, "`mean` is '1', expected a number"),
        ({"distribution": "normal", "mean": 1, "deviation": -1}, "`deviation` is -1, expected at least 0"),
        ({"distribution": "exponential", "mean": 0}, "`mean` is 0, expected more than 0"),
        ({"distribution": "uniform", "low": 3, "high": 2}, "`low`, 3, is greater than `high`, 2"),
        ({"distribution": "poisson", "mean": 3, "low": 3, "high": 2}, "`low`, 3, is greater than `high`, 2"),
        ({"distribution": "uniform", "low": math.nan, "high": 2}, "`low` is nan"),
        ({"values": []}, "expected a list of at least one"),
        ({"values": [1], "weights": [1, 2]}, "expected a list of 1"),
        ({"values": [1], "weights": [-1]}, "the weight -1 is not a number of at least 0"),
        ({"values": [1, 2], "weights": [0, 0]}, "all weights are 0"),
    ],
)
def test_what_is_no_distribution(given: Any, message: str) -> None:
    with pytest.raises(InputProblem, match=message):
        draw_of(given, "x")


# --- streams ----------------------------------------------------------------------------------------------------


def test_a_stream_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TOML)
    (tmp_path / "s.json").write_text(json.dumps(GIVEN))
    streams = [s.fitted({"A": SCHEMA, "B": SCHEMA}) for s in (read(tmp_path / "s.toml"), read(tmp_path / "s.json"))]
    one, other = ([*s.draw(random.Random(3))] for s in streams)
    assert one == other
    assert len(one) == 40
    assert one[0].time == 7
    assert {b.time - a.time for a, b in pairwise(one)} == {0, 1, 2, 3, 4}
    types = Counter(e.type for e in one)
    assert types["A"] > types["B"] > 0
    assert all(e.attributes == {"k": "p", "v": e.time} for e in one if e.type == "B")
    assert all(isinstance(e.attributes["v"], int) and e.attributes["v"] >= 0 for e in one)
    assert [*streams[0].draw(random.Random(4))] != one


def test_a_stream_until_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = stream_of({"until": 10, "gap": 3, "types": {"A": {}}})
    assert [e.time for e in stream.draw(random.Random(0))] == [0, 3, 6, 9]
    stream = stream_of({"until": 10, "rows": 2, "gap": 3, "types": {"A": {}}})
    assert [e.time for e in stream.draw(random.Random(0))] == [0, 3]
    endless = stream_of(
        {"until": 10, "gap": {"distribution": "normal", "mean": -9, "deviation": 1}, "types": {"A": {}}}
    )
    monkeypatch.setattr(random_input, "MOST", 50)
    with pytest.raises(LimitProblem, match="after 50 rows the time is only 0"):
        list(endless.draw(random.Random(0)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": None}, "rows: found None, expected a whole number of at least 0"),
        ({"rows": -1}, "rows: found -1"),
        ({"start": 1.5}, "start: found 1.5, expected a whole number"),
        ({"gap": "often"}, "gap: 'often' is not a distribution of gaps,"),
        ({"gap": -1}, "gap: -1 is not a distribution of gaps,"),
        ({"gap": {"distribution": "time"}}, "is not a distribution of gaps,"),
        ({"types": {}}, "types: found {}, expected a table with at least one type"),
        ({"types": {"A": 1}}, "types.A: found 1, expected a table"),
        ({"types": {"A": {"attributes": 1}}}, "types.A.attributes: found 1, expected a table"),
        ({"types": {"A": {"weigth": 1}}}, "types.A: unknown key `weigth`(.|\n)*did you mean `weight`"),
        ({"types": {"A": {"weight": 0}}}, "the weights of types: all weights are 0"),
        ({"types": {"A": {"attributes": {"v": {"distribution": "normal"}}}}}, "types.A.attributes.v: `normal` needs"),
        ({"row": 4}, "the file: unknown key `row`"),
    ],
)
def test_what_is_no_stream(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputProblem, match=message):
        stream_of({**GIVEN, **change})


def test_what_lacks_in_a_stream() -> None:
    for lacking, message in (("rows", "set `rows` or"), ("gap", "`gap` is missing"), ("types", "`types` is missing")):
        with pytest.raises(InputProblem, match=message):
            stream_of({k: v for k, v in GIVEN.items() if k != lacking})
    with pytest.raises(InputProblem, match=r"the file: found \[\], expected a table"):
        stream_of([])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ResourceProblem, match=r"none\.toml: No such file"):
        read(tmp_path / "none.toml")
    for name, text, message in (
        ("torn.toml", "rows = ", r"torn\.toml: Invalid value"),
        ("torn.json", "{", r"torn\.json: Expecting property name"),
        ("wrong.json", "{}", r"wrong\.json(.|\n)*`gap` is missing"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputProblem, match=message):
            read(tmp_path / name)
    (tmp_path / "latin.toml").write_bytes(b"\xff")
    with pytest.raises(InputProblem, match="utf-8"):
        read(tmp_path / "latin.toml")


def test_streams_that_do_not_fit_a_program() -> None:
    stream = stream_of(GIVEN)
    for schemas, message in (
        ({"A": SCHEMA, "C": SCHEMA}, r"types\.B: the program does not have this type"),
        ({"A": SCHEMA, "B": Schema((("k", Type.STRING),))}, r"types\.B\.attributes\.v: the type does not have"),
        ({"A": SCHEMA, "B": Schema((*SCHEMA, ("u", Type.INT)))}, r"types\.B: the attribute `u` needs a distribution"),
        ({"A": Schema((("k", Type.INT), ("v", Type.INT))), "B": SCHEMA}, "types.A.attributes.k: 'p' is among"),
    ):
        with pytest.raises(InputProblem, match=message):
            stream.fitted(schemas)


# --- runs -------------------------------------------------------------------------------------------------------


def test_many_runs() -> None:
    heard: list[tuple[int, int]] = []
    found = analysis(rules(), stream_of(GIVEN), 30, seed=5, progress=lambda done, all: heard.append((done, all)))
    assert heard == [(k, 30) for k in range(1, 31)]
    assert list(found.outputs) == ["Pair", "Never"]
    assert set(found.outputs["Never"].counts) == {0}
    pairs, rows = found.outputs["Pair"], found.rows["A"]
    # of 30 rows A about 0.6 are above 4; those before the last B of their key are in a pair
    assert pairs.interval is not None
    assert rows.interval is not None
    assert 5 < pairs.interval[0] < pairs.mean < pairs.interval[1] < 20
    assert rows.interval[0] < 30 < rows.interval[1]
    assert all(a + b == 40 for a, b in zip(rows.counts, found.rows["B"].counts))
    assert found.firings.least > 40
    assert found.complete
    assert analysis(rules(), stream_of(GIVEN), 30, seed=5) == found
    assert analysis(rules(), stream_of(GIVEN), 30, seed=6) != found


def test_runs_count_what_a_plain_loop_counts() -> None:
    """The pairs of each run, from the rows alone."""
    stream = stream_of(GIVEN)
    found = analysis(rules(), stream, 20, seed=1)
    fitted = stream.fitted({"A": SCHEMA, "B": SCHEMA})
    for k, pairs in enumerate(found.outputs["Pair"].counts):
        waiting: Counter[str] = Counter()
        wanted = 0
        for e in fitted.draw(random.Random(f"1/{k}")):
            if e.type == "B":
                wanted += waiting.pop(e.attributes["k"], 0)
            elif e.attributes["v"] > 4:
                waiting[e.attributes["k"]] += 1
        assert pairs == wanted


def test_the_same_whatever_fires_first() -> None:
    stream = stream_of({**GIVEN, "rows": 15})
    one = analysis(rules(), stream, 8)
    for options in ({"at_random": True}, {"encoded": True}, {"encoded": True, "at_random": True}):
        other = analysis(rules(), stream, 8, **options)
        assert other.outputs == one.outputs
        assert other.rows == one.rows
    assert other.firings.mean > one.firings.mean


def test_runs_that_reach_their_limit() -> None:
    found = analysis(rules(), stream_of(GIVEN), 2, limit=10)
    assert not found.complete
    assert found.firings.counts == (10, 10)


@pytest.mark.parametrize("options", [{"runs": 0}, {"confidence": 1.0}, {"confidence": 0}])
def test_options_without_sense(options: dict[str, Any]) -> None:
    with pytest.raises(UsageProblem, match="must be"):
        analysis(rules(), stream_of(GIVEN), **options)


def test_derived_types_are_no_input() -> None:
    given = {**GIVEN, "types": {"Pair": {"attributes": {"v": 1}}}}
    with pytest.raises(OccursError, match=r"types\.Pair: the program does not have this type"):
        analysis(rules(), stream_of(given), 1)


# --- intervals --------------------------------------------------------------------------------------------------


def test_quantiles_of_the_tables() -> None:
    """Those printed in every table of the distribution."""
    for confidence, freedom, t in (
        (0.95, 1, 12.7062),
        (0.95, 2, 4.3027),
        (0.95, 3, 3.1824),
        (0.95, 30, 2.0423),
        (0.99, 7, 3.4995),
        (0.9, 120, 1.6577),
    ):
        assert student(confidence, freedom) == pytest.approx(t, abs=6e-5)
    # where the expansion begins, it goes on
    assert student(0.95, 1001) == pytest.approx(student(0.95, 1000), abs=1e-5)
    assert wilson(50, 100, 0.95) == (pytest.approx(0.4038, abs=1e-4), pytest.approx(0.5962, abs=1e-4))
    assert wilson(10, 10, 0.95)[1] == 1


def test_counts_of_one_run_and_of_equal_ones() -> None:
    one = Counted.of((3,), 0.95)
    assert (one.mean, one.interval, one.least, one.most, one.share) == (3, None, 3, 3, 1)
    same = Counted.of((2, 2, 2), 0.95)
    assert same.interval == (2, 2)


@pytest.mark.long
def test_intervals_hold_as_often_as_they_say() -> None:
    rng = random.Random(2)
    draw: Callable[[], int] = lambda: draw_of({"distribution": "poisson", "mean": 6}, "x").value(rng)  # noqa: E731
    held = 0
    for _ in range(600):
        interval = Counted.of(tuple(draw() for _ in range(12)), 0.9).interval
        assert interval is not None
        held += interval[0] <= 6 <= interval[1]
    assert 0.86 < held / 600 < 0.94


@pytest.mark.parametrize("depth", [2_000, 100_000])
@pytest.mark.parametrize("name", ["s.json", "s.toml"])
def test_values_that_nest_too_deep(tmp_path: Path, depth: int, name: str) -> None:
    deep = "[" * depth + "]" * depth
    (tmp_path / name).write_text(f'{{"gap": {deep}}}' if name == "s.json" else f"gap = {deep}\n")
    with pytest.raises(InputProblem) as caught:
        read(tmp_path / name)
    assert caught.value.kind == "syntax"
