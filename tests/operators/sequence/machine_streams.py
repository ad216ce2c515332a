"""Small histories for the machine of patterns, cut and restored, and short ways to write trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.merging import Stream
from occurs.operators.rows import Rows
from occurs.operators.sequence import tree
from occurs.operators.sequence.machine import Machine
from occurs.operators.sequence.match_rows import Bound, Matches, State

MILLISECONDS = TimeKind(timestamp=False, unit="ms")
#: attributes of every type of the tests
SCHEMA = {"n": Type.INT, "k": Type.STRING, "v": Type.INT, "x": Type.FLOAT}

Event = tuple[int, str, dict[str, Any]]


def history(text: str) -> list[Event]:
    """``A1:p B1(3)@2500``: type, ``n``, ``k``, ``v``, time in ms; without it one a second."""
    out: list[Event] = []
    for i, word in enumerate(text.split()):
        found = re.fullmatch(r"([A-Za-z]+?)(\d*)(?::(\w+))?(?:\((-?\d+)\))?(?:@(\d+))?", word)
        assert found, word
        type, n, k, v, time = found.groups()
        values = {"n": int(n or 0), "k": k, "v": None if v is None else int(v), "x": None if v is None else float(v)}
        out.append((int(time) if time else 1000 * (i + 1), type, values))
    return out


def stream(events: Sequence[Event], types: Sequence[str], start: int | None, since: int | None, until: int) -> Stream:
    """``events`` in order; their place in the instant is their number in it."""
    mine = [e for e in events if e[1] in types]
    rows, row = {}, np.zeros(len(mine), np.int64)
    for t in types:
        of_type = [i for i, e in enumerate(mine) if e[1] == t]
        row[of_type] = np.arange(len(of_type))
        columns = {}
        for name, type in SCHEMA.items():
            arrow = {Type.INT: pa.int64(), Type.STRING: pa.string(), Type.FLOAT: pa.float64()}[type]
            columns[name] = Column.of(pa.array([mine[i][2].get(name) for i in of_type], arrow), type)
        rows[t] = Rows(t, np.array([mine[i][0] for i in of_type], np.int64), columns)
    at = np.array([sum(f[0] == e[0] for f in mine[:i]) for i, e in enumerate(mine)], np.int64)
    return Stream(
        rows,
        tuple(types),
        np.array([list(types).index(e[1]) for e in mine], np.int32),
        row,
        np.array([e[0] for e in mine], np.int64),
        at,
        start,
        since,
        until,
        MILLISECONDS,
    )


def restored(state: State) -> State:
    """Written out and read back."""
    out = {}
    for name, table in state.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        out[name] = pa.ipc.open_stream(sink.getvalue()).read_all()
    return out


def run(
    sequence: tree.Sequence,
    events: Sequence[Event],
    cuts: Iterable[int] = (),
    *,
    until: int | None = None,
    start: int | None = None,
    limit: int = 10_000_000,
    late: bool = False,
    resident: bool = False,
) -> list[tuple[Any, ...]]:
    """The matches as (time, events by tag): an event as its type and number, of a list a tuple; None: none.

    The state is saved and restored between calls, unless it is ``resident``.
    """
    types = sorted({t for node in walk(sequence.root) if isinstance(node, tree.Atom) for t in node.types})
    machine = Machine(sequence, dict.fromkeys(types, SCHEMA), MILLISECONDS, limit)
    memory, since = machine.fresh(), None
    last = max([e[0] for e in events] + ([until] if until is not None else []))
    first = start if start is not None else min(e[0] for e in events)
    out: list[tuple[Any, ...]] = []
    for cut in [*sorted(set(cuts)), last]:
        part = [e for e in events if (since is None or e[0] > since) and e[0] <= cut]
        call = stream(part, types, first if first <= cut else None, since, cut)
        if not resident:
            memory = machine.restored(restored(memory.saved()))
        matches, ended = machine.advance_late(memory, call)
        out += shown(ended if late else matches, sequence, types)
        since = cut
    return out


def walk(node: tree.Node) -> list[tree.Node]:
    return [node, *(below for child in node.children for below in walk(child))]


def shown(matches: Matches, sequence: tree.Sequence, types: Sequence[str]) -> list[tuple[Any, ...]]:
    out = []
    for i in range(len(matches)):
        events = [_event(matches, matches.bound[tag], i, types) for tag, _ in sequence.tags]
        out.append((int(matches.time[i]), *events))
    return out


def _event(matches: Matches, bound: Bound, i: int, types: Sequence[str]) -> Any:
    def one(at: int) -> str | None:
        if bound.rows[at] < 0:
            return None
        kind = int(bound.types[at])
        n = matches.tables[kind].column("n").arrow[int(bound.rows[at])]
        return f"{types[kind]}{n.as_py()}"

    if bound.offsets is None:
        return one(i)
    assert bound.null is not None
    if bound.null[i]:
        return None
    return tuple(one(at) for at in range(bound.offsets[i], bound.offsets[i + 1]))


# --- trees ----------------------------------------------------------------------------------------------------------


def pattern(root: tree.Node, **options: Any) -> tree.Sequence:
    """The statement with this pattern; which tags have lists is seen from it."""
    tags: list[tuple[str, bool]] = []

    def visit(node: tree.Node, many: bool) -> None:
        if isinstance(node, tree.Atom):
            tags.append((node.tag, many))
        for k, child in enumerate(node.children):
            repeats = isinstance(node, tree.Repeat) or (isinstance(node, tree.Until) and k == 0)
            visit(child, many or repeats)

    visit(root, False)
    columns = tuple((tag, frozenset(SCHEMA)) for tag, _ in tags)
    return tree.Sequence("test", root, tuple(tags), columns, None, (), **options)


def atom(text: str, *own: Expr, key: str | None = None, others: tuple[Expr, ...] = (), level: int = 0) -> tree.Atom:
    """``a=A``; with ``key`` ``k`` equals the ``k`` of that tag."""
    tag, type = text.split("=") if "=" in text else (f"#{text}", text)
    equal = () if key is None else (("k", key, "k"),)
    return tree.Atom((type,), tag, own, equal, others, level)


def then(*steps: tree.Node, limits: tuple[int | None, ...] | None = None) -> tree.Followed:
    return tree.Followed(steps, limits or (None,) * (len(steps) - 1))


def own(name: str) -> Ref:
    return Ref(None, name)


def number(value: int) -> Literal:
    return Literal(value, Type.INT)


def text(value: str) -> Literal:
    return Literal(value, Type.STRING)


def compare(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right)
