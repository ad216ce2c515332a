"""``occurs follow``: from what was asked for to a query that runs."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from occurs.checked_program import CheckedProgram
from occurs.connect.atomic_files import Appended, writing
from occurs.connect.places import is_address
from occurs.connect.spark import is_remote, set_to
from occurs.connect.store import Store
from occurs.errors import Problem, UsageProblem
from occurs.follow.checkpoint import CONTROL, Checkpoint, check
from occurs.follow.folders import watched
from occurs.follow.limits import MEGABYTES, Limit
from occurs.follow.loop import Loop, settings, stopped_by_signals
from occurs.follow.metrics import Totals, publish
from occurs.follow.ranges import Laid, Ranges, can_move, move
from occurs.follow.sinks import Outputs
from occurs.follow.sources import Source, history, write_history
from occurs.follow.stream_actions import Acts
from occurs.follow.wide import Expected, Pinned
from occurs.hosts.detections import chosen
from occurs.hosts.spark.batch import needed
from occurs.hosts.stream.batches import MicroBatch
from occurs.hosts.stream.detect import StreamDetections, found_in
from occurs.hosts.stream.layout import depth_of
from occurs.hosts.stream.records import SCHEMA
from occurs.hosts.stream.source import StreamSource, ticks_of
from occurs.hosts.stream.state_migration import form_of
from occurs.model.source import InputOptions
from occurs.model.ticks import clock_ends
from occurs.model.time import TimeKind
from occurs.monitoring.instruments import Monitor
from occurs.plan.lanes import lanes
from occurs.plan.partitioning import groups

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("occurs.follow")


@dataclass(frozen=True)
class Asked:
    """What the options of a follower say.  ``ended``: None: as the source has it, a record ends and others do not;
    ``buckets``, ``ranges``: None: as many as suit the cores; ``divide``: None: as the checkpoint has it; ``limit``: of
    a micro-batch, in megabytes for a bucket."""

    source: Source
    options: InputOptions
    watermark: str | None = None
    trigger: str | None = None
    ended: bool | None = None
    because: bool = False
    label: bool = False
    only: tuple[str, ...] | None = None
    buckets: int | None = None
    ranges: int | None = None
    divide: int | None = None
    limit: int | None = None
    zone: str = "UTC"
    replay_from: tuple[str, ...] = ()


class Follower:
    """One stream, its program, its checkpoint and its sinks.  ``told``: gets problems that stop nothing; ``acts``: what
    firings do, if that is asked for; ``monitor``: where numbers and health are published."""

    def __init__(
        self, program: CheckedProgram, asked: Asked, told: Callable[[list[Problem]], None], acts: Acts | None = None,
        monitor: Monitor | None = None,
    ):  # fmt: skip
        program.require("spark")
        self.program, self.asked, self._told, self._acts, self._monitor = program, asked, told, acts, monitor
        self.totals = Totals()
        self.kind = TimeKind()
        self._trigger = trigger_of(asked)
        if asked.limit is not None and asked.limit < 0:
            raise UsageProblem.of("bad-option", f"--limit {asked.limit}", hint="use megabytes, or 0 for no limit")
        for option, number in (("--buckets", asked.buckets), ("--ranges", asked.ranges), ("--divide", asked.divide)):
            if number is not None and number < 1:
                raise UsageProblem.of("bad-option", f"{option} {number}", hint="use at least 1")

    def follow(
        self,
        path: str,
        outputs: Callable[[Checkpoint], Outputs],
        session_of: Callable[[], SparkSession],
        metrics: str | None,
        shown: Callable[[str], None],
    ) -> bool:
        """Run until the source ends or a signal comes; False if the checkpoint was closed by a run before.

        ``path``: of the checkpoint, or its address; ``outputs``: makes the sinks, given the checkpoint; ``shown``: gets
        a status line after every micro-batch.  Raises what is wrong with the options, the input, the checkpoint and the
        sinks.
        """
        asked = self.asked
        with ExitStack() as stack:
            checkpoint = Checkpoint(path, reached(session_of(), path, "--checkpoint") if is_address(path) else None)
            stack.callback(checkpoint.close)
            if checkpoint.closed:
                return False
            session = session_of() if asked.source.needs_session else None
            pinned = self._pinned(checkpoint, session)
            self.kind = pinned.kind
            delay = 0 if asked.watermark is None else ticks_of(asked.watermark, self.kind, "--watermark")
            ends = clock_ends(asked.options.start, asked.options.until, self.kind)
            expected = Expected.of(self.program, pinned, asked.options, ends, asked.because or asked.label)
            asked.source.prepare(expected, checkpoint)
            stack.callback(asked.source.close)
            entry = self._entry(expected)
            self._told(checkpoint.compare(entry, learns=bool(asked.replay_from)))
            self._learn(checkpoint, entry, expected)
            sinks = outputs(checkpoint)
            gauge = None if metrics is None else Appended(metrics, "--metrics")
            if gauge is not None:
                stack.callback(gauge.close)
            session = session or session_of()
            refuse_connect(session)
            cores = session.sparkContext.defaultParallelism
            ranges = Ranges.of(checkpoint.entry, asked.ranges, asked.buckets, cores, asked.divide)
            check(checkpoint.store)
            laid = Laid.read(checkpoint.store)
            before = None if laid is None else laid.buckets
            buckets = ranges.buckets(asked.buckets, before, cores if before is None or can_move(session) else 1)
            stack.enter_context(set_to(session, settings(buckets)))
            limit = self._limit(buckets, expected)
            query = self._found(session, expected, delay, checkpoint, ranges, limit).query(
                late=sinks.late is not None, control=_control(session, checkpoint), sizes=self._monitor is not None
            )
            sinks.check(self._given(query.read(SCHEMA.empty_table())))
            checkpoint.settle({**entry, **ranges.entry()})

            def take(number: int, seconds: float, done: MicroBatch) -> None:
                self._told(done.warnings)
                given = self._given(done)
                checkpoint.check_held()
                sinks.write(number, given)
                if self._acts is not None:
                    self._acts.do(done)
                backlog = asked.source.backlog(checkpoint.store, loop.progress)
                most = None if limit is None else asked.source.taken(limit)
                figures = self.totals.add(number, seconds, given, most, backlog, buckets)
                self._told(self.totals.heavy(given, buckets))
                if gauge is not None:
                    gauge.write(json.dumps(figures))
                if self._monitor is not None:
                    publish(self._monitor.instruments, figures, given, self.kind)
                log.debug("micro-batch %d is done", number, extra={"figures": figures})
                shown(self.totals.line(self.kind))
                checkpoint.check_held()  # before Spark notes that the micro-batch is done

            # what firings do is done in this process
            loop = Loop(query, checkpoint, take, by_tasks=sinks.by_tasks and self._acts is None)
            if self._monitor is not None:
                loop.health = self._monitor.health
            shown(self.totals.line(self.kind))
            with stopped_by_signals(loop.stop):
                moved = move(session, checkpoint.store, buckets, loop.repeat)
                self._told([] if moved is None else [moved])
                self._run(loop, checkpoint)
        return True

    def _given(self, done: MicroBatch) -> MicroBatch:
        return done if self._acts is None else self._acts.given(done)

    @property
    def _only(self) -> list[str] | None:
        """The types that are read of the program: those asked for, and what actions need."""
        hidden = [] if self._acts is None else self._acts.needed
        return None if self.asked.only is None else [*self.asked.only, *(t for t in hidden if t not in self.asked.only)]

    def _run(self, loop: Loop, checkpoint: Checkpoint) -> None:
        source = self.asked.source
        ended = source.ends if self.asked.ended is None else self.asked.ended
        source.start()

        def close() -> None:
            source.check()
            # a run that is killed from here on finds the row where it is, and Spark knows if it was taken
            checkpoint.tell_closing()

        if source.ends:
            loop.run(self._trigger, source.fed, close if ended else None)
            source.check()
        else:
            loop.run({"availableNow": True} if ended else self._trigger)
            if ended and not loop.stop.is_set():
                close()
                loop.run({"availableNow": True})
        if ended and not loop.stop.is_set():
            checkpoint.note_closed()

    def _pinned(self, checkpoint: Checkpoint, session: SparkSession | None) -> Pinned:
        """What events look like: as the checkpoint says, and for types that it does not know as a look at them says."""
        known = None if checkpoint.entry is None else Pinned.load(checkpoint.entry["pinned"])
        if known is None or not self.program.external <= set(known.schemas):
            found = self.asked.source.look(self.program, self.asked.options, session)
            self._told([p for p in found.notices if p.severity == "warning"])
            known = found if known is None else known.with_more(found.schemas)
        return known.with_more(self.program.declared)

    def _entry(self, expected: Expected) -> dict[str, Any]:
        """What must stay what it is while the checkpoint lives."""
        asked, options = self.asked, self.asked.options
        stage = self.program.plan(expected.pinned.schemas, self.kind)
        reported = chosen(stage.found, self._only)
        run = lanes(needed(groups(stage.definitions, stage), {*reported, *stage.sides, *stage.notices}), 1)
        special = [options.type, options.time, options.end, options.sequence, options.label, options.time_unit]
        return {
            "pinned": expected.pinned.entry(),
            "source": asked.source.name,
            "events": asked.source.identity(),
            "labelled": asked.because or asked.label,
            "because": asked.because or None,
            "provisional": self.program.provisional or None,
            "window": None if self.program.window is None else list(map(str, self.program.window)),
            "only": None if asked.only is None else sorted(asked.only),
            "start": None if expected.start is None else str(options.start),
            "zone": asked.zone,
            "facts": facts_of(self.program) or None,
            "special": [text or "" for text in special],
            "stages": depth_of(run),
            "rules": {d.identity: form_of(d, stage) for d in stage.definitions},
        }

    def _learn(self, checkpoint: Checkpoint, entry: Mapping[str, Any], expected: Expected) -> None:
        """Lay history out for the rules that are new.  Raises UsageProblem where it cannot be taken."""
        paths = self.asked.replay_from
        known = {} if checkpoint.entry is None else checkpoint.entry["rules"]
        if not paths or entry["rules"].items() <= known.items():
            return
        if entry["window"] is not None:
            hint = "without it, the queries begin with the first event of the stream"
            raise UsageProblem.of("unsupported", "--replay-from is not supported in window mode", hint=hint)
        if entry["stages"] > 1:
            text = "--replay-from: a history cannot fill the several stages with different keys that these rules need"
            hint = "without it, new rules read only later events; to search the history, use `occurs run`"
            raise UsageProblem.of("unsupported", text, hint=hint)
        write_history(paths, expected, checkpoint, entry["rules"])

    def _limit(self, buckets: int, expected: Expected) -> Limit | None:
        """Of a micro-batch; None: it takes all that there is."""
        asked = self.asked
        megabytes = (MEGABYTES if asked.source.limited else 0) if asked.limit is None else asked.limit
        return Limit.of(megabytes, buckets, expected) if megabytes else None

    def _found(
        self, session: SparkSession, expected: Expected, delay: int, checkpoint: Checkpoint, ranges: Ranges,
        limit: Limit | None,
    ) -> StreamDetections:  # fmt: skip
        asked = self.asked

        def read(late: bool) -> StreamSource:
            wanted = expected.with_late() if late else expected
            source = asked.source.stream(session, self.program, wanted, delay, limit)
            past = history(session, expected, source, checkpoint.store)
            source.frame = source.frame.unionByName(past, allowMissingColumns=True)
            return source

        found = found_in(
            self.program,
            read,
            because=asked.because,
            with_label=asked.label or asked.because,
            only=self._only,
            partitions=ranges.number,
            even=ranges.even,
            one_scan=ranges.one_scan,
            divide=ranges.divide,
            skip=asked.options.bad_rows == "skip",
        )
        self._told(found.notices)
        return found


def facts_of(program: CheckedProgram) -> list[str]:
    """What is remembered of the facts from outside: what was derived with others cannot be taken back."""
    found = []
    for name, table in sorted(program.facts.items()):
        digest = hashlib.blake2b(json.dumps(table.to_pydict(), default=str).encode(), digest_size=8).hexdigest()
        found.append(f"{name} ({len(table)} rows, {digest})")
    return found


def refuse_connect(session: SparkSession) -> None:
    """Raises UsageProblem on Spark Connect: there a server would write, with files and notes of its own."""
    if is_remote(session):
        hint = "unset SPARK_REMOTE to run here, or start your own query: program.detect(streaming_df)"
        raise UsageProblem.of("unsupported", "`occurs follow` does not run on Spark Connect", hint=hint)


def reached(session: SparkSession, address: str, option: str) -> Store:
    """The objects at an address.  Raises UsageProblem, and ResourceProblem (``cannot-write``) if the session does not
    reach it."""
    from occurs.connect.sparkstore import SparkStore

    refuse_connect(session)
    with writing(f"{option} {address}"):
        return SparkStore(session, address, option)


def trigger_of(asked: Asked) -> dict[str, Any]:
    """For ``trigger(..)``: how often a look is taken.  A record that is replayed without a speed waits for nothing."""
    text = asked.trigger or asked.source.trigger
    micros = ticks_of(text, TimeKind(), "--trigger")
    return {"processingTime": f"{-(-micros // 1000)} milliseconds"}


def _control(session: SparkSession, checkpoint: Checkpoint) -> Any:
    """A stream of which a row says that nothing comes any more."""
    reader = session.readStream.schema("value string").option("pathGlobFilter", "*.txt")
    return reader.option("maxFileAge", "36500d").text(watched(checkpoint.store, CONTROL))
