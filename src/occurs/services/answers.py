"""The answers of the services, as plain frozen data; they are the shapes of the studio's interface (docs/studio.md).

Nothing of the engine is imported here, so that a server may use the shapes without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from occurs.errors import Severity, Span
from occurs.languages.kit.editing import Snippet as Snippet
from occurs.languages.kit.editing import Words as Words


@dataclass(frozen=True)
class Related:
    """Another place that belongs to a problem."""

    message: str
    file: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Problem:
    """One error, warning or notice.  ``node``: the element of a drawing it is about; ``row``: the row of an input."""

    kind: str
    severity: Severity
    message: str
    hint: str | None = None
    file: str | None = None
    span: Span | None = None
    related: tuple[Related, ...] = ()
    node: str | None = None
    row: int | None = None
    definition: str | None = None


@dataclass(frozen=True)
class Outline:
    """A statement of a program.  ``output``: the type that it defines or declares; ``reads``: those that it reads."""

    file: str
    name: str
    kind: str
    output: str | None = None
    reads: tuple[str, ...] = ()
    span: Span | None = None


@dataclass(frozen=True)
class Checked:
    """The problems of a program and the outline of what can be read of it."""

    problems: tuple[Problem, ...]
    outline: tuple[Outline, ...]


ItemKind = Literal["type", "attribute", "tag", "variable", "keyword", "constant", "function", "unit", "snippet"]


@dataclass(frozen=True)
class Item:
    """Something to complete with.  ``insert``: the text to put there, of a snippet with ``${name}`` to fill in."""

    label: str
    kind: ItemKind
    detail: str
    insert: str


@dataclass(frozen=True)
class Completions:
    """What may stand at a place, the nearest first.  ``start``: where the word begins that they replace.

    In JSON ``start`` is called ``from``.
    """

    start: int
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Hover:
    """What is to be said of a place; ``text`` has lines, the first of which is code."""

    span: Span
    text: str


@dataclass(frozen=True)
class Place:
    """A place in a file."""

    file: str
    span: Span


@dataclass(frozen=True)
class Edit:
    """A part of a text, from ``start`` to ``to`` in code points, and what takes its place.

    In JSON ``start`` is called ``from``.
    """

    start: int
    to: int
    insert: str


@dataclass(frozen=True)
class Renamed:
    """What stands at a place, and the edits that give it another name.

    ``name``, ``kind``, ``span``: None if there is no name to change.  ``edits``: by path, in the order of the text;
    none if there are problems.
    """

    name: str | None = None
    kind: Literal["type", "attribute", "tag"] | None = None
    span: Span | None = None
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Formatted:
    """A text in its canonical form; with problems it is the text as it was."""

    text: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The plan of a program as plain data: dicts, lists, text and numbers.

    Attributes:
        inputs: The types that come in: ``{type, attributes: [{name, type}] or None, intervals}``.
        definitions: ``{name, language, output, reads, level, key, why_no_key, retention, state, notes, warnings, file,
            line, span}``; ``key``: the attributes of every type read by which it can be split; ``retention``: ``{type,
            ticks, text, unbounded, hint}``; ``notes``: how hosts run it; ``warnings``: such as costs, ``{kind,
            severity, message, hint}``.
        spark: How definitions are partitioned on Spark.
        stream: How their state is laid over buckets.
        text: The same as ``occurs explain`` prints it.
    """

    inputs: list[dict[str, Any]] = field(default_factory=list)
    definitions: list[dict[str, Any]] = field(default_factory=list)
    spark: list[dict[str, Any]] = field(default_factory=list)
    stream: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class PeekedType:
    """A type in the head of some files.  ``schema``: attributes and their types.  ``rows``: None if there is more than
    was read.  ``last``: then the greatest time in the beginning and the end of the files, None if that is not known."""

    name: str
    schema: dict[str, str]
    rows: int | None
    first: str | int | None
    last: str | int | None


@dataclass(frozen=True)
class PeekedRow:
    """A row of a file: its number from 1, and its line if rows are lines.  Times are as people see them."""

    type: str
    time: str | int
    end: str | int | None
    values: dict[str, Any]
    file: str | None
    line: int | None
    row: int


