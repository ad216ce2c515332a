"""Saved state that is damaged is told of, and never taken for other state.

Every case damages one piece: of an engine in this process, or of a bucket of a stream.
"""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from instream import How, InStream

import occurs
from occurs.engine.engine import Engine
from occurs.engine.state import VERSION, from_ipc, meta_from_ipc, meta_to_ipc, to_ipc
from occurs.errors import CheckpointProblem
from occurs.hosts.local import history_rows
from occurs.model.history import InputOptions
from occurs.program import Program

RULES = {
    "tesla": "event A(k: int)\nevent B(k: int)\n"
    "define X(k) from A(k = $k) and last B(k = $k) within 9 ms from A where k = A.k consuming B",
    "epl": "create schema A(k int);\ncreate schema B(k int);\n"
    "insert into Y select a.k as k from pattern [every a=A -> (timer:interval(5 msec) and not B(k = a.k))];",
    "phenesthe": "input event A(k: int), B(k: int).\nstate s(K): A(K) ~> B(K).",
    "ftl": "event A(k int)\nevent B(k int)\ntrigger t: eventually (A and eventually within 9 ms B) emit T(n = 1)",
    "esql": "LET x BE A.k.\nDEFINE Z AS GET (THE AVERAGE OF *) FROM x ON A WINDOW OF 3.",
}
OPTIONS = InputOptions(time_unit="ms")


def tables() -> dict[str, pa.Table]:
    draw = random.Random(5)
    rows = [("AB"[draw.random() < 0.4], n // 2, draw.randint(0, 3)) for n in range(40)]
    of = {t: [r[1:] for r in rows if r[0] == t] for t in "AB"}
    return {t: pa.table({"time": [r[0] for r in own], "k": [r[1] for r in own]}) for t, own in of.items()}


def program_of(language: str) -> Program:
    return occurs.parse(RULES[language], language=language)


class Half:
    """An engine that has judged half of a history."""

    def __init__(self, language: str):
        program = program_of(language)
        history = program.checked.history({t: v for t, v in tables().items() if t in program.checked.external}, OPTIONS)
        self.stage = program.checked.plan(history.schemas, history.kind)
        self.rows = history_rows(self.stage, history, True)
        assert history.clock is not None
        self.start, self.until = history.clock
        engine = Engine(self.stage, labelled=True)
        engine.advance(self._part(self.start - 1, 10), 10, self.start)
        self.pieces = engine.save()
        self.wanted = self.rest(self.pieces)

    def _part(self, after, until):
        return {t: r.take(np.flatnonzero((r.time > after) & (r.time <= until))) for t, r in self.rows.items()}

    def rest(self, pieces):
        """What the other half gives."""
        engine = Engine.restore(self.stage, pieces, labelled=True)
        found = engine.advance(self._part(10, self.until), self.until, self.start, closing=True)
        return {t: found.table(t, label=True).to_pylist() for t in self.stage.reported}


@pytest.fixture(scope="module", params=RULES)
def half(request):
    return Half(request.param)


def damages(data: bytes, seed: object, count: int):
    """Bytes that are flipped, cut off or something else."""
    draw = random.Random(f"{seed}")
    for _ in range(count):
        torn = bytearray(data)
        torn[draw.randrange(len(torn))] ^= 1 << draw.randrange(8)
        yield bytes(torn)
        yield data[: draw.randrange(len(data))]
    yield from (b"", b"\xff\xfe", b"{}", data + b"\0")


def test_every_piece_of_an_engine(half, request):
    assert len(half.pieces) > 1
    assert any(half.wanted.values())
    count = 300 if request.config.getoption("--long") else 12
    for name, data in half.pieces.items():
        others = {n: d for n, d in half.pieces.items() if n != name}
        with pytest.raises(CheckpointProblem) as caught:
            half.rest(others)
        assert caught.value.kind == "bad-checkpoint"
        for torn in damages(data, name, count):
            with pytest.raises(CheckpointProblem) as caught:
                half.rest({**others, name: torn})
            assert caught.value.kind == "bad-checkpoint", (name, torn)


def test_pieces_that_were_written_without_a_checksum_are_read():
    table = pa.table({"a": [1, 2]})
    assert from_ipc(to_ipc(table)[8:]) == table
    meta = meta_to_ipc({"x": 1})
    assert meta_from_ipc(meta[8:]) == meta_from_ipc(meta) == {"version": VERSION, "x": 1}


@pytest.mark.parametrize("meta", [{"pasts": 7}, {"pasts": {"A": [["x"]]}}, {}, {"pasts": {}, "number": 0}])
def test_an_entry_of_another_shape(half, meta):
    with pytest.raises(CheckpointProblem, match="the saved state of an engine is damaged") as caught:
        half.rest({**half.pieces, "meta": meta_to_ipc(meta)})
    assert caught.value.kind == "bad-checkpoint"


@pytest.mark.parametrize("language", RULES)
def test_every_piece_of_a_bucket(language):
    program = program_of(language)
    given = {t: v for t, v in tables().items() if t in program.checked.external}

    query = InStream(program, given, OPTIONS, How(buckets=1, size=6, memory="forgetful"))
    parts = query.cut()
    for rows in parts[:2]:
        query.micro_batch(rows)
    ((key, store),) = query.stores.items()
    for name in ["", *store.pieces]:
        if name == "program":
            continue  # it is read when the rules have changed
        data = store.value if name == "" else store.pieces[name]
        for torn in [*damages(data, name, 3), *([None] if name else [])]:
            copy = store.copy()
            if torn is None:
                del copy.pieces[name]
            elif name == "":
                copy.value = torn
            else:
                copy.pieces[name] = torn
            query.stores = {key: copy}
            with pytest.raises(CheckpointProblem) as caught:
                query.micro_batch(parts[2])
            assert caught.value.kind == "bad-checkpoint", (name, torn)
