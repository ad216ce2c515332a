"""Kernels are compiled beside the work: by another process, which leaves them in the cache.

``python -m occurs.kernel.work`` reads a line per kernel and kinds of arguments (see :func:`line`), compiles what the
cache lacks, and ends with its input.  The words of a line are the module and name of a kernel and one word for each
argument: ``<i8:1C`` is an array of int64 with one dimension, contiguous as in C.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.resources
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from occurs.errors import ResourceProblem
from occurs.kernel import Arrays, Kernel, cache

#: seconds between two looks whether the other process is done
EVERY = 0.25
#: words for Python's own values
_SCALARS = {bool: "bool", int: "int", float: "float", type(None): "none"}


# -- kinds of arguments as text ----------------------------------------------------------------------------------------
def line(kernel: Kernel, arguments: Iterable[Any]) -> str:
    """A kernel and the kinds of its arguments; with a signature of its own it needs none."""
    kinds = () if kernel.signature is not None else map(_kind, arguments)
    return " ".join([kernel.__module__, kernel.__qualname__, *kinds])


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{value.dtype.str}:{value.ndim}{layout}{'' if flags.writeable else '!'}"
    if isinstance(value, np.generic):
        return value.dtype.str
    if isinstance(value, tuple):
        return f"({','.join(map(_kind, value))})"
    if isinstance(value, Arrays):
        return f"list[{value.kind}]"
    return _SCALARS[type(value)]


def numba_type(kind: str) -> Any:
    """Numba's type for a word of a line."""
    from numba import from_dtype, types

    if kind in _SCALARS.values():
        return {"bool": types.boolean, "int": types.int64, "float": types.float64, "none": types.none}[kind]
    if kind.startswith("list["):
        return types.ListType(numba_type(kind[len("list[") : -1]))
    if kind.startswith("("):
        return types.Tuple(tuple(numba_type(part) for part in _parts(kind[1:-1])))
    name, _, form = kind.partition(":")
    item = from_dtype(np.dtype(name))
    if not form:
        return item
    readonly = form.endswith("!")
    form = form.rstrip("!")
    layout: Any = form[-1]
    return types.Array(item, int(form[:-1]), layout, readonly=readonly)


def _parts(text: str) -> Iterator[str]:
    """The words between the commas of a tuple, which may hold tuples."""
    depth, begun = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield text[begun:at]
            begun = at + 1
    if text:
        yield text[begun:]


def compile_line(text: str) -> None:
    """Compile what a line names, or load it from the cache."""
    kernel = kernel_of(text)
    dispatcher = kernel.dispatcher
    if kernel.signature is None:
        dispatcher.compile(tuple(map(numba_type, text.split()[2:])))


def kernel_of(text: str) -> Kernel:
    """The kernel that a line names."""
    module, name = text.split()[:2]
    found: Kernel = getattr(importlib.import_module(module), name)
    return found


# -- the other process -------------------------------------------------------------------------------------------------
@contextmanager
def _alone() -> Iterator[None]:
    """One process of a machine compiles at a time: the next one finds what it has left."""
    place = cache.folder()
    if place is None:
        yield
        return
    import fcntl

    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(answer: bool) -> None:
    """Compile what the lines of the input name.  ``answer``: somebody waits for it, and is told of each."""
    if not answer:
        os.nice(10)
    for text in sys.stdin:
        with nullcontext() if answer else _alone():
            compile_line(text)
        if answer:
            cache.LISTING.again()
            if kernel_of(text) not in cache.LISTING:
                raise SystemExit("its file could not be written")
            print("done", flush=True)


