"""Triggers over whole columns against the reference: random ones, in one call and in several, saved in between."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.amount import amount
from tests.generators.random_logic import random_core, random_logic
from tests.laws.logic import Subject
from tests.textcases.logic import LogicCase, reference, run_of

from occurs.expr.tree import Expr, Literal
from occurs.languages.logic.semantics import Run
from occurs.languages.logic.semantics.histories import Instance
from occurs.languages.logic.semantics.states import State
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.layers import Layers
from occurs.operators.temporal import vectorised
from occurs.operators.temporal.ahead import network_ahead
from occurs.operators.temporal.evaluators import network_of
from occurs.operators.temporal.network import Memory, Network, States, advance, restored, saved
from occurs.operators.temporal.tree import Generic, Happens, Last, Time, Value, Variable
from occurs.operators.temporal.vectorising import Unsuited

Found = list[tuple[int, int, int]]
_ARROW = {Type.INT: pa.int64(), Type.FLOAT: pa.float64(), Type.BOOL: pa.bool_(), Type.STRING: pa.string()}
_ARROW |= {Type.TIMESTAMP: pa.timestamp("us"), Type.NULL: pa.null()}


def leaves(rows: Sequence[tuple[Instance, State]], kind: TimeKind) -> Callable[[Expr], pa.Array]:
    """The columns of leaves, read off the states of the reference."""

    def fixed(term: Expr, instance: Instance) -> Any:
        if isinstance(term, Literal):
            return term.value
        assert isinstance(term, Generic)
        return instance.generics[term.name]

    def happens(leaf: Happens, instance: Instance, state: State) -> bool:
        wanted = [fixed(a, instance) for a in leaf.args]
        found = [[e.attributes.get(n) for n in leaf.names] for e in state.events.get(leaf.event, ())]
        return None not in wanted and wanted in found

    def looked_up(leaf: Value, instance: Instance, state: State) -> Any:
        names = [c.name.text for c in state.catalogue.tables[leaf.table].columns if c.key]
        wanted = [fixed(k, instance) for k in leaf.keys]
        return next((r[leaf.column] for r in state.tables[leaf.table] if [r[n] for n in names] == wanted), None)

    def last(leaf: Last, state: State) -> Any:
        events = state.events.get(leaf.event)
        return events[-1].attributes.get(leaf.attribute) if events else None

    def column(leaf: Expr) -> pa.Array:
        match leaf:
            case Time():
                return pa.array([s.time for _, s in rows], pa.timestamp("us") if kind.timestamp else pa.int64())
            case Variable():
                return pa.array([s.variables[leaf.name] for _, s in rows], _ARROW[leaf.type or Type.NULL])
            case Generic():
                return pa.array([i.generics[leaf.name] for i, _ in rows], _ARROW[leaf.type or Type.NULL])
            case Last():
                return pa.array([last(leaf, s) for _, s in rows], _ARROW[leaf.type or Type.NULL])
            case Happens():
                return pa.array([happens(leaf, i, s) for i, s in rows], pa.bool_())
            case Value():
                return pa.array([looked_up(leaf, i, s) for i, s in rows], _ARROW[leaf.type or Type.NULL])
        raise AssertionError(leaf)

    return column


@dataclass(frozen=True)
class Plan:
    """A trigger over columns: its network, the least ticks between two firings (0: none), its strategy."""

    network: Network
    gap: int
    continues: bool


def fired(p: Plan, instances: Sequence[Instance], kind: TimeKind, cuts: Sequence[int] = ()) -> Found:
    """(number of the instance, time, time of activation) of all firings; the states are saved at every cut."""
    memory, since, out = Layers(Memory.empty(p.network)), -(2**63), []
    for until in [*cuts, 2**63]:
        parts = [(c, i, [s for s in i.states if since < s.time <= until]) for c, i in enumerate(instances)]
        parts = [part for part in parts if part[2]]
        since = until
        start = np.cumsum([0] + [len(states) for *_, states in parts])
        time = np.array([s.time for *_, states in parts for s in states], np.int64)
        code = np.array([c for c, *_ in parts], np.int64)
        rows = [(i, s) for _, i, states in parts for s in states]
        made = States(code, start, time, leaves(rows, kind))
        memory, found = advance(p.network, memory, made, kind=kind, gap=p.gap, continues=p.continues)
        if cuts:
            memory = Layers.of(restored(p.network, saved(p.network, memory.whole())))
        of = np.repeat(code, np.diff(start))
        out += [(int(of[j]), int(time[j]), int(found.since[j])) for j in np.flatnonzero(found.fired)]
    return sorted(out)


def expected(run: Run, instances: Sequence[Instance], continues: bool) -> Found:
    found = []
    for c, i in enumerate(instances):
        with_strategy = replace(i, trigger=replace(i.trigger, continues=continues))
        found += [(c, f.time, i.states[f.since].time) for f in run.firings(with_strategy)]
    return sorted(found)


def plans(case: LogicCase, obligations: bool = False) -> dict[str, Plan]:
    """Of the triggers that have one; ``obligations``: future ones by these, even if there is a network."""
    found = {}
    for trigger in case.analysis.triggers:
        try:
            written = trigger.trigger
            gap = 0 if written.gap is None else math.ceil(case.kind.convert(written.gap) or 0)
            ahead = obligations and not written.past
            network = (
                network_ahead(trigger.formula, case.kind)
                if ahead
                else network_of(trigger.formula, written.past, case.kind)
            )
            found[written.name.text] = Plan(network, gap, written.continues)
        except Unsuited:
            continue
    return found


def agree(case: LogicCase, rng: random.Random, obligations: bool = False) -> int:
    """Both strategies; how many triggers were looked at."""
    run, made = run_of(case), plans(case, obligations)
    instances: dict[str, list[Instance]] = {name: [] for name in made}
    for i in run.instances():
        instances.get(i.trigger.name.text, []).append(i)
    for name, p in made.items():
        times = sorted({s.time for i in instances[name] for s in i.states})
        cuts = sorted(rng.sample(times, min(3, len(times))))
        for continues in (True, False):
            mine = replace(p, continues=continues)
            wanted = expected(run, instances[name], continues)
            assert fired(mine, instances[name], case.kind) == wanted, case.rules
            assert fired(mine, instances[name], case.kind, cuts) == wanted, case.rules
    return len(made)


@pytest.mark.share(4)
@pytest.mark.parametrize("make", [random_core, random_logic])
@pytest.mark.parametrize("obligations", [False, True])
def test_columns_fire_as_the_reference_does(make: Callable[[random.Random], LogicCase], obligations: bool) -> None:
    assert sum(agree(make(random.Random(seed)), random.Random(seed), obligations) for seed in range(40)) >= 16


@pytest.mark.long
@pytest.mark.parametrize("make", [random_core, random_logic])
@pytest.mark.parametrize("block", range(20))
def test_columns_fire_as_the_reference_does_on_many(make: Callable[[random.Random], LogicCase], block: int) -> None:
    for seed in range(20_000 + block * 500, 20_500 + block * 500):
        agree(make(random.Random(seed)), random.Random(seed), seed % 2 == 0)


RULES = [
    "eventually (p and eventually within 3 (a > 3) and eventually within 5 (b > 3))",
    "eventually [x <- a] (b >= x until[<=4] (a > x and q))",
    "eventually ((always within 2 p) and eventually within 4 (a > 3))",
    "eventually (([x <- a][y <- b] nexttime (a >= x implies b >= y)) until[>=6] true)",
    "always (p implies eventually within 3 q)",
    "eventually [x <- a] always (q or [y <- b] eventually (a > x and b != y))",
    "eventually (q and not (p until (a > 3 and time <= 20)))",
    "eventually [t0 <- time][x <- a] eventually (a >= 2x and time <= t0 + 3)",
    "past [t0 <- time][x <- a] previously (a <= .5x and time >= t0 - 3)",
    "eventually [x <- a] eventually within 4 (a = 2x)",
    "eventually [x <- a] eventually[2, 5] (a != x and p)",
    "eventually [x <- a][y <- b] (p until[<=5] (a > x and b < y and q))",
    "eventually [x <- a] nexttime (a != x and eventually within 4 q)",
    "eventually (q and always within 4 p)",
    "eventually (q and not p until[2, 4] q)",
    "eventually (p and nexttime (not p until[3,5] q))",
    "eventually (p until[>=4] true)",
    "eventually [x <- a] always[<3] p",
    "eventually (p and (q release[<=4] p))",
    "eventually (p weak until q)",
    "eventually (p and lasttime q and nexttime not q)",
    "eventually (p and (p until q) and eventually b > 3 and not always a < 4)",
    "eventually (q and ((p until b > 2) and (q until a > 2)))",
    "eventually (a > 2 and [t0 <- time] eventually (b > 2 and eventually (q and time <= t0 + 4)))",
    "eventually [t0 <- time] (p until (b > 2 and time <= t0 + 6 and q until (a > 2 and time < t0 + 9)))",
    "past p since[>=4] p",
    "past [x <- a] lasttime (a < x and q)",
    "past p since[=3] q",
    "past [x <- a] (p since[1, 4] (b > x and q))",
    "past sum of a from p >= 5",
    "past avg of a within 5 > 2.5",
    "past count of a from p = 2 or min of b within 4 < 1",
    "past max of b from q = 4 and 2.5 < avg of a from p",
]


@pytest.mark.share(4)
@pytest.mark.parametrize("rule", RULES)
def test_every_form_fires_as_the_reference_does(rule: str) -> None:
    word = "past " if rule.startswith("past ") else ""
    text = f"state s(p boolean, q boolean, a int, b int);\n{word}trigger m: {rule.removeprefix(word)}"
    found: Counter[bool] = Counter()
    for seed in range(amount(2, 4)):
        rng = random.Random(seed)
        rows, time = [], 0
        for _ in range(25):
            time += rng.choice((1, 1, 1, 2, 4))
            values: dict[str, Any] = {n: rng.choice((True, True, False)) for n in "pq"}
            values |= {n: rng.choice((*range(5), None)) for n in "ab"}
            rows.append(Occurrence("s", time, values))
        gap = f" at most every {rng.randint(2, 5)}" if seed == 3 else ""
        case = LogicCase("form", f"{text} continue{gap}", tuple(rows))
        assert agree(case, rng) == 1
        assert seed or agree(case, rng, obligations=True) == 1
        (p,) = plans(case).values()
        found[bool(fired(p, run_of(case).instances(), case.kind))] += 1
    assert found[True] >= amount(1, 2)


@pytest.mark.share(4)
@pytest.mark.parametrize("most", [3, 40])
def test_states_without_rows_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """However many of them are made at once, and however far apart rows are."""
    rules = """
        table T(k string key, v int);
        trigger quiet for each y in (select k from T) observing every 7:
            eventually ([x <- T(y)] eventually within 30 T(y) > x) continue at most every 10;
    """
    rng = random.Random(most)
    rows, time = [], 0
    for _ in range(amount(20, 40)):
        time += rng.choice((1, 2, 5, 60))
        values = {"op": "delete"} if rng.random() < 0.1 else {"v": rng.randint(0, 9)}
        rows.append(Occurrence("T", time, {"k": rng.choice("abc"), **values}))
    case = LogicCase("ticks", rules, tuple(rows), until=time + 50)
    monkeypatch.setattr(vectorised, "MOST_TICKS", most)
    subject = Subject(case)
    found = subject.answer([time // 2, time + 50])
    assert not isinstance(found, str)
    wanted = [(e.time, e.attributes["y"]) for e in reference(case)]
    assert [(e.time, e.attributes["y"]) for e in found] == wanted
    assert len(wanted) > 10
    (definition,) = subject.stage.definitions
    assert isinstance(definition.evaluator, vectorised.Columns)


def test_all_instances_leave_after_an_overflow() -> None:
    """What is saved then says that an integer has overflowed, so that the next instance finds it."""
    rules = """
        table B(k int key, v int)
        trigger t for each k in (select k from B): previously (B(k) + 1 > 0 and B(k) < 9)
    """
    (p,) = plans(LogicCase("overflow", rules, ())).values()
    memory = restored(p.network, saved(p.network, replace(Memory.empty(p.network.doubted()), doubted=True)))
    assert memory.doubted
    assert memory.slots.shape[1] == 2 * len(p.network.program)
