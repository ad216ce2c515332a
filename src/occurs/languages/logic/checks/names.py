"""What a name of a trigger may mean, and what is said of one that means nothing (temporal-logic.md, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from occurs.errors import Place, Span, did_you_mean
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Literal
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.catalogue import Catalogue, or_declare
from occurs.languages.logic.render import render
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal.tree import Global, Rows, Sort

ONLY = "only generic variables, `time` and values of the current state are available there"
Scope = Mapping[str, Global]
Resolved = tuple[Expr, Sort]
UNKNOWN = Literal(None, Type.NULL)


def type_word(sort: Sort) -> str:
    """A type as this language names it."""
    return "boolean" if sort is Type.BOOL else str(sort)


def known_type(kind: Type | None) -> Type | None:
    """None for a type that is not known."""
    return None if kind is Type.NULL else kind


def counted(count: int, word: str) -> str:
    """``no key``, ``1 key``, ``2 keys``."""
    return f"{count or 'no'} {word}{'s' * (count > 1)}"


def span_of(node: Expr) -> Span | None:
    """The place of a node."""
    return getattr(node, "span", None)


class Names:
    """The names of one trigger.

    ``generics``: its generic variables; ``assigned``: every assignment of its formula by the name of its variable;
    ``place``: where the terms stand that know no global variable (``an action``, ``an aggregate``), None in a formula.
    """

    def __init__(
        self,
        source: Text,
        catalogue: Catalogue,
        kind: TimeKind | None,
        generics: Mapping[str, Type],
        assigned: Mapping[str, Sequence[syntax.Assign]],
    ) -> None:
        self.source, self.catalogue, self.kind = source, catalogue, kind
        self.generics, self.assigned = generics, assigned
        self.place: str | None = None
        #: part of the trigger could not be looked at, because of something wrong elsewhere
        self.unsure = False
        self.integer_time = None if kind is None else not kind.timestamp

    def report(
        self, kind: str, message: str, span: Span | None, hint: str | None = None, related: Iterable[Place] = ()
    ) -> Resolved:
        """Report a problem; gives a term of which nothing is known."""
        self.source.report(kind, message, span, hint, "error", tuple(related))
        return UNKNOWN, None

    def elsewhere(self) -> Resolved:
        """A term that something wrong elsewhere leaves open."""
        self.unsure = True
        return UNKNOWN, None

    def mismatch(self, message: str, node: Expr, *operands: tuple[Expr, Sort]) -> Resolved:
        """Report types that do not go together, with the places of both."""
        types = [s for _, s in operands]
        hint = None
        if any(isinstance(s, Rows) for s in types):
            hint = "relations can be compared by `=` and `!=` with relations of as many columns, and read in SQL"
        elif Type.STRING in types:
            hint = 'a string is never converted to a number; write a time as `timestamp "2024-01-05T09:00:00Z"`'
        elif Type.DURATION in types or Type.TIMESTAMP in types:
            hint = "with timestamps, a duration needs a unit: `10 min`"
        elif types == [Type.BOOL, Type.BOOL]:
            hint = "bools have no order: use `=`, `!=` or the value itself"
        related = [Place(f"`{render(o)}` is {type_word(s)}", self.source.file, span_of(o)) for o, s in operands]
        return self.report("type-mismatch", f"`{render(node)}`: {message}", span_of(node), hint, related)

    def means(self, name: str, scope: Scope) -> bool:
        """Whether a name means something, though perhaps not here."""
        c = self.catalogue
        known = (scope, self.generics, self.assigned, c.first, c.variables, c.events, c.unread, c.lasting)
        return c.open or name == "time" or any(name in names for names in known)

    def names(self, scope: Scope) -> list[str]:
        """All names that a bare term may be."""
        c = self.catalogue
        return [*scope, *self.generics, *c.variables, *c.constants, *c.tables, *c.views, "time"]

    def unbound(self, name: str, span: Span | None) -> Resolved:
        """A global variable where it is not known."""
        at = self.assigned[name][0]
        places = [Place("it is bound here", self.source.file, at.variable.span)]
        if self.place is not None:
            message = f"`{name}` is a global variable, which {self.place} cannot read"
            return self.report("unbound-variable", message, span, ONLY, places)
        head = f"[{name} <- {render(at.term)}]"
        line = "" if at.span is None else f" (line {at.span.line})"
        message = f"`{name}` is bound only in `{render(at)}`{line}"
        hint = f"put parentheses around the formula that uses it: `{head} (..)`"
        return self.report("unbound-variable", message, span, hint, places)

    def attribute_type(self, event: str, name: str, span: Span | None) -> Type | None:
        """The type of an attribute of an event; reports one that there is not."""
        attributes = self.catalogue.events[event]
        if attributes is None or name in attributes:
            return None if attributes is None else known_type(attributes[name])
        hint = did_you_mean(name, attributes, "attributes")
        self.report("unknown-attribute", f"the event `{event}` has no attribute `{name}`", span, hint)
        return None

    def missing_event(self, name: str, span: Span | None) -> Resolved:
        """Report the name of an event or a table that there is not."""
        c = self.catalogue
        if name in c.unread:
            return self.elsewhere()
        if name in c.first or name in c.variables:
            return self.report("unknown-name", f"`{name}` is neither an event nor a table", span)
        hint = or_declare(did_you_mean(name, [*c.events, *c.tables], "events and tables"), f"event {name}(..)")
        return self.report("unknown-name", f"there is no event or table `{name}`", span, hint)
