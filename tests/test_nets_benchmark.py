"""The nets of the benchmarks on few rows: the known numbers of steps, with SNAKES beside the simulator."""

from __future__ import annotations

import pytest
from benchmarks import nets, nets_work
from benchmarks.nets_work import Nets


@pytest.mark.slow
def test_steps_beside_snakes() -> None:
    pytest.importorskip("snakes")
    table = nets.steps([20, 50], [20, 50], 1)
    rows = [dict(zip((name for name, _ in table.columns), row)) for row in table.rows]
    assert [(r["rows"], r["black steps"]) for r in rows][1] == (50, 75)
    assert rows[1]["steps"] == 180
    for r in rows:
        assert r["ours"] > 0
        assert r["SNAKES"] > 0
        assert r["ours / SNAKES"] == pytest.approx(r["ours"] / r["SNAKES"])
    assert rows[1]["SNAKES*"] == 703
    assert not any("No SNAKES" in note for note in table.notes)


def test_steps_without_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nets, "_peer", lambda: None)
    table = nets.steps([200], [200], 1)
    row = dict(zip((name for name, _ in table.columns), table.rows[0]))
    assert (row["steps"], row["black steps"], row["SNAKES"], row["ours / SNAKES"]) == (727, 296, None, None)
    assert table.notes[-1] == "No SNAKES here: `pip install SNAKES`."


def test_wrong_numbers_of_steps_end_the_run() -> None:
    with pytest.raises(AssertionError, match="case 7, 200 rows: 727 and 295 steps, not 727 and 296"):
        nets_work.check(200, 727, 295)
    with pytest.raises(AssertionError, match="3555 and 1423 steps, not 3556 and None"):
        nets_work.check(1000, 3555, 1423)
    nets_work.check(17, 1, 1)


def test_the_rows_are_those_of_the_definition() -> None:
    rows = nets_work.noise(1000)
    assert rows == nets_work.noise(2000)[:1000]
    assert {t for t, _, _ in rows} == {"A", "B", "C"}
    assert [time for _, time, _ in rows] == list(range(1, 1001))
    assert {v for _, _, v in rows} == set(range(61))


def test_state_spaces() -> None:
    table = nets.spaces(1)
    assert [row[:3] for row in table.rows] == [["PCPN", 3033, 3356], ["BPCPN", 493, 492]]


def test_both_nets_derive_the_same() -> None:
    pair = Nets.of(7, nets_work.noise(60))
    found = [nets.Simulator(net).run().marking.tokens for net in (pair.black, pair.encoded)]
    assert all(found[0][place] == found[1][place] for place in found[0])
