"""What the specifications in docs/spec state beside the code: grammars, kinds of problems, worked examples."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import click
import pytest

from occurs.cli import main
from occurs.languages.esql.grammar import PATTERNS, PROCESSORS
from occurs.testing.cases import load_cases

ROOT = Path(__file__).parent.parent
SPEC = ROOT / "docs" / "spec"
CASES = ROOT / "tests" / "cases"
LANGUAGES = ROOT / "src" / "occurs" / "languages"


def section(document: str, number: str) -> str:
    """The text of a section of level two."""
    found = re.search(rf"^## {number}\. .*?\n(.*?)(?=^## |\Z)", (SPEC / document).read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"{document} has no section {number}"
    return found[1]


# -- grammars --------------------------------------------------------------------------------------------------------
def keywords(grammar: str) -> set[str]:
    """The words of a grammar of lark: keywords, and those in the patterns of terminals that are not in lookarounds."""
    found = set(re.findall(r'"([a-z]{2,})"', grammar))
    for pattern in re.findall(r"^(?:%override )?[A-Z_]+\d?(?:\.\d+)?: /(.*)/i?$", grammar, re.MULTILINE):
        while "(?" in pattern:
            bare = re.sub(r"\(\?(?:[^()]|\([^()]*\))*\)", "", pattern)
            if bare == pattern:
                break
            pattern = bare
        if not re.search(r"\[\^?[A-Za-z\\]", pattern):
            found |= set(re.findall(r"(?<![\\A-Za-z])[A-Za-z]{2,}", pattern))
    return found


@pytest.mark.parametrize(
    ("document", "language"),
    [("tesla.md", "tesla"), ("epl-and-nets.md", "epl"), ("phenesthe.md", "phenesthe"), ("temporal-logic.md", "logic"),
     ("match-recognize.md", "match_recognize")],
)
def test_every_keyword_of_a_grammar_is_in_its_specification(document, language):
    words = keywords((LANGUAGES / language / "grammar.lark").read_text())
    if language in ("tesla", "epl"):  # whose expressions are all of the shared ones
        words |= keywords((LANGUAGES / "kit" / "expression.lark").read_text())
    assert len(words) > 20
    text = section(document, "2").lower()
    missing = [word for word in sorted(words) if not re.search(rf"(?<![a-z]){word.lower().rstrip('s')}", text)]
    assert not missing


def test_every_form_of_esql_is_in_its_specification():
    text = section("pipes.md", "2")
    # those of operators/process/further are said where they are declared
    own = [p for p in PATTERNS if p.kind not in PROCESSORS or PROCESSORS[p.kind].__module__.endswith(".tree")]
    assert len(own) > 30
    words = {word for pattern in own for word in "|".join(pattern.words).split("|")} - {"..."}
    missing = [word for word in sorted(words) if f'"{word.strip(", ")}"' not in text and word.strip(", ")]
    assert not missing


# -- kinds of problems -----------------------------------------------------------------------------------------------
@cache
def reported() -> set[str]:
    """Everything in the sources that could be the kind of a problem."""
    texts = (path.read_text() for path in sorted((ROOT / "src").rglob("*.py")))
    return {kind for text in texts for kind in re.findall(r'"([a-z]+(?:-[a-z]+)*)"', text)}


@pytest.mark.parametrize(
    ("document", "number"),
    [
        ("common.md", "5"),
        ("tesla.md", "3"),
        ("epl-and-nets.md", "3"),
        ("phenesthe.md", "3"),
        ("temporal-logic.md", "3"),
        ("pipes.md", "3"),
    ],
)
def test_every_kind_that_is_specified_exists(document, number):
    rows = re.findall(r"^\| (?!kind)(.*?) \|", section(document, number), re.MULTILINE)
    kinds = {kind for row in rows for kind in re.findall(r"`([a-z]+(?:-[a-z]+)*)`", row)}
    assert len(kinds) > 8
    assert not kinds - reported()


# -- worked examples -------------------------------------------------------------------------------------------------
def as_cases(text: str) -> str:
    """The examples of tesla.md in the form of text cases."""
    out = []
    for title, body in re.findall(r"^# (W\d+ .*)\n((?:(?!# W\d|```).*\n)+)", text, re.MULTILINE):
        rules, events = body.split("\nin:")
        events, expected = events.split("\nout:")
        expected = "" if "(nothing)" in expected else expected
        out.append(f"## {title}\n```tesla\n{rules}\n```\n```in\n{events}\n```\n```out\n{expected}\n```\n")
    return "\n".join(out)


def test_the_examples_of_tesla_are_its_text_cases(tmp_path):
    (tmp_path / "cases.md").write_text(as_cases(section("tesla.md", "7")))
    stated = {case.name.split()[0]: case for case in load_cases(tmp_path / "cases.md")}
    cases = {case.name.split()[0]: case for case in load_cases(CASES / "tesla" / "worked.md")}
    assert len(stated) == 24
    for name, case in stated.items():
        assert case.rules.split() == cases[name].rules.split()
        assert sorted(map(str, case.events)) == sorted(map(str, cases[name].events))
        assert sorted(map(str, case.expected or ())) == sorted(map(str, cases[name].expected or ()))


@pytest.mark.parametrize(
    ("document", "cases", "elsewhere"),
    [
        ("phenesthe.md", "phenesthe", {24}),  # over a stream of three days
        ("pipes.md", "pipes", {24}),  # in the tests of the Python interface
        ("temporal-logic.md", "logic", set()),
    ],
)
def test_every_worked_example_has_a_text_case(document, cases, elsewhere):
    stated = {int(n) for n in re.findall(r"^(?:\*\*|\| )(\d+)(?:\.\*\*| \|)", section(document, "7"), re.MULTILINE)}
    tried = {int(n) for n in re.findall(r"^## W?(\d+) ", (CASES / cases / "worked.md").read_text(), re.MULTILINE)}
    assert len(stated) >= 24
    assert not stated - tried - elsewhere


def test_every_pattern_of_epl_has_a_text_case():
    table = section("epl-and-nets.md", "7").split("**Table 1**")[0]
    rows = re.findall(r"^\| (`.*?`) \| ", table, re.MULTILINE)
    patterns = [p.strip(" `") for row in rows for p in row.split("` / `")]
    assert len(patterns) > 20
    tried = re.sub(r"\s+", "", (CASES / "epl" / "worked.md").read_text())
    missing = [p for p in patterns if re.sub(r"\s+", "", p) not in tried]
    assert not missing


# -- options ---------------------------------------------------------------------------------------------------------
def options() -> set[str]:
    """The long options of all commands."""
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in main.list_commands(context)]
    given = [option for c in commands for p in c.params for option in (*p.opts, *p.secondary_opts)]
    return {option for option in given if option.startswith("--")}


def test_every_option_that_is_specified_exists():
    stated = set(re.findall(r"--[a-z][a-z-]*", section("common.md", "8")))
    assert len(stated) > 60
    assert not stated - options() - {"--help"}
