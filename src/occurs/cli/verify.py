"""``occurs verify``: the engine against the reference semantics on the user's own events."""

from __future__ import annotations

from typing import Any

import click

from occurs.cli import _input, _options


@click.command("verify")
@_options.rules
@_options.inputs(required=False)
@click.option(
    "--max-events", type=click.IntRange(min=1), metavar="N", help="Maximum number of events.  [default: 20,000]"
)
@_options.first
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    values: dict[str, Any],
    max_events: int | None,
    first: int,
) -> None:
    """Compare the engine with the reference semantics on your events.

    EPL statements that can be translated to nets are also compared with their nets, with black transitions and without.

    The reference is slow, so use a few thousand events at most.  Exit status 1 if the results differ.
    """
    program = _input.load(rules, language, values=values)
    _input.need_events(program.checked, given)
    limits: dict[str, Any] = {"first": first}
    if max_events is not None:
        limits["max_events"] = max_events
    with _input.doing("reading"):
        events = _input.read(program.checked, given)
    with _input.doing("comparing"):
        result = program.verify(events, **limits, **_input.arguments(given))
    click.echo(result.report)
    if not result.equal:
        raise SystemExit(1)
