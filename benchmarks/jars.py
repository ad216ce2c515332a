"""Jars from Maven Central, by the Ivy that comes with PySpark: what is measured against, and what tests run against.

They are kept in the user's cache directory between runs.  Where Maven Central is reached otherwise than directly, the
variable OCCURS_IVY_SETTINGS names an ivysettings.xml, and JAVA_TOOL_OPTIONS may set proxies and trusted certificates.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

_MODULE = """<ivy-module version="2.0">
  <info organisation="occurs" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
    <exclude org="org.apache.hadoop"/>
{overrides}
  </dependencies>
</ivy-module>
"""
_failed: dict[str, str] = {}


class Unavailable(Exception):
    """The jars cannot be had here; says why."""


def java() -> str:
    """A Java that Spark and Kafka run on."""
    from occurs.connect.java import ensure_java

    ensure_java()
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def jars(name: str, choices: list[dict[str, str]]) -> list[Path]:
    """The jars of the first of ``choices`` (``group:artifact`` to version) that can be resolved, and what they need."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "occurs"
    folder = cache / "jars" / name
    if not folder.is_dir():
        if name in _failed:  # once a run is enough
            raise Unavailable(_failed[name])
        told = []
        for modules in choices:
            why = _resolve(cache / "ivy", folder, modules)
            if why is None:
                break
            told.append(why)
        else:
            _failed[name] = "no jars from Maven Central: " + "; ".join(told)
            raise Unavailable(_failed[name])
    return sorted(folder.glob("*.jar"))


def _resolve(cache: Path, folder: Path, modules: dict[str, str]) -> str | None:
    """Fill ``folder``, at once or not at all; None, or why it is not possible."""
    import pyspark

    ivy = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"), None)
    if ivy is None:
        return "this PySpark has no Ivy"
    split = [(*module.split(":"), version) for module, version in modules.items()]
    text = _MODULE.format(
        dependencies="\n".join(
            f'    <dependency org="{g}" name="{a}" rev="{v}" conf="default->default"/>' for g, a, v in split
        ),
        overrides="\n".join(f'    <override org="{g}" module="{a}" rev="{v}"/>' for g, a, v in split),
    )
    cache.mkdir(parents=True, exist_ok=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as scratch:
        module = Path(scratch) / "ivy.xml"
        module.write_text(text)
        jars = Path(scratch) / "jars"
        command = [
            java(),
            "-Xmx256m",
            "-Dsun.net.client.defaultConnectTimeout=10000",
            "-Dsun.net.client.defaultReadTimeout=60000",
            *("-cp", str(ivy), "org.apache.ivy.Main", "-warn", "-cache", str(cache)),
            *("-ivy", str(module), "-retrieve", f"{jars}/[artifact]-[revision](-[classifier]).[ext]"),
        ]
        named = os.environ.get("OCCURS_IVY_SETTINGS")
        if named:
            command += ["-settings", named]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        except subprocess.TimeoutExpired:
            return "Ivy did not finish in ten minutes"
        if done.returncode or not any(jars.glob("*.jar")):
            lines = [x.strip(": \t") for x in (done.stdout + done.stderr).splitlines()]
            found = [x for x in lines if re.search("rror at url|xception:|FAILED", x)]  # the cause, else the effect
            found += [x for x in lines if x.endswith("not found")]
            return found[0] if found else " ".join(lines)[-300:]
        try:
            os.rename(jars, folder)
        except OSError:
            if not folder.is_dir():  # else another run was first
                raise
            shutil.rmtree(jars)
    return None
