"""The operators of temporal triggers by their definitions (temporal-logic.md 4.2)."""

from __future__ import annotations

from dataclasses import replace

from occurs.languages.logic import syntax
from occurs.languages.logic.syntax import Not, Or, Since, Truth, Until

TRUE = Truth(True)


def core(f: syntax.Formula) -> syntax.Formula:
    """The same with not, and, or, assignment, nexttime, lasttime, until, since and atoms only."""
    match f:
        case syntax.Implies():
            return Or((Not(core(f.left)), core(f.right)))
        case syntax.Eventually():
            return Until(TRUE, core(f.operand), f.bound)
        case syntax.Always():
            return Not(Until(TRUE, Not(core(f.operand)), f.bound))
        case syntax.Previously():
            return Since(TRUE, core(f.operand), f.bound)
        case syntax.Throughout():
            return Not(Since(TRUE, Not(core(f.operand)), f.bound))
        case syntax.WeakUntil():
            left = core(f.left)
            return Or((Until(left, core(f.right)), Not(Until(TRUE, Not(left)))))
        case syntax.Release():
            return Not(Until(Not(core(f.left)), Not(core(f.right)), f.bound))
        case syntax.Not() | syntax.Assign() | syntax.Nexttime() | syntax.Lasttime():
            return replace(f, operand=core(f.operand))
        case syntax.And() | syntax.Or():
            return replace(f, operands=tuple(core(p) for p in f.operands))
        case syntax.Until() | syntax.Since():
            return replace(f, left=core(f.left), right=core(f.right))
    return f
