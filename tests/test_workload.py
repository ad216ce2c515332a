"""The shared workload is the one of the definition, and the bare scripts find what it says."""

from __future__ import annotations

import hashlib

import pytest
from benchmarks import workload, yardstick
from benchmarks.workload import GOLDEN, Golden

import occurs


def test_the_events_are_those_of_the_definition() -> None:
    text = workload.events(100_000).csv()
    assert text.startswith(b"ts,type,key,v\n1,2,3,71\n2,6,5,97\n")
    assert hashlib.md5(text).hexdigest() == "4d687089b6184d77f35a6a6bbf83736b"


def test_fewer_events_are_the_first_of_more() -> None:
    assert workload.events(1000).csv() == workload.events(2000).csv()[: len(workload.events(1000).csv())]


def test_the_table_has_the_events() -> None:
    table = workload.events(2).table()
    assert table.to_pylist() == [
        {"time": 1, "type": "T2", "key": 3, "v": 71},
        {"time": 2, "type": "T6", "key": 5, "v": 97},
    ]


def test_the_roles_of_a_rule_have_different_types() -> None:
    for j in range(1000):
        r = workload.constants(j)
        assert len({r.a, r.b, r.c}) == 3
        assert len({kind for kind, _ in r.chain}) == 5


def test_rule_texts() -> None:
    assert workload.rule("seq3", 0, 100) == (
        "define CE1000(Key, V1, V2) from T1(key = $k, v > 50) and each T2(key = $k, v > 50) within 100 ms from T1 "
        "and each T3(key = $k, v > 50) within 100 ms from T2 where Key = $k, V1 = T2.v, V2 = T3.v"
    )
    with pytest.raises(ValueError, match="no family 'none'"):
        workload.rule("none", 0, 100)


@pytest.mark.parametrize("case", [g for g in GOLDEN if g.rules == 1], ids=lambda g: g.name)
def test_the_scripts_find_what_the_table_says(case: Golden) -> None:
    found = yardstick.run(case.family, workload.events(case.events), case.rules, case.window)
    case.check(*yardstick.measure(case.family, found))


@pytest.mark.slow
@pytest.mark.parametrize("case", [g for g in GOLDEN if g.rules > 1], ids=lambda g: g.name)
def test_the_scripts_agree_for_many_rules(case: Golden) -> None:
    found = yardstick.run(case.family, workload.events(case.events), case.rules, case.window)
    case.check(*yardstick.measure(case.family, found))


@pytest.mark.share(4)
@pytest.mark.parametrize("case", [g for g in GOLDEN if g.rules <= 100], ids=lambda g: g.name)
def test_the_engine_finds_what_the_table_says(case: Golden) -> None:
    case.check(*case.measure(occurs.parse(case.text).detect(case.table, time_unit="ms")))


def _many(case: Golden) -> object:
    marks = [pytest.mark.slow] if case.rules < 1000 else [pytest.mark.slow, pytest.mark.long]
    return pytest.param(case, marks=marks, id=case.name)


@pytest.mark.parametrize("case", [_many(g) for g in GOLDEN if g.rules > 100])
def test_the_engine_with_thousands_of_rules(case: Golden) -> None:
    case.check(*case.measure(occurs.parse(case.text).detect(case.table, time_unit="ms")))


def test_a_wrong_count_is_noticed() -> None:
    case = workload.golden("last", 1, 100)
    with pytest.raises(AssertionError, match="1887"):
        case.check(1887, case.checksum)
    with pytest.raises(AssertionError, match="140454"):
        case.check(1888, 140454)
