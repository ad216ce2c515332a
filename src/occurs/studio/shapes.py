"""The JSON shapes of the interface (docs/studio.md).  openapi.json and the types of the page are made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from occurs.errors import Span as Span
from occurs.services.answers import Formatted as Formatted
from occurs.services.answers import Hover as Hover
from occurs.services.answers import Item, NetCounted, NetDrawing, NetRow, Outline, Place, Problem
from occurs.services.answers import NetState as NetState
from occurs.services.answers import Operation as Operation
from occurs.services.answers import Peeked as Peeked
from occurs.services.answers import Plan as Plan
from occurs.services.answers import StatementKind as StatementKind
from occurs.services.answers import Words as Words
from occurs.studio.limits import LIMITS


class Refusal(Struct):
    """Why a call was refused."""

    kind: str
    message: str
    hint: str | None = None
    problems: list[Problem] = []


class ErrorAnswer(Struct):
    """Every answer that is not a success."""

    error: Refusal


class File(Struct, frozen=True):
    """A file of the directory.  ``note``: why it is read-only, if that is not its kind."""

    path: str
    kind: Literal["rules", "event", "net", "model", "other"]
    language: str | None
    size: int
    etag: str
    in_program: bool
    writable: bool
    note: str | None = None


class Texts(Struct, forbid_unknown_fields=True):
    """Unsaved texts by path; the rest of the program comes from disk."""

    texts: dict[str, str] = {}


class EventFile(Struct, frozen=True):
    """A file of events, or a directory in which all files are events.

    ``entry``: how it is read if nobody says it, `PATH` or `TYPE=PATH`.  ``default``: whether it is read if the project
    names no events.
    """

    path: str
    entry: str
    directory: bool
    default: bool


class Checked(Struct, frozen=True):
    """The problems of a program, the outline of what can be read of it, and the events that it can be run on."""

    problems: list[Problem]
    outline: list[Outline]
    events: list[EventFile]


class At(Struct, forbid_unknown_fields=True):
    """A position in one text of the program, as an offset in code points."""

    path: str
    offset: int
    texts: dict[str, str] = {}


class Rename(Struct, forbid_unknown_fields=True):
    """A position in one text of the program, and a name; null: only say what can be renamed."""

    path: str
    offset: int
    to: str | None = None
    texts: dict[str, str] = {}


class Format(Struct, forbid_unknown_fields=True):
    """A text to be written in its canonical form."""

    path: str
    text: str


class CanvasTag(Struct, frozen=True):
    """An annotation `@Tag(name='..', value='..')`."""

    name: str
    value: str


class CanvasHead(Struct, frozen=True):
    """The statement around a drawn pattern.  ``into``: the type that it derives, as the complex event says, too.

    ``where``: the condition on detections.
    """

    name: str | None = None
    description: str | None = None
    tags: list[CanvasTag] = []
    priority: int | float | str | None = None
    into: str | None = None
    where: str | None = None
    suppress: bool = False
    discard: bool = False


class CanvasNode(Struct, frozen=True):
    """A node of a drawing; ``fields``: those of its kind.  It has no place (null) where it is to be laid out."""

    id: str
    kind: str
    fields: dict[str, Any] = {}
    x: float | None = None
    y: float | None = None


class CanvasLink(Struct, frozen=True):
    """From an operand to its operator, where it has the place ``order`` (from 1)."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    order: int = 1


class Canvas(Struct, frozen=True):
    """The drawing of one EPL statement."""

    head: CanvasHead = CanvasHead()
    nodes: list[CanvasNode] = []
    links: list[CanvasLink] = []


class Statement(Struct, frozen=True):
    """A statement of an EPL text.  ``canvas``: its drawing, null for a schema."""

    id: str
    kind: StatementKind
    span: Span
    text: str
    canvas: Canvas | None
    draft: bool = False


class Graph(Struct, frozen=True):
    """The statements of an EPL text; ``definition`` of a problem is the id of its statement."""

    statements: list[Statement]
    problems: list[Problem]


class Edit(Struct, frozen=True):
    """The characters from ``from`` up to ``to`` become ``insert``; offsets count code points."""

    start: int = msgspec.field(name="from")
    stop: int = msgspec.field(name="to")
    insert: str


