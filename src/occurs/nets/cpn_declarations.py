"""The declarations of a `.cpn` file: colours, variables, values (epl-and-nets.md, section 4B).

What counts are the child elements; ``layout`` is only how CPN Tools shows a declaration.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from occurs.errors import OccursError, did_you_mean
from occurs.expr.tree import Literal
from occurs.model.types import Type
from occurs.nets.colours import Alias, Bool, Colour, Enum, Int, List, Product, Real, Record, String, Union, Unit
from occurs.nets.cpn_findings import Findings
from occurs.nets.cpn_xml import Node
from occurs.nets.ml import equality, has_reals
from occurs.nets.ml_names import Names
from occurs.nets.ml_parser import parse_term, without_comments
from occurs.nets.terms import Term, TupleTerm

_SIMPLE: dict[str, type[Colour]] = {
    "unit": Unit, "bool": Bool, "int": Int, "intinf": Int, "real": Real, "string": String, "time": Int,
}  # fmt: skip


@dataclass
class Declarations:
    """What a file declares.  ``broken``: colours that could not be read; what is said of them once is enough."""

    found: Findings
    colours: dict[str, Colour] = field(default_factory=dict)
    variables: dict[str, Colour] = field(default_factory=dict)
    constants: dict[str, Term] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    equalities: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)

    @property
    def names(self) -> Names:
        return Names(
            self.variables,
            tuple(self.colours.values()),
            self.constants,
            frozenset(self.functions),
            frozenset(self.equalities),
        )

    def read(self, block: Node) -> None:
        """Everything in a ``globbox`` or ``block``, in its order."""
        for node in block.children:
            match node.tag:
                case "block":
                    self.read(node)
                case "color":
                    self._colour(node)
                case "var":
                    self._variables(node)
                case "ml":
                    self._ml(node)
                case "globref":
                    name = node.text_of("id")
                    self.functions.add(name)
                    self.found.note(f"globref {node.id}: the ML reference `{name}` is not supported", node)
                case "use":
                    self.found.note(f"use {node.id}: the ML file `{node.text_of('ml')}` is not read", node)
                case "id" | "layout":
                    pass
                case _:
                    self.found.note(f"declaration {node.id} (`{node.tag}`) is ignored", node)

    def known(self, name: str, node: Node, what: str) -> Colour | None:
        """The colour of that name; an error if there is none, None also for one that could not be read."""
        if name in self.colours or name in self.broken:
            return self.colours.get(name)
        hint = did_you_mean(name, self.colours, "colours")
        self.found.error("unknown-colour", f"{what}: unknown colour `{name}`", node, hint)
        return None

    # -- colours

    def _colour(self, node: Node) -> None:
        name = node.text_of("id")
        what = f"colour {node.id} (`{name}`)"
        if not name:
            self.found.error("no-name", f"{what} has no name", node)
            return
        if name in self.colours or name in self.broken:
            self.found.error("duplicate", f"{what}: a colour with this name is already declared", node)
            return
        made = next((c for c in node.children if c.tag not in ("id", "timed", "layout", "declare")), None)
        colour = None if made is None else self._made(name, made, what)
        if made is None:
            self.found.error("unknown-colour", f"{what}: its declaration is empty", node)
        if node.find("timed") is not None:
            self.found.note(f"{what}: it is timed; token times are ignored", node)
        if colour is None:
            self.broken.add(name)
        else:
            self.colours[name] = colour

    def _made(self, name: str, made: Node, what: str) -> Colour | None:
        if made.tag in _SIMPLE:
            return self._simple(name, made, what)
        ids = [c.text.strip() for c in made.all("id")]
        match made.tag:
            case "enum":
                return Enum(name, tuple(ids))
            case "product":
                parts = [self.known(i, made, what) for i in ids]
                return None if None in parts else Product(name, tuple(p for p in parts if p is not None))
            case "record":
                return self._record(name, made, what)
            case "union":
                return self._union(name, made, what)
            case "list" | "alias":
                of = self.known(ids[0] if ids else "", made, what)
                if made.find("with") is not None:
                    self.found.note(f"{what}: the bounds of its length are not checked", made)
                return None if of is None else List(name, of) if made.tag == "list" else Alias(name, of)
            case "subset":
                of = self.known(ids[0] if ids else "", made, what)
                self.found.note(
                    f"{what}: it is a subset; it is read as the whole colour `{ids[0] if ids else ''}`", made
                )
                return None if of is None else Alias(name, of)
            case "index":
                self.found.note(f"{what}: the bounds of its index are not checked", made)
                number = self.colours.setdefault(f"{name}_number", Int(f"{name}_number"))
                return Union(name, ((ids[0] if ids else name, number),))
        self.found.error("unknown-colour", f"{what}: `{made.tag}` is not a kind of colour", made)
        return None

    def _simple(self, name: str, made: Node, what: str) -> Colour:
        bounds = [m.text.strip() for w in made.all("with") for m in w.all("ml")] or [
            i.text.strip() for w in made.all("with") for i in w.all("id")
        ]
        if made.tag == "bool" and len(bounds) == 2:
            for text, value in zip(bounds, (False, True), strict=True):
                self.constants[text] = Literal(value, Type.BOOL)
        elif made.tag == "unit" and bounds:
            self.constants[bounds[0]] = TupleTerm(())
        elif bounds:
            self.found.note(f"{what}: its bounds ({' .. '.join(bounds)}) are not checked", made)
        if made.tag == "time":
            self.found.note(f"{what}: its values are times; they are read as integers", made)
        return _SIMPLE[made.tag](name)

    def _record(self, name: str, made: Node, what: str) -> Colour | None:
        fields = []
        for pair in made.all("recordfield"):
            ids = [c.text.strip() for c in pair.all("id")]
            colour = self.known(ids[1], pair, what) if len(ids) == 2 else None
            if len(ids) != 2:
                self.found.error("unknown-colour", f"{what}: a field needs a name and a colour", pair)
            if colour is None:
                return None
            fields.append((ids[0], colour))
        return Record(name, tuple(fields))

    def _union(self, name: str, made: Node, what: str) -> Colour | None:
        cases: list[tuple[str, Colour | None]] = []
        for pair in made.all("unionfield"):
            held = pair.find("type", "id")
            colour = None if held is None else self.known(held.text.strip(), pair, what)
            if held is not None and colour is None:
                return None
            cases.append((pair.text_of("id"), colour))
        return Union(name, tuple(cases))

    # -- variables and values

    def _variables(self, node: Node) -> None:
        names = [c.text.strip() for c in node.all("id")]
        what = f"var {node.id} ({', '.join(f'`{n}`' for n in names)})"
        colour = self.known(node.text_of("type", "id"), node, what)
        for name in names:
            if name in self.variables and self.variables[name] != colour:
                self.found.error(
                    "duplicate", f"{what}: a variable `{name}` with another colour is already declared", node
                )
            if colour is not None:
                self.variables[name] = colour

    def _ml(self, node: Node) -> None:
        text = without_comments(node.text).strip()
        if not text or self._is_equality(text):
            return
        pieces = [p.strip() for p in text.split(";") if p.strip()]
        if all(re.match(r"val\b", p) for p in pieces):
            for piece in pieces:
                self._value(piece, node)
            return
        functions = re.findall(r"\b(?:fun|and)\s+([A-Za-z][\w']*)", text)
        self.functions.update(functions, re.findall(r"\bval\s+(?:rec\s+)?([A-Za-z][\w']*)", text))
        if text.startswith("fun") and functions:
            self.found.note(f"ml {node.id}: the ML function `{functions[0]}` (`fun`) is not supported", node)
        else:
            self.found.note(f"ml {node.id}: the ML declaration `{text.split()[0]}` is not supported", node)

    def _is_equality(self, text: str) -> bool:
        """Whether the text declares equality of a colour with reals, as the writer of files does."""
        match = re.match(r"fun eq_([A-Za-z][\w']*)", text)
        colour = self.colours.get(match.group(1)) if match else None
        if colour is None or not has_reals(colour) or text.split() != equality(colour).split():
            return False
        self.equalities.add(f"eq_{colour.name}")
        return True

    def _value(self, text: str, node: Node) -> None:
        """``val NAME = e``: the name stands for the constant."""
        match = re.fullmatch(r"val\s+([A-Za-z][\w']*)\s*(?::\s*[\w'. ]+)?=(.*)", text, re.DOTALL)
        if match is None:
            self.found.note(f"ml {node.id}: the ML declaration `{text.split('=')[0].strip()}` is not supported", node)
            return
        name, right = match.groups()
        try:
            term = parse_term(right, self.names)
        except OccursError:
            self.functions.add(name)
            self.found.note(f"ml {node.id}: the ML value `{name}` is not supported", node)
        else:
            self.constants[name] = term
