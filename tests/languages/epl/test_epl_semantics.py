"""The reference semantics of EPL: by hand where it is small, its core against the core as a function, its laws."""

from __future__ import annotations

import ast
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from epl_core import Binding, in_order, rows_of, run

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr import tree
from occurs.expr.reference import OVERFLOW, Undecided, remainder
from occurs.expr.reference_functions import like
from occurs.languages.epl import syntax
from occurs.languages.epl.semantics import evaluate, evaluation_order, output_name, parents, timeouts
from occurs.languages.epl.semantics.calendar import next_instant, numbers
from occurs.languages.epl.semantics.expressions import Expressions, microseconds
from occurs.languages.epl.semantics.machine import named
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration
from occurs.model.types import Schema, Type
from occurs.testing.cases import KINDS


def atom(type_: str, tag: str, *conditions: tree.Expr, consume: int = 0) -> syntax.Filter:
    return syntax.Filter(syntax.Name(type_), syntax.Name(tag), conditions, consume)


def then(*steps: syntax.Pattern) -> syntax.Followed:
    return syntax.Followed(steps, (None,) * (len(steps) - 1))


def seconds(n: int) -> Duration:
    return Duration(Fraction(n * 1_000_000))


def every(p: syntax.Pattern) -> syntax.Every:
    return syntax.Every(p)


def query(pattern: syntax.Pattern) -> syntax.Query:
    return syntax.Query((syntax.Item(),), pattern, syntax.Name("Out"))


def stream(text: str) -> list[Occurrence]:
    """``A1 B1``: one row a second from 1 s, attribute ``n``."""
    words = text.split()
    return [Occurrence(w[0], 1000 * (i + 1), {"n": int(w[1:])}) for i, w in enumerate(words)]


S1 = "A1 B1 C1 B2 A2 D1 A3 B3 E1 A4 E2 B4"


def found(pattern: syntax.Pattern, rows: Sequence[Occurrence]) -> list[tuple[int, ...]]:
    out = evaluate([query(pattern)], {}, rows, kind=KINDS["ms"])
    return [tuple(c.attributes["n"] for c in e.constituents) for e in out]


A, B = atom("A", "a"), atom("B", "b")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (every(then(A, B)), [(1, 1), (2, 3), (4, 4)]),
        (then(every(A), B), [(1, 1), (2, 3), (3, 3), (4, 4)]),
        (then(A, every(B)), [(1, 1), (1, 2), (1, 3), (1, 4)]),
        (every(then(A, atom("A", "b"))), [(1, 2), (3, 4)]),
        (then(every(A), atom("A", "b")), [(1, 2), (2, 3), (3, 4)]),
        (then(every(A), atom("A", "b", consume=1)), [(1, 2), (3, 4)]),
        (syntax.Or((A, B)), [(1,)]),
        (every(syntax.And((A, B))), [(1, 1), (2, 2), (3, 3), (4, 4)]),
        (every(syntax.Repeat(A, 2)), [(1, 2), (3, 4)]),
    ],
)
def test_trees_built_by_hand(pattern: syntax.Pattern, expected: list[tuple[int, ...]]) -> None:
    assert found(pattern, stream(S1)) == expected


def test_labels_and_constituents() -> None:
    (out,) = evaluate([query(then(A, B))], {}, stream("A1 B1"), kind=KINDS["ms"])
    assert out.label == (1, None, (("a", None, ("row", 0)), ("b", None, ("row", 1))))
    assert [c.type for c in out.constituents] == ["A", "B"]
    assert out.attributes == {"a": {"n": 1}, "b": {"n": 1}}
    timer = every(syntax.Interval(seconds(2)))
    ticking = evaluate([query(timer)], {}, stream("A1 B1 B2 B3 B4"), kind=KINDS["ms"])
    assert [e.label for e in ticking] == [(1, 3000, ()), (1, 5000, ())]


def test_what_a_guard_has_ended() -> None:
    pattern = then(every(A), syntax.Within(then(B, atom("C", "c")), seconds(3)))
    ended = timeouts([query(pattern)], {}, stream("A1 B1 D1 A2 D2 D3 C1 D4"), kind=KINDS["ms"])
    assert [(t.time, sorted(t.binding)) for t in ended] == [(4000, ["a"]), (7000, ["a"])]
    assert [sorted(w) for t in ended for w in t.waiting] == [["a", "b"], ["a"]]


def test_a_duration_that_is_no_whole_number_of_ticks() -> None:
    for kind, problem in (("none", "missing-unit"), ("min", "bad-duration")):
        with pytest.raises(DefinitionProblem) as caught:
            evaluate([query(syntax.Interval(seconds(1)))], {}, stream("A1"), kind=KINDS[kind])
        assert caught.value.kind == problem


