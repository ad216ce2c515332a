"""The simulator of CPN Tools opens the files that Occurs writes, and goes the same way (epl-and-nets.md 4B).

Skipped where there is no simulator: ``OCCURS_CPN_TOOLS`` names its heap image.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from cpn_tools import IMAGE, Refused, beside, tokens_of
from odd_nets import wild
from random_typed import RandomNet
from small_nets import NEXT, example_1, figure_3
from table_1 import CASES, case
from tests.generators.random_nets import random_core_rows

from occurs.errors import DefinitionProblem
from occurs.languages.epl.nets import translate
from occurs.nets.cpn_write import write
from occurs.nets.net import Net
from occurs.nets.transform import to_priority_net
from occurs.verify.nets import rows_in_order

FILES = Path(__file__).parent / "files"
needs_cpn_tools = pytest.mark.skipif(not IMAGE, reason="no simulator of CPN Tools: OCCURS_CPN_TOOLS names its image")


def test_printed_markings_are_read() -> None:
    text = '1`(2,"a++ b")++\n2`(p(3),[(1,2)])'
    assert tokens_of(text) == Counter({('(2,"a++ b")', None): 1, ("(p(3),[(1,2)])", None): 2})
    assert tokens_of("2`7@[3,5]+++\n1`(8)@2") == Counter({("7", 3.0): 2, ("7", 5.0): 2, ("8", 2.0): 1})
    assert tokens_of("empty") == Counter()


@needs_cpn_tools
@pytest.mark.parametrize(
    ("net", "firings"),
    [(example_1(), 23), (to_priority_net(figure_3(NEXT)), 8), (wild(), 6)],
    ids=["example_1", "figure_3", "wild"],
)
def test_nets_go_the_same_way(net: Net, firings: int) -> None:
    assert beside(write(net)) == firings


@needs_cpn_tools
def test_a_hierarchy_goes_the_same_way() -> None:
    assert beside((FILES / "relay.cpn").read_bytes()) > 0


@needs_cpn_tools
@pytest.mark.parametrize("number", CASES)
def test_patterns_have_the_steps_of_table_1(number: int) -> None:
    assert beside(write(to_priority_net(case(number).net)), limit=10_000) == CASES[number][3]


@needs_cpn_tools
@pytest.mark.parametrize("seed", range(0, 20, 2))
def test_random_nets_go_the_same_way(seed: int) -> None:
    """Those that CPN Tools takes: it binds no variable of a large colour from a computed inscription, and it fails
    where arcs from places of one fusion set take more tokens than there are."""
    try:
        beside(write(RandomNet(seed, black=False).net()), seed)
    except Refused:
        pytest.skip("CPN Tools refuses the net")


@needs_cpn_tools
@pytest.mark.parametrize("seed", range(0, 20, 2))
def test_nets_of_random_patterns_go_the_same_way(seed: int) -> None:
    """Patterns of the paper.  Some nets of further operators have variables that CPN Tools finds no order to bind."""
    program = random_core_rows(random.Random(seed))
    try:
        t = translate(program.file_tree, 0, rows=rows_in_order(program.events), extended=False, kind=program.kind)
    except DefinitionProblem:
        pytest.skip("the program has no net")
    beside(write(to_priority_net(t.net)), seed)
