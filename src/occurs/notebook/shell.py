"""The cell magic ``%%occurs``, and errors without a traceback, in IPython and Jupyter.

``%load_ext occurs`` brings the magic.  Errors of Occurs say what is wrong with a text, a table or an option, so they
are shown as they print themselves, and not below the frames of this package.
"""

from __future__ import annotations

import keyword
import shlex
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from occurs.errors import OccursError, SyntaxProblem, UsageProblem

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_USAGE = (
    "use %%occurs LANGUAGE NAME, for example `%%occurs tesla fire`, which assigns the program to the variable `fire`"
)


def load(shell: InteractiveShell, parse: Callable[..., Any]) -> None:
    """Define the cell magic ``%%occurs LANGUAGE NAME``; ``parse`` is :func:`occurs.parse`."""

    def occurs(line: str, cell: str) -> Any:
        """The cell is a program in LANGUAGE; it is put into the variable NAME, and shown."""
        language, name = _words(line)
        # the magic is in line 1 of the cell
        program = parse(f"\n{cell}", language, name=f"%%occurs {language} {name}")
        shell.push({name: program})
        return program

    register: Any = shell.register_magic_function
    register(occurs, "cell", "occurs")
    show_errors(shell)


def unload(shell: InteractiveShell) -> None:
    """Without the magic."""
    shell.magics_manager.magics["cell"].pop("occurs", None)


def _words(line: str) -> tuple[str, str]:
    try:
        words = shlex.split(line)
    except ValueError as error:  # a quote that is not closed, or a backslash at the end
        text = f"%%occurs: `{line}` cannot be split into words: {str(error).lower()}"
        raise UsageProblem.of("bad-option", text, hint=_USAGE) from error
    if len(words) != 2:
        raise UsageProblem.of("bad-option", f"%%occurs needs two words, not {len(words)}", hint=_USAGE)
    language, name = words
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageProblem.of("bad-option", f"%%occurs: `{name}` is not a valid variable name", hint=_USAGE)
    return language, name


def show_errors(shell: InteractiveShell | None = None) -> None:
    """Have syntax errors of rules shown as all errors of Occurs are: IPython takes every SyntaxError for one of Python,
    and does not ask it how it is to be shown.  A handler that somebody else has set stays."""
    if shell is None:
        shell = getattr(sys.modules["IPython"], "get_ipython", lambda: None)()
    if shell is None or shell.custom_exceptions:
        return

    def handler(
        shell: InteractiveShell, kind: type[BaseException], error: OccursError, trace: TracebackType,
        tb_offset: int | None = None,
    ) -> None:  # fmt: skip
        shell._showtraceback(kind, error, error._render_traceback_())

    shell.set_custom_exc((SyntaxProblem,), handler)
