"""Files of CPN Tools: written, read back, in the form of CPN Tools' own files, wrong ones (epl-and-nets.md 4B, 8)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from odd_nets import wild
from small_nets import INT, NEXT, example_1, figure_3, gives, takes

from occurs.errors import DefinitionProblem, OccursError, Problem, SyntaxProblem
from occurs.nets.colours import Product, Unit
from occurs.nets.cpn_read import read
from occurs.nets.cpn_write import write
from occurs.nets.firing import enabled, run
from occurs.nets.net import Marking, Place
from occurs.nets.terms import var
from occurs.nets.transform import to_priority_net

FILES = Path(__file__).parent / "files"
TABLES = (FILES / "tables.cpn").read_bytes()


NETS = {
    "example_1": example_1(),
    "figure_3": to_priority_net(figure_3(NEXT)),
    "wild": wild(),
}


@pytest.mark.parametrize("name", NETS)
def test_written_and_read_back(name: str) -> None:
    net = NETS[name]
    data = write(net)
    again, notes = read(data, f"some/where/{net.name}.cpn")
    assert notes == ()
    assert again.name == net.name
    assert write(again) == data
    assert [len(m) for m in (again.places, again.transitions, again.arcs)] == [
        len(m) for m in (net.places, net.transitions, net.arcs)
    ]


@pytest.mark.parametrize("name", ["example_1", "figure_3"])
def test_the_same_net_comes_back(name: str) -> None:
    net = NETS[name]
    again, _ = read(write(net), f"{net.name}.cpn")
    assert (again.colours, again.variables) == (net.colours, net.variables)
    for page, before in zip(again.pages, net.pages, strict=True):
        assert [replace(p, at=None) for p in page.places] == [replace(p, role=None) for p in before.places]
        assert [replace(t, at=None) for t in page.transitions] == list(before.transitions)
        assert Counter(map(repr, page.arcs)) == Counter(map(repr, before.arcs))


@pytest.mark.parametrize("name", NETS)
def test_the_same_steps(name: str) -> None:
    net = NETS[name]
    again, _ = read(write(net), f"{net.name}.cpn")
    renamed = dict(zip(net.transitions, again.transitions, strict=True))
    before, after = run(net), run(again)
    assert [t for t, _ in after.firings] == [renamed[t] for t, _ in before.firings]
    assert [sorted(b.values(), key=repr) for _, b in after.firings if name != "wild"] == [
        sorted(b.values(), key=repr) for _, b in before.firings if name != "wild"
    ]
    assert len(before.firings) == {"example_1": 23, "figure_3": 8, "wild": 6}[name]


def test_golden_end_of_example_1() -> None:
    again, _ = read(write(example_1()), "Example1.cpn")
    assert run(again).marking == Marking(
        {"S": Counter([30]), "C": Counter([23]), "P": Counter([(1, 3), (3, 4)]), "M": Counter()}
    )


def test_names_are_identifiers_and_distinct() -> None:
    text = write(wild()).decode("ascii")
    names = re.findall(r"<(?:pageattr|fusion id=\"\w+\"|fusioninfo id=\"\w+\") name=\"([^\"]*)\"", text)
    names += re.findall(r"<(?:id|text)>([^<]*)</(?:id|text)>", text)
    names.remove("Standard priorities")
    names.remove("Equality of values with reals")
    assert all(re.fullmatch(r"[A-Za-z]\w*", n) for n in names)
    assert {"x1_search", "x1_search_2", "In_put", "In_put_2", "H_he", "val_2", "end_2", "empty_2", "o_2"} <= set(names)


def test_what_wild_nets_need_of_ml() -> None:
    text = write(wild()).decode("ascii")
    assert "<intinf/>" in text
    assert "IntInf.fromInt(length(y)) &gt; 0" in text
    assert "not(eq_rows(x, y))" in text
    assert "fun eq_rows (" in text
    assert "IntInf.rem(o_2, 4)" in text
    assert '"a\\n\\"\\195\\188\\""' in text


def test_the_head_of_a_file() -> None:
    assert write(example_1()).startswith(
        b'<?xml version="1.0" encoding="iso-8859-1"?>\n<!DOCTYPE workspaceElements PUBLIC '
        b'"-//CPN//DTD CPNXML 1.0//EN" "http://cpntools.org/DTD/6/cpn.dtd">\n\n<workspaceElements>\n'
        b'  <generator tool="CPN Tools" version="4.0.1" format="6"/>\n'
    )


def test_ids_are_unique_and_refer_to_something() -> None:
    text = write(wild()).decode("ascii")
    ids = re.findall(r" id=\"(\w+)\"", text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r" (?:idref|page|instance)=\"(\w+)\"", text)) <= set(ids)


def test_both_directions_with_one_inscription_are_one_arc() -> None:
    text = write(to_priority_net(figure_3(NEXT))).decode("ascii")
    assert (text.count('orientation="BOTHDIR"'), text.count('orientation="PtoT"')) == (4, 4)


def test_black_nets_are_refused_or_transformed() -> None:
    net = figure_3(NEXT)
    with pytest.raises(DefinitionProblem, match="support the black transitions of this net: `t`") as caught:
        write(net)
    assert "transform=True" in (caught.value.hint or "")
    assert write(net, transform=True) == write(to_priority_net(net))


def test_what_cannot_be_written() -> None:
    net = example_1()
    page = replace(net.pages[0], places=(*net.pages[0].places, Place("Q", Product("One", (INT,)))))
    with pytest.raises(DefinitionProblem, match="colour `One`: a product needs at least two parts"):
        write(replace(net, pages=(page,)))
    page = replace(net.pages[0], places=(*net.pages[0].places, Place("Q", Unit("INT"))))
    with pytest.raises(DefinitionProblem, match="two different colours are called `INT`"):
        write(replace(net, pages=(page,)))


def test_nets_that_break_a_rule_are_not_written() -> None:
    page = example_1().pages[0]
    for arc, message in (
        (takes("Q", "incr", var("n")), "an arc of `incr` to a place that is not on this page: `Q`"),
        (gives("C", "incr", var("k")), "unknown variable `k`"),
        (gives("P", "incr", var("n")), "found INT, expected INT2"),
    ):
        with pytest.raises(DefinitionProblem, match=re.escape(message)):
            write(replace(example_1(), pages=(replace(page, arcs=(*page.arcs, arc)),)))


# -- files in the form of CPN Tools' own


def test_a_file_of_cpn_tools() -> None:
    net, notes = read(TABLES, "tables.cpn")
    assert notes == ()
    assert [p.name for p in net.pages] == ["Dining Room", "Kitchen"]
    assert list(net.places) == ["Free Tables", "Dining Room_Rail", "id28", "Menu", "Kitchen_Rail", "Done"]
    assert net.places["Free Tables"].at == (-88.5, 119.0)
    assert net.places["Free Tables"].initial == (1, 2, 3)
    assert net.places["Menu"].initial == ("soup", "fish")
    assert net.places["Done"].initial == ((), ())
    assert net.places["id28"].initial == (True,)
    assert net.holder("Kitchen_Rail") == "Dining Room_Rail"
    assert {t.name: t.priority for t in net.transitions.values()} == {"Take Order": 99, "Cook": 1000}
    assert [c.name for c in net.colours][-3:] == ["Order", "Ticket", "Tickets"]
    assert [a.input for a in net.inputs["Take Order"]] == [True] * 4
    found = run(net)
    assert [t for t, _ in found.firings] == ["Take Order"] * 3 + ["Cook"] * 4
    assert found.marking.tokens["Done"] == {(): 6}


def test_a_file_of_cpn_tools_written_again() -> None:
    net, _ = read(TABLES, "tables.cpn")
    again, notes = read(write(net), "tables.cpn")
    assert notes == ()
    assert [t for t, _ in run(again).firings] == ["Take_Order"] * 3 + ["Cook"] * 4


def test_all_that_is_not_supported_is_named() -> None:
    net, notes = read((FILES / "delivery.cpn").read_bytes(), "delivery.cpn")
    assert all(n.kind == "unsupported" and n.file == "delivery.cpn" and n.line for n in notes)
    assert [(n.severity, n.message) for n in notes] == [
        ("notice", "colour ID7 (`TIME`): its values are times; they are read as integers"),
        (
            "notice",
            "ml ID14: the ML declaration of `exception` is not supported: the ML syntax `exception` is not supported",
        ),
        ("warning", 'use ID16: the ML file `"more.sml"` is not read'),
        (
            "warning",
            "place ID28 (`Sent`) on page `Depot`, initial marking ID30: time (`@`) is not supported; "
            "the place starts empty",
        ),
        (
            "warning",
            "transition ID40 (`Load`) on page `Depot`: a code segment (code ID43) is ignored: nets run no ML code",
        ),
        ("warning", "transition ID45: the port or socket ID21, ID25 is not on its page; it is ignored"),
        ("warning", "arc ID56 between `Hours` and `Load` on page `Depot`: arcs of the kind Inhibitor are ignored"),
        (
            "warning",
            "arc ID60 between `Sent` and `ID99` on page `Depot`: one of its ends is not on the page; "
            "the arc is ignored",
        ),
        ("notice", "monitor ID73 (`Loads`) is ignored"),
    ]
    even = next(c for c in net.colours if c.name == "Even")
    assert (even.check(2), even.check(3)) == (None, "3 is not a value of Even (subset)")
    assert len(net.places["Hours"].initial) == 24
    assert net.transitions["Load"].priority == 2
    assert net.places["Vans"].initial == (("van", 1), ("van", 2))
    assert list(net.transitions) == ["Load"]
    assert [(a.place, a.input) for a in net.arcs] == [("In", True), ("Vans", True), ("Vans", False), ("Sent", False)]


def test_other_heads_of_files() -> None:
    plain = re.sub(rb"<!DOCTYPE.*>\n", b"", TABLES)
    assert read(plain, "tables.cpn")[0] == read(TABLES, "tables.cpn")[0]
    _, notes = read(plain.replace(b'format="6"', b'format="2"'), "tables.cpn")
    assert [(n.severity, n.message) for n in notes] == [
        ("notice", "generator: the file has format 2; it is read as format 6")
    ]


def test_variables_that_no_token_binds() -> None:
    """A variable of a finite colour may have any of its values; another one that which the guard says."""
    net, notes = read(TABLES.replace(b">1`d<", b">soup<"), "tables.cpn")
    assert notes == ()
    assert {b["d"] for t, b in enabled(net, net.initial) if t == "Take Order"} == {"soup", "fish"}
    guard = b"[n &lt;&gt; 2 orelse d = fish]"
    net, notes = read(TABLES.replace(guard, b"[k = n + 1, k &gt; 2]"), "tables.cpn")
    assert notes == ()
    assert {(b["n"], b["k"]) for _, b in enabled(net, net.initial)} == {(2, 3), (3, 4)}


def test_an_arc_that_moves_nothing() -> None:
    net, (note,) = read(
        TABLES.replace(b">on</text>\n        </annot>", b">empty</text>\n        </annot>"), "tables.cpn"
    )
    assert (note.severity, note.message) == (
        "notice",
        "arc id56 between `id28` and `Take Order` on page `Dining Room`: it does not move tokens; the arc is ignored",
    )
    assert len(net.arcs) == 8


# -- wrong files


def refused(data: bytes) -> OccursError:
    with pytest.raises(OccursError) as caught:
        read(data, "tables.cpn")
    return caught.value


def changed(old: str, new: str, many: int = 1) -> list[Problem]:
    """What is said of the file with ``new`` instead of ``old``."""
    assert TABLES.count(old.encode()) >= 1, old
    return refused(TABLES.replace(old.encode(), new.encode(), many)).problems


def test_torn_xml() -> None:
    for data, line in ((TABLES[:9000], 320), (TABLES.replace(b"</globbox>", b"", 1), None), (b"", 1), (b"\x00\xff", 1)):
        error = refused(data)
        assert isinstance(error, SyntaxProblem)
        assert "not a valid XML file" in error.message
        assert error.file == "tables.cpn"
        assert error.line is not None
        if line is not None:
            assert abs(error.line - line) < 60


def test_an_unknown_encoding() -> None:
    assert "not a valid XML file" in refused(TABLES.replace(b"iso-8859-1", b"klingon")).message


@pytest.mark.parametrize(
    ("doctype", "shown"),
    [
        (
            b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://www.w3.org/x.dtd">',
            "`-//W3C//DTD XHTML 1.0//EN`",
        ),
        (b'<!DOCTYPE net SYSTEM "net.dtd">', "`net`"),
    ],
)
def test_another_doctype(doctype: bytes, shown: str) -> None:
    error = refused(re.sub(rb"<!DOCTYPE.*>", doctype, TABLES))
    assert (error.kind, isinstance(error, DefinitionProblem)) == ("doctype", True)
    assert shown in error.message
    assert "expected `workspaceElements`" in error.message


def test_another_root() -> None:
    error = refused(b'<?xml version="1.0"?><pnml><net id="n"/></pnml>')
    assert (error.kind, error.message) == (
        "doctype",
        "this is not a CPN Tools file: its root is `pnml`, expected `workspaceElements`",
    )
    assert "`cpnet` is missing" in refused(b"<workspaceElements/>").message


@pytest.mark.parametrize(
    "inner",
    [
        b'<!ENTITY lol "lol">',
        b'<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        b'<!ENTITY passwd SYSTEM "file:///etc/passwd">',
        b'<!ENTITY % dtd SYSTEM "http://localhost:1/x.dtd"> %dtd;',
    ],
)
def test_entities_are_refused(inner: bytes) -> None:
    error = refused(re.sub(rb'cpn.dtd">', b'cpn.dtd" [' + inner.replace(b"\\", b"\\\\") + b"]>", TABLES))
    assert error.kind == "entity"
    assert "entities are not allowed" in error.message


def test_undeclared_entities_are_torn_xml() -> None:
    assert "undefined entity" in changed("Orders come first.", "Orders &come; first.")[0].message


def test_nesting_without_end() -> None:
    assert "nested more than" in refused(b"<workspaceElements>" + b"<a>" * 100_000).message


@pytest.mark.parametrize(
    ("old", "new", "kind", "message"),
    [
        ('version="2.3.0">Number<', ">Nmber<", "unknown-colour",
         "place id21 (`Free Tables`) on page `Dining Room`: unknown colour `Nmber`"),
        ("<id>Order</id>\n              </type>", "<id>Ordr</id>\n              </type>", "unknown-colour",
         "colour ID8 (`Ticket`): unknown colour `Ordr`"),
        ("<id>Tickets</id>\n          </type>", "<id>Tcks</id>\n          </type>", "unknown-colour",
         "var ID12 (`ts`): unknown colour `Tcks`"),
        ("<enum>", "<enums>", "syntax", "this is not a valid XML file: mismatched tag"),
        ("<int/>", "<float/>", "unknown-colour", "colour ID2 (`INT`): `float` is not a kind of colour"),
        ("<int/>", "", "unknown-colour", "colour ID2 (`INT`): its declaration is empty"),
        ("<id>Tickets</id>\n          <list>", "<id>INT</id>\n          <list>", "duplicate",
         "colour ID9 (`INT`): a colour with this name is already declared"),
        ("<id>k</id>", "<id>k</id></var><var id=\"ID99\"><type><id>Dish</id></type><id>n</id>", "duplicate",
         "var ID99 (`n`): a variable `n` with another colour is already declared"),
        ("1`(t::ts)", "1`(t::)", "syntax",
         "arc id80 between `Kitchen_Rail` and `Cook` on page `Kitchen`, inscription id81: unexpected `)`: expected a "
         "value"),
        ("1`(t::ts)", "1`(t::tss)", "unknown-name",
         "arc id80 between `Kitchen_Rail` and `Cook` on page `Kitchen`, inscription id81: unknown name `tss`"),
        (">1`d<", "><", "no-inscription",
         "arc id58 between `Menu` and `Take Order` on page `Dining Room` has no inscription"),
        ("[n &lt;&gt; 2", "[n &lt;&gt; ", "syntax",
         "transition id40 (`Take Order`) on page `Dining Room`, guard id41: unexpected `orelse`: expected a value"),
        ("P_HIGH - 1", "~5", "bad-value",
         "transition id40 (`Take Order`) on page `Dining Room`, priority id44: -5 is not a whole number from 0"),
        ("P_HIGH - 1", "P_HIHG", "unknown-name",
         "transition id40 (`Take Order`) on page `Dining Room`, priority id44: unknown name `P_HIHG`"),
        ("1`tables<", "1`soup<", "bad-value",
         "place id21 (`Free Tables`) on page `Dining Room`, initial marking id23: 'soup' is not a value of INT (int)"),
        ("2`e", "2`(e", "syntax",
         "place id74 (`Done`) on page `Kitchen`, initial marking id76: the text ends too early: expected `)` or `,`"),
        ('id="id71"', 'id="id21"', "duplicate-id", "place id21: the `place` in line 120 has the same id"),
        ('<place id="id74">', "<place>", "no-id", "place on page `Kitchen` has no id"),
        ('name="Rail"/>', 'name="Reel"/>', "fusion",
         "place id24 (`Rail`) on page `Dining Room`: it is fused in `Reel` and in `Rail`"),
        ('<initmark id="id73">\n          <text tool="CPN Tools"\n                version="2.3.0">1`[blank]',
         '<initmark id="id73"><text>1`[]', "fusion",
         "place id71 (`Rail`) on page `Kitchen`: it is fused in `Rail` with `Dining Room_Rail`, which has "
         "another initial marking"),
        (">1`(ts ^^ [written {dish = d, table = n}])<", ">1`(ts ^^ [written {dish = d, table = k}])<", "bindable",
         "transition id40 (`Take Order`) on page `Dining Room`: no token that it takes binds `k`"),
        (">1`d<", ">1`n<", "inscription",
         "transition id40 (`Take Order`) on page `Dining Room`: on the arc `Menu` -> `Take Order`: found INT, expected "
         "Dish"),
        ("[n &lt;&gt; 2 orelse d = fish]", "[n + 2]", "guard",
         "transition id40 (`Take Order`) on page `Dining Room`: in its guard: found INT, expected BOOL"),
        ('orientation="BOTHDIR"', 'orientation="Both"', "bad-arc",
         "arc id56 between `id28` and `Take Order` on page `Dining Room`: `Both` is not a direction"),
    ],
)  # fmt: skip
def test_wrong_files(old: str, new: str, kind: str, message: str) -> None:
    found = changed(old, new)
    assert (kind, message) in [(p.kind, p.message) for p in found]
    assert all(p.file == "tables.cpn" and p.line for p in found)


def test_places_in_the_file() -> None:
    (problem,) = changed("1`(t::ts)", "1`(t::tss)")
    assert problem.source == "1`(t::tss)"
    assert problem.column == 7
    assert problem.line is not None
    assert b"1`(t::ts)" in TABLES.splitlines()[problem.line - 1]
    assert problem.render().splitlines()[1:3] == ["  1`(t::tss)", "        ^^^"]


def test_all_problems_at_once() -> None:
    data = TABLES.replace(b"1`(t::ts)", b"1`(t::)").replace(b"P_HIGH - 1", b"~5").replace(b">1`d<", b"><")
    found = refused(data).problems
    assert [p.kind for p in found] == ["bad-value", "no-inscription", "syntax"]
    assert [p.line for p in found] == sorted(p.line or 0 for p in found)


def test_markings_that_are_too_large() -> None:
    (problem,) = changed("2`e", "2000000000`e")
    assert problem.kind == "too-many-tokens"
