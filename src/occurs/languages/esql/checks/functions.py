"""Functions of eSQL: trees to expressions, and what names mean where a part stands (pipes.md, 2.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from occurs.errors import DefinitionProblem, Span, did_you_mean, raise_problems
from occurs.expr import tree as core
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Param
from occurs.languages.esql import syntax
from occurs.languages.esql.parser.reader import Backtrack, Reader
from occurs.languages.esql.parser.tokens import tokens_with_end
from occurs.model.types import Type
from occurs.operators.process import tree
from occurs.operators.process.function_kinds import FUNCTIONS, OPERATORS
from occurs.operators.process.palettes import functions as functions_of_palettes

if TYPE_CHECKING:
    from occurs.operators.process.palettes import Function

TEMPORAL = {"G": False, "F": False, "X": False, "ALWAYS": True, "SOMETIME": True, "AFTER": True}
_BINARY = {"AND": "and", "OR": "or", "MOD": "mod", "DIV": "div"}
_CALLS = {"->": "implies", "^": "power", "IN": "in"}
#: functions whose second argument is an XPath, in which `$x` is a variable
_PATHS = ("xpath", "xpath_text", "xpath_number")
_IN_PATH = re.compile(r""""[^"]*"|'[^']*'|\$\s*([A-Za-z_][\w.\-]*)""")

NOTHING = core.Literal(None, Type.NULL)


#: more inputs than any function has
_MANY = 1 << 30


def _is_text(node: Expr) -> bool:
    return isinstance(node, core.Literal) and isinstance(node.value, str)


@lru_cache(maxsize=512)
def function(text: str) -> Expr:
    """The function that a text in the notation of eSQL's functions says.

    Names are attributes, ``*`` and ``$0`` the first input, ``$1`` the second; any other ``$name`` is a variable.  How
    many inputs and which variables there are is known where the function is used.  Raises SyntaxProblem and
    DefinitionProblem (``unknown-function``, ``sort``) with all that is wrong.

    >>> function("a.b > $n")
    Binary(op='>', left=Attribute(of=Ref(scope=None, name='a', index=None), name='b'), right=Param(name='n'))
    """
    source = Text(text, None)
    reader = Reader(tokens_with_end(text), source)
    try:
        node = reader.expression()
        if reader.token.kind != "end":
            raise reader.fail("the end of the text")
    except Backtrack:
        raise_problems([reader.problem()])
        raise
    scope = Scope(source, inputs=_MANY, free=True)
    built = Functions().function(node, scope)
    raise_problems(source.problems)
    return built


