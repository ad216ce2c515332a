"""The pattern of one query: what its filters may see, and everything that is wrong with it (epl-and-nets.md, 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from occurs.errors import Place
from occurs.expr.tree import Binary, Expr, Ref, conjuncts
from occurs.languages.epl import syntax
from occurs.languages.epl.checks_analysis import Atom
from occurs.languages.epl.checks_bounds import Bounds
from occurs.languages.epl.checks_scope import Bound, Names, Scope


@dataclass
class Patterns:
    """Resolves the pattern of one query.  ``defined``: where queries make types."""

    names: Names
    bounds: Bounds
    defined: Mapping[str, Place]
    atoms: dict[str, Atom] = field(default_factory=dict)
    #: the nodes around the one that is looked at, from the outermost
    path: list[syntax.Pattern] = field(default_factory=list)

    def resolve(self, pattern: syntax.Pattern) -> tuple[syntax.Pattern, dict[str, bool]]:
        """The resolved pattern, and the tags that a match may have (True: a list); reports what is wrong."""
        self.names.enter(pattern)
        self.bounds.root(pattern)
        made, found = self._node(pattern, {})
        for tag, known in self.names.tags.items():
            if known.absent:
                # never there: null wherever it is asked for
                found.setdefault(tag, known.many)
        return made, found

    def _node(self, node: syntax.Pattern, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        """``bound``: what a new instance starts with; given back is what its matches add to that."""
        self.bounds.check(node)
        self.path.append(node)
        made = self._inside(node, bound)
        self.path.pop()
        return made

    def _inside(self, node: syntax.Pattern, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        match node:
            case syntax.Filter():
                return self._filter(node, bound)
            case syntax.Followed():
                return self._followed(node, bound)
            case syntax.And() | syntax.Or():
                parts = [self._node(child, bound) for child in node.operands]
                return replace(node, operands=tuple(p for p, _ in parts)), _joined(f for _, f in parts)
            case syntax.Not():
                return replace(node, operand=self._node(node.operand, bound)[0]), {}
            case syntax.Repeat():
                operand, found = self._node(node.operand, bound)
                return replace(node, operand=operand), dict.fromkeys(found, True)
            case syntax.Until():
                operand, found = self._node(node.operand, bound)
                end, last = self._node(node.end, bound)
                return replace(node, operand=operand, end=end), {**dict.fromkeys(found, True), **last}
            case syntax.EveryDistinct():
                operand, found = self._node(node.operand, bound)
                scope = self._scope({**bound, **found})
                keys = tuple(self.names.value(k, scope)[0] for k in node.keys)
                return replace(node, operand=operand, keys=keys), found
            case syntax.While():
                operand, found = self._node(node.operand, bound)
                condition = self.names.condition(node.condition, self._scope({**bound, **found}))
                return replace(node, operand=operand, condition=condition), found
            case syntax.Every() | syntax.Within():
                operand, found = self._node(node.operand, bound)
                return replace(node, operand=operand), found
        return node, {}

    def _scope(self, bound: Bound) -> Scope:
        return Scope(bound, path=tuple(self.path))

    def _followed(self, node: syntax.Followed, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        steps: list[syntax.Pattern] = []
        found: dict[str, bool] = {}
        for operand in node.operands:
            step, more = self._node(operand, {**bound, **found})
            steps.append(step)
            found |= more
        return replace(node, operands=tuple(steps)), found

    def _filter(self, node: syntax.Filter, bound: Bound) -> tuple[syntax.Pattern, dict[str, bool]]:
        tag = list(self.names.tags)[len(self.atoms)]
        catalogue = self.names.catalogue
        catalogue.read(self.names.source, node.type, self.defined)
        scope = Scope(bound, (tag, node.type.text), path=tuple(self.path))
        made = [self.names.condition(c, scope) for c in node.conditions]
        parts = tuple(part for c in made for part in conjuncts(c))
        many = self.names.tags[tag].many
        atom = Atom(node, tag, catalogue.subtypes(node.type.text), many)
        self.atoms[tag] = self._apart(atom, parts, scope)
        name = syntax.Name(tag, span=node.tag.span if node.tag is not None else node.type.span)
        return replace(node, tag=name, conditions=parts), {tag: False}

    def _apart(self, atom: Atom, parts: tuple[Expr, ...], scope: Scope) -> Atom:
        """With its conjuncts sorted by what they look at."""
        own, equal, others = [], [], []
        for part in parts:
            if not any(isinstance(n, Ref) and n.scope is not None for n in part.walk()):
                own.append(part)
            elif (pair := self._pair(part, scope)) is not None:
                equal.append(pair)
            else:
                others.append(part)
        return replace(atom, own=tuple(own), equal=tuple(equal), others=tuple(others))

    def _pair(self, part: Expr, scope: Scope) -> tuple[str, str, str] | None:
        """``attribute = tag.attribute``, in either order, where both have one type, as far as that is known."""
        if not isinstance(part, Binary) or part.op != "=":
            return None
        own, other = part.left, part.right
        if isinstance(own, Ref) and own.scope is not None:
            own, other = other, own
        if not isinstance(own, Ref) or not isinstance(other, Ref) or other.scope is None or own.scope is not None:
            return None
        if "time" in (own.name, other.name) or other.index is not None:
            return None
        one, two = self.names.type_of(own, scope), self.names.type_of(other, scope)
        # as long as there is no data, attributes of unknown types may have one type
        unknown = one is None or two is None
        if (unknown and self.names.catalogue.inputs is not None) or (one is not two and not unknown):
            return None
        return own.name, other.scope, other.name


def _joined(found: Iterable[dict[str, bool]]) -> dict[str, bool]:
    out: dict[str, bool] = {}
    for one in found:
        out |= one
    return out
