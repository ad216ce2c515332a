"""Attributes that are computed of the intervals of a definition (an extension of the language)."""

from __future__ import annotations

from collections.abc import Mapping

from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks_phenomenon import Phenomenon
from occurs.languages.phenesthe.checks_types import check_duration
from occurs.languages.text import Text
from occurs.model.time import TimeKind


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
    parts = [definition.body, *([definition.where] if definition.where is not None else [])]
    atoms = [n for p in parts for n in p.walk() if isinstance(n, syntax.Atom)]
    for atom in (*atoms, *definition.measured):
        for name, value in phenomena[atom.name.text].arguments(atom):
            if name in measured.get(atom.name.text, ()) and not isinstance(value, syntax.Anything):
                message = (
                    f"`{name}` of `{atom.name}` is computed from "
                    "its intervals: it is reported, but cannot be read"
                )
                hint = "write `_` for it; compare a length with `filter(.., at_least(D))`"
                source.report("unsupported", message, value.span, hint)
