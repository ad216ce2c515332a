"""Nets as `.net.json`: everything that a net holds, black transitions and roles included (epl-and-nets.md, section 4B).

``{"format": "occurs net", "version": 1, "name", "colours", "variables", "pages", "notes"}``.  What is read is checked:
keys, names, colours of tokens; the rules of nets are checked where a net is used (:mod:`occurs.nets.validate`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from occurs.errors import DefinitionProblem, Problem, Span, SyntaxProblem, did_you_mean
from occurs.nets.colours import Colour
from occurs.nets.cpn_names import all_colours
from occurs.nets.net import P_NORMAL, Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.netjson_at import At, Json, array, flag, members, text, whole
from occurs.nets.netjson_colours import colour_named, read_colour, read_value, write_colour, write_value
from occurs.nets.netjson_terms import read_term, write_term

FORMAT, VERSION = "occurs net", 1
#: how many tokens a place may begin with
MOST_TOKENS = 10_000_000


def write(net: Net) -> str:
    """Write a net as JSON text; :func:`read` returns an equal net."""
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
