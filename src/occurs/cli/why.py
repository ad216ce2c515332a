"""``occurs why``: the derivations of detections."""

from __future__ import annotations

from typing import Any

import click
import pyarrow as pa

from occurs.cli import _explaining, _input, _options
from occurs.cli._messages import show
from occurs.errors import Problem, UsageProblem


@click.command("why")
@_options.rules
@_options.inputs(required=False, typed=False)
@click.option("--type", metavar="TYPE", help="Type of the detections.")
@click.option("--label", "hex_label", metavar="HEX", help="Label of the detection, 32 hexadecimal digits.")
@_explaining.question
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    values: dict[str, Any],
    type: str | None,
    hex_label: str | None,
    where: tuple[str, ...],
    between: tuple[str, str] | None,
    at: str | None,
    limit: int,
    max_rows: int,
    out: str | None,
    overwrite: bool,
) -> None:
    """Explain why detections exist: their derivations down to the events.

    Name one detection by its --label, or all of a --type that fit --where and --between.
    """
    if (hex_label is None) == (type is None):
        raise click.UsageError("name the detection with --label, or detections with --type")
    _explaining.check_out(out, given.events, overwrite=overwrite)
    program = _input.load(rules, language, values=values)
    events, keywords = _explaining.events_of(program, given)
    asked = _explaining.between(between, at)
    try:
        if hex_label is not None:
            answers = [program.why(hex_label, events, between=asked, max_rows=max_rows, **keywords)]
        else:
            from occurs.explain.input import Input
            from occurs.explain.why import why_all

            assert type is not None
            values = _explaining.values(program, type, where, events, keywords)
            adjusted, source = Input.of(program.checked, events, keywords)
            answers = why_all(
                adjusted, source, type, where=values, between=asked, limit=limit, max_rows=max_rows
            )  # fmt: skip
    except UsageProblem as error:
        if error.kind != "unknown-row":
            raise
        show(error.problems)
        raise click.exceptions.Exit(1) from None
    if not answers:
        text = f"no `{type}` that fits is detected in these events"
        show([Problem("unknown-row", text, hint="`occurs why-not` explains why")])
        raise click.exceptions.Exit(1)
    if out is None:
        click.echo("\n\n".join(a.text(ascii=_explaining.plain_signs()) for a in answers))
        return
    data = [a.data() for a in answers]
    table = pa.concat_tables([a.arrow for a in answers])
    _explaining.put(out, table, data if len(data) > 1 else data[0], answers[0].timeline, overwrite=overwrite)
