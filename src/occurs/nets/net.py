"""Nets: places, transitions, arcs and pages (Definitions 4 and 8 of the paper; epl-and-nets.md, section 4B).

A net is a value: nothing here fires.  Places are fused if they have the same ``fusion``; fused places hold one common
multiset of tokens, and a marking names it by ``Net.holder(place)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from occurs.nets.colours import Colour, Value
from occurs.nets.terms import Term

#: priorities: lower is more urgent (the names are those of CPN Tools and of the paper)
P_MAX, P_HN, P_NORMAL, P_MIN = 0, 100, 1000, 10000
PRIORITIES = {"P_MAX": P_MAX, "P_HN": P_HN, "P_NORMAL": P_NORMAL, "P_MIN": P_MIN}


class Role(Enum):
    """What a place is for in a net of complex event processing; plain nets have none."""

    INIT = "Init"
    EXIT = "Exit"
    F = "F"
    CONTROL = "Control"
    END = "End"
    SEQ = "Seq"
    INPUT = "Input"
    CLOCK = "Clock"
    #: F', the flow of what a statement derives
    OUTPUT = "Fp"


@dataclass(frozen=True)
class Place:
    """``initial``: the tokens at the start, one entry per token.  ``at``: the centre on its page (x right, y up)."""

    name: str
    colour: Colour
    initial: tuple[Value, ...] = ()
    fusion: str | None = None
    role: Role | None = None
    at: tuple[float, float] | None = None


@dataclass(frozen=True)
class Black:
    """What makes a transition black: its primary Init and F place and the variables of their numbers (r and n)."""

    init: str
    f: str
    r: str
    n: str


@dataclass(frozen=True)
class Transition:
    """``guard``: its conjuncts, all must be true.  ``black``: None for a normal transition."""

    name: str
    guard: tuple[Term, ...] = ()
    priority: int = P_NORMAL
    black: Black | None = None
    at: tuple[float, float] | None = None


@dataclass(frozen=True)
class Arc:
    """One direction between one place and one transition.

    ``terms``: one per token (a token twice: the term twice).  ``input``: from the place to the transition?
    """

    place: str
    transition: str
    input: bool
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Page:
    name: str
    places: tuple[Place, ...] = ()
    transitions: tuple[Transition, ...] = ()
    arcs: tuple[Arc, ...] = ()


@dataclass(frozen=True)
class Net:
    """``colours`` in the order of their declaration (each after those that it uses); ``variables`` with their colours.

    Names of places and transitions are unique in the whole net.
    """

    name: str
    colours: tuple[Colour, ...]
    variables: tuple[tuple[str, Colour], ...]
    pages: tuple[Page, ...]
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def places(self) -> dict[str, Place]:
        """All places by name, in the order of the net."""
        return {p.name: p for page in self.pages for p in page.places}

    @cached_property
    def transitions(self) -> dict[str, Transition]:
        """All transitions by name, in the order of the net."""
        return {t.name: t for page in self.pages for t in page.transitions}

    @cached_property
    def arcs(self) -> tuple[Arc, ...]:
        return tuple(a for page in self.pages for a in page.arcs)

    @cached_property
    def inputs(self) -> dict[str, tuple[Arc, ...]]:
        """The arcs into each transition, in their order."""
        return self._by_transition(True)

    @cached_property
    def outputs(self) -> dict[str, tuple[Arc, ...]]:
        """The arcs out of each transition, in their order."""
        return self._by_transition(False)

    def _by_transition(self, into: bool) -> dict[str, tuple[Arc, ...]]:
        found: dict[str, list[Arc]] = {t: [] for t in self.transitions}
        for arc in self.arcs:
            if arc.input is into:
                found[arc.transition].append(arc)
        return {t: tuple(arcs) for t, arcs in found.items()}

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What is derived from this net at some cost, by the name of what derives it (its compiled transitions ..)."""
        return {}

    @cached_property
    def page_of(self) -> dict[str, str]:
        """The name of the page of every place and transition."""
        places = {p.name: page.name for page in self.pages for p in page.places}
        return places | {t.name: page.name for page in self.pages for t in page.transitions}

    @cached_property
    def colour_of(self) -> dict[str, Colour]:
        """The colours of the variables."""
        return dict(self.variables)

    @cached_property
    def _holders(self) -> dict[str, str]:
        first: dict[str, str] = {}
        return {
            p.name: p.name if p.fusion is None else first.setdefault(p.fusion, p.name) for p in self.places.values()
        }

    def holder(self, place: str) -> str:
        """The place under whose name a marking keeps the tokens of ``place``: the first of those fused with it."""
        return self._holders[place]

    @cached_property
    def initial(self) -> Marking:
        """The marking at the start; fused places have the same initial tokens, counted once."""
        return Marking({h: Counter(self.places[h].initial) for h in dict.fromkeys(self._holders.values())})


@dataclass
class Marking:
    """The tokens on every place (fused ones once, under their holder's name): value -> how many."""

    tokens: dict[str, Counter[Value]]

    def copy(self) -> Marking:
        return Marking({p: Counter(c) for p, c in self.tokens.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Marking) and _filled(self.tokens) == _filled(other.tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    @property
    def key(self) -> frozenset[tuple[str, frozenset[tuple[Value, int]]]]:
        """A hashable form: equal for equal markings."""
        return frozenset((p, frozenset(c.items())) for p, c in _filled(self.tokens).items())


def _filled(tokens: Mapping[str, Counter[Value]]) -> dict[str, dict[Value, int]]:
    filled = {p: {v: n for v, n in c.items() if n} for p, c in tokens.items()}
    return {p: c for p, c in filled.items() if c}
