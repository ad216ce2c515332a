"""What a parser's complaint means to a person: what was found, what was expected, and how to write it."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput

from occurs.errors import Place, Problem
from occurs.expr.parsing import expected_terminals, found_at
from occurs.expr.text import Text
from occurs.languages.kit.complaints import LOOK_BACK, Groups, blanked, in_words, meant, not_closed, unclosed

_WORDS_OF_FORMULAS = (
    "and or not implies until since release weak unless nexttime next lasttime last eventually always previously once "
    "throughout historically within exists is null true false mod"
)
#: the words that cannot be names
RESERVED = frozenset(_WORDS_OF_FORMULAS.split())
#: units of other languages, with what is written here
OTHER_UNITS = {
    "usec": "us", "microsecond": "us", "microseconds": "us", "msec": "ms", "millisecond": "ms", "milliseconds": "ms",
    "secs": "s", "mins": "min", "hr": "h", "hrs": "h", "w": "7 days", "week": "7 days", "weeks": "7 days",
    "month": "30 days", "months": "30 days", "year": "365 days", "years": "365 days",
}  # fmt: skip
UNIT_WORDS = ("us", "ms", "s", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hour", "hours", "d",
              "day", "days", "tick", "ticks")  # fmt: skip
#: terminals in the order in which they are listed to the user
_WORDS = {
    "TABLE": "`table`", "EVENT": "`event`", "STATE": "`state`", "VIEW": "`view`", "CONSTANT": "`constant`",
    "TRIGGER": "`trigger`", "NAME": "a name", "NUMBER": "a number", "STRING": "a quoted string", "SQL": "a SELECT",
    "UNIT": "a unit of time (s, min, h ...)", "KEY": "`key`", "AS": "`as`", "EACH": "`each`",
    "IN": "`in (select ..)`",
    "OBSERVING": "`observing`", "ALL": "`all`", "EVERY": "`every`", "MOST": "`most`", "FROM": "`from`",
    "_WITHIN": "`within`", "NULL": "`null`", "_NOT_NULL": "`not null`", "_ASSIGN": "`<-`", "WITH": "`with`",
    "EQ": "`=`", "AT": "`at most every`", "_COLON": "`:`", "_LPAR": "`(`", "_RPAR": "`)`", "_LSQB": "`[`",
    "_RSQB": "`]`", "_RBRACE": "`}`", "_COMMA": "`,`", "_DOT": "`.`",
}  # fmt: skip
_VALUE = {"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "NULL", "_LPAR", "MINUS", "COEFFICIENT", "AGGREGATE",
          "_TIMESTAMP"}  # fmt: skip
_FORMULA = {*_VALUE, "_NOT", "SHIFTED", "RANGED", "EXISTS", "_LSQB"}
_CONSTANT = {"NUMBER", "STRING", "TRUE", "FALSE", "NULL", "MINUS", "_TIMESTAMP"}
_COMPARED = {"EQ", "NE", "LT", "LE", "GT", "GE"}
_STARTS = {"TABLE", "EVENT", "STATE", "VIEW", "CONSTANT", "TRIGGER"}
_ACTIONS = {"ON_NEVER", "NOTIFY", "EMIT", "EXECUTE"}
#: groups of terminals that are named together, if all are expected: those needed, those taken, the name
_GROUPS: Groups = (
    ({"PLUS", "STAR"}, {"_LPAR", "UNIT"}, ""),  # behind a name or a number
    (_STARTS, {*_STARTS, "WHEN"}, "`table`, `event`, `state`, `view`, `constant` or `trigger`"),
    (_FORMULA - {"_LSQB"}, _FORMULA, "a formula"),
    (_VALUE, _VALUE, "a value"),
    (_CONSTANT, _CONSTANT, "a constant"),
    (_COMPARED, {*_COMPARED, "IS"}, "a comparison (`=`, `<`, `>=` ...)"),
    ({"LE", "GE", "EQ"}, _COMPARED, "`<=`, `>=`, `=`"),
    ({"PLUS", "MINUS", "STAR", "SLASH"}, {"PLUS", "MINUS", "STAR", "SLASH", "MOD", "_DOT"}, ""),
    ({"PAIRED", "WEAK"}, {"PAIRED", "WEAK"}, "`until`, `since`"),
    ({"_AND", "_OR"}, {"_AND", "_OR", "_IMPLIES"}, "`and`, `or`"),
    (_ACTIONS, _ACTIONS, "an action (`notify`, `emit`, `execute`)"),
    ({"STRATEGY"}, {"STRATEGY"}, "`reactivate`, `continue`"),
)
EXAMPLES = "write `[<=10 min]`, `[>=10 min]`, `[=10 min]` or `[5 min, 10 min]`"
Special = tuple[str, str | None, str | None, tuple[int, int]]


def explain(error: UnexpectedInput, piece: str, offset: int, source: Text) -> Problem:
    """The problem that stopped the parser in ``piece``, a definition that begins at ``offset`` of ``source``."""
    expected = expected_terminals(error)
    start, end, found = found_at(error, piece)
    wanted = in_words(expected, _WORDS, _GROUPS, "`;`")
    special = _special(piece, start, end, expected)
    here: tuple[int, int] = (start, end)
    hint = special[2] if special is not None else None
    related: tuple[Place, ...] = ()
    kind, message = "syntax", f"{found.replace('statement', 'definition')}: expected {wanted}"
    if special is not None:
        kind, here = special[0], special[3]
        message = special[1] or message
    opening = unclosed(blanked(_STRINGS, piece[:start]))
    if special is None and opening is None and piece[start:end] == ")":
        hint = "remove it: no parenthesis is open here"
    elif special is None and opening is not None and {"_RPAR", "_RSQB"} & expected:
        hint, related = not_closed(piece, opening, source, offset)
    span = source.span(offset + here[0], offset + here[1])
    return source.problem(kind, message.replace("\0", "."), span, hint, "error", related)


_STRINGS = re.compile(r""""(?:[^"\n]|"")*"|'(?:[^'\n]|'')*'""")


