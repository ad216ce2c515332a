"""How a program is spread over partitions: groups of definitions that run together, each in its own way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from occurs.model.graphs import components
from occurs.operators.definition import Definition
from occurs.plan.stage import Stage, make_stage, stage_key

Mode = Literal["keyed", "slices", "rules", "single", "free"]


@dataclass(frozen=True)
class Group:
    """A stage of its own.  ``mode``: keyed (split by ``stage.key``), slices (of time), rules (each share of the
    definitions sees all its events in one partition), free (row by row, any partitioning), single (one partition:
    ``why``).  ``overlap``: by how many ticks slices of time overlap, where all rows (mode slices) or those of one key
    (mode keyed, without ``endless``) can be cut into them.  ``takes``: types whose derived rows come from earlier
    groups; ``hands``: types whose derived rows go to later ones."""

    stage: Stage
    mode: Mode
    overlap: int = 0
    why: str = ""
    takes: frozenset[str] = frozenset()
    hands: frozenset[str] = frozenset()

    def needs(self, everything: bool) -> dict[str, set[str] | None]:
        """The attributes of every type that comes in that must cross into Python; None for all (labels need them).

        Where order within an instant can change the answer all attributes of a type cross, as they decide the order; so
        do those of a type that is also defined here, as its rows stand beside derived ones.
        """
        stage = self.stage
        whole = {*stage.defined, *stage.subscriptions}
        used: dict[str, set[str]] = {t: set() for t in stage.inputs}
        for d in stage.definitions:
            whole.update(d.positional)
            for t in used.keys() & d.columns.keys():
                used[t].update(d.columns[t])
        return {t: None if everything or t in whole else names for t, names in used.items()}

    @property
    def endless(self) -> str:
        """Why time cannot be cut into slices; empty if it can."""
        return _endless(self.stage)

    @property
    def independent(self) -> list[list[Definition]]:
        """The definitions in parts that do not read one another."""
        return connected(self.stage.definitions, set(self.stage.defined))

    @property
    def split(self) -> str:
        """By what the rows of one key could be divided without another answer, or why they cannot, in words."""
        ways = [] if self.endless else ["by time, in slices that overlap by the retention"]
        if len(self.independent) > 1:
            ways.append(f"by rules, in {len(self.independent)} independent parts")
        if not ways:
            return f"it cannot be divided: {self.endless}"
        return f"it could be divided {' or '.join(ways)}"

    def spread(self, partitions: int) -> list[Stage]:
        """The definitions in no more than ``partitions`` shares, of which none reads what another finds."""
        bins = [[d for part in self.independent[n::partitions] for d in part] for n in range(partitions)]
        return [share(self.stage, b) for b in bins if b]


def groups(definitions: Sequence[Definition], whole: Stage) -> list[Group]:
    """Definitions that are connected by derived types run together; the others need not share a key.

    Connected ones without a common key become stages, where that lets some of them be split by a key.  What is not
    connected, but can be split alike, shares one pass over the input.  Groups come in evaluation order: what one takes
    an earlier one hands on.
    """
    defined = {d.output for d in definitions}
    keyed: dict[object, list[tuple[list[Definition], dict[str, tuple[str, ...]]]]] = {}
    alike: dict[object, list[Group]] = {}
    staged: list[Group] = []
    for part in connected(definitions, defined):
        if whole.subscribed and _outputs(part).isdisjoint(whole.subscriptions):
            continue  # nobody asks for what it finds
        key = {} if _row_by_row(part) else stage_key(part)
        if key:
            # those that split every type by the same attributes share one shuffle
            for members, common in keyed.setdefault(_columns_of(key), []):
                if all(common.get(t, a) == a for t, a in key.items()):
                    members += part
                    common.update(key)
                    break
            else:
                keyed[_columns_of(key)].append((list(part), dict(key)))
            continue
        one = _group(_stage(part, whole, {}))
        stages = _staged(part, whole) if one.mode in ("slices", "single") else None
        if stages is not None:
            staged += stages
        else:
            # of windows that differ much each gets slices that suit it
            alike.setdefault((one.mode, one.overlap.bit_length() // 2), []).append(one)
    out = [_group(_stage(sorted(d, key=_place), whole, key)) for found in keyed.values() for d, key in found]
    out += staged
    out += [_together(found, whole) for found in alike.values()]
    outside = [s for s in whole.subscribed if s.type not in defined]
    if outside:
        out.append(Group(make_stage([], whole.schemas, whole.kind, outside), "free"))
    return out


def _together(found: list[Group], whole: Stage) -> Group:
    """Groups of one mode, not connected with one another, as one."""
    if len(found) == 1:
        return found[0]
    parts = sorted((d for g in found for d in g.stage.definitions), key=_place)
    stage = _stage(parts, whole, {})
    if found[0].mode == "single":
        return Group(stage, "rules", why=found[0].why)
    return Group(stage, found[0].mode, overlap=max(g.overlap for g in found))


def share(stage: Stage, part: Sequence[Definition]) -> Stage:
    """Some definitions of a stage, with its key."""
    return _stage(sorted(part, key=_place), stage, stage.key)


def _place(d: Definition) -> int:
    return d.place


def _outputs(part: Sequence[Definition]) -> set[str]:
    return {d.output for d in part}


def _stage(part: Sequence[Definition], whole: Stage, key: Mapping[str, tuple[str, ...]]) -> Stage:
    outputs = dict.fromkeys(d.output for d in part)
    subscribed = [s for t in outputs for s in whole.subscriptions.get(t, ())]
    return make_stage(part, whole.schemas, whole.kind, subscribed, key)


def connected(definitions: Sequence[Definition], defined: set[str]) -> list[list[Definition]]:
    """Definitions that share a derived type, or are linked by others that do."""
    parent = list(range(len(definitions)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    owner: dict[str, int] = {}
    for i, d in enumerate(definitions):
        for t in {d.output, *(t for t in d.reads if t in defined)}:
            if t in owner:
                parent[find(i)] = find(owner[t])
            else:
                owner[t] = i
    members: dict[int, list[Definition]] = {}
    for i, d in enumerate(definitions):
        members.setdefault(find(i), []).append(d)
    return list(members.values())


def _staged(part: Sequence[Definition], whole: Stage) -> list[Group] | None:
    """The connected definitions ``part`` as several stages; None if none of them could be split by a key.

    A type is handed on only where no reader depends on the order of its rows within an instant, as rows that come from
    another stage have lost their places in the order; and only if it is not subscribed to, as a subscription filters.
    """
    asked = whole.subscriptions.keys()
    parts: list[list[Definition]] = []
    #: of each part; what is added to one leaves it as it is
    shapes: list[str] = []
    made: dict[str, int] = {}
    for atom in _atoms(part, asked):
        before = {made[t] for d in atom for t in d.reads if t in made}
        shape = _shape(atom)
        for number in range(max(before, default=0), len(parts)):
            if shapes[number] == shape and (shape != "keyed" or stage_key(parts[number] + atom)):
                parts[number] += atom
                break
        else:
            number = len(parts)
            parts.append(list(atom))
            shapes.append(shape)
        made.update(dict.fromkeys(_outputs(atom), number))
    if len(parts) < 2 or "keyed" not in shapes:
        return None
    out = []
    last = {t: number for number, own in enumerate(parts) for d in own for t in d.reads}
    for number, own in enumerate(parts):
        takes = {t for d in own for t in d.reads if made.get(t, number) != number}
        hands = {t for t in _outputs(own) if last.get(t, number) > number}
        if asked and not hands and _outputs(own).isdisjoint(asked):
            continue
        stage = _stage(own, whole, stage_key(own))
        if hands and stage.subscribed:
            return None  # a stage with subscriptions gives nothing else
        out.append(replace(_group(stage), takes=frozenset(takes), hands=frozenset(hands)))
    return out


def _shape(part: Sequence[Definition]) -> str:
    """How definitions can be split, as far as that decides who may run together."""
    if stage_key(part):
        return "keyed"
    return "single" if any(d.endless for d in part) else "slices"


def _atoms(part: Sequence[Definition], asked: Collection[str]) -> list[list[Definition]]:
    """What no stage boundary may divide, in evaluation order: all that define one type, recursive components, readers
    that need the places of derived rows with those that define them, and readers of what rows cannot say."""
    makers: dict[str, list[int]] = {}
    for i, d in enumerate(part):
        makers.setdefault(d.output, []).append(i)
    links: list[set[int]] = [set() for _ in part]
    late = _late(part)
    for same in makers.values():
        for i in same:
            links[i] |= {same[0]}
            links[same[0]] |= {i}
    for i, d in enumerate(part):
        for t in d.reads:
            for j in makers.get(t, ()):
                links[i].add(j)
                if t in d.positional or t in asked or _bound(part[j], d, late):
                    links[j].add(i)
        # the places of derived rows come from those of their constituents: whoever makes these stays, too
        waiting = [t for t in d.positional if t in makers]
        seen = set(waiting)
        while waiting:
            for j in makers[waiting.pop()]:
                links[j].add(i)
                links[i].add(j)
                more = [t for t in part[j].reads if t in makers and t not in seen]
                seen.update(more)
                waiting += more
    component = components([sorted(found - {i}) for i, found in enumerate(links)])
    atoms: dict[int, list[Definition]] = {}
    for i, d in enumerate(part):
        atoms.setdefault(component[i], []).append(d)
    # a component is numbered after all that it reads
    return [atoms[c] for c in sorted(atoms)]


def _late(part: Sequence[Definition]) -> set[str]:
    """The types whose events are known later than they happen, as they or what they are made of have a delay."""
    readers: dict[str, list[str]] = {}
    for d in part:
        for t in d.reads:
            readers.setdefault(t, []).append(d.output)
    late = {d.output for d in part if d.delay != 0}
    waiting = list(late)
    while waiting:
        more = set(readers.get(waiting.pop(), ())) - late
        late |= more
        waiting += more
    return late


def _bound(maker: Definition, reader: Definition, late: Collection[str]) -> bool:
    """Must ``reader`` run where ``maker`` does?  Rows do not say what still holds, nor up to when they are complete."""
    if maker.output in late:
        return True
    return maker.lasting or bool(maker.family and maker.family == reader.family)


def _columns_of(key: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(set(key.values())))


def _group(stage: Stage) -> Group:
    if _row_by_row(stage.definitions):
        return Group(stage, "free")
    why = _endless(stage)
    if stage.key:
        return Group(stage, "keyed", overlap=0 if why else reach(stage))
    if why:
        late = _late(stage.definitions)
        readers = stage.definitions
        here = [t for t, m in stage.families.items() if any(t in d.reads and _bound(m, d, late) for d in readers)]
        tied = f", and {', '.join(here)} can only be read in the stage that computes it" if here else ""
        return Group(stage, "single", why=why + tied)
    return Group(stage, "slices", overlap=reach(stage))


def _endless(stage: Stage) -> str:
    return next((d.endless for d in stage.definitions if d.endless), "")


def _row_by_row(part: Sequence[Definition]) -> bool:
    """Does every definition look at one row only, so that any partitioning will do, and no shuffle is needed?"""
    return all(d.row_by_row for d in part)


def reach(stage: Stage) -> int:
    """The longest path of retentions: how far the inputs of a detection can lie before it, in ticks."""
    deepest: dict[str, int] = {}
    for d in sorted(stage.definitions, key=_place):
        mine = max((d.back(t) + deepest.get(t, 0) for t in d.reads), default=0)
        deepest[d.output] = max(deepest.get(d.output, 0), mine)
    return max(deepest.values(), default=0)
