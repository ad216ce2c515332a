"""The plan of a program in words: inputs, order, key, retention, state."""

from __future__ import annotations

from collections.abc import Sequence

from occurs.model.time import UNIT_MICROSECONDS, TimeKind
from occurs.model.types import Type
from occurs.operators.contract import Operator
from occurs.plan.definition import NetDefinition
from occurs.plan.lanes import Lane, lanes
from occurs.plan.pipes import PipesDefinition
from occurs.plan.sequences import SequenceDefinition
from occurs.plan.spread import Group, connected, groups
from occurs.plan.stage import Stage
from occurs.plan.triggers import TriggerDefinition

#: buckets of a stream, if nobody says how many
BUCKETS = 8


class Explanation(str):
    """A plan in words: a text that shows itself with its lines at a prompt and in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return str.__str__(self)

    def _repr_html_(self) -> str:
        from occurs.notebook.html import explanation

        return explanation(self)


def explain(stage: Stage) -> Explanation:
    """The plan as text: inputs, evaluation order, state retention, partitioning on Spark and on a stream."""
    return Explanation(_explained(stage))


def _explained(stage: Stage) -> str:
    given = sorted(t for t in stage.inputs if t not in stage.defined)
    read = {t for d in stage.definitions for t in d.reads}
    derived = sorted(t for t in stage.defined if t in read)
    lines = [f"Inputs ({_count(len(given), 'type')}):", *(_type(stage, t) for t in given)]
    for timer in stage.timers:
        lines.append(f"  {timer.name}: generated from the clock, between the first and the last event")
    if derived:
        lines += ["", f"Detections that other definitions read ({_count(len(derived), 'type')}):"]
        lines += [_type(stage, t) for t in derived]
    lines.append("")
    lines.append("Evaluation order (definitions with the same number do not depend on each other):")
    for number, level in enumerate(stage.levels, 1):
        lines += [f"  {number}. {line}" for line in _lines(level)]
    lines.append("")
    lines.append("State retention (how much of the past is kept):")
    kept = {t: back for t, back in sorted(stage.retention.items()) if back > 0}
    for t, back in kept.items():
        lines.append(f"  {t}: {duration(back, stage.kind)}, the longest window that reads it")
    keeping = NetDefinition | SequenceDefinition | TriggerDefinition | PipesDefinition
    lasting = [d for d in stage.definitions if isinstance(d, keeping) and d.kept]
    lines += [f"  {d.output}: {words}" for d in lasting for words in d.kept]
    if not kept and not lasting:
        lines.append("  nothing: every definition reads one event at a time")
    triggers = [d for d in stage.definitions if isinstance(d, TriggerDefinition)]
    sizes = {d.size for d in triggers} - {"constant"}
    state = f"window of {duration(max(kept.values()), stage.kind)}" if kept else "constant"
    if any(not isinstance(d, TriggerDefinition) for d in lasting):
        state = "per binding, as listed above" + (f", and a {state}" if kept else "")
    if sizes:
        bounded = "bounded by the windows of the rules" if state == "constant" else state
        state = "grows without bound" if "grows" in sizes else bounded
    lines += [f"  state size: {state}", "", "On Spark:"]
    parts = groups(stage.definitions, stage)
    lines += [_spread(group) for group in parts]
    lines += ["", "On a stream:"]
    files = sorted({f for d in stage.definitions if isinstance(d, PipesDefinition) for f in d.lines})
    if files:
        return "\n".join([*lines, f"  not supported: {', '.join(files)} can only be read as a history"])
    laid = lanes(parts, BUCKETS)
    lines += [_lane(lane) for lane in laid]
    depth = max((lane.depth for lane in laid), default=0) + 1
    stages = "1 stateful stage, which runs" if depth == 1 else f"{depth} stateful stages, which all run"
    lines.append(f"  {stages} in every micro-batch")
    return "\n".join(lines)


def _type(stage: Stage, name: str) -> str:
    """A type with its attributes."""
    schema = stage.schemas.get(name)
    if schema is None:
        return f"  {name}: its attributes are not known yet"
    columns = ", ".join(n if kind is Type.NULL else f"{n}: {kind}" for n, kind in schema)
    return f"  {name}({columns}){', intervals' if schema.lasting else ''}"


def _lines(level: Sequence[Operator]) -> list[str]:
    """A line for every part of a level that is evaluated by itself, in evaluation order."""
    parts = [part for operator in level for part in operator.parts]
    return [line for _, line in sorted((part.outs[0].place, part.line) for part in parts)]


def _spread(group: Group) -> str:
    text = way(group)
    if group.takes:
        text += f"; reads {', '.join(sorted(group.takes))} from an earlier stage, shuffled again"
    return text


def _lane(lane: Lane) -> str:
    group = lane.group
    names = ", ".join(group.stage.reported[:4]) + (" .." if len(group.stage.reported) > 4 else "")
    stage = f", stage {lane.depth + 1}" if lane.depth else ""
    if lane.group.mode == "keyed":
        return f"  {names}: the state is split into buckets by key{stage}"
    if lane.group.mode == "free":
        return f"  {names}: row by row, in all buckets{stage}"
    apart = len(connected(group.stage.definitions, set(group.stage.defined)))
    if apart == 1:
        text = "all state is in a single bucket, because no partition key could be inferred"
        return f"  {names}: {text}{stage} [global-stage]"
    return f"  {names}: no partition key; {apart} independent parts, each with its state in one bucket{stage}"


def way(group: Group) -> str:
    """How definitions that run together are partitioned on Spark, in words."""
    names = ", ".join(group.stage.reported[:4]) + (" .." if len(group.stage.reported) > 4 else "")
    if group.mode == "keyed":
        key = "; ".join(f"{t} by {', '.join(a)}" for t, a in sorted(group.stage.key.items()) if t in group.stage.inputs)
        return f"  {names}: partitioned by key ({key}); each partition runs in time order and keeps its own state"
    if group.mode == "slices":
        overlap = duration(group.overlap, group.stage.kind)
        return f"  {names}: no partition key; split into slices of time that overlap by {overlap}"
    if group.mode == "rules":
        text = "no partition key; the rules are distributed over the partitions, and each reads all events"
        return f"  {names}: {text}. It cannot be split by time: {group.why}{_offer(group)}"
    if group.mode == "free":
        return f"  {names}: row by row, without a shuffle"
    text = "a single partition, because no partition key could be inferred [global-stage]"
    return f"  {names}: {text}. It cannot be split by time: {group.why}{_offer(group)}"


def _offer(group: Group) -> str:
    """How pipes can be split."""
    if not any(isinstance(d, PipesDefinition) for d in group.stage.definitions):
        return ""
    return "; `SLICE EACH p WITH .. ON key` can be partitioned by its key"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def duration(ticks: int, kind: TimeKind) -> str:
    """Ticks in the largest units that divide them."""
    if kind.tick is None:
        return f"{ticks} ticks"
    left = ticks * kind.tick
    parts = []
    for name in ("d", "h", "min", "s", "ms", "us"):
        size = UNIT_MICROSECONDS[name]
        if left >= size:
            parts.append(f"{left // size} {name}")
            left %= size
    return " ".join(parts) or "0 s"
