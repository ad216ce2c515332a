"""Jobs in processes of their own: their ends, their limits, and what is wrong with their input."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from occurs.errors import DefinitionProblem, InputProblem, LimitProblem, UsageProblem
from occurs.studio import spawning
from occurs.studio.jobs import BusyError, Jobs, Request, UnknownJobError
from occurs.studio.limits import JobLimits, job_memory
from occurs.studio.spawning import Processes
from studio.jobcases import ran

HOT = {"hot.tesla": "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value"}
PAIRS = {
    "pairs.epl": "create schema A(v int);\n"
    "insert into Pair select a.v as x, b.v as y from pattern [every a=A -> every b=A];"
}
UNIT = {"time_unit": "s"}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The directory of a project, with events for both programs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("type,time,value\nTemp,1,50\nTemp,2,20\nTemp,3,60\n")
    (tmp_path / "many.csv").write_text("type,time,v\n" + "".join(f"A,{i},{i}\n" for i in range(1, 4001)))
    return tmp_path


def quick(**options):
    return Request("run", HOT, ["rows.csv"], {**UNIT, **options})


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def in_processes(story):
    processes = Processes()
    try:
        return await story(processes)
    finally:
        await processes.close()


async def become(jobs, id, *states, seconds=60):
    end = time.monotonic() + seconds
    while (found := jobs.state(id))["state"] not in states:
        assert time.monotonic() < end, found
        await asyncio.sleep(0.02)
    return found


async def working(jobs, id):
    """The pid of a job's process, once it computes."""
    while jobs.state(id)["progress"] is None:
        assert jobs.state(id)["state"] in ("queued", "running"), jobs.state(id)
        await asyncio.sleep(0.02)
    return jobs._job(id).process.pid


def test_a_job_tells_which_file_of_events_it_reads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["type,time,value\nTemp,1,50\n", "type,time,value\nTemp,2,60\nTemp,3,70\n"]
    for name, text in zip(("a.csv", "b.csv"), rows, strict=True):
        (tmp_path / name).write_text(text)
    told = []
    ran(tmp_path, HOT, ["a.csv", "b.csv"], told=told, options=UNIT)
    reading = [(p["reading"], p["done"], p["total"]) for line in told if "reading" in (p := line["progress"])]
    total = sum(map(len, rows))
    assert reading == [("a.csv", 0, total), ("b.csv", len(rows[0]), total)]
    assert "reading" not in told[-1]["progress"]


def test_a_cancelled_job_leaves_nothing_and_the_next_one_runs(root):
    heard = []

    async def story(processes):
        most = JobLimits(at_once=1, queued=2, kept=1)
        jobs = Jobs(root, lambda event, data: heard.append((event, data)), processes, most)
        long = jobs.start(Request("run", PAIRS, ["many.csv"], UNIT))
        first, second = jobs.start(quick()), jobs.start(quick(until=2))
        assert [jobs.state(id)["state"] for id in (long, first, second)] == ["running", "queued", "queued"]
        with pytest.raises(BusyError):
            jobs.start(quick())
        pid = await working(jobs, long)
        began = time.monotonic()
        told = await jobs.cancel(long)
        assert time.monotonic() - began < 1
        assert told["state"] == jobs.state(long)["state"] == "cancelled"
        assert not alive(pid)
        folders = jobs._folder
        assert long not in {p.name for p in folders.iterdir()}
        assert folders.stat().st_mode & 0o077 == 0
        done = await become(jobs, first, "done", "failed")
        assert (done["result"]["types"], done["result"]["total"]) == ([{"name": "Hot", "count": 2}], 2)
        assert done["progress"] == {"done": 3, "total": 3, "at": 3, "ticks": 3, "found": 2}
        assert jobs.results(first).rows()["total"] == 2
        await jobs.cancel(second)
        third = jobs.start(quick(until=2))
        assert (await become(jobs, third, "done", "failed"))["result"]["total"] == 1
        await asyncio.sleep(0)
        with pytest.raises(UnknownJobError):  # only the newest result is kept
            jobs.state(first)
        assert [p.name for p in folders.iterdir()] == [third]
        await jobs.close()
        assert not folders.exists()
        with pytest.raises(BusyError):
            jobs.start(quick())
        return long, first

    long, first = asyncio.run(in_processes(story))
    states = [(d["id"], d["state"]) for _, d in heard]
    assert states.index((long, "cancelled")) < states.index((first, "running")) < states.index((first, "done"))


