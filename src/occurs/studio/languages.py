"""The language worker as the server sees it: calls one after another, with a limit of time, and restarts."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from occurs.studio.blame import TIMES, Blame, Mark, marks_of
from occurs.studio.http import Refused
from occurs.studio.limits import seconds_of_call
from occurs.studio.shapes import Problem
from occurs.studio.spawning import Processes
from occurs.studio.updates import Updates
from occurs.studio.workers import Ended, Worker, refused

#: seconds after which another start is tried, if one has failed
AGAIN = 2.0


@dataclass(eq=False)
class _Asked:
    """A call that waits for its answer."""

    call: str
    args: dict[str, Any]
    #: calls of the same key overtake each other
    key: str | None
    marks: list[Mark]
    #: bytes of rules
    size: int
    done: asyncio.Future[msgspec.Raw] = field(repr=False)


class Languages:
    """One worker process and the calls that wait for it."""

    def __init__(self, root: Path, updates: Updates, processes: Processes):
        self._updates = updates
        self._waiting: deque[_Asked] = deque()
        self._now: _Asked | None = None
        self._signal = asyncio.Event()
        self._worker = Worker(processes, "occurs.studio.worker", "language worker", root)
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._blame = Blame()
        #: the number of the newest check of each key
        self._newest: dict[str, int] = {}
        self._checks = 0

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        return self._worker.pid

    def start(self) -> None:
        """Start the worker; the engine is imported in the background."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Kill the worker."""
        self._closed = True
        self.kill()
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for asked in (*self._waiting, *([self._now] if self._now else ())):
            if not asked.done.done():
                asked.done.set_exception(_gone("the server ends"))
        await self._worker.wait()

    def kill(self) -> None:
        """End the process at once; the call that it works on fails."""
        self._worker.kill()

    async def check(self, texts: Mapping[str, str], key: str, **args: Any) -> dict[str, Any]:
        """The check of a program, as the members of its answer.

        A newer check with the same ``key``, unless it is empty, overtakes this one (409).  Texts that end the worker
        are left out, and reported.
        """
        self._checks += 1
        number = self._checks
        if key:
            self._newest[key] = number

        async def check(kept: Mapping[str, str]) -> msgspec.Raw:
            if key and self._newest.get(key) != number:
                raise _overtaken()
            return await self._ask("check", {"texts": kept, **args}, kept, f"check {key}" if key else None)

        try:
            raw, left = await self._without_guilty("check", texts, check)
        finally:
            if self._newest.get(key) == number:
                del self._newest[key]
        found: dict[str, Any] = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        return {**found, "problems": [_left_alone(p) for p in sorted(left)] + msgspec.json.decode(found["problems"])}

    async def ask(
        self, call: str, texts: Mapping[str, str], /, needs: Collection[str] | None = None, **args: Any
    ) -> msgspec.Raw:
        """Another call over texts.

        Texts that end the worker are left out of its argument ``texts`` if the call does not need them.  Refuses (503)
        if it does; ``needs``: paths, None: all.
        """
        needed = texts.keys() if needs is None else set(needs)
        texts = {**{p: t for p, t in texts.items() if p in needed}, **texts}
        self._refuse_guilty(self._blame.guilty(marks_of(call, texts)) & needed)

        async def ask(kept: Mapping[str, str]) -> msgspec.Raw:
            given = {"texts": dict(sorted(kept.items()))} if "texts" in args else {}
            return await self._ask(call, {**args, **given}, kept, None)

        raw, left = await self._without_guilty(call, texts, ask)
        self._refuse_guilty(left & needed)
        return raw

    @staticmethod
    def _refuse_guilty(paths: set[str]) -> None:
        if paths:
            raise _gone(_left_alone(min(paths)).message)

    async def _without_guilty(
        self, call: str, texts: Mapping[str, str], ask: Callable[[Mapping[str, str]], Any]
    ) -> tuple[msgspec.Raw, set[str]]:
        """The answer for all texts but those that end the worker, which are named.

        Where it is not known which ones do, they are added one by one to the others.
        """
        marks = marks_of(call, texts)
        left = self._blame.guilty(marks)
        unclear = [p for p in self._blame.unclear(marks) if p not in left]
        if len(unclear) < 2:
            return await ask({p: t for p, t in texts.items() if p not in left}), left
        kept = {p: t for p, t in texts.items() if p not in left and p not in unclear}
        raw = None
        for path in unclear:
            before = self._blame.harm(marks[path])
            try:
                raw = await ask({**kept, path: texts[path]})
            except Refused:
                if self._blame.harm(marks[path]) <= before:  # refused, overtaken, or ended by somebody else
                    raise
                self._blame.convict(marks[path])
                left.add(path)
            else:
                kept[path] = texts[path]
        return (await ask(kept) if raw is None else raw), left

    async def _ask(
        self, call: str, args: dict[str, Any], texts: Mapping[str, str], key: str | None
    ) -> msgspec.Raw:
        if self._closed:
            raise _gone("the server ends")
        if key is not None:
            for other in (*self._waiting, *([self._now] if self._now else ())):
                if other.key == key and not other.done.done():
                    other.done.set_exception(_overtaken())
        self._waiting = deque(a for a in self._waiting if not a.done.done())
        done: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        marks, size = list(marks_of(call, texts).values()), sum(len(t.encode()) for t in texts.values())
        asked = _Asked(call, args, key, marks, size, done)
        self._waiting.append(asked)
        self._signal.set()
        try:
            return await done
        finally:
            if not done.done():
                done.cancel()

    async def _run(self) -> None:
        """Keep a worker, and hand it one call after another."""
        while not self._closed:
            try:
                await self._worker.start()
            except Ended as error:
                why = str(error)
                await self._ended(why)
                for asked in self._waiting:
                    if not asked.done.done():
                        asked.done.set_exception(_gone(why))
                self._waiting.clear()
                await asyncio.sleep(AGAIN)
                continue
            self._updates.publish("worker", {"state": "ready", "message": None})
            try:
                while True:
                    await self._serve_next()
            except Ended as error:
                await self._ended(str(error))

    async def _serve_next(self) -> None:
        while not self._waiting:
            self._signal.clear()
            await self._or_end(self._signal.wait())
        asked = self._now = self._waiting.popleft()
        if asked.done.done():  # overtaken, or nobody waits for it any more
            self._now = None
            return
        # a program of thousands of statements takes longer to check than any call may take otherwise
        reply = await self._worker.ask(asked.call, asked.args, seconds_of_call(asked.size))
        self._blame.answered(asked.call, asked.marks)
        if not asked.done.done():
            if reply.error is None:
                asked.done.set_result(reply.result)
            else:
                asked.done.set_exception(refused(reply.error))
        self._now = None

    async def _or_end(self, wait: Any) -> None:
        """Wait for a call, or for the end of the process."""
        tasks = [asyncio.ensure_future(wait), asyncio.ensure_future(self._worker.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        if self._worker.pid is None and not self._signal.is_set():
            raise Ended("the language worker stopped unexpectedly")

    async def _ended(self, why: str) -> None:
        """The process is dead or has to be: say so, and let the call that it had fail."""
        ours = self.pid is not None
        self.kill()
        await self._worker.wait()
        if self._closed:
            return
        self._updates.publish("worker", {"state": "restarted", "message": why})
        asked, self._now = self._now, None
        if asked is None:
            return
        if ours or not self._worker.killed_from_outside:
            self._blame.ended(asked.call, asked.marks)
        if not asked.done.done():
            asked.done.set_exception(_gone(f"{why}; it restarts"))


def _overtaken() -> Refused:
    return Refused(409, "cancelled", "a newer text has overtaken this check")


def _gone(why: str) -> Refused:
    return Refused(503, "worker", why, "try again; the worker restarts")


def _left_alone(path: str) -> Problem:
    text = f"{path} is not checked, because checking it stopped the language worker {TIMES} times"
    return Problem("worker", "error", text, "it is checked again when its text changes", path)
