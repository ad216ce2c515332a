"""Time, hierarchy, free variables and computed multisets in the three engines of nets.

The expected runs are worked out by hand from CPN Tools' documentation: a token of a timed colour is taken at its time
or later, time goes on only when nothing is enabled, a port is its socket, an instance of a page has places of its own,
a fusion set is one place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from snakes_engine import Unfolded, space_of

from occurs.errors import OccursError
from occurs.expr.tree import Literal
from occurs.model.types import Type
from occurs.nets.colours import Bool, Colour, Enum, Int, Product, Subset, Value, index, members
from occurs.nets.cpn_read import read
from occurs.nets.cpn_write import write
from occurs.nets.explore import Properties, explore
from occurs.nets.firing import enabled, run, uniform
from occurs.nets.ml_parser import Names, parse_declarations, parse_delay, parse_guard, parse_tokens
from occurs.nets.net import Arc, Marking, Net, Page, Place, Transition
from occurs.nets.netjson import write as write_json
from occurs.nets.report import report
from occurs.nets.simulate import Simulator
from occurs.nets.stepping import Stepper

RELAY = (Path(__file__).parent / "files" / "relay.cpn").read_bytes()
INT, TIMED, BOOL, SIDE = Int("INT"), Int("T", timed=True), Bool("BOOL"), Enum("SIDE", ("left", "right"))
VARIABLES: tuple[tuple[str, Colour], ...] = (("n", INT), ("m", INT), ("b", BOOL), ("x", SIDE))
KNOWN = Names(dict(VARIABLES), (INT, TIMED, BOOL, SIDE))


def net(places: list[Place], transitions: list[Transition], arcs: list[tuple[str, str]]) -> Net:
    """A net of one page; an arc is ``place > transition`` or ``transition > place``, and its inscription."""
    colours = {p.name: p.colour for p in places}
    made = []
    for way, text in arcs:
        start, end = way.split(" > ")
        place, transition = (start, end) if start in colours else (end, start)
        made.append(Arc(place, transition, start in colours, parse_tokens(text, KNOWN, colours[place])))
    page = Page("Page", tuple(places), tuple(transitions), tuple(made))
    return Net("small", KNOWN.colours, VARIABLES, (page,))


def agree(made: Net, steps: int | None = None) -> tuple[list[str], Marking]:
    """What fires and the last marking, the same in the reference, the fast simulator and when taken back."""
    expected = run(made, limit=steps)
    simulator = Simulator(made)
    found = simulator.run(steps)
    assert found.firings == expected.firings
    assert found.marking == expected.marking
    stepper = Stepper(made)
    stepper.run(steps)
    stepper.back(stepper.steps // 2)
    stepper.run(expected.steps - stepper.steps)
    assert stepper.marking == expected.marking
    return [name for name, _ in expected.firings], expected.marking


def test_tokens_wait_for_their_time() -> None:
    made = net(
        [Place("A", TIMED, (4, 2)), Place("B", TIMED)],
        [Transition("go", delay=parse_delay("@+ n", KNOWN))],
        [("A > go", "n"), ("go > B", "n @+ 10")],
    )
    fired, last = agree(made)
    assert fired == ["go", "go"]
    assert last.tokens["B"] == {(2, 12): 1, (4, 14): 1}
    assert last.time == 0
    back = net(
        [Place("A", TIMED, (4, 2))],
        [Transition("go")],
        [("A > go", "n"), ("go > A", "if n > 0 then 1`(n - 1)@+n else empty")],
    )
    fired, last = agree(back)
    # 2 is put back at 2, 3 and 3 again; 4 at 4, 7, 9, 10 and 10 again
    assert (len(fired), last.time) == (8, 10)
    assert not +last.tokens["A"]


def test_of_equal_values_the_latest_that_is_ready_is_taken() -> None:
    made = net([Place("A", TIMED), Place("B", INT)], [Transition("go")], [("A > go", "n"), ("go > B", "n")])
    start = Marking({"A": Counter({(7, 1): 1, (7, 5): 1, (7, 9): 1}), "B": Counter()}, 6)
    assert enabled(made, start) == [("go", {"n": 7})]
    simulator = Simulator(made, marking=start)
    simulator.step()
    assert simulator.tokens("A") == {(7, 1): 1, (7, 9): 1}
    assert run(made, start, limit=1).marking.tokens["A"] == {(7, 1): 1, (7, 9): 1}
    assert Simulator(made, marking=start).run().marking.time == 9


def test_an_arc_may_take_tokens_before_their_time() -> None:
    made = net([Place("A", TIMED, (5,)), Place("B", TIMED), Place("C", INT)], [Transition("wait"), Transition("take")],
               [("A > wait", "n"), ("wait > B", "n @+ 20"), ("B > take", "n @+ 15"), ("take > C", "n")])  # fmt: skip
    fired, last = agree(made)
    assert (fired, last.time) == (["wait", "take"], 5)
    assert explore(made).complete
    with pytest.raises(OccursError, match="must be a constant"):
        run(net([Place("A", TIMED, (5,))], [Transition("go")], [("A > go", "n @+ n")]))


def test_a_delay_must_be_a_time() -> None:
    arcs = [("A > go", "n"), ("go > B", "n @+ (2 - n)")]
    made = net([Place("A", INT, (5,)), Place("B", TIMED)], [Transition("go")], arcs)
    for engine in (run, lambda n: Simulator(n).run(), explore):
        with pytest.raises(OccursError, match="delay -3 is not a number from 0"):
            engine(made)  # type: ignore[operator]


def test_variables_without_tokens_and_computed_multisets() -> None:
    made = net(
        [Place("A", INT, (1, 2)), Place("Side", SIDE, ("left", "right", "right")), Place("B", INT)],
        [Transition("go", parse_guard("[x = right orelse n > 1, m = n * 10]", KNOWN))],
        [
            ("A > go", "n"),
            ("Side > go", "case x of left => 1`left | right => 2`right"),
            ("go > B", "if b then 2`m else empty"),
        ],
    )
    found = {(b["n"], b["x"], b["b"], b["m"]) for _, b in enabled(made, made.initial)}
    assert found == {
        (1, "right", False, 10), (1, "right", True, 10), (2, "left", False, 20), (2, "left", True, 20),
        (2, "right", False, 20), (2, "right", True, 20),
    }  # fmt: skip
    agree(made)
    space = explore(made)
    assert space.complete
    assert {m.key for m in map(space.marking, range(len(space.nodes)))} == _reached(made)
    again = read(write(made), "small.cpn")[0]
    assert len(explore(again).nodes) == len(space.nodes)


def _reached(made: Net) -> set[object]:
    """All markings, by the reference."""
    from occurs.nets.firing import fire

    waiting, found = [made.initial], {made.initial.key}
    while waiting:
        marking = waiting.pop()
        for element in enabled(made, marking):
            after = fire(made, marking, element)
            if after.key not in found:
                found.add(after.key)
                waiting.append(after)
    return set(found)


def test_a_variable_of_many_values_needs_a_token() -> None:
    made = net([Place("A", INT, (1,)), Place("B", INT)], [Transition("go")], [("A > go", "n"), ("go > B", "m")])
    with pytest.raises(OccursError, match="binds `m`"):
        Simulator(made)


def test_random_functions() -> None:
    made = net(
        [Place("A", TIMED, (1,)), Place("B", INT)],
        [Transition("go")],
        [("A > go", "n"), ("go > A", "n @+ discrete (1, 9)"), ("go > B", "discrete (1, 6)")],
    )
    first, second = Simulator(made, 3).run(40).marking, Simulator(made, 3).run(40).marking
    assert first == second
    assert len(first.tokens["B"]) > 3
    assert Simulator(made, 4).run(40).marking != first
    stepper = Stepper(made)
    stepper.run(30)
    before = stepper.marking
    stepper.back(20)
    stepper.run(20)
    assert stepper.marking == before
    with pytest.raises(OccursError, match="random function `discrete`"):
        explore(made)


def test_a_hierarchy_with_time() -> None:
    """Two machines one behind the other, a crew of two: jobs 1, 2, 3 take 2, 4, 6, and 3 on the way on."""
    made, notes = read(RELAY, "relay.cpn")
    assert notes == ()
    assert [p.name for p in made.pages] == ["Plant", "Machine", "Machine_2"]
    assert made.holder("Machine_Waiting") == "In"
    assert made.holder("Machine_Waiting_2") == made.holder("Machine_Done") == "Middle"
    assert made.holder("Machine_Crew_2") == "Machine_Crew"
    assert made.holder("Machine_Free_2") == "Machine_Free_2"
    assert made.places["Machine_Waiting"].initial == (1, 2, 3)
    fired, last = agree(made)
    assert len(fired) == 12
    # job 1: 0-2, 5-7; job 2: 2-6, 9-13; job 3: 6-12, 15-21
    assert last.tokens["Out"] == {(1, 10): 1, (2, 16): 1, (3, 24): 1}
    assert last.time == 21
    again, notes = read(write(made), "relay.cpn")
    assert notes == ()
    assert write(again) == write(made)
    assert agree(again)[1].time == 21
    space = explore(made)
    known = Properties(space)
    assert space.complete
    assert {space.marking(n).time for n in known.dead_markings} >= {21}
    assert "(3@24)" in report(space) or "1`3@24" in report(space)


def test_errors_of_hierarchies() -> None:
    stop = b'<trans id="ID62"><text>Stop</text>'
    with pytest.raises(OccursError, match="page `Plant` is part of itself"):
        read(RELAY.replace(stop, stop + b'<subst subpage="ID10" portsock=""/>'), "relay.cpn")
    first = b'subpage="%s" portsock="(ID31,ID11)'
    _, notes = read(RELAY.replace(first % b"ID30", first % b"ID99"), "relay.cpn")
    assert [n.message for n in notes] == [
        "transition ID20 (`First`) on page `Plant`: the page `Machine` that it represents is not in the file; "
        "it is ignored with its arcs"
    ]


def test_what_json_does_not_keep() -> None:
    made, _ = read(RELAY, "relay.cpn")
    with pytest.raises(OccursError, match="does not keep the bounds or times of colour `JOB`"):
        write_json(made)
    plain = net([Place("A", INT, (1,))], [Transition("go", delay=Literal(1, Type.INT))], [("A > go", "n")])
    plain = replace(plain, colours=(INT, BOOL, SIDE))
    with pytest.raises(OccursError, match="does not keep the delay of transition `go`"):
        write_json(plain)
    many = net([Place("A", INT, (1,))], [Transition("go")], [("A > go", "n"), ("go > A", "if b then 1`n else empty")])
    with pytest.raises(OccursError, match="Many"):
        write_json(replace(many, colours=(INT, BOOL, SIDE)))


def test_random_choices_are_those_of_the_reference() -> None:
    import random

    made, _ = read(RELAY, "relay.cpn")
    for seed in range(5):
        chosen = run(made, choose=uniform(random.Random(seed)))
        found = Simulator(made, choose=uniform(random.Random(seed))).run()
        assert found.firings == chosen.firings
        assert found.marking == chosen.marking


def test_priorities_and_time() -> None:
    """A less urgent transition that is enabled now goes before a more urgent one that is enabled later."""
    made = net(
        [Place("A", TIMED), Place("B", TIMED, (1,)), Place("C", INT)],
        [Transition("late", priority=1), Transition("early", priority=9)],
        [("A > late", "n"), ("late > C", "n"), ("B > early", "n"), ("early > C", "n + 1")],
    )
    start = Marking({"A": Counter({(3, 5): 1}), "B": Counter({(1, 0): 1}), "C": Counter()})
    assert [t for t, _ in run(made, start).firings] == ["early", "late"]
    assert [t for t, _ in Simulator(made, marking=start).run().firings] == ["early", "late"]


PHILOSOPHERS = """
fun both (ph i) = 1`cs(i) ++ 1`cs(if i = 5 then 1 else i + 1);
"""
DATABASES = """
fun differ (x, y) = x <> y;
fun messages s = PR.mult (1`s, DBM.all() -- 1`s);
"""


def test_published_state_spaces() -> None:
    """Five philosophers: 11 nodes, 30 arcs; three managers of a distributed database: 28 nodes, 42 arcs (CPN Tools)."""
    ph, cs, unit = index("PH", "ph", 1, 5), index("CS", "cs", 1, 5), Enum("E", ("e",))
    known = _declared(PHILOSOPHERS, Names({"p": ph}, (ph, cs)))
    places = (Place("Think", ph, _all(ph)), Place("Eat", ph), Place("Unused", cs, _all(cs)))
    arcs = [("Think > take", "p"), ("Unused > take", "both p"), ("take > Eat", "p"),
            ("Eat > put", "p"), ("put > Think", "p"), ("put > Unused", "both p")]  # fmt: skip
    assert _space(places, arcs, known) == (11, 30)

    dbm = index("DBM", "d", 1, 3)
    pair = Product("PR", (dbm, dbm))
    known = _declared(DATABASES, Names({"s": dbm, "r": dbm}, (dbm, pair, unit)))
    mes = Subset("MES", pair, by="differ", holds=lambda v: isinstance(v, tuple) and v[0] != v[1])
    known = replace(known, colours=(*known.colours, mes))
    places = (
        Place("Inactive", dbm, _all(dbm)), Place("Waiting", dbm), Place("Performing", dbm),
        Place("Unused", mes, _all(mes)), Place("Sent", mes), Place("Received", mes), Place("Acknowledged", mes),
        Place("Passive", unit, ("e",)), Place("Active", unit),
    )  # fmt: skip
    arcs = [
        ("Inactive > send", "s"), ("Unused > send", "messages s"), ("Passive > send", "e"),
        ("send > Waiting", "s"), ("send > Sent", "messages s"), ("send > Active", "e"),
        ("Sent > receive", "(s, r)"), ("Inactive > receive", "r"), ("receive > Received", "(s, r)"),
        ("receive > Performing", "r"),
        ("Received > acknowledge", "(s, r)"), ("Performing > acknowledge", "r"), ("acknowledge > Inactive", "r"),
        ("acknowledge > Acknowledged", "(s, r)"),
        ("Waiting > end", "s"), ("Acknowledged > end", "messages s"), ("Active > end", "e"), ("end > Inactive", "s"),
        ("end > Unused", "messages s"), ("end > Passive", "e"),
    ]  # fmt: skip
    assert _space(places, arcs, known) == (28, 42)


def _all(colour: Colour) -> tuple[Value, ...]:
    return tuple(members(colour) or ())


def _declared(text: str, known: Names) -> Names:
    for one in parse_declarations(text, known):
        assert one.function is not None
        known = known.with_function(one.function)
    return known


def _space(places: tuple[Place, ...], arcs: list[tuple[str, str]], known: Names) -> tuple[int, int]:
    """The nodes and arcs of the state space of a net, also of the net that is written and read again, and of SNAKES."""
    colours = {p.name: p.colour for p in places}
    made, transitions = [], dict[str, Transition]()
    for way, text in arcs:
        start, end = way.split(" > ")
        place, transition = (start, end) if start in colours else (end, start)
        transitions.setdefault(transition, Transition(transition))
        made.append(Arc(place, transition, start in colours, parse_tokens(text, known, colours[place])))
    page = Page("Page", places, tuple(transitions.values()), tuple(made))
    functions = tuple(known.declared.values())
    whole = Net("published", known.colours, tuple(known.variables.items()), (page,), functions=functions)
    again, notes = read(write(whole), "published.cpn")
    assert notes == ()
    space = explore(whole)
    sizes = {(len(s.nodes), len(s.steps)) for s in (space, explore(again))}
    assert len(sizes) == 1
    markings, steps, _ = space_of(whole, Unfolded)
    assert ({space.marking(k).key for k in range(len(space.nodes))}, len(space.steps)) == (markings, steps)
    return sizes.pop()
