"""What EPL has and this language has not, found where the parser stopped (epl-and-nets.md, section 3)."""

from __future__ import annotations

import re

from occurs.languages.complaints import LOOK_BACK
from occurs.languages.epl.parser_expr import unit_problem
from occurs.languages.epl.words import UNFIXED

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
    behind = "_WHERE" in expected and "$END" in expected
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
    if word in ("copyfrom", "starttimestamp", "endtimestamp") and "_INHERITS" in expected:
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
