"""The sequences that the EPL engines are compared with: events, statements, what must come out, plain Python.

Row i = 0 .. of the events comes at i + 1 ms; its type, key, v and g are parts of a hash of i.  Rule r is about types
i = r % 10 and j = r // 10 % 10 (rule 0: j = 1) and, in `seq2g`, about m = r // 100 % 10:

- `seq2`: an event of type j after each one of type i, of equal key, within 100 ms;
- `seq2g`: the same, the first with g = m;
- `seq3`: T0, then T1, then T2, of equal keys, within 1000 ms of the first;
- `absence`: T0 that no T1 of equal key follows within 100 ms;
- `keyed`: `seq2` of types 0 and 1; Esper runs it in a context per key, which Occurs has no word for and does not need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

TYPES = 10
WITHIN = 100
LONG = 1000


@dataclass(frozen=True)
class Events:
    """n events in time order, int64 columns: time in ms, type 0..9, key, v 0..999, g 0..9."""

    time: np.ndarray
    type: np.ndarray
    key: np.ndarray
    v: np.ndarray
    g: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    def table(self) -> pa.Table:
        """Columns time, type (T0 .. T9, dictionary-encoded), key, v, g."""
        names = pa.array([f"T{t}" for t in range(TYPES)])
        kinds = pa.DictionaryArray.from_arrays(pa.array(self.type.astype(np.int32)), names)
        return pa.table({"time": self.time, "type": kinds, "key": self.key, "v": self.v, "g": self.g})


@lru_cache(maxsize=4)
def events(n: int, keys: int = 100) -> Events:
    """The first n events, with this many keys."""
    x = np.arange(1, n + 1, dtype=np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    parts = (x % 10, x // 10 % keys, x // 1000 % 1000, x // 1_000_000 % 10)
    return Events(np.arange(1, n + 1, dtype=np.int64), *(p.astype(np.int64) for p in parts))


def constants(rule: int) -> tuple[int, int, int]:
    """i, j and m of a rule."""
    return rule % 10, 1 if rule == 0 else rule // 10 % 10, rule // 100 % 10


def statement(family: str, rule: int) -> str:
    """One statement, named R and its number."""
    i, j, m = constants(rule)
    within = f"b=T{j}(key=a.key) where timer:within({WITHIN} msec)"
    pattern = {
        "seq2": f"every a=T{i} -> {within}",
        "seq2g": f"every a=T{i}(g={m}) -> {within}",
        "seq3": f"every a=T0 -> (b=T1(key=a.key) -> c=T2(key=a.key)) where timer:within({LONG} msec)",
        "absence": f"every a=T0 -> (timer:interval({WITHIN} msec) and not T1(key=a.key))",
        "keyed": f"every a=T0 -> {within}",
    }[family]
    return f"@Name('R{rule}') select a.key as key from pattern [{pattern}];\n"


def statements(family: str, rules: int) -> str:
    return "".join(statement(family, r) for r in range(rules))


def statements_of_esper(family: str, rules: int) -> str:
    """The same for Esper, with its declarations."""
    declared = schemas("@public @buseventtype create objectarray")
    if family != "keyed":
        return declared + statements(family, rules)
    pattern = f"every a=T0 -> b=T1 where timer:within({WITHIN} msec)"
    each = "".join(
        f"@Name('R{r}') context ByKey select a.key as key from pattern [{pattern}];\n" for r in range(rules)
    )
    return f"{declared}create context ByKey partition by key from T0, key from T1;\n{each}"


def schemas(prefix: str = "create") -> str:
    """The declarations of the types; ``prefix``: what each begins with."""
    return "".join(f"{prefix} schema T{t}(key int, v int, g int);\n" for t in range(TYPES))


@dataclass(frozen=True)
class Job:
    """``found``: matches of all rules together."""

    family: str
    rules: int
    events: int
    found: int

    @property
    def name(self) -> str:
        return f"{self.family}-{self.rules}-{self.events}"

    @property
    def text(self) -> str:
        return schemas() + statements(self.family, self.rules)

    def check(self, found: int) -> None:
        """AssertionError if it is another number."""
        if found != self.found:
            raise AssertionError(f"{self.name}: {found} matches, not {self.found}")


JOBS = (
    Job("seq2", 1, 1_000_000, 9_475),
    Job("seq2", 100, 200_000, 188_182),
    Job("seq2g", 1000, 50_000, 47_175),
    Job("seq3", 1, 1_000_000, 26_737),
    Job("absence", 1, 1_000_000, 90_646),
    Job("keyed", 1, 1_000_000, 9_475),
)
#: the same for tests
SMALL = (
    Job("seq2", 1, 20_000, 189),
    Job("seq2", 100, 5_000, 4_603),
    Job("seq2g", 300, 5_000, 1369),
    Job("seq3", 1, 20_000, 474),
    Job("absence", 1, 20_000, 1_795),
    Job("keyed", 1, 20_000, 189),
)


def plain(family: str, rules: int, e: Events) -> int:
    """Matches of all rules, found by a plain loop per rule: what a user would write by hand."""
    loop = _LOOPS[family]
    types, keys, groups = e.type.tolist(), e.key.tolist(), e.g.tolist()
    return sum(loop(types, keys, groups, *constants(r)) for r in range(rules))


Loop = Callable[[list[int], list[int], list[int], int, int, int], int]


def _pair(types: list[int], keys: list[int], groups: list[int], i: int, j: int, m: int) -> int:
    waiting: dict[int, list[int]] = {}
    found = 0
    for time, kind in enumerate(types, 1):
        if kind == j:
            starts = waiting.pop(keys[time - 1], None)
            if starts:
                for start in starts:
                    found += time - start < WITHIN
        if kind == i:
            waiting.setdefault(keys[time - 1], []).append(time)
    return found


def _pair_of_group(types: list[int], keys: list[int], groups: list[int], i: int, j: int, m: int) -> int:
    waiting: dict[int, list[int]] = {}
    found = 0
    for time, kind in enumerate(types, 1):
        if kind == j:
            starts = waiting.pop(keys[time - 1], None)
            if starts:
                for start in starts:
                    found += time - start < WITHIN
        if kind == i and groups[time - 1] == m:
            waiting.setdefault(keys[time - 1], []).append(time)
    return found


def _three(types: list[int], keys: list[int], groups: list[int], i: int, j: int, m: int) -> int:
    first: dict[int, list[int]] = {}
    second: dict[int, list[int]] = {}
    found = 0
    for time, kind in enumerate(types, 1):
        if kind > 2:
            continue
        key = keys[time - 1]
        if kind == 0:
            first.setdefault(key, []).append(time)
        elif kind == 1:
            second.setdefault(key, []).extend(first.pop(key, ()))
        else:
            found += sum(time - start < LONG for start in second.pop(key, ()))
    return found


def _absent(types: list[int], keys: list[int], groups: list[int], i: int, j: int, m: int) -> int:
    waiting: dict[int, list[int]] = {}
    found = 0
    for time, kind in enumerate(types, 1):
        if kind == 0:
            waiting.setdefault(keys[time - 1], []).append(time)
        elif kind == 1:
            found += sum(time - start >= WITHIN for start in waiting.pop(keys[time - 1], ()))
    return found + sum(len(types) - start >= WITHIN for starts in waiting.values() for start in starts)


_LOOPS: dict[str, Loop] = {"seq2": _pair, "seq2g": _pair_of_group, "seq3": _three, "absence": _absent, "keyed": _pair}
