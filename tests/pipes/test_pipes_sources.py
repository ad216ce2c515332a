"""What comes into sources of pipes, and into functions of Python: types, numbers that are too big, what fails."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import occurs
from occurs import pipes
from occurs.errors import DefinitionProblem, InputProblem
from occurs.pipes import MAYBE, NO, YES, fn, ltl


def of(kind):
    return pipes.source("s", type=kind)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int", [1, "a"]),
        ("int", [1, True]),
        ("int", np.array([1, 1.5])),
        ("number", pa.array(["a", "b"])),
        ("text", ["a", 1]),
        ("bool", [True, 0]),
        ("troolean", ["?", "x"]),
        ("list<int>", [[1], 5]),
        ("list<int>", [[1], ["a"]]),
        ("map<text, int>", [{"a": 1}, {"a": "b"}]),
        ({"v": int}, [{"v": 1}, {"v": "a"}]),
        ({"v": int}, [{"v": 1}, 3]),
        ("any", [1, object()]),
        ("int", [1, 2**63]),
        ("list<int>", [[1], [2**63]]),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_number(kind, values):
    at = 0 if isinstance(values, pa.Array) else 1
    with pytest.raises(InputProblem, match=f"item {at} of Source 's': ") as problem:
        of(kind).run(values)
    assert problem.value.row == at


def test_the_number_of_a_pushed_value():
    run = of(int).open()
    run.push(1)
    with pytest.raises(InputProblem, match="item 1 of Source 's': 'a' is not of type int"):
        run.push("a")


def test_what_can_be_taken_without_loss_is():
    assert of(int).run([1.0, None, float("nan")]) == [1, None, None]
    assert (of("troolean") & True).run(["?", "T", False]) == ["?", "T", "F"]
    assert fn.keys(of("map<text, int>")).run([{"b": 1}]) == [{"b"}]
    assert of("map<text, int>")["b"].run([{"b": 1}, {}]) == [1, None]
    assert of("int").run(np.array([1.0, 2.0])).dtype == np.int64
    assert fn.xpath(of("xml"), "//a").run(["<r><a>1</a></r>"]) == [["1"]]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda a: 1 / a, "item 1 of Lift 'f': 0.0 makes `f` fail: ZeroDivisionError"),
        (lambda a: "x" if a == 0 else a, "item 1 of Lift 'f': 'x' as the result of `f` is not of type"),
    ],
)
def test_a_function_of_python_that_fails(function, said):
    function.__name__ = "f"
    made = pipes.function(inputs=(float,), outputs=(float,), vectorised=False)(function)
    with pytest.raises(InputProblem, match=said):
        made(of(float)).run([1.0, 0.0])


def test_a_function_of_arrays_gives_arrays_of_their_length():
    made = pipes.function(inputs=(float,), outputs=(float,))(lambda a: a[:1])
    with pytest.raises(InputProblem, match="must return an array of the length of its arguments"):
        made(of(float)).run([1.0, 0.0])


def test_variables_have_a_scope():
    for pipe in (of(int) + pipes.var("k"), of(int).where(fn("$0 > $k"))):
        with pytest.raises(DefinitionProblem, match="`\\$k` has no value here"):
            pipe.open()
    formula = ltl.exists("k", fn("[$0]"), of(int), lambda p: p == pipes.var("k"))
    assert formula.run([1]) == [True]


def test_types_have_names():
    with pytest.raises(DefinitionProblem, match="there is no type `lisst`"):
        of("lisst<int>")


def test_yes_and_no_are_true_and_false():
    found = of(int).pull([1])
    assert found.has_next()
    assert (found.has_next(), next(found), found.has_next()) == (True, 1, False)
    assert YES
    assert not NO
    assert MAYBE not in (True, False)


def test_times_of_tables_and_units_of_ticks():
    def sums(width):
        return pipes.source("Read", type={"v": int})["v"].window(width, lambda p: p.cumulate(fn.add))

    at = pa.array([0, 4_000_000, 9_000_000], pa.timestamp("us"))
    assert sums("5 s").run(pa.table({"time": at, "v": [1, 2, 4]})).to_pylist() == [1, 3, 4]
    assert sums("5 s").run(pa.table({"time": [0, 4, 9], "v": [1, 2, 4]}), time_unit="s").to_pylist() == [1, 3, 4]
    run = sums("5 s").open(time_unit="s")
    assert [run.push({"v": v}, time=t) for t, v in [(0, 1), (4, 2), (9, 4)]] == [[1], [3], [4]]
    with pytest.raises(DefinitionProblem, match="a duration needs the unit of the integer time column"):
        sums("5 s").run([{"v": 1}])


def test_times_of_one_kind():
    both = pipes.merge(pipes.source("A"), pipes.source("B"))
    with pytest.raises(InputProblem, match="must be of one kind, not A: timestamps, B: integers"):
        both.run({"A": pa.table({"time": pa.array([0], pa.timestamp("us")), "v": [1]}), "B": [1]})
    with pytest.raises(InputProblem, match="a row has no time"):
        pipes.source("A").run(pa.table({"time": [0, None], "v": [1, 2]}))


def test_sources_of_a_crank_come_in_the_order_of_their_names():
    both = pipes.merge(pipes.source("b", type=int), pipes.source("a", type=int))
    given = {"b": [1, 2], "a": [10, 20]}
    assert list(both.pull(given)) == both.run(given) == [10, 1, 20, 2]


def test_a_column_of_floats_that_are_all_null():
    sums = pipes.source("s", type=float).cumulate(fn.add)
    assert sums.run(pa.array([None, None], pa.float64())).to_pylist() == [0, 0]
    assert of(float).reset_by(of(float) > 1, lambda p: p.cumulate(fn.add)).run([5.0, None]) == [5.0]


def test_the_path_of_xpath_was_once_the_first_argument() -> None:
    with pytest.warns(DeprecationWarning, match=r"write xpath\(doc, path\)"):
        old = fn.xpath("//a", of("xml"))
    assert old.run(["<r><a>1</a></r>"]) == [["1"]]
    program = occurs.parse("DEFINE Out AS APPLY xpath('//a', $0) WITH THE XML OF E.v.", "esql")
    assert [(p.kind, p.severity) for p in program.checked.problems] == [("argument-order", "notice")]
    found = program.detect({"E": pa.table({"time": [0], "v": ["<r><a>1</a></r>"]})}, time_unit="s")
    assert found["Out"]["value"].to_pylist() == [["1"]]
    assert fn("xpath('//a', $0)")(of("xml")).run(["<r><a>2</a></r>"]) == [["2"]]
