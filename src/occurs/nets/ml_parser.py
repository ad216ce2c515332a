"""The text of inscriptions in CPN ML to terms (epl-and-nets.md, section 4B): the part of ML that nets need.

What is ML but has no term (functions, ``let``, delays of time, a choice between multisets) is ``unsupported``, by its
name; what is not in the grammar is ``syntax``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lark import Tree
from lark.exceptions import UnexpectedInput

from occurs.errors import DefinitionProblem, OccursError, Span, SyntaxProblem, did_you_mean
from occurs.expr.parsing import expected_terminals, found_at, lark_of
from occurs.expr.text import Text
from occurs.expr.tree import Binary, Call, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.nets.colours import (
    Bool,
    Colour,
    Enum,
    Int,
    List,
    Product,
    Real,
    Record,
    String,
    Union,
    Unit,
    Value,
    members,
    plain,
)
from occurs.nets.evaluate import evaluate
from occurs.nets.functional.building import Declared, FunctionalBuilder, Tokens
from occurs.nets.functional.library import LIBRARY
from occurs.nets.functional.tree import Apply, Case, Copies, Delayed, Fn, Function, Let, Local, Many, token_part
from occurs.nets.ml import RESERVED
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, Term, TupleTerm
from occurs.nets.typing import Typing


def parse_term(text: str, names: Names, colour: Colour | None = None) -> Term:
    """The term of one expression.  ``colour``: what it is to be, which orders the fields of records.

    Raises SyntaxProblem (kind ``syntax``) or DefinitionProblem (``unknown-name``, ``unsupported`` ..); places are those
    in ``text``.
    """
    return _single(_built(text, names), Text(text, None), colour)


def parse_tokens(text: str, names: Names, colour: Colour) -> tuple[Term, ...]:
    """The terms of an arc's inscription, one per token."""
    builder = Builder(Text(text, None), names)
    built = builder.built()
    if isinstance(built, Tokens):
        return tuple(fit(t, colour) for t in built.terms)
    if builder.is_multiset(built) or (builder.is_list(built) and not isinstance(plain(colour), List)):
        return (Many(built),)
    return (fit(built, colour),)


def parse_delay(text: str, names: Names) -> Term | None:
    """The delay of a transition, ``@+ 3``; None if there is none."""
    if without_comments(text).strip() in ("", "@+", "@++"):
        return None
    return parse_term(text, names)


def parse_value(text: str, names: Names) -> tuple[Term, bool]:
    """A term, and whether it is a multiset (as the list of its elements)."""
    builder = Builder(Text(text, None), names)
    built = builder.built()
    return builder.as_list(built), isinstance(built, Tokens)


def parse_declarations(text: str, names: Names) -> list[Declared]:
    """What ``fun`` and ``val`` declare, in their order."""
    builder = Builder(Text(text, None), names)
    return builder.declared(builder.tree())


def parse_guard(text: str, names: Names) -> tuple[Term, ...]:
    """The conjuncts of a guard: ``[g1, g2]`` or one condition; nothing for an empty text."""
    if not without_comments(text).strip():
        return ()
    term = parse_term(text, names)
    return term.parts if isinstance(term, ListTerm) else (term,)


def parse_values(text: str, names: Names, colour: Colour) -> tuple[Value, ...]:
    """The tokens of an initial marking, in their order; nothing for an empty text."""
    if not without_comments(text).strip():
        return ()
    quick = quick_values(text, colour, MOST_TOKENS)
    if quick is not None:
        return quick
    terms = parse_tokens(text, names, colour)
    known: dict[Term, Value] = {}
    values: list[Value] = []
    for term in terms:
        one, many, delay = token_part(term)
        if delay is not None:
            message = "a token that is ready later (`@+`) is not supported in an initial marking"
            raise DefinitionProblem(Text(text, None).problem("unsupported", message, None))
        if many:
            values += _elements(one, names, colour, Text(text, None))
            continue
        if one not in known:
            known[one] = _constant(one, names, colour, Text(text, None))
        values.append(known[one])
    return tuple(values)


