"""A real browser for tests of the studio: the Chromium of the system, with Playwright.

One browser serves all tests of a process; every test has a page of its own.  A test fails if the page logs anything to
the console, or asks any server but the studio's for anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

STATIC = Path(__file__).parents[3] / "src" / "occurs" / "studio" / "static"


def chromium() -> str | None:
    """The path of a Chromium of the system."""
    return os.environ.get("OCCURS_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None
    )


def missing() -> str | None:
    """What a browser test lacks here, as a sentence."""
    if chromium() is None:
        return "there is no Chromium: apt install chromium, or name one by OCCURS_CHROMIUM"
    if not (STATIC / "index.html").exists():
        return "the pages of the studio are not built: make studio-ui (Node 20.19 or later)"
    return None


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    reason = missing()
    if reason is not None:
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=root)
        yield found
        found.close()


class Watched:
    """What a page says on its console, and what it asks of other servers."""

    def __init__(self, page, home: str):
        self.said: list[str] = []
        self.expected: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
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
