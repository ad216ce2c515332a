"""Rules whose past decides their future: consuming rules and recursive components (tesla.md, sections 4 and 5).

They are evaluated instant by instant: in compiled code (machine_run.py) if that knows all of their expressions, else
column-wise.  Instants of different keys do not meet, so a *wave* takes the next instant of every key at once: there are
as many waves as the busiest key has instants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from occurs.expr.tree import Ref
from occurs.model.labels import Labels, derived_labels
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Operator, Outcome, joint_identity, joint_ports
from occurs.operators.frame import Frame
from occurs.operators.rows import Rows
from occurs.operators.rule_bytecode import Unsupported
from occurs.operators.select.machine_run import MachineRun
from occurs.operators.select.pattern import Matches, Pattern
from occurs.operators.select.run import Run
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
            labels = _labels(p, run.tables, matches) if self.labelled else None
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
        old = self.tables[type]
        n = len(old)
        columns = {name: Column.concat([c, rows.columns[name]]) for name, c in old.columns.items()}
        labels = None
        if old.labels is not None and rows.labels is not None:
            labels = Labels.concat([old.labels, rows.labels])
        # rows of this call have no serial number yet: what they are consumed by is found by their position
        known = old.serial if old.serial is not None else np.zeros(0, np.int64)
        serial = np.concatenate([known, np.full(len(rows), -1)])
        self.tables[type] = Rows(type, np.concatenate([old.time, rows.time]), columns, old.new, serial, labels)
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


def _labels(pattern: Pattern, tables: Sequence[Rows], matches: Matches) -> Labels:
    """The labels of derived events, which may be constituents of others in the same call."""
    parts = []
    for table, rows in zip(tables, matches.rows):
        assert table.labels is not None
        parts.append(table.labels.take(rows))
    return derived_labels(pattern.rules[0].definition, parts)


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
