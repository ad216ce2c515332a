"""Files of CPN Tools (`.cpn`, format 6) as nets (epl-and-nets.md, section 4B).

What nets here do not have (hierarchy, time, code segments, functions of ML, choices at arcs ..) is noted by its name
and left out; what is wrong with a file is an error, all errors together, each with the element, its name and page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath

from occurs.errors import Problem, did_you_mean, raise_problems
from occurs.expr.tree import Binary, Ref
from occurs.nets.colours import Colour, Unit, Value, plain
from occurs.nets.cpn_declarations import Declarations
from occurs.nets.cpn_findings import Findings
from occurs.nets.cpn_xml import Node, read_xml
from occurs.nets.ml_names import Names, members
from occurs.nets.ml_parser import parse_constant, parse_guard, parse_tokens, parse_values
from occurs.nets.net import P_NORMAL, Arc, Net, Page, Place, Transition
from occurs.nets.terms import Term, TupleTerm
from occurs.nets.validate import RULES, violations

#: inscriptions of transitions that have no form here
_OTHER = {"time": "a delay", "code": "a code segment", "channel": "a channel"}


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
    root = read_xml(data, name)
    net = root.find("cpnet")
    if net is None:
        found.error("syntax", "this file does not contain a net: `cpnet` is missing", root)
        raise_problems(found.problems)
    assert net is not None
    version = "".join(g.get("format") for g in root.all("generator"))
    if version not in ("", "6"):
        found.note(f"generator: the file has format {version}; it is read as format 6", root, "notice")
    made = _Reader(net, found).net(PurePath(name).stem)
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
        #: id of a place or transition -> its name in the net
        self.called = self._called()
        self.colours: dict[str, Colour] = {}
        self.left_out: set[str] = set()

    def net(self, name: str) -> Net:
        self._monitors()
        fusions = self._fusions()
        page_names = self._page_names()
        pages = tuple(self._page(node, page_names[node.id], fusions) for node in self.pages)
        names = self.names
        made = Net(name, names.colours, tuple(names.variables.items()), pages)
        self._same_in_fusion(made)
        if not self.found.problems:
            self._rules(made)
        return made

    def _unique_ids(self) -> None:
        first: dict[str, Node] = {}
        for part in (*self.root.all("globbox"), *self.pages, *self.root.all("fusion")):
            for node in part.walk():
                if node.id and first.setdefault(node.id, node) is not node:
                    before = first[node.id]
                    message = f"{node.tag} {node.id}: the `{before.tag}` in line {before.line} has the same id"
                    self.found.error("duplicate-id", message, node)
        for page in self.pages:
            for node in (page, *page.all("place", "trans", "arc")):
                if not node.id:
                    self.found.error("no-id", f"{_kind(node)} on page `{_page_name(page)}` has no id", node)

    def _page_names(self) -> dict[str, str]:
        found: dict[str, str] = {}
        taken: set[str] = set()
        for node in self.pages:
            found[node.id] = _free(_page_name(node), taken)
        return found

    def _called(self) -> dict[str, str]:
        """Names unique in the net: those that several nodes have begin with the page's."""
        nodes = [(p, n) for p in self.pages for n in p.all("place", "trans")]
        counted = Counter(_name(n) for _, n in nodes)
        taken = {name for name, k in counted.items() if k == 1}
        found = {}
        for page, node in nodes:
            name = _name(node)
            found[node.id] = name if counted[name] == 1 else _free(f"{_page_name(page)}_{name}", taken)
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
                        f"{self._what(place, page)}: it is fused in "
                        f"`{info.get('name')}` and in `{found[place.id]}`"
                    )
                    self.found.error("fusion", message, place)
        return found

    def _same_in_fusion(self, net: Net) -> None:
        first: dict[str, Place] = {}
        nodes = {self.called[n.id]: (n, p) for p in self.pages for n in p.all("place")}
        for place in net.places.values():
            other = first.setdefault(place.fusion, place) if place.fusion is not None else place
            if (other.colour, Counter(other.initial)) != (place.colour, Counter(place.initial)):
                what = "colour" if other.colour != place.colour else "initial marking"
                node, page = nodes[place.name]
                message = (
                    f"{self._what(node, page)}: it is fused in `{place.fusion}` "
                    f"with `{other.name}`, which has another {what}"
                )
                self.found.error("fusion", message, node)

    # -- rules

    def _rules(self, net: Net) -> None:
        """What breaks a rule of nets, with the element's id; what CPN Tools allows nevertheless is a note."""
        nodes = {self.called[n.id]: (n, p) for p in self.pages for n in p.all("place", "trans")}
        part = any(n.severity == "warning" for n in self.found.notes)
        for broken in violations(net):
            node, page = nodes.get(broken.element, (self.root, None))
            what = self._what(node, page) if page is not None else f"`{broken.element}`"
            name = next(iter(re.findall(r"binds `(.*)`", broken.message)), "")
            if broken.rule != "bindable":
                self.found.error(broken.rule, f"{what}: {broken.message}", node, RULES[broken.rule])
            elif members(self.names.variables[name]) is not None:
                self.found.note(f"{what}: `{name}` may have any value of its colour", node)
            elif any(_equates(g, name) for g in net.transitions[broken.element].guard):
                self.found.note(f"{what}: the guard binds `{name}`", node)
            elif not part:  # else what was left out may be what gives it a value
                self.found.error(broken.rule, f"{what}: {broken.message}", node, RULES[broken.rule])

    # -- pages

    def _page(self, page: Node, name: str, fusions: dict[str, str]) -> Page:
        places = tuple(self._place(n, page, fusions.get(n.id)) for n in page.all("place"))
        transitions = tuple(self._transition(n, page) for n in page.all("trans") if not self._is_page(n, page))
        arcs = tuple(arc for node in page.all("arc") for arc in self._arcs(node, page))
        return Page(name, tuple(p for p in places if p is not None), transitions, arcs)

    def _what(self, node: Node, page: Node) -> str:
        return f"{_kind(node)} {node.id} (`{_name(node)}`) on page `{_page_name(page)}`"

    def _place(self, node: Node, page: Node, fusion: str | None) -> Place | None:
        what, kind = self._what(node, page), node.text_of("type", "text")
        port = node.find("port")
        if port is not None:
            self.found.note(f"{what}: it is a port ({port.get('type')}) of a hierarchy, which is not supported", node)
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
        return Place(self.called[node.id], colour, values or (), fusion, at=_at(node))

    def _is_page(self, node: Node, page: Node) -> bool:
        """Whether a transition stands for another page; then it is left out, with its arcs."""
        subst = node.find("subst")
        if subst is None:
            return False
        info = subst.find("subpageinfo")
        name = subst.get("subpage") if info is None else info.get("name")
        message = (
            f"{self._what(node, page)}: it represents the page "
            f"`{name}` of a hierarchy; it is ignored with its arcs"
        )
        self.found.note(message, node)
        self.left_out.add(node.id)
        return True

    def _transition(self, node: Node, page: Node) -> Transition:
        what = self._what(node, page)
        for tag, shown in _OTHER.items():
            text = node.text_of(tag, "text")
            if text and text != "@+":
                self.found.note(f"{what}: {shown} ({tag} {_id(node, tag)}) is ignored", node.find(tag) or node)
        guard: tuple[Term, ...] | None = ()
        condition = node.find("cond", "text")
        if condition is not None:
            wrong = f"{what}, guard {_id(node, 'cond')}"
            guard = self.found.parsed(
                lambda text: parse_guard(text, self.names), condition, wrong, "the guard is ignored"
            )
        return Transition(self.called[node.id], guard or (), self._priority(node, what), at=_at(node))

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
        shown = " and ".join(f"`{self.called.get(i, i)}`" for i in (place, transition))
        what = f"arc {node.id} between {shown} on page `{_page_name(page)}`"
        ids = {n.id for n in page.all("place", "trans")}
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
                yield Arc(self.called[place], self.called[transition], into, terms)

    def _inscription(self, node: Node, what: str, colour: Colour) -> tuple[Term, ...] | None:
        text = node.find("annot", "text")
        if text is None or not text.text.strip():
            if isinstance(plain(colour), Unit):
                return (TupleTerm(()),)
            self.found.error("no-inscription", f"{what} has no inscription", node)
            return None
        wrong = f"{what}, inscription {_id(node, 'annot')}"
        return self.found.parsed(lambda t: parse_tokens(t, self.names, colour), text, wrong, "the arc is ignored")


def _equates(guard: Term, name: str) -> bool:
    """Whether a conjunct says what the variable is equal to."""
    return isinstance(guard, Binary) and guard.op == "=" and Ref(None, name) in (guard.left, guard.right)


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


def _free(name: str, taken: set[str]) -> str:
    """``name``, with a number if it is taken; taken then."""
    made, k = name, 2
    while made in taken:
        made, k = f"{name}_{k}", k + 1
    taken.add(made)
    return made


def _at(node: Node) -> tuple[float, float] | None:
    found = node.find("posattr")
    try:
        return None if found is None else (float(found.get("x")), float(found.get("y")))
    except ValueError:
        return None
