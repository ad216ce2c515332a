"""From lark's tree of one statement to the tree of the language, with what the grammar alone cannot refuse."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from lark import Token

from occurs.errors import did_you_mean
from occurs.expr import tree as core
from occurs.expr.text import Text
from occurs.expr.tree import Expr
from occurs.languages.kit.expressions import ExpressionBuilder, Node, Refused, plain
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.functions import FUNCTIONS
from occurs.languages.phenesthe.syntax import Relation
from occurs.model.time import UNIT_MICROSECONDS, UNITS, Duration
from occurs.model.types import Type

_SUFFIX = "_phenomenon"
#: lark's name of an operator with two operands to the node it makes
_BINARY: dict[str, Callable[..., Relation]] = {
    "union": syntax.Union, "intersection": syntax.Intersection, "complement": syntax.Complement,
    "maximal": syntax.MaximalRange, "minimal": syntax.MinimalRange, "disjunction": syntax.Or,
    "conjunction": syntax.And, "inside": syntax.In,
}  # fmt: skip
_UNARY: dict[str, Callable[..., Relation]] = {"negation": syntax.Not, "starting": syntax.Start, "ending": syntax.End}
NO_FORMULA = "a value is needed here, but this is a formula"
VALUES = "a value is a variable, a constant, or computed from these"
UNIT_WORDS = ("us", "ms", "s", "sec", "second", "min", "minute", "h", "hour", "d", "day", "w", "week")


class Builder(ExpressionBuilder):
    """Builds one statement; ``self.offset`` is where it begins in the text."""

    any_case = False
    signs: ClassVar = {
        "==": "=", "=:=": "=", "<>": "!=", "≠": "!=", "=\\=": "!=", "\\==": "!=", "\\=": "!=", "≤": "<=", "=<": "<=",
        "≥": ">=",
    }  # fmt: skip

    def statements(self, tree: Node, text: str) -> Sequence[syntax.Statement]:
        """What the statement says: one, or several declarations; raises Refused after reporting what cannot stand."""
        return self.whole_or_refused(lambda: self._statements(tree, text))

    def _statements(self, tree: Node, text: str) -> Sequence[syntax.Statement]:
        if tree.data == "definition":
            return (self.definition(tree, text),)
        if tree.data == "fact":
            name, *values = tree.children[1:]
            return (syntax.Fact(self.phenomenon(name), tuple(map(self.constant, values)), self.span(tree)),)
        if tree.data == "input":
            sort, *declared = tree.children
            return [self.declaration(str(sort), d) for d in declared]
        return (self.ported_input(tree),)

    def definition(self, tree: Node, text: str) -> syntax.Definition:
        sort, head, sign, body, *where = _with_colon(tree)
        name, *arguments = head.children
        ported = sign is not None
        relation = self.relation(body)
        if ported:
            check_chains(relation, self.source)
        return syntax.Definition(
            str(sort).removesuffix(_SUFFIX),
            self.phenomenon(name),
            tuple(self.head_argument(a) for a in arguments if a is not None),
            relation,
            self.relation(where[0].children[0]) if where else None,
            ported,
            self.span(tree),
            text,
        )

    def head_argument(self, tree: Node) -> syntax.HeadArgument:
        name, _, value = tree.children
        if value.data in ("length", "counted", "aggregated"):
            return syntax.HeadArgument(self.name(name), self.measure(value))
        built = self.value(value)
        if isinstance(built, syntax.Anything):
            hint = "list variables, or attributes with values: `stopped(Vessel, kind = 'long')`"
            raise self.refuse("syntax", "`_` in a head leaves the attribute without a value", value, hint)
        if name is not None:
            return syntax.HeadArgument(self.name(name), built)
        if isinstance(built, syntax.Constant):
            hint = "write `name = value`; a variable starts with an upper-case letter"
            message = "a constant in a head needs the name of its attribute"
            raise self.refuse("syntax", message, value, hint)
        return syntax.HeadArgument(syntax.Name(built.name, built.span), built)

    def measure(self, tree: Node) -> syntax.Measure:
        """What is computed of each interval."""
        if tree.data == "length":
            unit = tree.children[0]
            return syntax.Measure("length", unit=None if unit is None else self.length(unit), span=self.span(tree))
        function, *name, events = tree.children
        variable = None
        if name:
            variable = syntax.Variable(plain(name[0]), self.span(name[0]))
            if not self._is_variable(name[0]):
                hint = f"write `{function}(Amount, Pay(User, Amount))`"
                raise self.refuse("syntax", f"`{name[0]}` is not a variable", name[0], hint)
        atom = self.relation(events)
        if not isinstance(atom, syntax.Atom):
            hint = "define the events first: `event big(User) : Pay(User, Amount) ∧ Amount > 100.`"
            raise self.refuse("syntax", f"`{function}` takes the events of a single name", events, hint)
        return syntax.Measure(str(function), atom, variable, span=self.span(tree))

    # --- declarations ------------------------------------------------------------------------------------------------

    def declaration(self, sort: str, tree: Node) -> syntax.Declaration:
        name, *parts = tree.children
        attributes: list[syntax.Attribute] = []
        rest = changes = False
        for part in parts:
            if part.data == "changes":
                changes = True
                if sort != "state":
                    message = f"`as changes` is for states only, but `{plain(name)}` is declared as {_article(sort)}"
                    self.source.report("syntax", message, self.span(tree), "declare it with `input state`")
                continue
            for column in part.children:
                if isinstance(column, Token):
                    rest = True
                elif column is not None:
                    attribute, kind = column.children
                    attributes.append(syntax.Attribute(self.path(attribute), self.type(kind) if kind else None))
        return syntax.Declaration(
            sort.removesuffix(_SUFFIX), self.phenomenon(name), tuple(attributes), rest, changes, self.span(tree)
        )

    def ported_input(self, tree: Node) -> syntax.Declaration:
        """`input_phenomenon(n(_, _), event)`: attributes are named by the variables, or a1, a2..."""
        name, places, sort = tree.children
        word = str(sort).removesuffix(_SUFFIX)
        if word not in (*syntax.SORTS, "fact"):
            hint = did_you_mean(word, syntax.SORTS, "sorts")
            raise self.refuse("syntax", f"`{sort}` is not a sort of phenomenon", sort, hint)
        attributes = []
        for i, place in enumerate((c for c in places.children if c is not None) if places is not None else (), 1):
            text = f"a{i}" if str(place).startswith("_") else plain(place)
            attributes.append(syntax.Attribute(syntax.Name(text, self.span(place))))
        return syntax.Declaration(word, self.phenomenon(name), tuple(attributes), span=self.span(tree))

    # --- names -------------------------------------------------------------------------------------------------------

    def phenomenon(self, token: Token) -> syntax.Name:
        """The name of a phenomenon or fact; a keyword needs backquotes."""
        if str(token) in syntax.KEYWORDS:
            hint = f"to use it as the name of a phenomenon, write it in backquotes: `` `{token}` ``"
            raise self.refuse("syntax", f"`{token}` is a keyword", token, hint)
        return self.name(token)

    # --- formulas ----------------------------------------------------------------------------------------------------

    def relation(self, tree: Node) -> Relation:
        """A formula; reports and raises Refused if there is none, or if it is nested too deeply."""
        self.deeper(1, tree)
        built = self._relation(tree)
        self.depth -= 1
        return built

    def _relation(self, tree: Node) -> Relation:
        kind, parts, span = str(tree.data), tree.children, self.span(tree)
        if kind == "group":
            return self.relation(parts[0])
        if kind in _BINARY:
            return _BINARY[kind](self.relation(parts[0]), self.relation(parts[1]), span=span)
        if kind in _UNARY:
            return _UNARY[kind](self.relation(parts[0]), span=span)
        if kind == "aand":
            return syntax.And(self.relation(parts[0]), self.relation(parts[1]), ported=True, span=span)
        if kind == "related":
            return syntax.Related(str(parts[1]), self.relation(parts[0]), self.relation(parts[2]), span)
        if kind == "iteration":
            op = str(parts[1]).removesuffix("@")
            return syntax.Iteration(self.relation(parts[0]), op, self.length(parts[2]), span, self.span(parts[2]))
        if kind == "filter":
            return self._filter(tree)
        if kind in ("compare", "member"):
            return syntax.Comparison(self.expr(tree), span)
        if kind == "atom":
            return self._atom(tree)
        if kind == "bare" and not (self._is_variable(parts[0]) or parts[0] == "_"):
            return syntax.Atom(self.phenomenon(parts[0]), span=span)
        text = self.source.text[self.offset + tree.meta.start_pos : self.offset + tree.meta.end_pos]
        hint = "compare values in a condition: `X > 3`"
        if kind == "bare" and parts[0] != "_":
            hint = f"if it is a phenomenon, write parentheses: `{text}()`"
        self.source.report("syntax", f"`{text}` is a value, but a formula is needed here", span, hint)
        raise Refused

    def _filter(self, tree: Node) -> Relation:
        operand, op, duration = tree.children
        if str(op) not in syntax.LENGTHS:
            hint = did_you_mean(str(op), syntax.LENGTHS, "comparisons of lengths")
            raise self.refuse("syntax", f"`{op}` does not compare lengths", op, hint)
        return syntax.Filter(
            self.relation(operand), str(op), self.length(duration), self.span(tree), self.span(duration)
        )

    def _atom(self, tree: Node) -> Relation:
        name, *parts = tree.children
        arguments: list[syntax.Argument] = []
        parts = [p for p in parts if p is not None]
        for i, part in enumerate(parts):
            if len(part.children) == 1:  # the rest
                if i < len(parts) - 1:
                    self.source.report(
                        "syntax", "`...` must be last: it stands for all other attributes", self.span(part)
                    )
                    raise Refused
                break
            label, _, value = part.children
            if label is None and arguments and arguments[-1].name is not None:
                self.source.report("syntax", "a positional argument cannot follow a named one", self.span(part),
                                   "write positional arguments first, or name this one: `name = value`")  # fmt: skip
                raise Refused
            named = self.path(label) if label is not None else None
            arguments.append(syntax.Argument(self.value(value), named, self.span(part)))
        rest = len(arguments) < len(parts)
        return syntax.Atom(self.phenomenon(name), tuple(arguments), rest, self.span(tree))

    # --- values ------------------------------------------------------------------------------------------------------

    @staticmethod
    def _is_variable(token: Token) -> bool:
        return token != "_" and (token[0] == "_" or token[0].isupper())

    def x_atom(self, tree: Node) -> Expr:
        """A function of terms; a phenomenon in its place is reported and Refused."""
        name, *parts = tree.children
        parts = [p for p in parts if p is not None]
        known = plain(name).lower() in FUNCTIONS
        if not known or any(len(p.children) == 1 or p.children[0] is not None for p in parts):
            found = did_you_mean(plain(name).lower(), FUNCTIONS, "functions")
            near = found if found.startswith("did") else VALUES
            message = f"the arguments of the function `{name}` must be values" if known else NO_FORMULA
            raise self.refuse("syntax", message, tree, near)
        return core.Call(plain(name).lower(), tuple(self.expr(p.children[2]) for p in parts), span=self.span(tree))

    def value(self, tree: Node) -> syntax.Value:
        """An argument: a variable, a constant or `_`."""
        if tree.data == "bare":
            token = tree.children[0]
            if token == "_":
                return syntax.Anything(self.span(token))
            if self._is_variable(token):
                return syntax.Variable(str(token), self.span(token))
        return self.constant(tree)

    def constant(self, tree: Node) -> syntax.Constant:
        built = self.expr(tree)
        if isinstance(built, core.Literal):
            return syntax.Constant(built.value, built.type, built.span)
        if not isinstance(built, core.Ref):
            hint = "compute it in a condition: `p(X) ∧ X = 3 + 2`"
            message = "an argument must be a variable or a constant, but this is computed"
            raise self.refuse("syntax", message, tree, hint)
        hint = "start a constant with a lower-case letter, or write it in quotes: `'Fishing'`"
        message = f"`{tree.children[0]}` is a variable, but a constant is needed here"
        raise self.refuse("syntax", message, tree, hint)

    def expr(self, tree: Node) -> Expr:
        """A term or comparison; a formula in its place is reported and Refused."""
        if not hasattr(self, f"x_{tree.data}"):
            raise self.refuse("syntax", NO_FORMULA, tree, VALUES)
        return super().expr(tree)

    def x_bare(self, tree: Node) -> Expr:
        token, span = tree.children[0], self.span(tree)
        if token == "_":
            self.source.report("syntax", "`_` has no value", span, "name the variable to use it in a condition")
            raise Refused
        if token.startswith("`"):
            hint = "backquotes are for phenomena and attributes; write a constant in quotes: `'a b'`"
            self.source.report("syntax", f"the name {token} in backquotes is not a value", span, hint)
            raise Refused
        if self._is_variable(token):
            return core.Ref(None, str(token), span=span)
        return core.Literal(str(token), Type.STRING, span=span)

    def x_member(self, tree: Node) -> Expr:
        term, *constants = tree.children
        items = []
        for c in constants:
            self.constant(c)
            items.append(self.expr(c))
        return core.In(self.expr(term), tuple(items), span=self.span(tree))

    # --- durations ---------------------------------------------------------------------------------------------------

    def length(self, tree: Node) -> Duration:
        """`5 min`, or a number of ticks; what is not positive is refused."""
        sign, number, unit = tree.children
        amount = self.exact(number, kind="bad-duration")
        if sign is not None or not amount:
            hint = "write for example `5 min`"
            raise self.refuse("bad-duration", "a duration must be greater than zero", tree, hint)
        return self.duration([amount] if unit is None else [amount, unit])

    def duration(self, parts: Sequence[Any]) -> Duration:
        if len(parts) == 1:
            return Duration(parts[0], ticks=True)
        amount, word = parts
        unit = UNITS.get(str(word))
        if unit is None or unit == "tick":
            hint = did_you_mean(str(word).lower(), UNIT_WORDS, "units")
            if unit == "tick":
                hint = "write a number of ticks without a unit"
            elif re.fullmatch(r"(?i)mo|months?|y|yr|years?", word):
                hint = "months and years have no fixed length; write the number of days: `30 d`, `365 d`"
            raise self.refuse("unknown-unit", f"`{word}` is not a unit of time", word, hint)
        return Duration(amount * UNIT_MICROSECONDS[unit])


def _article(sort: str) -> str:
    return f"an {sort}" if sort == "event" else f"a {sort}"


def _with_colon(tree: Node) -> list[Node]:
    """The children of a definition, with None where `:` stands and a token where `:=` does."""
    children = list(tree.children)
    if not isinstance(children[2], Token) or children[2].type != "WALRUS":
        children.insert(2, None)
    return children


# --- chains of operators, in the statements of Phenesthe's own files (`:=`) -------------------------------------------


_SETS = (syntax.Union, syntax.Intersection, syntax.Complement)
_WORDS: dict[type[Relation], str] = {syntax.Union: "⊔", syntax.Intersection: "⊓", syntax.Complement: "\\"}


def is_bare(outer: Relation, inner: Relation) -> bool:
    """Whether ``inner``, an operand of ``outer`` with an operator between two operands, stands without parentheses."""
    a, b = getattr(outer, "span", None), getattr(inner, "span", None)
    if a is None or b is None:
        return False
    begins = (a.line, a.column) == (b.line, b.column)
    return begins or (a.end_line, a.end_column) == (b.end_line, b.end_column)


def operator_text(node: Relation) -> str:
    """The operator of a set operator or a relation, as it is named to the user."""
    return node.rel if isinstance(node, syntax.Related) else _WORDS[type(node)]


def check_chains(body: Relation, source: Text) -> None:
    """Report two set operators, or two relations, in a row: Phenesthe groups them otherwise than we do."""
    for outer in body.walk():
        for inner in outer.parts:
            sets = isinstance(outer, _SETS) and isinstance(inner, _SETS)
            # however a union of unions is grouped, it is the same, and so is an intersection of intersections
            sets &= type(outer) is not type(inner) or isinstance(outer, syntax.Complement)
            relations = isinstance(outer, syntax.Related) and isinstance(inner, syntax.Related)
            if (sets or relations) and is_bare(outer, inner):
                message = f"`{operator_text(inner)}` and `{operator_text(outer)}` in a row need parentheses"
                hint = "write the parentheses: Phenesthe groups such chains to the right, Occurs to the left"
                source.report("ambiguous-chain", message, getattr(outer, "span", None), hint)
