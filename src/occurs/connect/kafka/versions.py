"""The version of Spark's connector for Kafka that fits a version of Spark and can be downloaded.

A release of Spark may reach PyPI before its connector reaches Maven Central, and some patch releases of the connector
need a module that was never published.  So the version is chosen among those that Maven Central lists.
"""

from __future__ import annotations

import functools
import http.client
import re
import urllib.request
from collections.abc import Iterable
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException, ElementTree

GROUP = "org.apache.spark"
CONNECTOR = "spark-sql-kafka-0-10"
#: the connector and the module of Spark that it needs in the same version
_MODULES = (CONNECTOR, "spark-token-provider-kafka-0-10")
_LISTS = "https://repo1.maven.org/maven2/org/apache/spark/{module}_{scala}/maven-metadata.xml"
#: seconds to wait for Maven Central's list of versions
PATIENCE = 5.0


def fitting(running: str, there: Iterable[str]) -> str:
    """The version to use with Spark ``running``: the same if it is ``there``, else the newest release of the same major
    version that is not of a later minor one; ``running`` if there is none.

    >>> fitting("4.3.0", ["4.0.0", "4.2.0", "4.4.0-preview1"])
    '4.2.0'
    """
    found = {_parts(version): version for version in there}
    now = _parts(running)
    if now is None or now in found:
        return running
    fit = [parts for parts in found if parts is not None and parts[0] == now[0] and parts[1] <= now[1]]
    return found[max(fit)] if fit else running


@functools.cache
def published(scala: str) -> frozenset[str]:
    """The versions that Maven Central lists of every module of the connector; none if it cannot be asked."""
    lists = [_listed(_LISTS.format(module=module, scala=scala)) for module in _MODULES]
    return frozenset.intersection(*lists)


def _listed(url: str) -> frozenset[str]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            found = ElementTree.fromstring(answer.read())
    except (OSError, http.client.HTTPException, ParseError, DefusedXmlException):
        return frozenset()  # behind a mirror the list may be out of reach, and the download is not: Spark tries
    return frozenset(e.text for e in found.iter("version") if e.text)


def _parts(version: str) -> tuple[int, int, int] | None:
    """The numbers of a release; None for a preview."""
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))
