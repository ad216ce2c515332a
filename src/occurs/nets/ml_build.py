"""The tree of a text in CPN ML to a term or a multiset of terms: names resolved, functions known by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lark import Tree

from occurs.errors import DefinitionProblem, OccursError, Span, SyntaxProblem, did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import Binary, Call, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.nets.colours import Real
from occurs.nets.ml import RESERVED
from occurs.nets.ml_functions import (
    ML_FUNCTIONS,
    ONE,
    OPERATORS,
    SAME,
    TWO,
    TWO_OPERATORS,
    fit,
    ordered,
    term_of,
    uncast,
    unescaped,
)
from occurs.nets.ml_names import Names, members
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, Term, TupleTerm
from occurs.nets.typing import Typing

#: how many tokens one inscription may stand for
MOST_TOKENS = 1_000_000


@dataclass(frozen=True)
class Tokens:
    """A multiset: one term per token."""

    terms: tuple[Term, ...]
    span: Span | None = None


@dataclass(frozen=True)
class _Name:
    """A name that is to be applied to something: of a function, a constructor, a field."""

    text: str
    span: Span


class Builder:
    """Builds the value of one text: ``value`` of its whole tree."""

    def __init__(self, source: Text, names: Names):
        self.source = source
        self.names = names

    def value(self, tree: Tree[Any]) -> Term | Tokens:
        """The term or multiset of a tree; a name that stands alone is resolved."""
        found = self._any(tree)
        return self._resolved(found) if isinstance(found, _Name) else found

    def _any(self, tree: Tree[Any]) -> Term | Tokens | _Name:
        built: Term | Tokens | _Name = getattr(self, f"_{tree.data}")(tree, self._span(tree))
        return built

    def _term(self, tree: Tree[Any]) -> Term:
        found = self.value(tree)
        if isinstance(found, Tokens):
            raise self._refusal("unsupported", "a multiset is not allowed here: expected a value", found.span)
        return found

    def _terms(self, trees: Sequence[Any]) -> tuple[Term, ...]:
        return tuple(self._term(t) for t in trees if t is not None)

    def _span(self, tree: Tree[Any]) -> Span:
        if tree.meta.empty:
            return self.source.span(0, max(1, len(self.source.text)))
        return self.source.span(tree.meta.start_pos, tree.meta.end_pos)

    def _refusal(self, kind: str, message: str, span: Span | None, hint: str | None = None) -> OccursError:
        problem = self.source.problem(kind, message, span, hint)
        return SyntaxProblem(problem) if kind == "syntax" else DefinitionProblem(problem)

    # -- what the grammar has

    def _choice(self, tree: Tree[Any], span: Span) -> Term:
        condition, then, other = (self.value(c) for c in tree.children)
        if isinstance(then, Tokens) or isinstance(other, Tokens) or isinstance(condition, Tokens):
            raise self._refusal("unsupported", "a choice (`if`) between multisets is not supported", span)
        return Call("if", (condition, then, other), span=span)

    def _added(self, tree: Tree[Any], span: Span) -> Tokens:
        terms: list[Term] = []
        for child in tree.children:
            found = self.value(child)
            terms += found.terms if isinstance(found, Tokens) else (found,)
            self._limited(len(terms), span)
        return Tokens(tuple(terms), span)

    def _counted(self, tree: Tree[Any], span: Span) -> Tokens:
        count, what = self._term(tree.children[0]), self._term(tree.children[1])
        number = count.value if isinstance(count, Literal) and count.type is Type.INT else None
        if not isinstance(number, int) or number < 0:
            raise self._refusal("unsupported", "a multiplicity must be a number", span)
        self._limited(number, span)
        return Tokens((what,) * number, span)

    def _limited(self, count: int, span: Span) -> None:
        if count > MOST_TOKENS:
            raise self._refusal(
                "too-many-tokens", f"{count} or more tokens: at most {MOST_TOKENS} are allowed here", span
            )

    def _either(self, tree: Tree[Any], span: Span) -> Term:
        return self._leftwards("or", tree, span)

    def _both(self, tree: Tree[Any], span: Span) -> Term:
        return self._leftwards("and", tree, span)

    def _leftwards(self, op: str, tree: Tree[Any], span: Span) -> Term:
        parts = self._with_equal_reals(op, self._terms(tree.children))
        out = parts[0]
        for part in parts[1:]:
            out = Binary(op, out, part, span=span)
        return out

    def _with_equal_reals(self, op: str, parts: Sequence[Term]) -> list[Term]:
        """``x <= y andalso x >= y`` of reals is how ``x = y`` is written, ``x < y orelse x > y`` how ``x <> y`` is."""
        first, second, made = ("<=", ">=", "=") if op == "and" else ("<", ">", "!=")
        out: list[Term] = []
        for part in parts:
            before = out[-1] if out else None
            if (
                isinstance(before, Binary)
                and isinstance(part, Binary)
                and (before.op, part.op) == (first, second)
                and before.children == part.children
                and any(map(self._is_real, part.children))
            ):
                out[-1] = Binary(made, part.left, part.right, span=before.span)
            else:
                out.append(part)
        return out

    def _compared(self, tree: Tree[Any], span: Span) -> Term:
        left, op, right = tree.children
        return self._binary(OPERATORS.get(str(op), str(op)), self._term(left), self._term(right), span)

    def _consed(self, tree: Tree[Any], span: Span) -> Term:
        left, op, right = tree.children
        return Call("cons" if op == "::" else "append", (self._term(left), self._term(right)), span=span)

    def _summed(self, tree: Tree[Any], span: Span) -> Term:
        out, joined = self._term(tree.children[0]), False
        for op, right in zip(tree.children[1::2], tree.children[2::2], strict=True):
            part = self._term(right)
            if op != "^":
                out, joined = self._binary(str(op), out, part, span), False
            else:
                # `a ^ b ^ c` is one text of three
                before = out.args if joined and isinstance(out, Call) else (out,)
                out, joined = Call("concat", (*before, part), span=span), True
        return out

    def _product(self, tree: Tree[Any], span: Span) -> Term:
        out = self._term(tree.children[0])
        for op, right in zip(tree.children[1::2], tree.children[2::2], strict=True):
            out = self._binary(str(op), out, self._term(right), span)
        return out

    def _binary(self, op: str, left: Term, right: Term, span: Span) -> Term:
        """``real(n)`` beside a real is ``n``: the terms of nets mix both in arithmetic and comparisons."""
        if op == "/":
            left, right = uncast(left), uncast(right)
        elif uncast(left) is not left and self._is_real(right):
            left = uncast(left)
        elif uncast(right) is not right and self._is_real(left):
            right = uncast(right)
        return Binary(op, left, right, span=span)

    def _is_real(self, term: Term) -> bool:
        if uncast(term) is not term:
            return False
        return isinstance(Typing(self.names.variables, self.names.colours).infer(term), Real)

    def _integer(self, tree: Tree[Any], span: Span) -> Term:
        return Literal(int(str(tree.children[0]).replace("~", "-")), Type.INT, span=span)

    def _real(self, tree: Tree[Any], span: Span) -> Term:
        return Literal(float(str(tree.children[0]).replace("~", "-")), Type.FLOAT, span=span)

    def _string(self, tree: Tree[Any], span: Span) -> Term:
        return Literal(unescaped(str(tree.children[0])[1:-1]), Type.STRING, span=span)

    def _name(self, tree: Tree[Any], span: Span) -> Term | Tokens | _Name:
        return _Name(str(tree.children[0]), span)

    def _minus(self, tree: Tree[Any], span: Span) -> _Name:
        return _Name("~", span)

    def _select(self, tree: Tree[Any], span: Span) -> _Name:
        return _Name("#" + str(tree.children[0])[1:].strip(), span)

    def _grouped(self, tree: Tree[Any], span: Span) -> Term | Tokens | _Name:
        children = [c for c in tree.children if c is not None]
        if len(children) == 1:
            return self.value(children[0])
        return TupleTerm(self._terms(children), span=span)

    def _listed(self, tree: Tree[Any], span: Span) -> Term:
        return ListTerm(self._terms(tree.children), span=span)

    def _record(self, tree: Tree[Any], span: Span) -> Term:
        fields = {}
        for child in tree.children:
            if child is not None:
                name = str(child.children[0])
                if name in fields:
                    raise self._refusal("duplicate-field", f"the record has two fields called `{name}`", span)
                fields[name] = self._term(child.children[2])
        declared = self.names.records.get(frozenset(fields))
        if declared is None:
            shown = ", ".join(fields)
            raise self._refusal("unknown-record", f"no colour is a record with exactly the fields {shown}", span)
        return ordered(fields, declared, span)

    # -- names and what they are applied to

    def _applied(self, tree: Tree[Any], span: Span) -> Term | Tokens:
        head, *args = tree.children
        function = self._any(head)
        if not isinstance(function, _Name):
            raise self._refusal("syntax", "a value is not a function: expected an operator", self._span(args[0]))
        if len(args) > 1:
            self._known_function(function)
            raise self._refusal("syntax", f"`{function.text}` takes one argument", self._span(args[1]))
        return self._apply(function, args[0], span)

    def _apply(self, function: _Name, tree: Tree[Any], span: Span) -> Term | Tokens:
        name = function.text
        if name.endswith(".all"):
            return self._everything(name.removesuffix(".all"), span)
        if name in self.names.constructors:
            held = self.names.constructors[name].case(name)
            if held is None:
                raise self._refusal("unknown-name", f"`{name}` does not hold a value", span)
            return Inject(name, fit(self._term(tree), held), span=span)
        arg = self._term(tree)
        if name.startswith("#"):
            return FieldTerm(name[1:], arg, span=span)
        if name == "not":
            return Unary("not", arg, span=span)
        if name == "~":
            return Unary("neg", arg, span=span)
        if name in SAME:
            return arg
        if name in ONE:
            return Call(ONE[name], (arg,), span=span)
        if name in ("hd", "List.hd", "tl", "List.tl"):
            first = name.endswith("hd")
            return Call("list.nth" if first else "list.drop", (arg, Literal(int(not first), Type.INT)), span=span)
        if name in ("null", "List.null"):
            return Binary("=", Call("length", (arg,)), Literal(0, Type.INT), span=span)
        pair = arg.parts if isinstance(arg, TupleTerm) and len(arg.parts) == 2 else None
        if pair is not None and name in self.names.equalities:
            return Binary("=", *pair, span=span)
        if pair is not None and name in TWO_OPERATORS:
            return self._binary(TWO_OPERATORS[name], *pair, span)
        if pair is not None and name in TWO:
            return self._two(TWO[name], pair, span)
        self._known_function(function)
        raise self._refusal("syntax", f"`{name}` is not a function", function.span)

    def _two(self, name: str, pair: Sequence[Term], span: Span) -> Term:
        left, right = pair
        if name in ("min", "max"):
            made = self._binary("+", left, right, span)  # for the sake of what is said of reals there
            assert isinstance(made, Binary)
            left, right = made.left, made.right
            if isinstance(left, Call) and left.name == name:
                return Call(name, (*left.args, right), span=span)
        return Call(name, (left, right), span=span)

    def _known_function(self, function: _Name) -> None:
        """Refuse what is a function of ML, or declared as one, by its name."""
        name, names = function.text, self.names
        if name in names.variables or name in names.constants or name in names.enumerated or name == "empty":
            raise self._refusal("syntax", f"`{name}` is a value, not a function: expected an operator", function.span)
        if name in names.functions or "." in name or name in ML_FUNCTIONS:
            raise self._refusal("unsupported", f"the ML function `{name}` is not supported", function.span)
        if not name.startswith(("#", "~")):
            raise self._unknown(function)

    def _everything(self, colour: str, span: Span) -> Tokens:
        declared = next((c for c in self.names.colours if c.name == colour), None)
        values = None if declared is None else members(declared)
        if declared is None:
            hint = did_you_mean(colour, [c.name for c in self.names.colours], "colours")
            raise self._refusal("unknown-colour", f"unknown colour `{colour}`", span, hint)
        if values is None:
            raise self._refusal("unsupported", f"`{colour}.all()`: `{colour}` has infinitely many values", span)
        return Tokens(tuple(term_of(v, declared) for v in values), span)

    def _resolved(self, name: _Name) -> Term | Tokens:
        text, span, names = name.text, name.span, self.names
        if text in names.variables:
            return Ref(None, text, span=span)
        if text in names.constants:
            constant = names.constants[text]
            return replace(constant, span=span)  # type: ignore[call-arg]
        if text in names.enumerated:
            return EnumTerm(text, span=span)
        if text in names.constructors:
            if names.constructors[text].case(text) is not None:
                raise self._refusal("unknown-name", f"`{text}` needs a value: `{text}(..)`", span)
            return Inject(text, None, span=span)
        if text in ("true", "false"):
            return Literal(text == "true", Type.BOOL, span=span)
        if text == "nil":
            return ListTerm((), span=span)
        if text == "empty":
            return Tokens((), span)
        if text in ("Real.posInf", "Real.negInf"):
            return Literal(float("inf") if text == "Real.posInf" else float("-inf"), Type.FLOAT, span=span)
        if text.startswith(("#", "~")) or text in ONE or text in TWO or text in ("not", *SAME, *TWO_OPERATORS):
            raise self._refusal("syntax", f"`{text}` needs an argument", span)
        if text in names.functions or "." in text or text in ML_FUNCTIONS:
            raise self._refusal("unsupported", f"the ML name `{text}` is not supported", span)
        raise self._unknown(name)

    def _unknown(self, name: _Name) -> OccursError:
        if name.text in RESERVED:
            return self._refusal("unsupported", f"the ML keyword `{name.text}` is not supported", name.span)
        hint = did_you_mean(name.text, self.names.known, "declared")
        return self._refusal("unknown-name", f"unknown name `{name.text}`", name.span, hint)
