"""The plan of a program in words: inputs, order, key, retention, state."""

from __future__ import annotations

from occurs.model.time import UNIT_MICROSECONDS, TimeKind
from occurs.operators.pattern import Absent, Pattern, Select
from occurs.operators.sequential import Component
from occurs.plan.definition import NetDefinition
from occurs.plan.lanes import Lane, lanes
from occurs.plan.pipes import PipesDefinition
from occurs.plan.sequences import SequenceDefinition
from occurs.plan.spread import Group, connected, groups
from occurs.plan.stage import Stage, Unit
from occurs.plan.triggers import TriggerDefinition

#: buckets of a stream, if nobody says how many
BUCKETS = 8

_NETS = {
    "event": "instants, by formula",
    "state": "intervals that do not overlap, by formula",
    "dynamic": "intervals in relation, by formula",
}


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
    """One paragraph per question a user has: what is read, in which order, how it is split, what is kept and why."""
    return Explanation(_explained(stage))


def _explained(stage: Stage) -> str:
    lines = [f"Reads {_count(len(stage.inputs), 'type')}:"]
    for t in sorted(stage.inputs):
        schema = stage.schemas.get(t)
        columns = ", ".join(f"{n}: {at}" for n, at in schema) if schema is not None else "nothing is known of it"
        lasts = ", lasting" if schema is not None and schema.lasting else ""
        lines.append(f"  {t}({columns}){lasts}")
    for timer in stage.timers:
        lines.append(f"  {timer.name}: made from the clock, from the first to the last event")
    lines.append("")
    lines.append("Evaluation order (what is on one line is evaluated together):")
    for number, level in enumerate(stage.levels, 1):
        for unit in level:
            lines.append(f"  {number}. {_unit(unit)}")
    lines.append("")
    lines.append("Kept of the past (retention):")
    kept = {t: back for t, back in sorted(stage.retention.items()) if back > 0}
    for t, back in kept.items():
        lines.append(f"  {t}: {duration(back, stage.kind)}, as the longest window over it reaches so far back")
    keeping = NetDefinition | SequenceDefinition | TriggerDefinition | PipesDefinition
    lasting = [d for d in stage.definitions if isinstance(d, keeping) and d.kept]
    lines += [f"  {d.output}: {words}" for d in lasting for words in d.kept]
    if not kept and not lasting:
        lines.append("  nothing: every definition looks at single events")
    triggers = [d for d in stage.definitions if isinstance(d, TriggerDefinition)]
    sizes = {d.size for d in triggers} - {"constant"}
    state = f"window {duration(max(kept.values()), stage.kind)}" if kept else "constant"
    if any(not isinstance(d, TriggerDefinition) for d in lasting):
        state = "per binding of the above" + (f", and {state}" if kept else "")
    if sizes:
        state = "grows" if "grows" in sizes else "of the windows above" if state == "constant" else state
    lines += [f"  state: {state}", "", "On Spark:"]
    parts = groups(stage.definitions, stage)
    lines += [_spread(group) for group in parts]
    lines += ["", "On a stream:"]
    files = sorted({f for d in stage.definitions if isinstance(d, PipesDefinition) for f in d.lines})
    if files:
        return "\n".join([*lines, f"  not at all: {', '.join(files)} is read as a history only"])
    laid = lanes(parts, BUCKETS)
    lines += [_lane(lane) for lane in laid]
    depth = max((lane.depth for lane in laid), default=0) + 1
    lines.append(f"  {_count(depth, 'stateful stage')}, all of them in every micro-batch")
    return "\n".join(lines)


