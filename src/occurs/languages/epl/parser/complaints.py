"""What a parser's complaint means to a person: what was found, what was expected, and how to write it."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput

from occurs.errors import Place, Problem
from occurs.expr.parsing import expected_terminals, found_at
from occurs.expr.text import Text
from occurs.languages.epl.parser.tree import unit_problem
from occurs.languages.epl.words import OTHER_UNITS, RESERVED, UNFIXED, UNITS
from occurs.languages.kit.complaints import LOOK_BACK, Groups, blanked, in_words, meant, not_closed, unclosed

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
_BEGINNINGS = ("create", "insert", "select")


def explain(error: UnexpectedInput, piece: str, offset: int, source: Text) -> Problem:
    """The problem that stopped the parser in ``piece``, a statement that begins at ``offset`` of ``source``."""
    expected = expected_terminals(error)
    start, end, found = found_at(error, piece)
    wanted = in_words(expected, _WORDS, _GROUPS, "`;`")
    here = (start, end)
    special = unsupported(piece, start, end, expected) or _special(piece, start, end, expected)
    kind, message, hint = "syntax", None, None
    if special is not None:
        kind, message, hint, here = special
    message = message or f"{found}: expected {wanted}"
    related: tuple[Place, ...] = ()
    opening = unclosed(blanked(_STRINGS, piece[:start]))
    if hint is None and opening is not None and {"_RPAR", "_RSQB"} & expected:
        hint, related = not_closed(piece, opening, source, offset)
    return source.problem(kind, message, source.span(offset + here[0], offset + here[1]), hint, related=related)


def _special(piece: str, start: int, end: int, expected: set[str]) -> Special | None:
    """The mistakes that deserve better words, with kind, message, hint and place."""
    text, rest, here = piece[start:end], piece[start:], (start, end)
    before = piece[max(0, start - LOOK_BACK) : start].rstrip()
    word = text.lower()
    if text in ("'", '"'):
        return "syntax", "this string is not closed on its line", f"close it with {text}", here
    if text == "`":
        return "syntax", "this name is not closed on its line", "close the backquotes: `` `my name` ``", here
    if re.search(r"[\d)]$", before) and "UNIT" in expected and word in (*OTHER_UNITS, *UNFIXED, "tick", "ticks"):
        return (*unit_problem(text), here)
    unit = re.search(r"\d\s*([^\W\d]+)$", before)
    if unit and unit[1].lower() not in UNITS and "ELSE" not in expected and word not in ("from", "as"):
        near = unit[1].lower() in OTHER_UNITS or unit[1].lower() in UNFIXED
        if near:
            at = piece.rfind(unit[1], 0, start)
            return (*unit_problem(unit[1]), (at, at + len(unit[1])))
    hint = _operator_hint(rest, before, expected) or _pattern_hint(text, rest, before, expected)
    if hint is None and word in RESERVED and "NAME" in expected and not expected >= _PATTERN:
        hint = f"`{text}` is a keyword: to use it as a name, write it in backquotes: `` `{text}` ``"
    elif hint is None:
        hint = _misspelled(text, before, expected)
    return ("syntax", None, hint, here) if hint else None


def _operator_hint(rest: str, before: str, expected: set[str]) -> str | None:
    """Operators as other languages write them."""
    if rest.startswith("=") and before.endswith("="):
        return "write equality with one `=`"
    if rest.startswith(("=>", "=<")):
        return f"write `{rest[1::-1]}`"
    if rest.startswith(("&", "!")) or re.match(r"\|(?!\|)", rest):
        return "write `and`, `or`, `not`; join strings with `||`"
    if rest.startswith(":="):
        return "write a tag with `=`: `a=A`"
    if re.match(r"(?i)(not\s+)?\w", rest) and re.search(r"(?i)\bis(\s+not)?$", before):
        return "`is null` and `is not null` test for null; compare values with `=` and `!=`"
    if "EQ" in expected and "_ARROW" not in expected and re.match(r"->|→", rest):
        return "a parenthesis before the arrow is not closed"
    if re.match(r"(=|!=|<>|<|>|≤|≥|≠)", rest) and "_AND" in expected and "EQ" not in expected and "_RPAR" in expected:
        return "comparisons do not chain: write `a < b and b < c`"
    return None


def _pattern_hint(text: str, rest: str, before: str, expected: set[str]) -> str | None:
    """Patterns that need other brackets or parentheses."""
    word = text.lower()
    if re.search(r"(?i)\bfrom\s+pattern(\s*@\s*\w+)*$", before) and "_LSQB" in expected:
        return "write the pattern in square brackets: `from pattern [every a=A -> b=B]`"
    qualified = re.search(r"(?i)\b(every|not|every\s*-\s*distinct\s*\([^()]*\))(\s*\[[^\[\]]*\])?$", before)
    if qualified and word in ("every", "not") and "_LPAR" in expected:
        first = re.sub(r"\s+", "", qualified[1].lower())
        return f"write parentheses: `{first.partition('(')[0]} ({word} ..)`"
    if qualified and word == "[" and qualified[2]:
        return "write one range of repetitions; to repeat a repetition, write parentheses: `[2] ([3] a=A)`"
    if word == "where" and re.search(r"(?i)\bwhere\s+timer\s*:\s*\w+\s*\([^()]*\)$", before) and "UNTIL" in expected:
        return "a pattern takes one guard: write parentheses, as in `(a=A where timer:within(1 min)) where ..`"
    if word == "while" and "UNTIL" in expected and "WHILE" not in expected:
        return "a pattern takes one guard: write parentheses, as in `(a=A where ..) while (..)`"
    if word == "until" and "_ARROW" in expected and re.search(r"(?i)\buntil\b", before):
        return "`until` does not chain: write parentheses, as in `(a=A until B) until C`"
    if re.search(r"(?i)\bwhere$", before) and expected <= {"_WITHIN", "_WITHINMAX"}:
        return "write a guard as `where timer:within(5 min)` or `while (condition)`"
    if not text and "_RSQB" in expected and "_LSQB" not in expected and "_ARROW" in expected:
        return "the bracket of `pattern [` is not closed"
    if text == "]" and "_RPAR" in expected and "_ARROW" in expected:
        return "a parenthesis is not closed before the end of the pattern"
    if "_ARROW" in expected and re.match(r"(?i)(followed\s+by|then)\b", rest):
        return "write an arrow before the next event: `a=A -> b=B`"
    if word in ("within", "withinmax", "interval") and rest[: len(word) + 1].endswith("("):
        return f"write `timer:{word}(..)`"
    if rest.startswith(",") and "_ARROW" in expected:
        return "join patterns with `->`, `and` or `or`"
    if text == ")" and before.endswith("(") and "_WITHIN" not in expected and "NUMBER" in expected:
        return "write a duration as a number and a unit: `5 min`"
    if text == "-" and re.search(r"\[\s*$", before):
        return "the number of repetitions cannot be negative"
    return None


def _misspelled(text: str, before: str, expected: set[str]) -> str | None:
    """The keyword that a word was meant to be: here, or in place of the word before it."""
    if not re.fullmatch(r"[^\W\d]\w*", text) or text.lower() in RESERVED:
        before_word = re.search(r"(?i)(?:^|\s)([a-z]+)$", before)
        if before_word and not _beginning(before, before_word):
            return None
        if before_word and before_word[1].lower() not in RESERVED:
            return meant(before_word[1], _BEGINNINGS)
        return None
    keywords = {w[1:].strip("`").partition(" ")[0] for n, w in _WORDS.items() if n in expected and w[0] == "`"}
    keywords |= {n.strip("_").lower() for n in expected & {"_AND", "_OR", "LIKE", "BETWEEN", "_CASE"}}
    known = sorted(k for k in keywords if k.isalpha())
    hint = meant(text, known)
    word = re.search(r"(?i)\s([a-z]+)$", before)
    if hint is None and word and word[1].lower() not in RESERVED:
        # `a.x form pattern`: the misspelt word was taken for a name
        return meant(word[1], ("from", "where", "every", "not", "select", "until"), 0.7)
    return hint


def _beginning(before: str, word: re.Match[str]) -> bool:
    return not before[: word.start(1)].strip()


# --- what EPL has and this language does not --------------------------------------------------------------------------


#: kind, message (None: what was expected), hint, and the place in the statement
Special = tuple[str, str | None, str | None, tuple[int, int]]

_WINDOWS = "limit the duration of a pattern with `where timer:within(5 min)`"
_JOINS = "relate events of several types with a pattern: `every a=A -> b=B(k = a.k)`"
_ONE = "a statement only detects a pattern; count or group its detections in a TESLA rule or in eSQL"
_CLAUSES = {
    "group": ("`group by`", _ONE),
    "having": ("`having`", _ONE),
    "output": ("`output`", "a statement emits every detection immediately"),
    "order": ("`order by`", "detections are always in the order of time"),
    "limit": ("`limit`", None),
    "match_recognize": ("`match_recognize`", "write a pattern: `from pattern [every a=A -> b=B]`"),
    **dict.fromkeys(("join", "inner", "left", "right", "full", "outer", "unidirectional"), ("a join", _JOINS)),
    **dict.fromkeys(("distinct", "istream", "rstream", "irstream"), ("this form of `select`", None)),
    "regexp": ("`regexp`", "use `like`, with the wildcards `%` and `_`"),
    "escape": ("`escape`", "escape wildcards of `like` with a backslash"),
}
_CREATED = ("window", "table", "context", "variable", "index", "expression", "constant", "dataflow", "class", "script")
_BEGUN = ("context", "on", "update", "delete", "merge", "declare", "expression", "explain")


def unsupported(piece: str, start: int, end: int, expected: set[str]) -> Special | None:
    """Kind, message, hint and place of what is not part of this language, at ``piece[start:end]``."""
    text, rest, here = piece[start:end], piece[start:], (start, end)
    word = text.lower()
    before = piece[max(0, start - LOOK_BACK) : start].rstrip()
    timer = re.search(r"(?i)\btimer$", before)
    if timer and (found := re.match(r"\s*:\s*([^\W\d]\w*)", rest)):
        return _timer(found[1].lower(), (piece.rindex(timer.group(), 0, start), start + found.end()))
    behind = "WHERE" in expected and "$END" in expected
    if text == "#" or (word == "." and re.match(r"\.\s*(win|std|ext|stat)\s*:", rest)) or (
        word == ":" and re.search(r"\.\s*(win|std|ext|stat)$", before)):  # fmt: skip
        return _not_part("a data window", _WINDOWS, here)
    if text == "," and behind:
        return _not_part("a join", _JOINS, here)
    if text == "(" and re.search(r"(?i)\binsert\s+into\s+\S+$", before):
        return _not_part("a list of columns after `insert into`", "name the columns with `select expr as name`", here)
    if word == "select" and before.endswith("("):
        return _not_part("a query inside a query", None, here)
    if word in _CLAUSES and "_AT" not in expected:
        what, hint = _CLAUSES[word]
        return _not_part(what, hint, here)
    if word in _CREATED and re.search(r"(?i)\bcreate$", before):
        return _not_part(f"`create {word}`", None, here)
    if word in _BEGUN and not before:
        return _not_part(f"`{word}`", None, here)
    if word in ("copyfrom", "starttimestamp", "endtimestamp") and "INHERITS" in expected:
        return _not_part(f"`{word}`", None, here)
    if text == "*" and (found := re.search(r"(?i)([\w$]+)\s*\($", before)):
        return _not_part(
            f"the aggregate `{found[1]}`",
            "an expression reads single events; aggregate in a TESLA rule or in eSQL",
            here,
        )
    if text == "*" and re.search(r"(?i)\bselect\b.*,$", before, re.DOTALL):
        return "syntax", None, "`*` must be the only item, as in `select *`; otherwise list the items: `a.*, b.x`", here
    if text == "," and re.search(r"(?i)\bselect\s*\*$", before):
        return "syntax", None, "`*` must be the only item, as in `select *`; otherwise list the items: `a.*, b.x`", here
    if word in UNFIXED and re.search(r"\d$", before):
        return (*unit_problem(text), here)
    if word in ("last", "weekday", "lastweekday") and "STAR" in expected:
        return _not_part(
            f"`{word}` in `timer:at`", "write a field as `*`, `5`, `*/15`, `8:17` or a list `[1, 15]`", here
        )
    if text == "?" or (text == "$" and rest.startswith("${")):
        return _not_part("a parameter of a prepared statement", None, here)
    return None


def _timer(word: str, here: tuple[int, int]) -> Special:
    """`timer:` with a word that is none of ours, or one that cannot stand there."""
    if word in ("withinmax", "within", "interval", "at"):
        guard = word.startswith("within")
        hint = f"write the guard after its pattern: `a=A where timer:{word}(..)`" if guard else (
            f"`timer:{word}(..)` is a pattern on its own, as in `a=A -> timer:{word}(..)`")  # fmt: skip
        return "syntax", f"`timer:{word}` is not allowed here", hint, here
    if word == "schedule":
        return _not_part("`timer:schedule`", "write `timer:at(minute, hour, day, month, day of week)`", here)
    return (
        "syntax",
        f"there is no `timer:{word}`",
        "the timers are timer:within, timer:withinmax, timer:interval and timer:at",
        here,
    )


def _not_part(what: str, hint: str | None, here: tuple[int, int]) -> Special:
    return "unsupported", f"{what} is not supported", hint, here
