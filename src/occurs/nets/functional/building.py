"""Trees of ``ml.lark`` to functional terms: functions, ``case``, ``let``, multisets that are computed, delays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lark import Token, Tree

from occurs.errors import OccursError, Span, did_you_mean
from occurs.expr.tree import Call, Expr, Literal
from occurs.model.types import Type
from occurs.nets.colours import Colour, Int, List, Record, plain
from occurs.nets.functional.library import LIBRARY, LISTS
from occurs.nets.functional.running import COLOUR_FUNCTIONS
from occurs.nets.functional.tree import (
    Apply,
    Builtin,
    Case,
    Copies,
    Delayed,
    Fn,
    Function,
    Global,
    Let,
    Local,
    Many,
    Minus,
)
from occurs.nets.terms import EnumTerm, Inject, ListTerm, RecordTerm, Term, TupleTerm
from occurs.nets.typing import BOOL, INT, REAL, STRING, UNIT, Typing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from occurs.nets.ml_parser import Names


@dataclass(frozen=True)
class Tokens:
    """A multiset: one term per token (:class:`Many`, :class:`Delayed` for what is computed or comes later)."""

    terms: tuple[Term, ...]
    span: Span | None = None


@dataclass(frozen=True)
class Declared:
    """What one declaration declares: a function, or a name for a value."""

    name: str
    function: Function | None = None
    value: Term | None = None


#: names of types that need no declaration
_TYPES: dict[str, Colour] = {"int": INT, "bool": BOOL, "string": STRING, "real": REAL, "unit": UNIT}


class FunctionalBuilder(ABC):
    """The part of :class:`occurs.nets.ml_parser.Builder` that makes functional terms."""

    names: Names

    def __init__(self) -> None:
        #: what patterns around the place at hand bind
        self.locals: dict[str, Local] = {}

    # -- what the builder of all terms has
    @abstractmethod
    def value(self, tree: Tree[Any]) -> Term | Tokens: ...

    @abstractmethod
    def _term(self, tree: Tree[Any]) -> Term: ...

    @abstractmethod
    def _refusal(self, kind: str, message: str, span: Span | None, hint: str | None = None) -> OccursError: ...

    @abstractmethod
    def _span(self, tree: Tree[Any]) -> Span: ...

    # -- multisets -----------------------------------------------------------------------------------------------------

    def infer(self, term: Term) -> Colour | None:
        """The colour of a term, if it is known."""
        return Typing(self.names.variables, self.names.colours).infer(term)

    def is_multiset(self, term: Term) -> bool:
        """Whether a term is a multiset by what it is made of."""
        match term:
            case Copies() | Minus():
                return True
            case Call(name="if", args=(_, then, other)):
                return self.is_multiset(then) or self.is_multiset(other)
            case Case() | Fn():
                return any(map(self.is_multiset, term.bodies))
            case Let():
                return self.is_multiset(term.body)
            case Apply():
                head = _head(term)
                if isinstance(head, Global):
                    return head.function.multiset
                return isinstance(head, Builtin) and (head.colour is not None and head.name in ("mult", "all"))
        return False

    def is_list(self, term: Term) -> bool:
        """Whether a term is a list or a multiset, as far as that can be seen."""
        match term:
            case ListTerm() | Copies() | Minus() | Call(name="append" | "cons"):
                return True
            case Call(name="if", args=(_, then, other)):
                return self.is_list(then) or self.is_list(other)
            case Case():
                return any(map(self.is_list, term.bodies))
            case Let():
                return self.is_list(term.body)
            case Apply():
                head = _head(term)
                if isinstance(head, Global):
                    return head.function.many
                if isinstance(head, Builtin):
                    return head.name in LISTS or (head.colour is not None and head.name in ("mult", "all"))
                return False
        return isinstance(self.infer(term), List)

    def as_list(self, found: Term | Tokens) -> Term:
        """A multiset as the list of its elements."""
        if not isinstance(found, Tokens):
            return found
        out: list[Term] = []
        single: list[Term] = []
        for term in found.terms:
            if isinstance(term, Delayed):
                message = "a delay (`@+`) inside of an expression is not supported"
                raise self._refusal("unsupported", message, found.span)
            if isinstance(term, Many):
                if single:
                    out.append(ListTerm(tuple(single)))
                out.append(term.arg)
                single = []
            else:
                single.append(term)
        if single or not out:
            out.append(ListTerm(tuple(single), span=found.span))
        made = out[-1]
        for term in reversed(out[:-1]):
            made = Call("append", (term, made), span=found.span)
        return made

    def _argument(self, tree: Tree[Any]) -> Term:
        """What a function is applied to: a multiset is a list there."""
        if tree.data == "grouped":
            children = [c for c in tree.children if c is not None]
            if len(children) != 1:
                return TupleTerm(tuple(map(self._argument, children)), span=self._span(tree))
            return self._argument(children[0])
        return self.as_list(self.value(tree))

    def _added(self, tree: Tree[Any], span: Span) -> Tokens:
        terms = self._tokens_of(self.value(tree.children[0]))
        for op, right in zip(tree.children[1::2], tree.children[2::2], strict=True):
            more = self._tokens_of(self.value(right))
            if op == "--":
                minus = Minus(self.as_list(Tokens(terms, span)), self.as_list(Tokens(more, span)), span=span)
                terms = (Many(minus, span=span),)
            else:
                terms += more
            self._limited(len(terms), span)
        return Tokens(terms, span)

    def _tokens_of(self, found: Term | Tokens) -> tuple[Term, ...]:
        if isinstance(found, Tokens):
            return found.terms
        return (Many(found),) if self.is_multiset(found) else (found,)

    @abstractmethod
    def _limited(self, count: int, span: Span) -> None: ...

    def _delayed(self, tree: Tree[Any], span: Span) -> Tokens:
        left, _, right = tree.children
        delay = self._term(right)
        found = self._tokens_of(self.value(left))
        if any(isinstance(t, Delayed) for t in found):
            raise self._refusal("syntax", "two delays (`@+`) follow each other", span)
        return Tokens(tuple(Delayed(t, delay, span=span) for t in found), span)

    # -- choices -------------------------------------------------------------------------------------------------------

    def _choice(self, tree: Tree[Any], span: Span) -> Term | Tokens:
        condition, then, other = tree.children
        if _late(other) and not _late(then):
            # multisets with and without times have no common type: the delay is that of the whole inscription
            inner, at, delay = other.children
            whole = Tree("choice", [condition, then, inner], tree.meta)
            return self._delayed(Tree("delayed", [whole, at, delay]), span)
        test = self._term(condition)
        branches = [self.value(then), self.value(other)]
        if any(isinstance(b, Tokens) for b in branches):
            return self._chosen([self._branch(b, span) for b in branches], lambda a: Call("if", (test, *a)), span)
        return Call("if", (test, *map(self.as_list, branches)), span=span)

    def _branch(self, found: Term | Tokens, span: Span) -> tuple[Term, Term | None]:
        """A multiset and the delay of all its elements."""
        if isinstance(found, Tokens):
            delays = {t.delay if isinstance(t, Delayed) else None for t in found.terms}
            if len(delays) > 1:
                raise self._refusal("unsupported", "different delays in one choice are not supported", span)
            terms = tuple(t.arg if isinstance(t, Delayed) else t for t in found.terms)
            return self.as_list(Tokens(terms, found.span)), next(iter(delays), None)
        if not self.is_list(found) and self.infer(found) is not None:
            message = "a choice between a multiset and a value: write 1`value for the value"
            raise self._refusal("syntax", message, span)
        return found, None

    def _chosen(self, branches: list[tuple[Term, Term | None]], make: Any, span: Span) -> Tokens:
        many: Term = Many(make([b for b, _ in branches]), span=span)
        delays = [d for _, d in branches]
        if all(d is None for d in delays):
            return Tokens((many,), span)
        zero = Literal(0, Type.INT)
        return Tokens((Delayed(many, make([d or zero for d in delays]), span=span),), span)

    def _cases(self, tree: Tree[Any], span: Span) -> Term | Tokens:
        arg = self._term(tree.children[0])
        patterns, bodies = self._matches(tree.children[1])
        if any(isinstance(b, Tokens) for b in bodies):
            return self._chosen(
                [self._branch(b, span) for b in bodies], lambda made: Case(arg, patterns, tuple(made)), span
            )
        return Case(arg, patterns, tuple(map(self.as_list, bodies)), span=span)

    def _fn(self, tree: Tree[Any], span: Span) -> Term:
        patterns, bodies = self._matches(tree.children[0])
        return Fn(patterns, tuple(map(self.as_list, bodies)), span=span)

    def _matches(self, tree: Tree[Any]) -> tuple[tuple[Term, ...], list[Term | Tokens]]:
        patterns, bodies = [], []
        for match in tree.children:
            with self._scope():
                patterns.append(self._pattern(match.children[0]))
                bodies.append(self.value(match.children[1]))
        return tuple(patterns), bodies

    @contextmanager
    def _scope(self) -> Iterator[None]:
        before = dict(self.locals)
        try:
            yield
        finally:
            self.locals = before

    def _let(self, tree: Tree[Any], span: Span) -> Term | Tokens:
        *declarations, body = tree.children
        with self._scope():
            found = []
            for part in declarations:
                if part.data != "val":
                    raise self._refusal("unsupported", "a function inside of `let` is not supported", self._span(part))
                value = self.as_list(self.value(part.children[2]))
                found.append((self._pattern(part.children[0]), value))
            made = self.value(body)
            term = self.as_list(made)
            for pattern, value in reversed(found):
                term = Let(pattern, value, term, span=span)
        return Tokens((Many(term),), span) if isinstance(made, Tokens) else term

    def _typed(self, tree: Tree[Any], span: Span) -> Term | Tokens:
        return self.value(tree.children[0])

    def _content(self, tree: Tree[Any], span: Span) -> Term | Tokens:
        """``!x``: what a reference holds, which nothing in a net without code changes."""
        (child,) = tree.children
        name = str(child.children[0]) if child.data == "name" else ""
        if name not in self.names.references:
            raise self._refusal("unsupported", f"the reference `!{name}` is not supported", span)
        return self._constant(self.names.references[name], span)

    def _constant(self, term: Term, span: Span) -> Term | Tokens:
        if isinstance(term, Many):
            return Tokens(term.arg.parts if isinstance(term.arg, ListTerm) else (term,), span)
        return replace(term, span=span)  # type: ignore[call-arg]

    # -- functions -----------------------------------------------------------------------------------------------------

    def function_named(self, name: str, span: Span) -> Term | None:
        """A function by its name: of a pattern, declared, of a colour or of the library."""
        if name in self.locals:
            return replace(self.locals[name], span=span)
        if name in self.names.declared:
            return Global(self.names.declared[name], span=span)
        owner, _, own = name.rpartition(".")
        colour = next((c for c in self.names.colours if c.name == owner), None) if owner else None
        if colour is not None and (own in COLOUR_FUNCTIONS or own == "ran"):
            return Builtin(own, colour, span=span)
        return Builtin(name, span=span) if name in LIBRARY and name not in self.names.functions else None

    def _call_of(self, function: Term, args: Sequence[Tree[Any]], span: Span) -> Term:
        made = function
        for tree in args:
            made = self._drawn(Apply(made, self._argument(tree), span=span))
        return made

    def _drawn(self, term: Apply) -> Term:
        """``C.ran()`` of a bounded integer is drawn without listing its values."""
        head = term.function
        if isinstance(head, Builtin) and head.name == "ran" and head.colour is not None:
            match plain(head.colour):
                case Int(low=int(low), high=int(high)):
                    ends = TupleTerm((Literal(low, Type.INT), Literal(high, Type.INT)))
                    return Apply(Builtin("discrete"), ends, span=term.span)
        return term

    def _declarations(self, tree: Tree[Any], span: Span) -> Term:
        raise self._refusal("unsupported", "a declaration is not allowed here: expected an expression", span)

    def _only_delay(self, tree: Tree[Any], span: Span) -> Term:
        return self._term(tree.children[1])

    def declared(self, tree: Tree[Any]) -> list[Declared]:
        """What the declarations of a tree declare, in their order."""
        if tree.data != "declarations":
            raise self._refusal("syntax", "expected a declaration: `fun` or `val`", self._span(tree))
        found = []
        for part in tree.children:
            one = self._fun(part) if part.data == "fun" else self._val(part)
            if one.value is not None:
                self.names = self.names.with_constant(one.name, one.value)
            found.append(one)
        return found

    def _fun(self, tree: Tree[Any]) -> Declared:
        clauses = [[c for c in clause.children if c is not None] for clause in tree.children]
        name = str(clauses[0][0])
        function = Function(name)
        self.names = self.names.with_function(function)
        patterns: list[tuple[Term, ...]] = []
        bodies: list[Term | Tokens] = []
        for clause in clauses:
            own, *args, _, body = [c for c in clause if not (isinstance(c, Tree) and c.data == "type")]
            if str(own) != name or (patterns and len(patterns[0]) != len(args)):
                message = f"all clauses of `{name}` need its name and the same number of arguments"
                raise self._refusal("syntax", message, self._span(tree))
            with self._scope():
                patterns.append(tuple(map(self._pattern, args)))
                bodies.append(self.value(body))
                function.multiset = function.multiset or isinstance(bodies[-1], Tokens)
        function.patterns, function.bodies = tuple(patterns), tuple(map(self.as_list, bodies))
        function.multiset = function.multiset or any(map(self.is_multiset, function.bodies))
        function.many = function.multiset or any(map(self.is_list, function.bodies))
        return Declared(name, function)

    def _val(self, tree: Tree[Any]) -> Declared:
        pattern = tree.children[0]
        while pattern.data == "typed":
            pattern = pattern.children[0]
        if pattern.data != "name":
            raise self._refusal("unsupported", "`val` of a pattern is not supported", self._span(tree))
        found = self.value(tree.children[2])
        name = str(pattern.children[0])
        return Declared(name, value=Many(self.as_list(found)) if isinstance(found, Tokens) else found)

    # -- patterns ------------------------------------------------------------------------------------------------------

    def _pattern(self, tree: Tree[Any], colour: Colour | None = None) -> Term:
        """A pattern; what it binds is known from here on."""
        span = self._span(tree)
        children = [c for c in tree.children if c is not None]
        match tree.data:
            case "name":
                return self._named_pattern(str(children[0]), colour, span)
            case "integer" | "real" | "string":
                return self._term(tree)
            case "typed":
                return self._pattern(children[0], self._type(children[1]))
            case "grouped" if len(children) == 1:
                return self._pattern(children[0], colour)
            case "grouped":
                return TupleTerm(tuple(map(self._pattern, children)), span=span)
            case "listed":
                return ListTerm(tuple(map(self._pattern, children)), span=span)
            case "record":
                return self._record_pattern(children, colour, span)
            case "consed" if str(children[1]) == "::":
                return Call("cons", (self._pattern(children[0]), self._pattern(children[2])), span=span)
            case "applied" if len(children) == 2 and children[0].data == "name":
                name = str(children[0].children[0])
                if name in self.names.constructors:
                    held = self.names.constructors[name].case(name)
                    return Inject(name, self._pattern(children[1], held), span=span)
        raise self._refusal("unsupported", "this pattern is not supported", span)

    def _named_pattern(self, name: str, colour: Colour | None, span: Span) -> Term:
        names = self.names
        if name in names.enumerated:
            return EnumTerm(name, span=span)
        if name in names.constructors:
            return Inject(name, None, span=span)
        if name in ("true", "false"):
            return Literal(name == "true", Type.BOOL, span=span)
        if name == "nil":
            return ListTerm((), span=span)
        if "." in name:
            raise self._refusal("syntax", f"`{name}` cannot be bound by a pattern", span)
        local = Local(name, colour, span=span)
        if name != "_":
            self.locals[name] = local
        return local

    def _record_pattern(self, children: list[Any], colour: Colour | None, span: Span) -> Term:
        fields: dict[str, Any] = {}
        for child in children:
            if child.data != "others":
                fields[str(child.children[0])] = child
        record = plain(colour) if colour is not None else self.names.records.get(frozenset(fields))
        if not isinstance(record, Record) or not set(fields) <= {n for n, _ in record.fields}:
            shown = ", ".join(fields)
            raise self._refusal("unknown-record", f"no colour is known that has the fields {shown}", span)
        parts: list[Term] = []
        for name, held in record.fields:
            child = fields.get(name)
            if child is None:
                parts.append(Local("_"))
            elif child.data == "same_name":
                parts.append(self._named_pattern(name, held, span))
            else:
                parts.append(self._pattern(child.children[2], held))
        return RecordTerm(tuple(n for n, _ in record.fields), tuple(parts), span=span)

    def _type(self, tree: Tree[Any]) -> Colour | None:
        """The colour of a type; None for one that is not looked at (products, lists, multisets)."""
        words = [str(t) for part in tree.children if isinstance(part, Tree) for t in part.children]
        if len(words) != 1:
            return None
        found = next((c for c in self.names.colours if c.name == words[0]), _TYPES.get(words[0]))
        if found is None:
            hint = did_you_mean(words[0], [c.name for c in self.names.colours], "colours")
            raise self._refusal("unknown-colour", f"unknown colour `{words[0]}`", self._span(tree), hint)
        return found


def _head(term: Term) -> Expr:
    while isinstance(term, Apply):
        term = term.function
    return term


def _late(tree: Tree[Any] | Token) -> bool:
    return isinstance(tree, Tree) and tree.data == "delayed"
