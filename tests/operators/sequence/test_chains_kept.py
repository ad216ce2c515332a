"""Tokens that wait: those that go are marked, and the others stay where they are."""

from __future__ import annotations

import numpy as np
import pytest
from chains_histories import TYPES, Event, alone, chain_of, sequence_of, stream, told

from occurs.operators.sequence.tree import Atom, Every, Followed
from occurs.operators.sequence.waiting import GONE, Held, Sheet


def event(id: int, time: int, type: str, key: int, text: str) -> Event:
    return {"id": id, "time": time, "type": type, "k": key, "f": float(key), "s": text, "v": 0}


@pytest.mark.parametrize("attribute", ["k", "f", "s"])
def test_tokens_that_wait_are_not_copied_when_others_go(attribute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 4000
    pair = (Every(Atom(("A",), "a", (), (), ())), Atom(("B",), "b", (), ((attribute, "a", attribute),), ()))
    chain = chain_of(sequence_of(Followed(pair, (None,))))
    assert chain is not None
    advance, state = alone(chain), {}
    first = [event(i, i, "A", i, f"s{i}") for i in range(n)]
    state, _ = advance(state, stream(first, TYPES, 0, None, n, False))
    taken = []
    take = Sheet.take

    def counting(self: Sheet, some: np.ndarray) -> Sheet:
        taken.append(int(some.sum()))
        return take(self, some)

    monkeypatch.setattr(Sheet, "take", counting)
    for i in range(n // 2):
        at = n + 1 + i
        state, found = advance(state, stream([event(at, at, "B", 2 * i, f"s{2 * i}")], TYPES, 0, at - 1, at, False))
        assert [(m[0], m[3]["a"]["id"]) for m in told(found, False)] == [(at, 2 * i)]
        assert isinstance(state, Held)
    packed = [size for size in taken if size > 1]
    assert len(packed) <= GONE
    assert taken.count(1) == n // 2
    assert state["step1"].column("0:id").to_pylist() == list(range(1, n, 2))


def test_a_null_is_equal_to_nothing() -> None:
    pair = (Every(Atom(("A",), "a", (), (), ())), Atom(("B",), "b", (), (("s", "a", "s"),), ()))
    chain = chain_of(sequence_of(Followed(pair, (None,))))
    assert chain is not None
    advance, n = alone(chain), 2000
    events = [event(i, i, "A", i, f"s{i}" if i % 2 else None) for i in range(n)]
    state, _ = advance({}, stream(events, TYPES, 0, None, n, False))
    for at, text, wanted in ((n + 1, None, []), (n + 2, "s7", [7]), (n + 3, "s7", []), (n + 4, "s8", [])):
        state, found = advance(state, stream([event(at, at, "B", 0, text)], TYPES, 0, at - 1, at, False))
        assert [m[3]["a"]["id"] for m in told(found, False)] == wanted
