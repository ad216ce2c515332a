"""The Net view in a real browser: drawn, stepped forth and back, run, by mouse and by keys."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.amount import some

from studio.browser.acting import violations

pytestmark = pytest.mark.xdist_group("browser")
ROOT = Path(__file__).parents[3]
STUDIO = ROOT / "src" / "occurs" / "studio"
SLOW = 60_000

N = {"node": "Ref", "scope": None, "name": "n", "index": None}
#: three tokens to choose from, a place on a second page that is fused
SMALL = {
    "format": "occurs net", "version": 1, "name": "small", "notes": [],
    "colours": [{"name": "INT", "kind": "int"}],
    "variables": [{"name": "n", "colour": "INT"}],
    "pages": [
        {
            "name": "One",
            "places": [
                {"name": "A", "colour": "INT", "initial": [{"count": 1, "value": v} for v in (1, 2, 7)]},
                {"name": "B", "colour": "INT", "initial": [], "fusion": "shared"},
            ],
            "transitions": [{"name": "move", "guard": [], "priority": 1000}],
            "arcs": [
                {"place": "A", "transition": "move", "input": True, "terms": [N]},
                {"place": "B", "transition": "move", "input": False, "terms": [N]},
            ],
        },
        {
            "name": "Two",
            "places": [
                {"name": "B2", "colour": "INT", "initial": [], "fusion": "shared"},
                {"name": "C", "colour": "INT", "initial": []},
            ],
            "transitions": [],
            "arcs": [],
        },
    ],
}  # fmt: skip


def open_net(page: Any) -> Any:
    page.get_by_role("tab", name="Net").click()
    net = page.get_by_test_id("net")
    net.wait_for(timeout=SLOW)
    return net


def steps(page: Any, count: int) -> None:
    expect(page.get_by_test_id("net-steps")).to_have_text(str(count))


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def tokens(page: Any) -> dict[str, int]:
    """The places that have tokens."""
    script = "nodes => nodes.map(n => [n.dataset.testid, Number(n.dataset.tokens)])"
    found = page.locator("[data-testid^=place-]").evaluate_all(script)
    return {name: count for name, count in found if count}


def firings(page: Any) -> Any:
    return page.get_by_role("list", name="Firings").get_by_role("listitem")


def test_the_net_of_the_labor_example_runs_to_what_the_paper_finds(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = visit(serve("labor"))
    open_net(page)
    assert page.get_by_role("combobox", name="Page").locator("option").first.inner_text() == "All pages"
    expect(page.get_by_test_id("place-Input")).to_have_attribute("data-tokens", "12")
    expect(page.get_by_test_id("transition-enter")).to_have_attribute("data-enabled", "true")
    steps(page, 0)
    press(page, "Run to end")
    steps(page, 67)
    expect(page.locator("[data-derived=Duration]")).to_have_count(3)
    expect(page.locator("[data-derived=TimeOnLabor]")).to_have_count(9)
    expect(firings(page)).to_have_count(67)
    expect(page.get_by_test_id("transition-enter")).to_have_attribute("data-enabled", "false")
    expect(page.get_by_role("button", name="Step", exact=True)).to_be_disabled()


def test_firings_are_taken_back_exactly(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"))
    open_net(page)
    seen = [tokens(page)]
    for count in range(1, 7):
        press(page, "Step")
        steps(page, count)
        seen.append(tokens(page))
    assert len({json.dumps(one, sort_keys=True) for one in seen}) > 4
    for count in reversed(range(6)):
        press(page, "Back")
        steps(page, count)
        assert tokens(page) == seen[count]
        expect(firings(page)).to_have_count(count)
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_disabled()
    press(page, "Step")
    steps(page, 1)
    press(page, "Reset")
    steps(page, 0)
    assert tokens(page) == seen[0]


def test_a_click_fires_and_the_log_leads_to_row_and_text(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"))
    open_net(page)
    page.get_by_test_id("transition-enter").click()
    steps(page, 1)
    expect(page.get_by_test_id("place-Duration_a1_F")).to_have_attribute("data-tokens", "1")
    expect(firings(page).first).to_contain_text("enter")
    expect(page.locator("mark")).to_have_text("Patient,1,B,10,1")  # the row as it is written
    page.get_by_test_id("transition-Duration_a2_t").click()  # not enabled: it is chosen only
    expect(page.get_by_role("region", name="Properties")).to_contain_text("Duration_a2_t")
    steps(page, 1)
    press(page, "Run to end")
    steps(page, 67)
    expect(page.locator("mark").first).to_contain_text("a3=Patient(")
    firings(page).last.get_by_role("button", name="row 12").last.click()
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("textbox", name="Rules")).to_contain_text("Patient,39,B,38,39")


def test_a_net_file_opens_in_the_view_and_offers_its_bindings(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = visit(serve(name="file", files={"small.net.json": json.dumps(SMALL)}))
    page.get_by_role("treeitem", name="small.net.json").click()
    page.get_by_test_id("net").wait_for(timeout=SLOW)
    expect(page.get_by_role("tab", name="Net")).to_have_attribute("aria-selected", "true")
    assert tokens(page) == {"place-A": 3}
    page.get_by_test_id("transition-move").click()
    choices = page.get_by_role("menu", name="Bindings of move").get_by_role("menuitem")
    expect(choices).to_have_text(["n = 1", "n = 2", "n = 7"])
    choices.nth(2).click()
    steps(page, 1)
    assert tokens(page) == {"place-A": 2, "place-B": 1, "place-B2": 1}
    page.get_by_test_id("place-B2").hover()  # the places of a fusion light up together
    expect(page.get_by_role("tooltip")).to_contain_text("7")
    for name in ("B", "B2"):
        expect(page.get_by_test_id(f"place-{name}")).to_have_class(re.compile("is-lit"))
    expect(page.get_by_test_id("place-A")).not_to_have_class(re.compile("is-lit"))
    page.get_by_role("combobox", name="Page").select_option("Two")
    expect(page.get_by_test_id("place-A")).to_have_count(0)
    expect(page.get_by_test_id("place-C")).to_have_attribute("data-tokens", "0")


def test_keys_reach_every_element_and_fire(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="file", files={"small.net.json": json.dumps(SMALL)}), "/small.net.json/net")
    page.get_by_test_id("net").wait_for(timeout=SLOW)
    page.get_by_role("button", name="Fit view").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("transition-move")).to_be_focused()  # it can fire
    page.keyboard.press("Enter")
    expect(page.get_by_role("menu", name="Bindings of move")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    steps(page, 1)
    page.get_by_test_id("transition-move").focus()
    around = set()
    for key in ("ArrowLeft", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
        around.add(page.evaluate("document.activeElement.dataset.node"))
    assert {"A", "B"} <= around
    group = page.locator(".net-sheet")
    before = group.get_attribute("style")
    page.keyboard.press("+")
    assert group.get_attribute("style") != before
    page.keyboard.press("0")
    expect(group).to_have_attribute("style", before or "")
    page.get_by_test_id("transition-move").focus()
    page.keyboard.press("b")
    page.get_by_role("button", name="Run to…").click()
    expect(page.get_by_role("dialog", name="Run to…")).to_contain_text("stops when it fires")
    page.keyboard.press("Escape")
    press(page, "Run to end")
    steps(page, 2)  # and not 3
    expect(page.locator(".net-stopped")).to_have_text("Breakpoint at move")


def test_runs_to_firings_rows_and_breakpoints(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"))
    open_net(page)

    def go(field: str, number: int) -> None:
        page.get_by_role("button", name="Run to…").click()
        page.get_by_role("dialog", name="Run to…").get_by_role("textbox", name=field, exact=True).fill(str(number))
        page.keyboard.press("Enter")

    go("Firings", 20)
    steps(page, 20)
    go("Row", 12)
    expect(page.get_by_text("row 12 of 12")).to_be_visible()
    go("Firing number", 7)
    steps(page, 7)
    expect(firings(page)).to_have_count(7)
    go("Row", 2)  # it has entered: back to there
    expect(page.get_by_text("row 2 of 12")).to_be_visible()
    press(page, "Reset")
    steps(page, 0)
    page.get_by_test_id("place-Duration_a1_F").click()
    page.get_by_role("checkbox", name="Stop runs at a number of tokens").check()
    page.get_by_role("textbox", name="Number of tokens").fill("5")
    page.keyboard.press("Enter")
    press(page, "Run to end")
    expect(page.get_by_test_id("place-Duration_a1_F")).to_have_attribute("data-tokens", "5")
    expect(page.locator(".net-stopped")).to_have_text("Breakpoint at Duration_a1_F")
    page.get_by_role("checkbox", name="Stop runs at a number of tokens").uncheck()
    go("Seed", 42)
    steps(page, 0)
    expect(page.get_by_text("random, seed 42")).to_be_visible()
    press(page, "Run to end")
    expect(page.locator("[data-derived=Duration]")).to_have_count(3)


def test_a_statement_without_a_net_is_told_and_the_others_are_drawn(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    rules = """create schema A(v int);
insert into One select a.v as v from pattern [every a=A];
insert into Two select b.v as v from pattern [every (a=A until b=A(v > 3))];
"""
    page = visit(serve(name="until", files={"rules.epl": rules, "rows.csv": "type,time,v\nA,1,1\n"}))
    open_net(page)
    error = page.get_by_test_id("net-error")
    expect(error).to_contain_text("until")
    expect(page.locator("[data-testid^=place-One]").first).to_be_visible()
    error.get_by_role("button", name="rules.epl:3:").click()
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("Ln 3, Col")).to_be_visible()


def test_what_keeps_a_net_from_being_drawn_is_said(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("maritime"))
    page.get_by_role("tab", name="Net").click()
    expect(page.get_by_test_id("net-error")).to_contain_text("no EPL statements")
    other = visit(serve(name="nothing"))
    other.get_by_role("tab", name="Net").click()
    expect(other.get_by_test_id("net-error")).to_contain_text("no rules")


def test_the_net_follows_the_text_but_keeps_what_was_fired(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    rules = "create schema A(v int);\ninsert into One select a.v as v from pattern [every a=A];\n"
    page = visit(serve(name="follow", files={"rules.epl": rules, "rows.csv": "type,time,v\nA,1,1\nA,2,2\n"}))
    open_net(page)
    before = page.locator("[data-testid^=place-]").count()

    def write(text: str) -> None:
        page.get_by_role("tab", name="Text").click()
        page.get_by_role("textbox", name="Rules").focus()
        page.keyboard.press("Control+End")
        page.keyboard.insert_text(text)
        expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done")

    write("insert into Two select a.v as v from pattern [every a=A(v > 1)];\n")
    open_net(page)
    expect(page.locator("[data-testid^=place-Two]").first).to_be_visible()
    assert page.locator("[data-testid^=place-]").count() > before
    press(page, "Step")
    steps(page, 1)
    write("insert into Three select a.v as v from pattern [every a=A(v > 2)];\n")
    open_net(page)
    steps(page, 1)
    expect(page.get_by_text("older text")).to_be_visible()
    press(page, "Open again")
    expect(page.locator("[data-testid^=place-Three]").first).to_be_visible()
    steps(page, 0)


def test_inscriptions_and_options_are_switched(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"))
    open_net(page)
    page.get_by_role("combobox", name="Page").select_option("Duration_a1")
    label = page.locator(".net-inscriptions text").first
    guard = page.locator(".net-guards text").first
    expect(label).to_be_visible()
    expect(guard).to_contain_text("contrDuration")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("checkbox", name="Inscriptions").uncheck()
    page.get_by_role("checkbox", name="Guards").uncheck()
    expect(label).to_be_hidden()
    expect(guard).to_be_hidden()
    page.get_by_role("combobox", name="Searches begin at").select_option("1")
    page.get_by_role("combobox", name="Searches begin at").select_option("0")
    page.get_by_role("checkbox", name="Black transitions").uncheck()
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Page").select_option("")
    expect(page.get_by_test_id("transition-enter_next")).to_be_attached()
    expect(page.locator(".net-transition.is-black")).to_have_count(0)
    press(page, "Run to end")
    steps(page, 262)


def test_tokens_move_along_the_arcs_of_a_firing_unless_motion_is_reduced(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    count = """() => {
      window.moved = 0;
      new MutationObserver(() => {
        window.moved = Math.max(window.moved, document.querySelectorAll(".net-moving").length);
      }).observe(document.querySelector(".net-sheet"), { childList: true, subtree: true });
    }"""
    moved = []
    for motion in ("no-preference", "reduce"):
        page = visit(serve("labor"), reduced_motion=motion)
        open_net(page)
        page.evaluate(count)
        press(page, "Step")
        steps(page, 1)
        page.wait_for_timeout(500)
        moved.append(page.evaluate("window.moved"))
        assert page.locator(".net-moving").count() == 0
    assert moved[0] > 1
    assert moved[1] == 0


def test_wheel_and_drag_move_the_drawing_and_fit_shows_all(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = visit(serve("labor"))
    net = open_net(page)
    box = net.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    point = page.locator(".net-frame").first
    first = point.bounding_box()
    page.mouse.move(*middle)
    page.mouse.wheel(0, -300)
    page.wait_for_function("w => document.querySelector('.net-frame').getBoundingClientRect().width > 1.2 * w",
                           arg=first["width"])  # fmt: skip
    zoomed = point.bounding_box()
    # the point under the cursor stays where it is
    factor = zoomed["width"] / first["width"]
    assert abs((first["x"] - middle[0]) * factor - (zoomed["x"] - middle[0])) < 2
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1] + 40, steps=4)
    page.mouse.up()
    dragged = point.bounding_box()
    assert abs(dragged["x"] - zoomed["x"] - 60) < 2
    assert abs(dragged["y"] - zoomed["y"] - 40) < 2
    steps(page, 0)  # a drag is no click
    press(page, "Fit view")
    fitted = point.bounding_box()
    assert abs(fitted["x"] - first["x"]) < 2
    assert abs(fitted["width"] - first["width"]) < 2


@pytest.mark.parametrize("theme", some(["light", "dark"], 1))
def test_axe_finds_nothing_serious(serve: Callable[..., Any], visit: Callable[..., Any], theme: str) -> None:
    page = visit(serve("labor"), color_scheme=theme)
    open_net(page)

    assert violations(page) == []
    press(page, "Run to end")
    steps(page, 67)
    page.get_by_test_id("place-Input").click()
    assert violations(page) == []
    page.get_by_role("button", name="Run to…").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show", exact=True).click()
    assert violations(page) == []


def test_verify_compares_engine_reference_and_both_nets(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve("labor"))
    open_net(page)
    page.get_by_role("tab", name="Verify").click()
    press(page, "Verify")
    verdict = page.get_by_test_id("net-verified")
    expect(verdict).to_have_attribute("data-equal", "true", timeout=SLOW)
    table = page.get_by_role("table", name="Verify")
    expect(table.get_by_role("columnheader")).to_have_text(["Type", "engine", "reference", "BPCPN", "PCPN"])
    row = table.get_by_role("row").filter(has_text="TimeOnLabor")
    expect(row.get_by_role("cell")).to_have_text(["9", "9", "9", "9"])


def test_the_state_space_of_a_net_file_is_reported(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    page = visit(serve(name="file", files={"small.net.json": json.dumps(SMALL)}), "/small.net.json/net")
    page.get_by_test_id("net").wait_for(timeout=SLOW)
    page.get_by_role("tab", name="State space").click()
    page.get_by_role("textbox", name="At most so many markings").fill("100")
    press(page, "Explore")
    report = page.get_by_role("region", name="State space")
    expect(report).to_have_attribute("data-state", "done", timeout=SLOW)
    expect(report.locator("pre")).to_contain_text("8")  # each of three tokens has moved, or not


def test_random_streams_are_counted(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    rules = "create schema A(v int);\ninsert into One select a.v as v from pattern [every a=A(v > 5)];\n"
    stream = "rows = 10\ngap = {low = 1, high = 3}\n[types.A.attributes]\nv = {low = 1, high = 10}\n"
    stream = stream.replace("{low", '{distribution = "uniform", low')
    files = {"rules.epl": rules, "rows.csv": "type,time,v\nA,1,1\n", "stream.toml": stream}
    page = visit(serve(name="streams", files=files))
    open_net(page)
    page.get_by_role("tab", name="Random streams").click()
    page.get_by_role("textbox", name="Streams", exact=True).fill("20")
    press(page, "Simulate")
    found = page.get_by_role("region", name="Random streams")
    expect(found).to_have_attribute("data-state", "done", timeout=SLOW)
    row = found.get_by_role("row").filter(has_text="derived")
    expect(row).to_contain_text("One")
    assert sum(map(int, re.findall(r": (\d+) stream", row.get_by_role("img").get_attribute("aria-label")))) == 20


def test_a_net_is_exported_as_files_and_pictures(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit(serve("labor"))
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("menuitem", name="Net (.net.json)")).to_be_disabled()
    page.keyboard.press("Escape")
    open_net(page)
    press(page, "Run to end")
    steps(page, 67)

    def exported(item: str) -> bytes:
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=item).click()
        return Path(download.value.path()).read_bytes()

    assert json.loads(exported("Net (.net.json)"))["format"] == "occurs net"
    assert b"<workspaceElements>" in exported("Net for CPN Tools")
    assert exported("Net with its tokens (SVG)").startswith(b"<svg")
    assert exported("Net with its tokens (PNG)").startswith(b"\x89PNG")


def test_texts_of_a_net_file_are_changed_checked_and_saved(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="edited", files={"small.net.json": json.dumps(SMALL)})
    page = visit(served, "/small.net.json/net")
    page.watched.allow("422")
    page.get_by_test_id("net").wait_for(timeout=SLOW)
    page.get_by_test_id("place-A").click()
    field = page.get_by_role("textbox", name="Initial tokens")
    expect(field).to_have_value("1`1++1`2++1`7")
    field.fill('2`"a"')
    page.keyboard.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_test_id("place-A")).to_have_attribute("data-tokens", "3")
    field.fill("2`5++1`40")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("place-A")).to_have_attribute("data-tokens", "3")
    expect(page.get_by_role("list", name="Tokens")).to_contain_text("40")
    page.get_by_test_id("transition-move").click()
    page.keyboard.press("Escape")  # two bindings: the list is closed again
    guard = page.get_by_role("textbox", name="Guard")
    guard.fill("[n > 9]")
    page.keyboard.press("Enter")
    expect(page.locator(".net-guards").first).to_contain_text("n > 9")
    page.get_by_role("textbox", name="Inscription to B").fill("n + 1")
    page.keyboard.press("Enter")
    expect(page.locator(".net-inscriptions").first).to_contain_text("n + 1")
    page.get_by_test_id("transition-move").click()  # one binding is left
    steps(page, 1)
    assert tokens(page) == {"place-A": 2, "place-B": 1, "place-B2": 1}
    press(page, "Save")
    expect(page.get_by_test_id("dirty")).to_have_count(0)
    saved = json.loads(served.read("small.net.json"))
    assert saved["pages"][0]["places"][0]["initial"] == [{"count": 2, "value": 5}, {"count": 1, "value": 40}]
    page.reload()
    page.get_by_test_id("net").wait_for(timeout=SLOW)
    expect(page.locator(".net-guards").first).to_contain_text("n > 9")


def test_the_net_of_rules_becomes_a_file_that_can_be_changed(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    rules = "create schema A(v int);\ninsert into One select a.v as v from pattern [every a=A(v > 5)];\n"
    page = visit(serve(name="own", files={"rules.epl": rules, "rows.csv": "type,time,v\nA,1,7\n"}))
    open_net(page)
    press(page, "Edit as a net file")
    expect(page.get_by_role("treeitem", name="own.net.json")).to_have_attribute("aria-selected", "true")
    page.get_by_test_id("transition-enter").click()
    steps(page, 1)
    expect(page.get_by_role("textbox", name="Priority")).to_be_enabled()


#: frames, tasks and moves of a drag by 120 moves, 8 ms apart
FRAMES = """() => {
  window.frames = [];
  let before = performance.now();
  const next = now => { window.frames.push(now - before); before = now; window.asked = requestAnimationFrame(next) };
  window.asked = requestAnimationFrame(next);
}"""


#: when the tab is clicked, and when the first frame with the net is done
WATCH = """() => {
  window.drawn = { at: 0 };
  addEventListener("click", () => { drawn.click = performance.now() }, true);
  new MutationObserver((_, observer) => {
    if (!document.querySelector(".net-node")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => {
      drawn.at = performance.now();
      document.body.dataset.drawn = "true";
    }));
  }).observe(document.body, { childList: true, subtree: true });
}"""


def dragged(page: Any, box: dict[str, float]) -> tuple[float, float]:
    """The median frame of a drag, and the time of tasks per frame, in milliseconds."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})  # without what others do meanwhile
    session.send("Performance.enable")

    def busy() -> float:
        return {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}["TaskDuration"]

    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    before, began = busy(), time.perf_counter()
    for k in range(120):
        due = began + k * 0.008
        time.sleep(max(0.0, due - time.perf_counter()))
        page.mouse.move(x + 2 * (k % 60), y + k % 40)
    after = busy()
    frames = page.evaluate("() => { cancelAnimationFrame(window.asked); return window.frames }")
    page.mouse.up()
    return median(frames[2:]), 1000 * (after - before) / len(frames)