def _elements(term: Term, names: Names, colour: Colour, source: Text) -> tuple[Value, ...]:
    """The elements of a multiset that is computed."""
    found: Any = _constant(term, names, None, source)
    for value in found if isinstance(found, tuple) else ():
        wrong = colour.check(value)
        if wrong is not None:
            raise DefinitionProblem(source.problem("bad-value", wrong, None))
    if not isinstance(found, tuple):
        raise DefinitionProblem(source.problem("bad-value", "the multiset has no value", None))
    return found


def parse_constant(text: str, names: Names) -> Value:
    """The value of an expression without variables."""
    return _constant(parse_term(text, names), names, None, Text(text, None))


def _constant(term: Term, names: Names, colour: Colour | None, source: Text) -> Value:
    try:
        value = evaluate(term, {}, None, names.variables)
    except KeyError as error:
        message = f"a variable (`{error.args[0]}`) is not allowed here: expected a constant"
        raise DefinitionProblem(source.problem("bad-value", message, term.span)) from None  # type: ignore[attr-defined]
    wrong = None if colour is None else colour.check(value)
    if wrong is not None:
        raise DefinitionProblem(source.problem("bad-value", wrong, getattr(term, "span", None)))
    return value


def _single(built: Term | Tokens, source: Text, colour: Colour | None) -> Term:
    if isinstance(built, Tokens):
        if len(built.terms) != 1:
            message = "a multiset is not allowed here: expected one value"
            raise DefinitionProblem(source.problem("unsupported", message, built.span))
        built = built.terms[0]
    return built if colour is None else fit(built, colour)


def _built(text: str, names: Names) -> Term | Tokens:
    return Builder(Text(text, None), names).built()


#: what is ML, but not of the part that is understood
_OTHER = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")|\b(?P<word>handle|raise|while|op|input|output|action|as|exception|datatype|type|local|structure|open|infix)\b"""
    r"""|(?P<sign>@\+|@@|@|\*\*|:=|(?<!\.)!|%|\||;|<<=|>>=|<<|>>)""",
    re.DOTALL,
)
_TIMES = ("@+", "@", "@@")


def _explained(error: UnexpectedInput, text: str, source: Text) -> OccursError:
    for match in _OTHER.finditer(text):
        if match.lastgroup != "string":
            word = match.group()
            what = f"time (`{word}`)" if word in _TIMES else f"the ML syntax `{word}`"
            place = source.span(match.start(), match.end())
            return DefinitionProblem(source.problem("unsupported", f"{what} is not supported", place))
    start, end, found = found_at(error, text)
    found = found.replace("the statement", "the text")
    message = f"{found}: expected {_words(expected_terminals(error))}"
    return SyntaxProblem(source.problem("syntax", message, source.span(start, min(end, len(text) + 1))))


_SHOWN = {
    "COMPARISON": "a comparison", "RPAR": "`)`", "RSQB": "`]`", "RBRACE": "`}`", "COMMA": "`,`", "THEN": "`then`",
    "ELSE": "`else`", "EQUAL": "`=`", "$END": "the end",
}  # fmt: skip


def _words(expected: set[str]) -> str:
    """Terminals for people: the beginnings of values, and of what can stand between them, together."""
    if "INT" in expected and "COMPARISON" not in expected:
        return "a value"
    named = [_SHOWN[t] for t in _SHOWN if t in expected]
    if "PRODUCT" in expected:
        named = ["an operator", *(n for n in named if n != "a comparison")]
    return " or ".join(named) or "a name"


_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\(\*|\*\)', re.DOTALL)


def without_comments(text: str) -> str:
    """Blanks instead of comments, which may contain each other; what stands elsewhere stays where it is.

    >>> without_comments("a (* b (* c *) *) + d")
    'a                 + d'
    """
    out, depth, begin = list(text), 0, 0
    for match in _COMMENT.finditer(text):
        if match.group() == "(*":
            begin = begin if depth else match.start()
            depth += 1
        elif match.group() == "*)" and depth:
            depth -= 1
            if not depth:
                out[begin : match.end()] = [c if c == "\n" else " " for c in text[begin : match.end()]]
    return "".join(out)


