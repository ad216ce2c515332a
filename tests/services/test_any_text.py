"""Whatever a text is, the services answer: every beginning of every text case, in all languages."""

from __future__ import annotations

import logging
import random

import pytest

from languages.mutants import CHARACTERS, LANGUAGES, Source, mutant, sources
from occurs import services
from occurs.languages.kit.language import suffixes

SUFFIX = {name: suffix for suffix, name in suffixes().items()}


def ask(source: Source, text: str, offset: int | None = None) -> None:
    """Ask everything of a text; a problem of kind ``internal`` and a logged error are crashes."""
    offset = len(text) if offset is None else offset
    path = f"a{SUFFIX[source.language]}"
    texts = {path: text}
    found = services.check(texts)
    assert not [p for p in found.problems if p.kind == "internal"], text
    lines = text.split("\n")
    for o in found.outline:
        assert o.span is not None
        assert 1 <= o.span.line <= o.span.end_line <= len(lines), (text, o)
    completions = services.complete(path, texts, offset)
    assert 0 <= completions.start <= offset
    assert all(i.label and i.insert for i in completions.items)
    for place in (offset, max(0, offset - 1), offset // 2):
        services.hover(path, texts, place)
        services.definition(path, texts, place)
        services.uses(path, texts, place)
    formatted = services.format_text(path, text)
    assert isinstance(formatted.text, str)


@pytest.fixture(autouse=True)
def no_errors_logged(caplog):
    yield
    assert [r for r in caplog.get_records("call") if r.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_some_beginnings_of_texts(language):
    rng = random.Random(language)
    mine = [s for s in sources() if s.language == language]
    for source in rng.sample(mine, 12):
        for _ in range(3):
            ask(source, source.text[: rng.randrange(len(source.text) + 1)])
        ask(source, mutant(source, rng))


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_all_beginnings_of_all_texts(language):
    for source in (s for s in sources() if s.language == language):
        for end in range(len(source.text) + 1):
            ask(source, source.text[:end])


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_any_place_of_changed_texts(language):
    rng = random.Random(language)
    for source in (s for s in sources() if s.language == language):
        text = mutant(source, rng)
        ask(source, text, rng.randrange(len(text) + 1))
        at = rng.randrange(len(source.text) + 1)
        ask(source, source.text[:at] + rng.choice(CHARACTERS) + source.text[at:], at)


def test_texts_without_a_statement_and_paths_without_a_language():
    for text in ("", " \n", "\ufeff", "\x00", "'", "/*", "`", "🙂"):
        for path in ("a.epl", "a.esql", "a.ftl", "a.phen", "a.tesla", "a.txt", "a"):
            assert services.check({path: text}).outline == ()
            assert services.complete(path, {path: text}, 99).start <= max(99, len(text))
            assert services.hover(path, {path: text}, 0) is None
            assert services.definition(path, {path: text}, 1) == []
            assert services.format_text(path, text).text == text
    assert services.complete("other.epl", {"a.epl": ""}, 0).items == ()
    (problem,) = services.check({"a.txt": ""}).problems
    assert (problem.kind, problem.file) == ("unknown-language", "a.txt")
