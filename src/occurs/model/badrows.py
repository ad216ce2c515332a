"""Rows that are not accepted: noted while reading, then an error or a table (common.md, section 1: bad rows)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem
from occurs.model.values import python_rows, python_value, short

if TYPE_CHECKING:
    from occurs.model.source import Source

SCHEMA = pa.schema(
    [
        ("reason", pa.string()),
        ("file", pa.string()),
        ("row", pa.int64()),
        ("column", pa.string()),
        ("value", pa.string()),
        ("data", pa.string()),
    ]
)

MISFIT = "value does not fit"


@dataclass
class _Found:
    source: int
    reason: str
    kind: str
    column: str | None
    at: np.ndarray  # row indices of the source's table
    text: str | None
    hint: str | None


class BadRows:
    """Collects bad rows of some sources; a row may be bad for several reasons and is listed under each."""

    def __init__(self, sources: Sequence[Source]):
        self._sources = sources
        self._found: list[_Found] = []

    def add(
        self,
        source: int,
        reason: str,
        kind: str,
        column: str | None,
        at: np.ndarray,
        text: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Note the rows ``at`` of a source; ``text`` says more than the reason, and ``hint`` how they could be read."""
        if len(at):
            self._found.append(_Found(source, reason, kind, column, at, text, hint))

    def counts(self) -> dict[str, int]:
        """``bad`` rows, and ``bad: <reason>`` each."""
        reasons: Counter[str] = Counter()
        for found in self._found:
            reasons[f"bad: {found.reason}"] += len(found.at)
        torn = sum(len(s.torn) for s in self._sources)
        if torn:
            reasons["bad: unreadable line"] = torn
        rows = torn
        for number in {f.source for f in self._found}:
            rows += len(np.unique(np.concatenate([f.at for f in self._found if f.source == number])))
        return {"bad": rows, **reasons}

    def judge(self, mode: str) -> None:
        """``error``: InputProblem with one problem per reason, source and column, at its first row, if there is any."""
        problems = self._problems() if mode == "error" else []
        if problems:
            raise InputProblem(problems)

    def _problems(self) -> list[Problem]:
        out = []
        for found in self._found:
            source = self._sources[found.source]
            first = int(found.at.min())
            value = _value(source, found.column, first)
            told = value is None or (found.text or "").startswith(str(value))
            shown = "" if told else f": {short(value)}"
            what = found.text or f"{found.reason} in column `{found.column}`"
            row = _row(source, first)
            out.append(_problem(source, found.kind, row, what + shown, value, len(found.at), found.hint))
        for source in self._sources:
            if source.torn:
                row, text = source.torn[0]
                what = f"this line cannot be read: {short(text)}"
                hint = None if source.text else source.hint  # no encoding makes CSV of what is not
                out.append(_problem(source, "bad-value", row, what, text, len(source.torn), hint))
        out.sort(key=lambda p: (p.file or "", p.row or 0))
        return hinted(out)

    def table(self) -> pa.Table | None:
        """``reason``, the place (``file``, ``row``, ``column``), the ``value`` and the whole row as JSON text."""
        rows: list[dict[str, Any]] = []
        for found in self._found:
            source = self._sources[found.source]
            data = python_rows(source.table, found.at)
            for at, row in zip(found.at.tolist(), data, strict=True):
                value = _value(source, found.column, at)
                place = {"file": source.file, "row": _row(source, at), "column": found.column}
                text = json.dumps(row, default=str, ensure_ascii=False)
                rows.append({"reason": found.reason, **place, "value": _text(value), "data": text})
        for source in self._sources:
            for number, text in source.torn:
                place = {"file": source.file, "row": number}
                rows.append({"reason": "unreadable line", **place, "value": text, "data": text})
        return pa.Table.from_pylist(rows, SCHEMA) if rows else None


#: what is left to do about rows that nothing else helps
SKIP = "to skip and count such rows, use --bad-rows skip (Python: bad_rows='skip')"


def hinted(problems: list[Problem]) -> list[Problem]:
    """Problems without a hint of their own have one together, at the last of them: it is the same for all."""
    last = max((n for n, p in enumerate(problems) if p.hint is None), default=None)
    return [replace(p, hint=SKIP) if n == last else p for n, p in enumerate(problems)]


def like_it(count: int) -> str:
    """What follows the message about the first of ``count`` rows that are bad in one way."""
    if count < 2:
        return ""
    return f" (and {count - 1:,} more {'row' if count == 2 else 'rows'} like it)"


def _problem(source: Source, kind: str, row: int, what: str, value: Any, count: int, hint: str | None) -> Problem:
    more = like_it(count)
    return Problem(kind, f"row {row}: {what}{more}", file=source.place, row=row, value=value, hint=hint)


def _row(source: Source, at: int) -> int:
    return at + 1 if source.rows is None else int(source.rows[at])


def _value(source: Source, column: str | None, at: int) -> Any:
    if column is None:
        return None
    misfits = source.misfits.get(column, {})
    return misfits[at] if at in misfits else python_value(source.table.column(column), at)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
