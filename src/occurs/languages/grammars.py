"""Parsers of grammars: made once on a machine, then read from the cache.

Making the tables of a grammar takes some 50 ms, reading them 5.  Lark compares them with a hash of the grammar.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lark import Lark

from occurs import cachefolder


@cache
def lark_of(package: str, name: str, lexer: str = "contextual") -> Lark:
    """The parser of a grammar file in a package."""
    grammar = files(package).joinpath(name).read_text(encoding="utf-8")
    place = cachefolder.folder("grammars-1")
    made = False if place is None else str(place / f"{package}.{name}")
    return Lark(grammar, parser="lalr", lexer=lexer, propagate_positions=True, maybe_placeholders=True, cache=made)
