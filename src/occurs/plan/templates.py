"""Templates: rules that are alike but for the constants they compare with are evaluated together (operators.md, 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from occurs.expr.tree import COMPARISONS, Binary, Expr, Literal, Slot
from occurs.model.types import Type, arrow_type
from occurs.operators.columns import Column
from occurs.operators.pattern import Absent, Keep, Pattern, Select, Step

#: rows of a constraint mask are held per rule: more rules than this are evaluated in turns
MOST_RULES = 64


def map_expressions(pattern: Pattern, change: Callable[[Expr], Expr]) -> Pattern:
    """The pattern with every expression changed, in a fixed order."""

    def step(s: Step) -> Step:
        if isinstance(s, Select | Absent):
            source = replace(s.source, filters=tuple(change(f) for f in s.source.filters))
            return replace(s, source=source, residual=tuple(change(e) for e in s.residual))
        if isinstance(s, Keep):
            return Keep(change(s.condition))
        return s

    terminator = replace(pattern.terminator, filters=tuple(change(f) for f in pattern.terminator.filters))
    return replace(
        pattern,
        terminator=terminator,
        steps=tuple(step(s) for s in pattern.steps),
        outputs=tuple((n, change(e), t) for n, e, t in pattern.outputs),
    )


def _slotted(pattern: Pattern) -> tuple[Pattern, list[Literal]]:
    """The pattern with numbered slots for the constants that are compared with something."""
    constants: list[Literal] = []

    def slot(e: Expr) -> Expr:
        if isinstance(e, Literal) and e.type in (Type.INT, Type.FLOAT, Type.STRING) and e.value is not None:
            constants.append(e)
            return Slot(len(constants) - 1, e.type)
        return e

    def change(e: Expr) -> Expr:
        if isinstance(e, Binary) and e.op in COMPARISONS:
            return replace(e, left=change(slot(e.left)), right=change(slot(e.right)), span=None)
        children = e.children
        return e.with_children(tuple(change(c) for c in children)) if children else e

    return map_expressions(pattern, change), constants


def fuse(patterns: Sequence[Pattern]) -> list[Pattern]:
    """Patterns of one level (one rule each) as few templates, in order of their first rule.

    Consuming and recursive rules stay alone: they have state of their own.
    """
    groups: dict[object, list[tuple[Pattern, list[Literal]]]] = defaultdict(list)
    for number, p in enumerate(patterns):
        if p.consuming or p.rules[0].recursive:
            groups[number].append((p, []))
            continue
        form, constants = _slotted(replace(p, rules=()))
        groups[form].append((p, constants))
    out: list[Pattern] = []
    for shape, members in groups.items():
        for at in range(0, len(members), MOST_RULES):
            part = members[at : at + MOST_RULES]
            if len(part) == 1:
                out.append(part[0][0])
            else:
                assert isinstance(shape, Pattern)
                out.append(_template(shape, part))
    return out


def _template(shape: Pattern, members: list[tuple[Pattern, list[Literal]]]) -> Pattern:
    """One pattern for all members; constants that are the same in all are written back."""
    per_slot = list(zip(*(c for _, c in members)))
    same = {i: v[0] for i, v in enumerate(per_slot) if all(x.value == v[0].value for x in v)}

    def fill(e: Expr) -> Expr:
        if isinstance(e, Slot):
            return same.get(e.index, e)
        children = e.children
        return e.with_children(tuple(fill(c) for c in children)) if children else e

    columns = tuple(
        Column.of(pa.array([x.value for x in v], arrow_type(v[0].type)), v[0].type) for v in per_slot
    )
    pattern = map_expressions(shape, fill)
    return replace(pattern, rules=tuple(p.rules[0] for p, _ in members), constants=columns)
