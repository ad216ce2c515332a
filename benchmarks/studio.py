"""``python -m benchmarks.studio``: how fast the studio is, in a real browser, beside its targets.

It starts the studio as a user does, in a folder of its own, with the Chromium of the system (Playwright for Python).  A
page without anything is measured in the same run, for what the browser itself costs.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console

import occurs
from benchmarks.report import Report

MARKS = 1_000_000
#: longest interval between two frames while ``act`` runs, in ms
FRAMES = """() => {
    window.__frames = []; let last = performance.now(); window.__on = true;
    const tick = now => { window.__frames.push(now - last); last = now; if (window.__on) requestAnimationFrame(tick) };
    requestAnimationFrame(tick);
}"""
KEYS = """() => {
    window.__keys = [];
    new PerformanceObserver(list => {
        for (const one of list.getEntries()) if (one.name === "keydown") window.__keys.push(one.duration);
    }).observe({ type: "event", durationThreshold: 16, buffered: false });
}"""


class Studio:
    """A started studio: ``seconds`` of CPU and of time until its URL."""

    def __init__(self, folder: Path):
        self.folder = folder
        command = [sys.executable, "-m", "occurs.cli", "studio", str(folder), "--no-browser", "--port", "0"]
        began = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.seconds = time.perf_counter() - began
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        self.cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        home, token = self.url.split("/?token=")
        self.api = httpx.Client(
            base_url=f"{home}/api/v1/", headers={"Authorization": f"Bearer {token}"}, timeout=120, trust_env=False
        )

    def post(self, call: str, **body: Any) -> Any:
        answer = self.api.post(call, json=body)
        answer.raise_for_status()
        return answer.json()

    def job(self, id: str) -> Any:
        return self.api.get(f"jobs/{id}").json()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def rules(lines: int) -> str:
    """About so many lines of TESLA."""
    one = "define Hot{0}(v)\nfrom   Temp(value > {0})\nwhere  v = Temp.value\n\n"
    return "event Temp(value: int)\n\n" + "".join(one.format(i) for i in range(lines // 4))


def choose(folder: Path, rules: str, events: str, **options: str) -> None:
    """Write the choice of the project."""
    program = {"rules": [rules], "events": [events], "options": options}
    (folder / "studio.json").write_text(json.dumps({"version": 1, "program": program}))


def median_ms(call: Callable[[], Any], times: int = 15) -> float:
    call()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        found.append(1000 * (time.perf_counter() - began))
    return statistics.median(found)


def first_paint(browser: Browser, url: str) -> float:
    """Of a browser that knows nothing of the page, in ms."""
    found = []
    for _ in range(5):
        page = browser.new_page()
        page.goto(url)
        page.wait_for_timeout(700)
        paint = "performance.getEntriesByName('first-contentful-paint').map(one => one.startTime)"
        found += page.evaluate(paint)
        page.close()
    return statistics.median(found) if found else float("nan")


def opened(browser: Browser, studio: Studio, at: str) -> Page:
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.goto(studio.url)
    page.evaluate("at => { location.hash = at }", at)
    page.locator("[data-testid=check-status][data-state=done]").wait_for(timeout=60_000)
    return page


def marked(page: Page) -> float:
    """From the last key of an error to its mark, in ms."""
    editor = page.get_by_role("textbox", name="Rules")
    found = []
    for _ in range(5):
        editor.click()
        page.keyboard.press("Control+End")
        page.keyboard.insert_text("define Wrong(v) from Temp() where v = Tmp.valu")
        page.locator(".cm-lintRange-error").wait_for()
        page.keyboard.press("Control+z")
        page.locator(".cm-lintRange-error").wait_for(state="detached")
        page.keyboard.insert_text("define Wrong(v) from Temp() where v = Tmp.valu")
        began = time.perf_counter()
        page.locator(".cm-lintRange-error").wait_for()
        found.append(1000 * (time.perf_counter() - began))
        page.keyboard.press("Control+z")
        page.locator(".cm-lintRange-error").wait_for(state="detached")
    return statistics.median(found)


def typing(page: Page) -> float:
    """95th percentile from key to paint in a file of 5,000 lines while checks run, in ms."""
    page.get_by_role("textbox", name="Rules").click()
    page.keyboard.press("Control+End")
    page.evaluate(KEYS)
    page.keyboard.type("# words that somebody types at some length while the program is checked\n" * 3, delay=40)
    page.wait_for_timeout(500)
    # an event below the threshold of 16 ms is not reported: it counts as 16
    found = sorted(page.evaluate("window.__keys") + [16.0] * 216)[-216:]
    return float(found[int(0.95 * len(found))])


def heap(page: Page) -> float:
    """Bytes of the page's heap after a collection, in MB."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: float = session.send("Runtime.getHeapUsage")["usedSize"]
    return used / 1e6


