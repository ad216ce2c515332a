"""Programs of the language in ``tests/operators/stranger``, and rows for them."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

import occurs.languages
from occurs.languages.kit import language

FOLDER = str(Path(__file__).parent / "operators/stranger")
SUMMITS = "summit Highest of Reading.height per peak\n"
TESLA = """
define Twice(peak) from Highest(peak = $p) and last Highest(peak = $p) as Before within 50 s from Highest
where peak = Highest.peak
"""
EPL = "insert into High select a.peak as peak, a.height as height from pattern [every a=Reading(height > 10)];"


@contextmanager
def beside_the_languages() -> Iterator[None]:
    """The folder of the language is one of those that are searched for languages."""
    paths = occurs.languages.__path__
    occurs.languages.__path__ = [*paths, FOLDER]
    language._found.cache_clear()
    try:
        yield
    finally:
        occurs.languages.__path__ = paths
        language._found.cache_clear()
        for name in [n for n in sys.modules if n.startswith("occurs.languages.summits")]:
            del sys.modules[name]


def readings(seed: int, n: int = 60) -> pa.Table:
    rng = random.Random(seed)
    rows = [
        {"time": rng.randrange(40), "peak": rng.choice("abc"), "height": rng.choice([None, *range(20)])}
        for _ in range(n)
    ]
    schema = pa.schema([("time", pa.int64()), ("peak", pa.string()), ("height", pa.int64())])
    return pa.Table.from_pylist(sorted(rows, key=lambda r: r["time"]), schema=schema)


MIXED = {"summits": SUMMITS + "summit Above of High.height per peak\n", "epl": EPL, "tesla": TESLA}
