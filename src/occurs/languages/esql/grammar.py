"""The grammar of eSQL as tables (pipes.md, 2.1, 2.2): words, operators and forms, for the parser and the printer.

The forms of processors are in their declarations.  A form is a row of *elements*: words, and slots for what varies.
What is read becomes a :class:`occurs.languages.esql.syntax.Form`, with one part per slot, choice and option that has a
name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from occurs.operators.process.declared import Parameter, Word, processors

#: what a phrase, or a parameter of one, may be
CATEGORIES = ("processor", "function", "number", "boolean", "text")
#: constants that are words
CONSTANTS = {"TRUE": True, "true": True, "FALSE": False, "false": False, "NULL": None, "null": None}
#: words of the old language that are known, and refused
REFUSED = {
    "URL": "Occurs does not download pages; read their text from a file with `--events`",
    "CALL": "Occurs does not start other programs; read their output from a file with `--events`",
    "TABLE": "read database tables with `occurs.connect`, or from a file with `--events`",
}
#: other spellings of operators
SPELLINGS = {
    "→": "->", "⇒": "->", "∨": "OR", "∧": "AND", "¬": "NOT", "□": "G", "◇": "F", "○": "X", "==": "=", "<>": "!=",
    "≠": "!=", "≤": "<=", "≥": ">=", "×": "*", "÷": "/", "∈": "IN", "·": ":", "⊤": "TRUE", "⊥": "FALSE",
}  # fmt: skip
#: units by every spelling that eSQL has
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "sec": "s", "second": "s", "seconds": "s", "min": "min", "minute": "min",
    "minutes": "min", "h": "h", "hour": "h", "hours": "h", "day": "d", "d": "d", "days": "d", "tick": "tick",
    "ticks": "tick",
}  # fmt: skip
IMPLIES, OR, AND, UNTIL, UNARY, COMPARISON, SUM, PRODUCT, NEGATION, POWER, OPERAND = range(11)
#: an operator by its key: how tightly it binds, and the least that its right operand must
OPERATORS: dict[str, tuple[int, int]] = {
    "->": (IMPLIES, IMPLIES), "IMPLIES": (IMPLIES, IMPLIES), "OR": (OR, AND), "AND": (AND, UNTIL),
    "U": (UNTIL, UNTIL), "UPTO": (UNTIL, UNTIL),
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">=", "IN"), (COMPARISON, SUM)),
    "+": (SUM, PRODUCT), "-": (SUM, PRODUCT),
    **dict.fromkeys(("*", "/", "MOD", "DIV"), (PRODUCT, NEGATION)),
}  # fmt: skip
#: quantifiers, by what they are written with
QUANTIFIERS = {
    ("FOR", "ALL"): "FOR ALL", ("∀",): "FOR ALL", ("EXISTS",): "EXISTS", ("∃",): "EXISTS", ("EVERY",): "EVERY",
    ("SOME",): "SOME",
}  # fmt: skip
#: words in front of a unary that negate or are temporal
PREFIXES = ("NOT", "G", "F", "X", "ALWAYS", "SOMETIME", "AFTER")


@dataclass(frozen=True)
class Slot:
    """``what``: ``operand primary expression number length count (a number or a length) text name word``.

    ``many``: one or more, with commas between: a tuple.  Of ``columns`` (SELECT) and ``sources`` (FROM, WITH) always.
    """

    name: str
    what: str
    many: bool = False


@dataclass(frozen=True)
class Choice:
    """One of some words; the part is the word.  ``optional``: or none of them."""

    name: str
    words: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True)
class Noise:
    """Words that may stand there and mean nothing."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """Elements that may be left out.  ``flag``: the name of a part that is True if they are there."""

    elements: tuple[Element, ...]
    flag: str | None = None


Element: TypeAlias = str | Slot | Choice | Noise | Option


@dataclass(frozen=True)
class Pattern:
    """``kind`` of form; several patterns of one kind are spellings of one form, and the first is printed."""

    kind: str
    elements: tuple[Element, ...]
    alike: str = ""

    @property
    def begin(self) -> str:
        """The words before its first slot."""
        return " ".join(takewhile(lambda e: isinstance(e, str), self.elements))  # type: ignore[arg-type]

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, with ``...`` for what stands between them, and ``alike`` for one of those: for messages."""
        out: list[str] = []
        for e in self.elements:
            if isinstance(e, str):
                out.append(self.alike if e in self.alike.split("|") else e)
            elif isinstance(e, Choice) and not e.optional:
                out.append("|".join(e.words))
            elif isinstance(e, Slot) and out[-1:] != ["..."]:
                out.append("...")
        return tuple(out)


