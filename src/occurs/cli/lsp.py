"""``occurs lsp``: the language server for editors."""

from __future__ import annotations

import click

from occurs.errors import UsageProblem

_PACKAGES = ("pygls", "lsprotocol", "cattrs", "attrs")


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout, which is the only way; editors pass it.")
def command(stdio: bool) -> None:
    """Serve rules to an editor over the Language Server Protocol.

    Editors start this command themselves and speak to it over stdin and stdout: problems while you type, completion,
    explanations, definitions and uses, new names, layout of EPL, outline.
    """
    try:
        from occurs.lsp.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        text = f"the language server needs the package {error.name}, which is not installed"
        raise UsageProblem.of("missing-package", text, hint='pip install "occurs[lsp]"') from None
    server().start_io()