def _unit(unit: Unit) -> str:
    if isinstance(unit, NetDefinition):
        return f"{unit.output}: {_NETS[unit.sort]}, whole columns at once"
    if isinstance(unit, SequenceDefinition):
        return f"{unit.output}: a pattern over {', '.join(sorted(unit.reads))} in their order"
    if isinstance(unit, TriggerDefinition):
        return f"{unit.output}: a trigger over {', '.join(sorted(unit.reads))}, {unit.operator.words}"
    if isinstance(unit, PipesDefinition):
        shown = " -> ".join(unit.boxes[:8]) + (" -> .." if len(unit.boxes) > 8 else "")
        return f"{unit.output}: pipes over {', '.join(sorted(unit.reads))}: {shown}, {_by_rows(unit)}"
    if isinstance(unit, Component):
        names = ", ".join(dict.fromkeys(p.rules[0].output for p in unit.patterns))
        why = "feeds itself" if unit.types else "consumes events"
        split = ""
        if unit.by:
            split = ", every " + " / ".join(dict.fromkeys(", ".join(a) for a in unit.by.values())) + " apart"
        return f"{names}: {why}, so instant by instant{split}"
    outputs = list(dict.fromkeys(r.output for r in unit.rules))
    shown = ", ".join(outputs[:4]) + (f" and {len(outputs) - 4} more" if len(outputs) > 4 else "")
    rules = f" ({len(unit.rules)} rules alike but for constants, as one)" if len(unit.rules) > 1 else ""
    return f"{shown}{rules}: {_steps(unit)}, whole columns at once"


def _by_rows(unit: PipesDefinition) -> str:
    names = ", ".join(f"`{n}`" for n in unit.loops)
    return "whole columns at once" + (f", but {names} row by row" if names else "")


def _steps(pattern: Pattern) -> str:
    parts = [f"each {pattern.terminator.type}"]
    for s in pattern.steps:
        if isinstance(s, Select):
            policy = s.policy if s.k == 1 else f"{s.k}-{s.policy}"
            how = "looked up by " + ", ".join(k.own for k in s.keys) if s.keys else "all of the window"
            parts.append(f"{policy} {s.source.type} ({how})")
        elif isinstance(s, Absent):
            parts.append(f"no {s.source.type}")
    return ", ".join(parts)


def _spread(group: Group) -> str:
    text = way(group)
    if group.takes:
        text += f"; reads {', '.join(sorted(group.takes))} of an earlier stage, spread anew"
    return text


def _lane(lane: Lane) -> str:
    group = lane.group
    names = ", ".join(group.stage.reported[:4]) + (" .." if len(group.stage.reported) > 4 else "")
    stage = f", stage {lane.depth + 1}" if lane.depth else ""
    if lane.group.mode == "keyed":
        return f"  {names}: every bucket has the state of its keys{stage}"
    if lane.group.mode == "free":
        return f"  {names}: row by row, over all buckets{stage}"
    apart = len(connected(group.stage.definitions, set(group.stage.defined)))
    if apart == 1:
        return f"  {names}: all in ONE bucket, as there is no common key{stage} [global-stage]"
    return f"  {names}: no common key; {apart} parts that are not connected, each in one bucket{stage}"


def way(group: Group) -> str:
    """How definitions that run together are split on Spark, in words."""
    names = ", ".join(group.stage.reported[:4]) + (" .." if len(group.stage.reported) > 4 else "")
    if group.mode == "keyed":
        key = "; ".join(f"{t} by {', '.join(a)}" for t, a in sorted(group.stage.key.items()) if t in group.stage.inputs)
        return f"  {names}: split by key ({key}); each partition streams in time order and keeps the retention"
    if group.mode == "slices":
        overlap = duration(group.overlap, group.stage.kind)
        return f"  {names}: no common key; slices of time that overlap by {overlap}"
    if group.mode == "rules":
        return f"  {names}: the rules spread over the partitions, all events in each, as {group.why}{_offer(group)}"
    if group.mode == "free":
        return f"  {names}: row by row, no shuffle"
    return f"  {names}: ONE partition, as {group.why} and there is no common key [global-stage]{_offer(group)}"


def _offer(group: Group) -> str:
    """How pipes can be split."""
    if not any(isinstance(d, PipesDefinition) for d in group.stage.definitions):
        return ""
    return "; `SLICE EACH p WITH .. ON key` is split by its key"


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