def growth(page: Page, edits: int, runs: int) -> float:
    """By how many MB the page grows over edits and runs."""
    editor = page.get_by_role("textbox", name="Rules")
    editor.click()
    before = heap(page)
    for i in range(edits):
        page.keyboard.insert_text("x" if i % 20 else "\n# ")
    page.keyboard.insert_text("\n")
    page.get_by_role("tab", name="Run").click()
    for _ in range(runs):
        page.get_by_role("button", name="Run", exact=True).click()
        page.locator("[data-testid=run-state]:not([data-state=done])").wait_for(timeout=30_000)
        page.locator("[data-testid=run-state][data-state=done]").wait_for(timeout=120_000)
    return heap(page) - before


def wheel(page: Page) -> tuple[float, float]:
    """Ten steps of the wheel over the timeline: the longest frame, and the time until the last exact picture, in ms."""
    box = page.get_by_test_id("timeline").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate(FRAMES)
    for _ in range(10):
        page.mouse.wheel(0, -200)
        page.wait_for_timeout(60)
    page.wait_for_timeout(600)
    frames: list[float] = page.evaluate("() => { window.__on = false; return window.__frames.slice(1) }")
    return max(frames), statistics.median(frames)


#: presses a button and waits until the timeline shows the counts of its new range, and has painted them
REDRAW = """name => new Promise(done => {
    const timeline = document.querySelector("[data-testid=timeline]");
    const began = performance.now();
    new MutationObserver((_, observer) => {
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    }).observe(timeline, { attributes: true, attributeFilter: ["data-count"] });
    const bar = timeline.closest(".timeline").querySelectorAll("button");
    [...bar].find(one => (one.ariaLabel ?? one.textContent).trim() === name).click();
})"""


def redraw(page: Page) -> float:
    """From a change of the range of the timeline until its counts are painted, with the call to the server, in ms."""
    found: list[float] = []
    for _ in range(7):
        found += [page.evaluate(REDRAW, name) for name in ("Zoom in", "Fit")]
    return statistics.median(found)


def scripts() -> tuple[float, float]:
    """How much script the first load takes, and how much there is in all, compressed, in kB."""
    static = Path(occurs.__file__).parent / "studio" / "static"
    sizes = {path.name: len(gzip.compress(path.read_bytes())) / 1000 for path in static.rglob("*.js")}
    named = re.findall(r'(?:src|href)="[^"]*?([^"/]+\.js)"', (static / "index.html").read_text())
    return sum(sizes[name] for name in {*named}), sum(sizes.values())


def million(folder: Path) -> str:
    """A project of a million rows and as many detections in five lanes; the path of its rules."""
    lines = ("type,time,value\n", *(f"Temp,{i},{i % 5}\n" for i in range(1, MARKS + 1)))
    (folder / "many.csv").write_text("".join(lines))
    text = "event Temp(value: int)\n" + "".join(
        f"define Lane{k}(v) from Temp(value = {k}) where v = Temp.value\n" for k in range(5)
    )
    (folder / "many.tesla").write_text(text)
    choose(folder, "many.tesla", "many.csv", time_unit="s")
    return "many.tesla"


def large(studio: Studio, folder: Path, report: Report, browser: Browser) -> None:
    """The timeline of a million detections."""
    page = opened(browser, studio, f"/{million(folder)}/Text")
    page.get_by_role("tab", name="Run").click()
    began = time.perf_counter()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("[data-testid=run-state][data-state=done]").wait_for(timeout=600_000)
    report.add("a run of 10^6 rows and 10^6 detections, with reasons", "s", time.perf_counter() - began, None)
    page.get_by_test_id("timeline").wait_for(timeout=60_000)
    asked: list[str] = page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
    call = next(name for name in reversed(asked) if "/timeline" in name).split("/api/v1/")[1].split("?")[0]
    timeline = lambda: studio.api.get(call, params={"width": 1400})  # noqa: E731
    report.add("timeline of 10^6 in 5 lanes, answer", "ms", median_ms(timeline), 60)
    report.add("the same, body", "kB", len(timeline().content) / 1000, 200)
    report.add("the same, from a change of range to its paint", "ms", redraw(page), 150)
    longest, median = wheel(page)
    report.add("ten steps of the wheel, longest frame", "ms", longest, 200)
    report.add("the same, median frame", "ms", median, None)
    page.close()


def patterns(statements: int) -> str:
    """EPL statements whose nets have about 46 places and transitions each."""
    schemas = "".join(f"create schema {t}(m{t.lower()} int);\n" for t in "ABC")
    one = (
        "@Name('P{0}') insert into P{0} select a.ma as ma, b.mb as mb, c.mc as mc "
        "from pattern [every a=A(ma > {0}) -> every (b=B(mb > a.ma) -> c=C(mc > 0))];\n"
    )
    return schemas + "".join(one.format(k) for k in range(statements))


def cpu(pid: int) -> float:
    """The seconds of CPU that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def child(pid: int, module: str) -> int:
    """The child of a process that runs a module."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == pid and module.encode() in (entry / "cmdline").read_bytes():
                return int(entry.name)
        except OSError:  # it has ended
            continue
    raise LookupError(module)


