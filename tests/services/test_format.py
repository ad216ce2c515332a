"""Formatting keeps the meaning and every comment, wherever one is put."""

from __future__ import annotations

import random
from functools import cache

import pytest

from languages.mutants import Source, sources
from occurs.languages.epl.parser import parse
from occurs.services import format_text
from occurs.services.tokens import tokens_of

COMMENTS = ("// {}\n", "/* {} */", " /* {}\n   more */ ", "\n// {}\n", "\n  # {}\n", "\n-- {}\n", "\n\n/* {} */\n\n")


@cache
def epl() -> list[Source]:
    """The texts of EPL without problems; read when tests run, not in each process that collects them."""
    return [s for s in sources() if s.language == "epl" and not parse(s.text)[1]]


def commented(text: str, rng: random.Random, number: int) -> str:
    """The text with comments between its words."""
    tokens = [t for t in tokens_of("epl", text) if t.kind != "comment"]
    places = sorted(rng.sample(range(len(tokens) + 1), min(number, len(tokens) + 1)), reverse=True)
    for n, place in enumerate(places):
        at = tokens[place].start if place < len(tokens) else len(text)
        text = text[:at] + rng.choice(COMMENTS).format(n) + text[at:]
    return text


def judge(text: str) -> str:
    """The formatted text, which has the same statements and comments, and stays as it is when formatted again."""
    found = format_text("a.epl", text)
    assert found.problems == (), text
    assert parse(found.text)[0].statements == parse(text)[0].statements
    kept = [t.text.strip() for t in tokens_of("epl", text) if t.kind == "comment"]
    assert [t.text.strip() for t in tokens_of("epl", found.text) if t.kind == "comment"] == kept
    assert not any(line != line.rstrip() for line in found.text.split("\n") if "/*" not in text), found.text
    assert format_text("a.epl", found.text).text == found.text, text
    return found.text


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_comments_anywhere_in_all_cases(seed):
    rng = random.Random(seed)
    cases = epl() if seed else rng.sample(epl(), 40)
    for source in cases:
        for number in (0, 1, 3, 9):
            text = commented(source.text, rng, number)
            if not parse(text)[1]:
                judge(text)


def test_comments_stay_where_they_belong():
    text = """\
// The temperatures
// of all rooms

# their type
create schema Temp (room string, // a name
  celsius /* degrees */ double); // nothing else

/* a change
   of two degrees */
insert into Rise
-- what it tells
select a.room as room, // where
  /* how much */ b.celsius - a.celsius as rise
from pattern [every a=Temp // first
   // then the second
   -> (b=Temp(room = a.room /* the same */) where timer:within(5 minutes))] // and no more
;
// end
"""
    assert judge(text) == """\
// The temperatures
// of all rooms

# their type
create schema Temp(room string, // a name
    celsius /* degrees */ double); // nothing else

/* a change
   of two degrees */
insert into Rise
-- what it tells
select a.room as room, // where
    /* how much */ b.celsius - a.celsius as rise
from pattern [every a=Temp // first
    // then the second
    -> b=Temp(room = a.room /* the same */) where timer:within(5 min)]; // and no more

// end
"""  # fmt: skip


def test_line_ends_and_marks_of_a_file_stay():
    found = format_text("a.epl", "\ufeffcreate schema A(x int);//one\r\n\r\nselect * from A ;// two")
    assert found.text == "\ufeffcreate schema A(x int); //one\r\n\r\nselect *\r\nfrom A; // two\r\n"


def test_what_cannot_be_formatted_stays_as_it_is():
    for path, text, kind in (
        ("a.epl", "select  * from", "syntax"),
        ("a.epl", "select  * from A; /* open", "syntax"),
        ("a.tesla", "define  Hot() from Temp()", "unformatted"),
        ("a.txt", "anything", "unknown-language"),
    ):
        found = format_text(path, text)
        assert (found.text, [p.kind for p in found.problems]) == (text, [kind])
