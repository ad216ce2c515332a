"""The vocabulary of one random TESLA program: its types, and expressions over the attributes of one event."""

from __future__ import annotations

import random

from occurs.model.types import Type

INT, FLOAT, STRING, BOOL, DURATION = Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.DURATION
GIVEN = ("A", "B", "C", "D")
DERIVED = ("P", "Q", "R")
COMPARE = ("<", "<=", ">", ">=", "=", "!=", "<>", "==", "≤", "≥", "≠")


class Words:
    """Types with their schemas, the unit of time, and texts of expressions."""

    def __init__(self, rng: random.Random, recursion: bool):
        self.rng = rng
        self.unit = rng.choice(("ms", "ms", "ms", "min", "s", "none", "timestamp"))
        self.key_type = rng.choice((INT, STRING))
        self.recursive = recursion and rng.random() < 0.3
        self.given = list(GIVEN[: rng.randint(2, 4)])
        self.derived = list(DERIVED[: rng.choice((1, 1, 2, 2, 3))])
        self.schemas: dict[str, dict[str, Type]] = {t: self.schema(t in GIVEN[:2]) for t in self.given}
        for t in self.derived:
            self.schemas[t] = self.schema(False, derived=True)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def schema(self, full: bool, derived: bool = False) -> dict[str, Type]:
        """Attributes of a type: always K and V, some of X, F (bool), S (text), T (duration, derived types only)."""
        out = {"K": self.key_type, "V": INT}
        if full or self.chance(0.4):
            out["X"] = FLOAT
        if self.chance(0.25):
            out["F"] = BOOL
        if self.chance(0.2):
            out["S"] = STRING
        if derived and self.chance(0.2):
            out["T"] = DURATION
        return out

    def constant(self, type_: Type) -> str:
        rng = self.rng
        if type_ is INT:
            return str(rng.choice((0, 1, 2, 3, 5, 7)))
        if type_ is FLOAT:
            return str(rng.choice((0.5, 1.0, 2.5, 3.0)))
        if type_ is BOOL:
            return rng.choice(("true", "false"))
        if type_ is DURATION:
            return self.duration(4)
        return "'" + rng.choice("abc") + "'"

    def duration(self, most: int = 12, least: int = 0) -> str:
        """A length of so many ticks (minutes over timestamps), sometimes with a fraction or in two units."""
        n = self.rng.randint(least, most)
        if self.unit == "none":
            return str(n)
        unit = "min" if self.unit == "timestamp" else self.unit
        if self.chance(0.06):
            return f"{n}.5 {unit}"
        if self.chance(0.05):
            finer = {"ms": f"{n} ms 500 us", "s": f"{n}s 1000 ms", "min": f"{n} min 60 s"}
            return finer[unit]
        return f"{n}{self.rng.choice(('', ' '))}{unit}"

    def compare(self, left: str, right: str, loose: bool = True) -> str:
        """A comparison; mostly an inequality, which more pairs of values satisfy."""
        op = self.rng.choice(COMPARE[:4] if loose and self.chance(0.7) else COMPARE)
        return f"{left} {op} {right}"

    def own_test(self, name: str) -> str:
        """A test of one event by its own attributes, without roles."""
        rng, schema = self.rng, self.schemas[name]
        attribute = rng.choice(list(schema))
        type_ = schema[attribute]
        roll = rng.random()
        if roll < 0.08:
            return f"{attribute} is {rng.choice(('', 'not '))}null"
        if roll < 0.14:
            return f"coalesce({attribute}, {self.constant(type_)}) = {attribute}" if type_ is not DURATION else "V = V"
        if type_ is BOOL:
            return rng.choice((f"{attribute} = true", f"not {attribute}", f"{attribute} != false"))
        if type_ not in (BOOL, DURATION) and self.chance(0.12):
            return self.of_sql(attribute, type_)
        if type_ is STRING:
            if self.chance(0.3):
                return f"{rng.choice(('upper', 'lower'))}({attribute}) {rng.choice(COMPARE)} 'a'"
            return f"{attribute} {rng.choice(('!=', '>=', '<', '='))} {self.constant(STRING)}"
        if type_ in (INT, FLOAT) and roll < 0.35:
            return rng.choice(
                (
                    f"{attribute} % 3 != {rng.choice((0, 1))}",
                    f"abs({attribute}) > 1",
                    f"-{attribute} < 2",
                    f"{attribute} / 2 >= 0.5",
                    f"{attribute} * 2 - 1 > {self.constant(INT)}",
                    f"{attribute} / 0 is null",
                )
            )
        if roll < 0.5:
            other = self.own_test(name)
            shape = rng.choice(("({a} or {b})", "({a} | {b})", "not ({a} and {b})", "({a} and {b})", "not ({a})"))
            return shape.format(a=f"{attribute} is not null", b=other)
        return self.compare(attribute, self.constant(type_))

    def of_sql(self, attribute: str, type_: Type) -> str:
        """A test in SQL's words."""
        rng, negated = self.rng, self.rng.choice(("", "not "))
        one, other = self.constant(type_), self.constant(type_)
        forms = [
            f"{attribute} {negated}in ({one}, {other}, {rng.choice(('null', one))})",
            f"{attribute} {negated}between {one} and {other}",
            f"case when {attribute} {rng.choice(COMPARE[:4])} {one} then {attribute} else {other} end != {other}",
            f"case {attribute} when {one} then true when {other} then false end",
        ]
        if type_ is STRING:
            forms.append(f"{attribute} {negated}like '{rng.choice(('a%', '%b', '_', '%'))}'")
        return rng.choice(forms)
