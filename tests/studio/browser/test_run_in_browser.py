"""Plan, Run, timeline, table and Why in a real browser, on the examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import run

pytestmark = pytest.mark.xdist_group("browser")


def test_the_labor_example_finds_what_the_paper_finds(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"))
    state = run(page)
    expect(state).to_have_attribute("data-found", "12")
    expect(page.get_by_test_id("timeline")).to_have_attribute("data-total", "12")
    expect(page.get_by_test_id("timeline")).to_have_attribute("data-exact", "true")
    expect(page.get_by_test_id("lane-Duration")).to_have_attribute("data-count", "3")
    expect(page.get_by_test_id("lane-TimeOnLabor")).to_have_attribute("data-count", "9")
    rows = page.get_by_test_id("detection")
    expect(rows).to_have_count(12)
    types = [row.get_attribute("data-type") for row in rows.all()]
    assert (types.count("Duration"), types.count("TimeOnLabor")) == (3, 9)
    ticks = [int(row.get_attribute("data-ticks")) for row in rows.all()]
    assert sorted(ticks) == sorted([26, 34, 39, 26, 26, 34, 34, 34, 39, 39, 39, 39])


def test_a_detection_is_explained_down_to_its_rows(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"))
    run(page)
    page.get_by_role("textbox", name="Filter detections").fill("KnockOn")
    row = page.locator("[data-testid=detection][data-type=KnockOn]").first
    row.click()
    why = page.get_by_role("region", name="Why")
    expect(why.get_by_test_id("constituent").first).to_be_visible()
    kinds = {c.get_attribute("data-type") for c in why.get_by_test_id("constituent").all()}
    assert {"Late", "Arrival", "Departure"} <= kinds
    late = why.locator("[data-testid=constituent][data-type=Late]").first
    inner = late.locator("[data-testid=constituent][data-type=Departure]").first
    expect(inner).to_contain_text("Departure.csv")  # down to the file, nested in what was derived of it


def test_zooming_asks_for_the_visible_range_and_fit_shows_all(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = visit(serve("flights"))
    run(page)
    timeline = page.get_by_test_id("timeline")
    total = int(timeline.get_attribute("data-total"))
    assert total == 1692
    expect(timeline).to_have_attribute("data-count", str(total))
    box = timeline.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(6):
        page.mouse.wheel(0, -240)
        page.wait_for_timeout(50)
    expect(timeline).not_to_have_attribute("data-count", str(total))
    page.get_by_role("button", name="Fit").click()
    expect(timeline).to_have_attribute("data-count", str(total))


def test_the_plan_shows_keys_and_unbounded_state(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"), "/labor.epl/plan")
    duration = page.get_by_test_id("plan-Duration")
    expect(duration).to_have_attribute("data-unbounded", "true")
    expect(page.get_by_role("table", name="Definitions")).to_contain_text("TimeOnLabor")
    other = visit(serve("flights"), "/flights.tesla/plan")
    expect(other.get_by_test_id("plan-KnockOn")).to_have_attribute("data-unbounded", "false")
    levels = [int(other.get_by_test_id(f"plan-{n}").get_attribute("data-level")) for n in ("Late", "KnockOn")]
    assert levels[0] < levels[1]


def test_rules_with_errors_do_not_run(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rules = "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Tmp.value\n"
    page = visit(serve(name="wrong", files={"heat.tesla": rules, "rows.csv": "type,time,value\nTemp,1,50\n"}))
    page.watched.allow("422")
    page.get_by_role("tab", name="Run").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_test_id("problem").first).to_have_attribute("data-kind", "unknown-name")
    expect(page.get_by_test_id("run-state")).not_to_have_attribute("data-state", "done")


def test_a_bad_row_is_named_with_its_file(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rules = "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"
    rows = "type,time,value\nTemp,2024-01-01T00:00:00Z,50\nTemp,never,60\n"
    page = visit(serve(name="bad", files={"heat.tesla": rules, "rows.csv": rows}))
    run(page, "failed")
    expect(page.get_by_role("main")).to_contain_text("rows.csv")


def test_a_long_run_is_cancelled(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    pairs = "insert into Pair select a.v as x, b.v as y from pattern [every a=A -> every b=A];"
    rules = f"create schema A(v int);\n{pairs}\n"
    rows = "type,time,v\n" + "".join(f"A,{i},{i}\n" for i in range(1, 4001))
    served = serve(name="long", files={"pairs.epl": rules, "rows.csv": rows})
    page = visit(served)
    state = run(page, "running")
    page.get_by_role("button", name="Cancel").click()
    expect(state).to_have_attribute("data-state", "cancelled", timeout=5_000)


def test_why_is_marked_in_the_text(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/cancellations.epl/run")
    run(page)
    page.get_by_role("textbox", name="Filter detections").fill("CalledOff")
    page.locator("[data-testid=detection][data-type=CalledOff]").first.click()
    expect(page.get_by_test_id("constituent").first).to_be_visible()
    page.keyboard.press("Control+1")
    expect(page.locator(".cm-explained").first).to_be_visible()
    expect(page.locator(".cm-constituent")).to_have_text(["a=Cancellation", "b=Cancellation"])
    # another detection, other marks
    page.keyboard.press("Control+6")
    page.get_by_role("textbox", name="Filter detections").fill("")
    page.locator("[data-testid=detection]:not([data-type=CalledOff])").first.click()
    page.keyboard.press("Control+1")
    expect(page.locator(".cm-explained")).to_have_count(0)
