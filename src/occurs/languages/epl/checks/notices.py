"""Patterns that are likely wrong, or that cost more and more (epl-and-nets.md, section 3, warnings)."""

from __future__ import annotations

from occurs.errors import Place
from occurs.expr.text import Text
from occurs.languages.complaints import listed
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import Atom, ResolvedQuery
from occurs.languages.epl.checks.retention import retention


def warn(query: ResolvedQuery, source: Text) -> None:
    """Report what is likely wrong or costly in a query without errors."""
    _unbounded(query, source)
    _multiplying(query.query.pattern, source, None)
    for every in query.pattern.walk():
        if isinstance(every, syntax.Every):
            _overlapping(every, query, source)
        if isinstance(every, syntax.EveryDistinct) and every.expiry is None:
            hint = "give the keys a time, as in `every-distinct(a.k, 1 hour)`, or ignore this if there are few keys"
            source.warn("unbounded-state", "unbounded state: `every-distinct` keeps every key", every.span, hint)


def _unbounded(query: ResolvedQuery, source: Text) -> None:
    waiting = [query.atoms[w.tag] for w in retention(query) if w.grows and w.bound is None]
    if not waiting:
        return
    first = waiting[0].filter
    names = listed([f"`{_called(a)}`" for a in waiting], "and")
    message = f"unbounded state: partial matches starting at {names} never expire"
    hint = (
        "add a time limit to the next step, `.. -> (b=B where "
        "timer:within(5 min))`, or limit the partial matches: `-[n]>`"
    )
    source.warn("unbounded-state", message, (first.tag or first.type).span or first.span, hint)


def _called(atom: Atom) -> str:
    return atom.tag if atom.filter.tag is not None else atom.filter.type.text


def _multiplying(node: syntax.Pattern, source: Text, outer: syntax.Pattern | None) -> None:
    if isinstance(node, syntax.Every | syntax.EveryDistinct):
        if outer is not None:
            place = Place("the outer one is here", source.file, outer.span)
            message = "`every` inside `every`: each match starts one more search, and all of them find the next match"
            hint = "write only one `every`, before the first event: `every a=A -> b=B`"
            source.report("multiplying", message, node.span, hint, "warning", (place,))
        outer = node
    for child in node.children:
        _multiplying(child, source, outer)


def _overlapping(every: syntax.Every, query: ResolvedQuery, source: Text) -> None:
    """``every (a -> b(k=a.k))``: while an `a` waits for its `b` no other `a` is looked at."""
    inner: syntax.Pattern = every.operand
    while isinstance(inner, syntax.Within | syntax.While):
        inner = inner.operand
    if not isinstance(inner, syntax.Followed) or not isinstance(inner.operands[0], syntax.Filter):
        return
    first = query.atoms[_tag(inner.operands[0])]
    keyed = None
    for step in inner.operands[1:]:
        for node in step.walk():
            if isinstance(node, syntax.Filter) and any(tag == first.tag for _, tag, _ in query.atoms[_tag(node)].equal):
                keyed = keyed or query.atoms[_tag(node)]
    if keyed is None:
        return
    key = next(f"{first.tag}.{mine}" for _, tag, mine in keyed.equal if tag == first.tag)
    message = (
        f"this follows one value of `{key}` at a time: events with other values are missed until the match completes"
    )
    source.warn("non-overlapping", message, every.span, _instead(every.operand, inner, source))


def _instead(whole: syntax.Pattern, chain: syntax.Followed, source: Text) -> str | None:
    """The same with ``every`` before the first event only; guards around the chain stand behind the rest of it."""
    places = [whole.span, chain.span, *(o.span for o in chain.operands)]
    if any(span is None for span in places):
        return None
    end, inside, first, *rest = [source.offsets(span) for span in places if span is not None]
    behind = source.text[rest[0][0] : rest[-1][1]]
    guards = source.text[inside[1] : end[1]].lstrip(") \t\r\n") if whole is not chain else ""
    behind = f"({behind}) {guards}" if guards else behind
    return f"start a match at each event: `{' '.join(f'every {source.text[slice(*first)]} -> {behind}'.split())}`"


def _tag(node: syntax.Filter) -> str:
    assert node.tag is not None
    return node.tag.text
