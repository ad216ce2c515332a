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
