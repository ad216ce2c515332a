"""From lark's tree of one statement to the tree of the language, with what the grammar alone cannot refuse."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from occurs.errors import did_you_mean
from occurs.languages.expressions import Node, Refused, plain
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.parser_formula import FormulaBuilder
from occurs.languages.phenesthe.parser_ported import check_chains
from occurs.model.types import TYPE_NAMES, Type

_SUFFIX = "_phenomenon"


class Builder(FormulaBuilder):
    """Builds one statement; ``self.offset`` is where it begins in the text."""

    def statements(self, tree: Node, text: str) -> Sequence[syntax.Statement]:
        """What the statement says: one, or several declarations; raises Refused after reporting what cannot stand."""
        before = len(self.source.problems)
        built: Sequence[syntax.Statement]
        if tree.data == "definition":
            built = (self.definition(tree, text),)
        elif tree.data == "fact":
            name, *values = tree.children[1:]
            built = (syntax.Fact(self.phenomenon(name), tuple(map(self.constant, values)), self.span(tree)),)
        elif tree.data == "input":
            sort, *declared = tree.children
            built = [self.declaration(str(sort), d) for d in declared]
        else:
            built = (self.ported_input(tree),)
        if len(self.source.problems) > before:
            raise Refused
        return built

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
            return syntax.HeadArgument(self.named(name), self.measure(value))
        built = self.value(value)
        if isinstance(built, syntax.Anything):
            hint = "list variables, or attributes with values: `stopped(Vessel, kind = 'long')`"
            self.source.report("syntax", "`_` in a head leaves the attribute without a value", self.span(value), hint)
            raise Refused
        if name is not None:
            return syntax.HeadArgument(self.named(name), built)
        if isinstance(built, syntax.Constant):
            hint = "write `name = value`; a variable starts with an upper-case letter"
            message = "a constant in a head needs the name of its attribute"
            self.source.report("syntax", message, self.span(value), hint)
            raise Refused
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
                    attributes.append(syntax.Attribute(self.attribute(attribute), self.type(kind) if kind else None))
        return syntax.Declaration(
            sort.removesuffix(_SUFFIX), self.phenomenon(name), tuple(attributes), rest, changes, self.span(tree)
        )

    def type(self, token: Token) -> Type | None:
        found = TYPE_NAMES.get(str(token))
        if found is None:
            hint = did_you_mean(str(token).lower(), ("string", "int", "float", "bool", "timestamp"), "types")
            self.source.report("syntax", f"`{token}` is not a type", self.span(token), hint)
        return found

    def ported_input(self, tree: Node) -> syntax.Declaration:
        """`input_phenomenon(n(_, _), event)`: attributes are named by the variables, or a1, a2..."""
        name, places, sort = tree.children
        word = str(sort).removesuffix(_SUFFIX)
        if word not in (*syntax.SORTS, "fact"):
            hint = did_you_mean(word, syntax.SORTS, "sorts")
            self.source.report("syntax", f"`{sort}` is not a sort of phenomenon", self.span(sort), hint)
            raise Refused
        attributes = []
        for i, place in enumerate((c for c in places.children if c is not None) if places is not None else (), 1):
            text = f"a{i}" if str(place).startswith("_") else plain(place)
            attributes.append(syntax.Attribute(syntax.Name(text, self.span(place))))
        return syntax.Declaration(word, self.phenomenon(name), tuple(attributes), span=self.span(tree))


def _article(sort: str) -> str:
    return f"an {sort}" if sort == "event" else f"a {sort}"


def _with_colon(tree: Node) -> list[Node]:
    """The children of a definition, with None where `:` stands and a token where `:=` does."""
    children = list(tree.children)
    if not isinstance(children[2], Token) or children[2].type != "WALRUS":
        children.insert(2, None)
    return children
