"""What is offered, explained and found at places of texts; ``|`` stands for the place."""

from __future__ import annotations

import re

import pytest

from occurs import services
from occurs.languages.kit.language import suffixes
from occurs.languages.kit.mixed_up import in_another_language

TYPES = {"types.tesla": "event Temp(room: string, celsius: int)\nevent Door(room: string, open: bool)\n"}


def placed(marked: str, path: str = "a.tesla") -> tuple[str, dict[str, str], int]:
    return path, {**TYPES, path: marked.replace("|", "", 1)}, marked.index("|")


def items(marked: str, path: str = "a.tesla", kind: str | None = None) -> list[str]:
    found = services.complete(*placed(marked, path)).items
    return [i.label for i in found if kind is None or i.kind == kind]


def hovered(marked: str, path: str = "a.tesla") -> str | None:
    found = services.hover(*placed(marked, path))
    return None if found is None else found.text


def places(ask, marked: str, path: str = "a.tesla") -> list[tuple[str, int, int]]:
    return [(p.file, p.span.line, p.span.column) for p in ask(*placed(marked, path))]


# --- completion -------------------------------------------------------------------------------------------------------

PATTERN = "select {} from pattern [every a=Temp(celsius > 3) -> b=Door({})];"


@pytest.mark.parametrize(
    ("path", "marked", "labels"),
    [
        ("a.epl", PATTERN.format("a.|", ""), ["room", "celsius"]),
        ("a.epl", PATTERN.format("a.ro|", "room = a.room"), ["room", "celsius"]),
        ("a.epl", PATTERN.format("a.room", "room = a.|"), ["room", "celsius"]),
        ("a.epl", PATTERN.format("b.| as x, a.room as y", ""), ["room", "open"]),
        ("a.epl", "select a.| from Temp(celsius > 3) as a", ["room", "celsius"]),
        ("a.tesla", "define Hot() from Temp(room = $r) and last Door(Temp.|", ["room", "celsius"]),
        ("a.tesla", "define Hot() from Temp() as t and last Door(t.|) within 5 min from t", ["room", "celsius"]),
        ("a.ftl", "table T (k string key, v int) trigger t: eventually T('a').|", ["k", "v", "op", "old"]),
        ("a.esql", "DEFINE Hot AS FILTER Temp.|", ["room", "celsius"]),
        ("a.esql", "DEFINE Hot AS FILTER Temp.celsius W|", ["WITH"]),
        ("a.epl", "// Temp|", []),
        ("a.epl", "select * from Temp(room = 'Te|", []),
        ("a.tesla", "define Hot() from Temp(room = 'Te|mp')", []),
        ("a.epl", "/* Te| */ select", []),
    ],
)
def test_just_these_are_offered(path, marked, labels):
    assert items(marked, path) == labels


