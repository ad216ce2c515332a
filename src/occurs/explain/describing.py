"""The clauses of a reason: the row at which each failed, what it met and needed, and the sentence that says so (why.md,
sections 7 and 8)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.checked_program import CheckedProgram
from occurs.errors import OccursError
from occurs.explain.search import Solution
from occurs.explain.tree import RowNode, Trees, instants, is_row
from occurs.explain.words import length, ticks_of, value_text, values_text, when
from occurs.explain.world import Given, Site, World
from occurs.expr.text import Text
from occurs.hosts.detections import LocalDetections
from occurs.hosts.local import detect
from occurs.languages.kit.clauses import Box, Edit, Seen, Splice, Whole, spliced
from occurs.languages.kit.language import folder
from occurs.model.astext import dumps
from occurs.model.history import History

if TYPE_CHECKING:
    from occurs.explain.whynot import Asked


@dataclass(frozen=True)
class Clause:
    """A clause of a reason: the row of the table, as attributes; times are ticks."""

    reason: int
    cost: int
    part: int
    kind: str
    type: str | None
    time: int | None
    end: int | None
    label: str | None
    clause: str
    place: str
    found: str
    needed: str
    repair: str
    message: str
    definition: str
    file: str | None
    line: int
    column: int
    verified: bool


@dataclass(frozen=True)
class Witness:
    """A row that a reason shows: ``ok`` false: the clause failed at it; ``parent``: the derived row it belongs to;
    ``added``: it is not in the input."""

    role: str | None
    type: str
    time: int
    end: int | None
    label: str | None
    attributes: Mapping[str, Any]
    ok: bool
    parent: int | None
    added: bool = False


class Description:
    """The clauses of one reason, with what they met."""

    def __init__(
        self, asked: Asked, world: World, solution: Solution, edits: Mapping[int, Sequence[Edit]],
        texts: Sequence[Given], history: History, trees: Trees, tree: RowNode, row: dict[str, Any] | None,
    ):  # fmt: skip
        self.asked, self.world, self.solution, self.edits, self.texts = asked, world, solution, edits, texts
        self.history, self.trees, self.tree, self.row = history, trees, tree, row
        self.kind = asked.kind
        self.failed: list[RowNode] = []
        self.bad: set[str | None] = set()
        self.shown = self._shown()

    # -- what the clauses met ----------------------------------------------------------------------------------------
    def _shown(self) -> list[Mapping[str, Any] | None]:
        """Per clause the row of a copy of its rule beside the repaired program, with the values that it met."""
        copies: dict[int, tuple[str, Given]] = {}
        for i, (site, edit) in enumerate(zip(self.solution.sites, self.solution.proposal.edits, strict=True)):
            c, rule = site.clause, site.rule
            if rule is None or (rule.clauses.probed is None and c.evidence is None):
                continue
            values = {}
            if c.value is not None:
                values["occurs_value"] = c.value
            if c.wanted is not None:
                values["occurs_wanted"] = c.wanted
            for k, (_, other) in enumerate(c.detail.get("tests", ())):
                if other is not None:
                    values[f"occurs_test_{k}"] = other
            if not values and c.evidence is None:
                continue
            name = f"{rule.defines}__shown_{i}"
            own = [e for e in self.edits.get(rule.number, ()) if c.evidence is None or e is not edit]
            splices = [s for e in own for s in e.splices]
            if c.evidence is not None:
                splices += c.evidence.edit({}).splices
            text, _, language = self.world.texts[rule.text]
            r = rule.clauses
            splices += r.named(name)
            splices += [*r.probed(values)] if values and r.probed is not None else []
            ending = self.world.languages[folder(language)].ENDING
            copies[i] = name, (spliced(text, splices, r.start, r.stop) + ending, f"shown {i}", language)
        out: list[Mapping[str, Any] | None] = [None] * len(self.solution.sites)
        for some in ([[*copies]] if len(copies) > 1 else []) + [[i] for i in copies]:
            try:
                found = self._beside([copies[i][1] for i in some])
            except OccursError:  # perhaps because of one of several
                continue
            for i in some:
                site = self.solution.sites[i]
                assert site.rule is not None
                out[i] = self._match(site, found.only(copies[i][0], partial(self._among, site.rule.defines)))
            if len(some) == len(copies):
                break
        return out

    def _beside(self, more: Sequence[Given]) -> LocalDetections:
        """What the repaired program detects with other definitions beside its own."""
        program = CheckedProgram([*self.texts, *more], folders=self.asked.program.folders)
        program = program.adjusted(zone=self.asked.given.zone, facts=self.asked.program.facts).reasoning()
        return detect(program, self.history, ended=self.world.ended, because=True, progress=False)

    def _among(self, type: str, table: pa.Table) -> pa.ChunkedArray:
        """Which rows are at the time of a derived row of the witness."""
        times = {n.time for n in self.tree.walk() if n.type == type and n.derived}
        return pc.is_in(table["time"].cast(pa.int64()), pa.array(sorted(times), pa.int64()))

    def _match(self, site: Site, table: pa.Table) -> Mapping[str, Any] | None:
        """The row of a copy that has the same constituents as a row of the witness."""
        role = None if site.clause.evidence is None else site.clause.evidence.role
        rule = site.rule
        assert rule is not None
        nodes = [n for n in self.tree.walk() if n.type == rule.defines and n.derived]
        wanted = {tuple((c.role, c.label) for c in n.children if c.label is not None): n for n in nodes}
        fitting = []
        for row in table.to_pylist():
            parts = tuple(
                (p["role"], p["label"]) for p in row["because"] if p["label"] is not None and p["role"] != role
            )
            if parts in wanted:
                fitting.append(row | {"occurs_node": wanted[parts]})
        moved = site.clause.moved
        if moved is not None:
            violated = [r for r in fitting if "occurs_value" in r and moved(_plain(r["occurs_value"])) is not None]
            fitting = violated or fitting
        return fitting[0] if fitting else None

    def _node(self, site: Site, shown: Mapping[str, Any] | None) -> RowNode | None:
        """The derived row of the clause's rule in the witness."""
        if shown is not None:
            node: RowNode = shown["occurs_node"]
            return node
        rule = site.rule
        return (
            None if rule is None else next((n for n in self.tree.walk() if n.derived and n.type == rule.defines), None)
        )

    def at(self, node: RowNode | None) -> str:
        """``Temp at 09:01:00``."""
        return "?" if node is None else f"{node.type} at {when(node.time, self.kind)}"

    # -- clauses -----------------------------------------------------------------------------------------------------
    def clauses(self, number: int, verified: bool) -> list[Clause]:
        """The rows of the table."""
        out = []
        more = self._false() | self._dropped()
        for i, (site, edit) in enumerate(zip(self.solution.sites, self.solution.proposal.edits, strict=True)):
            row, found, needed, message = self._told(site, self.shown[i])
            message += more.get(i, "")
            c = site.clause
            repair = "" if edit is None else edit.repair
            if site.kind == "missing":
                repair = dumps(self.row)
            file, line, column, definition = None, 0, 0, ""
            if site.rule is not None and self.world.fixed:
                definition = site.rule.clauses.title
            elif site.rule is not None:
                text, file, _ = self.world.texts[site.rule.text]
                span = Text(text, None).span(c.start, c.start)
                line, column, definition = span.line, span.column, site.rule.clauses.title
            place = f"{file or 'rules'}:{line}:{column}" if line else definition
            out.append(
                Clause(
                    number, self.solution.cost, i + 1, site.kind, row.type if row else c.type,
                    row.time if row else None, row.end if row else None, row.label if row else None, c.text, place,
                    found, needed, repair, message, definition, file, line, column, verified,
                )
            )  # fmt: skip
        return out

    def _told(self, site: Site, shown: Mapping[str, Any] | None) -> tuple[RowNode | None, str, str, str]:
        """The row at which a clause failed, what it met, what it needed, and the message."""
        node = self._node(site, shown)
        row = None if node is None else self._row(site, node)
        if row is not None and row.label is not None and site.kind not in ("absence", "missing", "choice", "count"):
            self.bad.add(row.label)
        told = getattr(self, f"_{site.kind}")
        result: tuple[RowNode | None, str, str, str] = told(site, shown, node, row)
        return result

    def _row(self, site: Site, node: RowNode) -> RowNode | None:
        """The row of a derivation at which a clause failed: of a repeated role the first that violates it."""
        c = site.clause
        rows = [p for p in node.children if _role(p, c.role)] if c.role is not None else []
        own = c.detail.get("own")
        if own is not None and c.moved is not None:
            violating = [p for p in node.children if _role(p, own[0]) and c.moved(_get(p.values, own[1])) is not None]
            rows = [p for p in violating if p in rows] or violating or rows
        elif own is not None and c.detail.get("other_text") is None and len(rows) > 1:
            other = self._elsewhere(c.detail.get("other"), node)
            rows = [p for p in rows if own[1] in p.values and p.values[own[1]] != other] or rows
        return rows[0] if rows else None

    def _elsewhere(self, place: tuple[str | None, str] | None, node: RowNode | None) -> Any:
        """A value of the witness by role and attribute."""
        if place is None or node is None:
            return None
        return next((_get(p.values, place[1]) for p in node.children if _role(p, place[0])), None)

    def _value(self, site: Site, shown: Mapping[str, Any] | None, row: RowNode | None) -> str:
        c = site.clause
        value = None if shown is None else shown.get("occurs_value")
        if shown is None and c.detail.get("own") is not None and row is not None:
            value = _get(row.values, c.detail["own"][1])
        elif shown is None or "occurs_value" not in shown:
            return "?"
        if value is not None and c.detail.get("duration"):
            return length(int(_plain(value)), self.kind)
        return value_text(value)

    @cached_property
    def _repaired(self) -> World:
        """The repaired program over the history of the reason."""
        program = CheckedProgram(self.texts, folders=self.asked.program.folders)
        adjusted = program.adjusted(zone=self.asked.given.zone, facts=self.asked.program.facts)
        return World(adjusted, self.history, self.world.type, zone=self.asked.given.zone, ended=self.world.ended)

    def _read(self, site: Site, node: RowNode | None) -> tuple[RowNode, Seen] | None:
        """Of a rule that reads states: the earliest one at which a comparison, as it was, does not hold."""
        rule, c = site.rule, site.clause
        if rule is None or node is None or self.world.fixed or rule.clauses.followed is None or c.moved is None:
            return None
        states = sorted((p for p in node.children if p.role == "state"), key=lambda p: p.time)
        before = [s for number, edits in self.edits.items() if self.world.rules[number].text == rule.text
                  for e in edits for s in e.splices if s.stop <= c.start]  # fmt: skip
        start = c.start + sum(len(s.text) - (s.stop - s.start) for s in before)
        followed = self._repaired.rules[rule.number].clauses.followed
        whole, tables = rule.clauses.whole, self.history.tables
        times = [] if whole is None else instants(whole, node, lambda t: self.trees.table(t, tables))
        read = () if followed is None else followed([(p.time, p.values) for p in states], times) or ()
        failing = [s for s in read if s.kind == "comparison" and s.start == start and s.value is not None
                   and c.moved(_plain(s.value)) is not None]  # fmt: skip
        if not failing:
            return None
        first = min(failing, key=lambda s: states[s.state].time)
        return states[first.state], first

    def _reads_states(self, site: Site, row: RowNode | None) -> bool:
        """Whether a comparison is read at states of which ``row`` is one at which it holds, or its value is not
        known."""
        c, rule = site.clause, site.rule
        if rule is None or rule.clauses.followed is None or c.moved is None or c.detail.get("own") is None:
            return False
        return row is None or c.moved(_get(row.values, c.detail["own"][1])) is None

    def _false(self) -> dict[int, str]:
        """Of rules that are one formula: at which state it became false, and the conjunct that made it so, at the
        clause of the reason that lies in it.

        The states of a clause are those of the repair without its own edit.
        """
        found: list[tuple[int, int, str]] = []
        for i, site in enumerate(self.solution.sites):
            whole = None if site.rule is None else site.rule.clauses.whole
            node = self._node(site, self.shown[i])
            if whole is None or site.rule is None or node is None or self.world.fixed:
                continue
            place = next(((a, b) for a, b in whole.parts if a <= site.clause.start < b), None)
            time = node.time if not whole.ahead else self._over(i, whole, node)
            if place is None or time is None:
                continue
            part = " ".join(self.world.texts[site.rule.text][0][slice(*place)].split())
            at = when(time, self.kind)
            if whole.ahead:
                found.append((time, i, f"; `{part}` is false from the state at {at} on"))
            elif part != " ".join(site.clause.text.split()):
                found.append((time, i, f"; `{part}` is false at {at}"))
        _, i, text = min(found, default=(0, -1, ""))
        return {i: text}

    def _over(self, i: int, whole: Whole, node: RowNode) -> int | None:
        """The state at which a formula that looks ahead cannot be satisfied any more, without the edit of a clause."""
        own = self.solution.sites[i]
        pairs = zip(self.solution.sites, self.solution.proposal.edits, strict=True)
        edits: dict[int, list[Edit]] = {}
        for site, edit in pairs:
            if site is not own and site.rule is not None and edit is not None:
                edits.setdefault(site.rule.number, []).append(edit)
        history = self.world.history if own.kind == "missing" else self.history
        program = CheckedProgram(self.world.edited(edits), folders=self.asked.program.folders)
        adjusted = program.adjusted(zone=self.asked.given.zone, facts=self.asked.program.facts).noticing()
        never = detect(adjusted, history, ended=self.world.ended, progress=False).never
        rows = [] if never is None else never.to_pylist()
        known = [(n, node.values[of]) for n, of in whole.keys.items() if of in node.values]
        times = [ticks_of(r["time"]) for r in rows
                 if r["type"] == whole.name and all(r.get(n) == v for n, v in known)]  # fmt: skip
        return min((t for t in times if t is not None), default=None)

    def _dropped(self) -> dict[int, str]:
        """Of pipes: the operators of the flow between which the item was lost, at the first clause that is in one."""
        for i, site in enumerate(self.solution.sites):
            rule = site.rule
            if rule is None or rule.clauses.boxes is None or site.kind == "missing":
                continue
            boxes = rule.clauses.boxes(site.clause.start)
            texts = self.world.edited({}), list(self.texts)
            splices = [s for e in self.edits.get(rule.number, ()) for s in e.splices]
            names = [f"{rule.defines}__box_{k}" for k in range(len(boxes))]
            for given, changes in zip(texts, ((), splices), strict=True):
                written = [b.written(n, changes) for b, n in zip(boxes, names, strict=True)]
                language = self.world.texts[rule.text][2]
                given += ((text, n, language) for text, n in zip(written, names, strict=True))
            before, after = (self._detected(t, names) for t in texts)
            about = [n.label for n in self.tree.walk() if n.role == "about"]
            passed: Box | None = None
            for box, name in zip(boxes, names, strict=True):
                items = [r for r in after.get(name, ()) if _about(r) in about]
                lost = items and not any(_item(r) in map(_item, before.get(name, ())) for r in items)
                if lost and passed is not None:
                    return {i: f"; the item passed `{passed.text}` and was dropped by `{box.text}`"}
                if lost:
                    break
                passed = box if items else passed
        return {}

    def _detected(self, texts: Sequence[Given], names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """The rows of some definitions; nothing if they cannot stand alone."""
        try:
            program = CheckedProgram(texts, folders=self.asked.program.folders)
            program = program.adjusted(zone=self.asked.given.zone, facts=self.asked.program.facts).reasoning()
            found = detect(program, self.history, ended=self.world.ended, because=True, progress=False)
        except OccursError:
            return {}
        return {n: found.arrow(n).to_pylist() for n in names}

    def _threshold(self, site: Site, shown: Any, node: Any, row: RowNode | None) -> Any:
        c = site.clause
        read = self._read(site, node)
        if read is not None:
            state, seen = read
            found = value_text(seen.value)
            if c.detail.get("duration"):
                found = length(int(_plain(seen.value)), self.kind)
            if state.label is not None:
                self.bad.add(state.label)
            path = f"{' '.join(seen.path)}: " if seen.path else ""
            at = when(state.time, self.kind)
            return state, found, c.needed, f"{path}{c.subject} = {found} at {at}, needed {c.needed}"
        found = self._value(site, shown, row)
        edit = self._edit(site)
        if self._reads_states(site, row):
            # the state at which it does not hold is not among those of the derivation
            if edit is None or len(edit.splices) != 2:
                return None, "false", c.needed, f"{' '.join(c.text.split())} does not hold at every state"
            found, row = edit.splices[1].text, None
        elif found in ("?", "null") and edit is not None and len(edit.splices) == 2:
            found = edit.splices[1].text  # the constant moved to the value that the expression has
        at = "" if row is None else f" at {when(row.time, self.kind)}"
        return row, found, c.needed, f"{c.subject} = {found}{at}, needed {c.needed}"

    def _edit(self, site: Site) -> Edit | None:
        """The edit of a clause in this reason."""
        pairs = zip(self.solution.sites, self.solution.proposal.edits, strict=True)
        return next(e for s, e in pairs if s is site)

    def _equality(self, site: Site, shown: Any, node: Any, row: RowNode | None) -> Any:
        c = site.clause
        at = "" if row is None else f" at {when(row.time, self.kind)}"
        if shown is not None and c.value is not None:
            found, wanted = self._value(site, shown, row), value_text(shown.get("occurs_wanted"))
        elif row is not None and c.detail.get("own") is not None:
            found = self._value(site, shown, row)
            wanted = c.detail.get("other_text") or value_text(self._elsewhere(c.detail.get("other"), node))
        else:
            return row, "false", c.text, f"{c.text} does not hold{at}"
        needed = f"{c.needed} {wanted}"
        return row, found, needed, f"{c.subject} = {found}{at}, needed {needed}"

    def _window(self, site: Site, shown: Any, node: RowNode | None, row: RowNode | None) -> Any:
        c = site.clause
        ref = None if node is None else next((p for p in node.children if p.role == c.reference), None)
        if "exact" in c.detail:
            return self._guarded(site, node, row)
        ticks = None if shown is None else shown.get("occurs_value")
        if ticks is None and row is not None and ref is not None:
            ticks = ref.time - row.time
        if c.detail.get("length"):
            return self._long(site, node)
        found = "?" if ticks is None else length(int(_plain(ticks)), self.kind)
        message = f"{self.at(row)} is {found} before {self.at(ref)}, needed {c.needed}"
        if c.detail.get("message"):
            message = c.detail["message"](found)
        return row, found, c.needed, message

    def _guarded(self, site: Site, node: RowNode | None, row: RowNode | None) -> Any:
        """A window that a repair lengthens to a difference of times exactly."""
        c, edit = site.clause, self._edit(site)
        assert edit is not None
        ticks = int(c.detail["exact"] + edit.shift)
        found = length(ticks, self.kind)
        rows = [] if node is None else [*(p for p in node.children if is_row(p)), node]
        rows.sort(key=lambda p: not p.values and p.type == "state")  # an activation says less than its state
        pairs = ((p, q) for p in rows for q in rows if p is not node and q.time - p.time == ticks)
        first, late = next(pairs, (None, row or node))
        if first is not None:
            message = f"{self._event(first)} is {found} before {self._event(late)}, needed {c.needed}"
            return first, found, c.needed, message
        began = "?" if late is None else when(late.time - ticks, self.kind)
        return late, found, c.needed, f"{self._event(late)} is {found} after {began}, needed {c.needed}"

    def _event(self, node: RowNode | None) -> str:
        """A row with its time; a state by the event of it."""
        if node is not None and node.type == "state":
            events = [n for n, v in node.values.items() if isinstance(v, list) and v]
            return f"{events[0] if events else node.type} at {when(node.time, self.kind)}"
        return self.at(node)

    def _long(self, site: Site, node: RowNode | None) -> Any:
        """A length of an interval that a filter does not let through."""
        c = site.clause
        rows = [] if node is None else [node, *(p for p in node.walk() if p is not node)]
        row = next((p for p in rows if p.end is not None and c.moved is not None and c.moved(p.end - p.time)), None)
        if row is None or row.end is None:
            return node, "?", c.needed, f"{self.at(node)}: needed {c.needed}"
        found = length(row.end - row.time, self.kind)
        return row, found, c.needed, f"{self.at(row)} is {found} long, needed {c.needed}"

    def _count(self, site: Site, shown: Any, node: Any, row: RowNode | None) -> Any:
        c = site.clause
        edit = self._edit(site)
        if "of" in c.detail:
            return self._repeated(site, node)
        number = re.search(r"\d+", edit.repair) if edit is not None else None
        wanted = re.search(r"\d+", c.text)
        found, needed = (number[0] if number else "0"), (wanted[0] if wanted else c.text)
        if "form" in c.detail:
            message = f"{c.detail['form']} {needed} drops the item; {c.detail['form']} {found} does not"
            return row or node, found, needed, message
        return row or node, found, needed, f"{found} of {needed} {c.subject}".strip()

    def _repeated(self, site: Site, node: RowNode | None) -> Any:
        """How many rows a quantifier met."""
        of, low, high = (site.clause.detail[n] for n in ("of", "low", "high"))
        rows = [] if node is None else [p for p in node.children if _role(p, of)]
        few = len(rows) < low
        bound = low if few else high
        at = node if not rows else rows[-1]
        if not site.clause.role:
            return at, site.clause.text, site.clause.needed, f"`{of}` is not there {site.clause.text} times"
        wanted = f"at least {low}" if few else f"at most {high}"
        many = f"{len(rows)} row{'s are' if len(rows) != 1 else ' is'} {of}"
        return at, str(len(rows)), str(bound), f"{many}, needed {wanted}"

    def _absence(self, site: Site, shown: Any, node: RowNode | None, row: Any) -> Any:
        c = site.clause
        blocker = self._evidence(site, shown) or self._in_between(site, node)
        if blocker is None and c.needed == "false":  # a premise
            times = {p.time for p in node.children if is_row(p)} if node is not None else set()
            at = f" at {when(min(times), self.kind)}" if len(times) == 1 else ""
            return None, "true", c.needed, f"{c.text} holds{at}, needed {c.needed}"
        if blocker is None:
            return None, "false" if c.type is None else c.type, c.needed or "none", f"{c.text} does not hold"
        self.failed.append(blocker)
        interval = c.detail.get("interval")
        message = f"{self.at(blocker)} was there; none is allowed"
        if interval and node is not None:
            parts = {p.role: p for p in node.children}
            if interval[0] in parts and interval[1] in parts:
                early, late = parts[interval[0]], parts[interval[1]]
                message = f"{self.at(blocker)} lies between {self.at(early)} and {self.at(late)}"
            elif interval[1] in parts:
                message = f"{self.at(blocker)} is within {interval[0]} before {self.at(parts[interval[1]])}"
        return blocker, self.at(blocker), "none", message

    def _in_between(self, site: Site, node: RowNode | None) -> RowNode | None:
        """The earliest row of a negated type during the derivation, of those with the values of its attributes."""
        type = site.clause.type
        if type is None or node is None:
            return None
        times = [p.time for p in node.children if is_row(p)]
        first = min([node.time, *times])
        last = _last(node.time, node.end, lasting=node.lasting)
        if type in self.world.defined:
            rows = [self.trees.of_row(type, r) for r in self.trees.rows(type).values()]
        else:
            table = self.history.tables.get(type)
            special = ("time", "end", "sequence", "label")
            rows = [
                RowNode(None, type, r["time"], r.get("end"), r.get("label"),
                        {n: v for n, v in r.items() if n not in special}, lasting="end" in r)
                for r in ([] if table is None else table.to_pylist())
            ]  # fmt: skip
        shared = [
            r for r in rows
            if r.time <= last and first <= _last(r.time, r.end, lasting=r.lasting)
            and all(node.values.get(n, v) == v for n, v in r.values.items())
        ]  # fmt: skip
        return min(shared, key=lambda r: r.time, default=None)

    def _choice(self, site: Site, shown: Any, node: RowNode | None, row: RowNode | None) -> Any:
        c = site.clause
        if "consumes" in c.detail:
            return self._consumed(site, node)
        if "gap" in c.detail:
            return self._too_soon(site, node)
        if c.detail.get("suppresses"):
            return self._suppressed(site, node)
        chosen = self._evidence(site, shown)
        if chosen is None:
            return self._instead(site, node, row)
        self.failed.append(chosen)
        policy = c.detail.get("policy", c.text)
        message = f"{self.at(row)} is not the {policy}: {self.at(chosen)} is"
        return row, self.at(chosen), self.at(row), message

    def _instead(self, site: Site, node: RowNode | None, row: RowNode | None) -> Any:
        """The detection that the rule made instead: one with a row in common, else the latest one before."""
        c = site.clause
        plain = c.detail.get("message", f"`{c.text}` does not choose {self.at(row or node)}")
        if node is None or site.rule is None:
            return row, "", c.needed, plain
        own = {p.label: p for p in node.children if p.label is not None}
        rows = [(ticks_of(r["time"]), r) for r in self._earlier(site)]
        for time, found in rows:
            shared = next((p["label"] for p in found["because"] if p["label"] in own), None)
            if shared is not None:
                other = f"{site.rule.defines} at {when(time, self.kind)}"
                self.bad.add(shared)
                return own[shared], other, self.at(node), f"{self.at(own[shared])} belongs to {other}: {plain}"
        before = [time for time, _ in rows if time is not None and time <= node.time]
        if before:
            other = f"{site.rule.defines} at {when(max(before), self.kind)}"
            return row or node, other, self.at(node), f"{other} was detected instead: {plain}"
        return row or node, "", c.needed, plain

    def _earlier(self, site: Site) -> list[Mapping[str, Any]]:
        """What the rule detected before the repair."""
        rule = site.rule
        return [] if rule is None else list(self.asked.before.arrow(rule.defines).to_pylist())

    def _too_soon(self, site: Site, node: RowNode | None) -> Any:
        """A trigger that fired a short time before."""
        gap = site.clause.detail["gap"]
        times = [ticks_of(r["time"]) for r in self._earlier(site)]
        if node is not None:
            near = [t for t in times if t is not None and node.time - gap < t <= node.time]
            if near:
                at = when(max(near), self.kind)
                return node, f"fired at {at}", "the row", f"fired at {at}, within {length(gap, self.kind)}"
        return node, "", "the row", f"fired before, within {length(gap, self.kind)}"

    def _suppressed(self, site: Site, node: RowNode | None) -> Any:
        """A match that shares a row with another of its instant."""
        if node is not None and site.rule is not None:
            own = {p.label: p for p in node.children if p.label is not None}
            for row in self._earlier(site):
                shared = next((p["label"] for p in row["because"] if p["label"] in own), None)
                if shared is not None and ticks_of(row["time"]) == node.time:
                    other = f"{site.rule.defines} at {when(node.time, self.kind)}"
                    message = f"suppressed: it shares {self.at(own[shared])} with {other}"
                    return own[shared], other, self.at(node), message
        return node, "", "", "suppressed: it shares a row with another match"

    def _consumed(self, site: Site, node: RowNode | None) -> Any:
        rule = site.rule
        if node is not None and rule is not None:
            roles = set(site.clause.detail["consumes"])
            own = {p.label: p for p in node.children if p.role in roles}
            for earlier in self.asked.before.arrow(rule.defines).to_pylist():
                time = ticks_of(earlier["time"])
                for part in earlier["because"]:
                    if part["label"] in own and part["role"] in roles and time is not None and time < node.time:
                        row = own[part["label"]]
                        self.bad.add(row.label)
                        by = f"{rule.defines} at {when(time, self.kind)}"
                        return row, by, self.at(row), f"{self.at(row)} was consumed by {by}"
        return None, "", "", "its rows were consumed before"

    def _restart(self, site: Site, shown: Any, node: RowNode | None, row: Any) -> Any:
        c = site.clause
        message = c.detail.get("message", "the search was not begun again")
        first = node.children[0] if node is not None and node.children else None
        since = self._busy(site, first)
        if since is not None and first is not None:
            what = "still open" if c.detail.get("busy") else "over"
            began = when(since, self.kind)
            message = f"the search of {began} was {what} at {when(first.time, self.kind)}"
            return first, began, "a new search", message
        return first, "", "a new search", message

    def _busy(self, site: Site, first: RowNode | None) -> int | None:
        """The time of the earliest row with which a search may have begun before."""
        if first is None:
            return None
        table = self.history.tables.get(first.type)
        times = [] if table is None else [t for t in table["time"].to_pylist() if t <= first.time]
        earlier = [t for t in times if t < first.time]
        return min(earlier, default=None)

    def _relation(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        c = site.clause
        edit = self._edit(site)
        found = edit.repair if edit is not None else "?"
        parts = [] if node is None else node.children
        sides = [next((p for p in parts if name in (p.type, p.role)), None) for name in c.detail.get("sides", ())]
        left, right = (self._interval(p) for p in sides) if len(sides) == 2 else ("?", "?")
        return node, found, c.text, f"{left} is {found} {right}, needed {c.text}"

    def _interval(self, node: RowNode | None) -> str:
        """``open [3, 9]``, or ``cold at 12``."""
        if node is None:
            return "?"
        if node.end is None and not node.lasting:
            return self.at(node)
        return f"{node.type} [{when(node.time, self.kind)}, {when(node.end, self.kind)}]"

    def _missing(self, site: Site, shown: Any, node: RowNode | None, row: Any) -> Any:
        c = site.clause
        assert self.row is not None
        time = self._row_time("time")
        own = next((n for n in self.tree.walk() if n.type == c.type and n.time == time and not n.derived), None)
        made = RowNode(c.role, str(c.type), time, self._row_time("end"), None if own is None else own.label,
                       {n: v for n, v in self.row.items() if n not in ("type", "time", "end")})  # fmt: skip
        tests = []
        for k, (text, other) in enumerate(c.detail.get("tests", ())):
            if other is None:
                tests.append(self._bound(text, c.role, node))
            elif shown is not None and f"occurs_test_{k}" in shown:
                tests.append(f"{text} = {value_text(shown[f'occurs_test_{k}'])}")
        first, last = self._region(site, node)
        table = self.history.tables.get(str(c.type))
        times = [] if table is None else table["time"].to_pylist()
        others = sum(first <= t <= last for t in times) - (first <= time <= last)
        needed = ", ".join(tests)
        what = f"no {c.type}" + (f" with {needed}" if needed else "")
        span = (
            f"from {when(first, self.kind)} to {when(last, self.kind)}"
            if first != last
            else f"at {when(first, self.kind)}"
        )
        message = f"{what} {span}; {others} other{'s were' if others != 1 else ' was'} looked at"
        return made, f"0 of {others} row{'s' if others != 1 else ''}", needed or str(c.type), message

    def _bound(self, text: str, role: str | None, node: RowNode | None) -> str:
        """A condition of a language without values of its own: attributes of bound rows (``l.user``) as values."""
        rows = {p.role: p.values for p in (() if node is None else node.children) if p.role not in (None, role)}

        def value(found: re.Match[str]) -> str:
            values = rows.get(found[1])
            return found[0] if values is None or found[2] not in values else value_text(values[found[2]])

        return re.sub(r"(?<![\w.\"'])(\w+)\.(\w+)\b(?![\"'(])", value, text)

    def _row_time(self, name: str) -> Any:
        value = None if self.row is None else self.row.get(name)
        if isinstance(value, str):
            return int(pa.scalar(value).cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).as_py())
        return value

    def _region(self, site: Site, node: RowNode | None) -> tuple[int, int]:
        """The times between which a missing row would have been looked for."""
        c = site.clause
        ref = None if node is None else next((p for p in node.children if p.role == c.reference), None)
        limit = next(
            (o.clause.detail["limit"] for o in self.world.sites if o.rule is site.rule and o.kind == "window"
             and o.clause.role == c.role and "limit" in o.clause.detail), None,
        )  # fmt: skip
        if ref is not None and limit is not None:
            return ref.time - limit, ref.time
        question = self.asked.question
        first, last = question.first, question.last
        time = self._row_time("time")
        return min(first, time), max(last, time)

    def _late(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        values = site.clause.detail["row"].to_pylist()[0]
        made = RowNode(None, str(site.clause.type), values["time"], values.get("end"), None,
                       {n: v for n, v in values.items() if n not in ("time", "end", "sequence", "label")})  # fmt: skip
        self.failed.append(made)
        return made, "late", "in time", f"{self.at(made)} came late and was dropped"

    def _outside(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        used = {(n.time, n.type) for n in self.tree.walk()}
        rows = site.clause.detail["rows"]
        at, type = next((r for r in rows if r in used), rows[0])
        made = next(
            (n for n in self.tree.walk() if (n.time, n.type) == (at, type)), RowNode(None, type, at, None, None, {})
        )
        self.bad.add(made.label)
        clock = self.asked.sliced.history.clock
        where = "after --until" if clock is not None and at > clock[1] else "before --start"
        return made, "outside", "inside", f"{self.at(made)} lies {where}"

    def _pending(self, site: Site, shown: Any, node: Any, row: Any) -> Any:
        tree = self.tree
        message = f"{tree.type} holds since {when(tree.time, self.kind)}, its end is not known yet"
        return tree, "open", "ended", message

    def _evidence(self, site: Site, shown: Mapping[str, Any] | None) -> RowNode | None:
        """The row that a clause's evidence binds."""
        if shown is None or site.clause.evidence is None:
            return None
        role = site.clause.evidence.role
        part = next((p for p in shown["because"] if p["role"] == role), None)
        return None if part is None else self.trees.of_part(part)

    # -- the witness -------------------------------------------------------------------------------------------------
    def witness(self) -> list[Witness]:
        """The rows of the detection, its derived rows with their own, then the rows at which clauses failed."""
        out: list[Witness] = []
        added = self._row_time("time")

        def put(node: RowNode, parent: int | None) -> None:
            invented = (
                self.row is not None and not node.derived and node.type == self.row["type"] and node.time == added
                and all(self.row.get(n) == _plain(v) or n not in self.row for n, v in node.values.items())
            )  # fmt: skip
            ok = node.label is None or node.label not in self.bad
            out.append(
                Witness(node.role, node.type, node.time, node.end, node.label, node.values, ok, parent, invented)
            )
            at = len(out) - 1
            for child in node.children:
                if is_row(child):
                    put(child, at)

        for child in self.tree.children:
            if is_row(child):
                put(child, None)
        if self.row is not None and not any(w.added for w in out):  # it only makes room for the others
            values = {n: v for n, v in self.row.items() if n not in ("type", "time", "end")}
            out.append(Witness(None, self.row["type"], added, self._row_time("end"), None, values, True, None, True))
        known = {w.label for w in out}
        for node in self.failed:
            if node.label is None or node.label not in known:
                out.append(Witness(None, node.type, node.time, node.end, node.label, node.values, False, None))
        return out

    def windows(self) -> list[tuple[str, int, int]]:
        """The windows of the top rule as (role, first, last tick)."""
        out = []
        parts = {p.role: p for p in self.tree.children}
        for site in self.world.sites:
            c = site.clause
            if site.rule is None or site.rule.defines != self.tree.type:
                continue
            if site.kind == "window" and c.reference in parts and "limit" in c.detail:
                ref = parts[c.reference]
                out.append((f"{c.role} {c.needed}", ref.time - c.detail["limit"], ref.time))
        return out

    def repair_line(self, clauses: Sequence[Clause]) -> str:
        """One sentence that says the repair."""
        parts = []
        for site, edit, c in zip(self.solution.sites, self.solution.proposal.edits, clauses, strict=True):
            if site.kind == "missing" and self.row is not None:
                values = values_text((n, v) for n, v in self.row.items() if n not in ("type", "time"))
                made = f"{self.row['type']} at {self.row['time']}" + (f" ({values})" if values else "")
                parts.append(f"with one more row: {made}")
            elif site.rule is None:
                parts.append({"late": "if the late row is let in", "outside": "if the rows outside are let in",
                              "pending": "if the input ends here"}[site.kind])  # fmt: skip
            elif edit is not None and edit.repair:
                place = [(s.start, s.stop) for s in edit.splices] == [(site.clause.start, site.clause.stop)]
                changed = place or site.kind in ("threshold", "equality", "window", "count", "relation")
                instead = f" in place of `{' '.join(site.clause.text.split())}`" if changed else ""
                parts.append(f"with `{edit.repair}`{instead} in line {c.line}")
            elif _alone(self.world.texts[site.rule.text][0], edit):
                parts.append(f"if line {c.line} is left out")
            else:
                parts.append(f"without `{site.clause.text}` in line {c.line}")
        return "it is found " + " and ".join(parts)


def _last(time: int, end: int | None, *, lasting: bool) -> float:
    """The last instant of a row, which an open interval does not have."""
    return end if end is not None else math.inf if lasting else time


def _alone(text: str, edit: Edit | None) -> bool:
    """Whether what an edit removes fills its line."""
    splice: Splice | None = edit.splices[0] if edit is not None and len(edit.splices) == 1 else None
    if splice is None or splice.text.strip():
        return False
    before = text[text.rfind("\n", 0, splice.start) + 1 : splice.start]
    end = text.find("\n", splice.stop)
    return (
        not before.strip()
        and not text[splice.stop : len(text) if end < 0 else end].strip()
        and ("\n" not in text[splice.start : splice.stop].strip())
    )


def _about(row: Mapping[str, Any]) -> str | None:
    """The label of the item that a row of a pipe is about."""
    return next((p["label"] for p in row["because"] if p["role"] == "about"), None)


def _item(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A row of a pipe without what depends on its definition."""
    values = tuple((n, repr(v)) for n, v in row.items() if n not in ("type", "label", "because"))
    return _about(row), values


def _role(node: RowNode, role: str | None) -> bool:
    """Whether a row has a role, perhaps as one of several."""
    return role is not None and (node.role == role or str(node.role).startswith((f"{role}[", f"{role}(")))


def _get(values: Mapping[str, Any], name: str) -> Any:
    """A value of a row; ``E.v`` of a state: of its last event of type ``E``."""
    if name in values or "." not in name:
        return values.get(name)
    of, attribute = name.split(".", 1)
    inner = values.get(of)
    inner = inner[-1] if isinstance(inner, list) and inner else inner
    return inner.get(attribute) if isinstance(inner, dict) else None


def _plain(value: Any) -> Any:
    """Durations and times as ticks."""
    if hasattr(value, "total_seconds"):
        return int(value.total_seconds() * 1_000_000)
    return ticks_of(value) if hasattr(value, "isoformat") else value