@dataclass(frozen=True)
class Peeked:
    """What the head of some files holds."""

    types: tuple[PeekedType, ...] = ()
    rows: tuple[PeekedRow, ...] = ()
    problems: tuple[Problem, ...] = ()


# nets: coordinates are those of a screen, in pixels; y grows downwards


@dataclass(frozen=True)
class NetText:
    """Lines of text and their middle."""

    lines: tuple[str, ...]
    x: float
    y: float


@dataclass(frozen=True)
class Token:
    """A value on a place, as text, and how often it is there.  A text of more than 2,000 characters is cut."""

    value: str
    count: int


@dataclass(frozen=True)
class Tokens:
    """The tokens of a place: how many there are, the values of up to 200 of them, and how many are left out."""

    count: int
    tokens: tuple[Token, ...] = ()
    more: int = 0


@dataclass(frozen=True)
class NetOrigin:
    """The statement that an element belongs to, and the part of its text."""

    definition: str
    file: str | None
    span: Span | None


@dataclass(frozen=True)
class NetPlace:
    """A place: an ellipse.

    Attributes:
        x: The middle on its page, as y.
        colour: The name of its colour set.
        role: Its role in a net of event patterns; ``Fp`` is F'.
        fusion: The name of its fusion set; None if it is not fused.
        holder: The place that stands for its fusion set in states; itself if it is not fused.
        initial: The initial tokens.
        note: Where the colour and the fusion set are written.
        tokens_at: The middle of the text with the number of tokens.
    """

    name: str
    x: float
    y: float
    width: float
    height: float
    colour: str
    role: Literal["Init", "Exit", "F", "Control", "End", "Seq", "Input", "Clock", "Fp"] | None
    fusion: str | None
    holder: str
    initial: Tokens
    note: NetText
    tokens_at: tuple[float, float]
    origin: NetOrigin | None


@dataclass(frozen=True)
class NetTransition:
    """A transition: a box.

    Attributes:
        priority: The level; lower is more urgent.
        urgency: The level by its name (``P_HN``), or as a number.
        guard: As CPN ML, in brackets; empty if it has none.
        note: Where the urgency is written; None for ``P_NORMAL``.
        label: The guard, where it is written.
    """

    name: str
    x: float
    y: float
    width: float
    height: float
    black: bool
    priority: int
    urgency: str
    guard: str
    note: NetText | None
    label: NetText | None
    origin: NetOrigin | None


@dataclass(frozen=True)
class NetArc:
    """A line between a place and a transition, for one arc or for two with the same inscription.

    Attributes:
        into: Whether it has a head at the transition.
        out: Whether it has a head at the place.
        points: From the place to the transition: two points, or three of a curve through the second.
        text: The inscription as CPN ML.
        label: The inscription, where it is written.
    """

    place: str
    transition: str
    into: bool
    out: bool
    points: tuple[tuple[float, float], ...]
    text: str
    label: NetText | None


@dataclass(frozen=True)
class NetPage:
    """A page.  ``x``, ``y``: its upper left corner on the sheet of all pages."""

    name: str
    x: float
    y: float
    width: float
    height: float
    places: tuple[NetPlace, ...]
    transitions: tuple[NetTransition, ...]
    arcs: tuple[NetArc, ...]


@dataclass(frozen=True)
class NetDrawing:
    """A net.  ``width``, ``height``: of the sheet with all pages."""

    name: str
    width: float
    height: float
    pages: tuple[NetPage, ...]


@dataclass(frozen=True)
class NetRow:
    """A row of the input of a net: its number from 1 in the order in which rows enter, and its place in a file."""

    number: int
    type: str
    time: str | int
    ticks: int
    file: str | None
    line: int | None
    row: int | None


@dataclass(frozen=True)
class NetTaken:
    """An event that a derived event is made of: its tag, and its row; None if a statement derived it."""

    tag: str
    row: NetRow | None


@dataclass(frozen=True)
class NetDerived:
    """An event that a firing derived."""

    type: str
    time: str | int
    ticks: int
    values: dict[str, Any]
    taken: tuple[NetTaken, ...]


@dataclass(frozen=True)
class NetFiring:
    """A firing.

    Attributes:
        step: Its number, from 1.
        binding: The values of its variables as texts.
        row: The row of the input that it took or let in.
        derived: The event that it derived.
    """

    step: int
    transition: str
    binding: dict[str, str]
    row: NetRow | None
    derived: NetDerived | None


