"""The frame of the page in a real browser: tabs and keys, panels, menus, dialogs, the status bar."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import editor

pytestmark = pytest.mark.xdist_group("browser")
HEAT = {"heat.tesla": "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"}


def shown(page: Any, view: str) -> None:
    expect(page.get_by_role("tab", name=view, exact=True)).to_have_attribute("aria-selected", "true")


def test_the_numbers_of_views_are_their_keys(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="numbers", files=HEAT), "/heat.tesla/text")
    expect(editor(page)).to_contain_text("define Hot")
    tabs = page.get_by_role("tablist", name="Views").get_by_role("tab").all_inner_texts()
    for number, view in enumerate(("Text", "Graph", "Domain", "Plan", "Net", "Run"), 1):
        before = page.locator("[role=tab][aria-selected=true]").inner_text()
        page.keyboard.press(f"Control+{number}")
        shown(page, view if view in tabs else before)
    page.keyboard.press("Control+1")
    shown(page, "Text")


def test_the_address_of_a_view_that_is_not_there_opens_the_text(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="numbers", files=HEAT)
    page = visit(served, "/heat.tesla/plan/Hot")
    shown(page, "Plan")
    tabs = page.get_by_role("tablist", name="Views").get_by_role("tab").all_inner_texts()
    for view in {"Graph", "Domain", "Net"} - {*tabs}:
        page.goto(f"http://{served.home}/#/heat.tesla/{view.lower()}/Hot")
        shown(page, "Text")
        expect(editor(page)).to_contain_text("define Hot")
        expect(page.get_by_text("Ln 2, Col 1", exact=True)).to_be_visible()


def height(locator: Any) -> float:
    return float(locator.bounding_box()["height"])


def test_panels_collapse_are_resized_and_stay_so(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="panels", files=HEAT), "/heat.tesla/text")
    expect(page.get_by_role("tree", name="Outline")).to_contain_text("Hot")
    split = page.get_by_role("separator", name="Between files and outline")
    before = height(page.locator(".side-upper").first)
    # two keys within a frame: the second goes on from where the first has put the line
    split.evaluate(
        """async (line) => {
            for (let press = 0; press < 2; press++) {
                line.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", shiftKey: true, bubbles: true }));
                await Promise.resolve();
            }
        }"""
    )
    after = height(page.locator(".side-upper").first)
    assert after >= before + 100
    page.get_by_role("separator", name="Files and outline", exact=True).focus()
    page.keyboard.press("Shift+ArrowRight")
    width = page.get_by_role("complementary", name="Files and outline").bounding_box()["width"]
    page.get_by_role("button", name="Why", exact=True).click()
    expect(page.get_by_role("region", name="Why")).not_to_contain_text("Choose a detection")
    page.reload()
    expect(page.get_by_role("tree", name="Outline")).to_contain_text("Hot")
    assert abs(height(page.locator(".side-upper").first) - after) <= 1
    assert page.get_by_role("complementary", name="Files and outline").bounding_box()["width"] == width
    expect(page.get_by_role("button", name="Why", exact=True)).to_have_attribute("aria-expanded", "false")
    # a title that is collapsed leaves its room to the other panel
    page.get_by_role("button", name="Outline", exact=True).click()
    expect(page.get_by_role("tree", name="Outline")).to_have_count(0)
    assert height(page.locator(".side-upper").first) > 500


def test_problems_are_a_line_while_there_are_none(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="panels", files=HEAT), "/heat.tesla/text")
    region = page.get_by_role("region", name="Problems")
    expect(region).to_contain_text("No problems")
    assert height(region) < 40
    # the cursor stays in view when the list opens below it
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n" * 60 + "define X(v) from Hot() where v = Ht.v")
    expect(page.get_by_test_id("problem")).to_have_count(1)
    assert height(region) > 50
    expect(page.locator(".cm-activeLine")).to_be_in_viewport(ratio=1)
    inside = page.locator(".cm-scroller").bounding_box()
    line = page.locator(".cm-activeLine").bounding_box()
    assert line["y"] + line["height"] <= inside["y"] + inside["height"] + 1
    # one problem takes no more than its own room, until somebody drags the line
    assert height(region) < 110
    line = page.get_by_role("separator", name="Problems")
    line.press("ArrowUp")
    line.press("ArrowUp")
    assert height(region) > 110
    line.press("Enter")
    assert height(region) < 110
    editor(page).focus()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(page.get_by_test_id("problem")).to_have_count(0)
    expect(region).to_contain_text("No problems")
    expect(region.locator(".panel-body")).to_have_count(0)


def test_a_tab_that_is_clicked_while_the_page_loads_stays(
    browser: Any, serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    held: list[Any] = []
    context.route(re.compile(r"/api/v1/files$"), lambda route: held.append(route), times=1)
    page = visit(serve("labor"), "/labor.epl/run", context=context)
    page.get_by_role("tab", name="Plan").click()
    expect(page.get_by_role("tab", name="Plan")).to_have_attribute("aria-selected", "true")
    (files,) = held
    files.continue_()
    expect(page.get_by_test_id("plan-Duration")).to_be_visible()
    shown(page, "Plan")
    page.wait_for_function("location.hash.includes('labor.epl/plan')")


def test_drawers_of_a_narrow_window(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/flights.tesla/run", viewport={"width": 800, "height": 700})
    toggle = page.get_by_role("button", name="Files and outline")
    drawer = page.get_by_role("complementary", name="Files and outline")
    toggle.click()
    expect(drawer).to_be_visible()
    expect(drawer.get_by_role("button", name="Close panel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(toggle).to_be_focused()
    toggle.click()
    page.mouse.click(700, 400)  # beside it
    expect(drawer).to_have_count(0)
    # Why is shown when a detection is chosen
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "done", timeout=60_000)
    page.get_by_test_id("detection").first.click()
    expect(page.get_by_test_id("constituent").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="Why")).to_have_count(0)
    # one that is chosen by keyboard: the focus does not stay behind the veil
    row = page.get_by_test_id("detection").first
    row.focus()
    page.keyboard.press("Enter")
    side = page.get_by_role("complementary", name="Properties and why")
    expect(side.get_by_role("button", name="Close panel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(side).to_have_count(0)
    expect(row).to_be_focused()


def test_the_status_bar_counts_the_events(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"), "/labor.epl/text")
    bar = page.get_by_role("contentinfo")
    expect(bar).to_contain_text("12 events, ")
    text = bar.inner_text()
    places = [text.index(part) for part in ("0 errors", "EPL", "Ln 1", "12 events", "Connected")]
    assert places == sorted(places)


def test_a_torn_file_keeps_its_outline_and_all_colours(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    warm = "insert into Warm select a.v as v from pattern[every a=Hot];\n"
    served = serve(name="torn", files={**HEAT, "warm.epl": warm})
    page = visit(served, "/heat.tesla/text")
    outline = page.get_by_role("tree", name="Outline")
    entry = outline.get_by_role("treeitem", name="Warm", exact=True)
    expect(entry).to_be_visible()
    colour = "element => element.querySelector('.swatch path').getAttribute('fill')"
    before = entry.evaluate(colour)
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("define define")
    expect(page.get_by_test_id("check-status")).not_to_have_attribute("data-errors", "0")
    expect(outline.get_by_role("treeitem", name="Hot", exact=True)).to_be_visible()
    assert entry.evaluate(colour) == before


def test_disabled_controls_say_why(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="panels", files=HEAT), "/heat.tesla/text")
    expect(editor(page)).to_contain_text("define Hot")
    for name, why in (("Undo", "nothing to undo"), ("Redo", "nothing to redo"), ("Save", "Nothing to save")):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_disabled()
        assert why in button.evaluate("element => element.parentElement.title")
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("menuitem", name="Detections (CSV)")).to_contain_text("run the rules first")


def test_an_outline_of_thousands_draws_what_is_in_view(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rules = HEAT["heat.tesla"] + "".join(
        f"define Hot{i}(v) from Temp(value > {i}) where v = Temp.value\n" for i in range(1400)
    )
    page = visit(serve(name="thousands", files={"heat.tesla": rules}), "/heat.tesla/text")
    outline = page.get_by_role("tree", name="Outline")
    first = outline.get_by_role("treeitem", name="Temp", exact=True)
    expect(first).to_be_visible(timeout=60_000)
    assert outline.get_by_role("treeitem").count() < 120
    expect(first).to_have_attribute("aria-setsize", "1402")
    first.click()
    page.keyboard.press("Control+1")
    first.focus()
    page.keyboard.press("End")
    last = outline.get_by_role("treeitem", name="Hot1399", exact=True)
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("aria-posinset", "1402")
    page.keyboard.press("ArrowUp")
    expect(outline.get_by_role("treeitem", name="Hot1398", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ln 1\u2009401, Col 1", exact=True)).to_be_visible()
    assert outline.get_by_role("treeitem").count() < 120


def test_go_to_has_one_chosen_row_and_lists_definitions_first(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = visit(serve(name="panels", files=HEAT), "/heat.tesla/text")
    expect(page.get_by_role("tree", name="Outline")).to_contain_text("Hot")
    page.keyboard.press("Control+p")
    rows = page.get_by_role("dialog").get_by_role("option")
    expect(rows.first).to_contain_text("Temp")
    expect(rows.last).to_contain_text("TESLA")
    rows.last.hover()
    expect(rows.last).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("dialog").locator("[aria-selected=true]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
