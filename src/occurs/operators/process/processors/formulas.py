"""Formulas and their quantifiers: the verdict of every position, or of the first one (pipes.md, 4.5, 4.6, section 5).

T and F of a part at a position are the steps from which it is known to be true, false (NEVER).  Only positions that may
still matter are kept, with what is known of their atoms: all that are open, and what comes after them.  Below a G (F)
at the root only those are kept from the first on of which it is not known that they hold (do not): the verdicts of
those before it are its verdict.  A quantifier runs a copy of its body per position and value of its domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from occurs.operators.codes import crowded
from occurs.operators.process import scalars, tree
from occurs.operators.process.columns import FALSE, TRUE, UNKNOWN, Col, Obj, Troo, column_of, of_numpy, truths
from occurs.operators.process.functions import Function
from occurs.operators.process.items import (
    NO_ENDS,
    NO_ROWS,
    CallSteps,
    Ends,
    Items,
    Variable,
    count_up,
    first_of,
    ranges,
)
from occurs.operators.process.network import Network, fused, of_outer
from occurs.operators.process.operator import Operator, Setting, meet, operator
from occurs.operators.process.processors import kernels_formulas as kernels
from occurs.operators.process.state import Compound, Counts, Latest, Part, State, Table
from occurs.operators.process.tree import (
    And,
    Atom,
    Eventually,
    Given,
    Globally,
    Implies,
    Next,
    Node,
    Not,
    Or,
    Placeholder,
    Processor,
    Quantified,
    Until,
)
from occurs.operators.process.tree import Part as FormulaPart
from occurs.operators.process.values import Fault, Set, distinct

NEVER = int(kernels.NEVER)
ABSENT = 4
#: of positions: their traces and numbers, the steps from which on they exist, what they speak of
_NAMES = ("code", "number", "exists", "about")
_WORDS: dict[type[FormulaPart], int] = {
    Not: kernels.NOT, And: kernels.AND, Or: kernels.OR, Implies: kernels.IMPLIES, Next: kernels.NEXT,
    Globally: kernels.ALWAYS, Eventually: kernels.SOMETIME, Until: kernels.UNTIL,
}  # fmt: skip


@operator(tree.Formula)
class Formula(Operator):
    """Boolean: the verdict of each position, in order.  Troolean: after each front what is known of position 0."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        self.judge = Judge(self.p, len(node.inputs), setting, self.p.troolean)

    def fresh(self) -> dict[str, Part]:
        judge: dict[str, Part] = {"judge": State(**self.judge.fresh())}
        if self.p.troolean:
            counts = {f"items{k}": Counts() for k in range(len(self.node.inputs))}
            return {**judge, "fronts": Counts(), "true": Counts(NEVER), "false": Counts(NEVER), **counts}
        return {**judge, "waiting": Positions(), "latest": Counts(-1)}

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        return [self._of_first(state, given, call) if self.p.troolean else self._of_each(state, given, call)]

    # --- two values -------------------------------------------------------------------------------------------------

    def _of_each(self, state: State, given: Sequence[Items], call: CallSteps) -> Items:
        single = all(g.code is None for g in given)
        own: State = state["judge"]
        rows = self.judge.window(own, given, call, None)
        gone, latest_end = own["gone"].upto(call.instances), own["latest_end"].upto(call.instances)
        over = np.flatnonzero(gone == len(given))
        emitted = np.zeros(len(rows), np.bool_)
        made = Items.none(single=single)
        keep = self.judge.needed(rows)
        if not single or len(over) or not len(rows) or min(int(rows.true[0]), int(rows.false[0])) < NEVER:
            ended = np.full(call.instances, NEVER)
            ended[over] = latest_end[over]
            latest = state["latest"].upto(call.instances)
            early = self._of_waiting(state["waiting"], rows, ended, latest, single)
            made = Items.join([early, self._of_rows(rows, ended, latest, emitted, single)]).by_step()
            keep &= ~emitted
            if len(over):
                keep &= ~np.isin(rows.code, over)
        dropped = self.judge.keep(own, rows, keep, call)
        # what is not known yet and not kept has the verdict of what is
        count = int(np.count_nonzero(emitted))
        behind = slice(count, dropped.stop) if isinstance(dropped, slice) else dropped & ~emitted
        state["waiting"].wait(rows, behind)
        if not len(over):
            return made
        gone[over] = -1  # told
        state["waiting"].drop(over)
        return made.with_ends(Ends(over, latest_end[over]))

    def _of_rows(self, rows: Window, ended: np.ndarray, latest: np.ndarray, emitted: np.ndarray, single: bool) -> Items:
        """What comes out of the positions at hand, which are ``emitted``."""
        step, value = np.empty(len(rows), np.int64), np.empty(len(rows), np.bool_)
        null = self.p.at_end == "null"
        end = ended[rows.code] if null and (ended < NEVER).any() else NO_ROWS
        kernels.decided(rows.code, rows.true, rows.false, rows.exists, end, latest, step, value, emitted)
        some = rows.stretch(emitted)
        known = np.minimum(rows.true[some], rows.false[some]) < NEVER if null else None
        code = None if single else rows.code[some]
        return Items(of_numpy(value[some], known), step[some], rows.about[some], code)

    def _of_waiting(
        self, waiting: Positions, rows: Window, ended: np.ndarray, latest: np.ndarray, single: bool
    ) -> Items:
        """What comes out of positions before those at hand: they have the verdict of the first one, or what the end
        decides; those of a trace come out together."""
        code = waiting["code"]
        if not len(code):
            return Items.none(single=single)
        true, false, end = np.full(len(code), NEVER), np.full(len(code), NEVER), ended[code]
        if self.p.at_end == "finite":
            true, false = (end, false) if self.judge.root == 0 else (true, end)
        if len(rows):
            at = np.minimum(np.searchsorted(rows.code, code), len(rows) - 1)
            there = rows.code[at] == code
            true, false = np.where(there, rows.true[at], true), np.where(there, rows.false[at], false)
        known = np.minimum(true, false)
        step = np.where(known < NEVER, known, end) if self.p.at_end == "null" else known
        out = step < NEVER
        if out.any():
            size = waiting["count"][out]
            exists = waiting.each("exists", out)
            about = exists if waiting.exact() else waiting.each("about", out)
            least = np.maximum(step, latest[code])[out]
            step = np.maximum(exists, least if len(least) == 1 else np.repeat(least, size))
            latest[code[out]] = step[np.cumsum(size) - 1]  # ascending within each trace: the last one stays
            codes = None if single else waiting.each("code", out)
            valid = None if (known < NEVER)[out].all() else np.repeat((known < NEVER)[out], size)
            value = of_numpy(np.repeat((true < false)[out], size), valid)
            waiting.put(**{n: c[~out] for n, c in waiting.columns.items()})
            return Items(value, step, about, codes)
        return Items.none(single=single)

    # --- three values -----------------------------------------------------------------------------------------------

    def _of_first(self, state: State, given: Sequence[Items], call: CallSteps) -> Items:
        own: State = state["judge"]
        counted: list[Items] = []
        for k, items in enumerate(given):
            # what counts are fronts: the numbers of items are the steps, and such traces have no end
            number = count_up(state[f"items{k}"].upto(call.instances), items)
            first = counted[0].step if counted else number
            number = first if len(first) == len(number) and np.array_equal(first, number) else number
            counted.append(Items(items.value, number, items.about, items.code))
        times = [call.time(g.step) for g in given]
        codes, true, false = first_verdicts(self.judge, own, counted, call, times)
        state["true"].upto(call.instances)[codes] = true
        state["false"].upto(call.instances)[codes] = false
        fronts = meet(state, given, call)
        trues, falses = state["true"].upto(call.instances), state["false"].upto(call.instances)
        number = count_up(state["fronts"].upto(call.instances), fronts)
        if fronts.code is None:
            value = np.full(len(fronts), UNKNOWN, np.int8)
            for known, verdict in ((falses[0], FALSE), (trues[0], TRUE)):
                value[np.searchsorted(number, known) :] = verdict
        else:
            at = fronts.code
            value = np.where(trues[at] <= number, TRUE, np.where(falses[at] <= number, FALSE, UNKNOWN)).astype(np.int8)
        return fronts.items(Troo(value))


