"""The worked examples of pipes.md, section 7, with the Python interface: by batch, by push and by pull."""

from __future__ import annotations

import pytest
from tests.textcases.pipes import alike, plain

from occurs import pipes
from occurs.languages.esql.semantics import Run
from occurs.model.occurrence import Occurrence
from occurs.operators.process.tree import Definition
from occurs.pipes import END, LEFT, MAYBE, NO, OUTPUT, RIGHT, YES, fn, ltl
from occurs.testing.cases import KINDS

T, F = True, False


def x0(type=int):
    return pipes.source("x0", type=type)


def plain_python(value):
    """A map of the interface as the comparison has it: pairs."""
    if isinstance(value, dict) and not set(value) <= {"m1", "m2", "sd", "key", "value", "p", "v", "n", "q"}:
        return list(value.items())
    return value


def by_push(pipe, values, ended):
    run = pipe.open()
    out = [v for value in values for v in run.push(value)]
    return out + (run.end() if ended else [])


def by_reference(pipe, values, ended):
    """What the reference semantics says: an item without columns is an event with one attribute of no name."""
    history = [
        Occurrence("x0", t, v if isinstance(v, dict) else {"": tuple(v) if isinstance(v, list) else v})
        for t, v in enumerate(values)
    ]
    found = Run([Definition("Out", pipe.graph)], history, kind=KINDS["none"], ended=ended)
    return [f.value for f in found.of(found.definitions[0])]


def same(pipe, values, expected, ended=False):
    """By the reference semantics, by batch, by push, and (closed) by pull."""
    found = by_reference(pipe, values, ended)
    assert alike([plain(v) for v in found], [plain_python(v) for v in expected]), found
    found = pipe.run({"x0": values}, ended=ended)
    assert alike(found, expected), found
    found = by_push(pipe, values, ended)
    assert alike(found, expected), found
    if ended:
        assert alike(list(pipe.pull(values)), expected)


def fig1_composed(x):
    return x + x.decimate(4)


def fig1_connected(x):
    f, plus, dec = pipes.Fork(2), pipes.Lift(fn.add), pipes.Decimate(4, name="dec")
    wiring = pipes.connect(x, f).connect(f, LEFT, plus, LEFT).connect(f, RIGHT, dec, pipes.INPUT)
    wiring.connect(dec, OUTPUT, plus, RIGHT)
    return plus.out(0)


@pytest.mark.parametrize("fig1", [fig1_composed, fig1_connected])
def test_1_figure_1(fig1):
    same(fig1(x0()), [7, 1, 2, 4, 3, 0, 5, 9, 6], [14, 4, 8])


def test_2_moments():
    x = x0()
    moments = pipes.select(
        {"m1": fn("$0"), "m2": fn("$1"), "sd": fn("$2")},
        from_=[pipes.stats.moment(x, 1), pipes.stats.moment(x, 2), pipes.stats.standard_deviation(x)],
    )
    rows = [(3, 9, 0), (4, 17, 1), (6, 44.666666666666664, 2.943920288775949), (6, 42.5, 2.5495097567963922)]
    same(moments, [3, 5, 10, 6], [dict(zip(("m1", "m2", "sd"), row)) for row in rows])


def test_2_the_mean_as_a_group():
    mean = pipes.box(lambda p: p.cumulate(fn.add) / p.constant(1).cumulate(fn.add))
    same(mean(x0()), [3, 5, 10, 6], [3, 4, 6, 6])


FAR = [5, 5, 6, 5, 4, 5, 5, 6, 4, 5, 9, 9, 5, 5, 4, 1, 0, 5]


def test_3_query_5():
    x = x0()
    far = (x - pipes.stats.mean(x)).abs() / pipes.stats.standard_deviation(x) > 2
    same(far, FAR, [i in (10, 11, 15, 16) for i in range(18)])
    same(far & far.trim(1), FAR, [i in (11, 16) for i in range(1, 18)])
    signed = (x - pipes.stats.mean(x)) / pipes.stats.standard_deviation(x) > 2
    same(signed & signed.trim(1), FAR, [i == 11 for i in range(1, 18)])


