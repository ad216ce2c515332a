"""Formulas of temporal operators and quantifiers: eSQL trees to one processor (pipes.md, 4.5, 4.6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from occurs.errors import Place, Span
from occurs.expr.tree import Param
from occurs.languages.esql import syntax
from occurs.languages.esql.build_function import TEMPORAL
from occurs.languages.esql.build_pipe import Pipes
from occurs.languages.esql.build_scope import Level, Scope
from occurs.operators.process import tree

_ONE = {"NOT": tree.Not, "G": tree.Globally, "F": tree.Eventually, "X": tree.Next, "ALWAYS": tree.Globally,
        "SOMETIME": tree.Eventually, "AFTER": tree.Next}  # fmt: skip
_TWO = {"->": tree.Implies, "AND": tree.And, "OR": tree.Or, "U": tree.Until, "UPTO": tree.Until}
_TROOLEAN = {"U": False, "UPTO": True, "FOR ALL": False, "EXISTS": False, "EVERY": True, "SOME": True, **TEMPORAL}


@dataclass
class _Flavours:
    """The first operator of each flavour, with its place and scope: False Boolean, True Troolean."""

    seen: dict[bool, tuple[str, Span | None, Scope]] = field(default_factory=dict)

    def note(self, word: str, node: syntax.Node, scope: Scope) -> None:
        self.seen.setdefault(_TROOLEAN[word], (word, scope.span(node), scope))


@dataclass
class _Parts:
    """The pipes of one processor."""

    inputs: list[tree.Pipe] = field(default_factory=list)

    def index(self, pipe: tree.Pipe) -> int:
        if pipe not in self.inputs:
            self.inputs.append(pipe)
        return self.inputs.index(pipe)


class Formulas(Pipes):
    """Builds formulas.  ``at_end``: what the statement says of their ends."""

    at_end = "nothing"

    def formula(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        flavours = _Flavours()
        troolean = self._flavour(node, scope)
        out = self._formula(node, scope, troolean, flavours)
        if len(flavours.seen) == 2:
            (word, span, at), (other, there, _) = flavours.seen[troolean], flavours.seen[not troolean]
            names = ("Boolean", "Troolean") if not troolean else ("Troolean", "Boolean")
            message = (
                f"one formula cannot have both the {names[0]} operator "
                f"`{word}` and the {names[1]} operator `{other}`"
            )
            hint = (
                "the Boolean operators are G F X U FOR ALL EXISTS; "
                "the Troolean ones are ALWAYS SOMETIME AFTER UPTO EVERY SOME"
            )
            place = Place(f"`{other}`", at.source.file, there)
            at.source.report("sort", message, span, hint, related=(place,))
        return out

    def _flavour(self, node: syntax.Node, scope: Scope) -> bool:
        """The flavour of the first operator that has one."""
        match node:
            case syntax.Quantifier():
                return _TROOLEAN[node.word]
            case syntax.Unary(op=op) if op in TEMPORAL:
                return _TROOLEAN[op]
            case syntax.Binary(op="U" | "UPTO"):
                return _TROOLEAN[node.op]
            case syntax.Unary():
                return self._flavour(node.operand, scope)
            case syntax.Binary():
                left = self.is_formula(node.left, scope)
                return self._flavour(node.left if left else node.right, scope)
            case syntax.Use():
                assert node.phrase.body is not None
                return self._flavour(node.phrase.body, self.body(node, scope))
            case syntax.Parameter():
                argument = scope.arguments[node.name]
                return self._flavour(argument.node, argument.scope)
        raise TypeError(f"not a formula: {node!r}")

    def _formula(self, node: syntax.Node, scope: Scope, troolean: bool, flavours: _Flavours) -> tree.Pipe:
        parts = _Parts()
        root = self._part(node, scope, parts, flavours, troolean)
        return self.node(tree.Formula(root, troolean, self.at_end), parts.inputs, node, scope)

    def _part(
        self, node: syntax.Node, scope: Scope, parts: _Parts, flavours: _Flavours, troolean: bool
    ) -> tree.Part:
        match node:
            case syntax.Unary(op=op) if op in _ONE:
                if op in TEMPORAL:
                    flavours.note(op, node, scope)
                return _ONE[op](self._part(node.operand, scope, parts, flavours, troolean))
            case syntax.Binary(op=op) if op in _TWO:
                if op in _TROOLEAN:
                    flavours.note(op, node, scope)
                left = self._part(node.left, scope, parts, flavours, troolean)
                return _TWO[op](left, self._part(node.right, scope, parts, flavours, troolean))
            case syntax.Quantifier():
                return self._quantified(node, scope, parts, flavours, troolean)
            case syntax.Use() if node.phrase.body is not None and self._logic(node, scope):
                return self._part(node.phrase.body, self.body(node, scope), parts, flavours, troolean)
            case syntax.Parameter() if self._logic(node, scope):
                argument = scope.arguments[node.name]
                if argument.scope.level is scope.level:
                    return self._part(argument.node, argument.scope, parts, flavours, troolean)
        function, inputs = self.lifted(node, scope)
        if not inputs:
            return tree.Given(function)
        if function == tree.Input(0):
            return tree.Atom(parts.index(inputs[0]))
        return tree.Atom(parts.index(self.node(tree.Lift((function,)), inputs, node, scope)))

    def _logic(self, node: syntax.Node, scope: Scope) -> bool:
        """Whether a phrase or what stands for a parameter is an operator of formulas."""
        if isinstance(node, syntax.Parameter):
            argument = scope.arguments[node.name]
            return self._logic(argument.node, argument.scope)
        if isinstance(node, syntax.Use) and node.phrase.body is not None:
            return self._logic(node.phrase.body, self.body(node, scope))
        return (
            isinstance(node, syntax.Quantifier)
            or (isinstance(node, syntax.Unary) and node.op in _ONE)
            or (isinstance(node, syntax.Binary) and node.op in _TWO)
        )

    def _quantified(
        self, node: syntax.Quantifier, scope: Scope, parts: _Parts, flavours: _Flavours, troolean: bool
    ) -> tree.Part:
        flavours.note(node.word, node, scope)
        if node.on is not None:
            on = self.pipe(node.on, scope)
        elif scope.level is not None:
            on = scope.level.star
        else:
            hint = f"name its pipe: `{node.word} ${node.variable} IN .. ON p : ..`"
            on = self.broken("sort", f"{node.word} needs a pipe outside an inner processor", node, scope, hint)
        domain = self.function(node.domain, scope.function(1))
        name = scope.fresh(node.variable)
        level = Level(f"the body of {node.word} ${node.variable}")
        within = scope.inner(level).binds({node.variable: Param(name)})
        if self.is_formula(node.body, within):
            body = self._formula(node.body, within, troolean, flavours)
        else:
            body = self.pipe(node.body, within)
        universal = node.word in ("FOR ALL", "EVERY")
        return tree.Quantified(universal, name, domain, parts.index(on), tree.Inner(1, (body,)))
