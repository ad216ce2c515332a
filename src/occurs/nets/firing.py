"""Enabling and firing as the paper defines them (Definitions 4 to 6 and 8; epl-and-nets.md, section 4B).

This is the reference: every marking is searched anew.  :mod:`occurs.nets.simulate` and :mod:`occurs.nets.explore` give
the same answers at less cost.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem, OccursError, Problem, UsageProblem
from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.nets.colours import Value, members
from occurs.nets.evaluate import Binding, Compiled, compile_term
from occurs.nets.functional.tree import CHANCE, drawn, token_part
from occurs.nets.matching import Matcher, binds, compile_pattern, fits, needs
from occurs.nets.net import Arc, Marking, Net, Role, Transition
from occurs.nets.terms import variables
from occurs.nets.timing import Time, latest, ready, world

#: a transition's name and the values of its variables
Element = tuple[str, Binding]
#: picks one of the enabled binding elements (at least one)
Choose = Callable[[list[Element]], Element]


@dataclass
class Run:
    """The result of a run.

    Attributes:
        marking: The final marking.
        firings: The binding elements that fired, in order: a transition's name and the values of its variables.
    """

    marking: Marking
    firings: list[Element] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """The number of firings."""
        return len(self.firings)


# --- what is enabled --------------------------------------------------------------------------------------------


def enabled(net: Net, marking: Marking) -> list[Element]:
    """Return the enabled binding elements of the most urgent transitions that have any (Definitions 5 and 8).

    Args:
        net: The net.
        marking: The marking to test.

    Returns:
        Pairs of a transition's name and the values of its variables, in the order of the transitions in the net; those
        of one transition are ordered by Init token, number on F, and then the tokens of the other arcs.
    """
    found: list[Element] = []
    for priority in sorted({t.priority for t in net.transitions.values()}):
        for plan in plans(net):
            if plan.transition.priority == priority:
                with world(marking.time):
                    found += [(plan.transition.name, b) for b in bindings(plan, plan.pools(marking))]
        if found:
            break
    return found


def advanced(net: Net, marking: Marking) -> Marking | None:
    """The marking at the next time at which something is enabled, if nothing is now; None if nothing ever will be."""
    for time in later(net, ((h, marking.tokens[h]) for h in net.timed), marking.time):
        after = Marking(marking.tokens, time)
        if enabled(net, after):
            return after
    return None


def later(net: Net, tokens: Iterable[tuple[str, Mapping[Any, int]]], now: Time) -> list[Time]:
    """The times after ``now`` at which one of the tokens of timed colours becomes ready, in their order."""
    early: dict[str, set[Time]] = {h: {0} for h in net.timed}
    for plan in plans(net):
        for wanted in plan.wanted:
            if wanted.holder in early:
                early[wanted.holder].add(wanted.early)
    times = {token[1] - e for holder, held in tokens for token in held for e in early[holder]}
    return sorted(t for t in times if t > now)


def bindings(plan: Plan, pools: Sequence[Counter[Value]]) -> list[Binding]:
    """The bindings of one transition that its guard and tokens allow, whatever the other transitions, in order.

    ``pools``: what each of ``plan.takings`` may take.
    """
    if not all(pools[: len(plan.takings)]) or not all(g({}) is True for g in plan.always):
        return []
    found = list(_search(plan, pools, {}, []))
    if plan.free or plan.late:
        found = [(b, taken) for first, taken in found for b in _completed(plan, pools, first, taken)]
    if plan.transition.black is not None:
        found = _first_of_flow(plan.transition, found, plan.order[0])
    found.sort(key=lambda f: [f[1][k] for k in plan.order])
    return [b for b, _ in found]


def _search(
    plan: Plan, pools: Sequence[Counter[Value]], binding: Binding, taken: list[Value]
) -> Iterator[tuple[Binding, list[Value]]]:
    """All ways to take the tokens still missing: the binding, and the tokens in the order of ``takings``."""
    if len(taken) == len(plan.takings):
        yield binding, taken
        return
    taking = plan.takings[len(taken)]
    used = [v for v, t in zip(taken, plan.takings, strict=False) if t.holder == taking.holder]
    for value, count in pools[len(taken)].items():
        extended = dict(binding)
        if (
            count > used.count(value)
            and taking.matches(value, extended)
            and all(g(extended) is True for g in taking.guards)
        ):
            yield from _search(plan, pools, extended, [*taken, value])


def _completed(plan: Plan, pools: Sequence[Counter[Value]], binding: Binding, taken: list[Value]) -> Iterator[Binding]:
    """The bindings with values for the variables that no token binds, whose computed tokens are there too."""
    for extended in _freed(plan.free, binding):
        wanted: dict[str, Counter[Value]] = {}
        for value, taking in zip(taken, plan.takings, strict=True):
            wanted.setdefault(taking.holder, Counter())[value] += 1
        for late, pool in zip(plan.late, pools[len(plan.takings) :], strict=True):
            values = elements(late.term(extended), late.many)
            if values is None:
                break
            own = wanted.setdefault(late.holder, Counter())
            own.update(values)
            if any(own[v] > pool[v] for v in values):
                break
        else:
            yield extended


def _freed(free: Sequence[Free], binding: Binding) -> Iterator[Binding]:
    if not free:
        yield binding
        return
    first, *others = free
    for value in first.values(binding):
        extended = {**binding, first.name: value}
        if all(g(extended) is True for g in first.guards):
            yield from _freed(others, extended)


def elements(value: Any, many: bool) -> tuple[Any, ...] | None:
    """The tokens that a term stands for; None if it has no value."""
    if not many:
        return (value,)
    return None if value is None else tuple(value)


def _first_of_flow(
    transition: Transition, found: list[tuple[Binding, list[Value]]], init: int
) -> list[tuple[Binding, list[Value]]]:
    """Definition 8: r <= n, and for the same Init token (number ``init`` of those taken) no smaller such n."""
    black = transition.black
    assert black is not None
    least: dict[Value, Any] = {}
    found = [(b, taken) for b, taken in found if b[black.r] <= b[black.n]]  # type: ignore[operator]
    for b, taken in found:
        n = b[black.n]
        least[taken[init]] = min(n, least.get(taken[init], n))
    return [(b, taken) for b, taken in found if b[black.n] == least[taken[init]]]


# --- firing -----------------------------------------------------------------------------------------------------


def fire(net: Net, marking: Marking, element: Element) -> Marking:
    """The marking after an element has fired (Def. 6): M - E(p,t)<b> + E(t,p)<b>.

    UsageProblem if its tokens are not there, InputProblem if a token is not of its place's colour or two tokens of a
    flow have one number.
    """
    name, binding = element
    if name not in net.transitions:
        raise UsageProblem.of("unknown-name", f"the net {net.name} has no transition `{name}`")
    plan = plan_of(net, name)
    after = marking.copy()
    taken, given = changes(net, plan, binding, after.tokens, marking.time)
    for holder, token in taken:
        take(after.tokens[holder], token, net, name, holder)
    for arc, holder, token in given:
        put(after.tokens[holder], token, net, arc)
    return after


#: tokens with their holders, and with the arc that puts them
Changes = tuple[list[tuple[str, Value]], list[tuple[Arc, str, Value]]]


def changes(
    net: Net, plan: Plan, binding: Binding, tokens: Mapping[str, Mapping[Any, int]], now: Time, chance: Any = None
) -> Changes:
    """The tokens that a binding element takes and puts at the time ``now``.

    Args:
        net: The net.
        plan: The transition.
        binding: The values of its variables.
        tokens: The tokens of the holders before.
        now: The model time.
        chance: Where the values of random functions come from; None if there must be none.
    """
    taken: list[tuple[str, Value]] = []
    given: list[tuple[Arc, str, Value]] = []
    with world(now, chance):
        for t in plan.takes:
            for value in _values(net, plan, t.term, t.many, binding):
                taken.append((t.holder, value if t.holder not in net.timed else _timed(tokens, taken, t, value, now)))
        wait = 0 if plan.delay is None else _time(net, plan, plan.delay, binding)
        for p in plan.puts:
            values = _values(net, plan, p.term, p.many, binding)
            if p.holder in net.timed:
                at = now + wait + (0 if p.delay is None else _time(net, plan, p.delay, binding))
                values = tuple((v, at) for v in values)
            given += [(p.arc, p.holder, v) for v in values]
    return taken, given


def _timed(
    tokens: Mapping[str, Mapping[Any, int]], taken: list[tuple[str, Value]], t: Take, value: Value, now: Time
) -> Value:
    """The token of a timed colour that is taken."""
    left = Counter(dict(tokens[t.holder]))
    left.subtract(token for holder, token in taken if holder == t.holder)
    found = latest(left, value, now + t.early)
    return (value, now) if found is None else found


def _values(net: Net, plan: Plan, term: Compiled, many: bool, binding: Binding) -> tuple[Value, ...]:
    found = elements(_value(net, plan, term, binding), many)
    if found is None:
        message = f"{where(net, plan.transition.name)}: an inscription has no value for {binding}"
        raise InputProblem.of("bad-value", message)
    return found


def _time(net: Net, plan: Plan, term: Compiled, binding: Binding) -> Time:
    found = _value(net, plan, term, binding)
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        message = f"{where(net, plan.transition.name)}: the delay {found!r} is not a number from 0"
        raise InputProblem.of("bad-value", message, value=found)
    return found


def _value(net: Net, plan: Plan, term: Compiled, binding: Binding) -> Value:
    try:
        value: Value = term(binding)
    except KeyError as missing:
        message = f"`{missing.args[0]}` is not bound in {where(net, plan.transition.name)}"
        raise UsageProblem.of("unbound-variable", message) from None
    return value


def take(tokens: Counter[Value], value: Value, net: Net, transition: str, holder: str) -> None:
    """One token ``value`` less."""
    if tokens[value] < 1:
        message = f"{where(net, transition)} is not enabled: no token {value!r} on {where(net, holder)}"
        raise UsageProblem.of("not-enabled", message)
    tokens[value] -= 1
    if not tokens[value]:
        del tokens[value]


def put(tokens: Counter[Value], value: Value, net: Net, arc: Arc) -> None:
    """One token ``value`` more, if it may be there."""
    wrong = wrong_token(net, arc, value)
    if wrong is None and net.holder(arc.place) in flows(net):
        number = number_of(value)
        if any(number_of(v) == number for v in tokens):
            wrong = f"a token with the number {number} already exists"
    if wrong is not None:
        message = f"{where(net, arc.transition)} puts {value!r} on {where(net, arc.place)}: {wrong}"
        raise InputProblem.of("bad-value", message, value=value)
    tokens[value] += 1


def wrong_token(net: Net, arc: Arc, token: Any) -> str | None:
    """What is wrong with a token that an arc puts; None if its place can hold it."""
    colour = net.places[arc.place].colour
    return colour.check(token[0] if net.holder(arc.place) in net.timed else token)


def number_of(value: Value) -> Value:
    """The number of a token of an Init or F place: its first field, or the token itself."""
    return value[0] if isinstance(value, tuple) else value


def flows(net: Net) -> frozenset[str]:
    """The holders on which every number may stand once: places of role F and those black transitions search."""
    if "flows" not in net.memo:
        names = [p.name for p in net.places.values() if p.role is Role.F]
        names += [t.black.f for t in net.transitions.values() if t.black and t.black.f in net.places]
        net.memo["flows"] = frozenset(net.holder(p) for p in names)
    found: frozenset[str] = net.memo["flows"]
    return found


# --- runs -------------------------------------------------------------------------------------------------------


def first(elements: list[Element]) -> Element:
    """The deterministic choice."""
    return elements[0]


def uniform(rng: random.Random) -> Choose:
    """A choice in which every enabled binding element is equally likely."""
    return rng.choice


def run(net: Net, marking: Marking | None = None, choose: Choose = first, limit: int | None = None) -> Run:
    """Fires from ``marking`` (None: the initial one) until nothing is enabled, or ``limit`` times."""
    done = Run(net.initial if marking is None else marking)
    while limit is None or done.steps < limit:
        found = enabled(net, done.marking)
        if not found and net.timed and (after := advanced(net, done.marking)) is not None:
            done.marking = after
            found = enabled(net, after)
        if not found:
            break
        element = choose(found)
        done.marking = fire(net, done.marking, element)
        done.firings.append(element)
    return done


# --- transitions made ready to be fired -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Taking:
    """One token to be taken: from whose holder, what it has to look like, which conjuncts can be judged then.

    ``fits``: can the token be one whatever the others are?
    """

    holder: str
    fits: Callable[[Any], bool]
    matches: Matcher
    guards: tuple[Compiled, ...]
    early: Time = 0


@dataclass(frozen=True)
class Take:
    """A term that says what is taken: a token or (``many``) a multiset of them, ``early`` before their time."""

    holder: str
    term: Compiled
    many: bool = False
    early: Time = 0


@dataclass(frozen=True)
class Put:
    """A term that says what an arc puts, and after which delay."""

    arc: Arc
    holder: str
    term: Compiled
    many: bool = False
    delay: Compiled | None = None


@dataclass(frozen=True)
class Free:
    """A variable that no token binds: its values, and the conjuncts that can be judged then."""

    name: str
    values: Callable[[Binding], Iterable[Value]]
    guards: tuple[Compiled, ...]


@dataclass(frozen=True)
class Plan:
    """A transition made ready: its tokens in the order in which they are looked for.

    ``order``: the numbers of ``takings`` by which bindings are ordered: Init token, F token, then as the arcs are.
    ``always``: conjuncts without variables.  ``free``: variables of finite colours, or that the guard says.  ``late``:
    of ``takes``, what is computed once all variables have values.  ``chance``: the random function that it
    calls, ``clock``: does it ask for the model time?
    """

    transition: Transition
    takings: tuple[Taking, ...]
    order: tuple[int, ...]
    always: tuple[Compiled, ...]
    takes: tuple[Take, ...]
    puts: tuple[Put, ...]
    free: tuple[Free, ...] = ()
    late: tuple[Take, ...] = ()
    delay: Compiled | None = None
    chance: str | None = None
    clock: bool = False
    timed: frozenset[str] = frozenset()

    @property
    def wanted(self) -> list[Taking | Take]:
        """All of ``takings``, then of ``late``."""
        return [*self.takings, *self.late]

    def pools(self, marking: Marking) -> list[Counter[Value]]:
        """What each of ``wanted`` may take."""
        return [self.pool(t, marking.tokens[t.holder], marking.time) for t in self.wanted]

    def pool(self, taking: Taking | Take, tokens: Counter[Value], now: Time) -> Counter[Value]:
        """What ``taking`` may take of the tokens of its place."""
        return ready(tokens, now + taking.early) if taking.holder in self.timed else tokens


def plans(net: Net) -> tuple[Plan, ...]:
    """All transitions, ready, in the order of the net."""
    if "plans" not in net.memo:
        net.memo["plans"] = tuple(_plan(net, t) for t in net.transitions.values())
        net.memo["plan"] = {p.transition.name: p for p in net.memo["plans"]}
    found: tuple[Plan, ...] = net.memo["plans"]
    return found


def plan_of(net: Net, transition: str) -> Plan:
    plans(net)
    found: Plan = net.memo["plan"][transition]
    return found


def _plan(net: Net, transition: Transition) -> Plan:
    """Takes the arcs in an order in which every variable has its value where it is needed."""
    parts = [(arc, *token_part(term)) for arc in net.inputs[transition.name] for term in arc.terms]
    early = [_early(net, transition, delay) for *_, delay in parts]
    chosen, bound = list[int](), set[str]()
    left = [k for k, (_, _, many, _) in enumerate(parts) if not many]
    guards = list(transition.guard)
    takings: list[Taking] = []
    try:
        always = _judged(net, guards, bound)
        while left:
            fit = [k for k in left if needs(parts[k][1]) <= bound]
            if not fit:
                break
            k = min(fit, key=lambda k: _rank(net, parts[k][0], parts[k][1], bound))
            arc, term, _, _ = parts[k]
            left.remove(k)
            chosen.append(k)
            matches = compile_pattern(term, bound, net.colour_of)
            bound |= binds(term)
            judged = tuple(_judged(net, guards, bound))
            takings.append(Taking(net.holder(arc.place), fits(term), matches, judged, early[k]))
        takes = tuple(
            Take(net.holder(arc.place), compile_term(term, net.colour_of), many, early[k])
            for k, (arc, term, many, _) in enumerate(parts)
        )
        late = tuple(t for k, t in enumerate(takes) if k not in chosen)
        used = _used_later(net, transition, guards).union(
            *(variables(parts[k][1]) for k in range(len(parts)) if k not in chosen)
        )
        free = tuple(_free(net, transition, guards, bound, used))
        puts = tuple(
            Put(arc, net.holder(arc.place), compile_term(term, net.colour_of), many, _compiled(net, delay))
            for arc in net.outputs[transition.name]
            for term, many, delay in map(token_part, arc.terms)
        )
        delay = _compiled(net, transition.delay)
    except OccursError as problem:
        if problem.kind == "unbound-variable":
            raise
        message = f"{where(net, transition.name)}: {problem.message}"
        raise DefinitionProblem(Problem(problem.kind, message)) from None
    order = sorted(chosen, key=lambda k: (_primary(transition, parts[k][0]), k))
    terms = [t for arc in net.outputs[transition.name] for t in arc.terms] + [t for t in (transition.delay,) if t]
    chance = next((name for t in terms if (name := drawn(t, CHANCE)) is not None), None)
    asked = [*terms, *transition.guard, *(t for arc in net.inputs[transition.name] for t in arc.terms)]
    clock = any(drawn(t, frozenset({"time"})) is not None for t in asked)
    indexes = tuple(chosen.index(k) for k in order)
    return Plan(
        transition, tuple(takings), indexes, tuple(always), takes, puts, free, late, delay, chance, clock, net.timed
    )  # fmt: skip


def _compiled(net: Net, term: Expr | None) -> Compiled | None:
    return None if term is None else compile_term(term, net.colour_of)


def _early(net: Net, transition: Transition, delay: Expr | None) -> Time:
    """How much earlier than its time an arc may take a token: ``@+`` on the way to a transition."""
    if delay is None:
        return 0
    if variables(delay) or drawn(delay, CHANCE) is not None:
        message = f"{where(net, transition.name)}: the time (`@+`) at an arc to a transition must be a constant"
        raise DefinitionProblem(Problem("unsupported", message))
    found = compile_term(delay, net.colour_of)({})
    if isinstance(found, bool) or not isinstance(found, int | float):
        message = f"{where(net, transition.name)}: the time {found!r} at an arc is not a number"
        raise DefinitionProblem(Problem("bad-value", message))
    return found


def _free(net: Net, transition: Transition, guards: list[Expr], bound: set[str], used: set[str]) -> Iterator[Free]:
    """The variables that no token binds, in an order in which the guard can say what they are equal to."""
    missing = sorted(used - bound)
    while missing:
        for name in missing:
            values = _values_of(net, name, guards, bound)
            if values is not None:
                break
        else:
            raise _unbound(net, transition, set(missing))
        missing.remove(name)
        bound.add(name)
        yield Free(name, values, tuple(_judged(net, guards, bound)))


def _values_of(
    net: Net, name: str, guards: list[Expr], bound: set[str]
) -> Callable[[Binding], Iterable[Value]] | None:
    for guard in guards:
        term = equated(guard, name)
        if term is not None and variables(term) <= bound:
            compiled = compile_term(term, net.colour_of)
            return lambda binding: (compiled(binding),)
    found = members(net.colour_of[name]) if name in net.colour_of else None
    return None if found is None else lambda binding: found


def equated(guard: Expr, name: str) -> Expr | None:
    """What a conjunct says that a variable is equal to."""
    if not isinstance(guard, Binary) or guard.op != "=":
        return None
    if guard.left == Ref(None, name):
        return guard.right
    return guard.left if guard.right == Ref(None, name) else None


def _judged(net: Net, guards: list[Expr], bound: set[str]) -> list[Compiled]:
    """Takes out of ``guards`` those whose variables have values."""
    now = [g for g in guards if variables(g) <= bound]
    guards[:] = [g for g in guards if g not in now]
    return [compile_term(g, net.colour_of) for g in now]


def _used_later(net: Net, transition: Transition, guards: list[Expr]) -> set[str]:
    """The variables that must have values once all tokens are taken."""
    terms = [*guards, *(term for arc in net.outputs[transition.name] for term in arc.terms)]
    terms += [] if transition.delay is None else [transition.delay]
    numbers = {transition.black.r, transition.black.n} if transition.black else set()
    return numbers.union(*map(variables, terms))


def _rank(net: Net, arc: Arc, term: Expr, bound: set[str]) -> tuple[bool, bool, bool]:
    """What to look for first: what is known altogether (one token at most), Control, at last the long flows."""
    role = net.places[arc.place].role
    known = variables(term) <= bound or isinstance(term, Literal)
    return not known, role is not Role.CONTROL, role in (Role.F, Role.INPUT)


def _primary(transition: Transition, arc: Arc) -> int:
    if transition.black is None:
        return 2
    return 0 if arc.place == transition.black.init else 1 if arc.place == transition.black.f else 2


def _unbound(net: Net, transition: Transition, names: set[str]) -> DefinitionProblem:
    listed = ", ".join(f"`{n}`" for n in sorted(names))
    message = f"no token that {where(net, transition.name)} takes binds {listed}"
    return DefinitionProblem(Problem("unbound-variable", message))


def where(net: Net, name: str) -> str:
    """An element in a message, with its page."""
    what = "place" if name in net.places else "transition"
    return f"{what} `{name}` (page `{net.page_of.get(name, '?')}`)"
