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
        "  F: every bucket has the state of its keys",
        "  1 stateful stage, all of them in every micro-batch",
    ]
    assert explained(keyed + reader) == [
        "  F: every bucket has the state of its keys",
        "  G: all in ONE bucket, as there is no common key, stage 2 [global-stage]",
        "  2 stateful stages, all of them in every micro-batch",
    ]
    apart = "define H() from A() and last B() within 5 ms from A\n"
    assert explained(apart + apart.replace("H", "I").replace("5", "6") + "define J() from A()") == [
        "  H, I: no common key; 2 parts that are not connected, each in one bucket",
        "  J: row by row, over all buckets",
        "  1 stateful stage, all of them in every micro-batch",
    ]
