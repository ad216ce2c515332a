"""A real Kafka broker for tests: one node, broker and controller in one (KRaft), on free ports of the loopback."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import time
import uuid
from pathlib import Path

import mavenjars

_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
num.partitions={partitions}
auto.create.topics.enable=true
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.enable=false
"""
#: a small heap, and little compilation: it lives for a minute and shares two cores
_JAVA = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class Broker:
    """A broker with its data in ``folder``.  Topics come into being when they are written to.

    :meth:`start` after :meth:`stop` goes on with the same data and the same port.  Raises Unavailable if the jars
    cannot be had, RuntimeError with the end of its log if it does not start.
    """

    def __init__(self, folder: Path, *, partitions: int = 2):
        self.folder = folder
        self._java = mavenjars.java()
        self._classes = os.pathsep.join(map(str, mavenjars.broker()))
        self._process: subprocess.Popen | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.port, control = _free_ports(2)
        self._config = folder / "server.properties"
        self._config.write_text(
            _PROPERTIES.format(folder=folder, port=self.port, control=control, partitions=partitions)
        )
        # one id in 64 begins with a dash, as all of these do: as a word of its own it would be taken for an option
        cluster = base64.urlsafe_b64encode(b"\xf8" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
        command = ("format", f"--cluster-id={cluster}", "-c", str(self._config))
        if self._run("kafka.tools.StorageTool", *command).wait(120):
            raise RuntimeError(f"the broker's directory was not formatted:\n{self.told()}")

    @property
    def server(self) -> str:
        """``host:port``"""
        return f"127.0.0.1:{self.port}"

    def start(self, patience: float = 120) -> None:
        """Returns when it accepts connections."""
        self._process = self._run("kafka.Kafka", str(self._config))
        until = time.monotonic() + patience
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"the broker did not start:\n{self.told()}")

    def told(self, letters: int = 4000) -> str:
        """The end of its log."""
        return (self.folder / "log").read_text(errors="replace")[-letters:]

    def stop(self) -> None:
        """Ends the process that :meth:`start` has started."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _run(self, *command: str) -> subprocess.Popen:
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(
                [self._java, *_JAVA, "-cp", self._classes, *command],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )


def _free_ports(n: int) -> list[int]:
    """Ports that nobody listens on, all held at once so that they differ."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports
