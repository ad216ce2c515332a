"""Why and why not in the page: checks of a detection, an empty place of a lane, a repair that is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import editor, run, violations
from studio.browser.test_access import settled

pytestmark = pytest.mark.xdist_group("browser")
FIRE = """define Fire(Area, Value)
from   Smoke(Area = $a)
   and last Temp(Area = $a, Value > 45) within 5 min from Smoke
   and not Rain(Area = $a) between Temp and Smoke
where  Area = $a, Value = Temp.Value
"""
ROWS = """type,time,Area,Value
Temp,2024-01-05T09:01:00Z,hall,50
Smoke,2024-01-05T09:03:00Z,hall,
Temp,2024-01-05T09:20:00Z,attic,44
Smoke,2024-01-05T09:21:00Z,attic,
Temp,2024-01-05T09:40:00Z,hall,60
Smoke,2024-01-05T09:41:00Z,hall,
"""
FILES = {"fire.tesla": FIRE, "rows.csv": ROWS}


def opened(serve: Callable[..., Any], visit: Callable[..., Any], name: str, **settings: Any) -> Any:
    page = visit(serve(name=name, files=FILES), "/fire.tesla/run", **settings)
    run(page)
    expect(page.get_by_test_id("detection")).to_have_count(2)
    return page


def place(page: Any, minute: float, lane: str = "Fire") -> tuple[float, float]:
    """The pixels of a minute after nine in a lane."""
    timeline = page.get_by_test_id("timeline")
    box, row = timeline.bounding_box(), page.get_by_test_id(f"lane-{lane}").bounding_box()
    begin, end = (int(timeline.get_attribute(f"data-{side}")) for side in ("from", "to"))
    at = 1_704_445_200_000_000 + minute * 60_000_000
    return box["x"] + box["width"] * (at - begin) / (end - begin), row["y"] + row["height"] / 2


def test_why_not_by_a_click_on_an_empty_place_and_a_repair_that_detects(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = opened(serve, visit, "fire")
    why = page.get_by_role("region", name="Why")
    # a detection: its constituents, and on request every check
    page.get_by_test_id("detection").first.click()
    expect(why.locator("[data-testid=constituent][data-role=Temp]")).to_be_visible()
    why.get_by_role("button", name="Show checks").click()
    expect(why.get_by_test_id("checks")).to_have_attribute("data-state", "done", timeout=60_000)
    expect(why.get_by_test_id("check")).to_have_count(4)
    expect(why.locator("[data-testid=check][data-kind=absence]")).to_have_attribute("data-end", "1704445380000000")
    expect(why.get_by_text("Temp.Value = 50 > 45")).to_be_visible()
    why.get_by_role("button", name="Show checks").click()
    expect(why.get_by_test_id("check")).to_have_count(0)
    # an empty place
    page.mouse.click(*place(page, 21))
    panel = page.get_by_test_id("why-not")
    expect(panel).to_have_attribute("data-state", "done", timeout=60_000)
    reasons = panel.get_by_test_id("reason")
    expect(reasons.first).to_have_attribute("data-kind", "threshold")
    clause = reasons.first.get_by_test_id("failed-clause")
    expect(clause).to_contain_text("Temp.Value = 44 at 09:20:00, needed > 45")
    expect(clause).to_contain_text("Value >= 44")
    failed = reasons.first.locator("[data-testid=witness][data-ok=false]")
    expect(failed).to_have_attribute("data-ticks", "1704446400000000")
    expect(page.locator("[data-testid=detection][aria-current]")).to_have_count(0)
    # the clause in the text
    clause.get_by_role("button", name="Show the clause at fire.tesla:3").click()
    expect(page.locator(".cm-clause")).to_have_text("Value > 45")
    expect(page.get_by_text(re.compile(r"Ln 3, Col 39"))).to_be_visible()
    # its repair, which can be undone and made again
    panel.get_by_role("button", name="Use the repair of reason 1").click()
    expect(editor(page)).to_contain_text("Value >= 44")
    expect(page.get_by_test_id("dirty")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(editor(page)).to_contain_text("Value > 45")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    page.keyboard.press("Control+y")
    expect(editor(page)).to_contain_text("Value >= 44")
    panel.get_by_role("button", name="Run the repaired rules").click()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "3", timeout=60_000)
    expect(page.locator("[data-testid=detection][data-ticks='1704446460000000']")).to_have_count(1)


def test_a_question_by_keyboard_with_values_and_what_is_wrong_at_its_field(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = opened(serve, visit, "keyboard")
    timeline = page.get_by_test_id("timeline")
    timeline.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("w")
    panel = page.get_by_test_id("why-not")
    expect(panel).to_contain_text("It was detected: 2 detections in this time", timeout=60_000)
    value = panel.get_by_role("textbox", name="Value", exact=True)
    value.fill("much")
    value.press("Enter")
    expect(panel.get_by_text("`Value` is int, and cannot be `much`")).to_be_visible(timeout=60_000)
    expect(value).to_have_attribute("aria-invalid", "true")
    value.fill("44")
    value.press("Enter")
    expect(panel.get_by_test_id("reason").first).to_have_attribute("data-kind", "threshold", timeout=60_000)
    # a text that was changed meanwhile keeps what was typed
    page.get_by_role("tab", name="Text").click()
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("# mine\n")
    panel.get_by_role("button", name="Use the repair of reason 1").click()
    expect(page.get_by_text("fire.tesla has changed since the run")).to_be_visible()
    expect(editor(page)).to_contain_text("# mine")
    expect(editor(page)).to_contain_text("Value > 45")


def test_axe_finds_nothing_serious_in_questions_and_answers(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = opened(serve, visit, "axe")
    page.get_by_role("button", name="Why not").click()
    panel = page.get_by_test_id("why-not")
    expect(panel).to_contain_text("Ask, and the nearest changes")
    panel.get_by_role("textbox", name="Area").fill("attic")
    panel.get_by_role("button", name="Ask").click()
    expect(panel).to_have_attribute("data-state", "done", timeout=60_000)
    panel.locator("[data-testid=reason][data-kind=missing]").get_by_role("button").first.click()
    expect(panel.get_by_role("button", name="Copy this event")).to_be_visible()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        settled(page)
        assert violations(page) == []
    page.get_by_test_id("detection").first.click()
    page.get_by_role("button", name="Show checks").click()
    expect(page.get_by_test_id("check")).to_have_count(4, timeout=60_000)
    assert violations(page) == []
