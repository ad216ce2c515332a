"""What is asked of a plan, beside the definitions: options that change what it says, or whether it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from occurs.checked_program import Bound
from occurs.errors import DefinitionProblem, Problem, UsageProblem, hardened
from occurs.model.types import Schema
from occurs.model.values import short
from occurs.operators.definition import Definition, Options


@dataclass(frozen=True)
class PlanOptions:
    """See :meth:`occurs.program.Program.adjusted`; two plans of one program and of equal options are the same.

    ``window``: length and step, as they were given.  ``never``: it is told of triggers that they can fire no more.
    ``because``: of what detections are made is known.
    """

    zone: str = "UTC"
    strict: bool = False
    require_bounds: bool = False
    window: tuple[Any, Any] | None = None
    provisional: bool = False
    timeouts: bool = False
    max_instances: int | None = None
    never: bool = False
    because: bool = False

    def but(self, **changed: Any) -> PlanOptions:
        """These with some of them changed.  Raises UsageProblem for values that cannot be."""
        options = replace(self, **changed)
        hint = 'use a name such as "Europe/Rome" or "UTC"'
        if not isinstance(options.zone, str):
            raise UsageProblem.of("bad-option", f"zone must be text, not {short(options.zone)}", hint=hint)
        try:
            ZoneInfo(options.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            ends = [z for z in sorted(available_timezones()) if z.lower().endswith(f"/{options.zone.lower()}")]
            hint = f"did you mean `{ends[0]}`?" if ends else hint
            raise UsageProblem.of("bad-option", f"`{options.zone}` is not a time zone", hint=hint) from None
        most = options.max_instances
        if most is not None and not (isinstance(most, int) and 1 <= most < 2**63):
            text = f"invalid max_instances: {short(most)}"
            raise UsageProblem.of("bad-option", text, hint="use a whole number of at least 1")
        return options

    def judge(self, problems: list[Problem]) -> None:
        """Raise DefinitionProblem if an option makes errors of warnings."""
        found = hardened(problems, strict=self.strict, require_bounds=self.require_bounds)
        if found != problems:
            raise DefinitionProblem([p for p in found if p.severity != "notice"])

    def applied(self, definitions: list[Definition], bound: Bound, schemas: Mapping[str, Schema]) -> list[Definition]:
        """The compiled definitions of ``bound`` as the options want them.  ``schemas``: of the input."""
        out = list(definitions)
        if self.timeouts:
            first = max((d.place for d in definitions), default=-1) + 1
            for d in definitions:
                ended = d.timeouts(first + len(out) - len(definitions))
                out += [] if ended is None else [ended]
        reasons = {**schemas, **bound.schemas} if self.because else None
        asked = Options(reasons, self.provisional, self.never, self.max_instances)
        return [d.adapted(asked) for d in out]
