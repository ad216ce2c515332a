"""The simulator of CPN Tools opens the files that Occurs writes, and goes the same way (epl-and-nets.md 4B).

Skipped where there is no simulator: ``OCCURS_CPN_TOOLS`` names its heap image.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cpn_tools import IMAGE, Refused, beside, tokens_of
from odd_nets import wild
from random_typed import RandomNet
from small_nets import NEXT, example_1, figure_3
from table_1 import CASES, case
from tests.generators.random_nets import random_core_rows, random_extended
from tests.textcases.epl import EplCase

from occurs.languages.epl.nets import translate
from occurs.languages.epl.parser import parse
from occurs.nets.cpn_write import write
from occurs.nets.firing import run
from occurs.nets.net import Net
from occurs.nets.transform import to_priority_net
from occurs.testing.cases import KINDS
from occurs.verify.nets import rows_in_order

#: programs beyond the paper that have a net; in most of them `and` compares the tokens of two places
EXTENDED = (0, 1, 3, 5, 10, 12)
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
    """CPN Tools takes all of them.  In some an inscription that is computed has no value: it stops there."""
    try:
        beside(write(RandomNet(seed, black=False).net()), seed)
    except Refused as stopped:
        if "The exception Div is raised" not in str(stopped):
            raise


@needs_cpn_tools
@pytest.mark.parametrize(
    ("make", "seed"), [*((random_core_rows, s) for s in range(0, 20, 2)), *((random_extended, s) for s in EXTENDED)]
)
def test_nets_of_random_patterns_go_the_same_way(make: Callable[[random.Random], EplCase], seed: int) -> None:
    program = make(random.Random(seed))
    rows, extended = rows_in_order(program.events), make is random_extended
    t = translate(program.file_tree, 0, rows=rows, extended=extended, inputs=program.inputs, kind=program.kind)
    beside(write(to_priority_net(t.net)), seed, 30 if extended else 60)


SCHEMAS = "".join(f"create schema {t}(n int, k string, x double, ok boolean);\n" for t in "ABC")
#: type and number, time in s, key
STREAM = "A1@1:p B3@2:q A2@3:q C2@3:p B2@5:p A4@6:p B4@7:q"
#: what follows `insert into X select`: a program for each construct of EPL that has a net
CONSTRUCTS = {
    "event": "a.n as n from pattern [a=A(n > 1)]",
    "every": "a.* from pattern [every a=A(n % 2 = 0)]",
    "followed by": "a.n as a, b.n as b from pattern [every a=A -> b=B(k = a.k)]",
    "followed by every": "a.n as a, b.n as b from pattern [a=A -> every b=B(n > a.n)]",
    "three steps": "c.k as k from pattern [every (a=A -> b=B(n >= a.n) -> c=C)]",
    "one type": "n + 1 as m from A(n != 2)",
    "and": "a.n as a, b.n as b from pattern [every (a=A and b=B)]",
    "and of every": "a.n as a, b.n as b from pattern [every a=A and every b=B]",
    "and of three": "a.n as a, b.n as b from pattern [every (a=A and b=B and c=C)]",
    "or": "a.n as a, b.n as b from pattern [every (a=A or b=B)]",
    "not": "b.n as b from pattern [every (a=A -> (b=B and not c=C(k = a.k)))]",
    "within": "b.n as b from pattern [every a=A -> (b=B where timer:within(3 sec))]",
    "every within": "b.n as b from pattern [every ((a=A -> b=B) where timer:within(2 sec))]",
    "an event that is absent": "a.n as a, c.n as c from pattern [(a=A(n > 1) or b=B) -> c=A(n > b.n)]",
    "conditions": "a.n as n from pattern [every a=A((n * 2 - 1) / 2 >= 1.5 and not (k = 'q' or x < 0.5), n in (1, 4), "
    "n between 0 and 5, ok)]",
    "functions": "concat(a.k, b.k) as k, greatest(a.n, b.n) as m, least(a.x, 2.5) as l, abs(a.n - b.n) as d from "
    "pattern [every a=A -> b=B(x > a.x)] where a.n < b.n",
    "statements that read others": "a.n as n from pattern [every a=A(n > 1)]; "
    "insert into Y select x.n as n from pattern [every x=X -> b=B(n >= x.n)]",
}


@needs_cpn_tools
@pytest.mark.parametrize("name", CONSTRUCTS)
def test_constructs_of_epl_go_the_same_way(name: str) -> None:
    file, problems = parse(f"{SCHEMAS}insert into X select {CONSTRUCTS[name]}", "x.epl")
    assert not problems
    words = re.findall(r"(\w)(\d)@(\d):(\w)", STREAM)
    rows = [(t, int(x), {"n": int(n), "k": k, "x": int(n) / 2, "ok": k == "p"}) for t, n, x, k in words]
    t = translate(file, 1, rows=rows, extended=True, kind=KINDS["s"])
    net = to_priority_net(t.net)
    assert t.outputs(run(net).marking)
    assert beside(write(net), limit=10_000) == run(net).steps
