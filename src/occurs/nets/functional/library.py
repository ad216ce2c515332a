"""The library of CPN ML that inscriptions use: lists, strings, numbers, multisets, chance and the model time.

(CPN Tools' documentation: List functions, String functions, Integer and real functions, Random functions, Multi-sets;
the rest is the Standard ML Basis Library.)  A function of several arguments takes one tuple.  Where ML raises an
exception, the value is None: it has no colour, so that no token holds it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from occurs.errors import DefinitionProblem

#: where chance comes from; None where there must be none (state spaces, initial markings)
CHANCE: ContextVar[random.Random | None] = ContextVar("chance", default=None)
#: the model time
TIME: ContextVar[int | float] = ContextVar("time", default=0)

List = tuple[Any, ...]


def chance() -> random.Random:
    """The source of chance of the running simulation."""
    found = CHANCE.get()
    if found is None:
        message = "a random function has no one value here: only a simulation draws values"
        raise DefinitionProblem.of("unsupported", message)
    return found


# --- lists and multisets ----------------------------------------------------------------------------------------------


def without(left: List, right: List) -> List | None:
    """The multiset ``left`` without ``right``; None if ``right`` is not part of it.

    >>> without((1, 2, 1), (1,))
    (2, 1)
    """
    gone = Counter(right)
    kept = []
    for value in left:
        if gone[value]:
            gone[value] -= 1
        else:
            kept.append(value)
    return tuple(kept) if not gone.total() else None


def _sublist(part: List, whole: List) -> bool:
    return not Counter(part) - Counter(whole)


def _folded(reverse: bool) -> Callable[[Any], Any]:
    def fold(f: Any) -> Any:
        def start(value: Any) -> Any:
            def run(items: List) -> Any:
                found = value
                for item in reversed(items) if reverse else items:
                    found = f((item, found))
                return found

            return run

        return start

    return fold


def _curried(f: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return lambda x: lambda y: f(x, y)


def _of_pair(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda pair: f(*pair)


def _find(f: Any, items: List) -> Any:
    return next((("SOME", v) for v in items if f(v)), ("NONE", ()))


def _remdupl(items: List) -> List:
    return tuple(dict.fromkeys(items))


def _rm(value: Any, items: List) -> List:
    at = next((k for k, v in enumerate(items) if v == value), None)
    return items if at is None else items[:at] + items[at + 1 :]


def _tabulate(n: int, f: Any) -> List:
    return tuple(f(k) for k in range(n))


def _nth(items: List, n: int) -> Any:
    return items[n] if 0 <= n < len(items) else None


def _taken(items: List, n: int) -> List | None:
    return items[:n] if 0 <= n <= len(items) else None


def _dropped(items: List, n: int) -> List | None:
    return items[n:] if 0 <= n <= len(items) else None


def _sorted(before: Any, items: List) -> List:
    """By insertion: ``before`` says whether its first argument may stand before its second."""
    out: list[Any] = []
    for item in items:
        at = len(out)
        while at and not before((out[at - 1], item)):
            at -= 1
        out.insert(at, item)
    return tuple(out)


# --- numbers and strings ----------------------------------------------------------------------------------------------


def _quotient(x: int, y: int) -> int | None:
    if y == 0:
        return None
    size = abs(x) // abs(y)
    return size if (x < 0) is (y < 0) else -size


def _rounded(x: float) -> int:
    return round(x)  # to the even one of two equally near integers, as in ML


def _number(value: float) -> str:
    """A number as ML shows it.

    >>> _number(-3), _number(2.5)
    ('~3', '2.5')
    """
    return str(value).replace("-", "~")


def _read(text: str) -> Any:
    digits = text.strip().replace("~", "-")
    return ("SOME", int(digits)) if digits.lstrip("-").isdecimal() else ("NONE", ())


def _substring(text: str, start: int, size: int) -> str | None:
    return text[start : start + size] if start >= 0 and size >= 0 and start + size <= len(text) else None


# --- chance -----------------------------------------------------------------------------------------------------------


def _discrete(low: int, high: int) -> int:
    return chance().randint(low, high)


def _erlang(n: int, rate: float) -> float:
    return sum(chance().expovariate(rate) for _ in range(n))


def _poisson(mean: float) -> int:
    """By the gaps between events, which are exponential."""
    count, left = 0, mean - chance().expovariate(1.0)
    while left > 0:
        count, left = count + 1, left - chance().expovariate(1.0)
    return count


def draw(values: Sequence[Any]) -> Any:
    """One of ``values``, each equally likely."""
    return chance().choice(values)


LIBRARY: dict[str, Callable[[Any], Any]] = {
    "List.map": _curried(lambda f, items: tuple(map(f, items))),
    "List.filter": _curried(lambda f, items: tuple(v for v in items if f(v))),
    "List.exists": _curried(lambda f, items: any(map(f, items))),
    "List.all": _curried(lambda f, items: all(map(f, items))),
    "List.find": _curried(_find),
    "List.foldl": _folded(False),
    "List.foldr": _folded(True),
    "List.rev": lambda items: items[::-1],
    "List.concat": lambda lists: tuple(v for items in lists for v in items),
    "List.tabulate": _of_pair(_tabulate),
    "List.nth": _of_pair(_nth),
    "List.take": _of_pair(_taken),
    "List.drop": _of_pair(_dropped),
    "List.last": lambda items: items[-1] if items else None,
    "List.hd": lambda items: items[0] if items else None,
    "List.tl": lambda items: items[1:] if items else None,
    "List.null": lambda items: not items,
    "List.length": len,
    "mem": lambda items: lambda value: value in items,
    "remdupl": _remdupl,
    "rm": _curried(_rm),
    "rmall": lambda value: lambda items: tuple(v for v in items if v != value),
    "contains": lambda whole: lambda part: all(v in whole for v in part),
    "contains_all": lambda whole: lambda part: _sublist(part, whole),
    "intersect": lambda left: lambda right: tuple(v for v in left if v in right),
    "union": lambda left: lambda right: left + right,
    "ins": lambda items: lambda value: (*items, value),
    "ins_new": lambda items: lambda value: items if value in items else (*items, value),
    "sort": _curried(_sorted),
    "size": len,
    "cf": _of_pair(lambda value, items: items.count(value)),
    "ext_col": _curried(lambda f, items: tuple(map(f, items))),
    "ext_ms": lambda f: lambda items: tuple(v for item in items for v in f(item)),
    "ms_to_list": lambda items: items,
    "list_to_ms": lambda items: items,
    "ms_to_col": lambda items: items[0] if items else None,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": _rounded,
    "abs": abs,
    "real": float,
    "not": lambda value: not value,
    "length": len,
    "Math.sqrt": lambda x: math.sqrt(x) if x >= 0 else None,
    "Math.exp": math.exp,
    "Math.ln": lambda x: math.log(x) if x > 0 else None,
    "Int.toString": _number,
    "Int.fromString": _read,
    "Int.min": _of_pair(min),
    "Int.max": _of_pair(max),
    "Int.quot": _of_pair(_quotient),
    "IntInf.toInt": lambda x: x,
    "Real.toString": _number,
    "Bool.toString": lambda x: "true" if x else "false",
    "Real.floor": math.floor,
    "Real.ceil": math.ceil,
    "Real.trunc": math.trunc,
    "Real.round": _rounded,
    "String.size": len,
    "String.concat": "".join,
    "String.substring": _of_pair(_substring),
    "String.isPrefix": _curried(lambda part, text: text.startswith(part)),
    "String.isSuffix": _curried(lambda part, text: text.endswith(part)),
    "String.isSubstring": _curried(lambda part, text: part in text),
    "explode": tuple,
    "implode": "".join,
    "str": lambda x: x,
    "chr": lambda n: chr(n) if 0 <= n < 256 else None,
    "ord": ord,
    "valOf": lambda option: option[1] if option[0] == "SOME" else None,
    "isSome": lambda option: option[0] == "SOME",
    "time": lambda unit: TIME.get(),
    "discrete": _of_pair(_discrete),
    "uniform": _of_pair(lambda low, high: chance().uniform(low, high)),
    "exponential": lambda rate: chance().expovariate(rate),
    "normal": _of_pair(lambda mean, variance: chance().gauss(mean, math.sqrt(variance))),
    "erlang": _of_pair(_erlang),
    "bernoulli": lambda p: int(chance().random() < p),
    "binomial": _of_pair(lambda n, p: sum(chance().random() < p for _ in range(n))),
    "poisson": _poisson,
}
#: other names of the same functions
ALIASES = {
    "map": "List.map", "foldl": "List.foldl", "foldr": "List.foldr", "rev": "List.rev", "substring": "String.substring",
    "concat": "String.concat", "exists": "List.exists", "null": "List.null", "hd": "List.hd", "tl": "List.tl",
    "Option.valOf": "valOf", "Option.isSome": "isSome", "String.explode": "explode", "String.implode": "implode",
    "sublist": "List.filter", "filter": "List.filter", "IntInf.toString": "Int.toString", "ModelTime.time": "time",
}  # fmt: skip
LIBRARY |= {name: LIBRARY[other] for name, other in ALIASES.items()}
#: functions whose value is a list or a multiset
LISTS = frozenset(
    (
        "List.map", "map", "List.filter", "filter", "List.rev", "rev", "List.concat", "List.tabulate",
        "List.take", "List.drop", "List.tl", "tl", "remdupl", "rm", "rmall", "intersect", "union", "ins",
        "ins_new", "sort", "ext_col", "ext_ms", "ms_to_list", "list_to_ms", "explode", "String.explode",
        "sublist",
    )
)  # fmt: skip
