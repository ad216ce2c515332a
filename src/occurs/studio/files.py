"""The files of the project: which there are, what they hold, and writing them whole.

The directory is the only place that is read and written.  A path is relative, has no hidden name, and its real path
does not leave the directory; all others are refused alike, whatever is there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from occurs.studio.http import Refused, problems_refused
from occurs.studio.limits import LIMITS
from occurs.studio.shapes import File, Problem, Span

Kind = Literal["rules", "event", "net", "model", "other"]

SIDECAR = "studio.json"
#: suffix of rules -> language
LANGUAGES = {
    ".epl": "epl",
    ".esql": "esql",
    ".ftl": "ftl",
    ".phen": "phenesthe",
    ".ptl": "ptl",
    ".sql": "match_recognize",
    ".tesla": "tesla",
}
_EVENTS = (".csv", ".jsonl", ".parquet")
_NETS = (".cpn", ".net.json")
_MODELS = (".pattern.json",)
#: suffix of an image -> its type
IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
#: names that one look at the directory goes through at most, of a directory that is not a project
_LOOKED_AT = 20_000
#: a content is not told from another by size and time of change before it has this age, in seconds
_SETTLED = 0.1
BOM = b"\xef\xbb\xbf"
#: what new files may not be: read once, as it can only be read by setting it
_UMASK = os.umask(0o022)
os.umask(_UMASK)


def kind_of(path: str) -> Kind:
    """What a file is by its name."""
    name = path.lower()
    if name.endswith(tuple(LANGUAGES)):
        return "rules"
    if name.endswith(_EVENTS):
        return "event"
    if name.endswith(_NETS):
        return "net"
    return "model" if name.endswith(_MODELS) else "other"


def language_of(path: str) -> str | None:
    """The language of a file of rules by its suffix."""
    return LANGUAGES.get(os.path.splitext(path)[1].lower())


def image_type(path: str) -> str | None:
    """The type of an image by its suffix."""
    return IMAGES.get(os.path.splitext(path)[1].lower())


def may_be_written(path: str) -> bool:
    """Is this a kind of file that the studio writes?"""
    return kind_of(path) != "other" or path == SIDECAR


def forbidden(path: str) -> Refused:
    """The same answer for every path that is not one of the project's, whether anything is there or not."""
    shown = path if path.isprintable() and len(path) <= 200 else ascii(path[:200])
    hint = "name a file below the project's directory: no `..`, no hidden names, no links that lead out of it"
    return Refused(403, "forbidden-path", f"`{shown}` is not a path inside the project", hint)


