"""Access for everyone: axe in all views and both themes, the keyboard, the address, a narrow window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.amount import some

from studio.browser.acting import violations

pytestmark = pytest.mark.xdist_group("browser")
HEAT = "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"


@pytest.mark.parametrize("theme", some(["light", "dark"], 1))
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


def test_axe_finds_what_is_serious(browser: Any) -> None:
    page = browser.new_page()
    page.set_content("<html lang=en><title>A page</title><main><h1>A page</h1><img src='data:,'></main></html>")
    assert [one.partition(":")[0] for one in violations(page)] == ["image-alt"]
    page.close()


@pytest.mark.parametrize("theme", some(["light", "dark"], 1))
def test_axe_finds_nothing_serious_in_drawings(
    serve: Callable[..., Any], visit: Callable[..., Any], theme: str
) -> None:
    served = serve("labor", name=f"drawn-{theme}")
    page = visit(served, "/labor.epl/graph/Duration", color_scheme=theme)
    expect(page.get_by_test_id("node-a2")).to_be_visible()
    assert violations(page) == []
    page.get_by_test_id("node-a2").click()
    condition = page.get_by_role("textbox", name="Condition 1", exact=True)
    condition.fill("a2.nothing = 1")
    condition.press("Enter")
    expect(page.get_by_test_id("node-a2")).to_have_attribute("data-errors", "1")
    assert violations(page) == []
    page.get_by_role("button", name="New pattern").click()
    expect(page.get_by_role("dialog", name="New pattern")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Domain").click()
    expect(page.get_by_test_id("type-Patient")).to_be_visible()
    assert violations(page) == []


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




def settled(page: Any) -> None:
    """Colours of what has just opened are mixed no more."""
    page.wait_for_timeout(300)


@pytest.mark.parametrize("theme", some(["light", "dark"], 1))
def test_axe_finds_nothing_serious_in_dialogs_menus_and_drawers(
    serve: Callable[..., Any], visit: Callable[..., Any], theme: str
) -> None:
    served = serve(name="axe", files={"heat.tesla": HEAT, "rows.csv": "type,time,value\nTemp,1,50\n"})
    served.write("heat.tesla", HEAT)
    page = visit(served, "/heat.tesla/text", color_scheme=theme, viewport={"width": 900, "height": 700})
    status = page.get_by_test_id("check-status")
    expect(status).to_have_attribute("data-state", "done")
    page.get_by_role("button", name="New file").first.wait_for(state="detached")  # in a drawer
    page.get_by_role("button", name="Files and outline").click()
    expect(page.get_by_role("tree", name="Files")).to_be_visible()
    settled(page)
    assert violations(page) == []
    page.get_by_role("button", name="New file").first.click()
    expect(page.get_by_role("dialog", name="New file")).to_be_visible()
    page.keyboard.type("wrong.txt")
    page.keyboard.press("Enter")
    settled(page)
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    for keys, name in (("Control+p", "Go to file or definition"), ("?", "Keys")):
        page.get_by_role("tab", name="Text").focus()
        page.keyboard.press(keys)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        settled(page)
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    for menu in ("Export", "Theme", "Name at the cursor"):
        page.get_by_role("button", name=menu).click()
        expect(page.get_by_role("menu")).to_be_visible()
        settled(page)
        assert violations(page) == []
        page.keyboard.press("Escape")
    # errors in the list, and a file that changed elsewhere, compared
    editor = page.get_by_role("textbox", name="Rules")
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("define X(v) from Hot() where v = Ht.v")
    expect(status).to_have_attribute("data-errors", "1")
    settled(page)
    assert violations(page) == []
    served.write("heat.tesla", HEAT + "# theirs\n")
    dialog = page.get_by_role("dialog", name="Changed elsewhere")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Compare").click()
    expect(dialog.locator(".cm-merge-b")).to_contain_text("define X")
    settled(page)
    assert violations(page) == []
    dialog.get_by_role("button", name="Take theirs").click()
    expect(dialog).to_have_count(0)


def test_the_theme_is_chosen_and_kept(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/flights.tesla/text", color_scheme="light")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "light"
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    assert page.evaluate(theme) == "dark"
    page.reload()
    expect(page.get_by_role("textbox", name="Rules")).to_be_visible()
    assert page.evaluate(theme) == "dark"
    page.get_by_role("button", name="Theme").click()
    expect(page.get_by_role("menuitemradio", name="Dark")).to_be_checked()
    page.get_by_role("menuitemradio", name="System").click()
    assert page.evaluate(theme) == "light"


def test_the_editor_is_left_with_escape_and_tab(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/flights.tesla/text")
    editor = page.get_by_role("textbox", name="Rules")
    expect(editor).to_contain_text("define")
    editor.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(editor).not_to_be_focused()
    expect(page.get_by_test_id("dirty")).to_have_count(0)


def test_an_address_of_a_missing_file_says_so(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/nothing.epl/text")
    expect(page.get_by_text("nothing.epl is not in this directory")).to_be_visible()
    page.go_back()
    page.go_forward()
    expect(page.get_by_role("textbox", name="Rules")).to_be_visible()


def test_the_statement_of_an_address_is_shown(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve("flights")
    page = visit(served, "/flights.tesla/text/KnockOn")
    line = next(i for i, text in enumerate(served.read("flights.tesla").split("\n"), 1) if "define KnockOn" in text)
    expect(page.get_by_text(f"Ln {line}, Col 1", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="Properties")).to_contain_text("KnockOn")
    page.get_by_role("tab", name="Run").click()
    page.go_back()
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.get_by_role("tab", name="Run")).to_have_attribute("aria-selected", "true")


def test_forced_colours_and_a_page_at_200_percent(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    small = {"width": 640, "height": 400}  # 1280 by 800 at 200 %
    page = visit(serve("flights"), "/flights.tesla/text", viewport=small, forced_colors="active")
    expect(page.get_by_role("textbox", name="Rules")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for name in ("Save", "Export", "Theme", "Files and outline", "Properties and why", "Keys"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Theme").click()
    border = page.locator(".menu-popover").evaluate("element => getComputedStyle(element).borderTopWidth")
    assert border == "1px"
    page.keyboard.press("Escape")
