"""The drawings of the page about concepts: event, interval, frontier, label, retention, partition key."""

from __future__ import annotations

from collections.abc import Iterator

from kit import Picture


def pictures() -> Iterator[Picture]:
    yield event()
    yield interval()
    yield frontier()
    yield label()
    yield retention()
    yield partition_key()


#: the rule of all these drawings: smoke in an area, and more than 45 degrees there at most 5 minutes before
RULE = (
    "define Fire(Area, Value)",
    "from   Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 5 min from Smoke",
    "where  Area = $a, Value = Temp.Value",
)


def event() -> Picture:
    p = Picture(
        "concept-event",
        280,
        "Events and a detection",
        "Three events on a time axis, each with a type, a time and attributes, and the event that a rule derives from "
        "two of them.",
    )
    cards = [
        (130, "Temp", "09:00", ["Area = kitchen", "Value = 50"]),
        (272, "Temp", "09:01", ["Area = hall", "Value = 20"]),
        (590, "Smoke", "09:04", ["Area = kitchen"]),
    ]
    p.text(20, 22, "input events", colour="blue", bold=True)
    for x, kind, _, lines in cards:
        p.rect(x - 62, 30 + (18 if len(lines) == 1 else 0), 124, 34 + 18 * len(lines), colour="blue", fill="blue")
        p.text(x, 52 + (18 if len(lines) == 1 else 0), kind, anchor="middle", bold=True, size=14)
        p.lines(x, 71 + (18 if len(lines) == 1 else 0), lines, anchor="middle", mono=True, size=12, step=1.5)
        p.line([(x, 100), (x, 131)], colour="blue")
    p.axis(40, 730, 138, [(x, time) for x, _, time, _ in cards])
    for x, *_ in cards:
        p.event(x, 138)
    p.line([(130, 166), (130, 210), (440, 210)], colour="orange", dash=True)
    p.arrow([(590, 166), (590, 186)], colour="orange")
    p.line([(440, 210), (500, 210)], colour="orange", dash=True)
    p.rect(505, 188, 170, 72, colour="orange", fill="orange")
    p.event(526, 207, colour="orange", size=6)
    p.text(600, 212, "Fire  09:04", anchor="middle", bold=True, size=14)
    p.lines(590, 231, ["Area = kitchen", "Value = 50"], anchor="middle", mono=True, size=12, step=1.5)
    p.lines(150, 232, ["A detection is an event too: other rules can read it."], size=13, colour="dim")
    p.text(150, 251, "It has the time of the event that completes it.", colour="dim")
    return p


def interval() -> Picture:
    p = Picture(
        "concept-interval",
        330,
        "Intervals of a state and of a phenomenon",
        "A state's intervals begin and end with events and never overlap; the last one is open. The intervals of a "
        "phenomenon may overlap.",
    )
    left = 168
    p.text(20, 44, "events", colour="blue", bold=True)
    for x, text in (
        (200, "stop_start"),
        (258, ""),
        (330, "stop_end"),
        (450, "stop_start"),
        (540, "stop_end"),
        (640, "stop_start"),
    ):
        p.event(x, 40)
        p.line([(x, 49), (x, 84)], colour="blue", dash=True)
        if text:
            p.text(x, 24, text, anchor="middle", size=12, mono=True)
    p.text(20, 100, "state", colour="green", bold=True)
    p.text(20, 118, "stopped", mono=True, size=12)
    p.bar(200, 330, 100)
    p.bar(450, 540, 100)
    p.bar(640, 735, 100, open_=True)
    p.text(687, 104, "end: null", anchor="middle", size=12)
    p.text(265, 104, "[start, end]", anchor="middle", size=12)
    p.lines(
        left,
        142,
        [
            "Intervals of a state are disjoint and as long as possible:",
            "a second stop_start inside an interval changes nothing.",
        ],
        colour="dim",
    )
    p.lines(615, 142, ["An open interval", "has not ended yet."], colour="dim")
    p.text(20, 208, "phenomenon", colour="green", bold=True)
    p.text(20, 226, "trip", mono=True, size=12)
    p.bar(230, 480, 206)
    p.bar(390, 640, 232)
    p.text(300, 210, "A to B", anchor="middle", size=12)
    p.text(570, 236, "C to D", anchor="middle", size=12)
    p.text(left, 270, "Intervals of a phenomenon may overlap.", colour="dim")
    p.axis(left, 745, 300)
    return p


