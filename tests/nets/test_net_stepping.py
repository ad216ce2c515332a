"""Stepping forth and back: any sequence of clicks is what plain firing does, and back is the inverse of forth."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_typed import RandomNet
from small_nets import NEXT, example_1, figure_3
from test_net_simulate import attempted

from occurs.errors import InputProblem, OccursError, UsageProblem
from occurs.nets import firing, stepping
from occurs.nets.net import Marking, Net
from occurs.nets.simulate import Simulator
from occurs.nets.stepping import Breaks, Stepper, Stop

click = st.one_of(
    st.tuples(st.just("step"), st.integers(1, 5)),
    st.tuples(st.just("fire"), st.integers(0, 20)),
    st.tuples(st.just("back"), st.integers(0, 12)),
    st.tuples(st.just("reset"), st.none() | st.integers(0, 3)),
)


class Plain:
    """The same clicks by plain firing: every marking is kept, with the random state."""

    def __init__(self, net: Net, seed: int | None) -> None:
        self.net = net
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        self.rng = None if seed is None else random.Random(seed)
        self.states = [(self.net.initial, None if self.rng is None else self.rng.getstate())]

    @property
    def marking(self) -> Marking:
        return self.states[-1][0]

    def enabled(self) -> list[firing.Element]:
        return firing.enabled(self.net, self.marking)

    def fire(self, element: firing.Element) -> None:
        after = firing.fire(self.net, self.marking, element)
        self.states.append((after, None if self.rng is None else self.rng.getstate()))

    def step(self) -> firing.Element | None:
        found = self.enabled()
        if not found:
            return None
        element = found[0] if self.rng is None else self.rng.choice(found)
        try:
            self.fire(element)
        except OccursError:
            self._again()
            raise
        return element

    def back(self, n: int) -> None:
        del self.states[len(self.states) - n :]
        self._again()

    def _again(self) -> None:
        if self.rng is not None:
            self.rng.setstate(self.states[-1][1])  # type: ignore[arg-type]


def done(one: Stepper | Plain, name: str, value: Any, enabled: list[firing.Element]) -> Any:
    if name == "step":
        return [attempted(one.step) for _ in range(value)]
    if name == "fire":
        return attempted(lambda: one.fire(enabled[value % len(enabled)])) if enabled else None
    return one.back(value) if name == "back" else one.reset(value)


def same(one: Any, other: Any) -> bool:
    """Errors are of one kind; which of two tokens is named is open."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (isinstance(one, OccursError) or one == other)


@settings(deadline=None)
@given(st.integers(0, 400), st.booleans(), st.none() | st.integers(0, 3), st.lists(click, max_size=12), st.data())
def test_any_clicks_are_plain_firing(number: int, black: bool, seed: int | None, clicks: list[Any], data: Any) -> None:
    net = RandomNet(number, black).net()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepping, "EVERY", data.draw(st.sampled_from([1, 2, 5, 1000])))
        patch.setattr(stepping, "MOST_TOKENS", data.draw(st.sampled_from([0, 40, 2_000_000])))
        patch.setattr(stepping, "NEAR", data.draw(st.sampled_from([1, 3, 50])))
        stepper, plain = Stepper(net, seed), Plain(net, seed)
        for name, value in clicks:
            enabled = plain.enabled()
            listed = [(c.transition, b) for c in stepper.choices(10_000) for b in c.bindings]
            assert listed == enabled
            if name == "back":
                value = min(value, stepper.steps)
            assert same(done(stepper, name, value, enabled), done(plain, name, value, enabled))
            assert (stepper.steps, stepper.marking) == (len(plain.states) - 1, plain.marking)


@settings(deadline=None)
@given(st.integers(0, 400), st.booleans(), st.none() | st.integers(0, 3), st.integers(0, 30))
def test_back_is_the_inverse(number: int, black: bool, seed: int | None, n: int) -> None:
    stepper = Stepper(RandomNet(number, black).net(), seed)
    seen = [stepper.marking]
    try:
        while len(seen) <= n and stepper.step() is not None:
            seen.append(stepper.marking)
    except InputProblem:
        pass
    for before in reversed(seen[:-1]):
        stepper.back(1)
        assert stepper.marking == before
    assert stepper.steps == 0


