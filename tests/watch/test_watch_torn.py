"""What a watcher has saved in the database is damaged: it is told, with what to do, and nothing is done with it."""

from __future__ import annotations

import json
import random

import pytest
from test_watch_cli import Here


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A watcher that has judged some states and has a firing that it has not acted on."""
    monkeypatch.chdir(tmp_path)
    here = Here(tmp_path)
    for n in range(4):
        here.put("ab"[n % 2], 9 + n)
    assert here.watch("--once", "--keep-log").exit_code == 0
    here.put("a", 20)
    yield here
    here.connection.close()


def refused(here, words):
    done = here.watch("--once")
    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    error = next(line for line in done.stderr.splitlines() if line.startswith("error["))
    assert error.startswith("error[bad-checkpoint]: "), done.stderr
    assert words in error
    assert "--uninstall, then --install" in done.stderr


def test_every_saved_piece(stopped):
    draw = random.Random(3)
    pieces = stopped.connection.execute("select piece, content from occurs_state").fetchall()
    assert len(pieces) > 1
    assert "entry" in dict(pieces)
    for name, data in pieces:
        flipped = bytearray(data)
        flipped[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        for torn in (bytes(flipped), data[: draw.randrange(len(data))], b"", b"\xff", b"{}", b"[]", "text", 7, 1.5):
            stopped.connection.execute("update occurs_state set content = ? where piece = ?", (torn, name))
            stopped.connection.commit()
            refused(stopped, "is damaged: ")
        stopped.connection.execute("delete from occurs_state where piece = ?", (name,))
        stopped.connection.commit()
        refused(stopped, f"there is no '{name}'")
        stopped.connection.execute("insert into occurs_state values ('watch', ?, ?)", (name, data))
        stopped.connection.commit()
    done = stopped.watch("--once")
    assert [json.loads(line)["load"] for line in done.stdout.splitlines()] == [20]


@pytest.mark.parametrize("change", ["position = 'x'", "time = 'x'", "rules = 7.5"])
def test_where_a_watcher_stopped(stopped, change):
    stopped.connection.execute(f"update occurs_watchers set {change}")
    stopped.connection.commit()
    done = stopped.watch("--once")
    assert done.exit_code == 2
    assert "error[bad-checkpoint]" in done.stderr or "error[changed-program]" in done.stderr


@pytest.mark.parametrize(
    "change",
    [
        {"trigger": 7},
        {"actions": 7},
        {"actions": [{}]},
        {"actions": [{"execute": 7, "with": {}}]},
        {"actions": [{"execute": "delete from traffic", "with": 7}]},
        {"generics": []},
        {"attributes": 1},
        None,
    ],
)
def test_a_firing_that_was_not_acted_on(stopped, change):
    whole = {"trigger": "high", "time": 1, "generics": {}, "type": "High", "attributes": {}, "actions": []}
    text = "{" if change is None else json.dumps({**whole, **change})
    stopped.connection.execute(
        "insert into occurs_firings (watcher, label, position, number, content) values ('watch', 'x', 0, 0, ?)", (text,)
    )
    stopped.connection.commit()
    refused(stopped, "a saved firing of the watcher is damaged")
    assert stopped.connection.execute("select count(*) from traffic").fetchone() == (2,)
