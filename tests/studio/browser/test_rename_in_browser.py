"""Renaming and explaining a name in a real browser, with keys alone and from the menu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import checked, editor, files

pytestmark = pytest.mark.xdist_group("browser")
SCHEMA = "// 😀 two units\r\ncreate schema Temp(value int, name string);\r\n"
HOT = "insert into Hot select a.value as v from pattern [every a=Temp(value > 45)];\n"
LATER = "insert into Later select h.v as v from pattern [every h=Hot -> b=Temp(value < h.v)];\n"


def put_cursor_on(page: Any, line: int, column: int) -> None:
    editor(page).click()
    page.keyboard.press("Control+Home")
    for _ in range(line - 1):
        page.keyboard.press("ArrowDown")
    for _ in range(column - 1):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text(f"Ln {line}, Col {column}", exact=True)).to_be_visible()


@pytest.fixture
def page(serve: Callable[..., Any], visit: Callable[..., Any]) -> Any:
    served = serve(name="rename", files={"hot.epl": HOT, "later.epl": LATER})
    (served.folder / "temp.epl").write_bytes(SCHEMA.encode())
    served.write("hot.epl", HOT)
    served.write("later.epl", LATER)
    found = visit(served, "/hot.epl/text")
    found.served = served
    checked(found, 0)
    return found


def test_a_type_is_renamed_in_all_files_and_each_has_one_undo(page: Any) -> None:
    put_cursor_on(page, 1, HOT.index("Temp") + 2)
    page.keyboard.press("F2")
    dialog = page.get_by_role("dialog", name="Rename Temp")
    name = dialog.get_by_role("textbox", name="New name")
    expect(name).to_be_focused()
    expect(name).to_have_value("Temp")
    page.keyboard.type("Heat")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(editor(page)).to_contain_text("every a=Heat(value > 45)")
    checked(page, 0)
    expect(page.get_by_test_id("dirty")).to_have_count(3)
    # each file is undone at once, also one that was not open before
    files(page).get_by_role("treeitem", name="temp.epl").click()
    expect(editor(page)).to_contain_text("create schema Heat(")
    editor(page).click()
    page.keyboard.press("Control+z")
    expect(editor(page)).to_contain_text("create schema Temp(")
    expect(page.get_by_test_id("dirty")).to_have_count(2)
    page.keyboard.press("Control+Shift+z")
    files(page).get_by_role("treeitem", name="later.epl").click()
    expect(editor(page)).to_contain_text("b=Heat(value < h.v)")
    for path in ("temp.epl", "hot.epl", "later.epl"):
        files(page).get_by_role("treeitem", name=path).click()
        page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    folder = page.served.folder
    assert (folder / "temp.epl").read_bytes() == SCHEMA.replace("Temp", "Heat").encode()
    assert page.served.read("hot.epl") == HOT.replace("Temp", "Heat")
    assert page.served.read("later.epl") == LATER.replace("Temp", "Heat")


def test_a_tag_is_renamed_from_the_menu(page: Any) -> None:
    put_cursor_on(page, 1, HOT.index("a=") + 1)
    page.get_by_role("button", name="Name at the cursor").click()
    page.get_by_role("menuitem", name="Rename").click()
    dialog = page.get_by_role("dialog", name="Rename a")
    dialog.get_by_role("textbox", name="New name").fill("first")
    dialog.get_by_role("button", name="Rename").click()
    expect(editor(page)).to_contain_text("select first.value as v from pattern [every first=Temp(")
    checked(page, 0)
    expect(page.get_by_test_id("dirty")).to_have_count(1)


def test_a_name_that_is_taken_or_none_is_refused(page: Any) -> None:
    put_cursor_on(page, 1, HOT.index("Temp") + 2)
    page.keyboard.press("F2")
    dialog = page.get_by_role("dialog", name="Rename Temp")
    name = dialog.get_by_role("textbox", name="New name")
    for wrong in ("Hot", "1x", "select"):
        name.fill(wrong)
        page.keyboard.press("Enter")
        expect(name).to_have_attribute("aria-invalid", "true")
        expect(dialog.locator(".field-error")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    # at a number there is nothing to rename
    put_cursor_on(page, 1, HOT.index("45") + 2)
    page.keyboard.press("F2")
    expect(page.get_by_test_id("said")).not_to_be_empty()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_name_is_explained_by_a_key(page: Any) -> None:
    put_cursor_on(page, 1, HOT.index("Temp") + 2)
    page.keyboard.press("Alt+F12")
    tip = page.locator(".cm-tooltip .hover")
    expect(tip).to_contain_text("Temp")
    expect(page.get_by_test_id("said")).to_contain_text("Temp")
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    # a problem at the cursor is explained, too
    page.keyboard.press("Control+End")
    page.keyboard.type("insert into X select")
    checked(page, 1)
    page.keyboard.press("Control+Home")
    page.keyboard.press("F8")
    expect(page.get_by_text("Ln 2, Col 21", exact=True)).to_be_visible()
    page.keyboard.press("Alt+F12")
    expect(page.locator(".cm-tooltip .cm-diagnostic-error")).to_be_visible()


def test_definition_and_uses_by_key(page: Any) -> None:
    put_cursor_on(page, 1, HOT.index("Temp") + 2)
    page.keyboard.press("F12")
    expect(files(page).get_by_role("treeitem", name="temp.epl")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Ln 2, Col 15", exact=True)).to_be_visible()
    page.keyboard.press("Shift+F12")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("option")).to_have_count(3)
