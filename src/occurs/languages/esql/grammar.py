"""The grammar of eSQL as tables (pipes.md, 2.1, 2.2): words, operators and forms, for the parser and the printer.

A form is a row of *elements*: words, and slots for what varies.  What is read becomes a
:class:`occurs.languages.esql.syntax.Form`, with one part per slot, choice and option that has a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

_WORDS = """
    ABOUT AFTER ALL ALWAYS AND APPLY AS AT BAG BE BEFORE BY COMBINE CONSTANT DEFINE DIV EACH EARLY END EVENTS EVERY
    EXISTS EXPLODED F FALSE FILE FILTER FINITE FIRST FOR FREEZE FROM G GET GNUPLOT GO GREATER HEATMAP HISTOGRAM
    IMPLIES IN INTO IS JSON LAST LESS LET LIST MACHINE MAP MERGE MOD NAMES ND NOT NOTHING NULL NUMBER OF ON OR
    OTHERWISE OUTPUT PACK PEAK PLATEAU PRINT PUT RD REGEX REPEAT RESET RUN SCATTERPLOT SELECT SET SIZED SLICE SOME
    SOMETIME ST START STARTING STOPPING TH THAN THE THRESHOLD TIMES TITLED TO TOO TRIM TRUE TUPLES TURN U UNION
    UNPACK UNTIL UPTO WHEN WHERE WINDOW WITH WITHIN X XML XPATH
"""
#: reserved in this spelling; a name that equals one is written in backticks
KEYWORDS = frozenset(_WORDS.split())
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

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, with ``...`` for what stands between them: for messages."""
        out: list[str] = []
        for e in self.elements:
            if isinstance(e, str):
                out.append(e)
            elif isinstance(e, Choice) and not e.optional:
                out.append("|".join(e.words))
            elif isinstance(e, Slot) and out[-1:] != ["..."]:
                out.append("...")
        return tuple(out)


PATTERNS: list[Pattern] = []


def _split(elements: Sequence[Element]) -> tuple[Element, ...]:
    """A word an element."""
    return tuple(w for e in elements for w in (e.split() if isinstance(e, str) else [e]))


def _form(kind: str, *elements: Element) -> None:
    PATTERNS.append(Pattern(kind, _split(elements)))


def _pipe(name: str = "pipe") -> Slot:
    return Slot(name, "operand")


def _option(*elements: Element, flag: str | None = None) -> Option:
    return Option(_split(elements), flag)


_ORDINAL = Noise(("ST", "ND", "RD", "TH"))
_N = Slot("n", "number")
_WINDOW: tuple[Element, ...] = ("ON A WINDOW OF", Slot("width", "count"))

_form("freeze", "FREEZE", _pipe())
_form("trim", "TRIM", _N, "OF", _pipe())
_form("first", "THE FIRST", _N, "OF", _pipe())
_form("last", "THE LAST OF", _pipe())
_form("decimate", "EVERY", _N, _ORDINAL, "OF", _pipe(), _option(", LAST TOO", flag="last"))
_form("every", "EVERY", Slot("width", "length"), "OF", _pipe())
_form("window", "GET", _pipe("inner"), "FROM", _pipe(), *_WINDOW)
_form("window", "APPLY", _pipe("inner"), "ON", _pipe(), *_WINDOW)
_form("slice", "SLICE", Choice("form", ("EACH", "LAST"), optional=True), _pipe(), "WITH", _pipe("inner"), "ON",
      Slot("key", "expression"), _option("EXPLODED", flag="exploded"),
      _option("UNTIL", Slot("until", "expression")))  # fmt: skip
_form("apply", "APPLY", _option("EARLY", flag="early"), Slot("function", "expression"), "WITH",
      Slot("sources", "variables"))  # fmt: skip
_form("combine", "COMBINE", _pipe(), "WITH", Slot("function", "word"),
      _option("STARTING AT", Slot("start", "expression")))  # fmt: skip
_form("constant", "CONSTANT", Slot("value", "primary"))
_form("select", "SELECT", Slot("columns", "columns"), "FROM", Slot("sources", "sources"),
      _option("WHERE", Slot("where", "expression")))  # fmt: skip
_form("events", "EVENTS OF", Slot("types", "name", many=True))
_form("filter", "FILTER", _pipe(), "WITH", _pipe("guard"))
_form("merge", "MERGE", Slot("pipes", "operand", many=True))
_form("pack", "PACK", _pipe(), "BY", _pipe("guard"))
_form("unpack", "UNPACK", _pipe())
_form("run", "RUN", _pipe("inner"), "ON", _pipe())
_form("reset", "RESET", _pipe("inner"), "ON", _pipe(), "BY", _pipe("guard"))
_form("insert", "PUT", _N, "TIMES", Slot("value", "primary"), "BEFORE", _pipe())
_form("repeat", "REPEAT", _pipe(), _N, "TIMES")
_form("repeat_by", "REPEAT", _pipe(), "BY", _pipe("counts"))
_form("collect", "THE", Choice("into", ("LIST", "SET", "BAG")), "OF", _pipe())
_form("collect_map", "THE MAP OF", _pipe("keys"), "TO", _pipe("values"))
_form("read", "THE", Choice("what", ("TUPLES", "XML", "JSON")), "OF", _pipe())
_form("xpath", "XPATH", Slot("path", "text"), "ON", _pipe())
_form("regex", "REGEX", Slot("pattern", "text"), "WITH NAMES", Slot("names", "name", many=True), "IN", _pipe())
_form("plot", "THE", Choice("what", ("SCATTERPLOT", "HEATMAP", "HISTOGRAM")), "OF", _pipe(),
      _option("TITLED", Slot("title", "text")), _option("SIZED", Slot("width", "number"), "BY",
                                                        Slot("height", "number")))  # fmt: skip
_form("gnuplot", "GNUPLOT ON", _pipe())
_form("peak", "THE", Choice("what", ("PEAK", "PLATEAU")), "OF", _pipe(), _option("WITHIN", _N))
_form("print", "PRINT", _pipe())
_form("file", "FILE", Slot("path", "text"))

#: the first pattern of a kind is the one that is printed
BY_KIND: dict[str, Pattern] = {p.kind: p for p in reversed(PATTERNS)}


#: by their first word
BY_WORD: dict[str, list[Pattern]] = {}
for _p in PATTERNS:
    BY_WORD.setdefault(str(_p.elements[0]), []).append(_p)
