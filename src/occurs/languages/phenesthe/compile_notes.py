"""What can be said of a compiled definition: how it may be split, what it keeps and for how long (phenesthe.md, 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from occurs.errors import Problem
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks import Phenomenon, ResolvedDefinition
from occurs.languages.phenesthe.checks_phenomenon import FACT
from occurs.languages.phenesthe.compile_net import Kept
from occurs.languages.phenesthe.scope import Project
from occurs.model.types import Type
from occurs.plan.keys import Choice


def atoms(definition: ResolvedDefinition, phenomena: Mapping[str, Phenomenon]) -> list[syntax.Atom]:
    """The atoms of a body, and of what is computed of its intervals, that are no facts."""
    found = [n for n in definition.body.walk() if isinstance(n, syntax.Atom)] + [*definition.definition.measured]
    return [a for a in found if phenomena[a.name.text].sort != FACT]


def choices(definition: ResolvedDefinition, phenomena: Mapping[str, Phenomenon]) -> tuple[Choice, ...]:
    """A choice per variable that lives in the whole body and occurs in every atom that is no fact.

    ``attributes``: per type those that all its atoms read the variable from; ``passes``: those of the head that have
    its values, none if it ends below the head.
    """
    body = definition.body
    living: set[str] = set()
    while isinstance(body, Project):
        living |= body.gone
        body = body.operand
    head = {
        a.name.text: a.value.name for a in definition.definition.head if isinstance(a.value, syntax.Variable)
    }
    found = []
    for variable in sorted(living | set(head.values())):
        attributes: dict[str, set[str]] = {}
        for atom in atoms(definition, phenomena):
            known = phenomena[atom.name.text]
            here = {n for n, v in known.arguments(atom) if isinstance(v, syntax.Variable) and v.name == variable}
            attributes[known.name] = attributes.get(known.name, here) & here
        if attributes and all(attributes.values()):
            read = tuple((t, tuple(sorted(names))) for t, names in sorted(attributes.items()))
            found.append(Choice(read, frozenset(n for n, v in head.items() if v == variable)))
    return tuple(found)


def columns(definition: ResolvedDefinition, phenomena: Mapping[str, Phenomenon]) -> dict[str, frozenset[str]]:
    """The attributes that are needed of every type that is read, without ``end`` of what lasts."""
    found: dict[str, set[str]] = {}
    for atom in atoms(definition, phenomena):
        known = phenomena[atom.name.text]
        needed = found.setdefault(known.name, set())
        needed |= {n for n, v in known.arguments(atom) if not isinstance(v, syntax.Anything)}
        if known.changes:
            needed |= {*known.names, "holds"}
    return {name: frozenset(needed) for name, needed in found.items()}


def warnings(
    definition: ResolvedDefinition, delayed: bool, kept: Sequence[Kept], types: Mapping[str, Type]
) -> Iterator[Problem]:
    """``unbounded-delay`` if its rows may be known arbitrarily late (``delayed``), and ``unbounded-state``.

    What a definition keeps is bounded by the number of bindings.  Of measured values, which are floats and times, there
    is no end, of names and numbers of things there is.
    """
    if delayed:
        yield _delay(definition)
    told: set[tuple[str, ...]] = set()
    for part in kept:
        endless = tuple(v for v in part.by if types.get(v) in (Type.FLOAT, Type.TIMESTAMP))
        if endless and endless not in told and part.lasts:
            told.add(endless)
            names = " and ".join(f"`{v}`" for v in endless)
            message = f"unbounded state: `{definition.name}` keeps {part}, and {names} can have any number of values"
            hint = "write `_` if the value is not needed"
            if part.bounded is not None:
                hint += f", or limit the length: `{part.bounded}`"
            yield _warning(definition, "unbounded-state", message, hint)


def _delay(definition: ResolvedDefinition) -> Problem:
    for node in definition.body.walk():
        if isinstance(node, syntax.MinimalRange) or (isinstance(node, syntax.Iteration) and ">" in node.op):
            sign = "~>>" if isinstance(node, syntax.MinimalRange) else f"{node.op}@"
            message = (
                f"`{sign}` in `{definition.name}`: a later event "
                "decides about earlier starts, however long ago they were"
            )
            hint = "its rows can be arbitrarily late, and so can those of definitions that read them"
            return _warning(definition, "unbounded-delay", message, hint, node)
    message = f"`{definition.name}` reads a definition whose rows can be arbitrarily late"
    return _warning(definition, "unbounded-delay", message, "its rows are as late as those that it reads")


def _warning(
    definition: ResolvedDefinition, kind: str, message: str, hint: str, node: syntax.Relation | None = None
) -> Problem:
    span = getattr(node, "span", None) or definition.definition.name.span
    return Problem(kind, message, file=definition.file, span=span, hint=hint, severity="warning")