class Edited(Struct, frozen=True):
    """A text after an edit of a drawing; null if the drawing has errors.  ``renamed``: ids of nodes that have other
    ones now."""

    text: str | None
    edits: list[Edit]
    statement: str | None
    statements: list[Statement]
    renamed: dict[str, str]
    problems: list[Problem]


class GraphOf(Struct, forbid_unknown_fields=True):
    """An EPL text to draw.  With its ``path`` the rest of the program counts, too: ``texts`` are its unsaved ones."""

    text: str
    path: str | None = None
    texts: dict[str, str] = {}


class CanvasOf(Struct, forbid_unknown_fields=True):
    """A drawing to put in the place of a statement of an EPL text; ``statement``: its id, null for a new one."""

    text: str
    statement: str | None
    canvas: Canvas
    path: str | None = None
    texts: dict[str, str] = {}


class Change(Struct, forbid_unknown_fields=True):
    """A change of a type of events or of its attribute; ``to``: the new name, or the type of the attribute.

    ``name``: the name of what is added, if ``type`` or ``attribute`` does not say it.
    """

    op: Operation
    type: str | None = None
    attribute: str | None = None
    name: str | None = None
    to: str | None = None


class DomainOf(Struct, forbid_unknown_fields=True):
    """A change of the types that an EPL text declares."""

    text: str
    change: Change
    path: str | None = None
    texts: dict[str, str] = {}


class DomainChanged(Struct, frozen=True):
    """A text after a change of its types; null if there are errors."""

    text: str | None
    edits: list[Edit]
    problems: list[Problem]


class ModelOf(Struct, forbid_unknown_fields=True):
    """A statement of an EPL text to make a graphical model of, or the graphical model to make a text of.

    ``xml``: the content of a ``.pattern`` or ``.domain`` file of MEdit4CEP, to make a text of.
    """

    text: str | None = None
    statement: str | None = None
    model: dict[str, Any] | None = None
    xml: str | None = None


class PlanOf(Struct, forbid_unknown_fields=True):
    """What to plan: unsaved texts, and the events that give the schemas (default: those of the project)."""

    texts: dict[str, str] = {}
    events: list[str] | None = None


class Example(Struct, forbid_unknown_fields=True):
    """The name of an example."""

    name: str


class Peek(Struct, forbid_unknown_fields=True):
    """Which events to look at, read how, and how many rows of each type to return."""

    events: list[str] | None = None
    options: dict[str, Any] | None = None
    rows: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 100


class Language(Struct):
    """A language of rules.  ``words`` is null while the language worker cannot be asked."""

    name: str
    suffixes: list[str]
    words: Words | None


class Option(Struct):
    """An option of runs.  ``of``: what it describes or changes; null while the language worker cannot be asked.

    ``kind``: the form of its value; a ``moment`` is a text or an integer, ``names`` are a list, ``paths`` an object
    from names to paths.  ``choices``: the values there are.  ``none``: null is a value of its own, not the default.
    """

    name: str
    of: Literal["input", "text", "result", "rules", "run"] | None
    kind: Literal["text", "choice", "flag", "number", "moment", "names", "paths"]
    choices: list[str]
    default: Any
    none: bool
    help: str


class About(Struct):
    """The server: its version, the name of its directory, and what it can do."""

    version: str
    project: str
    languages: list[Language]
    limits: dict[str, float]
    options: list[Option]
    examples: list[str]


class Completions(Struct, frozen=True):
    """What may stand at a place; ``from``: where the word begins that it replaces."""

    start: int = msgspec.field(name="from")
    items: list[Item]


class Renamed(Struct, frozen=True):
    """The name at a place with its span, all null if there is none, and the edits by path.

    With problems there are no edits.
    """

    name: str | None
    kind: Literal["type", "attribute", "tag"] | None
    span: Span | None
    edits: dict[str, list[Edit]]
    problems: list[Problem]


class Places(Struct, frozen=True):
    """Where a name is defined."""

    places: list[Place]


class Opened(Struct, frozen=True):
    """The files of an example that was copied.

    ``added``: the project, which had no rules, has its program now.  ``command``: else, how to open it.
    """

    files: list[str]
    added: bool
    command: str | None


