"""The options ``--monitor`` and ``--otlp``: metrics for Prometheus and OpenTelemetry, health and readiness."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from occurs import __version__
from occurs.cli._messages import say
from occurs.monitoring.instruments import Monitor


def option(command: Callable[..., Any]) -> Callable[..., Any]:
    text = "Send metrics to an OpenTelemetry collector (OTLP over HTTP).  [default: OTEL_EXPORTER_OTLP_ENDPOINT]"
    command = click.option("--otlp", metavar="URL", help=text)(command)
    text = "Serve /metrics (Prometheus), /healthz and /readyz over HTTP; without HOST, to this machine only."
    return click.option("--monitor", metavar="[HOST:]PORT", help=text)(command)


@contextmanager
def monitored(where: str | None, otlp: str | None, application: str) -> Iterator[Monitor | None]:
    """The monitor of an application, which is served and sent while the body runs; None if nobody asks for it.

    ``where``: of ``--monitor``; ``otlp``: the URL of a collector, None: that of the environment.  Raises UsageProblem
    for an address that is wrong, ResourceProblem if it cannot be served or a package is missing.
    """
    url = _collector(otlp)
    if where is None and url is None:
        yield None
        return
    monitor = Monitor.of(application, __version__)
    with ExitStack() as stack:
        if where is not None:
            from occurs.monitoring.prometheus import address, served

            at = stack.enter_context(served(address(where), monitor.instruments, monitor.health))
            say(f"metrics are at {at}/metrics", url=at)
        if url is not None:
            from occurs.monitoring.opentelemetry import sent

            stack.enter_context(sent(url, monitor.instruments, application, __version__))
            say(f"metrics are sent to {url}", url=url)
        yield monitor


def _collector(otlp: str | None) -> str | None:
    """The URL that the option names, else the environment.  The environment of a container may name one for all its
    programs: without the packages for it, a message says so."""
    from occurs.monitoring.opentelemetry import configured, endpoint

    if otlp is not None:
        return endpoint(otlp)
    url = configured()
    if url is not None and importlib.util.find_spec("opentelemetry") is None:
        say(f"metrics are not sent to {url}: pip install 'occurs[opentelemetry]'", logging.WARNING)
        return None
    return url
