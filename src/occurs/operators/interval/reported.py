"""What a kernel has reported of several definitions, made into rows and columns when they are asked for
(phenesthe.md, section 5; common.md, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.types import Type
from occurs.operators.blocks import Block, Out
from occurs.operators.columns import Column
from occurs.operators.interval.signals import OPEN
from occurs.operators.merging import ordered
from occurs.operators.rows import Rows

if TYPE_CHECKING:
    from occurs.operators.interval.answers import Answer


@dataclass(frozen=True)
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


class Reported(Block):
    """The rows of one call, output by output, each in its order.

    ``counts``: int64 (definitions), how many rows each has.  ``numbers``: int64, ``texts``: offsets and bytes; all
    columns as the ``layout`` has them.
    """

    __slots__ = ("_made", "counts", "layout", "numbers", "texts")

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

    @property
    def cuts(self) -> np.ndarray:  # type: ignore[override]
        """Where the rows of every output begin."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def __len__(self) -> int:
        return int(self.counts.sum())

    def only(self, number: int) -> tuple[np.ndarray, Mapping[str, Column]]:
        if self._made is None:
            self._made = list(self._parts())
        return self._made[number]

    def _parts(self) -> Iterator[tuple[np.ndarray, Mapping[str, Column]]]:
        """The times and columns of every output."""
        whole, texts = pa.array(self.numbers), _strings(*self.texts)
        at = text = 0
        for answer, n in zip(self.layout.answers, self.counts.tolist()):
            time, arrays = self.numbers[at : at + n], {}
            at += n
            if answer.lasting:
                arrays["end"] = whole.slice(at, n)
                at += n
            for attribute in answer.head:
                if attribute.type is Type.STRING:
                    arrays[attribute.name] = texts.slice(text, n)
                    text += n
                else:
                    arrays[attribute.name] = whole.slice(at, n)
                    at += n
            yield time, _Columns(answer, arrays)

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
    """The rows of many calls."""

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
            numbers["end"] = np.concatenate([self._numbers[at], *map(_ends, others)])
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


def _ends(rows: Rows | Block) -> np.ndarray:
    """When rows end, ``OPEN`` if they do not."""
    column = rows.columns["end"]
    return column.values if column.valid is None else np.where(column.valid, column.values, OPEN)


def _bytes(layout: Layout, call: Mapping[str, Rows | Block]) -> int:
    """So many bytes, or fewer, texts have in a call."""
    heads = [(answer.name, a.name) for answer in layout.answers for a in answer.head if a.type is Type.STRING]
    return sum(int(call[type].columns[name].arrow.nbytes) for type, name in heads)


def _strings(offsets: np.ndarray, data: np.ndarray) -> pa.StringArray:
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _joined(texts: Sequence[tuple[np.ndarray, np.ndarray]]) -> pa.StringArray:
    """Texts behind one another, less than 2 GB."""
    data = np.concatenate([d for _, d in texts])
    sizes = np.array([len(d) for _, d in texts])
    counts = [len(o) - 1 for o, _ in texts]
    offsets = np.concatenate([o[:-1] for o, _ in texts]) + np.repeat(np.cumsum(sizes) - sizes, counts)
    return _strings(np.append(offsets, len(data)).astype(np.int32), data)


def _begins(sizes: np.ndarray) -> np.ndarray:
    """Where each piece begins if all lie behind one another, row after row."""
    return (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)


class _Columns(Mapping[str, Column]):
    """The columns of an answer, made of Arrow's when they are asked for."""

    def __init__(self, answer: Answer, arrays: Mapping[str, pa.Array]) -> None:
        self._answer, self._arrays = answer, arrays

    def __getitem__(self, name: str) -> Column:
        types = {a.name: a.type for a in self._answer.head} | ({"end": Type.TIMESTAMP} if self._answer.lasting else {})
        return Column.of(self._arrays[name], types[name])

    def __iter__(self) -> Iterator[str]:
        yield from (a.name for a in self._answer.head)
        if self._answer.lasting:
            yield "end"

    def __len__(self) -> int:
        return len(self._answer.head) + self._answer.lasting
