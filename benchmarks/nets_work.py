"""The nets of the benchmarks: patterns over A, B and C, their rows, and the numbers of steps that must come out."""

from __future__ import annotations

import random
from dataclasses import dataclass

from occurs.languages.epl.nets import Translation, translate
from occurs.languages.epl.parser import parse
from occurs.nets.net import Net
from occurs.nets.transform import to_priority_net

_SCHEMAS = "create schema A(tm int, ma int); create schema B(tm int, mb int); create schema C(tm int, mc int);"
#: by their numbers in the paper's Listing 5: pattern and what is selected
PATTERNS = {
    7: ("every (a=A(ma > 10) -> b=B(mb > 2))", "a.ma as ma, b.mb as mb"),
    8: ("every a=A(ma > 10) -> every b=B(mb > 2)", "a.ma as ma, b.mb as mb"),
}
#: the rows of the paper's Table 1: type, time, value
TABLE_1 = [
    *(("A", 1, 23), ("A", 1, 55), ("C", 1, 0), ("B", 2, 25), ("A", 2, 50), ("C", 3, 5), ("B", 3, 12)),
    *(("C", 4, 10), ("A", 4, 0), ("B", 5, 1), ("B", 6, 5), ("A", 7, 15), ("C", 7, 8)),
]
#: number of rows -> steps of case 7 without black transitions, and with them
STEPS = {50: (180, 75), 200: (727, 296), 1000: (3556, None)}


@dataclass(frozen=True)
class Nets:
    """One pattern over some rows: the net with black transitions, and without them."""

    black: Net
    encoded: Net

    @classmethod
    def of(cls, number: int, rows: list[tuple[str, int, int]]) -> Nets:
        pattern, items = PATTERNS[number]
        file, problems = parse(f"{_SCHEMAS} insert into Found select {items} from pattern [{pattern}];")
        assert not problems
        given = [(t, time, {"tm": time, f"m{t.lower()}": value}) for t, time, value in rows]
        found: Translation = translate(file, first=1, rows=given)
        return cls(found.net, to_priority_net(found.net))


def noise(count: int) -> list[tuple[str, int, int]]:
    """``count`` rows, one a tick."""
    rng = random.Random(5)
    # the type is drawn before the value
    return [(rng.choice("ABC"), k + 1, rng.randint(0, 60)) for k in range(count)]


def check(rows: int, encoded: int, black: int) -> None:
    """AssertionError unless case 7 took the steps that are known for that many rows."""
    wanted = STEPS.get(rows)
    if wanted is None:
        return
    if encoded != wanted[0] or wanted[1] not in (None, black):
        raise AssertionError(f"case 7, {rows} rows: {encoded} and {black} steps, not {wanted[0]} and {wanted[1]}")
