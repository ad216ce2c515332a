"""How a program is laid over the buckets of a stream: lanes, whose places do not change while a stream lives.

A group of definitions that can be split by a key runs in every bucket.  Others run where a hash of their identity says,
connected ones together: so a definition that is added or removed moves no other.

All rows of a key are in one bucket, unless the rules of a key are divided: then a group becomes several lanes, whose
rows of one key are in buckets that follow one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

from occurs.operators.definition import Definition
from occurs.plan.partitioning import Group, connected, share
from occurs.plan.stage import Stage, make_stage

#: the key of ``Lane.stages`` of what every bucket runs alike
EVERY = -1


@dataclass(frozen=True)
class Lane:
    """A group on a stream, or a part of one.  ``number``: in evaluation order; ``depth``: how many stateful stages come
    before it; ``stages``: bucket to what it runs (``EVERY``: all alike).  ``part``: which of the ``parts`` of a divided
    group this is; its rows are ``part`` buckets behind the bucket of their key."""

    number: int
    group: Group
    depth: int
    stages: Mapping[int, Stage]
    part: int = 0
    parts: int = 1

    @property
    def split(self) -> bool:
        """Is it split by a key, or row by row, over all buckets?"""
        return EVERY in self.stages

    def stage(self, bucket: int) -> Stage | None:
        return self.stages.get(EVERY) or self.stages.get(bucket)

    @cached_property
    def readers(self) -> Mapping[str, tuple[int, ...]]:
        """The buckets that read a type, if the lane is not split."""
        types = {t for stage in self.stages.values() for t in stage.inputs}
        return {t: tuple(sorted(b for b, s in self.stages.items() if t in s.inputs)) for t in types}

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The bucket (or ``EVERY``) of every definition, by its identity."""
        return {d.identity: b for b, s in self.stages.items() for d in s.definitions}


def lanes(groups: Sequence[Group], buckets: int, divide: int = 1) -> list[Lane]:
    """The groups as lanes over ``buckets``, in evaluation order.  ``divide``: the rules of a key into so many parts, as
    far as they do not read one another."""
    out: list[Lane] = []
    depth_of: dict[str, int] = {}
    for group in _settled(groups):
        depth = max((depth_of[t] + 1 for t in group.takes if t in depth_of), default=0)
        for t in group.hands:
            depth_of[t] = max(depth_of.get(t, 0), depth)
        found = _divided(group, divide)
        for part, one in found.items():
            out.append(Lane(len(out), one, depth, _stages(one, buckets), part, len(found)))
    return out


def _divided(group: Group, divide: int) -> dict[int, Group]:
    """The parts that there are of a group, by their numbers.  A hash of its identity says in which part a definition
    is, connected ones together.  What stages hand to one another stays together, too."""
    if divide == 1 or group.mode != "keyed" or group.takes or group.hands:
        return {0: group}
    parts: dict[int, list[Definition]] = {}
    for own in group.independent:
        parts.setdefault(_place(own, divide), []).extend(own)
    return {part: replace(group, stage=share(group.stage, parts[part])) for part in sorted(parts)}


def _settled(groups: Sequence[Group]) -> list[Group]:
    """The groups, of which those that have fixed places and are not connected with others are one."""
    fixed: list[Group] = []
    others: list[Group] = []
    for g in groups:
        (others if g.mode in ("keyed", "free") or g.takes or g.hands else fixed).append(g)
    if len(fixed) < 2:
        return list(groups)
    whole = fixed[0].stage
    definitions = sorted((d for g in fixed for d in g.stage.definitions), key=lambda d: d.place)
    subscribed = tuple(dict.fromkeys(s for g in fixed for s in g.stage.subscribed))
    stage = make_stage(definitions, whole.schemas, whole.kind, subscribed)
    return [*others, Group(stage, "rules", why=fixed[0].why)]


def _stages(group: Group, buckets: int) -> dict[int, Stage]:
    if group.mode in ("keyed", "free"):
        return {EVERY: group.stage}
    places: dict[int, list[Definition]] = {}
    defined = set(group.stage.defined)
    for part in connected(group.stage.definitions, defined):
        places.setdefault(_place(part, buckets), []).extend(part)
    if len(places) == 1:
        return dict.fromkeys(places, group.stage)
    return {b: share(group.stage, definitions) for b, definitions in sorted(places.items())}


def _place(part: Sequence[Definition], buckets: int) -> int:
    least = min(blake2b(d.identity.encode(), digest_size=8).digest() for d in part)
    return int.from_bytes(least) % buckets