def test_input_is_cast_only_if_nothing_is_lost() -> None:
    schemas = {"A": Schema((("n", Type.FLOAT),))}
    (out,) = evaluate([query(A)], schemas, [Occurrence("A", 1, {"n": 3})], kind=KINDS["ms"])
    assert isinstance(out.attributes["a"]["n"], float)
    with pytest.raises(InputProblem) as caught:
        evaluate([query(A)], schemas, [Occurrence("A", 1, {"n": 2**53 + 1})], kind=KINDS["ms"])
    assert caught.value.kind == "bad-value"


def test_names_order_and_inheritance() -> None:
    assert output_name(query(A), 3) == "Out"
    unnamed = syntax.Query((syntax.Item(),), A)
    assert output_name(unnamed, 3) == "stmt_3"
    note = syntax.Annotation(syntax.Name("Name"), "N")
    assert output_name(syntax.Query((syntax.Item(),), A, annotations=(note,)), 3) == "N"
    assert evaluation_order([{"X"}, {"Y"}, {"A"}, {"A"}], ["C", "X", "X", "Y"]) == [2, 3, 1, 0]
    made = [
        syntax.CreateSchema(syntax.Name(n), (), tuple(map(syntax.Name, over)))
        for n, over in (("A", ""), ("B", "A"), ("C", "B"))
    ]
    assert parents(made) == {"A": {"A", "B", "C"}, "B": {"B", "C"}, "C": {"C"}}


def test_shares_nothing_with_the_engine() -> None:
    """Imports of the reference: trees, types, names of elements, time, errors, itself."""
    allowed = ("occurs.errors", "occurs.expr", "occurs.languages.epl", "occurs.languages.kit.reference",
               "occurs.model.elements", "occurs.model.occurrence", "occurs.model.time",
               "occurs.model.types")  # fmt: skip
    standard = {"__future__", "math", "re", "collections.abc", "dataclasses", "itertools", "typing", "datetime",
                "calendar", "zoneinfo", "abc", "fractions"}  # fmt: skip
    folder = Path(syntax.__file__).parent
    files = list((folder / "semantics").glob("*.py"))
    assert len(files) > 4
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {a.name for a in node.names} <= standard
            if isinstance(node, ast.ImportFrom):
                what = node.module or ""
                if what.startswith("occurs"):
                    names = {a.name for a in node.names}
                    assert what.startswith(allowed), what
                    assert what != "occurs.expr" or names == {"tree"}
                    assert what != "occurs.languages.epl" or names == {"syntax"}
                    assert not what.startswith("occurs.languages.epl.") or "semantics" in what
                else:
                    assert what in standard, what


# --- the core as a function -----------------------------------------------------------------------------------------


def random_pattern(rng: random.Random, depth: int, tags: list[str], seen: list[str]) -> syntax.Pattern:
    """A pattern of the core; filters compare with filters before them."""
    roll = rng.random()
    if depth == 0 or roll < 0.2:
        tag = f"t{len(tags)}"
        tags.append(tag)
        conditions: list[tree.Expr] = []
        if seen and rng.random() < 0.6:
            name, op = rng.choice((("k", "="), ("v", "<"), ("v", "!=")))
            conditions.append(tree.Binary(op, tree.Ref(None, name), tree.Ref(rng.choice(seen), name)))
        if rng.random() < 0.2:
            conditions.append(tree.Binary(">", tree.Ref(None, "v"), tree.Literal(1, Type.INT)))
        seen.append(tag)
        return atom(rng.choice("ABC"), tag, *conditions)
    if roll < 0.5:
        return every(random_pattern(rng, depth - 1, tags, seen))
    return then(*(random_pattern(rng, depth - 1, tags, seen) for _ in range(rng.choice((2, 2, 2, 3)))))


def random_rows(rng: random.Random) -> list[Occurrence]:
    rows = []
    for n in range(rng.randint(16, 22)):
        values = {"k": rng.choice("pq"), "v": rng.choice((None, 0, 1, 2, 3))}
        rows.append(Occurrence(rng.choice("ABC"), rng.randint(0, 12), values, sequence=n))
    return sorted(rows, key=lambda e: (e.time, e.sequence))


def test_the_nodes_are_the_core_as_a_function() -> None:
    """Thousands of random core patterns: equal matches, in equal order."""
    rng = random.Random(1)
    matched = cases = 0
    while cases < 3000:
        tags: list[str] = []
        pattern = random_pattern(rng, 3, tags, [])
        rows = random_rows(rng)
        if nested(pattern) > 1:
            continue
        cases += 1

        def accepts(p: syntax.Filter, n: int, b: Binding, rows: list[Occurrence] = rows) -> bool:
            return rows[n - 1].type == p.type.text and all(holds(c, rows, n, b) for c in p.conditions)

        wanted = [rows_of(m, tags) for _, m in in_order(run(pattern, 1, {}, len(rows), accepts)[0], tags)]
        out = evaluate([query(pattern)], {}, rows, kind=KINDS["ms"])
        assert [[1 + rows.index(c) for c in _plain(e.constituents)] for e in out] == wanted
        matched += bool(wanted)
    assert matched > 1500


