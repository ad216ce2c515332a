"""The process that Spark forks its Python workers from, with everything imported that workers of ours need.

Spark's own daemon imports next to nothing, so that every worker, and a stateful query has new ones each time it starts,
imports NumPy, Numba, Arrow, pandas and Occurs for itself: three seconds of CPU each.  Set as
``spark.python.daemon.module`` by :func:`occurs.connect.spark.local_session`.

Spark is careful to fork from a process without threads.  Importing Arrow and NumPy starts one each: a helper of the
allocator and one of the matrix library, both with handlers of their own for a fork.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no thread for a library that is not used

import gc
import importlib.util

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import occurs.hosts.spark.task
import occurs.hosts.stream.stateful_processor  # noqa: F401
from occurs import kernel

if importlib.util.find_spec("pandas"):  # PySpark's worker imports it where it is
    import pandas  # noqa: F401

kernel.prepare()

if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # what is imported stays in memory that all workers share
    manager()
