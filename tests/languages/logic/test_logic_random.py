"""Random triggers: the reference against the monitors, its own laws, and what the makers make."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.generators.random_logic import random_core, random_logic
from tests.generators.random_logic_formula import PAST, Formulas, Known
from tests.laws.logic_monitors import Monitor, firings
from tests.textcases.logic import LogicCase, monitored, never, reference, run_of

from occurs.languages.logic import syntax
from occurs.languages.logic.parser import parse
from occurs.languages.logic.render import render
from occurs.languages.logic.semantics import Run, types_read
from occurs.languages.logic.semantics.formula import Looking, core
from occurs.model.occurrence import Occurrence

MAKERS = [random_core, random_logic]
Maker = Callable[[random.Random], LogicCase]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(12))
def test_monitors_fire_as_the_reference_does(make: Maker, seed: int) -> None:
    case = make(random.Random(seed))
    assert make(random.Random(seed)) == case
    agree(case)


@pytest.mark.long
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("block", range(20))
def test_monitors_fire_as_the_reference_does_on_many(make: Maker, block: int) -> None:
    for seed in range(10_000 + block * 500, 10_500 + block * 500):
        agree(make(random.Random(seed)))


def agree(case: LogicCase) -> None:
    """Monitors, strategies, order of rows, and time."""
    found = reference(case)
    labels = [e.label for e in found]
    assert Counter(monitored(case)) == Counter(labels), case.rules
    # a firing depends on nothing later, and on no order of rows
    rows = sorted(case.events, key=lambda r: r.time)
    end = rows[len(rows) // 2].time
    rows.reverse()
    early = reference(replace(case, events=tuple(rows), until=min(end, case.until or end)))
    assert [e.label for e in early] == [label for label in labels if label[-1] <= end], case.rules


@pytest.mark.parametrize("seed", range(20))
def test_a_formula_holds_iff_it_has_an_end(seed: int) -> None:
    """The lemma of 4.3, at every state and for all prefixes, for the formula and its negation."""
    for look, formula in looks(random_core(random.Random(seed), depth=2, most_states=6)):
        for i in range(len(look.states)):
            holds = look.satisfied(formula, i, {})
            assert bool(look.ends(formula, i, {})) is holds
            assert bool(look.ends(formula, i, {}, hold=False)) is (not holds)
            assert all(i <= n <= look.last for n in look.ends(formula, i, {}))


def looks(case: LogicCase) -> list[tuple[Looking, syntax.Formula]]:
    """The formula of the trigger over each prefix of its history."""
    run = run_of(case)
    (instance,) = run.instances()
    formula = core(instance.trigger.formula)
    ends = range(1, len(instance.states) + 1)
    return [(Looking(run.catalogue, run.kind, instance.states[:n], {}), formula) for n in ends]


@pytest.mark.parametrize("seed", range(20))
def test_without_a_gap_reactivate_fires_when_the_formula_is_first_satisfied(seed: int) -> None:
    case = random_core(random.Random(seed))
    (trigger,) = [d for d in case.definitions if isinstance(d, syntax.Trigger)]
    plain = replace(trigger, continues=False, gap=None)
    run = Run([plain if d is trigger else d for d in case.definitions], case.events, case.kind, case.inputs)
    (instance,) = run.instances()
    found = next(iter(run.firings(instance)), None)
    formula = core(plain.formula)
    satisfied = (
        n
        for n in range(len(instance.states))
        if Looking(run.catalogue, run.kind, instance.states[: n + 1], {}).satisfied(formula, n * plain.past, {})
    )
    assert (found.at if found else None) == next(satisfied, None)


@pytest.mark.parametrize("seed", range(30))
def test_never_is_never_wrong(seed: int) -> None:
    """Of a history that goes on: behind a notice there is no firing, and its time does not depend on what comes."""
    case = random_core(random.Random(seed + 500))
    more = random_core(random.Random(seed + 90_000)).events
    end = max(r.time for r in case.events)
    longer = replace(case, events=(*case.events, *(replace(r, time=r.time + end + 6) for r in more)), until=None)
    notices = never(longer)
    assert [n for n in notices if n.time <= end] == never(replace(case, until=None))
    for notice in notices:
        assert all(e.time <= notice.time for e in reference(longer))


@pytest.mark.parametrize("seed", range(20))
def test_a_past_trigger_is_a_future_one_behind_eventually(seed: int) -> None:
    """Both of the paper's algorithms, under all strategies; OVERLOAD in both logics."""
    rng = random.Random(seed)
    case = random_core(rng)
    own = next(d for d in case.definitions if isinstance(d, syntax.Trigger))
    past = Formulas(rng, Known(("a", "b"), ("p", "q"), (("f", None, None),)), case.kind).formula(3, PAST)
    given = tuple(d for d in case.definitions if d is not own)
    overload, looking_back = parse(OVERLOADS)[0].definitions
    assert isinstance(overload, syntax.Trigger)
    assert isinstance(looking_back, syntax.Trigger)
    one = replace(own, formula=past, past=True), replace(own, formula=syntax.Eventually(past), past=False)
    for pair in (one, (overload, looking_back)):
        found = []
        for trigger in pair:
            named = replace(trigger, name=own.name, continues=own.continues, gap=own.gap, observing=own.observing)
            run = Run([*given, named], case.events, case.kind, case.inputs, (), case.start, case.until)
            labels = [event.label for _, event in run.all_events()]
            assert firings(run) == labels
            found.append(labels)
        assert found[0] == found[1], render(pair[0])