def nested(p: syntax.Pattern) -> int:
    """How many ``every`` are inside one another at most."""
    return max((nested(c) for c in p.children), default=0) + isinstance(p, syntax.Every)


def holds(c: tree.Expr, rows: list[Occurrence], n: int, b: Binding) -> bool:
    """A comparison of attributes or numbers, told apart from the reference's own."""
    assert isinstance(c, tree.Binary)

    def side(e: tree.Expr) -> object:
        if isinstance(e, tree.Literal):
            return e.value
        assert isinstance(e, tree.Ref)
        return rows[(n if e.scope is None else b[e.scope]) - 1].attributes[e.name]

    x, y = side(c.left), side(c.right)
    if x is None or y is None:
        return False
    if c.op in ("=", "!="):
        return (x == y) == (c.op == "=")
    assert isinstance(x, int)
    assert isinstance(y, int)
    return x < y if c.op == "<" else x > y


def _plain(events: Sequence[Occurrence]) -> list[Occurrence]:
    return [Occurrence(e.type, e.time, e.attributes, e.sequence) for e in events]


def test_filters_without_tag_have_a_name_each() -> None:
    one = syntax.Filter(syntax.Name("A"))
    pattern, filters = named(then(one, every(one), B))
    assert [f.tag.text for f in filters if f.tag] == ["#0", "#1", "b"]
    assert pattern.children[1].children[0] == filters[1]


# --- expressions --------------------------------------------------------------------------------------------------


VALUES = {
    "i": (7, Type.INT),
    "f": (2.5, Type.FLOAT),
    "s": ("abc", Type.STRING),
    "n": (None, Type.INT),
    "big": (2**63 - 1, Type.INT),
    "at": (0, Type.TIMESTAMP),
    "m": (-7, Type.INT),
}


class Nowhere(Expressions):
    """A scope with one attribute of each sort."""

    kind = KINDS["ms"]

    def referred(self, ref: tree.Ref) -> object:
        return VALUES[ref.name][0]

    def type_of(self, ref: tree.Ref) -> Type | None:
        return VALUES[ref.name][1]


def ref(name: str) -> tree.Ref:
    return tree.Ref(None, name)


def lit(value: int | float | str | bool | None) -> tree.Literal:
    kinds = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT, str: Type.STRING}
    return tree.Literal(value, kinds.get(type(value), Type.NULL))


INT, F, S, N, BIG, M = (ref(n) for n in ("i", "f", "s", "n", "big", "m"))
TOO_MUCH = tree.Binary("+", BIG, lit(1))
TRUE, FALSE = lit(True), lit(False)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (tree.Binary("/", INT, lit(2)), 3.5),
        (tree.Binary("/", INT, lit(0)), None),
        (tree.Binary("%", M, lit(3)), -1),
        (tree.Binary("%", INT, lit(0)), None),
        (tree.Binary("+", INT, N), None),
        (tree.Binary("=", lit(2**53 + 1), lit(float(2**53))), False),
        (tree.Binary("!=", N, lit("p")), None),
        (tree.Binary("and", FALSE, tree.Binary("=", N, INT)), False),
        (tree.Binary("or", TRUE, tree.Binary("=", TOO_MUCH, INT)), True),
        (tree.Binary("or", FALSE, tree.Binary("=", TOO_MUCH, INT)), OVERFLOW),
        (tree.Binary("or", lit(None), tree.Binary("=", TOO_MUCH, INT)), Undecided(frozenset((True, None)))),
        (tree.Unary("not", tree.Binary("=", N, INT)), None),
        (TOO_MUCH, OVERFLOW),
        (tree.IsNull(N), True),
        (tree.IsNull(INT, negated=True), True),
        (tree.Call("coalesce", (N, INT)), 7),
        (tree.Call("abs", (M,)), 7),
        (tree.Call("abs", (lit(-(2**63)),)), OVERFLOW),
        (tree.Call("min", (INT, F)), 2.5),
        (tree.Call("max", (INT, F)), 7.0),
        (tree.Call("max", (INT, N)), None),
        (syntax.Between(INT, lit(9), lit(2)), True),
        (syntax.Between(INT, lit(9), lit(8), negated=True), True),
        (syntax.Between(INT, N, lit(2)), None),
        (syntax.InRange(INT, lit(1), lit(7)), True),
        (syntax.InRange(INT, lit(1), lit(7), (True, False)), False),
        (syntax.InRange(INT, lit(7), lit(9), (False, True)), False),
        (syntax.InRange(INT, N, lit(2)), False),
        (syntax.InRange(INT, lit(9), lit(2)), False),
        (tree.In(INT, (N, lit(7))), True),
        (tree.In(INT, (N, lit(8))), None),
        (tree.In(INT, (lit(8),), negated=True), True),
        (tree.Like(S, lit("a_%")), True),
        (tree.Like(S, lit("b%"), negated=True), True),
        (tree.Like(N, lit("b%")), None),
        (syntax.Concat(S, lit("d")), "abcd"),
        (syntax.Concat(S, N), None),
        (syntax.Case((tree.Binary("=", N, INT), lit(1), TRUE, lit(2))), 2),
        (syntax.Case((FALSE, lit(1))), None),
        (syntax.Case((FALSE, lit(1.5), lit(3))), 3.0),
        (syntax.Case((tree.Binary("=", TOO_MUCH, INT), lit(1), lit(2))), OVERFLOW),
        (tree.Binary(">=", lit("1970-01-01"), ref("at")), True),
        (tree.Binary("<", ref("at"), lit("1970-01-01T01:00:00+01:00")), False),
    ],
)
def test_expressions(expr: tree.Expr, expected: object) -> None:
    value = Nowhere().value(expr)
    assert (type(value), value) == (type(expected), expected)


