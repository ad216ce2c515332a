"""Files of CPN Tools (`.cpn`, format 6) as nets (epl-and-nets.md, section 4B).

Pages of a hierarchy become pages of one net, one per instance, whose ports are fused with their sockets.  What nets
here do not have (code segments, channels, arcs that inhibit or reset ..) is noted by its name and left out; what is
wrong with a file is an error, all errors together, each with the element, its name and page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TypeVar

from occurs.errors import (
    DefinitionProblem,
    OccursError,
    Problem,
    Severity,
    Span,
    did_you_mean,
    raise_problems,
)
from occurs.expr.tree import Literal
from occurs.model.types import Type
from occurs.model.xml_tree import Node, read_xml
from occurs.nets.colours import (
    Alias,
    Bool,
    Colour,
    Enum,
    Int,
    List,
    Product,
    Real,
    Record,
    String,
    Subset,
    Union,
    Unit,
    Value,
    index,
    plain,
)
from occurs.nets.cpn_hierarchy import Fused, Hierarchy
from occurs.nets.cpn_names import free
from occurs.nets.cpn_text import of_cpn_tools
from occurs.nets.evaluate import compile_term
from occurs.nets.functional.tree import Apply, Function, Local, Many
from occurs.nets.ml import equality, has_reals
from occurs.nets.ml_parser import (
    Names,
    parse_constant,
    parse_declarations,
    parse_delay,
    parse_guard,
    parse_term,
    parse_tokens,
    parse_value,
    parse_values,
    without_comments,
)
from occurs.nets.net import P_NORMAL, Arc, Net, Page, Place, Transition
from occurs.nets.terms import Term, TupleTerm
from occurs.nets.typing import same
from occurs.nets.validate import RULES, violations

#: inscriptions of transitions that have no form here
_OTHER = {"code": "a code segment", "channel": "a channel"}


def read(data: bytes, name: str) -> tuple[Net, tuple[Problem, ...]]:
    """Read a net from the content of a CPN Tools file.

    Args:
        data: The content of the file.
        name: The name of the file, for messages; without its suffix it is the name of the net.

    Returns:
        The net, and notes on the parts of the file that are not supported.  A note with the severity ``warning`` means
        that the net behaves differently in CPN Tools.

    Raises:
        SyntaxProblem: The file is not valid XML.
        DefinitionProblem: The file does not contain a valid net.
    """
    found = Findings(name)
    root = read_workspace(data, name)
    net = root.find("cpnet")
    if net is None:
        found.error("syntax", "this file does not contain a net: `cpnet` is missing", root)
        raise_problems(found.problems)
    assert net is not None
    version = "".join(g.get("format") for g in root.all("generator"))
    if version not in ("", "6"):
        found.note(f"generator: the file has format {version}; it is read as format 6", root, "notice")
    made = _Reader(of_cpn_tools(net), found).net(PurePath(name).stem)
    raise_problems(found.problems)
    return made, tuple(sorted(found.notes, key=Problem.sort_key))


class _Reader:
    def __init__(self, root: Node, found: Findings):
        self.root = root
        self.found = found
        self.declared = Declarations(found)
        for box in root.all("globbox"):
            self.declared.read(box)
        self.names: Names = self.declared.names
        self.pages = root.all("page")
        self._unique_ids()
        self.colours: dict[str, Colour] = {}
        #: transitions that stand for a page
        self.left_out: set[str] = set()
        self.hierarchy = Hierarchy(self.pages, found, _page_name)
        #: number of an instance and id of a place or transition -> its name in the net
        self.called = self._called()
        #: what messages call them: as in the first instance
        self.shown = {n: name for (_, n), name in reversed(self.called.items())}
        #: by their names in the net
        self.nodes = {
            self.called[k, n.id]: (n, page)
            for k, page in enumerate(self.hierarchy.instances)
            for n in page.all("place", "trans")
            if n.id
        }

    def net(self, name: str) -> Net:
        self._monitors()
        fusions = self.hierarchy.fused(self._fusions())
        made = {page.id: self._page(page) for page in self.pages}
        taken: set[str] = set()
        pages = tuple(
            self._instance(k, made[page.id], free(_page_name(page), taken), fusions)
            for k, page in enumerate(self.hierarchy.instances)
        )
        names = self.names
        net = Net(
            name, names.colours, tuple(names.variables.items()), pages, functions=tuple(names.declared.values())
        )
        net = _with_sockets(net, {f.name for f in fusions.values() if f.ports})
        self._same_in_fusion(net)
        if not self.found.problems:
            self._rules(net)
        return net

    def _instance(self, k: int, made: Page, name: str, fusions: dict[tuple[int, str], Fused]) -> Page:
        """A page with the names of one of its instances."""

        def called(node: str) -> str:
            return self.called.get((k, node), node)

        def fused(node: str) -> str | None:
            found = fusions.get((k, node))
            return None if found is None else found.name

        return Page(
            name,
            tuple(replace(p, name=called(p.name), fusion=fused(p.name)) for p in made.places),
            tuple(replace(t, name=called(t.name)) for t in made.transitions),
            tuple(replace(a, place=called(a.place), transition=called(a.transition)) for a in made.arcs),
        )

    def _unique_ids(self) -> None:
        first: dict[str, Node] = {}
        for part in (*self.root.all("globbox"), *self.pages, *self.root.all("fusion")):
            for node in part.walk():
                # the converter of Design/CPN gives the mark of a fused place the id of its fusion set
                if node.id and node.tag != "fusioninfo" and first.setdefault(node.id, node) is not node:
                    before = first[node.id]
                    message = f"{node.tag} {node.id}: the `{before.tag}` in line {before.line} has the same id"
                    self.found.error("duplicate-id", message, node)
        for page in self.pages:
            for node in (page, *page.all("place", "trans", "arc")):
                if not node.id:
                    self.found.error("no-id", f"{_kind(node)} on page `{_page_name(page)}` has no id", node)

    def _called(self) -> dict[tuple[int, str], str]:
        """Names unique in the net: those that several nodes have begin with the page's."""
        nodes = [
            (k, p, n) for k, p in enumerate(self.hierarchy.instances) for n in p.all("place", "trans") if n.id
        ]
        counted = Counter(_name(n) for _, _, n in nodes)
        taken = {name for name, k in counted.items() if k == 1}
        found = {}
        for k, page, node in nodes:
            name = _name(node)
            found[k, node.id] = name if counted[name] == 1 else free(f"{_page_name(page)}_{name}", taken)
        return found

    def _monitors(self) -> None:
        for block in self.root.all("monitorblock"):
            for node in block.walk():
                if node.tag == "monitor":
                    self.found.note(f"monitor {node.id} (`{node.get('name')}`) is ignored", node, "notice")

    # -- fusion

    def _fusions(self) -> dict[str, str]:
        """Id of a place -> the set that it is fused in."""
        found: dict[str, str] = {}
        for node in self.root.all("fusion"):
            for member in node.all("fusion_elm"):
                found[member.get("idref")] = node.get("name")
        for page in self.pages:
            for place in page.all("place"):
                info = place.find("fusioninfo")
                if info is not None and found.setdefault(place.id, info.get("name")) != info.get("name"):
                    message = (
                        f"{self._what(place, page)}: it is fused in `{info.get('name')}` and in `{found[place.id]}`"
                    )
                    self.found.error("fusion", message, place)
        return found

    def _same_in_fusion(self, net: Net) -> None:
        first: dict[str, Place] = {}
        for place in net.places.values():
            other = first.setdefault(place.fusion, place) if place.fusion is not None else place
            alike = same(other.colour, place.colour) and other.colour.timed == place.colour.timed
            if not alike or Counter(other.initial) != Counter(place.initial):
                what = "initial marking" if alike else "colour"
                node, page = self.nodes[place.name]
                message = (
                    f"{self._what(node, page)}: it is fused in `{place.fusion}` "
                    f"with `{other.name}`, which has another {what}"
                )
                self.found.error("fusion", message, node)

    # -- rules

    def _rules(self, net: Net) -> None:
        """What breaks a rule of nets, with the element's id; what CPN Tools allows nevertheless is a note."""
        part = any(n.severity == "warning" for n in self.found.notes)
        for broken in violations(net):
            node, page = self.nodes.get(broken.element, (self.root, None))
            what = self._what(node, page) if page is not None else f"`{broken.element}`"
            if broken.rule != "bindable" or not part:  # else what was left out may be what gives it a value
                self.found.error(broken.rule, f"{what}: {broken.message}", node, RULES[broken.rule])

    # -- pages

    def _page(self, page: Node) -> Page:
        """A page whose nodes are called by their ids."""
        places = tuple(self._place(n, page) for n in page.all("place"))
        transitions = tuple(self._transition(n, page) for n in page.all("trans") if not self._is_page(n, page))
        arcs = tuple(arc for node in page.all("arc") for arc in self._arcs(node, page))
        return Page(page.id, tuple(p for p in places if p is not None), transitions, arcs)

    def _what(self, node: Node, page: Node) -> str:
        return f"{_kind(node)} {node.id} (`{_name(node)}`) on page `{_page_name(page)}`"

    def _place(self, node: Node, page: Node) -> Place | None:
        what, kind = self._what(node, page), node.text_of("type", "text")
        if not kind:
            self.found.error("unknown-colour", f"{what} has no colour", node)
            return None
        colour = self.declared.known(kind, node.find("type", "text") or node, what)
        if colour is None:
            return None
        self.colours[node.id] = colour
        marked = node.find("initmark", "text")
        values: tuple[Value, ...] | None = ()
        if marked is not None:
            wrong = f"{what}, initial marking {_id(node, 'initmark')}"
            values = self.found.parsed(
                lambda text: parse_values(text, self.names, colour), marked, wrong, "the place starts empty"
            )
        return Place(node.id, colour, values or (), at=_at(node))

    def _is_page(self, node: Node, page: Node) -> bool:
        """Whether a transition stands for another page; then its arcs only show where the sockets are."""
        subst = node.find("subst")
        if subst is None:
            return False
        if self.hierarchy.page_of(node) is None:
            info = subst.find("subpageinfo")
            name = subst.get("subpage") if info is None else info.get("name")
            message = f"{self._what(node, page)}: the page `{name}` that it represents is not in the file"
            self.found.note(f"{message}; it is ignored with its arcs", node)
        self.left_out.add(node.id)
        return True

    def _transition(self, node: Node, page: Node) -> Transition:
        what = self._what(node, page)
        for tag, shown in _OTHER.items():
            text = node.text_of(tag, "text")
            if text:
                why = ": nets run no ML code" if tag == "code" else ""
                self.found.note(f"{what}: {shown} ({tag} {_id(node, tag)}) is ignored{why}", node.find(tag) or node)
        guard: tuple[Term, ...] | None = ()
        condition = node.find("cond", "text")
        if condition is not None:
            wrong = f"{what}, guard {_id(node, 'cond')}"
            guard = self.found.parsed(
                lambda text: parse_guard(text, self.names), condition, wrong, "the guard is ignored"
            )
        return Transition(
            node.id, guard or (), self._priority(node, what), at=_at(node), delay=self._delay(node, what)
        )

    def _delay(self, node: Node, what: str) -> Term | None:
        text = node.find("time", "text")
        if text is None:
            return None
        wrong = f"{what}, delay {_id(node, 'time')}"
        return self.found.parsed(lambda t: parse_delay(t, self.names), text, wrong, "the delay is ignored")

    def _priority(self, node: Node, what: str) -> int:
        text = node.find("priority", "text")
        if text is None or not text.text.strip():
            return P_NORMAL
        wrong = f"{what}, priority {_id(node, 'priority')}"
        value = self.found.parsed(lambda t: parse_constant(t, self.names), text, wrong, "P_NORMAL is used instead")
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if value is not None:
            self.found.error("bad-value", f"{wrong}: {value!r} is not a whole number from 0", text)
        return P_NORMAL

    def _arcs(self, node: Node, page: Node) -> Iterable[Arc]:
        ends = {tag: (end.get("idref") if (end := node.find(tag)) else "") for tag in ("placeend", "transend")}
        place, transition = ends["placeend"], ends["transend"]
        ids = {n.id for n in page.all("place", "trans")}
        shown = " and ".join(f"`{self.shown.get(i, i)}`" for i in (place, transition))
        what = f"arc {node.id} between {shown} on page `{_page_name(page)}`"
        if place not in ids or transition not in ids:
            self.found.note(f"{what}: one of its ends is not on the page; the arc is ignored", node)
            return
        if transition in self.left_out or place not in self.colours:
            return
        direction = node.get("orientation").lower()
        if direction in ("inhibitor", "reset"):
            self.found.note(f"{what}: arcs of the kind {node.get('orientation')} are ignored", node)
            return
        if direction not in ("ptot", "ttop", "bothdir"):
            hint = did_you_mean(node.get("orientation"), ("PtoT", "TtoP", "BOTHDIR"), "directions")
            self.found.error("bad-arc", f"{what}: `{node.get('orientation')}` is not a direction", node, hint)
            return
        terms = self._inscription(node, what, self.colours[place])
        if terms == ():
            self.found.note(f"{what}: it does not move tokens; the arc is ignored", node, "notice")
        elif terms is not None:
            for into in (True, False) if direction == "bothdir" else (direction == "ptot",):
                yield Arc(place, transition, into, terms)

    def _inscription(self, node: Node, what: str, colour: Colour) -> tuple[Term, ...] | None:
        text = node.find("annot", "text")
        if text is None or not text.text.strip():
            if isinstance(plain(colour), Unit):
                return (TupleTerm(()),)
            self.found.error("no-inscription", f"{what} has no inscription", node)
            return None
        wrong = f"{what}, inscription {_id(node, 'annot')}"
        return self.found.parsed(lambda t: parse_tokens(t, self.names, colour), text, wrong, "the arc is ignored")


