"""``occurs studio``: the web application."""

from __future__ import annotations

from pathlib import Path

import click

from occurs.errors import UsageProblem

_PACKAGES = ("starlette", "uvicorn", "msgspec")


@click.command("studio")
@click.argument("directory", default=".", metavar="[DIR]", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", help="Port; 0 takes any.  [default: the first free from 8321]"
)
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
@click.option("--example", metavar="NAME", help="Copy an example (labor, flights, maritime) into DIR/NAME.")
def command(directory: str, port: int | None, no_browser: bool, example: str | None) -> None:
    """Write, run and question rules in the browser.

    Serves one directory of rules and events to this machine alone and prints the address of its page.  Ctrl-C ends it.
    """
    try:
        from occurs.studio import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        text = f"the studio needs the package {error.name}, which is not installed"
        raise UsageProblem.of("missing-package", text, hint='pip install "occurs[studio]"') from None
    root = Path(directory)
    if example is not None:
        root = _copied(example, root)
    server.serve(root, port, browser=not no_browser)


def _copied(name: str, root: Path) -> Path:
    """Copy the example beside what is there, and return its directory."""
    from occurs.studio import samples

    if name not in samples.names():
        text = f"there is no example `{name}`"
        raise UsageProblem.of("bad-option", text, hint=f"examples: {', '.join(samples.names())}")
    try:
        samples.copy(name, root)
    except FileExistsError:
        text = f"{root / name} exists already"
        raise UsageProblem.of("bad-option", text, hint=f"open it: occurs studio {root / name}") from None
    return root / name
