"""What is known of a pattern before its net is built (epl-and-nets.md, sections 3, 4A and 4B).

Which of its operators have no translation; for the extended translation also how often a pattern reports, whether it
can end without a result, which of its events a match may lack, and which of two searches is the older when one row
completes both.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from occurs.errors import Problem, Span
from occurs.expr.text import Text
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import ResolvedQuery
from occurs.languages.epl.nets.terms import Unsupported
from occurs.languages.epl.timers import timer_of

#: more alternatives of what a match has are not told apart
MOST_ALTERNATIVES = 64


class Kind(Enum):
    """``ONCE``: one report, true and over, or false.  ``MANY``: true any number of times, never over.  ``MIXED``: some
    of its trues are over, which only counting what still waits would tell, or only its branches know."""

    ONCE = 1
    MANY = 2
    MIXED = 3


@dataclass(frozen=True)
class Ends:
    """How a pattern reports; ``fails``: can it be false?  ``counted``: that depends on how many searches wait."""

    kind: Kind
    fails: bool = False
    counted: bool = False


def ends(p: syntax.Pattern) -> Ends:
    """How a pattern reports.

    >>> from occurs.languages.epl.syntax import Every, Filter, Followed, Name
    >>> a, b = Filter(Name("A")), Filter(Name("B"))
    >>> ends(Followed((Every(a), b))).kind, ends(Followed((a, b))).kind
    (<Kind.MANY: 2>, <Kind.ONCE: 1>)
    """
    match p:
        case syntax.Every():
            return Ends(Kind.MANY)
        case syntax.Within():
            return replace(ends(p.operand), fails=True)
        case syntax.Or():
            parts = [ends(c) for c in p.operands]
            kinds = {e.kind for e in parts}
            kind = kinds.pop() if len(kinds) == 1 else Kind.MIXED
            return Ends(kind, all(e.fails for e in parts), any(e.counted for e in parts))
        case syntax.And():
            positive, absent = split(p)
            parts = [ends(c) for c in positive]
            kind = max((e.kind for e in parts), key=lambda k: (k is Kind.MANY, k is Kind.MIXED))
            fails = any(e.fails for e in parts) or any(ends(n).kind is Kind.ONCE for n in absent)
            return Ends(kind, fails, any(e.counted for e in parts))
        case syntax.Followed():
            out = ends(p.operands[0])
            for step in p.operands[1:]:
                out = _then(out, ends(step))
            return out
    return Ends(Kind.ONCE)


def _then(first: Ends, second: Ends) -> Ends:
    """``p -> q``: with one search of q at most, it ends as q does; a p that never ends keeps it from ending."""
    if first.kind is Kind.ONCE:
        return Ends(second.kind, first.fails or second.fails, first.counted or second.counted)
    if first.kind is Kind.MANY and not first.fails:
        return Ends(Kind.MANY)
    return Ends(Kind.MIXED, True, True)


def split(p: syntax.And) -> tuple[list[syntax.Pattern], list[syntax.Pattern]]:
    """The operands of ``and``: what must come, and what must not (without its ``not``)."""
    positive: list[syntax.Pattern] = []
    absent: list[syntax.Pattern] = []
    for o in p.operands:
        if isinstance(o, syntax.Not):
            absent.append(o.operand)
        else:
            positive.append(o)
    return positive, absent


def branches(p: syntax.Or) -> list[syntax.Pattern]:
    """The operands of ``or``, those of an ``or`` directly within it in its place."""
    return [b for o in p.operands for b in (branches(o) if isinstance(o, syntax.Or) else [o])]


# --- what a match has --------------------------------------------------------------------------------------------


def slots(p: syntax.Pattern) -> tuple[str, ...]:
    """The tags for which a match of the pattern has a place, in the order of the pattern; none below ``not``."""
    if isinstance(p, syntax.Filter):
        assert p.tag is not None
        return (p.tag.text,)
    if isinstance(p, syntax.Not):
        return ()
    return tuple(t for c in p.children for t in slots(c))


def alternatives(p: syntax.Pattern) -> set[frozenset[str]]:
    """Which tags can be bound together in a match.  Raises Unsupported if there are too many ways."""
    match p:
        case syntax.Not():
            return {frozenset()}
        case syntax.Or():
            out = {a for c in p.operands for a in alternatives(c)}
        case syntax.Followed() | syntax.And():
            out = {frozenset()}
            for c in p.operands:
                out = {a | b for a in out for b in alternatives(c)}
                if len(out) > MOST_ALTERNATIVES:
                    break
        case syntax.Filter():
            return {frozenset(slots(p))}
        case _:
            return {a for c in p.children for a in alternatives(c)}
    if len(out) > MOST_ALTERNATIVES:
        text = f"a match has more than {MOST_ALTERNATIVES} combinations of events, which is too many for a net"
        raise Unsupported(text, p.span)
    return out


def optional(p: syntax.Pattern) -> frozenset[str]:
    """The tags that a match may lack."""
    ways = alternatives(p)
    return frozenset(slots(p)) - frozenset.intersection(*ways)


# --- what cannot be told -----------------------------------------------------------------------------------------


def check(q: ResolvedQuery) -> None:
    """Raises Unsupported where the net would not keep to the meaning of the pattern."""
    _check(q.pattern, False)


def _check(p: syntax.Pattern, failing: bool) -> None:
    """``failing``: does anybody want to know that the pattern is false?"""
    made = ends(p)
    if failing and made.counted:
        text = "a net cannot know whether this has ended: it depends on the number of active searches"
        raise Unsupported(text, p.span)
    match p:
        case syntax.Every():
            _check(p.operand, True)
        case syntax.Within():
            if failing and made.kind is Kind.MIXED:
                text = "a net cannot know whether this ends before its time: it depends on which branch is true"
                raise Unsupported(text, p.span)
            _check(p.operand, failing)
        case syntax.Or():
            for b in branches(p):
                if ends(b).kind is Kind.MIXED:
                    text = "a net cannot know whether this branch of `or` has ended: its matches do not determine it"
                    raise Unsupported(text, b.span)
                _check(b, failing)
        case syntax.And():
            if failing and made.kind is Kind.MIXED:
                text = "a net cannot know whether this `and` has ended: it depends on which branch is true"
                raise Unsupported(text, p.span)
            positive, absent = split(p)
            for c in positive:
                _check(c, True)
            for n in absent:
                if ends(n).kind is Kind.MIXED:
                    text = "a net cannot know whether the operand of this `not` has ended from its matches"
                    raise Unsupported(text, n.span)
                inner = next((c for c in n.walk() if isinstance(c, syntax.Not)), None)
                if inner is not None:
                    raise Unsupported("`not` inside `not` cannot be translated into a net", inner.span)
                _check(n, False)
        case syntax.Followed():
            for c in p.operands:
                _check(c, failing)


# --- which search is the older --------------------------------------------------------------------------------------


class _Age(Enum):
    """Since when a filter waits: since the ``or`` began, since later, or since then and later again and again."""

    ORIGINAL = 1
    LATER = 2
    EITHER = 3


@dataclass(frozen=True)
class _Last:
    """A filter that completes a branch."""

    filter: syntax.Filter
    age: _Age


@dataclass
class Order:
    """Before which other filters a filter must hear of a row that both accept: the older (epl-and-nets.md, 4A)."""

    later: dict[str, set[str]] = field(default_factory=dict)

    def level(self, tag: str) -> int:
        """How many filters come one behind the other before this one."""
        return max((1 + self.level(t) for t, after in self.later.items() if tag in after), default=0)


def order(p: syntax.Pattern) -> Order:
    """The order of the filters that complete branches of one ``or``.

    Raises Unsupported where that is only known when the pattern runs.
    """
    out = Order()
    for node in p.walk():
        if isinstance(node, syntax.Or):
            parts = [(_last(b, _Age.ORIGINAL), ends(b).kind) for b in branches(node)]
            for k, (left, one) in enumerate(parts):
                for right, other in parts[k + 1 :]:
                    if Kind.ONCE in (one, other):
                        _compare(left, right, node, out)
    return out


def _compare(left: list[_Last], right: list[_Last], node: syntax.Or, out: Order) -> None:
    for f in left:
        for g in right:
            if f.filter.type.text != g.filter.type.text:
                continue
            first = f if f.age is _Age.ORIGINAL else g
            if first is g and (g.age is not _Age.ORIGINAL or f.age is _Age.EITHER):
                text = (
                    f"one event of `{f.filter.type}` can complete two branches of this `or`: a net cannot know which "
                    "of them started first"
                )
                raise Unsupported(text, node.span or g.filter.span)
            second = g if first is f else f
            assert first.filter.tag is not None
            assert second.filter.tag is not None
            out.later.setdefault(first.filter.tag.text, set()).add(second.filter.tag.text)


def _last(p: syntax.Pattern, age: _Age) -> list[_Last]:
    """The filters that complete a pattern."""
    match p:
        case syntax.Filter():
            return [_Last(p, age)]
        case syntax.Every():
            # a filter directly below stays; everything else begins again
            again = age is _Age.ORIGINAL and not isinstance(p.operand, syntax.Filter)
            return _last(p.operand, _Age.EITHER if again else age)
        case syntax.Followed():
            return _last(p.operands[-1], _Age.LATER)
        case syntax.Not():
            return []
    return [f for c in p.children for f in _last(c, age)]


# --- what has no translation ------------------------------------------------------------------------------------------


_WORDS: dict[type[syntax.Pattern], str] = {
    syntax.And: "and",
    syntax.Or: "or",
    syntax.Not: "not",
    syntax.EveryDistinct: "every-distinct",
    syntax.Repeat: "[n]",
    syntax.Until: "until",
    syntax.Within: "timer:within",
    syntax.While: "while",
}
CORE = (syntax.Filter, syntax.Every, syntax.Followed)
EXTENDED = (*CORE, syntax.And, syntax.Or, syntax.Not, syntax.Within)


def word(p: syntax.Pattern) -> str:
    """An operator as it is written."""
    if isinstance(p, syntax.Within) and p.count is not None:
        return "timer:withinmax"
    return timer_of(p).word if isinstance(p, syntax.Timer) else _WORDS[type(p)]


def is_core(query: syntax.Query) -> bool:
    """Is a statement made of what the paper translates?"""
    return query.where is None and not query.order and all(isinstance(p, CORE) for p in query.pattern.walk())


def refusals(q: ResolvedQuery, source: Text, extended: bool) -> list[Problem]:
    """All operators and options of a statement that have no translation."""
    found: list[Problem] = []

    def refuse(what: str, span: Span | None, hint: str) -> None:
        found.append(source.problem("unsupported", f"{what} cannot be translated into a net", span, hint))

    known = "events, `every`, `->`, `and`, `or`, `not` and `timer:within`" if extended else "events, `every` and `->`"
    hint = f"a net supports {known}"
    alone = [c for p in q.pattern.walk() if not isinstance(p, syntax.And) for c in p.children]
    for lone in (n for n in (q.pattern, *alone) if isinstance(n, syntax.Not)):
        refuse("a `not` that is not an operand of `and`", lone.span, "write `.. and not B`")
    for p in q.pattern.walk():
        possible = isinstance(p, EXTENDED) and not (isinstance(p, syntax.Within) and p.count is not None)
        if not possible or not (extended or isinstance(p, CORE)):
            more = "; the extended translation also supports `and`, `or`, `not` and `timer:within`"
            refuse(f"`{word(p)}`", p.span, hint + more * possible)
        if isinstance(p, syntax.Within) and isinstance(p.duration, syntax.Period | syntax.Computed):
            refuse("a length that varies", p.span, "write it in days, or in a smaller unit")
        if isinstance(p, syntax.Followed):
            limit = next((k for k in p.limits if k is not None), None)
            if limit is not None:
                refuse(f"`-[{limit}]>`", p.span, hint)
        if isinstance(p, syntax.Filter):
            assert p.tag is not None
            if p.consume:
                refuse("`@consume`", p.span, hint)
            heirs = q.atoms[p.tag.text].types[1:]
            if heirs:
                refuse(
                    f"a filter of `{p.type}`, from which `{heirs[0]}` inherits,",
                    p.type.span or p.span,
                    "a transition takes events of one type",
                )
        if isinstance(p, syntax.Every):
            inner = next((n for c in p.children for n in c.walk() if isinstance(n, syntax.Every)), None)
            if inner is not None:
                text = "`every` inside `every`"
                refuse(text, inner.span, "let another statement detect the inner pattern, and use its output type here")
    if len(q.filters) > len(q.atoms):
        refuse("a tag of several events", q.query.span, "give each event a tag of its own")
    if q.query.suppress:
        refuse("`@SuppressOverlappingMatches`", q.query.span, hint)
    if q.query.discard:
        refuse("`@DiscardPartialsOnMatch`", q.query.span, hint)
    if q.query.order:
        refuse("`order by`", q.query.order[0].span, "remove it: a net has no order among the matches of one event")
    if q.query.where is not None and not extended:
        refuse("`where` after a pattern", getattr(q.query.where, "span", None) or q.query.span, "move it into a filter")
    return found