def frontier() -> Picture:
    p = Picture(
        "concept-frontier",
        340,
        "The frontier, late events and final results",
        "All input up to the frontier has arrived. Results up to it are final; an event that arrives with an earlier "
        "time is late.",
    )
    at, y = 430, 190
    p.rect(40, 62, at - 40, 176, colour="purple", fill="purple", round_=0, stroke=0)
    p.line([(at, 40), (at, 262)], colour="purple", stroke=2.4)
    p.text(at, 28, "frontier", anchor="middle", colour="purple", bold=True, size=15)
    p.text(52, 82, "All events up to the frontier have arrived.", size=13)
    p.text(52, 101, "Results are final and have been written.", size=13)
    p.text(at + 14, 82, "Events may still arrive, in any order.", size=13)
    p.text(at + 14, 101, "Occurs holds them until the frontier passes them.", size=13)
    p.axis(40, 735, y)
    for x in (80, 130, 215, 262, 330, 395):
        p.event(x, y)
    for x in (470, 545, 580, 655):
        p.event(x, y)
    p.event(262, 152, colour="orange")
    p.event(395, 152, colour="orange")
    p.line([(262, 160), (262, 182)], colour="orange")
    p.line([(395, 160), (395, 182)], colour="orange")
    p.text(276, 142, "detections", colour="orange", bold=True)
    p.event(172, y, hollow=True)
    p.arrow([(172, 290), (172, 202)], colour="blue", dash=True)
    p.text(172, 306, "a late event: it arrives behind the frontier,", anchor="middle")
    p.text(172, 324, "is counted and, on request, returned", anchor="middle")
    p.arrow([(655, 268), (at + 6, 268)], colour="purple", dash=True)
    p.line([(655, 200), (655, 276)], colour="dim", dash=True)
    p.text(545, 260, "allowed lateness (--watermark)", anchor="middle", colour="purple")
    p.lines(664, 268, ["the newest event", "so far"], colour="dim", size=12)
    return p


def label() -> Picture:
    p = Picture(
        "concept-label",
        310,
        "The label of a derived event",
        "The label of a detection is computed from its definition and the labels of its constituents, so it is the "
        "same in every run and on every host.",
    )
    p.rect(20, 30, 220, 62, colour="blue", fill="blue")
    p.text(36, 54, "Temp  09:00  kitchen", bold=True)
    p.text(36, 76, "label 82f4b3a0…", mono=True, size=12)
    p.rect(20, 108, 220, 62, colour="blue", fill="blue")
    p.text(36, 132, "Smoke  09:04  kitchen", bold=True)
    p.text(36, 154, "label 44bc3c7e…", mono=True, size=12)
    p.rect(20, 186, 220, 46, colour="dim", fill="dim")
    p.text(36, 214, "the definition of Fire", bold=True)
    for y in (61, 139, 209):
        p.arrow([(240, y), (300, y), (330, 139)] if y != 139 else [(240, y), (330, y)], colour="dim")
    p.rect(334, 106, 112, 66, colour="purple", fill="purple")
    p.text(390, 144, "hash", anchor="middle", bold=True, size=15)
    p.arrow([(446, 139), (510, 139)], colour="dim")
    p.rect(514, 106, 266, 66, colour="orange", fill="orange")
    p.text(530, 132, "Fire  09:04  kitchen  50", bold=True)
    p.text(530, 155, "label 65f33676299fc86b…", mono=True, size=12)
    p.text(20, 20, "constituents", colour="blue", bold=True)
    p.text(514, 96, "detection", colour="orange", bold=True)
    p.text(20, 264, "The same events and the same rule give the same label: in this process, on Spark and on a stream,")
    p.text(20, 283, "with any number of partitions, and again after a restart. A sink that sees a label twice can")
    p.text(20, 302, "drop the second row.")
    return p


