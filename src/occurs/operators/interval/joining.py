"""Nets that run in one call of a kernel (phenesthe.md, section 5): which can, their program, and their state.

What a call costs apart from its rows is the same for one operator and for many.  So the nets that are made of instants
of rows, maximal ranges, starts, ends, intersections and relations alone, and read nothing but rows and one another, are
one program of :mod:`occurs.operators.kernels.network_step`.  None of these is behind the frontier but where rows of the
same binding make it so: nothing changes for a binding of which nothing comes.

Columns of input are read where they are (:mod:`occurs.operators.kernels.reading`).  What the kernel has reported of
several definitions is made into rows and columns when these are asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.kernel import Arrays
from occurs.model.types import Type
from occurs.operators.blocks import Block, Out
from occurs.operators.columns import Column
from occurs.operators.contract import Call
from occurs.operators.interval.answers import Answer
from occurs.operators.interval.atoms import Picked, Scan, ends_of
from occurs.operators.interval.bindings import places
from occurs.operators.interval.network import State
from occurs.operators.interval.points import Ends, Starts
from occurs.operators.interval.ranges import MaximalRange
from occurs.operators.interval.relations import Related
from occurs.operators.interval.sets import Common
from occurs.operators.interval.signals import OPEN, Held, Instants, Intervals
from occurs.operators.kernels import network_step as kernel
from occurs.operators.kernels.reading import NUMBERS, PLAIN, TEXTS
from occurs.operators.kernels.reporting import NUMBER, TEXT
from occurs.operators.merging import ordered
from occurs.operators.rows import Part, Rows

if TYPE_CHECKING:
    from occurs.operators.interval.operator import Formula


# --- what a kernel reads ----------------------------------------------------------------------------------------------


#: the rows of an atom of which nothing comes
_NOTHING = (0, 0)


class Sources:
    """Shows the kernel the instants of some atoms, call by call.

    ``flat``: int64, per atom the sources of its columns and of its times, those of the last call with rows; ``spans``:
    int64, per atom its first row and how many there are from there on.
    """

    def __init__(self, scans: Sequence[tuple[str, Scan]]) -> None:
        """``scans``: the types of which the rows come, and the atoms over them."""
        self._scans = scans
        ends = np.cumsum([0, *(3 * (len(scan.arguments) + 1) for _, scan in scans)]).tolist()
        self._places = [slice(i, j) for i, j in itertools.pairwise(ends)]
        self.flat = np.zeros(ends[-1], np.int64)
        self.spans = np.zeros(2 * len(scans), np.int64)
        #: per atom whose columns these are: what must last while they are read
        self._of: list[object] = [None] * len(scans)
        self._columns: list[Sequence[Column | None]] = [()] * len(scans)

    def take(self, call: Call, own: Instants) -> bool:
        """The new rows of a call.  Whether there are any."""
        spans: list[int] = []
        some = False
        part = call.rows if isinstance(call.rows, Part) else None
        for number, (name, scan) in enumerate(self._scans):
            if part is None:
                whole, first, stop = call.span(name)
            else:  # a call may have few rows: look at them without a call of a function
                whole, (first, stop) = part.of.get(name), part.spans.get(name, (0, 0))
            if whole is None or first == stop:
                spans += _NOTHING
                continue
            if not scan.conditions and (self._of[number] is whole or self._known(number, whole, scan.arguments)):
                spans += (first, stop - first)
                some = True
                continue
            codes, time = scan.instants(call.rows[name], own)
            arrays = [np.ascontiguousarray(c, np.int64) for c in (*codes, time)]
            self.flat[self._places[number]] = [n for c in arrays for n in (PLAIN, c.ctypes.data, 0)]
            self._of[number], self._columns[number] = arrays, [None] * len(arrays)
            spans += (0, len(time))
            some = some or len(time) > 0
        self.spans[:] = spans
        return some

    def _known(self, number: int, rows: Rows, attributes: tuple[str, ...]) -> bool:
        """Takes the sources of an atom from rows, if they can be read in place."""
        found = rows.cache.get(attributes)
        if found is None:
            found = rows.cache[attributes] = _found(rows, attributes)
        if found[0]:
            self.flat[self._places[number]] = found[0]
            self._of[number], self._columns[number] = rows, found[1]
        return bool(found[0])

    def learn(self, unknown: np.ndarray, call: Instants) -> None:
        """Gives codes to values that have none, see :func:`occurs.operators.kernels.reading.read_all`."""
        kind, source, value = unknown.reshape(-1, 3).T
        numbers = value[kind == NUMBERS]
        if len(numbers):
            call.values.encode(Column(Type.INT, numbers, None))
        columns = [c for number, place in enumerate(self._places) for c in self._of_atom(number, place)]
        for number in np.unique(source[kind == TEXTS]).tolist():
            column = columns[number]
            assert column is not None
            call.values.encode(column.take(value[source == number]))

    def _of_atom(self, number: int, place: slice) -> Sequence[Column | None]:
        """A column for every source of an atom."""
        return self._columns[number] or [None] * ((place.stop - place.start) // 3)


def _found(rows: Rows, attributes: tuple[str, ...]) -> tuple[tuple[int, ...], list[Column | None]]:
    """The sources of attributes and of the time, and their columns; none if some are neither ints nor texts, or have
    nulls."""
    if not _plain(rows.time):
        return (), []
    columns, out = [rows.column(name) for name in attributes], list[int]()
    for column in columns:
        if column.type is Type.INT and column.valid is None and _plain(column.values):
            out += NUMBERS, column.values.ctypes.data, 0
        elif column.type is Type.STRING and not column.arrow.null_count:
            _, offsets, text = column.arrow.buffers()
            if offsets is None:
                return (), []
            out += TEXTS, offsets.address + 4 * column.arrow.offset, 0 if text is None else text.address
        else:
            return (), []
    return (*out, PLAIN, rows.time.ctypes.data, 0), [*columns, None]


def _plain(values: np.ndarray) -> bool:
    return values.dtype == np.int64 and bool(values.flags.c_contiguous)


# --- what a kernel reports --------------------------------------------------------------------------------------------


_KINDS = {Type.INT: NUMBER, Type.STRING: TEXT}


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the columns of definitions are: of each one its time, its end if it lasts, and those attributes that are
    numbers; and, apart from these, those that are texts; a column after the other, a definition after the other."""

    answers: tuple[Answer, ...]

    @cached_property
    def at(self) -> dict[str, int]:
        """The number of each definition."""
        return {answer.name: number for number, answer in enumerate(self.answers)}

    @cached_property
    def widths(self) -> np.ndarray:
        """int64 (2, definitions): how many columns of numbers and of texts each one has."""
        texts = [sum(a.type is Type.STRING for a in answer.head) for answer in self.answers]
        numbers = [1 + answer.lasting + len(answer.head) - n for answer, n in zip(self.answers, texts)]
        return np.array([numbers, texts], np.int64)

    @cached_property
    def lasting(self) -> np.ndarray:
        """int64 (definitions): which have ends."""
        return np.array([answer.lasting for answer in self.answers], np.int64)

    @cached_property
    def able(self) -> bool:
        """Whether the kernel can make all columns: only those that are variables of ints and texts."""
        return all(isinstance(a.value, str) and a.type in _KINDS for answer in self.answers for a in answer.head)

    @cached_property
    def heads(self) -> np.ndarray:
        """int64 (columns, 3): the columns as the kernel wants them; none if it cannot make all."""
        heads = [
            (number, answer.variables.index(str(a.value)), _KINDS[a.type])
            for number, answer in enumerate(self.answers if self.able else ())
            for a in answer.head
        ]
        return np.array(heads, np.int64).reshape(-1, 3)

    def of_blocks(self, found: np.ndarray, counts: np.ndarray, call: Instants) -> Mapping[str, Rows]:
        """Per definition the rows of its block, which are in no order."""
        at, out = 0, {}
        for answer, n in zip(self.answers, counts.tolist()):
            width = len(answer.variables)
            end = at + (width + 2) * n
            block = Intervals.of(found[at:end].reshape(width + 2, n))
            out[answer.name] = answer.rows(block, call)
            at = end
        return out


