"""Random programs of temporal triggers with small histories, right by construction.

Both makers are functions of their ``random.Random`` alone, so a failing program is found again by its seed.
:func:`random_core` is one trigger over the variables and events of a few states, :func:`random_logic` a program with
tables, views, generic triggers and triggers over triggers.
"""

from __future__ import annotations

import random
from typing import Any

from tests.generators.random_logic_formula import FUTURE, PAST, TEXT, Formulas, Known
from tests.textcases.logic import LogicCase

from occurs.expr import tree
from occurs.languages.logic import syntax
from occurs.languages.logic.render import render
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration
from occurs.model.types import Type
from occurs.testing.cases import KINDS

#: 5 January 2024, 09:00 UTC, in microseconds
_NINE = 1_704_445_200_000_000
_MINUTE = 60_000_000
_TEXTS = ("u", "v", "w")
_INT, _BOOL, _STRING = Type.INT, Type.BOOL, Type.STRING


def random_core(rng: random.Random, *, depth: int = 3, most_states: int = 12) -> LogicCase:
    """One trigger over ``s(p, q, a, b)`` and the events ``e(k, n)`` and ``f``, in ticks."""
    maker = _Maker(rng, "none")
    known = Known(("a", "b"), ("p", "q"), (("e", "n", "k"), ("f", None, None)) if rng.random() < 0.6 else ())
    past = rng.random() < 0.4
    formula = maker.formulas(known, {}).formula(rng.randint(1, depth), PAST if past else FUTURE)
    if not past and rng.random() < 0.6:
        formula = syntax.Eventually(formula)
    trigger = maker.trigger("m", formula, past, None)
    definitions: list[syntax.Definition] = [_S, _E, _F, trigger]
    return maker.case(definitions, maker.rows(rng.randint(3, most_states), known, split=False))


def random_logic(rng: random.Random, *, depth: int = 2, most_states: int = 10) -> LogicCase:
    """A program of several triggers."""
    maker = _Maker(rng, rng.choice(("none", "none", "s", "timestamp")))
    split = rng.random() < 0.25
    definitions: list[syntax.Definition] = [_SPLIT if split else _S, _E, _F, _T, _C, *_VIEWS]
    given = len(definitions)
    events: tuple[tuple[str, str | None, str | None], ...] = (("e", "n", "k"), ("f", None, None))
    booleans, numbers = ("p", "q"), ("a", "b")
    for i in range(rng.randint(1, 3)):
        name = f"m{i + 1}"
        each = maker.each(split)
        past = rng.random() < 0.4
        texts = {"k" if split else "y": TEXT} if each is not None else {}
        known = Known(numbers, booleans, events, (), table=True, views=rng.random() < 0.4)
        formula = maker.formulas(known, texts).formula(rng.randint(1, depth), PAST if past else FUTURE)
        if not past and rng.random() < 0.7:
            formula = syntax.Eventually(formula)
        trigger = maker.trigger(name, formula, past, each)
        definitions.append(trigger)
        if trigger.emit is None:
            events += ((name, None, next(iter(texts), None)),)
        else:
            events += ((trigger.emit.type.text, "n", None),)
    triggers = definitions[given:]
    if rng.random() < 0.2:
        rng.shuffle(triggers)
    rows = maker.rows(rng.randint(3, most_states), Known(numbers, booleans, events, table=True), split)
    return maker.case([*definitions[:given], *triggers], rows)


def _columns(*columns: tuple[str, Type]) -> tuple[syntax.Column, ...]:
    return tuple(syntax.Column(syntax.Name(n), t) for n, t in columns)


_VALUES = (("p", _BOOL), ("q", _BOOL), ("a", _INT), ("b", _INT))
_S = syntax.State(syntax.Name("s"), _columns(*_VALUES))
_SPLIT = syntax.State(syntax.Name("s"), _columns(("k", _STRING), *_VALUES))
_E = syntax.Event(syntax.Name("e"), _columns(("k", _STRING), ("n", _INT)))
_F = syntax.Event(syntax.Name("f"))
_K = syntax.Column(syntax.Name("k"), _STRING, key=True)
_T = syntax.Table(syntax.Name("T"), (_K, *_columns(("v", _INT))))
_C = syntax.Table(syntax.Name("C"), (_K, *_columns(("c", _STRING))))
_VIEWS = (
    syntax.View(syntax.Name("total"), (), syntax.Sql("select sum(v) from T")),
    syntax.View(syntax.Name("above"), (syntax.Name("m"),), syntax.Sql("select count(*) from T where v > :m")),
)


