"""A :class:`~occurs.connect.store.Store` at an address such as ``s3a://bucket/fires``: any file system that Spark
reaches.

Object stores show a new object when it is complete.  On S3 the request that makes a new object is conditional
(``fs.option.create.conditional.overwrite``, in hadoop-aws 3.5), so that of two processes one succeeds.  On other file
systems, such as HDFS, an object is written beside its place and renamed, which is atomic there and fails if
the name is taken.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from occurs.connect.store import Store
from occurs.errors import UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("occurs.follow")
#: schemes of object stores: a file is there when it is closed, and to rename it copies it
_OBJECTS = ("s3a", "s3", "s3n", "gs", "oss", "cosn", "obs", "wasb", "wasbs")
_CONDITIONAL = "fs.option.create.conditional.overwrite"
#: S3: do not ask before if a folder has that name; others ignore it
_QUICK = "fs.s3a.create.performance"
#: what the failure of a conditional request is called, beside FileAlreadyExistsException
_TAKEN = ("FileAlreadyExistsException", "RemoteFileChangedException")
_ABSENT = ("FileNotFoundException", "NoSuchFileException")
#: bytes that cross to Java at once
_PIECE = 1 << 22


class SparkStore(Store):
    """Objects at an address that a session of classic Spark reaches.

    Raises:
        UsageProblem: For an address that is not valid (``bad-option``).
        OSError: If the session has no file system for the scheme of the address.
    """

    def __init__(self, session: SparkSession, address: str, option: str):
        self._address = address.rstrip("/")
        java: Any = session._jvm
        self._fs = java.org.apache.hadoop.fs
        conf = session._jsc.hadoopConfiguration()
        try:
            with _os_errors():
                self._root = self._fs.Path(self._address)
        except OSError as error:
            raise UsageProblem.of("bad-option", f"{option} {address}: {error}") from error
        with _os_errors():
            self._files = self._root.getFileSystem(conf)
            scheme = str(self._files.getUri().getScheme())
            self._objects = scheme in _OBJECTS
            self._conditional = self._objects and self._files.hasPathCapability(self._root, _CONDITIONAL)
            if scheme.startswith("s3") and not self._conditional:
                log.warning("%s: the connector has no conditional requests: start one follower at a time", address)
            self._start = len(self._path(self._files.makeQualified(self._root)))
            if not self._objects:
                self._context = self._fs.FileContext.getFileContext(self._root.toUri(), conf)
                gateway: Any = session.sparkContext._gateway
                rename = java.org.apache.hadoop.fs.Options.Rename
                self._if_new, self._over = gateway.new_array(rename, 1), gateway.new_array(rename, 1)
                self._if_new[0], self._over[0] = rename.NONE, rename.OVERWRITE

    def _at(self, name: str) -> Any:
        return self._fs.Path(self._root, name) if name else self._root

    @staticmethod
    def _path(path: Any) -> str:
        return str(path.toUri().getPath())

    def put_new(self, name: str, data: bytes) -> bool:
        try:
            self._write(name, data, new=True)
        except FileExistsError:
            return False
        return True

    def put(self, name: str, data: bytes, *, stamp: float | None = None) -> None:
        self._write(name, data, new=False)

    def _write(self, name: str, data: bytes, *, new: bool) -> None:
        place = self._at(name)
        with _os_errors():
            if not self._objects:
                beside = self._fs.Path(place.getParent(), f".{place.getName()}.{uuid.uuid4().hex}.tmp")
                try:
                    self._fill(self._files.createFile(beside).overwrite(True).recursive(), data)
                    self._context.rename(beside, place, self._if_new if new else self._over)
                except BaseException:
                    self._files.delete(beside, False)
                    raise
                return
            file = self._files.createFile(place).overwrite(not new).recursive().opt(_QUICK, "true")
            if new and self._conditional:
                file = file.must(_CONDITIONAL, "true")
            self._fill(file, data)

    @staticmethod
    def _fill(file: Any, data: bytes) -> None:
        out = file.build()
        for at in range(0, len(data), _PIECE):
            out.write(data[at : at + _PIECE])
        out.close()  # not if a write has failed: an object store would keep the part

    def get(self, name: str, *, last: int | None = None) -> bytes | None:
        place = self._at(name)
        try:
            with _os_errors():
                size = 0 if last is None else self._files.getFileStatus(place).getLen()
                stream = self._files.open(place)
                try:
                    if last is not None:
                        stream.seek(max(0, size - last))
                    return bytes(stream.readAllBytes())
                finally:
                    stream.close()
        except FileNotFoundError:
            return None

    def list(self, folder: str = "", *, deep: bool = False) -> list[str]:
        found = []
        try:
            with _os_errors():
                if deep:
                    files = self._files.listFiles(self._at(folder), True)
                    while files.hasNext():
                        found.append(self._path(files.next().getPath()))
                else:
                    found = [self._path(one.getPath()) for one in self._files.listStatus(self._at(folder))]
        except FileNotFoundError:
            return []
        return sorted(path[self._start :].strip("/") for path in found)

    def delete(self, name: str) -> None:
        with _os_errors():
            self._files.delete(self._at(name), False)

    def address(self, name: str = "") -> str:
        return f"{self._address}/{name}" if name else self._address


@contextmanager
def _os_errors() -> Iterator[None]:
    """Exceptions of Java as OSError: of its kind if there is a file, or none, with the message of the cause."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors.exceptions.captured import CapturedException

    try:
        yield
    except Py4JJavaError as error:
        kind = str(error.java_exception.getClass().getSimpleName())
        said = str(error.java_exception.getMessage() or kind).splitlines()[0]
        if kind in _TAKEN:
            raise FileExistsError(said) from error
        if kind in _ABSENT:
            raise FileNotFoundError(said) from error
        raise OSError(said) from error
    except (Py4JError, CapturedException) as error:  # the Java process is gone; an argument is not valid
        raise OSError(str(error).splitlines()[0]) from error
