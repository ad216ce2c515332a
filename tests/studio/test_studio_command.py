"""The command: its line, its port, its token, its errors, and its end."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import processes
from occurs.errors import UsageProblem
from occurs.studio import server
from studio_server import LABOR, Started, server_command, until

OWN_ENGINE = True

#: what `pip install occurs` does not bring
_LACKING = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "msgspec":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
from occurs.cli import main
main(sys.argv[1:])
"""


def failed(*command: str, **environment: str) -> str:
    """What a command that ends with status 2 says."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture
def taken() -> int:
    """A port that is taken."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_that_was_named_and_is_taken_is_an_error(tmp_path, pages, taken):
    said = failed(*server_command(tmp_path, "--port", str(taken)), OCCURS_STUDIO_PAGES=str(pages))
    assert said.startswith("error[port-taken]")


def test_without_a_port_the_next_free_one_is_taken(monkeypatch, taken):
    monkeypatch.setattr(server, "PORT", taken)
    with server.listening(None) as found:
        assert taken < found.getsockname()[1] < taken + server.TRIED
        assert found.getsockname()[0] == "127.0.0.1"


def test_answers_are_sent_at_once(start_studio: Callable[..., Started]):
    studio = start_studio()
    studio.api.get("files")
    took = []
    for _ in range(15):
        began = time.perf_counter()
        studio.api.get("files")
        took.append(time.perf_counter() - began)
    # a socket that waits for more to send takes 40 ms for every answer
    assert sorted(took)[3] < 0.03


def test_what_the_command_refuses(tmp_path, pages):
    file = tmp_path / "file"
    file.touch()
    assert "is a file" in failed(*server_command(file))
    assert "does not exist" in failed(*server_command(tmp_path / "none"))
    (tmp_path / "labor").mkdir()
    assert "exists already" in failed(*server_command(tmp_path, "--example", "labor"))
    assert "flights" in failed(*server_command(tmp_path, "--example", "flight"))
    short = failed(*server_command(tmp_path), OCCURS_STUDIO_TOKEN="x" * 15, OCCURS_STUDIO_PAGES=str(pages))
    assert "OCCURS_STUDIO_TOKEN" in short


def test_without_its_packages_the_command_says_what_to_install(tmp_path):
    said = failed(sys.executable, "-c", _LACKING, "studio", str(tmp_path))
    assert said.startswith("error[missing-package]")
    assert 'pip install "occurs[studio]"' in said


def test_without_its_pages_the_command_says_how_to_build_them(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "__file__", str(tmp_path / "server.py"))
    monkeypatch.delenv("OCCURS_STUDIO_PAGES", raising=False)
    with pytest.raises(UsageProblem, check=lambda error: error.kind == "missing-pages") as caught:
        server.pages_folder()
    assert "make studio-ui (Node 20.19 or later)" in caught.value.hint


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_everything_within_two_seconds(tmp_path, pages, number):
    own = tmp_path / "tmp"
    own.mkdir()
    (tmp_path / "labor").mkdir()
    for file in LABOR.iterdir():
        (tmp_path / "labor" / file.name).write_bytes(file.read_bytes())
    studio = Started(tmp_path / "labor", pages, TMPDIR=str(own))
    job = studio.api.post("jobs", json={"kind": "run"})
    assert job.status_code == 202
    with studio.client() as other, studio.updates(other) as reader:
        children = until(lambda: processes.below(studio.process.pid))
        began = time.monotonic()
        studio.process.send_signal(number)
        studio.process.send_signal(number)  # twice, as impatient people do
        assert reader.next("bye") == ("bye", {})
        status, out, err = studio.stop(number)
    took = time.monotonic() - began
    assert (status, out, err) == (0, "", "")
    assert took < 2
    until(lambda: not [p for p in children if Path(f"/proc/{p}").exists()])
    assert list(own.iterdir()) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(studio.url)
    assert sorted(p.name for p in studio.folder.iterdir()) == sorted(p.name for p in LABOR.iterdir())


def test_the_worker_ends_when_the_server_is_killed(start_studio: Callable[..., Started]):
    studio = start_studio({})
    children = until(lambda: processes.below(studio.process.pid))
    studio.process.kill()
    studio.process.wait()
    until(lambda: not [p for p in children if Path(f"/proc/{p}/exe").exists() and "Z" not in _state(p)])


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_an_example_is_copied_and_opened(tmp_path, pages):
    studio = Started(tmp_path, pages, "--port", "0", "--example", "labor")
    try:
        assert {f["path"] for f in studio.api.get("files").json()} == {p.name for p in LABOR.iterdir()}
        assert (tmp_path / "labor" / "labor.epl").read_bytes() == (LABOR / "labor.epl").read_bytes()
    finally:
        studio.stop()


def test_the_token_is_new_at_every_start_and_in_the_address_alone(tmp_path, pages):
    environment = {k: v for k, v in os.environ.items() if k != "OCCURS_STUDIO_TOKEN"}
    process = subprocess.Popen(
        server_command(tmp_path, "--port", "0"), stdout=subprocess.PIPE, text=True,
        env={**environment, "OCCURS_STUDIO_PAGES": str(pages)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert len(url.partition("token=")[2]) >= 43  # 32 bytes
        with httpx.Client() as client:
            assert client.get(url).status_code == 303
            assert client.get(url.partition("?")[0] + "api/v1/files").status_code == 200
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_the_line_comes_after_little_work_and_the_server_does_not_load_the_engine(tmp_path, pages):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = (
        "import sys, os\n"
        "from occurs.studio import languages, server\n"
        "languages.Languages.start = lambda self: None\n"  # the worker's time is not the server's
        "class Line(server.Server):\n"
        "    async def startup(self, sockets=None):\n"
        "        await super().startup(sockets)\n"
        "        names = {'numpy', 'pyarrow', 'numba', 'lark', 'occurs.program', 'occurs.engine'} & {*sys.modules}\n"
        "        print(sorted(names), flush=True)\n"
        "        os._exit(0)\n"
        "server.Server = Line\n"
        "from occurs.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code, *server_command(tmp_path, "--port", "0")[4:]]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "OCCURS_STUDIO_PAGES": str(pages)}, timeout=60
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    line, loaded = done.stdout.splitlines()
    assert line.startswith("http://127.0.0.1:")
    assert loaded == "[]"
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print("CPU seconds to the line", round(took, 2))
    assert took < 1.5
