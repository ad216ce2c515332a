"""The page of errors has every kind that the source reports, with its severities, and no other."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from occurs.nets.validate import RULES

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/reference/errors.md").read_text()
SEVERITIES = {"error", "warning", "notice"}
KIND = re.compile(r"[a-z]+(-[a-z]+)*")
#: functions that report a problem, and the place of the kind among their arguments
REPORTERS = {
    **dict.fromkeys(("of", "at", "report", "warn", "refuse", "refusal", "_refusal", "_refused", "error", "problem"), 0),
    **dict.fromkeys(("Problem", "Fault", "Finding", "Unsupported", "input_problem"), 0),
    **dict.fromkeys(("_Refused", "Told"), 0),
    **dict.fromkeys(("say", "wrong", "_wrong", "broken", "_problem"), 0),
    "_warning": 1,
    "mismatch": 2,
    "complain": 3,
}
#: words that such functions take for something else: a key of a file of random events, an operation, a type
OTHER = {"derived", "input", "gap", "types", "null", "if", "duration", "label"}


def severities(call: ast.Call, name: str) -> set[str]:
    """The severities of a call that reports a problem; all of them if they are not written in it."""
    if name in ("warn", "_warning"):
        return {"warning"}
    given = next((k.value for k in call.keywords if k.arg == "severity"), None)
    words = {a.value for a in [*call.args[1:], given] if isinstance(a, ast.Constant) and a.value in SEVERITIES}
    if not words and any(isinstance(a, ast.Name) and a.id == "severity" for a in [*call.args, given]):
        return SEVERITIES
    return words or {"error"}


@cache
def reported() -> dict[str, set[str]]:
    """The kinds in the source, each with its severities."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "src/occurs").rglob("*.py"):
        if "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = REPORTERS.get(name)
            if place is None or len(node.args) <= place:
                continue
            kind = node.args[place]
            if isinstance(kind, ast.Constant) and isinstance(kind.value, str) and KIND.fullmatch(kind.value):
                found[kind.value] |= severities(node, name)
    return {k: s for k, s in found.items() if k not in OTHER}


def headed() -> dict[str, str]:
    """The kinds that have a heading, each with its text."""
    parts = re.split(r"^### (.+)\n", PAGE, flags=re.MULTILINE)[1:]
    return {k: text for k, text in zip(parts[::2], parts[1::2]) if KIND.fullmatch(k)}


def listed() -> set[str]:
    """The kinds of nets, which tables list."""
    return set(re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)) | set(RULES)


def test_the_page_has_every_kind_and_no_other():
    assert set(headed()) | listed() == set(reported()) | set(RULES)


def test_no_kind_is_on_the_page_twice():
    assert not set(headed()) & listed()
    names = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    assert len(names) == len(set(names))


def test_the_page_has_the_severities_of_the_source():
    heads = {k: text[: text.index(".*")].lower() for k, text in headed().items()}
    shown = {k: set(re.findall(r"error|warning|notice", head)) for k, head in heads.items()}
    assert shown == {k: reported()[k] for k in shown}


def test_every_kind_has_its_message_and_a_remedy():
    lacking = {k for k, text in headed().items() if f"[{k}]: " not in text or "**Remedy:** " not in text}
    assert not lacking


def test_the_page_has_every_answer_of_the_interface():
    text = PAGE[PAGE.index("### Answers of the interface") :]
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", text, re.MULTILINE)
    shown = {(int(status), kind) for status, kinds in rows for kind in re.findall(r"`([a-z-]+)`", kinds)}
    calls = [
        [a.value if isinstance(a, ast.Constant) else None for a in node.args[:2]]
        for path in (ROOT / "src/occurs/studio").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refused" and len(node.args) > 1
    ]
    found = {(status, kind) for status, kind in calls if status is not None and kind is not None}
    assert len(found) > 15
    assert found <= shown
    named_by_status = {"cancelled", "missing-file", "media-type", "too-large", "unknown-name", "forbidden-path"}
    assert {kind for _, kind in shown - found} <= named_by_status
