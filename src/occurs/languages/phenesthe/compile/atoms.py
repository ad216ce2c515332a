"""Atoms as nodes that read an input or another definition (phenesthe.md, sections 4.2 and 4.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from occurs.expr.tree import Binary, Expr, IsNull, Literal, Ref, rewrite
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks.catalogue import Phenomenon
from occurs.languages.phenesthe.compile.building import Building, Formula, Kept
from occurs.languages.phenesthe.render import render
from occurs.model.time import TimeKind
from occurs.operators.interval.atoms import Picked, Place, Scan


@dataclass(frozen=True)
class Reading:
    """An atom over rows, and conditions that are tested before anything is encoded.

    ``read``: the attribute of each variable; ``tests``: conditions on attributes; that its variables are not null is
    among them.
    """

    known: Phenomenon
    read: Mapping[str, str]
    tests: tuple[Expr, ...]
    text: str

    @staticmethod
    def of(atom: syntax.Atom, known: Phenomenon) -> Reading:
        read: dict[str, str] = {}
        tests: list[Expr] = []
        for attribute, value in known.arguments(atom):
            if isinstance(value, syntax.Constant):
                tests.append(Binary("=", Ref(None, attribute), Literal(value.value, value.type)))
            elif isinstance(value, syntax.Variable):
                if value.name in read:
                    tests.append(Binary("=", Ref(None, read[value.name]), Ref(None, attribute)))
                read.setdefault(value.name, attribute)
        return Reading(known, read, tuple(tests), render(atom))

    def where(self, condition: Expr) -> Reading:
        """With a condition on its variables."""

        def attribute(node: Expr) -> Expr | None:
            return replace(node, name=self.read[node.name]) if isinstance(node, Ref) else None

        return replace(self, tests=(*self.tests, rewrite(condition, attribute)))

    def formula(self, wanted: frozenset[str], net: Building, kind: TimeKind, name: str) -> Formula:
        """The node for it, of the variables that are ``wanted``; ``name``: the definition."""
        type, known = self.known.name, self.known
        variables = tuple(sorted(v for v in self.read if v in wanted))
        for v in variables:
            net.typed(v, known.type_of(self.read[v]))
        # a variable binds no null, whether or not its values are wanted
        tests = (*(IsNull(Ref(None, a), True) for v, a in sorted(self.read.items()) if v not in variables), *self.tests)
        if not known.changes:
            attributes = tuple(self.read[v] for v in variables)
            scan = Scan(known.sort, type, variables, attributes, tests, kind, name)
            if known.sort == "state":
                net.keeps(Kept(type, "one row", variables, "it ends"))
            return Formula(self._named(net.add(scan, (), type), net), known.sort, variables)
        # by its changes there is a state per values of all attributes, null being one like any other
        tests += tuple(IsNull(Ref(None, self.read[v]), True) for v in variables)
        of = dict(sorted((f"{a} of {type}", a) for a in known.names))
        for v, a in of.items():
            net.typed(v, known.type_of(a))
        net.keeps(Kept(type, "one row", known.names, "it is closed", True))
        scan = Scan("changes", type, tuple(of), tuple(of.values()), tests, kind, name)
        every = Formula(self._named(net.add(scan, (), type), net), "state", tuple(of))
        return _picked({v: f"{self.read[v]} of {type}" for v in variables}, {}, False, every, net, "")

    def _named(self, number: int, net: Building) -> int:
        net.names.setdefault(number, self.text)
        return number


def taken(
    atom: syntax.Atom, known: Phenomenon, head: tuple[syntax.HeadArgument, ...], delay: int | None,
    wanted: frozenset[str], net: Building,
) -> Formula:  # fmt: skip
    """The node for an atom over what another definition, with the ``head`` and the ``delay``, derives."""
    of = {a.name.text: a.value for a in head if not isinstance(a.value, syntax.Measure)}
    operand = tuple(sorted({v.name for v in of.values() if isinstance(v, syntax.Variable)}))
    same = _Classes()
    arguments = [(attribute, value) for attribute, value in known.arguments(atom) if attribute in of]
    for attribute, value in arguments:
        if isinstance(value, syntax.Variable):
            same.join(value, _place(of[attribute]))
        elif isinstance(value, syntax.Constant):
            same.join(_place(value), _place(of[attribute]))
    read: dict[str, Place] = {}
    equal: dict[str, Place] = {}
    for members in same.classes():
        values = sorted((m for m in members if isinstance(m, Literal)), key=repr)
        places = sorted(m for m in members if isinstance(m, str))
        first: Place = values[0] if values else places[0]
        read |= {m.name: first for m in members if isinstance(m, syntax.Variable)}
        equal |= {p: first for p in places if p != first}
    for attribute, value in arguments:
        if isinstance(value, syntax.Variable) and value.name in wanted:
            net.typed(value.name, known.type_of(attribute))
    for attribute, place in of.items():
        if isinstance(place, syntax.Variable):
            net.typed(f"{place.name} of {known.name}", known.type_of(attribute))
    never = any(_unlike(members) for members in same.classes())
    kept = {v: p for v, p in read.items() if v in wanted}
    return _picked(kept, equal, never, Formula(-1, known.sort, operand, delay), net, known.name, render(atom))


def _picked(
    read: Mapping[str, Place], equal: Mapping[str, Place], never: bool, operand: Formula, net: Building, source: str,
    text: str = "",
) -> Formula:  # fmt: skip
    """Variables read from their places in a formula, or in what the definition ``source`` derives.

    What is not looked at is carried under a name that no variable has, to the pooling.
    """
    free = [v for v in operand.variables if v not in equal and v not in read.values()]
    places: dict[str, Place] = {**read, **{f"{v} of {source}" if source else v: v for v in free}}
    variables = tuple(sorted(places))
    node = Picked(
        operand.sort, operand.variables, variables, tuple(places[v] for v in variables), tuple(equal.items()), never
    )
    number = net.add(node, (), source) if source else net.add(node, (operand.number,))
    if text:
        net.names.setdefault(number, text)
    return net.pooled(Formula(number, operand.sort, variables, operand.delay), frozenset(read))


def _place(value: syntax.Value) -> Place:
    if isinstance(value, syntax.Constant):
        return Literal(value.value, value.type)
    assert isinstance(value, syntax.Variable)
    return value.name


def _unlike(members: frozenset[object]) -> bool:
    """Whether two constants are equated that are not equal."""
    values = [m for m in members if isinstance(m, Literal)]
    return any(
        isinstance(a.value, bool) != isinstance(b.value, bool) or a.value != b.value for a in values for b in values
    )


class _Classes:
    """What is equated with what."""

    def __init__(self) -> None:
        self._of: dict[object, set[object]] = {}

    def join(self, one: object, other: object) -> None:
        both = self._of.get(one, {one}) | self._of.get(other, {other})
        self._of |= dict.fromkeys(both, both)

    def classes(self) -> list[frozenset[object]]:
        return list(dict.fromkeys(frozenset(c) for c in self._of.values()))
