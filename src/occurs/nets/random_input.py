"""Random input streams: what a small file says of types, gaps and values (epl-and-nets.md, section 4B).

The file (TOML, or JSON of the same shape)::

    rows = 200                      # how many rows a stream has,
    until = 3600                    # or its last time; or both, whichever comes first
    start = 0                       # time of the first row
    gap = {distribution = "exponential", mean = 30}         # from a row to the next, in ticks

    [types.Patient]
    weight = 3                      # how often, beside the other types (1)
    [types.Patient.attributes]
    name = {values = ["A", "B"], weights = [2, 1]}          # without weights all alike
    contrDuration = {distribution = "normal", mean = 35, deviation = 10, low = 0}
    ts = {distribution = "time"}    # the time of the row
    ward = "north"                  # always the same

Distributions: ``choice`` (values, weights), ``uniform`` (low, high, both included if whole), ``normal`` (mean,
deviation), ``lognormal`` (median, deviation of the logarithm), ``exponential`` (mean), ``poisson`` (mean), ``time``;
those from ``normal`` to ``poisson`` may have ``low`` and ``high``: what is beyond is drawn again.  Numbers are rounded
for attributes that are whole, and so are gaps; a gap of less than 0 counts as 0.
"""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from occurs.errors import InputProblem, LimitProblem, ResourceProblem, did_you_mean
from occurs.model.nesting import read_json
from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema, Type

#: more rows than these no stream has that does not say how many it has
MOST = 100_000


@dataclass(frozen=True)
class RandomType:
    """A type of events in a random stream.

    Attributes:
        weight: The frequency of the type, relative to the other types.
        attributes: The distribution of each attribute.
    """

    weight: float
    attributes: Mapping[str, Draw]


@dataclass(frozen=True)
class Stream:
    """The description of a random stream.  Times are ticks.

    Attributes:
        types: The types of events.
        gap: The distribution of the time between two rows.
        start: The time of the first row.
        rows: The maximum number of rows, if ``until`` is not reached before.
        until: The latest time of a row, if ``rows`` is not reached before.
    """

    types: Mapping[str, RandomType]
    gap: Draw
    start: int = 0
    rows: int | None = None
    until: int | None = None

    def draw(self, rng: random.Random) -> Iterator[Occurrence]:
        """Draw one stream: yield its rows in the order of time.

        Raises:
            LimitProblem: The stream has no ``rows``, and ``until`` is not reached in ``MOST`` rows.
        """
        names = list(self.types)
        weights = [self.types[n].weight for n in names]
        time, made = self.start, 0
        while (self.rows is None or made < self.rows) and (self.until is None or time <= self.until):
            if self.rows is None and made == MOST:
                text = f"after {MOST} rows the time is only {time}, before `until`, {self.until}"
                raise LimitProblem.of("max-events", text, hint="make the gaps longer, or set the number of `rows`")
            (name,) = rng.choices(names, weights)
            drawn = self.types[name].attributes.items()
            yield Occurrence(name, time, {n: time if d.kind == "time" else d.value(rng) for n, d in drawn})
            made += 1
            time += max(0, self.gap.value(rng))

    def fitted(self, schemas: Mapping[str, Schema]) -> Stream:
        """The same with values of the types that attributes have; InputProblem names what does not fit.

        ``schemas``: those of a program; types and attributes that it does not know are errors, and so are attributes
        without a distribution.
        """
        types = {}
        for name, known in self.types.items():
            if name not in schemas:
                hint = did_you_mean(name, schemas, "types of the program")
                raise InputProblem.of("unknown-name", f"types.{name}: the program does not have this type", hint=hint)
            types[name] = RandomType(known.weight, _fitted(name, known.attributes, schemas[name]))
        return Stream(types, self.gap, self.start, self.rows, self.until)


def _fitted(name: str, attributes: Mapping[str, Draw], schema: Schema) -> dict[str, Draw]:
    for n in attributes:
        if n not in schema:
            hint = did_you_mean(n, schema.names, f"attributes of {name}")
            raise InputProblem.of(
                "unknown-attribute", f"types.{name}.attributes.{n}: the type does not have this attribute", hint=hint
            )
    out = {}
    for n, type in schema:
        if n not in attributes:
            hint = f'[types.{name}.attributes] {n} = {{distribution = "..."}}'
            raise InputProblem.of(
                "missing-column", f"types.{name}: the attribute `{n}` needs a distribution", hint=hint
            )
        out[n] = attributes[n].checked(type, f"types.{name}.attributes.{n}")
    return out


