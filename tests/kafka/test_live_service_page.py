"""The page *A live service, from a rule to a dashboard*: each of its commands runs in order, against a real broker.

Prometheus runs, too, if the machine has it (Debian: prometheus).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import mavenjars
import processes
from pages import OUTPUT, Block, Story, alike

PAGE = Path(__file__).parents[2] / "docs" / "start" / "live-service.md"
#: Kafka's command line tools and their classes
TOOLS = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
}
#: seconds until a command shows what the page shows
PATIENCE = 300
#: what runs in a terminal of its own
SERVERS = ("occurs follow", "prometheus ")


def tools(folder: Path) -> None:
    """Kafka's tools as in its ``bin``, and the command ``occurs``."""
    folder.mkdir()
    classes = os.pathsep.join(map(str, mavenjars.tools()))
    logging = folder / "log4j2.properties"
    logging.write_text("status = off\nrootLogger.level = off\n")
    java = f"{mavenjars.java()} -Xmx128m -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={logging} -cp {classes}"
    commands = {name: f"{java} {of}" for name, of in TOOLS.items()} | {"occurs": f"{sys.executable} -m occurs.cli"}
    for name, command in commands.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(command: str, folder: Path, environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command in a terminal of its own, until the body ends."""
    with open(log, "wb") as out:
        words = shlex.split(command.replace("\\\n", " "))
        process = subprocess.Popen(
            words, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        processes.kill(process)


class Service(Story):
    """The page, with ports that are free here; blocks in ``sh`` run, too."""

    def __init__(self, folder: Path, environment: dict[str, str], ports: dict[str, int], stack: ExitStack) -> None:
        super().__init__(PAGE, folder)
        self.environment, self.ports, self.stack = environment, ports, stack
        self.servers: list[tuple[str, subprocess.Popen[bytes], Path]] = []
        self.shown: list[str] = []

    def block(self, block: Block, text: str) -> None:
        if block.language != "sh":
            super().block(block, text)
            if block.title == "prometheus.yml":
                (self.folder / block.title).write_text(self.here(block.code))
            return
        code = self.here(block.code)
        if code.startswith("pip "):
            return
        if code.startswith(SERVERS):
            if shutil.which(code.split()[0], path=self.environment["PATH"]):
                log = self.folder / f"log{len(self.servers)}"
                process = self.stack.enter_context(running(code, self.folder, self.environment, log))
                self.servers.append((code, process, log))
            return
        if str(self.ports["9090"]) in code and len(self.servers) < 2:
            return
        shown = OUTPUT.match(text[block.stop :])
        self.wait(block, code, textwrap.dedent(shown[2]) if shown else None)

    def here(self, code: str) -> str:
        for port, own in self.ports.items():
            code = code.replace(port, str(own))
        return code.replace("prometheus --", f"prometheus --web.listen-address=127.0.0.1:{self.ports['9090']} --")

    def wait(self, block: Block, code: str, shown: str | None) -> None:
        """Run a command until it shows what the page shows."""
        until = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run(
                ["bash", "-c", code], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300
            )
            # the tools of a broker that is installed have a logger
            told = [line for line in done.stderr.splitlines(True) if not line.startswith("SLF4J")]
            if (done.returncode == 0) if shown is None else alike(shown, done.stdout + "".join(told)):
                self.shown.append(code)
                return
            logs = "".join(f"\n{code}\n{log.read_text()[-3000:]}" for code, _, log in self.servers)
            over = time.monotonic() > until or any(process.poll() is not None for _, process, _ in self.servers)
            if over or not code.startswith("curl"):
                text = f"{PAGE.name}:{block.line} shows\n{shown}\nand now\n{done.stdout}{done.stderr}{logs}"
                raise AssertionError(text)
            time.sleep(0.5)


@pytest.mark.slow
def test_each_command_of_the_page_in_order(kafka, tmp_path, monkeypatch):
    tools(tmp_path / "bin")
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "OCCURS_KAFKA_JARS": os.pathsep.join(map(str, mavenjars.connector())),
    }
    ports = {"9092": kafka.port, "9464": free_port(), "9090": free_port()}
    with ExitStack() as stack:
        service = Service(folder, environment, ports, stack)
        service.run()
        follower = service.servers[0][1]
        assert len(service.shown) >= 6
        # Ctrl-C ends it after the micro-batch
        os.kill(follower.pid, signal.SIGINT)
        assert follower.wait(60) == 0
    fires = [json.loads(line) for line in taken(kafka.port, environment, folder)]
    assert [fire["time"] for fire in fires] == ["2026-03-01T08:04:00Z"]


def taken(port: int, environment: dict[str, str], folder: Path) -> list[str]:
    """All messages of the topic of detections."""
    command = f"kafka-console-consumer.sh --bootstrap-server localhost:{port} --topic fires --from-beginning"
    done = subprocess.run(
        ["bash", "-c", f"{command} --timeout-ms 3000"], cwd=folder, env=environment, capture_output=True, text=True
    )
    return [line for line in done.stdout.splitlines() if line.startswith("{")]
