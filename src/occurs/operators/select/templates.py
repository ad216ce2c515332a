"""The operator of rules over the past; rules that are alike but for the constants they compare with are evaluated
together, as one template (operators.md, section 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa

from occurs.expr.tree import COMPARISONS, Binary, Expr, Literal, Slot, rewrite
from occurs.model.astext import json_objects
from occurs.model.types import Type, arrow_type
from occurs.operators.blocks import Block, Identity, Out, Reasons
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Operator, Outcome, joint_identity, joint_ports
from occurs.operators.frame import Frame
from occurs.operators.rows import Rows, attributes_of
from occurs.operators.select.pattern import (
    Absent,
    Between,
    Keep,
    Matches,
    Pattern,
    Select,
    Source,
    Windowed,
    Within,
)
from occurs.operators.select.run import Run, ticks_before
from occurs.operators.states import State


@dataclass(frozen=True, eq=False)
class Template(Operator):
    """Rules of one template.  It keeps nothing: the rows of the past are the engine's."""

    pattern: Pattern

    @property
    def line(self) -> str:
        names = list(dict.fromkeys(out.type for out in self.outs))
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        n = len(self.outs)
        rules = f" ({n} rules that differ only in constants)" if n > 1 else ""
        return f"{shown}{rules}: {_steps(self.pattern)}; vectorised"

    def advance(self, state: State, call: Call) -> Outcome:
        run = Run(self.pattern, Frame(call.rows, call.codes, call.domains, call.kind))
        done = run.all()
        if not done:
            return Outcome()
        matches = Matches.concat(done)
        columns = run.outputs(matches)
        checks = checked(run, matches) if self.pattern.reasons else ()
        return Outcome([block_of(self.pattern, self.outs, run.tables, matches, columns, checks)])

    @classmethod
    def fuse(cls, run: Sequence[Self]) -> Sequence[Operator]:
        """As few templates as possible, in the order of their first rule; consuming and recursive rules stay alone."""
        groups: dict[int | Pattern, list[tuple[Self, list[Literal]]]] = defaultdict(list)
        for number, one in enumerate(run):
            if one.pattern.consuming or one.pattern.rules[0].recursive:
                groups[number].append((one, []))
            else:
                form, constants = _slotted(replace(one.pattern, rules=()))
                groups[form].append((one, constants))
        out: list[Operator] = []
        for shape, found in groups.items():
            for part in (found[at : at + MOST_RULES] for at in range(0, len(found), MOST_RULES)):
                members = [one for one, _ in part]
                if len(members) == 1:
                    out += members
                    continue
                assert isinstance(shape, Pattern)
                rules = tuple(one.pattern.rules[0] for one in members)
                pattern = replace(_filled(shape, [constants for _, constants in part]), rules=rules)
                outs = tuple(one.outs[0] for one in members)
                out.append(cls(joint_identity(members), joint_ports(members), outs, pattern, born=members[0].born))
        return out

    @property
    def equated(self) -> Sequence[tuple[tuple[str, str], tuple[str, str]]]:
        return equated(self.pattern)

    @property
    def stepwise(self) -> bool:
        return bool(self.pattern.consuming)

    @classmethod
    def in_steps(cls, run: Sequence[Self], types: frozenset[str], key: Mapping[str, tuple[str, ...]]) -> Operator:
        from occurs.operators.select.sequential import Sequential  # which is built of templates

        return Sequential.of(run, types, key)


