"""EPL beside TESLA and Phenesthe in one program: places in the order, both ways, against the reference."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from tests.laws.contract import Subject, agree, cutting, restart, splitting, whole

from occurs.model.history import InputOptions
from occurs.program import Program

SCHEMAS = "create schema A(k int, v int); create schema B(k int, v int); create schema C(k int, v int);\n"
PAIRS = "insert into P select a.k as k, a.v as v, b.v as w from pattern [every a=A -> b=B(k=a.k)];\n"
ORDER = "insert into Q select p.k as k, t.w as w, c.v as v from pattern [every (p=P -> (t=T or c=C))];\n"
EVENTS = "event A(k: int, v: int) event B(k: int, v: int) event C(k: int, v: int)\n"
PROGRAMS = {
    "TESLA, then EPL": {
        "tesla": EVENTS + "define T(k: int, v: int) from B() as b and last A(k = b.k) as a within 5 ticks from b "
        "where k := b.k, v := a.v",
        "epl": SCHEMAS + "insert into P select t.k as k, t.v as v, b.v as w from pattern [every t=T -> b=B(k=t.k)];",
    },
    "EPL, then TESLA": {
        "tesla": EVENTS + "define T(k: int, w: int) from C() as c and last P(k = c.k) as p within 5 ticks from c "
        "where k := c.k, w := p.w",
        "epl": SCHEMAS + PAIRS,
    },
    "EPL, TESLA, EPL: an event of TESLA comes behind all rows of its instant": {
        "tesla": "define T(k: int, w: int) from P() as p where k := p.k, w := p.w",
        "epl": SCHEMAS + PAIRS + ORDER,
    },
    "Phenesthe, then EPL": {
        "phenesthe": "input event A(k, v). input event B(k, v).\nevent both(K) : A(K,_) and B(K,_).",
        "epl": SCHEMAS + "insert into P select x.K as k, b.v as w from pattern [every x=both -> b=B(k=x.K)];",
    },
    "EPL, then Phenesthe": {
        "phenesthe": "event late(K) : P(K,_,W) and W > 1.",
        "epl": SCHEMAS + PAIRS,
    },
    "one type of both": {
        "tesla": EVENTS + "define T(k: int, v: int) from B() as b where k := b.k, v := b.v",
        "epl": SCHEMAS + "insert into T select a.k as k, a.v as v from pattern [every a=A(v > 1)];\n"
        "insert into P select t.k as k, t.v as v, c.v as w from pattern [every t=T -> c=A];",
    },
    "what feeds itself": {
        "tesla": EVENTS + "define T(k: int, v: int) from A() as a where k := a.k, v := a.v\n"
        "define T(k: int, v: int) from B() as b and last T(k = b.k) as t within 5 ticks from b "
        "where k := b.k, v := t.v + 1",
        "epl": SCHEMAS + "insert into P select t.k as k, t.v as v, c.v as w from pattern [every t=T -> c=T(k=t.k)];",
    },
}


class Mixed(Subject):
    """A program of several languages over a table."""

    def __init__(self, program: Program, table: pa.Table) -> None:
        self.program = program
        self.history = program.checked.history(table, InputOptions())
        self.stage = program.checked.plan(self.history.schemas, self.history.kind)


def table_of(rng: random.Random) -> pa.Table:
    n = rng.randint(1, 25)

    def one(high: int) -> pa.Array:
        return pa.array([rng.randint(0, high) for _ in range(n)])

    sequence = pa.array([rng.choice([None, 1, 2]) for _ in range(n)], pa.int64())
    kinds = pa.array([rng.choice("ABC") for _ in range(n)])
    return pa.table({"type": kinds, "time": one(8), "k": one(1), "v": one(3), "sequence": sequence})


@pytest.mark.share(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_laws(name: str) -> None:
    program = Program([(text, None, language) for language, text in PROGRAMS[name].items()])
    found = 0
    for seed in range(12):
        rng = random.Random(seed)
        subject = Mixed(program, table_of(rng))
        wanted = subject.reference()
        verified = program.verify(subject.history.tables)
        assert verified.equal, f"seed {seed}: {verified.report}"
        assert not isinstance(wanted, str)
        found += len(wanted)
        cutting(subject, rng)
        restart(subject, rng)
        splitting(subject)
        agree(subject.answer(whole(subject)), subject.answer(whole(subject), restart=True), f"seed {seed}")
    assert found > 10
