"""What names in CPN ML text stand for: the declarations of a net, as the parser of its inscriptions needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from occurs.nets.colours import Bool, Colour, Enum, Product, Record, Union, Unit, Value, plain
from occurs.nets.terms import Term


@dataclass(frozen=True)
class Names:
    """``constants``: what was declared by ``val``, and values with names of their own.  ``functions``: declared in ML,
    which have no form here.  ``equalities``: functions that say whether two values are equal."""

    variables: Mapping[str, Colour] = field(default_factory=dict)
    colours: tuple[Colour, ...] = ()
    constants: Mapping[str, Term] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    equalities: frozenset[str] = frozenset()

    @cached_property
    def constructors(self) -> dict[str, Union]:
        """Constructor -> the union it is of."""
        return {name: c for c in self.colours if isinstance(c, Union) for name, _ in c.cases}

    @cached_property
    def enumerated(self) -> dict[str, Enum]:
        """Value -> the enumeration it is of."""
        return {name: c for c in self.colours if isinstance(c, Enum) for name in c.values}

    @cached_property
    def records(self) -> dict[frozenset[str], Record]:
        """The names of fields -> the first record that has them."""
        found: dict[frozenset[str], Record] = {}
        for c in self.colours:
            if isinstance(c, Record):
                found.setdefault(frozenset(n for n, _ in c.fields), c)
        return found

    @property
    def known(self) -> Iterator[str]:
        """All names that stand for a value."""
        for names in (self.variables, self.constants, self.enumerated, self.constructors):
            yield from names


def members(colour: Colour) -> list[Value] | None:
    """All values of a finite colour, None for others: what ``Name.all()`` stands for.

    >>> members(Product("P", (Bool("BOOL"), Enum("E", ("a", "b")))))
    [(False, 'a'), (False, 'b'), (True, 'a'), (True, 'b')]
    """
    kind = plain(colour)
    if isinstance(kind, Unit):
        return [()]
    if isinstance(kind, Bool):
        return [False, True]
    if isinstance(kind, Enum):
        return list(kind.values)
    if isinstance(kind, Product | Record):
        colours = kind.parts if isinstance(kind, Product) else [c for _, c in kind.fields]
        parts = [members(c) for c in colours]
        return list(product(*(p for p in parts if p is not None))) if None not in parts else None
    return None
