"""A real browser for tests of the studio: the Chromium of the system, with Playwright.

One browser serves all tests of a process; every test has a page of its own.  A test fails if the page logs anything to
the console, or asks any server but the studio's for anything.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from studio_server import server_command, shared_engine

STUDIO = Path(__file__).parents[3] / "src" / "occurs" / "studio"
STATIC, EXAMPLES = STUDIO / "static", STUDIO / "examples"


def chromium() -> str | None:
    """The path of a Chromium of the system; the one without windows takes two thirds of the time."""
    names = ("chromium-headless-shell", "chromium", "google-chrome", "chromium-browser")
    return os.environ.get("OCCURS_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def missing() -> str | None:
    """What a browser test lacks here, as a sentence."""
    if chromium() is None:
        return "there is no Chromium: apt install chromium, or name one by OCCURS_CHROMIUM"
    if not (STATIC / "index.html").exists():
        return "the pages of the studio are not built: make studio-ui (Node 20.19 or later)"
    return None


#: the browser of this process, while there is one, and what closes it
RUNNING: list[Any] = []
OPEN = ExitStack()


@pytest.fixture(scope="module")
def browser() -> Any:
    reason = missing()
    if reason is not None:
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    if RUNNING:
        return RUNNING[0]
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=20_000)  # machines may be busy
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    playwright = OPEN.enter_context(sync_playwright())
    found = playwright.chromium.launch(executable_path=chromium(), args=root)
    OPEN.callback(found.close)
    OPEN.callback(RUNNING.clear)
    RUNNING.append(found)
    return found


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close the browser behind the last test of this folder: its event loop runs in this thread, and tests that have
    one of their own fail beside it."""
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        OPEN.close()


class Watched:
    """What a page says on its console, and what it asks of other servers."""

    def __init__(self, page: Any, home: str):
        self.said: list[str] = []
        self.expected: list[str] = []
        page.on("console", lambda m: self.said.append(f"{m.type}: {m.text} {m.location.get('url', '')}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self._asked(request.url, home))

    def _asked(self, url: str, home: str) -> None:
        if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc != home:
            self.said.append(f"request: {url}")

    def allow(self, part: str) -> None:
        """Messages with ``part`` in them belong to the test."""
        self.expected.append(part)

    def unexpected(self) -> list[str]:
        return [line for line in self.said if not any(part in line for part in self.expected)]


class Served:
    """A studio on a folder: ``url`` with its token, ``folder``; ``stop`` and ``start`` keep port and token.

    ``kernels``: ``plain`` starts faster, compiled ones (empty) read millions of rows.  ``engine``: the socket of a
    shared engine."""

    def __init__(self, folder: Path, kernels: str, engine: str):
        self.folder = folder
        self.engine = engine
        self.kernels = kernels
        self.token = secrets.token_urlsafe(24)
        self.port = "0"
        self.start()

    def start(self) -> None:
        command = server_command(self.folder, "--port", self.port, engine=self.engine)
        environment = {**os.environ, "OCCURS_STUDIO_TOKEN": self.token, "OCCURS_KERNELS": self.kernels}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, "the studio did not start"
        self.home = urlsplit(self.url).netloc
        self.port = self.home.rsplit(":", 1)[1]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text)

    def read(self, path: str) -> str:
        return (self.folder / path).read_text()


@pytest.fixture(scope="module")
def serve(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Starts a studio on a copy of an example (or on files: name -> text), once per example and module."""
    started: dict[str, Served] = {}

    def start(
        example: str = "", files: dict[str, str] | None = None, name: str = "", kernels: str = "plain",
        own_engine: bool = False,
    ) -> Served:
        key = name or example
        if key not in started:
            folder = tmp_path_factory.mktemp("project") / (key or "empty")
            if example:
                shutil.copytree(EXAMPLES / example, folder)
            else:
                folder.mkdir()
            for path, text in (files or {}).items():
                (folder / path).write_text(text)
            started[key] = Served(folder, kernels, "" if own_engine or kernels != "plain" else shared_engine())
        return started[key]

    yield start
    for one in started.values():
        one.stop()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a studio in a page of its own context (another browser, as it were), and watches the page."""
    opened: list[tuple[Any, Any]] = []

    def open_page(served: Served, at: str = "", *, context: Any = None, **settings: Any) -> Any:
        sized = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **settings}
        context = context or browser.new_context(**sized)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.watched = Watched(page, served.home)
        page.goto(served.url)
        if at:
            page.evaluate("at => { location.hash = at }", at)
        page.get_by_role("heading", level=1, name="Occurs Studio").wait_for()
        opened.append((context, page))
        return page

    yield open_page
    said = [line for _, page in opened for line in page.watched.unexpected()]
    for context, _ in opened:
        context.close()
    assert said == []
