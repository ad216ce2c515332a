"""``occurs why-not``: the smallest repairs of the rules that make a missing detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from occurs.cli import _explaining, _input, _options
from occurs.connect.files import read_sources
from occurs.connect.places import user_path
from occurs.errors import UsageProblem
from occurs.model.astext import dumps


@click.command("why-not")
@_options.rules
@_options.inputs(required=False, typed=False)
@click.option("--type", required=True, metavar="TYPE", help="Type of the detection.")
@_explaining.question
@click.option(
    "--edits",
    type=click.IntRange(1, 4),
    default=2,
    show_default=True,
    metavar="N",
    help="Maximum number of clauses of a reason.",
)
@click.option("--late", metavar="PATH", help="Rows that arrived too late, as `follow --late` wrote them.")
@click.option("--reach", metavar="DURATION", help="Read events this far before the asked time.  [default: all]")
@click.option(
    "--max-variants",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Maximum number of relaxed programs to try.",
)
@click.option("--repair", type=click.IntRange(1), metavar="N", help="Write the repaired rules of reason N.")
@click.option("--into", metavar="DIR", help="Directory for --repair.")  # fmt: skip
def command(
    given: _options.Input,
    rules: tuple[str, ...],
    language: str | None,
    values: dict[str, Any],
    type: str,
    where: tuple[str, ...],
    between: tuple[str, str] | None,
    at: str | None,
    limit: int,
    max_rows: int,
    out: str | None,
    overwrite: bool,
    edits: int,
    late: str | None,
    reach: str | None,
    max_variants: int,
    repair: int | None,
    into: str | None,
) -> None:
    """Explain why an expected detection is missing.

    Prints the smallest sets of clauses of RULES without which the detection would exist, each with the values that it
    met and needed.  The exit status is 1 if the detection exists; then its derivation is printed.
    """
    if (repair is None) != (into is None):
        raise click.UsageError("--repair N and --into DIR go together")
    _explaining.check_out(out, given.events, overwrite=overwrite)
    program = _input.load(rules, language, values=values)
    events, keywords = _explaining.events_of(program, given)
    values = _explaining.values(program, type, where, events, keywords)
    asked = _explaining.between(between, at)
    dropped = None if late is None else read_sources([late], options=given.options())
    answer = program.why_not(
        type, events, where=values, between=asked, edits=edits, limit=limit, late=dropped, reach=reach,
        max_rows=max_rows, max_variants=max_variants, **keywords,
    )  # fmt: skip
    plain = _explaining.plain_signs()
    if out is not None:
        _explaining.put(out, answer.arrow, answer.data(), answer.timeline, overwrite=overwrite)
    else:
        click.echo(answer.text(ascii=plain))
    if answer.found:
        if out is None:
            from occurs.explain.input import Input
            from occurs.explain.why import why_all

            adjusted, source = Input.of(program.checked, events, keywords)
            found = why_all(adjusted, source, type, where=values, between=asked, limit=limit, max_rows=max_rows)
            click.echo("\n" + "\n\n".join(a.text(ascii=plain) for a in found))
        raise click.exceptions.Exit(1)
    if repair is not None and into is not None:
        _write(answer, repair, into)


def _write(answer: Any, number: int, into: str) -> None:
    """Write the repaired texts of a reason, and the row that it adds."""
    reason = next((r for r in answer.reasons if r.number == number), None)
    if reason is None:
        count = len(answer.reasons)
        raise UsageProblem.of("bad-option", f"--repair {number}: there are {count} reasons")
    folder = user_path(into, "--into")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in reason.texts.items():
        (folder / Path(name).name).write_text(text, "utf-8")
    if reason.added is not None:
        (folder / "added.jsonl").write_text(dumps(dict(reason.added)) + "\n", "utf-8")
    click.echo(f"the repaired rules of reason {number} are in {folder}", err=True)