class Positions(Table):
    """``count`` positions from ``number`` on of the trace ``code``, which exist from ``exists`` on and speak of
    ``about``; of each next one these are one more."""

    def __init__(self) -> None:
        super().__init__(*_NAMES, "count", spoken=True)

    def wait(self, rows: Window, some: np.ndarray | slice) -> None:
        """These rows wait, too."""
        columns = {n: getattr(rows, n)[some] for n in _NAMES}
        size = len(columns["code"])
        if not size:
            return
        starts = np.zeros(1, np.int64)
        times = [columns["exists"]] if rows.about is rows.exists else [columns["exists"], columns["about"]]
        if size > 1 and not (isinstance(some, slice) and all(map(kernels.consecutive, times))):
            follows = np.zeros(size, np.bool_)
            follows[1:] = np.all([np.diff(c) == (n != "code") for n, c in columns.items()], axis=0)
            starts = np.flatnonzero(~follows)
        new = {n: c[starts] for n, c in columns.items()}
        new["count"] = np.diff(starts, append=size)
        last = self.last_part()
        if len(last["count"]) and all(last[n][-1] + (n != "code") * last["count"][-1] == new[n][0] for n in _NAMES):
            last["count"] = np.append(last["count"][:-1], last["count"][-1] + new["count"][0])
            new = {n: c[1:] for n, c in new.items()}
        if len(new["code"]):
            self.append(**new)

    def exact(self) -> bool:
        """Does each speak of the event with which it exists?"""
        return np.array_equal(self["exists"], self["about"])

    def each(self, name: str, some: np.ndarray | slice = slice(None)) -> np.ndarray:
        """A column of positions, one by one; ``some``: of these stretches."""
        first, count = self[name][some], self["count"][some]
        if name == "code":
            return np.repeat(first, count)
        if len(first) and len(first) * 16 < count.sum():  # long stretches
            return np.concatenate([np.arange(f, f + c) for f, c in zip(first.tolist(), count.tolist())])
        return ranges(first, count)[1]

    def abouts(self) -> np.ndarray:
        return self.each("about")


