"""``occurs check``: all problems of rules, and with events of their schemas."""

from __future__ import annotations

from typing import Any

import click

import occurs
from occurs.cli import _input, _options
from occurs.cli._messages import tally
from occurs.cli._output import left_out
from occurs.errors import Problem
from occurs.plan.notes import placed


@click.command("check")
@_options.rules
@_options.inputs(required=False)
@_options.severity
@_options.formula
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    values: dict[str, Any],
    strict: bool,
    require_bounds: bool,
    max_formula: int | None,
) -> None:
    """Check rules for errors and for unbounded state.

    Reports every problem in syntax, names and types, and every cycle.  With --events, also checks the rules against the
    columns and the types of the data.  Exit status 2 if there is an error.
    """
    program = occurs.load(*rules, language=language, max_formula=max_formula, values=values).checked
    program = program.adjusted(zone=given.zone, facts=_input.facts(given))
    problems: list[Problem] = program.check()
    if given.events:
        with _input.doing("reading"):
            history = program.history(_input.read(program, given), given.options())
        problems = program.check(history.schemas, history.kind)
        if not any(p.severity == "error" for p in problems):
            problems += placed(history.notices, program.plan(history.schemas, history.kind))
        left_out(history.counts)
    _input.judge(problems, strict=strict, require_bounds=require_bounds)
    click.echo(tally(problems), err=True)
