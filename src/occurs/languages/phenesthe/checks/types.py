"""Types of values, lengths of time, and computed attributes in one definition (phenesthe.md, section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from occurs.errors import Span
from occurs.expr.aggregates import AGGREGATES
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Ref
from occurs.expr.typing import infer
from occurs.languages.kit.complaints import refuse_inexact, ticks_of
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks.catalogue import Catalogue, Phenomenon
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type, widen


class Types:
    """The types of the variables of a definition whose names are known; NULL and None are unknown types."""

    def __init__(self, definition: syntax.Definition, source: Text, catalogue: Catalogue, kind: TimeKind | None):
        self.definition = definition
        self.source = source
        self.catalogue = catalogue
        self.kind = kind
        self.types: dict[str, Type] = {}
        #: where the type of a variable comes from, for the message
        self.from_where: dict[str, str] = {}

    def check(self) -> None:
        """Report types that do not go together, and enter those of the head."""
        d = self.definition
        for formula in d.formulas:
            for node in formula.walk():
                if isinstance(node, syntax.Atom):
                    self._atom(node)
        for formula in d.formulas:
            for node in formula.walk():
                if isinstance(node, syntax.Comparison):
                    integer = None if self.kind is None else not self.kind.timestamp
                    infer(node.condition, self._lookup, self._report, integer_time=integer)
        types = {n.text: self.types[v.name] for n, v in d.variables if v.name in self.types}
        for name, measure in d.measures:
            types[name.text] = self._measured(measure) or Type.NULL
        self.catalogue.retype(d.name.text, types)

    def _measured(self, measure: syntax.Measure) -> Type | None:
        """The type of what is computed of an interval, None if it is not known; reports values that do not go with the
        function."""
        if measure.atom is None:
            return Type.INT if measure.unit is None else Type.FLOAT
        # a variable that is not in the head is the measure's own
        own = Types(self.definition, self.source, self.catalogue, self.kind)
        head = {v.name for _, v in self.definition.variables}
        own.types = {v: t for v, t in self.types.items() if v in head}
        own.from_where = dict(self.from_where)
        own._atom(measure.atom)
        if measure.variable is None:
            return Type.INT
        found = own.types.get(measure.variable.name)
        declared = AGGREGATES[measure.function]
        needs = declared.needs(found)
        if needs is not None:
            message = f"`{measure.function}` needs {needs}, but `{measure.variable.name}` is {found}"
            self.source.report("type-mismatch", message, measure.variable.span, None)
        return declared.result or found

    def _lookup(self, node: Expr) -> Type | None:
        return self.types.get(node.name) if isinstance(node, Ref) else None

    def _report(self, kind: str, message: str, span: Span | None, hint: str | None) -> None:
        if kind == "type-mismatch" and hint is not None:
            hint = "write strings in quotes and numbers without: a string is never converted to a number"
        self.source.report(kind, message, span, hint)

    def _atom(self, atom: syntax.Atom) -> None:
        known = self.catalogue.get(atom.name.text)
        if known is None:
            return
        for name, value in known.arguments(atom):
            found = known.type_of(name)
            if found is Type.NULL or isinstance(value, syntax.Anything):
                continue
            where = f"`{name}` of `{atom.name}`"
            if isinstance(value, syntax.Constant):
                if widen(found, value.type) is None:
                    message = f"{where} is {found}, but is compared with {value.type}"
                    self.source.report("type-mismatch", message, value.span, self._hint(found, value.type))
                continue
            before = self.types.get(value.name)
            both = found if before is None else widen(before, found)
            if both is None:
                message = f"`{value.name}` is {before} as {self.from_where[value.name]}, but {found} as {where}"
                hint = "one variable has one value: use two variables, and compare them in a condition"
                self.source.report("type-mismatch", message, value.span, hint)
                continue
            self.types[value.name] = both
            self.from_where.setdefault(value.name, where)

    @staticmethod
    def _hint(wanted: Type, found: Type) -> str:
        if wanted is Type.STRING:
            return "write a string in quotes: `'1'`"
        if wanted is Type.TIMESTAMP:
            return "write a time as `timestamp '2024-01-05T09:00:00Z'`"
        return f"write a value of type {wanted}" if found is not Type.STRING else "write a number without quotes"


def check_durations(definition: syntax.Definition, source: Text, kind: TimeKind | None) -> None:
    """Report lengths that are no whole number of ticks; of units nothing is said while ``kind`` is not known."""
    for node in definition.body.walk():
        if isinstance(node, syntax.Iteration | syntax.Filter):
            check_duration(node.duration, node.duration_span, source, kind)


def check_duration(duration: Duration, span: Span | None, source: Text, kind: TimeKind | None) -> None:
    if duration.ticks and duration.amount.denominator != 1:
        source.report("bad-duration", "a number of ticks must be a whole number", span, "write it with a unit: `5 min`")
        return
    if kind is None:
        return
    ticks = ticks_of(duration, span, source, kind)
    if ticks is not None:
        refuse_inexact(ticks, span, source, kind)


# --- measures ---------------------------------------------------------------------------------------------------------


def check_measures(definition: syntax.Definition, source: Text, kind: TimeKind | None, windows: bool) -> None:
    """Report measures of what is no interval, of a variable that the events do not have, and in window mode."""
    for name, measure in definition.measures:
        if definition.sort == "event":
            message = f"`{name}` is computed from an interval, but `{definition.name}` is an event"
            source.report("sort", message, measure.span, "compute it in the definition of the state")
        if windows and kind is not None:
            message = "attributes cannot be computed from intervals in window mode"
            source.report("unsupported", message, measure.span, "remove the attribute, or run without --window")
        if measure.unit is not None:
            check_duration(measure.unit, measure.span, source, kind)
        if measure.variable is not None and measure.atom is not None:
            there = {a.value.name for a in measure.atom.arguments if isinstance(a.value, syntax.Variable)}
            if measure.variable.name not in there:
                message = f"`{measure.variable.name}` is not bound: `{measure.atom.name}` does not name it"
                source.report("unbound-variable", message, measure.variable.span, "name it among its arguments")


def check_reads(
    definition: syntax.Definition, source: Text, phenomena: Mapping[str, Phenomenon], measured: Mapping[str, set[str]]
) -> None:
    """Report atoms that look at an attribute which another definition computes: it is only reported.

    ``measured``: of definitions, the names of these attributes.
    """
    for atom in definition.atoms:
        for name, value in phenomena[atom.name.text].arguments(atom):
            if name in measured.get(atom.name.text, ()) and not isinstance(value, syntax.Anything):
                message = (
                    f"`{name}` of `{atom.name}` is computed from its intervals: it is reported, but cannot be read"
                )
                hint = "write `_` for it; compare a length with `filter(.., at_least(D))`"
                source.report("unsupported", message, value.span, hint)
