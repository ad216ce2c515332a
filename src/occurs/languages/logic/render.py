"""Triggers as text again: one canonical spelling, no parenthesis too many (temporal-logic.md, section 2)."""

from __future__ import annotations

from occurs.expr import render as core
from occurs.expr.tree import DurationLiteral, Expr, Literal, Ref
from occurs.languages.logic import syntax
from occurs.languages.logic.syntax import Formula
from occurs.model.time import UNIT_MICROSECONDS, Duration
from occurs.model.types import Type

#: how tightly a formula holds together
IMPLIES, OR, AND, PAIRED, PREFIX, ATOM = range(1, 7)
_TYPES = {Type.BOOL: "boolean"}
_PAIRED = {syntax.Until: "until", syntax.Since: "since", syntax.Release: "release"}
_PREFIXES = {syntax.Not: "not", syntax.Nexttime: "nexttime", syntax.Lasttime: "lasttime"}
_RANGED = {syntax.Eventually: "eventually", syntax.Always: "always", syntax.Previously: "previously",
           syntax.Throughout: "throughout"}  # fmt: skip


def render(node: syntax.File | syntax.Definition | Formula | Expr) -> str:
    """The canonical text of a file, a definition, a formula or a term; definitions end with a semicolon.

    >>> from occurs.languages.logic.parser import parse
    >>> text = "trigger a: [x<-t.a] (Eventually-within-90 s (2x>=b)) => not(p and q) until q continue"
    >>> print(render(parse(text)[0]))
    future trigger a:
        [x <- t.a] eventually[<=90 s] 2 * x >= b implies not (p and q) until q
        continue;
    """
    if isinstance(node, syntax.File):
        return "\n".join(map(render, node.definitions))
    if isinstance(node, Expr):
        return _formula(node)[0] if isinstance(node, Formula) else term_text(node)
    return f"{_definition(node)};"


# --- definitions ----------------------------------------------------------------------------------------------------


def _definition(node: syntax.Definition) -> str:
    match node:
        case syntax.Table():
            return f"table {node.name}{_columns(node.columns)}"
        case syntax.Event():
            return f"event {node.name}{_columns(node.columns) if node.columns else ''}"
        case syntax.State():
            return f"state {node.name}{_columns(node.columns)}"
        case syntax.View():
            names = f"({', '.join(map(str, node.parameters))})" if node.parameters else ""
            return f"view {node.name}{names} as {node.sql.text}"
        case syntax.Constant():
            return f"constant {node.name} = {term_text(node.value)}"
        case syntax.Trigger():
            return _trigger(node)


def _columns(columns: tuple[syntax.Column, ...]) -> str:
    found = (f"{c.name} {_TYPES.get(c.type, str(c.type))}{' key' * c.key}" for c in columns)
    return f"({', '.join(found)})"


def _trigger(node: syntax.Trigger) -> str:
    head = f"{'past' if node.past else 'future'} trigger {node.name}"
    if node.each is not None:
        names = ", ".join(map(str, node.each.variables))
        query = f" in ({node.each.sql.text})" if node.each.sql is not None else ""
        head += f" for each {f'({names})' if len(node.each.variables) > 1 else names}{query}"
    if node.observing is not None:
        every = node.observing.every
        head += " observing all" if every is None else f" observing every {duration_text(every)}"
    lines = [f"{head}:", _formula(node.formula)[0]]
    gap = f" at most every {duration_text(node.gap)}" if node.gap is not None else ""
    if node.continues or gap:
        lines.append(f"{'continue' if node.continues else 'reactivate'}{gap}")
    return "\n    ".join([*lines, *map(_action, node.actions)])


def _action(node: syntax.Action) -> str:
    never = "on never " * node.never
    if isinstance(node, syntax.Notify):
        return f"{never}notify {string_text(node.text)}"
    arguments = ", ".join(f"{name} = {term_text(term)}" for name, term in node.arguments)
    if isinstance(node, syntax.Emit):
        return f"{never}emit {node.type}({arguments})"
    return f"{never}execute {string_text(node.statement)}" + (f" with {arguments}" if arguments else "")


# --- formulas -------------------------------------------------------------------------------------------------------


