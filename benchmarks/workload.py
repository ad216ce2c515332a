"""The shared workload: its events, its families of rules, and what must come out.

The definition is the one the T-Rex comparison uses: random events of ten types with a key and a value, and N rules that
differ in their types and thresholds.  Counts and checksums below hold for windows closed at both ends, which is TESLA's
meaning; ``T_REX`` has what the peer (TRex2-lib, commit e7c09c9, its engine called inline, windows open at both ends)
detected, and how fast it was: on 22 November 2026, two quiet cores, the threads that hand events over taken out, for
``NEWER``; the others on another day, when a shared machine made it slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEED = 42
TYPES = 10


@dataclass(frozen=True)
class Events:
    """n events in time order, int64 columns: time in ms (1, 2, ...), type 1..10, key 0..9, v 0..99."""

    time: np.ndarray
    type: np.ndarray
    key: np.ndarray
    v: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    def table(self) -> pa.Table:
        """As the engine reads it: ``type`` dictionary-encoded (T1 .. T10), as a reader of files delivers it."""
        names = pa.array([f"T{t}" for t in range(1, TYPES + 1)])
        kinds = pa.DictionaryArray.from_arrays(pa.array((self.type - 1).astype(np.int32)), names)
        return pa.table({"time": self.time, "type": kinds, "key": self.key, "v": self.v})

    def csv(self) -> bytes:
        """A header ``ts,type,key,v``, numeric types, LF: what the peer reads, and what the definition's md5 is of."""
        rows = zip(self.time.tolist(), self.type.tolist(), self.key.tolist(), self.v.tolist())
        return ("ts,type,key,v\n" + "".join(f"{t},{kind},{key},{v}\n" for t, kind, key, v in rows)).encode()


def splitmix64(first: int, count: int, seed: int = SEED) -> np.ndarray:
    """Draws number ``first`` .. ``first + count - 1`` (from 0) of splitmix64, uint64 (count)."""
    n = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    z = np.uint64(seed) + n * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@lru_cache(maxsize=2)
def events(n: int) -> Events:
    """The first n events; three draws each."""
    draws = (splitmix64(0, 3 * n) >> np.uint64(33)).reshape(n, 3)
    return Events(
        time=np.arange(1, n + 1, dtype=np.int64),
        type=(draws[:, 0] % np.uint64(TYPES)).astype(np.int64) + 1,
        key=(draws[:, 1] % np.uint64(10)).astype(np.int64),
        v=(draws[:, 2] % np.uint64(100)).astype(np.int64),
    )


@dataclass(frozen=True)
class Constants:
    """What rule j of every family is made of: types a, b, c and thresholds x, y, z; ``chain`` is for seq5."""

    j: int
    a: int
    b: int
    c: int
    x: int
    y: int
    z: int
    chain: tuple[tuple[int, int], ...]

    @property
    def output(self) -> str:
        return f"CE{1000 + self.j}"


