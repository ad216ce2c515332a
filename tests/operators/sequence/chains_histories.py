"""Random histories and chains, and the calls of an operator over them, for tests."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from chains_oracle import Event

from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.merging import Stream
from occurs.operators.rows import Rows
from occurs.operators.sequence import tree
from occurs.operators.sequence.chain_shape import Shape
from occurs.operators.sequence.chains import MOST, Chain, Events, domains
from occurs.operators.sequence.match_rows import Matches, State
from occurs.operators.sequence.timers import Interval
from occurs.operators.sequence.tree import And, Atom, Every, Followed, Node, Not, Within

#: matches as (time, at, due, tag -> the whole event)
Told = list[tuple[int, int, bool, dict[str, Any]]]

TYPES = ("A", "B", "C", "D")
KIND = TimeKind(timestamp=False, unit="ms")
ATTRIBUTES = (("k", Type.INT), ("f", Type.FLOAT), ("s", Type.STRING), ("v", Type.INT))
SCHEMAS = {t: Schema(ATTRIBUTES) for t in TYPES}
_ARROW = {"k": pa.int64(), "f": pa.float64(), "s": pa.string(), "v": pa.int64()}


def history(rng: random.Random, n: int, *, types: int = 3, keys: int = 2, gap: int = 2) -> list[Event]:
    """n events with many ties and some nulls; ``id`` names each."""
    time, out = rng.randrange(5), []
    for number in range(n):
        time += rng.choice([0, 0, *range(gap + 1)])
        k = rng.choice([None, *range(keys), *range(keys)])
        out.append(
            {
                "type": rng.choice(TYPES[:types]),
                "time": time,
                "id": number,
                "k": k,
                "f": None if rng.random() < 0.1 else rng.choice([0.0, 1.0, 0.5]),
                "s": None if rng.random() < 0.1 else rng.choice("xy"),
                "v": None if rng.random() < 0.1 else rng.randrange(6),
            }
        )
    return out


def random_sequence(rng: random.Random) -> tree.Sequence:
    """A chain of two to four steps."""
    tags: list[str] = []
    known: list[str] = []

    def atom(*, bound: bool = True) -> Atom:
        tag = f"t{len(tags)}"
        equal: list[tuple[str, str, str]] = []
        others: list[Expr] = []
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            if known:
                a, b = rng.choice([("k", "k"), ("k", "k"), ("f", "k"), ("k", "f"), ("s", "s")])
                equal.append((a, rng.choice(known), b))
        if known and bound and rng.random() < 0.25:
            op = rng.choice(["<", "<=", ">", "!="])
            others.append(Binary(op, Ref(None, "v"), Ref(rng.choice(known), "v")))
        own: list[Expr] = []
        if rng.random() < 0.2:
            own.append(Binary(rng.choice(["!=", ">"]), Ref(None, "v"), Literal(rng.randrange(3), Type.INT)))
        types = tuple(rng.sample(TYPES[:3], rng.choice([1, 1, 1, 2])))
        tags.append(tag)
        return Atom(types, tag, tuple(own), tuple(dict.fromkeys(equal)), tuple(others))

    def ticks() -> int:
        return rng.randrange(1, 9)

    def guarded(node: Node, chance: float) -> Node:
        return Within(node, ticks()) if rng.random() < chance else node

    def step(number: int) -> Node:
        if number and rng.random() < 0.2:
            return guarded(Interval(ticks()), 0.1)
        if rng.random() < 0.25 and number:
            present = Interval(ticks()) if rng.random() < 0.5 else atom()
            absent = [Not(atom(bound=False)) for _ in range(rng.choice([1, 1, 2]))]
            if isinstance(present, Atom):
                known.append(present.tag)
            parts = [present, *absent]
            rng.shuffle(parts)
            return guarded(And(tuple(parts)), 0.3)
        found = atom()
        known.append(found.tag)
        node: Node = found
        if rng.random() < (0.7 if number == 0 else 0.25):
            return guarded(Every(guarded(node, 0.15)), 0.15)
        return guarded(node, 0.3)

    def chain(numbers: Sequence[int]) -> Node:
        operands: list[Node] = []
        for at, n in enumerate(numbers):
            if at and len(numbers) - at > 1 and rng.random() < 0.3:
                operands.append(guarded(chain(numbers[at:]), 0.6))
                break
            operands.append(step(n))
        return Followed(tuple(operands), (None,) * (len(operands) - 1)) if len(operands) > 1 else operands[0]

    root = guarded(chain(range(rng.choice([1, 2, 2, 3, 3, 4]))), 0.15)
    return sequence_of(root)


def sequence_of(root: Node, name: str = "P") -> tree.Sequence:
    """Of a pattern without repetition; all attributes of all tags are needed."""
    tags = [n.tag for n in _walk(root) if isinstance(n, Atom)]
    columns = frozenset({"id", *(n for n, _ in ATTRIBUTES)})
    return tree.Sequence(name, root, tuple((t, False) for t in tags), tuple((t, columns) for t in tags), None, ())


def chain_of(pattern: tree.Sequence, limit: int = MOST) -> Chain | None:
    """The operator of one pattern; None if it is not a chain."""
    shape = Shape.of(pattern)
    return None if shape is None else Chain((pattern,), (shape,), domains([shape]), KIND, limit)


def alone(chain: Chain) -> Callable[[State, Stream], tuple[State, Matches]]:
    """The calls of a chain with one rule."""

    def advance(state: State, given: Stream) -> tuple[State, Matches]:
        state, found = chain.run(state, Events(given, chain.domains, chain.kind))
        return state, chain.matches(found, 0)

    return advance


def _walk(node: Node) -> list[Node]:
    return [node, *(x for c in node.children for x in _walk(c))]


def stream(
    events: Sequence[Event], types: Sequence[str], start: int | None, since: int | None, frontier: int, labelled: bool
) -> Stream:
    """A call with these events (in their order)."""
    places: list[int] = []
    for i, e in enumerate(events):
        same = i > 0 and events[i - 1]["time"] == e["time"]
        places.append(places[-1] + 1 if same else 1)
    rows, row = {}, np.zeros(len(events), np.int64)
    for t in types:
        mine = [i for i, e in enumerate(events) if e["type"] == t]
        columns = {n: Column.of(pa.array([events[i][n] for i in mine], _ARROW[n]), held) for n, held in ATTRIBUTES}
        columns["id"] = Column.of(pa.array([events[i]["id"] for i in mine], pa.int64()), Type.INT)
        ids = np.array([events[i]["id"] for i in mine], np.uint64)
        labels = Labels(ids, ids * np.uint64(7)) if labelled else None
        times = np.array([events[i]["time"] for i in mine], np.int64)
        rows[t] = Rows(t, times, columns, labels=labels)
        row[mine] = np.arange(len(mine))
    numbers = np.array([list(types).index(e["type"]) for e in events], np.int32)
    time = np.array([e["time"] for e in events], np.int64)
    return Stream(rows, tuple(types), numbers, row, time, np.array(places, np.int64), start, since, frontier, KIND)


def calls(events: Sequence[Event], cuts: Sequence[int], until: int) -> list[tuple[list[Event], int]]:
    """Cut behind the instants ``cuts``: (events, frontier)."""
    out, left = [], list(events)
    for frontier in [*sorted({c for c in cuts if c < until}), until]:
        out.append(([e for e in left if e["time"] <= frontier], frontier))
        left = [e for e in left if e["time"] > frontier]
    return out


def restored(state: State) -> State:
    """Written and read."""
    out = {}
    for name, table in state.items():
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        out[name] = pa.ipc.open_stream(sink.getvalue()).read_all()
    return out


def told(found: Matches, labelled: bool) -> list[tuple[int, int, bool, dict[str, Any]]]:
    """Every match as (time, at, due, tag -> the whole event)."""
    out = []
    for i in range(len(found)):
        binding = {}
        for tag, b in found.bound.items():
            if b.rows[i] >= 0:
                rows = found.tables[int(b.types[i])]
                at = int(b.rows[i])
                event = {n: c.arrow[at].as_py() for n, c in rows.columns.items()}
                binding[tag] = {**event, "type": rows.type, "time": int(rows.time[at])}
                if labelled:
                    assert rows.labels is not None
                    assert int(rows.labels.hi[at]) == event["id"]
                    assert int(rows.labels.lo[at]) == 7 * event["id"]
        out.append((int(found.time[i]), int(found.at[i]), bool(found.due[i]), binding))
    return out


def run(
    advance: Callable[[State, Stream], tuple[State, Matches]],
    state: State,
    events: Sequence[Event],
    start: int,
    until: int,
    cuts: Sequence[int],
    *,
    labelled: bool = False,
) -> tuple[list[tuple[int, int, bool, dict[str, Any]]], State]:
    """All matches of all calls, the state written and read between them."""
    out, since = [], None
    for part, frontier in calls(events, cuts, until):
        given = stream(part, TYPES, start if frontier >= start else None, since, frontier, labelled)
        state, found = advance(restored(state), given)
        out += told(found, labelled)
        since = frontier
    return out, state
