"""What a parser's complaint means to a person who writes TESLA (tesla.md, section 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from occurs.errors import did_you_mean
from occurs.expr.aggregates import words as words_of
from occurs.languages.kit.complaints import blanked, meant
from occurs.languages.kit.mistakes import QUOTES, Case, Groups, Mistake, Said, Stop, closes_nothing, explainer
from occurs.languages.tesla.parser.absence import BEGIN_LAST, rewritten
from occurs.model.types import TYPE_NAMES

#: terminals in the order in which they are listed to the user
_WORDS = {
    "DEFINE": "`define`", "RULE": "`rule`", "EVENT": "`event`", "SUBSCRIBE": "`Subscribe`",
    "ASSIGN": "`Assign`", "FROM": "`from`", "EACH": "`each`", "FIRST": "`first`", "LAST": "`last`",
    "KTH": "`K-first` or `K-last`", "NAME": "a name", "UNIT": "a unit of time (ms, s, min, h, d ...)",
    "NUMBER": "a number", "STRING": "a quoted string", "PARAM": "a parameter `$x`", "FUNCTION": "an aggregate",
    "AS": "`as`", "WITHIN": "`within`", "BETWEEN": "`between`", "_AND": "`and`", "_OR": "`or`", "_NOT": "`not`",
    "IN": "`in`", "LIKE": "`like`", "WHEN": "`when`", "THEN": "`then`", "ELSE": "`else`", "END": "`end`",
    "HAVING": "`having`",
    "IS": "`is null`", "NULL": "`null`", "WHERE": "`where`", "CONSUMING": "`consuming`", "EQ": "`=`",
    "_WALRUS": "`:=`", "EQ2": "`=>`", "_LPAR": "`(`", "_RPAR": "`)`", "_LSQB": "`[`", "_RSQB": "`]`",
    "_COMMA": "`,`", "_COLON": "`:`", "_DOT": "`.`",
}  # fmt: skip
_VALUE = {"NAME", "NUMBER", "STRING", "PARAM", "FUNCTION", "TRUE", "FALSE", "NULL", "_TIMESTAMP", "_LPAR", "_LSQB",
          "MINUS"}  # fmt: skip
_COMPARISON = {"EQ", "EQ2", "NE", "LT", "LE", "GT", "GE"}
_COMPARED = _COMPARISON | {"IN", "LIKE", "BETWEEN", "_NOT", "IS"}
_ARITHMETIC = {"PLUS", "MINUS", "STAR", "SLASH", "MOD"}
#: groups of terminals that are named together, if all are expected
_GROUPS: Groups = (
    ({"NUMBER", "STRING", "PARAM", "_NOT"}, _VALUE, "a condition"),
    ({"NUMBER", "STRING", "PARAM", "EACH"}, _VALUE, "a condition"),
    ({"NUMBER", "STRING", "PARAM"}, _VALUE, "a value"),
    (_COMPARISON | _ARITHMETIC, _COMPARED | _ARITHMETIC, "a comparison (`=`, `<`, `>=` ...)"),
    (_COMPARISON, _COMPARED, "a comparison (`=`, `<`, `>=` ...)"),
    (_ARITHMETIC, _ARITHMETIC | {"IS"}, "an operator"),
)

_POLICIES = ("each", "first", "last", "not")
_STATEMENTS = ("define", "rule", "event", "subscribe", "assign")
_STRINGS = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_COMMENT = re.compile(r"(?:#|--)[^\n]*")
_MEASURED = "name the event from which the window is measured: `within 5 min from A`"
_ENDS = (
    "write the interval, `within 5 min from A` or `between A and B`: it ends at A; to detect that nothing "
    "happened after an event, use a Timer: `from Timer(M%5 == 0) and each A() ...`"
)
_CASE = "`case when A.V > 1 then 1 else 2 end`"


def _forward(stop: Stop) -> Said | None:
    """A rule that looks forward."""
    found = rewritten(stop.piece, stop.start)
    return None if found is None else Said(found.hint, found.message, place=found.at)


def _when(stop: Stop) -> Said | None:
    found = re.search(r"(?i)\bwhen\b", blanked(_STRINGS, stop.piece[: max(stop.end, 40)]))
    if found is None or not ("DEFINE" in stop.expected or found.start() == stop.start):
        return None
    hint = "write `define C() from A() and not B() within 5 min from A`"
    return Said(hint, "a rule cannot be written as `when ... and`", place=found.span())


def _aggregate(stop: Stop) -> Said | None:
    """An aggregate that there is not."""
    found = stop.behind(r"(\w+)\s*\(\s*\w+\s*(\([^()]*\))?\s*(\.\s*\w+\s*\))?$")
    if not found or (stop.text != "." and stop.word not in ("within", "between")):
        return None
    known, name = words_of("tesla"), found[1]
    if name.lower() in known:
        return None
    hint = did_you_mean(name.lower(), known, "aggregates")
    return Said(hint, f"unknown aggregate `{name}`", "unknown-function", found.span(1))


def _misspelled(stop: Stop) -> str | None:
    """The keyword that a word was meant to be: here, or in place of the word before it."""
    if not stop.named:
        return None
    known = stop.keywords(_WORDS) | (set(_STATEMENTS) if "$END" in stop.expected else set())
    hint = None if stop.word in _POLICIES else meant(stop.text, sorted(known))
    before = stop.behind(r"\band\s+(\w+)$")
    if hint is None and before is not None and before[1].lower() not in _POLICIES:
        return meant(before[1], _POLICIES)
    return hint


def _colon(stop: Stop) -> str | None:
    """The type of an attribute without a colon, or before the attribute."""
    if "_COLON" not in stop.expected or not stop.ahead(r"(?!from\b)\w"):
        return None
    typed = stop.behind(r"(\w+)$")
    known = typed is not None and typed[1].lower() in TYPE_NAMES
    return f"write a colon before the type: `{stop.text}: {typed[1]}`" if typed and known else (
        f"write a colon before the type: `name: {stop.text}`")  # fmt: skip


_CASES: Sequence[Case] = (
    _forward,
    _when,
    Mistake("windows look into the past: `within 5 min from A` means up to 5 min before A", "-", before=r"\bwithin$",
            message="a duration cannot be negative"),
    _aggregate,
    QUOTES[0],
    Mistake("write strings in straight quotes: `\"kitchen\"` or `'kitchen'`", "[\u201c\u201d\u201e\u2018\u2019\u201a]"),
    Mistake("write `not`: `A(not V)`", "!"),
    closes_nothing,
    Mistake("write `and`, `or`, `not`", rest=r"&&|\|\|", whole=True),
    Mistake("write a parameter as `$x`", r"\$", message="`$` must be followed by the name of a parameter"),
    QUOTES[1],
    Mistake("in `where`, a comparison or other boolean value needs parentheses: `Hot = (T.Val > 45)`",
            "==?|[<>]=?|!=|<>|or|is|not|in|like|between", before=r"\bwhere\b"),
    _misspelled,
    Mistake("write the values in parentheses: `V in (1, 2)`", before=r"\bin$", only="_LPAR"),
    Mistake("`in` needs at least one value: `V in (1, 2)`", r"\)", before=r"\bin\s*\($"),
    Mistake(f"a value is missing before `end`: {_CASE}", before=r"\b(then|else)\s+end$", wants="END"),
    Mistake(f"write `then` after the condition: {_CASE}", wants="THEN"),
    Mistake(f"close the `case` with `end`: {_CASE}", wants="END"),
    Mistake(BEGIN_LAST, "followed"),
    Mistake("write K-first and K-last without spaces: `2-last B()`", before=r"\d\s*(-\s*|\s)(?:first|last)$"),
    Mistake("join the parts of a pattern with `and`: `and %s B() ...`", "each|first|last|not", wants="_AND"),
    _colon,
    Mistake("at the top level of a pattern, `or` needs parentheses: `and (B.x > 3 or B.x < 1)`", "or", wants="_AND"),
    Mistake("write a duration as a number and a unit: `within 5 min from A`", before=r"\bwithin$", wants="NUMBER"),
    Mistake("the event after `from` is the terminator: write it without `each`, `first`, `last` or `not`",
            before=r"\bfrom\s+(each|first|last|not)$"),
    Mistake("list only the names of the events: `consuming B, C`", before=r"\bconsuming\b[^()]*\b(each|first|last)$"),
    Mistake("close the parentheses of the event first: `B() within ...`",
            before=r"\(\s*(within|between)$", wants="_RPAR"),
    Mistake("write the interval before the comparison: `within 5 min from A %s ..`",
            "[<>=!≠≤≥]+", only="WITHIN BETWEEN"),
    Mistake(_ENDS, only="WITHIN BETWEEN"),
    Mistake(_ENDS, only="AS WITHIN BETWEEN"),
    Mistake(_ENDS, only="_LPAR AS WITHIN BETWEEN"),
    Mistake("write both ends of the interval: `between A and B`", before=r"\bbetween\s+\S+$", only="_AND"),
    Mistake("a rule needs a terminator: `define C(..) from A() ...`", before=r"\A(?!.*\bwithin\b)", only="FROM"),
    Mistake(_MEASURED, only="FROM"),
    Mistake(_MEASURED, only="FROM NUMBER"),
    Mistake(_MEASURED, only="FROM NUMBER UNIT"),
    Mistake(_MEASURED, only="FROM UNIT"),
    Mistake("every event after the first needs a window: `each B() within 5 min from A`", wants="WITHIN",
            before=r"\b(each|first|last)\b[^()]*(\([^()]*\))?[^()]*$"),
)  # fmt: skip

explain = explainer(
    _WORDS,
    _GROUPS,
    "the end of the statement",
    _CASES,
    comments=_COMMENT,
    opaque=re.compile(rf"{_STRINGS.pattern}|{_COMMENT.pattern}"),
    closers="_RPAR",
)
