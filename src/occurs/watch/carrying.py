"""Triggers that carry along what their actions need: their events get further columns.

A program gives events, not actions.  So the generic variables and the arguments of ``execute`` are emitted with the
event, in columns that are not given out.  Where that would change what others see (several triggers make the type, or
it is declared) a twin of the trigger, that fires when it does, emits them as a type of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from occurs.expr.tree import Expr, Ref
from occurs.languages.logic import syntax

#: what the names of columns and types begin with that nobody else sees
HIDDEN = "occurs_"


@dataclass(frozen=True)
class Carrier:
    """What the events of a type carry for the actions of a trigger.

    ``generics``: generic variables to their columns; ``values``: per action the columns of its arguments.  ``twin``:
    the events are for that alone.
    """

    trigger: syntax.Trigger
    generics: Mapping[str, str]
    values: tuple[Mapping[str, str], ...]
    twin: bool = False


@dataclass
class Carried:
    """The definitions, rewritten; the carriers by type of event; the types whose trigger's notices are not told."""

    definitions: list[syntax.Definition] = field(default_factory=list)
    carriers: dict[str, Carrier] = field(default_factory=dict)
    twins: set[str] = field(default_factory=set)


def carrying(definitions: Sequence[syntax.Definition]) -> Carried:
    """Rewrite the triggers that have something to do."""
    out = Carried()
    makers = Counter(_made(d) for d in definitions if isinstance(d, syntax.Trigger))
    declared = {d.name.text for d in definitions if not isinstance(d, syntax.Trigger)}
    for d in definitions:
        if not isinstance(d, syntax.Trigger) or all(isinstance(a, syntax.Emit) for a in d.actions):
            out.definitions.append(d)
            continue
        alone = makers[_made(d)] == 1 and _made(d) not in declared
        names = [v.text for v in d.each.variables] if d.each is not None else []
        columns = {n: n if d.emit is None and alone else f"{HIDDEN}of_{n}" for n in names}
        carried: list[tuple[str, Expr]] = [(c, Ref(None, n)) for n, c in columns.items()]
        values: list[dict[str, str]] = []
        for number, action in enumerate(d.actions):
            mine: dict[str, str] = {}
            if isinstance(action, syntax.Execute) and not action.never:
                for name, term in action.arguments:
                    mine[name.text] = f"{HIDDEN}{number}_{name.text}"
                    carried.append((mine[name.text], term))
            values.append(mine)
        arguments = tuple((syntax.Name(n), term) for n, term in carried)
        if not alone:
            name = syntax.Name(f"{HIDDEN}{d.name.text}")
            out.definitions += [d, replace(d, name=name, actions=(syntax.Emit(name, arguments),))]
            out.carriers[name.text] = Carrier(d, columns, tuple(values), twin=True)
            out.twins.add(name.text)
            continue
        if d.emit is not None:
            emit = replace(d.emit, arguments=(*d.emit.arguments, *arguments))
        else:
            emit = syntax.Emit(d.name, arguments)
        # without arguments its event has the generic variables, which it has without `emit`, too
        rest = tuple(a for a in d.actions if not isinstance(a, syntax.Emit))
        plain = d.emit is None and not any(values)
        out.definitions.append(d if plain else replace(d, actions=(emit, *rest)))
        out.carriers[_made(d)] = Carrier(d, columns, tuple(values))
    return out


def given(columns: Iterable[str]) -> list[str]:
    """The columns that are given out."""
    return [c for c in columns if not c.startswith(HIDDEN)]


def _made(d: syntax.Trigger) -> str:
    return (d.name if d.emit is None else d.emit.type).text
