"""Values of items: equal ones have one key, by a definition of its own (pipes.md, 2.3)."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from occurs.expr.tree import Binary, Call, Literal
from occurs.model.types import Type
from occurs.operators.process.scalars import MISSING, eager, leaf_of, value_of
from occurs.operators.process.tree import Input
from occurs.operators.process.values import Bag, Fault, Json, Map, Record, Set, Sharp, Troolean, distinct, key


def same(a, b):
    """Numbers by exact value, truth values only with such, lists by order, sets, bags and maps without."""
    truths = (bool, Troolean)
    if isinstance(a, truths) or isinstance(b, truths):
        return isinstance(a, truths) and isinstance(b, truths) and verdict(a) == verdict(b)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if math.isfinite(a) and math.isfinite(b):
            return Fraction(a) == Fraction(b)
        return a == b or (a != a and b != b)
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Set):
        return all(any(same(x, y) for y in b) for x in a) and all(any(same(x, y) for x in a) for y in b)
    if isinstance(a, Bag):
        return matched(a.elements, b.elements)
    if isinstance(a, Map):
        return matched(a.items, b.items)
    if isinstance(a, Record):
        return dict.keys(dict(a.columns)) == dict.keys(dict(b.columns)) and matched(a.columns, b.columns)
    return a.source == b.source if isinstance(a, Json) else a == b


def verdict(value):
    return value.value if isinstance(value, Troolean) else "T" if value else "F"


def matched(mine, others):
    """Each of the ones is the same as one of the others, and no two as the same."""
    rest = list(others)
    for one in mine:
        at = next((i for i, other in enumerate(rest) if same(one, other)), None)
        if at is None:
            return False
        del rest[at]
    return not rest


def some(rng, depth=2):
    """A value; equal ones are frequent."""
    choice = rng.randrange(14 if depth else 8)
    if choice < 8:
        plain = (None, True, False, 0, 1, 1.0, math.nan, math.inf, "T", "1", 2**53 + 1, float(2**53), Sharp.ALL, b"a")
        return rng.choice((*plain, *Troolean, Json("1")))
    parts = tuple(some(rng, depth - 1) for _ in range(rng.randrange(3)))
    pairs = tuple((some(rng, 0), some(rng, depth - 1)) for _ in range(rng.randrange(3)))
    made = (parts, Set(distinct(parts)), Bag(parts), Record(tuple(zip("ab", parts))), Record(tuple(zip("ba", parts))))
    one_each = {key(k): (k, v) for k, v in pairs}
    return (*made, Map(tuple(one_each.values())))[choice - 8]


@pytest.mark.parametrize("seed", range(4))
def test_equal_values_have_one_key(seed):
    rng = random.Random(f"values {seed}")
    seen = Counter()
    for _ in range(4_000):
        a, b = some(rng), some(rng)
        assert (key(a) == key(b)) is same(a, b), (a, b)
        assert key(a) != key(b) or hash(key(a)) == hash(key(b))
        seen[same(a, b)] += 1
    assert min(seen[True], seen[False]) > 50


def test_coalesce_asks_for_what_it_needs():
    """A fault behind the first value that is not null is never seen; of items that may be missing all are asked for."""
    faulty = Binary("+", Literal("a", Type.STRING), Literal(1, Type.INT))
    call = Call("coalesce", (Input(0), faulty))
    assert value_of(call, lambda leaf: leaf_of(leaf, (7,), {}), {}) == 7
    with pytest.raises(Fault):
        value_of(call, lambda leaf: leaf_of(leaf, (None,), {}), {})
    both = eager(Call("coalesce", (Input(0), Input(1))))
    for items, expected in (((7, MISSING), MISSING), ((None, 8), 8), ((7, 8), 7)):
        assert value_of(both, lambda leaf, items=items: leaf_of(leaf, items, {}), {}) == expected
