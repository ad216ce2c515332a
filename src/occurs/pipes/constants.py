"""Constants of Python as functions of pipes, and the values that only pipes have."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from occurs.errors import DefinitionProblem
from occurs.expr.tree import DurationLiteral, Expr, Literal
from occurs.model.time import UNIT_MICROSECONDS, UNITS, Duration, exact_number
from occurs.model.types import Type
from occurs.operators.process.tree import EverySlice, ListOf, SetOf, TrooleanLiteral, TupleOf


class Word:
    """A value with a name of its own; ``truth``: it is also equal to True or False, and counts as that."""

    def __init__(self, name: str, truth: bool | None = None) -> None:
        self.name, self.truth = name, truth

    def __eq__(self, other: object) -> bool:
        return other is self or (self.truth is not None and other is self.truth)

    def __hash__(self) -> int:
        return hash(self.name if self.truth is None else self.truth)

    def __bool__(self) -> bool:
        return self.truth is not False

    def __repr__(self) -> str:
        return self.name


#: ``#``: all slices that exist
ALL: Final = Word("ALL")
#: ``?``: it is not known yet whether T or F
UNKNOWN: Final = Word("UNKNOWN")
#: the output of a state that gives nothing
SILENT: Final = Word("SILENT")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES: dict[type, Type] = {int: Type.INT, float: Type.FLOAT, str: Type.STRING, bool: Type.BOOL}


def constant(value: Any) -> Expr:
    """The function that a constant is: None, bool, int, float, str, datetime, timedelta, ``ALL``, ``UNKNOWN``, lists,
    sets, and dicts as tuples of named columns.  DefinitionProblem of anything else."""
    if value is None:
        return Literal(None, Type.NULL)
    if type(value) in _TYPES:
        return Literal(value, _TYPES[type(value)])
    if value is ALL:
        return EverySlice()
    if value is UNKNOWN:
        return TrooleanLiteral("?")
    if isinstance(value, datetime):
        at = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        return Literal((at - _EPOCH) // timedelta(microseconds=1), Type.TIMESTAMP)
    if isinstance(value, timedelta):
        return DurationLiteral(duration(value))
    if isinstance(value, (list, tuple)):
        return ListOf(tuple(map(constant, value)))
    if isinstance(value, (set, frozenset)):
        return SetOf(tuple(constant(v) for v in sorted(value, key=repr)))
    if isinstance(value, dict):
        return TupleOf(tuple(map(str, value)), tuple(map(constant, value.values())))
    raise DefinitionProblem.of("type-mismatch", f"{value!r} cannot be a constant of a pipe")


_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-zµμ]+)\s*")


def duration(value: Any) -> Duration:
    """The length of time that ``"10 s"``, ``"100 ticks"`` or a timedelta is; DefinitionProblem if it is none."""
    if isinstance(value, Duration):
        found = value
    elif isinstance(value, timedelta):
        found = Duration(Fraction(value // timedelta(microseconds=1)))
    else:
        parts = _AMOUNT.fullmatch(value) if isinstance(value, str) else None
        if parts is None:
            raise DefinitionProblem.of("bad-duration", f'{value!r} is not a duration such as "10 s"')
        unit = UNITS.get(parts[2])
        if unit is None:
            raise DefinitionProblem.of("unknown-unit", f"`{parts[2]}` is not a unit of time")
        micros = 1 if unit == "tick" else UNIT_MICROSECONDS[unit]
        amount = exact_number(parts[1])
        if amount is None:
            raise DefinitionProblem.of("bad-duration", f"{value[:60]!r} is too long for a duration")
        found = Duration(amount * micros, ticks=unit == "tick")
    if found.amount <= 0:
        raise DefinitionProblem.of("bad-duration", f"{value!r} is not a positive duration")
    return found


def whole(value: Any, least: int, what: str) -> int:
    """A count of items; DefinitionProblem (``bad-bound``) if it is none, or less than ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise DefinitionProblem.of("bad-bound", f"{what} must be an integer of at least {least}, not {value!r}")
    return value
