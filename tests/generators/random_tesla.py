"""Random TESLA programs with small histories: every construct of the language, in combination, valid by construction.

:func:`random_program` is a function of its ``random.Random`` alone, so a failing program is found again by its seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.generators.histories import random_history, shifted
from tests.generators.random_tesla_rule import RuleWriter
from tests.generators.random_tesla_words import DURATION, Words

from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema
from occurs.testing.cases import KINDS, Case


def random_program(rng: random.Random, *, most_events: int = 25, recursion: bool = True) -> Case:
    """A case without expectation: rules, events in no order, clock, kind of time."""
    return _Program(rng, recursion).case(most_events)


class _Program(Words):
    def case(self, most_events: int) -> Case:
        rng = self.rng
        rules = [r for i, t in enumerate(self.derived) for r in self.rules(i, t)]
        if self.chance(0.2):
            rng.shuffle(rules)
        schemas = {t: Schema(tuple(self.schemas[t].items())) for t in self.given}
        if self.chance(0.15):
            # events of a derived type may also be given (an attribute of duration has no literal in data)
            name = rng.choice(self.derived)
            if DURATION not in self.schemas[name].values():
                schemas[name] = Schema(tuple(self.schemas[name].items()))
        events = random_history(
            rng,
            schemas,
            max(rng.randint(3, most_events), rng.randint(3, most_events)),
            nulls=rng.choice((0.0, 0.1, 0.25)),
            keys=rng.choice((1, 1, 2, 3)),
            sequences=self.chance(0.2),
        )
        if self.chance(0.1):
            events = [replace(e, attributes={**e.attributes, **self.not_a_number(e.attributes)}) for e in events]
        # what the data do not show has to be declared
        head = [self.declaration(t) for t in self.given if self.chance(0.4) or not self.shown(t, events)]
        if self.chance(0.15):
            head.append(self.declaration(rng.choice(self.derived)))
        lines = [*head, *rules]
        if self.chance(0.15):
            lines += [self.subscription() for _ in range(rng.randint(1, 2))]
        shift = rng.choice((0, 0, 0, 0, -10, -30))
        scale = 60_000_000 if self.unit == "timestamp" else 1
        start = shift + rng.randint(-3, 5) if self.chance(0.12) else None
        until = shift + rng.randint(14, 24) if self.chance(0.12) else None
        return Case(
            name="random",
            rules="\n".join(lines),
            events=tuple(shifted(events, shift * scale, scale)),
            kind=KINDS[self.unit],
            start=None if start is None else start * scale,
            until=None if until is None else until * scale,
        )

    def shown(self, name: str, events: Sequence[Occurrence]) -> bool:
        """Whether every attribute of a type has a value in some event."""
        rows = [e.attributes for e in events if e.type == name]
        return all(any(r.get(a) is not None for r in rows) for a in self.schemas[name])

    def not_a_number(self, attributes: object) -> dict[str, float]:
        return {"X": float("nan")} if isinstance(attributes, dict) and "X" in attributes and self.chance(0.2) else {}

    def declaration(self, name: str) -> str:
        attributes = ", ".join(f"{a}: {t}" for a, t in self.schemas[name].items() if t is not DURATION)
        if DURATION in self.schemas[name].values():
            return f"-- {name} is not declared"
        return f"event {name}({attributes})"

    def subscription(self) -> str:
        name = self.rng.choice(self.derived + self.given[:1])
        if self.chance(0.3):
            return f"Subscribe({name})"
        return f"Subscribe({name}, {self.own_test(name)})"

    def rules(self, level: int, name: str) -> list[str]:
        """One or two rules for a type; of a program with recursion the second looks back at derived types."""
        count = 2 if self.recursive or self.chance(0.25) else 1
        return [RuleWriter(self, level, name, self.recursive and i > 0).text() for i in range(count)]