def read(path: str | Path) -> Stream:
    """Read the description of a random stream from a file.

    Args:
        path: A JSON file (``.json``), or else a TOML file.

    Raises:
        ResourceProblem: The file cannot be read.
        InputProblem: The description is wrong.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: a name that no file can have
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise ResourceProblem.of("missing-file", f"{path}: {why}", file=str(path)) from None
    try:
        text = data.decode("utf-8")
    except ValueError as problem:
        raise InputProblem.of("syntax", f"{path}: {problem}", file=str(path)) from None
    return parsed(text, str(path))


def parsed(text: str, file: str) -> Stream:
    """Return the stream that a text describes.

    Args:
        text: The text, JSON if the name of the file ends in ``.json``, or else TOML.
        file: The name of the file.

    Raises:
        InputProblem: The description is wrong.
    """
    try:
        given = read_json(text) if file.lower().endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError) as problem:  # also what JSON and TOML find wrong
        raise InputProblem.of("syntax", f"{file}: {problem}", file=file) from None
    try:
        return stream_of(given)
    except InputProblem as problem:
        raise InputProblem.of(problem.kind, problem.message, file=file, hint=problem.hint) from None


def stream_of(given: Any) -> Stream:
    """Return the stream that the content of a file describes.

    Args:
        given: The content of the file.

    Raises:
        InputProblem: The description is wrong; the message names the place in the file.

    Examples:
        >>> s = stream_of({"rows": 2, "gap": 5, "types": {"A": {"attributes": {"k": "p"}}}})
        >>> [(e.type, e.time, e.attributes) for e in s.draw(random.Random(1))]
        [('A', 0, {'k': 'p'}), ('A', 5, {'k': 'p'})]
    """
    _keys(given, ("rows", "until", "start", "gap", "types"), "the file")
    for needed in ("gap", "types"):
        if needed not in given:
            raise _wrong("the file", f"`{needed}` is missing")
    limits = {n: _whole(given[n], n) for n in ("rows", "until") if n in given}
    if not limits:
        raise _wrong("the file", "the stream would be infinite: set `rows` or `until`")
    gap = draw_of(given["gap"], "gap")
    if gap.kind == "time" or not all(is_number(v) and v >= 0 for v in gap.values):
        raise _wrong("gap", f"{given['gap']!r} is not a distribution of gaps, which must be numbers of at least 0")
    types = given["types"]
    if not isinstance(types, Mapping) or not types:
        raise _wrong("types", f"found {types!r}, expected a table with at least one type")
    made = {str(n): _type(t, f"types.{n}") for n, t in types.items()}
    weights_of([t.weight for t in made.values()], len(made), "the weights of types")
    gaps = Draw("number", lambda rng: round(gap.value(rng)), whole=True)
    return Stream(made, gaps, _whole(given.get("start", 0), "start", None), limits.get("rows"), limits.get("until"))


def _type(given: Any, where: str) -> RandomType:
    _keys(given, ("weight", "attributes"), where)
    attributes = given.get("attributes", {})
    if not isinstance(attributes, Mapping):
        raise _wrong(f"{where}.attributes", f"found {attributes!r}, expected a table")
    draws = {str(n): draw_of(d, f"{where}.attributes.{n}") for n, d in attributes.items()}
    return RandomType(given.get("weight", 1), draws)


def _keys(given: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(given, Mapping):
        raise _wrong(where, f"found {given!r}, expected a table")
    for n in given:
        if n not in known:
            hint = did_you_mean(str(n), known, "known")
            raise InputProblem.of("unknown-name", f"{where}: unknown key `{n}`", hint=hint)


def _whole(value: Any, where: str, least: int | None = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        expected = "a whole number" if least is None else f"a whole number of at least {least}"
        raise _wrong(where, f"found {value!r}, expected {expected}")
    return value


# --- distributions of gaps and attribute values -----------------------------------------------------------------------


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
