"""The page "Ten minutes in the studio", step by step: its sections are the functions here, in the same order."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.amount import some

pytestmark = pytest.mark.xdist_group("browser")
PAGE = Path(__file__).parents[3] / "docs" / "start" / "studio-walk.md"
SLOW = 60_000
#: names that the walk has used or seen; the page may name no others
SEEN: set[str] = set()


def node(page: Any, id: str) -> Any:
    return page.get_by_test_id(f"node-{id}")


def click(page: Any, target: Any) -> None:
    """Click once edits are answered and the target stands still: what moves under a press is not pressed."""
    expect(page.locator("[data-testid=epl-preview][data-waiting]")).to_have_count(0)
    before = None
    while before != (before := target.bounding_box()):
        page.wait_for_timeout(150)
    target.click()


def press(page: Any, name: str) -> None:
    SEEN.add(name)
    click(page, page.get_by_role("button", name=name, exact=True))


def panel(page: Any, name: str) -> Any:
    SEEN.add(name)
    found = page.get_by_role("region", name=name, exact=True)
    expect(found).to_be_visible()
    return found


def heading(page: Any, name: str) -> None:
    SEEN.add(name)
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def view(page: Any, name: str) -> None:
    SEEN.add(name)
    page.get_by_role("tab", name=name, exact=True).click()


def tool(page: Any, name: str) -> Any:
    SEEN.add(name)
    return panel(page, "Palette").get_by_role("button", name=name, exact=True)


def fill(page: Any, name: str, text: str) -> None:
    SEEN.add(name)
    field = panel(page, "Properties").get_by_role("textbox", name=name, exact=True)
    field.fill(text)
    field.press("Enter")


def choose(page: Any, name: str, value: str) -> None:
    """Choose in a list, which has its name on hover only."""
    page.get_by_role("combobox", name=name, exact=True).select_option(value)


def drag(page: Any, source: Any, target: Any, at: tuple[float, float] = (0.5, 0.5)) -> None:
    """Drag by the mouse, once the drawing stands still; ``at``: a part of the target's width and height."""
    source.scroll_into_view_if_needed()
    before = None
    while before != (before := target.bounding_box()):
        page.wait_for_timeout(150)
    start, end = source.bounding_box(), before
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] * at[0] - 4, end["y"] + end["height"] * at[1] - 4, steps=6)
    page.mouse.move(end["x"] + end["width"] * at[0], end["y"] + end["height"] * at[1], steps=2)
    page.mouse.up()


def blocks(title: str) -> list[str]:
    """The blocks of code in one section of the page."""
    section = PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^```\w+[^\n]*\n(.*?)^```", section, re.DOTALL | re.MULTILINE)