@pytest.mark.parametrize(
    ("path", "marked", "labels"),
    [
        ("a.epl", PATTERN.format("a.room", "|"), ["room", "open", "a"]),
        ("a.epl", "select a.room from pattern [every a=T|", ["Door", "Temp", "timer:interval"]),
        ("a.epl", "select a.room from pattern [every a=Temp -> |", ["every", "not", "Door", "every-distinct"]),
        ("a.epl", "select a.room from pattern [every a=Temp where timer:within(5 m|", ["min", "minutes", "seconds"]),
        ("a.epl", "select roun| from pattern [every a=Temp]", ["a", "round", "case", "true"]),
        ("a.epl", "select a.room from pattern [every a=Temp -> (timer:|", ["timer:at", "timer:interval"]),
        ("a.epl", "sel|", ["select", "create", "insert", "select from pattern", "@Name"]),
        ("a.epl", "create schema A (x |", ["double", "string"]),
        ("a.epl", "@Na|", ["@Name", "@Priority"]),
        ("a.epl", "select celsius, | from Temp", ["room", "celsius"]),
        ("a.tesla", "define Hot(r) from Temp(|", ["room", "celsius", "Door", "not", "abs", "avg"]),
        ("a.tesla", "define Hot(r) from Temp(room = $r, room = |) where r = $r", ["$r", "celsius"]),
        ("a.tesla", "define Hot() from Temp() and |", ["each", "last", "first", "not"]),
        ("a.tesla", "define Hot() from Temp() and each Door() within 5 |", ["min", "hours"]),
        ("a.tesla", "event A(x: |", ["int", "string"]),
        ("a.tesla", "define Hot() from Temp()\n|", ["define", "event", "where", "define absence"]),
        ("a.phen", "input event ais(vessel).\nevent e(V) : |", ["ais", "V", "not", "start"]),
        ("a.phen", "input event ais(vessel).\nevent e(V) : ais(V) |", ["and", "or"]),
        ("a.phen", "input event ais(vessel).\n|", ["event", "state", "input event"]),
        ("a.ftl", "state s (v int)\ntrigger t: ev|", ["eventually", "v", "always"]),
        ("a.ftl", "trigger t for each x in (select room from Temp): [y <- 3] |", ["x", "y", "eventually"]),
        ("a.ptl", "state s (v int)\ntrigger t: |", ["previously", "v"]),
        ("a.ptl", "|", ["trigger", "state", "trigger for each"]),
        ("a.esql", "LET far BE Temp.celsius.\nDEFINE Hot AS |", ["far", "Temp", "FILTER", "THE"]),
        ("a.esql", "DEFINE Hot AS Temp.celsius |", ["WHERE"]),
        ("a.esql", "DEF|", ["DEFINE", "LET"]),
        ("a.sql", "SELECT * FROM |", ["Temp", "Door"]),
        ("a.sql", "SELECT * FROM Temp MATCH_RECOGNIZE (|", ["partition", "order", "measures", "pattern"]),
        ("a.sql", "SELECT * FROM Temp MATCH_RECOGNIZE (PARTITION BY |", ["room", "celsius"]),
        ("a.sql", "SELECT * FROM Temp MATCH_RECOGNIZE (PATTERN (LOW HIGH+) DEFINE HIGH AS |",
         ["celsius", "LOW", "HIGH", "prev", "count", "not"]),
        ("a.sql", "SELECT * FROM Temp MATCH_RECOGNIZE (PATTERN (LOW HIGH+) DEFINE HIGH AS LOW.|", ["celsius"]),
        ("a.sql", "|", ["create", "select", "create view match_recognize"]),
    ],
)
def test_these_are_offered(path, marked, labels):
    found = items(marked, path)
    assert [x for x in labels if x not in found] == [], found


def test_what_does_not_fit_is_not_offered():
    assert "timer:interval" not in items(PATTERN.format("a.room", "|"), "a.epl", "keyword")
    assert "select" not in items("select a.room from pattern [every a=|", "a.epl", "keyword")
    assert items("select a.room from pattern [every a=|", "a.epl", "function") == []
    assert "each" not in items("define Hot() from |")


def test_the_nearest_come_first_and_types_tell_their_attributes():
    found = services.complete(*placed("define Hot() from Temp(cel|"))
    assert [(i.label, i.kind) for i in found.items[:4]] == [
        ("room", "attribute"), ("celsius", "attribute"), ("Door", "type"), ("Temp", "type"),
    ]  # fmt: skip
    assert found.items[1].detail == "int, attribute of Temp"
    assert found.items[3].detail == "Temp(room: string, celsius: int)"


@pytest.mark.parametrize(
    ("path", "marked", "word"),
    [("a.tesla", "define Hot() from Temp(cel|", "cel"), ("a.epl", "select a.x from pattern [timer:int|", "timer:int"),
     ("a.epl", "@Na|", "@Na"), ("a.tesla", "define Hot(a) from Temp(room = $r and room = $|", "$"),
     ("a.epl", "select 🙂 from 🙂.ro|", "ro"), ("a.epl", "select |", "")],
)  # fmt: skip
def test_the_start_is_that_of_the_word(path, marked, word):
    found = services.complete(*placed(marked, path))
    assert marked[found.start : marked.index("|")] == word


def test_attributes_of_types_that_nobody_declares_are_those_in_use():
    texts = "define A(v) from Foo(k = 3) where v = Foo.bar\ndefine B() from Foo() where x = Foo.|"
    assert items(texts) == ["bar"]


