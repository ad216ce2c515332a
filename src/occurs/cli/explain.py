"""``occurs explain``: the plan in words."""

from __future__ import annotations

import click

from occurs.cli import _input, _options


@click.command("explain")
@_options.rules
@_options.inputs(required=False)
def command(given: _options.Input, rules: tuple[str, ...], language: str | None) -> None:
    """Show the execution plan: evaluation order, stages, partition keys, state retention.

    With --events, the plan also shows the columns that the data has.
    """
    program = _input.load(rules, language)
    if not given.events:
        click.echo(program.explain(**_input.arguments(given)))
        return
    with _input.doing("reading"):
        events = _input.read(program, given)
    click.echo(program.explain(events, **_input.arguments(given)))