class Reported(Block):
    """The rows of one call, output by output, each in its order.

    ``counts``: int64 (definitions), how many rows each has.  ``numbers``: int64, ``texts``: offsets and bytes; all
    columns as the ``layout`` has them.
    """

    __slots__ = ("_cuts", "_made", "counts", "layout", "numbers", "texts")

    def __init__(
        self, layout: Layout, outs: Sequence[Out], counts: np.ndarray, numbers: np.ndarray, offsets: np.ndarray,
        data: np.ndarray,
    ) -> None:  # fmt: skip
        """``offsets``, ``data``: the texts.  Raises ArrowInvalid for 2 GB of them, of which there are no offsets."""
        if not len(offsets):
            raise pa.ArrowInvalid("a column has 2 GB of text or more")
        self.layout, self.outs, self.counts, self.numbers, self.texts = layout, outs, counts, numbers, (offsets, data)
        self.at = self.identity = self.reasons = self.labels = self.final = None
        self._made: list[tuple[np.ndarray, Mapping[str, Column]]] | None = None
        self._cuts: np.ndarray | None = None

    @property
    def cuts(self) -> np.ndarray:  # type: ignore[override]
        """Where the rows of every output begin."""
        if self._cuts is None:
            self._cuts = np.concatenate(([0], np.cumsum(self.counts)))
        return self._cuts

    def __len__(self) -> int:
        return int(self.counts.sum())

    def size_of(self, number: int) -> int:
        return int(self.counts[number])

    def filled(self) -> Sequence[int]:
        filled: list[int] = self.counts.nonzero()[0].tolist()
        return filled

    def rows_of(self, number: int) -> slice:
        start = int(self.counts[:number].sum())
        return slice(start, start + int(self.counts[number]))

    def only(self, number: int) -> tuple[np.ndarray, Mapping[str, Column]]:
        if self._made is None:
            self._made = list(self._parts())
        return self._made[number]

    def _parts(self) -> Iterator[tuple[np.ndarray, Mapping[str, Column]]]:
        """The times and columns of every output."""
        texts = _strings(*self.texts)
        at = text = 0
        for answer, n in zip(self.layout.answers, self.counts.tolist()):
            time, columns = self.numbers[at : at + n], {}
            at += n
            if answer.lasting:
                columns["end"] = Column(Type.TIMESTAMP, self.numbers[at : at + n], None)
                at += n
            for attribute in answer.head:
                if attribute.type is Type.STRING:
                    columns[attribute.name] = Column(Type.STRING, None, None, texts.slice(text, n))
                    text += n
                else:
                    columns[attribute.name] = Column(attribute.type, self.numbers[at : at + n], None)
                    at += n
            yield time, columns

    @classmethod
    def gathered(cls, calls: Sequence[Sequence[Block]]) -> Mapping[str, Callable[[], Mapping[str, pa.Array]]]:
        """The rows of calls in which the definitions of one layout ran together, or one by one; of none if one array
        cannot hold the texts."""
        made = [b for call in calls for b in call if isinstance(b, Reported)]
        layout = made[0].layout
        if any(b.layout is not layout for b in made):
            return {}
        others: list[Mapping[str, Rows | Block]] = []
        for call in calls:
            alone = {b.outs[0].type: b for b in call if type(b) is Block and b.outs[0].type in layout.at}
            if alone:
                others.append({a.name: alone.get(a.name) or a.nothing() for a in layout.answers})
        if sum(len(b.texts[1]) for b in made) + sum(_bytes(layout, o) for o in others) >= 1 << 31:
            return {}
        whole = Gathered(made, others)
        return {type: partial(whole.arrays, type) for type in layout.at}


