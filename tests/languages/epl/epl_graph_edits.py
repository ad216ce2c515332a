"""Random edits of drawings, comments at random places of a text, and the EPL texts of the repository."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from occurs.expr.text import Text
from occurs.languages.epl.graph.canvas import COMPLEX, EVENT, Canvas, Link, Node, Tag
from occurs.languages.epl.graph.sources import words_of
from occurs.languages.epl.parser import parse, without_comments

CASES = Path(__file__).parents[2] / "cases"
#: nodes that have operands
OPERATORS = frozenset(
    ["Every", "EveryDistinct", "FollowedBy", "And", "Or", "Not", "Repeat", "Until", "While", "Within"]
)
UNARY = ("Every", "Not", "Repeat", "Within", "While", "EveryDistinct")


@cache
def epl_texts() -> list[str]:
    """The EPL texts of all cases and examples that can be read, each once."""
    out: dict[str, None] = {}
    for path in sorted(CASES.rglob("*.md")):
        for body in re.findall(r"^```epl\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S):
            out[body] = None
    for path in sorted(Path(__file__).parents[3].glob("src/occurs/**/*.epl")):
        out[path.read_text(encoding="utf-8")] = None
    return [text for text in out if not parse(text)[1]]


def commented(text: str, rng: random.Random, share: float = 0.2) -> str:
    """The text with comments between its words, each with a number of its own; it means the same."""
    blank = without_comments(text, Text(text, None))
    out, at = "", 0
    for number, word in enumerate(words_of(blank)):
        out += text[at : word.start]
        at = word.start
        if rng.random() < share:
            out += rng.choice(
                [
                    f"/* k{number} */",
                    f" /* k{number} */ ",
                    f"// k{number}\n  ",
                    f"\n# k{number}\n",
                    f"\n  -- k{number}\n ",
                ]
            )
    made = out + text[at:]
    same = parse(made)[0].statements == parse(text)[0].statements
    return made if same else text


@dataclass
class Draft:
    """A canvas that is edited."""

    canvas: Canvas
    rng: random.Random
    nodes: dict[str, Node] = field(init=False)
    operands: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = {n.id: n for n in self.canvas.nodes}
        self.head = self.canvas.head
        self.operands = {n.id: [] for n in self.canvas.nodes}
        for link in sorted(self.canvas.links, key=lambda k: k.order):
            self.operands[link.target].append(link.source)

    def made(self) -> Canvas:
        links = [Link(o, n, i) for n, found in self.operands.items() for i, o in enumerate(found, 1)]
        self.rng.shuffle(links)
        return replace(self.canvas, head=self.head, nodes=tuple(self.nodes.values()), links=tuple(links))

    def user(self, name: str) -> str:
        return next(n for n, found in self.operands.items() if name in found)

    def patterns(self) -> list[str]:
        return [n for n in self.nodes if n != COMPLEX]

    def fresh(self, kind: str, **fields: Any) -> str:
        number = 1
        while f"{kind}{number}" in self.nodes:
            number += 1
        self.nodes[f"{kind}{number}"] = Node(f"{kind}{number}", kind, fields)
        self.operands[f"{kind}{number}"] = []
        return f"{kind}{number}"

    def event(self) -> str:
        number = 1
        tags = {n.fields.get("tag") for n in self.nodes.values()}
        while f"a{number}" in tags:
            number += 1
        return self.fresh(EVENT, typeName="New", tag=f"a{number}", conditions=["x > 1"], consume=0)

    def operator(self, kind: str) -> str:
        fields: dict[str, Any] = {
            "Repeat": {"count": self.rng.randint(1, 4)},
            "Within": {"duration": "7 min", "count": self.rng.choice([None, 3])},
            "While": {"condition": "1 < 2"},
            "EveryDistinct": {"keys": ["1 + 1", "2"], "expiry": "3 sec"},
            "Until": {"low": None, "high": self.rng.choice([None, 5])},
            "FollowedBy": {"limits": []},
        }.get(kind, {})
        return self.fresh(kind, **fields)

    def put(self, old: str, new: str) -> None:
        """``new`` takes the place of ``old``."""
        user = self.user(old)
        self.operands[user] = [new if o == old else o for o in self.operands[user]]

    def change(self, name: str, **fields: Any) -> None:
        node = self.nodes[name]
        self.nodes[name] = replace(node, fields={**node.fields, **fields})

    def drop(self, name: str) -> None:
        """Remove a node and everything below it."""
        for operand in self.operands.pop(name):
            self.drop(operand)
        del self.nodes[name]


def wrap(d: Draft) -> None:
    name = d.rng.choice(d.patterns())
    new = d.operator(d.rng.choice(UNARY))
    d.put(name, new)
    d.operands[new] = [name]


def insert(d: Draft) -> None:
    name = d.rng.choice(d.patterns())
    new = d.operator(d.rng.choice(["FollowedBy", "And", "Or", "Until"]))
    d.put(name, new)
    d.operands[new] = [name, d.event()]
    d.rng.shuffle(d.operands[new])


def add_operand(d: Draft) -> None:
    found = [n for n in d.patterns() if d.nodes[n].kind in ("FollowedBy", "And", "Or")]
    if found:
        name = d.rng.choice(found)
        place = d.rng.randint(0, len(d.operands[name]))
        d.operands[name].insert(place, d.event())
        limits(d, name)


def limits(d: Draft, name: str) -> None:
    if d.nodes[name].kind == "FollowedBy":
        d.change(name, limits=[d.rng.choice([None, None, 2]) for _ in d.operands[name][1:]])


def unwrap(d: Draft) -> None:
    """Delete an operator; its first operand takes its place."""
    found = [n for n in d.patterns() if d.operands[n]]
    if found:
        name = d.rng.choice(found)
        first, *others = d.operands[name]
        d.put(name, first)
        d.operands[name] = others
        d.drop(name)


def delete(d: Draft) -> None:
    """Delete an operand of an operator that has others."""
    found = [n for n in d.patterns() if len(d.operands[n]) > 2]
    if not found:
        return unwrap(d)
    name = d.rng.choice(found)
    gone = d.rng.choice(d.operands[name])
    d.operands[name].remove(gone)
    d.drop(gone)
    return limits(d, name)


def reorder(d: Draft) -> None:
    found = [n for n in d.patterns() if len(d.operands[n]) > 1]
    if found:
        d.rng.shuffle(d.operands[d.rng.choice(found)])


def swap(d: Draft) -> None:
    """Two patterns change places."""
    one, other = d.rng.choice(d.patterns()), d.rng.choice(d.patterns())

    def below(name: str) -> set[str]:
        return {name, *(n for o in d.operands[name] for n in below(o))}

    if one not in below(other) and other not in below(one):
        mine, theirs = d.user(one), d.user(other)
        places = d.operands[mine].index(one), d.operands[theirs].index(other)
        d.operands[mine][places[0]], d.operands[theirs][places[1]] = other, one


def retag(d: Draft) -> None:
    found = [n for n in d.patterns() if d.nodes[n].kind == EVENT]
    tags = {n.fields.get("tag") for n in d.nodes.values()}
    new = d.rng.choice([t for t in ("t1", "t2", "every", "A", None) if t is None or t not in tags])
    if found:
        d.change(d.rng.choice(found), tag=new)


def conditions(d: Draft) -> None:
    found = [n for n in d.patterns() if d.nodes[n].kind == EVENT]
    if not found:
        return
    name = d.rng.choice(found)
    rows = list(d.nodes[name].fields["conditions"])
    edit_rows(d, rows, d.rng.choice(["x = 'a  b'", "(x or y) and z", "x in [1:2)", "not x", "n>1"]))
    d.change(name, conditions=rows)


def edit_rows(d: Draft, rows: list[Any], new: Any) -> None:
    what = d.rng.choice(["add", "remove", "replace", "shuffle"])
    if what == "add" or not rows:
        rows.insert(d.rng.randint(0, len(rows)), new)
    elif what == "remove" and len(rows) > 1:
        del rows[d.rng.randrange(len(rows))]
    elif what == "replace":
        rows[d.rng.randrange(len(rows))] = new
    else:
        d.rng.shuffle(rows)


def columns(d: Draft) -> None:
    rows = list(d.nodes[COMPLEX].fields["columns"])
    used = {r["name"] for r in rows}
    name = next(n for n in ("c1", "c2", "c3", "c4", "c5") if n not in used)
    edit_rows(d, rows, {"name": name, "value": d.rng.choice(["1 + 1", "a.x || 'b'", "case when 1 = 1 then 2 end"])})
    if d.rng.random() < 0.3:
        i = d.rng.randrange(len(rows))
        if rows[i]["name"] is not None:
            rows[i] = {**rows[i], "name": name}
    d.change(COMPLEX, columns=rows)


def fields(d: Draft) -> None:
    name = d.rng.choice([*d.patterns(), COMPLEX])
    n = d.rng.randint(1, 5)
    match d.nodes[name].kind:
        case "Event":
            d.change(name, **d.rng.choice([{"typeName": "Other"}, {"typeName": "min"}, {"consume": n - 1}]))
        case "Repeat":
            d.change(name, count=n)
        case "Until":
            d.change(name, low=d.rng.choice([None, n]), high=d.rng.choice([None, n, 7]))
        case "Within":
            d.change(name, duration=d.rng.choice(["3 minutes", "1 min 30 sec"]), count=d.rng.choice([None, n]))
        case "TimeInterval":
            d.change(name, duration="90 seconds")
        case "TimeSchedule":
            d.change(name, hour="[1, 5:7]", second=d.rng.choice([None, "30"]))
        case "While":
            d.change(name, condition="a.x  < 3")
        case "EveryDistinct":
            d.change(name, expiry=d.rng.choice([None, "2 hours"]), keys=["a.x", "b.y + 1"])
        case "FollowedBy":
            limits(d, name)
        case "ComplexEvent":
            d.change(name, typeName="Derived")


def head(d: Draft) -> None:
    one = d.rng.choice(
        [
            {"name": "New name"},
            {"description": "it's"},
            {"description": None},
            {"priority": 4},
            {"priority": None},
            {"tags": (Tag("a", "b"),)},
            {"tags": ()},
            {"where": None},
            {"where": "a.x > 3 or b.y = 1"},
            {"suppress": True},
            {"discard": True},
            {"suppress": False, "discard": False},
        ]
    )
    d.head = replace(d.head, **one)


EDITS: Sequence[Callable[[Draft], Any]] = (
    wrap,
    insert,
    add_operand,
    unwrap,
    delete,
    reorder,
    swap,
    retag,
    conditions,
    columns,
    fields,
    head,
)


def random_edit(canvas: Canvas, rng: random.Random, edits: int = 1) -> Canvas:
    """The canvas after random edits, each of which leaves it complete."""
    for _ in range(edits):
        draft = Draft(canvas, rng)
        rng.choice(EDITS)(draft)
        canvas = draft.made()
    return canvas
