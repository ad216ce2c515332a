"""What a parser's complaint means to a person who writes EPL: mistakes, and what EPL has and this language has not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from occurs.languages.epl.parser.tree import unit_problem
from occurs.languages.epl.timers import TIMERS
from occurs.languages.epl.words import OTHER_UNITS, RESERVED, UNFIXED, UNITS
from occurs.languages.kit.complaints import meant
from occurs.languages.kit.mistakes import QUOTES, Case, Groups, Mistake, Said, Stop, explainer

#: terminals in the order in which they are listed to the user
_WORDS = {
    "CREATE": "`create`", "SCHEMA": "`schema`", "INSERT": "`insert into`", "INTO": "`into`",
    "SELECT": "`select`", "FROM": "`from`", "PATTERN": "`pattern`", "NAME": "a name", "NUMBER": "a number",
    "UNIT": "a unit of time (min, sec, msec ...)", "STRING": "a quoted string", "WHERE": "`where`", "AS": "`as`",
    "INHERITS": "`inherits`", "EVERY": "`every`", "_NOT": "`not`", "UNTIL": "`until`", "_ARROW": "`->`",
    "_WITHIN": "`timer:within`", "_WITHINMAX": "`timer:withinmax`", "WHILE": "`while`", "_ENDLIMIT": "`]>`",
    "NULL": "`null`", "WHEN": "`when`", "THEN": "`then`", "ELSE": "`else`", "END": "`end`", "EQ": "`=`",
    "STAR": "`*`", "SLASH": "`/`", "_AT": "`@`", "_LPAR": "`(`", "_RPAR": "`)`", "_LSQB": "`[`", "_RSQB": "`]`",
    "_COMMA": "`,`", "_COLON": "`:`", "_DOT": "`.`",
}  # fmt: skip
_VALUE = {"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "NULL", "_LPAR", "MINUS", "_CASE"}
_PATTERN = {"NAME", "EVERY", "_EVERY_DISTINCT", "_NOT", "_INTERVAL", "_TIMER_AT", "_LPAR", "_LSQB"}
_COMPARED = {"EQ", "NE", "LT", "LE", "GT", "GE", "IN", "IS", "LIKE", "BETWEEN"}
_COMPUTED = {"PLUS", "MINUS", "STAR", "SLASH", "MOD", "_CONCAT"}
#: groups of terminals that are named together, if all are expected
_GROUPS: Groups = (
    (_PATTERN, _PATTERN, "a pattern"),
    (_PATTERN - {"EVERY", "_EVERY_DISTINCT", "_NOT"}, _PATTERN - {"_NOT"}, "an event, a timer or `(`"),
    (_PATTERN - {"EVERY", "_EVERY_DISTINCT", "_NOT", "_LSQB"}, _PATTERN - {"_NOT"}, "an event, a timer or `(`"),
    (_VALUE | {"_NOT"}, _VALUE | {"_NOT"}, "a condition"),
    (_VALUE, _VALUE, "a value"),
    ({"NUMBER", "STRING", "TRUE", "FALSE", "NULL", "MINUS"}, _VALUE, "a constant"),
    (_COMPARED, _COMPARED | {"_NOT"}, "a comparison (`=`, `<`, `>=` ...)"),
    (_COMPUTED, _COMPUTED | {"UNIT", "_DOT"}, ""),
    ({"_WITHIN", "_WITHINMAX"}, {"_WITHIN", "_WITHINMAX"}, "`timer:within(..)`"),
    ({"_AND", "_OR"}, {"_AND", "_OR"}, "`and`, `or`"),
)
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`\n]+`")


# --- what EPL has and this language does not --------------------------------------------------------------------------

_WINDOWS = "limit the duration of a pattern with `where timer:within(5 min)`"
_JOINS = "relate events of several types with a pattern: `every a=A -> b=B(k = a.k)`"
_ONE = "a statement only detects a pattern; count or group its detections in a TESLA rule or in eSQL"
_CLAUSES = {
    "group": ("`group by`", _ONE),
    "having": ("`having`", _ONE),
    "output": ("`output`", "a statement emits every detection immediately"),
    "limit": ("`limit`", None),
    "match_recognize": ("`match_recognize`", "write a pattern: `from pattern [every a=A -> b=B]`"),
    **dict.fromkeys(("join", "inner", "left", "right", "full", "outer", "unidirectional"), ("a join", _JOINS)),
    **dict.fromkeys(("distinct", "istream", "rstream", "irstream"), ("this form of `select`", None)),
    "regexp": ("`regexp`", "use `like`, with the wildcards `%` and `_`"),
    "escape": ("`escape`", "escape wildcards of `like` with a backslash"),
}
_CREATED = ("window", "table", "context", "index", "expression", "dataflow", "class", "script")
_BEGUN = ("context", "on", "update", "delete", "merge", "declare", "expression", "explain")


_VARIABLES = "a variable keeps its value during a run; values that change are events: `every l=Limit -> a=A(v > l.v)`"

_STAR = "`*` must be the only item, as in `select *`; otherwise list the items: `a.*, b.x`"
_MARKED = "win|std|ext|stat"


def _missing(what: str, hint: str | None, text: str = "", rest: str = "", before: str = "", wants: str = "") -> Mistake:
    """A part of EPL that is not supported."""
    return Mistake(hint, text, rest, before, wants, message=f"{what} is not supported", kind="unsupported")


def _timer(stop: Stop) -> Said | None:
    """`timer:` with a word that is none of ours, or one that cannot stand there."""
    timer, found = stop.behind(r"\btimer$"), stop.ahead(r"\s*:\s*([^\W\d]\w*)")
    if not timer or not found:
        return None
    word, place = found[1].lower(), (stop.piece.rindex(timer[0], 0, stop.start), stop.start + found.end())
    if word in ("withinmax", "within", *(t.word.removeprefix("timer:") for t in TIMERS.values())):
        guard = word.startswith("within")
        hint = f"write the guard after its pattern: `a=A where timer:{word}(..)`" if guard else (
            f"`timer:{word}(..)` is a pattern on its own, as in `a=A -> timer:{word}(..)`")  # fmt: skip
        return Said(hint, f"`timer:{word}` is not allowed here", place=place)
    *others, last = ("timer:within", "timer:withinmax", *(t.word for t in TIMERS.values()))
    hint = f"the timers are {', '.join(others)} and {last}"
    return Said(hint, f"there is no `timer:{word}`", place=place)


def _counted(found: re.Match[str] | None) -> Said | None:
    """`count(*)`."""
    hint = "an expression reads single events; aggregate in a TESLA rule or in eSQL"
    return Said(hint, f"the aggregate `{found[1]}` is not supported", "unsupported") if found else None


_UNSUPPORTED: Sequence[Case] = (
    _timer,
    _missing("a data window", _WINDOWS, "#"),
    _missing("a data window", _WINDOWS, rest=rf"\.\s*({_MARKED})\s*:"),
    _missing("a data window", _WINDOWS, ":", before=rf"\.\s*({_MARKED})$"),
    _missing("a join", _JOINS, ",", wants="WHERE $END"),
    _missing("a list of columns after `insert into`", "name the columns with `select expr as name`", r"\(",
             before=r"\binsert\s+into\s+\S+$"),
    _missing("a query inside a query", None, "select", before=r"\($"),
    *(_missing(what, hint, word, wants="-_AT") for word, (what, hint) in _CLAUSES.items()),
    _missing("`create %s`", None, "|".join(_CREATED), before=r"\bcreate$"),
    _missing("`set`", _VARIABLES, "set", before=r"\A\Z"),
    _missing("`%s`", None, "|".join(_BEGUN), before=r"\A\Z"),
    _missing("`%s`", None, "copyfrom|starttimestamp|endtimestamp", wants="INHERITS"),
    lambda stop: _counted(stop.behind(r"([\w$]+)\s*\($")) if stop.text == "*" else None,
    Mistake(_STAR, r"\*", before=r"\bselect\b.*,$"),
    Mistake(_STAR, ",", before=r"\bselect\s*\*$"),
    lambda stop: _unit(stop.text) if stop.word in UNFIXED and stop.behind(r"\d$") else None,
    Mistake("write the day before it: `15 weekday`", "weekday", wants="STAR"),
    _missing("a parameter in this place", "write the value itself", rest=r"\?"),
    _missing("a list as the type of a column", "leave the schema out: the input defines its columns", r"\[",
             wants="_COMMA _RPAR", before=r"[\w$`]\s+\w+$"),
    _missing("a placeholder", "write a parameter, `?:name`, or the value itself", r"\{", before=r"\$$"),
)  # fmt: skip


# --- mistakes ---------------------------------------------------------------------------------------------------------


def _unit(word: str, place: tuple[int, int] | None = None) -> Said:
    kind, message, hint = unit_problem(word)
    return Said(hint, message, kind, place)


def _units(stop: Stop) -> Said | None:
    """A unit of time as other languages write it, here or before this."""
    if "UNIT" in stop.expected and stop.word in (*OTHER_UNITS, *UNFIXED, "tick", "ticks") and stop.behind(r"[\d)]$"):
        return _unit(stop.text)
    unit = stop.behind(r"\d\s*([^\W\d]+)$")
    if not unit or unit[1].lower() in UNITS or "ELSE" in stop.expected or stop.word in ("from", "as"):
        return None
    at = stop.piece.rfind(unit[1], 0, stop.start)
    near = unit[1].lower() in OTHER_UNITS or unit[1].lower() in UNFIXED
    return _unit(unit[1], (at, at + len(unit[1]))) if near else None


def _qualified(stop: Stop) -> str | None:
    """`every every`, `every [2] [3]`."""
    found = stop.behind(r"\b(every|not|every\s*-\s*distinct\s*\([^()]*\))(\s*\[[^\[\]]*\])?$")
    if found and stop.word in ("every", "not") and "_LPAR" in stop.expected:
        first = re.sub(r"\s+", "", found[1].lower())
        return f"write parentheses: `{first.partition('(')[0]} ({stop.word} ..)`"
    if found and stop.word == "[" and found[2]:
        return "write one range of repetitions; to repeat a repetition, write parentheses: `[2] ([3] a=A)`"
    return None


def _misspelled(stop: Stop) -> str | None:
    """The keyword that a word was meant to be: here, or in place of the word before it."""
    if not stop.named or stop.word in RESERVED:
        word = stop.behind(r"\A\s*([a-z]+)$")
        known = ("create", "insert", "select")
        return meant(word[1], known) if word and word[1].lower() not in RESERVED else None
    others = {n.strip("_").lower() for n in stop.expected & {"INSERT", "_AND", "_OR", "LIKE", "BETWEEN", "_CASE"}}
    hint = meant(stop.text, sorted(stop.keywords(_WORDS) | others))
    word = stop.behind(r"\s([a-z]+)$")
    if hint is None and word and word[1].lower() not in RESERVED:
        # `a.x form pattern`: the misspelt word was taken for a name
        return meant(word[1], ("from", "where", "every", "not", "select", "until"), 0.7)
    return hint


_QUOTED = "`%t` is a keyword: to use it as a name, write it in backquotes: `` `%t` ``"
_GUARD = "write a guard as `where timer:within(5 min)` or `while (condition)`"
_ONE_GUARD = "a pattern takes one guard: write parentheses, as in "
_CASES: Sequence[Case] = (
    *_UNSUPPORTED,
    *QUOTES,
    _units,
    Mistake("write equality with one `=`", rest="=", before="=$"),
    Mistake("write `>=`", rest="=>"),
    Mistake("write `<=`", rest="=<"),
    Mistake("write `and`, `or`, `not`; join strings with `||`", rest=r"[&!]|\|(?!\|)"),
    Mistake("write a tag with `=`: `a=A`", rest=":="),
    Mistake("`is null` and `is not null` test for null; compare values with `=` and `!=`", rest=r"\w",
            before=r"\bis(\s+not)?$"),
    Mistake("a parenthesis before the arrow is not closed", rest="->|→", wants="EQ -_ARROW"),
    Mistake("comparisons do not chain: write `a < b and b < c`", rest="=|!=|<>|<|>|≤|≥|≠", wants="_AND -EQ _RPAR"),
    Mistake("write the pattern in square brackets: `from pattern [every a=A -> b=B]`",
            before=r"\bfrom\s+pattern(\s*@\s*\w+)*$", wants="_LSQB"),
    _qualified,
    Mistake(f"{_ONE_GUARD}`(a=A where timer:within(1 min)) where ..`", "where", wants="UNTIL",
            before=r"\bwhere\s+timer\s*:\s*\w+\s*\([^()]*\)$"),
    Mistake(f"{_ONE_GUARD}`(a=A where ..) while (..)`", "while", wants="UNTIL -WHILE"),
    Mistake("`until` does not chain: write parentheses, as in `(a=A until B) until C`", "until", before=r"\buntil\b",
            wants="_ARROW"),
    Mistake(_GUARD, before=r"\bwhere$", only="_WITHIN _WITHINMAX"),
    Mistake("the bracket of `pattern [` is not closed", rest=r"\Z", wants="_RSQB -_LSQB _ARROW"),
    Mistake("a parenthesis is not closed before the end of the pattern", "]", wants="_RPAR _ARROW"),
    Mistake("write an arrow before the next event: `a=A -> b=B`", rest=r"(followed\s+by|then)\b", wants="_ARROW"),
    Mistake("write `timer:%s(..)`", "within|withinmax|interval", rest=r"\w+\("),
    Mistake("join patterns with `->`, `and` or `or`", rest=",", wants="_ARROW"),
    Mistake("write a duration as a number and a unit: `5 min`", r"\)", before=r"\($", wants="-_WITHIN NUMBER"),
    lambda stop: _QUOTED.replace("%t", stop.text) if stop.reserved(RESERVED, _PATTERN) else None,
    _misspelled,
)  # fmt: skip

explain = explainer(_WORDS, _GROUPS, "`;`", _CASES, opaque=_STRINGS)
