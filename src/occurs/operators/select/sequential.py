"""Rules whose past decides their future: consuming rules and recursive components (tesla.md, sections 4 and 5).

A machine in compiled code (kernels/rule_machine.py) evaluates them instant by instant.  What its code cannot compute
and depends on one event becomes a column beforehand; anything else the machine asks for, for all keys at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem
from occurs.expr.tree import Binary, Expr, Literal, Ref, conjunction
from occurs.model.labels import Labels, chained_labels
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Operator, Outcome, joint_identity, joint_ports
from occurs.operators.frame import Frame, UndecidedOverflow
from occurs.operators.kernels import rule_machine as machine
from occurs.operators.kernels import stackcode
from occurs.operators.kernels.row_index import spread
from occurs.operators.rows import Rows
from occurs.operators.rule_bytecode import KINDS, Code, Coder, Unsupported
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
    Windowed,
    Within,
)
from occurs.operators.select.run import POLICIES, Run, overflow
from occurs.operators.select.templates import Checked, Template, block_of, checked, equated
from occurs.operators.states import State

_NONE = np.zeros(0, np.int64)
#: the most questions of the machine at once
_QUESTIONS = 1 << 14
#: with fewer rows of the past, all of them are looked at
MANY = 1 << 10


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
        names = [(p.rules[0].place, p.role_sources[role].type) for p in self.patterns for role in p.consuming]
        gone = {name: _among(call.rows[name[1]], call.consumed.get(name, _NONE)) for name in names}
        busy = self._busy(frame)
        frame = replace(frame, tables={**frame.tables, **{t: _some(frame.tables[t], at) for t, at in busy.items()}})
        instants = Instants(self, frame, {(p, t): ~mine[busy.get(t, slice(None))] for (p, t), mine in gone.items()})
        blocks = []
        of = {id(p): out for p, out in zip(self.patterns, self.outs, strict=True)}
        for r in instants.run():
            block = block_of(r.pattern, [of[id(r.pattern)]], r.tables, r.matches, r.columns, r.checks)
            blocks.append(replace(block, labels=r.labels))
        consumed = {}
        for (place, type), free in instants.free.items():
            if type in self.types:
                consumed[place, type] = np.zeros(len(free), np.bool_)
                consumed[place, type][instants.rank(type)] = ~free
            else:
                consumed[place, type] = gone[place, type]
                consumed[place, type][busy.get(type, slice(None))] = ~free
        return Outcome(blocks, consumed=consumed)

    def _busy(self, frame: Frame) -> dict[str, np.ndarray]:
        """Per type the rows of keys that have a new terminator, as nothing can happen to others; no types: all matter.

        Only if there are many rows of the past, and every row matters for its own key alone.
        """
        types = {s.type for p in self.patterns for s in (*p.role_sources, *_absent(p))}
        if self.types or not types.issubset(self.by) or sum(frame.tables[t].new for t in types) < MANY:
            return {}
        if any(isinstance(n, Windowed) for p in self.patterns for e in p.expressions for n in e.walk()):
            return {}
        new = {t: frame.joined_codes(frame.tables[t], self.by[t])[frame.tables[t].new :] for t in types}
        codes = np.unique(np.concatenate([new[p.terminator.type] for p in self.patterns]))
        codes = codes[codes >= 0]
        out = {}
        for t in types:
            rows = frame.tables[t]
            index = frame.index(rows, self.by[t])
            mine = codes[codes < len(index.start)]
            _, at = spread(index.start[mine], index.end[mine], index.order)
            # a terminator with a null in its key completes nothing, but may be refused
            out[t] = np.sort(np.concatenate([at - index.base, rows.new + np.flatnonzero(new[t] < 0)]))
        return out


def _absent(p: Pattern) -> list[Source]:
    return [s.source for s in p.steps if isinstance(s, Absent)]


def _some(rows: Rows, at: np.ndarray) -> Rows:
    """Some rows, whose numbers ascend."""
    return rows.take(at, int(np.searchsorted(at, rows.new)))


def _among(rows: Rows, serials: np.ndarray) -> np.ndarray:
    """Booleans: which rows have one of these serial numbers, which are those of rows of the past."""
    out = np.zeros(len(rows), np.bool_)
    if len(serials) and rows.new:
        assert rows.serial is not None
        past = rows.serial[: rows.new]
        serials = serials[serials >= past[0]]
        if int(past[-1]) - int(past[0]) == len(past) - 1:  # they count up
            out[serials - past[0]] = True
        else:
            out[: rows.new] = np.isin(past, serials)
    return out


@dataclass
class Result:
    """What one pattern found: complete matches over ``tables``, and their output columns."""

    pattern: Pattern
    matches: Matches
    tables: Sequence[Rows]
    columns: dict[str, Column]
    labels: Labels | None = None
    checks: Sequence[Checked] = ()


@dataclass(frozen=True)
class Asked:
    """An expression of pattern number ``pattern``: a condition, or a value of ``type``.

    ``own``: the type of the row that a bare name speaks of; ``roles``: how many are bound.
    """

    pattern: int
    expr: Expr
    own: str | None
    roles: int
    type: Type | None = None


class Instants:
    """One evaluation of a component over a frame by the machine (kernels/rule_machine.py), instant by instant.

    It lays out the rules and the rows of all types as the tables of the machine, answers what the machine asks for
    column by column, and makes columns of its answer.  ``free``: per rule place and type, which rows of ``tables`` are
    not consumed: those of the frame at first, all of them afterwards.
    """

    def __init__(self, component: Sequential, frame: Frame, free: dict[tuple[int, str], np.ndarray]) -> None:
        self.patterns = component.patterns
        self.by = component.by
        self.fed = sorted(component.types)
        #: of fed-back types the rows of the past, later also those of this call
        self.tables: dict[str, Rows] = dict(frame.tables)
        self.frame = replace(frame, tables=self.tables)
        outside: dict[str, Rows] = {}
        for t in self.fed:
            table = self.tables[t]
            outside[t] = table.slice(table.new)
            self.tables[t] = table.slice(0, table.new, table.new)
        types: dict[str, None] = {}
        for p in self.patterns:
            types.update(dict.fromkeys(s.type for s in (*p.role_sources, *_absent(p))))
        types.update(dict.fromkeys(self.fed))
        names = {t: next((n for p in self.patterns if (n := _columns(p, t))), []) for t in self.fed}
        self.pool = Pool(self.tables, outside, names, types)
        self.regions, self.size = self.pool.regions, self.pool.size
        self.free = {(place, t): mine[: len(self.tables[t])] for (place, t), mine in free.items()}
        #: per fed-back type: (row numbers, rule place or -1, positions in the results of the rule)
        self.origin: dict[str, list[tuple[np.ndarray, int, np.ndarray]]] = {t: [] for t in self.fed}
        self.final: dict[int, np.ndarray] = {}
        self._translate()

    # -- rules -------------------------------------------------------------------------------------------------------
    def _translate(self) -> None:
        self.coder = _Coder(lambda role, name: (0, Type.NULL), self.pool.text, wide=True)
        #: what the machine may ask for, and where the code of each is
        self.asked: list[Asked] = []
        self._code: list[tuple[int, int, int]] = []
        patterns: list[list[int]] = []
        steps: list[list[int]] = []
        keys: list[tuple[int, int, int]] = []
        key_floats: list[bool] = []
        outs: list[int] = []
        index_keys: list[list[tuple[int, bool]]] = []
        index_types: list[int] = []
        #: per index the pool's rows that enter it
        self.members: list[np.ndarray] = []
        for number, p in enumerate(self.patterns):
            first_step = len(steps)
            bound = 1
            for s in p.steps:
                row = [0] * machine.STEP_FIELDS
                if isinstance(s, Keep):
                    row[machine.OP] = machine.KEEP
                    row[machine.CONDITION] = self._condition(number, (s.condition,), None, bound)
                elif isinstance(s, Extra):
                    row[machine.OP] = machine.EXTRA
                    row[machine.ROLE_A], row[machine.ROLE_B], row[machine.LENGTH] = s.role, s.ref, s.within
                else:
                    if isinstance(s, Select):
                        row[machine.OP] = machine.SELECT
                        row[machine.POLICY], row[machine.K] = POLICIES.index(s.policy), s.k
                        row[machine.CONSUMES] = int(bound in p.consuming)
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
                    residual = [*s.residual, *self._candidates(s.source)]
                    row[machine.KEYS] = len(keys)
                    for part in s.keys:
                        try:
                            key, real = self._key(p, s.source, part)
                        except Unsupported:  # of different types: a condition like others
                            residual.append(Binary("=", Ref(None, part.own), Ref(str(part.role), part.attribute)))
                            continue
                        keys.append(key)
                        key_floats.append(real)
                    row[machine.KEYS_END] = len(keys)
                    # a candidate is both the row itself and the next role
                    roles = bound + isinstance(s, Select)
                    row[machine.CONDITION] = self._condition(number, residual, s.source.type, roles)
                    row[machine.INDEX] = len(index_keys)
                    index_keys.append([(key[0], real) for key, real in zip(keys, key_floats)][row[machine.KEYS] :])
                    index_types.append(self.fed.index(s.source.type) if s.source.type in self.fed else -1)
                    bound = roles
                steps.append(row)
            patterns.append(self._pattern(number, first_step, len(steps), outs))
        columns = max((len(k) for k in index_keys), default=0)
        table = np.zeros((len(index_keys), 1 + 2 * columns), np.int64)
        for i, index in enumerate(index_keys):
            table[i, 0] = len(index)
            for at, (column, real) in enumerate(index):
                table[i, 1 + at], table[i, 1 + len(index) + at] = column, real
        self.rules = (
            _matrix(patterns, machine.PATTERN_FIELDS),
            _matrix(steps, machine.STEP_FIELDS),
            _matrix(keys, 3),
            np.array(key_floats, np.bool_),
            _matrix(self._code, 3),
            np.array(outs, np.int64),
            table,
            np.array(index_types, np.int64),
        )

    def _pattern(self, number: int, begin: int, end: int, outs: list[int]) -> list[int]:
        p = self.patterns[number]
        row = [0] * machine.PATTERN_FIELDS
        row[machine.STEPS], row[machine.STEPS_END] = begin, end
        row[machine.ROLES] = len(p.role_sources)
        row[machine.TERMINATOR] = row[machine.OUTPUT] = -1
        if p.terminator.type in self.fed:
            row[machine.TERMINATOR] = self.fed.index(p.terminator.type)
            row[machine.FILTER] = self._condition(number, p.terminator.filters, p.terminator.type, 1)
        output = p.rules[0].output
        row[machine.OUTS] = len(outs)
        if output in self.fed:
            row[machine.OUTPUT] = self.fed.index(output)
            values = {name: expr for name, expr, _ in p.outputs}
            for name in self.regions[output].names:
                type = self.regions[output].type(name)
                value = Literal(None, type) if type is Type.NULL else values[name]
                outs.append(self._add(Asked(number, value, None, len(p.role_sources), type)))
        row[machine.OUTS_END] = len(outs)
        row[machine.CONSUMING] = int(bool(p.consuming))
        return row

    def _condition(self, number: int, conditions: Sequence[Expr], own: str | None, bound: int) -> int:
        """The number of the expression that all ``conditions`` are; -1: there are none."""
        joint = conjunction(list(conditions))
        return -1 if joint is None else self._add(Asked(number, joint, own, bound))

    def _add(self, asked: Asked) -> int:
        """Note an expression, with its code if it can be coded."""
        p = self.patterns[asked.pattern]

        def type_of(role: int) -> str:
            type = p.role_sources[role].type if role >= 0 else asked.own
            if type is None:
                raise Unsupported("a bare name")
            return type

        self.coder.column = lambda role, name: self._column(type_of(role), name)
        self.coder.computed = lambda role, expr: self._computed(p, role, type_of(role), expr)
        code = (0, 0, 0)
        try:
            if asked.type is None:
                code = (*self.coder.condition(asked.expr), 0)
            else:
                code = self.coder.value(asked.expr, asked.type)
        except Unsupported:
            pass
        self.asked.append(asked)
        self._code.append(code)
        return len(self.asked) - 1

    def _column(self, type: str, name: str) -> tuple[int, Type]:
        region = self.regions[type]
        if name not in region.names:
            if type in self.fed or name not in region.rows.columns:
                raise Unsupported(f"{type}.{name}")
            region.names.append(name)
        return region.names.index(name), region.type(name)

    def _computed(self, p: Pattern, role: int, type: str, expr: Expr) -> tuple[int, Type]:
        """What depends on one row alone as a column, if all rows are there beforehand and none overflows."""
        region = self.regions[type]
        windows = [n.source.type for n in expr.walk() if isinstance(n, Windowed)]
        if not set(self.fed).isdisjoint((type, *windows)) or not len(self.frame.tables[p.terminator.type]):
            raise Unsupported(type)
        name = f"{role}: {expr!r}" if windows else repr(expr)
        if name not in region.made:
            rows = np.arange(len(region.rows))
            others = [np.zeros_like(rows)] * max(role, 1)
            matches = Matches(None, [rows] if role == 0 else others if role < 0 else [*others, rows])
            try:
                region.made[name] = Run(p, self.frame).value(matches, expr, own=(region.rows, rows))
            except InputProblem:  # it matters only where a match gets there
                region.made[name] = None
        made = region.made[name]
        if made is None or made.type not in KINDS:
            raise Unsupported(type)
        if name not in region.names:
            region.names.append(name)
        return region.names.index(name), made.type

    def _key(self, p: Pattern, source: Source, key: KeyPart) -> tuple[tuple[int, int, int], bool]:
        own, a = self._column(source.type, key.own)
        other, b = self._column(p.role_sources[key.role].type, key.attribute)
        if KINDS.get(a) != KINDS.get(b):
            raise Unsupported(f"{a} = {b}")
        return (own, key.role, other), a is Type.FLOAT

    def _candidates(self, source: Source) -> tuple[Expr, ...]:
        """Note which rows may be candidates; the filters that must be judged with each match."""
        region = self.regions[source.type]
        at, left = np.arange(len(region.rows)), source.filters
        if source.type not in self.fed:
            try:
                keep = self.frame.filter(region.rows, source.filters)
                at, left = at if keep is None else np.flatnonzero(keep), ()
            except UndecidedOverflow:
                pass
        self.members.append(region.base + at)
        return left

    # -- the run -----------------------------------------------------------------------------------------------------
    def run(self) -> list[Result]:
        """Per pattern all matches, in the total order."""
        if not self.size:
            return []
        values, known, time = self.pool.arrays()
        of_lane, count = self._lanes()
        starts, of_pattern = self._starts()
        order = np.lexsort((starts, of_pattern, time[starts], of_lane[starts]))
        starts, of_pattern = starts[order], of_pattern[order]
        enter = np.concatenate([*self.members, _NONE])
        index = np.repeat(np.arange(len(self.members)), [len(m) for m in self.members])
        order = np.lexsort((enter, time[enter], of_lane[enter]))
        enter, index = enter[order], index[order]
        came = np.concatenate([*(self.regions[t].came for t in self.fed), _NONE])
        fed = np.repeat(np.arange(len(self.fed)), [len(self.regions[t].came) for t in self.fed])
        order = np.lexsort((came, fed, time[came], of_lane[came]))
        came, fed = came[order], fed[order]
        lanes = np.zeros((count, machine.LANE_FIELDS), np.int64)
        for at, rows in ((machine.START, starts), (machine.CAME, came), (machine.ENTER, enter)):
            cuts = np.searchsorted(of_lane[rows], np.arange(count + 1))
            lanes[:, at], lanes[:, at + 1] = cuts[:-1], cuts[1:]
        n, n_index, widest = len(time), len(self.members), self.rules[0][:, machine.ROLES].max()
        reg = np.zeros(machine.REGISTERS, np.int64)
        reg[machine.N_ROWS], reg[machine.UNDECIDED_PATTERN] = n, -1
        work: tuple[np.ndarray, ...] = (
            values,
            known,
            time,
            of_lane,
            np.zeros((n, n_index), np.int64),
            np.full(n, -1, np.int64),
            np.zeros((64, 1 + widest), np.int64),
            np.zeros(64, np.int64),
            self._free_at_first(),
        )
        heads = np.full((n_index, 1 << (2 * n + 15).bit_length()), -1, np.int64)
        given, program = (enter, index, came, fed, starts, of_pattern), self.coder.program()
        questions = np.zeros((min(count, _QUESTIONS), 3 + widest), np.int64)
        said, todo = np.zeros((0, 2), np.int64), np.arange(count)
        while len(todo):
            work = machine.run(self.rules, program, given, lanes, todo, said, questions, heads, reg, work)
            if reg[machine.UNDECIDED_PATTERN] >= 0:
                raise overflow(self.patterns[reg[machine.UNDECIDED_PATTERN]], int(reg[machine.UNDECIDED_TIME]))
            todo = todo[: reg[machine.WAITING]]
            if len(todo):
                asked = questions[: reg[machine.N_QUESTIONS]]
                said = _by_lane(lanes, todo, said, asked[:, 0], self._answers(asked, reg, work))
                if len(asked) == len(questions) < _QUESTIONS:
                    questions = np.zeros((min(4 * len(questions), _QUESTIONS), 3 + widest), np.int64)
        return self._results(reg, work)

    def _lanes(self) -> tuple[np.ndarray, int]:
        """The lane of each row of the pool, and how many there are."""
        if any(t not in self.by for t in self.regions):  # some events are for all keys
            return np.zeros(self.size, np.int64), 1
        parts = [(t, rows) for t, r in self.regions.items() for rows in (r.rows, r.outside) if rows is not None]
        codes = np.concatenate([self.frame.joined_codes(rows, self.by[t]) for t, rows in parts])
        known, lane = np.unique(codes, return_inverse=True)
        return lane.reshape(-1).astype(np.int64), len(known)

    def _starts(self) -> tuple[np.ndarray, np.ndarray]:
        """The given terminators: rows of the pool, and the number of their pattern."""
        rows, numbers = [_NONE], [_NONE]
        for number, p in enumerate(self.patterns):
            if p.terminator.type not in self.fed:
                found = Run(p, self.frame).start().rows[0]
                rows.append(self.regions[p.terminator.type].base + found)
                numbers.append(np.full(len(found), number))
        return np.concatenate(rows), np.concatenate(numbers)

    def _free_at_first(self) -> np.ndarray:
        """Booleans (patterns, rows of the pool): not consumed by earlier calls."""
        out = np.ones((len(self.patterns), self.size), np.bool_)
        for number, p in enumerate(self.patterns):
            for (place, t), mine in self.free.items():
                if place == p.rules[0].place:
                    base = self.regions[t].base
                    out[number, base : base + len(mine)] = mine
        return out

    def _answers(self, questions: np.ndarray, reg: np.ndarray, work: tuple[np.ndarray, ...]) -> np.ndarray:
        """int64 (n, 2): what is asked, column by column; see :func:`.rule_machine.run`."""
        tables, local = self._now(reg, work)
        frame = replace(self.frame, tables=tables)
        out = np.zeros((len(questions), 2), np.int64)
        for e in np.unique(questions[:, 1]).tolist():
            at, asked = np.flatnonzero(questions[:, 1] == e), self.asked[e]
            run = Run(self.patterns[asked.pattern], frame)
            matches = Matches(None, [local[questions[at, 3 + role]] for role in range(asked.roles)])
            if asked.type is not None:
                out[at, 0], out[at, 1] = self.pool.raw(run.value(matches, asked.expr, asked.type))
                continue
            own = None if asked.own is None else (tables[asked.own], local[questions[at, 2]])
            passed, undecided = run.judge(matches, asked.expr, own)
            out[at, 0] = np.where(passed, machine.YES, machine.NO)
            if undecided is not None:
                out[at[undecided], 0] = machine.UNDECIDED
        return out

    # -- the answer --------------------------------------------------------------------------------------------------
    def _now(
        self, reg: np.ndarray, work: tuple[np.ndarray, ...], labels: Labels | None = None
    ) -> tuple[dict[str, Rows], np.ndarray]:
        """The rows of all types as they are now, and for each row of the pool its number in the table of its type."""
        values, known, time, _, _, made = work[:6]
        tables, local = dict(self.tables), np.full(reg[machine.N_ROWS], -1, np.int64)
        for t, region in self.regions.items():
            old, outside = region.rows, region.outside
            local[region.base : region.base + len(old)] = np.arange(len(old))
            if outside is None:
                continue
            # what came and what was derived behind the table, in order of time
            derived = self._derived(t, made[: len(local)])
            fresh = np.concatenate([region.came, derived])
            order = np.argsort(time[fresh], kind="stable")
            local[fresh[order]] = len(old) + np.arange(len(fresh))
            columns = {}
            for at, name in enumerate(region.names):
                own = self.pool.column(region.type(name), values[derived, at], known[derived, at])
                columns[name] = Column.concat([outside.columns[name], own]).take(order)
            these = None if labels is None else labels.take(fresh[order])
            tables[t] = _behind(old, Rows(t, time[fresh[order]], columns, labels=these))
        return tables, local

    def _derived(self, type: str, made: np.ndarray) -> np.ndarray:
        """The rows of the pool that rules have made for a type."""
        return np.flatnonzero(made == self.fed.index(type)) if type in self.fed else _NONE

    def _results(self, reg: np.ndarray, work: tuple[np.ndarray, ...]) -> list[Result]:
        matches, output = (a[: reg[machine.N_MATCHES]] for a in work[6:8])
        made, free = work[5][: reg[machine.N_ROWS]], work[8]
        labels, pool = self._labels(len(made), matches, output)
        self.tables, local = self._now(reg, work, pool)
        self.frame = replace(self.frame, tables=self.tables)
        for t in self.fed:
            region = self.regions[t]
            self.origin[t].append((local[region.came], -1, np.arange(len(region.came))))
        found = [np.flatnonzero(matches[:, 0] == number) for number in range(len(self.patterns))]
        for p, mine in zip(self.patterns, found):
            if p.rules[0].output in self.fed and len(mine):
                made_of = (local[output[mine]], p.rules[0].place, np.arange(len(mine)))
                self.origin[p.rules[0].output].append(made_of)
        for number, p in enumerate(self.patterns):
            for place, t in self.free:
                if place == p.rules[0].place:
                    region = self.regions[t]
                    rows = np.append(np.arange(region.base, region.base + len(region)), self._derived(t, made))
                    self.free[place, t] = np.ones(len(self.tables[t]), np.bool_)
                    self.free[place, t][local[rows]] = free[number, rows]
        out = []
        for p, mine in zip(self.patterns, found):
            if len(mine):
                out.append(
                    self._result(p, [local[matches[mine, 1 + r]] for r in range(len(p.role_sources))], mine, labels)
                )
        return out

    def _result(self, p: Pattern, rows: list[np.ndarray], mine: np.ndarray, labels: Labels | None) -> Result:
        """The matches of a pattern with these rows, in the total order."""
        run = Run(p, self.frame)
        rank = rows[0]
        if p.terminator.type in self.fed:
            rank = self.rank(p.terminator.type)[rank]
        order = np.lexsort((np.arange(len(rank)), rank, run.tables[0].time[rows[0]]))
        final = np.empty(len(order), np.int64)
        final[order] = np.arange(len(order))
        self.final[p.rules[0].place] = final
        matches = Matches(None, [r[order] for r in rows])
        checks = checked(run, matches) if p.reasons else ()
        own = None if labels is None else labels.take(mine[order])
        return Result(p, matches, run.tables, run.outputs(matches), own, checks)

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
        roles = self.rules[0][:, machine.ROLES]
        return chained_labels(definitions, matches[:, 0], matches[:, 1:], roles, output, pool), pool

    def rank(self, type: str) -> np.ndarray:
        """For every row of a fed-back type its position in the total order of the type.

        Of one instant come first the outside rows, then those of each
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


