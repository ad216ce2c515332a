"""Random EPL programs with small histories, valid by construction.

:func:`random_core` has events, ``every`` and ``->`` only; :func:`random_epl` all operators, forms of select and of
statements.  Both are functions of their ``random.Random`` alone, so a failing program is found again by its seed.
Searches multiply rarely (``every`` inside ``every``), so that the reference takes milliseconds.
"""

from __future__ import annotations

import random
from typing import Any

from tests.generators.random_epl_pattern import PatternWriter, Piece, Tag
from tests.textcases.epl import EplCase

from occurs.languages.kit.language import Written
from occurs.model.occurrence import Occurrence
from occurs.testing.cases import KINDS

GIVEN = ("A", "B", "C")
#: 2024-05-01T00:00:00Z
BASE = 1_714_521_600


def random_core(rng: random.Random) -> EplCase:
    """A case of the core without expectation."""
    return _Program(rng, core=True).case()


def random_epl(rng: random.Random) -> EplCase:
    """A case over all operators without expectation."""
    return _Program(rng, core=False).case()


class _Program:
    def __init__(self, rng: random.Random, core: bool) -> None:
        self.rng, self.core = rng, core
        unit = "s" if core else rng.choice(("s", "s", "s", "ms", "timestamp"))
        self.unit, self.scale = unit, {"s": 1, "ms": 1000, "timestamp": 1_000_000}[unit]
        self.base = BASE if unit == "timestamp" else 0
        #: rows are days apart, from 2024-01-25 on
        self.days = unit == "timestamp" and self.chance(0.4)
        if self.days:
            self.scale, self.base = 4 * 86_400 * 1_000_000, 4936
        #: variables and parameters, as they are written, and what is given
        self.values: list[str] = []
        self.given: dict[str, Written] = {}
        #: a type that inherits A
        self.heir = not core and self.chance(0.15)
        #: events have lists and maps; their types are those of the input
        self.lists = not core and not self.heir and self.chance(0.2)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def case(self) -> EplCase:
        head = [] if self.lists else [f"create schema {t}(k string, v int)" for t in GIVEN]
        if self.heir:
            head.append("create schema H(u int) inherits A")
        if not self.core and self.chance(0.15):
            head += self.variables()
        producers, types = [], list(GIVEN)
        if self.chance(0.3):
            producers = [self.producer("X") for _ in range(1 if self.chance(0.8) else 2)]
            types += ["X", "X"]
            if self.heir and self.chance(0.5):
                types.append("H")
        body = [*producers, self.consumer(types)]
        if self.chance(0.15):
            body.append(self.consumer(types))
        if self.chance(0.2):
            self.rng.shuffle(body)
        start = until = None
        if not self.core and self.chance(0.12):
            start = self.ticks(self.rng.randint(-3, 5))
        if not self.core and self.chance(0.12):
            until = self.ticks(self.rng.randint(12, 24))
        rules = ";\n".join([*head, *body])
        return EplCase(
            name="random",
            rules=rules,
            events=tuple(self.history()),
            kind=KINDS[self.unit],
            start=start,
            until=until,
            zone=self.rng.choice(("UTC", "Europe/Madrid")) if self.days else "UTC",
            values={n: v for n, v in self.given.items() if n in rules},
        )

    def variables(self) -> list[str]:
        """Declarations of values, which are from 1 to 3."""
        number = self.rng.randint(1, 2)
        self.values = ["w0", "(w1)", "(?:p0)", "(?:p1:int)"]
        self.given = {"p0": Written(self.rng.randint(1, 3)), "p1": Written(self.rng.randint(1, 3))}
        if self.chance(0.5):
            self.given["w0"] = Written(self.rng.randint(1, 3))
        return [f"create variable int w0 = {number}", f"create constant variable long w1 = {number} + 1"]

    def ticks(self, second: int) -> int:
        return (self.base + second) * self.scale

    # --- history --------------------------------------------------------------------------------------------------

    def history(self) -> list[Occurrence]:
        """16 to 22 rows in 16 seconds; ties in time, nulls; rows of types that nobody reads move the clock."""
        rng = self.rng
        types = [*GIVEN, *(["H"] if self.heir else []), *(["Z"] if not self.core and self.chance(0.4) else [])]
        sequences = self.chance(0.5)
        keys, nulls = rng.choice(("p", "pq", "pq", "pqr")), rng.choice((0.0, 0.1, 0.2))
        rows = []
        for n in range(rng.randint(16, 22)):
            values: dict[str, Any] = {
                "k": None if self.chance(nulls / 2) else rng.choice(keys),
                "v": None if self.chance(nulls) else rng.randint(0, 3),
            }
            type_ = rng.choice(types)
            if type_ == "H":
                values["u"] = rng.randint(0, 3)
            if self.lists:
                values["l"] = self.several([rng.randint(0, 3) for _ in range(rng.randint(0, 3))])
                values["m"] = self.several({i: rng.randint(0, 3) for i in rng.choice(("", "i", "j", "ij"))})
            sequence = (n if self.chance(0.7) else rng.randint(0, 30)) if sequences else None
            rows.append(Occurrence(type_, self.ticks(rng.randint(0, 16)), values, sequence))
        if self.lists:  # of each type one with all that it may have
            full = {"k": "p", "v": 1, "l": [1, 2], "m": {"i": 1, "j": 2}}
            rows += [Occurrence(t, self.ticks(16), full) for t in GIVEN]
        return rows

    def several(self, values: Any) -> Any:
        return None if self.chance(0.1) else values

    # --- statements -----------------------------------------------------------------------------------------------

    def writer(self, types: list[str]) -> PatternWriter:
        filters = self.rng.randint(2, 5)
        return PatternWriter(
            self.rng, types, core=self.core, filters=filters, days=self.days, values=self.values,
            listed=GIVEN if self.lists else (),
        )  # fmt: skip

    def piece(self, types: list[str]) -> Piece:
        return self.writer(types).pattern(self.rng.choice((1, 2, 2, 3, 3)))

    def producer(self, name: str) -> str:
        """A statement whose events have ``k`` and ``v`` as those of the input."""
        if not self.core and self.chance(0.2):
            return f"insert into {name} select k, v + 1 as v from A(v is not null)"
        p = self.piece(list(GIVEN))
        one, other = ([self.rng.choice(p.tags), self.rng.choice(p.tags)]) if p.tags else (None, None)
        k = "'p'" if one is None else one.ref("k")
        v = "1" if other is None else other.ref("v")
        return f"insert into {name} select {k} as k, {v} as v\nfrom pattern{self.annotations()} [{p.text}]"

    def annotations(self) -> str:
        out = ""
        if not self.core:
            out += " @SuppressOverlappingMatches" if self.chance(0.12) else ""
            out += " @DiscardPartialsOnMatch" if self.chance(0.15) else ""
        return out

    def consumer(self, types: list[str]) -> str:
        if not self.core and self.chance(0.03):
            of = self.rng.choice(types)  # types may have different columns
            return f"insert into Simple{of} select * from {of}(v > 0)"
        p = self.piece(types)
        name = f"Out{self.rng.randint(0, 10**9)}"
        where = ""
        if not self.core and p.tags and self.chance(0.12):
            where = f"\nwhere {self.rng.choice(p.tags).ref('v')} > 0"
        items = self.items(p)
        order = "" if self.core or not self.chance(0.2) else self.order(p, items)
        return f"insert into {name} select {items}\nfrom pattern{self.annotations()} [{p.text}]{where}{order}"

    def order(self, p: Piece, items: str) -> str:
        """`order by` values of tags, or columns by their names."""
        named = [words[1] for i in items.split(", ") if len(words := i.rsplit(" as ", 1)) == 2]
        forms = [f"{t.ref(a)}{more}" for t in [*p.tags, *p.never] for a, more in (("v", ""), ("k", ""), ("v", " % 2"))]
        forms += [n for n in named if n[0] in "vknrc" and n.isalnum()]
        if not forms:
            return ""
        chosen = self.rng.sample(forms, min(len(forms), self.rng.choice((1, 1, 2))))
        return "\norder by " + ", ".join(f"{e}{self.rng.choice(('', ' asc', ' desc', ' desc'))}" for e in chosen)

    def items(self, p: Piece) -> str:
        """What shows the whole match: an attribute or two of each tag, structs, lists."""
        tags = [*p.tags, *p.never]
        if not tags:
            return "1 as one"
        if not self.core and self.chance(0.15):
            return "*"
        if not self.core and self.chance(0.1):
            return ", ".join(f"{t.name}[0] as {t.name}" if t.many and self.chance(0.5) else t.name for t in tags)
        flat = [t for t in tags if not t.many]
        if not self.core and flat and self.chance(0.1):
            chosen = self.rng.choice(flat)
            return ", ".join([f"{chosen.name}.*", *(self.item(t, i) for i, t in enumerate(tags) if t is not chosen)])
        return ", ".join(self.item(t, i) for i, t in enumerate(tags))

    def item(self, tag: Tag, number: int) -> str:
        if self.core:
            return f"{tag.ref('v')} as v{number}, {tag.ref('k')} as k{number}, {tag.ref('time')} as at{number}"
        forms = [
            f"{tag.ref('v')} as v{number}, {tag.ref('k')} as k{number}",
            f"{tag.ref('time')} as at{number}",
            f"{tag.ref('v')} * 2 + 1 as v{number}",
            f"{tag.ref('v')} / 2 as v{number}",
            f"coalesce({tag.ref('v')}, 0.5) as v{number}, {tag.ref('k')} || '.' as k{number}",
            f"case when {tag.ref('v')} > 1 then 'big' when {tag.ref('k')} = 'p' then {tag.ref('k')} end as c{number}",
            f"{tag.ref('k')} is null as n{number}, {tag.ref('v')} % 2 as r{number}",
        ]
        if tag.many:
            forms += [", ".join(f"{tag.ref('v', i)} as v{number}_{i}" for i in range(3))] * 4
        return self.rng.choice(forms)