def constants(j: int) -> Constants:
    a = 1 + j % 10
    b = 1 + (j + 1 + (j // 10) % 9) % 10
    c = 1 + (j + 2 + (j // 10) % 8) % 10
    if c in (a, b):
        c = min({1, 2, 3} - {a, b})
    x, y, z = (37 * j + 50) % 100, (53 * j + 50) % 100, (71 * j + 50) % 100
    step = 1 + (j // 10) % 2
    chain = [((a - 1 + k * step) % 10 + 1, (53 * j + 50 + 17 * k) % 100) for k in range(5)]
    chain[0] = (chain[0][0], x)
    return Constants(j, a, b, c, x, y, z, tuple(chain))


#: family -> the attributes of its detections, and how many of the last ones the checksum adds up
FAMILIES: dict[str, tuple[tuple[str, ...], int]] = {
    "each": (("Key", "V"), 1),
    "last": (("Key", "V"), 1),
    "seq3": (("Key", "V1", "V2"), 2),
    "seq3last": (("Key", "V1", "V2"), 2),
    "negb": (("Key", "V"), 1),
    "negt": (("Key", "V"), 1),
    "aggt": (("Key", "Avg"), 1),
    "aggb": (("Key", "Avg"), 1),
    "seq5": (("V",), 1),
}


def rule(family: str, j: int, window: int) -> str:
    """Rule j of a family as TESLA text, window in ms."""
    r = constants(j)
    within = f"within {window} ms from"
    first = f"T{r.a}(key = $k, v > {r.x})"
    policy = "last" if family in ("last", "seq3last", "aggb") else "each"
    pair = f"{first} and {policy} T{r.b}(key = $k, v > {r.y}) {within} T{r.a}"
    match family:
        case "each" | "last":
            body = f"{pair} where Key = $k, V = T{r.b}.v"
        case "seq3" | "seq3last":
            third = f"{policy} T{r.c}(key = $k, v > {r.z}) {within} T{r.b}"
            body = f"{pair} and {third} where Key = $k, V1 = T{r.b}.v, V2 = T{r.c}.v"
        case "negb":
            body = f"{pair} and not T{r.c}(key = $k) between T{r.b} and T{r.a} where Key = $k, V = T{r.b}.v"
        case "negt":
            body = f"{first} and not T{r.c}(key = $k) {within} T{r.a} where Key = $k, V = T{r.a}.v"
        case "aggt":
            body = f"{first} where Key = $k, Avg = AVG(T{r.b}(key = $k).v) {within} T{r.a}"
        case "aggb":
            body = f"{pair} where Key = $k, Avg = AVG(T{r.c}(key = $k).v) between T{r.b} and T{r.a}"
        case "seq5":
            (t0, y0), *others = r.chain
            body, before = f"T{t0}(v > {y0})", t0
            for t, y in others:
                body, before = f"{body} and each T{t}(v > {y}) {within} T{before}", t
            body = f"{body} where V = T{before}.v"
        case _:
            raise ValueError(f"no family {family!r}: {', '.join(FAMILIES)}")
    return f"define {r.output}({', '.join(FAMILIES[family][0])}) from {body}"


def rules(family: str, count: int, window: int) -> str:
    """The first ``count`` rules of a family, one a line."""
    return ";\n".join(rule(family, j, window) for j in range(count)) + "\n"


@dataclass(frozen=True)
class Golden:
    """What ``rules`` rules of a family detect in the first ``events`` events, windows closed."""

    family: str
    rules: int
    window: int
    events: int
    detections: int
    checksum: float

    @property
    def text(self) -> str:
        return rules(self.family, self.rules, self.window)

    @property
    def table(self) -> pa.Table:
        return events(self.events).table()

    @property
    def name(self) -> str:
        return f"{self.family}-{self.rules}x{self.window}ms-{self.events}"

    def measure(self, found: Mapping[str, Any]) -> tuple[int, float]:
        """Detections and checksum of the tables (Arrow) of a run, by type; averages add up in floats, null as 0."""
        names, summed = FAMILIES[self.family]
        count, total = 0, 0
        for j in range(self.rules):
            rows = found[constants(j).output]
            count += rows.num_rows
            for name in names[-summed:]:
                total += pc.sum(rows[name]).as_py() or 0
        return count, total

    def check(self, count: int, checksum: float) -> None:
        """AssertionError, with both, unless these are the golden figures (averages to a relative 1e-9 of the table)."""
        near = checksum == self.checksum or abs(checksum - self.checksum) <= 1e-9 * abs(self.checksum) + 6e-4
        exact = isinstance(self.checksum, int)
        if count != self.detections or (checksum != self.checksum if exact else not near):
            raise AssertionError(f"{self.name}: {count}, {checksum} instead of {self.detections}, {self.checksum}")


@dataclass(frozen=True)
class TRex:
    """What the peer reported for the same rules and events: detections (windows open), events/s inline."""

    detections: int
    speed: int


_TABLE = """
each     1    100  100000 2427    181018        2409    6400000
last     1    100  100000 1888    140453        1878    6600000
seq3     1    100  100000 1110    165281        1084    5700000
negb     1    100  100000 1508    112688        1502    2026505
negt     1    100  100000 1814    135816        1814    5200000
aggt     1    100  100000 4904    153066.433    4904    4800000
aggb     1    100  100000 1888    33593.883     1878    2977447
each     100  100  100000 249433  16439127      246953  235000
last     100  100  100000 183457  12324574      182135  215000
seq3     100  100  100000 127237  16546757      124719  135000
negb     100  100  100000 157529  10385349      156610  119000
negt     100  100  100000 182847  12136713      182847  140000
aggt     100  100  100000 495547  15541323.540  495547  122000
aggb     100  100  100000 183457  3050675.226   182135  100471
each     1000 100  20000  499315  32904048      494547  12000
last     1000 100  20000  367504  24673476      364971  18000
seq3     1000 100  20000  258503  33663240      253597  4993
negb     1000 100  20000  315565  20799788      313867  3912
negt     1000 100  20000  365207  24241817      365207  9500
aggt     1000 100  20000  990370  31169877.826  990370  8600
each     5000 100  10000  1275018 84681785      1262492 2060
last     5000 100  10000  936324  63176728      929681  1920
seq5     5000 25   5000   2540900 195504400     2125000 820
each     1    1000 100000 24195   1807196       24160   1913927
last     1    1000 100000 4861    364363        4861    1682710
seq3last 1    1000 100000 4820    721069        4820    1403833
negb     1    1000 100000 2423    181845        2423    1052665
aggt     1    1000 100000 4904    243928.244    4904    1602292
seq3     1    1000 50000  59262   8845418       59113   381318
each     100  1000 20000  486588  32054717      486112  20341
last     100  1000 20000  88141   6331854       88132   170000
seq3last 100  1000 20000  77383   11113824      77361   53062
negb     100  1000 20000  49672   3279270       49672   14517
aggt     100  1000 20000  99037   4887075.220   99037   14986
"""


#: families, rules and windows of which the peer was measured on 22 November 2026
NEWER = {
    *((family, 1, 100) for family in ("each", "last", "seq3", "negt", "aggt")),
    *((family, 100, 100) for family in ("each", "last", "seq3", "negb", "negt", "aggt")),
    ("last", 100, 1000),
    *((family, 1000, 100) for family in ("each", "last", "negt", "aggt")),
    ("each", 5000, 100),
    ("last", 5000, 100),
    ("seq5", 5000, 25),
}


def _read() -> Iterator[tuple[Golden, TRex]]:
    for line in _TABLE.strip().splitlines():
        family, n, window, size, count, checksum, theirs, speed = line.split()
        total = float(checksum) if "." in checksum else int(checksum)
        yield Golden(family, int(n), int(window), int(size), int(count), total), TRex(int(theirs), int(speed))


#: every row of the table, with the peer's figures
T_REX: dict[Golden, TRex] = dict(_read())
GOLDEN: tuple[Golden, ...] = tuple(T_REX)


def golden(family: str, rules: int, window: int) -> Golden:
    """The row of the table with this family, number of rules and window; KeyError if there is none."""
    for row in GOLDEN:
        if (row.family, row.rules, row.window) == (family, rules, window):
            return row
    raise KeyError((family, rules, window))
