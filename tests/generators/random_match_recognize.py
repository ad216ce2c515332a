"""Random row patterns with small histories, valid by construction.

:func:`random_rows` is a function of its ``random.Random`` alone, so a failing program is found again by its seed.  The
reference tries every way to map the rows, so a history is short, and shorter where repetitions nest.
"""

from __future__ import annotations

import random
from typing import Any

from tests.textcases.match_recognize import RowCase

from occurs.model.occurrence import Occurrence
from occurs.testing.cases import KINDS

VARIABLES = ("A", "B", "C", "D")
#: 2024-05-01T00:00:00Z
BASE = 1_714_521_600


def random_rows(rng: random.Random, ahead: float = 0.08, bounded: float = 0.3) -> RowCase:
    """A case without expectation: one to three views over rows of E.

    ``ahead``: how many measures read rows behind a match; ``bounded``: how many patterns have a bound."""
    return _Program(rng, ahead, bounded).case()


def rows_by(seed: int) -> RowCase:
    """The case of a seed; every fourth one has many bounds, and measures that wait."""
    rng = random.Random(seed)
    return random_rows(rng, 0.4, 0.8) if seed % 4 == 3 else random_rows(rng)


class _Program:
    def __init__(self, rng: random.Random, ahead: float, bounded: float) -> None:
        self.rng, self.ahead, self.bounded = rng, ahead, bounded
        self.unit = rng.choice(("none", "none", "s", "timestamp"))
        self.scale, self.base = (1_000_000, BASE) if self.unit == "timestamp" else (1, 0)
        #: whether repetitions nest, and how many repetitions and alternatives there are
        self.nests, self.ways = False, 0

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def case(self) -> RowCase:
        views = [_Query(self, "E", "V1", ("k", "v", "w")).text]
        if self.chance(0.2):
            views.append(_Query(self, "V1", "V2", ("x", "y")).text)
        if self.chance(0.15):
            views.append(_Query(self, "E", "V3", ("k", "v", "w")).text)
        if self.chance(0.2):
            self.rng.shuffle(views)
        start = until = None
        if self.chance(0.1):
            start = self.ticks(self.rng.randint(-2, 4))
        if self.chance(0.2):
            until = self.ticks(self.rng.randint(8, 18))
        rules = ";\n".join(views)
        return RowCase("random", rules, tuple(self.history()), kind=KINDS[self.unit], start=start, until=until)

    def ticks(self, second: int) -> int:
        return (self.base + second) * self.scale

    def duration(self, seconds: int) -> str:
        return str(seconds) if self.unit == "none" else f"INTERVAL '{seconds}' SECOND"

    def history(self) -> list[Occurrence]:
        """Ties in time, nulls, equal rows; rows of a type that nobody reads move the clock."""
        rng = self.rng
        sequences, keys = self.chance(0.3), rng.choice(("a", "ab", "ab", "abc"))
        nulls, longest = rng.choice((0.0, 0.1, 0.3)), rng.choice((6, 12, 12, 24))
        rows = []
        # the reference tries every way to map the rows
        most = 5 if self.nests else 8 if self.ways > 3 else 13
        for n in range(rng.randint(0, most)):
            values: dict[str, Any] = {
                "k": None if self.chance(nulls / 2) else rng.choice(keys),
                "v": None if self.chance(nulls) else rng.randint(0, 4),
                "w": None if self.chance(nulls) else rng.choice((0.5, 1.0, 2.25, -1.5)),
            }
            type_ = "Z" if self.chance(0.05) else "E"
            sequence = (n if self.chance(0.7) else rng.randint(0, 20)) if sequences else None
            rows.append(Occurrence(type_, self.ticks(rng.randint(0, longest)), values, sequence))
        # so that every column has a type
        rows.append(Occurrence("E", self.ticks(0), {"k": "a", "v": 1, "w": 0.5}, 0 if sequences else None))
        return rows


