"""Boxes and pipes: connections, types, functions as values, inner processors, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from occurs import pipes
from occurs.errors import ConnectionProblem, DefinitionProblem, InputProblem, SyntaxProblem, UsageProblem
from occurs.operators.process.kinds import kind_named
from occurs.pipes import LEFT, OUTPUT, RIGHT, fn, ltl


@pytest.fixture
def x():
    return pipes.source("x", type=int)


def refused(problem, words, run, *args):
    with pytest.raises(problem) as found:
        run(*args)
    assert found.value.message == words
    return found.value


# --- connections ------------------------------------------------------------------------------------------------------


def test_a_constant_of_the_wrong_type_is_refused(x):
    greeting, plus = pipes.Constant("hello", name="greeting"), pipes.Lift(fn.add, name="plus")
    pipes.connect(x, plus, LEFT)
    found = refused(
        ConnectionProblem,
        "cannot connect output 0 (text) of Constant 'greeting' to input 1 (number) of Lift 'plus'; "
        "convert with number(...)",
        pipes.connect,
        *(greeting, OUTPUT, plus, RIGHT),
    )
    assert (found.box, found.port, found.kind) == ("Lift 'plus'", 1, "type-mismatch")
    assert isinstance(found, DefinitionProblem)


def test_an_input_that_is_not_there(x):
    tail = pipes.Trim(1, name="tail")
    words = "Trim 'tail' has 1 input, so there is no input 3"
    assert refused(ConnectionProblem, words, pipes.connect, x, tail, 3).port == 3


def test_an_output_that_is_not_there():
    fork = pipes.Fork(2, name="two")
    refused(ConnectionProblem, "Fork 'two' has 2 outputs, so there is no output 2", fork.out, 2)


def test_an_input_is_connected_once(x):
    plus = pipes.Lift(fn.add, name="plus")
    pipes.connect(x, plus, LEFT)
    words = "input 0 of Lift 'plus' is already connected (to output 0 of Source 'x')"
    refused(ConnectionProblem, words, pipes.connect, x.trim(1), plus, LEFT)


@pytest.mark.parametrize("run", [lambda y: y.open(), lambda y: y.pull([1]), lambda y: y.run([1])])
def test_an_input_that_is_never_connected(x, run):
    plus = pipes.Lift(fn.add, name="plus")
    pipes.connect(x, plus, LEFT)
    refused(ConnectionProblem, "input 1 of Lift 'plus' is not connected", run, plus.out().trim(1))


def test_boxes_that_form_a_cycle(x):
    plus, tail = pipes.Lift(fn.add, name="plus"), pipes.Trim(1, name="tail")
    pipes.connect(x, plus, LEFT).connect(plus, tail)
    words = "the boxes form a cycle: plus -> tail -> plus"
    assert refused(ConnectionProblem, words, pipes.connect, *(tail, OUTPUT, plus, RIGHT)).kind == "cycle"
    pipes.connect(x, plus, RIGHT)
    assert tail.out().run([1, 2, 3]) == [4, 6]


def test_a_box_that_feeds_itself():
    plus = pipes.Lift(fn.add, name="plus")
    words = "the boxes form a cycle: plus -> plus"
    refused(ConnectionProblem, words, pipes.connect, *(plus, OUTPUT, plus, RIGHT))


def test_which_port_must_be_said_if_there_are_several(x):
    plus = pipes.Lift(fn.add)
    words = "Lift has 2 inputs: name the one to use with connect(a, i, b, j)"
    assert "name the one" in refused(ConnectionProblem, words, pipes.connect, x, plus).message


def test_boxes_may_be_connected_in_any_order(x):
    plus, dec, fork = pipes.Lift(fn.add), pipes.Decimate(2), pipes.Fork(2)
    y = plus.out()
    pipes.connect(dec, OUTPUT, plus, RIGHT).connect(fork, RIGHT, dec, 0).connect(fork, LEFT, plus, LEFT)
    pipes.connect(x, fork)
    assert y.run([1, 2, 3, 4]) == [2, 5]


def test_types_are_known_as_soon_as_the_inputs_are(x):
    plus = pipes.Lift(fn.add)
    assert str(plus.out().item_type) == "any"
    pipes.connect(x, plus, LEFT).connect(x / 2, OUTPUT, plus, RIGHT)
    assert str(plus.out().item_type) == "number"
    assert str(x.slice(fn("$0 MOD 2"), lambda p: p > 1).item_type) == "map<int, bool>"


def test_the_guard_of_a_filter_is_bool(x):
    with pytest.raises(ConnectionProblem, match=r"output 0 \(int\) of Source 'x' to input 1 \(bool\) of Filter"):
        x.filter(x)


def test_a_boolean_formula_takes_no_troolean(x):
    with pytest.raises(ConnectionProblem, match=r"\(troolean\) of .* to input 0 \(bool\) of G"):
        ltl.G(fn.troolean(x > 1))


def test_what_is_of_any_type_goes_anywhere_and_is_checked_by_value():
    total = pipes.source("x").cumulate(fn.add)
    assert total.run([1, 2]) == [1, 3]
    with pytest.raises(InputProblem, match="item 1 of Cumulate: 'a'") as found:
        total.run([1, "a"])
    assert (found.value.row, found.value.value) == (1, "a")


# --- functions --------------------------------------------------------------------------------------------------------


def test_functions_as_values(x):
    assert fn("$0 + 1")(x).run([1, 2]) == [2, 3]
    assert fn.add.bind(right=10)(x).run([1, 2]) == [11, 12]
    assert fn.subtract.bind(10)(x).run([1, 2]) == [9, 8]
    assert fn.abs.after(fn.subtract)(x, 5).run([1, 7]) == [4, 2]
    assert fn.maximum.after(fn.abs, fn("$0 + 3"))(x).run([-5, 1]) == [5, 4]
    assert fn.concat(x, "!").run([1]) == ["1!"]


def test_constants_and_variables_are_part_of_functions(x):
    assert (10 - x).run([1]) == [9]
    assert (x**2 % 7 // 2).run([5]) == [2]
    assert fn.if_(x > 1, "many", "one").run([1, 2]) == ["one", "many"]
    (node,) = {(x * 2).graph.node.inputs}
    assert len(node) == 1


@pytest.mark.parametrize("vectorised", [True, False])
def test_functions_of_python(x, vectorised):
    @pipes.function(inputs=(float, float), outputs=(float, "bool"), vectorised=vectorised)
    def compare(a, b):
        return a - b, a > b

    less, more = compare(x, x.freeze())
    assert (str(less.item_type), str(more.item_type)) == ("number", "bool")
    assert less.run([3, 5, 1]) == [0, 2, -2]
    assert more.run([3, 5, 1]) == [False, True, False]
    assert less.run([3, None, 1]) == [0, None, -2]


def test_functions_of_python_give_what_pipes_have(x):
    @pipes.function(inputs=(int,), outputs=("list<int>",), vectorised=False)
    def both(a):
        return [a, -a]

    @pipes.function(inputs=("list<int>",), outputs=(int,), vectorised=False)
    def second(some):
        assert isinstance(some, list)
        return some[1]

    @pipes.function(inputs=(int,), outputs=("any",), vectorised=False)
    def slot(a):
        return pipes.ALL if a > 9 else a % 2

    assert both(x)[1].run([1]) == second(both(x)).run([1]) == [-1]
    assert x.slice(slot, lambda p: p.cumulate(fn.add)).run([1, 10, 2]) == [{1: 1}, {1: 11}, {1: 11, 0: 2}]


def test_a_function_takes_as_many_as_it_says(x):
    with pytest.raises(DefinitionProblem, match="takes 2 arguments, not 1"):
        fn.add(x)
    with pytest.raises(DefinitionProblem, match="there is no function `sizee`"):
        fn.sizee  # noqa: B018
    with pytest.raises(SyntaxProblem):
        fn("$0 +")


def test_elements_and_attributes():
    row = pipes.source("x", type={"a": "list<int>", "from": str})
    assert row["a"][1].run([{"a": [4, 5]}, {"a": [6]}]) == [5, None]
    assert row.a.run([{"a": [4, 5]}]) == [[4, 5]]
    with pytest.raises(DefinitionProblem, match="there is no attribute `b`"):
        row.b  # noqa: B018


def test_types_by_name():
    for name in ("int", "list<map<text, number>>", "tuple{a: int, b: set<text>}", "any", "tuple"):
        assert str(kind_named(name)) == name
    for name in ("lists<int>", "list<", "map<int>", "tuple{a}", "int int"):
        with pytest.raises(ValueError, match=r"type|tuple"):
            kind_named(name)


# --- inner processors -------------------------------------------------------------------------------------------------


def test_an_inner_processor_sees_only_its_parameter(x):
    words = "the inner processor of a window can only use its parameter, $variables and constants"
    refused(DefinitionProblem, words, x.window, 2, lambda p: p + x)
    words = "the inner processor of a slice can only use its parameter, $variables and constants"
    refused(DefinitionProblem, words, x.window, 2, lambda p: p.slice(fn("$0"), lambda q: q + p))


def test_an_inner_processor_gives_a_pipe(x):
    with pytest.raises(DefinitionProblem, match="which is not a pipe"):
        x.window(2, lambda p: 3)


def test_an_inner_processor_is_called_once(x):
    calls = []
    y = x.window(2, lambda p: calls.append(p) or p.last())
    assert y.run([1, 2, 3]) == [2, 3]
    assert len(calls) == 1


def test_windows_of_several_pipes(x):
    total = pipes.window(2, lambda p, q: (p + q).cumulate(fn.add), x, x.trim(1))
    assert total.run([1, 2, 3, 4]) == [8, 12]
    low, high = pipes.window(2, lambda p: (p.cumulate(fn.minimum), p.cumulate(fn.maximum)), x)
    assert (low.run([3, 1, 2]), high.run([3, 1, 2])) == ([1, 1], [3, 2])


def test_the_variable_of_a_slice(x):
    assert x.slice(fn("$0 MOD 2"), lambda p: p + pipes.var("slice") * 10).run([3, 4]) == [{1: 13}, {1: 13, 0: 4}]


# --- what is refused before it runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda x: x.decimate(0), "bad-bound"),
        (lambda x: x.window(0, lambda p: p), "bad-bound"),
        (lambda x: x.window(1.5, lambda p: p), "bad-bound"),
        (lambda x: x.trim(-1), "bad-bound"),
        (lambda x: x.first(-1), "bad-bound"),
        (lambda x: x.insert(-1, 0), "bad-bound"),
        (lambda x: x.repeat(True), "bad-bound"),
        (lambda x: x.every("0 s"), "bad-duration"),
        (lambda x: x.every("ten s"), "bad-duration"),
        (lambda x: x.every("3 fortnights"), "unknown-unit"),
        (lambda x: x.at_end("never"), "unknown-name"),
        (lambda x: pipes.Constant(3).out().trim(1), "sort"),
        (lambda x: ltl.and_(x > 1, x > 2), "sort"),
        (lambda x: ltl.G(ltl.sometime(x > 1)), "sort"),
        (lambda x: ltl.always(x > 1) & ltl.F(x > 2), "sort"),
        (lambda x: ltl.every("k", fn("[$0]"), x, lambda p: ltl.F(p > 1)), "sort"),
        (lambda x: x.where("$0 > 1"), "sort"),
        (lambda x: pipes.machine(x, start="s", states={"t": pipes.State(1)}), "unknown-name"),
        (lambda x: pipes.machine(x, start="s", states={"s": pipes.State(1, [pipes.Otherwise("t")])}), "unknown-name"),
    ],
)
def test_what_is_refused(x, make, kind):
    with pytest.raises(DefinitionProblem) as found:
        make(x)
    assert found.value.kind == kind


def test_both_flavours_are_named(x):
    with pytest.raises(DefinitionProblem, match="`G` evaluates every position, `sometime` only the first"):
        ltl.G(ltl.sometime(x > 1))


def test_a_pipe_is_neither_true_nor_iterable(x):
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x > 1)
    with pytest.raises(TypeError, match="pull"):
        iter(x)
    with pytest.raises(AttributeError):
        x.item_type = 3


# --- runs -------------------------------------------------------------------------------------------------------------


def test_push_calls_back_and_ends(x):
    run = x.last().open()
    seen = []
    run.on_event(seen.append)
    assert (run.push(1), run.push(2), run.end()) == ([], [], [2])
    assert seen == [2]
    with pytest.raises(InputProblem, match="after the end"):
        run.push(3)
    with pytest.raises(InputProblem, match="ended already"):
        run.end()


def test_runs_are_fresh(x):
    y = x.cumulate(fn.add)
    first, second = y.open(), y.open()
    assert (first.push(1), second.push(5), first.push(1)) == ([1], [5], [2])


def test_time_does_not_run_back(x):
    run = x.open()
    run.push(1, time=5)
    with pytest.raises(InputProblem, match="times must not decrease: 4 follows 5"):
        run.push(2, time=4)


def test_sources_are_named(x):
    both = x + pipes.source("y", type=int)
    run = both.open()
    assert (run.push(1, to="x"), run.push(2, to="y")) == ([], [3])
    with pytest.raises(UsageProblem, match="there are several sources, name one: x, y"):
        run.push(1)
    with pytest.raises(UsageProblem, match="there is no source `z`"):
        run.push(1, to="z")
    assert both.run({"x": [1, 2], "y": [10, 20]}) == [11, 22]
    assert list(both.pull({"x": [1, 2, 3], "y": [10, 20]})) == [11, 22]


def test_nothing_is_cranked_after_the_end(x):
    taken = []

    def source():
        for i in range(9):
            taken.append(i)
            yield i

    it = x.first(2).pull(source())
    assert list(it) == [0, 1]
    assert taken == [0, 1]
    assert (it.has_next_soft(), it.next_soft()) == (pipes.NO, pipes.END)


def test_columns_in_columns_out(x):
    np, pa = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    y = x.cumulate(fn.add)
    assert y.run(np.arange(4)).tolist() == [0, 1, 3, 6]
    assert y.run({"x": pa.array([1, None, 2])}).to_pylist() == [1, 1, 3]
    table = pa.table({"time": [0, 4, 5], "v": [1, 2, 4]})
    rows = pipes.source("x", type={"v": int}).v
    assert rows.run(table).to_pylist() == [1, 2, 4]
    assert rows.window("5 ticks", lambda p: p.cumulate(fn.add)).run(table).to_pylist() == [1, 3, 6]


def test_constants_of_times():
    at = pipes.source("x", type=datetime)
    day = datetime(2026, 1, 31, tzinfo=UTC)
    assert str((at - day).item_type) == "duration"
    assert str((at - day > timedelta(hours=1)).item_type) == "bool"


@pytest.mark.parametrize(
    ("box", "same"),
    [
        (lambda: pipes.Mutator(7), lambda x: x.constant(7)),
        (lambda: pipes.SliceEach(fn("$0 MOD 2"), lambda p: p), lambda x: x.slice_each(fn("$0 MOD 2"), lambda p: p)),
        (lambda: pipes.SliceLast(fn("$0 MOD 2"), lambda p: p), lambda x: x.slice_last(fn("$0 MOD 2"), lambda p: p)),
        (lambda: pipes.Count(), pipes.stats.count),
        (lambda: pipes.Moment(2), lambda x: pipes.stats.moment(x, 2)),
        (lambda: pipes.StandardDeviation(), pipes.stats.standard_deviation),
        (lambda: pipes.Threshold(2), lambda x: pipes.signal.threshold(x, 2)),
        (lambda: pipes.Smooth(2), lambda x: pipes.signal.smooth(x, 2)),
        (lambda: pipes.Peaks(), pipes.signal.peaks),
        (lambda: pipes.Plateaus(2, 1), lambda x: pipes.signal.plateaus(x, 2, 1)),
        (lambda: pipes.DeadTime(1), lambda x: pipes.signal.dead_time(x, 1)),
        (lambda: pipes.TravelRise(3), lambda x: pipes.signal.travel_rise(x, 3)),
        (lambda: pipes.Persist(1), lambda x: pipes.signal.persist(x, 1)),
        (lambda: pipes.Noise(2, seed=7), lambda x: pipes.signal.noise(x, 2, seed=7)),
        (lambda: pipes.Print(), lambda x: x.print()),
    ],
)
def test_a_box_is_what_its_method_is(x, box, same):
    made = box()
    pipes.connect(x, made)
    assert made.out(0).run([1, 4, 2, None, 3]) == same(x).run([1, 4, 2, None, 3])


@pytest.mark.parametrize(
    ("box", "values", "found"),
    [
        (lambda: pipes.Xml("null"), ["<a/>", "<a"], ["<a/>", None]),
        (lambda: pipes.Json(), ["[1]"], ["[1]"]),
        (lambda: pipes.Tuples(), ["a,b", "1,2"], [{"a": "1", "b": "2"}]),
        (lambda: pipes.Regex("(.)-(.)", "l", "r"), ["a-b"], [{"l": "a", "r": "b"}]),
    ],
)
def test_boxes_of_documents(box, values, found):
    made = box()
    pipes.connect(pipes.source("s", type=str), made)
    assert made.out(0).run(values) == found
