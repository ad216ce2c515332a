"""Problems, outlines and plans of programs, whole and broken."""

from __future__ import annotations

import importlib
import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from occurs import services
from occurs.checked_texts import Read
from occurs.errors import DefinitionProblem, SyntaxProblem, UsageProblem
from occurs.languages.kit.language import suffixes
from occurs.services.checks import LARGE, _snapshot
from occurs.services.scope import _types
from occurs.services.vocabulary import words_of
from summits import beside_the_languages


def outline(texts: dict[str, str]) -> list[tuple[str, str, str, str | None, tuple[str, ...]]]:
    return [(o.file, o.name, o.kind, o.output, o.reads) for o in services.check(texts).outline]


def test_outlines_of_all_languages_and_what_their_definitions_read():
    texts = {
        "a.tesla": "event T(v: int) rule R: define Hot(v) from T(v > 4) where v = T.v Subscribe(Hot) Assign 2 => T",
        "b.epl": "create schema A (v int);\n@Name('p') insert into B select a.v as v from pattern [every a=A -> Hot];\n"
        "@Name('q') select * from B;\nselect * from B;",
        "c.ftl": "table K (k string key, v int) state s (p bool) trigger t: eventually K('a') = 3 emit X(a = 3)\n"
        "constant c = 3",
        "d.phen": "input event foo(x).\nfact f(a).\nevent e(X) : foo(X).\nstate s(X) : e(X) ~> foo(X).",
        "e.esql": "LET x BE A.v.\nDEFINE Sum AS THE SUM OF x.\nTHE TWICE OF x IS THE PROCESSOR x.",
    }
    assert outline(texts) == [
        ("a.tesla", "T", "event", "T", ()),
        ("a.tesla", "R", "rule", "Hot", ("T",)),
        ("a.tesla", "Hot", "subscription", None, ("Hot",)),
        ("a.tesla", "T", "assign", None, ()),
        ("b.epl", "A", "schema", "A", ()),
        ("b.epl", "p", "pattern", "B", ("A", "Hot")),
        ("b.epl", "q", "simple", "q", ("B",)),
        ("b.epl", "stmt_3", "simple", "stmt_3", ("B",)),
        ("c.ftl", "K", "table", "K", ()),
        ("c.ftl", "s", "state", "s", ()),
        ("c.ftl", "t", "trigger", "X", ("K",)),
        ("c.ftl", "c", "constant", None, ()),
        ("d.phen", "foo", "input", "foo", ()),
        ("d.phen", "f", "fact", None, ()),
        ("d.phen", "e", "event", "e", ("foo",)),
        ("d.phen", "s", "state", "s", ("e", "foo")),
        ("e.esql", "x", "let", None, ()),
        ("e.esql", "Sum", "query", "Sum", ("A",)),
        ("e.esql", "THE TWICE OF x", "phrase", None, ()),
    ]


def test_what_can_be_read_is_outlined_though_the_rest_is_wrong():
    texts = {
        "a.tesla": "define A() from T(x >) define B() from T()",
        "b.epl": "select * frm C;\ninsert into D select a.nope as n from pattern [every a=B];",
        "c.epl": "create schema E (",
    }
    assert outline(texts) == [("a.tesla", "B", "rule", "B", ("T",)), ("b.epl", "D", "pattern", "D", ("B",))]
    found = services.check(texts).problems
    assert [(p.file, p.kind) for p in found if p.severity == "error"] == [
        ("a.tesla", "syntax"), ("b.epl", "syntax"), ("b.epl", "unknown-attribute"), ("c.epl", "syntax"),
    ]  # fmt: skip


def test_problems_are_those_of_the_program():
    text = "insert into B select a.x as x from pattern [every a=A -> b=C(k = a.k)];"
    read = [(text, "b.epl", "epl")]
    from occurs.checked_program import CheckedProgram

    expected = CheckedProgram(read).check()
    found = services.check({"b.epl": text}).problems
    assert {(p.kind, p.message, p.severity, p.hint, p.span) for p in expected} == {
        (p.kind, p.message, p.severity, p.hint, p.span) for p in found
    }
    assert "unbounded-state" in {p.kind for p in found}


def test_columns_count_code_points():
    (problem,) = services.check({"a.tesla": "define Hot() from T(x = '🙂🙂', 3 +)"}).problems
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (1, 34)
    text = "/* 🙂🙂 */ select '🙂' as x from A; select * from A;"
    (entry,) = services.check({"a.epl": text}).outline[-1:]
    assert entry.span is not None
    assert entry.span.column == text.rindex("select") + 1


def test_a_crash_is_a_problem_and_is_logged(monkeypatch, caplog):
    def crash(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(Read, "check", crash)
    with caplog.at_level(logging.CRITICAL, "occurs.services.checks"):
        (problem,) = services.check({"a.tesla": "define Crash() from T()"}).problems
    assert (problem.kind, problem.severity) == ("internal", "error")
    assert "Traceback" not in problem.message


def test_programs_of_many_statements_are_checked_without_their_costs():
    many = "\n".join(f"create schema A{i} (x int);" for i in range(LARGE))
    found = services.check({"a.epl": many + "select * from pattern [every a=A1 -> b=A2];"})
    assert [p.kind for p in found.problems] == ["partly-checked", "unbounded-state"]
    assert len(found.outline) == LARGE + 1


# --- plans ------------------------------------------------------------------------------------------------------------

EPL = """\
create schema H (k string, v int);
@Name('keyed') insert into Z select a.v as v from pattern [every a=H -> b=H(k = a.k) where timer:within(5 min)];
@Name('open') insert into Y select a.v as v from pattern [every a=H -> b=H(v > a.v)];
"""


def test_a_plan_on_events_reads_the_files_that_rules_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "words.txt").write_text("a\n")
    table = pa.table({"type": ["T"], "time": [1]})
    texts = {"below/a.esql": 'DEFINE Out AS THE COUNT OF FILE "words.txt".'}
    [found] = services.plan(texts, table, {"time_unit": "s"}).definitions
    assert found["reads"] == ["FILE words.txt"]


