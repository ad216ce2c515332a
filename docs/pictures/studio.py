"""The pictures of the studio: ``python docs/pictures/studio.py [NAME..]`` takes them of the real page.

It needs a Chromium of the system, and Pillow, which Matplotlib brings.
Every picture has a function of its name, which leads a new page to what is shown.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).parent
#: the largest file, in bytes
MOST = 150_000
WIDE = {"width": 1440, "height": 900}
SMALL = {"width": 1280, "height": 760}


def explained(page: Page) -> None:
    """One detection of a run of the flights example, with its constituents."""
    page.get_by_role("tab", name="Run").click()
    ran(page)
    page.get_by_role("textbox", name="Filter detections").fill("KnockOn")
    page.locator("[data-testid=detection][data-type=KnockOn]").nth(2).click()
    page.get_by_test_id("constituent").first.wait_for()


def text(page: Page) -> None:
    """An attribute that does not exist, and the completion of another one."""
    rules = page.get_by_role("textbox", name="Rules")
    rules.wait_for()
    page.get_by_text("0 errors").wait_for()
    page.get_by_role("button", name="Properties and why").click()
    add(page, "a1=Patient(a1.contrDuration > 5)", 1, " and a1.length > 2")
    page.locator(".cm-lintRange-error").first.wait_for()
    add(page, "a1=Patient(a1.contrDuration > 35)", 2, " and a1.t")
    page.keyboard.press("Control+Space")
    page.locator(".cm-tooltip-autocomplete").wait_for()
    page.locator(".cm-lintRange-error").nth(1).wait_for()


def add(page: Page, line: str, before: int, text: str) -> None:
    """Types a text into a line, so many characters before its end."""
    page.locator(".cm-line", has_text=line).click()
    page.mouse.move(0, 0)
    page.keyboard.press("End")
    for _ in range(before):
        page.keyboard.press("ArrowLeft")
    page.keyboard.type(text)


def graph(page: Page) -> None:
    """The pattern of contractions that come at most five minutes apart."""
    page.get_by_role("tab", name="Graph").click()
    page.get_by_test_id("node-ComplexEvent").wait_for()
    page.get_by_role("button", name="Overview").click()
    page.get_by_role("button", name="Problems", exact=True).first.click()
    page.get_by_role("button", name="Fit view").click()
    page.get_by_test_id("node-a2").click()
    page.mouse.move(0, 0)


def plan(page: Page) -> None:
    """The plan of the labor example."""
    page.get_by_role("tab", name="Plan").click()
    page.get_by_test_id("plan-Duration").wait_for()


def net(page: Page) -> None:
    """A page of the net after some firings."""
    page.get_by_role("tab", name="Net").click()
    page.get_by_test_id("net").wait_for(timeout=60_000)
    page.get_by_role("button", name="Problems", exact=True).first.click()
    page.get_by_role("combobox", name="Page").select_option("Duration_a1")
    for count in range(1, 7):
        page.get_by_role("button", name="Step", exact=True).click()
        page.get_by_test_id("net-steps").get_by_text(str(count), exact=True).wait_for()


def why(page: Page) -> None:
    """A run of the labor example, and the events that one detection is made of."""
    page.get_by_role("tab", name="Run").click()
    ran(page)
    page.locator("[data-testid=detection][data-type=Duration]").nth(1).click()
    page.get_by_test_id("constituent").first.wait_for()


def why_not(page: Page) -> None:
    """A run of the labor example, and why there is no Duration at minute 23."""
    page.get_by_role("tab", name="Run").click()
    ran(page)
    page.get_by_test_id("detection").first.wait_for()
    timeline, lane = page.get_by_test_id("timeline"), page.get_by_test_id("lane-Duration").bounding_box()
    box = timeline.bounding_box()
    assert box is not None
    assert lane is not None
    begin, end = (int(timeline.get_attribute(f"data-{side}") or 0) for side in ("from", "to"))
    x = box["x"] + box["width"] * (23 - begin) / (end - begin)
    page.mouse.click(x, lane["y"] + lane["height"] / 2)
    page.get_by_test_id("failed-clause").first.wait_for(timeout=120_000)
    for panel in ("Properties", "Problems"):
        page.get_by_role("button", name=panel, exact=True).first.click()
    page.mouse.move(0, 0)


def ran(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("[data-testid=run-state][data-state=done]").wait_for(timeout=120_000)


#: the name of a picture, the example, the size of the page, and the way there
SHOTS: list[tuple[str, str, dict[str, int], Callable[[Page], None]]] = [
    ("studio", "flights", WIDE, explained),
    ("studio-text", "labor", SMALL, text),
    ("studio-graph", "labor", SMALL, graph),
    ("studio-plan", "labor", SMALL, plan),
    ("studio-net", "labor", SMALL, net),
    ("studio-why", "labor", SMALL, why),
    ("studio-why-not", "labor", SMALL, why_not),
]


@contextmanager
def studio(example: str) -> Iterator[str]:
    """The URL of a studio on a fresh copy of an example."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "occurs.cli", "studio", folder, "--example", example, "--no-browser"]
        process = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)


def take(browser: Browser, name: str, example: str, size: dict[str, int], lead: Callable[[Page], None]) -> None:
    path = PICTURES / f"{name}.png"
    with studio(example) as url:
        context = browser.new_context(viewport=size, color_scheme="light", reduced_motion="reduce")
        page = context.new_page()
        page.goto(url)
        lead(page)
        page.wait_for_timeout(1000)
        page.screenshot(path=path)
        context.close()
    with_palette(Image.open(path).convert("RGB")).save(path, optimize=True)
    if path.stat().st_size > MOST:
        raise SystemExit(f"{path.name} has {path.stat().st_size} bytes, more than {MOST}")


def with_palette(image: Image.Image) -> Image.Image:
    """The picture in 256 colours, a third of the bytes: the most frequent ones as they are, the others nearly."""
    counted = sorted(image.getcolors(1 << 24) or [], reverse=True)
    exact = [channel for _, colour in counted[:160] for channel in colour]
    rest = image.quantize(96, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette((exact + rest)[: 3 * 256])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def main() -> None:
    wanted = sys.argv[1:] or [name for name, *_ in SHOTS]
    if unknown := set(wanted) - {name for name, *_ in SHOTS}:
        raise SystemExit(f"no such picture: {', '.join(sorted(unknown))}")
    path = os.environ.get("OCCURS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=root)
        for shot in SHOTS:
            if shot[0] in wanted:
                take(browser, *shot)
        browser.close()


if __name__ == "__main__":
    main()