def _by_lane(lanes: np.ndarray, todo: np.ndarray, said: np.ndarray, of: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The answers that the lanes ``todo`` have, and behind them new ones, which are for the lanes ``of``."""
    count = lanes[todo, machine.SAID_END] - lanes[todo, machine.SAID]
    old = np.repeat(lanes[todo, machine.SAID] - np.cumsum(count) + count, count) + np.arange(count.sum())
    owner = np.concatenate([np.repeat(todo, count), of])
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.append(todo, np.iinfo(np.int64).max))
    lanes[todo, machine.SAID], lanes[todo, machine.SAID_END] = cuts[:-1], cuts[1:]
    return np.concatenate([said[old], answers])[order]


@dataclass
class _Coder(Coder):
    """What depends on one row alone, and cannot be coded, becomes a column beforehand (``computed``)."""

    computed: Callable[[int, Expr], tuple[int, Type]] = lambda role, expr: (0, Type.NULL)

    def _expr(self, e: Expr) -> tuple[Code, str]:
        try:
            return super()._expr(e)
        except Unsupported:
            roles = _roles(e)
            if len(roles) != 1:
                raise
            role = roles.pop()
            at, type = self.computed(role, e)
            return [(stackcode.REF_FLOAT if type is Type.FLOAT else stackcode.REF, role, at)], KINDS[type]


def _roles(e: Expr) -> set[int]:
    """The roles that an expression speaks of; -1: the candidate."""
    if isinstance(e, Ref):
        return {-1 if e.scope is None else int(e.scope)}
    below = {role for child in e.children for role in _roles(child)}
    if isinstance(e, Windowed):
        ends = {e.interval.role} if isinstance(e.interval, Within) else {e.interval.early, e.interval.late}
        return ends | {k.role for k in e.keys} | below - {-1}
    return below


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
    """The attributes of a type that others can read, by a rule that defines it; none by other rules."""
    return [name for name, _, type in p.outputs if type is not Type.RECORD] if p.rules[0].output == type else []


def _matrix(rows: object, width: int) -> np.ndarray:
    """int64 (n, width), also for no rows."""
    return np.array(rows, np.int64).reshape(-1, width)


# -- the rows of all types in one pool ---------------------------------------------------------------------------------
@dataclass
class Region:
    """The rows of one type in the pool: those of its table from ``base`` on, then (fed-back types) those from outside.

    ``names``: its columns in the pool, in order; ``made``: of these the ones that are computed of a row (None: an
    overflow is in the way).
    """

    rows: Rows
    outside: Rows | None
    base: int
    names: list[str] = field(default_factory=list)
    made: dict[str, Column | None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows) + (0 if self.outside is None else len(self.outside))

    @property
    def came(self) -> np.ndarray:
        """The pool's rows that come from outside in this call."""
        first = self.base + len(self.rows)
        return np.arange(first, first + (0 if self.outside is None else len(self.outside)))

    def type(self, name: str) -> Type:
        return (self.made.get(name) or self.rows.column(name)).type

    def column(self, name: str) -> Column:
        column = self.made.get(name) or self.rows.column(name)
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
                values[part, at], known[part, at] = self.raw(region.column(name))
        return values, known, time

    def raw(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        """A column as words of the pool, and which of them are known."""
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
        if type is Type.NULL:
            return Column.nulls(type, len(values))
        if type is Type.STRING:
            texts = pa.array(list(self._texts), pa.string())
            taken = texts.take(pa.array(values, mask=~known)) if len(texts) else pa.nulls(len(values), pa.string())
            return Column.of(taken, type)
        if type is Type.FLOAT:
            return Column(type, np.where(known, values.view(np.float64), 0.0), valid)
        return Column(type, values.astype(np.bool_) if type is Type.BOOL else values.copy(), valid)
