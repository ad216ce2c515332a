"""How a program is spread over partitions: groups of definitions that run together, each in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from occurs.plan.stage import Definition, Stage, make_stage, stage_key

Mode = Literal["keyed", "slices", "single", "free"]


@dataclass(frozen=True)
class Group:
    """A stage of its own.  ``mode``: keyed (split by ``stage.key``), slices (of time that overlap by ``overlap``
    ticks), free (row by row, any partitioning), single (one partition: ``why``)."""

    stage: Stage
    mode: Mode
    overlap: int = 0
    why: str = ""

    def columns(self, everything: bool) -> set[tuple[str, str]] | None:
        """The (type, attribute) pairs that must cross into Python; None for all (labels need them).

        Where order within an instant can change the answer all attributes of a type cross, as they decide the order.
        """
        if everything:
            return None
        out: set[tuple[str, str]] = set()
        positional = {t for d in self.stage.definitions for t in d.positional}
        for t in self.stage.inputs:
            schema = self.stage.schemas.get(t)
            if schema is None:
                continue
            subscribed = any(s.type == t for s in self.stage.subscribed)
            for name in schema.names:
                if t in positional or subscribed or any(name in d.columns.get(t, ()) for d in self.stage.definitions):
                    out.add((t, name))
            out |= {(t, a) for a in self.stage.key.get(t, ())}
        return out


def groups(definitions: Sequence[Definition], whole: Stage) -> list[Group]:
    """Definitions that are connected by derived types run together; the others need not share a key."""
    defined = {d.pattern.rules[0].output for d in definitions}
    parent = list(range(len(definitions)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    owner: dict[str, int] = {}
    for i, d in enumerate(definitions):
        for t in {d.pattern.rules[0].output, *(t for t in d.reads if t in defined)}:
            if t in owner:
                parent[find(i)] = find(owner[t])
            else:
                owner[t] = i
    members: dict[int, list[Definition]] = {}
    for i, d in enumerate(definitions):
        members.setdefault(find(i), []).append(d)
    # groups that split by the same attributes share one shuffle
    merged: list[list[Definition]] = []
    by_key: dict[object, int] = {}
    for part in members.values():
        key = stage_key(part)
        name = _columns_of(key) if key else None
        if name is not None and name in by_key:
            both = merged[by_key[name]] + part
            if stage_key(both):
                merged[by_key[name]] = both
                continue
        if name is not None:
            by_key[name] = len(merged)
        merged.append(part)
    out = []
    for part in merged:
        names = {d.pattern.rules[0].output for d in part} | {t for d in part for t in d.reads}
        subscribed = [s for s in whole.subscribed if s.type in names or not s.type]
        if whole.subscribed and not any(s.type in {d.pattern.rules[0].output for d in part} for s in subscribed):
            # nobody asks for what this group finds
            subscribed = []
            continue
        out.append(_group(make_stage(part, whole.schemas, whole.kind, subscribed, stage_key(part))))
    outside = [s for s in whole.subscribed if s.type not in defined]
    if outside:
        out.append(Group(make_stage([], whole.schemas, whole.kind, outside), "free"))
    return out


def _columns_of(key: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(set(key.values())))


def _group(stage: Stage) -> Group:
    if stage.key:
        return Group(stage, "keyed")
    if all(set(d.reads.values()) <= {0} and not d.timer and not d.looks_back for d in stage.definitions):
        return Group(stage, "free")
    if stage.sequential:
        return Group(stage, "single", why="a consuming or recursive rule depends on all that was found before")
    return Group(stage, "slices", overlap=reach(stage))


def reach(stage: Stage) -> int:
    """The longest path of retentions: how far the inputs of a detection can lie before it, in ticks."""
    deepest: dict[str, int] = {}
    for d in sorted(stage.definitions, key=lambda d: d.pattern.rules[0].place):
        mine = max((back + deepest.get(t, 0) for t, back in d.reads.items()), default=0)
        output = d.pattern.rules[0].output
        deepest[output] = max(deepest.get(output, 0), mine)
    return max(deepest.values(), default=0)
