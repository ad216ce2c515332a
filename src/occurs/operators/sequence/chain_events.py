"""The events of a call as chains look them up: candidates grouped by key, codes of values; shared by many rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from occurs.expr.dialect import EPL
from occurs.expr.evaluate import select
from occurs.expr.tree import Expr, conjunction
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.codes import KeyCodes
from occurs.operators.columns import Column
from occurs.operators.frame import own_column
from occurs.operators.kernels.row_index import group_rows
from occurs.operators.merging import Stream
from occurs.operators.rows import Rows

_ALL = np.zeros(0, np.bool_)
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Candidates:
    """Events that may fit a filter: ``at``, their places in the stream, group by group (``start``: groups + 1) and
    ascending in each.  ``doubtful``: those of which an overflow hides whether they fit, ascending."""

    at: np.ndarray
    start: np.ndarray
    doubtful: np.ndarray


class Events:
    """The events of one call.  ``domains``: the name of the domain of values of (type, attribute) that are equated."""

    def __init__(self, stream: Stream, domains: Mapping[tuple[str, str], str], kind: TimeKind) -> None:
        self.stream = stream
        self.codes = KeyCodes()
        self._domains = domains
        self._kind = kind
        self._numbers = {name: n for n, name in enumerate(stream.types)}
        self._places: dict[str, np.ndarray] = {}
        self._coded: dict[tuple[str, str], np.ndarray] = {}
        self._fitting: dict[object, tuple[np.ndarray, np.ndarray]] = {}
        self._candidates: dict[object, Candidates] = {}

    def number(self, type: str) -> int:
        """The number of a type in the stream; -1 if it has none."""
        return self._numbers.get(type, -1)

    def rows(self, type: str) -> Rows:
        return self.stream.rows[type]

    def domain(self, type: str, attribute: str) -> str:
        return self._domains.get((type, attribute), f"{type}.{attribute}")

    # -- which events ------------------------------------------------------------------------------------------------
    def candidates(self, types: tuple[str, ...], own: tuple[Expr, ...], by: tuple[str, ...]) -> Candidates:
        """The events of these types that pass their own conditions, grouped by the codes of the attributes ``by``."""
        name = (types, own, by)
        found = self._candidates.get(name)
        if found is None:
            at, doubtful = self._fit(types, own)
            if by:
                domains = [self.domain(types[0], a) for a in by]
                code = self.codes.join(domains, [self.code(types, a, at) for a in by], len(at))
                order, start = group_rows(code, self.codes.size(domains), _ALL)
                found = Candidates(at[order], start, doubtful)
            else:
                found = Candidates(at, np.array([0, len(at)], np.int64), doubtful)
            self._candidates[name] = found
        return found

    def _fit(self, types: tuple[str, ...], own: tuple[Expr, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The places of the events that pass, ascending, those in doubt among them; and those in doubt."""
        name = (types, own)
        found = self._fitting.get(name)
        if found is None:
            places, doubtful = [], []
            for t in types:
                if self.number(t) < 0:
                    continue
                of, rows = self.places(t), self.rows(t)
                joint = conjunction(list(own))
                if joint is not None and len(rows):
                    passed, undecided = _passing(rows, joint, self._kind)
                    if undecided is not None:
                        doubtful.append(of[undecided])
                        passed = passed.copy()
                        passed[undecided] = True
                    of = of[passed]
                places.append(of)
            found = (_merged(places), _merged(doubtful))
            self._fitting[name] = found
        return found

    def places(self, type: str) -> np.ndarray:
        """int64: by row of a type its place in the stream."""
        found = self._places.get(type)
        if found is None:
            at = np.flatnonzero(self.stream.type == self.number(type))
            found = np.empty(len(self.rows(type)), np.int64)
            found[self.stream.row[at]] = at
            self._places[type] = found
        return found

    # -- their values ------------------------------------------------------------------------------------------------
    def code(self, types: tuple[str, ...], attribute: str, at: np.ndarray) -> np.ndarray:
        """int64: the codes of an attribute of events of ``types`` at places ``at``, -1 for null."""
        known = [t for t in types if self.number(t) >= 0 and len(self.rows(t))]
        if len(known) == 1:
            return self._code_of(known[0], attribute)[self.stream.row[at]]
        out = np.full(len(at), -1, np.int64)
        for t in known:
            here = np.flatnonzero(self.stream.type[at] == self.number(t))
            out[here] = self._code_of(t, attribute)[self.stream.row[at[here]]]
        return out

    def _code_of(self, type: str, attribute: str) -> np.ndarray:
        name = (type, attribute)
        found = self._coded.get(name)
        if found is None:
            found = self.codes.encode(self.domain(type, attribute), self.rows(type).column(attribute))
            self._coded[name] = found
        return found

    def _values(self, type: str, attribute: str) -> Column:
        """An attribute of all events of a type; nulls if only types that inherit from it have it."""
        rows = self.rows(type)
        there = attribute == "time" or attribute in rows.columns
        return rows.column(attribute) if there else Column.nulls(Type.NULL, len(rows))

    def column(self, types: tuple[str, ...], attribute: str, at: np.ndarray) -> Column:
        """The values of an attribute of events of ``types`` at places ``at``."""
        known = [t for t in types if self.number(t) >= 0 and len(self.rows(t))]
        if len(known) == 1:
            return self._values(known[0], attribute).take(self.stream.row[at])
        if not known:
            return Column.nulls(Type.NULL, len(at))
        base, parts, n = np.zeros(len(self.stream.types), np.int64), [], 0
        for t in known:
            base[self.number(t)] = n
            parts.append(self._values(t, attribute))
            n += len(self.rows(t))
        return Column.widened(parts).take(base[self.stream.type[at]] + self.stream.row[at])


def _passing(rows: Rows, condition: Expr, kind: TimeKind) -> tuple[np.ndarray, np.ndarray | None]:
    """As :func:`select`, once per condition and call."""
    name = ("passing", EPL.name, condition)
    found = rows.cache.get(name)
    if found is None:
        found = select(condition, lambda leaf: own_column(rows, leaf), len(rows), kind=kind, dialect=EPL)
        rows.cache[name] = found
    return found


def _merged(parts: Sequence[np.ndarray]) -> np.ndarray:
    if not parts:
        return _NONE
    return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
