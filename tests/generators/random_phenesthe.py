"""Random Phenesthe programs with small histories: every construct, in combination, right by construction.

:func:`random_program` is a function of its ``random.Random`` alone, so a failing program is found again by its seed.
Its histories have few values and few instants, so that joins hit, intervals touch and what happens happens at once.
As most formulas find nothing even so, and what finds nothing proves little, several are tried against the reference.
"""

from __future__ import annotations

import random
from typing import Any

from tests.generators.random_phenesthe_formula import MOST, Formulas
from tests.generators.random_phenesthe_words import (
    DYNAMIC,
    EVENT,
    FACT,
    KEY,
    STATE,
    Known,
    Vars,
    Words,
    kind_of,
    merged,
)
from tests.textcases.phenesthe import LastingCase, Written

from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.render import render
from occurs.languages.phenesthe.semantics import Row, clocked, derived, inputs
from occurs.languages.phenesthe.semantics.formulas import Formulas as Meanings
from occurs.model.types import Type
from occurs.testing.cases import KINDS

#: 5 January 2024, 09:00 UTC, in microseconds
_NINE = 1_704_445_200_000_000
_MINUTE = 60_000_000
#: formulas that are tried until one finds something
_TRIES = 8


def random_program(
    rng: random.Random, *, most_rows: int = 60, most_definitions: int = 5, clock: bool = True
) -> LastingCase:
    """A case in batch mode without expectation; ``clock``: some have ends of the clock."""
    return _Program(rng).case(most_rows, most_definitions, clock)


