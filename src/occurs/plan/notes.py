"""What a plan costs, and what comes late: warnings (common.md, section 5)."""

from __future__ import annotations

from dataclasses import replace

from occurs.errors import Problem
from occurs.plan.partitioning import groups
from occurs.plan.stage import Stage


def notes(stage: Stage) -> list[Problem]:
    """What definitions keep, what is known arbitrarily late, what runs in one partition."""
    return [*(w for d in stage.definitions for w in d.warnings), *_late(stage), *_single(stage)]


def _late(stage: Stage) -> list[Problem]:
    """Definitions that read what another language defines and what has no bound of its delay."""
    late = {d.output for d in stage.definitions if d.delay is None}
    out = []
    for d in sorted(stage.definitions, key=lambda d: d.place):
        read = next((t for t in sorted(d.reads) if t in late), None)
        if read is None or d.output in late:
            continue
        late.add(d.output)
        text = f"`{d.output}` reads `{read}`, whose detections may become final arbitrarily late"
        file, span = d.where
        hint = f"the detections of `{d.output}` are as late as those of `{read}`"
        out.append(Problem("unbounded-delay", text, severity="warning", file=file, span=span, hint=hint))
    return out


def placed(problems: list[Problem], stage: Stage) -> list[Problem]:
    """The problems, those about types that are not known with the place of the first definition that reads them, and
    with a hint if it does not name them."""
    out = []
    for p in problems:
        reader = next((d for d in stage.definitions if p.kind == "unknown-type" and p.value in d.reads), None)
        if reader is not None and p.span is None:
            file, span = reader.where
            p = replace(p, file=file, span=span, hint=reader.implied.get(str(p.value), p.hint))
        out.append(p)
    return out


def _single(stage: Stage) -> list[Problem]:
    out = []
    for group in groups(stage.definitions, stage):
        if group.mode == "single":
            names = ", ".join(f"`{t}`" for t in group.stage.defined)
            text = f"{names}: on Spark this runs in a single partition because no partition key could be inferred"
            text += f"; it cannot be split by time either: {group.why}"
            _, hint = min(d.hint for d in group.stage.definitions)
            out.append(Problem("global-stage", text, severity="warning", hint=hint))
    return out
