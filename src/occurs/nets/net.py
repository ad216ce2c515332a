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
from occurs.nets.functional.tree import Function
from occurs.nets.terms import Term

#: priorities: lower is more urgent (the names are those of CPN Tools and of the paper)
P_MAX, P_HN, P_NORMAL, P_MIN = 0, 100, 1000, 10000
PRIORITIES = {"P_MAX": P_MAX, "P_HN": P_HN, "P_NORMAL": P_NORMAL, "P_MIN": P_MIN}


def priority_text(level: int) -> str:
    """A priority by its name, or as a number."""
    return next((name for name, known in PRIORITIES.items() if known == level), str(level))


class Role(Enum):
    """The role of a place in a net for event patterns; places of other nets have no role."""

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
    """A place of a net.

    Attributes:
        name: The name, unique among all places and transitions of the net.
        colour: The colour of its tokens.
        initial: The initial tokens, one entry per token.
        fusion: The name of its fusion set; places of one set share their tokens.
        role: The role of the place in a net for event patterns; None in other nets.
        at: The centre on its page (x to the right, y upwards); None to lay it out automatically.
    """

    name: str
    colour: Colour
    initial: tuple[Value, ...] = ()
    fusion: str | None = None
    role: Role | None = None
    at: tuple[float, float] | None = None


@dataclass(frozen=True)
class Black:
    """The attributes of a black transition.

    Attributes:
        init: Its primary Init place.
        f: Its primary F place.
        r: The variable of the number of the Init token.
        n: The variable of the number of the F token.
    """

    init: str
    f: str
    r: str
    n: str


@dataclass(frozen=True)
class Transition:
    """A transition of a net.

    Attributes:
        name: The name, unique among all places and transitions of the net.
        guard: The conditions that must all be true for it to fire.
        priority: The priority; a lower number is more urgent.
        black: The attributes of a black transition; None for a normal one.
        at: The centre on its page (x to the right, y upwards); None to lay it out automatically.
        delay: The time after which the tokens that it puts on places of a timed colour are ready; None for no delay.
    """

    name: str
    guard: tuple[Term, ...] = ()
    priority: int = P_NORMAL
    black: Black | None = None
    at: tuple[float, float] | None = None
    delay: Term | None = None


@dataclass(frozen=True)
class Arc:
    """An arc between a place and a transition.

    Attributes:
        place: The name of the place.
        transition: The name of the transition.
        input: Whether the arc leads from the place to the transition.
        terms: The inscription, one term per token; :class:`occurs.nets.functional.tree.Many` stands for all tokens of
            a multiset, :class:`occurs.nets.functional.tree.Delayed` for tokens that are ready later.
    """

    place: str
    transition: str
    input: bool
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Page:
    """A page of a net, with its places, transitions and arcs."""

    name: str
    places: tuple[Place, ...] = ()
    transitions: tuple[Transition, ...] = ()
    arcs: tuple[Arc, ...] = ()


@dataclass(frozen=True)
class Net:
    """A coloured Petri net.

    Attributes:
        name: The name.
        colours: The colours in the order of their declaration, each after the colours that it uses.
        variables: Pairs of a variable's name and its colour.
        pages: The pages.
        notes: Remarks that are kept in files.
        functions: The functions that terms call, each after those that it calls.
    """

    name: str
    colours: tuple[Colour, ...]
    variables: tuple[tuple[str, Colour], ...]
    pages: tuple[Page, ...]
    notes: tuple[str, ...] = field(default=())
    functions: tuple[Function, ...] = field(default=(), compare=False)

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
        """The arcs of all pages, in the order of the net."""
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
        """Return the place under whose name a marking holds the tokens of ``place``: the first place of its fusion."""
        return self._holders[place]

    @cached_property
    def roles(self) -> dict[str, set[Role | None]]:
        """The roles of places by their holder: fused places may have several."""
        found: dict[str, set[Role | None]] = {holder: set() for holder in self._holders.values()}
        for place in self.places.values():
            found[self.holder(place.name)].add(place.role)
        return found

    @cached_property
    def initial(self) -> Marking:
        """The initial marking; the tokens of fused places are counted once."""
        places = [self.places[h] for h in dict.fromkeys(self._holders.values())]
        return Marking({p.name: Counter([(v, 0) for v in p.initial] if p.colour.timed else p.initial) for p in places})

    @cached_property
    def timed(self) -> frozenset[str]:
        """The holders whose tokens have a time."""
        return frozenset(h for h in self._holders.values() if self.places[h].colour.timed)


@dataclass
class Marking:
    """The tokens on all places of a net.

    Attributes:
        tokens: For each place the number of tokens of each value; fused places have one entry, named by
            :meth:`Net.holder`.  A token of a timed colour is the pair of its value and its time.
        time: The model time.
    """

    tokens: dict[str, Counter[Value]]
    time: int | float = 0

    def copy(self) -> Marking:
        """Return a copy that can be changed independently."""
        return Marking({p: Counter(c) for p, c in self.tokens.items()}, self.time)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Marking) and self.time == other.time and _filled(self.tokens) == _filled(other.tokens)
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    @property
    def key(self) -> frozenset[tuple[str, frozenset[tuple[Value, int]]]]:
        """A hashable form: equal for equal markings."""
        clock = [("", frozenset({(self.time, 1)}))] if self.time else []
        return frozenset([*((p, frozenset(c.items())) for p, c in _filled(self.tokens).items()), *clock])


def _filled(tokens: Mapping[str, Counter[Value]]) -> dict[str, dict[Value, int]]:
    filled = {p: {v: n for v, n in c.items() if n} for p, c in tokens.items()}
    return {p: c for p, c in filled.items() if c}
