"""What a transition needs, found as tokens come and go: on one place, joined on two, or searched anew on several.

The parts are those of :mod:`simulate_plan`.  A part hears of tokens one by one (``put``, ``drop``), catches up when it
is asked (``settle``), and then knows how many ways there are to take its tokens (``size``), the first of them and all,
in the order of bindings.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from occurs.nets.colours import Value
from occurs.nets.evaluate import Binding
from occurs.nets.simulate_plan import Join, PartPlan

# --- one place, or any number of them searched anew -------------------------------------------------------------------


#: tokens, in the order of the part's needs, and what they bind; not to be changed
Way = tuple[tuple[Value, ...], Binding]


class Part(Protocol):
    def put(self, side: int, token: Value, binding: Binding) -> None: ...
    def drop(self, side: int, token: Value) -> bool:
        """Was it one that has been put?"""

    def settle(self, counts: Sequence[dict[Value, int]], whole: bool) -> None:
        """Catches up.  ``counts``: the tokens on the places of the needs; ``whole``: find all ways, not just one."""

    def size(self) -> int:
        """How many ways there are; if not all were asked for, 0 for none, and else at least 1."""

    def first(self) -> Way: ...
    def way(self, k: int) -> Way:
        """Way ``k`` (from 0)."""

    def ways(self) -> Iterator[Way]: ...


class Single:
    """One need."""

    __slots__ = ("_bindings", "_order")

    def __init__(self) -> None:
        self._bindings: dict[Value, Binding] = {}
        self._order: list[Any] = []

    def put(self, side: int, token: Value, binding: Binding) -> None:
        self._bindings[token] = binding
        insort(self._order, token)

    def drop(self, side: int, token: Value) -> bool:
        if self._bindings.pop(token, None) is None:
            return False
        del self._order[bisect_left(self._order, token)]
        return True

    def settle(self, counts: Sequence[dict[Value, int]], whole: bool) -> None:
        pass

    def size(self) -> int:
        return len(self._order)

    def first(self) -> Way:
        return self.way(0)

    def way(self, k: int) -> Way:
        token = self._order[k]
        return (token,), self._bindings[token]

    def ways(self) -> Iterator[Way]:
        for token in self._order:
            yield (token,), self._bindings[token]


class Gate(Single):
    """A need that several transitions have; ``bits``: theirs.

    That its tokens change is nothing they are told of: those of an empty gate are ``closed``.
    """

    __slots__ = ("_agenda", "bits")

    def __init__(self, agenda: Agenda) -> None:
        super().__init__()
        self._agenda = agenda
        self.bits = 0
        agenda.gates.append(self)
        agenda.moved = True

    def put(self, side: int, token: Value, binding: Binding) -> None:
        super().put(side, token, binding)
        self._agenda.moved = True

    def drop(self, side: int, token: Value) -> bool:
        self._agenda.moved = True
        return super().drop(side, token)


class Agenda:
    """Bit sets over the transitions, the most urgent in the lowest bit.

    ``dirty``: those that something has changed for since they were looked at; ``ready``: of the others, those that can
    fire unless a gate is empty; ``moved``: may ``closed()`` be another than before?
    """

    __slots__ = ("_closed", "dirty", "gates", "moved", "ready")

    def __init__(self) -> None:
        self.dirty = 0
        self.ready = 0
        self.gates: list[Gate] = []
        self.moved = False
        self._closed = 0

    def bits(self) -> int:
        """The transitions that can fire, as far as is known."""
        if self.moved:
            self.moved = False
            self._closed = 0
            for gate in self.gates:
                if not gate.size():
                    self._closed |= gate.bits
        return (self.dirty | self.ready) & ~self._closed


class Search:
    """Any needs: all ways are searched anew when something has changed.

    Needs that share variables with those before them are looked up by these.
    """

    def __init__(self, plan: PartPlan) -> None:
        self._plan = plan
        self._known: list[dict[Value, Binding]] = [{} for _ in plan.needs]
        self._found: list[Way] = []
        #: the variables by which each need is looked up, and its bindings by their values, until something changes
        self._keys: list[tuple[str, ...]] = []
        self._tables: list[dict[tuple[Value, ...], list[tuple[Value, Binding]]] | None] = [None for _ in plan.needs]
        seen: set[str] = set()
        for names in plan.variables:
            self._keys.append(tuple(sorted(names & seen)))
            seen |= names
        holders = [n.holder for n in plan.needs]
        #: per need, the needs before it that take from the same place
        self._rivals = [[j for j in range(k) if holders[j] == h] for k, h in enumerate(holders)]

    def put(self, side: int, token: Value, binding: Binding) -> None:
        self._known[side][token] = binding
        self._tables[side] = None

    def drop(self, side: int, token: Value) -> bool:
        if self._known[side].pop(token, None) is None:
            return False
        self._tables[side] = None
        return True

    def settle(self, counts: Sequence[dict[Value, int]], whole: bool) -> None:
        found = list(self._search((), {}, counts)) if all(self._known) else []
        black = self._plan.black
        if black is not None:
            least: dict[Value, Any] = {}
            for tokens, binding in found:
                n: Any = binding[black]
                if tokens[0] not in least or n < least[tokens[0]]:
                    least[tokens[0]] = n
            found = [(tokens, binding) for tokens, binding in found if binding[black] == least[tokens[0]]]
        found.sort(key=lambda way: way[0])
        self._found = found

    def _search(self, tokens: tuple[Value, ...], binding: Binding, counts: Sequence[dict[Value, int]]) -> Iterator[Way]:
        level = len(tokens)
        if level == len(self._known):
            yield tokens, binding
            return
        key = tuple([binding[name] for name in self._keys[level]])
        tests = [test for needed, test in self._plan.steps if needed == level + 1]
        rivals = self._rivals[level]
        for token, own in self._table(level).get(key, ()):
            if rivals and counts[level][token] <= sum(tokens[j] == token for j in rivals):
                continue
            both = {**binding, **own}
            if all(test(both) is True for test in tests):
                yield from self._search((*tokens, token), both, counts)

    def _table(self, level: int) -> dict[tuple[Value, ...], list[tuple[Value, Binding]]]:
        table = self._tables[level]
        if table is None:
            table = {}
            names = self._keys[level]
            for token, own in self._known[level].items():
                table.setdefault(tuple([own[name] for name in names]), []).append((token, own))
            self._tables[level] = table
        return table

    def size(self) -> int:
        return len(self._found)

    def first(self) -> Way:
        return self._found[0]

    def way(self, k: int) -> Way:
        return self._found[k]

    def ways(self) -> Iterator[Way]:
        return iter(self._found)


# --- two needs on two places, joined ----------------------------------------------------------------------------------
# Each pair of tokens is tested at most once.  The right tokens (in nets of event processing the numbered rows on F)
# stand in logs, one per key, in the order of their arrival.  Each left token (a search that waits on an Init place) has
# a cursor into the log of its key.  It stops at the first token that fits: the least number, as long as tokens arrive
# in ascending order, which rows do.


class _Right:
    """``by``: the left tokens that have found it (None: none yet), but for those of the log's ``bulk``.

    ``at``: its place in the log.
    """

    __slots__ = ("alive", "at", "binding", "by", "log", "token")

    def __init__(self, token: Value, binding: Binding, log: _Log) -> None:
        self.token = token
        self.binding = binding
        self.log = log
        self.at = 0
        self.alive = True
        self.by: set[_Left] | None = None


class _Left:
    """``at``: what stands before it in the log is tested; ``hits``: what fitted and is there yet, in order.

    ``least``: the bound, None if the join has none.
    """

    __slots__ = ("alive", "at", "binding", "hits", "least", "log", "token")

    def __init__(self, token: Value, binding: Binding, log: _Log) -> None:
        self.token = token
        self.binding = binding
        self.log = log
        self.alive = True
        self.at = 0
        self.least: Any = None
        self.hits: list[_Right] = []


class _Log:
    """The tokens of one key.

    ``numbers``: of all of ``rights``, also those that are gone, if the join has a bound.  ``ordered``: have they come
    in ascending order so far?  ``distinct``: each with a number of its own?  ``waiting``: left tokens without a hit.
    ``bulk``: left tokens that took all there is as hits at once.  ``last_gone``: the last place of one that is gone.
    """

    __slots__ = ("bulk", "dead", "distinct", "key", "last_gone", "lefts", "numbers", "ordered", "rights", "waiting")

    def __init__(self, key: tuple[Any, ...]) -> None:
        self.key = key
        self.rights: list[_Right] = []
        self.numbers: list[Any] = []
        self.dead = 0
        self.last_gone = -1
        self.ordered = True
        self.distinct = True
        # most logs never have a left token: they share three empty sets
        self.lefts: dict[_Left, None] = _NOBODY
        self.waiting: dict[_Left, None] = _NOBODY
        self.bulk: dict[_Left, None] = _NOBODY

    def join(self, left: _Left) -> None:
        """One left token more, which waits."""
        if self.lefts is _NOBODY:
            self.lefts, self.waiting, self.bulk = {}, {}, {}
        self.lefts[left] = None
        self.waiting[left] = None

    def append(self, right: _Right, number: Any) -> None:
        if self.rights:
            if right.token <= self.rights[-1].token:  # type: ignore[operator]
                self.ordered = False
            if number is not None and not number > self.numbers[-1]:
                self.distinct = False
        right.at = len(self.rights)
        self.rights.append(right)
        if number is not None:
            self.numbers.append(number)

    def shrink(self) -> None:
        """Forgets those that are gone if they are many."""
        if self.dead < 32 or 2 * self.dead < len(self.rights):
            return
        before = [0]
        for right in self.rights:
            before.append(before[-1] + right.alive)
        for left in self.lefts:
            left.at = before[left.at]
        kept = [k for k, right in enumerate(self.rights) if right.alive]
        self.rights = [self.rights[k] for k in kept]
        if self.numbers:
            self.numbers = [self.numbers[k] for k in kept]
        self.dead = 0
        self.last_gone = -1
        for k, right in enumerate(self.rights):
            right.at = k


#: sets of left tokens are dictionaries, in the order of their coming; this one stays empty
_NOBODY: dict[_Left, None] = {}


class Pair:
    """A part of two needs with a join."""

    def __init__(self, plan: PartPlan) -> None:
        assert plan.join is not None
        self._join: Join = plan.join
        self._black = plan.black is not None
        self._left_side = 1 if plan.join.swapped else 0
        self._all_tests = plan.join.tests + plan.join.bounds
        self._logs: dict[tuple[Any, ...], _Log] = {}
        self._lefts: dict[Value, _Left] = {}
        self._rights: dict[Value, _Right] = {}
        #: the left tokens that have hits, in order, and how many hits they have
        self._ready: list[Any] = []
        self._hits = 0
        #: what to catch up with: left tokens that look (again), logs that have grown
        self._looking: list[_Left] = []
        self._grown: dict[tuple[Any, ...], _Log] = {}
        #: has every left token found all there is, but for what is to be caught up with?
        self._whole = False
        #: are the numbers in all logs distinct?
        self._distinct = True

    # -- changes -----------------------------------------------------------------------------------------------------
    def put(self, side: int, token: Value, binding: Binding) -> None:
        join = self._join
        if side == self._left_side:
            log = self._log(tuple([f(binding) for f in join.left_key]))
            left = self._lefts[token] = _Left(token, binding, log)
            log.join(left)
            if join.least is not None:
                left.least = join.least(binding)
            self._looking.append(left)
        else:
            log = self._log(tuple([f(binding) for f in join.right_key]))
            right = self._rights[token] = _Right(token, binding, log)
            log.append(right, None if join.number is None else binding[join.number])
            self._distinct = self._distinct and log.distinct
            if log.lefts:
                self._grown[log.key] = log

    def _log(self, key: tuple[Any, ...]) -> _Log:
        found = self._logs.get(key)
        if found is None:
            found = self._logs[key] = _Log(key)
        return found

    def drop(self, side: int, token: Value) -> bool:
        if side == self._left_side:
            left = self._lefts.pop(token, None)
            if left is None:
                return False
            log = left.log
            left.alive = False
            del log.lefts[left]
            log.waiting.pop(left, None)
            if left.hits:
                del self._ready[bisect_left(self._ready, token)]
                self._hits -= len(left.hits)
                for right in () if left in log.bulk else left.hits:
                    if right.by is not None:
                        right.by.discard(left)
                log.bulk.pop(left, None)
        else:
            gone = self._rights.pop(token, None)
            if gone is None:
                return False
            log = gone.log
            gone.alive = False
            log.dead += 1
            log.last_gone = max(log.last_gone, gone.at)
            for left in [*(gone.by or ()), *(left for left in log.bulk if gone in left.hits)]:
                left.hits.remove(gone)
                self._hits -= 1
                if not left.hits:
                    log.bulk.pop(left, None)
                    del self._ready[bisect_left(self._ready, left.token)]
                    log.waiting[left] = None
                    self._looking.append(left)
            log.shrink()
        if not log.lefts and log.dead == len(log.rights):
            self._logs.pop(log.key, None)
            self._grown.pop(log.key, None)
        return True

    # -- catching up -------------------------------------------------------------------------------------------------
    def settle(self, counts: Sequence[dict[Value, int]], whole: bool) -> None:
        whole = (whole and not self._black) or self._join.swapped
        if whole and not self._whole:
            for left in self._lefts.values():
                self._advance(left, True)
        elif self._looking or self._grown:
            for log in self._grown.values():
                every = whole or not log.ordered or (self._black and not log.distinct)
                for left in list(log.lefts if every else log.waiting):
                    self._advance(left, every)
            for left in self._looking:
                if left.alive:
                    log = left.log
                    self._advance(left, whole or not log.ordered or (self._black and not log.distinct))
        self._whole = whole
        self._looking.clear()
        self._grown.clear()

    def _advance(self, left: _Left, every: bool) -> None:
        """Tests what has not been tested, up to the first that fits or (``every``) all."""
        log, at = left.log, left.at
        rights = log.rights
        end = len(rights)
        if at >= end or (left.hits and not every):
            return
        tests = self._all_tests
        if log.ordered:
            if left.least is not None:
                at = (bisect_right if self._join.strict else bisect_left)(log.numbers, left.least, at)
            tests = self._join.tests
        before = len(left.hits)
        if every and not before and not tests and log.ordered:
            # all that is there fits: nothing is to be tested, and as few notes are taken as possible
            left.hits = rights[at:] if log.last_gone < at else [right for right in rights[at:] if right.alive]
            if left.hits:
                log.bulk[left] = None
            at = end
        while at < end:
            right = rights[at]
            at += 1
            if not right.alive:
                continue
            both = {**left.binding, **right.binding}
            for test in tests:
                if test(both) is not True:
                    break
            else:
                if left not in log.bulk:
                    if right.by is None:
                        right.by = set()
                    right.by.add(left)
                if log.ordered:
                    left.hits.append(right)
                else:
                    insort(left.hits, right, key=_token)
                if not every:
                    break
        left.at = at
        self._hits += len(left.hits) - before
        if left.hits and not before:
            del log.waiting[left]
            insort(self._ready, left.token)

    # -- what has been found -----------------------------------------------------------------------------------------
    def size(self) -> int:
        if not self._black:
            return self._hits
        return (
            len(self._ready) if self._distinct else sum(len(self._counted(self._lefts[token])) for token in self._ready)
        )

    def first(self) -> Way:
        return self.way(0)

    def way(self, k: int) -> Way:
        if self._join.swapped:
            return _swapped(*self._turned()[k])
        if k == 0 or (self._black and self._distinct):
            left = self._lefts[self._ready[k]]
            return _way(left, left.hits[0])
        for token in self._ready:
            left = self._lefts[token]
            hits = self._counted(left)
            if k < len(hits):
                return _way(left, hits[k])
            k -= len(hits)
        raise IndexError(k)

    def ways(self) -> Iterator[Way]:
        if self._join.swapped:
            yield from (_swapped(*pair) for pair in self._turned())
            return
        for token in self._ready:
            left = self._lefts[token]
            for right in self._counted(left):
                yield _way(left, right)

    def _counted(self, left: _Left) -> list[_Right]:
        """What a left token can be taken with: all that fits, for a black transition what has the least number."""
        if not self._black or len(left.hits) < 2:
            return left.hits
        # Definition 8; there is more than one hit only where tokens come out of order
        n = self._join.number
        assert n is not None
        return [right for right in left.hits if right.binding[n] == left.hits[0].binding[n]]

    def _turned(self) -> list[tuple[_Left, _Right]]:
        """All pairs, by their right tokens first."""
        pairs = [(left, right) for left in self._lefts.values() for right in left.hits]
        return sorted(pairs, key=lambda pair: (pair[1].token, pair[0].token))


def _way(left: _Left, right: _Right) -> Way:
    return (left.token, right.token), {**left.binding, **right.binding}


def _swapped(left: _Left, right: _Right) -> Way:
    return (right.token, left.token), {**left.binding, **right.binding}


def _token(right: _Right) -> Any:
    return right.token