def test_types_are_those_of_the_whole_program():
    path, texts, offset = placed("insert into Z select a.| from pattern [a=Hot]", "b.epl")
    texts["a.tesla"] = "define Hot(room, now) from Temp(celsius > 30) where room = Temp.room, now = Temp.celsius"
    found = services.complete(path, texts, offset)
    assert [(i.label, i.detail) for i in found.items] == [
        ("room", "string, attribute of Hot"), ("now", "int, attribute of Hot"),
    ]  # fmt: skip


def test_names_that_are_no_words_are_quoted():
    path, texts, offset = placed("define X() from |", "b.tesla")
    texts["types.tesla"] = "event `a b`(x: int)"
    assert [i.insert for i in services.complete(path, texts, offset).items if i.kind == "type"] == ["`a b`"]


# --- hover ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "marked", "text"),
    [
        ("a.tesla", "define Hot() from Te|mp()", "Temp(room: string, celsius: int)\nevent `Temp`, types.tesla:1"),
        ("a.tesla", "define Hot() from Temp(cel|sius > 3)", "celsius: int\nattribute of `Temp`"),
        ("a.tesla", "define Hot(c) from Temp() where |c = Temp.celsius", "c: int\nattribute of `Hot`"),
        ("a.tesla", "define Hot() from Temp() where c = Temp.|celsius", "celsius: int\nattribute of `Temp`"),
        ("a.tesla", "define Hot() from Foo(x| > 3)", None),
        ("a.tesla", "define Hot() from Fo|o()", "Foo()\nevents of the input, which no text declares"),
        ("a.tesla", "define Hot() from Temp(|", None),
        ("a.epl", PATTERN.format("a|.room", ""), "a: Temp(room: string, celsius: int)\nevents of `Temp`"),
        ("a.epl", PATTERN.format("a.roo|m", ""), "room: string\nattribute of `Temp`"),
        ("a.epl", PATTERN.format("a.room", "op|en"), "open: bool\nattribute of `Door`"),
        ("a.epl", PATTERN.format("a.celsius + 0.5 as war|m", ""), "warm: float\nattribute of `stmt_1`"),
        ("a.epl", "create schema A (x dou|ble);", "double\na type of attributes"),
        ("a.epl", "select * from pattern [ev|ery Temp", "every\nstarts a new search whenever its operand has been"
         " detected"),
        ("a.epl", "select * from pattern [a=Temp where timer:wit|hin(5 min)]", "timer:within\ngives the pattern before"
         " it up after this time"),
        ("a.epl", "select * from pattern [a=Temp where timer:within(5 m|in)]", "5 min\na duration"),
        ("a.epl", "select * from Temp // Te|mp", None),
        ("a.phen", "input event ais(v: int).\nstate s(V) : ais(V) ~|> ais(V).", "~>\nthe intervals from a point of the"
         " left side to the next one of the right side, as long as possible"),
        ("a.phen", "input state s(v: int).\nstate t(V) : s|(V).", "s(v: int)\ninput `s`, a.phen:1\nintervals, with"
         " `time` and `end`"),
        ("a.ftl", "state s (v int)\ntrigger t: event|ually v > 3", "eventually\nat this state or at a later one"),
        ("a.ftl", "state s (v int)\ntrigger t: eventually v| > 3", "v: int\nattribute of `s`"),
        ("a.ptl", "trigger t: [x <- 3] previously x| > 3", "x\na variable of this statement"),
        ("a.esql", "DEFINE Hot AS FIL|TER Temp.celsius WITH true", "FILTER\nthe items at whose positions a condition is"
         " true"),
        ("a.sql", "SELECT * FROM Temp MATCH_REC|OGNIZE (", "MATCH_RECOGNIZE\nfinds rows of a table that follow one"
         " another in a pattern"),
        ("a.esql", "DEFINE Hot AS Te|mp.celsius", "Temp(room: string, celsius: int)\nevent `Temp`, types.tesla:1"),
    ],
)  # fmt: skip
def test_hover(path, marked, text):
    assert hovered(marked, path) == text


