"""What a parser's complaint means to a person who writes Phenesthe."""

from __future__ import annotations

import re
from collections.abc import Sequence

from occurs.languages.kit.complaints import meant
from occurs.languages.kit.mistakes import QUOTES, Case, Mistake, Said, Stop, explainer
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
_NAMED: Sequence[tuple[set[str], str]] = (
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
_AS_INPUT = (
    "declare the phenomenon that needs it as an input, as in `input_phenomenon(steady(_V), state).`"
)
_GOAL = re.compile(r"is(?!\w)|=\.\.|!|;|->|\\\+|\[|:-|@<|@>|//")


def _unsupported(stop: Stop) -> Said | None:
    """What only Phenesthe's own files may hold."""
    if re.search(r"\bcollector\s*\(", stop.piece[: stop.start + 1]) or re.match(r"collector\s*\(", stop.rest):
        return Said(_AS_INPUT, "`collector` is not supported", "unsupported")
    clause = None if stop.before else re.match(r"([a-z]\w*)\s*\([^:.]*\)\s*:-", stop.rest)
    if clause is not None:
        return Said(_AS_INPUT, f"the Prolog clause of `{clause[1]}` is not supported", "unsupported")
    ported = ":=" in stop.piece[: stop.start] or stop.ahead(r"\s*:-")
    goal = _GOAL.match(stop.rest) if ported else None
    if goal is None:
        return None
    hint = "a condition is a comparison or a fact: compute in the comparison, as in `X + 1 > Y`"
    return Said(hint, f"the Prolog goal with `{goal[0]}` is not supported", "unsupported")


def _statement(stop: Stop) -> str | None:
    """What begins a statement."""
    return meant(stop.text, _STATEMENT) if not stop.before and re.match(r"\w", stop.text) else None


def _misspelled(stop: Stop) -> str | None:
    """The keyword that a word was meant to be."""
    if not re.match(r"\w", stop.text) or stop.text in syntax.KEYWORDS or not stop.expected & {"_AND", "RELATION"}:
        return None
    return meant(stop.text, [w for w in _INFIX if "RELATION" in stop.expected or w in ("and", "or")], 0.7)


_CASES: Sequence[Case] = (
    _unsupported,
    *QUOTES,
    Mistake("start a number with a digit: `0.5`", r"\.", rest=r"\.\d"),
    Mistake("write `and`, `or`, `not`", "[&|!]"),
    Mistake("write a state from one event to another as `begins(V) ~> ends(V)`", ">", before="-$"),
    Mistake("end the statement with a full stop", ";"),
    _statement,
    Mistake("a range takes two operands: write parentheses, as in `a ~> end(b ~> c)`", rest="~>|↣", before="~>|↣"),
    Mistake("write a duration as one number with one unit: `90 min`", r"[^\W\d]\w*", before=r"\d$", wants="UNIT"),
    _misspelled,
)

explain = explainer(
    _WORDS,
    [(group, group, name) for group, name in _NAMED],
    "`.`",
    _CASES,
    comments=re.compile(r"(?:#|%|--)[^\n]*"),
    closers="",
)