# --- What is known of positions ---------------------------------------------------------------------------------------


class Judge:
    """A formula.  ``first``: only the verdict of position 0 of each trace is wanted."""

    def __init__(self, formula: tree.Formula, inputs: int, setting: Setting, first: bool) -> None:
        self.formula = formula
        self.inputs = inputs
        self.first = first
        self.atoms = sorted({p.index for p in formula.root.walk() if isinstance(p, Atom)})
        quantified = [p for p in formula.root.walk() if isinstance(p, Quantified)]
        self.quantifiers = [Quantifier(q, formula, setting) for q in quantified]
        self.number = {id(q): i for i, q in enumerate(quantified)}
        given = [p for p in formula.root.walk() if isinstance(p, Given)]
        self.constants = [Function(p.value) for p in given]
        self.row = {id(p): inputs + i for i, p in enumerate(given)}
        self.setting = setting
        root = formula.root
        #: whether the root is G (0) or F (1)
        self.root = 0 if isinstance(root, Globally) else 1 if isinstance(root, Eventually) else None
        self.null_false = not formula.troolean
        words = self._words(root)
        self.program = np.array(words, np.int64)
        self.depth = _depth(words)

    def fresh(self) -> dict[str, Part]:
        names = ["code", "number", "exists", "about", *(f"{n}{k}" for k in range(self.inputs) for n in "vs")]
        #: ``done`` belongs to whoever asks for verdicts
        parts: dict[str, Part] = {
            "rows": Table(*names, spoken=True), "gone": Counts(), "latest_end": Counts(-2), "done": Counts()
        }  # fmt: skip
        for k in range(self.inputs):
            parts[f"came{k}"] = Counts()
        for i, q in enumerate(self.quantifiers):
            parts[f"quantifier{i}"] = q.fresh()
        #: positions before this one are of no account
        parts["from"] = Counts()
        return parts

    def _words(self, part: FormulaPart) -> list[tuple[int, int, int]]:
        """A part as words of :func:`occurs.operators.process.processors.kernels_formulas.judge`."""
        if isinstance(part, Atom):
            return [(kernels.ATOM, part.index, 0)]
        if isinstance(part, Given):
            return [(kernels.ATOM, self.row[id(part)], 0)]
        if isinstance(part, Quantified):
            return [(kernels.PAIR, self.number[id(part)], part.input)]
        words = [w for p in part.parts for w in self._words(p)]
        if part is self.formula.root and self.root is not None:
            words.append((kernels.OPEN, self.root, 0))
        return [*words, (_WORDS[type(part)], 0, 0)]

    # --- positions --------------------------------------------------------------------------------------------------

    def window(
        self, state: State, given: Sequence[Items], call: CallSteps, live: np.ndarray | None,
        times: Sequence[np.ndarray] | None = None,
    ) -> Window:  # fmt: skip
        """With the new items.  ``live`` (per trace): its items are of account.  ``times``: the ticks of the items of
        each input, if their steps do not say so."""
        gone, latest = state["gone"].upto(call.instances), state["latest_end"].upto(call.instances)
        for items in given:
            if len(items.ends):
                gone[items.ends.code] += 1
                latest[items.ends.code] = np.maximum(latest[items.ends.code], items.ends.step)
        numbers, used, ticks = [], [], []
        first_came = first_number = NO_ROWS
        for k, items in enumerate(given):
            came = state[f"came{k}"].upto(call.instances)
            alike = k > 0 and items.code is None and given[0].code is None and len(items) == len(given[0])
            if alike and came[0] + len(items) == first_came[0]:
                number = first_number  # as far as the first input
                came[0] += len(items)
            else:
                number = count_up(came, items)
            if not k:
                first_came, first_number = came, number
            keep = self._of_account(state, items, number, live, call)
            if times is not None:
                tick = times[k]
            else:
                tick = call.time(items.step) if self.quantifiers else NO_ROWS
            if keep is not None:
                items, number = items.filter(keep), number[keep]
                tick = tick[keep] if len(tick) else tick
            ticks.append(tick)
            numbers.append(number)
            used.append(items)
        rows = self._abreast(state["rows"], used, numbers) or self._rows(state["rows"], used, numbers)
        over = gone == len(given)
        rows.end = np.where(over[rows.code], latest[rows.code], NEVER) if over.any() else NO_ROWS
        for i, q in enumerate(self.quantifiers):
            k = q.part.input
            found = q.update(state[f"quantifier{i}"], used[k], numbers[k], ticks[k], rows.code, rows.number, call)
            rows.quantified.append(found)
        self._judge(rows, call)
        return rows

    @staticmethod
    def _of_account(
        state: State, items: Items, number: np.ndarray, live: np.ndarray | None, call: CallSteps
    ) -> np.ndarray | None:
        """Which items are of positions that may matter; None: all."""
        first = state["from"].upto(call.instances)
        if items.code is None:
            if not len(number) or (number[0] >= first[0] and (live is None or live[0])):
                return None
            return (number >= first[0]) & (live is None or live[0])
        keep = number >= first[items.code]
        if live is not None:
            keep &= live[items.code]
        return None if keep.all() else keep

    def _abreast(self, kept: Table, given: Sequence[Items], numbers: Sequence[np.ndarray]) -> Window | None:
        """As :meth:`_rows`, of one trace whose inputs are all as far as each other."""
        some = given[0]
        before = len(kept)
        for k, items in enumerate(given):
            if items.code is not None or len(items) != len(some) or not len(items):
                return None
            if numbers[k][0] != numbers[0][0] or items.step is not some.step:
                return None
            if before and (kept[f"v{k}"][-1] == ABSENT or kept["number"][-1] + 1 != numbers[k][0]):
                return None
        if before and kept["code"][-1] != 0:
            return None

        def behind(name: str, new: np.ndarray) -> np.ndarray:
            if not before:
                return new
            if new is some.step and name != "exists" and np.array_equal(kept[name], kept["exists"]):
                return exists  # also what is behind is one array
            return np.concatenate([kept[name].astype(new.dtype, copy=False), new])

        size = before + len(some)
        last = np.zeros(size, np.bool_)
        last[-1] = True
        values = [behind(f"v{k}", self._truths(k, items.value)) for k, items in enumerate(given)]
        exists = behind("exists", some.step)
        steps = [behind(f"s{k}", items.step) for k, items in enumerate(given)]
        about = behind("about", some.about)
        number = np.arange(numbers[0][0] - before, numbers[0][-1] + 1) if before else numbers[0]
        return Window(np.zeros(size, np.int64), number, exists, about, values, steps, [], last, NO_ROWS)

    def _rows(self, kept: Table, given: Sequence[Items], numbers: Sequence[np.ndarray]) -> Window:
        """The positions that were kept, and the new items at theirs."""
        every = np.concatenate([kept["number"], *numbers])
        if all(g.code is None for g in given) and not kept["code"].any():
            first = int(every.min(initial=NEVER))
            place = every - first
            number = np.arange(first, first + place.max(initial=-1) + 1)
            code = np.zeros(len(number), np.int64)
        else:
            codes = np.concatenate([kept["code"], *(g.codes for g in given)])
            order = np.lexsort((every, codes))
            code, number = codes[order], every[order]
            new = np.ones(len(order), np.bool_)
            new[1:] = (code[1:] != code[:-1]) | (number[1:] != number[:-1])
            place = np.empty(len(order), np.int64)
            place[order] = np.cumsum(new) - 1
            code, number = code[new], number[new]
        size = len(code)
        old, *at = np.split(place, np.cumsum([len(kept), *map(len, given)])[:-1])
        last = np.ones(size, np.bool_)
        last[:-1] = code[1:] != code[:-1]
        exists, about = np.full(size, NEVER), np.zeros(size, np.int64)
        exists[old], about[old] = kept["exists"], kept["about"]
        values, steps = [], []
        for k, items in enumerate(given):
            value, step = np.full(size, ABSENT, np.int8), np.full(size, NEVER)
            value[old], step[old] = kept[f"v{k}"], kept[f"s{k}"]
            value[at[k]], step[at[k]] = self._truths(k, items.value), items.step
            # an item that came before has told what it speaks of
            earlier = items.step < exists[at[k]]
            first_of_all = at[k][earlier]
            exists[first_of_all], about[first_of_all] = items.step[earlier], items.about[earlier]
            values.append(value)
            steps.append(step)
        return Window(code, number, exists, about, values, steps, [], last, NO_ROWS)

    def _truths(self, index: int, value: Col) -> np.ndarray:
        if index not in self.atoms:
            return np.full(len(value), UNKNOWN, np.int8)
        found = truths(value)
        if found is None or not (self.formula.troolean or (found != UNKNOWN).all()):
            for i, v in enumerate(value.pylist()):
                if v is not None and not isinstance(v, (bool, scalars.Troolean) if self.formula.troolean else bool):
                    raise Fault("bad-value", "is not a boolean", v, i)
            found = truths(column_of(value.pylist()))
            assert found is not None
        return found

    # --- verdicts ---------------------------------------------------------------------------------------------------

    def _judge(self, rows: Window, call: CallSteps) -> None:
        decides = self.formula.at_end == "finite" and not self.formula.troolean
        end = rows.end if decides else NO_ROWS
        if len(end) and (end >= NEVER).all():
            end = NO_ROWS
        size = len(rows)
        values = [*rows.values, *(self._constant(g, rows, call) for g in self.constants)]
        # atoms that come together are known together
        steps: list[np.ndarray] = []
        row_of: list[int] = []
        for step in [*rows.steps, *([rows.exists] * len(self.constants))]:
            at = next((i for i, other in enumerate(steps) if other is step), len(steps))
            row_of.append(at)
            if at == len(steps):
                steps.append(step)
        program = self.program.copy()
        atoms = program[:, 0] == kernels.ATOM
        program[atoms, 2] = np.array(row_of, np.int64)[program[atoms, 1]]
        pairs = [part for pair in rows.quantified for part in pair]
        rows.true, rows.false, rows.open = np.empty(size, np.int64), np.empty(size, np.int64), np.ones(size, np.bool_)
        kernels.judge(
            program, self.depth, _stacked(values, size, np.int8), _stacked(steps, size, np.int64),
            _stacked(pairs, size, np.int64), rows.last, end, self.null_false, rows.true, rows.false, rows.open,
        )  # fmt: skip

    def _constant(self, function: Function, rows: Window, call: CallSteps) -> np.ndarray:
        """The truth value of a constant or a variable at all positions."""
        column = function.run(self.setting.env([], rows.code, len(rows), call))
        found = truths(column)
        if found is None:
            raise Fault("bad-value", "is not a boolean", column.pylist()[0])
        return found

    # --- what is kept -----------------------------------------------------------------------------------------------

    def needed(self, rows: Window) -> np.ndarray:
        """Booleans: positions that may still matter: the first of each trace that is open below the G or F at the root,
        and all behind it."""
        if self.root is None or not len(rows):
            return np.ones(len(rows), np.bool_)
        open_ = rows.open
        if rows.code[0] == rows.code[-1]:
            keep = np.zeros(len(rows), np.bool_)
            if open_.any():
                keep[int(np.argmax(open_)) :] = True
            return keep
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = rows.last[:-1]
        first = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))
        count = np.cumsum(open_)
        return np.asarray(count - np.where(first > 0, count[first - 1], 0) > 0)

    def keep(self, state: State, rows: Window, mask: np.ndarray, call: CallSteps) -> np.ndarray | slice:
        """Keep these positions (a suffix of each trace), forget the others, which it returns."""
        columns = {"code": rows.code, "number": rows.number, "exists": rows.exists, "about": rows.about}
        for k in range(self.inputs):
            columns[f"v{k}"], columns[f"s{k}"] = rows.values[k], rows.steps[k]
        dropped: np.ndarray | slice = ~mask
        kept: np.ndarray | slice = mask
        newest = slice(None)  # ascending within each trace: the last one stays
        if not len(mask) or rows.code[0] == rows.code[-1]:
            first = int(np.argmax(mask)) if mask.any() else len(mask)
            dropped, kept, newest = slice(0, first), slice(first, None), slice(-1, None)
        code, number = rows.code[dropped], rows.number[dropped]
        if len(code):
            state["from"].upto(call.instances)[code[newest]] = number[newest] + 1
            for i in range(len(self.quantifiers)):
                state[f"quantifier{i}"].forget(code, number)
        # few are kept, as a rule: not with all that there was
        state["rows"].put(**{n: c[kept].astype(np.int64, copy=True) for n, c in columns.items()})
        return dropped


