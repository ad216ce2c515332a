"""``occurs watch``: a live database."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from occurs.cli import _input, _monitor, _options
from occurs.cli._messages import logged, say
from occurs.cli._output import counted, detections
from occurs.connect.atomic_files import Appended
from occurs.connect.changes.feed import Feed, open_feed
from occurs.connect.changes.model import Watched
from occurs.errors import UsageProblem
from occurs.follow.loop import stopped_by_signals
from occurs.follow.metrics import Line
from occurs.languages.kit.language import suffixes
from occurs.loading import text_of
from occurs.model.astext import dumps
from occurs.monitoring.instruments import Monitor
from occurs.watch.actions import Actions, Webhook
from occurs.watch.judging import Judge, check
from occurs.watch.rules import Rules, read_rules
from occurs.watch.watcher import Figures, Watcher, publish, unchanged


@click.command("watch")
@logged("occurs.watch")
@click.argument("rules", nargs=-1, metavar="RULES...")
@click.option("--language", metavar="NAME", help="Language of all rules; overrides the suffix.")
@click.option(
    "--database", required=True, metavar="URL", help="Database: sqlite:PATH or postgresql://user@host/database."
)
@click.option(
    "--name", default="watch", show_default=True, metavar="NAME", help="Name of this watcher, if there are several."
)
@click.option("--install", is_flag=True, help="Install the change log and its database triggers, then exit.")
@click.option("--role", metavar="ROLE", help="With --install: also allow this PostgreSQL role to watch.")
@click.option("--uninstall", is_flag=True, help="Remove the change log, its triggers and all watchers, then exit.")
@click.option("--print-sql", is_flag=True, help="Print the SQL of --install (or --uninstall) without running it.")
@click.option("--once", is_flag=True, help="Process the changes logged so far, then exit.  [default: wait for more]")
@click.option(
    "--coalesce-above",
    type=click.IntRange(1),
    metavar="N",
    help="Merge waiting transactions into one state if there are more than N.",
)
@click.option("--keep-log", is_flag=True, help="Keep processed changes in the log.")
@click.option("--out", "-o", metavar="PATH", help="Append the detections to PATH (JSON lines).  [default: stdout]")
@click.option(
    "--label", is_flag=True, help="Add the label of every detection; a repeated detection has the same label."
)
@click.option("--webhook", metavar="URL", help="POST every detection to URL, with its label as Idempotency-Key.")
@_monitor.option
@_options.severity
@_options.formula
def command(
    rules: tuple[str, ...],
    language: str | None,
    database: str,
    name: str,
    install: bool,
    role: str | None,
    uninstall: bool,
    print_sql: bool,
    once: bool,
    coalesce_above: int | None,
    keep_log: bool,
    out: str | None,
    label: bool,
    webhook: str | None,
    monitor: str | None,
    otlp: str | None,
    strict: bool,
    require_bounds: bool,
    max_formula: int | None,
) -> None:
    """Watch database tables and run the actions of triggers.

    Follows the changes that are committed to the tables declared in RULES.  Detections are printed on stdout as JSON
    lines, notifications on stderr.  Ctrl-C stops after the current state; the same command resumes from there, also
    after a crash.
    """
    if not name.replace("-", "").replace("_", "").isalnum():
        raise UsageProblem.of("bad-option", f"invalid --name {name}", hint="use letters, digits, - and _")
    feed = open_feed(database, keep=keep_log, role=role)
    try:
        if uninstall:
            _uninstall(feed, print_sql)
            return
        if not rules:
            raise UsageProblem.of("bad-option", "missing argument RULES", hint="occurs watch RULES... --database URL")
        known = suffixes()
        texts = [(text_of(Path(p)), p, language or known.get(Path(p).suffix, "")) for p in rules]
        found = read_rules(texts, feed.describe, feed.refuses)
        problems = check(found, max_formula=max_formula, tables=feed.table_names())
        _input.judge(problems, strict=strict, require_bounds=require_bounds)
        if print_sql:
            for statement in feed.install_sql(found.tables, name):
                click.echo(f"{statement};")
            return
        if install or not feed.installed(found.tables, name):
            _install(feed, found, name)
        if not install:
            with _Out(out, label) as give, _monitor.monitored(monitor, otlp, "watch") as to:
                _watch(feed, found, name, give, once, coalesce_above, keep_log, webhook, max_formula, to)
    finally:
        feed.close()


def _install(feed: Feed, rules: Rules, name: str) -> None:
    feed.install(rules.tables, name, rules.identity)
    unchanged(feed, name, rules)
    assert feed.installed(rules.tables, name)
    say(f"{feed.name}: changes of {_shown(rules.tables)} are now logged for `{name}`")


def _uninstall(feed: Feed, print_sql: bool) -> None:
    if print_sql:
        for statement in feed.uninstall_sql():
            click.echo(f"{statement};")
        return
    gone = feed.uninstall()
    say(f"{feed.name}: {'the change log was removed' if gone else 'no change log is installed'}")


def _watch(
    feed: Feed,
    rules: Rules,
    name: str,
    give: _Out,
    once: bool,
    coalesce: int | None,
    keep_log: bool,
    webhook: str | None,
    max_formula: int | None,
    monitor: Monitor | None,
) -> None:
    feed.lock(name)
    line = Line()
    stop = threading.Event()

    def tell(text: str) -> None:
        with line.aside():
            say(text)

    actions = Actions(feed, name, give.write, tell, None if webhook is None else Webhook(webhook))

    def judge(pieces: Mapping[str, bytes]) -> Judge:
        return Judge(rules, pieces, max_formula=max_formula)

    watcher = Watcher(feed, name, rules, judge, actions, coalesce=coalesce, keep_log=keep_log, tell=tell)
    since = "the beginning" if watcher.time is None else f"position {watcher.position:,}"
    say(f"watching {feed.name}: {_shown(rules.tables)}, from {since}")
    began = time.monotonic()
    try:
        with line, stopped_by_signals(stop):
            watcher.resume()
            while not stop.is_set():
                there = watcher.step()
                line.show(_line(watcher.figures, actions))
                if monitor is not None:
                    monitor.health.beat()
                    monitor.health.ready = True
                    publish(monitor.instruments, watcher, there)
                if not there:
                    if once:
                        break
                    watcher.idle(stop.is_set)
    except KeyboardInterrupt:
        say("stopped; the next start resumes after the last complete state")
    if monitor is not None:
        monitor.health.ready = False
    watcher.prune(now=True)
    _summary(watcher.figures, actions, time.monotonic() - began)
    if actions.tally.failed:
        click.get_current_context().exit(1)


def _line(figures: Figures, actions: Actions) -> str:
    found = sum(actions.tally.found.values())
    return f"{counted(figures.states, 'state')}, {counted(found, 'detection')}, position {figures.position:,}"


def _summary(figures: Figures, actions: Actions, seconds: float) -> None:
    """What was seen and done in this run, on stderr."""
    tally = actions.tally
    read = f"{counted(figures.states, 'state')} read ({counted(figures.transactions, 'transaction')})"
    say(f"{read}, {detections(tally.found)} in {seconds:.1f} s")
    if figures.merged:
        say(f"merged {counted(figures.coalesced, 'transaction')} into {counted(figures.merged, 'state')}")
    if figures.raised:
        say(
            f"the clock went backwards {counted(figures.raised, 'time')}; those commits were given later times",
        )
    if tally.failed:
        say(f"{counted(tally.failed, 'action')} failed")


def _shown(tables: tuple[Watched, ...]) -> str:
    return ", ".join(t.name for t in tables)


class _Out:
    """Detections as JSON lines on stdout, or appended to a file."""

    def __init__(self, path: str | None, label: bool) -> None:
        self._label = label
        self._file = None if path is None or path == "-" else Appended(path, "--out")

    def write(self, event: Mapping[str, Any]) -> None:
        """One detection, on the disk or the pipe when this returns."""
        text = dumps({n: v for n, v in event.items() if n != "label" or self._label})
        if self._file is None:
            click.echo(text)
        else:
            self._file.write(text)

    def __enter__(self) -> _Out:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
