"""How far a run in this process is: a bar in a notebook or on a terminal, or a function that is told."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: The rows of the input that are processed.
        total: All rows of the input that the program reads.
        at: The time that is reached, in ticks: nothing changes any more up to it.
        found: The detections so far.
    """

    done: int
    total: int
    at: int
    found: int


#: told from time to time how far a run is; what it raises ends the run
Told = Callable[[Progress], None]
#: a bar appears when a run has taken so many seconds
PATIENCE = 0.5


@contextmanager
def watching(progress: bool | Told | None, what: str) -> Iterator[Told | None]:
    """A bar while something runs; yields what is to be told how far it is, None if nobody looks.

    ``progress``: None is True in a notebook, and False elsewhere; a function is told itself.
    """
    if callable(progress):
        yield progress
        return
    notebook = in_notebook()
    if not (notebook if progress is None else progress):
        yield None
        return
    bar: _Bar = _NotebookBar(what) if notebook else _TerminalBar(what)
    began = time.monotonic()

    def told(so_far: Progress) -> None:
        if time.monotonic() - began >= PATIENCE:
            bar.show(so_far.done, so_far.total)

    try:
        yield told
    finally:
        bar.close()


def in_notebook() -> bool:
    """Does a kernel of Jupyter run this?"""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class _Bar:
    def __init__(self, what: str) -> None:
        self.what = what

    def show(self, done: int, total: int) -> None:
        """So much is done."""

    def close(self) -> None:
        """The bar goes away."""


class _NotebookBar(_Bar):
    """An element of HTML in the output of the cell: it needs no widgets."""

    handle: Any = None

    def show(self, done: int, total: int) -> None:
        from IPython.display import HTML, display

        text = f'<progress value="{done}" max="{total}"></progress> {self.what}: {done:,} of {total:,} rows'
        if self.handle is None:
            self.handle = display(HTML(text), display_id=True)
        else:
            self.handle.update(HTML(text))

    def close(self) -> None:
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))


class _TerminalBar(_Bar):
    """A line on stderr."""

    progress: Any = None

    def show(self, done: int, total: int) -> None:
        if self.progress is None:
            from rich.console import Console
            from rich.progress import Progress

            self.progress = Progress(console=Console(stderr=True), transient=True)
            self.task = self.progress.add_task(self.what, total=total)
            self.progress.start()
        self.progress.update(self.task, completed=done)

    def close(self) -> None:
        if self.progress is not None:
            self.progress.stop()
