"""From resolved queries to patterns as their operator sees them (epl-and-nets.md, section 4A)."""

from __future__ import annotations

from collections.abc import Mapping

from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.checks_analysis import Atom, Output, ResolvedQuery
from occurs.languages.epl.checks_bounds import FIELDS, numbers
from occurs.model.time import Duration, TimeKind
from occurs.operators.sequences import tree


def compile_query(query: ResolvedQuery, kind: TimeKind, zone: str) -> tree.Sequence:
    """The pattern of a query without problems; times are counted as ``kind`` says, calendars are those of ``zone``."""
    root = _Nodes(query.atoms, kind, zone).node(query.pattern)
    return tree.Sequence(
        query.name,
        tree.Every(root) if query.query.simple else root,
        query.tags,
        tuple((tag, query.columns.get(tag, frozenset())) for tag in query.atoms),
        query.where,
        tuple((o.name, _value(o)) for o in query.outputs),
        query.query.suppress,
        query.query.discard,
    )


def _value(output: Output) -> Expr:
    if output.struct is not None:
        return tree.Whole(output.struct.tag, output.struct.attributes)
    assert output.expr is not None
    return output.expr


class _Nodes:
    def __init__(self, atoms: Mapping[str, Atom], kind: TimeKind, zone: str):
        self.atoms = atoms
        self.kind = kind
        self.zone = zone

    def node(self, node: syntax.Pattern) -> tree.Node:
        match node:
            case syntax.Filter():
                assert node.tag is not None
                atom = self.atoms[node.tag.text]
                return tree.Atom(atom.types, atom.tag, atom.own, atom.equal, atom.others, node.consume)
            case syntax.Every():
                return tree.Every(self.node(node.operand))
            case syntax.EveryDistinct():
                expiry = None if node.expiry is None else self.ticks(node.expiry)
                return tree.Every(self.node(node.operand), node.keys, expiry)
            case syntax.Not():
                return tree.Not(self.node(node.operand))
            case syntax.Repeat():
                return tree.Repeat(self.node(node.operand), node.count)
            case syntax.Until():
                return tree.Until(node.low or 0, node.high, self.node(node.operand), self.node(node.end))
            case syntax.And():
                return tree.And(self.all_of(node.operands))
            case syntax.Or():
                return tree.Or(self.all_of(node.operands))
            case syntax.Followed():
                return tree.Followed(self.all_of(node.operands), node.limits)
            case syntax.Within():
                return tree.Within(self.node(node.operand), self.ticks(node.duration), node.count)
            case syntax.While():
                return tree.While(self.node(node.operand), node.condition)
            case syntax.Interval():
                return tree.Interval(self.ticks(node.duration))
            case syntax.At():
                return self.calendar(node)
        raise AssertionError(f"not a pattern: {node}")

    def all_of(self, nodes: tuple[syntax.Pattern, ...]) -> tuple[tree.Node, ...]:
        return tuple(self.node(n) for n in nodes)

    def ticks(self, duration: Duration) -> int:
        found = self.kind.convert(duration)
        assert found is not None
        return int(found)

    def calendar(self, node: syntax.At) -> tree.At:
        """Its fields in the order of the tree: second, minute, hour, day of month, month, day of week."""
        tick = self.kind.tick
        assert tick is not None
        fields: list[tuple[int, ...] | None] = []
        for written, (_, low, high) in zip(node.fields, FIELDS, strict=False):
            found = numbers(written, low, high)
            fields.append(None if _any(written) else tuple(sorted(found)))
        second = fields[5] if len(fields) > 5 else (0,)
        if fields[2] is not None and fields[4] is not None and (len(fields[2]) == 31 or len(fields[4]) == 7):
            fields[2] = fields[4] = None  # either will do, and one of them always does
        return tree.At((second, *fields[:5]), tick, self.zone)


def _any(field: syntax.Cron) -> bool:
    """Is a field not restricted at all?"""
    return field.kind == "any" or any(_any(i) for i in field.items)