def best(page: Any, box: dict[str, float]) -> tuple[float, float]:
    """The better of three drags: the machine may be busy with other things."""
    found = [dragged(page, box) for _ in range(3)]
    return min(frame for frame, _ in found), min(task for _, task in found)


@pytest.mark.long
def test_a_net_of_2000_nodes_is_drawn_and_moved_at_full_speed(
    serve: Callable[..., Any], visit: Callable[..., Any], browser: Any
) -> None:
    head, *statements = (STUDIO / "examples" / "labor" / "labor.epl").read_text().split("\n\n")
    copies = [re.sub(r"(Duration'|TimeOnLabor'|into Duration|into TimeOnLabor)", rf"\1_{k}", "\n".join(statements))
              for k in range(28)]  # fmt: skip
    copies = [re.sub(rf"'_{k}\)", f"_{k}')", text) for k, text in enumerate(copies)]
    rows = (STUDIO / "examples" / "labor" / "rows.csv").read_text()
    settings = {"program": {"options": {"time_unit": "min"}}, "version": 1}
    files = {"many.epl": "\n\n".join([head, *copies]), "rows.csv": rows, "studio.json": json.dumps(settings)}
    page = visit(serve(name="many", files=files), viewport={"width": 1600, "height": 1000})
    net = open_net(page)
    nodes = page.locator(".net-node").count()
    assert nodes >= 2000
    empty = page.context.new_page()
    empty.goto("about:blank")
    quiet, idle = best(empty, {"x": 0, "y": 0, "width": 1000, "height": 700})
    empty.close()
    page.bring_to_front()
    frame, task = best(page, net.bounding_box())
    print(f"{nodes} nodes: frame {frame:.1f} ms (empty {quiet:.1f}), tasks {task:.1f} ms (empty {idle:.1f})")
    assert frame <= max(1.1 * quiet, 17.5)
    assert task <= idle + 12
    again = visit(serve(name="many"), viewport={"width": 1600, "height": 1000})
    expect(again.get_by_test_id("check-status")).to_have_attribute("data-state", "done")
    again.evaluate(WATCH)
    again.get_by_role("tab", name="Net").click()
    again.get_by_test_id("net").wait_for(timeout=SLOW)
    again.locator("[data-drawn]").wait_for(timeout=SLOW)
    drawn = again.evaluate(
        """() => {
          const calls = performance.getEntriesByType("resource").filter(one => one.name.endsWith("/nets"));
          return { ...drawn, answer: calls.at(-1).responseEnd };
        }"""
    )
    whole, here = drawn["at"] - drawn["click"], drawn["at"] - drawn["answer"]
    print(f"drawn {whole:.0f} ms after the click, {here:.0f} ms after the answer of the server")
    assert here <= 1500
