"""The Text view in a real browser: errors as one types, in every language; saving; what must not be lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import append, checked, editor

pytestmark = pytest.mark.xdist_group("browser")

#: file of the flights example -> what breaks it, appended at its end, and the kind of the problem
BROKEN = {
    "flights.tesla": ("\ndefine X(v) from Late() where v = Lat.Delay", "unknown-name"),
    "cancellations.epl": ("\ninsert into X select a.Nothing as n from pattern [a=Cancellation];", "unknown-attribute"),
    "visibility.ftl": ("\ntrigger x: eventually (", "syntax"),
    "weather.phen": ("\nstate x(O) : Nowhere(O) ~> Late(O, _, _, _).", "unknown-name"),
    "delays.esql": ("\nDEFINE X AS", "syntax"),
}
HEAT = {"heat.tesla": "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"}


@pytest.mark.parametrize("path", BROKEN)
def test_errors_while_typing_in_every_language(serve: Callable[..., Any], visit: Callable[..., Any], path: str) -> None:
    text, kind = BROKEN[path]
    served = serve("flights")
    page = visit(served, f"/{path}/text")
    checked(page, 0)
    before = served.read(path)
    append(page, text)
    problem = page.get_by_test_id("problem").first
    expect(problem).to_have_attribute("data-severity", "error")
    expect(problem).to_have_attribute("data-file", path)
    kinds = [p.get_attribute("data-kind") for p in page.get_by_test_id("problem").all()]
    assert kind in kinds
    expect(page.locator(".cm-lintRange-error").first).to_be_visible()
    expect(page.get_by_test_id("dirty").first).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Control+z")
    checked(page, 0)
    expect(page.get_by_test_id("problem")).to_have_count(0)
    assert served.read(path) == before


def test_saving_changes_only_what_was_edited(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    text = "event Temp(value: int)\r\n# ein Kommentar: ä 😀\r\ndefine Hot(v) from Temp(value > 45) where v = Temp.value"
    served = serve(name="lines", files={"heat.tesla": ""})
    (served.folder / "heat.tesla").write_bytes(text.encode())
    page = visit(served, "/heat.tesla/text")
    append(page, "\n# end")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert (served.folder / "heat.tesla").read_bytes() == f"{text}\r\n# end".encode()


def test_a_problem_behind_characters_of_two_units_is_marked_where_it_is(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    line = "define Hot(v) from Temp(value > 45 and name = '😀😀😀') where v = Tmp.value"
    served = serve(name="astral", files={"heat.tesla": f"event Temp(value: int, name: string)\n{line}\n"})
    page = visit(served, "/heat.tesla/text")
    checked(page, 1)
    assert page.locator(".cm-lintRange-error").all_inner_texts() == ["Tmp.value"]
    page.get_by_test_id("problem").first.click()
    expect(page.get_by_text(f"Ln 2, Col {line.index('Tmp') + 1}")).to_be_visible()


def test_completion_hover_and_definition(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/flights.tesla/text")
    checked(page, 0)
    append(page, "\ndefine X(v) from Cance")
    page.keyboard.press("Control+Space")
    options = page.locator(".cm-tooltip-autocomplete [role=option]")
    expect(options.filter(has_text="Cancellation").first).to_be_visible()
    page.keyboard.press("Escape")


def test_unsaved_texts_survive_a_reload(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="reload", files=HEAT)
    page = visit(served, "/heat.tesla/text")
    append(page, "# unsaved")
    expect(page.get_by_test_id("dirty").first).to_be_visible()
    page.wait_for_timeout(1500)  # it is kept at most a second later
    page.reload()
    expect(editor(page)).to_contain_text("# unsaved")
    expect(page.get_by_test_id("dirty").first).to_be_visible()
    assert "unsaved" not in served.read("heat.tesla")


def test_a_file_that_changes_elsewhere(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="elsewhere", files=HEAT)
    page = visit(served, "/heat.tesla/text")
    expect(editor(page)).to_contain_text("define Hot")
    served.write("heat.tesla", HEAT["heat.tesla"] + "# theirs, followed\n")
    expect(editor(page)).to_contain_text("# theirs, followed")  # a text without edits follows
    append(page, "# mine\n")
    served.write("heat.tesla", HEAT["heat.tesla"] + "# theirs, again\n")
    dialog = page.get_by_role("dialog", name="Changed elsewhere")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Keep mine").click()
    expect(editor(page)).to_contain_text("# mine")
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert "# mine" in served.read("heat.tesla")
    assert "again" not in served.read("heat.tesla")
    append(page, "# mine, twice\n")
    served.write("heat.tesla", HEAT["heat.tesla"] + "# theirs, taken\n")
    page.get_by_role("dialog", name="Changed elsewhere").get_by_role("button", name="Take theirs").click()
    expect(editor(page)).to_contain_text("# theirs, taken")
    expect(editor(page)).not_to_contain_text("# mine")


def test_two_tabs_follow_each_other(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="tabs", files=HEAT)
    one = visit(served, "/heat.tesla/text")
    two = visit(served, "/heat.tesla/text", context=one.context)
    append(one, "# from the first\n")
    one.keyboard.press("Control+s")
    expect(editor(two)).to_contain_text("# from the first")
    append(two, "# from the second\n")
    append(one, "# from the first again\n")
    two.keyboard.press("Control+s")
    expect(two.get_by_test_id("dirty")).to_have_count(0)
    expect(one.get_by_role("dialog", name="Changed elsewhere")).to_be_visible()
    assert "again" not in served.read("heat.tesla")


def test_a_stopped_server_loses_nothing(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="stopped", files=HEAT)
    page = visit(served, "/heat.tesla/text")
    page.watched.allow("Failed to load resource")
    page.watched.allow("ERR_")
    status = page.get_by_role("status", name="Connection")
    expect(status).to_have_attribute("data-state", "connected")
    page.get_by_role("textbox", name="Rules").wait_for()
    served.stop()
    expect(status).to_have_attribute("data-state", "lost")
    append(page, "# while it was away\n")
    served.start()
    expect(status).to_have_attribute("data-state", "connected", timeout=30_000)
    page.keyboard.press("Control+s")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    assert "# while it was away" in served.read("heat.tesla")


def test_a_killed_worker_is_told_and_replaced(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="killed", own_engine=True, files=HEAT)
    page = visit(served, "/heat.tesla/text")
    page.watched.allow("503")
    checked(page, 0)
    for worker in children(served.process.pid):
        os.kill(worker, signal.SIGKILL)
    append(page, "define X(v) from Hot() where v = Ht.v\n")
    checked(page, 1)


def children(parent: int) -> list[int]:
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        return [int(number) for number in file.read().split()]


def test_hostile_names_and_values_stay_text(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    evil = "<img src=x onerror=alert(1)>"
    rules = f"""event Temp(value: int, name: string)
define Hot(v, n) from Temp(value > 45 and name != '{evil}') where v = Tmp.value, n = '{evil}'
"""
    rows = f"type,time,value,name\nTemp,1,50,{evil}\n"
    served = serve(name="hostile", files={f"{evil}.tesla": rules, f"{evil}.csv": rows})
    page = visit(served)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.get_by_role("treeitem", name=f"{evil}.tesla").click()
    checked(page, 1)
    expect(page.get_by_test_id("problem").first).to_be_visible()
    page.wait_for_timeout(300)
    assert page.locator("img[src=x]").count() == 0
    assert dialogs == []
