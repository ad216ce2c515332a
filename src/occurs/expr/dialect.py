"""What may differ between the languages in an expression (common.md, section 6, "the dialect record").

Everything else is the same everywhere: whoever evaluates an expression hands over one of these records, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences of one language.

    ``null_atom``: what a comparison (or a boolean operand of a connective) is that has come out null: unknown
    (``kleene``), or false, with two values above it (``not (null > 1)`` holds).
    ``zero_division``: ``x / 0`` is null, or as IEEE has it: infinite, and ``0 / 0`` NaN.
    ``nan``: NaN is null, or stays a number that compares as IEEE has it.
    ``remainder``: the spellings of remainders (and of the floor division) among the operators of the tree.
    """

    name: str
    null_atom: Literal["kleene", "false"] = "kleene"
    zero_division: Literal["null", "inf"] = "null"
    nan: Literal["null", "keep"] = "null"
    remainder: tuple[str, ...] = ("%",)


TESLA = Dialect("tesla")
EPL = Dialect("epl")
PHENESTHE = Dialect("phenesthe", remainder=("mod",))
LOGIC = Dialect("logic", null_atom="false", remainder=("mod",))
PIPES = Dialect("pipes", zero_division="inf", nan="keep", remainder=("mod", "div"))
MATCH_RECOGNIZE = Dialect("match_recognize")

DIALECTS = {d.name: d for d in (TESLA, EPL, PHENESTHE, LOGIC, PIPES, MATCH_RECOGNIZE)}
