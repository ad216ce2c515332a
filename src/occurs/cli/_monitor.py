"""The option ``--monitor``: metrics, health and readiness over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from occurs import __version__
from occurs.cli._messages import say
from occurs.monitoring.instruments import Monitor


def option(command: Callable[..., Any]) -> Callable[..., Any]:
    text = "Serve /metrics (Prometheus), /healthz and /readyz over HTTP; without HOST, to this machine only."
    return click.option("--monitor", metavar="[HOST:]PORT", help=text)(command)


@contextmanager
def monitored(where: str | None, application: str) -> Iterator[Monitor | None]:
    """The monitor of an application, which is served while the body runs; None if it is not asked for.

    Raises UsageProblem for an address that is wrong, ResourceProblem if it cannot be served.
    """
    if where is None:
        yield None
        return
    from occurs.monitoring.prometheus import address, served

    monitor = Monitor.of(application, __version__)
    with served(address(where), monitor.instruments, monitor.health) as url:
        say(f"metrics are at {url}/metrics", url=url)
        yield monitor
