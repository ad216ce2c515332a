"""``occurs explain``: the plan in words."""

from __future__ import annotations

from dataclasses import fields

import click

from occurs.cli import _input, _options


@click.command("explain")
@_options.rules
@_options.inputs(required=False)
def command(given: _options.Input, rules: tuple[str, ...], language: str | None) -> None:
    """Say what runs where: evaluation order, stages, keys, how much past is kept and why, what is vectorised."""
    program = _input.load(rules, language)
    if not given.events:
        click.echo(program.explain())
        return
    options = given.options()
    keywords = {f.name: getattr(options, f.name) for f in fields(options) if f.name != "type_names"}
    click.echo(program.explain(_input.read(program, given), **keywords))
