"""Absence after an event, as English has it: `not Reply() within 5 min after Request`.

TESLA looks back from the event that completes a rule, so a rule cannot begin with what does not come.  A rule of two
parts, `A` and `not B`, is rewritten in the two ways that there are: in TESLA with a Timer, which looks back at both;
and in EPL, which waits.  The rule is read with `from` in place of `after`, and its tree is rewritten.  Both languages
check the result.  Where one of them refuses it, or the rule has more parts, the hint says in general what to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Param, Ref
from occurs.languages.tesla import syntax
from occurs.languages.tesla.render import render
from occurs.model.time import Duration
from occurs.model.types import Type

_EVENT = r"(?P<{0}>[^\W\d]\w*)(?:\s*(?P<{0}_in>\((?:[^()]|\([^()]*\))*\)))?"
_LENGTH = r"(?P<{0}>\d[\d.]*\s*[^\W\d]+(?:\s*\d[\d.]*\s*[^\W\d]+)*)"
_AFTER = r"(?P<word>after|since|following)\b"
_WITHIN = r"(?:within|for|in|during)"
_WORDS = rf"(?:{_WITHIN}|where|consuming|and)\b"
_ABSENT = re.compile(
    rf"(?P<from>\bfrom\s+)?\bnot\s+(?P<event>{_EVENT.format('absent')})(?:\s+as\s+\w+)?\s*"
    rf"(?:{_WITHIN}\s+{_LENGTH.format('length')}\s+)?\b{_AFTER}"
    rf"(?:\s*(?!{_WORDS}){_EVENT.format('after')})?(?:\s+{_WITHIN}\s+{_LENGTH.format('then')})?",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    rf"\b(?:each|first|last)\s+(?P<event>{_EVENT.format('next')}(?:\s+as\s+\w+)?)\s*"
    rf"{_WITHIN}\s+{_LENGTH.format('length')}\s+{_AFTER}\s+(?P<after>[^\W\d]\w*)",
    re.IGNORECASE,
)
_FIRST = re.compile(rf"\bfrom\s+{_EVENT.format('event')}(?:\s+as\s+(?P<alias>\w+))?", re.IGNORECASE)
_UNREAD = re.compile(r"""(?P<name>`[^`\n]*`)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?:\#|--)[^\n]*""")
#: the field of a Timer that is fine enough for a length, and how a person says it
_FIELDS = ((86_400_000_000, "H", "hour"), (60_000_000, "M", "minute"), (1_000_000, "S", "second"),
           (1_000, "MS", "millisecond"))  # fmt: skip

_LOOKS_BACK = "a rule looks back in time: it cannot start with an event and wait for the absence of another"
_WAIT = (
    "write a pattern in a .epl file, which can wait: `every a=A -> (timer:interval(5 min) and not B)`; "
    "or start a TESLA rule with a Timer, which looks back at both: "
    "`from Timer(M % 1 == 0) and each A() within 10 min from Timer and not B() between A and Timer "
    "and Timer.time - A.time >= 5 min ... consuming A`"
)
_COMES_LAST = "a window looks back in time: a rule starts with its latest event"
BEGIN_LAST = "start with the latest event and look back from it: `from B() and each A() within 5 min from B`"


@dataclass(frozen=True)
class Rewritten:
    """``message``: what the rule says; ``hint``: the rule as it is meant; ``at``: the word that cannot stand there."""

    message: str
    hint: str
    at: tuple[int, int]


def rewritten(piece: str, stopped: int) -> Rewritten | None:
    """The rule that was meant by a statement that looks forward; None if that did not stop the parser there."""
    seen = _UNREAD.sub(lambda m: ("x" if m["name"] else " ") * len(m[0]), piece)
    for found in _ABSENT.finditer(seen):
        at_not = found["from"] is not None and found.start("event") == stopped
        if at_not or found.end("event") <= stopped <= found.end("word"):
            return Rewritten(_LOOKS_BACK, _absent(piece, seen, found) or _WAIT, found.span("word"))
    for found in _FOLLOWING.finditer(seen):
        if found.end("event") <= stopped <= found.end("word"):
            return Rewritten(_COMES_LAST, _following(piece, found) or BEGIN_LAST, found.span("word"))
    return None


def _absent(piece: str, seen: str, found: re.Match[str]) -> str | None:
    """The hint for a rule of an event and an absence; None for every other rule."""
    begin, rest = piece[: found.start()], piece[found.end() :]
    written = found["length"] or found["then"]
    first = _FIRST.search(seen)
    role = piece[slice(*found.span("after"))] if found["after"] else ""
    if found["from"]:
        begin += f"from {piece[found.start('after') : found.end('after_in' if found['after_in'] else 'after')]} and "
    else:
        role += found["after_in"] or ""  # the event has been written before: this cannot be read
        if not role and first is not None:
            role = first["alias"] or piece[slice(*first.span("event"))]
    absent = piece[slice(*found.span("event"))]
    rule = _read(f"{begin}not {absent} within {written or '5 min'} from {role} {rest}")
    if rule is None or len(rule.items) != 1 or (found["length"] and found["then"]):
        return None
    [negation] = rule.items
    if not isinstance(negation, syntax.Negation) or not isinstance(negation.interval, syntax.Within):
        return None
    event = rule.terminator
    before, length = event.alias or event.type, negation.interval.duration
    field = next(((f, w) for least, f, w in _FIELDS if length.amount >= least and not length.ticks), None)
    if field is None or negation.interval.role != before or rule.consuming not in ((), (before,)):
        return None
    epl = _in_epl(rule, negation.event, before, length)
    tesla = _with_timer(rule, negation.event, before, length, field[0])
    if epl is None or not _stands(epl, "epl") or not _stands(tesla, "tesla"):
        return None
    how_long = "" if written else "choose a duration, for example 5 min: "
    timer = f"use a Timer, which detects it at the next full {field[1]}, `{tesla}`"
    return f"{how_long}in a .epl file write `{epl}`; or {timer}"