@pytest.mark.parametrize("black", [False, True])
def test_only_the_first_bindings_are_listed_and_all_are_counted(black: bool) -> None:
    several = 0
    for number in range(120):
        simulator = Simulator(RandomNet(number, black).net())
        for _ in range(4):
            whole, few = simulator.choices(10_000), simulator.choices(2)
            assert [(c.transition, c.bindings[:2], len(c.bindings)) for c in whole] == [
                (c.transition, c.bindings, c.count) for c in few
            ]
            several += any(c.count > 2 for c in few)
            if isinstance(attempted(simulator.step), OccursError | None):
                break
    assert several > 10


def test_places_that_a_firing_changes() -> None:
    simulator = Simulator(example_1())
    assert simulator.changes("Process") == ("C", "P", "S")
    before = simulator.marking
    name, _ = simulator.step() or ("", {})
    changed = {p for p in before if simulator.marking.tokens[p] != before.tokens[p]}
    assert changed <= set(simulator.changes(name))
    assert simulator.tokens("C") == {1: 1}


def test_what_is_not_enabled_cannot_fire() -> None:
    stepper = Stepper(example_1())
    ((transition, binding),) = [(c.transition, c.bindings[0]) for c in stepper.choices(1)]
    for element, kind, text in (
        (("nix", {}), "unknown-name", "no transition `nix`"),
        (("Process", binding), "not-enabled", "transition `Process` (page `Sum`) is not enabled"),
        ((transition, {**binding, "n": 77}), "not-enabled", "is not enabled with these values"),
    ):
        with pytest.raises(UsageProblem) as refused:
            stepper.fire(element)
        assert (refused.value.kind, text in str(refused.value)) == (kind, True)
    assert (stepper.steps, stepper.marking) == (0, example_1().initial)


def test_runs_stop_where_they_are_told_to() -> None:
    net = example_1()
    end = Stepper(net)
    assert end.run() == Stop("end")
    assert end.steps == 23
    stepper = Stepper(net)
    assert (stepper.run(5), stepper.steps) == (Stop("steps"), 5)
    stepper.reset()
    assert stepper.run(breaks=Breaks(frozenset({"Process"}))) == Stop("break", "Process")
    first = stepper.steps
    assert stepper.run(breaks=Breaks(frozenset({"Process"}))) == Stop("break", "Process")
    assert stepper.steps > first
    stepper.reset()
    assert stepper.run(breaks=Breaks(places={"M": 7, "S": 99})) == Stop("break", "M")
    assert stepper.simulator.count("M") == 7
    assert stepper.run(breaks=Breaks(places={"M": 7})) == Stop("end")
    stepper.back(stepper.steps)
    assert stepper.run(each=lambda element: element[0] != "Process") == Stop("asked")
    for breaks in (Breaks(frozenset({"nix"})), Breaks(places={"nix": 1})):
        with pytest.raises(UsageProblem, match="nix"):
            stepper.run(breaks=breaks)


def test_more_cannot_be_taken_back_than_was_fired() -> None:
    stepper = Stepper(figure_3(NEXT))
    stepper.run(2)
    for n in (-1, 3):
        with pytest.raises(UsageProblem, match="cannot be taken back"):
            stepper.back(n)
    assert stepper.steps == 2


def test_what_does_not_change_is_kept_once() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepping, "EVERY", 2)
        stepper = Stepper(example_1())
        stepper.run()
        kept = [k.marking.tokens["P"] for k in stepper._kept]
        assert len(kept) == 12
        assert len({id(tokens) for tokens in kept}) < 12
        assert all(k.marking == firing.run(example_1(), limit=k.steps).marking for k in stepper._kept)


def test_a_marking_near_to_where_it_went_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepping, "NEAR", 4)
    stepper = Stepper(example_1())
    stepper.run()
    stepper.back(3)
    assert [k.steps for k in stepper._kept] == [0, 16]
    stepper.back(5)
    assert [k.steps for k in stepper._kept] == [0, 11]


def test_markings_are_kept_less_often_where_there_are_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepping, "EVERY", 2)
    monkeypatch.setattr(stepping, "MOST_TOKENS", 25)
    stepper = Stepper(example_1(), 3)
    seen = [stepper.marking]
    while stepper.step() is not None:
        seen.append(stepper.marking)
    assert len(stepper._kept) < 8
    for n in (1, 4, 9, 2):
        stepper.back(n)
        assert stepper.marking == seen[stepper.steps]
