"""A family: the rows whose value is greater than all earlier ones of their key."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.operators.blocks import Block, Identity, Reasons
from occurs.operators.contract import Operator, Outcome, Port
from occurs.operators.definition import Choice, Named


@dataclass(frozen=True, eq=False)
class Summits(Operator):
    key: str
    value: str

    def advance(self, state, call):
        rows = call.new(self.ports[0].type)
        before = state.of.get(self.identity)
        best = {} if before is None else dict(zip(*before["best"].to_pydict().values()))
        keys, values = (rows.column(n).arrow for n in (self.key, self.value))
        chosen = []
        for number, (key, value) in enumerate(zip(keys.to_pylist(), values.to_pylist())):
            if value is not None and (key not in best or value > best[key]):
                best[key] = value
                chosen.append(number)
        if chosen:
            columns = [pa.array(list(best), keys.type), pa.array(list(best.values()), values.type)]
            state.of[self.identity] = {"best": pa.table(columns, ["key", "value"])}
        top = rows.take(np.array(chosen, np.int64))
        identity, reasons = (lambda: Identity([top.labels])), (lambda some: because(top.take(some)))
        return Outcome([Block(self.outs, top.time, top.columns, identity=identity, reasons=reasons)])


def because(rows):
    role, type, nothing = (pa.array([text] * len(rows)) for text in ("summit", rows.type, "{}"))
    return Reasons(np.arange(len(rows) + 1), role, type, rows.time, rows.labels.hex(), nothing)


@dataclass(frozen=True)
class SummitsDefinition(Named):
    key: str
    value: str
    endless = "a summit is greater than all values before it"
    row_by_row = False

    def form(self, schemas):
        return self.key, self.value, self.read_types(schemas)

    def operator(self, schemas, kind):
        ports, outs = tuple(map(Port, self.reads)), (self.out(schemas),)
        return Summits(self.identity, ports, outs, self.key, self.value, words="the summits of each key")


def definition(name, type, value, key, place):
    columns, splits = {type: frozenset({key, value})}, (Choice(((type, (key,)),), frozenset({key})),)
    identity = f"summits/{name}/{type}.{value}/{key}"
    return SummitsDefinition({type: 0}, frozenset({type}), columns, name, place, identity, key, value, splits=splits)