# --- the tree to a term or a multiset of terms: names resolved, functions known by their names ------------------------


#: how many tokens one inscription may stand for
MOST_TOKENS = 1_000_000


@dataclass(frozen=True)
class _Name:
    """A name that is to be applied to something: of a function, a constructor, a field."""

    text: str
    span: Span


class Builder(FunctionalBuilder):
    """Builds the value of one text: ``value`` of its whole tree."""

    def __init__(self, source: Text, names: Names):
        super().__init__()
        self.source = source
        self.names = names

    def tree(self) -> Tree[Any]:
        """The tree of the text.  SyntaxProblem if it has none."""
        clean = without_comments(self.source.text)
        try:
            tree = lark_of("occurs.nets", "ml.lark", lexer="basic").parse(clean)
        except UnexpectedInput as error:
            raise _explained(error, clean, self.source) from None
        assert isinstance(tree, Tree)
        return tree

    def built(self) -> Term | Tokens:
        """The term or multiset of the text."""
        tree = self.tree()
        try:
            return self.value(tree)
        except RecursionError:
            raise SyntaxProblem(self.source.problem("syntax", "brackets are nested too deeply", None)) from None

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

    def _counted(self, tree: Tree[Any], span: Span) -> Tokens:
        count, what = self._term(tree.children[0]), self._term(tree.children[1])
        number = count.value if isinstance(count, Literal) and count.type is Type.INT else None
        if not isinstance(number, int):
            return Tokens((Many(Copies(count, what, span=span)),), span)
        if number < 0:
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
            if isinstance(function, Fn | Apply):
                return self._call_of(function, args, span)
            raise self._refusal("syntax", "a value is not a function: expected an operator", self._span(args[0]))
        own = function.text in self.locals or function.text in self.names.declared
        known = self.function_named(function.text, function.span)
        if own and known is not None:
            return self._call_of(known, args, span)
        if len(args) > 1:
            if known is not None:
                return self._call_of(known, args, span)
            self._known_function(function)
            raise self._refusal("syntax", f"`{function.text}` takes one argument", self._span(args[1]))
        return self._apply(function, args[0], span)

    def _apply(self, function: _Name, tree: Tree[Any], span: Span) -> Term | Tokens:
        name = function.text
        if name.endswith(".all") and name != "List.all":
            return self._everything(name.removesuffix(".all"), span)
        if name in self.names.constructors:
            held = self.names.constructors[name].case(name)
            if held is None:
                raise self._refusal("unknown-name", f"`{name}` does not hold a value", span)
            return Inject(name, fit(self._term(tree), held), span=span)
        if not (name.startswith(("#", "~")) or name == "not" or name in self.names.variables) and not _special(name):
            known = self.function_named(name, function.span)
            if known is not None:
                return self._call_of(known, [tree], span)
        arg = self._term(tree)
        if name.startswith("#"):
            return self._field(name[1:], arg, span)
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
        known = self.function_named(name, function.span)
        if known is not None:
            return Apply(known, arg, span=span)
        self._known_function(function)
        raise self._refusal("syntax", f"`{name}` is not a function", function.span)

    def _field(self, name: str, arg: Term, span: Span) -> Term:
        """``at`` is needed where only a function knows the colour of what it is given: the first record counts then."""
        if self.infer(arg) is not None or not {type(n) for n in arg.walk()} & {Local, Apply, Case, Let}:
            return FieldTerm(name, arg, span=span)
        if name.isdecimal():
            return FieldTerm(name, arg, at=int(name) - 1, span=span)
        record = next((r for fields, r in self.names.records.items() if name in fields), None)
        if record is None:
            raise self._refusal("unknown-record", f"no record has a field `{name}`", span)
        return FieldTerm(name, arg, at=[n for n, _ in record.fields].index(name), span=span)

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
        if text in self.locals:
            return replace(self.locals[text], span=span)
        if text in names.variables:
            return Ref(None, text, span=span)
        if text in names.constants:
            return self._constant(names.constants[text], span)
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
        if any(c.name == text for c in names.colours):
            return self._everything(text, span)
        if text in names.declared or (text in LIBRARY and not _special(text) and text != "not"):
            known = self.function_named(text, span)
            if known is not None:
                return known
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


