"""The language server: a process of `occurs lsp` and a client that speaks JSON-RPC to it, as an editor does."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCHEMA = "create schema Temp(room string, celsius int);\n"
RULES = SCHEMA + "@Name('Hot') select a.room as room from pattern [every a=Temp(celsius > 30)];\n"
#: before the dot are two code units of UTF-16 for one character
ODD = """event Temp(room: string, celsius: int)
# \U0001f525
define Hot(room) from Temp(celsius > 30 and room = '\U0001f525') where room = Temp.room
"""


class Client:
    """Writes requests to the server, and reads what it answers."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "occurs.cli", "lsp", "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self.kept: list[dict[str, Any]] = []
        self.number = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while line := out.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                line = out.readline()
            self.messages.put(json.loads(out.read(length)))

    def notify(self, method: str, **params: Any) -> None:
        self._write({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request; its error raises."""
        self.number += 1
        self._write({"id": self.number, "method": method, "params": params})
        answer = self.wait(lambda m: m.get("id") == self.number)
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def wait(self, wanted: Any) -> dict[str, Any]:
        """The first message that fits; others are kept."""
        for message in self.kept:
            if wanted(message):
                self.kept.remove(message)
                return message
        while True:
            message = self.messages.get(timeout=60)
            if wanted(message):
                return message
            self.kept.append(message)

    def problems(self, uri: str) -> list[dict[str, Any]]:
        """The problems of a document that the server publishes next."""
        method = "textDocument/publishDiagnostics"
        found = self.wait(lambda m: m.get("method") == method and m["params"]["uri"] == uri)
        return found["params"]["diagnostics"]

    def open(self, uri: str, text: str, language: str = "occurs-epl") -> None:
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=document)

    def change(self, uri: str, text: str) -> None:
        document = {"uri": uri, "version": 2}
        self.notify("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def at(self, method: str, uri: str, text: str, mark: str, **more: Any) -> Any:
        """Ask about the place of a mark in a text."""
        before = text[: text.index(mark)]
        line = before.rpartition("\n")[2]
        position = {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}
        return self.ask(f"textDocument/{method}", textDocument={"uri": uri}, position=position, **more)

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def client(root: Path) -> Iterator[Client]:
    made = Client()
    folder = {"uri": root.as_uri(), "name": "workspace"}
    found = made.ask("initialize", processId=None, rootUri=root.as_uri(), capabilities={}, workspaceFolders=[folder])
    assert found["serverInfo"]["name"] == "occurs"
    able = {"completion", "hover", "definition", "references", "rename", "documentFormatting", "documentSymbol"}
    assert {f"{name}Provider" for name in able} <= found["capabilities"].keys()
    made.notify("initialized")
    yield made
    made.ask("shutdown")
    made.notify("exit")
    assert made.process.wait(30) == 0
    made.reader.join(30)


def _placed(root: Path, name: str, files: dict[str, str]) -> dict[str, str]:
    """Files in a folder of their own; the addresses of all."""
    folder = root / name
    folder.mkdir()
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    return {path: (folder / path).as_uri() for path in files}


def test_problems_come_and_go_while_a_person_types(client: Client, root: Path) -> None:
    uri = _placed(root, "typing", {"hot.epl": RULES})["hot.epl"]
    client.open(uri, RULES.replace("celsius >", "celcius >"))
    (found,) = [p for p in client.problems(uri) if p["severity"] == 1]
    assert found["code"] == "unknown-attribute"
    assert "hint: did you mean `celsius`" in found["message"]
    assert found["range"]["start"] == {"line": 1, "character": RULES.splitlines()[1].index("celsius")}
    client.change(uri, RULES)
    assert [p for p in client.problems(uri) if p["severity"] == 1] == []


def test_files_of_a_folder_are_one_program(client: Client, root: Path) -> None:
    hot = "define Hot(room) from Temp(celsius > 30) where room = Temp.room\n"
    uris = _placed(root, "folder", {"types.tesla": "event Temp(room: string, celsius: int)\n", "hot.tesla": hot})
    client.open(uris["hot.tesla"], hot, "occurs-tesla")
    assert client.problems(uris["hot.tesla"]) == []
    (place,) = client.at("definition", uris["hot.tesla"], hot, "Temp(")
    assert place["uri"] == uris["types.tesla"]
    assert place["range"]["start"] == {"line": 0, "character": 6}
    uses = client.at("references", uris["hot.tesla"], hot, "Temp(", context={"includeDeclaration": True})
    assert {p["uri"] for p in uses} == set(uris.values())
    assert len(client.at("documentHighlight", uris["hot.tesla"], hot, "Temp(")) == 2


def test_a_project_file_says_which_files_are_the_program_and_which_events_it_reads(client: Client, root: Path) -> None:
    hot = "define Hot(room) from Temp(celsius > 30 and ) where room = Temp.room\n"
    project = {"version": 1, "program": {"rules": ["rules/hot.tesla"], "events": ["Temp=temp.csv"]}}
    files = {"rules/hot.tesla": hot, "rules/other.tesla": "define", "studio.json": json.dumps(project)}
    uris = _placed(root, "project", {**files, "temp.csv": "time,room,celsius,door\n2024-01-05T09:00:00Z,a,31,true\n"})
    client.open(uris["rules/hot.tesla"], hot, "occurs-tesla")
    client.problems(uris["rules/hot.tesla"])
    found = client.at("completion", uris["rules/hot.tesla"], hot, ") where")
    items = {item["label"]: item for item in found["items"]}
    assert items["door"]["detail"] == "bool, attribute of Temp"  # only the events say so
    assert items["door"]["textEdit"]["newText"] == "door"
    assert not any(m.get("params", {}).get("uri") == uris["rules/other.tesla"] for m in client.kept)


def test_completion_hover_and_outline(client: Client, root: Path) -> None:
    uri = _placed(root, "asked", {"hot.epl": RULES})["hot.epl"]
    client.open(uri, RULES)
    client.problems(uri)
    found = client.at("completion", uri, RULES, "room as")["items"]
    assert [item["label"] for item in sorted(found, key=lambda item: item["sortText"])] == ["room", "celsius"]
    hover = client.at("hover", uri, RULES, "celsius >")
    assert hover["contents"]["value"] == "```\ncelsius: int\n```\n\nattribute of `Temp`"
    found = client.ask("textDocument/documentSymbol", textDocument={"uri": uri})
    assert [(s["name"], s["detail"]) for s in found] == [("Temp", "schema"), ("Hot", "pattern reads Temp")]


def test_snippets_have_numbered_stops(client: Client) -> None:
    client.open("untitled:Untitled-1", "\n", "occurs-tesla")
    found = client.at("completion", "untitled:Untitled-1", "\n", "\n")["items"]
    snippets = [item for item in found if item.get("insertTextFormat") == 2]
    assert snippets
    assert all("${1:" in item["textEdit"]["newText"] for item in snippets)


def test_places_are_counted_in_the_units_of_the_editor(client: Client, root: Path) -> None:
    uri = _placed(root, "odd", {"hot.tesla": ODD})["hot.tesla"]
    client.open(uri, ODD.replace("Temp.room", "Temp.rom"), "occurs-tesla")
    (found,) = [p for p in client.problems(uri) if p["severity"] == 1]
    line = ODD.splitlines()[2]
    before = line[: line.index("Temp.room")].encode("utf-16-le")
    assert found["range"]["start"] == {"line": 2, "character": len(before) // 2}
    client.change(uri, ODD)
    hover = client.at("hover", uri, ODD, "room\n")
    assert hover["contents"]["value"].startswith("```\nroom: string")


def test_new_names_reach_all_files(client: Client, root: Path) -> None:
    more = "select b.room as room from pattern [every b=Temp(celsius < 0)];\n"
    uris = _placed(root, "names", {"hot.epl": RULES, "cold.epl": more})
    client.open(uris["hot.epl"], RULES)
    assert client.at("prepareRename", uris["hot.epl"], RULES, "celsius")["placeholder"] == "celsius"
    found = client.at("rename", uris["hot.epl"], RULES, "celsius", newName="degrees")["changes"]
    assert {uri: len(edits) for uri, edits in found.items()} == {uris["hot.epl"]: 2, uris["cold.epl"]: 1}
    assert {edit["newText"] for edits in found.values() for edit in edits} == {"degrees"}
    with pytest.raises(RuntimeError, match="room"):
        client.at("rename", uris["hot.epl"], RULES, "celsius", newName="room")


def test_layout(client: Client, root: Path) -> None:
    text = "select x /* why */ from A(x>1) // all"
    uri = _placed(root, "layout", {"a.epl": text})["a.epl"]
    client.open(uri, text)
    (edit,) = client.ask(
        "textDocument/formatting", textDocument={"uri": uri}, options={"tabSize": 4, "insertSpaces": True}
    )
    assert edit["newText"] == "select x /* why */\nfrom A(x > 1); // all\n"
    assert edit["range"]["end"] == {"line": 0, "character": len(text)}


def test_closed_documents_have_no_problems(client: Client, root: Path) -> None:
    uri = _placed(root, "closed", {"a.tesla": "define"})["a.tesla"]
    client.open(uri, "define", "occurs-tesla")
    assert client.problems(uri)
    client.notify("textDocument/didClose", textDocument={"uri": uri})
    assert client.problems(uri) == []


def test_without_its_packages_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['pygls'] = None; from occurs.cli import main; main(['lsp'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error[missing-package]: the language server needs the package pygls")
    assert 'pip install "occurs[lsp]"' in done.stderr