@pytest.mark.parametrize(
    ("path", "marked", "text"),
    [
        ("a.tesla", "define Hot(v) from Temp(celsius |+ 1 > 30) where v = 1", "celsius + 1: int"),
        ("a.tesla", "define Hot(v) from Temp(celsius + 1 |> 30) where v = 1", "celsius + 1 > 30: bool"),
        ("a.tesla", "# 1\n  define Hot(v) from Temp() where v = Temp.celsius\n |* 2.5", "Temp.celsius * 2.5: float"),
        ("a.epl", "select a.celsius |/ 2 as half from pattern [every a=Temp]", "a.celsius / 2: float"),
        ("a.epl", "select * from pattern [every a=Temp(celsius * |3 > 4)]", "3: int"),
        ("a.epl", "select a.nothing |+ 1 as x from pattern [every a=Temp]", None),
        ("a.epl", "select * from pattern [every a=Temp(celsius |+ ", None),
    ],
)
def test_hover_of_expressions_has_their_types(path, marked, text):
    assert hovered(marked, path) == (text and f"{text}\nan expression")


def test_hover_of_functions_has_the_sentence_of_the_catalogue():
    for path, marked in (
        ("a.epl", "select ro|und(a.celsius, 1) as x from pattern [a=Temp]"),
        ("a.tesla", "define Hot() from Temp(rou|nd(celsius) > 3"),
    ):
        code, said = (hovered(marked, path) or "").split("\n")
        assert code == "round(x[, digits])"
        assert "halves away from zero" in said


def test_the_place_of_what_is_explained():
    found = services.hover(*placed("/* 🙂 */ select * from pattern [\n  /* 🙂🙂 */ a=Te|mp]", "a.epl"))
    assert found is not None
    assert (found.span.line, found.span.column, found.span.end_column) == (2, 14, 18)


# --- places -----------------------------------------------------------------------------------------------------------


def test_definitions_of_types_tags_and_attributes():
    assert places(services.definition, "define Hot() from Te|mp()") == [("types.tesla", 1, 7)]
    assert places(services.definition, PATTERN.format("a|.room", ""), "a.epl") == [("a.epl", 1, 35)]
    assert places(services.definition, PATTERN.format("a.ro|om", ""), "a.epl") == [("types.tesla", 1, 7)]
    assert places(services.definition, "define Hot(r) from Temp(room = $r) where r = $|r") == [("a.tesla", 1, 32)]
    assert places(services.definition, "LET x BE Temp.v.\nDEFINE Hot AS |x.", "a.esql") == [("a.esql", 1, 5)]
    assert places(services.definition, "define Hot() from Nowhe|re()") == []


def test_uses_of_a_type_in_all_texts():
    expected = [("a.epl", 1, 37), ("types.tesla", 1, 7)]
    assert places(services.uses, PATTERN.format("a.room", "").replace("Temp", "Te|mp"), "a.epl") == expected
    _, texts, _ = placed("define Hot() from Temp(celsius > Temp.Temp)|")
    found = services.definition("types.tesla", texts, texts["types.tesla"].index("Temp"))
    assert [(p.file, p.span.column) for p in found] == [("a.tesla", 19), ("a.tesla", 34), ("types.tesla", 7)]
    assert places(services.uses, "define Hot() fr|om Temp()") == []


# --- words ------------------------------------------------------------------------------------------------------------


def test_all_languages_have_words_and_snippets_that_can_be_read():
    found = services.words()
    assert found.keys() == set(suffixes().values())
    for suffix, name in suffixes().items():
        words = found[name]
        assert words.keywords
        assert words.functions
        assert {*words.functions} == words.calls.keys()
        for key in words.meanings:
            known = {k.lower() if words.ignore_case else k for k in (*words.keywords, *words.operators)}
            assert key in known, (name, key)
        for snippet in words.snippets:
            text = re.sub(r"\$\{([^}]*)\}", r"\1", snippet.insert)
            checked = services.check({f"a{suffix}": text})
            assert [p for p in checked.problems if p.kind == "syntax"] == [], (name, text)
            assert len(checked.outline) == 1
            assert in_another_language(text, f"a{suffix}", name) is None


def test_words_of_grammars_are_the_keywords():
    found = services.words()
    assert {"every-distinct", "timer:withinmax", "insert"} <= {*found["epl"].keywords}
    assert {"eventually", "throughout", "weak until"} <= {*found["ftl"].keywords}
    assert {"before", "overlapped_by", "dynamic"} <= {*found["phenesthe"].keywords}
    assert {"each", "consuming"} <= {*found["tesla"].keywords}
    assert {"LET", "SLICE"} <= {*found["esql"].keywords}
    assert {"->", "||"} <= {*found["epl"].operators}
