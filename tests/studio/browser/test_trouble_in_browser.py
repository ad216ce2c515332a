"""Trouble in a real browser: files that cannot be read or saved, a wrong project, lost workers.  No text is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import HEAT, append, checked, editor, files

pytestmark = pytest.mark.xdist_group("browser")
COLD = "event Ice(value: int)\ndefine Cold(v) from Ice(value < 0) where v = Ice.value\n"


def test_a_file_that_cannot_be_read_any_more_keeps_its_edits(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="unreadable", files={"heat.tesla": HEAT})
    page = visit(served, "/heat.tesla/text")
    page.watched.allow("403")
    page.watched.allow("412")
    checked(page, 0)
    append(page, "# mine\n")
    expect(page.get_by_test_id("dirty").first).to_be_visible()
    (served.folder / "heat.tesla").unlink()
    (served.folder / "heat.tesla").symlink_to("/etc/hostname")
    expect(page.get_by_role("alert").filter(has_text="cannot be read")).to_be_visible()
    expect(editor(page)).to_contain_text("# mine")
    append(page, "# and more\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("alert").filter(has_text="not saved").first).to_be_visible()
    page.wait_for_timeout(1000)
    page.reload()
    expect(editor(page)).to_contain_text("# and more")
    (served.folder / "heat.tesla").unlink()
    served.write("heat.tesla", HEAT)
    expect(page.get_by_role("alert")).to_have_count(0)
    append(page, "# after all\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert served.read("heat.tesla") == HEAT + "# mine\n# and more\n# after all\n"


def test_several_files_that_changed_while_the_page_was_closed(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="several", files={"heat.tesla": HEAT, "cold.tesla": COLD})
    first = visit(served, "/heat.tesla/text")
    append(first, "# my heat\n")
    files(first).get_by_role("treeitem", name="cold.tesla").click()
    expect(editor(first)).to_contain_text("define Cold")
    append(first, "# my cold\n")
    expect(first.get_by_test_id("dirty")).to_have_count(2)
    first.wait_for_timeout(1000)
    context = first.context
    first.close()
    served.write("heat.tesla", HEAT + "# their heat\n")
    served.write("cold.tesla", COLD + "# their cold\n")
    page = visit(served, "/heat.tesla/text", context=context)
    dialog = page.get_by_role("dialog", name="Changed elsewhere")
    expect(dialog).to_contain_text("1 more file")
    page.keyboard.press("Control+s")  # nothing is saved while the question is open
    path = "cold.tesla" if "cold.tesla" in dialog.inner_text() else "heat.tesla"
    dialog.get_by_role("button", name="Compare").click()
    expect(dialog.locator(".cm-merge-b")).to_contain_text("# my")
    expect(dialog.locator(".cm-merge-a")).to_contain_text("# their")
    dialog.get_by_role("button", name="Take theirs").click()
    expect(dialog).to_contain_text("heat.tesla" if path == "cold.tesla" else "cold.tesla")
    assert served.read("heat.tesla") == HEAT + "# their heat\n"
    assert served.read("cold.tesla") == COLD + "# their cold\n"
    dialog.get_by_role("button", name="Keep mine").click()
    expect(dialog).to_have_count(0)
    other = "heat" if path == "cold.tesla" else "cold"
    files(page).get_by_role("treeitem", name=f"{other}.tesla").click()
    expect(editor(page)).to_contain_text(f"# my {other}")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert served.read(f"{other}.tesla").endswith(f"# my {other}\n")
    assert "# their" in served.read(path)


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n{}\n", '{"program": {}}', '{"version": 1, "program": {"rules": 5}}'])
def test_a_wrong_studio_json_is_told_and_left_alone(
    serve: Callable[..., Any], visit: Callable[..., Any], text: str
) -> None:
    served = serve(name="wrong", files={"heat.tesla": HEAT})
    served.write("studio.json", text)
    page = visit(served, "/heat.tesla/text")
    page.watched.allow("422")
    checked(page, 1)
    problem = page.get_by_test_id("problem").first
    expect(problem).to_have_attribute("data-file", "studio.json")
    append(page, "# usable\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    problem.click()
    expect(editor(page)).to_contain_text(text.split("\n")[0][:7])
    assert served.read("studio.json") == text
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.type('{"version": 1}')
    page.keyboard.press("Control+s")
    checked(page, 0)


def test_a_worker_that_died_is_told_and_not_the_first_one(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="died", own_engine=True, files={"heat.tesla": HEAT})
    page = visit(served, "/heat.tesla/text")
    page.watched.allow("503")
    checked(page, 0)
    told = page.get_by_text("The checker was restarted")
    expect(told).to_have_count(0)
    with open(f"/proc/{served.process.pid}/task/{served.process.pid}/children") as file:
        workers = [int(number) for number in file.read().split()]
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    expect(told).to_be_visible()
    append(page, "define X(v) from Hot() where v = Ht.v\n")
    checked(page, 1)


def test_one_failed_call_does_not_end_the_checks(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="spurious", files={"heat.tesla": HEAT})
    page = visit(served, "/heat.tesla/text")
    page.watched.allow("Failed to load resource")
    checked(page, 0)
    failed = []
    page.route("**/api/v1/check", lambda route: (failed.append(1), route.abort()) if not failed else route.fallback())
    append(page, "define X(v) from Hot() where v = Ht.v\n")
    checked(page, 1)
    assert failed
    expect(page.get_by_role("status", name="Connection")).to_have_attribute("data-state", "connected")


def test_without_a_token_the_page_says_where_it_is(serve: Callable[..., Any], browser: Any) -> None:
    served = serve(name="spurious", files={"heat.tesla": HEAT})
    page = browser.new_page()
    page.goto(f"http://{served.home}/")
    expect(page.get_by_role("main")).to_contain_text("occurs studio")
    expect(page.locator("body")).not_to_contain_text("restarted with another token")
    expect(page.get_by_role("status", name="Connection")).to_have_attribute("data-state", "lost")
    page.close()


def test_a_server_with_another_token_keeps_the_texts(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="token", files={"heat.tesla": HEAT})
    page = visit(served, "/heat.tesla/text")
    for part in ("Failed to load resource", "ERR_"):
        page.watched.allow(part)
    append(page, "# unsaved\n")
    page.wait_for_timeout(1000)
    served.stop()
    served.token += "new"
    served.start()
    expect(page.get_by_text("restarted with another token")).to_be_visible(timeout=30_000)
    expect(editor(page)).to_contain_text("# unsaved")
    page.goto(served.url)
    expect(editor(page)).to_contain_text("# unsaved")
    expect(page.get_by_test_id("dirty").first).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert served.read("heat.tesla") == HEAT + "# unsaved\n"


RULES = """create schema Patient(name string, ts int);
@Name("Long") insert into Long select a1.name as name from pattern [every a1=Patient(ts > 3)];
"""


def edited_without_server(served: Any, page: Any, condition: str) -> Any:
    """Stop the server and write a condition of the drawing; the field of it.  The drawing is then a draft."""
    for part in ("Failed to load resource", "ERR_"):
        page.watched.allow(part)
    checked(page, 0)
    page.get_by_test_id("node-a1").click()
    served.stop()
    expect(page.get_by_role("status", name="Connection")).to_have_attribute("data-state", "lost")
    field = page.get_by_role("textbox", name="Condition 1", exact=True)
    field.fill(condition)
    field.press("Enter")
    expect(page.get_by_test_id("epl-preview")).to_have_attribute("data-state", "draft")
    return field


def test_a_drawing_edited_without_a_server_is_text_when_it_is_back(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="offline", files={"a.epl": RULES})
    page = visit(served, "/a.epl/graph/Long")
    condition = edited_without_server(served, page, "ts > 4")
    served.start()
    shown = page.get_by_test_id("epl-preview")
    expect(shown).to_have_attribute("data-state", "valid", timeout=30_000)
    expect(shown).to_contain_text("Patient(ts > 4)")
    page.wait_for_timeout(2500)  # time for an older state of the project to come back
    expect(condition).to_have_value("ts > 4")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert served.read("a.epl") == RULES.replace("ts > 3", "ts > 4")


def test_a_wrong_drawing_made_without_a_server_is_kept_as_a_draft(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="wrong-offline", files={"a.epl": RULES})
    page = visit(served, "/a.epl/graph/Long")
    condition = edited_without_server(served, page, "a9.ts > 4")
    served.start()
    expect(page.get_by_test_id("node-a1")).to_have_attribute("data-errors", "1", timeout=30_000)
    page.wait_for_timeout(2500)
    expect(condition).to_have_value("a9.ts > 4")
    assert "a9.ts > 4" in served.read("studio.json")
    assert served.read("a.epl") == RULES


def test_a_drawing_edited_without_a_server_comes_back_in_another_page(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="token-drawing", files={"a.epl": RULES})
    page = visit(served, "/a.epl/graph/Long")
    edited_without_server(served, page, "ts > 4")
    served.token += "new"
    served.start()
    expect(page.get_by_text("restarted with another token")).to_be_visible(timeout=30_000)
    page.goto(served.url)
    shown = page.get_by_test_id("epl-preview")
    expect(shown).to_have_attribute("data-state", "valid")
    expect(shown).to_contain_text("Patient(ts > 4)")
    expect(page.get_by_test_id("dirty")).to_have_count(1)
