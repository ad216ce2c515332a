"""The drawings of the whole: architecture, the life of an event, and how to read what `occurs explain` prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kit import Picture

import occurs

HERE = Path(__file__).parent


def pictures() -> Iterator[Picture]:
    yield architecture()
    yield life()
    yield explain()


def architecture() -> Picture:
    p = Picture(
        "architecture",
        560,
        "Architecture",
        "Definitions of all languages compile to operators; the plan orders and splits them; engines run them in this "
        "process, on Spark batch and in Structured Streaming, between sources and sinks.",
    )
    names = [
        ("TESLA", ".tesla", "events, absence"),
        ("EPL", ".epl", "sequences"),
        ("FTL, PTL", ".ftl .ptl", "triggers"),
        ("Phenesthe", ".phen", "intervals"),
        ("eSQL, pipes", ".esql", "streams"),
    ]
    p.text(20, 24, "languages", colour="blue", bold=True)
    for k, (name, suffix, about) in enumerate(names):
        x = 20 + 154 * k
        p.rect(x, 34, 144, 74, colour="blue", fill="blue")
        p.text(x + 72, 56, name, anchor="middle", bold=True, size=14)
        p.text(x + 72, 76, suffix, anchor="middle", mono=True, size=12)
        p.text(x + 72, 96, about, anchor="middle", size=12, colour="dim")
        p.arrow([(x + 72, 108), (x + 72, 132)])
    layers = [
        (
            136,
            "operators",
            "one per definition: a stateful function on batches of events, which works on whole columns",
        ),
        (212, "plan", "evaluation order, partition keys, retention, definitions that run together"),
        (288, "engine", "runs one stage of the plan in one process: order, frontier, state, labels"),
    ]
    for y, name, about in layers:
        p.rect(20, y, 760, 52, colour="purple", fill="purple")
        p.text(36, y + 31, name, bold=True, size=14)
        p.text(140, y + 31, about, colour="ink")
    p.arrow([(400, 188), (400, 208)])
    p.arrow([(400, 264), (400, 284)])
    hosts = [
        ("local", ["in this process:", "pandas, Arrow, Polars"]),
        ("Spark batch", ["split by key, or by", "overlapping slices"]),
        ("Spark streaming", ["Structured Streaming", "with checkpoints"]),
    ]
    p.text(164, 372, "hosts", colour="green", bold=True)
    for k, (name, lines) in enumerate(hosts):
        x = 164 + 160 * k
        p.arrow([(x + 76, 340), (x + 76, 386)])
        p.box(x, 390, 152, 88, name, lines, colour="green", size=14)
    p.rect(20, 390, 116, 88, colour="orange", fill="orange")
    p.text(78, 410, "sources", anchor="middle", bold=True, size=14)
    p.lines(78, 430, ["tables, files,", "Kafka, database", "change feeds"], anchor="middle", size=12, colour="dim")
    p.arrow([(136, 434), (160, 434)])
    p.rect(664, 390, 116, 88, colour="orange", fill="orange")
    p.text(722, 410, "sinks", anchor="middle", bold=True, size=14)
    p.lines(722, 430, ["tables, files,", "Kafka,", "any Spark sink"], anchor="middle", size=12, colour="dim")
    p.arrow([(636, 434), (660, 434)])
    p.text(20, 512, "The same program gives the same detections, with the same labels, on every host.")
    p.text(20, 532, "Operators do not know the language they come from or the host they run on.", colour="dim")
    return p


def life() -> Picture:
    p = Picture(
        "life-of-an-event",
        476,
        "The life of an event",
        "In a batch and on a stream an event passes the same steps: intake, order, frontier, operators, labels and "
        "output; only the frontier moves differently.",
    )
    steps = [
        ("intake", ["checks type, time", "and values; bad", "rows stop the run", "or are counted"]),
        ("order", ["by time; at one", "time by sequence,", "else by type and", "attributes"]),
        ("frontier", ["releases events", "when all input", "up to their time", "has arrived"]),
        ("operators", ["match events,", "keep partial", "matches, derive", "rows"]),
        ("labels", ["are computed", "from definition", "and constituents"]),
        ("output", ["final rows, of", "the same kind as", "the input"]),
    ]
    wide, gap = 110, 20
    for k, (name, lines) in enumerate(steps):
        x = 20 + (wide + gap) * k
        colour = "purple" if name in ("frontier", "operators") else "orange" if name == "output" else "blue"
        p.rect(x, 40, wide, 34, colour=colour, fill=colour)
        p.text(x + wide / 2, 62, name, anchor="middle", bold=True, size=14)
        p.lines(x, 96, lines, size=12, colour="dim")
        if k:
            p.arrow([(x - gap, 57), (x - 2, 57)])
    p.text(20, 24, "The same six steps in a batch and on a stream", bold=True)
    y = 220
    p.text(20, y - 24, "batch", bold=True, size=15, colour="green")
    p.text(76, y - 24, "The whole history is there: the frontier is its end, and one call reads all events.", size=13)
    p.axis(40, 735, y + 14)
    p.rect(40, y - 8, 620, 22, colour="purple", fill="purple", round_=0, stroke=0)
    for x in (70, 130, 180, 262, 330, 395, 470, 545, 580, 640):
        p.event(x, y + 14)
    p.line([(660, y - 14), (660, y + 22)], colour="purple", stroke=2.4)
    p.text(660, y - 20 + 62, "frontier", anchor="middle", colour="purple", bold=True)
    y = 330
    p.text(20, y - 24, "stream", bold=True, size=15, colour="green")
    p.text(
        88,
        y - 24,
        "The frontier follows the watermark. Each micro-batch moves it and releases the events it passes.",
        size=13,
    )
    p.axis(40, 735, y + 14)
    for k, (a, b) in enumerate(((40, 210), (210, 355), (355, 500))):
        p.rect(a, y - 8, b - a, 22, colour="purple", fill="purple", round_=0, stroke=0)
        p.line([(b, y - 14), (b, y + 22)], colour="purple", stroke=2.4 if k == 2 else 1.2, dash=k < 2)
        p.text(b, y + 42, f"micro-batch {k + 1}", anchor="middle", colour="purple", size=12)
    for x in (70, 130, 180, 262, 330, 395, 470, 545, 580, 640):
        p.event(x, y + 14)
    p.text(592, y - 2, "held until the frontier passes", anchor="middle", size=12, colour="dim")
    p.event(290, y + 14, hollow=True)
    p.text(20, 412, "Behind the frontier: a late event is counted and, on request, returned; it changes no result.")
    p.text(
        20,
        436,
        "State (held events, partial matches, open intervals) is in the checkpoint, so a restart changes nothing.",
    )
    p.text(20, 460, "However the history is cut into batches, the detections and their labels are the same.")
    return p


def explain() -> Picture:
    """The text is what the product prints; each of its parts has a note."""
    text = occurs.parse(FIRE, language="tesla").explain().split("\n")
    notes = [
        ("input", "blue", ["types that the program reads,", "with their attributes"]),
        ("order", "purple", ["definitions run in this order;", "those with the same number", "do not read each other"]),
        ("retention", "purple", ["how much of the past is kept,", "for which type, and why"]),
        (
            "batch",
            "green",
            ["how Spark splits the work:", "by the partition key, by time", "slices, or in ONE partition"],
        ),
        ("stream", "green", ["where the state of a stream", "is, and the number of stages"]),
    ]
    left, size, room = 20.0, 12.0, 66
    p = Picture("explain", 10, "How to read the output of occurs explain", "The output, with a note for each part.")
    p.text(left, 24, "$ occurs explain fire.tesla", mono=True, size=size, colour="dim")
    y, part = 54.0, -1
    for line in text:
        if line and not line.startswith(" "):  # the head of the next part
            part += 1
            if part == len(notes):
                raise SystemExit(f"explain: there is no note for the part `{line}`")
            name, colour, about = notes[part]
            top, lines = y, [w for own in _part(text, line) for w in _wrapped(own, room)]
            # a part is as high as its note at least
            high = max(18.0 * len(lines), 17 + 16.2 * len(about))
            p.line([(left, top - 12), (left, top + high - 14)], colour=colour, stroke=3)
            p.line([(530, top - 4), (566, top - 4)], colour=colour)
            p.text(574, top, name, bold=True, colour=colour)
            p.lines(574, top + 17, about, size=12, colour="dim", step=1.35)
            for k, own in enumerate(lines):
                p.text(left + 12, top + 18 * k, own, mono=True, size=size, colour="ink" if k else colour)
            y = top + high + 14
    if part + 1 != len(notes):
        raise SystemExit(f"explain: {len(notes)} parts have notes, and {part + 1} are there")
    p.height = y
    return p


def _part(text: list[str], head: str) -> list[str]:
    """The lines of a part of the output."""
    at = text.index(head)
    end = next((k for k in range(at + 1, len(text)) if not text[k].startswith(" ")), len(text))
    return text[at:end]


FIRE = """event Smoke(Area: string)
event Temp(Area: string, Value: int)
define Fire(Area, Value)
from   Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 5 min from Smoke
where  Area = $a, Value = Temp.Value
"""


def _wrapped(line: str, room: int) -> list[str]:
    """A long line goes on, two letters further in."""
    out, indent = [], " " * (len(line) - len(line.lstrip()))
    while len(line) > room:
        cut = line.rfind(" ", len(indent) + 1, room)
        if cut < 0:
            break
        out.append(line[:cut])
        line = f"{indent}    {line[cut + 1 :]}"
    return [*out, line]
