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

import random
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from occurs.errors import InputProblem, LimitProblem, ResourceProblem, did_you_mean
from occurs.model.nesting import read_json
from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema
from occurs.nets.random_input_draw import Draw, draw_of, is_number, weights_of

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
        given = read_json(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as problem:  # also what JSON, TOML and UTF-8 find wrong
        raise InputProblem.of("syntax", f"{path}: {problem}", file=str(path)) from None
    try:
        return stream_of(given)
    except InputProblem as problem:
        raise InputProblem.of(problem.kind, problem.message, file=str(path), hint=problem.hint) from None


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


def _wrong(where: str, message: str) -> InputProblem:
    return InputProblem.of("bad-value", f"{where}: {message}")