def test_text_and_numbers() -> None:
    assert like("a%b", r"a\%b")
    assert not like("axb", r"a\%b")
    assert like("a\nb", "a_b")
    assert not like("ab", "a")
    assert remainder(float("inf"), 2) is None
    assert remainder(7.5, -2) == 1.5
    assert microseconds("1970-01-01T00:00:01") == 1_000_000


# --- calendar -----------------------------------------------------------------------------------------------------

ANY = syntax.Cron("any")


def number(n: int) -> syntax.Cron:
    return syntax.Cron("at", n)


def at(after: str, *fields: syntax.Cron, zone: str = "UTC") -> str:
    due = next_instant(syntax.At(fields), microseconds(after) // 1000, 1000, zone)
    assert due is not None
    return datetime.fromtimestamp(due / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def test_fields_of_a_calendar() -> None:
    assert numbers(syntax.Cron("step", 20), 0, 59) == {0, 20, 40}
    assert numbers(syntax.Cron("step", 2), 1, 5) == {2, 4}
    assert numbers(syntax.Cron("range", 3, 5), 0, 59) == {3, 4, 5}
    assert numbers(syntax.Cron("list", items=(number(9), syntax.Cron("range", 1, 2))), 0, 59) == {1, 2, 9}
    assert numbers(syntax.Cron("list", items=(number(9), ANY)), 0, 59) is None


def test_calendar() -> None:
    daily = (number(30), number(8), ANY, ANY, ANY)
    assert at("2024-05-01T08:00", *daily) == "2024-05-01 08:30:00"
    # strictly after, and not a tick later
    assert at("2024-05-01T08:30", *daily) == "2024-05-02 08:30:00"
    assert at("2024-05-01T08:29:59.999", *daily) == "2024-05-01 08:30:00"
    assert at("2023-03-01T00:00", number(0), number(0), number(29), number(2), ANY) == "2024-02-29 00:00:00"
    # 2024-05-05 is a Sunday; day of month or day of week
    assert at("2024-05-01T00:00", number(0), number(0), ANY, ANY, number(0)) == "2024-05-05 00:00:00"
    assert at("2024-05-01T00:00", number(0), number(0), number(3), ANY, number(0)) == "2024-05-03 00:00:00"
    assert at("2024-05-03T00:00", number(0), number(0), number(3), ANY, number(0)) == "2024-05-05 00:00:00"
    seconds_ = (ANY, ANY, ANY, ANY, ANY, syntax.Cron("step", 15))
    assert at("2024-05-01T00:00:31", *seconds_) == "2024-05-01 00:00:45"
    # 02:30 does not exist on the 31st of March in Berlin, and is there twice on the 27th of October
    night = (number(30), number(2), ANY, ANY, ANY)
    assert at("2024-03-31T00:00", *night, zone="Europe/Berlin") == "2024-04-01 00:30:00"
    assert at("2024-10-27T00:00", *night, zone="Europe/Berlin") == "2024-10-27 00:30:00"
    assert at("2024-10-27T00:30", *night, zone="Europe/Berlin") == "2024-10-27 01:30:00"
    assert next_instant(syntax.At((number(0), number(0), number(30), number(2), ANY)), 0, 1000, "UTC") is None