class Gathered:
    """The rows of many calls put together, type by type."""

    def __init__(self, calls: Sequence[Reported], others: Sequence[Mapping[str, Rows | Block]]) -> None:
        """``calls``: of the same definitions, at least one; ``others``: calls that have the same types of rows."""
        self.layout = calls[0].layout
        self._others = others
        self._counts = np.array([c.counts for c in calls])
        self._numbers = np.concatenate([c.numbers for c in calls])
        self._places = [_begins(self._counts * width) for width in self.layout.widths]
        texts = [_joined([c.texts for c in calls])]
        #: where the texts of a column begin that are not in the calls
        self._begins: dict[tuple[str, str], int] = {}
        count = len(texts[0])
        for answer in self.layout.answers:
            for attribute in answer.head:
                if attribute.type is Type.STRING:
                    self._begins[answer.name, attribute.name] = count
                    texts += [o[answer.name].columns[attribute.name].arrow for o in others]
                    count += sum(len(o[answer.name]) for o in others)
        self._texts = pa.concat_arrays(texts)

    def arrays(self, type: str) -> dict[str, pa.Array]:
        """Time and columns of a definition, in the order of (time, end, values); what has no end is later."""
        number = self.layout.at[type]
        answer, n = self.layout.answers[number], self._counts[:, number]
        others = [o[type] for o in self._others]
        total, more = int(n.sum()), sum(map(len, others))
        within = np.arange(total) - np.repeat(np.cumsum(n) - n, n)
        at, step = np.repeat(self._places[0][:, number], n) + within, np.repeat(n, n)
        numbers = {"time": np.concatenate([self._numbers[at], *(o.time for o in others)])}
        if answer.lasting:
            at += step
            numbers["end"] = np.concatenate([self._numbers[at], *map(ends_of, others)])
        texts = {}
        text = np.repeat(self._places[1][:, number], n) + within
        for attribute in answer.head:
            if attribute.type is Type.STRING:
                begin = self._begins[type, attribute.name]
                texts[attribute.name] = np.concatenate([text, np.arange(begin, begin + more)])
                text = text + step
            else:
                at += step
                values = [o.columns[attribute.name].values for o in others]
                numbers[attribute.name] = np.concatenate([self._numbers[at], *values])
        order = self._order(answer, numbers, texts)
        out = {}
        for name, column in numbers.items():
            taken = column[order]
            out[name] = pa.array(taken, mask=taken == OPEN) if name == "end" and more else pa.array(taken)
        for name, at in texts.items():
            out[name] = self._texts.take(pa.array(at[order]))
        return out

    def _order(self, answer: Answer, numbers: dict[str, np.ndarray], texts: dict[str, np.ndarray]) -> np.ndarray:
        """Row numbers in the order of (time, end, values)."""
        # mostly time, end and numbers before all texts tell all rows apart
        keys = [numbers["time"], *([numbers["end"]] if answer.lasting else [])]
        for attribute in answer.head:
            if attribute.name in texts:
                break
            keys.append(numbers[attribute.name])
        by, tied = ordered(keys)
        if tied.any():
            rows = by[tied]
            columns = [pa.array(key[rows]) for key in keys]
            for name in [a.name for a in answer.head][len(keys) - 1 - answer.lasting :]:
                if name in texts:
                    columns.append(self._texts.take(pa.array(texts[name][rows])))
                else:
                    columns.append(pa.array(numbers[name][rows]))
            table = pa.table(columns, names=[str(i) for i in range(len(columns))])
            again = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names])
            by[tied] = rows[again.to_numpy()]
        return by