class Level:
    """An inner processor (window, slice, quantifier, run-on) while it is built; ``what`` it is, for messages."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.star = tree.Node(tree.Placeholder(0)).out()


@dataclass(frozen=True)
class Argument:
    """What stands for a parameter of a phrase, with the scope of the place where the phrase is used."""

    node: syntax.Node
    category: str
    scope: Scope


@dataclass(frozen=True)
class Scope:
    """``inputs``: of how many inputs a function is (None: a pipe stands here), ``aliases``: names of them.

    ``variables``: what `$name` means; its names in the tree are unique along a path, ``used`` has those in use.
    ``place``: the place to report, if it is not that of the node: the use of a phrase of another text.  ``free``: names
    of variables need not be known, as in a function text of its own.
    """

    source: Text
    level: Level | None = None
    inputs: int | None = None
    aliases: Mapping[str, int] = field(default_factory=dict)
    variables: Mapping[str, Expr] = field(default_factory=dict)
    used: frozenset[str] = frozenset()
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    place: Span | None = None
    free: bool = False

    def function(self, inputs: int, aliases: Mapping[str, int] | None = None) -> Scope:
        """The scope of a function of some inputs that stands here."""
        return replace(self, inputs=inputs, aliases=aliases or {})

    def inner(self, level: Level) -> Scope:
        """The scope of an inner processor that stands here."""
        return replace(self, level=level, inputs=None, aliases={})

    def fresh(self, name: str) -> str:
        """A name for a new variable, as it is written unless another one of the path has it."""
        out, n = name, 1
        while out in self.used or (n > 1 and out in self.variables):
            n += 1
            out = f"{name}_{n}"
        return out

    def binds(self, variables: Mapping[str, Expr]) -> Scope:
        """With these variables; those that stand for themselves are in use from here on."""
        used = {v.name for v in variables.values() if isinstance(v, Param)}
        return replace(self, variables={**self.variables, **variables}, used=self.used | used)

    def span(self, node: syntax.Node) -> Span | None:
        """The place to report for a node that stands here."""
        return self.place or node.span


class Functions:
    """Builds functions; ``phrase_source`` has the text in which each phrase stands."""

    def __init__(self) -> None:
        self.phrase_source: dict[int, Text] = {}

    def report(self, kind: str, message: str, scope: Scope, span: Span | None, hint: str | None = None) -> None:
        scope.source.report(kind, message, span, hint)

    def wrong(self, kind: str, message: str, node: syntax.Node, scope: Scope, hint: str | None = None) -> Expr:
        """Report a problem of a node; what stands for it."""
        self.report(kind, message, scope, scope.span(node), hint)
        return NOTHING

    # --- functions ---------------------------------------------------------------------------------------------------

    def function(self, node: syntax.Node, scope: Scope) -> Expr:
        """A function, of the inputs of the scope."""
        assert scope.inputs is not None
        span = scope.span(node)
        match node:
            case syntax.Variable() if node.name.isdecimal():
                return self._input(node, scope)
            case syntax.Star() if scope.inputs:
                return tree.Input(0, span=span)
            case syntax.Named():
                return self._attribute(node, scope)
            case syntax.Unary(op=op) if op in TEMPORAL:
                return self._no_pipe(f"the temporal operator `{op}`", node, scope)
            case syntax.Binary(op="U" | "UPTO"):
                return self._no_pipe(f"the temporal operator `{node.op}`", node, scope)
            case syntax.Quantifier():
                return self._no_pipe(f"the quantifier `{node.word}`", node, scope)
            case syntax.Where():
                return self._no_pipe(f"`{node.word}`", node, scope)
            case syntax.Form(kind="constant"):
                return self.function(node["value"], scope)
            case syntax.Form() | syntax.Machine() | syntax.Star():
                return self._no_pipe("a pipe", node, scope)
            case syntax.Parameter():
                return self._parameter(node, scope)
            case syntax.Use():
                if node.phrase.body is None or node.phrase.category == "processor":
                    return self._no_pipe(f"the phrase `{' '.join(node.phrase.pattern)}` of pipes", node, scope)
                return self.function(node.phrase.body, self.body(node, scope))
        return self.operator(node, scope)

    def operator(self, node: syntax.Node, scope: Scope) -> Expr:
        """What is the same in functions and over pipes: constants, variables, operators, calls."""
        span = scope.span(node)
        match node:
            case syntax.Number():
                kind = Type.INT if isinstance(node.value, int) else Type.FLOAT
                if node.value == 2**63:
                    hint = "add a decimal point to make it a float"
                    return self.wrong("syntax", "this integer does not fit in 64 bits", node, scope, hint)
                return core.Literal(node.value, kind, span=span)
            case syntax.Text():
                return core.Literal(node.value, Type.STRING, span=span)
            case syntax.Time():
                return core.Literal(node.microseconds, Type.TIMESTAMP, span=span)
            case syntax.Constant():
                return _constant(node, span)
            case syntax.Variable():
                return self._variable(node, scope)
            case syntax.Access():
                return tree.Attribute(self.part(node.of, scope), node.name, span=span)
            case syntax.Element():
                return core.Call("element", (self.part(node.of, scope), self.part(node.at, scope)), span=span)
            case syntax.Items():
                items = tuple(self.part(i, scope) for i in node.items)
                return tree.SetOf(items, span=span) if node.set else tree.ListOf(items, span=span)
            case syntax.Unary(op="NOT"):
                return core.Unary("not", self.part(node.operand, scope), span=span)
            case syntax.Unary(operand=syntax.Number(value=value)):
                kind = Type.INT if isinstance(value, int) else Type.FLOAT
                return core.Literal(-value, kind, span=span)
            case syntax.Unary():
                return core.Unary("neg", self.part(node.operand, scope), span=span)
            case syntax.Binary():
                left, right = self.part(node.left, scope), self.part(node.right, scope)
                if node.op in _CALLS:
                    return core.Call(_CALLS[node.op], (left, right), span=span)
                return core.Binary(_BINARY.get(node.op, node.op), left, right, span=span)
            case syntax.IsNull():
                return core.IsNull(self.part(node.operand, scope), node.negated, span=span)
            case syntax.Call():
                return self._call(node, scope)
        raise TypeError(f"not an operator: {node!r}")

    def part(self, node: syntax.Node, scope: Scope) -> Expr:
        """An operand of an operator."""
        return self.function(node, scope)

    # --- names -------------------------------------------------------------------------------------------------------

    def _input(self, node: syntax.Variable, scope: Scope) -> Expr:
        assert scope.inputs is not None
        if not scope.free and int(node.name[:9]) >= scope.inputs:
            known = [f"`${k}`" for k in range(scope.inputs)]
            have = f"inputs: {', '.join(known)}" if known else "there are no inputs here"
            return self.wrong("unknown-name", f"there is no input `${node.name}`", node, scope, have)
        return tree.Input(int(node.name[:9]), span=scope.span(node))

    def _attribute(self, node: syntax.Named, scope: Scope) -> Expr:
        if node.name in scope.aliases:
            return tree.Input(scope.aliases[node.name], span=scope.span(node))
        if not scope.inputs:
            message = f"the attribute `{node.name}` cannot be read here: there is no item"
            return self.wrong("sort", message, node, scope, "only constants and `$variables` are allowed here")
        return core.Ref(None, node.name, span=scope.span(node))

    def _variable(self, node: syntax.Variable, scope: Scope) -> Expr:
        found = scope.variables.get(node.name)
        if found is None and scope.free:
            found = core.Param(node.name)
        if found is None and node.name.isdecimal():
            message = f"`${node.name}` is an input of a function, but a pipe is needed here"
            hint = "apply a function to several pipes with `APPLY f WITH p, q`"
            return self.wrong("sort", message, node, scope, hint)
        if found is None:
            near = did_you_mean(node.name, scope.variables, "variables") if scope.variables else None
            return self.wrong("unknown-name", f"there is no variable `${node.name}` here", node, scope, near)
        return replace(found, span=scope.span(node))  # type: ignore[call-arg]

    def _no_pipe(self, what: str, node: syntax.Node, scope: Scope) -> Expr:
        hint = "a function consists of attributes, `$0`, constants, operators and calls"
        return self.wrong("sort", f"{what} is not allowed in a function", node, scope, hint)

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: syntax.Call, scope: Scope) -> Expr:
        args = tuple(self.part(a, scope) for a in node.args)
        others = functions_of_palettes()
        if node.name in others and node.name not in FUNCTIONS:
            return self._foreign(others[node.name], args, node, scope)
        if node.name not in FUNCTIONS or node.name in OPERATORS:
            hint = did_you_mean(node.name, {*FUNCTIONS, *others} - set(OPERATORS), "functions")
            return self.wrong("unknown-function", f"there is no function `{node.name}`", node, scope, hint)
        if node.name in _PATHS and len(args) == 2:
            nodes = node.args
            if _is_text(args[0]) and not _is_text(args[1]):
                args, nodes = args[::-1], nodes[::-1]
                message = f"`{node.name}` takes the document before the path"
                hint = f"write the arguments in the order of `json_path`: `{node.name}(doc, path)`"
                scope.source.report("argument-order", message, scope.span(node), hint, "notice")
            if isinstance(args[1], core.Literal) and _is_text(args[1]):
                args = (args[0], self._path(args[1], nodes[1], scope))
        return core.Call(node.name, args, span=scope.span(node))

    def _foreign(self, function: Function, args: tuple[Expr, ...], node: syntax.Call, scope: Scope) -> Expr:
        """A call of a function of a palette."""
        try:
            return replace(function.results(args)[0], span=scope.span(node))  # type: ignore[call-arg]
        except DefinitionProblem as problem:
            return self.wrong(problem.kind, problem.first.message, node, scope)

    def _path(self, path: core.Literal, node: syntax.Node, scope: Scope) -> Expr:
        """An XPath whose variables have the names that they have in the tree."""

        def renamed(match: re.Match[str]) -> str:
            name = match.group(1)
            if name is None:
                return match.group()
            meant = scope.variables.get(name)
            if isinstance(meant, core.Param):
                return f"${meant.name}"
            if not scope.free:
                hint = did_you_mean(name, scope.variables, "variables") if scope.variables else None
                self.wrong(
                    "unknown-name", f"there is no variable `${name}` here, and the path uses it", node, scope, hint
                )
            return match.group()

        return replace(path, value=_IN_PATH.sub(renamed, str(path.value)))

    # --- phrases -----------------------------------------------------------------------------------------------------

    def body(self, node: syntax.Use, scope: Scope) -> Scope:
        """The scope of the body of a phrase: that of its use, with what stands for its parameters."""
        categories = dict(node.phrase.parameters)
        arguments: Mapping[str, Argument] = {
            name: Argument(arg, categories[name], scope)
            for name, arg in zip(node.phrase.places, node.args, strict=True)
        }
        source = self.phrase_source.get(id(node.phrase), scope.source)
        place = scope.place if scope.place is not None or source is scope.source else node.span
        return replace(scope, arguments=arguments, aliases={}, place=place)

    def _parameter(self, node: syntax.Parameter, scope: Scope) -> Expr:
        argument = scope.arguments[node.name]
        if argument.category == "processor":
            return self._no_pipe(f"the pipe `@{node.name}`", node, scope)
        return self.function(argument.node, self.of_argument(argument, scope))

    def of_argument(self, argument: Argument, scope: Scope) -> Scope:
        """The scope of an argument: that of its use.  If a pipe stands there, a function as argument is one of the
        inputs where its parameter stands, without the names that the phrase has given them."""
        own = argument.scope
        return own if own.inputs is not None or scope.inputs is None else own.function(scope.inputs)

    def functions(self, nodes: Sequence[syntax.Node], scope: Scope) -> tuple[Expr, ...]:
        return tuple(self.function(n, scope) for n in nodes)


def _constant(node: syntax.Constant, span: Span | None) -> Expr:
    match node.word:
        case "TRUE" | "FALSE":
            return core.Literal(node.word == "TRUE", Type.BOOL, span=span)
        case "NULL":
            return core.Literal(None, Type.NULL, span=span)
        case "?":
            return tree.TrooleanLiteral("?", span=span)
    return tree.EverySlice(span=span)