@dataclass
class Window:
    """The positions at hand, by trace and number; ``end``: the step at which the trace of each has ended (NEVER).

    ``values``, ``steps``: per input the truth value and step of its item (ABSENT).  ``true``, ``false``: T and F of the
    root; ``open``: it is not known that what is below a G (F) at the root holds (does not).
    """

    code: np.ndarray
    number: np.ndarray
    exists: np.ndarray
    about: np.ndarray
    values: list[np.ndarray]
    steps: list[np.ndarray]
    quantified: list[tuple[np.ndarray, np.ndarray]]
    last: np.ndarray
    end: np.ndarray
    true: np.ndarray = field(default_factory=lambda: NO_ROWS)
    false: np.ndarray = field(default_factory=lambda: NO_ROWS)
    open: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __len__(self) -> int:
        return len(self.code)

    def stretch(self, mask: np.ndarray) -> np.ndarray | slice:
        """Rows that follow one another in each trace: of one trace a slice."""
        if not len(mask) or self.code[0] != self.code[-1]:
            return mask
        first = int(np.argmax(mask))
        return slice(first, first + int(np.count_nonzero(mask)))


def _depth(words: Sequence[tuple[int, int, int]]) -> int:
    """How many operands are there at a time."""
    most = there = 0
    for what, _, _ in words:
        if what in (kernels.ATOM, kernels.PAIR):
            there += 1
        elif what in (kernels.AND, kernels.OR, kernels.IMPLIES, kernels.UNTIL):
            there -= 1
        most = max(most, there)
    return most