class JobNet(Struct, forbid_unknown_fields=True):
    """The net of a job that is not a run.

    Attributes:
        path: A file of rules, or for `space` of a net; null: the whole program.
        black: Of `space` and `random`: whether to keep black transitions.
        first: The number at which searches start.
        sink_exits: Whether to keep the Exit places below `every` empty.
        rows: The maximum number of rows: 1,000 for `space`, 20,000 for `verify`.
        max_states: Of `space`: the number of markings at which the search stops.
        stream: Of `random`: the file that describes the streams (`.toml`, `.json`), or the description itself.
        runs: Of `random`: the number of runs.
        seed: Of `random`: determines all streams.
        steps: Of `random`: the maximum number of firings of a run.
    """

    path: str | None = None
    black: bool = True
    first: Literal[0, 1] = 0
    sink_exits: bool = False
    rows: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    max_states: Annotated[int, Meta(ge=1, le=10_000_000)] = 100_000
    stream: str | dict[str, Any] | None = None
    runs: Annotated[int, Meta(ge=1, le=100_000)] = 100
    seed: int = 0
    steps: Annotated[int, Meta(ge=1)] | None = None


class JobRequest(Struct, forbid_unknown_fields=True):
    """A job: unsaved texts, and events and options in the place of those of the project.

    ``run`` the program, ``verify`` it with its nets, explore the state ``space`` of its net, or count over ``random``
    streams.
    """

    kind: Literal["run", "verify", "space", "random"]
    texts: dict[str, str] = {}
    events: list[str] | None = None
    options: dict[str, Any] | None = None
    net: JobNet | None = None


class JobStarted(Struct, frozen=True):
    """The id of a job."""

    id: str


class WhyRequest(Struct, forbid_unknown_fields=True):
    """The label of a detection of a run, of which everything that was checked is asked."""

    label: Annotated[str, Meta(pattern="^[0-9a-fA-F]{32}$")]


class WhyNotRequest(Struct, forbid_unknown_fields=True):
    """A detection that a run does not have, and of which is asked why.

    Attributes:
        type: Its type.
        where: Values of its attributes as text, which is read by the type of the attribute; null is null.
        begin: Its earliest time: ticks, or a time as text; null: that of the run.
        stop: Its latest time.
        edits: The maximum number of clauses of a reason.
        limit: The maximum number of reasons.
        variants: The maximum number of relaxed programs that are tried.
    """

    type: str
    where: dict[str, str | None] = {}
    begin: int | str | None = msgspec.field(default=None, name="from")
    stop: int | str | None = msgspec.field(default=None, name="to")
    edits: Annotated[int, Meta(ge=1, le=4)] = 2
    limit: Annotated[int, Meta(ge=1, le=LIMITS.why_reasons)] = 10
    variants: Annotated[int, Meta(ge=1, le=LIMITS.why_variants)] = 2_000


class Progress(Struct, frozen=True):
    """How far a job is.

    Of a run: rows that are processed, of how many, the time that is reached, detections so far.  ``done`` of ``total``
    are else sides (`verify`), expanded markings of those that are known (`space`), or runs (`random`).  While events
    are read, ``reading`` names the file, and ``done`` of ``total`` are the bytes of the files before it and of all.
    """

    done: int
    total: int
    at: str | int | None
    ticks: int | str | None
    found: int
    reading: str | None = None


class TimeKind(Struct, frozen=True):
    """What ticks count: microseconds since 1970 UTC if they are timestamps, else the unit, if there is one."""

    timestamp: bool
    unit: str | None


class Count(Struct, frozen=True):
    """How many rows of a type there are."""

    name: str
    count: int


class Detected(Struct, frozen=True):
    """A type of detections: its attributes in their order, and whether it is of intervals."""

    name: str
    attributes: list[str]
    lasting: bool


class SideCounts(Struct, frozen=True):
    """The numbers of detections of a type, in the order of the sides."""

    type: str
    counts: list[int]


class Difference(Struct, frozen=True):
    """The first instant at which a side differs from the reference in a type.

    ``text``: detections that are missing or unexpected; ``why``: what the run of a net says of it.
    """

    type: str
    side: str
    time: str | int
    ticks: int | str
    text: str
    why: list[str]


