"""What chains keep between calls: the tokens that wait at each step, of a group of rules and of each of its rules.

State: a table ``step<k>`` per step with the tokens that wait there.  ``begin``: when the step began; ``limit<g>``: when
guard g over this step runs out; ``rule``: the number of the rule, if there are several; of each earlier step t that has
bound an event ``<t>.time``, ``<t>.place`` (its number among all events of the operator), ``<t>.type`` (which one of the
types of the step), ``<t>.hi``, ``<t>.lo`` (the label), ``<t>.derived``, and its attributes as ``<t>:<name>``.
``seen``: how many events there were; ``new``: the rules that have not begun.

Tables are made when somebody asks for them: a call takes the columns that the call before left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.model.types import Type, from_arrow
from occurs.operators.columns import Column
from occurs.operators.growing import behind

#: no guard, or one that never runs out
NEVER = 2**63 - 1
NONE = np.zeros(0, np.int64)
#: the state of an operator, of a group or of a rule: tables by name
Pieces = Mapping[str, pa.Table]


#: of a sheet one row in so many may be of a token that is gone
GONE = 8


class Sheet:
    """The tokens that wait at one step; ``columns`` as named above, attributes as columns, others as arrays.  Never
    changed in place.

    ``rows``: of the columns.  ``gone``: those whose tokens wait no more; where they are few, they are not cut out, as
    that would copy all others.
    """

    def __init__(
        self, columns: Mapping[str, np.ndarray | Column], rows: int, table: pa.Table | None = None,
        gone: np.ndarray = NONE,
    ) -> None:  # fmt: skip
        self.columns, self.rows, self._table, self.gone = columns, rows, table, gone

    @classmethod
    def of(cls, table: pa.Table) -> Sheet:
        columns: dict[str, np.ndarray | Column] = {}
        for name in table.column_names:
            array = table.column(name)
            if ":" in name:
                columns[name] = Column.of(array, from_arrow(array.type) or Type.NULL)
            else:
                columns[name] = array.to_numpy()
        return cls(columns, len(table), table)

    def __len__(self) -> int:
        return self.rows - len(self.gone)

    @cached_property
    def waiting(self) -> np.ndarray:
        """Booleans (rows): does the token wait?"""
        out = np.ones(self.rows, np.bool_)
        out[self.gone] = False
        return out

    @cached_property
    def packed(self) -> Sheet:
        """The same tokens without rows that are gone."""
        return self.take(self.waiting) if len(self.gone) else self

    def numbers(self, name: str) -> np.ndarray | None:
        """A column of numbers; None if there is none of this name."""
        found = self.columns.get(name)
        assert not isinstance(found, Column)
        return found

    def known(self, name: str) -> np.ndarray:
        """The same of a column that is there."""
        found = self.numbers(name)
        assert found is not None, name
        return found

    def attribute(self, name: str) -> Column:
        """A column of values."""
        found = self.columns[name]
        assert isinstance(found, Column)
        return found

    @property
    def table(self) -> pa.Table:
        """The same as Arrow; of one sheet it is always the same table."""
        if self._table is None:
            whole = self.packed.columns
            self._table = pa.table({n: c.arrow if isinstance(c, Column) else c for n, c in whole.items()})
        return self._table

    @cached_property
    def ends(self) -> int:
        """When the first guard over one of the tokens runs out."""
        return min((self._least(n) for n in self.columns if n.startswith("limit")), default=NEVER)

    @cached_property
    def begins(self) -> int:
        """When the step of the first token began."""
        return self._least("begin")

    def _least(self, name: str) -> int:
        where = self.waiting if len(self.gone) else True
        return int(self.known(name).min(initial=NEVER, where=where))

    def take(self, some: np.ndarray) -> Sheet:
        """The tokens whose rows booleans choose; all of these wait."""
        at = np.flatnonzero(some)
        return Sheet({n: c.take(at) for n, c in self.columns.items()}, len(at))

    def without(self, some: np.ndarray) -> Sheet:
        """The tokens except those with the rows ``some``, which wait."""
        if not len(some):
            return self
        gone = np.concatenate([self.gone, some])
        out = Sheet(self.columns, self.rows, None, gone)
        return out.packed if GONE * len(gone) > self.rows else out

    def before(self, other: Sheet) -> Sheet | None:
        """The tokens of this sheet and behind them those of another; None if these have other columns."""
        if self.columns.keys() != other.columns.keys() or len(other.gone):
            return None
        columns: dict[str, np.ndarray | Column] = {}
        for name, one in self.columns.items():
            two = other.columns[name]
            if isinstance(one, Column) and isinstance(two, Column):
                columns[name] = two.behind(one) if one.type is two.type else Column.widened([one, two])
            else:
                columns[name] = behind(one, two)  # type: ignore[arg-type]
        return Sheet(columns, self.rows + other.rows, None, self.gone)


class Held(Mapping[str, pa.Table]):
    """The state of a group after a call: how many events there were, and the ``sheets`` of its steps by number."""

    def __init__(self, seen: int, sheets: Mapping[int, Sheet]) -> None:
        self.seen, self.sheets = seen, sheets

    @cached_property
    def _seen(self) -> pa.Table:
        return pa.table({"events": pa.array([self.seen])})

    def __getitem__(self, name: str) -> pa.Table:
        if name == "seen":
            return self._seen
        if not name.startswith("step"):
            raise KeyError(name)
        return self.sheets[int(name.removeprefix("step"))].table

    def __iter__(self) -> Iterator[str]:
        return iter(["seen", *(f"step{k}" for k in self.sheets)])

    def __len__(self) -> int:
        return 1 + len(self.sheets)


def sheets_of(state: Pieces) -> Mapping[int, Sheet]:
    """The sheets of a state by the numbers of their steps."""
    if isinstance(state, Held):
        return state.sheets
    return {int(n.removeprefix("step")): Sheet.of(t) for n, t in state.items() if n.startswith("step")}


def events_of(state: Pieces) -> int | None:
    """How many events there were; None if there was no call yet."""
    if isinstance(state, Held):
        return state.seen
    return int(state["seen"].column("events")[0].as_py()) if "seen" in state else None


# -- states of rules and of groups -------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class GroupState:
    """The state of a group, which is taken apart when somebody looks into the state of one of its ``rules``."""

    state: Pieces
    rules: int

    @cached_property
    def apart(self) -> list[dict[str, pa.Table]]:
        return [dict(self.state)] if self.rules == 1 else _apart(self.state, self.rules)

    @property
    def parts(self) -> list[Pieces]:
        """The states of the rules."""
        return [RuleState(self, rule) for rule in range(self.rules)]


@dataclass(frozen=True, eq=False)
class RuleState(Mapping[str, pa.Table]):
    """The state of one rule of a group."""

    whole: GroupState
    rule: int

    def __getitem__(self, name: str) -> pa.Table:
        return self.whole.apart[self.rule][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole.apart[self.rule])

    def __len__(self) -> int:
        return len(self.whole.apart[self.rule])


def together(states: Many[Pieces]) -> Pieces:
    """The state of a group of which these are the parts, each of one rule."""
    undivided = _undivided(states)
    if undivided is not None:
        return undivided
    if len(states) == 1:
        return states[0]
    if all("seen" not in s for s in states):
        return {}
    out: dict[str, pa.Table] = {}
    names = sorted({name for s in states for name in s if name.startswith("step")})
    for name in names:
        parts = []
        for rule, state in enumerate(states):
            if name in state:
                table = state[name]
                parts.append(table.append_column("rule", pa.array(np.full(len(table), rule, np.int64))))
        out[name] = pa.concat_tables(parts, promote_options="default").combine_chunks()
    # places of events are compared within a rule only; those to come are behind all
    out["seen"] = max((s["seen"] for s in states if "seen" in s), key=lambda t: t.column("events")[0].as_py())
    new = [rule for rule, s in enumerate(states) if "seen" not in s]
    if new:
        out["new"] = pa.table({"rule": pa.array(new, pa.int64())})
    return out


def _undivided(states: Many[Pieces]) -> Pieces | None:
    """The state of the group of which these are the parts, all of them and in their order."""
    first = states[0]
    if not isinstance(first, RuleState) or first.whole.rules != len(states):
        return None
    whole = first.whole
    if all(isinstance(s, RuleState) and s.whole is whole and s.rule == r for r, s in enumerate(states)):
        return whole.state
    return None


def _apart(state: Pieces, rules: int) -> list[dict[str, pa.Table]]:
    new = set(state["new"].column("rule").to_pylist()) if "new" in state else set()
    out: list[dict[str, pa.Table]] = [
        {} if rule in new or "seen" not in state else {"seen": state["seen"]} for rule in range(rules)
    ]
    for name, table in state.items():
        if not name.startswith("step"):
            continue
        rule = table.column("rule").to_numpy()
        order = np.argsort(rule, kind="stable")
        start = np.searchsorted(rule[order], np.arange(rules + 1))
        table = table.drop_columns(["rule"]).take(pa.array(order)).combine_chunks()
        for r in range(rules):
            if start[r] < start[r + 1]:
                out[r][name] = table.slice(start[r], start[r + 1] - start[r])
    return out
