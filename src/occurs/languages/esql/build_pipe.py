"""Pipes: eSQL trees to graphs of processors (pipes.md, 2.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from occurs.expr.tree import Expr
from occurs.languages.esql import syntax
from occurs.languages.esql.build_function import TEMPORAL, Functions
from occurs.languages.esql.build_scope import Argument, Level, Scope
from occurs.operators.process import tree

#: what joins formulas, and everything else
_LOGIC = ("->", "AND", "OR")


class Pipes(Functions):
    """Builds pipes.  ``scope_of`` has the scope of every node of the graph, by the node's identity."""

    def __init__(self) -> None:
        super().__init__()
        self.scope_of: dict[int, Scope] = {}
        #: the pipes that are lifted by the operators that are being built
        self._lifted: list[tree.Pipe] | None = None

    # --- what stands elsewhere ---------------------------------------------------------------------------------------

    @abstractmethod
    def named(self, node: syntax.Named, scope: Scope) -> tree.Pipe:
        """The pipe of a LET, a definition or an event type."""

    @abstractmethod
    def form(self, node: syntax.Form, scope: Scope) -> tree.Pipe: ...

    @abstractmethod
    def machine(self, node: syntax.Machine, scope: Scope) -> tree.Pipe: ...

    @abstractmethod
    def formula(self, node: syntax.Node, scope: Scope) -> tree.Pipe: ...

    @abstractmethod
    def prelude(self, node: syntax.Use, scope: Scope) -> tree.Pipe: ...

    # --- pipes -------------------------------------------------------------------------------------------------------

    def node(
        self, processor: tree.Processor, inputs: Sequence[tree.Pipe], node: syntax.Node, scope: Scope
    ) -> tree.Pipe:
        """The first output of a new node of the graph."""
        span, text = scope.span(node), scope.source
        line = None if span is None else text.line(span.line)
        made = tree.Node(processor, tuple(inputs), span=span, file=text.file, source=line)
        self.scope_of[id(made)] = scope
        return made.out()

    def broken(self, kind: str, message: str, node: syntax.Node, scope: Scope, hint: str | None = None) -> tree.Pipe:
        """Report a problem; a pipe of which nothing is known stands for what cannot be built."""
        self.report(kind, message, scope, scope.span(node), hint)
        return self.node(tree.Events(("",), tree.Kind("any")), (), node, scope)

    def pipe(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        """A pipe."""
        match node:
            case syntax.Named():
                return self.named(node, scope)
            case syntax.Star():
                return self._star(node, scope)
            case syntax.Form(kind="constant"):
                return self._constant(node, scope)
            case syntax.Form():
                return self.form(node, scope)
            case syntax.Machine():
                return self.machine(node, scope)
            case syntax.Where():
                return self._where(node, scope)
            case syntax.Parameter():
                return self._argument(scope.arguments[node.name], node, scope)
            case syntax.Use():
                if node.phrase.body is None:
                    return self.prelude(node, scope)
                return self.pipe(node.phrase.body, self.body(node, scope))
        return self.formula(node, scope) if self.is_formula(node, scope) else self._lift(node, scope)

    def _star(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        if scope.level is None:
            hint = "`*` is the input of the processor inside a window, a slice, a quantifier, RUN or RESET"
            return self.broken("sort", "`*` is only allowed in an inner processor", node, scope, hint)
        return scope.level.star

    def _constant(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        hint = "repeat it for every event of a pipe: `SELECT 1 FROM p`"
        return self.broken("sort", "a constant has no events of its own", node, scope, hint)

    def _argument(self, argument: Argument, node: syntax.Node, scope: Scope) -> tree.Pipe:
        found = self.pipe(argument.node, self.of_argument(argument, scope))
        if argument.scope.level is not scope.level:
            return self.outer(f"`@{node.name}`" if isinstance(node, syntax.Parameter) else "a pipe", node, scope)
        return found

    def outer(self, what: str, node: syntax.Node, scope: Scope) -> tree.Pipe:
        """An inner processor uses a pipe from outside of it."""
        inside = scope.level.what if scope.level is not None else "a pipe"
        hint = "it can only use `*`, `$variables` and constants"
        return self.broken("sort", f"{inside} uses {what} from outside", node, scope, hint)

    def _where(self, node: syntax.Where, scope: Scope) -> tree.Pipe:
        pipe = self.pipe(node.pipe, scope)
        if node.word == "THRESHOLD":
            limit = self.function(node.condition, scope.function(0))
            value = getattr(limit, "value", 0)
            return self.node(tree.Threshold(value if isinstance(value, (int, float)) else 0), (pipe,), node, scope)
        condition = self.function(node.condition, scope.function(1))
        build = tree.Where if node.word == "WHERE" else tree.StopWhen
        return self.node(build(condition), (pipe,), node, scope)

    def inner(self, node: syntax.Node, what: str, scope: Scope) -> tree.Inner:
        """An inner processor of one input."""
        level = Level(what)
        return tree.Inner(1, (self.pipe(node, scope.inner(level)),))

    # --- lifted operators --------------------------------------------------------------------------------------------

    def _lift(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        """Operators and calls over pipes: one processor for all that hang together."""
        function, inputs = self.lifted(node, scope)
        if not inputs:
            return self._constant(node, scope)
        if function == tree.Input(0):
            return inputs[0]
        return self.node(tree.Lift((function,)), inputs, node, scope)

    def lifted(self, node: syntax.Node, scope: Scope) -> tuple[Expr, list[tree.Pipe]]:
        """A function of pipes, and the pipes; none, if it is a constant."""
        before, self._lifted = self._lifted, []
        try:
            function = self.part(node, scope)
            return function, self._lifted
        finally:
            self._lifted = before

    def part(self, node: syntax.Node, scope: Scope) -> Expr:
        if scope.inputs is not None:
            return self.function(node, scope)
        match node:
            case syntax.Form(kind="constant"):
                return self.part(node["value"], scope)
            case syntax.Parameter():
                argument = scope.arguments[node.name]
                if argument.scope.level is scope.level or self.is_constant(argument.node, argument.scope):
                    return self.part(argument.node, argument.scope)
            case syntax.Use() if node.phrase.body is not None:
                return self.part(node.phrase.body, self.body(node, scope))
            case syntax.Unary(op="NOT") | syntax.Binary(op="->" | "AND" | "OR"):
                if not self.is_formula(node, scope):
                    return self.operator(node, scope)
            case syntax.Unary(op="-") | syntax.Binary() if not self.is_formula(node, scope):
                return self.operator(node, scope)
            case (
                syntax.Number() | syntax.Text() | syntax.Time() | syntax.Constant() | syntax.Variable()
                | syntax.Access() | syntax.Element() | syntax.Items() | syntax.IsNull() | syntax.Call()
            ):  # fmt: skip
                return self.operator(node, scope)
        pipe = self.pipe(node, scope)
        assert self._lifted is not None
        if pipe not in self._lifted:
            self._lifted.append(pipe)
        return tree.Input(self._lifted.index(pipe), span=scope.span(node))

    def is_constant(self, node: syntax.Node, scope: Scope) -> bool:
        """Whether there are only constants and variables."""
        if isinstance(node, syntax.Parameter):
            argument = scope.arguments[node.name]
            return self.is_constant(argument.node, argument.scope)
        pipes = (syntax.Named, syntax.Star, syntax.Machine, syntax.Use, syntax.Where, syntax.Quantifier)
        return not any(
            isinstance(n, pipes) or (isinstance(n, syntax.Form) and n.kind != "constant")
            or (isinstance(n, syntax.Parameter) and not self.is_constant(n, scope))
            for n in node.walk()
        )  # fmt: skip

    # --- formulas ----------------------------------------------------------------------------------------------------

    def is_formula(self, node: syntax.Node, scope: Scope) -> bool:
        """Whether operators of logic join something temporal, or a quantifier."""
        match node:
            case syntax.Quantifier() | syntax.Binary(op="U" | "UPTO"):
                return True
            case syntax.Unary(op=op) if op in TEMPORAL:
                return True
            case syntax.Unary(op="NOT"):
                return self.is_formula(node.operand, scope)
            case syntax.Binary(op=op) if op in _LOGIC:
                return self.is_formula(node.left, scope) or self.is_formula(node.right, scope)
            case syntax.Use() if node.phrase.body is not None:
                return self.is_formula(node.phrase.body, self.body(node, scope))
            case syntax.Parameter():
                argument = scope.arguments[node.name]
                return self.is_formula(argument.node, argument.scope)
        return False
