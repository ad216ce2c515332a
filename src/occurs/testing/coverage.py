"""Which clauses of rules decide something in the test cases of the rules.

A clause decides something if a case has other detections without it.  Each clause is dropped by the edits that
``occurs why-not`` would make (why.md, section 6), and the cases run again: a clause that cannot be left out, such as a
window or a relation of intervals, is made as wide as it goes, or replaced by each of its alternatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from occurs.errors import OccursError
from occurs.explain.world import Rule, World
from occurs.languages.kit.clauses import Clause, Edit
from occurs.model.source import InputOptions
from occurs.testing.rules import Detected, RuleCase, Text, difference


@dataclass(frozen=True)
class Place:
    """A clause or a rule in a file: ``file:line:column``, and its text."""

    file: str
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: `{self.text}`"


@dataclass
class Coverage:
    """What the cases of some rules cover.

    Attributes:
        clauses: The clauses that can be dropped, and whether a case has other detections without each.
        rules: The rules of the types that are reported, and whether a case has a detection of each.
        unknown: The clauses that cannot be dropped, and rules of languages that do not name their clauses.
    """

    clauses: dict[Place, bool] = field(default_factory=dict)
    rules: dict[Place, bool] = field(default_factory=dict)
    unknown: int = 0

    @property
    def percent(self) -> float:
        """The part of the clauses and rules that is covered, in percent; 100 if there are none."""
        every = [*self.clauses.values(), *self.rules.values()]
        return 100.0 * sum(every) / len(every) if every else 100.0

    @property
    def report(self) -> str:
        """The coverage as text: the share, then every rule and clause that is not covered."""
        covered, rules = sum(self.clauses.values()), sum(self.rules.values())
        lines = [
            f"{self.percent:.0f} % covered: {covered} of {len(self.clauses)} clauses decide a case, "
            f"{rules} of {len(self.rules)} rules detect something"
        ]
        lines += [f"{place}: no case has a detection of this rule" for place, ok in self.rules.items() if not ok]
        lines += [f"{place}: no case changes without this clause" for place, ok in self.clauses.items() if not ok]
        if self.unknown:
            lines.append(f"{self.unknown} more clauses or rules cannot be dropped, so their coverage is unknown")
        return "\n".join(lines)

    def _note(self, into: dict[Place, bool], place: Place, covered: bool) -> None:
        into[place] = covered or into.get(place, False)


def coverage(cases: Iterable[RuleCase]) -> Coverage:
    """Find the clauses that decide something in test cases.

    Args:
        cases: The cases.  Those that expect an error, or whose rules do not run, are left out.

    Returns:
        The coverage of all rules of the cases.
    """
    groups: dict[tuple[Text, ...], list[RuleCase]] = {}
    for case in cases:
        groups.setdefault(case.texts, []).append(case)
    out = Coverage()
    for own in groups.values():
        _cover(own, out)
    return out


def _cover(cases: Sequence[RuleCase], out: Coverage) -> None:
    """Add the coverage of cases of the same rules."""
    before: list[tuple[RuleCase, Detected]] = []
    for case in cases:
        try:
            before.append((case, case.detect()))
        except OccursError:
            continue  # what is wrong with it is the failure of the case
    if not before:
        return
    # the case with most types says most about the columns that the rules read
    first, _ = max(before, key=lambda pair: len(pair[0].inputs))
    program = first.program()
    unit = None if first.kind.timestamp else first.kind.unit
    history = program.checked.history(first.events_for(program), InputOptions(time_unit=unit))
    world = World(program.checked.spelled(), history, "", zone=first.zone)
    found = {row.type for _, one in before for row in one.rows}
    reported = {name for _, one in before for name in one.columns}
    compared = _upstream(world, reported)
    for rule in world.rules:
        c = rule.clauses
        if world.fixed or rule.defines not in compared:
            out.unknown += world.fixed
            continue
        if rule.defines in reported:
            out._note(out.rules, _place(world, rule, c.start, c.title), rule.defines in found)
        for clause in c.clauses:
            if clause.kind == "missing":
                continue  # that an event is there is what the rule's detections show
            decided: bool | None = None
            for edit in _edits(clause):
                changed = _decides(world.edited({rule.number: (edit,)}), before)
                decided = decided if changed is None else changed
                if decided:
                    break
            place = _place(world, rule, clause.start, clause.text)
            if decided is None:
                out.unknown += 1
            else:
                out._note(out.clauses, place, decided)


def _edits(clause: Clause) -> tuple[Edit, ...]:
    """The edits after which a clause excludes least."""
    least = clause.drop or clause.loosest or clause.widest
    return clause.others if least is None else (least,)


def _upstream(world: World, reported: set[str]) -> set[str]:
    """The types that are compared, and those that they are made of: steps that are not reported have clauses, too."""
    out: set[str] = set()
    waiting = list(reported)
    while waiting:
        type = waiting.pop()
        if type not in out:
            out.add(type)
            waiting += [t for rule in world.rules if rule.defines == type for t in rule.clauses.reads]
    return out


def _decides(texts: Sequence[Text], before: Sequence[tuple[RuleCase, Detected]]) -> bool | None:
    """Whether a case has other detections with other texts; None if these rules do not run."""
    ran = False
    try:
        program = before[0][0].program(texts)
    except OccursError:
        return None  # the rules are wrong without the clause
    for case, then in before:
        try:
            now = case.detect(program)
        except OccursError:
            continue  # it cannot be left out, here at least
        ran = True
        if difference(then.rows, now.rows, case.kind) is not None:
            return True
    return False if ran else None


def _place(world: World, rule: Rule, start: int, text: str) -> Place:
    whole, file, _ = world.texts[rule.text]
    line = whole.count("\n", 0, start) + 1
    return Place(file or "<text>", line, start - (whole.rfind("\n", 0, start) + 1) + 1, " ".join(text.split()))
