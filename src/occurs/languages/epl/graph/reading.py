"""From a canvas to the tree of its statement, with everything that is wrong with its form.

What did not change is the same object as in the tree of the old text.  Where something is wrong or missing, a part that
is right stands in for it, so that the checks can look at all the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeVar

from occurs.errors import Problem, did_you_mean
from occurs.expr.tree import Expr, Literal, Ref, Unary
from occurs.languages.epl import syntax
from occurs.languages.epl.graph.canvas import COMPLEX, EVENT, KINDS, SCHEDULE, TEXT, Canvas, Node, Tag
from occurs.languages.epl.graph.drawing import Drawn, HeadAnnotations, head_annotations, tag_of
from occurs.languages.epl.graph.sources import (
    STAR,
    Unread,
    cron_of,
    duration_of,
    expiry_of,
    expression_of,
    kids_of,
    one_line,
    pattern_of,
)
from occurs.languages.epl.words import RESERVED
from occurs.languages.kit.expressions import DEEPEST, MOST
from occurs.model.time import Duration
from occurs.model.types import RESERVED_OUTPUT, Type

T = TypeVar("T")
#: the type of the events that stand in for operands that are missing
MISSING = "__missing"
_NAME = re.compile(r"(?:[^\W\d]|\$)[\w$]*\Z")


@dataclass(frozen=True)
class Fault:
    """A problem of a drawing.  ``node``: None if it is one of the statement; ``row``: which condition, key or column
    of the node it is about, from 1."""

    problem: Problem
    node: str | None = None

    @property
    def error(self) -> bool:
        return self.problem.severity == "error"


@dataclass
class Reading:
    """The tree of a canvas.

    ``query``: complete, if ``faults`` has no error.  ``roots``: the patterns that are no operands, those that lead into
    the complex event first.  ``base``, ``typed``: see :class:`~occurs.languages.epl.graph.writing.Change`.  ``ids``:
    the id of the node of each pattern, by identity; ``rows``: the numbers of the rows that its conditions or keys have.
    """

    faults: list[Fault] = field(default_factory=list)
    query: syntax.Query | None = None
    roots: list[syntax.Pattern] = field(default_factory=list)
    base: dict[int, Any] = field(default_factory=dict)
    typed: dict[int, str] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    rows: dict[int, list[int]] = field(default_factory=dict)
    #: the id of the complex event
    derived: str = COMPLEX
    #: of the columns
    columns: list[int] = field(default_factory=list)
    #: what identities belong to
    _kept: list[Any] = field(default_factory=list)

    @property
    def wrong(self) -> bool:
        return any(f.error for f in self.faults)

    def keep(self, part: T) -> T:
        """Keep a part alive, whose identity is a key."""
        self._kept.append(part)
        return part


def reading_of(canvas: Canvas, old: Drawn | None = None) -> Reading:
    """Read the canvas of a statement; ``old``: the statement as it is in the text."""
    return _Reader(canvas, old if old is not None and old.query is not None else None).read()


class _Reader:
    def __init__(self, canvas: Canvas, old: Drawn | None) -> None:
        self.canvas, self.old = canvas, old
        self.was = None if old is None else old.query
        self.out = Reading()
        self.nodes: dict[str, Node] = {}
        self.operands: dict[str, list[str]] = {}
        before = () if old is None or old.canvas is None else old.canvas.nodes
        self.before: Mapping[str, Node] = {n.id: n for n in before}
        #: a filter of a simple query begins with `from`: it cannot stand in a pattern
        self.reuse = True

    # --- problems ----------------------------------------------------------------------------------------------------

    def report(
        self, kind: str, message: str, node: str | None = None, hint: str | None = None, row: int | None = None
    ) -> None:
        self.out.faults.append(Fault(Problem(kind, message, hint=hint, row=row), node))

    def unread(self, found: Unread, what: str, node: str | None, row: int | None = None) -> None:
        self.report(found.kind, f"{what}: {found.message}", node, found.hint, row)

    # --- the whole ---------------------------------------------------------------------------------------------------

    def read(self) -> Reading:
        self.enter()
        self.link()
        complex_event = self.complex_event()
        roots = self.roots()
        linked = [] if complex_event is None else self.operands[complex_event.id]
        self.out.derived = COMPLEX if complex_event is None else complex_event.id
        self.reuse = self.was is None or not self.was.simple or self.stays_simple(linked)
        built = {id: self.build(id) for id in roots}
        tops = [r for r in roots if r in linked]
        self.out.roots = [built[r] for r in [*tops, *(r for r in roots if r not in tops)]]
        if not any(n.kind in (EVENT, "TimeInterval", "TimeSchedule", TEXT) for n in self.nodes.values()):
            hint = "put an event or a timer on the canvas"
            self.report("never-completes", "the pattern has no event and no timer", hint=hint)
        if complex_event is not None and complex_event.id in linked:
            linked = []
        self.leftovers(roots, linked)
        pattern = built[tops[0]] if tops else self.out.roots[0] if self.out.roots else self.missing()
        self.query(complex_event, pattern)
        return self.out

    def stays_simple(self, linked: Sequence[str]) -> bool:
        top = self.nodes[linked[0]] if len(linked) == 1 else None
        return top is not None and top.kind == EVENT and not top.fields.get("consume") and top.id in self.before

    def enter(self) -> None:
        """Take the nodes that have an id and a kind; a field that is missing has its first value."""
        for node in self.canvas.nodes:
            kind = KINDS.get(node.kind)
            if not node.id:
                self.report("syntax", f"a node of the kind {node.kind} has no id")
            elif node.id in self.nodes:
                self.report("duplicate-name", f"two nodes have the id `{node.id}`", node.id)
            elif kind is None:
                hint = did_you_mean(node.kind, KINDS, "kinds")
                self.report("unknown-name", f"`{node.id}` has the unknown kind `{node.kind}`", node.id, hint)
            else:
                for name in node.fields.keys() - kind.fields.keys():
                    hint = did_you_mean(name, kind.fields, "fields")
                    self.report("unknown-name", f"a node of the kind {node.kind} has no field `{name}`", node.id, hint)
                fields = {n: node.fields.get(n, value) for n, value in kind.fields.items()}
                self.nodes[node.id] = replace(node, fields=fields)

    def link(self) -> None:
        """The operands of every node in their order; reports links that cannot be."""
        orders: dict[str, list[tuple[int, str]]] = {id: [] for id in self.nodes}
        users: Counter[str] = Counter()
        for link in self.canvas.links:
            source, target = self.nodes.get(link.source), self.nodes.get(link.target)
            if source is None or target is None:
                for id in (link.source, link.target):
                    if id not in self.nodes:
                        self.report("unknown-name", f"a link ends at `{id}`, which is not a node")
                continue
            if source.kind == COMPLEX:
                message = f"the complex event is linked to {target.id}, but it is what the pattern derives"
                self.report("sort", message, source.id, "link the pattern to the complex event")
                continue
            if (source.id, target.id) in {(s, target.id) for _, s in orders[target.id]}:
                self.report("duplicate-name", f"{source.id} is linked to {target.id} twice", target.id)
                continue
            users[source.id] += 1
            if users[source.id] > 1:
                hint = "an operand has one operator: copy it"
                self.report("sort", f"{source.id} is an operand of several nodes", source.id, hint)
                continue
            orders[target.id].append((link.order, source.id))
        for id, found in orders.items():
            found.sort(key=lambda f: f[0])
            self.operands[id] = [source for _, source in found]
            self.arity(self.nodes[id], [order for order, _ in found])
        self.cut_cycles()

    def arity(self, node: Node, orders: Sequence[int]) -> None:
        kind, n = KINDS[node.kind], len(orders)
        if n < kind.least or (kind.most is not None and n > kind.most):
            takes = f"{kind.least} or more" if kind.most is None else "none" if kind.most == 0 else str(kind.most)
            what = "pattern" if node.kind == COMPLEX else "operand"
            has = f"{n} {what}s" if n != 1 else f"one {what}"
            message = f"{_shown(node)} has {has if n else f'no {what}'}, but takes {takes}"
            self.report("arity", message, node.id, "link one to it" if n < kind.least else "remove a link")
        elif list(orders) != list(range(1, n + 1)):
            message = f"the operands of {_shown(node)} have the orders {list(orders)} instead of 1 to {n}"
            self.report("arity", message, node.id)

    def cut_cycles(self) -> None:
        """Report nodes that are operands of themselves, and cut their links; report what is too deep."""
        state: dict[str, int] = {}
        for top in self.nodes:
            path: list[str] = []
            stack = [(top, False)]
            while stack:
                id, left = stack.pop()
                if left:
                    path.pop()
                    state[id] = 1 + max((state.get(o, 0) for o in self.operands[id]), default=0)
                    if state[id] > DEEPEST:
                        self.report("bad-bound", f"operators are nested more than {DEEPEST} levels deep", id)
                        self.operands[id] = []
                        state[id] = 1
                    continue
                if id in state:
                    continue
                path.append(id)
                stack.append((id, True))
                for operand in list(self.operands[id]):
                    if operand in path:
                        around = " <- ".join([*path[path.index(operand) :], operand])
                        self.report("cycle", f"the links form a cycle: {around}", operand, "remove one of the links")
                        self.operands[id].remove(operand)
                    elif operand not in state:
                        stack.append((operand, False))

    def complex_event(self) -> Node | None:
        found = [n for n in self.nodes.values() if n.kind == COMPLEX]
        if not found:
            self.report("arity", "the statement has no complex event", hint="a pattern leads into one complex event")
        for more in found[1:]:
            message = f"the statement has {len(found)} complex events, but takes one"
            self.report("arity", message, more.id, "remove it")
        return found[0] if found else None

    def roots(self) -> list[str]:
        """The patterns that are no operands of patterns."""
        used = {o for id, found in self.operands.items() for o in found if self.nodes[id].kind != COMPLEX}
        return [n.id for n in self.nodes.values() if n.kind != COMPLEX and n.id not in used]

    def leftovers(self, roots: Iterable[str], linked: Sequence[str]) -> None:
        for id in roots:
            if id not in linked:
                message = f"{_shown(self.nodes[id])} does not lead into the complex event"
                self.report(
                    "never-completes", message, id, "link it to an operator or to the complex event, or delete it"
                )

    # --- patterns ----------------------------------------------------------------------------------------------------

    def missing(self) -> syntax.Pattern:
        return self.out.keep(syntax.Filter(syntax.Name(MISSING)))

    def build(self, name: str) -> syntax.Pattern:
        """The pattern of a node, of the operands that it takes."""
        node = self.nodes[name]
        kind = KINDS[node.kind]
        kids = [self.build(o) for o in self.operands[name]]
        kids += [self.missing() for _ in range(kind.least - len(kids))]
        made = self.out.keep(self.pattern(node, kids[: kind.most]))
        was = self.was_pattern(node)
        if was is not None and type(was) is type(made):
            mine, theirs = kids_of(made), kids_of(was)
            if made == was and all(a is b for a, b in zip(mine, theirs, strict=True)):
                made = was
            else:
                self.out.base[id(made)] = was
        self.out.ids[id(made)] = name
        if node.kind == TEXT:
            self.out.ids |= {id(part): name for part in made.walk()}
        return made

    def was_pattern(self, node: Node) -> syntax.Pattern | None:
        """The pattern that the node was in the text."""
        return None if self.old is None or not self.reuse else self.old.nodes.get(node.id)

    def pattern(self, node: Node, kids: Sequence[syntax.Pattern]) -> syntax.Pattern:
        was, given = self.was_pattern(node), node.fields
        match node.kind:
            case "Event":
                return self.event(node, was)
            case "EveryDistinct":
                return self.distinct(node, kids[0], was)
            case "FollowedBy":
                return syntax.Followed(tuple(kids), self.limits(node, len(kids) - 1))
            case "And":
                return syntax.And(tuple(kids))
            case "Or":
                return syntax.Or(tuple(kids))
            case "Repeat":
                count = self.count(node, "count")
                return syntax.Repeat(kids[0], 1 if count is None else count)
            case "Until":
                low, high = self.count(node, "low"), self.count(node, "high")
                return syntax.Until(low, high, kids[0], kids[1])
            case "While":
                condition = self.expression(node, "condition", was.condition if isinstance(was, syntax.While) else None)
                return syntax.While(kids[0], condition)
            case "Within":
                duration = self.duration(node, "duration", was.duration if isinstance(was, syntax.Within) else None)
                return syntax.Within(kids[0], duration, self.number(node, "count"))
            case "TimeInterval":
                old = was.duration if isinstance(was, syntax.Interval) else None
                return syntax.Interval(self.duration(node, "duration", old))
            case "TimeSchedule":
                return self.schedule(node, was)
            case "Text":
                text = str(given["text"])
                before = self.before.get(node.id)
                if was is not None and before is not None and before.fields.get("text") == text:
                    return was
                found = pattern_of(text)
                if isinstance(found, Unread):
                    self.unread(found, "Text", node.id)
                    return self.missing()
                self.out.typed[id(found)] = text.strip()
                return found
        return _UNARY[node.kind](kids[0])

    def event(self, node: Node, was: syntax.Pattern | None) -> syntax.Pattern:
        old = was if isinstance(was, syntax.Filter) else None
        kind = self.word(node, "typeName", "the type of events")
        if kind is None:
            self.report("unknown-name", f"{_shown(node)} has no type", node.id, "choose a type of events")
        tag = self.word(node, "tag", "a tag")
        if tag is not None and not _NAME.match(tag) and (old is None or old.tag is None or old.tag.text != tag):
            hint = "a name has letters, digits, `_` and `$`, and does not begin with a digit"
            self.report("syntax", f"`{tag}` is not a name", node.id, hint)
            tag = None
        old_rows = () if old is None else old.conditions
        conditions, rows = self.expressions(node, "conditions", old_rows)
        consume = self.whole(node, "consume", 0)
        made = syntax.Filter(
            self.name(kind or MISSING, None if old is None else old.type),
            None if tag is None else self.name(tag, None if old is None else old.tag),
            conditions,
            consume,
        )
        self.out.rows[id(made)] = rows
        if old is not None:
            self.out.rows[id(old)] = rows
        return made

    def distinct(self, node: Node, operand: syntax.Pattern, was: syntax.Pattern | None) -> syntax.Pattern:
        old = was if isinstance(was, syntax.EveryDistinct) else None
        keys, rows = self.expressions(node, "keys", () if old is None else old.keys)
        expiry = None
        if node.fields["expiry"] not in (None, ""):
            expiry = self.duration(node, "expiry", None if old is None else old.expiry)
        if not node.fields["keys"]:
            self.report("arity", f"{_shown(node)} has no key", node.id, "add a key: an attribute of its event")
        elif keys and (old is None or keys != old.keys):
            scopes = {n.scope for key in keys for n in key.walk() if isinstance(n, Ref)}
            if len(scopes) > 1:
                message = f"the keys of {_shown(node)} read several events, but must be attributes of one"
                self.report("sort", message, node.id)
        if not keys:
            return syntax.Every(operand)
        made = syntax.EveryDistinct(operand, keys, expiry)
        self.out.rows[id(made)] = rows
        if old is not None:
            self.out.rows[id(old)] = rows
        return made

    def limits(self, node: Node, n: int) -> tuple[int | None, ...]:
        given = node.fields["limits"]
        if not isinstance(given, Sequence) or isinstance(given, str):
            self.report("syntax", "`limits` must be a list of whole numbers and null", node.id)
            return (None,) * n
        out: list[Any] = []
        for i, limit in enumerate(given, 1):
            if (parameter := _parameter(limit)) is not None:
                out.append(parameter)
                continue
            wrong = limit is not None and (not _whole(limit) or not 0 <= limit <= MOST)
            if wrong:
                message = f"Limit {i}: the limit must be a whole number from 1, not {limit!r}"
                self.report("bad-bound", message, node.id, "leave it empty for no limit", i)
            out.append(None if wrong else limit)
        if any(limit is not None for limit in out[n:]):
            message = f"{_shown(node)} has {len(out)} limits, but only {n} arrows"
            self.report("arity", message, node.id, "an operator of n operands has n - 1 limits")
        return tuple([*out, *[None] * n][:n])

    def schedule(self, node: Node, was: syntax.Pattern | None) -> syntax.Pattern:
        old = was.fields if isinstance(was, syntax.At) else ()
        before = self.before[node.id].fields if old else {}
        fields: list[syntax.Cron] = []
        for i, name in enumerate(SCHEDULE):
            given = node.fields[name]
            if name == "second" and given in (None, ""):
                continue
            if not isinstance(given, str):
                self.report("syntax", f"`{name}` must be a text", node.id)
                given = "*"
            text = one_line(given)
            if i < len(old) and before.get(name) == text:
                fields.append(old[i])
                continue
            found = cron_of(text)
            if isinstance(found, Unread):
                hint = "write for example `*`, `5`, `*/15`, `9:17` or `[1, 15]`"
                self.report("bad-bound", f"`{given}` is not valid as {name}", node.id, hint)
                found = syntax.Cron("any")
            self.out.typed[id(self.out.keep(found))] = text
            fields.append(found)
        if all(f.kind == "any" for f in fields) and tuple(fields) != old:
            self.report("bad-bound", f"{_shown(node)} has no field that is set", node.id, "set at least one field")
        return syntax.At(tuple(fields))

    # --- fields ------------------------------------------------------------------------------------------------------

    def name(self, text: str, old: syntax.Name | None) -> syntax.Name:
        return old if old is not None and old.text == text else syntax.Name(text)

    def word(self, node: Node, field: str, what: str) -> str | None:
        """A field that is a name, or empty."""
        value = node.fields[field]
        if value is None or value == "":
            return None
        if not isinstance(value, str) or not _nameable(value):
            self.report("syntax", f"`{value}` cannot be {what}", node.id)
            return None
        return value

    def number(self, node: Node, field: str) -> int | None:
        """A field that is a whole number, or null."""
        return None if node.fields[field] is None else self.whole(node, field, 1)

    def count(self, node: Node, field: str) -> int | Expr | None:
        """A number of repetitions, null, or the text of what it is computed from."""
        value = node.fields[field]
        if not isinstance(value, str):
            return self.number(node, field)
        found = expression_of(value)
        if isinstance(found, Unread):
            self.report(found.kind, f"`{field}`: {found.message}", node.id, found.hint)
            return 1
        return self.number(node, field) if isinstance(found, Literal) else found  # "2" is no number: it says so

    def whole(self, node: Node, field: str, otherwise: int) -> Any:
        """A field that is a whole number from 0, or as it was, or a parameter; the checks may ask for more."""
        value, before = node.fields[field], self.before.get(node.id)
        if (parameter := _parameter(value)) is not None:
            return parameter
        same = before is not None and before.fields.get(field) == value
        if not _whole(value) or not (same or 0 <= value <= MOST):
            message = f"`{field}` of {_shown(node)} must be a whole number from 0, not {value!r}"
            self.report("bad-bound", message, node.id)
            return otherwise
        return int(value)

    def written(self, node: Node, field: str) -> str:
        """The text that a field had."""
        before = self.before.get(node.id)
        value = None if before is None else before.fields.get(field)
        return value if isinstance(value, str) else ""

    def duration(self, node: Node, field: str, old: Duration | None) -> Duration:
        value = node.fields[field]
        text = one_line(value) if isinstance(value, str) else ""
        if old is not None and text == self.written(node, field):
            return old
        found = expiry_of(text) if node.kind == "EveryDistinct" else duration_of(text)
        if text.replace(".", "", 1).isdecimal():
            found = Unread("bad-duration", "a duration needs a unit", None)
        if isinstance(found, Unread):
            hint = found.hint or "write for example `5 min` or `1 min 30 sec`"
            self.report("bad-duration", f"`{field}`: {found.message}", node.id, hint)
            return self.out.keep(Duration(Fraction(1_000_000)))
        self.out.typed[id(self.out.keep(found))] = text
        return found

    def expression(self, node: Node, field: str, old: Expr | None) -> Expr:
        value = node.fields[field]
        text = one_line(value) if isinstance(value, str) else ""
        if old is not None and text == self.written(node, field):
            return old
        found = expression_of(text)
        if isinstance(found, Unread):
            self.unread(found, f"`{field}`", node.id)
            return Literal(True, Type.BOOL)
        self.out.typed[id(self.out.keep(found))] = text
        return found

    def expressions(self, node: Node, field: str, old: Sequence[Expr]) -> tuple[tuple[Expr, ...], list[int]]:
        """The rows of a field that can be read, and their numbers."""
        value = node.fields[field]
        if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(v, str) for v in value):
            self.report("syntax", f"`{field}` must be a list of texts", node.id)
            return (), []
        before = self.before[node.id].fields.get(field, []) if old else []
        texts = [one_line(v) for v in value]
        same = _matched(texts, before)
        out: list[Expr] = []
        rows: list[int] = []
        for i, text in enumerate(texts):
            found = old[n] if (n := same[i]) is not None else expression_of(text)
            if isinstance(found, Unread):
                self.unread(found, f"{_ROWS[field]} {i + 1}", node.id, i + 1)
                continue
            if same[i] is None:
                self.out.typed[id(self.out.keep(found))] = text
            out.append(found)
            rows.append(i + 1)
        return tuple(out), rows

    # --- the statement -----------------------------------------------------------------------------------------------

    def query(self, complex_event: Node | None, pattern: syntax.Pattern) -> None:
        head, was = self.canvas.head, self.was
        if (self.old is None and not head.name) or (
            was is not None and not head.name and head_annotations(was).name is not None
        ):
            self.report("unknown-name", "the statement has no name", hint="name it: `@Name('..')`")
        into = self.into(complex_event)
        where = self.where()
        old_title = None if was is None else head_annotations(was).name
        if head.name and (old_title is None or old_title.value != head.name):
            self.reserved(head.name, None)
        annotations = self.annotations()
        items = self.items(complex_event)
        simple = was is not None and was.simple and isinstance(pattern, syntax.Filter) and not pattern.consume
        if simple and (head.suppress or head.discard):
            word = "@SuppressOverlappingMatches" if head.suppress else "@DiscardPartialsOnMatch"
            hint = "put an operator such as Every around the event first"
            self.report("unsupported", f"{word} needs a pattern, but this statement reads single events", hint=hint)
        marks = bool(head.suppress), bool(head.discard)
        made = syntax.Query(items, pattern, into, where, simple, *marks, annotations, () if was is None else was.order)
        if was is not None:
            self.out.base[id(made)] = was
        self.out.query = made

    def into(self, complex_event: Node | None) -> syntax.Name | None:
        """The derived type, which the complex event and the head say: the one that changed counts."""
        old = None if self.was is None else self.was.into
        before = None if old is None else old.text
        inner = None if complex_event is None else self.word(complex_event, "typeName", "the type of events")
        text = inner if inner != before or self.old is None else self.canvas.head.into
        text = text or (self.canvas.head.into if self.old is None else None)
        if not text:
            if complex_event is not None and (self.old is None or old is not None):
                hint = "name the type that the statement derives"
                self.report("unknown-name", "the complex event has no type", complex_event.id, hint)
            return None
        if not _nameable(text):
            self.report("syntax", f"`{text}` cannot be the type of events", self.out.derived)
            return None
        if text != before:
            self.reserved(text, None if complex_event is None else complex_event.id)
        return self.name(text, old)

    def reserved(self, name: str, node: str | None) -> None:
        if name.lower() in RESERVED or name in RESERVED_OUTPUT:
            self.report("reserved-name", f"`{name}` is a reserved name", node, "choose another name")

    def where(self) -> Expr | None:
        text = one_line(self.canvas.head.where or "")
        was = None if self.was is None else self.was.where
        before = None if self.old is None or self.old.canvas is None else self.old.canvas.head.where
        if not text:
            return None
        if was is not None and text == before:
            return was
        found = expression_of(text)
        if isinstance(found, Unread):
            self.unread(found, "Where", None)
            return None
        self.out.typed[id(self.out.keep(found))] = text
        return found

    def items(self, complex_event: Node | None) -> tuple[syntax.Item, ...]:
        value = [] if complex_event is None else complex_event.fields["columns"]
        rows = [c for c in value if isinstance(c, Mapping)] if isinstance(value, Sequence) else []
        if complex_event is None or len(rows) < len(value):
            if complex_event is not None:
                self.report("syntax", "`columns` must be a list of objects: name, value", complex_event.id)
            return ()
        if not rows:
            self.report("arity", "the complex event has no columns", complex_event.id, "add a column, or `*` or `a1.*`")
        star = next((i for i, c in enumerate(rows, 1) if _column(c)[1] == "*"), None)
        if star is not None and len(rows) > 1:
            message = f"Column {star}: `*` takes all events, so that it must be the only column"
            self.report("syntax", message, complex_event.id, "remove it, or the other columns", star)
        old = () if self.was is None else self.was.items
        node = self.before.get(COMPLEX)
        before = [] if node is None else [_column(c) for c in node.fields["columns"]]
        same = _matched([_column(c) for c in rows], before)
        out: list[syntax.Item] = []
        for i, row in enumerate(rows):
            n = same[i]
            near = old[i] if n is None and i < len(old) and i not in same else None
            made = old[n] if n is not None else self.item(row, i + 1, complex_event.id, near, before)
            if made is not None:
                self.out.columns.append(i + 1)
                out.append(made)
        return tuple(out)

    def item(
        self,
        row: Mapping[str, Any],
        number: int,
        node: str,
        near: syntax.Item | None,
        before: Sequence[tuple[str, str]],
    ) -> syntax.Item | None:
        name, text = _column(row)
        where = f"Column {number}"
        if name and not _nameable(name):
            self.report("syntax", f"{where}: `{name}` cannot be the name of a column", node, row=number)
            name = ""
        star = STAR.fullmatch(text)
        if star is not None:
            if name:
                self.report("syntax", f"{where}: `{text}` has no name of its own", node, "leave the name empty", number)
            made = syntax.Item(all_of=None if star[1] is None else syntax.Name(star[1].strip("`")))
            return self.out.keep(made)
        found: Expr | Unread
        if near is not None and near.expr is not None and text == before[number - 1][1]:
            found = near.expr
        else:
            found = expression_of(text)
        if isinstance(found, Unread):
            self.unread(found, where, node, number)
            return None
        if not name and (near is None or near.name is not None):
            self.report("unknown-name", f"{where} has no name", node, "name it", number)
            name = f"column{number}"
        if near is None or found is not near.expr:
            self.out.typed[id(self.out.keep(found))] = text
        made = self.out.keep(syntax.Item(found, syntax.Name(name) if name else None))
        if near is not None and near.expr is not None:
            self.out.base[id(made)] = near
        return made

    def annotations(self) -> tuple[syntax.Annotation, ...]:
        """Those of the statement, changed as the head says."""
        head, was = self.canvas.head, self.was
        old = list(() if was is None else was.annotations)
        known = HeadAnnotations(None, None, (), None) if was is None else head_annotations(was)
        before = None if known.priority is None else known.priority.value
        priority: Any = head.priority
        if priority not in (None, before) and (not _whole(priority) or priority < 0):
            self.report("bad-bound", f"the priority must be a whole number from 0, not {priority!r}")
            priority = before
        out = list(old)
        place = self.annotation(out, known.name, "Name", head.name or None, 0)
        place = self.annotation(out, known.description, "Description", head.description or None, place)
        place = self.tags(out, known.tags, head.tags, place)
        self.annotation(out, known.priority, "Priority", priority, len(out))
        return tuple(out)

    def annotation(
        self, out: list[syntax.Annotation], old: syntax.Annotation | None, word: str, value: Any, place: int
    ) -> int:
        """Put an annotation in the place of the old one, else at ``place``; returns the place behind it."""
        at = next((i for i, a in enumerate(out) if a is old), None)
        if value is None:
            if at is not None:
                del out[at]
            return place if at is None else at
        if at is None:
            out.insert(place, self.out.keep(syntax.Annotation(syntax.Name(word), value)))
            return place + 1
        assert old is not None
        if old.value != value:
            out[at] = self.out.keep(syntax.Annotation(old.name, value))
            self.out.base[id(out[at])] = old
        return at + 1

    def tags(
        self, out: list[syntax.Annotation], old: Sequence[syntax.Annotation], given: Sequence[Tag], place: int
    ) -> int:
        for a in old[len(given) :]:
            del out[next(i for i, b in enumerate(out) if b is a)]
        for n, tag in enumerate(given):
            arguments = (("name", tag.name), ("value", tag.value))
            if n >= len(old):
                out.insert(place, self.out.keep(syntax.Annotation(syntax.Name("Tag"), None, arguments)))
                place += 1
                continue
            at = next(i for i, b in enumerate(out) if b is old[n])
            if tag_of(old[n]) != tag:
                out[at] = self.out.keep(syntax.Annotation(old[n].name, None, arguments))
                self.out.base[id(out[at])] = old[n]
            place = at + 1
        return place


_UNARY: Mapping[str, Callable[[syntax.Pattern], syntax.Pattern]] = {"Every": syntax.Every, "Not": syntax.Not}
_ROWS = {"conditions": "Condition", "keys": "Key"}


def _matched(texts: Sequence[Any], before: Sequence[Any]) -> list[int | None]:
    """For each row the number of the old one that it is: that of its place first."""
    out: list[int | None] = [i if i < len(before) and before[i] == t else None for i, t in enumerate(texts)]
    for i, text in enumerate(texts):
        if out[i] is None:
            out[i] = next((n for n, b in enumerate(before) if b == text and n not in out), None)
    return out


def _column(row: Mapping[str, Any]) -> tuple[str, str]:
    name, value = row.get("name"), row.get("value")
    return name if isinstance(name, str) else "", one_line(value) if isinstance(value, str) else ""


def _shown(node: Node) -> str:
    """A node as messages name it."""
    return "the complex event" if node.kind == COMPLEX else node.id


def _nameable(text: str) -> bool:
    """Whether a text can be a name, in backquotes if need be."""
    return bool(text.strip()) and not set(text) & set("`\n\r")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _parameter(value: Any) -> Expr | None:
    """The parameter that a text stands for, perhaps with a minus sign."""
    found = expression_of(value) if isinstance(value, str) and "?" in value else None
    inner = found.arg if isinstance(found, Unary) else found
    return found if isinstance(found, Expr) and isinstance(inner, syntax.Parameter) else None