# --- names: the declarations of a net, as its inscriptions need them --------------------------------------------------


@dataclass(frozen=True)
class Names:
    """``constants``: what was declared by ``val``, and values with names of their own.  ``functions``: declared in ML,
    which have no form here.  ``equalities``: functions that say whether two values are equal.  ``declared``: functions
    that are understood.  ``references``: what references hold."""

    variables: Mapping[str, Colour] = field(default_factory=dict)
    colours: tuple[Colour, ...] = ()
    constants: Mapping[str, Term] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    equalities: frozenset[str] = frozenset()
    declared: Mapping[str, Function] = field(default_factory=dict)
    references: Mapping[str, Term] = field(default_factory=dict)

    def with_function(self, function: Function) -> Names:
        """These names and a declared function."""
        return replace(self, declared={**self.declared, function.name: function})

    def with_constant(self, name: str, value: Term) -> Names:
        """These names and one for a value."""
        return replace(self, constants={**self.constants, name: value})

    @cached_property
    def constructors(self) -> dict[str, Union]:
        """Constructor -> the union it is of."""
        return {name: c for c in self.colours if isinstance(c, Union) for name, _ in c.cases}

    @cached_property
    def enumerated(self) -> dict[str, Enum]:
        """Value -> the enumeration it is of."""
        return {name: c for c in self.colours if isinstance(c, Enum) for name in c.values}

    @cached_property
    def records(self) -> dict[frozenset[str], Record]:
        """The names of fields -> the first record that has them."""
        found: dict[frozenset[str], Record] = {}
        for c in self.colours:
            if isinstance(c, Record):
                found.setdefault(frozenset(n for n, _ in c.fields), c)
        return found

    @property
    def known(self) -> Iterator[str]:
        """All names that stand for a value."""
        for names in (self.variables, self.constants, self.enumerated, self.constructors):
            yield from names


# --- functions of CPN ML that have a form in nets ---------------------------------------------------------------------


OPERATORS = {"<>": "!="}
#: functions of one argument that change nothing here: one kind of integer has all sizes
SAME = ("IntInf.fromInt", "IntInf.toInt", "Int.toLarge", "Int.fromLarge", "IntInf.toLarge", "IntInf.fromLarge")
ONE: dict[str, str] = {
    **dict.fromkeys(("length", "List.length"), "length"),
    **dict.fromkeys(("abs", "Int.abs", "Real.abs", "IntInf.abs"), "abs"),
    **dict.fromkeys(("real", "Real.fromInt", "Real.fromLargeInt"), "real"),
}
TWO: dict[str, str] = {
    **{f"{kind}.{f}": f for kind in ("Int", "IntInf", "Real") for f in ("min", "max")},
    **{f"List.{f}": f"list.{f}" for f in ("take", "drop", "nth")},
}
TWO_OPERATORS = {
    **dict.fromkeys(("Int.rem", "IntInf.rem", "Real.rem"), "%"),
    **dict.fromkeys(("Int.div", "IntInf.div"), "div"),
    **dict.fromkeys(("Int.mod", "IntInf.mod"), "mod"),
    "Real.==": "=",
    "Real.!=": "!=",
}
#: functions of CPN ML that have no form in a net
ML_FUNCTIONS = frozenset(
    (
        "ran", "discrete", "uniform", "exponential", "normal", "bernoulli", "binomial", "poisson", "erlang", "rev",
        "mem", "remdupl", "rm", "rmall", "contains", "intersect", "union", "ins", "insert", "trunc", "floor", "ceil",
        "round", "time", "step", "explode", "implode", "str", "chr", "ord", "map", "foldl", "foldr", "filter", "ms",
        "ext_col", "ext_ms", "mult", "cf", "Option", "valOf", "isSome", "substring", "size", "print", "ref",
    )
)  # fmt: skip


