"""``occurs epl``: the canonical text of EPL rules or of a graphical model, and the model of a text."""

from __future__ import annotations

from pathlib import Path

import click

from occurs.cli import _options
from occurs.connect.atomic_files import new_file, write_whole
from occurs.errors import UsageProblem, raise_problems

#: of graphical models
MODEL = ".pattern.json"
#: of the files of MEdit4CEP; a diagram is told from a model by its content
MEDIT = (".domain", ".pattern", ".eventpattern", ".domain_diagram", ".pattern_diagram")


@click.command("epl")
@click.argument("rules", metavar="RULES.epl|MODEL")
@click.option("--out", "-o", metavar="PATH", help=f"Write to this file; with suffix {MODEL}, write a graphical model.")
@_options.overwrite
def command(rules: str, out: str | None, overwrite: bool) -> None:
    """Format EPL text, or convert it to or from a graphical model.

    Prints RULES.epl, or the pattern of a graphical model, as canonical text that Esper accepts: one line per clause,
    only the parentheses that precedence needs, no comments.  With -o X.pattern.json, one statement and the schemas of
    its types are converted to a model.  MODEL is X.pattern.json, or a file X.pattern or X.domain of MEdit4CEP.
    With --overwrite, the output may replace RULES.epl itself.
    If the text or the model has errors, all of them are reported, nothing is written and the exit status is 2.
    """
    from occurs.loading import text_of

    target = new_file(out, "--out", overwrite) if out is not None and out != "-" else None
    text = _made(text_of(Path(rules)), rules, target is not None and target.name.endswith(MODEL))
    if target is None:
        click.echo(text, nl=False)
        return
    write_whole(target, text.encode(), str(out))


def _made(text: str, file: str, model: bool) -> str:
    """What is asked for of the text of a file: its canonical text, or a model."""
    if file.lower().endswith(".json"):
        from occurs.languages.epl.model.to_text import text_of

        if model:
            raise UsageProblem.of("bad-option", f"{file} is already a model", hint="write its text with -o X.epl")
        return text_of(text, file)
    if file.lower().endswith(MEDIT):
        from occurs.languages.epl.model import dump, from_medit

        return dump(from_medit.model_of(text, file)) if model else from_medit.text_of(text, file)
    if model:
        from occurs.languages.epl.model import dump
        from occurs.languages.epl.model.from_text import model_of

        return dump(model_of(text, file))
    from occurs.languages.epl.parser import parse
    from occurs.languages.epl.render import render

    tree, problems = parse(text, file)
    raise_problems(problems)
    return render(tree)
