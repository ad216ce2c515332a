"""Distributions of gaps and attribute values, as a file describes them (see :mod:`random_input`)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from occurs.errors import InputProblem, did_you_mean
from occurs.model.types import Type

#: how often a value is drawn again that is not within the bounds
_TRIES = 1000


@dataclass(frozen=True)
class Draw:
    """One distribution.

    ``kind``: ``number``, ``value`` (one of ``values``, of any type) or ``time`` (of the row).  ``value`` draws one.
    ``whole``: are the numbers whole?
    """

    kind: str
    value: Callable[[random.Random], Any]
    values: tuple[Any, ...] = ()
    whole: bool = False

    def checked(self, type: Type, where: str) -> Draw:
        """For an attribute of this type; InputProblem if it has other values."""
        if type in (Type.INT, Type.TIMESTAMP, Type.DURATION):
            if self.kind == "value":
                _of_type(self.values, int, "whole numbers", where)
            return self if self.whole or self.kind != "number" else Draw("number", _rounded(self.value), whole=True)
        if type is Type.FLOAT and self.kind != "time":
            if self.kind == "value":
                _of_type(self.values, (int, float), "numbers", where)
            return Draw("number", lambda rng, draw=self.value: float(draw(rng)))  # type: ignore[misc]
        if type in (Type.STRING, Type.BOOL) and self.kind == "value":
            wanted, what = (str, "texts") if type is Type.STRING else (bool, "`true` or `false`")
            _of_type(self.values, wanted, what, where)
            return self
        raise InputProblem.of(
            "bad-value", f"{where}: this distribution cannot draw a {type}", hint="list the possible `values`"
        )


def draw_of(given: Any, where: str) -> Draw:
    """The distribution that a file describes: a constant, or a table.  ``where``: its place, for errors.

    >>> import random
    >>> draw_of({"distribution": "uniform", "low": 1, "high": 6}, "die").value(random.Random(0))
    4
    """
    if isinstance(given, bool | int | float | str):
        return _constant(given, where)
    if not isinstance(given, Mapping):
        raise _wrong(where, f"found {given!r}, expected a constant or a table with `distribution`")
    known = {**given}
    if "values" in known:
        known.setdefault("distribution", "choice")
    name = known.pop("distribution", None)
    if name not in _MAKERS:
        text = f"unknown distribution `{name}`" if name is not None else "`distribution` or `values` is missing"
        raise InputProblem.of(
            "unknown-name", f"{where}: {text}", hint=did_you_mean(str(name), _MAKERS, "distributions")
        )
    make, needed, optional = _MAKERS[name]
    for n in known:
        if n not in (*needed, *optional):
            hint = did_you_mean(n, (*needed, *optional), "those of this distribution")
            raise InputProblem.of("unknown-name", f"{where}: `{name}` has no parameter `{n}`", hint=hint)
    lacking = [n for n in needed if n not in known]
    if lacking:
        raise _wrong(where, f"`{name}` needs `{lacking[0]}`")
    return make(known, where)


# --- the distributions ------------------------------------------------------------------------------------------


def _constant(value: Any, where: str) -> Draw:
    return _listed([value], None, where)


def _listed(values: Sequence[Any], weights: Sequence[float] | None, where: str) -> Draw:
    values = tuple(values)
    if len(values) == 1:
        (only,) = values
        return Draw("value", lambda rng: only, values)
    return Draw("value", lambda rng: rng.choices(values, weights)[0], values)


def _choice(given: Mapping[str, Any], where: str) -> Draw:
    values, weights = given["values"], given.get("weights")
    if not isinstance(values, list) or not values:
        raise _wrong(where, f"`values` is {values!r}, expected a list of at least one value")
    if weights is not None:
        weights_of(weights, len(values), where)
    return _listed(values, weights, where)


def weights_of(weights: Any, count: int, where: str) -> None:
    """InputProblem unless these are ``count`` weights, not negative, and not all 0."""
    if not isinstance(weights, list) or len(weights) != count:
        raise _wrong(where, f"`weights` is {weights!r}, expected a list of {count}")
    for w in weights:
        if not is_number(w) or w < 0:
            raise _wrong(where, f"the weight {w!r} is not a number of at least 0")
    if not sum(weights) > 0:
        raise _wrong(where, "all weights are 0")


def _uniform(given: Mapping[str, Any], where: str) -> Draw:
    low, high = _parameter(given, "low", where), _parameter(given, "high", where)
    if low > high:
        raise _wrong(where, f"`low`, {low}, is greater than `high`, {high}")
    if isinstance(low, int) and isinstance(high, int):
        return Draw("number", lambda rng: rng.randint(low, high), whole=True)
    return Draw("number", lambda rng: rng.uniform(low, high))


def _normal(given: Mapping[str, Any], where: str) -> Draw:
    mean, deviation = _parameter(given, "mean", where), _parameter(given, "deviation", where, least=0)
    return _within(given, lambda rng: rng.gauss(mean, deviation), where)


def _lognormal(given: Mapping[str, Any], where: str) -> Draw:
    """Of that median; the logarithms have that deviation."""
    median, deviation = _parameter(given, "median", where, above=0), _parameter(given, "deviation", where, least=0)
    return _within(given, lambda rng: rng.lognormvariate(math.log(median), deviation), where)


def _exponential(given: Mapping[str, Any], where: str) -> Draw:
    mean = _parameter(given, "mean", where, above=0)
    return _within(given, lambda rng: rng.expovariate(1 / mean), where)


def _poisson(given: Mapping[str, Any], where: str) -> Draw:
    mean = _parameter(given, "mean", where, above=0)

    def value(rng: random.Random) -> int:
        # as many as fit into one unit of time, the gaps being exponential
        count, left = 0, mean - rng.expovariate(1.0)
        while left >= 0:
            count, left = count + 1, left - rng.expovariate(1.0)
        return count

    return _within(given, value, where, whole=True)


def _time(given: Mapping[str, Any], where: str) -> Draw:
    return Draw("time", lambda rng: None)


_Maker = Callable[[Mapping[str, Any], str], Draw]
_BOUNDS = ("low", "high")
#: name -> (what makes it, what it needs, what it may have besides)
_MAKERS: dict[str, tuple[_Maker, tuple[str, ...], tuple[str, ...]]] = {
    "choice": (_choice, ("values",), ("weights",)),
    "uniform": (_uniform, ("low", "high"), ()),
    "normal": (_normal, ("mean", "deviation"), _BOUNDS),
    "lognormal": (_lognormal, ("median", "deviation"), _BOUNDS),
    "exponential": (_exponential, ("mean",), _BOUNDS),
    "poisson": (_poisson, ("mean",), _BOUNDS),
    "time": (_time, (), ()),
}


# --- parts of them ----------------------------------------------------------------------------------------------


def _within(given: Mapping[str, Any], value: Callable[[random.Random], float], where: str, whole: bool = False) -> Draw:
    """What is not from ``low`` to ``high`` is drawn again."""
    if not any(n in given for n in _BOUNDS):
        return Draw("number", value, whole=whole)
    low = _parameter(given, "low", where) if "low" in given else -math.inf
    high = _parameter(given, "high", where) if "high" in given else math.inf
    if low > high:
        raise _wrong(where, f"`low`, {low}, is greater than `high`, {high}")

    def bounded(rng: random.Random) -> float:
        for _ in range(_TRIES):
            drawn = value(rng)
            if low <= drawn <= high:
                return drawn
        raise _wrong(where, f"none of {_TRIES} drawn values is between {low} and {high}")

    return Draw("number", bounded, whole=whole)


def _rounded(draw: Callable[[random.Random], float]) -> Callable[[random.Random], int]:
    return lambda rng: round(draw(rng))


def _parameter(
    given: Mapping[str, Any], name: str, where: str, least: float = -math.inf, above: float = -math.inf
) -> Any:
    value = given[name]
    if not is_number(value):
        raise _wrong(where, f"`{name}` is {value!r}, expected a number")
    if value < least or (value <= above and above > -math.inf):
        raise _wrong(where, f"`{name}` is {value}, expected {'more than ' if value <= above else 'at least '}0")
    return value


def is_number(value: Any) -> bool:
    """Is it a finite number, and no truth value?"""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _of_type(values: Sequence[Any], wanted: Any, what: str, where: str) -> None:
    for v in values:
        if not isinstance(v, wanted) or (isinstance(v, bool) and wanted is not bool):
            raise _wrong(where, f"{v!r} is among the values, expected {what}")


def _wrong(where: str, message: str) -> InputProblem:
    return InputProblem.of("bad-value", f"{where}: {message}")