def _special(name: str) -> bool:
    """Whether a function of the library has a term of its own in nets."""
    return (
        name in SAME or name in ONE or name in TWO or name in TWO_OPERATORS or name in ("hd", "tl", "null")
        or name in ("List.hd", "List.tl", "List.null")
    )  # fmt: skip


_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"v": b"\v", b"f": b"\f"}


def unescaped(text: str) -> str:
    r"""What a string of ML between its quotes stands for: bytes, that are UTF-8 as a rule.

    >>> unescaped(r'a\tb \195\169 \"')
    'a\tb é "'
    """

    def one(match: re.Match[bytes]) -> bytes:
        code = match.group(1)
        if code.isdigit() and len(code) == 3:
            return bytes([int(code)]) if int(code) < 256 else match.group()
        if code[:1] == b"^" and len(code) == 2:
            return bytes([code[1] - 64])
        return b"" if code[:1].isspace() else _ESCAPED.get(code, code)

    data = text.encode("utf-8", "surrogateescape")
    data = re.sub(rb"\\(\d{3}|\^[@-_]|\s+\\|.)", one, data, flags=re.DOTALL)
    return data.decode("utf-8", "surrogateescape")


def fit(term: Term, colour: Colour) -> Term:
    """``term`` with the fields of its records in the order of ``colour``, as far as the two go together."""
    kind = plain(colour)
    if isinstance(term, Delayed):
        return replace(term, arg=fit(term.arg, colour))
    if isinstance(term, TupleTerm) and isinstance(kind, Product) and len(term.parts) == len(kind.parts):
        return replace(term, parts=tuple(map(fit, term.parts, kind.parts)))
    if isinstance(term, ListTerm) and isinstance(kind, List):
        return replace(term, parts=tuple(fit(p, kind.of) for p in term.parts))
    if isinstance(term, RecordTerm) and isinstance(kind, Record):
        fields = dict(zip(term.names, term.parts, strict=True))
        if set(fields) == {n for n, _ in kind.fields}:
            found = ordered(fields, kind, term.span)
            return replace(found, parts=tuple(fit(p, c) for p, (_, c) in zip(found.parts, kind.fields)))
    return term


def uncast(term: Term) -> Term:
    return term.args[0] if isinstance(term, Call) and term.name == "real" else term


def ordered(fields: dict[str, Term], record: Record, span: Span | None) -> RecordTerm:
    names = tuple(n for n, _ in record.fields)
    return RecordTerm(names, tuple(fields[n] for n in names), span=span)


_LITERALS: tuple[tuple[type[Colour], Type], ...] = (
    (Bool, Type.BOOL),
    (Int, Type.INT),
    (Real, Type.FLOAT),
    (String, Type.STRING),
)


def term_of(value: Any, colour: Colour) -> Term:
    """The term that stands for a value of ``colour``."""
    kind = plain(colour)
    for plain_kind, type_ in _LITERALS:
        if isinstance(kind, plain_kind):
            return Literal(value, type_)
    if isinstance(kind, Enum):
        return EnumTerm(value)
    if isinstance(kind, Union):
        held = kind.case(value[0])
        return Inject(value[0], None if held is None else term_of(value[1], held))
    if isinstance(kind, List):
        return ListTerm(tuple(term_of(v, kind.of) for v in value))
    if isinstance(kind, Record):
        return RecordTerm(
            tuple(n for n, _ in kind.fields), tuple(term_of(v, c) for v, (_, c) in zip(value, kind.fields))
        )
    return (
        TupleTerm(tuple(term_of(v, c) for v, c in zip(value, kind.parts)))
        if isinstance(kind, Product)
        else TupleTerm(())
    )


# --- long markings read at once: constants of a known colour, without names to look up --------------------------------
# What is not written plainly (arithmetic, constants by name, comments) is left to the parser, which also says what is
# wrong.


_TOKEN = re.compile(
    r"""\s*(?:(?P<real>~?\d+(?:\.\d+(?:[eE]~?\d+)?|[eE]~?\d+))|(?P<int>~?\d+)|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<name>[A-Za-z][\w']*(?![\w'.]))|(?P<sign>\+\+|[`(){}\[\],=]))""",
    re.DOTALL | re.ASCII,
)


