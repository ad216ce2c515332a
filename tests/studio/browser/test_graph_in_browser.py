"""The Graph view in a real browser: a statement drawn, edited by mouse and keys; text and drawing are one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.xdist_group("browser")

LABOR = """create schema Patient(name string, contrDuration int, ts int);
"""
DURATION = """@Name('Duration')
insert into Duration
select a1.name as patientId, a2.ts - a1.ts as last_delay
from pattern [every a1=Patient(a1.contrDuration > 35)
    -> a2=Patient(a2.name = a1.name and a2.contrDuration > 35 and a2.ts - a1.ts <= 5)]"""


def node(page: Any, id: str) -> Any:
    return page.get_by_test_id(f"node-{id}")


def preview(page: Any) -> Any:
    return page.get_by_test_id("epl-preview")


def field(page: Any, name: str) -> Any:
    return page.get_by_role("region", name="Properties").get_by_role("textbox", name=name, exact=True)


def fill(page: Any, name: str, text: str) -> None:
    field(page, name).fill(text)
    field(page, name).press("Enter")


def text_of(page: Any) -> str:
    """The text of the editor, which is in the page though it is not shown."""
    found: str = page.locator(".cm-content").evaluate("e => e.cmTile.view.state.sliceDoc()")
    return found


def test_a_statement_is_drawn(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"), "/labor.epl/graph/Duration")
    expect(page.get_by_role("combobox", name="Statement")).to_have_value("Duration")
    kinds = {"a1": "Event", "a2": "Event", "Every1": "Every", "FollowedBy1": "FollowedBy", "ComplexEvent": "ComplexEvent"}
    for id, kind in kinds.items():
        expect(node(page, id)).to_have_attribute("data-kind", kind)
        expect(node(page, id)).to_have_accessible_name(re.compile(rf"{id}.*", re.DOTALL))
        expect(node(page, id)).to_have_accessible_name(re.compile(kind))
    expect(page.get_by_test_id("link-Every1-FollowedBy1")).to_have_attribute("data-order", "1")
    expect(page.get_by_test_id("link-a2-FollowedBy1")).to_have_attribute("data-order", "2")
    expect(node(page, "a1")).to_have_attribute("data-warnings", "1")
    assert page.get_by_test_id("out-ComplexEvent").count() == page.get_by_test_id("in-a1").count() == 0
    expect(preview(page)).to_have_attribute("data-state", "valid")
    expect(preview(page)).to_contain_text("every a1=Patient(a1.contrDuration > 35)")
    # left to right, to the detection
    lefts = [node(page, id).bounding_box()["x"] for id in ("a1", "Every1", "FollowedBy1", "ComplexEvent")]
    assert lefts == sorted(lefts)
    page.get_by_role("combobox", name="Statement").select_option("TimeOnLabor")
    expect(node(page, "a3")).to_be_visible()
    assert page.evaluate("location.hash") == "#/labor.epl/graph/TimeOnLabor"
    node(page, "a3").click()
    expect(field(page, "Condition 1")).to_have_value(re.compile("a3.ts - a2.ts <= 5"))


def test_other_languages_are_shown_as_boxes(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/flights.tesla/graph")
    expect(page.get_by_text("Patterns are drawn for EPL")).to_be_visible()
    expect(page.get_by_test_id("plan-Late")).to_be_visible()


def test_edits_reach_the_text_and_its_comments_stay(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve("labor", name="edits")
    page = visit(served, "/labor.epl/graph/Duration")
    node(page, "a1").click()
    fill(page, "Condition 1", "a1.contrDuration > 40")
    expect(preview(page)).to_contain_text("every a1=Patient(a1.contrDuration > 40)")
    expect(preview(page)).to_have_attribute("data-state", "valid")
    page.keyboard.press("Escape")
    fill(page, "Tag", "first")
    expect(node(page, "first")).to_be_visible()
    expect(field(page, "Tag")).to_have_value("first")
    fill(page, "Tag", "a1")
    expect(node(page, "a1")).to_be_visible()
    # undone one by one, wherever the focus is but in a form field
    node(page, "a2").click()
    for _ in range(3):
        page.keyboard.press("Control+z")
    expect(preview(page)).to_contain_text("every a1=Patient(a1.contrDuration > 35)")
    page.keyboard.press("Control+y")
    expect(preview(page)).to_contain_text("contrDuration > 40")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    before = serve("labor").read("labor.epl")
    assert served.read("labor.epl") == before.replace("a1.contrDuration > 35)", "a1.contrDuration > 40)", 1)
    # and text edits in the drawing
    page.get_by_role("tab", name="Text").click()
    page.locator(".cm-line", has_text="a1.contrDuration > 40").click()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type(" and a1.ts > 3")
    page.get_by_role("tab", name="Graph").click()
    expect(node(page, "a1")).to_contain_text("and a1.ts > 3")


def test_a_mistake_is_shown_where_it_is_and_goes_when_mended(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve("labor", name="mistake")
    page = visit(served, "/labor.epl/graph/Duration")
    node(page, "a2").click()
    fill(page, "Condition 1", "a2.name = a9.name")
    expect(node(page, "a2")).to_have_attribute("data-errors", "1")
    expect(preview(page)).to_have_attribute("data-state", "draft")
    problem = page.locator('[data-testid=problem][data-node="a2"][data-severity=error]')
    expect(problem).to_have_count(1)
    expect(preview(page)).to_contain_text("a9")
    assert "a9" not in text_of(page)
    # a draft survives a reload
    page.reload()
    expect(node(page, "a2")).to_have_attribute("data-errors", "1")
    node(page, "a2").click()
    expect(field(page, "Condition 1")).to_have_value("a2.name = a9.name")
    fill(page, "Condition 1", "a2.name = a1.name")
    expect(preview(page)).to_have_attribute("data-state", "valid")
    expect(node(page, "a2")).to_have_attribute("data-errors", "0")
    expect(problem).to_have_count(0)
    assert "a2=Patient(a2.name = a1.name)" in text_of(page)


def test_a_pattern_is_drawn_by_keyboard_alone(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="keys", files={"labor.epl": LABOR})
    page = visit(served, "/labor.epl/graph")

    def reach(name: str, role: str = "button") -> Any:
        found = page.get_by_role(role, name=name, exact=True)
        found.focus()
        return found

    reach("New pattern")
    page.keyboard.press("Enter")
    page.keyboard.type("Duration")
    page.keyboard.press("Enter")
    expect(node(page, "ComplexEvent")).to_be_visible()
    for tool in ("Event:Patient", "Every", "FollowedBy", "Event:Patient"):
        page.get_by_test_id(f"tool-{tool}").focus()
        page.keyboard.press("Enter")
    expect(node(page, "a2")).to_be_visible()
    expect(page.get_by_test_id("link-a1-Every1")).to_have_attribute("data-order", "1")
    expect(page.get_by_test_id("link-Every1-FollowedBy1")).to_have_attribute("data-order", "1")
    expect(page.get_by_test_id("link-a2-FollowedBy1")).to_have_attribute("data-order", "2")


def write_conditions(page: Any) -> None:
    def add(button: str, name: str, text: str) -> None:
        page.get_by_role("button", name=button).press("Enter")
        field(page, name).focus()
        page.keyboard.type(text)
        page.keyboard.press("Enter")

    node(page, "a1").focus()
    page.keyboard.press("Enter")
    add("Add condition", "Condition 1", "a1.contrDuration > 35")
    node(page, "a2").focus()
    page.keyboard.press("Enter")
    add("Add condition", "Condition 1", "a2.name = a1.name and a2.contrDuration > 35 and a2.ts - a1.ts <= 5")
    node(page, "ComplexEvent").focus()
    page.keyboard.press("Enter")
    add("Add column", "Column 1 value", "a1.name")
    field(page, "Column 1 name").fill("patientId")
    page.keyboard.press("Enter")
    add("Add column", "Column 2 value", "a2.ts - a1.ts")
    field(page, "Column 2 name").fill("last_delay")
    page.keyboard.press("Enter")
