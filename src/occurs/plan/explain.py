"""The plan of a program as text, printed from its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from occurs.model.time import TimeKind, duration


def printed(plan: Mapping[str, Any]) -> str:
    """The text of a plan that :func:`occurs.plan.describe.describe` returned."""
    kind = TimeKind(**plan["time"])
    lines = [f"Inputs ({_count(len(plan['inputs']), 'type')}):", *map(_type, plan["inputs"])]
    lines += [f"  {name}: generated from the clock, between the first and the last event" for name in plan["timers"]]
    if plan["derived"]:
        lines += ["", f"Detections that other definitions read ({_count(len(plan['derived']), 'type')}):"]
        lines += map(_type, plan["derived"])
    lines += ["", "Evaluation order (definitions with the same number do not depend on each other):"]
    lines += [f"  {operator['level']}. {operator['text']}" for operator in plan["operators"]]
    lines += ["", "State retention (how much of the past is kept):"]
    for name, back in plan["retention"].items():
        lines.append(f"  {name}: {duration(back, kind)}, the longest window that reads it")
    lines += [f"  {kept['type']}: {kept['text']}" for kept in plan["keeps"]]
    if not plan["retention"] and not plan["keeps"]:
        lines.append("  nothing: every definition reads one event at a time")
    lines += [f"  state size: {plan['state']}", "", "On Spark:"]
    for group in plan["spark"]:
        earlier = f"; reads {', '.join(group['takes'])} from an earlier stage, shuffled again" if group["takes"] else ""
        lines.append(f"  {partitioning(group, kind)}{earlier}")
    lines += ["", "On a stream:", *_stream(plan["stream"])]
    return "\n".join(lines)


def partitioning(group: Mapping[str, Any], kind: TimeKind) -> str:
    """How definitions that run together are partitioned on Spark, in words."""
    names, mode = _names(group), group["mode"]
    if mode == "keyed":
        key = "; ".join(f"{t} by {', '.join(attributes)}" for t, attributes in group["key"].items())
        return f"{names}: partitioned by key ({key}); each partition runs in time order and keeps its own state"
    if mode == "slices":
        overlap = duration(group["overlap"], kind)
        return f"{names}: no partition key; split into slices of time that overlap by {overlap}"
    if mode == "free":
        return f"{names}: row by row, without a shuffle"
    text = "a single partition, because no partition key could be inferred [global-stage]"
    if mode == "rules":
        text = "no partition key; the rules are distributed over the partitions, and each reads all events"
    offer = f"; {group['offer']}" if group["offer"] else ""
    return f"{names}: {text}. It cannot be split by time: {group['why']}{offer}"


def _type(given: Mapping[str, Any]) -> str:
    """A type with its attributes."""
    if given["attributes"] is None:
        return f"  {given['type']}: its attributes are not known yet"
    columns = ", ".join(f"{a['name']}: {a['type']}" if a["type"] else a["name"] for a in given["attributes"])
    return f"  {given['type']}({columns}){', intervals' if given['intervals'] else ''}"


def _stream(stream: Mapping[str, Any]) -> list[str]:
    if stream["unsupported"]:
        return [f"  not supported: {', '.join(stream['unsupported'])} can only be read as a history"]
    stages = "1 stateful stage, which runs"
    if stream["stages"] > 1:
        stages = f"{stream['stages']} stateful stages, which all run"
    return [*(f"  {laid(lane)}" for lane in stream["lanes"]), f"  {stages} in every micro-batch"]


def laid(lane: Mapping[str, Any]) -> str:
    """How the state of definitions is laid over buckets on a stream, in words."""
    names = _names(lane)
    stage = f", stage {lane['stage']}" if lane["stage"] > 1 else ""
    if lane["mode"] == "keyed":
        return f"{names}: the state is split into buckets by key{stage}"
    if lane["mode"] == "free":
        return f"{names}: row by row, in all buckets{stage}"
    if lane["parts"] == 1:
        text = "all state is in a single bucket, because no partition key could be inferred"
        return f"{names}: {text}{stage} [global-stage]"
    return f"{names}: no partition key; {lane['parts']} independent parts, each with its state in one bucket{stage}"


def _names(group: Mapping[str, Any]) -> str:
    """The first types of a group."""
    return ", ".join(group["types"][:4]) + (" .." if len(group["types"]) > 4 else "")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