def equated(pattern: Pattern) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The attributes (type, name) that a pattern equates with one another."""
    types = [s.type for s in pattern.role_sources]
    looks: list[Select | Absent | Windowed] = [s for s in pattern.steps if isinstance(s, Select | Absent)]
    looks += [n for e in pattern.expressions for n in e.walk() if isinstance(n, Windowed)]
    return [((s.source.type, key.own), (types[key.role], key.attribute)) for s in looks for key in s.keys]


def _steps(pattern: Pattern) -> str:
    parts = [f"for each {pattern.terminator.type}"]
    for s in pattern.steps:
        if isinstance(s, Select):
            policy = s.policy if s.k == 1 else f"{s.k}-{s.policy}"
            how = "looked up by " + ", ".join(k.own for k in s.keys) if s.keys else "all in the window"
            parts.append(f"{policy} {s.source.type} ({how})")
        elif isinstance(s, Absent):
            parts.append(f"no {s.source.type}")
    return ", ".join(parts)


def block_of(
    pattern: Pattern,
    outs: Sequence[Out],
    tables: Sequence[Rows],
    matches: Matches,
    columns: Mapping[str, Column],
    checks: Sequence[Checked] = (),
) -> Block:
    """The matches of a template, rule after rule in rank order.

    ``outs``: one per rule; ``tables``: the rows of each role; ``checks``: what was looked at beside the matches.
    """

    def reasons(rows: np.ndarray) -> Reasons:
        rule = 0 if matches.rule is None else int(matches.rule[rows[0]])
        names = pattern.rules[rule].role_names
        return _reasons(names, tables, [r[rows] for r in matches.rows], [c.take(rows) for c in checks])

    cuts = None if matches.rule is None else np.searchsorted(matches.rule, np.arange(len(outs) + 1))
    time = tables[0].time[matches.rows[0]]
    return Block(outs, time, columns, cuts, identity=lambda: Identity(matches.labels(tables)), reasons=reasons)


def _reasons(
    names: Sequence[str], tables: Sequence[Rows], rows: Sequence[np.ndarray], checks: Sequence[Checked]
) -> Reasons:
    """The constituents of matches: their events, then the intervals that were looked at."""
    n, m = len(rows[0]), len(tables)
    types = [t.type.partition("(")[0] if t.type.startswith("Timer(") else t.type for t in tables]
    size = m + len(checks)
    times, ends, labels, attributes = [], [], [], []
    for table, own in zip(tables, rows):
        times.append(table.time[own])
        ends.append(np.zeros(n, np.int64))
        assert table.labels is not None
        labels.append(table.labels.take(own).hex().cast(pa.string()))
        attributes.append(attributes_of(table, own))
    for check in checks:
        times.append(check.start)
        ends.append(check.end)
        labels.append(pa.nulls(n, pa.string()))
        attributes.append(check.attributes)
    role = pa.array(np.tile(np.arange(size), n))
    by_match = np.arange(n * size).reshape(size, n).T.ravel()
    return Reasons(
        np.arange(n + 1) * size,
        pa.array([*names, *(c.role for c in checks)]).take(role),
        pa.array([*types, *(c.type for c in checks)]).take(role),
        np.concatenate(times)[by_match],
        pa.concat_arrays(labels).take(pa.array(by_match)),
        pa.concat_arrays(attributes).take(pa.array(by_match)),
        np.concatenate(ends)[by_match],
        np.tile(np.arange(size) >= m, n),
    )


# -- rules that differ in constants alone, as templates ----------------------------------------------------------------
#: rows of a constraint mask are held per rule: more rules than this are evaluated in turns
MOST_RULES = 64


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

    return pattern.mapped(change), constants


def _filled(form: Pattern, constants: Sequence[Sequence[Literal]]) -> Pattern:
    """With the ``constants`` of every rule as columns; those that are the same in all are written back."""
    per_slot = list(zip(*constants))
    same = {i: v[0] for i, v in enumerate(per_slot) if all(x.value == v[0].value for x in v)}

    def fill(e: Expr) -> Expr | None:
        return same.get(e.index, e) if isinstance(e, Slot) else None

    columns = tuple(Column.of(pa.array([x.value for x in v], arrow_type(v[0].type)), v[0].type) for v in per_slot)
    return replace(form.mapped(lambda e: rewrite(e, fill)), constants=columns)


# -- what was looked at beside the events of a match -------------------------------------------------------------------
@dataclass(frozen=True)
class Checked:
    """Per match an interval, closed, in which the rows of ``type`` were looked at.

    ``role``: for what, as text.  ``attributes``: JSON objects with the number of ``rows`` that fit and, of an
    aggregate, its ``value``.
    """

    role: str
    type: str
    start: np.ndarray
    end: np.ndarray
    attributes: pa.Array

    def take(self, at: np.ndarray | slice) -> Checked:
        """The same for some of the matches."""
        numbers = pa.array(np.arange(len(self.start))[at])
        return Checked(self.role, self.type, self.start[at], self.end[at], self.attributes.take(numbers))


def checked(run: Run, matches: Matches) -> list[Checked]:
    """The negations and the aggregates of a pattern, in the order of its text."""
    out = []
    for step in run.pattern.steps:
        if isinstance(step, Absent):
            start, end = _interval(run, matches, step.source, step.interval, open=True)
            none = pa.repeat(pa.scalar('{"rows": 0}', pa.string()), len(matches))
            out.append(Checked(f"not {step.source.type}", step.source.type, start, end, none))
    for node in dict.fromkeys(_aggregates(run.pattern)):
        start, end = _interval(run, matches, node.source, node.interval, open=False)
        count = run.column(matches, replace(node, function="count", attribute=None, type=Type.INT))
        value = run.column(matches, node).cast(node.type)
        text = json_objects({"rows": count.output(), "value": value.output()}, len(matches))
        over = node.source.type if node.attribute is None else f"{node.source.type}.{node.attribute}"
        out.append(Checked(f"{node.function}({over})", node.source.type, start, end, text))
    return out


def _aggregates(pattern: Pattern) -> Iterator[Windowed]:
    conditions = [step.condition for step in pattern.steps if isinstance(step, Keep)]
    for e in (*conditions, *(e for _, e, _ in pattern.outputs)):
        yield from (node for node in e.walk() if isinstance(node, Windowed))


def _interval(
    run: Run, matches: Matches, source: Source, interval: Within | Between, *, open: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last tick, match by match; ``open``: its start does not belong to the interval."""

    def time(role: int) -> np.ndarray:
        return run.tables[role].time[matches.rows[role]]

    if isinstance(interval, Within):
        end = time(interval.role)
        start = ticks_before(end, interval.length)
    else:
        start, end = time(interval.early), time(interval.late)
    if source.strict:  # in a recursive rule: strictly before the terminator
        end = np.minimum(end, time(0) - 1)
    return start + open, end
