"""What most browser tests do with the page: its editor, its files, text at the end of a file, the end of a check."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

HEAT = "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"


def editor(page: Any) -> Any:
    return page.get_by_role("textbox", name="Rules")


def files(page: Any) -> Any:
    return page.get_by_role("tree", name="Files")


def append(page: Any, text: str) -> None:
    """Put a text at the end of the file that is shown."""
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def checked(page: Any, errors: int) -> None:
    """Wait until the program is checked, and has so many errors."""
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-errors", str(errors))
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done")


def run(page: Any, state: str = "done") -> Any:
    """Run the program, and wait until this run, not one before it, has the state."""
    page.get_by_role("tab", name="Run").click()
    shown = page.get_by_test_id("run-state")
    before = shown.get_attribute("data-job")
    page.get_by_role("button", name="Run", exact=True).click()
    if before is not None:
        expect(shown).not_to_have_attribute("data-job", before)
    expect(shown).to_have_attribute("data-state", re.compile(f"{state}|done|failed|cancelled"), timeout=60_000)
    assert shown.get_attribute("data-state") == state, page.locator("body").inner_text()  # which says why
    return shown


@cache
def _axe() -> str:
    return (Path(__file__).parents[3] / "studio-ui" / "node_modules" / "axe-core" / "axe.min.js").read_text()


def violations(page: Any) -> list[str]:
    """What axe finds that is serious."""
    page.evaluate(_axe())
    # what it passes is neither described nor sent, which takes most of the time
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    return [
        f"{v['id']}: {node['target']} {node['failureSummary']}"
        for v in found
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]