def _bytes(layout: Layout, call: Mapping[str, Rows | Block]) -> int:
    """An upper bound of the bytes of all texts in a call."""
    heads = [(answer.name, a.name) for answer in layout.answers for a in answer.head if a.type is Type.STRING]
    return sum(int(call[type].columns[name].arrow.nbytes) for type, name in heads)


def _strings(offsets: np.ndarray, data: np.ndarray) -> pa.StringArray:
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _joined(texts: Sequence[tuple[np.ndarray, np.ndarray]]) -> pa.StringArray:
    """Texts of several calls put together, less than 2 GB."""
    data = np.concatenate([d for _, d in texts])
    sizes = np.array([len(d) for _, d in texts])
    counts = [len(o) - 1 for o, _ in texts]
    offsets = np.concatenate([o[:-1] for o, _ in texts]) + np.repeat(np.cumsum(sizes) - sizes, counts)
    return _strings(np.append(offsets, len(data)).astype(np.int32), data)


def _begins(sizes: np.ndarray) -> np.ndarray:
    """Where each piece begins if all lie behind one another, row after row."""
    return (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)


# --- programs ---------------------------------------------------------------------------------------------------------


#: (definition, variable): what is the same in all definitions that read it
_Variable = tuple[int, str]
_NONE = np.zeros((2, 0), np.int64)
#: the bit of those that report what a node gives
_REPORTED = 1 << 3


