"""Definitions that run in one call of a kernel give what their nets give one by one: call by call, on random programs
and histories, with restarts and glances at the end between calls."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from tests.amount import first

import occurs
from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.hosts.local import history_rows
from occurs.model.history import InputOptions
from occurs.operators.interval.joining import Joined
from occurs.operators.interval.operator import Connected
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage
from occurs.verify.reference import expected

EVENTS = {"a": "kl", "b": "kl", "c": "k", "d": "k", "e": ""}
RELATIONS = ["before", "meets", "overlaps", "finishes", "starts", "equals", "contains", "after", "during", "met_by"]
#: sorts that stand on the left and on the right
LEFT = {"contains": "sd", "after": "esd", "met_by": "sd", "during": "esd"}
RIGHT = {"before": "esd", "after": "esd", "contains": "esd"}


class Programs:
    """Definitions of joined operators, most of them of what others define."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.known: dict[str, tuple[str, int]] = {name: ("e", len(keys)) for name, keys in EVENTS.items()}

    def atom(self, sort: str, variables: list[str]) -> str:
        """What is defined or comes in; ``variables`` are those that it may have."""
        rng = self.rng
        names = [n for n, (s, _) in self.known.items() if s == sort]
        if sort == "e" and rng.random() < 0.4 and self.having("s"):
            return f"{rng.choice(('start', 'end'))}({self.atom('s', variables)})"
        if sort == "s" and rng.random() < 0.15:
            left, right = self.atom("e", variables), self.atom("e", variables)
            return f"({left} ~> {right if all(v in left for v in variables if v in right) else 'e'})"
        if sort == "s" and (not names or rng.random() < 0.4):
            if rng.random() < 0.3 and self.having("s"):
                return f"({self.atom('s', variables)} ⊓ {self.atom('s', variables)})"
            names, wide = ["a", "b"] if rng.random() < 0.5 else ["c", "d"], self.some(variables, 2)
            own = ", ".join(wide if names[0] == "a" else wide[:1])
            other = rng.choice([f"{names[1]}({own})", f"d({wide[0]})", "e"])
            return f"({names[0]}({own}) ~> {other})"
        if sort == "d" and (not names or rng.random() < 0.3):
            return f"({self.related(variables)})"
        name = rng.choice(names)
        width = self.known[name][1]
        return f"{name}({', '.join(self.some(variables, width))})" if width else name

    def some(self, variables: list[str], width: int) -> list[str]:
        """Mostly the first ones, so that most formulas share some."""
        return variables[:width] if self.rng.random() < 0.5 else self.rng.sample(variables, width)

    def having(self, sort: str) -> bool:
        return any(s == sort for s, _ in self.known.values())

    def related(self, variables: list[str]) -> str:
        rel = self.rng.choice(RELATIONS)
        sides = []
        for sorts in (LEFT.get(rel, "esd" if rel in ("before", "finishes", "starts") else "sd"), RIGHT.get(rel, "sd")):
            some = [s for s in sorts if s != "d" or self.having("d")]
            sides.append(self.atom(self.rng.choice(some), variables))
        return f"{sides[0]} {rel} {sides[1]}"

    def definition(self, number: int) -> str:
        sort = self.rng.choice("essdddd")
        names = ["X", "Y", "Z"]
        body = self.related(names) if sort == "d" else self.atom(sort, names)
        used = [v for v in names if v in body]
        if not used:
            sort, body, used = "e", "c(X)", ["X"]
        name = f"{sort}{number}"
        self.known[name] = (sort, len(used))
        word = {"e": "event", "s": "state", "d": "dynamic"}[sort]
        head = f"{name}({', '.join(used)})" if used else name
        return f"{word} {head} : {body}."

    def text(self) -> str:
        inputs = "".join(
            f"input event {n}({', '.join(k)}).\n" if k else f"input event {n}.\n" for n, k in EVENTS.items()
        )
        return inputs + "\n".join(self.definition(i) for i in range(self.rng.randint(1, 6)))


def events(rng: random.Random) -> dict[str, pa.Table]:
    """Few values and few instants, so that much happens at once."""
    texts = rng.random() < 0.5
    out = {}
    for name, keys in EVENTS.items():
        n = rng.choice((3, 12, 25)) if keys else rng.choice((0, 2))
        values: dict[str, list[object]] = {"time": sorted(rng.choices(range(60), k=n))}
        for k in keys:
            codes = rng.choices(range(1, 4), k=n)
            values[k] = [f"t{c}" for c in codes] if texts else list(codes)
            if rng.random() < 0.1:
                values[k] = [None if rng.random() < 0.1 else v for v in values[k]]
        key = pa.string() if texts else pa.int64()
        out[name] = pa.table({n: pa.array(v, pa.int64() if n == "time" else key) for n, v in values.items()})
    return out


class Calls:
    """An engine over a stage."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.engine = Engine(stage)

    def restart(self) -> None:
        self.engine = Engine.restore(self.stage, self.engine.save())


def one_by_one(stage: Stage) -> Stage:
    """A stage whose operators forget what they run together."""
    for operator in stage.operators:
        if isinstance(operator, Connected):
            vars(operator)["_runs"] = operator.formulas
    return stage


def shown(found: TypeRows, stage: Stage) -> dict[str, list[dict[str, object]]]:
    return {t: found.table(t).to_pylist() for t in stage.reported}


def between(rows: Mapping[str, Rows], since: int, frontier: int) -> dict[str, Rows]:
    return {t: r.take(np.flatnonzero((r.time > since) & (r.time <= frontier))) for t, r in rows.items()}


def check(seed: int) -> bool:
    rng = random.Random(seed)
    text = Programs(rng).text()
    program, tables = occurs.parse(text, language="phenesthe"), events(rng)
    history = program.checked.history(tables, InputOptions())
    stage = program.checked.plan(history.schemas, history.kind)
    if not any(isinstance(one, Joined) for o in stage.operators if isinstance(o, Connected) for one in o._runs):
        return False
    apart = one_by_one(program.checked.plan(history.schemas, history.kind))
    rows = history_rows(stage, history, labelled=False)
    assert history.clock is not None
    start, until = history.clock
    cuts = sorted({*rng.sample(range(start, until + 1), min(until - start, rng.choice((1, 4, 20)))), until})
    one, other, since, every = Calls(stage), Calls(apart), start - 1, 0
    for frontier in cuts:
        part = between(rows, since, frontier)
        closing = frontier == until
        found = shown(one.engine.advance(part, frontier, start, closing=closing), stage)
        wanted = shown(other.engine.advance(part, frontier, start, closing=closing), stage)
        assert found == wanted, f"seed {seed}, up to {frontier}\n{text}\n{found}\n{wanted}"
        every += sum(map(len, found.values()))
        since = frontier
        if not closing and rng.random() < 0.2:
            assert shown(one.engine.peek(frontier, start), stage) == shown(other.engine.peek(frontier, start), stage)
        if not closing and rng.random() < 0.2:
            one.restart()
            other.restart()
    assert every == len(expected(program.checked, history)), f"seed {seed}\n{text}"
    return True


@pytest.mark.parametrize("part", first(range(4), 2))
def test_random_programs_run_together(part: int) -> None:
    joined = sum(check(seed) for seed in range(100 * part, 100 * part + 15))
    assert joined >= 5


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_many_random_programs_run_together(part: int) -> None:
    assert sum(check(seed) for seed in range(1000 + 50 * part, 1050 + 50 * part)) > 20
