"""Edits of the types that an EPL text declares."""

from __future__ import annotations

import random

import pytest
from epl_graph_edits import commented, epl_texts
from test_epl_graph_validation import checks

from occurs.languages.epl import syntax
from occurs.languages.epl.graph.domain import Change, Domain, changed
from occurs.languages.epl.graph.splicing import applied
from occurs.languages.epl.parser import parse

TEXT = """// the domain
create schema A(n int, k string /* key */); // first
create schema B(m int) inherits A;

@Name('d') insert into D select a.n, a.n + a.n as twice
from pattern [every a=A(n > 1, a.k = 'n')]; // a.n
insert into E select n from A(A.n = 2) where n > 1;
insert into F select * from A;
select f.n as n, b.n
from pattern [every-distinct(b.n) b=B(m = n) -> f=F(n = b.n) while (f.n > b.m)];
"""


def change(text: str, *parts: str | None, **more: str) -> Domain:
    return changed(text, Change(*parts, **more), checks(text))  # type: ignore[arg-type]


def test_a_type_is_renamed_wherever_it_is_used():
    found = change(TEXT, "rename-type", "A", to="Alpha")
    assert found.text == (
        TEXT.replace("schema A(", "schema Alpha(")
        .replace("inherits A", "inherits Alpha")
        .replace("=A(", "=Alpha(")
        .replace("from A(A.n", "from Alpha(A.n")
        .replace("from A;", "from Alpha;")
    )
    assert applied(TEXT, found.edits) == found.text


def test_an_attribute_is_renamed_wherever_it_is_used_and_other_columns_keep_their_names():
    text = TEXT.replace("A.n = 2", "n = 2")
    found = change(text, "rename-attribute", "A", "n", to="size")
    assert found.problems == ()
    assert (
        found.text
        == """// the domain
create schema A(size int, k string /* key */); // first
create schema B(m int) inherits A;

@Name('d') insert into D select a.size as n, a.size + a.size as twice
from pattern [every a=A(size > 1, a.k = 'n')]; // a.n
insert into E select size as n from A(size = 2) where size > 1;
insert into F select * from A;
select f.size as n, b.size as n
from pattern [every-distinct(b.size) b=B(m = size) -> f=F(size = b.size) while (f.size > b.m)];
"""
    )


def test_the_column_of_a_statement_that_derives_the_type_is_renamed():
    text = "create schema A(n int);\ninsert into A select b.n from pattern [b=B];\n"
    text += "insert into A select b.m as n from pattern [b=B];"
    found = change(text, "rename-attribute", "A", "n", to="to")
    assert found.text == text.replace("A(n int)", "A(to int)").replace("b.n from", "b.n as to from").replace(
        "as n", "as to"
    )
    keyword = change(text, "rename-attribute", "A", "n", to="select")
    assert keyword.text is not None
    assert "as `select` from" in keyword.text


@pytest.mark.parametrize(
    ("parts", "before", "after"),
    [
        (("add-type", "C"), "", "create schema C();\n"),
        (("add-type", None, "x", "C", "int"), "", "create schema C(x int);\n"),
        (
            ("add-type", "C", "x", None, "int"),
            "create schema A(n int); // a\nselect 1 as a from A;",
            "create schema A(n int); // a\ncreate schema C(x int);\nselect 1 as a from A;",
        ),
        (
            ("add-type", "C", "x", None, "int"),
            "create schema A(n int); select 1 as a from A;\r\n",
            "create schema A(n int);\r\ncreate schema C(x int); select 1 as a from A;\r\n",
        ),
        (
            ("add-type", "C", "x", None, "int"),
            "create schema A(n int)",
            "create schema A(n int);\n\ncreate schema C(x int);\n",
        ),
        (
            ("add-attribute", "A", "x", None, "double"),
            "create schema A(n int /* n */ );",
            "create schema A(n int, x double /* n */ );",
        ),
        (("add-attribute", "A", None, "min", "double"), "create schema A();", "create schema A(`min` double);"),
        (("remove-attribute", "A", "n"), "create schema A(n int);", "create schema A();"),
        (("remove-attribute", "A", "n"), "create schema A(n int, /* m */ m int);", "create schema A(/* m */ m int);"),
        (("remove-attribute", "A", "m"), "create schema A(n int /* n */, m int);", "create schema A(n int /* n */);"),
        (("remove-attribute", "A", "m"), "create schema A(n int, m int, k int);", "create schema A(n int, k int);"),
        (
            ("retype-attribute", "A", "n", None, "long"),
            "create schema A(`n`   int, m int);",
            "create schema A(`n`   long, m int);",
        ),
        (
            ("remove-type", "A"),
            "create schema B(n int);\ncreate schema A(n int);\n// end\n",
            "create schema B(n int);\n// end\n",
        ),
        (
            ("remove-type", "A"),
            "create schema B(n int); create schema A(n int); // a\n",
            "create schema B(n int);  // a\n",
        ),
    ],
)
def test_changes_of_schemas(parts, before, after):
    found = change(before, *parts)
    assert found.text == after, found.problems
    assert applied(before, found.edits) == after


