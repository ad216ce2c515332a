"""The laws (operators.md, section 5) for temporal triggers, as functions over one case."""

from __future__ import annotations

import random

from tests.laws import contract
from tests.laws.contract import cutting, meaning, pushing, restart, slicing, splitting
from tests.textcases.logic import LogicCase

from occurs.languages.logic import syntax
from occurs.languages.logic.render import render
from occurs.loading import parse
from occurs.program import Program


def program_of(case: LogicCase) -> Program:
    """The triggers of a case, under its strategy."""
    file = syntax.File(case.definitions, case.tree.name)
    return parse(render(file), language="ptl" if case.past else "ftl", name=case.name)


class Subject(contract.Subject):
    """A case of temporal triggers, planned."""

    def __init__(self, case: LogicCase):
        super().__init__(case, program_of(case))


def all_laws(case: LogicCase, rng: random.Random) -> None:
    """Every law but that of forgetting, on one case."""
    subject = Subject(case)
    meaning(subject)
    cutting(subject, rng)
    restart(subject, rng)
    splitting(subject)
    slicing(subject, rng)
    pushing(subject, rng)


__all__ = ["Subject", "all_laws", "cutting", "meaning", "program_of", "restart", "slicing", "splitting"]
