"""The partial matches that `timer:within` ends, as definitions beside those of the matches (common.md, section 4).

They run by themselves: the matches, and what they cost, stay what they are, and a stream may be asked for them, or not
any more, from any start on.  A row has the time at which the guard ended its pattern and, as in ``select *``, the event
of every tag by then, null if there was none.  ``where`` and ``@SuppressOverlappingMatches`` are about matches, and have
no say; ``@DiscardPartialsOnMatch`` has.

What waits below the guard gives a row each: a filter or timer what it was started with, a repetition what it has
collected, an ``and`` what waits there for its other operands.  The beginning of another row is left out, and so is what
has no event at all; what stands below a ``not`` or at the end of an ``until`` is nothing that was waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from occurs.languages.epl.checks_analysis import ResolvedQuery
from occurs.languages.epl.compile_keys import choices
from occurs.model.types import RESERVED_OUTPUT, Schema, Type
from occurs.operators.sequences import tree
from occurs.plan.sequences import SequenceDefinition, nodes

#: before the name of a statement: no type that can be written has such a name
SIDE = "timeouts of "


def with_guards(
    queries: Sequence[ResolvedQuery],
    definitions: Sequence[SequenceDefinition],
    schemas: Mapping[str, Schema],
    first: int,
) -> list[SequenceDefinition]:
    """For each of the queries with a guard, compiled to ``definitions``, what gives the partial matches that it ends.

    ``schemas``: of all types; ``first``: the place of the first of them.
    """
    out: list[SequenceDefinition] = []
    names = Counter(q.title or q.name for q in queries)
    seen: Counter[str] = Counter()
    for q, d in zip(queries, definitions, strict=True):
        name = q.title or q.name
        seen[name] += 1
        if any(isinstance(n, tree.Within) for n in nodes(d.pattern.root)):
            called = f"{name} {seen[name]}" if names[name] > 1 else name
            out.append(_ended(q, d, schemas, called, first + len(out)))
    return out


def _ended(
    q: ResolvedQuery, d: SequenceDefinition, schemas: Mapping[str, Schema], called: str, place: int
) -> SequenceDefinition:
    events: dict[str, tree.Whole] = {}
    columns = {tag: set(names) for tag, names in d.pattern.columns}
    for tag, atom in q.atoms.items():
        if not tag.startswith("#"):
            known = schemas.get(atom.types[0], Schema())
            shown = tuple((n, t) for n, t in known if t is not Type.RECORD)
            events[f"{tag}_" if tag in RESERVED_OUTPUT else tag] = tree.Whole(tag, shown)
            columns[tag] |= {n for n, _ in shown}
    pattern = replace(
        d.pattern,
        name=f"{SIDE}{called}",
        columns=tuple((tag, frozenset(names)) for tag, names in columns.items()),
        where=None,
        outputs=tuple(events.items()),
        suppress=False,
    )
    needed: dict[str, frozenset[str]] = {}
    for tag, names in pattern.columns:
        for t in q.atoms[tag].types:
            needed[t] = needed.get(t, frozenset()) | names
    return replace(
        d,
        columns=needed,
        name=pattern.name,
        at=place,
        definition=f"{d.identity}/timeouts",
        pattern=pattern,
        splits=choices(pattern),
        kept=(),
        costs=(),
        ended=called,
        schema=_schema(events, dict(pattern.tags)),
    )


def _schema(events: Mapping[str, tree.Whole], many: Mapping[str, bool]) -> Schema:
    """A column per tag: its event, or a list of events."""
    records = []
    for name, whole in events.items():
        record = tree.record_of(whole.attributes)
        records.append((name, pa.list_(record) if many[whole.tag] else record))
    return Schema(tuple((name, Type.RECORD) for name in events), records=tuple(records))
