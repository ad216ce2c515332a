"""What the studio has targets for, in a real browser: each flow does what it should.

:mod:`benchmarks.studio` measures how fast; these tests share its pieces and print what they find.  They have bounds for
memory, and a wide one for the end of a job: those do not depend on how busy a machine is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks import studio as pieces
from playwright.sync_api import expect

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.long]
ROWS = "type,time,value\nTemp,2024-01-01T00:00:00Z,50\n"


@pytest.fixture
def million(tmp_path: Path) -> Iterator[pieces.Studio]:
    pieces.million(tmp_path)
    studio = pieces.Studio(tmp_path)
    yield studio
    studio.stop()


def test_typing_in_five_thousand_lines_while_they_are_checked(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve(name="large", files={"large.tesla": pieces.rules(5000), "rows.csv": ROWS}, kernels="")
    page = visit(served, "/large.tesla/text")
    checked = page.get_by_test_id("check-status")
    expect(checked).to_have_attribute("data-state", "done", timeout=60_000)
    late = pieces.typing(page)
    print(f"key to paint, 95th percentile: {late:.0f} ms")
    line = "# words that somebody types at some length while the program is checked"
    assert page.locator(".cm-line", has_text=line).all_inner_texts() == [line] * 3
    expect(checked).to_have_attribute("data-state", "done", timeout=60_000)
    expect(checked).to_have_attribute("data-errors", "0")


def test_an_error_is_marked_soon_after_the_last_key(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="small", files={"small.tesla": pieces.rules(200), "rows.csv": ROWS}, kernels="")
    page = visit(served, "/small.tesla/text")
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done", timeout=60_000)
    late = pieces.marked(page)
    print(f"last key to the mark of an error: {late:.0f} ms")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)  # each was taken back
    expect(page.get_by_test_id("dirty")).to_have_count(0)


def test_the_page_does_not_grow_with_edits_and_runs(serve: Callable[..., Any], visit: Callable[..., Any]) -> None:
    served = serve(name="small", files={"small.tesla": pieces.rules(200), "rows.csv": ROWS}, kernels="")
    page = visit(served, "/small.tesla/text")
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done", timeout=60_000)
    grown = pieces.growth(page, 1_000, 100)
    print(f"growth over 1,000 edits and 100 runs: {grown:.1f} MB")
    assert grown < 50
    assert int(page.get_by_test_id("run-state").get_attribute("data-found")) == 50


def test_a_timeline_of_a_million_is_drawn_anew_for_each_range(million: pieces.Studio, browser: Any) -> None:
    page = pieces.opened(browser, million, "/many.tesla/Run")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-found", "1000000", timeout=600_000)
    timeline = page.get_by_test_id("timeline")
    expect(timeline).to_have_attribute("data-count", "1000000")
    late = pieces.redraw(page)
    print(f"from a change of range to its paint: {late:.0f} ms")
    expect(timeline).to_have_attribute("data-count", "1000000")  # the last one was Fit
    longest, median = pieces.wheel(page)
    print(f"ten steps of the wheel: longest frame {longest:.0f} ms, median {median:.0f} ms")
    assert int(timeline.get_attribute("data-count")) < 1_000_000
    page.close()


def test_a_cancelled_job_gives_its_memory_back_and_the_next_one_runs(million: pieces.Studio) -> None:
    found = pieces.cancelled(million)
    print(f"gone after {found.seconds:.2f} s; {found.left:.0f} of {found.had:.0f} MB are left")
    assert found.seconds < 10
    assert found.left < found.had / 2  # what is left is the server, which has read files meanwhile
    assert found.next == "done"
