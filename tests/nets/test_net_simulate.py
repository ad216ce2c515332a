"""The fast simulator beside plain firing: the same binding elements, firing by firing, with and without a seed."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import small_nets
import table_1
from random_typed import RandomNet
from tests.generators.random_nets import random_core_rows, random_extended
from tests.textcases.epl import EplCase

from occurs.errors import DefinitionProblem, OccursError
from occurs.expr.tree import Binary
from occurs.languages.epl.nets import to_net
from occurs.nets import firing
from occurs.nets.colours import Product
from occurs.nets.firing import Element
from occurs.nets.net import Black, Net, Page, Place, Role, Transition
from occurs.nets.simulate import Simulator
from occurs.nets.simulate_plan import rules
from occurs.nets.terms import TupleTerm
from occurs.nets.transform import to_priority_net
from occurs.verify.nets import rows_in_order


def beside(net: Net, seed: int | None, limit: int = 30, asking: bool = True) -> int:
    """Fires both, compares all there is to compare; how often they fired.

    ``asking``: also for all that is enabled, at some steps only, as then all bindings are looked for.
    """
    choose = firing.first if seed is None else firing.uniform(random.Random(seed))
    simulator, marking = Simulator(net, seed), net.initial
    for step in range(limit):
        enabled = firing.enabled(net, marking)
        if asking and step % 3 == 0:
            assert simulator.enabled() == enabled
        expected, after = None, marking
        if enabled:
            expected = choose(enabled)
            after = attempted(partial(firing.fire, net, marking, expected))
        fired = attempted(simulator.step)
        if isinstance(after, OccursError):
            # not the message: of two tokens with one number either may be the one too many
            assert isinstance(fired, OccursError)
            assert (type(fired), fired.kind) == (type(after), after.kind)
            assert simulator.marking == marking
            return step
        marking = after
        assert fired == expected
        assert simulator.marking == marking
        if fired is None:
            return step
    return limit


def attempted(job: Callable[[], Any]) -> Any:
    """What a job returns or raises."""
    try:
        return job()
    except OccursError as problem:
        return problem


@pytest.mark.parametrize("black", [False, True], ids=["plain", "black"])
def test_random_nets(black: bool) -> None:
    fired = [beside(RandomNet(k, black).net(), None if k % 2 else k) for k in range(150)]
    assert sum(f > 2 for f in fired) > 30


@pytest.mark.long
@pytest.mark.parametrize("black", [False, True], ids=["plain", "black"])
def test_many_random_nets(black: bool) -> None:
    for k in range(1000, 6000):
        net = RandomNet(k, black).net()
        for seed in (None, k):
            beside(net, seed)


def test_random_nets_encoded() -> None:
    """With arcs in any order: that of the rows may come before that of the searches."""
    fired = turned = 0
    for k in range(80):
        with suppress(DefinitionProblem):
            net = to_priority_net(RandomNet(k, True).net())
            fired += beside(net, None if k % 2 else k)
            turned += sum(p.join.swapped for r in rules(net) for p in r.parts if p.join is not None)
    assert fired > 200
    assert turned > 20


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("going", [True, False])
def test_tokens_taken_from_the_middle_of_many(going: bool, seed: int | None) -> None:
    """Searches of several sorts take the rows of a long queue.  ``going``: and do not look back."""
    n, r, x = (small_nets.var(v) for v in "nrx")
    row, search = TupleTerm((n, x)), TupleTerm((r, x))
    queue = Place("Q", small_nets.INT2, (*((k, k % 3) for k in range(150)), (400, 7), (300, 8)))
    init = Place("I", small_nets.INT2, ((0, 1), (40, 2), (0, 7), (350, 8)))
    arcs = (
        small_nets.takes("I", "t", search),
        small_nets.takes("Q", "t", row),
        small_nets.gives("I", "t", TupleTerm((Binary("+", n, small_nets.number(1)), x)) if going else search),
    )
    page = Page("p", (queue, init), (Transition("t", (Binary(">=", n, r),)),), arcs)
    net = Net("queue", (small_nets.INT, small_nets.INT2), tuple((v, small_nets.INT) for v in "nrx"), (page,))
    steps = beside(net, seed, 200, asking=False)
    assert beside(net, seed, 200) == steps
    # all rows of sort 1, those of sort 2 from 40 on, and (400, 7); a search that goes on may leave some out
    assert steps == 50 + 37 + 1 if seed is None or not going else 5 < steps < 88


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("first", [True, False])
def test_rows_that_come_out_of_order(first: bool, seed: int | None) -> None:
    """Of rows that are there the least counts, whenever it came (Definition 8).  ``first``: rows before searches."""
    n, r, x, y, k = (small_nets.var(v) for v in "nrxyk")
    numbers = random.Random(4).sample(range(30), 20)
    triple = Product("INT3", (small_nets.INT,) * 3)
    places = (
        Place("Rows", triple, tuple((k, n, n % 7) for k, n in enumerate(numbers))),
        Place("Next", small_nets.INT, (0,)),
        Place("F", small_nets.INT2, role=Role.F),
        Place("Init", small_nets.INT2, tuple((r, y) for r in (0, 3, 9, 20) for y in (1, 3, 5)), role=Role.INIT),
        Place("End", triple),
    )
    feed = Transition("feed")
    search = Transition("search", (Binary(">", x, y),), black=Black("Init", "F", "r", "n"))
    arcs = (
        small_nets.takes("Next", "feed", k),
        small_nets.takes("Rows", "feed", TupleTerm((k, n, x))),
        small_nets.gives("Next", "feed", Binary("+", k, small_nets.number(1))),
        small_nets.gives("F", "feed", TupleTerm((n, x))),
        small_nets.takes("Init", "search", TupleTerm((r, y))),
        small_nets.takes("F", "search", TupleTerm((n, x))),
        small_nets.gives("F", "search", TupleTerm((n, x))),
        small_nets.gives("End", "search", TupleTerm((r, y, n))),
    )
    page = Page("p", places, (feed, search) if first else (search, feed), arcs)
    names = tuple((v, small_nets.INT) for v in "nrxyk")
    net = Net("shuffled", (small_nets.INT, small_nets.INT2, triple), names, (page,))
    assert beside(net, seed, 100, asking=False) == beside(net, seed, 100) > 25


@pytest.mark.parametrize(
    "net",
    [small_nets.example_1(), small_nets.figure_3(), small_nets.figure_3(small_nets.NEXT, (1, 3, 3))],
    ids=["example 1", "figure 3", "figure 3, going on"],
)
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_the_small_nets_of_the_paper(net: Net, seed: int | None) -> None:
    for n in (net, to_priority_net(net)):
        assert 0 < beside(n, seed, 1000) < 1000


@pytest.mark.share(4)
@pytest.mark.parametrize("number", table_1.CASES)
def test_steps_of_table_1(number: int) -> None:
    _, results, black, *encoded = table_1.CASES[number]
    for first, steps in zip((1, 0), encoded):
        case = table_1.case(number, first)
        for seed in (None, 1, 2):
            one, other = Simulator(case.net, seed), Simulator(to_priority_net(case.net), seed)
            assert (one.run().steps, other.run().steps) == (black, steps)
            assert len(case.outputs(one.marking)) == len(case.outputs(other.marking)) == results


@pytest.mark.parametrize("number", [8, 12, 16])
def test_patterns_of_table_1_step_by_step(number: int) -> None:
    net = table_1.case(number).net
    for seed in (None, 5):
        assert beside(net, seed, 1000) == table_1.CASES[number][2]
        assert beside(to_priority_net(net), seed, 1000) == table_1.CASES[number][3]


@pytest.mark.parametrize("make", [random_core_rows, random_extended])
def test_random_patterns(make: Callable[[random.Random], EplCase]) -> None:
    fired = 0
    for k, net in random_patterns(make, range(12)):
        for n in (net, to_priority_net(net)):
            fired += beside(n, None if k % 3 else k, 60)
    assert fired > 300


@pytest.mark.long
@pytest.mark.parametrize("make", [random_core_rows, random_extended])
def test_many_random_patterns(make: Callable[[random.Random], EplCase]) -> None:
    for k, net in random_patterns(make, range(1000, 1300)):
        for n in (net, to_priority_net(net)):
            for seed in (None, k):
                beside(n, seed, 400)


def random_patterns(make: Callable[[random.Random], EplCase], seeds: Iterable[int]) -> Iterator[tuple[int, Net]]:
    """Those that have a translation."""
    for seed in seeds:
        case = make(random.Random(seed))
        rows, extended = rows_in_order(case.events), make is random_extended
        with suppress(DefinitionProblem):
            yield seed, to_net(case.file_tree, seed % 2, False, rows, extended, inputs=case.inputs, kind=case.kind)


def test_a_case_of_thousands_of_rows() -> None:
    """Step counts of 4B's workload; each pair of a search and a row is tested at most once, or this takes minutes."""
    for rows, black, encoded in ((50, 75, 180), (200, 296, 727), (1000, None, 3556)):
        net = noise(rows)
        one, other = Simulator(net), Simulator(to_priority_net(net), 7)
        assert other.run().steps == encoded
        assert one.run(each=lambda element: None).firings == []
        assert black in (None, one.steps)


