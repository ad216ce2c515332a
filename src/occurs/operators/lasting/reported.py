"""What a kernel has reported of several definitions, made into rows and columns when they are asked for
(phenesthe.md, section 5; common.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.rows import Rows

if TYPE_CHECKING:
    from occurs.operators.lasting.answers import Answer


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


class Reported(Mapping[str, Rows]):
    """The rows of one call, in their order.

    ``counts``: int64 (definitions), how many rows each has.  ``numbers``: int64, ``texts``: Arrow's, all columns as the
    ``layout`` says.
    """

    __slots__ = ("_rows", "counts", "layout", "numbers", "texts")

    def __init__(
        self, layout: Layout, counts: np.ndarray, numbers: np.ndarray, offsets: np.ndarray, data: np.ndarray
    ) -> None:
        """``offsets``, ``data``: the texts.  Raises ArrowInvalid for 2 GB of them, of which there are no offsets."""
        if not len(offsets):
            raise pa.ArrowInvalid("texts of 2 GB or more in one column")
        self.layout, self.counts, self.numbers, self.texts = layout, counts, numbers, (offsets, data)
        self._rows: dict[str, Rows] | None = None

    def count(self, type: str) -> int:
        """How many rows of a definition there are."""
        return int(self.counts[self.layout.at[type]])

    def __getitem__(self, type: str) -> Rows:
        if self._rows is None:
            self._rows = dict(self._made())
        return self._rows[type]

    def __contains__(self, type: object) -> bool:
        return type in self.layout.at

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.at)

    def __len__(self) -> int:
        return len(self.layout.at)

    def _made(self) -> Iterator[tuple[str, Rows]]:
        """The rows of every definition."""
        whole, texts = pa.array(self.numbers), _strings(*self.texts)
        at = text = 0
        for answer, n in zip(self.layout.answers, self.counts.tolist()):
            if not n:
                yield answer.name, answer.nothing()
                continue
            time, arrays = self.numbers[at : at + n], {"time": whole.slice(at, n)}
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
            yield answer.name, Rows(answer.name, time, _Columns(answer, arrays), cache={"arrays": arrays})


class Gathered:
    """The rows of many calls."""

    def __init__(self, calls: Sequence[Reported]) -> None:
        """``calls``: of the same definitions, at least one."""
        self.layout = calls[0].layout
        self._counts = np.array([c.counts for c in calls])
        self._numbers = np.concatenate([c.numbers for c in calls])
        self._texts = _joined([c.texts for c in calls])
        self._places = [_begins(self._counts * width) for width in self.layout.widths]

    @staticmethod
    def of(calls: Sequence[Reported]) -> Gathered | None:
        """None if there are none, or such of others, or more texts than one array can have."""
        if not calls or any(c.layout is not calls[0].layout for c in calls):
            return None
        return Gathered(calls) if sum(len(c.texts[1]) for c in calls) < 1 << 31 else None

    def arrays(self, type: str) -> dict[str, pa.Array]:
        """Time and columns of a definition, call after call."""
        number = self.layout.at[type]
        answer, n = self.layout.answers[number], self._counts[:, number]
        total = int(n.sum())
        within = np.arange(total) - np.repeat(np.cumsum(n) - n, n)
        at, step = np.repeat(self._places[0][:, number], n) + within, np.repeat(n, n)
        out = {}
        for name in ("time", "end") if answer.lasting else ("time",):
            out[name] = pa.array(self._numbers[at])
            at += step
        text = np.repeat(self._places[1][:, number], n) + within
        for attribute in answer.head:
            if attribute.type is Type.STRING:
                out[attribute.name] = self._texts.take(pa.array(text))
                text += step
            else:
                out[attribute.name] = pa.array(self._numbers[at])
                at += step
        return out


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
