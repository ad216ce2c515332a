"""Java libraries of a Spark session: in which version, and where the session gets them."""

from __future__ import annotations

import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException, ElementTree

from occurs.connect.places import user_path
from occurs.errors import ResourceProblem, UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LISTS = "https://repo1.maven.org/maven2/{module}/maven-metadata.xml"
#: seconds to wait for Maven Central's list of versions
DOWNLOAD_PATIENCE = 5.0
#: settings of Spark that hold lists, and are joined where several libraries need them
_JOINED = ("spark.jars", "spark.jars.packages", "spark.sql.extensions")


@dataclass(frozen=True)
class Library:
    """A library that PySpark does not bring.

    Attributes:
        title: Its name in messages.
        kind: The kind of the problem if a session does not have it.
        jars: The variable that names files and directories of jars, separated as in PATH, where Maven Central is out of
            reach.
        coordinate: Returns its Maven coordinate for the running PySpark.  Raises ResourceProblem if there is none.
        settings: Settings of Spark that it needs.
    """

    title: str
    kind: str
    jars: str
    coordinate: Callable[[], str]
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def hint(self) -> str:
        """How a session gets it."""
        return (
            f"pass --packages {self.coordinate()} to spark-submit; "
            f"without Maven Central, put the jars into a folder and set {self.jars} to it"
        )

    def needed(self) -> dict[str, str]:
        """The settings of a session that has it: ``spark.jars`` if its variable names files, else
        ``spark.jars.packages``, which Spark downloads when it starts and keeps.

        Raises UsageProblem (``missing-file``) if there are no jars where the variable points.
        """
        named = os.environ.get(self.jars)
        if not named:
            return {"spark.jars.packages": self.coordinate(), **self.settings}
        found: list[Path] = []
        for text in named.split(os.pathsep):
            path = user_path(text).absolute()
            here = sorted(path.glob("*.jar")) if path.is_dir() else [path] if path.is_file() else []
            if not here:
                raise UsageProblem.of("missing-file", f"{self.jars}: there are no jars at {path}", file=str(path))
            found += here
        return {"spark.jars": ",".join(map(str, found)), **self.settings}


def settings_of(libraries: Iterable[Library]) -> dict[str, str]:
    """What :func:`~occurs.connect.spark.local_session` needs for a session with all ``libraries``.

    A session that spark-submit starts gets no catalogs and no extensions: its command line has them.
    """
    found: dict[str, str] = {}
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    for library in libraries:
        for name, value in library.needed().items():
            if submitted and name in library.settings:
                continue
            joined = name in _JOINED and name in found
            found[name] = f"{found[name]},{value}" if joined else value
    return {name.replace(".", "__"): value for name, value in found.items()}


def session_with(libraries: Sequence[Library], master: str = "local[*]", **more: str) -> SparkSession:
    """A session of this process that has ``libraries``; ``more`` as for ``local_session``.

    Raises ResourceProblem (the ``kind`` of a library) if one cannot be downloaded.  A session that is already running,
    and one that was started by spark-submit, is returned as it is: jars are looked at only when a session starts.
    """
    from occurs.connect.spark import _hushed, local_session, reach_remote

    reach_remote()  # what it says must be seen
    with _hushed(True) as log:  # what Ivy says stands far above the last lines, which the error shows
        try:
            session = local_session(master, quiet=False, **(settings_of(libraries) | more))
        except ResourceProblem as error:
            failed = re.search(r"unresolved dependency|download failed", log())
            asked = [x for x in libraries if not os.environ.get(x.jars)]
            if not failed or not asked:
                raise
            names = ", ".join(x.coordinate() for x in asked)
            first = asked[0]
            raise ResourceProblem.of(first.kind, f"{names} cannot be downloaded", hint=first.hint) from error
    if "SPARK_REMOTE" not in os.environ:
        session.sparkContext.setLogLevel("OFF")
    return session


# --- versions ---------------------------------------------------------------------------------------------------------


def scala_version() -> str:
    """The Scala version of the running PySpark, such as ``2.13``."""
    import pyspark

    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    found = [m[1] for p in (home / "jars").glob("spark-core_*.jar") if (m := re.match(r"spark-core_([\d.]+)-", p.name))]
    return found[0] if found else "2.13"  # a client of Spark Connect has no jars; Spark 4 is built for one Scala


def listed(group: str, artifact: str) -> frozenset[str] | None:
    """The versions of a module that Maven Central lists, none if there is no such module; None if it cannot be asked.

    Behind a mirror the list may be out of reach while the download is not: then Spark tries.
    """
    url = _LISTS.format(module=f"{group.replace('.', '/')}/{artifact}")
    try:
        with urllib.request.urlopen(url, timeout=DOWNLOAD_PATIENCE) as answer:
            found = ElementTree.fromstring(answer.read())
    except urllib.error.HTTPError as error:
        return frozenset() if error.code == 404 else None
    except (OSError, http.client.HTTPException, ParseError, DefusedXmlException):
        return None
    return frozenset(e.text for e in found.iter("version") if e.text)


def release(version: str) -> tuple[int, int, int] | None:
    """The numbers of a release; None for a preview."""
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


def newest(versions: Iterable[str]) -> str | None:
    """The newest release among versions."""
    found = [(parts, v) for v in versions if (parts := release(v)) is not None]
    return max(found)[1] if found else None
