"""An object store in memory: it has no rename, shows deleted objects for a while, and can stop at every operation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from occurs.connect.store import Store


@pytest.fixture
def without_rename(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is renamed, on this machine either."""

    def refused(*arguments: object) -> None:
        raise AssertionError(f"rename {arguments}")

    monkeypatch.setattr(os, "rename", refused)
    monkeypatch.setattr(os, "replace", refused)


class Killed(BaseException):
    """The process is gone: nothing of it runs any more."""


@dataclass
class Shelf:
    """What is stored, for all processes.  ``lag``: operations during which a deleted object is still shown."""

    lag: int = 3
    objects: dict[str, bytes] = field(default_factory=dict)
    #: deleted objects, and the operation up to which each is shown
    ghosts: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    operations: int = 0

    def shown(self) -> dict[str, bytes]:
        ghosts = {name: data for name, (data, until) in self.ghosts.items() if until >= self.operations}
        return {**ghosts, **self.objects}


class ObjectStore(Store):
    """The view of one process, which is killed at the operation ``killed_at`` (the first is 1): before it is done, or
    ``after`` that.  ``before``: called with every operation before it is done, so that another process can run there.
    """

    def __init__(
        self, shelf: Shelf, *, killed_at: int = 0, after: bool = False, before: Callable[[str], None] | None = None
    ) -> None:
        self.shelf, self.killed_at, self.after, self.before = shelf, killed_at, after, before
        self.done: list[str] = []
        self.dead = False

    @contextmanager
    def _operation(self, what: str) -> Iterator[None]:
        if self.dead:
            raise Killed
        if self.before is not None:
            self.before(what)
        self.done.append(what)
        self.shelf.operations += 1
        self.dead = len(self.done) == self.killed_at
        if self.dead and not self.after:
            raise Killed
        yield
        if self.dead:
            raise Killed

    def put_new(self, name: str, data: bytes) -> bool:
        with self._operation(f"put_new {name}"):
            made = name not in self.shelf.objects
            if made:
                self.shelf.objects[name] = bytes(data)
        return made

    def put(self, name: str, data: bytes, *, stamp: float | None = None) -> None:
        with self._operation(f"put {name}"):
            self.shelf.objects[name] = bytes(data)

    def get(self, name: str, *, last: int | None = None) -> bytes | None:
        with self._operation(f"get {name}"):
            found = self.shelf.shown().get(name)
        return found if found is None or last is None else found[-last:]

    def list(self, folder: str = "", *, deep: bool = False) -> list[str]:
        base = f"{folder}/" if folder else ""
        with self._operation(f"list {folder}"):
            names = {name for name in self.shelf.shown() if name.startswith(base)}
        return sorted(names if deep else {base + name.removeprefix(base).split("/")[0] for name in names})

    def delete(self, name: str) -> None:
        with self._operation(f"delete {name}"):
            if name in self.shelf.objects:
                self.shelf.ghosts[name] = (self.shelf.objects.pop(name), self.shelf.operations + self.shelf.lag)

    def address(self, name: str = "") -> str:
        return f"mem://shelf/{name}" if name else "mem://shelf"
