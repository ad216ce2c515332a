"""How far a run is, on stderr, if a person is looking at it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from occurs import progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: seconds between two looks at what Spark has done
EVERY = 0.3


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """A bar of so many steps; yields what is told of each: how many are done, of how many."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, of: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, of: bar.update(task, completed=done, total=of)


@contextmanager
def detecting(spark: bool) -> Iterator[progress.Told | None]:
    """A bar while a program runs, on Spark with its tasks; what Spark raises becomes an error of ours.

    Yields what a run in this process is to tell how far it is, None if it need not.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        with _errors(spark):
            yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("detecting", total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, description="detecting (Spark tasks)", completed=done, total=total or None)

        def here(so_far: progress.Progress) -> None:
            text = f"detecting ({so_far.found:,} found)"
            bar.update(task, description=text, completed=so_far.done, total=so_far.total)

        with _errors(spark), _watched(told) if spark else _nothing():
            yield None if spark else here


def _errors(spark: bool) -> AbstractContextManager[None]:
    from occurs.connect.sparkerrors import own_errors

    return own_errors() if spark else _nothing()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _watched(told: Any) -> Iterator[None]:
    """Calls ``told(done, total)`` with the tasks of the stages that run, while the body runs."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        yield
        return
    if hasattr(session, "registerProgressHandler") and not hasattr(session, "_jsparkSession"):  # Spark Connect

        def count(stages: Any = None, **_: Any) -> None:
            told(sum(s.num_completed_tasks for s in stages or ()), sum(s.num_tasks for s in stages or ()))

        handler: Any = count  # what Spark calls a handler is a protocol with every argument by name
        session.registerProgressHandler(handler)
        try:
            yield
        finally:
            session.removeProgressHandler(handler)
        return
    stop = threading.Event()
    thread = threading.Thread(target=_poll, args=(session, told, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _poll(session: SparkSession, told: Any, stop: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    while not stop.wait(EVERY):
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        known = [s for s in stages if s is not None]
        if known:
            told(sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known))
