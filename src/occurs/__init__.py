"""Occurs: complex event processing for PySpark.  Say what happened once; find it in history and live."""

from occurs.connect.feed import changes
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
    UsageProblem,
)
from occurs.hosts.live import Live
from occurs.loading import load, parse
from occurs.program import Detections, Program

__version__ = "0.1.0"

__all__ = [
    "CheckpointProblem",
    "ConnectionProblem",
    "DefinitionProblem",
    "Detections",
    "InputProblem",
    "LimitProblem",
    "Live",
    "OccursError",
    "Problem",
    "Program",
    "ResourceProblem",
    "SyntaxProblem",
    "UsageProblem",
    "__version__",
    "changes",
    "load",
    "parse",
]
