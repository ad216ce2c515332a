"""Access for everyone: axe in all views and both themes, the keyboard, the address, a narrow window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.xdist_group("browser")
AXE = Path(__file__).parents[3] / "studio-ui" / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Any) -> list[str]:
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")["violations"]
    return [
        f"{v['id']}: {node['target']} {node['failureSummary']}"
        for v in found
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_view(
    serve: Callable[..., Any], visit: Callable[..., Any], theme: str
) -> None:
    page = visit(serve("flights"), "/flights.tesla/text", color_scheme=theme)
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done")
    assert violations(page) == []
    page.get_by_role("tab", name="Plan").click()
    expect(page.get_by_test_id("plan-Late")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("tab", name="Run").click()
    assert violations(page) == []
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "done", timeout=60_000)
    page.get_by_test_id("detection").first.click()
    expect(page.get_by_test_id("constituent").first).to_be_visible()
    assert violations(page) == []
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1


def test_an_empty_project_says_what_to_do(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="nothing"))
    expect(page.get_by_role("main")).to_contain_text("example")
    assert violations(page) == []


def test_a_new_file_by_keyboard_only(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="keys", files={"rows.csv": "type,time,value\nTemp,2024-01-01T00:00:00Z,50\n"})
    page = visit(served)
    page.get_by_role("button", name="New file").first.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="New file")
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.type("heat.tesla")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Rules")).to_be_visible()
    page.get_by_role("textbox", name="Rules").focus()
    page.keyboard.insert_text("event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "1", timeout=60_000)
    assert "define Hot" in served.read("heat.tesla")


def test_the_address_opens_a_file_and_a_view(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/cancellations.epl/text")
    expect(page.get_by_role("textbox", name="Rules")).to_contain_text("CalledOff")
    page.get_by_role("tab", name="Plan").click()
    expect(page.get_by_role("tab", name="Plan")).to_have_attribute("aria-selected", "true")
    assert "plan" in page.evaluate("location.hash").lower()
    page.go_back()
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    assert "token" not in page.url


@pytest.mark.parametrize("size", [(1024, 768), (800, 600)])
def test_nothing_is_lost_in_a_narrow_window(
    serve: Callable[..., Any], visit: Callable[..., Any], size: tuple[int, int]
) -> None:
    page = visit(serve("flights"), "/flights.tesla/text", viewport={"width": size[0], "height": size[1]})
    expect(page.get_by_role("textbox", name="Rules")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


