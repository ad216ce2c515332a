"""Beyond the paper: ``and``, ``or``, ``not``, ``timer:within`` as nets beside every and ``->`` (epl-and-nets.md 4A).

The paper's searches are independent of each other: a black transition takes the next row that fits, whenever.  Where a
search can be called off (by ``or``, ``and .. not``, ``within``) it matters which of two rows is looked at first.  So a
program with such operators is translated with a *gate*: every statement has a place Now with the number of the one row
on F that it is at; its black transitions take no other.  Rows are admitted one by one, when nothing else can fire:

- A search is a token ``(r, [events])`` on an Init place, as in the paper; with r the row's number plus one it never
  sees the row that began it (the snapshot rule).  Its black transition takes it, the row, and puts a report on End.
- ``or``, ``and`` and ``within`` give each of their instances a number, a token on Alive, and an element
  ``(number, 0, start, pNone)`` in the list of all searches below.  Those take the Alive token and give it back; whoever
  ends the instance takes it away for good: what is below can never fire again.  Tokens of dead searches stay behind.
- Reports go up through normal transitions of priority P_HN, so that all that a row does to one search is done before
  the next search hears of it.  Searches below ``not`` are more urgent than others, and where one row may complete two
  branches of ``or``, the older is the more urgent; patterns in which only the run tells which is older are refused.
- ``or`` passes a match of a branch on, with ``pNone`` for the events of the others; if the branch is over, so is it.
- ``p and q``: the matches of p are the Init tokens and the matches of q the numbered flow of a black transition, which
  so meets every pair once.  ``not``: a match of what is below it ends the ``and``.
- ``every`` begins again with each match and each end without match (tokens of the places False below it).
- ``within``: its end is a number on the flow Due; the black transition ``tick`` takes these numbers in their order, up
  to the time of the newest row, before that row is admitted; so every end has its own time, and comes before the rows
  of that time.  The place Time has the instant that all statements are at.

What has ended is told upwards only where somebody asks (below ``every``, ``and`` and so on); where the answer depends
on the number of searches that still wait (``((every a=A) where timer:within(1)) -> b=B`` below ``and``) or on which of
several branches was true, the pattern is refused.  ``every`` inside ``every`` is refused as in the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

from occurs.expr.tree import Binary, Expr, Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.nets.analysis import Kind, alternatives, branches, check, ends, order, slots, split
from occurs.languages.epl.nets.builder import Move, Sheet, number
from occurs.languages.epl.nets.core import Common, Core, Firing, alias, plus_one
from occurs.languages.epl.nets.terms import FALSE, Unsupported, holds
from occurs.languages.epl.nets.types import INT, NONE
from occurs.model.time import TimeKind
from occurs.nets.net import P_HN, P_MAX, P_NORMAL, Role
from occurs.nets.terms import Inject, ListTerm, Term, TupleTerm

#: priorities: searches below ``not``; what is derived once a row has been taken in by its statement; what is due, which
#: comes before rows; rows, which statements take one after the other
P_ABSENT, P_SELECT, P_TICK, P_ADMIT = 500, 3000, 4000, 5000
#: no event
ABSENT_TERM = TupleTerm((number(0), number(0), number(0), Inject(NONE, None)))


@dataclass(frozen=True)
class Mark:
    """The element of a list that says which instance a search belongs to, and its Alive place."""

    name: str
    alive: str


#: an element of a search's list: the event of a tag, or a mark
Slot = str | Mark


@dataclass(frozen=True)
class Around:
    """Where a pattern stands: the elements of the list that its searches begin with; is it below ``not``?"""

    prior: tuple[Slot, ...] = ()
    absent: bool = False


@dataclass
class Extended(Core):
    """Translates the pattern of one statement with all operators."""

    clocks: Clocks = field(kw_only=True)
    #: the number of the row that the statement is at
    now: str = field(init=False)

    def page(self, what: str, *shown: str) -> Sheet:
        return self.b.sheet(f"{self.prefix}_{what}", *shown)

    def private(self, sheet: Sheet, name: str, role: Role | None = Role.END) -> str:
        return self.b.place(f"{sheet.name}_{name}", self.end, role)

    def move(self, sheet: Sheet, name: str, priority: int = P_HN) -> Move:
        move = self.b.move(sheet, f"{sheet.name}_{name}", priority)
        move.loops(self.shared.control, number(0))
        return move

    def whole(self, name: str) -> Ref:
        return self.b.var(name, INT)

    def element(self, slot: Slot) -> Term:
        """An element of a list, whatever it is."""
        name = slot.name if isinstance(slot, Mark) else alias(slot)
        return self.b.var(f"{name}_e", self.shared.types.cf, ("element", name))

    def mark(self, mark: Mark) -> Term:
        """The element of an instance, taken apart."""
        start = self.b.var(f"{mark.name}_x", INT, ("mark", mark.name, "x"))
        return TupleTerm((self.id(mark), number(0), start, Inject(NONE, None)))

    def id(self, mark: Mark) -> Ref:
        return self.b.var(f"{mark.name}_n", INT, ("mark", mark.name, "n"))

    def token(self, r: Term, items: Sequence[Slot], apart: Mark | None = None) -> Term:
        """``(r, [..])``, with the element of instance ``apart`` taken apart."""
        return TupleTerm((r, ListTerm(tuple(self.mark(s) if s is apart else self.element(s) for s in items))))

    def alive(self, move: Move, mark: Mark, over: bool) -> None:
        """The instance must live; ``over``: it ends with this."""
        move.takes.append((mark.alive, self.id(mark)))
        if not over:
            move.gives.append((mark.alive, self.id(mark)))

    def next_row(self, move: Move) -> Term:
        """The number of the row behind the one that the statement is at."""
        m = self.whole("m")
        move.loops(self.now, m)
        return plus_one(m)

    def asked(self, conditions: Sequence[Expr]) -> list[str]:
        """The tags of other events that conditions speak of."""
        return list(dict.fromkeys(r.scope for c in conditions for r in c.walk() if isinstance(r, Ref) and r.scope))

    def bound(self, slot: Slot, known: Sequence[str], missing: Sequence[str]) -> Term:
        """An element of a list: taken apart if it is asked for."""
        if isinstance(slot, Mark):
            return self.mark(slot)
        if slot in missing:
            return ABSENT_TERM
        return self.vars.event(slot) if slot in known else self.element(slot)

    def note(
        self, move: Move, tag: str | None, items: Sequence[Slot], known: Sequence[str], missing: Sequence[str]
    ) -> None:
        """Keeps what a transition does."""
        numbers = []
        for t in (s for s in items if isinstance(s, str) and s not in missing):
            var = self.vars.number(t) if t == tag or t in known else self.element(t)
            assert isinstance(var, Ref)
            numbers.append((t, var.name))
        self.firings[move.name] = Firing(self.rank, tag, tuple(numbers), tag is None)

    # --- the statement -----------------------------------------------------------------------------------------------

    def statement(self) -> None:
        check(self.query)
        p = self.query.pattern
        self.order = order(p)
        self.root = syntax.Every(p) if self.query.query.simple else p
        self.optional = frozenset(slots(p)) - frozenset.intersection(*alternatives(p))
        self.now = self.b.place(f"{self.prefix}_Now", INT, Role.SEQ, [0])
        self.clocks.admit(self.prefix, self.now, self.rank)
        init = self.b.place(f"{self.prefix}_Init", self.end, Role.INIT, [(self.shared.first, ())])
        found = self.b.place(f"{self.prefix}_End", self.end, Role.END)
        self.search(self.root, init, found, None, Around())
        self.selects(found)

    # --- pieces ------------------------------------------------------------------------------------------------------

    def search(self, p: syntax.Pattern, init: str, end: str, false: str | None, around: Around) -> None:
        """Builds a pattern: from its Init to its End and, if somebody asks, its False place."""
        with self.b.of(self.rank, p.span):
            match p:
                case syntax.Filter():
                    self.event(p, init, end, around, None)
                case syntax.Every():
                    self.again(p, init, end, around)
                case syntax.Followed():
                    self.steps(p.operands, init, end, false, around)
                case syntax.Or():
                    self.either(p, init, end, false, around)
                case syntax.And():
                    self.both(p, init, end, false, around)
                case syntax.Within():
                    self.guarded(p, init, end, false, around)

    # --- operators ---------------------------------------------------------------------------------------------------

    def event(self, p: syntax.Filter, init: str, end: str, around: Around, restart: str | None) -> None:
        """``tag=Type(conditions)``; ``restart``: where it waits again.

        Where conditions speak of events that may not be there, there is a transition for each case.
        """
        assert p.tag is not None
        tag = p.tag.text
        sheet = self.page(alias(tag), init, self.shared.f, end)
        asked = [t for t in self.asked(p.conditions) if t in around.prior and t in self.optional]
        urgent = (P_ABSENT if around.absent else P_NORMAL) + self.order.level(tag)
        for missing in _subsets(asked):
            guard = [g for c in p.conditions for g in holds(c, self.vars.lookup(tag, frozenset(missing)))]
            if FALSE in guard:
                continue
            move = self.move(sheet, "t", urgent)
            move.guard = guard
            known = self.asked(p.conditions)
            before = tuple(self.bound(s, known, missing) for s in around.prior)
            own, n, r = self.vars.event(tag), self.vars.number(tag), self.whole("r")
            move.black = (init, self.shared.f, "r", n.name)
            move.loops(self.now, n)
            move.takes += [(init, TupleTerm((r, ListTerm(before)))), (self.shared.f, own)]
            for mark in around.prior:
                if isinstance(mark, Mark):
                    self.alive(move, mark, over=False)
            move.gives += [(self.shared.f, own), (end, TupleTerm((plus_one(n), ListTerm((*before, own)))))]
            if restart is not None:
                move.gives.append((restart, TupleTerm((plus_one(n), ListTerm(before)))))
            self.note(move, tag, [*around.prior, tag], known, missing)

    def again(self, p: syntax.Every, init: str, end: str, around: Around) -> None:
        """``every p``."""
        if isinstance(p.operand, syntax.Filter):
            with self.b.of(self.rank, p.operand.span):
                self.event(p.operand, init, end, around, init)
            return
        sheet = self.page("every", init, end)
        inner = self.private(sheet, "End1")
        self.search(p.operand, init, inner, init if ends(p.operand).fails else None, around)
        move, r = self.move(sheet, "t"), self.whole("r")
        items = (*around.prior, *slots(p.operand))
        move.takes.append((inner, self.token(r, items)))
        move.gives += [(end, self.token(r, items)), (init, self.token(r, around.prior))]

    def steps(
        self, operands: tuple[syntax.Pattern, ...], init: str, end: str, false: str | None, around: Around
    ) -> None:
        """``p -> q -> r`` is ``(p -> q) -> r``; false is what the one search of a step reports that ends so."""
        *before, last = operands
        if not before:
            self.search(last, init, end, false, around)
            return
        left = before[0] if len(before) == 1 else syntax.Followed(tuple(before), (None,) * (len(before) - 1))
        sheet = self.page("followed", init, end)
        end1 = self.private(sheet, "End1")
        sheet.shown.append(end1)
        self.steps(tuple(before), init, end1, false if ends(left).fails else None, around)
        inside = (*around.prior, *slots(left))
        lost = None
        if false is not None and ends(last).fails and ends(left).kind is Kind.ONCE:
            lost = self.private(sheet, "False2")
            move, r = self.move(sheet, "lost"), self.whole("r")
            move.takes.append((lost, self.token(r, inside)))
            move.gives.append((false, self.token(r, around.prior)))
        self.search(last, end1, end, lost, replace(around, prior=inside))

    def instance(self, what: str, init: str, end: str, around: Around) -> tuple[Sheet, Mark, Move]:
        """The page of an operator whose instances are numbered, and the transition that begins one."""
        sheet = self.page(what, init, end)
        alive = self.b.place(f"{sheet.name}_Alive", INT)
        mark = Mark(sheet.name, alive)
        start, r, i = self.move(sheet, "start"), self.whole("r"), self.id(mark)
        start.takes += [(init, self.token(r, around.prior)), (self.clocks.ids, i)]
        start.gives += [(self.clocks.ids, plus_one(i)), (alive, i)]
        return sheet, mark, start

    def begin(self, start: Move, place: str, mark: Mark, around: Around, time: Term) -> None:
        """An instance begins a search below it."""
        items = ListTerm((*map(self.element, around.prior), self.begun(mark, time)))
        start.gives.append((place, TupleTerm((self.whole("r"), items))))

    def begun(self, mark: Mark, time: Term) -> Term:
        return TupleTerm((self.id(mark), number(0), time, Inject(NONE, None)))

    def either(self, p: syntax.Or, init: str, end: str, false: str | None, around: Around) -> None:
        """``p or q``."""
        sheet, mark, start = self.instance("or", init, end, around)
        inside = replace(around, prior=(*around.prior, mark))
        r, every = self.whole("r"), slots(p)
        failed: list[str] = []
        for k, branch in enumerate(branches(p), 1):
            begin, report = self.private(sheet, f"Init{k}", Role.INIT), self.private(sheet, f"End{k}")
            self.begin(start, begin, mark, around, number(0))
            own = slots(branch)
            move = self.move(sheet, f"take{k}")
            move.takes.append((report, self.token(r, (*inside.prior, *own), mark)))
            self.alive(move, mark, over=ends(branch).kind is Kind.ONCE)
            items = [*map(self.element, around.prior), *(self.element(t) if t in own else ABSENT_TERM for t in every)]
            move.gives.append((end, TupleTerm((r, ListTerm(tuple(items))))))
            if false is not None and ends(p).fails:
                failed.append(self.private(sheet, f"False{k}"))
            self.search(branch, begin, report, failed[-1] if failed else None, inside)
        if failed:
            move = self.move(sheet, "fail")
            for k, place in enumerate(failed, 1):
                move.takes.append((place, self.token(self.whole(f"r{k}"), inside.prior, mark)))
            self.alive(move, mark, over=True)
            assert false is not None
            move.gives.append((false, self.token(self.next_row(move), around.prior)))

    def both(self, p: syntax.And, init: str, end: str, false: str | None, around: Around) -> None:
        """``p and q and not n``."""
        sheet, mark, start = self.instance("and", init, end, around)
        inside = replace(around, prior=(*around.prior, mark))
        positive, absent = split(p)
        over = ends(p).kind is Kind.ONCE
        reports: list[tuple[str, tuple[str, ...]]] = []
        for k, operand in enumerate(positive, 1):
            begin, report = self.private(sheet, f"Init{k}", Role.INIT), self.private(sheet, f"End{k}")
            self.begin(start, begin, mark, around, number(0))
            lost = self.private(sheet, f"False{k}") if ends(operand).fails else None
            self.search(operand, begin, report, lost, inside)
            if lost is not None:
                self.fail(sheet, f"lose{k}", lost, inside.prior, mark, false, around)
            reports.append((report, slots(operand)))
        left, bound = reports[0]
        if len(reports) == 1:
            move = self.move(sheet, "pass")
            move.takes.append((left, self.token(self.whole("r"), (*inside.prior, *bound), mark)))
            self.alive(move, mark, over)
            move.gives.append((end, self.token(self.whole("r"), (*around.prior, *bound))))
        else:
            cursor = self.private(sheet, "Pair1", Role.INIT)
            move = self.move(sheet, "first")
            move.takes.append((left, self.token(self.whole("r"), (*inside.prior, *bound))))
            move.gives.append((cursor, self.token(number(0), (*inside.prior, *bound))))
            for k, (right, more) in enumerate(reports[1:], 2):
                last = k == len(reports)
                target = end if last else self.private(sheet, f"Pair{k}", Role.INIT)
                self.pair(sheet, k, (cursor, bound), (right, more), target, mark, inside, around, last, over)
                cursor, bound = target, (*bound, *more)
        for k, operand in enumerate((n for n in absent if ends(n).kind is Kind.ONCE), 1):
            begin, report = self.private(sheet, f"InitNot{k}", Role.INIT), self.private(sheet, f"EndNot{k}")
            self.begin(start, begin, mark, around, number(0))
            self.search(operand, begin, report, None, replace(inside, absent=True))
            self.fail(sheet, f"kill{k}", report, (*inside.prior, *slots(operand)), mark, false, around)

    def pair(
        self,
        sheet: Sheet,
        k: int,
        left: tuple[str, tuple[str, ...]],
        right: tuple[str, tuple[str, ...]],
        target: str,
        mark: Mark,
        inside: Around,
        around: Around,
        last: bool,
        over: bool,
    ) -> None:
        """Every match of the operands before with every match of operand ``k``: the latter are numbered."""
        flow, count = self.private(sheet, f"Flow{k}", Role.F), self.b.place(f"{sheet.name}_Count{k}", INT, None, [1])
        r, c, q = self.whole("r"), self.whole("c_n"), self.whole("q")
        file = self.move(sheet, f"file{k}")
        items = (*inside.prior, *right[1])
        file.takes += [(right[0], self.token(r, items)), (count, c)]
        file.gives += [(flow, self.token(c, items)), (count, plus_one(c))]
        move = self.move(sheet, f"pair{k}")
        move.black = (left[0], flow, q.name, c.name)
        move.takes += [(left[0], self.token(q, (*inside.prior, *left[1]), mark)), (flow, self.token(c, items, mark))]
        self.alive(move, mark, over and last)
        move.gives += [
            (left[0], self.token(plus_one(c), (*inside.prior, *left[1]), mark)),
            (flow, self.token(c, items, mark)),
        ]
        if last:
            move.gives.append((target, self.token(self.next_row(move), (*around.prior, *left[1], *right[1]))))
        else:
            move.gives.append((target, self.token(number(0), (*inside.prior, *left[1], *right[1]), mark)))

    def fail(
        self, sheet: Sheet, name: str, place: str, items: Sequence[Slot], mark: Mark, false: str | None, around: Around
    ) -> None:
        """A report on ``place`` ends the instance without result."""
        move = self.move(sheet, name)
        move.takes.append((place, self.token(self.whole("r"), items, mark)))
        self.alive(move, mark, over=True)
        if false is not None:
            move.gives.append((false, self.token(self.next_row(move), around.prior)))

    def guarded(self, p: syntax.Within, init: str, end: str, false: str | None, around: Around) -> None:
        """``p where timer:within(d)``."""
        sheet, mark, start = self.instance("within", init, end, around)
        inside = replace(around, prior=(*around.prior, mark))
        begin, report = self.private(sheet, "Init1", Role.INIT), self.private(sheet, "End1")
        guard = self.private(sheet, "Until", None)
        t = self.whole("t")
        start.loops(self.clocks.time, t)
        due = Binary("+", t, number(self.clocks.ticks(p)))
        self.begin(start, begin, mark, around, t)
        start.gives += [
            (guard, TupleTerm((due, ListTerm((*map(self.element, around.prior), self.begun(mark, t)))))),
            (self.clocks.new, due),
        ]
        made = ends(p.operand)
        lost = self.private(sheet, "False1") if made.fails and false is not None else None
        self.search(p.operand, begin, report, lost, inside)
        if lost is not None:
            self.fail(sheet, "lose", lost, inside.prior, mark, false, around)
        items = slots(p.operand)
        move = self.move(sheet, "pass")
        move.takes.append((report, self.token(self.whole("r"), (*inside.prior, *items), mark)))
        self.alive(move, mark, over=made.kind is Kind.ONCE)
        move.gives.append((end, self.token(self.whole("r"), (*around.prior, *items))))
        late = self.move(sheet, "timeout")
        late.loops(self.clocks.time, t)
        late.takes.append((guard, self.token(t, inside.prior, mark)))
        self.alive(late, mark, over=True)
        if false is not None:
            late.gives.append((false, self.token(self.next_row(late), around.prior)))

    # --- select ------------------------------------------------------------------------------------------------------

    def selects(self, found: str) -> None:
        """A transition for every way in which a match may have its events, if what it derives depends on that."""
        where = self.query.where
        exprs = [o.expr for o in self.query.outputs if o.expr is not None]
        known = self.asked([*exprs, *([where] if where is not None else [])])
        known += [o.struct.tag for o in self.query.outputs if o.struct is not None]
        every = slots(self.root)
        never = frozenset(self.query.atoms) - frozenset(every)
        sheet = self.page("select", found, self.fp, self.shared.f)
        asked = [t for t in every if t in known and t in self.optional]
        ways = {frozenset(asked) - w for w in alternatives(self.root)}
        for missing in sorted(ways, key=sorted):
            absent = never | missing
            guard = list(holds(where, self.vars.lookup(None, absent))) if where is not None else []
            if FALSE in guard:
                continue
            move = self.move(sheet, "t", P_SELECT)
            move.guard = guard
            r, s, t = self.whole("r"), self.whole("s"), self.whole("t")
            items = tuple(self.bound(s, known, sorted(missing)) for s in every)
            move.takes += [(found, TupleTerm((r, ListTerm(items)))), (self.shared.seq, s)]
            move.loops(self.clocks.time, t)
            out = TupleTerm((s, number(self.made.code), t, self.payload(absent)))
            move.gives += [(self.shared.seq, plus_one(s)), (self.shared.f, out), (self.fp, out)]
            self.note(move, None, every, known, sorted(missing))


def _subsets(tags: Sequence[str]) -> list[tuple[str, ...]]:
    if len(tags) > 4:
        raise Unsupported("this refers to too many events that may be absent", None)
    return list(chain.from_iterable(combinations(tags, n) for n in range(len(tags) + 1)))


# --- the clock --------------------------------------------------------------------------------------------------------


@dataclass
class Clocks:
    """The places that all statements share: numbers for instances, the instant, new ends of ``within``."""

    shared: Common
    kind: TimeKind
    start: int
    timed: bool
    ids: str = field(init=False)
    time: str = field(init=False)
    new: str = field(init=False)

    def __post_init__(self) -> None:
        b = self.shared.builder
        self.sheet = b.sheet("Rows_and_time", self.shared.f)
        self.ids = b.place("Ids", INT, Role.SEQ, [1])
        self.time = b.place("Time", INT, Role.CLOCK, [self.start])
        self.new = b.place("DueNew", INT)
        b.shared |= {self.ids, self.time}
        if self.timed:
            b.shared.add(self.new)
            self._due(self.sheet)

    def ticks(self, p: syntax.Within) -> int:
        """The length of a guard.  Raises Unsupported if it is no number of ticks."""
        exact = self.kind.convert(p.duration)
        if exact is None or exact.denominator != 1 or exact <= 0:
            raise Unsupported("this duration needs the unit of the integer time column", p.span)
        return int(exact)

    def admit(self, prefix: str, now: str, rank: int) -> None:
        """The statement goes on to the next row of F; those that are evaluated earlier first."""
        b, shared = self.shared.builder, self.shared
        move = b.move(self.sheet, f"{prefix}_admit", P_ADMIT + rank)
        m, n, k, x, t = (b.var(v, INT) for v in ("m", "n", "k", "x", "t"))
        c = b.var("c", shared.types.cf.parts[3])
        move.loops(shared.control, number(0))
        move.takes.append((now, m))
        move.loops(shared.f, TupleTerm((n, k, x, c)))
        move.takes.append((self.time, t))
        move.guard = [Binary("=", n, plus_one(m))]
        move.gives += [(now, n), (self.time, x)]

    def _due(self, sheet: Sheet) -> None:
        """The flow of ends, each instant once, taken in their order as far as the newest row."""
        b, shared = self.shared.builder, self.shared
        due = b.place("Due", INT, Role.F)
        init = b.place("DueInit", INT, Role.INIT, [self.start])
        n, q, t, z = (b.var(v, INT) for v in ("n", "q", "t", "z"))
        merge = b.move(sheet, "due_known", P_MAX)
        merge.loops(shared.control, number(0))
        merge.takes.append((self.new, n))
        merge.loops(due, n)
        add = b.move(sheet, "due_new", P_HN)
        add.loops(shared.control, number(0))
        add.takes.append((self.new, n))
        add.gives.append((due, n))
        tick = b.move(sheet, "tick", P_TICK)
        tick.black = (init, due, "q", "n")
        tick.loops(shared.control, number(0))
        tick.takes.append((init, q))
        tick.loops(due, n)
        tick.loops(shared.clock, z)
        tick.takes.append((self.time, t))
        tick.gives += [(init, plus_one(n)), (self.time, n)]
        tick.guard = [Binary("<=", n, z)]