def test_a_plan_tells_keys_retention_and_places():
    found = services.plan({"b.epl": EPL})
    keyed, unkeyed = found.definitions
    assert (keyed["name"], keyed["output"], keyed["language"], keyed["reads"]) == ("keyed", "Z", "epl", ["H"])
    assert (keyed["key"], keyed["why_no_key"]) == ({"H": ["k"]}, None)
    assert [r["unbounded"] for r in keyed["retention"]] == [False]
    assert (unkeyed["key"], unkeyed["file"], unkeyed["line"]) == ({}, "b.epl", 3)
    assert "no attribute is equal" in unkeyed["why_no_key"]
    assert [(r["unbounded"], "timer:within" in r["hint"]) for r in unkeyed["retention"]] == [(True, True)]
    assert [t["type"] for t in found.inputs] == ["H"]
    assert found.text.startswith("Inputs (1 type):")
    assert {g["mode"] for g in found.spark} == {"keyed", "single"}
    assert any("single partition" in note for note in unkeyed["notes"])
    assert all(note.startswith(("Spark: ", "stream: ")) for d in found.definitions for note in d["notes"])
    assert [[w["kind"] for w in d["warnings"]] for d in found.definitions] == [[], ["unbounded-state"]]
    assert {*unkeyed["warnings"][0]} == {"kind", "severity", "message", "hint"}
    json.dumps(found.__dict__)


@pytest.mark.parametrize(
    ("path", "text", "unbounded"),
    [
        ("a.tesla", "define Hot() from T(k = $k) and each S(k = $k) within 5 min from T", False),
        ("a.ftl", "table T (k string key, v int) trigger t for each y in (select k from T):"
         " eventually [x <- T(y)] eventually T(y) > 2 * x", True),
        ("a.phen", "input event a(v). state s(V) : a(V) ~> a(V).", False),
        ("a.esql", "DEFINE Out AS THE SUM OF T.v.", False),
    ],
)  # fmt: skip
def test_plans_of_all_languages(path, text, unbounded):
    (found,) = services.plan({path: text}).definitions
    assert any(r["unbounded"] for r in found["retention"]) is unbounded
    assert found["file"] == path
    assert found["span"]["end_column"] > 1
    assert found["language"] == suffixes()[path[1:]]
    assert found["level"] == 1


def test_a_plan_tells_costs_apart_from_hosts():
    late = "input event a(v), b(v).\nstate s(V) : a(V) ~>> b(V).\n"
    (found,) = services.plan({"a.phen": late}).definitions
    ((cost),) = found["warnings"]
    assert cost["kind"] == "unbounded-delay"
    assert cost["hint"]
    assert all(note.startswith(("Spark: ", "stream: ")) for note in found["notes"])
    (other,) = services.plan({"a.esql": "DEFINE Out AS THE SUM OF T.v."}).definitions
    assert other["warnings"] == []


def test_plans_of_wrong_programs_raise():
    with pytest.raises(SyntaxProblem):
        services.plan({"a.epl": "select"})
    with pytest.raises(DefinitionProblem):
        services.plan({"a.epl": "create schema A (x int); select a.y as y from pattern [a=A];"})
    with pytest.raises(UsageProblem):
        services.plan({"a.epl": EPL}, None, {"time_unit": "fortnight"})


def test_what_is_exported():
    assert set(services.__all__) >= {"check", "complete", "definition", "format_text", "hover", "plan", "uses", "words"}
    for name in services.__all__:
        assert callable(getattr(services, name))
    with pytest.raises(AttributeError):
        services.nothing  # noqa: B018


def test_the_shapes_can_be_used_without_the_engine():
    code = "import sys, occurs.services.answers; print([m for m in ('pyarrow', 'lark', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_new_language_has_what_its_module_declares():
    page = Path(__file__).parents[2] / "docs/about/extending.md"
    (code,) = re.findall(r"```python\n(from occurs\.languages\.kit\.editing.*?)```", page.read_text(), re.DOTALL)
    members: dict[str, Any] = {}
    exec(code, members)  # what the page shows
    texts = {"a.summit": "summit Highest of Temp.celsius per room\n", "b.tesla": "define X() from Highest()"}
    with beside_the_languages():
        define = importlib.import_module("occurs.languages.summits.define")
        assert outline(texts) == [("b.tesla", "X", "rule", "X", ("Highest",))]
        assert services.complete("a.summit", texts, 3).items == ()
        vars(define).update({name: members[name] for name in ("words", "outline")})
        for kept in (_snapshot, _types, words_of):
            kept.cache_clear()
        assert outline(texts)[0] == ("a.summit", "Highest", "summit", "Highest", ("Temp",))
        found = services.complete("a.summit", texts, len(texts["a.summit"]))
        assert {"summit", "per", "Temp", "Highest"} <= {i.label for i in found.items}
        hovered = services.hover("a.summit", texts, 10)
        assert hovered is not None
        assert hovered.text.startswith("Highest(room: string, celsius: int)")
    for kept in (_snapshot, _types, words_of):
        kept.cache_clear()