def test_4_accb():
    e = x0(str)
    kept = e.filter((e == "a") >> ltl.F(e == "b"))
    run = kept.open()
    assert [run.push(v) for v in "accbc"] == [[], [], [], ["a", "c", "c", "b"], ["c"]]
    same((e == "a") >> ltl.sometime(e == "b"), list("accbc"), ["?", "?", "?", "T", "T"])


def test_5_until():
    until = ltl.U(x0() < 3, x0() > 5)
    same(until, [1, 2, 6, 4, 0], [T, T, T, F])
    same(until.at_end("finite"), [1, 2, 6, 4, 0], [T, T, T, F, F], ended=True)
    same(until, [1, 2, 6, 4, 0], [T, T, T, F], ended=True)


def test_6_always_after():
    e = x0(str)
    same(ltl.always((e == "req") >> ltl.after(e == "ack")), ["req", "ack", "x", "req", "x", "ack"], list("????FF"))


def test_7_for_all():
    formula = ltl.forall("k", fn("$0"), x0("list<int>"), lambda p: ltl.F(fn.size(p) == pipes.var("k")))
    same(formula, [[2], [], [1, 1], [3], [0, 0, 0]], [T, T, T, T])


def test_8_every():
    formula = ltl.every("k", fn("$0"), x0("list<int>"), lambda p: ltl.sometime(fn.size(p) == pipes.var("k")))
    same(formula, [[2, 1], [5], [0, 0], []], list("?TTT"))


def test_9_windows():
    x = x0()
    same(x.window(3, lambda p: p.cumulate(fn.maximum)), [4, 6, 5, 7, 8], [6, 7, 8])
    rises = x.window(3, lambda p: fn.if_(p > p.insert(1, 99), 1, 0).cumulate(fn.add))
    same(rises, [4, 6, 5, 7, 8], [1, 1, 2])


def test_10_windows_of_time():
    read = pipes.source("Read", type=int)
    events = [(0, 1), (4, 2), (5, 4), (9, 8), (9, 16), (15, 32)]

    def pushed(pipe):
        run = pipe.open()
        return [v for time, value in events for v in run.push(value, time=time)]

    assert pushed(read.window("5 ticks", lambda p: p.cumulate(fn.add))) == [1, 3, 6, 12, 28, 32]
    assert pushed(read.every("5 ticks")) == [1, 4, 32]


OPS = [("ann", 5), ("bob", 1), (None, 9), ("ann", 2), ("*", 10), ("cat", 3)]


def test_11_slices():
    op = pipes.source("x0", type={"who": str, "n": int})
    key = fn("if(who = '*', #, who)")
    events = [dict(zip(("who", "n"), e)) for e in OPS]

    def total(p):
        return p.n.cumulate(fn.add)

    maps = [{"ann": 5}, {"ann": 5, "bob": 1}, {"ann": 5, "bob": 1}, {"ann": 7, "bob": 1}, {"ann": 17, "bob": 11}]
    same(op.slice(key, total), events, [*maps, {"ann": 17, "bob": 11, "cat": 3}])
    rows = [("ann", 5), ("bob", 1), ("ann", 7), ("ann", 17), ("bob", 11), ("cat", 3)]
    same(op.slice_each(key, total), events, [{"key": k, "value": v} for k, v in rows])
    same(op.slice_last(key, total), events, [[5], [1], [7], [17, 11], [3]])


def test_12_slices_that_end():
    sums = x0().slice(fn("$0 MOD 2"), lambda p: p.cumulate(fn.add), until=fn("$0 >= 6"))
    same(sums, [4, 1, 2, 6, 3, 3], [{0: 4}, {0: 4, 1: 1}, {0: 6, 1: 1}, {1: 1, 0: 6}, {1: 4}, {1: 7}])


