"""The editor in a real browser: places that are gone to, line ends of what is pasted, folding, comments, search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import HEAT, checked, editor, files

pytestmark = pytest.mark.xdist_group("browser")


def at_line(page: Any, line: int) -> None:
    """The cursor is in this line, which is in view."""
    expect(page.get_by_text(f"Ln {line}, Col 1", exact=True)).to_be_visible()
    gutter = page.locator(".cm-lineNumbers .cm-activeLineGutter")
    expect(gutter).to_have_text(str(line))
    expect(gutter).to_be_in_viewport()


def test_places_are_shown_in_files_that_were_open_before(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve("flights")
    page = visit(served, "/flights.tesla/text")
    checked(page, 0)
    lines = served.read("flights.tesla").split("\n")
    line = next(i for i, text in enumerate(lines, 1) if text.startswith("define KnockOn"))
    for _ in range(3):
        files(page).get_by_role("treeitem", name="flights.tesla").click()
        editor(page).click()
        page.keyboard.press("Control+End")
        files(page).get_by_role("treeitem", name="Departure.csv").click()
        at_line(page, 1)  # a file that is opened for the first time begins at its first line
        page.get_by_role("tree", name="Outline").get_by_role("treeitem", name="KnockOn").click()
        at_line(page, line)
        page.keyboard.press("Control+p")
        page.get_by_role("combobox", name="File or definition").fill("MeanDelay")
        page.keyboard.press("Enter")
        expect(editor(page)).to_contain_text("MeanDelay")


def test_letters_for_a_dialog_that_is_still_loaded_wait_for_it(
    serve: Callable[..., Any], visit: Callable[..., Any], browser: Any
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    held: list[Any] = []
    context.route("**/Dialogs-*.js", lambda route: held.append(route))
    served = serve("flights")
    page = visit(served, "/delays.esql/text", context=context)
    checked(page, 0)
    editor(page).click()
    page.keyboard.press("Control+p")
    page.keyboard.type("KnockOm")
    page.keyboard.press("Backspace")
    page.keyboard.type("n")
    assert page.evaluate("document.querySelector('[role=dialog]')") is None
    for route in held:
        route.continue_()
    expect(page.get_by_role("combobox", name="File or definition")).to_have_value("KnockOn")
    page.keyboard.press("Enter")
    expect(page.get_by_text("flights.tesla", exact=True).last).to_be_visible()
    files(page).get_by_role("treeitem", name="delays.esql").click()
    expect(page.locator(".dirty")).to_have_count(0)


@pytest.mark.parametrize(
    ("before", "pasted", "after"),
    [
        ("a\r\nb\r\n", "x\ny\n", "a\r\nb\r\nx\r\ny\r\n"),
        ("a\nb\n", "x\r\ny\r\n", "a\nb\nx\ny\n"),
        ("a\r\nb\nc", "x\r\ny", "a\r\nb\ncx\ny"),
    ],
    ids=["windows", "unix", "mixed"],
)
def test_pasted_lines_end_as_those_of_the_file(
    serve: Callable[..., Any], visit: Callable[..., Any], before: str, pasted: str, after: str
) -> None:
    served = serve(name="ends", files={"heat.tesla": ""})
    (served.folder / "heat.tesla").write_bytes(before.encode())
    page = visit(served, "/heat.tesla/text")
    expect(editor(page)).to_contain_text("a")
    editor(page).click()
    page.keyboard.press("Control+End")
    editor(page).evaluate(
        """(element, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            element.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
        }""",
        pasted,
    )
    expect(page.get_by_test_id("dirty").first).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert (served.folder / "heat.tesla").read_bytes() == after.encode()


def test_a_line_break_that_replaces_is_that_of_the_file(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="replace", files={"heat.tesla": ""})
    (served.folder / "heat.tesla").write_bytes(b"# a; b\r\n# c; d\r\n")
    page = visit(served, "/heat.tesla/text")
    expect(editor(page)).to_contain_text("a; b")
    page.get_by_role("button", name="Search and replace").click()
    page.get_by_role("textbox", name="Find").fill("; ")
    page.get_by_role("textbox", name="Replace").fill("\\n# ")
    page.get_by_role("button", name="Replace all").click()
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert (served.folder / "heat.tesla").read_bytes() == b"# a\r\n# b\r\n# c\r\n# d\r\n"


def test_folding_comments_and_several_cursors(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rules = "event Temp(value: int)\ndefine Hot(v)\n    from Temp(value > 45)\n    where v = Temp.value\n"
    served = serve(name="keys", files={"heat.tesla": rules})
    page = visit(served, "/heat.tesla/text")
    checked(page, 0)
    editor(page).click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+Shift+BracketLeft")
    expect(editor(page)).not_to_contain_text("value > 45")
    page.keyboard.press("Control+Shift+BracketRight")
    expect(editor(page)).to_contain_text("value > 45")
    page.keyboard.press("Control+/")
    expect(editor(page)).to_contain_text("# define Hot")
    page.keyboard.press("Control+/")
    expect(editor(page)).not_to_contain_text("# define Hot")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+Alt+ArrowDown")
    page.keyboard.insert_text("#")
    expect(editor(page)).to_contain_text("#event")
    expect(editor(page)).to_contain_text("#define")
    for _ in range(4):
        page.keyboard.press("Control+z")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    page.keyboard.press("Control+y")
    expect(page.get_by_test_id("dirty").first).to_be_visible()


def test_a_file_that_is_not_utf8_is_shown_read_only(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="latin", files={"heat.tesla": HEAT})
    (served.folder / "latin.tesla").write_bytes(b"# caf\xe9\n")
    page = visit(served, "/latin.tesla/text")
    expect(page.get_by_role("main")).to_contain_text("read-only")
    page.get_by_role("button", name="Rename").wait_for(state="detached")
    expect(page.get_by_role("button", name="Format")).to_be_disabled()
    expect(page.get_by_role("button", name="Delete file")).to_be_disabled()
    editor(page).click()
    page.keyboard.type("x")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert (served.folder / "latin.tesla").read_bytes() == b"# caf\xe9\n"


def test_a_byte_order_mark_stays_and_moves_nothing(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="bom", files={})
    mark = b"\xef\xbb\xbf"
    (served.folder / "heat.tesla").write_bytes(mark + b"define Hot(v) from Temp(value > 45) where v = Tmp.value\n")
    page = visit(served, "/heat.tesla/text")
    checked(page, 1)
    assert page.locator(".cm-lintRange-error").all_inner_texts() == ["Tmp.value"]
    page.get_by_test_id("problem").first.click()
    expect(editor(page)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.type("e")
    checked(page, 0)
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    text = (served.folder / "heat.tesla").read_bytes()
    assert text == mark + b"define Hot(v) from Temp(value > 45) where v = Temp.value\n"


def test_hover_and_marks_in_the_gutter(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve("labor")
    page = visit(served, "/labor.epl/text")
    checked(page, 0)
    page.locator(".cm-line span").get_by_text("Duration", exact=True).last.hover()
    expect(page.locator(".cm-tooltip .hover")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "done", timeout=60_000)
    page.keyboard.press("Control+1")
    expect(page.locator(".fact-found")).to_have_text(["3", "9"])
    page.locator(".fact-found").last.click()
    expect(page.get_by_role("region", name="Properties")).to_contain_text("TimeOnLabor")
    # while one statement is wrong, what is known of the others stays
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\ncreate pattern Wrong as Nothing((")
    expect(page.get_by_test_id("check-status")).not_to_have_attribute("data-errors", "0")
    page.wait_for_timeout(500)
    expect(page.locator(".fact-found")).to_have_text(["3", "9"])


def test_the_search_counts_its_matches(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="counted", files={"heat.tesla": HEAT}), "/heat.tesla/text")
    editor(page).click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+f")
    page.keyboard.type("temp")
    count = page.locator(".cm-search-count")
    expect(count).to_have_text("3 matches")
    page.keyboard.press("Enter")
    expect(count).to_have_text("1 of 3")
    page.get_by_role("textbox", name="Find").fill("tempest")
    page.keyboard.press("Enter")
    expect(count).to_have_text("no match")
