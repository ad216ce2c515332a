"""A program that has changed takes over the state of the one before.

With its state every bucket keeps a description of the program that wrote it.  A definition is found again by its
identity, that is by its text: unchanged ones go on as if nothing had happened, removed ones are forgotten, new ones
(a changed one is new) see only what is later than the newest event at the change, as if the stream had begun there,
unless they get the history before it.  What cannot be kept is refused before anything is written.

A definition over instants and intervals that reads another one follows what holds there, and so begins anew with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from occurs.engine.engine import Engine
from occurs.engine.saved_pieces import pieces
from occurs.engine.state import State
from occurs.errors import CheckpointProblem, Problem
from occurs.hosts.spark.wide import arrow_of
from occurs.hosts.stream.layout import Layout, Path
from occurs.model.canonical import fingerprint
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.definition import Definition
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

_HINT = (
    "use a new checkpoint (--replay-from fills its past), or restore the rules that this checkpoint was written with"
)


@dataclass(frozen=True)
class Heir:
    """What a lane takes over: the state called ``name``, written by the lane ``old`` describes (None: nothing).
    ``new``: the definitions that have no state there; ``anew``: those of them that had one, which means something else
    now."""

    name: str
    old: Mapping[str, Any] | None
    new: tuple[str, ...]
    anew: tuple[str, ...]


def describe(layout: Layout, depth: int) -> dict[str, Any]:
    """What must be known of a stage to take over its state; plain JSON."""
    kind = layout.paths[0].wide.kind if layout.paths else None
    return {
        "buckets": layout.buckets,
        "stages": layout.depth,
        "labelled": layout.labelled,
        "time": None if kind is None else [kind.timestamp, kind.unit],
        "types": list(layout.types),
        "lanes": {str(p.lane.number): _lane(p) for p in layout.at(depth)},
        **({} if layout.window is None else {"window": [layout.window.length, layout.window.step]}),
    }


def _lane(path: Path) -> dict[str, Any]:
    lane = path.lane
    inlets = [[i.type, i.derived, [[n, t.value, c] for n, t, c in i.columns]] for i in path.inlets]
    key = {t: list(names) for t, names in sorted(lane.group.stage.key.items())}
    mode = lane.group.mode if lane.split else "fixed"
    out: dict[str, Any] = {"mode": mode, "key": key, "places": dict(sorted(lane.places.items())), "inlets": inlets}
    if lane.part:
        out["part"] = lane.part
    forms = _forms(lane.group.stage)
    if forms:
        out["forms"] = forms
    found = [stage.segments for stage in lane.stages.values()]
    if any(len(parts) > 1 for parts in found):
        behind: dict[str, list[int]] = {}
        for parts in found:
            for number, part in enumerate(parts):
                for d in (*part.stage.definitions, *part.stage.hidden):
                    behind.setdefault(d.identity, []).append(number)
        out["segments"] = dict(sorted(behind.items()))
    return out


def _forms(stage: Stage) -> dict[str, list[Any]]:
    """Of every definition that keeps tables of its own: their form, and the definitions that it follows."""
    out: dict[str, list[Any]] = {}
    for d in stage.definitions:
        form = form_of(d, stage)
        if form:
            follows = sorted(stage.families[t].identity for t in set(d.reads).difference(stage.reads_rows(d)))
            out[d.identity] = [form, follows]
    return dict(sorted(out.items()))


def form_of(definition: Definition, stage: Stage) -> str:
    """A digest that is equal where saved tables of a definition mean the same; empty if it keeps rows only."""
    form = definition.form(stage.schemas)
    return "" if form is None else fingerprint(form, 8)


def heirs(old: Mapping[str, Any], names: Mapping[str, str], layout: Layout, depth: int) -> dict[int, Heir]:
    """Which lane of ``layout`` takes over what; ``names``: lane of the old description to the name of its state.

    Raises CheckpointProblem for what cannot be kept.
    """
    new = describe(layout, depth)
    problems = [_problem(text) for text in _headers(old, new)]
    where = {d: n for n, lane in old["lanes"].items() for d in lane["places"]}
    anew = _anew(old, new)
    following = max((int(n) for n in names.values()), default=-1) + 1
    taken: set[str] = set()
    out: dict[int, Heir] = {}
    for number, lane in new["lanes"].items():
        known = {d: where[d] for d in lane["places"] if d in where and d not in anew}
        added = tuple(d for d in lane["places"] if d not in known)
        again = tuple(d for d in added if d in where)
        sources = sorted(set(known.values()))
        if not sources:
            out[int(number)] = Heir(str(following), None, added, again)
            following += 1
            continue
        if len(sources) > 1 or sources[0] in taken:
            text = (
                f"{quoted(known)} ran separately but must now run together"
                if len(sources) > 1
                else (f"{quoted(known)} ran together with other definitions but must now run separately")
            )
            problems.append(_problem(text))
            continue
        taken.add(sources[0])
        before = old["lanes"][sources[0]]
        problems += [_problem(text) for text in _moved(before, lane, known)]
        out[int(number)] = Heir(names[sources[0]], before, added, again)
    if problems:
        raise CheckpointProblem(problems)
    return out


def _anew(old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    """The definitions with the same text that begin anew: with another one that they read, or as what they keep has
    another form."""
    before, now = (
        {d: entry for lane in one["lanes"].values() for d, entry in lane.get("forms", {}).items()} for one in (old, new)
    )
    found = {d for d, entry in now.items() if entry != before.get(d)}
    while more := {d for d, (_, read) in now.items() if found & set(read)} - found:
        found |= more
    return found


def begun_anew(definitions: Collection[str]) -> Problem:
    """What is told of definitions that lose their partial matches, though their text is what it was."""
    which = quoted(sorted(definitions))
    text = f"{which}: its partial matches in this checkpoint have an incompatible form and are dropped"
    hint = "it reads only later events; use a new checkpoint with --replay-from to fill its past"
    return Problem("changed-program", text, severity="warning", hint=hint)


def _problem(text: str) -> Problem:
    return Problem("changed-program", f"the checkpoint is incompatible with these rules: {text}", hint=_HINT)


#: what lanes had instead of ``forms``: made of ``repr``, and so not to be compared
_BEFORE_FORMS = ("nets", "sequences", "triggers")


def _headers(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    out = []
    if any(kept in lane for lane in old["lanes"].values() for kept in _BEFORE_FORMS):
        out.append("an earlier version of Occurs wrote it in an incompatible format")
    if old["buckets"] != new["buckets"]:
        out.append(f"it has {old['buckets']} buckets, not {new['buckets']}, and their number cannot change")
    if old["stages"] != new["stages"]:
        out.append(f"the rules need {new['stages']} stages with different keys, but the checkpoint has {old['stages']}")
    if None not in (old["time"], new["time"]) and old["time"] != new["time"]:
        out.append(f"its times are {_time(old['time'])}, but the input has {_time(new['time'])}")
    if old["labelled"] != new["labelled"]:
        had, has = ("with", "without") if old["labelled"] else ("without", "with")
        out.append(f"it was written {had} labels (--label, --because) but is now used {has} labels")
    if old.get("window") != new.get("window"):
        out.append("it was written with another --window or --step")
    elif new.get("window") is not None:
        out.append("in window mode, the rules of a checkpoint cannot change")
    return out


def _time(kind: Sequence[Any]) -> str:
    return "timestamps" if kind[0] else f"integers (time unit {kind[1]})"


def _moved(old: Mapping[str, Any], new: Mapping[str, Any], known: Mapping[str, str]) -> list[str]:
    if old["mode"] != new["mode"]:
        words = {"keyed": "partitioned by a key", "free": "row by row", "fixed": "in one bucket"}
        return [f"{quoted(known)} ran {words[old['mode']]} but would now run {words[new['mode']]}"]
    if old.get("part", 0) != new.get("part", 0):
        return [f"{quoted(known)} ran in another part of the rules of a key (--divide)"]
    out = []
    for t, names in old["key"].items():
        if t in new["key"] and new["key"][t] != names:
            out.append(f"`{t}` was partitioned by {', '.join(names)} but would now be by {', '.join(new['key'][t])}")
    for d in known:
        if old["places"][d] != new["places"][d]:
            out.append(f"{quoted([d])} would move to another bucket, with other definitions")
        if _segments(old, d) != _segments(new, d):
            out.append(
                f"{quoted([d])} would run with another delay, because a definition before or after it is delayed"
            )
    return out


def _segments(lane: Mapping[str, Any], definition: str) -> list[int]:
    found: list[int] = lane.get("segments", {}).get(definition, [0])
    return found


def quoted(definitions: Iterable[str]) -> str:
    """The first of some definitions, and how many more."""
    texts = [" ".join(d.split()) for d in definitions]  # of several lines
    first = texts[0] if len(texts[0]) <= 60 else texts[0][:57] + "..."
    more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
    return f"`{first}`{more}"


# -- rows of the program before ----------------------------------------------------------------------------------------
def fitted(rows: Rows, schema: Schema, wanted: set[str] | None) -> Rows:
    """A past with the columns that are wanted now.  Those that it lacks are null: only new definitions read them, which
    do not see these rows."""
    columns = {}
    for name, t in schema:
        if wanted is None or name in wanted:
            have = rows.columns.get(name)
            columns[name] = Column.nulls(t, len(rows)) if have is None else have.cast(t)
    for name in ("end", "sequence"):
        if name in rows.columns:
            columns[name] = rows.columns[name]
    return Rows(rows.type, rows.time, columns, rows.new, rows.serial, rows.labels, rows.derived, rows.at)


def renamed(table: pa.Table, old: Mapping[str, Any], types: Sequence[str], path: Path, layout: Layout) -> pa.Table:
    """Rows that wait, or that were taken, with the columns and the numbers of types of another layout.  Columns that
    they lack are null: only new definitions read them, which do not see rows that were taken."""
    have: dict[tuple[str, str], tuple[Type, str]] = {}
    for of, derived, columns in old["inlets"]:
        if not derived:
            have |= {(of, a): (Type(t), c) for a, t, c in columns if c in table.column_names}
    arrays = {n: table.column(n) for n in table.column_names if n.startswith("__")}
    kind = table.column("__type")
    if pa.types.is_integer(kind.type):
        kind = pa.array(list(types), pa.string()).take(kind.combine_chunks().cast(pa.int64()))
    if layout.types:
        index = pa.compute.index_in(kind, pa.array(list(layout.types), pa.string()))
        kind = index.cast(pa.int16())
    arrays["__type"] = kind
    # types that have an attribute in one column now may have had it in several, where the others have nulls
    found: dict[str, dict[str, pa.ChunkedArray]] = {}
    for inlet in path.inlets:
        for a, t, c in inlet.columns if not inlet.derived else ():
            was, source = have.get((inlet.type, a), (t, ""))
            if source:
                found.setdefault(c, {})[source] = _cast(table.column(source), was, t)
            elif c:
                kind = arrow_of(t) if t is not Type.RECORD else path.lane.group.stage.schemas[inlet.type].arrow_of(a, t)
                arrays[c] = pa.nulls(table.num_rows, kind)
    for c, parts in found.items():
        arrays[c] = pa.compute.coalesce(*parts.values()) if len(parts) > 1 else next(iter(parts.values()))
    return pa.table(arrays)


def _cast(column: pa.ChunkedArray, was: Type, now: Type) -> pa.ChunkedArray:
    """A column of a wide table whose attribute has another type now, as :meth:`.Column.cast` does it."""
    ticks = (Type.INT, Type.TIMESTAMP, Type.DURATION)
    if was is now or (was in ticks and now in ticks):
        return column
    if now is Type.FLOAT and was is Type.INT:
        return column.cast(pa.float64(), safe=False)
    raise AssertionError(f"no cast from {was} to {now}")


def wanted_columns(path: Path, type: str) -> set[str] | None:
    """The attributes that rows of a type have in a lane; None: all of its schema."""
    if type in path.lane.group.stage.defined:
        return None
    return {n for i in path.inlets if i.type == type for n, _, _ in i.columns}


def pieces_of(entry: Mapping[str, Any]) -> list[str]:
    """The names of all pieces that a saved lane has."""
    found = [name for kind in ("waiting", "taken", "answers") for name in entry.get(kind, {}).get("pieces", ())]
    return [*pieces(entry["engine"]), *found]


def take_over(engine: Engine, state: State, path: Path, new: Collection[str]) -> None:
    """Make the state of another program that of ``engine``: what nobody reads is forgotten, and what definitions keep
    that begin anew (``new``); columns are as wanted now.

    Raises CheckpointProblem.
    """
    found = engine.stage.segments
    before = state.later or [state]
    # a segment that is new begins with nothing
    states = [*before[: len(found)], *(State({}, {}, {}) for _ in found[len(before) :])]
    for segment, own in zip(found, states, strict=True):
        _take_over(segment.stage, own, path, new)
    engine.state = states[0] if len(found) == 1 else State({}, {}, {}, state.frontier, later=states)


def _take_over(stage: Stage, state: State, path: Path, new: Collection[str]) -> None:
    for identity in new:
        state.loaded.pop(identity, None)
    for t, rows in state.waiting.items():
        if t in stage.inputs:
            state.waiting[t] = fitted(rows, stage.schemas[t], wanted_columns(path, t))
    state.waiting = {t: rows for t, rows in state.waiting.items() if t in stage.inputs}
    births = {d.identity: d.born for d in stage.definitions}
    for component in (o for o in stage.operators if o.stepwise):
        names = [out.definition for out in component.outs]
        born = {births[name] for name in names}
        if len(born) > 1:
            text = f"{quoted(names)} read each other's detections or consume events, and some of them are new"
            raise CheckpointProblem([_problem(text)])
        readers = {t for d in stage.definitions if d.born is None for t in d.reads}
        for t in component.feeds_back if born != {None} else ():
            if t in readers and t in state.pasts and len(state.pasts[t]):
                text = (
                    f"`{t}` is read by unchanged definitions, but definitions that both read and define it have changed"
                )
                raise CheckpointProblem([_problem(text)])
            state.pasts.pop(t, None)
    for t in list(state.pasts):
        if t in stage.reads and stage.retention.get(t, 0) > 0:
            state.pasts[t] = fitted(state.pasts[t], stage.schemas[t], wanted_columns(path, t))
        else:
            del state.pasts[t]