def retention() -> Picture:
    p = Picture(
        "concept-retention",
        300,
        "Retention: how far into the past a definition can look",
        "A rule over the last five minutes keeps the events of the five minutes before the frontier and forgets older "
        "ones.",
    )
    y, now, per = 150, 610, 84.0
    first = now - 5 * per
    p.text(20, 24, RULE[1], mono=True, size=12.5)
    p.rect(first, 88, now - first, y - 88, colour="purple", fill="purple", round_=0, stroke=0)
    p.line([(first, 88), (first, y)], colour="purple", dash=True)
    p.line([(now, 62), (now, y)], colour="purple", stroke=2.4)
    p.text(now, 54, "frontier 09:10", anchor="middle", colour="purple", bold=True)
    p.arrow([(now - 4, 78), (first + 2, 78)], colour="purple")
    p.text((first + now) / 2, 70, "retention of Temp: 5 min", anchor="middle", colour="purple", bold=True)
    p.text((first + now) / 2, 108, "kept", anchor="middle", colour="purple")
    p.axis(40, 735, y, [(now - per * k, f"09:{10 - k:02d}") for k in (0, 1, 2, 3, 4, 5, 6)])
    for x in (70, 122, 160):
        p.event(x, y, hollow=True)
    for x in (222, 318, 352, 447, 545):
        p.event(x, y)
    p.text(112, 128, "forgotten", anchor="middle", colour="dim")
    p.lines(
        20,
        212,
        [
            "The state of a definition grows with its retention, not with the length of the history.",
            "occurs explain prints the retention of each type and the reason for it.",
        ],
    )
    p.text(
        20,
        264,
        "Unbounded retention: a rule whose window has no limit keeps every event that can still matter.",
        colour="dim",
    )
    p.text(20, 283, "occurs check warns about such a rule; --require-bounds rejects it.", colour="dim")
    return p


def partition_key() -> Picture:
    p = Picture(
        "concept-partition-key",
        350,
        "The partition key",
        "Events of different areas never meet in a match of this rule, so each area can run on its own, and together "
        "the parts give the same answer.",
    )
    p.text(20, 22, RULE[1], mono=True, size=12.5)
    p.text(20, 44, "Every event of a match has the same Area, so Area is the partition key.", colour="dim")
    rows = [
        ("kitchen", "blue", 0),
        ("hall", "green", 1),
        ("kitchen", "blue", 0),
        ("cellar", "purple", 2),
        ("hall", "green", 1),
        ("kitchen", "blue", 0),
        ("cellar", "purple", 2),
        ("hall", "green", 1),
    ]
    p.text(20, 80, "all events", bold=True)
    p.axis(20, 240, 190, name="")
    for k, (_, colour, _) in enumerate(rows):
        p.event(38 + 26 * k, 190, colour=colour)
    names = ["kitchen", "hall", "cellar"]
    for k, (name, colour) in enumerate(zip(names, ("blue", "green", "purple"), strict=True)):
        y = 110 + 80 * k
        p.arrow([(248, 190), (300, y)], colour="dim")
        p.rect(304, y - 30, 300, 60, colour=colour, fill=colour)
        p.text(316, y - 11, f"Area = {name}", colour=colour, bold=True)
        p.line([(316, y + 10), (500, y + 10)], colour="dim")
        for j, (own, c, _) in enumerate(rows):
            if own == name:
                p.event(330 + 22 * j, y + 10, colour=c)
        p.arrow([(604, y), (640, y), (664, 190)] if k != 1 else [(604, y), (664, y)], colour="dim")
    p.event(560, 120, colour="orange")
    p.text(550, 105, "Fire", colour="orange", bold=True, size=12)
    p.event(560, 280, colour="orange")
    p.text(550, 265, "Fire", colour="orange", bold=True, size=12)
    p.rect(668, 160, 112, 60, colour="orange", fill="orange")
    p.text(724, 186, "the same", anchor="middle", bold=True)
    p.text(724, 204, "detections", anchor="middle", bold=True)
    p.text(
        20,
        335,
        "Spark runs the parts on different workers. Without a key it uses time slices, or one partition.",
        colour="dim",
    )
    return p