#: a word, a slot, words that mean nothing, the beginning of what may be left out with its flag, and its end
_PART = re.compile(r"\{(\w+)(\?)?(?::(\w+))?(, \.\.)?\}|<([^>]+)>|(\[)(?:(\w+):)?|(\])|(,|[^\s,\[\]{}<>]+)")


def _pattern(kind: str, text: str, parameters: Mapping[str, Parameter] | None = None, alike: str = "") -> Pattern:
    """The pattern that a spelling is (:class:`occurs.operators.process.declared.Processor`).

    A slot says what it is itself (``{path:text}``), or is a parameter, or a pipe.
    """
    rows: list[tuple[str | None, list[Element]]] = [(None, [])]
    for name, optional, what, many, noise, opens, flag, closes, word in _PART.findall(text):
        known = (parameters or {}).get(name)
        if opens:
            rows.append((flag or None, []))
            continue
        element: Element = word
        if closes:
            flagged, inside = rows.pop()
            element = Option(tuple(inside), flagged)
        elif noise:
            element = Noise(tuple(noise.split("|")))
        elif isinstance(known, Word):
            element = Choice(name, tuple(known.values), bool(optional))
        elif name:
            slot = what or (known.slot if known is not None else "operand")
            element = Slot(name, slot.removesuffix(", .."), bool(many) or slot.endswith(", .."))
        rows[-1][1].append(element)
    return Pattern(kind, tuple(rows[0][1]), alike)


#: the processors, by the kinds of their forms
PROCESSORS = {cls.__name__: cls for cls in processors()}
#: forms that are no processor of their own
_FORMS = {
    "apply": "APPLY [early: EARLY] {function:expression} WITH {sources:variables}",
    "constant": "CONSTANT {value:primary}",
    "select": "SELECT {columns:columns} FROM {sources:sources} [WHERE {where:expression}] "
    "[GROUP BY {group:expression, ..} [HAVING {having:expression}]]",
    "events": "EVENTS OF {types:name, ..}",
    "xpath": "XPATH {path:text} ON {pipe}",
    "gnuplot": "GNUPLOT ON {pipe}",
    "file": "FILE {path:text}",
}
PATTERNS = [
    *(
        _pattern(name, text, {n: kind for n, (_, kind) in cls.parameters().items()}, cls.alike)
        for name, cls in PROCESSORS.items()
        for text in cls.text
    ),
    *(_pattern(kind, text) for kind, text in _FORMS.items()),
]
#: the first pattern of a kind is the one that is printed
BY_KIND: dict[str, Pattern] = {p.kind: p for p in reversed(PATTERNS)}
#: by their first word
BY_WORD: dict[str, list[Pattern]] = {}
for _p in PATTERNS:
    BY_WORD.setdefault(str(_p.elements[0]), []).append(_p)
#: processors behind a pipe, by their words
SUFFIXES = {cls.suffix: cls for cls in PROCESSORS.values() if cls.suffix}
#: their words and how their parameter is written, by the first word
BY_SUFFIX = {
    suffix.split()[0]: (suffix.split(), kind.slot)
    for suffix, cls in SUFFIXES.items()
    for _, kind in cls.parameters().values()
}

#: the words of statements, operators and machines
_WORDS = """
    ABOUT AFTER ALL ALWAYS AND AS BE DEFINE DIV END EXISTS F FALSE FINITE FOR G GO GREATER IMPLIES INTO IS LESS
    LET MACHINE MOD NOT NOTHING NULL NUMBER OR OTHERWISE OUTPUT SOME SOMETIME START THAN TRUE TURN U UNION UPTO
    X
"""


def _words(elements: Sequence[Element]) -> set[str]:
    """All words of a pattern."""
    found: set[str] = set()
    for e in elements:
        if isinstance(e, str):
            found.add(e)
        elif isinstance(e, (Choice, Noise)):
            found |= set(e.words)
        elif isinstance(e, Option):
            found |= _words(e.elements)
    return found - {",", "A"}  # `A` is no keyword


#: reserved in this spelling; a name that equals one is written in backticks
KEYWORDS = frozenset(_WORDS.split()).union(*(_words(p.elements) for p in PATTERNS), *(s.split() for s in SUFFIXES))
