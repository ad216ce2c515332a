"""The timeline and the table by keyboard, a selection of time, a run after a reload, two runs side by side."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import run

pytestmark = pytest.mark.xdist_group("browser")


def test_everything_of_a_run_by_keyboard(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"), "/labor.epl/run")
    run(page)
    timeline = page.get_by_test_id("timeline")
    expect(page.get_by_test_id("detection")).to_have_count(12)  # the timeline comes before the rows
    timeline.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    why = page.get_by_role("region", name="Why")
    expect(why.get_by_test_id("constituent")).to_have_count(3)
    # the second Duration is at 34, and so is the detection of the lane below
    expect(page.locator("[data-testid=detection][aria-current]")).to_have_attribute("data-ticks", "34")
    page.keyboard.press("+")
    page.keyboard.press("+")
    expect(timeline).not_to_have_attribute("data-count", "12")
    begin, end = (int(timeline.get_attribute(f"data-{side}")) for side in ("from", "to"))
    assert begin <= 34 <= end  # zoomed around what has the focus
    page.keyboard.press("0")
    expect(timeline).to_have_attribute("data-count", "12")
    expect(page.get_by_test_id("detection")).to_have_count(12)
    page.get_by_test_id("detection").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("[data-testid=detection][aria-current]")).to_have_attribute("data-ticks", "39")


def test_a_selection_of_time_and_of_a_type_narrow_the_table(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = visit(serve("labor"), "/labor.epl/run")
    run(page)
    rows = page.get_by_test_id("detection")
    expect(rows).to_have_count(12)
    box = page.get_by_test_id("timeline").bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.92, box["y"] + 60, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(rows).to_have_count(7)  # those at 26 and 34
    page.get_by_test_id("lane-Duration").get_by_role("button").click()
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Clear selection").click()
    expect(rows).to_have_count(3)
    expect(page.get_by_role("columnheader", name="last_delay")).to_be_visible()


def test_the_time_in_view_keeps_its_end_where_there_is_little_room(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    rows = "type,time,value\n" + "".join(f"Temp,2024-01-01T{h:02}:00:00Z,50\n" for h in range(24))
    files = {"hot.tesla": "define Hot(v) from Temp(value > 45) where v = Temp.value\n", "rows.csv": rows}
    page = visit(serve(name="day", files=files), "/hot.tesla/run", viewport={"width": 1600, "height": 800})
    run(page)
    expect(page.get_by_test_id("detection")).not_to_have_count(0)
    page.get_by_test_id("timeline").focus()
    for _ in range(2):
        page.keyboard.press("+")
    shown = page.locator(".timeline-day")
    expect(shown).to_have_text(re.compile(r"2024-01-01 \d\d:\d\d:\d\d – \d\d:\d\d:\d\d UTC"))
    whole = shown.inner_text()
    seen = set()
    for width in (1600, 1400, 1280, 1160, 1090, 1030):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(100)
        assert shown.evaluate("element => element.scrollWidth <= element.clientWidth")
        assert shown.inner_text().removesuffix(" UTC")[-5:] in whole  # it ends with a time, to the second or the minute
        assert shown.get_attribute("title") == whole
        seen.add(shown.inner_text())
    assert len(seen) > 1


def test_a_run_is_there_after_a_reload_and_beside_the_next_one(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve("labor")
    page = visit(served, "/labor.epl/run")
    run(page)
    page.reload()
    expect(page.get_by_test_id("detection")).to_have_count(12, timeout=20_000)
    text = served.read("labor.epl")
    served.write("labor.epl", text.replace("a2.ts - a1.ts <= 5", "a2.ts - a1.ts <= 4"))
    expect(page.get_by_text("The text has changed since this run")).to_be_visible()
    run(page)
    served.write("labor.epl", text)
    page.get_by_role("button", name="Compare").click()
    compared = page.get_by_role("region", name="Compared with the run before").first
    cells = compared.get_by_role("row", name="Duration").first.get_by_role("cell")
    expect(cells).to_have_text(["0", "1", "2"])  # gained, lost, same


RECORD = """() => {
    window.frames_ = [];
    let last = performance.now();
    const tick = now => { window.frames_.push(now - last); last = now; window.going_ = requestAnimationFrame(tick) };
    window.going_ = requestAnimationFrame(tick);
}"""
STOP = "() => { cancelAnimationFrame(window.going_); return window.frames_.slice(1) }"


@pytest.mark.long
def test_a_million_detections_zoom_without_a_long_frame(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    lanes = "".join(f"define Lane{k}(v) from Temp(value = {k}) where v = Temp.value\n" for k in range(5))
    rows = "type,time,value\n" + "".join(f"Temp,{i},{i % 5}\n" for i in range(1, 1_000_001))
    files = {"many.tesla": f"event Temp(value: int)\n{lanes}", "many.csv": rows}
    served = serve(name="million", files=files, kernels="")
    page = visit(served, "/many.tesla/run", viewport={"width": 1600, "height": 900})
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "1000000", timeout=300_000)
    timeline = page.get_by_test_id("timeline")
    expect(timeline).to_have_attribute("data-exact", "false")
    page.wait_for_timeout(1_000)
    box = timeline.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate("performance.clearResourceTimings()")
    page.evaluate(RECORD)
    for _ in range(10):
        page.mouse.wheel(0, -200)
        page.wait_for_timeout(60)
    page.wait_for_timeout(500)
    frames = page.evaluate(STOP)
    assert max(frames) < 200, sorted(frames)[-5:]
    answers = page.evaluate(
        """() => performance.getEntriesByType('resource').filter(one => one.name.includes('/timeline'))
            .map(one => [one.duration, one.transferSize])"""
    )
    assert answers
    assert sorted(duration for duration, _ in answers)[len(answers) // 2] < 60
    assert max(size for _, size in answers) < 200_000
