"""What a parser's complaint means to a person: what was found, what was expected, and how to write it."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput

from occurs.errors import Problem
from occurs.expr.parsing import expected_terminals, found_at
from occurs.expr.text import Text
from occurs.languages.kit.complaints import LOOK_BACK, in_words, meant
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.parser.tree import UNIT_WORDS

#: terminals in the order in which they are listed to the user
_WORDS = {
    "INPUT": "`input`", "_INPUT_PHENOMENON": "`input_phenomenon`", "SORT": "`event`, `state`, `dynamic`",
    "FACT": "`fact`", "NAME": "a name", "UNIT": f"a unit of time ({', '.join(UNIT_WORDS[:4])} ...)",
    "NUMBER": "a number", "STRING": "a quoted string", "AS": "`as changes`", "CHANGES": "`changes`",
    "WHERE": "`where`", "_COLON": "`:`", "_LPAR": "`(`", "_RPAR": "`)`", "_LBRACE": "`{`", "_RBRACE": "`}`",
    "_COMMA": "`,`", "REST": "`...`", "_NOT": "`not`", "EQ": "`=`",
}  # fmt: skip
#: groups of terminals that are named together, if all are expected
_GROUPS = (
    ({"NAME", "NUMBER", "STRING", "_NOT", "_START", "_END", "_FILTER", "TRUE", "FALSE", "_TIMESTAMP", "_LPAR",
      "MINUS"}, "a formula"),
    ({"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "_TIMESTAMP", "_LPAR", "MINUS", "_START", "_END", "_FILTER"},
     "a value"),
    ({"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "_TIMESTAMP", "MINUS"}, "a variable or a constant"),
    ({"EQ", "EQ2", "NE", "LT", "LE", "GT", "GE"}, "a comparison (`=`, `<`, `>=` ...)"),
    ({"RELATION"}, "a relation (`before`, `contains` ...)"),
    ({"_AND", "_OR"}, "`and`, `or`"), ({"_RANGE", "_MINRANGE"}, "`~>`"),
    ({"_UNION", "_DIFFERENCE", "_INTERSECTION"}, "`union`, `minus`, `intersection`"),
)  # fmt: skip
_STATEMENT = ("input", "fact", *syntax.SORTS)
_INFIX = ("and", "or", "in", "union", "minus", "intersection", "where", *syntax.RELATIONS, *syntax.INVERSES)
_PROLOG = ("is", "=..", "!", ";", "->", "\\+", "[", ":-", "@<", "@>", "//")


def explain(error: UnexpectedInput, piece: str, offset: int, source: Text) -> Problem:
    """The problem that stopped the parser in ``piece``, a statement that begins at ``offset`` of ``source``."""
    expected = expected_terminals(error)
    start, end, found = found_at(error, piece)
    wanted = in_words(expected, _WORDS, [(group, group, name) for group, name in _GROUPS], "`.`")
    kind, message, hint = "syntax", f"{found}: expected {wanted}", None
    before = re.sub(r"(?:#|%|--)[^\n]*", "", piece[:start]).rstrip()[-LOOK_BACK:]
    special = _unsupported(piece, start, before) or _special(piece[start:end], before, expected, piece[start:])
    if special is not None:
        kind, other, hint = special
        message = other or message
    return source.problem(kind, message, source.span(offset + start, offset + end), hint)


Special = tuple[str, str | None, str | None]


def _unsupported(piece: str, start: int, before: str) -> Special | None:
    """What only Phenesthe's own files may hold."""
    collector = re.search(r"\bcollector\s*\(", piece[: start + 1])
    if collector:
        return "unsupported", "`collector` is not supported", "define the collected phenomenon in a separate definition"
    if ":=" in piece[:start] or re.match(r"\s*:-", piece[start:]):
        rest = piece[start:]
        for goal in _PROLOG:
            if rest.startswith(goal) and not (goal.isalpha() and re.match(r"\w", rest[len(goal) :])):
                hint = "a condition is a comparison or a fact: compute in the comparison, as in `X + 1 > Y`"
                return "unsupported", f"the Prolog goal with `{goal}` is not supported", hint
    return None


def _special(text: str, before: str, expected: set[str], rest: str) -> Special | None:
    """The mistakes that deserve better words, with kind, message and hint."""
    hint: str | None = None
    if text in ("'", '"'):
        return "syntax", "this string is not closed on its line", f"close it with {text}"
    if text == "`":
        return "syntax", "this name is not closed on its line", "close the backquotes: `` `my name` ``"
    if text == "." and re.match(r"\.\d", rest):
        hint = "start a number with a digit: `0.5`"
    elif text in ("&", "|", "!"):
        hint = "write `and`, `or`, `not`"
    elif text == ">" and before.endswith("-"):
        hint = "write a state from one event to another as `begins(V) ~> ends(V)`"
    elif text == ";":
        hint = "end the statement with a full stop"
    elif not before and re.match(r"\w", text):
        hint = meant(text, _STATEMENT)
    elif re.match(r"~>|↣", text) and re.search(r"~>|↣", before):
        hint = "a range takes two operands: write parentheses, as in `a ~> end(b ~> c)`"
    elif "UNIT" in expected and re.fullmatch(r"[^\W\d]\w*", text) and re.search(r"\d$", before):
        hint = "write a duration as one number with one unit: `90 min`"
    elif re.match(r"\w", text) and text not in syntax.KEYWORDS:
        known = [w for w in _INFIX if "RELATION" in expected or w in ("and", "or")]
        hint = meant(text, known, 0.7) if {"_AND", "RELATION"} & expected else None
    return ("syntax", None, hint) if hint else None
