"""Everything that can be said of EPL statements before a row is read (epl-and-nets.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from occurs.errors import Place, Problem, Span, did_you_mean
from occurs.expr.text import Text
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.analysis import Analysis, Atom, Output, ResolvedQuery, Struct, Wait, is_name, title
from occurs.languages.epl.checks.bounds import Bounds
from occurs.languages.epl.checks.catalogue import Catalogue
from occurs.languages.epl.checks.names import Names
from occurs.languages.epl.checks.parameters import filled
from occurs.languages.epl.checks.query import Patterns, Select
from occurs.languages.epl.checks.retention import retention
from occurs.languages.epl.render import render
from occurs.languages.kit.complaints import listed, warn_also_in_input
from occurs.languages.kit.cycles import cycles
from occurs.model.time import TimeKind
from occurs.model.types import Schema

__all__ = ["Analysis", "Atom", "Output", "ResolvedQuery", "Struct", "Wait", "analyse", "retention"]


def analyse(
    files: Sequence[syntax.File],
    inputs: Mapping[str, Schema] | None = None,
    foreign: Mapping[str, Schema] | None = None,
    kind: TimeKind | None = None,
    *,
    foreign_reads: Mapping[str, Collection[str]] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Analysis:
    """Check parsed files as one program and resolve their queries.

    ``inputs``: the types seen in the data (None: no data is known, types that nobody makes are accepted as they come).
    ``foreign``: types that other languages define or declare, ``foreign_reads``: what each of them is made of.
    ``values``: of variables and parameters.
    ``kind``: what times count, None if not yet known: then nothing is said about units.  Problems have the kinds of
    common.md, section 5, and the warnings ``unbounded-state multiplying non-overlapping external-input``.
    """
    sources = [Text(f.text, f.file) for f in files]
    given = filled(files, sources, values or {})
    statements = [(s, t) for s, f in zip(sources, given.files, strict=True) for t in f.statements]
    check_annotations(statements)
    created = [(s, t) for s, t in statements if isinstance(t, syntax.CreateSchema)]
    queries = stated(statements)
    defined = {q.name: q.place for q in reversed(queries)}
    elements = frozenset[str]().union(*(syntax.elements_of(f.statements) for f in files))
    catalogue = Catalogue(inputs, foreign or {}, frozenset().union(*(f.unread for f in files)), elements)
    catalogue.fill(created, defined)
    check_cycles(queries, catalogue, foreign_reads or {})
    resolved: dict[int, ResolvedQuery] = {}
    for q in in_order(queries, catalogue):
        before = len(q.source.problems)
        made = resolved[q.number] = _resolve(q, catalogue, kind, defined)
        catalogue.insert(q.source, made)
        if not any(p.severity == "error" for p in q.source.problems[before:]):
            warn(made, q.source)
    warn_also_in_input([(q.name, q.source, q.span) for q in queries], catalogue.inputs, "statements")
    schemas = catalogue.schemas()
    done = tuple(replace(resolved[q.number], schema=schemas[q.name]) for q in queries)
    problems = sorted(dict.fromkeys(p for s in sources for p in s.problems), key=Problem.sort_key)
    declared = {n: schemas[n] for n in catalogue.declared}
    subtypes = {n: catalogue.subtypes(n) for n in catalogue.declared}
    return Analysis(given.files, given.takes, given.written, done, schemas, declared, subtypes, elements, problems)


def _resolve(
    stated: Stated, catalogue: Catalogue, kind: TimeKind | None, defined: Mapping[str, Place]
) -> ResolvedQuery:
    query, source = stated.query, stated.source
    names = Names(source, catalogue, kind)
    patterns = Patterns(names, Bounds(source, kind), defined)
    pattern, bound = patterns.resolve(query.pattern)
    select = Select(names, query, bound)
    outputs, where, order = select.outputs(), select.where(), select.order()
    columns = {tag: frozenset(found) for tag, found in names.columns.items()}
    plain = replace(query, annotations=tuple(a for a in query.annotations if not is_name(a)))
    return ResolvedQuery(
        query,
        stated.name,
        stated.number,
        pattern,
        patterns.atoms,
        tuple(patterns.filters),
        where,
        outputs,
        order,
        columns,
        reads(query, catalogue),
        Schema(),
        source.file,
        render(plain),
    )


# --- all statements together ------------------------------------------------------------------------------------------


_ANNOTATIONS = ("Name", "Description", "Tag", "Priority", "public", "buseventtype")


@dataclass(frozen=True)
class Stated:
    """A query of the program: its number among all, from 1, and the type that it derives."""

    source: Text
    query: syntax.Query
    number: int
    name: str

    @property
    def place(self) -> Place:
        """Where its type is named."""
        return Place(f"`{self.name}` is defined here", self.source.file, self.span)

    @property
    def span(self) -> Span | None:
        """The place of the name of its type; without one, of the whole query."""
        if self.query.into is not None:
            return self.query.into.span
        named = next((a for a in reversed(self.query.annotations) if is_name(a)), None)
        return self.query.span if named is None else named.span or named.name.span


def stated(statements: Sequence[tuple[Text, syntax.Statement]]) -> list[Stated]:
    """The queries, each with the type that it derives: that of `insert into`, else its @Name, else `stmt_<n>`."""
    out: list[Stated] = []
    for source, query in statements:
        if isinstance(query, syntax.Query):
            number = len(out) + 1
            name = query.into.text if query.into is not None else title(query) or f"stmt_{number}"
            out.append(Stated(source, query, number, name))
    return out


def check_annotations(statements: Sequence[tuple[Text, syntax.Statement]]) -> None:
    """Report annotations that say nothing, and statements of the same name."""
    first: dict[str, Place] = {}
    known = {name.lower() for name in _ANNOTATIONS}
    for source, statement in statements:
        for a in statement.annotations:
            at = a.span or a.name.span
            if a.name.text.lower() not in known:
                hint = did_you_mean(a.name.text, _ANNOTATIONS, "annotations")
                source.warn("unknown-name", f"the annotation `@{a.name}` has no effect", at, hint)
            elif a.name.text.lower() == "name" and not is_name(a):
                source.report("type-mismatch", "a name must be a string", at, "write `@Name('Duration')`")
            elif is_name(a) and isinstance(statement, syntax.Query):
                name = str(a.value)
                if name in first:
                    message = f"two statements are called `{name}`"
                    source.report("duplicate-definition", message, at, None, "error", (first[name],))
                else:
                    first[name] = Place("the first is here", source.file, at)


def reads(query: syntax.Query, catalogue: Catalogue) -> tuple[str, ...]:
    """The types that a query reads, with those that inherit from them."""
    filters = [n for n in query.pattern.walk() if isinstance(n, syntax.Filter)]
    found = [s for f in filters for s in catalogue.subtypes(f.type.text)]
    return tuple(dict.fromkeys(found))


def check_cycles(queries: Sequence[Stated], catalogue: Catalogue, foreign: Mapping[str, Collection[str]]) -> None:
    """Report types that are made of themselves, once per cycle.  ``foreign``: what the types of other languages are
    made of."""
    edges: dict[str, dict[str, None]] = {name: dict.fromkeys(sorted(made)) for name, made in foreign.items()}
    first: dict[str, Stated] = {}
    for q in queries:
        first.setdefault(q.name, q)
        edges.setdefault(q.name, {}).update(dict.fromkeys(reads(q.query, catalogue)))
    for name, ring in cycles([q.name for q in queries], edges):
        places = tuple(
            Place(f"`{t}` is defined here", o.source.file, o.span)
            for t in ring[1:-1] for o in [first.get(t)] if o is not None
        )  # fmt: skip
        # as the events go: from what is read to what is made
        message = f"the definitions form a cycle: {' -> '.join(f'`{t}`' for t in reversed(ring))}"
        hint = "insert into another type: a statement cannot depend on its own output"
        first[name].source.report("cycle", message, first[name].span, hint, "error", places)


def in_order(queries: Sequence[Stated], catalogue: Catalogue) -> list[Stated]:
    """The queries, each behind all that make a type it reads; those of a cycle come last."""
    makers: dict[str, set[int]] = {}
    for i, q in enumerate(queries):
        makers.setdefault(q.name, set()).add(i)
    needs = [{m for t in reads(q.query, catalogue) for m in makers.get(t, ())} for q in queries]
    readers: dict[int, list[int]] = {}
    for i, needed in enumerate(needs):
        for m in needed:
            readers.setdefault(m, []).append(i)
    ready = [i for i, needed in enumerate(needs) if not needed]
    done = list(ready)
    for i in done:
        for r in readers.get(i, ()):
            needs[r].discard(i)
            if not needs[r]:
                done.append(r)
    left = set(range(len(queries))) - set(done)
    return [queries[i] for i in [*done, *sorted(left)]]


# --- patterns that are likely wrong, or that cost more and more -------------------------------------------------------


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
        inside = (n for n in node.operand.walk() if not isinstance(n, syntax.And))
        alone = next((c for n in inside for c in n.children if isinstance(c, syntax.Not)), None)
        if alone is not None:
            place = Place("the `not` is here", source.file, alone.span)
            message = "each match goes on until its `not` is false, and `every` begins another search then"
            hint = "write `every` before the first event only: `every a=A -> not b=B`"
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