def named() -> set[str]:
    """The names of buttons, fields and panels on the page: in italics."""
    text = re.sub(r"^```.*?^```", "", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    return set(re.findall(r"(?<![*\w])\*([^*\n]+)\*(?![*\w])", text))


def words(text: str) -> list[str]:
    return text.replace(";", "").split()


@pytest.mark.parametrize("size", some([(1440, 900), (1280, 720)], 1), ids=["large", "small"])
def test_ten_minutes_in_the_studio(
    serve: Callable[..., Any], visit: Callable[..., Any], size: tuple[int, int]
) -> None:
    served = serve("labor", name=f"walk-{size[0]}")
    page = visit(served, viewport={"width": size[0], "height": size[1]})
    SEEN.clear()
    look_at_a_pattern(page)
    change_a_condition(page)
    draw_a_pattern(page)
    see_an_error_and_fix_it(page)
    choose_the_columns(page)
    view(page, "Text")
    expect(page.get_by_role("textbox", name="Rules")).to_contain_text("insert into Weaker")
    press(page, "Save")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert words(blocks("Choose the columns")[0]) == words(served.read("labor.epl").split("\n\n")[-1])
    run(page)
    ask_why(page)
    step_the_net(page)
    export(page)
    assert named() - SEEN == {"italics"}


def look_at_a_pattern(page: Any) -> None:
    view(page, "Graph")
    expect(page.get_by_role("combobox", name="Statement")).to_have_value("Duration")
    for id in ("a1", "a2", "Every1", "FollowedBy1", "ComplexEvent"):
        expect(node(page, id)).to_be_visible()
    expect(node(page, "a1")).to_contain_text("contrDuration > 35")
    expect(node(page, "a2").locator("text=a2.ts - a1.ts <= 5")).to_be_visible()
    expect(node(page, "ComplexEvent")).to_contain_text("last_delay")


def change_a_condition(page: Any) -> None:
    preview = page.get_by_test_id("epl-preview")
    panel(page, "EPL")
    click(page, node(page, "a1"))
    choose(page, "Operator 1", ">=")
    expect(preview).to_contain_text("every a1=Patient(a1.contrDuration >= 35)")
    press(page, "Undo")
    expect(preview).to_contain_text("every a1=Patient(a1.contrDuration > 35)")


def draw_a_pattern(page: Any) -> None:
    press(page, "New pattern")
    SEEN.add("Name")
    page.get_by_role("dialog", name="New pattern").get_by_role("textbox", name="Name").fill("Weaker")
    press(page, "Create")
    expect(node(page, "ComplexEvent")).to_have_attribute("data-errors", "2")
    expect(page.get_by_test_id("epl-preview")).to_contain_text("Not in the text yet")
    tool(page, "Patient").click()
    expect(page.get_by_test_id("link-a1-ComplexEvent")).to_have_count(1)
    tool(page, "Every").click()
    expect(page.get_by_test_id("link-Every1-ComplexEvent")).to_have_count(1)
    tool(page, "Followed by").click()
    expect(node(page, "FollowedBy1")).to_have_attribute("data-errors", "1")
    press(page, "Fit view")
    press(page, "Overview")
    drag(page, tool(page, "Patient"), page.get_by_test_id("canvas"), (0.3, 0.15))
    expect(node(page, "a2")).to_be_visible()
    drag(page, page.get_by_test_id("out-a2"), page.get_by_test_id("in-FollowedBy1"))
    expect(page.get_by_test_id("link-a2-FollowedBy1")).to_have_attribute("data-order", "2")
    expect(node(page, "FollowedBy1")).to_have_attribute("data-errors", "0")
    press(page, "Auto layout")
    press(page, "Fit view")


def see_an_error_and_fix_it(page: Any) -> None:
    click(page, node(page, "a1"))
    press(page, "Add condition")
    fill(page, "Condition 1", "a1.contrDuration > 35")
    click(page, node(page, "a2"))
    press(page, "Add condition")
    choose(page, "Property 1", "a2.name")
    choose(page, "Operator 1", "=")
    choose(page, "Value 1", "a1.name")
    press(page, "Add condition")
    fill(page, "Condition 2", "a2.duration < 20")
    expect(node(page, "a2")).to_have_attribute("data-errors", "1")
    said, hint = blocks("See an error and fix it")[-1].strip().split("\n")
    problem = page.locator('[data-testid=problem][data-node="a2"]')
    expect(problem).to_contain_text(said)
    expect(panel(page, "Problems")).to_contain_text(hint)
    fill(page, "Condition 2", "a2.contrDuration < 20")
    expect(node(page, "a2")).to_have_attribute("data-errors", "0")


def choose_the_columns(page: Any) -> None:
    click(page, node(page, "a1"))
    heading(page, "Attributes")
    click(page, page.get_by_role("button", name=re.compile(r"^Use a1\.name\b")))
    click(page, node(page, "ComplexEvent"))
    expect(page.get_by_role("textbox", name="Column 1 value")).to_have_value("a1.name")
    press(page, "Add column")
    fill(page, "Column 2 name", "gap")
    fill(page, "Column 2 value", "a2.ts - a1.ts")
    expect(page.get_by_test_id("epl-preview")).to_have_attribute("data-state", "valid")
    expect(page.get_by_test_id("epl-preview")).to_contain_text("as gap")


def run(page: Any) -> None:
    view(page, "Run")
    press(page, "Run")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "15", timeout=SLOW)
    press(page, "Fit")
    for type, count in (("Duration", 3), ("TimeOnLabor", 9), ("Weaker", 3)):
        expect(page.get_by_test_id(f"lane-{type}")).to_have_attribute("data-count", str(count))


def ask_why(page: Any) -> None:
    row = page.locator("[data-testid=detection][data-type=Weaker]").first
    row.click()
    expect(row).to_contain_text("gap 6")
    constituents = panel(page, "Why").get_by_test_id("constituent")
    expect(constituents).to_have_count(2)
    for i, (role, line) in enumerate((("a1", 4), ("a2", 6))):
        expect(constituents.nth(i)).to_have_attribute("data-role", role)
        expect(constituents.nth(i)).to_contain_text(f"rows.csv:{line}")
    view(page, "Graph")
    expect(node(page, "ComplexEvent").locator(".node-passed")).to_have_text("3")
    view(page, "Run")


def step_the_net(page: Any) -> None:
    view(page, "Net")
    page.get_by_test_id("net").wait_for(timeout=SLOW)
    expect(page.get_by_test_id("place-Input")).to_have_attribute("data-tokens", "12")
    choose(page, "Page", "Weaker_a1")
    SEEN.add("Firings")
    fired = page.get_by_role("list", name="Firings").get_by_role("listitem")
    count = 0
    while "Weaker_a1_t" not in (fired.last.inner_text() if count else ""):
        press(page, "Step")
        count += 1
        expect(page.get_by_test_id("net-steps")).to_have_text(str(count))
    expect(page.get_by_text("row 3 of 12")).to_be_visible()
    expect(fired.last).to_contain_text("row 3")
    panel(page, "Text")
    expect(page.locator("mark").first).to_contain_text("a1=Patient(a1.contrDuration > 35)")
    press(page, "Back")
    expect(page.get_by_test_id("net-steps")).to_have_text(str(count - 1))
    press(page, "Run to end")
    expect(page.get_by_test_id("net-steps")).to_have_text("78")
    expect(page.locator("[data-derived=Weaker]")).to_have_count(3)


def export(page: Any) -> None:
    for item, suffix in (("Detections (CSV)", ".csv"), ("Timeline as a page (HTML)", ".html")):
        press(page, "Export")
        SEEN.add(item)
        with page.expect_download() as told:
            page.get_by_role("menuitem", name=item).click()
        assert told.value.suggested_filename.endswith(suffix)
