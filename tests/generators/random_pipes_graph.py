"""Random graphs of pipes by the kind of their items: every processor, with inner ones inside."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction

from tests.generators.random_pipes_formulas import formula
from tests.generators.random_pipes_functions import ATTRIBUTES, KINDS, Functions, literal

from occurs.expr.tree import Binary, Call, Expr
from occurs.model.time import Duration
from occurs.operators.process import grouping, tree
from occurs.operators.process.tree import Attribute, EverySlice, Inner, Input, Node, Pipe, Processor


def node(processor: Processor, *inputs: Pipe) -> Pipe:
    """The first output of a new node."""
    return Node(processor, inputs).out()


class Graphs:
    """Makes pipes of a kind.

    ``inputs``: None in the program, whose sources are events; else the kinds of the placeholders of an inner processor.
    ``context``: the variables with their kinds.  ``known``: pipes that may be used again.
    """

    def __init__(
        self, rng: random.Random, inputs: tuple[str, ...] | None = None, context: Mapping[str, str] | None = None
    ) -> None:
        self.rng, self.inputs, self.context = rng, inputs, dict(context or {})
        self.known: dict[str, list[Pipe]] = {}

    # --- by kind ----------------------------------------------------------------------------------------------------

    def pipe(self, kind: str, depth: int) -> Pipe:
        """A pipe of this kind."""
        there = self.known.get(kind)
        if there and self.rng.random() < 0.2:
            return self.rng.choice(there)
        if depth <= 0:
            return self.source(kind)
        names = [n for n, kinds in MAKES.items() if kind in kinds]
        found = self.make(self.rng.choice(names), kind, depth)
        self.known.setdefault(kind, []).append(found)
        return found

    def made(self, name: str, depth: int) -> Pipe:
        """The output of a processor, of any kind that it can give."""
        return self.make(name, self.rng.choice(MAKES[name]), depth)

    def make(self, name: str, kind: str, depth: int) -> Pipe:
        run: Callable[[str, int], Pipe] = getattr(self, f"make_{name}")
        return run(kind, depth - 1)

    def source(self, kind: str) -> Pipe:
        """A pipe of this kind that is as near to the events as can be."""
        if self.inputs is None:
            types = self.rng.choice((("X0",), ("X0",), ("X1",), ("X0", "X1")))
            base, given = node(tree.Events(types)), "event"
        else:
            index = self.rng.randrange(len(self.inputs))
            base, given = node(tree.Placeholder(index)), self.inputs[index]
        if given == kind:
            return base
        return node(tree.Lift((self.functions(given).of(kind, 1 if given in (*ATTRIBUTES, "event") else 2),)), base)

    def functions(self, *inputs: str) -> Functions:
        return Functions(self.rng, inputs, self.context)

    def inner(self, given: str, kind: str, depth: int, **variables: str) -> Inner:
        """An inner processor of one input."""
        inside = Graphs(self.rng, (given,), {**self.context, **variables})
        return Inner(1, (inside.pipe(kind, self.rng.randint(0, min(depth, 1)) if self.rng.random() < 0.3 else 1),))

    def count(self, least: int = 1, most: int = 3) -> int:
        return self.rng.randint(least, most)

    def duration(self) -> Duration:
        return Duration(Fraction(1_000_000 * self.count(1, 4)))

    # --- 4.2 --------------------------------------------------------------------------------------------------------

    def make_lift(self, kind: str, depth: int) -> Pipe:
        kinds = [self.rng.choice(KINDS[:5]) for _ in range(self.count(1, 2))]
        functions = self.functions(*kinds)
        where = functions.of("bool", 1) if self.rng.random() < 0.15 else None
        return node(tree.Lift((functions.of(kind, 2),), where), *(self.pipe(k, depth) for k in kinds))

    def make_early(self, kind: str, depth: int) -> Pipe:
        kinds = [self.rng.choice(("bool", "int")) for _ in range(2)]
        function = self.functions(*kinds).of("bool", 2)
        if self.rng.random() < 0.5:
            kinds = ["bool", "bool"]
            op = self.rng.choice(("and", "or"))
            function = self.rng.choice((Binary(op, Input(0), Input(1)), Call("implies", (Input(0), Input(1)))))
        return node(tree.Lift((function,), early=True), *(self.pipe(k, depth) for k in kinds))

    def make_cumulate(self, kind: str, depth: int) -> Pipe:
        words = {
            "int": ("addition", "addition", "maximum", "minimum", "subtraction"),
            "number": ("addition", "maximum", "minimum", "subtraction"),
            "bool": ("conjunction", "disjunction"),
            "troolean": ("conjunction", "disjunction"),
        }
        if kind == "int" and self.rng.random() < 0.2:
            step = self.functions("int", "int").of("int", 1)
            return node(tree.Cumulate(Binary("mod", step, literal(7)), literal(1)), self.pipe("int", depth))
        return node(tree.Cumulate(self.rng.choice(words[kind])), self.pipe(kind, depth))

    def make_decimate(self, kind: str, depth: int) -> Pipe:
        return node(tree.Decimate(self.count(), self.rng.random() < 0.4), self.pipe(kind, depth))

    def make_freeze(self, kind: str, depth: int) -> Pipe:
        return node(tree.Freeze(), self.pipe(kind, depth))

    def make_trim(self, kind: str, depth: int) -> Pipe:
        return node(tree.Trim(self.count(0)), self.pipe(kind, depth))

    def make_filter(self, kind: str, depth: int) -> Pipe:
        return node(tree.Filter(), self.pipe(kind, depth), self.pipe("bool", depth))

    def make_window(self, kind: str, depth: int) -> Pipe:
        given = self.rng.choice((kind, "int"))
        return node(tree.Window(self.count(), self.inner(given, kind, depth)), self.pipe(given, depth))

    def make_time_window(self, kind: str, depth: int) -> Pipe:
        given = self.rng.choice((kind, "int"))
        return node(tree.Window(self.duration(), self.inner(given, kind, depth)), self.pipe(given, depth))

    def make_slice(self, kind: str, depth: int) -> Pipe:
        """What a function makes of the maps, the rows or the lists of a slicer."""
        inside = self.rng.choice(("int", "int", "bool"))
        form = self.rng.choice(("map", "each", "last"))
        made = self.slicer(form, inside, depth)
        if form == "each":
            value: Expr = tree.Attribute(Input(0), "value")
            return node(tree.Lift((value if inside == "int" else Call("if", (value, literal(1), literal(0))),)), made)
        values = Call("values", (Input(0),)) if form == "map" else Input(0)
        if inside == "int":
            return node(tree.Lift((Call("sum", (values,)),)), made)
        return node(tree.Lift((Call("if", (Call("all", (values,)), literal(1), Call("size", (Input(0),)))),)), made)

    def make_snapshot(self, kind: str, depth: int) -> Pipe:
        """The maps, the rows or the lists of a slicer as they are."""
        return self.slicer(self.rng.choice(("map", "each", "last")), self.rng.choice(KINDS[:4]), depth)

    def make_tuple(self, kind: str, depth: int) -> Pipe:
        """A tuple of several columns."""
        kinds = [self.rng.choice(KINDS[:4]) for _ in range(self.count(1, 3))]
        functions = self.functions(*kinds)
        names = ("p", "q", "r")[: self.count(1, 3)]
        parts = tuple(functions.of(self.rng.choice(KINDS), 1) for _ in names)
        return node(tree.Lift((tree.TupleOf(names, parts),)), *(self.pipe(k, depth) for k in kinds))

    def slicer(self, form: str, inside: str, depth: int) -> Pipe:
        given = self.rng.choice(("int", "text"))
        key, key_kind = self.key(given)
        inner = self.inner(given, inside, depth, slice=key_kind)
        until = self.functions(inside).of("bool", 1) if self.rng.random() < 0.3 else None
        exploded = self.rng.random() < 0.2
        if exploded:
            key = tree.ListOf((key, self.key(given, key_kind)[0]))
        return node(tree.Slice(key, inner, form, exploded, until), self.pipe(given, depth))

    def key(self, given: str, kind: str | None = None) -> tuple[Expr, str]:
        """The key of a slicer: ``#`` and null now and then."""
        functions = Functions(self.rng, (given,))
        kind = kind or self.rng.choice(("int", "text") if given == "text" else ("int",))
        found = functions.of(kind, 1)
        if kind == "int":
            found = Binary("mod", found, literal(3))
        if self.rng.random() < 0.3:
            found = Call("if", (functions.of("bool", 1), EverySlice(), found))
        return found, kind

    def make_formula(self, kind: str, depth: int) -> Pipe:
        return formula(self, kind == "troolean", depth)

    def make_machine(self, kind: str, depth: int) -> Pipe:
        kinds = [self.rng.choice(("int", "bool")) for _ in range(self.count(1, 2))]
        names = ["s", "t", "u"][: self.count(1, 3)]
        register = f"r{len(self.context)}"
        functions = Functions(self.rng, kinds, {**self.context, register: "int"})

        def transitions() -> tuple[tree.Transition, ...]:
            found = []
            for _ in range(self.count(1, 3)):
                guard = None if self.rng.random() < 0.15 else functions.of("bool", 1)
                new = Binary("mod", functions.of("int", 1), literal(50))
                sets = ((register, new),) if self.rng.random() < 0.5 else ()
                found.append(tree.Transition(guard, self.rng.choice(names), sets))
            return tuple(found)

        states = []
        for n in names:
            output = functions.of(kind, 1) if self.rng.random() < 0.85 else None
            final = len(names) > 1 and n != "s" and self.rng.random() < 0.15
            states.append(tree.State(n, output, () if final else transitions()))
        machine = tree.Machine("s", tuple(states), ((register, literal(self.count(0, 2))),))
        return node(machine, *(self.pipe(k, depth) for k in kinds))

    # --- 4.3 --------------------------------------------------------------------------------------------------------

    def make_first(self, kind: str, depth: int) -> Pipe:
        return node(tree.First(self.count(0, 5)), self.pipe(kind, depth))

    def make_last(self, kind: str, depth: int) -> Pipe:
        return node(tree.Last(), self.pipe(kind, depth))

    def make_every(self, kind: str, depth: int) -> Pipe:
        return node(tree.Every(self.duration()), self.pipe(kind, depth))

    def make_where(self, kind: str, depth: int) -> Pipe:
        return node(tree.Where(self.functions(kind).of("bool", 2)), self.pipe(kind, depth))

    def make_stop_when(self, kind: str, depth: int) -> Pipe:
        return node(tree.StopWhen(self.functions(kind).of("bool", 2)), self.pipe(kind, depth))

    def make_merge(self, kind: str, depth: int) -> Pipe:
        return node(tree.Merge(), *(self.pipe(kind, depth) for _ in range(self.count(1, 3))))

    def make_insert(self, kind: str, depth: int) -> Pipe:
        return node(tree.Insert(self.count(0, 2), self.functions().constant(kind)), self.pipe(kind, depth))

    def make_repeat(self, kind: str, depth: int) -> Pipe:
        return node(tree.Repeat(self.count(0, 2)), self.pipe(kind, depth))

    def make_repeat_by(self, kind: str, depth: int) -> Pipe:
        times = node(tree.Lift((Binary("mod", Input(0), literal(3)),)), self.pipe("int", depth))
        return node(tree.RepeatBy(), self.pipe(kind, depth), times)

    def make_pack(self, kind: str, depth: int) -> Pipe:
        return node(tree.Pack(), self.pipe("int", depth), self.pipe("bool", depth))

    def make_unpack(self, kind: str, depth: int) -> Pipe:
        return node(tree.Unpack(), self.pipe("list", depth))

    def make_each(self, kind: str, depth: int) -> Pipe:
        return node(tree.Each(self.inner("int", kind, depth)), self.pipe("list", depth))

    def make_reset(self, kind: str, depth: int) -> Pipe:
        given = self.rng.choice((kind, "int"))
        return node(tree.Reset(self.inner(given, kind, depth)), self.pipe(given, depth), self.pipe("bool", depth))

    def make_collect(self, kind: str, depth: int) -> Pipe:
        into = self.rng.choice(("list", "set", "bag"))
        made = node(tree.Collect(into), self.pipe("int", depth))
        return made if kind == "list" and into == "list" else self.of_collection(made, kind)

    def make_collect_map(self, kind: str, depth: int) -> Pipe:
        made = node(tree.CollectMap(), self.pipe(self.rng.choice(("int", "text")), depth), self.pipe("int", depth))
        return self.of_collection(node(tree.Lift((Call("values", (Input(0),)),)), made), kind)

    def of_collection(self, made: Pipe, kind: str) -> Pipe:
        """An int, or a list with one, that a function makes of a collection."""
        function: Expr = Call(self.rng.choice(("size", "sum")), (Input(0),))
        return node(tree.Lift((tree.ListOf((function,)) if kind == "list" else function,)), made)

    def make_predicates(self, kind: str, depth: int) -> Pipe:
        """What predicates over the domains d and e, or the size of one."""
        names = [literal(n) for n in self.rng.sample(("p", "p", "q", "none"), 2)]
        name = Call("if", (Binary(">", Input(0), literal(1)), *names))
        items = [self.pipe("int", depth), self.pipe(self.rng.choice(("int", "text")), depth)]
        # an argument is never null or blank: that would be one argument less
        first, second = Call("coalesce", (Input(0), literal(0))), Call("coalesce", (Input(1), literal(0)))
        rows = node(tree.Lift((tree.ListOf((name, first, Call("concat", (literal("a"), second)))),)), *items)
        made = node(tree.Predicates(self.rng.choice((("p(d, e)", "q(e, d)"), ("p(d, d)", "q(e, e)")))), rows)
        if kind == "int":
            return node(tree.Lift((Call("size", (Attribute(Input(0), self.rng.choice("depq")),)),)), made)
        wanted = [self.rng.choice((literal("_"), literal(self.count(-1)), literal("a1"))) for _ in range(self.count(1))]
        return node(tree.Lift((Call("holds", (Attribute(Input(0), self.rng.choice("pq")), *wanted)),)), made)

    def make_grouped(self, kind: str, depth: int) -> Pipe:
        """GROUP BY: an expression of one or two aggregates of the events of a key."""
        words = ("sum", "count", "minimum", "maximum") if kind == "int" else ("mean", "sum")
        argument = self.functions("event").of(kind, 1)
        first = Call(self.rng.choice(words), (argument,))
        row: Expr = first if self.rng.random() < 0.5 else Binary("+", first, Call("count", (Input(0),)))
        functions = [row]
        if self.rng.random() < 0.4:
            functions.append(Binary(self.rng.choice((">", "<")), Call("count", (Input(0),)), literal(2)))
        inner = Inner(1, (grouping.rows(functions, node(tree.Placeholder(0)), lambda p, inputs: node(p, *inputs)),))
        keys = self.rng.sample(("text", "bool"), self.count(1, 2))
        key = grouping.key_of([self.functions("event").of(k, 1) for k in keys])
        if self.inputs is not None:
            return self.pipe(kind, 0)
        events = node(tree.Events(self.rng.choice((("X0",), ("X0", "X1")))))
        return node(grouping.ROW, node(tree.Slice(key, inner, "each"), events))

    def make_moment(self, kind: str, depth: int) -> Pipe:
        return node(tree.Moment(self.count(1, 3)), self.pipe(self.rng.choice(("int", "number")), depth))

    def make_deviation(self, kind: str, depth: int) -> Pipe:
        return node(tree.Deviation(), self.pipe(self.rng.choice(("int", "number")), depth))

    def make_count(self, kind: str, depth: int) -> Pipe:
        return node(tree.Count(), self.pipe(self.rng.choice(KINDS), depth))

    # --- pipes.signal -----------------------------------------------------------------------------------------------

    def make_threshold(self, kind: str, depth: int) -> Pipe:
        return node(tree.Threshold(self.count(-1)), self.pipe(kind, depth))

    def make_smooth(self, kind: str, depth: int) -> Pipe:
        return node(tree.Smooth(self.count()), self.pipe(self.rng.choice(("int", "number")), depth))

    def make_peaks(self, kind: str, depth: int) -> Pipe:
        return node(tree.Peaks(self.count(1, 2)), self.pipe(kind, depth))

    def make_plateaus(self, kind: str, depth: int) -> Pipe:
        return node(tree.Plateaus(self.count(), self.rng.choice((0, 0, 0, 1))), self.pipe("int", depth))

    def make_dead_time(self, kind: str, depth: int) -> Pipe:
        return node(tree.DeadTime(self.count(0, 2)), self.pipe(kind, depth))

    def make_travel_rise(self, kind: str, depth: int) -> Pipe:
        return node(tree.TravelRise(self.count(2, 4), self.rng.choice((1, 0, 0.5))), self.pipe("int", depth))

    def make_persist(self, kind: str, depth: int) -> Pipe:
        return node(tree.Persist(self.count(0, 3)), self.pipe(self.rng.choice(("int", "number")), depth))

    def make_noise(self, kind: str, depth: int) -> Pipe:
        return node(tree.Noise(self.rng.choice((1, 2.5)), self.count(0, 9)), self.pipe("int", depth))


_ALL = KINDS
#: they give whatever they take
_SHAPES: tuple[str, ...] = (
    "decimate",
    "freeze",
    "trim",
    "filter",
    "first",
    "last",
    "every",
    "where",
    "stop_when",
    "merge",
    "insert",
)
_SHAPES += ("repeat", "repeat_by", "lift", "window", "time_window", "each", "reset", "machine")
_AMOUNTS = ("int", "number")

#: what each of them can give
MAKES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_SHAPES, _ALL),
    "early": ("bool",),
    "cumulate": ("int", "number", "bool", "troolean"),
    "slice": ("int",),
    **dict.fromkeys(("snapshot", "tuple"), ("raw",)),
    "formula": ("bool", "troolean"),
    "pack": ("list",),
    "unpack": ("int",),
    "collect": ("int", "list"),
    "collect_map": ("int", "list"),
    "predicates": ("int", "bool"),
    "grouped": ("int", "number"),
    "moment": ("number",),
    "deviation": ("number",),
    "count": ("int",),
    **dict.fromkeys(("threshold", "peaks", "dead_time"), _AMOUNTS),
    "smooth": ("number",),
    **dict.fromkeys(("plateaus", "travel_rise", "persist", "noise"), ("number",)),
}
