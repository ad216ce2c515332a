"""The group of commands, and what becomes of errors: messages on stderr and an exit status, never a traceback."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from types import CodeType
from typing import Any

import click

from occurs import __version__
from occurs.cli._messages import show, status
from occurs.errors import OccursError, did_you_mean
from occurs.lean import postpone_pandas


class Commands(click.Group):
    """Commands are the modules beside this one whose name has no underscore in front; imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        import occurs.cli as package

        modules = (m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))
        return sorted(name.replace("_", "-") for name in modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        found = importlib.import_module(f"occurs.cli.{name.replace('-', '_')}").command
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with the first sentence of their help; none of them is imported for it."""
        names = self.list_commands(ctx)
        width = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(n, click.Command(n, help=_docstring(n)).get_short_help_str(width)) for n in names])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OccursError as error:
            show(error.problems)
            ctx.exit(status(error))
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(130)
        except BrokenPipeError:  # `| head` has seen enough
            hush_stdout()
            ctx.exit(0)
        except MemoryError:
            click.echo("error[no-memory]: not enough memory", err=True)
            ctx.exit(1)
        except Exception as error:
            if isinstance(error, click.ClickException | click.exceptions.Exit | click.Abort):
                raise
            if os.environ.get("OCCURS_TRACEBACK"):
                raise
            click.echo(f"error[internal]: {type(error).__name__}: {error}", err=True)
            click.echo("  hint: this is a bug in Occurs; set OCCURS_TRACEBACK=1 to see the traceback", err=True)
            ctx.exit(1)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            hint = did_you_mean(name, self.list_commands(ctx), "commands")
            ctx.fail(f"No such command '{name}'. {hint[0].upper()}{hint[1:]}")
        found = super().resolve_command(ctx, args)
        postpone_pandas()
        return found


def _docstring(name: str) -> str:
    """The docstring of a command, from the compiled code of its module, which does not run."""
    where = f"{__package__}.{name.replace('-', '_')}"
    found = find_spec(where)
    # not by the loader of the module: with the plugin for pytest that is pytest's own, which has no code to show
    code = None if found is None or not found.origin else SourceFileLoader(where, found.origin).get_code(where)
    made = [] if code is None else [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == "command"]
    return next((c.co_consts[0] for c in made if isinstance(c.co_consts[0], str)), "")


def hush_stdout() -> None:
    """What is still buffered for stdout goes nowhere: it could not be written, and need not fail again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="occurs")
def main() -> None:
    """Detect situations in events, in a finished history or in a live stream.

    RULES are files in any mix of languages; the suffix of a file selects its language.  Detections go to stdout,
    everything else to stderr.  Exit status: 0 success, 1 a run or a verification failed, 2 the rules, the input or the
    options are wrong.
    """
