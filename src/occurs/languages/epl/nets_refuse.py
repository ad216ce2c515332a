"""What of EPL has no translation into a net, each with its place (epl-and-nets.md, sections 3 and 4B)."""

from __future__ import annotations

from collections.abc import Iterator

from occurs.errors import Problem, Span
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import ResolvedQuery
from occurs.languages.text import Text

_WORDS: dict[type[syntax.Pattern], str] = {
    syntax.And: "and",
    syntax.Or: "or",
    syntax.Not: "not",
    syntax.EveryDistinct: "every-distinct",
    syntax.Repeat: "[n]",
    syntax.Until: "until",
    syntax.Within: "timer:within",
    syntax.While: "while",
    syntax.Interval: "timer:interval",
    syntax.At: "timer:at",
}
CORE = (syntax.Filter, syntax.Every, syntax.Followed)
EXTENDED = (*CORE, syntax.And, syntax.Or, syntax.Not, syntax.Within)


def word(p: syntax.Pattern) -> str:
    """An operator as it is written."""
    if isinstance(p, syntax.Within) and p.count is not None:
        return "timer:withinmax"
    return _WORDS[type(p)]


def is_core(query: syntax.Query) -> bool:
    """Is a statement made of what the paper translates?"""
    return query.where is None and all(isinstance(p, CORE) for p in nodes(query.pattern))


def nodes(p: syntax.Pattern) -> Iterator[syntax.Pattern]:
    """A pattern and all below it."""
    yield p
    for child in p.children:
        yield from nodes(child)


def refusals(q: ResolvedQuery, source: Text, extended: bool) -> list[Problem]:
    """All operators and options of a statement that have no translation."""
    found: list[Problem] = []

    def refuse(what: str, span: Span | None, hint: str) -> None:
        found.append(source.problem("unsupported", f"{what} cannot be translated into a net", span, hint))

    known = "events, `every`, `->`, `and`, `or`, `not` and `timer:within`" if extended else "events, `every` and `->`"
    hint = f"a net supports {known}"
    for p in nodes(q.pattern):
        possible = isinstance(p, EXTENDED) and not (isinstance(p, syntax.Within) and p.count is not None)
        if not possible or not (extended or isinstance(p, CORE)):
            more = "; the extended translation also supports `and`, `or`, `not` and `timer:within`"
            refuse(f"`{word(p)}`", p.span, hint + more * possible)
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
            inner = next((n for c in p.children for n in nodes(c) if isinstance(n, syntax.Every)), None)
            if inner is not None:
                text = "`every` inside `every`"
                refuse(text, inner.span, "let another statement detect the inner pattern, and use its output type here")
    if q.query.suppress:
        refuse("`@SuppressOverlappingMatches`", q.query.span, hint)
    if q.query.discard:
        refuse("`@DiscardPartialsOnMatch`", q.query.span, hint)
    if q.query.where is not None and not extended:
        refuse("`where` after a pattern", getattr(q.query.where, "span", None) or q.query.span, "move it into a filter")
    return found
