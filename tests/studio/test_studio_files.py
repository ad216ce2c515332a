"""Files and the project's own file: which paths are the project's, and what writing keeps."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occurs.languages.kit.language import suffixes
from occurs.services.events import KNOWN
from occurs.studio.files import BOM, LANGUAGES, Content, Folder, matches, tag
from occurs.studio.http import Refused
from occurs.studio.limits import LIMITS
from occurs.studio.project import Options, Project, checked, split_events, written


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.epl").write_text("select * from A;")
    return Folder(root)


def refused(status: int) -> Any:
    """The refusal with this status."""
    return pytest.raises(Refused, check=lambda error: error.status == status)


def put(folder: Folder, path: str, data: bytes) -> None:
    """Replace what is there."""
    folder.write(path, data, if_match=folder.read(path).etag, if_none_match=None)


def test_the_table_of_languages_is_that_of_the_engine():
    assert suffixes() == LANGUAGES


def test_the_options_of_a_project_are_those_of_a_run():
    assert set(Options.__struct_fields__) == set(KNOWN)


# paths


HOSTILE = [
    "../a.epl", "x/../../a.epl", "..", ".", "", "/etc/passwd", "//etc/passwd", "a.epl/", "x//a.epl", "./a.epl",
    "a\0.epl", "a\n.epl", "..\\a.epl", "x\\a.epl", ".git/config", "x/.hidden.epl", ".hidden.epl", "a" * 300 + ".epl",
    "1/2/3/4/5.epl", "\u202ea.epl",
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_path_is_refused_without_a_word_of_what_is_there(folder, path):
    for call in (
        folder.read,
        lambda p: folder.write(p, b"", if_match=None, if_none_match="*"),
        lambda p: folder.delete(p, if_match="*"),
    ):
        with refused(403) as caught:
            call(path)
        assert caught.value.error.kind == "forbidden-path"
    assert [f.path for f in folder.listing(set())] == ["a.epl"]


@pytest.mark.parametrize("target", ["../secret.epl", "/etc/passwd", ".git/config", "/dev/zero", "folder"])
def test_a_link_that_leads_out_is_refused_whether_its_target_exists_or_not(folder, target, tmp_path):
    (folder.root / "link.epl").symlink_to(target)
    said = []
    for exists in (False, True):
        if exists:
            (tmp_path / "secret.epl").write_text("secret")
            (folder.root / ".git").mkdir()
            (folder.root / ".git" / "config").write_text("secret")
            (folder.root / "folder").mkdir()
        with pytest.raises(Refused) as caught:
            folder.read("link.epl")
        said.append((caught.value.status, str(caught.value)))
        assert "link.epl" not in [f.path for f in folder.listing(set())]
    if target != "folder":
        assert said[0] == said[1]
        assert said[0][0] == 403


def test_a_directory_that_is_a_link_out_is_neither_entered_nor_read(folder, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.epl").write_text("b")
    (folder.root / "out").symlink_to("../outside")
    assert [f.path for f in folder.listing(set())] == ["a.epl"]
    with refused(403):
        folder.read("out/b.epl")
    with refused(403):
        folder.write("out/new.epl", b"", if_match=None, if_none_match="*")
    assert not (tmp_path / "outside" / "new.epl").exists()


def test_a_link_within_the_project_is_written_through(folder):
    (folder.root / "link.epl").symlink_to("a.epl")
    put(folder, "link.epl", b"new")
    assert (folder.root / "link.epl").is_symlink()
    assert (folder.root / "a.epl").read_bytes() == b"new"


def test_a_link_does_not_give_a_suffix_to_what_is_not_written(folder):
    (folder.root / "tool.py").write_text("x")
    (folder.root / "link.epl").symlink_to("tool.py")
    with refused(403):
        put(folder, "link.epl", b"new")
    assert (folder.root / "tool.py").read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_what_is_not_a_file_is_refused_at_once(folder):
    os.mkfifo(folder.root / "pipe.epl")
    (folder.root / "folder.epl").mkdir()
    for path in ("pipe.epl", "folder.epl"):
        with refused(403):
            folder.read(path)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "", "a", "a.epl", "out", "loop", ".x", "\0", "\\", "~"]), max_size=6))
def test_no_path_leads_out(tmp_path_factory, parts):
    root = tmp_path_factory.getbasetemp() / "out-of-here" / "project"
    if not root.exists():
        root.mkdir(parents=True)
        (root / "out").symlink_to("..")
        (root / "loop").symlink_to("loop")
    folder = Folder(root)
    with contextlib.suppress(Refused):
        found = folder.real("/".join(parts))
        assert found.is_relative_to(folder.root)
        assert found != folder.root


# writing


@pytest.mark.parametrize(
    "old", [b"a\r\nb\r\n", b"a\r\nb", b"a\nb\r\nc", BOM + b"a\r\nb", "ä\U0001f600\n".encode(), b"", b"a\rb"]
)
def test_what_is_not_edited_stays_to_the_byte(folder, old):
    path = folder.root / "a.epl"
    path.write_bytes(old)
    path.chmod(0o640)
    put(folder, "a.epl", folder.read("a.epl").data)
    assert path.read_bytes() == old
    put(folder, "a.epl", folder.read("a.epl").text.encode())  # a browser drops the mark
    assert path.read_bytes() == old
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in folder.root.iterdir()) == ["a.epl"]


def test_writing_compares_the_tag_that_was_read(folder):
    first = folder.read("a.epl").etag
    second = folder.write("a.epl", b"mine", if_match=first, if_none_match=None)
    assert second == folder.read("a.epl").etag != first
    for condition in (first, f"W/{second}", '"other", "more"'):
        with refused(412) as caught:
            folder.write("a.epl", b"theirs", if_match=condition, if_none_match=None)
        assert caught.value.headers == {"ETag": second}
    with refused(412):
        folder.write("a.epl", b"theirs", if_match=None, if_none_match=None)
    with refused(412):
        folder.write("a.epl", b"theirs", if_match=None, if_none_match="*")
    assert folder.read("a.epl").data == b"mine"
    folder.delete("a.epl", if_match=f'"x", {second}')
    with refused(404):
        folder.delete("a.epl", if_match=second)
    with refused(412):
        folder.write("a.epl", b"again", if_match=second, if_none_match=None)


def test_a_new_file_may_be_in_a_new_directory(folder):
    folder.write("new/one.tesla", b"x", if_match=None, if_none_match="*")
    assert (folder.root / "new" / "one.tesla").read_bytes() == b"x"
    with refused(412):
        folder.write("new/one.tesla", b"y", if_match=None, if_none_match="*")


@pytest.mark.parametrize("path", ["notes.txt", "a.epl.bak", "Makefile", "x/studio.json", "tool.py", "picture.svg"])
def test_other_suffixes_are_not_written(folder, path):
    with refused(403):
        folder.write(path, b"", if_match=None, if_none_match="*")


def test_a_text_that_is_not_utf8_is_listed_with_its_first_bad_byte_and_is_read_only(folder):
    (folder.root / "a.epl").write_bytes(b"ok\nna\xefve")
    file = folder.listing(set())[0]
    assert (file.writable, file.note) == (False, "not UTF-8: byte 0xef in line 2, column 3")
    with refused(422) as caught:
        put(folder, "a.epl", b"mended")
    problem = caught.value.error.problems[0]
    assert (problem.file, problem.span.line, problem.span.column) == ("a.epl", 2, 3)
    with refused(400):
        folder.write("b.epl", b"\xff", if_match=None, if_none_match="*")
    assert (folder.root / "a.epl").read_bytes() == b"ok\nna\xefve"


def test_a_read_only_file_stays_as_it_is(folder):
    (folder.root / "a.epl").chmod(0o444)
    assert not folder.listing(set())[0].writable
    with refused(422) as caught:
        put(folder, "a.epl", b"new")
    assert caught.value.error.problems[0].file == "a.epl"
    assert (folder.root / "a.epl").read_text() == "select * from A;"
    assert len(list(folder.root.iterdir())) == 1


def test_a_full_disk_is_told_at_the_file_and_leaves_the_old_text(folder, monkeypatch):
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with refused(422) as caught:
        put(folder, "a.epl", b"new")
    assert "No space left" in str(caught.value)
    assert caught.value.error.problems[0].file == "a.epl"
    assert (folder.root / "a.epl").read_text() == "select * from A;"
    assert len(list(folder.root.iterdir())) == 1


def test_a_file_of_rules_has_a_limit(folder):
    big = b"x" * (LIMITS.rule_text + 1)
    with refused(413):
        put(folder, "a.epl", big)
    folder.write("b.csv", big, if_match=None, if_none_match="*")
    (folder.root / "huge.csv").write_bytes(b"1\n" * (LIMITS.body // 2 + 1))
    with refused(413):
        folder.read("huge.csv")
    huge = next(f for f in folder.listing(set()) if f.path == "huge.csv")
    assert not huge.writable


# listing


def test_the_listing_has_kinds_and_languages_and_leaves_out_what_is_hidden_large_or_deep(folder):
    for path in ("b.PHEN", "r.csv", "x.jsonl", "n.net.json", "n.cpn", "m.pattern.json", "read.me", "1/2/3/t.tesla",
                 "1/2/3/4/deep.epl", ".hidden/h.epl", "icon.png", "bin.dat", "big.txt", "big.png"):  # fmt: skip
        (folder.root / path).parent.mkdir(parents=True, exist_ok=True)
        (folder.root / path).write_text("x")
    (folder.root / "bin.dat").write_bytes(b"a\0b")
    (folder.root / "icon.png").write_bytes(b"\x89PNG\r\n")
    (folder.root / "big.txt").write_bytes(b"x" * (LIMITS.other_text + 1))
    (folder.root / "big.png").write_bytes(b"x" * (LIMITS.icon + 1))
    found = {f.path: (f.kind, f.language, f.in_program) for f in folder.listing({"r.csv"})}
    assert found == {
        "a.epl": ("rules", "epl", False), "b.PHEN": ("rules", "phenesthe", False), "r.csv": ("event", None, True),
        "x.jsonl": ("event", None, False), "n.net.json": ("net", None, False), "n.cpn": ("net", None, False),
        "m.pattern.json": ("model", None, False), "read.me": ("other", None, False),
        "1/2/3/t.tesla": ("rules", "tesla", False), "icon.png": ("other", None, False),
    }  # fmt: skip
    assert {f.path for f in folder.listing(set()) if not f.writable} == {"read.me", "icon.png"}
    assert all(f.etag == folder.read(f.path).etag for f in folder.listing(set()))
    for path in ("bin.dat", "big.txt"):
        with refused(403):
            folder.read(path)


def test_at_most_a_thousand_files_are_listed_those_of_the_directory_itself_first(folder):
    (folder.root / "0").mkdir()
    for i in range(LIMITS.files + 5):
        (folder.root / "0" / f"{i}.csv").touch()
    found = folder.listing(set())
    assert len(found) == LIMITS.files
    assert "a.epl" in {f.path for f in found}


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_a_tag_stands_for_one_content(one, other):
    assert (tag(one) == tag(other)) == (one == other)
    assert matches(f'"x" , {tag(one)}', tag(one))
    assert matches("*", tag(one))
    assert Content(BOM + b"a", "").text == "a"


# studio.json


EXAMPLE = {
    "version": 1,
    "program": {"rules": ["labor.epl"], "events": ["Patient=rows.csv"], "options": {"time_unit": "min"}},
    "icons": {"Patient": {"character": "P", "colour": "teal"}, "Man": {"character": "\U0001f468\u200d\u2695\ufe0f"}},
    "layout": {"labor.epl": {"Duration": {"a1": [40, 20], "Every1": [220, 20]}}},
    "drafts": {"labor.epl": {"Duration": {"canvas": {"nodes": [{"id": "a1", "kind": "Event", "fields": {}}]}}}},
    "of somebody else": [1, {"kept": None}],
}


def test_the_project_is_written_with_sorted_keys_and_one_node_a_line():
    text = written(EXAMPLE)
    assert json.loads(text) == EXAMPLE
    lines = text.splitlines()
    assert {'        "a1": [40, 20]', '    "Patient": {"character": "P", "colour": "teal"}'} < {*lines}
    outer = [line for line in lines if line.startswith('  "')]
    assert outer == sorted(outer)
    moved = json.loads(text)
    moved["layout"]["labor.epl"]["Duration"]["a1"] = [41, 20]
    assert len(set(written(moved).splitlines()) ^ set(lines)) == 2


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=4), _JSON, max_size=4))
def test_any_members_survive_a_round_trip(value):
    assert json.loads(written(value)) == value


def test_a_project_is_kept_with_members_that_are_not_known(folder):
    project = Project(folder)
    assert project.read()[0] == {"version": 1}
    assert project.settings().rules == ("a.epl",)
    _, etag = project.write(json.dumps(EXAMPLE).encode(), if_match=project.read()[1], if_none_match=None)
    assert project.read() == (EXAMPLE, etag)
    settings = project.settings()
    assert (settings.rules, settings.events) == (("labor.epl",), ("Patient=rows.csv",))
    assert settings.paths == {"labor.epl", "rows.csv"}
    with refused(412):
        project.write(b'{"version": 1}', if_match=tag(b""), if_none_match=None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"version": 2}, "version"),
        ({}, "version"),
        ({"version": 1, "program": {"options": {"tim_unit": "s"}}}, "tim_unit"),
        ({"version": 1, "program": {"options": {"because": True}}}, "because"),
        ({"version": 1, "program": {"options": {"bad_rows": "maybe"}}}, "bad_rows"),
        ({"version": 1, "program": {"rules": ["../x.epl"]}}, "../x.epl"),
        ({"version": 1, "program": {"rules": ["x.csv"]}}, "x.csv"),
        ({"version": 1, "program": {"events": ["A=/etc/passwd"]}}, "/etc/passwd"),
        ({"version": 1, "icons": {"A": {"character": "AB"}}}, "character"),
        ({"version": 1, "icons": {"A": {"character": "A", "colour": "#fff"}}}, "colour"),
        ({"version": 1, "icons": {"A": {"image": "../a.png"}}}, "image"),
        ({"version": 1, "icons": {"A": {"image": "a.epl"}}}, "image"),
        ({"version": 1, "layout": {"a.epl": {"s": {"n": [1, "2"]}}}}, "layout"),
        ({"version": 1, "drafts": {"a.epl": {"s": 1}}}, "drafts"),
        ([], "object"),
    ],
)
def test_a_wrong_project_is_reported_and_defaults_hold(folder, wrong, said):
    (folder.root / "studio.json").write_text(json.dumps(wrong))
    with refused(422) as caught:
        Project(folder).read()
    assert said in caught.value.error.problems[0].message
    assert caught.value.error.problems[0].file == "studio.json"
    settings = Project(folder).settings()
    assert settings.rules == ("a.epl",)
    assert settings.problems


@pytest.mark.parametrize("text", ["", "{", '{"version": 1', "\xff", '{"version": NaN}', '"\\ud800"', "[" * 5000])
def test_what_is_not_json_is_no_project(folder, text):
    _, problems = checked(text.encode("latin-1"), folder)
    assert [p.kind for p in problems] == ["bad-project"]


_MEMBERS = st.sampled_from(
    ["version", "program", "rules", "events", "options", "facts", "icons", "layout", "drafts", "A"]
)
_ANY = st.recursive(
    st.none() | st.just(1) | st.floats() | st.sampled_from(["a.epl", "..", "\0", "A=a.csv", "", "=", "\ud800"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_MEMBERS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(_MEMBERS, _ANY, max_size=5))
def test_any_json_is_a_project_or_a_problem(tmp_path_factory, value):
    folder = Folder(tmp_path_factory.getbasetemp())
    found, problems = checked(json.dumps({"version": 1, **value}).encode(), folder)
    assert problems or written(found)


@pytest.mark.parametrize(
    ("text", "parts"), [("a.csv", (None, "a.csv")), ("T=a.csv", ("T", "a.csv")), ("x/T=a.csv", (None, "x/T=a.csv"))]
)
def test_events_are_named_as_on_the_command_line(text, parts):
    assert split_events(text) == parts
