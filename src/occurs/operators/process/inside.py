"""Running an inner processor: many copies of it at once, one trace per copy (pipes.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from occurs.operators.process.columns import Col
from occurs.operators.process.fusing import fused
from occurs.operators.process.items import Call, Ends, Items, Variable
from occurs.operators.process.network import Network
from occurs.operators.process.operator import Setting
from occurs.operators.process.state import State
from occurs.operators.process.tree import Inner, Placeholder, Processor


class Inside:
    """An inner processor φ."""

    def __init__(self, inner: Inner, setting: Setting) -> None:
        self.network = Network(fused(inner.outputs), replace(setting, inner=True))

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        """New items of its traces."""

        def source(processor: Processor) -> Items:
            assert isinstance(processor, Placeholder)
            return given[processor.index]

        return self.network.advance(state, source, call)

    def complete(
        self,
        values: Sequence[Col],
        step: np.ndarray,
        time: np.ndarray,
        code: np.ndarray,
        ends: Ends,
        variables: Mapping[str, Variable],
    ) -> list[Items]:
        """Fresh copies on complete traces; the codes of ``ends`` are 0, 1 .. up to the number of copies.

        ``step``, ``time`` (n): of the items, also of those at which traces end.
        """
        steps, at = np.unique(step, return_index=True)
        call = Call(0, time[at], len(ends), variables, steps)
        given = [Items(v, step, step, code, ends) for v in values]
        return self.advance(self.network.fresh(), given, call)


def of_outer(variables: Mapping[str, Variable], outer: np.ndarray) -> dict[str, Variable]:
    """The variables of the traces around, for copies: copy i belongs to the trace ``outer[i]``."""
    return {n: partial(_at, v, outer) for n, v in variables.items()}


def _at(variable: Variable, outer: np.ndarray, codes: np.ndarray) -> Col:
    return variable(outer[codes])
