"""Where a stage is cut, because a type is read whose events are known later than they happen (common.md, section 2).

What reads such a type runs behind: at the time up to which the type is complete.  So the definitions of a stage fall
into *segments*, each with a frontier of its own.  Where nothing is delayed there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from occurs.operators.definition import Definition
from occurs.plan.stage import Stage, make_stage


@dataclass(frozen=True)
class Segment:
    """Definitions that run at one frontier.

    ``stage``: they, and hidden those of earlier segments of which they read more than rows.  ``reports``: the types
    that it reports.  ``takes``: types whose rows come from earlier segments; ``hands``: those whose rows go
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
    hidden = [_read_inside(stage, part) for part in members]
    whole = [[*part, *more] for part, more in zip(members, hidden, strict=True)]
    reads = [{t for d in part for t in stage.reads_rows(d)} for part in whole]
    takes = [frozenset(t for t in found if made.get(t, k) < k) for k, found in enumerate(reads)]
    taken = {t for found in takes for t in found}
    reported = set(stage.reported)
    out = []
    for k, part in enumerate(members):
        own = {d.output for d in part}
        outside = {t for t in stage.subscriptions if t not in made} if k == 0 else set()
        subscribed = [s for t in sorted(own | outside) for s in stage.subscriptions.get(t, ())]
        reports = frozenset((own | outside) & reported)
        hands = frozenset(own & taken)
        one = make_stage(part, stage.schemas, stage.kind, subscribed, stage.key, hidden[k])
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
                    behind = m.delay != 0 and not (d.family and d.family == m.family)
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


def _read_inside(stage: Stage, part: Sequence[Definition]) -> list[Definition]:
    """The definitions, other than those of ``part``, that these and one another read as more than rows."""
    known = {d.identity for d in part}
    waiting, out = list(part), []
    while waiting:
        d = waiting.pop()
        for t in set(d.reads).difference(stage.reads_rows(d)):
            if (read := stage.families[t]).identity not in known:
                known.add(read.identity)
                waiting.append(read)
                out.append(read)
    return out