@dataclass(frozen=True)
class Table:
    """A table of state: ``node`` of the ``definition`` at this place, its ``name`` and columns."""

    definition: int
    node: int
    name: str
    columns: tuple[str, ...]


def programs(definitions: Sequence[Formula], given: frozenset[str]) -> list[Joined]:
    """The programs of those definitions that can be joined; ``given``: types of which rows come in and that nothing
    derives.  Definitions are in an order in which each comes behind those it reads; what has nothing to do with one
    another is in programs of their own."""
    left = {d.type: d for d in definitions}
    able = {t for t, d in left.items() if _able(d)}
    while True:  # what others read cannot be in a program without them, and the other way round
        reads = {t: {s for s in left[t].net.sources.values() if s not in given} for t in able}
        others = {s for t, d in left.items() if t not in able for s in d.net.sources.values()}
        fine = {t for t in able if reads[t] <= able and t not in others and _read(left[t], left)}
        if fine == able:
            break
        able = fine
    group = {t: t for t in able}

    def root(t: str) -> str:
        while group[t] != t:
            t = group[t]
        return t

    for t in able:
        for s in reads[t]:
            group[root(s)] = root(t)
    parts: dict[str, list[Formula]] = {}
    for d in definitions:
        if d.type in able:
            parts.setdefault(root(d.type), []).append(d)
    return [Joined.of(part) for part in parts.values()]


def _able(definition: Formula) -> bool:
    """Whether a program can run a definition: it has such operators alone, and only its final rows are asked for."""
    net = definition.net
    if definition.born is not None or definition.out is None:
        return False
    if net.begun is not None or net.remembers or net.report != net.output:
        return False
    if net.measures is not None:
        return False
    for node in net.nodes:
        if isinstance(node, Scan):
            if node.sort != "event":
                return False
        elif isinstance(node, Picked):
            if node.places != node.operand or node.equal or node.never:
                return False
        elif not isinstance(node, MaximalRange | Starts | Ends | Common | Related):
            return False
    return True


def _read(definition: Formula, others: Mapping[str, Formula]) -> bool:
    """Whether a definition knows the variables of what it reads, where that lags, in the same order."""
    net = definition.net
    for number, name in net.sources.items():
        node = net.nodes[number]
        if isinstance(node, Picked) and others[name].sort == "dynamic" and node.variables != node.operand:
            return False
    return True


