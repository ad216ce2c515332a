"""The worked examples of the specification as nets: what they derive, and in how many firings."""

from __future__ import annotations

import random

import pytest

from occurs.languages.epl.nets import Translation, outputs, to_net, translate
from occurs.languages.epl.parser import parse
from occurs.nets.firing import Run, run, uniform
from occurs.nets.net import Net
from occurs.nets.transform import to_priority_net

SCHEMAS = """
create schema A(tm int, ma int); create schema B(tm int, mb int); create schema C(tm int, mc int);
"""
TABLE_1 = "A23@1 A55@1 C0@1 B25@2 A50@2 C5@3 B12@3 C10@4 A0@4 B1@5 B5@6 A15@7 C8@7"
A, B, C = "a=A(ma > 10)", "b=B(mb > 2)", "c=C(mc > 0)"


def rows(text: str) -> list[tuple[str, int, dict[str, int]]]:
    """``A23@1``: type, its value, time."""
    out = []
    for word in text.split():
        value, time = word[1:].split("@")
        out.append((word[0], int(time), {"tm": int(time), f"m{word[0].lower()}": int(value)}))
    return out


def net_of(text: str, events: str, first: int = 0) -> Translation:
    file, problems = parse(text, "rules.epl")
    assert not problems
    return translate(file, first, rows=rows(events))


def every_seed(net: Net) -> list[Run]:
    """The deterministic run and some random ones."""
    return [run(net), *(run(net, choose=uniform(random.Random(seed))) for seed in range(2))]


def product(*parts: list[int]) -> list[tuple[int, ...]]:
    out: list[tuple[int, ...]] = [()]
    for values in parts:
        out = [(*o, v) for o in out for v in values]
    return out


#: number: pattern, results (ma, mb, mc), steps of the BPCPN, of the PCPN with first = 1 and 0
CASES = {
    1: ("a=A(ma % 5 = 0)", [(55,)], 14, 29, 31),
    2: ("every a=A(ma % 5 = 0)", [(55,), (50,), (0,), (15,)], 17, 45, 47),
    3: (f"{A} -> {B}", [(23, 25)], 16, 33, 35),
    4: (f"{A} -> b=B(mb > 2 and mb < a.ma)", [(23, 12)], 16, 36, 38),
    5: (f"every {A} -> {B}", [(23, 25), (55, 25), (50, 12)], 20, 55, 57),
    6: (f"{A} -> every {B}", product([23], [25, 12, 5]), 17, 43, 45),
    7: (f"every ({A} -> {B})", [(23, 25), (50, 12)], 20, 47, 49),
    8: (f"every {A} -> every {B}", product([23, 55], [25]) + product([23, 55, 50], [12, 5]), 25, 96, 98),
    9: (f"({A} -> {B}) -> {C}", [(23, 25, 5)], 18, 37, 39),
    10: (f"{A} -> ({B} -> {C})", [(23, 25, 5)], 18, 37, 39),
    11: (f"{A} -> every ({B} -> {C})", [(23, 25, 5), (23, 12, 10), (23, 5, 8)], 23, 51, 53),
    12: (
        f"(every {A} -> every {B}) -> every {C}",
        product([23, 55], [25], [5, 10, 8]) + product([23, 55, 50], [12], [10, 8]) + product([23, 55, 50], [5], [8]),
        40,
        189,
        191,
    ),
    13: (f"every (({A} -> {B}) -> {C})", [(23, 25, 5)], 19, 45, 47),
    14: (f"every ({A} -> {B}) -> {C}", [(23, 25, 5), (50, 12, 10)], 22, 52, 54),
    15: (f"{A} -> every {B} -> {C}", [(23, 25, 5), (23, 12, 10), (23, 5, 8)], 20, 51, 53),
    16: (
        f"every {A} -> every ({B} -> {C})",
        product([23, 55], [25], [5]) + product([23, 55, 50], [12], [10]) + product([23, 55, 50], [5], [8]),
        41,
        117,
        119,
    ),
}


def case(number: int, first: int) -> Translation:
    pattern, results, *_ = CASES[number]
    select = ", ".join(("a.ma as ma", "b.mb as mb", "c.mc as mc")[: len(results[0])])
    return net_of(f"{SCHEMAS} insert into Found select {select} from pattern [{pattern}]", TABLE_1, first)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("number", CASES)
def test_table_1(number: int, first: int) -> None:
    pattern, results, black, one, zero = CASES[number]
    t = case(number, first)
    encoded = to_priority_net(t.net)
    for net, steps in ((t.net, black), (encoded, one if first else zero)):
        for done in every_seed(net):
            assert done.steps == steps
            derived = t.outputs(done.marking)
            assert sorted(tuple(values.values()) for _, _, values in derived) == sorted(results)
            assert outputs(net, done.marking) == derived
    atoms, arrows = len(results[0]), pattern.count("->")
    assert len(encoded.transitions) == 3 * (atoms + 1) + arrows


def test_what_derived_events_look_like() -> None:
    t = case(1, 0)
    (token,) = run(t.net).marking.tokens["Found_Fp"]
    assert token == (3, 4, 1, ("pFound", (55,)))


def test_a_search_that_never_ends() -> None:
    t = case(11, 0)
    marking = run(t.net).marking
    (fp,) = [t for t in marking.tokens if t.endswith("_Fp")]
    assert sorted(v[0] for v in marking.tokens[fp]) == [7, 10, 16]
    assert marking.tokens["Found_followed_Exit1"]
    assert not marking.tokens["Found_followed_Exit2"]


