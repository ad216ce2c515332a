"""Reports: the state spaces of Table 1, the text as a whole, what a partial one says, confluence with its runs."""

from __future__ import annotations

import time

import pytest
from small_nets import example_1, figure_3
from table_1 import CASES, SPACES, case, program

from occurs.nets.explore import Properties, Space, explore
from occurs.nets.firing import enabled, fire
from occurs.nets.net import Net
from occurs.nets.report import Confluence, confluence, default_outputs, report
from occurs.nets.transform import to_priority_net


def net_of(number: int, kind: str) -> Net:
    net = case(number).net
    return net if kind == "BPCPN" else to_priority_net(net)


def outputs_agree(space: Space) -> Confluence:
    return confluence(space, default_outputs(space.net))


@pytest.mark.parametrize(("number", "kind"), SPACES)
def test_state_spaces_of_table_1(number: int, kind: str) -> None:
    space = explore(net_of(number, kind))
    assert (len(space.nodes), len(space.steps), len(Properties(space).dead_markings)) == SPACES[number, kind]
    assert outputs_agree(space).confluent is True


def test_3033_nodes_take_less_than_3_seconds() -> None:
    net = net_of(8, "PCPN")
    # the time that this process works, as others may keep the machine busy
    began = time.process_time()
    assert len(explore(net).nodes) == 3033
    assert time.process_time() - began < 3


def test_case_2_has_one_home_marking_and_a_dead_next() -> None:
    known = Properties(explore(net_of(2, "PCPN")))
    assert known.home_markings == known.dead_markings == [45]
    assert known.dead_transitions == ["enter_next"]
    assert (known.live_transitions, known.fairness, known.endless) == ([], None, False)
    text = report(known.space)
    assert "  Home Markings\n     [46]\n" in text
    assert "  Dead Markings\n     [46]\n" in text
    assert "  Dead Transition Instances\n     Input_event_flow'enter_next 1\n" in text
    assert "  Live Transition Instances\n     None\n" in text
    assert "     No infinite occurrence sequences.\n" in text


FIGURE_3 = """\
 Statistics
------------------------------------------------------------------------
  State Space
     Nodes:  2
     Arcs:   1
     Secs:   2
     Status: Full

  Scc Graph
     Nodes:  2
     Arcs:   1


 Boundedness Properties
------------------------------------------------------------------------
  Best Integer Bounds
                       Upper      Lower
     Search'Control 1  1          1
     Search'Init 1     1          0
     Search'F 1        5          5
     Search'P 1        1          1
     Search'End 1      1          0

  Best Upper Multi-set Bounds
     Search'Control 1  1`0
     Search'Init 1     1`1
     Search'F 1        1`(1, 3)++
                       1`(2, 5)++
                       1`(3, 4)++
                       1`(4, 10)++
                       1`(5, 15)
     Search'P 1        1`10
     Search'End 1      1`(3, 15)

  Best Lower Multi-set Bounds
     Search'Control 1  1`0
     Search'Init 1     empty
     Search'F 1        1`(1, 3)++
                       1`(2, 5)++
                       1`(3, 4)++
                       1`(4, 10)++
                       1`(5, 15)
     Search'P 1        1`10
     Search'End 1      empty


 Home Properties
------------------------------------------------------------------------
  Home Markings
     [2]


 Liveness Properties
------------------------------------------------------------------------
  Dead Markings
     [2]

  Dead Transition Instances
     None

  Live Transition Instances
     None


 Fairness Properties
------------------------------------------------------------------------
     No infinite occurrence sequences.


 Confluence of Outputs
------------------------------------------------------------------------
     Yes: all runs that end produce the same outputs (dead markings: 1).
"""


def test_the_whole_report() -> None:
    assert report(explore(figure_3()), seconds=1.6) == FIGURE_3


def test_a_partial_report_says_so_first_and_claims_nothing_that_it_does_not_know() -> None:
    text = report(explore(example_1(), limit=9))
    assert text.startswith("PARTIAL: 1 node of 9 not expanded; the results below may change.\n")
    assert "     Status: Partial\n" in text
    assert text.count("unknown (partial)") == 3
    assert "  Dead Markings (so far)\n     None\n" in text
    assert "No dead markings so far: nothing to compare." in text
    assert outputs_agree(explore(example_1(), limit=9)).confluent is None


EVERY_PAIR = """
create schema A(tm int, ma int); create schema B(tm int, mb int); create schema C(tm int, mc int);
@Name('Pairs') insert into Pair select a.ma as ma, b.mb as mb from pattern [every a=A -> every b=B];
@Name('First') insert into Chosen select p.ma as ma from pattern [p=Pair];
"""


def test_outputs_that_depend_on_the_order_inside_an_instant() -> None:
    """Both A pair with B at one instant; whichever pair comes first is the first."""
    t = program(EVERY_PAIR, "A1@1 A2@1 B7@2")
    for net in (t.net, to_priority_net(t.net)):
        space = explore(net)
        found = outputs_agree(space)
        assert found.confluent is False
        assert len(found.classes) == 2
        assert found.runs is not None
        ends = []
        for run, nodes in zip(found.runs, found.classes, strict=False):
            marking = net.initial
            for element in run.firings:
                assert element in enabled(net, marking)
                marking = fire(net, marking, element)
            assert marking == space.marking(nodes[0])
            ends.append(sorted((type, values["ma"]) for type, _, values in t.outputs(marking)))
        chosen = [[("Chosen", ma), ("Pair", 1), ("Pair", 2)] for ma in (1, 2)]
        assert sorted(ends) == chosen
        # in front: the place
        assert sorted(text.split(": ")[1] for run in found.runs for text in run.only) == [
            "1`pChosen({ma=1}) at 2",
            "1`pChosen({ma=2}) at 2",
        ]
        text = report(space)
        # the second pair may come before or after what is made of the first: four orders
        assert "     No: the 4 dead markings have 2 different outputs.\n" in text
        assert "  Run 1, to node " in text
        assert "   outputs that the other run does not have:\n     Chosen_Fp: 1`pChosen({ma=" in text


def test_without_the_second_statement_the_order_does_not_matter() -> None:
    pairs = EVERY_PAIR[: EVERY_PAIR.index("@Name('First')")]
    space = explore(program(pairs, "A1@1 A2@1 B7@2").net)
    found = outputs_agree(space)
    assert (found.confluent, len(found.classes[0])) == (True, 2)


def test_nets_without_rows_are_compared_by_all_that_is_there() -> None:
    net = figure_3(init=(1, 3))
    assert outputs_agree(explore(net)).confluent is True
    assert default_outputs(net)(net.initial) == {
        "Control: 1`0",
        "Init: 1`1",
        "Init: 1`3",
        "P: 1`10",
        *(f"F: 1`({n}, {m})" for n, m in ((1, 3), (2, 5), (3, 4), (4, 10), (5, 15))),
    }


@pytest.mark.parametrize("number", sorted(set(CASES) - {8, 12, 16}))
def test_outputs_are_confluent(number: int) -> None:
    assert outputs_agree(explore(case(number).net)).confluent is True
