"""Row patterns as canonical text: what is parsed from it is the same tree (match-recognize.md, section 2)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TypeAlias

from occurs.expr.render import duration_text as _ticks_text
from occurs.expr.render import number_text
from occurs.expr.tree import (
    COMPARISONS,
    Binary,
    Call,
    DurationLiteral,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Param,
    Unary,
)
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.syntax import Pattern, Word
from occurs.languages.match_recognize.words import PRINTED, QUOTED, TYPE_WORDS
from occurs.model.time import Duration
from occurs.model.types import Type

OR, AND, NOT, COMPARISON, CONCAT, SUM, TERM, UNARY, ATOM = range(1, 10)
_LEVELS = {"or": OR, "and": AND, **dict.fromkeys(COMPARISONS, COMPARISON), **dict.fromkeys("+-", SUM),
           **dict.fromkeys("*/%", TERM)}  # fmt: skip
ALTERNATION, SEQUENCE, REPEATED, PRIMARY = range(4)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

Node: TypeAlias = syntax.File | syntax.Query | Pattern | Expr


def render(node: Node) -> str:
    """The canonical text of a file, a statement (one line, without its semicolon), a pattern or an expression.

    In a file every part of a statement has a line, and there is an empty line between two statements.
    """
    if isinstance(node, syntax.File):
        return "\n".join("\n".join(lines(s)) + ";\n" for s in node.statements)
    if isinstance(node, syntax.Query):
        parts = [part.strip() for part in lines(node)]
        return re.sub(r"\( (?=[A-Z])", "(", " ".join(parts)) if parts else ""
    if isinstance(node, Expr):
        return expr_text(node)
    return pattern_text(node)


# --- statements -----------------------------------------------------------------------------------------------------


def lines(node: syntax.Query) -> list[str]:
    """The lines of a statement in its canonical text; the parts of the clause are indented."""
    out = [f"CREATE VIEW {word_text(node.name)} AS"] if node.name is not None else []
    table = word_text(node.table) + (f" AS {word_text(node.table_alias)}" if node.table_alias is not None else "")
    out.append(f"SELECT {', '.join(map(item_text, node.items))} FROM {table} MATCH_RECOGNIZE (")
    parts = clause_parts(node.clause)
    end = ")" + (f" AS {word_text(node.alias)}" if node.alias is not None else "")
    out += [f"  {part}" for part in parts]
    out[-1] += end
    if node.where is not None:
        out.append(f"WHERE {expr_text(node.where)}")
    return out


def clause_parts(node: syntax.Clause) -> list[str]:
    """The parts of the clause, each of which has a line of its own; what is the default is left out."""
    out = []
    if node.partition:
        out.append(f"PARTITION BY {', '.join(map(word_text, node.partition))}")
    if node.order:
        out.append(f"ORDER BY {', '.join(map(key_text, node.order))}")
    if node.measures:
        out.append(f"MEASURES {', '.join(f'{expr_text(m.expr)} AS {word_text(m.name)}' for m in node.measures)}")
    if node.rows != syntax.ONE:
        out.append(f"ALL ROWS PER MATCH{_ROWS[node.rows]}")
    if node.skip.to != "past":
        out.append(f"AFTER MATCH SKIP {skip_text(node.skip)}")
    inside = "" if node.pattern == syntax.Sequence(()) else pattern_text(node.pattern)
    within = "" if node.within is None else f" WITHIN {duration_text(node.within)}"
    out.append(f"PATTERN ({inside}){within}")
    if node.subsets:
        unions = [f"{variable_text(s.name.canonical)} = ({', '.join(variable_text(v.canonical) for v in s.variables)})"
                  for s in node.subsets]  # fmt: skip
        out.append(f"SUBSET {', '.join(unions)}")
    if node.defines:
        conditions = [f"{variable_text(d.variable.canonical)} AS {expr_text(d.condition)}" for d in node.defines]
        out.append(f"DEFINE {', '.join(conditions)}")
    return out


_ROWS = {syntax.ALL: "", syntax.OMIT: " OMIT EMPTY MATCHES", syntax.UNMATCHED: " WITH UNMATCHED ROWS"}


def item_text(item: syntax.Item) -> str:
    """An item of SELECT."""
    if item.expr is None:
        return "*" if item.qualifier is None else f"{word_text(item.qualifier)}.*"
    return expr_text(item.expr) + (f" AS {word_text(item.name)}" if item.name is not None else "")


def key_text(key: syntax.Order) -> str:
    """A column of ORDER BY; what is the default is left out."""
    default = key.nulls_first is None or key.nulls_first != key.descending
    nulls = "" if default else f" NULLS {'FIRST' if key.nulls_first else 'LAST'}"
    return f"{word_text(key.column)}{' DESC' * key.descending}{nulls}"


def skip_text(skip: syntax.Skip) -> str:
    """What stands behind AFTER MATCH SKIP."""
    if skip.variable is None:
        return "PAST LAST ROW" if skip.to == "past" else "TO NEXT ROW"
    return f"TO {skip.to.upper()} {variable_text(skip.variable.canonical)}"


# --- names ----------------------------------------------------------------------------------------------------------


def word_text(word: Word) -> str:
    """A name; in quotes if it was, or if it could be read as something else."""
    return quoted(word.text) if word.quoted or not _plain(word.text) else word.text


def variable_text(name: str) -> str:
    """A variable by its canonical name."""
    return name if _plain(name) and name == name.upper() else quoted(name)


def _plain(name: str) -> bool:
    return _IDENTIFIER.match(name) is not None and name.lower() not in QUOTED


def quoted(name: str) -> str:
    """A name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


