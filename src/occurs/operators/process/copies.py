"""The copies of the body of a quantifier, and what is known of the positions they belong to (pipes.md, 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from occurs.operators.keycodes import crowded
from occurs.operators.process.items import Items
from occurs.operators.process.kernels_formulas import NEVER
from occurs.operators.process.state import Counts, Latest, Part, State, Table

if TYPE_CHECKING:
    from occurs.operators.process.quantifying import Quantifier


def _key(code: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Pairs as something that sorts."""
    return (code << 40) + number


def places(codes: np.ndarray, numbers: np.ndarray, code: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The rows of pairs among pairs in ascending order, -1 where there is none."""
    if not len(codes):
        return np.full(len(code), -1)
    known, asked = _key(codes, numbers), _key(code, number)
    at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[at] == asked, at, -1)


def among(codes: np.ndarray, numbers: np.ndarray, code: np.ndarray, number: np.ndarray) -> np.ndarray:
    return np.isin(_key(codes, numbers), _key(code, number))


class Copies(Part):
    """The state of a :class:`Quantifier`."""

    def __init__(self, quantifier: Quantifier) -> None:
        self.quantifier = quantifier
        self.verdicts = Table("code", "number", "open", "so_far", "alone")
        self.copies = Table("slot", "code", "number")
        self.values = Latest()
        self.body = quantifier.fresh_body()
        self.spoken = Counts()
        self.count = Counts()
        self.most = 0
        self.unused: list[int] = []
        #: copies made in this call
        self.made = 0
        self.now: Items | None = None

    def close_up(self) -> None:
        """Between two calls: numbers the copies anew if most numbers are free."""
        if crowded(self.most, len(self.copies)):
            kept = self.copies.columns
            slots = np.sort(kept["slot"])
            self.copies.put(**{**kept, "slot": np.searchsorted(slots, kept["slot"])})
            for part in (self.body, self.values, self.spoken):
                part.only(slots)
            self.most, self.unused = len(slots), []

    def slots(self, count: int) -> np.ndarray:
        """Free slots."""
        self.made = count
        old = self.unused[:count]
        del self.unused[:count]
        out = np.array(old + list(range(self.most, self.most + count - len(old))), np.int64)
        self.most += count - len(old)
        return out

    def free(self, slots: np.ndarray) -> None:
        """Copies that are gone."""
        self.body.drop(slots)
        self.values.drop(slots)
        self.spoken.drop(slots)
        self.unused += slots.tolist()

    def add(self, code: np.ndarray, number: np.ndarray, copies: np.ndarray, step: np.ndarray) -> None:
        """New positions with so many copies; without one they are decided at ``step``."""
        table = self.verdicts
        columns = {
            "code": code, "number": number, "open": copies, "so_far": step, "alone": np.full(len(code), int(NEVER))
        }  # fmt: skip
        joined = {n: np.concatenate([table[n], c]) for n, c in columns.items()}
        order = np.argsort(_key(joined["code"], joined["number"]), kind="stable")
        table.put(**{n: c[order] for n, c in joined.items()})
        self._item_step(code, number)

    def _item_step(self, code: np.ndarray, number: np.ndarray) -> None:
        """A verdict is known no sooner than its item."""
        assert self.now is not None
        at = places(self.verdicts["code"], self.verdicts["number"], code, number)
        so_far = self.verdicts["so_far"].copy()
        so_far[at] = np.maximum(so_far[at], self.now.step)
        self.verdicts.put(**{**self.verdicts.columns, "so_far": so_far})

    def note(
        self, code: np.ndarray, number: np.ndarray, weak: np.ndarray, strong: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What copies of positions have decided; returns the positions that one has decided alone."""
        table = self.verdicts
        at = places(table["code"], table["number"], code, number)
        open_, so_far, alone = table["open"].copy(), table["so_far"].copy(), table["alone"].copy()
        np.subtract.at(open_, at, 1)
        np.maximum.at(so_far, at, np.where(weak < NEVER, weak, -2))
        np.minimum.at(alone, at, strong)
        table.put(code=table["code"], number=table["number"], open=open_, so_far=so_far, alone=alone)
        done = np.unique(at[alone[at] < NEVER])
        return table["code"][done], table["number"][done]

    def forget(self, code: np.ndarray, number: np.ndarray) -> None:
        """Positions that are of no account any more, and their copies."""
        kept = self.copies
        gone = among(kept["code"], kept["number"], code, number)
        if gone.any():
            self.free(kept["slot"][gone])
            kept.put(**{n: c[~gone] for n, c in kept.columns.items()})
        table = self.verdicts
        stay = ~among(table["code"], table["number"], code, number)
        table.put(**{n: c[stay] for n, c in table.columns.items()})

    def _state(self) -> State:
        return State(
            verdicts=self.verdicts, copies=self.copies, values=self.values, body=self.body, spoken=self.spoken,
            count=self.count,
        )  # fmt: skip

    def tables(self) -> dict[str, pa.Table]:
        return self._state().tables()

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        self._state().load(tables)
        self.most = int(self.copies["slot"].max(initial=-1)) + 1
        self.unused = sorted(set(range(self.most)) - set(self.copies["slot"].tolist()))

    def drop(self, codes: np.ndarray) -> None:
        there = np.isin(self.copies["code"], codes)
        if there.any():
            self.free(self.copies["slot"][there])
        self.copies.drop(codes)
        self.verdicts.drop(codes)

    def only(self, codes: np.ndarray) -> None:
        self.copies.only(codes)
        self.verdicts.only(codes)

    def copy(self) -> Copies:
        new = Copies(self.quantifier)
        new.verdicts, new.copies, new.values = self.verdicts.copy(), self.copies.copy(), self.values.copy()
        new.body, new.spoken, new.count = self.body.copy(), self.spoken.copy(), self.count.copy()
        new.most, new.unused = self.most, list(self.unused)
        return new

    def rows(self) -> int:
        return self._state().rows()
