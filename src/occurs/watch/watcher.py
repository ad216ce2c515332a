"""Following a change log: read, judge, save, act, and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from occurs.connect.changes.feed import Feed
from occurs.connect.changes.model import Commit, Fired, Saved
from occurs.errors import CheckpointProblem, InputProblem, UsageProblem
from occurs.languages.logic import syntax
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.monitoring.instruments import Instruments
from occurs.watch.actions import Actions, Firing, planned
from occurs.watch.judging import Judge
from occurs.watch.rules import Rules

#: states that are judged and saved together, at most
TOGETHER = 1000
#: how often what has been judged is deleted from the log, in seconds
PRUNE = 5.0
#: how long is waited for a commit before time is looked at again, in seconds
PATIENCE = 0.5

Make = Callable[[Mapping[str, bytes]], Judge]


@dataclass
class Figures:
    """What a watch has seen since it was started."""

    states: int = 0
    transactions: int = 0
    #: transactions that were made one state with others, and how many states that gave
    coalesced: int = 0
    merged: int = 0
    raised: int = 0
    #: states that are behind the end of the log, and the time of the last one
    position: int = 0
    time: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)


def publish(to: Instruments, watcher: Watcher, new: bool) -> None:
    """Publish what a watcher has seen and done; ``new``: whether it has just evaluated states."""
    f, tally = watcher.figures, watcher.actions.tally
    totals = {"states": f.states, "transactions": f.transactions, "merged_transactions": f.coalesced}
    totals |= {"executed_statements": tally.executed, "notices": tally.never, "failed_actions": tally.failed}
    for name, value in {**totals, "log_position": watcher.position}.items():
        to.set(f"occurs_{name}", value)
    now = time.time()
    for name, value in tally.found.items():
        if to.value("occurs_detections", name) != value and f.time is not None and watcher.kind.timestamp:
            to.set("occurs_detection_lag_seconds", now - f.time / 1e6, name)
        to.set("occurs_detections", value, name)
    if not new:
        return
    if f.time is not None and watcher.kind.timestamp:
        to.set("occurs_lag_seconds", now - f.time / 1e6)
    engine = watcher.evaluator.engine
    own, pasts = engine.sizes()
    to.set("occurs_state_rows", engine.state.rows())
    to.replace("occurs_definition_state_rows", own)
    to.replace("occurs_past_rows", pasts)


def unchanged(feed: Feed, name: str, rules: Rules) -> Saved:
    """What a watcher has saved.  CheckpointProblem if that was with other rules."""
    saved = feed.saved(name)
    if saved is None:
        hint = "install it with occurs watch RULES --database .. --install"
        raise UsageProblem.of("no-log", f"{feed.name}: there is no watcher `{name}`", hint=hint)
    if saved.rules != rules.identity:
        text = f"{feed.name}: the watcher `{name}` was installed for other rules"
        hint = "run --uninstall and then --install, or use another --name for these rules"
        raise CheckpointProblem.of("changed-program", text, hint=hint)
    return saved


class Watcher:
    """One watcher on a log that is installed and locked.

    ``make`` returns a judge that goes on from saved pieces.  ``coalesce``: when more transactions than that wait,
    they are one state.
    """

    def __init__(
        self,
        feed: Feed,
        name: str,
        rules: Rules,
        make: Make,
        actions: Actions,
        *,
        kind: TimeKind = TIMESTAMP,
        coalesce: int | None = None,
        keep_log: bool = False,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.feed, self.name, self.rules, self.make, self.actions = feed, name, rules, make, actions
        self.kind, self.coalesce, self.keep_log, self.tell = kind, coalesce, keep_log, tell
        self.triggers: dict[str, syntax.Trigger] = {t.name.text: t for t in rules.triggers}
        self.figures = Figures()
        #: how far the states of `observing every` are apart
        self.steps = [
            int(step)
            for t in rules.triggers
            if t.observing is not None and t.observing.every is not None
            and (step := kind.convert(t.observing.every)) is not None
        ]  # fmt: skip
        saved = unchanged(feed, name, rules)
        self.position, self.time = saved.position, saved.time
        self.evaluator = make(saved.pieces)
        self._pruned = time.monotonic()

    def resume(self) -> None:
        """Do what was left undone at the last stop."""
        self.actions.do(self.feed.pending(self.name))

    def idle(self, stop: Callable[[], bool]) -> None:
        """Nothing is there to be judged: wait until there may be."""
        self.prune()
        if stop():
            return
        due = min((self.time // s + 1) * s for s in self.steps) if self.steps and self.time is not None else None
        if due is not None:
            self.feed.tick(due)
        # the database's clock may be another than ours: then a tick comes late, by what they differ
        left = PATIENCE if due is None else (due - self.now()) / 1_000_000
        self.feed.wait(min(PATIENCE, max(left, 0.01)))

    @staticmethod
    def now() -> int:
        """Microseconds since 1970."""
        return time.time_ns() // 1000

    def step(self) -> bool:
        """The next states, at most so many at once; was there one?"""
        if self.coalesce is not None:
            waiting = self.feed.waiting(self.position, self.name)
            if waiting > self.coalesce:
                self.feed.coalesce(self.position, self.name)
        try:
            commits = self.feed.read(self.position, self.name, TOGETHER)
            if not commits:
                return False
            found = self.evaluator.advance(commits)
        except InputProblem:
            # up to the state before the one that cannot be judged everything counts
            saved = self.feed.saved(self.name)
            assert saved is not None
            self.evaluator = self.make(saved.pieces)
            while one := self.feed.read(self.position, self.name, 1):
                self._settle(one, self.evaluator.advance(one))
            raise
        self._settle(commits, found)
        self.prune()
        return True

    def _settle(self, commits: Sequence[Commit], found: Sequence[tuple[int, Firing]]) -> None:
        """Save that these states are judged, with what they gave, and do it."""
        fired: list[Fired] = [
            planned(f, self.triggers[f.trigger] if f.acts else None, position, self.kind) for position, f in found
        ]
        last = commits[-1]
        self.feed.save(self.name, last.position, last.time, self.evaluator.save(), fired)
        self.position, self.time = last.position, last.time
        self._count(commits)
        self.actions.do(fired)

    def _count(self, commits: Sequence[Commit]) -> None:
        f = self.figures
        f.states += len(commits)
        f.transactions += sum(c.transactions for c in commits)
        f.raised += sum(c.raised for c in commits)
        several = [c.transactions for c in commits if c.transactions > 1]
        f.merged += len(several)
        f.coalesced += sum(several)
        f.position, f.time = self.position, self.time
        for n in several:
            self.tell(f"{n:,} transactions were merged into one state")

    def prune(self, *, now: bool = False) -> None:
        """Delete what all watchers have judged, unless the log is kept; now and then."""
        if not self.keep_log and (now or time.monotonic() - self._pruned > PRUNE):
            self._pruned = time.monotonic()
            self.feed.prune()