def _stacked(rows: Sequence[np.ndarray], size: int, dtype: type) -> np.ndarray:
    """Rows of a matrix."""
    if len(rows) == 1:
        return np.ascontiguousarray(rows[0]).reshape(1, size)
    return np.stack(rows) if rows else np.empty((0, size), dtype)


def first_verdicts(
    judge: Judge, state: State, given: Sequence[Items], call: CallSteps, counted: Sequence[np.ndarray] | None = None
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


# --- Quantifiers ------------------------------------------------------------------------------------------------------


#: the items that a copy gets in its first round; four times as many in each later one
FIRST = 4


class Quantifier:
    """One quantifier of a formula.

    Its state: ``verdicts`` of positions that are kept: how many copies are open (``open``), the latest step at which
    one was decided so that the others decide (``so_far``), the step at which one has decided alone (``alone``).
    ``copies``: those that live, with slot, trace and position; the state of their bodies; the items that they may still
    get are those of their position and later, which they have got: nothing waits.
    """

    def __init__(self, part: Quantified, formula: tree.Formula, setting: Setting) -> None:
        self.part = part
        self.formula = formula
        self.setting = setting
        self.domain = Function(part.domain)
        (body,) = part.body.outputs
        inner = replace(setting, inner=True)
        self.judge: Judge | None = None
        if isinstance(body.node.processor, tree.Formula):
            self.network = Network(fused(body.node.inputs), inner)
            self.judge = Judge(body.node.processor, len(body.node.inputs), inner, True)
        else:
            self.network = Network(fused([body]), inner)

    def fresh(self) -> Copies:
        return Copies(self.fresh_body())

    def fresh_body(self) -> State:
        parts: dict[str, Part] = {"network": self.network.fresh()}
        if self.judge is not None:
            parts["judge"] = State(**self.judge.fresh())
        return State(**parts)

    # --- one call ---------------------------------------------------------------------------------------------------

    def update(
        self, own: Copies, items: Items, number: np.ndarray, time: np.ndarray, code: np.ndarray, positions: np.ndarray,
        call: CallSteps,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """T and F at the ``positions`` of traces ``code``, with the new items, their numbers and their ticks."""
        own.close_up()
        codes = items.codes
        own.made = 0
        made = self._begin(own, items, number, call)
        base = int(own.count.values[0])
        self._rounds(own, items, codes, time, made, base, call)
        own.count.values[0] = base + len(items) + len(items.ends)
        return self._verdicts(own, code, positions)

    def _begin(self, own: Copies, items: Items, number: np.ndarray, call: CallSteps) -> np.ndarray:
        """Make the copies of new positions; returns the row of ``items`` that each living copy begins with (or 0)."""
        before = len(own.copies["code"])
        if not len(items):
            return np.zeros(before, np.int64)
        codes = items.codes
        domains = self.domain.run(self.setting.env([items.value], codes, len(items), call)).pylist()
        rows, values = [], []
        for i, domain in enumerate(domains):
            if domain is not None and not isinstance(domain, (tuple, Set)):
                raise Fault("bad-value", "is not a list or set to quantify over", domain, i)
            for c in distinct(domain or ()):
                rows.append(i)
                values.append(c)
        at = np.array(rows, np.int64)
        size = np.bincount(at, minlength=len(items))
        own.add(codes, number, size, items.step)
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
        self,
        own: Copies,
        items: Items,
        codes: np.ndarray,
        times: np.ndarray,
        begin: np.ndarray,
        base: int,
        call: CallSteps,
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
            which, inside = ranges(at[live], sizes)
            rows = order[inside]
            slot = own.copies["slot"][live]
            over = ended[mine[live]] & (upto == stop[live])
            told[live] = over
            ended_here = Ends(slot[over], base + end_row[mine[live][over]]) if over.any() else NO_ENDS
            position = rows + base
            given = Items(items.value.take(rows), position, position, slot[which], ended_here)
            found = self._run(own, given, CallSteps(base, times, max(1, own.most), self._variables(own, call), None))
            at[live] = upto
            size *= 4
            freed = self._decide(own, *found, base, outer_step)
            if freed is not None:
                at, stop, mine, told = at[freed], stop[freed], mine[freed], told[freed]

    def _variables(self, own: Copies, call: CallSteps) -> dict[str, Variable]:
        outer = np.zeros(max(1, own.most), np.int64)
        outer[own.copies["slot"]] = own.copies["code"]
        variables = of_outer(call.variables, outer)

        def value(codes: np.ndarray) -> Col:
            return own.values.value.take(own.values.find(codes))

        variables[self.part.variable] = value
        return variables

    def _run(self, own: Copies, given: Items, call: CallSteps) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


class Copies(Compound):
    """The state of a :class:`Quantifier`."""

    def __init__(self, body: State) -> None:
        self.verdicts = Table("code", "number", "open", "so_far", "alone")
        self.copies = Table("slot", "code", "number")
        self.values = Latest()
        self.body = body
        self.spoken = Counts()
        self.count = Counts()
        self.most = 0
        self.unused: list[int] = []
        #: copies made in this call
        self.made = 0

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
        """New positions with so many copies; no verdict is known sooner than the ``step`` of its item."""
        table = self.verdicts
        columns = {
            "code": code, "number": number, "open": copies, "so_far": step, "alone": np.full(len(code), int(NEVER))
        }  # fmt: skip
        joined = {n: np.concatenate([table[n], c]) for n, c in columns.items()}
        order = np.argsort(_key(joined["code"], joined["number"]), kind="stable")
        table.put(**{n: c[order] for n, c in joined.items()})

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

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        super().load(tables)
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

    def rows(self) -> int:
        return self.parts().rows()


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
