"""What a parser's complaint means to a person: what was found, what was expected, and how to write it."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput

from occurs.errors import Place, Problem, did_you_mean
from occurs.expr.aggregates import words as words_of
from occurs.expr.parsing import expected_terminals, found_at
from occurs.expr.text import Text
from occurs.languages.kit.complaints import LOOK_BACK, Groups, blanked, in_words, meant, not_closed, unclosed
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

#: words behind a value that make a condition of it
_BOOLEAN = ("or", "is", "not", "in", "like", "between")
_POLICIES = ("each", "first", "last", "not")
_STATEMENTS = ("define", "rule", "event", "subscribe", "assign")

_STRINGS = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
#: strings and comments
_TEXTS = re.compile(rf"{_STRINGS.pattern}|(?:#|--)[^\n]*")
CURLY_QUOTES = ("\u201c", "\u201d", "\u201e", "\u2018", "\u2019", "\u201a")
CASE = "`case when A.V > 1 then 1 else 2 end`"
BOOLEAN_IN_WHERE = "in `where`, a comparison or other boolean value needs parentheses: `Hot = (T.Val > 45)`"


def explain(error: UnexpectedInput, piece: str, offset: int, source: Text) -> Problem:
    """The problem that stopped the parser in ``piece``, a statement that begins at ``offset`` of ``source``."""
    expected = expected_terminals(error)
    start, end, found = found_at(error, piece)
    forward = rewritten(piece, start)
    if forward is not None:
        start, end = forward.at
        return source.problem("syntax", forward.message, source.span(offset + start, offset + end), forward.hint)
    special = _special(piece, start, end, found, expected)
    if special is not None:
        kind, message, hint, (start, end) = special
    else:
        kind, message, hint = "syntax", f"{found}: expected {words(expected)}", None
    related: tuple[Place, ...] = ()
    opening = unclosed(blanked(_TEXTS, piece[:start]))
    if opening is not None and "_RPAR" in expected and (hint is None or special is None):
        hint, related = not_closed(piece, opening, source, offset)
    return source.problem(kind, message, source.span(offset + start, offset + end), hint, related=related)


def words(expected: set[str]) -> str:
    """Terminals as a list in words."""
    return in_words(expected, _WORDS, _GROUPS, "the end of the statement")


Special = tuple[str, str, str | None, tuple[int, int]]


def _special(piece: str, start: int, end: int, found: str, expected: set[str]) -> Special | None:
    """The mistakes that deserve better words (tesla.md, section 3), with kind, message, hint and place."""
    text, before = piece[start:end], _without_comments(piece[:start]).rstrip()[-LOOK_BACK:]
    here = (start, end)
    message = f"{found}: expected {words(expected)}"
    when = re.search(r"(?i)\bwhen\b", blanked(_STRINGS, piece[: max(end, 40)]))
    if when and ("DEFINE" in expected or when.start() == start):
        return "syntax", "a rule cannot be written as `when ... and`", (
            "write `define C() from A() and not B() within 5 min from A`"), when.span()  # fmt: skip
    if text == "-" and re.search(r"(?i)\bwithin$", before):
        return "syntax", "a duration cannot be negative", (
            "windows look into the past: `within 5 min from A` means up to 5 min before A"), here  # fmt: skip
    aggregate = re.search(r"(\w+)\s*\(\s*\w+\s*(\([^()]*\))?\s*(\.\s*\w+\s*\))?$", before)
    if aggregate and (text == "." or text.lower() in ("within", "between")):
        name = aggregate.group(1)
        if name.lower() not in words_of("tesla"):
            hint = did_you_mean(name.lower(), words_of("tesla"), "aggregates")
            return "unknown-function", f"unknown aggregate `{name}`", hint, aggregate.span(1)
    if text in ("'", '"'):
        return "syntax", "this string is not closed on its line", f"close it with {text}", here
    if text in CURLY_QUOTES:
        return "syntax", message, "write strings in straight quotes: `\"kitchen\"` or `'kitchen'`", here
    if text == "!":
        return "syntax", message, "write `not`: `A(not V)`", here
    if text == ")" and unclosed(blanked(_TEXTS, piece[:start])) is None:
        return "syntax", message, "remove it: no parenthesis is open here", here
    if text in ("&", "|") and piece[start : start + 2] == text * 2:
        return "syntax", message, "write `and`, `or`, `not`", (start, start + 2)
    if text == "$":
        return "syntax", "`$` must be followed by the name of a parameter", "write a parameter as `$x`", here
    if text == "`":
        return "syntax", "this name is not closed on its line", "close the backquotes: `` `my name` ``", here
    if re.search(r"(?i)\bwhere\b", before) and (text in ("=", "<", ">", "<=", ">=", "!=", "<>", "==") or
                                                text.lower() in _BOOLEAN):  # fmt: skip
        return "syntax", message, BOOLEAN_IN_WHERE, here
    advice = _misspelled(text, before, expected) or _unfinished(text, before, expected)
    if advice is not None:
        return "syntax", message, advice, here
    if re.search(r"\d\s*(-\s*|\s)(?i:first|last)$", before):
        advice = "write K-first and K-last without spaces: `2-last B()`"
    elif text.lower() in ("each", "first", "last", "not") and "_AND" in expected:
        advice = f"join the parts of a pattern with `and`: `and {text.lower()} B() ...`"
    elif "_COLON" in expected and re.match(r"(?i)(?!from\b)\w", text):
        typed = re.search(r"(\w+)$", before)
        known = typed is not None and typed[1].lower() in TYPE_NAMES
        advice = f"`{text}: {typed[1]}`" if typed and known else f"`name: {text}`"
        advice = f"write a colon before the type: {advice}"
    elif text.lower() == "or" and "_AND" in expected:
        advice = "at the top level of a pattern, `or` needs parentheses: `and (B.x > 3 or B.x < 1)`"
    elif "NUMBER" in expected and re.search(r"(?i)\bwithin$", before):
        advice = "write a duration as a number and a unit: `within 5 min from A`"
    elif re.search(r"(?i)\bfrom\s+(each|first|last|not)$", before):
        advice = "the event after `from` is the terminator: write it without `each`, `first`, `last` or `not`"
    elif re.search(r"(?i)\bconsuming\b[^()]*\b(each|first|last)$", before):
        advice = "list only the names of the events: `consuming B, C`"
    elif "_RPAR" in expected and re.search(r"(?i)\(\s*(within|between)$", before):
        advice = "close the parentheses of the event first: `B() within ...`"
    elif expected == {"WITHIN", "BETWEEN"} and re.fullmatch(r"[<>=!≠≤≥]+", text):
        advice = f"write the interval before the comparison: `within 5 min from A {text} ..`"
    elif expected == {"WITHIN", "BETWEEN"}:
        advice = "write the interval, `within 5 min from A` or `between A and B`: it ends at A; "
        advice += "to detect that nothing happened after an event, use a Timer: `from Timer(M%5 == 0) and each A() ...`"
    elif expected == {"_AND"} and re.search(r"(?i)\bbetween\s+\S+$", before):
        advice = "write both ends of the interval: `between A and B`"
    elif expected == {"FROM"} and not re.search(r"(?i)\bwithin\b", before):
        advice = "a rule needs a terminator: `define C(..) from A() ...`"
    elif expected and expected <= {"UNIT", "FROM", "NUMBER"} and "FROM" in expected:
        advice = "name the event from which the window is measured: `within 5 min from A`"
    elif "WITHIN" in expected and re.search(r"(?i)\b(each|first|last)\b[^()]*(\([^()]*\))?[^()]*$", before):
        advice = "every event after the first needs a window: `each B() within 5 min from A`"
    return ("syntax", message, advice, here) if advice else None


def _unfinished(text: str, before: str, expected: set[str]) -> str | None:
    """What is missing of a list of values or of a `case`; or that a rule does not say what follows."""
    if re.search(r"(?i)\bin$", before) and expected == {"_LPAR"}:
        return "write the values in parentheses: `V in (1, 2)`"
    if text == ")" and re.search(r"(?i)\bin\s*\($", before):
        return "`in` needs at least one value: `V in (1, 2)`"
    if re.search(r"(?i)\b(then|else)\s+end$", before) and "END" in expected:
        return f"a value is missing before `end`: {CASE}"
    if "THEN" in expected:
        return f"write `then` after the condition: {CASE}"
    if "END" in expected:
        return f"close the `case` with `end`: {CASE}"
    if text.lower() == "followed":
        return BEGIN_LAST
    return None


def _misspelled(text: str, before: str, expected: set[str]) -> str | None:
    """The keyword that a word was meant to be: here, or in place of the word before it."""
    if not re.fullmatch(r"[^\W\d]\w*", text):
        return None
    keywords = {_WORDS[name].strip("`").lower() for name in expected if name in _WORDS}
    keywords = {k for k in keywords if k.isalpha()}
    keywords |= set(_STATEMENTS) if "$END" in expected else set()
    hint = None if text.lower() in _POLICIES else meant(text, sorted(keywords))
    word = re.search(r"(?i)\band\s+(\w+)$", before)
    if hint is None and word is not None and word[1].lower() not in _POLICIES:
        return meant(word[1], _POLICIES)
    return hint


def _without_comments(text: str) -> str:
    return re.sub(r"(?:#|--)[^\n]*", "", text)