class Beside:
    """The process beside this one, while there is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._waiting: dict[Kernel, set[str]] = {}
        self._looked = 0.0
        self._useless = False

    def compiles(self, kernel: Kernel, arguments: Iterable[Any]) -> bool:
        """Is it at work on this kernel?  It is asked to, if it was not.  If not, it has to be compiled here."""
        with self._lock:
            self._look()
            if self._useless or kernel in cache.LISTING:
                return False
            wanted = line(kernel, arguments)
            asked = self._waiting.setdefault(kernel, set())
            if wanted not in asked:
                asked.add(wanted)
                self._send(wanted)
            return not self._useless

    def _look(self) -> None:
        """Look, now and then, what it has done."""
        now = time.monotonic()
        if self._process is None or now < self._looked + EVERY:
            return
        self._looked = now
        cache.LISTING.again()
        self._waiting = {kernel: asked for kernel, asked in self._waiting.items() if kernel not in cache.LISTING}
        if self._process.poll() is not None:  # it has failed; its log says why
            self._useless = True
        elif not self._waiting:
            self._end()

    def _send(self, wanted: str) -> None:
        place = cache.folder()
        if place is None:  # nothing could be handed over
            self._useless = True
            return
        try:
            if self._process is None:
                self._process = _begun(place / "compiling.log")
                self._looked = time.monotonic()
            self._input().write(wanted + "\n")
            self._input().flush()
        except OSError as problem:
            cache.log.warning("kernels cannot be compiled in the background: %s", problem)
            self._useless = True

    def _input(self) -> IO[str]:
        assert self._process is not None
        assert self._process.stdin is not None
        return self._process.stdin

    def leave(self) -> None:
        """This process ends; the other one does what it was asked, for the next one."""
        if self._process is not None:
            with suppress(OSError):  # it has ended before
                self._input().close()

    def forked(self) -> None:
        """This is a copy of the process that has started the other one: it starts its own, if need be."""
        self._lock = threading.Lock()
        if self._process is not None:
            self.leave()
            self._process.returncode = 0  # nobody waits for it here
            self._process, self._waiting = None, {}

    def _end(self) -> None:
        if self._process is not None:
            with suppress(OSError):
                self._input().close()
            threading.Thread(target=self._process.wait, daemon=True).start()
            self._process = None


def _environment() -> dict[str, str]:
    path = os.pathsep.join(place for place in sys.path if os.path.isabs(place))
    return {**os.environ, "PYTHONPATH": path, "OCCURS_KERNELS": "compiled"}


#: without the current folder, whose files may have the names of modules
_COMMAND = [sys.executable, "-P", "-m", "occurs.kernel.work"]


def _begun(log: Path) -> subprocess.Popen[str]:
    with open(log, "w") as file:
        return subprocess.Popen(
            _COMMAND, env=_environment(), stdin=subprocess.PIPE, text=True,
            stdout=file, stderr=file, start_new_session=True,
        )  # fmt: skip


BESIDE = Beside()
atexit.register(BESIDE.leave)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: BESIDE.forked())


# -- all of them -------------------------------------------------------------------------------------------------------
def all_lines() -> list[str]:
    """The kernels that ordinary code calls, with the kinds of arguments that the tests of Occurs have seen."""
    text = importlib.resources.files("occurs.kernel").joinpath("kernels.txt").read_text()
    return [one for one in text.splitlines() if one and not one.startswith("#")]


def warm(lines: Sequence[str], processes: int, told: Callable[[int, int], None]) -> None:
    """Compile what lines name, in so many processes.  ``told``: how many are done, of how many.

    Raises ResourceProblem if one of them cannot be compiled.
    """
    left, done = iter(lines), itertools.count(1)
    with ThreadPoolExecutor(processes) as threads:
        for one in [threads.submit(_feed, left, lambda: told(next(done), len(lines))) for _ in range(processes)]:
            one.result()


def _feed(lines: Iterator[str], told: Callable[[], None]) -> None:
    """Give one process a line after the other; it answers each."""
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(
            [*_COMMAND, "--answer"], env=_environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        ) as process,
    ):  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for one in lines:
            try:
                process.stdin.write(one + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except BrokenPipeError:
                answer = ""
            if not answer:
                log.seek(0)
                why = log.read().strip().rpartition("\n")[2]
                raise ResourceProblem.of("cannot-write", f"{one.split()[1]} was not compiled: {why}")
            told()


if __name__ == "__main__":
    main(sys.argv[1:] == ["--answer"])
