"""The plan of a stage as plain data: inputs, operators, retention, state, partitions on Spark, stages on a stream.

The data consists of dicts, lists, text and numbers, so that it can be written as JSON.  Times are in ticks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from occurs.model.time import duration
from occurs.model.types import Type
from occurs.operators.contract import Operator
from occurs.operators.definition import Definition
from occurs.plan.lanes import Lane, lanes
from occurs.plan.partitioning import Group, connected, groups
from occurs.plan.stage import Stage

#: buckets of a stream, if nobody says how many
BUCKETS = 8


def describe(stage: Stage) -> dict[str, Any]:
    """The plan of a stage as a dict:

    - ``time``: what a tick is, ``timestamp`` and ``unit``;
    - ``inputs``, ``derived``: the types that come in, and those that definitions make for others, each with its
      ``attributes`` (None: not known yet; the type of one is None if it is not known) and whether its rows are
      ``intervals``;
    - ``timers``: the names of the timers;
    - ``operators``: what is evaluated, in evaluation order, with the definitions that it runs; operators of one
      ``level`` do not depend on each other;
    - ``retention``: how many ticks of the past are kept, by type; ``keeps``: what else definitions keep, in words;
      ``state``: the size of both;
    - ``spark``: how definitions are partitioned on Spark;
    - ``stream``: how their state is laid over buckets, with the number of ``stages``; ``unsupported``: files that a
      stream cannot read.
    """
    read = {t for d in stage.definitions for t in d.reads}
    parts = groups(stage.definitions, stage)
    files = sorted({file for d in stage.definitions for file in d.lines})
    laid = [] if files else lanes(parts, BUCKETS)
    return {
        "time": {"timestamp": stage.kind.timestamp, "unit": stage.kind.unit},
        "inputs": [_type(stage, t) for t in sorted(stage.inputs) if t not in stage.defined],
        "timers": [timer.name for timer in stage.timers],
        "derived": [_type(stage, t) for t in sorted(stage.defined) if t in read],
        "operators": _operators(stage, parts),
        "retention": _retention(stage),
        "keeps": [{"type": d.output, "text": words} for d in stage.definitions for words in d.kept],
        "state": _state(stage),
        "spark": [_partitioned(group) for group in parts],
        "stream": {
            "unsupported": files,
            "lanes": [_lane(lane) for lane in laid],
            "stages": max((lane.depth for lane in laid), default=0) + 1,
        },
    }


def _type(stage: Stage, name: str) -> dict[str, Any]:
    schema = stage.schemas.get(name)
    if schema is None:
        return {"type": name, "attributes": None, "intervals": False}
    attributes = [{"name": n, "type": None if kind is Type.NULL else str(kind)} for n, kind in schema]
    return {"type": name, "attributes": attributes, "intervals": schema.lasting}


def _operators(stage: Stage, parts: Sequence[Group]) -> list[dict[str, Any]]:
    """Every operator with what ``explain`` prints of it and the definitions that it runs, in evaluation order."""
    by_identity = {d.identity: d for d in stage.definitions}
    group_of = {d.identity: group for group in parts for d in group.stage.definitions}
    # an operator may run definitions of several levels
    levels = {stage.definitions[i].place: n for n, level in enumerate(stage.order.levels, 1) for u in level for i in u}
    running = [part for level in stage.levels for operator in level for part in operator.parts]
    places = [(part, part.outs[0].place) for part in running]
    found = [(levels[place], place, part.line, _run_by(part, by_identity)) for part, place in places]
    found.sort(key=lambda one: one[:3])
    return [
        {
            "level": level,
            "text": line,
            "definitions": [_definition(d, group_of.get(d.identity), stage) for d in definitions],
        }
        for level, _, line, definitions in found
    ]


def _run_by(operator: Operator, by_identity: Mapping[str, Definition]) -> list[Definition]:
    names = dict.fromkeys(out.definition for out in operator.outs)
    return [by_identity[name] for name in names if name in by_identity]


def _definition(d: Definition, group: Group | None, stage: Stage) -> dict[str, Any]:
    """A definition:

    - ``file``, ``line``, ``span``: where it stands;
    - ``reads``: how many ticks of each type it reads are kept for it; ``retention``: this in words, and what else it
      keeps, each with whether it is ``unbounded``; ``state``: how much that is, see ``Definition.size``;
    - ``keys``: the ways to split it; ``key``: the one in use, by type, and ``why_no_key`` if there is none;
    - ``warnings``: what its execution costs, with hints.
    """
    file, span = d.where
    common = {} if group is None else group.stage.key
    key = {t: list(common[t]) for t in sorted(d.reads) if t in common}
    return {
        "type": d.output,
        "identity": d.identity,
        "file": file,
        "line": None if span is None else span.line,
        "span": None if span is None else asdict(span),
        "reads": {t: d.reads[t] for t in sorted(d.reads)},
        "retention": _kept(d, stage),
        "state": d.size,
        "keys": [{t: list(names) for t, names in choice.attributes} for choice in d.choices],
        "key": key,
        "why_no_key": None if key else _without_key(d, group),
        "warnings": [{"kind": p.kind, "message": p.message, "hint": p.hint} for p in d.warnings],
    }


def _without_key(d: Definition, group: Group | None) -> str:
    """Why a definition is not split by a key."""
    if group is None:
        return "nobody asks for what it detects"
    if group.mode == "free":
        return "it reads one row at a time and needs no key"
    if d.choices:
        return "the definitions that it is connected with have no key in common"
    return f"no attribute is equal in all events that it reads: {d.hint[1]}"


def _kept(d: Definition, stage: Stage) -> list[dict[str, Any]]:
    """What is kept for a definition: rows of types for some ticks, and what its text says in words."""
    rows = [
        {"type": t, "ticks": back, "text": f"{t}: {duration(back, stage.kind)}", "unbounded": False}
        for t, back in sorted(d.reads.items())
        if back > 0
    ]
    words = [{"type": None, "ticks": None, "text": text, "unbounded": "[unbounded]" in text} for text in d.kept]
    return rows + words


def _retention(stage: Stage) -> dict[str, int]:
    return {t: back for t, back in sorted(stage.retention.items()) if back > 0}


def _state(stage: Stage) -> str:
    """How large the state gets, in words."""
    longest = max(stage.retention.values(), default=0)
    sizes = {d.size for d in stage.definitions}
    state = f"window of {duration(longest, stage.kind)}" if longest > 0 else "constant"
    if "bindings" in sizes:
        state = "per binding, as listed above" + (f", and a {state}" if longest > 0 else "")
    if "grows" in sizes:
        return "grows without bound"
    return "bounded by the windows of the rules" if "window" in sizes and state == "constant" else state


def _partitioned(group: Group) -> dict[str, Any]:
    """How definitions that run together are partitioned on Spark, see :class:`occurs.plan.partitioning.Group`;
    ``frequent_key``: by what the rows of one key could be divided, or why they cannot."""
    stage = group.stage
    return {
        "types": list(stage.reported),
        "mode": group.mode,
        "key": {t: list(names) for t, names in sorted(stage.key.items()) if t in stage.inputs},
        "frequent_key": group.split if group.mode == "keyed" else "",
        "overlap": group.overlap,
        "why": group.why,
        "offer": next((d.offer for d in stage.definitions if d.offer), ""),
        "takes": sorted(group.takes),
    }


def _lane(lane: Lane) -> dict[str, Any]:
    """A group on a stream: ``stage``, its number; ``parts``, how many of its definitions are independent."""
    stage = lane.group.stage
    return {
        "types": list(stage.reported),
        "mode": lane.group.mode,
        "stage": lane.depth + 1,
        "parts": len(connected(stage.definitions, set(stage.defined))),
    }
