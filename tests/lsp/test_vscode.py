"""The extension for VS Code: its files fit the languages, and each other."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from occurs.languages.kit.language import suffixes
from occurs.lsp.server import _suffix
from occurs.version import __version__

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
PACKAGE = json.loads((EXTENSION / "package.json").read_text())


def tool() -> Any:
    """The module that writes the generated files."""
    spec = importlib.util.spec_from_file_location("editor_files", ROOT / "tools" / "editor_files.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_files_are_those_of_the_languages() -> None:
    made = tool()
    for path, text in made.files().items():
        assert path.read_text() == text, f"{path}: run python tools/editor_files.py"
    assert {p for p in EXTENSION.glob("*/*.json") if "node_modules" not in p.parts} == made.files().keys()
    contributed = PACKAGE["contributes"]
    assert {name: contributed[name] for name in ("languages", "grammars")} == made.contributed()


def test_files_that_the_package_names_are_there() -> None:
    parts = PACKAGE["contributes"]
    named = [
        PACKAGE["main"],
        *(v["configuration"] for v in parts["languages"]),
        *(v["path"] for v in parts["grammars"]),
    ]
    assert [path for path in named if not (EXTENSION / path).is_file()] == []
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    assert lock["packages"][""]["dependencies"] == PACKAGE["dependencies"]
    assert PACKAGE["version"] == lock["version"] == __version__


def test_the_server_knows_the_names_of_the_languages() -> None:
    names = [language["id"] for language in PACKAGE["contributes"]["languages"]]
    assert [_suffix(name) for name in names] == list(suffixes())


def test_settings_and_commands_of_the_script_are_those_of_the_package() -> None:
    script = (EXTENSION / "extension.js").read_text()
    assert set(re.findall(r'registerCommand\("(.*?)"', script)) == {
        c["command"] for c in PACKAGE["contributes"]["commands"]
    }
    settings = PACKAGE["contributes"]["configuration"]["properties"]
    assert set(re.findall(r'affectsConfiguration\("(.*?)"\)', script)) == settings.keys()
    (watched,) = re.findall(r"\*\.\{(.*?)\}", script)
    assert {f".{suffix}" for suffix in watched.split(",")} == suffixes().keys()


#: runs the script in Node with stand-ins for VS Code and its client, and prints what they are asked for
EDITOR = """
const Module = require("module");
const said = [], listeners = [], commands = {};
const settings = { command: ["${workspaceFolder}/.venv/bin/occurs"] };
const vscode = {
  workspace: {
    workspaceFolders: [{ uri: { fsPath: "/project" } }],
    getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
    createFileSystemWatcher: (glob) => glob,
    onDidChangeConfiguration: (listener) => listeners.push(listener),
  },
  commands: { registerCommand: (name, run) => { commands[name] = run; } },
  window: { showErrorMessage: (text) => said.push(["error", text]) },
};
class LanguageClient {
  constructor(id, name, server, options) { Object.assign(this, { server, options, running: false }); }
  async start() {
    if (this.server.command === "missing") throw new Error("spawn missing ENOENT");
    this.running = true;
    said.push(["start", this.server, this.options.documentSelector.length]);
  }
  isRunning() { return this.running; }
  async stop() { this.running = false; said.push(["stop"]); }
}
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode
  : name === "vscode-languageclient/node" ? { LanguageClient, TransportKind: { stdio: 0 } } : load(name, ...rest);
(async () => {
  const extension = require(process.argv[1]);
  await extension.activate({ subscriptions: [] });
  await commands["occurs.restart"]();
  settings.command = ["missing"];
  listeners[0]({ affectsConfiguration: (name) => name === "occurs.command" });
  await new Promise((done) => setTimeout(done, 50));
  await extension.deactivate();
  console.log(JSON.stringify(said));
})();
"""


def test_the_script_starts_the_server_of_the_setting_and_starts_it_again() -> None:
    if shutil.which("node") is None:
        assert not os.environ.get("CI"), "the script of the extension is tested by Node, which is not there"
        pytest.skip("the script of the extension is tested by Node: install it")
    command = ["node", "-e", EDITOR, str(EXTENSION / "extension.js")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *calls, (kind, text) = json.loads(done.stdout)
    start = ["start", {"command": "/project/.venv/bin/occurs", "args": ["lsp"], "transport": 0}, 2 * len(suffixes())]
    assert calls == [start, ["stop"], start, ["stop"]]
    assert kind == "error"
    assert 'pip install "occurs[lsp]"' in text


def scope(pattern: dict[str, Any], text: str) -> str | None:
    found = re.search(pattern["match"], text)
    return None if found is None else found.group()


@pytest.mark.parametrize(
    ("kind", "name", "text", "found"),
    [
        ("epl", "keyword.control.epl", "a=A -> Timer:Within(3 sec)", "Timer:Within"),
        ("tesla", "keyword.control.tesla", "x.first and last Temp()", "and"),
        ("tesla", "variable.parameter.tesla", "area = $a", "$a"),
        ("esql", "constant.language.esql", "TRUEST true", "true"),
        ("phen", "keyword.operator.phen", "a ~>> b", "~>>"),
        ("sql", "comment.line.sql", "a -- b", "-- b"),
        ("ftl", "keyword.control.ftl", "eventually   always p", "eventually"),
    ],
)
def test_words_are_highlighted(kind: str, name: str, text: str, found: str) -> None:
    grammar = json.loads((EXTENSION / "syntaxes" / f"{kind}.tmLanguage.json").read_text())
    scopes = [scope(p, text) for p in grammar["patterns"] if p.get("name") == name]
    assert found in scopes