def _formula(node: Formula) -> tuple[str, int]:
    """The text of a formula and how tightly it holds together."""
    match node:
        case syntax.Implies():
            return f"{_within(node.left, OR)} implies {_within(node.right, IMPLIES)}", IMPLIES
        case syntax.Or():
            return " or ".join(_within(f, AND) for f in node.operands), OR
        case syntax.And():
            return " and ".join(_within(f, PAIRED) for f in node.operands), AND
        case syntax.Until() | syntax.Since() | syntax.Release():
            return _chain(node, node.left, f"{_PAIRED[type(node)]}{_bound(node.bound)}", node.right), PAIRED
        case syntax.WeakUntil():
            return _chain(node, node.left, "weak until", node.right), PAIRED
        case syntax.Eventually() | syntax.Always() | syntax.Previously() | syntax.Throughout():
            return f"{_RANGED[type(node)]}{_bound(node.bound)} {_within(node.operand, PREFIX)}", PREFIX
        case syntax.Not() | syntax.Nexttime() | syntax.Lasttime():
            return f"{_PREFIXES[type(node)]} {_within(node.operand, PREFIX)}", PREFIX
        case syntax.Assign():
            return f"[{node.variable} <- {term_text(node.term)}] {_within(node.operand, PREFIX)}", PREFIX
        case syntax.Truth():
            return ("true" if node.value else "false"), ATOM
        case syntax.Compare():
            return f"{term_text(node.left)} {node.op} {term_text(node.right)}", ATOM
        case syntax.IsNull():
            return f"{term_text(node.term)} is {'not ' * node.negated}null", ATOM
        case syntax.Exists():
            return f"exists ({node.sql.text})", ATOM
        case syntax.Atom():
            return term_text(node.term), ATOM
    raise TypeError(f"not a formula: {node!r}")


def _within(node: Formula, least: int) -> str:
    text, level = _formula(node)
    return text if level >= least else f"({text})"


def _chain(node: Formula, left: Formula, word: str, right: Formula) -> str:
    paired = isinstance(right, syntax.Until | syntax.Since | syntax.Release | syntax.WeakUntil)
    mixed = paired and isinstance(right, syntax.Since) != isinstance(node, syntax.Since)
    return f"{_within(left, PREFIX)} {word} {_within(right, PREFIX if mixed else PAIRED)}"


def _bound(bound: syntax.Bound | None) -> str:
    return "" if bound is None else bound_text(bound)


def bound_text(bound: syntax.Bound) -> str:
    """``[<=10 min]``, ``[5, 9]``."""
    if bound.second is not None:
        return f"[{duration_text(bound.first)}, {duration_text(bound.second)}]"
    return f"[{bound.op}{duration_text(bound.first)}]"


# --- terms ----------------------------------------------------------------------------------------------------------


def term_text(node: Expr) -> str:
    """The canonical text of a term."""
    return core.render(node, _leaf)


def _leaf(node: Expr) -> str | None:
    """What is not written as in the other languages."""
    match node:
        case Ref():
            return node.name if node.scope is None else f"{node.scope}.{node.name}"
        case Literal(value=str()):
            return string_text(str(node.value))
        case DurationLiteral():
            return duration_text(node.value, ticks=True)
        case syntax.Apply():
            pairs = zip(node.names, node.args, strict=True)
            inside = ", ".join(term_text(a) if n is None else f"{n} = {term_text(a)}" for n, a in pairs)
            return f"{node.name}({inside})" + (f".{node.column}" if node.column is not None else "")
        case syntax.Aggregate():
            return f"{node.op} of {term_text(node.arg)} {_source(node)}"
        case syntax.Sql():
            return f"({node.text})"
        case Formula():
            return f"({_formula(node)[0]})"
    return None


def _source(node: syntax.Aggregate) -> str:
    if node.within is not None:
        return f"within {duration_text(node.within)}"
    found = node.predicate
    if isinstance(found, syntax.Atom):
        term = found.term
        if (isinstance(term, Ref) and term.scope is None) or (isinstance(term, syntax.Apply) and term.column is None):
            return f"from {term_text(term)}"
    assert found is not None
    return f"from ({_formula(found)[0]})"


def string_text(text: str) -> str:
    """A text in quotes.

    >>> print(string_text('"it"'))
    '"it"'
    """
    quote = "'" if '"' in text and "'" not in text else '"'
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"


def duration_text(duration: Duration, ticks: bool = False) -> str:
    """One number and, but for ticks, one unit; ``ticks``: write that unit, too.

    >>> from fractions import Fraction
    >>> [duration_text(Duration(Fraction(n) * 1_000_000)) for n in (90, 3600, 604800)]
    ['90 s', '1 h', '7 d']
    """
    number = core._fraction
    if duration.ticks:
        return number(duration.amount) + " ticks" * ticks
    sizes = sorted(((size, unit) for unit, size in UNIT_MICROSECONDS.items() if unit != "w"), reverse=True)
    size, unit = next(((s, u) for s, u in sizes if duration.amount % s == 0), (1, "us"))
    return f"{number(duration.amount / size)} {unit}"
