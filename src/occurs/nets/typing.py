"""The colours of terms, and whether a term has the colour that its place wants (epl-and-nets.md, section 4B).

Colours are compared by what they are made of: two names for one structure are one colour, as in CPN ML.  Constants
have colours of their own (``INT``, ``REAL``, ``STRING``, ``BOOL``), whatever the net calls them.  Int and real do not
mix in a token, only in comparisons and arithmetic: ``real(x)`` makes one of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from occurs.errors import did_you_mean
from occurs.expr.tree import COMPARISONS, Binary, Call, Expr, In, IsNull, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.nets.colours import (
    Bool,
    Colour,
    Enum,
    Int,
    List,
    Product,
    Real,
    Record,
    String,
    Union,
    Unit,
    plain,
)
from occurs.nets.functional.tree import FUNCTIONAL, Delayed, Local, Many
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, TupleTerm

UNIT, BOOL, INT, REAL, STRING = Unit("UNIT"), Bool("BOOL"), Int("INT"), Real("REAL"), String("STRING")
_LITERALS = {
    Type.BOOL: BOOL,
    Type.INT: INT,
    Type.TIMESTAMP: INT,
    Type.DURATION: INT,
    Type.FLOAT: REAL,
    Type.STRING: STRING,
}


def same(a: Colour, b: Colour) -> bool:
    """Are two colours made of the same, whatever their names?"""
    a, b = plain(a), plain(b)
    if isinstance(a, Unit | Product) and isinstance(b, Unit | Product):
        return _all_same(_parts(a), _parts(b))
    if type(a) is not type(b):
        return False
    if isinstance(a, Enum) and isinstance(b, Enum):
        return a.values == b.values
    if isinstance(a, Record) and isinstance(b, Record):
        return [n for n, _ in a.fields] == [n for n, _ in b.fields] and _all_same(
            [c for _, c in a.fields], [c for _, c in b.fields]
        )
    if isinstance(a, Union) and isinstance(b, Union):
        # what a union holds is compared by the names of its cases: unions are not structural in ML
        return [n for n, _ in a.cases] == [n for n, _ in b.cases]
    if isinstance(a, List) and isinstance(b, List):
        return same(a.of, b.of)
    return True


def _parts(colour: Unit | Product) -> tuple[Colour, ...]:
    return colour.parts if isinstance(colour, Product) else ()


def _all_same(left: tuple[Colour, ...] | list[Colour], right: tuple[Colour, ...] | list[Colour]) -> bool:
    return len(left) == len(right) and all(same(x, y) for x, y in zip(left, right, strict=True))


def spelled(colour: Colour) -> str:
    """A colour in a message: its name, or what it is made of if it has none."""
    if colour.name:
        return colour.name
    if isinstance(colour, Product):
        return " * ".join(spelled(c) for c in colour.parts)
    if isinstance(colour, Record):
        return "{" + ", ".join(f"{n}: {spelled(c)}" for n, c in colour.fields) + "}"
    if isinstance(colour, List):
        return f"list of {spelled(colour.of)}"
    return type(colour).__name__.lower()


@dataclass
class Typing:
    """Judges terms over ``variables``; what is wrong is collected in ``wrong``, one text per finding.

    ``colours``: those a constructor or a value of an enumeration may belong to.
    """

    variables: Mapping[str, Colour]
    colours: tuple[Colour, ...] = ()
    wrong: list[str] = field(default_factory=list)

    def infer(self, term: Expr) -> Colour | None:
        """The colour of ``term``; None if it has none (what is wrong stands in ``wrong``) or an empty list's."""
        match term:
            case Literal():
                return _LITERALS.get(term.type) or self._no("null does not have a colour")
            case Ref():
                if term.scope is None and term.name in self.variables:
                    return plain(self.variables[term.name])
                hint = did_you_mean(term.name, self.variables, "declared")
                return self._no(f"unknown variable `{term.name}`; {hint}")
            case Unary():
                return self._unary(term)
            case Binary():
                return self._binary(term)
            case In():
                for item in term.items:
                    self._comparable("in", self.infer(term.arg), self.infer(item))
                return BOOL
            case IsNull():
                self.infer(term.arg)
                return BOOL
            case TupleTerm():
                parts = [self.infer(p) for p in term.parts]
                known = [c for c in parts if c is not None]
                return (Product("", tuple(known)) if known else UNIT) if len(known) == len(parts) else None
            case RecordTerm():
                fields = [(n, self.infer(p)) for n, p in zip(term.names, term.parts, strict=True)]
                typed = tuple((n, c) for n, c in fields if c is not None)
                return Record("", typed) if len(typed) == len(fields) else None
            case Inject():
                return self._constructed(term)
            case EnumTerm():
                owner = next((c for c in self.colours if isinstance(c, Enum) and term.value in c.values), None)
                return owner or self._no(f"`{term.value}` does not belong to an enumeration of the net")
            case ListTerm():
                return self._listed(term)
            case FieldTerm():
                return self._field(term)
            case Call():
                return self._call(term)
            case Local():
                return None if term.colour is None else plain(term.colour)
            case _ if isinstance(term, FUNCTIONAL):
                # what a function returns is checked when it is put
                return None
        return self._no(f"{type(term).__name__} is not supported in nets")

    def check(self, term: Expr, colour: Colour) -> bool:
        """Has ``term`` this colour?"""
        want, before = plain(colour), len(self.wrong)
        match term, want:
            case Delayed(), _:
                self.check(term.arg, colour)
                self.infer(term.delay)
            case Many(), _:
                self.check(term.arg, List("", colour))
            case TupleTerm(), Product() if len(term.parts) == len(want.parts):
                for part, c in zip(term.parts, want.parts, strict=True):
                    self.check(part, c)
            case RecordTerm(), Record() if term.names == tuple(n for n, _ in want.fields):
                for part, (_, c) in zip(term.parts, want.fields, strict=True):
                    self.check(part, c)
            case Inject(), Union() if term.constructor in dict(want.cases):
                self._held(term, want)
            case EnumTerm(), Enum() if term.value in want.values:
                pass
            case ListTerm(), List():
                for part in term.parts:
                    self.check(part, want.of)
            case _:
                found = self.infer(term)
                if found is not None and not same(found, want):
                    self._no(f"found {spelled(found)}, expected {spelled(colour)}")
        return len(self.wrong) == before

    def _no(self, message: str) -> Colour | None:
        self.wrong.append(message)
        return None

    def _unary(self, term: Unary) -> Colour | None:
        if term.op == "not":
            self.check(term.arg, BOOL)
            return BOOL
        return self._number(term.op, self.infer(term.arg))

    def _binary(self, term: Binary) -> Colour | None:
        if term.op in ("and", "or"):
            self.check(term.left, BOOL)
            self.check(term.right, BOOL)
            return BOOL
        left, right = self.infer(term.left), self.infer(term.right)
        if term.op in COMPARISONS:
            self._comparable(term.op, left, right)
            return BOOL
        left, right = self._number(term.op, left), self._number(term.op, right)
        if left is None or right is None:
            return None
        return REAL if term.op == "/" or isinstance(left, Real) or isinstance(right, Real) else INT

    def _number(self, op: str, found: Colour | None) -> Colour | None:
        if found is None or isinstance(found, Int | Real):
            # a bounded integer is a number like any other
            return INT if isinstance(found, Int) else found
        return self._no(f"`{op}` takes numbers, found {spelled(found)}")

    def _comparable(self, op: str, left: Colour | None, right: Colour | None) -> None:
        if left is None or right is None:
            return
        if op in ("<", "<=", ">", ">=") and not isinstance(left, Int | Real | String):
            self._no(f"`{op}` takes numbers or strings, found {spelled(left)}")
        elif not (same(left, right) or (isinstance(left, Int | Real) and isinstance(right, Int | Real))):
            self._no(f"`{op}` takes two values of one colour, found {spelled(left)} and {spelled(right)}")

    def _constructed(self, term: Inject) -> Colour | None:
        owner = next((c for c in self.colours if isinstance(c, Union) and term.constructor in dict(c.cases)), None)
        if owner is None:
            return self._no(f"`{term.constructor}` does not belong to a union of the net")
        self._held(term, owner)
        return owner

    def _held(self, term: Inject, union: Union) -> None:
        held = union.case(term.constructor)
        if held is None or term.arg is None:
            if held is not None or term.arg is not None:
                rule = "cannot hold a value" if held is None else f"must hold {spelled(held)}"
                self._no(f"`{term.constructor}` {rule}")
        else:
            self.check(term.arg, held)

    def _listed(self, term: ListTerm) -> Colour | None:
        found = [self.infer(p) for p in term.parts]
        first = next((c for c in found if c is not None), None)
        for c in found:
            if c is not None and first is not None and not same(c, first):
                return self._no(f"a list cannot mix {spelled(first)} and {spelled(c)}")
        return None if first is None else List("", first)

    def _field(self, term: FieldTerm) -> Colour | None:
        found = self.infer(term.arg)
        if found is None or (term.at is not None and not fields_of(found)):
            return None
        parts = fields_of(found)
        if term.name not in parts:
            return self._no(f"{spelled(found)} has no field `{term.name}`; {did_you_mean(term.name, parts, 'its')}")
        return plain(parts[term.name])

    def _call(self, term: Call) -> Colour | None:
        given = [self.infer(a) for a in term.args]
        known = [c for c in given if c is not None]
        of_lists = all(isinstance(c, List) for c in known[:1])
        match term.name, len(term.args):
            case "length", 1 if of_lists:
                return INT
            case ("list.take" | "list.drop", 2) if of_lists:
                self.check(term.args[1], INT)
                return known[0] if known else None
            case "list.nth", 2 if of_lists:
                self.check(term.args[1], INT)
                return plain(known[0].of) if known and isinstance(known[0], List) else None
            case "append", 2 if all(isinstance(c, List) for c in known):
                self._comparable("append", *given)
                return known[0] if known else None
            case "cons", 2:
                if given[0] is None:
                    return given[1]
                whole = List("", given[0])
                self._comparable("cons", given[1], whole)
                return whole
            case "abs", 1:
                return self._number("abs", given[0])
            case (("min" | "max"), n) if n > 1:
                numbers = [self._number(term.name, c) for c in given]
                return REAL if any(isinstance(c, Real) for c in numbers) else INT
            case "real", 1:
                self._number("real", given[0])
                return REAL
            case "concat", n if n > 0:
                for a in term.args:
                    self.check(a, STRING)
                return STRING
            case "if", 3:
                self.check(term.args[0], BOOL)
                self._comparable("if", given[1], given[2])
                return given[1] or given[2]
        return self._no(
            f"`{term.name}` of {', '.join(spelled(c) for c in known) or 'nothing'} is not supported in nets"
        )


def fields_of(colour: Colour) -> dict[str, Colour]:
    """The parts of a record by name, those of a product by number from 1; of others none."""
    colour = plain(colour)
    if isinstance(colour, Record):
        return dict(colour.fields)
    if isinstance(colour, Product):
        return {str(k + 1): c for k, c in enumerate(colour.parts)}
    return {}


def first_field(colour: Colour) -> Colour:
    """The colour itself, or of a product its first part: where the numbers of Init and F places stand."""
    colour = plain(colour)
    return plain(colour.parts[0]) if isinstance(colour, Product) and colour.parts else colour
