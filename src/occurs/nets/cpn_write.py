"""Nets as files of CPN Tools (`.cpn`, format 6; epl-and-nets.md, section 4B).

Roles of places and black transitions have no form there: black nets are transformed first, or refused.  Names become
identifiers (:mod:`occurs.nets.cpn_names`); a net with integers beyond 31 bits is written with ``intinf``, which
CPN Tools 4 knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from xml.sax.saxutils import escape, quoteattr

from occurs.errors import DefinitionProblem, Problem
from occurs.expr.tree import Literal
from occurs.nets.colours import Alias, Colour, Enum, Index, Int, List, Product, Record, Subset, Union, Value
from occurs.nets.cpn_binding import bindable, is_whole
from occurs.nets.cpn_names import for_ml
from occurs.nets.functional.tree import Function, Global
from occurs.nets.layout import Drawn, Labels, Point, joined, node_size, placed
from occurs.nets.ml import GREATEST, declaration, equality, marking_text, number, subset_text
from occurs.nets.ml_terms import Printer
from occurs.nets.net import P_NORMAL, PRIORITIES, Net, Page, Place, Transition, priority_text
from occurs.nets.transform import to_priority_net
from occurs.nets.validate import validate

VERSION = "4.0.1"
PUBLIC = "-//CPN//DTD CPNXML 1.0//EN"
_HEADER = f"""<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE workspaceElements PUBLIC "{PUBLIC}" "http://cpntools.org/DTD/6/cpn.dtd">

"""


def write(net: Net, transform: bool = False) -> bytes:
    """Write a net as a file that CPN Tools loads and runs.

    Nodes without a position on their page are laid out.

    Args:
        net: The net.
        transform: Whether to replace black transitions by normal transitions with priorities.

    Returns:
        The content of the file.

    Raises:
        DefinitionProblem: The net has black transitions and ``transform`` is False, it breaks a rule of
            :func:`occurs.nets.validate.validate`, or a term cannot be expressed in CPN ML.
    """
    black = [t.name for t in net.transitions.values() if t.black is not None]
    if black and not transform:
        shown = ", ".join(f"`{n}`" for n in black[:5]) + (", .." if len(black) > 5 else "")
        message = f"CPN Tools does not support the black transitions of this net: {shown}"
        hint = "encode them with priorities (transform=True), or write the net as .net.json"
        raise DefinitionProblem(Problem("black-transition", message, hint=hint))
    written = for_ml(to_priority_net(net))
    validate(written)
    root = _Writer(placed(bindable(written))).root()
    return (_HEADER + "\n".join(root.lines()) + "\n").encode("ascii", "xmlcharrefreplace")


def _is_wide(net: Net) -> bool:
    """Whether there are integers beyond those of ML's ``Int`` as CPN Tools has it."""

    def wide(values: Iterable[Value]) -> bool:
        return any(wide(v) if isinstance(v, tuple) else isinstance(v, int) and abs(v) > GREATEST for v in values)

    terms = [term for a in net.arcs for term in a.terms] + [g for t in net.transitions.values() for g in t.guard]
    literals = (n.value for term in terms for n in term.walk() if isinstance(n, Literal))
    return any(wide(p.initial) for p in net.places.values()) or wide(literals)