def test_a_killed_process_a_long_one_and_a_large_one_fail_with_the_reason(root):
    async def story(processes):
        request = Request("run", PAIRS, ["many.csv"], UNIT)
        killed = Jobs(root, lambda *_: None, processes)
        id = killed.start(request)
        os.killpg(await working(killed, id), signal.SIGKILL)
        found = [await become(killed, id, "failed")]
        slow = Jobs(root, lambda *_: None, processes, JobLimits(seconds=0.3))
        large = Jobs(root, lambda *_: None, processes, JobLimits(memory=600 << 20))
        for jobs in (slow, large):
            found.append(await become(jobs, jobs.start(request), "failed"))
        for jobs in (killed, slow, large):
            assert [*jobs._folder.iterdir()] == []
            await jobs.close()
        return [job["problems"][0] for job in found]

    killed, slow, large = asyncio.run(in_processes(story))
    assert (killed["kind"], killed["severity"]) == ("worker", "error")
    assert "SIGKILL" in killed["message"]
    assert slow["kind"] == "too-long"
    assert (large["kind"], large["message"]) == ("memory", "the job needs more than 600 MB of memory")


def test_jobs_end_with_the_engine_process_and_the_next_one_has_a_new_one(root):
    async def story(processes):
        jobs = Jobs(root, lambda *_: None, processes)
        id = jobs.start(Request("run", PAIRS, ["many.csv"], UNIT))
        pid = await working(jobs, id)
        processes._engine._process.kill()
        found = await become(jobs, id, "failed")
        assert "SIGKILL" in found["problems"][0]["message"]
        while alive(pid):  # it is init's now
            await asyncio.sleep(0.01)
        assert (await become(jobs, jobs.start(quick()), "done", "failed"))["result"]["total"] == 2
        await jobs.close()

    asyncio.run(in_processes(story))


def test_an_engine_that_does_not_load_is_told(root, monkeypatch):
    monkeypatch.setattr(spawning, "command", lambda *_: [sys.executable, "-c", "raise SystemExit(1)"])

    async def story(processes):
        jobs = Jobs(root, lambda *_: None, processes)
        found = await become(jobs, jobs.start(quick()), "failed")
        await jobs.close()
        return found["problems"][0]

    problem = asyncio.run(in_processes(story))
    assert (problem["kind"], problem["message"]) == (
        "cannot-write", "the job cannot be started: the engine does not load"
    )  # fmt: skip


def test_where_a_process_cannot_be_forked_each_loads_the_engine(root, monkeypatch):
    monkeypatch.setattr(spawning, "FORKS", False)

    async def story(processes):
        jobs = Jobs(root, lambda *_: None, processes)
        done = await become(jobs, jobs.start(quick()), "done", "failed")
        long = jobs.start(Request("run", PAIRS, ["many.csv"], UNIT))
        pid = await working(jobs, long)
        await jobs.cancel(long)
        assert processes._engine is None
        assert not alive(pid)
        await jobs.close()
        return done["result"]["total"]

    assert asyncio.run(in_processes(story)) == 2


def test_a_closing_server_ends_what_runs(root):
    async def story(processes):
        jobs = Jobs(root, lambda *_: None, processes)
        id = jobs.start(Request("run", PAIRS, ["many.csv"], UNIT))
        pid = await working(jobs, id)
        began = time.monotonic()
        await jobs.close()
        assert time.monotonic() - began < 1
        assert not alive(pid)

    asyncio.run(in_processes(story))


# --- the work itself, in this process ---------------------------------------------------------------------------------


def test_rules_with_errors_run_nothing(root):
    told = []
    with pytest.raises(DefinitionProblem) as error:
        ran(root, {"hot.tesla": HOT["hot.tesla"].replace("= Temp", "= Tmp")}, ["rows.csv"], told=told, options=UNIT)
    assert (error.value.kind, error.value.file, error.value.line) == ("unknown-name", "hot.tesla", 2)
    assert told == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"type,time,value\nTemp,1,50\nTemp,never,60\n", ("bad-time", "rows.csv", 2, "column `time`")),
        (b"type,time,value\nTemp,1,50\nTemp,2\n", ("bad-value", "rows.csv", 2, "'Temp,2'")),
        (b"", ("missing-column", "rows.csv", None, "no header line")),
        (b"type,value\nTemp,50\n", ("missing-column", "rows.csv", None, "no time column `time`")),
        (b"type,time,value\nTemp,1,\xff\n", ("bad-value", "rows.csv", 1, "column `value`")),
        (b"type,time,value\nTemp,1,hot\n", ("bad-value", "rows.csv", 1, "column `value`")),
    ],
    ids=["time", "torn", "empty", "no-time", "not-utf8", "misfit"],
)
def test_bad_input_is_named_with_file_row_and_column(root, content, said):
    (root / "rows.csv").write_bytes(content)
    with pytest.raises(InputProblem) as error:
        ran(root, HOT, ["rows.csv"], options=UNIT)
    kind, file, row, words = said
    assert (error.value.kind, error.value.file, error.value.row) == (kind, file, row)
    assert words in error.value.message


