"""Why and why not, asked in the process of a job: the answers of :mod:`occurs.explain` as the interface shows them.

Places are spans of the texts that were run, times are text and ticks, long values are cut.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import LimitProblem, Span, UsageProblem
from occurs.model.ticks import instant
from occurs.model.time import OPEN, TimeKind
from occurs.model.types import Schema
from occurs.services.events import RunOptions, time_text
from occurs.services.questions import schema_of, value_of
from occurs.studio.limits import LIMITS
from occurs.studio.results import REPAIRS, exact, plain

if TYPE_CHECKING:
    from occurs.explain.whynot import Reason, WhyNot
    from occurs.model.source import Source
    from occurs.program import Program

#: characters of a value in an explanation, and of all nodes of a derivation; detections that are there after all
CUT, MOST, FOUND = 200, 8_000_000, 20
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Asked:
    """A program with the events of a run, of which something is asked.  ``texts``: its texts by path."""

    program: Program
    sources: list[Source]
    options: RunOptions
    texts: Mapping[str, str]

    def why(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Everything that was checked for the detection with a ``label``: ``shapes.Derivation``.

        ``at``: its ticks; ``time``: the kind of times.  Raises OccursError.
        """
        with _limited():
            answer = self.program.why(
                asked["label"], self.sources, between=_time(asked["at"], TimeKind(**asked["time"])),
                max_rows=LIMITS.why_rows, **self._keywords,
            )  # fmt: skip
        nodes: list[dict[str, Any]] = []
        size = 0
        for n in answer.nodes[: LIMITS.why_nodes]:
            values = plain(json.loads(n.attributes or "{}"), CUT)
            node = {"node": n.node, "parent": n.parent, "role": n.role, "values": values}
            node |= self._clause(n, answer.kind)
            size += len(json.dumps(node))
            if size > MOST:
                break
            nodes.append(node)
        return {
            "label": answer.row.get("label"), "nodes": nodes, "more": len(answer.nodes) - len(nodes),
            "leaves": len(answer.leaves), "notes": list(answer.notes),
        }  # fmt: skip

    def why_not(self, asked: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Why a detection is not there: ``shapes.WhyNot``; the repaired texts go into a file of ``folder``.

        The members of ``asked`` are those of ``shapes.WhyNotRequest``, ``time``, the kind of times, and ``clock``, the
        first and the last tick of the run.  Raises OccursError, whose problems name a field
        as their node where one is wrong: ``type``, ``from``, ``to``, ``where.NAME``.
        """
        type, where = asked["type"], self._where(asked)
        with _limited():
            answer = self.program.why_not(
                type, self.sources, where=where, between=self._between(asked), edits=asked["edits"],
                limit=asked["limit"], max_variants=asked["variants"], max_rows=LIMITS.why_rows, **self._keywords,
            )  # fmt: skip
        question = answer.question
        repairs = {reason.number: self._changed(reason) for reason in answer.reasons}
        (folder / REPAIRS).write_text(json.dumps(repairs), encoding="utf-8")
        rows = _found(answer)
        return {
            "type": question.type, "where": plain(dict(question.given), CUT), "from": exact(question.first),
            "to": exact(question.last), "found": len(answer.rows) if answer.found else 0, "rows": rows,
            "complete": answer.complete, "notes": list(answer.notes),
            "reasons": [self._reason(r, [*repairs[r.number]], answer.kind) for r in answer.reasons],
        }  # fmt: skip

    # --- the question -----------------------------------------------------------------------------------------------

    @property
    def _keywords(self) -> dict[str, Any]:
        return {**self.options.to_verify(), "ended": self.options.ended}

    def _where(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        type, texts = asked["type"], asked["where"]
        if not texts:
            return {}
        schema: Schema | None = schema_of(self.program, type, texts, self.sources, self._keywords)
        out = {}
        for name, text in texts.items():
            with _field(f"where.{name}"):
                out[name] = value_of(type, name, text, schema)
        return out

    def _between(self, asked: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """The asked range; an end that is not given is that of the clock."""
        ends, clock = [asked["from"], asked["to"]], asked["clock"]
        if ends == [None, None]:
            return None
        kind, out = TimeKind(**asked["time"]), []
        for name, given, end in zip(("from", "to"), ends, clock):
            with _field(name):
                value = int(end) if given is None else given
                value = _time(value, kind) if isinstance(value, int) else value
                instant(value, kind, "the time")
                out.append(value)
        if instant(out[0], kind, "the time") > instant(out[1], kind, "the time"):
            with _field("to"):
                raise UsageProblem.of("bad-option", "the range ends before it begins")
        return out[0], out[1]

    # --- the answer -------------------------------------------------------------------------------------------------

    def _clause(self, one: Any, kind: TimeKind) -> dict[str, Any]:
        """What clauses of reasons and nodes of derivations have in common: ``shapes.CheckedClause``."""
        span = self._span(one.file, one.line, one.column, one.clause)
        return {
            "kind": one.kind, "clause": one.clause or None, "found": one.found, "needed": one.needed,
            "message": one.message, "definition": one.definition, "file": None if span is None else one.file,
            "span": span, **_row(one, kind),
        }  # fmt: skip

    def _span(self, file: str | None, line: int | None, column: int | None, clause: str | None) -> Any:
        """The place of a clause: all of it if the text has it there, else its first word."""
        text = self.texts.get(file or "")
        if text is None or not line or not column:
            return None
        text = text.removeprefix("\ufeff")
        lines = text.split("\n")
        if line > len(lines):
            return None
        at = sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
        found = text.rfind(clause, max(0, at - len(clause) + 1), at + len(clause)) if clause else -1
        if found < 0:
            word = re.compile(r"\w+|\S?").match(text, at)
            found, stop = at, at if word is None else word.end()
        else:
            stop = found + len(clause or "")
        return asdict(Span(*_place(text, found), *_place(text, stop)))

    def _changed(self, reason: Reason) -> dict[str, str]:
        """The texts that a repair changes."""
        before = {path: text.removeprefix("\ufeff") for path, text in self.texts.items()}
        return {path: text for path, text in reason.texts.items() if text != before.get(path, text)}

    def _reason(self, reason: Reason, files: Sequence[str], kind: TimeKind) -> dict[str, Any]:
        witness = [
            {"role": w.role, "values": plain(dict(w.attributes), CUT), "ok": w.ok, "added": w.added,
             "parent": w.parent, **_row(w, kind)}
            for w in reason.witness[: LIMITS.why_witness]
        ]  # fmt: skip
        return {
            "number": reason.number, "cost": reason.cost, "verified": reason.verified,
            "clauses": [{"repair": c.repair, **self._clause(c, kind)} for c in reason.clauses],
            "witness": witness, "more": len(reason.witness) - len(witness), "repair": reason.repair,
            "files": list(files), "added": None if reason.added is None else plain(dict(reason.added)),
        }  # fmt: skip


def _time(ticks: int, kind: TimeKind) -> Any:
    """Ticks as an option has them."""
    if not kind.timestamp:
        return ticks
    try:
        return _EPOCH + dt.timedelta(microseconds=ticks)
    except OverflowError:
        raise UsageProblem.of("bad-time", f"no time has {ticks:,} ticks") from None


def _found(answer: WhyNot) -> list[dict[str, Any]]:
    """The first detections that are there after all."""
    if not answer.found:
        return []
    table = answer.rows.slice(0, FOUND)
    time = table["time"].cast(pa.int64()).to_pylist()
    end = pc.fill_null(table["end"].cast(pa.int64()), OPEN).to_pylist() if "end" in table.column_names else None
    names = [n for n in table.column_names if n not in ("type", "time", "end")]
    values = table.select(names).to_pylist()
    ends = [None if end is None or end[i] == OPEN else end[i] for i in range(len(time))]
    return [
        {"time": _shown(t, answer.kind), "ticks": exact(t), "end": _shown(e, answer.kind), "end_ticks": exact(e),
         "values": plain(v, CUT)}
        for t, e, v in zip(time, ends, values, strict=True)
    ]  # fmt: skip


def _row(one: Any, kind: TimeKind) -> dict[str, Any]:
    """The row, or the time, of a part of an explanation: ``shapes.Explained``."""
    end = None if one.end == OPEN else one.end
    return {
        "type": one.type, "time": _shown(one.time, kind), "ticks": exact(one.time), "end": _shown(end, kind),
        "end_ticks": exact(end), "label": one.label,
    }  # fmt: skip


def _shown(ticks: int | None, kind: TimeKind) -> str | int | None:
    if ticks is None:
        return None
    try:
        found = time_text(ticks, kind)
    except (pa.ArrowInvalid, ValueError, OverflowError):  # an asked time may be one that no timestamp can be
        return str(ticks)
    return exact(found) if isinstance(found, int) else found


def _place(text: str, at: int) -> tuple[int, int]:
    """The line and the column of an offset."""
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1


@contextmanager
def _field(name: str) -> Iterator[None]:
    """Problems in here are about a field of the question."""
    try:
        yield
    except UsageProblem as error:
        raise UsageProblem([replace(p, node=name) for p in error.problems]) from None


@contextmanager
def _limited() -> Iterator[None]:
    """The hints of limits are not options of commands."""
    try:
        yield
    except LimitProblem as error:
        hint = "ask about a run of fewer events, or use `occurs why-not` with a larger --max-rows"
        raise LimitProblem([replace(p, hint=hint) for p in error.problems]) from None