def test_13_a_door():
    door = pipes.machine(
        x0(str),
        start="shut",
        registers={"open": 0},
        states={
            "shut": pipes.State("shut", [pipes.When(fn("$0 = 'o'"), "open", set={"open": fn("$open + 1")})]),
            "open": pipes.State(
                fn("concat('open ', $open)"),
                [pipes.When(fn("$0 = 'c' AND $open < 3"), "shut"), pipes.When(fn("$0 = 'c'"), "worn")],
            ),
            "worn": pipes.State("worn"),
        },
    )
    same(door, list("oxccocxocxo"), ["open 1", "shut", "open 2", "shut", "open 3", "worn"])
    run = door.open()
    assert [run.over for v in "oxccocxoc" if run.push(v) is not None] == [False] * 8 + [True]


def test_14_an_auction():
    items = {"item": str, "min": int, "days": int, "price": int}
    events = pipes.source("create", "bid", "endOfDay", type=items)

    def auction(p):
        day = {"day": fn("$day + 1")}
        return pipes.machine(
            p,
            start="fresh",
            registers={"last": 0, "max": 0, "day": 0},
            states={
                "fresh": pipes.State(
                    pipes.SILENT,
                    [
                        pipes.When(fn("type = 'create'"), "open", set={"last": fn("min"), "max": fn("days")}),
                        pipes.Otherwise("invalid"),
                    ],
                ),
                "open": pipes.State(
                    fn("$day"),
                    [
                        pipes.When(fn("type = 'bid' AND price > $last"), "open", set={"last": fn("price")}),
                        pipes.When(fn("type = 'endOfDay' AND $day + 1 < $max"), "open", set=day),
                        pipes.When(fn("type = 'endOfDay'"), "over"),
                        pipes.Otherwise("invalid"),
                    ],
                ),
                "invalid": pipes.State(None),
                "over": pipes.State(None),
            },
        )

    days = events.slice(fn("if(type = 'endOfDay', #, item)"), auction)
    average = fn.mean(fn.values(days))
    history = [
        ("endOfDay", {}),
        ("create", {"item": "vase", "min": 10, "days": 2}),
        ("bid", {"item": "vase", "price": 12}),
        ("endOfDay", {}),
        ("create", {"item": "ring", "min": 50, "days": 3}),
        ("bid", {"item": "ring", "price": 50}),
        ("create", {"item": "lamp", "min": 1, "days": 9}),
        ("endOfDay", {}),
        ("endOfDay", {}),
    ]

    def pushed(pipe):
        run = pipe.open()
        return [v for t, (type_, item) in enumerate(history) for v in run.push(item, to=type_, time=t)]

    vase, ring = {"vase": 1}, {"vase": 1, "ring": None}
    maps = [{}, {"vase": 0}, {"vase": 0}, vase, {**vase, "ring": 0}, ring, {**ring, "lamp": 0}]
    assert pushed(days) == [*maps, *({"vase": None, "ring": None, "lamp": n} for n in (1, 2))]
    assert pushed(average) == [None, 0, 0, 1, 0.5, 1, 0.5, 1, 2]


def snapshot(x):
    return "".join(
        f"<character><id>{i}</id><status>{s}</status><position><x>{at}</x></position></character>"
        for i, s, at in [(1, "WALKER", x), (2, "BLOCKER", 30)]
    ).join(("<g>", "</g>"))


def test_15_turn_around():
    doc = x0(str).xml()

    def distance(p):
        one, other = (fn(f'xpath_number($0, "//character[id=${v}]/position/x")')(p) for v in ("p1", "p2"))
        return (one - other).abs()

    def turns(p):
        return (distance(p) < 6) >> (distance(p) < distance(p).trim(3))

    walkers = fn("""xpath($0, "//character[status='WALKER']/id/text()")""")
    blockers = fn("""xpath($0, "//character[status='BLOCKER']/id/text()")""")
    inner = ltl.forall("p1", walkers, doc, lambda p: ltl.forall("p2", blockers, p, turns))
    history = [snapshot(x) for x in (20, 26, 28, 29, 29, 24, 20, 16)]
    same(inner, history, [T, F, T, T, T])
    verdict = ltl.always(ltl.every("p1", walkers, doc, lambda p: ltl.every("p2", blockers, p, turns)))
    same(verdict, history, list("????FFFF"))


