"""One program in five languages, and events for it: negation, timers, absence, consumption, open intervals, windows."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

#: file to text; the other languages read what TESLA declares
RULES = {
    "a.tesla": """
        event A(K: int, V: int)
        event B(K: int, V: int)
        event C(K: int, V: int)
        define Neg(K, V) from B(K = $k) and not C(K = $k) within 40 ms from B where K = $k, V = B.V
        define Once(K, V) from A(K = $k) and last C(K = $k) within 60 ms from A where K = $k, V = C.V consuming C
        define Tick(N) from Timer(MS%50 == 0) where N = COUNT(A()) within 80 ms from Timer
        define Ended(K, V) from over(K = $k) and last Neg(K = $k) within 200 ms from over where K = $k, V = Neg.V
    """,
    "b.epl": """
        insert into Absent select a.K as K, a.V as V
            from pattern [every a=A -> (timer:interval(30 msec) and not B(K = a.K))];
        insert into Pair select a.K as K, a.V as V, b.V as W
            from pattern [every a=A -> b=B(K = a.K, V > a.V) where timer:within(70 msec)];
    """,
    "c.phen": """
        state busy(K) : (A(K, V) and V > 4) ~> C(K, _).
        event over(K) : end(busy(K)).
        state long(K) : filter(busy(K), at_least(25 ms)).
        state brief(K) : busy(K) minus long(K).
    """,
    "d.ftl": """
        table T (K int key, V int)
        trigger doubled for each k in (select K from T):
            eventually [x <- T(k)] eventually within 90 ms (T(k) >= 2 * x and x > 0)
            emit Doubled(K = k)
    """,
    "e.esql": """
        DEFINE Mean AS GET (THE AVERAGE OF *) FROM A.V ON A WINDOW OF 5.
        DEFINE Total AS SLICE EACH C WITH (THE SUM OF *.V) ON V.
    """,
}


def write_rules(folder: Path) -> None:
    for name, text in RULES.items():
        (folder / name).write_text(text)


def lines(seed: int, n: int, keys: int = 4) -> list[str]:
    """Rows of a CSV file with the columns ``type,time,K,V``: in order of time, some at one time; times are in ms."""
    rng = random.Random(seed)
    time, out = 0, []
    for _ in range(n):
        kind = rng.choice("AABBCT")
        # of a table two rows of one key at one time would contradict each other
        time += rng.choice((0, 0, 1, 2, 3, 5, 8, 20)) + (kind == "T")
        out.append(f"{kind},{time},{rng.randrange(keys)},{rng.randrange(10)}")
    return out


def passing(second: int, keys: int) -> list[str]:
    """The rows of one second, for keys that come in it and never again: A, B, A, B, then C, which ends what is open.
    The table T has always the same 50 keys."""
    rng = random.Random(second)
    out = []
    for n in range(keys):
        key, at = second * keys + n, second * 1000 + n * 900 // keys
        out += [(at + 20 * i, f"{t},{at + 20 * i},{key},{rng.randrange(10)}") for i, t in enumerate("ABABC")]
        out.append((at, f"T,{at},{key % 50},{rng.randrange(10)}"))
    return [row for _, row in sorted(out)]


def text(rows: Iterable[str]) -> str:
    return "type,time,K,V\n" + "".join(f"{row}\n" for row in rows)
