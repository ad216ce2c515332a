"""Nets as `.net.json`: everything that a net holds, black transitions and roles included (epl-and-nets.md, section 4B).

``{"format": "occurs net", "version": 1, "name", "colours", "variables", "pages", "notes"}``.  What is read is checked:
keys, names, colours of tokens; the rules of nets are checked where a net is used (:mod:`occurs.nets.validate`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any, NoReturn

from occurs.errors import DefinitionProblem, Problem, Span, SyntaxProblem, did_you_mean
from occurs.expr.tree import Binary, Call, Expr, In, IsNull, Like, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.nets.colours import (
    Alias,
    Bool,
    Colour,
    Enum,
    Index,
    Int,
    List,
    Product,
    Real,
    Record,
    String,
    Subset,
    Union,
    Unit,
    Value,
    plain,
)
from occurs.nets.cpn_names import all_colours
from occurs.nets.net import P_NORMAL, Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, Term, TupleTerm

FORMAT, VERSION = "occurs net", 1
#: how many tokens a place may begin with
MOST_TOKENS = 10_000_000


def write(net: Net) -> str:
    """Write a net as JSON text; :func:`read` returns an equal net."""
    _refused(net)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": net.name,
        "colours": [write_colour(c) for c in all_colours(net)],
        "variables": [{"name": n, "colour": c.name} for n, c in net.variables],
        "pages": [_write_page(p) for p in net.pages],
        "notes": list(net.notes),
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _refused(net: Net) -> None:
    """What only files of CPN Tools keep."""
    colours = [c.name for c in net.colours if c.timed or isinstance(c, Index | Subset)]
    colours += [c.name for c in net.colours if isinstance(c, Int) and (c.low is not None or c.high is not None)]
    colours += [c.name for c in net.colours if isinstance(c, List) and (c.shortest or c.longest is not None)]
    delays = [t.name for t in net.transitions.values() if t.delay is not None]
    if colours or delays:
        what = f"the bounds or times of colour `{colours[0]}`" if colours else f"the delay of transition `{delays[0]}`"
        message = f".net.json does not keep {what}"
        raise DefinitionProblem(Problem("no-json", message, hint="write the net as .cpn"))


def _write_page(page: Page) -> Json:
    return {
        "name": page.name,
        "places": [_write_place(p) for p in page.places],
        "transitions": [_write_transition(t) for t in page.transitions],
        "arcs": [
            {
                "place": a.place,
                "transition": a.transition,
                "input": a.input,
                "terms": [write_term(t) for t in a.terms],
            }
            for a in page.arcs
        ],
    }


def _write_place(place: Place) -> Json:
    tokens = [(len(list(group)), value) for value, group in groupby(place.initial)]
    return _without_none(
        {
            "name": place.name,
            "colour": place.colour.name,
            "initial": [{"count": n, "value": write_value(v, place.colour)} for n, v in tokens],
            "fusion": place.fusion,
            "role": None if place.role is None else place.role.value,
            "at": None if place.at is None else list(place.at),
        }
    )


def _write_transition(transition: Transition) -> Json:
    black = transition.black
    return _without_none(
        {
            "name": transition.name,
            "guard": [write_term(g) for g in transition.guard],
            "priority": transition.priority,
            "black": None if black is None else {"init": black.init, "f": black.f, "r": black.r, "n": black.n},
            "at": None if transition.at is None else list(transition.at),
        }
    )


def _without_none(members: dict[str, Json]) -> dict[str, Json]:
    return {k: v for k, v in members.items() if v is not None}


def read(data: str | bytes, name: str) -> Net:
    """Read a net from JSON text.

    Args:
        data: The text.
        name: The name of the file, for messages.

    Returns:
        The net.

    Raises:
        SyntaxProblem: The text is not valid JSON.
        DefinitionProblem: The text does not describe a net, or its version is unknown.  The message names the place,
            for example ``pages[0].places[2].colour``.
    """
    at = At(name)
    try:
        document = json.loads(data, object_pairs_hook=_once, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = Span(error.lineno, error.colno, error.lineno, error.colno + 1)
        message = f"this is not valid JSON: {error.msg}"
        raise SyntaxProblem(Problem("syntax", message, file=name, span=where)) from None
    except _Twice as error:
        raise SyntaxProblem(Problem("syntax", f"an object has two keys `{error}`", file=name)) from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise SyntaxProblem(Problem("syntax", f"this is not valid JSON: {error}", file=name)) from None
    try:
        return _net(document, at)
    except RecursionError:
        raise DefinitionProblem(Problem("bad-value", "terms or values are nested too deeply", file=name)) from None


class _Twice(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise _Twice(next(k for k, _ in pairs if k in seen or seen.add(k)))  # type: ignore[func-returns-value]
    return found


def _refuse_constant(found: str) -> None:
    raise ValueError(f"`{found}` is not allowed in JSON")


def _net(document: Json, at: At) -> Net:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        at.refuse("no-net", f'this is not a net: expected an object with "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        found = document.get("version")
        at.key("version").refuse("version", f"the net has version {found!r}, but only version {VERSION} can be read")
    given = members(document, at, ["format", "version", "name", "colours", "variables", "pages"], ["notes"])
    colours: dict[str, Colour] = {}
    for found, place in array(given["colours"], at.key("colours")):
        colour = read_colour(found, colours, place)
        _new(colour.name, colours, "colour", place.key("name"))
        colours[colour.name] = colour
    variables: dict[str, Colour] = {}
    for found, place in array(given["variables"], at.key("variables")):
        pair = members(found, place, ["name", "colour"])
        name = _new(text(pair["name"], place.key("name")), variables, "variable", place.key("name"))
        variables[name] = colour_named(pair["colour"], colours, place.key("colour"))
    reader = _Pages(colours)
    pages = [reader.page(found, place) for found, place in array(given["pages"], at.key("pages"))]
    notes = tuple(text(n, a) for n, a in array(given.get("notes", []), at.key("notes")))
    name = text(given["name"], at.key("name"))
    return Net(name, tuple(colours.values()), tuple(variables.items()), tuple(pages), notes)


def _new(name: str, known: Iterable[str], what: str, at: At) -> str:
    if name in known:
        at.refuse("duplicate", f"two {what}s are called `{name}`")
    return name


class _Pages:
    def __init__(self, colours: dict[str, Colour]):
        self.colours = colours
        self.pages: set[str] = set()
        self.nodes: set[str] = set()

    def page(self, found: Json, at: At) -> Page:
        given = members(found, at, ["name", "places", "transitions", "arcs"])
        name = _new(text(given["name"], at.key("name")), self.pages, "page", at.key("name"))
        self.pages.add(name)
        places = tuple(self._place(f, a) for f, a in array(given["places"], at.key("places")))
        transitions = tuple(self._transition(f, a) for f, a in array(given["transitions"], at.key("transitions")))
        ends = ({p.name for p in places}, {t.name for t in transitions})
        arcs = tuple(_arc(f, a, ends) for f, a in array(given["arcs"], at.key("arcs")))
        return Page(name, places, transitions, arcs)

    def _name(self, found: Json, at: At) -> str:
        name = _new(text(found, at), self.nodes, "node", at)
        self.nodes.add(name)
        return name

    def _place(self, found: Json, at: At) -> Place:
        given = members(found, at, ["name", "colour"], ["initial", "fusion", "role", "at"])
        colour = colour_named(given["colour"], self.colours, at.key("colour"))
        initial: list[Any] = []
        for item, place in array(given.get("initial", []), at.key("initial")):
            pair = members(item, place, ["value"], ["count"])
            count = whole(pair.get("count", 1), place.key("count"))
            if count > MOST_TOKENS - len(initial):
                place.key("count").refuse("too-many-tokens", f"a place can have at most {MOST_TOKENS} tokens")
            initial += [read_value(pair["value"], colour, place.key("value"))] * count
        roles = {r.value: r for r in Role}
        role = given.get("role")
        if role is not None and role not in roles:
            at.key("role").refuse("unknown-role", f"unknown role {role!r}", did_you_mean(str(role), roles, "roles"))
        return Place(
            self._name(given["name"], at.key("name")),
            colour,
            tuple(initial),
            None if given.get("fusion") is None else text(given["fusion"], at.key("fusion")),
            None if role is None else roles[role],
            _point(given.get("at"), at.key("at")),
        )

    def _transition(self, found: Json, at: At) -> Transition:
        given = members(found, at, ["name"], ["guard", "priority", "black", "at"])
        black = None
        if given.get("black") is not None:
            parts = members(given["black"], at.key("black"), ["init", "f", "r", "n"])
            black = Black(**{k: text(v, at.key("black").key(k)) for k, v in parts.items()})
        return Transition(
            self._name(given["name"], at.key("name")),
            tuple(read_term(f, a) for f, a in array(given.get("guard", []), at.key("guard"))),
            whole(given.get("priority", P_NORMAL), at.key("priority")),
            black,
            _point(given.get("at"), at.key("at")),
        )


def _arc(found: Json, at: At, ends: tuple[set[str], set[str]]) -> Arc:
    given = members(found, at, ["place", "transition", "input", "terms"])
    for key, known in zip(("place", "transition"), ends, strict=True):
        if given[key] not in known:
            hint = did_you_mean(str(given[key]), known, f"{key}s")
            at.key(key).refuse("unknown-name", f"there is no {key} {given[key]!r} on this page", hint)
    terms = tuple(read_term(f, a) for f, a in array(given["terms"], at.key("terms")))
    return Arc(given["place"], given["transition"], flag(given["input"], at.key("input")), terms)


def _point(found: Json, at: At) -> tuple[float, float] | None:
    if found is None:
        return None
    numbers = [n for n, _ in array(found, at) if isinstance(n, int | float) and not isinstance(n, bool)]
    if len(numbers) != 2 or len(found) != 2:
        at.wrong(found, "two numbers, x and y")
    return float(numbers[0]), float(numbers[1])


# --- places in a JSON text --------------------------------------------------------------------------------------------


#: what a JSON text is read to
Json = Any


@dataclass(frozen=True)
class At:
    """A place in a JSON text, for errors: ``pages[0].places[2].colour``."""

    file: str
    path: str = ""

    def key(self, name: str) -> At:
        return At(self.file, f"{self.path}.{name}" if self.path else name)

    def item(self, number: int) -> At:
        return At(self.file, f"{self.path}[{number}]")

    def wrong(self, found: Json, expected: str, kind: str = "bad-value", hint: str | None = None) -> NoReturn:
        shown = repr(found) if len(repr(found)) < 60 else repr(found)[:57] + ".."
        message = f"{self.path or 'the text'}: found {shown}, expected {expected}"
        raise DefinitionProblem(Problem(kind, message, file=self.file, hint=hint))

    def refuse(self, kind: str, message: str, hint: str | None = None) -> NoReturn:
        raise self.refusal(kind, message, hint)

    def refusal(self, kind: str, message: str, hint: str | None = None) -> DefinitionProblem:
        return DefinitionProblem(Problem(kind, f"{self.path or 'the text'}: {message}", file=self.file, hint=hint))


def members(found: Json, at: At, needed: Sequence[str], other: Sequence[str] = ()) -> dict[str, Json]:
    """An object with all of ``needed``, and at most ``other`` besides."""
    if not isinstance(found, dict):
        at.wrong(found, "an object")
    for name in needed:
        if name not in found:
            at.refuse("missing-key", f"`{name}` is missing")
    for name in found:
        if name not in needed and name not in other:
            at.refuse("unknown-key", f"unknown key `{name}`", did_you_mean(name, (*needed, *other), "keys"))
    return found


def array(found: Json, at: At) -> list[tuple[Json, At]]:
    """The items of an array, each with its place."""
    if not isinstance(found, list):
        at.wrong(found, "an array")
    return [(item, at.item(k)) for k, item in enumerate(found)]


def text(found: Json, at: At) -> str:
    if not isinstance(found, str):
        at.wrong(found, "a text")
    return found


def texts(found: Json, at: At) -> tuple[str, ...]:
    return tuple(text(f, a) for f, a in array(found, at))


def whole(found: Json, at: At) -> int:
    """A number from 0 on."""
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        at.wrong(found, "a whole number from 0")
    return found


def flag(found: Json, at: At) -> bool:
    if not isinstance(found, bool):
        at.wrong(found, "true or false")
    return found


# --- colours and their values -----------------------------------------------------------------------------------------
# A value is written by its colour: products and lists as arrays, records as objects, unions as ``{"case": .., "value":
# ..}``, unit as null, reals beyond all numbers as texts.


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


# --- terms ------------------------------------------------------------------------------------------------------------
# A term is an object with its class as ``node`` and its parts by their names.


_CLASSES: tuple[type[Expr], ...] = (
    Literal, Ref, Unary, Binary, IsNull, In, Like, Call,
    TupleTerm, RecordTerm, Inject, ListTerm, FieldTerm, EnumTerm,
)  # fmt: skip
#: the classes of terms that a net may hold
TERMS = {c.__name__: c for c in _CLASSES}


def write_term(term: Term) -> Json:
    if type(term).__name__ not in TERMS:
        raise DefinitionProblem(Problem("no-json", f"nets do not support {type(term).__name__}"))
    parts = {f.name: getattr(term, f.name) for f in fields(term) if f.compare}
    return {"node": type(term).__name__} | {n: _write_part(v) for n, v in parts.items()}


def _write_part(part: Any) -> Json:
    if isinstance(part, Expr):
        return write_term(part)
    if isinstance(part, tuple):
        return [_write_part(p) for p in part]
    if isinstance(part, Type):
        return part.value
    return write_value(part, Real("")) if isinstance(part, float) else part


def read_term(found: Json, at: At) -> Term:
    """The term that is written so; a DefinitionProblem if it is none."""
    if not isinstance(found, dict) or not isinstance(found.get("node"), str):
        at.wrong(found, "a term: an object with `node`")
    name = found["node"]
    if name not in TERMS:
        at.key("node").refuse("unknown-node", f"there is no `{name}`", did_you_mean(name, TERMS, "nodes"))
    cls = TERMS[name]
    names = [f.name for f in fields(cls) if f.compare]
    given = members(found, at, ["node", *names])
    made = {n: _READERS[n](given[n], at.key(n)) for n in names}
    if name == "Literal":
        made["value"] = _constant(made["value"], made["type"], at.key("value"))
    if name == "RecordTerm" and len(made["names"]) != len(made["parts"]):
        at.refuse("bad-value", "as many names as parts")
    if (name == "Binary" and made["op"] not in _BINARY) or (name == "Unary" and made["op"] not in ("neg", "not")):
        at.key("op").wrong(made["op"], "an operator")
    return cls(**made)


_BINARY = ("+", "-", "*", "/", "%", "mod", "div", "=", "!=", "<", "<=", ">", ">=", "and", "or")
_OF_TYPE: dict[Type, type | tuple[type, ...]] = {
    Type.INT: int, Type.TIMESTAMP: int, Type.DURATION: int, Type.FLOAT: (int, float), Type.STRING: str, Type.BOOL: bool,
    Type.NULL: type(None),
}  # fmt: skip


def _constant(value: Any, type_: Type, at: At) -> Any:
    if type_ is Type.FLOAT and isinstance(value, str):
        value = UNBOUNDED.get(value, value)
    if not isinstance(value, _OF_TYPE.get(type_, ())) or (isinstance(value, bool) and type_ is not Type.BOOL):
        at.wrong(value, f"a constant of type {type_}")
    return value


def _maybe(read: Callable[[Json, At], Any]) -> Callable[[Json, At], Any]:
    return lambda found, at: None if found is None else read(found, at)


def _type(found: Json, at: At) -> Type:
    known = {t.value: t for t in Type}
    return known[found] if isinstance(found, str) and found in known else at.wrong(found, "a type")


def _arg(found: Json, at: At) -> Term | None:
    return None if found is None and at.path.endswith(".arg") else read_term(found, at)


def _terms(found: Json, at: At) -> tuple[Term, ...]:
    return tuple(read_term(f, a) for f, a in array(found, at))


def _value(found: Json, at: At) -> Any:
    if isinstance(found, list | dict):
        at.wrong(found, "a constant")
    return found


#: how the parts of terms are read, by their names
_READERS: Mapping[str, Callable[[Json, At], Any]] = {
    "value": _value, "type": _type, "scope": _maybe(text), "name": text, "index": _maybe(whole), "op": text,
    "arg": _arg, "left": read_term, "right": read_term, "negated": flag, "items": _terms, "pattern": read_term,
    "args": _terms, "parts": _terms, "names": texts, "constructor": text,
}  # fmt: skip