def _with_timer(rule: syntax.Rule, absent: syntax.Event, before: syntax.Name, length: Duration, field: str) -> str:
    """The rule that a Timer begins; like EPL, it takes no `absent` that comes when the time is over."""
    timer = syntax.Name("Timer")
    whole = Binary("=", Binary("%", Ref(None, field), Literal(1, Type.INT)), Literal(0, Type.INT))
    began, span = Ref(before.text, "time"), DurationLiteral(length)
    in_time = Binary("<", Ref(None, "time"), Binary("+", began, span))
    over = Binary(">=", Binary("-", Ref("Timer", "time"), began), span)
    twice = Duration(length.amount * 2)
    items = (
        syntax.Selection("each", 1, rule.terminator, syntax.Within(twice, timer)),
        syntax.Negation(replace(absent, constraints=(*absent.constraints, in_time)), syntax.Between(before, timer)),
        syntax.Condition(over),
    )
    return render(replace(rule, terminator=syntax.Event(timer, (whole,)), items=items, consuming=(before,)))


def _in_epl(rule: syntax.Rule, absent: syntax.Event, before: syntax.Name, length: Duration) -> str | None:
    """The statement of EPL that waits; None if EPL cannot say what is in the rule."""
    from occurs.languages.epl.render.expressions import duration_text, expr_text, name_text

    tag = before.text[0].lower()
    bound: dict[str, Expr] = {}
    own = []
    for c in rule.terminator.constraints:
        if isinstance(c, Binary) and c.op == "=" and isinstance(c.left, Ref) and isinstance(c.right, Param):
            bound[c.right.name] = Ref(tag, c.left.name)
        else:
            own.append(c)

    def tagged(expr: Expr) -> Expr:
        if isinstance(expr, Param):
            return bound.get(expr.name, expr)
        if isinstance(expr, Ref) and expr.scope == before.text:
            return replace(expr, scope=tag)
        return expr.with_children(tuple(map(tagged, expr.children))) if expr.children else expr

    def listed(event: syntax.Name, conditions: list[Expr]) -> str:
        inside = ", ".join(expr_text(tagged(c)) for c in conditions)
        return name_text(event.text) + (f"({inside})" if inside else "")

    try:
        columns = ", ".join(f"{expr_text(tagged(a.expr))} as {name_text(a.name.text)}" for a in rule.where)
        first, second = listed(rule.terminator.type, own), listed(absent.type, list(absent.constraints))
    except TypeError:  # an expression that EPL does not have
        return None
    return (
        f"insert into {name_text(rule.type.text)} select {columns or '*'} from pattern "
        f"[every {tag}={first} -> (timer:interval({duration_text(length)}) and not {second})];"
    )


def _following(piece: str, found: re.Match[str]) -> str | None:
    """The hint for a rule of an event and `each` that follows it; None for every other rule."""
    event, length = piece[slice(*found.span("event"))], found["length"]
    role = piece[slice(*found.span("after"))]
    rule = _read(f"{piece[: found.start('event')]}{event} within {length} from {role} {piece[found.end() :]}")
    if rule is None or len(rule.items) != 1:
        return None
    [later] = rule.items
    first = rule.terminator
    if not isinstance(later, syntax.Selection) or later.policy != "each" or later.having is not None:
        return None
    if later.within.role != (first.alias or first.type):
        return None
    within = replace(later.within, role=later.event.alias or later.event.type)
    turned = render(replace(rule, terminator=later.event, items=(replace(later, event=first, within=within),)))
    return f"write `{turned}`" if _stands(turned, "tesla") else None


def _read(text: str) -> syntax.Rule | None:
    """The tree of a statement; None if there is a problem in it."""
    from occurs.languages.tesla.parser import parse

    file, problems = parse(text)
    if problems or len(file.statements) != 1:
        return None
    return rule if isinstance(rule := file.statements[0], syntax.Rule) else None


def _stands(rule: str, language: str) -> bool:
    """Whether a rule may be shown: its language takes it, and it does not end the backquotes around it."""
    from occurs.languages.kit.language import Known
    from occurs.languages.kit.language import language as load

    definitions = load(language)
    texts = definitions.read([(rule, None, language)])
    problems = [*texts.problems, *definitions.check(texts, Known()).problems]
    return "`" not in rule and not any(p.severity == "error" and p.kind != "unknown-order" for p in problems)
