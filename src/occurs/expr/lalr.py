"""Parsing with the tables that lark made of a grammar, in one loop.

Thousands of rules are parsed statement by statement, and lark spends most of that time on calls: every reduction goes
through four wrappers, and a bare name goes through ten rules with one child each.  This loop reads the same tables and
the same terminals, and builds the same trees: names of rules, children, and the start and end of every tree.  A text
that it cannot parse goes to lark, which words the error.  ``tests/languages/test_trees.py`` compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from lark import Lark, Token, Tree
from lark.lexer import BasicLexer
from lark.parse_tree_builder import ChildFilterLALR, ChildFilterLALR_NoPlaceholders, ExpandSingleChild
from lark.parsers.lalr_analysis import Shift

#: the terminal behind the last token
_END = "$END"


class Word(Token):
    """A token: its text, with the name of its terminal, its start and its end.  It has no line and no column."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """The text."""
        return str(self)


class Node(Tree[Any]):
    """A tree that is its own ``meta``, with ``start_pos`` and ``end_pos``; an empty one has neither."""

    def __init__(self, data: str, children: list[Any], start: int | None, end: int | None):
        self.data = data
        self.children = children
        if start is not None:
            self.start_pos, self.end_pos = start, end

    @property
    def meta(self) -> Any:
        """The tree itself, which has its positions."""
        return self

    @property
    def empty(self) -> bool:
        """Whether no token belongs to the tree."""
        return not hasattr(self, "start_pos")


class _Reduction:
    """What a rule of the grammar makes of its symbols.

    ``size``: how many; ``origin``: the symbol that they become; ``data``: the name of the tree; ``kept``: the symbols
    that become children, each with whether its own children do, and how many Nones stand before it; ``behind``: Nones
    at the end; ``single``: one child stands for the tree.  ``unit``: the value of its only symbol is the result.
    """

    __slots__ = ("behind", "data", "kept", "origin", "plain", "single", "size", "unit")

    def __init__(self, rule: Any, builder: Any):
        self.size, self.origin = len(rule.expansion), rule.origin.name
        builder = builder.node_builder  # inside the wrapper that gives positions
        self.kept, self.behind = [(i, False, 0) for i in range(self.size)], 0
        if isinstance(builder, ChildFilterLALR_NoPlaceholders):
            self.kept = [(i, inner, 0) for i, inner in builder.to_include]
            builder = builder.node_builder
        elif isinstance(builder, ChildFilterLALR):
            self.kept, self.behind = builder.to_include, builder.append_none
            builder = builder.node_builder
        self.single = isinstance(builder, ExpandSingleChild)
        self.data = (builder.node_builder if self.single else builder).args[0]
        self.plain = not self.behind and not any(inner or nones for _, inner, nones in self.kept)
        self.unit = self.single and self.plain and self.size == len(self.kept) == 1


class Reader:
    """The parser of a grammar that lark compiled: LALR, with positions, without transformer."""

    def __init__(self, lark: Lark):
        frontend: Any = lark.parser
        callbacks = frontend.parser.parser.callbacks
        table = frontend.parser._parse_table
        used = {to for actions in table.states.values() for action, to in actions.values() if action is not Shift}
        reductions = {rule: _Reduction(rule, callbacks[rule]) for rule in used}
        self._lark = lark
        self._states = {
            state: {name: to if action is Shift else reductions[to] for name, (action, to) in actions.items()}
            for state, actions in table.states.items()
        }
        [self._start] = table.start_states.values()
        [self._accepted] = table.end_states.values()
        self._lexer: Any = frontend.lexer
        #: the terminals whose tokens are in a tree, or are renamed
        self._kept = {r.expansion[i].name for r, own in reductions.items() for i, _, _ in own.kept}
        #: of a state: the patterns of its tokens, those that are left out, and what renames a token
        self._tokens: dict[Any, tuple[Callable[..., Any], frozenset[str], dict[str, Any]]] = {}
        #: the state that rules of one symbol lead to, by the state below it, itself, and the next terminal
        self._leaps: dict[tuple[Any, Any, str], Any] = {}

    def parse(self, text: str) -> Any:
        """The tree of a text.  Raises UnexpectedInput, as lark words it."""
        states: list[Any] = [self._start]
        values: list[Any] = []
        starts: list[int | None] = []
        ends: list[int | None] = []
        table, tokens, leaps, accepted, kept = self._states, self._tokens, self._leaps, self._accepted, self._kept
        at, stop = 0, len(text)
        while True:
            state = states[-1]
            try:
                match, ignored, renamed = tokens[state]
            except KeyError:
                match, ignored, renamed = tokens[state] = self._tokens_in(state)
            name, word = _END, None
            while at < stop:
                found = match(text, at)
                if found is None:
                    return self._lark.parse(text)
                begin, at, name = at, found.end(), found.lastgroup
                if name in ignored:
                    name = _END
                    continue
                if name not in kept:
                    break
                word = str.__new__(Word, found.group())
                word.type, word.start_pos, word.end_pos = name, begin, at
                if name in renamed:
                    name = renamed[name](word).type
                break
            while True:
                action = table[state].get(name)
                if action.__class__ is not _Reduction:
                    if action is None:
                        return self._lark.parse(text)
                    states.append(action)
                    values.append(word)
                    starts.append(begin)
                    ends.append(at)
                    break
                if action.unit:
                    below = states[-2]
                    key = (below, state, name)
                    state = leaps.get(key)
                    if state is None:
                        state = leaps[key] = self._leap(*key)
                    states[-1] = state
                else:
                    size = action.size
                    if size:
                        value, start, end = _built(action, values[-size:], starts[-size:], ends[-size:])
                        del states[-size:], values[-size:], starts[-size:], ends[-size:]
                    else:
                        value, start, end = _built(action, [], [], [])
                    state = table[states[-1]][action.origin]
                    states.append(state)
                    values.append(value)
                    starts.append(start)
                    ends.append(end)
                if name is _END and state == accepted:
                    return values[-1]

    def _tokens_in(self, state: Any) -> tuple[Callable[..., Any], frozenset[str], dict[str, Any]]:
        lexer = self._lexer if isinstance(self._lexer, BasicLexer) else self._lexer.lexers[state]
        patterns = lexer.scanner._mres
        first = patterns[0].match if patterns else re.compile(r"(?!)").match

        def match(text: str, at: int) -> Any:
            return next((found for p in patterns if (found := p.match(text, at)) is not None), None)

        return (first if len(patterns) < 2 else match), lexer.ignore_types, lexer.callback

    def _leap(self, below: Any, state: Any, name: str) -> Any:
        """Where a state goes by rules of one symbol, as long as the next terminal asks for them."""
        while True:
            action = self._states[state].get(name)
            if action.__class__ is not _Reduction or not action.unit or (name is _END and state == self._accepted):
                return state
            state = self._states[below][action.origin]


def _built(
    rule: _Reduction, values: list[Any], starts: list[int | None], ends: list[int | None]
) -> tuple[Any, int | None, int | None]:
    """The tree of a rule, and where all its symbols begin and end."""
    if rule.plain:
        children = [values[i] for i, _, _ in rule.kept]
    else:
        children = []
        for i, inner, nones in rule.kept:
            if nones:
                children += [None] * nones
            if not inner:
                children.append(values[i])
            elif children:
                children += values[i].children
            else:  # the list grows from its left: it is not copied
                children = values[i].children
        if rule.behind:
            children += [None] * rule.behind
    start = starts[0] if starts else None
    end = ends[-1] if ends else None
    if start is None or end is None:  # the first or the last symbol is empty
        start = next((s for s in starts if s is not None), None)
        end = next((e for e in reversed(ends) if e is not None), None)
    if rule.single and len(children) == 1:
        [value] = children
        if isinstance(value, Token):
            return value, value.start_pos, value.end_pos
        return value, start, end
    return Node(rule.data, children, start, end), start, end


@cache
def reader(lark: Lark) -> Reader:
    """The reader of a grammar, which is made once."""
    return Reader(lark)
