"""The compact view of a net: one transition per pattern operator, as the paper's figures show patterns.

Places that are fused are one place again.  The places that only keep a run in order (Control, SeqInput, Clock, the
number of the next input), isolated places and inscriptions are left out.  The nodes of one statement are on one page.
Events, ``every`` and ``->`` have at most one transition; ``and``, ``or``, ``not`` and ``timer:within`` keep all that
they have.  The view is for looking at: it does not run.
"""

from __future__ import annotations

from dataclasses import replace

from occurs.nets.net import Arc, Marking, Net, Page, Place, Role, Transition

_KEEPING = {Role.CONTROL, Role.SEQ, Role.CLOCK}
#: places that all statements share: every page has its own
_SHARED = {Role.F, Role.INPUT}


def compact(net: Net, marking: Marking) -> tuple[Net, Marking]:
    """The view of ``net`` and of its ``marking``.

    Nodes have their names in ``net`` (places that of their holder), without that of the statement where this leaves no
    two alike.
    """
    places = {net.holder(n): net.places[net.holder(n)] for n in net.places}
    fused = {net.holder(n) for n, p in net.places.items() if n != net.holder(n)}
    arcs = list(dict.fromkeys(
        (net.holder(a.place), a.transition, a.input) for a in net.arcs if net.places[a.place].role not in _KEEPING
    ))  # fmt: skip
    arcs = [(p, t, i) for p, t, i in arcs if not (places[p].role is Role.INIT and _enters(net, t))]
    operator = _operators(net)
    parts = {}
    for members in _parts(net, arcs, places):
        parts[_statement(net, members, arcs, places)] = members
    short = _short(net, parts, arcs, places, operator)
    pages = []
    for name, members in parts.items():
        own = [a for a in arcs if a[1] in members]
        pages.append(Page(
            name,
            tuple(_place(places[p], short[p], p in fused) for p in dict.fromkeys(p for p, _, _ in own)),
            tuple(_transition(net.transitions[t], short[t]) for t in _ordered(members, own, places)),
            tuple(Arc(short[p], short[t], i, ()) for p, t, i in own),
        ))  # fmt: skip
    tokens = {short.get(p, p): t for p, t in marking.tokens.items()}
    return replace(net, pages=tuple(pages)), Marking(tokens)


def _statement(net: Net, members: list[str], arcs: list[tuple[str, str, bool]], places: dict[str, Place]) -> str:
    """What a page is called: as the statement whose output its transitions derive, or else as one of their pages."""
    outputs = (p for p, t, _ in arcs if t in members and places[p].role is Role.OUTPUT)
    return next((p.removesuffix("_Fp") for p in outputs), net.page_of[members[0]])


def _enters(net: Net, transition: str) -> bool:
    """Does it feed the input into the flow of events?"""
    return any(net.places[a.place].role is Role.INPUT for a in net.inputs[transition])


def _operators(net: Net) -> dict[str, str]:
    """Transitions are called as their pages, which are operators, where they are alone there."""
    counts = {page.name: len(page.transitions) for page in net.pages}
    taken = {*net.places}
    return {
        t: net.page_of[t] if counts[net.page_of[t]] == 1 and net.page_of[t] not in taken else t for t in net.transitions
    }


def _short(
    net: Net, parts: dict[str, list[str]], arcs: list[tuple[str, str, bool]], places: dict[str, Place],
    operator: dict[str, str],
) -> dict[str, str]:  # fmt: skip
    """What nodes are called: without the name of their statement, if the names of all nodes then differ."""
    full = {p: p for p in places} | operator
    short = dict(full)
    for statement, members in parts.items():
        for node in dict.fromkeys([*members, *(p for p, t, _ in arcs if t in members)]):
            if not (node in places and places[node].role in _SHARED):
                own = full[node].removeprefix(f"{statement}_")
                last = own.removeprefix("followed_")
                short[node] = own if last[:1].isdecimal() else last
    return short if len(set(short.values())) == len(short) else full


def _transition(transition: Transition, name: str) -> Transition:
    """The guard of a transition that only joins others is about their bookkeeping."""
    return replace(transition, name=name, at=None, guard=transition.guard if transition.black else ())


def _place(place: Place, name: str, fused: bool) -> Place:
    """Shared places keep the sign that they are elsewhere, too."""
    shared = place.role in _SHARED or place.role is Role.OUTPUT
    return replace(place, name=name, at=None, fusion=name if fused and shared else None)


def _parts(net: Net, arcs: list[tuple[str, str, bool]], places: dict[str, Place]) -> list[list[str]]:
    """Transitions that are connected by places which are not shared, in the order of the net."""
    leader = {t: t for t in net.transitions}

    def find(t: str) -> str:
        while leader[t] != t:
            t = leader[t]
        return t

    first: dict[str, str] = {}
    for p, t, _ in arcs:
        if places[p].role not in _SHARED:
            leader[find(t)] = find(first.setdefault(p, t))
    parts: dict[str, list[str]] = {}
    for t in net.transitions:
        parts.setdefault(find(t), []).append(t)
    return list(parts.values())


def _ordered(members: list[str], arcs: list[tuple[str, str, bool]], places: dict[str, Place]) -> list[str]:
    """Transitions after those whose places they take from, the order of the net among others."""
    makers: dict[str, list[str]] = {}
    for p, t, i in arcs:
        # what is put back to where a search begins is no step ahead
        if not i and places[p].role is not Role.F and not places[p].initial:
            makers.setdefault(p, []).append(t)
    rank = dict.fromkeys(members, 0)
    for _ in members:  # enough for any way without a circle
        for p, t, i in arcs:
            if i:
                rank[t] = min(max([rank[t], *(rank[m] + 1 for m in makers.get(p, ()) if m != t)]), len(members))
    return sorted(members, key=lambda t: (rank[t], members.index(t)))
