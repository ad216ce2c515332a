"""What the hook of MkDocs makes of pages, and what the page of pipes names."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("railroad")
ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import reference_pages  # noqa: E402

from occurs import pipes  # noqa: E402
from occurs.pipes import processors  # noqa: E402


def test_roles_of_sphinx_become_code():
    html = "<p>As <code>:func:</code> :func:<code>load</code>, see :class:<code>Live</code>.</p>"
    shown = "<p>As <code>:func:</code> <code>load</code>, see <code>Live</code>.</p>"
    assert reference_pages.on_page_content(html) == shown


def test_the_page_of_pipes_has_every_public_name():
    text = (ROOT / "docs/reference/pipes-api.md").read_text()
    shown = {name.rsplit(".", 1)[1] for name in re.findall(r"^::: (occurs\.pipes\.\S+)$", text, re.MULTILINE)}
    source = (ROOT / "src/occurs/pipes/__init__.py").read_text()
    public = set(re.findall(r" as (\w+)$", source, re.MULTILINE)) | set(processors.__all__)
    assert "<!-- generated: processors -->" in text
    shown |= set(re.findall(r"^pipes\.(\w+)\(", reference_pages.processors(), re.MULTILINE))
    assert public <= shown | set(re.findall(r"`(\w+)`", text))
    assert shown <= set(dir(pipes)) | {"Push", "Pull"}


def test_no_name_of_the_page_of_pipes_is_a_module_by_accident():
    text = (ROOT / "docs/reference/pipes-api.md").read_text()
    for name in re.findall(r"^::: (occurs\.pipes\.\w+)$", text, re.MULTILINE):
        word = name.rsplit(".", 1)[1]
        if word not in ("signal", "stats", "plot", "ltl"):
            with pytest.raises(ModuleNotFoundError):
                import_module(name)


FACTS = sorted((ROOT / "docs/peers/facts").glob("*.toml"))


@pytest.mark.parametrize("path", FACTS, ids=lambda p: p.stem)
def test_a_page_of_a_peer_has_every_fact(path):
    facts = tomllib.loads(path.read_text(encoding="utf-8"))
    examples = [e for part in facts["part"] for e in part["example"]]
    for example in examples:
        assert example["outcome"] in reference_pages.OUTCOMES
        assert set(example) <= {"name", "outcome", "tests", "reason"}
        assert "reason" in example or example["outcome"] not in ("differs", "refused"), example["name"]
    page = ROOT / f"docs/peers/{path.stem}.md"
    text = reference_pages.expanded(page.read_text(encoding="utf-8"))
    assert all(f"| {e['name']} |" in text for e in examples)
    outcomes = "|".join(reference_pages.OUTCOMES)
    totals = re.findall(rf"^\| (?:{outcomes}) \| (\d+) \|", text, re.MULTILINE)
    assert sum(map(int, totals)) == sum(e.get("tests", 1) for e in examples)