def test_16_select():
    a, b = (pipes.source(n, type={"v": int}) for n in ("X0", "X1"))
    joined = pipes.select({"p": fn("a.v * b.v"), "v": fn("b.v")}, from_={"a": a, "b": b}, where=fn("a.v <> b.v"))
    found = joined.run({"X0": [{"v": v} for v in (1, 2, 3)], "X1": [{"v": v} for v in (4, 2)]}, ended=False)
    assert found == [{"p": 4, "v": 4}]


def test_17_counting_what_is_left():
    same(pipes.stats.count((x0() * 3).where(fn("$0 > 5"))), [1, 2, 3], [1, 2])


def test_18_early():
    x, y = (pipes.source(n, type=bool) for n in ("X0", "X1"))

    def pushed(pipe):
        run = pipe.open()
        history = [("X0", F), ("X0", T), ("X1", T), ("X1", T)]
        return [run.push(v, to=n, time=t) for t, (n, v) in enumerate(history)]

    assert pushed(pipes.lift(fn.and_, early=True)(x, y)) == [[F], [], [], [T]]
    assert pushed(x & y) == [[], [], [F], [T]]


def test_19_nulls():
    x = x0()
    same(x.cumulate(fn.add), [3, None, 7], [3, 3, 10])
    same(x.where(fn("$0 < 5")), [3, None, 7], [3])
    same((x < 5) | x.is_null(), [3, None, 7], [T, T, F])


def test_20_what_only_the_end_decides():
    x, values = x0(), [2, 3, 4, 5]
    for pipe, open_, ended in [
        (x.last(), [], [5]),
        (x.decimate(2, last=True), [2, 4], [2, 4, 5]),
        (x.pack(x > 3), [[2, 3], [4]], [[2, 3], [4], [5]]),
        (ltl.X(x > 3).at_end("null"), [F, T, T], [F, T, T, None]),
    ]:
        same(pipe, values, open_)
        same(pipe, values, ended, ended=True)


def test_21_merging():
    x = x0()
    same(pipes.merge(x.window(2, lambda p: p.cumulate(fn.add)), x), [1, 2, 3], [1, 3, 2, 5, 3])


def test_22_lists():
    x, values = x0("list<int>"), [[1, 2], [], [2, 2]]
    same(x.each(lambda p: p.cumulate(fn.add)), values, [3, 4])
    same(x.reset_by(fn.size(x) == 0, pipes.stats.count), values, [2])
    assert x.unpack().collect_set().run(values, ended=False) == [{1}, {1, 2}, {1, 2}, {1, 2}]


def test_23_json_and_csv():
    x, values = x0(str), ["n,q", '{"a":[1,5]}', "nut,3", "bolt,x", '{"b":2}']
    json = x.where(fn("starts_with($0, '{')")).json()
    same(fn("json_path($0, '$.a[1]')")(json), values, [5, None])
    lines = x.where(fn("NOT starts_with($0, '{')")).tuples()
    csv = pipes.select({"n": fn("n"), "q": fn("number(q)")}, from_=lines)
    same(csv, values, [{"n": "nut", "q": 3}, {"n": "bolt", "q": None}])


def test_24_pull():
    pipe = x0().decimate(3)
    it = pipe.pull([4, 5, 6, 7])
    found = [(it.has_next_soft(), it.next_soft()) for _ in range(5)]
    assert found == [(YES, 4), (MAYBE, MAYBE), (MAYBE, MAYBE), (YES, 7), (NO, END)]
    assert list(pipe.pull([4, 5, 6, 7])) == [4, 7]


def test_25_precedence_is_that_of_the_text():
    text = "NOT $0 > 1 AND $0 < 5 IMPLIES $0 = -2 ^ 2 + 1"
    same(fn(text)(x0()), [1, 2, -3], [F, T, T])
