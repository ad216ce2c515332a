"""A net with names that CPN ML and the state space tool of CPN Tools take (epl-and-nets.md, section 4B, `.cpn` files).

Identifiers have letters, digits and ``_``; what is renamed gets the nearest such name that is free.  A net whose names
are identifiers already comes back as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from occurs.expr.tree import Expr, Ref, rewrite
from occurs.nets.colours import Alias, Colour, Enum, Index, List, Product, Record, Union, Value, made_of, plain
from occurs.nets.ml import KNOWN, RESERVED, no_ml
from occurs.nets.net import Net, Page
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, RecordTerm, Term


def identifier(name: str) -> str:
    """The nearest identifier to a name.

    >>> identifier("Seq Out"), identifier("3rd"), identifier("été!"), identifier("")
    ('Seq_Out', 'x3rd', 'x_t__', 'x')
    """
    made = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return made if re.match("[A-Za-z]", made) else f"x{made}"


def identifiers(names: Iterable[str], refused: frozenset[str] = frozenset()) -> dict[str, str]:
    """Distinct identifiers for distinct names, none of ``refused``; names that are fit keep theirs."""
    names = list(dict.fromkeys(names))
    found = {n: n for n in names if identifier(n) == n and n not in refused}
    taken = {*found.values(), *refused}
    for name in names:
        if name not in found:
            found[name] = free(identifier(name), taken)
    return found


def free(name: str, taken: set[str]) -> str:
    """``name``, with a number if it is taken; taken then."""
    made, k = name, 2
    while made in taken:
        made, k = f"{name}_{k}", k + 1
    taken.add(made)
    return made


def all_colours(net: Net) -> tuple[Colour, ...]:
    """The colours of a net and all that they are made of, each after those it uses; one of each name."""
    found: dict[str, Colour] = {}

    def add(colour: Colour) -> None:
        for part in made_of(colour):
            add(part)
        if not colour.name:
            raise no_ml(f"a colour without a name ({type(colour).__name__}) cannot be written")
        if found.setdefault(colour.name, colour) != colour:
            raise no_ml(f"two different colours are called `{colour.name}`")

    for colour in (*net.colours, *(p.colour for p in net.places.values()), *(c for _, c in net.variables)):
        add(colour)
    return tuple(found.values())


def for_ml(net: Net) -> Net:
    """``net`` with identifiers for all its names, and all its colours declared."""
    return _Renamed(net).net()


class _Renamed:
    def __init__(self, net: Net):
        self.old = net
        colours = all_colours(net)
        for colour in colours:
            if isinstance(colour, Product) and len(colour.parts) < 2:
                raise no_ml(f"colour `{colour.name}`: a product needs at least two parts")
        values = [n for n, _ in net.variables]
        values += [v for c in colours if isinstance(c, Enum) for v in c.values]
        values += [n for c in colours if isinstance(c, Union) for n, _ in c.cases]
        fields = [n for c in colours if isinstance(c, Record) for n, _ in c.fields]
        self.colour_names = identifiers((c.name for c in colours), RESERVED)
        self.values = identifiers(values, RESERVED | KNOWN)
        self.fields = identifiers(fields, RESERVED)
        self.nodes = identifiers((*net.places, *net.transitions))
        self.pages = identifiers(p.name for p in net.pages)
        self.fusions = identifiers(p.fusion for p in net.places.values() if p.fusion is not None)
        self.colours = {c.name: self._new_colour(c) for c in colours}

    def net(self) -> Net:
        same = all(a == b for names in self._maps() for a, b in names.items())
        renamed = [a for names in (self.values, self.fields) for a, b in names.items() if a != b]
        if renamed and self.old.functions:
            raise no_ml(f"`{renamed[0]}` cannot be a name in CPN ML, and functions of the net may use it")
        if same and len(self.colours) == len(self.old.colours):
            return self.old
        return replace(
            self.old,
            colours=tuple(self.colours.values()),
            variables=tuple((self.values[n], self._colour(c)) for n, c in self.old.variables),
            pages=tuple(map(self._page, self.old.pages)),
        )

    def _maps(self) -> tuple[dict[str, str], ...]:
        return self.colour_names, self.values, self.fields, self.nodes, self.pages, self.fusions

    def _colour(self, colour: Colour) -> Colour:
        return self.colours[colour.name]

    def _new_colour(self, colour: Colour) -> Colour:
        new = replace(colour, name=self.colour_names[colour.name])
        deep = self._new_colour
        if isinstance(new, Enum):
            return replace(new, values=tuple(self.values[v] for v in new.values))
        if isinstance(new, Product):
            return replace(new, parts=tuple(map(deep, new.parts)))
        if isinstance(new, Record):
            return replace(new, fields=tuple((self.fields[n], deep(c)) for n, c in new.fields))
        if isinstance(new, Index):
            constructor = self.values[new.cases[0][0]]
            return replace(new, cases=((constructor, replace(new.numbers, name=f"{new.name}_number")),))
        if isinstance(new, Union):
            return replace(new, cases=tuple((self.values[n], None if c is None else deep(c)) for n, c in new.cases))
        return replace(new, of=deep(new.of)) if isinstance(new, Alias | List) else new

    def _page(self, page: Page) -> Page:
        return replace(
            page,
            name=self.pages[page.name],
            places=tuple(
                replace(
                    p,
                    name=self.nodes[p.name],
                    colour=self._colour(p.colour),
                    initial=tuple(map(self._value(p.colour), p.initial)),
                    fusion=None if p.fusion is None else self.fusions[p.fusion],
                )
                for p in page.places
            ),
            transitions=tuple(
                replace(
                    t,
                    name=self.nodes[t.name],
                    guard=tuple(map(self._term, t.guard)),
                    delay=None if t.delay is None else self._term(t.delay),
                )
                for t in page.transitions
            ),
            arcs=tuple(
                replace(
                    a,
                    place=self.nodes.get(a.place, a.place),
                    transition=self.nodes.get(a.transition, a.transition),
                    terms=tuple(map(self._term, a.terms)),
                )
                for a in page.arcs
            ),
        )

    def _value(self, colour: Colour) -> Callable[[Value], Value]:
        """Values of ``colour`` with the new names of constructors and of values of enumerations."""

        def one(value: Value, c: Colour) -> Value:
            kind = plain(c)
            if isinstance(kind, Enum):
                return self.values[str(value)]
            if not isinstance(value, tuple):
                return value
            if isinstance(kind, Union):
                held = kind.case(value[0])
                return (self.values[value[0]], value[1] if held is None else one(value[1], held))
            if isinstance(kind, List):
                return tuple(one(v, kind.of) for v in value)
            parts = kind.parts if isinstance(kind, Product) else ()
            parts = tuple(c for _, c in kind.fields) if isinstance(kind, Record) else parts
            return tuple(map(one, value, parts))

        return lambda value: one(value, colour)

    def _term(self, term: Term) -> Term:
        def rename(node: Expr) -> Expr | None:
            if isinstance(node, Ref):
                return replace(node, name=self.values.get(node.name, node.name))
            if isinstance(node, EnumTerm):
                return replace(node, value=self.values.get(node.value, node.value))
            if isinstance(node, Inject):
                return replace(node, constructor=self.values.get(node.constructor, node.constructor))
            if isinstance(node, RecordTerm):
                return replace(node, names=tuple(self.fields.get(n, n) for n in node.names))
            if isinstance(node, FieldTerm):
                return replace(node, name=self.fields.get(node.name, node.name))
            return None

        return rewrite(term, rename)
