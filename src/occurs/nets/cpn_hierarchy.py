"""Hierarchies of pages in files of CPN Tools (CPN Tools' documentation: Hierarchical nets; Fusion places).

A substitution transition stands for an instance of another page; the ports of that page are the sockets beside the
transition.  Every instance has places of its own, except those of a fusion set, which all instances share.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from occurs.model.xml_tree import Node
from occurs.nets.cpn_names import free

if TYPE_CHECKING:
    from occurs.nets.cpn_read import Findings

#: a place of an instance: the number of the instance, and the id of the place
_At = tuple[int, str]


@dataclass(frozen=True)
class Fused:
    """The set that a place is fused in; ``ports``: is there a port among its places?"""

    name: str
    ports: bool


class Hierarchy:
    """The instances of the pages of a file.

    Attributes:
        instances: The page of each instance; an instance comes before those that its transitions stand for.
    """

    def __init__(self, pages: list[Node], found: Findings, called: Callable[[Node], str]) -> None:
        self._pages = {page.id: page for page in pages}
        self._found = found
        self._called = called
        self.instances: list[Node] = []
        #: ports with their sockets
        self._same: list[tuple[_At, _At]] = []
        below = {sub.id for page in pages for t in page.all("trans") if (sub := self.page_of(t)) is not None}
        for page in pages:
            if page.id not in below:
                self._instantiate(page, ())
        for page in pages:
            if all(page is not p for p in self.instances):
                self._found.error("hierarchy", f"page `{called(page)}` is part of itself", page)
                self.instances.append(page)

    def page_of(self, transition: Node) -> Node | None:
        """The page that a transition stands for; None for an ordinary transition or a page that is not there."""
        subst = transition.find("subst")
        return None if subst is None else self._pages.get(subst.get("subpage"))

    def _instantiate(self, page: Node, above: tuple[str, ...]) -> int:
        number = len(self.instances)
        self.instances.append(page)
        for transition in page.all("trans"):
            sub = self.page_of(transition)
            if sub is None:
                continue
            if sub.id in (*above, page.id):
                self._found.error("hierarchy", f"page `{self._called(sub)}` is part of itself", transition)
                continue
            below = self._instantiate(sub, (*above, page.id))
            self._join(transition, (number, page), (below, sub))
        return number

    def _join(self, transition: Node, above: tuple[int, Node], below: tuple[int, Node]) -> None:
        subst = transition.find("subst")
        assert subst is not None
        ports = {p.id for p in below[1].all("place")}
        sockets = {p.id for p in above[1].all("place")}
        for pair in re.findall(r"\(\s*([^,()\s]+)\s*,\s*([^,()\s]+)\s*\)", subst.get("portsock")):
            port, socket = pair if pair[0] in ports else pair[::-1]
            if port not in ports or socket not in sockets:
                message = f"transition {transition.id}: the port or socket {', '.join(pair)} is not on its page"
                self._found.note(f"{message}; it is ignored", transition)
            else:
                self._same.append(((above[0], socket), (below[0], port)))

    def fused(self, sets: dict[str, str]) -> dict[_At, Fused]:
        """The set of each place that is fused.  ``sets``: id of a place -> the fusion set that the file says."""
        leader: dict[_At, _At] = {}

        def find(at: _At) -> _At:
            while (up := leader.setdefault(at, at)) != at:
                at = up
            return at

        def unite(one: _At, other: _At) -> None:
            first, second = sorted((find(one), find(other)))
            leader[second] = first

        of_set: dict[str, _At] = {}
        for number, page in enumerate(self.instances):
            for place in page.all("place"):
                if place.id in sets:
                    at = (number, place.id)
                    unite(of_set.setdefault(sets[place.id], at), at)
        for socket, port in self._same:
            unite(socket, port)
        ports = {find(at) for pair in self._same for at in pair}
        names: dict[_At, str] = {}
        for name, at in of_set.items():
            names.setdefault(find(at), name)
        taken = {*names.values()}
        for at in leader:
            if find(at) not in names:
                names[find(at)] = free(f"{self._called(self.instances[at[0]])}_{at[1]}", taken)
        return {at: Fused(names[find(at)], find(at) in ports) for at in leader}
