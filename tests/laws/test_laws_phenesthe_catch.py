"""The laws for Phenesthe pass what keeps them, and each notices what breaks it.

What runs here is the reference semantics: it keeps all rows, and gives everything at closing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import pytest
from tests.generators.random_phenesthe import random_program
from tests.laws.phenesthe import Subject, all_laws, cutting, forgetting, meaning, restart, splitting
from tests.textcases.phenesthe import KINDS, LastingCase, Line, Loaded, parse_rows, shown

from occurs.languages.phenesthe.semantics import Row, evaluate

SEEDS = range(80)


class Slow:
    """Keeps every row, and evaluates them at closing."""

    def __init__(self, loaded: Loaded, saved: Any = None) -> None:
        self.loaded = loaded
        self.rows, self.frontier = saved or ([], 0)

    def found(self, until: int) -> set[Line]:
        case = self.loaded.case
        return shown(evaluate(self.loaded.file, self.rows, kind=case.kind, facts=self.loaded.facts, until=until))

    def advance(self, rows: Sequence[Row], frontier: int) -> Iterable[Line]:
        self.rows, self.frontier = [*self.rows, *rows], frontier
        return []

    def close(self) -> Iterable[Line]:
        return self.found(self.frontier)

    def save(self) -> Any:
        return self.rows, self.frontier

    def held(self) -> int:
        return 0


def caught(law: Callable[[LastingCase], Any], cases: Iterable[LastingCase]) -> bool:
    for case in cases:
        try:
            law(case)
        except AssertionError:
            return True
    return False


@cache
def cases() -> list[LastingCase]:
    return [random_program(random.Random(seed), most_definitions=3) for seed in SEEDS]


#: what a vessel does is its own matter
RULES = """input event a(k), b(k).
input state q(k).
state s(K) : a(K) ~> b(K).
dynamic d(K) : s(K) before q(K)."""
KEY = {"a": ("k",), "b": ("k",), "q": ("k",)}
ROWS = "a(1)@1 9 a(2)@2 a(3)@2 b(1)@4 b(2)@5 b(3)@11 q(1)@[6,8] q(2)@[7,9] q(3)@[3,4] [12,14] q(2)@[20,∞)"


def keyed(rules: str = RULES) -> LastingCase:
    rows = tuple(parse_rows(ROWS))
    return LastingCase("keyed", rules, rows, (), None, None, "batch", KINDS["none"], {}, "", "keyed", 0)


def test_what_keeps_the_laws_passes():
    for number, case in enumerate(cases()[:25]):
        all_laws(case, Slow, random.Random(number))
    all_laws(keyed(), Slow, random.Random(0), KEY)


def test_meaning_notices_a_row_less():
    class Less(Slow):
        def close(self) -> Iterable[Line]:
            return sorted(super().close(), key=repr)[1:]

    assert caught(lambda case: meaning(Subject(case, Less)), [keyed()])


def test_meaning_notices_a_row_given_twice():
    class Twice(Slow):
        def close(self) -> Iterable[Line]:
            return [*super().close()] * 2

    assert caught(lambda case: meaning(Subject(case, Twice)), [keyed()])


def test_cutting_notices_what_is_forgotten():
    class Short(Slow):
        def advance(self, rows: Sequence[Row], frontier: int) -> Iterable[Line]:
            self.rows = [r for r in self.rows if r.time > self.frontier - 5]
            return super().advance(rows, frontier)

    assert caught(lambda case: cutting(Subject(case, Short), random.Random(case.rules)), cases())


@pytest.mark.parametrize("hasty", ["the closed rows of now", "all rows of now"])
def test_cutting_notices_what_is_not_final(hasty: str):
    class Hasty(Slow):
        given: frozenset[Line] = frozenset()

        def advance(self, rows: Sequence[Row], frontier: int) -> Iterable[Line]:
            super().advance(rows, frontier)
            new = {r for r in self.found(frontier) if hasty.startswith("all") or r[-2] is not None} - self.given
            self.given |= new
            return new

        def close(self) -> Iterable[Line]:
            return set(super().close()) - self.given

    assert caught(lambda case: cutting(Subject(case, Hasty), random.Random(case.rules)), cases())


def test_cutting_notices_what_would_be_otherwise_if_nothing_came():
    """An end that lies beyond the frontier is not known, even if a row says it."""

    class Knowing(Slow):
        done = False

        def advance(self, rows: Sequence[Row], frontier: int) -> Iterable[Line]:
            super().advance(rows, frontier)
            new = [("s", r.time, r.end, (("K", False, r.attributes["k"]),)) for r in rows if r.end is not None]
            return new if frontier == 7 else self.later(new)

        def later(self, new: list[Line]) -> list[Line]:
            self.rest = [*getattr(self, "rest", []), *new]
            return []

        def close(self) -> Iterable[Line]:
            return getattr(self, "rest", [])

    case = keyed("input state q(k).\ninput event a(k), b(k).\nstate s(K) : q(K).")
    assert caught(lambda case: [cutting(Subject(case, Knowing), random.Random(seed)) for seed in range(20)], [case])


def test_restart_notices_what_is_not_saved():
    class Loose(Slow):
        def save(self) -> Any:
            return self.rows[1:], self.frontier

    assert not caught(lambda case: restart(Subject(case, Slow), random.Random(1)), [keyed()])
    assert caught(lambda case: restart(Subject(case, Loose), random.Random(1)), [keyed()])


def test_splitting_notices_a_wrong_key():
    def split(case: LastingCase, key: dict[str, tuple[str, ...]]) -> bool:
        law = lambda c: [splitting(Subject(c, Slow), key, random.Random(0), parts) for parts in (2, 3)]  # noqa: E731
        return caught(law, [case])

    assert not split(keyed(), KEY)
    assert split(keyed(RULES.replace("q(K)", "q(_)")), KEY)


def test_forgetting_notices_what_is_kept():
    class Greedy(Slow):
        def held(self) -> int:
            return len(self.rows)

    class Bounded(Slow):
        def held(self) -> int:
            return min(len(self.rows), 7)

    said = [case for case in cases()[:25] if forgetting(Subject(case, Bounded))]
    # that many say something: nothing is left open in them
    assert len(said) >= 3
    assert all(caught(lambda case: forgetting(Subject(case, Greedy)), [case]) for case in said)
