"""What a parser's complaint means to a person who writes triggers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from occurs.languages.kit.complaints import meant
from occurs.languages.kit.mistakes import NOT_CLOSED, Case, Groups, Mistake, Said, Stop, closes_nothing, explainer

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
_STRINGS = re.compile(r""""(?:[^"\n]|"")*"|'(?:[^'\n]|'')*'""")


def unit_problem(text: str) -> tuple[str, str, str]:
    """Kind, message and hint for a word that is no unit of time."""
    meant = OTHER_UNITS.get(text.lower(), text.lower())
    return "unknown-unit", f"`{text}` is not a unit of time", f"write `{meant}`; the units are {', '.join(UNIT_WORDS)}"


def _unit(word: str, place: tuple[int, int] | None = None) -> Said:
    kind, message, hint = unit_problem(word)
    return Said(hint, message, kind, place)


def _units(stop: Stop) -> Said | None:
    """A unit of time as other languages write it, here or before this."""
    other = stop.word in OTHER_UNITS or (stop.word in UNIT_WORDS and stop.text != stop.word)
    if other and stop.behind(r"\d$"):
        return _unit(stop.text)
    # `within 10 weeks (p)`: the unit was taken for a name
    last = stop.behind(r"\d\s*([^\W\d]+)$")
    if last is None or last[1].lower() not in OTHER_UNITS or not re.match(r"[^\W\d]|[(\[]", stop.text):
        return None
    at = stop.piece.rfind(last[1], 0, stop.start)
    return _unit(last[1], (at, at + len(last[1])))


def _within(stop: Stop) -> Said | None:
    """`within` without a bound."""
    if not stop.behind(r"(?<!\w)within$") or "NUMBER" not in stop.expected:
        return None
    word = (re.findall(r"(?i)(\w+)\W*within$", stop.before) or ["eventually"])[-1].lower()
    return Said(f"write `{word} within 10 min (..)`", "the bound is missing after `within`", "bad-bound")


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




def _misspelled(stop: Stop) -> str | None:
    """The keyword that a word was meant to be: here, or in place of the word before it."""
    known = sorted(w for name, ws in _KEYWORDS.items() if name in stop.expected for w in ws)
    taken = stop.ahead(r"(?:table|state|event|view|constant|trigger)\s+(\w+)")
    if taken and taken[1].lower() in RESERVED:
        return f"`{taken[1]}` {_KEYWORD}"
    if stop.named:
        known += ["table", "event", "state", "view", "constant", "trigger"] * ("$END" in stop.expected)
        hint = meant(stop.text, known, 0.7)
        if hint:
            return hint
    last = stop.behind(r"(?:^|\W)([a-z]+)$")
    if last and last[1].lower() not in RESERVED and re.match(r"[^\W\d]|\[|\(", stop.text):
        # `eventualy p`: the misspelt word was taken for a name
        return meant(last[1], _PREFIXES, 0.75)
    return None


_ASSIGN = "write an assignment as `[x <- term] formula`, and a bound after an operator: `until[<=10 min]`"
_KEYWORD = "is a keyword and cannot be a name"
#: a word of less than twelve letters
_SHORT = r"(?=.{1,11}\Z)\w.*"
_CASES: Sequence[Case] = (
    Mistake("close it with %s; inside a string, write it twice: %s%s", "['\"]", message=NOT_CLOSED),
    Mistake("give it another name", "|".join(RESERVED), rest=r"\w+\s*(<-|←|:=)", before=r"\[$",
            message=f"`%t` {_KEYWORD}"),
    Mistake(EXAMPLES, "]", before=r"\[\s*[\d.]+\s*[a-z]*$", message="the bound needs a comparison or a second number",
            kind="bad-bound"),
    _within,
    Mistake("write a duration as a number, or a number and a unit: `10 min`; names and sums are not allowed",
            before=r"((?<!\w)every|[\[,<>=≤≥])$", wants="NUMBER -TRUE", message="a duration is expected here",
            kind="bad-bound"),
    *(Mistake(f"write `{word}[<=10 min]`", "within", before=rf"(?<!\w){word}$", kind="bad-bound")
      for word in ("until", "since", "release")),
    _units,
    Mistake("write `and`, `or`", rest="&", before="&$"),
    Mistake("write `and`, `or`", rest=r"\|", before=r"\|$"),
    Mistake("write `<=`", rest="=<"),
    Mistake("write `mod` for the remainder", rest="%"),
    Mistake("there is no `in`: write `x = 1 or x = 2`, or `exists (select ..)`", rest=r"in(?!\w)", wants="PAIRED"),
    Mistake("this comparison is only allowed in SQL: `exists (select ..)`; or write `a >= 1 and a <= 2`",
            rest=r"(like|between)(?!\w)", wants="PAIRED"),
    Mistake("`is null` and `is not null` test for null; compare values with `=` and `!=`", rest=r"\w",
            before=r"\bis(\s+not)?$", wants="NULL"),
    Mistake("comparisons do not chain: write `a < b and b < c`", rest="=|!=|<>|<|>|≤|≥|≠", wants="PAIRED -EQ"),
    Mistake("the only quantifier is the assignment `[x <- term] formula`", rest="[∃∀]"),
    Mistake("write a bound as a subscript after an operator: `until_{<=10}`", r"_|_\{.*"),
    Mistake("write the strategy before the actions", "reactivate|continue", wants="NOTIFY"),
    Mistake("write `reactivate at most every ..` or `continue at most every ..`", "at|most", wants="STRATEGY"),
    Mistake("write `on never notify ..`", "on", wants="NOTIFY"),
    Mistake("write `observing` before the colon", "observing", wants="PAIRED"),
    Mistake("write in this order: `trigger NAME for each .. observing ..: formula`", "for", wants="_COLON"),
    Mistake("write a trigger as `trigger NAME: formula`", rest=r"\Z", wants="_COLON"),
    Mistake("write an aggregate as `sum of x from p` or `sum of x within 10 min`", "from", wants="_WITHIN -FROM"),
    Mistake("to multiply, write `2x` without a blank, or `2 * x`", _SHORT, before=r"\d\s*$", wants="UNIT"),
    Mistake(_ASSIGN, "]", wants="_ASSIGN"),
    Mistake(_ASSIGN, "]", before=r"\[$"),
    lambda stop: f"`{stop.text}` {_KEYWORD}" if stop.reserved(RESERVED, _FORMULA - {"_LSQB"}) else None,
    _misspelled,
    closes_nothing,
)  # fmt: skip

explain = explainer(_WORDS, _GROUPS, "`;`", _CASES, opaque=_STRINGS, statement="definition", covered="\0")
