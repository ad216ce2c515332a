"""Answers as text (why.md, section 8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occurs.explain.words import values_text, when

if TYPE_CHECKING:
    from occurs.explain.why import Why
    from occurs.explain.whynot import Reason, WhyNot

#: rows of an aggregate that are printed, and signs for rows that fit, at which a clause failed, and that are added
MOST = 10
SIGNS, ASCII = ("✓", "✗", "·"), ("+", "x", ".")

#: roles of pipes: the item at which a value came to be, and the one that it is about
UNSAID = ("step", "about")


def why_not_text(answer: WhyNot, *, ascii: bool = False) -> str:
    """The answer to a why-not question."""
    signs = ASCII if ascii else SIGNS
    q = answer.question
    asked = f"{q.type}" + (f" with {values_text(q.given)}" if values_text(q.given) else "")
    asked += "".join(f", {n} null" for n, v in q.given.items() if v is None)
    if q.bounded:
        first, last = when(q.first, q.kind), when(q.last, q.kind)
        asked += f" at {first}" if first == last else f" from {first} to {last}"
    if answer.found:
        count = len(answer.rows) if hasattr(answer.rows, "__len__") else answer.rows.count()
        lines = [f"why not {asked}?   it was detected ({count} row{'s' if count != 1 else ''})"]
    elif not answer.reasons:
        lines = [f"why not {asked}?   no reason found" + ("" if answer.complete else " (the search is not complete)")]
    else:
        n = len(answer.reasons)
        lines = [f"why not {asked}?   {n} reason{'s, the nearest first' if n > 1 else ''}"]
    for reason in answer.reasons:
        lines += ["", *_reason(reason, answer, signs)]
    if answer.notes:
        lines += ["", *(f"note: {note}" for note in answer.notes)]
    return "\n".join(lines)


def _reason(reason: Reason, answer: WhyNot, signs: Sequence[str]) -> list[str]:
    kind = answer.kind
    lines = []
    head = str(reason.number)
    for i, c in enumerate(reason.clauses):
        place = f"{c.place}  " if c.place else ""
        text = " ".join(c.clause.split())
        lines.append(f"{head if i == 0 else ' ' * len(head)}  {place}{text}")
        lines.append(f"   {c.message}")
    depth: dict[int, int] = {}
    cells = []
    for i, w in enumerate(reason.witness):
        depth[i] = 0 if w.parent is None else depth[w.parent] + 1
        sign = signs[2] if w.added else signs[0] if w.ok else signs[1]
        if _again(w, reason.witness[:i]):
            continue
        name = _named(w.role, w.type)
        time = when(w.time, kind) + (f" to {when(w.end, kind)}" if w.end is not None else "")
        cells.append(("  " * depth[i] + f"{sign} {name}", time, values_text(w.attributes)))
    wide = max((len(name) for name, _, _ in cells), default=0)
    long = max((len(time) for _, time, _ in cells), default=0)
    lines += [f"      {name:{wide}}  {time:{long}}  {values}".rstrip() for name, time, values in cells]
    lines.append(f"   {reason.repair}")
    return lines


def _named(role: str | None, type: str) -> str:
    """A row by its role and type; roles that only say how a language works are left out."""
    if role == "activation":
        return "activated"
    return type if role in (None, type, *UNSAID) or not role.isidentifier() else f"{role}: {type}"


def _again(row: Any, before: Sequence[Any]) -> bool:
    """Whether a row that a pipe names twice, as the item of the value and of its time, was printed before."""
    same = (r for r in before if r.role in UNSAID and r.label == row.label and r.parent == row.parent)
    return row.role in UNSAID and row.label is not None and any(same)


def why_text(answer: Why, *, ascii: bool = False) -> str:
    """The derivation of a detection as a tree."""
    good = ASCII[0] if ascii else SIGNS[0]
    lines = []
    shown: dict[int, int] = {}
    for node in answer.nodes:
        blank = "  " * node.depth
        parent = node.parent or 0
        shown[parent] = shown.get(parent, 0) + 1
        above = answer.nodes[parent - 1] if parent else None
        if above is not None and above.kind == "aggregate":
            many = sum(n.parent == parent for n in answer.nodes)
            if shown[parent] > MOST:
                if shown[parent] == MOST + 1:
                    lines.append(f"{blank}.. and {many - MOST} more")
                continue
        if node.kind in ("clause", "absence", "aggregate", "passed"):
            lines.append(f"{blank}{good} {node.message}")
            continue
        if _again(node, answer.nodes[: node.node - 1]):
            continue
        name = _named(node.role, str(node.type))
        time = when(node.time, answer.kind) + (f" to {when(node.end, answer.kind)}" if node.end is not None else "")
        values = values_text(json.loads(node.attributes or "{}"))
        lines.append(f"{blank}{name}  {time}  {values}".rstrip())
    return "\n".join(lines)
