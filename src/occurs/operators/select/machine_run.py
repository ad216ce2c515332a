"""One run of the machine for sequential rules (kernels/rule_machine.py): the component and its rows as tables, and the
machine's answer as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Expr, conjunction
from occurs.model.labels import Labels, chained_labels
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.frame import UndecidedOverflow
from occurs.operators.kernels import rule_machine as machine
from occurs.operators.rows import Rows
from occurs.operators.rule_bytecode import KINDS, Coder, Unsupported
from occurs.operators.select.pattern import (
    Absent,
    Between,
    Extra,
    Keep,
    KeyPart,
    Matches,
    Pattern,
    Select,
    Source,
    Within,
)
from occurs.operators.select.run import POLICIES, Run

if TYPE_CHECKING:
    from occurs.operators.select.sequential import Waves


class MachineRun:
    """One run of the machine for the component of ``waves``.  Raises Unsupported if it cannot do it."""

    def __init__(self, waves: Waves):
        self.waves = waves
        self.patterns = waves.component.patterns
        self.fed = sorted(waves.component.types)
        types: dict[str, None] = {}
        for p in self.patterns:
            sources = [*p.role_sources, *(s.source for s in p.steps if isinstance(s, Absent))]
            types.update(dict.fromkeys(s.type for s in sources))
        types.update(dict.fromkeys(self.fed))
        names = {t: next((n for p in self.patterns if (n := _columns(p, t))), []) for t in self.fed}
        self.pool = Pool(waves.tables, waves.outside, names, types)
        self.regions, self.size = self.pool.regions, self.pool.size
        self._translate()

    # -- rules -------------------------------------------------------------------------------------------------------
    def _translate(self) -> None:
        self.coder = Coder(lambda role, name: (0, Type.NULL), self.pool.text)
        patterns: list[list[int]] = []
        steps: list[list[int]] = []
        keys: list[tuple[int, int, int]] = []
        key_floats: list[bool] = []
        outs: list[tuple[int, int, int]] = []
        index_keys: list[list[tuple[int, bool]]] = []
        index_types: list[int] = []
        index_code: list[tuple[int, int]] = []
        #: per index the pool's rows that enter it
        self.members: list[np.ndarray] = []
        for p in self.patterns:
            first_step = len(steps)
            role = 0
            for s in p.steps:
                row = [0] * machine.STEP_FIELDS
                if isinstance(s, Keep):
                    row[machine.OP] = machine.KEEP
                    row[machine.CODE], row[machine.CODE_END] = self._condition(p, (s.condition,), None)
                elif isinstance(s, Extra):
                    row[machine.OP] = machine.EXTRA
                    row[machine.ROLE_A], row[machine.ROLE_B], row[machine.LENGTH] = s.role, s.ref, s.within
                else:
                    if isinstance(s, Select):
                        role += 1
                        row[machine.OP] = machine.SELECT
                        row[machine.POLICY], row[machine.K] = POLICIES.index(s.policy), s.k
                        row[machine.CONSUMES] = int(role in p.consuming)
                        interval: Within | Between = Within(s.ref, s.within)
                    else:
                        row[machine.OP] = machine.ABSENT
                        interval = s.interval
                    if isinstance(interval, Within):
                        row[machine.INTERVAL], row[machine.ROLE_A] = machine.WITHIN, interval.role
                        row[machine.LENGTH] = interval.length
                    else:
                        row[machine.INTERVAL] = machine.BETWEEN
                        row[machine.ROLE_A], row[machine.ROLE_B] = interval.early, interval.late
                    row[machine.STRICT] = int(s.source.strict)
                    row[machine.KEYS] = len(keys)
                    for part in s.keys:
                        key, real = self._key(p, s.source, part)
                        keys.append(key)
                        key_floats.append(real)
                    row[machine.KEYS_END] = len(keys)
                    row[machine.CODE], row[machine.CODE_END] = self._condition(p, s.residual, s.source.type)
                    row[machine.INDEX] = len(index_keys)
                    index_keys.append([(key[0], real) for key, real in zip(keys, key_floats)][row[machine.KEYS] :])
                    index_types.append(self.fed.index(s.source.type) if s.source.type in self.fed else -1)
                    index_code.append(self._filter(s.source))
                steps.append(row)
            patterns.append(self._pattern(p, first_step, len(steps), outs))
        columns = max((len(k) for k in index_keys), default=0)
        table = np.zeros((len(index_keys), 1 + 2 * columns), np.int64)
        for i, index in enumerate(index_keys):
            table[i, 0] = len(index)
            for at, (column, real) in enumerate(index):
                table[i, 1 + at], table[i, 1 + len(index) + at] = column, real
        self.index_keys = table
        self.index_types = np.array(index_types, np.int64)
        self.index_code = _matrix(index_code, 2)
        self.pattern_table = _matrix(patterns, machine.PATTERN_FIELDS)
        self.step_table = _matrix(steps, machine.STEP_FIELDS)
        self.keys = _matrix(keys, 3)
        self.key_floats = np.array(key_floats, np.bool_)
        self.outs = _matrix(outs, 3)

    def _pattern(self, p: Pattern, begin: int, end: int, outs: list[tuple[int, int, int]]) -> list[int]:
        row = [0] * machine.PATTERN_FIELDS
        row[machine.STEPS], row[machine.STEPS_END] = begin, end
        row[machine.ROLES] = len(p.role_sources)
        row[machine.TERMINATOR] = row[machine.OUTPUT] = -1
        if p.terminator.type in self.fed:
            row[machine.TERMINATOR] = self.fed.index(p.terminator.type)
            row[machine.FILTER], row[machine.FILTER_END] = self._condition(p, p.terminator.filters, p.terminator.type)
        output = p.rules[0].output
        row[machine.OUTS] = len(outs)
        if output in self.fed:
            row[machine.OUTPUT] = self.fed.index(output)
            region = self.regions[output]
            self._of(p, None)
            for name, expr, type in p.outputs:
                if region.type(name) is not type:
                    raise Unsupported(f"{output}.{name}")
                outs.append(self.coder.value(expr, type))
        row[machine.OUTS_END] = len(outs)
        row[machine.CONSUMING] = int(bool(p.consuming))
        return row

    def _of(self, p: Pattern, own: str | None) -> None:
        """Names from here on are of the roles of ``p``; bare ones of type ``own``."""

        def column(role: int, name: str) -> tuple[int, Type]:
            type = p.role_sources[role].type if role >= 0 else own
            if type is None:
                raise Unsupported("a bare name")
            return self._column(type, name)

        self.coder.column = column

    def _column(self, type: str, name: str) -> tuple[int, Type]:
        region = self.regions[type]
        if name not in region.names:
            if type in self.fed or name not in region.rows.columns:
                raise Unsupported(f"{type}.{name}")
            region.names.append(name)
        return region.names.index(name), region.type(name)

    def _condition(self, p: Pattern, conditions: tuple[Expr, ...], own: str | None) -> tuple[int, int]:
        self._of(p, own)
        return self.coder.condition(conjunction(list(conditions)))

    def _key(self, p: Pattern, source: Source, key: KeyPart) -> tuple[tuple[int, int, int], bool]:
        own, a = self._column(source.type, key.own)
        other, b = self._column(p.role_sources[key.role].type, key.attribute)
        if KINDS.get(a) != KINDS.get(b):
            raise Unsupported(f"{a} = {b}")
        return (own, key.role, other), a is Type.FLOAT

    def _filter(self, source: Source) -> tuple[int, int]:
        """Note which rows may be candidates; the code that says it of fed-back rows."""
        rows = self.regions[source.type].rows
        try:
            keep = self.waves.frame.filter(rows, source.filters)
        except UndecidedOverflow:
            raise Unsupported("overflow") from None
        at = np.arange(len(rows)) if keep is None else np.flatnonzero(keep)
        self.members.append(self.regions[source.type].base + at)
        if source.type not in self.fed:
            return 0, 0
        self.coder.column = lambda role, name: self._column(source.type, name)
        return self.coder.condition(conjunction(list(source.filters)))

    # -- the run -----------------------------------------------------------------------------------------------------
    def run(self) -> bool:
        """Evaluate, and hand the results to the waves; False if the machine gave up."""
        values, known, time = self.pool.arrays()
        starts, of_pattern = self._starts()
        order = np.lexsort((starts, of_pattern, time[starts]))
        starts, of_pattern = starts[order], of_pattern[order]
        enter = np.concatenate([*self.members, np.zeros(0, np.int64)])
        index = np.repeat(np.arange(len(self.members)), [len(m) for m in self.members])
        order = np.lexsort((enter, time[enter]))
        outside = np.concatenate([*(self.regions[t].came for t in self.fed), np.zeros(0, np.int64)])
        fed = np.repeat(np.arange(len(self.fed)), [len(self.regions[t].came) for t in self.fed])
        came = np.lexsort((outside, fed, time[outside]))
        free = np.ones((len(self.patterns), len(time)), np.bool_)
        places = {p.rules[0].place: number for number, p in enumerate(self.patterns)}
        for (place, t), mine in self.waves.free.items():
            base = self.regions[t].base
            free[places[place], base : base + len(mine)] = mine
        status, (values, _, known, time), made, n, matches, output, n_matches, free = machine.run(
            self.size,
            values,
            known,
            time,
            enter[order],
            index[order],
            outside[came],
            fed[came],
            starts,
            of_pattern,
            self.pattern_table,
            self.step_table,
            self.keys,
            self.key_floats,
            self.coder.program(),
            self.outs,
            self.index_keys,
            self.index_types,
            self.index_code,
            free,
            max(len(p.role_sources) for p in self.patterns),
        )
        if status != machine.DONE:
            return False
        self._hand_over(values[:n], known[:n], time[:n], made[:n], matches[:n_matches], output[:n_matches], free[:, :n])
        return True

    def _starts(self) -> tuple[np.ndarray, np.ndarray]:
        """The given terminators: rows of the pool, and the number of their pattern."""
        rows, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for number, p in enumerate(self.patterns):
            if p.terminator.type not in self.fed:
                found = Run(p, self.waves.frame).start().rows[0]
                rows.append(self.regions[p.terminator.type].base + found)
                numbers.append(np.full(len(found), number))
        return np.concatenate(rows), np.concatenate(numbers)

    # -- the answer --------------------------------------------------------------------------------------------------
    def _hand_over(
        self, values: np.ndarray, known: np.ndarray, time: np.ndarray, made: np.ndarray, matches: np.ndarray,
        output: np.ndarray, free: np.ndarray,
    ) -> None:  # fmt: skip
        """Tables, origins, what was found and what is free, as the waves keep them."""
        waves = self.waves
        labels, pool = self._labels(len(time), matches, output)
        local = np.full(len(time), -1, np.int64)
        for t, region in self.regions.items():
            local[region.base : region.base + len(region.rows)] = np.arange(len(region.rows))
            if t in self.fed:
                derived = np.flatnonzero(made == self.fed.index(t)) if len(made) > self.size else local[:0]
                derived = derived[derived >= self.size]
                self._extend(t, region, derived, values, known, time, local, pool)
        for number, p in enumerate(self.patterns):
            mine = np.flatnonzero(matches[:, 0] == number)
            if len(mine) == 0:
                continue
            place = p.rules[0].place
            found = Matches(None, [local[matches[mine, 1 + role]] for role in range(len(p.role_sources))])
            mine_labels = None if labels is None else labels.take(mine)
            waves.found[place].append((found, Run(p, waves.frame).outputs(found), mine_labels))
            if p.rules[0].output in self.fed:
                waves.origin[p.rules[0].output].append((local[output[mine]], place, np.arange(len(mine))))
        for (place, t), _ in list(waves.free.items()):
            number = next(i for i, p in enumerate(self.patterns) if p.rules[0].place == place)
            region = self.regions[t]
            now = np.ones(len(waves.tables[t]), np.bool_)
            in_pool = np.flatnonzero((local >= 0) & self._is(t, region, made))
            now[local[in_pool]] = free[number, in_pool]
            waves.free[(place, t)] = now

    def _is(self, type: str, region: Region, made: np.ndarray) -> np.ndarray:
        """Booleans over the pool: the rows of a type."""
        out = np.zeros(len(made), np.bool_)
        out[region.base : region.base + len(region)] = True
        if type in self.fed:
            out[self.size :] |= made[self.size :] == self.fed.index(type)
        return out

    def _labels(self, n: int, matches: np.ndarray, output: np.ndarray) -> tuple[Labels | None, Labels | None]:
        """The labels of all matches and of all rows of the pool; None if nobody wants them."""
        if any(r.rows.labels is None for r in self.regions.values()):
            return None, None
        pool = Labels(np.zeros(n, np.uint64), np.zeros(n, np.uint64))
        for region in self.regions.values():
            late = [] if region.outside is None or region.outside.labels is None else [region.outside.labels]
            known = Labels.concat([region.rows.labels, *late])  # type: ignore[list-item]
            pool.hi[region.base : region.base + len(known)] = known.hi
            pool.lo[region.base : region.base + len(known)] = known.lo
        definitions = [p.rules[0].definition for p in self.patterns]
        roles = self.pattern_table[:, machine.ROLES]
        return chained_labels(definitions, matches[:, 0], matches[:, 1:], roles, output, pool), pool

    def _extend(
        self, type: str, region: Region, derived: np.ndarray, values: np.ndarray, known: np.ndarray, time: np.ndarray,
        local: np.ndarray, pool: Labels | None,
    ) -> None:  # fmt: skip
        """Put what came and what was derived behind the table of a fed-back type, in order of time."""
        old, outside = region.rows, region.outside
        assert outside is not None
        fresh = np.concatenate([region.came, derived])
        order = np.argsort(time[fresh], kind="stable")
        local[fresh[order]] = len(old) + np.arange(len(fresh))
        columns = {}
        for at, name in enumerate(region.names):
            made = self.pool.column(region.type(name), values[derived, at], known[derived, at])
            columns[name] = Column.concat([old.columns[name], Column.concat([outside.columns[name], made]).take(order)])
        past = old.serial if old.serial is not None else np.zeros(0, np.int64)
        serial = np.concatenate([past, np.full(len(fresh), -1)])
        labels = None
        if pool is not None and old.labels is not None:
            labels = Labels.concat([old.labels, pool.take(fresh[order])])
        times = np.concatenate([old.time, time[fresh[order]]])
        self.waves.tables[type] = Rows(type, times, columns, old.new, serial, labels)
        self.waves.origin[type].append((local[region.came], -1, np.arange(len(outside))))


def _columns(p: Pattern, type: str) -> list[str]:
    """The attributes of a type by a rule that defines it; none by other rules."""
    return [name for name, _, _ in p.outputs] if p.rules[0].output == type else []


def _matrix(rows: object, width: int) -> np.ndarray:
    """int64 (n, width), also for no rows."""
    return np.array(rows, np.int64).reshape(-1, width)


# -- the rows of all types in one pool ---------------------------------------------------------------------------------
@dataclass
class Region:
    """The rows of one type in the pool: those of its table from ``base`` on, then (fed-back types) those from outside.

    ``names``: its columns in the pool, in order.
    """

    rows: Rows
    outside: Rows | None
    base: int
    names: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows) + (0 if self.outside is None else len(self.outside))

    @property
    def came(self) -> np.ndarray:
        """The pool's rows that come from outside in this call."""
        first = self.base + len(self.rows)
        return np.arange(first, first + (0 if self.outside is None else len(self.outside)))

    def type(self, name: str) -> Type:
        return self.rows.column(name).type

    def column(self, name: str) -> Column:
        column = self.rows.column(name)
        return column if self.outside is None else Column.concat([column, self.outside.column(name)])


