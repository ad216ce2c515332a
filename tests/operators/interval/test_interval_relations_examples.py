"""Relations: the worked examples of phenesthe.md (section 7), when results come, keys apart, and what is kept."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from relation_histories import (
    INF,
    Formula,
    Leaf,
    Pooled,
    Row,
    Run,
    Tree,
    flat,
    random_cuts,
    random_leaf,
    random_tree,
    rows_of,
    told,
)

from occurs.languages.phenesthe.semantics.intervals import RELATIONS, RESULTS, contiguous, related, span
from occurs.operators.interval.phenomena import LongPhenomena
from occurs.operators.interval.signals import NEVER, OPEN, Instants, Intervals, Phenomena
from occurs.operators.interval.values import Values


def event(*times: int) -> Leaf:
    return Leaf("event", (), [((), t, t) for t in times])


def state(*rows: tuple[int, float]) -> Leaf:
    return Leaf("state", (), [((), s, e) for s, e in rows])


def dynamic(*rows: tuple[int, float]) -> Leaf:
    """Rows that are seen when they begin and given when they end."""
    found = [((), s, e) for s, e in rows]
    return Leaf("dynamic", (), found, 0, {r: r[2] for r in found}, {r: r[1] for r in found})


def of(variables: tuple[str, ...], sort: str, *rows: Row) -> Leaf:
    return Leaf(sort, variables, list(rows), 0, {r: r[2] for r in rows}, {r: r[1] for r in rows})


def found(formula: Formula, until: int, cuts: Sequence[int] = ()) -> list[Row]:
    run = Run(formula)
    signals = [run.call(f) for f in cuts] + [run.call(until, closing=True)]
    return sorted(r for s in signals for part in (s.closed, s.open) for r in rows_of(part))


def spans(formula: Formula, until: int = 100) -> list[tuple[int, float]]:
    """The same in one call and tick by tick."""
    whole = found(formula, until)
    assert found(formula, until, range(-1, until)) == whole
    return [(s, e) for _, s, e in whole]


def test_4_groups() -> None:
    p, q, r = state((1, 3)), state((5, 9)), state((4, 6))
    assert spans(Tree("contains", Tree("before", p, q), r)) == [(1, 9)]
    assert spans(Tree("before", p, Tree("contains", q, r))) == []


def test_5_contiguity() -> None:
    assert spans(Tree("before", dynamic((1, 2), (1, 3)), dynamic((5, 6)))) == [(1, 6)]
    assert spans(Tree("before", dynamic((1, 3), (2, 3)), dynamic((5, 6), (5, 8)))) == [(1, 6), (1, 8), (2, 6), (2, 8)]


P = ((1, 3), (11, 13), (21, 24), (31, 33), (44, 46), (51, 54), (61, 66))
Q = ((5, 7), (13, 15), (23, 26), (31, 36), (41, 46), (51, 54), (62, 64))
ELEVEN = {
    "before": [(1, 7), (11, 26), (21, 36), (31, 46), (44, 54), (51, 64)],
    "meets": [(11, 15)],
    "overlaps": [(21, 26)],
    "starts": [(31, 36)],
    "finishes": [(41, 46)],
    "equals": [(51, 54)],
    "contains": [(61, 66)],
}


@pytest.mark.parametrize("rel", ELEVEN)
@pytest.mark.parametrize("make", [state, dynamic])
def test_11_all_seven(rel: str, make: type) -> None:
    assert spans(Tree(rel, make(*P), make(*Q))) == ELEVEN[rel]


def test_12_instants() -> None:
    a, q = event(1, 10, 21, 32), state((3, 5), (10, 12), (20, 22), (30, 32))
    assert spans(Tree("before", a, q)) == [(1, 5), (10, 22), (21, 32)]
    assert spans(Tree("starts", a, q)) == [(10, 12)]
    assert spans(Tree("finishes", a, q)) == [(30, 32)]
    assert spans(Tree("contains", q, a)) == [(20, 22)]


@pytest.mark.parametrize(
    ("rel", "until", "s", "r", "expected"),
    [
        ("overlaps", 15, ((1, 12),), ((8, INF),), [(1, INF)]),
        ("overlaps", 30, ((1, 12), (30, INF)), ((8, 23),), [(1, 23)]),
        ("contains", 45, ((1, 12), (30, INF)), ((8, 23), (33, 35)), [(30, INF)]),
        ("before", 45, ((1, 12), (30, INF)), ((8, 23), (33, 35)), [(1, 35)]),
    ],
)
def test_14_open_states(rel: str, until: int, s: tuple, r: tuple, expected: list) -> None:
    assert spans(Tree(rel, state(*s), state(*r)), until) == expected


def test_15_contiguity_per_binding() -> None:
    moored = [((0, 0), 1, 5), ((0, 0), 22, 25), ((0, 1), 12, 15)]
    ends = of(("PortA", "Vessel"), "event", *[((p, v), e, e) for (v, p), _, e in moored])
    starts = of(("PortB", "Vessel"), "event", *[((p, v), s, s) for (v, p), s, _ in moored])
    underway = of(("Vessel",), "state", ((0,), 7, 10), ((0,), 18, 20))
    trip = Tree("before", ends, Tree("before", underway, starts))
    expected = [((0, 0, 0), 5, 22), ((0, 1, 0), 5, 12), ((1, 0, 0), 15, 22)]
    assert found(trip, 30) == expected
    assert found(trip, 30, range(30)) == expected


def test_20_inverses() -> None:
    p, q, c = state((1, 10)), state((3, 5)), event(14)
    assert spans(Tree("before", p, c)) == [(1, 14)]
    assert spans(Tree("contains", p, q)) == [(1, 10)]


@pytest.mark.parametrize("end", [INF, 40])
def test_23_held_back(end: float) -> None:
    x, z = dynamic((5, end), (10, 20)), dynamic((15, 25))
    o = Tree("overlaps", x, z)
    run, nested = Run(o), Run(Tree("before", event(2), o))
    assert [rows_of(run.call(f).closed) for f in (24, 25, 30)] == [[], [((), 10, 25)], []]
    assert [rows_of(nested.call(f).closed) for f in (24, 25, 30)] == [[], [], []]
    assert rows_of(nested.call(39).closed) == []
    assert rows_of(nested.call(40).closed) == ([] if end == INF else [((), 2, 25)])
    closed = rows_of(nested.call(41, closing=True).closed)
    assert closed == ([((), 2, 25)] if end == INF else [])


# --- what is certain before it has ended ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rel", "left", "right", "expected"),
    [
        ("overlaps", state((1, 12)), state((8, 23)), {12: [1], 22: [1], 23: []}),
        ("meets", state((1, 12)), state((12, 23)), {11: [], 12: [1], 22: [1], 23: []}),
        ("starts", state((1, 12)), state((1, 23)), {11: [], 12: [1], 22: [1], 23: []}),
        ("contains", state((1, 12)), state((3, 5), (7, 9)), {4: [], 5: [1], 11: [1], 12: []}),
        ("contains", state((1, 12)), event(5, 7), {4: [], 5: [1], 11: [1], 12: []}),
        ("before", state((1, 2), (3, 5)), state((7, 9)), {6: [], 7: [3], 8: [3], 9: []}),
        ("before", dynamic((1, 5), (3, 5)), dynamic((7, 9)), {6: [], 7: [1, 3], 8: [1, 3], 9: []}),
        ("finishes", state((3, 9)), state((1, 9)), {8: [], 9: []}),
    ],
)
def test_certain_open_rows(rel: str, left: Leaf, right: Leaf, expected: dict[int, list[int]]) -> None:
    run = Run(Tree(rel, left, right))
    for frontier in range(25):
        run.call(frontier)
        if frontier in expected:
            assert sorted(run.certain()) == [((), s, INF) for s in expected[frontier]]


# --- when -------------------------------------------------------------------------------------------------------------


def final(tree: Tree, frontier: int) -> set[Row]:
    """The closed results of two leaves that are final at a frontier, by phenesthe.md, section 5, and pair by pair."""
    call = Instants(NEVER, frontier, Values())
    known = []
    for leaf in (tree.left, tree.right):
        signal = leaf.signal(call)
        if leaf.sort == "event":
            rows = [r for r in leaf.rows if r[1] <= frontier - leaf.delay]
        else:
            rows = [r for part in (signal.closed, signal.open) for r in rows_of(part)]
        lags = signal.lags if isinstance(signal, Phenomena) else ()
        told_by = Phenomena(Intervals.empty(0), Intervals.empty(0), signal.complete, lags)
        known.append((Leaf(leaf.sort, leaf.variables, rows).answer(), told_by))
    (left, left_told), (right, right_told) = known
    out = set()
    for a in left:
        for b in right:
            mine, theirs = dict(zip(tree.left.variables, a)), dict(zip(tree.right.variables, b))
            if any(theirs.get(v, mine[v]) != mine[v] for v in mine):
                continue
            binding = tuple({**mine, **theirs}[v] for v in tree.variables)
            for x in left[a]:
                for y in right[b]:
                    i, j = span(x), span(y)
                    if j[1] == INF or (i[1] == INF and RESULTS[tree.rel] == "x"):
                        continue
                    if not RELATIONS[tree.rel](i, j, isinstance(x, int)):
                        continue
                    if tree.rel == "before" and not (
                        contiguous(i, j, left[a], right[b])
                        and told(right_told, tree.right.variables, (b, 0, 0))[0] >= j[0] - 1
                        and told(left_told, tree.left.variables, (a, 0, 0))[1] >= j[0] - 1
                    ):
                        continue
                    out.add((binding, *{"x": i, "y": j, "hull": (i[0], j[1])}[RESULTS[tree.rel]]))
    return out


@pytest.mark.parametrize("seed", range(50))
def test_results_come_as_soon_as_they_are_final(seed: int) -> None:
    rng = random.Random(seed)
    while True:
        tree = random_tree(rng, 1, ("A", "B"))
        if isinstance(tree.left, Leaf) and isinstance(tree.right, Leaf) and any(tree.answer().values()):
            break
    run, given = Run(tree), set()
    for frontier in range(40):
        given |= set(rows_of(run.call(frontier).closed))
        assert given == final(tree, frontier)


def test_a_binding_that_lags_delays_no_other() -> None:
    late: Row = ((1,), 1, 4)
    a = Leaf("dynamic", ("A",), [((0,), 1, 3), late], 0, {((0,), 1, 3): 3, late: 12}, {((0,), 1, 3): 1, late: INF})
    a.behind = [("A",)]
    run = Run(Tree("before", a, event(6)))
    came = [rows_of(run.call(f).closed) for f in range(14)]
    assert came[6] == [((0,), 1, 6)]
    assert came[12] == [((1,), 1, 6)]
    assert sum(map(len, came)) == 2


# --- near the limits of time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_near_the_limits(seed: int, last: bool) -> None:
    """The same history at the very beginning and at the very end of time."""
    rng = random.Random(seed)
    rel = rng.choice(list(RELATIONS))
    sides = [random_leaf(rng, "state", ("A",)) for _ in range(2)]
    ticks = [t for leaf in sides for _, s, e in leaf.rows for t in (s, e) if t != INF]
    by = OPEN - 1 - max(ticks) if last else NEVER - min(ticks)
    moved = [Leaf("state", ("A",), [(b, s + by, e if e == INF else int(e) + by) for b, s, e in x.rows]) for x in sides]
    cuts = [t + by for t in (6, 9, 12, 18) if min(ticks) < t < max(ticks)]
    expected = flat(Tree(rel, *sides).answer())
    out = {(b, s - by, e if e == INF else e - by) for b, s, e in found(Tree(rel, *moved), max(ticks) + by, cuts)}
    assert out == expected


# --- keys apart -------------------------------------------------------------------------------------------------------


def part(formula: Formula, value: int) -> Formula:
    """Only what is of one value of K, the first variable of all leaves."""
    if isinstance(formula, Tree):
        return Tree(formula.rel, part(formula.left, value), part(formula.right, value))
    if isinstance(formula, Leaf):
        rows = [r for r in formula.rows if r[0][formula.variables.index("K")] == value]
        return Leaf(formula.sort, formula.variables, rows, formula.delay, formula.given, formula.seen, formula.behind)
    return type(formula)(part(formula.operand, value), *list(vars(formula).values())[1:])


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(40))
def test_keys_apart(seed: int) -> None:
    rng = random.Random(seed)

    def leaf(sort: str) -> Leaf:
        made = random_leaf(rng, sort, tuple(v for v in "AK" if v == "K" or rng.random() < 0.5), values=3, most=16)
        made.behind = [tuple(sorted({*table, "K"})) for table in made.behind[:1]]
        return made

    def tree(depth: int) -> Formula:
        rel = rng.choice(list(RELATIONS))
        sides = [
            tree(depth - 1) if depth > 1 and rng.random() < 0.6 else leaf(rng.choice(("state", "dynamic", "dynamic")))
            for _ in range(2)
        ]
        return Tree(rel, *sides)

    whole = tree(2)
    cuts = random_cuts(rng, 24)
    runs = [Run(part(whole, k)) for k in range(3)]
    together = Run(whole)
    for frontier in cuts:
        apart = [r for run in runs for r in rows_of(run.call(frontier).closed)]
        assert sorted(rows_of(together.call(frontier).closed)) == sorted(apart)


# --- what is kept -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rel", RELATIONS)
@pytest.mark.parametrize("delays", [(0, 0), (3, 0), (0, 3)])
def test_state_is_small(rel: str, delays: tuple[int, int]) -> None:
    """Two states, one key, thousands of intervals: a few rows, however long it lasts."""
    rng = random.Random(7)
    sides = []
    for delay in delays:
        rows, at = [], 0
        while at < 6000:
            at += rng.randint(1, 4)
            rows.append(((), at, at + rng.randint(1, 6)))
            at = int(rows[-1][2])
        sides.append(Leaf("state", (), rows, delay))
    run, sizes = Run(Tree(rel, *sides)), []
    for frontier in range(0, 6000, 50):
        run.call(frontier)
        sizes.append(run.size())
    assert max(sizes) <= 12
    run.call(9000)
    assert run.size() == (2 if rel == "before" else 0)  # the last φ may be before a ψ that comes; and the last start


def test_contains_keeps_one_row_for_each_binding_inside() -> None:
    inside = of(("A", "K"), "event", *[((t % 3, 0), t, t) for t in range(2, 3000)])
    run = Run(Tree("contains", of(("K",), "state", ((0,), 1, 4000)), inside))
    for frontier in range(0, 4000, 100):
        assert not len(run.call(frontier).closed)
        assert run.size() <= 3
    assert sorted(rows_of(run.call(4000).closed)) == [((a, 0), 1, 4000) for a in range(3)]
    assert run.size() == 0


@pytest.mark.parametrize("seed", range(6))
def test_contains_where_many_are_inside_of_many(seed: int) -> None:
    rng = random.Random(seed)
    starts = [(s, s + rng.randint(20, 60)) for s in range(40)]
    x = of(("A",), "dynamic", *[((s % 2,), s, e) for s, e in starts])
    y = of(("A", "B"), "dynamic", *{((t % 2, rng.randrange(3)), t, t + rng.randint(1, 30)) for t in range(20, 90)})
    tree = Tree("contains", x, y)
    assert set(found(tree, 200)) == flat(tree.answer())
    assert len(found(tree, 200, range(0, 200, 25))) == len(flat(tree.answer()))


@pytest.mark.parametrize(("rel", "silent"), [("meets", 1), ("overlaps", 1), ("starts", 1), ("contains", 0)])
def test_rows_are_forgotten_when_the_other_side_is_known_to_be_silent(rel: str, silent: int) -> None:
    sides = [state((2, 6)), Leaf("state", (), [], 10)]
    run = Run(Tree(rel, *(sides if silent else sides[::-1])))
    sizes = []
    for frontier in (6, 15, 17):
        run.call(frontier)
        sizes.append(run.size())
    assert sizes == [1, int(rel == "meets"), 0]  # up to 5 the other side is known at 15


def test_before_forgets_what_a_silent_other_side_can_only_follow_later() -> None:
    run = Run(Tree("before", state((2, 6), (7, 8)), Leaf("state", (), [], 10)))
    sizes = []
    for frontier in (9, 17, 18):  # ψ is known up to -1, 7 and 8
        run.call(frontier)
        sizes.append(run.size())
    assert sizes == [2, 2, 1]


def test_before_keeps_the_last_of_each_binding() -> None:
    a = of(("A", "K"), "event", *[((t % 2, t % 5), t, t) for t in range(600)])
    b = of(("B", "K"), "state", *[((n % 3, n % 5), 10 * n, 10 * n + 5) for n in range(60)])
    run, given = Run(Tree("before", a, b)), []
    for frontier in range(0, 700, 10):
        given += rows_of(run.call(frontier).closed)
        assert run.size() <= 10 + 15 + 3
    assert set(given) == flat(Tree("before", a, b).answer())


def test_before_keeps_what_ended_before_an_open_row_until_it_closes() -> None:
    a, b = event(1, 3, 7, 9), state((0, 2), (5, 50))
    run = Run(Tree("before", a, b))
    kept = []
    for frontier in (4, 30, 49, 50, 51):
        signal = run.call(frontier)
        kept.append([table.columns["start"].tolist() for table in next(iter(run.states.values())).values()][:3])
    # the events; the ψ rows that are not decided; the last starts
    assert kept == [[[3], [], [0]], [[3, 9], [], [0]], [[3, 9], [], [0]], [[9], [], [5]], [[9], [], [5]]]
    assert told(signal, (), ((), 0, 0)) == (8, 51)


def test_before_forgets_starts_when_nothing_lags_any_more() -> None:
    rows: list[Row] = [((0,), 5, 6), ((0,), 8, 9), ((1,), 3, 20)]
    b = Leaf("dynamic", ("B",), rows, 0, {r: r[2] for r in rows}, dict.fromkeys(rows, INF), [()])
    run = Run(Tree("before", event(1), b))
    kept = []
    for frontier in (9, 19, 20):
        run.call(frontier)
        (state,) = run.states.values()
        kept.append((sorted(state["begun"].columns["start"].tolist()), state["right"].columns["start"].tolist()))
    assert kept == [([5, 8], [5, 8]), ([5, 8], [5, 8]), ([3, 8], [])]


# --- pooled and filtered ----------------------------------------------------------------------------------------------


def test_pooled_rows_are_given_once() -> None:
    rows: list[Row] = [((0, 0), 1, 5), ((0, 1), 1, 5), ((1, 1), 1, 5), ((0, 1), 2, INF), ((0, 0), 2, INF)]
    given = dict(zip(rows, (5, 9, 6, INF, INF)))
    leaf = Leaf("dynamic", ("A", "B"), rows, 0, given, {r: r[1] if r[2] == INF else INF for r in rows}, [("A", "B")])
    run = Run(Pooled(leaf, ("A",)))
    assert rows_of(run.call(5).closed) == [((0,), 1, 5)]
    assert run.size() == 1
    assert rows_of(run.call(6).closed) == [((1,), 1, 5)]
    assert run.size() == 1  # the one that may come a second time
    signal = run.call(9)
    assert rows_of(signal.closed) == []
    assert rows_of(signal.open) == [((0,), 2, INF)]
    assert run.size() == 0
    assert rows_of(run.call(10, closing=True).open) == [((0,), 2, INF)]


@pytest.mark.parametrize(
    ("op", "closed", "open"),
    [
        ("less", [(0, 3)], []),
        ("at_most", [(0, 3), (10, 14)], []),
        ("equal", [(10, 14)], []),
        ("at_least", [(10, 14), (20, 29)], [40]),
        ("greater", [(20, 29)], [40]),
    ],
)
def test_17_filter(op: str, closed: list, open: list) -> None:
    rows = Intervals((), np.array([0, 10, 20]), np.array([3, 14, 29]))
    still = Intervals((), np.array([40]), np.array([OPEN]))
    node = LongPhenomena((), op, 4)
    signal = Phenomena(rows, still, OPEN)
    _, out = node.advance({}, (signal,), Instants(0, 50, Values(), True))
    assert [(s, e) for _, s, e in rows_of(out.closed)] == closed
    assert out.open.start.tolist() == open
    for now, certain in ((42, []), (43, open if op == "at_least" else []), (44, open)):
        _, out = node.advance({}, (Phenomena(rows, still, now),), Instants(0, now, Values()))
        assert out.open.start.tolist() == certain
        expected = now if certain or (op in ("less", "at_most", "equal") and now >= 44) else 39
        assert told(out, (), ((), 0, 0)) == (expected if op != "less" or now < 43 else now, now)


def test_lengths_near_the_limits() -> None:
    rows = Intervals((), np.array([NEVER + 1, -5]), np.array([OPEN - 1, 5]))
    node = LongPhenomena((), "greater", 10)
    _, out = node.advance({}, (Phenomena(rows, Intervals.empty(0), 7),), Instants(0, 7, Values()))
    assert rows_of(out.closed) == [((), NEVER + 1, OPEN - 1)]


def test_related_is_what_the_reference_says() -> None:
    """The example of phenesthe.md, section 7, number 11, through the reference, so that both are the same relations."""
    for rel, expected in ELEVEN.items():
        assert related(rel, set(P), set(Q)) == set(expected)
