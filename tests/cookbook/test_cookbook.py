"""Every rule file of every recipe has a test here, and every recipe is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cookbook.recipes import PAGES
from pages import RULES, blocks

RECIPES = sorted(page for page in PAGES.glob("*.md") if page.stem != "index")
SUFFIX = re.compile(r"\.(tesla|epl|phen|ftl|ptl|esql|sql)$")


def shown(page):
    """The languages and names of the rule files of a page."""
    return [(b.language, b.title) for b in blocks(page.read_text()) if b.title and SUFFIX.search(b.title)]


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_every_rule_file_is_compared_with_an_independent_computation(page):
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert f'"{page.stem}"' in tests
    missing = [title for _, title in shown(page) if f'"{title}"' not in tests]
    assert not missing


def test_every_recipe_is_in_the_table_and_in_the_navigation():
    table = (PAGES / "index.md").read_text()
    site = (PAGES.parent.parent / "mkdocs.yml").read_text()
    assert [p.name for p in RECIPES if f"({p.name})" not in table or f"cookbook/{p.name}" not in site] == []


def test_the_cookbook_has_recipes_in_all_languages_and_mixed_ones():
    used = [{language for language, _ in shown(page)} for page in RECIPES]
    assert set().union(*used) == {*RULES, "sql"}
    assert sum(len(languages) > 1 for languages in used) >= 2
    assert len(RECIPES) >= 18