@dataclass(frozen=True, eq=False)
class Joined:
    """Definitions joined in a program."""

    definitions: tuple[Formula, ...]
    tables: tuple[Table, ...]
    scans: tuple[tuple[str, Scan], ...]
    program: np.ndarray
    places: np.ndarray
    #: of the key, per table
    columns: np.ndarray
    outputs: np.ndarray
    layout: Layout

    @staticmethod
    def of(definitions: Sequence[Formula]) -> Joined:
        """``definitions``: each behind those it reads."""
        made = _Building(definitions)
        return Joined(
            tuple(definitions),
            tuple(made.tables),
            tuple(made.scans),
            np.array(made.rows, np.int64),
            _padded(made.places),
            np.array(made.columns(), np.int64),
            np.array(made.outputs, np.int64),
            Layout(tuple(d.answer for d in definitions)),
        )

    @cached_property
    def _sources(self) -> Sources:
        """Of what comes in, in the call that is being made."""
        return Sources(self.scans)

    @cached_property
    def outs(self) -> tuple[Out, ...]:
        """Of the definitions."""
        return tuple(d.out for d in self.definitions if d.out is not None)

    def advance(self, state: JoinedState, call: Call, own: Instants) -> list[Block]:
        """One call that is not the last one: the rows that became final; the state is changed in place."""
        if not self._sources.take(call, own):
            return []
        whole = self.layout.able and own.values.all_ints()
        found, offsets, data, sizes = self._run(state, own, whole)
        if not len(sizes):  # values are new, and there was no room for them
            self._sources.learn(found, own)
            found, offsets, data, sizes = self._run(state, own, whole)
        if not whole:
            rows = self.layout.of_blocks(found, sizes, own)
            return [d.block(rows[d.type], own) for d in self.definitions if len(rows[d.type])]
        block = Reported(self.layout, self.outs, sizes, found, offsets, data)
        if not call.labelled:
            return [block]
        parts = zip(self.definitions, map(block.only, range(len(self.outs))), strict=True)
        return [d.block(Rows(d.type, time, columns), own) for d, (time, columns) in parts if len(time)]

    def _run(
        self, state: JoinedState, call: Instants, whole: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The kernel."""
        layout, sources = self.layout, self._sources
        return kernel.advance(
            self.program, self.places, self.columns, state.blocks, state.sizes, state.versions, sources.spans,
            sources.flat, self.outputs, call.since, call.frontier, layout.heads, layout.lasting, whole,
            *call.values.dictionaries(),
        )  # fmt: skip


class _Building:
    """Puts the nodes of definitions one behind the other."""

    def __init__(self, definitions: Sequence[Formula]) -> None:
        self.rows: list[list[int]] = []
        self.places: list[np.ndarray] = []
        self.tables: list[Table] = []
        self.scans: list[tuple[str, Scan]] = []
        self.outputs: list[int] = []
        #: per node and per table the variables of its columns
        self._variables: list[list[_Variable]] = []
        self._held: list[list[_Variable]] = []
        self._same: dict[_Variable, _Variable] = {}
        self._known: dict[tuple[type, int], int] = {}
        at = {d.type: number for number, d in enumerate(definitions)}
        for number, d in enumerate(definitions):
            self._definition(number, d, at, definitions)
        self._keys(definitions)

    def _definition(self, number: int, d: Formula, at: Mapping[str, int], others: Sequence[Formula]) -> None:
        nodes: list[int] = []
        for local, node in enumerate(d.net.nodes):
            inputs = [nodes[i] for i in d.net.inputs[local]]
            variables = [(number, v) for v in node.variables]
            if isinstance(node, Picked):
                source = at[d.net.sources[local]]
                for mine, theirs in zip(node.variables, others[source].net.variables, strict=True):
                    self._same[self.root((number, mine))] = self.root((source, theirs))
                nodes.append(self.outputs[source])
            elif isinstance(node, Scan):
                self.scans.append((d.net.sources[local], node))
                nodes.append(self._node(kernel.POINTS, variables))
            elif isinstance(node, Starts | Ends):
                known = (type(node), inputs[0])
                if known not in self._known:
                    op = kernel.STARTS if isinstance(node, Starts) else kernel.ENDS
                    self._known[known] = self._node(op, variables, inputs)
                nodes.append(self._known[known])
            elif isinstance(node, MaximalRange | Common):
                op = kernel.RANGE if isinstance(node, MaximalRange) else kernel.COMMON
                both = places(node.left, node.right, node.variables)
                nodes.append(self._node(op, variables, inputs, both))
                self._table(number, local, "open", variables, ("start",))
            else:
                assert isinstance(node, Related)
                op = kernel.BEFORE if node.rel == "before" else kernel.BESIDE
                nodes.append(self._node(op, variables, inputs, node.places, node.parameters))
                for name, held in node.fresh().items():
                    self._table(number, local, name, [(number, v) for v in node.tables[name]], tuple(held.columns))
        output = nodes[d.net.output]
        self.rows[output][kernel.READ] |= _REPORTED
        self.outputs.append(output)

    def root(self, variable: _Variable) -> _Variable:
        """What stands for all variables that are the same."""
        while (other := self._same.get(variable, variable)) != variable:
            variable = other
        return variable

    def _node(
        self, op: int, variables: list[_Variable], inputs: Sequence[int] = (), both: np.ndarray = _NONE,
        parameters: tuple[int, int, int] = (0, 0, 0),
    ) -> int:  # fmt: skip
        left, right = (*inputs, *inputs, 0, 0)[:2]
        if op >= kernel.BESIDE:
            phase = 2
        elif op == kernel.POINTS or (op == kernel.RANGE and all(self.rows[i][0] == kernel.POINTS for i in inputs)):
            phase = 0
        else:
            phase = 1
        for i in inputs:
            self.rows[i][kernel.READ] |= 1 << phase
        table = len(self.tables) if op in (kernel.RANGE, kernel.COMMON) or phase == 2 else -1
        self.rows.append([op, left, right, len(variables), phase, 0, -1, table, *parameters])
        self.places.append(both)
        self._variables.append(variables)
        return len(self.rows) - 1

    def _table(
        self, definition: int, node: int, name: str, variables: list[_Variable], columns: tuple[str, ...]
    ) -> None:
        self.tables.append(Table(definition, node, name, columns))
        self._held.append(variables)

    def _keys(self, definitions: Sequence[Formula]) -> None:
        """A key: what all nodes have, under one name in each definition."""
        common: set[_Variable] | None = None
        for variables in (*self._variables, *self._held):
            here = {self.root(v) for v in variables}
            common = here if common is None else common & here
        for number, d in enumerate(definitions):
            names = {(number, v) for node in d.net.nodes for v in node.variables}
            roots = [self.root(v) for v in names]
            common = {v for v in common or () if roots.count(v) == 1}
        self._key = min(common) if common else None
        for row, variables in zip(self.rows, self._variables):
            row[kernel.KEY] = self._column(variables)

    def _column(self, variables: list[_Variable]) -> int:
        roots = [self.root(v) for v in variables]
        return -1 if self._key is None else roots.index(self._key)

    def columns(self) -> list[int]:
        """Of the key, per table."""
        return [self._column(variables) for variables in self._held]


def _padded(places: Sequence[np.ndarray]) -> np.ndarray:
    """The places of variables as kernels take them: int64 (nodes, 2, variables)."""
    out = np.full((len(places), 2, max(p.shape[1] for p in places)), -1, np.int64)
    for node, both in enumerate(places):
        out[node, :, : both.shape[1]] = both
    return out


class JoinedState:
    """What the nets of a program keep, as the kernel has it."""

    def __init__(self, joined: Joined, tables: Sequence[State]) -> None:
        """``tables``: as the net of each definition has them."""
        self.joined = joined
        held = [tables[t.definition][t.node][t.name] for t in joined.tables]
        self.blocks = Arrays("<i8:2C", [h.block.copy() for h in held])
        self.sizes = np.array([len(h) for h in held], np.int64)
        self.versions = np.zeros(len(held), np.int64)
        self._held = held
        self._seen = self.versions.copy()

    def tables(self) -> dict[str, State]:
        """The tables of every definition, as its net has them; such as have not changed are the same as before."""
        found: list[State] = [{} for _ in self.joined.definitions]
        for number, table in enumerate(self.joined.tables):
            if self._seen[number] != self.versions[number]:
                rows = self.blocks[number][:, : self.sizes[number]].copy()
                self._held[number] = Held.of(rows, table.columns)
                self._seen[number] = self.versions[number]
            found[table.definition].setdefault(table.node, {})[table.name] = self._held[number]
        return {d.identity: tables for d, tables in zip(self.joined.definitions, found)}