def noise(rows: int) -> Net:
    rng = random.Random(5)
    events = []
    for k in range(rows):
        type_ = rng.choice("ABC")
        events.append(f"{type_}{rng.randint(0, 60)}@{k + 1}")
    pattern = table_1.CASES[7][0]
    text = f"{table_1.SCHEMAS} insert into Found select a.ma as ma, b.mb as mb from pattern [{pattern}]"
    return table_1.program(text, " ".join(events)).net


def test_step_by_step_and_in_pieces() -> None:
    net = table_1.case(7).net
    whole = Simulator(net).run()
    simulator = Simulator(net)
    assert simulator.marking == net.initial
    first = simulator.step()
    part = simulator.run(7)
    heard: list[Element] = []
    rest = simulator.run(each=heard.append)
    assert [first, *part.firings, *heard] == whole.firings
    assert rest.firings == []
    assert rest.marking == whole.marking == simulator.marking
    assert (simulator.steps, part.steps, simulator.step(), simulator.enabled()) == (20, 7, None, [])
    simulator.reset()
    assert simulator.run() == whole
    simulator.reset(part.marking)
    assert simulator.run().firings == heard


def test_a_run_leaves_the_collection_of_garbage_as_it_was() -> None:
    simulator = Simulator(small_nets.example_1())

    def stop(element: Element) -> None:
        assert not gc.isenabled()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulator.run(each=stop)
    assert gc.isenabled()
    gc.disable()
    try:
        simulator.run()
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert simulator.steps == 23


def test_a_seed_says_all() -> None:
    net = table_1.case(12).net
    runs = [Simulator(net, seed).run().firings for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_a_choice_of_ones_own() -> None:
    net = to_priority_net(table_1.case(8).net)

    def last(elements: list[Element]) -> Element:
        return elements[-1]

    assert Simulator(net, choose=last).run() == firing.run(net, choose=last)


def test_how_many_tokens() -> None:
    simulator = Simulator(small_nets.example_1())
    assert (simulator.count("M"), simulator.count("P")) == (20, 5)
    simulator.run()
    assert (simulator.count("M"), simulator.count("P")) == (0, 2)
