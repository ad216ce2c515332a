"""Files and the program in a real browser: new files, files in and out of the program, an example, formatting."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import HEAT, append, checked, editor, files

pytestmark = pytest.mark.xdist_group("browser")


def rules(served: Any) -> Any:
    return json.loads(served.read("studio.json"))["program"]["rules"]


def new_file(page: Any, name: str) -> None:
    page.get_by_role("button", name="New file").first.click()
    dialog = page.get_by_role("dialog", name="New file")
    dialog.get_by_role("textbox", name="Name").fill(name)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_have_count(0)
    expect(files(page).get_by_role("treeitem", name=name)).to_have_attribute("aria-selected", "true")


def test_a_new_file_joins_a_program_that_lists_its_rules(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve("labor")
    page = visit(served, "/labor.epl/text")
    checked(page, 0)
    new_file(page, "heat.tesla")
    append(page, HEAT + "define X(v) from Hot() where v = Ht.v\n")
    checked(page, 1)
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    checked(page, 1)
    expect(page.get_by_test_id("problem").first).to_have_attribute("data-file", "heat.tesla")
    assert rules(served) == ["labor.epl", "heat.tesla"]
    # taken out, it is neither checked nor listed, and the page says so
    page.get_by_role("checkbox", name="In the program").uncheck()
    checked(page, 0)
    expect(page.get_by_text("neither checked nor run")).to_be_visible()
    assert rules(served) == ["labor.epl"]
    page.get_by_role("button", name="Add to the program").click()
    checked(page, 1)
    expect(page.get_by_role("checkbox", name="In the program")).to_be_checked()
    # removed, it leaves the program
    page.get_by_role("button", name="Delete file").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    checked(page, 0)
    assert rules(served) == ["labor.epl"]
    assert not (served.folder / "heat.tesla").exists()


def test_an_example_in_an_empty_project_opens_and_runs(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="first visit"))
    page.get_by_role("main").get_by_role("button", name="Open example labor").click()
    expect(editor(page)).to_contain_text("Duration")
    checked(page, 0)
    expect(page.get_by_role("tree", name="Outline")).to_contain_text("TimeOnLabor")
    page.get_by_role("tab", name="Plan").click()
    expect(page.get_by_test_id("plan-Duration")).to_be_visible()
    page.keyboard.press("Control+Enter")
    state = page.get_by_test_id("run-state")
    expect(state).to_have_attribute("data-state", "done", timeout=60_000)
    expect(state).to_have_attribute("data-found", "12")


def test_an_example_beside_other_rules_says_how_to_open_it(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="beside", files={"heat.tesla": HEAT})
    page = visit(served, "/heat.tesla/text")
    checked(page, 0)
    page.get_by_role("button", name="Open example").click()
    page.get_by_role("menuitem", name="labor").click()
    expect(editor(page)).to_contain_text("Duration")
    expect(page.get_by_text("occurs studio labor")).to_be_visible()
    expect(page.get_by_text("neither checked nor run")).to_be_visible()
    checked(page, 0)


def test_unsaved_events_are_not_sent_with_a_check(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rows = "type,time,value\nTemp,1,50\n"
    served = serve(name="events", files={"heat.tesla": HEAT, "rows.csv": rows})
    page = visit(served, "/rows.csv/text")
    asked: list[Any] = []
    page.on("request", lambda r: asked.append(r.post_data_json["texts"]) if r.url.endswith("/check") else None)
    expect(editor(page)).to_contain_text("Temp,1,50")
    append(page, "Temp,2,60\n")
    files(page).get_by_role("treeitem", name="heat.tesla").click()
    append(page, "# edited\n")
    checked(page, 0)
    page.wait_for_timeout(600)
    assert [*asked[-1]] == ["heat.tesla"]


def test_format_says_why_it_changes_nothing(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    epl = "insert into Hot   select a.value as v from pattern [ every a=Temp(value>45) ]; // kept\n"
    schema = "create schema Temp(value int);\n"
    served = serve(name="format", files={"heat.epl": schema + epl, "heat.tesla": HEAT.replace("Hot", "Warm")})
    page = visit(served, "/heat.epl/text")
    expect(editor(page)).to_contain_text("insert into")
    page.get_by_role("button", name="Format").click()
    expect(editor(page)).to_contain_text("// kept")
    expect(page.get_by_test_id("dirty").first).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    append(page, "insert into")
    page.keyboard.press("Shift+Alt+F")
    notice = page.get_by_text("The text was not formatted")
    expect(notice).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).click()
    files(page).get_by_role("treeitem", name="heat.tesla").click()
    expect(editor(page)).to_contain_text("define Warm")
    page.get_by_role("button", name="Format").click()
    expect(page.get_by_text("no canonical layout")).to_be_visible()
