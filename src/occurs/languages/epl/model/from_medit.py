"""Reads the files of MEdit4CEP 1.2 as graphical models or schemas (epl-and-nets.md, section 10).

The tool keeps a domain in a `.domain` file and a pattern in a `.pattern` file, both XMI of the Eclipse Modeling
Framework.  An attribute that has its default is not in the file.  A link names its ends by their paths, such as
``//@eventPatternElements.2``, or by their ``xmi:id``.  The ids of the nodes of the model are these paths.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from occurs.errors import DefinitionProblem, Problem, Span, did_you_mean, raise_problems
from occurs.languages.epl import syntax
from occurs.languages.epl.model import Link, Model, Node
from occurs.languages.epl.model.checks import misfit, validate
from occurs.languages.epl.model.palette import (
    CONDITION,
    KINDS,
    LOGICAL,
    NAME,
    PATTERN,
    RANGE,
    SCHEDULE,
    TYPES,
    UNITS,
    VALUE,
)
from occurs.languages.epl.model.to_text import file_of, schema_of, shown
from occurs.model.xml_tree import Node as Element
from occurs.model.xml_tree import read_xml

#: the roots of the two kinds of files, with their namespaces
DOMAIN = "{www.uca.es/modeling/cep/domain}CEPDomain"
EVENT_PATTERN = "{www.uca.es/modeling/cep/eventpattern}CEPEventPattern"
_XMI, _XSI = "{http://www.omg.org/XMI}", "{http://www.w3.org/2001/XMLSchema-instance}"

_LENGTH = ("years", "months", *(u for u in UNITS if u != "microseconds"))
#: class of the metamodel -> its attributes; classes without any are those of operators of the same name
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "CEPDomain": ("domainName", "domainDescription", "domainCreationDate"),
    "CEPEventPattern": ("patternName", "patternDescription", "domainName", "patternPriority", "patternCreationDate",
                        "patternDeployed"),
    "Link": ("order", "operand", "operator"),
    "Event": ("typeName", "imagePath"),
    "EventProperty": ("name", "type", "imagePath"),
    "Value": ("value", "type"),
    "ComplexEvent": ("typeName", "imagePath"),
    "ComplexEventProperty": ("name", "imagePath"),
    "Repeat": ("count",),
    "Range": ("lowEndpoint", "highEndpoint"),
    "WithinTimer": _LENGTH,
    "TimeInterval": _LENGTH,
    "TimeSchedule": tuple(SCHEDULE),
    **{kind: () for kind in KINDS if kind in ("Every", "EveryDistinct", "FollowedBy", "Until", "While")
       or (KINDS[kind].role in (LOGICAL, CONDITION, VALUE)
           and kind not in ("Expression", "Condition", "EventProperty", "Value"))},
}  # fmt: skip
#: of every class, the other ends of links and of containment, which say again what the file says elsewhere
_AGAIN = ("inboundLink", "outboundLink", "referencedEvent", "referencedEventProperty")
_WINDOWS = ("SlidingEventInterval", "SlidingTimeInterval", "BatchingEventInterval", "BatchingTimeInterval")
#: class -> its features with other elements in them, and the class of these, if it is always the same
_INSIDE: dict[str, dict[str, str]] = {
    "CEPDomain": {"events": "Event"},
    "CEPEventPattern": {"links": "Link", "eventPatternElements": "", "complexEvent": "ComplexEvent", "actions": ""},
    "Event": {"eventProperties": "EventProperty"},
    "EventProperty": {"eventProperties": "EventProperty"},
    "ComplexEvent": {"complexEventProperties": "ComplexEventProperty"},
    "WithinTimer": {"withinTimerElements": ""},
    **{name: {"eventPatternConditions": ""} for name in _WINDOWS},
}
#: classes that only features of their own contain
_BOUND = ("CEPDomain", "CEPEventPattern", "Link", "ComplexEvent", "ComplexEventProperty")
#: features with one element at most, whose path has no number
_ONE = ("complexEvent",)
#: classes that patterns of Occurs have nothing for, with the reason
REFUSED: dict[str, str] = {
    **{name: KINDS[name].why for name in ("GroupBy", "Avg", "Count", "Max", "Min", "Sum")},
    **dict.fromkeys(_WINDOWS, KINDS["SlidingTimeWindow"].why),
    **dict.fromkeys(("Email", "Twitter"), "rules have no actions: write the detections to a sink"),
}


def text_of(source: str, file: str | None = None) -> str:
    """The EPL text of a domain or a pattern.  Raises SyntaxProblem or DefinitionProblem with all problems."""
    found = _Reader(source, file)
    if found.root.tag == DOMAIN:
        schemas = found.schemas()
        raise_problems(found.problems)
        return shown(syntax.File(schemas, file))
    model = found.checked()
    try:
        return shown(file_of(model, file))
    except DefinitionProblem as error:
        raise DefinitionProblem([found.placed(p) for p in error.problems]) from None


def model_of(source: str, file: str | None = None) -> Model:
    """The model of a pattern.  Raises SyntaxProblem or DefinitionProblem with all problems."""
    found = _Reader(source, file)
    if found.root.tag == DOMAIN:
        raise DefinitionProblem(found.problem("sort", "this is a domain, which has no pattern", found.root))
    return found.checked()


@dataclass(frozen=True)
class _Object:
    """An element with its path in the file.  ``own``: its attributes; ``inside``: what it contains, by feature."""

    path: str
    kind: str
    element: Element
    own: Mapping[str, str]
    inside: tuple[_Object, ...]

    def __str__(self) -> str:
        return f"{self.path} ({self.kind})"

    def all(self, kind: str) -> list[_Object]:
        return [o for o in self.inside if o.kind == kind]


class _Reader:
    def __init__(self, source: str, file: str | None):
        self.file = file
        self.problems: list[Problem] = []
        #: of every path its line
        self.lines: dict[str, int] = {}
        #: path or `xmi:id` -> path
        self.paths: dict[str, str] = {}
        self.nodes: dict[str, Node] = {}
        #: paths of elements that are reported and no nodes
        self.left_out: set[str] = set()
        #: paths of nodes that have lost something by a problem which is reported
        self.touched: set[str] = set()
        # a text has no encoding any more, whatever its head declares
        text = re.sub(r"^\s*<\?xml\s.*?\?>", _blank, source, flags=re.S)
        self.root = self.find_root(read_xml(text.encode(), file).root)
        self.top = self.object(self.root, "/", _local(self.root.tag))

    def find_root(self, root: Element) -> Element:
        """That of the model: it may stand beside its diagram in an `xmi:XMI`."""
        roots = root.children if root.tag == f"{_XMI}XMI" else [root]
        found = [r for r in roots if r.tag in (DOMAIN, EVENT_PATTERN)]
        if len(found) == 1:
            return found[0]
        tags = ", ".join(f"`{_local(r.tag)}`" for r in roots) or "nothing"
        hint = "a diagram holds positions only: give the .domain or .pattern file beside it"
        hint = hint if any(_local(r.tag) == "Diagram" for r in roots) else "write a .domain or .pattern file"
        message = f"expected one CEPDomain or CEPEventPattern of MEdit4CEP, found {tags}"
        raise DefinitionProblem(self.problem("sort", message, root, hint))

    # --- problems ----------------------------------------------------------------------------------------------------

    def problem(self, kind: str, message: str, element: Element, hint: str | None = None) -> Problem:
        return Problem(kind, message, file=self.file, span=_at(element.line), hint=hint)

    def report(self, kind: str, message: str, at: _Object, hint: str | None = None) -> None:
        self.problems.append(self.problem(kind, f"{at}: {message}", at.element, hint))

    def placed(self, problem: Problem) -> Problem:
        """A problem of a node with its line."""
        line = self.lines.get(problem.definition or "")
        return problem if line is None else replace(problem, span=_at(line))

    # --- the objects of the file -------------------------------------------------------------------------------------

    def object(self, element: Element, path: str, kind: str) -> _Object:
        named = element.get(f"{_XSI}type") or element.get(f"{_XMI}type")
        own: dict[str, str] = {n: v for n, v in element.attributes.items() if not n.startswith("{")}
        features = _INSIDE.get(named.rpartition(":")[2] or kind, {})
        inside, counts = [], Counter[str]()
        for child in element.children:
            name = child.tag
            if name in features:
                place = f"{path}/@{name}" if name in _ONE and not counts[name] else f"{path}/@{name}.{counts[name]}"
                counts[name] += 1
                inside.append(self.object(child, place, features[name]))
            elif child.get(f"{_XSI}nil") != "true":
                own[name] = child.get("href") or child.text
        found = _Object(path, named.rpartition(":")[2] or kind, element, own, tuple(inside))
        self.lines[path] = element.line
        for key in filter(None, (path, element.get(f"{_XMI}id"))):
            if self.paths.setdefault(key, path) != path:
                self.report("duplicate-id", f"{self.paths[key]} has the same id `{key}`", found)
        self.known(found, kind)
        return found

    def known(self, found: _Object, wanted: str) -> None:
        """Reports classes and attributes that the metamodel does not have in a place, and those that are refused."""
        kind = found.kind
        if (wanted and kind != wanted) or (not wanted and kind in _BOUND):
            self.report("sort", f"a {kind} cannot be here" + (f", only a {wanted}" if wanted else ""), found)
        elif kind in REFUSED:
            self.report("unsupported", REFUSED[kind], found)
        elif kind not in _ATTRIBUTES:
            hint = did_you_mean(kind, [*_ATTRIBUTES, *REFUSED], "classes") if kind else None
            self.report("unknown-name", "there is no such class" if kind else "its `xsi:type` is missing", found, hint)
        else:
            for name in sorted(found.own.keys() - {*_ATTRIBUTES[kind], *_AGAIN}):
                hint = did_you_mean(name, _ATTRIBUTES[kind], "attributes")
                self.report("unknown-attribute", f"it has no attribute `{name}`", found, hint)
            return
        self.left_out.add(found.path)

    def whole(self, of: _Object, name: str, default: int = 0) -> int:
        text = of.own.get(name, "").strip()
        if not text:
            return default
        if re.fullmatch(r"[+-]?\d{1,10}", text):
            return int(text)
        self.report("type-mismatch", f"`{name}` must be a whole number, not `{text}`", of)
        return default

    # --- domains -----------------------------------------------------------------------------------------------------

    def schemas(self) -> tuple[syntax.CreateSchema, ...]:
        events = self.top.all("Event")
        if not events:
            self.report("arity", "the domain has no events", self.top)
        out, seen = [], set[str]()
        for event in events:
            name = self.name(event, "typeName", seen)
            columns = []
            for path, leaf in self.leaves(event, "", report=True):
                type = leaf.own.get("type", "Unknown")
                if type not in _TYPES:
                    said = "it has no type" if type == "Unknown" else f"there is no type `{type}`"
                    self.report("unknown-name", said, leaf, f"set one of {', '.join(_TYPES)}")
                columns.append((path, type))
            if not event.inside:
                self.report("arity", "it has no properties", event)
            if not self.problems:
                out.append(schema_of(name, tuple(columns)))
        return tuple(out)

    def name(self, of: _Object, attribute: str, seen: set[str]) -> str:
        name = of.own.get(attribute, "")
        if misfit(name, NAME):
            self.report("unknown-name", f"`{attribute}` must be a name", of)
        elif name in seen:
            self.report("duplicate-name", f"there are two of the name `{name}`", of)
        seen.add(name)
        return name

    def leaves(self, of: _Object, path: str, *, report: bool = False) -> Iterator[tuple[str, _Object]]:
        """The properties of an event with their dotted names; those with others inside are left out."""
        seen: set[str] = set()
        for prop in of.all("EventProperty"):
            name = self.name(prop, "name", seen) if report else prop.own.get("name", "")
            if not prop.inside:
                yield path + name, prop
                continue
            if report and prop.own.get("type", "Unknown") != "Unknown":
                self.report("type-mismatch", "it has a type and nested properties", prop, "remove its type")
            yield from self.leaves(prop, f"{path}{name}.", report=report)

    # --- patterns ----------------------------------------------------------------------------------------------------

    def checked(self) -> Model:
        """The model without problems."""
        model = self.model()
        # what has lost an operand or an operator with a problem is not told to lack it
        found = [p for p in validate(model, self.file) if p.definition not in self.touched or p.kind not in _FOLLOW]
        raise_problems([*self.problems, *map(self.placed, found)])
        return _in_order(model)

    def model(self) -> Model:
        for found in self.top.inside:
            if found.kind != "Link":
                self.node(found)
        links = self.links()
        self.stream(links)
        own, priority = self.top.own, self.whole(self.top, "patternPriority")
        return Model(
            own.get("patternName", ""),
            tuple(self.nodes.values()),
            tuple(links),
            own.get("patternDescription", "").strip(),
            own.get("domainName", ""),
            priority or None,
        )

    def node(self, found: _Object) -> None:
        """Adds the node of an element, and those of what it contains."""
        if found.path in self.left_out:
            for other in found.inside:  # of a data window: what is wrong inside it is told too
                self.node(other)
            return
        children: list[str] = []
        if found.kind == "Event":
            for name, leaf in self.leaves(found, ""):
                type = leaf.own.get("type", "Unknown")
                attributes = {"name": name, "type": type}
                if type != "Unknown" or self.linked(leaf):
                    self.nodes[leaf.path] = Node(leaf.path, "EventProperty", attributes)
                    children.append(leaf.path)
        elif found.kind in ("ComplexEvent", "WithinTimer"):
            for other in found.inside:
                self.node(other)
            children = [o.path for o in found.inside if o.path in self.nodes]
        if found.kind == "Value" and (found.own.get("type"), found.own.get("value")) == ("String", "current_timestamp"):
            self.report("unsupported", "rules cannot read the clock: compare with a time of an event", found)
            self.left_out.add(found.path)
            return
        self.nodes[found.path] = Node(found.path, found.kind, self.attributes(found), tuple(children))

    def linked(self, found: _Object) -> bool:
        return bool(found.own.get("outboundLink")) or any(
            self.end(link, "operand") == found.path for link in self.top.all("Link")
        )

    def attributes(self, found: _Object) -> dict[str, Any]:
        """Those of the node, in which defaults that mean nothing are left out."""
        own = found.own
        match found.kind:
            case "Event" | "ComplexEvent":
                image = {"image": own["imagePath"]} if own.get("imagePath") else {}
                return {"typeName": own.get("typeName", ""), **image}
            case "ComplexEventProperty":
                return {"name": own.get("name", " ")}
            case "Value":
                return {"type": own.get("type", "Unknown"), "value": own.get("value", " ")}
            case "Repeat":
                return {"count": self.whole(found, "count")}
            case "Range":
                ends = {"low": self.whole(found, "lowEndpoint"), "high": self.whole(found, "highEndpoint")}
                return {name: n for name, n in ends.items() if n}
            case "TimeInterval" | "WithinTimer":
                length = {unit: n for unit in _LENGTH if (n := self.whole(found, unit))}
                for unit in ("years", "months"):
                    if length.pop(unit, 0):
                        self.report("unsupported", f"{unit} have no fixed length", found, "write weeks or days")
                        self.touched.add(found.path)
                return length
            case "TimeSchedule":
                # the seconds are always given: without them, a schedule is due at second 0 only
                fields = {name: self.whole(found, name, -1) for name in SCHEDULE}
                if all(n == -1 for n in fields.values()):
                    self.report("bad-bound", f"it has none of {', '.join(SCHEDULE)}", found)
                return {name: "*" if n == -1 else str(n) for name, n in fields.items()}
        return {}

    # --- links -------------------------------------------------------------------------------------------------------

    def links(self) -> list[Link]:
        """Those between nodes; the nodes of others are ``touched``."""
        out: list[Link] = []
        for found in self.top.all("Link"):
            ends = [self.end(found, name, report=True) for name in ("operand", "operator")]
            here = [e for e in ends if e in self.nodes]
            if len(here) < 2:
                self.touched.update(e for e in here if e is not None)
                continue
            source, target = map(str, ends)
            kind = self.nodes[target].of
            # the tool does not use the order of an only operand
            order = 1 if (kind.least, kind.most) == (1, 1) else self.whole(found, "order")
            out.append(Link(source, target, order))
        return out

    def end(self, link: _Object, name: str, *, report: bool = False) -> str | None:
        """The path of an end of a link; None if it has none."""
        written = link.own.get(name, "").strip()
        local = re.sub(r"^/\d*/@", "//@", written.removeprefix("#"))
        path = self.paths.get(local)
        if not report or (path is not None and (path in self.nodes or path in self.left_out)):
            return path
        if not written:
            self.report("unknown-name", f"it has no `{name}`", link)
        elif path is None and "#" in written[1:]:
            self.report("unsupported", f"its `{name}` is in another file: `{written}`", link)
        elif path is None:
            self.report("unknown-name", f"its `{name}` is not in this file: `{written}`", link)
        else:
            hint = "link one of its nested properties" if "/@eventProperties" in path else None
            self.report("sort", f"{path} cannot be linked", link, hint)
        return path

    def stream(self, links: list[Link]) -> None:
        """A pattern of a single event without operators and timers reads every event, as its text is `from T`."""
        steps = [n for n in self.nodes.values() if n.of.role in (PATTERN, LOGICAL, RANGE)]
        if not steps or any(n.kind != "Event" for n in steps):
            return
        if len(steps) == 1:
            self.nodes["every"] = Node("every", "Every")
            links.append(Link(steps[0].id, "every"))
            return
        self.touched.update(n.id for n in steps)
        text = f"{steps[1]}: events without a pattern operator are a join, which is not supported"
        hint = "link them to a Followed By or an And"
        self.problems.append(Problem("unsupported", text, file=self.file, span=_at(self.lines[steps[1].id]), hint=hint))


#: types that the tool has
_TYPES = tuple(t for t in TYPES if t != "Timestamp")
#: kinds of problems that follow from a link that is left out
_FOLLOW = ("arity", "sort", "never-completes", "bad-duration")


def _in_order(model: Model) -> Model:
    """With the events in the order of the text, so that their tags are."""
    assert model.pattern is not None
    events = _events(model, model.pattern)
    return replace(model, nodes=(*events, *(n for n in model.nodes if n.kind != "Event")))


def _events(model: Model, node: Node) -> Iterator[Node]:
    if node.kind == "Event":
        yield node
    for part in model.tops(node) if node.kind == "WithinTimer" else model.operands[node.id]:
        if model.role(part) not in (CONDITION, VALUE):
            yield from _events(model, part)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _at(line: int) -> Span:
    return Span(line, 1, line, 2)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
