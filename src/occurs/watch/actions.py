"""What a firing does: told as text, given out as an event, a statement executed, a webhook called.

Everything that a firing is to do is in one JSON object, saved before any of it is done.  What was begun and not marked
done when the watch stopped is done again: at least once, with the label as the key by which a receiver knows it again.
Only ``execute`` is done exactly once: it notes that it is done in its own transaction.
"""

from __future__ import annotations

import datetime as dt
import http.client
import json
import re
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from occurs.connect.changes.feed import Feed
from occurs.connect.changes.model import ANEW, ActionFailed, Fired, instant
from occurs.engine.state import restoring
from occurs.errors import UsageProblem
from occurs.expr.tree import Expr, Literal, Ref, Unary
from occurs.languages.logic import syntax
from occurs.model.astext import dumps
from occurs.model.sqltext import parameters
from occurs.model.time import TimeKind

#: how often a transient failure is tried again, and how long is waited before: that many seconds, then twice as many ..
RETRIES, PAUSE = 6, 0.1
#: how many firings are marked done at once
TOGETHER = 50

_HOLES = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Firing:
    """An event is derived, a trigger has fired, or (``never``) can fire no more, at a time in ticks.

    ``event`` and ``attributes``: what is given out; no event: it is only to be acted.  ``acts``: ``trigger`` has
    actions, for which are ``generics``, the values of its generic variables, and ``values``, per action those of its
    arguments.  Values that are times are datetimes.  ``label``: the identity.
    """

    trigger: str
    time: int
    generics: Mapping[str, Any]
    event: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    values: tuple[Mapping[str, Any], ...] = ()
    label: str = ""
    never: bool = False
    acts: bool = False


def planned(firing: Firing, trigger: syntax.Trigger | None, position: int, kind: TimeKind) -> Fired:
    """A firing with all that it does, as it is saved; ``trigger``: if it has actions."""
    known = {**firing.generics, "time": instant(firing.time) if kind.timestamp else firing.time}
    steps: list[dict[str, Any]] = []
    for number, action in enumerate(() if trigger is None else trigger.actions):
        if action.never != firing.never:
            continue
        match action:
            case syntax.Notify():
                steps.append({"notify": filled(action.text, known)})
            case syntax.Execute():
                if firing.never:
                    values = {**known, **{n.text: fixed(t, known) for n, t in action.arguments}}
                else:
                    values = {**known, **firing.values[number]}
                wanted = {n: values[n] for n in parameters(action.statement)}
                steps.append({"execute": action.statement, "with": wanted})
    entry: dict[str, Any] = {"trigger": firing.trigger, "time": known["time"], "generics": firing.generics}
    if firing.never:
        entry["never"] = True
    elif firing.event:
        entry |= {"type": firing.event, "attributes": firing.attributes}
    return Fired(firing.label, position, json.dumps({**entry, "actions": steps}, default=_timed))


def _entry(one: Fired) -> dict[str, Any]:
    """What :func:`planned` has saved.  Raises CheckpointProblem for anything else: nothing of it is done."""
    with restoring("a saved firing of the watcher", ANEW):
        entry: dict[str, Any] = json.loads(one.content, object_hook=_untimed)
        _, texts = entry["time"], [entry["trigger"], *([entry["type"]] if "type" in entry else [])]
        texts += [a["notify"] if "notify" in a else a["execute"] for a in entry["actions"]]
        values = [entry["generics"], *([entry["attributes"]] if "type" in entry else [])]
        values += [a["with"] for a in entry["actions"] if "notify" not in a]
        if not all(isinstance(t, str) for t in texts) or not all(isinstance(v, dict) for v in values):
            raise ValueError("a value does not have the type that was written")
        return entry


def fixed(term: Expr, known: Mapping[str, Any]) -> Any:
    """The value of a term that does not depend on the state: a literal, or one of the names ``known``.  KeyError."""
    if isinstance(term, Unary):
        value = fixed(term.arg, known)
        return -value if isinstance(value, int | float) else None
    if isinstance(term, Literal):
        return term.value
    return known[term.name if isinstance(term, Ref) and term.scope is None else ""]


