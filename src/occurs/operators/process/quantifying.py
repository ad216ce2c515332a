"""Quantifiers: a copy of the body per position and value of its domain (pipes.md, 4.6, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from occurs.operators.keycodes import crowded
from occurs.operators.process.columns import Col, Env, Obj, truths
from occurs.operators.process.functions import Function
from occurs.operators.process.fusing import fused
from occurs.operators.process.items import NO_ENDS, Call, Ends, Items, Variable, first_of
from occurs.operators.process.kernels_formulas import NEVER
from occurs.operators.process.network import of_outer
from occurs.operators.process.state import Counts, Latest, Part, State, Table
from occurs.operators.process.tree import Formula, Placeholder, Processor, Quantified
from occurs.operators.process.values import Fault, Set, distinct

if TYPE_CHECKING:
    from occurs.operators.process.operator import Setting
    from occurs.operators.process.ops_formulas import Judge


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


#: the items that a copy gets in its first round; four times as many in each later one
FIRST = 4


class Quantifier:
    """One quantifier of a formula.

    Its state: ``verdicts`` of positions that are kept: how many copies are open (``open``), the latest step at which
    one was decided so that the others decide (``so_far``), the step at which one has decided alone (``alone``).
    ``copies``: those that live, with slot, trace and position; the state of their bodies; the items that they may still
    get are those of their position and later, which they have got: nothing waits.
    """

    def __init__(self, part: Quantified, formula: Formula, setting: Setting) -> None:
        from occurs.operators.process.network import Network
        from occurs.operators.process.ops_formulas import Judge

        self.part = part
        self.formula = formula
        self.setting = setting
        self.domain = Function(part.domain)
        (body,) = part.body.outputs
        inner = replace(setting, inner=True)
        self.judge: Judge | None = None
        if isinstance(body.node.processor, Formula):
            self.network = Network(fused(body.node.inputs), inner)
            self.judge = Judge(body.node.processor, len(body.node.inputs), inner, True)
        else:
            self.network = Network(fused([body]), inner)

    def fresh(self) -> Copies:
        return Copies(self)

    def fresh_body(self) -> State:
        parts: dict[str, Part] = {"network": self.network.fresh()}
        if self.judge is not None:
            parts["judge"] = State(**self.judge.fresh())
        return State(**parts)

    # --- one call ---------------------------------------------------------------------------------------------------

    def update(
        self, own: Copies, items: Items, number: np.ndarray, time: np.ndarray, code: np.ndarray, positions: np.ndarray,
        call: Call,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """T and F at the ``positions`` of traces ``code``, with the new items, their numbers and their ticks."""
        own.close_up()
        codes = items.codes
        own.now = items
        own.made = 0
        made = self._begin(own, items, number, call)
        base = int(own.count.values[0])
        self._rounds(own, items, codes, time, made, base, call)
        own.count.values[0] = base + len(items) + len(items.ends)
        return self._verdicts(own, code, positions)

    def _begin(self, own: Copies, items: Items, number: np.ndarray, call: Call) -> np.ndarray:
        """Make the copies of new positions; returns the row of ``items`` that each living copy begins with (or 0)."""
        before = len(own.copies["code"])
        if not len(items):
            return np.zeros(before, np.int64)
        codes = items.codes
        variables = {n: (lambda v=v: v(codes)) for n, v in call.variables.items()}
        domains = self.domain.run(Env([items.value], len(items), self.setting.kind, variables)).pylist()
        rows, values = [], []
        for i, domain in enumerate(domains):
            if domain is not None and not isinstance(domain, (tuple, Set)):
                raise Fault("bad-value", "is not a list or set to quantify over", domain, i)
            for c in distinct(domain or ()):
                rows.append(i)
                values.append(c)
        at = np.array(rows, np.int64)
        size = np.bincount(at, minlength=len(items))
        own.add(codes, number, size, np.where(size == 0, items.step, -2))
        slots = own.slots(len(at))
        own.values.put(slots, Obj.of(values))
        kept = own.copies
        kept.put(
            slot=np.concatenate([kept["slot"], slots]),
            code=np.concatenate([kept["code"], codes[at]]),
            number=np.concatenate([kept["number"], number[at]]),
        )
        return np.concatenate([np.zeros(before, np.int64), at])

    def _rounds(
        self, own: Copies, items: Items, codes: np.ndarray, times: np.ndarray, begin: np.ndarray, base: int, call: Call
    ) -> None:
        """Give all copies the items of their trace from ``begin`` on, some at a time: many decide soon."""
        order = np.argsort(codes, kind="stable")
        sorted_ = codes[order]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        mine = own.copies["code"]
        # the next item of each copy, and behind its last, in the order by trace
        stop = np.searchsorted(sorted_, mine, side="right")
        start = np.searchsorted(sorted_, mine, side="left")
        new = own.copies["slot"] >= 0
        new[: len(new) - own.made] = False
        at = np.where(new, place[begin] if len(order) else 0, start)
        ends = items.ends
        ended = np.zeros(call.instances, np.bool_)
        end_row = np.zeros(call.instances, np.int64)
        ended[ends.code] = True
        end_row[ends.code] = len(items) + np.arange(len(ends))
        if len(ends):
            floor = call.base if call.steps is None else int(call.steps[0])
            times = np.concatenate([times, call.time(np.maximum(ends.step, floor))])
        outer_step = np.concatenate([items.step, ends.step])
        size, told = FIRST, np.zeros(len(mine), np.bool_)
        while True:
            live = np.flatnonzero((at < stop) | (ended[mine] & ~told))
            if not len(live):
                return
            upto = np.minimum(at[live] + size, stop[live])
            sizes = upto - at[live]
            which = np.repeat(np.arange(len(live)), sizes)
            inside = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + at[live][which]
            rows = order[inside]
            slot = own.copies["slot"][live]
            over = ended[mine[live]] & (upto == stop[live])
            told[live] = over
            ended_here = Ends(slot[over], base + end_row[mine[live][over]]) if over.any() else NO_ENDS
            position = rows + base
            given = Items(items.value.take(rows), position, position, slot[which], ended_here)
            found = self._run(own, given, Call(base, times, max(1, own.most), self._variables(own, call), None))
            at[live] = upto
            size *= 4
            freed = self._decide(own, *found, base, outer_step)
            if freed is not None:
                at, stop, mine, told = at[freed], stop[freed], mine[freed], told[freed]

    def _variables(self, own: Copies, call: Call) -> dict[str, Variable]:
        outer = np.zeros(max(1, own.most), np.int64)
        outer[own.copies["slot"]] = own.copies["code"]
        variables = of_outer(call.variables, outer)

        def value(codes: np.ndarray) -> Col:
            return own.values.value.take(own.values.find(codes))

        variables[self.part.variable] = value
        return variables

    def _run(self, own: Copies, given: Items, call: Call) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The copies that decide now, and T and F of each."""

        def source(processor: Processor) -> Items:
            assert isinstance(processor, Placeholder)
            return given

        found = self.network.advance(own.body["network"], source, call)
        if self.judge is not None:
            return first_verdicts(self.judge, own.body["judge"], found, call)
        (out,) = found
        rows = first_of(out.codes)
        codes, some = out.codes[rows], out.value.take(rows)
        # only the first item of a copy is its verdict
        new = own.spoken.upto(call.instances)[codes] == 0
        codes, rows, some = codes[new], rows[new], some.filter(new)
        own.spoken.upto(call.instances)[codes] = 1
        value = truths(some)
        if value is None or (not self.formula.troolean and (value == 1).any()):
            bad = next(v for v in some.pylist() if v is not None and not isinstance(v, bool))
            raise Fault("bad-value", "is not a boolean", bad)
        true = np.where(value == 2, out.step[rows], NEVER)
        false = np.where((value == 0) | ((value == 3) & (not self.formula.troolean)), out.step[rows], NEVER)
        finite = self.formula.at_end == "finite" and not self.formula.troolean
        if finite and len(given.ends):  # a body that has given nothing
            silent = given.ends.code[own.spoken.upto(call.instances)[given.ends.code] == 0]
            step = dict(zip(given.ends.code.tolist(), given.ends.step.tolist()))
            codes = np.concatenate([codes, silent])
            true = np.concatenate([true, np.full(len(silent), NEVER)])
            false = np.concatenate([false, np.array([step[c] for c in silent.tolist()], np.int64)])
        known = np.minimum(true, false) < NEVER
        return codes[known], true[known], false[known]

    def _decide(
        self, own: Copies, slots: np.ndarray, true: np.ndarray, false: np.ndarray, base: int, outer: np.ndarray
    ) -> np.ndarray | None:
        """Note what copies have decided, and let go of those that are of no account any more."""
        if not len(slots):
            return None
        kept = own.copies
        row_of = np.full(max(1, own.most), -1)
        row_of[kept["slot"]] = np.arange(len(kept["slot"]))
        rows = row_of[slots]
        weak, strong = (true, false) if self.part.universal else (false, true)

        def outside(step: np.ndarray) -> np.ndarray:
            return np.where(step < NEVER, outer[np.clip(step - base, 0, len(outer) - 1)], NEVER)

        over = own.note(kept["code"][rows], kept["number"][rows], outside(weak), outside(strong))
        stay = np.ones(len(kept["slot"]), np.bool_)
        stay[rows] = False
        if len(over[0]):
            stay &= ~among(kept["code"], kept["number"], *over)
        own.free(kept["slot"][~stay])
        kept.put(**{n: c[stay] for n, c in kept.columns.items()})
        own.made = 0
        return stay

    def _verdicts(self, own: Copies, code: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        table = own.verdicts
        at = places(table["code"], table["number"], code, number)
        there = at >= 0
        at = np.maximum(at, 0)
        weak, strong = np.full(len(code), int(NEVER)), np.full(len(code), int(NEVER))
        if len(table["code"]):
            none = there & (table["open"][at] == 0) & (table["alone"][at] >= NEVER)
            weak = np.where(none, table["so_far"][at], int(NEVER))
            strong = np.where(there, table["alone"][at], int(NEVER))
        return (weak, strong) if self.part.universal else (strong, weak)

    def forget(self, own: Copies, code: np.ndarray, number: np.ndarray) -> None:
        """These positions are of no account any more."""
        own.forget(code, number)


def first_verdicts(
    judge: Judge, state: State, given: Sequence[Items], call: Call, counted: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The traces of which position 0 is decided by this call, and T and F.

    ``counted``: the steps are the numbers of items (and these the ticks, see :meth:`Judge.window`): what an input will
    give later may have a step before that of another one, and is waited for.
    """
    over = state["done"].upto(call.instances)
    rows = judge.window(state, given, call, over == 0, counted)
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = rows.last[:-1]
    first = np.flatnonzero(begins)
    if judge.root is None:
        first = first[rows.number[first] == 0]
    true, false, codes = rows.true[first], rows.false[first], rows.code[first]
    known = np.minimum(true, false) < NEVER
    if counted is not None:
        came = np.minimum.reduce([state[f"came{k}"].upto(call.instances) for k in range(len(given))])
        known &= np.minimum(true, false) < came[codes]
    codes, true, false = codes[known], true[known], false[known]
    over[codes] = 1
    judge.keep(state, rows, judge.needed(rows) & (over[rows.code] == 0), call)
    finite = judge.formula.at_end == "finite" and not judge.formula.troolean
    if finite:  # traces that end without a position, or of which all are settled
        gone, latest = state["gone"].upto(call.instances), state["latest_end"].upto(call.instances)
        rest = np.flatnonzero((gone == len(given)) & (over == 0))
        over[rest] = 1
        came = np.max([state[f"came{k}"].upto(call.instances)[rest] for k in range(len(given))], axis=0)
        never = np.full(len(rest), int(NEVER))
        # all that there is below a G holds: it holds in the end; F and what has no position do not
        holds = (came > 0) & (judge.root == 0)
        codes = np.concatenate([codes, rest])
        true = np.concatenate([true, np.where(holds, latest[rest], never)])
        false = np.concatenate([false, np.where(holds, never, latest[rest])])
    return codes, true, false