class Explained(Struct, frozen=True, kw_only=True):
    """A row, or a time in which there is none, of an explanation.  ``end``: null of an instant and of what is open."""

    type: str | None
    time: str | int | None
    ticks: int | str | None
    end: str | int | None
    end_ticks: int | str | None
    label: str | None


class CheckedClause(Explained, frozen=True, kw_only=True):
    """A clause of the rules, its place, what it met and what it needs; ``message`` says it as a sentence.

    ``file`` and ``span`` are null of clauses that belong to the input.
    """

    kind: str
    clause: str | None
    found: str | None
    needed: str | None
    message: str | None
    definition: str | None
    file: str | None
    span: Span | None


class WhyNode(CheckedClause, frozen=True, kw_only=True):
    """A node of a derivation, numbered from 1, behind its parent.

    ``kind``: `detection`, `event`, `timer`, `clause`, `absence` (with the time in which no such row was allowed),
    `aggregate`, `passed`.
    """

    node: int
    parent: int | None
    role: str | None
    values: dict[str, Any]


class Derivation(Struct, frozen=True):
    """Everything that was checked for a detection.

    ``more``: nodes that are left out; ``leaves``: rows of the input.
    """

    label: str | None
    nodes: list[WhyNode]
    more: int
    leaves: int
    notes: list[str]


class FailedClause(CheckedClause, frozen=True, kw_only=True):
    """A clause of a reason.  ``repair``: the text in its place (empty: it is removed)."""

    repair: str


class WitnessRow(Explained, frozen=True, kw_only=True):
    """A row that a reason shows: of the repaired detection, or (not ``ok``) one at which a clause failed.

    ``added``: it is not in the input; ``parent``: the number of the derived row that it belongs to, from 0.
    """

    role: str | None
    values: dict[str, Any]
    ok: bool
    added: bool
    parent: int | None


class Reason(Struct, frozen=True):
    """A smallest set of clauses without which the detection would be there.

    ``repair``: a sentence; ``files``: the paths of the texts that the repair changes, which `repairs` returns;
    ``added``: the row that it adds to the input, or null; ``more``: rows of the witness that are left out.
    """

    number: int
    cost: int
    verified: bool
    clauses: list[FailedClause]
    witness: list[WitnessRow]
    more: int
    repair: str
    files: list[str]
    added: dict[str, Any] | None


class FoundRow(Struct, frozen=True):
    """A detection that was asked for and is there."""

    time: str | int | None
    ticks: int | str | None
    end: str | int | None
    end_ticks: int | str | None
    values: dict[str, Any]


class WhyNot(Struct, frozen=True, kw_only=True):
    """The answer to why there is no detection: reasons, the nearest first.

    ``found``: how many there are after all, the first of them in ``rows``.  ``complete``: whether no repair was left
    untried; ``notes`` say what was not.  The range is as it was understood, in ticks.
    """

    type: str
    where: dict[str, Any]
    begin: int | str = msgspec.field(name="from")
    stop: int | str = msgspec.field(name="to")
    found: int
    rows: list[FoundRow]
    complete: bool
    notes: list[str]
    reasons: list[Reason]


class RepairedText(Struct, frozen=True):
    """A text as it was run, and as a repair changes it."""

    path: str
    before: str
    after: str


class Repair(Struct, frozen=True):
    """The texts that a repair changes."""

    texts: list[RepairedText]