@dataclass(frozen=True)
class NetChoice:
    """A transition that can fire, with the first of its bindings; ``count``: of all of them."""

    transition: str
    bindings: tuple[dict[str, str], ...]
    count: int
    more: bool


NetStop = Literal["end", "steps", "row", "break", "time"]


@dataclass(frozen=True)
class NetState:
    """The state of a net after a call.

    Attributes:
        steps: The number of firings so far.
        row: The number of rows that have entered.
        rows: The number of all rows.
        seed: Of the random choices; None if the first enabled transition fires.
        changed: The tokens of the places that are other than before the call, by ``holder``.  After opening, those of
            all places that have any.  A run that is stopped by ``time`` only counts them; the next answer has them.
        enabled: The transitions that can fire, in the order of the net.
        fired: The last 200 firings of the call.
        more: The number of earlier firings of the call.
        stopped: Why a run stopped; ``time``: it may go on, ask again.
        at: The transition or place of a break.
    """

    steps: int
    row: int
    rows: int
    seed: int | None
    changed: dict[str, Tokens]
    enabled: tuple[NetChoice, ...]
    fired: tuple[NetFiring, ...] = ()
    more: int = 0
    stopped: NetStop | None = None
    at: str | None = None


@dataclass(frozen=True)
class NetOpened:
    """A net that was opened.

    Attributes:
        state: Its state; None if it cannot be run, as a problem says.
        rows: Up to 1,000 of its rows.
        problems: Statements without a net, rows that are left out, and what a file has that is not supported.
    """

    net: NetDrawing
    state: NetState | None
    rows: tuple[NetRow, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class NetSpace:
    """The state space of a net.

    Attributes:
        report: The report of ``occurs simulate --space``.
        complete: Whether all markings were found.
        dead_markings: The number of markings in which nothing can fire.
        home_markings: The number of markings that can always be reached again; None if that is unknown.
        dead_transitions: The transitions that never fire, so far.
    """

    report: str
    complete: bool
    nodes: int
    arcs: int
    dead_markings: int
    home_markings: int | None
    dead_transitions: tuple[str, ...]


@dataclass(frozen=True)
class Bar:
    """The number of runs in which something was there ``low`` to ``high`` times."""

    low: int
    high: int
    runs: int


@dataclass(frozen=True)
class NetCounted:
    """How often something was there in each of many random runs.

    Attributes:
        of: Rows of the input, events that statements derive, or firings.
        interval: Of the mean; None for a single run.
        share: The share of runs in which it was there at all.
        histogram: At most 20 bars.
    """

    name: str
    of: Literal["input", "output", "firings"]
    mean: float
    interval: tuple[float, float] | None
    least: int
    most: int
    share: float
    share_interval: tuple[float, float]
    histogram: tuple[Bar, ...]


@dataclass(frozen=True)
class NetRandom:
    """Many runs of a net on random streams.  ``complete``: did every run end before its limit of firings?"""

    runs: int
    confidence: float
    complete: bool
    counted: tuple[NetCounted, ...]


# drawings of EPL


Operation = Literal[
    "add-type", "rename-type", "remove-type",
    "add-attribute", "rename-attribute", "retype-attribute", "remove-attribute",
]  # fmt: skip
StatementKind = Literal["pattern", "simple", "schema", "text"]


@dataclass(frozen=True)
class Statement:
    """A statement of an EPL text.  ``canvas``: its drawing, None for a schema; ``draft``: the text is not what is
    drawn."""

    id: str
    kind: StatementKind
    span: Span
    text: str
    canvas: dict[str, Any] | None
    draft: bool = False


@dataclass(frozen=True)
class Graph:
    """The statements of an EPL text as drawings; ``definition`` of a problem is the id of its statement."""

    statements: tuple[Statement, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Edited:
    """A text after an edit; None if there are errors, and then nothing changes.

    ``renamed``: ids of nodes that have other ones now.
    """

    text: str | None
    edits: tuple[Edit, ...]
    statement: str | None
    statements: tuple[Statement, ...]
    renamed: dict[str, str]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class DomainChanged:
    """A text after a change of its types; None if there are errors, and then nothing changes."""

    text: str | None
    edits: tuple[Edit, ...]
    problems: tuple[Problem, ...]
