"""Every citation of a specification in the code leads to a section that exists in docs/spec.

A citation names a document and, in most cases, sections of it: ``tesla.md, section 4``, ``pipes.md 4.5, 4.6``,
``common.md, sections 1 and 6``, ``phenesthe.md, sections 4.2 to 4.5``, ``epl-and-nets.md, section 4B, Data``.  Pages
cite ``[common](common.md), section 6``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SPEC = DOCS / "spec"
FOLDERS = ("src", "tests", "benchmarks", "examples", "docs")
SUFFIXES = (".py", ".lark", ".md", ".toml")

NUMBER = r"\d+[A-Z]?(?:\.\d+)*\b(?![.]\d)"
NAMED = r"""\*[^*]+\*|"[^"]+"|`[^`]+`(?: files)?|[A-Z][^).;:,*"`]*"""
AND = r"(?:, (?:and )?| and | to |-)"
CITATION = re.compile(
    rf"(?P<document>[a-z][a-z0-9-]*\.md)[`)]*,?:?(?: \()?(?P<sections>(?:{AND}| )(?:sections? )?{NUMBER}"
    rf"(?:{AND}(?:sections? )?{NUMBER})*)(?:, (?P<named>{NAMED}))?"
)
DOCUMENT = re.compile(r"(?<![\w/*.{}-])([A-Za-z][\w-]*\.md)\b")
#: a section of nothing: neither a document of docs/spec nor a paper is named before it
LOOSE = re.compile(rf"\bsections? {NUMBER}|\bspec {NUMBER}")
ATTRIBUTED = re.compile(rf"(?:\.md`*,?:? \(?|, |; | and |paper'?s? |\bits )sections? {NUMBER}")


def flowing(text: str) -> str:
    """The text in one line, without the signs at the beginnings of comment lines."""
    return re.sub(r"\s*\n\s*(?:#:? ?|// ?)?", " ", text)


@cache
def prose(path: Path) -> list[tuple[int, str]]:
    """Line and text of every docstring and comment of a file that names a document or a section."""
    return list(_prose(path))


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text()
    if not re.search(r"\.md\b|\bsections? \d|\bspec ", text):
        return
    if path.suffix != ".py":
        yield 1, flowing(text)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node, clean=False)
            if documented:
                yield node.body[0].lineno, flowing(documented)
    block: list[str] = []
    began = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 and block:
                yield began, " ".join(block)
                block = []
            began = began if block else token.start[0]
            last = token.start[0]
            block.append(token.string.lstrip("#: "))
    if block:
        yield began, " ".join(block)


@cache
def files() -> list[Path]:
    found = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    return [path for path in found if path.suffix in SUFFIXES and path != Path(__file__)]


@cache
def sections(document: str) -> dict[str, str]:
    """The text below each numbered heading of a document, the sections in it included."""
    lines = (SPEC / document).read_text().split("\n")
    heading = re.compile(rf"(#+) ({NUMBER})\.? ")
    found: dict[str, list[str]] = {}
    open_: list[tuple[int, str]] = []
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        depth = 0 if fenced else len(re.match("#*", line)[0])
        if depth:
            open_ = [one for one in open_ if one[0] < depth]
            if match := heading.match(line):
                assert match[2] not in found, f"{document} has two sections {match[2]}"
                open_.append((depth, match[2]))
                found[match[2]] = []
        for _, number in open_:
            found[number].append(line)
    return {number: "\n".join(text) for number, text in found.items()}


def problems(text: str) -> Iterator[str]:
    for match in CITATION.finditer(text):
        document = match["document"]
        if not (SPEC / document).exists():
            yield f"docs/spec/{document} does not exist: {match[0]}"
            continue
        there = sections(document)
        numbers = re.findall(NUMBER, match["sections"])
        for number in numbers:
            if number not in there:
                yield f"{document} has no section {number}: {match[0]}"
        if match["named"] and all(number in there for number in numbers):
            named = match["named"].strip('*"` ').removesuffix("` files").lower()
            if not any(named in there[number].lower() for number in numbers):
                yield f"section {numbers[-1]} of {document} has nothing named {match['named']}: {match[0]}"


def comments() -> Iterator[tuple[Path, int, str]]:
    """Comments and docstrings of the code and of the grammars, each with its file and line."""
    for path in files():
        if path.suffix in (".py", ".lark"):
            for line, text in prose(path):
                yield path, line, text


def test_every_citation_leads_to_a_section():
    wrong = [
        f"{path.relative_to(ROOT)}: {problem}" for path in files() for problem in problems(flowing(path.read_text()))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_document_that_is_named_exists():
    known = {path.name for path in DOCS.rglob("*.md")} | {path.name for path in ROOT.glob("*.md")}
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, line, text in comments()
        for name in DOCUMENT.findall(text)
        if name not in known and not (path.parent / name).exists()
    ]
    assert not wrong, "\n".join(wrong)


def test_every_section_that_is_named_is_one_of_a_document():
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text[max(0, match.start() - 40) : match.end()]}"
        for path, line, text in comments()
        for match in LOOSE.finditer(text)
        if not any(one.end() == match.end() for one in ATTRIBUTED.finditer(text))
    ]
    assert not wrong, "\n".join(wrong)


def test_citations_are_found():
    cited = [match["document"] for path in files() for match in CITATION.finditer(flowing(path.read_text()))]
    assert len(cited) > 300
    assert set(cited) <= {path.name for path in SPEC.glob("*.md")}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("(tesla.md, section 4)", 0),
        ("(pipes.md 4.5, 4.6)", 0),
        ("(pipes.md, 2.2, section 3)", 0),
        ("(phenesthe.md, sections 4.2 to 4.5)", 0),
        ("(epl-and-nets.md, sections 2, 3 and 4A, Statements)", 0),
        ("(temporal-logic.md 4.1, *Reads*)", 0),
        ('(common.md, section 6, "the dialect record")', 0),
        ("[common](common.md), section 6", 0),
        ("[common](common.md), section 66", 1),
        ("(tesla.md, section 40)", 1),
        ("(pipes.md 4.5, 4.9)", 1),
        ("(pipes.md, 2.2, section 12)", 1),
        ("(phenesthe.md, sections 4.2 to 4.15)", 1),
        ("(epl-and-nets.md, sections 2, 3 and 4C)", 1),
        ("(temporal-logic.md 4.1, *Writes*)", 1),
        ("(temporal.md 4.1)", 1),
    ],
)
def test_wrong_citations_are_noticed(text, wrong):
    assert len(list(problems(text))) == wrong
