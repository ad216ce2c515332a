"""How a pattern can be split by the values of attributes (epl-and-nets.md, section 5, Partition key)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from occurs.expr.tree import Ref
from occurs.operators.sequences import tree
from occurs.plan.keys import Choice
from occurs.plan.sequences import nodes

#: a tag and an attribute of its events
Place = tuple[str, str]


def looks_at_one(root: tree.Node) -> bool:
    """Is every event of a type judged by itself?"""
    return isinstance(root, tree.Every) and isinstance(root.operand, tree.Atom) and not root.keys


def choices(pattern: tree.Sequence) -> tuple[Choice, ...]:
    """All ways to split a pattern by one attribute of each type.

    There are such if each search starts with an event and goes on with events equated with it: ``every t=T -> R`` where
    every filter of R, those below ``not`` too, is equated, may be by way of others, with one attribute of ``t``.
    """
    if looks_at_one(pattern.root):
        atom = next(n for n in nodes(pattern.root) if isinstance(n, tree.Atom))
        places = [(atom.tag, e.name) for _, e in pattern.outputs if isinstance(e, Ref) and e.name != "time"]
        carried = _carried(pattern, {atom.tag})
        found = [_choice(carried, {atom.tag: atom}, {p}) for p in dict.fromkeys(places)]
        return tuple(c for c in found if c is not None)
    first = _first(pattern.root)
    if first is None:
        return ()
    start, distinct = first
    atoms = {n.tag: n for n in nodes(pattern.root) if isinstance(n, tree.Atom)}
    classes = _classes(atoms.values())
    carried = _carried(pattern, set(_surely(pattern.root)))
    out = []
    for attribute in sorted(a for t, a in classes if t == start):
        members = classes[start, attribute]
        if any(m[0] == start and m < (start, attribute) for m in members):
            continue  # the same class by another attribute of the first event
        if distinct is not None and not members & distinct:
            continue
        found_choice = _choice(carried, atoms, members)
        if found_choice is not None:
            out.append(found_choice)
    return tuple(out)


def _first(root: tree.Node) -> tuple[str, set[Place] | None] | None:
    """The tag of the event that each search starts with, and what ``every-distinct`` tells its events apart by."""
    if not isinstance(root, tree.Followed) or any(limit is not None for limit in root.limits):
        return None
    first = root.operands[0]
    if not isinstance(first, tree.Every) or not isinstance(first.operand, tree.Atom):
        return None
    tag = first.operand.tag
    if not first.keys:
        return tag, None
    return tag, {(tag, k.name) for k in first.keys if isinstance(k, Ref) and k.scope in (tag, None)}


def _classes(atoms: Iterable[tree.Atom]) -> dict[Place, set[Place]]:
    """Per attribute of a tag all that it is equated with, itself too."""
    out: dict[Place, set[Place]] = {}
    for atom in atoms:
        for attribute, tag, other in atom.equal:
            one = out.setdefault((atom.tag, attribute), {(atom.tag, attribute)})
            two = out.setdefault((tag, other), {(tag, other)})
            if one is not two:
                one |= two
                for place in two:
                    out[place] = one
    return out


def _surely(node: tree.Node) -> Iterator[str]:
    """The tags that every match has."""
    if isinstance(node, tree.Atom):
        yield node.tag
    elif not isinstance(node, tree.Or | tree.Not | tree.Until | tree.Repeat):
        for child in node.children:
            yield from _surely(child)


def _carried(pattern: tree.Sequence, surely: set[str]) -> dict[Place, list[str]]:
    """The columns of the derived event that have the value of an attribute, whatever the match; ``surely``: the tags
    that every match has."""
    out: dict[Place, list[str]] = {}
    for name, e in pattern.outputs:
        if isinstance(e, Ref) and e.index is None and e.scope is not None and e.scope in surely:
            out.setdefault((e.scope, e.name), []).append(name)
    return out


def _choice(
    carried: Mapping[Place, Iterable[str]], atoms: Mapping[str, tree.Atom], members: set[Place]
) -> Choice | None:
    """The way to split by a class of equated attributes; None if some filter has none of them.

    ``carried``: the columns that have the value of an attribute.
    """
    by_type: dict[str, set[str]] = {}
    for tag, atom in atoms.items():
        own = {a for t, a in members if t == tag}
        for type in atom.types:
            by_type[type] = by_type[type] & own if type in by_type else set(own)
    if not all(by_type.values()):
        return None
    passes = frozenset(name for m in members for name in carried.get(m, ()))
    return Choice(tuple((t, tuple(sorted(a))) for t, a in sorted(by_type.items())), passes)