class _Program:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.words = Words(rng)
        unit = rng.choice(("none", "none", "none", "s", "timestamp"))
        self.kind = KINDS[unit]
        self.scale = _MINUTE if self.kind.timestamp else 1
        self.shift = _NINE if self.kind.timestamp else rng.choice((0, 0, 0, -10))
        self.span = rng.choice((12, 20, 20, 30))
        #: where things happen together
        self.popular = [rng.randint(0, self.span) for _ in range(max(3, self.span // 3))]
        self.nulls = rng.choice((0.0, 0.0, 0.05, 0.15))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def case(self, most_rows: int, most_definitions: int, clock: bool) -> LastingCase:
        rng = self.rng
        self.inputs()
        given = list(self.words.known)
        rows = self.rows(given, rng.randint(most_rows // 4, most_rows))
        facts, outside = self.facts()
        times = {}
        if clock and self.chance(0.1):
            times["until"] = self.at(rng.randint(self.span // 2, self.span + 3))
        if clock and self.chance(0.06):
            times["start"] = self.at(rng.randint(-2, self.span // 3))
        before: list[syntax.Statement] = [*(self.declaration(p, rows) for p in given), *facts]
        self.meanings = self.meanings_of(before, rows, outside, times)
        definitions = [self.tried(i) for i in range(rng.randint(1, most_definitions))]
        if self.chance(0.2):
            rng.shuffle(definitions)
        statements = [*before, *definitions]
        return LastingCase(
            name="random",
            rules="".join(f"{render(s)}\n" for s in statements),
            rows=tuple(rows),
            facts=tuple(outside),
            expected=None,
            error=None,
            mode="batch",
            kind=self.kind,
            times=times,
            text="",
            file="random",
            line=0,
        )

    def at(self, tick: int) -> int:
        return tick * self.scale + self.shift

    # --- what there is ----------------------------------------------------------------------------------------------

    def inputs(self) -> None:
        """One event with everything, and some further events, states and dynamics."""
        rng, known = self.rng, self.words.known
        known.append(Known("a", EVENT, (("k", "k"), ("l", "k"), ("n", "n")), key=0))
        shapes = ((), (("k", "k"),), (("k", "k"),), (("k", "k"), ("n", "n")), (("k", "k"), ("l", "k")))
        names = [(name, EVENT) for name in "bc"[: rng.randint(1, 2)]]
        names += [(name, STATE) for name in "pq"[: rng.choice((0, 1, 1, 2))]]
        names += [(name, DYNAMIC) for name in "xy"[: rng.choice((0, 0, 1, 2))]]
        for name, sort in names:
            shape = rng.choice(shapes)
            changes = sort == STATE and self.chance(0.3)
            known.append(Known(name, sort, shape, changes, key=0 if shape else None))

    def facts(self) -> tuple[list[syntax.Statement], list[Written]]:
        """Facts in the program, or declared with rows from outside, or both."""
        statements: list[syntax.Statement] = []
        outside: list[Written] = []
        for name, kinds in (("f", "kk"), ("g", "kn")):
            if not self.chance(0.35):
                continue
            declared = self.chance(0.5)
            names = "kl" if kinds == "kk" else "kn"
            attributes = tuple((names[i] if declared else f"a{i + 1}", kind) for i, kind in enumerate(kinds))
            self.words.known.append(Known(name, FACT, attributes))
            count = self.rng.randint(1, 4)
            rows = [tuple(self.words.constant(kind) for kind in kinds) for _ in range(count)]
            split = self.rng.randint(0, count) if declared else count
            if declared:
                typed = (syntax.Attribute(syntax.Name(n), self.type_of(k)) for n, k in attributes)
                statements.append(syntax.Declaration(FACT, syntax.Name(name), tuple(typed)))
            statements += [syntax.Fact(syntax.Name(name), row) for row in rows[:split]]
            outside += [Written(name, tuple(c.value for c in row)) for row in rows[split:]]
        return statements, outside

    def type_of(self, kind: str) -> Type:
        floats = any(isinstance(n, float) for n in self.words.numbers)
        return self.words.key_type if kind == "k" else Type.FLOAT if floats else Type.INT

    def declaration(self, p: Known, rows: list[Written]) -> syntax.Declaration:
        """Types are declared if the data do not show them, and at times else."""
        mine = [r for r in rows if r.type == p.name]
        hidden = any(all(r.values[i] is None for r in mine) for i in range(len(p.attributes)))
        typed = hidden or self.chance(0.3)
        attributes = (syntax.Attribute(syntax.Name(n), self.type_of(k) if typed else None) for n, k in p.attributes)
        return syntax.Declaration(p.sort, syntax.Name(p.name), tuple(attributes), changes=p.changes)

    def meanings_of(
        self, before: list[syntax.Statement], rows: list[Written], outside: list[Written], times: dict[str, int]
    ) -> Meanings:
        """What the inputs and facts are to the reference semantics."""
        names = {s.name.text: [a.name.text for a in s.attributes] for s in before if isinstance(s, syntax.Declaration)}
        history = [Row(r.type, r.time or 0, r.attributes(names[r.type]), r.end) for r in rows]
        clock = list(clocked(history, times.get("start"), times.get("until")))
        facts: dict[str, list[dict[str, Any]]] = {}
        for row in outside:
            facts.setdefault(row.type, []).append(row.attributes(names[row.type]))
        last = max((t for r in clock for t in (r.time, r.end) if t is not None), default=0)
        return Meanings(dict(inputs(before, clock, facts)), self.kind, times.get("until", last))

    def tried(self, number: int) -> syntax.Definition:
        """A definition of any sort that finds something, if there is one among a few; those behind it know it."""
        sort = self.rng.choice((EVENT, STATE, STATE, DYNAMIC, DYNAMIC, DYNAMIC))
        for _ in range(1 if self.chance(0.05) else _TRIES):
            definition = self.definition(sort, f"{sort[0]}{number + 1}")
            found = derived(definition, self.meanings, None)
            if found.rows:
                break
        self.meanings.known = {**self.meanings.known, definition.name.text: found}
        # constants in a head are keys
        kinds = [kind_of(a.value.name) if isinstance(a.value, syntax.Variable) else "k" for a in definition.head]
        attributes = tuple(zip((a.name.text for a in definition.head), kinds))
        values = [a.value.name if isinstance(a.value, syntax.Variable) else None for a in definition.head]
        key = values.index(KEY) if KEY in values else None
        self.words.known.append(Known(definition.name.text, sort, attributes, given=False, key=key))
        return definition

    def definition(self, sort: str, name: str) -> syntax.Definition:
        rng = self.rng
        variables = self.variables()
        formulas = Formulas(self.words, self.kind, self.scale)
        depth = rng.choice((1, 1, 2, 2, 3))
        where = None
        if self.chance(0.15):
            body, where = formulas.joined(formulas.maker(sort), variables, depth)
        else:
            body = formulas.maker(sort)(variables, depth)
        head = [self.head_argument(v, i) for i, v in enumerate(rng.sample(variables, len(variables)))]
        if len(head) < MOST and self.chance(0.08):
            head.append(syntax.HeadArgument(syntax.Name("fixed"), self.words.constant("k")))
        return syntax.Definition(sort, syntax.Name(name), tuple(head), body, where)

    def variables(self) -> Vars:
        """0 to 3 variables for a head."""
        names = self.rng.choice(
            ((), ("X",), ("X",), ("X",), ("X", "Y"), ("X", "N"), ("N",), ("X", "Y", "N"), ("X", "Y"))
        )
        return merged(names, [KEY] * self.words.keyed)

    def head_argument(self, variable: str, place: int) -> syntax.HeadArgument:
        name = f"r{place}" if self.chance(0.1) else variable
        return syntax.HeadArgument(syntax.Name(name), syntax.Variable(variable))

    # --- what happens -----------------------------------------------------------------------------------------------

    def rows(self, types: list[Known], count: int) -> list[Written]:
        weights = [self.rng.choice((0, 1, 2, 3, 3)) for _ in types]
        weights[0] = max(weights[0], 2)
        chosen = self.rng.choices(types, weights, k=count)
        return [row for p in chosen for row in [self.row(p)] * (2 if self.chance(0.03) else 1)]

    def instant(self) -> int:
        """Often one where more happens; some are near the end, for what is open then to have lasted a little."""
        roll = self.rng.random()
        if roll < 0.5:
            return self.rng.choice(self.popular)
        return self.rng.randint(self.span - 5 if roll > 0.88 else 0, self.span)

    def row(self, p: Known) -> Written:
        values = tuple(self.value(kind) for _, kind in p.attributes)
        if p.changes:
            return Written(p.name, values, {"holds": self.chance(0.5)}, self.at(self.instant()))
        if p.sort == EVENT:
            return Written(p.name, values, {}, self.at(self.instant()))
        begin, end = sorted((self.instant(), self.instant()))
        if self.chance(0.6):
            end = begin + self.rng.randint(1, 8)
        if begin == end and self.chance(0.8):
            end += 1
        open_ = self.chance(0.1)
        return Written(p.name, values, {}, self.at(begin), None if open_ else self.at(end), lasting=True)

    def value(self, kind: str) -> Any:
        if self.chance(self.nulls):
            return None
        return self.words.constant(kind).value