# --- patterns -------------------------------------------------------------------------------------------------------


def pattern_text(node: Pattern) -> str:
    """The canonical text of a pattern."""
    return _pattern(node)[0]


def _pattern(node: Pattern) -> tuple[str, int]:
    """The text of a pattern and how tightly it holds together."""
    match node:
        case syntax.Variable():
            return variable_text(node.name), PRIMARY
        case syntax.Sequence(()):
            return "()", PRIMARY
        case syntax.Anchor():
            return "$" if node.end else "^", PRIMARY
        case syntax.Sequence():
            return " ".join(_inside(p, REPEATED) for p in node.parts), SEQUENCE
        case syntax.Alternation():
            return " | ".join(_inside(p, SEQUENCE) for p in node.parts), ALTERNATION
        case syntax.Permute():
            return f"PERMUTE({', '.join(map(pattern_text, node.parts))})", PRIMARY
        case syntax.Exclusion():
            return f"{{- {pattern_text(node.part)} -}}", PRIMARY
        case syntax.Repeat():
            return f"{_inside(node.part, PRIMARY)}{quantifier_text(node)}", REPEATED
    raise TypeError(f"not a pattern: {node!r}")


def quantifier_text(node: syntax.Repeat) -> str:
    """The quantifier of a repetition."""
    bounds = (node.low, node.high)
    if bounds in _QUANTIFIERS:
        text = _QUANTIFIERS[bounds]
    elif node.low == node.high:
        text = f"{{{node.low}}}"
    else:
        text = f"{{{node.low},{'' if node.high is None else node.high}}}"
    return text + "?" * (not node.greedy)


_QUANTIFIERS: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def _inside(node: Pattern, least: int) -> str:
    text, level = _pattern(node)
    return text if level >= least else f"({text})"


# --- expressions ----------------------------------------------------------------------------------------------------


def expr_text(node: Expr) -> str:
    """The canonical text of an expression.

    >>> from occurs.expr.tree import Ref
    >>> x = syntax.Column(Word("x"))
    >>> expr_text(Binary("and", Binary("!=", x, Literal("it's", Type.STRING)), IsNull(syntax.Navigation("prev", x))))
    "x <> 'it''s' AND PREV(x) IS NULL"
    """
    return _expr(node)[0]