def nets(studio: Studio, folder: Path, report: Report) -> None:
    """Opening a net of 2,000 nodes on 1,000 rows, and stepping through it."""
    dice = random.Random(1)
    rows = "".join(f"{dice.choice('ABC')},{t},{dice.randint(0, 60)}\n" for t in range(1000))
    for type in "ABC":
        mine = [line.split(",") for line in rows.splitlines() if line.startswith(type)]
        text = f"time,m{type.lower()}\n" + "".join(f"{t},{v}\n" for _, t, v in mine)
        (folder / f"{type}.csv").write_text(text)
    asked = {
        "path": "patterns.epl", "texts": {"patterns.epl": patterns(44)}, "options": {"time_unit": "s"},
        "events": [f"{t}={t}.csv" for t in "ABC"],
    }  # fmt: skip
    studio.post("nets", **{**asked, "texts": {"patterns.epl": patterns(1)}})
    worker = child(studio.process.pid, "occurs.studio.net_worker")
    before = cpu(worker)
    net = studio.post("nets", **asked)
    nodes = sum(len(page["places"]) + len(page["transitions"]) for page in net["net"]["pages"])
    report.add(f"opening a net of {nodes:,} places and transitions, CPU", "s", cpu(worker) - before, 1.5)
    call = f"nets/{net['id']}/fire"
    report.add("a step in it", "ms", median_ms(lambda: studio.post(call, steps=1), 100), 50)
    studio.post(call, row=200)
    report.add("a step back", "ms", median_ms(lambda: studio.post(call, back=1)), None)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):  # no process, or it has ended
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    found = list(parents.get(pid, []))
    for one in found:  # which grows
        found += parents.get(one, [])
    return found


def memory(studio: Studio) -> float:
    """The memory of the server and of all processes that it has started, in MB."""
    pages = 0
    for pid in (studio.process.pid, *descendants(studio.process.pid)):
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@dataclass(frozen=True)
class Cancelled:
    """``seconds`` from the call to cancel until the process of the job was gone; the memory that it had, and how much
    of that was left, in MB; the state in which the next job ended."""

    seconds: float
    had: float
    left: float
    next: str


def cancelled(studio: Studio) -> Cancelled:
    """The million rows: a job that is cancelled while it runs, and one over a row after it."""
    (studio.folder / "few.csv").write_text("type,time,value\nTemp,1,1\n")
    studio.post("check", texts={})  # the worker that answers it is there, and no part of what the job needs
    before = memory(studio)
    others = {*descendants(studio.process.pid)}
    id = studio.post("jobs", kind="run")["id"]
    while not (progress := studio.job(id)["progress"]) or progress.get("reading"):
        time.sleep(0.05)
    had = memory(studio) - before
    own = {*descendants(studio.process.pid)} - others
    began = time.perf_counter()
    studio.api.delete(f"jobs/{id}")
    while own & {*descendants(studio.process.pid)}:
        time.sleep(0.005)
    seconds = time.perf_counter() - began
    left = memory(studio) - before
    id = studio.post("jobs", kind="run", events=["few.csv"])["id"]
    while studio.job(id)["state"] in ("queued", "running"):
        time.sleep(0.05)
    return Cancelled(seconds, had, left, studio.job(id)["state"])


def main() -> None:
    report = Report("Occurs Studio", [("what", ""), ("in", ""), ("measured", ",.1f"), ("target", ",.1f")])
    path = os.environ.get("OCCURS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        (folder / "small.tesla").write_text(rules(200))
        (folder / "rows.csv").write_text("type,time,value\nTemp,2024-01-01T00:00:00Z,50\n")
        choose(folder, "small.tesla", "rows.csv")
        studio = Studio(folder)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        try:
            report.add("command to its URL, CPU", "s", studio.cpu, 1.5)
            studio.post("check", texts={})
            report.add("check of 200 lines", "ms", median_ms(lambda: studio.post("check", texts={})), 150)
            empty = folder / "empty.html"
            empty.write_text("<!doctype html><title>empty</title>nothing")
            report.add("first paint of an empty page", "ms", first_paint(browser, empty.as_uri()), None)
            report.add("first paint of the studio", "ms", first_paint(browser, studio.url), 1000)
            page = opened(browser, studio, "/small.tesla/Text")
            report.add("last key to the mark of an error", "ms", marked(page), 500)
            report.add("heap after 1,000 edits and 100 runs, growth", "MB", growth(page, 1000, 100), 50)
            page.close()
            (folder / "large.tesla").write_text(rules(5000))
            choose(folder, "large.tesla", "rows.csv")
            page = opened(browser, studio, "/large.tesla/Text")
            report.add("key to paint in 5,000 lines, 95th percentile", "ms", typing(page), 50)
            page.close()
            large(studio, folder, report, browser)
            nets(studio, folder, report)
            found = cancelled(studio)
            report.add("cancel until the process is gone", "s", found.seconds, 1)
            report.add(f"memory that is left of its {found.had:,.0f} MB", "MB", found.left, 0)
            report.notes.append(f"The next job is {found.next}.")
            first, whole = scripts()
            report.add("script of the first load, compressed", "kB", first, 180)
            report.add("all scripts, compressed", "kB", whole, 650)
        finally:
            studio.stop()
            browser.close()
    report.show(Console())


if __name__ == "__main__":
    main()
