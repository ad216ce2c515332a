"""Where a stage is cut, because a type is read whose events are known later than they happen (common.md, section 2).

What reads such a type runs behind: at the time up to which the type is complete.  So the definitions of a stage fall
into *segments*, each with a frontier of its own.  Where nothing is delayed there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from occurs.plan.definition import Definition, NetDefinition
from occurs.plan.stage import Stage, make_stage


@dataclass(frozen=True)
class Segment:
    """Definitions that run at one frontier.

    ``stage``: they, and before them those of earlier segments that their nets read as they are derived.  ``reports``:
    the types that it reports.  ``takes``: types whose rows come from earlier segments; ``hands``: those whose rows go
    to later ones.  ``placed``: types whose rows need a place within their instant in any of the segments.
    """

    stage: Stage
    reports: frozenset[str]
    takes: frozenset[str]
    hands: frozenset[str]
    placed: frozenset[str] = frozenset()


def segments(stage: Stage) -> tuple[Segment, ...]:
    """The segments of a stage, each behind those it takes rows from; one of the whole stage if nothing is delayed."""
    number = _numbers(stage)
    most = max(number.values(), default=0)
    if most == 0:
        return (Segment(stage, frozenset(stage.reported), frozenset(), frozenset()),)
    made = {d.output: number[d.identity] for d in stage.definitions}
    members: list[list[Definition]] = [[] for _ in range(most + 1)]
    for d in stage.definitions:
        members[number[d.identity]].append(d)
    parts = [_with_read(stage, part) for part in members]
    reads = [{t for d in part for t in _rows_read(d, stage.nets)} for part in parts]
    takes = [frozenset(t for t in found if made.get(t, k) < k) for k, found in enumerate(reads)]
    taken = {t for found in takes for t in found}
    reported = set(stage.reported)
    out = []
    for k, part in enumerate(parts):
        own = {d.output for d in members[k]}
        outside = {t for t in stage.subscriptions if t not in made} if k == 0 else set()
        subscribed = [s for t in sorted(own | outside) for s in stage.subscriptions.get(t, ())]
        reports = frozenset((own | outside) & reported)
        hands = frozenset(own & taken)
        one = make_stage(part, stage.schemas, stage.kind, subscribed, stage.key)
        out.append(Segment(one, reports, takes[k], hands, stage.placed))
    return tuple(out)


def _numbers(stage: Stage) -> dict[str, int]:
    """The segment of every definition, by its identity."""
    number = dict.fromkeys((d.identity for d in stage.definitions), 0)
    if not any(d.delay != 0 for d in stage.definitions):
        return number
    makers: dict[str, list[Definition]] = {}
    for d in stage.definitions:
        makers.setdefault(d.output, []).append(d)
    # those that define one type, or feed one another, are together
    together: list[list[Definition]] = [list(found) for found in makers.values()]
    together += [[stage.definitions[i] for i in unit] for level in stage.order.levels for unit in level]
    ordered = sorted(stage.definitions, key=lambda d: d.place)
    changed = True
    while changed:
        changed = False
        for d in ordered:  # so that mostly once round is enough
            for t in d.reads:
                for m in makers.get(t, ()):
                    behind = m.delay != 0 and not isinstance(d, NetDefinition)
                    changed |= _raise(number, d, number[m.identity] + behind)
        for found in together:
            most = max(number[d.identity] for d in found)
            for d in found:
                changed |= _raise(number, d, most)
    return number


def _raise(number: dict[str, int], definition: Definition, least: int) -> bool:
    if number[definition.identity] >= least:
        return False
    number[definition.identity] = least
    return True


def _rows_read(definition: Definition, nets: Mapping[str, NetDefinition]) -> list[str]:
    """The types that a definition reads as rows."""
    return [t for t in definition.reads if t not in nets or not isinstance(definition, NetDefinition)]


def _with_read(stage: Stage, part: Sequence[Definition]) -> list[Definition]:
    """``part``, with the nets that its nets read, and those that these read."""
    wanted = {d.identity for d in part}
    waiting = [d for d in part if isinstance(d, NetDefinition)]
    while waiting:
        d = waiting.pop()
        for read in (stage.nets[t] for t in d.reads if t in stage.nets):
            if read.identity not in wanted:
                wanted.add(read.identity)
                waiting.append(read)
    if len(wanted) == len(part):
        return list(part)
    return [d for d in stage.definitions if d.identity in wanted]