def _special(piece: str, start: int, end: int, expected: set[str]) -> Special | None:
    """The mistakes that deserve better words, with kind, message, hint and place."""
    text, rest, here = piece[start:end], piece[start:], (start, end)
    before = piece[max(0, start - LOOK_BACK) : start].rstrip()
    word = text.lower()
    if text in ("'", '"'):
        quotes = f"close it with {text}; inside a string, write it twice: {text * 2}"
        return "syntax", "this string is not closed on its line", quotes, here
    if word in RESERVED and before.endswith("[") and re.match(r"\w+\s*(<-|←|:=)", rest):
        return "syntax", f"`{text}` is a keyword and cannot be a name", "give it another name", here
    if word == "]" and re.search(r"\[\s*[\d.]+\s*[a-z]*$", before):
        return "bad-bound", "the bound needs a comparison or a second number", EXAMPLES, here
    found = _bounds(text, before, max(0, start - LOOK_BACK), expected, here)
    if found is not None:
        return found
    hint = _operator(rest, before, expected) or _clause(word, before, expected, rest)
    if hint is None and word in RESERVED and "NAME" in expected and not expected >= _FORMULA - {"_LSQB"}:
        hint = f"`{text}` is a keyword and cannot be a name"
    if hint is None:
        hint = _misspelled(text, rest, before, expected)
    return ("syntax", None, hint, here) if hint else None


def _bounds(text: str, before: str, before_at: int, expected: set[str], here: tuple[int, int]) -> Special | None:
    """Bounds and durations that are not as they should be; ``before`` begins at ``before_at``."""
    if re.search(r"(?i)(?<!\w)within$", before) and "NUMBER" in expected:
        word = (re.findall(r"(?i)(\w+)\W*within$", before) or ["eventually"])[-1].lower()
        return "bad-bound", "the bound is missing after `within`", f"write `{word} within 10 min (..)`", here
    if "NUMBER" in expected and "TRUE" not in expected and re.search(r"(?i)((?<!\w)every|[\[,<>=≤≥])$", before):
        hint = "write a duration as a number, or a number and a unit: `10 min`; names and sums are not allowed"
        return "bad-bound", "a duration is expected here", hint, here
    if text.lower() == "within" and re.search(r"(?i)(?<!\w)(until|since|release)$", before):
        return "bad-bound", None, f"write `{before.split()[-1].lower()}[<=10 min]`", here
    unit = text.lower() in OTHER_UNITS or (text.lower() in UNIT_WORDS and text != text.lower())
    if unit and re.search(r"\d$", before):
        return (*unit_problem(text), here)
    # `within 10 weeks (p)`: the unit was taken for a name
    last = re.search(r"\d\s*([^\W\d]+)$", before)
    if last and last[1].lower() in OTHER_UNITS and re.match(r"[^\W\d]|[(\[]", text):
        at = before_at + last.start(1)
        return (*unit_problem(last[1]), (at, at + len(last[1])))
    return None


def unit_problem(text: str) -> tuple[str, str, str]:
    """Kind, message and hint for a word that is no unit of time."""
    meant = OTHER_UNITS.get(text.lower(), text.lower())
    return "unknown-unit", f"`{text}` is not a unit of time", f"write `{meant}`; the units are {', '.join(UNIT_WORDS)}"


