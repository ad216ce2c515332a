"""Which host runs over a Spark DataFrame; PySpark is imported when there is one, not before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def on_spark(sample: Any) -> Callable[..., Any]:
    """``detect`` of the host for a DataFrame: batch or streaming."""
    if sample.isStreaming:
        from occurs.hosts.stream.detect import detect as streaming

        return streaming
    from occurs.hosts.spark import detect

    return detect
