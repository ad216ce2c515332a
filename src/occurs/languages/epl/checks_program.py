"""What only all statements together show: who makes what, in which order, and cycles (epl-and-nets.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from occurs.errors import Place, Span, did_you_mean
from occurs.languages.epl import syntax
from occurs.languages.epl.checks_analysis import is_name, title
from occurs.languages.epl.checks_catalogue import Catalogue
from occurs.languages.text import Text
from occurs.plan.graph import cyclic

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


def types_of(pattern: syntax.Pattern) -> list[syntax.Name]:
    """The types of all filters, in the order of the pattern."""
    if isinstance(pattern, syntax.Filter):
        return [pattern.type]
    return [t for child in pattern.children for t in types_of(child)]


def reads(query: syntax.Query, catalogue: Catalogue) -> tuple[str, ...]:
    """The types that a query reads, with those that inherit from them."""
    found = [s for t in types_of(query.pattern) for s in catalogue.subtypes(t.text)]
    return tuple(dict.fromkeys(found))


def check_cycles(queries: Sequence[Stated], catalogue: Catalogue, foreign: Mapping[str, Collection[str]]) -> None:
    """Report types that are made of themselves, once per cycle.  ``foreign``: what the types of other languages are
    made of."""
    edges: dict[str, dict[str, None]] = {name: dict.fromkeys(sorted(made)) for name, made in foreign.items()}
    first: dict[str, Stated] = {}
    for q in queries:
        first.setdefault(q.name, q)
        edges.setdefault(q.name, {}).update(dict.fromkeys(reads(q.query, catalogue)))
    told: set[str] = set()
    knotted = cyclic(edges)
    for q in queries:
        ring = [] if q.name in told or q.name not in knotted else _way_back(q.name, edges)
        if not ring or told & set(ring):
            continue
        told |= set(ring)
        places = tuple(
            Place(f"`{t}` is defined here", o.source.file, o.span)
            for t in ring[1:-1] for o in [first.get(t)] if o is not None
        )  # fmt: skip
        # as the events go: from what is read to what is made
        message = f"the definitions form a cycle: {' -> '.join(f'`{t}`' for t in reversed(ring))}"
        hint = "insert into another type: a statement cannot depend on its own output"
        q.source.report("cycle", message, q.span, hint, "error", places)


def _way_back(start: str, edges: Mapping[str, Iterable[str]]) -> list[str]:
    """A shortest way from a type to itself, each made of the next; empty if there is none."""
    came: dict[str, str] = {}
    waiting = [start]
    for name in waiting:
        for step in edges.get(name, ()):
            if step == start:
                ring = [start, name]
                while ring[-1] != start:
                    ring.append(came[ring[-1]])
                return ring[::-1]
            if step in edges and step not in came:
                came[step] = name
                waiting.append(step)
    return []


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


def warn_types(queries: Sequence[Stated], catalogue: Catalogue) -> None:
    """Types that are made here and come with the data, too."""
    seen: set[str] = set()
    for q in queries:
        if q.name in seen or catalogue.inputs is None or q.name not in catalogue.inputs:
            continue
        seen.add(q.name)
        message = f"`{q.name}` is defined here and is also in the input: "
        message += "statements read those rows, but they are not reported as detections"
        q.source.warn("external-input", message, q.span)
