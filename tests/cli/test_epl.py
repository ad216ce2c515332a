"""``occurs epl``: canonical text on stdout or in a file, and all problems of a wrong text."""

from __future__ import annotations

import pytest

RULES = """// each hot reading that is followed by smoke
create schema T ( v int, `select` string );
@name("Fire") INSERT INTO Fire SELECT t.v AS v, s.area FROM PATTERN [ (every t=T(v>45)) -> (s=Smoke where timer:within(300)) ]
"""  # noqa: E501

CANONICAL = """create schema T(v int, `select` string);

@name('Fire')
insert into Fire
select t.v as v, s.area
from pattern [every t=T(v > 45) -> s=Smoke where timer:within(5 min)];
"""


@pytest.fixture
def rules(here):
    (here / "fire.epl").write_text(RULES)
    return here / "fire.epl"


def test_the_canonical_text_is_printed(occurs, rules):
    done = occurs("epl", "fire.epl")
    assert (done.status, done.out, done.err) == (0, CANONICAL, "")
    assert occurs("epl", "fire.epl", "--out", "-").out == CANONICAL


def test_the_text_may_replace_the_file_and_then_stays(occurs, rules):
    for _ in range(2):
        done = occurs("epl", "fire.epl", "-o", "fire.epl", "--overwrite")
        assert (done.status, done.out) == (0, "")
        assert rules.read_text() == CANONICAL


def test_a_wrong_text_is_not_written(occurs, here):
    (here / "wrong.epl").write_text("select * from pattern [every every a=A];\nselect * from A#length(2);\n")
    done = occurs("epl", "wrong.epl", "-o", "out.epl")
    assert (done.status, done.out) == (2, "")
    assert "wrong.epl:1:30: error[syntax]: unexpected `every`" in done.err
    assert "wrong.epl:2:16: error[unsupported]: a data window is not supported" in done.err
    assert not (here / "out.epl").exists()


def test_what_cannot_be_read_or_written(occurs, rules, here):
    done = occurs("epl", "fier.epl")
    assert done.status == 2
    assert "did you mean `fire.epl`" in done.err
    (here / "binary.epl").write_bytes(b"\xff\xfe\x00")
    assert "cannot be read as text" in occurs("epl", "binary.epl").err
    done = occurs("epl", "fire.epl", "-o", "no/out.epl")
    assert (done.status, done.out) == (2, "")
    assert "there is no directory no" in done.err
    (here / "folder").mkdir()
    assert occurs("epl", "fire.epl", "-o", "folder").status == 1


def test_an_empty_text_is_no_mistake(occurs, here):
    (here / "empty.epl").write_text("// nothing\n")
    done = occurs("epl", "empty.epl")
    assert (done.status, done.out, done.err) == (0, "", "")


MODEL = """@Name('fire')
insert into Fire
select a1.v as v
from pattern [every a1=T(a1.v > 45) -> a2=Smoke where timer:within(5 min)];
"""


def test_a_model_and_its_text(occurs, here):
    (here / "fire.epl").write_text(MODEL)
    done = occurs("epl", "fire.epl", "-o", "fire.pattern.json")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert occurs("epl", "fire.pattern.json").out == MODEL
    assert occurs("epl", "fire.pattern.json", "-o", "again.epl").status == 0
    assert (here / "again.epl").read_text() == MODEL
    done = occurs("epl", "fire.pattern.json", "-o", "other.pattern.json")
    assert done.status == 2
    assert "is already a model" in done.err


def test_wrong_models_are_told_with_their_nodes(occurs, rules, here):
    (here / "fire.epl").write_text(MODEL)
    occurs("epl", "fire.epl", "-o", "fire.pattern.json")
    text = (here / "fire.pattern.json").read_text().replace('"minutes": 5', '"minutes": -5').replace('"fire"', '""')
    (here / "fire.pattern.json").write_text(text)
    done = occurs("epl", "fire.pattern.json", "-o", "out.epl")
    assert (done.status, done.out) == (2, "")
    assert "fire.pattern.json: error[unknown-name]: the pattern has no name" in done.err
    assert "(WithinTimer): `minutes` is -5, but must be at least 0" in done.err
    assert not (here / "out.epl").exists()
    (here / "many.epl").write_text("@public " + MODEL)
    done = occurs("epl", "many.epl", "-o", "many.pattern.json")
    assert done.status == 2
    assert "many.epl:1:1: error[unsupported]: the palette does not support @public" in done.err
    assert not (here / "many.pattern.json").exists()
