"""Files that go into the directory by a drop, and what is taken out of the studio."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from studio.browser.acting import run

pytestmark = pytest.mark.xdist_group("browser")

HOT = "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"
ROWS = "type,time,value\nTemp,1,50\nTemp,2,60\n"
#: drops files (name, base64, type) on an element, as a person does from a file manager
DROP = """(element, files) => {
    const data = new DataTransfer();
    for (const [name, content] of files) {
        const bytes = Uint8Array.from(atob(content), c => c.charCodeAt(0));
        data.items.add(new File([bytes], name));
    }
    for (const kind of ["dragenter", "dragover", "drop"])
        element.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def drop(page: Any, **files: bytes) -> Any:
    from base64 import b64encode

    given = [(name.replace("_dot_", "."), b64encode(data).decode()) for name, data in files.items()]
    page.locator(".drop-area").evaluate(DROP, given)
    return page.get_by_role("dialog", name="Copy event files")


def saved(page: Any, act: Callable[[], None], to: Path) -> Path:
    with page.expect_download() as waiting:
        act()
    path = to / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def choose(page: Any, menu: str, item: str) -> None:
    page.get_by_role("button", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=item).click()


def test_a_dropped_file_is_copied_after_a_question_and_then_read(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    served = serve(name="drops", files={"hot.tesla": HOT, "rows.csv": ROWS})
    page = visit(served, "/hot.tesla/run")
    expect(page.get_by_role("checkbox", name="rows.csv")).to_be_checked()
    asked = drop(page, rows_dot_csv=b"type,time,value\nTemp,3,70\n", notes_dot_txt=b"x")
    expect(asked).to_contain_text("copied into drops")
    expect(asked).to_contain_text("Event files have the suffixes")
    assert not (served.folder / "rows-2.csv").exists()  # nothing is copied before the answer
    asked.get_by_role("button", name="Cancel").click()
    assert sorted(path.name for path in served.folder.iterdir()) == ["hot.tesla", "rows.csv"]
    asked = drop(page, rows_dot_csv=b"type,time,value\nTemp,3,70\n")
    name = asked.get_by_role("textbox", name="Copy rows.csv as")
    expect(name).to_have_value("rows-2.csv")
    name.fill("rows.csv")
    expect(asked).to_contain_text("A file of that name exists")
    expect(asked.get_by_role("button", name="Copy file")).to_be_disabled()
    name.fill("later.csv")
    name.press("Enter")
    expect(asked).to_be_hidden()
    expect(page.get_by_role("checkbox", name="later.csv")).to_be_checked()
    expect(page.get_by_role("region", name="First rows").first).to_contain_text("70")
    assert served.read("rows.csv") == ROWS
    run(page)
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "3")
    # Parquet is bytes, and a choice of events that is written down takes the new file in
    page.get_by_role("checkbox", name="later.csv").uncheck()
    table = pa.table({"type": ["Temp"], "time": [9], "value": [99]})
    pq.write_table(table, tmp_path / "more.parquet")
    asked = drop(page, more_dot_parquet=(tmp_path / "more.parquet").read_bytes())
    asked.get_by_role("button", name="Copy file").click()
    expect(page.get_by_role("checkbox", name="more.parquet")).to_be_checked()
    assert pq.read_table(served.folder / "more.parquet").equals(table)
    run(page)
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "3")


def test_files_are_chosen_without_a_mouse_too(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="chosen", files={"hot.tesla": HOT, "rows.csv": ROWS})
    page = visit(served, "/hot.tesla/run")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Copy event files into the directory").press("Enter")
    chooser.value.set_files([{"name": "more.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}])
    page.get_by_role("dialog", name="Copy event files").get_by_role("button", name="Copy file").click()
    expect(page.get_by_role("checkbox", name="more.csv")).to_be_checked()
    assert served.read("more.csv") == ROWS


def test_what_is_exported_is_what_is_there(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    served = serve("labor")
    page = visit(served, "/labor.epl")
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done")
    page.get_by_role("button", name="Export", exact=True).click()
    entry = page.get_by_role("menuitem", name="Timeline as a page")
    expect(entry).to_have_attribute("aria-disabled", "true")
    expect(entry).to_have_accessible_name("Timeline as a page (HTML) run the rules first")
    page.keyboard.press("Escape")
    run(page)
    path = saved(page, lambda: choose(page, "Export", "The file as it is"), tmp_path)
    assert path.read_text() == served.read("labor.epl")
    plan = json.loads(saved(page, lambda: choose(page, "Export", "The plan"), tmp_path).read_text())
    assert [d["name"] for d in plan["definitions"]] == ["Duration", "TimeOnLabor"]
    image = saved(page, lambda: choose(page, "Export", "Timeline as it is shown"), tmp_path)
    assert image.name == "labor.png"
    assert image.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    html = saved(page, lambda: choose(page, "Export", "Timeline as a page"), tmp_path)
    assert html.name == "labor.html"
    other = page.context.new_page()  # it needs no studio
    other.goto(html.as_uri())
    expect(other.locator("body")).to_contain_text("TimeOnLabor")
    other.close()
    rows = list(csv.DictReader(saved(page, lambda: choose(page, "Export", "(CSV)"), tmp_path).open()))
    assert len(rows) == 12


def test_the_canonical_form_is_exported_and_the_file_stays(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    text = "create   schema A(v int); // kept\ninsert into  Z select a.v as v from pattern [every a=A];\n"
    served = serve(name="form", files={"z.epl": text, "hot.tesla": HOT})
    page = visit(served, "/z.epl")
    page.watched.allow("422")
    path = saved(page, lambda: choose(page, "Export", "The file in canonical form"), tmp_path)
    assert "create schema A" in path.read_text()
    assert "// kept" in path.read_text()
    assert served.read("z.epl") == text
    page.get_by_role("tree", name="Files").get_by_role("treeitem", name="hot.tesla").click()
    choose(page, "Export", "The file in canonical form")
    expect(page.get_by_role("alert")).to_contain_text("canonical")


def test_the_table_exports_what_it_shows_and_tells_a_refusal(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    rules = HOT + "define Cold(v) from Temp(value < 45) where v = 'low'\ndefine Any(w) from Temp() where w = 1\n"
    rows = ROWS + "Temp,3,10\nTemp,4,20\n"
    page = visit(serve(name="tables", files={"hot.tesla": rules, "rows.csv": rows}), "/hot.tesla/run")
    run(page)
    for lane in ("Hot", "Any"):
        page.get_by_test_id(f"lane-{lane}").get_by_role("button").click()
    page.get_by_role("textbox", name="Filter detections").fill("Hot")
    expect(page.get_by_test_id("detection")).to_have_count(2)
    path = saved(page, lambda: choose(page, "Download 2", "JSON lines"), tmp_path)
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()] == ["Hot", "Hot"]
    page.get_by_role("textbox", name="Filter detections").fill("")
    for lane in ("Any", "Cold"):
        page.get_by_test_id(f"lane-{lane}").get_by_role("button").click()
    page.watched.allow("422")
    choose(page, "Download 4", "Parquet")  # `v` is a number of Hot and a text of Cold
    expect(page.get_by_role("alert")).to_contain_text("The export failed")
