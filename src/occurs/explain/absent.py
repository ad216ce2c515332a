"""When a row of a negated type would have prevented a detection (why.md, section 10).

Some languages record in `because` what they found absent.  For the others rows are added one by one, and the rules run
again: a negation counts at an instant if the detection is lost by a row there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import pyarrow as pa

from occurs.explain.domain import table_of_rows
from occurs.explain.tree import RowNode
from occurs.explain.world import Outcome, Rule, Variant, World
from occurs.languages.kit.clauses import Clause
from occurs.model.types import Schema, Type

#: so many rows are added, one at a time, for one negation
MOST = 240
#: so many combinations of values are tried
KINDS = 4
#: a value of each type, where the input has none
_SOME = {Type.INT: 0, Type.FLOAT: 0.0, Type.STRING: "", Type.BOOL: False, Type.TIMESTAMP: 0}


@dataclass(frozen=True)
class Absent:
    """A negation and the ticks [``first``, ``last``] in which a row with ``values`` would have prevented a row."""

    type: str
    first: int
    last: int
    values: Mapping[str, Any]


def absences(
    world: World, rule: Rule, clause: Clause, node: RowNode, there: Callable[[Outcome], bool]
) -> Iterator[Absent]:
    """The stretches in which a row of the negated type prevents ``node``, in order; none if no added row does.

    Args:
        world: The program and the history.
        rule: The rule that made ``node``.
        clause: A negation of a type of the input (kind ``absence``).
        node: A detection with its constituents.
        there: Whether a run detects the explained row.
    """
    type = str(clause.type)
    if type in world.defined:
        return
    times = _times(world, rule, node)
    elsewhere = _read_elsewhere(world, clause)
    for values in _values(world, clause, node):
        lost = _lost(world, rule if elsewhere else None, clause, times, values, there)
        if any(lost.values()):
            for first, last in _stretches(times, lost):
                yield Absent(type, first, last, values)
            return


def _times(world: World, rule: Rule, node: RowNode) -> list[int]:
    """Instants between which nothing changes: those of the rows and a duration away, and their neighbours."""
    clock = world.history.clock or (node.time, node.time)
    own = {t for n in node.walk() for t in (n.time, n.end) if t is not None}
    near = {t + k for t in own for k in (-1, 0, 1)}
    far = {t + sign * d + k for t in own for d in rule.clauses.durations for sign in (-1, 1) for k in (-1, 0, 1)}
    found = sorted(near, key=lambda t: abs(t - node.time)) + sorted(far - near, key=lambda t: abs(t - node.time))
    inside = [t for t in dict.fromkeys([*found, *clock]) if clock[0] <= t <= clock[1]]
    return sorted(inside[: MOST // KINDS])


def _read_elsewhere(world: World, clause: Clause) -> bool:
    """Whether more than one place of the rules reads the negated type."""
    places = [c for r in world.closure for c in r.clauses.clauses if c.kind in ("absence", "missing")]
    if sum(c.type == clause.type for c in places) > 1:
        return True
    return any(clause.type in r.clauses.positive | r.clauses.folded for r in world.closure)


def _values(world: World, clause: Clause, node: RowNode) -> Iterator[dict[str, Any]]:
    """The values of a row that satisfies the constraints of the negation, as they are bound."""
    type = str(clause.type)
    schema = world.history.schemas.get(type) or world.bound.schemas.get(type) or Schema()
    table = world.history.tables.get(type)
    choices: list[Sequence[Any]] = []
    for name, kind in schema:
        options = clause.detail.get("bound", {}).get(name)
        known = [] if options is None else list(_known(options, node))
        if known:
            choices.append(known[:1])
            continue
        given = [] if table is None or name not in table.column_names else table[name].drop_null().unique().to_pylist()
        choices.append(given[:2] or [_SOME.get(kind)])
    names = [name for name, _ in schema]
    for n, values in enumerate(product(*choices)):
        if n == KINDS:
            return
        yield dict(zip(names, values, strict=True))


def _known(options: Iterable[tuple[Any, ...]], node: RowNode) -> Iterator[Any]:
    """The values that a constraint may mean: a constant, an attribute of a row, a variable, or an output attribute."""
    for how, *what in options:
        if how == "is":
            yield what[0]
        elif how == "out" and what[0] in node.values:
            yield node.values[what[0]]
        elif how == "variable":
            yield from (n.values[what[0]] for n in node.walk() if n.role == what[0] and what[0] in n.values)
        elif how == "at":
            role, name = what
            for n in node.walk():
                if n.type == role and name in n.values:
                    yield n.values[name]
                elif isinstance(rows := n.values.get(role), list):
                    yield from (row[name] for row in rows if isinstance(row, dict) and name in row)


def _lost(
    world: World, rule: Rule | None, clause: Clause, times: Sequence[int], values: Mapping[str, Any],
    there: Callable[[Outcome], bool],
) -> dict[int, bool]:  # fmt: skip
    """Per instant whether a row there prevents the detection; ``rule``: and does not, without the negation."""
    added = [_row(world, str(clause.type), t, values) for t in times]
    variants = [Variant(added={str(clause.type): row}) for row in added]
    lost = [o is not None and not there(o) for o in world.run(variants)]
    if rule is not None and clause.drop is not None:
        edits = {rule.number: (clause.drop,)}
        free = world.run([Variant(edits, added={str(clause.type): row}) for row in added])
        lost = [gone and o is not None and there(o) for gone, o in zip(lost, free, strict=True)]
    return dict(zip(times, lost, strict=True))


def _row(world: World, type: str, time: int, values: Mapping[str, Any]) -> pa.Table:
    schema = world.history.schemas.get(type) or world.bound.schemas.get(type) or Schema()
    names = sorted(values)
    row = (time, time + 1, [values[n] for n in names])
    return table_of_rows([row], names, schema, world.history.tables.get(type), schema.lasting)


def _stretches(times: Sequence[int], lost: Mapping[int, bool]) -> Iterator[tuple[int, int]]:
    """The stretches of instants that prevent the row; between neighbours nothing changes."""
    first: int | None = None
    for t, after in pairwise([*times, None]):
        assert t is not None
        if lost[t] and first is None:
            first = t
        if first is not None and (after is None or not lost[after]):
            yield first, t
            first = None