def _operator(rest: str, before: str, expected: set[str]) -> str | None:
    """Operators as other languages write them."""
    if re.match(r"[&|]", rest) and before.endswith(rest[0]):
        return "write `and`, `or`"
    if rest.startswith("=<"):
        return "write `<=`"
    if rest.startswith("%"):
        return "write `mod` for the remainder"
    if re.match(r"(?i)in(?!\w)", rest) and "PAIRED" in expected:
        return "there is no `in`: write `x = 1 or x = 2`, or `exists (select ..)`"
    if re.match(r"(?i)(like|between)(?!\w)", rest) and "PAIRED" in expected:
        return "this comparison is only allowed in SQL: `exists (select ..)`; or write `a >= 1 and a <= 2`"
    if re.match(r"(?i)(not\s+)?\w", rest) and re.search(r"(?i)\bis(\s+not)?$", before) and "NULL" in expected:
        return "`is null` and `is not null` test for null; compare values with `=` and `!=`"
    if re.match(r"=|!=|<>|<|>|≤|≥|≠", rest) and "PAIRED" in expected and "EQ" not in expected:
        return "comparisons do not chain: write `a < b and b < c`"
    if rest.startswith(("∃", "∀")):
        return "the only quantifier is the assignment `[x <- term] formula`"
    return None


def _clause(word: str, before: str, expected: set[str], rest: str) -> str | None:
    """What stands in a wrong place."""
    if word == "_" or word.startswith("_{"):
        return "write a bound as a subscript after an operator: `until_{<=10}`"
    if word in ("reactivate", "continue") and "NOTIFY" in expected:
        return "write the strategy before the actions"
    if word in ("at", "most") and "STRATEGY" in expected:
        return "write `reactivate at most every ..` or `continue at most every ..`"
    if word == "on" and "NOTIFY" in expected:
        return "write `on never notify ..`"
    if word == "observing" and "PAIRED" in expected:
        return "write `observing` before the colon"
    if word == "for" and "_COLON" in expected:
        return "write in this order: `trigger NAME for each .. observing ..: formula`"
    if not word and "_COLON" in expected:
        return "write a trigger as `trigger NAME: formula`"
    if word == "from" and "_WITHIN" in expected and "FROM" not in expected:
        return "write an aggregate as `sum of x from p` or `sum of x within 10 min`"
    if re.match(r"(?i)\w", word) and re.search(r"\d\s*$", before) and "UNIT" in expected and len(word) < 12:
        return "to multiply, write `2x` without a blank, or `2 * x`"
    if word == "]" and ("_ASSIGN" in expected or before.endswith("[")):
        return "write an assignment as `[x <- term] formula`, and a bound after an operator: `until[<=10 min]`"
    return None


_KEYWORDS = {
    "TRIGGER": ("trigger",), "TABLE": ("table",), "EVENT": ("event",), "STATE": ("state",), "VIEW": ("view",),
    "CONSTANT": ("constant",), "WHEN": ("future", "past"), "EACH": ("each",), "FOR": ("for",),
    "OBSERVING": ("observing",), "STRATEGY": ("reactivate", "continue"), "NOTIFY": ("notify",), "EMIT": ("emit",),
    "EXECUTE": ("execute",), "PAIRED": ("until", "since", "release"), "WEAK": ("weak until", "unless"),
    "_AND": ("and",), "_OR": ("or",), "_IMPLIES": ("implies",), "EVERY": ("every",), "KEY": ("key",),
    "FROM": ("from",), "_WITHIN": ("within",), "AS": ("as",), "IS": ("is",),
}  # fmt: skip
_PREFIXES = ("eventually", "always", "previously", "once", "throughout", "historically", "nexttime", "lasttime", "not",
             "exists")  # fmt: skip


def _misspelled(text: str, rest: str, before: str, expected: set[str]) -> str | None:
    """The keyword that a word was meant to be: here, or in place of the word before it."""
    known = sorted(w for name, ws in _KEYWORDS.items() if name in expected for w in ws)
    taken = re.match(r"(?i)(?:table|state|event|view|constant|trigger)\s+(\w+)", rest)
    if taken and taken[1].lower() in RESERVED:
        return f"`{taken[1]}` is a keyword and cannot be a name"
    if re.fullmatch(r"[^\W\d]\w*", text):
        known += ["table", "event", "state", "view", "constant", "trigger"] * ("$END" in expected)
        hint = meant(text, known, 0.7)
        if hint:
            return hint
    last = re.search(r"(?i)(?:^|\W)([a-z]+)$", before)
    if last and last[1].lower() not in RESERVED and re.match(r"[^\W\d]|\[|\(", text):
        # `eventualy p`: the misspelt word was taken for a name
        return meant(last[1], _PREFIXES, 0.75)
    return None
