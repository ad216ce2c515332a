"""The compositional translation of the core into nets with black transitions (epl-and-nets.md, section 4B).

``a=T(c)`` is a black transition between the places Init, Exit and End; ``every`` has no transition of its own, whatever
ends the search below it begins it again; ``->`` takes the End place of its left side for the Init place of its right
side, and a normal transition ends it when both sides have ended.

Two readings of the paper (epl-and-nets.md, 6): the Exit token of ``->`` has the list that its search began with (E1),
and tokens of different searches are not paired (E2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from occurs.expr.tree import Binary, Call, Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import ResolvedQuery
from occurs.languages.epl.nets.builder import Builder, Move, Sheet, Token, number
from occurs.languages.epl.nets.terms import Lookup, Unsupported, holds, value
from occurs.languages.epl.nets.types import INT, EventType, Types
from occurs.model.types import Type
from occurs.nets.colours import Colour, Value
from occurs.nets.net import P_HN, P_MIN, Role
from occurs.nets.terms import Inject, ListTerm, RecordTerm, Term, TupleTerm


@dataclass
class Common:
    """What all statements of a net share: its types, and the names of the places that are fused over all pages."""

    builder: Builder
    types: Types
    input: str
    f: str
    seq: str
    control: str
    clock: str
    first: int


def common(builder: Builder, types: Types, first: int, tokens: Sequence[Value], start: int) -> Common:
    """The places of all statements.  ``tokens``: the rows; ``start``: what the clock shows before the first."""
    place, cf = builder.place, types.cf
    made = Common(
        builder,
        types,
        place("Input", cf, Role.INPUT, tokens),
        place("F", cf, Role.F),
        place("SeqInput", INT, Role.SEQ, [1]),
        place("Control", INT, Role.CONTROL, [0]),
        place("Clock", INT, Role.CLOCK, [start]),
        first,
    )
    builder.shared |= {made.input, made.f, made.seq, made.control, made.clock}
    return made


def plus_one(term: Term) -> Term:
    return Binary("+", term, number(1))


def input_flow(shared: Common) -> Sheet:
    """Page 1: rows enter the flow F one by one, when nothing else is left to do."""
    b, cf = shared.builder, shared.types.cf
    sheet = b.sheet("Input_event_flow")
    init = b.place("InputInit", INT, Role.INIT, [shared.first])
    i, k, x, s, z = (b.var(n, INT) for n in "ikxsz")
    r, c = b.var("r", INT), b.var("c", cf.parts[3])
    move = b.move(sheet, "enter", P_MIN)
    move.black = (init, shared.input, "r", "i")
    move.loops(shared.control, number(0))
    move.takes += [(init, r), (shared.input, TupleTerm((i, k, x, c)))]
    move.takes += [(shared.seq, s), (shared.clock, z)]
    move.gives += [(shared.input, TupleTerm((i, k, x, c))), (init, plus_one(i))]
    move.gives += [(shared.f, TupleTerm((s, k, x, c))), (shared.seq, plus_one(s)), (shared.clock, x)]
    return sheet


@dataclass
class Variables:
    """The variables of one statement's events: those of tag ``a`` are ``a_f`` per attribute f, ``a_n`` and ``a_x``."""

    shared: Common
    query: ResolvedQuery

    def type(self, tag: str) -> EventType:
        return self.shared.types.events[self.query.atoms[tag].filter.type.text]

    def number(self, tag: str) -> Ref:
        return self._of(tag, "n", INT, "number")

    def time(self, tag: str) -> Ref:
        return self._of(tag, "x", INT, "time")

    def attribute(self, tag: str, name: str) -> Ref:
        return self._of(tag, name, self.type(tag).colour(name), "attribute")

    def _of(self, tag: str, name: str, colour: Colour, kind: str) -> Ref:
        return self.shared.builder.var(f"{alias(tag)}_{name}", colour, (kind, tag, name))

    def event(self, tag: str) -> Term:
        """``(a_n, code, a_x, pT({f=a_f, ..}))``."""
        known = self.type(tag)
        parts = tuple(self.attribute(tag, n) for n, _ in known.attributes)
        fields = None if known.record is None else RecordTerm(tuple(f for _, f in known.attributes), parts)
        return TupleTerm((self.number(tag), number(known.code), self.time(tag), Inject(known.constructor, fields)))

    def lookup(self, own: str | None, absent: frozenset[str] = frozenset()) -> Lookup:
        """References by their variables; bare names are of ``own``, ``absent`` tags have no event."""

        def find(ref: Ref) -> Term | None:
            tag = own if ref.scope is None else ref.scope
            assert tag is not None
            if tag in absent:
                return None
            if ref.name == "time":
                return self.time(tag)
            known = self.type(tag)
            if ref.name in known.nullable:
                raise Unsupported(f"`{known.name}.{ref.name}` may be null, which a token cannot hold", ref.span)
            return self.attribute(tag, ref.name)

        return find


