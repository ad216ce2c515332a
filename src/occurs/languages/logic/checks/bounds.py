"""Durations and bounds of a trigger: values that are remembered without end, triggers that look at one state only.

See temporal-logic.md, sections 3 and 5.2; durations are judged by what times count (common.md, sections 1 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from occurs.errors import Place, Span
from occurs.expr.text import Text
from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Unary
from occurs.languages.kit.complaints import ticks_of
from occurs.languages.logic import syntax
from occurs.languages.logic.render import render
from occurs.languages.logic.syntax import Formula
from occurs.model.time import Duration, TimeKind
from occurs.operators.temporal.tree import Global, Time, conjuncts, free

#: that may be added to a time in int64
LONGEST = 2**62
_WORDS: Mapping[type[Formula], str] = {
    syntax.Until: "until", syntax.Since: "since", syntax.Release: "release", syntax.WeakUntil: "weak until",
    syntax.Eventually: "eventually", syntax.Always: "always", syntax.Previously: "previously",
    syntax.Throughout: "throughout", syntax.Nexttime: "nexttime", syntax.Lasttime: "lasttime",
}  # fmt: skip


def operator(node: Formula) -> str:
    """The word of a temporal operator."""
    return _WORDS[type(node)]


def check_duration(
    duration: Duration, span: Span | None, source: Text, kind: TimeKind | None, whole: bool = False
) -> Fraction | None:
    """The ticks of a duration, None if they are not known.

    Reports ``missing-unit``, and durations that are not whole in ticks: with ``whole`` as error, as ``bad-duration``,
    and those that are too long to add up.
    """
    ticks = duration.amount if duration.ticks and kind is None else None
    if kind is not None:
        ticks = ticks_of(duration, span, source, kind, "write a unit, as in `10 min` or `30 s`")
        if ticks is None:
            return None
    if whole and ticks is not None and ticks > LONGEST:
        source.report("bad-duration", "the duration does not fit in 64 bits", span, "write a shorter duration")
        return ticks
    if ticks is None or ticks.denominator == 1:
        return ticks
    unit = f"one tick is 1 {kind.unit}" if kind is not None and kind.unit else "times are whole numbers of ticks"
    message = "the duration is not a whole number of ticks"
    if whole:
        source.report("bad-duration", message, span, f"{unit}: write a multiple of that")
    else:
        source.warn("inexact-duration", message, span, f"{unit}; the duration is compared exactly")
    return ticks


def check_bound(bound: syntax.Bound, source: Text, kind: TimeKind | None) -> None:
    """Report durations of a bound, one that ends before it begins, and warn of one that needs a state at one time."""
    low = check_duration(bound.first, bound.span, source, kind)
    if bound.second is not None:
        high = check_duration(bound.second, bound.span, source, kind)
        if low is not None and high is not None and low > high:
            source.report("bad-bound", "the bound ends before it begins", bound.span, "write the smaller number first")
    exact = bound.op == "=" or (bound.second is not None and bound.first == bound.second)
    if exact:
        hint = "there may be no state at that time; `[>=c]` takes the first state at that time or later"
        source.warn("exact-bound", "this bound needs a state at exactly that time", bound.span, hint)


# --- what is remembered without end -----------------------------------------------------------------------------------

#: bounds that end
_ENDING = ("<=", "<", "=", "in")
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


def open_formulas(node: Formula) -> int:
    """How many subformulas have free variables."""
    below = sum(open_formulas(part) for part in node.parts)
    return below + bool(free(node))


def check_unbounded(formula: Formula, source: Text, required: bool) -> None:
    """Warn of every assignment whose values are remembered for ever; with ``required`` these are errors."""
    _visit(formula, {}, source, required, set())


def _visit(node: Formula, scope: Mapping[str, syntax.Assign], source: Text, required: bool, told: set[int]) -> None:
    if isinstance(node, syntax.FUTURE + syntax.PAST) and not _ends(node):
        new = [scope[name] for name in sorted(free(node) & scope.keys()) if id(scope[name]) not in told]
        told.update(map(id, new))
        if new:
            _tell(node, new, source, required)
    if isinstance(node, syntax.Assign):
        scope = {**scope, node.variable.text: node}
    for part in node.parts:
        _visit(part, scope, source, required, told)


def _tell(node: Formula, assigned: Sequence[syntax.Assign], source: Text, required: bool) -> None:
    word = operator(node)
    what = " and ".join(f"`[{a.variable} <- {source_text(a, source)}]`" for a in assigned)
    message = f"unbounded state: `{word}` has no bound, so values of {what} never expire"
    if isinstance(node, syntax.WeakUntil):
        hint = "use an operator that takes a bound: `f release[..] g` or `f until[<=10 min] g`"
    else:
        hint = f"add a bound: `{word}[<=10 min] ..`"
    places = tuple(Place(f"`{a.variable}` is assigned here", source.file, a.variable.span) for a in assigned)
    source.report("unbounded-state", message, node.span, hint, "error" if required else "warning", places)


def source_text(assign: syntax.Assign, source: Text) -> str:
    """The term of an assignment as it is written."""
    span = getattr(assign.term, "span", None)
    return source.piece(span) if span is not None else render(assign.term)


def _ends(node: Formula) -> bool:
    """Whether an operator looks only at states within some distance of a remembered time."""
    if isinstance(node, syntax.Nexttime | syntax.Lasttime):
        return True
    bound = getattr(node, "bound", None)
    if isinstance(bound, syntax.Bound) and bound.op in _ENDING:
        return True
    future = isinstance(node, syntax.FUTURE)
    if isinstance(node, syntax.Eventually | syntax.Previously):
        goal, holds = node.operand, True
    elif isinstance(node, syntax.Always | syntax.Throughout):
        goal, holds = node.operand, False
    elif isinstance(node, syntax.Until | syntax.Since):
        goal, holds = node.right, True
    elif isinstance(node, syntax.Release):
        goal, holds = node.right, False
    else:
        return False
    return any(_limits(op, left, right, future) for op, left, right in conjuncts(goal, holds))


def _limits(op: str, left: Expr, right: Expr, future: bool) -> bool:
    """Whether a comparison is `time <= t + c` (in the past: `time >= t - c`) with t a remembered time."""
    a, b = linear(left), linear(right)
    if a is None or b is None:
        return False
    names = {n: a[0].get(n, Fraction(0)) - b[0].get(n, Fraction(0)) for n in (*a[0], *b[0])}
    names = {n: k for n, k in names.items() if k}
    now = names.pop("time", Fraction(0))
    if not now or list(names.values()) != [-now]:
        return False
    op = op if now > 0 else _MIRRORED[op]
    return op in (("<=", "<", "=") if future else (">=", ">", "="))


def linear(node: Expr) -> tuple[dict[str, Fraction], Fraction] | None:
    """A resolved term as a sum of multiples of ``time`` and of remembered times, and a constant; None if it is none.

    In the constant ticks and microseconds are added as they come: only whether there is one is asked for.
    """
    match node:
        case Time():
            return {"time": Fraction(1)}, Fraction(0)
        case Global(clock=True):
            return {f"[{node.name}]": Fraction(1)}, Fraction(0)
        case DurationLiteral():
            return {}, node.value.amount
        case Literal(value=int() | float()) if not isinstance(node.value, bool):
            return {}, Fraction(node.value)  # type: ignore[arg-type]
        case Unary(op="neg"):
            found = linear(node.arg)
            return None if found is None else _scaled(found, Fraction(-1))
        case Binary(op="+" | "-" | "*"):
            a, b = linear(node.left), linear(node.right)
            if a is None or b is None:
                return None
            if node.op == "*":
                if a[0] and b[0]:
                    return None
                return _scaled(a, b[1]) if a[0] else _scaled(b, a[1])
            b = _scaled(b, Fraction(-1)) if node.op == "-" else b
            sums = {n: a[0].get(n, Fraction(0)) + b[0].get(n, Fraction(0)) for n in (*a[0], *b[0])}
            return sums, a[1] + b[1]
    return None


def _scaled(term: tuple[dict[str, Fraction], Fraction], by: Fraction) -> tuple[dict[str, Fraction], Fraction]:
    return {n: k * by for n, k in term[0].items()}, term[1] * by


# --- triggers that look at one state, or fire at every one ----------------------------------------------------------


def check_top(trigger: syntax.Trigger, source: Text) -> None:
    """Warn of a future trigger that fires on every prefix, or that looks only at the state of activation."""
    if trigger.past:
        return
    f = trigger.formula
    if always_fires(f):
        hint = "to detect its end, write `eventually not ..`; or add a bound: `p until[>=10 min] true`"
        source.warn(
            "always-fires",
            "every prefix of a history satisfies this formula, so the trigger always fires at once",
            f.span,
            hint,
        )
    elif anchored(f):
        message = "this formula is tested only in the state of activation; if it fails there, the trigger never fires"
        source.warn("anchored", message, f.span, "start with `eventually` to test every state")


def always_fires(f: Formula) -> bool:
    """Whether a history satisfies a formula as long as nothing is against it."""
    match f:
        case syntax.Always() | syntax.WeakUntil() | syntax.Release():
            return True
        case syntax.Not(operand=syntax.Eventually() | syntax.Until() | syntax.Nexttime()):
            return True
        case syntax.And():
            return all(map(always_fires, f.operands))
        case syntax.Or():
            return any(map(always_fires, f.operands))
        case syntax.Assign():
            return always_fires(f.operand)
    return False


def anchored(f: Formula) -> bool:
    """Whether a formula asks for something of the state of activation."""
    match f:
        case syntax.Eventually() | syntax.Always() | syntax.Truth():
            return False
        case syntax.Not(operand=syntax.Eventually() | syntax.Always()):
            return False
        case syntax.Nexttime():
            return anchored(f.operand)
        case syntax.Until(left=syntax.Truth(value=True)):
            return False
        case syntax.And() | syntax.Or():
            return any(map(anchored, f.operands))
    return True