def bad_byte(data: bytes) -> tuple[str, Span] | None:
    """The first byte that is not UTF-8, in words and with its place; None if there is none."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].removeprefix(BOM).decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        text = f"not UTF-8: byte 0x{data[error.start]:02x} in line {line}, column {column}"
        return text, Span(line, column, line, column + 1)
    return None


@dataclass(frozen=True)
class Content:
    """The bytes of a file, with the tag that stands for them."""

    data: bytes
    etag: str

    @property
    def text(self) -> str:
        """The text without a byte order mark.  Raises UnicodeDecodeError."""
        return self.data.removeprefix(BOM).decode()


def tag(data: bytes) -> str:
    """The ETag of a content."""
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def matches(header: str, etag: str) -> bool:
    """Is a tag among those of ``If-Match`` or ``If-None-Match``?"""
    return header.strip() == "*" or etag in (part.strip() for part in header.split(","))


#: what tells one content of a file from another without reading it
_Stamp = tuple[int, int, int]


class Folder:
    """The directory of a project."""

    def __init__(self, root: Path):
        self.root = root.resolve(strict=True)
        #: real path -> (stamp, etag, note) of what was read last
        self._known: dict[str, tuple[_Stamp, str, str | None]] = {}
        #: between the comparison of a tag and the change that it allows nothing else is written
        self._changing = threading.Lock()

    # paths

    def check(self, path: str) -> str:
        """A path as it is written, checked without looking at the disk.  Refuses hostile ones (403)."""
        parts = path.split("/")
        wrong = any(not p or p.startswith(".") or len(p.encode(errors="replace")) > 255 for p in parts)
        strange = not path.isprintable() or "\\" in path or (os.name == "nt" and ":" in path)
        if wrong or strange or len(parts) > LIMITS.levels:
            raise forbidden(path)
        return path

    def real(self, path: str) -> Path:
        """The real path of a file of the project, which need not exist.  Refuses what is not within (403)."""
        self.check(path)
        try:
            found = Path(os.path.realpath(self.root / path))
            inside = found.relative_to(self.root)
        except (ValueError, OSError):
            raise forbidden(path) from None
        if any(part.startswith(".") for part in inside.parts):
            raise forbidden(path)
        return found

    def event_path(self, path: str) -> Path:
        """The real path of a file or directory of events.  Refuses others (403), and what is not there (404)."""
        found = self.real(path)
        if not found.exists():
            raise missing(path)
        if not found.is_dir() and (kind_of(path) != "event" or not found.is_file()):
            raise forbidden(path)
        return found

    # reading

    def read(self, path: str) -> Content:
        """A file of at most the size of a body, of other kinds only what is listed.  Refuses others (403, 404, 413)."""
        data = self._bytes(path, self.real(path))
        other = kind_of(path) == "other" and path != SIDECAR and image_type(path) is None
        if other and (len(data) > LIMITS.other_text or b"\0" in data or bad_byte(data)):
            raise forbidden(path)
        return Content(data, tag(data))

    def _bytes(self, path: str, real: Path) -> bytes:
        try:
            # a FIFO must not block, and a link must not take the place of what was resolved
            handle = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        except (FileNotFoundError, NotADirectoryError):
            raise missing(path) from None
        except OSError as error:
            raise unreadable(path, error) from None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise forbidden(path)
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = b"" if found.st_size > LIMITS.body else file.read(LIMITS.body + 1)
            if max(found.st_size, len(data)) > LIMITS.body:
                text = f"{path} has {found.st_size:,} bytes; at most {LIMITS.body:,} are shown"
                raise Refused(413, "too-large", text)
            return data
        except OSError as error:
            raise unreadable(path, error) from None
        finally:
            os.close(handle)

    # writing

    def write(self, path: str, data: bytes, *, if_match: str | None, if_none_match: str | None) -> str:
        """Replace or make a file, whole or not at all; returns its new ETag.

        ``if_match``: the tag that was read; ``if_none_match``: ``*`` for a file that is not there yet.  Mode and byte
        order mark stay.  Refuses what has changed (412) and what cannot be written (403, 413, 422).
        """
        real, text = self._writable(path), not path.lower().endswith(".parquet")
        if kind_of(path) == "rules" and len(data) > LIMITS.rule_text:
            raise Refused(413, "too-large", f"{path}: a file of rules has at most {LIMITS.rule_text >> 20} MB")
        if text and (bad := bad_byte(data)):
            raise Refused(400, "bad-request", f"the body is {bad[0]}")
        with self._changing:
            old = self._compared(path, real, if_match, if_none_match)
            if old is not None and text:
                self._refuse_strange(path, old)
                if old.startswith(BOM) and not data.startswith(BOM):
                    data = BOM + data
            with _told(path):
                if old is None:
                    real.parent.mkdir(parents=True, exist_ok=True)
                _replace(real, data, new=old is None)
        return tag(data)

    def delete(self, path: str, *, if_match: str | None) -> None:
        """Remove a file; ``if_match`` as in :meth:`write`."""
        real = self._writable(path)
        with self._changing:
            if not real.exists():
                raise missing(path)
            self._compared(path, real, if_match, None)
            with _told(path):
                # of a link, the link
                os.unlink(self.root / path)

    def _writable(self, path: str) -> Path:
        real = self.real(path)
        if not may_be_written(path) or not may_be_written(real.relative_to(self.root).as_posix()):
            suffixes = " ".join((*LANGUAGES, *_EVENTS, *_NETS, *_MODELS))
            hint = f"the studio writes files with the suffixes {suffixes}, and {SIDECAR}"
            raise Refused(403, "forbidden-path", f"{path} cannot be written: its suffix is not supported", hint)
        return real

    def _compared(self, path: str, real: Path, if_match: str | None, if_none_match: str | None) -> bytes | None:
        """What a file holds, if that is what the request takes it for; None if there is no file."""
        try:
            old = self._bytes(path, real)
        except Refused as error:
            if error.status != 404:
                raise
            old = None
        etag = None if old is None else tag(old)
        if if_match is None and if_none_match is None:
            hint = "send If-Match with the ETag that was read, or If-None-Match: * for a new file"
            raise Refused(412, "changed", f"{path}: the request has no precondition", hint)
        if if_match is not None and (etag is None or not matches(if_match, etag)):
            text = f"{path} was changed elsewhere" if etag else f"{path} no longer exists"
            raise Refused(412, "changed", text, "read the file again", headers={"ETag": etag} if etag else None)
        if if_none_match is not None and etag is not None and matches(if_none_match, etag):
            raise Refused(412, "changed", f"{path} exists already", "choose another name", headers={"ETag": etag})
        return old

    def _refuse_strange(self, path: str, old: bytes) -> None:
        if bad := bad_byte(old):
            problem = Problem("not-utf-8", "error", f"{path} is read-only: {bad[0]}", file=path, span=bad[1])
            raise problems_refused([problem])

    # listing

    def walk(self) -> Iterator[tuple[str, os.stat_result, str]]:
        """Path, status and real path of every file that may be listed, those of the directory itself first."""
        looked = 0
        todo = deque([("", self.root, 1)])
        seen = {str(self.root)}
        while todo:
            above, folder, level = todo.popleft()
            try:
                entries = sorted(os.scandir(folder), key=lambda e: e.name)
            except OSError:  # gone meanwhile, or not ours to read
                continue
            for entry in entries:
                looked += 1
                if looked > _LOOKED_AT:
                    return
                name = entry.name
                if name.startswith(".") or not name.isprintable() or "\\" in name:
                    continue
                path = f"{above}{name}"
                try:
                    real = entry.path
                    if entry.is_symlink():
                        real = str(self.real(path))
                    found = entry.stat()
                except (OSError, Refused):
                    continue
                if stat.S_ISDIR(found.st_mode):
                    if level < LIMITS.levels and real not in seen:
                        seen.add(real)
                        todo.append((f"{path}/", Path(real), level + 1))
                elif stat.S_ISREG(found.st_mode):
                    yield path, found, real

    def events(self) -> list[tuple[str, bool]]:
        """The files of events, and the directories below this one in which all files are (True), by path."""
        files: list[str] = []
        folders: dict[str, bool] = {}
        for path, _, _ in self.walk():
            name = path.rpartition("/")[2]
            event = kind_of(path) == "event"
            if event and len(files) < LIMITS.files:
                files.append(path)
            if event or not name.startswith("_"):  # such as _SUCCESS, which Spark writes
                above = path
                while above := above.rpartition("/")[0]:
                    folders[above] = folders.get(above, True) and event
        found = [(path, False) for path in files] + [(path, True) for path, only in folders.items() if only]
        return sorted(found)

    def listing(self, program: set[str]) -> list[File]:
        """The files of the project; ``program``: the paths of its rules and events."""
        out: list[File] = []
        for path, found, real in self.walk():
            kind = kind_of(path)
            image = image_type(path) is not None
            if kind == "other" and found.st_size > (LIMITS.icon if image else LIMITS.other_text):
                continue
            try:
                etag, note = self._tagged(path, real, found)
            except (OSError, Refused):
                continue
            if kind == "other" and note and not image:
                continue  # not text
            writable = may_be_written(path)
            if writable and note is None and not (found.st_mode & 0o222 and os.access(real, os.W_OK)):
                note = "the file is read-only"
            writable = writable and note is None
            language = language_of(path)
            out.append(File(path, kind, language, found.st_size, etag, _within(path, program), writable, note))
            if len(out) == LIMITS.files:
                break
        return sorted(out, key=lambda f: f.path)

    def _tagged(self, path: str, real: str, found: os.stat_result) -> tuple[str, str | None]:
        """The ETag of a file, and why it is read-only; read again only if it has changed."""
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        known = self._known.get(real)
        if known and known[0] == stamp:
            return known[1], known[2]
        if found.st_size > LIMITS.body:
            return f'"{found.st_size:x}-{found.st_mtime_ns:x}"', "the file is too large to be edited"
        data = self._bytes(path, Path(real))
        bad = None if path.lower().endswith(".parquet") else bad_byte(data)
        if bad is None and kind_of(path) == "other" and b"\0" in data:
            bad = ("not text", Span(1, 1, 1, 1))
        note = bad[0] if bad else None
        if kind_of(path) == "rules" and len(data) > LIMITS.rule_text:
            note = f"the file is larger than {LIMITS.rule_text >> 20} MB"
        now = os.stat(real)
        if now.st_mtime_ns == stamp[0] and abs(time.time() - now.st_mtime) > _SETTLED:
            self._known[real] = (stamp, tag(data), note)
        return tag(data), note


def _within(path: str, program: set[str]) -> bool:
    """Whether a file, or a directory above it, is among the paths of a program."""
    while path:
        if path in program:
            return True
        path = path.rpartition("/")[0]
    return False


def missing(path: str) -> Refused:
    """There is no such file."""
    return Refused(404, "missing-file", f"there is no file {path}")


def unreadable(path: str, error: OSError) -> Refused:
    """A file that the system does not let be read."""
    if error.errno in (6, 40) or isinstance(error, IsADirectoryError):  # a device, a link in the place of a file
        return forbidden(path)
    problem = Problem("cannot-read", "error", f"{path} cannot be read: {error.strerror}", file=path)
    return problems_refused([problem])


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    """What the system says against a change of a file, as a problem at this file."""
    try:
        yield
    except OSError as error:
        text = f"{path} cannot be written: {error.strerror}"
        raise problems_refused([Problem("cannot-write", "error", text, file=path)]) from error


def _replace(real: Path, data: bytes, *, new: bool) -> None:
    """Write beside, sync, rename."""
    mode = None
    if not new:
        mode = stat.S_IMODE(os.stat(real).st_mode)
        if not mode & 0o222 or not os.access(real, os.W_OK):
            raise PermissionError(13, "the file is read-only")
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.chmod(name, 0o666 & ~_UMASK if mode is None else mode)
        os.replace(name, real)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    if os.name != "nt":
        folder = os.open(real.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