def filled(text: str, values: Mapping[str, Any]) -> str:
    """``{name}`` for every name that is known; nothing else is interpreted."""
    return _HOLES.sub(lambda m: shown(values[m.group(1)]) if m.group(1) in values else m.group(), text)


def shown(value: Any) -> str:
    """A value as text for people."""
    return value if isinstance(value, str) else dumps(value).strip('"')


def _timed(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return {"$time": value.isoformat()}
    raise TypeError(f"not valid JSON: {value!r}")


def _untimed(value: dict[str, Any]) -> Any:
    return dt.datetime.fromisoformat(value["$time"]) if set(value) == {"$time"} else value


@dataclass
class Tally:
    """How many events there were of each type, notices, executed statements, and what failed."""

    found: dict[str, int] = field(default_factory=dict)
    never: int = 0
    executed: int = 0
    failed: int = 0


class Actions:
    """Does what firings are to do.

    ``give`` takes an event (type, time, attributes, label), ``tell`` a text for people.
    """

    def __init__(
        self,
        feed: Feed,
        watcher: str,
        give: Callable[[Mapping[str, Any]], None],
        tell: Callable[[str], None],
        webhook: Webhook | None = None,
    ) -> None:
        self.feed, self.watcher, self.give, self.tell, self.webhook = feed, watcher, give, tell, webhook
        self.tally = Tally()

    def do(self, fired: Sequence[Fired]) -> None:
        """All of them, in order; what fails is told and counted, and the others go on.

        So many are marked done together: after a crash these may be told and given out a second time.
        """
        for first in range(0, len(fired), TOGETHER):
            part = fired[first : first + TOGETHER]
            for one in part:
                self._one(one)
            self.feed.finished(self.watcher, part)

    def _one(self, one: Fired) -> None:
        entry = _entry(one)
        trigger, when = entry["trigger"], shown(entry["time"])
        body: dict[str, Any] = {"time": entry["time"], "label": one.label}
        if "never" in entry:
            self.tally.never += 1
            which = "".join(f", {n} = {shown(v)}" for n, v in entry["generics"].items())
            self.tell(f"never: `{trigger}` can no longer fire (since {when}{which})")
            body = {"never": trigger, **body, **entry["generics"]}
        elif "type" in entry:
            self.tally.found[entry["type"]] = self.tally.found.get(entry["type"], 0) + 1
            body = {"type": entry["type"], **body, **entry["attributes"]}
            self.give(body)
        texts = [a["notify"] for a in entry["actions"] if "notify" in a]
        for text in texts:
            self.tell(text)
        for number, action in enumerate(entry["actions"]):
            if "execute" in action:
                self._tried(f"`{trigger}` at {when}: execute", partial(self._execute, one, number, action))
        if self.webhook is not None and ("never" in entry or "type" in entry or texts):
            hook, content = self.webhook, {**body, **({"notify": texts} if texts else {})}
            self._tried(f"`{trigger}` at {when}: {hook.url}", lambda: hook.send(dumps(content), one.label))

    def _execute(self, one: Fired, number: int, action: Mapping[str, Any]) -> None:
        if self.feed.execute(self.watcher, one.label, number, action["execute"], action["with"]):
            self.tally.executed += 1

    def _tried(self, what: str, run: Callable[[], None]) -> None:
        """Try again what may go well the next time; else tell it."""
        pause = PAUSE
        for attempt in range(RETRIES + 1):
            try:
                run()
                return
            except ActionFailed as error:
                if error.transient and attempt < RETRIES:
                    time.sleep(pause)
                    pause *= 2
                    continue
                self.tally.failed += 1
                tries = f" (tried {attempt + 1} times)" if attempt else ""
                self.tell(f"failed: {what}: {error}{tries}")
                return


# --- firings as HTTP requests -----------------------------------------------------------------------------------------


#: seconds that a receiver may take
PATIENCE = 10.0
#: answers after which another try may go well
_TRANSIENT = (408, 425, 429)


class Webhook:
    """A receiver.  UsageProblem if ``url`` is no address of HTTP."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageProblem.of("bad-option", f"--webhook {url}", hint="use http://host/path or https://host/path")
        self.url = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self._host, self._port = parts.hostname, parts.port
        self._secure = parts.scheme == "https"
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def send(self, content: str, key: str) -> None:
        """One request.  ActionFailed: no connection, no answer, or one that is no 2xx."""
        connection: http.client.HTTPConnection
        if self._secure:
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=PATIENCE, context=context)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=PATIENCE)
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        try:
            connection.request("POST", self._path, content.encode(), headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise ActionFailed(str(error) or type(error).__name__, transient=True) from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            transient = answer.status >= 500 or answer.status in _TRANSIENT
            raise ActionFailed(f"the server answered {answer.status} {answer.reason}", transient=transient)


# --- triggers that carry along what their actions need: their events get further columns ------------------------------
# A program gives events, not actions.  So the generic variables and the arguments of ``execute`` are emitted with the
# event, in columns that are not given out.  Where that would change what others see (several triggers make the type, or
# it is declared) a twin of the trigger, that fires when it does, emits them as a type of its own.

#: what the names of columns and types begin with that nobody else sees
HIDDEN = "occurs_"


@dataclass(frozen=True)
class Carrier:
    """What the events of a type carry for the actions of a trigger.

    ``generics``: generic variables to their columns; ``values``: per action the columns of its arguments.  ``twin``:
    the events are for that alone.
    """

    trigger: syntax.Trigger
    generics: Mapping[str, str]
    values: tuple[Mapping[str, str], ...]
    twin: bool = False


@dataclass
class Carried:
    """The definitions, rewritten; the carriers by type of event; the types whose trigger's notices are not told."""

    definitions: list[syntax.Definition] = field(default_factory=list)
    carriers: dict[str, Carrier] = field(default_factory=dict)
    twins: set[str] = field(default_factory=set)


def carrying(definitions: Sequence[syntax.Definition]) -> Carried:
    """Rewrite the triggers that have something to do."""
    out = Carried()
    makers = Counter(_made(d) for d in definitions if isinstance(d, syntax.Trigger))
    declared = {d.name.text for d in definitions if not isinstance(d, syntax.Trigger)}
    for d in definitions:
        if not isinstance(d, syntax.Trigger) or all(isinstance(a, syntax.Emit) for a in d.actions):
            out.definitions.append(d)
            continue
        alone = makers[_made(d)] == 1 and _made(d) not in declared
        names = [v.text for v in d.each.variables] if d.each is not None else []
        columns = {n: n if d.emit is None and alone else f"{HIDDEN}of_{n}" for n in names}
        carried: list[tuple[str, Expr]] = [(c, Ref(None, n)) for n, c in columns.items()]
        values: list[dict[str, str]] = []
        for number, action in enumerate(d.actions):
            mine: dict[str, str] = {}
            if isinstance(action, syntax.Execute) and not action.never:
                for name, term in action.arguments:
                    mine[name.text] = f"{HIDDEN}{number}_{name.text}"
                    carried.append((mine[name.text], term))
            values.append(mine)
        arguments = tuple((syntax.Name(n), term) for n, term in carried)
        if not alone:
            name = syntax.Name(f"{HIDDEN}{d.name.text}")
            out.definitions += [d, replace(d, name=name, actions=(syntax.Emit(name, arguments),))]
            out.carriers[name.text] = Carrier(d, columns, tuple(values), twin=True)
            out.twins.add(name.text)
            continue
        if d.emit is not None:
            emit = replace(d.emit, arguments=(*d.emit.arguments, *arguments))
        else:
            emit = syntax.Emit(d.name, arguments)
        # without arguments its event has the generic variables, which it has without `emit`, too
        rest = tuple(a for a in d.actions if not isinstance(a, syntax.Emit))
        plain = d.emit is None and not any(values)
        out.definitions.append(d if plain else replace(d, actions=(emit, *rest)))
        out.carriers[_made(d)] = Carrier(d, columns, tuple(values))
    return out


def given(columns: Iterable[str]) -> list[str]:
    """The columns that are given out."""
    return [c for c in columns if not c.startswith(HIDDEN)]


def _made(d: syntax.Trigger) -> str:
    return (d.name if d.emit is None else d.emit.type).text
