"""Colours and their values as JSON and back (epl-and-nets.md, section 4B, `.net.json`).

A value is written by its colour: products and lists as arrays, records as objects, unions as ``{"case": .., "value":
..}``, unit as null, reals beyond all numbers as texts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from occurs.errors import did_you_mean
from occurs.nets.colours import (
    Alias,
    Bool,
    Colour,
    Enum,
    Int,
    List,
    Product,
    Real,
    Record,
    String,
    Union,
    Unit,
    Value,
    plain,
)
from occurs.nets.netjson_at import At, Json, array, members, text, texts

SIMPLE: dict[str, type[Colour]] = {c.__name__.lower(): c for c in (Unit, Bool, Int, Real, String)}
UNBOUNDED = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def write_value(value: Value, colour: Colour) -> Json:
    kind = plain(colour)
    if isinstance(kind, Real) and isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, tuple):
        if isinstance(kind, Product):
            return [write_value(v, c) for v, c in zip(value, kind.parts, strict=True)]
        if isinstance(kind, Record):
            return {n: write_value(v, c) for v, (n, c) in zip(value, kind.fields, strict=True)}
        if isinstance(kind, List):
            return [write_value(v, kind.of) for v in value]
        if isinstance(kind, Union):
            held = kind.case(value[0])
            return {"case": value[0]} if held is None else {"case": value[0], "value": write_value(value[1], held)}
        return None
    return value


def read_value(found: Json, colour: Colour, at: At) -> Value:
    """The value of ``colour`` that is written so; a DefinitionProblem if it is none."""
    kind = plain(colour)
    match kind:
        case Unit():
            return () if found is None else at.wrong(found, "null (a unit)")
        case Product():
            parts = array(found, at)
            if len(parts) != len(kind.parts):
                at.wrong(found, f"{len(kind.parts)} parts")
            return tuple(read_value(v, c, a) for (v, a), c in zip(parts, kind.parts, strict=True))
        case Record():
            given = members(found, at, [n for n, _ in kind.fields])
            return tuple(read_value(given[n], c, at.key(n)) for n, c in kind.fields)
        case List():
            return tuple(read_value(v, kind.of, a) for v, a in array(found, at))
        case Union():
            return _read_case(found, kind, at)
        case Real() if isinstance(found, int) and not isinstance(found, bool):
            return float(found)
        case Real() if isinstance(found, str):
            found = UNBOUNDED.get(found, found)
    wrong = kind.check(found)
    if wrong is not None:
        at.refuse("bad-value", wrong)
    value: Value = found
    return value


def _read_case(found: Json, union: Union, at: At) -> Value:
    given = members(found, at, ["case"], ["value"])
    case = text(given["case"], at.key("case"))
    if case not in dict(union.cases):
        at.key("case").wrong(case, "one of " + ", ".join(n for n, _ in union.cases))
    held = union.case(case)
    if (held is None) == ("value" in given):
        rule = "cannot hold a value" if held is None else f"must hold a value of {held.name}"
        at.refuse("bad-value", f"`{case}` {rule}")
    return (case, () if held is None else read_value(given["value"], held, at.key("value")))


def write_colour(colour: Colour) -> Json:
    """A colour as it is declared: others by their names."""
    named: dict[str, Json] = {"name": colour.name, "kind": type(colour).__name__.lower()}
    match colour:
        case Enum():
            named["values"] = list(colour.values)
        case Product():
            named["parts"] = [c.name for c in colour.parts]
        case Record():
            named["fields"] = [{"name": n, "colour": c.name} for n, c in colour.fields]
        case Union():
            named["cases"] = [{"name": n, "colour": None if c is None else c.name} for n, c in colour.cases]
        case List() | Alias():
            named["of"] = colour.of.name
    return named


def read_colour(found: Json, known: Mapping[str, Colour], at: At) -> Colour:
    """A declared colour; ``known``: those before it."""
    given = members(found, at, ["name", "kind"], ["values", "parts", "fields", "cases", "of"])
    name, kind = text(given["name"], at.key("name")), text(given["kind"], at.key("kind"))

    def of(found: Json, place: At) -> Colour:
        return colour_named(found, known, place)

    def part(key: str) -> tuple[Json, At]:
        members(given, at, ["name", "kind", key])
        return given[key], at.key(key)

    def pairs(key: str) -> list[tuple[str, Json, At]]:
        found = [(members(f, a, ["name", "colour"]), a) for f, a in array(*part(key))]
        return [(text(f["name"], a.key("name")), f["colour"], a.key("colour")) for f, a in found]

    if kind in SIMPLE:
        members(given, at, ["name", "kind"])
        return SIMPLE[kind](name)
    match kind:
        case "enum":
            return Enum(name, texts(*part("values")))
        case "product":
            return Product(name, tuple(of(f, a) for f, a in array(*part("parts"))))
        case "record":
            return Record(name, tuple((n, of(c, a)) for n, c, a in pairs("fields")))
        case "union":
            return Union(name, tuple((n, None if c is None else of(c, a)) for n, c, a in pairs("cases")))
        case "list" | "alias":
            return (List if kind == "list" else Alias)(name, of(*part("of")))
    known_kinds = (*SIMPLE, "enum", "product", "record", "union", "list", "alias")
    hint = did_you_mean(kind, known_kinds, "kinds")
    raise at.key("kind").refusal("unknown-colour", f"unknown kind `{kind}`", hint)


def colour_named(found: Json, known: Mapping[str, Colour], at: At) -> Colour:
    """The colour of that name."""
    name = text(found, at)
    if name not in known:
        at.refuse("unknown-colour", f"unknown colour `{name}`", did_you_mean(name, known, "colours"))
    return known[name]