class Result(Struct, frozen=True, kw_only=True):
    """What a job found; the members depend on its kind.

    Of a run: ``first``, ``last``: its clock in ticks; ``counts``: rows read, bad, outside ..  Of a verification:
    ``equal``, ``report`` as text, ``sides`` with their ``table`` and ``differences``, ``firings`` of the nets,
    ``without``: why there is no net, or one only.  Of a state space: ``report``, ``complete``, ``nodes``, ``arcs``, and
    the numbers of markings that are dead or home (null if unknown).  Of random streams: ``counted``.  Of questions:
    ``why``, ``why_not``.
    """

    milliseconds: int
    time: TimeKind | UnsetType = UNSET
    first: int | str | UnsetType | None = UNSET
    last: int | str | UnsetType | None = UNSET
    inputs: list[Count] | UnsetType = UNSET
    types: list[Count] | UnsetType = UNSET
    schemas: list[Detected] | UnsetType = UNSET
    total: int | UnsetType = UNSET
    counts: dict[str, int] | UnsetType = UNSET
    equal: bool | UnsetType = UNSET
    report: str | UnsetType = UNSET
    sides: list[str] | UnsetType = UNSET
    table: list[SideCounts] | UnsetType = UNSET
    differences: list[Difference] | UnsetType = UNSET
    firings: dict[str, int] | UnsetType = UNSET
    without: str | UnsetType | None = UNSET
    complete: bool | UnsetType = UNSET
    nodes: int | UnsetType = UNSET
    arcs: int | UnsetType = UNSET
    dead_markings: int | UnsetType = UNSET
    home_markings: int | UnsetType | None = UNSET
    dead_transitions: list[str] | UnsetType = UNSET
    runs: int | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    counted: list[NetCounted] | UnsetType = UNSET
    why: Derivation | UnsetType = UNSET
    why_not: WhyNot | UnsetType = UNSET


class Job(Struct, frozen=True):
    """A job: how it is, and in the end its result or why it failed."""

    id: str
    kind: Literal["run", "verify", "space", "random", "why", "why-not"]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: Progress | None
    result: Result | None
    problems: list[Problem]


class TimelineQuery(Struct, frozen=True):
    """A range in ticks, both ends included (default: all), pixels, an attribute to have lanes by, types (`A,B`)."""

    begin: int | None = msgspec.field(default=None, name="from")
    stop: int | None = msgspec.field(default=None, name="to")
    width: Annotated[int, Meta(ge=1, le=LIMITS.timeline_width)] = 1000
    by: str | None = None
    types: str = ""


class Lane(Struct, frozen=True):
    """A lane: how many rows there are in every pixel, or one by one as [start, end, row].

    The end of what is open is null, that of an instant its start.
    """

    name: str
    type: str
    input: bool
    count: int
    counts: list[int] | UnsetType = UNSET
    marks: list[tuple[int | str, int | str | None, int]] | UnsetType = UNSET


class Timeline(Struct, frozen=True):
    """A range of time.  ``total``, ``count`` (in the range), ``exact`` (one by one): of detections.

    ``more``: lanes that are left out.
    """

    total: int
    count: int
    exact: bool
    begin: int | str = msgspec.field(name="from")
    stop: int | str = msgspec.field(name="to")
    lanes: list[Lane]
    more: int


class RowsQuery(Struct, frozen=True):
    """Which rows: types (`A,B`; none: all detections), a range of ticks, a text in them; sorted by a column (`-v`: the
    greatest first)."""

    type: str = ""
    begin: int | None = msgspec.field(default=None, name="from")
    stop: int | None = msgspec.field(default=None, name="to")
    text: str = ""
    sort: str = "time"
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=0, le=LIMITS.rows)] = 200


class Column(Struct, frozen=True):
    """A column of a table."""

    name: str
    type: str


class Rows(Struct, frozen=True):
    """A page of rows, each the list of its columns' values.  The columns ``row`` (its number in its type), ``type``,
    ``time``, ``ticks``, ``end``, ``end_ticks``, ``open`` (it has no end yet) and ``label`` are first."""

    columns: list[Column]
    rows: list[list[Any]]
    total: int


class WhyQuery(Struct, frozen=True):
    """How many levels of constituents."""

    depth: Annotated[int, Meta(ge=1)] | None = None


class InFile(Struct, frozen=True):
    """A row of a file: its number from 1, and its line if rows are lines."""

    file: str | None
    line: int | None
    row: int


class Detection(Struct, frozen=True, kw_only=True):
    """A row of a run.  ``row``: its number in its type; ``open``: it has no end yet."""

    row: int | None
    type: str
    time: str | int | None
    ticks: int | str | None
    end: str | int | None
    end_ticks: int | str | None
    open: bool
    label: str | None
    values: dict[str, Any]


class Event(Detection, frozen=True, kw_only=True):
    """A detection, or a row of the input, which has a ``source``."""

    source: InFile | None


