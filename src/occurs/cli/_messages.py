"""Messages on stderr, as text for people or as JSON lines for machines; and the exit status of an error."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from occurs.errors import LimitProblem, OccursError, Problem, ResourceProblem

Decorated = Callable[..., Any]
LEVELS = ("debug", "info", "warning", "error")
#: the attributes that every record has; others were given as ``extra``
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def logged(name: str) -> Callable[[Decorated], Decorated]:
    """Add the options ``--log-format`` and ``--log-level`` to a command, and log to stderr while it runs.

    ``name``: of the logger of :func:`say`, such as ``occurs.follow``.
    """

    def decorate(command: Decorated) -> Decorated:
        @functools.wraps(command)
        def inner(*given: Any, log_format: str, log_level: str, **options: Any) -> Any:
            with logging_to_stderr(name, log_format, log_level):
                return command(*given, **options)

        level = click.option(
            "--log-level", type=click.Choice(LEVELS), default="info", show_default=True,
            help="Least level of the messages on stderr.",
        )  # fmt: skip
        form = click.option(
            "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True,
            help="Format of the messages on stderr.",
        )  # fmt: skip
        return form(level(inner))

    return decorate


#: the logger of the command that runs; module-wide, because Spark calls back in threads of its own
_logger: logging.Logger | None = None


def say(text: str, level: int = logging.INFO, **extra: Any) -> None:
    """Write a message for people to stderr, in the way of the command that runs.  ``extra``: more fields in JSON."""
    if _logger is None:
        click.echo(text, err=True)
    else:
        _logger.log(level, "%s", text, extra=extra)


class _Stderr(logging.Handler):
    """Writes records to stderr."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._json = as_json

    def emit(self, record: logging.LogRecord) -> None:
        try:
            click.echo(as_json(record) if self._json else self.format(record), err=True)
        except Exception:  # as all handlers do: logging.raiseExceptions decides
            self.handleError(record)


def as_json(record: logging.LogRecord) -> str:
    """A record as one line of JSON: ``time``, ``level``, ``logger``, ``message``, and what was given as ``extra``."""
    time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    out: dict[str, Any] = {"time": time.replace("+00:00", "Z"), "level": record.levelname.lower()}
    out |= {"logger": record.name, "message": record.getMessage()}
    out |= {n: v for n, v in vars(record).items() if n not in _OWN and n not in out}
    if record.exc_info:
        out["exception"] = logging.Formatter().formatException(record.exc_info)
    return json.dumps(out, default=str, ensure_ascii=False)


@contextmanager
def logging_to_stderr(name: str, form: str, level: str) -> Iterator[None]:
    """Write what the loggers ``occurs.*`` report to stderr while the body runs; as JSON, its errors, too.

    Args:
        name: The logger of :func:`say`, such as ``occurs.follow``.
        form: ``text`` or ``json``.
        level: The least level, such as ``info``.
    """
    global _logger
    root, handler = logging.getLogger("occurs"), _Stderr(form == "json")
    before = root.level, root.propagate, _logger
    root.addHandler(handler)
    root.setLevel(level.upper())
    # what a library has installed at the root would write each message a second time
    root.propagate = False
    _logger = logging.getLogger(name)
    try:
        yield
    except OccursError as error:
        if form != "json":
            raise
        for problem in error.problems:
            say_problem(problem)
        raise click.exceptions.Exit(status(error)) from error
    finally:
        root.removeHandler(handler)
        root.setLevel(before[0])
        root.propagate, _logger = before[1], before[2]


def say_problem(problem: Problem) -> None:
    """Write a problem, at the level of its severity."""
    level = {"error": logging.ERROR, "warning": logging.WARNING}.get(problem.severity, logging.INFO)
    say(problem.render(), level, kind=problem.kind)


def status(error: OccursError) -> int:
    """The exit status: 1 for limits and resources, 2 for rules, input and options (common.md, section 5)."""
    return 1 if isinstance(error, LimitProblem | ResourceProblem) else 2


def show(problems: list[Problem]) -> None:
    """Every problem on stderr, and how many there are if there are several."""
    for problem in problems:
        say_problem(problem)
    if len(problems) > 1:
        say(tally(problems))


def tally(problems: list[Problem]) -> str:
    """``2 errors, 1 warning``."""
    counts = {s: sum(p.severity == s for p in problems) for s in ("error", "warning", "notice")}
    return ", ".join(f"{n} {s}{'s' if n > 1 else ''}" for s, n in counts.items() if n) or "no problems"
