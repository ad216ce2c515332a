"""An evaluator that judges the whole history anew at every state, by the reference semantics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.laws.logic_monitors import notices

from occurs.connect.changes.model import Commit
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics import Firing as Reference
from occurs.languages.logic.semantics import Run
from occurs.languages.logic.semantics.formula import Looking
from occurs.model.labels import derived_labels
from occurs.model.occurrence import Occurrence
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.watch.actions import Firing
from occurs.watch.judging import rows
from occurs.watch.rules import Rules


class Replaying:
    """``pieces``: what was saved."""

    def __init__(self, rules: Rules, pieces: Mapping[str, bytes], kind: TimeKind = TIMESTAMP) -> None:
        self.rules, self.kind = rules, kind
        self.tables = {t.name: t for t in rules.tables}
        self.history: list[Occurrence] = []
        self.times: list[int] = []
        for row in json.loads(pieces["history"]) if "history" in pieces else []:
            self.history.append(Occurrence(*row))

    def advance(self, commits: Sequence[Commit]) -> list[tuple[int, Firing]]:
        out = []
        for commit in commits:
            for name, values in rows(commit, self.tables):
                sequence = values.pop("sequence")
                self.history.append(Occurrence(name, commit.time, values, sequence))
            out += [(commit.position, f) for f in self._of(commit.time)]
        return out

    def _of(self, time: int) -> list[Firing]:
        run = Run(self.rules.definitions, self.history, self.kind, until=time)
        found = [self._firing(run, f, e) for f, e in run.all_events() if f.time == time]
        told = notices(self.rules.definitions, self.history, kind=self.kind, until=time)
        return found + [
            Firing(n.type, time, n.attributes, label=_label(n.type, n.attributes, time, True), never=True, acts=True)
            for n in told
            if n.time == time
        ]

    def _firing(self, run: Run, f: Reference, event: Occurrence) -> Firing:
        trigger, state = f.instance.trigger, f.instance.states[f.at]
        look = Looking(run.catalogue, self.kind, [state], f.instance.generics)
        values = tuple(
            {} if isinstance(a, syntax.Notify) else {n.text: look.value(t, 0, {}) for n, t in a.arguments}
            for a in trigger.actions
        )
        name, generics = trigger.name.text, dict(f.instance.generics)
        label = _label(name, generics, f.time, False)
        return Firing(name, f.time, generics, event.type, event.attributes, values, label, acts=True)

    def save(self) -> Mapping[str, bytes | None]:
        whole = [(r.type, r.time, dict(r.attributes), r.sequence) for r in self.history]
        return {"history": json.dumps(whole).encode()}


def _label(trigger: str, generics: Mapping[str, Any], time: int, never: bool) -> str:
    import numpy as np
    import pyarrow as pa

    values = {n: pa.array([v]) for n, v in generics.items()}
    text = f"never {trigger}" if never else trigger
    return str(derived_labels(text, [], np.array([time], np.int64), values).hex()[0].as_py())