class _Writer:
    def __init__(self, net: Net):
        self.net = net
        self.numbers = count(1)
        self.wide = _is_wide(net)
        self.printer = Printer(dict(net.variables), net.colours, self.wide)
        self.ids = {name: self._id() for name in (*net.places, *net.transitions)}

    def _id(self) -> str:
        return f"ID{next(self.numbers)}"

    def root(self) -> Tag:
        root = Tag("workspaceElements")
        root.add("generator", tool="CPN Tools", version=VERSION, format=6)
        cpnet = root.add("cpnet")
        globbox = cpnet.add("globbox")
        sheets = []
        for page in self.net.pages:
            sheets.append(self._id())
            cpnet.children.append(self._page(page, sheets[-1]))
        self._declarations(globbox)  # last: the pages tell which functions of equality are needed
        self._fusions(cpnet)
        instances = cpnet.add("instances")
        shown = [(instances.add("instance", id=self._id(), page=sheet)).attributes["id"] for sheet in sheets]
        cpnet.add("options")
        self._binder(cpnet.add("binders"), shown)
        cpnet.add("monitorblock", name="Monitors")
        cpnet.add("IndexNode", expanded="true")
        return root

    def _binder(self, binders: Tag, instances: Sequence[str]) -> None:
        """The window that is open at first: the pages as its sheets."""
        if not instances:
            return
        binder = binders.add("cpnbinder", id=self._id(), x=260, y=120, width=900, height=600)
        sheets = binder.add("sheets")
        for k, instance in enumerate(instances):
            sheet = sheets.add("cpnsheet", id=self._id(), panx="0.0", pany="0.0", zoom="1.0", instance=instance)
            sheet.add("zorder").add("position", value=k)
        binder.add("zorder").add("position", value=0)

    # -- declarations

    def _declarations(self, globbox: Tag) -> None:
        block = self._block(globbox, "Standard priorities")
        for name, level in PRIORITIES.items():
            self._ml(block, f"val {name} = {level};")
        block = self._block(globbox, "Colours")
        functions = {f.name: f for f in self.net.functions}
        for colour in self.net.colours:
            if isinstance(colour, Subset) and colour.by in functions:
                for function in _called(functions[colour.by]):
                    self._function(block, functions.pop(function.name, None))
            self._colour(block, colour)
        if functions:
            block = self._block(globbox, "Functions")
            for function in functions.values():
                self._function(block, function)
        if self.printer.compared:
            block = self._block(globbox, "Equality of values with reals")
            for colour in self.printer.compared.values():
                self._ml(block, equality(colour))
        block = self._block(globbox, "Variables")
        for name, colour in self.net.variables:
            tag = block.add("var", id=self._id())
            tag.add("type").add("id", colour.name)
            tag.add("id", name)
            tag.add("layout", f"var {name} : {colour.name};")

    def _function(self, block: Tag, function: Function | None) -> None:
        if function is not None:
            self._ml(block, self.printer.function(function))

    def _block(self, globbox: Tag, name: str) -> Tag:
        block = globbox.add("block", id=self._id())
        block.add("id", name)
        return block

    def _ml(self, block: Tag, text: str) -> None:
        block.add("ml", text, id=self._id()).add("layout", text)

    def _colour(self, block: Tag, colour: Colour) -> None:
        tag = block.add("color", id=self._id())
        tag.add("id", colour.name)
        if colour.timed:
            tag.add("timed")
        match colour:
            case Enum():
                made = tag.add("enum")
                for value in colour.values:
                    made.add("id", value)
            case Product():
                made = tag.add("product")
                for part in colour.parts:
                    made.add("id", part.name)
            case Record() if colour.fields:
                made = tag.add("record")
                for name, held in colour.fields:
                    pair = made.add("recordfield")
                    pair.add("id", name)
                    pair.add("id", held.name)
            case Index():
                made = tag.add("index")
                made.add("ml", number(colour.numbers.low or 0))
                made.add("ml", number(colour.numbers.high or 0))
                made.add("id", colour.cases[0][0])
            case Union():
                made = tag.add("union")
                for name, case in colour.cases:
                    pair = made.add("unionfield")
                    pair.add("id", name)
                    if case is not None:
                        pair.add("type").add("id", case.name)
            case List():
                made = tag.add("list")
                made.add("id", colour.of.name)
                if colour.longest is not None:
                    _with(made, colour.shortest, colour.longest)
            case Subset():
                made = tag.add("subset")
                made.add("id", colour.of.name)
                how, _, what = subset_text(colour).partition(" ")
                made.add(how).add("ml", what)
            case Alias():
                tag.add("alias").add("id", colour.of.name)
            case Record():
                tag.add("unit")
            case Int():
                made = tag.add("intinf" if self.wide else "int")
                if colour.low is not None and colour.high is not None:
                    _with(made, colour.low, colour.high)
            case _:
                tag.add(type(colour).__name__.lower())
        tag.add("layout", declaration(colour, self.wide))

    # -- pages

    def _page(self, page: Page, sheet: str) -> Tag:
        tag = Tag("page", {"id": sheet})
        tag.add("pageattr", name=page.name)
        for place in page.places:
            self._place(tag, place)
        for transition in page.transitions:
            self._transition(tag, transition)
        lines = joined(page)
        colours = {p.name: p.colour for p in self.net.places.values()}
        texts = [self._tokens(line, colours[line.arc.place]) for line in lines]
        for line, text, at in zip(lines, texts, Labels(page, lines).on_lines(texts, wrap=False), strict=True):
            self._arc(tag, line, text, at)
        tag.add("constraints")
        return tag

    def _place(self, page: Tag, place: Place) -> None:
        x, y = place.at or (0.0, 0.0)
        wide, high = node_size(place.name)
        tag = page.add("place", id=self.ids[place.name])
        _looks(tag, (x, y), 1)
        tag.add("text", place.name)
        tag.add("ellipse", w=_length(wide), h=_length(high))
        tag.add("token", x=_length(-10), y=_length(0))
        marking = tag.add("marking", x=_length(0), y=_length(0), hidden="false")
        marking.add("snap", snap_id=0, **{"anchor.horizontal": 0, "anchor.vertical": 0})
        if place.fusion is not None:
            info = tag.add("fusioninfo", id=self._id(), name=place.fusion)
            _looks(info, (x - wide / 2 + 4, y - high / 2 - 5), 0)
        self._inscription(tag, "type", place.colour.name, (x + wide / 2 + 12, y - high / 2 - 4))
        marked = marking_text(place.initial, place.colour)
        self._inscription(tag, "initmark", marked, (x + wide / 2 + 12, y + high / 2 + 4))

    def _transition(self, page: Tag, transition: Transition) -> None:
        x, y = transition.at or (0.0, 0.0)
        wide, high = node_size(transition.name)
        tag = page.add("trans", id=self.ids[transition.name], explicit="false")
        _looks(tag, (x, y), 1)
        tag.add("text", transition.name)
        tag.add("box", w=_length(wide), h=_length(high))
        tag.add("binding", x=_length(7.2), y=_length(-3))
        guard = self.printer.guard(transition.guard)
        self._inscription(tag, "cond", guard, (x, y + high / 2 + 11))
        delay = "" if transition.delay is None else f"@+({self.printer.term(transition.delay)})"
        self._inscription(tag, "time", delay, (x + wide / 2 + 12, y + high / 2 + 11))
        self._inscription(tag, "code", "", (x + wide / 2 + 34, y - high / 2 - 11))
        text = "" if transition.priority == P_NORMAL else priority_text(transition.priority)
        self._inscription(tag, "priority", text, (x, y - high / 2 - 11))

    def _tokens(self, line: Drawn, colour: Colour) -> str:
        return self.printer.tokens(line.arc.terms, colour, line.into and is_whole(colour))

    def _arc(self, page: Tag, line: Drawn, text: str, at: Point) -> None:
        direction = "BOTHDIR" if line.into and line.out else "PtoT" if line.into else "TtoP"
        tag = page.add("arc", id=self._id(), orientation=direction, order=1)
        _looks(tag, (0.0, 0.0), 1)
        tag.add("arrowattr", headsize="1.000000", currentcyckle=2)
        tag.add("transend", idref=self.ids[line.arc.transition])
        tag.add("placeend", idref=self.ids[line.arc.place])
        if line.bend is not None:
            _looks(tag.add("bendpoint", id=self._id(), serial=1), line.bend, 0)
        self._inscription(tag, "annot", text, at)

    def _inscription(self, node: Tag, name: str, text: str, at: Point) -> None:
        tag = node.add(name, id=self._id())
        _looks(tag, at, 0)
        tag.add("text", text, tool="CPN Tools", version=VERSION)

    def _fusions(self, cpnet: Tag) -> None:
        members: dict[str, list[str]] = {}
        for place in self.net.places.values():
            if place.fusion is not None:
                members.setdefault(place.fusion, []).append(place.name)
        for name, places in members.items():
            fusion = cpnet.add("fusion", id=self._id(), name=name)
            for place_name in places:
                fusion.add("fusion_elm", idref=self.ids[place_name])


