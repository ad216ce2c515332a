"""The frame of the page in a real browser: tabs and keys, panels, menus, dialogs, the status bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.xdist_group("browser")
HEAT = {"heat.tesla": "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"}


def editor(page: Any) -> Any:
    return page.get_by_role("textbox", name="Rules")


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
