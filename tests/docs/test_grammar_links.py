"""The tables of constructs name rules that the grammars have, and sections that the guides have."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("railroad")
ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import grammars  # noqa: E402


def rules_of(language: str) -> set[str]:
    if language == "esql":
        text = (ROOT / "docs/spec/pipes.md").read_text()
        found = re.search(r"^### 2\.2 .*?^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        assert found
        return set(re.findall(r"(?:^|  )([a-zA-Z]+) *= ", found[1], re.MULTILINE))
    return set(grammars.read(ROOT / f"src/occurs/languages/{language}/grammar.lark"))


@pytest.mark.parametrize("language", grammars.GUIDES)
def test_constructs_name_rules_and_sections(language):
    guide, constructs = grammars.GUIDES[language]
    headings = re.findall(r"^#+ (.+)$", (ROOT / f"docs/guides/{guide}.md").read_text(), re.MULTILINE)
    places = {re.sub(r"[^\w\s-]", "", h).strip().lower().replace(" ", "-") for h in headings}
    names = [name for _, rules, _ in constructs for name in rules.split()]
    assert set(names) <= rules_of(language)
    assert len(names) == len(set(names))
    assert {place for _, _, place in constructs} <= places


def test_the_name_of_a_rule_leads_to_its_guide():
    rules = grammars.read(ROOT / "src/occurs/languages/tesla/grammar.lark")
    assert '<a href="../../guides/tesla/#consuming">consuming</a>' in grammars.ebnf(rules, "tesla")