def _with(made: Tag, low: int, high: int) -> None:
    within = made.add("with")
    within.add("ml", number(low))
    within.add("ml", number(high))


def _called(function: Function, seen: tuple[Function, ...] = ()) -> list[Function]:
    """A function and those that it calls, each after those that it calls itself."""
    found: list[Function] = []
    for body in function.bodies:
        for node in body.walk():
            if isinstance(node, Global) and node.function not in (*seen, function, *found):
                found += [f for f in _called(node.function, (*seen, function)) if f not in found]
    return [*found, function]


def _looks(tag: Tag, at: Point, thick: int) -> None:
    """Where something stands and how it is drawn."""
    tag.add("posattr", x=_length(at[0]), y=_length(at[1]))
    tag.add("fillattr", colour="White", pattern="Solid" if thick == 0 else "", filled="false")
    tag.add("lineattr", colour="Black", thick=thick, type="Solid")
    tag.add("textattr", colour="Black", bold="false")


def _length(value: float) -> str:
    return f"{value:.6f}"


# --- XML as text ------------------------------------------------------------------------------------------------------


@dataclass
class Tag:
    """An element to be written: its text comes before its children."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Tag] = field(default_factory=list)

    def add(self, name: str, text: str = "", /, **attributes: object) -> Tag:
        """A new child, returned."""
        child = Tag(name, {k: str(v) for k, v in attributes.items()}, text)
        self.children.append(child)
        return child

    def lines(self, indent: str = "") -> Iterator[str]:
        """The lines of the element."""
        attributes = "".join(f" {k}={quoteattr(v)}" for k, v in self.attributes.items())
        text = escape(self.text)
        if not self.children:
            yield f"{indent}<{self.name}{attributes}" + (f">{text}</{self.name}>" if text else "/>")
            return
        yield f"{indent}<{self.name}{attributes}>{text}"
        for child in self.children:
            yield from child.lines(indent + "  ")
        yield f"{indent}</{self.name}>"
