"""Drawings as pictures, and graphical models that come and go as files, in a real browser."""

from __future__ import annotations

import json
import re
import struct
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from defusedxml import ElementTree
from playwright.sync_api import expect

pytestmark = pytest.mark.xdist_group("browser")
SVG = "{http://www.w3.org/2000/svg}"
RULES = """create schema A(x int, name string);
@Name('Wide') insert into Wide select a.name as who, b.x - a.x as grown \
from pattern [every a=A(x > 1 and name != '<&"') -> b=A(b.name = a.name, b.x > a.x)];
"""
ICON = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><circle cx="8" cy="8" r="8"/></svg>'
SIDECAR = {"version": 1, "icons": {"A": {"image": "a.svg"}, "Wide": {"character": "W", "colour": "teal"}}}
DROP = """(element, [name, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], name));
    for (const kind of ["dragenter", "dragover", "drop"])
        element.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
MEDIT = """<domain:CEPDomain xmlns:domain="www.uca.es/modeling/cep/domain" domainName="Homes">
<events typeName="Door"><eventProperties name="open" type="Boolean"/></events></domain:CEPDomain>
"""


def exported(page: Any, item: str, to: Path) -> Path:
    page.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name=item, exact=True).click()
    path = to / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def text_of(page: Any) -> str:
    found: str = page.locator(".cm-content").evaluate("e => e.cmTile.view.state.sliceDoc()")
    return found


def drop(page: Any, name: str, content: str) -> None:
    page.get_by_test_id("canvas").evaluate(DROP, [name, b64encode(content.encode()).decode()])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_drawing_is_exported_as_pictures_that_need_nothing_else(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path, theme: str
) -> None:
    files = {"wide.epl": RULES, "a.svg": ICON, "studio.json": json.dumps(SIDECAR)}
    page = visit(serve(name="pictures", files=files), "/wide.epl/text", color_scheme=theme)
    expect(page.get_by_test_id("check-status")).to_have_attribute("data-state", "done")
    path = exported(page, "Drawing of the pattern (SVG)", tmp_path)
    assert path.name == "Wide.svg"
    source = path.read_text()
    root = ElementTree.fromstring(source)
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert {"A", "a", "b", "Every", "Followed by", "Wide", "who", "a.name", "b.x - a.x", "1", "2"} <= set(said)
    assert "and name != '<&\"'" in said
    assert root.find(f"{SVG}title").text == "Wide"
    # nothing is fetched, and no colour or font is left to a style sheet
    assert "var(" not in source
    assert "class=" not in re.sub(r'class="lucide[^"]*"', "", source)
    assert set(re.findall(r'\b(?:href|src)="(.{5})|\b(url)\(', source)) == {("data:", "")}
    assert root.get("font-family")
    assert next(root.iter(f"{SVG}image")).get("href").startswith("data:image/svg+xml")
    alone = page.context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(path.as_uri())
    width, height = (float(root.get(name)) for name in ("width", "height"))
    for text in alone.locator("text").all():
        box = text.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height
    alone.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    image = exported(page, "Drawing of the pattern (PNG)", tmp_path).read_bytes()
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", image[16:24]) == (2 * width, 2 * height)


def test_a_model_goes_from_one_project_to_another(
    serve: Callable[..., Any], visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit(serve("labor"), "/labor.epl/graph/Duration")
    expect(page.get_by_test_id("node-a2")).to_be_visible()
    model = exported(page, "Graphical model (.pattern.json)", tmp_path)
    assert model.name == "Duration.pattern.json"
    assert json.loads(model.read_text())["name"] == "Duration"
    # it opens in the Graph view, which puts it into rules
    served = serve(name="models", files={"own.epl": "", model.name: model.read_text()})
    other = visit(served, "/own.epl/text")
    other.get_by_role("treeitem", name=model.name).click()
    expect(other.get_by_role("tab", name="Graph")).to_have_attribute("aria-selected", "true")
    other.get_by_role("button", name="Put into own.epl").click()
    expect(other.get_by_role("combobox", name="Statement")).to_have_value("Duration")
    expect(other.get_by_test_id("node-a2")).to_contain_text("a2.ts - a1.ts <= 5")
    text = text_of(other)
    assert "create schema Patient(name string, contrDuration int, ts int);" in text
    assert "insert into Duration" in text
    expect(other.get_by_test_id("check-status")).to_have_attribute("data-errors", "0")
    # a second time its name is taken; under another one only the statement is new
    drop(other, "again.pattern.json", model.read_text())
    alert = other.get_by_role("alert")
    expect(alert).to_contain_text("A statement Duration exists")
    assert text_of(other) == text
    renamed = model.read_text().replace('"Duration"', '"Later"')
    drop(other, "later.pattern.json", renamed)
    expect(other.get_by_role("combobox", name="Statement")).to_have_value("Later")
    assert text_of(other).startswith(text.rstrip())
    assert text_of(other).count("create schema") == 1
    other.get_by_role("heading", level=1).click()
    other.get_by_role("button", name="Undo").click()
    assert text_of(other) == text


def test_files_that_are_no_models_are_refused_and_those_of_medit4cep_are_read(
    serve: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    served = serve("labor", name="refusals")
    page = visit(served, "/labor.epl/graph/Duration")
    page.watched.allow("422")
    expect(page.get_by_test_id("node-a2")).to_be_visible()
    before = text_of(page)
    for name, content, said in (
        ("broken.pattern.json", "{", "not JSON"),
        ("list.pattern.json", "[]", "no graphical model"),
        ("other.pattern.json", '{"nodes": 1}', "complex event"),
        ("notes.txt", "x", "no graphical model"),
        ("wrong.pattern", "<a/>", "MEdit4CEP"),
    ):
        drop(page, name, content)
        expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
        page.locator(".notice").get_by_role("button", name="Close").click()
    assert text_of(page) == before
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import a graphical model").press("Enter")
    chooser.value.set_files([{"name": "homes.domain", "mimeType": "text/xml", "buffer": MEDIT.encode()}])
    expect(page.get_by_test_id("tool-Event:Door")).to_be_visible()
    assert text_of(page) == f"{before.rstrip()}\n\ncreate schema Door(open boolean);\n"
