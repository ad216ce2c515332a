"""The 15 cases of the paper's Table 1 and a 16th (epl-and-nets.md, section 7) as nets."""

from __future__ import annotations

from functools import cache

from occurs.languages.epl.nets import Translation, translate
from occurs.languages.epl.parser import parse

A, B, C = "a=A(ma > 10)", "b=B(mb > 2)", "c=C(mc > 0)"
#: pattern, number of results, steps of the BPCPN, of the PCPN with first = 1 and 0
CASES = {
    1: ("a=A(ma % 5 = 0)", 1, 14, 29, 31),
    2: ("every a=A(ma % 5 = 0)", 4, 17, 45, 47),
    3: (f"{A} -> {B}", 1, 16, 33, 35),
    4: (f"{A} -> b=B(mb > 2 and mb < a.ma)", 1, 16, 36, 38),
    5: (f"every {A} -> {B}", 3, 20, 55, 57),
    6: (f"{A} -> every {B}", 3, 17, 43, 45),
    7: (f"every ({A} -> {B})", 2, 20, 47, 49),
    8: (f"every {A} -> every {B}", 8, 25, 96, 98),
    9: (f"({A} -> {B}) -> {C}", 1, 18, 37, 39),
    10: (f"{A} -> ({B} -> {C})", 1, 18, 37, 39),
    11: (f"{A} -> every ({B} -> {C})", 3, 23, 51, 53),
    12: (f"(every {A} -> every {B}) -> every {C}", 15, 40, 189, 191),
    13: (f"every (({A} -> {B}) -> {C})", 1, 19, 45, 47),
    14: (f"every ({A} -> {B}) -> {C}", 2, 22, 52, 54),
    15: (f"{A} -> every {B} -> {C}", 3, 20, 51, 53),
    16: (f"every {A} -> every ({B} -> {C})", 8, 41, 117, 119),
}
#: nodes, arcs, dead markings with first = 1: of the PCPN, of the BPCPN
SPACES = {
    (2, "PCPN"): (46, 123, 1),
    (5, "PCPN"): (99, 212, 2),
    (7, "PCPN"): (48, 125, 1),
    (8, "PCPN"): (3033, 3356, 72),
    (16, "PCPN"): (2186, 2455, 72),
    (5, "BPCPN"): (35, 34, 2),
    (7, "BPCPN"): (21, 20, 1),
    (8, "BPCPN"): (493, 492, 72),
    (16, "BPCPN"): (615, 685, 72),
}
SCHEMAS = "create schema A(tm int, ma int); create schema B(tm int, mb int); create schema C(tm int, mc int);"
_EVENTS = "A23@1 A55@1 C0@1 B25@2 A50@2 C5@3 B12@3 C10@4 A0@4 B1@5 B5@6 A15@7 C8@7"


@cache
def case(number: int, first: int = 1) -> Translation:
    """The net without black transitions is ``to_priority_net(case(..).net)``."""
    pattern = CASES[number][0]
    tags = [t for t in "abc" if f"{t}=" in pattern]
    select = ", ".join(f"{t}.m{t} as m{t}" for t in tags)
    return program(f"{SCHEMAS} insert into Found select {select} from pattern [{pattern}]", _EVENTS, first)


def program(text: str, events: str, first: int = 1) -> Translation:
    """``events``: ``A23@1``, the type, its value, its time."""
    rows = []
    for word in events.split():
        value, time = word[1:].split("@")
        rows.append((word[0], int(time), {"tm": int(time), f"m{word[0].lower()}": int(value)}))
    file, problems = parse(text, "rules.epl")
    assert not problems
    return translate(file, first, rows=rows)
