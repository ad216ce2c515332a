"""The trees of statements: the loop over lark's tables builds those that lark builds, or refuses what lark refuses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput
from mutants import LANGUAGES, mutant, sources

import occurs
from occurs.errors import OccursError
from occurs.expr.lalr import Node, Reader, reader
from occurs.languages.kit import statements


def shape(tree: Any) -> Iterator[Any]:
    """Everything that a builder can read of a tree, without recursion."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Tree):
            place = None if node.meta.empty else (node.meta.start_pos, node.meta.end_pos)
            yield node.data, len(node.children), place
            left += node.children
        elif isinstance(node, Token):
            yield node.type, str(node), node.start_pos, node.end_pos
        else:
            yield node


class Compared:
    """Parses with both, and compares them; counts what was parsed and refused."""

    def __init__(self) -> None:
        self.read = self.refused = 0

    def __call__(self, lark: Lark) -> Any:
        self.lark = lark
        return self

    def parse(self, words: str) -> Any:
        wanted, error = self.outcome(self.lark, words)
        found, again = self.outcome(reader(self.lark), words)
        assert str(again) == str(error)
        if error is not None:
            self.refused += 1
            raise error
        assert isinstance(found, Node | Token), f"lark parsed it, the loop did not: {words}"
        assert list(shape(found)) == list(shape(wanted)), words
        self.read += 1
        return found

    @staticmethod
    def outcome(parser: Any, words: str) -> tuple[Any, UnexpectedInput | None]:
        try:
            return parser.parse(words), None
        except UnexpectedInput as error:
            return None, error


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compared:
    both = Compared()
    monkeypatch.setattr(statements, "reader", both)
    monkeypatch.setattr(statements, "parsed", statements.Kept())
    return both


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "esql"])
def test_trees_are_those_of_lark(compared: Compared, language: str) -> None:
    known = [s for s in sources() if s.language == language]
    rng = random.Random(11)
    for text in [s.text for s in known] + [mutant(rng.choice(known), rng) for _ in range(150)]:
        with suppress(OccursError):  # what is wrong with the text is not the matter here
            occurs.parse(text, language=language)
    assert compared.read > 150
    assert compared.refused > 20


def test_reader_is_made_once_per_grammar() -> None:
    lark = Lark('start: "a" [B] c\n?c: B | "(" c ")"\nB: "b"', parser="lalr", propagate_positions=True,
                maybe_placeholders=True)  # fmt: skip
    assert reader(lark) is reader(lark)
    found = Reader(lark).parse("a((b))")
    assert [found.children[0], str(found.children[1])] == [None, "b"]
    assert (found.start_pos, found.end_pos) == (0, 3 + 1)