class _Maker:
    """Triggers and rows; a duration of n is n times ``scale`` ticks."""

    def __init__(self, rng: random.Random, unit: str) -> None:
        self.rng, self.kind = rng, KINDS[unit]
        self.scale = _MINUTE if self.kind.timestamp else 1
        self.shift = _NINE if self.kind.timestamp else rng.choice((0, 0, -5))
        self.nulls = rng.choice((0.0, 0.0, 0.1))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def formulas(self, known: Known, generics: dict[str, str]) -> Formulas:
        return Formulas(self.rng, known, self.kind, self.scale, _TEXTS[:2], generics)

    def each(self, split: bool) -> syntax.ForEach | None:
        """What a trigger is made for each of; a state that is split by ``k`` can be read in no other way."""
        if split:
            return syntax.ForEach((syntax.Name("k"),))
        if self.chance(0.5):
            return None
        sql = self.rng.choice(
            (
                "select k from T",
                "select k from C where c = 'u'",
                "select distinct c from C",
                "select k from T where v > 1",
            )
        )
        return syntax.ForEach((syntax.Name("y"),), syntax.Sql(sql))

    def trigger(self, name: str, formula: syntax.Formula, past: bool, each: syntax.ForEach | None) -> syntax.Trigger:
        observing = None
        reads = _reads(formula)
        if self.chance(0.2) or not reads:
            every = self.duration(self.rng.randint(2, 4)) if reads and self.chance(0.5) else None
            observing = syntax.Observing(every)
        actions: tuple[syntax.Action, ...] = ()
        if self.chance(0.25) and (each is None or each.sql is not None):
            value = syntax.Name("n"), tree.Ref(None, self.rng.choice("ab"))
            actions = (syntax.Emit(syntax.Name(f"made_by_{name}"), (value,)),)
        return syntax.Trigger(
            syntax.Name(name),
            formula,
            past,
            each,
            observing,
            continues=self.chance(0.5),
            gap=self.duration(self.rng.randint(1, 5)) if self.chance(0.2) else None,
            actions=actions,
        )

    def duration(self, amount: int) -> Duration:
        return self.formulas(Known(("a",), ("p",)), {}).duration(amount)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def rows(self, count: int, known: Known, split: bool) -> list[Occurrence]:
        """Rows at ``count`` instants; those of one instant contradict each other only if a sequence orders them."""
        rng = self.rng
        sequenced = self.chance(0.2)
        found: list[Occurrence] = []
        time = rng.randint(0, 3)
        for _ in range(count):
            rows: list[tuple[str, dict[str, Any]]] = []
            if self.chance(0.8):
                for k in rng.sample(_TEXTS[:2], rng.randint(1, 2)) if split else _TEXTS[:1]:
                    rows.append(("s", self.state(k if split else None)))
            if known.events and self.chance(0.4):
                rows.append(("e", {"k": self.value(rng.choice(_TEXTS)), "n": self.value(rng.randint(0, 4))}))
            if known.events and self.chance(0.25):
                rows.append(("f", {}))
            if known.table and self.chance(0.5):
                rows += self.changes()
            if sequenced:
                rows += rows[: rng.randint(0, 1)]
            numbers = rng.sample(range(len(rows)), len(rows))
            for (type_, values), number in zip(rows, numbers, strict=True):
                at = time * self.scale + self.shift
                found.append(Occurrence(type_, at, values, number if sequenced else None))
            time += rng.choice((1, 1, 1, 2, 3, 5))
        if self.chance(0.1):
            rng.shuffle(found)
        return found or [Occurrence("f", self.shift)]

    def state(self, key: str | None) -> dict[str, Any]:
        values = {n: self.value(self.rng.randint(0, 4)) for n in "ab"}
        flags = {n: self.value(self.chance(0.6)) for n in "pq"}
        return {**({} if key is None else {"k": key}), **flags, **values}

    def changes(self) -> list[tuple[str, dict[str, Any]]]:
        """Of different rows of a table, or of all."""
        rng = self.rng
        table = rng.choice("TTC")
        if self.chance(0.05):
            return [(table, {"op": "truncate"})]
        found = []
        for k in rng.sample(_TEXTS, rng.randint(1, 2)):
            if self.chance(0.2):
                found.append((table, {"op": "delete", "k": k}))
            else:
                op = {"op": rng.choice(("insert", "update", "upsert"))} if self.chance(0.3) else {}
                row = {"v": self.value(rng.randint(0, 4))} if table == "T" else {"c": self.value(rng.choice(_TEXTS))}
                found.append((table, {**op, "k": k, **row}))
        return found

    def value(self, value: Any) -> Any:
        return None if self.chance(self.nulls) else value

    def case(self, definitions: list[syntax.Definition], rows: list[Occurrence]) -> LogicCase:
        last = max(r.time for r in rows)
        return LogicCase(
            name="random",
            rules="".join(f"{render(d)}\n" for d in definitions),
            events=tuple(rows),
            kind=self.kind,
            until=last + self.rng.randint(1, 6) * self.scale if self.chance(0.15) else None,
            file="random",
        )


def _reads(formula: syntax.Formula) -> bool:
    """Does a formula name anything but the time?"""
    named = (syntax.Sql, syntax.Apply)
    return any(isinstance(n, named) or (isinstance(n, tree.Ref) and n.name in _NAMES) for n in formula.walk())


_NAMES = ("p", "q", "a", "b", "e", "f", "T", "n", "k", "total", "above")
