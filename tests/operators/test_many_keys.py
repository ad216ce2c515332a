"""A pushed event costs what it changes: of thousands of keys few are copied."""

from __future__ import annotations

import pytest
from benchmarks.push import WORKS, Work

from occurs.operators.rowpattern.run import Run
from occurs.operators.rowpattern.state import Waiting
from occurs.operators.temporal.network import Memory
from occurs.operators.temporal.vectorised import Carried

KEYS, EVENTS = 3000, 300
LAYERS = {"FTL": (Memory, Carried), "MATCH_RECOGNIZE": (Waiting,)}


@pytest.mark.parametrize("work", [w for w in WORKS if w.name in LAYERS], ids=lambda w: w.name)
def test_keys_that_an_event_does_not_have_are_left_alone(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    live, copied, looked_at = work.live(), [0], [0]
    for i in range(2 * KEYS):
        live.on_event("A" if i < KEYS else "B", i, {"K": i % KEYS, "V": i * 7 % 100})

    def count(cls: type, name: str) -> None:
        plain = getattr(cls, name)

        def counting(*given: object) -> object:
            found = plain(*given)
            if found is not given[0]:
                copied[0] += len(found.code)
            return found

        monkeypatch.setattr(cls, name, counting)

    def begun(run: Run, *given: object) -> None:
        begin(run, *given)
        looked_at[0] += len(run.rows)

    for cls in LAYERS[work.name]:
        count(cls, "take")
        count(cls, "over")
    begin = Run.__init__
    monkeypatch.setattr(Run, "__init__", begun)
    for i in range(EVENTS):
        live.on_event("AB"[i % 2], 2 * KEYS + i, {"K": i * 11 % KEYS, "V": i * 13 % 100})
    assert 0 < copied[0] / EVENTS <= 8 * len(LAYERS[work.name]) * KEYS**0.5
    assert looked_at[0] / EVENTS <= 5
