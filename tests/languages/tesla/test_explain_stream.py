"""What a plan says about streams."""

from __future__ import annotations

import occurs


def explained(rules: str) -> list[str]:
    text = occurs.parse(rules).explain(time_unit="ms")
    return text[text.index("On a stream:") :].splitlines()[1:]


def test_keys_stages_and_what_has_none() -> None:
    keyed = "define F(k) from A(k = $k) and last B(k = $k) within 5 ms from A where k = A.k\n"
    reader = "define G() from C() and each F() within 5 ms from C\n"
    assert explained(keyed) == [
        "  F: the state is split into buckets by key",
        "  1 stateful stage, which runs in every micro-batch",
    ]
    assert explained(keyed + reader) == [
        "  F: the state is split into buckets by key",
        "  G: all state is in a single bucket, because no partition key could be inferred, stage 2 [global-stage]",
        "  2 stateful stages, which all run in every micro-batch",
    ]
    apart = "define H() from A() and last B() within 5 ms from A\n"
    assert explained(apart + apart.replace("H", "I").replace("5", "6") + "define J() from A()") == [
        "  H, I: no partition key; 2 independent parts, each with its state in one bucket",
        "  J: row by row, in all buckets",
        "  1 stateful stage, which runs in every micro-batch",
    ]
