"""Nets under construction: names that CPN ML takes, places that several pages show, transitions that get more arcs.

A place is one thing here, wherever it is shown; a net has one per page, fused (epl-and-nets.md, section 4B).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from occurs.errors import Span
from occurs.expr.tree import Literal, Ref
from occurs.model.types import Type
from occurs.nets.colours import Colour, Value
from occurs.nets.ml import KNOWN, RESERVED
from occurs.nets.net import P_NORMAL, PRIORITIES, Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.terms import Term, var

#: a place and the term of one token on the arc
Token = tuple[str, Term]


def number(value: int) -> Literal:
    """A whole number."""
    return Literal(value, Type.INT)


def identifier(text: str) -> str:
    """``text`` as an identifier of CPN ML: letters, digits and ``_``, a letter first.

    >>> identifier("$total"), identifier("val")
    ('x_total', 'val_')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", text)
    plain = plain if re.match(r"[A-Za-z]", plain) else f"x{plain}"
    return f"{plain}_" if plain in RESERVED or plain in KNOWN else plain


@dataclass
class Names:
    """Identifiers, each given to one thing only."""

    taken: dict[str, object] = field(default_factory=lambda: dict.fromkeys((*PRIORITIES, "List", "Int")))

    def of(self, wanted: str, key: object) -> str:
        """The name of ``key``: as wanted, or with a number behind it if something else is called so."""
        base = identifier(wanted)
        name, count = base, 1
        while self.taken.setdefault(name, key) != key:
            count += 1
            name = f"{base}_{count}"
        return name


@dataclass(frozen=True)
class Origin:
    """Where an element of a net comes from.

    Attributes:
        statement: The place of the statement in the evaluation order.
        span: The part of the pattern, or the whole statement.
    """

    statement: int
    span: Span | None


@dataclass
class Move:
    """A transition that still gets arcs.  ``black``: its Init and its F place and the names of their numbers."""

    name: str
    page: Sheet
    priority: int = P_NORMAL
    guard: list[Term] = field(default_factory=list)
    takes: list[Token] = field(default_factory=list)
    gives: list[Token] = field(default_factory=list)
    black: tuple[str, str, str, str] | None = None

    def loops(self, place: str, term: Term) -> None:
        """Takes a token and gives it back."""
        self.takes.append((place, term))
        self.gives.append((place, term))


@dataclass
class Sheet:
    """A page.  ``shown``: places that it has besides those at the arcs of its transitions."""

    name: str
    shown: list[str] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)

    def places(self) -> list[str]:
        """All its places, each once."""
        arcs = [p for m in self.moves for p, _ in (*m.takes, *m.gives)]
        return list(dict.fromkeys([*self.shown, *arcs]))


@dataclass
class Builder:
    """A net under construction.  ``shared``: places that are fused even if one page only shows them."""

    name: str
    shared: set[str] = field(default_factory=set)
    colours: list[Colour] = field(default_factory=list)
    #: places, transitions and pages
    elements: Names = field(default_factory=Names)
    #: variables and constructors
    values: Names = field(default_factory=Names)
    places: dict[str, Place] = field(default_factory=dict)
    variables: dict[str, Colour] = field(default_factory=dict)
    sheets: list[Sheet] = field(default_factory=list)
    #: by the names of places, transitions and pages; none for those that belong to no statement
    origins: dict[str, Origin] = field(default_factory=dict)
    #: of what is made now
    origin: Origin | None = None

    @contextmanager
    def of(self, statement: int, span: Span | None) -> Iterator[None]:
        """What is made meanwhile comes from this part of a statement; without a span, from the part around it."""
        before = self.origin
        if span is None and before is not None:
            span = before.span
        self.origin = Origin(statement, span)
        try:
            yield
        finally:
            self.origin = before

    def _new(self, wanted: str) -> str:
        name = self.elements.of(wanted, object())
        if self.origin is not None:
            self.origins[name] = self.origin
        return name

    def place(self, wanted: str, colour: Colour, role: Role | None = None, initial: Iterable[Value] = ()) -> str:
        """A new place; its name."""
        name = self._new(wanted)
        self.places[name] = Place(name, colour, tuple(initial), None, role)
        return name

    def sheet(self, wanted: str, *shown: str) -> Sheet:
        """A new page."""
        sheet = Sheet(self._new(wanted), list(shown))
        self.sheets.append(sheet)
        return sheet

    def move(self, sheet: Sheet, wanted: str, priority: int = P_NORMAL) -> Move:
        """A new transition."""
        move = Move(self._new(wanted), sheet, priority)
        sheet.moves.append(move)
        return move

    def var(self, wanted: str, colour: Colour, key: object = None) -> Ref:
        """The variable ``key`` (None: that name) of ``colour``."""
        name = self.values.of(wanted, (key, colour.name))
        self.variables[name] = colour
        return var(name)

    def net(self) -> Net:
        """What was built."""
        pages_of: dict[str, list[str]] = {}
        for sheet in self.sheets:
            for place in sheet.places():
                pages_of.setdefault(place, []).append(sheet.name)
        pages = tuple(self._page(sheet, pages_of) for sheet in self.sheets)
        return Net(self.name, tuple(self.colours), tuple(self.variables.items()), pages)

    def _page(self, sheet: Sheet, pages_of: dict[str, list[str]]) -> Page:
        local: dict[str, Place] = {}
        for name in sheet.places():
            place, where = self.places[name], pages_of[name]
            fusion = name if len(where) > 1 or name in self.shared else None
            own = name if where[0] == sheet.name else self.elements.of(f"{sheet.name}_{name}", (sheet.name, name))
            if own != name and sheet.name in self.origins:
                self.origins[own] = self.origins[sheet.name]
            local[name] = Place(own, place.colour, place.initial, fusion, place.role)
        transitions: list[Transition] = []
        arcs: list[Arc] = []
        for move in sheet.moves:
            black = None
            if move.black is not None:
                init, f, r, n = move.black
                black = Black(local[init].name, local[f].name, r, n)
            transitions.append(Transition(move.name, tuple(move.guard), move.priority, black))
            for into, tokens in ((True, move.takes), (False, move.gives)):
                for end in dict.fromkeys(p for p, _ in tokens):
                    terms = tuple(t for p, t in tokens if p == end)
                    arcs.append(Arc(local[end].name, move.name, into, terms))
        return Page(sheet.name, tuple(local.values()), tuple(transitions), tuple(arcs))
