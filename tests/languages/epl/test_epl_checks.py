"""What the checks say of wrong EPL."""

from __future__ import annotations

import pytest
from epl_wrong_cases import LINE, Wrong, shown, wrong_cases

CASES = wrong_cases()
#: the table of epl-and-nets.md, section 3, in the kinds of common.md, section 5
KINDS = {
    "unknown-name", "unknown-attribute", "unknown-function", "unbound-variable", "duplicate-name", "schema-conflict",
    "duplicate-definition", "type-mismatch", "bad-bound", "bad-duration", "missing-unit", "never-completes", "cycle",
    "reserved-name", "not-an-event", "unsupported", "arity",
}  # fmt: skip
WARNINGS = {"unbounded-state", "multiplying", "non-overlapping", "external-input", "unknown-name"}


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in CASES])
def test_wrong_statements(case: Wrong) -> None:
    _, problems = case.analysed()
    expected = [LINE.fullmatch(line) for line in case.expected]
    assert all(expected), case.expected
    wanted = [line.split(" hint: ")[0].split(" see: ")[0] for line in case.expected]
    assert [shown(p, case.text) for p in problems] == wanted
    for match, problem in zip(expected, problems, strict=True):
        assert match is not None
        assert (match[6] or "") in (problem.hint or "")
        assert (match[7] or "") == ", ".join(f"{r.span.line}:{r.span.column}" for r in problem.related if r.span)
        rendered = problem.render()
        assert f"case.epl:{problem.line}:{problem.column}: {problem.severity}[{problem.kind}]: " in rendered
        assert "^" in rendered


def test_every_kind_has_a_case() -> None:
    lines = [m for c in CASES for line in c.expected if (m := LINE.fullmatch(line))]
    assert {m[2] for m in lines if not m[1]} >= KINDS
    assert {m[2] for m in lines if m[1]} >= WARNINGS