def test_bad_rows_may_be_skipped_and_are_counted(root):
    (root / "rows.csv").write_text("type,time,value\nTemp,1,50\nTemp,never,60\nTemp,3,70\n")
    done, found = ran(root, HOT, ["rows.csv"], options={**UNIT, "bad_rows": "skip"})
    assert done["done"]["counts"]["bad"] == 1
    labels = [row[7] for row in found.rows()["rows"]]
    assert [found.why(label)["constituents"][0]["source"]["line"] for label in labels] == [2, 4]


@pytest.mark.parametrize(("limit", "kind"), [("bytes", "too-large"), ("rows", "too-many-rows"),
                                             ("found", "too-many-detections")])  # fmt: skip
def test_a_job_has_limits(root, limit, kind):
    size = {"bytes": (root / "rows.csv").stat().st_size, "rows": 3, "found": 2}[limit]
    with pytest.raises(LimitProblem) as error:
        ran(root, HOT, ["rows.csv"], options=UNIT, **{limit: size - 1})
    assert error.value.kind == kind
    (root / ".job").rmdir()
    done, _ = ran(root, HOT, ["rows.csv"], options=UNIT, **{limit: size})
    assert done["done"]["total"] == 2


FULL = "import errno, sys; from occurs.studio import job_worker\n" \
    "def full(*_): raise OSError(errno.ENOSPC, 'No space left on device', 'x')\n" \
    "job_worker.done = full\njob_worker.main()"  # fmt: skip


def test_a_full_disk_is_told_and_no_bug(root):
    given = json.dumps({"folder": str(root / "job"), "memory": 0})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", FULL], text=True, **pipes) as process:
        process.stdin.write(given + "\n")
        process.stdin.flush()
        problem = json.loads(process.stdout.readline())["failed"][0]
    assert problem["kind"] == "cannot-write"
    assert "No space left on device" in problem["message"]
    assert "TMPDIR" in problem["hint"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_process_keeps_a_lower_limit_of_memory_that_it_has():
    code = (
        "import resource, sys; from occurs.studio.memory import limit_memory; G = 1 << 30\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 * G, 4 * G))\n"
        "for size in (0, 8 * G, 2 * G):\n"
        "    limit_memory(size); print(resource.getrlimit(resource.RLIMIT_AS)[0] // G)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (found.stdout.split(), found.stderr) == (["4", "4", "2"], "")


@pytest.mark.parametrize("memory", [3 << 30, 16 << 30])
def test_a_job_has_eight_gigabytes_or_three_quarters_of_the_memory(monkeypatch, memory):
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": memory // 4096}.__getitem__)
    assert job_memory() == min(8 << 30, memory * 3 // 4)


def test_options_are_those_of_detect(root):
    done, _ = ran(root, HOT, ["Temp=rows.csv"], options={**UNIT, "until": 2, "type": None})
    assert done["done"]["total"] == 1
    (root / ".job" / "result.json").unlink()
    for wrong in ("zome", "because", "session"):
        with pytest.raises(UsageProblem, match=f"unknown option `{wrong}`"):
            ran(root / ".job", HOT, ["rows.csv"], options={wrong: "x"})
        (root / ".job" / ".job").rmdir()


@pytest.mark.parametrize("path", ["../rows.csv", "/etc/passwd", "-", "Temp=-", "out/x.csv", "nul\0.csv"])
def test_events_are_files_of_the_project(root, path):
    (root / "out").symlink_to("/etc")
    with pytest.raises(InputProblem) as error:
        ran(root, HOT, [path], options=UNIT)
    assert error.value.kind == "forbidden-path"


def test_a_verification_tells_whether_both_agree(root):
    done, _ = ran(root, HOT, ["rows.csv"], kind="verify", options=UNIT)
    assert done["done"]["equal"] is True
    assert done["done"]["report"] == "engine and reference agree: 3 events, 2 detections"
    assert not Path(root, ".job", "result.json").exists()
