"""The whole chain of the studio in a real browser, from the drawing and from the text.

A directory with rows and no rules gets its types of events from the rows, and a pattern: drawn, or typed.  Drawing and
text agree, the net is stepped, engine, reference and nets find the same, and a run explains each detection.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import TimeoutError, expect
from tests.amount import some

pytestmark = pytest.mark.xdist_group("browser")
LABOR = Path(__file__).parents[3] / "src" / "occurs" / "studio" / "examples" / "labor"
SLOW = 60_000

SCHEMA = "create schema Patient(name string, contrDuration int, ts int);"
DURATION = """@Name('Duration')
insert into Duration
select a1.name as patientId, a2.ts - a1.ts as last_delay
from pattern [every a1=Patient(a1.contrDuration > 35) -> \
a2=Patient(a2.name = a1.name, a2.contrDuration > 35, a2.ts - a1.ts <= 5)];
"""
#: of each detection: the rows that it is made of, as lines of the file
FOUND = [(7, 8), (9, 10), (11, 13)]


def node(page: Any, id: str) -> Any:
    return page.get_by_test_id(f"node-{id}")


def pick(page: Any, id: str, shown: Any) -> None:
    """Click a node until what belongs to it is shown: the drawing may have moved it away from the pointer."""
    node(page, id).click()
    try:
        shown.wait_for(timeout=5_000)
    except TimeoutError:
        node(page, id).click()
        shown.wait_for()


def tool(page: Any, id: str) -> Any:
    return page.get_by_test_id(f"tool-{id}")


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def view(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def fill(page: Any, name: str, text: str) -> None:
    field = page.get_by_role("region", name="Properties").get_by_role("textbox", name=name, exact=True)
    field.fill(text)
    field.press("Enter")


def choose(page: Any, name: str, value: str) -> None:
    page.get_by_role("combobox", name=name, exact=True).select_option(value)


def empty(serve: Callable[..., Any], name: str) -> Any:
    """A studio on the rows of the example, with a file of rules that is empty."""
    kept = {path: (LABOR / path).read_text() for path in ("rows.csv", "studio.json")}
    return serve(name=name, files={"labor.epl": "", **kept})


def write_down_the_events(page: Any) -> None:
    page.get_by_role("button", name="Detect from events", exact=True).first.click()
    page.get_by_role("dialog", name="Detect from events").get_by_role("button", name="Write").click()
    expect(page.get_by_role("textbox", name="Name of Patient.contrDuration", exact=True)).to_be_visible()


def draw_the_pattern(page: Any) -> None:
    view(page, "Graph")
    page.get_by_role("button", name="New pattern", exact=True).first.click()
    dialog = page.get_by_role("dialog", name="New pattern")
    dialog.get_by_role("textbox", name="Name").fill("Duration")
    dialog.get_by_role("button", name="Create").click()
    for id in ("Event:Patient", "Every", "FollowedBy", "Event:Patient"):
        tool(page, id).click()
    expect(page.get_by_test_id("link-a2-FollowedBy1")).to_have_attribute("data-order", "2")
    pick(page, "FollowedBy1", page.get_by_role("combobox", name="Operand of", exact=True))
    choose(page, "Operand of", "ComplexEvent")
    node(page, "a1").click()
    # a mistake shows at its node and goes when it is mended
    press(page, "Add condition")
    fill(page, "Condition 1", "a1.length > 35")
    expect(page.locator('[data-testid=problem][data-node="a1"]')).to_contain_text("length")
    choose(page, "Property 1", "a1.contrDuration")
    expect(page.locator('[data-testid=problem][data-node="a1"][data-severity=error]')).to_have_count(0)
    node(page, "a2").click()
    for n, text in enumerate(("a2.name = a1.name", "a2.contrDuration > 35", "a2.ts - a1.ts <= 5"), start=1):
        press(page, "Add condition")
        fill(page, f"Condition {n}", text)
    node(page, "ComplexEvent").click()
    for n, (name, value) in enumerate((("patientId", "a1.name"), ("last_delay", "a2.ts - a1.ts")), start=1):
        press(page, "Add column")
        fill(page, f"Column {n} value", value)
        fill(page, f"Column {n} name", name)


def type_the_pattern(page: Any) -> None:
    view(page, "Text")
    page.get_by_role("textbox", name="Rules").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.insert_text(DURATION)
    view(page, "Graph")


def look_at_the_drawing(page: Any) -> None:
    expect(page.get_by_test_id("epl-preview")).to_have_attribute("data-state", "valid")
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-errors", "0")
    expect(page.locator("[data-testid=problem][data-severity=error]")).to_have_count(0)
    expect(page.locator("[data-testid^=node-]")).to_have_count(5)
    for id in ("a1", "a2", "Every1", "FollowedBy1", "ComplexEvent"):
        expect(node(page, id)).to_have_attribute("data-errors", "0")
    expect(page.get_by_test_id("link-Every1-FollowedBy1")).to_have_attribute("data-order", "1")
    expect(node(page, "a2").locator("text=a2.ts - a1.ts <= 5")).to_be_visible()


def play_the_net(page: Any) -> None:
    view(page, "Net")
    page.get_by_test_id("net").wait_for(timeout=SLOW)
    expect(page.get_by_test_id("place-Input")).to_have_attribute("data-tokens", "12")
    steps = page.get_by_test_id("net-steps")
    fired = page.get_by_role("list", name="Firings").get_by_role("listitem")
    for count in (1, 2, 3):
        press(page, "Step")
        expect(steps).to_have_text(str(count))
        expect(fired).to_have_count(count)
    press(page, "Back")
    expect(steps).to_have_text("2")
    press(page, "Run to end")
    expect(page.locator("[data-derived=Duration]")).to_have_count(3)
    expect(page.get_by_role("button", name="Step", exact=True)).to_be_disabled()


def verify(page: Any) -> None:
    view(page, "Verify")
    press(page, "Verify")
    expect(page.get_by_test_id("net-verified")).to_have_attribute("data-equal", "true", timeout=SLOW)
    table = page.get_by_role("table", name="Verify")
    expect(table.get_by_role("columnheader")).to_have_text(["Type", "engine", "reference", "BPCPN", "PCPN"])
    expect(table.get_by_role("row").filter(has_text="Duration").get_by_role("cell")).to_have_text(["3"] * 4)


def run_and_ask_why(page: Any) -> None:
    view(page, "Run")
    press(page, "Run")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "3", timeout=SLOW)
    rows = page.locator("[data-testid=detection][data-type=Duration]")
    expect(rows).to_have_count(3)
    constituents = page.get_by_role("region", name="Why").get_by_test_id("constituent")
    for number, lines in enumerate(FOUND):
        rows.nth(number).click()
        for role, line in zip(("a1", "a2"), lines, strict=True):
            one = constituents.and_(page.locator(f"[data-role={role}]"))
            expect(one).to_contain_text(re.compile(rf"rows\.csv:{line}(?!\d)"))
    # and in the drawing
    view(page, "Graph")
    for id in ("a1", "a2", "Every1", "FollowedBy1", "ComplexEvent"):
        expect(node(page, id)).to_have_attribute("data-passed", "3")
        expect(node(page, id)).to_have_attribute("data-lit", "true")


@pytest.mark.parametrize("side", some(["drawn", "typed"], 1))
def test_a_pattern_goes_the_whole_way(serve: Callable[..., Any], visit: Callable[..., Any], side: str) -> None:
    served = empty(serve, side)
    page = visit(served, "/labor.epl/domain", viewport={"width": 1440, "height": 900})
    write_down_the_events(page)
    if side == "drawn":
        draw_the_pattern(page)
    else:
        type_the_pattern(page)
    look_at_the_drawing(page)
    play_the_net(page)
    verify(page)
    run_and_ask_why(page)
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    # drawn or typed, the file holds the same
    assert served.read("labor.epl").strip() == f"{SCHEMA}\n\n{DURATION}".strip()
