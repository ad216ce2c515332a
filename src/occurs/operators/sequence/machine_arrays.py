"""The arrays that runs of the machine change: made of a saved state, and saved again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.types import Schema, Type, from_arrow
from occurs.operators.columns import Column
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.pattern_machine import chain_keys, collect_garbage, relink, restore_trues, stored_trues
from occurs.operators.kernels.stackcode import STACK
from occurs.operators.rows import Rows
from occurs.operators.sequence.machine_events import Pool
from occurs.operators.sequence.machine_program import Layout
from occurs.operators.sequence.match_rows import State

#: what of an instance outlives a call, by the name of its column
_FIELDS = {
    "node": T.NODE,
    "parent": T.PARENT,
    "serial": T.SERIAL,
    "binding": T.BINDING,
    "due": T.DUE,
    "count": T.COUNT,
    "mask": T.MASK,
}
#: the registers that outlive a call
_LASTING = [
    T.SERIALS, T.USED, T.FREE, T.LIVE, T.BOUND, T.BOUND_LIMIT, T.KEPT, T.KEPT_FREE, T.STORED_LIVE, T.WAITING,
    T.KEYS_USED, T.STARTED, T.NEXT_DUE,
]  # fmt: skip
#: where matches are, whose arrays are given back if one call has found many
_FOUND = (11, 12, 13, 14)
_MANY = 1 << 12
_KEPT = "kept:"
_LEAST = -(2**63)


def fresh() -> State:
    """The state before anything has come."""
    return {"counters": pa.table({"started": np.zeros(1, np.int64), "serials": np.zeros(1, np.int64)})}


# --- kept rows ------------------------------------------------------------------------------------------------------


def kept_rows(
    state: State, schemas: Mapping[str, Mapping[str, Type] | Schema]
) -> tuple[dict[str, Rows], dict[str, np.ndarray]]:
    """The rows that bindings refer to, and the place of each among all of them, both by type."""
    kept: dict[str, Rows] = {}
    order: dict[str, np.ndarray] = {}
    for name, table in state.items():
        if not name.startswith(_KEPT):
            continue
        type = name[len(_KEPT) :]
        columns = {}
        for attribute in table.column_names:
            if attribute.startswith("."):
                array = table.column(attribute)
                known = schemas[type].get(attribute[1:]) if type in schemas else None
                held = Type.NULL if pa.types.is_null(array.type) else known or from_arrow(array.type)
                assert held is not None
                columns[attribute[1:]] = Column.of(array, held)
        labels = None
        if "hi" in table.column_names:
            labels = Labels(_numpy(table, "hi"), _numpy(table, "lo"))
        derived = _numpy(table, "derived") if "derived" in table.column_names else None
        at = _numpy(table, "at") if "at" in table.column_names else None
        kept[type] = Rows(type, _numpy(table, "time"), columns, labels=labels, derived=derived, at=at)
        order[type] = _numpy(table, "order")
    return kept, order


def _kept_table(rows: Rows, order: np.ndarray) -> pa.Table:
    columns: dict[str, Any] = {"order step": _differences(order), "time": rows.time}
    if rows.labels is not None:
        columns |= {"hi": rows.labels.hi, "lo": rows.labels.lo}
    if rows.derived is not None:
        columns["derived"] = rows.derived
    if rows.at is not None:
        columns["at"] = rows.at
    columns |= {f".{n}": rows.columns[n].arrow for n in sorted(rows.columns)}
    return pa.table(columns)


def _numpy(table: pa.Table, name: str) -> np.ndarray:
    """A column of numbers, or those that :func:`_differences` has made the column ``<name> step``."""
    if name not in table.column_names:
        return np.cumsum(table.column(f"{name} step").to_numpy())
    return table.column(name).to_numpy()


def _differences(numbers: np.ndarray) -> np.ndarray:
    """What each number adds to the one before it.  Row numbers are saved so: where a row is removed, all that come
    later change, but their differences stay, and so do the saved rows."""
    return np.diff(numbers, prepend=0)


# --- arrays ---------------------------------------------------------------------------------------------------------


@dataclass
class Work:
    """``arrays``: what :func:`occurs.operators.kernels.pattern_machine.run` calls ``work``; it hands back new ones.

    In their order: registers, instances, bound events, stored trues, stack of operations, picked filters, heads of
    chains, queues of timers (node: first and last), waiting instances per atom, accepted keys, heads of their chains,
    matches, the lists of matches, partial matches ended by a guard, their lists, rows of roles, values of keys, and
    the stack for expressions.
    """

    arrays: tuple[Any, ...] = field(default_factory=tuple)

    @property
    def reg(self) -> np.ndarray:
        return self.arrays[0]

    @property
    def bound(self) -> np.ndarray:
        return self.arrays[2]

    @property
    def size(self) -> int:
        """How many instances, bound events, stored trues and accepted keys there are."""
        return int(self.reg[[T.LIVE, T.BOUND, T.STORED_LIVE, T.KEYS_USED]].sum())

    def rows(self, layout: Layout, events: int) -> int:
        """How many rows the tables of :func:`state_of` have; ``events``: how many are in the pool."""
        self.collect(layout)
        named = np.zeros(events, np.bool_)
        named[self.bound[: self.reg[T.BOUND], T.EVENT]] = True
        return 1 + self.size + int(np.count_nonzero(named))  # one row of counters

    def collect(self, layout: Layout) -> None:
        """Drop bound events that nothing names, and keys that have expired."""
        reg, inst, bound, store = self.arrays[:4]
        collect_garbage(reg, inst, bound, store, layout.node_table)
        heads = chain_keys(reg, inst, self.arrays[9], layout.node_table, self.arrays[10])
        self.arrays = (*self.arrays[:10], heads, *self.arrays[11:])

    def copy(self) -> Work:
        return Work((*(a.copy() for a in self.arrays[:-1]), tuple(a.copy() for a in self.arrays[-1])))

    def begin(self) -> None:
        """Begin a call."""
        lasting = self.reg[_LASTING]
        self.reg[:] = 0
        self.reg[_LASTING] = lasting
        self.reg[T.ROW], self.reg[T.PICK_INSTANCE], self.reg[T.NOW] = -1, -2, _LEAST
        if max(len(self.arrays[k]) for k in _FOUND) > _MANY:
            self.arrays = tuple(a[:_MANY].copy() if k in _FOUND else a for k, a in enumerate(self.arrays))


def work_of(state: State, layout: Layout, pool: Pool, roles: int) -> Work:
    """The arrays from a saved state; its kept events are in ``pool``."""
    reg = np.zeros(T.REGISTERS, np.int64)
    counters = state["counters"]
    reg[T.STARTED], reg[T.SERIALS] = _numpy(counters, "started")[0], _numpy(counters, "serials")[0]
    reg[T.FREE] = reg[T.KEPT_FREE] = reg[T.ROW] = -1
    reg[T.PICK_INSTANCE] = -2
    reg[T.NEXT_DUE] = _LEAST
    live = _matrix(state.get("instances"), [*_FIELDS, *_steps(layout)])
    n = len(live)
    inst = np.zeros((max(16, n + n // 2), layout.width), np.int64)
    for k, place in enumerate([*_FIELDS.values(), *range(T.INSTANCE_FIELDS, layout.width)]):
        inst[:n, place] = live[:, k]
    reg[T.USED] = reg[T.LIVE] = n
    cells = _matrix(state.get("bindings"), ["tag", "event", "before"])
    bound = np.zeros((max(64, 2 * len(cells)), 3), np.int64)
    bound[: len(cells)] = cells
    reg[T.BOUND] = len(cells)
    reg[T.BOUND_LIMIT] = 2 * len(cells) + n + 4096
    size = 64
    while size < n:
        size *= 2
    heads = np.full(size, -1, np.int64)
    nodes = layout.node_table
    queue = np.full((len(nodes), 2), -1, np.int64)
    waiting = np.zeros(max(1, len(layout.atoms)), np.int64)
    words, atoms = (pool.values, pool.known), layout.atom_table
    relink(reg, inst, heads, queue, waiting, *words, bound, nodes, atoms, layout.equals)
    trues = _matrix(state.get("stored"), ["instance", "position", "binding"])
    store = restore_trues(reg, inst, np.zeros((max(16, 2 * len(trues)), 3), np.int64), trues)
    table = _keys_in(state.get("keys"), layout, pool)
    reg[T.KEYS_USED] = len(table)
    table = np.concatenate([table, np.zeros((max(16, len(table)), layout.keys_width), np.int64)])
    reg[T.NOW] = _LEAST
    key_heads = chain_keys(reg, inst, table, nodes, np.zeros(0, np.int64))
    reg[T.NEXT_DUE] = _LEAST
    lists = layout.tag_lists
    width = T.MATCH_FIELDS + len(lists) + int((lists >= 0).sum())
    return Work(
        (
            reg,
            inst,
            bound,
            store,
            np.zeros((64, 5), np.int64),
            np.zeros((16, 4), np.int64),
            heads,
            queue,
            waiting,
            table,
            key_heads,
            np.zeros((64, width), np.int64),
            np.zeros(16, np.int64),
            np.zeros((16, width), np.int64),
            np.zeros(16, np.int64),
            np.zeros(max(1, roles), np.int64),
            np.zeros(layout.most_keys, np.int64),
            (np.zeros(STACK, np.int64), np.zeros(STACK, np.float64), np.zeros(STACK, np.bool_)),
        )
    )


def _steps(layout: Layout) -> list[str]:
    return [f"step{k}" for k in range(layout.width - T.INSTANCE_FIELDS)]


def _matrix(table: pa.Table | None, names: list[str]) -> np.ndarray:
    if table is None:
        return np.zeros((0, len(names)), np.int64)
    out = np.zeros((len(table), len(names)), np.int64)
    for k, name in enumerate(names):
        out[:, k] = _numpy(table, name)
    return out


# --- a state again --------------------------------------------------------------------------------------------------


def state_of(work: Work, layout: Layout, pool: Pool) -> State:
    """The state after a call, as it is saved; the arrays can go on."""
    work.collect(layout)
    reg, inst, bound, store = work.arrays[:4]
    out: State = {"counters": pa.table({"started": reg[[T.STARTED]], "serials": reg[[T.SERIALS]]})}
    live = np.flatnonzero(inst[: reg[T.USED], T.NODE] >= 0)
    live = live[np.argsort(inst[live, T.SERIAL])]
    number = np.full(len(inst) + 1, -1, np.int64)
    number[live] = np.arange(len(live))
    columns = {name: inst[live, place] for name, place in _FIELDS.items()}
    columns["parent"] = number[columns["parent"]]
    # a hash of numbers of texts, which are others the next time
    columns["due"][layout.node_table[columns["node"], T.KIND] == T.ATOM] = 0
    columns["binding step"] = _differences(columns.pop("binding"))
    for k, name in enumerate(_steps(layout)):
        columns[name] = inst[live, T.INSTANCE_FIELDS + k]
    out["instances"] = pa.table(columns)
    trues = stored_trues(inst, store, live, int(reg[T.STORED_LIVE]))
    out["stored"] = pa.table({"instance": trues[:, 0], "position": trues[:, 1], "binding": trues[:, 2]})
    out["keys"] = _keys_out(work, layout, pool, number)
    cells = bound[: reg[T.BOUND]]
    rows, event = np.unique(cells[:, T.EVENT], return_inverse=True)
    steps = _differences(event.reshape(-1))
    out["bindings"] = pa.table({"tag": cells[:, T.EVENT_TAG], "event step": steps, "before": cells[:, T.BEFORE]})
    tables, _ = pool.gathered(rows)
    types = pool.type[rows]
    for type, part in tables.items():
        out[_KEPT + pool.types[type]] = _kept_table(part, np.flatnonzero(types == type))
    return out


# --- keys of every-distinct -----------------------------------------------------------------------------------------


def key_texts(state: State) -> list[pa.Array]:
    """The texts among the accepted keys."""
    table = state.get("keys")
    if table is None:
        return []
    return [table.column(n).combine_chunks() for n in table.column_names if n.startswith("text")]


def _keys_in(table: pa.Table | None, layout: Layout, pool: Pool) -> np.ndarray:
    width = layout.keys_width - T.KEY_FIELDS
    if table is None:
        return np.zeros((0, layout.keys_width), np.int64)
    out = np.zeros((len(table), layout.keys_width), np.int64)
    named = {"instance": T.KEY_INSTANCE, "serial": T.KEY_SERIAL, "time": T.KEY_TIME, "known": T.KEY_KNOWN}
    if "epoch" in table.column_names:  # not in states of before keys could be forgotten
        named["epoch"] = T.KEY_EPOCH
    for name, place in named.items():
        out[:, place] = _numpy(table, name)
    for k in range(width):
        numbers = pool.texts.encode(Column.of(table.column(f"text{k}"), Type.STRING))
        out[:, T.KEY_FIELDS + k] = np.where(numbers >= 0, numbers, _numpy(table, f"word{k}"))
    return out


def _keys_out(work: Work, layout: Layout, pool: Pool, number: np.ndarray) -> pa.Table:
    reg, inst, table = work.arrays[0], work.arrays[1], work.arrays[9]
    rows = table[: reg[T.KEYS_USED]]
    instance = rows[:, T.KEY_INSTANCE]
    columns: dict[str, Any] = {
        "instance": number[instance],
        "serial": rows[:, T.KEY_SERIAL],
        "time": rows[:, T.KEY_TIME],
        "known": rows[:, T.KEY_KNOWN],
        "epoch": rows[:, T.KEY_EPOCH],
    }
    node = inst[instance, T.NODE]
    first = layout.node_table[node, T.ONE]
    count = layout.node_table[node, T.TWO] - first
    texts = pool.texts.all()
    for k in range(layout.keys_width - T.KEY_FIELDS):
        words = rows[:, T.KEY_FIELDS + k]
        has = count > k
        is_text = np.zeros(len(rows), np.bool_)
        is_text[has] = layout.text_keys[first[has] + k]
        is_text &= (rows[:, T.KEY_KNOWN] >> k) & 1 == 1
        columns[f"word{k}"] = np.where(is_text, 0, words)
        columns[f"text{k}"] = (
            texts.take(pa.array(words, mask=~is_text)) if len(texts) else pa.nulls(len(rows), pa.string())
        )
    return pa.table(columns)
