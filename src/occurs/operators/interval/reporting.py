"""The rows of several definitions, out of what a kernel found (phenesthe.md, section 5; common.md, section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from occurs.model.types import Type
from occurs.operators.interval.answers import Answer
from occurs.operators.interval.reported import Layout
from occurs.operators.interval.signals import Call, Intervals
from occurs.operators.kernels.reporting import NUMBER, TEXT
from occurs.operators.rows import Rows

_KINDS = {Type.INT: NUMBER, Type.STRING: TEXT}
_NO_HEADS = np.zeros((0, 3), np.int64)


@dataclass(frozen=True)
class Reports:
    """The answers of definitions.  ``able``: whether the kernel can make all their columns, which it cannot of others
    than variables of ints and texts; ``heads``: these columns, as it wants them."""

    answers: tuple[Answer, ...]
    able: bool
    heads: np.ndarray
    lasting: np.ndarray
    layout: Layout

    @staticmethod
    def of(answers: Sequence[Answer]) -> Reports:
        """Answers in the order of the definitions."""
        heads, able = [], True
        for number, answer in enumerate(answers):
            for attribute in answer.head:
                if isinstance(attribute.value, str) and attribute.type in _KINDS:
                    heads.append((number, answer.variables.index(attribute.value), _KINDS[attribute.type]))
                else:
                    able = False
        lasting = np.array([a.lasting for a in answers], np.int64)
        made = np.array(heads, np.int64).reshape(-1, 3) if able else _NO_HEADS
        return Reports(tuple(answers), able, made, lasting, Layout(tuple(answers)))

    def of_blocks(self, found: np.ndarray, counts: np.ndarray, call: Call) -> Mapping[str, Rows]:
        """Per definition the rows of its block, which are in no order."""
        at, out = 0, {}
        for answer, n in zip(self.answers, counts.tolist()):
            width = len(answer.variables)
            end = at + (width + 2) * n
            block = Intervals.of(found[at:end].reshape(width + 2, n))
            out[answer.name] = answer.rows(block, call)
            at = end
        return out