@pytest.mark.parametrize("sink", [False, True])
def test_the_exit_place_below_every_grows_or_stays_empty(sink: bool) -> None:
    pattern = f"{SCHEMAS} insert into Found select a.ma as ma from pattern [every {A}]"
    file, _ = parse(pattern, None)
    net = to_net(file, sink_exits=sink, rows=rows(TABLE_1))
    done = run(net)
    assert done.steps == 13 + 4
    assert sum(done.marking.tokens["Found_every_Exit"].values()) == (0 if sink else 4)


# --- Examples 3 to 6 --------------------------------------------------------------------------------------------------

EXAMPLES = "create schema A(tm int, ma int); create schema B(tm int, mb int);"
EVERY_A = "@Name('EveryA') insert into C select a1.ma as mc from pattern [every a1=A(ma % 5 = 0)];"


def derived(text: str, events: str = "B10@1 A20@1 B30@2 A0@3") -> list[list[object]]:
    """The tokens of each F', sorted, the same in every run."""
    t = net_of(text, events)
    found = []
    for net in (t.net, to_priority_net(t.net)):
        for done in every_seed(net):
            found.append([sorted(done.marking.tokens[p]) for p in t.outputs_of.values()])  # type: ignore[type-var]
    assert all(f == found[0] for f in found)
    return found[0]


def test_example_3_first_a() -> None:
    text = "@Name('FirstA') insert into C select a1.ma as mc from pattern [a1=A(ma % 5 = 0)];"
    assert derived(EXAMPLES + text) == [[(3, 3, 1, ("pC", (20,)))]]


def test_example_4_every_a() -> None:
    assert derived(EXAMPLES + EVERY_A) == [[(3, 3, 1, ("pC", (20,))), (6, 3, 3, ("pC", (0,)))]]


A_TO_B = """create schema C(mc int); create schema D(md int);
@Name('AtoB') insert into AtoB select a.ma as ma, b.mb as mb
from pattern [a=A -> b=B(a.ma % 5 = 0 and mb > 1)]"""


def test_example_5_a_to_b() -> None:
    assert derived(EXAMPLES + A_TO_B) == [[(4, 5, 2, ("pAtoB", (20, 30)))]]
    assert derived(EXAMPLES + A_TO_B, "B10@1 A21@1 B30@2 A20@3 B30@4") == [[]]


def test_example_6_a_chain() -> None:
    text = "@Name('EveryC') insert into D select c1.mc as md from pattern [every c1=C(mc > 10)];"
    every_c = [(4, 4, 1, ("pD", (20,)))]
    every_a = [(3, 3, 1, ("pC", (20,))), (7, 3, 3, ("pC", (0,)))]
    assert derived(EXAMPLES + EVERY_A + text) == [every_a, every_c]
    # evaluated in the order of what they read, whatever the order of the text
    assert derived(f"{EXAMPLES} create schema C(mc int); {text} {EVERY_A}") == [every_a, every_c]


# --- Table 2 ----------------------------------------------------------------------------------------------------------

LABOUR = """
create schema Patient(name string, contrDuration int, ts int);
@Name('Duration') insert into Duration select a1.name as patientId, a2.ts-a1.ts as last_delay
from pattern [(every a1=Patient(a1.contrDuration>35))
 -> a2=Patient(a2.name=a1.name and a2.contrDuration>35 and a2.ts-a1.ts<=5)];
@Name('TimeOnLabor') insert into TimeOnLabor select a1.name as patientId, a3.ts-a1.ts as before_delay
from pattern [every a1=Patient(a1.contrDuration>5)
 -> (every a2=Patient(a2.contrDuration>35 and a2.name=a1.name)
 -> a3=Patient(a3.name=a1.name and a3.contrDuration>35 and a3.ts-a2.ts<=5))];
"""
TABLE_2 = "A12@1 B10@1 A45@15 B45@17 A15@21 B38@23 B38@26 A36@30 A45@34 B38@34 A15@37 B38@39"
DURATION = {("B", 3, 26), ("A", 4, 34), ("B", 5, 39)}
TIME_ON_LABOR = {("B", d, 26) for d in (25, 9)} | {("A", d, 34) for d in (33, 19, 13)}
TIME_ON_LABOR |= {("B", d, 39) for d in (38, 22, 16, 13)}


@pytest.mark.parametrize(("first", "steps"), [(0, 224), (1, 221)])
def test_table_2(first: int, steps: int) -> None:
    events = []
    for word in TABLE_2.split():
        value, time = word[1:].split("@")
        events.append(("Patient", int(time), {"name": word[0], "contrDuration": int(value), "ts": int(time)}))
    file, problems = parse(LABOUR, None)
    assert not problems
    t = translate(file, first, rows=events)
    encoded = to_priority_net(t.net)
    assert len(encoded.transitions) == 21
    for net, wanted in ((t.net, 67), (encoded, steps)):
        for done in every_seed(net):
            assert done.steps == wanted
            found = [(name, *values.values(), time) for name, time, values in t.outputs(done.marking)]
            assert len(found) == 12
            assert {f[1:] for f in found if f[0] == "Duration"} == DURATION
            assert {f[1:] for f in found if f[0] == "TimeOnLabor"} == TIME_ON_LABOR
    if first == 0:
        kinds = [name.rsplit("_", 1)[-1] for name, _ in run(encoded).firings]
        assert [kinds.count(k) for k in ("t1", "next", "t2")] == [67, 90, 67]