class Constituent(Event, frozen=True, kw_only=True):
    """An event that a detection is made of.  ``more``: its constituents that are left out."""

    role: str | None
    constituents: list[Constituent]
    more: int


class Why(Struct, frozen=True):
    """A detection and what it is made of.  ``more``: constituents that are left out."""

    detection: Event
    constituents: list[Constituent]
    more: int


class Changed(Struct, frozen=True):
    """How many detections of a type two runs have each alone and both."""

    type: str
    gained: int
    lost: int
    same: int


class Changes(Struct, frozen=True):
    """Two runs: counts by type, and the first detections that are new or gone, in the order of time."""

    types: list[Changed]
    gained: list[Detection]
    lost: list[Detection]


class ExportQuery(Struct, frozen=True):
    """Which rows, chosen as in RowsQuery, and as what; `html`: the page of `occurs plot`, input events included."""

    type: str = ""
    format: Literal["csv", "jsonl", "parquet", "html"] = "csv"
    begin: int | None = msgspec.field(default=None, name="from")
    stop: int | None = msgspec.field(default=None, name="to")
    text: str = ""


class NetRequest(Struct, forbid_unknown_fields=True):
    """A net to open: of the EPL statements of the program with events, or of a file.

    Attributes:
        texts: Unsaved texts.
        path: A file of a net, or one file of rules; null: the whole program.
        events: Null: those of the project.  A file of a net has its own tokens.
        options: How the events are read; null: as the project says.
        black: Whether to keep black transitions; they are encoded with priorities otherwise.
        first: The number at which searches start.
        sink_exits: Whether to keep the Exit places below `every` empty.
        rows: The maximum number of rows.
    """

    texts: dict[str, str] = {}
    path: str | None = None
    events: list[str] | None = None
    options: dict[str, Any] | None = None
    black: bool = True
    first: Literal[0, 1] = 0
    sink_exits: bool = False
    rows: Annotated[int, Meta(ge=1, le=100_000)] = 1_000


class NetOpened(Struct, frozen=True):
    """A net that was opened, with its drawing and its first state.

    ``state`` is null if it cannot be run, as a problem says.  ``rows``: the first 1,000.  ``problems``: statements
    without a net, rows that are left out, and parts of a file that are not supported.
    """

    id: str
    net: NetDrawing
    state: NetState | None
    rows: list[NetRow]
    problems: list[Problem]


class NetBreaks(Struct, forbid_unknown_fields=True):
    """Where a run stops: behind a firing of a transition, and when a place gets a number of tokens."""

    transitions: list[str] = []
    places: dict[str, Annotated[int, Meta(ge=0)]] = {}


class FireRequest(Struct, forbid_unknown_fields=True):
    """One of: a number of firings (``steps``), a run to the ``end`` or to the entry of a ``row``, one ``transition``
    (with a ``binding`` as the state lists it; without: the first), firings to take ``back``, or ``reset`` with a seed
    or null.

    ``breaks``: of runs.
    """

    steps: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    end: Literal[True] | UnsetType = UNSET
    row: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    transition: str | UnsetType = UNSET
    binding: dict[str, str] | UnsetType | None = UNSET
    back: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    reset: Annotated[int, Meta(ge=0, le=2**53 - 1)] | UnsetType | None = UNSET
    breaks: NetBreaks | UnsetType | None = UNSET


class NetChange(Struct, forbid_unknown_fields=True):
    """A new text of an element, as CPN ML.

    ``element``: a place for ``initial``, else a transition.  Of an ``arc`` also its ``place``, and whether it leads
    ``into`` the transition; null: both directions, as a line with two heads is.
    """

    element: str
    what: Literal["initial", "guard", "priority", "arc"]
    text: str
    place: str | None = None
    into: bool | None = None


class NetEdit(Struct, forbid_unknown_fields=True):
    """Changes of a net, all of which are made, or none."""

    changes: list[NetChange]


class NetExportQuery(Struct, frozen=True):
    """A file: for CPN Tools, with black transitions, or a picture with the tokens of now."""

    format: Literal["cpn", "net.json", "svg"] = "svg"
    theme: Literal["light", "dark"] = "light"
