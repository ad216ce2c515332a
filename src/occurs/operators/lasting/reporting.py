"""The rows of several definitions, out of what a kernel found (phenesthe.md, section 5; common.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels.reporting import NUMBER, TEXT
from occurs.operators.lasting.answers import Answer
from occurs.operators.lasting.signals import Call, Intervals
from occurs.operators.lasting.values import Values
from occurs.operators.rows import Rows

_KINDS = {Type.INT: NUMBER, Type.STRING: TEXT}
_NO_HEADS = np.zeros((0, 3), np.int64)


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


@dataclass(frozen=True)
class Reports:
    """The answers of definitions.  ``heads``: their columns, as the kernel wants them; none if it cannot make some of
    them: others than variables of ints and texts."""

    answers: tuple[Answer, ...]
    heads: np.ndarray
    lasting: np.ndarray

    @staticmethod
    def of(answers: Sequence[Answer]) -> Reports:
        """Answers in the order of the definitions."""
        heads = []
        for number, answer in enumerate(answers):
            for attribute in answer.head:
                if not isinstance(attribute.value, str) or attribute.type not in _KINDS:
                    return Reports(tuple(answers), _NO_HEADS, np.zeros(len(answers), np.int64))
                heads.append((number, answer.variables.index(attribute.value), _KINDS[attribute.type]))
        lasting = np.array([a.lasting for a in answers], np.int64)
        return Reports(tuple(answers), np.array(heads, np.int64).reshape(-1, 3), lasting)

    def whole(self, values: Values) -> bool:
        """Whether the kernel makes the columns."""
        return values.all_ints() and (len(self.heads) > 0 or not any(a.head for a in self.answers))

    def rows(self, found: np.ndarray, offsets: np.ndarray, data: np.ndarray, counts: np.ndarray) -> list[Rows]:
        """Per definition the rows that the kernel has put in order (see :func:`reporting.reported`), with all texts as
        Arrow has them.  Raises ArrowInvalid for 2 GB of texts."""
        if not len(offsets):
            raise pa.ArrowInvalid("texts of 2 GB or more in one column")
        whole = pa.array(found)
        texts = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
        at = text = 0
        out = []
        for answer, n in zip(self.answers, counts.tolist()):
            if not n:
                out.append(answer.nothing())
                continue
            time, arrays = found[at : at + n], {"time": whole.slice(at, n)}
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
            out.append(Rows(answer.name, time, _Columns(answer, arrays), cache={"arrays": arrays}))
        return out

    def of_blocks(self, found: np.ndarray, counts: np.ndarray, call: Call) -> list[Rows]:
        """Per definition the rows of its block, which are in no order."""
        at, out = 0, []
        for answer, n in zip(self.answers, counts.tolist()):
            width = len(answer.variables)
            end = at + (width + 2) * n
            block = Intervals.of(found[at:end].reshape(width + 2, n))
            out.append(answer.rows(block, call))
            at = end
        return out