class Pool:
    """Per type a region.  ``outside``: what comes in of fed-back types; ``names``: all columns of these."""

    def __init__(
        self,
        tables: Mapping[str, Rows],
        outside: Mapping[str, Rows],
        names: Mapping[str, list[str]],
        types: Iterable[str],
    ):
        self.regions: dict[str, Region] = {}
        self.size = 0
        self._texts: dict[str, int] = {}
        for t in types:
            self.regions[t] = Region(tables[t], outside.get(t), self.size, list(names.get(t, ())))
            self.size += len(self.regions[t])

    def text(self, text: str) -> int:
        """The number that stands for a text."""
        return self._texts.setdefault(text, len(self._texts))

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """values int64 (rows, columns; floats as their bits), known bool, time int64."""
        width = max(1, *(len(r.names) for r in self.regions.values()))
        values = np.zeros((max(1, self.size), width), np.int64)
        known = np.zeros((max(1, self.size), width), np.bool_)
        time = np.zeros(max(1, self.size), np.int64)
        for region in self.regions.values():
            part = slice(region.base, region.base + len(region))
            late = [] if region.outside is None else [region.outside.time]
            time[part] = np.concatenate([region.rows.time, *late])
            for at, name in enumerate(region.names):
                values[part, at], known[part, at] = self._raw(region.column(name))
        return values, known, time

    def _raw(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        known = column.is_valid()
        if column.type is Type.STRING:
            encoded = column.arrow.dictionary_encode()
            numbers = np.array([self.text(t) for t in encoded.dictionary.to_pylist()] or [0], np.int64)
            return numbers[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)], known
        if column.type is Type.NULL:
            return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
        if column.type is Type.FLOAT:
            return column.values.view(np.int64), known & ~np.isnan(column.values)
        return column.values.astype(np.int64), known

    def column(self, type: Type, values: np.ndarray, known: np.ndarray) -> Column:
        """Words of the pool as a column."""
        valid = None if known.all() else known
        if type is Type.STRING:
            texts = pa.array(list(self._texts), pa.string())
            taken = texts.take(pa.array(values, mask=~known)) if len(texts) else pa.nulls(len(values), pa.string())
            return Column.of(taken, type)
        if type is Type.FLOAT:
            return Column(type, np.where(known, values.view(np.float64), 0.0), valid)
        return Column(type, values.astype(np.bool_) if type is Type.BOOL else values.copy(), valid)
