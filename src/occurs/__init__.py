"""Occurs: complex event processing for PySpark.  Describe a situation once; find every occurrence, stored or live.

``import occurs`` loads nothing else: a public name is loaded from its module when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from occurs.version import __version__

if TYPE_CHECKING:
    from occurs.connect.debezium import changes
    from occurs.connect.sparkerrors import spark_errors
    from occurs.errors import (
        CheckpointProblem,
        ConnectionProblem,
        DefinitionProblem,
        InputProblem,
        LimitProblem,
        OccursError,
        Problem,
        ResourceProblem,
        SyntaxProblem,
        UnknownTypeProblem,
        UsageProblem,
    )
    from occurs.explain.describing import Clause
    from occurs.explain.why import Why
    from occurs.explain.whynot import Reason, WhyNot
    from occurs.hosts.detections import Detections
    from occurs.hosts.live import Live
    from occurs.hosts.spark.ship import ship
    from occurs.loading import load, parse
    from occurs.program import Program
    from occurs.queries import sql

__all__ = [
    "CheckpointProblem",
    "Clause",
    "ConnectionProblem",
    "DefinitionProblem",
    "Detections",
    "InputProblem",
    "LimitProblem",
    "Live",
    "OccursError",
    "Problem",
    "Program",
    "Reason",
    "ResourceProblem",
    "SyntaxProblem",
    "UnknownTypeProblem",
    "UsageProblem",
    "Why",
    "WhyNot",
    "__version__",
    "changes",
    "load",
    "parse",
    "ship",
    "spark_errors",
    "sql",
]

_WHERE = {
    "Clause": "occurs.explain.describing",
    "Detections": "occurs.hosts.detections",
    "Live": "occurs.hosts.live",
    "Program": "occurs.program",
    "Reason": "occurs.explain.whynot",
    "Why": "occurs.explain.why",
    "WhyNot": "occurs.explain.whynot",
    "changes": "occurs.connect.debezium",
    "load": "occurs.loading",
    "parse": "occurs.loading",
    "ship": "occurs.hosts.spark.ship",
    "spark_errors": "occurs.connect.sparkerrors",
    "sql": "occurs.queries",
}


def load_ipython_extension(shell: Any) -> None:
    """Define the cell magic ``%%occurs LANGUAGE NAME``; called by ``%load_ext occurs``."""
    import_module("occurs.notebook.shell").load(shell, import_module("occurs.loading").parse)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the cell magic; called by ``%unload_ext occurs``."""
    import_module("occurs.notebook.shell").unload(shell)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'occurs' has no attribute {name!r}")
    found = getattr(import_module(_WHERE.get(name, "occurs.errors")), name)
    globals()[name] = found  # from now on it is there
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
