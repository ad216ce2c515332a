"""Rules whose past decides their future: consuming rules and recursive components (tesla.md, sections 4 and 5).

They are evaluated instant by instant: in compiled code (kernels/rule_machine.py) if that knows all of their
expressions, else column-wise.  Instants of different keys do not meet, so a *wave* takes the next instant of every key
at once: there are as many waves as the busiest key has instants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Expr, Ref, conjunction
from occurs.model.labels import Labels, chained_labels, derived_labels
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Operator, Outcome, joint_identity, joint_ports
from occurs.operators.frame import Frame, UndecidedOverflow
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
from occurs.operators.select.templates import Checked, Template, block_of, checked, equated
from occurs.operators.states import State


@dataclass(frozen=True, eq=False)
class Sequential(Operator):
    """Rules over the past that feed one another or consume rows, and so are evaluated instant by instant.

    ``patterns``: one rule each, in evaluation order.  ``types``: those that feed back.  ``by``: per type the attributes
    that split it into independent keys.
    """

    patterns: tuple[Pattern, ...]
    types: frozenset[str] = frozenset()
    by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, rules: Sequence[Template], types: frozenset[str], by: Mapping[str, tuple[str, ...]]) -> Sequential:
        """Of rules in evaluation order.  They see rows after the tick at which the last of them was added."""
        born = max((r.born for r in rules if r.born is not None), default=None)
        outs, patterns = tuple(r.outs[0] for r in rules), tuple(r.pattern for r in rules)
        return cls(joint_identity(rules), joint_ports(rules), outs, patterns, types, by, born=born)

    @property
    def feeds_back(self) -> frozenset[str]:
        return self.types

    @property
    def stepwise(self) -> bool:
        return True

    @property
    def equated(self) -> Sequence[tuple[tuple[str, str], tuple[str, str]]]:
        out = [pair for p in self.patterns for pair in equated(p)]
        if self.by:  # events are told apart by key: an attribute that a rule passes on is of the domain of its origin
            for p in self.patterns:
                types = [s.type for s in p.role_sources]
                for name, e, _ in p.outputs:
                    if isinstance(e, Ref) and e.scope is not None and e.name != "time":
                        out.append(((p.rules[0].output, name), (types[int(e.scope)], e.name)))
        return out

    @property
    def line(self) -> str:
        names = ", ".join(dict.fromkeys(out.type for out in self.outs))
        why = "reads its own detections" if self.types else "consumes events"
        split = ""
        if self.by:
            split = ", separately per " + " / ".join(dict.fromkeys(", ".join(a) for a in self.by.values()))
        return f"{names}: {why}, so it runs one instant at a time{split}"

    def advance(self, state: State, call: Call) -> Outcome:
        frame = Frame(call.rows, call.codes, call.domains, call.kind)
        waves = Waves(self, frame, call.consumed, call.labelled)
        blocks = []
        of = {id(p): out for p, out in zip(self.patterns, self.outs, strict=True)}
        for r in waves.run():
            block = block_of(r.pattern, [of[id(r.pattern)]], r.tables, r.matches, r.columns, r.checks)
            blocks.append(replace(block, labels=r.labels))
        consumed = {}
        for (place, type), free in waves.free.items():
            gone = np.zeros(len(free), np.bool_)
            gone[waves.rank(type) if type in self.types else np.arange(len(free))] = ~free
            consumed[(place, type)] = gone
        return Outcome(blocks, consumed=consumed)


@dataclass
class Result:
    """What one pattern found: complete matches over ``tables``, and their output columns."""

    pattern: Pattern
    matches: Matches
    tables: Sequence[Rows]
    columns: dict[str, Column]
    labels: Labels | None = None
    checks: Sequence[Checked] = ()


class Waves:
    """One evaluation of a component over a frame.

    ``consumed``: per rule place and type the serial numbers consumed before; afterwards ``free`` says, per rule place
    and type, which rows of ``tables`` are not consumed.
    """

    def __init__(
        self, component: Sequential, frame: Frame, consumed: Mapping[tuple[int, str], np.ndarray], labelled: bool
    ) -> None:
        self.component = component
        self.tables: dict[str, Rows] = dict(frame.tables)
        self.frame = replace(frame, tables=self.tables)
        self.labelled = labelled
        self.outside: dict[str, Rows] = {}
        for t in component.types:
            table = self.tables[t]
            self.outside[t] = table.slice(table.new)
            self.tables[t] = table.slice(0, table.new, table.new)
        self.consumed = consumed
        self.free: dict[tuple[int, str], np.ndarray] = {}
        for p in component.patterns:
            for role in p.consuming:
                type = p.role_sources[role].type
                self.free[(p.rules[0].place, type)] = self._free(p.rules[0].place, type)
        #: per type: (row numbers, rule place or -1, positions in the results of the rule)
        self.origin: dict[str, list[tuple[np.ndarray, int, np.ndarray]]] = {t: [] for t in component.types}
        self.final: dict[int, np.ndarray] = {}
        self.found: dict[int, list[tuple[Matches, dict[str, Column], Labels | None]]] = {
            p.rules[0].place: [] for p in component.patterns
        }

    def _free(self, place: int, type: str) -> np.ndarray:
        table = self.tables[type]
        gone = self.consumed.get((place, type))
        if gone is None or len(gone) == 0:
            return np.ones(len(table), np.bool_)
        assert table.serial is not None
        return ~np.isin(table.serial, gone)

    # -- waves -------------------------------------------------------------------------------------------------------
    def run(self) -> list[Result]:
        if not self._by_machine():
            self._by_waves()
        return self._results()

    def _by_machine(self) -> bool:
        """Instant by instant in compiled code, if the rules are made for it."""
        try:
            return MachineRun(self).run()
        except Unsupported:
            return False

    def _by_waves(self) -> None:
        starts: dict[int, Matches] = {}
        parts: list[tuple[np.ndarray, ...]] = []
        for number, p in enumerate(self.component.patterns):
            if p.terminator.type in self.component.types:
                continue
            run = Run(p, self.frame)
            starts[number] = run.start()
            parts.append(self._items(run.tables[0], starts[number].rows[0], number))
        outside = sorted(self.component.types)
        for at, t in enumerate(outside):
            rows = self.outside[t]
            parts.append(self._items(rows, np.arange(len(rows)), -1 - at))
        code, time, source, item = (np.concatenate(column) for column in zip(*parts, strict=True))
        wave = _waves(code, time)
        order = np.lexsort((item, source, wave))
        wave, source, item = wave[order], source[order], item[order]
        n_waves = int(wave[-1]) + 1 if len(wave) else 0
        cuts = np.searchsorted(wave, np.arange(n_waves + 1))
        for w in range(n_waves):
            part = slice(cuts[w], cuts[w + 1])
            self._one(w, source[part], item[part], starts, outside)

    def _items(self, table: Rows, rows: np.ndarray, source: int) -> tuple[np.ndarray, ...]:
        """Of rows that a wave takes from ``source`` (a pattern by its number, or outside): key, time, source, item."""
        by = self.component.by.get(table.type, ())
        n = len(rows)
        code = self.frame.joined_codes(table, by)[rows] if by else np.zeros(n, np.int64)
        return code, table.time[rows], np.full(n, source, np.int64), np.arange(n, dtype=np.int64)

    def _one(
        self, wave: int, source: np.ndarray, item: np.ndarray, starts: dict[int, Matches], outside: list[str]
    ) -> None:
        here: dict[str, list[np.ndarray]] = {t: [] for t in self.component.types}
        for at, t in enumerate(outside):
            rows = item[source == -1 - at]
            if len(rows):
                here[t].append(self._append(t, self.outside[t].take(rows), -1, rows))
        claimed: list[tuple[int, str, np.ndarray]] = []
        for number, p in enumerate(self.component.patterns):
            place = p.rules[0].place
            free = {t: f for (q, t), f in self.free.items() if q == place}
            if number in starts:
                begin = starts[number].take(item[source == number])
            else:
                fresh = here[p.terminator.type]
                begin = self._begin(p, np.concatenate(fresh) if fresh else np.zeros(0, np.int64))
            if len(begin) == 0:
                continue
            run = Run(p, self.frame, free)
            done = run.run(begin)
            if not done:
                continue
            matches = Matches.concat(done)
            columns = run.outputs(matches)
            # derived events may be constituents of others in the same call
            labels = derived_labels(p.rules[0].definition, matches.labels(run.tables)) if self.labelled else None
            before = sum(len(m) for m, _, _ in self.found[place])
            self.found[place].append((matches, columns, labels))
            for role in p.consuming:
                claimed.append((place, p.role_sources[role].type, matches.rows[role]))
            output = p.rules[0].output
            if output in self.component.types:
                time = run.tables[0].time[matches.rows[0]]
                rows = Rows(output, time, columns, labels=labels)
                here[output].append(self._append(output, rows, place, before + np.arange(len(rows))))
        for place, type, rows in claimed:
            self.free[(place, type)][rows] = False

    def _begin(self, p: Pattern, rows: np.ndarray) -> Matches:
        """Terminators of a type of the component: rows of this wave that pass the constraints of role 0."""
        table = self.tables[p.terminator.type]
        small = table.take(rows)
        run = Run(p, replace(self.frame, tables={**self.tables, p.terminator.type: small}))
        return Matches(None, [rows[run.start().rows[0]]])

    def _append(self, type: str, rows: Rows, place: int, positions: np.ndarray) -> np.ndarray:
        """Put rows behind the table of a type; returns their numbers.

        They are number ``positions`` of the results of rule ``place``, or of the outside rows (-1).
        """
        n = len(self.tables[type])
        self.tables[type] = _behind(self.tables[type], rows)
        for (rule, t), free in self.free.items():
            if t == type:
                self.free[(rule, t)] = np.concatenate([free, np.ones(len(rows), np.bool_)])
        numbers = np.arange(n, n + len(rows))
        self.origin[type].append((numbers, place, positions))
        return numbers

    # -- results -----------------------------------------------------------------------------------------------------
    def _results(self) -> list[Result]:
        """Per pattern all matches, in the total order."""
        out: list[Result] = []
        for p in self.component.patterns:
            place = p.rules[0].place
            parts = self.found[place]
            if not parts:
                continue
            tables = [self.tables[s.type] for s in p.role_sources]
            matches = Matches.concat([m for m, _, _ in parts])
            rank = matches.rows[0]
            if p.terminator.type in self.component.types:
                rank = self.rank(p.terminator.type)[rank]
            order = np.lexsort((np.arange(len(rank)), rank, tables[0].time[matches.rows[0]]))
            final = np.empty(len(order), np.int64)
            final[order] = np.arange(len(order))
            self.final[place] = final
            labels = None
            if parts[0][2] is not None:
                labels = Labels.concat([x for _, _, x in parts if x is not None]).take(order)
            columns = {n: Column.concat([c[n] for _, c, _ in parts]).take(order) for n in parts[0][1]}
            result = Result(p, matches.take(order), tables, columns, labels)
            if p.reasons:
                result.checks = checked(Run(p, self.frame), result.matches)
            out.append(result)
        return out

    def rank(self, type: str) -> np.ndarray:
        """For every row of a fed-back type its position in the total order of the type.

        Rows were put behind one another wave by wave.  Of one instant come first the outside rows, then those of each
        rule in the rule's own final order.
        """
        table = self.tables[type]
        place = np.full(len(table), -2, np.int64)
        within = np.arange(len(table))
        for numbers, rule, positions in self.origin[type]:
            place[numbers] = rule
            within[numbers] = positions if rule < 0 else self.final[rule][positions]
        order = np.lexsort((within, place, table.time))
        rank = np.empty(len(table), np.int64)
        rank[order] = np.arange(len(table))
        return rank


def _waves(code: np.ndarray, time: np.ndarray) -> np.ndarray:
    """For every item the number of its instant among the instants of its code."""
    n = len(code)
    order = np.lexsort((time, code))
    c, t = code[order], time[order]
    new_code = np.ones(n, np.bool_)
    new_code[1:] = c[1:] != c[:-1]
    new_instant = new_code.copy()
    new_instant[1:] |= t[1:] != t[:-1]
    instant = np.cumsum(new_instant) - 1
    first = np.maximum.accumulate(np.where(new_code, instant, 0))
    wave = np.empty(n, np.int64)
    wave[order] = instant - first
    return wave


# -- in compiled code --------------------------------------------------------------------------------------------------
class MachineRun:
    """Runs the machine (kernels/rule_machine.py) for the component of ``waves``: the rules and the rows of all types as
    its tables, and its answer as columns.  Raises Unsupported if it cannot do it."""

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
            columns[name] = Column.concat([outside.columns[name], made]).take(order)
        labels = None if pool is None else pool.take(fresh[order])
        self.waves.tables[type] = _behind(old, Rows(type, time[fresh[order]], columns, labels=labels))
        self.waves.origin[type].append((local[region.came], -1, np.arange(len(outside))))


def _behind(old: Rows, rows: Rows) -> Rows:
    """Rows behind those of a fed-back type; of its columns those that both have."""
    columns = {n: Column.concat([c, rows.columns[n]]) for n, c in old.columns.items() if n in rows.columns}
    labels = None
    if old.labels is not None and rows.labels is not None:
        labels = Labels.concat([old.labels, rows.labels])
    # rows of this call have no serial number yet: what they are consumed by is found by their position
    known = old.serial if old.serial is not None else np.zeros(0, np.int64)
    serial = np.concatenate([known, np.full(len(rows), -1)])
    return Rows(old.type, np.concatenate([old.time, rows.time]), columns, old.new, serial, labels)


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