def alias(tag: str) -> str:
    """A tag in the names of a net; events without one have a number."""
    return f"t{tag[1:]}" if tag.startswith("#") else tag


@dataclass
class Made:
    """What a pattern has become: the transitions that end it, with their Exit tokens, and those that give matches."""

    exits: list[tuple[Move, Token]] = field(default_factory=list)
    finals: list[Move] = field(default_factory=list)


@dataclass(frozen=True)
class Firing:
    """What a transition of a statement does: the place of the statement in the evaluation order, the tag whose event it
    takes (None: it derives from matches that are complete), and the numbers of all events bound by then, in the order
    of the pattern, as variables; an event that is not there has the number 0.

    ``final``: does it derive?
    """

    statement: int
    tag: str | None
    numbers: tuple[tuple[str, str], ...]
    final: bool = False


@dataclass
class Core:
    """Translates the pattern of one statement.  ``sink``: the Exit place below ``every`` gets no tokens."""

    shared: Common
    query: ResolvedQuery
    prefix: str
    sink: bool = False
    #: what the transitions do, by name
    firings: dict[str, Firing] = field(default_factory=dict)
    #: the place of the statement in the evaluation order
    rank: int = 0

    def __post_init__(self) -> None:
        self.b = self.shared.builder
        self.end = self.shared.types.end
        self.vars = Variables(self.shared, self.query)
        self.fp = self.b.place(f"{self.prefix}_Fp", self.shared.types.cf, Role.OUTPUT)

    def statement(self) -> None:
        """The whole statement, its select step included."""
        init = self.b.place(f"{self.prefix}_Init", self.end, Role.INIT, [(self.shared.first, ())])
        exit_ = self.b.place(f"{self.prefix}_Exit", self.end, Role.EXIT)
        end = self.b.place(f"{self.prefix}_End", self.end, Role.END)
        pattern = self.query.pattern
        made = self.pattern(syntax.Every(pattern) if self.query.query.simple else pattern, init, exit_, end, ())
        for move in made.finals:
            self.select(move)
            self.firings[move.name] = replace(self.firings[move.name], final=True)

    def pattern(self, p: syntax.Pattern, init: str, exit_: str, end: str, prior: tuple[str, ...]) -> Made:
        """``prior``: the tags that are bound before."""
        with self.b.of(self.rank, p.span):
            match p:
                case syntax.Filter():
                    return self.filter(p, init, exit_, end, prior)
                case syntax.Every():
                    return self.every(p, init, exit_, end, prior)
                case syntax.Followed():
                    return self.followed(p.operands, init, exit_, end, prior)
        raise AssertionError(p)

    def filter(self, p: syntax.Filter, init: str, exit_: str, end: str, prior: tuple[str, ...]) -> Made:
        assert p.tag is not None
        tag = p.tag.text
        sheet = self.b.sheet(f"{self.prefix}_{alias(tag)}", init, self.shared.f, exit_, end)
        move = self.b.move(sheet, f"{sheet.name}_t")
        r, before = self.b.var("r", INT), tuple(self.vars.event(t) for t in prior)
        own, n = self.vars.event(tag), self.vars.number(tag)
        move.guard = [g for c in p.conditions for g in holds(c, self.vars.lookup(tag))]
        move.black = (init, self.shared.f, "r", n.name)
        move.loops(self.shared.control, number(0))
        move.takes += [(init, TupleTerm((r, ListTerm(before)))), (self.shared.f, own)]
        leave: Token = (exit_, TupleTerm((plus_one(n), ListTerm(before))))
        move.gives += [(self.shared.f, own), leave, (end, TupleTerm((plus_one(n), ListTerm((*before, own)))))]
        bound = tuple((t, self.vars.number(t).name) for t in (*prior, tag))
        self.firings[move.name] = Firing(self.rank, tag, bound)
        return Made([(move, leave)], [move])

    def every(self, p: syntax.Every, init: str, exit_: str, end: str, prior: tuple[str, ...]) -> Made:
        sheet = self.b.sheet(f"{self.prefix}_every", init, self.shared.f, end, exit_, self.shared.control)
        inner = self.b.place(f"{sheet.name}_Exit", self.end, Role.EXIT)
        made = self.pattern(p.operand, init, inner, end, prior)
        for move, leave in made.exits:
            move.gives.append((init, leave[1]))
            if self.sink:
                move.gives.remove(leave)
        return Made([], made.finals)

    def followed(
        self, steps: tuple[syntax.Pattern, ...], init: str, exit_: str, end: str, prior: tuple[str, ...]
    ) -> Made:
        """``p -> q -> r`` is ``(p -> q) -> r``."""
        *before, last = steps
        if not before:
            return self.pattern(last, init, exit_, end, prior)
        sheet = self.b.sheet(f"{self.prefix}_followed", init, end)
        exit1 = self.b.place(f"{sheet.name}_Exit1", self.end, Role.EXIT)
        end1 = self.b.place(f"{sheet.name}_End1", self.end, Role.END)
        exit2 = self.b.place(f"{sheet.name}_Exit2", self.end, Role.EXIT)
        self.followed(tuple(before), init, exit1, end1, prior)
        bound = tuple(t for p in before for t in tags(p))
        right = self.pattern(last, end1, exit2, end, (*prior, *bound))
        sheet.shown.append(end1)
        move = self.b.move(sheet, f"{sheet.name}_t", P_HN)
        r1, r2 = self.b.var("r1", INT), self.b.var("r2", INT)
        l1, l2 = self.b.var("l1", self.shared.types.lists), self.b.var("l2", self.shared.types.lists)
        move.loops(self.shared.control, number(0))
        move.takes += [(exit1, TupleTerm((r1, l1))), (exit2, TupleTerm((r2, l2)))]
        move.guard = [Binary("=", l1, Call("list.take", (l2, Call("length", (l1,)))))]
        leave: Token = (exit_, TupleTerm((r2, l1)))
        move.gives.append(leave)
        return Made([(move, leave)], right.finals)

    def select(self, move: Move) -> None:
        """What a final transition derives goes to the flow of outputs F' and to F."""
        s = self.b.var("s", INT)
        last = next(t for t in reversed(tags(self.query.pattern)))
        out = TupleTerm((s, number(self.made.code), self.vars.time(last), self.payload(frozenset())))
        move.takes.append((self.shared.seq, s))
        move.gives += [(self.shared.seq, plus_one(s)), (self.shared.f, out), (self.fp, out)]

    @property
    def made(self) -> EventType:
        """The type that the statement derives."""
        return self.shared.types.events[self.query.name]

    def payload(self, absent: frozenset[str]) -> Term:
        """The columns of the derived event as a term; ``absent`` tags have no event.  Raises Unsupported."""
        known = self.made
        if known.record is None:
            return Inject(known.constructor, None)
        names = tuple(f for _, f in known.attributes)
        parts = tuple(self.column(name, k, absent) for k, (name, _) in enumerate(known.attributes))
        return Inject(known.constructor, RecordTerm(names, parts))

    def column(self, name: str, place: int, absent: frozenset[str]) -> Term:
        out, known = self.query.outputs[place], self.made
        term: Term | None
        if out.struct is not None:
            event = self.shared.types.events[out.struct.type]
            parts = tuple(self.vars.attribute(out.struct.tag, n) for n, _ in event.attributes)
            term = None if out.struct.tag in absent else RecordTerm(tuple(f for _, f in event.attributes), parts)
        else:
            assert out.expr is not None
            given = value(out.expr, self.vars.lookup(None, absent))
            if given.needs:
                text = f"`{name}` may be null (a division by zero), which a token cannot hold"
                raise Unsupported(text, getattr(out.expr, "span", None) or out.span)
            term = given.term
            mixed = out.type is not Type.FLOAT or any(isinstance(e, Call) for e in out.expr.walk())
            if term is not None and known.schema.get(name) is Type.FLOAT and mixed:
                term = Call("real", (term,))
        if name not in known.nullable:
            if term is None:
                raise Unsupported(f"`{name}` is null, which a token cannot hold", out.span)
            return term
        some, none = known.nullable[name]
        return Inject(none, None) if term is None else Inject(some, term)


def tags(p: syntax.Pattern) -> tuple[str, ...]:
    """The tags of a pattern, in its order."""
    if isinstance(p, syntax.Filter):
        assert p.tag is not None
        return (p.tag.text,)
    return tuple(t for c in p.children for t in tags(c))
