"""What a parser's complaint means to a person who writes SQL: mistakes, and what SQL has and this language has not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from occurs.languages.kit.complaints import meant
from occurs.languages.kit.mistakes import Case, Groups, Mistake, Said, Stop, closes_nothing, explainer
from occurs.languages.match_recognize.words import RESERVED

#: terminals in the order in which they are listed to the user
_WORDS = {
    "CREATE": "`CREATE VIEW`", "VIEW": "`VIEW`", "SELECT": "`SELECT`", "FROM": "`FROM`",
    "MATCH_RECOGNIZE": "`MATCH_RECOGNIZE`", "NAME": "a name", "NUMBER": "a number", "STRING": "a text in quotes",
    "WHERE": "`WHERE`", "PARTITION": "`PARTITION BY`", "ORDER": "`ORDER BY`", "MEASURES": "`MEASURES`",
    "ONE": "`ONE ROW PER MATCH`", "ALL": "`ALL ROWS PER MATCH`", "AFTER": "`AFTER MATCH SKIP`", "PATTERN": "`PATTERN`",
    "WITHIN": "`WITHIN`", "SUBSET": "`SUBSET`", "DEFINE": "`DEFINE`", "AS": "`AS`", "BY": "`BY`", "_NOT": "`NOT`",
    "NULL": "`NULL`", "WHEN": "`WHEN`", "THEN": "`THEN`", "ELSE": "`ELSE`", "END": "`END`", "EQ": "`=`", "ROW": "`ROW`",
    "ROWS": "`ROWS`", "PER": "`PER`", "MATCH": "`MATCH`", "SKIP": "`SKIP`", "PAST": "`PAST LAST ROW`", "TO": "`TO`",
    "_LENGTH": "`INTERVAL`", "_RBRACE": "`}`", "_REXC": "`-}`", "_LPAR": "`(`", "_RPAR": "`)`", "_COMMA": "`,`",
    "_DOT": "`.`", "_BAR": "`|`",
}  # fmt: skip
_VALUE = {"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "NULL", "_LPAR", "MINUS", "_CASE", "_CAST", "_LENGTH",
          "_TIMESTAMP", "PARAMETER", "RUNNING", "FINAL"}  # fmt: skip
_PATTERN = {"NAME", "_LPAR", "_LEXC", "PERMUTE", "CARET", "DOLLAR"}
_QUANTIFIED = {"STAR", "PLUS", "RELUCTANT", "_LBRACE"}
_COMPARED = {"EQ", "NE", "LT", "LE", "GT", "GE", "IN", "IS", "LIKE", "BETWEEN"}
_COMPUTED = {"PLUS", "MINUS", "STAR", "SLASH", "MOD", "_CONCAT"}
#: groups of terminals that are named together, if all are expected
_GROUPS: Groups = (
    (_PATTERN | _QUANTIFIED, _PATTERN | _QUANTIFIED, "a variable or a quantifier"),
    (_PATTERN | {"RELUCTANT"}, _PATTERN | {"RELUCTANT"}, "a variable"),
    (_PATTERN, _PATTERN, "a variable"),
    (_VALUE | {"_NOT"}, _VALUE | {"_NOT"}, "a condition or a value"),
    (_VALUE, _VALUE, "a value"),
    (_COMPARED, _COMPARED | {"_NOT"}, "a comparison (`=`, `<`, `>=` ...)"),
    (_COMPUTED, _COMPUTED | {"_DOT", "_LPAR"}, ""),
    ({"_AND", "_OR"}, {"_AND", "_OR"}, "`AND`, `OR`"),
)
_OPAQUE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`")

# --- what SQL has and this language does not --------------------------------------------------------------------------

_SPARK = "on Spark, `occurs.sql(spark, text)` reads the clause inside any Spark SQL query"
_BEHIND = "group|having|order|limit|offset|fetch|join|inner|left|right|full|cross|natural|union|intersect|except|window"
_NAMED = {
    "group": "GROUP BY", "order": "ORDER BY", "inner": "JOIN", "left": "JOIN", "right": "JOIN", "full": "JOIN",
    "cross": "JOIN", "natural": "JOIN",
}  # fmt: skip


def _missing(what: str, hint: str | None, text: str = "", rest: str = "", before: str = "", wants: str = "") -> Mistake:
    """A part of SQL that is not supported."""
    return Mistake(hint, text, rest, before, wants, message=f"{what} is not supported", kind="unsupported")


def _outside(stop: Stop) -> Said | None:
    """A clause of SQL outside MATCH_RECOGNIZE."""
    if stop.unclosed is not None or not re.fullmatch(_BEHIND, stop.word):
        return None
    word = _NAMED.get(stop.word, stop.word.upper())
    return Said(_SPARK, f"`{word}` is not supported outside MATCH_RECOGNIZE", "unsupported")


def _taken_for_alias(stop: Stop) -> Said | None:
    """`.. MATCH_RECOGNIZE ( .. ) GROUP BY`, `FROM a JOIN b`: the word was read as an alias."""
    found = stop.behind(rf"[\w)\"`]\s+({_BEHIND})$")
    if stop.unclosed is not None or found is None:
        return None
    at = stop.piece.lower().rfind(found[1].lower(), 0, stop.start)
    word = _NAMED.get(found[1].lower(), found[1].upper())
    message = f"`{word}` is not supported outside MATCH_RECOGNIZE"
    return Said(_SPARK, message, "unsupported", (at, at + len(found[1])))


def _distinct(stop: Stop) -> Said | None:
    """`SELECT DISTINCT`: the word was read as a column."""
    found = stop.behind(r"\bselect\s+(distinct)(\s*\*)?$")
    if found is None:
        return None
    return Said(_SPARK, "`DISTINCT` is not supported outside MATCH_RECOGNIZE", "unsupported", found.span(1))


_UNSUPPORTED: Sequence[Case] = (
    _outside,
    _taken_for_alias,
    _missing("a query inside a query", f"name it as a view of its own; {_SPARK}", "select", before=r"\($"),
    _distinct,
    _missing("a list of common table expressions", f"create a view for each; {_SPARK}", "with", before=r"\A\Z"),
    _missing("a window function", "aggregates in MATCH_RECOGNIZE are over the rows of the match", "over",
             before=r"\)$"),
    _missing("`FILTER`", "write a condition inside: `SUM(CASE WHEN c THEN x END)`", "filter", before=r"\)$"),
    _missing("`SEEK`", None, "seek"),
    _missing("`INITIAL`", None, "initial"),
    _missing("`%s NULLS`", "write `COALESCE`, or a condition in DEFINE", "ignore|respect", before=r"\)$"),
    _missing("a query as a table", f"name it as a view of its own; {_SPARK}", rest=r"\(", before=r"\bfrom$"),
    _missing("a second table", _SPARK, ",", before=r"\bfrom\s+\S+(\s+as)?(\s+\w+)?$"),
    _missing("a parameter without a name", "occurs.sql takes named parameters: `:name` with `args=`",
             rest=r"\?\s*[,)]", wants="-RELUCTANT NUMBER"),
)  # fmt: skip


# --- mistakes ---------------------------------------------------------------------------------------------------------

_KEYWORDS = ("create", "view", "select", "from", "where", "match_recognize", "partition", "order", "measures", "one",
             "all", "after", "pattern", "within", "subset", "define", "rows", "match", "skip", "past", "permute", "as",
             "and", "or", "not", "by", "in", "like", "between", "case", "when", "then", "else", "end")  # fmt: skip


def _misspelled(stop: Stop) -> str | None:
    """The keyword that a word was meant to be: here, or in place of the word before it."""
    hint = None
    if stop.named and stop.word not in RESERVED:
        expected = {n.strip("_").lower() for n in stop.expected} & set(_KEYWORDS)
        hint = meant(stop.text, sorted(expected), 0.7)
    before = stop.behind(r"(?:^|[\s(),])([a-z_]+)$")
    if hint is None and before and before[1].lower() not in (*RESERVED, *_KEYWORDS):
        return meant(before[1], _KEYWORDS, 0.75)
    return hint


def _pattern_missing(stop: Stop) -> Said | None:
    """The clause ends, or DEFINE begins, without PATTERN."""
    if "PATTERN" not in stop.expected or stop.word not in ("define", "subset", "within", ")", ""):
        return None
    if "MATCH_RECOGNIZE" in stop.expected:
        return None
    return Said("write `PATTERN (A B+)` before it", "`PATTERN` is missing")


_QUOTED = '`%t` is a keyword: to use it as a name, write it in quotes: `"%t"`'
_ORDER = ("partition", "order", "measures", "one", "all", "after", "pattern", "within", "subset", "define")


def _out_of_place(stop: Stop) -> str | None:
    """A part of the clause that stands behind one that must follow it, or behind the clause."""
    if stop.word not in _ORDER or stop.expected == {"NAME"}:
        return None
    if stop.unclosed is None:
        return "a parenthesis before it closes MATCH_RECOGNIZE: remove it" if stop.behind(r"\)$") else None
    return ("the parts of the clause must be in this order: PARTITION BY, ORDER BY, MEASURES, ROWS PER MATCH, "
            "AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE")  # fmt: skip


_CASES: Sequence[Case] = (
    *_UNSUPPORTED,
    Mistake("close it with %s", "['\"`]", message="this text or name is not closed"),
    _pattern_missing,
    Mistake("write equality with one `=`", rest="=", before="=$"),
    Mistake("write `>=`", rest="=>"),
    Mistake("write `<=`", rest="=<"),
    Mistake("write `AND`, `OR`, `NOT`; join texts with `||`", rest=r"[&!]"),
    Mistake("`IS NULL` and `IS NOT NULL` test for null; compare values with `=` and `<>`", rest=r"\w",
            before=r"\bis(\s+not)?$"),
    Mistake("comparisons do not chain: write `a < b AND b < c`", rest="=|!=|<>|<|>", wants="_AND -EQ _RPAR"),
    Mistake("there are no possessive quantifiers", r"\+", before=r"[*+?}]$"),
    Mistake("one quantifier only: write parentheses, as in `(A+)*`", r"[*{]", before=r"[*+?}]$"),
    Mistake("name it: `.. AS name`", rest=r"[,)]|one\b|all\b|after\b|pattern\b", before=r"\bmeasures\b[^;]*$",
            wants="AS -_RPAR", message="this measure has no name"),
    Mistake("write `INTERVAL '5' MINUTE`, or a number of ticks", before=r"\bwithin$"),
    Mistake("write one number and one unit: `INTERVAL '90' MINUTE`", before=r"\binterval\s+('[^']*'|[\d.]+)$",
            kind="bad-duration", message="this interval has no unit"),
    Mistake("write one number and one unit: `INTERVAL '90' MINUTE`", "to",
            before=r"\binterval\s+('[^']*'|[\d.]+)\s+\w+$", kind="bad-duration",
            message="an interval has one unit"),
    _out_of_place,
    lambda stop: _QUOTED.replace("%t", stop.text) if stop.reserved(RESERVED, _VALUE) else None,
    closes_nothing,
    _misspelled,
)  # fmt: skip

explain = explainer(_WORDS, _GROUPS, "`;`", _CASES, opaque=_OPAQUE)
