"""Conditions and keys that the machine of patterns judges by itself; keys that ``every-distinct`` has accepted."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import sequence_tables as T
from occurs.operators.kernels.sequence_bindings import event_of, higher, mixed
from occurs.operators.kernels.sequence_instances import after
from occurs.operators.kernels.stackcode import DONE, Arrays, evaluate

FALSE, TRUE, UNKNOWN = range(3)


@kernel
def _bind(c: int, binding: int, bound: np.ndarray, rules: Arrays, roles: np.ndarray) -> None:
    """The events of the roles that condition ``c`` speaks of."""
    conditions, _, needs, role_table = rules
    for k in range(conditions[c, T.NEEDS], conditions[c, T.NEEDS_END]):
        r = needs[k]
        roles[r] = event_of(bound, binding, role_table[r, 0], role_table[r, 1])


@kernel
def judge(
    c: int,
    binding: int,
    own: int,
    bound: np.ndarray,
    rules: Arrays,
    roles: np.ndarray,
    program: Arrays,
    pool: Arrays,
    calc: Arrays,
) -> int:
    """Is condition ``c`` true with a binding and the event at hand, ``own`` (-1: none)?  UNKNOWN: it is to be asked."""
    conditions, parts, _, _ = rules
    if conditions[c, T.ASKS]:
        return UNKNOWN
    x, _, ok = calc
    _bind(c, binding, bound, rules, roles)
    for k in range(conditions[c, T.PARTS], conditions[c, T.PARTS_END]):
        if evaluate(program, parts[k, 0], parts[k, 1], pool, roles, own, calc) != DONE:
            return UNKNOWN
        if not (ok[0] and x[0] != 0):
            return FALSE
    return TRUE


@kernel
def key_values(
    first: int,
    end: int,
    binding: int,
    bound: np.ndarray,
    rules: Arrays,
    roles: np.ndarray,
    program: Arrays,
    pool: Arrays,
    calc: Arrays,
    keys: np.ndarray,
    values: np.ndarray,
) -> int:
    """Write the values of the keys [first, end) as words; returns the set (bits) of those that are not null, -1 if they
    are to be asked."""
    conditions, parts, _, _ = rules
    x, y, ok = calc
    bits = y.view(np.int64)
    known = 0
    for k in range(first, end):
        c = keys[k, 0]
        if conditions[c, T.ASKS]:
            return -1
        _bind(c, binding, bound, rules, roles)
        part = conditions[c, T.PARTS]
        if evaluate(program, parts[part, 0], parts[part, 1], pool, roles, -1, calc) != DONE:
            return -1
        values[k - first] = 0
        if ok[0]:
            known |= 1 << (k - first)
            if keys[k, 1]:
                values[k - first] = np.int64(0) if y[0] == 0.0 else bits[0]
            else:
                values[k - first] = x[0]
    return known


@kernel
def _bucket(serial: int, epoch: int, known: int, values: np.ndarray, n: int, size: int) -> int:
    h = mixed(mixed(mixed(0, serial), epoch), known)
    for k in range(n):
        h = mixed(h, values[k])
    return mixed(0, h) & (size - 1)


@kernel
def _forget(reg: np.ndarray, inst: np.ndarray, table: np.ndarray, nodes: np.ndarray) -> None:
    """Drop the keys of instances that are gone or have forgotten them, and those that have expired."""
    kept = 0
    for at in range(reg[T.KEYS_USED]):
        i = table[at, T.KEY_INSTANCE]
        if inst[i, T.SERIAL] != table[at, T.KEY_SERIAL] or inst[i, T.COUNT] != table[at, T.KEY_EPOCH]:
            continue
        expiry = nodes[inst[i, T.NODE], T.THREE]
        if expiry >= 0 and after(table[at, T.KEY_TIME], expiry) <= reg[T.NOW]:
            continue
        table[kept] = table[at]
        kept += 1
    reg[T.KEYS_USED] = kept


@kernel
def chain_keys(reg: np.ndarray, inst: np.ndarray, table: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The heads of the chains of all accepted keys that still count."""
    _forget(reg, inst, table, nodes)
    n = reg[T.KEYS_USED]
    size = 16
    while size < 2 * n + 2:
        size *= 2
    heads = np.full(size, -1, np.int64)
    for at in range(n):
        node = inst[table[at, T.KEY_INSTANCE], T.NODE]
        width = nodes[node, T.TWO] - nodes[node, T.ONE]
        row = table[at]
        bucket = _bucket(row[T.KEY_SERIAL], row[T.KEY_EPOCH], row[T.KEY_KNOWN], row[T.KEY_FIELDS :], width, size)
        row[T.KEY_NEXT] = heads[bucket]
        heads[bucket] = at
    return heads


@kernel
def accepted(
    reg: np.ndarray,
    inst: np.ndarray,
    i: int,
    known: int,
    values: np.ndarray,
    table: np.ndarray,
    heads: np.ndarray,
    nodes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Does instance ``i`` accept a key now?  Then it is noted.  Returns (table, heads, answer)."""
    node = inst[i, T.NODE]
    n = nodes[node, T.TWO] - nodes[node, T.ONE]
    expiry = nodes[node, T.THREE]
    serial, epoch = inst[i, T.SERIAL], inst[i, T.COUNT]
    bucket = _bucket(serial, epoch, known, values, n, len(heads))
    at = heads[bucket]
    while at >= 0:
        same = table[at, T.KEY_SERIAL] == serial and table[at, T.KEY_EPOCH] == epoch
        same = same and table[at, T.KEY_KNOWN] == known
        for k in range(n):
            same = same and table[at, T.KEY_FIELDS + k] == values[k]
        if same:
            if expiry >= 0 and after(table[at, T.KEY_TIME], expiry) <= reg[T.NOW]:
                table[at, T.KEY_TIME] = reg[T.NOW]
                return table, heads, True
            return table, heads, False
        at = table[at, T.KEY_NEXT]
    if reg[T.KEYS_USED] == len(table) or 2 * reg[T.KEYS_USED] > len(heads):
        heads = chain_keys(reg, inst, table, nodes)
        if 2 * reg[T.KEYS_USED] > len(table):
            table = higher(table, 2 * len(table))
        bucket = _bucket(serial, epoch, known, values, n, len(heads))
    at = reg[T.KEYS_USED]
    reg[T.KEYS_USED] += 1
    table[at, T.KEY_INSTANCE] = i
    table[at, T.KEY_SERIAL] = serial
    table[at, T.KEY_EPOCH] = epoch
    table[at, T.KEY_TIME] = reg[T.NOW]
    table[at, T.KEY_KNOWN] = known
    for k in range(n):
        table[at, T.KEY_FIELDS + k] = values[k]
    table[at, T.KEY_NEXT] = heads[bucket]
    heads[bucket] = at
    return table, heads, True
