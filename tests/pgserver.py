"""A PostgreSQL server of our own: data in a directory, a socket there and no port but a given one, stopped at the
end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path


class Unavailable(Exception):
    """No server can be had here."""


def binaries() -> Path:
    """Where Debian, or whoever is first on the path, has the programs of the server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda p: float(p.parts[-3]))
    if found:
        return found[-1].parent
    there = shutil.which("postgres")
    if there is None:
        raise Unavailable("there is no PostgreSQL server (Debian, Ubuntu: apt install postgresql)")
    return Path(there).resolve().parent


class Server:
    """One server.  It runs as `postgres` if we are root, who may not run it."""

    def __init__(self, *, durable: bool = False, port: int | None = None) -> None:
        self.port = port
        self.bin = binaries()
        self.user = "postgres" if os.geteuid() == 0 else None
        # the name of a socket has little room
        self.folder = Path(tempfile.mkdtemp(prefix="occurs-pg-", dir="/tmp"))
        if self.user is not None:
            account = pwd.getpwnam(self.user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self.process: subprocess.Popen[bytes] | None = None
        self._call("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        listens = "listen_addresses = ''" if port is None else f"listen_addresses = '127.0.0.1'\nport = {port}"
        settings = [listens, f"unix_socket_directories = '{self.folder}'", "max_connections = 40"]
        settings += ["shared_buffers = 64MB", "autovacuum_naptime = 5s", "deadlock_timeout = 100ms"]
        settings += [] if durable else ["fsync = off", "synchronous_commit = off", "full_page_writes = off"]
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write("\n".join(settings) + "\n")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        port = "" if self.port is None else f"&port={self.port}"
        return f"postgresql://{user}@/{database}?host={self.folder}{port}"

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.bin / "postgres", "-D", self.data], stdout=log, stderr=log, user=self.user, cwd=self.folder
            )
        until = time.monotonic() + 60
        ask = [self.bin / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port or 5432)]
        while subprocess.run(ask, check=False).returncode:
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text()[-2000:])
            time.sleep(0.05)

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(2)  # fast: connections are closed
            self.process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, program: str, *arguments: str | Path) -> None:
        done = subprocess.run(
            [self.bin / program, *arguments],
            capture_output=True,
            text=True,
            user=self.user,
            cwd=self.folder,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")
