"""Random EPL programs that nets can hold: the core, and the fragment beyond it, with rows that have no nulls.

As in :mod:`tests.generators.random_epl`; what has no translation for another reason (``every`` in ``every``, a branch
whose age only the run tells) may be among them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.generators.random_epl import _Program as Program
from tests.generators.random_epl_pattern import ATOM, GUARDED, PatternWriter, Piece, Tag
from tests.textcases.epl import EplCase

from occurs.model.occurrence import Occurrence


def random_core_rows(rng: random.Random) -> EplCase:
    """A case of the core without nulls."""
    return without_nulls(Program(rng, core=True).case(), rng)


def random_extended(rng: random.Random) -> EplCase:
    """A case with ``and``, ``or``, ``not`` and ``timer:within``, too, without nulls."""
    return without_nulls(_Program(rng, core=True).case(), rng)


def without_nulls(case: EplCase, rng: random.Random) -> EplCase:
    """The case with a value wherever a row has none."""

    def filled(e: Occurrence) -> Occurrence:
        chosen = {"k": rng.choice("pq"), "v": rng.randint(0, 3)}
        return replace(e, attributes={n: chosen[n] if v is None else v for n, v in e.attributes.items()})

    return replace(case, events=tuple(filled(e) for e in case.events))


class _Program(Program):
    def writer(self, types: list[str]) -> PatternWriter:
        return _Writer(self.rng, types, core=True, filters=self.rng.randint(2, 5))


class _Writer(PatternWriter):
    def any(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        if depth == 0 or self.left <= 1:
            return self.filter(scope)
        choices: list[tuple[float, Callable[[], Piece]]] = [
            (1.5, lambda: self.filter(scope)),
            (3, lambda: self.every(depth, scope, every)),
            (3, lambda: self.chain(depth, scope, every=every)),
            (2.5, lambda: self.both(depth, scope, every)),
            (2.5, lambda: self.either(depth, scope, every)),
            (2.5, lambda: self.guard(depth, scope, every)),
        ]
        (made,) = self.rng.choices([c for _, c in choices], [w for w, _ in choices])
        return made()

    def guard(self, depth: int, scope: list[Tag], every: bool) -> Piece:
        p = self.any(depth - 1, scope, every)
        return Piece(f"{p.within(ATOM)} where timer:within({self.duration()})", GUARDED, p.tags, p.never)