def _expr(node: Expr) -> tuple[str, int]:
    """The text of a node and how tightly it holds together."""
    match node:
        case syntax.Column():
            name = word_text(node.name)
            return (name if node.qualifier is None else f"{word_text(node.qualifier)}.{name}"), ATOM
        case Binary():
            return _binary(node)
        case Unary(op="not"):
            return f"NOT {_tight(node.arg, NOT)}", NOT
        case Unary():
            inner = _tight(node.arg, UNARY)
            # `--` would begin a comment
            return (f"- {inner}" if inner.startswith("-") else f"-{inner}"), UNARY
        case syntax.Concat():
            return f"{_tight(node.left, CONCAT)} || {_tight(node.right, SUM)}", CONCAT
        case IsNull() | In() | Like() | syntax.Between() | syntax.DistinctFrom():
            return _test(node), COMPARISON
        case syntax.Case():
            whens = [f"WHEN {expr_text(c)} THEN {expr_text(v)}" for c, v in zip(node.parts[::2], node.parts[1::2])]
            last = [f"ELSE {expr_text(node.parts[-1])}"] if len(node.parts) % 2 else []
            return f"CASE {' '.join(whens + last)} END", ATOM
        case syntax.Cast():
            return f"CAST({expr_text(node.arg)} AS {TYPE_WORDS[node.type]})", ATOM
        case syntax.Navigation():
            offset = "" if node.offset is None else f", {expr_text(node.offset)}"
            return f"{_mode(node.mode)}{node.function.upper()}({expr_text(node.arg)}{offset})", ATOM
        case syntax.Aggregate():
            return f"{_mode(node.mode)}{node.function.upper()}({_arguments(node)})", ATOM
        case syntax.Classifier():
            inside = "" if node.variable is None else variable_text(node.variable.canonical)
            return f"CLASSIFIER({inside})", ATOM
        case syntax.MatchNumber():
            return "MATCH_NUMBER()", ATOM
        case Call():
            return f"{node.name.upper()}({', '.join(map(expr_text, node.args))})", ATOM
        case Param():
            return f":{node.name}", ATOM
        case DurationLiteral():
            return duration_text(node.value), ATOM
        case Literal():
            return _literal(node)
    raise TypeError(f"SQL has no expression like this: {node!r}")


def _binary(node: Binary) -> tuple[str, int]:
    level, op = _LEVELS[node.op], "<>" if node.op == "!=" else node.op.upper()
    left = _tight(node.left, level + 1 if level == COMPARISON else level)
    return f"{left} {op} {_tight(node.right, level + 1)}", level


def _test(node: IsNull | In | Like | syntax.Between | syntax.DistinctFrom) -> str:
    negated = "NOT " * node.negated
    if isinstance(node, syntax.DistinctFrom):
        return f"{_tight(node.left, CONCAT)} IS {negated}DISTINCT FROM {_tight(node.right, CONCAT)}"
    arg = _tight(node.arg, CONCAT)
    if isinstance(node, IsNull):
        return f"{arg} IS {negated}NULL"
    if isinstance(node, In):
        return f"{arg} {negated}IN ({', '.join(map(expr_text, node.items))})"
    if isinstance(node, Like):
        return f"{arg} {negated}LIKE {_tight(node.pattern, CONCAT)}"
    return f"{arg} {negated}BETWEEN {_tight(node.low, CONCAT)} AND {_tight(node.high, CONCAT)}"


def _mode(mode: str) -> str:
    return f"{mode.upper()} " if mode else ""


def _arguments(node: syntax.Aggregate) -> str:
    if not node.args:
        return "*" if node.of is None else f"{variable_text(node.of.canonical)}.*"
    return "DISTINCT " * node.distinct + ", ".join(map(expr_text, node.args))


def _tight(node: Expr, least: int) -> str:
    text, level = _expr(node)
    return text if level >= least else f"({text})"


def _literal(node: Literal) -> tuple[str, int]:
    value = node.value
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value], ATOM
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'", ATOM
    if node.type is Type.TIMESTAMP:
        return timestamp_text(int(value)), ATOM
    text = number_text(value)
    return text, UNARY if text.startswith("-") else ATOM


def timestamp_text(microseconds: int) -> str:
    """``TIMESTAMP '2024-01-05 09:00:00'``, in UTC."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    return f"TIMESTAMP '{at.replace(tzinfo=None).isoformat(' ')}'"


def duration_text(duration: Duration) -> str:
    """An interval in the largest unit in which it is a whole number; ticks as a bare number.

    >>> [duration_text(Duration(Fraction(n))) for n in (5_400_000_000, 86_400_000_000, 1500, 0)]
    ["INTERVAL '90' MINUTE", "INTERVAL '1' DAY", "INTERVAL '1500' MICROSECOND", "INTERVAL '0' SECOND"]
    >>> duration_text(Duration(Fraction(7), ticks=True))
    '7'
    """
    if duration.ticks:
        return _ticks_text(duration)
    amount = duration.amount
    for size, word in PRINTED if amount else ((1_000_000, "SECOND"),):
        if word != "WEEK" and (amount % size == 0 or size == 1):
            return f"INTERVAL '{_ticks_text(Duration(Fraction(amount, size), ticks=True))}' {word}"
    raise AssertionError(duration)
