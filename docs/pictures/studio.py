"""The picture of the studio: ``python docs/pictures/studio.py`` takes it of the real page.

It needs a Chromium of the system.  It opens the flights example, runs it, and asks of a late aircraft why it was found.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).parent


def main() -> None:
    path = os.environ.get("OCCURS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "occurs.cli", "studio", folder, "--example", "flights", "--no-browser"]
        studio = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True)
        try:
            assert studio.stdout is not None
            url = studio.stdout.readline().strip()
            with sync_playwright() as playwright:
                root = ["--no-sandbox"] if os.geteuid() == 0 else []
                browser = playwright.chromium.launch(executable_path=path, args=root)
                size = {"width": 1440, "height": 900}
                page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
                page.goto(url)
                explained(page)
                page.screenshot(path=PICTURES / "studio.png")
                browser.close()
        finally:
            studio.send_signal(signal.SIGTERM)
            studio.wait(10)


def explained(page: Page) -> None:
    """One detection of a run of the example, with its constituents."""
    page.get_by_role("tab", name="Run").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("[data-testid=run-state][data-state=done]").wait_for(timeout=120_000)
    page.get_by_role("textbox", name="Filter detections").fill("KnockOn")
    page.locator("[data-testid=detection][data-type=KnockOn]").nth(2).click()
    page.get_by_test_id("constituent").first.wait_for()
    page.wait_for_timeout(1000)


if __name__ == "__main__":
    main()