def _with_sockets(net: Net, fusions: set[str]) -> Net:
    """A port has the initial tokens of its socket; those of a port count if its sockets have none."""
    first: dict[str, tuple[Value, ...]] = {}
    for p in net.places.values():
        if p.fusion in fusions and p.initial:
            first.setdefault(p.fusion, p.initial)
    pages = tuple(
        replace(page, places=tuple(replace(p, initial=first.get(p.fusion or "", p.initial)) for p in page.places))
        for page in net.pages
    )
    return replace(net, pages=pages)


def _kind(node: Node) -> str:
    return {"trans": "transition"}.get(node.tag, node.tag)


def _id(node: Node, tag: str) -> str:
    found = node.find(tag)
    return "" if found is None else found.id


def _name(node: Node) -> str:
    """The name in one line; a node without one is called by its id."""
    return " ".join(node.text_of("text").split()) or node.id


def _page_name(page: Node) -> str:
    attribute = page.find("pageattr")
    return (attribute.get("name") if attribute is not None else "") or page.id


def _at(node: Node) -> tuple[float, float] | None:
    found = node.find("posattr")
    try:
        return None if found is None else (float(found.get("x")), float(found.get("y")))
    except ValueError:
        return None


# --- declarations: colours, variables, values -------------------------------------------------------------------------
# What counts are the child elements; ``layout`` is only how CPN Tools shows a declaration.


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
    declared: dict[str, Function] = field(default_factory=dict)
    references: dict[str, Term] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)

    @property
    def names(self) -> Names:
        return Names(
            self.variables,
            tuple(self.colours.values()),
            self.constants,
            frozenset(self.functions),
            frozenset(self.equalities),
            self.declared,
            self.references,
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
                    self._reference(node)
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
        if colour is not None and node.find("timed") is not None:
            colour = replace(colour, timed=True)
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
                if of is None:
                    return None
                within = made.find("with") if made.tag == "list" else None
                lengths = None if within is None else self._bounds(within, what)
                return List(name, of, *(lengths or ())) if made.tag == "list" else Alias(name, of)
            case "subset":
                return self._subset(name, ids[0] if ids else "", made, what)
            case "index":
                bounds = self._bounds(made, what)
                if bounds is None:
                    return None
                return index(name, ids[0] if ids else name, *bounds)
        self.found.error("unknown-colour", f"{what}: `{made.tag}` is not a kind of colour", made)
        return None

    def _simple(self, name: str, made: Node, what: str) -> Colour:
        within = made.find("with")
        bounds = [] if within is None else [m.text.strip() for m in within.all("ml") or within.all("id")]
        if made.tag == "bool" and len(bounds) == 2:
            for text, value in zip(bounds, (False, True), strict=True):
                self.constants[text] = Literal(value, Type.BOOL)
        elif made.tag == "unit" and bounds:
            self.constants[bounds[0]] = TupleTerm(())
        elif made.tag in ("int", "intinf") and within is not None and len(bounds) == 2:
            found = self._bounds(within, what)
            return Int(name, *(found or ()))
        elif bounds:
            self.found.note(f"{what}: its bounds ({' .. '.join(bounds)}) are not checked", made)
        if made.tag == "time":
            self.found.note(f"{what}: its values are times; they are read as integers", made, "notice")
        return _SIMPLE[made.tag](name)

    def _bounds(self, node: Node, what: str) -> tuple[int, int] | None:
        """The two numbers that bound a colour."""
        found = []
        for text in node.all("ml"):
            value = self.found.parsed(lambda t: parse_constant(t, self.names), text, what, "it is read without bounds")
            if not isinstance(value, int) or isinstance(value, bool):
                break
            found.append(value)
        if len(found) != 2:
            self.found.note(f"{what}: its bounds are not two numbers", node)
            return None
        return found[0], found[1]

    def _subset(self, name: str, whole: str, made: Node, what: str) -> Colour | None:
        of = self.known(whole, made, what)
        by, within = made.text_of("by", "ml"), made.find("with", "ml")
        if of is None:
            return None
        if within is not None:
            values = self.found.parsed(
                lambda t: parse_constant(t, self.names), within, what, f"it is read as the whole colour `{whole}`"
            )
            return Subset(name, of, values=values if isinstance(values, tuple) else None)
        left_out = f"it is read as the whole colour `{whole}`"
        function = self.found.parsed(lambda t: parse_term(t, self.names), made.find("by", "ml") or made, what, left_out)
        if function is None:
            return Alias(name, of)
        holds = compile_term(Apply(function, Local("value")))
        return Subset(name, of, by, holds=lambda value: holds({"value ": value}))

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
        try:
            declared = parse_declarations(node.text, self.names)
        except OccursError as error:
            names = re.findall(r"\b(?:fun|and|val\s+rec|val)\s+([A-Za-z][\w']*)", text)
            self.functions.update(names)
            shown = names[0] if names else text.split()[0]
            message = f"ml {node.id}: the ML declaration of `{shown}` is not supported: {error.message}"
            self.found.note(message, node, "notice")
            return
        for one in declared:
            if one.function is not None:
                self.declared[one.name] = one.function
            elif one.value is not None:
                self.constants[one.name] = one.value

    def _reference(self, node: Node) -> None:
        """What a reference holds at first; without code it holds that always."""
        name = node.text_of("id")
        try:
            term, multiset = parse_value(node.text_of("ml"), self.names)
        except OccursError as error:
            self.functions.add(name)
            message = f"globref {node.id}: the ML reference `{name}` is not supported: {error.message}"
            self.found.note(message, node, "notice")
        else:
            self.references[name] = Many(term) if multiset else term

    def _is_equality(self, text: str) -> bool:
        """Whether the text declares equality of a colour with reals, as the writer of files does."""
        match = re.match(r"fun eq_([A-Za-z][\w']*)", text)
        colour = self.colours.get(match.group(1)) if match else None
        if colour is None or not has_reals(colour) or text.split() != equality(colour).split():
            return False
        self.equalities.add(f"eq_{colour.name}")
        return True


# --- findings: errors, and notes on what nets here do not have --------------------------------------------------------


T = TypeVar("T")


@dataclass
class Findings:
    """``problems``: errors.  ``notes``: of kind ``unsupported``; warnings say what makes the net behave otherwise."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def error(self, kind: str, message: str, node: Node, hint: str | None = None) -> None:
        self.problems.append(self._problem(kind, message, node, "error", hint))

    def note(self, message: str, node: Node, severity: Severity = "warning") -> None:
        """What is not supported, by its name."""
        self.notes.append(self._problem("unsupported", message, node, severity, None))

    def _problem(self, kind: str, message: str, node: Node, severity: Severity, hint: str | None) -> Problem:
        where = Span(node.line, 1, node.line, 2)
        return Problem(kind, message, severity, file=self.file, span=where, hint=hint)

    def parsed(self, parse: Callable[[str], T], node: Node, what: str, left_out: str) -> T | None:
        """What ``parse`` makes of the text of ``node``, which is ``what``; None if it cannot be read.

        ML that has no form in nets becomes a note, which says what is ``left_out`` therefore; all else is an error.
        The lines of places are those of the file, their columns those of the inscription.
        """
        try:
            return parse(node.text)
        except OccursError as error:
            for problem in error.problems:
                note = problem.kind == "unsupported"
                found = replace(
                    problem,
                    message=f"{what}: {problem.message}" + (f"; {left_out}" if note else ""),
                    severity="warning" if note else "error",
                    file=self.file,
                    span=_moved(problem.span, node),
                )
                (self.notes if note else self.problems).append(found)
        return None


def _moved(span: Span | None, node: Node) -> Span:
    """A place in the text of ``node`` as one in the file."""
    if span is None:
        return Span(node.line, 1, node.line, 2)
    off = (node.text_line or node.line) - 1
    return Span(span.line + off, span.column, span.end_line + off, span.end_column)


ROOT, PUBLIC = "workspaceElements", "-//CPN//DTD CPNXML 1.0//EN"


def read_workspace(data: bytes, file: str) -> Node:
    """The root of a file; DefinitionProblem ``doctype`` if it is none of CPN Tools."""
    found = read_xml(data, file)
    name, public = found.doctype or (ROOT, None)
    message = ""
    if name != ROOT or public not in (None, PUBLIC):
        shown = name if public in (None, PUBLIC) else public
        message = f"this is not a CPN Tools file: its DOCTYPE is `{shown}`, expected `{ROOT}` of `{PUBLIC}`"
    elif found.root.tag != ROOT:
        message = f"this is not a CPN Tools file: its root is `{found.root.tag}`, expected `{ROOT}`"
    if message:
        raise DefinitionProblem(Problem("doctype", message, file=file))
    return found.root
