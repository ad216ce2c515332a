"""``occurs epl``: the canonical text of EPL rules."""

from __future__ import annotations

from pathlib import Path

import click

from occurs.connect.whole import Whole
from occurs.errors import ResourceProblem, UsageProblem, raise_problems


@click.command("epl")
@click.argument("rules", metavar="RULES.epl")
@click.option("--out", "-o", metavar="PATH", help="Write the text to this file (it may be RULES.epl itself).")
def command(rules: str, out: str | None) -> None:
    """Print RULES.epl as canonical text, which Esper accepts.

    Every clause has a line, and there are no parentheses but those that precedence needs.  Comments are not kept.
    Exit status 2, with all problems of its syntax, if the text is wrong; then nothing is written.
    """
    from occurs.languages.epl.parser import parse
    from occurs.languages.epl.render import render
    from occurs.loading import text_of

    target = Path(out).expanduser() if out is not None and out != "-" else None
    if target is not None and not target.parent.is_dir():
        raise UsageProblem.of("missing-file", f"--out {out}: there is no directory {target.parent}")
    file, problems = parse(text_of(Path(rules)), rules)
    raise_problems(problems)
    text = render(file)
    if target is None:
        click.echo(text, nl=False)
        return
    try:
        with Whole(target) as whole:
            whole.write(text.encode())
    except OSError as error:
        raise ResourceProblem.of("cannot-write", f"{out}: {error.strerror or error}") from error
