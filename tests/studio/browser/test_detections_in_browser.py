"""Detections in trouble and out of it: hostile values, options, zones, sizes, failed runs, and access to all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from studio.browser.acting import run, violations

pytestmark = pytest.mark.xdist_group("browser")

EVIL = "<img src=x onerror=alert(1)>"
HOT = "event Temp(value: int)\ndefine Hot(v) from Temp(value > 45) where v = Temp.value\n"


def settings(served: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(served.read("studio.json"))
    return found["program"]["options"]


def test_hostile_names_and_values_stay_text_in_all_views(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rules = (
        f"create schema `{EVIL}`(`{EVIL}` string);\n@Name('{EVIL}') insert into `{EVIL} out` "
        f"select a.`{EVIL}` as `{EVIL}` from pattern [every a=`{EVIL}`];\n"
    )
    long = EVIL * 50_000  # 1.4 MB
    rows = [{"type": EVIL, "time": 1, EVIL: EVIL}, {"type": EVIL, "time": 2, EVIL: long}]
    files = {"a.epl": rules, "rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}
    page = visit(serve(name="hostile", files=files), "/a.epl")
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done")
    page.get_by_role("tab", name="Plan").click()
    expect(page.get_by_role("table", name="Definitions")).to_contain_text(f"{EVIL} out".removesuffix(" out"))
    expect(page.locator(f'[data-testid="plan-{EVIL}"]')).to_contain_text(EVIL)
    page.get_by_role("tab", name="Run").click()
    expect(page.get_by_role("region", name="First rows").first).to_contain_text(EVIL)  # peek
    run(page)
    expect(page.locator(f'[data-testid="lane-{EVIL} out"]')).to_contain_text(EVIL)
    expect(page.get_by_test_id("detection")).to_have_count(2)
    expect(page.get_by_test_id("detection").first).to_contain_text(EVIL)
    page.get_by_test_id("detection").nth(1).click()
    why = page.get_by_role("region", name="Why")
    # a long value is cut, and whole when it is asked for
    why.get_by_role("button", name="characters").first.click()
    shown = why.locator(".full-text").first.text_content()
    assert shown == long
    expect(why.get_by_test_id("constituent")).to_contain_text("rows.jsonl:2")
    box = page.get_by_test_id("timeline").bounding_box()
    for step in range(8):
        page.mouse.move(box["x"] + 2 + step * 4, box["y"] + box["height"] / 2)
    page.get_by_label("Lanes by").select_option(EVIL)
    expect(page.locator(".lane").first).to_contain_text(EVIL)
    page.get_by_role("tab", name="Text").click()
    expect(page.locator(".cm-fact-gutter, .cm-gutters").first).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert violations(page) == []


def test_options_of_all_kinds_are_kept_and_reset(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rows = "sort;when;value\nTemp;1;50\nTemp;2;60\n"
    served = serve(name="options", files={"hot.tesla": HOT, "rows.csv": rows})
    page = visit(served, "/hot.tesla/run")
    for group in ("Columns", "Text files", "Detections", "Rules", "Windows and limits"):
        page.locator(".option-group").get_by_role("button", name=group).click()

    def kept(name: str, value: Any) -> None:
        for _ in range(200):
            if (served.folder / "studio.json").exists() and settings(served).get(name, "default") == value:
                break
            page.wait_for_timeout(50)
        assert settings(served).get(name, "default") == value

    def write(label: str, name: str, text: str, value: Any) -> None:
        page.get_by_label(label, exact=True).fill(text)
        page.keyboard.press("Enter")
        kept(name, value)

    page.get_by_label("Time unit").select_option("min")
    kept("time_unit", "min")
    write("Type", "type", "sort", "sort")
    write("Time", "time", "when", "when")
    write("Delimiter", "delimiter", ";", ";")
    write("Only types", "only", "Hot", ["Hot"])
    page.get_by_label("Require bounds").click()
    kept("require_bounds", True)
    page.get_by_label("Most partial matches").fill("many")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This is not a whole number.")).to_be_visible()
    write("Most partial matches", "max_instances", "500", 500)
    expect(page.get_by_text("This is not a whole number.")).to_have_count(0)
    page.locator(".option", has=page.get_by_label("End", exact=True)).get_by_role("checkbox").click()
    kept("end", None)
    run(page)
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "2")
    write("Only types", "only", "", "default")
    page.get_by_label("Require bounds").click()
    kept("require_bounds", "default")
    assert violations(page) == []


def test_a_wrong_option_is_told_at_its_field_and_keeps_a_run_from_starting(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    rows = "type,time,value\nTemp,2024-01-01T00:30:00Z,50\nTemp,2024-01-02T00:30:00Z,60\n"
    served = serve(name="wrong option", files={"hot.tesla": HOT, "rows.csv": rows})
    page = visit(served, "/hot.tesla/run")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/jobs") else None)
    until = page.get_by_label("Until")
    until.fill("yesterday")
    until.press("Enter")
    expect(until).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Write a time such as 2024-01-05T09:00:00Z.")).to_be_visible()
    assert not (served.folder / "studio.json").exists()  # what is wrong is not the project's
    # from another view, with events and options closed
    page.get_by_role("button", name="Events and options").click()
    expect(until).to_have_count(0)
    page.keyboard.press("Control+1")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Until is not valid")
    expect(until).to_be_focused()
    expect(until).to_have_value("yesterday")
    expect(page.get_by_role("region", name="First rows").first).to_contain_text("2024-01-01 00:30:00")
    assert violations(page) == []
    # an option of a group that is closed; what was typed and is right counts
    until.fill("2024-01-01T12:00:00Z")
    group = page.get_by_role("button", name="Windows and limits")
    group.click()
    page.get_by_label("Most partial matches").fill("many")
    group.click()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Most partial matches")).to_be_focused()
    page.get_by_label("Most partial matches").fill("")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert asked == []
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "done", timeout=60_000)
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "1")
    assert settings(served) == {"until": "2024-01-01T12:00:00Z"}


def test_an_option_that_only_the_events_refuse_is_told_at_its_field(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    rows = "type,time,value\nTemp,1,50\n"
    options = {"version": 1, "program": {"options": {"until": "2024-01-01"}}}
    files = {"hot.tesla": HOT, "rows.csv": rows, "studio.json": json.dumps(options)}
    page = visit(serve(name="refused option", files=files), "/hot.tesla/run")
    until = page.get_by_label("Until")
    expect(until).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".option", has=until)).to_contain_text("expected a whole number")
    expect(page.get_by_text("No rows")).to_have_count(0)
    run(page, "failed")
    expect(page.locator(".option", has=until)).to_contain_text("expected a whole number")
    until.fill("5")
    until.press("Enter")
    expect(until).not_to_have_attribute("aria-invalid", "true")
    run(page)


def test_times_are_shown_in_the_zone_of_the_project(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rows = "type,time,value\nTemp,2024-01-01T00:30:00Z,50\n"
    page = visit(serve(name="zones", files={"hot.tesla": HOT, "rows.csv": rows}), "/hot.tesla/run")
    peek = page.get_by_role("region", name="First rows").first
    expect(peek).to_contain_text("2024-01-01 00:30:00")
    zone = page.get_by_label("Zone")
    zone.fill("Mars/Olympus")
    expect(page.get_by_text("This is not a known time zone.")).to_be_visible()
    zone.press("Enter")
    expect(zone).to_have_value("Mars/Olympus")  # what is wrong stays to be mended, and is not the project's
    zone.fill("America/New_York")
    zone.press("Enter")
    expect(peek).to_contain_text("2023-12-31 19:30:00")
    run(page)
    expect(page.get_by_test_id("detection")).to_contain_text("2023-12-31 19:30:00")
    zone.fill("Asia/Tokyo")
    zone.press("Enter")
    expect(page.get_by_test_id("detection")).to_contain_text("2024-01-01 09:30:00")  # of a run that is done, too


def test_bad_rows_are_named_and_can_be_skipped(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rows = "type,time,value\nTemp,2024-01-01T00:00:00Z,50\nTemp,never,60\n"
    page = visit(serve(name="bad", files={"heat.tesla": HOT, "rows.csv": rows}), "/heat.tesla")
    run(page, "failed")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("unreadable time")
    expect(alert).not_to_contain_text("--bad-rows")
    assert violations(page) == []
    alert.get_by_role("button", name="rows.csv:3").click()
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Ln 3, Col 1")).to_be_visible()
    page.get_by_role("tab", name="Run").click()
    alert.get_by_role("button", name="Skip bad rows and run again").click()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "done", timeout=60_000)
    expect(page.get_by_test_id("run-state")).to_contain_text("1 bad row skipped")


def test_a_run_without_rules_or_events_says_what_is_missing(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = visit(serve(name="bare", files={"hot.tesla": HOT}), "/hot.tesla/run")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Select at least one event file.")
    other = visit(serve(name="ruleless", files={"rows.csv": "type,time\nA,1\n"}), "/rows.csv/run")
    other.get_by_role("button", name="Run", exact=True).click()
    expect(other.get_by_role("alert")).to_contain_text("The program has no rules")


def test_sizes_of_run_and_plan_are_kept(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"), "/labor.epl/run")
    run(page)
    side = page.get_by_role("separator", name="Events and options")
    timeline = page.get_by_role("separator", name="Detections")
    side.press("Shift+ArrowRight")
    timeline.press("ArrowDown")
    page.get_by_role("tab", name="Plan").click()
    graph = page.get_by_role("separator", name="Definitions")
    graph.press("ArrowUp")
    before = graph.get_attribute("aria-valuenow")
    page.reload()
    expect(graph).to_have_attribute("aria-valuenow", before)
    page.get_by_role("tab", name="Run").click()
    expect(side).to_have_attribute("aria-valuenow", "304")
    expect(page.get_by_test_id("detection")).to_have_count(12)


def test_the_table_of_the_plan_has_what_its_graph_has(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    late = "input event a(v), b(v).\nstate s(V) : a(V) ~>> b(V).\n"
    page = visit(serve(name="costs", files={"late.phen": late}), "/late.phen/plan")
    table = page.get_by_role("table", name="Definitions")
    expect(table.get_by_role("rowheader")).to_have_text(["s", "a", "b"])
    rows = {row.get_by_role("rowheader").inner_text(): row for row in table.get_by_role("row").all()[1:]}
    for name in "ab":
        expect(rows[name]).to_contain_text("input")
    # how it runs is below its row
    more = table.get_by_role("button", name="More about s")
    expect(more).to_have_attribute("aria-expanded", "false")
    more.click()
    facts = dict(zip(*(table.locator(tag).all_inner_texts() for tag in ("dt", "dd")), strict=True))
    assert facts["Level"] == "1"
    assert "a later event decides about earlier starts" in facts["Costs"]
    assert facts["On Spark"]
    assert facts["On a stream"]
    expect(page.get_by_test_id("plan-s")).to_contain_text("Costs")
    assert violations(page) == []
    more.click()
    expect(table.locator("dt")).to_have_count(0)


def test_definitions_of_one_name_show_their_lines(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    hot = "define Hot(v) from Temp(value > {}) where v = Temp.value\n"
    page = visit(serve(name="twice", files={"hot.tesla": hot.format(5) + hot.format(50)}), "/hot.tesla/plan")
    for at, name in ((1, "Hot"), (2, "Hot_2")):
        expect(page.get_by_test_id(f"plan-{name}")).to_contain_text(f"Hot:{at}")
    table = page.get_by_role("table", name="Definitions")
    expect(table.get_by_role("rowheader")).to_have_text(["Hot:1", "Hot:2", "Temp"])
    expect(table.get_by_role("button", name="More about Hot:2")).to_be_visible()


def test_a_selection_of_time_by_keyboard(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"), "/labor.epl/run")
    run(page)
    rows = page.get_by_test_id("detection")
    expect(rows).to_have_count(12)
    page.get_by_test_id("timeline").focus()
    for key in ("ArrowRight", "[", "ArrowRight", "]"):  # from the first Duration to the second one
        page.keyboard.press(key)
    expect(rows).to_have_count(7)
    page.keyboard.press("Escape")
    expect(rows).to_have_count(12)


def test_an_input_event_is_shown_with_its_row(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"), "/labor.epl/run")
    run(page)
    expect(page.get_by_test_id("detection")).to_have_count(12)
    page.get_by_test_id("timeline").focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    why = page.get_by_role("region", name="Why")
    expect(why).to_contain_text("Patient")
    expect(why.get_by_role("button", name="Show rows.csv")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_are_those_of_the_canvas(
    serve: Callable[..., Any], visit: Callable[..., Any], scheme: str
) -> None:
    page = visit(serve("labor"), "/labor.epl/run", forced_colors="active", color_scheme=scheme)
    run(page)
    expect(page.get_by_test_id("detection")).to_have_count(12)
    page.get_by_test_id("timeline").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    # the ring around what has the focus, and strokes of inputs, have colours of the system
    found = page.evaluate(
        """() => {
        const canvas = document.querySelector('.timeline-stage canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const colours = new Set();
        for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] === 255) colours.add(`rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`);
        const probe = document.createElement('i');
        document.body.append(probe);
        const of = name => { probe.style.color = name; return getComputedStyle(probe).color };
        return { canvas: [...colours], text: of('CanvasText'), back: of('Canvas'), accent: of('Highlight') };
    }"""
    )
    assert found["text"] != found["back"]
    assert found["text"] in found["canvas"]


def test_axe_finds_nothing_serious_in_states_of_a_run(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve("flights")
    page = visit(served, "/flights.tesla/run")
    page.get_by_role("button", name="Look into Departure.csv").click()
    expect(page.get_by_role("region", name="First rows").first).to_contain_text("US1843")
    assert violations(page) == []
    page.get_by_role("button", name="Close first rows").click()
    for group in page.locator(".option-group button").all():
        group.click()
    run(page)
    text = served.read("flights.tesla")
    served.write("flights.tesla", text.replace("Delay >= 60", "Delay >= 70"))
    expect(page.get_by_text("The text has changed since this run")).to_be_visible()
    run(page)
    served.write("flights.tesla", text)
    page.get_by_role("button", name="Compare").click()
    compared = page.get_by_role("region", name="Compared with the run before").first
    # an edit of a rule changes the labels of all its detections; those that are equal are the same
    late = compared.locator("tr", has=page.get_by_role("rowheader", name="Late", exact=True))
    expect(late.get_by_role("cell")).to_have_text(["0", "41", "356"])
    late.get_by_role("button", name="41").click()
    expect(compared.get_by_role("listitem")).to_have_count(41)
    assert violations(page) == []
    page.get_by_role("button", name="Close comparison").click()
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_role("menuitem").first).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Plan").click()
    expect(page.get_by_test_id("plan-Late")).to_be_visible()
    served.write("flights.tesla", text + "define\n")
    expect(page.locator(".plan.is-stale")).to_be_visible()
    assert violations(page) == []
    served.write("flights.tesla", text)


def test_the_graph_of_the_plan_fits_and_zooms(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("flights"), "/flights.tesla/plan", viewport={"width": 1280, "height": 800})
    box = page.get_by_test_id("plan-Spiral")  # the last level
    expect(box).to_be_in_viewport(ratio=1)
    small = box.bounding_box()["width"]
    page.get_by_role("button", name="Zoom in").first.click()
    assert box.bounding_box()["width"] > 1.2 * small
    page.get_by_role("button", name="Fit the graph").click()
    assert abs(box.bounding_box()["width"] - small) < 1
    assert small >= 0.5 * 196  # readable, whatever the size of the graph
