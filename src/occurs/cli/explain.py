"""``occurs explain``: the plan in words."""

from __future__ import annotations

import json
from typing import Any

import click

from occurs.cli import _input, _options


@click.command("explain")
@_options.rules
@_options.inputs(required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON, for programs.")
def command(
    given: _options.Input, rules: tuple[str, ...], language: str | None, values: dict[str, Any], as_json: bool
) -> None:
    """Show the execution plan: evaluation order, stages, partition keys, state retention.

    With --events, the plan also shows the columns that the data has.
    """
    program = _input.load(rules, language, values=values)
    events = None
    if given.events:
        with _input.doing("reading"):
            events = _input.read(program.checked, given)
    plan = program.explain(events, **_input.arguments(given))
    click.echo(json.dumps(plan.data, indent=2, ensure_ascii=False) if as_json else plan)
