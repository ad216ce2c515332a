"""Jobs: runs and analyses in processes of their own, two at once, the others in a queue.

A job has a folder in a private temporary directory, where its process writes the result.  Cancelling a job kills its
process and everything that it started; it leaves no file.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
import signal
import tempfile
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from msgspec import to_builtins

from occurs.studio import limits, marks
from occurs.studio.results import REPAIRS, Results
from occurs.studio.shapes import JobNet
from occurs.studio.spawning import Process, Processes

State = Literal["queued", "running", "done", "failed", "cancelled"]
#: what is told of a job to whoever follows: (event, data)
Publish = Callable[[str, dict[str, Any]], None]
log = logging.getLogger(__name__)
#: a line of a job's process has at most so many bytes
_LINE = 1 << 24
#: jobs without a result that are remembered
_REMEMBERED = 100


class BusyError(Exception):
    """The queue is full."""


class UnknownJobError(LookupError):
    """There is no such job, or no longer."""


@dataclass(frozen=True)
class Request:
    """What a job is to do with a program (path to text) on events (``PATH`` or ``TYPE=PATH``).

    ``kind``: ``run``, ``verify``, ``space``, ``random``, ``why`` or ``why-not``; ``net``: the members of
    ``shapes.JobNet``, and ``data``, the bytes of a file of a net as text of one character each; ``asked``: the members
    of the question.
    ``marked``: the paths of texts that have a byte order mark, which places count.  ``default``: nobody chose the
    events; those that have no column with types are read by their names.
    """

    kind: str
    texts: Mapping[str, str]
    events: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)
    marked: frozenset[str] = frozenset()
    default: bool = False
    net: Mapping[str, Any] = field(default_factory=lambda: to_builtins(JobNet()))
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def question(self) -> bool:
        """Whether it is a question about a run."""
        return self.kind in ("why", "why-not")


@dataclass
class Job:
    """A job and what is known of it."""

    id: str
    request: Request
    folder: Path
    state: State = "queued"
    progress: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)
    process: Process | None = None
    task: asyncio.Task[None] | None = None
    results: Results | None = None

    def told(self) -> dict[str, Any]:
        """The job as the interface shows it."""
        return {
            "id": self.id, "kind": self.request.kind, "state": self.state, "progress": self.progress,
            "result": self.result, "problems": self.problems,
        }  # fmt: skip

    def heard(self) -> dict[str, Any]:
        """The job as it is published: an answer to a question concerns the page that asked, which fetches it."""
        return {**self.told(), "result": None} if self.request.question else self.told()


class Jobs:
    """The jobs of a project whose directory is ``root``.  All methods belong to one event loop."""

    def __init__(
        self, root: Path, publish: Publish, processes: Processes, most: limits.JobLimits | None = None
    ) -> None:
        self._root, self._publish, self._processes = root, publish, processes
        self.most = limits.JobLimits() if most is None else most
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._queue: list[Job] = []
        self._folder: Path | None = None
        self._closed = False

    def start(self, request: Request) -> str:
        """Start a job as soon as there is room; returns its id.  Raises BusyError."""
        if len(self._queue) >= self.most.queued or self._closed:
            raise BusyError
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="occurs-studio-"))  # for this user alone
        id = uuid.uuid4().hex[:12]
        job = Job(id, request, self._folder / id)
        self._jobs[id] = job
        self._queue.append(job)
        self._next()
        if job.state == "queued":
            self._publish("job", job.heard())
        return id

    def state(self, id: str) -> dict[str, Any]:
        """How a job is: ``{id, kind, state, progress, result, problems}``.  Raises UnknownJobError."""
        return self._job(id).told()

    def results(self, id: str) -> Results | None:
        """The result of a run that is done, None if there is none.  Raises UnknownJobError."""
        return self._job(id).results

    def request(self, id: str) -> Request:
        """What a job was to do.  Raises UnknownJobError."""
        return self._job(id).request

    def repairs(self, id: str) -> Path | None:
        """The file with the repairs of an answered why-not, None of other jobs.  Raises UnknownJobError."""
        job = self._job(id)
        return job.folder / REPAIRS if job.state == "done" and job.request.kind == "why-not" else None

    async def cancel(self, id: str) -> dict[str, Any]:
        """End a job, or forget one that is done with its result; returns how it is then.  Raises UnknownJobError."""
        job = self._job(id)
        if job.state == "queued":
            self._queue.remove(job)
        if job.state in ("queued", "running"):
            self._put(job, "cancelled")
        elif job.state == "done":
            del self._jobs[id]
        await self._end(job)
        self._tidy()
        return job.told()

    async def close(self) -> None:
        """End all jobs and remove all files."""
        self._closed = True
        self._queue.clear()
        for job in self._jobs.values():
            if job.state in ("queued", "running"):
                job.state = "cancelled"
        await asyncio.gather(*(self._end(job) for job in self._jobs.values()))
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _job(self, id: str) -> Job:
        if id not in self._jobs:
            raise UnknownJobError(id)
        return self._jobs[id]

    def _put(self, job: Job, state: State, problems: list[dict[str, Any]] | None = None) -> None:
        job.state = state
        job.problems = job.problems if problems is None else problems
        self._publish("job", job.heard())

    def _next(self) -> None:
        """Start what there is room for."""
        running = sum(job.task is not None and not job.task.done() for job in self._jobs.values())
        while self._queue and running < self.most.at_once and not self._closed:
            job = self._queue.pop(0)
            job.state = "running"
            job.task = asyncio.get_running_loop().create_task(self._run(job))
            running += 1

    async def _end(self, job: Job) -> None:
        """Kill the process of a job, and remove its files."""
        if job.task is not None and not job.task.done():
            job.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await job.task
        job.results = None
        await asyncio.to_thread(shutil.rmtree, job.folder, ignore_errors=True)

    async def _run(self, job: Job) -> None:
        began = time.monotonic()
        try:
            job.folder.mkdir()
            self._publish("job", job.heard())
            async with asyncio.timeout(self.most.seconds):
                line = marks.outer(await self._worked(job), job.request.marked)
            if "done" in line:
                took = round((time.monotonic() - began) * 1000)
                job.result = {**line["done"], "milliseconds": took}
                job.results = Results(job.folder) if job.request.kind == "run" else None
                self._put(job, "done", line["problems"])
            else:
                self._put(job, "failed", line["failed"])
        except TimeoutError:
            text = f"the job took more than {self.most.seconds / 60:g} minutes"
            self._put(job, "failed", [_problem("too-long", text, "run it on fewer events, or with `occurs run`")])
        except OSError as error:
            self._put(job, "failed", [_problem("cannot-write", f"the job cannot be started: {error}", None)])
        except Exception as error:
            log.error("a job broke off", exc_info=error)
            self._put(job, "failed", [_problem("internal", f"the job broke off: {type(error).__name__}", None)])
        finally:
            if job.results is None and not (job.state == "done" and job.request.kind == "why-not"):
                shutil.rmtree(job.folder, ignore_errors=True)
            asyncio.get_running_loop().call_soon(self._tidy)

    async def _worked(self, job: Job) -> dict[str, Any]:
        """The last line of a job's process; its progress is published."""
        process = await self._processes.start("occurs.studio.job_worker", self._root, _LINE)
        job.process = process
        try:
            process.stdin.write(json.dumps(self._asked(job)).encode() + b"\n")
            last: dict[str, Any] = {}
            async for text in process.stdout:
                last = json.loads(text)
                if "progress" not in last:
                    break
                job.progress = last["progress"]
                self._publish("job", job.heard())
            if "done" in last or "failed" in last:
                return last
            return {"failed": [_gone(await process.wait())]}
        except (BrokenPipeError, ConnectionResetError, ValueError):  # or a line that is cut, or too long
            return {"failed": [_gone(await process.wait())]}
        finally:
            process.kill()
            await process.wait()

    def _asked(self, job: Job) -> dict[str, Any]:
        request, most = job.request, self.most
        return {
            "kind": request.kind, "texts": dict(request.texts), "events": list(request.events),
            "default": request.default, "options": dict(request.options), "net": dict(request.net),
            "asked": dict(request.asked),
            "root": str(self._root), "folder": str(job.folder),
            "memory": most.memory, "most_bytes": most.bytes, "most_rows": most.rows, "most_found": most.found,
        }  # fmt: skip

    def _tidy(self) -> None:
        """Forget the oldest results, and jobs without one; start what waits."""
        done = [job for job in self._jobs.values() if job.state == "done"]
        over = [job for job in self._jobs.values() if job.state in ("failed", "cancelled")]
        questions = [job for job in done if job.request.question]  # these do not take the places of runs
        others = [job for job in done if not job.request.question]
        old = [job for some in (questions, others) for job in some[: max(0, len(some) - self.most.kept)]]
        for job in (*old, *over[: max(0, len(over) - _REMEMBERED)]):
            del self._jobs[job.id]
            shutil.rmtree(job.folder, ignore_errors=True)
        self._next()


def _gone(code: int) -> dict[str, Any]:
    """The problem that a process ended without an answer."""
    if code < 0:
        name = signal.Signals(-code).name if -code in {*signal.Signals} else str(-code)
        hint = "it may have needed more memory than there is; run it on fewer events" if code == -9 else None
        return _problem("worker", f"the process of the job was killed ({name})", hint)
    return _problem("worker", f"the process of the job ended without an answer (code {code})", None)


def _problem(kind: str, message: str, hint: str | None) -> dict[str, Any]:
    return {
        "kind": kind, "severity": "error", "message": message, "hint": hint, "file": None, "span": None, "related": [],
        "node": None, "row": None, "definition": None,
    }  # fmt: skip
