"""What the shape of a pattern says before a row is read: its size, its first rows, and what is likely wrong
(match-recognize.md, sections 4, 9 and 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from occurs.expr.text import Text
from occurs.expr.tree import Binary, Expr, Literal, conjuncts, rewrite
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.render import expr_text, pattern_text
from occurs.languages.match_recognize.syntax import Pattern
from occurs.operators.rowpattern.program import MOST_STATES, TooLarge, least, longest, program_of
from occurs.operators.rowpattern.tree import At, Skip

MOST_PERMUTED = 10


@dataclass(frozen=True)
class Ends:
    """Which variables the first and the last row of a match may have, and which may have a row before theirs."""

    first: frozenset[str]
    last: frozenset[str]
    behind: frozenset[str]
    empty: bool


def ends(node: Pattern) -> Ends:
    """The ends of a pattern's matches."""
    inner = [ends(c) for c in node.children]
    match node:
        case syntax.Variable():
            return Ends(frozenset({node.name}), frozenset({node.name}), frozenset(), False)
        case syntax.Anchor():
            return Ends(frozenset(), frozenset(), frozenset(), True)
        case syntax.Alternation():
            return Ends(
                frozenset().union(*(e.first for e in inner)),
                frozenset().union(*(e.last for e in inner)),
                frozenset().union(*(e.behind for e in inner)),
                any(e.empty for e in inner),
            )
        case syntax.Repeat():
            [part] = inner
            again = part.first if node.high is None or node.high > 1 else frozenset()
            return replace(part, behind=part.behind | again, empty=part.empty or node.low == 0)
        case syntax.Permute():
            every = frozenset().union(*(e.first for e in inner))
            lasts = frozenset().union(*(e.last for e in inner))
            behind = frozenset().union(*(e.behind for e in inner))
            return Ends(every, lasts, behind | every, all(e.empty for e in inner))
    out = Ends(frozenset(), frozenset(), frozenset(), True)
    for part in inner:
        out = Ends(
            out.first | part.first if out.empty else out.first,
            part.last | out.last if part.empty else part.last,
            out.behind | part.behind | (part.first if out.last else frozenset()),
            out.empty and part.empty,
        )
    return out


def check_size(pattern: Pattern, source: Text) -> None:
    """Report a pattern that is too large to be searched for."""
    for node in pattern.walk():
        if isinstance(node, syntax.Permute) and len(node.parts) > MOST_PERMUTED:
            message = f"PERMUTE of {len(node.parts)} patterns; the most is {MOST_PERMUTED}"
            source.report("bad-bound", message, node.span)
            return
    variables = dict.fromkeys(n.name for n in pattern.walk() if isinstance(n, syntax.Variable))
    try:
        program_of(pattern, tuple(variables))
    except TooLarge:
        message = f"the pattern has more than {MOST_STATES:,} states when its repetitions and orders are written out"
        hint = "use smaller bounds, `*` and `+`, or a PERMUTE of variables alone"
        source.report("bad-bound", message, pattern.span, hint)


def warn(
    pattern: Pattern, skip: Skip, query: syntax.Query, conditions: Mapping[str, Expr],
    unions: Mapping[str, tuple[str, ...]], source: Text,
) -> None:  # fmt: skip
    """Warn of what is likely wrong, or costs more and more."""
    clause = query.clause
    if clause.within is None:
        _unbounded(pattern, source)
    for node in greedy_ends(pattern, conditions):
        inside = pattern_text(node.part)
        message = (
            f"`{inside}` has no condition: `{pattern_text(node)}` takes all rows to the end of the partition first"
        )
        hint = f"give `{inside}` a condition, or write `{pattern_text(replace(node, greedy=False))}`"
        source.warn("always-fires", message, node.span, hint)
    _bad_skip(pattern, skip, clause, source)
    for define in clause.defines:
        name = define.variable.canonical
        if name in conditions:
            _never(name, define, conditions[name], source)


def _unbounded(pattern: Pattern, source: Text) -> None:
    for node in pattern.walk():
        if isinstance(node, syntax.Repeat) and node.high is None and longest(node.part) != 0:
            low = node.low
            message = f"unbounded state: `{pattern_text(node)}` may go on for any number of rows"
            hint = f"limit the match with WITHIN behind PATTERN (..), or the repetition: `{{{low},100}}`"
            source.warn("unbounded-state", message, node.span, hint)
            return


def greedy_ends(pattern: Pattern, conditions: Collection[str]) -> Iterator[syntax.Repeat]:
    """Unbounded greedy repetitions of a variable without condition that rows must follow."""

    def walk(node: Pattern, followed: bool) -> Iterator[syntax.Repeat]:
        if isinstance(node, syntax.Repeat) and node.high is None and node.greedy and followed:
            parts = node.part.parts if isinstance(node.part, syntax.Alternation) else (node.part,)
            if any(isinstance(p, syntax.Variable) and p.name not in conditions for p in map(_included, parts)):
                yield node
        if isinstance(node, syntax.Sequence):
            for i, part in enumerate(node.parts):
                behind = any(least(p) > 0 for p in node.parts[i + 1 :])
                yield from walk(part, followed or behind)
        else:
            for child in node.children:
                yield from walk(child, followed)

    return walk(pattern, False)


def _included(node: Pattern) -> Pattern:
    return _included(node.part) if isinstance(node, syntax.Exclusion) else node


def _bad_skip(pattern: Pattern, skip: Skip, clause: syntax.Clause, source: Text) -> None:
    """SKIP TO the first row of every match."""
    if not skip.variables:
        return
    found, wanted = ends(pattern), frozenset(skip.variables)
    always = bool(found.first) and found.first <= wanted
    if not always or (skip.to == "last" and found.behind & wanted):
        return
    message = f"AFTER MATCH SKIP TO {skip.to.upper()} {skip.name} leads to the first row of every match"
    hint = "skip to a variable behind the first one, or write AFTER MATCH SKIP TO NEXT ROW"
    source.warn("bad-skip", message, clause.skip.span, hint)


def _never(name: str, define: syntax.Define, condition: Expr, source: Text) -> None:
    """A condition that is not true of any row."""

    def own(node: Expr) -> Expr | None:
        mine = isinstance(node, At) and (node.variables is None or name in node.variables)
        if mine and isinstance(node, At) and not (node.first or node.offset or node.move):
            return At(node.arg)
        return None

    for part in conjuncts(rewrite(condition, own)):
        same = isinstance(part, Binary) and part.op in ("<", ">", "!=") and part.left == part.right
        constant = isinstance(part, Literal) and part.value in (None, False)
        if same:
            message = f"`{expr_text(define.condition)}` is never true: both sides are the row itself"
            hint = f"compare with another row: `PREV(..)`, or `LAST({name}.column, 1)` for the row of {name} before"
            source.warn("never-completes", message, define.span, hint)
            return
        if constant:
            source.warn("never-completes", f"the condition of {name} is never true", define.span, None)
            return