OVERLOADS = """
    trigger m: eventually [t0 <- time][x <- a] eventually (a >= 2x and time <= t0 + 3)
    past trigger n: [t0 <- time][x <- a] previously (a <= .5x and time >= t0 - 3)
"""


def test_most_cases_fire() -> None:
    for make, least in ((random_core, 13), (random_logic, 17)):
        cases = [make(random.Random(seed)) for seed in range(2000, 2030)]
        found = [reference(c) for c in cases]
        assert sum(map(bool, found)) >= least
    notices = [never(random_core(random.Random(seed))) for seed in range(2000, 2030)]
    assert sum(map(bool, notices)) >= 3


def test_all_of_the_language_takes_part() -> None:
    cases = [random_logic(random.Random(seed)) for seed in range(150)]
    for case in cases:
        tree, problems = parse(case.rules, "random.ftl")
        assert not problems
        assert "".join(f"{render(d)}\n" for d in tree.definitions) == case.rules
        for made in case.analysis.triggers:
            assert set(made.reads) == types_read(run_of(case).catalogue, made.trigger)
    texts = [c.rules for c in cases]
    for word in (
        *("nexttime", "lasttime", " until ", " since ", "release", "weak until", "eventually", "always", "previously"),
        *("throughout", "until[<=", "[>=", "[=", "[<", "[>", "until[", " implies ", " from ", " within ", " is null"),
        *("is not null", "exists (select", "<- T]", "<- time]", "for each k", "for each y in", "observing all"),
        *(
            "observing every",
            "at most every",
            "emit ",
            "continue",
            "above(",
            "total",
            "T(",
            "e(",
            "e.n",
            " mod ",
            "e.k",
        ),
    ):
        assert sum(word in t for t in texts) > 2, word


def test_what_a_bounded_monitor_keeps_does_not_grow() -> None:
    rules = """
        state s(p boolean, q boolean, a int);
        trigger t1: eventually [x <- a] eventually within 10 (a >= 2x and p) continue;
        past trigger t2: [x <- a] previously within 10 (a <= .5x and lasttime q) continue;
        past trigger t3: [t <- time] previously (p and q and time >= t - 10) and count of a within 7 > 3 continue;
    """
    rng = random.Random(1)
    case = LogicCase("sizes", rules, ())
    sizes: dict[str, list[int]] = {}
    events = [
        Occurrence("s", n, {**{k: rng.random() < 0.5 for k in "pq"}, "a": rng.randint(0, 9)}) for n in range(0, 400, 2)
    ]
    run = run_of(replace(case, events=tuple(events)))
    for instance in run.instances():
        monitor = Monitor(instance, run.catalogue, run.kind)
        for state in instance.states:
            monitor.advance(state)
            sizes.setdefault(instance.trigger.name.text, []).append(monitor.size)
    assert len(sizes) == 3
    for found in sizes.values():
        assert max(found[100:]) <= max(found[:100]) + 4 < 40