class _Other(Exception):
    """The text has something that is not read here."""


def quick_values(text: str, colour: Colour, most: int) -> tuple[Value, ...] | None:
    """The tokens of a marking, in their order; None if the text is not one of plain constants of ``colour``.

    >>> quick_values("2`1++1`~3", Int("INT"), 9), quick_values("1`n", Int("INT"), 9)
    ((1, 1, -3), None)
    """
    try:
        return _Reader(text).marking(plain(colour), most)
    except (_Other, RecursionError):
        return None


class _Reader:
    def __init__(self, text: str):
        self.tokens: list[tuple[str, str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at, end)
            if match is None:
                raise _Other
            self.tokens.append((str(match.lastgroup), match.group(match.lastgroup or 0)))
            at = match.end()
        self.tokens.append(("end", ""))
        self.at = 0

    def marking(self, colour: Colour, most: int) -> tuple[Value, ...]:
        found: list[Value] = []
        while True:
            count = 1
            if self.tokens[self.at][0] == "int" and self.tokens[self.at + 1][1] == "`":
                count = int(self._next("int").replace("~", "-"))
                self._next("sign", "`")
            if not 0 <= count <= most - len(found):
                raise _Other
            found += [self._value(colour)] * count
            if self.tokens[self.at][0] == "end":
                return tuple(found)
            self._next("sign", "++")

    def _next(self, kind: str, text: str | None = None) -> str:
        found, word = self.tokens[self.at]
        if found != kind or text not in (None, word):
            raise _Other
        self.at += 1
        return word

    def _is(self, sign: str) -> bool:
        return self.tokens[self.at] == ("sign", sign)

    def _value(self, colour: Colour) -> Value:
        """The value of ``colour``, which has no alias at its top, that begins here."""
        if isinstance(colour, Product):
            return self._parts([plain(c) for c in colour.parts])
        if self._is("(") and not isinstance(colour, Unit):
            self.at += 1
            value = self._value(colour)
            self._next("sign", ")")
            return value
        match colour:
            case Int():
                return int(self._next("int").replace("~", "-"))
            case Real():
                return float(self._next("real").replace("~", "-"))
            case String():
                return unescaped(self._next("string")[1:-1])
            case Bool():
                return self._one_of({"true": True, "false": False})
            case Enum():
                return self._one_of({name: name for name in colour.values})
            case Union():
                return self._union(colour)
            case Record() if colour.fields:
                return self._record(colour)
            case List():
                return self._list(plain(colour.of))
            case Unit() | Record():
                self._next("sign", "(")
                self._next("sign", ")")
                return ()
        raise _Other

    def _one_of(self, known: dict[str, Any]) -> Value:
        name = self._next("name")
        if name not in known:
            raise _Other
        value: Value = known[name]
        return value

    def _parts(self, colours: list[Colour]) -> Value:
        self._next("sign", "(")
        values = []
        for k, colour in enumerate(colours):
            if k:
                self._next("sign", ",")
            values.append(self._value(colour))
        self._next("sign", ")")
        return tuple(values)

    def _list(self, colour: Colour) -> Value:
        self._next("sign", "[")
        values: list[Value] = []
        while not self._is("]"):
            if values:
                self._next("sign", ",")
            values.append(self._value(colour))
        self.at += 1
        return tuple(values)

    def _record(self, colour: Record) -> Value:
        fields = {name: plain(c) for name, c in colour.fields}
        found: dict[str, Value] = {}
        self._next("sign", "{")
        while not self._is("}"):
            if found:
                self._next("sign", ",")
            name = self._next("name")
            self._next("sign", "=")
            if name not in fields or name in found:
                raise _Other
            found[name] = self._value(fields[name])
        self.at += 1
        if len(found) < len(fields):
            raise _Other
        return tuple(found[name] for name in fields)

    def _union(self, colour: Union) -> Value:
        cases = dict(colour.cases)
        name = self._next("name")
        if name not in cases:
            raise _Other
        held = cases[name]
        return (name, () if held is None else self._value(plain(held)))
