"""SNAKES (Pommereau 2015) as an engine of its own: nets handed over, guards and inscriptions as Python text.

SNAKES knows no priorities: they are applied to its modes here.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

from occurs.expr.tree import Binary, Call, Expr, Literal, Ref, Unary
from occurs.nets.colours import Colour, Value, members
from occurs.nets.evaluate import compile_term
from occurs.nets.functional.tree import Many
from occurs.nets.net import Marking, Net, Transition
from occurs.nets.terms import EnumTerm, Inject, ListTerm, RecordTerm, TupleTerm

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import snakes.nets as snakes

Mode = tuple[str, dict[str, Value]]
_OPERATORS = {"=": "==", "and": "and", "or": "or", "div": "//", "mod": "%"}


def text(term: Expr) -> str:
    """A term in Python, of non-negative ints where signs of remainders matter."""
    match term:
        case Literal() | EnumTerm():
            return repr(term.value)
        case Ref():
            return term.name
        case TupleTerm() | RecordTerm() | ListTerm():
            return "(" + "".join(f"{text(p)}, " for p in term.parts) + ")"
        case Inject():
            return f"({term.constructor!r}, {'()' if term.arg is None else text(term.arg)})"
        case Unary():
            return f"({'not ' if term.op == 'not' else '-'}{text(term.arg)})"
        case Binary():
            return f"({text(term.left)} {_OPERATORS.get(term.op, term.op)} {text(term.right)})"
        case Call("length", (items,)):
            return f"len({text(items)})"
        case Call("list.take", (items, n)):
            return f"{text(items)}[:{text(n)}]"
        case Call("real", (x,)):
            return f"float({text(x)})"
    raise AssertionError(f"no Python for {term}")


def _pattern(term: Expr) -> Any:
    match term:
        case Literal() | EnumTerm():
            return snakes.Value(term.value)
        case Ref():
            return snakes.Variable(term.name)
        case TupleTerm() | RecordTerm() | ListTerm():
            return snakes.Tuple([_pattern(p) for p in term.parts]) if term.parts else snakes.Value(())
        case Inject():
            arg = snakes.Value(()) if term.arg is None else _pattern(term.arg)
            return snakes.Tuple([snakes.Value(term.constructor), arg])
    return snakes.Expression(text(term))


class Snakes:
    def __init__(self, net: Net) -> None:
        self.net = net
        self.holders = list(net.initial.tokens)
        self.place = {h: f"p{k}" for k, h in enumerate(self.holders)}
        self.engine = snakes.PetriNet("net")
        for h in self.holders:
            self.engine.add_place(snakes.Place(self.place[h], list(net.initial.tokens[h].elements())))
        #: by priority the names of transitions
        self.levels: dict[int, list[str]] = {}
        for t in net.transitions.values():
            self._transition(t)

    def _transition(self, t: Transition) -> None:
        net = self.net
        guard = " and ".join(map(text, t.guard)) or "True"
        self.engine.add_transition(snakes.Transition(t.name, snakes.Expression(guard)))
        for arcs, add in ((net.inputs, self.engine.add_input), (net.outputs, self.engine.add_output)):
            by_holder: dict[str, list[Any]] = {}
            for arc in arcs[t.name]:
                by_holder.setdefault(net.holder(arc.place), []).extend(map(_pattern, arc.terms))
            for h, terms in by_holder.items():
                add(self.place[h], t.name, terms[0] if len(terms) == 1 else snakes.MultiArc(terms))
        self.levels.setdefault(t.priority, []).append(t.name)

    def modes(self) -> list[Mode]:
        """What is enabled now, of the most urgent transitions; two equal tokens make one mode."""
        for level in sorted(self.levels):
            modes = [(t, m.dict()) for t in self.levels[level] for m in self.engine.transition(t).modes()]
            if modes:
                return list({(t, frozenset(b.items())): (t, b) for t, b in modes}.values())
        return []

    def fire(self, mode: Mode) -> None:
        self.engine.transition(mode[0]).fire(snakes.Substitution(mode[1]))

    @property
    def marking(self) -> Marking:
        return Marking({h: Counter(list(self.engine.place(self.place[h]).tokens)) for h in self.holders})

    def run(self, choose: Callable[[list[Mode]], Mode], limit: int = 10_000) -> int:
        """To the end; how many steps."""
        steps = 0
        while steps < limit and (modes := self.modes()):
            self.fire(choose(modes))
            steps += 1
        return steps


def comparable(elements: list[Mode]) -> list[Any]:
    """Binding elements whatever their order."""
    return sorted((t, sorted(b.items())) for t, b in elements)


def space_of(net: Net, made: type[Snakes] = Snakes) -> tuple[set[Any], int, int]:
    """Nodes, number of arcs and of dead nodes, found with SNAKES alone."""
    engine = made(net)
    first = engine.engine.get_marking()
    seen, waiting, arcs, dead = {engine.marking.key}, [first], 0, 0
    while waiting:
        at = waiting.pop()
        engine.engine.set_marking(at)
        modes = engine.modes()
        dead += not modes
        for mode in modes:
            engine.engine.set_marking(at)
            engine.fire(mode)
            arcs += 1
            if engine.marking.key not in seen:
                seen.add(engine.marking.key)
                waiting.append(engine.engine.get_marking())
    return seen, arcs, dead


class Unfolded(Snakes):
    """A net whose arcs have functions and conditions.

    SNAKES takes no computed multiset from a place.  Each transition becomes one per value of the variables that such
    an arc has, or that no token binds; their colours are finite.  On arcs to places and in guards, SNAKES calls
    functions.  Occurs computes the values of functions; SNAKES decides what is enabled, and fires it.
    """

    def __init__(self, net: Net) -> None:
        self.functions = 0
        super().__init__(net)

    def _transition(self, t: Transition) -> None:
        net = self.net
        taken = [(net.holder(a.place), term) for a in net.inputs[t.name] for term in a.terms]
        plain = [(h, term) for h, term in taken if _has_pattern(term)]
        computed = [(h, term) for h, term in taken if not _has_pattern(term)]
        given = [(net.holder(a.place), term) for a in net.outputs[t.name] for term in a.terms]
        bound = set().union(*(variables_of(term) for _, term in plain))
        every = set().union(bound, *(variables_of(e) for _, e in (*taken, *given)), *map(variables_of, t.guard))
        free = sorted(set().union(every - bound, *(variables_of(term) for _, term in computed)))
        colours = dict(net.variables)
        for k, values in enumerate(product(*(_values(colours[v]) for v in free))):
            fixed, name = dict(zip(free, values, strict=True)), f"{t.name}#{k}"
            guard = self._function([compile_term(g) for g in t.guard], fixed, all)
            same = [f"{v} == {fixed[v]!r}" for v in free if v in bound]
            condition = " and ".join([*same, f"{guard}({_named(bound)})"])
            self.engine.add_transition(snakes.Transition(name, snakes.Expression(condition)))
            by_holder: dict[str, list[Any]] = {}
            for h, term in plain:
                by_holder.setdefault(h, []).append(_pattern(term))
            for h, term in computed:
                by_holder.setdefault(h, []).extend(map(snakes.Value, _tokens(term, compile_term(_inside(term))(fixed))))
            for h, terms in by_holder.items():
                if terms:
                    self.engine.add_input(self.place[h], name, terms[0] if len(terms) == 1 else snakes.MultiArc(terms))
            outputs: dict[str, list[Expr]] = {}
            for h, term in given:
                outputs.setdefault(h, []).append(term)
            for h, terms in outputs.items():
                parts = [compile_term(_inside(term)) for term in terms]
                made = self._function(parts, fixed, lambda found, terms=terms: snakes.MultiSet(
                    [v for term, value in zip(terms, found, strict=True) for v in _tokens(term, value)]
                ))  # fmt: skip
                self.engine.add_output(self.place[h], name, snakes.Flush(f"{made}({_named(bound)})"))
            self.levels.setdefault(t.priority, []).append(name)

    def _function(self, parts: list[Any], fixed: dict[str, Value], join: Callable[[list[Any]], Any]) -> str:
        """The name under which SNAKES calls a function of the variables that tokens bind."""
        self.functions += 1
        name = f"f{self.functions}"
        self.engine.globals[name] = lambda **b: join([part({**b, **fixed}) for part in parts])
        return name


def variables_of(term: Expr) -> set[str]:
    return {e.name for e in term.walk() if isinstance(e, Ref)}


def _named(names: set[str]) -> str:
    return ", ".join(f"{n}={n}" for n in sorted(names))


def _has_pattern(term: Expr) -> bool:
    match term:
        case Literal() | EnumTerm() | Ref():
            return True
        case TupleTerm() | RecordTerm() | ListTerm():
            return all(map(_has_pattern, term.parts))
        case Inject():
            return term.arg is None or _has_pattern(term.arg)
    return False


def _inside(term: Expr) -> Expr:
    return term.arg if isinstance(term, Many) else term


def _tokens(term: Expr, value: Any) -> list[Value]:
    """The tokens of the value of an inscription: those of a multiset, or the one."""
    return list(value) if isinstance(term, Many) else [value]


def _values(colour: Colour) -> list[Value]:
    found = members(colour)
    assert found is not None, f"the values of {colour.name} are not finite"
    return found
