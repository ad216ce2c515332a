"""One random TESLA rule: roles, windows, constraints, negations, conditions, aggregates, assignments, consumption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.generators.random_tesla_words import BOOL, DURATION, FLOAT, INT, STRING, Words

from occurs.model.types import Type


@dataclass
class Role:
    """A role of the rule being written; ``reference`` is the role its window refers to."""

    name: str
    type: str
    reference: int | None


class RuleWriter:
    def __init__(self, program: Words, level: int, name: str, recursive: bool):
        self.p, self.rng, self.level, self.name = program, program.rng, level, name
        earlier = program.derived[:level]
        #: types that may be looked back at, and the derived ones among them that only first and last may take
        self.sources = program.given + earlier + (program.derived if recursive else [])
        self.recursive = recursive
        self.roles: list[Role] = []
        self.parameters: dict[str, Type] = {}
        self.binding: dict[int, list[str]] = {}
        self.each_left = 1 if program.chance(0.6) else 2

    def text(self) -> str:
        rng, p = self.rng, self.p
        self.choose_roles()
        self.choose_parameters()
        lead = f"rule r{rng.randint(0, 10**9)}: " if p.chance(0.1) else ""
        schema = p.schemas[self.name]
        typed = p.chance(0.2) and DURATION not in schema.values()
        head = ", ".join(f"{a}: {t}" if typed else a for a, t in schema.items())
        items = [self.selection(i) for i in range(1, len(self.roles))]
        for make, probability in ((self.negation, 0.25), (self.condition, 0.22), (self.extra, 0.1)):
            if p.chance(probability):
                items.insert(rng.randint(0, len(items)), make())
        if p.chance(0.07):
            items.insert(rng.randint(0, len(items)), self.negation())
        text = f"{lead}define {self.name}({head}) from {self.event(0)}"
        text += "".join(f"\n  and {i}" for i in items if i)
        assignments = [f"{a} {rng.choice(('=', '=', ':='))} {self.value(t, a)}" for a, t in schema.items()]
        text += "\n  where " + ", ".join(assignments)
        listed = [r.name for r in self.roles[1:] if p.chance(0.6)]
        if listed and p.chance(0.35):
            text += "\n  consuming " + ", ".join(listed)
        return text + rng.choice(("", "", ";"))

    def choose_roles(self) -> None:
        rng, p = self.rng, self.p
        if p.unit != "none" and p.chance(0.12):
            self.add("Timer", None)
        elif self.level and p.chance(0.3):
            self.add(rng.choice(p.derived[: self.level]), None)
            self.each_left = 1
        else:
            self.add(rng.choice(p.given), None)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)) if not self.recursive else rng.choice((1, 1, 2))):
            own = self.recursive and p.chance(0.7)
            source = rng.choice(p.derived if own else self.sources)
            self.add(source, 0 if p.chance(0.5) else rng.randrange(len(self.roles)))

    def add(self, type_: str, reference: int | None) -> None:
        names = {r.name for r in self.roles}
        name = type_
        if name in names or self.p.chance(0.15):
            name = f"{type_.lower()}{len(self.roles)}"
        self.roles.append(Role(name, type_, reference))

    def choose_parameters(self) -> None:
        """Which attributes bind $k, $v; in a role's parentheses, or by a condition (written by :meth:`condition`)."""
        events = [i for i, r in enumerate(self.roles) if r.type != "Timer"]
        if not events:
            return
        if self.p.chance(0.65):
            self.parameters["k"] = self.p.key_type
            self.binding.setdefault(events[0] if self.p.chance(0.85) else self.rng.choice(events), []).append("K = $k")
        if self.p.chance(0.3):
            self.parameters["v"] = INT
            self.binding.setdefault(self.rng.choice(events), []).append(
                self.rng.choice(("V = $v", "$v = V", "V => $v"))
            )

    # --- parts --------------------------------------------------------------------------------------------------

    def event(self, role: int) -> str:
        p, r = self.p, self.roles[role]
        alias = f" as {r.name}" if r.name != r.type else ""
        if r.type == "Timer":
            return f"Timer({self.timer()}){alias}"
        tests = list(self.binding.get(role, []))
        positions = ""
        if "k" in self.parameters and p.chance(0.5) and not any("$k" in t for t in tests):
            tests.append("K = $k")
        if p.chance(0.12) and DURATION not in p.schemas[r.type].values():
            # the same by position, in front of the others
            first = (
                "$k" if any("$k" in t for t in tests) else self.rng.choice(("_", "_", self.p.constant(self.p.key_type)))
            )
            tests = [t for t in tests if "$k" not in t]
            positions = first + (", " + self.rng.choice(("_", "$v" if "v" in self.parameters else "_")))
        if p.chance(0.25):
            tests.append(p.own_test(r.type))
        if p.chance(0.13):
            tests.append(self.relation(r.type, role))
        if p.chance(0.05):
            tests.append(self.p.compare(self.aggregate(INT), p.constant(INT)))
        self.rng.shuffle(tests)
        inner = self.joined(tests)
        inner = ", ".join(t for t in (positions, inner) if t)
        return f"{r.type}({inner}){alias}"

    def joined(self, tests: Sequence[str]) -> str:
        signs = (" and ", ", ", " and ", ", ", " & ")
        return "".join(t if i == 0 else self.rng.choice(signs) + t for i, t in enumerate(tests))

    def timer(self) -> str:
        n = self.rng.choice((2, 3, 4, 5))
        field_of = {"ms": "MS", "s": "S", "min": "M", "timestamp": "M"}[self.p.unit]
        tests = [f"{field_of}%{n} == 0"]
        if self.p.unit in ("min", "timestamp") and self.p.chance(0.3):
            tests.append(self.rng.choice(('TZ = "Europe/Rome"', "H >= 0", 'TZ = "Asia/Kolkata", H != 7')))
        elif self.p.chance(0.2):
            tests.append(f"{field_of} > {self.rng.randint(0, 8)}")
        return self.joined(tests)

    def relation(self, type_: str, role: int | None) -> str:
        """A test of an event of ``type_`` against a role (also a later one) or a parameter."""
        rng, p = self.rng, self.p
        if "v" in self.parameters and p.chance(0.5):
            return p.compare("V", rng.choice(("$v", "$v + 1", "$v - 2", "2 * $v")))
        others = [r for i, r in enumerate(self.roles) if r.type != "Timer" and i != role]
        if not others:
            return p.own_test(type_)
        other = rng.choice(others)
        attribute = rng.choice([a for a, t in p.schemas[other.type].items() if t in (INT, FLOAT)])
        return p.compare("V", f"{other.name}.{attribute}")

    def selection(self, role: int) -> str:
        rng, r = self.rng, self.roles[role]
        policies = [
            "first",
            "last",
            "last",
            "first",
            "first",
            "last",
            "2-first",
            "2-last",
            rng.choice(("3-last", "1-first")),
        ]
        heavy = r.type in self.p.derived
        if self.each_left and not (heavy and self.recursive):
            policies += ["each"] * 6
        policy = rng.choice(policies)
        self.each_left -= policy == "each"
        assert r.reference is not None
        window = self.p.duration(20, 3)
        having = f" having {self.having(r)}" if self.p.chance(0.1) else ""
        return f"{policy} {self.event(role)} within {window} from {self.roles[r.reference].name}{having}"

    def having(self, role: Role) -> str:
        """What is asked of a role once all are chosen."""
        rng, p = self.rng, self.p
        others = [f"{r.name}.V" for r in self.roles if r.type != "Timer" and r is not role]
        test = p.compare(f"{role.name}.V", rng.choice([*others, p.constant(INT)]))
        return rng.choice((test, test, f"not ({test})", f"({test} or {role.name}.V is null)",
                           p.compare(self.aggregate(INT), p.constant(INT))))  # fmt: skip

    def interval(self) -> str:
        """``within`` of any role, or ``between`` two roles of one chain in either order."""
        roles = self.roles
        pairs = []
        for i in range(len(roles)):
            above = roles[i].reference
            while above is not None:
                pairs.append((roles[i].name, roles[above].name))
                above = roles[above].reference
        if pairs and self.p.chance(0.5):
            one, other = self.rng.sample(self.rng.choice(pairs), 2)
            return f"between {one} and {other}"
        return f"within {self.p.duration(6)} from {self.rng.choice(roles).name}"

    def other_event(self, type_: str) -> str:
        """The parentheses of a negated or aggregated event."""
        tests = []
        if "k" in self.parameters and self.p.chance(0.6):
            tests.append("K = $k")
        if self.p.chance(0.35):
            tests.append(self.p.own_test(type_))
        if self.p.chance(0.15):
            tests.append(self.relation(type_, None))
        return f"{type_}({self.joined(tests)})"

    def negation(self) -> str:
        return f"not {self.other_event(self.rng.choice(self.sources))} {self.interval()}"

    def extra(self) -> str:
        if len(self.roles) < 2:
            return ""
        one, other = self.rng.sample([r.name for r in self.roles], 2)
        return f"{one} within {self.p.duration(10, 3)} from {other}"

    def condition(self) -> str:
        rng, p = self.rng, self.p
        events = [r for r in self.roles if r.type != "Timer"]
        roll = rng.random()
        if roll < 0.3:
            return p.compare(self.aggregate(INT), rng.choice(("0", "1", "2")))
        if roll < 0.4:
            return p.compare(self.aggregate(FLOAT), self.aggregate(INT))
        if roll < 0.6 and len(self.roles) > 1:
            a, b = rng.sample([r.name for r in self.roles], 2)
            return p.compare(f"{a}.time - {b}.time", p.duration(6)) if p.chance(0.6) else f"{a}.time != {b}.time"
        if not events:
            return ""
        one = rng.choice(events)
        if roll < 0.7 and "w" not in self.parameters:
            self.parameters["w"] = INT
            return f"{one.name}.V = $w"
        other = rng.choice(events)
        test = p.compare(f"{one.name}.V", f"{other.name}.V + {rng.randint(-3, 3)}".replace("+ -", "- "))
        return rng.choice(
            (test, f"not ({test})", f"({test} or {one.name}.V is null)", f"{one.name}.K = {other.name}.K")
        )

    def aggregate(self, want: Type) -> str:
        """An aggregate whose value is an int or a float."""
        rng, p = self.rng, self.p
        type_ = rng.choice(self.sources)
        floats = [a for a, t in p.schemas[type_].items() if t is FLOAT]
        event = self.other_event(type_)
        if want is INT:
            function = rng.choice(("COUNT", "count", "Sum", "MIN", "max", "FIRST", "last"))
            dotted = "" if function.lower() == "count" and p.chance(0.5) else ".V"
        elif floats and p.chance(0.6):
            function, dotted = rng.choice(("Sum", "avg", "STDDEV", "median", "Min", "MAX", "first", "LAST")), ".X"
        else:
            function, dotted = rng.choice(("AVG", "stddev", "MEDIAN", "percentile")), ".V"
        if function == "percentile":
            dotted += f", {rng.choice((0, 25, 37.5, 90, 100))}"
        elif function == "count" and dotted and p.chance(0.3):
            event = f"distinct {event}"
        path, comma, percent = dotted.partition(",")
        if path and p.chance(0.15):
            # T-Rex's spelling
            event, path = event.replace(type_, f"{type_}{path}", 1), ""
        return f"{function}({event}{path}{comma}{percent}) {self.interval()}"

    # --- where --------------------------------------------------------------------------------------------------

    def value(self, type_: Type, attribute: str) -> str:
        """An expression of the type for an attribute of the derived event."""
        rng, p = self.rng, self.p
        own = [f"{r.name}.{a}" for r in self.roles for a, t in p.schemas.get(r.type, {}).items() if t is type_]
        if attribute == "K":
            own = [f"{r.name}.K" for r in self.roles if r.type != "Timer"]
            if "k" in self.parameters and p.chance(0.7):
                return "$k"
            return rng.choice(own) if own else p.constant(type_)
        if type_ is BOOL:
            return f"({self.condition_value()})"
        if type_ is DURATION:
            one, other = rng.choice(self.roles).name, rng.choice(self.roles).name
            return f"{one}.time - {other}.time"
        if type_ is STRING:
            simple = rng.choice([*own, p.constant(STRING)])
            return rng.choice((simple, f"concat({simple}, '-x')", f"upper({simple})", f"coalesce({simple}, '?')"))
        own += [f"${n}" for n, t in self.parameters.items() if t is type_]
        simple = rng.choice(own) if own and p.chance(0.9) else p.constant(type_)
        roll = rng.random()
        if roll < 0.3:
            return self.aggregate(type_)
        if roll < 0.4:
            return f"{simple} + {self.aggregate(type_)}"
        if type_ is FLOAT:
            return rng.choice(
                (simple, f"{simple} / 2", f"{simple} * 0.5 + 1", f"sqrt({simple})", f"{simple} % 2.0 + 0.5")
            )
        return rng.choice(
            (
                simple,
                f"{simple} + 1",
                f"{simple} % 5 - 1",
                f"coalesce({simple}, 0)",
                f"abs({simple})",
                f"greatest({simple}, 2)",
            )
        )

    def condition_value(self) -> str:
        events = [r for r in self.roles if r.type != "Timer"]
        if not events or self.p.chance(0.3):
            return self.p.compare(self.aggregate(INT), "1")
        return self.p.compare(f"{self.rng.choice(events).name}.V", self.p.constant(INT))
