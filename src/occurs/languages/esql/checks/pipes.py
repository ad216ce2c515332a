"""Builds the graphs of processors of an eSQL program from its trees (pipes.md, 2.2, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from occurs.errors import DefinitionProblem, Place, Span, did_you_mean
from occurs.expr import tree as core
from occurs.expr.text import Name, Text
from occurs.expr.tree import Expr, Param
from occurs.languages.esql import syntax
from occurs.languages.esql.checks.functions import TEMPORAL, Argument, Functions, Level, Scope
from occurs.languages.esql.grammar import BY_KIND, PROCESSORS, SUFFIXES
from occurs.languages.esql.parser.phrases import PRELUDE_OF
from occurs.languages.kit.complaints import LASTING_HINT, lasting_text
from occurs.model.time import Duration
from occurs.model.types import Schema, Type
from occurs.operators.process import declared, grouping, tree
from occurs.operators.process.kinds import TUPLE, of_schema

#: what joins formulas, and everything else
_LOGIC = ("->", "AND", "OR")
_ONE = {"NOT": tree.Not, "G": tree.Globally, "F": tree.Eventually, "X": tree.Next, "ALWAYS": tree.Globally,
        "SOMETIME": tree.Eventually, "AFTER": tree.Next}  # fmt: skip
_TWO = {"->": tree.Implies, "AND": tree.And, "OR": tree.Or, "U": tree.Until, "UPTO": tree.Until}
_TROOLEAN = {"U": False, "UPTO": True, "FOR ALL": False, "EXISTS": False, "EVERY": True, "SOME": True, **TEMPORAL}
#: the greatest width and height of a picture, in pixels
_LARGEST = 10_000


@dataclass(frozen=True)
class Entry:
    """A LET or a definition with the text in which it stands."""

    source: Text
    statement: syntax.Let | syntax.Definition

    @property
    def name(self) -> str:
        s = self.statement
        return s.name.text if isinstance(s, syntax.Let) else s.output


class Builder(Functions):
    """The pipes of files that make one program.

    ``inputs``: the event types that are known.  ``closed``: there are no others; else every name that nobody defines
    is one.  What is wrong is among the problems of the ``sources``.

    ``at_end``: what the statement being built says of the ends of its formulas.
    """

    at_end = "nothing"

    def __init__(self, files: Sequence[syntax.File], inputs: Mapping[str, Schema], closed: bool) -> None:
        super().__init__()
        #: the scope of every node of the graph, by the node's identity
        self.scope_of: dict[int, Scope] = {}
        #: the pipes that are lifted by the operators that are being built
        self._lifted: list[tree.Pipe] | None = None
        self.inputs = inputs
        self.closed = closed
        self.sources = [Text(f.text, f.name) for f in files]
        self.unread = frozenset[str]().union(*(f.unread for f in files))
        self.entries: dict[str, Entry] = {}
        self._made: dict[str, tree.Pipe] = {}
        self._making: list[str] = []
        self._events: dict[str, tree.Pipe] = {}
        for source, file in zip(self.sources, files):
            for statement in file.statements:
                if isinstance(statement, syntax.Phrase):
                    self.phrase_source[id(statement)] = source
                else:
                    self._enter(Entry(source, statement))

    def _enter(self, entry: Entry) -> None:
        known = self.entries.get(entry.name)
        if known is None:
            self.entries[entry.name] = entry
            return
        s = entry.statement
        nameless = isinstance(s, syntax.Definition) and s.name is None
        message = "two queries have no name" if nameless else f"`{entry.name}` is defined twice"
        hint = "name one of them: `DEFINE name AS ..`" if nameless else None
        first = Place("the first is here", known.source.file, _place(known.statement))
        entry.source.report("duplicate-definition", message, _place(s), hint, related=(first,))

    # --- definitions -------------------------------------------------------------------------------------------------

    def definitions(self) -> list[tree.Definition]:
        """All definitions in the order of the texts; LETs that nobody uses are built too, for what is wrong in them."""
        for name in self.entries:
            self.made(name)
        out = []
        for name, entry in self.entries.items():
            s = entry.statement
            if isinstance(s, syntax.Definition):
                out.append(tree.Definition(name, self._made[name], s.about, entry.source.file, s.span))
        return out

    def made(self, name: str) -> tree.Pipe:
        """The pipe of a LET or a definition."""
        if name not in self._made:
            entry = self.entries[name]
            scope = Scope(entry.source)
            self._making.append(name)
            before, self.at_end = self.at_end, getattr(entry.statement, "at_end", None) or "nothing"
            self.at_end = self.at_end.lower()
            try:
                self._made[name] = self.pipe(entry.statement.pipe, scope)
            finally:
                self.at_end = before
                self._making.pop()
        return self._made[name]

    def named(self, node: syntax.Named, scope: Scope) -> tree.Pipe:
        if scope.level is not None:
            return self.outer(f"`{node.name}`", node, scope)
        if node.name not in self.entries:
            return self._event(node, scope)
        if node.name in self._making:
            path = [*self._making[self._making.index(node.name) :], node.name]
            places = tuple(
                Place(f"`{n}`", self.entries[n].source.file, _place(self.entries[n].statement)) for n in path[:-1]
            )
            message = "the definitions form a cycle: " + " -> ".join(path)
            scope.source.report("cycle", message, scope.span(node), None, related=places)
            return self._unknown(node, scope)
        return self.made(node.name)

    def _unknown(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        return self.node(tree.Events(("",), tree.Kind("any")), (), node, scope)

    # --- events ------------------------------------------------------------------------------------------------------

    def _event(self, node: syntax.Named, scope: Scope) -> tree.Pipe:
        """The events of one type: one node for all who read them."""
        if not self._is_type(Name(node.name, scope.span(node)), scope):
            return self._unknown(node, scope)
        if node.name not in self._events:
            kind = of_schema(self.inputs[node.name]) if node.name in self.inputs else TUPLE
            self._events[node.name] = self.node(tree.Events((node.name,), kind), (), node, scope)
        return self._events[node.name]

    def _is_type(self, name: Name, scope: Scope) -> bool:
        if name.text in self.inputs:
            if not self.inputs[name.text].lasting:
                return True
            scope.source.report("not-an-event", lasting_text(name.text, "pipes read"), name.span, LASTING_HINT)
            return False
        if not self.closed:
            return True
        if name.text not in self.unread:
            hint = did_you_mean(name.text, [*self.entries, *self.inputs], "definitions and event types")
            message = f"there is no definition or event type `{name.text}`"
            scope.source.report("unknown-name", message, name.span, hint)
        return False

    def form_events(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        if scope.level is not None:
            return self.outer("events", node, scope)
        names: list[Name] = node["types"]
        for k, name in enumerate(names):
            place = scope.place or name.span
            if name.text in self.entries:
                message = f"EVENTS OF takes event types, but `{name.text}` is a definition"
                self.report("sort", message, scope, place, "merge pipes with MERGE")
            elif name.text in [n.text for n in names[:k]]:
                self.report("duplicate-name", f"`{name.text}` is listed twice", scope, place)
            elif not self._is_type(Name(name.text, place), scope):
                return self._unknown(node, scope)
        if any(n.text in self.entries for n in names):
            return self._unknown(node, scope)
        return self.node(tree.Events(tuple(n.text for n in names)), (), node, scope)

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
        cls = SUFFIXES[node.word]
        ((name, (_, kind)),) = cls.parameters().items()
        return self.node(cls(**{name: self.value(kind, node.condition, node.word, scope)}), (pipe,), node, scope)

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

    def meant(self, node: syntax.Node, scope: Scope) -> tuple[syntax.Node, Scope]:
        """What a phrase or a parameter stands for, where it stands; anything else itself."""
        while True:
            if isinstance(node, syntax.Parameter):
                argument = scope.arguments[node.name]
                node, scope = argument.node, argument.scope
            elif isinstance(node, syntax.Use) and node.phrase.body is not None:
                scope, node = self.body(node, scope), node.phrase.body
            else:
                return node, scope

    def flavoured(self, node: syntax.Node, scope: Scope) -> str | None:
        """The first temporal operator or quantifier that operators of logic join here, if there is one."""
        node, scope = self.meant(node, scope)
        match node:
            case syntax.Quantifier():
                return node.word
            case syntax.Unary(op=op) | syntax.Binary(op=op) if op in _TROOLEAN:
                return op
            case syntax.Unary(op="NOT"):
                return self.flavoured(node.operand, scope)
            case syntax.Binary(op=op) if op in _LOGIC:
                return self.flavoured(node.left, scope) or self.flavoured(node.right, scope)
        return None

    def is_formula(self, node: syntax.Node, scope: Scope) -> bool:
        """Whether operators of logic join something temporal, or a quantifier."""
        return self.flavoured(node, scope) is not None

    def formula(self, node: syntax.Node, scope: Scope) -> tree.Pipe:
        flavours = _Flavours()
        word = self.flavoured(node, scope)
        assert word is not None
        troolean = _TROOLEAN[word]
        out = self._formula(node, scope, troolean, flavours)
        if len(flavours.seen) == 2:
            (first, span, at), (other, there, _) = flavours.seen[troolean], flavours.seen[not troolean]
            names = ("Boolean", "Troolean") if not troolean else ("Troolean", "Boolean")
            message = (
                f"one formula cannot have both the {names[0]} operator `{first}` and the {names[1]} operator `{other}`"
            )
            hint = (
                "the Boolean operators are G F X U FOR ALL EXISTS; "
                "the Troolean ones are ALWAYS SOMETIME AFTER UPTO EVERY SOME"
            )
            place = Place(f"`{other}`", at.source.file, there)
            at.source.report("sort", message, span, hint, related=(place,))
        return out

    def _formula(self, node: syntax.Node, scope: Scope, troolean: bool, flavours: _Flavours) -> tree.Pipe:
        parts = _Parts()
        root = self._part(node, scope, parts, flavours, troolean)
        if not parts.inputs:
            return self._constant(node, scope)
        return self.node(tree.Formula(root, troolean, self.at_end), parts.inputs, node, scope)

    def _part(self, node: syntax.Node, scope: Scope, parts: _Parts, flavours: _Flavours, troolean: bool) -> tree.Part:
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
        node, _ = self.meant(node, scope)
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

    # --- prefix forms and the phrases of the prelude -----------------------------------------------------------------

    def form(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        build = getattr(self, f"form_{node.kind}", None)
        if build is not None:
            made: tree.Pipe = build(node, scope)
            return made
        return self.processor(PROCESSORS[node.kind], dict(node.parts), BY_KIND[node.kind].begin, node, scope)

    def prelude(self, node: syntax.Use, scope: Scope) -> tree.Pipe:
        """A phrase that every text knows."""
        cls, fixed = PRELUDE_OF[node.phrase]
        begin = " ".join(takewhile(lambda w: w[0] != "@", node.phrase.pattern))
        names = [p.lower() if p.lower() in cls.parameters() else "pipe" for p in node.phrase.places]
        return self.processor(cls, dict(zip(names, node.args, strict=True)), begin, node, scope, fixed)

    def processor(
        self,
        cls: type[tree.Processor],
        given: Mapping[str, Any],
        words: str,
        node: syntax.Node,
        scope: Scope,
        fixed: Mapping[str, Any] | None = None,
    ) -> tree.Pipe:
        """A processor of what is ``given`` of its parameters and inputs; ``words``: the form, in messages."""
        values = dict(fixed or {})
        for name, (_, kind) in cls.parameters().items():
            if isinstance(kind, declared.Whole) and kind.missing is not None and name not in given:
                message, hint = kind.missing
                return self.broken("bad-bound", message, node, scope, hint)
        inputs: list[tree.Pipe] = []
        for port in cls.ports:
            several = given[port] if isinstance(given[port], tuple) else (given[port],)
            inputs += [self.pipe(p, scope) for p in several]
        for name, (_, kind) in cls.parameters().items():
            if isinstance(kind, declared.Pixels) and "width" in given:
                values[name] = self._pixels(given, scope)
            elif name in given:
                values[name] = self.value(kind, given[name], words, scope)
                if values[name] is None:
                    return inputs[0]
        return self.node(cls(**values), inputs, node, scope)

    def value(self, kind: declared.Parameter, node: Any, words: str, scope: Scope) -> Any:
        """A parameter of a processor; None for an unknown function."""
        sees = getattr(kind, "sees", "")
        # the name is the processor's own, so it is not made unique
        within = scope.binds({sees: core.Param(sees)}) if sees else scope
        match kind:
            case declared.Whole():
                return self.count(node, scope, kind.least, kind.words or words)
            case declared.Number():
                value = getattr(self.function(node, scope.function(0)), "value", 0)
                return value if isinstance(value, (int, float)) else 0
            case declared.Flag():
                return True
            case declared.Word():
                return kind.values[node]
            case declared.Length():
                found = self.width(node, scope, words)
                return found if isinstance(found, Duration) else node.duration
            case declared.Width():
                return self.width(node, scope, kind.words)
            case declared.Combination():
                return self._combination(node, scope)
            case declared.Function():
                return self.function(node, within.function(kind.inputs))
            case declared.Phi():
                return self.inner(node, kind.esql, within)
            case declared.Signatures():
                return self._signatures(kind, node, scope)
            case declared.Names():
                return self._different(node, kind.what, scope)
            case declared.Text():
                text = self.text(node, scope)
                wrong = kind.problem(text)
                if wrong:
                    self.report("type-mismatch", wrong, scope, scope.span(node))
                return text
        raise TypeError(f"no parameter of eSQL: {kind!r}")

    def _combination(self, name: Name, scope: Scope) -> str | None:
        """A word of COMBINE in lower case."""
        word = name.text.lower()
        if word in tree.CUMULATIVE and word.upper() == name.text:
            return word
        hint = did_you_mean(name.text.upper(), [w.upper() for w in tree.CUMULATIVE], "COMBINE functions")
        message = f"there is no COMBINE function `{name.text}`"
        self.report("unknown-function", message, scope, scope.place or name.span, hint)
        return None

    def _different(self, names: Sequence[Name], what: str, scope: Scope) -> tuple[str, ...]:
        texts = tuple(n.text for n in names)
        for k, name in enumerate(names):
            if name.text in texts[:k]:
                self.report("duplicate-name", f"two {what} are called `{name.text}`", scope, scope.place or name.span)
        return texts

    def _signatures(
        self, kind: declared.Signatures, nodes: Sequence[syntax.Signature], scope: Scope
    ) -> tuple[str, ...]:
        """Predicates with their domains, as texts."""
        texts = tuple(f"{s.name.text}({', '.join(d.text for d in s.domains)})" for s in nodes)
        wrong = kind.problem(texts)
        if wrong is not None:
            self.report(wrong[0], wrong[1], scope, scope.place or scope.span(nodes[-1]))
        return texts

    def _pixels(self, given: Mapping[str, Any], scope: Scope) -> tuple[int, int]:
        width, height = (self.count(given[side], scope, 1, "SIZED") for side in ("width", "height"))
        if max(width, height) > _LARGEST:
            message = f"a picture can be at most {_LARGEST} pixels wide and high"
            self.report("bad-bound", message, scope, scope.span(given["width"]))
        return width, height

    # --- numbers -----------------------------------------------------------------------------------------------------

    def count(self, node: syntax.Node, scope: Scope, least: int, what: str) -> int:
        """A whole number of at least ``least``."""
        value = getattr(self.function(node, scope.function(0)), "value", None)
        if isinstance(value, bool) or not isinstance(value, int):
            message = f"{what} counts items and needs a whole number"
        elif value < least:
            message = f"{what} needs a number of at least {least}, not {value}"
        elif value >= 2**31:
            message = f"{what} needs a number of less than 2**31 items"
        else:
            return value
        self.report("bad-bound", message, scope, scope.span(node))
        return max(1, least)

    def width(self, node: syntax.Node, scope: Scope, what: str) -> int | Duration:
        """A positive number of items, or a positive time."""
        if not isinstance(node, syntax.Length):
            return self.count(node, scope, 1, what)
        if node.duration.amount <= 0:
            self.report("bad-duration", f"{what} needs a positive time", scope, scope.span(node))
            return 1
        return node.duration

    # --- forms that are no processor of their own --------------------------------------------------------------------

    def form_apply(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        sources: tuple[syntax.Source, ...] = node["sources"]
        inputs = [self.pipe(s.pipe, scope) for s in sources]
        within = scope.function(len(inputs))
        for k, s in enumerate(sources):
            if s.name is None:
                continue
            if s.name in [t.name for t in sources[:k]]:
                self.report("duplicate-name", f"two inputs are called `${s.name}`", scope, scope.span(s))
            within = within.binds({s.name: tree.Input(k)})
        function = self.function(node["function"], within)
        return self.node(tree.Lift((function,), early=bool(node["early"])), inputs, node, scope)

    def form_select(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        sources: tuple[syntax.Source, ...] = node["sources"]
        columns: tuple[syntax.Column, ...] = node["columns"]
        aliases: dict[str, int] = {}
        for k, s in enumerate(sources):
            if s.name is not None and s.name in aliases:
                self.report("duplicate-name", f"two inputs are called `{s.name}`", scope, scope.span(s))
            elif s.name is not None:
                aliases[s.name] = k
        inputs = [self.pipe(s.pipe, scope) for s in sources]
        within = scope.function(len(inputs), aliases)
        values = self.functions([c.value for c in columns], within)
        where = self.function(node["where"], within) if node["where"] is not None else None
        if node["group"] is not None and len(inputs) > 1:
            hint = "join them in a SELECT of its own, and put that behind FROM"
            return self.broken("arity", f"GROUP BY takes one source, not {len(inputs)}", node, scope, hint)
        function: Expr = values[0]
        if len(columns) > 1 or columns[0].name is not None:
            function = tree.TupleOf(self._names(columns, scope), values, span=scope.span(node))
        if node["group"] is None:
            return self.node(tree.Lift((function,), where), inputs, node, scope)
        having = self.function(node["having"], within) if node["having"] is not None else None
        rows = inputs[0] if where is None else self.node(tree.Where(where), inputs, node, scope)
        key = grouping.key_of(self.functions(node["group"], within))
        try:
            return self._grouped(rows, function, key, having, node, scope)
        except DefinitionProblem as problem:
            return self.broken(problem.kind, problem.first.message, node, scope, problem.first.hint)

    def _grouped(
        self, rows: tree.Pipe, row: Expr, key: Expr, having: Expr | None, node: syntax.Form, scope: Scope
    ) -> tree.Pipe:
        """GROUP BY: a slice per key, in which aggregates run."""
        within = scope.inner(Level("GROUP BY"))
        item = self.node(tree.Placeholder(0), (), node, within)
        functions = [row] if having is None else [row, having]
        found = grouping.rows(functions, item, lambda p, inputs: self.node(p, inputs, node, within))
        each = self.node(tree.Slice(key, tree.Inner(1, (found,)), "each", False, None), (rows,), node, scope)
        return self.node(grouping.ROW, (each,), node, scope)

    def _names(self, columns: tuple[syntax.Column, ...], scope: Scope) -> tuple[str, ...]:
        names: list[str] = []
        for k, column in enumerate(columns):
            value = column.value
            plain = value.name if isinstance(value, (syntax.Named, syntax.Access)) else f"c{k}"
            name = column.name or plain
            if name in names:
                self.report("duplicate-name", f"two columns are called `{name}`", scope, scope.span(column),
                            f"rename one: `AS {name}2`")  # fmt: skip
            names.append(name)
        return tuple(names)

    def form_xpath(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        call = syntax.Call("xpath", (syntax.Variable("0", span=node.span), node["path"]), span=node.span)
        lift = tree.Lift((self.function(call, scope.function(1)),))
        return self.node(lift, (self.pipe(node["pipe"], scope),), node, scope)

    def text(self, node: syntax.Node, scope: Scope) -> str:
        """A constant text."""
        found = self.function(node, scope.function(0))
        return str(found.value) if isinstance(found, core.Literal) and found.type is Type.STRING else ""

    def form_gnuplot(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        """The plots are drawn already: what drew them in the old language passes them through."""
        pipe = self.pipe(node["pipe"], scope)
        if not isinstance(pipe.node.processor, tree.Plot):
            hint = "write for example `GNUPLOT ON THE SCATTERPLOT OF p`"
            return self.broken("type-mismatch", "GNUPLOT needs a plot as its operand", node, scope, hint)
        return pipe

    def form_file(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        if scope.level is not None:
            return self.outer("a file", node, scope)
        return self.node(tree.Lines(self.text(node["path"], scope), scope.source.file), (), node, scope)

    # --- Moore machines ----------------------------------------------------------------------------------------------

    def machine(self, node: syntax.Machine, scope: Scope) -> tree.Pipe:
        inputs = [self.pipe(i, scope) for i in node.inputs]
        within = scope.function(len(inputs))
        registers = []
        names: dict[str, str] = {}
        for r in node.registers:
            if r.name in names:
                self.report("duplicate-name", f"the register `${r.name}` is declared twice", scope, scope.span(r))
                continue
            start = self.function(r.value, scope.function(0))
            names[r.name] = within.fresh(r.name)
            within = within.binds({r.name: Param(names[r.name])})
            registers.append((names[r.name], start))
        self._check_states(node, scope)
        states = tuple(self._state(s, names, within) for s in node.states)
        processor = tree.Machine(node.start.text, states, tuple(registers))
        return self.node(processor, inputs, node, scope)

    def _state(self, state: syntax.State, names: dict[str, str], scope: Scope) -> tree.State:
        output = self.function(state.output, scope) if state.output is not None else None
        transitions = tuple(self._transition(t, names, scope) for t in state.transitions)
        return tree.State(state.name.text, output, transitions, scope.span(state))

    def _transition(self, node: syntax.Transition, names: dict[str, str], scope: Scope) -> tree.Transition:
        condition = self.function(node.condition, scope) if node.condition is not None else None
        sets = []
        for r in node.sets:
            value = self.function(r.value, scope)
            if r.name in names:
                sets.append((names[r.name], value))
                continue
            hint = "declare it: `MACHINE ON p WITH $n := 0 START ..`"
            hint = did_you_mean(r.name, names, "registers") if names else hint
            self.report("unknown-name", f"there is no register `${r.name}`", scope, scope.span(r), hint)
        return tree.Transition(condition, node.target.text, tuple(sets), scope.span(node))

    # --- states ------------------------------------------------------------------------------------------------------

    def _check_states(self, node: syntax.Machine, scope: Scope) -> None:
        known: dict[str, syntax.State] = {}
        for s in node.states:
            if s.name.text in known:
                first = Place("the first is here", scope.source.file, scope.place or known[s.name.text].name.span)
                scope.source.report("duplicate-name", f"two states are called `{s.name}`",
                                    scope.place or s.name.span, None, related=(first,))  # fmt: skip
            known.setdefault(s.name.text, s)
        self._known(node.start, "START", known, scope)
        for s in node.states:
            for t in s.transitions:
                self._known(t.target, "GO TO", known, scope)
            self._check_order(s, scope)
        for s in _unreachable(node, known):
            message = f"the state `{s.name}` is never reached"
            scope.source.warn("unreachable", message, scope.place or s.name.span)

    def _known(self, name: Name, word: str, known: dict[str, syntax.State], scope: Scope) -> None:
        if name.text not in known:
            message = f"{word}: there is no state `{name.text}`"
            hint = did_you_mean(name.text, known, "states")
            self.report("unknown-name", message, scope, scope.place or name.span, hint)

    def _check_order(self, state: syntax.State, scope: Scope) -> None:
        """Transitions that are never taken: behind OTHERWISE, or with the guard of an earlier one."""
        seen: list[syntax.Node] = []
        otherwise: syntax.Transition | None = None
        for t in state.transitions:
            if t.condition is None:
                if otherwise is not None:
                    scope.source.warn("unreachable", "a second OTHERWISE is never taken", scope.span(t))
                otherwise = otherwise or t
            elif otherwise is not None:
                hint = "WHEN is always tested before OTHERWISE; write OTHERWISE last"
                scope.source.warn("unreachable", "this transition is written after OTHERWISE", scope.span(t), hint)
            if t.condition is not None and t.condition in seen:
                message = "this transition is never taken: an earlier one has the same guard"
                scope.source.warn("unreachable", message, scope.span(t))
            elif t.condition is not None:
                seen.append(t.condition)


def _place(statement: syntax.Let | syntax.Definition) -> syntax.Span | None:
    return statement.name.span if statement.name is not None else statement.span


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


def _unreachable(machine: syntax.Machine, known: dict[str, syntax.State]) -> list[syntax.State]:
    reached: set[str] = set()
    waiting = [machine.start.text]
    while waiting:
        name = waiting.pop()
        if name in known and name not in reached:
            reached.add(name)
            waiting += [t.target.text for t in known[name].transitions]
    return [s for n, s in known.items() if n not in reached] if machine.start.text in known else []
