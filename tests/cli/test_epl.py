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


MEDIT = """<?xml version="1.0" encoding="UTF-8"?>
<eventpattern:CEPEventPattern xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:eventpattern="www.uca.es/modeling/cep/eventpattern"
    patternName="fire">
  <links order="1" operand="//@eventPatternElements.0" operator="//@complexEvent"/>
  <eventPatternElements xsi:type="eventpattern:Event" outboundLink="//@links.0" typeName="Smoke"/>
  <complexEvent inboundLink="//@links.0" typeName="Fire"/>
</eventpattern:CEPEventPattern>
"""
SMOKE = """<domain:CEPDomain xmlns:domain="www.uca.es/modeling/cep/domain">
  <events typeName="Smoke"><eventProperties name="area" type="String"/></events>
</domain:CEPDomain>
"""


def test_files_of_medit4cep(occurs, here):
    (here / "fire.pattern").write_text(MEDIT)
    (here / "fire.domain").write_text(SMOKE)
    text = "@Name('fire')\ninsert into Fire\nselect a1.*\nfrom pattern [every a1=Smoke];\n"
    done = occurs("epl", "fire.pattern")
    assert (done.status, done.out, done.err) == (0, text, "")
    assert occurs("epl", "fire.domain").out == "create schema Smoke(area string);\n"
    assert occurs("epl", "fire.pattern", "-o", "fire.pattern.json").status == 0
    assert occurs("epl", "fire.pattern.json").out == text
    done = occurs("epl", "fire.domain", "-o", "types.pattern.json")
    assert done.status == 2
    assert "fire.domain:1:1: error[sort]: this is a domain, which has no pattern" in done.err
    (here / "fire.pattern").write_text(MEDIT.replace(":Event\"", ":GroupBy\""))
    done = occurs("epl", "fire.pattern", "-o", "out.epl")
    assert done.status == 2
    assert "fire.pattern:6:1: error[unsupported]: //@eventPatternElements.0 (GroupBy): " in done.err
    assert not (here / "out.epl").exists()
