"""Parsers of lark grammars, and what one of them expected where it stopped.

Making the tables of a grammar takes some 50 ms, so they are made once on a machine and then read from the cache in 5.
Lark compares them with a hash of the grammar.
"""

from __future__ import annotations

import re
from functools import cache, partial
from importlib.resources import files

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternRE, TerminalDef

from occurs import cachefolder
from occurs.expr.aggregates import words


@cache
def lark_of(
    package: str, name: str, lexer: str = "contextual", word_end: str = "", shared: tuple[str, str] | None = None
) -> Lark:
    """The parser of a grammar file in a package; `AGGREGATES` in it stands for the aggregates of its language.

    ``word_end``: what must follow a quoted word of the grammar, which is a keyword then.  ``shared``: package and name
    of a grammar whose rules this one extends and overrides.  (Lark's ``%import`` would put the name of the grammar
    before the names of trees, and imports every terminal by its name.)
    """
    both = [shared, (package, name)] if shared is not None else [(package, name)]
    grammar = "\n".join(files(where).joinpath(file).read_text(encoding="utf-8") for where, file in both)
    grammar = grammar.replace("(AGGREGATES)", f"({'|'.join(words(package.split('.')[-1]))})")
    place = cachefolder.folder("grammars-2")
    return Lark(
        grammar,
        parser="lalr",
        lexer=lexer,
        propagate_positions=True,
        maybe_placeholders=True,
        cache=False if place is None else str(place / f"{package}.{name}"),
        edit_terminals=partial(_keyword, word_end) if word_end else None,
    )


def _keyword(end: str, terminal: TerminalDef) -> None:
    """A quoted word in a grammar becomes a keyword, which goes before a name."""
    word = terminal.pattern
    if word.type == "str" and re.fullmatch(r"[a-z]+", word.value):
        terminal.pattern, terminal.priority = PatternRE(word.value + end, word.flags), 10


def expected_terminals(error: UnexpectedInput) -> set[str]:
    """The terminals that could stand where the parser stopped."""
    parser = getattr(error, "interactive_parser", None)
    if parser is not None:
        return set(parser.accepts())
    found = getattr(error, "allowed", None) or getattr(error, "expected", None)
    return set(found or ())


def found_at(error: UnexpectedInput, piece: str) -> tuple[int, int, str]:
    """Start and end in the statement, and how to name what stands there."""
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        token = error.token
        start = token.start_pos or 0
        return start, token.end_pos or start + len(token), f"unexpected `{token}`"
    if isinstance(error, UnexpectedCharacters):
        start = error.pos_in_stream or 0
        match = re.compile(r"\w+|.", re.DOTALL).match(piece, start)
        text = match.group() if match else ""
        return start, start + max(1, len(text)), f"unexpected `{text}`"
    # the caret goes right behind the last thing of the statement
    return len(piece), len(piece) + 1, "the statement ends too early"
