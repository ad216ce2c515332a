"""The functions that processors of pipes have."""

from __future__ import annotations

from occurs.expr.tree import Expr
from occurs.pipes.graph import Processor
from occurs.pipes.tree import Formula, Lift, Machine


def functions_of(processor: Processor) -> list[Expr]:
    """All functions of a processor, but for those of inner ones."""
    found: list[Expr] = []
    if isinstance(processor, Lift):
        found += processor.functions
    if isinstance(processor, Machine):
        for state in processor.states:
            found += [state.output] if state.output is not None else []
            for t in state.transitions:
                found += [t.condition] if t.condition is not None else []
                found += [e for _, e in t.sets]
    if isinstance(processor, Formula):
        found += [d for d in (getattr(p, "domain", None) for p in processor.root.walk()) if d is not None]
    return found + [v for v in vars(processor).values() if isinstance(v, Expr)]
