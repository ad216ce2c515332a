"""Every block of code of the README and of docs/ runs and makes what the page shows; every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest

from occurs.languages.kit.language import names
from pages import FENCE, Differs, Story, blocks

ROOT = Path(__file__).parent.parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
SPARK = re.compile(r"local_session|--host spark|occurs follow|spark-submit")


def code(page: Path) -> str:
    """The code of a page that runs."""
    return "".join(block.code for block in blocks(page.read_text()) if block.language != "sh")


def stories() -> list[Any]:
    """The pages that have code; those that need Spark are marked."""
    pages = [(page, [pytest.mark.spark] * bool(SPARK.search(code(page)))) for page in PAGES if code(page)]
    return [pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks) for page, marks in pages]


class Borrowed:
    """The session of the tests, which pages cannot stop."""

    def __init__(self, session: Any):
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def stop(self) -> None:
        """Other tests go on with it."""


@pytest.mark.share(4)
@pytest.mark.parametrize("page", stories())
def test_a_page_shows_what_its_code_does(page, tmp_path, monkeypatch, request):
    if SPARK.search(code(page)):
        session = Borrowed(request.getfixturevalue("spark"))
        monkeypatch.setattr("occurs.connect.spark.local_session", lambda *_, **__: session)
    else:  # a session that another test has started is not that of a reader
        monkeypatch.setattr("occurs.cli._input.runs_spark", lambda: False)
    monkeypatch.chdir(tmp_path)
    Story(page, tmp_path).run()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text())
    missing = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_table_behind_a_block_is_apart_from_it(page):
    """Without an empty line between them the site shows the bars of the table."""
    assert not re.search(r"^ *```\n *\|", page.read_text(), re.MULTILINE)


def test_the_readme_names_every_language_that_is_there():
    readme = (ROOT / "README.md").read_text()
    missing = [name for name in names() if not re.search(rf"\b{name}\b", readme, re.IGNORECASE)]
    assert not missing


FIRE = """
```tesla title="fire.tesla"
event Smoke(Area: string)
define Fire(Area) from Smoke(Area = $a) where Area = $a
```
```csv title="events.csv"
type,time,Area
Smoke,2024-01-05T09:00:00Z,hall
```
```console
$ occurs run fire.tesla --events events.csv --host local
{"type": "Fire", "time": "2024-01-05T09:00:00Z", "Area": "hall"}
```
| type | time | Area |
| --- | --- | --- |
| Fire | 2024-01-05 09:00:00 | hall |

```python
import occurs
import pandas as pd

occurs.load("fire.tesla").detect(pd.read_csv("events.csv"))["Fire"]
```
| type | time | Area |
| --- | --- | --- |
| Fire | 2024-01-05 09:00:00 | hall |

```python
print("one", 2)
```
```text
one 2
```
```sh
occurs run fire.tesla --events events.csv > out.jsonl
```
"""


def story(text: str, folder: Path, **options: Any) -> Story:
    page = folder / "page.md"
    page.write_text(text)
    return Story(page, folder, **options)


def test_a_story_with_every_kind_of_block(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert story(FIRE, tmp_path).run() == FIRE


@pytest.mark.parametrize(
    ("now", "was"),
    [
        ('"Area": "hall"}', '"Area": "attic"}'),
        ("| Fire | 2024-01-05 09:00:00 | hall |", "| Fire | 2024-01-05 09:00:00 | attic |"),
        ("| Fire | 2024-01-05 09:00:00 | hall |\n\n```python\nprint", "| Fire | 2024 |\n\n```python\nprint"),
        ("one 2\n", "one 3\n"),
    ],
)
def test_a_page_that_shows_something_else_fails_and_can_be_rewritten(now, was, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = FIRE.replace(now, was)
    assert wrong != FIRE
    with pytest.raises(Differs):
        story(wrong, tmp_path).run()
    assert story(wrong, tmp_path, write=True).run() == FIRE


@pytest.mark.parametrize(
    "block", ["sh\noccurs nothing", "sh\noccurs run x.tesla --evnts y", "console\n$ rmdir /", "java\n1"]
)
def test_blocks_that_cannot_be_run_fail(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((Differs, click.UsageError)):
        story(f"```{block}\n```\n", tmp_path).run()
