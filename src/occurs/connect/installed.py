"""PySpark is an extra: whether it is there, and what to say if it is not."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from occurs.errors import ResourceProblem

#: how to install it; on a cluster it is there already, in the version of the cluster
INSTALL = 'pip install "occurs[spark,java]"'


def has_pyspark() -> bool:
    """Is PySpark installed?  It is not imported."""
    try:
        return find_spec("pyspark") is not None
    except ImportError:  # something in between finds it and does not give it
        return False


def runs_spark() -> bool:
    """Has somebody started a session in this process?"""
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def need_pyspark() -> None:
    """Raise ResourceProblem (``no-spark``) if PySpark is not installed."""
    if not has_pyspark():
        hint = f"{INSTALL}; to run without Spark, use --host local (Python: pass a pandas, Arrow or Polars table)"
        raise ResourceProblem.of("no-spark", "PySpark is not installed", hint=hint)
