"""Nets of EPL statements through files: equal nets, steps and outputs (epl-and-nets.md, section 7, Table 1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from occurs.languages.epl.nets import outputs, to_net
from occurs.languages.epl.parser import parse
from occurs.nets import cpn_read, cpn_write, netjson
from occurs.nets.firing import run
from occurs.nets.layout import placed
from occurs.nets.net import Net
from occurs.nets.svg import draw
from occurs.nets.transform import to_priority_net

#: Table 1: the rows of each instant
ROWS = ("A23 A55 C0", "B25 A50", "C5 B12", "C10 A0", "B1", "B5", "A15 C8")
SCHEMAS = "".join(f"create schema {t}(tm int, m{t.lower()} int);\n" for t in "ABC")
A, B, C = "a=A(ma > 10)", "b=B(mb > 2)", "c=C(mc > 0)"
#: the pattern, its outputs and the steps of its net with priorities, rows numbered from 1
CASES = {
    2: ("every a=A(ma % 5 = 0)", 4, 45),
    4: (f"{A} -> b=B(mb > 2 and mb < a.ma)", 1, 36),
    7: (f"every ({A} -> {B})", 2, 47),
    8: (f"every {A} -> every {B}", 8, 96),
    11: (f"{A} -> every ({B} -> {C})", 3, 51),
    14: (f"every ({A} -> {B}) -> {C}", 2, 52),
}


def net_of(pattern: str, schemas: str = SCHEMAS) -> Net:
    tags = [t for t in "abc" if f"{t}={t.upper()}" in pattern]
    columns = ", ".join(f"{t}.m{t} as m{t}" for t in tags)
    file, problems = parse(f"{schemas}@Name('P') insert into Out select {columns} from pattern [{pattern}];")
    assert not problems
    rows = [
        (row[0], tm, {"tm": tm, f"m{row[0].lower()}": int(row[1:])})
        for tm, instant in enumerate(ROWS, start=1)
        for row in instant.split()
    ]
    return to_net(file, first=1, rows=rows)


@pytest.mark.parametrize("case", CASES)
def test_files_of_cpn_tools_have_the_golden_steps(case: int) -> None:
    pattern, many, steps = CASES[case]
    net = net_of(pattern)
    data = cpn_write.write(net, transform=True)
    again, notes = cpn_read.read(data, f"case{case}.cpn")
    assert notes == ()
    assert cpn_write.write(again) == data
    before, after = run(to_priority_net(net)), run(again)
    assert after.firings == before.firings
    assert after.marking == before.marking
    assert len(after.firings) == steps
    assert len(outputs(net, before.marking)) == many


@pytest.mark.parametrize("case", CASES)
def test_json_keeps_black_nets(case: int) -> None:
    net = net_of(CASES[case][0])
    again = netjson.read(netjson.write(net), "x.net.json")
    assert again == net
    assert run(again).firings == run(net).firings
    assert netjson.read(netjson.write(placed(net)), "x.net.json") == placed(net)


def test_the_same_net_but_for_roles() -> None:
    net = to_priority_net(net_of(CASES[14][0]))
    again, _ = cpn_read.read(cpn_write.write(net), net.name)
    assert (again.colours, again.variables) == (net.colours, net.variables)
    for page, before in zip(again.pages, net.pages, strict=True):
        assert page.name == before.name
        assert [replace(p, at=None) for p in page.places] == [replace(p, role=None, at=None) for p in before.places]
        assert [replace(t, at=None) for t in page.transitions] == [replace(t, at=None) for t in before.transitions]
        assert sorted(map(repr, page.arcs)) == sorted(map(repr, before.arcs))


def test_reals_texts_and_times_beyond_31_bits() -> None:
    schemas = "create schema A(name string, ma double); create schema B(name string, mb double, ok bool);\n"
    text = (
        "insert into Out select a.name as who, b.mb - a.ma as d, a.ma / 2 as h from pattern "
        "[every (a=A(ma > 0.2) -> b=B(name = a.name and mb >= a.ma and (ok or mb != 1)))];"
    )
    file, _ = parse(schemas + text)
    begin = 1_700_000_000_000_000
    rows = [
        ("A", begin, {"name": "é\n", "ma": 2.5}),
        ("B", begin + 1, {"name": "é\n", "mb": 2.5, "ok": True}),
        ("A", begin + 1, {"name": 'q"', "ma": 1}),
        ("B", begin + 2, {"name": 'q"', "mb": 1, "ok": False}),
        ("B", begin + 3, {"name": 'q"', "mb": 1e300, "ok": False}),
    ]
    net = to_priority_net(to_net(file, first=1, rows=rows))
    data = cpn_write.write(net)
    again, notes = cpn_read.read(data, "x.cpn")
    assert notes == ()
    assert b"<intinf/>" in data
    assert b"eq_List_CFs(" in data
    assert run(again).firings == run(net).firings
    assert len(outputs(net, run(net).marking)) == 2


def test_drawings_of_programs() -> None:
    svg = draw(net_of(CASES[7][0]))
    assert svg.count('fill="#000" stroke="#000"') == 3
    assert "fused: F" in svg