@pytest.mark.parametrize(
    ("parts", "kind", "message"),
    [
        (("add-type", ""), "unknown-name", "the type has no name"),
        (("add-type", "A"), "duplicate-definition", "already a type `A`"),
        (("add-type", "D"), "duplicate-definition", "already a type `D`"),
        (("add-type", "C`"), "syntax", "cannot be a name"),
        (("add-type", "C", "x"), "unknown-name", "the attribute has no type"),
        (("add-type", "C", "x", None, "number"), "unknown-name", "`number` is not a type"),
        (("rename-type", "A", None, None, "B"), "duplicate-definition", "already a type `B`"),
        (("rename-type", "Aa", None, None, "C"), "unknown-name", "makes the type `Aa`"),
        (("rename-type", "D", None, None, "C"), "unknown-name", "makes the type `D`"),
        (("remove-type", "A"), "unknown-name", "still used 4 times"),
        (("add-attribute", "A", "n", None, "int"), "duplicate-name", "has an attribute `n` already"),
        (("add-attribute", "A", "time", None, "int"), "reserved-name", "`time`"),
        (("add-attribute", "A", "", None, "int"), "unknown-name", "the attribute has no name"),
        (("add-attribute", "A", "x", None, None), "unknown-name", "no type"),
        (("rename-attribute", "A", "x", None, "y"), "unknown-attribute", "no attribute `x`"),
        (("rename-attribute", "A", "n", None, "k"), "duplicate-name", "has an attribute `k` already"),
        (("rename-attribute", "A", "n", None, ""), "unknown-name", "the attribute has no name"),
        (("remove-attribute", "A", "k"), "unknown-attribute", "still used once"),
        (("retype-attribute", "A", "k", None, "int"), "type-mismatch", "string"),
        (("retype-attribute", "A", "k", None, "text"), "unknown-name", "`text` is not a type"),
    ],
)
def test_changes_that_cannot_be(parts, kind, message):
    found = change(TEXT, *parts)
    assert found.text is None
    assert found.edits == ()
    assert any(p.kind == kind and message in p.message for p in found.problems), found.problems


def test_a_domain_should_have_types_with_attributes():
    [problem] = change("create schema A(n int);", "remove-attribute", "A", "n").problems
    assert (problem.severity, problem.message) == ("warning", "`A` has no attribute")
    [problem] = change("create schema A(n int);", "remove-type", "A").problems
    assert (problem.severity, problem.message) == ("warning", "this text declares no type of events")


def test_names_that_are_renamed_and_renamed_back_leave_the_text_as_it_was():
    done = 0
    for text in epl_texts():
        text = commented(text, random.Random(3), 0.1)
        if any(p.severity == "error" for p in checks(text)(text).problems):
            continue
        for schema in (s for s in parse(text)[0].statements if isinstance(s, syntax.CreateSchema)):
            for attribute in (None, *(a.name.text for a in schema.attributes)):
                op = "rename-type" if attribute is None else "rename-attribute"
                there = change(text, op, schema.name.text, attribute, to="Renamed")
                assert there.text is not None, (text, there.problems)
                if any(e.insert != "Renamed" for e in there.edits):
                    continue  # a column had to be named
                new = ("Renamed", None) if attribute is None else (schema.name.text, "Renamed")
                back = change(there.text, op, *new, to=attribute or schema.name.text)
                assert back.text is not None, (text, there.text, back.problems)
                assert back.text.replace("`", "") == text.replace("`", "")
                done += 1
    assert done > 30
