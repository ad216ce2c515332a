"""Formulas: verdicts of positions (pipes.md, 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from occurs.operators.process import kernels_formulas as kernels
from occurs.operators.process import tree
from occurs.operators.process.columns import FALSE, TRUE, UNKNOWN, Troo, of_numpy
from occurs.operators.process.items import NO_ENDS, Call, Ends, Items, ordinals
from occurs.operators.process.judging import NEVER, Judge, Window
from occurs.operators.process.operator import Fronts, Operator, Setting, meet, operator
from occurs.operators.process.positions import Positions
from occurs.operators.process.quantifying import first_verdicts
from occurs.operators.process.state import Counts, Part, State
from occurs.operators.process.tree import Node

_NONE = np.zeros(0, np.int64)


@operator
class Formula(Operator):
    """Boolean: the verdict of each position, in order.  Troolean: after each front what is known of position 0."""

    of: ClassVar[type[tree.Processor]] = tree.Formula

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Formula)
        self.p = p
        self.judge = Judge(p, len(node.inputs), setting, p.troolean)

    def fresh(self) -> dict[str, Part]:
        judge: dict[str, Part] = {"judge": State(**self.judge.fresh())}
        if self.p.troolean:
            counts = {f"items{k}": Counts() for k in range(len(self.node.inputs))}
            return {**judge, "fronts": Counts(), "true": Counts(NEVER), "false": Counts(NEVER), **counts}
        return {**judge, "waiting": Positions(), "latest": Counts(-1)}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        return [self._of_first(state, given, call) if self.p.troolean else self._of_each(state, given, call)]

    # --- two values -------------------------------------------------------------------------------------------------

    def _of_each(self, state: State, given: Sequence[Items], call: Call) -> Items:
        single = all(g.code is None for g in given)
        own: State = state["judge"]
        rows = self.judge.window(own, given, call, None)
        waiting: Positions = state["waiting"]
        code, number, exists, about = rows.code, rows.number, rows.exists, rows.about
        true, false = rows.true, rows.false
        gone, latest_end = own["gone"].upto(call.instances), own["latest_end"].upto(call.instances)
        over = np.flatnonzero(gone == len(given))
        if len(waiting) and single and not len(over) and (not len(rows) or min(int(true[0]), int(false[0])) >= NEVER):
            # what waits longest is open, and so nothing comes out
            self._keep_waiting(own, waiting, rows, call)
            return Items.none()
        early = Items.none(single=single)
        if len(waiting) and single and self.p.at_end != "null":
            early = self._of_one_waiting(own, waiting, rows, over, state["latest"].upto(1))
        if len(waiting):
            first_true, first_false = self._of_waiting(waiting.each("code"), rows, over, latest_end)
            code = np.concatenate([waiting.each("code"), code])
            number = np.concatenate([waiting.each("number"), number])
            exists = np.concatenate([waiting.each("exists"), exists])
            about = np.concatenate([waiting.each("about"), about])
            true, false = np.concatenate([first_true, true]), np.concatenate([first_false, false])
            if not single:
                order = np.lexsort((number, code))
                code, number, exists, about = code[order], number[order], exists[order], about[order]
                true, false = true[order], false[order]
        ended = np.full(call.instances, NEVER)
        ended[over] = latest_end[over]
        end = ended[code] if self.p.at_end == "null" and len(over) else _NONE
        if single and len(rows) and not len(over) and not len(waiting):
            made, count = self._of_one(state["latest"].upto(1), rows)
            self._keep_one(own, waiting, rows, count, call)
            return Items.join([early, made]) if len(early) else made
        step, emitted = np.zeros(len(code), np.int64), np.zeros(len(code), np.bool_)
        kernels.decided(code, true, false, exists, end, state["latest"].upto(call.instances), step, emitted)
        made = self._items(code, about, step, true, false, emitted, single)
        self._keep(state, rows, code, number, exists, about, emitted, over, call)
        ends = NO_ENDS
        if len(over):
            gone[over] = -1  # told
            ends = Ends(over, latest_end[over])
        made = Items.join([early, made]) if len(early) else made
        return made.by_step().with_ends(ends)

    @staticmethod
    def _of_one(latest: np.ndarray, rows: Window) -> tuple[Items, int]:
        """What comes out of one trace of which nothing has waited, and how many positions."""
        step, value = np.empty(len(rows), np.int64), np.empty(len(rows), np.bool_)
        count = kernels.decided_one(rows.true, rows.false, rows.exists, latest[0], step, value)
        if not count:
            return Items.none(), 0
        latest[0] = step[count - 1]
        return Items(of_numpy(value[:count]), step[:count], rows.about[:count]), count

    def _of_one_waiting(
        self, own: State, waiting: Positions, rows: Window, over: np.ndarray, latest: np.ndarray
    ) -> Items:
        """All that waits of one trace, if it is decided: it has one verdict."""
        true, false = NEVER, NEVER
        if len(rows):
            true, false = int(rows.true[0]), int(rows.false[0])
        elif len(over) and self.p.at_end == "finite":
            end = int(own["latest_end"].upto(1)[0])
            true, false = (end, NEVER) if self.judge.root == 0 else (NEVER, end)
        known = min(true, false)
        if known >= NEVER:
            return Items.none()
        exists = waiting.each("exists")
        about = exists if np.array_equal(waiting["exists"], waiting["about"]) else waiting.each("about")
        step = np.maximum(exists, max(known, int(latest[0])))
        made = Items(of_numpy(np.full(len(step), true < false)), step, about)
        latest[0] = step[-1]
        own["done"].upto(1)[0] = waiting["number"][-1] + waiting["count"][-1]
        waiting.forget()
        return made

    def _of_waiting(
        self, code: np.ndarray, rows: Window, over: np.ndarray, end: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """T and F of positions before those at hand: those of the first one, or what the end decides."""
        true, false = np.full(len(code), NEVER), np.full(len(code), NEVER)
        if len(over) and self.p.at_end == "finite":
            mine = np.isin(code, over)
            (true if self.judge.root == 0 else false)[mine] = end[code[mine]]
        if len(rows):
            at = np.minimum(np.searchsorted(rows.code, code), len(rows) - 1)
            there = rows.code[at] == code
            true, false = np.where(there, rows.true[at], true), np.where(there, rows.false[at], false)
        return true, false

    def _items(
        self, code: np.ndarray, about: np.ndarray, step: np.ndarray, true: np.ndarray, false: np.ndarray,
        emitted: np.ndarray, single: bool,
    ) -> Items:  # fmt: skip
        count = int(np.count_nonzero(emitted))
        if not count:
            return Items.none(single=single)
        if single:  # of one trace the first ones
            code, about, step, true, false = code[:count], about[:count], step[:count], true[:count], false[:count]
        elif count < len(emitted):
            code, about, step = code[emitted], about[emitted], step[emitted]
            true, false = true[emitted], false[emitted]
        known = None if self.p.at_end != "null" else np.minimum(true, false) < NEVER
        value = of_numpy(true < false, known)
        return Items(value, step, about, None if single else code)

    def _keep(
        self, state: State, rows: Window, code: np.ndarray, number: np.ndarray, exists: np.ndarray, about: np.ndarray,
        emitted: np.ndarray, over: np.ndarray, call: Call,
    ) -> None:  # fmt: skip
        own: State = state["judge"]
        done = own["done"].upto(call.instances)
        if number is rows.number and len(rows) and code[0] == code[-1] and not len(over):
            self._keep_one(own, state["waiting"], rows, int(np.count_nonzero(emitted)), call)
            return
        done[code[emitted]] = number[emitted] + 1
        keep = self.judge.needed(rows)
        keep &= rows.number >= done[rows.code]
        if len(over):
            keep &= ~np.isin(rows.code, over)
        self.judge.keep(own, rows, keep, call)
        first = own["from"].upto(call.instances)
        np.maximum(first, done, out=first)
        waits = ~emitted & (number < first[code])
        if len(over):
            waits &= ~np.isin(code, over)
        state["waiting"].wait(code[waits], number[waits], exists[waits], about[waits])

    def _keep_one(self, own: State, waiting: Positions, rows: Window, count: int, call: Call) -> None:
        """As :meth:`_keep`, of one trace of which nothing has waited and ``count`` positions have come out."""
        keep = self.judge.needed(rows)
        gone = max(count, int(np.argmax(keep)) if keep.any() else len(keep))
        keep[:gone] = False
        self.judge.keep(own, rows, keep, call)
        code = int(rows.code[0])
        if count:
            own["done"].upto(call.instances)[code] = rows.number[count - 1] + 1
        waiting.forget()
        self._wait(waiting, rows, count, gone)

    def _keep_waiting(self, own: State, waiting: Positions, rows: Window, call: Call) -> None:
        """As :meth:`_keep`, where nothing has come out."""
        keep = self.judge.needed(rows)
        self.judge.keep(own, rows, keep, call)
        self._wait(waiting, rows, 0, int(np.argmax(keep)) if keep.any() else len(keep))

    @staticmethod
    def _wait(waiting: Positions, rows: Window, first: int, last: int) -> None:
        exists = rows.exists[first:last]
        about = exists if rows.about is rows.exists else rows.about[first:last]
        waiting.wait_too(rows.number[first:last], exists, about)

    # --- three values -----------------------------------------------------------------------------------------------

    def _of_first(self, state: State, given: Sequence[Items], call: Call) -> Items:
        own: State = state["judge"]
        counted: list[Items] = []
        for k, items in enumerate(given):
            # what counts are fronts: the numbers of items are the steps, and such traces have no end
            number = self._numbers(state[f"items{k}"].upto(call.instances), items)
            first = counted[0].step if counted else number
            number = first if len(first) == len(number) and np.array_equal(first, number) else number
            counted.append(Items(items.value, number, items.about, items.code))
        times = [call.time(g.step) for g in given]
        codes, true, false = first_verdicts(self.judge, own, counted, call, times)
        state["true"].upto(call.instances)[codes] = true
        state["false"].upto(call.instances)[codes] = false
        fronts = meet(state, given, call)
        trues, falses = state["true"].upto(call.instances), state["false"].upto(call.instances)
        number = self._numbers(state["fronts"].upto(call.instances), fronts)
        if fronts.code is None:
            value = np.full(len(fronts), UNKNOWN, np.int8)
            for known, verdict in ((falses[0], FALSE), (trues[0], TRUE)):
                value[np.searchsorted(number, known) :] = verdict
        else:
            at = fronts.code
            value = np.where(trues[at] <= number, TRUE, np.where(falses[at] <= number, FALSE, UNKNOWN)).astype(np.int8)
        return fronts.items(Troo(value))

    @staticmethod
    def _numbers(came: np.ndarray, items: Items | Fronts) -> np.ndarray:
        """The numbers of items in their traces; ``came`` (per trace): how many there were before, is counted up."""
        if items.code is None:
            number = np.arange(came[0], came[0] + len(items))
            came[0] += len(items)
            return number
        number = came[items.code] + ordinals(items.code)
        if len(items):
            counts = np.bincount(items.code)
            came[: len(counts)] += counts
        return number
