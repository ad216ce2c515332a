"""The search for reasons: minimal sets of clauses of which some repair works (why.md, sections 4 and 11)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import combinations, groupby, islice, product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.explain.cutting import BACKWARD
from occurs.explain.domain import Domain, domain
from occurs.explain.question import Question, distinct, plain
from occurs.explain.values import tables_of, values_of
from occurs.explain.world import Outcome, Probe, Rule, Site, Variant, World
from occurs.languages.kit.clauses import DROPPED, VALUE, WEIGHTS, Clause, Edit, Reading, RuleClauses

#: what a relaxation does to the rows of a type: rows come that are made of what it lets in, rows go, other rows come
MORE, LESS, OTHER = "more", "less", "other"
#: variants of one run, and rows of their inputs that are copied for it
BATCH, COPIED = 400, 2_000_000
#: rows that a loosest program makes of several added rows, and how many such programs are one run
COMBINED_ROWS, AT_ONCE = 50_000, 40
#: histories of fewer rows are not cut further
SMALL = 500
#: the loosest program of a set is run if it detects at most about so many rows
BINDINGS = 200_000
#: so many combinations of values are evaluated at most for a comparison
COMBINED = 100_000


@dataclass(frozen=True)
class Proposal:
    """A repair: an edit per clause of a set (None: of the input), and the row that is added."""

    edits: tuple[Edit | None, ...]
    row: int | None = None

    @property
    def order(self) -> tuple[tuple[Any, ...], int]:
        """Its place among the repairs of a set."""
        return tuple(0 if e is None else e.shift for e in self.edits), -1 if self.row is None else self.row


@dataclass(frozen=True)
class Solution:
    """A set of clauses and the repair that works."""

    sites: tuple[Site, ...]
    proposal: Proposal
    domain: Domain | None = None

    @property
    def cost(self) -> int:
        """How many clauses it relaxes."""
        return len(self.sites)

    @property
    def order(self) -> tuple[Any, ...]:
        """Its place among all reasons."""
        weight = sum(WEIGHTS[s.kind] for s in self.sites)
        return self.cost, weight, tuple(s.place for s in self.sites)


#: a set, what its loosest program detects (None: it is refused), and the part of the rows that may be added for it
Covered = tuple[tuple[Site, ...], Outcome | None, slice]


@dataclass
class Found:
    """What a search has found; ``complete``: nothing was left untried."""

    solutions: list[Solution] = field(default_factory=list)
    complete: bool = True
    notes: list[str] = field(default_factory=list)


class Search:
    """A search over the sets of ``sites``.

    ``world_of``: the world in which clauses of the input are relaxed, such as one in which the input has ended.
    """

    def __init__(
        self, world: World, question: Question, sites: Sequence[Site], *, edits: int, limit: int, max_variants: int,
        world_of: Any,
    ) -> None:  # fmt: skip
        self.world, self.question, self.sites = world, question, sites
        self.edits, self.limit, self.max_variants, self._world_of = edits, limit, max_variants, world_of
        self.domains: dict[tuple[str, frozenset[str], bool], Domain] = {}
        self.found = Found()
        self.cone = {r.number for r in world.cone}
        self.top = {r.number for r in world.makers(question.type)}
        # rules that feed themselves make far too many rows when all their clauses are dropped
        self.covered = all(r.clauses.loosened is not None for r in world.cone) and not world.recursive
        self.bounded = self.covered and all(r.clauses.probed is not None for r in world.cone)
        self.opaque = frozenset(n for r in world.makers(question.type) for n in r.clauses.opaque)
        self.dim = any(r.clauses.opaque for r in world.cone if r.number not in self.top)
        self.used = 0
        #: whether rows after the asked time decide nothing
        self.backward = {r.language for r in world.closure} <= BACKWARD
        self.met: dict[int, list[Any] | None] = {}
        self.evaluated: dict[tuple[int, ...], list[Any] | None] = {}
        self.keyed: dict[int, Candidates] = {}

    def world_of(self, sites: Sequence[Site]) -> World:
        """The world in which a set is relaxed; if no window is lengthened, without the rows that lie before all."""
        if any(s.kind in ("outside", "pending") for s in sites):
            return self._world_of(sites)
        if any(s.kind == "window" for s in sites):
            return self.anchored
        return self.near or self.anchored

    @cached_property
    def anchors(self) -> frozenset[str]:
        """The types of which only rows at the asked time can matter."""
        reading = [r for r in self.world.closure if r.number not in self.top]
        found = frozenset.intersection(*(r.clauses.anchors for r in map(self.world.rules.__getitem__, self.top)))
        return found - self.world.defined - {t for r in reading for t in r.clauses.reads}

    @cached_property
    def anchored(self) -> World:
        """The world with only those rows of :attr:`anchors` that can matter."""
        tables = self.world.history.tables
        if not self.anchors or sum(map(len, tables.values())) < SMALL:
            return self.world
        first, last = (pa.scalar(t, pa.int64()) for t in (self.question.first, self.question.last))
        kept = dict(tables)
        for t in self.anchors & tables.keys():
            time = tables[t]["time"]
            kept[t] = tables[t].filter(pc.and_(pc.greater_equal(time, first), pc.less_equal(time, last)))
        return self._with(kept)

    def _with(self, tables: Mapping[str, pa.Table]) -> World:
        w = self.world
        history = replace(w.history, tables=tables)
        return World(w.program, history, w.type, zone=w.zone, ended=w.ended, fixed_clock=w.fixed_clock)

    @cached_property
    def near(self) -> World | None:
        """The rows that can matter while windows stay as they are; None if these are most rows."""
        within = self._near(self.question.type) if self.bounded else None
        tables = self.anchored.history.tables
        if within is None or sum(map(len, tables.values())) < SMALL:
            return None
        first = pa.scalar(max(within[0] - 1, -(2**63)), pa.int64())
        near = {}
        for t, table in tables.items():
            if "end" in table.column_names:
                near[t] = table
            else:
                near[t] = table.filter(pc.greater_equal(table["time"], first))
        if 2 * sum(map(len, near.values())) > sum(map(len, tables.values())):
            return None
        return self._with(near)

    # -- the sets ----------------------------------------------------------------------------------------------------
    def run(self, verified: Callable[[Solution], bool]) -> Found:
        """Search cost by cost; ``verified``: whether a repair works as a user runs it, asked in the order of reasons.

        A repair that does not is not counted, and the search is then not complete.
        """
        found = self.found
        for cost in range(1, self.edits + 1):
            if len(found.solutions) >= self.limit:
                break
            sets = list(self._sets(cost))
            solved = self._cost(sets)
            if solved is None:
                found.complete = False
                found.notes.append(
                    f"the search stopped after {self.max_variants} relaxed copies of the rules (max_variants): "
                    f"not all changes of {cost} clause{'s' * (cost > 1)} were tried"
                )
                break
            for solution in sorted(solved, key=lambda s: s.order):
                if len(found.solutions) == self.limit:
                    break
                if verified(solution):
                    found.solutions.append(solution)
                    continue
                found.complete = False
                texts = " and ".join(f"`{' '.join(s.clause.text.split())}`" for s in solution.sites)
                found.notes.append(
                    f"a change of {texts} is not shown: the changed rules do not detect the row when they run alone"
                )
        return found

    def _sets(self, cost: int) -> Iterator[tuple[Site, ...]]:
        before = [frozenset(id(s) for s in f.sites) for f in self.found.solutions]
        for chosen in combinations(self.sites, cost):
            adding = sum(s.kind == "missing" for s in chosen)
            if adding > 1 or (adding and cost > 1 and before):
                continue
            ids = {id(s) for s in chosen}
            if not any(b <= ids for b in before) and (self._ended or self._brings(chosen)):
                yield chosen

    def _brings(self, sites: Sequence[Site]) -> bool:
        """Whether a set brings rows."""
        return any(s.kind in ("missing", "late", "outside", "pending") for s in sites)

    @cached_property
    def completing(self) -> frozenset[tuple[str, int]] | None:
        """The types of the input whose rows may complete an asked row, each with how many ticks before; None: rows
        that other times complete may be asked for, too."""
        world = self.world
        if world.recursive:
            return None
        found: set[tuple[str, int]] = set()
        waiting = [(world.type, 0)]
        while waiting:
            type, lag = waiting.pop()
            if type not in world.defined:
                found.add((type, lag))
            elif type in world.given:
                return None
            for rule in world.makers(type):
                if rule.clauses.ends is None:
                    return None
                waiting += [(t, lag + more) for t, more in rule.clauses.ends]
        return frozenset(found)

    @cached_property
    def _ended(self) -> bool:
        """Whether a row of the input may complete an asked row."""
        if self.completing is None:
            return True
        for type, lag in self.completing:
            table = self.world.history.tables.get(type)
            if table is not None and "end" in table.column_names:
                return True
            first, last = (pa.scalar(t - lag, pa.int64()) for t in (self.question.first, self.question.last))
            time = pa.chunked_array([], pa.int64()) if table is None else table["time"].cast(pa.int64())
            if pc.any(pc.and_(pc.greater_equal(time, first), pc.less_equal(time, last))).as_py():
                return True
        return False

    def _possible(self, type: str, others: bool) -> Callable[[int], bool]:
        """Whether an added row of a type can matter at a time; ``others``: other rows may be added beside it."""
        completing, question = self.completing, self.question
        latest = self.question.last if self.backward else 2**63

        def possible(time: int) -> bool:
            if completing is None or others or self._ended:
                return time <= latest
            return any(t == type and question.first <= time + lag <= question.last for t, lag in completing)

        return possible

    def _cost(self, sets: Sequence[tuple[Site, ...]]) -> list[Solution] | None:
        """The sets that work; None if there are too many variants."""
        proposed: list[tuple[tuple[Site, ...], Iterator[Proposal]]] = []
        for part in _parts(sets, self._size):
            more = self._proposals(part)
            if more is None:
                return None
            proposed += more
        solved: dict[int, Solution] = {}
        width = 2
        waiting = dict(enumerate(proposed))
        while waiting:
            tries: list[tuple[int, Proposal]] = []
            for number, (_, proposals) in [*waiting.items()]:
                taken = list(islice(proposals, width))
                if not taken:
                    del waiting[number]
                tries += [(number, p) for p in taken]
            for part in _parts(tries, lambda t: self._size(proposed[t[0]][0])):
                part = [t for t in part if t[0] not in solved]
                if not self._may(len(part)):
                    return None
                for (number, proposal), works in zip(part, self._test([(proposed[n][0], p) for n, p in part])):
                    if works and number not in solved:
                        sites = proposed[number][0]
                        solved[number] = Solution(sites, proposal, self._domain_of(sites))
                        waiting.pop(number, None)
            width = min(width * 4, BATCH)
        least: dict[tuple[int, ...], Solution] = {}
        for solution in solved.values():
            key = tuple(map(id, solution.sites))
            other = least.setdefault(key, solution)
            if solution.proposal.order < other.proposal.order:
                least[key] = solution
        return list(least.values())

    def _may(self, more: int) -> bool:
        self.used += more
        return self.used <= self.max_variants

    def _size(self, sites: Sequence[Site]) -> int:
        """Rows that a variant copies."""
        types = [s.clause.type for s in sites if s.kind in ("missing", "late")]
        return 1 + sum(len(self.world.history.tables.get(str(t), ())) for t in types)

    # -- trying ------------------------------------------------------------------------------------------------------
    def variant(self, sites: Sequence[Site], proposal: Proposal) -> Variant:
        """A repair as a variant."""
        edits: dict[int, tuple[Edit, ...]] = {}
        added: dict[str, pa.Table] = {}
        for site, edit in zip(sites, proposal.edits, strict=True):
            if site.rule is not None and edit is not None:
                edits[site.rule.number] = (*edits.get(site.rule.number, ()), edit)
            elif site.kind == "late":
                row = site.clause.detail["row"]
                before = added.get(str(site.clause.type))
                added[str(site.clause.type)] = (
                    row if before is None else pa.concat_tables([before, row], promote_options="permissive")
                )
        where = self._domain_of(sites)
        if where is not None and proposal.row is not None:
            row = where.row(proposal.row)
            before = added.get(where.type)
            added[where.type] = row if before is None else pa.concat_tables([before, row], promote_options="permissive")
        return Variant(edits, added)

    def _test(self, tries: Sequence[tuple[Sequence[Site], Proposal]]) -> list[bool]:
        out = [False] * len(tries)
        worlds: dict[int, tuple[World, list[int]]] = {}
        for i, (sites, _) in enumerate(tries):
            world = self.world_of(sites)
            worlds.setdefault(id(world), (world, []))[1].append(i)
        for world, numbers in worlds.values():
            found = world.run([self.variant(*tries[i]) for i in numbers])
            for i, outcome in zip(numbers, found, strict=True):
                out[i] = outcome is not None and len(outcome.fitting(self.question, plain=True)) > 0
        return out

    def _domain_of(self, sites: Sequence[Site]) -> Domain | None:
        type = next((s.clause.type for s in sites if s.kind == "missing"), None)
        if type is None:
            return None
        of = [s.clause.detail.get("attribute_of") for s in sites if s.kind == "threshold"]
        moved = frozenset(name for t, name in filter(None, of) if t == type)
        others = any(s.kind in ("late", "outside", "pending") for s in sites)
        key = type, moved.intersection(self._compared.get(type, {})), others
        if key not in self.domains:
            alike = {n: test for n, test in self._compared.get(type, {}).items() if n not in moved}
            within = (self.question.first, self.question.last) if type in self.anchors else self._near(type)
            found = domain(
                self.world, self.question, type, within=within, alike=alike, possible=self._possible(type, others)
            )
            self.domains[key] = found
            if not found.whole:
                self.found.complete = False
                self.found.notes.append(f"only {len(found.table)} of the `{type}` rows that may be missing were tried")
        return self.domains[key]

    @cached_property
    def _compared(self) -> Mapping[str, Mapping[str, Callable[[Any], Any]]]:
        """Per type of the input the attributes that rules only compare with constants, each with a function that is
        equal for values which no rule tells from one another."""
        world = self.world
        texts = Counter(n for name in self.question.where for n in (name, *name.split(".")))
        read = {t for r in world.closure for t in r.clauses.reads}
        for rule in world.closure:
            if rule.clauses.uses is None:
                return {}
            texts.update(rule.clauses.uses.texts)
            for name, used in rule.clauses.uses.outputs.items():
                if rule.defines != world.type or world.type in read or name in self.question.where:
                    texts.update(used)
        tests: dict[tuple[str, str], list[Clause]] = {}
        for s in world.sites:
            of = s.clause.detail.get("attribute_of") if s.kind == "threshold" else None
            if of is not None and s.clause.moved is not None:
                tests.setdefault(of, []).append(s.clause)
        out: dict[str, dict[str, Callable[[Any], Any]]] = {}
        for type in world.inputs - world.defined:
            for name in world.columns.get(type, ()):
                if texts[name] == len(tests.get((type, name), ())):
                    out.setdefault(type, {})[name] = partial(_side, tests.get((type, name), ()))
        return out

    def _near(self, type: str) -> tuple[int, int] | None:
        """The times at which an added row can matter; None: all."""
        world = self.world
        if any(r.clauses.reach is None or r.clauses.consumes for r in world.closure):
            return None
        depth: dict[str, int] = {}

        def back(of: str, path: tuple[str, ...]) -> int:
            if of not in depth:
                rules = world.makers(of)
                if of in path:
                    return 2**62
                depth[of] = max(
                    (
                        (r.clauses.reach or 0) + max((back(t, (*path, of)) for t in r.clauses.reads), default=0)
                        for r in rules
                    ),
                    default=0,
                )
            return depth[of]

        return self.question.first - back(self.question.type, ()), self.question.last

    # -- proposals ---------------------------------------------------------------------------------------------------
    def _plain(self, sites: Sequence[Site]) -> bool:
        """Whether a larger shift than a binding needs, and a row that takes no part in it, cannot help."""
        world = self.world
        if not self.covered or self.dim or self.opaque or any(r.clauses.consumes for r in world.closure):
            return False
        return OTHER not in self._effects(sites).get(self.question.type, ())

    def _effects(self, sites: Sequence[Site]) -> dict[str, set[str]]:
        """What relaxing a set does to the rows of each type."""
        effects: dict[str, set[str]] = {}
        for s in sites:
            if s.rule is None or s.kind == "missing":
                if s.clause.type is not None:
                    effects.setdefault(s.clause.type, set()).add(MORE)
            else:
                chosen = {MORE, LESS} if s.rule.clauses.chooses else {MORE}
                effects.setdefault(s.rule.defines, set()).update(chosen)
        waiting = list(effects)
        while waiting:
            type = waiting.pop()
            for rule in self.world.closure:
                own = effects.setdefault(rule.defines, set())
                new = _effects(rule.clauses, type, effects[type]) - own
                if new:
                    own |= new
                    waiting.append(rule.defines)
        return {type: found for type, found in effects.items() if found}

    def _proposals(self, sets: Sequence[tuple[Site, ...]]) -> list[tuple[tuple[Site, ...], Iterator[Proposal]]] | None:
        """For every set that may work its repairs, the least shifts first; None if there are too many variants."""
        if not self.bounded:
            return self._unbounded(sets)
        covering = self._covering(sets)
        if covering is None:
            return None
        return [(s, self._every(s, outcome, part)) for s, outcome, part in covering]

    def _covering(self, sets: Sequence[tuple[Site, ...]]) -> list[Covered] | None:
        """The sets that may work, each with what the loosest program detects with a part of the rows that it may add.

        None for a program that the checks refuse: all has to be tried then.
        """
        out: list[Covered] = []
        own: dict[int, tuple[World, list[tuple[Site, ...]]]] = {}
        for s in sets:
            world = self.world_of(s)
            own.setdefault(id(world), (world, []))[1].append(s)
        for world, chosen in own.values():
            whole = [(s, part) for s in chosen for part in self._chunks(s)]
            if not self._may(len(whole)):
                return None
            for some in _parts(whole, lambda item: self._weight(*item)):
                outcomes = world.run([self._loosest(*item) for item in some], because=True)
                for (s, part), outcome in zip(some, outcomes, strict=True):
                    opaque = frozenset(self.question.where) if self.dim else self.opaque
                    if outcome is None or len(outcome.fitting(self.question, opaque, plain=True)):
                        out.append((s, outcome, part))
        return out

    def _weight(self, sites: Sequence[Site], part: slice) -> int:
        """What a loosest program counts for in a run, of :data:`COPIED`."""
        where = self._domain_of(sites)
        rows = 0 if where is None else len(range(*part.indices(len(where.table))))
        times = 1 if where is None else self._times_read(where.type)
        return 0 if times < 2 else rows**times * (COPIED // AT_ONCE) // COMBINED_ROWS

    def _chunks(self, sites: Sequence[Site]) -> list[slice]:
        """Parts of the rows that a set may add that are few enough to be added at once.

        Rules that read them several times bind them in all combinations, of which those of one row with itself count.
        """
        where = self._domain_of(sites)
        if where is None or self._times_read(where.type) < 2:
            return [slice(None)]
        size = max(1, int(COMBINED_ROWS ** (1 / self._times_read(where.type))))
        return [slice(at, at + size) for at in range(0, max(1, len(where.table)), size)]

    def _times_read(self, type: str) -> int:
        """How many rows of a type of the input one asked row is made of at most."""
        known: dict[str, int] = {type: 1}

        def read(of: str) -> int:
            if of not in known:
                known[of] = max(
                    (sum(read(str(c.type)) for c in r.clauses.clauses if c.kind == "missing")
                     for r in self.world.makers(of)), default=0,
                )  # fmt: skip
            return known[of]

        return read(self.world.type)

    def _unbounded(self, sets: Sequence[tuple[Site, ...]]) -> list[tuple[tuple[Site, ...], Iterator[Proposal]]] | None:
        """As :meth:`_proposals`, where no program lets everything through that some repair lets through, or it does not
        show what clauses met."""
        outcomes: dict[int, Outcome | None] = {}
        if self.covered:
            small = [c for c in sets if self._bindings(c) <= BINDINGS]
            covering = self._covering(small)
            if covering is None:
                return None
            outcomes = {id(c): outcome for c, outcome, _ in covering}
            left_out = {id(c) for c in small} - outcomes.keys()
            sets = [c for c in sets if id(c) not in left_out]
        alone = {id(s): s for chosen in sets for s in chosen if s.clause.moved is not None and id(s) not in self.met}
        if not self._may(sum(map(self._depends, alone.values()))):
            return None
        for s, values in zip(alone.values(), self._values([(s,) for s in alone.values()]), strict=True):
            self.met[id(s)] = values[0]
        # what a rule makes of the others' edits, and what an added row has, are further values
        further = [
            c for c in sets
            if len(c) > 1 and any(self._moves(s) for s in c)
            and any(self._depends(s) or s.kind in ("missing", "late") for s in c)
        ]  # fmt: skip
        if not self._may(sum(any(map(self._depends, c)) for c in further)):
            return None
        more = {id(c): found for c, found in zip(further, self._values(further), strict=True)}
        out = []
        for chosen in sets:
            known = {}
            for i, s in enumerate(chosen):
                first = self.met.get(id(s))
                second = more[id(chosen)][i] if id(chosen) in more else first
                if first is not None or second is not None:
                    more_values = self._guessed(s) if self.world.recursive else ()
                    known[i] = sorted({*(first or ()), *(second or ()), *more_values})
                    if self.world.recursive and s.kind == "threshold" and not self._of_input(s):
                        self._unknown(s)
                if (first is None or second is None) and s.kind == "threshold" and s.clause.moved is not None:
                    self._unknown(s)
            out.append((chosen, self._every(chosen, outcomes.get(id(chosen)), known=known)))
        return out

    def _bindings(self, sites: Sequence[Site]) -> int:
        """How many rows the loosest program of a set may detect at most."""
        where = self._domain_of(sites)
        tables = self.world_of(sites).history.tables
        size = {t: len(table) for t, table in tables.items()}
        if where is not None:
            size[where.type] = size.get(where.type, 0) + len(where.table)
        for rule in self.world.cone:
            roles = [c.type for c in rule.clauses.clauses if c.kind == "missing"]
            size[rule.defines] = size.get(rule.defines, 0) + math.prod(size.get(str(t), 1) for t in roles)
        return max((size[r.defines] for r in self.world.cone), default=0)

    def _unknown(self, site: Site) -> None:
        """Note that the values of a comparison could not be had."""
        note = f"not all constants were tried in `{site.clause.text}`: the values that it compares are not known"
        self.found.complete = False
        if note not in self.found.notes:
            self.found.notes.append(note)

    def _derived(self, site: Site) -> bool:
        """Whether a comparison reads rows that rules make."""
        reading = site.clause.reading
        return reading is not None and any(s.type in self.world.defined for s in reading.sources.values())

    def _of_input(self, site: Site) -> bool:
        """Whether a comparison reads one attribute of the input, whose values are all known."""
        of = site.clause.detail.get("attribute_of")
        return of is not None and of[0] not in self.world.defined

    def _depends(self, site: Site) -> bool:
        """Whether it takes a run to know the values of a comparison."""
        return self._moves(site) and (self._probing(site) or self._derived(site))

    def _moves(self, site: Site) -> bool:
        """Whether a clause has values to move to that are not differences of times alone."""
        return site.clause.moved is not None and (site.kind == "threshold" or self._probing(site))

    def _probing(self, site: Site) -> bool:
        """Whether a copy of its rule shows the values of a clause."""
        c, rule = site.clause, site.rule
        return c.shown is not None or (c.value is not None and rule is not None and rule.clauses.probed is not None)

    def _values(self, sets: Sequence[tuple[Site, ...]]) -> list[list[list[Any] | None]]:
        """Per set, per clause, the values that its comparison meets with the other clauses dropped; None: not known."""
        variants = {
            n: self._without(c) for n, c in enumerate(sets) if any(self._depends(s) for s in c) and self._few(c)
        }
        outcomes = dict(zip(variants, self.world.run(list(variants.values())), strict=True))
        out: list[list[list[Any] | None]] = []
        for n, chosen in enumerate(sets):
            outcome, probes = outcomes.get(n), 0
            found: list[list[Any] | None] = []
            for s in chosen:
                if not self._moves(s):
                    found.append(None)
                elif self._probing(s):
                    found.append(None if outcome is None else _column(outcome.probe(probes)))
                    probes += 1
                elif self._derived(s) and outcome is None:
                    found.append(None)
                else:
                    found.append(self._evaluated(chosen, s, outcome))
            out.append([None if v is None else [x for x in v if x is not None and x == x] for v in found])
        return out

    def _few(self, sites: Sequence[Site]) -> bool:
        """Whether all rows that a set may add can be added at once."""
        where = self._domain_of(sites)
        return where is None or len(where.table) <= COPIED // BATCH

    def _evaluated(self, sites: Sequence[Site], site: Site, outcome: Outcome | None) -> list[Any] | None:
        """The values of a comparison over all rows that there are."""
        if site.clause.reading is None:
            return None
        key = (id(site), *(id(s) for s in sites if s.kind in ("missing", "late")))
        if key not in self.evaluated or outcome is not None:
            self.evaluated[key] = self._evaluate(sites, site.clause.reading, outcome)
        return self.evaluated[key]

    def _evaluate(self, sites: Sequence[Site], reading: Reading, outcome: Outcome | None) -> list[Any] | None:
        """The values of an expression over all rows that there are, also those that a set adds."""
        more: dict[str, list[pa.Table]] = {}
        for s in sites:
            if s.kind == "late":
                more.setdefault(str(s.clause.type), []).append(s.clause.detail["row"])
        where = self._domain_of(sites)
        if where is not None:
            more.setdefault(where.type, []).append(where.table)
        tables = tables_of(self.world_of(sites), outcome, more)
        return values_of(reading, tables, self.world.kind, most=COMBINED)

    def _without(self, sites: Sequence[Site]) -> Variant:
        """The program without the clauses of a set, with copies that show the values of some."""
        edits: dict[int, tuple[Edit, ...]] = {}
        for s in sites:
            edit = s.clause.loosest or s.clause.drop or s.clause.widest or next(iter(s.clause.others[-1:]), None)
            if s.rule is not None and edit is not None:
                edits[s.rule.number] = (*edits.get(s.rule.number, ()), edit)
        probes = []
        for s in sites:
            if s.rule is None or not self._moves(s) or not self._probing(s):
                continue
            own = edits.get(s.rule.number, ())
            if s.clause.shown is not None:
                own = (*(e for e in own if e is not s.clause.drop), s.clause.shown)
                probes.append(Probe(s.rule.number, own, {}))
            else:
                own = (*(e.edit for e in s.rule.clauses.loosened or ()), *own)
                probes.append(Probe(s.rule.number, own, {VALUE: str(s.clause.value)}))
        added = dict(self.variant(sites, Proposal((None,) * len(sites))).added)
        where = self._domain_of(sites)
        if where is not None:
            added[where.type] = where.table
        return Variant(edits, added, probes=tuple(probes))

    def _loosened(self, rule: Rule, sites: Sequence[Site], touched: Set[str]) -> tuple[Edit, ...]:
        """The edits of a rule that let through what it has when a set is relaxed, which touches rows of some types.

        The choice of a role whose own clauses and rows stay as they are is the same for the same rows of other roles.
        """
        roles = {s.clause.role for s in sites if s.rule is rule}
        loosened = rule.clauses.loosened or ()
        needed = (e for e in loosened if e.always or (e.role is not None and e.role in roles) or e.types & touched)
        return tuple(e.edit for e in needed)

    def _loosest(self, sites: Sequence[Site], part: slice) -> Variant:
        """The program that lets through whatever a repair of a set lets through, with the values of its clauses.

        ``part``: of the rows that it may add.
        """
        touched = self._effects(sites)
        edits = {r.number: self._loosened(r, sites, touched.keys()) for r in self.world.cone}
        if self.dim:
            for r in self.world.cone:
                drops = [c.drop for c in r.clauses.clauses if c.drop is not None]
                edits[r.number] = (*edits[r.number], *drops)
        for s in sites:
            if s.rule is not None:
                edit = s.clause.loosest or s.clause.drop or s.clause.widest
                edits[s.rule.number] += () if edit is None or edit in edits[s.rule.number] else (edit,)
        values: dict[int, dict[str, str]] = {}
        for i, s in enumerate(sites):
            if s.rule is not None and s.clause.moved is not None and s.clause.value is not None:
                values.setdefault(s.rule.number, {})[f"occurs_{i}"] = s.clause.value
        probes = tuple(Probe(n, edits[n], v) for n, v in values.items())
        where = self._domain_of(sites)
        base = self.variant(sites, Proposal((None,) * len(sites)))
        added = dict(base.added)
        if where is not None:
            added[where.type] = where.table[part]
        return Variant({n: e for n, e in edits.items() if e}, added, probes=probes)

    def _every(
        self, sites: tuple[Site, ...], outcome: Outcome | None, part: slice = slice(None),
        known: Mapping[int, list[Any]] | None = None,
    ) -> Iterator[Proposal]:  # fmt: skip
        """All repairs of a set that may work, in their order.

        ``part``: of the rows that it may add.  ``known``: the values that its clauses meet.
        """
        where = self._domain_of(sites)
        is_plain = outcome is not None and self._plain(sites)
        moving = [i for i, s in enumerate(sites) if s.rule is not None and s.clause.moved is not None]
        numbers = {s.rule.number for i, s in enumerate(sites) if i in moving and s.rule is not None}
        if self.bounded and is_plain and outcome is not None and len(numbers) == 1 and numbers <= self.top:
            chosen = where is None and self._chooses(sites, moving)
            table = outcome.fitting(self.question, probe=0, plain=not chosen)
            return self._by_binding(sites, moving, table, outcome, where)
        rows: Sequence[int | None] = (None,)
        if where is not None:
            rows = range(len(where.table))[part]
            if is_plain and outcome is not None:
                fitting = outcome.fitting(self.question)
                rows = sorted({i for found in self._partakers(where, outcome, fitting) for i in found})
        tables = self._probed(sites, outcome)
        options = [self._options(i, s, tables, known) for i, s in enumerate(sites)]
        return (Proposal(edits, row) for edits in product(*options) for row in rows)

    def _probed(self, sites: Sequence[Site], outcome: Outcome | None) -> dict[int, pa.Table]:
        """The rows of the rules whose clauses move, with the values of these."""
        rules = dict.fromkeys(
            s.rule.number
            for s in sites
            if s.rule is not None and s.clause.moved is not None and s.clause.value is not None
        )
        return {} if outcome is None else {n: outcome.probe(i) for i, n in enumerate(rules)}

    def _by_binding(
        self, sites: Sequence[Site], moving: Sequence[int], table: pa.Table, outcome: Outcome, where: Domain | None
    ) -> Iterator[Proposal]:
        """The shifts that one binding after the other needs, each with the rows that may be added for it.

        ``table``: the bindings, with the values of the moving clauses.
        """
        names = [f"occurs_{i}" for i in moving]
        columns = [plain(table[n]) for n in names]
        fixed = [self._options(i, s, {}) if i not in moving else [] for i, s in enumerate(sites)]
        kept = self._chosen(sites, moving, columns, table) if "because" in table.column_names else None
        at: dict[tuple[Any, ...], list[int]] = {}
        for number, values in enumerate(zip(*columns)):
            if kept is None or kept[number]:
                at.setdefault(values, []).append(number)
        found: dict[tuple[Any, ...], tuple[tuple[Edit, ...], list[tuple[Any, ...]]]] = {}
        edits_of = [cache(partial(_shifted, sites[i])) for i in moving]
        for values in at:
            edits = [edit(value) for edit, value in zip(edits_of, values, strict=True)]
            if None not in edits:
                known = tuple(e for e in edits if e is not None)
                found.setdefault(tuple(e.shift for e in known), (known, []))[1].append(values)
        ordered = [found[shifts] for shifts in sorted(found)]
        rows: Iterator[Sequence[int | None]] = iter([(None,)] * len(ordered))
        if where is not None:
            groups = [{values: at[values] for values in met} for _, met in ordered]
            rows = self._candidates_of(groups, table.select(names), outcome, where)
        for (known, _), added in zip(ordered, rows, strict=True):
            options = [list(f) for f in fixed]
            for i, edit in zip(moving, known, strict=True):
                options[i] = [edit]
            for edited in product(*options):
                for row in added:
                    yield Proposal(edited, row)

    def _candidates_of(
        self, groups: Sequence[Mapping[tuple[Any, ...], Sequence[int]]], values: pa.Table, outcome: Outcome,
        where: Domain,
    ) -> Iterator[list[int]]:  # fmt: skip
        """Per group of bindings the candidates with which alone one of them may be there.

        A group: the values of its bindings, and the numbers of these in ``values``.  The first groups often suffice,
        so that the constituents of some bindings at a time are made.
        """
        first, most = 0, SMALL
        while first < len(groups):
            last, size = first, 0
            while last < len(groups) and (last == first or size < most):
                size += sum(map(len, groups[last].values()))
                last += 1
            part = groups[first:last]
            numbers = np.array([n for group in part for found in group.values() for n in found], np.int64)
            bindings = outcome.fitting(self.question, probe=0, among=values.take(pa.array(numbers)))
            candidates: dict[tuple[Any, ...], set[int]] = {}
            keys = zip(*(plain(bindings[n]) for n in values.column_names))
            for key, found in zip(keys, self._partakers(where, outcome, bindings), strict=True):
                candidates.setdefault(key, set()).update(found)
            for group in part:
                yield sorted({i for key in group for i in candidates.get(key, ())})
            first, most = last, most * 4

    def _chooses(self, sites: Sequence[Site], moving: Sequence[int]) -> dict[str, str]:
        """The roles of moving clauses of which the rule takes the first or the last row."""
        out: dict[str, str] = {}
        given_up = {s.clause.role for s in sites if s.kind == "choice"}
        for site in (sites[i] for i in moving):
            for c in site.rule.clauses.clauses if site.rule is not None else ():
                policy = c.detail.get("policy") if c.kind == "choice" else None
                wanted = c.role == site.clause.role and c.role not in given_up and policy in ("first", "last")
                if wanted and c.role is not None:
                    out[c.role] = str(policy)
        return out

    def _chosen(
        self, sites: Sequence[Site], moving: Sequence[int], columns: Sequence[Sequence[Any]], table: pa.Table
    ) -> list[bool] | None:
        """Which bindings may be chosen: not those with a row in whose place a ``first`` or ``last`` takes another one,
        which needs no larger shifts."""
        rule = next(sites[i].rule for i in moving)
        assert rule is not None
        kept: list[bool] | None = None
        for role, policy in self._chooses(sites, moving).items():
            order = list(rule.clauses.roles)
            before = order[: order.index(role)] if role in order else order
            own = [k for k, i in enumerate(moving) if sites[i].clause.role == role]
            shifts: list[dict[Any, Any]] = [{v: _shift(sites[moving[k]], v) for v in set(columns[k])} for k in own]
            times, labels = _parts_of(table, role), [_parts_of(table, r, "label") for r in before]
            groups: dict[Any, list[int]] = {}
            for at, key in enumerate(zip(*labels) if labels else [()] * len(table)):
                groups.setdefault(key, []).append(at)
            sign = -1 if policy == "last" else 1
            kept = kept or [True] * len(table)
            for rows in groups.values():
                rows.sort(key=lambda at: sign * times[at])
                least: list[tuple[Any, ...]] = []
                for _, alike in groupby(rows, key=lambda at: times[at]):
                    here = {at: tuple(of[columns[k][at]] for of, k in zip(shifts, own, strict=True)) for at in alike}
                    for at, needs in here.items():
                        if any(all(a <= b for a, b in zip(one, needs, strict=True)) for one in least):
                            kept[at] = False
                    least += {needs for at, needs in here.items() if kept[at]}
        return kept

    def _options(
        self, number: int, site: Site, tables: Mapping[int, pa.Table], known: Mapping[int, list[Any]] | None = None
    ) -> list[Edit | None]:
        """The edits of a clause that are tried, the least shift first."""
        c = site.clause
        if site.rule is None or site.kind == "missing":
            return [None]
        out: dict[Any, Edit] = {}
        if c.moved is not None:
            table = tables.get(site.rule.number)
            if table is not None and f"occurs_{number}" in table.column_names:
                values = distinct(table[f"occurs_{number}"])
            elif known is not None and number in known:
                values = known[number]
            else:
                values = self._guessed(site)
            for value in values:
                edit = _moved(site, value)
                if edit is not None:
                    out.setdefault(edit.shift, edit)
        moved = [out[k] for k in sorted(out)]
        return [*moved, *c.others, *([] if c.drop is None else [c.drop])]

    def _guessed(self, site: Site) -> list[Any]:
        """Values that a clause may meet, where no run shows them: those of the slice."""
        tables = [self.world.history.tables[t] for t in sorted(self.world.inputs) if t in self.world.history.tables]
        if site.kind == "window":
            clock = self.world.history.clock
            # an open interval lasts beyond the last tick
            ends = () if clock is None else (*clock, clock[1] + 1)
            times = sorted(
                {
                    t
                    for table in tables
                    for n in ("time", "end")
                    if n in table.column_names
                    for t in table[n].drop_null().to_pylist()
                }
                | {self.question.first, self.question.last, *ends}
            )
            return sorted({b - a for a, b in combinations(times, 2)} | {0})
        out: set[Any] = set()
        for table in tables:
            for n in table.column_names:
                if n not in ("time", "end", "sequence", "label"):
                    out |= {v for v in distinct(table[n]) if isinstance(v, int | float)}
        return sorted(out)

    def _candidates(self, world: World, where: Domain) -> Candidates:
        """What is known of the rows of a domain."""
        if id(where) not in self.keyed:
            self.keyed[id(where)] = Candidates.of(world, where)
        return self.keyed[id(where)]

    def _partakers(self, where: Domain, outcome: Outcome, fitting: pa.Table) -> list[Sequence[int]]:
        """Per row of the loosest program the candidates with which alone it may be there.

        A row that is made of several candidates is none that one added row makes.
        """
        name = outcome.names.get(where.type, where.type)
        known = self._candidates(self.world, where)
        defined = {outcome.names.get(t, t) for t in self.world.defined}
        leaves: dict[str, Any] = {}
        below: dict[str, frozenset[str] | None] = {}
        read: set[str] = set()

        def of(table: pa.Table) -> list[frozenset[str] | None]:
            """Per row the labels of the rows of the type that it is made of; None: several of them are not there."""
            nothing: frozenset[str] = frozenset()
            out: list[frozenset[str] | None] = [nothing] * len(table)
            because = _whole(table["because"])
            parts = because.flatten()
            types = parts.field("type")
            labelled = pc.is_valid(parts.field("label"))
            for mask, derived in (
                (pc.equal(types, name), False), (pc.is_in(types, pa.array(sorted(defined), types.type)), True)
            ):  # fmt: skip
                mask = pc.and_(mask, labelled)
                chosen = parts.filter(mask)
                if not len(chosen):
                    continue
                coded = chosen.field("label").dictionary_encode()
                labels, codes = coded.dictionary.to_pylist(), coded.indices.to_numpy()
                rows = pc.list_parent_indices(because).filter(mask).to_numpy().astype(np.int64)
                pairs = np.unique(rows * len(labels) + codes)
                row_of, code_of = pairs // len(labels), pairs % len(labels)
                if derived:
                    for t in pc.unique(chosen.field("type")).to_pylist():
                        read_of(t)
                    found = [below.get(label, nothing) for label in labels]
                else:
                    for label, i in zip(labels, np.unique(codes, return_index=True)[1].tolist(), strict=True):
                        if label not in leaves:
                            leaves[label] = known.key(chosen[i].as_py())
                    found = [frozenset((label,)) for label in labels]
                    added = np.array([not known.there.get(leaves[label]) for label in labels])
                    many = np.bincount(row_of, weights=added[code_of], minlength=len(table)) > 1
                    for row in np.flatnonzero(many).tolist():
                        out[row] = None
                    kept = ~many[row_of]
                    row_of, code_of = row_of[kept], code_of[kept]
                for row, code in zip(row_of.tolist(), code_of.tolist(), strict=True):
                    before, more = out[row], found[code]
                    out[row] = None if before is None or more is None else before | more if before else more
            return out

        def read_of(type: str) -> None:
            """Note what the rows of a derived type are made of."""
            if type not in read:
                read.add(type)
                table = outcome.found.arrow(type)
                below.update(zip(table["label"].to_pylist(), of(table), strict=True))

        known_of: dict[frozenset[str] | None, list[int]] = {None: []}
        out: list[Sequence[int]] = []
        for labels in of(fitting):
            if labels is not None and labels not in known_of:
                count: dict[Any, int] = {}
                for label in labels:
                    count[leaves[label]] = count.get(leaves[label], 0) + 1
                more = [k for k, n in count.items() for _ in range(n - known.there.get(k, 0))]
                chosen = more or count if len(more) < 2 else ()
                known_of[labels] = [i for k in chosen for i in known.numbers.get(k, ())]
            out.append(known_of[labels])
        return out


@dataclass(frozen=True)
class Candidates:
    """The rows of a domain by what is read of them: their times and the attributes ``names``.

    ``numbers``: of the candidates; ``there``: how many rows of the input are alike.
    """

    names: Sequence[str]
    lasting: bool
    numbers: Mapping[Any, Sequence[int]]
    there: Mapping[Any, int]

    @classmethod
    def of(cls, world: World, where: Domain) -> Candidates:
        """Those of a domain in a world."""
        read = world.columns.get(where.type, frozenset())
        names = [n for n in sorted(read) if n in where.table.column_names]
        lasting = "end" in where.table.column_names
        numbers: dict[Any, list[int]] = {}
        for i, key in enumerate(_keys(where.table, names, lasting)):
            numbers.setdefault(key, []).append(i)
        there: dict[Any, int] = {}
        table = world.history.tables.get(where.type)
        for key in () if table is None else _keys(table, names, lasting):
            there[key] = there.get(key, 0) + 1
        return cls(names, lasting, numbers, there)

    def key(self, part: Mapping[str, Any]) -> Any:
        """What is read of a constituent."""
        values = json.loads(part["attributes"])
        end = None if not self.lasting or part["end"] is None else _tick(part["end"])
        return _tick(part["time"]), end, _text({n: values.get(n) for n in self.names})


def _keys(table: pa.Table, names: Sequence[str], lasting: bool) -> list[Any]:
    """What is read of the rows of a table."""
    nothing: list[Any] = [None] * len(table)
    times = table["time"].cast(pa.int64()).to_pylist()
    ends = table["end"].cast(pa.int64()).to_pylist() if lasting and "end" in table.column_names else nothing
    columns = [table[n].to_pylist() if n in table.column_names else nothing for n in names]
    rows = zip(*columns) if columns else [()] * len(table)
    texts = [_text(dict(zip(names, row, strict=True))) for row in rows]
    return list(zip(times, ends, texts, strict=True))


def _effects(rule: RuleClauses, type: str, effects: Set[str]) -> set[str]:
    """What happens to the rows of a rule if this happens to a type that it reads."""
    out: set[str] = set()
    if type in rule.positive:
        out |= effects
        if rule.chooses:  # a row is chosen in place of another
            out.add(LESS)
        if (rule.chooses and LESS in effects) or rule.counts:
            out.add(OTHER)
    if type in rule.negative:
        out |= {OTHER} if effects == {LESS} else {LESS} if LESS not in effects else {LESS, OTHER}
    if type in rule.folded:
        out |= {LESS, OTHER}
    return out


def _side(tests: Sequence[Clause], value: Any) -> Any:
    """On which side of the constants of comparisons a value is; what no number is, is on a side of its own."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return repr(value)
    return tuple(test.moved is not None and test.moved(value) is None for test in tests)