class _Query:
    """One view over a table with the columns ``names``: the first is text, or the first two are numbers."""

    def __init__(self, program: _Program, table: str, name: str, names: tuple[str, ...]) -> None:
        self.program, self.rng, self.chance = program, program.rng, program.chance
        self.table, self.name = table, name
        #: its first two measures
        self.called = ("x", "y") if table == "E" else ("r", "s")
        self.key = names[0] if table == "E" else None
        self.numbers = names[1:] if table == "E" else names
        self.partition = self.partitioned()
        self.order = self.ordered()
        #: how many groups the pattern may still have
        self.left = self.rng.choice((1, 2, 2, 3, 4))
        self.pattern = self.repeated(self.rng.choice((1, 2, 2, 3)), 0)
        if not any(v in self.pattern for v in VARIABLES):
            self.pattern += " A"
        self.variables = [v for v in VARIABLES if v in _words(self.pattern)]
        self.union = self.rng.sample(self.variables, min(2, len(self.variables))) if self.chance(0.3) else []
        self.rows = self.rng.choice(("",) * 3 + ("ALL ROWS PER MATCH",) * 2 + _SHOWN)
        if "{-" in self.pattern and "UNMATCHED" in self.rows:
            self.rows = "ALL ROWS PER MATCH"
        self.text = self.written()

    def partitioned(self) -> list[str]:
        if self.key is None or self.chance(0.4):
            return []
        if self.chance(0.8):
            return [self.key]
        return [self.key, self.numbers[0]] if self.chance(0.6) else [self.numbers[-1]]

    def ordered(self) -> str:
        if self.chance(0.5):
            return ""
        if self.chance(0.6):
            return "ORDER BY time"
        column, more = self.rng.choice(self.numbers), self.rng.choice(("", " DESC", " NULLS LAST", " DESC NULLS FIRST"))
        return f"ORDER BY time, {column}{more}" if self.chance(0.7) else f"ORDER BY {column}{more}"

    def written(self) -> str:
        rng, define = self.rng, []
        for variable in self.variables:
            if self.chance(0.8):
                define.append(f"{variable} AS {self.condition(variable)}")
        if not define:
            define = [f"{self.variables[0]} AS TRUE"]
        parts = []
        if self.partition:
            parts.append(f"PARTITION BY {', '.join(self.partition)}")
        parts += [self.order] if self.order else []
        measures = self.measures()
        parts.append(f"MEASURES {', '.join(measures)}")
        parts += [self.rows] if self.rows else []
        if self.chance(0.5):
            parts.append(f"AFTER MATCH SKIP {self.skip()}")
        within = ""
        if self.chance(self.program.bounded) and not self.order.startswith("ORDER BY v") and "BY w" not in self.order:
            within = f" WITHIN {self.program.duration(rng.randint(1, 6))}"
            within = within if self.order in ("", "ORDER BY time") or "time," in self.order else ""
        parts.append(f"PATTERN ({self.pattern}){within}")
        if self.union:
            parts.append(f"SUBSET U = ({', '.join(self.union)})")
        parts.append(f"DEFINE {', '.join(define)}")
        body = "\n  ".join(parts)
        return (
            f"CREATE VIEW {self.name} AS\nSELECT {self.items()} FROM {self.table} MATCH_RECOGNIZE (\n  {body}) AS m"
            + (f"\nWHERE {self.outer()}" if self.chance(0.15) else "")
        )

    def skip(self) -> str:
        if self.chance(0.5):
            return self.rng.choice(("TO NEXT ROW", "PAST LAST ROW"))
        name = "U" if self.union and self.chance(0.3) else self.rng.choice(self.variables)
        return f"TO {self.rng.choice(('FIRST ', 'LAST ', ''))}{name}"

    # --- patterns --------------------------------------------------------------------------------------------------

    def repeated(self, depth: int, unbounded: int) -> str:
        """A sequence of one to three parts."""
        parts = [self.part(depth, unbounded) for _ in range(self.rng.choice((1, 2, 2, 3)))]
        return " ".join(parts)

    def part(self, depth: int, unbounded: int) -> str:
        rng = self.rng
        if depth == 0 or self.left == 0 or self.chance(0.35):
            inner = rng.choice(VARIABLES)
        else:
            self.left -= 1
            kind = rng.choice(("group", "or", "or", "or", "permute", "exclude", "empty", "anchor"))
            if kind == "empty":
                return "()"
            if kind == "anchor":
                return rng.choice(("^", "$"))
            if kind == "permute":
                return f"PERMUTE({', '.join(self.part(depth - 1, unbounded) for _ in range(rng.choice((2, 2, 3))))})"
            self.program.ways += 1
            if kind == "or":
                choices = [self.repeated(depth - 1, unbounded) for _ in range(rng.choice((2, 2, 3)))]
                inner = f"({' | '.join(choices)})"
            elif kind == "exclude":
                inner = f"{{- {self.repeated(depth - 1, unbounded)} -}}"
            else:
                quantifier, more = self.quantifier(unbounded)
                return f"({self.repeated(depth - 1, unbounded + more)}){quantifier}"
        return f"{inner}{self.quantifier(unbounded)[0]}" if self.chance(0.5) else inner

    def quantifier(self, unbounded: int) -> tuple[str, int]:
        low = self.rng.randint(0, 2)
        high = low + self.rng.randint(0, 2) or 1
        loops = ["*", "+", f"{{{low},}}"]
        bounded = ["?", "?", f"{{{high}}}", f"{{{low},{high}}}", f"{{,{high}}}"]
        if unbounded >= 2:
            loops = []
        found = self.rng.choice([*loops, *bounded])
        endless = found in loops
        self.program.ways += 1
        if unbounded:
            self.program.nests = True
        return found + ("?" if self.chance(0.3) else ""), int(endless)

    # --- conditions ------------------------------------------------------------------------------------------------

    def condition(self, variable: str) -> str:
        first = self.atom(variable)
        if self.chance(0.25):
            return f"{first} {self.rng.choice(('AND', 'OR'))} {self.atom(variable)}"
        return f"NOT ({first})" if self.chance(0.07) else first

    def number(self) -> str:
        return self.rng.choice(self.numbers)

    def atom(self, variable: str) -> str:
        rng, n, other = self.rng, self.number(), self.rng.choice([*self.variables, *(["U"] if self.union else [])])
        op, few = rng.choice(("<", ">", "<=", ">=", "=", "<>")), rng.randint(0, 4)
        of_row = [
            f"{n} {op} {few}", f"{variable}.{n} {op} {few}", f"{n} {op} PREV({n})", f"{n} {op} PREV({n}, 2)",
            f"PREV({variable}.{n}) {op} {few}", f"{n} IS NULL", f"{n} IS DISTINCT FROM PREV({n})",
            f"{n} BETWEEN 1 AND {few}", f"PREV({n}, 0) {op} {few}",
        ]  # fmt: skip
        if self.key is not None:
            of_row += [f"{self.key} = 'a'", f"{self.key} IN ('a', 'b')", f"{self.key} = PREV({self.key})"]
        ahead = [f"{n} {op} NEXT({n})", f"NEXT({n}, 2) IS NULL"]
        settled = [
            f"{n} {op} {other}.{n}", f"{n} {op} FIRST({n})", f"{n} {op} FIRST({other}.{n})",
            f"{n} {op} PREV(FIRST({n}))", f"{other}.{n} IS NULL", f"MATCH_NUMBER() {op} 2",
            f"time - FIRST(time) <= {self.program.duration(few)}", f"{n} {op} MIN({other}.{n})",
        ]  # fmt: skip
        of_mapping = [
            f"SUM({n}) {op} {few + 2}", f"COUNT(*) <= {few}", f"COUNT({other}.*) {op} {few}",
            f"AVG({other}.{n}) {op} {few}", f"{n} {op} LAST({variable}.{n}, 1)", f"{n} {op} LAST({n}, 1)",
            f"LAST(CLASSIFIER(), 1) {rng.choice(('=', '<>'))} '{rng.choice(VARIABLES)}'",
            f"PREV(CLASSIFIER()) = '{rng.choice(VARIABLES)}'", f"MAX({other}.{n}) {op} {few}",
            f"COUNT(DISTINCT {other}.{n}) {op} {few}", f"SUM(DISTINCT {n}) {op} {few + 2}",
            f"FIRST({n}, 1) {op} {few}", f"STDDEV({n}) {op} 1", f"MIN_BY({n}, {self.number()}) {op} {few}",
            f"SUM({other}.{n} + 1) {op} {few + 3}", f"{n} {op} NEXT(FIRST({other}.{n}))",
        ]  # fmt: skip
        kinds = [of_row, of_row, of_row, settled, of_mapping]
        return rng.choice(ahead if self.chance(0.06) else rng.choice(kinds))

    # --- measures --------------------------------------------------------------------------------------------------

    def measures(self) -> list[str]:
        """The first two are numbers, so that another view can read them; then up to three others."""
        x, y = self.called
        out = [f"{self.integer()} AS {x}", f"{self.integer()} AS {y}"]
        return out + [f"{self.measure()} AS {x}{i}" for i in range(self.rng.randint(0, 3))]

    def mode(self) -> str:
        return self.rng.choice(("", "", "RUNNING ", "FINAL "))

    def integer(self) -> str:
        n, other = self.numbers[0], self.rng.choice(self.variables)
        return self.rng.choice((
            "COUNT(*)", f"{self.mode()}SUM({n})", f"LAST({n})", f"FIRST({other}.{n})", f"{other}.{n}", "MATCH_NUMBER()",
            f"{self.mode()}COUNT({other}.*)", f"{self.mode()}MAX({other}.{n})",
        ))  # fmt: skip

    def measure(self) -> str:
        rng, n = self.rng, self.number()
        other = rng.choice([*self.variables, *(["U"] if self.union else [])])
        mode, few = self.mode(), rng.randint(0, 2)
        forms = [
            "CLASSIFIER()", f"CLASSIFIER({other})", f"{mode}FIRST({n}, {few})", f"{mode}LAST({other}.{n}, {few})",
            f"PREV({n}, {few})", f"PREV({mode}LAST({other}.{n}, {few}), 1)", f"PREV({mode}FIRST({n}))",
            f"{mode}ARRAY_AGG({other}.{n})", f"{mode}ARRAY_AGG(CLASSIFIER())", f"{mode}ARRAY_AGG(DISTINCT {n})",
            f"{mode}AVG({n})", f"{mode}STDDEV({other}.{n})", f"{mode}STDDEV_POP({n})", f"{mode}MIN({other}.{n})",
            f"{mode}COUNT(DISTINCT {other}.{n})", f"{mode}SUM(DISTINCT {other}.{n})", f"{mode}COUNT({n})",
            f"{mode}MAX_BY({n}, {self.number()})", f"{mode}MIN_BY({other}.{n}, {other}.{self.number()})",
            f"{n} + {other}.{n} * 2", f"COALESCE({other}.{n}, -1)", f"{mode}LAST(time) - {mode}FIRST(time)",
            f"CASE WHEN {mode}COUNT({other}.*) > 1 THEN 'many' WHEN {n} > 1 THEN CLASSIFIER() END",
            f"PREV(CLASSIFIER(), {few})", f"{mode}SUM({other}.{n} * {other}.{n})", f"{mode}SUM(MATCH_NUMBER())",
            f"{mode}COUNT(*) * MATCH_NUMBER()", f"{other}.{n} IS NULL", f"{mode}LAST({other}.time)",
        ]  # fmt: skip
        if self.key is not None:
            forms += [f"{self.key} || '.' || CLASSIFIER()", f"{mode}MAX({other}.{self.key})", f"FIRST({self.key})"]
            forms += [f"{mode}MIN_BY({self.key}, {n})", f"{mode}COUNT(DISTINCT {self.key})"]
        ahead = [f"NEXT({n})", f"NEXT(CLASSIFIER())", f"NEXT({mode}FIRST({other}.{n}), {few})"]  # noqa: F541
        return rng.choice(ahead if self.chance(self.program.ahead) else forms)

    # --- outside ---------------------------------------------------------------------------------------------------

    def items(self) -> str:
        if self.chance(0.7):
            return "*" if self.chance(0.8) else "m.*"
        x, y = self.called
        forms = (f"{x} + {y} AS z", "time AS t", f"{x} * 2 AS z, {y} IS NULL AS n", f"COALESCE({x}, {y}, 0) AS z")
        return f"{x}, m.{y}, {self.rng.choice(forms)}"

    def outer(self) -> str:
        x, y = self.called
        return self.rng.choice((f"{x} > 1", f"{y} IS NOT NULL", f"m.{x} <> {y} OR {x} = 0", f"{x} IN (1, 2, 3)"))


_SHOWN = (
    "ALL ROWS PER MATCH SHOW EMPTY MATCHES", "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
)  # fmt: skip


def _words(pattern: str) -> set[str]:
    return set("".join(c if c.isalpha() else " " for c in pattern).split())
