"""The sequences of the benchmarks: their events, what plain Python, the operators and the engine find in them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from benchmarks import epl, eplwork, esper
from benchmarks.eplwork import JOBS, SMALL, Job
from benchmarks.jars import Unavailable
from tests.amount import first


def test_the_events_are_those_of_the_definition() -> None:
    e = eplwork.events(1000)
    assert [x.tolist() for x in (e.type[:5], e.key[:5], e.v[:5], e.g[:5])] == [
        [2, 5, 3, 1, 6],
        [95, 90, 97, 68, 44],
        [845, 691, 362, 937, 80],
        [3, 7, 8, 8, 8],
    ]
    x = 1000  # the last one, by whole numbers of Python
    x ^= x >> 16
    x = x * 0x7FEB352D % 2**32
    x ^= x >> 15
    x = x * 0x846CA68B % 2**32
    x ^= x >> 16
    assert (e.type[-1], e.key[-1], e.v[-1], e.g[-1]) == (x % 10, x // 10 % 100, x // 1000 % 1000, x // 10**6 % 10)
    assert e.time[-1] == 1000
    assert np.array_equal(eplwork.events(2000).key[:1000], e.key)
    assert e.table().slice(0, 1).to_pylist() == [{"time": 1, "type": "T2", "key": 95, "v": 845, "g": 3}]


def test_the_types_of_a_rule() -> None:
    assert [eplwork.constants(r) for r in (0, 1, 10, 99, 100, 999)] == [
        (0, 1, 0),
        (1, 0, 0),
        (0, 1, 0),
        (9, 9, 0),
        (0, 0, 1),
        (9, 9, 9),
    ]


@pytest.mark.parametrize("job", SMALL, ids=lambda job: job.name)
def test_plain_python_the_operators_and_detect_agree(job: Job) -> None:
    events = eplwork.events(job.events)
    job.check(eplwork.plain(job.family, job.rules, events))
    prepared = epl.Prepared.of(job, events)
    job.check(prepared.together(prepared.stream(prepared.rows())))
    if job.rules == 1:
        job.check(prepared.whole())
    with pytest.raises(AssertionError, match=rf"{job.name}: 7 matches, not {job.found}"):
        job.check(7)


@pytest.mark.parametrize("job", first(JOBS, 1), ids=lambda job: job.name)
def test_golden_numbers(job: Job) -> None:
    prepared = epl.Prepared.of(job, eplwork.events(job.events))
    job.check(prepared.together(prepared.stream(prepared.rows())))


@pytest.mark.long
def test_tables_without_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise Unavailable("nothing here")

    monkeypatch.setattr(esper, "classes", none)
    table = epl.report(SMALL[:1], 1)
    assert table.rows[0][:4] == ["seq2", 1, 20_000, 189]
    assert table.rows[0][7] is None
    assert table.notes[-1] == "No Esper here: nothing here"
    keys = epl.by_keys([1, 50], 2_000, 1)
    assert [row[0] for row in keys.rows] == [1, 50]
    assert keys.rows[0][-1] == 1.0


def test_a_java_that_ends_is_told() -> None:
    ended = [sys.executable, "-c", "raise SystemExit(1)"]
    process = subprocess.Popen(ended, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    peer = esper.Esper(SMALL[0], process, 0.0)
    with pytest.raises(Unavailable, match=r"ended \(1\)"):
        peer._line()
    process.communicate()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("job", [j for j in SMALL if j.rules == 1], ids=lambda job: job.name)
def test_esper_finds_the_same(job: Job) -> None:
    try:
        path = esper.classes()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with esper.running(job, path) as peer:
        cpu, wall = peer.run()
    assert cpu > 0
    assert wall > 0