def _column(table: pa.Table) -> list[Any] | None:
    """The values that a copy of a rule shows."""
    name = next((n for n in (VALUE, "value") if n in table.column_names), None)
    return None if name is None else distinct(table[name])


def _shift(site: Site, value: Any) -> Any:
    """How far the constant of a clause has to move for a value."""
    edit = _moved(site, value)
    return edit.shift if edit is not None else 0 if value is not None else DROPPED


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([pa.array([], column.type), *column.chunks])


def _parts_of(table: pa.Table, role: str, name: str = "time") -> list[Any]:
    """The time or the label of the row in a role, per row of a table with constituents."""
    because = _whole(table["because"])
    parts = because.flatten()
    mask = pc.equal(parts.field("role"), role)
    rows = pc.list_parent_indices(because).filter(mask).to_pylist()
    column = parts.field(name).filter(mask)
    out: list[Any] = [None] * len(table)
    for row, value in zip(rows, plain(column), strict=True):
        out[row] = value
    return out


def _moved(site: Site, value: Any) -> Edit | None:
    return None if site.clause.moved is None else site.clause.moved(value)


def _shifted(site: Site, value: Any) -> Edit | None:
    """The edit of a clause for a value that it meets; without a value it is dropped."""
    edit = _moved(site, value)
    return edit if edit is not None or value is not None else site.clause.drop


def _text(values: Mapping[str, Any]) -> str:
    return json.dumps(
        {n: v.isoformat() if hasattr(v, "isoformat") else v for n, v in sorted(values.items())}, default=str
    )


def _tick(value: Any) -> int:
    """A time as ticks."""
    if isinstance(value, int):
        return value
    return int(pa.scalar(value, pa.timestamp("us", tz="UTC")).cast(pa.int64()).as_py())


def _parts(items: Sequence[Any], size: Any) -> Iterator[list[Any]]:
    """Items in parts of which each is one run."""
    part: list[Any] = []
    rows = 0
    for item in items:
        rows += size(item)
        if part and (len(part) >= BATCH or rows > COPIED):
            yield part
            part, rows = [], size(item)
        part.append(item)
    if part:
        yield part
